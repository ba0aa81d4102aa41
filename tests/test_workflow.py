"""Workflows: plain Python over run(). The path, the steps a model fills in, going on after anything, and what it costs."""

import json

import pytest
from harness import add, assert_rules, fail, look_up, pay

from agentkit import Hook, Journal, Limits, Price, Reply, ScriptedModel, Spent, ToolResult, Usage, call, replay, resume, run, tool
from agentkit.patterns.workflow import StepFailed, Workflow, WorkflowError, ask, model_calls, resume_workflow, workflow

KINDS = ["late order", "refund"]
TOOLS = [look_up, add, fail, pay]


def ticket(task):
    kind = yield ask("classify", f"Which kind? {task}", choices=KINDS)
    policy = yield call("look_up", item=kind)
    return (yield ask("draft", f"Answer by: {policy}"))


def paying(task):
    kind = yield ask("classify", task, choices=KINDS)
    paid = yield call("pay", amount=5)
    return (yield ask("draft", f"{kind}: {paid}"))


def go(steps, script, tools=TOOLS, **options):
    model = ScriptedModel(script)
    result = workflow(steps, model, tools, "go", **options)
    assert_rules(result)
    assert replay(result.journal).same
    return result, model


def calls_of(result):
    return [(c["function"]["name"], json.loads(c["function"]["arguments"])) for m in result.messages for c in m.get("tool_calls", ())]


# ---- the path --------------------------------------------------------------------------------------------------------

def test_the_path_is_the_code_and_the_model_fills_in_the_steps():
    result, model = go(ticket, ["refund", "Dear Mira"])
    assert (result.status, result.answer) == ("done", "Dear Mira")
    assert calls_of(result) == [("fill_in", {"step": "classify", "text": "refund", "within": KINDS}), ("look_up", {"item": "refund"}),
                                ("fill_in", {"step": "draft", "text": "Dear Mira"})]
    assert result.report.startswith('Done after 4 steps: fill_in(step="classify", text="refund", within=[')
    assert (result.steps, model_calls(result)) == (4, 2), "each yield and the answer are a pass; two of them asked the model"


def test_each_step_is_sent_its_own_prompt_and_the_rules_and_no_tools():
    seen = []

    def model(messages, tools):
        seen.append((messages, tools))
        return Reply("refund")

    result = workflow(ticket, model, TOOLS, "go", system="Be kind.")
    rules = {"role": "system", "content": "Be kind."}
    assert seen == [([rules, {"role": "user", "content": "Which kind? go"}], []), ([rules, {"role": "user", "content": "Answer by: refund is on the shelf"}], [])]
    assert result.messages[0] == rules


def test_the_prompt_is_on_record():
    result, _ = go(ticket, ["refund", "x"])
    assert [e["message"]["extra"]["workflow"]["prompt"] for e in result.journal.of("reply") if "extra" in (e["message"] or {})] == \
        ["Which kind? go", "Answer by: refund is on the shelf"]


def test_a_list_of_calls_is_one_reply_and_returns_a_list():
    def both(task):
        one, two = yield [call("add", a=1, b=2), call("look_up", item="ink")]
        (three,) = yield [call("add", a=1, b=1)]
        return f"{one}, {two}, {three}"

    result, _ = go(both, [])
    assert result.answer == "3, ink is on the shelf, 2" and [len(m["tool_calls"]) for m in result.messages if "tool_calls" in m] == [2, 1]
    assert model_calls(result) == 0 and result.usage == Usage(0, 0, 0, None, False), "nobody asked a model: no tokens, and that is no estimate"


def test_a_workflow_can_be_made_of_workflows():
    def outer(task):
        return (yield from ticket(task)) + "!"

    assert go(outer, ["refund", "ok"])[0].answer == "ok!"


def test_an_answer_that_is_no_text_is_json():
    def steps(task):
        yield call("add", a=1, b=1)
        return {"sum": 2}
    assert go(steps, [])[0].answer == '{"sum": 2}'


# ---- what a model writes -----------------------------------------------------------------------------------------------

@pytest.mark.parametrize("text", ["late order", " Late order.\n", "**late order**", '"LATE  ORDER"', "`late order`"])
def test_a_choice_is_taken_however_it_is_dressed_and_comes_back_as_it_was_offered(text):
    result, _ = go(ticket, [text, "x"])
    assert ("look_up", {"item": "late order"}) in calls_of(result) and model_calls(result) == 2


