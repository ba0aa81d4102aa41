"""The JSON schema of a Python function, read from its signature, type hints and docstring; and a quick look at simple schemas."""

from __future__ import annotations

import enum
import inspect
import operator
import re
import types
import typing

_SIMPLE = {str: "string", int: "integer", float: "number", bool: "boolean", type(None): "null",
           list: "array", tuple: "array", dict: "object"}


def function_schema(fn) -> dict:
    """The schema of the arguments of `fn`: what the signature says, no more and no less.

    Raises TypeError for a signature that a model cannot call by name (*args, **kwargs, positional-only) and for a
    type hint that JSON has no word for.
    """
    docs, properties, required = _argument_docs(fn), {}, []
    hints = typing.get_type_hints(fn, include_extras=True)
    for name, parameter in inspect.signature(fn).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD, parameter.POSITIONAL_ONLY):
            raise TypeError(f"{fn.__name__}: a model passes arguments by name, so {parameter} cannot be a tool's "
                            "argument; name each argument, or take one list")
        prop = type_schema(hints.get(name, typing.Any), f"{fn.__name__}({name})")
        if name in docs:
            prop["description"] = docs[name]
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is None or isinstance(parameter.default, (str, int, float)) and not isinstance(parameter.default, enum.Enum):
            prop["default"] = parameter.default
        properties[name] = prop
    return {"type": "object", "properties": properties, "required": required, "additionalProperties": False}


def type_schema(hint, where: str = "type hint") -> dict:
    """The schema of one type hint: str, int, float, bool, None, list, dict, Optional, Union, Literal, Enum, Annotated."""
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint is typing.Any:
        return {}
    if origin is typing.Annotated:
        notes = [a for a in args[1:] if isinstance(a, str)]
        return type_schema(args[0], where) | ({"description": notes[0]} if notes else {})
    if origin is typing.Literal:
        return {"enum": _plain_values(args, where)}
    if isinstance(hint, type) and issubclass(hint, enum.Enum):
        return {"enum": _plain_values([member.value for member in hint], where)}
    if origin in (typing.Union, types.UnionType):
        options = [type_schema(a, where) for a in args]
        if all(set(o) == {"type"} for o in options):
            return {"type": [o["type"] for o in options]}
        return {"anyOf": options}
    if set in (hint, origin) or frozenset in (hint, origin):
        raise TypeError(f"{where}: JSON has no set; take a list")
    if origin is list or (origin is tuple and args[1:] == (...,)):
        items = type_schema(args[0], where) if args else {}
        return {"type": "array", "items": items} if items else {"type": "array"}
    if origin is tuple:
        return {"type": "array", "prefixItems": [type_schema(a, where) for a in args], "minItems": len(args), "maxItems": len(args)}
    if origin is dict:
        if args and args[0] is not str:
            raise TypeError(f"{where}: the keys of a JSON object are text, so take dict[str, ...]")
        values = type_schema(args[1], where) if args else {}
        return {"type": "object", "additionalProperties": values} if values else {"type": "object"}
    if typing.is_typeddict(hint):
        return {"type": "object", "properties": {k: type_schema(v, where) for k, v in typing.get_type_hints(hint).items()},
                "required": sorted(hint.__required_keys__), "additionalProperties": False}
    if hint in _SIMPLE:
        return {"type": _SIMPLE[hint]}
    raise TypeError(f"{where}: JSON has no type for {hint!r}; use str, int, float, bool, list, dict, Literal, an Enum "
                    "or Optional of these, and convert inside the function")


def _plain_values(values, where: str) -> list:
    for value in values:
        if isinstance(value, enum.Enum) or not isinstance(value, (str, int, float, type(None))):
            raise TypeError(f"{where}: JSON has no word for {value!r}; use texts or numbers")
    return list(values)


