"""OpenAI's Responses API: a list of items instead of messages, and reasoning items that are sent back unread."""

from __future__ import annotations

from collections.abc import Iterable

from .history import arrange, wire_name
from .wire import Provider, ProviderError, status_of

_ENDINGS = {"max_output_tokens": "length", "max_tokens": "length", "content_filter": "content_filter"}


class OpenAIResponses(Provider):
    """A model behind the Responses API. `options` go into the request as they are (reasoning={"effort": "low"}, store=False, ...)."""

    package, client_class, key = "openai", "OpenAI", "OPENAI_API_KEY"
    path, history_field = "/responses", "input"

    def fields(self, messages, tools, stream):
        # This API is strict about schemas unless it is told otherwise, and refuses optional arguments then.
        functions = [{"type": "function", "strict": False, **t["function"]} for t in tools]
        return {"model": self.name, "tools": functions or None, "max_output_tokens": self.max_tokens, "stream": stream or None}

    def translate(self, message):
        role, content = message["role"], message.get("content")
        if role == "tool":
            return [{"type": "function_call_output", "call_id": message["tool_call_id"], "output": content}]
        if role != "assistant":
            return [{"role": role, "content": content}]
        calls = [{"type": "function_call", "call_id": c["id"], "name": wire_name(c["function"]["name"]), "arguments": c["function"]["arguments"]}
                 for c in message.get("tool_calls", ())]
        return arrange((message.get("extra") or {}).get("responses"), {"role": role, "content": content} if content else None, calls)

    def whole(self, response):
        output = response.get("output")
        if not isinstance(output, list):
            raise ProviderError(f"the answer has no output: {response!r:.200}")
        for i, item in enumerate(output):
            yield from _pieces_of(i, item)
        yield from _ending(response, output)

    def pieces(self, events: Iterable[dict]):
        items, told = {}, set()
        for event in events:
            kind, i = event.get("type"), event.get("output_index")
            if kind == "response.output_text.delta":
                told.add(i)
                yield {"content": event["delta"]}
            elif kind == "response.refusal.delta":
                told.add(i)
                yield {"refusal": event["delta"]}
            elif kind == "response.output_item.added" and event["item"].get("type") == "function_call":
                yield _call_piece(i, event["item"], "")
            elif kind == "response.function_call_arguments.delta":
                told.add(i)
                yield {"tool_calls": [{"index": i, "function": {"arguments": event["delta"]}}]}
            elif kind == "response.output_item.done":
                items[i] = event["item"]
                if i not in told:       # some servers send an item only when it is whole
                    yield from _pieces_of(i, event["item"])
            elif kind in ("response.completed", "response.incomplete", "response.failed"):
                yield from _ending(event["response"], [items[k] for k in sorted(items)])
            elif kind == "error":
                raise _failure(event)


def _pieces_of(i: int, item: dict):
    """One output item, as pieces."""
    if item.get("type") == "function_call":
        yield _call_piece(i, item, item.get("arguments"))
    elif item.get("type") == "message":
        for part in item.get("content") or ():
            yield {"refusal": part["refusal"]} if part.get("type") == "refusal" else {"content": part.get("text")}


def _call_piece(i: int, item: dict, arguments):
    return {"tool_calls": [{"index": i, "id": item.get("call_id"), "function": {"name": item.get("name"), "arguments": arguments}}]}


def _ending(response: dict, output: list[dict]):
    """Why it ended, what it cost, and what has to be sent back unread."""
    if response.get("status") == "failed":
        raise _failure(response)
    shape = [_stub(item) for item in output]
    if any(part.keys() != {"type"} for part in shape):
        yield {"extra": {"responses": shape}}
    reason = (response.get("incomplete_details") or {}).get("reason")
    if response.get("status") == "incomplete":
        yield {"finish_reason": _ENDINGS.get(reason, "truncated")}
    else:
        yield {"finish_reason": "tool_calls" if any(item.get("type") == "function_call" for item in output) else "stop"}
    usage = response.get("usage") or {}
    yield {"usage": {"prompt_tokens": usage.get("input_tokens"), "completion_tokens": usage.get("output_tokens"),
                     "prompt_tokens_details": usage.get("input_tokens_details")}}


def _stub(item: dict) -> dict:
    """What of an item the message list has no place for."""
    if item.get("type") == "function_call":
        return {"type": "function_call"}
    if item.get("type") == "message":
        return {"type": "message", **({"phase": item["phase"]} if item.get("phase") else {})}
    return item


def _failure(told: dict) -> ProviderError:
    error = told.get("error") or told
    status = status_of(error.get("code"))
    return ProviderError(f"{status or error.get('code') or 'error'}: {error.get('message') or str(error)[:200]}", status)
