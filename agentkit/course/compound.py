"""How small errors add up over the steps of a task: closed formulas, a simulation of thousands of tasks at once, and one
experiment through agentkit's own loop. Notebook 20 stands on it; its pictures are in compound_views.py.

The model is the usual one: each step is right with probability p, whatever the others are, and one wrong step ruins the
task. Both are assumptions; `mixed` drops the first. Probabilities are between 0 and 1, calls are model calls.
"""

import math
import random
from dataclasses import dataclass

import numpy as np

from agentkit import Limits, Reply, call, run, tool
from agentkit.intervals import Z, wilson


@dataclass(frozen=True)
class Setup:
    """A task and what was bought for it. The last step is the one that cannot be taken back, such as a refund."""

    p: float = 0.95
    """The probability that a step is right at the first go."""
    n: int = 20
    """The steps of the task."""
    catch: float = 0.0
    """The share of the bad steps that the check sees."""
    repair: float = 0.0
    """The probability that one repair makes such a step good. A blind retry is a repair with `repair = p`."""
    tries: int = 1
    """How often one step is repaired at most; 0 switches the check off."""
    alarms: float = 0.0
    """The share of the good steps that the check doubts: each costs a call and changes nothing."""
    person: float = 0.0
    """The probability that a person sees that the last step is about to go wrong, and says no; 0 is no person. A good step is never refused."""


# ---- formulas ------------------------------------------------------------------------------------------------------------

def step(s: Setup) -> float:
    """The probability that a step ends right, repairs included: p + (1 - p) c r where there is one try."""
    again = s.catch * (1 - s.repair)                            # seen, repaired in vain: the next try, if there is one
    return s.p + (1 - s.p) * s.catch * s.repair * sum(again ** k for k in range(s.tries))


def step_calls(s: Setup) -> float:
    """Model calls that a step takes on average: itself, the false alarms, the repairs."""
    if not s.tries:
        return 1.0
    again = s.catch * (1 - s.repair)
    return 1 + s.p * s.alarms + (1 - s.p) * s.catch * sum(again ** k for k in range(s.tries))


@dataclass(frozen=True)
class Ends:
    """What becomes of a task on average: three probabilities that add up to 1, and the model calls it takes."""

    success: float      # every step right
    harm: float         # the last step was carried out, and wrong
    stopped: float      # a person said no: not done, no harm
    calls: float

    @property
    def calls_per_success(self) -> float:
        """Model calls for each task that arrives: what success costs."""
        return self.calls / self.success if self.success else math.inf


def expect(s: Setup) -> Ends:
    """The formula. A step that the person refuses for its own mistake is done once more; for an older one the task stops."""
    q, calls, h = step(s), step_calls(s), s.person
    before = q ** (s.n - 1)                                     # all steps but the last are right
    redo = before * (1 - q) * h
    success = before * q + redo * q
    harm = (1 - h) * (1 - before * q + redo * (1 - q))
    return Ends(success, harm, max(0.0, 1 - success - harm), s.n * calls + redo * calls)


def needed(target: float, n: int, mended: float = 0.0) -> float:
    """The reliability a step needs, so that `target` of the tasks of n steps arrive, where a share of bad steps is mended."""
    bad = 1 - target ** (1 / n)                                 # what a step may lose in the end
    return max(0.0, 1 - bad / (1 - mended)) if mended < 1 else 0.0


def mixed(a: float, b: float, n: int) -> float:
    """The success over tasks whose p is drawn from a Beta(a, b), once for each task: the mean of p^n."""
    return math.prod((a + k) / (a + b + k) for k in range(n))


# ---- simulation ----------------------------------------------------------------------------------------------------------

def play(s: Setup, shape, rng) -> tuple[np.ndarray, np.ndarray]:
    """(good, calls) of steps, both of this shape: every step is drawn, looked at, repaired, all of them at once."""
    good, calls = rng.random(shape) < s.p, np.ones(shape, int)
    if s.tries:
        calls += good & (rng.random(shape) < s.alarms)
    open_ = ~good                                               # bad, and not yet given up
    for _ in range(s.tries):
        open_ &= rng.random(shape) < s.catch                    # what the check does not see stays bad for ever
        calls += open_
        mended = open_ & (rng.random(shape) < s.repair)
        good |= mended
        open_ &= ~mended
    return good, calls


