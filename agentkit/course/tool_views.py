"""The pictures of notebook 02: five rules broken and kept, and which tool gets picked."""

from agentkit.intervals import wilson

from .figures import INK, figure, fill, line


def rules_figure(score: dict[str, tuple[int, int]], readers: int = 240):
    """For each rule, how many readers came to the right end with it broken and with it kept."""
    fig, ax = figure(7.4, 3.4, xlabel=f"readers that came to the right end (of {readers}), with 95 % interval",
                     title="Every rule kept brings more readers to the right end")
    for k, name in enumerate(("broken", "kept")):
        counts = [pair[k] for pair in score.values()]
        spans = [wilson(n, readers) for n in counts]
        around = [[n - readers * low for n, (low, _) in zip(counts, spans)], [readers * high - n for n, (_, high) in zip(counts, spans)]]
        ax.errorbar(counts, range(len(counts)), xerr=around, capsize=4, label=name, **line(k) | {"linestyle": "none", "markersize": 8})
    ax.set(yticks=range(len(score)), yticklabels=score, xlim=(0, readers + 5), ylim=(len(score) - 0.4, -0.6), xticks=range(0, readers + 1, 60))
    ax.legend(loc="upper left")
    return fig


def rules_words(score: dict[str, tuple[int, int]], readers: int = 240) -> str:
    """The same for who cannot see it."""
    return ("Five rows, one a rule, each with a point for the rule broken and one for it kept: "
            + "; ".join(f"{rule} {broken} and {kept} of {readers}" for rule, (broken, kept) in score.items()))


def picks_figure(found: dict[str, list[int]], readers: int = 80):
    """For each tool, how many of its readers pick it, another of the three, or a lookalike."""
    fig, ax = figure(7.4, 3.0, xlabel=f"readers ({readers} for each tool)", margins=(1.25, 0.3, 0.85, 0.6))
    right = [numbers[0] for numbers in found.values()]
    ax.set_title(f"{sum(right)} of {readers * len(found)} readers pick the right tool", pad=28, loc="left", weight="bold", size=11)
    start = [0] * len(found)
    for look, part in enumerate(("right", "another of the three", "a lookalike")):
        counts = [numbers[look] for numbers in found.values()]
        ax.barh(list(found), counts, left=start, label=part, height=0.6, **fill((2, 1, 4)[look]))
        start = [a + b for a, b in zip(start, counts)]
    low, high = zip(*(wilson(n, readers) for n in right))
    ax.hlines(range(len(found)), [readers * end for end in low], [readers * end for end in high], color=INK, linewidth=3, label="95 % interval")
    ax.set(xlim=(0, readers), ylim=(len(found) - 0.4, -0.6), xticks=range(0, readers + 1, 20))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 0.99), ncols=4, frameon=False)
    return fig
