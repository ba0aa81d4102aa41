"""OpenAI's Chat Completions API, and every server that speaks it: Ollama, llama.cpp, vLLM and others, through base_url."""

from __future__ import annotations

import json
from collections.abc import Iterable
from urllib.parse import urlsplit

from ..streaming import deltas_of
from .history import object_or_wrapped, wire_name
from .responses import OpenAIResponses
from .wire import Provider, ProviderError

__all__ = ["OpenAIChat", "OpenAIResponses"]


class OpenAIChat(Provider):
    """A model behind Chat Completions. `options` go into the request as they are (temperature=0, tool_choice="auto", ...)."""

    package, client_class, key = "openai", "OpenAI", "OPENAI_API_KEY"
    path, history_field = "/chat/completions", "messages"

    @property
    def _at_openai(self) -> bool:
        return urlsplit(str(getattr(self.client, "base_url", ""))).hostname == "api.openai.com"

    def fields(self, messages, tools, stream):
        limit = "max_completion_tokens" if self._at_openai else "max_tokens"    # the newer name is not known everywhere
        return {"model": self.name, "tools": list(tools) or None, limit: self.max_tokens,
                **({"stream": True, "stream_options": {"include_usage": True}} if stream else {})}

    def translate(self, message):
        role, content, carried = message["role"], message.get("content"), (message.get("extra") or {}).get("chat") or {}
        if role == "tool":
            name = {} if self._at_openai else {"name": wire_name(message.get("name") or "")}    # some servers' templates want it
            return [{"role": role, "tool_call_id": message["tool_call_id"], "content": content, **name}]
        if role != "assistant":
            return [{"role": role, "content": content}]
        calls = [{"id": c["id"], "type": "function", "function": {"name": wire_name(c["function"]["name"]), "arguments": self._arguments(c)}}
                 for c in message.get("tool_calls", ())]
        for call, extra in zip(calls, carried.get("calls", ())):
            call.update({"extra_content": extra} if extra else {})
        thoughts = {field: text for field, text in carried.items() if field != "calls"}
        return [{"role": role, "content": content, **thoughts, **({"tool_calls": calls} if calls else {})}] if content or calls else []

    def _arguments(self, call) -> str:
        """OpenAI takes back whatever its model wrote; other servers parse it for their templates, and fail on what is no JSON."""
        text = call["function"]["arguments"]
        if self._at_openai:
            return text
        parsed = object_or_wrapped(text)
        return json.dumps(parsed) if "INVALID_JSON" in parsed else text

    def whole(self, response):
        if not response.get("choices"):
            raise ProviderError(f"the answer has no choices: {response!r:.200}")
        return [response]

    def pieces(self, events: Iterable[dict]):
        for event in events:
            yield from deltas_of(event if "choices" in event else {**event, "choices": []})
