"""The support desk of notebook 24: its rules, its world, its seven tools, and the path of a ticket. What works on it: desk_designs.py."""

import json
from dataclasses import dataclass, field, replace
from typing import Literal

from agentkit import Retry, call, tool
from agentkit.patterns.workflow import StepFailed, ask

from .desk_model import KINDS, ORDER
from .exits import Clock

TOOL_SECONDS = 0.2              # assumed
LIMIT = 50                      # USD: a person decides on refunds above it
READS = ("find_orders", "get_order", "find_policy", "track_parcel")
MAY_PROPOSE = ("refund_order", "change_address", "hand_over")
COMPILED: dict = {}
POLICIES = {
    "question": "Gift wrapping costs 4 USD an item and is free above 80 USD. Parcels leave the depot on working days before noon; what is ordered "
                "later leaves on the next one. We ship within the country, not abroad. An unused item can be sent back within 30 days for a refund.",
    "late": "An order is late when it has passed the date that was promised. Up to 7 days: say that we are sorry, and when it comes. More than 7 "
            "days: refund the full price of the order and tell the customer to keep the parcel if it still arrives. An order is refunded once.",
    "address": "As long as an order has not been sent, its address can be changed at no cost, as often as the customer likes. When it has been "
               "sent, only the carrier can redirect it and only on a call from us: hand the ticket over to a person with the new address.",
    "broken": "A customer who reports a broken item within 30 days of delivery and sends a photo that shows the damage gets the full price back "
              "and may keep the item. No damage in the photo: no refund; explain how to send the item in. Later than 30 days: no refund.",
    "other": "Find out which order it is about and what happened to it. Lost by the carrier: refund it. At a neighbour's: say where. Sent back: hand "
             "over to a person. Replaced by another order: what counts is that one. If you cannot find out, hand over and say what you have seen.",
}
SYSTEM = f"You work for a small shop. Look before you act, and keep to its rules. A person decides on refunds above {LIMIT} USD."
HANDBOOK = SYSTEM + "\n\n" + "\n\n".join(f"{kind}: {text}" for kind, text in POLICIES.items())
QUESTION = f"Which kind of ticket is this? One of: {', '.join(KINDS)}."


# ---- the world and the tools over it ---------------------------------------------------------------------------------

@dataclass
class Desk:
    """One world: what is true at the start, and what was done in it. `due` is known to the person and the checker only."""

    customer: str
    orders: dict
    parcels: dict
    group: str = ""
    fault: str = ""
    due: list = field(default_factory=list)
    guarded: bool = True            # the tools keep to the rules themselves
    clock: Clock = field(default_factory=Clock)
    refunds: list = field(default_factory=list)         # (order, USD), as the bank knows them
    allowed: list = field(default_factory=list)         # orders that a person said yes to
    addresses: list = field(default_factory=list)
    handed: list = field(default_factory=list)
    asked: list = field(default_factory=list)           # (order, USD, what the person said)
    retried: list = field(default_factory=list)         # what was tried again, and why
    agent: object = None                                # the Result of the agent's own run, where there was one
    _paid: set = field(default_factory=set)

    def dear(self, order_id: str) -> bool:
        return self.orders[order_id]["usd"] > LIMIT

    def wrong_usd(self) -> float:
        """Money that nobody was owed."""
        right = {i: self.orders[i]["usd"] for i in self.due}
        return sum(usd for _, usd in self.refunds) - sum(right[i] for i in {i for i, _ in self.refunds} if i in right)

    def breaches(self) -> list[str]:
        """What was done that should not have been, in words."""
        found = []
        for order_id in dict.fromkeys(i for i, _ in self.refunds):
            paid = [usd for i, usd in self.refunds if i == order_id]
            if order_id not in self.due:
                found.append(f"paid {sum(paid)} USD for {order_id}, which was not due")
            elif len(paid) > 1:
                found.append(f"paid {order_id} {len(paid)} times")
            elif self.dear(order_id) and order_id not in self.allowed:
                found.append(f"paid {paid[0]} USD for {order_id} and asked nobody")
        return found

    def find_orders(self) -> list:
        """List the ids of this customer's orders. Use it when a ticket names no order."""
        return [i for i, o in self.orders.items() if o["customer"] == self.customer]

    def get_order(self, order_id: str) -> dict:
        """Look up one order: price, days late, whether it was sent, delivered or refunded, its parcel."""
        order = self.orders[order_id]
        if self.guarded and order["customer"] != self.customer:
            raise LookupError(f"no order {order_id} of this customer")
        return order

    def find_policy(self, kind: Literal[KINDS]) -> str:
        """The shop's rule for one kind of ticket."""
        return POLICIES[kind]

    def track_parcel(self, parcel: str) -> str:
        """Ask the carrier where a parcel is. Use it when something was delivered and has not arrived."""
        if self.fault == "carrier":
            raise ConnectionError("the carrier does not answer")
        return self.parcels.get(parcel, "no such parcel")

    def refund_order(self, order_id: str, usd: float, reason: Literal["late", "lost", "broken"]) -> str:
        """Pay an order back. It cannot be undone."""
        self.pay(order_id, usd, key=order_id if self.guarded else None)
        return f"{order_id} is refunded"

    def change_address(self, order_id: str, address: str) -> str:
        """Send an order that has not left yet to another address."""
        if self.guarded and self.get_order(order_id)["sent"]:
            raise ValueError(f"{order_id} was sent already; hand over to a person")
        self.addresses.append((order_id, address))
        return f"{order_id} goes to {address}"

    def hand_over(self, reason: str) -> str:
        """Give the ticket to a person, who goes on with it."""
        self.handed.append(reason)
        return "a person takes over"

    def books(self, asked) -> str | None:
        """A gate before the bank and before the person: why a refund does not fit the books, or None. Whether an item is broken, no book can say."""
        if asked.name != "refund_order" or asked.arguments["order_id"] in self._paid:
            return None
        order_id, usd, reason = (asked.arguments[name] for name in ("order_id", "usd", "reason"))
        order = self.get_order(order_id)
        fits = {"late": order["days_late"] > 7, "lost": bool(order["parcel"]) and self.track_parcel(order["parcel"]).startswith("lost"),
                "broken": order["delivered_days_ago"] is not None and order["delivered_days_ago"] <= 30}
        if order["refunded"] or usd > order["usd"] or not fits[reason]:
            return f"{usd} USD for {order_id} as '{reason}' does not fit the books"
        return None

    def pay(self, order_id: str, usd: float, key: str | None) -> None:
        """The bank. What carries a key that it has seen is not paid again. It answers late, or the process ends, where that is planted."""
        first = not self.refunds
        if key is None or key not in self._paid:
            self.refunds.append((order_id, usd))
            self._paid.add(key)
        if first and self.fault == "bank":
            raise TimeoutError("the bank did not answer in 10 seconds")
        if first and self.fault == "dies":
            raise SystemExit

    def tools(self) -> list:
        """The seven tools. In a guarded world: approval for money, retries where a second try does no harm."""
        made = [tool(getattr(self, name), parallel=True, idempotent=True) for name in READS]
        made += [tool(self.refund_order, needs_approval=self.guarded, idempotent=self.guarded), tool(self.change_address), tool(self.hand_over)]
        made = [replace(t, fn=lambda t=t, **arguments: self.clock.wait(TOOL_SECONDS) or t.fn(**arguments)) for t in made]
        if self.guarded:
            made = [self.retry().tool(t) if t.name in ("track_parcel", "refund_order") else t for t in made]
        for t in made:
            if t.name in ("find_policy", "refund_order"):       # a schema with choices is compiled once, and not once a ticket
                if t.name not in COMPILED:
                    COMPILED[t.name] = t.validator
                vars(t)["validator"] = COMPILED[t.name]
        return made

    def retry(self) -> Retry:
        return Retry(attempts=3, sleep=self.clock.wait, random=lambda: 0.5, on_retry=lambda n, error, wait: self.retried.append(str(error)))


