"""Figures and labs without a browser: what is drawn, what is sent, and what happens when a view fails."""

import pytest

pytest.importorskip("matplotlib")
pytest.importorskip("ipywidgets")

from agentkit.course.figures import COLOURS, figure, fill, line, pen, png, show, shown_width  # noqa: E402
from agentkit.course.lab import LABS, Choice, Drawing, Lab, Slider, Step, Switch  # noqa: E402


def chart(steps=10):
    fig, ax = figure(title="Tokens", xlabel="step", ylabel="tokens", margins=(0.8, 0.25, 0.45, 0.6))
    ax.plot(range(steps), range(steps), label="as it is")
    ax.legend()
    return fig


def make(view, controls=None, alt="A line", title="A lab"):
    return Lab(controls or {"steps": Slider("Steps", 1, 20, 10)}, view, title=title, alt=alt)


# Figures

def test_the_same_figure_gives_the_same_small_bytes():
    first, second = png(chart()), png(chart())
    assert first == second == png(chart()) and b"Software" not in first
    assert len(first) < 40_000 and shown_width(first) == 710


def test_words_from_memory_are_the_words_of_a_new_pen():
    def words(colour):
        fig, ax = figure(title="Words", margins=(0.8, 0.25, 0.45, 0.6))
        ax.text(0.3, 0.4, "turned,\nin two lines", rotation=30, color=colour)
        ax.text(0.5, 0.5, "$x^2$ dollars")
        return png(fig)

    warm = [words("#222222"), words("#D55E00"), words("#222222")]
    pen.cache_clear()
    assert words("#222222") == warm[0] == warm[2] != warm[1]
    pen.cache_clear()
    assert words("#D55E00") == warm[1]


def test_a_figure_drawn_twice_is_the_same():
    fig = chart()
    assert png(fig) == png(fig)


def test_drawing_changes_no_setting_of_the_readers_matplotlib():
    import matplotlib

    before = dict(matplotlib.rcParams)
    png(chart())
    assert dict(matplotlib.rcParams) == before


def test_lines_and_bars_differ_in_more_than_colour():
    looks = [line(i) for i in range(7)]
    assert all(len({str(look[what]) for look in looks}) == 7 for what in ("color", "linestyle", "marker"))
    assert len({fill(i)["hatch"] for i in range(7)}) == 7 and line(7) == line(0)
    _, ax = figure()
    lines = [ax.plot([0, 1], [0, i])[0] for i in range(3)]
    assert [(drawn.get_color(), drawn.get_marker()) for drawn in lines] == [(COLOURS[i], line(i)["marker"]) for i in range(3)]


def test_several_axes():
    fig, axes = figure(columns=2, title="Both")
    assert len(axes) == 2 and fig._suptitle.get_text() == "Both"
    assert figure(rows=2)[1].shape == (2,)


def test_show_displays_once_with_alt_text(monkeypatch):
    shown = []
    monkeypatch.setattr("IPython.display.display", lambda data, metadata, raw: shown.append((data, metadata)))
    assert show(chart(), "A rising line.") is None
    ((data, metadata),) = shown
    assert data["text/plain"] == metadata["image/png"]["alt"] == "A rising line."
    with pytest.raises(ValueError, match="alt text"):
        show(chart(), " ")


# Labs

def test_a_moved_control_shows_the_view_of_its_settings():
    lab = make(lambda steps: f"<p>{steps} steps</p>")
    assert "10 steps" in lab._text.value and lab.settings() == {"steps": 10}
    lab.inputs["steps"].value = 3
    assert "3 steps" in lab._text.value
    lab.reset()
    assert "10 steps" in lab._text.value


def test_a_picture_and_its_words_change_together():
    lab = make(lambda steps: (chart(steps), f"{steps}!"), alt=lambda steps: f"A line of <{steps}>")
    before = bytes(lab._picture.value)
    lab.inputs["steps"].value = 5
    assert bytes(lab._picture.value) == png(chart(5), effort=1) != before
    assert "5!" in lab._text.value and "A line of &lt;5&gt;" in lab._text.value and lab._picture.tooltip == "A line of <5>"


