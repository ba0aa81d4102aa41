"""The local server: what it refuses and in which words, what it says to the official clients, and what can be made to go wrong."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from urllib.error import HTTPError
from urllib.request import ProxyHandler, Request, build_opener

import anthropic
import openai
import pytest

from agentkit import Reply, ScriptedModel, ToolCall, Usage, call
from agentkit.providers import Fault, serve
from agentkit.providers.faults import entries_of

ROOT = Path(__file__).resolve().parent.parent
direct = build_opener(ProxyHandler({}))
MANY = ["I look.", call("add", a=1, b=2), call("look_up", item="lamp")]


def ask(url, path, body):
    """(status, what came back, headers) of a POST."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    try:
        with direct.open(Request(url + path, data, {"Content-Type": "application/json"}), timeout=10) as response:
            return response.status, json.loads(response.read()), response.headers
    except HTTPError as error:
        with error:
            return error.code, json.loads(error.read()), error.headers


@pytest.fixture(scope="module")
def open_server():
    with serve(["hello"], repeat=True) as server:
        yield server


@pytest.fixture
def clients():
    """Makes the official clients, and closes them."""
    opened = []

    def make(server):
        pair = (openai.OpenAI(api_key="none", base_url=server.url + "/v1", max_retries=0), anthropic.Anthropic(api_key="none", base_url=server.url, max_retries=0))
        opened.extend(pair)
        return pair

    yield make
    for client in opened:
        client.close()


# ---- what it refuses -----------------------------------------------------------------------------------------------------------------

GO = {"role": "user", "content": "go"}


def asks(*ids, content=None, name="add", arguments="{}", **more):
    return {"role": "assistant", "content": content, "tool_calls": [{"id": i, "type": "function", "function": {"name": name, "arguments": arguments}, **more} for i in ids]}


def answer(call_id):
    return {"role": "tool", "tool_call_id": call_id, "content": "2"}


def chat(*messages, **more):
    return {"model": "m", "messages": list(messages), **more}


CHAT = {
    "no model": ({"messages": [GO]}, "Missing required parameter: 'model'.", "model", "missing_required_parameter"),
    "no messages": ({"model": "m"}, "Missing required parameter: 'messages'.", "messages", "missing_required_parameter"),
    "empty": (chat(), "Invalid 'messages': empty array. Expected an array with minimum length 1", "messages", "empty_array"),
    "messages of another kind": ({"model": "m", "messages": "go"}, "Invalid type for 'messages': expected an array, but got a string instead.", "messages", "invalid_type"),
    "an unknown field": (chat(GO, tempreature=0), "Unknown parameter: 'tempreature'.", "tempreature", "unknown_parameter"),
    "an unknown field of a message": (chat({**GO, "extra": {}}), "Unknown parameter: 'messages[0].extra'.", "messages[0].extra", "unknown_parameter"),
    "an unknown role": (chat({"role": "bot", "content": "x"}), "Invalid value: 'bot'. Supported values are: 'system', 'assistant'", "messages[0].role", "invalid_value"),
    "null content": (chat({"role": "user", "content": None}), "Invalid value for 'content': expected a string, got null.", "messages.[0].content", None),
    "content of another kind": (chat({"role": "user", "content": 5}), "Invalid type for 'messages[0].content': expected a string, but got an integer instead.", "messages[0].content", "invalid_type"),
    "no calls": (chat(GO, {"role": "assistant", "content": "x", "tool_calls": []}, GO), "Invalid 'messages[1].tool_calls': empty array.", "messages[1].tool_calls", "empty_array"),
    "no result": (chat(GO, asks("a", "b"), answer("a")), "did not have response messages: b", "messages.[3].role", None),
    "a result too late": (chat(GO, asks("a"), GO, answer("a")), "An assistant message with 'tool_calls' must be followed by tool messages", "messages.[2].role", None),
    "a result of nothing": (chat(GO, answer("a")), "messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.", "messages.[1].role", None),
    "two results": (chat(GO, asks("a"), answer("a"), answer("a")), "must be a response to a preceeding", "messages.[3].role", None),
    "arguments as an object": (chat(GO, asks("a", arguments={}), answer("a")), "Invalid type for 'messages[1].tool_calls[0].function.arguments': expected a string, but got an object instead.",
                               "messages[1].tool_calls[0].function.arguments", "invalid_type"),
    "a name with a space": (chat(GO, asks("a", name="rm -rf"), answer("a")), "string does not match pattern", "messages[1].tool_calls[0].function.name", "invalid_value"),
    "an id that comes back": (chat(GO, asks("a"), answer("a"), asks("a"), answer("a")), "the tool call id 'a' is used twice", "messages", None),
    "the assistant last": (chat(GO, {"role": "assistant", "content": "x"}), "the last message must be the user's or a tool's", "messages", None),
    "no tools": (chat(GO, tools=[]), "Invalid 'tools': empty array.", "tools", "empty_array"),
    "a tool without a name": (chat(GO, tools=[{"type": "function", "function": {}}]), "Missing required parameter: 'tools[0].function.name'.", "tools[0].function.name", "missing_required_parameter"),
    "a tool in another shape": (chat(GO, tools=[{"type": "function", "name": "add"}]), "Missing required parameter: 'tools[0].function'.", "tools[0].function", "missing_required_parameter"),
}


