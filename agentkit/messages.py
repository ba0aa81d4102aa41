"""The message list: what a model says (Reply, ToolCall, Usage) and the plain dicts it becomes.

The list is the whole state of a run. It has the OpenAI chat shape: role, content, tool_calls, tool_call_id.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from numbers import Real

TRUNCATED = frozenset({"length", "max_tokens", "truncated"})
REFUSED = frozenset({"refusal", "refused", "content_filter"})


@dataclass(frozen=True)
class ToolCall:
    """One call that a model asks for. `arguments` is a dict, or the JSON text that the provider sent."""

    id: str | None
    name: str
    arguments: dict | str


def call(name: str, /, **arguments) -> ToolCall:
    """A ToolCall written like a Python call; the run gives it an id."""
    return ToolCall(None, name, arguments)


@dataclass(frozen=True)
class Usage:
    """What one reply, or a whole run, has used. The three token buckets are disjoint: no token is in two of them."""

    input_tokens: int | None        # read at the full price; None: not known
    output_tokens: int | None       # written by the model; None: not known
    cached_tokens: int = 0          # read from the provider's cache, not counted in input_tokens
    cost_usd: float | None = None   # None: not known, which is not the same as free
    estimated: bool = False         # True where a count of ours stands in for the provider's

    def __post_init__(self):
        for field, kinds in (("input_tokens", int), ("output_tokens", int), ("cached_tokens", int), ("cost_usd", Real)):
            value = getattr(self, field)
            if value is None and field != "cached_tokens":
                continue
            if isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < float("inf"):
                raise ValueError(f"Usage: {field} must be a number of at least 0, not {value!r}"
                                 + ("" if field == "cached_tokens" else "; None says that it is not known"))

    @property
    def total_tokens(self) -> int:
        """All tokens of the three buckets; an unknown bucket counts as 0 here."""
        return (self.input_tokens or 0) + self.cached_tokens + (self.output_tokens or 0)

    def __add__(self, other: Usage) -> Usage:
        """The sum of two; a bucket that is unknown in one of them stays unknown."""
        return Usage(_sum(self.input_tokens, other.input_tokens), _sum(self.output_tokens, other.output_tokens),
                     self.cached_tokens + other.cached_tokens, _sum(self.cost_usd, other.cost_usd),
                     self.estimated or other.estimated)


def _sum(a, b):
    return None if a is None or b is None else a + b


@dataclass(frozen=True)
class Spent:
    """What somebody has used for a run outside its own model calls: a sub-agent, a summary, a review. It is charged to the run once."""

    usage: Usage
    steps: int = 0          # model calls
    tool_calls: int = 0
    errors: int = 0         # tool errors among them

    def __post_init__(self):
        if not isinstance(self.usage, Usage):
            raise TypeError(f"Spent: usage takes a Usage, not {self.usage!r:.80}")
        for field in ("steps", "tool_calls", "errors"):
            if isinstance(n := getattr(self, field), bool) or not isinstance(n, int) or n < 0:
                raise ValueError(f"Spent: {field} must be a whole number of at least 0, not {n!r:.80}")

    @classmethod
    def of(cls, result) -> Spent:
        """What a finished run has used, as its record tells it."""
        done = [e for e in result.journal.of("result") if not e["stopped"]]
        botched = [e for e in result.journal.of("message") if e.get("error")]   # replies that could not be read count as errors too
        inner = [e["spent"] for e in result.journal.of("result", "view", "hook") if e.get("spent")]
        return cls(result.usage, result.steps, len(done) + sum(s["tool_calls"] for s in inner),
                   sum(e["error"] for e in done) + len(botched) + sum(s["errors"] for s in inner))

    def as_dict(self) -> dict:
        return {**vars(self), "usage": dict(vars(self.usage))}


@dataclass(frozen=True)
class Reply:
    """What a model returns: a text, tool calls, or both; then usage and why it stopped, as far as it says so.

    `invalid` is set by text protocols when the text could not be read: the model is told so, and nothing runs.
    `extra` is what a provider wants back unread (reasoning items, signatures); it travels in the message, under the
    name of the API that understands it, and an adapter of another API leaves it out.
    """

    text: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage | None = None
    stop_reason: str | None = None
    invalid: str | None = None
    extra: dict | None = None

    def __post_init__(self):
        calls = (self.tool_calls,) if isinstance(self.tool_calls, ToolCall) else tuple(self.tool_calls or ())
        for c in calls:
            if not isinstance(c, ToolCall):
                raise TypeError(f"Reply: tool_calls takes ToolCall values, such as call('name', key=1), not {c!r:.100}")
        if self.text is not None and not isinstance(self.text, str):
            raise TypeError(f"Reply: text must be a str or None, not {type(self.text).__name__}")
        if self.usage is not None and not isinstance(self.usage, Usage):
            raise TypeError(f"Reply: usage must be a Usage or None, not {type(self.usage).__name__}")
        if self.usage is not None and (self.usage.total_tokens > 1e12 or (self.usage.cost_usd or 0) > 1e9):
            raise ValueError("Reply: the usage is larger than one reply's can be")
        if self.stop_reason is not None and not isinstance(self.stop_reason, str):
            raise TypeError(f"Reply: stop_reason must be a str or None, not {type(self.stop_reason).__name__}")
        if self.invalid is not None and (not isinstance(self.invalid, str) or not self.invalid.strip() or calls):
            raise ValueError("Reply: invalid must be a text that tells the model what was wrong, and goes with no tool calls")
        if self.extra is not None and not isinstance(self.extra, dict):
            raise TypeError(f"Reply: extra must be a dict, from the name of an API to what it wants back, not {self.extra!r:.80}")
        object.__setattr__(self, "tool_calls", calls)
        object.__setattr__(self, "text", None if self.text is None else clean(self.text))

    @property
    def final_text(self) -> str | None:
        """The answer: the text of a reply that calls no tool; None when there is none, or it is blank."""
        return self.text if not self.tool_calls and self.invalid is None and (self.text or "").strip() else None

    @property
    def truncated(self) -> bool:
        """True when the reply was cut off at the length limit, so nothing in it can be trusted to be whole."""
        return self.stop_reason in TRUNCATED

    @property
    def refused(self) -> bool:
        """True when the provider or the model declined to answer."""
        return self.stop_reason in REFUSED

    def as_message(self) -> dict:
        """The assistant message. An empty text is left out (None): providers refuse an empty text block."""
        message = {"role": "assistant", "content": self.text if (self.text or "").strip() else None}
        if self.tool_calls:
            message["tool_calls"] = [{"id": c.id, "type": "function", "function":
                                      {"name": to_text(c.name), "arguments": arguments_text(c.arguments)}}
                                     for c in self.tool_calls]
        if self.extra:
            message["extra"] = self.extra
        return message


def tool_message(call_id: str, name: str, content: str) -> dict:
    """The message that answers one call."""
    return {"role": "tool", "tool_call_id": call_id, "name": name, "content": content}


def clean(text: str) -> str:
    """The text without lone surrogates, which can be neither encoded nor hashed by what comes after."""
    text = str.__str__(text)    # a plain str, whatever a subclass of it does
    return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")


def strict_json(text: str):
    """What a JSON text says. Raises ValueError for what Python would let pass: NaN, Infinity, 1e999, a key that stands twice."""
    return _STRICT.decode(text)


def _no_number(word):
    raise ValueError(f"{word} is no JSON number")


def _finite(digits):
    number = float(digits)
    return number if number - number == 0 else _no_number(digits)       # inf - inf is no number at all


def _no_twice(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


_STRICT = json.JSONDecoder(parse_constant=_no_number, parse_float=_finite, object_pairs_hook=_no_twice)


def arguments_text(arguments) -> str:
    """A call's arguments as the JSON text that is sent back to the model; a provider's own text is kept as it came."""
    return clean(arguments) if isinstance(arguments, str) else to_text(arguments)


def to_text(value) -> str:
    """Any value as text: a str as it is, everything else as JSON. Never raises, whatever the value is."""
    try:
        return clean(str.__str__(value) if isinstance(value, str) else json.dumps(value))
    except Exception:       # dates, sets, circles, bytes, other people's classes: describe what JSON cannot hold
        pass
    try:
        return clean(json.dumps(value, default=_plain))
    except Exception:
        pass
    try:
        return clean(repr(value))
    except Exception:
        return f"(a {type(value).__name__} that cannot be shown)"


def _plain(value):
    """What stands for a value that JSON has no word for."""
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, (set, frozenset)):
        return sorted(value, key=repr)      # equal sets are equal texts
    return value.isoformat() if hasattr(value, "isoformat") else str(value)


def check_messages(messages: list[dict], start: int = 0, seen: set | None = None) -> set:
    """Refuse a message list that a strict provider would refuse; returns the call ids seen.

    With `start` and the ids `seen` before it, only the new part of a growing list is read.
    Raises ValueError that names the message and what to change.
    """
    seen = set() if seen is None else seen
    waiting: list[str] = []
    previous = messages[start - 1]["role"] if start else None

    def refuse(i, why):
        raise ValueError(f"messages[{i}]: {why}")

    for i in range(start, len(messages)):
        message = messages[i]
        role, content = message.get("role"), message.get("content")
        if role not in ("system", "user", "assistant", "tool"):
            refuse(i, f"unknown role {role!r}; use system, user, assistant or tool")
        if role == "system" and i:
            refuse(i, "a system message must be the first one")
        if role == "assistant" and previous in (None, "system"):
            refuse(i, "the first message after the system message must be the user's")
        if waiting and role != "tool":
            refuse(i, f"{'an' if role == 'assistant' else 'a'} {role} message stands before the results of {', '.join(waiting)}")
        if content is not None and not isinstance(content, str):
            refuse(i, f"content must be text, not {type(content).__name__}")
        if content is not None and not content.strip():
            refuse(i, "empty text content")
        if content is None and not (role == "assistant" and message.get("tool_calls")):
            refuse(i, f"{'an' if role == 'assistant' else 'a'} {role} message needs content")
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                refuse(i, f"the result {message.get('tool_call_id')!r} answers no open call")
            waiting.remove(message["tool_call_id"])
        if "tool_calls" in message:
            if role != "assistant" or not message["tool_calls"]:
                refuse(i, "tool_calls belongs to an assistant message and is left out when empty")
            for c in message["tool_calls"]:
                if not isinstance(c.get("id"), str) or not c["id"]:
                    refuse(i, "a tool call needs an id")
                if c["id"] in seen:
                    refuse(i, f"the tool call id {c['id']!r} is used twice")
                if not all(isinstance((c.get("function") or {}).get(part), str) for part in ("name", "arguments")):
                    refuse(i, "the name and the arguments of a tool call must be text (json.dumps the arguments)")
                seen.add(c["id"])
                waiting.append(c["id"])
        previous = role
    if waiting:
        raise ValueError(f"the calls {', '.join(waiting)} have no result")
    if previous not in ("user", "tool"):
        raise ValueError("the last message must be the user's or a tool's, or there is nothing to reply to")
    return seen
