"""What a run costs, as arithmetic: the closed formulas, the run's shape, and each lever on the bill as a term.

Sizes are in tokens, money in USD at an agentkit Price (USD per million tokens). Nothing is run and nothing is counted here:
a Shape says how large everything is, calls_of() turns it into model calls, and the rest adds those up. What stays out: what
a provider adds around each message, the words that ask for a summary, caches that expire or have a minimum size.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import NamedTuple

from .messages import Usage
from .tokens import Price

PARTS = ("system and task", "history again", "new in the list", "written", "summaries")
MOST = 10_000       # steps; further than this steps_within() does not look


# ---- the closed formulas ---------------------------------------------------------------------------------------------

def total_input(steps: int, base: int, growth: int) -> int:
    """Input tokens of a run whose first call sends `base`, and each later one `growth` more than the last."""
    return steps * base + growth * (steps * (steps - 1) // 2)


def total_input_of(base: int, growths: Sequence[int]) -> int:
    """The same for steps that differ: `growths` is what each step but the last adds; all later calls send it."""
    return (len(growths) + 1) * base + sum(g * later for g, later in zip(growths, range(len(growths), 0, -1)))


def rule_of_thumb(steps: int, base: int, growth: int) -> float:
    """(T + 1) / 2 times the list that the last call sends."""
    return (steps + 1) / 2 * (base + growth * (steps - 1))


def rule_error(steps: int, base: int, growth: int) -> float:
    """Rule of thumb minus total input: nothing for one step or for base = growth, and never short by half or more."""
    return (steps - 1) * (growth - base) / 2


# ---- a run's shape ---------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Shape:
    """How large a run is. All calls are alike; the last step answers. The first values are ten steps with 1,600 to begin and 750 a step."""

    calls: int = 9                  # tool calls that the task needs
    per_reply: int = 1              # calls that the model asks for in one reply
    system: int = 1_500             # system text and tool definitions
    task: int = 100
    written: int = 150              # for each call, by the model: a thought and the call
    returned: int = 600             # by the tool, for each call
    answer: int | None = None       # the last reply; None: as much as `written`
    stable: bool = True             # False: the very first token differs in each call (a clock, say), so no cache ever fits
    compact_at: int | None = None   # a list longer than this is cut to system, task and a summary before it is sent; None: never
    summary: int = 500              # what the summary is long

    def __post_init__(self):
        for name in (field.name for field in fields(self) if field.name != "stable"):
            value, least = getattr(self, name), 1 if name == "per_reply" else 0
            if value is None and name in ("answer", "compact_at"):
                continue
            if isinstance(value, bool) or not isinstance(value, int) or value < least:
                raise ValueError(f"Shape: {name} must be a whole number of at least {least}, not {value!r}")

    @property
    def steps(self) -> int:
        """Model calls, not counting those that write summaries."""
        return math.ceil(self.calls / self.per_reply) + 1

    @property
    def base(self) -> int:
        """What the first call sends."""
        return self.system + self.task

    @property
    def growth(self) -> int:
        """What a full step adds to the list."""
        return self.per_reply * (self.written + self.returned)


class Call(NamedTuple):
    """One model call. `prompt` = base + history + new; the first `cached` tokens of it are those that the call before has sent."""

    kind: str       # "step" or "summary"
    base: int       # system, definitions, task
    history: int    # in the list, and sent before
    new: int        # in the list, and never sent before
    cached: int
    written: int

    @property
    def prompt(self) -> int:
        return self.base + self.history + self.new


def calls_of(shape: Shape) -> tuple[Call, ...]:
    """Every model call of a run, in order."""
    made, history, new, sent = [], 0, 0, 0          # sent: how much of the last prompt the next one begins with
    for done in range(0, shape.per_reply * shape.steps, shape.per_reply):
        asked = max(0, min(shape.per_reply, shape.calls - done))
        if shape.compact_at is not None and shape.base + history + new > shape.compact_at and history + new > shape.summary:
            made.append(Call("summary", shape.base, history, new, sent if shape.stable else 0, shape.summary))
            history, new, sent = 0, shape.summary, shape.base       # from here on it is another text
        written = asked * shape.written if asked else shape.written if shape.answer is None else shape.answer
        made.append(Call("step", shape.base, history, new, sent if shape.stable else 0, written))
        history, new = history + new, written + asked * shape.returned
        sent = shape.base + history
    return tuple(made)


def usage_of(shape: Shape) -> Usage:
    """All tokens of a run in three buckets; no token is in two of them."""
    made = calls_of(shape)
    return Usage(sum(c.prompt - c.cached for c in made), sum(c.written for c in made), sum(c.cached for c in made))


# ---- the bill --------------------------------------------------------------------------------------------------------

def parts(shape: Shape, price: Price, write: float = 1.0) -> dict[str, float]:
    """USD for each part of the bill; they add up to usd().

    A price without `cached` has no cache: every token costs `input`. With one, the tokens that are not in the cache are
    written to it at `write` times the price of input, which some providers ask for.
    """
    paid = price if price.cached is None else replace(price, input=price.input * write)
    tokens = {part: [0, 0, 0] for part in PARTS}            # input, output, cached: tokens add up exactly, money does not
    for c in calls_of(shape):
        front = min(c.cached, c.base)                       # a cache holds the front of a prompt: base first, then history
        step = c.kind == "step"
        for part, *used in (("system and task" if step else "summaries", c.base - front, 0, front),
                            ("history again" if step else "summaries", c.history - (c.cached - front), 0, c.cached - front),
                            ("new in the list" if step else "summaries", c.new, 0, 0),
                            ("written" if step else "summaries", 0, c.written, 0)):
            tokens[part] = [a + b for a, b in zip(tokens[part], used)]
    return {part: paid.of(*used) for part, used in tokens.items()}


def usd(shape: Shape, price: Price, write: float = 1.0) -> float:
    """The bill of a run."""
    return math.fsum(parts(shape, price, write).values())      # exactly rounded: the same on every Python


def share(shape: Shape, price: Price, write: float = 1.0) -> dict[str, float]:
    """Each part as a share of the bill, from 0 to 1; all 0 where the bill is."""
    bill = parts(shape, price, write)
    total = math.fsum(bill.values())
    return {part: cost / total if total else 0.0 for part, cost in bill.items()}


def steps_within(budget_usd: float, shape: Shape, price: Price, write: float = 1.0) -> int:
    """The largest step limit whose bill, every step used, is within the budget; MOST stands for that many or more."""
    full = replace(shape, answer=shape.per_reply * shape.written)      # the last step allowed does not know that it is: it calls, too
    return bisect_right(range(1, MOST + 1), budget_usd, key=lambda steps: usd(replace(full, calls=(steps - 1) * shape.per_reply), price, write))


def compaction_pays_after(prompt: int, base: int, summary: int, price: Price, write: float = 1.0) -> int | None:
    """How many more calls (this one counted) a run must make before cutting a list of `prompt` tokens costs no more than sending it on.

    The call that writes the summary reads the list just as this step would have done. So what compaction costs is the
    new, shorter prompt and the writing of the summary; what it earns is the difference in each later call, at the price
    of cached input where there is a cache. None: never.
    """
    resent, fresh = (price.input,) * 2 if price.cached is None else (price.cached, price.input * write)
    saved = (prompt - base - summary) * resent
    if saved <= 0:
        return None
    return 1 + math.ceil((base * resent + summary * (fresh + price.output)) / saved)
