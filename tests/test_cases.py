"""Failures that harnesses in use have had (the reference is the test's id), each held as a kind and not as one input."""

import asyncio
import datetime
import enum
import itertools
import json
import threading
import typing

import pytest

from agentkit import Journal, Limits, Price, Registry, Reply, ScriptedModel, Tool, ToolCall, Usage, call, check_messages, count_tokens, run, tool
from harness import add, assert_one_result_per_call, assert_rules, counting, fail, look_up, recording, results

CASES = {}


def case(*references):
    """Register a check under the references of the failures that it is about."""

    def register(check):
        CASES.update(dict.fromkeys(references, check))
        return check

    return register


BROKEN = [
    "",
    "{",
    "{'a': 1}",
    '{"a": 1,}',
    '{"a": 1} and so on',
    "a=1",
    "NaN",
    '{"a": NaN}',
    '{"a": Infinity}',
    '{"a": 1e999}',
    '{"a": 1, "a": 2}',
    "undefined",
    '{"a": 1',
]
NO_OBJECT = [None, [], [1], 5, 5.5, True, "null", "[]", "5", '"text"', "true", '["a"]']


def ping_run(*calls, **more):
    """A run that asks for these calls of ping and then answers; the result, and what ping was run with."""
    ping, seen = recording("ping")
    result = run(ScriptedModel([list(calls), "done"]), [ping], "go", **more)
    assert_rules(result)
    return result, seen


# ---- calls and their arguments --------------------------------------------------------------------------------------------------


@case("clawbolt#169")
def one_unreadable_call_does_not_cost_the_batch():
    for bad, place in itertools.product(BROKEN, range(3)):
        calls = [call("ping", n=0), call("ping", n=1)]
        calls.insert(place, ToolCall(None, "ping", bad))
        result, seen = ping_run(*calls)
        assert seen == [{"n": 0}, {"n": 1}]
        assert [text.startswith("ERROR") for text in results(result)] == [i == place for i in range(3)]


@case("hermes-agent#1796")
def broken_json_never_runs_and_the_parse_error_is_the_result():
    for bad in BROKEN:
        result, seen = ping_run(ToolCall(None, "ping", bad))
        assert seen == [] and "the arguments are not valid JSON (" in results(result)[0]


@case("GenericAgent#746")
def arguments_are_an_object_and_the_error_shows_a_bounded_part_of_them():
    for bad in NO_OBJECT + ["x" * 10_000, list(range(10_000))]:
        result, seen = ping_run(ToolCall(None, "ping", bad))
        assert seen == [] and results(result)[0].startswith("ERROR: the arguments ") and len(results(result)[0]) < 600


@case("typescript-agent#125")
def nothing_of_a_reply_that_was_cut_is_executed():
    for reason, arguments in itertools.product(["length", "max_tokens"], [{"n": 1}, '{"n": 1}', '{"n": ']):
        ping, seen = recording("ping")
        result = run(ScriptedModel([Reply("hm", [ToolCall(None, "ping", arguments), call("ping")], stop_reason=reason)]), [ping], "go")
        assert (result.status, seen) == ("truncated", []) and all("truncated" in text for text in results(result))
        assert_rules(result)


@case("cerberus#648", "tool2schema#67")
def a_bool_is_no_number_and_a_whole_number_is_one():
    for kind, fine, wrong in [
        ("integer", [5, 5.0, -1, 0], [True, False, 5.5, "5"]),
        ("number", [5, 5.5, 0], [True, False, "5", None]),
        ("boolean", [True, False], [0, 1, "true"]),
    ]:
        take, seen = recording(schema={"properties": {"x": {"type": kind}}})
        registry = Registry([take])
        assert not any(registry.execute("take", {"x": v}).error for v in fine) and len(seen) == len(fine)
        assert all(registry.execute("take", {"x": v}).error for v in wrong) and len(seen) == len(fine)


