"""The process that runs one learner's file and nothing else: it executes the cells, keeps the functions, and calls them when
the judge asks. It never learns what a case expects, and it says nothing about right or wrong.

    python -m agentkit.course.grading_worker        started by grading_judge, spoken to in lines of JSON
"""

from __future__ import annotations

import ast
import asyncio
import builtins
import copy
import inspect
import io
import json
import linecache
import os
import re
import sys
import threading
import traceback
import types

from . import sandbox, stubs, verdict
from .grading_guard import end_with, guard, limit
from .grading_wire import taken, up
from .values import show_error, shorten

MAGICS_WITH_A_BODY = ("time", "timeit", "capture", "prun")


class Line:
    """The two pipes to the judge. Only the process that was started speaks: a fork of it ends at its first word."""

    def __init__(self, into, out):
        self._into, self._out, self._home = into, out, os.getpid()

    def send(self, **message):
        if os.getpid() != self._home:
            os._exit(0)
        self._out.write(json.dumps(message).encode() + b"\n")
        self._out.flush()

    def next(self):
        line = self._into.readline()
        if not line:
            os._exit(0)     # the judge is gone
        return json.loads(line)


class Answers:
    """What was submitted: every answer handed to check(), and every function that has an exercise's name."""

    def __init__(self, wanted):
        self.wanted = wanted
        self.checked, self.named, self.defined = {}, {}, {}

    def check(self, id, answer=...):
        """Stands in for check(): notes the answer, judges nothing, writes no progress."""
        try:
            answer = answer if callable(answer) else copy.deepcopy(answer)
        except Exception:
            pass
        self.checked.setdefault(str(id), []).append(answer)
        return verdict.Verdict(verdict.PASSED, f"{id} is noted for grading")

    def look(self, names):
        """Note the functions that the learner's own code has put into its namespace."""
        for name, value in list(names.items()):
            files = [code.co_filename for code in stubs.codes(value).values()] if callable(value) else []
            if any(file.startswith("<cell ") for file in files):
                self.defined[name] = value
                for id, exercise in self.wanted.items():
                    versions = self.named.setdefault(id, [])
                    if exercise["name"] == name and not exercise["value"] and not any(value is old for old in versions):
                        versions.append(value)

    def of(self, id):
        """(how it was found, the answer, versions) of one exercise: the last attempt that was checked, else one of its name."""
        stub, checked = self.wanted[id]["stub"], self.checked.get(id, [])
        tried = [answer for answer in checked if not _is_stub(answer, stub)]
        if tried:
            return "checked", tried[-1], len(tried)
        named = [answer for answer in self.named.get(id, []) if not _is_stub(answer, stub)]
        if named:
            return "named", named[-1], len(named)
        return ("stub", None, 0) if checked else ("", None, 0)


def _is_stub(answer, stub):
    try:
        return stubs.is_stub(answer, stub)
    except Exception:       # an object that resists being looked at is an answer, if no good one
        return False


class Shell:
    """What get_ipython() gives: magics and `!` lines are left out and counted, for they are no part of an answer."""

    def __init__(self, run):
        self._run, self.skipped = run, []

    def run_line_magic(self, name, line, *rest):
        if name in ("time", "timeit", "prun"):
            return self._run(line)
        self.skipped.append(f"%{name}")

    def run_cell_magic(self, name, line, body):
        if name in MAGICS_WITH_A_BODY:
            return self._run(body)
        self.skipped.append(f"%%{name}")

    def getoutput(self, command, *rest, **more):
        self.skipped.append("!")
        return []

    def system(self, command):
        self.skipped.append("!")

    def __getattr__(self, name):
        return lambda *args, **kwargs: None


class Cells:
    """Runs cells in one namespace, as a notebook does; a cell that fails is told and the next one runs."""

    def __init__(self, answers, line):
        self.answers, self.line, self.problems = answers, line, []
        module = sys.modules["__main__"] = types.ModuleType("__main__")     # where dataclasses, pickle and typing look
        self.names = vars(module)
        self.names.update(__builtins__=builtins, get_ipython=lambda: self.shell, display=lambda *things, **how: None)
        self.shell, self.loop, self.filename = Shell(self._run), None, ""

    def run_all(self, cells, leave_out, is_script):
        for number, source in enumerate(cells, 1):
            if number in leave_out:
                continue
            self.line.send(cell=number)
            self.filename, self.shell.skipped = f"<cell {number}>", []
            linecache.cache[self.filename] = (len(source), None, source.splitlines(True), self.filename)
            sys.stdout = sys.stderr = Sink()
            try:
                self._run(source, by_statement=is_script)
            except BaseException as error:
                self._tell(number, error)
            self.answers.look(self.names)
            if self.shell.skipped:
                self.problems.append({"cell": number, "said": f"left out {', '.join(sorted(set(self.shell.skipped)))}", "harmless": True})

    def _tell(self, number, error):
        lines = [line for frame, line in traceback.walk_tb(error.__traceback__) if frame.f_code.co_filename == f"<cell {number}>"]
        line = lines[-1] if lines else getattr(error, "lineno", None)
        ended = isinstance(error, SystemExit)
        text = "it ends the program" if ended else show_error(error)
        self.problems.append({"cell": number, "said": shorten(text, 300) + (f", line {line}" if line else "")})

    def _run(self, source, by_statement=False):
        flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
        try:
            tree = compile(source, self.filename, "exec", ast.PyCF_ONLY_AST | flags)
        except SyntaxError:
            source = _without_magics(source)
            tree = compile(source, self.filename, "exec", ast.PyCF_ONLY_AST | flags)
        # A script is taken a statement at a time, so that what follows a failure still counts.
        parts = [ast.Module([node], []) for node in tree.body] if by_statement else [tree]
        for node in tree.body:
            if isinstance(node, ast.ImportFrom) and node.module == "__future__":
                for name in node.names:
                    flags |= getattr(__import__("__future__"), name.name).compiler_flag
        for part in parts:
            try:
                code = compile(part, self.filename, "exec", flags, dont_inherit=True)
                if code.co_flags & inspect.CO_COROUTINE:
                    self.loop = self.loop or asyncio.new_event_loop()
                    self.loop.run_until_complete(eval(code, self.names))
                else:
                    exec(code, self.names)
            except BaseException as error:
                if not by_statement:
                    raise
                self._tell(1, error)
            if by_statement:
                self.answers.look(self.names)


