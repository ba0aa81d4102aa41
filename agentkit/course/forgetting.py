"""A stand-in for a learner who forgets, and what a plan for asking it comes to.

The curve is Ebbinghaus' in its simplest form: what was learned `d` days ago is known with probability 2 ** (-d / half_life).
Every number is assumed: this shows what a plan does with such a learner, not how long a person remembers.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from functools import lru_cache
from typing import NamedTuple

from .cards import Card, after
from .questions import all_questions

FIRST, GAIN = 3.0, 2.5      # half-life in days after the first time; how much longer it lasts each time it was said


class Forgetful:
    """Knows what it has learned, less so every day.

    Who says it after a while remembers it up to `gain` times as long; said again at once, it lasts no longer. Who has missed
    it learns it anew, from the `first` half-life.
    """

    def __init__(self, seed: int, first: float = FIRST, gain: float = GAIN):
        self.rng, self.first, self.gain = random.Random(seed), first, gain
        self.learned: dict[str, tuple[int, float]] = {}     # id: the day, the half-life since then

    def learn(self, id: str, day: int) -> None:
        self.learned[id] = day, self.first

    def chance(self, id: str, day: int) -> float:
        """How likely it is that this is known on that day."""
        when, half_life = self.learned[id]
        return 2 ** (-(day - when) / half_life)

    def ask(self, id: str, day: int) -> bool:
        """Whether it is known. Being asked is learning, too."""
        when, half_life = self.learned[id]
        known = self.rng.random() < self.chance(id, day)
        if known:
            share = min(1.0, (day - when) / half_life)      # asked too early, it gains less
            self.learned[id] = day, half_life * (1 + (self.gain - 1) * share)
        else:
            self.learn(id, day)
        return known


class Course(NamedTuple):
    """What became of a plan: questions asked on each day, those missed, and the share known on each morning, day 0 first."""

    asked: tuple[int, ...]
    missed: tuple[int, ...]
    known: tuple[float, ...]


Plan = Callable[[dict[str, Card], int], Iterable[str]]
"""The ids to ask on a day, from the cards as they are that morning."""


def nothing(cards, day):
    return ()


def everything(cards, day):
    return tuple(cards)


def spaced(cards, day):
    return tuple(id for id, card in cards.items() if card.due <= day)


def in_turn(each_day: int) -> Plan:
    """So many a day, round and round, whatever was missed."""
    def plan(cards, day):
        ids = list(cards)
        return tuple(ids[n % len(ids)] for n in range(each_day * (day - 1), each_day * day))
    return plan


def study(plan: Plan, ids: Iterable[str], days: int = 14, rest: int = 7, seed: int = 25, first: float = FIRST, gain: float = GAIN) -> Course:
    """All is learned on day 0, asked by plan for `days` days, and then left alone for `rest` days."""
    who, cards, asked, missed, known = Forgetful(seed, first, gain), {}, [], [], [1.0]
    for id in ids:
        who.learn(id, 0)
        cards[id] = after(Card(1, 0), 0, 1, 0)
    for day in range(1, days + rest + 1):
        known.append(sum(who.chance(id, day) for id in cards) / len(cards))
        today = plan(dict(cards), day) if day <= days else ()
        said = {id: who.ask(id, day) for id in today}
        for id, knows in said.items():
            cards[id] = after(cards[id], int(knows), 1, day)
        asked.append(len(said))
        missed.append(len(said) - sum(said.values()))
    return Course(tuple(asked), tuple(missed), tuple(known))


@lru_cache(maxsize=300)
def compared(days: int = 14, first: float = FIRST, gain: float = GAIN, rest: int = 7) -> dict[str, Course]:
    """Four plans for all questions of the course; the last asks as many in all as the third, in turn."""
    ids = [q.id for q in all_questions()]
    found = {name: study(plan, ids, days, rest, first=first, gain=gain)
             for name, plan in (("read once", nothing), ("all, every day", everything), ("spaced", spaced))}
    each_day = round(sum(found["spaced"].asked) / days)
    found["as many, in turn"] = study(in_turn(each_day), ids, days, rest, first=first, gain=gain)
    return found
