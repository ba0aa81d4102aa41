"""run(): every way in which a run can end, what a step does, and what a person has to say."""

import json

import pytest

from agentkit import Journal, Limits, Price, Reply, ScriptedModel, Tool, ToolCall, Usage, call, run, tool
from harness import STATUSES, Clock, add, assert_rules, counting, fail, look_up, pay, results

ASK = "Your reply was empty. Call a tool, or answer in text."


# ---- every exit, with its whole report --------------------------------------------------------------------------------------------

EXITS = {  # status: (script, limits, the report)
    "done": ([call("add", a=1, b=2), "three"], {}, "Done after 2 steps: add(a=1, b=2) succeeded."),
    "done at once": (["three"], {}, "Done after 1 step; no tool was run."),
    "done after an error": ([call("add", a=1), call("add", a=1, b=2), "three"], {}, "Done after 3 steps: add(a=1, b=2) succeeded; add(a=1) failed."),
    "step_limit": (
        [call("add", a=1, b=2)],
        {"max_steps": 1},
        "Stopped at the step limit after 1 step: add(a=1, b=2) succeeded; look_up, fail, pay were never called.",
    ),
    "tool_call_limit": (
        [[call("add", a=1, b=2), call("look_up", item="lamp")]],
        {"max_tool_calls": 1},
        'Stopped at the tool call limit after 1 tool call: add(a=1, b=2) succeeded; look_up(item="lamp") was not run; fail, pay were never called.',
    ),
    "token_budget": (
        [Reply(tool_calls=[call("add", a=1, b=2)], usage=Usage(40, 10))],
        {"budget_tokens": 50},
        "Stopped at the token budget after 1 step: 50 of 50 tokens are spent: add(a=1, b=2) succeeded; look_up, fail, pay were never called.",
    ),
    "cost_budget": (
        [Reply(tool_calls=[call("add", a=1, b=2)], usage=Usage(1000, 0))],
        {"budget_usd": 0.01},
        "Stopped at the money budget after 1 step: 0.0100 of 0.0100 USD are spent: add(a=1, b=2) succeeded; look_up, fail, pay were never called.",
    ),
    "time_limit": ([], {"max_seconds": 0}, "Stopped at the time limit after 0.0 s of 0 s: add, look_up, fail, pay were never called."),
    "repeated_call": (
        [call("add", a=1, b=2)] * 3,
        {},
        "Stopped: a loop: the same call with the same result three times: add(a=1, b=2) 3 times succeeded; look_up, fail, pay were never called.",
    ),
    "error_limit": (
        [[call("fail"), call("rm"), call("add", a=1, b=2)]],
        {"max_errors": 2},
        "Stopped at the error limit after 2 tool errors: fail(), rm() failed; add(a=1, b=2) was not run; look_up, pay were never called.",
    ),
    "waiting_for_approval": (
        [[call("add", a=1, b=2), call("pay", amount=5)]],
        {},
        "Waiting for a person after 1 step: add(a=1, b=2), pay(amount=5) wait for a person; look_up, fail were never called.",
    ),
    "empty_reply": (["", Reply()], {}, "Stopped: two empty replies in a row after 2 steps: add, look_up, fail, pay were never called."),
    "truncated": (
        [Reply("and so", [call("add", a=1, b=2)], stop_reason="length")],
        {},
        "Stopped: the reply was truncated at the length limit after 1 step: add(a=1, b=2) was not run; look_up, fail, pay were never called.",
    ),
    "refused": (
        [Reply("I will not.", stop_reason="refusal")],
        {},
        "Stopped: the model refused to answer after 1 step: add, look_up, fail, pay were never called.",
    ),
    "model_error": (
        [call("add", a=1, b=2), OSError("the line is dead")],
        {},
        "Stopped: the model failed at step 2 (OSError: the line is dead): add(a=1, b=2) succeeded; look_up, fail, pay were never called.",
    ),
}


@pytest.mark.parametrize("name", EXITS)
def test_every_exit_and_its_report(name):
    script, limits, report = EXITS[name]
    result = run(ScriptedModel(script), [add, look_up, fail, pay], "go", limits=Limits(**limits), prices=Price(10, 10), clock=Clock())
    assert (result.status, result.report) == (name.split()[0], report)
    assert result.answer == ("three" if result.status == "done" else None)
    assert_rules(result)


