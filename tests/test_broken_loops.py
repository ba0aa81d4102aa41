"""The ten broken loops: each fails its own line of the card and no other, and its repair brings that line back."""

import re

import pytest

from agentkit.course import scorecard_views as views
from agentkit.course.broken_loops import LOOPS, loop
from agentkit.course.round_answer import function
from agentkit.course.round_lines import LINES
from agentkit.course.scorecard import scorecard

each = pytest.mark.parametrize("broken", LOOPS, ids=lambda broken: broken.reference)


def test_ten_loops_on_ten_lines():
    assert [broken.number for broken in LOOPS] == list(range(1, 11)) and len({broken.key for broken in LOOPS}) == 10
    assert loop(1) is LOOPS[0] and loop(10) is LOOPS[9]


@each
@pytest.mark.parametrize("seed", [23, 5])
def test_it_fails_its_own_line_and_only_that(broken, seed):
    bad, good = scorecard(function(broken.source), seed), scorecard(function(broken.mended), seed)
    assert bad[broken.key].state == "not met" and good[broken.key].state == "met"
    others = {m.line.key for m in good.marks if m.state == "met" and bad[m.line.key].state == "not met"} - {broken.key}
    assert not others
    # What the repair does not meet is what a short loop leaves out, never a line of the first three stages' "must".
    assert all(good[line.key].state == "met" for line in LINES if line.level == "must" and line.key != "budget")
    fallen = {key for key in bad.of("not reached") if good[key].state != "not reached"}
    assert fallen <= _stand_on(broken.key)


def _stand_on(key):
    found = {line.key for line in LINES if key in line.needs}
    return found.union(*map(_stand_on, found)) if found else found


@each
def test_it_is_short_and_its_bug_has_one_line(broken):
    source = broken.source.strip()
    assert 12 <= len(source.splitlines()) <= 25 and max(map(len, source.splitlines())) <= 100
    mended = broken.mended.strip().splitlines()
    line = source.splitlines()[broken.bug_line - 1]
    assert line not in mended or broken.number == 10
    assert broken.looks and broken.why and re.fullmatch(r"[\w.-]+#\d+", broken.reference)


def test_the_reference_is_one_of_the_collected_cases():
    cases = {
        "anvia#397",
        "koog#1888",
        "strands#1176",
        "hermes-agent#1796",
        "openai-agents#3459",
        "mellea#1431",
        "clawbolt#169",
        "nanobot#3045",
        "stella#359",
        "agent-framework#3938",
    }
    assert {broken.reference for broken in LOOPS} == cases


@each
def test_its_trace_shows_the_failure(broken):
    scene, end, found = broken.failing_run()
    rows = views.trace_rows(scene, end)
    assert found and rows[-1][0] == "the run" and rows[0][0] == "model call 1"
    page = views.loop_view(broken.number)
    assert f"Loop {broken.number} of 10" in page and "One of its runs" in page and "var(" not in page
    assert not re.search(r"0x[0-9a-f]{6}|/tmp/|<locals>|round_lines", page)
    assert page == views.loop_view(broken.number)


@pytest.mark.parametrize(
    "number, said",
    [
        (1, "model call 5"),
        (2, "asks for get_order"),
        (3, "is sent 7 messages"),
        (4, "cancelled: all"),
        (5, "KeyError: &#x27;get_orders&#x27;|KeyError: 'get_orders'"),
        (6, "get_order"),
        (7, "unreadable"),
        (8, "repeated_call"),
        (9, "3 of"),
        (10, "is started again"),
    ],
)
def test_the_clue_is_in_the_run(number, said):
    scene, end, _ = loop(number).failing_run()
    assert re.search(said, views.trace_html(scene, end))


def test_what_an_exercise_asks_is_not_given_away():
    for broken in LOOPS:
        page = views.loop_view(broken.number)
        assert ("<details" in page) == (not broken.exercise) and (broken.why[:20] in page.replace("&quot;", '"')) == (not broken.exercise)
    assert {broken.exercise for broken in LOOPS} == {"", "23-2", "23-3", "23-4"}
