"""The pictures of notebook 06, and its lab over every limit at once."""

from dataclasses import dataclass
from functools import lru_cache
from html import escape

import ipywidgets as widgets

from agentkit import Price
from agentkit.tokens import rough_tokens

from .controls import Choice, Slider
from .exits import FOR_EVER, STAND_INS, observe, only
from .figures import CARD, COLOURS, INK, QUIET, figure, fill, line

NO_LIMIT = "no limit"


def bill_figure(bill: list[float], marks=(10, 100, 1000)):
    """What a run has cost after each step."""
    fig, ax = figure(7.4, 2.6, xlabel="step", ylabel="USD so far", title=f"Nobody says stop: {bill[-1]:.2f} USD, and no answer")
    ax.plot(range(1, len(bill) + 1), bill, color=COLOURS[1], linestyle="-", marker="", linewidth=2.5)
    for n, (right, up) in zip(marks, ((4, 48), (10, 28), (-10, -2))):
        ax.plot(n, bill[n - 1], "o", color=INK, clip_on=False, zorder=3)
        ax.annotate(f"step {n:,}: {bill[n - 1]:.2f} USD", (n, bill[n - 1]), (right, up), textcoords="offset points", color=INK,
                    ha="left" if right > 0 else "right", arrowprops={"arrowstyle": "-", "color": QUIET, "linewidth": 0.8} if right > 0 else None)
    ax.set(xlim=(-10, len(bill) + 15), ylim=(0, bill[-1] * 1.12))
    return fig


def matrix_figure(cells: dict[tuple[str, str], str], title: str):
    """A table of verdicts: light where all is well, orange where a run got through too much, dark where nothing stopped it.

    The last column stands apart: it is the one with all limits together.
    """
    names, columns = list(dict.fromkeys(n for n, _ in cells)), list(dict.fromkeys(c for _, c in cells))
    fig, ax = figure(7.9, 0.34 * len(names) + 1.3, margins=(0.95, 0.15, 1.12, 0.15))
    fig.text(0.02, 0.955, title, weight="bold", size=11, va="top", color=INK)
    places = [x + 0.25 * (x == len(columns) - 1) for x in range(len(columns))]
    for (name, column), text in cells.items():
        y, x, fine = names.index(name), places[columns.index(column)], text == "done" or text.startswith("step")
        dark = text in (FOR_EVER, "cut off")
        ax.barh(y, 0.94, left=x + 0.03, height=0.86, color="#3D3D3D" if dark else "#DCEBE3" if fine else "#F5C98A")
        ax.text(x + 0.5, y, text, ha="center", va="center", size=7.5, color=CARD if dark else INK, weight="normal" if fine else "bold")
    ax.set(xlim=(0, places[-1] + 1), ylim=(len(names) - 0.45, -0.55), xticks=[x + 0.5 for x in places], yticks=range(len(names)))
    ax.set_xticklabels([c.replace("_", "_\n", 1).replace(" ", "\n") for c in columns], size=8)
    ax.set_yticklabels(names)
    ax.xaxis.tick_top()
    _bare(ax)
    return fig


