"""The clock of the coding round: counts down once it is started, shows the stages, can be paused and hidden. No sound.

Nothing runs before Start is pressed. The countdown is a task of the kernel's own event loop, no thread: while a cell
runs it stands still and then catches up, and it ends by itself when it is paused, over, or replaced by a new Timer.
"""

from __future__ import annotations

import asyncio
import math
import time
from html import escape

STAGES = (("a loop", 15), ("things fail", 8), ("several calls", 8), ("limits", 8), ("a restart", 6))
"""(name, minutes) of each stage; 45 minutes in all."""
UNSEEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CSS = "<style>.agentkit-timer button:focus-visible { outline: 3px solid var(--jp-brand-color1); }</style>"
READY, RUNNING, PAUSED, OVER = "ready", "running", "paused", "over"


def digits(seconds: float) -> str:
    """45:00, 9:05, 0:00. A second that has begun counts in full."""
    whole = max(0, math.ceil(seconds))
    return f"{whole // 60}:{whole % 60:02}"


def stage_at(spent: float, stages=STAGES) -> tuple[int, float]:
    """(index of the stage after `spent` seconds, seconds left of it); behind the end it is the last one with 0 left."""
    end = 0.0
    for index, (_, minutes) in enumerate(stages):
        end += minutes * 60
        if spent < end:
            return index, end - spent
    return len(stages) - 1, 0.0


def says(state: str, spent: float, stages=STAGES) -> str:
    """What is announced: changes with the state and with the stage only, never with the seconds."""
    index, _ = stage_at(spent, stages)
    name = f"stage {index + 1} of {len(stages)}: {stages[index][0]}"
    return {
        READY: "Press Start when you have read the brief.",
        RUNNING: f"Now {name}.",
        PAUSED: f"Paused in {name}.",
        OVER: "Time. Finish your line, then say what is missing.",
    }[state]


def face(state: str, spent: float, hidden: bool = False, stages=STAGES) -> str:
    """The clock as HTML: the digits, what is on, and one segment for each stage. Hidden, it shows that it runs and no more."""
    if hidden:
        return f'<div style="line-height:1.5;padding:0.3em 0">The clock is hidden ({state}).</div>'
    total = sum(minutes for _, minutes in stages) * 60
    now, left = stage_at(spent, stages)
    beside = f" {digits(left)} left of it." if state in (RUNNING, PAUSED) else ""
    return (
        f'<div style="line-height:1.4;padding:0.3em 0"><span style="font-size:2.2em;font-family:monospace">{digits(total - spent)}</span>'
        f'<span style="margin-left:1em">{escape(says(state, spent, stages))}{beside}</span>'
        f'<div style="display:flex;gap:3px;max-width:46em;margin-top:0.3em">{_segments(state, spent, now, stages)}</div></div>'
    )


def _segments(state, spent, now, stages):
    parts, begin = [], 0
    for index, (name, minutes) in enumerate(stages):
        share = min(max((spent - begin) / (minutes * 60), 0), 1)
        begin += minutes * 60
        here = index == now and state in (RUNNING, PAUSED)
        parts.append(
            f'<div style="flex:{minutes} 1 0;min-width:7em"><div style="height:0.7em;border:1px solid #8A8A8A"><div'
            f' style="width:{100 * share:.0f}%;height:100%;background-color:#0072B2"></div></div><span'
            f' style="font-size:0.9em;font-weight:{"bold" if here else "normal"}">{"▶ " if here else ""}{index + 1}'
            f" {escape(name)}<br>{minutes} min</span></div>"
        )
    return "".join(parts)


class Timer:
    """Start, pause, reset, hide. `clock` gives seconds; on a page without a kernel the reader sees the clock at its start."""

    _latest: Timer | None = None

    def __init__(self, stages=STAGES, clock=time.monotonic):
        import ipywidgets as widgets

        if Timer._latest is not None:  # the cell was run again: the former clock must not go on unseen
            Timer._latest.close()
        Timer._latest = self
        self.stages, self._clock = stages, clock
        self.total = sum(minutes for _, minutes in stages) * 60
        self.hidden = False
        self._before, self._since, self._task = 0.0, None, None
        self._face, self._spoken = widgets.HTML(), widgets.HTML()
        self._go = widgets.Button(description="Start", tooltip="Start or pause the clock", layout={"width": "6em"})
        self._reset = widgets.Button(description="Reset", tooltip="Back to the full time", layout={"width": "6em"})
        self._hide = widgets.Button(description="Hide", tooltip="Hide or show the clock; it goes on", layout={"width": "6em"})
        self._go.on_click(lambda _: self.pause() if self.state == RUNNING else self.start())
        self._reset.on_click(lambda _: self.reset())
        self._hide.on_click(lambda _: self.hide())
        self.root = widgets.VBox([widgets.HTML(CSS), widgets.HBox([self._go, self._reset, self._hide]), self._face, self._spoken])
        self.root.add_class("agentkit-timer")
        self.refresh()

    @property
    def spent(self) -> float:
        """Seconds on the clock so far, at most all of them."""
        running = 0.0 if self._since is None else self._clock() - self._since
        return min(self._before + running, self.total)

    @property
    def state(self) -> str:
        if self.spent >= self.total:
            return OVER
        return RUNNING if self._since is not None else PAUSED if self._before else READY

    def start(self) -> None:
        """Let the clock run; the event loop of the kernel redraws it every second."""
        if self.state in (RUNNING, OVER):
            return
        self._since = self._clock()
        self.refresh()
        try:
            self._task = asyncio.get_running_loop().create_task(self._run())
        except RuntimeError:
            self._task = None  # no loop here (a script, a test): refresh() still tells the time

    def pause(self) -> None:
        self._before, self._since = self.spent, None
        self._stop()
        self.refresh()

    def reset(self) -> None:
        self._before, self._since = 0.0, None
        self._stop()
        self.refresh()

    def hide(self) -> None:
        """Hide the clock, or show it again."""
        self.hidden = not self.hidden
        self.refresh()

    def close(self) -> None:
        """Stop for good; what is on the page stays as it is."""
        self._before, self._since = self.spent, None
        self._stop()

    def _stop(self):
        if self._task is not None:
            self._task.cancel()
            self._task = None

    async def _run(self):
        while self.state == RUNNING:
            self.refresh()
            left = self.total - self.spent
            await asyncio.sleep(max(0.05, left - math.ceil(left) + 1))  # until the digits change
        self._task = None
        self.refresh()

    def refresh(self) -> None:
        """Draw the clock as it stands."""
        state, spent = self.state, self.spent
        self._face.value = f'<div role="timer" aria-live="off">{face(state, spent, self.hidden, self.stages)}</div>'
        self._spoken.value = f'<div role="status" aria-live="polite" style="{UNSEEN}">{escape(says(state, spent, self.stages))}</div>'
        self._go.description = {RUNNING: "Pause", PAUSED: "Go on"}.get(state, "Start")
        self._go.disabled = state == OVER
        self._hide.description = "Show" if self.hidden else "Hide"

    def _repr_mimebundle_(self, **_):
        note = '<p style="margin:0.2em 0;opacity:0.75;font-size:0.9em">The clock at its start. Run the notebook to use it.</p>'
        view = {"version_major": 2, "version_minor": 0, "model_id": self.root.model_id}
        plain = f"A clock of {digits(self.total)} minutes in {len(self.stages)} stages, not started."
        return {"text/plain": plain, "text/html": face(READY, 0.0, False, self.stages) + note, WIDGET_VIEW: view}, {}
