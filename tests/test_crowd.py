"""The crowd of notebook 10: nobody is lost, the server keeps to its capacity, and the pictures can be drawn."""

import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit.course import crowd as crowds
from agentkit.course import retry_views as views
from agentkit.course.crowd import ROOM, TOGETHER, backoff, crowd, simulate
from agentkit.course.figures import png
from agentkit.retry import Retry, Transient

SETTINGS = {"clients": st.integers(1, 200), "capacity": st.integers(1, 100), "base": st.floats(0, 4), "jitter": st.booleans(),
            "attempts": st.integers(1, 6), "asked": st.floats(0, 10)}


@settings(max_examples=60, deadline=None)
@given(st.fixed_dictionaries(SETTINGS))
def test_every_client_is_answered_or_gives_up_and_the_server_keeps_to_its_capacity(how):
    found = crowd(**how)
    clients, attempts, capacity = how["clients"], how["attempts"], how["capacity"]
    assert len(found.finished) + found.gave_up == clients
    assert clients + (attempts - 1) * found.gave_up <= len(found.sent) <= clients * attempts
    assert list(found.sent) == sorted(found.sent) and list(found.finished) == sorted(found.finished)
    gaps = [b - a for a, b in zip(found.finished, found.finished[1:])]
    assert all(gap >= 1 / capacity - 1e-9 for gap in gaps) and 0 < found.busy <= 1


def test_the_same_settings_are_the_same_crowd():
    def of(seed):
        return simulate(100, 20, 4, backoff(), seed)

    assert of(1) == of(1) != of(2)


def test_by_hand_one_server_and_three_clients():
    found = simulate(3, 1, 2, lambda attempt, rng: 5.0)
    first, second, third = found.sent[:3]       # the first is taken; the second finds one second's work less a moment, the third none
    assert found.finished == pytest.approx((first + 1, first + 2, third + 5 + 1)) and found.sent[3] == third + 5 and found.gave_up == 0
    assert third < TOGETHER and second - first < ROOM


def test_jitter_answers_more_with_fewer_requests():
    without, with_it = crowd(jitter=False), crowd(jitter=True)
    assert (len(without.finished), len(with_it.finished)) == (227, 500) and len(with_it.sent) < len(without.sent)
    patient = simulate(500, 50, 4, backoff(base=1.5, jitter=0.0), seed=1)      # waits as long on average, without chance
    assert len(patient.finished) < 250


@given(st.integers(1, 30), st.floats(0, 5), st.floats(0, 2), st.floats(0, 60))
def test_the_crowd_waits_by_the_rule_of_agentkit(attempt, base, jitter, asked):
    one, two = random.Random(1), random.Random(1)
    mine = backoff(asked, base=base, jitter=jitter)(attempt, one)
    assert mine == pytest.approx(Retry(base=base, jitter=jitter, random=two.random).delay(attempt, Transient(retry_after=asked)))


def test_a_row_has_a_cell_for_each_column():
    assert len(crowd().row("x")) == len(crowds.HEADER) and crowd().row("x")[:3] == ("x", "500", "0")


def test_the_lab_draws_every_setting_and_draws_it_the_same_twice():
    controls = views.lab_controls()
    first = {name: control.default for name, control in controls.items()}
    assert set(first) == set(SETTINGS)
    for name, control in controls.items():
        for value in control.samples():
            fig, html = views.lab_view(**{**first, name: value})
            assert "at least" in html
    assert png(views.lab_view(**first)[0]) == png(views.lab_view(**first)[0])
