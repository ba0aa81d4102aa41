"""The exercises of notebook 00, start here."""

from ..exercise import Case, Exercise, Trap

TITLE = "Start here"

_RIGHT = {"translate a review": "call", "classify a ticket, fetch its policy, draft a reply": "workflow",
          "find out why a test fails and mend it": "agent", "send the same three order mails": "workflow"}


def _shape_test(value, args):
    if not isinstance(value, dict) or set(value) != set(_RIGHT):
        return "a dict with the same four tasks as keys"
    for task, shape in _RIGHT.items():
        if value[task] != shape:
            return f'another shape for "{task}"'
    return None


def _wrong(task, shape):
    return lambda value, args: isinstance(value, dict) and value.get(task) == shape


_STUB_SHAPES = '''
answer = {
    "translate a review": ...,
    "classify a ticket, fetch its policy, draft a reply": ...,
    "find out why a test fails and mend it": ...,
    "send the same three order mails": ...,
}       # put "call", "workflow" or "agent" in the place of every ...
'''


def _solved(**changes):
    chosen = dict(_RIGHT)
    chosen.update(changes)
    return f"answer = {chosen!r}\n"


_LATE_STUB = '''
def is_late_refund_right(refunds, orders):
    """True when exactly the late orders were refunded, each once, in any order.

    `refunds` is a list of order ids, `orders` maps an order id to a dict with "days_late".
    """
    ...
'''
_LATE = '''
def is_late_refund_right(refunds, orders):
    late = [order_id for order_id, order in orders.items() if order["days_late"] > 0]
    return sorted(refunds) == sorted(late)
'''


def _late_cases(rng):
    late, fine, other = (f"{letter}{rng.randrange(100, 999)}" for letter in "ABC")
    orders = {late: {"days_late": rng.randrange(1, 9)}, fine: {"days_late": 0}, other: {"days_late": rng.randrange(1, 9)}}
    return [
        Case(([late, other], orders), True, because="every late order, and no other"),
        Case(([other, late], orders), True, because="the order of the refunds does not matter"),
        Case(([late], orders), False, because="one late order was forgotten"),
        Case(([late, other, fine], orders), False, because="an order that is on time was refunded"),
        Case(([late, other, late], orders), False, because="one order was paid back twice"),
        Case(([], {fine: {"days_late": 0}}), True, because="nothing is late, nothing was refunded: right"),
    ]


EXERCISES = [
    Exercise(
        id="00-1", title="Pick the shape", difficulty=1, minutes=3, stub=_STUB_SHAPES, solution=_solved(), value=True,
        task='For each task choose the simplest shape that solves it: "call", "workflow" or "agent".',
        cases=[Case(test=_shape_test)],
        hints=["Can you write the steps on a whiteboard, and are they the same every time? Then you need no model to choose them.",
               "One question, one answer, nothing to look up: that is a call."],
        traps=[
            Trap(_solved(**{"send the same three order mails": "agent"}), "Three mails that never change are a workflow. An agent would do the same, slower, dearer, and not every time.",
                 when=_wrong("send the same three order mails", "agent")),
            Trap(_solved(**{"classify a ticket, fetch its policy, draft a reply": "agent"}),
                 "The steps are known before you start: classify, fetch, draft. A model fills them in, but it does not choose them.",
                 when=_wrong("classify a ticket, fetch its policy, draft a reply", "agent")),
            Trap(_solved(**{"find out why a test fails and mend it": "workflow"}),
                 "You cannot write this path down: where to look next depends on what the last look showed. That is what an agent is for.",
                 when=_wrong("find out why a test fails and mend it", "workflow")),
            Trap(_solved(**{"translate a review": "workflow"}), "There is only one step, and all it needs is in the text: one call.", when=_wrong("translate a review", "workflow")),
        ],
        after="The rule behind it: use the simplest shape that solves the task. An agent has to earn its place."),
    Exercise(
        id="00-2", title="Judge a run by what it did", difficulty=1, minutes=6, name="is_late_refund_right", stub=_LATE_STUB, solution=_LATE, cases=_late_cases, pure=True,
        task="An agent is judged by what it did, not by what it says. Write the checker for our task.",
        hints=["Which orders are late? Compare those with the refunds, without caring for the order.",
               "A set forgets that somebody was paid twice. A sorted list does not."],
        traps=[
            Trap('def is_late_refund_right(refunds, orders):\n    return set(refunds) == {i for i, o in orders.items() if o["days_late"] > 0}\n',
                 "A set forgets duplicates: your checker calls it right when a customer was paid twice."),
            Trap('def is_late_refund_right(refunds, orders):\n    return all(orders[i]["days_late"] > 0 for i in refunds)\n',
                 "You check that every refund was for a late order, but not that every late order was refunded, once."),
            Trap('def is_late_refund_right(refunds, orders):\n    return refunds == [i for i, o in orders.items() if o["days_late"] > 0]\n',
                 "The order in which refunds were made does not matter to the customers."),
        ],
        after="This is an outcome check, the heart of every evaluation of an agent. Notebook 21 builds on it."),
    Exercise(
        id="00-3", title="Find the bug in this trace", difficulty=2, minutes=4, stub="answer = ...      # the number of the step\n", solution="answer = 2\n", value=True,
        task="The customer was on time and got a refund all the same. At which step did the run go wrong?",
        cases=[Case(test=lambda value, args: None if value == 2 else "the number of the step whose decision does not follow from what was seen before it")],
        hints=["Read the result of step 1 before you read the call of step 2.", "days_late is 0. What should the next decision have been?"],
        traps=[
            Trap("answer = 1\n", "Step 1 is right: it looks before it acts.", when=lambda value, args: value == 1),
            Trap("answer = 3\n", "Step 3 reports faithfully what had been done. The harm was done one step earlier.", when=lambda value, args: value == 3),
        ],
        after="Wrong decisions happen. That is why a harness asks a person before a refund: notebook 07."),
]
