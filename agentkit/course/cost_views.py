"""Notebook 19: runs whose sizes are known to the token, measured by a stand-in for a provider, and the pictures of the bill.

A word is a token here, so that every size can be set exactly. What the arithmetic of agentkit.cost says must be what the
stand-in counts: it is told nothing of a Shape, and finds out by itself what it has been sent before.
"""

from dataclasses import dataclass, replace
from functools import lru_cache
from math import fsum

from matplotlib.patches import Rectangle

from agentkit import Limits, Price, Reply, Result, Tool, Usage, check_messages, run
from agentkit.cost import PARTS, Shape, parts, usage_of, usd
from agentkit.messages import ToolCall

from .controls import Choice, Slider
from .figures import COLOURS, INK, QUIET, figure, fill

CACHES = {"none": (None, 1.0, True), "reads at 10 %": (0.1, 1.0, True), "reads at 10 %, writes at 125 %": (0.1, 1.25, True),
          "the same, but the system text changes": (0.1, 1.25, False)}      # read price and write price as factors, stable prefix
COMPACT = {"never": 0, **{f"{n:,} tokens": n for n in (4_000, 6_000, 8_000, 10_000, 15_000)}}
STEPS, USD = 30, 1.2        # on the lab's axes
_SCHEMA = {"type": "object", "properties": {"page": {"type": "integer"}}, "required": ["page"]}


# ---- runs with exact sizes -------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Measured:
    """A run of agentkit, and every call as the provider saw it: (prompt, of which cached, written), in tokens."""

    result: Result
    calls: tuple[tuple[int, int, int], ...]


class Provider:
    """A stand-in for a provider with a cache: it counts what it is sent, and how much of its front it was sent the last time."""

    def __init__(self):
        self.calls, self._before = [], []

    def usage(self, sent: list[dict], reply: Reply, definitions: str) -> Usage:
        check_messages(sent)
        words = [*_words(sent[:1]), *definitions.split(), *_words(sent[1:])]
        cached = next((n for n, (a, b) in enumerate(zip(words, self._before)) if a != b), min(len(words), len(self._before)))
        self._before = words
        written = len(_words([reply.as_message()]))
        self.calls.append((len(words), cached, written))
        return Usage(len(words) - cached, written, cached)


def _words(messages: list[dict]) -> list[str]:
    """The tokens of these messages: contents, and what the calls say."""
    texts = []
    for m in messages:
        texts += [m["content"] or "", *(c["function"]["name"] + c["function"]["arguments"] for c in m.get("tool_calls", ()))]
    return " ".join(texts).split()


def text(n: int, word: str) -> str:
    """A text of n tokens, unlike the text of any other `word`."""
    return " ".join([word] * n)


def measured(shape: Shape, price: Price | None = None) -> Measured:
    """A run of this shape with agentkit's loop. Sizes must leave room for the call itself (2 tokens) and the definition of the tool."""
    provider, done, cut, summary = Provider(), 0, 2, []
    read_page = Tool("read_page", "Read one page.", _SCHEMA, lambda page: text(shape.returned, f"page{page}"))
    definitions = f"{read_page.name} {read_page.description} {_SCHEMA}"

    def front(messages):
        clock = "12:00" if shape.stable else f"12:{len(provider.calls):02}"        # it takes the place of the first token
        return [{"role": "system", "content": " ".join([clock, *messages[0]["content"].split()[1:]])}, messages[1]]

    def model(messages, tools):
        nonlocal done, cut, summary
        sent, extra = [*front(messages), *summary, *messages[cut:]], Usage(0, 0)
        length = len(_words(sent)) + len(definitions.split())
        if shape.compact_at is not None and length > shape.compact_at and length - shape.base > shape.summary:
            short = text(shape.summary, f"summary{len(messages)}")
            extra = provider.usage(sent, Reply(short), definitions)
            cut, summary = len(messages), [{"role": "user", "content": short}]
            sent = [*front(messages), *summary]
        asked = range(done + 1, min(done + shape.per_reply, shape.calls) + 1)
        done += len(asked)
        last = shape.written if shape.answer is None else shape.answer
        calls = tuple(ToolCall(f"call_{n}", "read_page", {"page": n}) for n in asked)
        reply = Reply(text(len(asked) * (shape.written - 2) if asked else last, f"said{done}") or None, calls)
        return replace(reply, usage=extra + provider.usage(sent, reply, definitions))

    system = text(shape.system - len(definitions.split()), "rule")
    result = run(model, [read_page], text(shape.task, "task"), system=system, limits=Limits(max_steps=shape.steps), prices=price)
    return Measured(result, tuple(provider.calls))