@pytest.mark.parametrize("body, says, param, code", CHAT.values(), ids=CHAT)
def test_what_chat_completions_refuses(body, says, param, code, open_server):
    status, told, _ = ask(open_server.url, "/v1/chat/completions", body)
    error = told["error"]
    assert status == 400 and says in error["message"] and (error["type"], error["param"], error["code"]) == ("invalid_request_error", param, code)


def items(*given, **more):
    return {"model": "m", "input": [GO, *given], **more}


CALL, OUTPUT = {"type": "function_call", "call_id": "a", "name": "add", "arguments": "{}"}, {"type": "function_call_output", "call_id": "a", "output": "2"}
THOUGHT = {"type": "reasoning", "id": "rs_1", "summary": []}
RESPONSES = {
    "no model": ({"input": "go"}, "Missing required parameter: 'model'.", "model"), "no input": ({"model": "m"}, "Missing required parameter: 'input'.", "input"),
    "empty": ({"model": "m", "input": []}, "Invalid 'input': empty array.", "input"), "messages": (chat(GO), "Unknown parameter: 'messages'.", "messages"),
    "an unknown item": (items({"type": "magic"}), "Invalid value: 'magic'. Supported values are: 'message', 'function_call'", "input[1].type"),
    "the tool role": (items(answer("a")), "Invalid value: 'tool'.", "input[1].role"),
    "no output": (items(CALL, {**GO}), "No tool output found for function call a.", "input"),
    "an output of nothing": (items(OUTPUT), "No tool call found for function call output with call_id a.", "input"),
    "two outputs": (items(CALL, OUTPUT, OUTPUT), "No tool call found for function call output", "input"),
    "arguments as an object": (items({**CALL, "arguments": {}}, OUTPUT), "Invalid type for 'input[1].arguments': expected a string, but got an object instead.", "input[1].arguments"),
    "a reasoning item alone": (items(CALL, OUTPUT, THOUGHT), "Item 'rs_1' of type 'reasoning' was provided without its required following item.", "input"),
    "a reasoning item before a user": (items(THOUGHT, GO), "without its required following item", "input"),
    "a reasoning item after its call": (items(CALL, THOUGHT, OUTPUT), "without its required following item", "input"),
    "a tool as in Chat Completions": (items(tools=[{"type": "function", "function": {"name": "add"}}]), "Missing required parameter: 'tools[0].name'.", "tools[0].name"),
}


@pytest.mark.parametrize("body, says, param", RESPONSES.values(), ids=RESPONSES)
def test_what_responses_refuses(body, says, param, open_server):
    status, told, _ = ask(open_server.url, "/v1/responses", body)
    assert status == 400 and says in told["error"]["message"] and told["error"]["param"] == param and told["error"]["type"] == "invalid_request_error"


