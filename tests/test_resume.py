"""resume(): after a person has decided, after a limit, after a crash at any instant. Some of the crashes are real kills."""

import functools
import itertools
import json
import os
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from agentkit import (Journal, Limits, Price, Registry, Reply, RunTaken, ScriptedModel, TextModel, Tool, ToolCall, Usage, call,
                      replay, resume, run)  # fmt: skip
from agentkit.tools import idempotency_key
from harness import Clock, add, assert_one_result_per_call, assert_rules, counting, fail, look_up, pay, recording, results

CASES = {}


def case(*references):
    def keep(test):
        CASES.update((reference, test) for reference in references)
        return test

    return keep


def scripted(*entries):
    """A model that gives its n-th entry as its n-th reply, whatever process asks: it counts the replies in the list, and the nudges."""

    def model(messages, tools):
        n = sum(m["role"] == "assistant" for m in messages)
        entry = entries[n]
        if isinstance(entry, BaseException):
            raise entry
        return entry if isinstance(entry, Reply) else Reply(entry) if isinstance(entry, str) else Reply(None, entry)

    return model


# ---- decisions --------------------------------------------------------------------------------------------------------------------


def paying(*calls, **more):
    """A run that waits for what is said of `pay`. Returns the result, what ran, and the tools."""
    ran = []
    schema = {"properties": {"amount": {"type": "integer"}}, "required": ["amount"]}
    tools = [
        Tool("pay", "Pay.", schema, lambda amount: ran.append(amount) or f"paid {amount}", needs_approval=True),
        Tool("note", "Note.", {"properties": {}}, lambda: ran.append("note") or "noted"),
    ]
    return run(ScriptedModel([list(calls)]), tools, "go", **more), ran, tools


BATCH = [call("note"), call("pay", amount=1), call("note"), call("pay", amount=2)]
DONE = ScriptedModel(["done"], repeat=True)


@pytest.mark.parametrize("where", ["memory", "file", "export"])
def test_a_run_goes_on_when_a_person_has_decided(where, tmp_path):
    waiting, ran, tools = paying(*BATCH, journal=Journal(tmp_path / "run.db") if where == "file" else Journal())
    journal = {"memory": lambda: waiting.journal, "file": lambda: Journal(tmp_path / "run.db"),
               "export": lambda: Journal.load(waiting.journal.save(tmp_path / "run.jsonl"))}[where]()  # fmt: skip
    result = resume(journal, DONE, tools, {"call_2": True, "call_4": "too much"})
    assert (result.status, result.answer, result.pending, ran) == ("done", "done", (), ["note", 1, "note"])
    assert results(result) == ["noted", "paid 1", "noted", "ERROR: a person rejected this action: too much"]
    assert result.report == "Done after 2 steps: note() 2 times, pay(amount=1) succeeded; pay(amount=2) was rejected."
    assert (result.steps, result.journal) == (2, journal)
    assert_rules(result)


def test_while_a_decision_is_missing_nothing_runs():
    waiting, ran, tools = paying(*BATCH)
    for decisions in (None, {}, {"call_4": None}):
        result = resume(waiting.journal, DONE, tools, decisions)
        assert (result.status, ran, [c.id for c in result.pending]) == ("waiting_for_approval", [], ["call_2", "call_4"])
        assert_rules(result)
    result = resume(waiting.journal, DONE, tools, {"call_4": True})
    assert (result.status, ran, result.pending) == ("waiting_for_approval", [], (ToolCall("call_2", "pay", {"amount": 1}),))
    assert_rules(result)
    result = resume(waiting.journal, DONE, tools, {"call_2": True})
    assert (result.status, ran) == ("done", ["note", 1, "note", 2])
    assert_rules(result)


def test_until_the_batch_runs_a_person_may_say_it_again_or_change_their_mind():
    waiting, ran, tools = paying(*BATCH)
    resume(waiting.journal, DONE, tools, {"call_2": True})
    result = resume(waiting.journal, DONE, tools, {"call_2": False, "call_4": True})
    assert (result.status, ran) == ("done", ["note", "note", 2])


@pytest.mark.parametrize("wrong", [{"call_9": True}, {"call_2": True, "x": False}, {"call_1": True}, {"call_2": True, "call_4": True, "": True}])
def test_a_decision_that_fits_no_waiting_call_changes_nothing(wrong):
    waiting, ran, tools = paying(*BATCH)
    before = list(waiting.journal.events)
    unknown = next(i for i in wrong if i not in ("call_2", "call_4"))
    with pytest.raises(ValueError, match=rf"'{unknown}' is no call that waits.*These wait: call_2 \(pay\), call_4 \(pay\)"):
        resume(waiting.journal, DONE, tools, wrong)
    assert waiting.journal.events == before and ran == [] and DONE


