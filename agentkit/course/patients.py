"""Five runs of one task: a healthy one, and four in which something around the model is broken. Notebook 08 stands on it.

The model is the same stand-in in all of them and goes by nothing but the list it is sent; its rules are fixed, so it shows
what a fault does to a run and not how a real model would take it. Time is injected: nothing here sleeps.
"""

import functools
import json
import re
from collections.abc import Callable
from dataclasses import dataclass, replace

from agentkit import Journal, Reply, Tool, ToolCall, Usage, run, tool
from agentkit.tokens import rough_tokens

from . import shop
from .exits import Clock

TASK = "Mira writes that an order of hers is late. If so, see to the refund."
SYSTEM = shop.SYSTEM + " A refund above 5,000 rupees is decided by a person: call hand_over, not refund_order."
TIME_OUT = 10           # seconds after which the shop's customer service gives up
WINDOW = 2_360          # tokens that patient 4 may send


# ---- the model: one for all ------------------------------------------------------------------------------------------

def clerk(messages, tools) -> Reply:
    """Finds a customer's orders, looks at each, and sees to the refund of a late one."""
    said = _results(messages)
    for name, arguments, text in reversed(said):
        if name in ("hand_over", "refund_order") and not text.startswith("ERROR"):
            order = arguments["order_id"]
            return Reply(f"Order {order} is late. A person decides on its refund." if name == "hand_over" else
                         f"Order {order} was late and has been refunded: {json.loads(text)['refunded']:,} rupees.")
    if not said:
        return _asks(messages, ("get_order", {"order_id": "Mira"}))     # a mistake: a name is no order id
    found = next((text for name, _, text in reversed(said) if name == "find_orders" and not text.startswith("ERROR")), None)
    if found is None:
        return _asks(messages, ("find_orders", {"customer": "Mira"}))
    ids = json.loads(found)
    ids = ids["open"] if isinstance(ids, dict) else ids
    known = {arguments["order_id"]: text for name, arguments, text in said if name in ("get_order", "get_parcel")}
    next_calls = [(_told(known.get(i, "")), {"order_id": i}) for i in ids if not known.get(i, "").startswith("{")]
    if next_calls:
        return _asks(messages, *next_calls)
    late = [i for i in ids if json.loads(known[i])["days_late"]]
    if not late:
        return Reply("Mira has no late order, so nothing was refunded.")
    order = json.loads(known[late[0]])
    rule = any(m["role"] == "system" and "above 5,000" in m["content"] for m in messages)
    dear = order["unit_price"] * order["qty"] > 5_000
    return _asks(messages, ("hand_over" if rule and dear else "refund_order", {"order_id": late[0]}))


def _results(messages) -> list[tuple]:
    """(tool, arguments, text) of every result in the list."""
    asked = {c["id"]: c["function"]["arguments"] for m in messages for c in m.get("tool_calls", ())}
    return [(m["name"], json.loads(asked[m["tool_call_id"]]), m["content"]) for m in messages if m["role"] == "tool"]


def _told(text) -> str:
    """The tool that a result says to use; get_order where it says none."""
    found = re.search(r"use (\w+)", text)
    return found[1] if found else "get_order"


def _asks(messages, *calls) -> Reply:
    used = sum(len(m.get("tool_calls", ())) for m in messages)
    return Reply(tool_calls=[ToolCall(f"call_{used + n}", name, arguments) for n, (name, arguments) in enumerate(calls, 1)])


# ---- the shop's tools, on a clock ------------------------------------------------------------------------------------

def _tools(clock: Clock) -> dict[str, Tool]:
    """The healthy tools, by name. Each takes its time on the clock."""

    @tool
    def hand_over(order_id: str) -> str:
        """Hand a refund over to a person, who decides on it.

        Args:
            order_id: such as A123
        """
        return f"a person will decide on {order_id}"

    refund = next(t for t in shop.new_shop()[0] if t.name == "refund_order")
    seconds = {"get_order": 0.4, "find_orders": 0.6, "refund_order": 0.9, "hand_over": 0.3}
    return {t.name: _timed(t, clock, seconds[t.name]) for t in (shop.get_order, shop.find_orders, refund, hand_over)}


def _timed(made: Tool, clock: Clock, seconds: float) -> Tool:
    @functools.wraps(made.fn)
    def waits(*args, **arguments):
        clock.wait(seconds)
        return made.fn(*args, **arguments)
    return replace(made, fn=waits)


# ---- what is broken --------------------------------------------------------------------------------------------------

def _by_name(messages):
    """Patient 1: an adapter that keeps results by tool name, and leaves out the calls that have none, or a provider would refuse the list."""
    kept, sent = {}, []
    for m in messages:
        if m["role"] == "tool":
            kept.setdefault(m["name"], m)
    answered = {m["tool_call_id"] for m in kept.values()}
    for m in messages:
        if "tool_calls" in m:
            calls = [c for c in m["tool_calls"] if c["id"] in answered]
            sent += [{**m, "tool_calls": calls}] if calls else []
        elif m["role"] != "tool" or m["tool_call_id"] in answered:
            sent.append(m)
    return sent


def _swallowing(tools, clock):
    """Patient 2: the customer service does not answer, and find_orders says so to nobody."""

    @tool
    def find_orders(customer: str) -> list:
        """List the ids of a customer's orders. Use it when you know a name but no order id.

        Args:
            customer: the first name, such as Mira
        """
        try:
            clock.wait(TIME_OUT)
            raise TimeoutError(f"no answer within {TIME_OUT} s")
        except Exception:
            return []
    return {**tools, "find_orders": find_orders}


