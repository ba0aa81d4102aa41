"""Hooks in run(): two gates, two observers, what others spend, and what a resumed or replayed run makes of all that."""

import decimal
import json

import pytest
from harness import add, assert_rules, fail, look_up, pay, results
from agentkit import Hook, Journal, Limits, Price, Reply, ScriptedModel, Spent, Tool, ToolResult, Usage, View, call, check_messages, replay, resume, run, running, tool
from agentkit.limits import Exit

ADD = call("add", a=1, b=2)


def go(script, *hooks, tools=(look_up, add, fail, pay), **options):
    model = ScriptedModel(script)
    result = run(model, list(tools), "go", hooks=hooks, **options)
    assert_rules(result)
    found = replay(result.journal)
    assert found.same, str(found)
    return result, model


# ---- before_tool -----------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("said, why", [("no sums today", ": no sums today"), (False, "")])
def test_a_gate_denies_and_the_model_is_told_why(said, why):
    result, _ = go([ADD, "ok"], Hook("sums", before_tool=lambda c: said))
    assert results(result) == [f"ERROR: a hook (sums) denied this call{why}"]
    assert "add(a=1, b=2) was rejected" in result.report and not result.journal.of("call")
    assert "hook sums" in str(result.journal.table())


@pytest.mark.parametrize("said", [None, True, {"a": 1, "b": 2}])
def test_a_gate_lets_pass(said):
    result, _ = go([ADD, "ok"], Hook("sums", before_tool=lambda c: said))
    assert results(result) == ["3"] and not result.journal.of("gate")


@pytest.mark.parametrize("gate", [lambda c: 1 / 0, lambda c: 7, lambda c: call("look_up", item="x"), lambda c: object(), lambda: None])
def test_a_gate_that_fails_or_says_nothing_that_can_be_understood_denies(gate):
    result, _ = go([ADD, "ok"], Hook("broken", before_tool=gate))
    assert results(result)[0].startswith("ERROR: a hook (broken) denied this call: it failed (")
    assert not result.journal.of("call") and result.status == "done"


def test_a_gate_changes_the_arguments_and_the_model_is_told():
    result, _ = go([ADD, "ok"], Hook("ten", before_tool=lambda c: {**c.arguments, "b": 10}))
    assert results(result) == ['[a hook changed the arguments of this call to {"a":1,"b":10}]\n11']
    assert result.journal.of("call")[0]["arguments"] == {"a": 1, "b": 10}
    assert result.messages[1]["tool_calls"][0]["function"]["arguments"] == '{"a": 1, "b": 2}', "the list keeps what the model said"


def test_a_changed_call_is_validated_anew():
    result, _ = go([ADD, "ok"], Hook("words", before_tool=lambda c: {"a": "one", "b": 2}))
    assert "may not run: argument 'a' must be integer, not 'one'" in results(result)[0] and not result.journal.of("call")


def test_a_changed_call_is_approved_as_it_will_run():
    asked = []
    result, _ = go([call("pay", amount=500), "ok"], Hook("cap", before_tool=lambda c: {"amount": min(50, c.arguments["amount"])}),
                   approve=lambda c: asked.append(c.arguments) or True)
    assert asked == [{"amount": 50}] and results(result)[0].endswith("paid 50")


def test_gates_are_asked_in_order_and_the_first_no_counts():
    seen = []

    def note(tag, said):
        return Hook(tag, before_tool=lambda c: seen.append((tag, c.arguments)) or said)

    result, _ = go([ADD, "ok"], note("one", {"a": 5, "b": 5}), note("two", "no"), note("three", None))
    assert seen == [("one", {"a": 1, "b": 2}), ("two", {"a": 5, "b": 5})] and "(two)" in results(result)[0]


def test_a_gate_cannot_reach_the_record_through_what_it_is_shown():
    result, _ = go([call("look_up", item="ink"), "ok"], Hook("vandal", before_tool=lambda c: c.arguments.clear()))
    assert results(result) == ["ink is on the shelf"]


