"""The pictures of notebook 18, and its lab over author, critic and the number of reviews. What they draw is computed in critics.py."""

from functools import lru_cache

from agentkit.intervals import wilson

from .controls import Slider
from .critics import Odds, expect, simulate
from .figures import CARD, INK, QUIET, figure, fill, line

MOST, TASKS = 8, 400        # reviews on the lab's axis; tasks behind each of its marks


def drafts_figure(met: list[int], of: int, tokens: list[int], title: str):
    """Criteria met by each draft, the best marked; and the tokens spent so far."""
    fig, (left, right) = figure(7.8, 2.9, columns=2, title=title, xlabel="draft", margins=(0.65, 0.25, 0.75, 0.58), gridspec_kw={"wspace": 0.25})
    n, best = range(1, len(met) + 1), met.index(max(met))
    left.bar(n, met, width=0.75, **{**fill(5), "hatch": ""})        # too narrow for a hatch; the best alone has one
    left.bar([best + 1], [met[best]], width=0.75, **fill(2))
    left.axhline(of, color=INK, linestyle="--", linewidth=1.3, marker="")
    left.text(len(met) + 0.4, of + 0.18, "passes", ha="right", size=9)
    left.text(best + 1, met[best] + 0.1, "best", ha="center", size=9, weight="bold")
    left.set(ylim=(0, of + 0.7), yticks=range(of + 1))
    left.set_title("criteria met", size=9.5, weight="normal", loc="left", y=1.0)
    right.plot(n, [t / 1000 for t in tokens], **{**line(0), "marker": ""})
    right.set(ylim=(0, None))
    right.set_title("thousand tokens so far", size=9.5, weight="normal", loc="left", y=1.0)
    return fig


def buys_figure(critics: dict, k: int, title: str, tasks: int = 2_000):
    """Good answers over the reviews allowed, {name: Odds}: lines are the formula, marks the simulation with its interval; and the calls."""
    fig, (left, right) = figure(8.2, 3.3, columns=2, title=title, xlabel="reviews allowed", margins=(0.65, 0.25, 0.75, 0.58), gridspec_kw={"wspace": 0.2})
    allowed = range(1, k + 1)
    for i, (name, odds) in enumerate(critics.items()):
        left.plot([0, *allowed], [100 * expect(odds, j).success for j in (0, *allowed)], label=name, **{**line(i), "markevery": [0]})
        for j in allowed:
            seen = simulate(odds, j, tasks, seed=100 * i + j)
            low, high = wilson(seen.success, tasks)
            left.plot((j, j), (100 * low, 100 * high), color=INK, linestyle="-", marker="_", markersize=5, linewidth=1.2)
            left.plot(j, 100 * seen.success / tasks, color=line(i)["color"], marker=line(i)["marker"], linestyle="", markersize=4)
        calls = [1, *(2 * expect(odds, j).reviews for j in allowed)]
        right.plot([0, *allowed], calls, **{**line(i), "markersize": 4})
    left.legend(loc="lower right", fontsize=8.5, framealpha=0.9)
    left.set(ylim=(0, 104), xlim=(-0.3, k + 0.3))
    right.set(ylim=(0, 5), xlim=(-0.3, k + 0.3))
    left.set_title("good answers, %", size=9.5, weight="normal", loc="left", y=1.0)
    right.set_title("model calls a task", size=9.5, weight="normal", loc="left", y=1.0)
    return fig


PARTS = (("good, passed", "good", 2), ("good, not passed", "good_unpassed", 5), ("bad, not passed", "bad_unpassed", 4), ("bad, PASSED", "bad_passed", 1))


# ---- the lab -------------------------------------------------------------------------------------------------------------

def lab_controls() -> dict:
    """The controls of the lab; the names are the settings of lab_view()."""
    return {
        "miss": Slider("Critic misses", 0.0, 1.0, 0.2, 0.05, "The share of the bad drafts that it passes"),
        "alarm": Slider("False alarms", 0.0, 1.0, 0.1, 0.05, "The share of the good drafts that it refuses"),
        "first": Slider("First draft good", 0.05, 0.95, 0.5, 0.05, "How often the first draft is good"),
        "again": Slider("Later draft good", 0.05, 0.95, 0.5, 0.05, "How often a draft is good that was written after a review"),
        "k": Slider("Reviews allowed", 1, MOST, 3, 1, "max_reviews"),
    }


@lru_cache(maxsize=512)
def counted(odds: Odds) -> tuple:
    """Simulated shares of good answers for 2, 4, 6, 8 reviews."""
    return tuple((k, 100 * simulate(odds, k, TASKS, seed=k).success / TASKS) for k in range(2, MOST + 1, 2))


def lab_view(miss: float, alarm: float, first: float, again: float, k: int):
    """Good answers over k, the four ends of a task at this k, and the numbers as HTML."""
    odds = Odds(first, again, miss, alarm)
    ends, coin = expect(odds, k), Odds(first, again, 0.5, 0.5)
    gain = 100 * (ends.success - first)
    fig, (left, right) = figure(8.2, 3.2, columns=2, margins=(0.65, 0.25, 0.75, 0.58), gridspec_kw={"width_ratios": (3, 2), "wspace": 0.2},
                                title=f"{k} review{'' if k == 1 else 's'}: {ends.success:.0%} good, {gain:+.0f} points for {2 * ends.reviews - 1:.1f} more calls")
    ks = range(MOST + 1)
    for i, (one, width) in enumerate(((odds, 2.2), (coin, 1.4), (Odds(first, again), 1.4))):
        left.plot(ks, [100 * expect(one, j).success for j in ks], color=line(i)["color"], linestyle=line(i)["linestyle"], marker="", linewidth=width,
                  label=("this critic", "a coin", "a sure critic")[i])
    left.plot(*zip(*counted(odds)), linestyle="", marker="o", color=INK, markersize=4)
    left.axvline(k, color=QUIET, linestyle=":", linewidth=1.4, marker="")
    left.set(xlim=(-0.2, MOST + 0.2), ylim=(0, 104), yticks=(0, 50, 100), xticks=(0, 2, 4, 6, 8), xlabel="reviews allowed")
    left.set_title("good answers, %", size=9.5, weight="normal", loc="left", y=1.0)
    left.legend(loc="lower right", fontsize=8.5, ncols=3, framealpha=0.85)
    shares = [100 * getattr(ends, field) for _, field, _ in PARTS]
    for y, ((name, _, look), share) in enumerate(zip(PARTS, shares)):
        right.barh(y, share, height=0.62, **fill(look))
        right.text(3, y, f"{name}: {share:.0f}", va="center", size=9, color=INK, bbox={"boxstyle": "square,pad=0.12", "facecolor": CARD, "edgecolor": "none"})
    right.set(xlim=(0, 100), ylim=(3.6, -0.6), xticks=(0, 50, 100), yticks=(), xlabel="of 100 answers")
    right.set_title(f"after at most {k}", size=9.5, weight="normal", loc="left", y=1.0)
    right.grid(False)
    sure = ends.good / (ends.good + ends.bad_passed) if ends.good + ends.bad_passed else 0.0
    return fig, (f"<p>Of the drafts that pass, <b>{sure:.0%}</b> are good. Without any review {first:.0%} of the answers are good, for one call; "
                 f"now <b>{ends.success:.0%}</b>, for {2 * ends.reviews:.1f} calls.</p>")