def test_a_decision_is_used_once():
    waiting, ran, tools = paying(call("pay", amount=1))
    second = resume(waiting.journal, ScriptedModel([[call("pay", amount=1)]]), tools, {"call_1": True})
    assert (second.status, ran, [c.id for c in second.pending]) == ("waiting_for_approval", [1], ["call_2"])
    for again in ({"call_1": True}, {"call_1": False, "call_2": True}):
        with pytest.raises(ValueError, match=r"call_1 was decided before \(yes\), and a decision is used once.*These wait: call_2"):
            resume(waiting.journal, DONE, tools, again)
    assert resume(waiting.journal, DONE, tools, {"call_2": True}).status == "done" and ran == [1, 1]
    with pytest.raises(ValueError, match="call_2 was decided before"):
        resume(waiting.journal, DONE, tools, {"call_2": True})


def test_a_decision_is_bound_to_what_was_shown():
    for change in ('{"amount": 1000000}', '{"amount": 1, "to": "me"}'):
        waiting, ran, tools = paying(call("pay", amount=1))
        waiting.journal.of("reply")[0]["message"]["tool_calls"][0]["function"]["arguments"] = change
        tools = [Tool("pay", "Pay.", {"properties": {}}, lambda **a: ran.append(a), needs_approval=True), tools[1]]
        with pytest.raises(ValueError, match=r"call_1 was shown as pay\(.*the record has been changed, so nothing runs"):
            resume(waiting.journal, DONE, tools, {"call_1": True})
        assert ran == []
    waiting, ran, tools = paying(call("pay", amount=1))
    waiting.journal.of("reply")[0]["message"]["tool_calls"][0]["function"]["arguments"] = ' {"amount":\n1} '
    assert resume(waiting.journal, DONE, tools, {"call_1": True}).status == "done" and ran == [1], "white space is no other call"


def test_a_recorded_decision_is_bound_too():
    waiting, ran, tools = paying(call("pay", amount=1), call("pay", amount=2))
    resume(waiting.journal, DONE, tools, {"call_1": True})
    waiting.journal.of("decision")[0]["arguments"] = '{"amount":7}'
    with pytest.raises(ValueError, match="the record has been changed"):
        resume(waiting.journal, DONE, tools, {"call_2": True})
    assert ran == []


@pytest.mark.parametrize(
    "tools, told",
    [
        ([], "there is no tool 'pay'"),
        ([Tool("pay", "Pay.", {"properties": {"amount": {"type": "string"}}}, lambda amount: "paid", needs_approval=True)], "must be string, not 1"),
        ([Tool("pay", "Pay.", {"properties": {"sum": {}}}, lambda sum: "paid")], "unknown argument 'amount'"),
    ],
)
def test_an_approved_call_that_no_longer_fits_is_an_error_text(tools, told):
    waiting, ran, _ = paying(call("pay", amount=1))
    result = resume(waiting.journal, DONE, tools, {"call_1": True})
    assert result.status == "done" and told in results(result)[0] and ran == []
    assert_rules(result)


def test_a_tool_that_needs_approval_by_now_is_asked_about():
    journal = crashed_before("call", [call("note")], [Tool("note", "Note.", {"properties": {}}, lambda: "noted")])
    strict, runs = counting("note", "noted", needs_approval=True)
    result = resume(journal, DONE, [strict])
    assert (result.status, runs, len(result.pending)) == ("waiting_for_approval", [], 1)
    assert resume(journal, DONE, [strict], {"call_1": True}).status == "done" and runs == ["note"]


def test_whoever_can_be_asked_is_asked_on_resume():
    waiting, ran, tools = paying(*BATCH)
    asked = []
    result = resume(waiting.journal, DONE, tools, {"call_2": False}, approve=lambda c: asked.append(c.id) or True)
    assert (asked, ran, result.status) == (["call_4"], ["note", "note", 2], "done")


# ---- the ends of a run ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "script, status", [(["x"], "done"), (["", ""], "empty_reply"), ([Reply("x", stop_reason="length")], "truncated"), ([Reply("x", stop_reason="refusal")], "refused")]
)
def test_a_run_that_has_ended_is_not_resumed(script, status):
    journal = run(ScriptedModel(script), [add], "go").journal
    before = list(journal.events)
    with pytest.raises(ValueError, match=f"this run has ended with '{status}' and cannot go on"):
        resume(journal, DONE, [add])
    assert journal.events == before


