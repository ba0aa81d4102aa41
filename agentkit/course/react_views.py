"""The pictures of notebook 16, and its lab."""

from functools import cache
from html import escape
from types import SimpleNamespace

from agentkit import Limits, TextModel, run
from agentkit.patterns.react import react_system, transcript
from agentkit.tokens import rough_tokens

from . import declined
from .controls import Choice, Switch
from .figures import COLOURS, INK, QUIET, figure, fill

WAYS = ("as text", "natively")
_LOOKS = {"Task": "#56B4E9", "Thought": "#CC79A7", "Action": "#D55E00", "Action Input": "#D55E00", "Observation": "#009E73", "Final Answer": "#0072B2"}


def paths_figure(runs: dict, title: str):
    """What one model did in several worlds: a row of boxes for each, from what it found to how it ended."""
    from matplotlib.patches import FancyBboxPatch
    fig, ax = figure(7.9, 0.82 * len(runs) + 0.75, title=title, margins=(0.2, 0.2, 0.5, 0.15))
    ax.set(xlim=(0, 10), ylim=(len(runs), 0))
    ax.axis("off")
    for y, (code, done) in enumerate(runs.items()):
        boxes = [("looks up", "the payment", 5), ("finds", code.replace("_", " "), 2), *[(_doing(d)[0], _doing(d)[1], 1 if "charged" in d else 0) for d in done[1:]]]
        for k, (what, detail, look) in enumerate(boxes):
            x = 0.15 + 3.35 * k
            ax.add_patch(FancyBboxPatch((x, y + 0.14), 2.75, 0.7, boxstyle="round,pad=0.04", facecolor="white", edgecolor=COLOURS[look],
                                        linewidth=2, linestyle="--" if k == 1 else "-"))
            ax.text(x + 1.37, y + 0.49, f"{what}\n{detail}", ha="center", va="center", size=9, color=INK)
            if k:
                ax.annotate("", (x - 0.08, y + 0.49), (x - 0.52, y + 0.49), arrowprops={"arrowstyle": "-|>", "color": QUIET, "linewidth": 1.4})
    return fig


def _doing(did: str) -> tuple[str, str]:
    return {"charged": ("charges again", "and it is paid"), "charged in vain": ("charges again", "in vain")}.get(did, ("pages", did.split()[-1]))


# ---- what thoughts cost ------------------------------------------------------------------------------------------------

@cache
def thinking(steps: int = 8, words: int = 30) -> SimpleNamespace:
    """A run with a thought of so many words before each of its tool calls: tokens sent at each step, with what is thoughts among them."""
    tools, task, model = declined.parcels(steps, words)
    result = run(model, tools, task, limits=Limits(max_steps=steps + 1))
    thoughts = [rough_tokens(m["content"]) if m["content"] and m.get("tool_calls") else 0 for m in result.messages if m["role"] == "assistant"]
    sent = [e["usage"]["input_tokens"] for e in result.journal.of("reply")]
    return SimpleNamespace(sent=sent, thoughts=[sum(thoughts[:k]) for k in range(len(sent))], written=result.usage.output_tokens, total=result.usage.total_tokens,
                           each=thoughts[0])


def thoughts_figure(runs: dict, title: str, top: int = 800, steps: int = 13):
    """Tokens sent at each step, one panel a run: what is thoughts stands on top of the rest."""
    fig, axes = figure(7.9, 2.75, columns=len(runs), title=title, margins=(0.8, 0.25, 0.78, 0.6), sharey=True, squeeze=False, gridspec_kw={"wspace": 0.1})
    for ax, (label, r) in zip(axes[0], runs.items()):
        at, rest = range(1, len(r.sent) + 1), [s - t for s, t in zip(r.sent, r.thoughts)]
        ax.bar(at, rest, label="task, calls, results", **fill(0))
        ax.bar(at, r.thoughts, bottom=rest, label="thoughts, sent again", **fill(3) | {"hatch": "//"})
        ax.set(xlim=(0.3, steps + 0.7), ylim=(0, top), xlabel="step", xticks=range(1, steps + 1, 3), yticks=range(0, top + 1, top // 4))
        ax.set_title(label, size=9.5, weight="normal", loc="left")
    axes[0][0].set_ylabel("tokens sent")
    axes[0][0].legend(loc="upper left", fontsize=8.5)
    return fig


# ---- the lab -------------------------------------------------------------------------------------------------------------

def controls() -> dict:
    return {"code": Choice("The lookup finds", {c.replace("_", " "): c for c in declined.CODES}, "insufficient_funds", buttons=True),
            "way": Choice("The model writes", WAYS, WAYS[0], buttons=True),
            "invents": Switch("It invents observations", False, help="A text model that does not wait for yours"),
            "thinks": Choice("It thinks aloud", {"not at all": 0, "a sentence or two": 1, "a paragraph": 4}, 1)}


@cache
def lab_run(code: str, way: str, invents: bool, thinks: int):
    """(result, what was really done) of the payment task with these settings."""
    tools, done = declined.world(code)

    def decide(seen):
        thought, what = declined.decide(seen)
        return " ".join([thought] * thinks) if thought and thinks else None, what

    if way == "natively":
        return run(declined.as_native(decide), tools, declined.TASK, system=declined.SYSTEM), tuple(done)
    fn = declined.inventive(decide) if invents else declined.as_text(decide)
    return run(TextModel(fn, protocol="react"), tools, declined.TASK, system=react_system(tools, declined.SYSTEM)), tuple(done)


def lab_view(code, way, invents, thinks):
    """Tokens sent and written at each step, and the transcript."""
    result, done = lab_run(code, way, invents, thinks)
    usage = [e["usage"] for e in result.journal.of("reply")]
    fig, ax = figure(7.6, 2.5, margins=(0.85, 2.1, 0.45, 0.6), xlabel="step", ylabel="tokens", title=f"Really done: {', '.join(done)}")
    at = range(1, len(usage) + 1)
    sent = [u["input_tokens"] for u in usage]
    ax.bar(at, sent, width=0.55, label="sent", **fill(0))
    ax.bar(at, [u["output_tokens"] for u in usage], bottom=sent, width=0.55, label="written", **fill(4) | {"hatch": "//"})
    ax.set(xlim=(0.4, 4.6), ylim=(0, 700), xticks=range(1, 5), yticks=(0, 200, 400, 600))
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, title=f"{result.usage.total_tokens:,} tokens in all", alignment="left")
    return fig, shown(transcript(result.messages))


def shown(text: str) -> str:
    """A transcript as HTML: who says what, in colour and in words."""
    rows = ""
    for line in text.split("\n"):
        label, _, rest = line.partition(": ")
        mark = _LOOKS.get(label, QUIET)
        rows += (f'<div style="border-left:5px solid {mark};padding:0.1em 0 0.1em 8.6em;text-indent:-8em;margin:0.15em 0">'
                 f'<b style="display:inline-block;width:8em;text-indent:0">{escape(label)}</b>'
                 f'<span style="font-family:monospace;font-size:0.9em">{escape(rest)}</span></div>')
    return f'<div style="max-width:58em;line-height:1.4;margin-top:0.4em">{rows}</div>'


def spoken(code, way, invents, thinks):
    result, done = lab_run(code, way, invents, thinks)
    return f"Bars of tokens for {len(result.journal.of('reply'))} steps. The payment fails with {code}, the model writes {way}. Really done: {', '.join(done)}. {result.report}"
