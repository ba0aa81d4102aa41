"""Sub-agents: what comes back, what it costs the run that asked, how deep it goes, and what of it outlives a crash."""

import threading
from dataclasses import replace

import pytest
from harness import Clock, add, assert_rules, fail, look_up, pay, results
from agentkit import (Hook, Journal, Limits, Price, Reply, ScriptedModel, Spent, TextModel, Tool, Usage, call, replay, resume, run, tool)
from agentkit.extend.hooks import deny
from agentkit.extend.subagents import SubAgent, subagent

USED = Usage(100, 10, 5, 0.25)          # of every reply in here that says what it used
ASK = call("helper", task="look around")


def paid(*entry, usage=USED):
    """A reply that says what it used."""
    return Reply(" ".join(e for e in entry if isinstance(e, str)) or None, [e for e in entry if not isinstance(e, str)], usage)


def look(n=1):
    return call("look_up", item=f"thing {n}")


def helper(script, tools=(look_up, fail), **more):
    """(the tool, the results of its runs)."""
    ended = []
    model = script if callable(script) else ScriptedModel(script)
    return subagent(model, tools, **{"name": "helper", "description": "Looks around.", "on_result": ended.append, **more}), ended


def go(script, tools, **options):
    result = run(ScriptedModel(script), tools, "go", **{"prices": Price(1, 1), **options})
    assert_rules(result)
    found = replay(result.journal)
    assert found.same, str(found)
    return result


def own(result):
    """What the run's own replies and calls have used, read from its record."""
    usage = Usage(0, 0, cost_usd=0.0)
    for event in result.journal.of("reply"):
        usage += Usage(**event["usage"])
    done = [e for e in result.journal.of("result") if not e["stopped"]]
    return Spent(usage, len(result.journal.of("reply")), len(done), sum(e["error"] for e in done))


def added(*parts):
    total = Usage(0, 0, cost_usd=0.0)
    for part in parts:
        total += part.usage
    return Spent(total, *(sum(getattr(p, n) for p in parts) for n in ("steps", "tool_calls", "errors")))


# ---- what comes back -------------------------------------------------------------------------------------------------

def test_the_parent_sees_the_answer_and_none_of_the_results():
    desk, ended = helper([look(1), look(2), "Both are there."])
    result = go([ASK, "ok"], [desk])
    assert results(result) == ["Both are there."] and "shelf" not in str(result.messages)
    assert ended[0].messages[1]["content"] == "look around" and "go" not in [m["content"] for m in ended[0].messages]
    assert "sees your last text and nothing else" in ended[0].messages[0]["content"]


def test_a_long_answer_is_cut_and_says_so():
    desk, _ = helper(["x" * 5_000], summary_chars=300)
    text = results(go([ASK, "ok"], [desk]))[0]
    assert text.startswith("x" * 300 + "\n[cut: 5,000 characters in all") and len(text) < 450


@pytest.mark.parametrize("script, limits, status, words", [
    ([look(n) for n in range(9)], Limits(max_steps=2), "step_limit", "Stopped at the step limit after 2 steps"),
    ([call("fail")], Limits(max_errors=1), "error_limit", "fail() failed"),
    ([OSError("no line")], Limits(), "model_error", "OSError: no line"),
    ([Reply("half an ans", stop_reason="length")], Limits(), "truncated", "Its last words: half an ans"),
    (["", ""], Limits(), "empty_reply", "two empty replies"),
])
def test_what_stopped_it_is_in_the_text_and_the_call_has_failed(script, limits, status, words):
    desk, ended = helper(script, limits=limits)
    result = go([ASK, "ok"], [desk])
    text = results(result)[0]
    assert ended[0].status == status and text.startswith(f"ERROR: helper did not finish ({status}). ") and words in text
    assert result.journal.of("result")[0]["error"] and result.status == "done"


