"""The pictures of notebook 20, and its lab. What they draw is computed in compound.py."""

from dataclasses import replace
from functools import lru_cache

import numpy as np

from .compound import Setup, expect, simulate
from .controls import Slider, Switch
from .figures import CARD, COLOURS, INK, QUIET, figure, fill, line

RIGHT, BROKE, AFTER = (0.55, 0.76, 0.89), (0.13, 0.13, 0.13), (0.94, 0.92, 0.88)     # apart in lightness, not only in colour
STEPS, CALLS, POINTS, TASKS = 40, 100, (1, 5, 10, 15, 20, 25, 30, 35, 40), 500     # of the lab
ALARMS, PERSON = 0.05, 0.9      # of the lab: good steps that the check doubts; wrong last steps that a person sees


def grid_figure(right: np.ndarray, title: str, p: float | None = None):
    """Tasks as rows, steps as cells: right, the first wrong step, and what comes after it.

    With `p` the rows are sorted by how far they came, and p^k is drawn over them.
    """
    tasks, n = right.shape
    alive = np.logical_and.accumulate(right, axis=1)
    if p is not None:
        alive = alive[np.argsort(-alive.sum(axis=1), kind="stable")]
    came = alive.sum(axis=1)
    colours = np.where(alive[..., None], RIGHT, AFTER)
    stopped = np.flatnonzero(came < n)
    colours[stopped, came[stopped]] = BROKE
    fig, ax = figure(7.8, 4.3, title=title, xlabel="step", ylabel="task" if p is None else "tasks", margins=(0.75, 1.75, 0.45, 0.55))
    ax.imshow(colours, extent=(0.5, n + 0.5, 0, tasks), aspect="auto", origin="lower", interpolation="nearest")
    arrived = np.flatnonzero(came == n)
    ax.plot(np.full(len(arrived), n + 0.8), arrived + 0.5, linestyle="", marker=">", markersize=3.2, color=COLOURS[2], clip_on=False)
    if p is not None:
        k = np.arange(1, n + 1)
        ax.plot(k, tasks * p ** k, color=COLOURS[1], linestyle="-", marker="o", markersize=4, linewidth=2)
    ax.set(xlim=(0.5, n + 0.5), ylim=(0, tasks), xticks=(1, *range(5, n + 1, 5)), yticks=range(0, tasks + 1, max(1, tasks // 4)))
    ax.grid(False)
    keys = [(RIGHT, "s", "right so far"), (BROKE, "s", "the wrong step"), (AFTER, "s", "in vain"), (COLOURS[2], ">", "arrived")]
    for y, (colour, marker, text) in zip((0.97, 0.88, 0.79, 0.70), keys):
        _key(ax, y, text, marker=marker, color=colour, markersize=9, markeredgecolor=QUIET, markeredgewidth=0.5)
    if p is not None:
        _key(ax, 0.58, f"100 × {p:g}^k", marker="o", color=COLOURS[1], linestyle="-")
    return fig


def _key(ax, y, text, **look):
    ax.plot((1.055, 1.08, 1.105), (y, y, y), transform=ax.transAxes, clip_on=False, markevery=[1], **{"linestyle": "", **look})
    ax.text(1.125, y, text, transform=ax.transAxes, va="center", size=9)


def curve_figure(curves: dict, title: str, xlabel="steps of the task"):
    """Success over the steps: {name: (steps, the formula's shares, {n: (low, share, high)} simulated)}."""
    fig, ax = figure(7.4, 3.3, title=title, xlabel=xlabel, ylabel="tasks that arrive, %", margins=(0.75, 1.9, 0.45, 0.55))
    last = 0
    for i, (name, (steps, formula, seen)) in enumerate(curves.items()):
        ax.plot(steps, [100 * f for f in formula], label=name, **{**line(i), "marker": ""})
        _points(ax, seen, i)
        last = max(last, *steps)
    ax.set(xlim=(0, last + 0.5), ylim=(0, 103))
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), title="line: formula\nmark: simulated, 95 %", alignment="left")
    return fig


def _points(ax, seen, i):
    if not seen:
        return
    n, low, share, high = (100 * np.array(v) for v in zip(*((k / 100, *seen[k]) for k in seen)))
    gaps = np.full_like(n, np.nan)      # one line with gaps is quicker to draw than many lines
    x, y = np.column_stack((n, n, gaps)).ravel(), np.column_stack((low, high, gaps)).ravel()
    ax.plot(x, y, color=INK, linestyle="-", marker="_", markersize=7, linewidth=1.4)
    ax.plot(n, share, linestyle="", marker=line(i)["marker"], markersize=5, color=INK, markerfacecolor=COLOURS[i])


def bought_figure(rows: dict, title: str):
    """What each measure buys: {name: (Ends of the formula, (low, high) of the simulation)}; success, and calls for each success."""
    fig, (left, right) = figure(7.8, 0.36 * len(rows) + 1.35, columns=2, sharey=True, title=title, margins=(1.95, 0.4, 0.5, 0.58),
                                gridspec_kw={"wspace": 0.12})
    y = range(len(rows))
    ends = [e for e, _ in rows.values()]
    left.barh(y, [100 * e.success for e in ends], height=0.62, **fill(0))
    right.barh(y, [e.calls_per_success for e in ends], height=0.62, **fill(4))
    for at, (e, (low, high)) in zip(y, rows.values()):
        left.plot((100 * low, 100 * high), (at, at), color=INK, linestyle="-", marker="|", markersize=9, linewidth=2)
        left.text(100 * e.success + 3.5, at, f"{e.success:.0%}", va="center", size=9)
        right.text(e.calls_per_success + 1, at, f"{e.calls_per_success:.1f}", va="center", size=9)
    left.set(xlim=(0, 100), ylim=(len(rows) - 0.4, -0.6), yticks=y, xlabel="tasks that arrive, % (|: simulated, 95 %)")
    left.set_yticklabels(rows)
    right.set(xlim=(0, 66), xlabel="model calls for each that arrives")
    for ax in (left, right):
        ax.grid(False, axis="y")
    return fig


ENDS = (("right", "success", 0), ("stopped by the person", "stopped", 2), ("wrong, and carried out", "harm", 1))


def ends_figure(rows: dict, title: str):
    """What becomes of a hundred tasks: {name: Ends}, one bar each in three parts."""
    fig, ax = figure(7.4, 0.42 * len(rows) + 1.55, xlabel="of 100 tasks", margins=(1.55, 0.3, 0.85, 0.55))
    ax.set_title(title, y=1 + 0.4 / (0.42 * len(rows) + 0.15), loc="left", weight="bold", size=11)     # above the legend
    for name, field, look in ENDS:
        shares = [100 * getattr(e, field) for e in rows.values()]
        before = [100 * sum(getattr(e, f) for _, f, _ in ENDS[:[f for _, f, _ in ENDS].index(field)]) for e in rows.values()]
        ax.barh(range(len(rows)), shares, left=before, height=0.62, label=name, **fill(look))
        for y, (left, width) in enumerate(zip(before, shares)):
            if width > 3.5:
                ax.text(left + width / 2, y, f"{width:.0f}", ha="center", va="center", size=9.5, weight="bold", color=INK,
                        bbox={"boxstyle": "round,pad=0.15", "facecolor": CARD, "edgecolor": "none"})
    ax.set(xlim=(0, 100), ylim=(len(rows) - 0.45, -0.55), yticks=range(len(rows)))
    ax.set_yticklabels(rows)
    ax.grid(False)
    ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 1.0), ncols=3, frameon=False, borderaxespad=0.1)
    return fig


