"""Models: any callable `model(messages, tools) -> Reply`. Here are a scripted one and one for text protocols."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

from .messages import Reply, ToolCall, check_messages, strict_json
from .streaming import deltas


class Model(Protocol):
    """What the loop calls. `messages` is the run's own growing list: read it, do not change it."""

    def __call__(self, messages: list[dict], tools: list[dict]) -> Reply: ...


class ScriptedModel:
    """A stand-in that answers from a list and is as strict as a provider about the messages it is sent.

    An entry is a text, a call(...), a list of calls (and texts), a Reply, an exception to raise, or a function of the
    messages that returns one of these. `repeat=True` starts again at the end of the list instead of running out.
    Raises ValueError for a message list that a strict provider would refuse, and IndexError that says which entry ran out.
    """

    def __init__(self, entries: Iterable, *, repeat: bool = False, name: str | None = None):
        self.entries = list(entries)
        for entry in self.entries:
            _readable(entry)
        self.repeat, self.name = repeat, name
        self.calls = 0
        self._sent: list[tuple[list, int]] = []
        self._checked: tuple[list | None, dict | None, int, set] = (None, None, 0, set())
        self.tools: list[dict] = []     # the definitions of the last call

    @property
    def sent(self) -> list[list[dict]]:
        """The message list of each call, as it was then."""
        return [messages[:n] for messages, n in self._sent]

    def __call__(self, messages: list[dict], tools: list[dict] = ()) -> Reply:
        self._check(messages)
        self._sent.append((messages, len(messages)))
        self.tools = tools
        self.calls += 1
        if not self.entries or (self.calls > len(self.entries) and not self.repeat):
            raise IndexError(f"the script has {len(self.entries)} entries and this is call {self.calls}: add an entry, or stop the run before it")
        entry = self.entries[(self.calls - 1) % len(self.entries)]
        if callable(entry) and not isinstance(entry, type):
            entry = entry(messages, tools) if _wants_tools(entry) else entry(messages)
        return as_reply(entry)

    def stream(self, messages: list[dict], tools: list[dict] = ()) -> Iterator[dict]:
        """The same reply in pieces, as a provider streams it; streaming.assemble() puts them together again."""
        return deltas(self(messages, tools))

    def _check(self, messages):
        """Only the new part of a list that has grown; another list is read whole."""
        known, last, n, seen = self._checked
        grown = n and known is messages and len(messages) >= n and messages[n - 1] is last
        self._checked = (None, None, 0, set())
        seen = check_messages(messages, n, seen) if grown else check_messages(messages)
        self._checked = (messages, messages[-1], len(messages), seen)


def as_reply(entry) -> Reply:
    """A script's entry as a Reply; an exception is raised."""
    if isinstance(entry, Reply):
        return entry
    if isinstance(entry, BaseException) or (isinstance(entry, type) and issubclass(entry, BaseException)):
        raise entry
    if isinstance(entry, str):
        return Reply(text=entry)
    if isinstance(entry, ToolCall):
        return Reply(tool_calls=(entry,))
    if isinstance(entry, (list, tuple)):
        return Reply(text=" ".join(e for e in entry if isinstance(e, str)) or None, tool_calls=tuple(e for e in entry if not isinstance(e, str)))
    raise TypeError(f"a script's entry is a text, call(...), a list of calls, a Reply, an exception or a function, not {entry!r:.80}")


def _readable(entry):
    if not (callable(entry) or isinstance(entry, BaseException)):
        as_reply(entry)