def test_it_works_alone_outside_a_run():
    desk, _ = helper([look(), "there"])
    told = desk(task="look around")
    assert (told.text, told.error, told.spent.steps, told.spent.tool_calls) == ("there", False, 2, 1)


def test_every_run_of_it_starts_clean():                                           # strands#1176
    desk, ended = helper([look(), "one", "two"])
    go([ASK, ASK, "ok"], [desk])
    assert [len(r.messages) for r in ended] == [5, 3]


# ---- what it spends --------------------------------------------------------------------------------------------------

def test_its_spending_is_charged_exactly_once_in_every_dimension():
    desk, ended = helper([paid(look(1), call("fail")), paid("there")])
    result = go([paid(ASK), paid("ok")], [desk])
    inner = Spent.of(ended[0])
    assert (inner.steps, inner.tool_calls, inner.errors, inner.usage) == (2, 2, 1, USED + USED)
    assert Spent.of(result) == added(own(result), inner)
    assert (result.steps, result.usage.input_tokens, result.usage.output_tokens, result.usage.cached_tokens) == (4, 400, 40, 20)


def test_replies_that_a_text_model_botched_are_errors_of_the_parent_too():
    lines = iter(["no json", '{"final": "there"}'])
    desk, ended = helper(TextModel(lambda messages: next(lines)))
    result = go([ASK, call("fail"), "never asked"], [desk, fail], limits=Limits(max_errors=2))
    assert Spent.of(ended[0]).errors == 1 and result.status == "error_limit"


ENDLESS = [paid(look(n)) for n in range(50)]
FAILING = [paid(call("fail"), look(n)) for n in range(50)]


@pytest.mark.parametrize("limits, script, inside, status, used", [
    (Limits(max_steps=5), ENDLESS, "step_limit", "step_limit", lambda s: s.steps == 5),
    (Limits(max_tool_calls=4, max_steps=None), ENDLESS, "tool_call_limit", "done", lambda s: s.tool_calls == 4),
    (Limits(budget_tokens=500, max_steps=None), ENDLESS, "token_budget", "token_budget", lambda s: 500 <= s.usage.total_tokens < 500 + 115),
    (Limits(budget_usd=1.3, max_steps=None), ENDLESS, "cost_budget", "cost_budget", lambda s: 1.3 <= s.usage.cost_usd < 1.3 + 0.25),
    (Limits(max_errors=3, max_steps=None), FAILING, "error_limit", "error_limit", lambda s: s.errors == 3 + 1),     # the call itself has failed too
], ids=["steps", "tool calls", "tokens", "money", "errors"])
def test_it_cannot_use_more_than_the_parent_has_left(limits, script, inside, status, used):
    desk, ended = helper(script, limits=Limits(max_steps=None))
    result = go([paid(ASK), paid("ok")], [desk], limits=limits)
    assert ended[0].status == inside and result.status == status, result.report
    assert used(Spent.of(result)), Spent.of(result)
    assert Spent.of(result) == added(own(result), Spent.of(ended[0]))


def test_it_cannot_use_more_time_than_the_parent_has_left():
    clock = Clock()

    def slow(messages, tools):
        clock.now += 4
        return paid(look(len(messages)))

    desk, ended = helper(slow, limits=Limits(max_steps=None, max_seconds=100))
    result = go([paid(ASK), paid("ok")], [desk], limits=Limits(max_steps=None, max_seconds=10), clock=clock)
    assert (ended[0].status, result.status, clock.now - 100) == ("time_limit", "time_limit", 12)


def test_its_own_limits_hold_where_they_are_stricter_and_leave_the_parent_its_share():
    desk, ended = helper(ENDLESS, limits=Limits(max_steps=2))
    result = go([paid(ASK), paid("ok")], [desk], limits=Limits(max_steps=9, budget_tokens=1_000))
    assert (ended[0].status, result.status, result.steps) == ("step_limit", "done", 4)


