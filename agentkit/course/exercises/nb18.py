"""The exercises of notebook 18, reflection."""

from ..exercise import Case, Exercise, Trap

TITLE = "Reflection"


def _variant(old, new, source):
    assert old in source
    return source.replace(old, new)


def _defined(source, name):
    scope = {}
    exec(source, scope)
    return scope[name]


# ---- 18-1: the best draft --------------------------------------------------------------------------------------------------

_BEST_STUB = '''
def best_draft(reviews):
    """The draft that met most criteria; of equals the earliest; None where there are no reviews.

    A review is (draft, verdict). A verdict maps each criterion to what the critic said of it; it
    is None where the reply could not be read. Only True is met.
    """
    ...
'''
_BEST = '''
def best_draft(reviews):
    best, most = None, -1
    for draft, verdict in reviews:
        met = sum(said is True for said in (verdict or {}).values())
        if met > most:
            best, most = draft, met
    return best
'''


def _best_cases(rng):
    a, b, c = (f"draft {n}" for n in rng.sample(range(10, 99), 3))
    yes, no = {"amount": True, "tone": True}, {"amount": False, "tone": False}
    half = {"amount": True, "tone": False}
    return [
        Case(([(a, yes)],), a, because="one draft"),
        Case(([(a, half), (b, yes), (c, half)],), b, because="most criteria met, wherever it stands"),
        Case(([(a, half), (b, {"amount": False, "tone": True}), (c, half)],), a, because="of equals the earliest"),
        Case(([(a, None), (b, half)],), b, because="an unreadable review has met nothing, and does not end the search"),
        Case(([(a, no), (b, None)],), a, because="nothing met is still a draft: the earliest comes back"),
        Case(([(a, None)],), a, because="a critic that fails does not lose the draft"),
        Case(([(a, {"amount": "false", "tone": "not at all", "short": "no"}), (b, half)],), b, because="a text is no True, whatever it says"),
        Case(([(a, {"amount": 1, "tone": 1}), (b, half)],), b, because="1 is not True: a critic that answers with marks has not been understood"),
        Case(([],), None, because="no reviews, no draft"),
    ]


# ---- 18-2: what passes ------------------------------------------------------------------------------------------------------

_PASSED_STUB = '''
def good_among_passed(p, miss, alarm):
    """Of the drafts that pass the critic, the share that is good; None where nothing ever passes.

    p: a draft is good; miss: the critic passes a bad one; alarm: it refuses a good one.
    """
    ...
'''
_PASSED = '''
def good_among_passed(p, miss, alarm):
    good, bad = p * (1 - alarm), (1 - p) * miss
    return good / (good + bad) if good + bad else None
'''


def _passed_cases(rng):
    right = _defined(_PASSED, "good_among_passed")

    def case(p, miss, alarm, because):
        expected = right(p, miss, alarm)

        def test(result, args):
            if expected is None:
                return None if result is None else "None: nothing passes, so there is no share"
            if isinstance(result, (bool, str)) or not hasattr(result, "__float__"):
                return f"a number, {expected:.4f}"
            return None if abs(float(result) - expected) < 1e-9 else f"{expected:.4f}"
        return Case((p, miss, alarm), test=test, because=because)

    p = rng.choice((0.3, 0.4, 0.6, 0.7))
    return [
        case(0.5, 0.0, 0.0, "a sure critic passes good drafts only"),
        case(p, 0.5, 0.5, "a coin passes what comes: the share is p"),
        case(0.5, 0.2, 0.1, "0.45 good ones pass and 0.10 bad ones"),
        case(0.1, 0.2, 0.1, "where good drafts are rare, most of what passes is missed"),
        case(0.5, 0.3, 0.9, "many false alarms: few good ones pass, and the misses weigh more"),
        case(1.0, 0.4, 1.0, "nothing passes"),
        case(0.0, 0.0, 0.3, "nothing passes"),
        case(round(rng.uniform(0.2, 0.9), 2), round(rng.uniform(0.05, 0.6), 2), round(rng.uniform(0.05, 0.6), 2), "drawn at random"),
    ]


# ---- 18-3: what you would set -----------------------------------------------------------------------------------------------

def _is(letter):
    return lambda value, args: str(value).strip().lower() == letter


