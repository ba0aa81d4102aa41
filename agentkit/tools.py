"""Tools: what a model may ask for. The Registry is the allow-list; it renders the tools and runs them into text."""

from __future__ import annotations

import difflib
import functools
import inspect
import json
import re
import threading
import typing
from collections.abc import Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from importlib.util import find_spec

from . import schema as schemas
from .messages import Spent, clean, strict_json, to_text
from .workers import run_together

MAX_RESULT_CHARS = 20_000   # a tool result is sent again on every later call
MAX_DEPTH = 64              # deeper arguments are an attack or an accident
_NO_JSONSCHEMA = "agentkit checks arguments with jsonschema: run `python3 -m agentkit setup`, or pip install jsonschema"
_SHOWN = 200                # characters of a wrong input that an error text repeats


@dataclass(frozen=True)
class Tool:
    """A function that a model may ask for: the model sees name, description and schema, never `fn`."""

    name: str
    description: str
    schema: dict
    fn: Callable
    needs_approval: bool = False    # a person says yes before it runs
    poll: bool = False              # asking again is its purpose: exempt from the repeat check
    timeout: float | None = None    # seconds; None waits for ever
    parallel: bool = False          # may run beside other calls of one reply
    idempotent: bool = False        # running it twice does no more than running it once

    def __post_init__(self):
        if not isinstance(self.name, str) or not re.fullmatch(r"[A-Za-z0-9_-]{1,64}", self.name):
            raise ValueError(f"a tool's name must be 1 to 64 letters, digits, _ or -, not {self.name!r}; providers refuse others")
        if not isinstance(self.description, str):
            raise TypeError(f"{self.name}: description must be a text, not {type(self.description).__name__}")
        if not isinstance(self.schema, dict):
            raise TypeError(f"{self.name}: schema must be a dict (JSON schema of the arguments), not {type(self.schema).__name__}")
        if not callable(self.fn):
            raise TypeError(f"{self.name}: fn must be callable, not {type(self.fn).__name__}")
        if inspect.iscoroutinefunction(inspect.unwrap(self.fn)):
            raise TypeError(f"{self.name}: fn is async; the loop runs plain functions, so wrap it: lambda **a: asyncio.run(fn(**a))")
        if self.timeout is not None and (isinstance(self.timeout, bool) or not isinstance(self.timeout, (int, float))
                                         or not 0 < self.timeout <= threading.TIMEOUT_MAX):
            raise ValueError(f"{self.name}: timeout must be a number of seconds above 0, or None, not {self.timeout!r}")

    def __call__(self, *args, **kwargs):
        """Call the function directly, as if it were no tool."""
        return self.fn(*args, **kwargs)

    @functools.cached_property
    def definition(self) -> dict:
        """What a provider is sent for this tool (OpenAI shape)."""
        return {"type": "function", "function": {"name": self.name, "description": self.description,
                                                 "parameters": {"type": "object", **self.schema}}}

    @functools.cached_property
    def expects(self) -> str:
        """The arguments of a correct call, for error texts."""
        return f"{self.name} expects {to_text(self.schema.get('properties', {}))}"

    @functools.cached_property
    def anything(self) -> bool:
        """Whether its function takes arguments that no schema names."""
        return _takes_anything(self.fn)

    @functools.cached_property
    def _glance(self):
        return schemas.glance(self.schema, self.anything)

    def fits(self, arguments: dict) -> bool:
        """Whether the arguments fit a flat schema at a glance. A validator takes thirty times as long; what does not fit is for it to explain."""
        return self._glance is not None and self._glance(arguments)

    def ready(self) -> None:
        """Raise now what would otherwise show in the run. A flat schema is sound as it stands, and the validator, slow to import, can wait."""
        if self._glance is None:
            self.validator
        elif find_spec("jsonschema") is None:
            raise ImportError(_NO_JSONSCHEMA)

    @functools.cached_property
    def validator(self):
        """The compiled schema (jsonschema). Raises ValueError for a schema that is none."""
        try:
            import jsonschema
            import referencing
        except ImportError:
            raise ImportError(_NO_JSONSCHEMA) from None
        checked = {"type": "object", **self.schema}
        if "additionalProperties" not in checked and "properties" in checked and not self.anything:
            checked["additionalProperties"] = False     # or fn(**arguments) would fail with a Python error
        try:
            jsonschema.Draft202012Validator.check_schema(checked)
        except jsonschema.SchemaError as error:
            raise ValueError(f"{self.name}: the schema is not valid JSON schema: {error.message}") from None
        return jsonschema.Draft202012Validator(checked, registry=referencing.Registry())    # an empty registry fetches no $ref from the net


