"""Evals: a task set as data, run on one version of an agent, every run judged by the end state of its world and never by its words.

    @checker
    def settled(world, result, refunded=()):
        return world.refunds == list(refunded) or f"refunded {world.refunds}, expected {list(refunded)}"

    tasks = [Task("late-1", "Order A1 is late ...", check="settled", args={"refunded": ["A1"]}, tools=("get_order", "refund_order"))]
    report = evaluate(agent, tasks, executor=lambda: ThreadPoolExecutor(8))     # agent(task) -> (Result, world), both new each time
"""

from __future__ import annotations

import difflib
import inspect
import json
import secrets
from collections.abc import Callable, Iterable
from concurrent.futures import Executor
from copy import deepcopy
from dataclasses import asdict, dataclass, field, fields, replace
from pathlib import Path

from .eval_report import LOST, Comparison, Report, Row, digest
from .eval_sweep import bar, sweep
from .messages import clean
from .tools import describe
from .workers import run_together

__all__ = ["Comparison", "Report", "Row", "Task", "checker", "evaluate", "load_tasks", "save_tasks", "task_from"]

CHECKERS: dict[str, Callable] = {}


# ---- a task ----------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Task:
    """One task, as data: what the agent is asked, the world it starts in, and the name of the checker that judges the end state."""

    id: str
    text: str
    check: str                              # the name of a function marked with @checker
    args: dict = field(default_factory=dict)        # for the checker, beside the world and the result
    setup: dict = field(default_factory=dict)       # the world at the start; every run gets a copy of its own
    tools: tuple[str, ...] = ()             # tools that a good run calls, in this order; others may stand between them
    never: tuple[str, ...] = ()             # tools that a good run does not call
    status: str = "done"                    # how a good run ends
    group: str = ""                         # tasks of one kind, for reading a report
    trial: int = 0                          # which repeat this is; evaluate() counts them

    def __post_init__(self):
        for name in ("id", "text", "check"):
            if not isinstance(value := getattr(self, name), str) or not value.strip():
                raise ValueError(f"Task: {name} must be a text that says something, not {value!r:.80}")
        for name in ("tools", "never"):
            if isinstance(value := getattr(self, name), str):
                raise TypeError(f"Task {self.id}: {name} takes several names, ({value!r},), not one text")
            object.__setattr__(self, name, tuple(value))


def checker(fn: Callable) -> Callable:
    """Mark a function as a checker: fn(world, result, **args) returns True, or what is wrong in words. Tasks name it."""
    known = CHECKERS.get(fn.__name__)
    if known is not None and known.__module__ != fn.__module__:
        raise ValueError(f"there is a checker {fn.__name__!r} already, in {known.__module__}: give this one a name of its own")
    CHECKERS[fn.__name__] = fn
    return fn


def save_tasks(tasks: Iterable[Task], path) -> Path:
    """Write a task set as JSON Lines, one task a line, what is left at its default left out; returns the path."""
    lines = []
    for task in tasks:
        values = {f.name: getattr(task, f.name) for f in fields(task)}
        kept = {name: v for name, v in values.items() if v not in ("", (), {}, 0) and (name, v) != ("status", "done")}
        lines.append(json.dumps(kept, ensure_ascii=False) + "\n")
    path = Path(path)
    path.write_text("".join(lines), encoding="utf-8")
    return path


def load_tasks(path) -> list[Task]:
    """The tasks of a JSON Lines file. Raises ValueError that names the line."""
    tasks = []
    for n, line in enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1):
        if line.strip():
            try:
                tasks.append(Task(**json.loads(line)))
            except (ValueError, TypeError) as error:
                raise ValueError(f"{path}, line {n}: {error}") from None
    return tasks


def task_from(journal, id: str, check: str, **more) -> Task:
    """A task made of a run that went wrong: its text is taken from the record; what should have come of it, you say."""
    start = next((e for e in journal.events if e["kind"] == "start"), None)
    if start is None:
        raise ValueError("this journal holds no run")
    return Task(id, start["task"], check, **more)


# ---- a sweep ---------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class _Job:
    """What travels to a worker: one run of one task. `once` keeps a cluster from taking two equal jobs for one."""

    agent: Callable
    task: Task
    check: Callable
    timeout: float | None
    once: str