def test_the_exits_are_all_there():
    assert {name.split()[0] for name in EXITS} == STATUSES


def test_a_long_report_is_shortened():
    model = ScriptedModel([call("look_up", item=str(i) + " lamp" * 100) for i in range(6)] + [call("x" * 500), OSError("a\nb\n\nc")])
    report = run(model, [look_up], "go").report
    assert " and 2 more succeeded" in report and len(report) < 700 and "\n" not in report and "OSError: a b c" in report


# ---- what a step does -----------------------------------------------------------------------------------------------------------


def test_a_run_is_a_list_that_grows_by_a_reply_and_its_results():
    result = run(ScriptedModel([["I add.", call("add", a=1, b=2), call("add", a=3, b=4)], "three and seven"]), [add], "go", system="be brief")
    assert result.messages == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "go"},
        {
            "role": "assistant",
            "content": "I add.",
            "tool_calls": [
                {"id": "call_1", "type": "function", "function": {"name": "add", "arguments": '{"a": 1, "b": 2}'}},
                {"id": "call_2", "type": "function", "function": {"name": "add", "arguments": '{"a": 3, "b": 4}'}},
            ],
        },
        {"role": "tool", "tool_call_id": "call_1", "name": "add", "content": "3"},
        {"role": "tool", "tool_call_id": "call_2", "name": "add", "content": "7"},
        {"role": "assistant", "content": "three and seven"},
    ]
    assert (result.status, result.answer, result.steps, result.pending) == ("done", "three and seven", 2, ())


@pytest.mark.parametrize("system", ["", "  \n"])
def test_an_empty_system_text_is_no_message(system):
    assert run(ScriptedModel(["yes"]), [], "go", system=system).messages[0]["role"] == "user"


def test_calls_run_in_order_one_after_the_other():
    ran = []
    tools = [Tool(n, n, {}, lambda n=n: ran.append(n)) for n in "abc"]
    run(ScriptedModel([[call("c"), call("a"), call("b"), call("a")], "done"]), tools, "go")
    assert ran == ["c", "a", "b", "a"]


def test_the_model_is_given_the_definitions():
    model = ScriptedModel(["yes"])
    run(model, [add, look_up], "go")
    assert model.tools == [add.definition, look_up.definition]


@pytest.mark.parametrize(
    "ids, expected",
    [
        ([None, None], ["call_1", "call_2"]),
        (["a", "a"], ["a", "call_2"]),
        (["", " "], ["call_1", "call_2"]),
        ([7, ("x",)], ["call_1", "call_2"]),
        (["call_2", None], ["call_2", "call_3"]),
        ([None, "call_1"], ["call_1", "call_2"]),
        (["\ud800", "b"], ["call_1", "b"]),
    ],
)
def test_every_call_has_an_id_of_its_own(ids, expected):
    result = run(ScriptedModel([[ToolCall(i, "add", {"a": 1, "b": n}) for n, i in enumerate(ids)], "done"]), [add], "go")
    assert [m["tool_call_id"] for m in result.messages if m["role"] == "tool"] == expected
    assert results(result) == ["1", "2"]


def test_an_id_that_comes_back_in_a_later_step_is_replaced():
    result = run(ScriptedModel([ToolCall("x", "add", {"a": 1, "b": n}) for n in range(3)] + ["done"]), [add], "go")
    assert [m["tool_call_id"] for m in result.messages if m["role"] == "tool"] == ["x", "call_2", "call_3"]


def test_one_bad_call_does_not_cost_its_siblings():
    result = run(
        ScriptedModel([[ToolCall(None, "add", "{"), call("add", a=1, b=2), call("fail"), call("rm"), call("add", a=1, b=3)], "done"]),
        [add, fail],
        "go",
    )
    assert [text.startswith("ERROR") for text in results(result)] == [True, False, True, True, False]
    assert_rules(result)


def test_what_a_tool_does_to_its_arguments_stays_in_the_tool():
    def eat(items: list) -> str:
        items.clear()
        return "eaten"

    result = run(ScriptedModel([call("eat", items=[1, 2]), "done"]), [tool(eat)], "go")
    assert result.journal.of("call")[0]["arguments"] == {"items": [1, 2]}
    assert json.loads(result.messages[1]["tool_calls"][0]["function"]["arguments"]) == {"items": [1, 2]}


