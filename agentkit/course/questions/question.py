"""One question as data: what is asked, the points a good answer has, the answer, and what an interviewer asks next."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields

KINDS = ("interview", "recall")


@dataclass(frozen=True)
class Question:
    """White space in the texts makes no difference. `code` between backticks is shown as code."""

    id: str
    """Notebook and number: "04-1" for an interview question, "04-r1" for a recall question, "art-01" for one of the articles'."""
    notebook: str
    """The number of the notebook that teaches it, such as "04"."""
    question: str
    points: tuple[str, ...]
    """The rubric: 2 to 5 statements, each of which an answer has or has not."""
    answer: str
    """Sixty seconds: 60 to 130 words. For a recall question one or two sentences."""
    follow_up: str = ""
    follow_up_answer: str = ""
    trap: str = ""
    kind: str = "interview"

    def __post_init__(self):
        for field in fields(self):
            value = getattr(self, field.name)
            tidy = " ".join(value.split()) if isinstance(value, str) else tuple(" ".join(point.split()) for point in value)
            object.__setattr__(self, field.name, tidy)
        if self.kind not in KINDS:
            raise ValueError(f"question {self.id}: kind is one of {', '.join(KINDS)}, not {self.kind!r}")
        if not re.fullmatch(rf"{self.notebook}-r?\d+|art-\d\d", self.id) or not re.fullmatch(r"\d\d", self.notebook):
            raise ValueError(f'question {self.id!r}: an id looks like "04-1", "04-r1" or "art-01", and begins with its notebook')
        if not 2 <= len(self.points) <= 5:
            raise ValueError(f"question {self.id}: a rubric has 2 to 5 points, not {len(self.points)}")
