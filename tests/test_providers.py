"""Real models: the adapters, through the official clients, against the local server. References are ids of failures in other harnesses."""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit import Limits, Price, Reply, ScriptedModel, ToolCall, Usage, call, run
from agentkit.prices import AS_OF, PRICES
from agentkit.providers import AnthropicMessages, Fault, OpenAIChat, OpenAIResponses, ProviderError, find_local, local_model, serve
from agentkit.providers.history import History
from agentkit.providers.wire import ProviderTimeout, ProviderUnreachable, as_provider_error, on_this_machine
from agentkit.streaming import assemble
from harness import add, assert_rules, fail, look_up, results

ADAPTERS = {"chat": OpenAIChat, "responses": OpenAIResponses, "messages": AnthropicMessages}
GO = {"role": "user", "content": "go"}
TOOLS = [add, look_up, fail]


@pytest.fixture(params=ADAPTERS)
def api(request):
    return request.param


@pytest.fixture(params=[False, True], ids=["whole", "streamed"])
def stream(request):
    return request.param


@pytest.fixture
def made():
    """Makes servers and models, and closes them."""
    opened = []

    def make(api, script, **options):
        server = serve(script).start()
        model = ADAPTERS[api]("scripted", base_url=server.url, **options)
        opened.extend([model.close, server.stop])
        return model, server

    yield make
    for close in opened:
        close()


# ---- a run is the same run -------------------------------------------------------------------------------------------------------

ODD = ["é", "😀", "\u2028", "</s>", "\"quoted\"", "line\nbreak", "<|endoftext|>"]
SCRIPTS = {
    "an answer": ["hello"],
    "several calls, text beside them": [["I look.", call("add", a=1, b=2), call("add", a=3, b=4), call("look_up", item="lamp")], call("add", a=0, b=0), "done"],
    "nothing to say beside a call": [call("look_up", item="lamp"), "done"],
    "a call without arguments": [call("fail"), "done"],
    "broken arguments": [[ToolCall(None, "add", '{"a": 1,'), call("add", a=1, b=1), ToolCall(None, "add", "a=1")], ToolCall(None, "add", "[1]"), "done"],
    "a tool that is not there": [ToolCall(None, "rm", {}), ToolCall(None, "functions.add: now!", {"a": 1}), "done"],
    "an empty reply": [call("add", a=1, b=1), Reply(), "done"],
    "two empty replies": [Reply(), Reply()],
    "odd characters": [call("look_up", item="".join(ODD)), "".join(ODD)],
    "ids of its own": [[ToolCall("x1", "add", {"a": 1, "b": 1}), call("add", a=2, b=2)], ToolCall("x2", "add", {"a": 1, "b": 1}), "done"],
    "the same for ever": [call("look_up", item="lamp")] * 5,
    "refused": [call("add", a=1, b=1), Reply("I will not.", stop_reason="refusal")],
    "cut off": [Reply("I was ab", [call("add", a=1, b=1)], stop_reason="length")],
}


@pytest.mark.parametrize("script", SCRIPTS.values(), ids=SCRIPTS)
def test_a_run_through_the_wire_is_the_run(script, api, stream, made):
    expected = run(ScriptedModel(script), TOOLS, "go", system="be brief")
    model, server = made(api, script, stream=stream)
    result = run(model, TOOLS, "go", system="be brief")
    assert (result.status, result.answer, result.messages) == (expected.status, expected.answer, expected.messages), result.report
    assert len(server.requests) == expected.steps and all(r["status"] == 200 for r in server.requests)
    assert_rules(result)


def test_the_model_sees_the_tools(api, stream, made):
    model, server = made(api, [lambda messages, tools: json.dumps([t["function"]["name"] for t in tools])], stream=stream)
    assert run(model, TOOLS, "go").answer == '["add", "look_up", "fail"]'


def test_without_tools_none_are_sent(api, made):
    model, server = made(api, ["hello"])
    assert model([GO]).text == "hello" and "tools" not in server.requests[0]["body"]