@pytest.mark.parametrize("text", ["delayed", "I think late order", "late order, refund", "not late order"])
def test_what_is_no_choice_comes_back_as_an_error_and_is_asked_again(text):
    result, model = go(ticket, [text, "refund", "x"])
    assert result.status == "done" and model_calls(result) == 3
    assert [m["content"] for m in model.sent[1]] == ["Which kind? go", text,
                                                     f"ERROR: {text!r} is none of: late order, refund. Answer with one of them and nothing else."]
    assert "failed" in result.report and sum(e["error"] for e in result.journal.of("result")) == 1


def test_the_last_text_that_did_not_fit_is_all_that_is_sent_again():
    _, model = go(ticket, ["one", "two", "refund", "x"])
    assert [len(s) for s in model.sent] == [1, 3, 3, 1] and model.sent[2][1]["content"] == "two"


def test_tries_are_capped_and_the_failure_is_raised_at_the_yield():
    result, model = go(ticket, ["one", "two", "three", "never asked"])
    assert result.status == "model_error" and model.calls == 3 and "StepFailed: classify: ERROR: 'three' is none of" in result.report

    def careful(task):
        try:
            return (yield ask("classify", task, choices=KINDS, tries=1))
        except StepFailed as failed:
            return f"a person, please: {failed.step}, {len(failed.texts)}"

    assert go(careful, ["one"])[0].answer == "a person, please: classify, 1"


def test_a_choice_may_look_like_an_error():
    def levels(task):
        level = yield ask("level", task, choices=["ERROR: disk", "ok"])
        text = yield ask("text", "say it")
        return f"{level}/{text}"

    assert go(levels, ["error: disk", 'ERROR: {"error": true}'])[0].answer == 'ERROR: disk/ERROR: {"error": true}'


def test_a_schema_gives_a_value():
    schema = {"type": "object", "properties": {"days": {"type": "integer"}}, "required": ["days"]}

    def steps(task):
        found = yield ask("read", task, schema=schema)
        return str(found["days"] + 1)

    result, model = go(steps, ["six", '{"days": "6"}', '```json\n{"days": 6}\n```'])
    assert result.answer == "7"
    assert "is no JSON" in model.sent[1][-1]["content"] and "must be integer, not '6'" in model.sent[2][-1]["content"]


def test_a_step_that_calls_tools_runs_none_of_them():
    result, model = go(paying, [call("pay", amount=99), "refund", "x"], approve=lambda c: True)
    assert result.status == "done" and [a for n, a in calls_of(result) if n == "pay"] == [{"amount": 5}]
    assert "no tool is offered" in result.messages[1]["content"]


def test_blank_replies_are_nudged_once_and_cut_off_or_refused_ones_end_the_run():
    assert go(ticket, ["", "refund", "x"])[0].status == "done"
    assert go(ticket, ["", " "])[0].status == "empty_reply"
    cut, _ = go(ticket, [Reply("refu", stop_reason="length")])
    assert cut.status == "truncated" and "must" not in cut.report and not cut.journal.of("call")
    assert go(ticket, [Reply("no", stop_reason="refusal")])[0].status == "refused"


def test_the_same_answer_to_many_questions_is_no_loop():
    def many(task):
        for n in range(6):
            yield ask("classify", f"page {n}", choices=KINDS)
        return "all read"

    assert go(many, ["refund"] * 6)[0].status == "done"


def test_a_giant_text_is_asked_for_again():
    result, _ = go(ticket, ["refund", "x" * 16_000, "short"])
    assert result.answer == "short" and "write at most 15,000" in str(result.messages)


@pytest.mark.parametrize("wrong", [lambda: ask("", "x"), lambda: ask("a", " "), lambda: ask("a", "b", tries=0), lambda: ask("a", "b", tries=True),
                                   lambda: ask("a", "b", choices=[]), lambda: ask("a", "b", choices=["x", "X."]), lambda: ask("a", "b", choices=["."]),
                                   lambda: ask("a", "b", choices=["x"], schema={})])
def test_a_programmers_mistake_in_ask_raises(wrong):
    with pytest.raises(ValueError, match="ask"):
        wrong()


# ---- tools -------------------------------------------------------------------------------------------------------------

def test_a_tool_that_fails_raises_at_its_yield():
    def careful(task):
        try:
            yield [call("add", a=1, b=2), call("fail")]
        except StepFailed as failed:
            return f"{failed.texts[0]} | {failed}"

    assert go(careful, [])[0].answer == "3 | add and fail: ERROR: fail failed: OSError: the shelf has fallen over"

    def careless(task):
        yield call("fail")
        return "all is well"

    result, _ = go(careless, [])
    assert result.status == "model_error" and "StepFailed: fail: ERROR" in result.report


