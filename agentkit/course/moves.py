"""The player: a finished run as a row of moves, each one somebody's: the user, the model, the harness or a tool."""

from dataclasses import dataclass
from html import escape

from agentkit.journal import Journal

ACTORS = {"you": "You", "model": "Model", "harness": "Harness", "tool": "Tool"}
_MARKS = {"system": "#7A7A7A", "user": "#56B4E9", "assistant": "#D55E00", "tool": "#009E73"}
_ACTS = "#0072B2"
_LINE, _QUIET = "#8A8A8A", "opacity:0.75"     # no text colour at all: it is the theme's; no var(...): a page that was not run drops it


@dataclass(frozen=True)
class Move:
    """One move of a run: who acts, what happens in a sentence, and what it leaves behind."""

    actor: str
    says: str
    message: dict | None = None             # the message that joins the list, if one does
    call: tuple[int, int, int] | None = None    # of a model call: its step, tokens in, tokens out


def moves(journal: Journal) -> list[Move]:
    """The moves of a run, read from its record."""
    found, told = [], {m["tool_call_id"]: m for m in journal.messages() if m["role"] == "tool"}
    for e in journal.events:
        if e["kind"] == "message":
            role = e["message"]["role"]
            found.append(Move("harness" if e.get("nudge") or role == "system" else "you", {
                "system": "The harness opens the list with the rules.", "user": "The task joins the list."}[role]
                if not e.get("nudge") else "The harness tells the model what was wrong with its reply.", e["message"]))
        elif e["kind"] == "reply":
            found.append(Move("model", _reply_says(e), e["message"], (e["step"], e["usage"]["input_tokens"] + e["usage"]["cached_tokens"], e["usage"]["output_tokens"])))
        elif e["kind"] == "call":
            found.append(Move("harness", f"The harness knows the tool {e['name']} and the arguments fit its schema. It calls your function."))
        elif e["kind"] == "result":
            who, says = ("tool", f"{e['name']} ran, and its result joins the list.") if e["ran"] else (
                "harness", "The harness does not run this call. The reason joins the list, so that the model can read it.")
            found.append(Move(who, says, told[e["id"]]))
        elif e["kind"] == "end":
            found.append(Move("harness", f"The harness ends the run. {journal.report()}"))
    return found


def _reply_says(e) -> str:
    calls = (e["message"] or {}).get("tool_calls", ())
    read = f"The model reads the whole list ({e['prompt_tokens']:,} tokens by our count) and "
    if calls:
        return read + f"asks for {' and '.join(c['function']['name'] for c in calls)}. It runs nothing itself."
    return read + ("answers in text." if e["message"] else "writes nothing.")


def frame(steps: list[Move], k: int) -> str:
    """Move `k` (from 1) as HTML: who acts, what happens, the list so far with what is new in it, the tokens of each call."""
    now, past = steps[k - 1], steps[:k]
    messages = [(m.message, m is now) for m in past if m.message is not None]
    calls = [m.call for m in past if m.call]
    # No class and no style sheet: what is here must look the same on a static page, which keeps inline styles only.
    return (f'<div style="max-width:52em;line-height:1.45">{_strip(now.actor)}'
            f'<p style="margin:0.5em 0;min-height:2.6em"><b>Move {k} of {len(steps)}.</b> {escape(now.says)}</p>'
            f'<div style="margin:0.5em 0"><b>The message list</b> <span style="{_QUIET}">({len(messages)} '
            f'{"message" if len(messages) == 1 else "messages"})</span>{"".join(_card(m, new) for m, new in messages)}</div>{_bars(calls)}</div>')


def _strip(actor: str) -> str:
    boxes = []
    for key, name in ACTORS.items():
        on = key == actor
        boxes.append(f'<span style="display:inline-block;padding:0.25em 0.9em;margin:0 0.4em 0.2em 0;border:{"3px" if on else "1px"} solid '
                     f'{_ACTS if on else _LINE};border-radius:0.4em;{"font-weight:bold" if on else _QUIET}">'
                     f'{"▶ " if on else ""}{name}{" acts" if on else ""}</span>')
    return f"<div>{''.join(boxes)}</div>"


def _card(message: dict, new: bool) -> str:
    text = message["content"] or ""
    for c in message.get("tool_calls", ()):
        text += ("\n" if text else "") + f"calls {c['function']['name']} {c['function']['arguments']}   (id {c['id']})"
    if message["role"] == "tool":
        text = f"{text}   (answers id {message['tool_call_id']})"
    return (f'<div style="border-left:5px solid {_MARKS[message["role"]]};margin:0.25em 0;padding:0.15em 0 0.15em 0.6em;'
            f'{f"border-top:1px solid {_LINE};border-bottom:1px solid {_LINE};" if new else ""}">'
            f'<b>{message["role"]}</b>{" <b>← new</b>" if new else ""} '
            f'<span style="font-family:monospace;font-size:0.9em;white-space:pre-wrap">{escape(text if len(text) < 420 else text[:420] + " ...")}</span></div>')


def _bars(calls) -> str:
    if not calls:
        return ""
    widest = max(i + o for _, i, o in calls)
    rows = "".join(
        f'<div style="margin:0.1em 0"><span style="display:inline-block;width:4.5em">step {n}</span>'
        f'<span style="display:inline-block;width:{20 * i / widest:.2f}em;height:0.8em;background-color:#0072B2"></span>'
        f'<span style="display:inline-block;width:{20 * o / widest:.2f}em;height:0.8em;background-color:#E69F00"></span> {i:,} in + {o:,} out</div>'
        for n, i, o in calls)
    total = sum(i + o for _, i, o in calls)
    return f'<div><b>Tokens of each model call</b> <span style="{_QUIET}">({total:,} so far; blue is sent, orange is written)</span>{rows}</div>'


def player(result, title: str):
    """A lab that steps through a finished run, forward and back; on a page without a kernel it shows the last move."""
    from .lab import Lab, Step
    steps = moves(result.journal)
    return Lab({"move": Step("Move", 1, len(steps), 1, "One move at a time, forward or back")},
               lambda move: frame(steps, move), title=title, still={"move": len(steps)},
               alt=lambda move: f"Move {move} of {len(steps)}: {steps[move - 1].actor}. {steps[move - 1].says}")