# ---- the lab -------------------------------------------------------------------------------------------------------------

def lab_controls() -> dict:
    """The controls of the lab; the names are the arguments of lab_setup()."""
    return {
        "p": Slider("A step is right", 0.7, 1.0, 0.95, 0.01, "p: the probability that a step is right at the first go"),
        "n": Slider("Steps", 1, STEPS, 20, 1, "n: the steps of the task"),
        "catch": Slider("Check sees", 0.0, 1.0, 0.8, 0.05, "c: the share of the bad steps that the check sees"),
        "repair": Slider("Repair works", 0.0, 1.0, 0.9, 0.05, "r: how often a repair makes the step good; a blind retry has r = p"),
        "tries": Slider("Repairs a step", 0, 4, 1, 1, "At most; 0 switches the check off"),
        "approval": Switch("Approval of the last step", False, "A person looks at the step that cannot be taken back, and sees 9 of 10 mistakes"),
    }


def lab_setup(p, n, catch, repair, tries, approval) -> Setup:
    """The lab's settings as a Setup; the check doubts one good step in twenty."""
    return Setup(p=p, n=n, catch=catch, repair=repair, tries=tries, alarms=ALARMS, person=PERSON if approval else 0.0)


@lru_cache(maxsize=256)
def sweep(s: Setup, tasks: int = TASKS) -> dict:
    """{n: (low, share, high)} for the steps of the lab's axis, simulated, each with tasks of its own."""
    found = {}
    for n in POINTS:
        runs = simulate(replace(s, n=n), tasks, seed=100 + n)
        low, high = runs.interval()
        found[n] = low, float(runs.done.mean()), high
    return found


