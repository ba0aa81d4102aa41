"""The cost of a run: the articles' figures, each lever, and the arithmetic against runs that are measured."""

import itertools
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit import Limits, Price, Reply, Tool, call, run
from agentkit.cost import (MOST, PARTS, Shape, calls_of, compaction_pays_after, parts, rule_error, rule_of_thumb, share, steps_within, total_input,
                           total_input_of, usage_of, usd)
from agentkit.course import cost_views as views
from agentkit.course.figures import png

PRICE, CACHED = Price(3, 15), Price(3, 15, cached=0.3)
TEN, TWENTY = Shape(), Shape(calls=19)
SIZES = st.integers(0, 3_000)


# ---- the article's figures -------------------------------------------------------------------------------------------

def test_ten_steps():
    assert (TEN.steps, TEN.base, TEN.growth) == (10, 1_600, 750)
    assert [c.prompt for c in calls_of(TEN)] == [1_600 + 750 * (n - 1) for n in range(1, 11)]
    used = usage_of(TEN)
    assert (used.input_tokens + used.cached_tokens, used.output_tokens) == (49_750, 1_500) and total_input(10, 1_600, 750) == 49_750
    assert usd(TEN, PRICE) == pytest.approx(0.14925 + 0.0225) and round(usd(TEN, PRICE), 2) == 0.17


def test_twenty_steps_cost_three_and_a_half_times_the_tokens_and_less_in_money():
    assert total_input(20, 1_600, 750) == 174_500 and round(174_500 / 49_750, 1) == 3.5
    assert round(usd(TWENTY, PRICE) / usd(TEN, PRICE), 1) == 3.3        # the output only doubles


def test_trimmed_results():
    assert total_input(10, 1_600, 350) == 31_750 and round(1 - 31_750 / 49_750, 2) == 0.36
    assert usage_of(replace(TEN, returned=200)).total_tokens == 31_750 + 1_500


def test_the_mock_loop_of_the_other_article_whose_steps_differ():
    contexts = [31, 170, 248, 319]
    assert total_input_of(31, [b - a for a, b in zip(contexts, contexts[1:])]) == 768


# ---- the formulas ----------------------------------------------------------------------------------------------------

@given(st.integers(1, 60), SIZES, SIZES)
def test_the_sums(steps, base, growth):
    prompts = [base + growth * k for k in range(steps)]
    assert total_input(steps, base, growth) == sum(prompts) == total_input_of(base, [growth] * (steps - 1))
    assert rule_of_thumb(steps, base, growth) == (steps + 1) / 2 * prompts[-1]
    assert rule_of_thumb(steps, base, growth) - sum(prompts) == rule_error(steps, base, growth)
    assert (rule_error(steps, base, growth) == 0) == (steps == 1 or base == growth)
    if sum(prompts):
        assert -1 / 2 < rule_error(steps, base, growth) / sum(prompts) <= 1 / steps + 1e-12


@given(SIZES, st.lists(SIZES, max_size=30))
def test_the_sum_of_steps_that_differ(base, growths):
    assert total_input_of(base, growths) == sum(base + sum(growths[:n]) for n in range(len(growths) + 1))


@given(st.integers(1, 40), SIZES, SIZES)
def test_with_a_cache_the_full_price_is_paid_once_for_the_last_list(steps, system, returned):
    shape = Shape(calls=steps - 1, system=system, returned=returned)
    used = usage_of(shape)
    assert used.input_tokens == shape.base + shape.growth * (steps - 1)
    assert used.cached_tokens == total_input(steps - 1, shape.base, shape.growth)


# ---- the arithmetic against measured runs ----------------------------------------------------------------------------

