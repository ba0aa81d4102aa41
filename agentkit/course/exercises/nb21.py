"""The exercises of notebook 21, evals."""

from ..exercise import Case, Exercise, Trap

TITLE = "Evals"

# ---- 21-1: the checker -----------------------------------------------------------------------------------------------

_JUDGE_STUB = '''
def judge(wanted, refunded):
    """What is wrong with the end of a run: a sorted list of (order, what), [] where all is well.

    `wanted` are the orders that should be refunded, `refunded` the refunds that were really made,
    in the order in which they were made. What: "missing", "not due" or "twice" (or more often).
    An order that was not due is "not due", however often it was paid.
    """
    ...
'''
_JUDGE = '''
def judge(wanted, refunded):
    wrong = []
    for order in sorted({*wanted, *refunded}):
        times = refunded.count(order)
        if order not in wanted:
            wrong.append((order, "not due"))
        elif times == 0:
            wrong.append((order, "missing"))
        elif times > 1:
            wrong.append((order, "twice"))
    return wrong
'''


def _judge_case(wanted, refunded, because):
    scope = {}
    exec(_JUDGE, scope)
    return Case((wanted, refunded), scope["judge"](wanted, refunded), because=because)


def _judge_cases(rng):
    a, b, c, d = (f"{letter}{rng.randrange(100, 999)}" for letter in "ABCD")
    return [
        _judge_case([a], [a], "one due, one paid: nothing is wrong"),
        _judge_case([a, b], [b, a], "the order in which refunds are made is the path, not the outcome"),
        _judge_case([a], [], "a refund that was not made is missing"),
        _judge_case([], [c], "a refund that nobody is owed is as wrong as a missing one"),
        _judge_case([a], [a, a], "paid twice is wrong, though the order stands in the list"),
        _judge_case([a], [a, c], "the right refund does not make up for another one"),
        _judge_case([d, a], [c, c, a, a], "several things can be wrong at once; sorted by order"),
        _judge_case([], [], "nothing due and nothing done is a success"),
    ]


def _judge(body):
    return f"def judge(wanted, refunded):\n{body}\n"


# ---- 21-2: paired ----------------------------------------------------------------------------------------------------

_PAIRED_STUB = '''
def paired(old, new):
    """(better, worse, p) of two versions: {task: True, False or None} each, None for no result.

    `better` counts the tasks that only `new` passes, `worse` those that only `old` passes. p is the
    chance of a split at least this lopsided, either way, when each such task is a coin flip.
    Tasks without a result in both are not compared.
    """
    ...
'''
_PAIRED = '''
from math import comb

def paired(old, new):
    both = [(old[t], new[t]) for t in old if old[t] is not None and new.get(t) is not None]
    better = sum(not a and b for a, b in both)
    worse = sum(a and not b for a, b in both)
    m = better + worse
    tail = sum(comb(m, k) for k in range(min(better, worse) + 1)) / 2 ** m
    return better, worse, min(1.0, 2 * tail)
'''


def _paired_case(pairs, because, rng, only_old=()):
    ids = [f"t{n}" for n in rng.sample(range(100, 999), len(pairs))]
    old, new = ({i: p[k] for i, p in zip(ids, pairs)} for k in (0, 1))
    old.update({f"old-{n}": value for n, value in enumerate(only_old)})
    scope = {}
    exec(_PAIRED, scope)
    better, worse, p = scope["paired"](old, new)

    def test(result, args):
        if not isinstance(result, tuple) or len(result) != 3:
            return "a tuple (better, worse, p)"
        if tuple(result[:2]) != (better, worse):
            return f"better {better}, worse {worse}"
        if not isinstance(result[2], (int, float)) or abs(result[2] - p) > 1e-6:
            return f"p = {p:.6g}"
        return None

    return Case((old, new), test=test, because=because)


