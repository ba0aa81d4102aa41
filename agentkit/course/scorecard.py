"""The scorecard of the coding round: runs a reader's `run` against scripted models and says what an interviewer would note.

    card = scorecard(run)       # a notebook shows it; print(card) works too
    card["steps"].state         # "met", "not met" or "not reached"

Never raises for what the function does, and never waits for it for longer than SECONDS a situation.
"""

from __future__ import annotations

import inspect
import random
import shutil
import tempfile
from dataclasses import dataclass
from pathlib import Path

from . import sandbox, stubs
from .round_lines import LINES, Line
from .round_scenes import End, Enough, Killed, Situation
from .values import show, show_error

MET, NOT_MET, NOT_REACHED = "met", "not met", "not reached"
SECONDS = 3.0
"""Time for one situation."""
PATIENCE = 2
"""So many situations may hang; after that the rest is not reached."""
SEED = 23
LEVELS = ("must", "good", "senior")


@dataclass(frozen=True)
class Mark:
    """One line of a card: what was found, and the first evidence for it in a sentence."""

    line: Line
    state: str
    evidence: str

    def __repr__(self):
        return f"{self.state}: {self.line.says} ({self.evidence})"


@dataclass(frozen=True)
class Card:
    """What an interviewer would note: one Mark for each line."""

    marks: tuple[Mark, ...]
    note: str = ""
    """Said above the lines where there is nothing to judge."""

    def __getitem__(self, key: str) -> Mark:
        return next(mark for mark in self.marks if mark.line.key == key)

    def of(self, state: str) -> list[str]:
        """The keys of the lines in a state."""
        return [mark.line.key for mark in self.marks if mark.state == state]

    @property
    def met(self) -> int:
        return len(self.of(MET))

    @property
    def passed(self) -> bool:
        """Every line of the level "must" is met."""
        return all(mark.state == MET for mark in self.marks if mark.line.level == "must")

    @property
    def summary(self) -> str:
        """`6 of 16: must 5 of 8, good 1 of 4, senior 0 of 4`."""
        counts = {level: [m.state == MET for m in self.marks if m.line.level == level] for level in LEVELS}
        return f"{self.met} of {len(self.marks)} met: " + ", ".join(
            f"{level} {sum(found)} of {len(found)}" for level, found in counts.items()
        )

    @property
    def next(self) -> Mark | None:
        """The first line to mend: those of the level "must" go first."""
        missing = [m for m in self.marks if m.state == NOT_MET] or [m for m in self.marks if m.state == NOT_REACHED]
        return min(missing, key=lambda m: LEVELS.index(m.line.level), default=None)

    def __repr__(self):
        from .scorecard_views import plain

        return plain(self)

    def _repr_html_(self):
        from .scorecard_views import html

        return html(self)


def scorecard(fn, seed: int = SEED) -> Card:
    """Run `fn(model, tools, task, max_steps=..., ...)` through every situation; other seeds give other names, ids and numbers."""
    if note := _nothing_to_score(fn):
        return Card(tuple(Mark(line, NOT_REACHED, "") for line in LINES), note)
    marks: dict[str, Mark] = {}
    hung = 0
    for line in LINES:
        missing = next((need for need in line.needs if marks[need].state != MET), None)
        if missing:
            mark = Mark(line, NOT_REACHED, f'It stands on "{marks[missing].line.says}".')
        elif line.takes and not _takes(fn, line.takes):
            mark = Mark(line, NOT_REACHED, f"Your function takes no argument {line.takes} yet.")
        elif hung >= PATIENCE:
            mark = Mark(line, NOT_REACHED, "Your function hung before it came to this.")
        else:
            mark, stopped = probe(fn, line, seed)
            hung += stopped
        marks[line.key] = mark
    return Card(tuple(marks.values()))


def probe(fn, line: Line, seed: int = SEED) -> tuple[Mark, int]:
    """Judge one line; returns its mark, and 1 where the function had to be stopped."""
    fine = ""
    for situation in line.situations(random.Random(f"{seed} {line.key}")):
        end = play(fn, situation)
        found = end.wrong if end.hung else judged(situation, end)
        if found:
            return Mark(line, NOT_MET, found), int(end.hung)
        fine = fine or situation.fine
    return Mark(line, MET, fine), 0


def judged(situation: Situation, end: End) -> str | None:
    """What the judge found; a run that did not come as far as the judge looks, or left a list of odd things, is told so."""
    try:
        return situation.judge(situation.scene, end)
    except Exception:
        return f"After {situation.scene.calls} model call{'' if situation.scene.calls == 1 else 's'} {_lower(str(end))}"


def _lower(text):
    return text[:1].lower() + text[1:] + ("" if text.endswith(".") else ".")


def play(fn, situation: Situation) -> End:
    """Let `fn` live through one situation."""
    scene = situation.scene
    if situation.play is None:
        return _call(fn, scene, {})
    with tempfile.TemporaryDirectory() as folder:
        now, then = Path(folder, "now"), Path(folder, "then")
        now.mkdir()
        # What is on disk at the instant of the kill is all that the next process finds, whatever the first one does afterwards.
        scene.at_death = lambda: shutil.copytree(now, then)
        places = iter((now, then))

        def once():
            place = next(places)
            place.mkdir(exist_ok=True)
            return _call(fn, scene, {"path": str(place / "run.json")})

        end = situation.play(once, scene)
        return End(end.status, end.answer, end.messages, end.wrong.replace(folder, "..."), end.hung)


def _call(fn, scene, more) -> End:
    ran = sandbox.run_bounded(lambda: fn(scene.model, dict(scene.tools), scene.task, **scene.settings, **more), SECONDS)
    if ran.timed_out:
        return End(wrong=f"Your function had not come back after {SECONDS:g} seconds.", hung=True)
    if isinstance(ran.error, Killed):
        return End(wrong="The process was killed.")
    if isinstance(ran.error, Enough):
        return End(wrong=f"Your function did not stop: {ran.error}.")
    return End(wrong=f"Your function raised {show_error(ran.error)}.") if ran.error is not None else End.of(ran.value)


def _takes(fn, name: str) -> bool:
    """Whether a function can be given an argument by this name."""
    try:
        parameters = inspect.signature(fn).parameters.values()
    except (TypeError, ValueError):
        return True
    return any(p.kind is p.VAR_KEYWORD or p.name == name and p.kind is not p.POSITIONAL_ONLY for p in parameters)


def _nothing_to_score(fn) -> str:
    if fn is not None and fn is not ... and not callable(fn):
        return (
            f"This is {show(fn, 60)}, the result of a call perhaps. Hand over the function itself: scorecard(run), without parentheses"
            " after run."
        )
    return "A blank cell. The clock is yours; write, then run it again." if stubs.is_stub(fn) else ""
