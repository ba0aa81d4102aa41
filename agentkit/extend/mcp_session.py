"""One MCP session in a thread of its own: agentkit's loop is synchronous, the official client is not.

The protocol is the `mcp` package's business. What stands here is what a harness owes its user: a time-out on every
question, the server's process and its children gone at the end, and no byte of a stranger's stderr on the screen.
"""

from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import logging
import threading
import time
from contextlib import asynccontextmanager, suppress

from ..tools import bounded, describe
from .mcp_process import GRACE, MAX_GARBAGE, Process, kill_tree

_SLICE = 0.5                # seconds of one wait; between two of them Ctrl-C comes through on every system


class ServerError(RuntimeError):
    """An MCP server that cannot be used: it did not start, has ended, answered nonsense, or changed its tools."""


class Session:
    """A connected mcp.Client that a synchronous caller can ask."""

    def __init__(self, name: str, timeout: float, process: Process | None, url: str | None, headers):
        self.name, self.timeout, self.process, self.url, self.headers = name, timeout, process, url, headers
        self.client = None
        self.ended: str | None = None       # why nothing can be asked any more
        self.stale = True                   # the server has said that its tools changed, or they were never read
        self._up: concurrent.futures.Future = concurrent.futures.Future()
        self._loop = self._closing = self._scope = None
        self._thread = threading.Thread(target=self._work, daemon=True, name=f"mcp {name}")

    # ---- the caller's side -------------------------------------------------------------------------------------------

    def open(self) -> None:
        """Start the server and shake hands. Raises ServerError, with nothing left running."""
        for name in ("mcp", "client"):      # what the package logs is for who wants it, and not for stderr
            if not (logger := logging.getLogger(name)).handlers:
                logger.addHandler(logging.NullHandler())
        _package()                          # before the clock of the start runs
        atexit.register(self.close)         # for who forgets to
        try:
            self._thread.start()
            if not _wait(self._up, self.timeout):
                self._hurry()
                raise ServerError(f"the server {self.name!r} did not finish its start within {self.timeout:g} s{self._said()}")
            if error := self._up.exception():
                raise ServerError(f"the server {self.name!r} did not start: {self._explain(error)}{self._said()}") from None
        except BaseException:
            self.close()
            raise

    def ask(self, question):
        """The answer to `await question(client)`. Raises TimeoutError, or ServerError for a server that fails."""
        if self.ended:
            raise ServerError(self.ended)
        future = asyncio.run_coroutine_threadsafe(self._bounded(question), self._loop)
        try:
            if not _wait(future, self.timeout + 2):     # two more, for a thread that is busy with a monstrous answer
                raise TimeoutError
            return future.result()
        except ServerError:
            raise
        except (TimeoutError, asyncio.TimeoutError):
            self._hurry()
            raise TimeoutError(f"no answer from the server {self.name!r} within {self.timeout:g} s; whether it took effect is not known") from None
        except Exception as error:
            raise ServerError(self._explain(error)) from None
        finally:
            future.cancel()

    def close(self) -> None:
        """End the session; the server's process, its children and this thread are gone afterwards."""
        self.ended = self.ended or f"the server {self.name!r} was closed"
        atexit.unregister(self.close)
        try:
            loop = self._loop
            if loop is not None and not loop.is_closed():
                with suppress(RuntimeError):        # it has ended in between
                    loop.call_soon_threadsafe(self._closing.set if self._up.done() else self._scope.cancel)
            if self._thread.ident is not None:
                end = time.monotonic() + 4 * GRACE + 2
                while self._thread.is_alive() and time.monotonic() < end:
                    self._thread.join(_SLICE)
        finally:
            if self._thread.is_alive() and self.process and self.process.pid is not None:
                kill_tree(self.process.pid)         # the thread is stuck, or Ctrl-C came while we waited for it

    # ---- the thread's side -------------------------------------------------------------------------------------------

    def _work(self):
        try:
            asyncio.run(self._live())
        except BaseException as error:      # it belongs to the caller, and must not end in a thread's excepthook
            if not self._up.done():
                self._up.set_exception(_leaf(error))
        finally:
            self._over()
            if not self._up.done():
                self._up.set_exception(ConnectionError("it was closed while it started"))

    async def _live(self):
        import anyio
        from mcp import Client, types

        self._closing, self._scope = asyncio.Event(), anyio.CancelScope()
        self._loop = asyncio.get_running_loop()
        with self._scope:
            transport = self.process.stream() if self.process else _http(self.url, self.headers)
            me = types.Implementation(name="agentkit", version="1")
            async with Client(transport, message_handler=self._heard, client_info=me, cache=None) as client, anyio.create_task_group() as tasks:
                self.client = client
                tasks.start_soon(self._watch)
                self._up.set_result(None)
                await self._closing.wait()
                tasks.cancel_scope.cancel()

    async def _bounded(self, question):
        import anyio

        with anyio.fail_after(self.timeout):
            return await question(self.client)

    async def _heard(self, message):
        """What the server says unasked."""
        if getattr(message, "method", "") == "notifications/tools/list_changed":
            self.stale = True

    async def _watch(self):
        """Servers of the protocol since 2026-07-28 tell of changes only who has asked for it."""
        with suppress(Exception):
            async with self.client.listen(tools_list_changed=True) as changes:
                async for _ in changes:
                    self.stale = True

    def _explain(self, error: Exception) -> str:
        from mcp import MCPError, types
        from pydantic import ValidationError

        if isinstance(error, MCPError) and error.code == types.CONNECTION_CLOSED or type(error).__name__ == "ClosedResourceError":
            return f"{self._over()}; whether the call took effect is not known" if self.client else self._over()
        if isinstance(error, MCPError):
            return f"the server {self.name!r} answered with an error: {bounded(error.message, 500)} ({error.code})"
        if isinstance(error, ValidationError):
            first = error.errors(include_url=False, include_input=False)[0]
            return f"the server {self.name!r} answered nonsense: {'.'.join(map(str, first['loc']))}: {first['msg']}"
        return describe(error)

    def _over(self) -> str:
        """Nothing can be asked any more; why."""
        noisy = self.process and self.process.garbage >= MAX_GARBAGE
        why = f"was given up: it wrote {MAX_GARBAGE:,} lines that are no message" if noisy else "has ended"
        self.ended = self.ended or f"the server {self.name!r} {why}"
        return self.ended

    def _hurry(self) -> None:
        if self.process:
            self.process.hurry = True       # no time to end by itself: it has had its chance

    def _said(self) -> str:
        last = self.process.log.strip().splitlines()[-1:] if self.process else []
        return f"; the last line of its stderr: {bounded(last[0], 300)}" if last else ""


def _package() -> None:
    """Load the official client, or say how to get it."""
    try:
        import mcp.client.streamable_http  # noqa: F401
    except ImportError as error:
        raise ImportError(f"agentkit speaks MCP through the official package: pip install mcp ({error})") from None


def _http(url: str, headers):
    """Streamable HTTP. A proxy has no business with an address of this machine."""
    import httpx2
    from mcp.client.streamable_http import streamable_http_client

    here = httpx2.URL(url).host in ("127.0.0.1", "::1", "localhost")

    @asynccontextmanager
    async def stream():
        async with httpx2.AsyncClient(headers=headers, timeout=httpx2.Timeout(30, read=300), trust_env=not here) as client:
            async with streamable_http_client(url, http_client=client) as streams:
                yield streams
    return stream()


def _wait(future, seconds: float) -> bool:
    end = time.monotonic() + seconds
    while not future.done() and (left := end - time.monotonic()) > 0:
        concurrent.futures.wait([future], min(_SLICE, left))
    return future.done()


def _leaf(error: BaseException) -> BaseException:
    """The error itself, out of the groups that task groups put it in."""
    while inner := getattr(error, "exceptions", None):
        error = inner[0]
    return error
