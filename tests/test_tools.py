"""Tools: the schema that a signature says, what may run, and what a failure is told as."""

import enum
import functools
import json
import threading
import time
from typing import Annotated, Any, Dict, List, Literal, Optional, TypedDict, Union

import jsonschema
import pytest

from agentkit import Registry, Tool, tool
from agentkit.tools import MAX_DEPTH, MAX_RESULT_CHARS
from harness import add, counting, fail, look_up, recording


class Size(enum.Enum):
    SMALL = "s"
    LARGE = "l"


class Level(enum.IntEnum):
    LOW = 1
    HIGH = 2


class Place(TypedDict):
    street: str
    number: int


class Half(TypedDict, total=False):
    street: str


# ---- the schema of a signature ----------------------------------------------------------------------------------------------

HINTS = [  # hint, its schema, values it takes, values it refuses
    (str, {"type": "string"}, ["a", ""], [5, None, ["a"]]),
    (int, {"type": "integer"}, [5, -1, 5.0], [5.5, "5", True, None]),
    (float, {"type": "number"}, [5, 5.5], ["5", False]),
    (bool, {"type": "boolean"}, [True, False], [1, 0, "true"]),
    (None, {"type": "null"}, [None], [0, ""]),
    (list, {"type": "array"}, [[], [1, "a"]], ["a", {}]),
    (dict, {"type": "object"}, [{}, {"a": 1}], [[]]),
    (Any, {}, [1, "a", None, [], {}], []),
    (Optional[str], {"type": ["string", "null"]}, ["a", None], [5]),
    (int | None, {"type": ["integer", "null"]}, [5, None], ["5", True]),
    (Union[int, str], {"type": ["integer", "string"]}, [5, "5"], [5.5, None]),
    (list[int], {"type": "array", "items": {"type": "integer"}}, [[], [1, 2]], [["1"], [True], 1]),
    (List[str], {"type": "array", "items": {"type": "string"}}, [["a"]], [[1]]),
    (List, {"type": "array"}, [[1]], [1]),
    (Dict, {"type": "object"}, [{"a": 1}], [1]),
    (list[list[int]], {"type": "array", "items": {"type": "array", "items": {"type": "integer"}}}, [[[1]]], [[1]]),
    (Optional[list[int]], {"anyOf": [{"type": "array", "items": {"type": "integer"}}, {"type": "null"}]}, [[1], None], [["a"]]),
    (dict[str, int], {"type": "object", "additionalProperties": {"type": "integer"}}, [{"a": 1}], [{"a": "1"}]),
    (
        tuple[int, str],
        {"type": "array", "prefixItems": [{"type": "integer"}, {"type": "string"}], "minItems": 2, "maxItems": 2},
        [[1, "a"]],
        [[1], [1, "a", 2], ["a", 1]],
    ),
    (tuple[int, ...], {"type": "array", "items": {"type": "integer"}}, [[], [1, 2]], [["a"]]),
    (Literal["a", "b"], {"enum": ["a", "b"]}, ["a", "b"], ["c", None]),
    (Literal[1, None], {"enum": [1, None]}, [1, None], [2, True]),
    (Optional[Literal["a"]], {"anyOf": [{"enum": ["a"]}, {"type": "null"}]}, ["a", None], ["b"]),
    (Size, {"enum": ["s", "l"]}, ["s", "l"], ["SMALL", "m"]),
    (Level, {"enum": [1, 2]}, [1, 2], [3, "LOW"]),
    (list[Size], {"type": "array", "items": {"enum": ["s", "l"]}}, [["s", "l"]], [["m"]]),
    (Annotated[int, "how many"], {"type": "integer", "description": "how many"}, [5], ["5"]),
    (Annotated[int, 5], {"type": "integer"}, [5], ["5"]),
    (
        Place,
        {
            "type": "object",
            "properties": {"street": {"type": "string"}, "number": {"type": "integer"}},
            "required": ["number", "street"],
            "additionalProperties": False,
        },
        [{"street": "Elm", "number": 5}],
        [{"street": "Elm"}, {"street": "Elm", "number": 5, "x": 1}, {"street": "Elm", "number": "5"}],
    ),
    (
        Half,
        {"type": "object", "properties": {"street": {"type": "string"}}, "required": [], "additionalProperties": False},
        [{}, {"street": "Elm"}],
        [{"x": 1}],
    ),
]


