"""The cards of the course: when a question comes back, which one comes next, and what is remembered between two days.

Spacing after Leitner: a card lies in a box, and each box has a wait. What was said in full moves up a box and comes later;
what was missed goes back to the first. The cards are kept in the progress file under "cards", beside what others keep there:

    {"cards": {"04-1": {"box": 2, "due": "2026-02-03", "met": 3, "of": 5}, ...}}
"""

from __future__ import annotations

import datetime
import random
from collections.abc import Iterable
from typing import NamedTuple

from . import progress_file
from .questions import SECTIONS, Question, all_questions, section_of

WAITS = (1, 3, 7, 16, 35)
"""Days until a card of box 1, 2, ... comes back."""
KEY = "cards"


class Card(NamedTuple):
    """Where a question stands: its box, 1 to len(WAITS), and the day on which it is due."""

    box: int
    due: int
    """A day as `date.toordinal()` counts them."""


NEW = Card(1, 0)


def after(card: Card, met: int, of: int, today: int) -> Card:
    """The card after an answer that met `met` of the `of` points of its rubric."""
    box = card.box
    if 2 * met < of:
        box = 1                                 # missed: back to the first box
    elif today < card.due:
        return card                             # known, but asked before its day: that proves little
    elif met == of:
        box = min(box + 1, len(WAITS))          # all of it: up a box; half of it or more: the same wait again
    return Card(box, today + WAITS[box - 1])


def queue(questions: Iterable[Question], cards: dict[str, Card], today: int) -> list[Question]:
    """What to ask today: cards that are due, the lowest box first, then questions never asked, in the order of the course."""
    asked, new = [], []
    for q in questions:
        (asked if q.id in cards else new).append(q)
    due = [q for q in asked if cards[q.id].due <= today]
    return sorted(due, key=lambda q: cards[q.id]) + new     # sorted keeps the course's order between equals


def mock_round(seed: int, minutes: int = 30, each: int = 6, questions: Iterable[Question] | None = None) -> list[Question]:
    """A round by chance: interview questions, `each` minutes apiece, the sections of the course in turn and no question twice."""
    rng = random.Random(seed)
    left = {section: [] for section in SECTIONS}
    for q in all_questions() if questions is None else questions:
        if q.kind == "interview":
            left[section_of(q.notebook)].append(q)
    for part in left.values():
        rng.shuffle(part)
    sections, found = list(left), []
    rng.shuffle(sections)
    while any(left.values()):
        found += [left[section].pop() for section in sections if left[section]]
    return found[:minutes // each]


# ---- what is kept ------------------------------------------------------------------------------------------------------

def read() -> dict[str, Card]:
    """The cards in the progress file. What cannot be read is a card that was never asked."""
    kept = progress_file.read()[0].get(KEY)
    found = {id: _card(entry) for id, entry in kept.items()} if isinstance(kept, dict) else {}
    return {id: card for id, card in found.items() if card is not None}


def answer(id: str, met: int, of: int, today: int) -> tuple[Card, str]:
    """Remember an answer: the card as it is now, and what the learner should know about the file, or "".

    The old card is read inside of the same change, so another notebook that answers meanwhile loses nothing.
    """
    if not 0 <= met <= of or of < 1:
        raise ValueError(f"an answer meets 0 to {of} of {of} points, not {met}")
    now = None

    def change(data):
        nonlocal now
        kept = data.setdefault(KEY, {})
        if not isinstance(kept, dict):          # somebody else's: it stays, under another name
            data[_free(data)] = kept
            kept = data[KEY] = {}
        now = after(_card(kept.get(id)) or NEW, met, of, today)
        kept[id] = {"box": now.box, "due": datetime.date.fromordinal(now.due).isoformat(), "met": met, "of": of}

    note = progress_file.update(change)
    return now or after(NEW, met, of, today), note


def _free(data):
    n = 1
    while f"{KEY}_{n}" in data:
        n += 1
    return f"{KEY}_{n}"


def _card(entry) -> Card | None:
    try:
        box, due = entry["box"], datetime.date.fromisoformat(entry["due"]).toordinal()
    except (TypeError, KeyError, ValueError):
        return None
    return Card(box, due) if type(box) is int and 1 <= box <= len(WAITS) else None
