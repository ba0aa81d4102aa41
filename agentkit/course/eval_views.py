"""The pictures of notebook 21: two versions of an agent side by side, and its lab over what a comparison can find."""

from functools import lru_cache

from agentkit.eval_report import Comparison
from agentkit.intervals import binomial, fewest_wins, mean, needed, power

from .controls import Slider
from .figures import CARD, COLOURS, GRID, INK, QUIET, figure, fill, line

MARKS = {True: ("s", COLOURS[2], "pass"), False: ("x", COLOURS[1], "fail"), None: ("_", QUIET, "no result")}
TASKS = 400         # on the lab's axis
KINDS = ("shown to be better", "looks better, not shown", "as many wins as losses", "looks worse, not shown", "shown to be worse")


def report_figure(comparison: Comparison, title: str = ""):
    """Two versions on one task set: every task's outcome, the rates with their intervals, and what a run uses."""
    fig, axes = figure(7.9, 4.4, rows=2, columns=2, margins=(0.5, 0.2, 0.6, 0.5))
    fig.text(0.02, 0.965, title or f"{comparison.new.name} wins {len(comparison.better)} tasks and loses {len(comparison.worse)}", weight="bold",
             size=11, va="top", color=INK)
    (strip, rates), (steps, usd) = axes
    wide = 0.03 + 0.011 * max(len(report.name) for report in (comparison.old, comparison.new))
    for ax, box in ((strip, (wide, 0.6, 0.98 - wide, 0.21)), (rates, (0.15, 0.13, 0.38, 0.32)),
                    (steps, (0.61, 0.35, 0.35, 0.1)), (usd, (0.61, 0.13, 0.35, 0.1))):
        ax.set_position(box)
    _strip(fig, strip, comparison)
    both = (comparison.old, comparison.new)
    labels = {"right_order": "right order", "right_tools": "right tools", "success": "success"}
    for y, what in enumerate(labels):
        for i, report in enumerate(both):
            r = report.rate(what)
            if r.n:
                _interval(rates, y + 0.17 - 0.34 * i, i, 100 * r.share, 100 * r.low, 100 * r.high)
    rates.set(xlim=(0, 100), ylim=(-0.5, 2.6), yticks=range(3), yticklabels=labels.values(), xlabel="% of tasks, with the 95 % interval")
    for ax, what, label in ((steps, "steps", "steps a run, mean"), (usd, "usd", "USD a run, mean")):
        top = 0
        for i, report in enumerate(both):
            if values := list(report.scores(what).values()):
                _interval(ax, 1 - i, i, *mean(values))
                top = max(top, mean(values)[2])
        ax.set(xlim=(0, top * 1.15 or 1), ylim=(-0.6, 1.6), yticks=(1, 0), yticklabels=["", ""])
        ax.set_title(label, size=9.5, weight="normal", loc="left", y=1.0)
        ax.locator_params(axis="x", nbins=5)
    handles = [rates.plot([], [], **_look(i))[0] for i in (0, 1)]
    fig.legend(handles, [r.name for r in both], ncols=2, fontsize=9, frameon=False, loc="upper left", bbox_to_anchor=(0.14, 0.54))
    return fig


def _strip(fig, ax, comparison):
    """A column a task, a row a version; tasks of one group stand side by side."""
    outcomes = [report.scores() for report in (comparison.old, comparison.new)]
    group = {row.task: row.group for row in (*comparison.old.rows, *comparison.new.rows)}
    seen = [tuple(None if task not in o else o[task] >= 0.5 for o in outcomes) for task in group]
    order = {name: n for n, name in enumerate(dict.fromkeys(group.values()))}
    columns = sorted(zip((order[g] for g in group.values()), seen), key=lambda c: (c[0], [(True, False, None).index(s) for s in c[1]]))
    size = max(2.0, min(8.0, 260 / len(columns)))
    for outcome, (marker, colour, _) in MARKS.items():
        points = [(x, 1 - i) for x, (_, pair) in enumerate(columns) for i in (0, 1) if pair[i] is outcome]
        ax.plot([x for x, _ in points], [y for _, y in points], linestyle="", marker=marker, color=colour, markersize=size,
                markeredgewidth=2 if outcome is False else 1)
    for name, n in order.items():
        places = [x for x, (g, _) in enumerate(columns) if g == n]
        ax.text((places[0] + places[-1]) / 2, 1.62, name, ha="center", va="bottom", size=9, color=INK)
        if n:
            ax.axvline(places[0] - 0.5, color=GRID, linewidth=1.2, linestyle="-")
    ax.set(xlim=(-0.7, len(columns) - 0.3), ylim=(-0.5, 1.5), yticks=(1, 0), yticklabels=[comparison.old.name, comparison.new.name], xticks=[])
    ax.grid(False)
    shown = [o for o in MARKS if any(o in pair for _, pair in columns)]
    handles = [ax.plot([], [], linestyle="", marker=MARKS[o][0], color=MARKS[o][1], markersize=7, markeredgewidth=2)[0] for o in shown]
    fig.legend(handles, [MARKS[o][2] for o in shown], ncols=3, fontsize=9, frameon=False, loc="upper right", bbox_to_anchor=(0.975, 0.565))