def test_gates_are_not_asked_about_calls_that_cannot_run_and_are_asked_before_anything_runs():
    order = []
    ping = Tool("ping", "", {}, lambda: order.append("run") or "x")
    go([[call("ping"), call("nobody"), call("ping")], "ok"], Hook("g", before_tool=lambda c: order.append(c.name)), tools=[ping])
    assert order == ["ping", "ping", "run", "run"]


# ---- before_model ----------------------------------------------------------------------------------------------------

def test_a_view_is_sent_for_one_call_and_the_list_stays_whole():
    views = []

    def two_last(messages, tools):
        views.append(len(messages))
        return [messages[0], *messages[-2:]] if len(messages) > 3 else None

    result, model = go([ADD, call("add", a=3, b=4), call("add", a=5, b=6), "ok"], Hook("short", before_model=two_last))
    assert views == [1, 3, 5, 7] and [len(s) for s in model.sent] == [1, 3, 3, 3] and len(result.messages) == 8
    assert [e["sent"] for e in result.journal.of("view")] == [[0, 3, 4], [0, 5, 6]]


def test_a_view_is_what_is_counted_and_what_a_budget_is_asked_for():
    def first_only(messages, tools):
        return View(messages[:1], "the task alone") if len(messages) > 1 else None

    many = [call("look_up", item="x" * 400) for _ in range(6)]
    whole, _ = go([*many, "ok"], count_tokens=len, limits=Limits(max_steps=None, max_repeats=None))
    short, _ = go([*many, "ok"], Hook("one", before_model=first_only), count_tokens=len, limits=Limits(max_steps=None, max_repeats=None))
    prompts = {e["prompt_tokens"] for e in short.journal.of("reply")}
    assert len(prompts) == 1, "each call is sent the same"
    assert short.usage.input_tokens == 7 * prompts.pop() < whole.usage.input_tokens / 2
    assert "hook one" in str(short.journal.table()) and "the task alone" in str(short.journal.table())
    again = Journal()
    for event in short.journal.events[:-1]:
        again.write(event)
    gone_on = resume(again, ScriptedModel(["never asked"]), [look_up, add, fail, pay], count_tokens=len)
    assert gone_on.usage == short.usage, "read again, a record comes to the same account"


def test_after_a_view_the_whole_list_counts_again_also_when_the_run_is_resumed():
    def second_only(messages, tools):
        return messages[:1] if len(messages) == 3 else None

    hook, script, tools = Hook("once", before_model=second_only), [ADD, ADD, call("pay", amount=1)], [add, pay]
    result, _ = go(script, hook, tools=tools, count_tokens=len)
    plain, _ = go(script, tools=tools, count_tokens=len)
    viewed, whole = ([e["prompt_tokens"] for e in r.journal.of("reply")] for r in (result, plain))
    assert viewed == [whole[0], whole[0], whole[2]]
    ends = [resume(r.journal, ScriptedModel(["ok"]), tools, {r.pending[0].id: True}, count_tokens=len) for r in (result, plain)]
    assert ends[0].journal.of("reply")[-1]["prompt_tokens"] == ends[1].journal.of("reply")[-1]["prompt_tokens"]


@pytest.mark.parametrize("said, status, words", [
    ("over the daily quota", "refused", "a hook (q) refused the model call: over the daily quota"),
    (False, "refused", "a hook (q) refused the model call"),
    (Exit("cost_budget", "the daily budget"), "cost_budget", "Stopped at the daily budget"),
])
def test_a_gate_before_the_model_ends_the_run(said, status, words):
    result, model = go([ADD, "ok"], Hook("q", before_model=lambda m, t: said if len(m) > 1 else None))
    assert (result.status, result.answer, model.calls) == (status, None, 1) and words in result.report
    gone_on = resume(result.journal, ScriptedModel(["ok"]), [look_up, add, fail, pay]) if status != "refused" else None
    assert gone_on is None or gone_on.status == "done"


