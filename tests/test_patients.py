"""The four stuck agents of notebook 08: each is really broken, each is really mended, and the pictures say what the record says."""

import json

import pytest

from agentkit import Journal, ScriptedModel, Tool, call, replay, run
from agentkit.course import patients
from agentkit.course import trace_views as views
from agentkit.course.figures import png
from agentkit.course.timeline import _lanes, timeline
from agentkit.messages import check_messages

STUCK = [name for name in patients.PATIENTS if name != "healthy"]
each = pytest.mark.parametrize("name", [*patients.PATIENTS, "stale"])


def sent(journal):
    return [e["messages"] for e in journal.of("sent")]


@each
def test_a_run_is_the_same_every_time_and_says_what_was_sent(name):
    first, second = patients.record(name), patients.record(name)
    assert first.journal.events == second.journal.events
    assert len(sent(first.journal)) == first.steps
    for messages in sent(first.journal):
        check_messages(messages)    # a provider takes it, so nobody noticed
    assert first.journal.messages() == first.messages


@each
def test_a_recorded_run_replays(name):
    assert replay(patients.record(name).journal).same


@pytest.mark.parametrize("name", STUCK)
def test_the_cure_works_and_the_fault_was_needed(name):
    healthy, broken, mended = patients.record("healthy"), patients.record(name), patients.record(name, mended=True)
    assert broken.answer != healthy.answer
    assert (mended.status, mended.answer) == ("done", healthy.answer)


def test_the_healthy_run_reads_an_error_and_hands_the_refund_over():
    result = patients.record("healthy")
    assert [e["name"] for e in result.journal.of("result")] == ["get_order", "find_orders", "get_order", "get_order", "hand_over"]
    assert [e["error"] for e in result.journal.of("result")] == [True, False, False, False, False]
    assert sent(result.journal)[-1] == result.messages[:-1]


def test_patient_1_is_never_sent_the_results_that_came_back():
    result = patients.record("patient 1")
    late = next(e for e in result.journal.of("result") if '"days_late": 4' in e["content"])
    assert result.status == "repeated_call" and late["step"] == 3
    assert not any("days_late" in (m["content"] or "") for messages in sent(result.journal) for m in messages)
    assert [e["usage"]["input_tokens"] for e in result.journal.of("reply")][2:] == [426, 426, 426]


def test_patient_2_hides_an_error_that_only_the_clock_shows():
    result = patients.record("patient 2")
    hidden = result.journal.of("result")[-1]
    assert (hidden["content"], hidden["error"], result.status) == ("[]", False, "done")
    assert hidden["seconds"] == patients.TIME_OUT
    assert patients.record("patient 2", mended=True).journal.of("result")[1]["error"]


def test_patient_3_goes_round_in_twos_without_an_error():
    result = patients.record("patient 3")
    names = [e["name"] for e in result.journal.of("result")][4:]
    assert result.status == "repeated_call" and names == ["get_parcel", "get_order"] * 3
    assert not any(e["error"] for e in result.journal.of("result")[1:])


def test_patient_4_pays_once_the_rule_is_gone():
    result = patients.record("patient 4")
    assert [m[0]["role"] for m in sent(result.journal)] == ["system", "system", "system", "user", "user"]
    assert result.messages[0]["role"] == "system" and "refunded" in result.answer
    tokens = [e["usage"]["input_tokens"] for e in result.journal.of("reply")]
    assert tokens[2] > 6 * tokens[1]


@pytest.mark.parametrize("name", patients.PATIENTS)
@pytest.mark.parametrize("view", views.VIEWS)
def test_the_viewer_shows_every_step_and_says_when_a_run_is_over(name, view):
    last = len(views.recorded(name).of("reply"))
    for step in range(1, views.STEPS + 1):
        made = views.view(name, view, step)
        html = made[1] if isinstance(made, tuple) else made
        assert "<script" not in html and "var(" not in html
        if view != "timeline":
            assert ("The run ended" in html) == (step > last)
    assert views.spoken(name, view, 1).startswith(name)


def test_the_viewer_counts_what_was_sent_and_what_was_held():
    assert views.numbers("healthy", 5) == {"messages sent": 11, "messages held": 11, "tokens sent": 484, "seconds": 1.1}
    assert [views.numbers("patient 1", s)["messages held"] for s in range(1, 6)] == [2, 4, 6, 9, 12]
    assert "is sent 6 messages" in views.sent_list(views.recorded("patient 1"), 5)


def test_what_a_tool_says_is_text_in_the_viewer():
    tool = Tool("evil", "Says html.", {"properties": {}}, lambda: "<b>bold</b>")
    journal = run(ScriptedModel([call("evil"), "<i>done</i>"]), [tool], "Go.").journal
    html = views.trace_table(journal, 1)
    assert "<b>bold" not in html and "&lt;b&gt;bold" in html and "&lt;i&gt;done" in html


def test_the_cures_are_folded():
    html = views.Cures(*STUCK)._repr_html_()
    assert html.count("<details>") == html.count("</details>") == len(STUCK)
    assert "tool_call_id" not in repr(views.Cures(*STUCK))


def test_a_timeline_is_drawn_of_any_run_and_is_the_same_every_time():
    broken_off = Journal(run_id="demo")
    for event in patients.record("healthy").journal.events[:8]:
        broken_off.write(json.loads(json.dumps(event)))
    long = run(ScriptedModel([call("get_order", order_id=f"A{n}") for n in range(40)]), [], "Go.").journal
    for journal in (patients.record("patient 2").journal, broken_off, Journal(), long):
        assert png(timeline(journal)) == png(timeline(journal))
    fig = timeline(patients.record("patient 4").journal, step=3, seconds=16, tokens=3_000, steps=9)
    assert [ax.get_xlim()[0] for ax in fig.axes] == [0, 0]
    assert [t.get_text() for t in fig.axes[0].get_yticklabels()][2] == "▶ step 3"


def test_calls_that_ran_at_once_stand_below_each_other():
    assert _lanes([("a", 2, 0.0, 2.0), ("b", 2, 0.5, 1.0), ("c", 2, 1.5, 1.0), ("d", 2, 3.0, 1.0)]) == [0, 1, 1, 0]
    assert _lanes([]) == []
