"""A rubric for a design of one's own. What a rule can judge is judged here; the rest is for the reader to tick, and counts for nothing else.

A design is plain data:

    {"tools": {"cancel": {"moves_money": True, "can_be_undone": False, "approval": True, "cap_usd": None, "key": "the booking"}, ...},
     "limits": {"max_steps": (12, "p95 of good runs is 6, times 2"), "budget_usd": ..., "max_seconds": ..., "max_repeats": ...},
     "workflow": {"share": 0.7, "steps": ["classify", ...], "agent_for": "..."},
     "memory": {"keeps": [...], "never": [...]},
     "failures": [{"what": "...", "then": "...", "task": "an id of evals"}, ...],
     "evals": {"an id": "what must hold in the end", ...}}
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from html import escape

from agentkit.trace import Table

from .controls import Switch

PARTS = ("tools", "limits", "workflow", "memory", "failures", "evals")
LIMITS = ("max_steps", "budget_usd", "max_seconds", "max_repeats")
FAILURES, EVALS = 5, 8      # a start, not an end
PER_CALL = ("call", "random", "uuid", "time", "run")


@dataclass(frozen=True)
class Rule:
    """`test(design, facts)` returns None, or what is wrong in words."""

    name: str
    test: Callable[[dict, dict], str | None]
    why: str


def _number(value) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _says(value, words: int = 1) -> bool:
    return isinstance(value, str) and len(value.split()) >= words


def _all_parts(d, facts):
    missing = [p for p in PARTS if not d.get(p)]
    return f"something in {', '.join(missing)}" if missing else None


def _tools(d, facts):
    n = len(d["tools"])
    return None if 3 <= n <= 9 else f"3 to 9 tools, not {n}"


def _money(d, facts):
    bad = [n for n, t in d["tools"].items() if t.get("moves_money") and not (t.get("approval") or _number(t.get("cap_usd")))]
    return f"an approval or a cap_usd for {bad[0]}" if bad else None


def _undo(d, facts):
    bad = [n for n, t in d["tools"].items() if not t.get("can_be_undone", True) and not (t.get("approval") or _number(t.get("cap_usd")))]
    return f"an approval (or a cap_usd) for {bad[0]}, which cannot be undone" if bad else None


def _key(d, facts):
    for name, t in d["tools"].items():
        if t.get("moves_money") and not _says(t.get("key")):
            return f"a key for {name}: the text that makes a second payment the same payment"
        if t.get("moves_money") and any(w in t["key"].lower().replace("-", " ").replace("_", " ").split() for w in PER_CALL):
            return f"a key for {name} that is the same in the next call and the next run, not {t['key']!r}"
    return None


def _limits(d, facts):
    for name in LIMITS:
        entry = d["limits"].get(name)
        if not (isinstance(entry, (tuple, list)) and len(entry) == 2 and _number(entry[0]) and entry[0] > 0):
            return f"limits[{name!r}] as (number, reason)"
        if not _says(entry[1], 3):
            return f"a reason of a few words for {name}"
    return None


def _covers(d, facts):
    for name, p95, unit in (("max_steps", facts["p95_steps"], "steps"), ("budget_usd", facts["p95_usd"], "USD"),
                            ("max_seconds", facts["p95_seconds"], "s")):
        value = (d["limits"].get(name) or (None,))[0]
        if not _number(value) or value < p95:
            return f"{name} of at least {p95} {unit}: that is what 95 % of the good runs use"
        if value > 5 * p95:
            return f"{name} nearer to the good runs: {value} is more than five times their p95 of {p95} {unit}"
    return None


def _workflow(d, facts):
    w = d["workflow"]
    if not (_number(w.get("share")) and 0 <= w["share"] <= 1):
        return "workflow['share'] between 0 and 1"
    if w["share"] > 0 and not w.get("steps"):
        return "workflow['steps'], if a share of the tickets takes them"
    return None if w["share"] == 1 or _says(w.get("agent_for"), 2) else "workflow['agent_for']: which tickets need an agent, and why"


def _memory(d, facts):
    keeps, never = ([str(v).lower() for v in d["memory"].get(k, ())] for k in ("keeps", "never"))
    if not never:
        return "memory['never']: what must not be kept"
    risky = [k for k in keeps for w in ("card", "password", "whole ticket", "text of the ticket", "everything") if w in k]
    return f"memory without {risky[0]!r}" if risky else None


def _failures(d, facts):
    rows = d["failures"]
    if len(rows) < FAILURES:
        return f"at least {FAILURES} rows in failures"
    bad = [r for r in rows if not (_says(r.get("what")) and _says(r.get("then")))]
    return f"what and then in each row of failures; see {bad[0]}" if bad else None


def _tested(d, facts):
    if not d["failures"]:
        return "failures, and an eval task for each"
    bad = [r.get("what") for r in d["failures"] if r.get("task") not in d["evals"]]
    return f"an eval task for the failure {bad[0]!r}" if bad else None


def _evals(d, facts):
    if len(d["evals"]) < EVALS:
        return f"at least {EVALS} tasks in evals"
    if set(d["evals"]) <= {r.get("task") for r in d["failures"]}:
        return "tasks in evals in which nothing fails: most tickets are of that kind"
    bad = [i for i, end in d["evals"].items() if not _says(end, 2) or "answer says" in end.lower()]
    return f"what must hold in the world after {bad[0]}, in words" if bad else None


RULES = (
    Rule("six parts", _all_parts, "A design that leaves a part out has decided it by accident."),
    Rule("few tools", _tools, "Each definition is sent with every call, and a model confuses what is alike."),
    Rule("money is gated", _money, "Sooner or later the model is wrong, or is talked into it. A tool that moves money needs a person or a cap."),
    Rule("what cannot be undone is gated", _undo, "An error that can be undone costs a little; the other kind wants a look before, not after."),
    Rule("a key for money", _key, "After a time-out the model calls again, and after a crash the queue delivers again: new call, new run. "
         "The key must be what is owed."),
    Rule("limits with reasons", _limits, "A number without a reason is changed by the first person whom it annoys."),
    Rule("limits fit the good runs", _covers, "Below the p95 they cut good runs off; far above it they stop nothing in time."),
    Rule("path or agent", _workflow, "What can be drawn is code. Say what is left for the agent."),
    Rule("memory has a never", _memory, "What is kept can leak, and a customer's words that are kept are instructions tomorrow."),
    Rule("failures", _failures, "Each row: what fails, and what the harness does then."),
    Rule("each failure is tested", _tested, "A row without a test is a hope."),
    Rule("an evaluation set", _evals, "Ordinary tickets and planted faults, each with the end state of the world; words prove nothing."),
)

TICKS = {       # what is ticked, and what to do where it is not
    "asked": ("I asked before I drew", "What is a wrong action worth, what must never happen, how many, how fast? Say these questions first."),
    "drew": ("I drew one ticket before any box", "Draw one ordinary ticket end to end, then one hard one. Boxes come from that."),
    "one_gate": ("Money passes one place in the code", "Two places are two rules, and one of them is forgotten."),
    "lost": ("No ticket is lost, whatever ends its run", "Go through every status of a run: who gets the ticket?"),
    "numbers": ("I can say where each number comes from", "Measured, assumed or wished? Say which, and how you would measure it."),
    "cut": ("I said what I left out", "No second agent, no vector store, no fine-tuning: say what would make you add one."),
    "scale": ("I named what breaks first at 100 times", "Usually it is neither the loop nor the bill: it is people, or a provider's rate limit."),
    "stop": ("I can switch it off", "One switch that sends all tickets to people, and somebody who is told why."),
}


@dataclass(frozen=True)
class Tick(Switch):
    """A switch on a line of its own, so that its words are read in full."""

    wide = True


def judge_design(design, facts: dict) -> list[tuple[str, str | None]]:
    """[(rule, None or what is wanted)] for every rule. `facts` has p95_steps, p95_usd and p95_seconds of good runs."""
    verdicts = []
    for rule in RULES:
        try:
            verdicts.append((rule.name, rule.test(design, facts)))
        except (AttributeError, KeyError, TypeError, IndexError) as error:
            verdicts.append((rule.name, f"the shape that the rubric reads ({type(error).__name__}: {error})"))
    return verdicts


def judged(design, facts: dict) -> Table:
    """The rubric's verdicts as a table."""
    found = judge_design(design, facts)
    return Table(("rule", "", "wanted"), [(name, "no" if said else "yes", said or "") for name, said in found],
                 f"{sum(not said for _, said in found)} of {len(found)} rules hold.")


def tick_controls() -> dict:
    return {name: Tick(label) for name, (label, _) in TICKS.items()}


def tick_view(**ticked) -> str:
    """How far the reader says to be, and what the first open point asks for."""
    left = [name for name in TICKS if not ticked[name]]
    said = f"{len(TICKS) - len(left)} of {len(TICKS)} ticked, by you; nothing checks it."
    if not left:
        return f"<p><b>{said}</b> Now tell it to somebody in five minutes, without the notebook.</p>"
    label, ask = TICKS[left[0]]
    return f"<p><b>{said}</b> Next: <i>{escape(label)}</i>. {escape(ask)}</p>"
