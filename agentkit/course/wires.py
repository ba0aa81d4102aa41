"""One exchange as each API writes it: the request, the answer whole or streamed, and the Reply it becomes. No network.

The translations are those of agentkit.providers, both sides of the wire: an adapter writes the request and reads the
answer, the local server's dialect writes the answer.
"""

import json
from dataclasses import dataclass

from agentkit import Registry, Reply, ToolCall, Usage
from agentkit.messages import tool_message
from agentkit.providers import AnthropicMessages, OpenAIChat, OpenAIResponses, speaks_chat, speaks_messages, speaks_responses
from agentkit.streaming import assemble

from . import shop

APIS = {"Chat Completions": (OpenAIChat, speaks_chat), "Responses": (OpenAIResponses, speaks_responses), "Messages": (AnthropicMessages, speaks_messages)}
TASK = [{"role": "system", "content": shop.SYSTEM}, {"role": "user", "content": shop.GST_TASK}]
LOOK_UP, OTHER = (ToolCall(i, "get_order", json.dumps({"order_id": order})) for i, order in (("call_1", "A123"), ("call_2", "B456")))
USAGE = Usage(input_tokens=170, output_tokens=18, cached_tokens=128)     # made up, the same in every reply here
KINDS = {
    "one call": Reply("I look it up.", LOOK_UP, USAGE),
    "two calls": Reply(None, (LOOK_UP, OTHER), USAGE),
    "a text": Reply("Order A123 costs 5900.0 rupees with 18% GST.", usage=USAGE),
    "cut off": Reply("Order A123 costs 59", usage=USAGE, stop_reason="length"),
    "refused": Reply("I cannot help with that.", usage=USAGE, stop_reason="refusal"),
}
HISTORY = [*TASK, KINDS["one call"].as_message(), tool_message("call_1", "get_order", json.dumps(shop.ORDERS["A123"]))]


@dataclass(frozen=True)
class Exchange:
    """What goes up, what comes down, and what the harness gets."""

    path: str
    request: dict
    answer: dict | None         # an answer in one piece
    events: tuple | None        # or its events: (name, data) each
    reply: Reply

    @property
    def wire(self) -> str:
        """The answer as it comes over the wire."""
        return json.dumps(self.answer) if self.events is None else "".join(_lines(name, data) for name, data in self.events)


def exchange(api: str, kind: str, streamed: bool = False, size: int = 8) -> Exchange:
    """One call of a model behind this API, which answers with a reply of this kind, streamed in pieces of `size` characters or whole."""
    adapter, dialect = APIS[api]
    model = adapter("scripted", client=object(), max_tokens=300)       # nothing is sent, so it needs no client
    messages = HISTORY if kind == "a text" else TASK
    request = json.loads(model.body(messages, Registry([shop.get_order]).definitions(), stream=streamed))
    reply, path = KINDS[kind], model.path if model.path.startswith("/v1") else "/v1" + model.path
    if streamed:
        events = tuple(dialect.events(request, reply, reply.usage, size))
        return Exchange(path, request, None, events, assemble(model.pieces(data for _, data in events if isinstance(data, dict))))
    answer = dialect.whole(request, reply, reply.usage)
    return Exchange(path, request, answer, None, assemble(model.whole(answer)))


def gist(reply: Reply) -> tuple:
    """What of a reply a run looks at. The APIs have words of their own for why it ended; what they mean is the same."""
    return reply.text, reply.tool_calls, reply.usage, reply.truncated, reply.refused


def spread(value, width: int = 60, indent: int = 0, before: int = 0) -> str:
    """JSON text that is broken only where it does not fit into `width` characters; brackets take no line of their own.

    It stands `indent` characters in, after the `before` characters of its name.
    """
    flat = json.dumps(value, ensure_ascii=False)
    if len(flat) + indent + before <= width or not isinstance(value, (dict, list)) or not value:
        return flat
    named = [(json.dumps(k, ensure_ascii=False) + ": ", v) for k, v in value.items()] if isinstance(value, dict) else [("", v) for v in value]
    opening, closing = "{}" if isinstance(value, dict) else "[]"
    return opening + f",\n{' ' * (indent + 1)}".join(name + spread(v, width, indent + 2, len(name)) for name, v in named) + closing


def _lines(name: str | None, data) -> str:
    """One server-sent event, as the local server writes it."""
    return (f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"


# what it is, and where it stands in a request ("up") or an answer ("down") of each API
PLACES = (
    ("your rules", "up", "messages.0", "input.0", "system"),
    ("the task", "up", "messages.1", "input.1", "messages.0"),
    ("a tool", "up", "tools.0", "tools.0", "tools.0"),
    ("the model's words", "down", "choices.0.message.content", "output.0.content", "content.0"),
    ("its call", "down", "choices.0.message.tool_calls.0", "output.1", "content.1"),
    ("why it stopped", "down", "choices.0.finish_reason", "status", "stop_reason"),
    ("tokens", "down", "usage", "usage", "usage"),
    ("the call, sent back", "up", "messages.2", "input.3", "messages.1.content.1"),
    ("its result", "up", "messages.3", "input.4", "messages.2.content.0"),
)


def places() -> list[tuple]:
    """(what it is, up or down, {api: (where it stands, what stands there)}) of one exchange, read from real bodies."""
    down = {api: exchange(api, "one call").answer for api in APIS}
    up = {api: exchange(api, "a text").request for api in APIS}
    return [(what, way, {api: (path, _at((up if way == "up" else down)[api], path)) for api, path in zip(APIS, paths)}) for what, way, *paths in PLACES]


def _at(body, path: str):
    for step in path.split("."):
        body = body[int(step) if step.isdigit() else step]
    return body
