"""The server's Chat Completions: what it refuses, and how it says a reply."""

from __future__ import annotations

from ..messages import Reply, Usage
from ..streaming import deltas, report_of
from .refusal import Refusal, filled, known_only, one_of, openai_error, required, text_of, tool_name, typed

API = "chat"
error = openai_error
_FIELDS = frozenset("""model messages stream stream_options tools tool_choice parallel_tool_calls max_tokens max_completion_tokens temperature top_p n
    stop seed user store metadata response_format reasoning_effort verbosity frequency_penalty presence_penalty logit_bias logprobs top_logprobs
    service_tier prediction modalities audio prompt_cache_key prompt_cache_retention safety_identifier functions function_call
    web_search_options""".split())
_ROLES = ("system", "assistant", "user", "function", "tool", "developer")
_KEYS = frozenset({"role", "content", "name", "tool_calls", "tool_call_id", "refusal", "audio", "function_call", "reasoning_content", "reasoning"})


def read(body: dict) -> tuple[list[dict], list[dict]]:
    """The messages and tools of a request. Raises Refusal."""
    known_only(body, _FIELDS)
    required(body, "model", str)
    messages, waiting = [], []
    for i, message in enumerate(filled(required(body, "messages", list), "messages")):
        where = f"messages[{i}]"
        known_only(typed(message, dict, where), _KEYS, f"{where}.")
        role = one_of(required(message, "role", str, f"{where}."), _ROLES, f"{where}.role")
        if role == "tool":
            if message.get("tool_call_id") not in waiting:
                raise Refusal("Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", f"messages.[{i}].role")
            waiting.remove(message["tool_call_id"])
        elif waiting:
            raise _unanswered(waiting, i)
        calls = [_call(c, f"{where}.tool_calls[{k}]") for k, c in enumerate(filled(message["tool_calls"], f"{where}.tool_calls"))] if message.get("tool_calls") is not None else []
        content = message.get("content")
        if content is None and not calls:
            raise Refusal("Invalid value for 'content': expected a string, got null.", f"messages.[{i}].content")
        found = {"role": "system" if role == "developer" else role,
                 "content": None if content is None else text_of(content, f"{where}.content", ("text", "refusal"))}
        waiting += [c["id"] for c in calls]
        messages.append({**found, **({"tool_calls": calls} if calls else {}),
                         **({"tool_call_id": message["tool_call_id"], "name": message.get("name")} if role == "tool" else {})})
    if waiting:
        raise _unanswered(waiting, len(messages))
    return messages, tools(body)


def tools(body: dict) -> list[dict]:
    """The tool definitions of a request, checked."""
    found = filled(typed(body["tools"], list, "tools"), "tools") if body.get("tools") is not None else []
    for i, t in enumerate(found):
        one_of(required(typed(t, dict, f"tools[{i}]"), "type", str, f"tools[{i}]."), ("function",), f"tools[{i}].type")
        function = required(t, "function", dict, f"tools[{i}].")
        tool_name(required(function, "name", str, f"tools[{i}].function."), f"tools[{i}].function.name")
    return found


def _call(c, where: str) -> dict:
    known_only(typed(c, dict, where), frozenset({"id", "type", "function", "extra_content"}), f"{where}.")
    required(c, "id", str, f"{where}.")
    one_of(required(c, "type", str, f"{where}."), ("function",), f"{where}.type")
    function = required(c, "function", dict, f"{where}.")
    tool_name(required(function, "name", str, f"{where}.function."), f"{where}.function.name")
    required(function, "arguments", str, f"{where}.function.")
    return {"id": c["id"], "type": "function", "function": {"name": function["name"], "arguments": function["arguments"]}}


def _unanswered(waiting, i) -> Refusal:
    return Refusal("An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following "
                   f"tool_call_ids did not have response messages: {', '.join(waiting)}", f"messages.[{i}].role")


def stream_error(refusal: Refusal) -> tuple:
    """The event that tells of an error in the middle of a stream."""
    return None, error(refusal)


def _finish(reply: Reply) -> str:
    if reply.truncated:
        return "length"
    if reply.stop_reason == "content_filter":
        return "content_filter"
    return "tool_calls" if reply.tool_calls else "stop"


def _refuses(reply: Reply) -> bool:
    return reply.refused and reply.stop_reason != "content_filter"


def whole(body: dict, reply: Reply, usage: Usage | None) -> dict:
    """The reply in one piece."""
    said, carried = reply.as_message(), (reply.extra or {}).get("chat", {})
    message = {"role": "assistant", "content": None if _refuses(reply) else said["content"], "refusal": said["content"] if _refuses(reply) else None,
               **{k: v for k, v in carried.items() if k != "calls"}}
    if reply.tool_calls:
        message["tool_calls"] = [{**c, **({"extra_content": e} if e else {})}
                                 for c, e in zip(said["tool_calls"], carried.get("calls") or [None] * len(said["tool_calls"]))]
    return {"id": "chatcmpl-scripted", "object": "chat.completion", "created": 0, "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": _finish(reply), "logprobs": None}],
            **({"usage": report_of(usage)} if usage else {})}


def events(body: dict, reply: Reply, usage: Usage | None, size: int = 8):
    """The reply as chunks of `size` characters: (None, data) each."""
    wants_usage = (body.get("stream_options") or {}).get("include_usage")
    carried = (reply.extra or {}).get("chat", {})

    def chunk(delta, finish=None, **more):
        return None, {"id": "chatcmpl-scripted", "object": "chat.completion.chunk", "created": 0, "model": body["model"],
                      "choices": [{"index": 0, "delta": delta, "finish_reason": finish, "logprobs": None}],
                      **({"usage": None} if wants_usage and usage else {}), **more}

    yield chunk({"role": "assistant", "content": None if reply.tool_calls else "", "refusal": None})
    yield from (chunk({k: v}) for k, v in carried.items() if k != "calls")
    for delta in deltas(reply, size):
        if "content" in delta:
            yield chunk({"refusal": delta["content"]} if _refuses(reply) else delta)
        elif "tool_calls" in delta:
            part = delta["tool_calls"][0]
            extra = carried["calls"][part["index"]] if carried.get("calls") and "id" in part else None
            yield chunk({"tool_calls": [{**part, **({"extra_content": extra} if extra else {})}]})
    yield chunk({}, _finish(reply))
    if wants_usage and usage:
        yield chunk({}, choices=[], usage=report_of(usage))
    yield None, "[DONE]"
