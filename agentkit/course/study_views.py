"""The pictures of notebook 25: when cards come back, and what four plans come to."""

from .controls import Slider
from .figures import INK, QUIET, figure, line
from .forgetting import compared

REST = 7        # days without a question, before it counts


def schedule_figure(log, ids, title):
    """A row for each card, a mark for each time it was asked: log = [(day, id, known, box after it)]."""
    fig, ax = figure(8.2, 0.3 * len(ids) + 1.25, xlabel="day", title=title, margins=(0.85, 2.0, 0.45, 0.55))
    rows = {id: n for n, id in enumerate(ids)}
    for known, look, name in ((True, 2, "known"), (False, 1, "missed")):
        found = [(day, rows[id]) for day, id, knew, _ in log if knew is known]
        style = line(look) | {"linestyle": "none", "markersize": 8, "marker": "o" if known else "X"}
        ax.plot(*zip(*found), label=f"{name} ({len(found)})", **style)
    last = {id: box for _, id, _, box in log}
    for id, n in rows.items():
        ax.text(29, n, f"box {last[id]}", va="center", size=8.5, color=INK)
    ax.set(xlim=(0, 28.6), ylim=(len(ids) - 0.4, -0.6), xticks=(1, 7, 14, 21, 28), yticks=range(len(ids)), yticklabels=ids)
    ax.legend(loc="upper left", bbox_to_anchor=(1.09, 1.02), frameon=False, handletextpad=0.2)
    return fig


def controls():
    return {"days": Slider("Days to study", 3, 28, 14, help="Days on which questions are asked; then comes a week without"),
            "first": Slider("Half-life at first", 0.5, 10.0, 3.0, 0.5, format=".1f", help="Days until half of what was read is gone"),
            "gain": Slider("Gain", 1.0, 4.0, 2.5, 0.25, help="How much longer it lasts each time it was said")}


def view(days, first, gain):
    """(what is known day by day, the plans in numbers)"""
    plans = compared(days, first, gain, REST)
    end = days + REST
    fig, ax = figure(7.4, 3.3, xlabel="day", ylabel="known, %", margins=(0.8, 1.75, 0.45, 0.6),
                     title=f"Spaced: {_share(plans['spaced'])} of the questions, {plans['spaced'].known[end]:.0%} known on day {end}")
    for i, (name, plan) in enumerate(plans.items()):
        ax.plot([100 * known for known in plan.known], label=name, markevery=5, **line((6, 1, 0, 4)[i]))
    ax.axvline(days, color=QUIET, linewidth=1, linestyle=":", label="last question")
    ax.set(xlim=(0, 35.5), ylim=(0, 103), xticks=(0, 7, 14, 21, 28, 35), yticks=(0, 50, 100))
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    said = "; ".join(f"<b>{name}</b> {sum(p.asked):,} asked, {p.known[end]:.0%} known" for name, p in plans.items())
    return fig, f"<p>On day {end}, a week after the last question: {said}.</p>"


def _share(plan):
    """How many questions a plan asks, as a share of asking all every day."""
    days = len(plan.asked) - REST
    return f"{sum(plan.asked) / (days * max(plan.asked)):.0%}"


def spoken(days, first, gain):
    plans = compared(days, first, gain, REST)
    return ("The share known, day by day, for four plans. A week after the last question: "
            + "; ".join(f"{name} {p.known[days + REST]:.0%} for {sum(p.asked):,} questions" for name, p in plans.items()) + ".")