def test_it_streams_in_pieces(api, made):
    model, _ = made(api, [["hello there, all of you", call("add", a=1, b=2)]])
    pieces = list(model.stream([GO], [add.definition]))
    assert "".join(p.get("content") or "" for p in pieces) == "hello there, all of you"
    assert len(pieces) > 5


# ---- how a reply ends, and what it cost --------------------------------------------------------------------------------------------

def test_a_refusal_is_an_exit_and_its_text_is_kept(api, stream, made):
    model, _ = made(api, [Reply("I will not.", stop_reason="refusal")], stream=stream)
    result = run(model, TOOLS, "go")
    assert result.status == "refused" and result.messages[-1]["content"] == "I will not."


def test_filtered_content_is_a_refusal(stream, made):
    for api in ("chat", "responses"):
        model, _ = made(api, [Reply("hm", stop_reason="content_filter")], stream=stream)
        assert run(model, TOOLS, "go").status == "refused"


@pytest.mark.parametrize("reason", ["length", "max_tokens"])
def test_nothing_of_a_truncated_reply_runs(api, stream, reason, made):
    """typescript-agent#125"""
    model, _ = made(api, [Reply(None, [ToolCall(None, "add", '{"a": 1, "b": 1}')], stop_reason=reason)], stream=stream)
    result = run(model, TOOLS, "go")
    assert result.status == "truncated" and "truncated" in results(result)[0]


def test_a_reply_cut_by_the_context_window_is_truncated(made):
    model, _ = made("messages", [])
    assert list(model.pieces([{"type": "message_delta", "delta": {"stop_reason": "model_context_window_exceeded"}}]))[0] == {"finish_reason": "length"}


CACHED = Usage(70, 12, 30)


@pytest.mark.parametrize("case", ["litellm#9812", "aider#5516", "zerostack#172"])
def test_cached_tokens_are_counted_once(case, api, stream, made):
    model, server = made(api, [Reply("hi", usage=CACHED)], stream=stream)
    assert model([GO]).usage == CACHED
    server.model.calls = 0
    assert run(model, [], "go", prices=Price(10, 100, 1)).usage.cost_usd == pytest.approx((70 * 10 + 30 * 1 + 12 * 100) / 1e6)


def test_writing_to_the_cache_is_input(made):
    model, _ = made("messages", [])
    said = {"content": [], "stop_reason": "end_turn", "usage": {"input_tokens": 5, "output_tokens": 2, "cache_read_input_tokens": 30, "cache_creation_input_tokens": 100}}
    assert list(model.whole(said))[-1]["usage"] == {"prompt_tokens": 135, "completion_tokens": 2, "prompt_tokens_details": {"cached_tokens": 30}}


@pytest.mark.parametrize("start, delta", [({"input_tokens": 70, "cache_read_input_tokens": 30, "output_tokens": 1}, {"output_tokens": 12}),
                                          ({"input_tokens": 70, "cache_read_input_tokens": 30, "output_tokens": 1}, {"input_tokens": 0, "cache_read_input_tokens": None, "output_tokens": 12}),
                                          ({"input_tokens": 0, "output_tokens": 0}, {"input_tokens": 70, "cache_read_input_tokens": 30, "output_tokens": 12})],
                         ids=["as Anthropic says it", "a later nothing takes nothing back", "told at the end"])
def test_a_usage_in_two_events(start, delta, made):
    model, _ = made("messages", [])
    events = [{"type": "message_start", "message": {"usage": start}}, {"type": "message_delta", "delta": {"stop_reason": "end_turn"}, "usage": delta}]
    assert assemble([{"content": "hi"}, *model.pieces(events)]).usage == CACHED


def test_items_that_are_sent_only_when_they_are_whole(made):
    model, _ = made("responses", [])
    items = [{"type": "message", "content": [{"type": "output_text", "text": "I add."}]}, {"type": "function_call", "call_id": "a", "name": "add", "arguments": "{}"}]
    events = [{"type": "response.output_item.done", "output_index": i, "item": item} for i, item in enumerate(items)]
    reply = assemble(model.pieces([*events, {"type": "response.completed", "response": {"status": "completed"}}]))
    assert reply == Reply("I add.", [ToolCall("a", "add", "{}")], None, "tool_calls")


