"""One append-only record of a run. The message list, the trace table and the report are views on it; so are resume and replay."""

from __future__ import annotations

import json
import secrets
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

from . import trace
from .messages import clean, to_text, tool_message
from .trace import Table    # notebooks take it from here


class JournalError(RuntimeError):
    """An event could not be written, so nothing was done after it."""


class RunTaken(JournalError):
    """Somebody else has gone on with this run: what they wrote stands, and this one stops before it does anything more."""


class Journal:
    """The events of one run, in the order in which they happened; each is a plain JSON object with a "kind".

    Journal() keeps them in memory, Journal(path) in a SQLite file as well: an event is on the disk before what it
    announces is done. An existing file is read, and its run can be resumed. `redact` is a function text -> text that
    every text of an event goes through before it is kept anywhere; what was redacted cannot run after a resume.
    """

    def __init__(self, path=None, *, run_id: str | None = None, redact: Callable[[str], str] | None = None):
        if redact is not None and not callable(redact):
            raise TypeError(f"redact takes a function, text -> text, not {redact!r:.80}")
        if run_id is not None and (not isinstance(run_id, str) or not run_id.strip()):
            raise ValueError(f"run_id must be a text that is used for no other run, not {run_id!r:.80}")
        self.events: list[dict] = []
        self.notes: list[str] = []      # what was odd about a record that was read
        self.redact, self.path = redact, None if path is None else Path(path)
        self._store = None if path is None else _open(path)
        self._lock, self._writer, self._failed = threading.Lock(), None, None
        if self._store is not None:
            self.events = self._store.read()
        known = self.events[0].get("run_id") if self.events else None
        if known and run_id and known != run_id:
            raise ValueError(f"{path} holds the run {known!r}, not {run_id!r}")
        self.run_id = known or run_id or secrets.token_hex(8)

    # ---- writing ----------------------------------------------------------------------------------------------------

    def add(self, kind: str, /, **facts) -> None:
        """Write an event of your own, a note for example; values that JSON has no word for are written as text."""
        self.write({"kind": kind, **json.loads(to_text(facts))})

    def write(self, event: dict, writer=None, seq: int | None = None) -> None:
        """Write one event, or raise and change nothing.

        A run is a `writer`: with a "start" or "resume" it takes the record over, and another writer's next event
        raises RunTaken. `seq` is the number that the event must get: it is given only to who has read all before it.
        """
        with self._lock:
            if self._failed:
                raise JournalError(f"this journal has failed before ({self._failed}); open it again: Journal({str(self.path)!r})")
            if writer is not self._writer and writer is not None and event["kind"] not in ("start", "resume") or \
                    seq is not None and seq != len(self.events) + 1:
                raise RunTaken(_TAKEN.format(f"event {seq or len(self.events) + 1}"))
            kept = event if self.redact is None else self._redacted(event)
            if self._store is not None:
                self._save(len(self.events) + 1, kept)
            self.events.append(kept)
            self._writer = writer or self._writer

    def _save(self, number: int, event: dict) -> None:
        self._failed = f"event {number} was not confirmed"      # whatever happens now: what is in the file decides
        try:
            written = self._store.append(number, event)
        except Exception as error:
            self._failed = f"{type(error).__name__}: {error}"
            raise JournalError(f"event {number} ({event['kind']}) could not be written to {self.path} ({self._failed}). Nothing was done "
                               "after it: mend the cause, open the journal again and resume the run") from error
        self._failed = None if written else "somebody else has gone on with this run"
        if not written:
            raise RunTaken(_TAKEN.format(f"event {number}"))

    def _redacted(self, event: dict) -> dict:
        try:
            kept = {k: v if k in _STRUCTURE else _through(self.redact, v, k == "arguments") for k, v in event.items()}
        except Exception as error:      # better no record than a secret in it
            raise JournalError(f"redact failed on a {event['kind']} event ({type(error).__name__}), so it was not written") from error
        if event["kind"] == "reply":
            calls = zip((event["message"] or {}).get("tool_calls", ()), (kept["message"] or {}).get("tool_calls", ()))
            kept["redacted"] = [old["id"] for old, new in calls if old != new]
        elif event["kind"] == "gate" and kept.get("arguments") != event.get("arguments"):
            kept["redacted"] = True
        return kept

    def close(self) -> None:
        """Let go of the file. Nothing is lost without it."""
        if self._store is not None:
            self._store.close()

    # ---- export and import ------------------------------------------------------------------------------------------

    def save(self, path) -> Path:
        """Write the record as JSON Lines, one event a line; returns the path."""
        path = Path(path)
        path.write_text("".join(json.dumps(e) + "\n" for e in self.events), encoding="utf-8")
        return path

    @classmethod
    def load(cls, path, into=None, **settings) -> Journal:
        """The journal of a JSON Lines export, in memory or, with `into`, in a new SQLite file.

        A last line that was cut off is left out and noted in .notes; any other broken line raises ValueError.
        """
        lines = Path(path).read_bytes().split(b"\n")
        if lines[0].startswith(b"SQLite format 3"):
            raise ValueError(f"{path} is a journal already: open it with Journal({str(path)!r})")
        last = max((n for n, line in enumerate(lines, 1) if line.strip()), default=0)
        events, notes = [], []
        for n, line in enumerate(lines[:last], 1):
            try:
                event = json.loads(line.decode("utf-8"))
                if not isinstance(event, dict) or not isinstance(event.get("kind"), str):
                    raise ValueError('it is no event: an object with a "kind"')
                events.append(event)
            except ValueError as error:
                if n < last or not line.lstrip().startswith(b"{"):
                    raise ValueError(f"{path}, line {n}: {error}") from None
                notes.append(f"line {n} is cut off and was left out")
        journal = cls(into, run_id=events[0].get("run_id") if events else None, **settings)
        if journal.events:
            raise ValueError(f"{into} already holds a run")
        for event in events:
            journal.write(event)
        journal.notes += notes
        return journal

    # ---- reading ----------------------------------------------------------------------------------------------------

    def of(self, *kinds: str) -> list[dict]:
        """The events of these kinds."""
        return [e for e in self.events if e["kind"] in kinds]

    def _in_call_order(self) -> Iterator[dict]:
        """The events, each reply's results directly after it and in the order of its calls, whichever came first."""
        results: list[dict] = []
        place: dict[str, int] = {}
        for event in self.events:
            if event["kind"] == "result":
                results.append(event)
                continue
            if event["kind"] in ("reply", "message", "view", "end"):
                yield from sorted(results, key=lambda e: place.get(e["id"], 0))
                results = []
            if event["kind"] == "reply":
                place = {c["id"]: n for n, c in enumerate((event["message"] or {}).get("tool_calls", ()))}
            yield event
        yield from sorted(results, key=lambda e: place.get(e["id"], 0))

    def messages(self) -> list[dict]:
        """The message list as the record tells it."""
        found = []
        for event in self._in_call_order():
            if event["kind"] in ("message", "reply") and event["message"] is not None:
                found.append(event["message"])
            elif event["kind"] == "result":
                found.append(tool_message(event["id"], event["name"], event["content"]))
        return found

    def open_calls(self) -> list[dict]:
        """The calls that have no result yet: id, name and arguments (JSON text)."""
        answered = {e["id"] for e in self.of("result")}
        return [{"id": c["id"], **c["function"]} for e in self.of("reply")
                for c in (e["message"] or {}).get("tool_calls", ()) if c["id"] not in answered]

    def table(self) -> trace.Table:
        """The trace: a row for each call of a tool, each reply without one, and each word of a person or the harness."""
        return trace.Table(("step", "the model", "what came back", "tokens so far"), trace.rows(self._in_call_order()), self.report())

    def show(self) -> trace.Trace:
        """The trace table and, in a notebook, the timeline below it: for the end of a cell."""
        return trace.Trace(self.table(), self._in_call_order())

    def report(self) -> str:
        """One plain sentence: why the run ended, what was finished, what was not. It is made of the record alone."""
        return trace.report(self.events, self.open_calls())


