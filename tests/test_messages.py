"""The message list: values at its edge, what they become, and which lists a strict provider would refuse."""

import json
from datetime import date

import pytest

from agentkit import Reply, ToolCall, Usage, call, check_messages
from agentkit.messages import clean, strict_json, to_text, tool_message

GO = {"role": "user", "content": "go"}


def asks(*ids, content=None):
    return {
        "role": "assistant",
        "content": content,
        "tool_calls": [{"id": i, "type": "function", "function": {"name": "ping", "arguments": "{}"}} for i in ids],
    }


def answer(call_id):
    return tool_message(call_id, "ping", "pong")


# ---- values -------------------------------------------------------------------------------------------------------------


def test_a_call_is_written_like_python_and_has_no_id_yet():
    assert call("look_up", item="lamp") == ToolCall(None, "look_up", {"item": "lamp"})
    assert call("say", name="x") == ToolCall(None, "say", {"name": "x"}), "an argument may be called name"


def test_usage_adds_up_and_the_unknown_stays_unknown():
    assert Usage(10, 2, 5, 0.5) + Usage(1, 1, 1, 0.25, estimated=True) == Usage(11, 3, 6, 0.75, True)
    assert Usage(10, None) + Usage(1, 1) == Usage(11, None)
    assert (Usage(1, 1, cost_usd=None) + Usage(1, 1, cost_usd=1.0)).cost_usd is None
    assert Usage(10, 2, 5).total_tokens == 17 and Usage(None, 2).total_tokens == 2


@pytest.mark.parametrize(
    "wrong",
    [
        dict(input_tokens=-1),
        dict(output_tokens=1.5),
        dict(input_tokens=True),
        dict(cached_tokens=None),
        dict(cost_usd=float("nan")),
        dict(cost_usd=float("inf")),
        dict(cost_usd="1"),
        dict(output_tokens=float("nan")),
    ],
)
def test_usage_takes_numbers_of_at_least_0_only(wrong):
    with pytest.raises(ValueError, match="^Usage: " + next(iter(wrong))):
        Usage(**{"input_tokens": 1, "output_tokens": 1, **wrong})


@pytest.mark.parametrize(
    "wrong, says",
    [
        (dict(tool_calls=["look_up"]), "tool_calls takes ToolCall"),
        (dict(tool_calls="abc"), "tool_calls takes ToolCall"),
        (dict(text=5), "text must be a str"),
        (dict(usage=12), "usage must be a Usage"),
        (dict(stop_reason=5), "stop_reason must be a str"),
        (dict(invalid=" "), "invalid must be a text"),
        (dict(invalid=5), "invalid must be a text"),
        (dict(invalid="bad", tool_calls=[call("x")]), "goes with no tool calls"),
        (dict(usage=Usage(10**400, 1)), "larger than one reply's can be"),
        (dict(usage=Usage(1, 1, cost_usd=1e308)), "larger than one reply's can be"),
    ],
)
def test_a_reply_that_is_none_says_what_is_wrong_with_it(wrong, says):
    with pytest.raises((TypeError, ValueError), match=says):
        Reply(**wrong)


def test_one_call_needs_no_list():
    assert Reply(tool_calls=call("ping")).tool_calls == (call("ping"),)


@pytest.mark.parametrize(
    "reply, expected",
    [(Reply("hello"), "hello"), (Reply(" \n"), None), (Reply(), None), (Reply("hello", [call("ping")]), None), (Reply("hello", invalid="no"), None)],
)
def test_the_answer_is_the_text_of_a_reply_that_calls_nothing(reply, expected):
    assert reply.final_text == expected


@pytest.mark.parametrize(
    "reason, truncated, refused",
    [
        ("length", True, False),
        ("max_tokens", True, False),
        ("refusal", False, True),
        ("content_filter", False, True),
        ("stop", False, False),
        (None, False, False),
    ],
)
def test_the_stop_reason_says_cut_or_refused(reason, truncated, refused):
    reply = Reply("x", stop_reason=reason)
    assert (reply.truncated, reply.refused) == (truncated, refused)


def test_a_reply_becomes_the_openai_shape():
    assert Reply("hm", [ToolCall("1", "ping", {"a": 1}), ToolCall("2", "ping", '{ "a":1}')]).as_message() == {
        "role": "assistant",
        "content": "hm",
        "tool_calls": [
            {"id": "1", "type": "function", "function": {"name": "ping", "arguments": '{"a": 1}'}},
            {"id": "2", "type": "function", "function": {"name": "ping", "arguments": '{ "a":1}'}},
        ],
    }
    assert Reply("hello").as_message() == {"role": "assistant", "content": "hello"}
    assert Reply("  ", [call("ping")]).as_message()["content"] is None


# ---- text ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "value, text",
    [
        ("as it is", "as it is"),
        ({"a": [1, None, True]}, '{"a": [1, null, true]}'),
        (5900.0, "5900.0"),
        (None, "null"),
        ("é", "é"),
        ({"é": 1}, '{"\\u00e9": 1}'),
        (date(2026, 1, 2), '"2026-01-02"'),
        ([date(2026, 1, 2)], '["2026-01-02"]'),
        ({3, 1, 2}, "[1, 2, 3]"),
        (b"ab", "\"b'ab'\""),
        ("a\ud800b", "a?b"),
    ],
)
def test_any_value_becomes_text(value, text):
    assert to_text(value) == text