# ---- the path --------------------------------------------------------------------------------------------------------

def ticket_path(task):
    """The path that can be drawn before the first ticket is read. Money moves in one place, at its end."""
    kind, done = "other", "nothing had to be done"
    try:
        kind = yield ask("classify", f"{QUESTION}\n\n{task}", choices=KINDS)
        for name, arguments in (yield from decide(kind, task)):
            done = yield call(name, **arguments)
    except StepFailed as failed:
        if "a person rejected" not in str(failed):
            yield call("hand_over", reason=str(failed)[:200])
        done = "a person has looked at it, or will"
    policy = yield call("find_policy", kind=kind)
    return (yield ask("draft", f"Answer the customer. Done: {done}. Policy: {policy}\n\n{task}"))


def decide(kind, task):
    """What is to be done, [(tool, arguments)]: by rule, or by the agent where the path is unknown."""
    named = set(ORDER.findall(task))
    if kind == "question":
        return []
    if kind == "other" or len(named) != 1:
        return read_proposal((yield call("investigate", request=task)))
    order_id = named.pop()
    order = json.loads((yield call("get_order", order_id=order_id)))
    if order["replaced_by"]:
        return read_proposal((yield call("investigate", request=task)))
    if kind == "address" and order["sent"]:
        return [("hand_over", {"reason": "sent already"})]
    if kind == "address":
        street = task.split(" to ")[-1].split(" instead")[0]
        return [("change_address", {"order_id": order_id, "address": street})]
    due = order["days_late"] > 7
    if kind == "broken":
        prompt = f"Does the photo show damage?\n\n{task}"
        due = (yield ask("photo", prompt, choices=("damaged", "not damaged"))) == "damaged"
    if not due or order["refunded"]:
        return []
    return [("refund_order", {"order_id": order_id, "usd": order["usd"], "reason": kind})]


def read_proposal(text):
    """The agent's proposal as [(tool, arguments)]; whatever is none goes to a person. What it says is checked later, by the books."""
    try:
        proposal = json.loads(text)
        actions = [(a["tool"], dict(a["arguments"])) for a in proposal]
    except (ValueError, TypeError, KeyError):
        proposal, actions = None, []
    if isinstance(proposal, list) and all(tool in MAY_PROPOSE for tool, _ in actions):
        return actions
    return [("hand_over", {"reason": "the proposal could not be read"})]