def test_a_tool_may_say_error_in_json_as_the_harness_counts_it():
    @tool
    def find(x: int) -> dict:
        """Find it."""
        return {"error": "no such thing"} if x else {"error": None, "found": 1}

    def steps(task):
        return (yield call("find", x=0)) + (yield call("find", x=1))

    result, _ = go(steps, [], [find])
    assert result.status == "model_error" and "no such thing" in result.report


def test_a_call_of_an_unknown_tool_or_with_wrong_arguments_never_runs():
    def steps(task):
        try:
            yield call("delete_order")
        except StepFailed as failed:
            yield call("add", a="one", b=2) if "no tool" in str(failed) else call("fail")
        return "?"

    result, _ = go(steps, [])
    assert result.status == "model_error" and not result.journal.of("call") and "must be integer" in result.report


def test_rejected_by_a_person():
    def steps(task):
        try:
            yield call("pay", amount=5)
        except StepFailed as failed:
            return f"not paid: {failed}"

    assert go(steps, [], approve=lambda c: "too much")[0].answer == "not paid: pay: ERROR: a person rejected this action: too much"


def test_a_hook_denies_or_changes_a_call_and_the_workflow_gets_what_really_ran():
    assert "denied" in go(ticket, ["refund", "x"], hooks=[Hook("no", before_tool=lambda c: "no" if c.name == "look_up" else None)])[0].report
    result, model = go(ticket, ["refund", "x"], hooks=[Hook("ink", before_tool=lambda c: {"item": "ink"} if c.name == "look_up" else None)])
    assert model.sent[1][0]["content"] == "Answer by: ink is on the shelf"


# ---- going on ------------------------------------------------------------------------------------------------------------

def test_a_workflow_waits_for_a_person_and_goes_on_where_it_was(tmp_path):
    journal = Journal(tmp_path / "run.db")
    result, first = go(paying, ["refund"], journal=journal)
    assert result.status == "waiting_for_approval" and [c.name for c in result.pending] == ["pay"]
    journal.close()
    second = ScriptedModel(["thanks"])
    result = resume_workflow(Journal(tmp_path / "run.db"), paying, second, TOOLS, {result.pending[0].id: True})
    assert (result.status, result.answer, first.calls, second.calls) == ("done", "thanks", 1, 1)
    assert second.sent[0][0]["content"] == "refund: paid 5"
    assert_rules(result)


@pytest.mark.parametrize("n", range(2, 14))
def test_after_a_crash_at_any_instant_no_step_is_asked_or_made_twice(n):
    made = []

    @tool(idempotent=True)
    def note(text: str) -> str:
        """Note it."""
        made.append(text)
        return "noted"

    def steps(task):
        kind = yield ask("classify", task, choices=KINDS)
        yield [call("note", text=kind), call("note", text="b")]
        return (yield ask("draft", "now write"))

    model = ScriptedModel(["refund", "x"])
    whole = workflow(steps, model, [note], "go")
    assert whole.status == "done" and len(whole.journal.events) > 13
    cut, asked_by_then = Journal(), sum(e["kind"] == "reply" and e["usage"]["input_tokens"] > 0 for e in whole.journal.events[:n])
    for event in whole.journal.events[:n]:
        cut.write(event)
    made.clear()
    again = ScriptedModel(["refund", "x"][asked_by_then:])
    result = resume_workflow(cut, steps, again, [note])
    assert (result.status, result.answer) == ("done", "x") and asked_by_then + again.calls == 2
    assert result.messages == whole.messages and len(made) <= 2
    assert_rules(result)


def test_a_limit_in_the_middle_and_more_of_it():
    def steps(task):
        one, two = yield [call("add", a=1, b=1), call("add", a=2, b=2)]
        kind = yield ask("classify", task, choices=KINDS)
        return f"{one} {two} {kind}"

    result, _ = go(steps, [], limits=Limits(max_tool_calls=1))
    assert result.status == "tool_call_limit"
    model = ScriptedModel(["refund"])
    result = resume_workflow(result.journal, steps, model, TOOLS, limits=Limits(max_tool_calls=2))
    assert result.status == "tool_call_limit" and [n for n, _ in calls_of(result)] == ["add", "add", "add", "fill_in"], "only the call that had not run is made again"
    result = resume_workflow(result.journal, steps, model, TOOLS, limits=Limits(max_tool_calls=9))
    assert result.answer == "2 4 refund" and model.calls == 1, "what the model had written was not asked for again"
    assert_rules(result)


