"""Notebook 07: the desk and its ledger, the processes that are killed, the buttons, and the lab that crashes a run anywhere."""

import json

import pytest

from agentkit import Journal, Reply, call, resume, run
from agentkit.course import approval_views as views
from agentkit.course.approvals import TASK, Ledger, approval, child, clerk, desk, kill, says

MODULE = ("-m", "agentkit.course.approvals")


def waiting(ledger=None):
    """(ledger, a run whose two refunds wait: call_3 and call_4)."""
    ledger = ledger or Ledger()
    return ledger, run(clerk, desk(ledger), TASK)


# ---- the desk --------------------------------------------------------------------------------------------------------

def test_a_ledger_pays_once_for_each_key():
    ledger = Ledger()
    for key in ("a", "a", "b", None, None):
        ledger.pay("B456", 5, key=key)
    assert ledger.times("B456") == 4 and ledger.times("D012") == 0


def test_the_clerk_waits_and_takes_a_no():
    ledger, result = waiting()
    assert [c.id for c in result.pending] == ["call_3", "call_4"] and ledger.paid() == []
    result = resume(result.journal, clerk, desk(ledger), {"call_3": "a voucher, please", "call_4": False})
    assert result.answer == "B456: a voucher of 14000. D012: not refunded."
    assert ledger.paid() == [] and ledger.paid("voucher") == [("B456", 14000)]


# ---- processes -------------------------------------------------------------------------------------------------------

def test_killed_while_it_waits_and_gone_on_elsewhere(tmp_path):
    first = child(*MODULE, "start", tmp_path)
    assert says(first) == "waiting_for_approval"
    kill(first)
    ledger = Ledger(tmp_path / "ledger.db")
    assert first.poll() is not None and ledger.paid() == []
    second = child(*MODULE, "resume", tmp_path, json.dumps({"call_3": True, "call_4": True}))
    assert says(second) == "B456: 14000 refunded. D012: 6200 refunded."
    kill(second)
    assert ledger.paid() == [("B456", 14000), ("D012", 6200)]
    journal = Journal(tmp_path / "run.db")
    assert [len(journal.of(kind)) for kind in ("start", "resume")] == [1, 1]
    journal.close(), ledger.close()


@pytest.mark.parametrize("how, paid, status", [(("before",), 0, "waiting_for_approval"), (("after",), 1, "done"),
                                               (("before", "keyed"), 0, "done"), (("after", "keyed"), 1, "done")])
def test_killed_inside_a_refund(tmp_path, how, paid, status):
    process = child(*MODULE, "break", tmp_path, *how)
    assert says(process) == f"{how[0]} the payment"
    kill(process)
    journal, ledger = Journal(tmp_path / "run.db"), Ledger(tmp_path / "ledger.db")
    assert journal.events[-1]["kind"] == "call" and ledger.times("B456") == paid
    result = resume(journal, clerk, desk(ledger, "keyed" in how))
    assert result.status == status
    assert bool([e for e in journal.of("result") if e.get("unknown")]) == ("keyed" not in how)
    if result.pending:
        result = resume(journal, clerk, desk(ledger), {c.id: True for c in result.pending})
    assert result.status == "done" and sorted(ledger.paid()) == [("B456", 14000), ("D012", 6200)]
    journal.close(), ledger.close()


def test_a_child_that_fails_says_why():
    process = child("-c", "raise SystemExit('no such thing')")
    with pytest.raises(RuntimeError, match="no such thing"):
        says(process)


# ---- the lab ---------------------------------------------------------------------------------------------------------

def test_no_crash_makes_agentkit_pay_twice_or_never():
    places = views.whole_run()[1]
    wrong = {(h, keyed): [n for n in range(len(places)) if views.wrong(n, keyed, h)] for h in views.HARNESSES for keyed in (False, True)}
    assert wrong["agentkit", False] == wrong["agentkit", True] == []
    assert {places[n].unpaid for n in wrong["rerun what was open", False]} == {False} and wrong["rerun what was open", True] == []
    assert {places[n].unpaid for n in wrong["skip what was open", False]} == {True}
    assert wrong["start again", True] == wrong["start again", False] != []


