"""The pictures of notebook 12, and its lab over kinds of memory."""

from matplotlib.patches import Patch

from . import memory_world as world
from .controls import Choice, Slider
from .figures import CARD, COLOURS, INK, QUIET, figure, fill

MOST = 40           # facts on the lab's axis
TOP = 150           # thousand tokens, on the lab's axis


def sent_of(journal, total: int) -> list[tuple[list[int], bool]]:
    """For each model call of a run: the places of the messages that it was sent, and whether a note stood among them."""
    views = {e["step"]: e["sent"] for e in journal.of("view")}
    found, length = [], total - 1
    replies = journal.of("reply")
    lengths = [length - 2 * (len(replies) - 1 - i) for i in range(len(replies))]
    for event, n in zip(replies, lengths):
        sent = views.get(event["step"], list(range(n)))
        found.append(([i for i in sent if isinstance(i, int)], any(not isinstance(i, int) for i in sent)))
    return found


def sent_figure(calls: list[tuple[list[int], bool]], tokens: list[int], window: int, title: str):
    """Above, which messages of the list each call was sent; below, how many tokens that is."""
    fig, (top, low) = figure(7.4, 4.9, rows=2, sharex=True, title=title, margins=(0.75, 1.5, 0.55, 0.55),
                             gridspec_kw={"height_ratios": (2.4, 1), "hspace": 0.12})
    for x, (places, note) in enumerate(calls, 1):
        head, steps = [p for p in places if p < 2], [p for p in places if p > 1]
        top.plot([x] * len(head), head, linestyle="", marker="s", markersize=6.5, color=COLOURS[0])
        top.plot([x] * len(steps), steps, linestyle="", marker="o", markersize=5, color=COLOURS[2])
        if note:
            top.plot([x], [steps[0] - 1.4 if steps else 3], linestyle="", marker="D", markersize=6, color=COLOURS[1])
    count = len(calls)
    last = max(calls[-1][0])
    top.set(ylim=(last + 1.5, -1.5), ylabel="message of the list", xlim=(0.3, count + 0.7))
    for y, marker, i, text in ((0.5, "s", 0, "system, task"), (last * 0.45, "D", 1, "the note"), (last * 0.8, "o", 2, "the last steps")):
        top.plot([1.04], [1 - (y + 1.5) / (last + 3)], marker=marker, color=COLOURS[i], markersize=7, clip_on=False, transform=top.transAxes, linestyle="")
        top.text(1.07, 1 - (y + 1.5) / (last + 3), text, transform=top.transAxes, va="center", size=9)
    low.bar(range(1, count + 1), tokens, width=0.62, **fill(6))
    low.axhline(window, color=COLOURS[1], linestyle="--", linewidth=1.6)
    low.text(count + 0.85, window, "upper mark", va="center", size=9)
    low.set(ylim=(0, window * 1.25), ylabel="tokens", xlabel="model call", xticks=range(1, count + 1, 2))
    return fig


def recall_figure(results: list, window: int, title: str):
    """Which facts each kind of memory still knows, the oldest first; beside it, the tokens that it was sent."""
    fig, (left, right) = figure(8.2, 3.7, columns=2, title=title, margins=(1.0, 0.4, 0.7, 0.62), gridspec_kw={"width_ratios": (2.5, 1), "wspace": 0.34})
    _strips(left, results, len(results[0].found), window)
    names = range(len(results))
    reading, asking = [r.run_tokens / 1000 for r in results], [r.question_tokens / 1000 for r in results]
    right.barh(names, reading, height=0.6, **fill(0))
    right.barh(names, asking, left=reading, height=0.6, **fill(1))
    right.set(yticks=[], ylim=(len(results) - 0.4, -0.6), xlabel="thousand tokens sent")
    right.legend(handles=[Patch(**fill(0), label="reading"), Patch(**fill(1), label="questions")], loc="upper center", bbox_to_anchor=(0.45, 1.17), ncols=2,
                 frameon=False, fontsize=8.5, columnspacing=1, handlelength=1.4)
    return fig


