"""Notebook 09: lookups one after the other and together, as arithmetic, as a real run on a clock moved by hand, and as pictures."""

import json
import time
from dataclasses import dataclass

from agentkit import Journal, Price, Reply, Result, ScriptedModel, Tool, ToolCall, run
from agentkit.messages import tool_message

from .controls import Slider, Switch
from .exits import Clock, size
from .figures import CARD, INK, QUIET, figure, fill

PRICE = Price(3, 15)                # USD per million tokens, assumed
SHARES = (1, 1.5, 0.5)              # of the average: how long the first, second, third lookup takes, and so on
SECONDS, ROWS = 54, 8               # on the lab's axes
TASK = "Where are these parcels? List every one."
_SCHEMA = {"type": "object", "properties": {"parcel": {"type": "string"}}, "required": ["parcel"]}


@dataclass(frozen=True)
class Bar:
    """Something that takes time: a model call (row 0) or a lookup (row 1 and so on)."""

    row: int
    start: float
    seconds: float


@dataclass(frozen=True)
class Plan:
    """What a task of independent lookups takes."""

    bars: tuple[Bar, ...]
    seconds: float
    steps: int
    input_tokens: int
    output_tokens: int

    @property
    def usd(self) -> float:
        return PRICE.of(self.input_tokens, self.output_tokens)


def _found(parcel: str) -> str:
    return f"{parcel} left the depot and is on a van"


def _tool(fn, together: bool) -> Tool:
    return Tool("track_parcel", "Ask the carrier where one parcel is. It only reads.", _SCHEMA, fn, parallel=together)


def _script(lookups: int, per_reply: int) -> list:
    """The replies of a model that asks for so many lookups at once, then answers."""
    calls = [ToolCall(f"call_{n}", "track_parcel", {"parcel": f"P{n}"}) for n in range(1, lookups + 1)]
    return [*(calls[i:i + per_reply] for i in range(0, lookups, per_reply)), "Every parcel is on a van."]


def long(n: int, average: float) -> float:
    """Seconds that lookup number n (from 1) takes."""
    return average * SHARES[(n - 1) % len(SHARES)]


def plan(lookups=6, per_reply=1, tool_seconds=2.0, model_seconds=2.0, together=False) -> Plan:
    """Time, steps and tokens by arithmetic alone: nothing runs."""
    bars, now, sent, written = [], 0.0, 0, 0
    prompt = size([{"content": TASK}], [_tool(_found, together).definition])
    script = _script(lookups, per_reply)
    for entry in script:
        bars.append(Bar(0, now, model_seconds))
        now += model_seconds
        calls = [] if isinstance(entry, str) else entry
        message = Reply(text=None if calls else entry, tool_calls=tuple(calls)).as_message()
        new = size([message])
        sent, written = sent + prompt, written + new
        prompt += new + (size([tool_message(c.id, c.name, _found(c.arguments["parcel"])) for c in calls]) if calls else 0)
        began = now
        for c in calls:
            row = int(c.arguments["parcel"][1:])
            bars.append(Bar(row, began if together else now, long(row, tool_seconds)))
            now = max(now, began + bars[-1].seconds) if together else now + bars[-1].seconds
    return Plan(tuple(bars), now, len(script), sent, written)


def observed(lookups=6, per_reply=1, tool_seconds=2.0, model_seconds=2.0, together=False) -> Result:
    """The same as a run of agentkit. Lookups that run together run in threads, and end in the order of their seconds."""
    clock, journal = Clock(), Journal(run_id="lookups")
    batch = {}      # of the reply under way: parcel -> (when it ends, how many results are on record before it)

    def begin(entry):
        clock.wait(model_seconds)
        if not isinstance(entry, str):
            rows = sorted((int(c.arguments["parcel"][1:]) for c in entry), key=lambda n: (long(n, tool_seconds), n))
            known = len(journal.of("result"))
            batch.update({f"P{n}": (clock.now + long(n, tool_seconds), known + k) for k, n in enumerate(rows)})
        return entry

    def track(parcel):
        if together:
            end, before = batch[parcel]
            while len(journal.of("result")) < before:   # its turn comes when the quicker ones are on record
                time.sleep(0.0002)
            clock.now = end
        else:
            clock.wait(long(int(parcel[1:]), tool_seconds))
        return _found(parcel)

    entries = [lambda messages, *, entry=entry: begin(entry) for entry in _script(lookups, per_reply)]
    return run(ScriptedModel(entries), [_tool(track, together)], TASK, journal=journal, clock=clock)


