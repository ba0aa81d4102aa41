"""The exercises of the course: one module per notebook, nb00.py, nb01.py ..., each with TITLE and EXERCISES.

A module is imported when one of its exercises is asked for.
"""

from __future__ import annotations

import contextlib
import difflib
import pkgutil
import re
from importlib import import_module

from ..exercise import Exercise


class UnknownExercise(LookupError):
    """No exercise has this id; the text offers the likely one."""


def notebooks() -> list[str]:
    """The numbers of the notebooks that have exercises: "00", "01" ..."""
    names = (module.name for module in pkgutil.iter_modules(__path__))
    return sorted(name[2:] for name in names if re.fullmatch(r"nb\d\d", name))


def load(notebook: str):
    """The module of one notebook's exercises."""
    return import_module(f"{__name__}.nb{notebook}")


def title(notebook: str) -> str:
    return getattr(load(notebook), "TITLE", "")


def of(notebook: str) -> list[Exercise]:
    """The exercises of one notebook, in order."""
    return list(load(notebook).EXERCISES)


def all_exercises() -> list[Exercise]:
    return [exercise for notebook in notebooks() for exercise in of(notebook)]


def find(id: str) -> Exercise:
    """The exercise with this id; UnknownExercise where there is none."""
    notebook = id.partition("-")[0]
    if notebook in notebooks():
        for exercise in of(notebook):
            if exercise.id == id:
                return exercise
    ids = []
    for number in notebooks():
        with contextlib.suppress(Exception):  # a notebook that cannot be loaded has no likely id to offer
            ids += [exercise.id for exercise in of(number)]
    near = difflib.get_close_matches(id, ids, n=1, cutoff=0.5)
    raise UnknownExercise(f"no exercise '{id}'" + (f"; did you mean '{near[0]}'?" if near else ""))
