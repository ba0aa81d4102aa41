"""Limits: every one of them stops a run exactly where it says, with a sentence that is made of the record."""

import json

import pytest

from agentkit import Limits, Price, Reply, ScriptedModel, Tool, ToolCall, Usage, call, run
from agentkit.limits import canonical
from harness import Clock, add, assert_rules, counting, fail, look_up, new_looks, results

NONE = dict(max_steps=None, max_repeats=None)


# ---- what a limit may be ------------------------------------------------------------------------------------------------------

FIELDS = ["max_steps", "max_tool_calls", "budget_tokens", "budget_usd", "max_seconds", "max_repeats", "max_errors", "reserve"]


@pytest.mark.parametrize("field", FIELDS)
@pytest.mark.parametrize("value", [-1, True, False, float("nan"), float("inf"), "5", [], 1 + 1j])
def test_a_limit_that_is_none_is_refused_by_name(field, value):
    with pytest.raises(ValueError, match=f"^Limits: {field} must be a .* of at least 0, or None for no limit, not "):
        Limits(**{field: value})


@pytest.mark.parametrize("field", FIELDS)
def test_none_and_0_and_more_are_limits(field):
    for value in (None, 0, 7):
        assert getattr(Limits(**{field: value}), field) == value


@pytest.mark.parametrize("field", FIELDS)
def test_only_money_and_seconds_come_in_parts(field):
    if field in ("budget_usd", "max_seconds"):
        assert getattr(Limits(**{field: 0.5}), field) == 0.5
    else:
        with pytest.raises(ValueError, match="a whole number"):
            Limits(**{field: 0.5})


def test_the_defaults():
    assert Limits() == Limits(
        max_steps=10, max_tool_calls=None, budget_tokens=None, budget_usd=None, max_seconds=None, max_repeats=3, max_errors=None, reserve=None
    )


# ---- steps --------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 7, 30])
def test_a_step_limit_of_n_makes_n_model_calls(n):
    calls = []
    model = new_looks()
    result = run(lambda m, t: calls.append(1) or model(m, t), [look_up], "go", limits=Limits(max_steps=n))
    assert len(calls) == result.steps == n and result.status == "step_limit"
    assert len(results(result)) == n, "the last step's tools have run"
    assert_rules(result)


def test_an_answer_in_the_last_step_is_an_answer():
    assert run(ScriptedModel([call("add", a=1, b=2), "three"]), [add], "go", limits=Limits(max_steps=2)).answer == "three"


def test_no_limit_is_no_limit():
    model = ScriptedModel([call("add", a=i, b=1) for i in range(200)] + ["done"])
    assert run(model, [add], "go", limits=Limits(max_steps=None)).steps == 201


