"""Whatever a model, a tool, a schema or a person does, run() returns and keeps its rules. Hypothesis makes up the whatever."""

import asyncio
import datetime
import decimal
import json
from collections.abc import Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator

from agentkit import Journal, Limits, Price, Registry, Reply, ScriptedModel, TextModel, Tool, ToolCall, Usage, call, check_messages, run
from agentkit.messages import to_text
from agentkit.tools import bounded, parse_arguments
from harness import add, assert_one_result_per_call, assert_rules, counting, fail, look_up, pay, recording, total

steady = settings(derandomize=True, deadline=None, database=None, max_examples=150)
HALF = "\ud800"  # one half of a surrogate pair: no text that can be encoded


class Silent:
    """A value that cannot even be shown."""

    def __repr__(self):
        raise RuntimeError("no repr")

    __str__ = __repr__


class Liar(str):
    """A str that is broken wherever it can be."""

    def __str__(self):
        raise RuntimeError("no str")

    def __len__(self):
        raise RuntimeError("no len")

    def strip(self, *a):
        raise RuntimeError("no strip")

    def encode(self, *a):
        raise RuntimeError("no encode")

    def isascii(self):
        return False

    def __eq__(self, other):
        raise RuntimeError("no eq")

    __hash__ = str.__hash__


class Grudge(Mapping):
    """A mapping that gives nothing away."""

    def __getitem__(self, key):
        raise RuntimeError("no item")

    def __iter__(self):
        raise RuntimeError("no iteration")

    def __len__(self):
        return 1

    def get(self, key, default=None):
        raise RuntimeError("no get")


def circle():
    value = []
    value.append({"again": value})
    return value


def deep(n=100_000):
    value = []
    for _ in range(n):
        value = [value]
    return value


text = st.text(st.characters(codec=None), max_size=30) | st.sampled_from(["", " ", HALF, "a" + HALF, "null", "{}", "x" * 30_000])
json_value = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | text,
    lambda v: st.lists(v, max_size=3) | st.dictionaries(text, v, max_size=3),
    max_leaves=6,
)
odd_value = st.sampled_from(
    [
        datetime.date(2026, 1, 2),
        decimal.Decimal("1.5"),
        {1, 2},
        {"a", 1},
        b"\xff\x00",
        object(),
        Silent(),
        Liar("lie"),
        Grudge(),
        circle(),
        deep(),
        deep(2000),
        float("nan"),
        10**5000,
        {(1, 2): 3},
        {"error": Silent()},
        {"error": ""},
        {HALF: HALF},
        type,
        print,
        iter([1]),
        Exception("as a value"),
        3 + 4j,
        range(3),
        {"when": {datetime.date(2026, 1, 2)}},
        [Silent()],
        "y" * 1_000_000,
        ["z" * 1_000_000],
    ]
)
any_value = json_value | odd_value

arguments = (
    st.fixed_dictionaries({}, optional={"item": any_value, "a": any_value, "b": st.integers(-9, 9), "amount": any_value, HALF: any_value})
    | any_value
    | text
    | json_value.map(lambda v: json.dumps(v))
    | st.sampled_from(
        [
            "{",
            '{"a": 1, "a": 2}',
            '{"a": NaN, "b": 1}',
            '{"a": 1e999, "b": 1}',
            '{"item": "\\ud800"}',
            '{"\\ud800": 1}',
            "[" * 5000,
            '{"a":' * 200 + "1" + "}" * 200,
            '{"item": "' + HALF + '"}',
            '{"' + "k" * 100_000 + '": 1}',
            "7" * 5000,
        ]
    )
)
name = (
    st.sampled_from(["look_up", "add", "fail", "pay", "odd", "lookup", "", HALF, "x" * 100_000])
    | text
    | st.sampled_from([None, 5, ["look_up"], {}, Liar("add")])
)
call_id = st.none() | st.sampled_from(["", " ", "1", "1", "call_1", "call_2", HALF, 7, ("a",)]) | text
tool_call = st.builds(ToolCall, call_id, name, arguments)
tokens = st.none() | st.integers(0, 10**6)
usage = st.none() | st.builds(Usage, tokens, tokens, st.integers(0, 1000), st.none() | st.floats(0, 10), st.booleans())
stop_reason = st.sampled_from([None, None, None, "stop", "tool_calls", "length", "max_tokens", "refusal", "content_filter", "", "banana"])
reply = st.builds(Reply, st.none() | text, st.lists(tool_call, max_size=3), usage, stop_reason) | text.filter(str.strip).map(
    lambda t: Reply("?", invalid=t)
)
mistake = st.sampled_from(
    [
        ValueError("bad"),
        Exception(Silent()),
        Exception(HALF),
        Exception("long " * 10_000),
        RecursionError(),
        MemoryError(),
        StopIteration(),
        KeyError("k"),
        UnicodeDecodeError("utf-8", b"\xff", 0, 1, "no"),
        OSError(2, "gone"),
        AssertionError(),
    ]
)
junk = st.sampled_from([None, 5, "just text", {"text": "hi"}, [], Liar("x"), Grudge()])
limits = st.builds(
    Limits,
    max_steps=st.integers(0, 5),
    max_tool_calls=st.none() | st.integers(0, 4),
    budget_tokens=st.none() | st.integers(0, 3000),
    budget_usd=st.none() | st.floats(0, 0.05),
    max_repeats=st.none() | st.integers(0, 3),
    max_errors=st.none() | st.integers(0, 3),
    reserve=st.none() | st.integers(0, 500),
)


