"""The pictures of notebook 24: the whole design on a whiteboard, where its limits come from, and the lab over a day at the desk."""

from collections import Counter
from functools import lru_cache

from matplotlib.patches import FancyArrowPatch, FancyBboxPatch, Rectangle

from agentkit import Price

from .controls import Choice, Slider, Switch
from .desk import LIMIT
from .desk_sheet import HOUR_USD, LOOK_MINUTES, SMALLEST, TICKET_MINUTES, Day, day, measured
from .figures import CARD, COLOURS, INK, QUIET, figure, fill

# ---- the whiteboard --------------------------------------------------------------------------------------------------

# name -> (x, y, width, height, look, head, lines below it); the board is 100 wide and 54 high
BOXES = {
    "ticket": (1, 37, 11, 11, None, "Ticket", ("from one", "customer")),
    "path": (17, 31, 37, 23, 0, "Workflow: code is the path", ()),
    "classify": (18.5, 40, 9.5, 8, None, "classify", ("model",)),
    "look": (30, 40, 9, 8, None, "look up", ("code",)),
    "decide": (41, 40, 11.8, 8, None, "if, photo", ("code, model",)),
    "agent": (17, 6, 25, 17, 1, "Agent, for the tail", ("four reading tools", "limits from good runs", "ends in a proposal")),
    "gate": (59, 31, 15, 23, 4, "Gates", ("1 the books,", "for every refund", "2 a person,", f"above {LIMIT} USD")),
    "pay": (79, 43, 20, 11, 2, "Bank", ("refund: one place,", "key = the order")),
    "draft": (79, 29, 20, 11, None, "Answer", ("model drafts,", "policy as its source")),
    "person": (48, 6, 26, 17, 4, "People", ("approve large refunds,", "take what is handed over;", "every other end leads here")),
    "record": (79, 6, 20, 17, 6, "Record", ("journal: resume, trace", "notes: closed lists", "failures: eval tasks")),
}
# from, to, what it says and where; the arrow of a label that is None has none
ARROWS = (
    ((12, 42.5), (17, 42.5), None), ((28, 44), (30, 44), None), ((39, 44), (41, 44), None), ((29.5, 31), (29.5, 23), (30.3, 27, "path unknown")),
    ((54, 42.5), (59, 42.5), None), ((42, 18), (59, 33), (51.5, 24.7, "proposal")), ((74, 48.5), (79, 48.5), None), ((74, 34.5), (79, 34.5), None),
    ((66.5, 31), (66.5, 23), (67.3, 27, "ask, hand over")), ((89, 29), (89, 23), (89.7, 26, "every event")),
)


def whiteboard(shares: dict, title: str = "Code is the path, the agent proposes, money passes one gate"):
    """The whole design as boxes. `shares` are texts to write beside boxes, such as {"path": "82 % of tickets"}."""
    fig, ax = figure(7.9, 4.6, margins=(0.12, 0.12, 0.42, 0.12), title=title)
    ax.set(xlim=(0, 100), ylim=(4, 56))
    ax.axis("off")
    for name, (x, y, w, h, look, head, lines) in BOXES.items():
        colour = QUIET if look is None else COLOURS[look]
        ax.add_patch(FancyBboxPatch((x, y), w, h, boxstyle="round,pad=0,rounding_size=1.2", facecolor=CARD, edgecolor=colour,
                                    linewidth=1.2 if look is None else 2.2))
        top = y + h - 2.6
        ax.text(x + w / 2, top, head, ha="center", va="center", weight="bold", size=9)
        for n, text in enumerate(lines, 1):
            ax.text(x + w / 2, top - 3.2 * n, text, ha="center", va="center", size=8)
        if name in shares:
            ax.text(x + w / 2, y + 2.2, shares[name], ha="center", va="center", size=8.5, weight="bold", color=INK)
    for start, end, label in ARROWS:
        ax.add_patch(FancyArrowPatch(start, end, arrowstyle="-|>", mutation_scale=11, linewidth=1.4, color=INK, shrinkA=0, shrinkB=0))
        if label:
            ax.text(*label, size=8, color=INK, va="center")
    return fig


# ---- limits ----------------------------------------------------------------------------------------------------------

def limits_figure(steps: list[int], p95: int, limit: int, bills: list[float], budget: float, title: str):
    """Left, the steps of the agent's good runs with p95 and the limit; right, what a run of 1, 2, 3 ... steps costs, and the budget."""
    fig, (left, right) = figure(7.9, 2.9, columns=2, title=title, margins=(0.65, 0.3, 0.62, 0.58), gridspec_kw={"wspace": 0.34})
    found = Counter(steps)
    left.bar(list(found), list(found.values()), 0.7, **fill(0))
    top = max(found.values())
    for x, word, look in ((p95, f"p95 = {p95}", "--"), (limit, f"limit = {limit}", "-")):
        left.axvline(x, color=INK, linestyle=look, linewidth=1.6)
        left.text(x - 0.15, top * 1.2, word, ha="right", va="top", size=9)
    left.set(xlim=(0.4, limit + 1), ylim=(0, top * 1.25), xticks=range(1, limit + 1), xlabel="steps of a good run of the agent", ylabel="runs")
    left.grid(False, axis="x")
    right.plot(range(1, len(bills) + 1), bills, color=COLOURS[1], marker="o", linestyle="-", label="a run of so many steps")
    right.axhline(budget, color=INK, linewidth=1.6, linestyle="-", marker="")
    right.text(0.7, budget, f"budget = {budget:.3f} USD", va="bottom", size=9)
    right.set(xlim=(0.5, len(bills) + 0.5), ylim=(0, max(budget, *bills) * 1.2), xticks=range(1, len(bills) + 1), xlabel="steps", ylabel="USD")
    return fig


