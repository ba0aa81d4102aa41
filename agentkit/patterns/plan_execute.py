"""Plan-and-execute: a planner writes a numbered plan, your model works it off one step at a time, and a plan that has gone stale
is made anew a counted number of times. The plan is data in the message list, so run() keeps its limits, approvals and record."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentkit import Exit, Hook, Journal, Reply, Result, Tool, ToolCall, call, resume, run

from .plan_steps import OWN, PLAN_TOOLS, STEP_FAILED_DEFINITION, Plan, checking, read
from .routing import FREE, Route, Router, split, unreadable

__all__ = ["plan_and_execute", "resume_plan", "plan_of", "PlanExecute", "Plan"]
_LONGEST = 4_000        # characters of a step's result: it stands in every later prompt


def plan_and_execute(model, tools, task: str, *, planner=None, max_replans: int = 2, check: Callable[[str], object] | None = None,
                     **options) -> Result:
    """Let `planner` (your model, where none is given) plan the task and `model` work the plan off; `options` are those of run().

    The planner is sent the task and the tools by name and calls make_plan(steps=[...]); a step is a text, or a text and what it
    takes for granted: {"do": ..., "expect": ...}. For each step the model is sent the task, the plan with what has come of it and
    the messages of that step. Its text ends the step; step_failed(why) gives it up. Then the planner plans what is left. A
    replan is counted before it is tried, whatever becomes of it; past `max_replans` the run ends with "error_limit", and the
    report says at which step. What is done stays done and is not run again.

    `check(expect)` is asked before each step that expects something: True lets it begin; False or a reason fails it, and
    no model was asked; so does a check that raises. Each look counts as a step of the run, also against max_steps, and costs no
    tokens. A planner at another price says so in its replies (usage with cost_usd).
    """
    mine = PlanExecute(model, planner, max_replans, check, options.get("count_tokens"))
    return mine.told(run(mine, mine.tools(tools), task, **mine.with_hook(options)))


def resume_plan(journal: Journal, model, tools, decisions: Mapping | None = None, *, planner=None, max_replans: int = 2, check=None,
                **options) -> Result:
    """Go on with a plan that waits for a person, met a limit (also that of its replans: allow more), failed or broke off."""
    mine = PlanExecute(model, planner, max_replans, check, options.get("count_tokens"), lost_replans(journal))
    return mine.told(resume(journal, mine, mine.tools(tools), decisions, **mine.with_hook(options)))


def plan_of(result: Result) -> Plan:
    """The plan as it stood at the end: .done, .left, .failures, .replans."""
    return read(result.messages)


class PlanExecute(Router):
    """What run() is given in the place of your model: each call goes to the planner or to the model that does one step."""

    def __init__(self, model, planner=None, max_replans: int = 2, check=None, count_tokens=None, lost: int = 0):
        super().__init__(model, planner, count_tokens)
        if isinstance(max_replans, bool) or not isinstance(max_replans, int) or max_replans < 0:
            raise ValueError(f"max_replans must be a whole number of at least 0, not {max_replans!r:.40}")
        if check is not None and not callable(check):
            raise TypeError(f"check takes a function, check(expect) -> True or a reason, not {check!r:.80}")
        self.max_replans, self.check, self.lost = max_replans, check, lost

    def tools(self, tools) -> list[Tool]:
        """Your tools, and those that put the plan on record."""
        return [*tools, *PLAN_TOOLS, *([checking(self.check)] if self.check else [])]

    def with_hook(self, options: dict) -> dict:
        """The options with one gate before yours: it ends the run where no replan is left."""
        hooks = options.get("hooks") or ()
        return {**options, "hooks": [Hook("plan", before_model=self.may_replan), *(hooks if isinstance(hooks, (list, tuple)) else [hooks])]}

    def may_replan(self, messages, tools) -> Exit | None:
        """Counted before it is tried: the failure is on record, and the planner has not been called yet."""
        plan = read(messages)
        used = plan.replans + self.lost
        if not plan.failures or not plan.planning or used <= self.max_replans:
            return None
        number, do, why = plan.failures[-1]
        return Exit("error_limit", f"step {number} of the plan ({do:.80}): it failed ({why:.200}) and no replan "
                    f"is left, {self.max_replans} of {self.max_replans} used", used, self.max_replans)

    def route(self, messages, tools) -> Route:
        rules, task, _ = split(messages)
        plan = read(messages)
        if plan.again:                                  # a note that a limit or a crash kept off the record
            return Route(reply=Reply(tool_calls=plan.again, usage=FREE))
        if plan.planning:
            plans = [t for t in tools if t["function"]["name"] == "make_plan"]
            return Route(self.other, [*rules, *plan.for_planner(task, tools), *plan.since], plans, self.planned)
        if plan.left and not plan.since and (ready := self.first(plan)):
            return Route(reply=Reply(tool_calls=[ready], usage=FREE))
        if not plan.left:
            return Route(self.model, [*rules, *plan.for_answer(task), *plan.since], [], self.answered)
        acts = [t for t in tools if t["function"]["name"] not in OWN] + [STEP_FAILED_DEFINITION]
        return Route(self.model, [*rules, *plan.for_step(task), *plan.since], acts, lambda reply: self.done(plan, reply))

    def planned(self, reply: Reply) -> Reply:
        """The planner's reply: one plan, or a word of help."""
        if reply.truncated or reply.refused or reply.invalid:
            return reply
        if [c.name for c in reply.tool_calls] != ["make_plan"] and (reply.tool_calls or reply.final_text):
            return unreadable(reply, "you plan and others act: call make_plan once, with the steps, and nothing else.")
        return reply

    def answered(self, reply: Reply) -> Reply:
        return unreadable(reply, "the plan is done and no tool is offered: answer in text.") if reply.tool_calls else reply

    def done(self, plan: Plan, reply: Reply) -> Reply:
        """A reply within a step. Its text ends the step; its calls run as they would in any run."""
        if reply.truncated or reply.refused or reply.invalid:
            return reply
        if reply.final_text:
            text = reply.final_text
            text = text if len(text) <= _LONGEST else f"{text[:_LONGEST]} [cut: {len(text):,} characters]"
            return self.into(reply, call("step_done", number=plan.number, result=text))
        if {c.name for c in reply.tool_calls} & (OWN - {"step_failed"}):
            return unreadable(reply, "nothing of this reply ran. The plan is kept for you: end the step with a text, or with step_failed(why).")
        if any(c.name == "step_failed" for c in reply.tool_calls):
            return replace(reply, tool_calls=[_numbered(c, plan) if c.name == "step_failed" else c for c in reply.tool_calls])
        return reply

    def first(self, plan: Plan) -> ToolCall | None:
        """What comes before a step, and asks no model: the look at what it expects, and the end of a step that was looked at in vain."""
        if self.check and plan.left[0].expect and not plan.checked:
            return call("check_step", number=plan.number, expect=plan.left[0].expect)
        return plan.failed(plan.stale) if plan.stale else None

    def told(self, result: Result) -> Result:
        """The result, its report with a sentence on the plan."""
        return replace(result, report=f"{result.report} {read(result.messages).says()}")


def _numbered(said: ToolCall, plan: Plan) -> ToolCall:
    """step_failed as it stands on record: with the step's number and that of the replan it asks for, which the model is not trusted with."""
    try:
        why = json.loads(said.arguments)["why"] if isinstance(said.arguments, str) else said.arguments["why"]
    except (ValueError, KeyError, TypeError):
        return said         # the harness will say what is wrong with it
    return replace(plan.failed(why), id=said.id)


def lost_replans(journal: Journal) -> int:
    """Replans that were begun and left no reply: the planner raised, or the process died meanwhile. They count as well."""
    lost = 0
    for i, event in enumerate([*journal.events, {"kind": "resume"}]):
        before = journal.events[i - 1] if i else None
        if event["kind"] == "resume" and before and (before["kind"] != "end" or before["status"] == "model_error"):
            then = Journal()
            then.events = journal.events[:i]
            plan = None if then.open_calls() else read(then.messages())
            lost += bool(plan and plan.planning and plan.failures)
    return lost