@case("smolagents#2683")
def calls_with_a_missing_or_the_same_id_all_run():
    for ids in [(None, None, None), ("a", "a", "a"), ("", " ", None), (1, 1, [1]), ("call_2", None, "call_2"), ("call_3", None, None)]:
        result, seen = ping_run(*(ToolCall(i, "ping", {"n": n}) for n, i in enumerate(ids)))
        assert seen == [{"n": 0}, {"n": 1}, {"n": 2}]
    again = run(ScriptedModel([ToolCall("a", "add", {"a": n, "b": 0}) for n in range(4)] + ["done"]), [add], "go")
    assert results(again) == ["0", "1", "2", "3"]
    assert_rules(again)


@case("mellea#1431")
def two_calls_of_one_tool_are_two_calls_in_order():
    assert ping_run(call("ping", n=1), call("ping", n=2), call("ping", n=1))[1] == [{"n": 1}, {"n": 2}, {"n": 1}]


@case("smolagents PR#2554")
def a_failing_call_does_not_cost_its_siblings_results():
    failing = {"raises": call("fail"), "unknown": call("rm"), "refused": call("add", a="x"), "unreadable": ToolCall(None, "add", "{")}
    for bad, place in itertools.product(failing.values(), range(3)):
        calls = [call("add", a=1, b=1), call("add", a=2, b=2)]
        calls.insert(place, bad)
        result = run(ScriptedModel([calls, "done"]), [add, fail], "go")
        assert [text for text in results(result) if not text.startswith("ERROR")] == ["2", "4"] and len(results(result)) == 3
        assert_rules(result)


@case("smallest-python-sdk#118")
def a_failed_result_carries_the_id_of_its_call():
    calls = [ToolCall("a", "fail", {}), ToolCall("b", "rm", {}), ToolCall("c", "add", {}), ToolCall("d", "add", "{")]
    result = run(ScriptedModel([calls, "done"]), [add, fail], "go")
    assert [(m["tool_call_id"], m["name"]) for m in result.messages if m["role"] == "tool"] == [
        ("a", "fail"),
        ("b", "rm"),
        ("c", "add"),
        ("d", "add"),
    ]


@case("openai-agents#3459")
def an_unknown_tool_is_told_the_tools_there_are():
    for name in ["rm", "Add", "add ", "", "functions.add", "x" * 1000]:
        result = run(ScriptedModel([ToolCall(None, name, {}), "done"]), [add, look_up], "go")
        assert result.status == "done" and results(result)[0].endswith("Available tools: add, look_up.") and len(results(result)[0]) < 400


@case("connectonion#1321")
def a_tool_that_does_not_exist_is_not_said_to_be_denied():
    asked = []
    result = run(
        ScriptedModel([call("refund"), "done"]), [Tool("pay", "Pay.", {}, print, needs_approval=True)], "go", approve=lambda c: asked.append(c)
    )
    assert asked == [] and results(result)[0].startswith("ERROR: there is no tool 'refund'.") and "rejected" not in results(result)[0]


@case("pi-mcp-adapter#372")
def key_order_and_white_space_do_not_make_another_call():
    texts = ['{"a": 1, "b": {"c": 2, "d": 3}}', '{"b":{"d":3,"c":2},"a":1}', ' {"a" :1,\n"b": {"d": 3, "c": 2} } ']
    for order in itertools.permutations(texts):
        ping = Tool("ping", "Ping.", {}, lambda **a: "pong")
        assert run(ScriptedModel([ToolCall(None, "ping", text) for text in order] + ["done"]), [ping], "go").status == "repeated_call"


@case("genie-claw#170")
def deep_nesting_is_an_error_text():
    for depth, (left, right) in itertools.product([65, 1_000, 100_000], ["[]", ('{"a":', "}")]):
        result, seen = ping_run(ToolCall(None, "ping", '{"x": ' + left * depth + "1" + right * depth + "}"))
        assert seen == [] and results(result)[0].startswith("ERROR: ") and len(results(result)[0]) < 700
    value = []
    for _ in range(100_000):
        value = [value]
    assert ping_run(ToolCall(None, "ping", {"x": value}))[1] == []


# ---- replies -----------------------------------------------------------------------------------------------------------------


