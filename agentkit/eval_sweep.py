"""Jobs on any concurrent.futures executor, so that no job costs another one its result. What a job is, stands in evals.py."""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, as_completed
from contextlib import contextmanager

from .tools import describe

DIED = "its worker process died"
UNTRIED = ("not run: the pool had broken, because a worker process died at one of the tasks; "
           "give evaluate() a function that makes the pool, and it goes on in a new one")


def sweep(executor, work: Callable, jobs: Sequence, take: Callable, lose: Callable) -> None:
    """See to every job: `take(job, work(job))` is called for each that comes back, `lose(job, why)` for each that cannot.

    `executor` is None (here, one after the other), an Executor, or a function that makes one.
    """
    if executor is None:
        for job in jobs:
            take(job, work(job))
    elif isinstance(executor, Executor):
        for job in _together(executor, work, jobs, take, lose):
            lose(job, UNTRIED)
    elif callable(executor):
        _again(executor, work, jobs, take, lose)
    else:
        raise TypeError(f"executor takes an Executor or a function that makes one, not {executor!r:.80}")


def _together(pool: Executor, work, jobs: Sequence, take, lose) -> list:
    """Run jobs in a pool; returns those that it could not see to, because it broke."""
    processes = sys.modules.get("concurrent.futures.process")      # slow to import: here only where the caller has done so
    if processes is not None and isinstance(pool, processes.ProcessPoolExecutor) and jobs:
        _sendable((work, jobs[0]), pool)
    futures, left = {}, set()       # left: places in jobs
    try:
        for i, job in enumerate(jobs):
            try:
                futures[pool.submit(work, job)] = i
            except BrokenExecutor:
                left.add(i)
        for future in as_completed(futures):
            job = jobs[futures[future]]
            error = None if future.cancelled() else future.exception()
            if error is not None and not isinstance(error, Exception):
                raise error                 # Ctrl-C in a worker
            if isinstance(error, BrokenExecutor):
                left.add(futures[future])
            elif error is not None or future.cancelled():
                lose(job, "cancelled" if error is None else DIED if type(error).__name__ == "KilledWorker" else describe(error))
            else:
                take(job, future.result())
    except BaseException:           # leave nothing behind that still waits for a worker
        for future in futures:
            future.cancel()
        raise
    return [job for i, job in enumerate(jobs) if i in left]


def _again(make: Callable[[], Executor], work, jobs: Sequence, take, lose) -> None:
    """Run jobs in pools made as they are needed. After a break the earliest missing jobs run one by one, until the one is
    found that breaks a pool even when it is alone; then the rest goes on together."""
    left = jobs
    while left:
        with make() as pool:
            left = _together(pool, work, left, take, lose)
        while left:
            with make() as pool:
                if pool.submit(int).exception() is not None:
                    raise RuntimeError("the workers of this pool die before they are given a task. A script that starts processes keeps "
                                       "its own work under: if __name__ == '__main__'")
                job, alone = left[0], bool(_together(pool, work, left[:1], take, lose))
            left = left[1:]
            if alone:
                lose(job, DIED)
                break


def _sendable(work, pool: Executor) -> None:
    """Refuse at once what no other process could read: it would break the pool, or be a harness error for every task."""
    try:
        data = pickle.dumps(work)
    except Exception as error:
        raise TypeError(f"evaluate() sends the agent and the checker to another process, and they cannot be sent ({type(error).__name__}: {error}): "
                        "they must stand in a module that can be imported; a lambda or a function inside a function cannot") from None
    method = getattr(getattr(pool, "_mp_context", None), "get_start_method", lambda: "spawn")()
    if b"__main__" in data and method != "fork" and not hasattr(sys.modules.get("__main__"), "__file__"):
        raise TypeError("evaluate() sends the agent and the checker to another process, and that process has not run this notebook: put them "
                        "in a module that it can import, or use threads")


@contextmanager
def bar(progress, total: int, name: str) -> Iterator[Callable[[], object]]:
    """What is called after each run."""
    if progress is True:
        from tqdm import tqdm
        with tqdm(total=total, desc=name, unit="run") as bar:
            yield bar.update
    elif progress:
        yield lambda: progress.update(1)
    else:
        yield lambda: None
