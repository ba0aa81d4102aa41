"""The controls of a lab: plain values that say what a setting is, and `build()` the widget for it.

`build()` returns (the widget that has the value, the widget to show); `samples()` a few values worth trying. A control
that is `wide` gets a row of its own.
"""

from dataclasses import dataclass

import ipywidgets as widgets


@dataclass(frozen=True)
class Slider:
    """A number between `low` and `high`, moved by mouse or arrow keys. Whole numbers give whole numbers."""

    label: str
    low: float
    high: float
    default: float
    step: float = 1
    help: str = ""
    format: str = ""  # how the number is written beside the slider, such as ".2f" or ",d"

    def build(self):
        whole = all(isinstance(n, int) for n in (self.low, self.high, self.default, self.step))
        kind = widgets.IntSlider if whole else widgets.FloatSlider
        control = kind(min=self.low, max=self.high, value=self.default, step=self.step, continuous_update=True,
                       readout_format=self.format or ("d" if whole else ".2f"))
        return control, control

    def samples(self):
        return [self.low, self.high, self.default]


@dataclass(frozen=True)
class Step:
    """A place between `low` and `high`, walked with Back and Next or with a slider: the control of a player."""

    label: str
    low: int
    high: int
    default: int = None
    help: str = ""
    wide = True

    def build(self):
        start = self.low if self.default is None else self.default
        control = widgets.IntSlider(min=self.low, max=self.high, value=start)
        back, ahead = (widgets.Button(description=text, layout={"width": "5.5em"}) for text in ("◀ Back", "Next ▶"))

        def enable(_=None):
            back.disabled, ahead.disabled = control.value <= self.low, control.value >= self.high

        def move(by):
            control.value = min(max(control.value + by, self.low), self.high)

        back.on_click(lambda _: move(-1))
        ahead.on_click(lambda _: move(+1))
        control.observe(enable, "value")
        enable()
        return control, widgets.HBox([control, back, ahead], layout={"flex_flow": "row wrap"})

    def samples(self):
        return [self.low, (self.low + self.high) // 2, self.high]


@dataclass(frozen=True)
class Choice:
    """One of several: a list to open, or with `buttons=True` all of them side by side. `options` may map text to value."""

    label: str
    options: object
    default: object = None
    help: str = ""
    buttons: bool = False

    @property
    def wide(self):
        return self.buttons or max(len(str(option)) for option in self.options) > 26

    def build(self):
        kind = widgets.ToggleButtons if self.buttons else widgets.Dropdown
        control = kind(options=self.options, value=self.samples()[0] if self.default is None else self.default)
        if self.buttons:
            control.style.button_width = "auto"
        return control, control

    def samples(self):
        return list(self.options.values() if isinstance(self.options, dict) else self.options)


@dataclass(frozen=True)
class Switch:
    """On or off."""

    label: str
    default: bool = False
    help: str = ""

    def build(self):
        control = widgets.Checkbox(value=self.default)
        return control, control

    def samples(self):
        return [False, True]