_TAKEN = ("somebody else has gone on with this run, so {} is not written here and nothing more is done here; "
          "open the journal again to see what they did")
_STRUCTURE = frozenset({"kind", "id", "name", "step", "status", "outcome", "run_id", "role", "type", "tool_call_id", "tools", "stop_reason"})


def _open(path):
    import sqlite3

    from .store import SqliteStore
    try:
        return SqliteStore(path)
    except sqlite3.DatabaseError as error:
        raise JournalError(f"{path} cannot be opened as a journal ({error}); an export of JSON Lines is read with Journal.load()") from error


def _through(redact: Callable[[str], str], value, inside: bool = False):
    """The value with every text in it redacted; what makes it a message or a call stays, or it could not be read again."""
    if isinstance(value, str):
        return _redacted_text(redact, value)
    if isinstance(value, list):
        return [_through(redact, v, inside) for v in value]
    if isinstance(value, dict):
        return {(redact(k) if inside else k): v if k in _STRUCTURE and not inside else _through(redact, v, inside or k == "arguments")
                for k, v in value.items()}
    return value


def _redacted_text(redact: Callable[[str], str], text: str) -> str:
    r"""A text redacted as it is and, where it is JSON, inside: a secret may be written with \u escapes there."""
    if text.lstrip()[:1] in ("{", "["):
        try:
            value = json.loads(text)
        except ValueError:
            pass
        else:
            kept = _through(redact, value, inside=True)
            text = text if kept == value else json.dumps(kept)
    said = redact(text)
    if not isinstance(said, str):
        raise TypeError(f"redact must return a text, not {type(said).__name__}")
    return clean(said)
