"""What notebook 13 stands on: the handbook, its clerk, the office with and without a sub-agent, and their pictures."""

import pytest

from agentkit import Limits, count_tokens
from agentkit.course import extend_views as views
from agentkit.course import handbook_views as handbook
from agentkit.course.figures import png
from agentkit.extend.skills import Skills


def test_the_handbook_is_ten_healthy_skills():
    skills = Skills(handbook.HANDBOOK)
    assert len(skills) == 10 and not skills.problems
    assert all(s.path.parent.name == s.name and 250 < count_tokens(s.text) < 400 for s in skills)


def test_the_clerk_knows_only_what_it_has_read():
    answers = {how: handbook.ask_clerk(how) for how in ("no handbook", "all texts", "one line each")}
    assert "do not owe" in answers["no handbook"].answer
    assert answers["all texts"].answer == answers["one line each"].answer == "We owe a credit of 1400.0 rupees, valid for 90 days."
    assert sum(handbook.sent(answers["one line each"])) < sum(handbook.sent(answers["all texts"])) / 3


@pytest.mark.parametrize("size", [50, 200, 800, 1000])
def test_the_quick_count_is_tiktokens_own(size):
    box = views.mailbox(3, size)
    texts = [box(number=n) for n in (1, 2, 3)]
    assert [views.count(t) for t in texts] == [count_tokens(t) for t in texts] and abs(views.count(texts[0]) - size) < 25


@pytest.mark.parametrize("mails, size, later, saves", [(6, 800, 4, True), (6, 800, 0, False), (1, 50, 0, False), (8, 1000, 8, True)])
def test_both_offices_find_the_same_supplier(mails, size, later, saves):
    split, whole = views.compared(mails, size, later)
    best = min(range(1, mails + 1), key=views.price_of)
    assert split.result.answer == whole.result.answer == f"Supplier {best} is the cheapest: {views.price_of(best)} rupees."
    assert (split.tokens < whole.tokens) == saves
    assert sum(n for _, n in split.calls) == split.result.usage.input_tokens and len(split.calls) == split.result.steps == mails + later + 3
    assert max(n for _, n in split.calls + whole.calls) < views.TOP


def test_an_office_whose_reader_is_stopped_says_so():
    told = views.office(True, own=Limits(max_steps=2))
    assert told.result.answer == "I could not find the supplier: reader did not finish (step_limit)."


def test_the_pictures_are_drawn_and_described():
    runs = {how: handbook.ask_clerk(how) for how in ("all texts", "one line each")}
    for fig in (views.four_points(), views.lab_view(1, 50, 0), handbook.bars_per_call(runs, "title")):
        assert png(fig).startswith(b"\x89PNG")
    at = {name: control.default for name, control in views.controls().items()}
    assert png(views.lab_view(**at)) == png(views.lab_view(**at)) and f"{views.compared(*at.values())[0].tokens:,} tokens" in views.spoken(**at)
