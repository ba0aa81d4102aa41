"""Retries: what may be tried again, how long to wait before, and how often. What will not pass by itself is not retried."""

from __future__ import annotations

import errno
import random
import socket
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import timezone
from email.utils import parsedate_to_datetime
from functools import wraps

from .tools import Tool, describe
from .workers import run_together

# HTTP: time-out, too early, too many requests; and every 5xx but "not implemented" and "version not supported".
PASSING, LASTING = {408, 425, 429}, {501, 505}
# Exceptions of clients that are not imported here, by the name of a class that they stem from.
PASSING_NAMES = {"TimeoutError", "Timeout", "TimeoutException", "APITimeoutError", "ReadTimeoutError", "ConnectionError", "APIConnectionError",
                 "TransportError", "ClientConnectionError", "NewConnectionError", "ProtocolError", "IncompleteRead"}
LASTING_NAMES = {"SSLError", "CertificateError", "UnsupportedProtocol", "LocalProtocolError", "ClientConnectorCertificateError"}
PASSING_ERRNOS = {errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.EAGAIN, socket.EAI_AGAIN}    # the last: no name server


class Transient(Exception):
    """Raise it in a tool for a failure that may pass by itself. `retry_after`: seconds that must pass first."""

    def __init__(self, *args, retry_after: float | None = None):
        super().__init__(*args)
        self.retry_after = retry_after


class GaveUp(Exception):
    """The last error of a call that was retried; its text says how often. `last` is that error, `attempts` the number."""

    def __init__(self, last: Exception, attempts: int, why: str = ""):
        super().__init__(f"{describe(last)} (tried {_times(attempts)}{why})")
        self.last, self.attempts = last, attempts


def worth_retrying(error: BaseException) -> bool:
    """True for what may pass by itself: a time-out, a lost connection, a rate limit, a server that is unwell.

    Asked in this order: our own words, the server's word, the HTTP status, the type. What is not known is permanent.
    """
    if isinstance(error, Transient):
        return True
    if not isinstance(error, Exception) or isinstance(error, GaveUp):   # layers of retries multiply
        return False
    if (said := _headers(error).get("x-should-retry")) in ("true", "false"):
        return said == "true"
    if any(repr(_look(e, "code")) == "'insufficient_quota'" for e in (error, error.__cause__)):
        return False                        # a 429 that no waiting mends
    if (status := status_of(error)) is not None:
        return status in PASSING or status >= 500 and status not in LASTING
    if isinstance(reason := _look(error, "reason"), Exception):         # urllib wraps what happened
        return worth_retrying(reason)
    names = {c.__name__ for c in type(error).__mro__}
    known = isinstance(error, (TimeoutError, ConnectionError)) or _look(error, "errno") in PASSING_ERRNOS
    return (known or bool(names & PASSING_NAMES)) and not names & LASTING_NAMES


def status_of(error: BaseException) -> int | None:
    """The HTTP status of an error (400 to 599), wherever its client keeps it."""
    response = _look(error, "response")
    for found in (_look(error, "status_code"), _look(error, "status"), _look(error, "code"),
                  _look(response, "status_code"), _look(response, "status")):
        if isinstance(found, int) and 400 <= found <= 599:
            return int(found)
    return None


def retry_after(error: BaseException | None, now: float) -> float | None:
    """The seconds that a server has asked to wait: a number, or a date from which `now` (seconds since 1970) is taken."""
    headers = _headers(error)
    for said, unit in ((_look(error, "retry_after"), 1), (headers.get("retry-after-ms"), 0.001), (headers.get("retry-after"), 1)):
        try:
            if 0 <= float(said) < float("inf"):
                return float(said) * unit
        except (TypeError, ValueError, OverflowError):
            try:
                date = parsedate_to_datetime(said)      # HTTP dates are in GMT, named or not
                return max(0.0, (date if date.tzinfo else date.replace(tzinfo=timezone.utc)).timestamp() - now)
            except (TypeError, ValueError, OverflowError, AttributeError, IndexError):
                continue
    return None