@case("thane-ai-agent#167", "dust#29534")
def an_empty_reply_is_no_success():
    for empty in ["", " \n", Reply(), Reply(stop_reason="stop"), Reply("", [], Usage(5, 0))]:
        result = run(ScriptedModel([empty], repeat=True), [add], "go", limits=Limits(max_steps=None))
        assert (result.status, result.answer, result.steps) == ("empty_reply", None, 2)
        assert run(ScriptedModel([empty, "yes"]), [add], "go").answer == "yes"


@case("mastra#14187")
def the_contents_of_a_reply_decide_and_not_its_label():
    for label in ["tool_calls", "tool_use", "function_call", "stop", "end_turn", "", None, "new_in_2027"]:
        assert run(ScriptedModel([Reply("yes", stop_reason=label)]), [add], "go").answer == "yes"
        assert run(ScriptedModel([Reply(None, stop_reason=label)], repeat=True), [add], "go", limits=Limits(max_steps=None)).status == "empty_reply"
        assert results(run(ScriptedModel([Reply(None, [call("add", a=1, b=2)], stop_reason=label), "yes"]), [add], "go")) == ["3"]


@case("koog#1888")
def text_beside_calls_is_kept_and_is_no_answer():
    result = run(ScriptedModel([Reply("The answer is 4.", [call("add", a=1, b=2)]), "three"]), [add], "go")
    assert (result.answer, results(result), result.messages[1]["content"]) == ("three", ["3"], "The answer is 4.")


# ---- limits --------------------------------------------------------------------------------------------------------------------


@case("anvia#397")
def a_limit_of_n_is_n_model_calls():
    for n in range(6):
        model = ScriptedModel([call("add", a=i, b=0) for i in range(9)])
        assert run(model, [add], "go", limits=Limits(max_steps=n)).status == "step_limit" and model.calls == n


@case("agno#9385")
def a_model_that_must_always_call_a_tool_is_ended_by_a_limit():
    forced = lambda messages, tools: Reply(tool_calls=[call("look_up", item=str(len(messages)))], usage=Usage(10, 10))
    for limit, status in [(dict(max_steps=7), "step_limit"), (dict(max_tool_calls=7), "tool_call_limit"), (dict(budget_tokens=70), "token_budget")]:
        assert run(forced, [look_up], "go", limits=Limits(**{"max_steps": None, **limit})).status == status


@case("stella#359", "fastclaw#80")
def polling_goes_on_and_a_cycle_of_up_to_three_ends():
    changing, _ = counting(returns=lambda n: f"{n} % done")
    waiting, _ = counting(returns="not yet", poll=True)
    for fine in (changing, waiting):
        assert run(ScriptedModel([call("ping")], repeat=True), [fine], "go", limits=Limits(max_steps=30)).status == "step_limit"
    for cycle in ("a", "ab", "abc", "aab", "abb"):
        model = ScriptedModel([call("look_up", item=letter) for letter in cycle], repeat=True)
        assert run(model, [look_up], "go", limits=Limits(max_steps=30)).status == "repeated_call"


@case("hermes-agent#12023", "swarms#2159")
def a_reported_usage_of_nothing_is_not_believed():
    for nothing in [None, Usage(0, 0), Usage(None, None), Usage(None, 0), Usage(0, None)]:
        model = ScriptedModel([Reply("a word or two", usage=nothing)])
        usage = run(model, [], "go on and on", count_tokens=len, prices=Price(10, 10)).usage
        assert usage.estimated and usage.total_tokens == len("go on and on") + len("a word or two") and usage.cost_usd > 0


@case("litellm#9812", "aider#5516", "zerostack#172")
def cached_tokens_are_billed_once():
    for price, bill in [(Price(10, 20, 1), 10 + 20 + 1), (Price(10, 20), 10 + 20 + 10), (Price(10, 20, 0), 10 + 20)]:
        result = run(ScriptedModel([Reply("yes", usage=Usage(1_000_000, 1_000_000, 1_000_000))]), [], "go", prices=price)
        assert result.usage.cost_usd == pytest.approx(bill) and result.usage.total_tokens == 3_000_000


# ---- what goes into the list ------------------------------------------------------------------------------------------------------