def evaluate(agent: Callable, tasks: Iterable[Task], *, repeats: int = 1, executor: Executor | Callable[[], Executor] | None = None,
             timeout: float | None = 600.0, progress=None, name: str | None = None) -> Report:
    """Run every task `repeats` times and judge every run. `agent(task)` returns (Result, world): a new run in a new world.

    `executor` None runs one after the other; an Executor (threads, processes, a Dask client's) is used and left open; a
    function that makes one, such as `lambda: ProcessPoolExecutor(4, mp_context=get_context("spawn"))`, is called, and once
    more whenever a worker process has died. `timeout` is in seconds for each run; a hung one is left behind in its worker.
    `progress` is True for a bar, or anything with an update(n). The rows have the order of the tasks.

    An agent or checker that raises, a run that hangs and a worker that dies cost one row each, a "harness error" that says
    why. Raises at once for a programmer's mistake: two tasks with one id, an unknown checker, what cannot be sent to a process.
    """
    tasks = list(tasks)
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:
        raise ValueError(f"repeats must be a whole number of at least 1, not {repeats!r}")
    if timeout is not None and (isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0):
        raise ValueError(f"timeout must be a number of seconds above 0, or None to wait for ever, not {timeout!r}")
    if len(twice := {t.id for t in tasks}) < len(tasks):
        raise ValueError(f"an id stands for one task: {next(i for i in twice if sum(t.id == i for t in tasks) > 1)!r} is used twice")
    checks = {task.id: _checker_of(task) for task in tasks}
    jobs = [_Job(agent, replace(task, trial=n), checks[task.id], timeout, secrets.token_hex(8)) for task in tasks for n in range(repeats)]
    name = name or str(getattr(agent, "name", None) or getattr(agent, "__name__", None) or type(agent).__name__)
    rows: dict[str, Row] = {}
    with bar(progress, len(jobs), name) as tick:
        def take(job: _Job, row: Row) -> None:
            rows[job.once] = row
            tick()

        sweep(executor, run_job, jobs, take, lambda job, why: take(job, _lost(job, why)))
    return Report(name, tuple(rows[job.once] for job in jobs))


def _checker_of(task: Task) -> Callable:
    found = CHECKERS.get(task.check)
    if found is None:
        near = difflib.get_close_matches(task.check, CHECKERS, 1)
        raise ValueError(f"task {task.id}: no checker {task.check!r}; " + (f"did you mean {near[0]!r}? " if near else "")
                         + f"known: {', '.join(sorted(CHECKERS)) or 'none'}. A checker is known once its module is imported")
    try:
        inspect.signature(found).bind(None, None, **task.args)
    except TypeError as error:
        raise ValueError(f"task {task.id}: the checker {task.check} cannot be called with {sorted(task.args)} ({error})") from None
    return found


def run_job(job: _Job) -> Row:
    """One run and its verdict, wherever this is called. Never raises for what the agent or the checker does."""
    def judged():
        task = deepcopy(job.task)           # whatever the agent does to it, the next run starts clean
        result, world = job.agent(task)
        verdict = job.check(world, result, **deepcopy(job.task.args))
        if verdict is not True and verdict is not False and not isinstance(verdict, str):
            raise TypeError(f"the checker {job.task.check} must return True or what is wrong in words, not {verdict!r:.80}")
        return _row(job.task, result, verdict)

    try:
        return judged() if job.timeout is None else run_together([judged], [job.timeout])[0].result()
    except (Exception, SystemExit) as error:
        return _lost(job, describe(error))


def _row(task: Task, result, verdict) -> Row:
    events = {e["id"]: e for e in result.journal.of("result")}
    asked = [c["id"] for e in result.journal.of("reply") for c in (e["message"] or {}).get("tool_calls", ())]     # in call order
    ran = [events[i] for i in asked if i in events and events[i]["ran"]]
    worked = [e["name"] for e in ran if not e["error"]]
    wrong = [] if verdict is True else [clean(verdict) if verdict else f"{task.check} says no"]
    if result.status != task.status:
        wrong.insert(0, f"the run ended as {result.status}, not as {task.status}")
    no_path, rest = not (task.tools or task.never), iter(worked)
    return Row(
        task.id, task.trial, not wrong, "; ".join(wrong), result.status, group=task.group,
        right_tools=None if no_path else set(task.tools) <= set(worked) and not {e["name"] for e in ran} & set(task.never),
        right_order=None if len(task.tools) < 2 else all(name in rest for name in task.tools),      # a subsequence
        calls=tuple(e["name"] for e in ran), steps=result.steps, tokens=result.usage.total_tokens, usd=result.usage.cost_usd,
        answer=None if result.answer is None else result.answer[:300], of=digest(asdict(task)),
        seconds=max((e["elapsed"] for e in result.journal.of("end")), default=None))


def _lost(job: _Job, why: str) -> Row:
    return Row(job.task.id, job.task.trial, None, why[:300], LOST, group=job.task.group, of=digest(asdict(job.task)))
