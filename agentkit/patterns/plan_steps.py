"""The plan of plan-and-execute: read from the message list, shown to who needs it, put on record by four small tools."""

from __future__ import annotations

import json
from typing import NamedTuple

from agentkit import Tool, ToolCall, ToolResult, call

from .routing import NOT_RUN, split, turns

MAX_STEPS = 20
OWN = frozenset({"make_plan", "step_done", "step_failed", "check_step"})


class Step(NamedTuple):
    """One line of a plan: what to do, what it takes for granted ("" for nothing), what came of it."""

    do: str
    expect: str = ""
    result: str | None = None


class Plan:
    """Where a plan stands. Every change is a tool's result in the list; read() makes a Plan of them."""

    def __init__(self):
        self.done: list[Step] = []
        self.left: list[Step] = []                          # the first one is the step under way
        self.failures: list[tuple[int, str, str]] = []      # (number of the step, what it was, why it failed)
        self.replans = 0            # that were due so far: each failure asks for one, and so does each reply that was no plan
        self.planning = True
        self.checked = False                                # the check has looked at the step under way
        self.stale: str | None = None                       # what it said against it
        self.since: list[dict] = []                         # the messages since the last change
        self.again: list[ToolCall] = []                     # notes that were not run, because the run stopped there

    @property
    def number(self) -> int:
        """The number of the step under way."""
        return len(self.done) + 1

    def take(self, turn) -> None:
        """What one turn of the run has changed."""
        changed, self.again = False, [m.again for m in turn.calls if m.name in OWN and m.text.startswith(NOT_RUN)]
        for made in turn.calls:
            value = made.value if made.name in OWN else None
            if made.name == "check_step" and self.left and made.arguments.get("number") == self.number and not made.text.startswith(NOT_RUN):
                self.checked = True
                self.stale = None if value and value.get("holds") is True else value["why"] if value else made.text
            elif value is None:
                continue
            elif made.name == "make_plan" and self.planning:
                finished = {_plain(s.do) for s in self.done}
                self.left = [s for s in map(_step, value["plan"]) if _plain(s.do) not in finished]      # what is done stays done
                self.planning, self.checked, changed = False, False, True
            elif made.name == "step_done" and self.left:
                self.done.append(self.left.pop(0)._replace(result=value["result"]))
                self.checked, changed = False, True
            elif made.name == "step_failed" and self.left:
                self.failures.append((self.number, self.left[0].do, value["why"]))
                self.replans, self.planning, self.stale, changed = self.replans + 1, True, None, True
        if self.planning and self.failures and not changed and not self.again:
            self.replans += 1                               # a reply that was no plan has used up its replan
        if changed:
            self.since = []
        elif not self.again and not (turn.calls and all(m.name == "check_step" for m in turn.calls)):
            self.since = self.since + turn.messages

    def failed(self, why: str) -> ToolCall:
        return call("step_failed", number=self.number, why=why, replan=self.replans + 1)

    # ---- what each model is sent -------------------------------------------------------------------------------------

    def lines(self) -> str:
        """The plan as text, with what came of it."""
        shown = [f"{n}. [done] {s.do} -> {s.result}" for n, s in enumerate(self.done, 1)]
        shown += [f"{n}. {s.do}" + (f" (expects: {s.expect})" if s.expect else "") for n, s in enumerate(self.left, self.number)]
        return "\n".join(shown)

    def for_planner(self, task: str, tools: list[dict]) -> list[dict]:
        known = "\n".join(f"- {t['function']['name']}: {t['function']['description']}" for t in tools if t["function"]["name"] not in OWN)
        text = f"{task}\n\nTools that a step can use:\n{known or '- none'}\n\n"
        if self.failures:
            number, do, why = self.failures[-1]
            kept = "\n".join(f"{n}. {s.do} -> {s.result}" for n, s in enumerate(self.done, 1))
            text += f"Done, and not to be done again:\n{kept or '- nothing'}\n\nStep {number} ({do}) failed: {why}\n\nPlan what is left: c"
        else:
            text += "Plan this task: c"
        return _user(text + f"all make_plan(steps) with 1 to {MAX_STEPS} steps, in order. "
                     "Where a step takes something for granted, say it in its expect.")

    def for_step(self, task: str) -> list[dict]:
        expects = f" It expects: {self.left[0].expect}. If you see that this no longer holds, call step_failed(why)." if self.left[0].expect else ""
        return _user(f"{task}\n\nThe plan:\n{self.lines()}\n\nDo step {self.number} and nothing else: {self.left[0].do}.{expects} "
                     "Then say in a sentence what came of it. If it cannot be done, call step_failed(why).")

    def for_answer(self, task: str) -> list[dict]:
        return _user(f"{task}\n\nThe plan is done:\n{self.lines()}\n\nAnswer the task from these results.")

    def says(self) -> str:
        """A sentence for the report."""
        if not self.done and not self.left:
            return "No plan was made."
        steps, replans = len(self.done) + len(self.left), len(self.failures)
        after = f", after {replans} failed step{'' if replans == 1 else 's'}" if replans else ""
        return f"The plan: {f'all {steps}' if not self.left else f'{len(self.done)} of {steps}'} steps are done{after}."


