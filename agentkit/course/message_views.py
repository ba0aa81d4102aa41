"""The pictures of notebook 01: whose words fill the list, what sending it again costs, and a count by characters."""

from textwrap import shorten

from .figures import INK, QUIET, figure, fill

LOOK = {"system": 6, "user": 5, "assistant": 1, "tool": 2}      # a colour and a hatch for each role


def list_figure(messages: list[dict], texts, tokens_of):
    """One bar a message, as long as its tokens, with its first words."""
    wrote = {role: sum(tokens_of(m) for m in messages if m["role"] == role) for role in LOOK}
    fig, ax = figure(7.4, 3.3, xlabel="tokens",
                     title=f"The model wrote {wrote['assistant']} of the {sum(wrote.values())} tokens, the tools {wrote['tool']}")
    for i, m in enumerate(messages):
        ax.barh(i, tokens_of(m), height=0.7, **fill(LOOK[m["role"]]))
        ax.text(tokens_of(m) + 0.4, i, f"{tokens_of(m)}  {shorten(''.join(texts(m)), 46, placeholder=' ...')}", va="center", color=INK)
    ax.set(xlim=(0, 60), ylim=(len(messages) - 0.4, -0.6), xticks=range(0, 61, 20), yticks=range(len(messages)),
           yticklabels=[f"{i}  {m['role']}" for i, m in enumerate(messages)])
    ax.grid(axis="y", visible=False)
    return fig


def bill_figure(messages: list[dict], definitions: int, tokens_of):
    """What each call was sent, by author, beside the final list and the sum of the calls."""
    def layers(upto):
        return [definitions] + [sum(tokens_of(m) for m in messages[:upto] if m["role"] == role) for role in LOOK]

    calls = [layers(i) for i, m in enumerate(messages) if m["role"] == "assistant"]
    final, bill = layers(None), [sum(layer) for layer in zip(*calls)]
    columns, places = calls + [final, bill], [*range(len(calls)), len(calls) + 0.6, len(calls) + 1.6]
    fig, ax = figure(7.4, 3.6, ylabel="tokens",
                     title=f"A list of {sum(final)} tokens, a bill of {sum(bill):,}: {bill[0] / sum(bill):.0%} of it tool definitions")
    bottom = [0] * len(columns)
    for k, (name, look) in enumerate({"tool definitions": 0, **LOOK}.items()):
        heights = [column[k] for column in columns]
        ax.bar(places, heights, bottom=bottom, label=name, width=0.75, **fill(look))
        bottom = [b + h for b, h in zip(bottom, heights)]
    for x, total in zip(places, bottom):
        ax.text(x, total + 15, f"{total:,}", ha="center", color=INK)
    ax.set(ylim=(0, 1.12 * max(bottom)), xticks=places, xticklabels=[*(f"call {k + 1}" for k in range(len(calls))), "final list", "the bill"])
    ax.yaxis.set_major_locator(_every(500))
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left")
    return fig


def errors_figure(counted: dict[str, tuple[int, int]]):
    """How far characters / 4 is off; `counted` maps a kind of text to (tokens, characters / 4)."""
    errors = {name: 100 * (rough - exact) / exact for name, (exact, rough) in counted.items()}
    fig, ax = figure(7.4, 3.2, xlabel="error of characters / 4, in percent",
                     title=f"Near for English, up to {-min(errors.values()):.0f} % short elsewhere")
    for k, (name, error) in enumerate(errors.items()):
        ax.barh(k, error, height=0.7, **fill(1 if error < 0 else 0))
        exact, rough = counted[name]
        ax.text(error + (1 if error >= 0 else -1), k, f"{error:+.0f} %  ({rough} for {exact})", va="center",
                ha="left" if error >= 0 else "right", color=INK)
    ax.axvline(0, color=INK, linewidth=1)
    ax.set(xlim=(-120, 60), xticks=(-100, -50, 0, 50), yticks=range(len(errors)), yticklabels=list(errors))
    ax.text(-3, 0, "counts too few  ←", va="center", ha="right", color=QUIET)
    ax.invert_yaxis()
    ax.grid(axis="y", visible=False)
    return fig


def run_figure(sizes: list[int], base: int):
    """A run that has not happened: what each call sends, the part that never changes below."""
    fig, ax = figure(7.4, 3.2, xlabel="call", ylabel="tokens sent", margins=(0.9, 0.25, 0.45, 0.6),
                     title=f"The last call sends {sizes[-1]:,} tokens; the run pays for {sum(sizes):,}")
    edges = [call + 0.5 for call in range(len(sizes) + 1)]      # stairs are drawn in half the time of bars
    ax.stairs([base] * len(sizes), edges, fill=True, label="base, again in each call", **fill(0))
    ax.stairs(sizes, edges, baseline=base, fill=True, label="growth so far", **fill(1))
    ax.set(xlim=(0.4, 20.6), ylim=(0, 22_000), xticks=(1, 5, 10, 15, 20), yticks=(0, 5_000, 10_000, 15_000, 20_000))
    ax.yaxis.set_major_formatter("{x:,.0f}")
    ax.grid(axis="x", visible=False)
    ax.legend(loc="upper left")
    return fig


def _every(step):
    from matplotlib.ticker import MultipleLocator
    return MultipleLocator(step)
