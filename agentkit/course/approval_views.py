"""Buttons for calls that wait for a person, the picture of a run that several processes wrote, and the lab that crashes one."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, replace
from functools import lru_cache
from html import escape

import ipywidgets as widgets

from agentkit import Journal, JournalError, Registry, resume, run

from .approvals import TASK, Ledger, clerk, desk
from .controls import Choice, Slider
from .figures import CARD, COLOURS, INK, QUIET, figure, fill
from .lab import CSS, WIDGET_VIEW

# ---- approve and reject ----------------------------------------------------------------------------------------------

_BOX = "border-left:5px solid #E69F00;margin:0.5em 0 0.2em;padding:0.15em 0 0.15em 0.7em;line-height:1.45"


class Approval:
    """Approve and Reject for every call of a run that waits; when the last one is decided the run goes on.

    `run` is a Result or a Journal. Until the last decision nothing is recorded and nothing runs, so a word can still be
    changed. `made`, a function without arguments, says in text what has been done in the world. A run that comes to
    wait again shows its next calls. On a page without a kernel the reader sees the calls as they wait.
    """

    def __init__(self, run, model, tools, *, made=None, title="These calls wait for you", **settings):
        self.journal, self.model, self.tools = getattr(run, "journal", run), model, list(tools)
        self.made, self.title, self.settings = made or (lambda: ""), title, settings
        self.said: dict[str, object] = {}
        self.result = None
        self._cards, self._text = widgets.VBox(), widgets.HTML()
        self._text.add_class("agentkit-lab-text")
        heading = widgets.HTML(f"{CSS}<b>{escape(title)}</b>")
        heading.add_class("agentkit-lab-title")
        self.root = widgets.VBox([heading, self._cards, self._text])
        self.root.add_class("agentkit-lab")
        self.root.add_class("agentkit-approval")
        self._ask()

    def waiting(self) -> list[dict]:
        """The calls that wait: id, name, and the arguments as they would run."""
        end = (self.journal.of("end", "resume") or [{"kind": "resume"}])[-1]
        if end["kind"] != "end" or end["status"] != "waiting_for_approval":
            return []
        decided = {e["id"] for e in self.journal.of("decision")}
        return [c for c in self.journal.of("pending")[-1]["calls"] if c["id"] not in decided]

    def decide(self, id: str, word) -> None:
        """Say True, False or a reason for one call: what the buttons do."""
        self.said[id] = word
        self._marks[id].value = _said(word)
        if set(self.said) < set(self._marks):
            self._tell(f"{len(self.said)} of {len(self._marks)} decided. Nothing runs before all are, and until then you can change your mind.")
        else:
            self._go_on()

    def _ask(self) -> None:
        self.said, self._marks, self._inputs, cards = {}, {}, [], []
        for c in self.waiting():
            yes = widgets.Button(description=f"Approve {c['id']}", icon="check", tooltip=f"Approve {c['name']} {c['arguments']}")
            no = widgets.Button(description=f"Reject {c['id']}", icon="times", tooltip=f"Reject {c['name']} {c['arguments']}")
            # Sent as a whole when the field is left: sent key by key, the last keys would come after the click.
            why = widgets.Text(description="Reason:", continuous_update=False, placeholder="if you reject: the model reads this",
                               tooltip=f"Reason for rejecting {c['id']}", layout={"width": "26em"}, style={"description_width": "4.5em"})
            mark = widgets.HTML(_said(None))
            yes.on_click(lambda _, id=c["id"]: self.decide(id, True))
            no.on_click(lambda _, id=c["id"], why=why: self.decide(id, why.value.strip() or False))
            row = widgets.HBox([yes, no, why, mark], layout={"flex_flow": "row wrap", "align_items": "center"})
            cards.append(widgets.VBox([widgets.HTML(_card(c)), row]))
            self._marks[c["id"]] = mark
            self._inputs += [yes, no, why]
        self._cards.children = cards
        self._tell("Nothing of this has run." if cards else self.journal.report())

    def _go_on(self) -> None:
        for control in self._inputs:
            control.disabled = True
        try:
            self.result = resume(self.journal, self.model, self.tools, self.said, **self.settings)
        except (ValueError, JournalError) as error:     # somebody else was faster, or the record was changed
            return self._tell(str(error))
        if self.waiting():
            return self._ask()
        trace = self.journal.table()
        trace.caption = ""      # the report, which stands above it
        self._tell(self.result.report, f"<p><b>{escape(self.result.answer or self.result.status)}</b></p>", trace._repr_html_())

    def _tell(self, report: str, head: str = "", below: str = "") -> None:
        made = self.made()
        made = f"<p>{escape(str(made))}</p>" if made else ""
        self._text.value = f'<div role="status" aria-live="polite">{head}<p>{escape(report)}</p>{made}</div>{below}'

    def still(self) -> str:
        """What a page without a kernel shows: the calls as they wait."""
        note = f"{self.title}: a still. Run the notebook to approve or reject."
        made = self.made()
        return (f"<b>{escape(self.title)}</b>{''.join(map(_card, self.waiting()))}" + (f"<p>{escape(str(made))}</p>" if made else "")
                + f'<p class="agentkit-still" style="margin:0.4em 0;opacity:0.75;font-size:0.9em">{escape(note)}</p>')

    def _repr_mimebundle_(self, **_):
        plain = "\n".join([self.title, *(f"{c['id']}: {c['name']} {c['arguments']}" for c in self.waiting())])
        view = {"version_major": 2, "version_minor": 0, "model_id": self.root.model_id}
        return {"text/plain": plain, "text/html": self.still(), WIDGET_VIEW: view}, {}


def _card(c: dict) -> str:
    """One call with the exact arguments, one to a line."""
    rows = "".join(f'<br><span style="font-family:monospace">{escape(name)} = {escape(json.dumps(value, ensure_ascii=False))}</span>'
                   for name, value in json.loads(c["arguments"]).items())
    return f'<div style="{_BOX}"><b>{escape(c["name"])}</b> <span style="opacity:0.75">({escape(c["id"])})</span>{rows}</div>'


def _said(word) -> str:
    return {None: "", True: "<b>✓ approved</b>", False: "<b>✗ rejected</b>"}.get(word, f"<b>✗ rejected:</b> {escape(str(word))}")


# ---- the record as a picture -----------------------------------------------------------------------------------------

_LOOK = {"reply": 0, "decision": 4, "call": 1, "result": 2}


def label_of(event: dict) -> str:
    """An event in two or three words."""
    kind, name = event["kind"], (event.get("name") or "").replace("_order", "").replace("_refunds", "").replace("give_", "")
    what = event.get("arguments", event.get("key"))
    about = (json.loads(what) if isinstance(what, str) else what or {}).get("order_id", "")
    if kind == "reply":
        calls = (event["message"] or {}).get("tool_calls", ())
        return f"reply: {len(calls)} calls" if len(calls) > 1 else "reply: 1 call" if calls else "reply: answer"
    if kind == "result" and event.get("unknown"):
        return f"unknown {name} {about}"
    if kind == "result" and not event["ran"]:
        return f"not run {name} {about}"
    if kind == "decision":
        return f"{'yes' if event['approved'] else 'no'} {name} {about}"
    if kind == "end":
        return "end: waits" if event["status"] == "waiting_for_approval" else f"end: {event['status']}"
    return f"{kind} {name} {about}".strip()


def draw_events(ax, events, lanes, names) -> None:
    """The events as boxes from left to right, each in the lane of the process that wrote it."""
    alike = defaultdict(list)       # all that look the same in a lane are one shape: quick to draw
    for n, (event, lane) in enumerate(zip(events, lanes), 1):
        alike[_LOOK.get(event["kind"]), lane].append((n - 0.43, 0.86))
        ax.text(n, -lane + 0.12, label_of(event), rotation=90, ha="center", va="bottom", size=8, color=INK)
        ax.text(n, -0.03, str(n), transform=ax.get_xaxis_transform(), ha="center", va="top", size=8.5, color=INK)     # quicker than a tick
    for (look, lane), places in alike.items():
        ax.broken_barh(places, (-lane - 0.08, 0.16), **({"facecolor": "#C9C6BE", "edgecolor": CARD} if look is None else fill(look)))
    ax.set(xlim=(0.3, len(events) + 0.9), xticks=(), yticks=[-n for n in range(len(names))])
    ax.set_yticklabels(names)
    ax.tick_params(labelsize=8.5, length=0)
    ax.grid(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_visible(False)


def record_figure(journal: Journal, title: str, names=("process 1", "process 2", "process 3")):
    """Who wrote which event: a process begins with "start" or "resume"."""
    lanes, lane = [], 0
    for n, event in enumerate(journal.events):
        lane += n > 0 and event["kind"] == "resume"
        lanes.append(lane)
    count = lane + 1
    fig, ax = figure(7.9, 1.5 * count + 0.85, margins=(0.85, 0.15, 0.4, 0.5), xlabel="event", title=title)
    draw_events(ax, journal.events, lanes, names[:count])
    for n in range(1, len(lanes)):
        if lanes[n] != lanes[n - 1]:
            ax.text(n + 0.6, -lanes[n - 1], "✕ killed", va="center", size=9, weight="bold", color=INK)
    ax.set(ylim=(-lane - 0.16, 1.0))
    return fig


# ---- the lab: where does the crash hit? --------------------------------------------------------------------------------

class Till:
    """The ledger of the moment. The tools are made once: checking their schemas takes longer than a run does."""

    ledger: Ledger

    def pay(self, *what, **how):
        self.ledger.pay(*what, **how)

    def paid(self):
        return self.ledger.paid()


TILL = Till()
TOOLS = {keyed: Registry(desk(TILL, keyed)) for keyed in (False, True)}
RERUN = {keyed: Registry(replace(t, idempotent=True) for t in tools) for keyed, tools in TOOLS.items()}     # told that all may be run twice


class Crash(BaseException):
    """The process is gone: nothing after it is written."""


class CutJournal(Journal):
    """A record whose process dies when it would write event number `at` + 1."""

    def __init__(self, at: int, **settings):
        super().__init__(**settings)
        self.at = at

    def write(self, event, *args, **kwargs):
        if len(self.events) >= self.at:
            raise Crash
        super().write(event, *args, **kwargs)


@dataclass(frozen=True)
class Place:
    """Where a crash hits: after event number `event`; in a refund also inside of the tool, before the money moved."""

    event: int
    unpaid: bool = False
    says: str = ""


HARNESSES = ("start again", "rerun what was open", "skip what was open", "agentkit")
ORDERS = ("B456", "D012")


def yes(asked):
    """A person who approves everything that is shown."""
    return True


@lru_cache
def whole_run() -> tuple[Journal, tuple[Place, ...]]:
    """The run without a crash, and every place at which it can crash."""
    TILL.ledger = Ledger()
    journal, places = run(clerk, TOOLS[False], TASK, approve=yes).journal, []
    for n, event in enumerate(journal.events[:-1], 1):
        if event["kind"] == "call" and event["name"] == "refund_order":
            about = event["arguments"]["order_id"]
            places += [Place(n, True, f"inside the refund of {about}, before the money moved"),
                       Place(n, False, f"inside the refund of {about}, after the money moved")]
        else:
            places.append(Place(n, says=f"after event {n} ({label_of(event)})"))
    return journal, tuple(places)


def crash(place: Place, keyed: bool) -> tuple[list[dict], Ledger]:
    """Run, and crash at a place: what is left, the events on record and the ledger."""
    TILL.ledger, journal = Ledger(), CutJournal(place.event, run_id="first")

    def die(moment):
        if place.unpaid and len(journal.events) == place.event:
            raise Crash

    TILL.ledger.at = die
    try:
        run(clerk, TOOLS[keyed], TASK, journal=journal, approve=yes)
        raise AssertionError("it did not crash")
    except Crash:
        TILL.ledger.at = lambda moment: None
        return journal.events, TILL.ledger


def reopened(events: list[dict]) -> Journal:
    """The journal that another process reads."""
    journal = Journal(run_id="first")
    for event in events:
        journal.write(event)
    return journal


@lru_cache(maxsize=200)
def after_crash_at(n: int, keyed: bool) -> dict:
    """Crash at place number `n` and go on in four ways: {harness: {order: times paid}}, and agentkit's own record under "journal"."""
    place, found = whole_run()[1][n], {}
    for harness in HARNESSES:
        events, ledger = crash(place, keyed)
        if harness == "start again":            # a new run of the same task; it knows nothing of the old one
            run(clerk, TOOLS[keyed], TASK, approve=yes)
        else:
            tools, journal = RERUN[keyed] if harness == "rerun what was open" else TOOLS[keyed], reopened(events)
            if harness == "skip what was open" and events[-1]["kind"] == "call":      # the result is taken for granted
                journal.write(whole_run()[0].events[len(events)])
            resume(journal, clerk, tools, approve=yes)
            found["journal"], found["seen"] = journal, len(events)
        found[harness] = {order: ledger.times(order) for order in ORDERS}
    return found


