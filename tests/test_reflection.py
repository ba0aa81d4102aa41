"""Reflection: criteria, a review, a capped retry; the best draft comes back, and nothing passes silently."""

import json

import pytest
from harness import assert_rules, look_up, pay, results

from agentkit import Journal, Limits, Price, Reply, ScriptedModel, TextModel, Usage, call, replay
from agentkit.patterns.reflection import read_verdict, reflect, resume_reflection, reviews

ROOMY = Limits(max_steps=60)


def amount(draft):
    """It names the amount."""
    return True if "6200" in draft else "no amount"


BOTH = {"amount": amount, "polite": "It says please or sorry.", "short": "It is short."}


def says(**met):
    return json.dumps({name: {"met": ok is True, "why": "fine" if ok is True else ok} for name, ok in met.items()})


def go(author, critic=(), criteria=None, **options):
    author = author if callable(author) else ScriptedModel(author)
    critic = critic if callable(critic) else ScriptedModel(critic)
    result = reflect(author, options.pop("tools", [look_up, pay]), "Write to Mira.", criteria=criteria or BOTH, critic=critic, **{"limits": ROOMY, **options})
    assert_rules(result)
    found = replay(result.journal)
    assert found.same, str(found)
    return result, author, critic


# ---- a draft, a review, a better draft -------------------------------------------------------------------------------

def test_what_is_missing_goes_to_the_author_and_what_passes_is_the_answer():
    result, author, critic = go(["Hello.", "Sorry, 6200."], [says(polite="no sorry", short=True), says(polite=True, short=True)], system="Be brief.")
    assert (result.status, result.answer, result.steps) == ("done", "Sorry, 6200.", 5)
    assert [r.met for r in reviews(result)] == [["short"], ["amount", "polite", "short"]] and reviews(result).passed
    told = author.sent[1]
    assert [m["role"] for m in told] == ["system", "user", "assistant", "user"] and told[2]["content"] == "Hello."
    assert "- amount: no amount\n- polite: no sorry" in told[3]["content"] and "short" not in told[3]["content"]
    assert result.report.endswith("Draft 2 met every criterion, after 2 reviews.")


def test_the_critic_is_sent_criteria_and_draft_and_nothing_else():
    _, author, critic = go([call("look_up", item="secret"), "Hello 6200."], [says(polite=True, short=True)], system="Be brief.")
    (only,), text = critic.sent[0], critic.sent[0][0]["content"]
    assert only["role"] == "user" and "Hello 6200." in text and "polite: It says please or sorry." in text
    assert "secret" not in text and "Mira" not in text and "amount" not in text and critic.tools == []
    first = author.sent[0][1]["content"]
    assert first.startswith("Write to Mira.") and "- amount: It names the amount." in first, "the author knows what it is held against"


def test_criteria_that_are_code_need_no_critic_and_cost_nothing():
    result, author, critic = go(["Hello.", "6200."], criteria={"amount": amount})
    assert result.answer == "6200." and critic.calls == 0 and result.steps == 3
    assert [bool(e["prompt_tokens"]) for e in result.journal.of("reply")] == [True, True, False]
    assert "verdict" not in result.journal.events[0]["tools"]


def test_what_the_author_looked_up_stays_in_sight_and_old_drafts_do_not():
    _, author, _ = go([call("look_up", item="ink"), "one", call("look_up", item="pens"), "two", "three 6200"], criteria={"amount": amount})
    assert [[m["role"] for m in s] for s in author.sent] == [
        ["user"], ["user", "assistant", "tool"], ["user", "assistant", "tool", "assistant", "user"],
        ["user", "assistant", "tool", "assistant", "user", "assistant", "tool"], ["user", "assistant", "tool", "assistant", "tool", "assistant", "user"]]
    assert author.sent[4][-2]["content"] == "two" and not any(m["content"] == "one" for m in author.sent[4])


def test_one_model_may_be_author_and_critic():
    result = reflect(ScriptedModel(["6200", says(polite=True)]), [], "go", criteria={"polite": "It is."}, limits=ROOMY)
    assert_rules(result)
    assert result.answer == "6200"


def test_tokens_are_counted_by_what_is_sent_and_once():
    result, author, critic = go(["Hello.", "6200"], [Reply(says(polite="no", short=True)), Reply(says(polite=True, short=True), usage=Usage(50, 5))], count_tokens=len, tools=[])
    usages = [e["usage"] for e in result.journal.of("reply")]
    sent = [author.sent[0], critic.sent[0], author.sent[1], critic.sent[1]]
    assert [u["input_tokens"] for u in usages] == [*(sum(len(m["content"]) for m in s) for s in sent[:3]), 50, 0]
    assert [u["output_tokens"] for u in usages] == [len("Hello."), len(says(polite="no", short=True)), len("6200"), 5, 0]


# ---- gajae-code#3165: the critic never passed -> capped; the best draft so far comes back ----------------------------

