"""Notebook 20: the formulas of the compound error, the simulation that has to agree with them, and the real loop beside both."""

from dataclasses import replace
from itertools import product
from math import comb, isinf

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit.course import compound_views as views
from agentkit.course.compound import (Setup, expect, mixed, needed, play, shelves, simulate, simulate_mixed, step, step_calls,
                                      through_the_loop, wilson)
from agentkit.course.figures import png

share = st.floats(0, 1)
SETUPS = st.builds(Setup, p=share, n=st.integers(1, 30), catch=share, repair=share, tries=st.integers(0, 4), alarms=share, person=share)
CHECK = {"catch": 0.8, "repair": 0.9, "alarms": 0.05}
KINDS = {"nothing": Setup(), "one step": Setup(n=1, person=0.5), "retry": Setup(catch=0.4, repair=0.95), "check": Setup(**CHECK),
         "three repairs": Setup(p=0.7, n=4, catch=0.9, repair=0.5, tries=3, alarms=0.2), "approval": Setup(person=0.9), "fewer": Setup(n=8),
         "all of it": Setup(p=0.8, n=6, catch=0.6, repair=0.7, tries=2, alarms=0.1, person=0.7)}


# ---- formulas ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("p, n, percent", [(0.95, 10, 60), (0.95, 20, 36), (0.99, 10, 90)])
def test_the_figures_of_the_article(p, n, percent):
    assert round(100 * expect(Setup(p=p, n=n)).success) == percent


def test_the_reliability_a_step_needs():
    assert round(100 * needed(0.95, 20), 2) == 99.74
    assert needed(0.5, 1) == 0.5 and needed(0.05, 1, mended=0.9) == 0 and needed(0.9, 5, mended=1) == 0


@given(st.floats(0.05, 0.999), st.integers(1, 60), share, share)
def test_what_is_needed_is_what_arrives(target, n, catch, repair):
    p = needed(target, n, mended=catch * repair)
    arrives = expect(Setup(p=p, n=n, catch=catch, repair=repair)).success
    assert arrives == pytest.approx(target, rel=1e-6) if p else arrives >= target - 1e-9


@pytest.mark.parametrize("tries", [0, 1, 2, 3])
def test_a_step_by_going_through_all_that_can_happen(tries):
    s = Setup(p=0.7, catch=0.6, repair=0.8, tries=tries, alarms=0.3)
    right = calls = 0.0
    for good, alarm, *looks in product((True, False), repeat=2 + 2 * tries):        # every coin, thrown or not
        chance = (s.p if good else 1 - s.p) * (s.alarms if alarm else 1 - s.alarms)
        for seen, mended in zip(looks[::2], looks[1::2]):
            chance *= (s.catch if seen else 1 - s.catch) * (s.repair if mended else 1 - s.repair)
        used, is_right = 1 + (good and alarm and tries > 0), good
        for seen, mended in zip(looks[::2], looks[1::2]):
            if is_right or not seen:
                break
            used, is_right = used + 1, mended
        right, calls = right + chance * is_right, calls + chance * used
    assert (step(s), step_calls(s)) == pytest.approx((right, calls))


def test_detection_is_the_ceiling_of_repair():
    many = step(Setup(catch=0.8, repair=0.9, tries=1_000))
    assert many == pytest.approx(0.95 + 0.05 * 0.72 / 0.92) and many ** 20 < 0.81
    assert step(Setup(catch=1.0, repair=0.1, tries=1_000)) == pytest.approx(1)


@given(SETUPS)
def test_the_ends_add_up_and_help_never_hurts(s):
    ends = expect(s)
    assert ends.success + ends.harm + ends.stopped == pytest.approx(1) and min(ends.success, ends.harm, ends.stopped) >= -1e-12
    assert s.n <= ends.calls + 1e-9
    alone = expect(replace(s, person=0.0))
    assert alone.stopped == pytest.approx(0) and alone.success <= ends.success + 1e-12 and alone.harm >= ends.harm - 1e-12
    assert expect(replace(s, tries=0)).success <= ends.success + 1e-12


def test_the_price_of_success():
    assert expect(Setup()).calls_per_success == pytest.approx(20 / 0.95 ** 20)
    assert expect(Setup(n=20, **CHECK)).calls == pytest.approx(20 * (1 + 0.05 * 0.8 + 0.95 * 0.05))
    assert isinf(expect(Setup(p=0.0)).calls_per_success)