@pytest.mark.parametrize("hint, schema, takes, refuses", HINTS, ids=[str(h[0]) for h in HINTS])
def test_a_type_hint_is_its_schema_and_jsonschema_agrees(hint, schema, takes, refuses):
    ran = []

    def use(x):
        ran.append(x)
        return "used"

    use.__annotations__["x"] = hint
    made = tool(use)
    assert made.schema == {"type": "object", "properties": {"x": schema}, "required": ["x"], "additionalProperties": False}
    jsonschema.Draft202012Validator.check_schema(made.schema)
    registry = Registry([made])
    for value in takes:
        assert registry.execute("use", {"x": value}).text == "used"
    assert len(ran) == len(takes)
    for value in refuses:
        with pytest.raises(jsonschema.ValidationError):
            jsonschema.validate({"x": value}, made.schema)
        result = registry.execute("use", {"x": value})
        assert result.error and "use expects" in result.text
    assert len(ran) == len(takes), "what is refused does not run"


@pytest.mark.parametrize(
    "hint, sent, arrives",
    [
        (Size, "s", Size.SMALL),
        (Level, 2, Level.HIGH),
        (Optional[Size], None, None),
        (Optional[Size], "l", Size.LARGE),
        (list[Size], ["s"], [Size.SMALL]),
        (dict[str, Size], {"a": "s"}, {"a": Size.SMALL}),
        (Annotated[Size, "how big"], "s", Size.SMALL),
        (int, 5.0, 5),
        (list[int], [5.0], [5]),
        (float, 5, 5),
        (tuple[int, Size], [1, "s"], (1, Size.SMALL)),
        (tuple[Size, ...], ["s", "l"], (Size.SMALL, Size.LARGE)),
        (tuple, [1], (1,)),
        (str, "s", "s"),
    ],
)
def test_a_function_is_given_what_its_hints_promise(hint, sent, arrives):
    got = []

    def use(x):
        got.append(x)

    use.__annotations__["x"] = hint
    Registry([tool(use)]).execute("use", {"x": sent})
    assert got == [arrives] and type(got[0]) is type(arrives)


def test_defaults_are_optional_and_shown():
    @tool
    def find(item: str, most: int = 5, exact: bool = False, near: Optional[str] = None, size: Size = Size.SMALL, tags: list = []):
        """Find an item."""

    assert find.schema["required"] == ["item"]
    shown = {name: prop.get("default", "none shown") for name, prop in find.schema["properties"].items()}
    assert shown == {"item": "none shown", "most": 5, "exact": False, "near": None, "size": "none shown", "tags": "none shown"}


def test_the_docstring_describes_the_tool_and_its_arguments():
    @tool
    def find(item: str, most: int = 5) -> list:
        """Find an item on the shelf.

        Use it before you say that something is sold out.

        Args:
            item: what to look for
            most (int): how many to list

        Returns:
            a list
        """

    assert find.name == "find"
    assert find.description == "Find an item on the shelf. Use it before you say that something is sold out."
    assert {k: p["description"] for k, p in find.schema["properties"].items()} == {"item": "what to look for", "most": "how many to list"}


def test_hints_may_be_texts():
    def find(item: "str", size: "Optional[Size]" = None):
        return f"{item} {size}"

    assert tool(find).schema["properties"] == {
        "item": {"type": "string"},
        "size": {"anyOf": [{"enum": ["s", "l"]}, {"type": "null"}], "default": None},
    }


def test_a_method_becomes_a_tool_without_self():
    class Shop:
        def price(self, item: str) -> int:
            """The price."""
            return len(item)

    made = tool(Shop().price)
    assert made.name == "price" and list(made.schema["properties"]) == ["item"]
    assert Registry([made]).execute("price", {"item": "lamp"}).text == "4"


def test_a_tool_can_still_be_called():
    assert add(2, 3) == 5 and add(a=2, b=3) == 5


def test_flags_are_passed_on():
    assert tool(needs_approval=True, poll=True, timeout=2.0)(len_of).needs_approval