@dataclass(frozen=True)
class Retry:
    """How often a call is tried, and how long is waited in between.

    The wait before attempt n + 1 is base * factor ** (n - 1), at most `cap`, at least what the server asked for, and
    then up to `jitter` times as much again, by chance. Jitter only adds: nobody comes back sooner than they were told to.
    """

    attempts: int = 4               # in all, the first one included
    base: float = 1.0               # seconds before the second attempt
    factor: float = 2.0             # each wait is this many times the one before
    cap: float = 30.0               # seconds; the longest wait of our own choice, before jitter
    jitter: float = 1.0             # 0 is none, 1 is up to twice the wait
    longest: float = 60.0           # seconds; a server that asks for more is not waited for
    worth: Callable = worth_retrying                # error -> bool
    on_retry: Callable | None = None                # (attempt that failed, error, seconds), before each wait
    sleep: Callable = time.sleep
    random: Callable = random.random                # a number from 0 up to 1
    clock: Callable = time.time                     # seconds since 1970, for a Retry-After that is a date

    def __post_init__(self):
        if isinstance(self.attempts, bool) or not isinstance(self.attempts, int) or self.attempts < 1:
            raise ValueError(f"Retry: attempts counts the first one too, so it is a whole number of at least 1, not {self.attempts!r}")
        for field, least, why in (("base", 0, ""), ("factor", 1, ""), ("cap", 0, ""), ("longest", 0, ""),
                                  ("jitter", 0, "; jitter only adds, or a client comes back before it may")):
            value = getattr(self, field)
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not least <= value < float("inf"):
                raise ValueError(f"Retry: {field} must be a number of at least {least}, not {value!r}{why}")

    def delay(self, attempt: int, error: BaseException | None = None) -> float:
        """Seconds to wait when this attempt (1, 2 ...) has failed."""
        try:
            wait = min(self.cap, self.base * self.factor ** (attempt - 1))
        except OverflowError:
            wait = self.cap
        floor = retry_after(error, self.clock()) or 0.0
        return max(wait, floor) * (1 + self.jitter * self.random())

    def call(self, fn: Callable, /, *args, **kwargs):
        """fn(*args, **kwargs), tried again while it is worth it.

        A permanent error passes at once and unchanged; the last transient one passes as GaveUp.
        """
        for attempt in range(1, self.attempts + 1):         # counted before it is tried
            try:
                return fn(*args, **kwargs)
            except Exception as error:
                if not self.worth(error):
                    raise
                if too_long := self._too_long(error):
                    raise GaveUp(error, attempt, too_long) from error
                if attempt == self.attempts:
                    raise GaveUp(error, attempt) from error
                wait = self.delay(attempt, error)
                if self.on_retry is not None:
                    self.on_retry(attempt, error, wait)
            self.sleep(wait)

    def _too_long(self, error) -> str:
        """Why the server's wait is not waited for, "" where it is."""
        asked = retry_after(error, self.clock()) or 0.0
        return f"; it asks for {asked:,.0f} s, more than the {self.longest:g} s waited here" if asked > self.longest else ""

    def wrap(self, model: Callable) -> Callable:
        """The same model, retried: for the run one call and one step, however often it was tried."""
        if not callable(model):
            raise TypeError(f"a model is a function, model(messages, tools) -> Reply, not {model!r:.80}")
        return _Retried(self, model)

    def tool(self, tool: Tool) -> Tool:
        """The same tool, retried; its time-out now holds for each attempt.

        Refuses a tool that is not idempotent: a second try may do it twice.
        """
        if not isinstance(tool, Tool):
            raise TypeError(f"Retry.tool takes a Tool, not {tool!r:.80}; put @tool above the function")
        if not tool.idempotent:
            raise ValueError(_NOT_TWICE.format(tool.name))

        def once(**arguments):
            if tool.timeout is None:
                return tool.fn(**arguments)
            return _on_time(tool, arguments)

        @wraps(tool.fn)
        def retried(**arguments):
            return self.call(once, **arguments)

        return replace(tool, fn=retried, timeout=None)


_NOT_TWICE = ("{} is not retried: after a time-out nobody knows whether it took effect, and a second try may do it twice. Mark it "
              "idempotent=True if it only reads or carries an idempotency key; else let the model see the error")


def _on_time(tool: Tool, arguments: dict):
    """One attempt, or TimeoutError at the tool's time-out."""
    def attempt():
        return tool.fn(**arguments)

    attempt.__name__ = tool.name
    return run_together([attempt], [tool.timeout])[0].result()


class _Retried:
    """A model whose calls are retried; everything else about it (name, text_only ...) is the model's own."""

    def __init__(self, retry: Retry, model: Callable):
        self._retry, self._model = retry, model

    def __call__(self, messages: list[dict], tools: list[dict] = ()):
        return self._retry.call(self._model, messages, tools)

    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return getattr(self._model, name)


def _look(thing, name):
    """An attribute of other people's objects, None where there is none; properties can raise anything."""
    try:
        return getattr(thing, name, None)
    except Exception:
        return None


def _headers(error) -> dict[str, str]:
    """The headers that an error carries, itself or in its response, their names in small letters."""
    found = {}
    for holder in (_look(error, "response"), error):
        try:
            found.update({str(name).lower(): value for name, value in _look(holder, "headers").items()})
        except Exception:
            pass
    return found


def _times(n: int) -> str:
    return {1: "once", 2: "twice"}.get(n, f"{n} times")
