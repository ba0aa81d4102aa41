"""What plan-and-execute and reflection share: a wrapper that stands in the place of your model, reads from the list where the
run is, and sends each call to the one model whose turn it is, with no more of the list than that model needs."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from agentkit import Reply, ToolCall, Usage

FREE = Usage(0, 0)                      # a step that asks no model
NOT_RUN = "ERROR: not run: the run "    # it was stopped or broke off before this call: make it again


class Route(NamedTuple):
    """Where the next call goes: to `model`, with this prompt and these tools, its reply read by `read`; or nowhere, and `reply` is ready."""

    model: Callable | None = None
    prompt: list[dict] = []
    tools: list[dict] = []
    read: Callable[[Reply], Reply] = lambda reply: reply
    reply: Reply | None = None


class Router:
    """The wrapper. It keeps no state: a subclass says in route(messages, tools) what the list says."""

    def __init__(self, model: Callable, other: Callable | None, count_tokens: Callable[[str], int] | None):
        for m in (model, other):
            if m is not None and not callable(m):
                raise TypeError(f"a model is a function, model(messages, tools) -> Reply, not {m!r:.80}")
        self.model, self.other, self.name = model, model if other is None else other, getattr(model, "name", None)
        self.text_only = all(getattr(m, "text_only", False) for m in (self.model, self.other))
        self._count = count_tokens or (lambda text: max(1, len(text) // 4))
        self._shown = 0     # no state but a guard: from a shortened list nobody can tell where the run is

    def route(self, messages: list[dict], tools: list[dict]) -> Route:
        raise NotImplementedError

    def sends(self, messages, tools):
        """What the next call really sends, for the count and the budgets."""
        here = self.route(messages, tools)
        if here.model is None:
            return [], []
        known = [] if getattr(here.model, "text_only", False) else here.tools
        return here.model.sends(here.prompt, known) if hasattr(here.model, "sends") else (here.prompt, known)

    def __call__(self, messages, tools=()):
        if len(messages) <= self._shown:
            raise ValueError("a pattern finds its place in the whole list: leave out the before_model hook that shortens it")
        self._shown = len(messages)
        here = self.route(messages, list(tools))
        if here.model is None:
            return here.reply
        reply = here.model(here.prompt, here.tools)
        return here.read(reply) if isinstance(reply, Reply) else reply

    def into(self, reply: Reply, *calls: ToolCall) -> Reply:
        """The reply with these calls in the place of its text. It costs what the model wrote, not what stands on record."""
        usage = reply.usage if reply.usage and reply.usage.total_tokens else Usage(None, None)      # a report of nothing is none
        if usage.output_tokens is None and reply.text:
            usage = replace(usage, output_tokens=self._count(reply.text))
        return Reply(None, calls, usage)


class Made(NamedTuple):
    """One call on record and the text that came back."""

    name: str
    written: str
    text: str

    @property
    def arguments(self) -> dict:
        return _object(self.written) or {}

    @property
    def value(self) -> dict | None:
        """What a tool of a pattern came to; None for an error. A hook's note may stand above it."""
        text = self.text.split("\n", 1)[-1] if self.text.startswith("[a hook") else self.text
        return _object(text)

    @property
    def again(self) -> ToolCall:
        return ToolCall(None, self.name, self.written)


class Turn(NamedTuple):
    """One reply with all that came back; a blank reply is in no list, only the word of help after it."""

    calls: list[Made]
    messages: list[dict]

    @property
    def text(self) -> str | None:
        return self.messages[0]["content"] if self.messages[0]["role"] == "assistant" else None


def split(messages: list[dict]) -> tuple[list[dict], str, list[dict]]:
    """(the system message, if there is one; the task; all that came after). The task is "" in a record that broke off before it."""
    start = next((i for i, m in enumerate(messages) if m["role"] == "user"), len(messages))
    return messages[:start], messages[start]["content"] if start < len(messages) else "", messages[start + 1:]


def turns(messages: list[dict]) -> Iterator[Turn]:
    """The turns of a list without its system message and task."""
    i = 0
    while i < len(messages):
        j = i + 1
        asked = {c["id"]: c["function"] for c in messages[i].get("tool_calls", ())}     # name and arguments
        while j < len(messages) and (messages[j]["role"] == "tool" or not asked and j == i + 1 and messages[i]["role"] == "assistant"
                                     and messages[j]["role"] == "user"):
            j += 1
        made = [Made(asked[m["tool_call_id"]]["name"], asked[m["tool_call_id"]]["arguments"], m["content"]) for m in messages[i + 1:j] if m["role"] == "tool"]
        yield Turn(made, messages[i:j])
        i = j


def _object(text: str) -> dict | None:
    """The object that a JSON text says; None where it says none."""
    try:
        found = json.loads(text)
    except ValueError:
        return None
    return found if isinstance(found, dict) else None


def unreadable(reply: Reply, error: str) -> Reply:
    """The reply, none of which runs, and the word of help that answers it."""
    return Reply(reply.text, usage=reply.usage, stop_reason=reply.stop_reason, invalid=f"ERROR: {error}")
