"""The situations of the coding round (notebook 23): a scripted model, tools that keep a record, and what must come of it.

A situation calls the reader's `run(model, tools, task, max_steps=..., ...)` once (or, for a restart, twice) and then judges
what was sent to the model, what really ran and what came back. A judge returns None, or a sentence that says what happened.
"""

from __future__ import annotations

import copy
import functools
import inspect
import json
from collections.abc import Callable
from dataclasses import dataclass, field

from .values import show, show_error

MOST = 40
"""Model calls after which a script stops a loop that was to be stopped long before."""


class Enough(BaseException):
    """Raised by a script that is asked for ever. No `Exception`, so that `except Exception` lets it through."""


class Killed(BaseException):
    """The process dies here: raised by everything the reader's function touches from then on."""


def say(text, calls=None, tokens=0):
    """A reply in text, with calls beside it or without."""
    return {"text": text, **({} if calls is None else {"tool_calls": calls}), **({"tokens": tokens} if tokens else {})}


def ask(*calls, tokens=0):
    """A reply that only calls tools."""
    return {"tool_calls": list(calls), **({"tokens": tokens} if tokens else {})}


def call(id, name, arguments=None, /, **named):
    """One call; its arguments as JSON text, as a provider sends them."""
    return {"id": id, "name": name, "arguments": json.dumps(named) if arguments is None else arguments}


class Script:
    """The scripted model: gives its replies in turn, the last one again and again, and keeps what it was sent.

    A reply may be an exception, which is raised, or a function of the messages.
    """

    def __init__(self, scene, replies):
        self.scene, self.replies = scene, replies
        self.sent: list[list] = []

    def __call__(self, messages, *_, **__):
        self.scene.alive()
        reply = self.replies[min(len(self.sent), len(self.replies) - 1)]
        if len(self.sent) == MOST:
            raise Enough(f"the model was called {MOST} times, then it was stopped from outside")
        self.sent.append(_copied(messages))
        reply = reply(self.sent[-1]) if inspect.isfunction(reply) else reply
        self.scene.events.append(("model", len(self.sent[-1]), reply))
        if isinstance(reply, Killed):
            self.scene.kill()
        if isinstance(reply, BaseException):
            raise reply
        return copy.deepcopy(reply)

    def __repr__(self):
        return "<a scripted model>"


class Scene:
    """One call of the reader's function: what it is given, and everything that happened."""

    def __init__(self, replies, tools=(), *, task="Where is my order?", max_steps=10, **settings):
        self.events: list[tuple] = []  # ("model", messages sent, reply), ("tool", name, arguments, what came), ("killed",), ("restart",)
        self.ran: list[tuple[str, dict]] = []
        self.dead = False
        self.at_death = lambda: None
        self.model = Script(self, replies)
        self.tools = {fn.__name__: self._kept(fn) for fn in tools}
        self.task, self.settings = task, {"max_steps": max_steps, **settings}

    def alive(self):
        if self.dead:
            raise Killed

    def kill(self):
        """From here on nothing works, as in a process that was killed."""
        self.dead = True
        self.events.append(("killed",))
        self.at_death()
        raise Killed

    def restart(self, replies):
        """The same world with a new process and a new script; returns the model."""
        self.dead, self.model = False, Script(self, replies)
        self.events.append(("restart",))
        return self.model

    def _kept(self, fn):
        @functools.wraps(fn)
        def kept(*args, **kwargs):
            self.alive()
            bound = inspect.signature(fn).bind(*args, **kwargs)  # a wrong argument name raises before anything has run
            self.ran.append((fn.__name__, dict(bound.arguments)))
            try:
                value = fn(*args, **kwargs)
            except Killed:
                self.events.append(("tool", fn.__name__, dict(bound.arguments), "the process is killed in here"))
                self.kill()
            except BaseException as error:
                self.events.append(("tool", fn.__name__, dict(bound.arguments), f"raises {show_error(error)}"))
                raise
            self.events.append(("tool", fn.__name__, dict(bound.arguments), show(value, 90)))
            return value

        kept.__module__, kept.__qualname__ = "tools", fn.__name__  # Python's own error texts name them
        return kept

    @property
    def sent(self) -> list[list]:
        return self.model.sent

    @property
    def calls(self) -> int:
        return len(self.model.sent)