# ---- tool calls ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [0, 1, 2, 3, 4, 5])
def test_a_tool_call_limit_of_n_runs_n_tools_also_within_a_batch(n):
    ping, runs = counting()
    result = run(ScriptedModel([[call("ping"), call("ping")]], repeat=True), [ping], "go", limits=Limits(max_tool_calls=n, **NONE))
    assert len(runs) == n and result.status == "tool_call_limit"
    assert len(results(result)) == 2 * result.steps == 2 * (n // 2 + 1), "every call is answered"
    assert result.messages[-1]["content"] == f"ERROR: not run: the run stopped at the tool call limit after {n} tool call{'' if n == 1 else 's'}"
    assert_rules(result)


def test_a_call_that_is_refused_counts_as_a_tool_call():
    result = run(ScriptedModel([call("rm")], repeat=True), [look_up], "go", limits=Limits(max_tool_calls=3, **NONE))
    assert result.status == "tool_call_limit" and result.steps == 4


def test_what_fits_the_tool_call_limit_runs_and_the_answer_comes():
    assert run(ScriptedModel([[call("add", a=1, b=2), call("add", a=1, b=3)], "done"]), [add], "go", limits=Limits(max_tool_calls=2)).status == "done"


# ---- tokens ---------------------------------------------------------------------------------------------------------------------


def test_with_a_counter_a_call_that_does_not_fit_is_not_made():
    # step 1 sends 2 and writes 4 + 2 characters, so step 2 sends 2 + 6 + 4 and would come to 20
    ping, _ = counting()
    script = [Reply(tool_calls=[ToolCall("1", "ping", "{}")]), "well"]

    def once(budget):
        return run(
            ScriptedModel(script),
            [ping],
            "go",
            limits=Limits(budget_tokens=budget),
            count_tokens=lambda text: 0 if text.startswith("[") else len(text),
        )

    assert [once(b).steps for b in (0, 1, 2, 8, 19, 20, 24)] == [0, 0, 1, 1, 1, 2, 2]
    assert once(19).status == "token_budget" and once(20).status == "done" and once(20).usage.total_tokens == 24
    assert once(19).report == ("Stopped at the token budget after 1 step: 8 of 19 tokens are spent and the next call needs 12: ping() succeeded.")


def test_a_reserve_keeps_room_for_the_reply():
    ping, _ = counting()
    script = [Reply(tool_calls=[ToolCall("1", "ping", "{}")]), "well"]

    def once(budget, reserve):
        return run(
            ScriptedModel(script),
            [ping],
            "go",
            limits=Limits(budget_tokens=budget, reserve=reserve),
            count_tokens=lambda text: 0 if text.startswith("[") else len(text),
        )

    assert once(23, 4).steps == 1 and once(24, 4).steps == 2 and once(24, 4).usage.total_tokens == 24
    assert once(24, 5).steps == 1 and once(25, 5).steps == 2


def test_without_a_counter_a_budget_is_exceeded_by_one_reply_at_most():
    script = [Reply(tool_calls=[call("look_up", item=str(i))], usage=Usage(40, 10)) for i in range(9)]
    spent = {
        b: run(ScriptedModel(script), [look_up], "go", limits=Limits(budget_tokens=b)).usage.total_tokens for b in (0, 1, 49, 50, 51, 100, 101, 400)
    }
    assert spent == {0: 0, 1: 50, 49: 50, 50: 50, 51: 100, 100: 100, 101: 150, 400: 400}


def test_a_reserve_asks_ahead_without_a_counter_too():
    result = run(ScriptedModel(["x"]), [], "go " * 100, limits=Limits(budget_tokens=100, reserve=26))
    assert result.status == "token_budget" and result.steps == 0
    assert run(ScriptedModel(["x"]), [], "go " * 100, limits=Limits(budget_tokens=101, reserve=26)).status == "done"


def test_a_budget_that_is_spent_to_the_last_token_with_the_answer_is_done():
    assert run(ScriptedModel([Reply("yes", usage=Usage(40, 10))]), [], "go", limits=Limits(budget_tokens=50)).status == "done"


def test_reported_tokens_are_charged_cached_ones_included():
    script = [Reply(tool_calls=[call("look_up", item=str(i))], usage=Usage(10, 10, 30)) for i in range(9)]
    result = run(ScriptedModel(script), [look_up], "go", limits=Limits(budget_tokens=100))
    assert (result.status, result.steps, result.usage.total_tokens, result.usage.cached_tokens) == ("token_budget", 2, 100, 60)


# ---- money ----------------------------------------------------------------------------------------------------------------------

SPENDS = [Reply(tool_calls=[call("look_up", item=str(i))], usage=Usage(1000, 0)) for i in range(9)]  # 0.01 USD each at 10 USD a million


@pytest.mark.parametrize("budget, steps", [(0, 0), (0.005, 1), (0.01, 1), (0.011, 2), (0.03, 3), (0.0301, 4)])
def test_a_money_budget_stops_as_a_token_budget_does(budget, steps):
    result = run(ScriptedModel(SPENDS), [look_up], "go", limits=Limits(budget_usd=budget), prices=Price(10, 10))
    assert (result.status, result.steps) == ("cost_budget", steps)
    assert result.usage.cost_usd == pytest.approx(steps * 0.01)
    assert_rules(result)


def test_with_a_counter_money_is_asked_for_ahead():
    result = run(ScriptedModel(["x"]), [], "x" * 1000, limits=Limits(budget_usd=0.0099), prices=Price(10, 10), count_tokens=len)
    assert (
        result.report == "Stopped at the money budget after 0 steps: 0.0000 of 0.0099 USD are spent and the next call needs 0.0100; no tool was run."
    )
    assert run(ScriptedModel(["x"]), [], "x" * 1000, limits=Limits(budget_usd=0.01), prices=Price(10, 10), count_tokens=len).status == "done"


def test_a_reserve_is_money_too_and_costs_what_output_costs():
    def once(budget):
        return run(ScriptedModel(["x"]), [], "x" * 1000, limits=Limits(budget_usd=budget, reserve=100), prices=Price(10, 50), count_tokens=len).status

    assert (once(0.0149), once(0.0151)) == ("cost_budget", "done")


@pytest.mark.parametrize(
    "prices, says",
    [
        (None, "budget_usd needs a price: pass prices="),
        ({}, "with an entry for the model 'small'"),
        ({"large": Price(1, 1)}, "with an entry for the model 'small'"),
    ],
)
def test_a_money_budget_without_a_price_is_refused_at_the_start(prices, says):
    model = ScriptedModel(["x"], name="small")
    with pytest.raises(ValueError, match=says):
        run(model, [], "go", limits=Limits(budget_usd=1), prices=prices)
    assert model.calls == 0


def test_a_price_of_nothing_never_ends_a_run():
    assert run(ScriptedModel(SPENDS[:5] + ["done"]), [look_up], "go", limits=Limits(budget_usd=0.001), prices=Price(0, 0)).status == "done"


# ---- seconds --------------------------------------------------------------------------------------------------------------------


def test_a_time_limit_is_asked_before_every_model_call():
    clock = Clock()

    def take_a_while(n):
        clock.now += 2.5
        return f"pong {n}"

    for limit, steps in ((0, 0), (2.4, 1), (2.5, 1), (2.6, 2), (5, 2), (7.5, 3)):
        ping, runs = counting(returns=take_a_while)
        result = run(ScriptedModel([call("ping")], repeat=True), [ping], "go", limits=Limits(max_seconds=limit), clock=clock)
        assert (result.status, result.steps, len(runs)) == ("time_limit", steps, steps)
        assert_rules(result)


def test_a_time_limit_is_asked_between_the_tools_of_a_batch():
    clock, runs = Clock(), []

    def slow(n):
        runs.append(n)
        clock.now += 1

    tool = Tool("slow", "Slow.", {"properties": {"n": {}}}, slow)
    result = run(ScriptedModel([[call("slow", n=i) for i in range(5)], "done"]), [tool], "go", limits=Limits(max_seconds=2), clock=clock)
    assert runs == [0, 1] and result.status == "time_limit" and result.steps == 1
    assert results(result) == ["null", "null"] + ["ERROR: not run: the run stopped at the time limit after 2.0 s of 2 s"] * 3
    assert (
        result.report == "Stopped at the time limit after 2.0 s of 2 s: slow(n=0), slow(n=1) succeeded; slow(n=2), slow(n=3), slow(n=4) were not run."
    )
    assert_rules(result)


def test_an_answer_that_comes_late_is_still_an_answer():
    clock = Clock()

    def model(messages, tools):
        clock.now += 60
        return Reply("late")

    assert run(model, [], "go", limits=Limits(max_seconds=1), clock=clock).answer == "late"


# ---- errors ---------------------------------------------------------------------------------------------------------------------

SAYS_ERROR = Tool("says", "Says.", {"properties": {}}, lambda: {"error": "gone"})
ERRORS = {
    "raises": call("fail"),
    "refused by its schema": call("look_up"),
    "unknown name": call("rm"),
    "says error": call("says"),
    "broken JSON": ToolCall(None, "look_up", "{"),
    "arguments that are no object": ToolCall(None, "look_up", "[]"),
}


@pytest.mark.parametrize("wrong", ERRORS.values(), ids=ERRORS)
@pytest.mark.parametrize("n", [1, 2, 5])
def test_the_run_stops_with_the_last_error_it_is_allowed(wrong, n):
    result = run(ScriptedModel([wrong], repeat=True), [look_up, fail, SAYS_ERROR], "go", limits=Limits(max_errors=n, **NONE))
    assert (result.status, result.steps) == ("error_limit", n)
    assert result.report.startswith(f"Stopped at the error limit after {n} tool error{'' if n == 1 else 's'}: ")
    assert_rules(result)


def test_no_errors_allowed_is_the_first_one_stops():
    assert run(ScriptedModel([call("fail")], repeat=True), [fail], "go", limits=Limits(max_errors=0)).steps == 1
    assert run(ScriptedModel([call("add", a=1, b=2), "done"]), [add], "go", limits=Limits(max_errors=0)).status == "done"


def test_errors_count_over_the_whole_run_and_only_errors():
    ok, bad = call("add", a=1, b=2), call("fail")
    result = run(ScriptedModel([bad, ok, [ok, bad, ok], ok, bad, ok]), [add, fail], "go", limits=Limits(max_errors=3, **NONE))
    assert (result.status, result.steps) == ("error_limit", 5)


def test_after_the_last_error_the_rest_of_the_batch_is_answered_and_not_run():
    ping, runs = counting()
    result = run(ScriptedModel([[call("ping"), call("fail"), call("ping"), call("fail")]]), [ping, fail], "go", limits=Limits(max_errors=1))
    assert len(runs) == 1 and results(result)[2:] == ["ERROR: not run: the run stopped at the error limit after 1 tool error"] * 2
    assert result.report == ("Stopped at the error limit after 1 tool error: ping() succeeded; fail() failed; ping(), fail() were not run.")
    assert_rules(result)


# ---- repeats --------------------------------------------------------------------------------------------------------------------


def letters(pattern):
    """A model that looks up one letter of the pattern after the other, over and over."""
    return ScriptedModel([call("look_up", item=letter) for letter in pattern], repeat=True)


@pytest.mark.parametrize(
    "pattern, steps", [("a", 3), ("ab", 6), ("abc", 9), ("xyaaa", 5), ("xababab", 7), ("aab", 9), ("aabb", None), ("abcd", None), ("abcde", None)]
)
def test_three_rounds_of_one_two_or_three_steps_are_a_loop(pattern, steps):
    result = run(letters(pattern), [look_up], "go", limits=Limits(max_steps=40))
    assert (result.status, result.steps) == (("repeated_call", steps) if steps else ("step_limit", 40))
    assert_rules(result)


@pytest.mark.parametrize("times, steps", [(0, 1), (1, 1), (2, 2), (3, 3), (5, 5)])
def test_how_often_is_a_setting(times, steps):
    assert run(letters("a"), [look_up], "go", limits=Limits(max_repeats=times)).steps == steps


def test_without_a_limit_on_repeats_the_step_limit_ends_it():
    assert run(letters("a"), [look_up], "go", limits=Limits(max_repeats=None)).status == "step_limit"


SAME = ['{"a": 1, "b": 2}', '{"b":2,"a":1}', '{ "b" : 2,\n "a" : 1 }', {"b": 2, "a": 1}]


@pytest.mark.parametrize("tools", [[add], [], [fail]], ids=["runs", "unknown name", "another tool"])
def test_key_order_and_white_space_make_no_difference(tools):
    result = run(ScriptedModel([ToolCall(None, "add", a) for a in SAME]), tools, "go")
    assert (result.status, result.steps) == ("repeated_call", 3)


def test_key_order_makes_no_difference_to_a_call_that_its_schema_refuses():
    wrong = ['{"a": "x", "b": 2}', '{"b":2,"a":"x"}', '{"b": 2, "a": "x"}']
    assert run(ScriptedModel([ToolCall(None, "add", a) for a in wrong] + ["done"]), [add], "go").status == "repeated_call"


@pytest.mark.parametrize(
    "a, b", [({"x": 1}, {"x": 2}), ({"x": "1"}, {"x": 1}), ("{", "{ "), ('{"x": [1, 2]}', '{"x": [2, 1]}'), ({"x": None}, {}), ("null", "")]
)
def test_other_arguments_are_another_call(a, b):
    assert canonical(a) != canonical(b)


@pytest.mark.parametrize("a, b", [('{"x": {"b": 1, "a": 2}}', {"x": {"a": 2, "b": 1}}), ('{"x":1}', '{"x": 1}'), ('"\\u00e9"', '"é"')])
def test_the_same_arguments_are_the_same_call(a, b):
    assert canonical(a) == canonical(b)


def test_a_result_that_changes_is_progress():
    ping, _ = counting(returns=lambda n: f"row {n}")
    assert run(ScriptedModel([call("ping")], repeat=True), [ping], "go").status == "step_limit"


def test_a_result_that_stops_changing_is_a_loop():
    ping, _ = counting(returns=lambda n: f"row {min(n, 4)}")
    assert run(ScriptedModel([call("ping")], repeat=True), [ping], "go").steps == 6


def test_the_text_beside_a_call_makes_no_difference():
    model = ScriptedModel([[f"thought {i}", call("look_up", item="x")] for i in range(5)])
    assert run(model, [look_up], "go").status == "repeated_call"


def test_a_poll_tool_may_be_asked_again():
    ping, runs = counting(poll=True)
    assert run(ScriptedModel([call("ping")], repeat=True), [ping], "go").status == "step_limit" and len(runs) == 10


def test_a_poll_tool_that_is_refused_is_a_loop_like_any_other():
    ping, runs = counting(poll=True)
    assert run(ScriptedModel([call("ping", x=1)], repeat=True), [ping], "go").status == "repeated_call" and runs == []


def test_a_batch_is_the_same_only_as_a_whole():
    same = [call("look_up", item="a"), call("look_up", item="b")]
    assert run(ScriptedModel([same], repeat=True), [look_up], "go").steps == 3
    changing = [[call("look_up", item="a"), call("look_up", item=str(i))] for i in range(5)]
    assert run(ScriptedModel(changing + ["done"]), [look_up], "go").status == "done"


@pytest.mark.parametrize(
    "pattern, says",
    [
        ("a", 'a loop: the same call with the same result three times: look_up(item="a") 3 times succeeded.'),
        ("ab", 'a loop: the same 2 steps with the same result three times: look_up(item="a") 3 times, look_up(item="b") 3 times succeeded.'),
    ],
)
def test_a_loop_is_reported_as_one(pattern, says):
    assert run(letters(pattern), [look_up], "go").report == f"Stopped: {says}"


# ---- all at once ------------------------------------------------------------------------------------------------------------------

GENEROUS = dict(max_steps=50, max_tool_calls=50, budget_tokens=5_000, budget_usd=0.05, max_seconds=50, max_repeats=50, max_errors=50, reserve=10)
TIGHT = {  # the one limit that is tightened -> status, steps
    "max_steps": (4, "step_limit", 4),
    "max_tool_calls": (4, "tool_call_limit", 5),
    "budget_tokens": (409, "token_budget", 4),
    "budget_usd": (0.00405, "cost_budget", 4),
    "max_seconds": (4, "time_limit", 4),
    "max_repeats": (4, "repeated_call", 4),
    "max_errors": (4, "error_limit", 4),
}


@pytest.mark.parametrize("field", TIGHT)
def test_of_all_limits_at_once_the_tight_one_stops_the_run(field):
    value, status, steps = TIGHT[field]
    clock = Clock()

    def model(messages, tools):
        clock.now += 1
        return Reply(tool_calls=[call("fail")], usage=Usage(90, 10))

    result = run(model, [fail], "go", limits=Limits(**{**GENEROUS, field: value}), prices=Price(10, 10), count_tokens=lambda text: 0, clock=clock)
    assert (result.status, result.steps) == (status, steps)
    assert_rules(result)


@pytest.mark.parametrize(
    "limits, status",
    [
        (dict(max_steps=0, max_seconds=0, budget_tokens=0, budget_usd=0), "step_limit"),
        (dict(max_seconds=0, budget_tokens=0, budget_usd=0), "time_limit"),
        (dict(budget_tokens=0, budget_usd=0), "token_budget"),
        (dict(budget_usd=0), "cost_budget"),
    ],
)
def test_where_several_are_met_the_order_is_fixed_and_nothing_is_paid(limits, status):
    model = ScriptedModel(["x"])
    result = run(model, [], "go", limits=Limits(**limits), prices=Price(1, 1))
    assert (result.status, model.calls, result.usage.total_tokens, result.usage.cost_usd) == (status, 0, 0, 0)


def test_what_met_its_limit_is_in_the_record():
    end = run(letters("abcd"), [look_up], "go", limits=Limits(max_steps=4)).journal.of("end")[0]
    assert (end["status"], end["value"], end["limit"]) == ("step_limit", 4, 4)
    json.dumps(end)
