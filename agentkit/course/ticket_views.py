"""The pictures of notebook 15, and its lab: what a solved ticket costs by each way of working it off."""

from functools import cache
from html import escape
from types import SimpleNamespace

from .controls import Choice, Slider
from .figures import QUIET, figure, fill, line
from .ticket_ways import PRICE, WAYS, work_off

OUTCOMES = {"solved": 0, "left": 5, "wrong": 1}     # outcome -> its look
SAYS = {"solved": "solved", "left": "left to a person", "wrong": "done wrong"}
SHORT = {"workflow, then agent": "workflow,\nthen agent"}


def side_by_side(rows: dict, title: str):
    """Calls, tokens and seconds a ticket, and what became of the tickets: one bar for each way of working."""
    names = [SHORT.get(name, name) for name in rows]
    fig, axes = figure(8.6, 0.46 * len(rows) + 1.25, columns=4, title=title, margins=(1.0, 0.3, 0.85, 0.35), sharey=True,
                       gridspec_kw={"wspace": 0.2, "width_ratios": (1, 1, 1, 1.7)})
    for ax, field, label, text in zip(axes, ("calls", "tokens", "seconds"), ("model calls a ticket", "tokens a ticket", "seconds a ticket"),
                                      ("{:.1f}", "{:,.0f}", "{:.1f}")):
        values = [getattr(t, field) for t in rows.values()]
        ax.barh(names, values, height=0.6, **fill(0))
        ax.set(xlim=(0, max(values) * 1.55), xticks=[])
        ax.grid(False)
        ax.set_title(label, size=9.5, weight="normal", loc="left")
        for y, v in enumerate(values):
            ax.text(v + max(values) * 0.05, y, text.format(v), va="center", size=9)
    _stack(axes[3], list(rows.values()))
    axes[3].set_title("% of the tickets", size=9.5, weight="normal", loc="left")
    axes[0].invert_yaxis()
    _legend(fig, axes[3])
    return fig


def by_path(groups: dict, title: str):
    """What became of the tickets, with the known paths in one panel and the others in the next."""
    fig, axes = figure(7.9, 2.75, columns=len(groups), title=title, margins=(1.1, 0.25, 0.8, 0.6), sharey=True, gridspec_kw={"wspace": 0.12})
    for ax, (label, rows) in zip(axes, groups.items()):
        _stack(ax, list(rows.values()))
        ax.set_yticks(range(len(rows)), [SHORT.get(name, name) for name in rows])
        ax.set(xlabel="share of tickets, %")
        ax.set_title(label, size=9.5, weight="normal", loc="left")
    axes[0].invert_yaxis()
    _legend(fig, axes[0])
    return fig


def _legend(fig, ax):
    fig.legend(*ax.get_legend_handles_labels(), loc="upper right", bbox_to_anchor=(0.985, 1 - 0.06 / fig.get_figheight()), ncols=3, fontsize=8.5, frameon=False)


def _stack(ax, rows):
    for outcome, look in OUTCOMES.items():
        shares = [100 * getattr(t, outcome) / t.n for t in rows]
        before = [sum(100 * getattr(t, o) / t.n for o in list(OUTCOMES)[:list(OUTCOMES).index(outcome)]) for t in rows]
        ax.barh(range(len(rows)), shares, left=before, height=0.6, label=SAYS[outcome], **fill(look))
    ax.set(xlim=(0, 100), xticks=(0, 50, 100))


# ---- the lab ---------------------------------------------------------------------------------------------------------

@cache
def profile(way: str) -> tuple:
    """Of every ticket: on the known path or not, tokens sent and written without an error, decisions that must be right, and whether it is then solved.

    `rescue` is the number of right decisions with which an agent saves a ticket that was taken for one without a path.
    """
    agents = work_off("agent")
    found = []
    for done, agent in zip(work_off(way), agents):
        decides = agent.calls - 1                   # its last call only says that all is done
        other = done.ticket.kind == "other"
        decisions = {"agent": decides, "workflow": 1, "chatbot": 0}.get(way, 1 + decides * other)
        found.append(SimpleNamespace(found=done.ticket.found, sent=done.sent, written=done.written, solved=done.outcome == "solved", decisions=decisions,
                                     rescue=decides if way == WAYS[3] and not other else None))
    return tuple(found)


def chance(p, error: float) -> float:
    """The chance that a ticket is solved: every decision right, or taken for one without a path and saved by the agent."""
    right = (1 - error) ** p.decisions * p.solved
    return right + (0 if p.rescue is None else error / 4 * (1 - error) ** p.rescue)


