"""One append-only record of a run. The message list, the trace table and the report are views on it."""

from __future__ import annotations

import html
import json
from pathlib import Path

from .messages import clean, to_text, tool_message


class Journal:
    """The events of one run, in the order in which they happened; each is a plain dict with a "kind"."""

    def __init__(self):
        self.events: list[dict] = []

    def add(self, kind: str, **facts) -> None:
        self.events.append({"kind": kind, **facts})

    def of(self, *kinds: str) -> list[dict]:
        """The events of these kinds."""
        return [e for e in self.events if e["kind"] in kinds]

    def messages(self) -> list[dict]:
        """The message list as the record tells it."""
        found = []
        for event in self.events:
            if event["kind"] in ("message", "reply") and event["message"] is not None:
                found.append(event["message"])
            elif event["kind"] == "result":
                found.append(tool_message(event["id"], event["name"], event["content"]))
        return found

    def table(self) -> Table:
        """The trace: one row for each call of a tool and for each reply without one."""
        rows, spent = [], 0
        for e in self.events:
            if e["kind"] == "reply":
                spent += e["usage"].total_tokens if e["usage"] else 0
                asked = {c["id"]: c["function"] for c in (e["message"] or {}).get("tool_calls", ())}
                if not asked:
                    rows.append((str(e["step"]), e["outcome"], (e["message"] or {}).get("content") or "", f"{spent:,}"))
            elif e["kind"] == "result":
                call = asked.get(e["id"], {"name": e["name"], "arguments": ""})
                rows.append((str(e["step"]), f"{call['name']}({call['arguments']})", e["content"], f"{spent:,}"))
            elif e["kind"] == "message" and e.get("nudge"):
                rows.append(("", "harness says", e["message"]["content"], f"{spent:,}"))
        return Table(("step", "the model", "what came back", "tokens so far"), rows, self.report())

    def show(self) -> Table:
        """The trace, for the end of a notebook cell."""
        return self.table()

    def save(self, path) -> Path:
        """Write the record as JSON Lines, one event a line; returns the path."""
        path = Path(path)
        path.write_text("".join(json.dumps(e, default=_plain_event) + "\n" for e in self.events), encoding="utf-8")
        return path

    def report(self) -> str:
        """One plain sentence: why the run ended, what was finished, what was not. It is made of the record alone."""
        end = next((e for e in reversed(self.events) if e["kind"] == "end"), None)
        if end is None:
            return "The run has not ended."
        groups: dict[str, list] = {"succeeded": [], "failed": [], "was rejected": [], "was not run": [], "waits for a person": self._open_calls()}
        for e in self.of("result"):
            groups["was not run" if e["stopped"] else "failed" if e["error"] else "succeeded" if e["ran"] else "was rejected"].append(e)
        parts = [f"{_named(found)} {_agree(verb, len(found))}" for verb, found in groups.items() if found]
        if end["status"] != "done":     # what a stopped run never came to is what its reader asks first
            asked = {e["name"] for found in groups.values() for e in found}
            never = [t for t in self.events[0]["tools"] if t not in asked]
            parts += [f"{_listed(never)} {_agree('was never called', len(never))}"] if never else []
        lead = {"done": "Done", "waiting_for_approval": "Waiting"}.get(end["status"], "Stopped at" if end["at"] else "Stopped:")
        return clean(" ".join((f"{lead} {end['why']}" + (f": {'; '.join(parts)}." if parts else "; no tool was run.")).split()))

    def _open_calls(self) -> list[dict]:
        answered = {e["id"] for e in self.of("result")}
        return [{"name": c["function"]["name"], "key": c["function"]["arguments"]} for e in self.of("reply")
                for c in (e["message"] or {}).get("tool_calls", ()) if c["id"] not in answered]


def _named(events: list[dict]) -> str:
    """Calls as people write them, each once: get_order(order_id="A123") 3 times."""
    counts: dict[str, int] = {}
    for e in events:
        written = f"{e['name'][:64]}({_arguments(e['key'])})"
        counts[written] = counts.get(written, 0) + 1
    return _listed([written + (f" {n} times" if n > 1 else "") for written, n in counts.items()])


def _agree(verb: str, n: int) -> str:
    """The verb for one call or for several."""
    return verb if n == 1 else verb.replace("was ", "were ").replace("waits ", "wait ")


def _listed(names: list[str], most: int = 4) -> str:
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def _arguments(key: str, most: int = 60) -> str:
    try:
        text = ", ".join(f"{name}={json.dumps(value, ensure_ascii=False)}" for name, value in json.loads(key).items())
    except Exception:       # what the model sent was no JSON object: show it as it came
        text = key
    return text if len(text) <= most else text[:most] + "..."


def _plain_event(value):
    return value.__dict__ if hasattr(value, "__dict__") else to_text(value)


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


def _cut(text: str, width: int) -> str:
    text = " ".join(str(text).split())
    return text if len(text) <= width else text[:width - 3] + "..."
