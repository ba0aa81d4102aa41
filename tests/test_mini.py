"""mini.py, the whole loop on one page: held against the big one on scripts that hypothesis makes up, and each of its exits by hand."""

import ast
import re
import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import agentkit
from agentkit import Limits, Price, Reply, ScriptedModel, Tool, ToolCall, Usage, call, check_messages, mini
from agentkit.models import as_reply
from harness import STATUSES, Clock, add, assert_one_result_per_call, counting, fail, look_up, results

SOURCE = Path(mini.__file__).read_text(encoding="utf-8")
steady = settings(derandomize=True, deadline=None, database=None, max_examples=250)


def test_it_is_one_page_of_readable_lines():
    lines = SOURCE.splitlines()
    assert len(lines) <= 150 and max(map(len, lines)) <= 150


def test_it_stands_on_the_standard_library_alone():
    imported = {
        n.module if isinstance(n, ast.ImportFrom) else alias.name
        for n in ast.walk(ast.parse(SOURCE))
        if isinstance(n, (ast.Import, ast.ImportFrom))
        for alias in n.names
    }
    assert imported and {name.split(".")[0] for name in imported} <= sys.stdlib_module_names


# ---- mini against loop --------------------------------------------------------------------------------------------------------------

CALLS = [
    call("add", a=1, b=2),
    call("add", a=2, b=1),
    ToolCall("x", "add", '{"b": 2, "a": 1}'),
    ToolCall("", "add", '{"a":1,"b":2}'),
    call("add", a=True, b=2),
    call("add", a=1),
    ToolCall("w", "add", '{"a": true, "b": 2}'),
    ToolCall("w", "add", '{"b":2,"a":true}'),
    call("add", a=1, b=2, c=3),
    ToolCall("y", "add", "{"),
    ToolCall("y", "add", '{"a": NaN, "b": 1}'),
    ToolCall(5, "add", "[]"),
    call("rm"),
    call("fail"),
    call("look_up", item="lamp"),
    call("look_up", item=""),
    call("pay", amount=1),
    call("pay", amount=2),
    call("pay", amount="all"),
    call("poll"),
    call("more"),
    call("gone"),
    call("slow"),
    call("nothing"),
    ToolCall("z", "more", "{}"),
    ToolCall("z", "more", " { } "),
]
usage = st.none() | st.builds(Usage, st.integers(1, 300), st.integers(1, 90))
reply = st.builds(
    Reply,
    st.sampled_from([None, "", "  ", "well", "a longer text of some words"]),
    st.lists(st.sampled_from(CALLS), max_size=3),
    usage,
    st.sampled_from([None] * 9 + ["stop", "length", "max_tokens", "refusal", "content_filter"]),
)
acting = st.builds(Reply, st.sampled_from([None, "hm"]), st.lists(st.sampled_from(CALLS), min_size=1, max_size=3), usage)
entries = st.lists(
    st.integers(0, 19).flatmap(lambda n: st.just(OSError("down")) if n == 19 else st.just(Reply()) if n > 16 else reply if n > 13 else acting),
    min_size=1,
    max_size=9,
)
some = lambda *values: st.none() | st.sampled_from(values)
limits = st.fixed_dictionaries(
    {"max_steps": st.sampled_from([20, None, 8, 3, 1, 0])},
    optional={
        "max_tool_calls": some(0, 1, 3, 7),
        "budget_tokens": some(0, 50, 300, 900, 2500),
        "budget_usd": some(0, 0.00151, 0.00717, 0.02003),
        "max_seconds": some(0, 2, 5, 9),
        "max_repeats": some(0, 1, 2, 3),
        "max_errors": some(0, 1, 2, 4),
        "reserve": some(0, 40, 400),
    },
)
decision = st.sampled_from(
    [
        None,
        lambda asked: True,
        lambda asked: False,
        lambda asked: {1: True, 2: None}.get(_amount(asked)),
        lambda asked: {1: False}.get(_amount(asked), True),
    ]
)


def _amount(asked):
    return asked.arguments["amount"]