def entry(item):
    """A model's move: return the reply or the junk, or raise."""
    if isinstance(item, BaseException):
        raise item
    return item


@steady
@given(
    st.lists(reply | mistake | junk, max_size=5),
    limits,
    any_value | mistake,
    st.sampled_from([None, True, False, "no", Silent(), ValueError("who?")]),
    st.booleans(),
)
def test_no_reply_and_no_result_breaks_a_run(script, limits, result, decision, counter):
    moves, sent = iter(script), []
    odd = Tool("odd", "Returns or raises something odd.", {"properties": {}}, lambda: entry(result), poll=counter)

    def model(messages, tools):
        check_messages(messages)
        sent.append(list(messages))
        return entry(next(moves, Reply("enough")))

    outcome = run(
        model,
        [look_up, add, fail, pay, odd],
        "try everything",
        limits=limits,
        prices=Price(3, 15, 1),
        approve=None if decision is None else lambda asked: entry(decision),
        count_tokens=len if counter else None,
    )
    assert_rules(outcome)
    assert outcome.steps == len(sent) <= (limits.max_steps if limits.max_steps is not None else 99)
    assert "the first message after the system" not in outcome.report and "answers no open call" not in outcome.report
    assert all(before == outcome.messages[: len(before)] for before in sent), "the list only grows"
    assert [e for e in outcome.journal.of("result") if e["ran"]] == [
        e for e in outcome.journal.of("result") if e["id"] in {c["id"] for c in outcome.journal.of("call")}
    ]


@steady
@given(st.lists(tool_call, min_size=1, max_size=4))
@example([ToolCall(None, "take", '{"x": 1')])
@example([ToolCall("1", "take", {"x": 1}), ToolCall("1", "take", '{"x": true}'), ToolCall(None, "take", '{"x": NaN}')])
def test_nothing_runs_that_was_not_asked_for_in_full(calls):
    schema = {"properties": {"x": {"type": "integer"}}, "required": ["x"], "additionalProperties": True}
    take, seen = recording(schema=schema)
    calls = [ToolCall(c.id, "take", c.arguments) for c in calls]
    outcome = run(ScriptedModel([calls, "done"]), [take], "take it")
    asked = []
    for c in calls:
        try:
            value = json.loads(c.arguments) if isinstance(c.arguments, str) else json.loads(json.dumps(c.arguments))
            json.dumps(value, allow_nan=False)
        except (ValueError, TypeError, RecursionError):
            continue
        if Draft202012Validator({"type": "object", **schema}).is_valid(value):
            asked.append(json.loads(to_text(json.dumps(value, ensure_ascii=False))))
    assert len(seen) <= len(asked) and all(s in asked for s in seen)
    assert_rules(outcome)


@steady
@given(any_value)
@example(HALF + "x")
@example("a" * 50_000)
def test_a_tool_result_becomes_bounded_text(value):
    tool = Tool("odd", "Odd.", {}, lambda: value)
    result = Registry([tool]).execute("odd", {})
    assert type(result.text) is str and result.text.strip() and len(result.text) <= 20_200
    result.text.encode("utf-8")


