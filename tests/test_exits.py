"""The confused models of notebook 06: each is stopped by the exit that is its own, and the account adds up."""

import pytest

from agentkit import Limits, Price
from agentkit.course import exit_views, exits
from agentkit.course.exits import STAND_INS, observe, only
from agentkit.tokens import rough_tokens

ALLOWED = Limits(max_steps=10, max_tool_calls=20, budget_tokens=20_000, budget_usd=0.06, max_seconds=60, max_repeats=3, max_errors=4)
EXIT = {"good": "done", "clumsy": "done", "stuck": "repeated_call", "circling": "repeated_call", "wandering": "step_limit",
        "greedy": "tool_call_limit", "hungry": "token_budget", "brooding": "cost_budget", "slow": "time_limit", "failing": "error_limit",
        "silent": "empty_reply"}
each = pytest.mark.parametrize("name", STAND_INS)


@each
def test_every_stand_in_has_an_exit_of_its_own(name):
    assert observe(name, ALLOWED).status == EXIT[name]


@each
def test_without_limits_only_the_sound_ones_end(name):
    assert observe(name, only(), guard=12).status == {"silent": "empty_reply"}.get(name, "done" if STAND_INS[name].sound else exits.FOR_EVER)


@each
def test_a_run_is_the_same_every_time(name):
    assert observe(name, ALLOWED) == observe(name, ALLOWED)


@each
def test_the_account_adds_up(name):
    used = observe(name, ALLOWED)
    assert {field: values[-1] for field, values in used.course.items()} == {field: getattr(used, field) for field in used.course}
    assert all(len(values) == used.steps + 1 and values == sorted(values) for field, values in used.course.items() if field != "repeats")


@each
@pytest.mark.parametrize("column", ("max_steps", "max_tool_calls", "budget_tokens", "budget_usd", "max_seconds", "max_repeats", "max_errors", "all"))
def test_no_limit_alone_replaces_the_others(name, column):
    limits = ALLOWED if column == "all" else only(**{column: getattr(ALLOWED, column)})
    text = exits.verdict(name, observe(name, limits, count=rough_tokens), ALLOWED)
    if column == "all" or STAND_INS[name].sound:
        assert text == "done" or text.startswith("step ")
    if column == "max_repeats" and name == "wandering":
        assert text == exits.FOR_EVER
    if column == "max_steps" and name == "greedy":
        assert text == "6.0x calls"


def test_what_is_never_called_is_never_repeated():
    assert observe("silent", ALLOWED).repeats == 0
    assert observe("wandering", only(max_steps=4)).repeats == 1
    assert observe("circling", only(max_steps=8)).repeats == 2


def test_a_stronger_limit_cuts_off_good_runs():
    assert exits.verdict("good", observe("good", only(max_steps=3)), ALLOWED) == "cut off"


def test_a_run_that_nothing_stops_is_not_reported_as_stopped_by_a_limit():
    used = observe("wandering", only(), guard=5)
    assert (used.status, used.steps) == (exits.FOR_EVER, 5) and "step limit" not in used.report
    assert observe("wandering", only(max_steps=5), guard=5).status == "step_limit"


def test_a_talker_keeps_to_its_longest_reply():
    for seed in range(20):
        model, _ = exits.talker(seed, longest=300)
        assert all(exits.size([model([], []).as_message()]) <= 300 for _ in range(20))


def test_the_words_of_the_lab_mean_what_they_say():
    free = dict.fromkeys(("max_steps", "max_tool_calls", "budget_tokens", "budget_usd", "max_seconds", "max_repeats", "max_errors"), exit_views.NO_LIMIT)
    assert exit_views.lab_run("hungry", **free).status == exits.FOR_EVER
    assert exit_views.lab_run("hungry", **{**free, "max_steps": 0}).steps == 0
    assert exit_views.lab_run("hungry", check=exit_views.CHECKS[2], **{**free, "budget_tokens": 20_000}).tokens <= 20_000
    dear, cheap = (exit_views.lab_run("good", price=price, **free).usd for price in (30, 15))
    assert dear == pytest.approx(2 * cheap) and cheap == pytest.approx(observe("good", only(), price=Price(3, 15)).usd)


def test_every_place_of_every_control_can_be_drawn():
    controls = exit_views.lab_controls()
    defaults = {name: control.default for name, control in controls.items()}
    assert all(exit_views.NO_LIMIT in control.options for name, control in controls.items() if name not in ("who", "check", "price"))
    for name, control in controls.items():
        for value in control.samples():
            figure, html = exit_views.lab_view(**{**defaults, name: value})
            assert figure.axes and "Report:" in html
