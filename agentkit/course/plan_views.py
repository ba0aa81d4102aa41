"""The pictures of notebook 17, its tables, and its lab over a depot whose parcels are moved. What they draw is computed in planners.py."""

from functools import lru_cache

import numpy as np

from agentkit.journal import Table
from agentkit.patterns.plan_execute import plan_of

from .controls import Slider
from .figures import CARD, COLOURS, INK, QUIET, figure, fill, line
from .planners import Desk, draw, plan_spends, plan_succeeds, react_spends

QS = tuple(round(0.025 * k, 3) for k in range(13))      # 0 to 0.3: the lab's axis
TASKS, TOP = 400, 60                                    # of the lab; thousands of tokens on its axis
_LOOKS = {"on its way": 5, "late": 4, "delivered": 2, "lost": 1}


def stale_figure(desk: Desk, title: str):
    """The states of the orders from call to call, and what the plan did to which of them."""
    fig, ax = figure(7.6, 2.5, title=title, xlabel="call of a tool", margins=(1.0, 0.25, 0.45, 0.58))
    last = len(desk.log)
    for y, order in enumerate(("C789", "D012")):
        seen = [states[order] for *_, states in desk.log]
        for state in dict.fromkeys(seen):
            places = [n for n, s in enumerate(seen, 1) if s == state]
            ax.barh(y, len(places), left=places[0] - 0.5, height=0.56, **{**fill(_LOOKS[state]), "alpha": 0.55})
            ax.text(sum(places) / len(places), y - 0.14, state, ha="center", va="center", size=9.5, color=INK,
                    bbox={"boxstyle": "round,pad=0.15", "facecolor": CARD, "edgecolor": "none"})
    for number, name, order, states in desk.log:
        y = ("C789", "D012").index(order)
        wrong = name == "refund_order" and states[order] not in ("late", "lost")
        said = ("✗ refund" if wrong else "refund") if name == "refund_order" else "look up"
        ax.text(number, y + 0.5, said, ha="center", va="center", size=10, weight="bold" if name == "refund_order" else "normal",
                color=CARD if wrong else INK, bbox={"boxstyle": "round,pad=0.25", "facecolor": COLOURS[1] if wrong else CARD, "edgecolor": QUIET})
    ax.set(xlim=(0.5, last + 0.5), ylim=(-0.45, 1.85), xticks=range(1, last + 1), yticks=(0, 1))
    ax.set_yticklabels(("C789\ncable", "D012\nchair"))
    ax.grid(False)
    return fig


def plan_table(result) -> Table:
    """The plan as it stood at the end: what is done, what was given up, what is left."""
    plan, rows = plan_of(result), []
    rows += [(str(n), s.do, s.expect, f"done: {s.result}") for n, s in enumerate(plan.done, 1)]
    for number, do, why in reversed(plan.failures):
        rows.insert(number - 1, (str(number), do, "", f"given up: {why}"))
    rows += [(str(n), s.do, s.expect, "left") for n, s in enumerate(plan.left, plan.number)]
    return Table(("step", "do", "expects", "what came of it"), rows)


def prompts(result) -> list[int]:
    """Tokens sent in each call that was made."""
    return [e["prompt_tokens"] for e in result.journal.of("reply") if e["prompt_tokens"]]


def prompts_figure(runs: dict, title: str):
    """Tokens sent, call by call: {name: a result}."""
    fig, ax = figure(7.4, 3.0, title=title, xlabel="model call", ylabel="tokens sent", margins=(0.85, 1.7, 0.45, 0.58))
    for i, (name, result) in enumerate(runs.items()):
        sent = prompts(result)
        ax.plot(range(1, len(sent) + 1), sent, **{**line(i), "markersize": 4})
        ax.text(len(sent) + 0.5, sent[-1], f"{name}:\n{sum(sent):,} sent in all", va="bottom" if i else "center", size=9, color=INK)
    ax.set(ylim=(0, 1.15 * max(max(prompts(r)) for r in runs.values())))
    return fig


def strategies(max_replans: int) -> dict:
    """name -> function of (moves, size) that says what a task takes."""
    return {"plan, no replan": lambda moves, size: plan_spends(moves, size, 0),
            f"plan, {max_replans} replan{'' if max_replans == 1 else 's'}": lambda moves, size: plan_spends(moves, size, max_replans),
            "ReAct": react_spends}


