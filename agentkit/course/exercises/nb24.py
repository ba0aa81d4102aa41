"""The exercises of notebook 24, the design round."""

from ..exercise import Case, Exercise, Trap
from ..rubric import RULES

TITLE = "The design round"

# ---- 24-1: your own design ---------------------------------------------------------------------------------------------

FACTS = {"p95_steps": 6, "p95_usd": 0.03, "p95_seconds": 9}
_DESIGN_STUB = '''
my_design = {
    "tools": {      # one entry for each tool
        "find_booking": {"moves_money": False, "can_be_undone": True,
                         "approval": False, "cap_usd": None, "key": None},
        "cancel_booking": {"moves_money": ..., "can_be_undone": ...,
                           "approval": ..., "cap_usd": ..., "key": ...},
    },
    "limits": {"max_steps": (..., "reason"), "budget_usd": (..., "reason"),
               "max_seconds": (..., "reason"), "max_repeats": (..., "reason")},
    "workflow": {"share": ..., "steps": [...], "agent_for": ...},
    "memory": {"keeps": [...], "never": [...]},
    "failures": [{"what": ..., "then": ..., "task": ...}],
    "evals": {"an-id": ...},
}
'''
_DESIGN = '''
def plain(**more):
    return {"moves_money": False, "can_be_undone": True, "approval": False, "cap_usd": None, "key": None, **more}

my_design = {
    "tools": {
        "find_booking": plain(),
        "find_policy": plain(),
        "change_date": plain(),
        "cancel_booking": plain(moves_money=True, can_be_undone=False, approval=True, key="the booking"),
        "send_voucher": plain(moves_money=True, can_be_undone=False, cap_usd=50, key="customer and reason"),
        "hand_over": plain(),
    },
    "limits": {
        "max_steps": (12, "p95 of good runs is 6, times 2"),
        "budget_usd": (0.06, "what 12 steps cost; p95 is 0.03"),
        "max_seconds": (20, "twice the p95; the customer waits"),
        "max_repeats": (3, "the same call and result is no progress"),
    },
    "workflow": {"share": 0.7, "steps": ["classify", "find the booking", "if", "act", "draft"],
                 "agent_for": "bookings that have to be found, connections that broke"},
    "memory": {"keeps": ["booking id and outcome of the last ticket"], "never": ["card numbers", "the customer's words", "passports"]},
    "failures": [
        {"what": "the airline does not answer", "then": "3 tries, then a person", "task": "airline-down"},
        {"what": "the bank times out after paying", "then": "tried again with the same key", "task": "bank-slow"},
        {"what": "a stranger's booking", "then": "tools are bound to the customer", "task": "stranger"},
        {"what": "the ticket gives orders", "then": "the policy gate denies", "task": "injection"},
        {"what": "the agent loops", "then": "repeated_call, then a person", "task": "loop"},
    ],
    "evals": {
        "airline-down": "handed over, nothing cancelled", "bank-slow": "paid once", "stranger": "nothing changed, handed over",
        "injection": "no voucher sent", "loop": "handed over after three calls", "date-01": "the date is changed, nothing paid",
        "cancel-01": "cancelled after a yes", "question-01": "nothing changed",
    },
}
'''


def _design(old, new):
    assert old in _DESIGN
    return _DESIGN.replace(old, new)


def _rule_case(rule):
    def test(value, args):
        if not isinstance(value, dict):
            return "a dict with the parts tools, limits, workflow, memory, failures and evals"
        return rule.test(value, FACTS)
    return Case(test=test, because=rule.why)


# ---- 24-2: the sheet -----------------------------------------------------------------------------------------------------

_SHEET_STUB = '''
def day_sheet(groups, tickets, peak=0.12, minutes=2, hours=6):
    """A day with so many tickets: (USD, model calls a second in the busiest hour, approvers).

    `groups` is a list of {"share": of all tickets, "usd": a ticket, "calls": model calls a ticket,
    "approvals": a ticket}. `peak` is the share of the day's tickets that come in the busiest hour.
    An approval takes `minutes` of a person, who works `hours` a day at this; people are whole.
    """
    ...
'''
_SHEET = '''
import math

def day_sheet(groups, tickets, peak=0.12, minutes=2, hours=6):
    def mean(what):
        return sum(g["share"] * g[what] for g in groups)

    people = math.ceil(tickets * mean("approvals") * minutes / 60 / hours)
    return tickets * mean("usd"), tickets * peak / 3600 * mean("calls"), people
'''


def _sheet(body):
    return f"import math\n\ndef day_sheet(groups, tickets, peak=0.12, minutes=2, hours=6):\n{body}\n"


def _sheet_variant(old, new):
    assert old in _SHEET
    return _SHEET.replace(old, new)


def _sheet_case(groups, tickets, because, **more):
    scope = {}
    exec(_SHEET, scope)
    usd, calls, people = scope["day_sheet"](groups, tickets, **more)

    def test(result, args):
        if not isinstance(result, (tuple, list)) or len(result) != 3:
            return "a tuple (usd, calls_per_second, people)"
        for said, want, word in zip(result, (usd, calls, people), ("USD a day", "calls a second", "people")):
            if isinstance(said, bool) or not isinstance(said, (int, float)) or abs(said - want) > 1e-6 * max(1, abs(want)):
                return f"{want:.6g} {word}, not {said!r:.40}"
        return None

    return Case((groups, tickets), test=test, because=because, kwargs=more)