LIMITED = {
    "step_limit": (dict(max_steps=2), dict(max_steps=9)),
    "tool_call_limit": (dict(max_tool_calls=2), dict(max_tool_calls=9)),
    "token_budget": (dict(budget_tokens=20), dict(budget_tokens=99)),
    "cost_budget": (dict(budget_usd=20e-6), dict(budget_usd=1)),
    "time_limit": (dict(max_seconds=2), dict(max_seconds=9)),
    "error_limit": (dict(max_errors=1), dict(max_errors=9)),
    "repeated_call": (dict(max_repeats=2), dict(max_repeats=5)),
}


@pytest.mark.parametrize("status", LIMITED)
@pytest.mark.parametrize("where", ["memory", "export"])
def test_a_run_that_a_limit_stopped_goes_on_with_more_of_it(status, where, tmp_path):
    low, high = LIMITED[status]
    clock = Clock()

    def tick():
        clock.now += 1
        return "pong" if status == "repeated_call" else {"error": clock.now} if status == "error_limit" else f"pong {clock.now}"

    ping = Tool("ping", "Ping.", {"properties": {}}, tick)
    model = scripted(*[Reply(None, call("ping"), Usage(8, 2))] * 3, Reply("done", usage=Usage(8, 2)))
    more = dict(prices=Price(1, 1), clock=clock)
    stopped = run(model, [ping], "go", limits=Limits(**low), **more)
    assert stopped.status == status
    journal = stopped.journal if where == "memory" else Journal.load(stopped.journal.save(tmp_path / "x.jsonl"))
    before = list(journal.events)
    clock.now += 1000  # the time between is not the run's
    for same in (None, Limits(**low)):
        with pytest.raises(ValueError, match="this run would stop at once, at .*limits=Limits"):
            resume(journal, model, [ping], limits=same, **more)
    assert journal.events == before
    result = resume(journal, model, [ping], limits=Limits(**high), **more)
    straight = run(model, [ping], "go", limits=Limits(**high), prices=Price(1, 1), clock=Clock())
    assert result.status == "done" and (result.steps, result.usage) == (straight.steps, straight.usage)
    if status not in ("tool_call_limit", "time_limit", "repeated_call", "error_limit"):
        assert len(result.messages) == len(straight.messages)
    assert_rules(result)


def test_a_model_that_failed_is_asked_again():
    ping, runs = counting()
    journal = run(scripted(call("ping"), OSError("the line is dead")), [ping], "go").journal
    result = resume(journal, scripted(call("ping"), "done"), [ping])
    assert (result.status, runs, result.steps) == ("done", ["ping"], 3), "the failed call was a step"


def test_the_account_goes_on_where_it_was():
    ping, runs = counting(returns=lambda n: f"pong {n}")
    model = scripted(*[Reply(None, call("ping"), Usage(10, 5, 1, estimated=n == 0)) for n in range(9)])
    more = dict(prices=Price(1, 1))
    journal = run(model, [ping], "go", limits=Limits(max_steps=2), **more).journal
    result = resume(journal, model, [ping], limits=Limits(max_steps=5), **more)
    straight = run(model, [ping], "go", limits=Limits(max_steps=5), **more)
    assert (result.status, result.steps, result.usage, len(runs)) == ("step_limit", 5, straight.usage, 10)
    third = resume(journal, model, [ping], limits=Limits(max_steps=7, budget_tokens=16 * 6), **more)
    assert (third.status, third.steps) == ("token_budget", 6)
    assert resume(journal, model, [ping], limits=Limits(max_steps=7), **more).status == "step_limit"


def test_a_loop_is_seen_across_a_resume():
    ping, runs = counting()
    model = scripted(*[call("ping")] * 9)
    journal = run(model, [ping], "go", limits=Limits(max_steps=2)).journal
    assert resume(journal, model, [ping], limits=Limits(max_steps=9)).status == "repeated_call" and len(runs) == 3
    poll, polls = counting(poll=True)
    journal = run(model, [poll], "go", limits=Limits(max_steps=4)).journal
    assert resume(journal, model, [poll], limits=Limits(max_steps=8)).status == "step_limit" and len(polls) == 8


def test_ids_stay_unique_across_a_resume():
    ping, _ = counting()
    model = scripted([ToolCall("x", "ping", {})], [ToolCall("x", "ping", {}), call("ping")], "done")
    journal = run(model, [ping], "go", limits=Limits(max_steps=1)).journal
    result = resume(journal, model, [ping], limits=Limits(max_steps=5))
    assert [m["tool_call_id"] for m in result.messages if m["role"] == "tool"] == ["x", "call_2", "call_3"]


