"""The lookups of notebook 09: the arithmetic is what a real run does, and the pictures can be drawn."""

import itertools

import pytest

from agentkit.course import parallel_views as views
from agentkit.course.figures import png


@pytest.mark.parametrize("lookups, per_reply, together", list(itertools.product((1, 3, 6, 8), (1, 2, 3, 8), (False, True))))
def test_the_arithmetic_is_what_a_run_does(lookups, per_reply, together):
    how = dict(lookups=lookups, per_reply=per_reply, tool_seconds=1.5, model_seconds=2.5, together=together)
    plan, result = views.plan(**how), views.observed(**how)
    assert (plan.steps, plan.input_tokens, plan.output_tokens) == (result.steps, result.usage.input_tokens, result.usage.output_tokens)
    assert plan.seconds == result.journal.events[-1]["elapsed"] and plan.bars == views.bars_of(result.journal)


def test_every_setting_of_the_lab_stays_on_the_axes_and_can_be_drawn():
    for values in itertools.product(*(control.samples() for control in views.controls().values())):
        how = dict(zip(views.controls(), values))
        assert views.plan(**how).seconds <= views.SECONDS and str(how["lookups"]) in views.spoken(**how)
    fig, text = views.lab_view(lookups=3, per_reply=3, tool_seconds=2.0, model_seconds=2.0, together=True)
    assert png(fig, effort=1) and "7 s, 2 steps" in text