def test_a_workflow_that_raised_is_mended_and_goes_on():
    def broken(task):
        kind = yield ask("classify", task, choices=KINDS)
        return kind["nothing"]

    def mended(task):
        kind = yield ask("classify", task, choices=KINDS)
        return kind + "!"

    result, _ = go(broken, ["refund"])
    assert result.status == "model_error" and "broken raised TypeError" in result.report
    assert resume_workflow(result.journal, mended, ScriptedModel([]), TOOLS).answer == "refund!"


def test_every_run_starts_clean_strands_1176():
    for _ in range(2):
        assert go(ticket, ["refund", "x"])[0].steps == 4


# ---- deterministic -------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("other", [
    lambda n: ask("sort" if n > 1 else "classify", "p", choices=KINDS),
    lambda n: ask("classify", f"p{n > 1}", choices=KINDS),
    lambda n: ask("classify", "p", choices=KINDS + ["c"] * (n > 1)),
    lambda n: call("add", a=1, b=1) if n > 1 else ask("classify", "p", choices=KINDS),
    lambda n: call("add", a=n, b=1),
    lambda n: [call("add", a=1, b=1)] * min(n, 2),
    lambda n: ask("classify", "p", choices=KINDS) if n > 1 else call("add", a=1, b=1),
])
def test_a_workflow_that_goes_another_way_is_stopped(other):
    times = []

    def steps(task):
        times.append(1)
        yield other(len(times))
        return "done"

    result, _ = go(steps, ["refund"] * 5)
    assert result.status == "model_error" and "steps is not deterministic: at step 1" in result.report


def test_a_workflow_that_ends_too_soon_is_stopped():
    times = []

    def steps(task):
        times.append(1)
        if len(times) < 3:
            yield call("add", a=1, b=1)
            yield call("add", a=1, b=1)
        return "done"

    result, _ = go(steps, [])
    assert "not deterministic" in result.report and "its answer" in result.report


def test_one_pass_drives_the_generator_once():
    times = []

    def steps(task):
        kind = yield ask("classify", task, choices=KINDS)
        times.append(kind)
        yield call("add", a=1, b=1)
        return (yield ask("draft", "write"))

    go(steps, ["refund", "x"])
    assert len(times) == 3, "exercise 15-3: what stands between two yields runs at every later pass"


def test_a_hook_that_shortens_the_list_cannot_make_it_begin_again():
    result = workflow(paying, ScriptedModel(["refund"] * 5), TOOLS, "go", approve=lambda c: True,
                      hooks=[Hook("short", before_model=lambda messages, tools: messages[:1] if len(messages) > 1 else None)])
    assert result.status == "model_error" and "leave out the before_model hook" in result.report and not result.journal.of("call")[1:]


@pytest.mark.parametrize("item", ["text", None, [], ["a"], 7])
def test_what_is_no_step_is_refused(item):
    def steps(task):
        yield item
        return "x"

    assert "yields ask(...), call(...) or a list of calls" in go(steps, [])[0].report


def test_a_workflow_that_returns_nothing_is_told_so():
    def steps(task):
        yield call("add", a=1, b=1)

    assert "returned nothing" in go(steps, [])[0].report


@pytest.mark.parametrize("steps, model", [(lambda task: "x", ScriptedModel([])), (ticket, "no model")])
def test_no_workflow_and_no_model_raise_at_once(steps, model):
    with pytest.raises(TypeError):
        workflow(steps, model, TOOLS, "go")


# ---- what it costs ---------------------------------------------------------------------------------------------------------

def test_tokens_are_those_of_what_is_really_sent_and_written():
    result, _ = go(ticket, ["refund", "Dear Mira"], count_tokens=len, prices=Price(1, 1))
    sent = len("Which kind? go") + len("Answer by: refund is on the shelf")
    assert (result.usage.input_tokens, result.usage.output_tokens) == (sent, len("refund") + len("Dear Mira"))
    assert [e["usage"]["input_tokens"] for e in result.journal.of("reply")] == [14, 0, 33, 0]


def test_a_reported_usage_is_believed_and_code_steps_do_not_make_it_an_estimate():
    result, _ = go(ticket, [Reply("refund", usage=Usage(70, 3, 5)), Reply("x", usage=Usage(80, 4))], prices=Price(1, 1))
    assert (result.usage.input_tokens, result.usage.output_tokens, result.usage.cached_tokens, result.usage.estimated) == (150, 7, 5, False)
    assert result.usage.cost_usd == pytest.approx(162e-6)


def test_a_budget_is_asked_for_what_a_step_really_sends():
    limits = Limits(budget_tokens=100, max_steps=None)
    result, model = go(ticket, ["refund", "x" * 40], count_tokens=len, limits=limits)
    assert result.status == "done"          # 14 + 6, then 33 + 40: the list itself grows far beyond that
    result, model = go(ticket, ["refund", "x"], count_tokens=len, limits=Limits(budget_tokens=30))
    assert result.status == "token_budget" and model.calls == 1, "the second prompt would not fit, so it is not sent"


