"""The HTTP side of the local server: reads a request, has it answered, and sends the answer as well as its fault lets it."""

from __future__ import annotations

import json
import sys
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from itertools import chain, islice

from ..messages import Reply, Usage, to_text
from . import speaks_chat, speaks_messages, speaks_responses
from .faults import Fault
from .refusal import Refusal

_DIALECTS = {"/chat/completions": speaks_chat, "/responses": speaks_responses, "/messages": speaks_messages}


class Http(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False      # idle connections are kept open, and nobody waits for them
    request_queue_size = 128

    def handle_error(self, request, client_address):
        """A client that hangs up is no news; anything else is."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Handler(BaseHTTPRequestHandler):
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
            if fault and fault.status and not (body.get("stream") and fault.cut is not None):
                raise fault.refusal
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
            self.stream(dialect.events(body, reply, usage), fault, dialect)
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

    def stream(self, events, fault: Fault, dialect) -> None:
        """Server-sent events; cut off, an error follows, or the line goes dead, or the stream ends as if all were said."""
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        events = islice(events, fault.cut)
        for name, data in chain(events, [dialect.stream_error(fault.refusal)] if fault.status else []):
            text = (f"event: {name}\n" if name else "") + f"data: {data if isinstance(data, str) else json.dumps(data)}\n\n"
            self.wfile.write(b"%x\r\n%s\r\n" % (len(text.encode()), text.encode()))
        if fault.cut is not None and fault.hang_up and not fault.status:
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
