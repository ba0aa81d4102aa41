"""The four points at which hooks run: two gates, which may refuse or change, and two observers, which may not."""

from __future__ import annotations

import difflib
import inspect
import json
from collections.abc import Iterator
from copy import deepcopy
from typing import NamedTuple

from .limits import LIMIT_KINDS, Exit, canonical
from .messages import Spent, ToolCall, check_messages, clean, strict_json, to_text
from .state import State
from .tools import RUNNING, Refused, Running, ToolResult, bounded, describe

POINTS = ("before_model", "after_model", "before_tool", "after_tool")
_NO_GATE = "ERROR: a hook ({}) denied this call{}"
_REDACTED = "the arguments that a hook gave this call are kept only in redacted form, so it cannot run after the run was resumed; ask for it again"


class View(NamedTuple):
    """What a before_model hook sends in the place of the list, a word on what it left out, and what making it has used."""

    messages: list[dict]
    note: str = ""
    spent: Spent | None = None


class Gates(State):
    """A run with its hooks. Without any, each of these methods costs one look at an empty list."""

    def __init__(self, model, tools, limits, journal, count, prices, clock, hooks=()):
        super().__init__(model, tools, limits, journal, count, prices, clock)
        self.hooks = {point: list(_named(hooks, point)) for point in POINTS} if (hooks := _checked(hooks)) else {}
        self.options["hooks"] = hooks or ()             # a sub-agent's calls pass the same gates
        self.sends = getattr(model, "sends", None)      # a model that sends less than it is given says what
        self.sent = self.messages                       # the list of the next call
        self.shown: list[dict] = []                     # copies of the list's messages: what hooks do to them changes nothing
        self.shown_tools = deepcopy(self.definitions) if self.hooks else []
        outer = RUNNING.get()
        self.depth = outer.depth + 1 if outer else 0    # 1 for the run of a sub-agent, which runs inside a tool

    def running(self, what: str, share: int = 1) -> Running:
        """What a tool or a hook may know of the run that it works for."""
        return Running(f"{self.journal.run_id}:{what}", self.depth, lambda: self.account.left(share), dict(self.options))

    # ---- before a model call -----------------------------------------------------------------------------------------

    def prepare(self) -> Exit | None:
        """Ask the before_model hooks what the next call is sent; the exit, if one of them refuses. The list itself stays whole."""
        account, self.sent = self.account, self.messages
        account.view = None
        for name, gate in self.hooks.get("before_model", ()):
            left = account.left()
            if 0 in (left.max_steps, left.max_seconds, left.budget_tokens, left.budget_usd):
                return None                 # a limit ends the run, so there is no call to prepare, and nothing to spend on it
            shown, said = self.to_show(), None
            try:
                said = self.inside(f"step {account.steps + 1}", gate, shown, self.shown_tools)
                stop = self.show_view(name, said, shown)
            except Exception as error:      # a gate that fails has not let anything pass
                spent = {"spent": said.spent.as_dict()} if isinstance(said, View) and isinstance(said.spent, Spent) else {}
                self.record("hook", step=account.steps + 1, hook=name, at="before_model", raised=describe(error), **spent)
                stop = Exit("refused", f"a hook ({name}) failed before the model call ({describe(error)})")
            if stop is not None:
                self.stopped_by = name
                return stop
        if self.sends is not None or self.sent is not self.messages:
            try:
                view, tools = (self.sent, self.definitions) if self.sends is None else self.sends(self.sent, self.definitions)
                account.view = account.meter.measure(view, None if tools is self.definitions else tools)
            except Exception as error:
                return Exit("model_error", f"the model could not say what it sends ({describe(error)})")
        return None

    def to_show(self) -> list[dict]:
        """What the next call would be sent, as copies. Each message of the run is copied once, so that a long run stays linear."""
        self.shown += deepcopy(self.messages[len(self.shown):])
        if self.sent is self.messages:
            return list(self.shown)
        place = {id(m): i for i, m in enumerate(self.messages)}
        return [self.shown[place[id(m)]] if id(m) in place else deepcopy(m) for m in self.sent]

    def show_view(self, name: str, said, shown: list[dict]) -> Exit | None:
        """What a before_model hook said: None lets pass, a list or View is sent instead, False or a text refuses, an Exit names the exit."""
        if said is None or said is True:
            return None
        if isinstance(said, Exit):
            if said.kind not in (*LIMIT_KINDS, "refused"):
                raise ValueError(f"a hook ends a run with one of {', '.join(LIMIT_KINDS)} or refused, not {said.kind!r:.40}")
            json.dumps(said, allow_nan=False)       # it stands in the record
            return Exit(said.kind, clean(to_text(said.message)), said.value, said.limit)
        if said is False or isinstance(said, str):
            return Exit("refused", f"a hook ({name}) refused the model call" + (f": {clean(said)}" if said else ""))
        view = said if isinstance(said, View) else View(said)
        if not isinstance(view.messages, list):
            raise TypeError(f"before_model returns None, a list of messages, a View, a reason or an Exit, not {said!r:.80}")
        place = {id(m): i for i, m in enumerate(self.shown)}
        places = [i if (i := place.get(id(m))) is not None and m == self.messages[i] else None for m in view.messages]
        kept = [_plain_json(m) if i is None else i for i, m in zip(places, view.messages)]      # a message of the run is its number
        sent = [self.messages[m] if isinstance(m, int) else m for m in kept]
        check_messages(sent)
        self.record("view", step=self.account.steps + 1, hook=name, sent=kept, of=len(self.messages),
                    note=clean(to_text(view.note)) if view.note else "", **({"spent": view.spent.as_dict()} if view.spent else {}))
        self.sent = sent
        return None

    # ---- before a tool runs ------------------------------------------------------------------------------------------

    def gate(self, checked: tuple) -> tuple:
        """A checked call after the before_tool hooks: as it was, changed and checked anew, or refused."""
        call, tool, arguments, problem = checked
        if problem or not (self.hooks or self.gated):
            return checked
        event = self.gated.get(call.id)     # what a hook has said stands, also when the run is resumed
        if event is None and call.id not in self.started and call.id not in self.results:
            event = self.ask_gates(call, tool.name, arguments)
        if event is None:
            return checked
        if event["did"] == "denied":
            text = bounded(_NO_GATE.format(event["hook"], f": {event['why']}" if event["why"] else ""), 2_000)
            return call, None, None, ToolResult(text, error="failed" in event)      # a no is no error, a broken gate is
        try:
            if event.get("redacted"):
                raise Refused(_REDACTED)
            return call, *self.registry.check(tool.name, event["arguments"]), None
        except Refused as refused:
            return call, None, None, ToolResult(f"ERROR: a hook ({event['hook']}) changed this call, and the changed call may not run: {refused}", error=True)

    def ask_gates(self, call: ToolCall, name: str, arguments: dict) -> dict | None:
        """Ask one before_tool hook after the other; what they came to is recorded, unless all let the call pass as it is."""
        asked, changed_by, more = arguments, None, {}
        for hook, gate in self.hooks.get("before_tool", ()):
            try:
                said = self.inside(call.id, gate, ToolCall(call.id, name, deepcopy(asked)))
                new, why = _verdict(said, name)
            except Exception as error:      # a gate that fails has not let anything pass
                new, why = None, f"it failed ({describe(error)})"
                more = {"failed": True}
            if why is not None:
                self.record("gate", step=self.account.steps, id=call.id, name=name, did="denied", hook=hook, why=why, **more)
                return self.gated[call.id]
            if new is not None and canonical(new) != canonical(asked):
                asked, changed_by = new, hook
        if changed_by is None:
            return None
        self.record("gate", step=self.account.steps, id=call.id, name=name, did="changed", hook=changed_by, why="", arguments=asked)
        return self.gated[call.id]

    # ---- afterwards --------------------------------------------------------------------------------------------------

    def tell(self, point: str, *what) -> None:
        """Show the observers what has happened and is on record. One that raises is recorded, and the run goes on."""
        for name, observer in self.hooks.get(point, ()):
            try:
                self.inside(name, observer, *deepcopy(what))
            except Exception as error:
                self.record("hook", step=self.account.steps, hook=name, at=point, raised=describe(error))

    def inside(self, what: str, hook, *arguments):
        token = RUNNING.set(self.running(what))
        try:
            return hook(*arguments)
        finally:
            RUNNING.reset(token)


