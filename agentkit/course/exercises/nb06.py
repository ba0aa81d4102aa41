"""The exercises of notebook 06, the exits."""

import json
from dataclasses import replace

from agentkit import Limits, Price, Reply, Usage, call, run, tool

from ..exercise import Case, Exercise, Trap

TITLE = "The exits"

# ---- 06-1: one spelling for the same arguments -------------------------------------------------------------------------

_CANONICAL_STUB = '''
def canonical(arguments):
    """One text for the same arguments, whatever their key order and white space.

    `arguments` is a dict, or the JSON text that a provider sent. Text that is no JSON comes back as it is.
    """
    ...
'''
_CANONICAL = '''
import json
from dataclasses import replace

def canonical(arguments):
    """One text for the same arguments, whatever their key order and white space."""
    try:
        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
    except ValueError:
        return arguments
    return json.dumps(parsed, sort_keys=True, separators=(",", ":"))
'''


def _spelled(arguments, value, because):
    """A case that takes the compact spelling and the one with json.dumps's own separators."""
    short, wide = json.dumps(value, sort_keys=True, separators=(",", ":")), json.dumps(value, sort_keys=True)
    return Case((arguments,), test=lambda result, args: None if result in (short, wide) else repr(short), because=because)


def _canonical_cases(rng):
    a, b = rng.randrange(10, 99), rng.randrange(100, 999)
    return [
        _spelled({"qty": a, "id": f"A{b}"}, {"qty": a, "id": f"A{b}"}, "the keys come in the order of the alphabet, whatever order they were sent in"),
        _spelled({"id": f"A{b}", "qty": a}, {"qty": a, "id": f"A{b}"}, "the keys come in the order of the alphabet, whatever order they were sent in"),
        _spelled(f'{{"qty":{a},   "id": "A{b}"}}', {"qty": a, "id": f"A{b}"}, "a provider sends arguments as JSON text: read it first, then write it your way"),
        _spelled({"where": {"y": a, "x": [b, a]}}, {"where": {"y": a, "x": [b, a]}}, "keys inside of values count as well; the order of a list has a meaning and stays"),
        _spelled(f'{{"text": "two  words {a}"}}', {"text": f"two  words {a}"}, "white space inside of a text is part of the value"),
        _spelled({"n": str(a)}, {"n": str(a)}, "the text \"5\" and the number 5 are different arguments"),
        _spelled({"n": True}, {"n": True}, "JSON writes true, Python writes True"),
        _spelled({}, {}, "no arguments are arguments too: {}"),
        Case((f'{{"qty": {a}',), f'{{"qty": {a}', because="a model that writes broken JSON three times is stuck as well: the text stands for itself, nothing is raised"),
    ]


# ---- 06-2: a loop at the end of the history -----------------------------------------------------------------------------

_LOOP_STUB = '''
def is_loop(history, times):
    """True when the history ends in one block of one, two or three entries, `times` times over.

    An entry is (tool name, arguments as a dict, result as text); the newest stands last.
    """
    ...
'''
_LOOP = '''
def is_loop(history, times):
    """True when the history ends in one block of one, two or three entries, `times` times over."""
    for period in (1, 2, 3):
        if len(history) >= period * times and history[-period * times:] == history[-period:] * times:
            return True
    return False
'''


def _loop_cases(rng):
    n = rng.randrange(100, 900)
    a, b, c = (("get_order", {"order_id": f"A{n + i}"}, f"ERROR: no order A{n + i}") for i in range(3))
    changed = [("status", {"id": n}, f"{k} of 5 packed") for k in range(1, 6)]
    swapped = ("find", {"x": n, "y": 1}, "nothing"), ("find", {"y": 1, "x": n}, "nothing")
    return [
        Case(([], 3), False, because="nothing has happened yet"),
        Case(([a, a, a], 3), True, because="the same call with the same result, three times in a row"),
        Case(([a, a], 3), False, because="twice is no loop yet where three times are asked for"),
        Case(([c, a, a, a], 3), True, because="what came before the loop does not excuse it"),
        Case(([swapped[0], swapped[1], swapped[0]], 3), True, because="dicts with the same keys and values are equal, whatever their order"),
        Case((changed, 3), False, because="the result changes every time: that is progress, not a loop"),
        Case(([a, b, a, c, a], 3), False, because="the same call came three times, but other things happened in between and no block repeats"),
        Case(([a, b, a, b, a, b], 3), True, because="a cycle of two, three times over"),
        Case(([a, b, a, b, a], 3), False, because="the cycle of two is there twice and a half"),
        Case(([c, a, b, c, a, b, c, a, b], 3), True, because="a cycle of three, three times over"),
        Case(([a, a, a, b], 3), False, because="the model has moved on: only the end of the history counts"),
        Case(([a, b, a, b], 2), True, because="`times` may be another number"),
        Case(([a, b, (a[0], a[1], "found"), b, a, b], 3), False, because="one result inside of the cycle was another one"),
    ]