@pytest.mark.parametrize("usage", ["missing", "zeros"], ids=["missing", "hermes-agent#12023"])
def test_a_missing_usage_is_estimated_and_marked(usage, api, stream, made):
    model, _ = made(api, [Fault("hello there", usage=usage)], stream=stream)
    reply = model([GO])
    assert reply.usage is None
    model, _ = made(api, [Fault("hello there", usage=usage)], stream=stream)
    spent = run(model, TOOLS, "go").usage
    assert spent.estimated and spent.input_tokens > 0 and spent.output_tokens > 0


def test_a_streamed_usage_is_asked_for(made):
    model, server = made("chat", [Reply("hi", usage=CACHED)], stream=True)
    assert model([GO]).usage == CACHED and server.requests[0]["body"]["stream_options"] == {"include_usage": True}


# ---- what goes wrong --------------------------------------------------------------------------------------------------------------

FAULTS = {
    "429": (Fault(status=429, retry_after=2), "ProviderError: 429: Rate limit reached"), "500": (Fault(status=500), "ProviderError: 500: The server had an error"),
    "529": (Fault(status=529), "529: Overloaded"), "503": (Fault(status=503, message="come back"), "503: come back"),
    "no JSON": (Fault(body="<html>"), "ProviderError: the answer is not JSON"), "half of a JSON": (Fault(body='{"a": '), "the answer is not JSON"),
    "a list": (Fault(body="[]"), "no JSON object"), "an empty object": (Fault(body="{}"), "ProviderError: the answer has no"),
    "an error with status 200": (Fault(body='{"error": {"message": "boo"}}'), "boo"), "the line goes dead": (Fault(cut=0), "ProviderUnreachable: the connection failed"),
}
STREAM_FAULTS = {
    **{f"the line goes dead after {n}": (Fault(["hello", call("add", a=1, b=1)], cut=n), "ProviderUnreachable: the connection failed") for n in (0, 1, 3, 5)},
    **{f"it stops after {n}": (Fault(["hello", call("add", a=1, b=1)], cut=n, hang_up=False), "the stream ended before the reply was whole") for n in (0, 1, 3, 5)},
    **{k: FAULTS[k] for k in ("429", "500")}, "no stream": (Fault(body="<html>"), "the stream ended before"),
}


@pytest.mark.parametrize("fault, says", FAULTS.values(), ids=FAULTS)
def test_what_goes_wrong_ends_the_run_with_a_sentence(fault, says, api, made):
    model, _ = made(api, [call("add", a=1, b=1), fault])
    result = run(model, TOOLS, "go")
    assert (result.status, results(result)) == ("model_error", ["2"]) and says in result.report
    assert_rules(result)


@pytest.mark.parametrize("fault, says", STREAM_FAULTS.values(), ids=STREAM_FAULTS)
def test_a_stream_that_breaks_is_no_reply(fault, says, api, made):
    model, _ = made(api, [fault], stream=True)
    result = run(model, TOOLS, "go")
    assert (result.status, results(result)) == ("model_error", []) and says in result.report
    assert_rules(result)


def test_no_answer_in_time_is_a_timeout(api, stream, made):
    model, server = made(api, [Fault("late", delay=30)], stream=stream, timeout=0.2)
    with pytest.raises(TimeoutError) as caught:
        model([GO])
    assert isinstance(caught.value, ProviderTimeout) and caught.value.status is None


def test_nobody_there(api, made):
    model, server = made(api, [])
    server.stop()
    with pytest.raises(ConnectionError) as caught:
        model([GO])
    assert isinstance(caught.value, ProviderUnreachable)


def test_an_error_says_what_a_retry_wants_to_know(api, stream, made):
    """The client does not retry by itself: the harness counts its calls."""
    model, server = made(api, [Fault(status=429, retry_after=2.5)], stream=stream)
    with pytest.raises(ProviderError) as caught:
        model([GO])
    assert (caught.value.status, caught.value.retry_after, len(server.requests)) == (429, 2.5, 1)


