"""Values for people: a bounded text of any value, and where two values differ."""

from __future__ import annotations

import math
import re
from types import FunctionType

from .sandbox import Stopped

LONGEST = 400
"""Characters of a value shown in a verdict."""


def show(value: object, limit: int = LONGEST) -> str:
    """A text of `value` that is bounded, holds no memory address and never raises, whatever its `__repr__` does."""
    return shorten(_text(value, 6), limit)


def shorten(text: str, limit: int = LONGEST) -> str:
    """`text` with its middle left out where it is longer than `limit` characters."""
    if len(text) <= limit:
        return text
    tail = limit // 4
    return f"{text[: limit - tail]} ... {text[-tail:]} ({len(text):,} characters)"


def show_error(error: BaseException) -> str:
    """`KeyError: 'x'`, bounded, for any exception, also one whose text cannot be made."""
    text = _guarded(str, error)
    return type(error).__name__ + (f": {shorten(_no_address(text))}" if text else "")


def _text(value, depth):
    kind = type(value)
    if kind in (list, tuple, set, frozenset, dict) and depth == 0:
        return "..."
    if kind is dict:
        return "{" + _items(value.items(), lambda pair: f"{_text(pair[0], depth - 1)}: {_text(pair[1], depth - 1)}") + "}"
    if kind is list:
        return "[" + _items(value, lambda item: _text(item, depth - 1)) + "]"
    if kind is tuple:
        return "(" + _items(value, lambda item: _text(item, depth - 1)) + (",)" if len(value) == 1 else ")")
    if kind in (set, frozenset) and value:
        # Sorted, because the order of a set of texts changes from one start of Python to the next.
        texts = sorted(_text(item, depth - 1) for item in value)
        return ("{%s}" if kind is set else "frozenset({%s})") % _items(texts, str)
    if kind in (str, bytes) and len(value) > LONGEST:
        return f"{value[:200]!r}... ({len(value):,} {'characters' if kind is str else 'bytes'})"
    if kind is FunctionType:
        return f"<function {value.__name__}>"  # repr has the names of the functions around it, too
    return _no_address(_guarded(repr, value))


def _items(items, each, most=30):
    texts = []
    for item in items:
        if len(texts) == most:
            texts.append(f"... {len(items) - most:,} more")
            break
        texts.append(each(item))
    return ", ".join(texts)


def _guarded(make, value):
    try:
        return make(value)
    except Stopped:
        raise
    except BaseException as error:
        return f"<{type(value).__name__} whose {make.__name__}() raises {type(error).__name__}>"


def _no_address(text):
    return re.sub(r" at 0x[0-9A-Fa-f]+", "", text)


def same(want: object, got: object) -> bool:
    return difference(want, got) is None


def difference(want: object, got: object) -> str | None:
    """Where `got` first differs from `want`, in words; None when they are the same.

    Floats may differ by rounding. A bool is no number, a tuple no list. Values of other types are compared by `==`.
    """
    try:
        return _difference(want, got, "")
    except RecursionError:
        return "it is nested too deeply to be compared"


def _difference(want, got, at):
    where = f"at {at}: " if at else ""
    if isinstance(want, bool) or isinstance(got, bool):
        equal = type(want) is type(got) and want == got
    elif isinstance(want, (int, float)) and isinstance(got, (int, float)):
        equal = _same_number(want, got)
    elif type(want) in (list, tuple, dict, str) and type(want) is not type(got):
        return f"{where}{_a(got)} instead of {_a(want)}"
    elif type(want) is dict:
        return _difference_of_dicts(want, got, at, where)
    elif type(want) in (list, tuple):
        for i, (a, b) in enumerate(zip(want, got)):
            if found := _difference(a, b, f"{at}[{i}]"):
                return found
        return None if len(want) == len(got) else f"{where}{len(got)} items instead of {len(want)}"
    else:
        try:
            equal = bool(want == got)
        except Stopped:
            raise
        except BaseException as error:
            return f"{where}it cannot be compared: == raises {type(error).__name__}"
    return None if equal else f"{where}{show(got, 120)} instead of {show(want, 120)}"


def _difference_of_dicts(want, got, at, where):
    for key in want:
        if key not in got:
            return f"{where}the key {show(key, 60)} is missing"
        if found := _difference(want[key], got[key], f"{at}[{show(key, 60)}]"):
            return found
    extra = [key for key in got if key not in want]
    return f"{where}the key {show(extra[0], 60)} is one too many" if extra else None


def _same_number(want, got):
    if want == got or (want != want and got != got):
        return True
    try:
        return isinstance(want + got, float) and math.isclose(want, got, rel_tol=1e-9, abs_tol=1e-12)
    except OverflowError:
        return False


def _a(value):
    name = type(value).__name__
    return f"{'an' if name[0].lower() in 'aeiou' else 'a'} {name}"


def plain(value: object, depth: int = 20) -> bool:
    """Whether `value` is made of texts, numbers, None, lists, tuples, sets and dicts only, so that == means something."""
    kind = type(value)
    if kind in (str, bytes, int, float, bool, type(None)):
        return True
    if depth == 0:
        return False
    if kind is dict:
        return all(plain(k, depth - 1) and plain(v, depth - 1) for k, v in value.items())
    return kind in (list, tuple, set, frozenset) and all(plain(item, depth - 1) for item in value)
