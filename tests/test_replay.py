"""replay(): a record goes through the loop again, and the first difference is found where it is."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit import Journal, Limits, Price, Reply, ScriptedModel, TextModel, Tool, ToolCall, Usage, call, replay, resume, run
from harness import Clock, add, counting, fail, look_up, pay

from test_loop import EXITS

steady = settings(derandomize=True, deadline=None, database=None, max_examples=150)
TOOLS = [add, look_up, fail, pay]


def a_run(**more):
    script = [["I add.", call("add", a=1, b=2), call("fail")], "", [call("rm"), call("look_up", item="lamp")], "done"]
    return run(ScriptedModel(script), TOOLS, "go", system="be brief", **more)


def test_a_record_is_the_same_and_nothing_is_executed():
    ping, runs = counting()
    journal = run(ScriptedModel([call("ping"), call("ping"), "done"]), [ping], "go").journal
    before, events = list(runs), list(journal.events)
    found = replay(journal)
    assert (found.same, found.step, found.diff, found.calls, str(found)) == (True, 3, "", 0, "the same over 3 steps")
    assert runs == before and journal.events == events
    again = replay(journal, [ping])
    assert (again.same, again.calls, len(runs), str(again)) == (True, 2, 4, "the same over 3 steps; 2 tool calls executed again")


@pytest.mark.parametrize("name", EXITS)
def test_every_exit_is_replayed(name):
    script, limits, _ = EXITS[name]
    journal = run(ScriptedModel(script), [add, look_up, fail, pay], "go", limits=Limits(**limits), prices=Price(10, 10), clock=Clock()).journal
    assert replay(journal).same and replay(journal, TOOLS).same


def test_budgets_and_times_are_taken_from_the_record():
    clock = Clock()
    slow = Tool("slow", "Slow.", {"properties": {}}, lambda: setattr(clock, "now", clock.now + 2) or "ok")
    for limits in (dict(max_seconds=3), dict(budget_tokens=150), dict(budget_usd=150e-6)):
        script = [[call("slow"), call("slow"), call("slow")], call("slow"), call("slow"), "done"]
        result = run(ScriptedModel(script), [slow], "go", limits=Limits(**limits), count_tokens=len, prices=Price(1, 1), clock=clock)
        assert result.status != "done" and replay(result.journal).same, limits


def test_people_text_protocols_extras_and_resumes_are_replayed(tmp_path):
    text = run(TextModel(lambda m: '{"final": "x"}' if len(m) > 2 else '{"tool": "add", "args": {"a": 1, "b": 2}}'), [add], "go").journal
    assert replay(text).same and replay(text, [add]).same
    extra = run(lambda m, t: Reply("yes", extra={"responses": [{"id": "r1"}]}), [], "go").journal
    assert replay(extra).same
    open_ = Tool("open", "Takes anything.", {"properties": {}}, lambda **a: "ok")
    assert replay(run(ScriptedModel([call("open", x=1), "done"]), [open_], "go").journal).same
    journal = Journal(tmp_path / "run.db")
    script = [[call("pay", amount=1), call("add", a=1, b=1), call("pay", amount=2)], call("pay", amount=3), OSError("gone")]
    model = ScriptedModel(script, repeat=True)
    run(model, TOOLS, "go", journal=journal, approve=lambda c: True if c.arguments["amount"] == 1 else None, limits=Limits(max_steps=1))
    assert replay(journal).same
    resume(journal, model, TOOLS, {"call_3": "no"})
    assert replay(journal).same and journal.of("end")[-1]["status"] == "step_limit"
    resume(journal, model, TOOLS, limits=Limits(max_steps=5))
    assert replay(journal).same
    resume(journal, model, TOOLS, {"call_4": False})
    assert replay(journal).same and journal.of("end")[-1]["status"] == "model_error"
    resume(journal, ScriptedModel(["done"]), TOOLS)
    assert replay(Journal(tmp_path / "run.db")).same and replay(journal, TOOLS).same
    assert replay(Journal.load(journal.save(tmp_path / "x.jsonl"))).same


def test_a_redacted_record_is_replayed_as_it_is():
    journal = a_run(journal=Journal(redact=lambda text: text.replace("lamp", "[thing]"))).journal
    assert "[thing]" in str(journal.events) and replay(journal).same


def test_an_interrupted_and_a_broken_off_record_are_replayed():
    def stop():
        raise KeyboardInterrupt

    journal = Journal()
    with pytest.raises(KeyboardInterrupt):
        run(ScriptedModel([[call("add", a=1, b=2), call("stop"), call("add", a=2, b=2)]]), [add, Tool("stop", "Stop.", {"properties": {}}, stop)], "go", journal=journal)
    assert replay(journal).same
    resume(journal, ScriptedModel(["done"]), [add])
    assert replay(journal).same
    whole = a_run().journal.events
    for n in range(1, len(whole) + 1):
        part = Journal()
        part.events = whole[:n]
        assert replay(part).same, whole[n - 1]["kind"]


# ---- differences --------------------------------------------------------------------------------------------------------------------


def changed(change):
    journal = a_run().journal
    change(journal)
    return replay(journal)


def of(journal, kind, n=0):
    return journal.of(kind)[n]


@pytest.mark.parametrize(
    "change, step, told",
    [
        (lambda j: of(j, "result", 2).update(content="there is one"), 4, ["message 8", "-there is one", "+ERROR: there is no tool 'rm'"]),
        (lambda j: of(j, "message", 1)["message"].update(content="stop"), 1, ["message 2", "-stop", "+go"]),
        (lambda j: of(j, "message", 2)["message"].update(content="Go on."), 3, ["message 6", "-Go on.", "+Your reply was empty."]),
        (lambda j: of(j, "end").update(status="step_limit"), 4, ["how the run ends", "-step_limit", "+done"]),
        (lambda j: of(j, "start")["limits"].update(max_steps=2), 2, ["how the run ends", "-it goes on", "+step_limit"]),
        (lambda j: j.events.remove(of(j, "reply", 3)), 4, ["how the run ends", "-done", "+it goes on"]),
    ],
)  # fmt: skip
def test_the_first_difference_is_named(change, step, told):
    found = changed(change)
    assert not found.same and found.step == step, str(found)
    assert all(line in str(found) for line in [f"differs at step {step}", *told]), str(found)


def test_a_tool_that_returns_something_else_is_found():
    journal = a_run().journal
    worse = Tool("add", add.description, add.schema, lambda a, b: a - b)
    found = replay(journal, [worse, look_up, fail, pay])
    assert (found.same, found.step, found.calls) == (False, 1, 1)
    assert found.diff.splitlines() == ['the result of add({"a":1,"b":2}) (- then, + now)', "-3", "+-1"]


def test_tools_that_are_described_otherwise_are_found():
    journal = a_run().journal
    found = replay(journal, [Tool("add", "Subtract.", add.schema, add.fn), look_up, fail, pay])
    assert found.step == 1 and "the tool definitions" in found.diff and "Subtract." in found.diff and found.calls == 0
    assert "the tool definitions" in replay(journal, TOOLS[:2]).diff and len(replay(journal, []).diff.splitlines()) <= 14


def test_a_difference_is_short():
    journal = run(ScriptedModel([call("look_up", item="x"), "done"]), [look_up], "go").journal
    many = Tool("look_up", look_up.description, look_up.schema, lambda item: "\n".join(f"{n} " + "long " * 100 for n in range(99)))
    diff = replay(journal, [many]).diff
    assert len(diff) < 2_500 and diff.endswith("more lines")


@pytest.mark.parametrize("journal, kind, says", [("run.db", TypeError, "Journal\\(path\\)"), (Journal(), ValueError, "holds no run to replay")])
def test_a_programmers_mistake_raises_at_once(journal, kind, says):
    with pytest.raises(kind, match=says):
        replay(journal)


MOVES = [call("add", a=1, b=2), call("add", a="x"), call("rm"), call("fail"), call("pay", amount=1), ToolCall("x", "add", "{"), ToolCall("x", "look_up", {"item": "lamp"})]


@steady
@given(
    st.lists(st.lists(st.sampled_from(MOVES), max_size=3), max_size=5),
    st.builds(Limits, max_steps=st.integers(0, 6), max_tool_calls=st.none() | st.integers(0, 5), max_errors=st.none() | st.integers(0, 4),
              max_repeats=st.none() | st.integers(1, 3), budget_tokens=st.none() | st.integers(0, 900)),
    st.sampled_from([None, True, False, "no"]),
    st.booleans(),
)  # fmt: skip
def test_whatever_was_recorded_is_replayed(script, limits, said, counter):
    moves = iter(script)
    model = lambda messages, tools: Reply(None, next(moves, ()), Usage(5, 1) if counter else None) if len(messages) < 14 else Reply("enough")
    result = run(model, TOOLS, "go", limits=limits, approve=None if said is None else lambda asked: said, count_tokens=len if counter else None)
    found = replay(result.journal)
    assert found.same and found.step == result.steps, str(found)
    assert replay(result.journal, TOOLS).same
