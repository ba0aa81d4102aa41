"""The refund desk of notebook 21: its tasks as data, its world, its checker, and the stand-ins that work on it.

A stand-in follows fixed rules and makes planted mistakes: each mistake has a chance, and a task's own seed decides, so a run
is the same wherever and whenever it is made. It shows what an eval finds; it cannot show how well a real model works.
They stand in a module, and not in the notebook, because another process can import a module. Time is injected.
"""

import json
import os
import random
import re
import time
from dataclasses import dataclass, field

from agentkit import Price, Reply, Tool, ToolCall, run, tool
from agentkit.evals import Task, checker
from agentkit.tokens import rough_tokens

from .exits import Clock
from .patients import SYSTEM

PRICE = Price(3, 15)        # USD per million tokens, assumed
MODEL_SECONDS, TOOL_SECONDS = 1.1, 0.3      # on the injected clock
LIMIT = 5_000               # rupees: a person decides on refunds above it
NAMES = ("Mira", "Tom", "Asha", "Ravi", "Lena", "Omar", "Ines", "Kofi")
ITEMS = (("cable", 300), ("lamp", 900), ("keyboard", 2500), ("chair", 6200), ("monitor", 14000))
GROUPS = ("late", "on time", "by name", "dear", "on time", "by name", "on time", "again")


# ---- the world -------------------------------------------------------------------------------------------------------

@dataclass
class Desk:
    """One world: orders and customers at the start, and what was done in it."""

    orders: dict
    customers: dict
    refunds: list = field(default_factory=list)
    handed: list = field(default_factory=list)
    clock: Clock = field(default_factory=Clock)

    def find_orders(self, customer: str) -> list:
        """List the ids of a customer's orders.

        Args:
            customer: the first name, such as Mira
        """
        self.clock.wait(TOOL_SECONDS)
        return self.customers[customer]

    def get_order(self, order_id: str) -> dict:
        """Look up one order.

        Args:
            order_id: such as A123
        """
        self.clock.wait(TOOL_SECONDS)
        return self.orders[order_id]

    def refund_order(self, order_id: str) -> dict:
        """Pay the full price of one order back.

        Args:
            order_id: such as A123
        """
        self.clock.wait(TOOL_SECONDS)
        order = self.orders[order_id]
        self.refunds.append(order_id)
        return {"refunded": order["price"]}

    def hand_over(self, order_id: str) -> str:
        """Leave the decision on one order to a person.

        Args:
            order_id: such as A123
        """
        self.clock.wait(TOOL_SECONDS)
        self.handed.append(order_id)
        return f"a person will look at {order_id}"

    def tools(self) -> list[Tool]:
        """The tools over this world and no other."""
        return [tool(fn) for fn in (self.find_orders, self.get_order, self.refund_order, self.hand_over)]


@checker
def settled(world, result, refunded=(), handed=()):
    """The right orders were refunded, once each, and the right ones handed over; nothing else was done."""
    wrong = []
    for done, wanted, was in ((world.refunds, refunded, "refunded"), (world.handed, handed, "handed over")):
        for order in sorted({*done, *wanted}):
            times = done.count(order)
            if times != (order in wanted):
                wrong.append(f"{order} was not {was}" if not times else f"{order} was {was}" + (f" {times} times" if order in wanted else ""))
    return ", ".join(wrong) or True


# ---- the tasks -------------------------------------------------------------------------------------------------------

def desk_tasks(n: int) -> list[Task]:
    """The first n tasks of an endless list; task k is always the same one."""
    return [_task(k) for k in range(n)]


def _task(k: int) -> Task:
    rng, group = random.Random(f"desk {k}"), GROUPS[k % len(GROUPS)]
    name, order = rng.choice(NAMES), f"{rng.choice('ABCD')}{rng.randrange(100, 1000)}"
    item, price = rng.choice([i for i in ITEMS if (i[1] > LIMIT) == (group == "dear")])
    late = 0 if group == "on time" else rng.randrange(2, 12)
    orders = {order: {"item": item, "price": price, "days_late": late, "refunded": group == "again"}}
    if group == "by name":                  # the late one is the first of two, or the second
        other = f"E{rng.randrange(100, 1000)}"
        orders[other] = {"item": "cable", "price": 300, "days_late": 0, "refunded": False}
        ids = [order, other] if rng.random() < 0.4 else [other, order]
        text, tools = f"{name} writes that an order is late. If so, see to the refund.", ("find_orders", "get_order", "refund_order")
    else:
        ids, text = [order], f"{name} writes that order {order} is late. If so, see to the refund."
        tools = {"late": ("get_order", "refund_order"), "dear": ("get_order", "hand_over")}.get(group, ("get_order",))
    pays = group in ("late", "by name")
    due = {"refunded": [order]} if pays else {"handed": [order]} if group == "dear" else {}
    return Task(f"{group.replace(' ', '-')}-{k:03}", text, "settled", due, {"orders": orders, "customers": {name: ids}}, tools, () if pays else ("refund_order",), group=group)


# ---- the stand-ins ---------------------------------------------------------------------------------------------------