@pytest.mark.parametrize("gate", [lambda m, t: 1 / 0, lambda m, t: 7, lambda m, t: m[1:], lambda m, t: [], lambda m, t: Exit("done", "x")])
def test_a_gate_before_the_model_that_fails_lets_nothing_pass(gate):
    result, model = go([ADD, "ok"], Hook("q", before_model=lambda m, t: gate(m, t) if len(m) > 1 else None))
    assert result.status == "refused" and "a hook (q) failed before the model call (" in result.report and model.calls == 1


def test_hooks_are_not_asked_for_a_call_that_a_limit_forbids():
    seen = []
    go([ADD, ADD], Hook("n", before_model=lambda m, t: seen.append(1)), limits=Limits(max_steps=1))
    assert len(seen) == 1


# ---- observers -------------------------------------------------------------------------------------------------------

def test_observers_see_what_is_on_record_already():
    seen, journal = [], Journal()
    log = Hook("log", after_model=lambda r: seen.append((journal.events[-1]["kind"], r.text)),
               after_tool=lambda c, r: seen.append((journal.events[-1]["kind"], c.name, r.text, r.error)))
    go([[ADD, call("fail"), call("nobody")], "ok"], log, journal=journal)
    assert seen == [("reply", None), ("result", "add", "3", False),
                    ("result", "fail", "ERROR: fail failed: OSError: the shelf has fallen over", True), ("reply", "ok")]


def test_an_observer_that_raises_is_recorded_and_the_tool_does_not_run_again():     # harness-sdk#4338
    runs = []
    ping = Tool("ping", "", {}, lambda: runs.append(1) or "pong")
    result, _ = go([call("ping"), "ok"], Hook("log", after_tool=lambda c, r: 1 / 0, after_model=lambda r: {}["x"]), tools=[ping])
    assert (result.status, len(runs)) == ("done", 1)
    assert [(e["hook"], e["at"]) for e in result.journal.of("hook")] == [("log", "after_model"), ("log", "after_tool"), ("log", "after_model")]
    assert "ZeroDivisionError" in str(result.journal.table())


def test_ctrl_c_in_a_hook_passes_through_and_every_call_is_answered():
    def interrupt(*_):
        raise KeyboardInterrupt

    for point, runs in (("before_model", 0), ("after_model", 0), ("before_tool", 0), ("after_tool", 1)):
        journal, ran = Journal(), []
        with pytest.raises(KeyboardInterrupt):
            run(ScriptedModel([call("ping"), "ok"]), [Tool("ping", "", {}, lambda: ran.append(1) or "x")], "go", hooks=[Hook(**{point: interrupt})], journal=journal)
        assert len(ran) == runs and not journal.open_calls()
        check_messages(journal.messages())


# ---- a programmer's mistake ------------------------------------------------------------------------------------------

@pytest.mark.parametrize("hooks, words", [
    ([object()], "a hook has one or more of the functions before_model"),
    ([Hook("empty")], "a hook has one or more"),
    ([type("H", (), {"before_tools": lambda c: None, "after_tool": print})()], "no point 'before_tools'; did you mean before_tool?"),
])
def test_a_hook_that_is_none_is_said_at_once(hooks, words):
    with pytest.raises(TypeError) as raised:
        run(ScriptedModel(["ok"]), [], "go", hooks=hooks)
    assert words in str(raised.value)


def test_one_hook_needs_no_list():
    assert run(ScriptedModel(["ok"]), [], "go", hooks=Hook(after_model=lambda r: None)).status == "done"


# ---- resume ----------------------------------------------------------------------------------------------------------

def cap(c):
    return {"amount": 50}


def test_what_a_hook_changed_is_what_a_person_is_shown_and_what_runs_after_resume():
    result, _ = go([call("pay", amount=500)], Hook("cap", before_tool=cap))
    assert result.pending[0].arguments == {"amount": 50}
    done = resume(result.journal, ScriptedModel(["ok"]), [look_up, add, fail, pay], {result.pending[0].id: True})
    assert results(done)[0].endswith("\npaid 50") and replay(done.journal).same


