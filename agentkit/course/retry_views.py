"""The pictures of notebook 10, and its lab over a crowd that retries."""

from .controls import Slider, Switch
from .crowd import Crowd, crowd, per_second
from .figures import CARD, COLOURS, GRID, INK, QUIET, figure, fill, line

SECONDS = 30        # on the lab's axes
TOP = 600           # requests in a second, on the lab's axes


def lost_figure():
    """Two ways a call is lost, side by side: before it arrives, and on the way back."""
    fig, axes = figure(7.4, 2.5, columns=2, margins=(0.15, 0.15, 0.68, 0.12), gridspec_kw={"wspace": 0.06},
                       title="The caller sees the same: nothing within 5 s. The bank does not")
    for ax, title, there, back, ledger in ((axes[0], "the request is lost", False, False, "nothing paid"),
                                           (axes[1], "the answer is lost", True, False, "14,000 paid")):
        ax.set_title(title, size=10, weight="bold", y=1.0)
        ax.set(xlim=(0, 10), ylim=(0, 4))
        _bare(ax)
        for x, name, said in ((1.5, "you", "time-out"), (8.5, "bank", ledger)):
            dark = name == "bank" and there
            ax.text(x, 3.3, name, ha="center", va="center", weight="bold", color=INK)
            ax.plot((x, x), (0.9, 2.95), color=QUIET, linewidth=1.2, linestyle="-", marker="")
            ax.text(x, 0.45, said, ha="center", va="center", size=9.5, color=CARD if dark else INK, weight="bold" if dark else "normal",
                    bbox={"boxstyle": "round,pad=0.3", "facecolor": COLOURS[1] if dark else CARD, "edgecolor": INK if dark else GRID})
        _arrow(ax, 1.6, 8.4, 2.5, "pay 14,000 for B456", there)
        if there:
            _arrow(ax, 8.4, 1.6, 1.5, "paid", back)
    return fig


def _arrow(ax, start, end, y, label, arrives):
    stop = end if arrives else start + 0.75 * (end - start)
    ax.annotate("", (stop, y), (start, y), arrowprops={"arrowstyle": "->" if arrives else "-", "color": COLOURS[0], "linewidth": 2,
                                                       "linestyle": "-" if arrives else (0, (4, 2))})
    ax.text((start + stop) / 2, y + 0.14, label, ha="center", va="bottom", size=9.5, color=INK)
    if not arrives:
        ax.plot(stop, y, marker="x", color=COLOURS[1], markersize=11, markeredgewidth=3)


def waits_figure(waits: dict[str, list[list[float]]], cap: float, title: str):
    """Waits before each further attempt, one panel a case: {name: for each attempt, the waits of many clients}."""
    fig, axes = figure(7.6, 3.1, columns=len(waits), sharey=True, title=title, margins=(0.72, 0.2, 0.68, 0.58), gridspec_kw={"wspace": 0.1})
    for i, (ax, (name, columns)) in enumerate(zip(axes, waits.items())):
        for attempt, drawn in enumerate(columns, 1):
            spread = [attempt - 0.3 + 0.6 * k / max(1, len(drawn) - 1) for k in range(len(drawn))]
            ax.plot(spread, drawn, linestyle="", marker=line(i)["marker"], markersize=2.6, color=COLOURS[i], alpha=0.8)
            ax.plot((attempt - 0.38, attempt + 0.38), (min(drawn),) * 2, color=INK, linewidth=2, linestyle="-", marker="")
        ax.axhline(cap, color=QUIET, linestyle="--", linewidth=1.2)
        ax.text(0.5, cap * 1.03, f"cap {cap:g} s", size=8.5, color=INK, va="bottom")
        ax.set_title(name, size=9.5, weight="normal", loc="left", y=1.0)
        ax.set(xlabel="after attempt", xticks=range(1, len(columns) + 1), xlim=(0.4, len(columns) + 0.6), ylim=(0, 2.15 * cap))
    axes[0].set_ylabel("seconds to wait")
    return fig


