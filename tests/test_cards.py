"""The cards: spacing and order as properties, the progress file, the widget as a reader uses it, and the learner who forgets."""

import datetime
import json
import threading
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit.course import cards, forgetting, progress_file, questions
from agentkit.course.cards import NEW, WAITS, Card, after, mock_round, queue
from agentkit.course.questions import all_questions

ALL = all_questions()
DAY = datetime.date(2026, 1, 31)
TODAY = DAY.toordinal()

card = st.builds(Card, st.integers(1, len(WAITS)), st.integers(0, 60))
today = st.integers(0, 60)
points = st.integers(1, 5).flatmap(lambda of: st.tuples(st.integers(0, of), st.just(of)))


@pytest.fixture(autouse=True)
def file(tmp_path, monkeypatch):
    place = tmp_path / "progress.json"
    monkeypatch.setenv("AGENTKIT_PROGRESS", str(place))
    return place


# ---- spacing -----------------------------------------------------------------------------------------------------------

@given(card, points, today)
def test_a_card_stays_a_card(card, points, today):
    box, due = after(card, *points, today)
    assert 1 <= box <= len(WAITS) and due > min(today, card.due) and abs(box - card.box) <= max(1, card.box - 1)


@given(card, st.integers(1, 5), today)
def test_more_points_never_come_back_sooner(card, of, today):
    found = [after(card, met, of, today) for met in range(of + 1)]
    assert all(less.due <= more.due and less.box <= more.box for less, more in pairwise(found))
    assert found[0] == Card(1, today + WAITS[0])


@given(card, card, today)
def test_a_missed_card_never_comes_later_than_a_known_one(one, other, today):
    assert after(one, 0, 4, today).due <= after(other, 4, 4, today).due


@given(card, points, today)
def test_known_before_its_day_proves_nothing(card, points, today):
    met, of = points
    if today < card.due and 2 * met >= of:
        assert after(card, met, of, today) == card


def test_known_on_its_day_walks_through_all_boxes():
    at, days = NEW, []
    for _ in range(7):
        day = max(at.due, 10)
        at = after(at, 3, 3, day)
        days.append(at.due - day)
    assert days == [3, 7, 16, 35, 35, 35, 35]


def test_half_is_the_same_wait_again():
    assert after(Card(3, 5), 2, 4, 5) == Card(3, 12) and after(Card(3, 5), 1, 3, 5) == Card(1, 6)


def test_the_waits_grow():
    assert all(a < b for a, b in pairwise(WAITS))


# ---- order -------------------------------------------------------------------------------------------------------------

decks = st.dictionaries(st.sampled_from([q.id for q in ALL]), card, max_size=40)


@given(decks, today)
@settings(max_examples=60)
def test_queue_loses_nothing_and_asks_nothing_early(kept, today):
    found = [q.id for q in queue(ALL, kept, today)]
    assert len(set(found)) == len(found)
    assert set(found) == {q.id for q in ALL if q.id not in kept or kept[q.id].due <= today}
    due = [kept[id] for id in found if id in kept]
    assert due == sorted(due) and all(id in kept for id in found[:len(due)])
    assert found == [q.id for q in queue(ALL, dict(reversed(kept.items())), today)]     # the file's order plays no part


def test_new_questions_keep_the_order_of_the_course():
    assert queue(ALL, {}, 5) == list(ALL)


@given(st.integers(), st.integers(1, 80))
@settings(max_examples=40)
def test_mock_round(seed, many):
    found = mock_round(seed, minutes=6 * many, each=6)
    interview = [q for q in ALL if q.kind == "interview"]
    assert len(found) == min(many, len(interview)) == len({q.id for q in found})
    assert found == mock_round(seed, minutes=6 * many, each=6) and all(q.kind == "interview" for q in found)
    if many >= 5:
        assert {questions.section_of(q.notebook) for q in found[:5]} == set(questions.SECTIONS)


# ---- the progress file ---------------------------------------------------------------------------------------------------

def test_round_trip(file):
    now, note = cards.answer("04-1", 4, 4, TODAY)
    assert now == Card(2, TODAY + 3) and note == "" and cards.read() == {"04-1": now}
    assert json.loads(file.read_text())["cards"] == {"04-1": {"box": 2, "due": "2026-02-03", "met": 4, "of": 4}}
    assert cards.answer("04-1", 4, 4, TODAY + 3)[0] == Card(3, TODAY + 10)      # from the box that the file says
    assert cards.answer("04-1", 0, 4, TODAY + 4)[0] == Card(1, TODAY + 5) == cards.read()["04-1"]