def test_a_hook_that_changes_a_call_after_it_was_approved_needs_a_new_yes():
    result, _ = go([call("pay", amount=500)])
    asked = []
    done = resume(result.journal, ScriptedModel(["ok"]), [look_up, add, fail, pay], {result.pending[0].id: True}, hooks=[Hook("cap", before_tool=cap)],
                  approve=lambda c: asked.append(c.arguments) or True)
    assert asked == [{"amount": 50}] and results(done)[0].endswith("\npaid 50")


def test_redacted_arguments_of_a_hook_do_not_run_after_resume():
    journal = Journal(redact=lambda text: text.replace("secret", "***"))
    hook = Hook("h", before_tool=lambda c: {"item": "secret"} if c.name == "look_up" else None)
    result = run(ScriptedModel([[call("look_up", item="x"), call("pay", amount=1)]]), [look_up, pay], "go", journal=journal, hooks=[hook])
    done = resume(result.journal, ScriptedModel(["ok"]), [look_up, pay], {result.pending[0].id: True}, hooks=[hook])
    assert "kept only in redacted form" in results(done)[0] and done.status == "done"


# ---- hooks that go too far -------------------------------------------------------------------------------------------

def test_a_hook_cannot_rewrite_the_run_in_place():
    def vandal(messages, tools):
        tools.clear()
        for m in messages:
            m["content"] = "something else"
            m.pop("tool_calls", None)

    result, model = go([ADD, "ok"], Hook("v", before_model=vandal))
    assert result.messages[0]["content"] == "go" and results(result) == ["3"] and model.tools


def test_a_hook_that_edits_what_it_was_shown_and_returns_it_sends_its_edit_and_nothing_more():
    def redact(messages, tools):
        for m in messages:
            m["content"] = "[redacted]" if m["role"] == "tool" else m["content"]
        return messages

    result, model = go([ADD, call("add", a=2, b=2), "ok"], Hook("redact", before_model=redact))
    assert results(result) == ["3", "4"], "the run's list stays as it was"
    assert [m["content"] for m in model.sent[-1] if m["role"] == "tool"] == ["[redacted]"] * 2
    assert [e["sent"] for e in result.journal.of("view")][1] == [0, 1, {**result.messages[2], "content": "[redacted]"}]


@pytest.mark.parametrize("hook", [
    Hook("g", before_tool=lambda c: {"a": {1, 2}, "b": 2}),
    Hook("g", before_tool=lambda c: {"a": decimal.Decimal(1), "b": 2}),
    Hook("g", before_tool=lambda c: {"a": float("nan"), "b": 2}),
    Hook("g", before_tool=lambda c: {1: 2}),
    Hook("g", before_model=lambda m, t: [{**m[0], "extra": {"x": object()}}, *m[1:]]),
    Hook("g", before_model=lambda m, t: [{"role": "user", "content": "\ud800"}, *m[1:]]),
    Hook("g", before_model=lambda m, t: Exit("cost_budget", "x", decimal.Decimal(1))),
    Hook("g", before_model=lambda m, t: View(m[:1], "note \ud800", "not spent")),
])
@pytest.mark.parametrize("on_disk", [False, True])
def test_what_a_hook_says_never_breaks_the_record(hook, on_disk, tmp_path):
    result = run(ScriptedModel([ADD, "ok"]), [add], "go", hooks=[hook], journal=Journal(tmp_path / "run.db" if on_disk else None))
    json.dumps(result.journal.events, allow_nan=False, ensure_ascii=False).encode("utf-8")
    assert_rules(result)


def test_what_a_hook_sent_cannot_be_changed_when_it_is_on_record():
    kept = []

    def short(messages, tools):
        kept.append({"role": "user", "content": "short"})
        return kept[-1:]

    result, _ = go([ADD, "ok"], Hook("h", before_model=short, after_model=lambda r: kept[-1].update(content="forged")))
    assert [e["sent"] for e in result.journal.of("view")] == [[{"role": "user", "content": "short"}]] * 2