@steady
@given(any_value)
def test_a_text_stays_as_it_is_and_json_stays_json(value):
    if isinstance(value, str):
        assert to_text(value) == str.encode(value, "utf-8", "replace").decode()
        return
    try:
        expected = json.dumps(value)
    except Exception:
        to_text(value).encode("utf-8")
    else:
        assert to_text(value) == expected


@steady
@given(mistake)
def test_no_traceback_reaches_the_model(error):
    result = Registry([Tool("odd", "Odd.", {}, lambda: entry(error))]).execute("odd", {})
    assert result.error and result.text.startswith("ERROR: odd failed: ") and "Traceback" not in result.text and 'File "' not in result.text
    assert len(result.text) < 2_500
    result.text.encode("utf-8")


schema_node = st.recursive(
    st.sampled_from(
        [
            {},
            {"type": "string"},
            {"type": "integer"},
            {"type": ["number", "null"]},
            {"type": "nonsense"},
            {"enum": [1, "a", None]},
            {"enum": []},
            {"const": HALF},
            {"$ref": "#"},
            {"$ref": "http://192.0.2.1/x.json"},
            {"$ref": "#/nowhere"},
            {"pattern": "("},
            {"multipleOf": 0},
            {"multipleOf": 1e-300},
            {"minimum": "x"},
            {"format": "date"},
            {"not": {}},
            {"uniqueItems": True},
            {"required": ["zz"]},
            {"minLength": 2},
            True,
            False,
            5,
            None,
            {"properties": 5},
            {"type": 5},
            {"$dynamicRef": "#x"},
            {"$schema": "nonsense"},
            {"$id": "::"},
            {"additionalProperties": {"type": "integer"}},
            {"patternProperties": {"^a": {}}, "additionalProperties": False},
            {"dependentRequired": {"a": ["b"]}},
            {"unevaluatedProperties": False},
            {"maxProperties": 1},
        ]
    ),
    lambda s: st.fixed_dictionaries(
        {},
        optional={
            "properties": st.dictionaries(st.sampled_from(["a", "b", HALF]), s, max_size=2),
            "items": s,
            "anyOf": st.lists(s, min_size=1, max_size=2),
            "not": s,
            "additionalProperties": s,
            "required": st.sampled_from([["a"], ["zz"], "a"]),
            "type": st.sampled_from(["object", "array", "string"]),
        },
    ),
    max_leaves=4,
)


@steady
@given(schema_node, st.lists(arguments, min_size=1, max_size=3))
def test_a_schema_is_refused_at_once_or_never_breaks_a_run(schema, several):
    try:
        take, seen = recording(schema=schema if isinstance(schema, dict) else {"properties": schema})
        registry = Registry([take])
    except (ValueError, TypeError):
        return  # the programmer's mistake, told to the programmer
    outcome = run(ScriptedModel([[ToolCall(None, "take", a) for a in several], "done"]), registry, "take it")
    assert_rules(outcome)
    for given_arguments in seen:
        assert take.validator.is_valid(given_arguments)


@steady
@given(st.lists(text, max_size=5), st.sampled_from(["json", "react"]))
def test_no_text_breaks_a_text_protocol(texts, protocol):
    said = iter(texts)
    assert_rules(run(TextModel(lambda messages: next(said), protocol), [look_up], "say something"))


react = st.lists(
    st.sampled_from(
        [
            "Thought: hm",
            "Action: look_up",
            "Action: add",
            'Action Input: {"item": "lamp"}',
            "Action Input: {",
            "Observation: made up",
            "Final Answer: 5",
            "Final Answer:",
            "",
            "```",
            "Action:",
            "chat",
        ]
    ),
    max_size=6,
).map("\n".join)
as_json = st.dictionaries(
    st.sampled_from(["tool", "args", "final", "other"]), json_value | st.sampled_from(["look_up", {"item": "lamp"}]), max_size=3
).map(json.dumps)


@steady
@given(react | as_json | as_json.map(lambda t: f"```json\n{t}\n```"), st.sampled_from(["json", "react"]))
def test_a_text_reply_acts_or_answers_or_is_told_what_is_wrong(written, protocol):
    reply = TextModel(lambda messages: written, protocol)([{"role": "user", "content": "go"}])
    acts, answers, told = bool(reply.tool_calls), reply.final_text is not None, reply.invalid is not None
    assert acts + answers + told <= 1
    if not (acts or answers or told):  # an empty answer is an empty reply
        assert not written.strip() or "Final Answer" in written or '"final"' in written


