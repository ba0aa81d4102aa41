"""Sub-agents: a run of its own, with a list of its own, as one tool of another run. Its results stay out, its spending does not."""

from __future__ import annotations

import re
import secrets
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace

from ..journal import Journal
from ..limits import Limits
from ..loop import Result, run
from ..messages import Spent, ToolCall, Usage, to_text
from ..tools import Registry, Tool, ToolResult, bounded, describe, running
from .hooks import Hook

_REPORT = "Whoever gave you this task sees your last text and nothing else of your work. Answer in at most {:,} characters."
_SCHEMA = {"properties": {"task": {"type": "string", "minLength": 1, "description": "what to do, with all that has to be known for it: "
                                   "nothing else of this conversation is passed on"}}, "required": ["task"]}
_TOO_DEEP = ("ERROR: {} was not started: this is a run of depth {}, and its sub-agents end at depth {}. Do this part of the task yourself, "
             "or say that it cannot be done.")
_WAITS = ("It asked for {}, which a person has to approve, and a sub-agent cannot wait for a person: nothing of that reply ran. "
          "If it is right, ask for it yourself, with a tool of your own.")


@dataclass(frozen=True)
class SubAgent(Tool):
    """The tool that starts a sub-agent; make it with subagent()."""

    max_depth: int = 1      # of the deepest run that it may start: 1 under a run of your own

    def __post_init__(self):
        super().__post_init__()
        if self.timeout is not None:
            raise ValueError(f"{self.name}: a sub-agent has no timeout, because the thread that is left behind goes on spending and nobody "
                             "counts it. Give it limits=Limits(max_seconds=...), which stops it between two calls")


def subagent(model, tools: Iterable[Tool], *, name: str, description: str, system: str = "", limits: Limits = Limits(), max_depth: int = 1,
             summary_chars: int = 2_000, hooks=(), journals=None, on_result: Callable[[Result], object] | None = None,
             parallel: bool = False, needs_approval: bool = False) -> Tool:
    """A tool with one argument, `task`: it runs `model` with `tools` on a list of its own and returns a short text.

    The text is its answer, or what stopped it and what it had done; at most `summary_chars` and a note where it was cut.
    It may use `limits` and never more than the run that asks has left; what it used is charged to that run, once. It
    asks the same person, passes the same before_tool gates (then its own `hooks`), and counts, prices and times alike.

    With max_depth=2 the sub-agent has this tool itself, one level further down, and so on. `journals` is a folder that
    each record is kept in; `on_result(result)` is told how each one ended. Outside a run it works alone.
    Raises TypeError or ValueError at once for a programmer's mistake.
    """
    tools = tuple(tools)
    Registry(tools)     # a broken tool shows now, not in the run
    if not callable(model):
        raise TypeError(f"{name}: a model is a function, model(messages, tools) -> Reply, not {model!r:.80}")
    if not isinstance(limits, Limits):
        raise TypeError(f"{name}: limits takes Limits(...), not {limits!r:.80}")
    for what, n, least in (("max_depth", max_depth, 1), ("summary_chars", summary_chars, 100)):
        if isinstance(n, bool) or not isinstance(n, int) or n < least:
            raise ValueError(f"{name}: {what} must be a whole number of at least {least}, not {n!r:.40}")
    if shallow := [t.name for t in tools if isinstance(t, SubAgent) and t.max_depth < 2]:
        raise ValueError(f"{name}: {', '.join(shallow)} could never run inside it: a sub-agent of a sub-agent needs max_depth=2 or more")
    own = list(hooks) if isinstance(hooks, (list, tuple)) else [hooks] if hooks else []
    folder = None if journals is None else Path(journals)
    system = "\n\n".join(filter(None, (system.strip(), _REPORT.format(summary_chars))))

    def work(task):
        now = running()
        depth = now.depth + 1 if now else 0
        if depth > max_depth:
            return ToolResult(_TOO_DEEP.format(name, now.depth, max_depth), error=True)
        mine = [t for t in (*tools, itself) if not isinstance(t, SubAgent) or depth < t.max_depth]
        options = dict(now.options) if now else {}
        options["hooks"] = [*_gates(options.get("hooks", ())), *own]
        options["limits"] = limits.at_most(now.left()) if now else limits
        journal = _journal(folder, name)
        try:
            result = run(model, mine, task, system=system, journal=journal, **options)
            _tell(on_result, result)
        except Exception as error:      # such as a record that cannot be written; what was used is charged all the same
            return ToolResult(f"ERROR: {name} broke off: {describe(error)}", True, _so_far(journal))
        finally:
            journal.close()
        return ToolResult(_text(name, result, summary_chars), result.status != "done", Spent.of(result))

    itself = SubAgent(name, description, _SCHEMA, work, parallel=parallel, needs_approval=needs_approval, max_depth=max_depth)
    if name in {t.name for t in tools}:
        raise ValueError(f"two tools are called {name!r}: the sub-agent and one of its own")
    return itself


def _gates(hooks) -> list[Hook]:
    """What the hooks of the run that asks say of a call holds for the calls of its sub-agents too; the rest is about its own list."""
    return [Hook(getattr(h, "name", None), before_tool=fn) for h in hooks if callable(fn := getattr(h, "before_tool", None))]


def _text(name: str, result: Result, most: int) -> str:
    """What the one who asked is told."""
    if result.status == "done":
        return bounded(result.answer, most)
    text = f"ERROR: {name} did not finish ({result.status}). {result.report}"
    if result.pending:
        text += " " + _WAITS.format(" and ".join(_written(c) for c in result.pending))
    said = next((m["content"] for m in reversed(result.messages) if m["role"] == "assistant" and m["content"]), None)
    return bounded(text + (f"\nIts last words: {said}" if said else ""), most)


def _written(call: ToolCall) -> str:
    return f"{call.name}({', '.join(f'{k}={to_text(v)}' for k, v in call.arguments.items())})"


def _journal(folder: Path | None, name: str) -> Journal:
    """A record of its own; in a folder, one file each, which names the call that it works for."""
    if folder is None:
        return Journal()
    folder.mkdir(parents=True, exist_ok=True)
    key = running().key if running() else "alone"
    run_id = f"{re.sub(r'[^A-Za-z0-9_-]+', '-', key)[:80]}-{name}-{secrets.token_hex(4)}"
    return Journal(folder / f"{run_id}.sqlite", run_id=run_id)


def _tell(on_result, result: Result) -> None:
    """An observer that raises is recorded, and costs nobody the result."""
    if on_result is not None:
        try:
            on_result(result)
        except Exception as error:
            with suppress(Exception):
                result.journal.add("hook", step=result.steps, hook="on_result", at="the_end", raised=describe(error))


def _so_far(journal: Journal) -> Spent:
    """What a run that broke off had used, as far as its record goes."""
    usage = Usage(0, 0, cost_usd=0.0)
    for event in (*journal.of("reply"), *(e["spent"] for e in journal.of("result", "view", "hook") if e.get("spent"))):
        usage += Usage(**event["usage"])
    others = sum(e["spent"]["steps"] for e in journal.of("result", "view", "hook") if e.get("spent"))
    return Spent.of(SimpleNamespace(journal=journal, usage=usage, steps=len(journal.of("reply")) + others))