def _sheet_cases(rng):
    def group(share, usd, calls, approvals):
        return {"share": share, "usd": usd, "calls": calls, "approvals": approvals}

    small, dear = rng.randrange(1, 4) / 1000, rng.randrange(6, 12) / 1000
    mix = [group(0.8, small, 2, 0.1), group(0.2, dear, 6, 0.25)]
    return [
        _sheet_case([group(1.0, 0.002, 3, 0.1)], 9_000, "one group: 9,000 times 0.002 USD, and 900 approvals of two minutes"),
        _sheet_case(mix, 10_000, "groups count by their share of the tickets"),
        _sheet_case(mix, 10_000, "the busiest hour decides how many calls a second there are", peak=0.3),
        _sheet_case([group(1.0, 0.001, 2, 0.0)], 5_000, "no approvals, nobody to pay for them"),
        _sheet_case([group(1.0, 0.001, 2, 0.2)], rng.randrange(1_000, 1_400), "five people and a bit are six people", minutes=7),
        _sheet_case(mix, 1_000_000, "a hundred times the tickets", minutes=1, hours=5),
    ]


# ---- 24-3: paid twice ------------------------------------------------------------------------------------------------------

_BUG = [Case(test=lambda value, args: None if str(value).strip().lower() == "c" else "the other letter: what is the same in both runs, and what is not?",
             because="Two runs, two journals. Which text did the bank see each time?")]


EXERCISES = [
    Exercise(
        id="24-1", title="Your own design", difficulty=4, minutes=25, name="my_design", stub=_DESIGN_STUB, solution=_DESIGN, value=True,
        cases=[_rule_case(rule) for rule in RULES],
        task="Design the travel desk below and write it down as `my_design`. The rubric's rules are the cases: they judge what a rule can, and no more.",
        hints=["Start with the tools. Which two move money? Who or what stops each of them, and what would make a second payment the same one?",
               "Limits: you know the p95 of the good runs. What is right above it, and why that much?",
               "For each row of failures, write the eval task first: how would you plant that fault? Then add ordinary tickets."],
        traps=[
            Trap(_design("can_be_undone=False, approval=True, key=\"the booking\"", "can_be_undone=False, key=\"the booking\""),
                 "`cancel_booking` pays up to 2,000 USD and nobody looks. That the prompt says \"ask first\" stops nothing."),
            Trap(_design('key="the booking"', 'key="the call id"'),
                 "A call's id protects a call that is run again. A model that asks again makes a new call, and the customer is paid twice."),
            Trap(_design("(12, \"p95 of good runs is 6, times 2\")", "(5, \"most runs are short enough\")"),
                 "Five steps are fewer than the p95 of six: you cut off good runs, and call them failures."),
            Trap(_design("(12, \"p95 of good runs is 6, times 2\")", "(100, \"to be on the safe side\")"),
                 "A hundred steps stop a lost run after everybody has paid for it. The safe side is near the good runs."),
            Trap(_design('"then": "repeated_call, then a person", "task": "loop"', '"then": "repeated_call, then a person", "task": None'),
                 "One of your failures has no task that plants it. Then nobody will notice when its defence is gone."),
        ],
        after="The rules hold. They cannot see whether your path is the right one or your reasons are true: that is what the list below is for."),
    Exercise(
        id="24-2", title="The cost sheet", difficulty=3, minutes=10, name="day_sheet", stub=_SHEET_STUB, solution=_SHEET, cases=_sheet_cases, pure=True,
        task="Write `day_sheet`: money, peak load and people for a day, from measured rates of each group of tickets.",
        hints=["What is the mean of a ticket when the groups have different shares?",
               "How many tickets come in the busiest hour, and how many seconds does it have?",
               "Approvals times minutes are minutes a day. How many does a person have? And who is 5.1 people?"],
        traps=[
            Trap(_sheet_variant('sum(g["share"] * g[what] for g in groups)', 'sum(g[what] for g in groups) / len(groups)'),
                 "You take each group for equally frequent. The rare, dear tickets then count far too much."),
            Trap(_sheet_variant("tickets * peak / 3600", "tickets / 86400"), "That is the mean over day and night. Capacity is bought for the busiest hour."),
            Trap(_sheet_variant("math.ceil", "round"), "Rounded to the nearest, a queue can grow every day. People are rounded up."),
            Trap(_sheet_variant("minutes / 60 / hours", "minutes / 60 / 24"), "A person does not decide for 24 hours a day: `hours` is what one works at this."),
        ],
        after="Three lines of a design round, and you can now say each of them with its assumption."),
    Exercise(
        id="24-3", title="Paid twice, with a key", difficulty=3, minutes=5, name="answer", stub="answer = ...      # one letter: a, b, c or d\n",
        solution='answer = "c"\n', value=True, cases=_BUG,
        task="The refund tool carries an idempotency key, and the bank honours it. Still this customer was paid twice. Why?",
        hints=["Read the keys, character by character. When would the bank have paid once?",
               "The first run was stopped, and the queue delivered the ticket again. What of the first run does the second one share?"],
        traps=[
            Trap('answer = "a"\n', "The bank saw two different keys. It did just what a key asks for.", when=lambda value, args: str(value).strip().lower() == "a"),
            Trap('answer = "b"\n', "A person said yes to A402 both times, and A402 was due: each yes was right. Nothing told them of the other one.",
                 when=lambda value, args: str(value).strip().lower() == "b"),
            Trap('answer = "d"\n', "A larger limit ends the first run later. A crash would bring the same two runs.", when=lambda value, args: str(value).strip().lower() == "d"),
        ],
        after="The key must name the debt (this order, this reason), not the attempt. Retries, new calls, new runs and a second worker then all meet the same key."),
]