def _wants_tools(fn) -> bool:
    """Whether the function's second argument is there for the tools: it has no default of its own, or says so by its name."""
    try:
        places = [p for p in inspect.signature(fn).parameters.values() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    except (TypeError, ValueError):
        return False
    return len(places) > 1 and (places[1].default is inspect.Parameter.empty or places[1].name == "tools")


class TextModel:
    """A model of a function `fn(messages) -> str` that writes its calls as text; the messages' content is all it is sent.

    protocol "json": {"tool": name, "args": {...}} to act, {"final": text} to finish.
    protocol "react": Thought / Action / Action Input to act, Final Answer to finish.
    What fits neither becomes an error text for the model; nothing is guessed.
    """

    text_only = True    # no tool definitions are sent, so none are counted

    def __init__(self, fn: Callable[[list[dict]], str], protocol: str = "json", *, name: str | None = None):
        if protocol not in PROTOCOLS:
            raise ValueError(f"protocol must be one of {', '.join(map(repr, PROTOCOLS))}, not {protocol!r}")
        self.fn, self.protocol, self.name = fn, protocol, name

    def __call__(self, messages: list[dict], tools: list[dict] = ()) -> Reply:
        text = self.fn(messages)
        if isinstance(text, Reply):     # a function that knows its usage or stop reason
            if text.tool_calls or text.truncated or text.refused or not (text.text or "").strip():
                return text
            return replace(PROTOCOLS[self.protocol](text.text), usage=text.usage, stop_reason=text.stop_reason)
        if not isinstance(text, str):
            raise TypeError(f"a text model's function returns a str, not {type(text).__name__}")
        return PROTOCOLS[self.protocol](text) if text.strip() else Reply(text=text)


class _JsonReply(Reply):
    """A reply whose answer is inside its text: the message keeps the text as the model wrote it."""

    @property
    def final_text(self):
        value = strict_json(_unfenced(self.text))["final"]
        answer = value if isinstance(value, str) else "" if value is None else json.dumps(value)
        return answer if answer.strip() else None


def read_json(text: str) -> Reply:
    """A reply of the JSON protocol. The text stays in the list exactly as it was written."""
    shape = 'Reply with JSON only: {"tool": name, "args": {...}} to act, or {"final": text} to finish.'
    try:
        decision = strict_json(_unfenced(text))
    except (ValueError, RecursionError) as error:
        return Reply(text, invalid=f"ERROR: the reply is not JSON ({error}). {shape}")
    if not isinstance(decision, dict) or ("tool" in decision) == ("final" in decision):
        both = isinstance(decision, dict) and "tool" in decision
        return Reply(text, invalid=f'ERROR: the reply has {"both" if both else "neither"} "tool" {"and" if both else "nor"} "final". {shape}')
    if "final" in decision:
        return _JsonReply(text)
    return Reply(text, (ToolCall(None, decision["tool"], decision.get("args")),))


def _unfenced(text: str) -> str:
    """The text without the code fence that many models put around JSON."""
    fenced = re.fullmatch(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", text, re.DOTALL)
    return fenced[1] if fenced else text


_LABEL = re.compile(r"(?im)^[ \t*]*(thought|action input|action|observation|final answer)[ \t*]*:[ \t*]*")     # some models write labels in bold


class _ReactReply(Reply):
    @property
    def final_text(self):
        return next((self.text[m.end():].strip() for m in _LABEL.finditer(self.text) if m[1].lower() == "final answer"), "") or None


def read_react(text: str) -> Reply:
    """A reply of the ReAct protocol. Whatever the model wrote after an "Observation:" is its own invention and is dropped."""
    marks = list(_LABEL.finditer(text))
    end = next((m.start() for m in marks if m[1].lower() == "observation"), len(text))
    own, marks = text[:end].rstrip(), [m for m in marks if m.start() < end]
    parts = {"thought": [], "action": [], "action input": [], "final answer": []}
    for mark, after in zip(marks, [*marks[1:], None]):
        parts[mark[1].lower()].append(own[mark.end():after.start() if after else len(own)].strip())
    actions, inputs, answers = parts["action"], parts["action input"], parts["final answer"]
    if len(actions) == 1 and len(inputs) <= 1 and not answers:
        return Reply(own, (ToolCall(None, actions[0].strip("`'\"* "), _first_json(inputs[0]) if inputs else None),))
    if answers and not actions:
        return _ReactReply(own)
    return Reply(own or text, invalid="ERROR: write either one action (Action: name, then Action Input: a JSON object) or Final Answer: text"
                 + (", not both." if answers else ", one at a time." if actions else "."))


def _first_json(given: str) -> str:
    """The input without talk on the lines below it. On its own line nothing may follow: that could be a second input."""
    inner = re.sub(r"\A```(?:json)?[ \t]*\n", "", given)
    try:
        _, end = json.JSONDecoder().raw_decode(inner)
    except (ValueError, RecursionError):
        return _unfenced(given)
    return inner[:end] if not inner[end:].split("\n")[0].strip() else given


PROTOCOLS = {"json": read_json, "react": read_react}
