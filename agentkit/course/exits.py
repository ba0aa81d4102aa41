"""Confused models to try limits on, and what their runs use. Notebook 06 stands on it; its pictures are in exit_views.py.

Time is injected: a model call takes 2 seconds on a clock that is moved by hand, and nothing sleeps.
"""

import json
import random
from dataclasses import dataclass, replace
from types import SimpleNamespace

from agentkit import Limits, Price, Reply, Tool, Usage, call, run, tool
from agentkit.tokens import rough_tokens

from . import shop

TASK = shop.GST_TASK
PRICE = Price(3, 15)            # USD per million tokens, assumed
MODEL_SECONDS = 2               # what one model call takes, on the injected clock
GUARD = 60                      # steps after which an experiment here pulls the plug
FOR_EVER = "for ever"           # the status of a run whose plug was pulled


class Clock:
    """A clock that stands still until somebody moves it."""

    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now

    def wait(self, seconds):
        self.now += seconds


def only(**limits) -> Limits:
    """These limits and no others."""
    return Limits(**{"max_steps": None, "max_repeats": None, **limits})


# ---- the tools -------------------------------------------------------------------------------------------------------

@tool
def search_notes(text: str, year: int = 2024) -> str:
    """Search the notes of one year for a text."""
    return f"nothing about {text} in {year}"


@tool
def export_orders(page: int) -> str:
    """All orders as text, one page at a time."""
    return f"page {page}: " + "order, item, price, quantity; " * 400


@tool
def ask_carrier(parcel: str) -> str:
    """Ask the carrier where a parcel is."""
    raise ConnectionError(f"the carrier does not answer about {parcel}")


def tools_on(clock: Clock) -> list[Tool]:
    """The tools that every stand-in is given. One of them is slow, on this clock."""

    @tool
    def track_van(van: str) -> str:
        """Find a delivery van. Slow."""
        clock.wait(25)
        return f"{van} is on the road"

    return [shop.get_order, shop.calculator, search_notes, export_orders, ask_carrier, track_van]


# ---- the stand-ins ---------------------------------------------------------------------------------------------------

def clumsy(mistakes: int):
    """Works out the order after this many wrong calls, each a different one."""
    def model(messages, tools):
        errors = sum(m["role"] == "tool" and m["content"].startswith("ERROR") for m in messages)
        if errors < mistakes:
            return Reply(tool_calls=call("get_order", **{f"order_{errors}": "A123"}))
        if shop.last_result(messages)[0] is None or messages[-1]["content"].startswith("ERROR"):
            return Reply(tool_calls=call("get_order", order_id="A123"))
        return shop.order_model(messages, tools)
    return model


def _turn(messages) -> int:
    """How many replies came before this one."""
    return sum(m["role"] == "assistant" for m in messages)


def _stuck(messages, tools):
    spelled = ('{"text": "A123", "year": 2024}', '{"year":2024,"text":"A123"}')[_turn(messages) % 2]
    return Reply(tool_calls=replace(call("search_notes"), arguments=spelled))


def _each_turn(make):
    """A stand-in that goes by nothing but the number of the turn."""
    return lambda messages, tools: make(_turn(messages))


@dataclass(frozen=True)
class StandIn:
    does: str
    model: object
    sound: bool = False     # it would finish by itself


STAND_INS = {
    "good": StandIn("one wrong call, then the answer", shop.order_model, True),
    "clumsy": StandIn("three wrong calls, then the answer", clumsy(3), True),
    "stuck": StandIn("the same search, spelled in two ways", _stuck),
    "circling": StandIn("three orders in turn, for ever", _each_turn(
        lambda n: Reply(tool_calls=call("get_order", order_id=("A123", "B456", "C789")[n % 3])))),
    "wandering": StandIn("another search every time", _each_turn(lambda n: Reply(tool_calls=call("search_notes", text=f"A{n}")))),
    "greedy": StandIn("twelve searches in every reply", _each_turn(
        lambda n: Reply(tool_calls=[call("search_notes", text=f"A{12 * n + k}") for k in range(12)]))),
    "hungry": StandIn("a result of 3,000 tokens a step", _each_turn(lambda n: Reply(tool_calls=call("export_orders", page=n)))),
    "brooding": StandIn("1,200 tokens of thinking a step", _each_turn(
        lambda n: Reply(tool_calls=call("search_notes", text=f"A{n}"), usage=Usage(None, 1200)))),
    "slow": StandIn("a tool that takes 25 seconds", _each_turn(lambda n: Reply(tool_calls=call("track_van", van=f"V{n}")))),
    "failing": StandIn("a tool that fails every time", _each_turn(
        lambda n: Reply(tool_calls=call("ask_carrier", parcel=f"P{n}")))),
    "silent": StandIn("empty replies", _each_turn(lambda n: Reply())),
}