def compare(q: float, n: int, max_replans: int, size: int, tasks: int = TASKS) -> dict:
    """{strategy: (share that succeeds, tokens for each success, model calls a task)} over the same tasks for all."""
    moves = draw(q, n, tasks, seed=17)
    found = {}
    for name, spends in strategies(max_replans).items():
        s = spends(moves, size)
        found[name] = float(s.success.mean()), float(s.tokens.sum() / max(1, s.success.sum())), float(s.calls.mean())
    return found


@lru_cache(maxsize=512)
def sweep(n: int, max_replans: int, size: int) -> tuple:
    """compare() for every q of the axis."""
    return tuple(compare(q, n, max_replans, size) for q in QS)


def change_figure(n: int, max_replans: int, size: int, title: str = "", at: float | None = None):
    """Success, and tokens for each success, over how often the world changes; lines: the formula, marks: tasks drawn by chance."""
    fig, (left, right) = figure(8.0, 3.3, columns=2, margins=(0.72, 0.25, 0.75, 0.58), gridspec_kw={"wspace": 0.22},
                                title=title, xlabel="a parcel is moved before each try, %")
    found, fine = sweep(n, max_replans, size), np.linspace(0, QS[-1], 49)
    for i, name in enumerate(found[0]):
        exact = [100 * (1.0 if name == "ReAct" else plan_succeeds(q, n, 0 if i == 0 else max_replans)) for q in fine]
        left.plot(100 * fine, exact, color=COLOURS[i], linestyle=line(i)["linestyle"], marker="")
        left.plot([100 * q for q in QS[::2]], [100 * row[name][0] for row in found[::2]], linestyle="", marker=line(i)["marker"], color=COLOURS[i], label=name)
        cost = [row[name][1] / 1000 for row in found]
        right.plot([100 * q for q in QS], [c if c <= TOP else np.nan for c in cost], label=name, **{**line(i), "markevery": 2})
    left.set(ylim=(0, 104), xlim=(0, 30.5), yticks=(0, 50, 100), xticks=(0, 10, 20, 30))
    right.set(ylim=(0, TOP), xlim=(0, 30.5), yticks=(0, 20, 40, 60), xticks=(0, 10, 20, 30))
    for ax, head in ((left, "tasks that succeed, %"), (right, "thousand tokens for each success")):
        ax.set_title(head, size=9.5, weight="normal", loc="left", y=1.0)
        if at is not None:
            ax.axvline(100 * at, color=QUIET, linestyle=":", linewidth=1.5, marker="")
    right.legend(loc="upper left", fontsize=8.5, framealpha=0.85)
    return fig


# ---- the lab -------------------------------------------------------------------------------------------------------------

def lab_controls() -> dict:
    """The controls of the lab; the names are the settings of lab_view()."""
    return {
        "q": Slider("World changes", 0.0, 0.3, 0.05, 0.025, "q: how likely it is that a parcel has been moved, each time somebody reaches for it", ".3f"),
        "n": Slider("Steps", 2, 12, 10, 1, "Parcels to fetch: one step each"),
        "max_replans": Slider("Replans allowed", 0, 8, 2, 1, "max_replans"),
        "size": Slider("Tokens of a result", 0, 400, 200, 50, "What a tool returns besides, in tokens"),
    }


def lab_view(q: float, n: int, max_replans: int, size: int):
    """The two curves, and the numbers at q as HTML."""
    rows = compare(round(q, 3), n, max_replans, size)
    planned, react = list(rows)[1], list(rows)[2]
    cheaper = planned if rows[planned][1] < rows[react][1] else react
    fig = change_figure(n, max_replans, size, f"{q:.1%} moved: {rows[planned][0]:.0%} of the plans succeed; {cheaper} is cheaper", q)
    cells = "; ".join(f"<b>{name}</b> {share:.0%} succeed, {calls:.1f} calls, " + (f"{cost:,.0f} tokens for each success" if share else "no success")
                      for name, (share, cost, calls) in rows.items())
    return fig, f"<p>{TASKS} tasks: {cells}.</p>"