def blocks(*given):
    return {"role": "assistant", "content": list(given)}


def messages(*given, **more):
    return {"model": "m", "max_tokens": 9, "messages": list(given), **more}


USE, TEXT = {"type": "tool_use", "id": "a", "name": "add", "input": {}}, {"type": "text", "text": "x"}
RESULT = {"type": "tool_result", "tool_use_id": "a", "content": "2"}
MESSAGES = {
    "no model": ({"max_tokens": 9, "messages": [GO]}, "model: Field required"), "no max_tokens": (chat(GO), "max_tokens: Field required"),
    "max_tokens of 0": (messages(GO, max_tokens=0), "max_tokens: Input should be greater than"), "no messages": ({"model": "m", "max_tokens": 9}, "messages: Field required"),
    "empty": (messages(), "messages: at least one message is required"), "an unknown field": (messages(GO, temp=0), "temp: Extra inputs are not permitted"),
    "an unknown field of a message": (messages({**GO, "name": "x"}), "messages.0.name: Extra inputs are not permitted"),
    "a system message": (messages({"role": "system", "content": "x"}, GO), 'messages: Unexpected role "system". The Messages API accepts a top-level `system` parameter'),
    "a tool message": (messages(GO, answer("a")), "messages.1.role: Input should be 'user' or 'assistant'"),
    "the assistant first": (messages(blocks(TEXT), GO), 'messages: first message must use the "user" role'),
    "anthropic-sdk-python#461": (messages({"role": "user", "content": [{"type": "text", "text": ""}]}), "messages: text content blocks must be non-empty"),
    "an empty text": (messages({"role": "user", "content": ""}), "messages: text content blocks must be non-empty"),
    "a blank text": (messages({"role": "user", "content": " "}), "must contain non-whitespace text"),
    "no blocks": (messages(GO, blocks(), GO), "messages.1: all messages must have non-empty content"),
    "no result": (messages(GO, blocks(USE), GO), "messages.1: `tool_use` ids were found without `tool_result` blocks immediately after: a."),
    "no result at the end": (messages(GO, blocks(USE)), "messages.1: `tool_use` ids were found without"),
    "a result of nothing": (messages(GO, blocks(TEXT), {"role": "user", "content": [RESULT]}), "messages.2.content.0: unexpected `tool_use_id` found in `tool_result` blocks: a."),
    "results in two messages": (messages(GO, blocks(USE, {**USE, "id": "b"}), {"role": "user", "content": [RESULT]}, {"role": "user", "content": [{**RESULT, "tool_use_id": "b"}]}), "messages.1: `tool_use` ids were found without"),
    "a text before a result": (messages(GO, blocks(USE), {"role": "user", "content": [TEXT, RESULT]}), "`tool_result` blocks must come first"),
    "an id that comes back": (messages(GO, blocks(USE), {"role": "user", "content": [RESULT]}, blocks(USE), {"role": "user", "content": [RESULT]}), "`tool_use` ids must be unique"),
    "input as a text": (messages(GO, blocks({**USE, "input": "{}"}), {"role": "user", "content": [RESULT]}), "messages.1.content.0.tool_use.input: Input should be a valid dictionary"),
    "a name with a space": (messages(GO, blocks({**USE, "name": "rm -rf"}), {"role": "user", "content": [RESULT]}), "String should match pattern"),
    "thinking without a signature": (messages(GO, blocks({"type": "thinking", "thinking": "x"}, TEXT), GO), "messages.1.content.0.thinking.signature: Field required"),
    "a call by the user": (messages({"role": "user", "content": [USE]}), "Input tag 'tool_use' found using 'type' does not match any of the expected tags"),
    "a tool without a schema": (messages(GO, tools=[{"name": "add"}]), "tools.0.custom.input_schema: Field required"),
    "a tool as in Chat Completions": (messages(GO, tools=[{"type": "function", "function": {"name": "add"}}]), "tools.0.custom.name: Field required"),
}