def test_retry_after_may_be_a_date():
    class Client(Exception):
        status_code, response = 503, type("R", (), {"headers": {"retry-after": "Wed, 21 Oct 2015 07:28:00 GMT"}})
    APIError = type("APIError", (Client,), {})
    assert as_provider_error(APIError("x")).retry_after == 0.0
    Client.response.headers = {"retry-after": "soon"}
    assert as_provider_error(APIError("x")).retry_after is None


def test_a_programmers_mistake_stays_one():
    mistake = TypeError("x")
    assert as_provider_error(mistake) is mistake


@pytest.mark.parametrize("status", [429, 500])
@pytest.mark.parametrize("after", [0, 2, 4])
def test_an_error_in_the_middle_of_a_stream(status, after, api, made):
    model, _ = made(api, [Fault(["hello", call("add", a=1, b=1)], status=status, cut=after, message="too much")], stream=True)
    with pytest.raises(ProviderError, match=f"{status}: too much") as caught:
        model([GO])
    assert caught.value.status == status


def test_a_response_that_failed_is_an_error(made):
    model, _ = made("responses", [Fault(body=json.dumps({"status": "failed", "output": [], "error": {"code": "server_error", "message": "boo"}}))])
    with pytest.raises(ProviderError, match="500: boo"):
        model([GO])


# ---- what is carried along unread ---------------------------------------------------------------------------------------------------

THINKING = {"type": "thinking", "thinking": "Two numbers, one sum.", "signature": "c2ln"}
REASONING = [{"type": "reasoning", "id": f"rs_{n}", "summary": [], "encrypted_content": f"gAAA{n}"} for n in (1, 2)]
STUB, CALL = {"type": "text"}, {"type": "tool_use"}
CARRIED = {
    "messages": [THINKING, STUB, {"type": "redacted_thinking", "data": "x"}, CALL, CALL],
    "responses": [REASONING[0], {"type": "message", "phase": "commentary"}, {"type": "function_call"}, REASONING[1], {"type": "function_call"}],
    "chat": {"reasoning_content": "Two numbers.", "calls": [{"google": {"thought_signature": "s"}}, None]},
}


def test_reasoning_goes_back_as_it_came_and_where_it_stood(api, stream, made):
    said = Reply("I add.", [call("add", a=1, b=2), call("add", a=3, b=4)], extra={api: CARRIED[api]})
    model, server = made(api, [said, call("add", a=5, b=6), "done"], stream=stream)
    result = run(model, TOOLS, "go")
    assert result.status == "done" and result.messages[1]["extra"] == {api: CARRIED[api]}
    for request in server.requests[1:]:
        sent = request["body"]
        if api == "messages":
            kinds = [b["type"] for b in sent["messages"][1]["content"]]
            assert kinds == [b["type"] for b in CARRIED[api]] and sent["messages"][1]["content"][0] == THINKING
        elif api == "responses":
            items = sent["input"][1:6]
            assert [i.get("type") for i in items] == [i["type"] for i in CARRIED[api]]
            assert [items[0], items[3]] == REASONING and items[1] == {"type": "message", "phase": "commentary", "role": "assistant", "content": "I add."}
        else:
            assert sent["messages"][1]["reasoning_content"] == "Two numbers."
            assert [c.get("extra_content") for c in sent["messages"][1]["tool_calls"]] == CARRIED[api]["calls"]
    assert_rules(result)


def test_another_api_leaves_it_out(api, made):
    said = Reply("I add.", [call("add", a=1, b=2)], extra={a: CARRIED[a] for a in ADAPTERS if a != api})
    messages = run(ScriptedModel([said, "done"]), TOOLS, "go").messages
    model, server = made(api, ["fine"])
    assert model(messages + [GO], [add.definition]).text == "fine"
    assert not any(word in json.dumps(server.requests[0]["body"]) for word in ("rs_1", "c2ln", "thought", "extra"))


# ---- what is sent ------------------------------------------------------------------------------------------------------------------

def asks(*calls, content=None):
    return {"role": "assistant", "content": content, "tool_calls": [
        {"id": i, "type": "function", "function": {"name": name, "arguments": arguments}} for i, name, arguments in calls]}


def answer(call_id, content="2"):
    return {"role": "tool", "tool_call_id": call_id, "name": "add", "content": content}