def _without_magics(source):
    """The cell with its magics as calls of get_ipython(), by IPython's own rules; as it is where IPython is missing."""
    try:
        from IPython.core.inputtransformer2 import TransformerManager
    except ImportError:
        return re.sub(r"(?m)^\s*[%!].*$", "", source)
    return TransformerManager().transform_cell(source)


class Sink(io.TextIOBase):
    """Takes any amount of print and keeps nothing."""

    encoding = "utf-8"

    def writable(self):
        return True

    def write(self, text):
        return len(text)


def stand_in(answers):
    """Put answers.check and quiet companions where notebooks look for check, hint, solution and progress."""
    import agentkit.course as course
    from agentkit.course import exercise, progress_file

    def nothing(*args, **kwargs):
        return None

    def no_solution(id):
        raise RuntimeError("solution_source() is not there while an answer is graded")

    for module in (course, exercise):
        module.check, module.hint, module.solution, module.solution_source = answers.check, nothing, nothing, no_solution
    for module in (course, progress_file):
        module.progress = nothing


class Calls:
    """Calls the learner's functions for the judge."""

    def __init__(self, line):
        self.line, self.functions, self.backs = line, [], {}

    def keep(self, function):
        self.functions.append(function)
        return len(self.functions) - 1

    def back(self, number, args, kwargs):
        """A function of the judge that the learner's code calls: asked for over the line."""
        self.line.send(back=number, args=up([list(args), kwargs], self.keep))
        answer = self.line.next()
        value = taken(answer["value"], self.backs, self.back)
        if answer["raised"]:
            raise value
        return value

    def call(self, message):
        function = self.functions[message["function"]]
        args, kwargs = taken(message["args"], self.backs, self.back)
        ran = sandbox.run_bounded(lambda: function(*args, **kwargs), message["seconds"])
        if ran.stuck:
            self.line.send(stuck=True)
            os._exit(0)
        if ran.timed_out:
            self.line.send(timed_out=True)
            return
        error = None
        if ran.error is not None:
            error = up(ran.error)
            error["line"] = self._line_of(ran.error)
        self.line.send(result=up(ran.value, self.keep), error=error, args=up([args, kwargs], self.keep), printed=ran.printed[:5000])

    def _line_of(self, error):
        """The deepest line of the learner's own code that the exception passed through, in the words of trial.py."""
        for frame, number in reversed(list(traceback.walk_tb(error.__traceback__))):
            if frame.f_code.co_filename.startswith("<cell "):
                text = linecache.getline(frame.f_code.co_filename, number).strip()
                return f"line {number} of your cell" + (f": {text}" if text else "")
        return ""


def judged_here(message, answers):
    """The verdict of an exercise whose cases cannot travel, made in the learner's own process."""
    from . import exercises, judge

    _, answer, _ = answers.of(message["judge"])
    found = judge.grade(exercises.find(message["judge"]), answer, message["seed"])
    return {"status": found.status, "title": found.title, "rows": [list(row) for row in found.rows], "cause": found.cause}


def main():
    """Take the job from stdin, run the file, then answer calls until the judge closes the line."""
    sys.modules["agentkit.course.grading_worker"] = sys.modules["__main__"]     # kept: the learner's code gets that name
    line = Line(os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb"))
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1, 2):
        os.dup2(nowhere, stream)
    job = line.next()
    if os.name != "nt":
        threading.Thread(target=end_with, args=(os.getppid(),), daemon=True).start()
    answers = Answers(job["exercises"])
    stand_in(answers)
    cells, calls = Cells(answers, line), Calls(line)
    sys.path.insert(0, os.getcwd())
    limit(job["megabytes"], job["cpu_seconds"])
    guard(os.getcwd(), job["parents"])
    cells.run_all(job["cells"], job["leave_out"], job["is_script"])
    found = {}
    for id in job["exercises"]:
        how, answer, versions = answers.of(id)
        if how:
            called = callable(answer) and not job["exercises"][id]["value"]
            found[id] = {"how": how, "versions": versions, "function": calls.keep(answer) if called else None,
                         "value": None if called else up(answer, calls.keep)}
    defined = {name: list(_parameters(value)) for name, value in list(answers.defined.items())[:200]}
    line.send(ran=True, found=found, problems=cells.problems[:200], defined=defined)
    while True:
        message = line.next()
        if "judge" in message:
            line.send(verdict=judged_here(message, answers))
        else:
            calls.call(message)


def _parameters(function):
    try:
        return inspect.signature(function).parameters
    except (TypeError, ValueError):
        return ()


if __name__ == "__main__":
    main()
