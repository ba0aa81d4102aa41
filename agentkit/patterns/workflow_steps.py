"""The steps of a workflow: what may be yielded, what is put on record of it, and what comes back to the yield."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import NamedTuple

from agentkit import Registry, Tool, ToolCall, ToolResult, call

NOT_RUN = "ERROR: not run: the run "        # it was stopped or broke off before this call: make it again
_LONGEST = 15_000                           # characters of a filled-in text; a longer result would be cut
_NOTE = "[a hook changed the arguments of this call to "
UNDECIDED = object()


class Ask(NamedTuple):
    """What a workflow yields to have the model fill in a step; ask() makes one."""

    step: str
    prompt: str
    within: list | dict | None      # the choices, a JSON schema, or None for any text
    tries: int


def ask(step: str, prompt: str, *, choices: Iterable[str] | None = None, schema: dict | None = None, tries: int = 3) -> Ask:
    """A step for the model: `kind = yield ask("classify", "Which kind is this? ...", choices=["refund", "question"])`.

    The model is sent `prompt` and nothing of the other steps. The yield returns its text; with `choices` one of them, with a
    JSON `schema` the value. A text that does not fit comes back to the model as an error, until `tries` texts did not fit.
    """
    if not (isinstance(step, str) and step.strip() and isinstance(prompt, str) and prompt.strip()):
        raise ValueError(f"ask(step, prompt) takes two texts that say something, not {step!r:.40}, {prompt!r:.40}")
    if isinstance(tries, bool) or not isinstance(tries, int) or tries < 1:
        raise ValueError(f"ask: tries must be a whole number of at least 1, not {tries!r:.40}")
    if choices is not None:
        choices = [choices] if isinstance(choices, str) else list(choices)
        if schema is not None or not choices or not all(map(_plain, choices)) or len(set(map(_plain, choices))) < len(choices):
            raise ValueError("ask: choices are texts that differ in more than case and punctuation, and go with no schema")
    return Ask(step, prompt, schema if choices is None else choices, tries)


class StepFailed(Exception):
    """A step that came to nothing: raised at its yield, where the workflow may catch it. `texts` is what came back, one for each call."""

    def __init__(self, step: str, texts: list[str]):
        super().__init__(f"{step}: {next(filter(_failed, texts), texts[-1])}")
        self.step, self.texts = step, texts


class Turn(NamedTuple):
    """One reply on record, and what came back: a result for each call, or the harness's word on a reply without one."""

    message: dict
    texts: list[str]

    @property
    def calls(self) -> list[ToolCall]:
        return [ToolCall(c["id"], c["function"]["name"], json.loads(c["function"]["arguments"])) for c in self.message.get("tool_calls", ())]


def turns(messages: list[dict]) -> list[Turn]:
    """The replies after the task. A blank reply is in no list; the word of help that followed it is."""
    found: list[Turn] = []
    for m in messages:
        if m["role"] == "assistant":
            found.append(Turn(m, []))
        elif m["role"] == "user" and (not found or found[-1].texts):
            found.append(Turn({"content": None}, [m["content"]]))
        else:
            found[-1].texts.append(m["content"])
    return found


# Where a workflow stands: at a step of the model's, at calls of its own, or at its end. `calls` is what is to be made now,
# `take(turn)` what the yield returns (or raises) once that turn is over; UNDECIDED while the step goes on.

class Asking:
    def __init__(self, item: Ask):
        self.item, self.calls, self.failed = item, [], []
        self.name = f"ask({item.step!r})"
        self.extra = {"workflow": {"prompt": item.prompt}}      # what was asked, for the record

    def same(self, turn: Turn) -> bool:
        """Whether this turn is one that the step would bring."""
        if not (calls := turn.calls):
            return True
        again = self.filled(calls[0].arguments.get("text", ""))
        return _text(calls) == _text([again]) and turn.message.get("extra") == self.extra

    def take(self, turn: Turn):
        calls, text = turn.calls, turn.texts[0]
        self.calls = calls if calls and text.startswith(NOT_RUN) else []
        if self.calls:
            return UNDECIDED
        try:
            return json.loads(_bare(text))      # what was kept is JSON, and no error text is
        except ValueError:
            pass
        self.failed.append((calls[0].arguments["text"] if calls else turn.message["content"] or "", text))
        return UNDECIDED if len(self.failed) < self.item.tries else StepFailed(self.item.step, [text])

    def prompt(self, rules: list[dict]) -> list[dict]:
        """What the model is sent: the rules, this step, and the last text that did not fit, with what was wrong with it."""
        sent = [*rules, {"role": "user", "content": self.item.prompt}]
        if self.failed and self.failed[-1][0].strip():
            text, error = self.failed[-1]
            sent += [{"role": "assistant", "content": text}, {"role": "user", "content": error}]
        return sent

    def filled(self, text: str) -> ToolCall:
        within = {} if self.item.within is None else {"within": self.item.within}
        return call("fill_in", step=self.item.step, text=text, **within)


