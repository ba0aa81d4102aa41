"""ReAct in text and natively: the same run, the same transcript, and no observation that the model made up."""

import json

import pytest
from harness import add, assert_rules, fail, look_up, pay

from agentkit import Limits, Registry, Reply, ScriptedModel, TextModel, call, replay, resume, run
from agentkit.course import declined
from agentkit.patterns.react import ReactModel, react, react_prompt, react_system, transcript

TOOLS = [look_up, add, fail, pay]
ADD = 'Action: add\nAction Input: {"a": 1, "b": 2}'


def as_text(replies, **options):
    replies = iter(replies)
    result = run(TextModel(lambda messages: next(replies), protocol="react"), TOOLS, "go", **options)
    assert_rules(result)
    assert replay(result.journal).same
    return result


def results(result):
    return [m["content"] for m in result.messages if m["role"] == "tool"]


# ---- one run, two ways -------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("code", declined.CODES)
@pytest.mark.parametrize("thoughts", [True, False])
def test_a_run_in_text_and_a_native_one_are_the_same_transcript(code, thoughts):
    found = []
    for model in (declined.as_native(thoughts=thoughts), TextModel(declined.as_text(thoughts=thoughts), protocol="react"),
                  TextModel(declined.inventive(), protocol="react")):
        tools, done = declined.world(code)
        result = run(model, tools, declined.TASK, system=react_system(tools))
        assert_rules(result)
        found.append((transcript(result.messages), tuple(done), result.answer))
    native, text, invented = found
    assert native == text and invented[1:] == native[1:]
    assert (invented == native) is thoughts


def test_a_surprise_changes_the_direction():
    ways = {}
    for code in declined.CODES:
        tools, done = declined.world(code)
        run(declined.as_native(), tools, declined.TASK)
        ways[code] = done[1:]
    assert ways == {"insufficient_funds": ["paged billing"], "timeout": ["charged"], "card_expired": ["paged support"]}


# ---- the transcript ------------------------------------------------------------------------------------------------------

def test_the_transcript_of_two_calls_errors_and_an_unread_reply():
    result = run(ScriptedModel([["Both.", call("add", b=2, a=1), call("fail")], call("nobody"), "3"]), TOOLS, "go", system="rules")
    lines = transcript(result.messages).split("\n")
    assert lines[:5] == ["Task: go", "Thought: Both.", "Action: add", 'Action Input: {"b": 2, "a": 1}', "Observation: 3"]
    assert lines[5:8] == ["Action: fail", "Action Input: {}", "Observation: ERROR: fail failed: OSError: the shelf has fallen over"]
    assert lines[-1] == "Final Answer: 3" and "there is no tool" in lines[-2]

    text = as_text(["hm, add", "Thought: now I act.\n" + ADD, "Thought: I have it.\nFinal Answer: 3\nor so"])
    assert transcript(text.messages) == ("Task: go\nThought: hm, add\nObservation: " + text.messages[2]["content"] + "\nThought: now I act.\nAction: add\n"
                                         'Action Input: {"a": 1, "b": 2}\nObservation: 3\nThought: I have it.\nFinal Answer: 3\nor so')


def test_a_transcript_with_an_open_call_and_arguments_that_are_no_json():
    waiting = run(ScriptedModel([call("pay", amount=5)]), TOOLS, "go")
    assert transcript(waiting.messages).endswith('Action: pay\nAction Input: {"amount": 5}')
    broken = as_text(["Action: add\nAction Input: {'a':\n 1}", "Final Answer: no"])
    assert "Action Input: {'a': 1}\nObservation: ERROR: the arguments are not valid JSON" in transcript(broken.messages)


def test_the_system_text_has_the_rules_the_form_and_every_tool():
    text = react_system(TOOLS, "Be kind.\n")
    assert text.startswith("Be kind.\n\nYou work in steps.") and text.endswith(Registry(TOOLS).render())
    assert all(label in text for label in ("Thought:", "Action:", "Action Input:", "Observation:", "Final Answer:"))
    assert react_system([]).endswith("(none: answer at once)") and react_system(Registry(TOOLS)) == react_system(TOOLS)