def read(messages: list[dict]) -> Plan:
    """The plan that a message list tells of."""
    plan = Plan()
    for turn in turns(split(messages)[2]):
        plan.take(turn)
    return plan


def _step(said) -> Step:
    return Step(said) if isinstance(said, str) else Step(said["do"], said.get("expect", ""))


def _user(text: str) -> list[dict]:
    return [{"role": "user", "content": text}]


def _plain(text: str) -> str:
    return " ".join(text.casefold().split()).rstrip(".")


# ---- the tools that put a plan on record -------------------------------------------------------------------------------

def _kept(**facts) -> ToolResult:
    return ToolResult(json.dumps(facts, ensure_ascii=False))


def _make_plan(steps):
    """Refuses a plan that cannot be worked off."""
    read_steps = [_step(s) for s in steps]
    for n, step in enumerate(read_steps, 1):
        if not step.do.strip():
            raise ValueError(f"step {n} says nothing")
        if (first := [_plain(s.do) for s in read_steps].index(_plain(step.do)) + 1) < n:
            raise ValueError(f"step {n} says the same as step {first}; if it is to be done twice, say what differs")
    return _kept(plan=[{"do": s.do, **({"expect": s.expect} if s.expect.strip() else {})} for s in read_steps])


_TEXT, _NUMBER = {"type": "string", "minLength": 1}, {"type": "integer", "minimum": 1}
_DO = {"type": "string", "minLength": 1, "maxLength": 500}
_EXPECT = {"type": "string", "maxLength": 500, "description": "what must still be true when it begins"}
_ONE = {"type": "object", "properties": {"do": _DO, "expect": _EXPECT}, "required": ["do"], "additionalProperties": False}


def _tool(name: str, description: str, fn, **properties) -> Tool:
    return Tool(name, description, {"properties": properties, "required": list(properties)}, fn, idempotent=True)


PLAN_TOOLS = (
    _tool("make_plan", "Makes the plan: the steps in order. After a step has failed: the steps that are left.", _make_plan,
          steps={"type": "array", "minItems": 1, "maxItems": MAX_STEPS, "items": {"anyOf": [_DO, _ONE]}}),
    _tool("step_done", "Keeps what came of a step.", lambda number, result: _kept(done=number, result=result), number=_NUMBER, result=_TEXT),
    _tool("step_failed", "Gives a step up; the plan is made anew.", lambda number, why, replan: _kept(failed=number, why=why, replan=replan),
          number=_NUMBER, why=_TEXT, replan=_NUMBER),
)
# What the model is shown of step_failed: the numbers are not its business.
STEP_FAILED_DEFINITION = _tool("step_failed", "Give this step up: it cannot be done, or what it expects is no longer true. The plan is made anew.",
                               print, why={"type": "string", "description": "what you saw, for the planner"}).definition


def checking(check) -> Tool:
    """The tool that asks your check. Whatever is not True is a no, and a check that raises has let nothing pass."""
    def check_step(number, expect):
        said = check(expect)
        if said is True:
            return _kept(step=number, holds=True)
        reason = f": {said}" if isinstance(said, str) and said.strip() else ", which is not so"
        return _kept(step=number, holds=False, why=f"expected {expect}{reason}")
    return _tool("check_step", "Looks whether what a step expects is still true.", check_step, number=_NUMBER, expect=_TEXT)
