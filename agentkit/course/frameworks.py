"""What six frameworks and agentkit did with one scripted task: reads what benchmarks/peers/behave.py has recorded.

A *record* is one system in one case: how many model calls, what ran, what the second call's list had that the first had
not, how the run ended. Everything here is looked up or counted in it; nothing is said of a system that is not in the data.
"""

import json
import re
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from agentkit import count_tokens

DATA = Path(__file__).with_name("data") / "frameworks.json"
OURS = "agentkit"
CUT = " [cut:"      # how the recorder marks a text that it has cut

FAILURES = {"unknown_tool": "an unknown tool", "wrong_argument": "a wrong argument name", "tool_raises": "the tool raises",
            "broken_json": "arguments cut off", "two_calls": "two calls, one raises", "never_stops": "never stops",
            "same_call": "the same call for ever", "empty_reply": "an empty reply"}
MORE = {"wrong_type": "a wrong type", "always_empty": "empty for ever", "text_first": "text, no call"}
ENDLESS = ("never_stops", "same_call", "always_empty")

MODULES = {     # what we built -> what it is for
    "loop.py": "the loop", "tools.py": "runs a call", "schema.py": "function to schema", "limits.py": "what ends it", "messages.py": "the list",
    "models.py": "a scripted model", "providers": "speaks to the API", "journal.py": "the record", "resuming.py": "pause, go on", "gates.py": "hooks",
    "retry.py": "tries again", "trace.py": "shows a run", "extend/mcp.py": "other people's tools"}


@lru_cache(maxsize=1)
def data() -> dict:
    """The whole recording; see `what`, `how`, `api` and `trimmed` in it."""
    return json.loads(DATA.read_text("utf-8"))


def names() -> list[str]:
    """The systems that were recorded: the frameworks by the alphabet, then agentkit."""
    there = [name for name, row in data()["systems"].items() if "cases" in row]
    return sorted(name for name in there if name != OURS) + [OURS]


def row(name: str) -> dict:
    """A system's row: version, recorded (a date), made_with, parts, cases."""
    if name not in data()["systems"]:
        raise LookupError(f"no system {name!r}; there are {', '.join(names())}")
    return data()["systems"][name]


def record(name: str, case: str) -> dict:
    """What one system did in one case."""
    return row(name)["cases"][case]


def label(case: str) -> str:
    """A failure in a few words; the data say it in full: data()["cases"]."""
    return (FAILURES | MORE)[case]


def told(kept: dict) -> list[tuple[str, str]]:
    """(role, text) of everything in the second call that was not there in the first and that the model did not write."""
    return [(m["role"], m.get("added_to_its_content") or m.get("content") or "")
            for m in kept.get("second_call_adds", ()) if m["role"] != "assistant"]


@dataclass(frozen=True)
class Fate:
    """What became of a failure. `kind` is one of KINDS, `words` say it for a small cell, `end` is what ended the run."""

    kind: str
    words: str
    end: str


KINDS = {"told": "the model is told, and the run goes on", "ran": "it was taken as it came, and the run goes on",
         "part": "a result is not in the list", "again": "the same list is sent again", "raised": "an exception leaves the run",
         "empty": "the run returns an empty answer",
         "limit": "a limit of the system ends it", "script": "nothing ended it but the script"}


def ending(kept: dict) -> str:
    """What ended the run, in the system's own word: an exception's name, a status, or the answer."""
    if kept["ended"] != "returned":
        return kept["error"]
    if kept["answer"]:
        return "answer"
    return kept["state"].split()[-1] if kept.get("state") else repr(kept["answer"])


def fate(case: str, kept: dict) -> Fate:
    """What became of a failure, read off its record: counts and endings alone, never the wording of a text."""
    end, calls, answered = ending(kept), kept["model_calls"], kept.get("answer") == data()["answer"]
    if case in ENDLESS and not (end == "''" and calls == 1):
        if answered or kept["ended"] == "stopped from outside":
            return Fate("script", f"{calls - answered} calls,\nnot stopped", "the script")
        return Fate("limit", f"{calls} calls:\n{end}", end)
    if kept["ended"] != "returned":
        return Fate("raised", f"raises\n{end}", end)
    if not answered:
        return Fate("empty", f"ends, the\nanswer is {end}", end)
    if calls == 1:
        return Fate("ran", "takes it as\nthe answer", end)
    if case in ("broken_json", "wrong_type") and kept["ran"]:
        return Fate("ran", "runs it with\nwhat came", end)
    if not told(kept):
        return Fate("again", "sends the same\nlist again", end)
    if case == "two_calls":
        whole = len(told(kept)) == 2
        return Fate("told" if whole else "part", "two results,\ngoes on" if whole else "the error alone,\ngoes on", end)
    return Fate("told", "told,\ngoes on", end)


def first_call(name: str) -> dict[str, int]:
    """Tokens of the first call of the plain task: the system message, the task's message, the tool definitions."""
    sent = record(name, "task")["sent"][0]
    [task] = [m["content"] for m in sent["list"] if m["role"] == "user"]
    if CUT in task:
        raise ValueError(f"the task's message of {name} was cut when it was recorded: its tokens cannot be counted")
    return {"system": sent["tokens"]["messages"] - count_tokens(task), "task": count_tokens(task), "definitions": sent["tokens"]["tools"]}


def each_call(name: str) -> list[int]:
    """Tokens of each call of the plain task."""
    return [sum(request["tokens"].values()) for request in record(name, "task")["sent"]]


def as_recorded(message: dict) -> dict:
    """A message from the wire in the form that the data keep: a call is an id, a name and arguments."""
    calls = [{"id": c["id"], **c["function"]} for c in message.get("tool_calls") or ()]
    return {k: v for k, v in message.items() if k != "tool_calls"} | ({"tool_calls": calls} if calls else {})


def part(name: str, module: str) -> str:
    """The name that a framework has for what our module does; '' where the data name none."""
    found = row(name).get("parts", {}).get(module)
    if not found:
        return ""
    line = found.get("at", "")
    named = next(filter(None, (re.search(p, line) for p in (r"(?:class|def) (\w+)", r"self\.(\w+)", r"^(\w+)"))), None)
    return named[1] if named else Path(found["file"]).name
