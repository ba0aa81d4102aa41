"""The hooks that come with agentkit: log, deny, cap, approval, budget."""

import threading

import pytest
from harness import add, assert_rules, fail, look_up, pay, results
from agentkit import Limits, Price, Reply, ScriptedModel, Spent, Tool, ToolResult, Usage, call, replay, run
from agentkit.extend.hooks import approval, budget, cap, deny, log

ADD = call("add", a=1, b=2)


def go(script, *hooks, tools=(look_up, add, fail, pay), **options):
    result = run(ScriptedModel(script), list(tools), "go", hooks=hooks, **options)
    assert_rules(result)
    assert replay(result.journal).same
    return result


def test_log_writes_a_line_for_each_reply_and_each_call_that_ran():
    lines = []
    go([[ADD, call("fail"), call("nobody")], "ok"], log(lines.append))
    assert lines == ['model: add({"a": 1, "b": 2}), fail({}), nobody({})', 'tool: add({"a": 1, "b": 2}) -> \'3\'',
                     "error: fail({}) -> ERROR: fail failed: OSError: the shelf has fallen over", "model: 'ok'"]


def test_a_log_that_cannot_be_written_costs_only_itself():
    result = go([ADD, "ok"], log(lambda line: 1 / 0))
    assert result.status == "done" and len(result.journal.of("hook")) == 3 and len(result.journal.of("call")) == 1


@pytest.mark.parametrize("what", ["add", ["add", "pay"], {"add"}, lambda c: c.arguments.get("a") == 1])
def test_deny_by_name_or_by_a_question(what):
    result = go([[ADD, call("look_up", item="ink")], "ok"], deny(what, "closed"))
    assert results(result) == ["ERROR: a hook (deny) denied this call: closed", "ink is on the shelf"]


def test_a_question_that_fails_denies():
    assert "it failed (ZeroDivisionError" in results(go([ADD, "ok"], deny(lambda c: 1 / 0)))[0]


LIST = Tool("list_orders", "", {"properties": {"limit": {"type": "integer"}, "page": {}}}, lambda **a: a)


@pytest.mark.parametrize("asked, ran", [({"limit": 500}, {"limit": 50}), ({"limit": 50}, None), ({"limit": 7, "page": 3}, None), ({}, {"limit": 50})])
def test_cap_lowers_what_is_too_high_and_fills_in_what_is_left_out(asked, ran):
    result = go([call("list_orders", **asked), "ok"], cap("list_orders", limit=50), tools=[LIST])
    assert result.journal.of("call")[0]["arguments"] == (ran or asked) and bool(result.journal.of("gate")) == (ran is not None)


@pytest.mark.parametrize("asked", [{"limit": True}, {"limit": "many"}])
def test_cap_leaves_what_is_no_number_to_the_schema(asked):
    result = go([call("list_orders", **asked), "ok"], cap("list_orders", limit=50), tools=[LIST])
    assert "must be integer" in results(result)[0] and not result.journal.of("call")


def test_cap_on_an_argument_that_the_tool_has_not_lets_nothing_run():
    result = go([ADD, "ok"], cap("add", limit=5))
    assert "may not run: unknown argument 'limit'" in results(result)[0]


@pytest.mark.parametrize("said, text", [(True, "3"), (False, "a person said no"), (None, "a person said no"), ("not today", "not today"),
                                        (1, "a person said no"), ("yes", ": yes"), ({"a": 9, "b": 9}, "a person said no"), ("", "a person said no")])
def test_only_true_is_a_yes(said, text):
    result = go([ADD, "ok"], approval(lambda c: said))
    assert results(result)[0].endswith(text) and bool(result.journal.of("call")) == (said is True)


def test_a_person_who_cannot_be_asked_has_not_allowed():
    assert "it failed (EOFError" in results(go([ADD, "ok"], approval(lambda c: (_ for _ in ()).throw(EOFError()))))[0]


def test_approval_asks_about_its_own_tools_and_shows_what_the_hooks_before_it_made_of_the_call():
    asked = []
    result = go([[call("list_orders", limit=900), ADD], "ok"], cap("list_orders", limit=50),
                approval(lambda c: asked.append((c.name, c.arguments)) or True, "list_orders"), tools=[LIST, add])
    assert asked == [("list_orders", {"limit": 50})] and results(result)[1] == "3"


# ---- one budget, many runs -------------------------------------------------------------------------------------------

def reply(*calls, tokens=100, usd=None, text=None):
    return Reply(text, calls, Usage(tokens - 10, 10, cost_usd=usd))


@pytest.mark.parametrize("hook, status", [(lambda: budget(tokens=250), "token_budget"), (lambda: budget(usd=0.25, price=Price(0, 0)), "cost_budget")])
def test_one_budget_over_many_runs(hook, status):
    shared = hook()
    ends = [go([reply(ADD, usd=0.1), reply(text="ok", usd=0.1)], shared) for _ in range(3)]
    assert [(r.status, r.steps) for r in ends] == [("done", 2), (status, 1), (status, 0)]
    assert "the budget of several runs" in ends[1].report


def test_replies_that_do_not_say_what_they_cost_are_counted_and_priced():
    shared = budget(usd=1, price=Price(1e6, 0))
    first = go(["ok"], shared, count_tokens=lambda text: 1, prices=Price(1e6, 0))
    second = go(["never"], shared, count_tokens=lambda text: 1)
    used = first.usage
    assert (first.status, second.status) == ("done", "cost_budget") and f"{used.cost_usd:.4f} of 1.0000 USD" in second.report


def test_what_is_counted_is_what_the_run_counts():
    spent = go([ADD, "ok"], count_tokens=len).usage.total_tokens
    for tokens, status in ((spent, "token_budget"), (spent + 1, "done")):
        shared = budget(tokens=tokens)
        go([ADD, "ok"], shared, count_tokens=len)
        assert go(["one more"], shared).status == status


def test_what_tools_spend_counts_too():
    shared = budget(tokens=1_000)
    dear = Tool("dear", "", {"properties": {}}, lambda: ToolResult("x", spent=Spent(Usage(900, 50), steps=3)))
    result = go([reply(call("dear")), reply(text="never")], shared, tools=[dear])
    assert (result.status, result.steps) == ("token_budget", 1 + 3)


def test_a_new_day_begins_anew():
    day = ["monday"]
    shared = budget(tokens=100, per=lambda: day[0])
    assert [go([reply(text="ok")], shared).status for _ in range(2)] == ["done", "token_budget"]
    day[0] = "tuesday"
    assert go([reply(text="ok")], shared).status == "done"


def test_money_needs_a_price_and_a_budget_of_nothing_lets_nothing_pass():
    with pytest.raises(ValueError, match="a budget in usd needs a price"):
        budget(usd=5)
    assert go([ADD], budget(tokens=0)).steps == 0 and go([ADD], budget(usd=0, price=Price(1, 1))).steps == 0


def test_runs_beside_each_other_share_it():
    shared, all_in, ends = budget(tokens=400), threading.Barrier(4), []

    def model(messages, tools):
        if len(messages) == 1:
            all_in.wait(5)
        return reply(call("look_up", item=str(len(messages))))

    threads = [threading.Thread(target=lambda: ends.append(run(model, [look_up], "go", hooks=shared, limits=Limits(max_steps=50)))) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(10)
    assert [e.status for e in ends] == ["token_budget"] * 4 and sum(e.usage.total_tokens for e in ends) <= 400 + 3 * 100
