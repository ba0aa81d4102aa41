"""Models: the scripted one, as strict as a provider, and the ones that write their calls as text."""

import json

import pytest

from agentkit import Limits, Reply, ScriptedModel, TextModel, Usage, call, run
from harness import add, assert_rules, look_up
from test_messages import BAD, GO, GOOD, answer, asks

# ---- the script -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "entry, reply",
    [
        ("hello", Reply("hello")),
        (call("ping"), Reply(tool_calls=[call("ping")])),
        ([call("ping"), call("pong")], Reply(tool_calls=[call("ping"), call("pong")])),
        (["let me see", call("ping")], Reply("let me see", [call("ping")])),
        ([], Reply()),
        (Reply("x", stop_reason="length"), Reply("x", stop_reason="length")),
        (lambda messages: f"{len(messages)} message", Reply("1 message")),
        (lambda messages, tools: f"{len(tools)} tool", Reply("1 tool")),
        (lambda messages: call("ping"), Reply(tool_calls=[call("ping")])),
    ],
)
def test_an_entry_is_what_the_model_replies(entry, reply):
    assert ScriptedModel([entry])([GO], [{"type": "function"}]) == reply


@pytest.mark.parametrize("entry", [OSError("down"), OSError, lambda messages: OSError("down")])
def test_an_exception_is_raised(entry):
    with pytest.raises(OSError):
        ScriptedModel([entry])([GO])


@pytest.mark.parametrize("entry", [5, None, {"text": "x"}, [5]])
def test_what_is_no_entry_is_refused_before_the_run(entry):
    with pytest.raises(TypeError):
        ScriptedModel([entry])


def test_it_says_which_entry_ran_out():
    model = ScriptedModel(["one", "two"])
    model([GO]), model([GO])
    with pytest.raises(IndexError, match="the script has 2 entries and this is call 3: add an entry, or stop the run before it"):
        model([GO])


def test_it_starts_again_where_it_should_repeat():
    model = ScriptedModel(["one", "two"], repeat=True)
    assert [model([GO]).text for _ in range(5)] == ["one", "two", "one", "two", "one"]


def test_an_empty_script_runs_out_even_when_it_repeats():
    with pytest.raises(IndexError, match="0 entries"):
        ScriptedModel([], repeat=True)([GO])


def test_it_keeps_what_it_was_sent_as_it_was_then():
    model = ScriptedModel([call("add", a=1, b=2), call("look_up", item="lamp"), "done"])
    result = run(model, [add, look_up], "go", system="be brief")
    assert [len(sent) for sent in model.sent] == [2, 4, 6] and model.calls == 3
    assert model.sent[1] == result.messages[:4]
    assert [t["function"]["name"] for t in model.tools] == ["add", "look_up"]


@pytest.mark.parametrize("messages, says", BAD.values(), ids=BAD)
def test_it_refuses_what_a_strict_provider_refuses(messages, says):
    with pytest.raises(ValueError, match=says):
        ScriptedModel(["x"])(messages)


@pytest.mark.parametrize("messages", GOOD.values(), ids=GOOD)
def test_it_takes_what_a_provider_takes(messages):
    assert ScriptedModel(["x"])(messages).text == "x"


def test_it_refuses_on_every_call_and_goes_on_after_a_refusal():
    model = ScriptedModel(["x"], repeat=True)
    messages = [GO, asks("1"), answer("1")]
    model(messages)
    messages += [asks("1"), answer("1")]
    for _ in range(2):
        with pytest.raises(ValueError, match="'1' is used twice"):
            model(messages)
    del messages[3:]
    assert model(messages).text == "x" and model.calls == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda messages: messages.__setitem__(slice(None), [GO, answer("9"), GO, GO]),  # another list in the same place
        lambda messages: messages.__delitem__(1),  # a call without its message
    ],
)
def test_a_list_that_was_changed_in_place_is_read_again(change):
    model = ScriptedModel(["x"], repeat=True)
    messages = [GO, asks("1"), answer("1")]
    model(messages)
    change(messages)
    with pytest.raises(ValueError, match="answers no open call"):
        model(messages)


class Counted(list):
    """A list that counts how often one of its messages is read."""

    reads = 0

    def __getitem__(self, i):
        self.reads += isinstance(i, int)
        return super().__getitem__(i)


@pytest.mark.parametrize("steps", [100, 400])
def test_a_growing_list_is_read_by_what_is_new(steps):
    model, messages = ScriptedModel(["x"], repeat=True), Counted([GO])
    for i in range(steps):
        model(messages)
        messages += [asks(str(i)), answer(str(i))]
    assert messages.reads < 8 * steps


