"""What a run has come to: its list, its account and its record. Every event takes effect here, live and when it is read again."""

from __future__ import annotations

import json
from dataclasses import replace

from .limits import Account, Limits, canonical
from .messages import Reply, ToolCall, clean, tool_message
from .tools import Registry, ToolResult, to_text

_INTERRUPTED = "ERROR: interrupted while it ran; whether it took effect is not known: check before you repeat it"
_NOT_BEGUN = "ERROR: not run: the run was interrupted"
_FLAGS = ("needs_approval", "poll", "parallel", "idempotent", "timeout", "anything")


class State:
    """The list, the account and the record of one run; what has become of the calls of its last reply."""

    def __init__(self, model, tools, limits, journal, count, prices, clock):
        if not callable(model):
            raise TypeError(f"a model is a function, model(messages, tools) -> Reply, not {model!r:.80}")
        if not isinstance(limits, Limits):
            raise TypeError(f"limits takes Limits(...), not {limits!r:.80}")
        self.model, self.limits, self.journal = model, limits, journal
        self.registry = tools if isinstance(tools, Registry) else Registry(tools)
        self.definitions = self.registry.definitions()
        self.account = Account(limits, model, self.definitions, count, prices, clock)
        self.options = {"count_tokens": count, "prices": prices, "clock": clock}    # what who works for this run takes over
        self.messages: list[dict] = []
        self.ids: set[str] = set()
        self.nudged = self.told = False         # the last reply was empty; it has been answered with a word of help
        # What has become of the last reply's calls: decisions and results by id, ids of those that were started.
        self.decided: dict[str, dict] = {}
        self.gated: dict[str, dict] = {}        # what hooks said: denied, or changed to other arguments
        self.started: set[str] = set()
        self.results: dict[str, dict] = {}
        self.listed = True                      # their results have joined the list
        self.redacted: frozenset[str] = frozenset()

    def start(self, task: str, system: str) -> None:
        """The first event, and the first messages."""
        name = getattr(self.model, "name", None)
        flags = {t.name: {f: on for f in _FLAGS if (on := getattr(t, f))} for t in self.registry}
        self.record("start", run_id=self.journal.run_id, task=task, system=system, model=name if name is None else to_text(name),
                    tools=self.registry.names, definitions=self.definitions, flags=flags, limits=dict(vars(self.limits)))
        self.greet(task, system)

    def greet(self, task: str, system: str) -> None:
        first = [{"role": "system", "content": system}] if system.strip() else []
        for message in [*first, {"role": "user", "content": task}][len(self.messages):]:
            self.append(message)

    def record(self, kind: str, **facts) -> None:
        """Write an event, then let it take effect: nothing is done that is not on record."""
        event = {"kind": kind, **facts}
        self.journal.write(event, self)
        self.take(event)

    def take(self, event: dict) -> None:
        """What an event does to the list and the account: the same when it happens and when resume() reads it again."""
        kind, account = event["kind"], self.account
        if kind == "result":
            self.results[event["id"]] = event
            if not event["stopped"]:
                account.tool_calls += 1
                account.errors += event["error"]
            if "spent" in event:
                account.charge_spent(event["spent"])
        elif kind == "call":
            self.started.add(event["id"])
        elif kind == "decision":
            self.decided[event["id"]] = event
        elif kind == "gate":
            self.gated[event["id"]] = event
        elif kind in ("view", "hook"):
            if "spent" in event:
                account.charge_spent(event["spent"])
        elif kind == "reply":
            self.close_step()
            if event["message"] is not None:
                self.messages.append(event["message"])
            account.steps, account.meter.prompt = event["step"], event.get("list_tokens", event["prompt_tokens"]) + event["reply_tokens"]
            account.charge(event["usage"])
            self.decided, self.gated, self.started, self.results, self.listed = {}, {}, set(), {}, event["outcome"] in ("says", "done")
            self.nudged, self.told = event["outcome"] in ("says", "empty_reply") and "invalid" not in event, False
        elif kind == "message":
            if event.get("error"):      # a reply that could not be read: it counts as a call that failed
                account.errors += 1
                account.history.append([self.messages[-1]["content"]])
            self.messages.append(event["message"])
            self.told = bool(event.get("nudge"))
            account.meter.add(event["message"])     # counting comes last, because a counter is other people's code
        elif kind == "end":
            account.steps = event["steps"]

    def append(self, message: dict, **facts) -> None:
        self.record("message", message=message, **facts)

    def answer_call(self, call: ToolCall, result: ToolResult, arguments: dict | None = None, *, ran: bool = False, stopped: bool = False,
                    began: float | None = None, **facts) -> None:
        """Record the one result of a call. It joins the list when its whole step is closed."""
        now = self.account.seconds()
        if result.spent is not None:
            facts["spent"] = result.spent.as_dict()
        self.record("result", step=self.account.steps, id=call.id, name=call.name, content=result.text, error=result.error, ran=ran, stopped=stopped,
                    key=canonical(call.arguments if arguments is None else arguments), seconds=0.0 if began is None else now - began, elapsed=now, **facts)

    def close_step(self) -> None:
        """The results of a step join the list directly after its reply, in call order, whichever came first."""
        if self.listed:
            return
        self.listed, signature = True, []
        for asked in self.messages[-1]["tool_calls"]:
            event = self.results[asked["id"]]
            name, content = event["name"], event["content"]
            message = tool_message(event["id"], name, content)
            self.messages.append(message)
            polls = event["ran"] and name in self.registry and self.registry[name].poll
            signature.append((name, event["key"], object() if polls else content))
            self.account.meter.add(message)
        self.account.history.append(signature)

    def interrupted(self) -> None:
        """Answer the calls that are open, so that the list stays one that a provider accepts."""
        for c in self.journal.open_calls():
            ran = c["id"] in self.started
            self.answer_call(ToolCall(c["id"], c["name"], c["arguments"]), ToolResult(_INTERRUPTED if ran else _NOT_BEGUN, error=True),
                             ran=ran, stopped=not ran, **({"unknown": True} if ran else {}))


def name_calls(reply: Reply, used: set[str]) -> Reply:
    """The reply as it is recorded: every call with an id of its own in the run (missing, repeated and reused ones are replaced), all in text."""
    calls, changed = [], False
    for call in reply.tool_calls:
        known = call.id
        if not isinstance(known, str) or not known.strip() or known in used or clean(known) != known:
            known = next(i for n in range(len(used) + 1, len(used) * 2 + 3) if (i := f"call_{n}") not in used)
        used.add(known)
        name, arguments = to_text(call.name), written_arguments(call.arguments)
        if known is not call.id or name is not call.name or arguments is not call.arguments:
            call, changed = ToolCall(known, name, arguments), True
        calls.append(call)
    return replace(reply, tool_calls=tuple(calls)) if changed else reply


def written_arguments(arguments) -> str:
    """A call's arguments as text; what JSON has no word for stays recognisable as no JSON, now and when it is read again."""
    if isinstance(arguments, str):
        return arguments
    try:
        return json.dumps(arguments)
    except Exception:
        return f"(no JSON) {to_text(arguments)}"


def plain_message(reply: Reply) -> dict:
    """The assistant message, in plain JSON also where a provider's extras are not."""
    message = reply.as_message()
    if "extra" in message:
        message["extra"] = json.loads(to_text(message["extra"]))
    return message
