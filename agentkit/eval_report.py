"""What came of a sweep: one small row a run, the rates and medians over them with their intervals, and the comparison of two versions."""

from __future__ import annotations

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from .intervals import ALPHA, mean, mean_difference, median, needed, sign_test, wilson
from .trace import Table

LOST = "harness error"
RATES = {"success": "success", "right_tools": "right tools", "right_order": "right order"}
SIZES = {"steps": ("steps", "{:g}"), "tokens": ("tokens", "{:,.0f}"), "usd": ("USD a run", "{:.4f}"), "seconds": ("seconds", "{:.1f}")}


@dataclass(frozen=True)
class Row:
    """One run of one task. Plain values only: this is what travels back from a worker. Equal rows may differ in their seconds."""

    task: str
    trial: int
    success: bool | None        # None: there is no result, the status is "harness error" and `why` says what happened
    why: str                    # what was wrong; "" where all is well
    status: str
    group: str = ""
    right_tools: bool | None = None     # None: the task does not ask for it
    right_order: bool | None = None
    calls: tuple[str, ...] = ()         # the tools that ran, in call order
    steps: int | None = None
    tokens: int | None = None
    usd: float | None = None            # None: unknown, never nothing
    answer: str | None = None           # its first 300 characters, for reading; it is never compared
    of: str = ""                        # a digest of the task, so that only equal tasks are compared
    seconds: float | None = field(default=None, compare=False)      # on the run's own clock


class Rate(NamedTuple):
    """A share of tasks with its interval; with repeats `passed` may be a fraction."""

    passed: float
    n: int
    share: float
    low: float
    high: float


@dataclass(frozen=True)
class Report:
    """The rows of one version of an agent on one task set, in the order of the tasks."""

    name: str
    rows: tuple[Row, ...]

    @property
    def failures(self) -> list[Row]:
        return [r for r in self.rows if r.success is False]

    @property
    def lost(self) -> list[Row]:
        """The runs without a result: harness errors. They are in no rate, so say how many there are."""
        return [r for r in self.rows if r.success is None]

    def scores(self, what: str = "success", lost: float | None = None) -> dict[str, float]:
        """For each task the mean of its trials: a share of passes, or steps, tokens, usd, seconds.

        A run without a result counts as `lost`, or not at all.
        """
        found = defaultdict(list)
        for row in self.rows:
            if (value := lost if row.success is None else getattr(row, what)) is not None:
                found[row.task].append(value)
        return {task: sum(values) / len(values) for task, values in found.items()}

    def rate(self, what: str = "success", lost_fail: bool = False) -> Rate:
        """The share of tasks, with Wilson's interval. `lost_fail` counts runs without a result as failures: the worst case.

        Several trials of one task are not so many tasks: the interval uses the number of independent runs that the spread
        between tasks allows, which lies between the number of tasks and the number of runs.
        """
        found = self.scores(what, 0.0 if lost_fail else None)
        n, runs = len(found), sum(getattr(r, what) is not None for r in self.rows)
        if not n:
            return Rate(0, 0, 0.0, 0.0, 1.0)
        share = sum(found.values()) / n
        between = sum((s - share) ** 2 for s in found.values()) / n / n         # the variance of the mean
        worth = n if not between or n < 2 else min(max(share * (1 - share) / between, n), max(runs, n))
        return Rate(sum(found.values()), n, share, *wilson(share * worth, worth))

    def median(self, what: str) -> tuple[float, float, float] | None:
        """(median, low, high) over the tasks of steps, tokens, usd or seconds; None where nothing is known."""
        found = self.scores(what)
        return median(list(found.values())) if found else None

    def groups(self) -> dict[str, Rate]:
        """The success of each group of tasks, in the order of the tasks."""
        return {g: Report(self.name, tuple(r for r in self.rows if r.group == g)).rate() for g in dict.fromkeys(r.group for r in self.rows)}

    def table(self) -> Table:
        """Rates and medians with their 95 % intervals."""
        rows = [(label, f"{r.share:.1%}", f"{r.low:.1%} to {r.high:.1%}", f"{r.passed:g} of {r.n}")
                for what, label in RATES.items() if (r := self.rate(what)).n]
        for what, (label, form) in SIZES.items():
            if (m := self.median(what)) is not None:
                rows.append((f"{label}, median", form.format(m[0]), f"{form.format(m[1])} to {form.format(m[2])}", f"{len(self.scores(what))}"))
        return Table((self.name, "value", "95 % interval", "tasks"), rows, self._note())

    def _note(self) -> str:
        worst = self.rate(lost_fail=True)
        return "" if not self.lost else (f"{len(self.lost)} of {len(self.rows)} runs have no result (harness errors). "
                                         f"If they all failed, success would be {worst.share:.1%}.")

    def failure_table(self) -> Table:
        """Every run that did not pass, and why."""
        return Table(("task", "status", "what was wrong", "the tools that ran"),
                     [(r.task + (f" #{r.trial}" if r.trial else ""), r.status, r.why, ", ".join(r.calls)) for r in self.failures + self.lost])

    def compare(self, new: Report) -> Comparison:
        """What changes when `new` takes the place of this version, task by task."""
        mine, theirs = ({r.task: r.of for r in report.rows} for report in (self, new))
        if changed := [t for t in mine if t in theirs and mine[t] != theirs[t]]:
            raise ValueError(f"task {changed[0]!r} is not the same in both reports: run both versions on one task set")
        return Comparison(self, new)

    def save(self, path) -> Path:
        """Write the report as JSON Lines: its name, then one row a line."""
        path = Path(path)
        path.write_text("".join(json.dumps(line) + "\n" for line in [{"report": self.name}, *map(asdict, self.rows)]), encoding="utf-8")
        return path

    @classmethod
    def load(cls, path) -> Report:
        first, *rows = (json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines())
        return cls(first["report"], tuple(Row(**{**row, "calls": tuple(row["calls"])}) for row in rows))


