"""The pictures of notebook 22: tokens of a first call, the table of failures, the calls until a run ended, the lab. See frameworks.py."""

import re
from html import escape

from . import frameworks
from .controls import Choice
from .figures import CARD, COLOURS, INK, figure, fill
from .frameworks import FAILURES, KINDS, MODULES, MORE, OURS, data, fate, label, names, part, record, row, told

# Where the run goes on the cell is plain, where a failure ends it hatched or dotted, and dark where nothing did.
LOOKS = {"told": ("#DCE9F2", None), "part": ("#F4EBCF", None), "ran": ("#F4EBCF", None), "again": ("#F4EBCF", None), "raised": ("#F3D9C7", "//"),
         "empty": ("#E3E0DA", ".."), "limit": ("#C6E3CE", None), "script": ("#3D3D3D", None)}


def tokens_figure():
    """Left: what the first call is made of. Right: what each of the next two calls adds."""
    systems = names()[::-1]
    fig, (left, right) = figure(7.9, 3.3, columns=2, sharey=True, margins=(1.25, 0.2, 0.7, 0.55), gridspec_kw={"wspace": 0.1, "width_ratios": (3, 2)},
                                title="Same task, same tools: what the first call holds, and what the two steps add")
    at = [0] * len(systems)
    for i, (key, text) in enumerate({"system": "system message", "task": "task", "definitions": "tool definitions"}.items()):
        wide = [frameworks.first_call(name)[key] for name in systems]
        left.barh(systems, wide, left=at, height=0.7, label=text, **fill(i))
        at = [a + w for a, w in zip(at, wide)]
    added = [[b - a for a, b in zip(calls, calls[1:])] for calls in map(frameworks.each_call, systems)]
    right.barh(systems, [a for a, _ in added], height=0.7, label="step 1", **fill(3))
    right.barh(systems, [b for _, b in added], left=[a for a, _ in added], height=0.7, label="step 2", **fill(4))
    for ax, ends, pad in ((left, at, 15), (right, [a + b for a, b in added], 2)):
        for y, end in enumerate(ends):
            ax.text(end + pad, y, f"{end:,}", va="center", size=8.5)
        ax.set_xlim(0, max(ends) * 1.14)
        ax.grid(axis="y", visible=False)
        ax.legend(loc="lower left", bbox_to_anchor=(-0.02, 0.97), ncols=3, frameon=False, fontsize=8, handlelength=1.3, columnspacing=0.9,
                  borderpad=0.2)
    left.set_xlabel("tokens of the first call")
    right.set_xlabel("tokens that the steps added")
    return fig


def matrix_figure():
    """What every system did on the eight failures, in words; the same word has the same look."""
    cases, systems = list(FAILURES), names()
    fig, ax = figure(9.4, 4.9, margins=(1.65, 0.1, 0.72, 0.55))
    fig.text(0.02, 0.965, "Eight failures, and no two of the seven harnesses treat them all alike (defaults)", weight="bold", size=11, va="top", color=INK)
    for y, case in enumerate(cases):
        for x, name in enumerate(systems):
            found = fate(case, record(name, case))
            colour, hatch = LOOKS[found.kind]
            dark = found.kind == "script"
            ax.barh(y, 0.95, left=x + 0.025, height=0.88, color=colour, hatch=hatch, edgecolor="#E2B999" if hatch == "//" else "#CFCBC2", linewidth=0)
            ax.text(x + 0.5, y, broken(found.words), ha="center", va="center", size=7.8, linespacing=1.15, color=CARD if dark else INK,
                    bbox=None if dark or not hatch else {"facecolor": colour, "edgecolor": "none", "pad": 0.8})
    ax.set(xlim=(0, len(systems)), ylim=(len(cases) - 0.5, -0.5), xticks=[x + 0.5 for x in range(len(systems))], yticks=range(len(cases)))
    ax.set_xticklabels(systems, size=8.5)
    ax.set_yticklabels([label(case) for case in cases], size=8.5)
    ax.xaxis.tick_top()
    ax.grid(False)
    ax.tick_params(length=0)
    ax.spines[:].set_visible(False)
    _key(fig)
    return fig


def _key(fig):
    """What the looks mean, below the cells."""
    from matplotlib.patches import Patch

    said = {"told, goes on": "told", "goes on, told less": "ran", "an exception": "raised", "an empty answer": "empty", "stops by itself": "limit",
            "does not stop": "script"}
    fig.legend(handles=[Patch(facecolor=LOOKS[k][0], hatch=LOOKS[k][1], edgecolor="#B9B4A8", linewidth=0.6, label=text) for text, k in said.items()],
               loc="lower center", bbox_to_anchor=(0.54, 0.02), ncols=6, frameon=False, fontsize=8, handlelength=1.6, columnspacing=1.3)