def tool(fn=None, **flags):
    """Make a Tool of a function: name, description and schema come from its signature, type hints and docstring."""
    if fn is None:
        return lambda f: tool(f, **flags)
    if isinstance(fn, (type, Tool)) or not hasattr(fn, "__name__"):
        raise TypeError(f"@tool takes a function, not {fn!r:.80}; for any other callable: Tool(name, description, schema, fn)")
    hints = typing.get_type_hints(fn)
    convert = {k: c for k, h in hints.items() if k != "return" and (c := schemas.converter(h))}

    @functools.wraps(fn)
    def converted(*args, **kwargs):
        return fn(*args, **{k: convert[k](v) if k in convert else v for k, v in kwargs.items()})

    return Tool(fn.__name__, schemas.description_of(fn), schemas.function_schema(fn), converted if convert else fn, **flags)


class Running(typing.NamedTuple):
    """What a tool or a hook may know of the run that it works for."""

    key: str                            # a text of this one call
    depth: int                          # 0 in a run of your own, 1 in the run of a sub-agent, and so on
    left: Callable                      # () -> Limits: what the run may still use
    options: dict                       # what a run on its behalf takes over: approve, count_tokens, prices, clock


RUNNING: ContextVar[Running | None] = ContextVar("the call that is running", default=None)


def running() -> Running | None:
    """For use inside a tool or a hook: what it may know of the run that it works for; None outside a run."""
    return RUNNING.get()


def idempotency_key() -> str | None:
    """For use inside a tool: a text of this one call, the same when it is run again after a crash; None outside a run.

    A tool that writes it beside what it changes can see that the change has been made already.
    """
    return RUNNING.get() and RUNNING.get().key


class ToolResult(typing.NamedTuple):
    """What a call came to: the text for the model, whether it counts as an error, and what it used of the run's budgets.

    A tool may return one itself: to call its own text an error, or to have what it spent charged to the run.
    """

    text: str
    error: bool = False
    spent: Spent | None = None


class Refused(Exception):
    """A call that does not run; its text tells the model what a correct call looks like."""

    @property
    def result(self) -> ToolResult:
        return ToolResult(clean(f"ERROR: {self}"), error=True)


class Registry:
    """The tools of a run, by name. A name that is not in here never runs, whatever the model writes."""

    def __init__(self, tools: Iterable[Tool] = ()):
        self._tools: dict[str, Tool] = {}
        for t in tools:
            if not isinstance(t, Tool):
                raise TypeError(f"a registry takes tools, not {t!r:.80}; put @tool above the function")
            if t.name in self._tools:
                raise ValueError(f"two tools are called {t.name!r}; rename one of them")
            t.ready()       # a broken schema is the programmer's mistake: it shows now, not in the run
            self._tools[t.name] = t

    def __iter__(self):
        return iter(self._tools.values())

    def __len__(self):
        return len(self._tools)

    def __contains__(self, name):
        return name in self._tools

    def __getitem__(self, name) -> Tool:
        return self._tools[name]

    @property
    def names(self) -> list[str]:
        return list(self._tools)

    def definitions(self) -> list[dict]:
        """What is sent to a native model with every call."""
        return [t.definition for t in self]

    def render(self) -> str:
        """The tools as text, one line each, for the system prompt of a model that has no tools parameter."""
        return "\n".join(f"- {t.name}: {t.description} Arguments: {json.dumps(t.schema)}" for t in self)

    def check(self, name, arguments) -> tuple[Tool, dict]:
        """The tool and the parsed arguments of a call that may run. Raises Refused, with the text for the model."""
        tool = self._tools.get(clean(name)) if isinstance(name, str) else None
        if tool is None:
            near = _nearest(to_text(name), self._tools, 0.8)    # a misspelling only
            raise Refused(f"there is no tool {show(name)}." + (f" Did you mean {near}?" if near else "")
                          + f" Available tools: {', '.join(self._tools) or 'none'}.")
        parsed = parse_arguments(arguments, tool)
        try:
            error = None if tool.fits(parsed) else next(tool.validator.iter_errors(parsed), None)
            wrong = error and explain(error)
        except Exception as e:      # a $ref that leads nowhere, a pattern that is no pattern, a depth that is too deep
            wrong = f"the arguments could not be checked ({describe(e)})"
        if wrong:
            raise Refused(f"{wrong}. {tool.expects}")
        return tool, parsed

    def execute(self, name, arguments) -> ToolResult:
        """Run one call. Never raises for what a model or a tool does: every failure becomes text for the model."""
        try:
            tool, parsed = self.check(name, arguments)
        except Refused as refused:
            return refused.result
        return run_tool(tool, parsed)


