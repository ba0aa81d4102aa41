"""The exercises of notebook 20, the compound error."""

from ..exercise import Case, Exercise, Trap

TITLE = "The compound error"


def _variant(old, new, source):
    assert old in source
    return source.replace(old, new)


def _defined(source, name):
    scope = {}
    exec(source, scope)
    return scope[name]


def _close(expected, as_text="{:.4f}"):
    """A test: the number, give or take a billionth."""
    def test(result, args):
        if isinstance(result, (bool, str, complex)) or not hasattr(result, "__float__"):
            return f"a number, {as_text.format(expected)}"
        return None if abs(float(result) - expected) < 1e-9 else as_text.format(expected)
    return test


# ---- 20-1: the reliability a step needs ------------------------------------------------------------------------------------

_NEEDED_STUB = '''
def step_needed(target, n, mended):
    """The smallest p a step needs, so that the share `target` of the tasks of n steps arrives.

    `mended`, below 1, is the share of the bad steps that a check sees and repairs. Never below 0.
    """
    ...
'''
_NEEDED = '''
def step_needed(target, n, mended):
    step = target ** (1 / n)                # what a step must be in the end: p + (1 - p) * mended
    return max(0, 1 - (1 - step) / (1 - mended))
'''


def _needed_cases(rng):
    right = _defined(_NEEDED, "step_needed")

    def case(target, n, mended, because):
        return Case((target, n, mended), test=_close(right(target, n, mended), "{:.6f}"), because=because)

    target = rng.choice((0.6, 0.7, 0.8, 0.9))
    return [
        case(0.95, 20, 0.0, "nothing is mended: target^(1/n)"),
        case(target, 1, 0.0, "one step needs what the task needs"),
        case(target, rng.randrange(5, 40), 0.0, "n steps multiply, so the n-th root: target ** (1 / n)"),
        case(target, rng.randrange(5, 40), 0.5, "when half of the bad steps are mended, a step may go wrong twice as often"),
        case(0.05, 1, 0.9, "the check alone does it here: p cannot be below 0"),
        case(round(rng.uniform(0.3, 0.95), 2), rng.randrange(4, 30), round(rng.uniform(0.1, 0.8), 2), "drawn at random"),
    ]


# ---- 20-2: find the bug ----------------------------------------------------------------------------------------------------

def _is(letter):
    return lambda value, args: str(value).strip().lower() == letter


# ---- 20-3: what to buy first -----------------------------------------------------------------------------------------------

_BUY_STUB = '''
def first_buy(p, offers):
    """The name of the offer with the fewest model calls for each task that arrives.

    An offer is a dict: "steps" of the task; "catch", the share of bad steps that are seen, each
    costs a call; "repair", the share of these calls that work; "alarms", the share of good steps
    that cost a call for nothing.
    """
    ...
'''
_BUY = '''
def first_buy(p, offers):
    def calls_per_success(offer):
        step = p + (1 - p) * offer["catch"] * offer["repair"]
        calls = 1 + (1 - p) * offer["catch"] + p * offer["alarms"]
        return offer["steps"] * calls / step ** offer["steps"]
    return min(offers, key=lambda name: calls_per_success(offers[name]))
'''
_SUCCESS = '        return -(step ** offer["steps"])\n'
_COST = '        return offer["steps"] * calls / step ** offer["steps"]\n'
_WRONG_BUYS = {
    "success": (_variant(_COST, _SUCCESS, _BUY), "You take the highest success, whatever it costs. A check that doubts every step can cost more than it saves."),
    "calls": (_variant(_COST, '        return offer["steps"] * calls\n', _BUY), "You take the cheapest run. A cheap run that fails is paid for again."),
    "alarms": (_variant(' + p * offer["alarms"]', "", _BUY), "You forgot the false alarms. Good steps are the many, so even a small share of them costs more than the repairs."),
    "one step": (_variant(_COST, "        return calls / step\n", _BUY), "You compare single steps. A short task with a weaker step may arrive more often than a long one."),
    "no calls": (_variant(_COST, '        return offer["steps"] / step ** offer["steps"]\n', _BUY), "You count one call for each step. Repairs and false alarms are calls, too."),
}
_ALIKE = {"success": ("no calls", "alarms"), "no calls": ("alarms",)}     # told apart by one case at least