def test_what_others_keep_there_stays(file):
    file.write_text('{"version": 1, "passed": {"06-2": "2026-01-01"}, "else": [1], "cards": {"zz-9": {"box": 3, "due": "2026-01-01", "by": "a later version"}}}')
    cards.answer("04-1", 1, 4, TODAY)
    progress_file.record_pass("07-1")
    kept = json.loads(file.read_text())
    assert kept["passed"].keys() == {"06-2", "07-1"} and kept["else"] == [1]
    assert kept["cards"]["zz-9"]["by"] == "a later version" and "04-1" in kept["cards"]


@pytest.mark.parametrize("theirs", [[1], 7, "x", None])
def test_a_key_of_somebody_else_is_moved_aside(file, theirs):
    file.write_text(json.dumps({"passed": {}, "cards": theirs, "cards_1": "taken"}))
    assert cards.read() == {}
    cards.answer("04-1", 4, 4, TODAY)
    kept = json.loads(file.read_text())
    assert kept["cards_1"] == "taken" and kept["cards_2"] == theirs and kept["cards"].keys() == {"04-1"}


@pytest.mark.parametrize("entry", [None, [], "x", {}, {"box": 2}, {"box": 0, "due": "2026-01-01"}, {"box": 99, "due": "2026-01-01"},
                                   {"box": True, "due": "2026-01-01"}, {"box": 2.0, "due": "2026-01-01"}, {"box": 2, "due": "tomorrow"}, {"box": 2, "due": 5}])
def test_an_entry_that_cannot_be_read_is_a_new_card(file, entry):
    file.write_text(json.dumps({"passed": {}, "cards": {"04-1": entry, "06-1": {"box": 2, "due": "2026-01-01"}}}))
    assert cards.read().keys() == {"06-1"}
    assert cards.answer("04-1", 4, 4, TODAY)[0] == Card(2, TODAY + 3)
    assert cards.read().keys() == {"04-1", "06-1"}


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b"\xff\xfe", b'{"passed": 3}'])
def test_a_broken_file_is_kept_and_a_new_one_begun(file, broken):
    file.write_bytes(broken)
    assert cards.read() == {}
    now, note = cards.answer("04-1", 4, 4, TODAY)
    assert "could not be read" in note and cards.read() == {"04-1": now}
    assert file.with_name("progress.json.bak").read_bytes() == broken


def test_a_file_that_cannot_be_written(file):
    file.mkdir()
    now, note = cards.answer("04-1", 4, 4, TODAY)
    assert now == Card(2, TODAY + 3) and note


def test_two_notebooks_at_once():
    def work(name):
        for n in range(8):
            cards.answer(f"{name}-{n}", 1, 1, TODAY)

    threads = [threading.Thread(target=work, args=(name,)) for name in "abc"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cards.read()) == 24


@pytest.mark.parametrize("met, of", [(-1, 3), (4, 3), (0, 0)])
def test_an_impossible_mark_is_refused(file, met, of):
    with pytest.raises(ValueError):
        cards.answer("04-1", met, of, TODAY)
    assert not file.exists()


# ---- the widget ------------------------------------------------------------------------------------------------------------

@pytest.fixture
def make():
    pytest.importorskip("ipywidgets")
    from agentkit.course.card_views import Cards
    return lambda *args, **settings: Cards(*args, today=lambda: DAY, **settings)


def tick(deck, many):
    for box in deck.ticks[:many]:
        box.value = True


def seen(deck):
    """The buttons that are there."""
    return [b.description for b in (deck.show_it, deck.skip, deck.ahead) if b.layout.display is None]


def test_answer_flip_tick_next(make):
    deck = make()
    first = deck.question
    assert first.answer not in deck.back.value and not deck.ticks and seen(deck) == ["Show the answer", "Skip"]
    deck.words.value = "my own words"
    deck.flip()
    assert [box.description for box in deck.ticks] == [point.replace("`", "") for point in first.points]
    assert deck.words.value == "my own words"       # to compare with
    assert seen(deck) == ["Next"] and questions.file_of(first.notebook) in deck.back.value
    assert "0 of 2 points: with Next this card comes back in 1 day." in deck.status.value
    tick(deck, len(first.points))
    assert "2 of 2 points: with Next this card comes back in 3 days." in deck.status.value and cards.read() == {}
    deck.next()
    assert cards.read() == {first.id: Card(2, TODAY + 3)}
    assert deck.question != first and deck.words.value == "" and not deck.ticks and deck.own[first.id] == "my own words"


def test_what_was_written_is_saved_nowhere(make, file):
    deck = make()
    deck.words.value = "a secret"
    deck.flip()
    deck.next()
    assert "a secret" not in file.read_text()


