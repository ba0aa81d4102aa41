"""Memory as files: a model reads and writes notes in one folder, and nowhere else."""

from __future__ import annotations

import difflib
import os
import re
import tempfile
import threading
from pathlib import Path
from typing import Literal

from ..messages import clean
from ..tools import Tool, ToolResult, bounded, show, tool

_PART = re.compile(r"\w([\w .+-]*[\w+-])?")     # letters of any language, digits; no leading dot, no dot or blank at the end
_DEVICES = re.compile(r"(con|prn|aux|nul|com\d|lpt\d)(\.|$)", re.IGNORECASE)      # names that Windows keeps for itself
_RIGHT = "a path is relative and stays inside the folder, such as notes.md or customers/asha.md"


class NotHere(ValueError):
    """A path that may not be used; the text says what a right one looks like."""


class MemoryFiles:
    """A folder of small text files that outlives the run. `.tools()` are read_memory, write_memory and list_memory.

    A path is relative, of plain names; on the disk it is followed through every link, and what ends outside of the folder
    is refused. A file is written whole or not at all, in UTF-8, and with `sync` it is on the disk before the call returns.
    Sizes are bounded, in bytes of a file and in files.

    What this does not protect from: somebody else on this machine who may write into the folder. Looking at a path and
    opening it are two moments, and a link that is put there in between is followed; a hard link cannot be told from a
    file. The tools themselves make no links. Two processes that append to one file at once may lose one of the two texts;
    threads of one process take turns. Names that differ in case only are one file on some systems.
    """

    def __init__(self, folder, *, max_bytes: int = 16_000, max_files: int = 200, sync: bool = True):
        for what, value in (("max_bytes", max_bytes), ("max_files", max_files)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"MemoryFiles: {what} must be a whole number of at least 1, not {value!r:.80}")
        self.max_bytes, self.max_files, self.sync = max_bytes, max_files, sync
        Path(folder).mkdir(parents=True, exist_ok=True)
        self.folder = Path(folder).resolve(strict=True)
        self._turn = threading.RLock()

    # ---- paths -------------------------------------------------------------------------------------------------------

    def place(self, path: str) -> Path:
        """Where a path leads, links followed. Raises NotHere for every path that is not plainly inside the folder."""
        if not isinstance(path, str) or len(path) > 200:
            raise NotHere(f"{_shown(path)} is no path; {_RIGHT}")
        parts = path.split("/")
        if not all(_PART.fullmatch(part) and not _DEVICES.match(part) for part in parts):
            raise NotHere(f"{_shown(path)} is not allowed; {_RIGHT}")
        try:
            found = self.folder.joinpath(*parts).resolve()
        except (OSError, RuntimeError, ValueError):     # links in a circle, a name that this disk cannot have
            raise NotHere(f"{_shown(path)} leads nowhere; {_RIGHT}") from None
        if found.is_symlink():      # what was followed to its end is a link only where links go in a circle
            raise NotHere(f"{_shown(path)} leads nowhere; {_RIGHT}")
        if self.folder not in found.parents:
            raise NotHere(f"{_shown(path)} leads out of the folder by a link; {_RIGHT}")
        return found

    def paths(self) -> list[str]:
        """The files of the folder that a tool may name, sorted."""
        found = []
        for folder, _, names in os.walk(self.folder):
            for name in names:
                path = Path(folder, name).relative_to(self.folder).as_posix()
                try:
                    found += [path] if self.place(path).is_file() else []
                except NotHere:
                    continue
        return sorted(found)

    # ---- reading and writing -----------------------------------------------------------------------------------------

    def read(self, path: str) -> str:
        """The text of a file. Raises NotHere where there is none."""
        place = self.place(path)
        if not place.is_file():     # neither a folder nor anything that would keep a reader waiting
            known = self.paths()
            near = next(iter(difflib.get_close_matches(path, known, 1)), None)
            raise NotHere(f"there is no file {_shown(path)}." + (f" Did you mean {near}?" if near else "")
                          + f" Files: {bounded(', '.join(known), 1_000) if known else 'none'}")
        with open(place, "rb") as file:
            data = file.read(self.max_bytes + 1)
        text = data[:self.max_bytes].decode("utf-8", "replace")
        return text if len(data) <= self.max_bytes else f"{text}\n[cut: the file is larger than the {self.max_bytes:,} bytes that are shown]"

    def write(self, path: str, text: str, append: bool = False) -> int:
        """Write a file whole, or add to its end; returns its size in bytes. The old file stands until the new one is complete."""
        with self._turn:
            place = self.place(path)
            if place.is_dir():
                raise NotHere(f"{_shown(path)} is a folder; {_RIGHT}")
            if place.exists() and not place.is_file():
                raise NotHere(f"{_shown(path)} is no ordinary file; {_RIGHT}")
            data = (place.read_bytes() if append and place.exists() else b"") + clean(text).encode("utf-8")
            if len(data) > self.max_bytes:
                raise NotHere(f"{_shown(path)} would have {len(data):,} bytes and may have {self.max_bytes:,}: write less, "
                              "or put a part of it into another file")
            if not place.exists() and len(self.paths()) >= self.max_files:
                raise NotHere(f"the folder already has {self.max_files} files: write into one of them; list_memory names them")
            try:
                place.parent.mkdir(parents=True, exist_ok=True)
            except (FileExistsError, NotADirectoryError):
                raise NotHere(f"{_shown(path)} goes through a file as if it were a folder; {_RIGHT}") from None
            _write_whole(self.place(path), data, self.sync)        # looked at again: the folders are there now
        return len(data)

    # ---- tools -------------------------------------------------------------------------------------------------------

    def tools(self) -> list[Tool]:
        """read_memory, write_memory and list_memory. The two that read may run beside other calls."""

        @tool(parallel=True, idempotent=True)
        def read_memory(path: str) -> str:
            """Read one of your notes: files that outlive this conversation. Example: read_memory(path="notes.md")."""
            return _said(lambda: self.read(path))

        @tool
        def write_memory(path: str, text: str, mode: Literal["replace", "append"] = "replace") -> str:
            """Write a note into a file that outlives this conversation: replace the file, or append to its end.

            Example: write_memory(path="notes.md", text="...", mode="append").
            """
            return _said(lambda: f"{path} now has {self.write(path, text, mode == 'append'):,} bytes")

        @tool(parallel=True, idempotent=True)
        def list_memory() -> str:
            """List the files of your notes with their sizes."""
            return _said(lambda: "\n".join(f"{path} ({self.place(path).stat().st_size:,} bytes)" for path in self.paths()) or "no files yet")

        return [read_memory, write_memory, list_memory]


def _shown(path) -> str:
    """A path for an error text, short and without characters that do something."""
    return show(path if not isinstance(path, str) or path.isprintable() else ascii(path)[1:-1])


def _said(work) -> str | ToolResult:
    """What the work came to; a refusal as an error text without a traceback."""
    try:
        return work()
    except NotHere as error:
        return ToolResult(f"ERROR: {error}", error=True)
    except OSError as error:        # without the place on this machine, which is nobody's business
        return ToolResult(f"ERROR: the file could not be used ({error.strerror or type(error).__name__})", error=True)


def _write_whole(place: Path, data: bytes, sync: bool) -> None:
    """Write beside the file, then take its place in one move."""
    handle, part = tempfile.mkstemp(prefix=".part-", dir=place.parent)      # its name starts with a dot: no tool can reach it
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            if sync:
                os.fsync(file.fileno())
        os.replace(part, place)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise
