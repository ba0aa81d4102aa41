"""What an exercise is made of, and the four names a notebook calls: check, hint, solution, solution_source."""

from __future__ import annotations

import copy
import random
import re
import sys
import zlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from .sandbox import SECONDS
from .verdict import FAILED, Row, Verdict, code_block, folded, rich

ANY = object()
"""The `expect` of a case that is decided by its `test` alone."""


@dataclass(frozen=True, eq=False)
class Case:
    """One call of the learner's function and what must come of it."""

    args: tuple | Callable[[], tuple] = ()
    """The arguments, copied for each call; a function that makes them where they cannot be copied."""
    expect: object = ANY
    test: Callable[[object, tuple], str | None] | None = None
    """`test(result, args)` returns None when all is well, else what was expected, in words; it may assert instead."""
    raises: type[BaseException] | None = None
    """The exception that the call must raise."""
    because: str = ""
    """The likely cause when this case fails."""
    kwargs: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self):
        if self.expect is ANY and self.test is None and self.raises is None:
            raise ValueError("Case needs one of expect=, test= and raises=.")

    def fresh(self) -> tuple[tuple, dict]:
        """Arguments that no call has touched."""
        args = self.args() if callable(self.args) else copy.deepcopy(self.args)
        return tuple(args), copy.deepcopy(dict(self.kwargs))


@dataclass(frozen=True, eq=False)
class Trap:
    """A typical wrong answer and what to say to it.

    A learner's function that behaves as `wrong` does on every case that `wrong` fails is told `says`. To behave alike is
    to return the same, raise the same type, leave the arguments the same and be told the same by the case's test.
    """

    wrong: str
    """Source text; it defines the same name as the solution does."""
    says: str
    when: Callable[[object, tuple], bool] | None = None
    """Instead of comparing with `wrong`: `when(result, args)` on the first failing case (for free text, say)."""
    hangs: bool = False
    """`wrong` never ends: `says` is told to every function that runs out of time."""


@dataclass(frozen=True, eq=False)
class Exercise:
    """One exercise of a notebook."""

    id: str
    """Notebook and number, such as "06-2"."""
    title: str
    difficulty: int
    """1 (warm-up) to 5 (an interview's last question)."""
    minutes: int
    task: str
    """One or two sentences."""
    cases: Sequence[Case] | Callable[[random.Random], Sequence[Case]]
    """The cases, or a function that makes them, so that an answer which only repeats known outputs is caught."""
    hints: Sequence[str]
    solution: str
    """Source text that defines `name`; it runs by itself after `setup`."""
    stub: str
    """Source text as it stands in the notebook, without the line that calls check()."""
    name: str = "answer"
    """What the learner defines: a function, a class, or a value."""
    traps: Sequence[Trap] = ()
    value: bool = False
    """The answer is a value (a number, a text, a dict): it is looked at, not called."""
    pure: bool = False
    """The function must leave its arguments as they are."""
    setup: str = ""
    """Source text of what earlier cells define and `solution` and `wrong` need; imports, mostly."""
    after: str = ""
    """Said when the exercise is passed: why it is so, what comes next."""
    seconds: float = SECONDS
    """Time for all cases together."""

    def __post_init__(self):
        if not re.fullmatch(r"\d\d-\d+", self.id):
            raise ValueError(f'An exercise id looks like "06-2", not {self.id!r}.')
        if self.difficulty not in range(1, 6):
            raise ValueError(f"Exercise {self.id}: difficulty is 1 to 5, not {self.difficulty!r}.")

    @property
    def header(self) -> str:
        return f"{self.id} {self.title}, difficulty {self.difficulty} of 5, {self.minutes} minutes"

    @property
    def seed(self) -> int:
        """The seed of the notebook's cases; a fixed one, so that the notebook's output never changes."""
        return zlib.crc32(self.id.encode())

    def build(self, seed: int) -> list[Case]:
        return list(self.cases(random.Random(seed)) if callable(self.cases) else self.cases)

    def cell(self, source: str | None = None) -> str:
        """The code cell of the notebook: `source` (the stub when None; the solution, to solve it) and the check line."""
        return f'{(self.stub if source is None else source).strip()}\n\ncheck("{self.id}", {self.name})'


def check(id: str, answer: object = ...) -> Verdict:
    """Try `answer` on the exercise's cases and say what came of it; a pass is remembered for progress().

    Never raises, whatever the answer does.
    """
    from . import exercises, judge, progress_file

    if not isinstance(id, str):
        return Verdict(FAILED, "check", (Row("", 'The id of the exercise comes first: check("06-2", your_function).'),))
    try:
        exercise = exercises.find(id)
    except Exception as error:
        return Verdict(FAILED, "check", (Row("", _why_not_found(id, error)),))
    try:
        verdict = judge.grade(exercise, answer)
        note = progress_file.record_pass(exercise.id) if verdict.passed else ""
    except Exception as error:  # a fault of the course, and no reason to show the learner a traceback
        text = f"This check is broken, not your answer ({type(error).__name__}: {error}). Please report it."
        return Verdict(FAILED, exercise.header, (Row("", text),))
    if not note:
        return verdict
    return Verdict(verdict.status, verdict.title, (*verdict.rows, Row("note", note)), verdict.cause)


def hint(id: str) -> None:
    """Show the hints of an exercise, each folded until it is opened."""
    if exercise := _find(id):
        texts = [f"Hint {i} of {len(exercise.hints)}" for i in range(1, len(exercise.hints) + 1)]
        html = "".join(folded(title, rich(text)) for title, text in zip(texts, exercise.hints))
        plain = "\n".join(f"{title}: {text}" for title, text in zip(texts, exercise.hints))
        _display(html, plain, f"Hints for {id}: {len(exercise.hints)}, folded. Open them in Jupyter.")


def solution(id: str) -> None:
    """Show the solution of an exercise, folded until it is opened."""
    if exercise := _find(id):
        source = exercise.solution.strip()
        spoken = f'Solution of {id}: folded. Open it in Jupyter, or run print(solution_source("{id}")).'
        _display(folded(f"Solution of {id}", code_block(source)), source, spoken)


def solution_source(id: str) -> str:
    """The solution of an exercise as source text; UnknownExercise for an unknown id."""
    from . import exercises

    return exercises.find(id).solution.strip()


def _find(id):
    from . import exercises

    try:
        return exercises.find(str(id))
    except Exception as error:
        print(_why_not_found(id, error))
        return None


def _why_not_found(id, error):
    from . import exercises

    if isinstance(error, exercises.UnknownExercise):
        return str(error)
    return f"The exercises of this notebook cannot be loaded ({type(error).__name__}: {error}). Please report it."


def _display(html, plain, unspoiled):
    """Show `html` in a notebook (with `unspoiled` as its plain text), print `plain` outside of one."""
    ipython = sys.modules.get("IPython")
    if ipython is None or ipython.get_ipython() is None:
        print(plain)
        return
    from IPython.display import display

    display({"text/html": html, "text/plain": unspoiled}, raw=True)


__all__ = ["ANY", "Case", "Exercise", "Trap", "check", "hint", "solution", "solution_source"]