@pytest.mark.parametrize("most", [1, 2, 3, 5], ids=[f"gajae-code#3165 {n}" for n in (1, 2, 3, 5)])
def test_a_critic_that_never_passes_is_capped(most):
    critic = ScriptedModel([says(polite="never", short=True)], repeat=True)
    result, author, critic = go(lambda m, t: Reply("always the same 6200"), critic, max_reviews=most)
    assert (result.status, result.answer, critic.calls) == ("done", "always the same 6200", most)
    assert not reviews(result).passed and f"NO draft met every criterion in {most} review" in result.report and "(not: polite)" in result.report


def test_the_best_draft_comes_back_and_of_equals_the_earliest():     # gajae-code#3165
    drafts = ["one", "two 6200", "three 6200", "four"]
    critics = [says(polite="no", short=True), says(polite="no", short=True), says(polite=True, short="no"), says(polite="no", short="no")]
    result, _, _ = go(drafts, critics, max_reviews=4)
    assert result.answer == "two 6200" and reviews(result).best.draft == 2
    assert [len(r.met) for r in reviews(result)] == [1, 2, 2, 0]


def test_the_same_draft_over_and_over_is_no_repeated_call():     # gajae-code#3165
    result, _, _ = go(lambda m, t: Reply("same"), criteria={"amount": amount}, max_reviews=6)
    assert result.status == "done" and len(reviews(result)) == 6


# ---- a critic that fails ---------------------------------------------------------------------------------------------

SILLY = {"prose": "Looks good to me!", "empty": "", "a list": "[true, true]", "other names": '{"tone": true}', "cut off": '{"polite": {"met": tr',
         "a tool": call("look_up", item="x"), "raises": OSError("the critic is down"), "no reply": lambda m: Reply(None),
         "cut": Reply(says(polite=True, short=True), stop_reason="length"), "refused": Reply("I cannot", stop_reason="refusal")}


@pytest.mark.parametrize("said", SILLY.values(), ids=list(SILLY))
def test_a_review_that_cannot_be_read_has_not_passed_is_told_and_counted(said):
    result, author, critic = go(["6200 sorry"], [said, said, says(polite=True, short=True)])
    assert result.answer == "6200 sorry" and author.calls == 1 and critic.calls == 3
    first, second, third = reviews(result)
    assert not first.passed and first.problem.startswith("not passed: ") and first.missing == {"polite": "not reviewed", "short": "not reviewed"}
    assert "Your last reply did not count (not passed: " in critic.sent[1][0]["content"] and third.passed
    result, _, critic = go(["6200 sorry"], [said] * 3)
    assert (result.status, result.answer, critic.calls) == ("done", "6200 sorry", 3) and not reviews(result).passed


def test_a_critic_that_is_no_critic_does_not_lose_the_draft():
    result, _, _ = go(["6200"], lambda m, t: "fine")
    assert result.answer == "6200" and "returned no Reply but str" in reviews(result)[0].problem


@pytest.mark.parametrize("said, met, missing", [
    ('{"a": true, "b": {"met": true}}', ["a", "b"], {}),
    ('Here you are:\n```json\n{"a": {"met": true, "why": "x"}, "b": {"met": false, "why": "too long"}}\n```', ["a"], {"b": "too long"}),
    ('{"a": "true", "b": 1}', [], {"a": "not met", "b": "not met"}),
    ('{"a": true}', ["a"], {"b": "the review does not mention it"}),
    ('{"a": {"met": true}, "b": null, "c": true}', ["a"], {"b": "not met"}),
])
def test_what_a_critic_does_not_call_true_is_not_met(said, met, missing):
    assert read_verdict(said, ["a", "b"]) == (met, missing)


@pytest.mark.parametrize("fn, why", [(lambda d: None, "not met"), (lambda d: False, "not met"), (lambda d: 1, "not met"), (lambda d: "too short", "too short"),
                                     (lambda d: 1 / 0, "the check failed (ZeroDivisionError: division by zero)")])
def test_a_function_that_does_not_say_true_is_not_met(fn, why):
    result, _, _ = go(["draft"], criteria={"odd": fn}, max_reviews=1)
    assert reviews(result)[0].missing == {"odd": why} and result.answer == "draft"


# ---- every exit of run() ---------------------------------------------------------------------------------------------

@pytest.mark.parametrize("limits, status", [
    (Limits(max_steps=3), "step_limit"), (Limits(max_tool_calls=2), "tool_call_limit"), (Limits(budget_tokens=150), "token_budget"),
    (Limits(budget_usd=0.00015), "cost_budget"),
])
def test_a_limit_ends_it_the_drafts_are_there_and_it_goes_on(limits, status):
    author, critic = ScriptedModel([call("look_up", item="x"), "one", "two 6200"]), ScriptedModel([says(polite="no", short=True), says(polite=True, short=True)])
    result = reflect(author, [look_up], "go", criteria=BOTH, critic=critic, limits=limits, prices=Price(1, 1))
    assert_rules(result)
    assert result.status == status and result.answer is None
    done = resume_reflection(result.journal, author, [look_up], criteria=BOTH, critic=critic, limits=ROOMY, prices=Price(1, 1))
    assert_rules(done)
    assert done.answer == "two 6200" and [r.draft for r in reviews(done)] == [1, 2] and critic.calls == 2