@pytest.mark.parametrize("body, says", MESSAGES.values(), ids=MESSAGES)
def test_what_messages_refuses(body, says, open_server):
    status, told, _ = ask(open_server.url, "/v1/messages", body)
    assert status == 400 and says in told["error"]["message"] and told["type"] == "error" and told["error"]["type"] == "invalid_request_error"


TAKEN = {
    "a text": ("/v1/chat/completions", chat(GO)), "parts": ("/v1/chat/completions", chat({"role": "user", "content": [{"type": "text", "text": "go"}]})),
    "calls and results": ("/v1/chat/completions", chat({"role": "developer", "content": "x"}, GO, asks("a", "b"), answer("b"), answer("a"), tools=[{"type": "function", "function": {"name": "add"}}])),
    "without /v1": ("/chat/completions", chat(GO)), "an input of text": ("/v1/responses", {"model": "m", "input": "go", "instructions": "be brief"}),
    "items": ("/v1/responses", items(THOUGHT, CALL, OUTPUT, {"role": "assistant", "content": [{"type": "output_text", "text": "x"}]}, GO)),
    "a list of outputs": ("/v1/responses", items(CALL, {**OUTPUT, "output": [{"type": "input_text", "text": "2"}]})),
    "blocks": ("/v1/messages", messages(GO, GO, blocks(TEXT, USE), {"role": "user", "content": [RESULT, TEXT]}, system=[TEXT], tools=[{"name": "add", "input_schema": {"type": "object"}}])),
    "a result in parts": ("/v1/messages", messages(GO, blocks(USE), {"role": "user", "content": [{**RESULT, "content": [TEXT]}]})),
}


@pytest.mark.parametrize("path, body", TAKEN.values(), ids=TAKEN)
def test_what_it_takes(path, body, open_server):
    status, told, _ = ask(open_server.url, path, body)
    assert status == 200 and "hello" in json.dumps(told), told


@pytest.mark.parametrize("raw", [b"", b"{", b"[]", b"5", b"\xff", b"[" * 100_000], ids=range(6))
@pytest.mark.parametrize("path", ["/v1/chat/completions", "/v1/responses", "/v1/messages"])
def test_a_body_that_is_no_object(path, raw, open_server):
    status, told, _ = ask(open_server.url, path, raw)
    assert status == 400 and "could not parse the JSON body" in told["error"]["message"]


def test_an_address_that_is_none(open_server):
    status, told, _ = ask(open_server.url, "/v1/completions", chat(GO))
    assert status == 404 and told["error"]["code"] == "unknown_url"


# ---- what it says to the official clients ---------------------------------------------------------------------------------------------

def told_by_chat(client):
    whole = client.chat.completions.create(model="m", messages=[GO]).choices[0].message
    with client.chat.completions.stream(model="m", messages=[GO]) as stream:
        final = stream.get_final_completion().choices[0].message
    return [(m.content, [(c.id, c.function.name, c.function.arguments) for c in m.tool_calls or ()]) for m in (whole, final)]


def told_by_responses(client):
    with client.responses.stream(model="m", input="go") as stream:
        final = stream.get_final_response()
    return [(r.output_text, [(c.call_id, c.name, c.arguments) for c in r.output if c.type == "function_call"]) for r in (client.responses.create(model="m", input="go"), final)]


def told_by_messages(client):
    with client.messages.stream(model="m", max_tokens=9, messages=[GO]) as stream:
        final = stream.get_final_message()
    return [("".join(b.text for b in m.content if b.type == "text"), [(b.id, b.name, json.dumps(b.input)) for b in m.content if b.type == "tool_use"])
            for m in (client.messages.create(model="m", max_tokens=9, messages=[GO]), final)]