def wrong(n: int, keyed: bool, harness: str) -> int:
    """How many orders are not paid exactly once."""
    return sum(times != 1 for times in after_crash_at(n, keyed)[harness].values())


def what_resume_does(n: int, keyed: bool) -> str:
    """In words, from the record: what agentkit's resume did after a crash at place number `n`."""
    found = after_crash_at(n, keyed)
    before, after = found["journal"].events[:found["seen"]], found["journal"].events[found["seen"]:]
    done = {e["id"] for e in before if e["kind"] == "result"}
    started = {e["id"]: e for e in before if e["kind"] == "call" and e["id"] not in done}
    again = [e for e in after if e["kind"] == "call" and e["id"] in started]
    unknown = [e for e in after if e["kind"] == "result" and e.get("unknown")]
    checks = [e for e in after if e["kind"] == "call" and e["name"] == "find_refunds"]
    said = [f"{len(done)} finished call{'' if len(done) == 1 else 's'}: not run again." if done else "No call had finished."]
    said += [f"{label_of(e)[5:]}: started, not finished, idempotent: run again." for e in again]
    said += [f"{label_of(e)[8:]}: started, not finished: outcome unknown. The model is told." for e in unknown]
    said += [f"The model looks into the ledger for {e['arguments']['order_id']}" for e in checks]
    if checks:
        about = checks[0]["arguments"]["order_id"]
        repeated = [e for e in after if e["kind"] == "call" and e["name"] == "refund_order" and e["arguments"]["order_id"] == about]
        said[-1] += ", finds nothing, and asks for the refund once more." if repeated else ", finds the refund, and leaves it at that."
    return " ".join(said)