@dataclass
class End:
    """How a call of the reader's function ended."""

    status: object = None
    answer: object = None
    messages: object = None
    wrong: str = ""
    """Why none of this can be used: it raised, hung, or came back with something else."""
    hung: bool = False

    @classmethod
    def of(cls, result) -> End:
        if inspect.iscoroutine(result):
            result.close()
            return cls(wrong="Your function is a coroutine; the model here is a plain function, so write def, not async def.")
        if isinstance(result, dict):
            get = result.get
        elif result is not None and not isinstance(result, (str, int, float, tuple, list)):
            get = functools.partial(_attribute, result)
        else:
            return cls(
                wrong=f'Your function came back with {show(result, 60)}; the brief asks for a dict with "status", "answer" and "messages".'
            )
        return cls(get("status"), get("answer"), get("messages"))

    @property
    def done(self) -> bool:
        return self.status == "done"

    def __str__(self):
        return self.wrong or f"it came back with the status {show(self.status, 40)} and the answer {show(self.answer, 60)}"


def _attribute(value, name):
    return getattr(value, name, None)


@dataclass
class Situation:
    """A scene, the judge of it, and what is noted where all is well."""

    scene: Scene
    judge: Callable[[Scene, End], str | None]
    fine: str = ""
    play: Callable | None = None
    """`play(call, scene)` in place of one plain call; `call(**settings)` runs the reader's function and returns an End."""
    words: dict = field(default_factory=dict)


# ---- looking at a list ------------------------------------------------------------------------------------------------


def _copied(messages):
    try:
        return [dict(m) if isinstance(m, dict) else m for m in copy.deepcopy(messages)]
    except Exception:
        return []


def is_message(m) -> bool:
    return isinstance(m, dict) and isinstance(m.get("role"), str)


def ids(message) -> list:
    """The ids of the calls of an assistant message."""
    calls = message.get("tool_calls") if is_message(message) else None
    return [c.get("id") if isinstance(c, dict) else getattr(c, "id", None) for c in calls or ()]


def results(messages) -> dict:
    """{tool_call_id: content} of all results in a list."""
    return {m.get("tool_call_id"): m.get("content") for m in messages or () if is_message(m) and m["role"] == "tool"}


def result_of(messages, id):
    """The text that answers a call; None where there is none."""
    text = results(messages).get(id)
    return text if isinstance(text, str) and text.strip() else None


def roles(messages) -> str:
    return ", ".join(str(m.get("role")) if isinstance(m, dict) else type(m).__name__ for m in messages) or "nothing"


def refused(messages) -> str | None:
    """What a strict provider would refuse in a list, in words; None when it would take it."""
    if not isinstance(messages, list) or not all(map(is_message, messages)):
        return "it is no list of messages with roles"
    waiting: list = []
    for m in messages:
        if m["role"] == "tool":
            if not waiting or m.get("tool_call_id") != waiting[0]:
                return f"a result for {show(m.get('tool_call_id'), 30)} stands where " + (
                    f"{show(waiting[0], 30)} is to be answered" if waiting else "no call waits"
                )
            if not isinstance(m.get("content"), str):
                return f"a result is {show(m.get('content'), 40)}, which is no text"
            waiting = waiting[1:]
        elif waiting:
            return f"the call {show(waiting[0], 30)} has no result after it"
        elif m["role"] == "assistant":
            waiting = ids(m)
    return f"the call {show(waiting[0], 30)} has no result after it" if waiting else None


def left_open(messages) -> list:
    """The ids of calls that no result answers."""
    answered = results(messages)
    return [id for m in messages if is_message(m) for id in ids(m) if id not in answered]