def _paired_cases(rng):
    win, lose, same, bad = (False, True), (True, False), (True, True), (False, False)
    a, b = rng.randrange(6, 9), rng.randrange(1, 4)

    def mixed(*parts):
        found = [pair for pair, n in parts for _ in range(n)]
        rng.shuffle(found)
        return found

    return [
        _paired_case(mixed((win, a), (lose, b), (same, 20)), "only tasks on which the two differ are coin flips", rng),
        _paired_case(mixed((win, b), (lose, a), (bad, 4)), "the same split the other way round has the same p", rng),
        _paired_case(mixed((win, 5), (same, 25)), "5 to 0: both tails count, so twice 1/32", rng),
        _paired_case(mixed((win, 3), (lose, 3), (same, 5)), "an even split is no evidence: p is 1, and never more", rng),
        _paired_case(mixed((same, 8), (bad, 3)), "no task differs: p is 1", rng),
        _paired_case(mixed((win, 4), ((None, True), 3), ((True, None), 2), (same, 6)), "a harness error is no failure: such a task says nothing", rng),
        _paired_case(mixed((win, 2), (lose, 1), (same, 4)), "a task that only one of them was run on is not compared", rng, only_old=(True, False)),
        _paired_case(mixed((win, rng.randrange(20, 40)), (lose, rng.randrange(5, 15)), (same, 90)), "a large set", rng),
    ]


def _variant(old, new, source=_PAIRED):
    assert old in source
    return source.replace(old, new)


# ---- 21-3: find the bugs ---------------------------------------------------------------------------------------------

RIGHT = {"a", "d"}


def _letters(value):
    if isinstance(value, str):
        value = value.replace(",", " ").split() if len(value) != 2 else list(value)
    try:
        return {str(v).strip().lower() for v in value}
    except TypeError:
        return set()


def _bugs_test(value, args):
    return None if _letters(value) == RIGHT else "the two letters, such as ['x', 'y']"


def _named(*letters):
    return lambda value, args: set(letters) <= _letters(value)


# ---- 21-4: how many tasks --------------------------------------------------------------------------------------------

def _size_test(value, args):        # agentkit.intervals.needed(0.13, 0.03) is 132
    """Near the number that is enough."""
    if isinstance(value, bool) or not isinstance(value, int):
        return "a whole number of tasks"
    return None if 125 <= value <= 160 else "the smallest number, about: within a fifth above it"