def test_the_price_of_a_view_that_is_refused_is_charged():
    orphan = [{"role": "tool", "tool_call_id": "x", "name": "y", "content": "z"}]
    result, _ = go(["ok"], Hook("g", before_model=lambda m, t: View(orphan, "", SPENT)))
    assert result.status == "refused" and result.usage.input_tokens == 100 and result.steps == 2


def test_no_hook_spends_when_the_budget_is_spent():
    asked = []
    hook = Hook("sum", before_model=lambda m, t: asked.append(1) and None)
    result, _ = go([Reply(None, (ADD,), Usage(90, 20)), "ok"], hook, limits=Limits(budget_tokens=100))
    assert result.status == "token_budget" and len(asked) == 1


def test_an_async_hook_is_said_at_once():
    async def log(c, r):
        pass

    with pytest.raises(TypeError, match="after_tool is async"):
        run(ScriptedModel(["ok"]), [], "go", hooks=[Hook("log", after_tool=log)])


def test_a_tool_cannot_approve_for_others():
    got = []
    bad = Tool("bad", "", {}, lambda: running().options.update(approve=lambda c: True) or "x")
    see = Tool("see", "", {}, lambda: got.append(running().options["approve"]) or "y")
    go([[call("bad"), call("see")], "ok"], tools=[bad, see])
    assert got == [None]


def test_a_gate_that_always_says_no_ends_as_a_repeated_call_and_one_that_is_broken_as_errors():
    no, _ = go([ADD] * 9, Hook("h", before_tool=lambda c: "no"), limits=Limits(max_steps=None))
    broken, _ = go([call("add", a=n, b=1) for n in range(9)], Hook("h", before_tool=lambda c: 1 / 0), limits=Limits(max_steps=None, max_errors=3))
    assert (no.status, broken.status) == ("repeated_call", "error_limit") and "were rejected" not in broken.report


def test_what_has_no_price_of_its_own_is_an_estimate():
    unpriced = Tool("t", "", {}, lambda: ToolResult("x", spent=Spent(Usage(1_000_000, 0), steps=1)))
    result = run(ScriptedModel([Reply(None, (call("t"),), Usage(1, 1)), Reply("ok", usage=Usage(1, 1))]), [unpriced], "go", prices=Price(5, 5))
    assert result.usage.estimated and result.usage.cost_usd > 5


# ---- what others spend -----------------------------------------------------------------------------------------------

SPENT = Spent(Usage(100, 10, 5, 0.5), steps=2, tool_calls=3, errors=1)


@tool
def delegate() -> str:
    """Let somebody else work."""
    return ToolResult("they did it", spent=SPENT)


def test_what_a_tool_spends_is_charged_once_in_every_dimension():
    result, _ = go([call("delegate"), "ok"], tools=[delegate], prices=Price(0, 0), limits=Limits(max_errors=5))
    own = [e["usage"] for e in result.journal.of("reply")]
    assert result.usage == Usage(100 + sum(u["input_tokens"] for u in own), 10 + sum(u["output_tokens"] for u in own), 5, 0.5, True)
    assert result.steps == 4 and Spent.of(result).tool_calls == 4 and Spent.of(result).errors == 1


@pytest.mark.parametrize("limits, status", [
    (Limits(max_steps=3), "step_limit"), (Limits(max_tool_calls=4), "done"), (Limits(max_tool_calls=3), "done"), (Limits(budget_tokens=120), "token_budget"),
    (Limits(budget_usd=0.4), "cost_budget"), (Limits(max_errors=1), "error_limit"),
])
def test_it_counts_against_every_limit(limits, status):
    result, _ = go([call("delegate"), "ok"], tools=[delegate], prices=Price(0, 0), limits=limits)
    assert result.status == status


def test_tool_calls_of_others_count_before_the_next_call():
    result, _ = go([call("delegate"), call("delegate"), "ok"], tools=[delegate], limits=Limits(max_tool_calls=4))
    assert result.status == "tool_call_limit"