SHAPES = {
    "plain": TEN, "twenty": TWENTY, "one call": Shape(calls=0), "an answer of its own": Shape(answer=40), "trimmed": replace(TEN, returned=200),
    "three per reply": replace(TEN, per_reply=3), "a rest of one": replace(TEN, per_reply=4), "all at once": replace(TEN, per_reply=20),
    "a clock in front": replace(TEN, stable=False), "compacted": replace(TWENTY, compact_at=6_000),
    "compacted to much": replace(TWENTY, compact_at=4_000, summary=2_000),
    "compacted in vain": replace(TEN, compact_at=1_000, summary=900), "never long enough": replace(TEN, compact_at=8_350),
    "just too long": replace(TEN, compact_at=8_349), "all levers": Shape(calls=30, per_reply=4, returned=300, compact_at=5_000, summary=250),
    "compacted, no cache fits": Shape(calls=15, stable=False, compact_at=5_000),
}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("price", [PRICE, CACHED], ids=["no cache", "cache"])
def test_the_arithmetic_is_what_a_run_is_measured_at(shape, price):
    run = views.measured(shape, price)
    made = calls_of(shape)
    assert run.calls == tuple((c.prompt, c.cached, c.written) for c in made)
    assert (run.result.status, run.result.steps) == ("done", shape.steps) and shape.steps == sum(c.kind == "step" for c in made)
    used, said = run.result.usage, usage_of(shape)
    assert (used.input_tokens, used.cached_tokens, used.output_tokens) == (said.input_tokens, said.cached_tokens, said.output_tokens)
    assert used.cost_usd == pytest.approx(usd(shape, price)) and not used.estimated


@settings(max_examples=40, deadline=None)
@given(st.builds(Shape, calls=st.integers(0, 12), per_reply=st.integers(1, 5),
                 system=st.integers(40, 300), task=st.integers(1, 50), written=st.integers(2, 60),
                 returned=st.integers(1, 200), answer=st.integers(1, 50), stable=st.booleans(),
                 compact_at=st.none() | st.integers(0, 1_500), summary=st.integers(1, 300)))
def test_any_shape_is_what_a_run_is_measured_at(shape):
    assert views.measured(shape).calls == tuple((c.prompt, c.cached, c.written) for c in calls_of(shape))


def test_only_steps_that_add_the_same_have_the_closed_formula():
    def total(sizes):
        page = iter(sizes)
        tool = Tool("read", "Read.", {"type": "object", "properties": {"n": {"type": "integer"}}}, lambda n: "x " * next(page))
        entries = [*(Reply(tool_calls=call("read", n=n)) for n in range(len(sizes))), Reply("done")]
        result = run(lambda m, t: entries.pop(0), [tool], "go", count_tokens=lambda text: len(text.split()), limits=Limits(max_steps=len(sizes) + 1))
        return result.usage.input_tokens, result.journal.of("reply")[0]["prompt_tokens"]

    for sizes in ([100] * 5, [300, 50, 50, 50, 50], [50, 50, 50, 50, 300]):
        sent, base = total(sizes)
        assert sent == total_input_of(base, [size + 2 for size in sizes])
        assert (sent == total_input(6, base, 102)) == (len(set(sizes)) == 1)


# ---- the bill --------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
@pytest.mark.parametrize("price, write", [(PRICE, 1.0), (CACHED, 1.0), (CACHED, 1.25)])
def test_the_parts_are_the_bill(shape, price, write):
    bill = parts(shape, price, write)
    used = usage_of(shape)
    paid = price if price.cached is None else replace(price, input=price.input * write)
    assert tuple(bill) == PARTS and min(bill.values()) >= 0
    assert sum(bill.values()) == pytest.approx(paid.of(used.input_tokens, used.output_tokens, used.cached_tokens))
    assert sum(share(shape, price, write).values()) == pytest.approx(1)


def test_each_part_by_hand():
    assert parts(TEN, PRICE) == pytest.approx({
        "system and task": 0.048, "history again": 36 * 750 * 3e-6, "new in the list": 9 * 750 * 3e-6, "written": 0.0225, "summaries": 0})
    cached = parts(TEN, CACHED, write=1.25)
    assert cached["system and task"] == pytest.approx(1_600 * 3.75e-6 + 9 * 1_600 * 0.3e-6)
    assert cached["history again"] == pytest.approx(36 * 750 * 0.3e-6) and cached["new in the list"] == pytest.approx(9 * 750 * 3.75e-6)
    one = Shape(calls=2, compact_at=3_000)      # the third prompt is 3,100
    assert parts(one, CACHED)["summaries"] == pytest.approx((2_350 * 0.3 + 750 * 3 + 500 * 15) / 1e6)


@pytest.mark.parametrize("reference", ["litellm#9812", "aider#5516", "zerostack#172"])
def test_cached_tokens_are_paid_for_once(reference):
    used = usage_of(TEN)
    assert used.input_tokens + used.cached_tokens == 49_750 and used.total_tokens == 51_250     # neither twice nor not at all
    assert usd(TEN, CACHED) == pytest.approx((8_350 * 3 + 41_400 * 0.3 + 1_500 * 15) / 1e6)