# ---- the interval ----------------------------------------------------------------------------------------------------------

PRINTED = "Newcombe, Statistics in Medicine 17 (1998) 857, table I"


@pytest.mark.parametrize("hits, tasks, low, high", [
    pytest.param(81, 263, 0.2553, 0.3662, id=f"{PRINTED}: 81 of 263"), pytest.param(15, 148, 0.0624, 0.1605, id=f"{PRINTED}: 15 of 148"),
    pytest.param(0, 20, 0.0, 0.1611, id=f"{PRINTED}: 0 of 20"), pytest.param(1, 29, 0.0061, 0.1718, id=f"{PRINTED}: 1 of 29")])
def test_wilson_as_printed(hits, tasks, low, high):
    assert wilson(hits, tasks) == pytest.approx((low, high), abs=5e-5)
    assert wilson(tasks - hits, tasks) == pytest.approx((1 - high, 1 - low), abs=5e-5)


@given(st.integers(1, 2_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))), st.floats(0.5, 5))
def test_wilson_stays_in_bounds_and_around_the_share(count, z):
    hits, tasks = count
    low, high = wilson(hits, tasks, z)
    assert 0 <= low <= hits / tasks + 1e-12 and hits / tasks - 1e-12 <= high <= 1 and low < high


@pytest.mark.parametrize("tasks", [10, 20, 50, 100, 300])
def test_wilson_holds_the_truth_as_often_as_it_says(tasks):
    """Exactly, from the binomial distribution: 95 % on average over the truths, and never far below it in the middle."""
    limits, found = [wilson(hits, tasks) for hits in range(tasks + 1)], []
    for truth in np.linspace(0.05, 0.95, 181):
        held = [hits for hits, (low, high) in enumerate(limits) if low <= truth <= high]
        found.append(sum(comb(tasks, hits) * truth ** hits * (1 - truth) ** (tasks - hits) for hits in held))
    assert 0.945 < np.mean(found) < 0.965 and min(found) > 0.88


@pytest.mark.parametrize("hits, tasks", [(-1, 5), (6, 5), (1, 0)])
def test_impossible_counts_are_refused(hits, tasks):
    with pytest.raises(ValueError, match="passed must be between"):
        wilson(hits, tasks)
    assert wilson(0, 0) == (0, 1), "of nothing, nothing is known"


# ---- simulation ------------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("name", KINDS)
def test_the_simulation_agrees_with_the_formula(name):
    s, tasks = KINDS[name], 40_000
    ends, runs = expect(s), simulate(s, tasks, seed=3)
    for wanted, seen in ((ends.success, runs.done), (ends.harm, runs.harm), (ends.stopped, ~runs.done & ~runs.harm)):
        low, high = wilson(int(seen.sum()), tasks, z=4)
        assert low <= wanted <= high
    assert abs(runs.calls.mean() - ends.calls) <= 4 * runs.calls.std() / tasks ** 0.5 + 1e-9
    assert not (runs.done & runs.harm).any() and runs.right.shape == (tasks, s.n)
    assert runs.interval() == wilson(int(runs.done.sum()), tasks)


@settings(max_examples=40, deadline=None)
@given(SETUPS)
def test_what_is_certain_is_certain(s):
    assert simulate(replace(s, p=1.0), 50).done.all()
    assert simulate(replace(s, catch=1.0, repair=1.0, tries=1), 50).done.all()
    assert not simulate(replace(s, p=0.0, tries=0, person=0.0), 50).done.any()
    assert not simulate(replace(s, person=1.0), 50).harm.any()


def test_the_same_seed_is_the_same_tasks_and_steps_are_independent():
    one, again, other = (simulate(KINDS["all of it"], 100, seed) for seed in (1, 1, 2))
    assert (one.right == again.right).all() and (one.calls == again.calls).all() and (one.right != other.right).any()
    good, calls = play(Setup(p=0.5, tries=0), (20_000, 2), np.random.default_rng(0))
    assert abs(np.corrcoef(good.T)[0, 1]) < 0.03 and (calls == 1).all()