def test_what_a_view_spends_is_charged_too_and_read_again():
    hook = Hook("sum", before_model=lambda m, t: View(m[:1], "summed up", SPENT) if len(m) > 1 else None)
    result, _ = go([ADD, "ok"], hook, prices=Price(0, 0))
    assert result.steps == 4 and result.usage.cost_usd == 0.5 and result.usage.cached_tokens == 5


def test_a_tool_may_call_its_own_text_an_error():
    soft = Tool("soft", "", {}, lambda: ToolResult("", True))
    result, _ = go([call("soft"), "ok"], tools=[soft], limits=Limits(max_errors=1))
    assert result.status == "error_limit" and results(result) == ["(no output)"]


@pytest.mark.parametrize("wrong", [{"usage": None}, {"usage": Usage(1, 1), "steps": -1}, {"usage": Usage(1, 1), "errors": True}])
def test_what_was_spent_is_checked_where_it_is_said(wrong):
    with pytest.raises((TypeError, ValueError), match="Spent: "):
        Spent(**wrong)
    result, _ = go([call("odd"), "ok"], tools=[Tool("odd", "", {}, lambda: ToolResult("x", spent="much"))])
    assert result.status == "done" and results(result) == ["x"]


def test_a_tool_learns_what_is_left_and_calls_beside_each_other_share_it():
    seen = []

    @tool(parallel=True)
    def look() -> str:
        """Look at what is left."""
        left = running().left()
        seen.append((running().depth, left.max_steps, left.max_tool_calls, left.budget_tokens, left.max_errors, left.max_seconds))
        return "x"

    used = Usage(90, 10)
    go([Reply(None, (call("look"),), used), Reply(None, [call("look")] * 2, used), Reply("ok", usage=used)], tools=[look],
       limits=Limits(max_steps=9, max_tool_calls=9, budget_tokens=1000, max_errors=4, max_repeats=None, max_seconds=60), clock=lambda: 0.0)
    assert seen == [(0, 8, 8, 900, 4, 60.0)] + [(0, 3, 3, 400, 2, 60.0)] * 2 and running() is None


def test_nothing_is_left_of_nothing_and_all_of_all():
    seen = []
    go([call("look"), "ok"], tools=[Tool("look", "", {}, lambda: seen.append(running().left()) or "x")], limits=Limits(max_steps=None, max_repeats=3))
    assert seen == [Limits(max_steps=None, max_repeats=None)]
    assert Limits(max_steps=5, budget_tokens=7).at_most(Limits(max_steps=3, budget_tokens=9)) == Limits(max_steps=3, budget_tokens=7)
    assert Limits(max_steps=5, reserve=10).at_most(Limits(max_steps=None, max_repeats=None, budget_tokens=7, reserve=20)) == \
        Limits(max_steps=5, max_repeats=3, budget_tokens=7, reserve=20)


# ---- whatever comes back ---------------------------------------------------------------------------------------------

class NoBool:
    def __bool__(self):
        raise RuntimeError("no bool")


class NoStr(str):
    def __str__(self):
        raise RuntimeError("no str")


ODD_RESULTS = [
    ToolResult(None), ToolResult("x", error=NoBool()), ToolResult("x", spent={"a": 1}), ToolResult(object()), ToolResult("\ud800"), ToolResult("x" * 100_000, True),
    ToolResult("x", spent=Spent(Usage(None, None))), ToolResult("x", spent=Spent(Usage(1, 1), steps=10**6)), ToolResult(NoStr("a")), ToolResult(ToolResult("in it")), View([]), SPENT]
ODD_WORDS = [
    NoBool(), NoStr("no"), {"a": NoStr("x")}, {NoBool(): 1}, (1, 2), [], View(None), View([1]), View([{}]), View([{"role": "user", "content": None}]), "", "   ", {}, b"x", 0, 1,
    View([{"role": "user", "content": "x"}], NoStr("n")), View([{"role": "user", "content": "x"}], "", "spent"), Exit("refused", NoStr("m")),
    Exit("step_limit", None, float("nan")), {"a": 1, "b": 2, "c": 3}, call("add", a=5, b=5), call("other", a=5, b=5), object(), Exception("as a value"), type]