MISTAKES = {
    "no journal": (lambda: resume("run.db", DONE, []), TypeError, "Journal\\(path\\)"),
    "an empty journal": (lambda: resume(Journal(), DONE, []), ValueError, "holds no run yet"),
    "decisions that are a list": (lambda: resume(paying(*BATCH)[0].journal, DONE, [], [True]), TypeError, "decisions takes a dict"),
    "no model": (lambda: resume(paying(*BATCH)[0].journal, "gpt", []), TypeError, "a model is a function"),
    "no limits": (lambda: resume(paying(*BATCH)[0].journal, DONE, [], limits=5), TypeError, "limits takes Limits"),
    "a bare function": (lambda: resume(paying(*BATCH)[0].journal, DONE, [len]), TypeError, "put @tool above"),
    "money without a price": (lambda: resume(paying(*BATCH)[0].journal, DONE, [], limits=Limits(budget_usd=1)), ValueError, "needs a price"),
    "a journal of notes": (lambda: resume(noted(), DONE, []), ValueError, "holds no run yet"),
}


def noted():
    journal = Journal()
    journal.add("note")
    return journal


@pytest.mark.parametrize("wrong, kind, says", MISTAKES.values(), ids=MISTAKES)
def test_a_programmers_mistake_raises_at_once(wrong, kind, says):
    with pytest.raises(kind, match=says):
        wrong()


# ---- crashes: a store that dies, in this process ------------------------------------------------------------------------------------


class Dies(BaseException):
    """The process is gone."""


class Disk:
    """What a file would hold: the texts of the events. Dies at the n-th write from now, before it or just after it."""

    def __init__(self):
        self.texts, self.left, self.after, self.dead = [], None, False, False

    def append(self, seq, event):
        if self.dead or self.left == 0 and not self.after:
            self.dead = True
            raise Dies
        assert seq == len(self.texts) + 1
        self.texts.append(json.dumps(event))
        if self.left == 0:
            self.dead = True
            raise Dies
        self.left = None if self.left is None else self.left - 1
        return True

    def open(self, left=None, after=False):
        """A new process: a journal of what was written."""
        self.left, self.after, self.dead = left, after, False
        journal = Journal(run_id="r")
        journal.events = [json.loads(text) for text in self.texts]
        journal._store = self
        return journal


def crashed_before(kind, script, tools, n=1, **more):
    """The journal of a run that broke off just before its n-th event of this kind was written."""
    disk = Disk()
    journal = disk.open()
    append, counted = disk.append, itertools.count(1)

    def dying(seq, event):
        if event["kind"] == kind and next(counted) == n:
            disk.dead = True
        return append(seq, event)

    disk.append = dying
    with pytest.raises(Dies):
        run(scripted(*script) if not callable(script) else script, tools, "go", journal=journal, **more)
    disk.append = append
    return disk.open()


def test_a_reply_that_was_paid_for_is_acted_on_and_not_asked_for_again():
    ping, runs = counting()
    journal = crashed_before("call", [call("ping")], [ping])
    asked = []
    result = resume(journal, lambda messages, tools: asked.append(len(messages)) or Reply("done", usage=Usage(1, 1)), [ping])
    assert (result.status, runs, asked, result.steps) == ("done", ["ping"], [3], 2)
    assert_rules(result)


@pytest.mark.parametrize(
    "reply, status, answer",
    [
        (Reply("yes"), "done", "yes"),
        (Reply("so", [call("ping"), call("ping")], stop_reason="length"), "truncated", None),
        (Reply("so", [call("ping")], stop_reason="content_filter"), "refused", None),
    ],
)
def test_a_last_reply_that_was_an_end_ends_the_run(reply, status, answer):
    ping, runs = counting()
    for kind in ("end", "result"):
        try:
            journal = crashed_before(kind, [reply], [ping])
        except BaseException:
            continue  # nothing of this kind
        result = resume(journal, scripted(), [ping])
        assert (result.status, result.answer, runs) == (status, answer, [])
        assert_rules(result)


def test_an_answer_in_a_text_protocol_is_read_from_the_record():
    journal = Journal()
    disk = Disk()
    journal._store = disk
    append = disk.append
    disk.append = lambda seq, event: (setattr(disk, "dead", event["kind"] == "end"), append(seq, event))[1]
    with pytest.raises(Dies):
        run(TextModel(lambda m: '{"final": {"n": 5}}'), [], "go", journal=journal)
    disk.append = append
    assert resume(disk.open(), DONE, []).answer == '{"n": 5}'


