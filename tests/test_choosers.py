"""The readers: the same on every machine, and no more than what the notebooks say of them."""

import os
import subprocess
import sys

import pytest

from agentkit import tool
from agentkit.course.choosers import HABITS, MISNAMED, REQUESTS, Reader, chance, outcome, words

WHEN = {
    "get_order": "Look up one order. Use it for every question about an order: where it is, if it was sent, when it arrives, what was bought.",
    "refund_order": "Pay money back. Use it when something is broken, wrong or lost and the customer asks for money.",
    "cancel_order": "Stop an order before it is sent. Use it when the customer no longer needs it or ordered by mistake.",
}
VAGUE = {"get_order": "Handles orders.", "refund_order": "Processes order data.", "cancel_order": "Manages orders."}


def right(texts, noise=0.2, first=0, readers=240):
    asked = [(Reader(first + k, noise), *REQUESTS[k % len(REQUESTS)]) for k in range(readers)]
    return sum(reader.choose(request, texts) == tool for reader, request, tool in asked)


def test_a_reader_is_the_same_in_another_process_whatever_its_hash_seed():
    code = ("from agentkit.course.choosers import Reader, REQUESTS\n"
            f"print([Reader(k).choose(REQUESTS[k % 24][0], {WHEN!r}) for k in range(60)])")
    runs = {subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True,
                           env={**os.environ, "PYTHONHASHSEED": seed}).stdout for seed in ("1", "2")}
    assert runs == {f"{[Reader(k).choose(REQUESTS[k % 24][0], WHEN) for k in range(60)]}\n"}


@pytest.mark.parametrize("first", [0, 1_000, 50_000])
def test_descriptions_that_say_when_are_chosen_better_by_any_240_readers(first):
    assert right(WHEN, first=first) > right(VAGUE, first=first) + 25


def test_who_overlooks_everything_guesses_and_who_overlooks_nothing_reads_best():
    assert right(WHEN, noise=0) > right(WHEN, noise=0.5) > right(WHEN, noise=1)
    assert 50 < right(WHEN, noise=1) < 110      # a third of 240, give or take


def test_the_order_of_the_tools_makes_no_difference_unless_they_tie():
    turned = dict(reversed(WHEN.items()))
    same = sum(Reader(k).choose(REQUESTS[k % 24][0], WHEN) == Reader(k).choose(REQUESTS[k % 24][0], turned) for k in range(240))
    assert same > 200


def test_requests_are_balanced():
    assert {name: sum(right == name for _, right in REQUESTS) for name in WHEN} == dict.fromkeys(WHEN, 8)


def test_endings_and_small_words_do_not_count():
    assert words("Orders ordered ordering the order!") == {"order"}
    assert words("arrives arrival arriving") == {"arriv"}
    assert words("B456 is it") == set()


def test_chance_is_even():
    mean = sum(chance(k, "x") for k in range(10_000)) / 10_000
    assert abs(mean - 0.5) < 0.02 and all(0 <= chance(k) < 1 for k in range(100))


def test_a_reader_that_is_told_the_form_writes_it_nearly_always():
    told = {"properties": {"reason": {"enum": ["damaged"]}}, "required": ["reason"]}
    free = {"properties": {"reason": {"type": "string"}}, "required": ["reason"]}
    count = {name: sum(Reader(k).fill(schema) == {"reason": "damaged"} for k in range(240)) for name, schema in (("told", told), ("free", free))}
    assert count["told"] > 220 > 150 > count["free"]


def test_only_what_is_not_required_is_left_out():
    schema = {"properties": {name: {} for name in HABITS}, "required": list(HABITS)}
    assert all(set(Reader(k).fill(schema)) == set(HABITS) for k in range(100))
    left_out = sum(len(HABITS) - len(Reader(k).fill({**schema, "required": []})) for k in range(100))
    assert 60 < left_out < 140


def test_an_outcome_is_right_refused_or_wrong():
    @tool
    def half(amount: float) -> float:
        """Half of it."""
        if amount < 0:
            raise ValueError("below zero")
        return amount / 2

    assert outcome(half, {"amount": 4}, 2.0) == "right"
    assert outcome(half, {"amount": 6}, 2.0) == "wrong"
    assert outcome(half, {"amount": "4"}, 2.0) == outcome(half, {"amount": -4}, -2.0) == outcome(half, {}, 2.0) == "refused"


def test_an_error_that_names_the_argument_is_mended():
    for k in range(100):
        tried = ["order_number"]
        for _ in range(3):
            tried.append(Reader(k, 0).mend("ERROR: missing required argument 'order_id'", tried))
        assert tried == ["order_number", "order_id", "order_id", "order_id"]


def test_a_bare_error_leaves_guessing_and_no_guess_is_made_twice():
    for k in range(100):
        tried = ["order_number"]
        for _ in range(5):
            tried.append(Reader(k).mend("ERROR: 400 Bad Request", tried))
        assert len(set(tried)) == 6


LIST = " Available tools: get_order, refund_order, cancel_order, calculator."


def test_an_offer_is_taken_literally_and_a_list_only_where_something_fits():
    reader = Reader(3, noise=0)
    assert reader.rename("remove_order", "ERROR: there is no tool 'remove_order'. Did you mean refund_order?" + LIST, 0) == "refund_order"
    assert reader.rename("remove_order", "ERROR: there is no tool 'remove_order'." + LIST, 0) is None
    assert reader.rename("getOrder", "ERROR: there is no tool 'getOrder'." + LIST, 0) == "get_order"
    assert reader.rename("delete_order", "ERROR: 404", 0).endswith("_order")


def test_half_of_the_wrong_names_mean_no_tool():
    assert [meant for _, meant in MISNAMED].count(None) * 2 == len(MISNAMED) == len({name for name, _ in MISNAMED})
