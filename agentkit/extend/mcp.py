"""MCP: the tools, resources and prompts of a server that somebody else wrote, through the official `mcp` package.

    with connect("uvx", ["mcp-server-time"], prefix="time", pins="time.pins.json") as server:
        run(model, [*my_tools, *server.tools], task, approve=ask_me, hooks=[server.guard])

What a server says of its tools is a stranger's text: every tool needs approval, but for the names that the caller
gives; its hints (read-only, idempotent) change nothing. Requests of the server to us (sampling, elicitation) are declined.
"""

from __future__ import annotations

import difflib
import functools
import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable
from urllib.parse import urlsplit

from .hooks import Hook
from ..messages import clean
from ..tools import Tool, ToolResult, bounded
from . import mcp_parts as parts
from .mcp_pins import PinsChanged, check, definition, differences, pin
from .mcp_session import Process, ServerError, Session

__all__ = ["connect", "Server", "ServerError", "PinsChanged", "pin"]

MAX_PAGES = 50                  # of a list; one without an end is nonsense
MAX_DEFINITION = 20_000         # characters of one tool's definition, which is sent with every model call
_CHANGED = "not run: the server has changed this tool since the run began ({}); a person has to look at it first"


def connect(command: str | None = None, args: Iterable[str] = (), *, url: str | None = None, env: dict | None = None, cwd=None,
            headers: dict | None = None, prefix: str = "", timeout: float = 30.0, allow: Iterable[str] | None = None,
            without_approval: Iterable[str] = (), pins=None) -> Server:
    """An MCP server to use in a `with`: a program to start (stdio), or the URL of one that runs (Streamable HTTP).

    `prefix` comes before each tool's name; `timeout` is in seconds, for the start and for each request. `allow` names the
    tools that are taken (None: all), `without_approval` those that run without asking a person, both by the server's own
    names. `pins` is a JSON file: written at the first use, compared at every later one. A program inherits PATH, HOME
    and the like; whatever else it needs is given in `env`.
    """
    if (command is None) == (url is None):
        raise TypeError('connect takes a program, connect("python", ["server.py"]), or connect(url="http://...")')
    for name, value in ("args", args), ("allow", allow), ("without_approval", without_approval):
        if isinstance(value, str):
            raise TypeError(f"{name} takes a list of texts, not the text {value!r}")
    if not re.fullmatch(r"[A-Za-z0-9_-]{0,32}", prefix):
        raise ValueError(f"a prefix has at most 32 letters, digits, _ or -, not {prefix!r}")
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise ValueError(f"timeout must be a number of seconds above 0, not {timeout!r}")
    name = prefix or (re.split(r"[/\\]", command)[-1] if command else urlsplit(url).netloc)
    process = Process(command, args, env, cwd) if command else None
    return Server(Session(name, timeout, process, url, headers), prefix, None if allow is None else list(allow), list(without_approval), pins)