def test_half_a_surrogate_pair_is_cleaned_on_the_way_in():
    seen = []
    take = Tool("take", "Take.", {"properties": {"x": {}}}, lambda x: seen.append(x) or "a\ud800b")
    result = run(
        ScriptedModel([[ToolCall(None, "take", '{"x": "\\ud83d"}'), ToolCall("\ud800", "ta\ud800ke", '{"x": "\ud800"}')], "b\ud800"]),
        [take],
        "g\ud800",
        system="s\ud800",
    )
    json.dumps(result.messages, ensure_ascii=False).encode()
    assert seen == ["?"] and result.answer == "b?" and result.messages[0]["content"] == "s?" and result.messages[1]["content"] == "g?"
    assert_rules(result)


# ---- empty, cut, refused ----------------------------------------------------------------------------------------------------------


def test_an_empty_reply_is_asked_about_once():
    result = run(ScriptedModel(["", "yes"]), [], "go")
    assert [m["content"] for m in result.messages] == ["go", ASK, "yes"] and result.status == "done"


def test_a_call_in_between_gives_a_second_chance():
    result = run(ScriptedModel(["", call("add", a=1, b=2), "", "yes"]), [add], "go")
    assert result.status == "done" and result.steps == 4


@pytest.mark.parametrize("empty", ["", "  \n", Reply(), Reply("", []), Reply(stop_reason="tool_calls"), Reply(stop_reason="stop")])
def test_two_empty_replies_in_a_row_end_the_run(empty):
    result = run(ScriptedModel([empty], repeat=True), [], "go")
    assert (result.status, result.steps, len(result.messages)) == ("empty_reply", 2, 2)


def test_an_unreadable_reply_in_between_is_not_an_empty_one():
    result = run(ScriptedModel(["", Reply("{", invalid="ERROR: no JSON"), "", "yes"]), [], "go")
    assert result.status == "done" and [m["content"] for m in result.messages] == ["go", ASK, "{", "ERROR: no JSON", ASK, "yes"]


@pytest.mark.parametrize(
    "reason, status, told",
    [
        ("length", "truncated", "not run: the reply was truncated"),
        ("max_tokens", "truncated", "not run: the reply was truncated"),
        ("content_filter", "refused", "not run: the reply was marked as refused"),
    ],
)
def test_nothing_of_a_reply_that_was_cut_or_refused_runs(reason, status, told):
    ping, runs = counting()
    result = run(ScriptedModel([Reply("so", [call("ping"), call("ping")], Usage(5, 5), reason)]), [ping], "go")
    assert (result.status, runs, result.usage.total_tokens, result.answer) == (status, [], 10, None)
    assert len(results(result)) == 2 and all(told in text for text in results(result))
    assert_rules(result)


@pytest.mark.parametrize("reason", ["tool_calls", "tool_use", "stop", "end_turn", "nonsense", "", None])
def test_contents_decide_and_not_labels(reason):
    ping, runs = counting()
    assert run(ScriptedModel([Reply("yes", stop_reason=reason)]), [], "go").answer == "yes"
    assert run(ScriptedModel([Reply(None, [call("ping")], stop_reason=reason), "done"]), [ping], "go").status == "done" and runs == ["ping"]


@pytest.mark.parametrize("junk", [None, "text", 5, {"text": "x"}, ["x"], Reply])
def test_a_model_that_returns_no_reply_is_a_model_error(junk):
    result = run(lambda messages, tools: junk, [], "go")
    assert result.status == "model_error" and "TypeError: a model returns a Reply, not " in result.report


def test_a_model_error_keeps_what_was_done():
    result = run(ScriptedModel([call("add", a=1, b=2)]), [add], "go")
    assert result.status == "model_error" and "the script has 1 entries and this is call 2" in result.report and results(result) == ["3"]
    assert_rules(result)


# ---- approval -------------------------------------------------------------------------------------------------------------------


def paying(*calls, **more):
    """A run that asks for these calls; `pay` needs approval. Returns the result and what ran."""
    ran = []
    tools = [
        Tool(
            "pay",
            "Pay.",
            {"properties": {"amount": {"type": "integer"}}, "required": ["amount"]},
            lambda amount: ran.append(amount) or f"paid {amount}",
            needs_approval=True,
        ),
        Tool("note", "Note.", {"properties": {}}, lambda: ran.append("note") or "noted"),
    ]
    return run(ScriptedModel([list(calls), "done"]), tools, "go", **more), ran


