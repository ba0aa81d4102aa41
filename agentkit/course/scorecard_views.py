"""How a scorecard, a trace of the round and a broken loop are shown: pure functions to plain text and HTML (inline styles only)."""

from __future__ import annotations

import json
from itertools import groupby

from .values import show
from .verdict import escape

ICONS = {"met": "\N{CHECK MARK}", "not met": "\N{BALLOT X}", "not reached": "\N{WHITE CIRCLE}"}
_COLOURS = {"met": "#009E73", "not met": "#D55E00", "not reached": "#8A8A8A"}
STAGES = {1: "Stage 1: a loop", 2: "Stage 2: things fail", 3: "Stage 3: several calls", 4: "Stage 4: limits", 5: "Stage 5: a restart"}
_QUIET = "opacity:0.75"


def plain(card) -> str:
    """A card as text."""
    lines = [f"Scorecard. {card.note or card.summary}"]
    if not card.note:
        width = max(len(mark.line.says) for mark in card.marks)
        lines += [
            f"  {ICONS[m.state]} {m.state:11}  {m.line.level:6}  {m.line.says:{width}}  {m.line.notebook[:2]}"
            + (f"\n{'':25}{m.evidence}" if m.state != "not reached" else "")
            for m in card.marks
        ]
    return "\n".join(lines)


def html(card) -> str:
    """A card as a table of lines, stage by stage."""
    rows = "".join(
        f'<div style="margin:0.7em 0 0.15em 0;{_QUIET}">{STAGES[stage]}</div>' + "".join(map(_row, marks))
        for stage, marks in groupby(card.marks, key=lambda mark: mark.line.stage)
    )
    after = card.next
    ahead = "" if after is None else f'<div style="margin-top:0.8em"><b>Next:</b> {escape(after.line.says)} ({_link(after.line)}).</div>'
    if card.note:
        return (
            f'<div style="max-width:58em"><b>Scorecard.</b> {escape(card.note)}<details style="margin:4px 0"><summary'
            f' style="cursor:pointer">What will be on it: {len(card.marks)} lines</summary>{rows}</details></div>'
        )
    return f'<div style="max-width:58em;line-height:1.4"><b>Scorecard.</b> {escape(card.summary)}{_tiles(card)}{rows}{ahead}</div>'


def _tiles(card) -> str:
    """One small box for each line: the whole card at a glance."""
    boxes = "".join(
        '<span style="display:inline-block;width:1.5em;text-align:center;margin:0 2px;border-bottom:4px solid'
        f' {_COLOURS[m.state]}">{ICONS[m.state]}</span>'
        for m in card.marks
    )
    return f'<div aria-hidden="true" style="margin:0.3em 0">{boxes}</div>'


def _row(mark) -> str:
    weight, quiet = ("normal", f"{_QUIET};") if mark.state == "not reached" else ("bold", "")
    return (
        f'<div style="display:flex;gap:0.7em;border-left:4px solid {_COLOURS[mark.state]};padding:1px 0 1px 10px;margin:3px 0"><span'
        f' style="flex:0 0 8em">{ICONS[mark.state]} {mark.state}</span><span style="flex:1 1 auto;min-width:0;overflow-wrap:anywhere"><span'
        f' style="font-weight:{weight};{quiet}">{escape(mark.line.says)}</span>{_evidence(mark)}</span><span style="flex:0 0'
        f' 3.6em;{_QUIET}">{mark.line.level}</span><span style="flex:0 0 1.6em">{_link(mark.line)}</span></div>'
    )


def _evidence(mark) -> str:
    return f'<br><span style="font-size:0.92em;{_QUIET}">{escape(mark.evidence)}</span>' if mark.evidence else ""


def _link(line) -> str:
    return f'<a href="{line.notebook}.ipynb">{line.notebook[:2]}</a>'


# ---- a trace of one situation ---------------------------------------------------------------------------------------


def trace_rows(scene, end) -> list[tuple[str, str]]:
    """(who, what) for everything that happened in a scene, in order, and how it ended."""
    rows, n = [], 0
    for event in scene.events:
        if event[0] == "model":
            n += 1
            rows.append((f"model call {n}", f"is sent {event[1]} message{'' if event[1] == 1 else 's'}, {_reply(event[2])}"))
        elif event[0] == "tool":
            rows.append((event[1], f"runs with {', '.join(f'{k}={v!r}' for k, v in event[2].items()) or 'nothing'}: {event[3]}"))
        else:
            rows.append(("the process", "is killed" if event[0] == "killed" else "is started again with the same path"))
            n = 0 if event[0] == "restart" else n
    return [
        *rows,
        ("the run", end.wrong[0].lower() + end.wrong[1:] if end.wrong else f"comes back: {end.status}, answer {show(end.answer, 60)}"),
    ]


def _reply(reply) -> str:
    if isinstance(reply, BaseException):
        return "dies with the process" if type(reply).__name__ == "Killed" else f"raises {type(reply).__name__}"
    asks = " and ".join(f"{c['name']}({_arguments(c)})" for c in reply.get("tool_calls") or ())
    said = f"says {reply['text']!r}" if reply.get("text") else ""
    return " and ".join(filter(None, (said, f"asks for {asks}" if asks else ""))) or "says nothing"