def test_empty_and_unreadable_replies_survive_a_crash():
    for kind, n in [("message", 2), ("reply", 2), ("end", 1)]:
        for second, status in [("", "empty_reply"), ("yes", "done")]:
            texts = iter(["", second])
            disk = Disk()
            journal, append, seen = disk.open(), disk.append, itertools.count(1)
            disk.append = lambda seq, event: (setattr(disk, "dead", event["kind"] == kind and next(seen) == n), append(seq, event))[1]
            with pytest.raises(Dies):
                run(lambda m, t: Reply(next(texts)), [], "go", journal=journal)
            disk.append = append
            texts = iter([second])
            result = resume(disk.open(), lambda m, t: Reply(next(texts)), [])
            assert (result.status, len(result.messages)) == (status, 2 if second == "" else 3), "one nudge, not two"
            assert_rules(result)
    journal = crashed_before("message", lambda m, t: Reply("{", invalid="ERROR: no JSON"), [], 3, limits=Limits(max_errors=2))
    assert resume(journal, DONE, []).status == "error_limit"


@pytest.mark.parametrize("idempotent", [True, False])
@pytest.mark.parametrize("ran_before", [True, False])
def test_an_unknown_outcome_is_told_and_only_an_idempotent_tool_runs_again(idempotent, ran_before):
    ping, runs = counting(idempotent=idempotent)
    journal = crashed_before("result", [[call("ping"), call("add", a=1, b=2)]], [ping, add])
    if not ran_before:
        runs.clear()
    result = resume(journal, DONE, [ping, add])
    if idempotent:
        assert len(runs) == 1 + ran_before and results(result) == ["pong", "3"]
        assert [e["id"] for e in journal.of("call")] == ["call_1", "call_1", "call_2"]
    else:
        assert len(runs) == ran_before and results(result)[1] == "3"
        assert results(result)[0] == (
            "ERROR: outcome unknown: the run broke off while ping ran, and whether it took effect is not known; check before you repeat it"
        )
        assert result.report == "Done after 2 steps: add(a=1, b=2) succeeded; ping() has an unknown outcome."
    assert_rules(result)


def test_an_unknown_outcome_stays_unknown_whatever_stands_in_the_way():
    journal = crashed_before("result", [[call("ping"), call("ping")]], [counting()[0]])
    for tools, limits in [([], None), ([counting(idempotent=True)[0]], Limits(max_tool_calls=0)), ([counting(needs_approval=True)[0]], None)]:
        again = Journal()
        again.events = [dict(e) for e in journal.events]
        result = resume(again, DONE, tools, limits=limits)
        if result.status == "waiting_for_approval":
            assert [c.id for c in result.pending] == ["call_2"]
            result = resume(again, DONE, tools, {"call_2": False})
        assert results(result)[0].startswith("ERROR: outcome unknown") and not results(result)[1].startswith("ERROR: outcome")
        assert_rules(result)


def test_an_idempotent_tool_is_approved_once_and_may_run_twice():
    ping, runs = counting(idempotent=True, needs_approval=True)
    journal = crashed_before("result", [call("ping")], [ping], approve=lambda c: True)
    assert resume(journal, DONE, [ping]).status == "done" and len(runs) == 2


def test_a_tool_can_read_a_key_that_is_the_same_when_it_runs_again():
    keys = []
    key = lambda: keys.append(idempotency_key()) or "ok"
    tools = [Tool("one", "One.", {"properties": {}}, key, idempotent=True), Tool("two", "Two.", {"properties": {}}, key, idempotent=True, timeout=5)]
    for name in ("one", "two"):
        keys.clear()
        journal = crashed_before("result", [[call(name), call(name)]], tools)
        resume(journal, DONE, tools)
        assert keys == ["r:call_1", "r:call_1", "r:call_2"]
    assert idempotency_key() is None
    tools[0]()
    assert keys[-1] is None, "called by hand, as if it were no tool"
    inner = Tool("inner", "Ask another.", {"properties": {}}, lambda: keys.append(run(scripted(call("one"), "x"), tools, "go", journal=Journal(run_id="in")).answer) or key())
    run(scripted(call("inner"), "done"), [inner], "go", journal=Journal(run_id="out"))
    assert keys[-3:] == ["in:call_1", "x", "out:call_1"]


