"""Notebook 13, skills: stand-ins that follow a handbook, runs with all its texts or one line each, and their picture."""

import functools
import json
from pathlib import Path

from agentkit import Limits, Reply, Result, call, run
from agentkit import count_tokens as tiktoken_count
from agentkit.extend.skills import Skills

from . import shop
from .figures import INK, figure, fill

HANDBOOK = Path(__file__).parent / "handbook"      # ten skills of the made-up shop, a folder each
TASK = "Order B456: what do we owe the customer for the delay?"
count = functools.lru_cache(maxsize=4096)(tiktoken_count)      # a lab counts the same texts again and again


def everything(skills: Skills) -> str:
    """A system text with every text of the handbook in it."""
    return "The handbook:\n\n" + "\n\n".join(s.text for s in skills)


def clerk(messages, tools):
    """A stand-in that knows no rules of its own: it follows the page on late orders if that is in its list, and loads it if it can."""
    read, (name, text) = "\n".join(m["content"] or "" for m in messages), shop.last_result(messages)
    if name is None and "- late-orders:" in read:
        return Reply(tool_calls=call("load_skill", name="late-orders"))
    if name in (None, "load_skill"):
        return Reply(tool_calls=call("get_order", order_id="B456"))
    if "a credit of 2%" not in read:
        return Reply("We are very sorry about the delay. We do not owe anything.")     # a friendly guess
    if name == "get_order":
        order = json.loads(text)
        percent = min(10, 2 * order["days_late"])
        return Reply(tool_calls=call("calculator", expression=f"{order['unit_price']} * {order['qty']} * {percent} / 100"))
    return Reply(f"We owe a credit of {text} rupees, valid for 90 days.")


def ask_clerk(how: str) -> Result:
    """The same question three ways: "no handbook", "all texts" in the system text, or "one line each"."""
    skills = Skills(HANDBOOK)
    system = {"no handbook": "", "all texts": everything(skills), "one line each": skills.prompt()}[how]
    tools = [shop.get_order, shop.calculator, *([skills.tool] if how == "one line each" else [])]
    return run(clerk, tools, TASK, system=f"{shop.SYSTEM}\n\n{system}".strip(), count_tokens=count)


def needs(texts: int, steps: int, lines: bool) -> Result:
    """A run that needs so many of the ten texts and then takes so many steps; with lines, all texts are loaded by its first reply."""
    skills = Skills(HANDBOOK)

    def model(messages, tools):
        if lines and len(messages) == 2 and texts:
            return Reply(tool_calls=[call("load_skill", name=name) for name in skills.names[:texts]])
        done = sum(m["role"] == "tool" and m["name"] == "get_order" for m in messages)
        return Reply(tool_calls=call("get_order", order_id=list(shop.ORDERS)[done % 4])) if done < steps - 1 else Reply("Done.")

    tools = [shop.get_order, shop.calculator, *([skills.tool] if lines else [])]
    return run(model, tools, "See to it.", system=skills.prompt() if lines else everything(skills), count_tokens=count,
               limits=Limits(max_steps=None, max_repeats=None))


def sent(result: Result) -> list[int]:
    """Tokens sent with each model call of a run."""
    return [e["usage"]["input_tokens"] for e in result.journal.of("reply")]


def bars_per_call(runs: dict[str, Result], title: str):
    """Tokens sent with each model call, one row of bars for each run."""
    most, top = max(len(sent(r)) for r in runs.values()), max(max(sent(r)) for r in runs.values())
    fig, axes = figure(7.4, 0.9 + 1.15 * len(runs), rows=len(runs), sharex=True, title=title, margins=(0.9, 0.3, 0.66, 0.5), gridspec_kw={"hspace": 0.5})
    for i, (ax, (name, result)) in enumerate(zip(axes, runs.items())):
        tokens = sent(result)
        ax.bar(range(1, len(tokens) + 1), tokens, 0.55, **fill(i))
        for x, n in enumerate(tokens, 1):
            ax.text(x, n, f"{n:,}", ha="center", va="bottom", size=9, color=INK)
        ax.set_title(f"{name}: {sum(tokens):,} tokens in all", size=9.5, weight="normal", loc="left", y=1.02)
        ax.set(xlim=(0.4, most + 0.6), ylim=(0, top * 1.25), xticks=range(1, most + 1), yticks=(0, 2000, 4000))
        ax.grid(False, axis="x")
    axes[-1].set_xlabel("model call")
    return fig