EXERCISES = [
    Exercise(
        id="21-1", title="The checker", difficulty=2, minutes=6, name="judge", stub=_JUDGE_STUB, solution=_JUDGE, cases=_judge_cases, pure=True,
        task="Write `judge(wanted, refunded)`, the heart of a checker: it looks at the books and says what is wrong in them.",
        hints=["Which orders do you have to look at? Not only those that are wanted, and not only those that were paid.",
               "For each of them two questions: is it wanted, and how often does it stand in refunded?"],
        traps=[
            Trap(_judge('    return sorted([(o, "missing") for o in wanted if o not in refunded])'),
                 "You look only for what is missing. A version that refunds every order it sees would pass every task."),
            Trap(_judge('    return sorted([(o, "missing") for o in set(wanted) - set(refunded)] + [(o, "not due") for o in set(refunded) - set(wanted)])'),
                 "A set forgets how often. Paying twice is the most expensive mistake an agent can make, and it passes your checker."),
            Trap(_judge('    wrong = []\n    for o in sorted({*wanted, *refunded}):\n        n = refunded.count(o)\n        if n > 1:\n            wrong.append((o, "twice"))\n'
                        '        elif o not in wanted:\n            wrong.append((o, "not due"))\n        elif n == 0:\n            wrong.append((o, "missing"))\n    return wrong'),
                 "An order that was not due and was paid twice should not have been paid once: say \"not due\"."),
            Trap(_judge('    if wanted == refunded:\n        return []\n    wrong = []\n    for o in wanted:\n        if o not in refunded:\n            wrong.append((o, "missing"))\n'
                        '        elif refunded.count(o) > 1:\n            wrong.append((o, "twice"))\n    for o in dict.fromkeys(refunded):\n        if o not in wanted:\n'
                        '            wrong.append((o, "not due"))\n    return wrong'),
                 "The findings are right and their order is not: sort them, so that equal ends give equal reports."),
        ],
        after="It never looks at the answer. That is the point: a run is judged by what it did."),
    Exercise(
        id="21-2", title="The paired comparison", difficulty=3, minutes=8, name="paired", stub=_PAIRED_STUB, solution=_PAIRED, cases=_paired_cases, pure=True,
        task="Write `paired(old, new)`: the sign test of this notebook, on reports in which some tasks have no result.",
        hints=["First throw out the tasks that cannot be compared. Then count the two kinds of tasks on which the versions differ.",
               "With m coin flips, a split with k or fewer on the smaller side has the chance sum(comb(m, 0), ..., comb(m, k)) / 2 ** m. It can be lopsided in two directions."],
        traps=[
            Trap(_variant("min(1.0, 2 * tail)", "min(1.0, tail)"),
                 "That is one tail. You would have been as surprised by the same split the other way round, so both count: twice as much."),
            Trap(_variant("    m = better + worse\n", "    m = len(both)\n"),
                 "You flip a coin for every task. A task on which both do the same says nothing about which is better; with it in, 5 to 0 looks like a miracle."),
            Trap(_variant("if old[t] is not None and new.get(t) is not None", "if t in new"),
                 "None is falsy, so you counted harness errors as failures. Your network's bad hour is not the agent's fault: leave such tasks out."),
            Trap(_variant("min(1.0, 2 * tail)", "2 * tail"),
                 "At an even split the two tails overlap in the middle and your p is above 1. A chance never is: min(1.0, ...)."),
            Trap(_variant("new.get(t)", "new[t]"),
                 "A task that the new version was not run on raises KeyError in yours. It is not compared: use .get."),
            Trap(_variant("    return better, worse, min(1.0, 2 * tail)", "    return better, worse, min(1.0, comb(m, better) / 2 ** m * 2)"),
                 "That is the chance of exactly this split. Ask for this one or a more lopsided one: a sum over k."),
        ],
        after="This is McNemar's exact test, from the 1940s, in eight lines. It needs no table, no library, and no assumption but the pairs."),
    Exercise(
        id="21-3", title="Find the bugs in this eval", difficulty=3, minutes=6, name="bugs", value=True,
        stub="bugs = [..., ...]      # two letters\n", solution='bugs = ["a", "d"]\n', cases=[Case(test=_bugs_test)],
        task="Somebody's eval says 3 of 3. Run backwards, the same set says 2 of 3. Two lines are to blame: which?",
        hints=["The result depends on the order of the tasks. What does one run leave behind for the next?",
               "C3 is late. What does line d make of the answer to t3?"],
        traps=[
            Trap('bugs = ["a", "b"]\n', "b is as it should be: every run gets a model of its own. What else do all runs share?", when=_named("b")),
            Trap('bugs = ["a", "c"]\n', "A step limit is part of the version that you test. It stops a run; it does not carry anything into the next one.", when=_named("c")),
            Trap('bugs = ["a", "e"]\n', "Dividing by the number of tasks is right. What is wrong is the number above it.", when=_named("e")),
            Trap('bugs = ["a"]\n', "That one is right: one world for all tasks. There is a second bug, in the line that decides what a success is.",
                 when=lambda value, args: _letters(value) == {"a"}),
            Trap('bugs = ["d"]\n', "That one is right: a word is no refund. There is a second bug, and the order of the tasks gives it away.",
                 when=lambda value, args: _letters(value) == {"d"}),
        ],
        after="A world that is shared (a) and a success by substring (d). For the first there is a cheap alarm: run the set backwards; if a number moves, a run has "
              "left something behind. For the second there is none but reading the failures, and some of the passes."),
    Exercise(
        id="21-4", title="Plan the set", difficulty=2, minutes=4, name="tasks_needed", value=True,
        stub="tasks_needed = ...      # a whole number\n", solution="tasks_needed = 132\n", cases=[Case(test=_size_test)],
        task="Your change should win 13 % of the tasks and lose 3 %. How many tasks does a comparison need to show it four times in five? Use the lab or `needed`.",
        hints=["In the lab: a true difference of 10 points, and B also loses 3 %. Where does the curve cross the dashed line?", "from agentkit.intervals import needed; which two shares does it take?"],
        traps=[
            Trap("tasks_needed = 40\n", "With that few, most comparisons of this kind end in \"looks better, not shown\": see the bars in the lab.",
                 when=lambda value, args: isinstance(value, int) and not isinstance(value, bool) and 0 < value < 125),
            Trap("tasks_needed = 400\n", "That is enough, and more than enough: each task costs a run of both versions. Look for where the curve crosses the dashed line.",
                 when=lambda value, args: isinstance(value, int) and not isinstance(value, bool) and value > 160),
        ],
        after="Do this before you write tasks, not after you have seen the result. If it is more than you can afford, look for a larger effect, or for tasks on which the two differ."),
]
