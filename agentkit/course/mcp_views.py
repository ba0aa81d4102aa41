"""The pictures of notebook 14, and its lab over attacks and defences."""

from html import escape

from .controls import Choice, Switch
from .figures import COLOURS, INK, QUIET, figure
from .mcp_attacks import ATTACKS, attack, clicks_yes, reads

PEOPLE = {"reads each call": reads, "clicks yes": clicks_yes}
_QUIET = "opacity:0.75"
_CODE = "font-family:monospace;font-size:0.92em;overflow-wrap:anywhere"


def wires(apps: int, systems: int):
    """Integrations to write without a protocol in the middle, and with one."""
    fig, (left, right) = figure(7.6, 2.7, columns=2, margins=(0.15, 0.15, 0.72, 0.1), gridspec_kw={"wspace": 0.1},
                                title=f"{apps} apps, {systems} systems: {apps * systems} integrations, or {apps + systems}")
    high = max(apps, systems) - 1
    rows = [high / 2 - (apps - 1) / 2 + i for i in range(apps)], [high / 2 - (systems - 1) / 2 + i for i in range(systems)]
    for ax, title in (left, "each app writes each one"), (right, "each side speaks MCP once"):
        ax.set(xlim=(-0.3, 1.3), ylim=(-0.6, high + 0.6), xticks=[], yticks=[])
        ax.grid(False)
        ax.set_title(title, size=9.5, weight="normal", loc="left", y=1.0)
        for spine in ax.spines.values():
            spine.set_visible(False)
        for x, ys, name, colour in (0, rows[0], "app", COLOURS[0]), (1, rows[1], "system", COLOURS[2]):
            for i, y in enumerate(ys):
                ax.text(x, y, f"{name} {i + 1}", ha="center", va="center", color="white", size=8.5, zorder=3,
                        bbox={"boxstyle": "round,pad=0.35" if x == 0 else "square,pad=0.35", "facecolor": colour, "edgecolor": "none"})
    for a in rows[0]:
        for s in rows[1]:
            left.plot([0, 1], [a, s], color=COLOURS[1], linestyle="-", marker="", linewidth=1.2, zorder=1)
    for x, ys in enumerate(rows):
        for y in ys:
            right.plot([x, 0.5], [y, high / 2], color=COLOURS[1], linestyle="-", marker="", linewidth=1.2, zorder=1)
    right.text(0.5, high / 2, "MCP", ha="center", va="center", size=9.5, weight="bold", zorder=3,
               bbox={"boxstyle": "round,pad=0.45", "facecolor": "#FFFFFF", "edgecolor": INK})
    return fig


def matrix(worked: dict[tuple[str, str], bool], title: str):
    """Which attack got through which defence: hatched orange where it worked, plain green where it was stopped."""
    names, columns = list(dict.fromkeys(n for n, _ in worked)), list(dict.fromkeys(c for _, c in worked))
    fig, ax = figure(7.6, 2.45, margins=(2.45, 0.15, 0.85, 0.12))
    fig.text(0.02, 0.955, title, weight="bold", size=11, va="top", color=INK)
    for (name, column), through in worked.items():
        x, y = columns.index(column), names.index(name)
        ax.barh(y, 0.94, left=x + 0.03, height=0.86, color="#F5C98A" if through else "#DCEBE3", hatch="//" if through else "", edgecolor="#FBFAF7", linewidth=0)
        ax.text(x + 0.5, y, "it works" if through else "stopped", ha="center", va="center", size=9, weight="bold" if through else "normal", color=INK,
                bbox={"boxstyle": "round,pad=0.2", "facecolor": "#F5C98A", "edgecolor": "none"} if through else None)
    ax.set(xlim=(0, len(columns)), ylim=(len(names) - 0.5, -0.5), xticks=[i + 0.5 for i in range(len(columns))], yticks=range(len(names)))
    ax.set_xticklabels([c.replace("person ", "person\n") for c in columns])
    ax.set_yticklabels(names)
    ax.xaxis.tick_top()
    ax.grid(False)
    for spine in ax.spines.values():
        spine.set_visible(False)
    return fig


def lab_controls() -> dict:
    return {
        "name": Choice("Attack", list(ATTACKS), "an order hidden in a result", "What the parcel service does"),
        "allow": Switch("Allow-list: only track", True, "The tools that are taken from the server"),
        "approval": Switch("Approval of every call", False, "A person is asked before a call runs"),
        "person": Choice("The person", list(PEOPLE), "reads each call", "Asked only where approval is on"),
        "pin": Switch("Pins", True, "The definitions are compared with those of the first day"),
    }


def lab_view(name, allow, approval, person, pin) -> str:
    """One attack, step by step, as HTML."""
    outcome = attack(name, allow, approval, pin, PEOPLE[person])
    if outcome.result is None:
        rows = _row("before step 1", "the pins differ", f"{outcome.stopped} has changed since the first day; a person has to look", True)
    else:
        rows = "".join(_steps(outcome.result))
    colour = COLOURS[1] if outcome.worked else COLOURS[2]
    return (f'<div style="max-width:56em;line-height:1.45"><div style="border-left:5px solid {colour};padding:0.2em 0.6em;margin:0.3em 0">'
            f'<b>{escape(_verdict(outcome))}</b></div>{rows}</div>')


def lab_alt(name, allow, approval, person, pin) -> str:
    return f"The attack: {name}. {_verdict(attack(name, allow, approval, pin, PEOPLE[person]))}"


def _verdict(outcome) -> str:
    lost = "; ".join(filter(None, ("order A123 was refunded, and nobody asked for it" if "A123" in outcome.refunds else "",
                                   f"the service was given {outcome.leaked} characters of the conversation" if outcome.leaked else "")))
    return ((f"The attack works: {lost}. " if outcome.worked else "The attack is stopped. ")
            + ("The task was done." if outcome.finished else "The task was not done: no model was called."))


def _steps(result):
    refused = {e["id"]: e for e in result.journal.of("result") if e["error"] or e["content"].startswith("ERROR")}
    for reply in result.journal.of("reply"):
        calls = reply["message"].get("tool_calls", ())
        for c in calls:
            what = next(e for e in result.journal.of("result") if e["id"] == c["id"])
            yield _row(f"step {reply['step']}", f"{c['function']['name']} {c['function']['arguments']}", what["content"], c["id"] in refused)
        if not calls:
            yield _row(f"step {reply['step']}", "answers", reply["message"]["content"], False)


def _row(when, asked, got, refused):
    mark = f"border-left:5px dashed {QUIET}" if refused else f"border-left:5px solid {COLOURS[0]}"
    return (f'<div style="{mark};padding:0.1em 0 0.1em 0.6em;margin:0.25em 0"><span style="{_QUIET}">{escape(when)}</span> '
            f'<span style="{_CODE}">{escape(asked)}</span><br><span style="{_CODE};{_QUIET}">{escape(got[:260])}</span></div>')
