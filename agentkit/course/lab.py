"""Labs: labelled controls over one pure function, with the picture it makes below them.

`Lab(controls, view, title=..., alt=...)` shows the controls; whenever one moves, `view(**settings)` is called and what it
returns (a Figure, HTML, or both) replaces what was there. Nothing is printed and no output is cleared, so nothing
flickers. On a page without a kernel the reader sees a still of the first settings.
"""

import gc
from contextlib import contextmanager
from dataclasses import dataclass
from html import escape

import ipywidgets as widgets
from matplotlib.figure import Figure
from traitlets import Unicode

from .controls import Choice, Slider, Step, Switch
from .figures import picture_bundle, png, shown_width

__all__ = ["Lab", "Slider", "Step", "Choice", "Switch", "LABS"]

LABS = {}  # title -> Lab: the labs of this kernel, for the benchmark and the tests
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CSS = """<style>
.agentkit-lab .widget-label { text-align: left; flex: none; }
.agentkit-lab .widget-toggle-buttons { display: flex; flex-flow: row wrap; margin: 2px; }
.agentkit-lab .noUi-handle:focus-visible, .agentkit-lab button:focus-visible { outline: 3px solid var(--jp-brand-color1); }
.agentkit-lab-text .widget-html-content { line-height: 1.45; }
.agentkit-lab-text p { margin: 0.3em 0; }
</style>"""
UNSEEN = "position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%);white-space:nowrap"


class Picture(widgets.Image):
    """An image widget that can carry a title, which is read out where there is no alt."""

    description = Unicode("").tag(sync=True)  # the front end looks it up before it sets a title, and stumbles without it


@dataclass(frozen=True)
class Drawing:
    """What one set of settings looks like: PNG bytes or None, HTML, and the picture in words."""

    png: bytes | None
    html: str
    alt: str


