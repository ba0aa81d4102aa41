"""Every lab of every notebook, driven as a reader drives it: by keyboard and by mouse, in a light and a dark theme.

New notebooks need no new test: a lab is found on the page by its class.
"""

import pytest
from driver import SAMPLE, notebooks_with_labs
from labs import LabOnPage

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("name", notebooks_with_labs())
def test_labs(name, tab, screenshots):
    tab.open(name)
    stills = tab.page.locator(".agentkit-still").count()  # what is seen before anything runs
    assert name == SAMPLE or stills, "no still where the notebook was only opened"
    tab.run_all()
    roots = tab.page.locator(".agentkit-lab")
    assert roots.count() and (name == SAMPLE or roots.count() == stills), f"{roots.count()} labs, {stills} stills"
    labs = [LabOnPage(tab.page, roots.nth(i)) for i in range(roots.count())]
    for i, lab in enumerate(labs, start=1):
        look_at(lab)
        for theme in ("Light", "Dark"):
            tab.theme(f"JupyterLab {theme}")
            roots.nth(i - 1).screenshot(path=screenshots / f"{name.removesuffix('.ipynb')}-lab{i}-{theme.lower()}.png")
        move_sliders(lab)
        move_the_rest(lab)
        tab.expect_no_failure()


def look_at(lab):
    lab.root.scroll_into_view_if_needed()
    assert lab.shows_something(), f"{lab.title}: nothing is shown"
    assert not lab.cut_off(), f"{lab.title}: cut off: {lab.cut_off()}"


def move_sliders(lab):
    by_key = [lab.changes(lambda s=s: press_and_see(lab, s), 4000) for s in lab.sliders.all()]
    assert not by_key or any(by_key), f"{lab.title}: no arrow key on a slider changes what is shown"
    for i, slider in enumerate(lab.sliders.all()):
        start = lab.value(slider)
        by_mouse = [lab.changes(lambda: lab.drag(slider, to), 4000) for to in (1, 0)]
        assert lab.value(slider) == float(slider.get_attribute("aria-valuemin")), f"{lab.title}: slider {i} cannot be dragged"
        assert any(by_mouse), f"{lab.title}: slider {i} changes nothing from one end to the other (it began at {start})"
        lab.drag(slider, 0.5)


def press_and_see(lab, slider):
    before = lab.stands(slider)
    lab.press(slider)
    assert lab.stands(slider) != before, f"{lab.title}: a slider does not move by arrow key"


def move_the_rest(lab):
    for box in lab.root.locator("input[type=checkbox]").all():
        box.focus()
        box.press("Space")
    for box in lab.root.locator("select").all():
        box.press("ArrowDown")
    for button in lab.root.locator(".widget-toggle-button:not(.mod-active)").all():
        button.focus()
        button.press("Enter")
    if lab.button("Next").count():
        walk(lab)
    if lab.button("Reset").count():
        lab.button("Reset").click()
    lab.page.wait_for_timeout(300)


def walk(lab):
    """Back and Next move one step, together with the slider."""
    back, ahead, slider = lab.button("Back"), lab.button("Next"), lab.sliders.first
    lab.drag(slider, 0)
    lab.page.wait_for_function("button => button.disabled", arg=back.element_handle())
    first, low = lab.looks(), lab.value(slider)
    assert lab.changes(ahead.click), f"{lab.title}: Next shows nothing new"
    assert lab.value(slider) == low + 1, f"{lab.title}: the slider does not follow Next"
    back.focus()
    assert lab.changes(lambda: back.press("Enter")) and lab.looks() == first, f"{lab.title}: Back does not go back"


def test_a_failing_cell_and_a_request_that_leaves_are_seen(tab):
    tab.open(SAMPLE)
    tab.page.evaluate("fetch('https://example.org/').catch(() => null)")
    tab.page.wait_for_timeout(200)
    with pytest.raises(AssertionError, match="example.org"):
        tab.expect_no_failure()
    tab.outside.clear()
    tab.page.evaluate("""() => {
        const notebook = window.jupyterapp.shell.currentWidget.content;
        notebook.widgets.find(cell => cell.model.type === 'code').model.sharedModel.setSource('1 / 0');
    }""")
    with pytest.raises(AssertionError, match="ZeroDivisionError"):
        tab.run_all()
