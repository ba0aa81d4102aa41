"""A workflow: plain Python lays down the path, a model fills in the steps, and run() keeps its limits, approvals and record."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable
from dataclasses import replace

from agentkit import Journal, Reply, Result, Tool, ToolCall, Usage, resume, run

from .workflow_steps import FILL_IN, UNDECIDED, Answered, Ask, Asking, Calling, StepFailed, ask, turns

__all__ = ["ask", "workflow", "resume_workflow", "model_calls", "StepFailed", "Workflow", "WorkflowError"]
_FREE = Usage(0, 0)     # a step that your code makes asks no model


class WorkflowError(Exception):
    """A workflow that cannot go on: it raised, yielded something else than a step, or went another way when it was run again."""


def workflow(steps: Callable, model, tools, task: str, **options) -> Result:
    """Run a workflow on a task. `steps(task)` is a generator that yields steps and returns the answer:

        def ticket(task):
            kind = yield ask("classify", f"Which kind of ticket is this?\\n{task}", choices=["refund", "question"])
            policy = yield call("find_policy", kind=kind)
            return (yield ask("draft", f"Answer the customer by this policy: {policy}\\n{task}"))

    A yielded call runs like a model's call: allow-list, schema, approval, limits. A list of calls is one reply and returns a
    list of texts. A step that fails raises StepFailed at its yield. `options` are those of run().

    At each pass the generator is driven again through all that is on record, so that a run can wait for a person, stop or
    crash and go on (resume_workflow) with no step made twice. Hence one rule: the code between two yields is deterministic
    and has no effect outside. Time, chance, files and payments belong in tools. A workflow that goes another way is stopped.

    Each yield and the answer are one pass and count as one step, also against max_steps; a pass that asks no model costs no
    tokens. model_calls(result) is the number of those that do. A workflow that raises ends the run with "model_error":
    mend it and resume.
    """
    flow = Workflow(steps, model, options.get("count_tokens"))
    return run(flow, flow.tools(tools), task, **options)


def resume_workflow(journal: Journal, steps: Callable, model, tools, decisions=None, **options) -> Result:
    """Go on with a workflow that waits for a person, met a limit, failed or broke off; `options` are those of resume()."""
    flow = Workflow(steps, model, options.get("count_tokens"))
    return resume(journal, flow, flow.tools(tools), decisions, **options)


def model_calls(result: Result) -> int:
    """How many steps of a workflow's run asked the model; the others were made by code."""
    return sum(e["usage"]["input_tokens"] + e["usage"]["cached_tokens"] > 0 for e in result.journal.of("reply"))


class Workflow:
    """What run() is given in the place of your model: at each pass it asks yours for one step, or makes one that code has chosen."""

    text_only = True    # it sends no tool definitions

    def __init__(self, steps: Callable, model, count_tokens: Callable[[str], int] | None = None):
        if not inspect.isgeneratorfunction(inspect.unwrap(steps)):
            raise TypeError(f"a workflow is a generator function, steps(task), with a yield for each step, not {steps!r:.80}")
        if not callable(model):
            raise TypeError(f"a model is a function, model(messages, tools) -> Reply, not {model!r:.80}")
        self.steps, self.model, self.name = steps, model, getattr(model, "name", None)
        self._count = count_tokens or (lambda text: max(1, len(text) // 4))
        self._shown = 0         # no state but a guard: who shows it a shortened list would make it begin again
        self._last = (None, 0, None)        # so that one pass drives the generator once

    def tools(self, tools) -> list[Tool]:
        """Your tools, and the one that puts a filled-in step on record."""
        return [*tools, FILL_IN]

    def sends(self, messages, tools):
        """What a call really sends: a step's own prompt, or nothing."""
        try:
            here = self.where(messages)
        except Exception:       # the call itself will say it
            return [], []
        if not _asks(here):
            return [], []
        prompt = here.prompt(_rules(messages))
        return self.model.sends(prompt, []) if hasattr(self.model, "sends") else (prompt, [])

    def __call__(self, messages, tools=()):
        if len(messages) <= self._shown:
            raise WorkflowError("a workflow finds its place in the whole list: leave out the before_model hook that shortens it")
        here = self.where(messages)
        if isinstance(here, Answered):
            reply = Reply(here.text, usage=_FREE)
        elif not _asks(here):
            reply = Reply(tool_calls=here.calls, usage=_FREE, extra=here.extra)
        else:
            reply = self._recorded(here, self.model(here.prompt(_rules(messages)), []))
        self._shown = len(messages)
        return reply

    def where(self, messages) -> Asking | Calling | Answered:
        """Where the workflow stands: its generator, driven through everything that the list tells."""
        known, length, here = self._last
        if known is not messages or length != len(messages):
            here = self._driven(messages)
            self._last = (messages, len(messages), here)
        return here

    def _driven(self, messages) -> Asking | Calling | Answered:
        start = next(i for i, m in enumerate(messages) if m["role"] == "user")
        steps = self.steps(messages[start]["content"])
        here = self._go_on(steps, None)
        for number, turn in enumerate(turns(messages[start + 1:]), 1):
            if not here.same(turn):
                raise self._unsteady(number, turn, here)
            said = here.take(turn)
            if said is not UNDECIDED:
                here = self._go_on(steps, said)
        return here

    def _unsteady(self, number: int, turn, here) -> WorkflowError:
        made = " and ".join(c.name for c in turn.calls) or "a text"
        return WorkflowError(f"{self.steps.__name__} is not deterministic: at step {number} it made {made}, and driven again it wants {here.name}, or the "
                             "same with other words. What may change (time, chance, files) belongs in a tool")

    def _go_on(self, steps, said) -> Asking | Calling | Answered:
        """The next thing that the generator yields, or its answer."""
        try:
            item = steps.throw(said) if isinstance(said, StepFailed) else steps.send(said)
        except StopIteration as end:
            if end.value is None or not str(end.value).strip():
                raise WorkflowError(f"{self.steps.__name__} returned nothing; return the text that is its answer") from None
            return Answered(end.value if isinstance(end.value, str) else json.dumps(end.value))
        except StepFailed:
            raise
        except Exception as error:
            raise WorkflowError(f"{self.steps.__name__} raised {type(error).__name__}: {error}") from error
        if isinstance(item, Ask):
            return Asking(item)
        if item and all(isinstance(c, ToolCall) for c in (item if isinstance(item, (list, tuple)) else [item])):
            return Calling(item)
        raise WorkflowError(f"{self.steps.__name__} yields ask(...), call(...) or a list of calls, not {item!r:.80}")

    def _recorded(self, here: Asking, reply: Reply) -> Reply:
        """The model's text as a call of fill_in, which the harness checks like any other. It costs what the model wrote."""
        text, usage = reply.text or "", reply.usage or Usage(None, None)
        if usage.output_tokens is None and text:
            usage = replace(usage, output_tokens=self._count(text))
        if reply.tool_calls or reply.invalid:
            return Reply(text, usage=usage, stop_reason=reply.stop_reason, invalid="ERROR: no tool is offered in this step; answer it in plain text.")
        if not text.strip():
            return Reply(usage=reply.usage, stop_reason=reply.stop_reason)
        return Reply(None, here.filled(text), usage, reply.stop_reason, extra=here.extra)


def _asks(here) -> bool:
    return isinstance(here, Asking) and not here.calls


def _rules(messages) -> list[dict]:
    return [m for m in messages[:1] if m["role"] == "system"]