PAY = [call("note"), call("pay", amount=1), call("note"), call("pay", amount=2)]


def test_without_anybody_to_ask_the_run_waits_and_nothing_of_the_batch_runs():
    result, ran = paying(*PAY)
    assert (result.status, ran, results(result)) == ("waiting_for_approval", [], [])
    assert result.pending == (ToolCall("call_2", "pay", {"amount": 1}), ToolCall("call_4", "pay", {"amount": 2}))
    assert_rules(result)


def test_one_undecided_call_holds_up_the_whole_batch():
    result, ran = paying(*PAY, approve=lambda asked: True if asked.arguments["amount"] == 1 else None)
    assert (result.status, ran, [c.arguments for c in result.pending]) == ("waiting_for_approval", [], [{"amount": 2}])
    assert_rules(result)


def test_who_approves_all_runs_all_in_order():
    asked = []
    result, ran = paying(*PAY, approve=lambda c: asked.append(c) or True)
    assert (result.status, ran, result.pending) == ("done", ["note", 1, "note", 2], ())
    assert asked == [ToolCall("call_2", "pay", {"amount": 1}), ToolCall("call_4", "pay", {"amount": 2})], "asked once for each call that needs it"
    assert_rules(result)


@pytest.mark.parametrize(
    "said, told",
    [
        (False, "ERROR: a person rejected this action"),
        ("too much", "ERROR: a person rejected this action: too much"),
        ("", "ERROR: a person rejected this action"),
        (0, "ERROR: a person rejected this action: 0"),
        (1, "ERROR: a person rejected this action: 1"),
        ([], "ERROR: a person rejected this action: []"),
        ("a\ud800", "ERROR: a person rejected this action: a?"),
    ],
)
def test_whatever_is_not_true_is_a_no_that_the_model_reads(said, told):
    result, ran = paying(call("note"), call("pay", amount=1), approve=lambda asked: said)
    assert (ran, results(result), result.status) == (["note"], ["noted", told], "done")
    assert result.report == "Done after 2 steps: note() succeeded; pay(amount=1) was rejected."
    assert_rules(result)


def test_a_no_is_no_error_of_the_tool():
    assert paying(call("pay", amount=1), approve=lambda asked: False, limits=Limits(max_errors=1))[0].status == "done"


def test_who_cannot_ask_has_not_been_allowed():
    def broken(asked):
        raise OSError("the window is closed")

    result, ran = paying(call("pay", amount=1), approve=broken)
    assert ran == [] and results(result) == ["ERROR: a person rejected this action: the approval failed (OSError: the window is closed)"]
    assert_rules(result)


def test_what_was_approved_is_what_runs():
    def change(asked):
        asked.arguments["amount"] = 1_000_000
        return True

    assert paying(call("pay", amount=1), approve=change)[1] == [1]


@pytest.mark.parametrize(
    "wrong, told",
    [
        (ToolCall(None, "pay", "{"), "not valid JSON"),
        (call("pay"), "missing required argument"),
        (call("pay", amount="all"), "must be integer"),
        (call("refund"), "there is no tool"),
    ],
)
def test_nobody_is_asked_about_a_call_that_cannot_run(wrong, told):
    asked = []
    result, ran = paying(wrong, call("note"), approve=lambda c: asked.append(c) or True)
    assert asked == [] and told in results(result)[0] and ran == ["note"]
    waiting, ran = paying(wrong, call("note"))
    assert waiting.status == "done" and ran == ["note"], "there is nothing to wait for"


# ---- the programmer's mistakes ------------------------------------------------------------------------------------------------

MISTAKES = {
    "no task": (dict(task=""), "the task must be a text that says something"),
    "a blank task": (dict(task=" \n"), "the task must be"),
    "a task that is no text": (dict(task=["go"]), "the task must be"),
    "no model": (dict(model="gpt"), "a model is a function"),
    "no limits": (dict(limits={"max_steps": 5}), "limits takes Limits"),
    "a system that is no text": (dict(system=None), "system takes a text"),
    "a counter that counts in halves": (dict(count_tokens=lambda text: 0.5), "count_tokens must return a whole number"),
    "a counter of nothing": (dict(count_tokens=lambda text: None, tools=[]), "count_tokens must return a whole number"),
    "a bare function": (dict(tools=[len]), "put @tool above the function"),
    "one name twice": (dict(tools=[add, add]), "two tools are called 'add'"),
    "a broken schema": (dict(tools=[Tool("x", "", {"type": "nonsense"}, len)]), "not valid JSON schema"),
    "a journal that was used": (dict(journal=run(ScriptedModel(["x"]), [], "go").journal), "already holds a run"),
}


