"""The worlds and stand-ins of notebook 17: a desk whose orders change while somebody works, and a depot whose parcels are moved.

A stand-in is a plain function in the place of a model. It shows what the harness does with a plan, and what that costs; it
cannot show how well a real model plans. Tokens are counted as agentkit counts where a model reports nothing: four characters each.
"""

import re
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from agentkit import Limits, Reply, call, run, tool
from agentkit.patterns.plan_execute import plan_and_execute

# ---- a desk ----------------------------------------------------------------------------------------------------------------

DESK_TASK = "Refund Mira's parcel that has not come. Her orders, as of 9:00: C789 is on its way, D012 is late."
_ITEMS = {"C789": ("cable", 1200), "D012": ("chair", 6200)}
SCANS = {2: {"D012": "delivered", "C789": "lost"}}      # after two calls of a tool, two scans come in


class Desk:
    """Mira's two orders. `news` maps a number of tool calls to what the couriers have scanned by then; `paid` is what was really refunded."""

    def __init__(self, news=SCANS):
        self.states, self.news, self.paid, self.calls = {"C789": "on its way", "D012": "late"}, dict(news), [], 0
        self.log = []       # (call number, name, order id, the state of both then)
        self.tools = [tool(self.get_order), tool(self.refund_order)]

    def get_order(self, order_id: str) -> str:
        """Look up the state of one order.

        Args:
            order_id: such as C789
        """
        return self._called("get_order", order_id, f"{order_id}, a {_ITEMS[order_id][0]}, is {self.states[order_id]}")

    def refund_order(self, order_id: str) -> str:
        """Pay the price of one order back to the customer.

        Args:
            order_id: such as C789
        """
        self.paid.append(order_id)
        return self._called("refund_order", order_id, f"{_ITEMS[order_id][1]:,} rupees paid back for {order_id}")

    def _called(self, name, order_id, said):
        self.calls += 1
        self.log.append((self.calls, name, order_id, dict(self.states)))
        self.states.update(self.news.get(self.calls, {}))
        return said

    def still(self, expect: str):
        """A check in code: True while "D012 is late" is so, else what is so now."""
        order_id, state = expect.split(" is ")
        return self.states[order_id] == state or " and ".join(f"{o} is {s}" for o, s in self.states.items())

    def verdict(self) -> str:
        """What became of it, in a sentence."""
        wrong = [o for o in self.paid if self.states[o] not in ("late", "lost")]
        unpaid = [o for o, s in self.states.items() if s in ("late", "lost") and o not in self.paid]
        found = [f"{o} is {self.states[o]} and was refunded" for o in wrong] + [f"{o} is {self.states[o]} and was not refunded" for o in unpaid]
        return "WRONG: " + "; ".join(found) if found else "right: what has not come was refunded, and nothing else"


def desk_planner(messages, tools):
    """Plans from what it was told: which order has not come, as of the note or of the step that failed."""
    text = messages[0]["content"]
    failed = re.search(r"\) failed: (.*)", text)
    news = failed[1] if failed else text.split("\n")[0]
    order_id, state = re.findall(r"([A-Z]\d{3}) is (late|lost)", news.split(": ")[-1])[-1]
    looks = [] if failed else ["look up C789", "look up D012"]
    return Reply(tool_calls=call("make_plan", steps=[*looks, {"do": f"refund {order_id}", "expect": f"{order_id} is {state}"}]))


def desk_worker(messages, tools):
    """Does the step that the prompt names, and says what came of it."""
    text = messages[0]["content"]
    if messages[-1]["role"] == "tool":
        return Reply(messages[-1]["content"] + ".")
    step = re.search(r"Do step \d+ and nothing else: (look up|refund) (\w+)", text)
    if step is None:
        return Reply(re.findall(r"-> (.*)", text)[-1])
    return Reply(tool_calls=call("get_order" if step[1] == "look up" else "refund_order", order_id=step[2]))


# ---- a depot ---------------------------------------------------------------------------------------------------------------

MOST_MOVES = 30
ROOM = Limits(max_steps=None, max_repeats=None)


def depot(moves, size: int):
    """(task, tools): parcels on shelves. Parcel i is moved away under the first moves[i] tries to fetch it.

    A parcel that is fetched comes with a slip of `size` tokens: what a real tool would return besides. An error is short.
    """
    n, left, slip = len(moves), list(moves), " Slip: " + "x" * (4 * size)
    places = {f"P{i:02}": f"S{i:02}" for i in range(n)}

    @tool
    def fetch(parcel: str, shelf: str) -> str:
        """Fetch one parcel from a shelf.

        Args:
            parcel: such as P01
            shelf: such as S01
        """
        i = int(parcel[1:])
        if left[i]:
            left[i] -= 1
            places[parcel] = f"S{(int(places[parcel][1:]) + 37) % 100:02}"
        if shelf != places[parcel]:
            raise LookupError(f"{parcel} was moved to shelf {places[parcel]}.")
        return f"{parcel} fetched.{slip}"

    return "Fetch all parcels: " + ", ".join(f"{p} on shelf {s}" for p, s in places.items()) + ".", [fetch]


_PLACE = re.compile(r"(P\d\d) (?:on|from|was moved to) shelf (S\d\d)")


def fetcher(messages, tools):
    """ReAct on a depot: one parcel after the other, from where it was last seen."""
    known = dict(_PLACE.findall(messages[0]["content"]))
    fetched = 0
    for m in messages[1:]:
        if m["role"] == "tool":
            known.update(_PLACE.findall(m["content"]))
            fetched += " fetched." in m["content"]
    if fetched == len(known):
        return Reply("All parcels are here.")
    parcel = f"P{fetched:02}"
    return Reply(tool_calls=call("fetch", parcel=parcel, shelf=known[parcel]))