@pytest.mark.parametrize("entry, text, asked", [("hello", "hello", []), (MANY, "I look.", [("call_1", "add", '{"a": 1, "b": 2}'), ("call_2", "look_up", '{"item": "lamp"}')]),
                                                (["x", call("ping")], "x", [("call_1", "ping", "{}")]), ("é😀 \u2028", "é😀 \u2028", [])], ids=["text", "calls", "no arguments", "odd characters"])
def test_the_official_clients_understand_it(entry, text, asked, clients):
    with serve([entry], repeat=True) as server:
        theirs, others = clients(server)
        for told in (told_by_chat(theirs), told_by_responses(theirs), told_by_messages(others)):
            assert told == [(text, asked)] * 2


def test_usage_in_the_clients_words(clients):
    with serve([Reply("hi", usage=Usage(70, 12, 30))], repeat=True) as server:
        theirs, others = clients(server)
        chat_usage = theirs.chat.completions.create(model="m", messages=[GO]).usage
        streamed = [c.usage for c in theirs.chat.completions.create(model="m", messages=[GO], stream=True, stream_options={"include_usage": True})]
        unasked = [c.usage for c in theirs.chat.completions.create(model="m", messages=[GO], stream=True)]
        responses, message = theirs.responses.create(model="m", input="go").usage, others.messages.create(model="m", max_tokens=9, messages=[GO]).usage
    assert (chat_usage.prompt_tokens, chat_usage.prompt_tokens_details.cached_tokens, chat_usage.completion_tokens) == (100, 30, 12)
    assert streamed[-1] == chat_usage and streamed[:-1] == [None] * (len(streamed) - 1) and set(unasked) == {None}
    assert (responses.input_tokens, responses.input_tokens_details.cached_tokens, responses.output_tokens) == (100, 30, 12)
    assert (message.input_tokens, message.cache_read_input_tokens, message.output_tokens) == (70, 30, 12)


@pytest.mark.parametrize("reason, chat_says, response_says, message_says", [
    ("length", ("length", None), ("incomplete", "max_output_tokens"), "max_tokens"), ("content_filter", ("content_filter", None), ("incomplete", "content_filter"), "refusal"),
    ("refusal", ("stop", "hm"), ("completed", None), "refusal"), (None, ("stop", None), ("completed", None), "end_turn")])
def test_why_a_reply_ends_in_the_clients_words(reason, chat_says, response_says, message_says, clients):
    with serve([Reply("hm", stop_reason=reason)], repeat=True) as server:
        theirs, others = clients(server)
        choice = theirs.chat.completions.create(model="m", messages=[GO]).choices[0]
        response = theirs.responses.create(model="m", input="go")
        message = others.messages.create(model="m", max_tokens=9, messages=[GO])
    assert (choice.finish_reason, choice.message.refusal) == chat_says
    assert (response.status, response.incomplete_details and response.incomplete_details.reason) == response_says
    assert response.output[0].content[0].type == ("refusal" if reason == "refusal" else "output_text")
    assert message.stop_reason == message_says


def test_the_clients_raise_their_own_errors(clients):
    with serve([Fault(status=429, retry_after=2), Fault(status=500), Fault(status=429), Fault(status=529), "x"]) as server:
        theirs, others = clients(server)
        with pytest.raises(openai.BadRequestError) as bad:
            theirs.chat.completions.create(model="m", messages=[GO, asks("a")])
        assert bad.value.param == "messages.[2].role"
        with pytest.raises(openai.RateLimitError) as slow:
            theirs.chat.completions.create(model="m", messages=[GO])
        assert slow.value.response.headers["retry-after"] == "2"
        with pytest.raises(openai.InternalServerError):
            theirs.responses.create(model="m", input="go")
        with pytest.raises(anthropic.RateLimitError):
            others.messages.create(model="m", max_tokens=9, messages=[GO])
        with pytest.raises(anthropic.APIStatusError) as full:
            others.messages.create(model="m", max_tokens=9, messages=[GO])
        assert full.value.body["error"]["type"] == "overloaded_error"
        with pytest.raises(anthropic.BadRequestError, match="without `tool_result` blocks"):
            others.messages.create(model="m", max_tokens=9, messages=[GO, blocks(USE)])
        assert theirs.models.list().data[0].id == "scripted"


