"""Several calls in one reply: what runs together, what waits, and what the record says meanwhile."""

import threading

import pytest

from agentkit import Journal, Limits, ScriptedModel, Tool, call, replay, resume, run
from agentkit.tools import idempotency_key
from agentkit.workers import abandoned

AT_MOST = 20    # seconds that a wait may take before the test fails; nothing here waits that long when it works


def meeting(n):
    """A tool that returns only when n calls of it run at the same time."""
    barrier = threading.Barrier(n)

    def meet(who):
        barrier.wait(AT_MOST)
        return f"{who} was there"
    return Tool("meet", "Meet.", {"properties": {"who": {"type": "string"}}}, meet, parallel=True)


def contents(result):
    return [m["content"] for m in result.messages if m["role"] == "tool"]


def test_calls_of_parallel_tools_run_together_and_answer_in_call_order():
    result = run(ScriptedModel([[call("meet", who=w) for w in "cab"], "done"]), [meeting(3)], "Go.")
    assert (result.status, contents(result)) == ("done", ["c was there", "a was there", "b was there"])
    assert [m["tool_call_id"] for m in result.messages if m["role"] == "tool"] == [c["id"] for c in result.messages[1]["tool_calls"]]


def test_other_calls_are_barriers():
    order = []

    def note(name):
        order.append(name)
        return name
    schema = {"properties": {"name": {"type": "string"}}}
    tools = [Tool("read", "Read.", schema, note, parallel=True), Tool("write", "Write.", schema, note)]
    batch = [call("read", name="r1"), call("read", name="r2"), call("write", name="w"), call("read", name="r3"), call("read", name="r4")]
    result = run(ScriptedModel([batch, "done"]), tools, "Go.")
    assert contents(result) == ["r1", "r2", "w", "r3", "r4"]
    assert set(order[:2]) == {"r1", "r2"} and order[2] == "w" and set(order[3:]) == {"r3", "r4"}


def test_a_failing_call_does_not_lose_its_siblings():
    def work(n):
        if n == 1:
            raise ValueError("one is bad")
        return n
    tool = Tool("work", "Work.", {"properties": {"n": {"type": "integer"}}}, work, parallel=True)
    result = run(ScriptedModel([[call("work", n=n) for n in range(3)], "done"]), [tool], "Go.")
    assert contents(result) == ["0", "ERROR: work failed: ValueError: one is bad", "2"] and result.status == "done"


def test_a_finished_call_is_on_record_while_its_sibling_hangs():
    journal, seen = Journal(), []

    def work(n):
        if n == 1:      # hangs until the other one is on record
            for _ in range(AT_MOST * 100):
                if journal.of("result"):
                    break
                threading.Event().wait(0.01)
            seen.extend(e["content"] for e in journal.of("result"))
        return n
    tool = Tool("work", "Work.", {"properties": {"n": {"type": "integer"}}}, work, parallel=True)
    result = run(ScriptedModel([[call("work", n=1), call("work", n=0)], "done"]), [tool], "Go.", journal=journal)
    assert seen == ["0"] and contents(result) == ["1", "0"] and journal.messages() == result.messages


def test_a_call_that_hangs_is_left_behind_at_its_time_out():
    release = threading.Event()
    slow = Tool("slow", "Slow.", {}, lambda: release.wait(AT_MOST), timeout=0.05, parallel=True)
    fine = Tool("fine", "Fine.", {}, lambda: "fine", parallel=True)
    result = run(ScriptedModel([[call("slow"), call("fine")], "done"]), [slow, fine], "Go.")
    assert contents(result) == ["ERROR: slow failed: TimeoutError: no result within 0.05 s; whether it took effect is not known", "fine"]
    assert abandoned()
    release.set()


def test_the_tool_call_limit_counts_calls_that_are_under_way():
    ran = []
    tool = Tool("work", "Work.", {"properties": {"n": {"type": "integer"}}}, lambda n: ran.append(n), parallel=True)
    result = run(ScriptedModel([[call("work", n=n) for n in range(5)], "done"]), [tool], "Go.", limits=Limits(max_tool_calls=3))
    assert (result.status, sorted(ran)) == ("tool_call_limit", [0, 1, 2]) and len(contents(result)) == 5


def test_each_call_sees_its_own_key():
    barrier = threading.Barrier(2)

    def key():
        barrier.wait(AT_MOST)
        return idempotency_key()
    result = run(ScriptedModel([[call("key"), call("key")], "done"]), [Tool("key", "Key.", {}, key, parallel=True)], "Go.",
                 journal=Journal(run_id="r"))
    assert contents(result) == ["r:call_1", "r:call_2"]


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupt_in_one_of_them_passes_through_and_leaves_no_call_open(stop):
    journal = Journal()

    def work(n):
        if n == 1:
            raise stop
        return n
    tool = Tool("work", "Work.", {"properties": {"n": {"type": "integer"}}}, work, parallel=True)
    with pytest.raises(stop):
        run(ScriptedModel([[call("work", n=n) for n in range(3)], "done"]), [tool], "Go.", journal=journal)
    answered = [m["tool_call_id"] for m in journal.messages() if m["role"] == "tool"]
    assert answered == ["call_1", "call_2", "call_3"]


def test_a_parallel_run_replays_and_nothing_finished_runs_twice_after_a_crash():
    ran = []
    tool = Tool("work", "Work.", {"properties": {"n": {"type": "integer"}}}, lambda n: ran.append(n) or n, parallel=True)
    script = [[call("work", n=n) for n in range(3)], "done"]
    result = run(ScriptedModel(script), [tool], "Go.")
    assert replay(result.journal).same and replay(result.journal, [tool]).same

    cut = Journal(run_id=result.journal.run_id)     # a crash after the first result: the others had started
    kept = [i for i, e in enumerate(result.journal.events) if e["kind"] == "result"][0]
    cut.events.extend(result.journal.events[:kept + 1])
    ran.clear()
    after = resume(cut, ScriptedModel(["done"]), [tool])
    assert after.status == "done" and ran == []
    assert sorted("outcome unknown" in text for text in contents(after)) == [False, True, True]
