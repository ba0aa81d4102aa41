"""Notebook 13, hooks and sub-agents: the four points as a picture; an office whose mails are read by a sub-agent or by the agent itself."""

import functools
import re
from dataclasses import dataclass

from agentkit import Limits, Reply, Result, Tool, call, run, tool
from agentkit import count_tokens as tiktoken_count
from agentkit.extend.subagents import subagent

from .controls import Slider
from .figures import CARD, COLOURS, INK, QUIET, figure, fill, line

MAILS, LATER, TOP = 8, 8, 10_500        # on the lab's axes
TASK = "Find the cheapest supplier in the mails, then write it into the orders that wait."
SYSTEM = "You keep the orders of a small shop. Work with the tools."
READ = "Read every mail in the box and name the supplier with the lowest price."
_CHATTER = "As you know we have been in this trade for thirty years and our warehouse is always well filled. "
_CHATTER_TOKENS = tiktoken_count(_CHATTER * 2) - tiktoken_count(_CHATTER)


@functools.lru_cache(maxsize=4096)
def count(text: str) -> int:
    """tiktoken's count; what a mail repeats is counted once and multiplied, so that a lab need not wait for it."""
    again = max(0, text.count(_CHATTER) - 1)
    return tiktoken_count(text.replace(_CHATTER, "", again)) + again * _CHATTER_TOKENS


def price_of(number: int) -> int:
    """What the supplier of mail number 1, 2, ... asks for a monitor, in rupees."""
    return 14_000 - 300 * (number * 7 % 11)


def mailbox(mails: int, size: int) -> Tool:
    """The tool read_mail over a box of so many mails of about `size` tokens each."""
    def read_mail(number):
        if not 1 <= number <= mails:
            raise LookupError(f"there is no mail {number}; the box has {mails}")
        chatter = _CHATTER * max(0, round(size / _CHATTER_TOKENS) - 1)
        return f"Mail {number} of {mails}, from supplier {number}. {chatter}We ask {price_of(number)} rupees for a monitor."

    return Tool("read_mail", "Read one mail of the suppliers' box.", {"properties": {"number": {"type": "integer", "minimum": 1}}, "required": ["number"]}, read_mail)


@tool
def note(order: int, text: str) -> str:
    """Write a note into an order that waits."""
    return f"noted in order {order}"


def _mails_read(messages) -> list[str]:
    return [m["content"] for m in messages if m["role"] == "tool" and m["name"] == "read_mail"]


def _next_mail(messages) -> Reply | None:
    """The call that reads the next mail; None when the last one has been read."""
    read = _mails_read(messages)
    if read and len(read) >= int(re.match(r"Mail \d+ of (\d+)", read[0])[1]):
        return None
    return Reply(tool_calls=call("read_mail", number=len(read) + 1))


def _cheapest(texts: list[str]) -> str:
    offers = [(int(m[2]), m[1]) for t in texts if (m := re.search(r"supplier (\d+)\..*We ask (\d+) rupees", t, re.DOTALL))]
    price, supplier = min(offers)
    return f"Supplier {supplier} is the cheapest: {price} rupees."


def reader(messages, tools):
    """The stand-in of the sub-agent: reads mail after mail, then names the cheapest."""
    return _next_mail(messages) or Reply(_cheapest(_mails_read(messages)))


def boss(later: int = 4):
    """The stand-in of the agent: finds the supplier, with the sub-agent `reader` if it has one, then writes `later` notes."""
    def model(messages, tools):
        has = {t["function"]["name"] for t in tools}
        told = [m["content"] for m in messages if m["role"] == "tool" and m["name"] == "reader"]
        if told and told[-1].startswith("ERROR"):
            return Reply(f"I could not find the supplier: {told[-1].partition('. ')[0].removeprefix('ERROR: ')}.")
        if "reader" in has and not told:
            return Reply(tool_calls=call("reader", task=READ))
        if "reader" not in has and (more := _next_mail(messages)):
            return more
        found = told[-1] if told else _cheapest(_mails_read(messages))
        notes = sum(m["role"] == "tool" and m["name"] == "note" for m in messages)
        return Reply(tool_calls=call("note", order=notes + 1, text=found)) if notes < later else Reply(found)
    return model


@dataclass(frozen=True)
class Office:
    """One run of the office: the parent's result, and the sub-agent's where there was one."""

    result: Result
    child: Result | None

    @property
    def calls(self) -> list[tuple[str, int]]:
        """(who, tokens sent) for each model call, in the order in which they were made."""
        sent = [("agent", e["usage"]["input_tokens"]) for e in self.result.journal.of("reply")]
        inner = [("sub-agent", e["usage"]["input_tokens"]) for e in self.child.journal.of("reply")] if self.child else []
        return sent[:1] + inner + sent[1:] if inner else sent

    @property
    def tokens(self) -> int:
        return self.result.usage.total_tokens


