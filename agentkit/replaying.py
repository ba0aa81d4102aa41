"""Replay: the recorded replies and results go through the loop once more, and the first difference is shown."""

from __future__ import annotations

import difflib
import json
from collections.abc import Iterable
from dataclasses import dataclass, replace

from .journal import Journal
from .limits import Account, Exit, Limits, canonical
from .loop import _Run
from .messages import Reply, ToolCall
from .resuming import reply_of
from .tools import Registry, Tool, ToolResult

_OUTSIDE = ("token_budget", "cost_budget", "time_limit")    # a counter and a clock decided these: their word is taken from the record


@dataclass(frozen=True)
class Replay:
    """What a replay found. `step` is the first step that differs; where nothing does, the last one."""

    same: bool
    step: int
    diff: str = ""      # the first difference in a few lines: - then, + now
    calls: int = 0      # tool calls that were executed again

    def __str__(self):
        again = f"; {self.calls} tool call{'' if self.calls == 1 else 's'} executed again" if self.calls else ""
        if self.same:
            return f"the same over {self.step} step{'' if self.step == 1 else 's'}{again}"
        return f"differs at step {self.step}{again}\n{self.diff}"


def replay(journal: Journal, tools: Registry | Iterable[Tool] | None = None) -> Replay:
    """Send the run that a journal holds through the loop again and compare what is sent with what was sent.

    Nothing is asked of a model or a person: their recorded words are used. Without `tools` the recorded results are
    used too; with `tools` every call that ran runs again, so give it stand-ins for tools that change the world.
    """
    if not isinstance(journal, Journal):
        raise TypeError(f"replay takes a Journal, not {journal!r:.80}; open a file with Journal(path), an export with Journal.load(path)")
    if not journal.events or journal.events[0]["kind"] != "start":
        raise ValueError("this journal holds no run to replay")
    work = _Replay(journal, tools)
    try:
        work.through()
    except _Differs as found:
        return Replay(False, max(1, work.account.steps), str(found), work.again)
    except _RecordEnds:
        pass
    return Replay(True, work.account.steps, "", work.again)


class _Differs(BaseException):
    """The first difference. No Exception, or the loop would take it for an error of a model or a tool."""


class _RecordEnds(BaseException):
    """The record ends in the middle of a step, where its process broke off."""


class _Replay(_Run):
    """A run whose model, people and limits are a record, and its tools too unless it is given some."""

    def __init__(self, journal: Journal, tools):
        start = journal.events[0]
        super().__init__(self.reply, _recorded_tools(start) if tools is None else tools, Limits(), self.person,
                         Journal(run_id=journal.run_id), None, None, lambda: 0.0)
        self.execute_again, self.again, self.then = tools is not None, 0, journal
        self.answers = {e["id"]: e for e in journal.of("result")}
        self.people = {e["id"]: e for e in journal.of("decision")}
        self.gated_then, self.views_then = {e["id"]: e for e in journal.of("gate")}, [
            e for e in journal.of("view", "hook") if e.get("at", "before_model") == "before_model"]
        self.milestones = _milestones(journal)      # (event, the list's length then, the limits that were in force)
        self.list, self.compared, self.last = journal.messages(), 0, None

    def through(self) -> None:
        start = self.then.events[0]
        _compare("the tool definitions", _pretty(start["definitions"]), _pretty(self.definitions))
        self.next_limits()
        self.journal.write({"kind": "start"}, self)
        self.greet(start["task"], start["system"])
        while True:
            stop = (self.act(self.last) if self.last is not None else None) or self.loop()
            if not self.milestones:
                raise _RecordEnds
            event, length, _ = self.milestones.pop(0)
            self.compare_lists(length)
            _compare("how the run ends", [event.get("status", "it goes on")], [stop.kind])
            if not self.milestones:
                return
            self.next_limits()      # it was resumed

    def next_limits(self) -> None:
        self.limits = _RecordedLimits(self, self.milestones[0][2] if self.milestones else {})

    def reply(self, messages: list[dict], tools: list[dict]) -> Reply:
        """The model: what it was sent must be what is sent now."""
        event, length, _ = self.milestones[0] if self.milestones else ({"kind": "nothing"}, len(self.list), None)
        if event["kind"] == "nothing":
            self.compare_lists(length, whole=False)
            raise _RecordEnds
        self.compare_lists(length)
        if event["kind"] == "end":
            if event["status"] == "model_error":
                raise RuntimeError(event["why"])
            _compare("how the run ends", [event["status"]], ["it goes on"])
        self.milestones.pop(0)
        self.next_limits()
        self.last = reply_of(event)
        return self.last

    def person(self, asked: ToolCall):
        """What a person said then; a call that nobody decided and that has a result was interrupted, or needed no yes."""
        decision = self.people.get(asked.id)
        if decision is None:
            return True if asked.id in self.answers else None
        return decision["approved"] or decision["why"]

    def prepare(self) -> None:
        """The hooks once more: what they sent, and what that used, is on record."""
        while self.views_then and self.views_then[0]["step"] <= self.account.steps + 1:
            self.record(**self.views_then.pop(0))

    def gate(self, checked: tuple) -> tuple:
        """The hooks: what they said of a call is on record."""
        if event := self.gated_then.pop(checked[0].id, None):
            self.record(**event)
        return super().gate(checked)

    def run_together(self, calls: list[tuple]) -> None:
        """One after the other: a replay has nothing to wait for."""
        for call in calls:
            self.run_call(*call)
        calls.clear()
        self.account.under_way = 0

    def run_call(self, call: ToolCall, tool: Tool, arguments: dict) -> None:
        event = self.answers.get(call.id)
        if event is None:
            raise _RecordEnds
        finished = event["ran"] and not event.get("unknown")
        if self.execute_again and finished:
            self.again += 1
            now = self.execute(call, tool, arguments)
            _compare(f"the result of {tool.name}({canonical(arguments)})", event["content"].splitlines(), now.text.splitlines())
        more = {k: event[k] for k in ("unknown", "spent") if k in event}
        self.answer_call(call, ToolResult(event["content"], event["error"]), arguments, ran=event["ran"], stopped=event["stopped"], **more)

    def compare_lists(self, length: int, whole: bool = True) -> None:
        """Compare the part of the lists that has not been compared yet."""
        then, now = self.list[:length], self.messages
        for n in range(self.compared, max(len(then), len(now) if whole else 0)):
            old, new = (_written(m[n]) if n < len(m) else ["(no message)"] for m in (then, now))
            _compare(f"message {n + 1}", old, new)
            if n < len(then) and n < len(now):
                _compare(f"message {n + 1}", _pretty(then[n]), _pretty(now[n]))
        self.compared = len(then)