def overshoot_figure(over: dict[str, list[int]], title: str, wide: int = 100):
    """How far over the budget the runs of each kind end: one row of bars each, on one scale."""
    fig, axes = figure(7.4, 4.4, rows=len(over), columns=1, sharex=True, title=title, margins=(0.65, 0.25, 0.75, 0.55), gridspec_kw={"hspace": 0.55})
    bins = range(min(map(min, over.values())) // wide * wide, (max(map(max, over.values())) // wide + 2) * wide, wide)
    for i, (ax, (kind, values)) in enumerate(zip(axes, over.items())):
        counts, _, _ = ax.hist(values, bins=bins, **fill(i))
        ax.axvline(0, color=INK, linestyle="--", linewidth=1.5)
        late = sum(v > 0 for v in values)
        ax.set_title(f"{kind}: {late} of {len(values)} runs over" + (f", the worst by {max(values):,} tokens" if late else ""),
                     size=9.5, weight="normal", loc="left", y=1.0)
        ax.set(ylabel="runs", ylim=(0, max(counts) * 1.15))
        ax.xaxis.set_major_formatter("{x:,.0f}")
    axes[-1].set_xlabel("tokens over the budget when the run ended (left of the dashed line: not spent)")
    return fig


def choice_figure(panels, title: str):
    """Distributions of good runs, one panel each: (values, what they are, bin width, {name of a limit: value})."""
    fig, axes = figure(7.9, 3.2, rows=1, columns=len(panels), title=title, margins=(0.65, 0.25, 0.6, 0.55), gridspec_kw={"wspace": 0.25})
    for ax, (values, label, wide, limits) in zip(axes, panels):
        low = min(values) - (0 if wide > 1 else 0.5)
        bins = [low + wide * k for k in range(int((max([*values, *limits.values()]) - low) / wide) + 2)]
        counts, _, _ = ax.hist(values, bins=bins, label="good runs", **fill(0))
        for i, (name, at) in enumerate(limits.items()):
            ax.vlines(at + (0.5 if wide == 1 else 0), 0, max(counts), color=(COLOURS[1], INK)[i], linestyle=("--", "-.")[i], label=f"{name}: {at:,}")
        ax.set(xlabel=label, ylabel="runs" if ax is axes[0] else "", ylim=(0, max(counts) * 1.55))
        ax.xaxis.set_major_formatter("{x:,.0f}")
        ax.legend(loc="upper right", fontsize=8.5)
    return fig


def _bare(ax):
    """Leave the labels of the axes and take all else away."""
    ax.tick_params(length=0)
    ax.grid(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


# ---- the lab ---------------------------------------------------------------------------------------------------------

CHECKS = ("after the call", "before the call", "before, with a reserve")
RESERVE = 1_300
PLUG = 30                       # steps on the lab's axis


@dataclass(frozen=True)
class Scale:
    """A slider over words: numbers in order, and NO_LIMIT, which says so."""

    label: str
    options: tuple
    default: object
    help: str = ""

    def build(self):
        named = [(o if isinstance(o, str) else f"{o:,}", o) for o in self.options]
        control = widgets.SelectionSlider(options=named, value=self.default, continuous_update=True)
        return control, control

    def samples(self):
        return [self.options[0], self.options[-1], self.default]


@lru_cache(maxsize=8)       # the picture and its words ask for the same run
def lab_run(who, price=15, check=CHECKS[0], **limits):
    """One run of the lab: a stand-in, the price of output in USD per million tokens (input costs a fifth), and limits by name."""
    limits = {name: None if value == NO_LIMIT else value for name, value in limits.items()}
    reserve = RESERVE if check == CHECKS[2] else None
    count = None if check == CHECKS[0] else rough_tokens
    return observe(who, only(**limits, reserve=reserve), count=count, price=Price(price / 5, price), guard=PLUG)


RACE = (("max_steps", "steps", "steps", "step_limit", "{:,}"), ("max_tool_calls", "tool calls", "calls", "tool_call_limit", "{:,}"),
        ("budget_tokens", "tokens", "tokens", "token_budget", "{:,}"), ("budget_usd", "USD", "usd", "cost_budget", "{:.3f}"),
        ("max_seconds", "seconds", "seconds", "time_limit", "{:,.0f}"), ("max_repeats", "same again", "repeats", "repeated_call", "{:,}"),
        ("max_errors", "tool errors", "errors", "error_limit", "{:,}"))


def lab_view(**settings):
    """The picture of one run, every limit's share step by step, and its report as HTML."""
    used = lab_run(**settings)
    fig, ax = figure(7.9, 3.2, margins=(0.72, 3.4, 0.62, 0.58), xlabel="step")
    fig.text(0.02, 0.955, f"{settings['who']}: {used.status}, step {used.steps}", weight="bold", size=11, va="top", color=INK)
    ax.axhline(1, color=INK, linewidth=1.2)
    ax.text(PLUG, 1.05, "the limit", ha="right", size=8.5, color=INK)
    for i, (key, label, field, status, form) in enumerate(RACE):
        limit, value, fired, y = settings[key], getattr(used, field), used.status == status, 0.94 - 0.145 * i
        said = f"{label}: {form.format(value)} " + ("(no limit)" if limit == NO_LIMIT else f"of {form.format(limit)}")
        ax.text(1.19, y, said + (" ◀ stops it" if fired else ""), transform=ax.transAxes, va="center", size=9,
                weight="bold" if fired else "normal", color=QUIET if limit == NO_LIMIT else INK)
        if limit != NO_LIMIT:
            looks = {**line(i), "linewidth": 3.2 if fired else 1.6, "clip_on": False}
            ax.plot((1.05, 1.11, 1.17), (y, y, y), transform=ax.transAxes, markevery=[1], **looks)
            ax.plot(range(used.steps + 1), [min(1.96, n / limit if limit else 1.96 * (n > 0)) for n in used.course[field]], markevery=[-1], **looks)
    if all(settings[key] == NO_LIMIT for key, *_ in RACE):
        ax.text(PLUG / 2, 0.5, "no limit is set", ha="center", va="center", color=QUIET)
    ax.set(xlim=(0, PLUG), ylim=(0, 2), xticks=(0, 10, 20, PLUG), yticks=(0, 0.5, 1, 1.5, 2), yticklabels=("0", "half", "all of it", "1.5x", "2x"))
    said = escape(used.report)
    return fig, (f"<p><b>{used.status}</b> at step {used.steps}: {used.calls:,} tool calls, {used.tokens:,} tokens, {used.usd:.4f} USD, "
                 f"{used.seconds:.0f} s on the injected clock.</p><p>Report: <i>{said}</i></p>")


def lab_controls() -> dict:
    """The controls of the lab: a stand-in, how the budget is asked, a price, and every limit; NO_LIMIT is a place on each scale."""
    return {
        "who": Choice("Stand-in", {f"{name}: {s.does}": name for name, s in STAND_INS.items()}, "hungry", "Which model runs"),
        "check": Choice("Budget is asked", CHECKS, CHECKS[0], f"Before the call needs a token counter; the reserve is {RESERVE:,} tokens"),
        "price": Slider("USD per million", 1, 75, 15, 1, "Price of output, in USD per million tokens; input costs a fifth"),
        "max_steps": Scale("Steps", (0, 1, 2, 3, 4, 6, 8, 10, 12, 15, 20, 25, NO_LIMIT), 10, "Model calls"),
        "max_tool_calls": Scale("Tool calls", (0, 1, 2, 3, 5, 10, 20, 50, 100, NO_LIMIT), 20, "Tool calls in the whole run"),
        "budget_tokens": Scale("Tokens", (0, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, NO_LIMIT), 20_000, "Input and output"),
        "budget_usd": Scale("USD", (0, 0.005, 0.01, 0.02, 0.04, 0.06, 0.1, 0.2, 0.5, NO_LIMIT), 0.06, "What the run may cost"),
        "max_seconds": Scale("Seconds", (0, 5, 10, 20, 30, 60, 120, 300, NO_LIMIT), 60, "On the injected clock"),
        "max_repeats": Scale("Same again", (0, 1, 2, 3, 4, 5, NO_LIMIT), 3, "The same call with the same result, this many times"),
        "max_errors": Scale("Tool errors", (0, 1, 2, 3, 4, 6, 8, NO_LIMIT), 4, "Failed tool calls in the whole run"),
    }
