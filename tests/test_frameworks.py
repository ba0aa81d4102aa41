"""How the recording of the frameworks is read: what became of a failure, what a call is made of, and the views over it."""

import itertools

import pytest

from agentkit import count_tokens
from agentkit.course import framework_views as views
from agentkit.course import frameworks
from agentkit.course.figures import png

ANSWER = frameworks.data()["answer"]
CALL = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "name": "get_order", "arguments": "{}"}]}
RESULT = {"role": "tool", "content": "Error", "tool_call_id": "call_1"}
RAISED = {"ended": "raised", "error": "RuntimeError", "message": "down", "answer": None}


def made(**changes):
    """A record of a run that asked the model twice and then answered."""
    return {"model_calls": 2, "ran": 0, "ended": "returned", "answer": ANSWER, "executed": [], "second_call_adds": [CALL, RESULT], **changes}


@pytest.mark.parametrize(("case", "changes", "kind", "end"), [
    pytest.param("unknown_tool", {}, "told", "answer", id="an error as the call's result"),
    pytest.param("tool_raises", {"ran": 1}, "told", "answer", id="a tool that raised did run"),
    pytest.param("empty_reply", {"second_call_adds": [{"role": "system", "content": "Say something."}]}, "told", "answer", id="words in a system message"),
    pytest.param("unknown_tool", {"second_call_adds": [{"role": "user", "added_to_its_content": "Error"}]}, "told", "answer", id="words added to a message"),
    pytest.param("empty_reply", {"second_call_adds": []}, "again", "answer", id="the same list again"),
    pytest.param("unknown_tool", {"second_call_adds": [CALL]}, "again", "answer", id="the model's own call is no news to it"),
    pytest.param("unknown_tool", {"model_calls": 1, **RAISED}, "raised", "RuntimeError", id="an exception"),
    pytest.param("broken_json", {"model_calls": 1, "answer": ""}, "empty", "''", id="an empty answer"),
    pytest.param("broken_json", {"model_calls": 1, "answer": None}, "empty", "None", id="no answer"),
    pytest.param("broken_json", {}, "told", "answer", id="cut-off arguments that did not run"),
    pytest.param("broken_json", {"ran": 1}, "ran", "answer", id="cut-off arguments that ran"),
    pytest.param("wrong_type", {"ran": 1}, "ran", "answer", id="a wrong type that ran"),
    pytest.param("text_first", {"model_calls": 1, "second_call_adds": ()}, "ran", "answer", id="a text is the answer"),
    pytest.param("two_calls", {"ran": 2, "second_call_adds": [CALL, RESULT, RESULT]}, "told", "answer", id="two results for two calls"),
    pytest.param("two_calls", {"ran": 2}, "part", "answer", id="one result for two calls"),
    pytest.param("never_stops", {"model_calls": 151, "ran": 150}, "script", "the script", id="only the script ended it"),
    pytest.param("same_call", {"model_calls": 90, "ended": "stopped from outside", "error": "time-out", "answer": None}, "script", "the script", id="it ran out of time"),
    pytest.param("same_call", {"model_calls": 10, **RAISED}, "limit", "RuntimeError", id="a limit that raises"),
    pytest.param("never_stops", {"model_calls": 10, "answer": None, "state": "status step_limit"}, "limit", "step_limit", id="a limit with a status"),
    pytest.param("always_empty", {"model_calls": 1, "answer": ""}, "empty", "''", id="an empty reply taken as the answer"),
    pytest.param("always_empty", {"model_calls": 3, **RAISED}, "limit", "RuntimeError", id="empty replies up to a limit"),
])
def test_a_record_tells_what_became_of_a_failure(case, changes, kind, end):
    found = frameworks.fate(case, made(**changes))
    assert (found.kind, found.end) == (kind, end)


def test_an_endless_run_is_told_with_its_calls():
    assert frameworks.fate("never_stops", made(model_calls=151, ran=150)).words == "150 calls,\nnot stopped"
    assert frameworks.fate("same_call", made(model_calls=3, answer=None, state="status repeated_call")).words == "3 calls:\nrepeated_call"


def test_every_record_has_a_kind_and_a_look():
    kinds = {frameworks.fate(case, frameworks.record(name, case)).kind
             for name, case in itertools.product(frameworks.names(), (*frameworks.FAILURES, *frameworks.MORE))}
    assert kinds == frameworks.KINDS.keys() == views.LOOKS.keys()
    assert {"task", *frameworks.FAILURES, *frameworks.MORE} == frameworks.data()["cases"].keys()


def test_the_frameworks_come_by_the_alphabet_and_agentkit_last():
    *others, last = frameworks.names()
    assert others == sorted(others) and last == "agentkit" and len(others) == 6
    with pytest.raises(LookupError, match="crewai"):
        frameworks.row("crew")


