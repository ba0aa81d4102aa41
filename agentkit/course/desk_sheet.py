"""The numbers of notebook 24: what a sweep measured, ticket by ticket, and the closed formulas that make a day of it.

Tokens are estimated (four characters a token). What is assumed stands in capitals; everything else is measured on the set.
"""

import json
import math
from dataclasses import dataclass, replace
from functools import lru_cache

from agentkit import Price
from agentkit.cost import Shape, steps_within, usd
from agentkit.evals import evaluate
from agentkit.tokens import rough_tokens

from .desk import LIMIT, SYSTEM
from .desk_designs import DESIGN, MISS, PRICE
from .desk_model import stand_in
from .desk_tickets import MIX, traffic

CACHED = Price(3, 15, cached=0.3)       # the same price with a cache, assumed
SMALLEST = 1024                 # tokens: a shorter front is not cached; assumed, as some providers have it
PEAK = 0.12                     # of a day's tickets come in its busiest hour
LOOK_MINUTES, TICKET_MINUTES = 2, 6     # of a person: for an approval, for a ticket that was handed over
WORK_HOURS, HOUR_USD = 6, 20    # of a person: a day at the desk, an hour's cost


@dataclass(frozen=True)
class Ran:
    """What one run of a ticket came to. `parts` maps each part to its model calls, [(sent, front, written)] in tokens; `front` a cache could hold."""

    task: str
    group: str
    good: bool
    agent_steps: int            # 0: the path was enough
    agent_seconds: float
    seconds: float
    parts: dict
    proposals: tuple            # (USD, due) of every refund that was paid or that a person was asked for
    asked: int
    handed: bool
    wrong_usd: float
    journal_bytes: int

    @property
    def calls(self) -> int:
        return sum(map(len, self.parts.values()))


def sweep(design, tasks, repeats: int = 1):
    """(Report, [Ran, ...]) of a design on a task set."""
    kept = []

    def agent(task):
        result, desk = design(task)
        kept.append((task, result, desk))
        return result, desk

    report = evaluate(agent, tasks, repeats=repeats, timeout=None, name=design.name)
    return report, [_ran(task, result, desk, row.success) for (task, result, desk), row in zip(kept, report.rows)]


def _ran(task, result, desk, good) -> Ran:
    inner, decided = desk.agent, {order for order, _, _ in desk.asked}
    proposals = [(u, order in desk.due) for order, u, _ in desk.asked] + [(u, order in desk.due) for order, u in desk.refunds if order not in decided]
    parts = {"agent": _agent_calls(inner or (None if desk.guarded else result))}
    for e in result.journal.of("reply") if desk.guarded else ():
        if e["usage"]["input_tokens"]:
            asked = (e["message"] or {}).get("tool_calls")
            step = json.loads(asked[0]["function"]["arguments"])["step"] if asked else "draft"
            parts.setdefault(step, []).append((e["usage"]["input_tokens"], rough_tokens(SYSTEM), e["usage"]["output_tokens"]))
    size = sum(len(json.dumps(e)) for r in (result, inner) if r for e in r.journal.events)
    return Ran(task.id, task.group, good, inner.steps if inner else 0, _elapsed(inner), desk.clock(), parts, tuple(proposals), len(desk.asked),
               bool(desk.handed), desk.wrong_usd(), size)


def _agent_calls(result) -> list:
    if result is None:
        return []
    start, made = result.journal.events[0], result.journal.of("reply")
    front = rough_tokens(start["system"]) + rough_tokens(json.dumps(start["definitions"]))      # the same for all tickets
    fronts = [front, *(e["prompt_tokens"] for e in made)]
    return [(e["usage"]["input_tokens"], f, e["usage"]["output_tokens"]) for e, f in zip(made, fronts)]


def _elapsed(result) -> float:
    if result is None:
        return 0.0
    first, end = result.journal.of("reply")[0], result.journal.of("end")[-1]
    return end["elapsed"] - first["elapsed"] + first["seconds"]


def bill(calls, price: Price = PRICE, longer: float = 1) -> float:
    """USD for model calls [(sent, front, written)], prompts `longer` times as long. A price with a cache reads fronts of SMALLEST tokens or more."""
    hits = 0 if price.cached is None else sum(front for _, front, _ in calls if longer * front >= SMALLEST)
    return price.of(longer * (sum(sent for sent, _, _ in calls) - hits), sum(written for _, _, written in calls), longer * hits)


def percentile(values, share: float):
    """The smallest value that at least this share of the values do not exceed."""
    return sorted(values)[max(0, math.ceil(share * len(values)) - 1)]