def lab_view(**settings):
    """The curve over n with simulated points, what becomes of 100 tasks, the calls of one; and the numbers as HTML."""
    s = lab_setup(**settings)
    plain, mine = expect(Setup(p=s.p, n=s.n)), expect(s)
    fig, (curve, ends, calls) = figure(8.2, 3.3, columns=3, margins=(0.62, 0.15, 0.72, 0.58),
                                       gridspec_kw={"width_ratios": (3, 1.15, 1.15), "wspace": 0.34},
                                       title=f"{s.n} steps: {mine.success:.1%} arrive, {plain.success:.1%} without what you bought")
    steps = range(1, STEPS + 1)
    curve.plot(steps, [100 * s.p ** k for k in steps], **{**line(1), "marker": ""})
    curve.plot(steps, [100 * expect(replace(s, n=k)).success for k in steps], **{**line(0), "marker": ""})
    _points(curve, sweep(replace(s, n=1)), 0)
    curve.axvline(s.n, color=QUIET, linestyle=":", linewidth=1.5)
    curve.set(xlim=(0, STEPS + 0.5), ylim=(0, 103), xlabel="steps of the task", yticks=(0, 25, 50, 75, 100), xticks=(0, 10, 20, 30, 40))
    curve.set_title("arrive, %: p^n dashed, as set solid", size=9, weight="normal", loc="left", y=1.0)
    under = [0, 0]
    for (_, field, look), name in zip(ENDS, ("right", "stopped", "wrong")):
        shares = [100 * getattr(e, field) for e in (plain, mine)]
        ends.bar((0, 1), shares, bottom=under, width=0.7, **fill(look))
        for x, (base, height) in enumerate(zip(under, shares)):
            if height > 8:
                ends.text(x, base + height / 2, name, ha="center", va="center", size=8,
                          bbox={"boxstyle": "square,pad=0.1", "facecolor": CARD, "edgecolor": "none"})
        under = [a + b for a, b in zip(under, shares)]
    ends.set(xlim=(-0.5, 1.5), ylim=(0, 103), yticks=(0, 50, 100))
    ends.set_title("of 100 tasks", size=9, weight="normal", loc="left", y=1.0)
    calls.bar((0, 1), (plain.calls, mine.calls), width=0.7, **fill(4))
    for x, e in enumerate((plain, mine)):
        calls.text(x, e.calls + 2, f"{e.calls:.1f}", ha="center", size=9)
    calls.set(xlim=(-0.5, 1.5), ylim=(0, CALLS), yticks=(0, 50, 100))
    calls.set_title("calls a task", size=9, weight="normal", loc="left", y=1.0)
    for ax in (ends, calls):
        ax.set(xticks=(0, 1), xlabel="")
        ax.set_xticklabels(("p^n", "as set"))
        ax.grid(False, axis="x")
    return fig, _said(plain, mine)


def _said(plain, mine) -> str:
    def cost(e):
        return f"{e.calls_per_success:,.1f}" if e.calls_per_success < 10_000 else "more than 10,000"
    return (f"<p>Model calls for each task that arrives: <b>{cost(mine)}</b>, against {cost(plain)} by p^n alone. "
            f"The last step is carried out wrongly in {mine.harm:.1%} of the tasks, against {plain.harm:.1%}.</p>")
