"""Going on with a run from its record: after a person has decided, after a limit, after a crash at any instant."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping

from .journal import Journal
from .limits import (Limits, canonical, cost_budget, error_limit, repeated_call, step_limit, time_limit, token_budget,
                     tool_call_limit)
from .loop import Result, _Run
from .messages import Reply, ToolCall, Usage
from .tools import Registry, Tool

# The ends that a run can go on from, and what must no longer hold when it does.
_LIMITS = {"step_limit": step_limit, "tool_call_limit": tool_call_limit, "token_budget": token_budget, "cost_budget": cost_budget,
           "time_limit": time_limit, "error_limit": error_limit, "repeated_call": repeated_call}
_GO_ON = {"waiting_for_approval", "model_error", *_LIMITS}


def resume(journal: Journal, model, tools: Registry | Iterable[Tool], decisions: Mapping[str, object] | None = None, *,
           limits: Limits | None = None, approve=None, hooks=(), count_tokens=None, prices=None, clock=time.monotonic) -> Result:
    """Go on with the run that a journal holds, where it waits for a person, was stopped by a limit, or broke off.

    `decisions` are by call id: True to allow, False or a reason to reject. While one is missing, nothing runs. What has
    a result never runs again. A tool that was started and has none gets the outcome "unknown", which the model and the
    report are told; it runs again only if it is marked idempotent. A reply that was paid for is not asked for again.
    `limits` None are the ones the run had; they count from its start, not from here. Pass the same count_tokens,
    prices and hooks as to run(): functions are not recorded.

    Raises ValueError, with nothing changed, for a run that has ended, for decisions that fit no waiting call and for
    limits that would stop it at once; RunTaken when another process has gone on with the run.
    """
    if not isinstance(journal, Journal):
        raise TypeError(f"resume takes a Journal, not {journal!r:.80}; open a file with Journal(path), an export with Journal.load(path)")
    if not journal.events or journal.events[0]["kind"] != "start":
        raise ValueError("this journal holds no run yet: run(..., journal=journal) starts one")
    if not isinstance(decisions, (Mapping, type(None))):
        raise TypeError(f"decisions takes a dict from call id to True, False or a reason, not {decisions!r:.80}")
    seen = len(journal.events)
    last = journal.of("start", "resume")[-1]
    work = _Run(model, tools, Limits(**last["limits"]) if limits is None else limits, approve, journal, count_tokens, prices, clock, hooks)
    reply = reread(work, journal)
    said = {id: word for id, word in (decisions or {}).items() if word is not None}
    shown = check_decisions(work, journal, reply, said)
    check_end(work, journal)

    # The claim: one number in the record, which one process gets. Whoever was slower is told so and has changed nothing.
    journal.write({"kind": "resume", "limits": dict(vars(work.limits))}, work, seq=seen + 1)
    start = journal.events[0]
    work.greet(start["task"], start["system"])
    for id, word in said.items():
        work.decision(id, shown[id]["name"], shown[id]["arguments"], word)
    return work.finish(lambda: left_undone(work, reply))


def reread(work: _Run, journal: Journal) -> dict | None:
    """Let every event of the record take effect on a fresh run; returns the last reply, which may not have been acted on."""
    reply, seconds = None, 0.0
    for event in journal.events:
        work.take(event)
        seconds = max(seconds, event.get("elapsed", 0.0))
        if event["kind"] == "reply":
            reply = event
            work.ids.update(c["id"] for c in (event["message"] or {}).get("tool_calls", ()))
    work.account.go_on_from(seconds)
    work.redacted = frozenset(reply.get("redacted", ())) if reply else frozenset()
    return reply


def left_undone(work: _Run, event: dict | None):
    """Act on the last reply as far as that has not happened; the exit, if there is one."""
    if event is None:
        return None
    reply = reply_of(event)
    if event["outcome"] in ("acts", "says"):
        return work.act(reply)
    return work.end_of(reply, work.exit_of(reply))


class RecordedReply(Reply):
    """A reply as the record tells it: what was its answer is its answer, whatever protocol found it in the text."""

    @property
    def final_text(self):
        return self.extra["answer"]

    def as_message(self):
        return self.extra["message"]


def reply_of(event: dict) -> Reply:
    """The Reply that a reply event tells of."""
    message = event["message"] or {"role": "assistant", "content": None}
    calls = [ToolCall(c["id"], c["function"]["name"], c["function"]["arguments"]) for c in message.get("tool_calls", ())]
    return RecordedReply(message["content"], calls, Usage(**event["usage"]), event["stop_reason"], event.get("invalid"),
                         {"answer": event.get("answer"), "message": message})


def check_decisions(work: _Run, journal: Journal, reply: dict | None, said: dict) -> dict[str, dict]:
    """What was shown of the calls that wait, by id. Raises ValueError for a decision that fits none of them."""
    shown, decided = waiting_calls(journal), {e["id"]: "yes" if e["approved"] else "no" for e in journal.of("decision")}
    wrong = [f"{id} was decided before ({decided[id]}), and a decision is used once" if id in decided else f"{id!r:.80} is no call that waits"
             for id in said if id not in shown]
    if wrong:
        names = ", ".join(f"{id} ({c['name']})" for id, c in shown.items())
        raise ValueError(f"decisions: {'; '.join(wrong)}. " + (f"These wait: {names}" if names else "No call waits for a decision"))
    calls = {c.id: c for c in reply_of(reply).tool_calls} if reply else {}
    for id, bound in {**work.decided, **{id: shown[id] for id in said}}.items():
        _, tool, arguments, problem = recorded_gate(work, work.check(calls[id]))
        if problem is None and (tool.name, canonical(arguments)) != (bound["name"], bound["arguments"]):
            raise ValueError(f"decisions: {id} was shown as {bound['name']}({bound['arguments']}) and stands in the record as "
                             f"{tool.name}({canonical(arguments)}): the record has been changed, so nothing runs")
    return shown


def recorded_gate(work: _Run, checked: tuple) -> tuple:
    """A checked call with the arguments that a hook gave it, where the record says so."""
    call, tool, _, problem = checked
    event = work.gated.get(call.id)
    return checked if problem or event is None or event["did"] == "denied" else (call, tool, event["arguments"], None)


def waiting_calls(journal: Journal) -> dict[str, dict]:
    """The calls that a person may decide, as they were shown: until the first of their batch runs, also once more."""
    shown: dict[str, dict] = {}
    for event in journal.events:
        if event["kind"] == "pending":
            shown.update({c["id"]: c for c in event["calls"]})
        elif event["kind"] in ("reply", "call", "result"):
            shown = {}
    return shown


def check_end(work: _Run, journal: Journal) -> None:
    """Raise ValueError for a run that cannot go on."""
    end = next((e for e in reversed(journal.events) if e["kind"] in ("end", "resume")), None)
    if end is None or end["kind"] == "resume":
        return
    if end["status"] not in _GO_ON:
        raise ValueError(f"this run has ended with {end['status']!r} and cannot go on; run() starts a new one. {journal.report()}")
    if end["status"] in _LIMITS:
        work.close_step()
        if again := _LIMITS[end["status"]](work.limits, work.account):
            raise ValueError(f"this run would stop at once, at {again.message}: resume(..., limits=Limits(...)) with more of it")