@dataclass(frozen=True)
class Comparison:
    """Two versions, task by task. Only tasks with a result in both are compared; the others are in `left_out`."""

    old: Report
    new: Report

    def differences(self, what: str = "success") -> dict[str, float]:
        """For each task that both have, new minus old."""
        old, new = self.old.scores(what), self.new.scores(what)
        return {task: new[task] - old[task] for task in old if task in new}

    @cached_property
    def better(self) -> list[str]:
        return [task for task, d in self.differences().items() if d > 0]

    @cached_property
    def worse(self) -> list[str]:
        return [task for task, d in self.differences().items() if d < 0]

    @cached_property
    def left_out(self) -> list[str]:
        seen = self.differences()
        return [task for task in dict.fromkeys(r.task for r in (*self.old.rows, *self.new.rows)) if task not in seen]

    @property
    def p(self) -> float:
        return sign_test(len(self.better), len(self.worse))

    @property
    def real(self) -> bool:
        """The difference in success is more than chance, at 5 %."""
        return self.p < ALPHA

    @property
    def difference(self) -> tuple[float, float, float]:
        """(new minus old, low, high) of the success rate."""
        return mean_difference(list(self.differences().values()))

    @property
    def sentence(self) -> str:
        n, up, down, (d, low, high) = len(self.differences()), len(self.better), len(self.worse), self.difference
        said = (f"{self.new.name} is better on {up} of {n} tasks and worse on {down}: {100 * d:+.1f} points "
                f"({100 * low:+.1f} to {100 * high:+.1f}); p = {self.p:.2g}: ")
        if self.real:
            said += f"{self.new.name} is really {'better' if up > down else 'worse'}."
        elif up == down:
            said += f"no difference is shown with {n} tasks."
        else:
            more = needed(max(up, down) / n, min(up, down) / n)
            said += f"not shown to be real with {n} tasks." + (
                f" If the true difference is what was seen, about {more:,} tasks find it four times in five." if more else "")
        if self.left_out:
            said += f" {len(self.left_out)} tasks have no result in one of them and are left out."
        return said

    def table(self) -> Table:
        """Old, new, and the mean difference task by task, with its 95 % interval."""
        success, both = self.differences(), lambda what: ([r.scores(what)[task] for task in self.differences(what)] for r in (self.old, self.new))
        d, low, high = self.difference
        rows = [("success", *(f"{sum(values) / len(values):.1%}" if success else "" for values in both("success")),
                 f"{100 * d:+.1f} points", f"{100 * low:+.1f} to {100 * high:+.1f}")]
        for what, (label, form) in SIZES.items():
            if found := list(self.differences(what).values()):
                form = form.replace("g", ".1f")
                signed: Callable = form.replace(":", ":+").format
                d, low, high = mean(found)
                means = (form.format(sum(values) / len(values)) for values in both(what))
                rows.append((f"{label}, mean", *means, signed(d), f"{signed(low)} to {signed(high)}"))
        return Table(("", self.old.name, self.new.name, "difference", "95 % interval"), rows, self.sentence)


def digest(task: dict) -> str:
    """Equal for equal tasks, whichever trial."""
    text = json.dumps({k: v for k, v in task.items() if k != "trial"}, sort_keys=True, default=str)
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