class Lab:
    """Controls over a pure function `view(**settings) -> Figure | HTML | (Figure, HTML)`.

    `controls` maps each of the function's arguments to a Slider, Step, Choice or Switch. `alt` says what the picture
    shows: a text, or a function of the same settings, so that who cannot see it is told what has changed. `still` names
    the settings of the still, where they are not the first ones.
    """

    def __init__(self, controls, view, *, title, alt, still=None):
        self.controls, self.view, self.title, self.alt = controls, view, title, alt
        self.inputs, rows = {}, []
        for name, control in controls.items():
            self.inputs[name], row = control.build()
            rows.append(row)
        self.defaults = self.settings()
        self.still_at = {**self.defaults, **(still or {})}
        self._shown = None
        self._resetting = False
        self._picture, self._text = Picture(format="png"), widgets.HTML()
        self._picture.layout = {"max_width": "100%", "height": "auto", "object_fit": "contain", "margin": "0"}
        self.root = self._lay_out(rows)
        for control in self.inputs.values():
            control.observe(self._moved, "value")
        self._show(self.draw(**self.defaults))
        LABS[title] = self

    def settings(self):
        """What the controls say now."""
        return {name: control.value for name, control in self.inputs.items()}

    def draw(self, effort=1, **settings):
        """Return the Drawing for these settings: the same settings always give the same drawing."""
        with no_garbage_collection():
            return self._draw(effort, settings)

    def _draw(self, effort, settings):
        made = self.view(**settings)
        figure, html = made if isinstance(made, tuple) else (made, "") if isinstance(made, Figure) else (None, made)
        if not isinstance(html, str) or not isinstance(figure, (Figure, type(None))):
            raise TypeError(f"the view of a lab returns a Figure, HTML text or (Figure, HTML text), not {made!r}")
        alt = self.alt(**settings) if callable(self.alt) else self.alt
        return Drawing(png(figure, effort=effort) if figure is not None else None, html, alt)

    def reset(self, _=None):
        """Put every control back to where it was at first."""
        self._resetting = True
        for name, control in self.inputs.items():
            control.value = self.defaults[name]
        self._resetting = False
        self._moved()

    def _moved(self, _=None):
        if self._resetting:
            return
        try:
            drawing = self.draw(**self.settings())
        except Exception as error:  # a traceback for every pixel of a drag would bury the notebook
            said = ", ".join(f"{name} = {value!r}" for name, value in self.settings().items())
            reason = f"{type(error).__name__}: {error}"
            drawing = Drawing(None, _note(f"These settings ({said}) cannot be drawn: {reason}", "agentkit-lab-error"), "")
        self._show(drawing)

    def _show(self, drawing):
        if drawing == self._shown:
            return
        self._shown = drawing
        if drawing.png:  # the picture goes first: words before it would have to be laid out before it is taken in
            with self._picture.hold_sync():  # one message
                self._picture.value = drawing.png
                self._picture.tooltip = drawing.alt  # the widget has no alt; its title is read out in its place
                self._picture.width = str(shown_width(drawing.png))
        self._picture.layout.display = None if drawing.png else "none"
        spoken = f'<span style="{UNSEEN}">{escape(drawing.alt)}</span>' if drawing.png else ""
        self._text.value = f'<div role="status" aria-live="polite">{drawing.html}{spoken}</div>'

    def _label(self):
        """Give every control its label, wide enough for the longest, and its tooltip; return the width of a control."""
        beside = [len(control.label) for control in self.controls.values() if not isinstance(control, Switch)]
        width = f"{max(beside, default=0) + 1}ch"
        for name, control in self.controls.items():
            widget = self.inputs[name]
            widget.description, widget.tooltip = control.label, control.help or control.label
            widget.style.description_width = width
            # A step's slider stands beside its buttons and would shrink to nothing without a width of its own.
            widget.layout.width = f"calc({width} + 20em)" if isinstance(control, Step) else "auto"
            widget.layout.max_width = f"calc({width} + 24em)"
        return f"calc({width} + 17em)"

    def _lay_out(self, rows):
        width = self._label()
        title = widgets.HTML(f"{CSS}<b>{escape(self.title)}</b>")
        title.add_class("agentkit-lab-title")
        head = [title]
        if len(self.controls) > 1:
            again = widgets.Button(description="Reset", tooltip="Back to the first settings", layout={"width": "5.5em"})
            again.on_click(self.reset)
            head.append(again)
        for control, row in zip(self.controls.values(), rows):
            if getattr(control, "wide", False):
                row.layout.grid_area = "auto / 1 / auto / -1"  # the front end ignores grid_column
                row.layout.max_width = f"calc({width} + 24em)"
        columns = f"repeat(auto-fit, minmax(min(100%, {width}), 1fr))"
        panel = widgets.GridBox(rows, layout={"width": "100%", "grid_template_columns": columns, "grid_gap": "0 1.5em"})
        self._picture.add_class("agentkit-lab-picture")
        self._text.add_class("agentkit-lab-text")
        root = widgets.VBox([widgets.HBox(head, layout={"align_items": "center", "grid_gap": "1em"}), panel,
                             self._picture, self._text], layout={"align_items": "flex-start"})
        root.add_class("agentkit-lab")
        return root

    def still(self):
        """Return (data, metadata): what a page without a kernel shows, at the first settings or at those of `still=`."""
        drawing = self.draw(effort=9, **self.still_at)
        said = ", ".join(f"{control.label.rstrip(':')} {self._spell(name)}" for name, control in self.controls.items())
        note = f"{self.title}: a still at {said}. Run the notebook to move the controls."
        html = drawing.html + _note(note, "agentkit-still")
        data, metadata = picture_bundle(drawing.png, drawing.alt) if drawing.png else ({"text/plain": drawing.alt}, {})
        return {**data, "text/html": html}, metadata

    def _spell(self, name):
        widget = self.inputs[name]
        value = self.still_at[name]
        if isinstance(self.controls[name], Switch):
            return "on" if value else "off"
        if hasattr(widget, "label"):
            return next(label for label, option in zip(widget._options_labels, widget._options_values) if option == value)
        return f"{value:g}" if isinstance(value, float) else f"{value:,}"

    def _repr_mimebundle_(self, **_):
        data, metadata = self.still()
        view = {"version_major": 2, "version_minor": 0, "model_id": self.root.model_id}
        return {**data, WIDGET_VIEW: view}, metadata


@contextmanager
def no_garbage_collection():
    """Put the collection off until a picture is made: in the middle of one it takes three times as long as the drawing."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def _note(text, kind):
    # No var(...) here: JupyterLab drops such styles from a notebook that was opened but not run.
    return f'<p class="{kind}" style="margin:0.4em 0;opacity:0.75;font-size:0.9em">{escape(text)}</p>'
