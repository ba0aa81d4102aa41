"""The trace of notebook 08 as its reader sees it: the table, the timeline, and a viewer that is moved to a diagnosis."""

import pytest

from labs import LabOnPage

pytestmark = pytest.mark.browser


def test_the_trace_is_read_from_table_to_diagnosis(tab):
    tab.open("08_trace.ipynb")
    tab.run_all()
    page = tab.page
    assert page.locator("th", has_text="tokens so far").count(), "no trace table"
    picture = page.locator(".jp-RenderedImage img").first
    assert picture.evaluate("img => img.naturalWidth > 300"), "no timeline"

    lab = LabOnPage(page, page.locator(".agentkit-lab").first)
    assert "the model asks for" in lab.root.inner_text()
    assert lab.changes(lambda: lab.root.locator("select").select_option(index=1)), "another run looks the same"
    assert "repeated_call" in page.locator("body").inner_text() and "three times" in lab.root.inner_text()
    for view, says in (("sent at this step", "The harness's own list has 2 messages"), ("timeline", "Stopped: a loop")):
        assert lab.changes(lab.root.get_by_role("button", name=view).click), f"nothing new in the view {view!r}"
        assert says in lab.root.inner_text()
    assert lab.root.locator("img.agentkit-lab-picture").is_visible()

    assert lab.changes(lab.root.get_by_role("button", name="sent at this step").click)
    for _ in range(4):
        assert lab.changes(lab.button("Next").click), "Next shows nothing new"
    assert "the model is sent 6 messages" in lab.root.inner_text() and "own list has 12 messages" in lab.root.inner_text()
    assert not lab.root.locator("img.agentkit-lab-picture").is_visible(), "the timeline stayed below the list"

    cures = page.locator("details", has_text="patient 1: the cause and the cure")
    assert cures.get_attribute("open") is None, "the cure is told before anybody asks"
    cures.locator("summary").click()
    assert "tool_call_id" in cures.inner_text()
    tab.expect_no_failure()
