"""The questions of the course: complete, within their limits, no two alike, each tied to a notebook; and recall()."""

import re
from difflib import SequenceMatcher
from html.parser import HTMLParser
from itertools import combinations

import pytest
from places import CHECKOUT

from agentkit.course import questions, recalls
from agentkit.course.questions import NOTEBOOKS, SECTIONS, Question, all_questions
from agentkit.course.recalls import recall

ALL = all_questions()
each = pytest.mark.parametrize("q", ALL, ids=lambda q: q.id)


def words(text):
    return len(text.split())


def texts(q):
    return [q.question, *q.points, q.answer, q.follow_up, q.follow_up_answer, q.trap]


@each
def test_complete_and_within_limits(q):
    assert q.notebook in NOTEBOOKS and q.question and q.answer
    assert len(set(q.points)) == len(q.points) and all(2 <= words(point) <= 18 for point in q.points)
    if q.kind == "recall":
        assert words(q.answer) <= 35 and not (q.follow_up or q.follow_up_answer or q.trap)
    else:
        assert 60 <= words(q.answer) <= 130 and q.follow_up and q.trap
        assert 8 <= words(q.follow_up_answer) <= 50 and words(q.trap) <= 30


@each
def test_its_text_can_be_shown_everywhere(q):
    for text in texts(q):
        assert text.count("`") % 2 == 0, f"a backtick too many: {text}"
        assert not re.search(r"[\x00-\x1f]|  ", text)
        assert not re.search(r"!|\b(?:we'll|let's|simply|just a)\b", text.replace('"Looks good to me!"', "")), text


@each
def test_its_notebook_is_there(q):
    file = CHECKOUT / "notebooks" / questions.file_of(q.notebook)
    if not any((CHECKOUT / "notebooks").glob(f"{q.notebook}_*.ipynb")):
        pytest.skip("this notebook is not written yet")
    assert file.is_file()


def test_how_many():
    ids = [q.id for q in ALL]
    assert len(set(ids)) == len(ids)
    assert {number: len(questions.of(number, "recall")) for number in NOTEBOOKS} == dict.fromkeys(NOTEBOOKS, 3)
    interview = [q for q in ALL if q.kind == "interview"]
    assert len([q for q in interview if q.id.startswith("art")]) >= 20
    assert len([q for q in interview if not q.id.startswith("art")]) >= 20
    assert {q.notebook for q in interview} == set(NOTEBOOKS)


def test_no_question_twice():
    def plain(text):
        return " ".join(re.findall(r"\w+", text.lower()))

    assert len({plain(q.question) for q in ALL}) == len(ALL)
    alike = [(a.id, b.id) for a, b in combinations(ALL, 2)
             if abs(len(a.question) - len(b.question)) < 30 and SequenceMatcher(None, plain(a.question), plain(b.question)).quick_ratio() > 0.85
             and SequenceMatcher(None, plain(a.question), plain(b.question)).ratio() > 0.8]
    assert not alike


def test_sentences_are_nobody_elses():
    """No answer repeats another one, and none stands word for word in a notebook."""
    sentences = [s for q in ALL for text in (q.answer, q.follow_up_answer) for s in re.split(r"(?<=[.?]) ", text) if words(s) > 7]
    assert len(set(sentences)) == len(sentences)


def test_the_order_is_the_course():
    numbers = [q.notebook for q in ALL]
    assert numbers == sorted(numbers)
    of04 = [q.id for q in ALL if q.notebook == "04"]
    assert of04 == ["04-r1", "04-r2", "04-r3", "04-1", "art-01"]


@pytest.mark.parametrize("where, kind", [(None, None), ("A", None), ("04", "recall"), ("E", "interview")])
def test_choose(where, kind):
    found = questions.choose(where, kind)
    assert found and all(kind in (None, q.kind) for q in found)
    assert all(where in (None, q.notebook, questions.section_of(q.notebook)) for q in found)


def test_sections_share_out_all_questions():
    assert sum(len(questions.choose(section)) for section in SECTIONS) == len(ALL)
    assert questions.section_of("08") == "A" and questions.section_of("09") == "B" and questions.section_of("24") == "E"


@pytest.mark.parametrize("ask", [lambda: questions.of("99"), lambda: questions.find("no"), lambda: questions.choose("Z")])
def test_unknown(ask):
    with pytest.raises(questions.UnknownQuestion):
        ask()


@pytest.mark.parametrize("wrong", [{"kind": "exam"}, {"id": "05-1"}, {"id": "x"}, {"points": ("one point",)}, {"points": tuple("abcdef")}])
def test_a_broken_question_is_refused(wrong):
    good = {"id": "04-9", "notebook": "04", "question": "Why?", "points": ("a point", "b point"), "answer": "So."}
    assert Question(**good).kind == "interview"
    with pytest.raises(ValueError):
        Question(**{**good, **wrong})


def test_white_space_makes_no_difference():
    q = Question("04-9", "04", " Why\n   so? ", ("a\n  point", "b point"), "Be\n            cause.")
    assert (q.question, q.points, q.answer) == ("Why so?", ("a point", "b point"), "Be cause.")


# ---- recall ----------------------------------------------------------------------------------------------------------

class Tags(HTMLParser):
    def __init__(self, html):
        super().__init__()
        self.open, self.seen, self.styles = [], [], []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.seen.append(tag)
        self.styles += [value for name, value in attrs if name == "style"]
        if tag != "br":
            self.open.append(tag)

    def handle_endtag(self, tag):
        assert self.open.pop() == tag


def well_formed(html):
    tags = Tags(html)
    assert not tags.open
    for style in tags.styles:
        assert "var(" not in style and not re.search(r"(?:^|;)\s*color:(?!inherit)", style), style
    return tags.seen


@pytest.mark.parametrize("number", NOTEBOOKS)
def test_recall_is_folded(number):
    html = recall(number)._repr_html_()
    seen = well_formed(html)
    assert seen.count("details") == seen.count("summary") == 3 and "<script" not in html and "<style" not in html
    assert recalls.HOME in html and html == recall(number)._repr_html_()
    assert not re.search(r"[\"'(](?:https?:)?//", html)


def test_the_plain_text_keeps_the_answers_back():
    text = repr(recall("04"))
    for q in questions.of("04", "recall"):
        assert q.question in text and q.answer not in text


def test_html_is_escaped():
    q = Question("04-9", "04", "Is 1 < 2 & `a<b>` so?", ("a point", "b point"), "<script>alert(1)</script>", "f<i>", "g", "t & u")
    html = recalls.fold(recalls.rich(q.question), recalls.answer(q))
    assert "<script>" not in html and "<i>" not in html and "&lt;script&gt;" in html and "a&lt;b&gt;" in html and "t &amp; u" in html
    well_formed(html)


def test_recall_of_a_notebook_without_questions():
    with pytest.raises(questions.UnknownQuestion, match="25"):
        recall("25")