def stand_in(name: str):
    """(model, tools, clock) of a stand-in; every run needs its own."""
    clock, model = Clock(), STAND_INS[name].model

    def timed(messages, tools):
        clock.wait(MODEL_SECONDS)
        return model(messages, tools)

    return timed, tools_on(clock), clock


def talker(seed: int, longest: int = 400):
    """A stand-in that never ends and writes up to `longest` tokens a reply, and the tool whose results are as uneven."""
    rng = random.Random(seed)

    def words(most):
        return "word " * int(4 / 5 * most * rng.random())

    @tool
    def read_page(page: int) -> str:
        """Read a page."""
        return words(600) + "end"

    return lambda messages, tools: Reply(words(longest - 20) + "next", call("read_page", page=_turn(messages))), [read_page]


# ---- what a run uses -------------------------------------------------------------------------------------------------

def size(messages: list[dict], definitions: list[dict] = ()) -> int:
    """Tokens of all that a model call sends, by the rule of four characters a token."""
    texts = [json.dumps(definitions)] if definitions else []
    for m in messages:
        texts += [m["content"], *(c["function"]["name"] + c["function"]["arguments"] for c in m.get("tool_calls", ()))]
    return sum(rough_tokens(t) for t in texts if t)


def observe(name: str, limits: Limits, *, count=None, price: Price = PRICE, guard: int = GUARD) -> SimpleNamespace:
    """Run a stand-in under agentkit's limits; where no step limit is set, `guard` steps are all that is waited for."""
    model, tools, clock = stand_in(name)
    guarded = replace(limits, max_steps=guard) if limits.max_steps is None or limits.max_steps > guard else limits
    began = []
    result = run(lambda m, t: began.append(clock()) or model(m, t), tools, TASK, limits=guarded, count_tokens=count, prices=price, clock=clock)
    endless = result.status == "step_limit" and guarded is not limits
    course = _course(result.journal, [*began[1:], clock()], price)
    return SimpleNamespace(
        **{field: values[-1] for field, values in course.items()}, status=FOR_EVER if endless else result.status, course=course,
        report=f"Still running after {guard} steps; the experiment pulls the plug." if endless else result.report)


def _course(journal, ends: list[float], price: Price) -> dict[str, list]:
    """What a run has used after each step, from step 0 on."""
    course = {"steps": [0], "calls": [0], "tokens": [0], "usd": [0.0], "seconds": [0.0], "repeats": [0], "errors": [0]}
    made = [e for e in journal.of("result") if not e["stopped"]]
    done = []
    for reply, end in zip(journal.of("reply"), ends):
        mine = [e for e in made if e["step"] == reply["step"]]
        done += [[(e["name"], e["key"], e["content"]) for e in mine]] if mine else []
        usage, last = reply["usage"], {field: values[-1] for field, values in course.items()}
        for field, more in (("steps", 1), ("calls", len(mine)), ("tokens", Usage(**usage).total_tokens), ("errors", sum(e["error"] for e in mine)),
                            ("usd", price.of(usage["input_tokens"], usage["output_tokens"], usage["cached_tokens"]))):
            course[field].append(last[field] + more)
        course["seconds"].append(end)
        course["repeats"].append(_repeats(done))
    return course


def row(name: str, used) -> str:
    """One line about a run, for a print."""
    return (f"{name:10}{used.status:16}{used.steps:>3} steps {used.calls:>4} calls {used.tokens:>8,} tokens "
            f"{used.usd:7.4f} USD {used.seconds:4.0f} s")


def _repeats(done: list) -> int:
    """How many times in a row the newest one, two or three steps stand at the end."""
    best = 0
    for p in (1, 2, 3) if done else ():
        times = 1
        while len(done) >= p * (times + 1) and done[-p * (times + 1):len(done) - p * times] == done[-p:]:
            times += 1
        best = max(best, times)
    return best


def verdict(name: str, used, allowed: Limits) -> str:
    """What one limit did to a run, in two words: done, cut off, for ever, the step it ended at, or its worst overrun."""
    if used.status == "done" or used.status == FOR_EVER:
        return used.status
    if STAND_INS[name].sound:
        return "cut off"
    worst, unit = max((used.steps / allowed.max_steps, "steps"), (used.calls / allowed.max_tool_calls, "calls"),
                      (used.tokens / allowed.budget_tokens, "tokens"), (used.usd / allowed.budget_usd, "USD"),
                      (used.seconds / allowed.max_seconds, "time"))
    return f"{worst:.1f}x {unit}" if worst > 1.5 else f"step {used.steps}"