@pytest.mark.parametrize("change, says", MISTAKES.values(), ids=MISTAKES)
def test_a_programmers_mistake_raises_at_once(change, says):
    model = ScriptedModel(["yes"])
    settings = {"model": model, "tools": [add], "task": "go", **change}
    with pytest.raises((TypeError, ValueError), match=says):
        run(settings.pop("model"), settings.pop("tools"), settings.pop("task"), **settings)
    assert model.calls == 0


# ---- the record -----------------------------------------------------------------------------------------------------------------


def test_the_trace_is_a_table_of_steps():
    result = run(ScriptedModel([call("add", a=1, b=2), "", "three"]), [add], "go", count_tokens=lambda text: 1)
    rows = result.journal.table().rows
    assert [row[0] for row in rows] == ["1", "2", "", "3"] and [row[2] for row in rows] == ["3", "", ASK, "three"]
    assert rows[0][1] == 'add({"a": 1, "b": 2})' and rows[-1][1] == "done"
    assert str(result.journal.table()).splitlines()[:3] == [
        "step  the model              what came back                                         tokens so far",
        "----  ---------------------  -----------------------------------------------------  -------------",
        '1     add({"a": 1, "b": 2})  3                                                      3',
    ]
    assert result.report in str(result.journal.show()) and "<table>" in result.journal.show()._repr_html_()


def test_show_puts_the_timeline_below_the_table():
    ticks = iter(range(0, 1000, 2))     # every look at the clock is two seconds later
    result = run(ScriptedModel([call("add", a=1, b=2), call("add", a="x"), "done"]), [add], "go", clock=lambda: next(ticks))
    shown = result.journal.show()
    assert [(label, kind) for label, _, _, kind, _ in shown.bars] == [
        ("step 1: model", "model"), ("add", "tool"), ("step 2: model", "model"), ("step 3: model", "model")]
    starts = [start for _, start, _, _, _ in shown.bars]
    assert starts == sorted(starts) and all(seconds > 0 for _, _, seconds, _, _ in shown.bars)
    html = shown._repr_html_()
    assert html.startswith("<table>") and "Timeline" in html and "tokens in" in html and "step 3: model" in html
    assert str(shown) == str(result.journal.table())


def test_the_trace_shows_markup_as_text():
    result = run(ScriptedModel([call("look_up", item="<script>"), "<b>done</b>"]), [look_up], "go")
    assert "<script>" not in result.journal.table()._repr_html_() and "<b>" not in result.journal.table()._repr_html_()


def test_a_record_is_saved_line_by_line(tmp_path):
    result = run(ScriptedModel([call("add", a=1, b=2), Reply("three\ud800", usage=Usage(1, 1))]), [add], "go")
    lines = result.journal.save(tmp_path / "run.jsonl").read_text(encoding="utf-8").splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["start", "message", "reply", "call", "result", "reply", "end"]
    assert json.loads(lines[5])["usage"]["output_tokens"] == 1


def test_a_record_without_an_end_says_so():
    assert Journal().report() == "The run has not ended."


def test_a_start_is_recorded_before_a_tool_runs_and_its_result_after():
    journal, seen = Journal(), []
    ping = Tool("ping", "Ping.", {}, lambda: seen.append([e["kind"] for e in journal.events]) or "pong")
    run(ScriptedModel([call("ping"), "done"]), [ping], "go", journal=journal)
    assert seen == [["start", "message", "reply", "call"]]


def test_two_runs_share_nothing():
    ping, runs = counting()
    tools, limits = [ping], Limits(max_errors=1, max_repeats=3)
    one, two = (run(ScriptedModel([call("ping"), call("ping"), "done"]), tools, "go", limits=limits) for _ in range(2))
    assert one.status == two.status == "done" and one.messages == two.messages and one.messages is not two.messages


def test_a_run_inside_a_tool_of_a_run_is_its_own():
    inner = Tool("inner", "Ask another.", {}, lambda: run(ScriptedModel([call("add", a=1, b=2), "three"]), [add], "add").answer)
    assert results(run(ScriptedModel([call("inner"), "done"]), [inner], "go")) == ["three"]
