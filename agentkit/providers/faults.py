"""What can go wrong between a model and a harness, as entries of a script."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from ..messages import Reply, ToolCall, Usage
from .refusal import Refusal

_WORDS = {429: "Rate limit reached. Please try again later.", 500: "The server had an error while processing your request.", 529: "Overloaded"}


@dataclass(frozen=True)
class Fault:
    """An entry that goes wrong on its way: an error `status`, or `reply` spoilt by whatever else is given."""

    reply: object = "hello"             # any entry of a script
    status: int | None = None           # an error instead of the reply; with `cut`, in the middle of its stream
    retry_after: float | None = None    # seconds; goes with the status
    message: str | None = None          # goes with the status
    cut: int | None = None              # events of a stream until it breaks off; not streamed, half of the body is sent
    hang_up: bool = True                # False: a stream that is cut ends as if all had been said
    delay: float = 0                    # seconds before the first byte
    body: str | None = None             # sent in the reply's place, such as text that is no JSON
    usage: str | None = None            # "missing" or "zeros" in the place of the usage

    def __post_init__(self):
        if self.usage not in (None, "missing", "zeros"):
            raise ValueError(f"Fault: usage must be 'missing', 'zeros' or None, not {self.usage!r}")
        if self.status is not None and not 400 <= self.status <= 599:
            raise ValueError(f"Fault: status must be an error from 400 to 599, not {self.status!r}")

    @property
    def refusal(self) -> Refusal:
        """The error, in a provider's words."""
        return Refusal(self.message or _WORDS.get(self.status, "The request failed."), status=self.status, retry_after=self.retry_after)


def entries_of(script: Iterable) -> list:
    """The entries of a script that was written as JSON.

    A text; {"call": name, "arguments": {...}}; a list of these; {"text", "calls", "stop_reason", "usage", "extra"} for a
    whole reply; {"fault": {"status": 429, ...}}. Raises ValueError that says which entry is none of them.
    """
    if not isinstance(script, list):
        raise ValueError('a script is a JSON list, such as [{"call": "get_order", "arguments": {"order_id": "A123"}}, "It is a keyboard."]')
    return [_entry(item, f"entry {i}") for i, item in enumerate(script, 1)]


def _entry(item, where):
    try:
        if isinstance(item, str):
            return item
        if isinstance(item, list):
            return [_entry(part, where) for part in item]
        if "call" in item:
            return ToolCall(item.get("id"), item["call"], item.get("arguments", {}))
        if "fault" in item:
            given = dict(item["fault"])
            return Fault(**{**given, "reply": _entry(given["reply"], where)} if "reply" in given else given)
        usage = Usage(**item["usage"]) if item.get("usage") else None
        return Reply(item.get("text"), tuple(_entry(c, where) for c in item.get("calls", ())), usage, item.get("stop_reason"), extra=item.get("extra"))
    except (TypeError, ValueError, KeyError, AttributeError) as error:
        raise ValueError(f'{where} of the script is no text, call, list, reply or fault ({error}): {item!r:.100}') from None