def _look(i):
    return {**line(i), "linestyle": "-", "linewidth": 2, "markersize": 7}


def _interval(ax, y, i, middle, low, high):
    ax.plot((low, middle, high), (y, y, y), markevery=[1], **_look(i))


# ---- the lab ---------------------------------------------------------------------------------------------------------

def outcomes(tasks: int, gain: float, loss: float) -> dict[str, float]:
    """How often a comparison on this many tasks ends in each of five ways, where B truly wins `gain` and loses `loss` of all tasks. Exact."""
    differ, found = gain + loss, [0.0] * 5
    for m in range(tasks + 1):
        weight = binomial(m, tasks, differ)
        if weight > 1e-13:
            found = [f + weight * e for f, e in zip(found, _ends(m, gain / differ if differ else 0.5))]
    return dict(zip(KINDS, found))


@lru_cache(maxsize=100_000)
def _ends(m, share):
    enough, found = fewest_wins(m), [0.0] * 5
    for wins in range(m + 1):
        losses = m - wins
        at = 0 if wins >= enough else 4 if losses >= enough else 1 if wins > losses else 3 if losses > wins else 2
        found[at] += binomial(wins, m, share)
    return found


def shares(difference: int, loses: int) -> tuple[float, float]:
    """(gain, loss) as shares, from a true difference in points and the points that B loses."""
    return (difference + loses) / 100, loses / 100


def lab_controls() -> dict:
    return {
        "tasks": Slider("Tasks", 10, TASKS, 40, 10, "How many tasks both versions are run on"),
        "difference": Slider("True difference, points", 0, 30, 10, 1, "B's success rate minus A's, if you had endless tasks"),
        "loses": Slider("B also loses, % of tasks", 0, 20, 3, 1, "Tasks that A passes and B fails; B wins these and the difference on top"),
    }


def lab_view(tasks: int, difference: int, loses: int):
    """How often a comparison shows the difference, over the number of tasks; and the five ways in which one can end."""
    gain, loss = shares(difference, loses)
    ends = outcomes(tasks, gain, loss)
    fig, (left, right) = figure(7.9, 2.9, columns=2, margins=(0.68, 0.55, 0.62, 0.58), gridspec_kw={"wspace": 0.98, "width_ratios": (5, 4)})
    fig.text(0.02, 0.945, f"{tasks} tasks, a true difference of {difference} points: shown in {ends[KINDS[0]]:.0%} of comparisons",
             weight="bold", size=11, va="top", color=INK)
    sizes = [*range(10, 100, 10), *range(100, TASKS + 1, 25)]
    left.plot(sizes, [100 * power(n, gain, loss) for n in sizes], **{**line(0), "marker": ""})
    left.plot(tasks, 100 * ends[KINDS[0]], color=COLOURS[1], marker="D", markersize=9, linestyle="", clip_on=False)
    left.axhline(80, color=INK, linestyle="--", linewidth=1.2)
    left.set(xlim=(0, TASKS), ylim=(0, 103), xticks=(0, 100, 200, 300, 400), yticks=(0, 20, 40, 60, 80, 100), xlabel="tasks", ylabel="% that show it")
    for y, kind in enumerate(KINDS):
        right.barh(y, 100 * ends[kind], 0.66, **fill((2, 5, 6, 4, 1)[y]))
        right.text(100 * ends[kind] + 2, y, f"{100 * ends[kind]:.1f}%", va="center", size=8.5, color=INK)
    right.set(xlim=(0, 122), ylim=(4.6, -0.6), yticks=range(5), yticklabels=[k.replace(", ", ",\n") for k in KINDS],
              xticks=(0, 50, 100), xlabel="% of comparisons")
    right.tick_params(axis="y", labelsize=8.5)
    right.grid(False, axis="y")
    return fig, _said(difference, gain, loss, ends)


def _said(difference, gain, loss, ends):
    if not difference:
        alarms = ends[KINDS[0]] + ends[KINDS[4]]
        return f"<p>The two are equally good. A comparison still says that one is better in {alarms:.1%} of cases: never more than 5 %.</p>"
    enough = needed(gain, loss)
    return (f"<p>Four comparisons in five (the dashed line) show it from about <b>{enough:,} tasks</b> on. "
            f"B wins {100 * gain:.0f} % of the tasks and loses {100 * loss:.0f} %.</p>")


def lab_alt(tasks, difference, loses):
    ends = outcomes(tasks, *shares(difference, loses))
    return (f"A curve of how often a comparison shows a true difference of {difference} points, over the number of tasks; at {tasks} tasks it is "
            f"{ends[KINDS[0]]:.0%}. Beside it bars: " + ", ".join(f"{kind} {share:.1%}" for kind, share in ends.items()) + ".")