def shop(clock, ran):
    """The tools, on one clock, with one record of their runs."""

    def made(name, does, **flags):
        def fn(**arguments):
            ran.append((name, arguments))
            return does(**arguments)

        return Tool(name, f"{name}.", {"properties": {}, "additionalProperties": False}, fn, **flags)

    def logged(t, **flags):
        return Tool(t.name, t.description, t.schema, lambda **arguments: ran.append((t.name, arguments)) or t.fn(**arguments), **flags)

    def wait():
        clock.now += 2

    pay = Tool(
        "pay",
        "Pay.",
        {"properties": {"amount": {"type": "integer"}}, "required": ["amount"], "additionalProperties": False},
        lambda amount: f"paid {amount}",
    )
    return [
        logged(add),
        logged(look_up),
        logged(fail),
        logged(pay, needs_approval=True),
        made("poll", lambda: "not yet", poll=True),
        made("more", lambda: len(ran)),
        made("gone", lambda: {"error": "gone"}),
        made("slow", wait),
        made("nothing", str),
    ]


def count(text):
    """Errors are worded differently in the two, so each is the same number of tokens."""
    return 11 if text.startswith("ERROR") else 40 if text.startswith("[{") else max(1, len(text) // 4)


def run_one(loop, script, limits, approve, counter):
    clock, ran, moves = Clock(), [], iter(script)

    def model(messages, tools):
        check_messages(messages)
        clock.now += 1
        move = next(moves, Reply("enough"))
        if isinstance(move, Exception):
            raise move
        return move

    more = dict(system="be brief", approve=approve, count_tokens=counter, clock=clock)
    if loop is mini:
        return mini.run(model, shop(clock, ran), "go", price=(3, 15), **limits, **more), ran
    return agentkit.run(model, shop(clock, ran), "go", limits=Limits(**limits), prices=Price(3, 15), **more), ran


@steady
@given(entries, limits, decision, st.sampled_from([count, count, lambda text: 1, None]))
def test_both_loops_do_the_same(script, limits, approve, counter):
    assert_same(script, limits, approve, counter)


LOOKS = [call("look_up", item=letter) for letter in "abc"]
RARE = {  # what chance does not often make: script, limits, the status
    "a cycle of three": (LOOKS * 4, {}, "repeated_call"),
    "a cycle of two": (LOOKS[:2] * 4, {}, "repeated_call"),
    "nearly a cycle": (LOOKS * 2 + LOOKS[:2] + ["done"], {}, "done"),
    "time runs out in a batch": ([[call("slow")] * 3, "done"], {"max_seconds": 4}, "time_limit"),
    "the last error in a batch": ([[call("fail"), call("add", a=1, b=2), call("fail")], "done"], {"max_errors": 1}, "error_limit"),
    "the last tool call in a batch": ([[call("add", a=1, b=2)] * 3, "done"], {"max_tool_calls": 2}, "tool_call_limit"),
    "a poll": ([call("poll")] * 5 + ["done"], {}, "done"),
    "progress": ([call("more")] * 5 + ["done"], {}, "done"),
    "empty, then a call, then empty": (["", call("more"), "", "done"], {}, "done"),
    "one of two is approved": ([[call("add", a=1, b=2), call("pay", amount=1), call("pay", amount=2)]], {}, "waiting_for_approval"),
}


@pytest.mark.parametrize("script, limits, status", RARE.values(), ids=RARE)
def test_both_loops_do_the_same_where_chance_seldom_goes(script, limits, status):
    assert assert_same([as_reply(entry) for entry in script], limits, lambda asked: True if _amount(asked) == 1 else None, count) == status


def assert_same(script, limits, approve, counter):
    big, big_ran = run_one(agentkit, script, limits, approve, counter)
    small, small_ran = run_one(mini, script, limits, approve, counter)
    assert (small.status, small.answer, small.steps) == (big.status, big.answer, big.steps)
    assert small_ran == big_ran
    shape = lambda result: [
        (
            m["role"],
            m.get("tool_call_id"),
            [c["id"] for c in m.get("tool_calls", ())],
            "ERROR" if (m["content"] or "").startswith("ERROR") else m["content"],
        )
        for m in result.messages
    ]
    assert shape(small) == shape(big)
    assert [c.id for c in small.pending] == [c.id for c in big.pending]
    told = big.journal.of("result")
    assert small.errors == sum(e["error"] and not e["stopped"] for e in told)
    assert small.tool_calls == sum(not e["stopped"] for e in told)
    if counter:  # without one, the words of the errors are counted
        assert (small.input_tokens, small.output_tokens) == (big.usage.input_tokens, big.usage.output_tokens)
        assert small.cost_usd == pytest.approx(big.usage.cost_usd)
    assert_one_result_per_call(small.messages, open_at_the_end=small.status == "waiting_for_approval")
    return small.status


# ---- its exits by hand --------------------------------------------------------------------------------------------------------------

SPENDS = Reply(tool_calls=[call("look_up", item="a")], usage=Usage(1000, 0))
EXITS = {
    "done": (["yes"], {}, 1),
    "step_limit": ([call("look_up", item="a")] * 2, {"max_steps": 2}, 2),
    "tool_call_limit": ([[call("add", a=1, b=2)] * 3], {"max_tool_calls": 2}, 1),
    "token_budget": ([SPENDS] * 3, {"budget_tokens": 1001}, 2),
    "cost_budget": ([SPENDS] * 3, {"budget_usd": 0.011, "price": (10, 10)}, 2),
    "time_limit": (["yes"], {"max_seconds": 0}, 0),
    "repeated_call": ([call("add", a=1, b=2)] * 4, {}, 3),
    "error_limit": ([call("fail")] * 4, {"max_errors": 2}, 2),
    "waiting_for_approval": ([call("pay")], {}, 1),
    "empty_reply": (["", " "], {}, 2),
    "truncated": ([Reply("so", stop_reason="length")], {}, 1),
    "refused": ([Reply("no", stop_reason="refusal")], {}, 1),
    "model_error": ([], {}, 1),
}


@pytest.mark.parametrize("status", EXITS)
def test_every_exit_of_mini(status):
    script, settings, steps = EXITS[status]
    pay, _ = counting("pay", needs_approval=True)
    result = mini.run(ScriptedModel(script), [look_up, add, fail, pay], "go", clock=Clock(), **settings)
    assert (result.status, result.steps, result.answer) == (status, steps, "yes" if status == "done" else None)


def test_the_exits_of_mini_are_all_there():
    assert set(EXITS) == STATUSES


def test_mini_refuses_a_money_budget_without_a_price():
    with pytest.raises(ValueError, match="budget_usd needs price="):
        mini.run(ScriptedModel(["yes"]), [], "go", budget_usd=1)


@pytest.mark.parametrize("value, text", [("a\ud800", "a?"), ("x" * 30_000, "x" * 20_000), ("", "(no output)"), ({1, 2}, '"{1, 2}"'), (None, "null")])
def test_a_result_of_mini_is_bounded_clean_text(value, text):
    ping, _ = counting(returns=value)
    assert results(mini.run(ScriptedModel([call("ping"), "done"]), [ping], "go")) == [text]


def test_the_nudge_of_mini_is_remembered_whatever_the_counter_says():
    assert mini.run(ScriptedModel([""], repeat=True), [], "go", max_steps=50, count_tokens=lambda text: 0).steps == 2


@pytest.mark.parametrize(
    "arguments", ["{", "[]", "null", '{"a": NaN, "b": 1}', '{"a": true, "b": 1}', '{"a": 1}', '{"a": 1, "b": 2, "c": 3}', {"a": {1}, "b": 2}, 5]
)
def test_mini_runs_nothing_that_was_not_asked_for_in_full(arguments):
    result = mini.run(ScriptedModel([ToolCall(None, "add", arguments), "done"]), [add], "go")
    assert result.status == "done" and re.match("ERROR: .* add expects ", results(result)[0]) and result.errors == 1