def broken(words: str, most: int = 14) -> str:
    """Words for a narrow cell: long names are broken between their parts."""
    lines = []
    for line in words.split("\n"):
        while len(line) > most and (cuts := [m.start() for m in re.finditer(r"(?<=[a-z_])(?=[A-Z])|(?<=_)", line) if 0 < m.start() < most]):
            lines.append(line[:cuts[-1]] + ("" if line[cuts[-1] - 1] == "_" else "-"))
            line = line[cuts[-1]:]
        lines.append(line)
    return "\n".join(lines)


def exits_figure(cases=("never_stops", "same_call")):
    """Model calls until a run ended, for models that never end it themselves."""
    systems = names()[::-1]
    fig, ax = figure(7.6, 3.4, xlabel="model calls until the run ended", title="Two models that never finish: five harnesses stop them, two do not",
                     margins=(1.25, 0.2, 0.45, 0.55))
    for i, case in enumerate(cases):
        for y, name in enumerate(systems):
            kept, found = record(name, case), fate(case, record(name, case))
            up = y + 0.2 - 0.4 * i
            ax.barh(up, kept["model_calls"], height=0.36, label=label(case) if y == 0 else None, **fill(i))
            by = "the script answered" if found.kind == "script" else found.end
            ax.text(kept["model_calls"] + 2, up, f"{kept['model_calls']}, {by}", size=8, va="center")
    ax.set(xlim=(0, 202), xticks=range(0, 151, 25), yticks=range(len(systems)), yticklabels=systems, ylim=(-0.5, len(systems) - 0.5))
    ax.grid(axis="y", visible=False)
    ax.legend(loc="lower right", title="the model", fontsize=8.5, title_fontsize=8.5)
    return fig


def map_table() -> str:
    """Our modules and what the frameworks call theirs, as HTML; empty where the data name nothing."""
    systems = [name for name in names() if name != OURS]
    style = "text-align:left;vertical-align:top;padding:3px 7px;"
    code = style + "font-family:monospace;font-size:11px"
    head = "".join(f'<th style="{style}">{escape(t)}</th>' for t in ("agentkit", "what it does", *systems))
    body = ""
    for module, does in MODULES.items():
        cells = "".join(f'<td style="{code}">{_may_break(part(name, module)) or "&nbsp;"}</td>' for name in systems)
        body += f'<tr><td style="{code}">{module}</td><td style="{style}">{does}</td>{cells}</tr>'
    return f'<table style="font-size:12px"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _may_break(name: str) -> str:
    """A long name may be broken before a capital and after an underscore."""
    return re.sub(r"(?<=[a-z])(?=[A-Z])|(?<=_)", "<wbr>", escape(name))


def story(name: str, case: str) -> list[tuple[str, str]]:
    """One record as (what, text) pairs."""
    kept = record(name, case)
    ran = ", ".join(kept["executed"][:3]) + (f" and {kept['ran'] - 3} more" if kept["ran"] > 3 else "")
    grown = any("added_to_its_content" in m for m in kept.get("second_call_adds", ()))
    back = [(f"as {role}" + (", added to the task's message" if grown else ""), " ".join(text.split())) for role, text in told(kept)]
    if kept["ended"] == "returned":
        end = f"returned {kept['answer']!r}" + (f", {kept['state']}" if kept.get("state") else "")
    else:
        end = f"{kept['ended']} {kept['error']}: {' '.join(kept['message'].split())}"
    return [("really ran", ran or "nothing"), *([(f"sent back {how}", text) for how, text in back] or [("sent back", "nothing new")]),
            ("the run", end), ("model calls", f"{kept['model_calls']}, {kept['tokens']['all']:,} tokens in all")]


def lab_view(case, left, right):
    """Two systems on one failure, side by side, as HTML."""
    cards = ""
    for name in (left, right):
        lines = "".join(f'<div style="margin:5px 0"><span style="opacity:0.75">{escape(what)}</span><br>'
                        f'<span style="font-family:monospace;font-size:12px;overflow-wrap:anywhere">{escape(text)}</span></div>'
                        for what, text in story(name, case))
        cards += (f'<div style="flex:1 1 20em;border:1px solid #8888;border-radius:6px;padding:6px 12px">'
                  f'<b>{escape(name)} {escape(row(name)["version"])}</b>: {escape(KINDS[fate(case, record(name, case)).kind])}{lines}</div>')
    return (f'<div style="max-width:62em"><p>T{escape(data()["cases"][case][1:])}.</p>'
            f'<div style="display:flex;flex-flow:row wrap;gap:10px">{cards}</div></div>')


def spoken(case, left, right):
    """The lab in words."""
    return " ".join(f"{name} on {label(case)}: {KINDS[fate(case, record(name, case)).kind]}." for name in (left, right))


def controls():
    """The lab's controls; the first settings show two systems that part."""
    systems = names()
    return {"case": Choice("The model", {label(case): case for case in (*FAILURES, *MORE)}, default="tool_raises"),
            "left": Choice("Left", systems, default="openai-agents"), "right": Choice("Right", systems, default="pydantic-ai")}


__all__ = ["controls", "exits_figure", "lab_view", "map_table", "matrix_figure", "spoken", "story", "tokens_figure"]