def test_the_step_limit_counts_passes():
    result, model = go(ticket, ["refund", "x"], limits=Limits(max_steps=2))
    assert result.status == "step_limit" and result.steps == 2 and model.calls == 1


def test_an_agent_as_a_step_is_charged_once():
    inner = ScriptedModel([call("add", a=1, b=2), "three"])

    @tool
    def ask_agent(request: str) -> str:
        """Ask an agent."""
        done = run(inner, [add], request, count_tokens=len)
        return ToolResult(done.answer, spent=Spent.of(done))

    def steps(task):
        return (yield call("ask_agent", request=task))

    result, _ = go(steps, [], [ask_agent], count_tokens=len)
    inside = result.journal.of("result")[0]["spent"]
    assert result.answer == "three" and inside["steps"] == 2 and result.steps == 4
    assert result.usage.total_tokens == inside["usage"]["input_tokens"] + inside["usage"]["output_tokens"] > 0


def test_a_routing_model_inside_keeps_its_say():
    class Short:
        def sends(self, messages, tools):
            return [{"role": "user", "content": "short"}], []

        def __call__(self, messages, tools):
            return Reply("refund")

    result = workflow(ticket, Short(), TOOLS, "go", count_tokens=len)
    assert result.usage.input_tokens == 10


def test_the_class_is_a_model_for_plain_run_and_resume():
    flow = Workflow(paying, ScriptedModel(["refund", "ok"]))
    result = run(flow, flow.tools(TOOLS), "go")
    assert resume(result.journal, flow, flow.tools(TOOLS), {result.pending[0].id: True}).answer == "ok"
    assert issubclass(WorkflowError, Exception)


# ---- the tickets of notebook 15 ----------------------------------------------------------------------------------------------

def test_the_queue_is_forty_tickets_and_the_same_everywhere():
    import zlib

    from agentkit.course.tickets import QUEUE
    assert len(QUEUE) == 40 and sum(t.found for t in QUEUE) == 10
    assert zlib.crc32(repr(QUEUE).encode()) == 2969563493, "another queue: other numbers in the notebook"


def test_without_errors_each_way_does_what_it_can():
    from agentkit.course import ticket_ways as ways
    ends = {way: ways.totals(ways.work_off(way)) for way in ways.WAYS}
    assert {way: (t.solved, t.left, t.wrong) for way, t in ends.items()} == {
        "chatbot": (0, 40, 0), "workflow": (30, 8, 2), "agent": (40, 0, 0), "workflow, then agent": (38, 0, 2)}
    assert ends["chatbot"].tokens < ends["workflow"].tokens < ends["workflow, then agent"].tokens < ends["agent"].tokens
    for way in ways.WAYS:
        for d in ways.work_off(way, 0.2):
            assert_rules(d.result)
            assert d.result.status == "done" and d.calls == round(d.calls) >= 1


def test_success_is_the_state_of_the_shop_and_no_words():
    from agentkit.course.ticket_ways import judge
    from agentkit.course.tickets import QUEUE, End
    ticket = next(t for t in QUEUE if t.right.refunded and not t.found)
    paid, rule = ticket.right.refunded, ticket.right.rule
    assert judge(ticket, End(refunded=paid, rule=rule)) == "solved"
    assert [judge(ticket, e) for e in (End(), End(handed_over=True), End(refunded=paid))] == ["left"] * 3
    assert [judge(ticket, e) for e in (End(rule=rule), End(refunded=paid * 2, rule=rule), End(refunded=("Z1",)), End(refunded=paid, rule="P9"),
                                       End(refunded=paid, rule=rule, handed_over=True))] == ["wrong"] * 5


def test_the_formula_of_the_lab_is_what_many_runs_come_to():
    from agentkit.course import ticket_views as views
    from agentkit.course import ticket_ways as ways
    done = [d for seed in range(20) for d in ways.work_off("agent", 0.1, seed)]
    for i, off in enumerate((False, True)):
        group = [d.outcome == "solved" for d in done if d.ticket.found is off]
        assert sum(group) / len(group) == pytest.approx(views.averages("agent", 0.1)[i][0], abs=0.06)
    e = views.expected("agent", 0.25, 0.0, person=1.0)
    t = ways.totals(ways.work_off("agent"))
    assert e.solved == 1 and e.usd == e.tokens_usd == pytest.approx(t.usd)
