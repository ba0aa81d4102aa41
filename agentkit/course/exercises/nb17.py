"""The exercises of notebook 17, plan and execute."""

from ..exercise import Case, Exercise, Trap

TITLE = "Plan and execute"


def _variant(old, new, source):
    assert old in source
    return source.replace(old, new)


# ---- 17-1: what is left --------------------------------------------------------------------------------------------------

_LEFT_STUB = '''
def steps_left(done, proposed):
    """The steps of a new plan that are still to be done, in its order.

    A step that is in `done` is left out; case and white space around or inside a step do not
    matter for that. Raises ValueError where `proposed` has a blank step or says one twice.
    """
    ...
'''
_LEFT = '''
def steps_left(done, proposed):
    def plain(step):
        return " ".join(step.lower().split())
    said = [plain(step) for step in proposed]
    if not all(said) or len(set(said)) < len(said):
        raise ValueError("each step says something, and no two say the same")
    finished = {plain(step) for step in done}
    return [step for step in proposed if plain(step) not in finished]
'''


def _left_cases(rng):
    a, b, c = (f"{verb} {letter}{rng.randrange(100, 999)}" for verb, letter in (("look up", "A"), ("refund", "B"), ("pack", "C")))
    return [
        Case(([], [c, a, b]), [c, a, b], because="nothing is done: all of the plan, in its order"),
        Case(([b], [c, b, a]), [c, a], because="what is done is left out, and the order is the planner's"),
        Case(([b], [b.upper(), a]), [a], because="a planner writes the same step in capitals"),
        Case(([b], [a, "  " + b.replace(" ", "  ") + " "]), [a], because="white space makes no other step"),
        Case(([a, b], [a, b]), [], because="all is done: nothing is left, and that is no error"),
        Case(([], [a, "  "]), raises=ValueError, because="a blank step cannot be done"),
        Case(([], [a, b, a.upper()]), raises=ValueError, because="one step twice in one plan is a mistake of the planner's: say so"),
        Case(([a], [a, b, a]), raises=ValueError, because="twice is twice, also where it is done already"),
        Case(([a[:-1]], [a, c]), [a, c], because="a step that only begins like a done one is another step"),
    ]


# ---- 17-2: count before ----------------------------------------------------------------------------------------------------

_COUNT_STUB = '''
def with_replans(plan, work_off, replan, max_replans):
    """Work a plan off, replanning where it fails. Returns (is all done: a bool, replans tried).

    `work_off(plan)` returns None when all went well, else why it failed. `replan(why)` returns a
    new plan, or raises any Exception: that replan was tried, too. At most `max_replans` are tried.
    """
    ...
'''
_COUNT = '''
def with_replans(plan, work_off, replan, max_replans):
    replans, why = 0, work_off(plan)
    while why is not None:
        if replans == max_replans:
            return False, replans
        replans += 1
        try:
            plan = replan(why)
        except Exception:
            continue
        why = work_off(plan)
    return True, replans
'''


def _rig(good_at, planner):
    """A plan is a number; it works from `good_at` on. The planner answers from a list: "ok" for the next number, or raises."""
    seen = {"plans": [], "whys": []}
    script = list(planner)

    def work_off(plan):
        seen["plans"].append(plan)
        return None if plan >= good_at else f"plan {plan} is stale"

    def replan(why):
        seen["whys"].append(why)
        said = script.pop(0) if script else "down"
        if said == "down":
            raise OSError("503")
        return len(seen["plans"])

    work_off.seen = seen
    return work_off, replan


def _count_case(good_at, planner, most, expect, plans, because):
    def make():
        work_off, replan = _rig(good_at, planner)
        return 0, work_off, replan, most

    def test(result, args):
        seen = args[1].seen
        if not isinstance(result, tuple) or result != expect:
            return f"{expect!r}"
        if len(seen["whys"]) != expect[1]:
            return f"replan to be called {expect[1]} times, not {len(seen['whys'])}"
        if seen["plans"] != plans:
            return f"these plans to be worked off: {plans}, not {seen['plans']}"
        if any(not isinstance(w, str) or "is stale" not in w for w in seen["whys"]):
            return "replan to be told why the last plan failed"
        return None

    return Case(make, test=test, because=because)


def _count_cases(rng):
    n = rng.randrange(3, 7)
    return [
        _count_case(0, [], 2, (True, 0), [0], "the first plan holds: nothing is replanned"),
        _count_case(1, ["ok"], 2, (True, 1), [0, 1], "one failure, one replan"),
        _count_case(9, ["ok"] * 9, n, (False, n), list(range(n + 1)), "max_replans is how many are tried, exactly"),
        _count_case(2, ["ok", "ok"], 2, (True, 2), [0, 1, 2], "the last replan allowed may still bring it home"),
        _count_case(1, [], n, (False, n), [0], "a planner that is down for good must not be asked for ever"),
        _count_case(1, ["down", "ok"], 3, (True, 2), [0, 1], "a replan that raised was tried: it counts, and the next one may work"),
        _count_case(1, ["ok"], 0, (False, 0), [0], "no replans allowed: the planner is not asked at all"),
    ]