@case("anthropic-sdk-python#461")
def an_empty_text_is_never_sent():
    for empty in ["", " ", "\n\t"]:
        ping, _ = counting(returns=empty)
        result = run(ScriptedModel([Reply(empty, [call("ping")]), empty, "yes"]), [ping], "go", system=empty)
        assert results(result) == ["(no output)"] and result.status == "done"
        assert all(m["content"] is None or m["content"].strip() for m in result.messages)
        assert_rules(result)


@case("kern-ai#20")
def a_giant_result_is_capped_with_a_sentence_that_says_so():
    for giant in ["x" * 5_000_000, ["x" * 10] * 500_000, {"rows": list(range(500_000))}]:
        ping, _ = counting(returns=giant)
        (text,) = results(run(ScriptedModel([call("ping"), "done"]), [ping], "go"))
        assert len(text) < 20_200 and text.endswith("characters in all, the first 20,000 are shown; ask for less at a time]")

    def shout():
        raise ValueError("x" * 5_000_000)

    assert len(results(run(ScriptedModel([call("shout"), "done"]), [tool(shout)], "go"))[0]) < 2_200


@case("hermes-agent#66822")
def half_a_surrogate_pair_crashes_nothing():
    for half in ["\ud800", "\udfff", "a\ud83d", "\ude00\ud83d"]:
        take, seen = recording()
        calls = [ToolCall(half, half, {half: half}), ToolCall(None, "take", json.dumps({"x": half})), ToolCall(None, "take", '{"x": "' + half + '"}')]
        result = run(ScriptedModel([Reply(half, calls), half]), [take], half, system=half)
        assert_rules(result)
        assert [type(a["x"].encode()) for a in seen] == [bytes, bytes]


@case("agent-framework#2219")
def any_result_becomes_text():
    class Odd:
        def __repr__(self):
            raise RuntimeError("no")

    for value in [
        datetime.date(2026, 1, 2),
        {"when": datetime.datetime(2026, 1, 2)},
        {1, 2},
        b"\xff",
        Odd(),
        [Odd()],
        1j,
        {(1, 2): 3},
        float("nan"),
        10**5000,
        type,
        iter([]),
    ]:
        ping, _ = counting(returns=value)
        result = run(ScriptedModel([call("ping"), "done"]), [ping], "go")
        assert result.status == "done" and results(result)[0].strip() and not results(result)[0].startswith("ERROR")
        assert_rules(result)


# ---- time-outs, interrupts, errors ------------------------------------------------------------------------------------------------


@case("hermes-agent#115982", "smolagents#2464")
def the_loop_goes_on_while_a_hung_tool_hangs():
    release, done = threading.Event(), []
    hung = Tool("hung", "Hangs.", {}, lambda: release.wait() and done.append(1), timeout=0.05)
    result = run(ScriptedModel([[call("hung"), call("add", a=1, b=2)], "done"]), [hung, add], "go")
    assert result.status == "done" and "no result within 0.05 s" in results(result)[0] and results(result)[1] == "3" and done == []
    release.set()


@case("autogen#7956", "kolega-code#637")
def a_cancellation_passes_through_and_leaves_no_call_open():
    for interrupt in (KeyboardInterrupt, SystemExit, asyncio.CancelledError):

        def stop():
            raise interrupt

        for place in range(3):
            calls = [call("add", a=1, b=2), call("add", a=2, b=2)]
            calls.insert(place, call("stop"))
            journal = Journal()
            with pytest.raises(interrupt):
                run(ScriptedModel([calls]), [add, tool(stop)], "go", journal=journal)
            assert_one_result_per_call(journal.messages())
            assert [m["content"] for m in journal.messages()[2 : 2 + place]] == ["3", "4"][:place]


@case("nanobot#3045")
def every_call_is_answered_before_any_exit():
    for limits in [dict(max_tool_calls=1), dict(max_errors=1), dict(max_seconds=1)]:
        ticks = itertools.count()
        result = run(
            ScriptedModel([[call("fail"), call("add", a=1, b=2), call("fail")]]),
            [add, fail],
            "go",
            limits=Limits(**limits),
            clock=lambda: next(ticks) / 2,
        )
        assert result.status.endswith("_limit") and len(results(result)) == 3
        check_messages(result.messages)


