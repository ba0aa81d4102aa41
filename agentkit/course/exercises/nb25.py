"""The exercises of notebook 25, the question round."""

from ..exercise import Case, Exercise, Trap

TITLE = "The question round"

# ---- 25-1: what to ask today -----------------------------------------------------------------------------------------

_STUB = '''
def ask_today(cards, today):
    """The ids to ask today, the weakest first.

    `cards` maps an id to (box, due): the box is 1 or higher, `due` is the day on which the card
    comes back. A card is asked on its day or later. The lowest box comes first; in one box, the
    card that has waited longest; and where that is equal too, the order of `cards`.
    """
    ...
'''
_SOLUTION = '''
def ask_today(cards, today):
    due = [id for id, (box, day) in cards.items() if day <= today]
    return sorted(due, key=lambda id: cards[id])
'''


def _case(cards, today, because):
    scope = {}
    exec(_SOLUTION, scope)
    return Case((cards, today), scope["ask_today"](cards, today), because=because)


def _cases(rng):
    today = rng.randrange(20, 40)
    a, b, c, d, e = rng.sample(["04-1", "06-r2", "art-05", "21-2", "07-1", "12-r1", "19-1"], 5)
    return [
        _case({a: (1, today)}, today, "a card is asked on its day"),
        _case({a: (1, today + 1), b: (1, today - 1)}, today, "before its day a card is left alone; after it, it is overdue and still asked"),
        _case({a: (3, today), b: (1, today), c: (2, today)}, today, "the lowest box comes first: it holds what was missed"),
        _case({a: (2, today), b: (2, today - 9), c: (2, today - 3)}, today, "in one box the card that has waited longest comes first"),
        _case({a: (2, today - 30), b: (1, today)}, today, "the box counts before the days: a missed card goes first, however long another has waited"),
        _case({c: (1, today), a: (1, today), b: (1, today)}, today, "where box and day are equal, the order of `cards` stays"),
        _case({d: (4, today), e: (1, today - 2), a: (1, today - 5), b: (5, today + 3), c: (2, today)}, today, "all of it together"),
        _case({a: (5, today + 9)}, today, "on a day without a card the list is empty"),
        _case({}, today, "no cards, nothing to ask"),
    ]


# ---- 25-2: find the bug in this log ------------------------------------------------------------------------------------

_LETTER = [Case(test=lambda value, args: None if str(value).strip().lower() == "c" else "one letter: look at the days on which the three answers were given")]


def _said(letter):
    return lambda value, args: str(value).strip().lower() == letter


EXERCISES = [
    Exercise(
        id="25-1", title="What to ask today", difficulty=2, minutes=6, name="ask_today", stub=_STUB, solution=_SOLUTION, cases=_cases, pure=True,
        task="Write `ask_today(cards, today)`: what is due, the weakest first.",
        hints=["Two steps: leave out what is not due yet, then sort. What does Python compare first in a tuple?",
               "`sorted` keeps the order of what is equal. A key of (box, day) is all it needs, and `cards[id]` is just that."],
        traps=[
            Trap("def ask_today(cards, today):\n    due = [id for id, (box, day) in cards.items() if day == today]\n    return sorted(due, key=lambda id: cards[id])\n",
                 "A card whose day has passed is never asked again. One day without a session, and it is lost."),
            Trap("def ask_today(cards, today):\n    due = [id for id, (box, day) in cards.items() if day <= today]\n    return sorted(due, key=lambda id: cards[id][1])\n",
                 "You sort by the day alone. What was missed yesterday then waits behind all that is long overdue and well known."),
            Trap("def ask_today(cards, today):\n    due = [(box, day, id) for id, (box, day) in cards.items() if day <= today]\n    return [id for _, _, id in sorted(due)]\n",
                 "Where box and day are equal, your sort goes on to compare the ids, and the order of the course is gone."),
            Trap("def ask_today(cards, today):\n    return sorted(cards, key=lambda id: cards[id])\n",
                 "You ask everything, also what is not due yet. Then there is no spacing left."),
        ],
        after="Weakest first: if you stop after five cards, you had the five that you knew least."),
    Exercise(
        id="25-2", title="Find the bug in this log", difficulty=2, minutes=4, value=True, cases=_LETTER,
        stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "c"\n',
        task="Somebody else's cards, with the waits of this notebook. One evening a reader went through a card three times. "
             "Sixteen days later most of it was gone. What is wrong with the program?",
        hints=["How many days lie between the first answer and the third?", "After the first answer the card was due on day 4. On which day was it asked again?"],
        traps=[
            Trap('answer = "a"\n', "The waits are not the fault: with one answer a day this card would have come back on day 4 and again on day 11.", when=_said("a")),
            Trap('answer = "b"\n', "The miss is handled well: it comes back tomorrow. Look at how the card got into box 4.", when=_said("b")),
            Trap('answer = "d"\n', "Four points tell a full answer from half of one. Look at the days.", when=_said("d")),
        ],
        after="Three answers within an hour are one answer. A card moves up only when it was known on its day or later."),
]
