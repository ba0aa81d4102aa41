"""The process of an MCP server, as a transport for the official client: one JSON message a line, in and out.

The `mcp` package brings such a transport too. This one knows the pid, so that children of a server that ended politely are
ended as well; it reads lines of bounded length; and it keeps the server's stderr instead of letting it onto the screen.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import subprocess
import time
from contextlib import asynccontextmanager, suppress

MAX_LINE = 16 * 2 ** 20     # bytes of one message; a line without an end must not fill the memory
MAX_GARBAGE = 1_000         # lines that are no message, before the server is given up
LOG_CHARS = 4_000           # of the server's stderr, the newest
GRACE = 1.0                 # seconds to end by itself when its input is closed


class Process:
    """A server's process as a transport for mcp.Client: one JSON message a line, in and out."""

    def __init__(self, command: str, args, env, cwd):
        self.command, self.args, self.env, self.cwd = command, list(args), env, cwd
        self.pid: int | None = None
        self.log = ""
        self.hurry = False              # it hangs: kill it at once
        self.garbage = 0                # lines that were no message; programs that print to stdout are common

    @asynccontextmanager
    async def stream(self):
        import anyio
        from mcp.client.stdio import get_default_environment
        from mcp.shared.message import SessionMessage
        from mcp.types import jsonrpc_message_adapter

        env = get_default_environment() | (self.env or {})      # a stranger's program sees no keys but those it is given
        found = shutil.which(self.command, path=env.get("PATH"))
        if found is None:
            raise FileNotFoundError(f"there is no program {self.command!r}")
        pipe, group = asyncio.subprocess.PIPE, {"start_new_session": True} if os.name == "posix" else {}
        process = await asyncio.create_subprocess_exec(found, *self.args, stdin=pipe, stdout=pipe, stderr=pipe, limit=MAX_LINE,
                                                       env=env, cwd=self.cwd, **group)
        self.pid = process.pid
        incoming, read = anyio.create_memory_object_stream(0)
        write, outgoing = anyio.create_memory_object_stream(0)

        async def listen():
            with suppress(anyio.BrokenResourceError, anyio.ClosedResourceError):
                async with incoming:                            # its end tells the client that nothing more will come
                    with suppress(ValueError, ConnectionError):     # a line that is too long ends the talk
                        while line := await process.stdout.readline():
                            try:
                                message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                            except ValueError:
                                self.garbage += 1
                                if self.garbage == MAX_GARBAGE:
                                    break
                            else:
                                await incoming.send(SessionMessage(message))

        async def speak():
            with suppress(OSError, anyio.BrokenResourceError, anyio.ClosedResourceError):
                async for item in outgoing:
                    process.stdin.write(item.message.model_dump_json(by_alias=True, exclude_unset=True).encode() + b"\n")
                    await process.stdin.drain()

        async def keep_log():
            while chunk := await process.stderr.read(65_536):   # always read, or a talkative server would block
                self.log = (self.log + chunk.decode(errors="replace"))[-LOG_CHARS:]

        async with anyio.create_task_group() as tasks:
            for task in (listen, speak, keep_log):
                tasks.start_soon(task)
            try:
                yield read, write
            finally:
                with anyio.CancelScope(shield=True):
                    process.stdin.close()
                    if not self.hurry:
                        await _ended(process, GRACE)
                    kill_tree(self.pid)
                    await _ended(process, GRACE)
                for stream in (incoming, read, write, outgoing):
                    stream.close()
                process._transport.close()      # or it warns when a child that left the group still holds a pipe
                tasks.cancel_scope.cancel()


async def _ended(process, seconds: float) -> None:
    """Until it has exited; process.wait() would also wait for children that hold its pipes."""
    end = time.monotonic() + seconds
    while process.returncode is None and time.monotonic() < end:
        await asyncio.sleep(0.01)


def kill_tree(pid: int) -> None:
    """End a server and all that it has started."""
    if os.name == "posix":
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(pid, signal.SIGKILL)      # the group has the server's pid, also when the server itself has gone
    else:
        subprocess.run(["taskkill", "/F", "/T", "/PID", str(pid)], capture_output=True)