EXERCISES = [
    Exercise(
        id="18-1", title="The best draft", difficulty=2, minutes=5, name="best_draft", stub=_BEST_STUB, solution=_BEST, cases=_best_cases, pure=True,
        task="The cap is reached and nothing has passed. Write `best_draft(reviews)`.",
        hints=["Go through them once, with the best so far in your hand.", "`>` or `>=`? And what does `sum` make of a dict that holds texts?"],
        traps=[
            Trap(_variant("met > most", "met >= most", _BEST), "Of equals you take the last. It was paid for and is no better; with the earliest you could have stopped there."),
            Trap("def best_draft(reviews):\n    return reviews[-1][0] if reviews else None\n", "The last draft is not the best one."),
            Trap(_variant("said is True", "bool(said)", _BEST), 'You count what looks true in Python. "false" is a text, and every text but the empty one is true.'),
            Trap(_variant("said is True", "said == True", _BEST), "1 == True in Python. A critic that answers with marks has not been understood: is True."),
            Trap(_variant("most = None, -1", "most = None, 0", _BEST), "Where nothing is met you return None: the draft is lost, though there is one."),
            Trap("def best_draft(reviews):\n    return max(reviews, key=lambda r: sum(v is True for v in r[1].values()))[0] if reviews else None\n",
                 "A review that could not be read is None, and your function raises on it. Then nobody gets any draft."),
        ],
        after="Return beside it whether it passed, or somebody will send it."),
    Exercise(
        id="18-2", title="What a pass is worth", difficulty=3, minutes=6, name="good_among_passed", stub=_PASSED_STUB, solution=_PASSED, cases=_passed_cases,
        task="Write `good_among_passed(p, miss, alarm)`: the ceiling of all retries. Guess it first for p = 10 %, miss = 20 %, alarm = 10 %.",
        hints=["Take 1,000 drafts. How many are good and pass? How many are bad and pass?", "The share is the first number, divided by the two together."],
        traps=[
            Trap("def good_among_passed(p, miss, alarm):\n    return 1 - miss\n", "That is the share of the bad drafts that it stops. Of those that pass, it says nothing yet: how many good ones are there?"),
            Trap("def good_among_passed(p, miss, alarm):\n    return p * (1 - alarm)\n", "That is how many of all drafts are good and pass. You are asked about those that pass: divide by them."),
            Trap("def good_among_passed(p, miss, alarm):\n    return p * (1 - alarm) + (1 - p) * (1 - miss)\n",
                 "That is how often the critic is right. A critic can be right nearly always, because nearly all drafts are bad, and pass mostly bad ones."),
            Trap("def good_among_passed(p, miss, alarm):\n    good, bad = p * (1 - alarm), (1 - p) * miss\n    return good / (good + bad)\n",
                 "A critic that passes nothing divides by zero here. There is no share of nothing: None."),
            Trap("def good_among_passed(p, miss, alarm):\n    return (1 - alarm) / (1 - alarm + miss) if 1 - alarm + miss else None\n",
                 "You leave out p, as if there were as many good drafts as bad ones. Where good ones are rare, most of what passes is missed."),
        ],
        after="For 10 %, 20 % and 10 % it is one in three. The rarer the good drafts, the surer a critic must be."),
    Exercise(
        id="18-3", title="What would you set, and why?", difficulty=2, minutes=4, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "b"\n',
        value=True, cases=[Case(test=lambda value, args: None if _is("b")(value, args) else "one letter: count the calls of each, and ask what a model would see better than code")],
        task="A letter must name the right amount, have at most 120 words, and sound kind. Half of the first drafts do. You can pay for four model calls a letter, and the amount "
             "must not be wrong. Which one?",
        hints=["Which of the three can code decide without ever erring?", "At most how many calls is each: drafts and critics together?"],
        traps=[
            Trap('answer = "a"\n', "Five reviews are up to ten calls, and a model that misses lets a wrong amount through. Code would not.", when=_is("a")),
            Trap('answer = "c"\n', "Until it passes is no number. With a critic that gives false alarms it is a bill without an end, and a pass is still no proof.", when=_is("c")),
            Trap('answer = "d"\n', "The author has the same blind spots in the second sentence as in the first, and nothing of what it says can be read or counted.", when=_is("d")),
        ],
        after="Two drafts and two critics are four calls, and the amount is checked by something that does not miss. If none passes, the best comes back, marked, and a person reads it."),
]
