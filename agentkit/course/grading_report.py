"""A graded class as a table for the terminal and as a CSV file. Names, paths and reasons are a learner's text: data, never layout."""

from __future__ import annotations

import csv
import io
import os
import re
import textwrap
import unicodedata
from pathlib import Path

from .grading_judge import ERROR, NOT_ATTEMPTED
from .verdict import FAILED, PASSED, clean

SIGNS = {PASSED: "ok", FAILED: "x", NOT_ATTEMPTED: "-", ERROR: "E"}
WIDTH, NAME = 110, 28
COLUMNS = ("learner", "notebook", "exercise", "title", "verdict", "reason", "attempts", "seconds")


def rows(sweep) -> list:
    """One mark per learner and exercise, then one per file that could not be graded."""
    from .grading import Mark

    marks = [sweep.marks.get((learner, exercise.id)) or Mark(learner, exercise.id) for learner in sweep.learners for exercise in sweep.columns]
    return marks + sweep.troubles


def one_line(text: str) -> str:
    """`text` without line ends and without characters that move the cursor, turn the text round or hide."""
    text = re.sub(r"\s+", " ", clean(text)).strip()
    return "".join("\N{REPLACEMENT CHARACTER}" if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") else c for c in text)


def short(name: str, width: int = NAME) -> str:
    """A name for a column: its beginning and its end where it is too long."""
    name = one_line(name) or "(no name)"
    return name if _width(name) <= width else name[: width // 2 - 2] + ".." + name[-(width // 2 - 2):]


def table(sweep) -> str:
    """Learners by exercises with totals, then the reasons, then what is worth knowing beside them."""
    count = {PASSED: 0, FAILED: 0, ERROR: 0, NOT_ATTEMPTED: 0}
    for mark in rows(sweep):
        count[mark.verdict] += 1
    lines = [f"{_n(len(sweep.learners), 'learner')}, {_n(len(sweep.columns), 'exercise')}, {sweep.seconds:.0f} s. "
             f"Seed {sweep.seed}: everybody had the same inputs; --seed {sweep.seed} gives them again.", ""]
    width = max([len("passed by"), *(min(_width(short(name)), NAME * 2) for name in sweep.learners)])
    room = max(1, (WIDTH - width - 14) // 7)
    for start in range(0, len(sweep.columns), room):
        lines += [*_block(sweep, sweep.columns[start:start + room], width, start + room >= len(sweep.columns)), ""]
    lines += [f"ok passed ({count[PASSED]})   x failed ({count[FAILED]})   - not attempted ({count[NOT_ATTEMPTED]})   E error ({count[ERROR]})"]
    for learner in sweep.learners:
        lines += _reasons(sweep, learner)
    return "\n".join(lines)


def _block(sweep, columns, width, is_last):
    yield _pad("learner", width) + "".join(f"{exercise.id:>7}" for exercise in columns) + ("      passed" if is_last else "")
    for learner in sweep.learners:
        marks = [sweep.marks.get((learner, exercise.id)) for exercise in columns]
        total = sum(sweep.marks[learner, e.id].verdict == PASSED for e in sweep.columns if (learner, e.id) in sweep.marks)
        yield (_pad(short(learner), width) + "".join(f"{SIGNS[mark.verdict] if mark else '-':>7}" for mark in marks)
               + (f"{f'{total} of {len(sweep.columns)}':>12}" if is_last else ""))
    passed = [sum((learner, e.id) in sweep.marks and sweep.marks[learner, e.id].verdict == PASSED for learner in sweep.learners) for e in columns]
    yield _pad("passed by", width) + "".join(f"{number:>7}" for number in passed)


def _reasons(sweep, learner):
    said = []
    titles = {exercise.id: exercise.title for exercise in sweep.columns}
    for exercise in sweep.columns:
        mark = sweep.marks.get((learner, exercise.id))
        if mark and (mark.verdict in (FAILED, ERROR) or mark.verdict == NOT_ATTEMPTED and mark.reason or mark.reason.endswith(")")):
            said += _wrapped(f"{mark.exercise} {titles[mark.exercise]}: {mark.verdict}. {mark.reason}")
    for mark in sweep.troubles:
        said += _wrapped(mark.reason) if mark.learner == learner else []
    for who, remark in sweep.remarks:
        said += _wrapped(remark) if who == learner else []
    return ["", short(learner, WIDTH), *said] if said else []


def _wrapped(text):
    return textwrap.wrap(one_line(text), WIDTH, initial_indent="  ", subsequent_indent="      ")


def _width(text):
    return sum(0 if unicodedata.combining(c) else 2 if unicodedata.east_asian_width(c) in "WF" else 1 for c in text)


def _pad(text, width):
    return text + " " * max(0, width - _width(text))


def to_csv(sweep) -> str:
    """The rows as CSV. No cell begins with what a spreadsheet takes for a formula."""
    titles = {exercise.id: exercise.title for exercise in sweep.columns}
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(COLUMNS)
    for mark in rows(sweep):
        cells = (mark.learner, mark.file, mark.exercise, titles.get(mark.exercise, ""), mark.verdict, mark.reason)
        writer.writerow([*map(_cell, cells), "" if mark.versions is None else mark.versions, f"{mark.seconds:.2f}"])
    return file.getvalue()


def _cell(text):
    text = one_line(text)
    return f"'{text}" if text.startswith(("=", "+", "-", "@")) else text


def write_csv(sweep, path: Path) -> None:
    """Write the rows in one step, with the mark by which spreadsheets know UTF-8."""
    draft = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        draft.write_text(to_csv(sweep), encoding="utf-8-sig", newline="")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


def _n(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
