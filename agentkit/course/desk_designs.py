"""The two designs of notebook 24. Each is called with a task and returns (Result, Desk), as agentkit.evals asks.

`FIRST` is one agent with every tool. `DESIGN` is a workflow that pays in one place, and an agent with reading tools for the
tickets whose path must be found. Time is injected and assumed: a model call takes 0.6 s, and 0.02 s for each token written.
"""

import random
from dataclasses import dataclass

from agentkit import Hook, Journal, Limits, Price, Spent, ToolResult, run, running, tool
from agentkit.patterns.workflow import resume_workflow, workflow
from agentkit.tokens import rough_tokens

from .desk import HANDBOOK, LIMIT, READS, SYSTEM, Desk, ticket_path
from .desk_model import stand_in
from .ticket_ways import timed

PRICE = Price(3, 15)            # USD per million tokens, assumed
MISS = 0.05                     # how often the person says yes to anything; assumed


@dataclass(frozen=True)
class First:
    """One agent, every tool, the handbook in its system text; no approval, no guards, agentkit's default limits."""

    name: str = "first design"

    def __call__(self, task):
        desk = Desk(**task.setup, guarded=False)
        for _ in range(2):          # a queue delivers a ticket again when the worker died
            try:
                result = run(timed(stand_in(task, LIMIT), desk.clock), desk.tools(), task.text, system=HANDBOOK, prices=PRICE, clock=desk.clock,
                             count_tokens=rough_tokens)
                return result, desk
            except SystemExit:
                pass
        raise RuntimeError("the worker died twice")


@dataclass(frozen=True)
class Designed:
    """The path, an agent with reading tools for the rest, a person for what is dear. `limit` is in USD, `limits` hold for the agent."""

    name: str = "the design"
    limit: float = LIMIT
    limits: Limits = Limits()
    notes: str = ""                 # what the desk knows of this customer, put at the end of the ticket

    def __call__(self, task):
        desk = Desk(**task.setup)
        model = desk.retry().wrap(timed(stand_in(task, LIMIT), desk.clock))
        journal = Survivor()
        options = {"prices": PRICE, "clock": desk.clock, "count_tokens": rough_tokens}

        @tool
        def investigate(request: str) -> ToolResult:
            """Have an agent find out what happened. It can read and nothing else; it proposes what to do."""
            readers = [t for t in desk.tools() if t.name in READS]
            inner = desk.agent = run(model, readers, request, system=SYSTEM, limits=self.limits.at_most(running().left()), **options)
            return ToolResult(inner.answer or f"ERROR: {inner.report}", inner.status != "done", Spent.of(inner))

        def approve(asked):         # None: it waits for a person
            return True if asked.arguments["usd"] <= self.limit else None

        def go_on(journal, decisions=None):
            return resume_workflow(journal, ticket_path, model, tools, decisions, **gates, **options)

        tools, gates = [*desk.tools(), investigate], {"approve": approve, "hooks": [Hook("the books", before_tool=desk.books)]}
        try:
            result = workflow(ticket_path, model, tools, f"{task.text} {self.notes}".strip(), journal=journal, system=SYSTEM,
                              limits=Limits(max_steps=30), **gates, **options)
        except SystemExit:          # the process is gone; another one opens what is on the disk
            result = go_on(journal.as_it_was())
        while result.status == "waiting_for_approval":
            result = go_on(result.journal, {c.id: person(desk, task, c) for c in result.pending})
        if result.status != "done":
            desk.hand_over(result.report)       # no ticket is lost, whatever ended its run
        return result, desk


class Survivor(Journal):
    """A journal that remembers how it stood when the process died, as a file would: nothing is written after that."""

    def __init__(self):
        super().__init__()
        self.kept = None

    def write(self, event, *more, **facts):
        if event["kind"] == "result" and event.get("unknown") and self.kept is None:
            self.kept = list(self.events)
        super().write(event, *more, **facts)

    def as_it_was(self) -> Journal:
        journal = Journal()
        for event in self.kept:
            journal.write(event)
        return journal


def person(desk, task, asked):
    """The stand-in for who approves: knows what is due, and now and then says yes without reading."""
    order_id = asked.arguments["order_id"]
    nods = not desk.fault and random.Random(f"person/{task.id}/{task.trial}").random() < MISS
    yes = nods or order_id in desk.due
    desk.asked.append((order_id, asked.arguments["usd"], yes))
    if yes:
        desk.allowed.append(order_id)
    return True if yes else "the photo and the books do not bear it out"


# What good runs of the agent used, doubled: notebook 24 measures it.
LIMITS = Limits(max_steps=10, budget_usd=0.02, max_seconds=12, max_repeats=3, max_errors=3)
FIRST, DESIGN = First(), Designed(limits=LIMITS)
