"""How values travel between the process that judges and the one that runs a learner's code.

Down, to the learner, goes pickle: what the judge sends is trusted, and each function among it becomes a number that can be
called back. Up, to the judge, goes JSON with a tag where JSON has no such type. It can name no code, so it can run none:
whatever a learner's process sends, it is data.
"""

from __future__ import annotations

import base64
import builtins
import copyreg
import dataclasses
import importlib
import inspect
import io
import pathlib
import pickle
from collections.abc import Callable

from .values import show, show_error

MOST, DEEPEST = 100_000, 50
"""Items (a hundred characters count as one) and levels of a value that are sent up; what is larger arrives as a text that says so."""
_PLAIN = (str, bytes, int, float, tuple, list, set, frozenset, dict)
_LAZY = {"generator": lambda: (x for x in ()), "map": lambda: map(str, ()), "filter": lambda: filter(None, ()), "zip": zip}


class CannotCross(Exception):
    """A case's argument that no other process can be sent."""


class Opaque:
    """Stands for a learner's value of a type that does not travel: its text is all there is."""

    text = ""

    def __repr__(self):
        return self.text


class Back:
    """On the learner's side: a function of the judge, called through the wire."""

    def __init__(self, number, about, call):
        self.__dict__.update(about["attrs"])
        self.__name__, self._text, self._number, self._call = about["name"], about["text"], number, call

    def __call__(self, *args, **kwargs):
        return self._call(self._number, args, kwargs)

    def __repr__(self):
        return self._text

    def __deepcopy__(self, memo):
        return self


class Functions:
    """On the judge's side: the functions that were sent down, by number."""

    def __init__(self):
        self.known: list = []

    def down(self, value: object) -> dict:
        """`value` for the learner's process; CannotCross where it cannot be sent."""
        file, first = io.BytesIO(), len(self.known)
        pickler = pickle.Pickler(file, protocol=4)
        pickler.persistent_id = self._number
        # Some libraries (Dask) teach pickle another way to send exceptions, which only works where they are imported too.
        pickler.dispatch_table = {kind: reduce for kind, reduce in copyreg.dispatch_table.items() if not issubclass(kind, BaseException)}
        try:
            pickler.dump(value)
        except Exception as error:  # pickle raises whatever a value's own methods raise
            raise CannotCross(show_error(error)) from None
        return {"pickle": base64.b64encode(file.getvalue()).decode(), "functions": {i: _about(f) for i, f in enumerate(self.known[first:], first)}}

    def _number(self, value):
        if not callable(value) or isinstance(value, type):
            return None
        for number, known in enumerate(self.known):
            if known is value:
                return number
        self.known.append(value)
        return len(self.known) - 1


def _about(function):
    attrs = {key: value for key, value in getattr(function, "__dict__", {}).items() if isinstance(value, (str, int, float, bool))}
    return {"text": show(function), "name": getattr(function, "__name__", type(function).__name__), "attrs": attrs}


def taken(sent: dict, backs: dict, call: Callable) -> object:
    """On the learner's side: the value that `down` has sent. `backs` keeps each function of the judge one object."""
    for number, about in sent["functions"].items():
        backs.setdefault(int(number), Back(int(number), about, call))
    unpickler = pickle.Unpickler(io.BytesIO(base64.b64decode(sent["pickle"])))
    unpickler.persistent_load = lambda number: backs[number]
    return unpickler.load()