@cache
def averages(way: str, error: float) -> tuple:
    """((share solved, tokens sent, tokens written) of a ticket on a known path, the same of one off it)."""
    return tuple((sum(chance(p, error) for p in group) / len(group), sum(p.sent for p in group) / len(group), sum(p.written for p in group) / len(group))
                 for group in ([p for p in profile(way) if p.found is found] for found in (False, True)))


def expected(way: str, share: float, error: float, person: float, price: float = PRICE.input) -> SimpleNamespace:
    """What one ticket costs until it is solved, when a person (USD) solves what is left over or done wrong.

    `share` of the tickets leave the known path. Tokens are those of runs without an error, so a run that goes wrong is
    counted a little too dear. `price` is USD per million tokens sent; tokens written cost five times that.
    """
    known, found = averages(way, error)
    solved, sent, written = (k * (1 - share) + f * share for k, f in zip(known, found))
    tokens = (sent + 5 * written) * price / 1e6
    return SimpleNamespace(solved=solved, tokens_usd=tokens, person_usd=(1 - solved) * person, usd=tokens + (1 - solved) * person)


def cheapest(share, error, person, price=PRICE.input) -> str:
    return min(WAYS, key=lambda way: expected(way, share, error, person, price).usd)


def controls() -> dict:
    return {"share": Slider("Tickets off the known path, %", 0, 100, 25, 5, help="Their path depends on what is found along the way"),
            "error": Slider("Wrong decisions, %", 0, 20, 5, 1, help="Of all decisions that a model makes"),
            "person": Choice("A person's ticket, USD", {"0.02": 0.02, "0.10": 0.1, "0.50": 0.5, "2.00": 2.0, "5.00": 5.0}, 0.1,
                             help="What it costs when a person has to solve it"),
            "price": Choice("USD per million tokens sent", {"0.15": 0.15, "1": 1.0, "3": 3.0, "15": 15.0}, 3.0, help="Tokens written cost five times that")}


def lab_view(share, error, person, price):
    """USD a ticket by each way, over the share of tickets off the known path."""
    best = cheapest(share / 100, error / 100, person, price)
    fig, ax = figure(7.9, 3.5, margins=(0.85, 1.95, 0.45, 0.6), xlabel="tickets off the known path, %", ylabel="USD a ticket, until it is solved",
                     title=f"At {share} %, the cheapest: {best}")
    at = range(0, 101, 10)
    for i, way in enumerate(WAYS):
        ys = [expected(way, s / 100, error / 100, person, price).usd for s in at]
        ax.plot(at, ys, linewidth=3 if way == best else 1.6, **{**line(i), "marker": ""})
        here = expected(way, share / 100, error / 100, person, price).usd
        ax.plot([share], [here], line(i)["marker"], color=line(i)["color"], label=f"{way}\n{here:.4f} USD")
    ax.axvline(share, color=QUIET, linewidth=0.8, linestyle=":")
    ax.set(xlim=(0, 100), ylim=(2e-4, 10), yscale="log", xticks=range(0, 101, 25))
    ax.set_yticks([0.001, 0.01, 0.1, 1, 10], ["0.001", "0.01", "0.1", "1", "10"])
    ax.minorticks_off()
    ax.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), fontsize=8.5, frameon=False, labelspacing=1.1)
    return fig, _table(share, error, person, price, best)


def _table(share, error, person, price, best):
    head = "".join(f'<th style="text-align:left;padding-right:1.5em">{h}</th>' for h in ("", "solved by it", "tokens, USD", "people, USD", "together"))
    rows = ""
    for way in WAYS:
        e = expected(way, share / 100, error / 100, person, price)
        cells = (("→ " if way == best else "") + way, f"{100 * e.solved:.0f} %", f"{e.tokens_usd:.4f}", f"{e.person_usd:.4f}", f"{e.usd:.4f}")
        rows += "<tr>" + "".join(f'<td style="text-align:left;padding-right:1.5em{";font-weight:bold" if way == best else ""}">{escape(c)}</td>' for c in cells) + "</tr>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def spoken(share, error, person, price):
    parts = ", ".join(f"{way} {expected(way, share / 100, error / 100, person, price).usd:.4f}" for way in WAYS)
    return (f"Four lines of cost over the share of tickets off the known path. At {share} %, with {error} % of decisions wrong, in USD a ticket: {parts}. "
            f"The cheapest is {cheapest(share / 100, error / 100, person, price)}.")