# ---- the lab ---------------------------------------------------------------------------------------------------------

AT = (*range(0, 201, 5),)       # limits on the lab's axis, USD
TOP = 450                       # USD for 1,000 tickets, on its other one
LAYERS = ("model calls", "the approvers' time", "refunds not due")
FEWEST, MOST = 0.1, 10_000      # people


def lab_controls() -> dict:
    return {
        "tickets": Choice("Tickets a day", {"1,000": 1_000, "10,000": 10_000, "100,000": 100_000, "1,000,000": 1_000_000}, 10_000),
        "tail": Slider("Hard tickets, %", 0, 60, 18, 1, "Their path must be found: the agent works on them"),
        "limit": Slider("A person decides above, USD", 0, 200, LIMIT, 5, "Refunds above it wait for an approval"),
        "price": Slider("USD per million tokens", 0.5, 15.0, 3.0, 0.5, "Of input, assumed; output costs five times as much", ".1f"),
        "longer": Slider("Prompts, times as long", 1, 20, 1, 1, "A real handbook and real tools are longer than these"),
        "cache": Switch("Cached input at a tenth", False, f"Fronts of {SMALLEST:,} tokens or more are read from a cache"),
    }


def lab_day(tickets=10_000, tail=18, limit=LIMIT, price=3.0, longer=1, cache=False) -> Day:
    """The lab's function: closed formulas over rates that were measured once."""
    return day(measured(), tickets, tail / 100, limit, Price(price, 5 * price, price / 10 if cache else None), longer)


def lab_view(tickets, tail, limit, price, longer, cache):
    """USD for 1,000 tickets over the limit, in three layers; beside it the people that a day takes."""
    here = lab_day(tickets, tail, limit, price, longer, cache)
    model = here.tokens_usd / tickets * 1000
    layers = [[model] * len(AT), *_curves(tail)]
    fig, (left, right) = figure(7.9, 3.1, columns=2, margins=(0.72, 0.45, 0.72, 0.58), gridspec_kw={"width_ratios": (5, 3), "wspace": 0.62})
    fig.text(0.02, 0.95, f"{tickets:,} tickets a day, a person above {limit} USD: {here.usd:,.0f} USD a day", weight="bold", size=11,
             va="top", color=INK)
    below = [0.0] * len(AT)
    for i, layer in enumerate(layers):
        above = [b + v for b, v in zip(below, layer)]
        left.fill_between(AT, below, above, step="post", **fill((0, 4, 1)[i]))
        below = above
    total = here.usd / tickets * 1000
    left.vlines(limit, 0, min(total, TOP), color=INK, linewidth=1.6)
    left.plot([limit], [min(total, TOP * 0.97)], color=INK, marker="o" if total <= TOP else "^", markersize=8, linestyle="", clip_on=False)
    left.set(xlim=(0, 200), ylim=(0, TOP), xticks=(0, 50, 100, 150, 200), yticks=(0, 150, 300, 450), xlabel="a person decides above, USD",
             ylabel="USD for 1,000 tickets")
    for x, layer, look in zip((0.09, 0.225, 0.405), LAYERS, (0, 4, 1)):
        fig.add_artist(Rectangle((x, 0.795), 0.018, 0.035, transform=fig.transFigure, **fill(look)))
        fig.text(x + 0.025, 0.812, layer, size=8.5, va="center")
    for y, (n, word) in enumerate(((here.approvers, "approve"), (here.colleagues, "take over"))):
        right.barh(y, max(min(n, MOST), FEWEST), 0.55, **fill((4, 6)[y]))
        right.text(max(min(n, MOST), FEWEST) * 1.2, y, f"{n:,.1f}" if n < 100 else f"{n:,.0f}", va="center", size=9, clip_on=False)
    right.set(xscale="log", xlim=(FEWEST, MOST), ylim=(1.6, -0.6), yticks=(0, 1), yticklabels=("approve", "take over"), xlabel="people a day")
    right.set_xticks((1, 100, 10_000), ("1", "100", "10,000"))
    right.minorticks_off()
    right.grid(False, axis="y")
    return fig, _said(here, tickets)


@lru_cache(maxsize=100)
def _curves(tail: int) -> tuple:
    """USD for 1,000 tickets over the limit: (the approvers' time, refunds that were not due)."""
    days = [day(measured(), 1000, tail / 100, at) for at in AT]
    return [d.look_usd for d in days], [d.wrong_usd for d in days]


def _said(d: Day, tickets: int) -> str:
    return (f"<p>Model calls <b>{d.tokens_usd:,.0f} USD</b> a day, {d.calls_per_second:,.1f} a second in the busiest hour. "
            f"{d.approvals:,.0f} approvals, <b>{d.approvers:,.1f} people</b>; {d.handed:,.0f} tickets handed over, {d.colleagues:,.0f} more. "
            f"Refunds that were not due: <b>{d.wrong:,.0f} a day</b>, {d.wrong_usd:,.0f} USD. "
            f"(A look takes {LOOK_MINUTES} minutes, a ticket {TICKET_MINUTES}, an hour costs {HOUR_USD} USD: assumed.)</p>")


def lab_alt(**how) -> str:
    d = lab_day(**how)
    return (f"Layers of cost over the limit above which a person decides, with a mark at {how['limit']} USD: {d.usd:,.0f} USD a day "
            f"for {how['tickets']:,} tickets, of it {d.tokens_usd:,.0f} for model calls, {d.look_usd:,.0f} for approvals, {d.wrong_usd:,.0f} for refunds that were not due. "
            f"Bars: {d.approvers:,.1f} people approve, {d.colleagues:,.1f} take over tickets.")
