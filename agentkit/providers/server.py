"""A scripted model behind a real HTTP endpoint on this machine, which speaks Chat Completions, Responses and Messages.

    with serve([call("get_order", order_id="A123"), "It is a keyboard."]) as server:
        model = OpenAIChat("scripted", base_url=server.url)

It refuses what a strict provider refuses, in the provider's own words and error shape, and keeps every request.
"""

from __future__ import annotations

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterable
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from ..messages import Reply, Usage, check_messages, to_text
from ..models import ScriptedModel, as_reply
from ..tokens import rough_tokens
from . import speaks_chat, speaks_messages, speaks_responses
from .faults import Fault, entries_of
from .refusal import Refusal

__all__ = ["Fault", "Server", "serve"]

_DIALECTS = {"/chat/completions": speaks_chat, "/responses": speaks_responses, "/messages": speaks_messages}


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
        self._http = _Http(("127.0.0.1", self._port), _Handler)
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


class _Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False      # idle connections are kept open, and nobody waits for them
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that hangs up is no news; anything else is."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"       # connections are kept, or every call would pay for a new one
    disable_nagle_algorithm = True      # or small writes wait for each other
    wbufsize = 1 << 16                  # headers and body leave together
    timeout = 600

    def setup(self):
        super().setup()
        self.server.owner.connections.add(self.connection)

    def finish(self):
        self.server.owner.connections.discard(self.connection)
        super().finish()

    def log_message(self, *_):
        """Requests are kept, not printed."""

    def do_GET(self):
        if self.path.rstrip("/").endswith("/models"):
            return self.send(200, {"object": "list", "data": [{"id": "scripted", "object": "model", "created": 0, "owned_by": "agentkit"}]})
        self.send(404, speaks_chat.error(Refusal(f"Unknown request URL: GET {self.path}.", code="unknown_url", status=404)))

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        path = self.path.split("?")[0].rstrip("/")
        path = path[3:] if path.startswith("/v1/") else path
        dialect = _DIALECTS.get(path, speaks_chat)
        request = {"api": dialect.API if path in _DIALECTS else None, "path": self.path, "body": to_text(raw.decode("utf-8", "replace")), "status": None}
        self.server.owner.requests.append(request)
        try:
            if path not in _DIALECTS:
                raise Refusal(f"Unknown request URL: POST {self.path}.", code="unknown_url", status=404)
            body = request["body"] = _json(raw)
            messages, tools = dialect.read(body)
            reply, fault = self.server.owner.answer(messages, tools)
            if fault and fault.status:
                raise Refusal(fault.message or fault.words, status=fault.status, retry_after=fault.retry_after)
        except Refusal as refusal:
            request["status"] = refusal.status
            wait = {} if refusal.retry_after is None else {"Retry-After": f"{refusal.retry_after:g}"}
            return self.send(refusal.status, dialect.error(refusal), wait)
        except Exception as error:      # the script's own: it ran out, or one of its functions failed
            request["status"] = 500
            return self.send(500, dialect.error(Refusal(f"{type(error).__name__}: {error}", status=500)))
        request["status"] = 200
        self.speak(dialect, body, reply, fault or Fault())

    def speak(self, dialect, body: dict, reply: Reply, fault: Fault) -> None:
        """Send the reply in the dialect, as far as the fault lets it."""
        if fault.delay:
            self.server.owner.stopping.wait(fault.delay)
        usage = {None: reply.usage, "missing": None, "zeros": Usage(0, 0)}[fault.usage]
        if fault.body is not None:
            self.send(200, fault.body.encode())
        elif body.get("stream"):
            self.stream(dialect.events(body, reply, usage), fault)
        else:
            self.send(200, dialect.whole(body, reply, usage), cut=fault.cut is not None)

    def send(self, status: int, body: dict | bytes, headers: dict = {}, cut: bool = False) -> None:
        """One answer; cut off, it promises more than it sends."""
        data = body if isinstance(body, bytes) else json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"Content-Type": "application/json", "Content-Length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data[:len(data) // 2] if cut else data)
        self.close_connection = self.close_connection or cut

    def stream(self, events, fault: Fault) -> None:
        """Server-sent events; cut off, the line goes dead or the stream ends as if all were said."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        for i, (name, data) in enumerate(events):
            if i == fault.cut:
                break
            text = (f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text.encode()), text.encode()))
        if fault.cut is not None and fault.hang_up:
            self.close_connection = True
        else:
            self.wfile.write(b"0\r\n\r\n")


def _json(raw: bytes) -> dict:
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError):
        body = None
    if not isinstance(body, dict):
        raise Refusal("We could not parse the JSON body of your request. The API expects a JSON object.")
    return body