def test_an_author_that_breaks_off_leaves_its_drafts():
    result, _, _ = go(["one 6200", Reply("no", stop_reason="refusal")], [says(polite="no", short=True)])
    assert result.status == "refused" and reviews(result).best.text == "one 6200"


def test_the_authors_tools_wait_for_a_person():
    author = ScriptedModel([call("pay", amount=5), "6200"])
    result = reflect(author, [look_up, pay], "go", criteria={"amount": amount})
    assert_rules(result)
    assert result.status == "waiting_for_approval" and result.report.endswith("No draft was reviewed.")
    done = resume_reflection(result.journal, author, [look_up, pay], {result.pending[0].id: True}, criteria={"amount": amount})
    assert done.answer == "6200" and results(done)[0] == "paid 5" and replay(done.journal).same


def test_broken_off_at_any_event_it_goes_on_and_asks_for_nothing_twice():
    scripts = [call("look_up", item="x"), "one", "two 6200"], [says(polite="no", short=True), says(polite=True, short=True)]
    whole = reflect(ScriptedModel(scripts[0]), [look_up], "go", criteria=BOTH, critic=ScriptedModel(scripts[1]))
    assert whole.answer == "two 6200"
    for cut in range(1, len(whole.journal.events)):
        journal = Journal()
        for event in whole.journal.events[:cut]:
            journal.write(event)
        if journal.events[-1]["kind"] == "call" and journal.events[-1]["name"] == "look_up":
            continue        # its outcome is unknown: that is for test_resume
        asked = [e for e in journal.of("reply") if e["prompt_tokens"]]
        critics = sum("verdict" in str(e["message"]) for e in asked)
        author, critic = ScriptedModel(scripts[0][len(asked) - critics:]), ScriptedModel(scripts[1][critics:])
        done = resume_reflection(journal, author, [look_up], criteria=BOTH, critic=critic)
        assert_rules(done)
        assert done.answer == "two 6200" and (author.calls, critic.calls) == (len(author.entries), len(critic.entries))


def test_an_author_does_not_review_itself_by_a_call():
    result, author, _ = go([call("review", draft="I am great"), "6200"], criteria={"amount": amount})
    assert result.answer == "6200" and len(reviews(result)) == 1 and "Reviews are made for you" in author.sent[1][-1]["content"]


def test_an_author_that_writes_its_calls_as_text():
    result, _, _ = go(TextModel(lambda m: '{"final": "6200 it is"}'), criteria={"amount": amount})
    assert result.answer == "6200 it is"


@pytest.mark.parametrize("wrong", [{"criteria": {}}, {"criteria": ["a"]}, {"criteria": {"a": ""}}, {"max_reviews": 0}, {"max_reviews": True}, {"critic": 3}])
def test_a_programmers_mistake_is_said_at_once(wrong):
    with pytest.raises((TypeError, ValueError)):
        reflect(ScriptedModel([]), [], "go", **{"criteria": BOTH, **wrong})


# ---- the numbers of notebook 18 --------------------------------------------------------------------------------------

def test_the_formula_the_simulation_and_the_loop_agree():
    from agentkit.course.critics import Odds, expect, simulate, through_the_loop

    for odds in (Odds(), Odds(0.5, 0.5, 0.2, 0.1), Odds(0.3, 0.7, 0.4, 0.5), Odds(0.6, 0.2, 0.0, 1.0)):
        for k in (0, 1, 2, 5):
            ends = expect(odds, k)
            assert abs(sum(ends[:4]) - 1) < 1e-12
            if k:
                seen = simulate(odds, k, 20_000, seed=k)
                assert all(abs(a - b / 20_000) < 0.02 for a, b in zip(ends, seen))
    runs, ends = through_the_loop(Odds(0.3, 0.7, 0.4, 0.5), 3, 400), expect(Odds(0.3, 0.7, 0.4, 0.5), 3)
    assert abs(sum("good" in r.answer for r in runs) / 400 - ends.success) < 0.08
    assert abs(sum(not reviews(r).passed for r in runs) / 400 - ends.good_unpassed - ends.bad_unpassed) < 0.08
    assert abs(sum(len(reviews(r)) for r in runs) / 400 - ends.reviews) < 0.15


def test_a_coin_buys_nothing():
    from agentkit.course.critics import Odds, expect

    assert all(abs(expect(Odds(p, p, 0.5, 0.5), k).success - p) < 1e-12 for p in (0.1, 0.5, 0.9) for k in range(9))
