"""Tells an exercise that nobody has started from a wrong answer.

Decided from the compiled code, because the source of a function is not always there to be read.
"""

from __future__ import annotations

import ast
import dis
import functools
import inspect
from types import CodeType

# What the bodies `...`, `pass`, a docstring, `return` and `raise NotImplementedError("...")` compile to, 3.10 to 3.14.
_HARMLESS = {
    "RESUME", "NOP", "CACHE", "PRECALL", "PUSH_NULL", "POP_TOP", "LOAD_CONST", "LOAD_GLOBAL", "LOAD_NAME",
    "RETURN_VALUE", "RETURN_CONST", "RAISE_VARARGS", "CALL", "CALL_FUNCTION", "COPY_FREE_VARS", "MAKE_CELL",
    "GEN_START", "RETURN_GENERATOR", "CALL_INTRINSIC_1", "RERAISE", "NOT_TAKEN",
}  # fmt: skip
_EMPTY_TEXTS = ("", "...", "\N{HORIZONTAL ELLIPSIS}")


def is_stub(answer: object, stub: str = "") -> bool:
    """Whether `answer` holds no attempt: nothing at all, an empty body, or the code of the exercise's own `stub`."""
    mine = codes(answer)
    if not mine:
        return _is_empty_class(answer) if inspect.isclass(answer) else not callable(answer) and _is_empty(answer)
    return all(_does_nothing(code) for code in mine.values()) or (bool(stub) and _same_codes(mine, _codes_of(stub)))


def codes(answer: object) -> dict[str, CodeType]:
    """The code of a function, or of each method of a class, by name; empty for everything else."""
    answer = getattr(answer, "fn", answer)  # a Tool holds its function there
    if isinstance(answer, functools.partial):
        answer = answer.func
    if inspect.isclass(answer):
        members = {name: getattr(member, "__func__", member) for name, member in vars(answer).items()}
        return {name: member.__code__ for name, member in members.items() if inspect.isfunction(member)}
    answer = getattr(inspect.unwrap(answer), "__func__", answer) if callable(answer) else answer
    return {answer.__name__: answer.__code__} if inspect.isfunction(answer) else {}


def _is_empty_class(answer):
    return not any(name for name in vars(answer) if not name.startswith("__"))


def _is_empty(value):
    if isinstance(value, str):
        return value.strip() in _EMPTY_TEXTS
    return value is None or _has_blank(value, 10)


def _has_blank(value, depth):
    """Whether a `...` still stands somewhere in the data."""
    if value is ... or depth == 0:
        return value is ...
    items = value.values() if type(value) is dict else value if type(value) in (list, tuple) else ()
    return any(_has_blank(item, depth - 1) for item in items)


def _does_nothing(code):
    names, constants, raises = set(), [], False
    for step in dis.get_instructions(code):
        if step.opname not in _HARMLESS:
            return False
        if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names.add(step.argval)
        if step.opname in ("LOAD_CONST", "RETURN_CONST"):
            constants.append(step.argval)
        raises = raises or step.opname == "RAISE_VARARGS"
    if raises:
        return names == {"NotImplementedError"}
    return not names and all(value is None or value is ... for value in constants)


def _same_codes(mine, theirs):
    return any(mine.keys() == other.keys() and all(_same_code(mine[n], other[n]) for n in mine) for other in theirs)


def _same_code(a, b):
    """The same instructions, wherever they stand in their file."""
    if (a.co_code, a.co_names, a.co_varnames) != (b.co_code, b.co_names, b.co_varnames):
        return False
    if len(a.co_consts) != len(b.co_consts):
        return False
    for x, y in zip(a.co_consts, b.co_consts):
        same = _same_code(x, y) if isinstance(x, CodeType) and isinstance(y, CodeType) else type(x) is type(y) and x == y
        if not same:
            return False
    return True


@functools.lru_cache(maxsize=None)
def _codes_of(source):
    """The code of each function in `source`, and of the methods of each class, without running it."""
    try:
        tree = ast.parse(source)
    except SyntaxError:
        return ()
    found = []
    # A .py file is compiled whole, a notebook's cell one statement at a time; where the source imports something, the code differs.
    for part in (tree, *(ast.Module([statement], []) for statement in tree.body)):
        for code in _inner(compile(part, "<stub>", "exec")):
            found.append({code.co_name: code})
            found.append({inner.co_name: inner for inner in _inner(code)})
    return tuple(found)


def _inner(code):
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]
