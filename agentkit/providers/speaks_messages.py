"""The server's Messages API: what it refuses, and how it says a reply."""

from __future__ import annotations

import json
import re

from ..messages import Reply, Usage, strict_json
from ..streaming import cut
from .history import arrange
from .refusal import NAME, Refusal

API = "messages"
_FIELDS = frozenset("""model messages max_tokens system tools tool_choice stream temperature top_p top_k stop_sequences metadata thinking service_tier
    container context_management mcp_servers cache_control output_config inference_geo speed diagnostics""".split())
_BLOCKS = {"user": ("text", "tool_result"), "assistant": ("text", "tool_use", "thinking", "redacted_thinking")}
_KINDS = {429: "rate_limit_error", 404: "not_found_error", 500: "api_error", 529: "overloaded_error"}


def error(refusal: Refusal) -> dict:
    """The error shape of this API."""
    kind = _KINDS.get(refusal.status, "invalid_request_error" if refusal.status < 500 else "api_error")
    return {"type": "error", "error": {"type": kind, "message": refusal.message}, "request_id": "req_scripted"}


def stream_error(refusal: Refusal) -> tuple:
    """The event that tells of an error in the middle of a stream."""
    return "error", error(refusal)


def read(body: dict) -> tuple[list[dict], list[dict]]:
    """The messages and tools of a request. Raises Refusal."""
    for field in body:
        if field not in _FIELDS:
            raise Refusal(f"{field}: Extra inputs are not permitted")
    _typed(body, "model", str, "")
    if _typed(body, "max_tokens", int, "") < 1:
        raise Refusal("max_tokens: Input should be greater than or equal to 1")
    given = _typed(body, "messages", list, "")
    if not given:
        raise Refusal("messages: at least one message is required")
    messages, asked, ids = [], {}, set()
    if body.get("system"):
        messages.append({"role": "system", "content": "".join(b["text"] for b in _blocks(body["system"], "system", ("text",)))})
    for i, message in enumerate(given):
        where = f"messages.{i}"
        role = _typed(message, "role", str, f"{where}.")
        if role not in _BLOCKS:
            raise Refusal(f'messages: Unexpected role "{role}". The Messages API accepts a top-level `system` parameter, not "system" as an input message role.'
                          if role == "system" else f"{where}.role: Input should be 'user' or 'assistant'")
        if i == 0 and role != "user":
            raise Refusal('messages: first message must use the "user" role')
        for extra in message.keys() - {"role", "content"}:
            raise Refusal(f"{where}.{extra}: Extra inputs are not permitted")
        if "content" not in message:
            raise Refusal(f"{where}.content: Field required")
        blocks = _blocks(message["content"], f"{where}.content", _BLOCKS[role])
        if not blocks:
            raise Refusal(f"{where}: all messages must have non-empty content except for the optional final assistant message")
        results = [b["tool_use_id"] for b in blocks if b["type"] == "tool_result"]
        for k, call_id in enumerate(results):
            if call_id not in asked or call_id in results[:k]:
                raise Refusal(f"{where}.content.{k}: unexpected `tool_use_id` found in `tool_result` blocks: {call_id}. Each `tool_result` block must have a "
                              "corresponding `tool_use` block in the previous message.")
        if missing := [call_id for call_id in asked if call_id not in results]:
            raise _unanswered(i - 1, missing)
        names, asked = asked, {b["id"]: b["name"] for b in blocks if b["type"] == "tool_use"}
        if ids & asked.keys() or len(asked) != sum(b["type"] == "tool_use" for b in blocks):
            raise Refusal("messages: `tool_use` ids must be unique")
        ids |= asked.keys()
        if any(b["type"] == "tool_result" for b in blocks[len(results):]):
            raise Refusal(f"{where}.content: `tool_result` blocks must come first in a message")
        messages += [{"role": "tool", "tool_call_id": b["tool_use_id"], "name": names[b["tool_use_id"]], "content": b["content"]} for b in blocks[:len(results)]]
        messages += _plain(role, blocks[len(results):])
    if asked:
        raise _unanswered(len(given) - 1, list(asked))
    return messages, _tools(body)


def _plain(role, blocks) -> list[dict]:
    """The texts and calls of one message, in the shape of Chat Completions."""
    text = "".join(b["text"] for b in blocks if b["type"] == "text") or None
    calls = [{"id": b["id"], "type": "function", "function": {"name": b["name"], "arguments": json.dumps(b["input"])}} for b in blocks if b["type"] == "tool_use"]
    return [{"role": role, "content": text, **({"tool_calls": calls} if calls else {})}] if text or calls else []


def _unanswered(i, ids) -> Refusal:
    return Refusal(f"messages.{i}: `tool_use` ids were found without `tool_result` blocks immediately after: {', '.join(ids)}. "
                   "Each `tool_use` block must have a corresponding `tool_result` block in the next message.")


_FIELDS_OF = {"text": {"text": str}, "tool_use": {"id": str, "name": str, "input": dict}, "tool_result": {"tool_use_id": str},
              "thinking": {"thinking": str, "signature": str}, "redacted_thinking": {"data": str}}