def run_tool(tool: Tool, arguments: dict) -> ToolResult:
    """Run a checked call and turn whatever comes back into bounded text."""
    try:
        # At the time-out the loop goes on; the thread is left behind, and workers.abandoned() counts it.
        value = tool.fn(**arguments) if tool.timeout is None else run_together([lambda: tool.fn(**arguments)], [tool.timeout])[0].result()
    except Exception as error:
        return ToolResult(bounded(f"ERROR: {tool.name} failed: {describe(error)}", 2_000), error=True)
    if isinstance(value, ToolResult):       # a tool that says itself what is an error, or what it spent
        return ToolResult(bounded(to_text(value.text)), _is_error({"error": value.error}), value.spent if isinstance(value.spent, Spent) else None)
    return ToolResult(bounded(to_text(value)), error=_is_error(value))


def parse_arguments(arguments, tool: Tool) -> dict:
    """A call's arguments as a fresh dict of plain JSON. Raises Refused for anything that is not one JSON object."""
    try:
        text = clean(arguments if isinstance(arguments, str) else json.dumps(arguments))
        parsed = strict_json(text)
        if "\\ud" in text or "\\uD" in text:    # half of a pair can hide behind an escape
            parsed = strict_json(clean(json.dumps(parsed, ensure_ascii=False)))
    except Exception as error:
        raise Refused(f"the arguments are not valid JSON ({describe(error)}): {show(arguments)}. {tool.expects}") from None
    if not isinstance(parsed, dict):
        raise Refused(f"the arguments must be a JSON object, not {show(parsed)}. {tool.expects}")
    if text.count("{") + text.count("[") > MAX_DEPTH and _depth(parsed) > MAX_DEPTH:
        raise Refused(f"the arguments are nested more than {MAX_DEPTH} levels deep: {show(arguments)}. {tool.expects}")
    return parsed


def explain(error) -> str:
    """One plain sentence for a jsonschema error."""
    where = "".join(f"[{p}]" if isinstance(p, int) else f".{p}" if i else str(p) for i, p in enumerate(error.absolute_path))[:_SHOWN]
    if error.validator == "required" and isinstance(error.instance, dict):
        missing = next(k for k in error.validator_value if k not in error.instance)
        extra = [k for k in error.instance if k not in error.schema.get("properties", {})]
        return f"missing required argument '{where + '.' if where else ''}{missing}'" + (f"; you sent {', '.join(map(show, extra[:3]))}" if extra else "")
    if error.validator == "additionalProperties" and isinstance(error.instance, dict):
        known, patterns = error.schema.get("properties", {}), error.schema.get("patternProperties", {})
        extra = next(k for k in error.instance if k not in known and not any(re.search(p, k) for p in patterns))
        near = _nearest(extra, known)
        return f"unknown argument {show(extra)}" + (f" (did you mean '{near}'?)" if near else "")
    if error.validator == "type":
        wanted = error.validator_value if isinstance(error.validator_value, str) else " or ".join(map(str, error.validator_value))
        return f"argument '{where}' must be {wanted}, not {show(error.instance)}"
    if error.validator == "enum":
        return f"argument '{where}' must be one of {show(error.validator_value)}, not {show(error.instance)}"
    return f"bad argument{f' {where!r}' if where else 's'}: {bounded(clean(error.message), _SHOWN)}"


def describe(error: BaseException) -> str:
    """An exception as one line without a traceback."""
    try:
        text = clean(str(error))
    except Exception:
        text = ""
    name = type(error).__name__
    return bounded(f"{name}: {text}" if text else name, 1_000)


def show(value) -> str:
    """A value as short text for an error message."""
    text = to_text(value)
    if isinstance(value, str) and len(text) <= 40:
        return f"'{text}'"
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text):,} characters)"


def bounded(text: str, limit: int = MAX_RESULT_CHARS) -> str:
    """The text, or its start and a sentence that says how much is missing; never blank, since providers refuse that."""
    if not text.strip():
        return "(no output)"
    if len(text) <= limit:
        return text
    return f"{text[:limit]}\n[cut: {len(text):,} characters in all, the first {limit:,} are shown; ask for less at a time]"


def _is_error(value) -> bool:
    try:
        return isinstance(value, Mapping) and bool(value.get("error"))
    except Exception:
        return True


def _nearest(word: str, known: Iterable[str], alike: float = 0.6) -> str | None:
    """The known word that was probably meant."""
    return next(iter(difflib.get_close_matches(word[:_SHOWN], known, 1, alike)), None)


def _depth(value) -> int:
    depth, level = 0, [value]
    while level:
        depth += 1
        level = [v for item in level if isinstance(item, (dict, list)) for v in (item.values() if isinstance(item, dict) else item)]
    return depth


def _takes_anything(fn) -> bool:
    try:
        return any(p.kind is p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())
    except (TypeError, ValueError):
        return True
