"""A message list as a provider wants it, translated by what is new, and the words in it that a provider would refuse."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Iterable

from ..messages import strict_json


class History:
    """A message list as a provider wants it. A list that has grown is translated by what is new; one that was changed, whole."""

    def __init__(self, translate: Callable[[dict], Iterable[dict]], merges_users: bool = False):
        self._translate, self._merges_users = translate, merges_users
        self._known: list[dict] = []        # copies, so that a message changed in place is seen
        self._closed: list[str] = []        # encoded items
        self._last: dict | None = None      # an item that may still take in what follows

    def update(self, messages: list[dict]) -> list[str]:
        """The items of the list, encoded."""
        if self._known != messages[:len(self._known)]:
            self._known, self._closed, self._last = [], [], None
        for message in messages[len(self._known):]:
            for item in self._translate(message):
                if self._merges_users and self._last and item["role"] == self._last["role"] == "user":
                    self._last["content"] += item["content"]
                else:
                    self._closed += [encode(self._last)] if self._last else []
                    self._last = item
            self._known.append(dict(message))
        return self._closed + ([encode(self._last)] if self._last else [])


class PerThread(threading.local):
    """A value of its own for each thread, so that runs side by side do not take turns with one history."""

    def __init__(self, make):
        self.value = make()


def encode(value) -> str:
    """JSON in the fewest characters."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def arrange(shape: list[dict] | None, text: dict | None, calls: list[dict]) -> list[dict]:
    """The parts of an assistant message in the order the provider sent them.

    `shape` has what the message list has no place for, whole, and stubs where the text and the calls stood.
    """
    found, calls = [], list(calls)
    for part in shape or ():
        if part.get("type") in ("text", "message"):
            found += [{**part, **text}] if text else []
            text = None
        elif part.get("type") in ("tool_use", "function_call"):
            found += [calls.pop(0)] if calls else []
        else:
            found.append(part)
    return found + ([text] if text else []) + calls


def wire_name(name: str) -> str:
    """A tool name that a provider takes; a model may have asked for one that it does not."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", name)[:64] or "_"


def object_or_wrapped(arguments: str) -> dict:
    """Arguments as the object that an API wants; a text that is none is shown to the model inside of one."""
    try:
        parsed = strict_json(arguments)
    except (ValueError, RecursionError):
        parsed = None
    return parsed if isinstance(parsed, dict) else {"INVALID_JSON": arguments}