def test_a_client_retries_what_may_pass():
    with serve([Fault(status=429, retry_after=0.01), Fault(status=500, retry_after=0.01), "hello"]) as server:
        with openai.OpenAI(api_key="none", base_url=server.url, max_retries=2) as client:
            assert client.chat.completions.create(model="m", messages=[GO]).choices[0].message.content == "hello"
        assert [r["status"] for r in server.requests] == [429, 500, 200]


# ---- the script and the record -----------------------------------------------------------------------------------------------------------

def test_every_request_is_kept(clients):
    with serve(["one", "two"]) as server:
        ask(server.url, "/v1/chat/completions", chat(GO))
        ask(server.url, "/v1/messages", b"{")
        ask(server.url, "/nowhere", chat(GO))
    assert [(r["api"], r["path"], r["status"]) for r in server.requests] == [("chat", "/v1/chat/completions", 200), ("messages", "/v1/messages", 400), (None, "/nowhere", 404)]
    assert server.requests[0]["body"] == chat(GO) and server.requests[1]["body"] == "{"


def test_a_refused_request_uses_up_no_entry():
    with serve(["one"]) as server:
        assert ask(server.url, "/v1/chat/completions", chat())[0] == 400
        assert ask(server.url, "/v1/chat/completions", chat({"role": "user", "content": " "}))[0] == 400
        assert ask(server.url, "/v1/chat/completions", chat(GO))[1]["choices"][0]["message"]["content"] == "one"


@pytest.mark.parametrize("script, says", [([], "IndexError: the script has 0 entries and this is call 1"), ([ValueError("boo")], "ValueError: boo"), ([lambda messages: 1 / 0], "ZeroDivisionError")])
def test_what_the_script_does_wrong_is_the_servers_error(script, says):
    with serve(script) as server:
        for path, body in (("/v1/chat/completions", chat(GO)), ("/v1/messages", messages(GO))):
            status, told, _ = ask(server.url, path, body)
            assert status == 500 and (says in told["error"]["message"] or path == "/v1/messages")


def test_a_function_in_the_script_sees_the_list_of_any_api():
    seen = []
    with serve([lambda messages, tools: seen.append((messages, tools)) or "ok"], repeat=True) as server:
        function = {"name": "add", "description": "", "parameters": {"type": "object"}}
        ask(server.url, "/v1/chat/completions", chat({"role": "system", "content": "s"}, GO, asks("a", content="x"), {**answer("a"), "name": "add"}, tools=[{"type": "function", "function": function}]))
        ask(server.url, "/v1/responses", items({"role": "assistant", "content": "x"}, CALL, OUTPUT, instructions="s", tools=[{"type": "function", **function}]))
        ask(server.url, "/v1/messages", messages(GO, blocks(TEXT, USE), {"role": "user", "content": [RESULT]}, system="s", tools=[{"name": "add", "input_schema": {"type": "object"}}]))
    assert len(seen) == 3 and seen[0] == seen[1] == seen[2]
    assert seen[0][0][0] == {"role": "system", "content": "s"} and seen[0][0][-1] == {**answer("a"), "name": "add"}


def test_any_model_can_stand_behind_it():
    model = ScriptedModel(["one", "two"])
    with serve(model) as server:
        ask(server.url, "/v1/chat/completions", chat(GO))
    assert model.calls == 1
    with serve(lambda messages, tools: Reply("any")) as server:
        assert ask(server.url, "/v1/chat/completions", chat(GO))[1]["choices"][0]["message"]["content"] == "any"


