"""Anthropic's Messages API: the system text apart, tool calls and results as blocks of assistant and user messages."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from ..messages import to_text
from .history import arrange, object_or_wrapped, wire_name
from .wire import Provider, ProviderError

_ENDINGS = {"model_context_window_exceeded": "length"}
_DEFAULT_MAX_TOKENS = 4096      # this API has no default of its own


class AnthropicMessages(Provider):
    """A model behind the Messages API. `options` go into the request as they are (thinking={...}, cache_control={"type": "ephemeral"}, ...)."""

    package, client_class, key = "anthropic", "Anthropic", "ANTHROPIC_API_KEY"
    path, history_field = "/v1/messages", "messages"
    merges_users = True     # all results of a step belong into one user message

    def fields(self, messages, tools, stream):
        rest = next((m for m in messages if m["role"] != "system"), {"role": None})
        if rest["role"] != "user":
            raise ValueError(f"the first message after the system message must be the user's, not {rest['role']}: the Messages API refuses others")
        system = "\n\n".join(m["content"] or "" for m in messages if m["role"] == "system")
        functions = [{"name": f["name"], "description": f.get("description") or None, "input_schema": f.get("parameters") or {"type": "object"}}
                     for f in (t["function"] for t in tools)]
        return {"model": self.name, "max_tokens": self.max_tokens or _DEFAULT_MAX_TOKENS, "system": system if system.strip() else None,
                "tools": [{k: v for k, v in f.items() if v is not None} for f in functions] or None, "stream": stream or None}

    def translate(self, message):
        role, content = message["role"], message.get("content")
        text = {"type": "text", "text": content} if content and content.strip() else None      # an empty block is refused
        if role == "system":
            return []
        if role == "tool":
            failed = {"is_error": True} if (content or "").startswith("ERROR") else {}
            return [{"role": "user", "content": [{"type": "tool_result", "tool_use_id": wire_id(message["tool_call_id"]),
                                                  "content": content if text else "(no output)", **failed}]}]
        blocks = [text] if text else []
        if role == "assistant":
            calls = [{"type": "tool_use", "id": wire_id(c["id"]), "name": wire_name(c["function"]["name"]),
                      "input": object_or_wrapped(c["function"]["arguments"])} for c in message.get("tool_calls", ())]
            blocks = arrange((message.get("extra") or {}).get("messages"), text, calls)
        return [{"role": role, "content": blocks}] if blocks else []

    def whole(self, response):
        content = response.get("content")
        if not isinstance(content, list):
            raise ProviderError(f"the answer has no content: {response!r:.200}")
        for i, block in enumerate(content):
            if block.get("type") == "text":
                yield {"content": block.get("text")}
            elif block.get("type") == "tool_use":
                yield _call_piece(i, block, to_text(block.get("input")))
        yield from _ending(response.get("stop_reason"), response.get("usage") or {}, content)

    def pieces(self, events: Iterable[dict]):
        blocks, told, usage = {}, set(), {}
        for event in events:
            kind, i, delta = event.get("type"), event.get("index"), event.get("delta") or {}
            if kind == "message_start":
                usage.update(_said(event["message"].get("usage")))
            elif kind == "content_block_start":
                block = blocks[i] = dict(event["content_block"])
                if block["type"] == "text" and block.get("text"):
                    yield {"content": block["text"]}
                elif block["type"] == "tool_use":
                    yield _call_piece(i, block, "")
            elif kind == "content_block_delta":
                if delta.get("type") == "text_delta":
                    yield {"content": delta["text"]}
                elif delta.get("type") == "input_json_delta" and delta.get("partial_json"):
                    told.add(i)
                    yield {"tool_calls": [{"index": i, "function": {"arguments": delta["partial_json"]}}]}
                for field in ("thinking", "signature"):
                    if delta.get("type") == f"{field}_delta":
                        blocks[i][field] = (blocks[i].get(field) or "") + delta[field]
            elif kind == "content_block_stop" and blocks[i]["type"] == "tool_use" and i not in told:
                yield {"tool_calls": [{"index": i, "function": {"arguments": json.dumps(blocks[i].get("input") or {})}}]}     # no arguments: no delta
            elif kind == "message_delta":
                usage.update(_said(event.get("usage")))
                yield from _ending(delta.get("stop_reason"), usage, [blocks[k] for k in sorted(blocks)])


def wire_id(call_id: str) -> str:
    """A call's id as this API takes it; a run that began with another provider may have others."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", call_id)


def _call_piece(i: int, block: dict, arguments: str):
    return {"tool_calls": [{"index": i, "id": block.get("id"), "function": {"name": block.get("name"), "arguments": arguments}}]}


def _ending(stop_reason, usage: dict, content: list[dict]):
    """Why it ended, what it cost, and what has to be sent back unread."""
    shape = [{"type": b["type"]} if b.get("type") in ("text", "tool_use") else b for b in content]
    if any(part.keys() != {"type"} for part in shape):
        yield {"extra": {"messages": shape}}
    yield {"finish_reason": _ENDINGS.get(stop_reason, stop_reason)}
    # input_tokens leaves out what was cached, so the parts add up; writing to the cache is input at (about) the full price.
    cached, written, read = (usage.get(k) or 0 for k in ("cache_read_input_tokens", "cache_creation_input_tokens", "input_tokens"))
    yield {"usage": {"prompt_tokens": read + written + cached, "completion_tokens": usage.get("output_tokens"),
                     "prompt_tokens_details": {"cached_tokens": cached}}}


def _said(usage: dict | None) -> dict:
    """The counts of a report that say something: a later 0 or null takes nothing back."""
    return {k: v for k, v in (usage or {}).items() if v}