# ---- 17-3: find the bug ----------------------------------------------------------------------------------------------------

def _is(letter):
    return lambda value, args: str(value).strip().lower() == letter


EXERCISES = [
    Exercise(
        id="17-1", title="What is left of a new plan", difficulty=2, minutes=6, name="steps_left", stub=_LEFT_STUB, solution=_LEFT, cases=_left_cases, pure=True,
        task="A planner that replans likes to write the whole plan again. Write `steps_left(done, proposed)`.",
        hints=["First one small function that says when two steps are the same.", "Check the plan before you take anything out of it."],
        traps=[
            Trap(_variant("if plain(step) not in finished", "if step not in done", _LEFT),
                 "You compare letter by letter. A planner that writes the step in capitals has it done twice, and with a refund that is money."),
            Trap("def steps_left(done, proposed):\n    return sorted(set(proposed) - set(done))\n", "A set has no order. The order is the plan."),
            Trap(_variant("    if not all(said) or len(set(said)) < len(said):\n        raise ValueError(\"each step says something, and no two say the same\")\n", "", _LEFT),
                 "You check nothing. A step that says nothing, or stands twice, is a mistake that the planner can still mend; the worker cannot."),
            Trap("def steps_left(done, proposed):\n    def plain(step):\n        return ' '.join(step.lower().split())\n    seen, left = {plain(s) for s in done}, []\n"
                 "    for step in proposed:\n        if not plain(step):\n            raise ValueError('blank')\n        if plain(step) not in seen:\n            left.append(step)\n"
                 "            seen.add(plain(step))\n    return left\n",
                 "You drop a step that stands twice without a word. Perhaps it should be done twice: only the planner knows, so tell it."),
            Trap(_variant("if plain(step) not in finished", "if not any(plain(step).startswith(f) for f in finished)", _LEFT),
                 "You leave out steps that only begin like a done one: with B45 done, B456 is skipped."),
        ],
        after="Words are a weak name for a step. Where a repeat would cost money, the tool itself has to refuse it: an idempotency key, notebook 10."),
    Exercise(
        id="17-2", title="Count before you try", difficulty=3, minutes=8, name="with_replans", stub=_COUNT_STUB, solution=_COUNT, cases=_count_cases,
        task="Write `with_replans(plan, work_off, replan, max_replans)`. A planner that is down must not be asked for ever.",
        hints=["Where does the counter go so that no way through the loop can pass it by?", "When a replan raises there is no new plan: do not work the old one off again."],
        traps=[
            Trap(_variant("        replans += 1\n        try:\n            plan = replan(why)\n", "        try:\n            plan = replan(why)\n            replans += 1\n", _COUNT),
                 "You count a replan when it has worked. One that raises is never counted, so a planner that is down is asked for ever.", hangs=True),
            Trap(_variant("if replans == max_replans", "if replans > max_replans", _COUNT), "One replan too many: a limit of N means exactly N."),
            Trap(_variant("        try:\n            plan = replan(why)\n        except Exception:\n            continue\n", "        plan = replan(why)\n", _COUNT),
                 "A planner that raises ends your loop with a traceback, and what is done so far is lost with it."),
            Trap(_variant("        except Exception:\n            continue\n", "        except Exception:\n            return False, replans\n", _COUNT),
                 "You give up at the first replan that raises, though more are allowed."),
            Trap(_variant("        except Exception:\n            continue\n", "        except Exception:\n            pass\n", _COUNT),
                 "After a replan that raised you work the old plan off again. It has failed already, and its first steps would run twice."),
        ],
        after="Count, then try: the same order as in every limit of notebook 06.", seconds=3),
    Exercise(
        id="17-3", title="Find the bug in this trace", difficulty=2, minutes=4, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "c"\n',
        value=True, cases=[Case(test=lambda value, args: None if _is("c")(value, args) else "one letter, the cause: compare the two plans with what was done between them")],
        task="Somebody else's plan-and-execute. The mail has gone out in the end. Mira writes back, pleased, and does not say why. What is wrong?",
        hints=["Which effect on the world stands in the trace twice?", "What should the harness have taken out of the second plan?"],
        traps=[
            Trap('answer = "a"\n', "It was: step 5 says replan 1. Look at what the new plan makes the worker do.", when=_is("a")),
            Trap('answer = "b"\n', "One replan was enough to mend the address. It did more than that.", when=_is("b")),
            Trap('answer = "d"\n', "A wrong address is no stale plan: nothing has changed, it was wrong from the start. And that failed loudly.", when=_is("d")),
        ],
        after="The planner wrote the whole plan anew, and the harness ran all of it: the chair is paid for twice. Done steps are kept over a replan, and the planner is told of them."),
]
