"""Tries an answer on every case of an exercise, in the sandbox, and notes what came of each."""

from __future__ import annotations

import inspect
import linecache
import time
import traceback
from dataclasses import dataclass, field

from . import sandbox, stubs
from .exercise import ANY, Case, Exercise
from .values import difference, plain, show, show_error, shorten


@dataclass
class Outcome:
    """What one case gave; `expected` is None where the case is passed."""

    case: Case
    input: str
    args: tuple = ()
    result: object = None
    error: BaseException | None = None
    changed: str | None = None
    """How the function changed its arguments."""
    came_back: str = ""
    expected: str | None = None
    expected_is_code: bool = False
    differs: str | None = None
    line: str = ""
    """The learner's own line that raised."""


@dataclass
class Trial:
    """All cases, tried on one answer; `current` is the input of a call that did not return."""

    outcomes: list[Outcome] = field(default_factory=list)
    current: Case | None = None
    input: str = ""
    returned: bool = False
    """The current call did return; it is its result that cannot be compared or shown in time."""
    ran: sandbox.Ran | None = None

    @property
    def first_failure(self) -> int | None:
        return next((i for i, outcome in enumerate(self.outcomes) if outcome.expected is not None), None)


def try_cases(exercise: Exercise, answer: object, cases: list[Case]) -> Trial:
    """Run every case in the sandbox, past the first failure: a trap is recognised by all of them."""
    trial = Trial()
    end = time.monotonic() + exercise.seconds

    def run_all():
        for case in cases:
            args, kwargs = case.fresh()
            trial.current, trial.returned = case, False
            trial.input = "" if exercise.value else _call_text(exercise.name, args, kwargs)
            outcome = _try(exercise, answer, case, args, kwargs, trial)
            if time.monotonic() > end:
                raise sandbox.Stopped  # the function swallowed the first one; its result is no answer
            trial.outcomes.append(outcome)

    trial.ran = sandbox.run_bounded(run_all, exercise.seconds)
    return trial


def _try(exercise, answer, case, args, kwargs, trial):
    outcome = Outcome(case, trial.input, args)
    try:
        outcome.result = answer if exercise.value else answer(*args, **kwargs)
    except sandbox.Stopped:
        raise
    except BaseException as error:
        outcome.error, outcome.line = error, _line_of(error, answer)
        outcome.came_back = show_error(error)
        if case.raises is None or not isinstance(error, case.raises):
            outcome.expected = wanted(case)
        return outcome
    trial.returned = True
    if inspect.iscoroutine(outcome.result):
        outcome.result.close()  # or Python warns that nobody awaited it
    if exercise.pure:
        outcome.changed = _changes(case, args, kwargs)
    _compare(outcome, case)
    outcome.came_back = show(outcome.result)
    if outcome.expected is None and outcome.changed:
        outcome.expected, outcome.differs = "the arguments left as they were", outcome.changed
    return outcome


def _compare(outcome, case):
    if case.raises is not None:
        outcome.expected = wanted(case)
    elif case.expect is not ANY:
        outcome.differs = difference(case.expect, outcome.result)
        if outcome.differs:
            outcome.expected, outcome.expected_is_code = show(case.expect), True
    if case.test is not None and outcome.expected is None:
        outcome.expected = _tested(case, outcome)


def _tested(case, outcome):
    """What the case's test expected and did not find; None when it is content."""
    try:
        said = case.test(outcome.result, outcome.args)
    except sandbox.Stopped:
        raise
    except AssertionError as error:
        return str(error) or "something else"
    except BaseException as error:  # the result has not even the shape that the test takes for granted
        return f"something that can be used; looking at the result gave {show_error(error)}"
    return None if said is None or said is True else shorten(str(said)) if said else "something else"


def wanted(case):
    if case.raises is not None:
        return f"{case.raises.__name__} raised"
    return show(case.expect) if case.expect is not ANY else "a result, without an exception"


def _changes(case, args, kwargs):
    """How the first changed argument changed; functions, models and the like are not looked at."""
    old_args, old_kwargs = case.fresh()
    pairs = [(f"argument {i}", *pair) for i, pair in enumerate(zip(old_args, args), 1)]
    pairs += [(key, old, kwargs[key]) for key, old in old_kwargs.items()]
    for name, old, new in pairs:
        if plain(old) and (found := difference(old, new)):
            return f"{name}: {found}"
    return None


def _call_text(name, args, kwargs):
    texts = [show(arg) for arg in args] + [f"{key}={show(value)}" for key, value in kwargs.items()]
    return f"{name}({', '.join(texts)})"


def _line_of(error, answer):
    """The deepest line of the learner's own code that the exception passed through."""
    if hasattr(error, "learners_line"):  # it was raised in another process, where a class is graded
        return error.learners_line
    files = {code.co_filename for code in stubs.codes(answer).values()}
    frames = [(frame, line) for frame, line in traceback.walk_tb(error.__traceback__)]
    for frame, line in reversed(frames):
        if frame.f_code.co_filename in files:
            text = linecache.getline(frame.f_code.co_filename, line).strip()
            return f"line {line} of your cell" + (f": {text}" if text else "")
    return ""


def run_source(exercise: Exercise, source: str) -> object:
    """Run a solution, a stub or a trap's `wrong` after the exercise's setup; return what it defines as `exercise.name`."""
    filename = f"<exercise {exercise.id}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    names = {"__name__": "exercise"}
    exec(compile(exercise.setup, "<setup>", "exec"), names)
    exec(compile(source, filename, "exec"), names)
    return names[exercise.name]
