"""The server's Responses API: what it refuses, and how it says a reply."""

from __future__ import annotations

from itertools import count

from ..messages import Reply, Usage
from ..streaming import cut
from .history import arrange
from .refusal import Refusal, filled, known_only, one_of, openai_error, required, text_of, tool_name, typed

API = "responses"
error = openai_error
_FIELDS = frozenset("""model input instructions tools tool_choice parallel_tool_calls max_output_tokens max_tool_calls temperature top_p stream
    stream_options store include reasoning text truncation metadata user previous_response_id conversation background service_tier
    prompt prompt_cache_key prompt_cache_retention safety_identifier top_logprobs context_management""".split())
_ROLES = ("assistant", "system", "developer", "user")
_TYPES = ("message", "function_call", "function_call_output", "reasoning")


def read(body: dict) -> tuple[list[dict], list[dict]]:
    """The messages and tools of a request. Raises Refusal."""
    known_only(body, _FIELDS)
    required(body, "model", str)
    given = body.get("input")
    if given is None:
        raise Refusal("Missing required parameter: 'input'.", "input", "missing_required_parameter")
    items = [{"role": "user", "content": given}] if isinstance(given, str) else filled(typed(given, list, "input"), "input")
    messages = [{"role": "system", "content": body["instructions"]}] if body.get("instructions") else []
    seen, answered, thinking = {}, set(), None
    for i, item in enumerate(items):
        where = f"input[{i}]"
        kind = one_of(typed(item, dict, where).get("type") or "message", _TYPES, f"{where}.type")
        if thinking and kind not in ("reasoning", "function_call") and item.get("role") != "assistant":
            raise _alone(thinking)
        thinking = required(item, "id", str, f"{where}.") if kind == "reasoning" else None
        if kind == "function_call_output":
            call_id = required(item, "call_id", str, f"{where}.")
            if call_id not in seen or call_id in answered:
                raise Refusal(f"No tool call found for function call output with call_id {call_id}.", "input")
            answered.add(call_id)
            output = required(item, "output", list if isinstance(item.get("output"), list) else str, f"{where}.")
            messages.append({"role": "tool", "tool_call_id": call_id, "name": seen[call_id], "content": text_of(output, f"{where}.output", ("input_text",))})
        elif kind == "function_call":
            call_id, name = required(item, "call_id", str, f"{where}."), tool_name(required(item, "name", str, f"{where}."), f"{where}.name")
            seen[call_id] = name
            if not messages or messages[-1]["role"] != "assistant":
                messages.append({"role": "assistant", "content": None})
            messages[-1].setdefault("tool_calls", []).append(
                {"id": call_id, "type": "function", "function": {"name": name, "arguments": required(item, "arguments", str, f"{where}.")}})
        elif kind == "message":
            role = one_of(required(item, "role", str, f"{where}."), _ROLES, f"{where}.role")
            parts = ("output_text", "refusal") if role == "assistant" else ("input_text",)
            text = text_of(required(item, "content", list if isinstance(item.get("content"), list) else str, f"{where}."), f"{where}.content", parts)
            last = messages[-1] if messages else {"role": None}
            if role == last["role"] == "assistant":
                last["content"] = (last["content"] or "") + text
            else:
                messages.append({"role": "system" if role == "developer" else role, "content": text})
    if thinking:
        raise _alone(thinking)
    for call_id in seen:
        if call_id not in answered:
            raise Refusal(f"No tool output found for function call {call_id}.", "input")
    return messages, tools(body)


def _alone(item_id) -> Refusal:
    return Refusal(f"Item '{item_id}' of type 'reasoning' was provided without its required following item.", "input")


def stream_error(refusal: Refusal) -> tuple:
    """The event that tells of an error in the middle of a stream."""
    code = "rate_limit_exceeded" if refusal.status == 429 else "server_error"
    return "error", {"type": "error", "code": code, "message": refusal.message, "param": None, "sequence_number": 0}