def len_of(text: str) -> int:
    return len(text)


class CallMe:
    def __call__(self, x: int):
        return x


async def later(x: int):
    return x


async def later_text(x: str):
    return x


REFUSED = {
    "*args": (lambda: tool(_with_args), r"passes arguments by name, so \*items cannot"),
    "**kwargs": (lambda: tool(_with_kwargs), r"passes arguments by name, so \*\*more cannot"),
    "positional only": (lambda: tool(_positional), "passes arguments by name"),
    "set": (lambda: tool(_takes(set)), "JSON has no set; take a list"),
    "set of int": (lambda: tool(_takes(set[int])), "JSON has no set"),
    "bytes": (lambda: tool(_takes(bytes)), "JSON has no type for <class 'bytes'>"),
    "another class": (lambda: tool(_takes(CallMe)), "JSON has no type"),
    "keys that are no text": (lambda: tool(_takes(dict[int, str])), "keys of a JSON object are text"),
    "an enum of tuples": (lambda: tool(_takes(enum.Enum("Odd", {"A": (1, 2)}))), "JSON has no word for"),
    "a literal enum": (lambda: tool(_takes(Literal[Size.SMALL])), "JSON has no word for"),
    "a callable object": (lambda: tool(CallMe()), "@tool takes a function"),
    "a class": (lambda: tool(CallMe), "@tool takes a function"),
    "a partial": (lambda: tool(functools.partial(len_of)), "@tool takes a function"),
    "a tool": (lambda: tool(add), "@tool takes a function"),
    "async": (lambda: tool(later_text), "fn is async"),
    "async with a converter": (lambda: tool(later), "fn is async"),
    "a lambda": (lambda: tool(lambda x: x), "a tool's name must be"),
    "a name with a space": (lambda: Tool("look up", "", {}, print), "1 to 64 letters, digits, _ or -, not 'look up'"),
    "an empty name": (lambda: Tool("", "", {}, print), "a tool's name"),
    "a long name": (lambda: Tool("x" * 65, "", {}, print), "a tool's name"),
    "a name that is no text": (lambda: Tool(5, "", {}, print), "a tool's name"),
    "a description that is no text": (lambda: Tool("x", None, {}, print), "description must be a text"),
    "a schema that is no dict": (lambda: Tool("x", "", [], print), "schema must be a dict"),
    "no function": (lambda: Tool("x", "", {}, "print"), "fn must be callable"),
    **{
        f"a time-out of {t!r}": (lambda t=t: Tool("x", "", {}, print, timeout=t), "timeout must be a number of seconds")
        for t in (0, -1, True, "5", float("nan"), float("inf"))
    },
    "a broken schema": (lambda: Registry([Tool("x", "", {"type": "nonsense"}, print)]), "x: the schema is not valid JSON schema"),
    "one name twice": (lambda: Registry([add, add]), "two tools are called 'add'"),
    "a bare function": (lambda: Registry([len_of]), "put @tool above the function"),
}


def _with_args(*items): ...
def _with_kwargs(**more): ...
def _positional(x, /): ...


def _takes(hint):
    def use(x): ...

    use.__annotations__["x"] = hint
    return use


@pytest.mark.parametrize("make, says", REFUSED.values(), ids=REFUSED)
def test_a_programmers_mistake_shows_at_once(make, says):
    with pytest.raises((TypeError, ValueError), match=says):
        make()


# ---- the allow-list -----------------------------------------------------------------------------------------------------


def test_the_registry_lists_its_tools():
    registry = Registry([look_up, add])
    assert registry.names == ["look_up", "add"] and len(registry) == 2 and "add" in registry and "rm" not in registry
    assert list(registry) == [look_up, add] and registry["add"] is add
    assert registry.definitions()[1] == {
        "type": "function",
        "function": {"name": "add", "description": "Add two whole numbers.", "parameters": add.schema},
    }
    assert registry.render().splitlines()[0] == f"- look_up: Look up one thing in the shop. Arguments: {json.dumps(look_up.schema)}"