@pytest.mark.parametrize("place", ["model", "first tool", "second tool", "approve", "counter after a reply", "counter after a result"])
@pytest.mark.parametrize("interrupt", [KeyboardInterrupt, SystemExit, asyncio.CancelledError, GeneratorExit])
def test_an_interrupt_passes_through_and_leaves_no_open_call(interrupt, place):
    def stop(*args, **kwargs):
        raise interrupt

    def count(text):
        if (place, text) in (("counter after a reply", "first{}"), ("counter after a result", "done it")):
            raise interrupt
        return len(text)

    runs = []
    first = Tool("first", "First.", {}, stop if place == "first tool" else lambda: runs.append("first") or "done it")
    second = Tool("second", "Second.", {}, stop if place == "second tool" else lambda: runs.append("second") or "done it", needs_approval=True)
    journal = Journal()
    script = [interrupt() if place == "model" else [call("first"), call("second")], "done"]
    with pytest.raises(interrupt):
        run(
            ScriptedModel(script),
            [first, second],
            "go",
            journal=journal,
            approve=stop if place == "approve" else lambda asked: True,
            count_tokens=count,
        )
    messages = journal.messages()
    assert_one_result_per_call(messages)
    check_messages(messages + [{"role": "user", "content": "go on"}])
    answers = {m["name"]: m["content"] for m in messages if m["role"] == "tool"}
    assert {n for n, text in answers.items() if text == "done it"} == set(runs), "what ran keeps its result"
    assert all("interrupted" in text for text in answers.values() if text != "done it")
    assert len(answers) == (0 if place in ("model", "counter after a reply") else 2)


@pytest.mark.parametrize("where", ["thread", "plain"])
def test_an_interrupt_in_a_tool_with_a_time_out_passes_through_too(where):
    def stop():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(ScriptedModel([call("stop"), "done"]), [Tool("stop", "Stop.", {}, stop, timeout=5 if where == "thread" else None)], "go")


@steady
@given(st.integers(0, 6), st.integers(0, 400), st.lists(st.tuples(st.integers(1, 60), st.integers(0, 60)), min_size=1, max_size=6), st.booleans())
def test_with_a_reserve_no_budget_is_exceeded_and_without_by_one_reply_at_most(seed, budget, sizes, reserve):
    """The model writes at most 60 tokens a reply; a token is a character."""
    moves = iter(sizes)

    def model(messages, tools):
        written, noise = next(moves, (1, 0))
        return Reply("w" * written, [ToolCall(None, "tell", {"n": noise})])

    tell = Tool("tell", "Tell.", {"properties": {"n": {"type": "integer"}}}, lambda n: "r" * n)
    largest = 60 + len('tell{"n": 60}')
    outcome = run(
        model,
        [tell],
        "go" * (seed + 1),
        limits=Limits(max_steps=20, budget_tokens=budget, max_repeats=None, reserve=largest if reserve else None),
        count_tokens=len,
    )
    replies = [e["usage"] for e in outcome.journal.of("reply")]
    spent = outcome.usage.total_tokens
    assert spent == sum(total(u) for u in replies)
    assert spent <= budget + (0 if reserve or not replies else replies[-1]["output_tokens"])
    if outcome.status == "token_budget" and not reserve:
        need = sum(
            len(m["content"] or "") + sum(len(c["function"]["name"] + c["function"]["arguments"]) for c in m.get("tool_calls", ()))
            for m in outcome.messages
        )
        definitions = len(json.dumps([tell.definition]))
        assert spent + need + definitions > budget or spent >= budget, "no call was refused that fitted"


