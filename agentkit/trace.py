"""A record made readable: the rows of the trace table, and the report, one plain sentence."""

from __future__ import annotations

import html
import json
from collections import Counter
from collections.abc import Iterable
from itertools import islice

from .messages import clean

_MOST = 4       # calls and names that a report writes out


def rows(events: Iterable[dict]) -> list[tuple[str, str, str, str]]:
    """(step, what the model or somebody else did, what came back, tokens so far), from the events in call order."""
    found, spent, asked = [], 0, {}
    for e in events:
        spent += _tokens(e["spent"]["usage"]) if e.get("spent") else 0      # what others used for the run
        if e["kind"] == "reply":
            spent += _tokens(e["usage"])
            asked = {c["id"]: c["function"] for c in (e["message"] or {}).get("tool_calls", ())}
            if not asked:
                found.append((str(e["step"]), e["outcome"], (e["message"] or {}).get("content") or "", f"{spent:,}"))
        elif e["kind"] == "result":
            call = asked.get(e["id"], {"name": e["name"], "arguments": ""})
            found.append((str(e["step"]), f"{call['name']}({call['arguments']})", e["content"], f"{spent:,}"))
        elif e["kind"] == "message" and e.get("nudge"):
            found.append(("", "harness says", e["message"]["content"], f"{spent:,}"))
        elif e["kind"] == "decision":
            found.append(("", "a person says", f"{'yes' if e['approved'] else 'no'} to {_named([{**e, 'key': e['arguments']}])}"
                         + (f": {e['why']}" if e["why"] else ""), f"{spent:,}"))
        elif e["kind"] == "resume":
            found.append(("", "(resumed)", "", f"{spent:,}"))
        elif e["kind"] == "gate":
            what = f"denied {e['name']}" + (f": {e['why']}" if e["why"] else "") if e["did"] == "denied" else \
                f"changed the arguments of {e['name']} to {json.dumps(e['arguments'])}"
            found.append(("", f"hook {e['hook']}", what, f"{spent:,}"))
        elif e["kind"] == "view":
            sent = f"sends {len(e['sent'])} messages in the place of {e['of']}"
            found.append(("", f"hook {e['hook']}", sent + (f": {e['note']}" if e["note"] else ""), f"{spent:,}"))
        elif e["kind"] == "hook":
            where = e["at"].replace("_", " the ") + " call" if e["at"].startswith(("before_", "after_")) else e["at"].replace("_", " ")
            found.append(("", f"hook {e['hook']}", f"failed {where} ({e['raised']})", f"{spent:,}"))
    return found


def _tokens(usage: dict) -> int:
    return sum(usage[bucket] or 0 for bucket in ("input_tokens", "cached_tokens", "output_tokens"))


def report(events: list[dict], open_calls: list[dict]) -> str:
    """Why the run ended, what was finished, what was not."""
    end = next((e for e in reversed(events) if e["kind"] in ("end", "resume")), None)
    if end is None or end["kind"] == "resume":
        return "The run has not ended."
    waiting = [{"name": c["name"], "key": c["arguments"]} for c in open_calls]
    groups: dict[str, list] = {"succeeded": [], "failed": [], "has an unknown outcome": [], "was rejected": [], "was not run": [],
                               "waits for a person": waiting}
    for e in (e for e in events if e["kind"] == "result"):
        groups["was not run" if e["stopped"] else "has an unknown outcome" if e.get("unknown") else
               "failed" if e["error"] else "succeeded" if e["ran"] else "was rejected"].append(e)
    parts = [f"{_named(found)} {_agree(verb, len(found))}" for verb, found in groups.items() if found]
    if end["status"] != "done":     # what a stopped run never came to is what its reader asks first
        asked = {e["name"] for found in groups.values() for e in found}
        never = [t for t in events[0]["tools"] if t not in asked]
        parts += [f"{_listed(never)} {_agree('was never called', len(never))}"] if never else []
    lead = {"done": "Done", "waiting_for_approval": "Waiting"}.get(end["status"], "Stopped at" if end["at"] else "Stopped:")
    return clean(" ".join((f"{lead} {end['why']}" + (f": {'; '.join(parts)}." if parts else "; no tool was run.")).split()))


