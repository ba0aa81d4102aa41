"""Ten loops for notebook 23, each with one planted bug that a harness in use has had, and its repair.

The trace that is shown with a loop is that of its own failing run, in the scorecard's situation that finds it.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from .round_answer import _changed, function
from .round_lines import LINES, Line
from .round_scenes import End, Scene
from .scorecard import SEED, judged, play


@dataclass(frozen=True)
class Broken:
    """One broken loop."""

    number: int
    looks: str
    """What a reviewer would say at first sight: no hint."""
    key: str
    """The line of the scorecard that it fails."""
    reference: str
    """The harness and the issue in which this was reported."""
    source: str
    repair: tuple[tuple[str, str], ...]
    """(old, new) pairs that mend it; the first one holds the line where the bug is."""
    why: str
    bug: str = ""
    """The text of the bug's line, where it is not the first one that the repair replaces."""
    exercise: str = ""
    """The exercise that asks about this loop, so that nothing gives it away before."""

    @property
    def mended(self) -> str:
        return _changed(self.source, *self.repair)

    @property
    def bug_line(self) -> int:
        """The number of the bug's line in the listing, from 1."""
        text = self.source.strip("\n") + "\n"
        return text[: text.index(self.bug or self.repair[0][0].strip("\n"))].count("\n") + 1

    @property
    def line(self) -> Line:
        return next(line for line in LINES if line.key == self.key)

    def failing_run(self, seed: int = SEED) -> tuple[Scene, End, str]:
        """(scene, end, evidence) of the first situation of its line that it fails."""
        fn = function(self.source)
        for situation in self.line.situations(random.Random(f"{seed} {self.key}")):
            end = play(fn, situation)
            if found := judged(situation, end) or (end.wrong if end.hung else None):
                return situation.scene, end, found
        raise LookupError(f"broken loop {self.number} fails none of the situations of {self.key!r}")