# ---- 06-3: ask before you spend ------------------------------------------------------------------------------------------

_MAY_STUB = '''
def may_call(spent, prompt, reserve, budget):
    """True when the next model call may be made.

    spent    tokens used so far
    prompt   tokens that the next call sends; None: there is no counter, so it is not known
    reserve  tokens kept back for the reply; None: nothing is kept back
    budget   tokens that the run may use; None: unlimited, 0: none
    """
    ...
'''
_MAY = '''
def may_call(spent, prompt, reserve, budget):
    """True when the next model call may be made."""
    if budget is None:
        return True
    return spent < budget and spent + (prompt or 0) + (reserve or 0) <= budget
'''


def _may_cases(rng):
    budget, prompt, reserve = rng.randrange(5_000, 9_000), rng.randrange(300, 900), rng.randrange(100, 290)
    return [
        Case((0, prompt, reserve, budget), True, because="an untouched budget has room for a first call"),
        Case((10 ** 9, prompt, reserve, None), True, because="None is unlimited"),
        Case((0, prompt, reserve, 0), False, because="0 is none: not one call may be made"),
        Case((0, None, None, 0), False, because="0 is none, also where the size of the call is not known"),
        Case((budget - prompt, prompt, 0, budget), True, because="what fits exactly fits"),
        Case((budget - prompt + 1, prompt, 0, budget), False, because="one token too many is too many: the call is not sent"),
        Case((budget - prompt - reserve, prompt, reserve, budget), True, because="prompt and reserve together fit exactly"),
        Case((budget - prompt - reserve + 1, prompt, reserve, budget), False, because="without room for the reply the run ends over its budget"),
        Case((budget - prompt, prompt, None, budget), True, because="reserve None keeps nothing back"),
        Case((budget - 1, None, None, budget), True, because="without a counter all that can be asked is whether anything is left"),
        Case((budget, None, None, budget), False, because="the budget is used up; that the size of the next call is not known does not make it free"),
        Case((budget + 40, None, None, budget), False, because="the last call went over, so this one may not be made"),
    ]


def _may_body(line):
    return f"def may_call(spent, prompt, reserve, budget):\n{line}\n"


# ---- 06-4: what would you set? --------------------------------------------------------------------------------------------

_PRICE = Price(3, 15)
_MOST_USD, _MOST_SECONDS, _MOST_REFUNDS = 0.20, 180, 10


def _sheet(replies, limits, seconds=5, usage=Usage(1800, 100)):
    """Run the task sheet's tools under `limits`: (result, USD, seconds on an injected clock, refunds paid).

    `replies(turn)` is what the model asks for at that turn: a list of calls, or the text of an answer.
    """
    now, paid = [0.0], []

    @tool
    def get_order(order_id: str) -> str:
        """Look up an order."""
        if order_id.startswith("X"):
            raise LookupError(f"no order {order_id}")
        return f"{order_id} is late"

    @tool
    def refund_order(order_id: str) -> str:
        """Pay an order back."""
        paid.append(order_id)
        return f"{order_id} paid back"

    def model(messages, tools):
        now[0] += seconds
        said = replies(sum(m["role"] == "assistant" for m in messages))
        return Reply(said, usage=usage) if isinstance(said, str) else Reply(tool_calls=said, usage=usage)

    result = run(model, [get_order, refund_order], "Refund what is late.", limits=limits, prices=_PRICE, clock=lambda: now[0])
    return result, result.usage.cost_usd, now[0], len(paid)


