"""One queue of forty tickets, and the shop that they are about. Notebook 15 stands on it; who works it off is in ticket_ways.py.

A ticket is solved when it leaves the shop in the state that it should be in. How an answer is worded is never judged.
"""

import random
from dataclasses import dataclass, replace

from agentkit import tool

from .exits import Clock

TOOL_SECONDS = 0.2              # assumed
SYSTEM = "You work for a small shop. Look before you act, and keep to the shop's rules."
RULES = {       # kind -> (its number, the rule)
    "late order": ("P1", "If the order is late, refund it. If it is not, say when it comes."),
    "broken item": ("P2", "Delivered in the last 30 days: refund it. Longer ago: no refund."),
    "address change": ("P3", "Not sent yet: change the address. Sent already: hand over to a person."),
    "question": ("P4", "Gift wrapping costs 40 rupees. Parcels go out before noon. We ship within the country."),
    "other": ("P5", "Find out what happened. Lost: refund. Sent back: correct the address. Otherwise: tell the customer where it is."),
}
KINDS = list(RULES)


@dataclass(frozen=True)
class End:
    """The state that a ticket leaves the shop in."""

    refunded: tuple = ()
    addresses: tuple = ()
    handed_over: bool = False
    rule: str | None = None     # the number of the rule under which the customer was answered


@dataclass(frozen=True)
class Ticket:
    id: str
    text: str
    kind: str                   # what a careful reader takes it for
    found: bool                 # its path depends on what is found along the way
    right: End


class Shop:
    """The books of the shop while one ticket is worked on, and the tools over them."""

    def __init__(self, clock=None):
        self.end, self.clock = {"refunded": (), "addresses": (), "handed_over": False, "rule": None}, clock or Clock()

    def state(self) -> End:
        return End(**self.end)

    def tools(self, approval: bool = False) -> list:
        end = self.end

        @tool(parallel=True)
        def get_order(order_id: str) -> dict:
            """Look up one order: whether it is late, when it was delivered, its parcel. Use it before you act on an order."""
            return ORDERS[order_id]

        @tool(parallel=True)
        def find_orders(customer: str) -> list:
            """List the ids of a customer's orders. Use it when a ticket names no order."""
            return [i for i, o in ORDERS.items() if o["customer"] == customer]

        @tool(parallel=True)
        def find_rule(kind: str) -> str:
            """The shop's rule for one kind of ticket: late order, broken item, address change, question or other."""
            return " ".join(RULES[kind])

        @tool
        def track_parcel(parcel: str) -> str:
            """Ask the carrier where a parcel is. Use it when a customer misses something that was delivered."""
            return PARCELS[parcel]

        @tool(needs_approval=approval)
        def refund_order(order_id: str) -> str:
            """Pay an order back. Use it only where the rule says so."""
            end["refunded"] += (order_id,)
            return f"{order_id} is refunded"

        @tool
        def change_address(order_id: str, address: str) -> str:
            """Send an order to another address."""
            end["addresses"] += ((order_id, address),)
            return f"{order_id} goes to {address}"

        @tool
        def hand_over(reason: str) -> str:
            """Give the ticket to a person, who goes on with it."""
            end["handed_over"] = True
            return "a person takes over"

        @tool
        def answer_customer(rule: str, text: str) -> str:
            """Send the answer to the customer, with the number of the rule that it follows, such as P1."""
            end["rule"] = rule
            return "sent"

        return [self._timed(t) for t in
                (get_order, find_orders, find_rule, track_parcel, refund_order, change_address, hand_over, answer_customer)]

    def _timed(self, t):
        return replace(t, fn=lambda **arguments: self.clock.wait(TOOL_SECONDS) or t.fn(**arguments))


# ---- the queue -------------------------------------------------------------------------------------------------------

ORDERS: dict[str, dict] = {}
PARCELS: dict[str, str] = {}
_NAMES = ("Mira", "Tom", "Asha", "Ravi", "Lena", "Omar", "Priya", "Jon", "Sara", "Dev")
_GOODS = ("keyboard", "monitor", "cable", "chair", "lamp", "desk", "webcam")


def _order(n: int, **facts) -> str:
    order_id = f"{'ABCDEFG'[n % 7]}{101 + 7 * n}"
    ORDERS[order_id] = {"customer": _NAMES[n % 10], "item": _GOODS[n % 7], "days_late": 0, "sent": True, "delivered_days_ago": None, **facts}
    return order_id


def _queue() -> list[Ticket]:
    made: list[tuple] = []
    add = lambda text, kind, found, **right: made.append((text, kind, found, End(rule=RULES[kind][0], **right)))     # noqa: E731
    late = ("Order {} should be here by now. Where is it?", "I am still waiting for {}.", "{} is overdue. What will you do about it?")
    broken = ("The {1} in order {0} came broken.", "{0}: the {1} does not work. I want my money back.")
    for n in range(10):         # three of them are not late at all
        order = _order(n, days_late=0 if n in (2, 5, 8) else 2 + n)
        add(late[n % 3].format(order), "late order", False, refunded=() if n in (2, 5, 8) else (order,))
    for n in range(10, 18):     # two of them were delivered too long ago
        order = _order(n, delivered_days_ago=45 if n in (12, 16) else n - 6)
        add(broken[n % 2].format(order, ORDERS[order]["item"]), "broken item", False, refunded=() if n in (12, 16) else (order,))
    for n in range(18, 24):     # two of them are on their way
        order, street = _order(n, sent=n in (20, 22)), f"{n} Lake Road"
        add(f"Please send {order} to {street} instead.", "address change", False,
            **({"handed_over": True} if n in (20, 22) else {"addresses": ((order, street),)}))
    for text in ("What does gift wrapping cost?", "When do parcels go out?", "Do you ship abroad?") * 2:
        add(text, "question", False)
    for n in range(24, 28):     # no order named; the customer has others as well
        name = f"{_NAMES[n % 10]} Rao"
        orders = [_order(n + 20 * k, customer=name, days_late=5 if k == n % 3 + 1 else 0) for k in range(1, 4)]
        add(f"One of my orders is late, I do not have the number here. {name}", "other", True, refunded=(orders[n % 3],))
    for n, (where, did) in enumerate((("lost in the depot", "refund"), ("at the neighbour's, 4 Hill Street", None),
                                      ("sent back: address unknown", "address"), ("lost on the way", "refund")), 28):
        order, street = _order(n, delivered_days_ago=1, parcel=f"PK{n}"), f"{n} Park Lane"
        PARCELS[f"PK{n}"] = where
        add(f"{order} is marked as delivered, but nothing came. I live at {street}.", "other", True,
            **({"refunded": (order,)} if did == "refund" else {"addresses": ((order, street),)} if did else {}))
    for n in (32, 33):          # it reads like any late order; the order was replaced by another one
        new = _order(n + 20, days_late=6)
        add(late[n % 2].format(_order(n, replaced_by=new)), "late order", True, refunded=(new,))
    random.Random(7).shuffle(made)
    return [Ticket(f"T{n:02}", *facts) for n, facts in enumerate(made, 1)]


QUEUE = _queue()
