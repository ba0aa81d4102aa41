"""recall("04"): the recall questions of a notebook, folded. The cards of notebook 25 come back to them."""

from __future__ import annotations

from . import questions
from .questions import Question
from .verdict import rich

HOME = "25_question_round.ipynb"


class Recall:
    """What recall() shows; the plain text names the questions and keeps the answers back."""

    def __init__(self, notebook: str):
        self.asked = questions.of(notebook, "recall")
        self.notebook = notebook

    def __repr__(self):
        return "\n".join([f"Recall, notebook {self.notebook}: answers are folded. Open them in Jupyter.",
                          *(f"{n}. {q.question}" for n, q in enumerate(self.asked, 1))])

    def _repr_html_(self):
        return "".join(fold(rich(q.question), answer(q)) for q in self.asked) + (
            '<p style="margin:0.5em 0;opacity:0.75;font-size:0.9em">Answer first, then open. The cards of '
            f'<a href="{HOME}">25 The question round</a> come back to these questions until you know them.</p>')


def recall(notebook: str) -> Recall:
    """The recall questions of a notebook, each folded over its answer: recall("04")."""
    return Recall(notebook)


def fold(summary: str, body: str) -> str:
    """HTML, both parts HTML: `body` opens on a click or with the keyboard."""
    return (f'<details style="margin:4px 0"><summary style="cursor:pointer">{summary}</summary>'
            f'<div style="margin:4px 0 8px 1.2em;line-height:1.45">{body}</div></details>')


def answer(q: Question) -> str:
    """The answer of a question with what an interviewer asks next, as HTML."""
    found = f'<div style="max-width:46em;line-height:1.5">{rich(q.answer)}</div>'
    for label, text in ((f"Follow-up: {q.follow_up}", q.follow_up_answer), ("The trap.", q.trap)):
        if text:
            found += f'<div style="max-width:46em;line-height:1.5;margin-top:0.5em"><b>{rich(label)}</b> {rich(text)}</div>'
    return found