class Server:
    """A connected server. It lives inside its `with` (or between open() and close()); afterwards its tools answer with an error.

    tools: what to give to run()    refused: tool name -> why it was not taken    note: what the pins said
    changes: tool name -> what has changed since it was connected    log: the newest of its stderr    pid: its process
    """

    def __init__(self, session: Session, prefix, allow, without_approval, pins):
        self._session, self._prefix, self._allow, self._free, self._pins = session, prefix, allow, without_approval, pins
        self.name = session.name
        self.tools: tuple[Tool, ...] = ()
        self.definitions: list[dict] = []       # of the tools taken, under the server's own names: what is pinned
        self.refused: dict[str, str] = {}
        self.changes: dict[str, str] = {}
        self.note = "no pins: a description that changes between two runs is not noticed"

    def __repr__(self):
        return f"<MCP server {self.name!r}: {len(self.tools)} tools; {self._session.ended or self.note}>"

    def open(self) -> Server:
        """Start it and read its tools. Raises ServerError (PinsChanged), with nothing left running."""
        self._session.open()
        try:
            self._take(self._session.ask(self._list))
            if self._pins is not None:
                self.note = check(self.name, self._pins, self.definitions)
        except BaseException:
            self.close()
            raise
        return self

    def close(self) -> None:
        """End it, its process and its children. Closing twice is no harm."""
        self._session.close()

    __enter__ = open

    def __exit__(self, *_):
        self.close()

    @property
    def pid(self) -> int | None:
        return self._session.process and self._session.process.pid

    @property
    def log(self) -> str:
        return self._session.process.log if self._session.process else ""

    @property
    def about(self) -> dict:
        """What the server says of itself."""
        client = self._session.client
        info = client.server_info
        return {"name": info.name if info else None, "version": info.version if info else None, "protocol": client.protocol_version}

    @property
    def guard(self) -> Hook:
        """A hook that ends the run before the next model call when a tool has changed: run(..., hooks=[server.guard])."""
        def before_model(messages, tools):
            if self._session.stale and not self._session.ended:
                self._session.ask(self._look_again)
            return f"the tools of the MCP server {self.name!r} changed: {', '.join(self.changes)}" if self.changes else None
        return Hook(name=f"pins of {self.name}"[:64], before_model=before_model)

    # ---- tools: the model asks for them ------------------------------------------------------------------------------

    def call(self, name: str, arguments: dict) -> ToolResult:
        """Call a tool by the server's own name. Raises TimeoutError, ServerError."""
        async def question(client):
            if self._session.stale:
                await self._look_again(client)
            if name in self.changes:
                raise ServerError(_CHANGED.format(self.changes[name].partition(":")[0]))
            return await client.call_tool(name, arguments)
        return parts.result_of(self._session.ask(question))

    async def _list(self, client) -> list:
        self._session.stale = False     # before the question: a change that comes while it is answered counts
        return await _pages(client.list_tools, "tools")

    async def _look_again(self, client) -> None:
        """Compare the tools with those that were taken; new ones are only told."""
        try:
            listed = await self._list(client)
        except BaseException:
            self._session.stale = True  # not looked at: ask again before anything runs
            raise
        now = [definition(t.name, t.description, t.input_schema) for t in listed if self._allow is None or t.name in self._allow]
        self.changes.update(differences(self.definitions, [one for one in now if one["name"] not in self.refused]))

    def _take(self, listed: list) -> None:
        """Make agentkit's tools of the server's; one that cannot be taken is told in `refused`, and the others work."""
        known = [t.name for t in listed]
        for name in {*(self._allow or ()), *self._free} - {*known}:
            near = next(iter(difflib.get_close_matches(name, known, 1)), None)
            raise ServerError(f"the server {self.name!r} has no tool {name!r}" + (f"; did you mean {near!r}?" if near else "")
                              + f" It has: {', '.join(known) or 'none'}")
        wanted = [t for t in listed if self._allow is None or t.name in self._allow]
        names = Counter(map(self._named, known))
        tools = []
        for t in wanted:
            try:
                if names[self._named(t.name)] > 1:
                    raise ValueError(f"two tools are called {self._named(t.name)!r}")
                if (size := len(json.dumps(one := definition(t.name, t.description, t.input_schema)))) > MAX_DEFINITION:
                    raise ValueError(f"its definition has {size:,} characters; at most {MAX_DEFINITION:,} are sent with every model call")
                tool = Tool(self._named(t.name), clean(one["description"]), one["schema"], self._caller(t.name), needs_approval=t.name not in self._free)
                tool.validator          # a broken schema shows now, and costs this tool alone
            except (ValueError, TypeError, RecursionError) as error:
                self.refused[t.name] = f"{self.name}: the tool {t.name!r} was not taken: {bounded(str(error), 500)}"
            else:
                tools.append(tool)
                self.definitions.append(one)
        self.tools = tuple(tools)

    def _caller(self, name: str):
        def call_it(**arguments):
            return self.call(name, arguments)
        return call_it

    def _named(self, name: str) -> str:
        """The tool's name for a provider: prefixed, in the alphabet that they allow, at most 64 characters."""
        full = f"{self._prefix}_{name}" if self._prefix else name
        fit = re.sub(r"[^A-Za-z0-9_-]", "_", full)
        return fit if len(fit) <= 64 else f"{fit[:55]}_{hashlib.sha256(full.encode(errors='replace')).hexdigest()[:8]}"

    # ---- resources: your program reads them; prompts: a person picks one ---------------------------------------------

    def resources(self) -> list[dict]:
        """What can be read: uri (for a template, with gaps in braces), name, description."""
        async def question(client):
            if client.server_capabilities.resources is None:
                return []
            return (await _pages(client.list_resources, "resources"), await _pages(client.list_resource_templates, "resource_templates"))
        plain, templates = self._session.ask(question) or ((), ())
        return [{"uri": str(getattr(r, "uri", None) or r.uri_template), "name": r.name, "description": r.description or ""} for r in (*plain, *templates)]

    def read(self, uri: str) -> str:
        """A resource's text, bounded like a tool's result."""
        answer = self._session.ask(lambda client: client.read_resource(uri))
        return bounded(clean("\n".join(parts.contents_of(one) for one in answer.contents)))

    def prompts(self) -> list[dict]:
        """What can be asked for: name, description, arguments."""
        async def question(client):
            return [] if client.server_capabilities.prompts is None else await _pages(client.list_prompts, "prompts")
        return [{"name": p.name, "description": p.description or "", "arguments": [a.name for a in p.arguments or ()]} for p in self._session.ask(question)]

    def prompt(self, name: str, **arguments: str) -> list[dict]:
        """A prompt filled in, as messages for a message list."""
        return parts.messages_of(self._session.ask(functools.partial(_prompt, name=name, arguments=arguments)))


async def _prompt(client, name, arguments):
    return await client.get_prompt(name, arguments)


async def _pages(ask, what: str) -> list:
    """All pages of a list."""
    found, cursor = [], None
    for _ in range(MAX_PAGES):
        page = await ask(cursor=cursor)
        found += getattr(page, what)
        if not (cursor := page.next_cursor):
            return found
    raise ServerError(f"the server's list of {what} has no end: {MAX_PAGES} pages, and more")
