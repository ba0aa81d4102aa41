"""Every exit that the harness owns, as one small rule each. Limits composes them; Account is what they look at."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import NamedTuple

from .messages import Reply, Usage, to_text
from .tokens import Meter, Price, price_for


LIMIT_KINDS = ("step_limit", "tool_call_limit", "time_limit", "token_budget", "cost_budget", "error_limit", "repeated_call")


class Exit(NamedTuple):
    """Why a run ends: one word, one sentence for people, and the value that met its limit."""

    kind: str
    message: str
    value: float | None = None
    limit: float | None = None


@dataclass(frozen=True)
class Limits:
    """What a run may use. None is unlimited, 0 is none.

    `reserve` is the size in tokens of the largest reply that the model may write. With it a budget is never exceeded;
    without it, by one reply at most, because a reply's size is known only once it is paid for.
    """

    max_steps: int | None = 10              # model calls
    max_tool_calls: int | None = None
    budget_tokens: int | None = None        # input and output, of all calls together
    budget_usd: float | None = None         # needs a price
    max_seconds: float | None = None        # from the start of the run; a call that is under way is not cut off
    max_repeats: int | None = 3             # the same calls with the same results; cycles of up to three steps count
    max_errors: int | None = None           # tool errors in the whole run; the run stops with the last one allowed
    reserve: int | None = None              # tokens kept back for the next reply

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            kinds = (int, float) if field.name in ("budget_usd", "max_seconds") else (int,)
            if value is not None and (isinstance(value, bool) or not isinstance(value, kinds) or not 0 <= value < float("inf")):
                raise ValueError(f"Limits: {field.name} must be {'a number' if len(kinds) > 1 else 'a whole number'} of at least 0, "
                                 f"or None for no limit, not {value!r}")

    def at_most(self, other: Limits) -> Limits:
        """The stricter of both, in every dimension."""
        def stricter(name, a, b):
            return a if b is None else b if a is None else (max if name == "reserve" else min)(a, b)
        return Limits(**{f.name: stricter(f.name, getattr(self, f.name), getattr(other, f.name)) for f in fields(self)})

    def before_reply(self, account: Account) -> Exit | None:
        """The exits that are asked before a model call is paid for."""
        return (step_limit(self, account) or time_limit(self, account)
                or token_budget(self, account) or cost_budget(self, account))

    def before_tool(self, account: Account) -> Exit | None:
        """The exits that are asked before a tool runs."""
        return tool_call_limit(self, account) or time_limit(self, account)

    def after_tool(self, account: Account) -> Exit | None:
        """The exit that only a tool's result can bring about."""
        return error_limit(self, account)

    def after_step(self, account: Account) -> Exit | None:
        """The exit that shows only when a step's calls and results stand side by side."""
        return repeated_call(self, account)


def step_limit(limits: Limits, account: Account) -> Exit | None:
    if limits.max_steps is not None and account.model_calls >= limits.max_steps:
        return Exit("step_limit", f"the step limit after {_n(account.model_calls, 'step')}", account.model_calls, limits.max_steps)


def tool_call_limit(limits: Limits, account: Account) -> Exit | None:
    calls = account.tool_calls + account.under_way
    if limits.max_tool_calls is not None and calls >= limits.max_tool_calls:
        return Exit("tool_call_limit", f"the tool call limit after {_n(calls, 'tool call')}", calls, limits.max_tool_calls)


def time_limit(limits: Limits, account: Account) -> Exit | None:
    if limits.max_seconds is not None and (seconds := account.seconds()) >= limits.max_seconds:
        return Exit("time_limit", f"the time limit after {seconds:.1f} s of {limits.max_seconds:g} s", seconds, limits.max_seconds)


def token_budget(limits: Limits, account: Account) -> Exit | None:
    if limits.budget_tokens is not None:
        spent, need = account.tokens, account.next_tokens()
        if spent >= limits.budget_tokens or spent + need > limits.budget_tokens:
            return Exit("token_budget", f"the token budget after {_n(account.model_calls, 'step')}: {spent:,} of {limits.budget_tokens:,} tokens are spent"
                        + (f" and the next call needs {need:,}" if need else ""), spent, limits.budget_tokens)


def cost_budget(limits: Limits, account: Account) -> Exit | None:
    if limits.budget_usd is not None:
        spent, need = account.cost, account.next_cost()
        if spent >= limits.budget_usd or spent + need > limits.budget_usd:
            return Exit("cost_budget", f"the money budget after {_n(account.model_calls, 'step')}: {spent:.4f} of {limits.budget_usd:.4f} USD are spent"
                        + (f" and the next call needs {need:.4f}" if need else ""), spent, limits.budget_usd)


def error_limit(limits: Limits, account: Account) -> Exit | None:
    if limits.max_errors is not None and account.errors >= max(1, limits.max_errors):
        return Exit("error_limit", f"the error limit after {_n(account.errors, 'tool error')}", account.errors, limits.max_errors)


def repeated_call(limits: Limits, account: Account) -> Exit | None:
    """The last steps are one block of one, two or three steps, `max_repeats` times over, results included."""
    if limits.max_repeats is None:
        return None
    times, done = max(1, limits.max_repeats), account.history
    for period in (1, 2, 3):
        if len(done) >= period * times and done[-period * times:] == done[-period:] * times:
            what = "the same call" if period == 1 else f"the same {period} steps"
            return Exit("repeated_call", f"a loop: {what} with the same result {_times(times)}", times, limits.max_repeats)
    del done[:-3 * times]       # older steps can no longer matter
    return None


