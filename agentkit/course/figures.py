"""Figures of the course: one look, readable in a light and a dark theme, each with alt text.

A figure is made by a pure function `settings -> Figure`, without pyplot: nothing is drawn by accident, nothing twice.
"""

import base64
import io
import logging
from functools import lru_cache

# On its first import on a machine matplotlib may say that it builds a font list: nothing a reader has to know.
logging.getLogger("matplotlib.font_manager").setLevel(logging.ERROR)

import matplotlib
import numpy as np
from cycler import cycler
from matplotlib.backends.backend_agg import FigureCanvasAgg, RendererAgg
from matplotlib.figure import Figure
from matplotlib.patches import FancyBboxPatch
from PIL import Image

# Okabe and Ito's colours, which stay apart for colour-blind readers; without their yellow, which is lost on a light card.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#4D4D4D")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (1, 1)), (0, (3, 1, 1, 1)))
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
HATCHES = ("", "//", "..", "xx", "\\\\", "++", "oo")

CARD, INK, QUIET, GRID = "#FBFAF7", "#222222", "#5F5F5F", "#DDDAD3"
CSS_DPI = 96  # what a browser calls an inch
SHARPNESS = 1.5  # pixels drawn for each CSS pixel: crisp on dense screens, and quick enough for a lab

STYLE = {
    "font.family": "DejaVu Sans", "font.size": 9.5, "axes.titlesize": 11, "axes.titleweight": "bold",
    "axes.titlelocation": "left", "axes.facecolor": CARD, "axes.edgecolor": QUIET, "axes.labelcolor": INK,
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True, "axes.axisbelow": True,
    "grid.color": GRID, "grid.linewidth": 0.8, "text.color": INK, "xtick.color": INK, "ytick.color": INK,
    "xtick.bottom": False, "ytick.left": False,  # the grid says it already, and every mark takes its time
    "lines.linewidth": 2, "lines.markersize": 5, "patch.edgecolor": INK, "hatch.linewidth": 0.8,
    "axes.prop_cycle": cycler(color=COLOURS) + cycler(linestyle=DASHES) + cycler(marker=MARKERS),
}


def figure(width=7.4, height=3.2, *, rows=1, columns=1, title="", xlabel="", ylabel="", margins=None, **subplots):
    """Return (figure, axes) in the house style, `width` x `height` inches; axes is an array when there are several.

    Inside it, `ax.plot` gives every line its own colour, dash and marker. For bars and areas see `fill`.
    `margins` are the inches left, right, above and below the axes. Without them the room is measured, which is safe for
    a still figure but doubles the time of drawing, and in a lab the axes would jump as their numbers grow.
    """
    with matplotlib.rc_context(STYLE):
        fig = Figure(figsize=(width, height), layout=None if margins else "constrained")
        axes = fig.subplots(rows, columns, **subplots)
        for ax in fig.axes:
            ax.set(xlabel=xlabel, ylabel=ylabel)
        if title and len(fig.axes) == 1:
            axes.set_title(title, y=1.0)
        elif title:
            fig.suptitle(title, x=0.14 / width, y=1 - 0.14 / height, ha="left", va="top", weight="bold", size=11)
    if margins:
        _hold_still(fig, rows, columns, *margins)
    else:
        fig.get_layout_engine().set(w_pad=0.14, h_pad=0.14)
    return fig, axes


def _hold_still(fig, rows, columns, left, right, top, bottom):
    """Fix the place of axes and axis labels, in inches; what is fixed needs no measuring, and does not move."""
    width, height = fig.get_size_inches()
    fig.subplots_adjust(left / width, bottom / height, 1 - right / width, 1 - top / height)
    for ax in fig.axes:
        box = ax.get_position()
        if rows == 1:
            ax.xaxis.set_label_coords(0.5, -(bottom - 0.27) / (box.height * height))
        if columns == 1:
            ax.yaxis.set_label_coords(-(left - 0.3) / (box.width * width), 0.5)


def line(i):
    """How line number `i` looks: `ax.plot(x, y, **line(0))`."""
    return {"color": COLOURS[i % 7], "linestyle": DASHES[i % 7], "marker": MARKERS[i % 7]}


