"""What a teacher needs beside the notebooks: each one solved, a twin for the lecture, and the plans and pitfalls of docs/teaching.md.

    python3 -m agentkit teach [--to FOLDER] [--execute] [NOTEBOOKS...]
    python3 -m agentkit teach --page          writes the computed part of docs/teaching.md anew
"""

from __future__ import annotations

import argparse
import copy
import re
import sys
from pathlib import Path

from . import exercises
from .refresh import CHECKOUT, CannotRefresh, clean, execute, write_atomically

PAGE = CHECKOUT / "docs" / "teaching.md"
BEGIN, END = "<!-- computed by python3 -m agentkit teach --page -->", "<!-- end of the computed part -->"
PLANS = (
    ("One hour", "a talk with hands on it: what a harness is, then the loop", [("", ["00", "04"])]),
    ("Half a day", "the loop with its errors and its exits, from an empty cell", [("", ["00", "01", "02", "04", "05", "06"])]),
    ("Three days", "all of it", [("first day: the loop, piece by piece", [f"{n:02}" for n in range(9)]),
                                 ("second day: to production, and the patterns", [f"{n:02}" for n in range(9, 19)]),
                                 ("third day: the numbers, and interviews", [f"{n:02}" for n in range(19, 26)])]),
)
"""What each class takes up: notebooks, a day at a time. Their minutes are those that the notebooks state."""


def notebook_paths() -> list[Path]:
    return sorted((CHECKOUT / "notebooks").glob("[0-9][0-9]_*.ipynb"))


def read(path: Path):
    """A notebook as nbformat reads it."""
    import nbformat

    return nbformat.reads(Path(path).read_text(encoding="utf-8"), as_version=4)


def solved(notebook):
    """The notebook with every stub replaced by its solution. The check line stays; what it showed goes, until it is run."""
    notebook = copy.deepcopy(notebook)
    for cell in notebook.cells:
        line = check_line(cell)
        if line:
            cell.source = f"{exercises.find(line[1]).solution.strip()}\n\n{line[0]}"
            cell.outputs, cell.execution_count = [], None
    return notebook


def check_line(cell):
    """The match of the line that checks an exercise, its id as group 1; None for any other cell."""
    return re.search(r"""(?m)^check\(\s*["'](\d\d-\d+)["'].*$""", cell.source) if cell.cell_type == "code" else None


def twin(notebook):
    """Headings and code only, without outputs: what a lecture is held from."""
    notebook = copy.deepcopy(notebook)
    kept = []
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
            kept.append(cell)
        elif cell.cell_type == "markdown" and (lines := headings(cell.source)):
            cell.source = "\n\n".join(lines)
            cell.pop("attachments", None)
            kept.append(cell)
    notebook.cells = kept
    return notebook


def headings(source: str) -> list[str]:
    """The heading lines of a markdown cell; a # inside a block of code is none."""
    outside = re.sub(r"(?ms)^(```|~~~).*?^\1", "", source)
    return [line.rstrip() for line in re.findall(r"(?m)^#{1,6}\s+\S.*$", outside)]


def content(notebook) -> bytes:
    """The bytes of a notebook file, the same for the same notebook."""
    import nbformat

    return nbformat.writes(notebook).rstrip("\n").encode("utf-8") + b"\n"


def write(paths: list[Path], folder: Path, run: bool = False, tell=print) -> None:
    """Write solved/ and twin/ into `folder`; with `run`, execute what is solved and keep its outputs."""
    for kind, make in (("solved", solved), ("twin", twin)):
        (folder / kind).mkdir(parents=True, exist_ok=True)
        for path in paths:
            notebook = make(read(path))
            if run and kind == "solved":
                execute(notebook, path.parent)
                clean(notebook)
            target = folder / kind / path.name
            target.touch()
            write_atomically(target, content(notebook))
            tell(f"{target}: {len(notebook.cells)} cells")


# The page for teachers

def minutes(path: Path) -> int:
    """The minutes that a notebook states in its first cell."""
    return int(re.search(r"(\d+) min", read(path).cells[0].source)[1])


def name(path: Path) -> str:
    """The title of a notebook, without its number."""
    return re.sub(r"^#\s+(\d\d\s*·\s*)?", "", read(path).cells[0].source.splitlines()[0]).strip()


def plans() -> str:
    """The classes as a table: which notebooks, and how many minutes they are together."""
    paths = {path.name[:2]: path for path in notebook_paths()}
    lines = ["| class | notebooks | minutes | of them exercises |", "|---|---|---|---|"]
    for title, what, days in PLANS:
        for day, numbers in days:
            there = [number for number in numbers if number in paths]
            total = sum(minutes(paths[number]) for number in there)
            own = sum(e.minutes for number in there for e in exercises.of(number))
            lines.append(f"| {title}: {day or what} | {', '.join(there)} | {total} | {own} |")
    return "\n".join(lines)


def pitfalls() -> str:
    """What learners get wrong, notebook by notebook: the traps that the exercises know, each by its first sentence."""
    parts = []
    for path in notebook_paths():
        number = path.name[:2]
        if number not in exercises.notebooks():
            continue
        parts.append(f"### {number} {name(path)} ({minutes(path)} minutes)\n")
        for exercise in exercises.of(number):
            said = list(dict.fromkeys(first_sentence(trap.says) for trap in exercise.traps))
            parts.append(f"- **{exercise.id} {exercise.title}**, difficulty {exercise.difficulty} of 5, {exercise.minutes} minutes")
            parts += [f"    - {text}" for text in said]
        parts.append("")
    return "\n".join(parts).rstrip()


def first_sentence(text: str) -> str:
    """The beginning of a text up to the first full stop, question mark or exclamation mark that ends a sentence."""
    text = " ".join(text.split())
    return re.split(r"(?<=[.!?])\s+(?=[A-Z`\"'])", text, maxsplit=1)[0]


def computed() -> str:
    """The part of docs/teaching.md that follows from the notebooks and their exercises."""
    return f"{BEGIN}\n\n{plans()}\n\n## What learners get wrong\n\n{pitfalls()}\n\n{END}"


def with_computed(page: str) -> str:
    """The page with its computed part as it is now."""
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    return before + computed() + after


def main(argv=None) -> int:
    """Write what `argv` asks for; 1 where a notebook cannot be executed."""
    parser = argparse.ArgumentParser(prog="python3 -m agentkit teach",
                                     description="Write the solved notebooks, and a twin with headings and code only.")
    parser.add_argument("notebooks", nargs="*", type=Path, help="without any, all of the course")
    parser.add_argument("--to", type=Path, default=CHECKOUT / "teach", metavar="FOLDER", help="where to (%(default)s)")
    parser.add_argument("--execute", action="store_true", help="run the solved notebooks and keep their outputs; takes minutes")
    parser.add_argument("--page", action="store_true", help="write the computed part of docs/teaching.md anew, and nothing else")
    options = parser.parse_args(argv)
    missing = [path for path in options.notebooks if not path.is_file()]
    if missing:
        parser.error(f"there is no {missing[0]}")
    if (CHECKOUT / "notebooks").resolve() in [(options.to / kind).resolve() for kind in ("", "solved", "twin")]:
        parser.error("the notebooks themselves would be replaced; choose another folder")
    if options.page:
        old = PAGE.read_text(encoding="utf-8")
        new = with_computed(old)
        write_atomically(PAGE, new.encode("utf-8"))
        print(f"{PAGE}: {'changed' if new != old else 'same'}")
        return 0
    try:
        write(options.notebooks or notebook_paths(), options.to, options.execute)
    except CannotRefresh as reason:
        print(f"{reason}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
