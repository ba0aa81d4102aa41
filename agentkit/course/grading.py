"""Grades a class: notebooks or .py files, one row per learner and exercise, the reasons in words.

    python3 -m agentkit grade FILES... [--csv out.csv]

This process never runs a learner's code. For each file it starts a judge (grading_judge), which starts the process that runs
the file (grading_worker), so that whatever a file does, the others are graded as if it were not there.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path

from . import exercises, grading_report
from .grading_files import Misuse, asked_of, course_notebooks, find_files, name_learners, named, read
from .grading_judge import ERROR, NOT_ATTEMPTED
from .verdict import FAILED, PASSED

SECONDS, MEGABYTES = 60, 2048
_RANK = {PASSED: 3, FAILED: 2, ERROR: 1, NOT_ATTEMPTED: 0}


@dataclass
class Mark:
    """What a learner has come to in one exercise."""

    learner: str
    exercise: str
    verdict: str = NOT_ATTEMPTED
    reason: str = ""
    file: str = ""
    versions: int | None = None
    """How many attempts the file holds."""
    seconds: float = 0.0


@dataclass
class Sweep:
    """A graded class."""

    seed: int
    learners: list[str]
    columns: list
    """The exercises, in the order of the course."""
    marks: dict[tuple[str, str], Mark]
    remarks: list[tuple[str, str]]
    """(learner, what is worth knowing beside the marks): cells that failed, files that could not be read."""
    troubles: list[Mark]
    """Files that could not be graded at all."""
    seconds: float = 0.0


def grade(paths: list[Path], *, seed: int, only: set[str] = frozenset(), jobs: int = 1, seconds: float = SECONDS, megabytes: int = MEGABYTES,
          tell: Callable[[str], None] = lambda text: None) -> Sweep:
    """Grade the files; the marks do not depend on `jobs`."""
    began = time.monotonic()
    course = course_notebooks()
    names = name_learners(paths, list(course))
    files = [read(path, names[path]) for path in paths]
    neighbours = {}
    for file in files:
        if not file.trouble:
            neighbours.setdefault(file.learner, {})[file.path.name] = file.text
    sweep = Sweep(seed, sorted(set(names.values()), key=str.casefold), [], {}, [], [])
    graded, judges = {}, Judges()
    own = Path(__file__).resolve().parents[2] / "notebooks"
    untouched = {stem: read(own / f"{stem}.ipynb", "").cells for stem in course if any(path.stem == stem for path in paths)}

    def one(file):
        started = time.monotonic()
        if file.trouble:
            return {"trouble": file.trouble, "wanted": {}}, 0.0
        asked = [exercise for number in asked_of(file, course, only) for exercise in exercises.of(number)]
        wanted = {exercise.id: {"name": exercise.name, "stub": exercise.stub, "value": exercise.value} for exercise in asked}
        if file.cells == untouched.get(file.path.stem) or not wanted:       # nobody has worked on it: no need to run it
            row = {"verdict": NOT_ATTEMPTED, "reason": "", "versions": 0, "seconds": 0.0}
            return {"rows": [{**row, "exercise": id} for id in wanted], "wanted": wanted}, 0.0
        job = {"cells": file.cells, "is_script": file.is_script, "files": neighbours[file.learner], "exercises": wanted, "seed": seed,
               "seconds": seconds, "megabytes": megabytes, "parents": _ancestors()}
        return {**judges.judge(job), "wanted": wanted}, time.monotonic() - started

    with ThreadPoolExecutor(max_workers=jobs) as pool, judges:      # in this order: stopped judges let the pool end
        waiting = {pool.submit(one, file): file for file in files}
        for done, future in enumerate(as_completed(waiting), 1):
            file = waiting[future]
            graded[file.path], took = future.result()
            count = f"[{done:>{len(str(len(files)))}}/{len(files)}]"
            tell(f"{count} {grading_report.short(file.learner)}: {file.path.name}, {_summary(graded[file.path])}, {took:.1f} s")
    for file in files:      # in the order they were named, whoever was ready first
        _enter(sweep, file, graded[file.path])
    touched = only or {id.partition("-")[0] for _, id in sweep.marks}
    sweep.columns = [e for number in exercises.notebooks() if number in touched for e in exercises.of(number)]
    sweep.seconds = time.monotonic() - began
    return sweep


def _summary(said):
    if "trouble" in said:
        return said["trouble"]
    tried = [row for row in said["rows"] if row["verdict"] != NOT_ATTEMPTED]
    return f"{sum(row['verdict'] == PASSED for row in tried)} of {len(tried)} attempted exercises passed"


def _enter(sweep, file, said):
    """Put a file's rows into the sweep. Of two files with the same exercise, the better one counts."""
    given, trouble = said.get("rows", []), said.get("trouble", "")
    failed = [problem["said"] for problem in said.get("problems", []) if not problem.get("harmless")]
    if not given and failed and not trouble:
        trouble = f"it does not run: {failed[0]}"
    if trouble:
        reason = f"{file.path.name} cannot be graded: {trouble}."
        given = [{"exercise": id, "verdict": ERROR, "reason": reason, "versions": None, "seconds": 0.0}
                 for id in sorted(named(file)) if id in said["wanted"]]
        if not given:
            sweep.troubles.append(Mark(file.learner, "", ERROR, reason, file.path.name))
    elif not given:
        sweep.remarks.append((file.learner, f"{file.path.name} holds no exercise that is asked for"))
    for row in given:
        mark = Mark(file.learner, row["exercise"], row["verdict"], row["reason"], file.path.name, row["versions"], row["seconds"])
        old = sweep.marks.get((file.learner, mark.exercise))
        if old is None or _RANK[mark.verdict] >= _RANK[old.verdict]:
            sweep.marks[file.learner, mark.exercise] = mark
    for problem in said.get("problems", []) if not trouble else ():
        place = "" if file.is_script or problem["cell"] is None else f", code cell {problem['cell']}"
        sweep.remarks.append((file.learner, f"{file.path.name}{place}: {problem['said']}"))


