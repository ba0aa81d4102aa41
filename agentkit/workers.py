"""Calls beside each other, and calls that end on time: threads that are left behind, and processes that are stopped."""

from __future__ import annotations

import contextvars
import os
import pickle
import queue
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

MAX_ABANDONED = 32          # threads that may be left behind at a time-out, and jobs that run beside each other
_SLICE = 0.5                # seconds of one wait; between two of them Ctrl-C comes through on every system

_left_behind: list[threading.Thread] = []
_lock = threading.Lock()


class Outcome(NamedTuple):
    """What a job came to: a value, or the error that it raised."""

    value: object = None
    error: BaseException | None = None      # a BaseException that is no Exception is there to be raised again

    def result(self):
        """The value; raises the error where there is one."""
        if self.error is not None:
            raise self.error
        return self.value


class TooManyAbandoned(RuntimeError):
    """A job that was not started, because too many others still hang."""


def abandoned() -> list[str]:
    """The names of the threads that were left behind at a time-out and still run."""
    with _lock:
        _left_behind[:] = [thread for thread in _left_behind if thread.is_alive()]
        return [thread.name for thread in _left_behind]


def run_together(jobs: Sequence[Callable[[], object]], timeouts: Sequence[float | None],
                 on_done: Callable[[int, Outcome], None] | None = None) -> list[Outcome]:
    """Run jobs in threads beside each other; their outcomes, in the order of the jobs.

    `timeouts` are seconds from a job's own start; None waits for ever. At a time-out the job's outcome is a TimeoutError
    and the caller goes on: a thread cannot be killed, so it is left behind, and `abandoned()` counts it until it ends.
    `on_done(i, outcome)` is called in the caller's thread as soon as job i is finished, whatever its siblings do.
    A job that raises loses nobody else's outcome. Ctrl-C in the caller passes through.
    """
    jobs, timeouts = list(jobs), list(timeouts)
    if len(jobs) != len(timeouts):
        raise ValueError(f"{len(jobs)} jobs and {len(timeouts)} timeouts: give each job its own, None for no limit")
    outcomes: list[Outcome | None] = [None] * len(jobs)
    running: dict[int, tuple[threading.Thread, float]] = {}     # job -> (its thread, when its time is up)
    ended: dict[int, Outcome] = {}                              # written by the threads
    bell: queue.SimpleQueue = queue.SimpleQueue()               # rung by the threads
    waiting = list(range(len(jobs)))[::-1]

    def done(i, outcome):
        running.pop(i, None)
        outcomes[i] = outcome
        if on_done is not None:
            on_done(i, outcome)

    try:
        while waiting or running:
            while waiting and (not running or len(running) + len(abandoned()) < MAX_ABANDONED):
                i = waiting.pop()
                if (refused := _start(jobs[i], timeouts[i], i, ended, bell, running)) is not None:
                    done(i, Outcome(error=refused))
            _wait(bell, running)
            for i in list(running):     # in the order in which they were started
                thread, end = running[i]
                if i in ended:
                    done(i, ended[i])
                elif time.monotonic() >= end:
                    _leave(thread)
                    done(i, Outcome(error=TimeoutError(f"no result within {timeouts[i]:g} s; whether it took effect is not known")))
    finally:
        for thread, _ in running.values():      # only when something passes through
            _leave(thread)
    return outcomes


def _start(job, timeout, i, ended, bell, running) -> Exception | None:
    """Start a job in a thread of its own; the error that says why it could not be."""
    if timeout is not None and len(left := abandoned()) >= MAX_ABANDONED:
        return TooManyAbandoned(f"not started: {len(left)} earlier calls were abandoned at their time-out and still run "
                                f"(such as {left[0]}); the most is {MAX_ABANDONED}. Wait for them, or run such a tool in a process")
    context = contextvars.copy_context()        # a copy for each: a context cannot be entered twice at once

    def work():
        try:
            ended[i] = Outcome(context.run(job))
        except BaseException as error:          # it belongs to the caller, and must not end in a thread's excepthook
            ended[i] = Outcome(error=error)
        bell.put(i)

    thread = threading.Thread(target=work, daemon=True, name=str(getattr(job, "__name__", f"job {i}")))
    running[i] = thread, float("inf")           # before it starts: Ctrl-C may come at any line
    try:
        thread.start()
    except RuntimeError as error:               # the system has no thread left to give
        del running[i]
        return error
    running[i] = thread, float("inf") if timeout is None else time.monotonic() + timeout
    return None


