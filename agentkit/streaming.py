"""Streaming: the pieces of a reply put together into the Reply they are pieces of, and a Reply cut into pieces.

A piece is a plain dict in the OpenAI chat shape: a delta (content, refusal, tool_calls, finish_reason, usage) or the
chunk around one. Other APIs' events are translated into it, and a reply that is not streamed is a single piece.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from .messages import Reply, ToolCall, Usage, arguments_text, strict_json, to_text

_REASONING = ("reasoning_content", "reasoning")     # what servers of open models call the thoughts beside a text


def assemble(pieces: Iterable[dict]) -> Reply:
    """The Reply that these pieces are."""
    whole = Assembler()
    for piece in pieces:
        whole.add(piece)
    return whole.reply()


class Assembler:
    """Takes the pieces of one reply as they come, however they are cut or indexed, and gives the Reply."""

    def __init__(self):
        self._text: list[str] = []
        self._refusal: list[str] = []
        self._thoughts: dict[str, list[str]] = {}
        self._calls: list[_Call] = []
        self._usage: dict = {}
        self._extra: dict = {}
        self.stop_reason: str | None = None

    def add(self, piece: dict) -> None:
        """Take one piece in. Raises TypeError for what is none."""
        if not isinstance(piece, dict):
            raise TypeError(f"a piece of a reply is a dict, not {piece!r:.80}")
        for delta in deltas_of(piece):
            self._text += texts(delta.get("content"))
            self._refusal += texts(delta.get("refusal"))
            for field in _REASONING:
                if delta.get(field):
                    self._thoughts.setdefault(field, []).extend(texts(delta[field]))
            for part in delta.get("tool_calls") or ():
                self._add_call(part)
            # A later report replaces an earlier one field by field; a 0 says nothing (some servers stream zeros).
            self._usage.update({k: v for k, v in (delta.get("usage") or {}).items() if v or k not in self._usage})
            self._extra.update(delta.get("extra") or {})
            self.stop_reason = delta.get("finish_reason") or self.stop_reason

    def _add_call(self, part: dict) -> None:
        function = part.get("function") or {}
        arguments = function.get("arguments")
        arguments = "" if arguments is None else to_text(arguments)
        name, call_id, index = to_text(function.get("name") or ""), part.get("id") or None, part.get("index")
        call = self._goes_on(index, call_id, name, arguments)
        if call is None:
            place = index if index is not None else max((c.place for c in self._calls), default=0)
            self._calls.append(call := _Call(place, index))
        self._last = call
        if name != call.name or not (call_id or arguments or any(call.arguments)):  # else a server that repeats the name with every piece
            call.name += name
        call.id = call.id or call_id
        call.arguments.append(arguments)
        call.extra = part.get("extra_content") or call.extra

    def _goes_on(self, index, call_id, name, arguments) -> _Call | None:
        """The call that a piece goes on with; None where it opens one."""
        if index is not None:
            call = next((c for c in reversed(self._calls) if c.index == index), None)
        elif call_id is not None:
            call = next((c for c in self._calls if c.id == call_id), None)
            if call is None and self._calls and self._last.id is None and not name:
                call = self._last       # its id has come late
        else:
            call = self._last if self._calls else None
        if call is None or not name or (call_id and call_id == call.id):
            return call
        if call_id and call.id:
            return None                 # a name and an id of its own: another call, though the index is the same
        # A name stands before the arguments. One that comes after them opens a call, or repeats what is known.
        begun = "".join(call.arguments)
        return None if begun and (name != call.name or arguments and _whole(begun)) else call

    def reply(self) -> Reply:
        """What has come so far, as a Reply."""
        calls = sorted(self._calls, key=lambda c: c.place)      # stable: calls of one place stay in the order they came
        extra, text, refusal = dict(self._extra), "".join(self._text), "".join(self._refusal)
        if calls and (self._thoughts or any(c.extra for c in calls)):
            thoughts = {field: "".join(parts) for field, parts in self._thoughts.items()}
            extra["chat"] = {**thoughts, "calls": [c.extra for c in calls]}
        return Reply(text + refusal or None, tuple(ToolCall(c.id, c.name, "".join(c.arguments)) for c in calls),
                     usage_of(self._usage, wrote=bool(text or refusal or calls)), "refusal" if refusal else self.stop_reason, extra=extra or None)


class _Call:
    """One call that is being put together."""

    def __init__(self, place, index):
        self.place, self.index = place, index
        self.id: str | None = None
        self.name = ""
        self.arguments: list[str] = []
        self.extra = None


def deltas_of(piece: dict) -> Iterator[dict]:
    """The deltas in a piece: itself, or those in the chunk or response that it is. Only the first of several choices counts."""
    if "choices" not in piece:
        yield piece
        return
    for choice in piece["choices"] or ():
        if not choice.get("index"):
            delta = choice.get("delta") or choice.get("message") or {}
            if "message" in choice:     # not streamed: every call is whole, so every one is a call of its own
                delta = {**delta, "tool_calls": [{**c, "index": i} for i, c in enumerate(delta.get("tool_calls") or ())]}
            yield {**delta, "finish_reason": choice.get("finish_reason")}
    if piece.get("usage"):
        yield {"usage": piece["usage"]}


def texts(content) -> list[str]:
    """A content as a list of texts; some servers send a list of parts instead of a text."""
    if isinstance(content, list):
        return [part["text"] for part in content if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return [content] if isinstance(content, str) else []


def usage_of(report: dict | None, wrote: bool = True) -> Usage | None:
    """A report in the OpenAI shape as three disjoint buckets: its prompt_tokens include what was cached. A 0 that cannot be is unknown."""
    report = report or {}
    prompt, completion = _count(report.get("prompt_tokens")) or None, _count(report.get("completion_tokens"))
    if not completion and (wrote or prompt is None):
        completion = None               # a reply that says something has cost something
    if prompt is None and completion is None:
        return None
    cached = _count((report.get("prompt_tokens_details") or {}).get("cached_tokens")) or _count(report.get("prompt_cache_hit_tokens")) or 0
    cached = cached if prompt is None else min(cached, prompt)
    return Usage(None if prompt is None else prompt - cached, completion, cached, _amount(report.get("cost")))


def _count(value) -> int | None:
    return int(value) if _amount(value) is not None else None


def _amount(value):
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < float("inf") else None


def _whole(arguments: str) -> bool:
    try:
        return isinstance(strict_json(arguments), dict)
    except (ValueError, RecursionError):
        return False


def cut(text: str, size: int) -> list[str]:
    """A text in pieces of `size` characters."""
    return [text[i:i + size] for i in range(0, len(text), size)]


def deltas(reply: Reply, size: int = 8) -> Iterator[dict]:
    """A Reply as the pieces that a provider would stream: the inverse of assemble()."""
    yield {"role": "assistant"}
    for piece in cut(reply.text or "", size):
        yield {"content": piece}
    for i, c in enumerate(reply.tool_calls):
        opening = {"index": i, "type": "function", "function": {"name": to_text(c.name), "arguments": ""}}
        yield {"tool_calls": [opening if c.id is None else {"id": c.id, **opening}]}
        for piece in cut(arguments_text(c.arguments), size):
            yield {"tool_calls": [{"index": i, "function": {"arguments": piece}}]}
    if reply.extra:
        yield {"extra": reply.extra}
    yield {"finish_reason": reply.stop_reason}
    if reply.usage:
        yield {"usage": report_of(reply.usage)}


def report_of(usage: Usage) -> dict:
    """Usage as the OpenAI chat API reports it: the inverse of usage_of()."""
    report = {"prompt_tokens": None if usage.input_tokens is None else usage.input_tokens + usage.cached_tokens,
              "completion_tokens": usage.output_tokens, "total_tokens": usage.total_tokens,
              "prompt_tokens_details": {"cached_tokens": usage.cached_tokens}}
    return report if usage.cost_usd is None else {**report, "cost": usage.cost_usd}