def test_an_interrupted_run_goes_on():
    def stop():
        raise KeyboardInterrupt

    ping, runs = counting()
    journal = Journal()
    with pytest.raises(KeyboardInterrupt):
        run(scripted([call("ping"), call("stop"), call("ping")]), [ping, Tool("stop", "Stop.", {"properties": {}}, stop)], "go", journal=journal)
    assert journal.report() == "The run has not ended."
    result = resume(journal, DONE, [ping])
    assert result.status == "done" and results(result) == [
        "pong",
        "ERROR: interrupted while it ran; whether it took effect is not known: check before you repeat it",
        "ERROR: not run: the run was interrupted",
    ]
    assert result.report == "Done after 2 steps: ping() succeeded; stop() has an unknown outcome; ping() was not run."
    assert_rules(result)


# ---- a thousand crashes -----------------------------------------------------------------------------------------------------------

MOVES = {
    "plain": [call("plain", n=0)],
    "safe": [call("safe", n=0)],
    "asked": [call("asked", n=0)],
    "asked and safe": [call("asked_safe", n=0)],
    "three": [call("plain", n=0), call("asked", n=1), call("safe", n=2)],
    "bad": [call("plain"), call("rm"), call("safe", n=0)],
    "fails": [call("fails", n=0), call("plain", n=1)],
}


EFFECTS = []  # what the tools have changed: (name, n, key)


def plain(name):
    return lambda n: EFFECTS.append((name, n, idempotency_key())) or f"{name} {n}"


def safe(name):
    def fn(n):
        if (name, n, idempotency_key()) not in EFFECTS:
            EFFECTS.append((name, n, idempotency_key()))
        return f"{name} {n}"

    return fn


def fails(n):
    EFFECTS.append(("fails", n, idempotency_key()))
    raise OSError("it fell over")


N = {"properties": {"n": {"type": "integer"}}, "required": ["n"]}
WORLD = Registry(
    [
        Tool("plain", "Plain.", N, plain("plain")),
        Tool("safe", "Safe.", N, safe("safe"), idempotent=True),
        Tool("asked", "Asked.", N, plain("asked"), needs_approval=True),
        Tool("asked_safe", "Asked.", N, safe("asked_safe"), needs_approval=True, idempotent=True),
        Tool("fails", "Fails.", N, fails),
    ]
)


def through(moves, crashes, says=True):
    """Run these moves to the end, with crashes on the way; returns the result, what took effect, and what was written."""
    EFFECTS.clear()
    script = [Reply(None, [ToolCall(None, c.name, {**c.arguments, "n": c.arguments["n"] + 10 * i} if "n" in c.arguments else {}) for c in MOVES[m]],
                    Usage(7, 3)) for i, m in enumerate(moves)]  # fmt: skip
    model, disk = scripted(*script, Reply("done", usage=Usage(7, 3))), Disk()
    crashes, result = iter(crashes), None
    for _ in range(60):
        left, after = next(crashes, (None, False))
        journal = disk.open(left, after)
        open_ = {c["id"] for c in journal.open_calls()}
        begun = {e["id"] for e in journal.of("call", "result")} & {c["id"] for e in journal.of("reply")[-1:] for c in (e["message"] or {}).get("tool_calls", ())}
        waiting = {c["id"] for e in journal.of("pending") for c in e["calls"]} & open_ if not begun else ()
        try:
            if journal.events:
                result = resume(journal, model, WORLD, {i: says for i in waiting}, limits=Limits(max_steps=30), prices=Price(1, 1))
            else:
                result = run(model, WORLD, "go", journal=journal, limits=Limits(max_steps=30), prices=Price(1, 1))
        except Dies:
            continue
        except ValueError as error:
            assert "has ended with 'done'" in str(error)
            result = None
            break
        if result.status != "waiting_for_approval":
            break
    return result, list(EFFECTS), disk


@functools.cache
def uninterrupted(moves, says):
    return through(moves, [], says)[0]


