"""The reviews of reflection: read from the message list, with the best draft so far; and how a critic's words are read."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from .routing import NOT_RUN, split, turns

OWN = frozenset({"review", "verdict"})


@dataclass
class Review:
    """One review of one draft: the names of the criteria it met, and what is missing by name; `problem` where it could not be read."""

    draft: int                      # from 1
    text: str
    met: list[str] = field(default_factory=list)
    missing: dict[str, str] = field(default_factory=dict)
    problem: str | None = None

    @property
    def passed(self) -> bool:
        return self.problem is None and not self.missing

    def __str__(self):
        return f"draft {self.draft} met {len(self.met)} of {len(self.met) + len(self.missing)}" + (
            f" ({self.problem})" if self.problem else "".join(f"; {name}: {why}" for name, why in self.missing.items()))


class Reviews(list):
    """All reviews of a run, in order."""

    @property
    def passed(self) -> bool:
        """Whether some draft met every criterion. The answer is then that draft."""
        return any(r.passed for r in self)

    @property
    def best(self) -> Review | None:
        """Most criteria met; of equals the earliest, because what came later was paid for and is no better."""
        return max(self, key=lambda r: (r.passed, len(r.met)), default=None)

    def says(self) -> str:
        """A sentence for the report."""
        if not self:
            return "No draft was reviewed."
        best, n = self.best, f"{len(self)} review{'' if len(self) == 1 else 's'}"
        if best.passed:
            return f"Draft {best.draft} met every criterion, after {n}."
        share = f"{len(best.met)} of {len(best.met) + len(best.missing)} (not: {', '.join(best.missing)})"
        return f"NO draft met every criterion in {n}: the best is draft {best.draft}, with {share}."

    def __str__(self):
        return "\n".join(map(str, self)) or "no draft was reviewed"


class Work:
    """Where a reflection stands, read from the list."""

    def __init__(self):
        self.draft: str | None = None           # the last one
        self.drafts = 0
        self.looked_up: list[dict] = []         # the author's tool calls and their results, up to the last draft
        self.since: list[dict] = []             # everything since
        self.found = Reviews()
        self.by_code: dict = {}                 # what the functions said of the last draft
        self.open = False                       # the last draft has no readable review yet
        self.again = []

    def take(self, turn) -> None:
        self.again = [m.again for m in turn.calls if m.name in OWN and m.text.startswith(NOT_RUN)]
        for made in turn.calls:
            if made.name not in OWN or made.text.startswith(NOT_RUN):
                continue
            value = made.value
            if made.name == "review":
                self.draft, self.drafts, self.open = made.arguments.get("draft", ""), self.drafts + 1, True
                self.looked_up += [m for m in self.since if m["role"] == "tool" or m.get("tool_calls")]
                self.since = []
                self.by_code = value or {"met": [], "missing": {"review": made.text}, "asks": []}
                if not self.by_code["asks"]:
                    self.add({"met": [], "missing": {}})
            else:
                self.add(value or {"met": [], "missing": dict.fromkeys(self.by_code["asks"], "not reviewed")}, None if value else made.text.removeprefix("ERROR: "))
        if not any(m.name in OWN for m in turn.calls):
            self.since += turn.messages

    def add(self, said: dict, problem: str | None = None) -> None:
        """One review: what the functions have said, and the critic."""
        self.found.append(Review(self.drafts, self.draft, self.by_code["met"] + said["met"], {**self.by_code["missing"], **said["missing"]}, problem))
        self.open = problem is not None

    def feedback(self) -> list[dict]:
        """The last draft and what it lacks, as the author is shown it."""
        if self.draft is None:
            return []
        lacks = "\n".join(f"- {name}: {why}" for name, why in self.found[-1].missing.items())
        ask = f"Not met yet:\n{lacks}\n\nWrite it again, whole, so that every criterion is met."
        return [{"role": "assistant", "content": self.draft}, user(ask)]


def read(messages: list[dict]) -> Work:
    """The reflection that a message list tells of."""
    work = Work()
    for turn in turns(split(messages)[2]):
        work.take(turn)
    return work


def read_verdict(said: str, names) -> tuple[list[str], dict[str, str]]:
    """(met, missing with the reason) from a critic's JSON. What it does not say `true` of is not met. Raises ValueError where nothing can be read."""
    try:
        found = json.loads(said[said.index("{"):said.rindex("}") + 1])
    except (ValueError, RecursionError):
        raise ValueError(f"the review is no JSON: {said[:80]!r}") from None
    if not isinstance(found, dict) or not any(n in found for n in names):
        raise ValueError(f"the review names none of the criteria: {', '.join(names)}")
    met, missing = [], {}
    for name in names:
        one = found.get(name)
        ok, why = (one.get("met"), one.get("why")) if isinstance(one, dict) else (one, None)
        if ok is True:
            met.append(name)
        else:
            missing[name] = why if isinstance(why, str) and why.strip() else "not met" if name in found else "the review does not mention it"
    return met, missing


def said_by_code(criteria: Mapping, draft: str) -> tuple[list[str], dict[str, str]]:
    """What the criteria that are functions say of a draft."""
    met, missing = [], {}
    for name, fn in criteria.items():
        try:
            said = fn(draft)
        except Exception as error:
            said = f"the check failed ({type(error).__name__}: {error})"
        if said is True:
            met.append(name)
        else:
            missing[name] = said if isinstance(said, str) and said.strip() else "not met"
    return met, missing


def user(text: str) -> dict:
    return {"role": "user", "content": text}