def crowds_figure(crowds: dict[str, Crowd], seconds: int, title: str):
    """Crowds one above the other: the requests of each second; and below them who is answered when."""
    top = 1.1 * max(max(per_second(one.sent).values()) for one in crowds.values())
    fig, axes = figure(7.6, 5.4, rows=len(crowds) + 1, sharex=True, title=title, margins=(0.78, 1.35, 0.66, 0.58), gridspec_kw={"hspace": 0.4})
    last = axes[-1]
    for i, (ax, (name, one)) in enumerate(zip(axes, crowds.items())):
        _requests(ax, one, i, seconds, top)
        ax.text(seconds * 1.02, one.capacity, f"capacity,\n{one.capacity:g} / s", size=8.5, va="center", color=INK)
        ax.set_title(f"{name}: {len(one.sent):,} requests", size=9.5, weight="normal", loc="left", y=1.0)
        ax.set_ylabel("requests / s")
        _answers(last, one, i, seconds)
        last.text(seconds * 1.02, len(one.finished), f"{name},\n{len(one.finished)}", size=8.5, va="center", color=INK)
    last.set(ylim=(0, 1.1 * max(len(one.finished) + one.gave_up for one in crowds.values())), ylabel="answered", xlabel="seconds, on the simulated clock")
    last.set_title("answered so far", size=9.5, weight="normal", loc="left", y=1.0)
    return fig


def _requests(ax, one, i, seconds, top):
    counts = per_second(one.sent)
    ax.stairs([min(counts[s], top) for s in range(seconds)], range(seconds + 1), fill=True, **fill(i))     # one shape: quick to draw
    ax.axhline(one.capacity, color=INK, linestyle="--", linewidth=1.3)
    ax.set(xlim=(0, seconds), ylim=(0, top))
    return counts


def _answers(ax, one, i, seconds, **looks):
    times = [t for t in one.finished if t <= seconds]
    ax.plot([0, *times, seconds], [0, *range(1, len(times) + 1), len(times)], **{**line(i), "markevery": [-1], "clip_on": False, **looks})


def _bare(ax):
    ax.set(xticks=[], yticks=[])
    ax.grid(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


# ---- the lab -------------------------------------------------------------------------------------------------------------

def lab_controls() -> dict:
    """The controls of the lab; the names are the settings of crowd()."""
    return {
        "clients": Slider("Clients", 50, 500, 500, 50, "All send their first request within a fifth of a second"),
        "capacity": Slider("Capacity, per second", 10, 100, 50, 10, "Requests that the server works off in a second"),
        "base": Slider("Base delay, s", 0.25, 4.0, 1.0, 0.25, "The wait after the first refusal; it doubles each time"),
        "attempts": Slider("Attempts", 1, 8, 4, 1, "In all, the first one included"),
        "asked": Slider("Retry-After, s", 0, 10, 0, 1, "What the server asks everybody to wait; 0 is nothing"),
        "jitter": Switch("Jitter", False, "Up to as much again, by chance"),
    }


def lab_view(**settings):
    """The requests of each second, with the other jitter as an outline; and a sentence as HTML. One axes: it is quick to draw."""
    i = int(settings["jitter"])
    mine, other = crowd(**settings), crowd(**{**settings, "jitter": not settings["jitter"]})
    names = ("without jitter", "with jitter")
    fig, ax = figure(7.6, 2.9, xlabel=f"seconds (filled: {names[i]}; dotted: {names[1 - i]})", ylabel="requests / s", margins=(0.78, 1.0, 0.45, 0.58),
                     title=f"{len(mine.finished)} of {settings['clients']} answered with {len(mine.sent):,} requests, {mine.gave_up} gave up")
    counts, others = _requests(ax, mine, i, SECONDS, TOP), per_second(other.sent)
    ax.stairs([min(others[s], TOP) for s in range(SECONDS)], range(SECONDS + 1), color=INK, linewidth=1.2, linestyle=":")
    ax.set(xticks=(0, 10, 20, 30), yticks=(0, 200, 400, 600))       # few ticks: each takes its time in every picture
    for second, n in counts.items():
        if n > TOP and second < SECONDS:
            ax.text(second + 1.3, TOP * 0.97, f"{n:,}", size=8.5, va="top", color=INK)
    ax.text(SECONDS * 1.02, mine.capacity, f"capacity,\n{mine.capacity:g} / s", size=8.5, va="center", color=INK)
    least = settings["clients"] / settings["capacity"]
    return fig, (f"<p>The server needs at least {least:.0f} s for this crowd. It was busy {mine.busy:.0%} of the time up to its last answer, at "
                 f"{mine.finished[-1]:.1f} s ({names[1 - i]}: {len(other.finished)} answered, the last at {other.finished[-1]:.1f} s).</p>")
