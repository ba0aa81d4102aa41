"""The pictures of notebook 03: what definitions are of the bill, and what readers do about a name that does not exist."""

from agentkit.intervals import wilson

from .figures import CARD, INK, figure, fill, line


def share_figure(share, all_steps=(3, 10, 30), most: int = 40):
    """share(tools, steps=...) as a curve for each length of a run."""
    fig, ax = figure(7.4, 3.2, xlabel="tools in the registry", ylabel="share of the input tokens",
                     title="In short runs with many tools, the definitions are most of the bill")
    for k, steps in enumerate(all_steps):
        ax.plot(range(1, most + 1), [100 * share(n, steps=steps) for n in range(1, most + 1)], label=f"{steps} steps", markevery=6, **line(k))
    ax.set(xlim=(0, most + 1), ylim=(0, 100), xticks=range(0, most + 1, 10), yticks=(0, 50, 100), yticklabels=("0 %", "50 %", "100 %"))
    ax.legend(loc="upper left")
    return fig


def ends_figure(ends: dict[str, dict[str, int]], order, readers: int = 240):
    """For each style of error, how many readers came to each end."""
    fig, ax = figure(7.4, 3.1, xlabel=f"readers (of {readers})")
    ax.set_title("The list helps most; a generous offer leads astray", pad=26, loc="left", weight="bold", size=11)
    start = [0] * len(ends)
    for end, look in zip(order, (2, 5, 6, 1)):
        counts = [found[end] for found in ends.values()]
        ax.barh(list(ends), counts, left=start, height=0.66, label=end, **fill(look))
        for k, (n, left) in enumerate(zip(counts, start)):
            if n >= 12:     # the number has room in its bar
                ax.text(left + n / 2, k, n, ha="center", va="center", color=INK, weight="bold",
                        bbox={"boxstyle": "round,pad=0.15", "facecolor": CARD, "edgecolor": "none"})
        start = [a + b for a, b in zip(start, counts)]
    low, high = zip(*(wilson(found["right"], readers) for found in ends.values()))
    ax.hlines([k + 0.25 for k in range(len(ends))], [readers * n for n in low], [readers * n for n in high], color=INK, linewidth=3,
              label="95 % interval")
    ax.set(xlim=(0, readers), ylim=(len(ends) - 0.4, -0.6), xticks=range(0, readers + 1, 60))
    ax.grid(False, axis="y")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.3, 0.99), ncols=5, frameon=False)
    return fig


def ends_words(ends: dict[str, dict[str, int]], order) -> str:
    """The same for who cannot see it."""
    return ("One bar a style of error, its parts the ends of 240 readers: "
            + "; ".join(f"{style}: " + ", ".join(f"{end} {found[end]}" for end in order) for style, found in ends.items()))


def bill_figure(parts: dict[str, tuple[int, float]], each: int, messages: list[int]):
    """What every step of a run sends: the definitions (`each` tokens) below, the message list above."""
    (fixed, fixed_usd), (rest, rest_usd) = parts.values()
    fig, ax = figure(7.4, 3.2, xlabel="step", ylabel="input tokens", margins=(0.9, 0.25, 0.45, 0.6),
                     title=f"{fixed_usd:.4f} of {fixed_usd + rest_usd:.4f} USD are definitions ({fixed / (fixed + rest):.0%})")
    edges = [step + 0.5 for step in range(len(messages) + 1)]   # stairs are drawn in half the time of bars
    ax.stairs([each] * len(messages), edges, fill=True, label="definitions", **fill(1))
    ax.stairs([each + tokens for tokens in messages], edges, baseline=each, fill=True, label="message list", **fill(0))
    ax.set(xlim=(0.3, 20.7), ylim=(0, 14_000), xticks=(1, 5, 10, 15, 20), yticks=(0, 5_000, 10_000))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.grid(False, axis="x")
    ax.legend(loc="upper left")
    return fig