def _steps(*orders):
    """The replies of a good run: look these orders up, refund one, answer."""
    script = [[call("get_order", order_id=o)] for o in orders] + [[call("refund_order", order_id="A1")], "A1 was late and is paid back."]
    return lambda turn: script[min(turn, len(script) - 1)]


def _finishes(label, orders, because):
    def test(limits, args):
        _is_limits(limits)
        result, *_ = _sheet(_steps(*orders), limits)
        return None if result.status == "done" else f"the {label} to finish. It ended with {result.status}: {result.report}"
    return Case(test=test, because=because)


def _is_stopped(label, replies, because, **how):
    def test(limits, args):
        _is_limits(limits)
        # Where nothing in the learner's limits ends the run, forty steps are shown and then it is called off.
        guarded = limits if limits.max_steps is not None and limits.max_steps < 40 else replace(limits, max_steps=40)
        _, usd, seconds, refunds = _sheet(replies, guarded, **how)
        for value, most, text in ((usd, _MOST_USD, f"cost {usd:.2f} USD, and {_MOST_USD:.2f} are allowed"),
                                  (seconds, _MOST_SECONDS, f"took {seconds:.0f} s, and {_MOST_SECONDS} are allowed"),
                                  (refunds, _MOST_REFUNDS, f"paid {refunds} refunds, and {_MOST_REFUNDS} are allowed")):
            if value > most:
                return f"{label} to be stopped in time: it {text}"
        return None
    return Case(test=test, because=because)


def _is_limits(limits):
    assert isinstance(limits, Limits), "a Limits(...) value: my_limits = Limits(max_steps=..., ...)"


def _choice_cases(rng):
    first = rng.randrange(100, 900)
    orders = [f"A{first + i}" for i in range(4)]
    return [
        _finishes("good run of 6 steps", orders, "a limit that stops a good run is worse than none: leave room above what good runs need"),
        _finishes("good run with two tool errors, 8 steps", [f"X{first}", *orders[:2], f"X{first + 1}", *orders[2:]],
                  "good runs make mistakes: two tool errors and two more steps belong to them"),
        _is_stopped("a model that wanders from order to order", lambda turn: [call("get_order", order_id=f"A{turn}")],
                    "nothing that you set ends a model which asks for something new each time: max_steps does"),
        _is_stopped("a model that asks for 25 refunds in one reply", lambda turn: [call("refund_order", order_id=f"A{25 * turn + k}") for k in range(25)],
                    "one step can hold many calls, and here each one pays: max_tool_calls is its own budget"),
        _is_stopped("a model behind a slow provider, 50 s a reply", lambda turn: [call("get_order", order_id=f"A{turn}")],
                    "few steps and few tokens can take very long: max_seconds. The call under way is not cut off, so leave room for one", seconds=50),
        _is_stopped("a model that thinks 4,000 tokens before each call", lambda turn: [call("get_order", order_id=f"A{turn}")],
                    "thinking is billed as output, at the high price: budget_usd, with room for the last call, which is charged after it is made",
                    usage=Usage(1800, 4000)),
    ]