def up(value: object, keep: Callable[[object], int] | None = None) -> object:
    """On the learner's side: `value` as JSON. `keep(function)` gives a number for a function that the judge may want to call."""
    left = [MOST]

    def pack(value, depth):
        kind = type(value)
        left[0] -= 1 + (len(value) // 100 if kind in (str, bytes) else value.bit_length() // 800 if kind is int else 0)
        if left[0] < 0:
            raise OverflowError
        if value is None or kind in (bool, float, str):
            return value
        if kind is int:
            return value if abs(value) < 1 << 53 else _tag("int", hex(value))
        if depth == 0:
            return _tag("opaque", "...", type=kind.__name__)
        if kind is list:
            return [pack(item, depth - 1) for item in value]
        if kind in (tuple, set, frozenset):
            return _tag(kind.__name__, [pack(item, depth - 1) for item in value])
        if kind is dict:
            return _tag("dict", [[pack(key, depth - 1), pack(item, depth - 1)] for key, item in value.items()])
        if kind is bytes:
            return _tag("bytes", value.hex())
        return pack_other(value, kind, depth)

    def pack_other(value, kind, depth):
        if kind is Back:
            return _tag("back", value._number)
        if kind.__name__ in _LAZY and kind.__module__ == "builtins":
            return _tag("lazy", kind.__name__)
        if inspect.isroutine(value) and keep is not None:
            return _tag("function", keep(value), text=show(value))
        if isinstance(value, BaseException):
            mro = [[one.__module__, one.__qualname__] for one in kind.__mro__ if issubclass(one, BaseException)]
            return _tag("error", pack(value.args, depth - 1), mro=mro, text=show_error(value), attrs=pack(dict(vars(value)), depth - 1))
        if isinstance(value, pathlib.PurePath):
            return _tag("path", str(value))
        if kind.__module__ == "numpy" and hasattr(value, "item") and getattr(value, "shape", None) == () and type(value.item()) in (int, float):
            return value.item()
        if dataclasses.is_dataclass(value) and kind.__module__.startswith("agentkit."):
            fields = {f.name: pack(getattr(value, f.name), depth - 1) for f in dataclasses.fields(value) if f.init}
            return _tag("data", fields, type=f"{kind.__module__}:{kind.__qualname__}")
        base = next((one for one in kind.__mro__ if one in _PLAIN), None)
        if base is not None:
            return _tag("sub", pack(base(value), depth - 1), type=kind.__name__)
        return _tag("opaque", show(value), type=kind.__name__)

    try:
        return pack(value, DEEPEST)
    except (OverflowError, RecursionError):
        return _tag("opaque", f"<a {type(value).__name__} that is endless or far too large>", type=type(value).__name__)
    except Exception as error:  # a learner's own type may raise anywhere
        return _tag("opaque", f"<a {type(value).__name__} that cannot be read: {show_error(error)}>", type=type(value).__name__)


def _tag(kind, value, **more):
    return {"t": kind, "v": value, **more}


def received(sent: object, functions: Functions, remote: Callable[[int], object] | None = None) -> object:
    """On the judge's side: the value that `up` has sent. ValueError for what `up` cannot have sent."""
    try:
        return _received(sent, functions, remote)
    except (KeyError, TypeError, AttributeError, IndexError, RecursionError) as error:
        raise ValueError(f"not a value: {type(error).__name__}") from None


def _received(sent, functions, remote):
    def each(items):
        return [_received(item, functions, remote) for item in items]

    if isinstance(sent, list):
        return each(sent)
    if not isinstance(sent, dict):
        return sent
    kind, value = sent["t"], sent["v"]
    if kind == "int":
        return int(value, 16)
    if kind in ("tuple", "set", "frozenset"):
        return {"tuple": tuple, "set": set, "frozenset": frozenset}[kind](each(value))
    if kind == "dict":
        return {key: item for key, item in map(each, value)}
    if kind == "bytes":
        return bytes.fromhex(value)
    if kind == "back":
        return functions.known[value]
    if kind == "lazy":
        return _LAZY[value]()
    if kind == "path":
        return pathlib.Path(value)
    if kind == "function" and remote is not None:
        return remote(int(value))
    if kind == "error":
        return _error(sent, tuple(_received(value, functions, remote)), _received(sent["attrs"], functions, remote))
    if kind == "data":
        return _data(sent["type"], {str(key): _received(item, functions, remote) for key, item in value.items()})
    if kind == "sub":
        plain = _received(value, functions, remote)
        return type(_name(sent), (type(plain),), {})(plain)
    return type(_name(sent), (Opaque,), {"text": str(value or sent.get("text"))})()


def _name(sent):
    return "".join(c for c in str(sent.get("type", "object")) if c.isprintable())[:60] or "object"


def _data(path, fields):
    """A value of one of agentkit's own dataclasses; no other class is ever looked up."""
    module, _, name = path.partition(":")
    kind = getattr(importlib.import_module(module), name, None) if module.startswith("agentkit.") else None
    if not (isinstance(kind, type) and dataclasses.is_dataclass(kind)):
        raise ValueError("no dataclass of agentkit")
    return kind(**fields)


def _error(sent, args, attrs):
    """An exception of the same type where the judge has it, else of its nearest relative, under the learner's name."""
    for position, (module, name) in enumerate(sent["mro"]):
        kind = getattr(builtins if module == "builtins" else _agentkits(module), str(name), None)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            break
    else:
        raise ValueError("no exception")
    error = _made(kind, args)
    if position or show_error(error) != sent["text"]:     # a type of the learner's, a __str__ of its own, or arguments that do not travel
        name, _, text = str(sent["text"]).partition(": ")
        error = _made(type(name[:60] or "Error", (kind,), {"__str__": lambda self: text}), args)
    error.__dict__.update({str(key): value for key, value in attrs.items()})
    return error


def _made(kind, args):
    error = kind.__new__(kind, *args)
    error.args = args
    return error


def _agentkits(module):
    return importlib.import_module(module) if module == "json.decoder" or str(module).startswith("agentkit.") else None