def test_a_system_that_was_not_recorded_is_left_out(monkeypatch):
    rows = {**frameworks.data()["systems"], "llm": {"missing": "pip could not install it", "recorded": "2026-11-30"}}
    monkeypatch.setattr(frameworks, "data", lambda: {"systems": rows})
    assert "llm" not in frameworks.names()


@pytest.mark.parametrize("name", frameworks.names())
def test_the_parts_of_a_first_call_are_its_tokens(name):
    parts, calls = frameworks.first_call(name), frameworks.each_call(name)
    assert sum(parts.values()) == calls[0] == frameworks.record(name, "task")["tokens"]["first"]
    assert parts["task"] >= count_tokens(frameworks.data()["task"]) and parts["system"] >= count_tokens(frameworks.data()["system"])
    assert calls == sorted(calls) and len(calls) == 3


def test_a_task_that_was_cut_is_not_counted(monkeypatch):
    kept = {"sent": [{"tokens": {"messages": 200, "tools": 9}, "list": [{"role": "user", "content": "Go [cut: 900 characters in all]"}]}]}
    monkeypatch.setattr(frameworks, "record", lambda name, case: kept)
    with pytest.raises(ValueError, match="was cut"):
        frameworks.first_call("llm")


def test_a_message_from_the_wire_is_put_as_it_is_kept():
    wire = {"role": "assistant", "content": None, "tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "get_order", "arguments": "{}"}}]}
    assert frameworks.as_recorded(wire) == CALL
    assert frameworks.as_recorded(RESULT) == RESULT


@pytest.mark.parametrize(("line", "name"), [("class ToolNode(", "ToolNode"), ("async def run_single_turn(", "run_single_turn"), ("max_steps: int = 20", "max_steps"),
                                            ("Chain limit of {self.chain_limit} exceeded", "chain_limit"), (None, "models.py")])
def test_the_map_has_the_framework_s_own_name(monkeypatch, line, name):
    part = {"file": "some/models.py", "lines": 9, **({"at": line} if line else {})}
    monkeypatch.setattr(frameworks, "row", lambda _: {"parts": {"loop.py": part}})
    assert frameworks.part("some", "loop.py") == name and frameworks.part("some", "tools.py") == ""


def test_the_map_names_every_part_of_the_data_and_no_other():
    rows = frameworks.data()["systems"]
    assert {ours for row in rows.values() for ours in row.get("parts", {})} <= frameworks.MODULES.keys()
    filled = sum(len(row.get("parts", {})) for row in rows.values())
    assert views.map_table().count("&nbsp;") == len(frameworks.MODULES) * (len(rows) - 1) - filled


def test_long_names_are_broken_between_their_parts():
    assert views.broken("raises\nModelBehaviorError") == "raises\nModelBehavior-\nError"
    assert views.broken("max_steps_error") == "max_steps_\nerror"
    assert views.broken("told,\ngoes on") == "told,\ngoes on"
    words = [views.broken(frameworks.fate(c, frameworks.record(n, c)).words).split("\n") for n in frameworks.names() for c in frameworks.FAILURES]
    assert max(len(line) for lines in words for line in lines) <= 16 and max(map(len, words)) <= 3


def test_the_lab_shows_what_was_really_sent_and_how_it_ended():
    html = views.lab_view("tool_raises", "openai-agents", "pydantic-ai")
    assert "An error occurred while running the tool." in html and "raised RuntimeError: the order database is down" in html
    assert "The model calls get_order, which raises RuntimeError." in html
    assert "added to the task&#x27;s message" in views.lab_view("two_calls", "smolagents", "agentkit")
    assert views.spoken("tool_raises", "agentkit", "langgraph") == ("agentkit on the tool raises: the model is told, and the run goes on. "
                                                                    "langgraph on the tool raises: an exception leaves the run.")


def test_what_was_sent_is_text_and_no_markup(monkeypatch):
    monkeypatch.setattr(views, "record", lambda name, case: made(tokens={"all": 5}, second_call_adds=[{**RESULT, "content": "<script>1</script>"}]))
    assert "<script>" not in views.lab_view("unknown_tool", "llm", "crewai")


def test_the_lab_can_show_every_pair():
    options = {name: control.samples() for name, control in views.controls().items()}
    for case, name in itertools.product(options["case"], options["left"]):
        assert name in views.lab_view(case, name, "agentkit") and views.spoken(case, name, "agentkit")
    assert all(control.default in control.samples() for control in views.controls().values())


@pytest.mark.parametrize("make", [views.tokens_figure, views.matrix_figure, views.exits_figure])
def test_the_pictures_are_the_same_each_time(make):
    assert png(make()) == png(make())


def test_the_pictures_say_the_recorded_numbers():
    said = {text.get_text() for ax in views.tokens_figure().axes for text in ax.texts}
    assert {f"{frameworks.each_call(name)[0]:,}" for name in frameworks.names()} <= said
    said = [text.get_text() for text in views.exits_figure().axes[0].texts]
    assert "3, repeated_call" in said and len(said) == 2 * len(frameworks.names())
