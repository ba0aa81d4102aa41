"""A crowd of clients that retry against a server of fixed capacity, on a clock of its own. Notebook 10 stands on it; its
pictures are in retry_views.py.

The server is a stand-in: it works off `capacity` requests a second, one after the other, has room for one second's work,
and refuses the rest at once. Refusing costs it nothing, which flatters every policy; a real server pays for that, too.
"""

import functools
import heapq
import random
from collections import Counter
from dataclasses import dataclass

from agentkit.retry import Retry, Transient

TOGETHER = 0.2      # seconds within which all clients send their first request
ROOM = 1.0          # seconds of work that may wait at the server
HEADER = ("how the crowd waits", "answered", "gave up", "requests", "server busy", "last answer")


@dataclass(frozen=True)
class Crowd:
    """What became of a crowd. Times are seconds from the start."""

    sent: tuple[float, ...]         # every request, retries included
    finished: tuple[float, ...]     # every answer
    gave_up: int                    # clients without an answer
    capacity: float                 # requests that the server works off in a second

    @property
    def busy(self) -> float:
        """The share of the time up to the last answer in which the server had work."""
        return len(self.finished) / self.capacity / self.finished[-1]

    def row(self, name: str) -> tuple[str, ...]:
        """One row of a table under HEADER."""
        return (name, f"{len(self.finished)}", f"{self.gave_up}", f"{len(self.sent):,}", f"{self.busy:.0%}", f"{self.finished[-1]:.1f} s")


def simulate(clients: int, capacity: float, attempts: int, delay, seed: int = 0) -> Crowd:
    """Let every client try until it is served or out of attempts; `delay(attempt, rng)` is its wait after a refusal."""
    rng = random.Random(seed)
    events = [(TOGETHER * rng.random(), client, 1) for client in range(clients)]
    heapq.heapify(events)                               # (when, who, which attempt), the next one first
    sent, finished, gave_up, busy_until = [], [], 0, 0.0
    while events:
        now, client, attempt = heapq.heappop(events)
        sent.append(now)
        if busy_until - now < ROOM:                     # there is room: the server takes it
            busy_until = max(busy_until, now) + 1 / capacity
            finished.append(busy_until)
        elif attempt < attempts:                        # refused: come back later
            heapq.heappush(events, (now + delay(attempt, rng), client, attempt + 1))
        else:
            gave_up += 1
    return Crowd(tuple(sent), tuple(finished), gave_up, capacity)


def backoff(asked: float = 0.0, **settings):
    """A delay(attempt, rng) by agentkit's own rule, Retry(**settings), where the server asks for `asked` seconds."""
    told, jitter = Transient(retry_after=asked), Retry(**settings).jitter
    still = functools.lru_cache(None)(lambda attempt: Retry(**{**settings, "jitter": 0}).delay(attempt, told))  # the same for everybody
    return lambda attempt, rng: still(attempt) * (1 + jitter * rng.random())


def per_second(times) -> Counter:
    """How many of the times fall into each second."""
    return Counter(map(int, times))


@functools.lru_cache(maxsize=256)
def crowd(clients: int = 500, capacity: int = 50, base: float = 1.0, jitter: bool = True, attempts: int = 4, asked: float = 0.0) -> Crowd:
    """A crowd by its settings alone: what the lab draws."""
    return simulate(clients, capacity, attempts, backoff(asked, base=base, jitter=1.0 if jitter else 0.0), seed=1)