def _verdict(said, name: str) -> tuple[dict | None, str | None]:
    """What a before_tool hook said: (changed arguments or None, the reason of a refusal or None)."""
    if said is None or said is True:
        return None, None
    if said is False or isinstance(said, str):
        return None, clean(said or "").strip()
    if isinstance(said, ToolCall) and said.name == name:
        said = said.arguments
    if not isinstance(said, dict):
        raise TypeError(f"before_tool returns None, new arguments for {name}, or a reason to deny, not {said!r:.80}")
    return _plain_json(said), None


def _plain_json(value):
    """The value as a record keeps it: JSON and nothing else. Raises for what JSON has no word for."""
    return strict_json(clean(json.dumps(value, ensure_ascii=False, allow_nan=False)))


def _checked(hooks) -> list:
    """The hooks as a list; a programmer's mistake is said at once."""
    hooks = list(hooks) if isinstance(hooks, (list, tuple)) else [hooks] if hooks is not None else []
    for hook in hooks:
        here = [n for n in dir(hook) if n.startswith(("before_", "after_"))]
        strange = [n for n in here if n not in POINTS]
        near = next(iter(difflib.get_close_matches(strange[0], POINTS, 1, 0.6)), None) if strange else None
        if near:
            raise TypeError(f"a hook has no point {strange[0]!r}; did you mean {near}?")
        if slow := [p for p in POINTS if inspect.iscoroutinefunction(getattr(hook, p, None))]:
            raise TypeError(f"{slow[0]} is async; the loop runs plain functions, so wrap it: lambda *a: asyncio.run({slow[0]}(*a))")
        if not any(callable(getattr(hook, point, None)) for point in POINTS):
            raise TypeError(f"a hook has one or more of the functions {', '.join(POINTS)}: Hook(before_tool=fn); {hook!r:.80} has none")
    return hooks


def _named(hooks: list, point: str) -> Iterator[tuple]:
    for hook in hooks:
        if callable(fn := getattr(hook, point, None)):
            named = getattr(hook, "name", None) or getattr(fn, "__name__", None) or type(hook).__name__
            yield clean(to_text(named))[:64], fn