def crash_view(place: int, tool: str):
    """The lab: the record up to the crash; and how often each order is refunded in the end by four harnesses, as HTML."""
    keyed = tool == "idempotent"
    (journal, places), found = whole_run(), after_crash_at(place - 1, keyed)
    here, bad = places[place - 1], {h: wrong(place - 1, keyed, h) for h in HARNESSES}
    written, whole, many = journal.events[:here.event], len(journal.events), sum(map(bool, bad.values()))
    fig, ax = figure(7.9, 2.3, margins=(0.85, 0.25, 0.5, 0.35))
    title = f"Crash {here.says}: " + (f"{many} of 4 go wrong" if many else "all four come out right")
    fig.text(0.02, 0.94, title, weight="bold", size=10.5, va="top", color=INK)
    draw_events(ax, written, [0] * len(written), ("events",))
    never = [(n - 0.43, 0.86) for n in range(len(written) + 1, whole + 1)]
    ax.broken_barh(never, (-0.08, 0.16), facecolor="none", edgecolor=QUIET, linestyle=":")
    if len(never) > 2:
        ax.text(never[0][0], 0.14, "never written", size=9, va="bottom", color=QUIET)
    at = here.event + (0.38 if here.unpaid else 0.62 if written[-1]["kind"] == "call" else 0.5)
    ax.axvline(at, color=INK, linewidth=2)
    ax.set(xlim=(0.3, whole + 0.9), ylim=(-0.16, 1.15))
    times = ("<b>never</b>", "once", "<b>twice</b>")
    cells = [(how, *(times[found[how][order]] for order in ORDERS), "<b>✗ wrong</b>" if bad[how] else "✓ right") for how in HARNESSES]
    table = _row("th", ("how it goes on", *(f"{order} is paid" for order in ORDERS), "")) + "".join(_row("td", row) for row in cells)
    return fig, f"<table><tbody>{table}</tbody></table><p><b>agentkit's resume.</b> {escape(what_resume_does(place - 1, keyed))}</p>"


def _row(tag: str, cells) -> str:
    return "<tr>" + "".join(f'<{tag} style="text-align:left;padding-right:1.5em">{cell}</{tag}>' for cell in cells) + "</tr>"


def crash_alt(place: int, tool: str) -> str:
    """The lab's picture in words."""
    keyed = tool == "idempotent"
    bad = ", ".join(h for h in HARNESSES if wrong(place - 1, keyed, h)) or "none"
    return f"A crash {whole_run()[1][place - 1].says}. Harnesses that do not pay each order exactly once: {bad}. {what_resume_does(place - 1, keyed)}"


def crash_controls() -> dict:
    """The controls of the lab."""
    return {"place": Slider("Crash at place", 1, len(whole_run()[1]), 11, help="Every place at which the process can die, in order"),
            "tool": Choice("Refund tool", ("not idempotent", "idempotent"), buttons=True,
                           help="Idempotent: the ledger keeps each call's key and pays once for each key")}