def office(delegate: bool, mails: int = 6, size: int = 800, later: int = 4, *, limits: Limits = Limits(max_steps=None), own: Limits = Limits(max_steps=None)) -> Office:
    """The task with a sub-agent that reads the mails (`own` are its limits), or without one."""
    ended, box = [], mailbox(mails, size)
    desk = subagent(reader, [box], name="reader", description="Reads the suppliers' mails and reports.", limits=own, on_result=ended.append)
    result = run(boss(later), [desk if delegate else box, note], TASK, system=SYSTEM, limits=limits, count_tokens=count)
    return Office(result, ended[0] if ended else None)


# ---- pictures --------------------------------------------------------------------------------------------------------

def controls() -> dict:
    return {"mails": Slider("Mails to read", 1, MAILS, 6, help="One model call reads one mail"),
            "size": Slider("Tokens in a mail", 50, 1000, 800, 50, help="About; what one result brings into a list"),
            "later": Slider("Steps afterwards", 0, LATER, 4, help="What the agent still does when the mails are read")}


@functools.lru_cache(maxsize=64)
def compared(mails: int, size: int, later: int) -> tuple[Office, Office]:
    """(with a sub-agent, without one)."""
    return office(True, mails, size, later), office(False, mails, size, later)


def lab_view(mails, size, later):
    """Tokens sent with each model call, on fixed axes: a line without a sub-agent, bars with one."""
    split, whole = compared(mails, size, later)
    change = split.tokens / whole.tokens - 1
    fig, ax = figure(7.4, 3.2, xlabel="model call", ylabel="tokens sent", margins=(0.95, 0.25, 0.45, 0.55),
                     title=f"The sub-agent {'saves' if change < 0 else 'costs'} {abs(change):.0%}{'' if change < 0 else ' more'}: "
                           f"{split.tokens:,} tokens instead of {whole.tokens:,}")
    for who, look in (("with: the agent", 0), ("with: the sub-agent", 1)):
        mine = [(x, n) for x, (w, n) in enumerate(split.calls, 1) if who.endswith(" " + w)]
        ax.bar([x for x, _ in mine], [n for _, n in mine], 0.72, label=who, **fill(look))
    ax.plot(range(1, len(whole.calls) + 1), [n for _, n in whole.calls], label="without", **line(6) | {"linestyle": "--", "marker": "o"})
    ax.set(xlim=(0.3, MAILS + LATER + 3.7), ylim=(0, TOP), xticks=(1, 5, 10, 15), yticks=(0, 4_000, 8_000))
    ax.set_yticklabels(("0", "4,000", "8,000"))
    ax.grid(False, axis="x")
    ax.legend(loc="upper left", ncols=3, frameon=False)
    return fig


def spoken(mails, size, later) -> str:
    split, whole = compared(mails, size, later)
    return (f"Tokens sent with each model call. Without a sub-agent a line rises with every mail and stays high to the end: {whole.tokens:,} tokens. "
            f"With one, the sub-agent's bars rise and the agent's own stay low: {split.tokens:,} tokens.")


def four_points():
    """One step as a row of boxes, with the point at which each kind of hook runs."""
    fig, ax = figure(7.6, 2.5, title="Gates stand before, observers after the record", margins=(0.2, 0.2, 0.45, 0.15))
    boxes = [("before_model", "gate"), ("model", ""), ("record", ""), ("after_model", "observer"),
             ("before_tool", "gate"), ("tool", ""), ("record", ""), ("after_tool", "observer")]
    for i, (name, kind) in enumerate(boxes):
        x, y = (i % 4) * 1.0, 1 - i // 4
        colour = {"gate": COLOURS[1], "observer": COLOURS[0], "": QUIET}[kind]
        ax.text(x, y, name + (f"\n({kind})" if kind else ""), ha="center", va="center", size=9.5, color=INK, family="DejaVu Sans Mono" if kind else None,
                bbox={"boxstyle": "square,pad=0.5" if kind != "observer" else "round,pad=0.5", "facecolor": CARD, "edgecolor": colour,
                      "linewidth": 2.2 if kind else 1.2, "linestyle": "--" if kind == "observer" else "-"})
        if i % 4 < 3:
            ax.annotate("", (x + 0.62, y), (x + 0.40, y), arrowprops={"arrowstyle": "->", "color": INK, "lw": 1.3})
    ax.set(xlim=(-0.45, 3.5), ylim=(-0.45, 1.45))
    ax.axis("off")
    return fig