# ---- approval ------------------------------------------------------------------------------------------------------------------


def payments():
    paid = []
    return paid, [Tool("pay", "Pay.", {"properties": {"amount": {}}}, lambda amount: paid.append(amount) or "paid", needs_approval=True), add]


@case("agent-framework#4590")
def all_calls_that_wait_are_listed():
    for n in (1, 2, 5):
        paid, tools = payments()
        result = run(ScriptedModel([[call("pay", amount=i) for i in range(n)]]), tools, "go")
        assert [c.arguments["amount"] for c in result.pending] == list(range(n)) and paid == []


@case("rancher-ai-agent#136")
def a_batch_is_decided_first_and_runs_once():
    paid, tools = payments()
    seen = []
    calls = [call("pay", amount=1), call("add", a=1, b=2), call("pay", amount=2)]
    result = run(ScriptedModel([calls, "done"]), tools, "go", approve=lambda c: seen.append(list(paid)) or True)
    assert (seen, paid, results(result)) == ([[], []], [1, 2], ["paid", "3", "paid"])


@case("extra#139", "openai-agents#4257")
def what_was_approved_is_what_runs_and_only_once():
    paid, tools = payments()
    asked = []

    def approve(c):
        asked.append(dict(c.arguments))
        c.arguments.update(amount=10**6)
        return len(asked) == 1

    result = run(ScriptedModel([call("pay", amount=1), call("pay", amount=1), "done"]), tools, "go", approve=approve)
    assert asked == [{"amount": 1}] * 2 and paid == [1] and "rejected" in results(result)[1]


# ---- schemas and counts -----------------------------------------------------------------------------------------------------------


@case("PraisonAI#1845")
def the_schema_says_what_the_signature_says():
    class Size(enum.Enum):
        SMALL = "s"

    def find(a: typing.Optional[int], b: typing.Literal["x", "y"], c: Size, d: list[str], e: typing.Union[int, str] = 1): ...

    find.__annotations__["c"] = Size
    schema = tool(find).schema
    assert schema["properties"] == {
        "a": {"type": ["integer", "null"]},
        "b": {"enum": ["x", "y"]},
        "c": {"enum": ["s"]},
        "d": {"type": "array", "items": {"type": "string"}},
        "e": {"type": ["integer", "string"], "default": 1},
    }
    assert schema["required"] == ["a", "b", "c", "d"]


@case("pydantic-ai#8362", "mellea#1517")
def what_cannot_be_passed_by_name_is_refused():
    def rest(*args): ...
    def named(x, **kwargs): ...
    def positional(x, /): ...

    for fn in (rest, named, positional):
        with pytest.raises(TypeError, match=f"{fn.__name__}: a model passes arguments by name"):
            tool(fn)


@case("haystack#12869")
def markers_in_a_message_are_counted_as_text():
    for marker in ["<|endoftext|>", "<|fim_prefix|>", "<|endofprompt|>", "a <|endoftext|> b"]:
        assert count_tokens(marker) > 1
        assert run(ScriptedModel([marker]), [], marker, count_tokens=count_tokens).usage.input_tokens == count_tokens(marker)


@case("tiktoken#281", "open-notebook#622")
def tokens_are_counted_with_no_network():
    import socket
    from agentkit.tokens import encoder

    encoder.cache_clear()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(socket, "getaddrinfo", lambda *a, **k: pytest.fail("the network was asked"))
        assert count_tokens("hello there") == 2


@case("strands#1176", "llama_index#21774")
def every_run_starts_clean():
    ping, runs = counting()
    tools, limits = Registry([ping, fail]), Limits(max_tool_calls=2, max_errors=1, max_repeats=3)
    reports = {run(ScriptedModel([call("ping"), call("ping"), "done"]), tools, "go", limits=limits).report for _ in range(3)}
    assert len(reports) == 1 and len(runs) == 6


@pytest.mark.parametrize("reference", CASES)
def test_a_failure_that_others_had(reference):
    CASES[reference]()