# ---- pictures --------------------------------------------------------------------------------------------------------

def square_figure(prompts, totals, title):
    """Left: what each call of one run sends. Right: what runs of 1, 2, 3 ... steps send in all, measured, over the formula.

    `totals` maps steps to (measured, by the formula, as if every call were like the first), in tokens.
    """
    fig, (left, right) = figure(7.9, 3.5, columns=2, title=title, margins=(0.75, 0.25, 0.62, 0.58),
                                gridspec_kw={"width_ratios": (1, 1.1), "wspace": 0.32})
    half, top = len(prompts) // 2, max(prompts) * 1.4 / 1e3
    for look, some, label in ((0, range(1, half + 1), f"the first {half} steps"),
                              (1, range(half + 1, len(prompts) + 1), f"the next {len(prompts) - half}")):
        left.bar(some, [prompts[n - 1] / 1e3 for n in some], 0.85, label=f"{label}: {sum(prompts[n - 1] for n in some):,}", **fill(look))
    left.set(xlabel="step", ylabel="thousand tokens sent in it", xticks=(1, 5, 10, 15, 20), yticks=range(0, int(top), 5), ylim=(0, top))
    left.legend(loc="upper left", fontsize=8.5)
    steps = list(totals)
    right.plot(steps, [totals[n][1] / 1e3 for n in steps], color=COLOURS[0], marker="", label="the formula")
    right.plot(steps, [totals[n][0] / 1e3 for n in steps], color=COLOURS[1], linestyle="", marker="o", markersize=4.5, label="runs, measured")
    right.plot(steps, [totals[n][2] / 1e3 for n in steps], color=QUIET, linestyle=":", marker="", label="first step x steps")
    for n, way in ((steps[-1] // 2, "right"), (steps[-1], "right")):
        right.annotate(f"{totals[n][0]:,}", (n, totals[n][0] / 1e3), xytext=(-7, 4), textcoords="offset points", ha=way, weight="bold")
    right.set(xlabel="steps of the run", ylabel="thousand tokens sent in all",
              xticks=(1, 5, 10, 15, 20), ylim=(0, max(t[0] for t in totals.values()) * 1.12 / 1e3))
    right.legend(loc="upper left", fontsize=8.5)
    return fig


def levers_figure(bills, title):
    """Bills below each other, each a bar of its parts: {name: {part: USD}}."""
    fig, ax = figure(7.9, 1.6 + 0.36 * len(bills), xlabel="USD", margins=(2.05, 0.25, 0.8, 0.58))
    for k, bill in enumerate(bills.values()):
        start = 0.0
        for i, part in enumerate(PARTS):
            ax.barh(k, bill[part], 0.72, left=start, label=part if k == 0 else None, **fill(i))
            start += bill[part]
        ax.text(start, k, f" {fsum(bill.values()):.3f}", va="center", weight="bold")
    fig.suptitle(title, x=0.14 / 7.9, y=1 - 0.14 / fig.get_figheight(), ha="left", va="top", weight="bold", size=11)
    most = max(fsum(bill.values()) for bill in bills.values())
    ax.set(yticks=range(len(bills)), yticklabels=list(bills), xlim=(0, most * 1.1), ylim=(len(bills) - 0.45, -0.55))
    ax.grid(False, axis="y")
    ax.legend(loc="lower left", bbox_to_anchor=(-0.36, 1.0), ncols=len(PARTS), fontsize=8.5, frameon=False, columnspacing=1.2)
    return fig


# ---- the lab ---------------------------------------------------------------------------------------------------------

def lab_controls() -> dict:
    return {"steps": Slider("Steps", 1, STEPS, 20, help="Model calls, if each reply but the last asks for one tool call"),
            "system": Slider("System text", 0, 6_000, 1_500, 100, "System text and tool definitions, in tokens; the task is 100 more", ",d"),
            "written": Slider("Written", 0, 600, 150, 10, "Tokens that the model writes for each call, and for the answer"),
            "returned": Slider("Returned", 0, 3_000, 600, 50, "Tokens of each tool result: trimming moves this", ",d"),
            "per_reply": Slider("Calls per reply", 1, 6, 1, help="The same calls in fewer steps"),
            "usd_input": Slider("USD per million", 0.5, 10.0, 3.0, 0.5, "Price of input, assumed; output costs five times as much", ".1f"),
            "cache": Choice("Cache", list(CACHES), "none", "What cached input costs, and what writing into the cache costs"),
            "compact_at": Choice("Compact at", COMPACT, 0, "A list longer than this is cut to system, task and a summary of 500 tokens")}


def lab_bill(steps=20, system=1_500, written=150, returned=600, per_reply=1, usd_input=3.0, cache="none", compact_at=0):
    """What the lab's settings mean: (shape, price, factor for writing into the cache)."""
    read, write, stable = CACHES[cache]
    price = Price(usd_input, 5 * usd_input, None if read is None else usd_input * read)
    return Shape(calls=steps - 1, per_reply=per_reply, system=system, written=written, returned=returned, stable=stable,
                 compact_at=compact_at or None), price, write


def _plain(how):
    """The same sizes with every lever up: no cache, no compaction, one call per reply."""
    shape, price, _ = lab_bill(**{**how, "per_reply": 1, "cache": "none", "compact_at": 0})
    return shape, price


_parts = lru_cache(maxsize=1_000)(parts)     # the bills without levers stay the same while a lever moves


def lab_view(**how):
    """The parts of the bill on top of each other, over the length of the task, on fixed axes; a line marks the task that is set."""
    shape, price, write = lab_bill(**how)
    plain, plain_price = _plain(how)
    sizes = range(1, STEPS + 1)
    bills = [_parts(replace(shape, calls=n - 1), price, write) for n in sizes]
    bill = bills[how["steps"] - 1]
    total = fsum(bill.values())
    fig, ax = figure(7.9, 3.2, margins=(0.72, 2.35, 0.45, 0.58), xlabel="steps, if each reply but the last asks for one call", ylabel="USD",
                     title=f"{shape.steps} step{'s' * (shape.steps > 1)}: {total:.3f} USD. The largest part: {max(PARTS, key=bill.get)}")
    below = [0.0] * STEPS
    for i, part in enumerate(PARTS):
        above = [low + b[part] for low, b in zip(below, bills)]
        ax.fill_between(sizes, below, above, **fill(i))
        below = above
    ax.plot(sizes, [fsum(_parts(replace(plain, calls=n - 1), plain_price, 1.0).values()) for n in sizes],
            color=INK, linestyle="--", marker="", linewidth=1.6)
    first = usd(replace(plain, calls=0), plain_price)
    ax.plot((1, STEPS), (first, first * STEPS), color=INK, linestyle=":", marker="", linewidth=1.6)
    ax.vlines(how["steps"], 0, min(total, USD), color=INK, linewidth=1.6)
    ax.plot([how["steps"]], [min(total, USD * 0.97)], color=INK, marker="o" if total <= USD else "^", markersize=8, linestyle="")
    ax.set(xlim=(1, STEPS), ylim=(0, USD), xticks=(1, 10, 20, 30), yticks=(0, 0.4, 0.8, 1.2))
    _key(ax, [f"{part} {bill[part] / total if total else 0:.0%}" for part in PARTS])
    return fig, _said(how, shape, total, usd(plain, plain_price))


def _key(ax, words):
    """A legend beside the axes, in the order of the layers. Drawn by hand, because matplotlib's own takes a quarter of the time of the picture."""
    for k, word in enumerate(words):
        y = 0.1 + 0.1 * k
        ax.add_patch(Rectangle((1.03, y - 0.03), 0.045, 0.06, transform=ax.transAxes, clip_on=False, **fill(k)))
        ax.text(1.095, y, word, transform=ax.transAxes, va="center", size=9)
    for k, (word, look) in enumerate((("without levers", "--"), ("first step x steps", ":"))):
        y = 0.96 - 0.1 * k
        ax.plot((1.02, 1.08), (y, y), transform=ax.transAxes, clip_on=False, color=INK, linestyle=look, marker="", linewidth=1.6)
        ax.text(1.095, y, word, transform=ax.transAxes, va="center", size=9)


def _said(how, shape, total, without):
    used = usage_of(shape)
    above = " <b>The point is above the axis.</b>" if total > USD else ""
    change = f" Without levers: {without:.3f} USD ({total / without - 1:+.0%})." if without and abs(total - without) > 1e-12 else ""
    return (f"<p>{used.input_tokens + used.cached_tokens:,} tokens sent, of which a cache could hold {used.cached_tokens:,}; "
            f"{used.output_tokens:,} written: <b>{total:.3f} USD</b>.{change}{above}</p>")


def spoken(**how) -> str:
    shape, price, write = lab_bill(**how)
    bill, total = parts(shape, price, write), usd(shape, price, write)
    said = ", ".join(f"{part} {bill[part] / total if total else 0:.0%}" for part in PARTS)
    plain, plain_price = _plain(how)
    return (f"Layers of the bill over the steps, with a mark at {how['steps']} steps: {total:.3f} USD; without levers {usd(plain, plain_price):.3f}. "
            f"The parts: {said}.")