def _arguments(c) -> str:
    try:
        named = json.loads(c["arguments"])
        return ", ".join(f"{k}={v!r}" for k, v in named.items())
    except (ValueError, AttributeError):
        return f"unreadable: {c['arguments']!r}"


def trace_html(scene, end) -> str:
    rows = "".join(
        f'<div style="display:flex;gap:0.7em;margin:2px 0"><span style="flex:0 0 8em;font-weight:bold">{escape(who)}</span>'
        f'<span style="flex:1 1 auto;min-width:0;overflow-wrap:anywhere">{escape(what)}</span></div>'
        for who, what in trace_rows(scene, end)
    )
    return f'<div style="font-size:0.95em">{rows}</div>'


def listing(source: str) -> str:
    """Code with the numbers of its lines, without a text colour of its own."""
    lines = source.strip("\n").split("\n")
    body = "\n".join(f'<span style="opacity:0.55">{n:2}</span>  {escape(text)}' for n, text in enumerate(lines, 1))
    style = "margin:0;padding:0;background:none;color:inherit;white-space:pre;overflow-x:auto;font-family:monospace;font-size:0.9em;line-height:1.35"
    return f'<pre style="{style}">{body}</pre>'


def pieces_html(pieces) -> str:
    """[(what to say, source)]: the sentences stand there to be read, the code opens below each."""
    from .verdict import folded

    return "<div>" + "".join(folded(f"{n}. “{said}”", listing(source)) for n, (said, source) in enumerate(pieces, 1)) + "</div>"


# ---- many cards at a glance -------------------------------------------------------------------------------------------


def matrix_figure(cards: dict, title: str):
    """One column for each card ({label: card}), one row for each line: a sign and a shade for met, not met, not reached."""
    from .figures import INK, figure

    marks = next(iter(cards.values())).marks
    fig, ax = figure(8.6, 4.8, margins=(4.6, 0.15, 0.66, 0.15))
    fig.text(0.012, 0.985, title, weight="bold", size=11.5, va="top", color=INK)
    shades = {"met": ("#BFE3D6", INK), "not met": ("#F6CDB8", INK), "not reached": ("#FFFFFF", "#6A6A6A")}
    for column, card in enumerate(cards.values()):
        for row, mark in enumerate(card.marks):
            shade, ink = shades[mark.state]
            ax.add_patch(_box(column, row, shade))
            ax.text(
                column,
                row,
                {"met": "met", "not met": "✗ no", "not reached": "–"}[mark.state],
                ha="center",
                va="center",
                size=9,
                color=ink,
                weight="bold" if mark.state == "not met" else "normal",
            )
    ax.set(xlim=(-0.5, len(cards) - 0.5), ylim=(len(marks) - 0.5, -0.5), xticks=range(len(cards)), yticks=range(len(marks)))
    ax.set_xticklabels(list(cards), size=8.5)
    ax.set_yticklabels([f"{m.line.says}  ({m.line.level})" for m in marks], size=8)
    ax.xaxis.tick_top()
    ax.tick_params(length=0)
    ax.grid(False)
    for side in ax.spines.values():
        side.set_visible(False)
    return fig


def _box(column, row, shade):
    from matplotlib.patches import Rectangle

    return Rectangle((column - 0.48, row - 0.46), 0.96, 0.92, facecolor=shade, edgecolor="#8A8A8A", linewidth=0.6)


# ---- ten broken loops -------------------------------------------------------------------------------------------------


def loops_controls() -> dict:
    from .broken_loops import LOOPS
    from .controls import Step

    return {"number": Step("Loop", 1, len(LOOPS), 1, "One broken loop after the other")}


def loop_view(number: int) -> str:
    """A broken loop, its failing run, and what is wrong, folded."""
    from .broken_loops import loop

    broken = loop(number)
    scene, end, found = _failing(number)
    code = f'<b>Loop {number} of 10.</b> “{escape(broken.looks)}”<div style="margin-top:0.4em">{listing(broken.source)}</div>'
    run = f'<div style="margin-top:0.8em"><b>One of its runs</b></div><div style="margin-top:0.3em">{trace_html(scene, end)}</div>'
    return f'<div style="line-height:1.4;max-width:62em">{code}{run}{_wrong(broken, found)}</div>'


def _wrong(broken, found) -> str:
    if broken.exercise:
        return f'<p style="margin:0.8em 0 0 0"><b>What is wrong?</b> Exercise {broken.exercise} asks you.</p>'
    return (
        '<details style="margin:0.8em 0 0 0"><summary style="cursor:pointer"><b>What is wrong?</b> Name the line first.</summary>'
        f'<p style="margin:0.4em 0"><b>Line {broken.bug_line}.</b> {escape(broken.why)}</p>'
        f'<p style="margin:0.4em 0">The card says: {escape(found)}</p>'
        f'<p style="margin:0.4em 0;{_QUIET}">Reported as {escape(broken.reference)}. Taught in {_link(broken.line)}.</p></details>'
    )


def loop_alt(number: int) -> str:
    from .broken_loops import loop

    return f"Loop {number} of 10: {loop(number).looks}"


def _failing(number: int):
    from .broken_loops import loop

    if number not in _RUNS:
        _RUNS[number] = loop(number).failing_run()
    return _RUNS[number]


_RUNS: dict = {}