def test_with_a_reserve_parent_and_child_together_never_exceed_the_budget():
    desk, _ = helper(ENDLESS, limits=Limits(max_steps=None))
    result = go([paid(ASK), paid("ok")], [desk], limits=Limits(max_steps=None, budget_tokens=1_000, reserve=200), count_tokens=lambda text: 5)
    assert result.status == "token_budget" and result.usage.total_tokens <= 1_000


def test_when_nothing_is_left_it_calls_no_model():
    desk, ended = helper(ENDLESS)
    result = go([paid(ASK)], [desk], limits=Limits(max_steps=1))
    assert (ended[0].steps, result.steps, result.status) == (0, 1, "step_limit") and "after 0 steps" in results(result)[0]


@pytest.mark.parametrize("limits", [Limits(max_steps=13), Limits(max_tool_calls=9), Limits(budget_tokens=1_500), Limits(budget_usd=3.3)])
def test_two_beside_each_other_share_what_is_left(limits):
    both = threading.Barrier(2)

    def endless(messages, tools):
        if len(messages) == 2:
            both.wait(5)
        return paid(look(len(messages)))

    desk, ended = helper(endless, limits=Limits(max_steps=None), parallel=True)
    result = go([paid(ASK, ASK), paid("ok")], [desk], limits=replace(limits, max_repeats=None) if limits.max_steps != 10 else replace(limits, max_steps=None))
    spent = Spent.of(result)
    assert len(ended) == 2 and spent == added(own(result), *map(Spent.of, ended))
    assert all(Spent.of(e).steps > 0 for e in ended)
    assert limits.max_steps == 10 or spent.steps <= limits.max_steps
    assert limits.max_tool_calls is None or spent.tool_calls <= limits.max_tool_calls
    assert limits.budget_tokens is None or spent.usage.total_tokens < limits.budget_tokens + 2 * 115      # one reply each
    assert limits.budget_usd is None or spent.usage.cost_usd < limits.budget_usd + 2 * 0.25


def test_a_child_whose_model_has_no_price_spends_nothing_of_a_money_budget():
    desk, ended = helper([paid("there")])
    model = ScriptedModel([ASK, "ok"], name="known")
    result = run(model, [desk], "go", prices={"known": Price(1, 1)}, limits=Limits(budget_usd=1))
    assert not ended and "budget_usd needs a price" in results(result)[0] and result.status == "done"


def test_it_counts_and_prices_as_the_parent_does():
    desk, ended = helper(["there"])
    go([ASK, "ok"], [desk], count_tokens=lambda text: 7, prices=Price(1e6, 0))
    reply = ended[0].journal.of("reply")[0]
    assert reply["prompt_tokens"] % 7 == 0 and reply["usage"]["cost_usd"] == reply["prompt_tokens"]


# ---- depth -----------------------------------------------------------------------------------------------------------

def test_at_its_depth_the_tool_is_hidden():
    seen = []

    def model(messages, tools):
        seen.append([t["function"]["name"] for t in tools])
        return Reply(f"done at {len(seen)}") if len(seen) >= 4 else Reply(tool_calls=(call("helper", task="go deeper"),))

    desk, ended = helper(model, max_depth=3)
    result = go([ASK, "ok"], [desk])
    assert seen[:3] == [["look_up", "fail", "helper"], ["look_up", "fail", "helper"], ["look_up", "fail"]]
    assert "there is no tool 'helper'" in str(ended[0].messages), "the deepest asked for it all the same"
    assert result.status == "done"


def test_a_call_that_comes_by_another_way_is_refused():
    desk, ended = helper(["never"])

    @tool
    def smuggle() -> str:
        """Hand the sub-agent to a run that should not have it."""
        return run(ScriptedModel([ASK, "inner"]), [desk], "go").messages[2]["content"]

    result = go([call("smuggle"), "ok"], [smuggle])
    assert results(result)[0].startswith("ERROR: helper was not started: this is a run of depth 1, and its sub-agents end at depth 1.") and not ended