def test_no_discount_is_no_cache_and_costs_nothing_extra_to_write():
    assert usd(TEN, PRICE, write=1.25) == usd(TEN, PRICE) == pytest.approx(usd(TEN, Price(3, 15, cached=3)))


def test_a_changed_prefix_costs_all_of_the_discount_and_the_writing_too():
    clock = replace(TWENTY, stable=False)
    assert usd(clock, CACHED) == pytest.approx(usd(TWENTY, PRICE))
    assert usd(clock, CACHED, 1.25) > usd(TWENTY, PRICE) > usd(TWENTY, CACHED, 1.25)


def test_a_bill_of_nothing_has_no_shares():
    assert share(TEN, Price(0, 0)) == dict.fromkeys(PARTS, 0.0)


# ---- decisions -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("per_reply, budget", list(itertools.product((1, 3), (0.0, 0.007, 0.01, 0.17, 0.6, 3.0))))
def test_steps_within_a_budget_are_the_most_that_a_limit_may_allow(per_reply, budget):
    shape = Shape(per_reply=per_reply, answer=10)
    most = steps_within(budget, shape, PRICE)

    def worst(steps):       # every step writes its calls, the last one too; its results are never sent
        prompts = total_input(steps, shape.base, shape.growth)
        return PRICE.of(prompts, steps * per_reply * shape.written)

    assert most == 0 or worst(most) <= budget
    assert worst(most + 1) > budget


def test_a_budget_that_nothing_uses_up():
    assert steps_within(1, TEN, Price(0, 0)) == MOST


def test_a_step_limit_costs_at_most_what_the_formula_says():
    forever = views.measured(replace(TEN, calls=50), PRICE)
    assert forever.result.usage.cost_usd == pytest.approx(usd(replace(TEN, calls=50), PRICE))
    assert steps_within(usd(TWENTY, PRICE) + 1e-9, TEN, PRICE) == 20


@pytest.mark.parametrize("price, write", [(PRICE, 1.0), (CACHED, 1.0), (CACHED, 1.25)])
@pytest.mark.parametrize("before, summary", [(9, 500), (4, 500), (12, 1_500), (6, 50)])
def test_the_break_even_of_compaction_is_where_two_runs_meet(price, write, before, summary):
    prompt = TEN.base + TEN.growth * before
    pays = compaction_pays_after(prompt, TEN.base, summary, price, write)
    for more in range(1, pays + 3):             # calls from the one that would send `prompt`
        keep = Shape(calls=before + more - 1)
        cut = replace(keep, compact_at=prompt - 1, summary=summary)
        if sum(c.kind == "summary" for c in calls_of(cut)) == 1:        # a second one would be another question
            assert (usd(cut, price, write) <= usd(keep, price, write) + 1e-12) == (more >= pays)


def test_compaction_that_makes_nothing_shorter_never_pays():
    assert compaction_pays_after(2_000, 1_600, 400, PRICE) is None and compaction_pays_after(2_000, 1_600, 399, PRICE) is not None


@pytest.mark.parametrize("wrong", [{"calls": -1}, {"per_reply": 0}, {"system": 1.5}, {"written": True}, {"compact_at": -5}, {"answer": "long"}])
def test_a_shape_that_makes_no_sense_is_refused(wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        Shape(**wrong)


# ---- pictures --------------------------------------------------------------------------------------------------------

def test_the_lab_draws_every_setting_and_draws_it_the_same_twice():
    controls = views.lab_controls()
    first = {name: control.default for name, control in controls.items()}
    for name, control in controls.items():
        for value in control.samples():
            fig, html = views.lab_view(**{**first, name: value})
            assert "USD" in html and "USD" in views.spoken(**{**first, name: value})
    assert png(views.lab_view(**first)[0]) == png(views.lab_view(**first)[0])
    assert "Without levers" not in views.lab_view(**first)[1] and "Without levers: 0.569 USD" in views.lab_view(**{**first, "per_reply": 3})[1]
    assert "above the axis" in views.lab_view(**{**first, "steps": 30, "returned": 3_000})[1]


def test_the_lab_starts_at_the_bill_of_twenty_steps():
    shape, price, write = views.lab_bill()
    assert shape == TWENTY and usd(shape, price, write) == pytest.approx(0.5685)