@dataclass(frozen=True)
class Runs:
    """Simulated tasks."""

    right: np.ndarray       # bool, tasks x steps
    done: np.ndarray        # bool, tasks
    harm: np.ndarray        # bool, tasks
    calls: np.ndarray       # int, tasks

    def interval(self, z: float = Z) -> tuple[float, float]:
        """The interval of the success."""
        return wilson(int(self.done.sum()), len(self.done), z)


def simulate(s: Setup, tasks: int = 10_000, seed: int = 0) -> Runs:
    """So many tasks, all at once; the same seed gives the same tasks."""
    rng = np.random.default_rng(seed)
    right, calls = play(s, (tasks, s.n), rng)
    wrong = ~right.all(axis=1)
    refused = wrong & (rng.random(tasks) < s.person)
    redo = refused & right[:, :-1].all(axis=1)                  # its own mistake, so it can be done again
    again, more = play(s, tasks, rng)
    passed = redo & ~again & (rng.random(tasks) >= s.person)    # wrong once more, and this time nobody sees it
    return Runs(right, ~wrong | redo & again, wrong & ~refused | passed, calls.sum(axis=1) + redo * more)


def simulate_mixed(a: float, b: float, n: int, tasks: int = 10_000, seed: int = 0) -> np.ndarray:
    """Which steps are right (bool, tasks x n) where every task has a p of its own, from a Beta(a, b)."""
    rng = np.random.default_rng(seed)
    own = rng.beta(a, b, tasks)
    return rng.random((tasks, n)) < own[:, None]


# ---- through agentkit's loop -----------------------------------------------------------------------------------------------

def shelves(readable: bool):
    """(a tool that puts parcels on the shelves S0 to S9, the dict it fills). What it says to a bad name is readable, or is not."""
    placed = {}

    @tool
    def put_away(parcel: int, shelf: str) -> str:
        """Put one parcel on the shelf with its last digit."""
        if shelf not in [f"S{k}" for k in range(10)]:
            raise LookupError(f"no shelf '{shelf}'; the shelves are S0 to S9" if readable else "400")
        placed[parcel] = shelf
        return "done"

    return put_away, placed


def clerk(s: Setup, rng: random.Random):
    """A stand-in that puts parcels 1 to n away and errs by chance, as `s` says; it mends a call if the error says how."""
    parcel = 0

    def model(messages, tools):
        nonlocal parcel
        told = messages[-1]["role"] == "tool" and "the shelves are" in messages[-1]["content"]
        parcel += not told                                      # an error it can read: the same parcel again
        if parcel > s.n:
            return Reply("All parcels are away.")
        shelf = f"S{(parcel + 1) % 10}"                         # a mistake that no check sees: this shelf exists
        if rng.random() < (s.repair if told else s.p):
            shelf = f"S{parcel % 10}"
        elif not told and rng.random() < s.catch:
            shelf = f"shelf {parcel % 10}"                      # a mistake that the tool sees
        return Reply(tool_calls=call("put_away", parcel=parcel, shelf=shelf))

    return model


def through_the_loop(s: Setup, readable: bool, tasks: int = 300) -> tuple[int, int, int]:
    """Real runs: (how many left every parcel in its place, how many ended "done", model calls in all)."""
    right = {k: f"S{k % 10}" for k in range(1, s.n + 1)}
    arrived = said_done = calls = 0
    for seed in range(tasks):
        put_away, placed = shelves(readable)
        result = run(clerk(s, random.Random(seed)), [put_away], f"Put parcels 1 to {s.n} away.", limits=Limits(max_steps=2 * s.n + 1))
        arrived += placed == right                              # the outcome is looked up, never read from the answer
        said_done += result.status == "done"
        calls += result.steps
    return arrived, said_done, calls