def fill(i):
    """How bar or area number `i` looks: `ax.bar(x, y, **fill(0))`. The hatch says it again for who sees no colour."""
    return {"facecolor": COLOURS[i % 7], "edgecolor": CARD, "hatch": HATCHES[i % 7], "linewidth": 0.8}


def png(fig, *, effort=9):
    """Return the bytes of `fig` as PNG on a rounded light card; less `effort` (1 to 9) is faster and makes a larger file.

    The same figure gives the same bytes: nothing of the machine or the date is written into the file.
    """
    if not getattr(fig, "_on_card", False):
        _lay_on_card(fig)
    with matplotlib.rc_context(STYLE):
        fig.set_dpi(CSS_DPI * SHARPNESS)
        canvas = Canvas(fig)
        canvas.draw()
    # 256 colours are plenty for a chart: half the time to write and a third of the bytes.
    picture = Image.fromarray(np.asarray(canvas.buffer_rgba()))
    picture = picture.quantize(256, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    out = io.BytesIO()
    picture.save(out, format="png", compress_level=effort)
    return out.getvalue()


class Canvas(FigureCanvasAgg):
    """Paper for a figure; figures of one size share a pen, which remembers the words that it has written."""

    def get_renderer(self):
        return pen(*self.get_width_height(physical=True), self.figure.dpi)


class Pen(RendererAgg):
    """Draws a figure. Most of that time goes into its words, so words at a place where they have stood are only pasted."""

    def __init__(self, width, height, dpi):
        super().__init__(width, height, dpi)
        self._written = {}  # (words, font, place): the pixels of every letter

    def draw_text(self, gc, x, y, s, prop, angle, ismath=False, mtext=None):
        if ismath:
            return super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
        key = (s, prop.copy(), x, y, angle)
        if key in self._written:
            for letter in self._written[key]:
                self._renderer.draw_text_image(*letter, gc)
            return None
        if len(self._written) > 600:  # about 2 MB
            self._written.clear()
        agg, self._renderer = self._renderer, Watched(self._renderer)
        try:
            super().draw_text(gc, x, y, s, prop, angle, ismath, mtext)
            self._written[key] = self._renderer.letters
        finally:
            self._renderer = agg
        return None


class Watched:
    """A renderer, and the pictures of letters that it was given."""

    def __init__(self, renderer):
        self._renderer, self.letters = renderer, []

    def draw_text_image(self, pixels, x, y, angle, gc):
        self.letters.append((np.array(pixels), x, y, angle))
        self._renderer.draw_text_image(pixels, x, y, angle, gc)

    def __getattr__(self, name):
        return getattr(self._renderer, name)


@lru_cache(maxsize=12)
def pen(width, height, dpi):
    """The pen for figures of this size."""
    return Pen(width, height, dpi)


def show(fig, alt):
    """Display `fig` once, as a picture with the text `alt` for who cannot see it."""
    from IPython.display import display

    if not alt.strip():
        raise ValueError("a figure needs alt text: say in a sentence what can be seen in it")
    data, metadata = picture_bundle(png(fig), alt)
    display(data, metadata=metadata, raw=True)


def picture_bundle(data, alt):
    """Return (data, metadata) of a display message for PNG bytes: as wide as it was meant, with its alt text."""
    shown = {"alt": alt, "width": shown_width(data)}
    return {"image/png": base64.b64encode(data).decode(), "text/plain": alt}, {"image/png": shown}


def shown_width(data):
    """How many CSS pixels wide these PNG bytes are meant to be seen."""
    return round(int.from_bytes(data[16:20], "big") / SHARPNESS)


def _lay_on_card(fig):
    """Put an off-white rounded card under the figure, so that dark ink is readable in a dark theme too."""
    width, height = fig.get_size_inches()
    corner = 0.09
    fig.patch.set_alpha(0)
    fig.add_artist(FancyBboxPatch(
        (corner / width, corner / height), 1 - 2 * corner / width, 1 - 2 * corner / height,
        boxstyle=f"round,pad={corner / width * 0.96},rounding_size={corner / width}",
        mutation_aspect=width / height, transform=fig.transFigure, facecolor=CARD, edgecolor=GRID,
        linewidth=0.8, zorder=-10))
    fig._on_card = True