def test_hard_tasks_are_hard_at_every_step_so_more_arrive():
    assert mixed(19, 1, 20) == pytest.approx(19 / 39) and mixed(19, 1, 1) == pytest.approx(0.95)
    right = simulate_mixed(19, 1, 40, tasks=40_000, seed=1)
    for n in (1, 5, 20, 40):
        low, high = wilson(int(right[:, :n].all(axis=1).sum()), 40_000, z=4)
        assert low < mixed(19, 1, n) < high and (n == 1 or low > 0.95 ** n)


# ---- through the loop ------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("readable", [False, True])
def test_the_real_loop_agrees_with_the_formula(readable):
    s, tasks = Setup(p=0.9, n=8, catch=0.8, repair=0.9), 250
    ends = expect(s if readable else Setup(p=0.9, n=8))
    arrived, said_done, calls = through_the_loop(s, readable, tasks)
    assert wilson(arrived, tasks)[0] < ends.success < wilson(arrived, tasks)[1]
    assert said_done == tasks and calls / tasks == pytest.approx(ends.calls + 1, abs=0.2)       # one more, for the answer
    assert through_the_loop(s, readable, 20) == through_the_loop(s, readable, 20)


def test_the_loop_without_mistakes_and_with_nothing_else():
    assert through_the_loop(Setup(p=1.0, n=12), True, 5) == (5, 5, 65)
    assert through_the_loop(Setup(p=0.0, n=3, catch=1.0, repair=1.0), True, 5) == (5, 5, 35)
    assert through_the_loop(Setup(p=0.0, n=3, catch=1.0, repair=1.0), False, 5) == (0, 5, 20)


def test_a_shelf_that_is_not_there_is_told_in_words_or_is_not():
    for readable, said in ((True, "the shelves are S0 to S9"), (False, "400")):
        put_away, placed = shelves(readable)
        with pytest.raises(LookupError, match=said):
            put_away.fn(parcel=3, shelf="shelf 3")
        assert put_away.fn(parcel=3, shelf="S3") == "done" and placed == {3: "S3"}


# ---- pictures --------------------------------------------------------------------------------------------------------------

def test_the_grid_sorts_the_rows_by_how_far_they_came():
    right = np.array([[1, 0, 1], [1, 1, 1], [0, 1, 1]], bool)
    cells = views.grid_figure(right, "t", p=0.9).axes[0].images[0].get_array()
    colour = {"right": views.RIGHT, "broke": views.BROKE, "after": views.AFTER}
    rows = (("right",) * 3, ("right", "broke", "after"), ("broke", "after", "after"))
    assert np.allclose(cells, [[colour[c] for c in row] for row in rows])
    as_run = views.grid_figure(right, "t").axes[0].images[0].get_array()
    assert np.allclose(as_run, [[colour[c] for c in rows[i]] for i in (1, 0, 2)])


def test_the_other_pictures_can_be_drawn():
    rows = {name: (expect(s), simulate(s, 100).interval()) for name, s in KINDS.items()}
    points = {5: (0.6, 0.7, 0.8)}
    for fig in (views.bought_figure(rows, "t"), views.ends_figure({n: e for n, (e, _) in rows.items()}, "t"),
                views.curve_figure({"a": (range(1, 9), [0.9] * 8, points), "b": (range(1, 9), [0.8] * 8, {})}, "t")):
        assert png(fig)[:4] == b"\x89PNG"


def test_the_lab_draws_every_setting_on_fixed_axes_and_the_same_twice():
    controls = views.lab_controls()
    first = {name: control.default for name, control in controls.items()}
    for name, control in controls.items():
        for value in control.samples():
            fig, html = views.lab_view(**{**first, name: value})
            assert "each task that arrives" in html and [ax.get_ylim() for ax in fig.axes] == [(0, 103), (0, 103), (0, 100)]
    worst = expect(views.lab_setup(p=0.7, n=views.STEPS, catch=1.0, repair=0.0, tries=4, approval=True))
    assert worst.calls < views.CALLS        # the bar of calls fits, whatever is set
    assert png(views.lab_view(**first)[0]) == png(views.lab_view(**first)[0])


def test_the_lab_shows_simulated_points_near_its_curve():
    s = views.lab_setup(p=0.9, n=7, catch=0.5, repair=0.5, tries=2, approval=True)
    for n, (low, seen, high) in views.sweep(s).items():
        assert low <= seen <= high and abs(seen - expect(replace(s, n=n)).success) < 0.1
