"""The trace viewer of notebook 08: one recorded run as a table, as the list that was sent at a step, or on the clock."""

import json
from functools import cache
from html import escape

from . import patients
from .controls import Choice, Step
from .timeline import timeline

VIEWS = ("table", "timeline", "sent at this step")
STEPS, SECONDS, TOKENS = 9, 16, 3_000      # the axes of every timeline in the lab
_LONG = 170                                # characters of one text in the lab
_MARKS = {"system": "#7A7A7A", "user": "#56B4E9", "assistant": "#D55E00", "tool": "#009E73"}
_LINE, _CELL = "#8A8A8A", "text-align:left;vertical-align:top;padding:0.15em 0.8em 0.15em 0.4em"
# No class, no style sheet and no text colour: this must look the same on a page that was not run, in any theme.


@cache
def recorded(who: str, mended: bool = False):
    """The record of one of the five runs, made once."""
    return patients.record(who, mended).journal


def controls() -> dict:
    """The controls of the viewer: which run, which step, which view."""
    return {"who": Choice("Run", {f"{name}: {case.complaint[:-1]}": name for name, case in patients.PATIENTS.items()}, help="Whose record is read"),
            "view": Choice("View", VIEWS, buttons=True, help="Three views of one record"),
            "step": Step("Step", 1, STEPS, help="One model call and its tools")}


def view(who: str, view: str, step: int):
    """What the viewer shows: a pure function of its settings."""
    journal = recorded(who)
    last = journal.of("reply")[-1]["step"]
    if view == "timeline":
        return timeline(journal, step=min(step, last), seconds=SECONDS, tokens=TOKENS, steps=STEPS), f"<p>{escape(journal.report())}</p>"
    over = f" The run ended at step {last}." if step > last else ""
    return trace_table(journal, min(step, last), over) if view == "table" else sent_list(journal, min(step, last), over)


def spoken(who: str, view: str, step: int) -> str:
    """The picture of the viewer in words."""
    return f"{who}, {view}, step {step}. {recorded(who).report()}"


def numbers(who: str, step: int) -> dict:
    """A step in numbers: what the model was sent, what the harness held then, and how long the model took."""
    journal = recorded(who)
    reply = journal.of("reply")[step - 1]
    return {"messages sent": len(journal.of("sent")[step - 1]["messages"]), "messages held": _held(journal, step),
            "tokens sent": reply["usage"]["input_tokens"], "seconds": round(reply["seconds"], 1)}


def trace_table(journal, step: int | None = None, over: str = "") -> str:
    """The trace as HTML, with time and tokens; `step` is marked."""
    results = {e["id"]: e for e in journal.of("result")}
    rows = []
    for reply in journal.of("reply"):
        message, head = reply["message"] or {}, [str(reply["step"]), f"{reply['usage']['input_tokens']:,}", f"{reply['seconds']:.1f}"]
        calls = message.get("tool_calls", ())
        if not calls:
            rows.append((reply["step"], [*head, reply["outcome"], message.get("content") or "", ""]))
        for n, c in enumerate(calls):
            got = results.get(c["id"])
            text = got["content"] if got else "(no result)"
            rows.append((reply["step"], [*(head if not n else ["", "", ""]), f"{c['function']['name']}({c['function']['arguments']})",
                                         ("✗ " if got and got["error"] else "") + _cut(text), f"{got['seconds']:.1f}" if got else ""]))
    names = ("step", "tokens sent", "model s", "the model asks for", "what came back (✗: an error)", "tool s")
    body = "".join(_row(cells, number == step) for number, cells in rows)
    return (f'<div style="overflow-x:auto"><table style="border-collapse:collapse;line-height:1.4"><tr>{"".join(_head(n) for n in names)}</tr>{body}</table></div>'
            f"<p>{escape(journal.report())}{over}</p>")


def _head(name) -> str:
    return f'<th style="{_CELL};white-space:nowrap;border-bottom:2px solid {_LINE}">{name}</th>'


def _row(cells, now) -> str:
    edge = f"border-top:2px solid {_LINE};border-bottom:2px solid {_LINE};font-weight:bold;" if now else ""
    written = [escape(c) for c in cells]
    if now and cells[0]:
        written[0] = "▶ " + written[0]
    looks = ["white-space:nowrap;", "", "", "font-family:monospace;white-space:nowrap;", "font-family:monospace;overflow-wrap:anywhere;", ""]
    return "<tr>" + "".join(f'<td style="{_CELL};{edge}{look}">{text}</td>' for text, look in zip(written, looks)) + "</tr>"


