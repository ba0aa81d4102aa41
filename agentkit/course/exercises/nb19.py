"""The exercises of notebook 19, the cost numbers."""

import math

from ..exercise import Case, Exercise, Trap

TITLE = "The cost of a run"

# ---- 19-1: the sum without a loop ------------------------------------------------------------------------------------

_SUM_STUB = '''
def all_input(b, g, T):
    """Input tokens of T calls: the first sends b, each later one g more. No loop; an int."""
    ...
'''
_SUM = '''
def all_input(b, g, T):
    return T * b + g * (T * (T - 1) // 2)
'''


def _sum_cases(rng):
    def case(b, g, t, because):
        return Case((b, g, t), test=lambda result, args: _whole(result, t * b + g * (t * (t - 1) // 2)), because=because)

    b, g, t = rng.randrange(500, 5_000), rng.randrange(100, 2_000), rng.randrange(4, 40)
    return [
        case(b, g, 1, "one call sends b and nothing else: nothing has grown yet"),
        case(b, g, 2, "two calls send b, then b + g"),
        case(b, g, t, "b is sent T times; the growth is g times (0 + 1 + ... + (T - 1))"),
        case(b, 0, t, "a list that does not grow costs b for each call"),
        case(0, g, t, "with nothing to begin with, only the triangle is left"),
        case(b, g, 0, "no calls, no tokens"),
        case(b, 7, 50_000_003, "a whole number of tokens stays a whole number: // and not /"),
    ]


def _whole(result, right):
    return None if isinstance(result, int) and not isinstance(result, bool) and result == right else f"{right!r}"


# ---- 19-2: find the bug in this bill ---------------------------------------------------------------------------------

_BILL_STUB = '''
def bill_usd(report, price):
    """USD for one reply. report: {"prompt_tokens", "cached_tokens", "output_tokens"}; here
    prompt_tokens is the WHOLE prompt, what came from the cache too. cached_tokens may be None.
    price: {"input", "cached", "output"}, in USD per million tokens.
    """
    cached = report["cached_tokens"] or 0                       # the bug is below this line
    return (report["prompt_tokens"] * price["input"] + cached * price["cached"]
            + report["output_tokens"] * price["output"]) / 1_000_000
'''
_BILL = '''
def bill_usd(report, price):
    cached = report["cached_tokens"] or 0
    fresh = report["prompt_tokens"] - cached
    return (fresh * price["input"] + cached * price["cached"] + report["output_tokens"] * price["output"]) / 1_000_000
'''


def _bill_cases(rng):
    price = {"input": 3.0, "cached": 0.3, "output": 15.0}

    def case(prompt, cached, output, because, price=price):
        right = ((prompt - (cached or 0)) * price["input"] + (cached or 0) * price["cached"] + output * price["output"]) / 1e6
        report = {"prompt_tokens": prompt, "cached_tokens": cached, "output_tokens": output}
        return Case((report, dict(price)), test=lambda result, args: _near(result, right), because=because)

    prompt, output = rng.randrange(4_000, 9_000), rng.randrange(50, 400)
    cached = prompt - rng.randrange(300, 900)
    return [
        case(prompt, cached, output, "the cached tokens are in prompt_tokens already: each token belongs to one bucket"),
        case(prompt, 0, output, "nothing came from the cache: the whole prompt is paid at the full price"),
        case(prompt, None, output, "a server that says nothing of a cache has given no discount"),
        case(prompt, prompt, output, "all of it from the cache: nothing is left at the full price"),
        case(prompt, cached, output, "other prices: no number of yours may stand in for one of theirs", {"input": 1.25, "cached": 0.5, "output": 10.0}),
    ]


def _near(result, right):
    number = isinstance(result, (int, float)) and not isinstance(result, bool)
    return None if number and math.isclose(result, right, rel_tol=1e-9, abs_tol=1e-15) else f"{right:.7f} USD"


def _bill_with(formula):
    return f'def bill_usd(report, price):\n    cached = report["cached_tokens"] or 0\n    prompt, output = report["prompt_tokens"], report["output_tokens"]\n    return ({formula}) / 1_000_000\n'


# ---- 19-3: a limit for a budget --------------------------------------------------------------------------------------

_LIMIT_STUB = '''
def step_limit_for(budget_usd, b, written, returned):
    """The largest max_steps whose bill stays within the budget when every step allowed is used.

    b: tokens of the first call. Every reply writes at most `written` tokens, every tool returns at
    most `returned`, one call a reply. 3 USD per million tokens sent, 15 written, no cache.
    """
    ...
'''
_LIMIT = '''
def step_limit_for(budget_usd, b, written, returned):
    steps, spent, prompt = 0, 0.0, b
    while True:
        spent += (prompt * 3 + written * 15) / 1_000_000
        if spent > budget_usd:
            return steps
        steps += 1
        prompt += written + returned
'''


def _worst(t, b, written, returned):
    return ((t * b + (written + returned) * (t * (t - 1) // 2)) * 3 + t * written * 15) / 1e6


def _limit_cases(rng):
    def case(t, b, written, returned, because, extra=0.4):
        low, high = (_worst(n, b, written, returned) for n in (t, t + 1))     # the budget lies between two bills, so rounding decides nothing
        return Case((low + (high - low) * extra, b, written, returned), t, because=because)

    b, w, r = rng.randrange(800, 3_000), rng.randrange(60, 300), rng.randrange(200, 1_500)
    return [
        case(20, 1_600, 150, 600, "the run of this notebook: 20 steps are 0.5685 USD, and 21 are too many"),
        case(rng.randrange(5, 15), b, w, r, "the list grows by written + returned in every step; add up the calls until the next one does not fit", 0.95),
        case(1, b, w, r, "one call fits, two do not", 0.5),
        case(0, b, w, r, "a budget below the first call allows no step at all", 0.9),
        case(rng.randrange(25, 40), b, w, r, "a bill that grows with the square of the steps: twice the budget is not twice the steps", 0.05),
        case(rng.randrange(3, 9), 100, 800, 50, "what the model writes is paid for as output and, later, as input"),
    ]


def _limit_with(change):
    old, new = change
    assert old in _LIMIT
    return _LIMIT.replace(old, new)


# ---- 19-4: when compaction pays --------------------------------------------------------------------------------------

_COMPACT_STUB = '''
def calls_until_it_pays(prompt, b, s, price_in, price_out):
    """The least number of calls, the next one counted, after which cutting has cost no more.

    The next call would send `prompt` tokens. To cut: one more call reads all of it and writes a
    summary of s tokens; the next call sends b + s, and every later one saves as much. No cache.
    None where the list does not become shorter. Prices in USD per million tokens.
    """
    ...
'''
_COMPACT = '''
import math

def calls_until_it_pays(prompt, b, s, price_in, price_out):
    saved_per_call = (prompt - b - s) * price_in
    if saved_per_call <= 0:
        return None
    return math.ceil((prompt * price_in + s * price_out) / saved_per_call)
'''


def _compact_cases(rng):
    b, s = rng.randrange(800, 2_500), rng.randrange(300, 900)
    prompt = b + s + rng.randrange(4_000, 12_000)

    def case(prompt, b, s, because, price_in=3, price_out=15):
        saved = (prompt - b - s) * price_in
        return Case((prompt, b, s, price_in, price_out), -(-(prompt * price_in + s * price_out) // saved) if saved > 0 else None, because=because)

    return [
        case(8_350, 1_600, 500, "the summary costs 32,550 millionths of a dollar, each call then saves 18,750: two calls"),
        case(prompt, b, s, "what the extra call costs, divided by what each call saves, rounded up"),
        case(b + s + 100, b, s, "a list that is hardly longer than its summary takes many calls to pay"),
        case(b + s, b, s, "a list that does not become shorter never pays: None"),
        case(b + s - 50, b, s, "and one that becomes longer neither"),
        case(6_000, 1_000, 1_000, "where it comes out even, no further call is needed: round up, do not add one", 1, 2),
        case(prompt, b, s, "the summary is written, so it is paid at the price of output", 1, 40),
    ]


def _compact_with(formula, guard=True):
    check = "    if prompt - b - s <= 0:\n        return None\n" if guard else ""
    return f"import math\n\ndef calls_until_it_pays(prompt, b, s, price_in, price_out):\n{check}    return {formula}\n"


EXERCISES = [
    Exercise(
        id="19-1", title="The sum without a loop", difficulty=1, minutes=4, name="all_input", stub=_SUM_STUB, solution=_SUM, cases=_sum_cases,
        task="Write `all_input(b, g, T)` from memory, as one expression. Interviewers ask for it on a whiteboard.",
        hints=["How many times is b sent? How many times is the first g sent, and how many times the last one?",
               "0 + 1 + ... + (T - 1) is a triangle. Two of them make a rectangle of T by T - 1."],
        traps=[
            Trap("def all_input(b, g, T):\n    return T * b + g * (T * (T + 1) // 2)\n",
                 "You let the list grow before the first call: T (T + 1) / 2 is 1 + 2 + ... + T. The first call sends b alone, so the sum begins at 0."),
            Trap("def all_input(b, g, T):\n    return T * b + g * (T - 1)\n",
                 "You counted each g once, so this is T times the base and the growth of the last list. But every g is sent again in each call that follows it."),
            Trap("def all_input(b, g, T):\n    return b + g * (T - 1)\n",
                 "That is what the last call sends, the length of the final list. The bill is the sum of all the calls."),
            Trap("def all_input(b, g, T):\n    return T * b + g * T * (T - 1) / 2\n",
                 "/ makes a float of a number of tokens; for a large run it is no longer exact. T * (T - 1) is always even, so // loses nothing."),
            Trap("def all_input(b, g, T):\n    return b + g * (T * (T - 1) // 2)\n", "You sent the base once. It is sent with each of the T calls."),
            Trap("def all_input(b, g, T):\n    return (T + 1) * (b + g * (T - 1)) // 2\n",
                 "That is the rule of thumb, (T + 1) / 2 times the last call. It is exact for b = g only."),
        ],
        after="Base times steps, growth times a triangle. Whoever says this aloud can do the rest of the bill in the head."),
    Exercise(
        id="19-2", title="Find the bug in this bill", difficulty=2, minutes=5, name="bill_usd", stub=_BILL_STUB, solution=_BILL, cases=_bill_cases, pure=True,
        task="A team turned its provider's cache on, and the dashboard says that the bill went up. The invoice says that it went down. "
             "Mend `bill_usd`.",
        hints=["Take a prompt of 1,000 tokens, 900 of them cached. How many tokens does the function charge for?",
               "Make two buckets that have no token in common, then give each its price."],
        traps=[
            Trap(_bill_with('prompt * price["input"] + cached * price["cached"] + output * price["output"]'),
                 "A prompt of 1,000 tokens with 900 cached is charged as 1,900 here: the cached ones at the full price and again at their own."),
            Trap(_bill_with('prompt * price["input"] + output * price["output"]'), "Now the discount is gone: every token costs the full price, as if there were no cache."),
            Trap(_bill_with('(prompt - cached) * price["input"] + output * price["output"]'),
                 "Cached tokens are cheap, but not free: they have a price of their own, and it is missing here."),
            Trap(_bill_with('(prompt - cached) * price["input"] + cached * price["input"] * 0.1 + output * price["output"]'),
                 "You wrote down one provider's discount. The price list you are given says what cached input costs; use that."),
            Trap(_bill_with('(prompt + cached) * price["input"] + output * price["output"]'), "You add the cached tokens to a prompt that has them already."),
            Trap('def bill_usd(report, price):\n    cached = report["cached_tokens"]\n    fresh = report["prompt_tokens"] - cached\n'
                 '    return (fresh * price["input"] + cached * price["cached"] + report["output_tokens"] * price["output"]) / 1_000_000\n',
                 "Right for servers with a cache. Others send None, and then your bill raises in the middle of a run."),
        ],
        after="litellm #9812 and aider #5516 are this bug. Some providers report the whole prompt, others only what was not cached. "
              "Make disjoint buckets once, in the adapter, and nobody has to remember which."),
    Exercise(
        id="19-3", title="What limit would you set?", difficulty=3, minutes=8, name="step_limit_for", stub=_LIMIT_STUB, solution=_LIMIT, cases=_limit_cases,
        task="The owner of the product says: no task may cost more than this. You have a cap on replies and a cap on tool results. "
             "Which `max_steps` do you set?",
        hints=["Walk through the calls and keep two numbers: what is spent, and how long the next prompt is.",
               "The last step allowed also writes a reply. Its tool result is never sent."],
        traps=[
            Trap("def step_limit_for(budget_usd, b, written, returned):\n    return int(budget_usd / ((b * 3 + written * 15) / 1_000_000))\n",
                 "Your list does not grow: every step costs what the first one does. The later ones cost more, so this limit is too high."),
            Trap(_limit_with(("+= written + returned", "+= returned")), "The model's own reply joins the list, too: each step adds what was written and what came back."),
            Trap(_limit_with(("(prompt * 3 + written * 15)", "(prompt * 3)")), "You left out what the model writes. It costs five times as much per token."),
            Trap(_limit_with(("return steps", "return steps + 1")), "One step too many: this one ends above the budget."),
        ],
        after="This is the worst case, and it stands on both caps. Set a `budget_usd` with a `reserve` beside it: that holds for any result and any reply."),
    Exercise(
        id="19-4", title="When does compaction pay?", difficulty=3, minutes=8, name="calls_until_it_pays", stub=_COMPACT_STUB, solution=_COMPACT, cases=_compact_cases,
        task="Cutting a long list to a summary costs a call of its own. Write `calls_until_it_pays`: how long must the run still be?",
        hints=["What does the extra call cost, reading and writing? What does each call save afterwards, the next one already?",
               "Cost divided by saving per call, rounded up. Look first at whether there is a saving."],
        traps=[
            Trap(_compact_with("math.ceil(s * price_out / ((prompt - b - s) * price_in))"),
                 "You paid for writing the summary but not for reading the list. The model must read all of it to sum it up, and that is the larger part."),
            Trap(_compact_with("math.ceil((prompt * price_in + s * price_out) / ((prompt - s) * price_in))"),
                 "The system text and the task stay, word for word: the new list is b + s tokens long, not s."),
            Trap(_compact_with("(prompt * price_in + s * price_out) // ((prompt - b - s) * price_in)"), "Rounded down, it has not paid yet."),
            Trap(_compact_with("(prompt * price_in + s * price_out) // ((prompt - b - s) * price_in) + 1"),
                 "Right until it comes out even: there you ask for one call too many. Round up; math.ceil does."),
            Trap(_compact_with("math.ceil((prompt + s) / (prompt - b - s))"), "You counted tokens. A written token costs more than a read one, so count money."),
            Trap(_compact_with("math.ceil((prompt * price_in + s * price_out) / ((prompt - b - s) * price_in))", guard=False),
                 "What if the summary is no shorter than what it replaces? Then you divide by zero, or get a negative number of calls."),
        ],
        after="Two calls for the list of this notebook: without a cache, compaction pays almost at once. With a cache the same list takes seven, because what it saves was cheap."),
]
