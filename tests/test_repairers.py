"""The stand-ins of notebook 05 and the error texts they read: what they may know, and that they are the same every time."""

import json

import pytest

from agentkit.course.error_styles import PARTS, STYLES, TOOLS, agentkit_style, error_text, fault_of, style
from agentkit.course.repairers import GUESSES, KINDS, Repairer, attempt, read, repairer, repairers

STAND_INS = repairers(each=20)
SCHEMA = TOOLS["ship_order"].schema["properties"]


def repaired(tell, stand_ins=STAND_INS, retries=4):
    return sum(attempt(one, tell, retries).repaired for one in stand_ins)


@pytest.mark.parametrize("kind", KINDS)
def test_a_stand_in_makes_one_mistake_of_its_kind(kind):
    for seed in range(50):
        one = repairer(kind, seed)
        assert fault_of(one.right) is None and fault_of(one.wrong) is not None
        changed = {key: one.wrong["args"].get(key) for key in one.right["args"]} != one.right["args"]
        assert changed == (kind != "unknown tool") and (one.wrong["tool"] != one.right["tool"]) == (kind == "unknown tool")


def test_one_guess_is_right_and_only_at_the_right_place():
    for one in STAND_INS:
        right = [(place, g) for place, found in one.guesses.items() for g in found if one.edited(place, g) == one.right]
        assert len(right) == 1 and len(one.guesses[right[0][0]]) == GUESSES


def test_they_are_the_same_every_time():
    assert repairers(each=20) == STAND_INS
    assert [attempt(one, style(PARTS)) for one in STAND_INS] == [attempt(one, style(PARTS)) for one in STAND_INS]


def test_the_counts_that_the_notebook_speaks_of():
    counts = {name: repaired(style(parts)) for name, parts in STYLES.items()}
    assert counts == {"bare code": 7, "traceback": 84, "what was wrong": 73, "+ what is expected": 119, "+ did you mean": 119}
    assert repaired(agentkit_style) >= 118


@pytest.mark.parametrize("parts", STYLES.values(), ids=STYLES)
def test_more_calls_never_repair_less(parts):
    counts = [repaired(style(parts), retries=k) for k in range(7)]
    assert counts[0] == 0 and counts == sorted(counts)


def test_a_text_without_information_is_a_text_without_information():
    blind = [Repairer(one.kind, one.right, one.wrong, {}) for one in STAND_INS]
    for text in ("400 Bad Request", "ERROR", "", "Something went wrong. Please try again."):
        assert repaired(lambda call: text, blind, retries=100) == 0


def test_what_a_text_offers_is_read():
    told = read(f"ERROR: unknown argument 'id'. You sent {{'id': 7}}. Did you mean 'order_id'? ship_order expects {json.dumps(SCHEMA)}")
    assert told.schema == SCHEMA and told.near == "order_id" and told.words == ["order_id", "id"] and "unknown" in told.hints
    assert read(f"ship_order expects {SCHEMA}").schema == SCHEMA        # Python's way of writing it is read, too
    for listed in ("Available tools: get_order, ship_order.", "Tools: ['get_order', 'ship_order']", '{"tools": ["get_order", "ship_order"]}'):
        assert read(listed).listed == ("get_order", "ship_order")


def test_an_input_that_was_cut_does_not_hide_what_follows():
    cut = 'ERROR: wrong type `boxes`. You sent {"boxes": "3", "note": "please plea'
    for after in ("... (9,000 characters). ", ". It needs "):
        assert read(f"{cut}{after}{json.dumps(SCHEMA)}").schema == SCHEMA
    assert read(cut).schema == {}


@pytest.mark.parametrize("write", [
    lambda f: f"{f.what}. {f.expected}", lambda f: f"Bad call: {f.what.replace(chr(39), chr(96))}; you sent {f.shown[:30]}. {f.expected}",
    lambda f: f"{f.what} ({f.expected})", lambda f: f"{f.expected}. That is what {f.what} means."])
def test_the_information_counts_and_not_the_wording(write):
    blind = [Repairer(one.kind, one.right, one.wrong, {}) for one in STAND_INS]
    assert repaired(lambda call: (f := fault_of(call)) and write(f), blind, retries=100) == len(blind)


def test_the_parts_of_an_error_text():
    fault = fault_of({"tool": "ship_order", "args": {"orderid": "A123", "boxes": 2, "speed": "express"}})
    assert error_text(fault, ()) == "400 Bad Request"
    assert error_text(fault, ("what", "near")) == "ERROR: unknown argument 'orderid'. Did you mean 'order_id'?"
    full = error_text(fault, PARTS)
    for piece in (fault.what, fault.shown, fault.expected, fault.near, fault.traceback):
        assert piece in full


def test_a_traceback_is_the_same_on_every_machine():
    for one in STAND_INS:
        text = fault_of(one.wrong).traceback
        assert text.startswith("Traceback") and "/srv/shop/" in text and __file__.rpartition("/")[0] not in text
        assert "Did you mean" not in text and "0x" not in text
    named = fault_of({"tool": "get_order", "args": {"id": "A123"}}).traceback
    assert named.endswith("TypeError: get_order() got an unexpected keyword argument 'id'")


def test_the_whole_list_is_paid_for_again_with_every_call():
    one = next(o for o in STAND_INS if attempt(o, style(())).calls == 4)
    costs = [attempt(one, style(()), retries=k).tokens for k in range(5)]
    steps = [b - a for a, b in zip(costs, costs[1:])]
    assert costs[0] == 0 and all(a < b for a, b in zip(steps, steps[1:]))