class Account:
    """What a run has used so far. Budgets are asked of it before a call, and charged to it after."""

    def __init__(self, limits: Limits, model, definitions: list[dict], count: Callable | None = None,
                 prices: Price | Mapping | None = None, clock: Callable[[], float] = time.monotonic):
        self.limits = limits
        native = not getattr(model, "text_only", False)
        self.meter = Meter(count, definitions if native else ())
        self.meter.native = native
        self.price = price_for(model, prices)
        if limits.budget_usd is not None and self.price is None:
            raise ValueError("budget_usd needs a price: pass prices=Price(input, output), in USD per million tokens"
                             + ("" if prices is None else f", with an entry for the model {getattr(model, 'name', None)!r}"))
        # Without a counter, a prompt's size is a guess; a guess does not stop a run, except where a reserve asks for certainty.
        self._ask_ahead = count is not None or limits.reserve is not None
        self._reserve = limits.reserve or 0
        self._clock, self._start = clock, clock()
        self.steps = self.tool_calls = self.errors = 0
        self.delegated = 0          # model calls that others made for this run: sub-agents, summaries
        self.under_way = 0          # tool calls that are about to run beside each other
        self.view: int | None = None    # tokens of what is really sent, where that is not the list
        self.input = self.output = self.cached = 0
        self.cost: float | None = 0.0
        self.estimated = False
        self.history: list = []     # signatures of the last steps, for the repeat check

    def seconds(self) -> float:
        """Seconds that the run has taken so far; where it was resumed, the time in between does not count."""
        return self._clock() - self._start

    def go_on_from(self, seconds: float) -> None:
        """Set the run's clock: this much had been taken when the record ended."""
        self._start = self._clock() - seconds

    @property
    def model_calls(self) -> int:
        """Steps of the run itself and of all who worked for it."""
        return self.steps + self.delegated

    @property
    def prompt(self) -> int:
        """Tokens of the next call's input."""
        return self.meter.prompt if self.view is None else self.view

    @property
    def tokens(self) -> int:
        return self.input + self.cached + self.output

    def next_tokens(self) -> int:
        """Tokens that the next call needs at least (with a reserve: at most)."""
        return self.prompt + self._reserve if self._ask_ahead else 0

    def next_cost(self) -> float:
        return self.price.of(self.prompt, self._reserve) if self._ask_ahead else 0.0

    def left(self, share: int = 1) -> Limits:
        """What the run may still use, as limits for who works for it; a part of it where `share` of them work beside each other."""
        has, used = self.limits, {"max_steps": self.model_calls, "max_tool_calls": self.tool_calls + share, "budget_tokens": self.tokens,
                                  "budget_usd": self.cost or 0.0, "max_errors": self.errors}
        rest = {name: max(0, getattr(has, name) - n) for name, n in used.items() if getattr(has, name) is not None}
        rest = {name: n / share if name == "budget_usd" else n // share for name, n in rest.items()}
        if has.max_seconds is not None:
            rest["max_seconds"] = max(0.0, has.max_seconds - self.seconds())
        return Limits(**{"max_steps": None, "max_repeats": None, **rest}, reserve=has.reserve)

    def bill(self, reply: Reply, prompt: int, written: int) -> dict:
        """What one reply has used, as the record keeps it: `prompt` and `written` are our own counts, for where it reports nothing."""
        usage = self.meter.usage(reply, prompt, written)
        cost = usage.cost_usd
        if cost is None and self.price is not None:
            cost = self.price.of(usage.input_tokens, usage.output_tokens, usage.cached_tokens)
        return {**vars(usage), "cost_usd": cost}

    def charge(self, bill: dict) -> None:
        """Pay for one reply."""
        self.input += bill["input_tokens"]
        self.output += bill["output_tokens"]
        self.cached += bill["cached_tokens"]
        cost = bill["cost_usd"]
        self.cost = None if cost is None or self.cost is None else self.cost + cost
        self.estimated = self.estimated or bill["estimated"]

    def charge_spent(self, spent: dict) -> None:
        """Pay for what others have used for this run."""
        usage = spent["usage"]
        known = {name: usage[name] or 0 for name in ("input_tokens", "output_tokens", "cached_tokens")}
        cost = usage["cost_usd"]
        if cost is None and self.price is not None:
            cost = self.price.of(**known)
        blind = usage["input_tokens"] is None or usage["output_tokens"] is None or cost != usage["cost_usd"]    # priced as if this run's model had done it
        self.charge({**known, "cost_usd": cost, "estimated": usage["estimated"] or blind})
        self.delegated += spent["steps"]
        self.tool_calls += spent["tool_calls"]
        self.errors += spent["errors"]

    @property
    def usage(self) -> Usage:
        return Usage(self.input, self.output, self.cached, self.cost, self.estimated)


_SORTED = json.JSONEncoder(sort_keys=True, separators=(",", ":"))


def canonical(arguments) -> str:
    """Arguments as one text whatever their key order and white space; what cannot be parsed stands for itself."""
    try:
        parsed = json.loads(arguments) if isinstance(arguments, str) else arguments
        return _SORTED.encode(parsed)
    except Exception:
        return to_text(arguments)


def _n(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def _times(n: int) -> str:
    return {1: "once", 2: "twice", 3: "three times"}.get(n, f"{n} times")