def test_two_deep_every_level_is_charged_once():
    inner, deep = helper([paid(look(1), call("fail")), paid("found")], name="inner", max_depth=2)
    outer, middle = helper([paid(call("inner", task="look")), paid("told")], [inner, look_up], name="outer")
    result = go([paid(call("outer", task="find out")), paid("ok")], [outer])
    assert Spent.of(middle[0]) == added(own(middle[0]), Spent.of(deep[0]))
    assert Spent.of(result) == added(own(result), own(middle[0]), own(deep[0]))
    assert (result.steps, Spent.of(result).tool_calls, Spent.of(result).errors) == (6, 4, 1)


def test_two_deep_the_top_budget_holds():
    inner, deep = helper(ENDLESS, name="inner", max_depth=2, limits=Limits(max_steps=None))
    outer, _ = helper([paid(call("inner", task="look")), paid("told")], [inner], name="outer", limits=Limits(max_steps=None))
    result = go([paid(call("outer", task="find out")), paid("ok")], [outer], limits=Limits(max_steps=7))
    assert (deep[0].steps, result.steps, result.status) == (5, 7, "step_limit")


def test_one_that_could_never_run_inside_another_is_said_at_once():
    inner, _ = helper(["x"], name="inner")
    with pytest.raises(ValueError, match="inner could never run inside it: .* max_depth=2"):
        helper(["x"], [inner])


# ---- people, hooks, observers ----------------------------------------------------------------------------------------

def test_it_asks_the_same_person():
    asked = []
    desk, _ = helper([call("pay", amount=5), "paid it"], [pay])
    result = go([ASK, "ok"], [desk], approve=lambda c: asked.append((c.name, c.arguments)) or True)
    assert asked == [("pay", {"amount": 5})] and results(result) == ["paid it"]


def test_with_nobody_to_ask_nothing_runs_and_the_parent_is_told_what_was_asked_for():
    ran = []
    book = Tool("book", "", {"properties": {"day": {"type": "string"}}}, lambda day: ran.append(day) or "booked", needs_approval=True)
    desk, ended = helper([[look(), call("book", day="May 3")], "never"], [look_up, book])
    result = go([ASK, "ok"], [desk])
    text = results(result)[0]
    assert ended[0].status == "waiting_for_approval" and not ran and result.status == "done"
    assert "It asked for book(day=May 3), which a person has to approve" in text and "ask for it yourself" in text
    assert [m["role"] for m in ended[0].messages] == ["system", "user", "assistant"], "not even the lookup beside it"


def test_its_own_hooks_hold_inside():
    desk, ended = helper([look(), "there"], hooks=[deny("look_up", "closed")])
    go([ASK, "ok"], [desk])
    assert results(ended[0]) == ["ERROR: a hook (deny) denied this call: closed"]


def test_the_gates_of_the_run_that_asks_hold_inside_at_every_depth():
    inner, deep = helper([look(), "there"], name="inner", max_depth=2)
    outer, middle = helper([look(), call("inner", task="look"), "told"], [inner, look_up], name="outer")
    result = go([call("outer", task="find out"), "ok"], [outer], hooks=[deny("look_up", "closed"), Hook("log", after_tool=lambda c, r: None)])
    assert results(deep[0]) == ["ERROR: a hook (deny) denied this call: closed"] == results(middle[0])[:1] and result.status == "done"


def test_an_observer_that_raises_costs_nobody_the_result():
    seen = []

    def told(result):
        seen.append(result)
        raise OSError("disk full")

    desk, _ = helper([paid("there")], on_result=told)
    result = go([paid(ASK), paid("ok")], [desk])
    assert results(result) == ["there"] and result.steps == 3
    assert seen[0].journal.of("hook")[0]["raised"] == "OSError: disk full"


# ---- the record ------------------------------------------------------------------------------------------------------