@settings(derandomize=True, deadline=None, database=None, max_examples=1000)
@given(
    st.lists(st.sampled_from(sorted(MOVES)), min_size=1, max_size=4),
    st.lists(st.tuples(st.integers(0, 14), st.booleans()), max_size=6),
    st.booleans(),
)
@example(["three", "three"], [(4, True), (1, True), (0, False), (2, True)], True)
def test_no_crash_repeats_a_write_or_loses_one(moves, crashes, says):
    result, effects, disk = through(moves, crashes, says)
    journal = disk.open()
    messages = journal.messages()
    assert_one_result_per_call(messages)
    if result is not None:
        assert result.status == "done" and result.messages == messages
        assert_rules(result)
    assert len(effects) == len(set(effects)), "nothing took effect twice under one key"
    assert len({(name, n) for name, n, _ in effects}) == len(effects), "nor for one call"
    told = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    took_effect = {key.split(":")[1] for _, _, key in effects}
    for id, content in told.items():
        if content.startswith(("plain", "safe", "asked", "ERROR: fails failed")):
            assert id in took_effect, "what is reported as done was done"
        elif not content.startswith("ERROR: outcome unknown"):
            assert id not in took_effect, "what is reported as not run was not run"
    whole = uninterrupted(tuple(moves), says)
    unknown = {i for i, content in told.items() if content.startswith("ERROR: outcome unknown")}
    assert [m for m in messages if m.get("tool_call_id") not in unknown] == [m for m in whole.messages if m.get("tool_call_id") not in unknown]
    if result is not None:
        assert (result.steps, result.usage) == (whole.steps, whole.usage)
    assert replay(journal).same


# ---- crashes: real processes --------------------------------------------------------------------------------------------------------

CHILD = Path(__file__).with_name("crash_child.py")
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="kills processes that it has forked")