def sent_list(journal, step: int, over: str = "") -> str:
    """The list that the model was really sent at a step, and how long the harness's own list was then."""
    sent, reply = journal.of("sent")[step - 1]["messages"], journal.of("reply")[step - 1]
    held = _held(journal, step)
    cards = "".join(_card(m) for m in sent)
    return (f'<p style="margin:0.3em 0"><b>Step {step}: the model is sent {len(sent)} messages</b>, {reply["usage"]["input_tokens"]:,} tokens with the tools. '
            f"The harness's own list has {held} messages, {reply['prompt_tokens']:,} tokens.{over}</p>{cards}"
            f'<p style="margin:0.3em 0">Then it {escape(_asks(reply))}</p>')


def _held(journal, step: int) -> int:
    """How many messages the harness's own list had when a step began."""
    return len(journal.of("message")) + sum(e["message"] is not None for e in journal.of("reply")[:step - 1]) + sum(
        e["step"] < step for e in journal.of("result"))


def _card(message) -> str:
    text = _cut(message["content"] or "")
    for c in message.get("tool_calls", ()):
        text += ("\n" if text else "") + f"calls {c['function']['name']} {c['function']['arguments']}   (id {c['id']})"
    answers = f"   (answers id {message['tool_call_id']})" if message["role"] == "tool" else ""
    return (f'<div style="border-left:5px solid {_MARKS[message["role"]]};margin:0.2em 0;padding:0.1em 0 0.1em 0.6em">'
            f'<b style="display:inline-block;width:5.5em">{message["role"]}</b>'
            f'<span style="font-family:monospace;font-size:0.9em;white-space:pre-wrap">{escape(text + answers)}</span></div>')


def _asks(reply) -> str:
    calls = (reply["message"] or {}).get("tool_calls", ())
    if not calls:
        return f'answers: "{(reply["message"] or {}).get("content")}"'
    return "asks for " + " and ".join(f"{c['function']['name']}({c['function']['arguments']})" for c in calls) + "."


def _cut(text: str) -> str:
    return text if len(text) <= _LONG else f"{text[:_LONG - 40]} ... ({len(text):,} characters)"


# ---- the cures -------------------------------------------------------------------------------------------------------

CURES = {
    "patient 1": ("Its adapter kept the results by tool name, so of three results of get_order only the first reached the model: the error. "
                  "Nobody noticed, because it left out the calls as well and the list stayed one that a provider takes.",
                  "Match results by tool_call_id, and send what is on the list."),
    "patient 2": ("The customer service did not answer. The tool caught the time-out and returned an empty list, which means something else. "
                  "The one trace that it left is the clock: ten seconds for a call that takes 0.6.",
                  "Let the tool fail. The model reads the error and asks again."),
    "patient 3": ("Two tools look up an order on its way, and each sends the model to the other. Neither call fails, so no error shows.",
                  "One tool for one question."),
    "patient 4": ("find_orders returned the whole history, and the trimmer made room by leaving out what was oldest: the system message, with the rule in it.",
                  "A tool returns what was asked for, and the rules and the task are pinned when the list is trimmed."),
}


class Cures:
    """The broken run and the mended one, side by side; folded, so that nobody reads it by accident."""

    def __init__(self, *names: str):
        self.names = names

    def __repr__(self):
        return f"The cures of {', '.join(self.names)}: folded. Open them in Jupyter."

    def _repr_html_(self):
        return "".join(f'<details><summary><b>{name}: the cause and the cure</b> (open it when you have decided)</summary>{self._one(name)}</details>'
                       for name in self.names)

    def _one(self, name) -> str:
        why, cure = CURES[name]
        panes = "".join(f'<div style="flex:1 1 20em;min-width:0"><b>{title}</b>{_short(recorded(name, mended))}</div>'
                        for title, mended in (("as it was", False), ("mended", True)))
        return (f"<p>{escape(why)}</p><p><b>Cure.</b> {escape(cure)}</p>"
                f'<div style="display:flex;flex-flow:row wrap;gap:0 2em">{panes}</div>')


def _short(journal) -> str:
    """A run in a few lines: what was asked for at each step, and how it ended."""
    lines = []
    for reply in journal.of("reply"):
        calls = (reply["message"] or {}).get("tool_calls", ())
        asked = ", ".join(f"{c['function']['name']}({', '.join(_values(c))})" for c in calls)
        lines.append(f"{reply['step']}  {asked or (reply['message'] or {}).get('content')}")
    used = sum(e["usage"]["input_tokens"] + e["usage"]["output_tokens"] for e in journal.of("reply"))
    end = journal.of("end")[0]
    return (f'<p style="font-family:monospace;font-size:0.9em;white-space:pre-wrap;margin:0.2em 0">{escape(chr(10).join(lines))}</p>'
            f'<p style="margin:0.2em 0 0.6em 0">{end["status"]}, {used:,} tokens, {end["elapsed"]:.1f} s</p>')


def _values(call) -> list[str]:
    return [str(v) for v in json.loads(call["function"]["arguments"]).values()]