# name, arguments, the whole error text
TOLD = {
    "unknown": ("rm", {}, "ERROR: there is no tool 'rm'. Available tools: look_up, add."),
    "nearly known": ("lookup", {}, "ERROR: there is no tool 'lookup'. Did you mean look_up? Available tools: look_up, add."),
    "no name": (None, {}, "ERROR: there is no tool null. Available tools: look_up, add."),
    "missing": ("look_up", {}, 'ERROR: missing required argument \'item\'. look_up expects {"item": {"type": "string"}}'),
    "missing, another sent": (
        "look_up",
        {"id": 5},
        'ERROR: missing required argument \'item\'; you sent \'id\'. look_up expects {"item": {"type": "string"}}',
    ),
    "unknown argument": (
        "look_up",
        {"item": "x", "itme": "y"},
        'ERROR: unknown argument \'itme\' (did you mean \'item\'?). look_up expects {"item": {"type": "string"}}',
    ),
    "wrong type": ("look_up", {"item": 5}, 'ERROR: argument \'item\' must be string, not 5. look_up expects {"item": {"type": "string"}}'),
    "broken JSON": (
        "look_up",
        '{"item": ',
        "ERROR: the arguments are not valid JSON (JSONDecodeError: Expecting value: line 1 column 10 (char 9)): '{\"item\": '. "
        'look_up expects {"item": {"type": "string"}}',
    ),
    "a list": ("look_up", "[1]", 'ERROR: the arguments must be a JSON object, not [1]. look_up expects {"item": {"type": "string"}}'),
}


@pytest.mark.parametrize("name, arguments, text", TOLD.values(), ids=TOLD)
def test_an_error_says_what_was_wrong_and_what_is_right(name, arguments, text):
    result = Registry([look_up, add]).execute(name, arguments)
    assert result.error and result.text == text


@pytest.mark.parametrize(
    "schema, arguments, says",
    [
        ({"properties": {"x": {"enum": ["a", "b"]}}}, {"x": "c"}, "argument 'x' must be one of [\"a\", \"b\"], not 'c'"),
        ({"properties": {"x": {"type": ["integer", "null"]}}}, {"x": "5"}, "argument 'x' must be integer or null, not '5'"),
        ({"properties": {"x": {"items": {"type": "integer"}}}}, {"x": [1, "b"]}, "argument 'x[1]' must be integer, not 'b'"),
        ({"properties": {"x": {"properties": {"y": {"type": "string"}}}}}, {"x": {"y": 1}}, "argument 'x.y' must be string, not 1"),
        ({"properties": {"x": {"required": ["y"]}}}, {"x": {}}, "missing required argument 'x.y'"),
        ({"properties": {"x": {"minimum": 3}}}, {"x": 2}, "bad argument 'x': 2 is less than the minimum of 3"),
        ({"properties": {"x": {"$ref": "#/nowhere"}}}, {"x": "a"}, "the arguments could not be checked ("),
        ({"maxProperties": 1}, {"x": 1, "y": 2}, "bad arguments: "),
        ({"properties": {"a": {}}, "patternProperties": {"^n": {}}, "additionalProperties": False}, {"n1": 1, "zz": 2}, "unknown argument 'zz'"),
    ],
)
def test_every_kind_of_schema_error_is_one_sentence(schema, arguments, says):
    take, seen = recording(schema=schema)
    result = Registry([take]).execute("take", arguments)
    assert result.error and result.text.startswith(f"ERROR: {says}") and seen == []


@pytest.mark.parametrize(
    "arguments",
    [
        {"x": "long " * 100_000},
        {"k" * 100_000: "v"},
        {f"k{i}": 1 for i in range(10_000)},
        '{"x": ' + "9" * 100_000,
        {"n": {"k" * 100_000: "no number"}},
    ],
)
def test_an_error_text_is_bounded_whatever_was_sent(arguments):
    schema = {
        "properties": {"x": {"type": "integer"}, "n": {"additionalProperties": {"type": "integer"}}},
        "additionalProperties": False,
        "required": ["y"],
    }
    for needed in (["y"], []):
        take, _ = recording(schema={**schema, "required": needed})
        result = Registry([take]).execute("take", arguments)
        assert result.error and len(result.text) < 2_000