def bars_of(journal: Journal) -> tuple[Bar, ...]:
    """What a run's record says took time, in the order of its messages."""
    asked = {c["id"]: int(json.loads(c["function"]["arguments"])["parcel"][1:])
             for e in journal.of("reply") for c in (e["message"] or {}).get("tool_calls", ())}
    found = [(e["step"], 0 if e["kind"] == "reply" else asked[e["id"]], e["elapsed"] - e["seconds"], e["seconds"]) for e in journal.of("reply", "result")]
    return tuple(Bar(*rest) for _, *rest in sorted(found))


def _draw(ax, bars, rows):
    for kind, look in (("model", 0), ("tool", 2)):
        mine = [b for b in bars if (b.row == 0) == (kind == "model")]
        if mine:
            ax.barh([b.row for b in mine], [b.seconds for b in mine], 0.74, left=[b.start for b in mine], **fill(look))
    end = max(b.start + b.seconds for b in bars)
    ax.axvline(end, color=INK, linestyle="--", linewidth=1.2, marker="")
    ax.set(ylim=(rows + 0.6, -0.6), yticks=range(rows + 1))
    ax.set_yticklabels(["model", *(f"P{n}" for n in range(1, rows + 1))], size=8.5)
    ax.grid(False, axis="y")
    return end


def gantt(runs: dict[str, tuple[Bar, ...]], title: str):
    """Runs below each other on one axis of seconds: a row for the model, a row for each lookup."""
    rows = max(b.row for bars in runs.values() for b in bars)
    most = max(b.start + b.seconds for bars in runs.values() for b in bars)
    fig, axes = figure(7.4, 0.95 + len(runs) * (0.36 + 0.185 * (rows + 1)), rows=len(runs), sharex=True, title=title,
                       margins=(0.75, 0.75, 0.68, 0.52), gridspec_kw={"hspace": 0.27})
    for ax, (name, bars) in zip(axes, runs.items()):
        end = _draw(ax, bars, rows)
        ax.text(end, rows / 2, f" {end:g} s", va="center", weight="bold", color=INK)
        ax.set_title(name, size=9.5, weight="normal", loc="left", y=1.0)
        ax.set(xlim=(0, most * 1.01))
    axes[-1].set_xlabel("seconds, on a clock moved by hand")
    return fig


def controls() -> dict:
    return {"lookups": Slider("Lookups", 1, ROWS, 6, help="Parcels to look up"),
            "per_reply": Slider("Calls per reply", 1, ROWS, 3, help="How many the model asks for at once"),
            "tool_seconds": Slider("Seconds per lookup", 0.5, 3.0, 2.0, 0.5, help="On average; some take half as long, some half as long again", format=".1f"),
            "model_seconds": Slider("Seconds per model call", 0.5, 3.0, 2.0, 0.5, format=".1f"),
            "together": Switch("Run them together", False, help="The calls of one reply run at the same time")}


def lab_view(**how):
    """The picture of one plan, on fixed axes, and a comparison with one call at a time."""
    p, slow = plan(**how), plan(**{**how, "per_reply": 1, "together": False})
    fig, ax = figure(7.4, 2.9, margins=(0.75, 0.3, 0.45, 0.55), xlabel="seconds", title=f"{p.seconds:g} s, {p.steps} steps, {p.input_tokens:,} tokens sent")
    _draw(ax, p.bars, ROWS)
    if slow.seconds > p.seconds:
        ax.axvline(slow.seconds, color=QUIET, linestyle=":", linewidth=1.4, marker="")
        room = slow.seconds < SECONDS - 9.5     # about what the words take
        ax.text(slow.seconds + (0.4 if room else -0.4), ROWS, "one call at a time", ha="left" if room else "right", va="center", size=8.5,
                color=QUIET, bbox={"facecolor": CARD, "edgecolor": "none", "pad": 1})
    ax.set(xlim=(0, SECONDS), yticks=(0, 1, ROWS), yticklabels=("model", "P1", f"P{ROWS}"), xticks=(0, 20, 40))      # few: each takes its time
    text = (f"<p>{p.seconds:g} s, {p.steps} steps, {p.input_tokens:,} tokens sent, {p.output_tokens:,} written, {p.usd:.5f} USD. "
            f"One call per reply, one after the other: {slow.seconds:g} s, {slow.steps} steps, {slow.input_tokens:,} tokens sent, {slow.usd:.5f} USD.</p>")
    return fig, text


def spoken(**how) -> str:
    p = plan(**how)
    return (f"A row for the model and a row for each of {how['lookups']} lookups, {how['per_reply']} asked for per reply, run "
            f"{'together' if how['together'] else 'one after the other'}: {p.seconds:g} seconds, {p.steps} steps, {p.input_tokens:,} tokens sent.")