def test_an_equal_drawing_is_not_sent_again():
    lab = make(lambda steps: chart(2))
    sent = []
    lab._picture.observe(sent.append, "value")
    lab.inputs["steps"].value = 11
    assert sent == []


def test_the_same_settings_give_the_same_drawing():
    lab = make(chart)
    assert lab.draw(steps=4) == lab.draw(steps=4) != lab.draw(steps=5)
    assert isinstance(lab.draw(steps=4), Drawing)


def test_a_failing_view_says_so_in_one_line_and_recovers():
    def view(steps):
        if steps > 15:
            raise ValueError("too <many>")
        return chart(steps)

    lab = make(view)
    lab.inputs["steps"].value = 16
    assert "These settings (steps = 16) cannot be drawn: ValueError: too &lt;many&gt;" in lab._text.value
    assert lab._picture.layout.display == "none"
    lab.inputs["steps"].value = 15
    assert "cannot" not in lab._text.value and lab._picture.layout.display is None


def test_a_view_that_fails_at_first_raises_in_the_cell():
    with pytest.raises(ZeroDivisionError):
        make(lambda steps: 1 / 0)
    with pytest.raises(TypeError, match="returns a Figure, HTML text or"):
        make(lambda steps: None)


def test_one_message_has_the_widget_and_its_still():
    lab = make(lambda **s: (chart(s["steps"]), "<p>words</p>"), controls={
        "steps": Slider("Steps", 1, 20, 10), "rate": Slider("Rate", 0.0, 1.0, 0.25, step=0.05),
        "check": Choice("Check", {"before the call": 1, "after": 2}), "reserve": Switch("Reserve")})
    lab.inputs["steps"].value = 3  # a still always shows the first settings
    data, metadata = lab._repr_mimebundle_()
    assert set(data) == {"image/png", "text/html", "text/plain", "application/vnd.jupyter.widget-view+json"}
    assert metadata["image/png"]["alt"] == data["text/plain"] == "A line"
    assert "A lab: a still at Steps 10, Rate 0.25, Check before the call, Reserve off." in data["text/html"]
    assert data == lab._repr_mimebundle_()[0] and "var(" not in data["text/html"]


def test_html_alone_needs_no_picture():
    data, metadata = make(lambda steps: "<p>frame</p>").still()
    assert set(data) == {"text/html", "text/plain"} and metadata == {}


def test_back_next_and_slider_stay_together():
    lab = make(lambda step: f"frame {step}", controls={"step": Step("Step", 1, 3)})
    panel = lab.root.children[1].children[0]
    slider, back, ahead = panel.children
    assert (slider.value, back.disabled, ahead.disabled) == (1, True, False)
    ahead.click(), ahead.click(), ahead.click()
    assert (slider.value, back.disabled, ahead.disabled) == (3, False, True) and "frame 3" in lab._text.value
    back.click()
    assert slider.value == 2 and not back.disabled and not ahead.disabled
    slider.value = 1
    assert back.disabled


def test_every_control_is_labelled_and_explained():
    lab = make(lambda **s: str(s), controls={
        "a": Slider("Whole", 0, 3, 1, help="why"), "b": Slider("Broken", 0, 3, 1, step=0.5), "c": Choice("Of two", ["x", "y"], buttons=True),
        "d": Choice("Which", {"one": 1, "two": 2}, default=2), "e": Switch("On", True)})
    assert lab.settings() == {"a": 1, "b": 1.0, "c": "x", "d": 2, "e": True}
    assert all(widget.description and widget.tooltip for widget in lab.inputs.values())
    assert lab.inputs["a"].tooltip == "why" and lab.inputs["b"].tooltip == "Broken"
    assert all(set(control.samples()) for control in lab.controls.values())
    assert LABS["A lab"] is lab