def test_a_remote_reference_is_never_fetched(monkeypatch):
    import socket
    import urllib.request

    asked = []
    monkeypatch.setattr(socket, "create_connection", lambda *a, **k: asked.append(a))
    monkeypatch.setattr(socket.socket, "connect", lambda *a: asked.append(a))
    monkeypatch.setattr(urllib.request, "urlopen", lambda *a, **k: asked.append(a))
    take, seen = recording(schema={"properties": {"x": {"$ref": "http://127.0.0.1:9/schema.json"}}})
    result = Registry([take]).execute("take", {"x": 1})
    assert result.error and "could not be checked" in result.text and seen == [] and asked == []


@pytest.mark.parametrize("nested, runs", [(MAX_DEPTH - 1, True), (MAX_DEPTH, False), (5_000, False), (200_000, False)])
def test_arguments_are_nested_so_deep_and_no_deeper(nested, runs):
    take, seen = recording()
    result = Registry([take]).execute("take", '{"x": ' + "[" * nested + "]" * nested + "}")
    assert bool(seen) is runs and result.error is not runs


def test_a_schema_without_additional_properties_lets_no_unknown_name_through_to_the_function():
    made = Tool("f", "", {"properties": {"x": {}}}, lambda x: "ran")
    assert Registry([made]).execute("f", {"x": 1, "y": 2}).text.startswith("ERROR: unknown argument 'y'")


# ---- what comes back ------------------------------------------------------------------------------------------------------


def test_a_result_keeps_its_text_and_other_values_are_json():
    assert Registry([counting(returns='{"a":  1}')[0]]).execute("ping", "{}").text == '{"a":  1}'
    assert Registry([counting(returns={"a": 1})[0]]).execute("ping", "{}").text == '{"a": 1}'


@pytest.mark.parametrize(
    "returns, error",
    [
        ({"error": "gone"}, True),
        ({"error": True}, True),
        ({"error": ""}, False),
        ({"error": None}, False),
        ({"error": 0}, False),
        ({"errors": 1}, False),
        ("error", False),
        (["error"], False),
    ],
)
def test_a_mapping_with_a_truthy_error_is_an_error(returns, error):
    assert Registry([counting(returns=returns)[0]]).execute("ping", {}).error is error


@pytest.mark.parametrize("returns", ["", "  \n"])
def test_an_empty_result_is_said_to_be_empty(returns):
    assert Registry([counting(returns=returns)[0]]).execute("ping", {}).text == "(no output)"


def test_none_is_said_as_json_says_it():
    assert Registry([counting(returns=None)[0]]).execute("ping", {}).text == "null"


def test_a_long_result_is_cut_and_says_so():
    exactly, longer = "x" * MAX_RESULT_CHARS, "x" * (MAX_RESULT_CHARS + 1)
    assert Registry([counting(returns=exactly)[0]]).execute("ping", {}).text == exactly
    assert Registry([counting(returns=longer)[0]]).execute("ping", {}).text == (
        exactly + "\n[cut: 20,001 characters in all, the first 20,000 are shown; ask for less at a time]"
    )


def test_a_tool_that_raises_is_told_in_one_line():
    result = Registry([fail]).execute("fail", {})
    assert result.error and result.text == "ERROR: fail failed: OSError: the shelf has fallen over"


def test_the_loop_goes_on_at_the_time_out():
    release = threading.Event()
    slow = Tool("slow", "Slow.", {}, release.wait, timeout=0.05)
    result = Registry([slow]).execute("slow", {})
    release.set()
    assert result.error and result.text == "ERROR: slow failed: TimeoutError: no result within 0.05 s; whether it took effect is not known"


def test_within_its_time_out_a_tool_gives_its_value_or_its_error():
    fine = Tool("fine", "Fine.", {}, lambda: "fine", timeout=60)
    bad = Tool("bad", "Bad.", {}, lambda: 1 / 0, timeout=60)
    assert Registry([fine]).execute("fine", {}).text == "fine"
    assert Registry([bad]).execute("bad", {}).text == "ERROR: bad failed: ZeroDivisionError: division by zero"


def test_a_tool_that_has_no_time_out_stays_in_its_thread():
    where = []
    Registry([Tool("here", "Here.", {}, lambda: where.append(threading.current_thread()))]).execute("here", {})
    assert where == [threading.current_thread()]