def test_a_run_through_the_script_that_breaks_a_rule_is_a_model_error():
    def spoil(messages):
        messages.append({"role": "user", "content": ""})
        return call("add", a=1, b=2)

    result = run(ScriptedModel([spoil, "done"]), [add], "go")
    assert result.status == "model_error" and "empty text content" in result.report


# ---- calls as text ----------------------------------------------------------------------------------------------------------


def text_run(protocol, *written, **more):
    said = iter(written)
    return run(TextModel(lambda messages: next(said), protocol), [look_up, add], "go", **more)


def test_json_text_acts_and_finishes():
    acts, ends = '{"tool": "add", "args": {"a": 1, "b": 2}}', '{ "final":  "three" }'
    result = text_run("json", acts, ends)
    assert (result.status, result.answer) == ("done", "three")
    assert [m["content"] for m in result.messages] == ["go", acts, "3", ends], "the text stays as it was written"
    assert_rules(result)


@pytest.mark.parametrize(
    "written, answer",
    [
        ('{"final": "yes"}', "yes"),
        ('{"final": 5900.0}', "5900.0"),
        ('{"final": {"a": 1}}', '{"a": 1}'),
        ('```json\n{"final": "yes"}\n```', "yes"),
        ('```\n{"final": "yes"}\n```', "yes"),
        ('{"final": "\\ud800"}', "?"),
        ('{"final": false}', "false"),
        ('{"final": 0}', "0"),
    ],
)
def test_a_final_value_is_the_answer(written, answer):
    assert text_run("json", written).answer == answer


@pytest.mark.parametrize("written", ['{"final": ""}', '{"final": "  "}', '{"final": null}', "", " \n"])
def test_an_empty_final_value_is_an_empty_reply(written):
    result = text_run("json", written, written)
    assert (result.status, result.answer, result.steps) == ("empty_reply", None, 2)


SHAPE = 'Reply with JSON only: {"tool": name, "args": {...}} to act, or {"final": text} to finish.'


@pytest.mark.parametrize(
    "written, told",
    [
        ("I will look it up.", "ERROR: the reply is not JSON ("),
        ('{"tool": "add"', "ERROR: the reply is not JSON ("),
        ("[]", 'ERROR: the reply has neither "tool" nor "final".'),
        ('{"args": {}}', 'ERROR: the reply has neither "tool" nor "final".'),
        ('{"tool": "add", "final": "x"}', 'ERROR: the reply has both "tool" and "final".'),
        ('{"final": NaN}', "ERROR: the reply is not JSON (NaN is no JSON number)"),
        ('{"final": "a", "final": "b"}', "ERROR: the reply is not JSON (a key stands twice)"),
        ('{"tool": "add", "args": {"a": 1, "a": 2, "b": 3}}', "ERROR: the reply is not JSON (a key stands twice)"),
        ("[" * 100_000, "ERROR: the reply is not JSON ("),
    ],
)
def test_a_text_that_is_neither_is_told_so_and_nothing_runs(written, told):
    result = text_run("json", written, '{"final": "well"}')
    said = result.messages[2]
    assert said["role"] == "user" and said["content"].startswith(told) and said["content"].endswith(SHAPE)
    assert result.status == "done" and result.journal.of("call") == [] and result.messages[1]["content"] == written


@pytest.mark.parametrize(
    "written, told",
    [
        ('{"tool": "rm", "args": {}}', "there is no tool 'rm'"),
        ('{"tool": "add"}', "the arguments must be a JSON object, not null"),
        ('{"tool": "add", "args": {"a": true, "b": 2}}', "argument 'a' must be integer, not true"),
        ('{"tool": 5, "args": {}}', "there is no tool"),
        ('{"tool": "add", "args": "{}"}', "missing required argument 'a'"),
    ],
)
def test_a_wrong_call_in_text_is_a_result_like_any_other(written, told):
    result = text_run("json", written, '{"final": "well"}')
    assert result.messages[2]["role"] == "tool" and told in result.messages[2]["content"]
    assert_rules(result)


def test_react_text_acts_and_finishes():
    acts = 'Thought: I add.\nAction: add\nAction Input: {"a": 1, "b": 2}'
    result = text_run("react", acts + "\nObservation: 99\nFinal Answer: 99", "Thought: I know.\nFinal Answer: three\nor so")
    assert (result.status, result.answer) == ("done", "three\nor so")
    assert [m["content"] for m in result.messages[1:3]] == [acts, "3"], "an invented observation is dropped, and all after it"
    assert_rules(result)