def _wait(bell, running):
    """Until a job has ended or its time is up."""
    end = min((end for _, end in running.values()), default=0.0)
    try:
        bell.get(timeout=min(_SLICE, max(0.0, end - time.monotonic())))
    except queue.Empty:
        pass


def _leave(thread):
    with _lock:
        _left_behind.append(thread)


# ---- a process, for what must be stopped -----------------------------------------------------------------------------

def in_process(fn: Callable, arguments: Mapping, timeout: float | None):
    """fn(**arguments) in a process of its own, which is killed at the time-out; nothing that it has started outlives it.

    `timeout` is in seconds and counts from the start, the process's own start included (some tenths of a second).
    Raises what fn raises, TimeoutError at the time-out, TypeError for what cannot be sent to another process (a lambda,
    a function of a notebook, a lock, an open file), and RuntimeError where the process ends without a result.
    """
    import multiprocessing      # here, because few need it

    name = getattr(fn, "__name__", type(fn).__name__)
    try:
        job = pickle.dumps((fn, dict(arguments)))
    except Exception as error:
        raise TypeError(f"{name} cannot be sent to a process ({type(error).__name__}: {error}): the function must stand in a module "
                        "that can be imported, and its arguments must be plain values") from None
    spawn = multiprocessing.get_context("spawn")
    here, there = spawn.Pipe(duplex=False)
    process = spawn.Process(target=_child, args=(there, job), daemon=True, name=name)
    try:
        process.start()
        there.close()
        kind, told = _answer(here, process, name, timeout)
    finally:
        here.close()
        _kill(process)
    if kind == "value":
        return pickle.loads(told)
    if kind == "error":
        raise pickle.loads(told)
    raise RuntimeError(told) if kind == "raised" else TypeError(told)


def _answer(here, process, name, timeout):
    """(kind, bytes or text) from the child."""
    end = None if timeout is None else time.monotonic() + timeout
    while not here.poll(_SLICE if end is None else min(_SLICE, max(0.0, end - time.monotonic()))):
        if end is not None and time.monotonic() >= end:
            raise TimeoutError(f"no result within {timeout:g} s; the process of {name} was stopped, and what it did before that is not known")
    try:
        return here.recv()
    except EOFError:
        process.join(1)
        raise RuntimeError(f"the process of {name} ended without a result (exit code {process.exitcode}). A script that starts processes "
                           "keeps its own work under: if __name__ == '__main__'") from None


def _child(there, job):
    """What the new process does: load, run, answer."""
    if hasattr(os, "setsid"):
        os.setsid()         # a group of its own: it is killed as a whole, and Ctrl-C is the caller's business
    else:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        fn, arguments = pickle.loads(job)
    except Exception as error:
        there.send(("unknown", f"the function cannot be found by another process ({type(error).__name__}: {error}): it must stand in a "
                               "module that can be imported, not in a notebook or at the prompt"))
        return
    try:
        value = fn(**arguments)
    except BaseException as error:
        there.send(_packed("error", error) or ("raised", f"{type(error).__name__}: {error}"))
        return
    there.send(_packed("value", value) or ("unsendable", f"the result, a {type(value).__name__}, cannot be sent back from the process: return plain values"))


def _packed(kind, value):
    """(kind, bytes) if the value survives the way there and back, else None."""
    try:
        data = pickle.dumps(value)
        pickle.loads(data)
        return kind, data
    except Exception:
        return None


def _kill(process):
    """End the process and its children, if they still run."""
    if process.pid is None:
        return
    if hasattr(os, "killpg"):
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except (ProcessLookupError, PermissionError):
            pass            # it has ended, or has not come as far as a group of its own
    process.kill()
    process.join()
    process.close()
