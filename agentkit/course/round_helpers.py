"""What the lines of the coding round's scorecard share: the Line, its register, and the stand-ins that most situations use."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from .round_scenes import MOST, ask, call

MUST, GOOD, SENIOR = "must", "good", "senior"


@dataclass(frozen=True)
class Line:
    """One line of the card: what an interviewer writes down, and where the course teaches it."""

    key: str
    stage: int
    level: str
    says: str
    notebook: str
    situations: Callable
    needs: tuple = ()
    """Lines without which this one cannot be judged."""
    takes: str = ""
    """The argument that the reader's function must take."""


BASE = ("answer", "list")
"""What nearly every line stands on."""

LINES: list[Line] = []
"""All lines, in the order of the card."""


def line(stage, level, says, notebook, needs=(), takes=""):
    def add(fn):
        LINES.append(Line(fn.__name__.rstrip("_"), stage, level, says, notebook, fn, needs, takes))
        return fn

    return add


def four_digits(rng):
    return rng.randrange(1000, 9999)


def desk(rng):
    """A tool whose result names its argument, and an order to ask it for."""
    stock = {f"{letter}{rng.randrange(100, 999)}": four_digits(rng) for letter in "ABCD"}

    def get_order(order_id):
        return f"order {order_id} costs {stock[order_id]}"

    return get_order, stock


def endless(tokens=0, name="get_page"):
    """A model that always asks for the next page, never twice for the same, and never answers."""

    def reply(messages):
        n = sum(m.get("role") == "tool" for m in messages if isinstance(m, dict)) + 1
        return ask(call(f"call_{n}", name, number=n), tokens=tokens)

    return reply


def get_page(number):
    return f"page {number}"


def miscounted(scene, wanted, why):
    """The usual sentence about a number of model calls, or None."""
    more = " and more" if scene.calls == MOST else ""
    return None if scene.calls == wanted else f"{why}: the model was called {scene.calls} times{more}, not {wanted}."


def results_text(messages):
    return " ".join(str(m.get("content")) for m in messages if isinstance(m, dict) and m.get("role") == "tool")
