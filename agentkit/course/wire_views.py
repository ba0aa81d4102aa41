"""The pictures of notebook 11: three shapes side by side, one reply on the wire as a lab, and a stream. See wires.py."""

import json
from html import escape

from agentkit import Reply

from .controls import Choice, Slider, Switch
from .figures import INK, QUIET, figure
from .wires import APIS, KINDS, Exchange, exchange, places, spread


def side_by_side() -> str:
    """The three shapes as an HTML table."""
    head = "".join(f'<th style="text-align:left">{escape(name)}</th>' for name in ("", *APIS))
    rows = ""
    for what, way, found in places():
        cells = "".join(f'<td style="text-align:left;vertical-align:top;width:30%"><b>{escape(_spelled(path))}</b>{_pre(spread(_short(value), 36))}</td>'
                        for path, value in found.values())
        rows += f'<tr><td style="text-align:left;vertical-align:top">{escape(what)}<br>{"↑ sent" if way == "up" else "↓ comes back"}</td>{cells}</tr>'
    return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _spelled(path: str) -> str:
    return "".join(f"[{step}]" if step.isdigit() else f".{step}" for step in path.split(".")).lstrip(".")


_LEFT_OUT = ("total_tokens", "cache_creation_input_tokens", "output_tokens_details", "annotations", "logprobs", "index", "strict")


def _short(value):
    """A value without what tells nothing here; schemas and long texts cut, names and arguments never."""
    if isinstance(value, dict):
        return {k: "..." if k in ("parameters", "input_schema") else v if k == "arguments" else _short(v)
                for k, v in value.items() if k not in _LEFT_OUT and v is not None}
    if isinstance(value, list):
        return [_short(v) for v in value]
    return value if not isinstance(value, str) or len(value) <= 30 else value[:24].rsplit(" ", 1)[0] + " ..."


_SAME_EVERY_TIME = frozenset("""id object created created_at model logprobs sequence_number item_id content_index metadata tools instructions temperature
    top_p tool_choice parallel_tool_calls stop_sequence annotations obfuscation index error""".split())


def _telling(value, top: bool = True):
    """An event or answer without the fields that stand in every one, and without null."""
    if isinstance(value, list):
        return [_telling(v, top) for v in value]
    if not isinstance(value, dict):
        return value
    kept = {k: v for k, v in value.items() if v is not None or k == "content"}
    if top:
        block = str(value.get("type")).startswith("content_block")
        kept = {k: v for k, v in kept.items() if k not in _SAME_EVERY_TIME or k == "index" and block}
    return {k: _telling(v, k in ("choices", "response", "message", "part")) for k, v in kept.items()}


def shown(found: Exchange, most: int = 14) -> list[str]:
    """The answer for a reader: its events, or the body broken into lines. What tells nothing, or has been told, is left out."""
    if found.events is None:
        return [spread(_telling(found.answer))]
    told = []
    for _, data in found.events:
        data = _telling(data) if isinstance(data, dict) else data
        if "response" in data and data["response"].get("output"):
            data["response"]["output"] = "..."
        told.append(f"data: {data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)}")
    if len(told) > most:
        told[most - 5:-4] = [f"... {len(told) - most + 1} events more ..."]
    return told


# ---- the lab -------------------------------------------------------------------------------------------------------------

def controls() -> dict:
    """The controls of the lab."""
    return {"api": Choice("API", list(APIS), help="Whose shape", buttons=True), "kind": Choice("The reply", list(KINDS), help="What the model says"),
            "streamed": Switch("Streamed", True, help="In pieces, as they are written"),
            "size": Slider("Piece", 1, 24, 8, help="Characters in a piece; makes a difference only where it is streamed")}


def view(api: str, kind: str, streamed: bool, size: int) -> str:
    """One exchange: the Reply it becomes, then the wire text of both ways."""
    found = exchange(api, kind, streamed, size)
    up, down, events = len(json.dumps(found.request)), len(found.wire.encode()), len(found.events or ())
    way = f"{events} events, {down:,} bytes" if streamed else f"one piece, {down:,} bytes"
    body = {k: v for k, v in found.request.items() if k != "tools"}
    cells = ((f"↑ POST {found.path}, {up:,} bytes", spread(_short({**body, "tools": "..."}), 44)), (f"↓ {way}", *shown(found)))
    wires = "".join(f'<td style="text-align:left;vertical-align:top;width:{width}%;padding-right:1em"><b>{escape(title)}</b>{"".join(map(_pre, texts))}</td>'
                    for (title, *texts), width in zip(cells, (38, 62)))
    note = "Fields that stand in every event or say nothing are left out here; the bytes count them."
    return f'{_told(found.reply)}<table><tbody><tr>{wires}</tr></tbody></table><p style="opacity:0.75;font-size:0.9em">{note}</p>'