def test_its_record_is_kept_and_names_the_call_it_worked_for(tmp_path):
    desk, ended = helper([look(), "there", "again"], journals=tmp_path / "new" / "folder")
    result = go([ASK, ASK, "ok"], [desk], journal=Journal(run_id="top"))
    files = sorted((tmp_path / "new" / "folder").glob("*.sqlite"))
    assert len(files) == 2 and all(f.name.startswith(f"top-{c}-helper-") for f, c in zip(files, ("call_1", "call_2")))
    kept = Journal(files[0])
    assert kept.messages() == ended[0].messages and replay(kept).same and result.status == "done"


def test_what_was_spent_until_a_record_broke_is_charged(tmp_path, monkeypatch):
    desk, _ = helper([paid(look(1), look(2)), paid("never")], journals=tmp_path)
    written = Journal._save

    def full(self, number, event):
        if number > 6:
            raise_full = OSError("disk full")
            from agentkit import JournalError
            raise JournalError("disk full") from raise_full
        return written(self, number, event)

    monkeypatch.setattr(Journal, "_save", full)
    result = go([paid(ASK), paid("ok")], [desk])
    assert results(result)[0].startswith("ERROR: helper broke off: JournalError: disk full")
    assert (result.steps, result.usage.input_tokens, Spent.of(result).tool_calls) == (3, 300, 2) and result.status == "done"


def test_after_a_crash_the_outcome_is_unknown_and_nothing_is_charged_twice():
    desk, ended = helper([paid(look()), paid("there"), "never asked again"])
    result = go([paid(ASK), paid("ok")], [desk])
    kinds = [e["kind"] for e in result.journal.events]
    for cut in (kinds.index("call") + 1, kinds.index("result") + 1):       # while it ran; after its result was on record
        broken = Journal()
        for event in result.journal.events[:cut]:
            broken.write(event)
        done = resume(broken, ScriptedModel([paid("ok")]), [desk], prices=Price(1, 1))
        assert_rules(done)
        assert done.status == "done" and len(ended) == 1, "it is not run again"
        unknown = "outcome unknown" in results(done)[0]
        assert unknown == (cut == kinds.index("call") + 1)
        assert done.usage == (USED + USED if unknown else result.usage) and replay(done.journal).same


def test_ctrl_c_inside_passes_through_and_leaves_no_call_open():
    def interrupt(messages, tools):
        raise KeyboardInterrupt

    desk, _ = helper(interrupt)
    journal = Journal()
    with pytest.raises(KeyboardInterrupt):
        run(ScriptedModel([ASK]), [desk], "go", journal=journal)
    assert not journal.open_calls() and "not known" in journal.of("result")[0]["content"]


def test_replayed_with_its_tools_it_really_runs_again():
    desk, ended = helper(["there", "there"])
    result = run(ScriptedModel([ASK, "ok"]), [desk], "go")
    again = replay(result.journal, [desk])
    assert again.same and again.calls == 1 and len(ended) == 2


# ---- a programmer's mistake ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("more, words", [
    ({"max_depth": 0}, "max_depth must be"), ({"max_depth": True}, "max_depth must be"), ({"summary_chars": 10}, "summary_chars must be"),
    ({"limits": 5}, "limits takes Limits"), ({"name": "two words"}, "a tool's name must be"), ({"name": "look_up"}, "two tools are called 'look_up'"),
    ({"tools": (look_up, look_up)}, "two tools are called"), ({"tools": ("look_up",)}, "a registry takes tools"),
])
def test_a_mistake_is_said_at_once(more, words):
    tools = more.pop("tools", (look_up,))
    with pytest.raises((TypeError, ValueError), match=words):
        helper(["x"], tools, **more)
    with pytest.raises(TypeError, match="a model is a function"):
        subagent("gpt", [], name="x", description="")


def test_a_timeout_is_refused_because_a_thread_left_behind_goes_on_spending():
    desk, _ = helper(["x"])
    assert isinstance(desk, SubAgent)
    with pytest.raises(ValueError, match=r"nobody counts it. Give it limits=Limits\(max_seconds"):
        replace(desk, timeout=5)