def converter(hint):
    """A function from a JSON value to what the hint promises, or None where they are the same.

    JSON has no Enum and no tuple, and writes 5 as 5.0 if it likes; the schema has already accepted the value.
    """
    origin, args = typing.get_origin(hint), typing.get_args(hint)
    if hint in (int, tuple) or isinstance(hint, type) and issubclass(hint, enum.Enum):
        return hint
    if origin is typing.Annotated:
        return converter(args[0])
    if origin is list and args and (one := converter(args[0])):
        return lambda values: [one(v) for v in values]
    if origin is dict and args and (one := converter(args[1])):
        return lambda values: {k: one(v) for k, v in values.items()}
    if origin is tuple:
        each = [converter(a) for a in args if a is not ...]
        return lambda values: tuple(c(v) if c else v for v, c in zip(values, each * len(values) if args[-1] is ... else each))
    if origin in (typing.Union, types.UnionType):
        inner = [a for a in args if a is not type(None)]
        if len(inner) == 1 and (one := converter(inner[0])):
            return lambda value: None if value is None else one(value)
    return None


def description_of(fn) -> str:
    """The docstring up to its list of arguments: what the model chooses the tool by."""
    text = inspect.getdoc(fn) or ""
    return " ".join(re.split(r"(?m)^\s*(?:Args|Arguments|Parameters|Returns|Raises):?\s*$", text)[0].split())


def _argument_docs(fn) -> dict:
    """`name: text` lines under "Args:" in the docstring."""
    section = re.search(r"(?ms)^\s*(?:Args|Arguments|Parameters):\s*$(.*?)(?=^\s*(?:Returns|Raises):?\s*$|\Z)", inspect.getdoc(fn) or "")
    found = re.findall(r"(?m)^\s+(\w+)\s*(?:\([^)]*\))?:\s*(.+)$", section[1]) if section else []
    return {name: text.strip() for name, text in found}


# ---- a glance at simple arguments ------------------------------------------------------------------------------------

_KINDS = {"string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,)}
_BOUNDS = {     # a keyword: the types it is understood for here, what a sound bound is, what must hold
    "minimum": (("integer", "number"), lambda n: type(n) in (int, float), operator.ge),
    "maximum": (("integer", "number"), lambda n: type(n) in (int, float), operator.le),
    "minLength": (("string",), lambda n: type(n) is int and n >= 0, lambda text, n: len(text) >= n),
    "maxLength": (("string",), lambda n: type(n) is int and n >= 0, lambda text, n: len(text) <= n),
    "enum": (("string",), lambda known: isinstance(known, list) and all(isinstance(w, str) for w in known), lambda text, known: text in known),
}
_UNKNOWN = (), ()


def glance(schema: dict, takes_anything: bool):
    """A function, arguments -> whether they surely fit, for an object of strings, numbers and booleans with simple bounds; None for any other schema.

    Its yes is the validator's yes, in a thirtieth of the time. Its no says nothing (1.0 is an integer to a validator).
    """
    known, needed = schema.get("properties"), schema.get("required", [])
    if not (isinstance(known, dict) and schema.keys() <= {"type", "properties", "required", "additionalProperties"}
            and schema.get("type", "object") == "object" and schema.get("additionalProperties", takes_anything) is False
            and isinstance(needed, list) and all(isinstance(n, str) for n in needed) and len(set(needed)) == len(needed)):
        return None
    expected = {}
    for name, wanted in known.items():
        if not isinstance(wanted, dict) or not isinstance(name, str) or not isinstance(wanted.get("description", ""), str):
            return None
        kind, bounds = wanted.get("type"), {word: b for word, b in wanted.items() if word in _BOUNDS}
        if not isinstance(kind, str) or kind not in _KINDS or not wanted.keys() <= {"type", "description", "default", *bounds} \
                or not all(kind in _BOUNDS[word][0] and _BOUNDS[word][1](b) for word, b in bounds.items()):
            return None
        expected[name] = _KINDS[kind], [(_BOUNDS[word][2], b) for word, b in bounds.items()]
    needed = frozenset(needed)

    def fits(arguments: dict) -> bool:
        for name, value in arguments.items():
            kinds, bounds = expected.get(name, _UNKNOWN)
            if type(value) not in kinds:        # type(True) is bool, which is no number
                return False
            for holds, bound in bounds:
                if not holds(value, bound):
                    return False
        return arguments.keys() >= needed

    return fits
