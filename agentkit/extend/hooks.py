"""Hooks: your own functions at four fixed points of a run, in the place of one more `if` in the loop.

Five that many runs want stand below the class. Each is a few lines, so write your own in the same way.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from ..limits import Exit
from ..messages import Usage, to_text
from ..tokens import Meter, Price
from ..tools import running, show


@dataclass(frozen=True)
class Hook:
    """One or more functions that run() calls at fixed points; `name` stands in the record.

    Two are gates. They may refuse or change what comes next, and one that raises has refused:
      before_model(messages, tools)   None lets pass; a list of messages (or View) is sent in its place, for this call only;
                                      a reason refuses (status "refused"); an Exit ends the run with the status it names
      before_tool(call)               None lets pass; a dict is the new arguments, checked and approved anew; a reason denies
    Two are observers. What they return is ignored; one that raises is recorded and the run goes on:
      after_model(reply)              the reply is on record by then
      after_tool(call, result)        so is the result; for every call that ran
    """

    name: str | None = None
    before_model: Callable | None = None
    after_model: Callable | None = None
    before_tool: Callable | None = None
    after_tool: Callable | None = None


def log(write: Callable[[str], object] = print) -> Hook:
    """A line for each reply and for each call that ran. Calls that were denied are in the record, not here."""
    def spelled(call):
        return f"{call.name}({to_text(call.arguments)})"

    def replied(reply):
        write("model: " + (", ".join(map(spelled, reply.tool_calls)) or show(reply.text or "(nothing)")))

    def ran(call, result):
        write(f"{'error' if result.error else 'tool'}: {spelled(call)} -> {show(result.text)}")

    return Hook("log", after_model=replied, after_tool=ran)


def deny(what: str | Iterable[str] | Callable, why: str = "it is not allowed here") -> Hook:
    """Deny the calls of these tools, or those for which a function call -> bool says True."""
    names = {what} if isinstance(what, str) else None if callable(what) else set(what)

    def gate(call):
        return why if (what(call) if names is None else call.name in names) else None

    return Hook("deny", before_tool=gate)


def cap(tool: str, **most: float) -> Hook:
    """Lower a tool's arguments to the most that is allowed: cap("list_orders", limit=50). One that is left out is given the most."""
    def gate(call):
        if call.name != tool:
            return None
        return {**call.arguments, **{name: high for name, high in most.items() if not _at_most(call.arguments.get(name), high)}}

    return Hook("cap", before_tool=gate)


def approval(person: Callable, *names: str) -> Hook:
    """Ask `person(call)` before a call runs (of these tools, or of all). True allows; whatever else comes back denies.

    Put it behind the hooks that change calls, or what is shown is not what runs. It must be answered at once: where
    a person may take until tomorrow, mark the tool needs_approval, and the run waits and can be resumed.
    """
    def gate(call):
        if names and call.name not in names:
            return None
        said = person(call)
        if said is True:
            return None
        return said if isinstance(said, str) and said.strip() else "a person said no"

    return Hook("approval", before_tool=gate)


def budget(tokens: int | None = None, usd: float | None = None, *, price: Price | None = None, per: Callable[[], object] = lambda: None) -> Hook:
    """One budget over many runs: pass the same hook to each. It begins anew when `per()` changes: per=date.today for one a day.

    It lets no model call begin once the budget is spent, so each run under way exceeds it by one reply at most. Replies
    that do not say what they cost are counted and priced with `price` (`usd` needs one). Sub-agents reach it through
    their results: pass it to the runs that you start, not to them as well, or they count twice.
    """
    if usd is not None and price is None:
        raise ValueError("a budget in usd needs a price for replies that do not say what they cost: budget(usd=5, price=Price(3, 15))")
    lock, asked = threading.Lock(), threading.local()       # runs may share it across threads
    spent = {"per": None, "tokens": 0, "usd": 0.0}

    def charge(usage: Usage):
        cost = usage.cost_usd
        if cost is None and price is not None:
            cost = price.of(usage.input_tokens or 0, usage.output_tokens or 0, usage.cached_tokens)
        with lock:
            if spent["per"] != (now := per()):
                spent.update(per=now, tokens=0, usd=0.0)
            spent["tokens"] += usage.total_tokens
            spent["usd"] += cost or 0.0

    def may_we(messages, tools):
        asked.of = messages, tools
        charge(Usage(0, 0, cost_usd=0.0))       # a new day begins here too
        if tokens is not None and spent["tokens"] >= tokens:
            return Exit("token_budget", f"the budget of several runs: {spent['tokens']:,} of {tokens:,} tokens are spent", spent["tokens"], tokens)
        if usd is not None and spent["usd"] >= usd:
            return Exit("cost_budget", f"the budget of several runs: {spent['usd']:.4f} of {usd:.4f} USD are spent", spent["usd"], usd)

    def replied(reply):
        meter = Meter(running().options["count_tokens"], asked.of[1])
        known = reply.usage is not None and reply.usage.total_tokens and None not in (reply.usage.input_tokens, reply.usage.output_tokens)
        charge(reply.usage if known else meter.usage(reply, meter.measure(asked.of[0]), meter.add(reply.as_message())))

    def ran(call, result):
        if result.spent is not None:
            charge(result.spent.usage)

    return Hook("budget", before_model=may_we, after_model=replied, after_tool=ran)


def _at_most(value, high: float) -> bool:
    """Whether it is a number that is not too high; what is no number at all is left for the schema to refuse."""
    return value is not None and (isinstance(value, bool) or not isinstance(value, (int, float)) or value <= high)