def _offers(rng, fooled=None):
    """(p, offers) where the wrong answer `fooled` picks another offer than the right one, which wins clearly, and than its likes do."""
    right = _defined(_BUY, "first_buy")
    wrong = _defined(_WRONG_BUYS[fooled][0], "first_buy") if fooled else None
    others = [_defined(_WRONG_BUYS[name][0], "first_buy") for name in _ALIKE.get(fooled, ())]
    for _ in range(5_000):
        p, n = rng.choice((0.8, 0.9, 0.93, 0.95, 0.97)), rng.randrange(8, 26)
        offers = {
            "nothing": {"steps": n, "catch": 0.0, "repair": 0.0, "alarms": 0.0},
            "fewer steps": {"steps": n - rng.randrange(1, max(2, n // 2)), "catch": 0.0, "repair": 0.0, "alarms": 0.0},
            "a check": {"steps": n, "catch": rng.choice((0.4, 0.6, 0.8)),
                        "repair": rng.choice((0.5, 0.7, 0.9)), "alarms": rng.choice((0.0, 0.02, 0.05))},
            "a strict check": {"steps": n, "catch": rng.choice((0.9, 0.95)), "repair": 0.9, "alarms": rng.choice((0.2, 0.5, 0.8))},
        }
        best = right(p, offers)
        rest = {name: offer for name, offer in offers.items() if name != best}
        picked = wrong(p, offers) if wrong else None
        if picked != best and picked not in [other(p, offers) for other in others] and _ratio(p, rest[right(p, rest)], offers[best]) > 1.02:
            return p, offers
    raise AssertionError(f"no offers found that fool {fooled!r}")


def _ratio(p, one, other):
    """How many times as much an arrived task costs under one offer as under the other."""
    def cost(o):
        return o["steps"] * (1 + (1 - p) * o["catch"] + p * o["alarms"]) / (p + (1 - p) * o["catch"] * o["repair"]) ** o["steps"]
    return cost(one) / cost(other)


def _buy_cases(rng):
    right, found = _defined(_BUY, "first_buy"), []
    for fooled, because in (("success", "the highest success is not yet the best buy"), ("calls", "nor are the fewest calls"),
                            ("alarms", "a false alarm is a call, and it comes at the good steps, which are many"),
                            ("one step", "a task is all its steps"), ("no calls", "repairs and false alarms are calls, too"), (None, "drawn at random")):
        p, offers = _offers(rng, fooled)
        found.append(Case((p, offers), right(p, offers), because=because))
    return found


EXERCISES = [
    Exercise(
        id="20-1", title="What a step needs", difficulty=3, minutes=6, name="step_needed", stub=_NEEDED_STUB, solution=_NEEDED, cases=_needed_cases,
        task="Write `step_needed(target, n, mended)`: how reliable a step must be for a target, with the help of a check.",
        hints=["First without the check: which p has p^n = target?", "With it, that number is what a step must be in the end: p + (1 - p) * mended. Solve it for p."],
        traps=[
            Trap("def step_needed(target, n, mended):\n    return max(0, 1 - (1 - target) / n / (1 - mended))\n",
                 "You share the loss out evenly: (1 - target) / n each. Close for high targets, but steps multiply: the n-th root is exact."),
            Trap("def step_needed(target, n, mended):\n    return target ** n\n", "That is the way back: how many tasks arrive if a step has the reliability `target`."),
            Trap("def step_needed(target, n, mended):\n    return target ** (1 / n)\n", "Right without the check. You do not use `mended`: with help, the step itself may be worse."),
            Trap("def step_needed(target, n, mended):\n    return 1 - (1 - target ** (1 / n)) / (1 - mended)\n",
                 "Below 0: the check alone reaches the target, and a probability does not go below 0."),
            Trap("def step_needed(target, n, mended):\n    return max(0, target ** (1 / n) - mended)\n",
                 "You subtract `mended` from p. It is a share of the bad steps: p + (1 - p) * mended."),
            Trap("def step_needed(target, n, mended):\n    return max(0, 1 - (1 - target ** (1 / n)) * (1 - mended))\n",
                 "The wrong way round: with a check your step would have to be better than without. A step may go wrong more often when it is mended: divide."),
        ],
        after="A check that mends half of the bad steps lets a step go wrong twice as often for the same target."),
    Exercise(
        id="20-2", title="Find the bug in this simulation", difficulty=2, minutes=3, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "c"\n',
        value=True, cases=[Case(test=lambda value, args: None if _is("c")(value, args) else "one letter, the cause: how many chances does one task have to go wrong?")],
        task="The simulation in the cell above says 95 % for a task of any length. What is wrong?",
        hints=["Write down `draw` for one task. Now go through the loop by hand.", "What is new at the second step?"],
        traps=[
            Trap('answer = "a"\n', "More tasks make the same wrong number more exact.", when=_is("a")),
            Trap('answer = "b"\n', "With | a task would arrive when any step is right. All must be: & is the right one.", when=_is("b")),
            Trap('answer = "d"\n', "The number would be right, and the simulation worthless: it would get the formula as its input, and could not find it wrong.", when=_is("d")),
        ],
        after="One draw for each task: what was right at step 1 is right for ever. It needs rng.random((tasks, n)), or a draw inside the loop. "
              "And it is the extreme of a real thing: steps of one task that succeed and fail together."),
    Exercise(
        id="20-3", title="What to buy first", difficulty=3, minutes=8, name="first_buy", stub=_BUY_STUB, solution=_BUY, cases=_buy_cases, pure=True,
        task="Write `first_buy(p, offers)`: the offer with the fewest model calls for each task that arrives. Say before you run it which one you would have bought.",
        hints=["For one offer: what is a step in the end, and how many calls does it take?",
               "A step takes its own call, one for each bad step that is seen, and one for each good step that is doubted.",
               "Calls for each success: the calls of a task divided by its success."],
        traps=[Trap(source, says) for source, says in _WRONG_BUYS.values()],
        after="It counts calls alone. Where a wrong end costs more than a call, as a refund does, weigh that too, and buy the approval whatever this number says."),
]
