"""Grades an answer: finds the first case that fails, shows it, and says why it probably did."""

from __future__ import annotations

import functools

from . import causes, sandbox, stubs
from .exercise import ANY, Exercise
from .trial import Outcome, run_source, try_cases, wanted
from .values import plain, same, show, show_error
from .verdict import FAILED, NOT_ATTEMPTED, PASSED, Row, Verdict


def grade(exercise: Exercise, answer: object, seed: int | None = None) -> Verdict:
    """Grade `answer` on the exercise's cases, made from `seed` (the notebook's when None)."""
    seed = exercise.seed if seed is None else seed
    if stubs.is_stub(answer, exercise.stub):
        todo = f'Fill in the cell and run it again. hint("{exercise.id}") helps.'
        return Verdict(NOT_ATTEMPTED, exercise.header, (Row("", todo),))       # the task stands above the cell
    if not exercise.value and not callable(answer):
        rows = (Row("you gave", show(answer), True), Row("expected", f"the function {exercise.name} itself"))
        cause = f'You called it. Hand it over without the parentheses: check("{exercise.id}", {exercise.name}).'
        return Verdict(FAILED, exercise.header, rows, cause)

    trial = try_cases(exercise, answer, exercise.build(seed))
    printed = _printed_rows(trial.ran.printed)
    first = trial.first_failure
    if first is not None:
        rows, cause = _failure_rows(exercise, trial, first), _cause(exercise, trial, first, seed)
    elif trial.ran.timed_out:
        rows, cause = _time_out(exercise, trial)
    elif trial.ran.error is not None:
        raise RuntimeError(f"a case cannot be tried: {show_error(trial.ran.error)}")
    else:
        count = len(trial.outcomes)
        text = exercise.after or ("Right." if count == 1 else f"All {count} cases are right.")
        return Verdict(PASSED, exercise.header, (Row("", text), *printed))
    return Verdict(FAILED, exercise.header, (*rows, *printed), cause)


def _failure_rows(exercise, trial, first):
    outcome = trial.outcomes[first]
    rows = [Row("input", outcome.input, True)] if outcome.input else []
    rows.append(Row("your answer" if exercise.value else "raised" if outcome.error else "came back", outcome.came_back, True))
    if outcome.line:
        rows.append(Row("at", outcome.line, True))
    rows.append(Row("expected", outcome.expected, outcome.expected_is_code))
    if outcome.differs and (outcome.changed or len(outcome.came_back) > 40):
        rows.append(Row("difference", outcome.differs))
    if len(trial.outcomes) > 1 and not exercise.value:
        good = sum(o.expected is None for o in trial.outcomes)
        rows.append(Row("so far", f"{good} of {len(trial.outcomes)} cases are right"))
    return tuple(rows)


def _printed_rows(printed, most=12):
    lines = printed.rstrip("\n").splitlines()
    if len(lines) > most:
        lines[most:] = ["... and more"]
    return (Row("printed", "\n".join(lines), True),) if printed.strip() else ()


def _time_out(exercise, trial):
    stopped = f"nothing; it was stopped after {exercise.seconds:g} seconds"
    if trial.returned:
        stopped = f"something that could not be compared or shown within {exercise.seconds:g} seconds"
    rows = [Row("input", trial.input, True)] if trial.input else []
    rows += [Row("came back", stopped), Row("expected", wanted(trial.current), trial.current.expect is not ANY)]
    said = next((trap.says for trap in exercise.traps if trap.hangs), "")
    return tuple(rows), said or causes.of_time_out(trial.ran.stuck, trial.returned)


def _cause(exercise, trial, first, seed):
    outcome = trial.outcomes[first]
    return (
        _trap_says(exercise, trial, first, seed)
        or causes.certain(outcome, trial.ran.printed)
        or outcome.case.because
        or causes.likely(outcome)
        or f'Compare what came back with what was expected. hint("{exercise.id}") helps.'
    )


def _trap_says(exercise, trial, first, seed):
    """The message of the trap that the answer behaves like; the closest one where there are several."""
    best, said = (False, 0), ""
    for index, trap in enumerate(exercise.traps):
        if trap.when is not None:
            if trial.outcomes[first].error is None and _holds(trap, trial.outcomes[first]):
                return trap.says
            continue
        theirs = () if trap.hangs else _trap_outcomes(exercise, index, seed)
        if len(theirs) != len(trial.outcomes):
            continue
        agree = [_alike(mine, their) for mine, their in zip(trial.outcomes, theirs)]
        failing = [i for i, their in enumerate(theirs) if their.expected is not None]
        if first in failing and all(agree[i] for i in failing) and (all(agree), len(failing)) > best:
            best, said = (all(agree), len(failing)), trap.says
    return said


def _holds(trap, outcome):
    """Whether the trap's `when` is true; in the sandbox, because the result may be the learner's own object."""
    return bool(sandbox.run_bounded(lambda: bool(trap.when(outcome.result, outcome.args)), seconds=1).value)


def _alike(mine, theirs):
    """Whether two functions did the same on one case, as far as it can be seen from outside."""
    if mine.error is not None or theirs.error is not None:
        return type(mine.error) is type(theirs.error)
    if (mine.changed is None) != (theirs.changed is None):
        return False
    if mine.case.test is not None and mine.expected != theirs.expected:
        return False
    # The == of other objects may be the learner's and may never end: for them, compare their texts.
    pairs = [(theirs.result, mine.result), *zip(theirs.args, mine.args)]
    if any(plain(old) and plain(new) and not same(old, new) for old, new in pairs):
        return False
    return (plain(mine.result) and plain(theirs.result)) or mine.came_back == theirs.came_back


@functools.lru_cache(maxsize=200)
def _trap_outcomes(exercise: Exercise, index: int, seed: int) -> tuple[Outcome, ...]:
    answer = run_source(exercise, exercise.traps[index].wrong)
    return tuple(try_cases(exercise, answer, exercise.build(seed)).outcomes)