@steady
@given(st.floats(0, 0.002), st.lists(st.integers(1, 60), min_size=1, max_size=6), st.booleans())
def test_money_behaves_as_tokens_do(budget, sizes, reserve):
    moves, price = iter(sizes), Price(2, 8)
    model = lambda messages, tools: Reply("w" * next(moves, 1), [ToolCall(None, "ping", {})])
    ping, _ = counting(returns=lambda n: f"pong {n}")
    outcome = run(
        model, [ping], "go", limits=Limits(max_steps=20, budget_usd=budget, reserve=66 if reserve else None), prices=price, count_tokens=len
    )
    replies = [e["usage"] for e in outcome.journal.of("reply")]
    last = price.of(0, replies[-1]["output_tokens"]) if replies else 0
    assert outcome.usage.cost_usd <= budget + (0 if reserve else last) + 1e-12
    assert outcome.usage.cost_usd == pytest.approx(sum(price.of(u["input_tokens"], u["output_tokens"]) for u in replies))


@steady
@given(st.lists(reply, min_size=1, max_size=4))
def test_every_run_starts_clean(script):
    def once():
        moves = iter(script)
        return run(lambda messages, tools: next(moves, Reply("enough")), [look_up, add, fail], "twice", limits=Limits(max_steps=5))

    first, second = once(), once()
    assert (first.status, first.messages, first.usage, first.report) == (second.status, second.messages, second.usage, second.report)


@steady
@given(st.dictionaries(text, json_value, max_size=3), st.integers(0, 3))
def test_parsed_arguments_are_plain_finite_json(value, indent):
    from agentkit.tools import Refused

    tool = Tool("take", "Take.", {}, lambda **a: a)
    try:
        parsed = parse_arguments(json.dumps(value, indent=indent), tool)
    except Refused as refused:
        assert "NaN" in json.dumps(value) or "Infinity" in json.dumps(value) or "surrogate" in str(refused) or "twice" in str(refused)
    else:
        json.dumps(parsed, allow_nan=False, ensure_ascii=False).encode("utf-8")
        assert parsed == json.loads(to_text(json.dumps(value, ensure_ascii=False)))


@steady
@given(text, st.integers(10, 100))
def test_bounded_text_is_never_blank_and_says_how_much_is_missing(value, limit):
    short = bounded(value, limit)
    assert short.strip()
    if value.strip() and len(value) <= limit:
        assert short == value
    elif value.strip():
        assert short.startswith(value[:limit]) and f"{len(value):,} characters in all" in short


# ---- a glance at a flat schema says what the validator says ----------------------------------------------------------

names = st.sampled_from(["a", "b", "c"])
kinds = st.sampled_from(["string", "integer", "number", "boolean", "null", "array", ["string", "null"], "text", 3, None])
properties = st.dictionaries(names, st.fixed_dictionaries({}, optional={"type": kinds, "description": st.just("x") | st.just(1), "default": st.just(1),
    "minimum": st.integers(-2, 3) | st.just(1.5) | st.just(True), "maximum": st.integers(0, 4), "minLength": st.integers(-1, 2), "maxLength": st.integers(0, 2),
    "enum": st.lists(st.sampled_from(["x", "", "y", 1]), max_size=3)}))
flat_schemas = st.fixed_dictionaries({}, optional={
    "type": st.sampled_from(["object", "array"]), "properties": properties | st.just([]), "required": st.lists(names, max_size=3) | st.just("a"),
    "additionalProperties": st.sampled_from([False, True, {}, {"type": "string"}]), "minProperties": st.just(2)})
flat_values = st.dictionaries(names, st.none() | st.booleans() | st.integers(-5, 5) | st.sampled_from([1.0, 2.5, "x", "", [], {}]), max_size=3)


def taking(a=0, b=0, c=0):
    return "x"


@steady
@given(flat_schemas, st.lists(flat_values, min_size=1, max_size=6), st.booleans())
@example({"properties": {"a": {"type": "integer"}}}, [{"a": True}, {"a": 1}, {"a": 1.0}, {"b": 1}, {}], False)
@example({"properties": {"a": {"type": "number"}}, "required": ["a"]}, [{"a": False}, {"a": 1}, {"a": 1.5}, {}], True)
def test_a_glance_at_a_flat_schema_agrees_with_the_validator(schema, values, anything):
    made = Tool("t", "", schema, recording()[0].fn if anything else taking)
    try:
        validator = made.validator
    except ValueError:      # a schema that is none is never flat, so that it is refused at once
        assert made._glance is None
        return
    for value in values:
        if made.fits(value):
            assert validator.is_valid(value)
        elif made._glance is not None and all(type(v) is not float or v % 1 for v in value.values()):
            assert not validator.is_valid(value), "what fits exactly is seen at a glance"