LOOPS = (
    Broken(
        1,
        "A counter, a limit, a status for it.",
        "steps",
        "anvia#397",
        """
import json

def run(model, tools, task, max_steps=10):
    messages = [{"role": "user", "content": task}]
    step = 0
    while step <= max_steps:
        reply = model(messages)
        step += 1
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        for call in calls:
            try:
                result = str(tools[call["name"]](**json.loads(call["arguments"])))
            except Exception as error:
                result = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (("    while step <= max_steps:\n", "    while step < max_steps:\n"),),
        "step counts the calls that were made. At step == max_steps they are all used up, and <= lets one more through. With max_steps=0 it"
        " still calls once.",
    ),
    Broken(
        2,
        "Answer first, tools second: the common case is quick.",
        "answer",
        "koog#1888",
        """
import json

def run(model, tools, task, max_steps=10):
    messages = [{"role": "user", "content": task}]
    for _ in range(max_steps):
        reply = model(messages)
        text, calls = reply.get("text"), reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": text, "tool_calls": calls})
        if text or not calls:
            return {"status": "done", "answer": text, "messages": messages}
        for call in calls:
            try:
                result = str(tools[call["name"]](**json.loads(call["arguments"])))
            except Exception as error:
                result = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (("        if text or not calls:\n", "        if not calls:\n"),),
        'Models write a sentence beside a call: "Let me look." It was taken for the answer, the call never ran, and the run says done.'
        " Calls decide; the text is kept.",
        exercise="23-2",
    ),
    Broken(
        3,
        "The list is an argument, so that a caller may bring one.",
        "list",
        "strands#1176",
        """
import json

def run(model, tools, task, max_steps=10, messages=[]):
    messages.append({"role": "user", "content": task})
    for _ in range(max_steps):
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        for call in calls:
            try:
                result = str(tools[call["name"]](**json.loads(call["arguments"])))
            except Exception as error:
                result = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (
            (
                "max_steps=10, messages=[]):\n    messages.append(",
                "max_steps=10, messages=None):\n    messages = list(messages or [])\n    messages.append(",
            ),
        ),
        "A default value is made once, when the function is defined. Every run appends to the same list, so the second customer's model"
        " reads the first one's conversation.",
    ),
    Broken(
        4,
        "Arguments that do not parse are handled; nothing can crash.",
        "guess",
        "hermes-agent#1796",
        """
import json

def run(model, tools, task, max_steps=10):
    messages = [{"role": "user", "content": task}]
    for _ in range(max_steps):
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        for call in calls:
            try:
                arguments = json.loads(call["arguments"])
            except ValueError:
                arguments = {}
            try:
                result = str(tools[call["name"]](**arguments))
            except Exception as error:
                result = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (("                arguments = {}\n", "                arguments = None        # ** refuses it below, and the model reads why\n"),),
        "Text that was cut off became {}, and {} is a valid call: the tool ran with its defaults, here on all orders. What cannot be read"
        " is an error text, never a call.",
    ),
    Broken(
        5,
        "A lookup table and a try around what may raise.",
        "unknown",
        "openai-agents#3459",
        """
import json

def run(model, tools, task, max_steps=10):
    messages = [{"role": "user", "content": task}]
    for _ in range(max_steps):
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        for call in calls:
            tool = tools[call["name"]]
            try:
                result = str(tool(**json.loads(call["arguments"])))
            except Exception as error:
                result = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (('            tool = tools[call["name"]]\n', ""), ("str(tool(**", 'str(tools[call["name"]](**')),
        "The lookup stands before the try. A name that nobody wrote is the model's mistake, like a wrong argument: it belongs inside, and"
        " the text names the tools there are.",
        exercise="23-2",
    ),
    Broken(
        6,
        "Run everything first, then write the results down.",
        "batch",
        "mellea#1431",
        """
import json

def run(model, tools, task, max_steps=10):
    messages = [{"role": "user", "content": task}]
    for _ in range(max_steps):
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        results = {}
        for call in calls:
            try:
                results[call["name"]] = str(tools[call["name"]](**json.loads(call["arguments"])))
            except Exception as error:
                results[call["name"]] = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
        for call in calls:
            content = results[call["name"]]
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (
            ('                results[call["name"]] = str(', '                results[call["id"]] = str('),
            ('                results[call["name"]] = f', '                results[call["id"]] = f'),
            ('            content = results[call["name"]]\n', '            content = results[call["id"]]\n'),
        ),
        "A dict by name has room for one result per tool. The second get_order overwrote the first, and both calls were answered with it:"
        " right ids, wrong facts.",
        exercise="23-3",
    ),
    Broken(
        7,
        "Parse, then run: two clean phases.",
        "siblings",
        "clawbolt#169",
        """
import json

def run(model, tools, task, max_steps=10):
    messages = [{"role": "user", "content": task}]
    for _ in range(max_steps):
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        try:
            arguments = [json.loads(call["arguments"]) for call in calls]
        except ValueError:
            arguments = ["not valid JSON"] * len(calls)
        for call, named in zip(calls, arguments):
            try:
                result = str(tools[call["name"]](**named))
            except Exception as error:
                result = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (
            (
                """        try:
            arguments = [json.loads(call["arguments"]) for call in calls]
        except ValueError:
            arguments = ["not valid JSON"] * len(calls)
        for call, named in zip(calls, arguments):
""",
                "        for call in calls:\n",
            ),
            ("(**named))", '(**json.loads(call["arguments"])))'),
        ),
        "One try around the parsing of all: a single text that is cut off voids the whole reply. Parse each call by itself, beside its own"
        " result.",
        bug="arguments = [json.loads",
        exercise="23-2",
    ),
    Broken(
        8,
        "A repeated call is noticed before it costs anything.",
        "report",
        "nanobot#3045",
        """
import json

def run(model, tools, task, max_steps=10):
    messages, seen = [{"role": "user", "content": task}], {}
    for _ in range(max_steps):
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        for call in calls:
            key = call["name"], call["arguments"]
            seen[key] = seen.get(key, 0) + 1
            if seen[key] == 3:
                return {"status": "repeated_call", "answer": None, "messages": messages}
            try:
                result = str(tools[call["name"]](**json.loads(call["arguments"])))
            except Exception as error:
                result = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (
            (
                """            if seen[key] == 3:
                return {"status": "repeated_call", "answer": None, "messages": messages}
            try""",
                "            try",
            ),
            (
                """"content": result})
    return""",
                """"content": result})
        if 3 in seen.values():
            return {"status": "repeated_call", "answer": None, "messages": messages}
    return""",
            ),
        ),
        "It returns from the middle of a reply. That call, and every one after it, stays without a result: no provider takes the list, so"
        " nobody can resume the run. Answer every call, then stop.",
    ),
    Broken(
        9,
        "The last three steps are compared, arguments in one spelling.",
        "progress",
        "stella#359",
        """
import json

def run(model, tools, task, max_steps=10):
    messages, history = [{"role": "user", "content": task}], []
    for _ in range(max_steps):
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        for call in calls:
            try:
                named = json.loads(call["arguments"])
                result = str(tools[call["name"]](**named))
            except Exception as error:
                named, result = None, f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            history.append((call["name"], json.dumps(named, sort_keys=True)))
        if history[-3:] == history[-1:] * 3:
            return {"status": "repeated_call", "answer": None, "messages": messages}
    return {"status": "step_limit", "answer": None, "messages": messages}
""",
        (("json.dumps(named, sort_keys=True)))\n", "json.dumps(named, sort_keys=True), result))\n"),),
        "Waiting for a parcel looks like a loop when only the question is compared. The result belongs to the key: as long as it changes,"
        " there is progress.",
        exercise="23-4",
    ),
    Broken(
        10,
        "It saves after every message and goes on where it was.",
        "once",
        "agent-framework#3938",
        """
import json
from pathlib import Path

def run(model, tools, task, max_steps=10, path=None):
    messages = [{"role": "user", "content": task}]
    if path and Path(path).exists():
        messages = json.loads(Path(path).read_text())
    answered = {m.get("tool_call_id") for m in messages}
    calls = [c for c in messages[-1].get("tool_calls", []) if c["id"] not in answered]
    for _ in range(max_steps + 1):
        for call in calls:
            try:
                result = str(tools[call["name"]](**json.loads(call["arguments"])))
            except Exception as error:
                result = f"ERROR: {error!r}. Tools: {', '.join(tools)}"
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            path and Path(path).write_text(json.dumps(messages))
        if sum(m["role"] == "assistant" for m in messages) >= max_steps:
            return {"status": "step_limit", "answer": None, "messages": messages}
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        path and Path(path).write_text(json.dumps(messages))
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
""",
        (
            (
                "    for _ in range(max_steps + 1):\n",
                """    for call in calls:
        unknown = "ERROR: outcome unknown: the process died. Check before you try again."
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": unknown})
    calls = []
    for _ in range(max_steps + 1):
""",
            ),
        ),
        "A call without a result has two meanings after a crash: it never began, or it ran and the process died before the result was"
        " written. Running it again is a guess, here with money.",
        bug="calls = [c for c in messages[-1]",
    ),
)


def loop(number: int) -> Broken:
    """A broken loop by its number, from 1."""
    return LOOPS[number - 1]


__all__ = ["LOOPS", "Broken", "loop"]