def depot_planner(messages, tools):
    """One step for each parcel that is left, from where it was last seen."""
    text = messages[0]["content"]
    done = set(re.findall(r"fetch (P\d\d) from shelf S\d\d ->", text))
    known = dict(_PLACE.findall(text))      # the task first, then the failure: what comes later counts
    return Reply(tool_calls=call("make_plan", steps=[f"fetch {p} from shelf {s}" for p, s in known.items() if p not in done]))


def depot_worker(messages, tools):
    """Fetches the one parcel of its step; where it has been moved, it gives the step up and says so."""
    last = messages[-1]
    if last["role"] == "tool":
        moved = _PLACE.search(last["content"])
        return Reply(tool_calls=call("step_failed", why=moved[0])) if moved else Reply(last["content"][:3] + " is here.")
    step = re.search(r"nothing else: fetch (P\d\d) from shelf (S\d\d)", last["content"])
    return Reply(tool_calls=call("fetch", parcel=step[1], shelf=step[2])) if step else Reply("All parcels are here.")


def react_run(moves, size: int):
    """The task through a plain run()."""
    task, tools = depot(moves, size)
    return run(fetcher, tools, task, limits=ROOM)


def plan_run(moves, size: int, max_replans: int):
    """The same task through plan_and_execute()."""
    task, tools = depot(moves, size)
    return plan_and_execute(depot_worker, tools, task, planner=depot_planner, max_replans=max_replans, limits=ROOM)


# ---- the same in arithmetic, for thousands of tasks at once --------------------------------------------------------------------

@lru_cache(maxsize=256)
def draw(q: float, n: int, tasks: int, seed: int) -> np.ndarray:
    """tasks x n: how often each parcel is moved away. Each time somebody reaches for one, it has been moved with probability q."""
    return np.minimum(np.random.default_rng(seed).geometric(1 - q, (tasks, n)) - 1, MOST_MOVES)


class Spent(NamedTuple):
    """One entry for each task: did it succeed, its model calls, its tokens (sent and written)."""

    success: np.ndarray
    calls: np.ndarray
    tokens: np.ndarray


class Sizes(NamedTuple):
    """Tokens of single calls, read off two real runs: of a plan's by how many parcels are done, of ReAct's by what comes before."""

    plan: int
    good: np.ndarray        # both calls of a step that works
    bad: np.ndarray         # both calls of a step that is given up
    replan: np.ndarray
    answer: int
    base: int               # ReAct's first call, without what is written
    hit: int                # what a try adds to the list, when it works
    miss: int               # and when it does not
    wrote: int
    last: int


def sizes(n: int, size: int) -> Sizes:
    """The sizes where a parcel comes with a slip of so many tokens: a step sends it once, ReAct in every later call."""
    s = measured(n)
    return s._replace(good=s.good + size, hit=s.hit + size)


@lru_cache(maxsize=64)
def measured(n: int) -> Sizes:
    """Measured, not thought out, with short results: a run of ReAct, and two of the plan, in which every second parcel is moved."""
    def bills(result):
        return [(e["prompt_tokens"], e["usage"]["output_tokens"]) for e in result.journal.of("reply")]

    steps = np.zeros((5, n), dtype=int)         # try, give up, replan, try again, done
    for odd in (0, 1):
        each = [a + b for a, b in bills(plan_run([i % 2 == odd for i in range(n)], 0, n))]
        calls = iter(each[1:-1])
        for i in range(n):
            steps[3 * (i % 2 != odd):, i] = [next(calls) for _ in range(5 if i % 2 == odd else 2)]
    turns = bills(react_run([1] * n, 0))
    return Sizes(each[0], steps[3] + steps[4], steps[0] + steps[1], steps[2], each[-1], turns[0][0], turns[2][0] - turns[1][0],
                 turns[1][0] - turns[0][0], turns[0][1], turns[-1][1])


def plan_spends(moves: np.ndarray, size: int, max_replans: int) -> Spent:
    """What plan_run() spends on each task."""
    n = moves.shape[1]
    s, upto = sizes(n, size), moves.cumsum(axis=1)
    done = upto <= max_replans
    failed = np.diff(np.minimum(upto, max_replans + 1), axis=1, prepend=0)
    replans = np.diff(np.minimum(upto, max_replans), axis=1, prepend=0)
    success = done[:, -1]
    tokens = s.plan + done @ s.good + failed @ s.bad + replans @ s.replan + success * s.answer
    return Spent(success, 1 + 2 * done.sum(1) + 2 * failed.sum(1) + replans.sum(1) + success, tokens)


def react_spends(moves: np.ndarray, size: int) -> Spent:
    """What react_run() spends on each task: every call sends all that came before it."""
    n = moves.shape[1]
    s, upto = sizes(n, size), moves.cumsum(axis=1)
    calls = n + upto[:, -1] + 1
    at = np.arange(1, n + 1) + upto                     # the call that fetches parcel i
    after = calls[:, None] - at                         # calls that send its result again
    misses = moves * after + moves * (moves + 1) // 2   # the tries before it lie 1, 2, ... calls further back
    tokens = calls * s.base + s.hit * after.sum(1) + s.miss * misses.sum(1) + (calls - 1) * s.wrote + s.last
    return Spent(np.ones(len(moves), bool), calls, tokens)


def plan_succeeds(q: float, n: int, max_replans: int) -> float:
    """The formula: at most max_replans failures before the n-th success."""
    from math import comb
    return sum(comb(n + k - 1, k) * q ** k * (1 - q) ** n for k in range(max_replans + 1))
