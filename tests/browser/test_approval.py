"""The buttons of notebook 07, clicked: a yes pays once, a no pays nothing and its reason reaches the model."""

import pytest

pytestmark = pytest.mark.browser
NOTEBOOK = "07_approval.ipynb"


@pytest.fixture
def page(tab):
    tab.open(NOTEBOOK)
    tab.run_all()
    root = tab.page.locator(".agentkit-approval")
    assert root.count() == 1
    root.scroll_into_view_if_needed()
    yield root
    tab.expect_no_failure()


def button(root, name):
    return root.get_by_role("button", name=name)


def wait_for(root, text):
    root.get_by_text(text).first.wait_for(timeout=10_000)


def test_approve(page, screenshots):
    assert "Refunds made: none" in page.inner_text()
    button(page, "Approve call_3").click()
    wait_for(page, "1 of 2 decided")
    assert "Refunds made: none" in page.inner_text()
    button(page, "Approve call_4").click()
    wait_for(page, "Done after 3 steps")
    assert "Refunds made: 14000 for B456, 6200 for D012." in page.inner_text()
    assert button(page, "Approve call_3").is_disabled() and button(page, "Reject call_4").is_disabled()
    button(page, "Approve call_3").click(force=True)      # a nervous second click
    page.page.wait_for_timeout(500)
    assert "Refunds made: 14000 for B456, 6200 for D012." in page.inner_text()
    page.screenshot(path=screenshots / "07_approval-approved.png")


def test_reject_with_a_reason_by_keyboard(page, screenshots):
    first = button(page, "Approve call_3")
    first.focus()
    for _ in range(2):                                      # Approve, Reject, Reason: in the order of the page
        page.page.keyboard.press("Tab")
    page.page.keyboard.type("too much; a voucher will do")
    page.page.keyboard.press("Shift+Tab")
    page.page.keyboard.press("Enter")
    wait_for(page, "rejected:")
    button(page, "Reject call_4").focus()
    page.page.keyboard.press("Space")
    wait_for(page, "Done after 4 steps")
    text = page.inner_text()
    assert "Refunds made: none." in text and "B456: a voucher of 14000." in text
    assert "ERROR: a person rejected this action: too much; a voucher will do" in text
    page.screenshot(path=screenshots / "07_approval-rejected.png")