def _told(reply: Reply) -> str:
    """The Reply as a small table: the same whatever the wire."""
    usage, n = reply.usage, len(reply.tool_calls)
    acts = ("nothing of it runs: truncated" if reply.truncated else "nothing of it runs: refused" if reply.refused
            else f"{n} call{'s run' if n > 1 else ' runs'}" if n else "the run is done")
    rows = {"text": repr(reply.text), "calls": ", ".join(f"{c.name} {c.arguments} as {c.id}" for c in reply.tool_calls) or "none",
            "stop_reason": repr(reply.stop_reason),
            "usage": f"{usage.input_tokens} read + {usage.cached_tokens} from the cache + {usage.output_tokens} written", "so": acts}
    cells = "".join(f'<tr><td style="text-align:left"><b>{name}</b></td><td style="text-align:left">{escape(value)}</td></tr>' for name, value in rows.items())
    return f"<p><b>The Reply it becomes</b></p><table><tbody>{cells}</tbody></table>"


def spoken(api: str, kind: str, streamed: bool, size: int) -> str:
    """The view in words."""
    found = exchange(api, kind, streamed, size)
    how = f"in {len(found.events)} events with pieces of {size} characters" if streamed else "in one piece"
    return (f"The reply '{kind}' from {api}, {how}. The Reply: text {found.reply.text!r}, "
            f"{len(found.reply.tool_calls)} calls, stop reason {found.reply.stop_reason}.")


def _pre(text: str) -> str:
    return (f'<div style="font-family:monospace;font-size:0.92em;white-space:pre-wrap;overflow-wrap:anywhere;line-height:1.35;margin:0.25em 0;'
            f'padding-left:0.5em;border-left:2px solid #8A8A8A">{escape(text)}</div>')


# ---- pictures --------------------------------------------------------------------------------------------------------------

def stream_figure(chunks: list[dict], title: str):
    """The chunks of one streamed reply of Chat Completions in the order they came, each in the row it belongs to."""
    names, boxes = [], []
    for x, chunk in enumerate(chunks, 1):
        for row, text in _rows(chunk):
            names += [] if row in names else [row]
            boxes.append((x, row, text))
    order = sorted(names, key=lambda name: ("text", "call", "why", "tokens").index(name.split()[0]))
    fig, ax = figure(7.9, 0.46 * len(order) + 1.05, margins=(1.0, 0.1, 0.42, 0.56), xlabel="chunk")
    fig.text(0.015, 0.96, title, weight="bold", size=11, va="top", color=INK)
    for x, row, text in boxes:
        y = order.index(row)
        ax.barh(y, 0.98, left=x - 0.49, height=0.74, color=("#E4EFD9", "#CFE3F2", "#F8DDC4", "#E8E4DC", "#E8E4DC")[min(y, 4)], edgecolor=QUIET, linewidth=0.6)
        ax.text(x, y, text, ha="center", va="center", size=6.8, family="monospace", color=INK)
    ax.set(xlim=(0.4, len(chunks) + 0.6), ylim=(len(order) - 0.5, -0.5), xticks=range(1, len(chunks) + 1), yticks=range(len(order)), yticklabels=order)
    ax.grid(axis="x", visible=False)
    return fig


def _rows(chunk: dict):
    """(row, text) of each thing that one chunk brings."""
    for choice in chunk["choices"]:
        delta = choice["delta"]
        for part in delta.get("tool_calls") or ():
            yield f"call {part['index']}", f"{part['id']}\n{part['function']['name']}" if part.get("id") else part["function"]["arguments"]
        if delta.get("content") or delta.get("role"):
            yield "text", delta.get("content") or "role:\n" + delta["role"]
        if choice["finish_reason"]:
            yield "why it ended", choice["finish_reason"].replace("_", "_\n")
    if chunk.get("usage"):
        yield "tokens", "{prompt_tokens}\n+ {completion_tokens}".format(**chunk["usage"])