def sent(api, messages, tools=(), base_url="http://127.0.0.1:9", **options):
    model = ADAPTERS[api]("m", base_url=base_url, **options)
    try:
        return json.loads(model.body(messages, list(tools)))
    finally:
        model.close()


LIST = [{"role": "system", "content": "be brief"}, GO, asks(("a", "add", '{"a": 1}'), ("b", "rm -rf", "{"), content=" "), answer("a"), answer("b", "ERROR: no"),
        {"role": "user", "content": "go on"}, {"role": "user", "content": "please"}]


def test_the_messages_api_is_sent_what_it_takes():
    body = sent("messages", LIST, [add.definition], temperature=0, thinking=None)
    assert body["system"] == "be brief" and body["max_tokens"] == 4096 and body["temperature"] == 0 and "thinking" not in body
    assert body["tools"] == [{"name": "add", "description": "Add two whole numbers.", "input_schema": add.definition["function"]["parameters"]}]
    assert body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "go"}]},
        {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "add", "input": {"a": 1}},
                                          {"type": "tool_use", "id": "b", "name": "rm_-rf", "input": {"INVALID_JSON": "{"}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "2"},
                                     {"type": "tool_result", "tool_use_id": "b", "content": "ERROR: no", "is_error": True},
                                     {"type": "text", "text": "go on"}, {"type": "text", "text": "please"}]}]


@pytest.mark.parametrize("empty", ["", " ", "\n"], ids=["anthropic-sdk-python#461", "a space", "a line"])
def test_an_empty_text_is_never_a_block(empty):
    body = sent("messages", [{"role": "system", "content": empty}, GO, {"role": "assistant", "content": empty}, {"role": "user", "content": empty}, asks(("a", "add", "{}"), content=empty), answer("a", empty)])
    assert "system" not in body and body["messages"] == [
        {"role": "user", "content": [{"type": "text", "text": "go"}]}, {"role": "assistant", "content": [{"type": "tool_use", "id": "a", "name": "add", "input": {}}]},
        {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "a", "content": "(no output)"}]}]


def test_ids_of_another_provider_are_made_fit():
    body = sent("messages", [GO, asks(("functions.add:0", "add", "{}")), answer("functions.add:0")])
    assert body["messages"][1]["content"][0]["id"] == body["messages"][2]["content"][0]["tool_use_id"] == "functions_add_0"


@pytest.mark.parametrize("arguments", ["", "{", "[1]", "null", "NaN", '{"a": 1, "a": 2}'])
def test_arguments_that_are_no_object_go_back_inside_one(arguments):
    assert sent("messages", [GO, asks(("a", "add", arguments)), answer("a")])["messages"][1]["content"][0]["input"] == {"INVALID_JSON": arguments}


def test_the_first_message_is_the_users():
    with pytest.raises(ValueError, match="the first message after the system message must be the user's, not assistant"):
        sent("messages", [{"role": "system", "content": "x"}, {"role": "assistant", "content": "hi"}, GO])