def _blocks(content, where: str, kinds: tuple[str, ...]) -> list[dict]:
    """A content as blocks, each checked."""
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    if not isinstance(content, list):
        raise Refusal(f"{where}: Input should be a valid array")
    found = []
    for k, block in enumerate(content):
        at = f"{where}.{k}"
        kind = _typed(block, "type", str, f"{at}.")
        if kind not in kinds:
            raise Refusal(f"{at}: Input tag '{kind}' found using 'type' does not match any of the expected tags: {', '.join(map(repr, kinds))}")
        for field, wanted in _FIELDS_OF[kind].items():
            _typed(block, field, wanted, f"{at}.{kind}.")
        if kind == "text" and not block["text"].strip():
            raise Refusal("messages: text content blocks must be non-empty" if not block["text"] else "messages: text content blocks must contain non-whitespace text")
        if kind == "tool_use" and not (re.match(NAME, block["id"]) and re.match(NAME, block["name"])):
            raise Refusal(f"{at}.tool_use: String should match pattern '{NAME}'")
        if kind == "tool_result":
            block = {**block, "content": "".join(b["text"] for b in _blocks(block.get("content") or [], f"{at}.content", ("text",)))}
        found.append(block)
    return found


def _typed(value, field: str, kind: type, where: str):
    """A field that must be there and of its kind, in this API's words."""
    if not isinstance(value, dict):
        raise Refusal(f"{where.rstrip('.') or 'body'}: Input should be a valid dictionary")
    if field not in value:
        raise Refusal(f"{where}{field}: Field required")
    if not isinstance(value[field], kind) or isinstance(value[field], bool):
        words = {str: "string", int: "integer", list: "list", dict: "dictionary"}
        raise Refusal(f"{where}{field}: Input should be a valid {words[kind]}")
    return value[field]


def _tools(body: dict) -> list[dict]:
    found = []
    for i, t in enumerate(body.get("tools") or ()):
        if not re.match(NAME, _typed(t, "name", str, f"tools.{i}.custom.")):
            raise Refusal(f"tools.{i}.custom.name: String should match pattern '{NAME}'")
        if _typed(t, "input_schema", dict, f"tools.{i}.custom.").get("type") != "object":
            raise Refusal(f"tools.{i}.custom.input_schema.type: Field required")
        found.append({"type": "function", "function": {"name": t["name"], "description": t.get("description", ""), "parameters": t["input_schema"]}})
    return found


def _content(reply: Reply) -> list[dict]:
    """The blocks of a reply. Arguments that are no JSON object stay a text here, as some servers send them."""
    said = reply.as_message()
    calls = [{"type": "tool_use", "id": c["id"], "name": c["function"]["name"], "input": _object(c["function"]["arguments"])} for c in said.get("tool_calls", ())]
    return arrange((reply.extra or {}).get("messages"), {"type": "text", "text": said["content"]} if said["content"] else None, calls)


def _object(arguments: str):
    try:
        return strict_json(arguments)
    except (ValueError, RecursionError):
        return arguments


def _stop_reason(reply: Reply) -> str:
    if reply.truncated:
        return "max_tokens"
    return "refusal" if reply.refused else "tool_use" if reply.tool_calls else "end_turn"


def _report(usage: Usage | None) -> dict:
    return {} if usage is None else {"usage": {"input_tokens": usage.input_tokens or 0, "output_tokens": usage.output_tokens or 0,
                                               "cache_read_input_tokens": usage.cached_tokens, "cache_creation_input_tokens": 0}}


def whole(body: dict, reply: Reply, usage: Usage | None) -> dict:
    """The reply in one piece."""
    return {"id": "msg_scripted", "type": "message", "role": "assistant", "model": body["model"], "content": _content(reply),
            "stop_reason": _stop_reason(reply), "stop_sequence": None, **_report(usage)}


def events(body: dict, reply: Reply, usage: Usage | None, size: int = 8):
    """The reply as events with pieces of `size` characters: (name, data) each."""
    def event(kind, /, **fields):
        return kind, {"type": kind, **fields}

    report = _report(usage)
    start = {"usage": {**report["usage"], "output_tokens": min(1, usage.output_tokens or 0)}} if report else {}
    yield event("message_start", message={**whole(body, reply, None), "content": [], "stop_reason": None, **start})
    yield event("ping")
    arguments = iter(c["function"]["arguments"] for c in reply.as_message().get("tool_calls", ()))
    for i, block in enumerate(_content(reply)):
        empty, pieces = block, []
        if block["type"] == "text":
            empty, pieces = {**block, "text": ""}, [{"type": "text_delta", "text": p} for p in cut(block["text"], size)]
        elif block["type"] == "tool_use":
            text = next(arguments)
            # A call without arguments comes without a piece of them.
            empty, pieces = {**block, "input": {}}, [{"type": "input_json_delta", "partial_json": p} for p in ("", *cut(text, size)) if text != "{}"]
        elif block["type"] == "thinking":
            empty = {**block, "thinking": "", "signature": ""}
            pieces = [{"type": "thinking_delta", "thinking": p} for p in cut(block["thinking"], size)] + [{"type": "signature_delta", "signature": block["signature"]}]
        yield event("content_block_start", index=i, content_block=empty)
        for piece in pieces:
            yield event("content_block_delta", index=i, delta=piece)
        yield event("content_block_stop", index=i)
    yield event("message_delta", delta={"stop_reason": _stop_reason(reply), "stop_sequence": None},
                **({"usage": {"output_tokens": report["usage"]["output_tokens"]}} if report else {}))
    yield event("message_stop")