EXERCISES = [
    Exercise(
        id="06-1", title="One spelling for the same arguments", difficulty=2, minutes=6, name="canonical", stub=_CANONICAL_STUB, solution=_CANONICAL,
        cases=_canonical_cases, pure=True,
        task="Write `canonical(arguments)`, the heart of the repeat check: JSON text with the keys in order, so that two spellings of one call are equal.",
        hints=["Two steps: get a value (read the text if it is one), then write the value in exactly one way.",
               "`json.dumps` has an option that puts the keys in order at every depth. `json.loads` raises ValueError for broken JSON; what can stand for it then?"],
        traps=[
            Trap("import json\ndef canonical(arguments):\n    return json.dumps(arguments, sort_keys=True)\n",
                 "You wrote a JSON text once more as JSON: it is now a text in quotes, spelled as the provider spelled it. Read it first."),
            Trap("import json\ndef canonical(arguments):\n    parsed = json.loads(arguments) if isinstance(arguments, str) else arguments\n"
                 "    return json.dumps(parsed, sort_keys=True)\n",
                 "Your function raises for broken JSON. The check that should stop a confused model would end the run with a traceback instead."),
            Trap("import json\ndef canonical(arguments):\n    try:\n        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments\n"
                 "    except ValueError:\n        return arguments\n    return json.dumps(dict(sorted(parsed.items())))\n",
                 "Only the outer keys are in order. An object inside of an argument can be spelled in two ways as well."),
            Trap('import json\ndef canonical(arguments):\n    text = arguments if isinstance(arguments, str) else json.dumps(arguments)\n    return text.replace(" ", "")\n',
                 "Taking out the spaces leaves the keys in the order they came in, and it damages texts: \"two words\" and \"twowords\" become the same call."),
            Trap('import json\ndef canonical(arguments):\n    try:\n        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments\n'
                 '    except ValueError:\n        return "{}"\n    return json.dumps(parsed, sort_keys=True)\n',
                 "You gave broken JSON the spelling of no arguments. Then a broken call and an empty one look the same."),
        ],
        after="Two spellings of a call are now one text. Put the tool's name before it and the result behind it, and you have a signature."),
    Exercise(
        id="06-2", title="Is it a loop?", difficulty=3, minutes=10, name="is_loop", stub=_LOOP_STUB, solution=_LOOP, cases=_loop_cases, pure=True,
        task="Write `is_loop(history, times)` without looking above: the newest entries are one block of one, two or three, `times` times over.",
        hints=["For a block of one: what do the last `times` entries have in common? Then say the same for a block of two.",
               "A list times a number repeats the list. Compare that with the end of the history, and mind a history that is too short."],
        traps=[
            Trap("def is_loop(history, times):\n    return len(history) >= times and history[-times:] == history[-1:] * times\n",
                 "You see one call repeated, but not a cycle: a model that goes a, b, a, b, a, b is just as stuck."),
            Trap("def is_loop(history, times):\n    return any(history.count(entry) >= times for entry in history)\n",
                 "You count in the whole history. The same call may come up three times in a run that makes progress; a loop is a block at the end."),
            Trap("def is_loop(history, times):\n    calls = [entry[:2] for entry in history]\n"
                 "    return any(len(calls) >= p * times and calls[-p * times:] == calls[-p:] * times for p in (1, 2, 3))\n",
                 "You leave the result out. Asking again and getting a new answer is progress; your rule would stop every model that waits for something."),
            Trap("def is_loop(history, times):\n    n = len(history)\n    return any(history[i:i + p * times] == history[i:i + p] * times\n"
                 "               for p in (1, 2, 3) for i in range(n - p * times + 1))\n",
                 "You find a loop anywhere in the history. A model that was in one and got out of it has moved on: look at the end only."),
            Trap("def is_loop(history, times):\n    return any(history[-p * 3:] == history[-p:] * 3 for p in (1, 2, 3) if len(history) >= p * 3)\n",
                 "The number of repeats is fixed in your code; use `times`."),
            Trap("def is_loop(history, times):\n    return any(len(history) >= p * 2 and history[-p:] == history[-2 * p:-p] for p in (1, 2, 3))\n",
                 "Your rule fires at the second time already. A model may repeat a call once; ask for `times` of them."),
        ],
        after="Three lines, and it sees every loop that has a period of up to three. A model that wanders is not one: that is what the step limit is for."),
    Exercise(
        id="06-3", title="May the next call be made?", difficulty=2, minutes=7, name="may_call", stub=_MAY_STUB, solution=_MAY, cases=_may_cases,
        task="Write `may_call(spent, prompt, reserve, budget)`: the question before every model call. The cases stand exactly on the edge.",
        hints=["Start with the two special budgets: which one means unlimited, and which one means none?",
               "There are two questions: is anything left at all, and does what is coming fit? Without a counter only the first can be asked."],
        traps=[
            Trap(_may_body("    if not budget: return True\n    return spent < budget and spent + (prompt or 0) + (reserve or 0) <= budget"),
                 "`not budget` is true for None and for 0. So whoever forbids all spending gets an unlimited run: ask `budget is None`."),
            Trap(_may_body("    if budget is None: return True\n    return spent + (prompt or 0) + (reserve or 0) < budget"),
                 "Off by one: a call that fits exactly is refused. A budget of 100 means that 100 tokens may be used."),
            Trap(_may_body("    if budget is None: return True\n    return spent < budget and spent + (prompt or 0) <= budget"),
                 "The reserve is forgotten: the prompt fits, the reply does not, and the run ends over its budget."),
            Trap(_may_body("    if budget is None: return True\n    return spent + (prompt or 0) + (reserve or 0) <= budget"),
                 "Without a counter the next call looks free to you, so a budget that is used up to the last token lets one more call through."),
            Trap(_may_body("    if budget is None: return True\n    return spent < budget"),
                 "This is the check after the call: it sees that the budget is gone once it is gone. You know the size of the prompt; ask before you send it."),
            Trap(_may_body("    if budget is None: return True\n    return spent < budget and spent + prompt + reserve <= budget"),
                 "None is no number: without a counter or a reserve your function raises. What should an unknown size add?"),
        ],
        after="None and 0 are not the same, exactly full is not over, and unknown is not free: three bugs that real harnesses have shipped."),
    Exercise(
        id="06-4", title="What would you set, and why?", difficulty=3, minutes=8, name="my_limits", value=True,
        stub="my_limits = ...      # Limits(max_steps=..., max_tool_calls=..., ...)\n", setup="from agentkit import Limits\n",
        solution="# Twice a good run, or a good run and a half, rounded. A good run makes 5 tool calls, one with trouble 7.\n"
                 "my_limits = Limits(max_steps=12, max_tool_calls=10, budget_tokens=25_000,\n"
                 "                   budget_usd=0.12, max_seconds=90, max_errors=4)\n",
        cases=_choice_cases, seconds=8,
        task="Set `my_limits` for the task sheet below. Your limits are tried on two good runs, which must finish, and on four bad ones, which must be stopped in time.",
        hints=["Go through the sheet line by line: which limit guards it, what does a good run with trouble need, what may a bad run use?",
               "Which limit bounds a single reply that asks for 25 refunds? And a model whose tokens are few but dear? Budgets are charged after a call: leave room for the last one."],
        traps=[
            Trap("my_limits = Limits()\n", "The defaults are a net, not a choice: ten steps and a repeat check. They know nothing of refunds, of seconds or of your price.",
                 when=lambda limits, args: limits == Limits()),
            Trap("my_limits = Limits(max_steps=6, max_tool_calls=10, budget_usd=0.12, max_seconds=90)\n",
                 "Your step limit is below what a good run with trouble needs. A limit set to the best case cuts off every run that makes one mistake.",
                 when=lambda limits, args: limits.max_steps is not None and limits.max_steps < 8),
            Trap("my_limits = Limits(max_steps=12, max_tool_calls=10, budget_usd=0.12, max_seconds=90, max_errors=2)\n",
                 "The run stops with the last error allowed, so max_errors=2 ends a run at its second error. The sheet says that good runs have two.",
                 when=lambda limits, args: limits.max_errors is not None and limits.max_errors <= 2),
            Trap("my_limits = Limits(max_steps=12, max_tool_calls=5, budget_usd=0.12, max_seconds=90)\n",
                 "A failed call is a call too: a good run with trouble makes seven of them.",
                 when=lambda limits, args: limits.max_tool_calls is not None and limits.max_tool_calls < 7),
            Trap("my_limits = Limits(max_steps=100, max_repeats=3, max_errors=5)\n",
                 "With nothing but a high step limit, each of the bad runs may use all of it. Which budget would stop this one?",
                 when=lambda limits, args: limits.budget_usd is None and limits.budget_tokens is None and limits.max_tool_calls is None and limits.max_seconds is None),
        ],
        after="Why these numbers hold: steps and tool calls leave a good run with trouble some room and no more; seconds and USD stand far enough under "
              "what is allowed that the last call, charged after it is made, still fits. The repeat check is on by default. Refunds need one thing more, "
              "which no limit gives: somebody who says yes. That is notebook 07."),
]
