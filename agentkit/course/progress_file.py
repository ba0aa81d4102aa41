"""What is done across the course, kept in a small JSON file beside the notebooks.

    {"version": 1, "passed": {"06-2": "2026-01-31"}, ...}

Other keys are left as they are: flash cards and the like may keep their data there, through `update`.
"""

from __future__ import annotations

import contextlib
import datetime
import json
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from .verdict import escape

NAME = ".progress.json"


def path() -> Path:
    """Where the file is: $AGENTKIT_PROGRESS, else the notebooks folder around the working directory, else the checkout's."""
    if chosen := os.environ.get("AGENTKIT_PROGRESS"):
        return Path(chosen).expanduser()
    here = Path.cwd()
    if here.name == "notebooks":
        return here / NAME
    for folder in (here, *here.parents, Path(__file__).resolve().parents[2]):
        if (folder / "notebooks").is_dir() and (folder / "agentkit").is_dir():
            return folder / "notebooks" / NAME
    return here / NAME


def read() -> tuple[dict, bool]:
    """The file's data and whether it could be read; a missing file is an empty one."""
    try:
        data = json.loads(path().read_text(encoding="utf-8"))
        if isinstance(data, dict) and isinstance(data.setdefault("passed", {}), dict):
            return data, True
    except FileNotFoundError:
        return {"version": 1, "passed": {}}, True
    except (OSError, ValueError, RecursionError):
        pass
    return {"version": 1, "passed": {}}, False


def update(change: Callable[[dict], None]) -> str:
    """Apply `change` to the data as it is in the file now and write it back; return what the learner should know, or "".

    Two notebooks may do this at once: a lock file lets one go after the other, and the new file replaces the old one
    in a single step.
    """
    note = ""
    try:
        file = path()
        file.parent.mkdir(parents=True, exist_ok=True)
        with _lock(file):
            data, readable = read()
            if not readable:
                note = f"{file.name} could not be read; it is kept as {_set_aside(file)} and a new one was begun."
            before = json.dumps(data)
            change(data)
            if json.dumps(data) != before:
                _replace(file, json.dumps(data, indent=1, sort_keys=True) + "\n")
    except OSError as error:
        return f"Your progress is not saved: {error.strerror or type(error).__name__}."
    return note


def record_pass(id: str) -> str:
    """Remember that an exercise was passed today; the day of the first pass stays."""
    today = datetime.date.today().isoformat()
    return update(lambda data: data["passed"].setdefault(id, today))


@contextlib.contextmanager
def _lock(file, patience=2.0, stale=10.0):
    lock = file.with_name(file.name + ".lock")
    end = time.monotonic() + patience
    mine = False
    while not mine:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
            mine = True
        except OSError as error:
            # On Windows a lock that is being removed says "permission denied", as a read-only folder does.
            if not isinstance(error, FileExistsError) and not lock.exists():
                raise
            if time.monotonic() > end:
                break  # a notebook that died with the lock must not stop all others
            with contextlib.suppress(OSError):
                if time.time() - lock.stat().st_mtime > stale:
                    lock.unlink()
            time.sleep(0.02)
    try:
        yield
    finally:
        if mine:
            with contextlib.suppress(OSError):
                lock.unlink()


def _set_aside(file):
    """Rename an unreadable file to the first free name, so that nothing is lost; return that name."""
    n = 1
    while (target := file.with_name(f"{file.name}.bak{'' if n == 1 else n}")).exists():
        n += 1
    os.replace(file, target)
    return target.name


def _replace(file, text):
    draft = file.with_name(f"{file.name}.{os.getpid()}.tmp")
    try:
        draft.write_text(text, encoding="utf-8")
        for left in range(20, -1, -1):
            try:
                os.replace(draft, file)
                return
            except PermissionError:  # on Windows, while another program reads the file
                if not left:
                    raise
                time.sleep(0.02)
    finally:
        with contextlib.suppress(OSError):
            draft.unlink()


@dataclass(frozen=True)
class Progress:
    """What progress() shows: per notebook its number, title, exercises done and exercises in all."""

    notebooks: tuple[tuple[str, str, int, int], ...]
    notes: tuple[str, ...] = ()

    @property
    def done(self) -> int:
        return sum(done for _, _, done, _ in self.notebooks)

    @property
    def total(self) -> int:
        return sum(total for _, _, _, total in self.notebooks)

    def __repr__(self):
        width = max((len(title) for _, title, _, _ in self.notebooks), default=0)
        lines = [f"{self.done} of {self.total} exercises done"]
        lines += [f"  {n} {title:<{width}}  {_bar(done, total)}  {done} of {total}" for n, title, done, total in self.notebooks]
        return "\n".join([*lines, *(f"  {note}" for note in self.notes)])

    def _repr_html_(self):
        rows = "".join(_row_html(*row) for row in self.notebooks)
        notes = "".join(f"<div>{escape(note)}</div>" for note in self.notes)
        return f"<div><b>{self.done} of {self.total}</b> exercises done{rows}{notes}</div>"


def progress() -> Progress:
    """What you have done across the course, notebook by notebook."""
    from . import exercises

    data, readable = read()
    notes = [] if readable else [f"{path().name} could not be read. It will be kept as it is under another name."]
    rows = []
    for notebook in exercises.notebooks():
        try:
            ids = [exercise.id for exercise in exercises.of(notebook)]
            rows.append((notebook, exercises.title(notebook), sum(id in data["passed"] for id in ids), len(ids)))
        except Exception as error:  # one broken notebook must not hide the others
            notes.append(f"The exercises of notebook {notebook} cannot be loaded: {type(error).__name__}.")
    return Progress(tuple(row for row in rows if row[3]), tuple(notes))


def _bar(done, total, width=10):
    # Rounded down, so that only a finished notebook has a full bar.
    full = done * width // total
    return "[" + "#" * full + "-" * (width - full) + "]"


def _row_html(notebook, title, done, total):
    bar = f'<span style="display:block;width:{100 * done // total}%;height:100%;background:currentColor"></span>'
    return (
        '<div style="display:flex;gap:0.8em;align-items:center;margin-top:3px">'
        f'<span style="flex:0 0 14em">{notebook} {escape(title)}</span>'
        '<span aria-hidden="true" style="flex:0 0 10em;height:0.7em;border:1px solid currentColor;opacity:0.7">'
        f"{bar}</span><span>{done} of {total}</span></div>"
    )
