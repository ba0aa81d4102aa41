"""Flash cards: the question, your own words, then the rubric to tick and the answer. And the table of all questions."""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable
from html import escape

import ipywidgets as widgets

from . import cards, questions
from .cards import WAITS, Card, after, queue
from .lab import CSS, WIDGET_VIEW
from .questions import NOTEBOOKS, SECTIONS, Question
from .recalls import answer, fold
from .verdict import rich

_QUESTION = "border-left:5px solid #0072B2;margin:0.5em 0 0.3em;padding:0.25em 0 0.25em 0.8em;line-height:1.45"
ALL = "all"        # no None here: a list whose value is None shows nothing as chosen
_QUIET = "opacity:0.75;font-size:0.9em"
KINDS = {"both kinds": ALL, "interview": "interview", "recall": "recall"}
ORDERS = {"what is due, missed ones first": True, "everything, in order": False}
_HINT = "Say it aloud, or write the main points. This box is kept for this session only and is saved nowhere."


def places() -> dict[str, str]:
    """What can be chosen: all, a section, a notebook."""
    found = {"all notebooks": ALL, **{f"{letter}. {title}": letter for letter, title in SECTIONS.items()}}
    return {**found, **{f"{number} {title}": number for number, (_, title) in NOTEBOOKS.items()}}


class Cards:
    """Cards to flip. Answer, flip, tick the points that you had; how many decides when the card comes back.

    `deck` fixes the questions and leaves the choice out. `today` is a function that says which day it is. The ticks are kept
    in the progress file when Next is pressed. On a page without a kernel the reader sees the first card.
    """

    def __init__(self, deck: Iterable[Question] | None = None, *, title: str = "Cards", today: Callable[[], datetime.date] = datetime.date.today):
        self.fixed, self.title, self.today = None if deck is None else tuple(deck), title, today
        self.own: dict[str, str] = {}           # the reader's own words, for this session
        self.met: dict[str, tuple[int, int]] = {}
        self.notes: list[str] = []
        self._build()
        self.restart()

    # -- what is asked

    def chosen(self) -> tuple[Question, ...]:
        return self.fixed if self.fixed is not None else questions.choose(*(None if choice.value == ALL else choice.value for choice in (self.where, self.kind)))

    def restart(self, _=None) -> None:
        """Begin with the first card of what is chosen now."""
        kept, chosen = cards.read(), self.chosen()
        due_only = self.fixed is None and self.order.value
        self.deck = queue(chosen, kept, self._day()) if due_only else list(chosen)
        self.at, self.met, self.flipped = 0, {}, False
        self._draw()

    @property
    def question(self) -> Question | None:
        return self.deck[self.at] if self.at < len(self.deck) else None

    # -- what the buttons do

    def flip(self, _=None) -> None:
        """Show the rubric and the answer."""
        if self.question and not self.flipped:
            self.own[self.question.id], self.flipped = self.words.value, True
            self._draw()
            self.ticks[0].focus()

    def next(self, _=None) -> None:
        """Keep the ticks of a flipped card, or skip one that was not flipped, and go on."""
        q = self.question
        if q is None:
            return self.restart()
        self.own[q.id] = self.words.value
        if self.flipped:
            met = sum(tick.value for tick in self.ticks)
            self.met[q.id] = met, len(q.points)
            _, note = cards.answer(q.id, met, len(q.points), self._day())
            self.notes += [note] if note and note not in self.notes else []
        self.at, self.flipped = self.at + 1, False
        self._draw()
        (self.words if self.question else self.ahead).focus()

    # -- what is shown

    def _day(self) -> int:
        return self.today().toordinal()

    def _build(self) -> None:
        style = {"description_width": "5.5em"}
        self.where = widgets.Dropdown(options=places(), description="Where:", style=style, layout={"width": "24em"})
        self.kind = widgets.Dropdown(options=KINDS, description="Kind:", style=style, layout={"width": "15em"})
        self.order = widgets.Dropdown(options=ORDERS, description="Order:", style=style, layout={"width": "24em"})
        for control in (self.where, self.kind, self.order):
            control.observe(self.restart, "value")
        self.words = widgets.Textarea(placeholder=_HINT, layout={"width": "100%", "max_width": "46em", "height": "6em"})
        self.show_it = widgets.Button(description="Show the answer", tooltip="Show the rubric and the answer", icon="eye", layout={"width": "12em"})
        self.skip = widgets.Button(description="Skip", tooltip="Another card; this one stays as it is", layout={"width": "7em"})
        self.ahead = widgets.Button(tooltip="Keep the ticks and go on", layout={"width": "9em"})
        self.show_it.on_click(self.flip)
        self.skip.on_click(self.next)
        self.ahead.on_click(self.next)
        self.ticks: list[widgets.Checkbox] = []
        self.head, self.rubric, self.back, self.status = (widgets.HTML(), widgets.VBox(), widgets.HTML(), widgets.HTML())
        for part in (self.head, self.back, self.status):
            part.add_class("agentkit-lab-text")
        name = widgets.HTML(f"{CSS}<b>{escape(self.title)}</b>")
        name.add_class("agentkit-lab-title")
        choice = widgets.HBox([self.where, self.kind, self.order], layout={"flex_flow": "row wrap"})
        self.root = widgets.VBox([name, *([choice] if self.fixed is None else []), self.head, self.words,
                                  widgets.HBox([self.show_it, self.skip]), self.rubric,
                                  widgets.HBox([self.ahead, self.status], layout={"align_items": "center", "grid_gap": "0.6em"}), self.back])
        self.root.add_class("agentkit-cards")

    def _draw(self) -> None:
        q = self.question
        asks = q is not None and not self.flipped
        for part, shown in ((self.words, q is not None), (self.show_it, asks), (self.skip, asks), (self.ahead, not asks)):
            part.layout.display = None if shown else "none"
        self.ahead.description = "Begin again" if q is None else "Next"
        self.ticks = []
        if q is None:
            self.head.value, self.back.value, self.rubric.children = self._over(), "", ()
        else:
            kept = cards.read().get(q.id)
            stands = "never asked" if kept is None else f"box {kept.box} of {len(WAITS)}"
            self.head.value = face(q, f"card {self.at + 1} of {len(self.deck)}, {stands}")
            self.words.value = self.own.get(q.id, "")
            if self.flipped:
                self.ticks = [widgets.Checkbox(description=point.replace("`", ""), indent=False, layout={"width": "auto"}) for point in q.points]
                for tick in self.ticks:
                    tick.observe(self._tell, "value")
            self.rubric.children = (widgets.HTML("<b>Tick what you had:</b>"), *self.ticks) if self.flipped else ()
            self.back.value = f'<div style="margin-top:0.4em">{answer(q)}{source(q)}</div>' if self.flipped else ""
        self._tell()

    def _tell(self, _=None) -> None:
        said = " ".join(escape(note) for note in self.notes)
        if self.flipped:
            met, of, today = sum(tick.value for tick in self.ticks), len(self.ticks), self._day()
            days = after(cards.read().get(self.question.id, Card(1, 0)), met, of, today).due - today
            said = f"{met} of {of} points: with Next this card comes back in {days} {'day' if days == 1 else 'days'}. {said}"
        self.status.value = f'<div role="status" aria-live="polite">{said}</div>'

    def _over(self) -> str:
        met, of = (sum(column) for column in zip(*self.met.values())) if self.met else (0, 0)
        kept = cards.read()
        due = [kept[q.id].due for q in self.chosen() if q.id in kept]
        said = f"{len(self.met)} {'card' if len(self.met) == 1 else 'cards'} answered, {met} of {of} points. " if self.met else ""
        said += f"The next one is due on {datetime.date.fromordinal(min(due)):%d %B %Y}." if due else ""
        return f'<div style="{_QUESTION}"><b>Nothing more to ask here today.</b><br>{said}</div>'

    def still(self) -> str:
        """What a page without a kernel shows: the first card, whatever this reader has answered."""
        q = self.chosen()[0] if self.fixed is not None else questions.all_questions()[0]
        of = len(self.fixed) if self.fixed is not None else len(questions.all_questions())
        points = "".join(f"<li>{rich(point)}</li>" for point in q.points)
        back = f'<ul style="margin:0.2em 0 0.5em;padding-left:1.3em">{points}</ul>{answer(q)}{source(q)}'
        note = f"{self.title}: a still of card 1 of {of}. Run the notebook to answer, tick and go on."
        return (f'<b>{escape(self.title)}</b>{face(q, f"card 1 of {of}")}{fold("Show the answer", back)}'
                f'<p class="agentkit-still-cards" style="margin:0.4em 0;{_QUIET}">{escape(note)}</p>')

    def _repr_mimebundle_(self, **_):
        q = self.chosen()[0] if self.fixed is not None else questions.all_questions()[0]
        view = {"version_major": 2, "version_minor": 0, "model_id": self.root.model_id}
        return {"text/plain": f"{self.title}: {q.question}", "text/html": self.still(), WIDGET_VIEW: view}, {}


