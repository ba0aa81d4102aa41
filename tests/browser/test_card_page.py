"""The cards of notebook 25 as a reader uses them: by mouse and by keyboard, kept over a fresh start, in both themes."""

import json

import pytest

pytestmark = pytest.mark.browser
NOTEBOOK = "25_question_round.ipynb"


@pytest.fixture
def decks(tab, jupyterlab):
    (jupyterlab.scratch / "progress.json").unlink(missing_ok=True)
    tab.open(NOTEBOOK)
    assert tab.page.locator(".agentkit-still-cards").count() == 2, "no still where the notebook was only opened"
    tab.run_all()
    found = tab.page.locator(".agentkit-cards")
    assert found.count() == 2
    yield found
    tab.expect_no_failure()


def button(root, name):
    return root.get_by_role("button", name=name)


def wait_for(root, text):
    root.get_by_text(text).first.wait_for(timeout=10_000)


def kept(lab):
    file = lab.scratch / "progress.json"
    return json.loads(file.read_text())["cards"] if file.exists() else {}


def test_by_mouse(decks, tab, jupyterlab, screenshots):
    root = decks.nth(0)
    root.scroll_into_view_if_needed()
    wait_for(root, "card 1 of 3")
    root.locator("textarea").fill("I send the whole list. The model asks, my code does.")
    button(root, "Show the answer").click()
    wait_for(root, "Tick what you had")
    ticks = root.get_by_role("checkbox")
    assert ticks.count() == 5 and root.locator("textarea").input_value().startswith("I send the whole list")
    wait_for(root, "0 of 5 points: with Next this card comes back in 1 day.")
    for n in range(5):
        ticks.nth(n).click()
    wait_for(root, "5 of 5 points: with Next this card comes back in 3 days.")
    assert "The trap." in root.inner_text() and root.get_by_role("link", name="04 The loop").get_attribute("href") == "04_loop.ipynb"
    for theme in ("Dark", "Light"):
        tab.theme(f"JupyterLab {theme}")
        root.screenshot(path=screenshots / f"25_cards-flipped-{theme.lower()}.png")
    assert not root.locator(".widget-label, .widget-label-basic, button, .widget-checkbox label").evaluate_all(
        "labels => labels.filter(label => label.scrollWidth > label.clientWidth + 1).map(label => label.textContent)")
    assert kept(jupyterlab) == {}
    button(root, "Next").click()
    wait_for(root, "card 2 of 3")
    assert root.locator("textarea").input_value() == "" and root.get_by_role("checkbox").count() == 0
    assert kept(jupyterlab)["art-01"]["met"] == 5
    assert "whole list" not in (jupyterlab.scratch / "progress.json").read_text()

    full = decks.nth(1)                                             # the large deck: choose, and go on
    full.get_by_label("Where").select_option(label="06 The exits")
    full.get_by_label("Kind").select_option(label="interview")
    wait_for(full, "06 · The exits · interview · card 1 of 5")
    button(full, "Skip").click()
    wait_for(full, "card 2 of 5")
    full.screenshot(path=screenshots / "25_cards-chosen.png")


def test_by_keyboard_to_the_end(decks, tab, jupyterlab):
    page, root = tab.page, decks.nth(0)
    root.locator("textarea").focus()
    for number in (1, 2, 3):
        wait_for(root, f"card {number} of 3")
        page.keyboard.press("Tab")                                  # from the text to the button
        page.keyboard.press("Enter")
        wait_for(root, "Tick what you had")
        page.wait_for_function("document.activeElement.type === 'checkbox'")
        page.keyboard.press("Space")                                # the first point
        wait_for(root, "1 of ")
        for _ in range(root.get_by_role("checkbox").count()):       # past the others, to the button
            page.keyboard.press("Tab")
        page.keyboard.press("Enter")
        if number < 3:
            page.wait_for_function("document.activeElement.tagName === 'TEXTAREA'")
    wait_for(root, "3 cards answered, 3 of 14 points")
    assert {id: entry["box"] for id, entry in kept(jupyterlab).items()} == {"art-01": 1, "art-21": 1, "21-2": 1}