@pytest.mark.parametrize(
    "written, name, arguments",
    [
        ("Action: look_up\nAction Input: {}", "look_up", "{}"),
        ("Action: `look_up`\nAction Input: {}", "look_up", "{}"),
        ('Action: "look_up"', "look_up", None),
        ('Action: look_up\nAction Input:\n```json\n{"item": "x"}\n```', "look_up", '{"item": "x"}'),
        ('Action: add\nAction Input: {"a": 1,\n "b": 2}', "add", '{"a": 1,\n "b": 2}'),
        ("  Action : look_up \n Action Input : {} ", "look_up", "{}"),
        ("Action: look_up\nAction Input: {}\nThought: that was it", "look_up", "{}"),
        ("**Action:** look_up\n**Action Input:** {}", "look_up", "{}"),
        ("thought: hm\naction: look_up\naction input: {}", "look_up", "{}"),
        ("Action: look_up\nAction Input: {}\n\nNow I wait for the result.", "look_up", "{}"),
        ('Action: look_up\nAction Input: {"item": "he said: Final Answer: no"}', "look_up", '{"item": "he said: Final Answer: no"}'),
        ("Action: look_up\nAction Input: {} or {}", "look_up", "{} or {}"),     # no guess which of them: the harness refuses it
        ("Action: look_up\nAction Input: {}\n**observation:** done\nFinal Answer: done", "look_up", "{}"),
    ],
)
def test_react_text_is_read_as_people_write_it(written, name, arguments):
    (asked,) = TextModel(lambda messages: written, "react")([GO]).tool_calls
    assert (asked.name, asked.arguments) == (name, arguments)


@pytest.mark.parametrize(
    "written, told",
    [
        ("I will look it up.", "or Final Answer: text."),
        ("Action: a\nFinal Answer: b", "not both."),
        ("Action: a\nAction Input: {}\nAction: b\nAction Input: {}", "one at a time."),
        ("Observation: made up", "or Final Answer: text."),
        ("**Observation:** made up\nFinal Answer: b", "or Final Answer: text."),
        ("Action: a\nAction Input: {}\nAction Input: {}", "one at a time."),
    ],
)
def test_react_text_that_is_neither_is_told_so(written, told):
    reply = TextModel(lambda messages: written, "react")([GO])
    assert reply.tool_calls == () and reply.final_text is None and reply.invalid.endswith(told)


def test_a_react_answer_may_speak_of_labels():
    reply = TextModel(lambda messages: "Final Answer: write\n**so:** Action: x", "react")([GO])
    assert reply.final_text == "write\n**so:** Action: x"


def test_three_replies_of_the_same_nonsense_are_a_loop_and_each_is_an_error():
    assert text_run("json", *["what?"] * 5).status == "repeated_call"
    assert text_run("json", *["what?"] * 5, limits=Limits(max_errors=2)).report.startswith("Stopped at the error limit after 2 tool errors")


@pytest.mark.parametrize("protocol, written, answer", [("json", '{"final": "yes"}', "yes"), ("react", "Final Answer: yes", "yes")])
def test_a_function_may_report_its_usage(protocol, written, answer):
    result = run(TextModel(lambda messages: Reply(written, usage=Usage(7, 2), stop_reason="stop"), protocol), [], "go")
    assert (result.answer, result.usage.total_tokens, result.usage.estimated) == (answer, 9, False)


@pytest.mark.parametrize("reason, status", [("length", "truncated"), ("content_filter", "refused")])
def test_a_text_that_was_cut_is_not_read(reason, status):
    result = run(TextModel(lambda messages: Reply('{"tool": "add", "args": {"a": 1, "b": 2}}', stop_reason=reason)), [add], "go")
    assert result.status == status and result.journal.of("call") == []


def test_a_text_model_is_sent_the_content_and_nothing_else():
    seen = []

    def fn(messages):
        seen.append([m["content"] for m in messages])
        return '{"final": "yes"}'

    result = run(TextModel(fn), [add], "go", system="be brief", count_tokens=len)
    assert seen == [["be brief", "go"]]
    assert result.usage == Usage(len("be brief") + len("go"), len('{"final": "yes"}'), estimated=True, cost_usd=None)


def test_a_function_that_returns_no_text_is_a_model_error():
    assert "TypeError: a text model's function returns a str, not dict" in text_run("json", {"final": "x"}).report


def test_an_unknown_protocol_is_refused():
    with pytest.raises(ValueError, match="protocol must be one of 'json', 'react', not 'xml'"):
        TextModel(lambda messages: "", "xml")