@pytest.mark.parametrize("limits", [Limits(), Limits(budget_usd=1.0, max_errors=2), Limits(budget_tokens=1_000, reserve=10)], ids=["steps", "money", "tokens"])
@pytest.mark.parametrize("value", ODD_RESULTS, ids=range(len(ODD_RESULTS)))
def test_whatever_a_tool_says_of_itself_the_run_keeps_its_rules(value, limits):
    odd = Tool("odd", "", {"properties": {}}, lambda: value, parallel=True)
    go([[call("odd"), call("odd")], "ok"], tools=[odd], limits=limits, prices=Price(1, 1))


@pytest.mark.parametrize("point", ["before_model", "after_model", "before_tool", "after_tool"])
@pytest.mark.parametrize("said", ODD_WORDS, ids=range(len(ODD_WORDS)))
def test_whatever_a_hook_says_the_run_keeps_its_rules(said, point):
    go([[ADD, ADD], "ok"], Hook("odd", **{point: lambda *what: said}))


def test_with_hooks_a_crash_at_any_event_repeats_no_write_and_resumes_to_the_same_list():
    wrote = []
    write = Tool("write", "", {"properties": {"amount": {"type": "integer"}}}, lambda amount: wrote.append(amount) or f"wrote {amount}", needs_approval=True)
    hooks = [Hook("cap", before_tool=lambda c: {"amount": min(50, c.arguments["amount"])} if c.name == "write" else None),
             Hook("no", before_tool=lambda c: "no" if c.arguments.get("a") == 9 else None),
             Hook("short", before_model=lambda m, t: View([m[0], *m[-3:]], "short", SPENT) if len(m) > 2 and m[-3].get("tool_calls") else None),
             Hook("broken", after_tool=lambda c, r: 1 / 0)]
    turns = [(call("write", amount=500), call("add", a=9, b=1)), (call("write", amount=20), ADD)]

    def model(messages, tools):     # a view hides earlier turns from it, so it goes by what it is asked for last
        done = sum(e["kind"] == "reply" for e in journal.events)
        return Reply(tool_calls=turns[done]) if done < 2 else Reply("ok")

    options = dict(hooks=hooks, approve=lambda c: True, count_tokens=len)
    journal = Journal()
    whole = run(model, [write, add], "go", journal=journal, **options)
    assert_rules(whole)
    assert wrote == [50, 20] and whole.journal.of("view") and whole.journal.of("gate")
    for cut in range(1, len(whole.journal.events)):
        kept = whole.journal.events[:cut]
        started = [e for e in kept if e["kind"] == "call" and e["name"] == "write"]
        wrote.clear()
        journal = Journal(run_id=whole.journal.run_id)
        for event in kept:
            journal.write(event)
        again = resume(journal, model, [write, add], **options)
        assert_rules(again)
        assert len(wrote) + len(started) == 2 and replay(again.journal).same
        assert again.messages == whole.messages or any(e.get("unknown") for e in again.journal.of("result"))


# ---- a model that sends less -----------------------------------------------------------------------------------------

def test_a_model_that_says_what_it_sends_is_counted_by_that():
    class Router:
        def sends(self, messages, tools):
            return messages[:1], []

        def __call__(self, messages, tools):
            return Reply("ok") if len(messages) > 8 else Reply(tool_calls=(call("look_up", item="x" * 200 + str(len(messages))),))

    result = run(Router(), [look_up], "go", count_tokens=len, limits=Limits(budget_tokens=2_000))
    assert_rules(result)
    assert {e["prompt_tokens"] for e in result.journal.of("reply")} == {len("go")} and result.status == "done"


def test_a_model_that_cannot_say_what_it_sends_has_failed():
    model = ScriptedModel(["ok"])
    model.sends = lambda messages, tools: 1 / 0
    result = run(model, [], "go")
    assert result.status == "model_error" and "could not say what it sends" in result.report and model.calls == 0
