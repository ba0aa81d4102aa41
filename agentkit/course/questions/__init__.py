"""The questions of the course: one module per notebook, nb00.py, nb01.py ..., and articles.py, each with QUESTIONS.

A module is imported when its questions are asked for.
"""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from .question import KINDS, Question

__all__ = ["KINDS", "NOTEBOOKS", "SECTIONS", "Question", "UnknownQuestion", "all_questions", "choose", "file_of", "find", "of", "title_of"]

NOTEBOOKS = {
    "00": ("start_here", "Start here"), "01": ("message_list", "The message list"), "02": ("tools", "Tools"),
    "03": ("registry", "The registry"), "04": ("loop", "The loop"), "05": ("errors", "Errors as text"),
    "06": ("exits", "The exits"), "07": ("approval", "Approval"), "08": ("trace", "The trace"),
    "09": ("parallel_calls", "Several calls in one reply"), "10": ("retries", "Retries"), "11": ("real_models", "Real models"),
    "12": ("memory", "Memory"), "13": ("hooks_skills_subagents", "Hooks, skills, sub-agents"), "14": ("mcp", "MCP"),
    "15": ("workflow_or_agent", "Workflow or agent"), "16": ("react", "ReAct"), "17": ("plan_and_execute", "Plan and execute"),
    "18": ("reflection", "Reflection"), "19": ("cost", "The cost of a run"), "20": ("compound_error", "The compound error"),
    "21": ("evals", "Evals"), "22": ("read_a_framework", "Read a framework"), "23": ("coding_round", "The coding round"),
    "24": ("design_round", "The design round"),
}
SECTIONS = {"A": "The loop, piece by piece", "B": "To production", "C": "Patterns", "D": "The numbers", "E": "Interviews"}
_STARTS = {"A": "00", "B": "09", "C": "15", "D": "19", "E": "22"}


class UnknownQuestion(LookupError):
    """No question has this id, or no notebook this number."""


@lru_cache
def all_questions() -> tuple[Question, ...]:
    """Every question, in the order of the course; within a notebook recall first, then its own, then the articles'."""
    found = [q for name in (*(f"nb{number}" for number in NOTEBOOKS), "articles") for q in import_module(f"{__name__}.{name}").QUESTIONS]
    return tuple(sorted(found, key=lambda q: (q.notebook, q.kind == "interview", q.id.startswith("art"))))


def of(notebook: str, kind: str | None = None) -> tuple[Question, ...]:
    """The questions that a notebook answers; UnknownQuestion for a number that is none."""
    if notebook not in NOTEBOOKS:
        raise UnknownQuestion(f"there is no notebook {notebook!r} with questions; they are 00 to {max(NOTEBOOKS)}")
    if kind == "recall":    # notebooks ask for these: one small module is enough
        return tuple(q for q in import_module(f"{__name__}.nb{notebook}").QUESTIONS if q.kind == kind)
    return tuple(q for q in all_questions() if q.notebook == notebook and kind in (None, q.kind))


def choose(where: str | None = None, kind: str | None = None) -> tuple[Question, ...]:
    """The questions of a notebook ("04"), of a section ("A") or of all (None), of one kind or of both."""
    if where is not None and where not in NOTEBOOKS and where not in SECTIONS:
        raise UnknownQuestion(f"{where!r} is no notebook and no section; sections are {', '.join(SECTIONS)}")
    return tuple(q for q in all_questions() if where in (None, q.notebook, section_of(q.notebook)) and kind in (None, q.kind))


def find(id: str) -> Question:
    """The question with this id; UnknownQuestion where there is none."""
    for q in all_questions():
        if q.id == id:
            return q
    raise UnknownQuestion(f"no question {id!r}")


def section_of(notebook: str) -> str:
    return max(section for section, start in _STARTS.items() if start <= notebook)


def title_of(notebook: str) -> str:
    return NOTEBOOKS[notebook][1]


def file_of(notebook: str) -> str:
    """The name of the notebook's file, which every card links."""
    return f"{notebook}_{NOTEBOOKS[notebook][0]}.ipynb"