class Judges:
    """The judges that are running, so that none outlives this process."""

    def __init__(self):
        self.running: set[subprocess.Popen] = set()
        self.lock, self.over = threading.Lock(), False

    def __enter__(self):
        return self

    def __exit__(self, *error):
        with self.lock:
            self.over = error[0] is not None
            for process in self.running if self.over else ():
                process.terminate()

    def judge(self, job) -> dict:
        """What the judge of one file says: {"rows", "problems"}, or {"trouble": why there is nothing}."""
        patience = 6 * job["seconds"] + 15 * len(job["exercises"]) + 60
        # The folder is made here: whatever ends the judge, it is removed.
        with tempfile.TemporaryDirectory(prefix="agentkit-grade-", ignore_cleanup_errors=True) as folder, tempfile.TemporaryFile() as errors:
            with self.lock:
                if self.over:
                    return {"trouble": "grading was stopped"}
                process = subprocess.Popen([sys.executable, "-m", "agentkit.course.grading_judge"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                           stderr=errors, env=_judges_environment(), start_new_session=os.name != "nt")
                self.running.add(process)
            try:
                out, _ = process.communicate(json.dumps({**job, "folder": folder}).encode(), timeout=patience)
                said = json.loads(out)
                return said if isinstance(said, dict) and "rows" in said else {"trouble": "its judge said nothing"}
            except subprocess.TimeoutExpired:
                process.terminate()
                return {"trouble": f"it was not done after {patience:.0f} s"}
            except (ValueError, OSError):
                errors.seek(0)
                last = errors.read().decode("utf-8", "replace").strip().splitlines()[-1:]
                return {"trouble": f"its judge was ended ({last[0][:200] if last else f'exit code {process.wait()}'})"}
            finally:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(5)
                if process.poll() is None:
                    process.kill()
                    process.wait()
                with self.lock:
                    self.running.discard(process)


def _judges_environment():
    root = str(Path(__file__).resolve().parents[2])
    return {**os.environ, "PYTHONPATH": root, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "AGENTKIT_REAL": "0"}


def _ancestors():
    """Processes that a learner's code must not signal: this one, what started it, and their groups."""
    own = {os.getpid(), os.getppid()}
    return sorted(own | {os.getpgid(pid) for pid in own} if hasattr(os, "getpgid") else own)


def _options(argv):
    parser = argparse.ArgumentParser(prog="python3 -m agentkit grade", description="Grade a class: one row per learner and exercise.")
    parser.add_argument("files", nargs="+", metavar="FILES", help="notebooks, .py files, or folders of them")
    parser.add_argument("--csv", type=Path, metavar="FILE", help="write the rows there, too")
    parser.add_argument("--notebooks", default="", metavar="04,05", help="only the exercises of these; without it, of all that the class has touched")
    parser.add_argument("--seed", type=int, help="the seed of the inputs; without it a new one, which is printed")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="files at a time (%(default)s here)")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="for the cells of one file (%(default)s); a cell may take a third of it")
    parser.add_argument("--memory", type=int, default=MEGABYTES, metavar="MB", help="for one file (%(default)s), where the system has such a bound")
    options = parser.parse_args(argv)
    options.only = set(filter(None, re.split(r"[,\s]+", options.notebooks)))
    unknown = options.only - set(exercises.notebooks())
    for wrong, text in ((unknown, f"no exercises for notebook {', '.join(sorted(unknown))}; there are {', '.join(exercises.notebooks())}"),
                        (options.jobs < 1, "--jobs is at least 1"), (options.seconds <= 0, "--seconds is more than 0"),
                        (options.memory < 256, "--memory is at least 256: the notebooks draw pictures"),
                        (options.csv and not options.csv.resolve().parent.is_dir(), f"there is no folder for {options.csv}"),
                        (options.csv and options.csv.is_dir(), f"{options.csv} is a folder")):
        if wrong:
            parser.error(text)
    try:
        options.paths = find_files(options.files)
    except Misuse as error:
        parser.error(str(error))
    if options.csv and options.csv.resolve() in [path.resolve() for path in options.paths]:
        parser.error(f"{options.csv} is one of the files to grade")
    return options


def main(argv=None) -> int:
    """Grade what `argv` names; 0 whatever the marks, 2 for misuse."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")
    options = _options(sys.argv[1:] if argv is None else argv)
    seed = random.SystemRandom().randrange(1_000_000) if options.seed is None else options.seed
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        sweep = grade(options.paths, seed=seed, only=options.only, jobs=options.jobs, seconds=options.seconds, megabytes=options.memory,
                      tell=lambda text: print(grading_report.one_line(text), file=sys.stderr, flush=True))
    except KeyboardInterrupt:
        print("\nStopped. Nothing was written.", file=sys.stderr)
        return 130
    print(grading_report.table(sweep))
    if options.csv:
        try:
            grading_report.write_csv(sweep, options.csv)
        except OSError as error:
            print(f"{options.csv} cannot be written: {error.strerror}", file=sys.stderr)
            return 2
        print(f"\n{options.csv}: {len(grading_report.rows(sweep))} rows")
    return 0


if __name__ == "__main__":
    sys.exit(main())
