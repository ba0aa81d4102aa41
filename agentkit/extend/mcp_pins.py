"""Pins: the definitions of a server's tools as a person last saw them, so that a changed one is noticed.

What is pinned is what reaches the model: name, description and schema. A tool that does something else behind the same
words is not noticed by this; for that there is the approval of each call.
"""

from __future__ import annotations

import difflib
import hashlib
import json
import os
from collections.abc import Iterable, Mapping
from pathlib import Path

from .mcp_session import ServerError


def definition(name: str, description: str | None, schema: dict) -> dict:
    return {"name": name, "description": description or "", "schema": schema}


def digest(one: Mapping) -> str:
    """The sha256 of a definition; the order of its keys and its white space make no difference."""
    return hashlib.sha256(json.dumps(one, sort_keys=True, separators=(",", ":")).encode()).hexdigest()


def pin(tools) -> dict[str, str]:
    """name -> sha256 of {name, description, schema}, for a connected server or for a list of such definitions."""
    return {one["name"]: digest(one) for one in getattr(tools, "definitions", tools)}


def differences(before: Iterable[Mapping], now: Iterable[Mapping]) -> dict[str, str]:
    """name -> what a person should read, for each tool that was added, changed or has vanished."""
    old, new = ({one["name"]: one for one in side} for side in (before, now))
    said = {}
    for name in sorted({*old, *new}):
        if name not in old:
            said[name] = "added:\n" + _indented(_lines(new[name]), "+ ")
        elif name not in new:
            said[name] = "vanished:\n" + _indented(_lines(old[name]), "- ")
        elif digest(old[name]) != digest(new[name]):
            lines = list(difflib.ndiff(_lines(old[name]), _lines(new[name])))
            said[name] = "changed:\n" + _indented([line for line in lines if line[0] in "+-"], "")
    return said


class PinsChanged(ServerError):
    """The tools are not those that were pinned. `changes` says how; `accept()` is for the person who has read it."""

    def __init__(self, server: str, path: Path, changes: dict[str, str], now: list[dict]):
        self.changes, self._path, self._now = changes, path, now
        shown = "\n".join(f"{name}: {what}" for name, what in changes.items())
        super().__init__(f"the tools of the server {server!r} are not those that were pinned in {path.name}:\n{shown}\n"
                         "Nothing was sent to a model. Read the lines above; if you agree, call accept() on this error and connect again.")

    def accept(self) -> None:
        """Pin the tools as they are now."""
        save(self._path, self._now)


def check(server: str, path, now: list[dict]) -> str:
    """Compare with the file, or write it on first use; a sentence on which it was. Raises PinsChanged."""
    path = Path(path)
    if not path.exists():
        save(path, now)
        return f"first use: {len(now)} tool(s) pinned in {path.name} as they came; nobody has compared them with anything"
    if changes := differences(load(path), now):
        raise PinsChanged(server, path, changes, now)
    return f"the {len(now)} tool(s) are those pinned in {path.name}"


def load(path) -> list[dict]:
    """The pinned definitions. Raises ServerError for a file that is damaged: that is no first use."""
    try:
        kept = json.loads(Path(path).read_text(encoding="utf-8"))
        found = [entry["definition"] for entry in kept.values()]
        wrong = [name for name, entry in kept.items() if digest(entry["definition"]) != entry["sha256"] or entry["definition"]["name"] != name]
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise ServerError(f"the pins in {path} cannot be read ({type(error).__name__}); mend the file, or delete it to begin anew") from None
    if wrong:
        raise ServerError(f"the pins in {path} were edited: the sum of {', '.join(wrong)} is not that of its text; delete the file to begin anew")
    return found


def save(path: Path, definitions: list[dict]) -> None:
    text = json.dumps({one["name"]: {"sha256": digest(one), "definition": one} for one in definitions}, indent=1, sort_keys=True)
    half = path.with_name(path.name + ".new")
    half.write_text(text + "\n", encoding="utf-8")
    os.replace(half, path)      # whole or not at all


def _lines(one: Mapping) -> list[str]:
    schema = json.dumps(one["schema"], indent=1, sort_keys=True).splitlines()
    return [*one["description"].splitlines(), *schema]


def _indented(lines, mark: str) -> str:
    return "\n".join(f"    {mark}{line}" for line in lines)