def _named(events: list[dict]) -> str:
    """Calls as people write them, each once: get_order(order_id="A123") 3 times."""
    counts = Counter((e["name"], e["key"]) for e in events)
    shown = [f"{name[:64]}({_arguments(key)})" + (f" {n} times" if n > 1 else "") for (name, key), n in islice(counts.items(), _MOST)]
    return _listed([*shown, *[""] * (len(counts) - len(shown))])


def _agree(verb: str, n: int) -> str:
    """The verb for one call or for several."""
    return verb if n == 1 else verb.replace("was ", "were ").replace("waits ", "wait ").replace("has ", "have ")


def _listed(names: list[str]) -> str:
    return ", ".join(names[:_MOST]) + (f" and {len(names) - _MOST} more" if len(names) > _MOST else "")


def _arguments(key: str, most: int = 60) -> str:
    try:
        text = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in json.loads(key).items())
    except Exception:       # what the model sent was no JSON object: show it as it came
        text = key
    return text if len(text) <= most else text[:most] + "..."


class Table:
    """Rows with a header that print as aligned text in a terminal and as a table in a notebook."""

    def __init__(self, header, rows, caption: str = "", width: int = 64):
        self.header, self.rows, self.caption, self.width = tuple(header), list(rows), caption, width

    def __str__(self):
        rows = [self.header] + [tuple(_cut(c, self.width) for c in row) for row in self.rows]
        widths = [max(len(row[i]) for row in rows) for i in range(len(self.header))]
        lines = ["  ".join(cell.ljust(w) for cell, w in zip(row, widths)).rstrip() for row in rows]
        return "\n".join([lines[0], "  ".join("-" * w for w in widths), *lines[1:]] + ([self.caption] if self.caption else []))

    __repr__ = __str__

    def _repr_html_(self):
        head = "".join(f'<th style="text-align:left">{html.escape(h)}</th>' for h in self.header)
        body = "".join("<tr>" + "".join(f'<td style="text-align:left;vertical-align:top">{html.escape(_cut(c, 300))}</td>' for c in row) + "</tr>"
                       for row in self.rows)
        note = f"<p>{html.escape(self.caption)}</p>" if self.caption else ""
        return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>{note}"


class Trace(Table):
    """The trace table with the timeline below it: who took how long, what ran beside each other, how the tokens grow."""

    def __init__(self, table: Table, events: Iterable[dict]):
        super().__init__(table.header, table.rows, table.caption, table.width)
        self.bars = bars(events)

    def _repr_html_(self):
        return super()._repr_html_() + timeline_html(self.bars)


def bars(events: Iterable[dict]) -> list[tuple[str, float, float, str, str]]:
    """(label, start in seconds, seconds, kind, note) of every model call and every tool that ran."""
    found = []
    for e in events:
        if e["kind"] == "reply":
            usage = e["usage"]
            sent = usage["input_tokens"] + usage["cached_tokens"]
            found.append((f"step {e['step']}: model", e["elapsed"] - e["seconds"], e["seconds"], "model", f"{sent:,} tokens in, {usage['output_tokens']:,} out"))
        elif e["kind"] == "result" and e["ran"]:
            kind = "error" if e["error"] else "tool"
            found.append((_cut(e["name"], 24), e["elapsed"] - e["seconds"], e["seconds"], kind, "error" if e["error"] else ""))
    return found


_COLOURS = {"model": "#0072B2", "tool": "#009E73", "error": "#D55E00"}


def timeline_html(found: list[tuple[str, float, float, str, str]]) -> str:
    """The bars on one axis of time. Inline styles only, so that it looks the same on a page that is not run."""
    if not found:
        return ""
    whole = max(start + seconds for _, start, seconds, _, _ in found) or 1.0
    lines = "".join(
        f'<div><span style="display:inline-block;width:13em">{html.escape(label)}</span><span style="display:inline-block;width:22em">'
        f'<span style="display:inline-block;height:0.8em;margin-left:{99 * max(0.0, start) / whole:.1f}%;width:{max(0.5, 99 * seconds / whole):.1f}%;'
        f'background-color:{_COLOURS[kind]}"></span></span> {seconds:.2f} s{f", {html.escape(note)}" if note else ""}</div>'
        for label, start, seconds, kind, note in found)
    return f'<div style="margin-top:0.6em"><b>Timeline</b> ({whole:.2f} s in all)</div>{lines}'


def _cut(text: str, width: int) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= width else text[:width - 3] + "..."