def _strips(ax, results, columns, window):
    for y, r in enumerate(results):
        start = columns - len(r.found) + 1
        known = [start + i for i, f in enumerate(r.found) if f]
        lost = [start + i for i, f in enumerate(r.found) if not f]
        ax.plot(known, [y] * len(known), linestyle="", marker="s", markersize=5, color=COLOURS[2])
        ax.plot(lost, [y] * len(lost), linestyle="", marker="o", markersize=4.6, markerfacecolor=CARD, markeredgecolor=QUIET, color=QUIET)
        ax.text(columns + 1.2, y, f"{sum(r.found)} of {len(r.found)}", va="center", size=9, color=INK)
    ax.set(yticks=range(len(results)), yticklabels=[r.kind + ("\n(too long)" if r.largest > window else "") for r in results], ylim=(len(results) - 0.4, -0.6), xlim=(0, columns + 0.8), xticks=[])
    ax.grid(False)
    ax.set_xlabel("facts: the oldest on the left, the newest on the right")
    ax.set_title("■ answered   ○ not known any more", size=9, weight="normal", loc="left", y=1.0)


# ---- the lab -------------------------------------------------------------------------------------------------------------

def lab_controls() -> dict:
    """The controls of the lab; the names are the settings of memory_world.measure()."""
    return {
        "kind": Choice("Memory", list(world.KINDS[1:]), "files", "What stands in for the steps that no longer fit"),
        "window": Slider("Window, tokens", 700, 2500, 1000, 100, "The most that one call may be sent"),
        "keep": Slider("Steps kept", 1, 8, 3, 1, "The last steps that compaction keeps whole while they fit"),
        "facts": Slider("Facts", 8, MOST, 36, 4, "Tickets that are read, with one fact each"),
    }


def lab_view(**settings):
    """The chosen kind beside the whole list: facts that are known, tokens that were sent."""
    mine, whole = world.measure(**settings), world.measure("whole list", facts=settings["facts"])
    fig, (left, right) = figure(8.2, 2.35, columns=2, margins=(1.0, 0.4, 0.7, 0.62), gridspec_kw={"width_ratios": (2.5, 1), "wspace": 0.34},
                                title=f"{settings['kind']}: {sum(mine.found)} of {len(mine.found)} facts for {_thousand(mine)} thousand tokens")
    _strips(left, [whole, mine], MOST, settings["window"])
    for y, r in enumerate((whole, mine)):
        right.barh(y, r.run_tokens / 1000, height=0.55, **fill(0))
        right.barh(y, r.question_tokens / 1000, left=r.run_tokens / 1000, height=0.55, **fill(1))
    right.set(yticks=[], ylim=(1.6, -0.6), xlim=(0, TOP), xticks=(0, 50, 100, 150), xlabel="thousand tokens sent")
    right.set_title("reading, then questions", size=9, weight="normal", loc="left", y=1.0)
    fits = "it does not fit into this window" if whole.largest > settings["window"] else "it fits into this window as well"
    over = f", more than the window of {settings['window']:,}" if mine.largest > settings["window"] else f" of {settings['window']:,}"
    return fig, f"<p>The largest call took {mine.largest:,} tokens{over}. The whole list takes {whole.largest:,}: {fits}.</p>"


def _thousand(r) -> str:
    return f"{(r.run_tokens + r.question_tokens) / 1000:.0f}"


def spoken(**settings) -> str:
    mine, whole = world.measure(**settings), world.measure("whole list", facts=settings["facts"])
    lost = [i for i, f in enumerate(mine.found, 1) if not f]
    return (f"{settings['kind']} with a window of {settings['window']:,} tokens answers {sum(mine.found)} of {len(mine.found)} questions for {_thousand(mine)} thousand "
            f"tokens; the whole list answers all for {_thousand(whole)} thousand. "
            + (f"Not known: facts number {', '.join(map(str, lost))}, counted from the oldest." if lost else "Nothing is lost."))