def test_skip_keeps_nothing(make, file):
    deck = make()
    first = deck.question
    deck.next()
    assert deck.question != first and not file.exists()


def test_missed_ones_first(make):
    cards.answer("06-1", 0, 4, TODAY - 5)       # box 1
    cards.answer("09-1", 4, 4, TODAY - 5)       # box 2, due since two days
    cards.answer("12-1", 4, 4, TODAY)           # not due
    deck = make()
    assert [q.id for q in deck.deck[:2]] == ["06-1", "09-1"] and "12-1" not in [q.id for q in deck.deck]
    deck.order.value = False
    assert deck.deck == list(ALL)


def test_choose_where_and_what(make):
    deck = make()
    deck.where.value, deck.kind.value = "D", "interview"
    assert deck.deck == list(questions.choose("D", "interview"))
    deck.where.value = "20"
    assert {q.notebook for q in deck.deck} == {"20"} and deck.at == 0


def test_every_choice_has_questions(make):
    deck = make()
    for where in deck.where._options_values:
        for kind in deck.kind._options_values:
            deck.where.value, deck.kind.value = where, kind
            assert deck.question is not None


def test_the_end_and_again(make):
    deck = make([questions.find("04-1"), questions.find("06-1")], title="Two")
    for many in (4, 1):
        deck.flip()
        tick(deck, many)
        deck.next()
    assert deck.question is None and "2 cards answered, 5 of 8 points" in deck.head.value and "01 February 2026" in deck.head.value
    assert seen(deck) == ["Begin again"]
    deck.flip()                                 # nothing to flip
    deck.next()
    assert deck.question.id == "04-1"


def test_the_still_is_the_same_for_every_reader(make, file):
    before = make()._repr_mimebundle_()[0]
    cards.answer(ALL[0].id, 2, 2, TODAY)        # not due: it is not the first card of this reader
    cards.answer("06-1", 0, 4, TODAY - 9)
    deck = make()
    now = deck._repr_mimebundle_()[0]
    deck.next()
    for bundle in (now, deck._repr_mimebundle_()[0]):
        assert bundle["text/html"] == before["text/html"] and bundle["text/plain"] == before["text/plain"] == f"Cards: {ALL[0].question}"
    assert "var(" not in before["text/html"] and "<details" in before["text/html"] and "2026" not in before["text/html"]


def test_a_broken_file_is_said_once(make, file):
    file.write_text("{")
    deck = make()
    deck.flip()
    deck.next()
    assert deck.status.value.count("could not be read") == 1


def test_table_holds_every_question():
    pytest.importorskip("ipywidgets")
    from agentkit.course.card_views import QuestionTable
    from agentkit.course.verdict import rich

    table = QuestionTable()
    html, text = table._repr_html_(), repr(table)
    assert all(rich(q.question) in html for q in ALL) and f"{len(ALL)} questions" in text and "var(" not in html


# ---- the learner who forgets --------------------------------------------------------------------------------------------------

def test_forgetting_halves():
    who = forgetting.Forgetful(1, first=3)
    who.learn("a", 0)
    assert [who.chance("a", day) for day in (0, 3, 6)] == [1, 0.5, 0.25]


def test_being_asked_is_learning():
    who = forgetting.Forgetful(1, first=3, gain=2)
    who.learn("a", 0)
    assert who.ask("a", 0) and who.learned["a"] == (0, 3)       # at once: it lasts no longer
    day = 0
    for _ in range(50):
        day += 3
        before = who.learned["a"][1]
        known = who.ask("a", day)
        assert who.learned["a"] == (day, before * 2 if known and before <= 3 else pytest.approx(before + 3) if known else 3)


def test_plans_ask_what_they_say():
    plans = forgetting.compared(days=14)
    assert sum(plans["read once"].asked) == 0 and plans["all, every day"].asked[:14] == (len(ALL),) * 14
    assert abs(sum(plans["spaced"].asked) - sum(plans["as many, in turn"].asked)) <= 7
    for plan in plans.values():
        assert len(plan.asked) == 21 and plan.asked[14:] == (0,) * 7 and plan.known[0] == 1
        assert all(a > b for a, b in pairwise(plan.known[15:]))     # a week without questions only forgets


def test_spaced_asks_only_what_is_due():
    kept = {"a": Card(1, 3), "b": Card(2, 4), "c": Card(1, 9)}
    assert forgetting.spaced(kept, 4) == ("a", "b") and forgetting.in_turn(2)(kept, 2) == ("c", "a")