class Calling:
    extra = None

    def __init__(self, item):
        self.many = isinstance(item, (list, tuple))
        self.all = list(item) if self.many else [item]
        self.texts: list[str | None] = [None] * len(self.all)
        self.name = " and ".join(c.name for c in self.all)

    @property
    def calls(self) -> list[ToolCall]:
        return [c for c, text in zip(self.all, self.texts) if text is None]

    def same(self, turn: Turn) -> bool:
        return _text(self.calls) == _text(turn.calls)

    def take(self, turn: Turn):
        places = [i for i, text in enumerate(self.texts) if text is None]
        for i, text in zip(places, turn.texts):
            self.texts[i] = None if text.startswith(NOT_RUN) else _bare(text)
        if None in self.texts:
            return UNDECIDED
        if any(map(_failed, self.texts)):
            return StepFailed(self.name, self.texts)
        return self.texts if self.many else self.texts[0]


class Answered:
    name, calls = "its answer", ()

    def __init__(self, text: str):
        self.text = text

    def same(self, turn: Turn) -> bool:
        return False


# ---- the tool that puts a filled-in step on record ---------------------------------------------------------------------

def _fill_in(step, text, within=None):
    """What the model wrote for a step, as the step asked for it, in JSON; or an error that says what was asked for."""
    if len(text) > _LONGEST:
        return _wrong(f"the text has {len(text):,} characters; write at most {_LONGEST:,}")
    if isinstance(within, list):
        found = next((c for c in within if _plain(c) == _plain(text)), None)
        return json.dumps(found) if found else _wrong(f"{_shown(text)} is none of: {', '.join(within)}. Answer with one of them and nothing else.")
    if isinstance(within, dict):
        try:
            value = json.loads(_unfenced(text))
        except ValueError:
            return _wrong(f"{_shown(text)} is no JSON. Answer with JSON only, by this schema: {json.dumps(within)}")
        checker = Tool("value", "", {"properties": {"value": within}, "required": ["value"]}, lambda value: json.dumps(value))
        return Registry([checker]).execute("value", {"value": value})
    return json.dumps(text, ensure_ascii=False)


# Asking again is its purpose (poll: no loop), and so is asking twice (idempotent): it does nothing but keep what was written.
FILL_IN = Tool("fill_in", "Keeps what the model wrote for one step of a workflow.",
               {"properties": {"step": {"type": "string"}, "text": {"type": "string"}, "within": {"type": ["array", "object"]}},
                "required": ["step", "text"]}, _fill_in, poll=True, idempotent=True)


def _wrong(text: str) -> ToolResult:
    return ToolResult(f"ERROR: {text}", error=True)


def _failed(text: str) -> bool:
    """Whether the text of a result tells of an error, as the harness would say it or as a tool does: {"error": ...}."""
    if not text.startswith("{"):
        return text.startswith("ERROR:")
    try:
        return bool(json.loads(text).get("error"))
    except ValueError:
        return False


def _bare(text: str) -> str:
    """The result without the harness's note on what a hook has changed."""
    return text.split("\n", 1)[-1] if text.startswith(_NOTE) else text


def _plain(text: str) -> str:
    """A choice as it is compared: models add a full stop, quotes, stars or a capital letter."""
    return " ".join(text.split()).strip(" .`'\"*").casefold()


def _unfenced(text: str) -> str:
    fenced = re.fullmatch(r"\s*```(?:json)?\s*\n(.*)\n\s*```\s*", text, re.DOTALL)
    return fenced[1] if fenced else text


def _text(calls: list[ToolCall]) -> str:
    """What is asked for, whatever the ids and the order of the keys."""
    return json.dumps([(c.name, c.arguments) for c in calls], sort_keys=True, default=str)


def _shown(text: str) -> str:
    return repr(text if len(text) <= 80 else text[:80] + "...")