def face(q: Question, note: str) -> str:
    """The front of a card."""
    about = f"{q.notebook} · {escape(questions.title_of(q.notebook))} · {q.kind} · {escape(note)}"
    return f'<div style="{_QUESTION}"><span style="{_QUIET}">{about}</span><br><b style="font-size:1.1em">{rich(q.question)}</b></div>'


def source(q: Question) -> str:
    """Where it is taught. In a tab of its own, or the session would be left."""
    link = f'<a href="{questions.file_of(q.notebook)}" target="_blank" rel="noopener" style="text-decoration:underline">{q.notebook} {escape(questions.title_of(q.notebook))}</a>'
    return f'<div style="margin-top:0.5em;{_QUIET}">It is worked out in {link}.</div>'


class QuestionTable:
    """All questions of a choice by notebook: how many, and each of them folded under its notebook."""

    def __init__(self, kind: str | None = None):
        self.rows = {number: questions.of(number, kind) if kind else questions.choose(number) for number in NOTEBOOKS}

    def __repr__(self):
        total = sum(map(len, self.rows.values()))
        lines = [f"{'notebook':32} interview  recall"]
        for number, found in self.rows.items():
            asked = sum(q.kind == "interview" for q in found)
            lines.append(f"{number} {questions.title_of(number):29} {asked:9} {len(found) - asked:7}")
        return "\n".join([*lines, f"{total} questions"])

    def _repr_html_(self):
        def listed(found):
            return '<ol style="margin:0.2em 0;padding-left:1.6em">' + "".join(
                f'<li style="margin:2px 0">{rich(q.question)}{"" if q.kind == "interview" else f" <span style={chr(34)}{_QUIET}{chr(34)}>recall</span>"}</li>'
                for q in found) + "</ol>"

        parts = []
        for section, title in SECTIONS.items():
            parts.append(f'<div style="margin-top:0.6em"><b>{section}. {escape(title)}</b></div>')
            parts += [fold(f'<a href="{questions.file_of(number)}">{number} {escape(questions.title_of(number))}</a>, {len(found)} questions', listed(found))
                      for number, found in self.rows.items() if questions.section_of(number) == section]
        return "".join(parts)
