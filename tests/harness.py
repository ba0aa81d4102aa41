"""What the harness tests share: a small shop of tools, a clock that is moved by hand, and the rules that every run keeps."""

import json

from agentkit import Tool, call, check_messages, tool
from agentkit.journal import Journal
from agentkit.messages import to_text

STATUSES = {
    "done",
    "step_limit",
    "tool_call_limit",
    "token_budget",
    "cost_budget",
    "time_limit",
    "repeated_call",
    "error_limit",
    "waiting_for_approval",
    "empty_reply",
    "truncated",
    "refused",
    "model_error",
}


@tool
def look_up(item: str) -> str:
    """Look up one thing in the shop."""
    return f"{item} is on the shelf"


@tool
def add(a: int, b: int) -> int:
    """Add two whole numbers."""
    return a + b


@tool
def fail() -> str:
    """Always fails."""
    raise OSError("the shelf has fallen over")


@tool(needs_approval=True)
def pay(amount: int) -> str:
    """Pay some money back."""
    return f"paid {amount}"


class Clock:
    """A clock that stands still until somebody moves it."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


def counting(name="ping", returns="pong", **flags):
    """A tool without arguments, and the list of its runs."""
    runs = []

    def fn():
        runs.append(name)
        return returns(len(runs)) if callable(returns) else returns

    return Tool(name, f"{name} it", {"properties": {}}, fn, **flags), runs


def recording(name="take", schema=None, **flags):
    """A tool that takes anything, and the list of the arguments that it was run with."""
    seen = []

    def fn(**arguments):
        seen.append(arguments)
        return f"took {to_text(arguments)}"

    return Tool(name, f"{name} it", schema or {"properties": {}}, fn, **flags), seen


def results(run_result):
    """The content of every tool message."""
    return [m["content"] for m in run_result.messages if m["role"] == "tool"]


def new_looks():
    """A model that looks up another thing on every step and never answers."""
    return lambda messages, tools: _reply(call("look_up", item=f"thing {len(messages)}"))


def _reply(*calls):
    from agentkit import Reply

    return Reply(tool_calls=calls)


def total(usage):
    """All tokens of a recorded usage."""
    return (usage["input_tokens"] or 0) + usage["cached_tokens"] + (usage["output_tokens"] or 0)


def assert_rules(result):
    """Rules 2 and 8, and what every result promises, whatever happened in the run."""
    messages = result.messages
    assert result.status in STATUSES
    assert (result.answer is not None) == (result.status == "done")
    assert (result.pending != ()) == (result.status == "waiting_for_approval")
    if result.answer is not None:
        assert result.answer.strip()

    json.dumps(messages, allow_nan=False)
    for text in (json.dumps(messages, ensure_ascii=False), result.report, result.answer or ""):
        text.encode("utf-8")
    assert result.report and "\n" not in result.report and "Traceback" not in result.report

    assert_one_result_per_call(messages, open_at_the_end=result.status == "waiting_for_approval")
    if result.status == "waiting_for_approval":
        asked = {c["id"] for c in messages[-1]["tool_calls"]}
        assert messages[-1]["role"] == "assistant" and {c.id for c in result.pending} <= asked
    else:
        check_messages(messages + [{"role": "user", "content": "and then?"}])

    assert result.journal.messages() == messages
    assert isinstance(result.journal, Journal) and str(result.journal.table())
    assert json.loads(json.dumps(result.journal.events)) == result.journal.events, "plain JSON, in memory too"
    replies = result.journal.of("reply")
    others = [e["spent"] for e in result.journal.of("result", "view", "hook") if e.get("spent")]
    assert result.steps == len(replies) + (result.status == "model_error") + sum(s["steps"] for s in others)
    assert result.usage.total_tokens == sum(total(e["usage"]) for e in [*replies, *others])
    for m in messages:
        if m["role"] == "tool":
            assert len(m["content"]) <= 25_000


def assert_one_result_per_call(messages, open_at_the_end=False):
    """Every call has one result, directly after its message, with its id, in call order; no id is used twice."""
    ids, i = [], 0
    while i < len(messages):
        asked = [c["id"] for c in messages[i].get("tool_calls", ())]
        answers = [m["tool_call_id"] for m in messages[i + 1 : i + 1 + len(asked)] if m["role"] == "tool"]
        if not (open_at_the_end and i == len(messages) - 1):
            assert answers == asked
        ids += asked
        i += 1 + len(answers)
    assert len(ids) == len(set(ids))
    assert all(isinstance(i, str) and i for i in ids)
    assert sum(m["role"] == "tool" for m in messages) == (len(ids) if not open_at_the_end else len(ids) - len(messages[-1]["tool_calls"]))