# ---- never an invented observation -----------------------------------------------------------------------------------------

def test_what_follows_an_observation_is_dropped_and_not_kept_in_the_list():
    result = as_text([f"Thought: x\n{ADD}\nObservation: 4\nThought: y\nAction: pay\nAction Input: {{\"amount\": 9}}\nObservation: paid\nFinal Answer: paid 9",
                      "Final Answer: 3"])
    assert results(result) == ["3"] and result.answer == "3" and "paid" not in json.dumps(result.messages)


@pytest.mark.parametrize("text", [ADD + "\n" + ADD, ADD + "\nFinal Answer: 3", "Observation: 3\nFinal Answer: 3", "Thought: hm", "Action Input: {}"])
def test_what_is_neither_one_action_nor_an_answer_runs_nothing_and_is_said(text):
    result = as_text([text, "Final Answer: ok"])
    assert not result.journal.of("call") and result.messages[2]["role"] == "user" and result.messages[2]["content"].startswith("ERROR: write either")


@pytest.mark.parametrize("given", ["{'a': 1, 'b': 2}", '{"a": 1, "b": 2} or {"a": 2, "b": 2}', "1, 2", '{"a": 1', ""])
def test_an_input_that_is_no_json_object_runs_nothing(given):
    result = as_text([f"Action: add\nAction Input: {given}", "Final Answer: ok"])
    assert not result.journal.of("call") and results(result)[0].startswith("ERROR")


@pytest.mark.parametrize("given", ['{"a": 1, "b": 2}', '\n{"a": 1,\n "b": 2}', '```json\n{"a": 1, "b": 2}\n```'])
def test_an_input_in_a_fence_or_over_several_lines_is_read(given):
    assert results(as_text([f"Action: `add`\nAction Input: {given}", "Final Answer: ok"])) == ["3"]


# ---- a completion model ------------------------------------------------------------------------------------------------------

def scripted(texts):
    prompts, left = [], iter(texts)

    def complete(prompt):
        prompts.append(prompt)
        return next(left)
    return complete, prompts


def test_a_completion_model_goes_on_with_the_transcript():
    complete, prompts = scripted([f" I add.\n{ADD}", "Thought: ready\nFinal Answer: 3"])
    result = react(complete, TOOLS, "go", system="Be kind.")
    assert_rules(result)
    assert (result.answer, result.steps) == ("3", 2)
    assert prompts[0] == react_system(TOOLS, "Be kind.") + "\n\nTask: go\nThought:"
    assert prompts[1] == prompts[0] + f" I add.\n{ADD}\nObservation: 3\nThought:"
    assert result.messages[2]["content"] == f"Thought: I add.\n{ADD}"


def test_it_is_counted_by_the_text_that_it_is_sent():
    complete, prompts = scripted([f" I add.\n{ADD}", " ready\nFinal Answer: 3"])
    result = react(complete, TOOLS, "go", count_tokens=len)
    assert [e["usage"]["input_tokens"] for e in result.journal.of("reply")] == [len(p) for p in prompts]


def test_it_keeps_limits_approval_and_a_blank_reply():
    complete, _ = scripted(['Action: pay\nAction Input: {"amount": 5}', "Final Answer: paid"])
    result = react(complete, TOOLS, "go")
    assert result.status == "waiting_for_approval"
    assert resume(result.journal, ReactModel(complete), TOOLS, {result.pending[0].id: True}).answer == "paid"
    assert react(scripted([ADD] * 3)[0], TOOLS, "go", limits=Limits(max_steps=2)).status == "step_limit"
    assert react(scripted(["", " "])[0], TOOLS, "go").status == "empty_reply"
    assert react(lambda prompt: Reply(f"Final Answer: {len(prompt) > 9}"), TOOLS, "go").answer == "True"


def test_the_prompt_of_a_list_without_a_system_message():
    assert react_prompt([{"role": "user", "content": "go"}]) == "Task: go\nThought:"
