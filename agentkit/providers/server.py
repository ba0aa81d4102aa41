"""A scripted model behind a real HTTP endpoint on this machine, which speaks Chat Completions, Responses and Messages.

    with serve([call("get_order", order_id="A123"), "It is a keyboard."]) as server:
        model = OpenAIChat("scripted", base_url=server.url)

It refuses what a strict provider refuses, in the provider's own words and error shape, and keeps every request.
"""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace

from ..messages import Reply, Usage, check_messages, to_text
from ..models import ScriptedModel, as_reply
from ..tokens import rough_tokens
from .endpoint import Handler, Http
from .faults import Fault, entries_of
from .refusal import Refusal

__all__ = ["Fault", "Server", "entries_of", "serve"]


def serve(script: Iterable | Callable, port: int = 0, repeat: bool = False) -> Server:
    """A server for a script (or any other model), to use in a `with` block. Port 0 is any free one."""
    return Server(script, port, repeat)


class Server:
    """The endpoint. `url` is its address and `requests` is what it was sent: dicts with api, path, body and status."""

    def __init__(self, script: Iterable | Callable, port: int = 0, repeat: bool = False):
        entries = [] if callable(script) else list(script)
        self.model = script if callable(script) else ScriptedModel([e.reply if isinstance(e, Fault) else e for e in entries], repeat=repeat)
        self._faults = [e if isinstance(e, Fault) else None for e in entries]
        self._lock = threading.Lock()
        self._port = port
        self.stopping = threading.Event()
        self.connections: set = set()
        self.requests: list[dict] = []
        self._http = self._thread = None

    @property
    def url(self) -> str:
        """The address. OpenAI's clients also find it with /v1 behind it."""
        if self._http is None:
            raise RuntimeError("the server is not running: use it in a `with` block, or call start()")
        return f"http://127.0.0.1:{self._http.server_address[1]}"

    def start(self) -> Server:
        """Listen, on the loopback address only."""
        self.stopping.clear()
        self._http = Http(("127.0.0.1", self._port), Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
        self._thread.start()
        return self

    def stop(self) -> None:
        """Stop listening, and hang up on whoever is connected."""
        if self._http is None:
            return
        self.stopping.set()
        self._http.shutdown()
        self._http.server_close()
        for connection in list(self.connections):
            try:
                connection.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass        # it has gone already
        self._thread.join()
        self._http = None

    def __enter__(self) -> Server:
        return self.start()

    def __exit__(self, *_):
        self.stop()

    def answer(self, messages: list[dict], tools: list[dict]) -> tuple[Reply, Fault | None]:
        """The next entry of the script, with ids and a usage, as every provider's reply has them. Raises Refusal."""
        try:
            check_messages(messages)
        except ValueError as error:
            raise Refusal(str(error), "messages") from None
        with self._lock:        # one after another: the script is a list, in order
            reply = as_reply(self.model(messages, tools))
            n = getattr(self.model, "calls", 1) - 1
        fault = self._faults[n % len(self._faults)] if self._faults else None
        return _complete(reply, messages), fault


def _complete(reply: Reply, messages: list[dict]) -> Reply:
    """The reply with an id for every call and a usage; the ids are those that a run would give."""
    used = {c["id"] for m in messages for c in m.get("tool_calls", ())}
    calls = []
    for call in reply.tool_calls:
        if not call.id or call.id in used:
            n = len(used) + 1
            while f"call_{n}" in used:
                n += 1
            call = replace(call, id=f"call_{n}")
        used.add(call.id)
        calls.append(call)
    usage = reply.usage or Usage(rough_tokens(json.dumps(messages)), rough_tokens(to_text(reply.as_message())))
    return replace(reply, tool_calls=tuple(calls), usage=usage)