def _failing(tools, clock):
    """Patient 2, mended: the same service is down, and the tool lets the model read it. It is up again for the second call."""
    down = [True]

    @functools.wraps(tools["find_orders"].fn)
    def find_orders(customer):
        if down:
            down.clear()
            clock.wait(TIME_OUT)
            raise TimeoutError(f"no answer within {TIME_OUT} s")
        return tools["find_orders"].fn(customer)
    return {**tools, "find_orders": replace(tools["find_orders"], fn=find_orders)}


def _overlapping(tools, clock):
    """Patient 3: two tools for one question, each sure that the other one is the right one for an order on its way."""

    @tool
    def get_order(order_id: str):
        """Look up an order and its delivery.

        Args:
            order_id: such as A123
        """
        found = tools["get_order"].fn(order_id)
        return f"{order_id} has left the shop: use get_parcel" if found["days_late"] else found

    @tool
    def get_parcel(order_id: str) -> str:
        """Look up the delivery of an order.

        Args:
            order_id: such as A123
        """
        clock.wait(0.5)
        return f"{order_id} is not delivered yet: use get_order"
    return {**tools, "get_order": get_order, "get_parcel": get_parcel}


def _whole_history(tools, clock):
    """Patient 4: find_orders answers with all that was ever ordered."""

    @functools.wraps(tools["find_orders"].fn)
    def find_orders(customer):
        clock.wait(1.5)
        history = [f"{2010 + n // 12}-{n % 12 + 1:02} E{n:03} {('mouse', 'lamp', 'desk', 'cable')[n % 4]}, paid, delivered" for n in range(232)]
        return {"open": tools["find_orders"].fn(customer), "history": history}
    return {**tools, "find_orders": replace(tools["find_orders"], fn=find_orders)}


def _newest(messages, window=WINDOW):
    """Patient 4: keep the task, then what is newest, as long as it fits. What is oldest goes first: the system message."""
    task, steps = messages[1], _steps(messages[2:])
    room = window - _size([task])
    kept = []
    for block in reversed([[messages[0]], *steps]):
        if _size(block) > room:
            break
        kept, room = [block, *kept], room - _size(block)
    first = kept.pop(0) if kept and kept[0] == [messages[0]] else []
    return [*first, task, *(m for block in kept for m in block)]


def _pinned(messages, window=WINDOW):
    """Patient 4, mended: the rules and the task always stay; the newest steps get the room that is left."""
    room, kept = window - _size(messages[:2]), []
    for block in reversed(_steps(messages[2:])):
        if _size(block) > room:
            break
        kept, room = [*block, *kept], room - _size(block)
    return [*messages[:2], *kept]


def _steps(messages) -> list[list[dict]]:
    """The list cut before each reply: a step is a reply and its results."""
    blocks: list[list[dict]] = []
    for m in messages:
        if m["role"] == "assistant":
            blocks.append([])
        blocks[-1].append(m)
    return blocks


def _stale(tools, clock):
    """Not one of the four: get_order reads a copy from last week, when nothing was late yet."""
    @functools.wraps(tools["get_order"].fn)
    def get_order(order_id):
        return {**tools["get_order"].fn(order_id), "days_late": 0}
    return {**tools, "get_order": replace(tools["get_order"], fn=get_order)}


@dataclass(frozen=True)
class Case:
    """What the user says, what stands between the list and the model, and what is done to the tools: broken and mended."""

    complaint: str
    sends: Callable = list
    tools: Callable = lambda tools, clock: tools
    mended_sends: Callable = list
    mended_tools: Callable = lambda tools, clock: tools


PATIENTS = {
    "healthy": Case("It did what it should."),
    "patient 1": Case("It asked for the same two orders until it was stopped.", sends=_by_name),
    "patient 2": Case("It says that nothing is late. An order is four days late.", tools=_swallowing, mended_tools=_failing),
    "patient 3": Case("It went to and fro and never answered.", tools=_overlapping),
    "patient 4": Case("It paid 6,200 rupees. Above 5,000 a person decides.", sends=_newest, tools=_whole_history, mended_sends=_pinned),
}
_OTHERS = {"stale": Case("It says that nothing is late. An order is four days late.", tools=_stale)}


# ---- running them ----------------------------------------------------------------------------------------------------

def admit(name: str, log=None, mended: bool = False):
    """(model, tools, clock) of one run. What the model is really sent is written into `log` as "sent" events, if one is given."""
    case, clock = {**PATIENTS, **_OTHERS}[name], Clock()
    tools = (case.mended_tools if mended else case.tools)(_tools(clock), clock)
    prepare = case.mended_sends if mended else case.sends

    def model(messages, definitions):
        sent = prepare(messages)
        if log is not None:
            log.add("sent", messages=sent)
        reply, read = clerk(sent, definitions), _size(sent) + rough_tokens(json.dumps(definitions))
        clock.wait(1 + read / 4_000)
        return replace(reply, usage=Usage(read, _size([reply.as_message()])))

    return model, list(tools.values()), clock


def record(name: str, mended: bool = False, journal: Journal | None = None):
    """One run by agentkit, with all of it on record: the Result, whose .journal is what there is to read."""
    journal = Journal(run_id=name) if journal is None else journal
    model, tools, clock = admit(name, journal, mended)
    return run(model, tools, TASK, system=SYSTEM, journal=journal, clock=clock)


def _size(messages) -> int:
    """Tokens of some messages, four characters each."""
    texts = [m["content"] or "" for m in messages]
    texts += [c["function"]["name"] + c["function"]["arguments"] for m in messages for c in m.get("tool_calls", ())]
    return sum(rough_tokens(t) for t in texts if t)
