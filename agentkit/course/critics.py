"""The stand-ins of notebook 18: an author that never gets everything right, critics that err at a known rate, and what each
retry buys, as a formula and as a simulation of thousands of tasks.

A stand-in is a plain function in the place of a model. It shows what a review and a retry do to an error rate that is
known; how well a real critic sees is what you have to measure.
"""

import json
import re
from typing import NamedTuple

import numpy as np

from agentkit import Limits, Reply
from agentkit.patterns.reflection import reflect

# ---- a letter ------------------------------------------------------------------------------------------------------------

LETTER_TASK = "Write to Mira: her chair is late, and its price is paid back."
LETTER_RULES = {"amount": "It names the amount, 6,200.", "date": "It names the day of payment, 12 May.",
                "apology": "It says sorry.", "short": "It has at most 12 words."}
_LACKS = {"amount": "no amount", "date": "no day", "apology": "nowhere does it say sorry", "short": "too long"}
_HELLOS = ("Dear Mira", "Hello Mira", "Good day, Mira", "Mira")
_LONG = "we are very sorry that your chair is late, and we pay back its price of 6,200 rupees on 12 May."
_SHORT = "sorry, your chair is late."
_FIRST = "your chair is late."
_GOOD = "Sorry for the late chair: we pay back 6,200 on 12 May."


def restless(draft: str | None, missing) -> str:
    """A stand-in author: told what is missing it adds everything and grows long; told to be short it cuts the facts.

    It greets anew in each draft, so that no two drafts in a row of four are the same.
    """
    if draft is None:
        return f"{_HELLOS[0]}, {_FIRST}"
    last = next(i for i, hello in enumerate(_HELLOS) if draft.startswith(hello + ","))
    return f"{_HELLOS[(last + 1) % 4]}, {_SHORT if 'short' in missing else _LONG}"


def restless_author(messages, tools):
    """The same as a model."""
    said = messages[-1]["content"]
    if not said.startswith("Not met yet:"):
        return Reply(restless(None, ()))
    return Reply(restless(messages[-2]["content"], re.findall(r"^- (\w+):", said, re.M)))


def willing_author(messages, tools):
    """An author that listens: its second draft is what was asked for."""
    return Reply(_GOOD if messages[-1]["content"].startswith("Not met yet:") else restless(None, ()))


def letter_critic(messages, tools):
    """A critic that reads well: it looks the facts up in the draft."""
    draft = messages[-1]["content"].split("<<<\n")[1].split("\n>>>")[0]
    found = {"amount": "6,200" in draft, "date": "12 May" in draft, "apology": "sorry" in draft.lower(), "short": len(draft.split()) <= 12}
    asked = [n for n in found if f"- {n}:" in messages[-1]["content"]]
    return Reply(json.dumps({n: {"met": found[n], "why": "seen" if found[n] else _LACKS[n]} for n in asked}))


# ---- what a retry buys ---------------------------------------------------------------------------------------------------------

class Odds(NamedTuple):
    """How often author and critic are right. Every share lies between 0 and 1."""

    first: float = 0.5      # a first draft is good
    again: float = 0.5      # a later one is
    miss: float = 0.0       # the critic passes a bad draft
    alarm: float = 0.0      # the critic refuses a good one


class Ends(NamedTuple):
    """What becomes of a task: four shares that add up to 1, and the reviews that it takes."""

    good: float             # passed, and good
    good_unpassed: float    # good, and nobody knows
    bad_unpassed: float     # bad, and marked as not passed
    bad_passed: float       # bad, and called good
    reviews: float

    @property
    def success(self) -> float:
        """The answer is good, whatever the critic says."""
        return self.good + self.good_unpassed


def expect(o: Odds, k: int) -> Ends:
    """The formula for at most k reviews; where no draft passes, the first comes back, the earliest of equals."""
    if k == 0:
        return Ends(0.0, o.first, 1 - o.first, 0.0, 0.0)
    refused = o.first * o.alarm + (1 - o.first) * (1 - o.miss)
    later = o.again * o.alarm + (1 - o.again) * (1 - o.miss)
    more = sum(later ** j for j in range(k - 1))            # second, third, ... reviews for each first one that refused
    never = later ** (k - 1)
    return Ends(o.first * (1 - o.alarm) + refused * more * o.again * (1 - o.alarm), o.first * o.alarm * never,
                (1 - o.first) * (1 - o.miss) * never, (1 - o.first) * o.miss + refused * more * (1 - o.again) * o.miss, 1 + refused * more)


def simulate(o: Odds, k: int, tasks: int, seed: int) -> Ends:
    """The same without the formula, counted: how many of so many tasks end in each way, and the reviews of all of them."""
    rng = np.random.default_rng(seed)
    good = rng.random((tasks, k)) < np.array([o.first] + [o.again] * (k - 1))
    passes = rng.random((tasks, k)) < np.where(good, 1 - o.alarm, o.miss)
    any_, at = passes.any(axis=1), passes.argmax(axis=1)    # argmax: the first that passes; 0, the first draft, where none does
    right = good[np.arange(tasks), at]
    return Ends(*(int(x.sum()) for x in (right & any_, right & ~any_, ~right & ~any_, ~right & any_)), int(np.where(any_, at + 1, k).sum()))


def through_the_loop(o: Odds, k: int, tasks: int, seed: int = 1):
    """The results of so many runs of reflect(), with an author and a critic that draw."""
    rng = np.random.default_rng(seed)

    def author(messages, tools):
        later = messages[-1]["content"].startswith("Not met yet:")
        return Reply("a good draft" if rng.random() < (o.again if later else o.first) else "a bad draft")

    def critic(messages, tools):
        good = "<<<\na good" in messages[-1]["content"]
        return Reply(json.dumps({"good": bool(rng.random() < (1 - o.alarm if good else o.miss))}))

    return [reflect(author, [], "Write.", criteria={"good": "It is good."}, critic=critic, max_reviews=k, limits=Limits(max_steps=None))
            for _ in range(tasks)]