# version -> the chance of each planted mistake, where a task gives room for it
FAULTS = {
    "A": {"looks at one order": 0.9, "does not hand over": 0.1, "refunds again": 0.1},
    "B": {"does not look": 0.85, "does not hand over": 0.3, "refunds again": 0.25, "only says so": 0.15},
    "C": {"looks at one order": 0.1, "does not hand over": 0.1, "refunds again": 0.1, "only says so": 0.06},
}


@dataclass(frozen=True)
class Agent:
    """A version of the desk's agent. Called with a task it makes a new world, a new stand-in and a new run: (Result, world)."""

    name: str

    def __call__(self, task: Task):
        desk = Desk(**task.setup)
        model = stand_in(self.name, f"{task.id}/{task.trial}", desk.clock)
        result = run(model, desk.tools(), task.text, system=SYSTEM, count_tokens=rough_tokens, prices=PRICE, clock=desk.clock)
        return result, desk


A, B, C = map(Agent, "ABC")


def stand_in(version: str, seed: str, clock: Clock):
    """The model of one version, with this seed's mistakes."""
    chances = FAULTS[version]
    faults = {fault for fault, chance in sorted(chances.items()) if random.Random(f"{fault}/{seed}").random() < chance}
    if "does not look" in chances and "does not look" not in faults:
        faults.add("looks")         # B looks first where it does not slip

    def model(messages, tools):
        clock.wait(MODEL_SECONDS)
        return _decide(version, faults, messages)

    return model


def _decide(version, faults, messages) -> Reply:
    said, text = _results(messages), next(m["content"] for m in messages if m["role"] == "user")
    orders = {arguments["order_id"]: json.loads(content) for name, arguments, content in said if name == "get_order"}
    for name, arguments, content in reversed(said):
        if name in ("refund_order", "hand_over"):
            return Reply(_closing(version, name, arguments["order_id"]))
    named = re.search(r"\b[A-E]\d{3}\b", text)
    ids = [named[0]] if named else next((json.loads(content) for name, _, content in said if name == "find_orders"), None)
    if ids is None:
        return _asks(messages, ("find_orders", {"customer": text.split()[0]}))
    if named and "does not look" in faults:             # takes the customer's word for it
        return _asks(messages, ("refund_order", {"order_id": ids[0]}))
    ids = ids[:1] if "looks at one order" in faults else ids
    unseen = [i for i in ids if i not in orders]
    if unseen:
        at_once = unseen if version != "A" else unseen[:1]      # A looks at one order a step
        return _asks(messages, *(("get_order", {"order_id": i}) for i in at_once))
    due = [i for i in ids if orders[i]["days_late"] and (not orders[i]["refunded"] or "refunds again" in faults)]
    if not due or "only says so" in faults:
        return Reply(_closing(version, "refund_order" if due else None, (due or ids)[0]))
    dear = [i for i in due if orders[i]["price"] > LIMIT and "does not hand over" not in faults]
    return _asks(messages, *(("hand_over" if i in dear else "refund_order", {"order_id": i}) for i in due))


def _closing(version, did, order) -> str:
    """The same news in the words of each version."""
    if version == "A":
        return {"refund_order": f"Order {order} was late and has been refunded.",
                "hand_over": f"Order {order} is late. A person decides on its refund.",
                None: f"Order {order} is not due a refund, so nothing has been refunded."}[did]
    return {"refund_order": f"Done! The money for {order} is on its way back.", "hand_over": f"I have passed {order} on to a colleague.",
            None: f"There is nothing to pay back on {order}."}[did]


def _results(messages) -> list[tuple]:
    """(tool, arguments, text) of every result in the list."""
    asked = {c["id"]: c["function"]["arguments"] for m in messages for c in m.get("tool_calls", ())}
    return [(m["name"], json.loads(asked[m["tool_call_id"]]), m["content"]) for m in messages if m["role"] == "tool"]


def _asks(messages, *calls) -> Reply:
    at = sum(len(m.get("tool_calls", ())) for m in messages)
    return Reply(tool_calls=tuple(ToolCall(f"call_{at + n}", name, arguments) for n, (name, arguments) in enumerate(calls, 1)))


# ---- agents that break what they run in ------------------------------------------------------------------------------

def breaks(task: Task, raises=("001",), dies=("003",)):
    """A, except on two tasks: one raises, and one kills the process it runs in (so give it a pool of processes, never your own)."""
    if task.id.endswith(tuple(raises)):
        raise ConnectionError("no route to the model")
    if task.id.endswith(tuple(dies)):
        os._exit(1)
    return A(task)


def hangs(task: Task):
    """A, except on one task, from which it does not come back for a minute."""
    if task.id.endswith("002"):
        time.sleep(60)
    return A(task)


# ---- a cluster small enough for a notebook ---------------------------------------------------------------------------

def small_cluster():
    """A Dask cluster of two workers inside this process. Left to itself it would listen to the network; this one keeps to 127.0.0.1."""
    from distributed import LocalCluster
    here = "127.0.0.1:0"
    return LocalCluster(n_workers=2, threads_per_worker=1, processes=False, memory_limit=0, silence_logs=50,
                        dashboard_address=here, worker_dashboard_address=here)