def agent_shape(ran) -> Shape:
    """The agent's runs as a Shape: system and definitions, the ticket, and the means of what a step writes and brings back."""
    runs = [r.parts["agent"] for r in ran if r.agent_steps]
    steps = sum(len(calls) - 1 for calls in runs)
    growth = sum(calls[-1][0] - calls[0][0] for calls in runs)
    written = math.ceil(sum(w for calls in runs for _, _, w in calls) / sum(map(len, runs)))
    front = runs[0][0][1]
    task = math.ceil(sum(calls[0][0] for calls in runs) / len(runs)) - front
    return Shape(calls=steps // len(runs), system=front, task=task, written=written, returned=max(0, math.ceil(growth / steps) - written))


def budget_for(steps: int, ran) -> float:
    """The smallest budget, in thousandths of a USD, that lets an average agent run make so many steps."""
    shape = agent_shape(ran)
    budget = math.ceil(1000 * usd(replace(shape, calls=steps - 1, answer=shape.written), PRICE)) / 1000
    assert steps_within(budget, shape, PRICE) >= steps
    return budget


def judge_alone(trials: int = 50) -> tuple[int, int]:
    """(said damaged, looked at): the photo step by itself, on every whole item of the set, so many times each."""
    whole = [t for t in traffic() if t.group == "broken" and not t.setup["due"]]
    prompts = [(replace(t, trial=n), f"Does the photo show damage?\n\n{t.text}") for t in whole for n in range(trials)]
    said = [stand_in(t, LIMIT)([{"role": "user", "content": p}], ()).text for t, p in prompts]
    return said.count("damaged"), len(said)


# ---- a day -----------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Rates:
    """The tickets of one side, the known path or the tail. `claims`: for each refund (USD, chance that it is proposed, whether it is due)."""

    n: int
    model_calls: tuple          # (sent, front, written)
    seconds: float              # mean
    handed: float               # share
    claims: tuple


def rates(ran, false_yes: float) -> tuple[Rates, Rates]:
    """(known, tail): what was measured, in a form that can be mixed. A false claim is proposed as often as the photo step alone errs."""
    claims = {t.id: [(t.setup["orders"][i]["usd"], 1.0, True) for i in t.setup["due"]] for t in traffic()}
    for t in traffic():
        if t.group == "broken" and not t.setup["due"]:
            claims[t.id] = [(o["usd"], false_yes, False) for o in t.setup["orders"].values()]
    found = []
    for tail in (False, True):
        mine = [r for r in ran if (r.group == "tail") == tail]
        n, made = len(mine), tuple(c for r in mine for part in r.parts.values() for c in part)
        found.append(Rates(n, made, sum(r.seconds for r in mine) / n, sum(r.handed for r in mine) / n,
                           tuple(c for r in mine for c in claims[r.task])))
    return tuple(found)


@dataclass(frozen=True)
class Day:
    """A day at the desk. Counts are a day's, money is in USD a day."""

    tokens_usd: float
    calls: float
    calls_per_second: float     # in the busiest hour
    at_once: float              # tickets under way in the busiest hour
    approvals: float
    handed: float
    approvers: float            # people
    colleagues: float           # people who take the tickets that were handed over
    wrong: float                # refunds that were not due
    wrong_usd: float
    look_usd: float             # the approvers' time

    @property
    def usd(self) -> float:
        """What the choice of a limit moves, and the tokens; the tickets handed over are the same whatever the limit is."""
        return self.tokens_usd + self.look_usd + self.wrong_usd


def day(sides: tuple[Rates, Rates], tickets: int = 10_000, tail: float = MIX["tail"] / 80, limit: float = LIMIT, price: Price = PRICE,
        longer: float = 1) -> Day:
    """A day of so many tickets, of which a share `tail` leaves the known path; prompts `longer` times as long as those that were measured."""
    weights = [tickets * (1 - tail) / sides[0].n, tickets * tail / sides[1].n]

    def total(of):
        return sum(w * of(side) for w, side in zip(weights, sides))

    def claimed(worth):
        return total(lambda side: sum(chance * worth(usd, due) for usd, chance, due in side.claims))

    looks = claimed(lambda usd, due: usd > limit)
    wrong, wrong_usd = (claimed(lambda usd, due: 0 if due else (MISS if usd > limit else 1) * (usd if money else 1)) for money in (False, True))
    calls, handed, peak = total(lambda side: len(side.model_calls)), total(lambda side: side.n * side.handed), PEAK / 3600
    return Day(total(lambda side: bill(side.model_calls, price, longer)), calls, peak * calls, peak * total(lambda side: side.n * side.seconds),
               looks, handed, people(looks, LOOK_MINUTES), people(handed, TICKET_MINUTES), wrong, wrong_usd, looks * LOOK_MINUTES / 60 * HOUR_USD)


def people(pieces: float, minutes: float) -> float:
    """How many people a day's pieces of work take."""
    return pieces * minutes / 60 / WORK_HOURS


@lru_cache(maxsize=1)
def measured() -> tuple[Rates, Rates]:
    """The rates of the finished design, measured once."""
    hits, looked = judge_alone()
    return rates(sweep(DESIGN, traffic())[1], hits / looked)