def test_clients_side_by_side_take_the_entries_one_by_one():
    with serve([str(n) for n in range(20)]) as server:
        told = []
        threads = [threading.Thread(target=lambda: told.append(ask(server.url, "/v1/chat/completions", chat(GO))[1]["choices"][0]["message"]["content"])) for _ in range(20)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert sorted(told, key=int) == [str(n) for n in range(20)]


def test_the_script_is_asked_one_request_at_a_time():
    inside, together = [], []

    def entry(messages):
        inside.append(1)
        time.sleep(0.01)
        together.append(len(inside))
        inside.pop()
        return "x"

    with serve([entry], repeat=True) as server:
        threads = [threading.Thread(target=ask, args=(server.url, "/v1/chat/completions", chat(GO))) for _ in range(8)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    assert together == [1] * 8


def test_it_listens_on_this_machine_only_and_stops():
    server = serve(["x"])
    with pytest.raises(RuntimeError, match="not running"):
        server.url
    with server:
        assert server.url.startswith("http://127.0.0.1:") and server._http.server_address[0] == "127.0.0.1"
        url = server.url
    server.stop()
    with pytest.raises(OSError):
        ask(url, "/v1/models", chat(GO))
    with server:
        assert ask(server.url, "/v1/chat/completions", chat(GO))[0] == 200


def test_a_taken_port_is_an_error_at_once():
    with serve([]) as server, pytest.raises(OSError):
        serve([], port=int(server.url.rsplit(":", 1)[1])).start()


# ---- a script as a file, and the command ----------------------------------------------------------------------------------------------------

def test_a_script_written_as_json():
    script = ["hi", {"call": "add", "arguments": {"a": 1}}, ["I look.", {"call": "look_up"}], {"text": "hm", "stop_reason": "length", "usage": {"input_tokens": 1, "output_tokens": 2}},
              {"calls": [{"call": "add", "id": "x", "arguments": "{"}]}, {"fault": {"status": 429, "retry_after": 2}}, {"fault": {"reply": {"call": "add"}, "usage": "zeros"}}]
    assert entries_of(script) == ["hi", ToolCall(None, "add", {"a": 1}), ["I look.", ToolCall(None, "look_up", {})], Reply("hm", usage=Usage(1, 2), stop_reason="length"),
                                  Reply(tool_calls=[ToolCall("x", "add", "{")]), Fault(status=429, retry_after=2), Fault(ToolCall(None, "add", {}), usage="zeros")]


@pytest.mark.parametrize("script, says", [({}, "a script is a JSON list"), (["x", 5], "entry 2 of the script"), ([{"fault": {"stauts": 429}}], "entry 1 .*stauts"),
                                          ([{"fault": {"status": 200}}], "status must be an error"), ([{"fault": {"usage": "none"}}], "usage must be"), ([["x", None]], "entry 1")])
def test_what_is_no_script_is_told(script, says):
    with pytest.raises(ValueError, match=says):
        entries_of(script)


def command(*options):
    return subprocess.Popen([sys.executable, "-I", "-S", str(ROOT / "agentkit" / "__main__.py"), "serve", *options], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.parametrize("script, says", [(None, "get_order"), ('["from a file"]', "from a file")], ids=["demo", "file"])
def test_the_command_serves_with_nothing_installed(script, says, tmp_path):
    (tmp_path / "s.json").write_text(script or "", encoding="utf-8")
    process = command(*(["--script", str(tmp_path / "s.json")] if script else []))
    try:
        url = next(word for word in process.stdout.readline().split() if word.startswith("http://127.0.0.1:"))
        assert says in json.dumps(ask(url, "/v1/messages", messages(GO))[1])
    finally:
        process.terminate()
        process.communicate(timeout=10)
    assert process.returncode in (143, -15, 1)      # 1: how Windows ends a process


@pytest.mark.parametrize("script, says", [("{", "s.json: Expecting"), ("{}", "s.json: a script is a JSON list"), (None, "No such file")])
def test_the_command_says_what_is_wrong_with_a_script(script, says, tmp_path):
    if script:
        (tmp_path / "s.json").write_text(script, encoding="utf-8")
    process = command("--script", str(tmp_path / "s.json"))
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1 and says in err and "Traceback" not in err