def tools(body: dict) -> list[dict]:
    """The tool definitions of a request, checked, in the shape of Chat Completions."""
    found = body.get("tools") or []
    for i, t in enumerate(typed(found, list, "tools")):
        one_of(required(typed(t, dict, f"tools[{i}]"), "type", str, f"tools[{i}]."), ("function",), f"tools[{i}].type")
        tool_name(required(t, "name", str, f"tools[{i}]."), f"tools[{i}].name")
    return [{"type": "function", "function": {k: t[k] for k in ("name", "description", "parameters") if k in t}} for t in found]


def _items(reply: Reply) -> list[dict]:
    """The output items of a reply."""
    said = reply.as_message()
    refuses = reply.refused and reply.stop_reason != "content_filter"
    part = {"type": "refusal", "refusal": said["content"]} if refuses else {"type": "output_text", "text": said["content"], "annotations": [], "logprobs": []}
    text = {"id": "msg_scripted", "type": "message", "role": "assistant", "status": "completed", "content": [part]} if said["content"] else None
    calls = [{"id": f"fc_{c['id']}", "type": "function_call", "call_id": c["id"], **c["function"], "status": "completed"} for c in said.get("tool_calls", ())]
    return arrange((reply.extra or {}).get("responses"), text, calls)


def whole(body: dict, reply: Reply, usage: Usage | None, started: bool = False) -> dict:
    """The reply in one piece; `started` is how a stream announces it."""
    reason = "content_filter" if reply.stop_reason == "content_filter" else "max_output_tokens" if reply.truncated else None
    return {"id": "resp_scripted", "object": "response", "created_at": 0, "model": body["model"], "error": None, "instructions": body.get("instructions"),
            "status": "in_progress" if started else "incomplete" if reason else "completed",
            "incomplete_details": {"reason": reason} if reason and not started else None, "output": [] if started else _items(reply),
            "parallel_tool_calls": True, "temperature": 1.0, "top_p": 1.0, "tool_choice": "auto", "tools": body.get("tools") or [], "metadata": {},
            "usage": None if started or usage is None else _report(usage)}


def _report(usage: Usage) -> dict:
    return {"input_tokens": (usage.input_tokens or 0) + usage.cached_tokens, "input_tokens_details": {"cached_tokens": usage.cached_tokens},
            "output_tokens": usage.output_tokens or 0, "output_tokens_details": {"reasoning_tokens": 0}, "total_tokens": usage.total_tokens}


def events(body: dict, reply: Reply, usage: Usage | None, size: int = 8):
    """The reply as events with pieces of `size` characters: (name, data) each."""
    number = count()

    def event(kind, /, **fields):
        return kind, {"type": kind, "sequence_number": next(number), **fields}

    yield event("response.created", response=whole(body, reply, usage, started=True))
    for i, item in enumerate(_items(reply)):
        at = {"output_index": i, "item_id": item["id"]}
        if item["type"] == "function_call":
            yield event("response.output_item.added", output_index=i, item={**item, "arguments": "", "status": "in_progress"})
            for piece in cut(item["arguments"], size):
                yield event("response.function_call_arguments.delta", **at, delta=piece)
            yield event("response.function_call_arguments.done", **at, name=item["name"], arguments=item["arguments"])
        elif item["type"] == "message":
            part = item["content"][0]
            field = "refusal" if part["type"] == "refusal" else "text"
            name, at = "response.refusal" if field == "refusal" else "response.output_text", {**at, "content_index": 0}
            logprobs = {} if field == "refusal" else {"logprobs": []}
            yield event("response.output_item.added", output_index=i, item={**item, "content": [], "status": "in_progress"})
            yield event("response.content_part.added", **at, part={**part, field: ""})
            for piece in cut(part[field], size):
                yield event(f"{name}.delta", **at, delta=piece, **logprobs)
            yield event(f"{name}.done", **at, **{field: part[field]}, **logprobs)
            yield event("response.content_part.done", **at, part=part)
        else:
            yield event("response.output_item.added", output_index=i, item=item)
        yield event("response.output_item.done", output_index=i, item=item)
    response = whole(body, reply, usage)
    yield event(f"response.{response['status']}", response=response)