def processes(*arguments):
    done = subprocess.run([sys.executable, str(CHILD), *map(str, arguments)], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@forks
def test_a_process_killed_at_any_event_leaves_every_write_once(tmp_path):
    """SIGKILL just before and just after each event of a run with three writes and two approvals; a new process goes on."""
    whole, *killed = processes(tmp_path)
    assert whole["status"] == "done" and whole["writes"] == ["a note", "a parcel", "a payment"]
    assert len(killed) == 2 * whole["events"] >= 40
    unknown = 0
    for found in killed:
        assert found["killed"] == -9, found
        assert found["writes"] == ["a note", "a parcel", "a payment"], found
        if found["kinds"].count("end") and found["code"]:
            assert found["kill_at"] == whole["events"] and "has ended with 'done'" in found["said"], "only the end itself was already there"
        else:
            assert found["status"] == "done" and found["same"], found
            unknown += "has an unknown outcome" in found["report"]
            assert "ship(what" not in found["report"].split("unknown outcome")[0].split(";")[-1] or "unknown" not in found["report"]
    assert unknown == 4, "two tools that are not idempotent, killed before they ran and after"


@forks
def test_of_two_processes_that_resume_one_run_exactly_one_wins(tmp_path):
    for found in processes(tmp_path, "race"):
        lost, won = found["said"]
        assert lost.startswith("RunTaken: somebody else has gone on with this run") and won == "waiting_for_approval"
        assert found["writes"] == ["a note", "a payment"], "each once"


def test_whoever_opened_the_journal_before_the_other_went_on_is_too_late(tmp_path):
    waiting, ran, tools = paying(*BATCH, journal=Journal(tmp_path / "run.db"))
    first, second = Journal(tmp_path / "run.db"), Journal(tmp_path / "run.db")
    yes = {"call_2": True, "call_4": True}
    assert resume(first, DONE, tools, yes).status == "done"
    for late in (second, waiting.journal):
        before = list(late.events)
        with pytest.raises(RunTaken):
            resume(late, DONE, tools, yes)
        assert late.events == before and Journal(tmp_path / "run.db").events == first.events
    assert ran == ["note", 1, "note", 2]


@pytest.mark.parametrize("where", ["file", "memory"])
def test_a_slow_process_that_was_overtaken_stops_before_it_runs_anything_more(where, tmp_path):
    """While its tool runs, somebody else takes the run for crashed and goes on."""
    journal, ran, other = Journal(tmp_path / "run.db") if where == "file" else Journal(), [], []

    def slow():
        ran.append("slow")
        if not other:
            other.append(None)
            other[0] = resume(Journal(tmp_path / "run.db") if where == "file" else journal, DONE, tools)
        return "slow"

    tools = [Tool("slow", "Slow.", {"properties": {}}, slow), Tool("next", "Next.", {"properties": {}}, lambda: ran.append("next") or "next")]
    with pytest.raises(RunTaken):
        run(scripted([call("slow"), call("next")]), tools, "go", journal=journal)
    assert ran == ["slow", "next"], "each ran once, the second in the process that took over"
    assert results(other[0])[0].startswith("ERROR: outcome unknown") and results(other[0])[1] == "next"
    assert_rules(other[0])


def test_in_one_process_too_whoever_has_read_an_older_record_is_too_late():
    """Between the reading and the claim of one resume, which its clock marks, another one runs the tool."""
    ping, runs = counting()
    journal, ticks = crashed_before("call", [call("ping")], [ping]), itertools.count()

    def clock():
        if next(ticks) == 1:
            with pytest.raises(KeyboardInterrupt):
                resume(journal, ScriptedModel([KeyboardInterrupt()]), [ping])
        return 0.0

    with pytest.raises(RunTaken, match="event 4 is not written here"):
        resume(journal, DONE, [ping], clock=clock)
    assert runs == ["ping"]


def test_many_threads_that_resume_one_run_let_one_through():
    waiting, ran, tools = paying(*BATCH)
    barrier, said = threading.Barrier(6), []

    def resumer():
        barrier.wait()
        try:
            said.append(resume(waiting.journal, DONE, tools, {"call_2": True, "call_4": True}).status)
        except (RunTaken, ValueError) as error:
            said.append(type(error).__name__)

    threads = [threading.Thread(target=resumer) for _ in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert said.count("done") == 1 and ran == ["note", 1, "note", 2]


def test_a_second_crash_leaves_the_run_to_a_third_process():
    ping, runs = counting(returns=lambda n: f"pong {n}")
    journal = crashed_before("call", [call("ping"), call("ping"), "done"], [ping])
    disk = journal._store
    for left in range(3):
        disk.left, disk.after = left, True
        with pytest.raises(Dies):
            resume(journal, scripted(call("ping"), call("ping"), "done"), [ping])
        journal = disk.open()
    result = resume(journal, scripted(call("ping"), call("ping"), "done"), [ping])
    assert result.status == "done" and len(runs) <= 2
    assert_rules(result)


# ---- failures that others had -------------------------------------------------------------------------------------------------------


@case("agent-framework#4590")
def all_calls_that_wait_are_kept_over_a_resume():
    waiting, ran, tools = paying(*[call("pay", amount=i) for i in range(5)])
    (shown,) = waiting.journal.of("pending")
    assert [c["arguments"] for c in shown["calls"]] == [f'{{"amount":{i}}}' for i in range(5)]
    result = resume(waiting.journal, DONE, tools, {c.id: i % 2 == 0 for i, c in enumerate(waiting.pending)})
    assert ran == [0, 2, 4] and len(results(result)) == 5


@case("rancher-ai-agent#136")
def an_approval_runs_no_earlier_call_again():
    waiting, ran, tools = paying(call("note"), call("pay", amount=1), call("pay", amount=2))
    for id in ("call_2", "call_3"):
        result = resume(waiting.journal, DONE, tools, {id: True})
    assert (result.status, ran) == ("done", ["note", 1, 2])


@case("extra#139", "openai-agents#4257")
def what_was_approved_is_what_runs_and_only_once():
    test_a_decision_is_bound_to_what_was_shown()
    test_a_decision_is_used_once()
    waiting, ran, tools = paying(call("pay", amount=1))
    waiting.pending[0].arguments["amount"] = 10**6
    resume(waiting.journal, DONE, tools, {"call_1": True})
    assert ran == [1]


@case("agent-framework#3938", "codec#122")
def a_crash_repeats_no_write():
    for n, kind in itertools.product([1, 2], ["call", "result"]):
        seen = []
        write = Tool("write", "Write.", {"properties": {"n": {}}}, lambda n: seen.append(n) or "written")
        journal = crashed_before(kind, [[call("write", n=1), call("write", n=2)]], [write], n)
        result = resume(journal, DONE, [write])
        assert seen == [1, 2] and [t.startswith("ERROR: outcome unknown") for t in results(result)] == [kind == "result" and n == i for i in (1, 2)]


@case("harness-sdk#4338")
def what_comes_after_a_tool_cannot_make_it_run_again():
    """A counter, which is other people's code, fails on the result: the result was on record before it was counted."""

    def count(text):
        if text == "pong":
            raise SystemExit
        return 1

    ping, runs = counting()
    journal = Journal()
    with pytest.raises(SystemExit):
        run(scripted(call("ping")), [ping], "go", journal=journal, count_tokens=count)
    assert [e["kind"] for e in journal.events][-1] == "result"
    assert resume(journal, DONE, [ping]).status == "done" and runs == ["ping"]


@case("strands#1176", "llama_index#21774")
def a_resumed_run_leaves_nothing_behind_for_the_next():
    waiting, ran, tools = paying(*BATCH)
    resume(waiting.journal, DONE, tools, {"call_2": True, "call_4": True})
    again, _, _ = paying(*BATCH)
    assert again.status == "waiting_for_approval" and [c.id for c in again.pending] == ["call_2", "call_4"] and again.steps == 1


@pytest.mark.parametrize("reference", CASES)
def test_a_failure_that_others_had(reference):
    CASES[reference]()