class _RecordedLimits:
    """The limits that can be worked out again; the others fire where the record says so."""

    def __init__(self, work: _Replay, limits: dict):
        self.work, self.known = work, replace(Limits(**limits), budget_tokens=None, budget_usd=None, max_seconds=None)
        self.after_tool, self.after_step = self.known.after_tool, self.known.after_step

    def before_reply(self, account: Account) -> Exit | None:
        return self.known.before_reply(account) or self._recorded()

    def before_tool(self, account: Account) -> Exit | None:
        asked = next((c["id"] for c in self.work.messages[-1]["tool_calls"] if c["id"] not in self.work.results), None)
        stopped = self.work.answers.get(asked, {"stopped": False})["stopped"]
        return self.known.before_tool(account) or (self._recorded() if stopped else None)

    def _recorded(self) -> Exit | None:
        event = self.work.milestones[0][0] if self.work.milestones else {"kind": "nothing"}
        return Exit(event["status"], event["why"]) if event["kind"] == "end" and (event["status"] in _OUTSIDE or "hook" in event) else None


def _milestones(journal: Journal) -> list[tuple[dict, int, dict]]:
    """Every reply and every end that a replay comes to, with the list's length and the limits at that moment."""
    found, length, limits = [], 0, {}
    for event in journal._in_call_order():
        if event["kind"] in ("start", "resume"):
            limits = event["limits"]
            if found and found[-1][0].get("status") == "waiting_for_approval":
                found.pop()     # a replay knows what was decided, so it does not wait
        elif event["kind"] in ("reply", "end"):
            found.append((event, length, limits))
        length += event["kind"] == "result" or event["kind"] in ("message", "reply") and event["message"] is not None
    return found


def _recorded_tools(start: dict) -> list[Tool]:
    """The tools as the record describes them, to check calls with. They are never executed."""
    tools = []
    for definition in (d["function"] for d in start["definitions"]):
        flags = dict(start["flags"].get(definition["name"], {}))
        fn = (lambda **anything: None) if flags.pop("anything", False) else (lambda: None)
        tools.append(Tool(definition["name"], definition["description"], definition["parameters"], fn, **flags))
    return tools


def _compare(what: str, then: list[str], now: list[str]) -> None:
    """Raise _Differs, with a few lines that say in what, unless both are the same."""
    if then != now:
        lines = [line for line in difflib.unified_diff(then, now, n=0, lineterm="") if not line.startswith(("---", "+++", "@@"))]
        shown = [line if len(line) <= 160 else line[:160] + "..." for line in lines[:12]]
        raise _Differs("\n".join([f"{what} (- then, + now)", *shown, *([f"... {len(lines) - 12} more lines"] if len(lines) > 12 else [])]))


def _written(message: dict) -> list[str]:
    calls = [f"calls {c['function']['name']} {c['function']['arguments']}" for c in message.get("tool_calls", ())]
    return [f"{message['role']}:", *(message["content"] or "").splitlines(), *calls]


def _pretty(value) -> list[str]:
    return json.dumps(value, indent=1, ensure_ascii=False, sort_keys=True).splitlines()
