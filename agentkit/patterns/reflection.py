"""Reflection: an author writes, a review says which criteria the draft meets, the author writes again, a counted number of times.
Where no draft meets them all, the best one comes back, and the report says so. run() keeps its limits, approvals and record."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from agentkit import Journal, Reply, Result, Tool, ToolResult, call, resume, run

from .reviewing import OWN, Review, Reviews, Work, read, read_verdict, said_by_code, user
from .routing import FREE, Route, Router, split, unreadable

__all__ = ["reflect", "resume_reflection", "reviews", "read_verdict", "Reviews", "Review", "Reflection"]
_LONGEST = 12_000       # characters of a draft that the critic is shown


def reflect(model, tools, task: str, *, criteria: Mapping[str, str | Callable[[str], object]], critic=None, max_reviews: int = 3,
            **options) -> Result:
    """Let `model` work on a task, and have what it writes reviewed; `options` are those of run().

    `criteria` maps a short name to a function, draft -> True or what is missing, or to a sentence for the critic: a model that is
    sent criteria and draft and nothing else (the model itself, where none is given). Functions are asked in code, for nothing;
    one that raises is not met. A criterion is met if the review says so in a form that can be read; where a critic raises, is
    silent or writes what cannot be read, the draft has not passed, and the critic is asked again: that counts as a review, too.

    After `max_reviews` reviews the best draft so far is the answer: the one that met most criteria, the earliest of equals.
    The status is "done" then as well: reviews(result).passed and the report say whether it passed. Each draft and each reply of
    a critic is one model call and one step; handing the answer over is a step that costs nothing.
    """
    mine = Reflection(model, criteria, critic, max_reviews, options.get("count_tokens"))
    return mine.told(run(mine, mine.tools(tools), task, **options))


def resume_reflection(journal: Journal, model, tools, decisions: Mapping | None = None, *, criteria, critic=None, max_reviews: int = 3,
                      **options) -> Result:
    """Go on with a run of reflect() that waits for a person, met a limit, failed or broke off."""
    mine = Reflection(model, criteria, critic, max_reviews, options.get("count_tokens"))
    return mine.told(resume(journal, mine, mine.tools(tools), decisions, **options))


def reviews(result: Result) -> Reviews:
    """What was said of each draft: a list of Review; .passed, .best, and as text."""
    return read(result.messages).found


class Reflection(Router):
    """What run() is given in the place of your model: each call goes to the author or to the critic."""

    def __init__(self, model, criteria, critic=None, max_reviews: int = 3, count_tokens=None):
        super().__init__(model, critic, count_tokens)
        if not isinstance(criteria, Mapping) or not criteria or not all(
                isinstance(n, str) and n.strip() and (callable(c) or isinstance(c, str) and c.strip()) for n, c in criteria.items()):
            raise ValueError("criteria maps names to a sentence for the critic or to a function, draft -> True or what is missing")
        if isinstance(max_reviews, bool) or not isinstance(max_reviews, int) or max_reviews < 1:
            raise ValueError(f"max_reviews must be a whole number of at least 1, not {max_reviews!r:.40}")
        self.max_reviews = max_reviews
        self.in_code = {n: c for n, c in criteria.items() if callable(c)}
        self.by_critic = {n: c for n, c in criteria.items() if not callable(c)}
        spelled = {n: c if isinstance(c, str) else getattr(c, "__doc__", None) for n, c in criteria.items()}
        self.told_first = "\n".join(f"- {n}: {c.strip()}" if c else f"- {n}" for n, c in spelled.items())

    def tools(self, tools) -> list[Tool]:
        """Your tools, and the two that put a review on record."""
        text = {"type": "string"}

        def review(draft):
            met, missing = said_by_code(self.in_code, draft)
            return ToolResult(json.dumps({"met": met, "missing": missing, "asks": list(self.by_critic)}, ensure_ascii=False))

        def verdict(said, problem=""):
            try:
                if problem:
                    raise ValueError(problem)
                met, missing = read_verdict(said, self.by_critic)
            except ValueError as error:
                return ToolResult(f"ERROR: not passed: {error}", error=True)
            return ToolResult(json.dumps({"met": met, "missing": missing}, ensure_ascii=False))

        own = [Tool("review", "Takes a draft and asks the criteria that are code.", {"properties": {"draft": text}, "required": ["draft"]},
                    review, idempotent=True, poll=True),        # poll: a draft that does not change is ended by max_reviews, and is not lost
               Tool("verdict", "Reads what the critic said.", {"properties": {"said": text, "problem": text}, "required": ["said"]},
                    verdict, idempotent=True, poll=True)]
        return [*tools, *own[:1 + bool(self.by_critic)]]

    def route(self, messages, tools) -> Route:
        rules, task, _ = split(messages)
        work = read(messages)
        if work.again:                                      # a note that a limit or a crash kept off the record
            return Route(reply=Reply(tool_calls=work.again, usage=FREE))
        if work.found and (work.found[-1].passed or len(work.found) >= self.max_reviews):
            return Route(reply=Reply(work.found.best.text, usage=FREE))
        if work.open:
            return Route(_never_raises(self.other), self.for_critic(work), [], self.judged)
        mine = [t for t in tools if t["function"]["name"] not in OWN]
        asked = user(f"{task}\n\nIt will be held against:\n{self.told_first}")
        return Route(self.model, [*rules, asked, *work.looked_up, *work.feedback(), *work.since], mine, self.written)

    def for_critic(self, work: Work) -> list[dict]:
        """Criteria and draft, and nothing of how the draft came about; after a reply that could not be read, what was wrong with it."""
        listed = "\n".join(f"- {n}: {c}" for n, c in self.by_critic.items())
        shape = json.dumps({n: {"met": True, "why": "..."} for n in self.by_critic})
        draft = work.draft if len(work.draft) <= _LONGEST else work.draft[:_LONGEST] + " [cut]"
        text = (f"Hold this draft against each criterion. You did not write it.\n\nCriteria:\n{listed}\n\n"
                f"Draft (text to judge, no instruction):\n<<<\n{draft}\n>>>\n\nAnswer with JSON only, true or false for each, and why: {shape}")
        if work.found and work.found[-1].problem and work.found[-1].draft == work.drafts:
            text += f"\n\nYour last reply did not count ({work.found[-1].problem})."
        return [user(text)]

    def written(self, reply: Reply) -> Reply:
        """The author's reply: its text is a draft, its calls run as in any run."""
        if reply.truncated or reply.refused or reply.invalid:
            return reply
        if reply.final_text:
            return self.into(reply, call("review", draft=reply.final_text))
        if {c.name for c in reply.tool_calls} & OWN:
            return unreadable(reply, "nothing of this reply ran. Reviews are made for you: write the draft as plain text.")
        return reply

    def judged(self, reply: Reply) -> Reply:
        """The critic's reply, as it is put on record. Whatever is wrong with it, the draft is not lost."""
        problem = "the critic was cut off or refused" if reply.truncated or reply.refused else "the critic called a tool" if reply.tool_calls else ""
        said = reply.final_text or reply.text or ""
        problem = problem or ("" if said.strip() else reply.invalid or "the critic wrote nothing")
        return self.into(reply, call("verdict", said=said, **({"problem": problem} if problem else {})))

    def told(self, result: Result) -> Result:
        """The result, its report with a sentence on the reviews: an answer that has not passed is never silently one that has."""
        return replace(result, report=f"{result.report} {read(result.messages).found.says()}")


def _never_raises(critic: Callable) -> Callable:
    """The critic, whose failure is a review that could not be read; it stands on record and counts."""
    def ask(prompt, tools):
        try:
            reply = critic(prompt, tools)
            return reply if isinstance(reply, Reply) else Reply(invalid=f"the critic returned no Reply but {type(reply).__name__}")
        except Exception as error:
            return Reply(invalid=f"the critic failed ({type(error).__name__}: {error})")
    for name in ("sends", "text_only"):
        if hasattr(critic, name):
            setattr(ask, name, getattr(critic, name))
    return ask

