"""Judges one learner's file. The learner's code runs in a process of its own (grading_worker); here only data arrives, so
nothing that it does to itself can turn a wrong answer into a right one, and its death is a finding like any other.

    python -m agentkit.course.grading_judge         started by grading, one for each file: a job on stdin, rows on stdout
"""

from __future__ import annotations

import ast
import difflib
import functools
import json
import re
import signal
import sys
import time
import zlib
from pathlib import Path

from . import causes, exercises, judge, trial
from .grading_learner import Learner, ProcessEnded, adopt_orphans, settle
from .grading_remote import Loop, Remote
from .grading_wire import Functions, received, up
from .values import shorten
from .verdict import FAILED, PASSED, Row, Verdict, clean

ERROR, NOT_ATTEMPTED = "error", "not attempted"
PEEKS = re.compile(r"solution_source|agentkit\.course\.exercises|agentkit\.course import .*\bexercises\b|course/exercises")


@functools.lru_cache(maxsize=None)
def crosses(exercise, seed):
    """Whether the published solution still passes when its arguments and results travel over the wire."""
    answer = trial.run_source(exercise, exercise.solution)
    try:
        answer = received(up(answer), Functions()) if exercise.value else Loop(answer)
        return judge.grade(exercise, answer, seed).passed
    except Exception:
        return False


def seed_of(sweep: int, id: str) -> int:
    """The seed of an exercise's cases: the same for every learner of a sweep, another one in the next."""
    return zlib.crc32(f"{sweep}/{id}".encode())


def judge_file(job) -> dict:
    """{"rows": one for each exercise that the file holds anything of, "problems": what its cells did}."""
    for name, text in job["files"].items():
        Path(job["folder"], name).write_text(text, encoding="utf-8", errors="replace")
    learner = Learner(job, job["folder"])
    try:
        rows = _rows(job, learner)
    finally:
        learner.end()
    return {"rows": rows, "problems": learner.problems}


def _rows(job, learner):
    try:
        ran = learner.ready()
    except OSError as error:
        mentioned = [id for id in job["exercises"] if _mentions("\n".join(job["cells"]), id)]
        return [_row(id, ERROR, f"The file cannot be graded: {error}.") for id in mentioned]
    source = "\n".join(job["cells"])
    touched = {id.partition("-")[0] for id in job["exercises"] if id in ran["found"] or _mentions(source, id)}
    rows = []
    for id in job["exercises"]:
        began = time.monotonic()
        if id in ran["found"]:
            row = _judged(job, learner, id, source)
        else:
            row = _missing(job, learner, id, ran) if id.partition("-")[0] in touched else None
        if row is not None:
            rows.append({**row, "seconds": round(time.monotonic() - began, 2)})
    return rows


def _row(id, verdict, reason, versions=None):
    return {"exercise": id, "verdict": verdict, "reason": clean(reason), "versions": versions, "seconds": 0.0}


def _missing(job, learner, id, ran):
    """What to say of an exercise that no answer was found for."""
    for problem in learner.problems:
        cell = job["cells"][problem["cell"] - 1] if problem["cell"] else ""
        if not problem.get("harmless") and (_mentions(cell, id) or _defines(cell, exercises.find(id))):
            return _row(id, ERROR, f"Cell {problem['cell']} does not run: {problem['said']}.")
    return _row(id, NOT_ATTEMPTED, _meant(exercises.find(id), ran["defined"]))


def _mentions(source, id):
    return re.search(rf"""(?m)^[^#\n]*\b(?:check|hint|solution)\(\s*["']{id}["']""", source) is not None


def _defines(source, exercise):
    return not exercise.value and re.search(rf"(?m)^\s*(?:def|class)\s+{exercise.name}\b", source) is not None


def _meant(exercise, defined):
    """A function that may have been meant; it is named, and not graded, because that would be a guess."""
    if exercise.value:
        return ""
    try:
        own = next(node for node in ast.walk(ast.parse(exercise.solution)) if isinstance(node, ast.FunctionDef) and node.name == exercise.name)
    except StopIteration:
        return ""
    parameters = [arg.arg for arg in own.args.args]
    near = difflib.get_close_matches(exercise.name, defined, 1, 0.75) or [name for name, its in defined.items() if its == parameters][:1]
    near = [name for name in near if name != exercise.name]
    return f"There is no {exercise.name}, and nothing was checked. Was `{near[0]}` meant?" if near else ""


