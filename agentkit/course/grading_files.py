"""What a class has handed in: which files, whose, and the code in them. All of it is read before any of it runs."""

from __future__ import annotations

import glob
import importlib.util
import json
import re
from dataclasses import dataclass, field
from pathlib import Path

from . import exercises

LARGEST = 20_000_000
"""Bytes of a file that is read at all; a notebook of the course has at most 300,000."""


class Misuse(Exception):
    """The command line asks for what cannot be done; the text says what to change."""


@dataclass
class File:
    """One file that was handed in, read before any learner's code runs."""

    path: Path
    learner: str
    cells: list[str] = field(default_factory=list)
    text: str = ""
    trouble: str = ""
    """Why it cannot be read."""

    @property
    def is_script(self):
        return self.path.suffix == ".py"


def course_notebooks() -> dict[str, str]:
    """{"04_loop": "04"}: the stems of the course's notebooks."""
    folder = Path(__file__).resolve().parents[2] / "notebooks"
    return {path.stem: path.stem[:2] for path in sorted(folder.glob("[0-9][0-9]_*.ipynb"))}


def find_files(arguments: list[str]) -> list[Path]:
    """The notebooks and scripts that the arguments name; folders are looked through. Misuse where there is none."""
    found = []
    for argument in arguments:
        path = Path(argument)
        if path.is_dir():
            inner = [p for p in sorted(path.rglob("*")) if p.suffix in (".ipynb", ".py") and p.is_file()]
            found += [p for p in inner if not any(part.startswith((".", "__")) for part in p.relative_to(path).parts)]
        elif path.is_file():
            if path.suffix not in (".ipynb", ".py"):
                raise Misuse(f"{argument} is neither a notebook nor a .py file")
            found.append(path)
        elif matches := [Path(name) for name in sorted(glob.glob(argument))]:      # a console that leaves the * to us
            found += [p for p in matches if p.suffix in (".ipynb", ".py")]
        else:
            raise Misuse(f"there is no {argument}")
    unique = list({path.resolve(): path for path in found}.values())
    if not unique:
        raise Misuse("there is no notebook and no .py file in what you named")
    return unique


def name_learners(paths: list[Path], course: list[str]) -> dict[Path, str]:
    """Who handed in each file. `course` holds the stems of the course's own notebooks.

    alice.ipynb is alice's, and so is 04_loop_alice.ipynb; alice/04_loop.ipynb too, with every script in that folder.
    One name in two folders is two learners, told apart by as much of the folder as it takes.
    """
    keys, homes = {}, set()

    def home(path):
        folder = path.resolve().parent
        return folder.parent if folder.name == "notebooks" else folder      # as the course hands them out

    for path in paths:
        stem = re.sub(r"(?i)([\s_-]*\(\d+\)|-copy\d*)+$", "", path.stem)
        for own in course:
            stem = re.sub(rf"(?i)(?<![a-z0-9]){re.escape(own)}(?![a-z0-9])", "", stem)
        stem = stem.strip(" _-.")
        folder = home(path)
        keys[path] = (folder.parent, folder.name) if not stem else (folder, stem)
        if not stem:
            homes.add(folder)
    for path in paths:
        folder = home(path)
        if path.suffix == ".py" and folder in homes:
            keys[path] = (folder.parent, folder.name)
    return {path: name for path, name in zip(keys, _apart(list(keys.values())))}


def _apart(keys):
    """A name for each (folder, name), the shortest that no other one has."""
    names = []
    for folder, name in keys:
        others = {other[0] for other in keys if other[1] == name and other[0] != folder}
        parts, shown = list(folder.parts), name
        for count in range(1, len(parts) + 1):
            if not any(other.parts[-count + 1:] == folder.parts[-count + 1:] if count > 1 else True for other in others):
                break
            shown = "/".join([*parts[-count:], name])
        names.append(shown)
    return names


def read(path: Path, learner: str) -> File:
    """The code cells of a file. What cannot be read is told in `trouble`."""
    file = File(path, learner)
    try:
        if path.stat().st_size > LARGEST:
            file.trouble = f"it is larger than {LARGEST:,} bytes"
            return file
        raw = path.read_bytes()
        if file.is_script:
            file.text = importlib.util.decode_source(raw)
            file.cells = [file.text]
        else:
            file.text = raw.decode("utf-8-sig")
            file.cells = _code_cells(json.loads(file.text))
    except (OSError, SyntaxError, UnicodeError, ValueError, RecursionError, TypeError, AttributeError, KeyError) as error:
        kind = "no Python file that can be read" if file.is_script else "no notebook"
        file.trouble = f"it is {kind} ({type(error).__name__})"
    return file


def _code_cells(notebook):
    sheets = notebook.get("worksheets") or [notebook]      # nbformat 3 had sheets
    cells = [cell for sheet in sheets for cell in sheet["cells"] if cell["cell_type"] == "code"]
    sources = [cell.get("source", cell.get("input", "")) for cell in cells]
    return [source if isinstance(source, str) else "".join(source) for source in sources]


def asked_of(file: File, course: dict[str, str], only: set[str]) -> list[str]:
    """The notebooks whose exercises a file may answer: those it speaks of; all, where it speaks of none."""
    said = {id[:2] for id in named(file)}
    said |= {number for stem, number in course.items() if stem.lower() in file.path.stem.lower()}
    known = exercises.notebooks()
    return [number for number in known if (not said & set(known) or number in said) and (not only or number in only)]


def named(file):
    """The exercises that a file speaks of."""
    return set(re.findall(r"""(?m)^[^#\n]*\b(?:check|hint|solution)\(\s*["'](\d\d-\d+)["']""", "\n".join(file.cells)))
