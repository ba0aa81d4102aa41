"""What the adapters share: the official client, requests as ready bytes, and one kind of error."""

from __future__ import annotations

import importlib
import ipaddress
import os
from collections.abc import Iterable, Iterator
from email.utils import parsedate_to_datetime
from time import time
from urllib.parse import urlsplit

from ..messages import Reply
from ..streaming import Assembler
from .history import History, PerThread, encode


class ProviderError(Exception):
    """A provider refused or failed. `status` is the HTTP status, None where no answer came; `retry_after` is the wait it asked for, in seconds."""

    def __init__(self, message: str, status: int | None = None, retry_after: float | None = None):
        super().__init__(message)
        self.status, self.retry_after = status, retry_after


class ProviderTimeout(ProviderError, TimeoutError):
    """No answer in time."""


class ProviderUnreachable(ProviderError, ConnectionError):
    """No connection, or one that broke off."""


class Provider:
    """A model behind an HTTP API. A subclass says how a message, the fields and the answer of its API look.

    The official clients rebuild every message of a request on every call, which costs more with every step of a run.
    `client.post(content=...)` is their way to send a body that is ready, with their authentication and connections, so
    here each message is translated and encoded once, and the answer comes back as plain dicts.
    """

    package = client_class = key = path = history_field = ""
    merges_users = False

    def __init__(self, model: str, base_url: str | None = None, client=None, stream: bool = False, max_tokens: int | None = None,
                 timeout: float = 600.0, **options):
        if not isinstance(model, str) or not model.strip():
            raise ValueError(f"{type(self).__name__} needs the name of a model, as the provider spells it, not {model!r}")
        self.name, self.streams, self.max_tokens, self.timeout, self.options = model, stream, max_tokens, timeout, options
        self.client = self._connect(base_url) if client is None else client
        self.history = PerThread(lambda: History(self.translate, self.merges_users))

    def __call__(self, messages: list[dict], tools: list[dict] = ()) -> Reply:
        whole = Assembler()
        for piece in self.stream(messages, tools) if self.streams else self.whole(self._post(self.body(messages, tools), False)):
            whole.add(piece)
        return whole.reply()

    def stream(self, messages: list[dict], tools: list[dict] = ()) -> Iterator[dict]:
        """The reply in pieces, as they come. Raises ProviderError where the stream ends before the reply does."""
        ended = False
        for piece in self.pieces(self._events(self.body(messages, tools, stream=True))):
            ended = ended or bool(piece.get("finish_reason"))
            yield piece
        if not ended:
            raise ProviderUnreachable("the stream ended before the reply was whole")

    def close(self) -> None:
        """Close the connections."""
        self.client.close()

    # ---- what a subclass says ----

    def translate(self, message: dict) -> Iterable[dict]:
        """What one message of the list is in this API."""
        raise NotImplementedError

    def fields(self, messages: list[dict], tools: list[dict], stream: bool) -> dict:
        """The body of a request without the history."""
        raise NotImplementedError

    def whole(self, response: dict) -> Iterable[dict]:
        """An answer that is not streamed, as pieces."""
        raise NotImplementedError

    def pieces(self, events: Iterable[dict]) -> Iterable[dict]:
        """The events of a stream, as pieces."""
        raise NotImplementedError

    # ---- the wire ----

    def body(self, messages: list[dict], tools: list[dict] = (), stream: bool = False) -> bytes:
        """A request, ready to send. An option of None leaves a field out."""
        fields = {**self.fields(messages, tools, stream), **self.options}
        head = encode({k: v for k, v in fields.items() if v is not None})
        text = f'{head[:-1]},"{self.history_field}":[{",".join(self.history.value.update(messages))}]}}'
        return text.encode("utf-8", "replace")      # half of a surrogate pair cannot be sent

    def _connect(self, base_url):
        sdk = self._sdk()
        local = on_this_machine(base_url or os.environ.get(self.key.replace("API_KEY", "BASE_URL")))
        secret = "none" if local else os.environ.get(self.key, "").strip()     # a key is for its provider alone
        if not secret:
            raise RuntimeError(f"{self.key} is not set: set it in the environment that Python starts in (a key stands in no code and no "
                               "notebook), or pass the base_url= of a server on this machine, which needs none")
        # Retries belong to the harness, which counts them; a proxy has no business with this machine.
        direct = {"http_client": sdk.DefaultHttpxClient(trust_env=False)} if local else {}
        return getattr(sdk, self.client_class)(api_key=secret, base_url=base_url, max_retries=0, timeout=self.timeout, **direct)

    def _sdk(self):
        try:
            return importlib.import_module(self.package)
        except ImportError:
            raise ImportError(f"{type(self).__name__} needs the official client: pip install {self.package}") from None

    def _post(self, body: bytes, stream: bool):
        options = {"headers": {"Content-Type": "application/json"}, "timeout": self.timeout}
        more = {"stream": True, "stream_cls": self._sdk().Stream[object]} if stream else {}
        try:
            found = self.client.post(self.path, cast_to=object, content=body, options=options, **more)
        except Exception as error:
            raise as_provider_error(error) from error
        if not stream and not isinstance(found, dict):
            raise ProviderError(f"the answer is no JSON object: {found!r:.200}")
        return found

    def _events(self, body: bytes) -> Iterator[dict]:
        stream = self._post(body, True)
        try:
            for event in stream:
                if isinstance(event, dict):
                    yield event
        except GeneratorExit:
            raise
        except Exception as error:
            raise as_provider_error(error) from error
        finally:
            stream.close()


def as_provider_error(error: Exception) -> Exception:
    """What a client raised, as a ProviderError; a mistake of the programmer's stays as it is."""
    kinds = {c.__name__ for c in type(error).__mro__}      # by name: clients change the HTTP library under them
    status, response = getattr(error, "status_code", None), getattr(error, "response", None)
    if kinds & {"TimeoutException", "APITimeoutError"}:
        return ProviderTimeout(f"no answer in time ({type(error).__name__})")
    if kinds & {"TransportError", "APIConnectionError"}:
        return ProviderUnreachable(f"the connection failed ({error.__cause__ or error})")
    if "JSONDecodeError" in kinds:
        return ProviderError(f"the answer is not JSON ({error})")
    if "APIError" not in kinds:
        return error
    body = getattr(error, "body", None)
    inner = body.get("error", body) if isinstance(body, dict) else {}
    inner = inner if isinstance(inner, dict) else {}
    if not status or status < 400:      # it came in the middle of a stream that had begun well
        status = status_of(inner.get("type"))
    return ProviderError(f"{status or 'error'}: {inner.get('message') or error}", status, _wait(getattr(response, "headers", None) or {}))


def status_of(kind: str | None) -> int | None:
    """The HTTP status that a kind of error has where it is not told in the middle of a stream."""
    return {"rate_limit_error": 429, "rate_limit_exceeded": 429, "server_error": 500, "api_error": 500, "overloaded_error": 529}.get(kind)


def _wait(headers) -> float | None:
    """Retry-After in seconds: a number or a date."""
    said = headers.get("retry-after")
    try:
        return max(0.0, float(said))
    except (TypeError, ValueError):
        pass
    try:
        return max(0.0, parsedate_to_datetime(said).timestamp() - time())
    except (TypeError, ValueError):
        return None


def on_this_machine(url: str | None) -> bool:
    """True for the loopback address, which is nobody else's machine."""
    host = urlsplit(url or "").hostname or ""
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
