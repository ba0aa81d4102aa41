"""The failure table of notebook 24, computed: each row plants a fault, runs both designs, and reads from the record what came of it."""

import re

from agentkit.evals import evaluate
from agentkit.trace import Table

from .desk_designs import DESIGN, FIRST
from .desk_tickets import faults

# the eval task that plants it -> (what fails, what the design does about it)
ROWS = {
    "carrier-down": ("the carrier does not answer", "3 tries, then a person"),
    "bank-times-out": ("the bank pays, and answers too late", "tried again with the same key"),
    "process-dies": ("the process dies while it pays", "resumed from the journal, same key"),
    "model-busy": ("the provider says 429, twice", "waits as told, then goes on"),
    "no-such-kind": ("the model invents a kind of ticket", "asked 3 times, then a person"),
    "no-json": ("the agent's proposal is prose", "nothing is guessed; a person"),
    "same-call-again": ("the agent goes round in circles", "stopped at the third time; a person"),
    "a-strangers-order": ("an order of somebody else", "tools see this customer only"),
    "orders-in-the-text": ("the ticket gives orders to the model", "the books refuse, before anybody is asked"),
    "person-says-no": ("a claim above the limit is false", "a person says no; nothing is paid"),
}


def shown(result, desk) -> str:
    """How it shows: the first no or error on record, the agent's run before the ticket's; else what was tried again, or why it was handed over."""
    for journal in (r.journal for r in (desk.agent, result) if r is not None):
        for e in journal.of("decision", "result"):
            if e["kind"] == "decision" and not e["approved"]:
                return f"a person says no: {e['why']}"
            if e["kind"] == "result" and e["content"].startswith("ERROR"):
                return _short(e["content"])
    if desk.fault == "dies" and result.journal.of("resume"):
        return "a call that began and has no result"
    return (desk.retried or desk.handed or ["nothing"])[0]


def _short(text: str) -> str:
    text = re.sub(r"^ERROR: (a hook \(the books\) denied this call: )?(\w+ failed: )?((GaveUp|Stopped|\w+Error): )*", "", text)
    return text if len(text) <= 60 else text[:57].rstrip() + "..."


def ended(desk) -> str:
    """What the world looks like in the end."""
    paid = ", ".join(f"{usd:g} USD" for _, usd in desk.refunds)
    return " and ".join(filter(None, [f"paid {paid}" if paid else "", "a person has it" if desk.handed else ""])) or "nothing paid"


def failure_runs():
    """[(task id, how it shows, how the design ended, what is wrong with that, how the first design ended, what is wrong with that)]."""
    rows = []
    for task in faults():
        seen = []
        for design in (DESIGN, FIRST):
            kept = []
            row = evaluate(lambda t: kept.append(design(t)) or kept[-1], [task], timeout=None).rows[0]
            seen.append((kept[-1], row))
        (mine, ok), (theirs, first) = seen
        rows.append((task.id, shown(*mine), ended(mine[1]), ok.why, ended(theirs[1]), first.why))
    return rows


def failure_table(rows) -> Table:
    made = [(ROWS[id][0], how, ROWS[id][1], end + (f" WRONG: {why}" if why else ""), other + ("" if not bad else " (wrong)"), id)
            for id, how, end, why, other, bad in rows]
    return Table(("what fails", "how it shows", "what the design does", "it ended", "the first design", "eval task"), made)