def test_the_lab_says_what_resume_does():
    at = {place.says: n for n, place in enumerate(views.whole_run()[1])}
    unpaid, paid = (at[f"inside the refund of B456, {when} the money moved"] for when in ("before", "after"))
    assert "outcome unknown" in views.what_resume_does(unpaid, False) and "once more" in views.what_resume_does(unpaid, False)
    assert "leaves it at that" in views.what_resume_does(paid, False)
    assert "idempotent: run again" in views.what_resume_does(paid, True)
    assert views.what_resume_does(0, False) == "No call had finished."


def test_the_lab_is_the_same_every_time():
    def shown():
        views.after_crash_at.cache_clear()
        return [views.after_crash_at(n, keyed)[h] for n in range(len(views.whole_run()[1])) for keyed in (False, True) for h in views.HARNESSES]
    assert shown() == shown()


# ---- the buttons -----------------------------------------------------------------------------------------------------

def buttons(page):
    return {b.description: b for b in page._inputs if b.description != "Reason:"}


def reasons(page):
    return [b for b in page._inputs if b.description == "Reason:"]


def page_of(model=clerk):
    ledger = Ledger()
    tools = desk(ledger)
    return ledger, approval(run(model, tools, TASK), model, tools, made=lambda: f"Refunds made: {ledger}.")


def test_nothing_runs_before_all_are_decided_and_then_once():
    ledger, page = page_of()
    buttons(page)["Approve call_3"].click()
    assert ledger.paid() == [] and page.result is None and "1 of 2 decided" in page._text.value
    buttons(page)["Approve call_4"].click()
    assert ledger.paid() == [("B456", 14000), ("D012", 6200)] and page.result.status == "done"
    assert "14000 for B456" in page._text.value and "<table>" in page._text.value
    assert all(control.disabled for control in page._inputs)


def test_a_word_can_be_changed_until_the_last_one():
    ledger, page = page_of()
    buttons(page)["Approve call_3"].click()
    buttons(page)["Reject call_3"].click()
    buttons(page)["Approve call_4"].click()
    assert ledger.paid() == [("D012", 6200)]


def test_a_reason_reaches_the_model():
    ledger, page = page_of()
    reasons(page)[0].value = "<b>a voucher</b> will do"
    buttons(page)["Reject call_3"].click()
    assert "&lt;b&gt;a voucher" in page._marks["call_3"].value
    buttons(page)["Reject call_4"].click()
    assert ledger.paid() == [] and ledger.paid("voucher") == [("B456", 14000)]
    assert page.result.messages[5]["content"] == "ERROR: a person rejected this action: <b>a voucher</b> will do"


def test_calls_that_wait_again_are_shown():
    def stubborn(messages, tools):
        if len(messages) > 4:
            return Reply("Enough.")
        return Reply(tool_calls=call("refund_order", order_id="B456", amount=len(messages)))
    ledger, page = page_of(stubborn)
    buttons(page)["Approve call_1"].click()
    assert list(buttons(page)) == ["Approve call_2", "Reject call_2"] and ledger.paid() == [("B456", 1)]
    buttons(page)["Reject call_2"].click()
    assert page.result.answer == "Enough." and ledger.paid() == [("B456", 1)]


def test_somebody_else_was_faster():
    ledger, page = page_of()
    resume(page.journal, clerk, desk(ledger), {"call_3": True, "call_4": True})
    buttons(page)["Approve call_3"].click()
    buttons(page)["Approve call_4"].click()
    assert "a decision is used once" in page._text.value and len(ledger.paid()) == 2


def test_the_still_shows_the_exact_arguments():
    ledger, result = waiting()
    data, _ = approval(result.journal, clerk, desk(ledger))._repr_mimebundle_()
    assert "amount = 14000" in data["text/html"] and "agentkit-still" in data["text/html"]
    assert 'call_4: refund_order {"amount":6200,"order_id":"D012"}' in data["text/plain"]


def test_a_run_that_does_not_wait_shows_its_report():
    ledger = Ledger()
    page = approval(run(clerk, desk(ledger), TASK, approve=lambda asked: True), clerk, desk(ledger))
    assert page.waiting() == [] and page._inputs == [] and page._text.value.count("Done after") == 1