def _judged(job, learner, id, source):
    exercise, seed = exercises.find(id), seed_of(job["seed"], id)
    found = learner.ready()["found"][id]
    if found["how"] == "stub":
        broken = _missing(job, learner, id, {"defined": {}})
        return broken if broken and broken["verdict"] == ERROR else _row(id, NOT_ATTEMPTED, "")
    try:
        verdict, note = _verdict(learner, exercise, id, seed)
    except OSError as error:
        return _row(id, ERROR, f"The file cannot be run again: {error}.", found["versions"])
    notes = [note] if note else []
    if found["how"] == "named":
        notes.append(f"nothing was checked; the function `{exercise.name}` was taken")
    if PEEKS.search(source):
        notes.append("the file reaches for the solutions")
    if _same_text(source, exercise):
        notes.append("word for word the published solution")
    return _row(id, verdict.status, _in_words(verdict, exercise, seed) + (f" ({'; '.join(notes)})" if notes else ""), found["versions"])


def _verdict(learner, exercise, id, seed):
    """(the verdict, a remark). Judged here, on data; in the learner's process only where the values cannot travel."""
    found = learner.ready()["found"].get(id)
    if found is None:
        return _failed(exercise, "it is not there when the file is run once more"), ""
    remote = None
    if found["function"] is None:
        answer = received(found["value"], learner.functions, lambda number: Remote(learner, number, exercise.seconds))
    else:
        answer = remote = Remote(learner, found["function"], exercise.seconds)
    verdict = judge.grade(exercise, answer, seed)
    stuck = settle(learner)
    if stuck and verdict.cause == causes.of_time_out(False, False):
        verdict = Verdict(verdict.status, verdict.title, verdict.rows, causes.of_time_out(True, False))
    if verdict.status == FAILED and not (remote and remote.gone) and not crosses(exercise, seed):
        return _judged_there(learner, exercise, seed), "judged in the learner's own process"
    return verdict, ""


def _judged_there(learner, exercise, seed):
    learner.ready()
    learner.send(judge=exercise.id, seed=seed)
    try:
        sent = learner.next(time.monotonic() + exercise.seconds + 5)["verdict"]
        return Verdict(str(sent["status"]), exercise.header, tuple(Row(str(a), str(b), bool(c)) for a, b, c in sent["rows"]), str(sent["cause"]))
    except (ProcessEnded, TimeoutError, KeyError, TypeError, ValueError) as error:
        learner.end()
        return _failed(exercise, str(error) or "it does not end")


def _failed(exercise, why):
    return Verdict(FAILED, exercise.header, (Row("came back", f"nothing: {why}"),))


def _same_text(source, exercise):
    """Whether a function of the file is the published solution, but for its comments and docstring."""
    def bodies(text):
        try:
            tree = ast.parse(text)
        except SyntaxError:
            return []
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == exercise.name:
                body = node.body[1:] if ast.get_docstring(node) is not None else node.body
                yield [ast.dump(part) for part in body]
    if exercise.value:
        return False
    published = next(iter(bodies(exercise.solution)), None)
    mine = re.findall(rf"(?m)^def {exercise.name}\b.*(?:\n(?:[ \t].*)?)*", source)
    return published is not None and any(published == body for text in mine for body in bodies(text))


def _in_words(verdict, exercise, seed):
    """A verdict as one paragraph: its rows, then the likely cause."""
    if verdict.status == PASSED:
        count = len(exercise.build(seed))
        return "Right." if count == 1 else f"All {count} cases are right."
    parts = [f"{row.label}: {row.text}" if row.label else row.text for row in verdict.rows if row.label not in ("printed", "note")]
    return shorten("; ".join(parts), 900) + (f". Likely cause: {verdict.cause}" if verdict.cause else "")


def main():
    """A job from stdin, its rows to stdout; SIGTERM ends the learner's process, too."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    job = json.loads(sys.stdin.buffer.read())
    out, sys.stdout = sys.stdout, sys.stderr
    adopt_orphans()
    out.write(json.dumps(judge_file(job)))
    out.flush()


if __name__ == "__main__":
    main()