def test_equal_sets_are_equal_texts_whatever_their_order_inside():
    a, b = {0, 8}, {8, 0}
    assert list(a) != list(b), "two orders of one set, or this test says nothing"
    assert to_text(a) == to_text(b)


def test_clean_keeps_whole_characters():
    assert clean("snow ☃ and 😀") == "snow ☃ and 😀"
    assert clean("half \ud83d of one") == "half ? of one"


@pytest.mark.parametrize(
    "text", ["NaN", "[Infinity]", "-Infinity", "1e999", "[-1e999]", '{"a": 1, "a": 1}', '{"b": {"a": 1, "a": 2}}', "", "{", "{'a': 1}", "01"]
)
def test_strict_json_refuses_what_is_no_json_or_no_number(text):
    with pytest.raises(ValueError):
        strict_json(text)


def test_strict_json_reads_the_rest():
    text = '{"a": [1, 2.5, -1e3, null, true, "x"], "b": {"a": 1}}'
    assert strict_json(text) == json.loads(text)


# ---- lists that a provider refuses ----------------------------------------------------------------------------------------

GOOD = {
    "a task": [GO],
    "a system message": [{"role": "system", "content": "be brief"}, GO],
    "a call and its result": [GO, asks("1"), answer("1")],
    "two results in another order": [GO, asks("1", "2"), answer("2"), answer("1")],
    "text beside the calls": [GO, asks("1", content="let me see"), answer("1")],
    "a second task": [GO, {"role": "assistant", "content": "done"}, GO],
}
BAD = {
    "nothing": ([], "the last message must be the user's"),
    "no task": ([{"role": "system", "content": "be brief"}], "the last message must be"),
    "an answer first": ([{"role": "assistant", "content": "hi"}, GO], "the first message after the system message must be the user's"),
    "an answer after the rules": ([{"role": "system", "content": "x"}, {"role": "assistant", "content": "hi"}, GO], "must be the user's"),
    "an answer last": ([GO, {"role": "assistant", "content": "done"}], "the last message must be"),
    "a late system message": ([GO, {"role": "system", "content": "x"}, GO], "must be the first one"),
    "an unknown role": ([{"role": "developer", "content": "x"}], "unknown role 'developer'"),
    "a missing result": ([GO, asks("1", "2"), answer("1")], "the calls 2 have no result"),
    "a user before the result": ([GO, asks("1"), GO, answer("1")], "stands before the results of 1"),
    "an assistant before the result": ([GO, asks("1"), asks("2"), answer("1"), answer("2")], "stands before the results of 1"),
    "an orphan result": ([GO, answer("1")], "answers no open call"),
    "two results for one call": ([GO, asks("1"), answer("1"), answer("1")], "answers no open call"),
    "a result with no id": ([GO, asks("1"), {"role": "tool", "content": "x"}], "the result None answers no open call"),
    "one id for two calls": ([GO, asks("1", "1"), answer("1"), answer("1")], "'1' is used twice"),
    "an id that comes back": ([GO, asks("1"), answer("1"), asks("1"), answer("1")], "'1' is used twice"),
    "no id": ([GO, asks(None), answer(None)], "needs an id"),
    "an empty id": ([GO, asks(""), answer("")], "needs an id"),
    "an empty task": ([{"role": "user", "content": " "}], "empty text content"),
    "an empty result": ([GO, asks("1"), {"role": "tool", "tool_call_id": "1", "content": ""}], "empty text content"),
    "empty text beside calls": ([GO, asks("1", content=""), answer("1")], "empty text content"),
    "no content": ([{"role": "user", "content": None}], "needs content"),
    "a silent answer": ([GO, {"role": "assistant", "content": None}, GO], "needs content"),
    "content that is no text": ([{"role": "user", "content": {"a": 1}}], "content must be text, not dict"),
    "an empty list of calls": ([GO, {"role": "assistant", "content": "x", "tool_calls": []}, GO], "left out when empty"),
    "calls of a user": ([{**asks("1"), "role": "user", "content": "x"}, answer("1")], "belongs to an assistant"),
    "arguments as a dict": (
        [GO, {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "function": {"name": "ping", "arguments": {}}}]}, answer("1")],
        "must be text",
    ),
    "no function": ([GO, {"role": "assistant", "content": None, "tool_calls": [{"id": "1"}]}, answer("1")], "must be text"),
}


@pytest.mark.parametrize("messages", GOOD.values(), ids=GOOD)
def test_a_good_list_passes_whole_and_in_pieces(messages):
    seen = check_messages(messages)
    assert seen == {c["id"] for m in messages for c in m.get("tool_calls", ())}
    for start in range(1, len(messages)):
        try:
            first = check_messages(messages[:start])
        except ValueError:  # not a place where a model is called
            continue
        assert check_messages(messages, start, first) == seen


@pytest.mark.parametrize("messages, says", BAD.values(), ids=BAD)
def test_a_bad_list_is_refused_with_the_place_and_the_reason(messages, says):
    with pytest.raises(ValueError, match=says):
        check_messages(messages)


def test_a_list_that_goes_on_is_checked_from_where_it_was():
    messages = [GO, asks("1"), answer("1")]
    seen = check_messages(messages)
    messages += [asks("1"), answer("1")]
    with pytest.raises(ValueError, match=r"messages\[3\]: the tool call id '1' is used twice"):
        check_messages(messages, 3, seen)
