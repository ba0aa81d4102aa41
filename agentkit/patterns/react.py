"""ReAct: a thought, an action, an observation, and again. As text for a model without tool calls, natively for one with them.

The pattern is the loop of run(); what is here is its wording. S. Yao and others, "ReAct: Synergizing Reasoning and Acting in
Language Models", 2022, https://arxiv.org/abs/2210.03629.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from agentkit import Registry, Result, TextModel, run

_RULES = """You work in steps. In each step write a thought and one action, then stop:

Thought: what you know and what you need next
Action: the name of one tool
Action Input: its arguments, as one JSON object

The result comes back as "Observation: ...". Never write an observation yourself.
When you know the answer, write instead:

Thought: why you are done
Final Answer: the answer

The tools:
"""


def react_system(tools, rules: str = "") -> str:
    """The system text for a model that writes its calls as text: your rules, how to write a step, and the tools."""
    registry = tools if isinstance(tools, Registry) else Registry(tools)
    return (rules.strip() + "\n\n" if rules.strip() else "") + _RULES + (registry.render() or "(none: answer at once)")


def react(complete: Callable[[str], str], tools, task: str, *, system: str = "", **options) -> Result:
    """Run ReAct with a model that does nothing but go on with a text: `complete(prompt) -> str`.

    The prompt is the rules, the transcript so far, and "Thought:". Where the model takes stop words, give it "\\nObservation:".
    `system` is yours; how to write a step and the tools are added to it. `options` are those of run().
    """
    registry = tools if isinstance(tools, Registry) else Registry(tools)
    return run(ReactModel(complete), registry, task, system=react_system(registry, system), **options)


class ReactModel(TextModel):
    """A completion model as a model for run() and resume(): it is sent one text, and counted by it."""

    def __init__(self, complete: Callable[[str], str], *, name: str | None = None):
        super().__init__(lambda messages: self._step(complete(react_prompt(messages))), "react", name=name)

    def sends(self, messages, tools):
        return [{"role": "user", "content": react_prompt(messages)}], []

    @staticmethod
    def _step(text):
        """The prompt ends with "Thought:", so most models go on without the label."""
        return text if not isinstance(text, str) or not text.strip() or _LABEL.match(text) else "Thought: " + text.lstrip()


def react_prompt(messages: list[dict]) -> str:
    """Everything so far as the one text that a completion model goes on with."""
    system = [m["content"] for m in messages[:1] if m["role"] == "system"]
    return "\n\n".join([*system, transcript(messages)]) + "\nThought:"


def transcript(messages: list[dict]) -> str:
    """A message list as Task, Thought, Action, Observation and Final Answer: the same for a run in text and for a native one.

    An observation is whatever came back: a tool's result, or the harness's word on a reply that it could not use.
    """
    lines: list[str] = []
    results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    begun = False
    for m, after in zip(messages, [*messages[1:], None]):
        if m["role"] == "user":
            lines.append(f"{'Observation' if begun else 'Task'}: {m['content']}")
            begun = True
        elif m["role"] == "assistant":
            thought, answer = _parts(m["content"] or "")
            if not m.get("tool_calls") and answer is None and after is None:     # natively, an answer is a text without a call
                thought, answer = "", thought
            lines += [f"Thought: {thought}"] if thought else []
            for c in m.get("tool_calls", ()):
                lines += [f"Action: {c['function']['name']}", f"Action Input: {_one_line(c['function']['arguments'])}"]
                lines += [f"Observation: {results[c['id']]}"] if c["id"] in results else []
            lines += [f"Final Answer: {answer}"] if answer else []
    return "\n".join(lines)


_LABEL = re.compile(r"\s*(?:Thought|Action|Final Answer)\s*:")


def _parts(text: str) -> tuple[str, str | None]:
    """(thought, answer) of a reply's text; the action in it stands in its call."""
    before, label, rest = (re.split(r"(?m)^\s*(Action|Final Answer)\s*:", text, maxsplit=1) + ["", ""])[:3]
    thought = re.sub(r"\A\s*Thought\s*:", "", before).strip()
    return thought, rest.strip() if label == "Final Answer" else None


def _one_line(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments))
    except ValueError:      # what the model wrote was no JSON: as it came
        return " ".join(arguments.split())
