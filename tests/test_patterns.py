"""All patterns against models that answer anything but what was asked: run()'s rules hold, and the record replays."""

import pytest
from harness import add, assert_rules

from agentkit import Limits, Reply, ToolCall, Usage, call, replay
from agentkit.patterns.plan_execute import plan_and_execute
from agentkit.patterns.reflection import reflect
from agentkit.patterns.workflow import ask, workflow


def steps(task):
    kind = yield ask("kind", "Which?", choices=["late", "other"])
    sums = yield [call("add", a=1, b=2), call("add", a=2, b=2)]
    return (yield ask("draft", f"{kind} {sums}"))


PATTERNS = {
    "workflow": lambda model, limits: workflow(steps, model, [add], "go", limits=limits),
    "plan": lambda model, limits: plan_and_execute(model, [add], "go", limits=limits),
    "reflection": lambda model, limits: reflect(model, [add], "go", criteria={"kind": "it is kind"}, limits=limits),
}
SAID = {
    "no reply": 7, "empty": Reply(""), "half a pair": Reply("\ud800"), "cut": Reply("x", stop_reason="length"), "refused": Reply("x", stop_reason="refusal"),
    "large": Reply("x", usage=Usage(10**11, 1)), "text": Reply("text"), "empty verdict": Reply("{}"), "verdict": Reply('{"kind": {"met": true}}'),
    "one id twice": Reply(tool_calls=[ToolCall("same", "add", "{"), ToolCall("same", "add", {"a": 1, "b": 2})]),
    **{f"{c.name} {c.arguments}": Reply(tool_calls=[c]) for c in (
        call("make_plan", steps=[]), call("make_plan", steps=["a", "a"]), call("make_plan", steps=["a", "b"]), call("step_done", number=1, result="x"),
        call("step_failed", number=1, why="x"), call("check_step", number=1, expect="x"), call("review", draft="x"), call("verdict", said="x"),
        call("fill_in", step="kind", text="late"), call("nobody"))},
}


@pytest.mark.parametrize("limits", [Limits(max_steps=12), Limits(max_steps=12, budget_tokens=300, reserve=5)], ids=["steps", "tokens"])
@pytest.mark.parametrize("said", SAID)
@pytest.mark.parametrize("pattern", PATTERNS)
def test_a_model_that_never_does_what_was_asked(pattern, said, limits):
    result = PATTERNS[pattern](lambda messages, tools: SAID[said], limits)
    assert_rules(result)
    found = replay(result.journal)
    assert found.same, str(found)