def test_chat_completions_is_sent_what_it_takes(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    theirs = sent("chat", LIST[:5], [add.definition], base_url="https://api.openai.com/v1", max_tokens=9)
    assert theirs["max_completion_tokens"] == 9 and theirs["tools"] == [add.definition] and "stream" not in theirs
    assert theirs["messages"][2]["tool_calls"][1]["function"] == {"name": "rm_-rf", "arguments": "{"}
    assert theirs["messages"][3] == {"role": "tool", "tool_call_id": "a", "content": "2"}
    other = sent("chat", LIST[:5], max_tokens=9)        # servers of open models parse what OpenAI takes as text
    assert other["max_tokens"] == 9 and other["messages"][3]["name"] == "add"
    assert other["messages"][2]["tool_calls"][1]["function"]["arguments"] == '{"INVALID_JSON": "{"}'


def test_responses_is_sent_what_it_takes():
    body = sent("responses", LIST[:5], [add.definition], max_tokens=9, store=False)
    assert body["max_output_tokens"] == 9 and body["store"] is False and body["tools"] == [{"type": "function", "strict": False, **add.definition["function"]}]
    assert body["input"][2:] == [
        {"role": "assistant", "content": " "}, {"type": "function_call", "call_id": "a", "name": "add", "arguments": '{"a": 1}'},
        {"type": "function_call", "call_id": "b", "name": "rm_-rf", "arguments": "{"}, {"type": "function_call_output", "call_id": "a", "output": "2"},
        {"type": "function_call_output", "call_id": "b", "output": "ERROR: no"}]


def test_half_a_surrogate_pair_does_not_stop_a_request(api):
    """hermes-agent#66822"""
    assert "go?" in json.dumps(sent(api, [{"role": "user", "content": "go\ud800"}]))


# ---- a growing list is translated once ----------------------------------------------------------------------------------------------

def test_only_what_is_new_is_translated():
    seen = []
    history = History(lambda m: seen.append(m["n"]) or [{"n": m["n"]}])
    messages = []
    for n in range(50):
        messages += [{"n": 2 * n}, {"n": 2 * n + 1}]
        assert [json.loads(item)["n"] for item in history.update(messages)] == list(range(2 * n + 2))
    assert seen == list(range(100))


def test_a_list_that_was_changed_is_translated_anew():
    history = History(lambda m: [m])
    messages = [{"n": 1}, {"n": 2}, {"n": 3}]
    history.update(messages)
    messages[1]["n"] = 5        # in place
    assert history.update(messages) == ['{"n":1}', '{"n":5}', '{"n":3}']
    del messages[:2]
    assert history.update(messages) == ['{"n":3}']
    assert history.update([{"n": 9}]) == ['{"n":9}'] and history.update([]) == []


MESSAGES = st.one_of(
    st.sampled_from(["go", "on", "é"]).map(lambda text: [{"role": "user", "content": text}]), st.sampled_from(["ok", "well"]).map(lambda text: [{"role": "assistant", "content": text}]),
    st.lists(st.sampled_from(['{"a": 1}', "{", ""]), min_size=1, max_size=3).map(lambda given: [asks(*((f"c{i}", "add", a) for i, a in enumerate(given))), *(answer(f"c{i}") for i in range(len(given)))]))


@settings(derandomize=True, deadline=None, database=None, max_examples=60)
@given(st.lists(MESSAGES, max_size=6), st.data())
def test_however_a_list_grows_it_is_sent_whole(models, parts, data):
    messages = [GO]
    for part in parts:
        messages += part
        if data.draw(st.booleans()):
            messages[data.draw(st.integers(1, len(messages))):] = []
        for model, fresh in models:
            assert model.body(messages) == fresh().body(messages)


@pytest.fixture(scope="module")
def models():
    adapters = [adapter("m", base_url="http://127.0.0.1:9") for adapter in ADAPTERS.values()]
    yield [(model, lambda model=model: type(model)("m", client=model.client)) for model in adapters]
    for model in adapters:
        model.close()


def test_runs_side_by_side_share_a_model(api, made):
    """strands#1176"""
    model, _ = made(api, lambda messages, tools: call("add", a=len(messages), b=0) if len(messages) < 8 else messages[0]["content"])
    ended = {}
    threads = [threading.Thread(target=lambda n=n: ended.update({n: run(model, TOOLS, f"task {n}").answer})) for n in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert ended == {n: f"task {n}" for n in range(4)}
    here, there = model.history.value, []
    other = threading.Thread(target=lambda: there.append(model.history.value))
    other.start()
    other.join()
    assert there[0] is not here and model.history.value is here


# ---- keys, packages, machines ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("adapter, key", [(OpenAIChat, "OPENAI_API_KEY"), (OpenAIResponses, "OPENAI_API_KEY"), (AnthropicMessages, "ANTHROPIC_API_KEY")])
def test_a_missing_key_says_what_to_do(adapter, key, monkeypatch):
    monkeypatch.delenv(key, raising=False)
    with pytest.raises(RuntimeError, match=f"{key} is not set: set it in the environment"):
        adapter("m")
    monkeypatch.setenv(key, "  ")
    with pytest.raises(RuntimeError, match="is not set"):
        adapter("m", base_url="https://models.example")


@pytest.mark.parametrize("adapter, package", [(OpenAIChat, "openai"), (OpenAIResponses, "openai"), (AnthropicMessages, "anthropic")])
def test_a_missing_package_says_what_to_do(adapter, package, monkeypatch):
    monkeypatch.setitem(sys.modules, package, None)
    with pytest.raises(ImportError, match=f"{adapter.__name__} needs the official client: pip install {package}"):
        adapter("m", base_url="http://127.0.0.1:9")


@pytest.mark.parametrize("name", ["", " ", None])
def test_a_model_has_a_name(name):
    with pytest.raises(ValueError, match="needs the name of a model"):
        OpenAIChat(name, base_url="http://127.0.0.1:9")


def test_a_key_goes_to_its_provider_alone(monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    for base_url, key in ((None, "sk-secret"), ("https://models.example/v1", "sk-secret"), ("http://127.0.0.1:9", "none"), ("http://localhost:9/v1", "none")):
        model = OpenAIChat("m", base_url)
        assert model.client.api_key == key and "sk-secret" not in repr(model)
        model.close()


def test_a_proxy_has_no_part_in_this_machine(api, monkeypatch, made):
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    model, _ = made(api, ["hello"])
    assert model([GO]).text == "hello"


@pytest.mark.parametrize("url, here", [("http://127.0.0.1:1/v1", True), ("http://localhost", True), ("http://[::1]:8", True), ("http://127.9.9.9", True),
                                       ("http://127.0.0.1.example.org", False), ("http://localhost.example.org", False), ("https://api.openai.com", False), ("", False), (None, False)])
def test_which_machine_is_this_one(url, here):
    assert on_this_machine(url) is here


def test_a_client_of_ones_own():
    import openai
    with serve(["hello"]) as server, openai.OpenAI(api_key="mine", base_url=server.url) as client:
        assert OpenAIChat("m", client=client)([GO]).text == "hello"


def test_importing_the_adapters_loads_no_package():
    import subprocess
    code = "import sys; from agentkit.providers import OpenAIChat, AnthropicMessages, serve; print({'openai', 'anthropic', 'httpx2', 'pydantic'} & set(sys.modules))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60).stdout.strip() == "set()"


# ---- a model on this machine --------------------------------------------------------------------------------------------------------------

def test_a_local_server_is_found():
    with serve(["hello"]) as server:
        port = int(server.url.rsplit(":", 1)[1])
        assert find_local([9, port]) == [(f"{server.url}/v1", ["scripted"])]
        model = local_model(ports=[9, port], stream=True)
        assert model.name == "scripted" and run(model, TOOLS, "go").answer == "hello"
        assert local_model("another", ports=[port]) is None
        model.close()


@pytest.mark.parametrize("body", [b"<html>", b"{}", b'{"data": 5}', b'{"data": [{"id": 5}]}', b"[]"])
def test_another_server_on_the_port_is_no_model(body):
    class Other(BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_):
            pass

    with HTTPServer(("127.0.0.1", 0), Other) as other:
        thread = threading.Thread(target=other.handle_request, daemon=True)
        thread.start()
        assert find_local([other.server_address[1]]) == [] and local_model(ports=[]) is None
        thread.join()


# ---- prices ---------------------------------------------------------------------------------------------------------------------------------

def test_a_model_without_a_price_is_unknown_and_never_free(made):
    model, server = made("chat", [Reply("hi", usage=CACHED)] * 2)
    assert run(model, [], "go", prices=PRICES).usage.cost_usd is None
    with pytest.raises(ValueError, match="budget_usd needs a price"):
        run(model, [], "go", prices=PRICES, limits=Limits(budget_usd=1))
    model.name = "gpt-4o-mini"
    assert run(model, [], "go", prices=PRICES).usage.cost_usd == pytest.approx((70 * 0.15 + 30 * 0.075 + 12 * 0.6) / 1e6)


def test_the_table_is_dated_and_can_be_changed():
    assert len(AS_OF) == 7 and all(isinstance(p, Price) and p.output > p.input > p.cached for p in PRICES.values())
    assert {**PRICES, "mine": Price(1, 2)}["mine"] == Price(1, 2)
