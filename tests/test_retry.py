"""Retries: what is worth one, how long is waited, how often, and what may never run twice. Nothing here sleeps."""

import http.client
import itertools
import random
import socket
import ssl
import threading
import urllib.error
from email.utils import formatdate
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentkit import Limits, Reply, ScriptedModel, TextModel, Tool, call, run, tool
from agentkit.providers import ProviderError
from agentkit.providers.wire import ProviderTimeout, ProviderUnreachable
from agentkit.retry import GaveUp, Retry, Transient, retry_after, status_of, worth_retrying
from agentkit.tools import idempotency_key

NOW = 1_700_000_000.0


class Status(Exception):
    """An error as HTTP clients raise it, without one of them."""

    def __init__(self, status_code, headers=None, **more):
        super().__init__(f"HTTP {status_code}")
        self.status_code, self.response = status_code, SimpleNamespace(headers=headers or {})
        self.__dict__.update(more)


def named(name, *bases):
    return type(name, bases or (Exception,), {})("said so")


def http_error(status, headers=()):
    message = http.client.HTTPMessage()
    for name, value in dict(headers).items():
        message[name] = value
    return urllib.error.HTTPError("http://x", status, "no", message, None)


def caused(error, cause):
    error.__cause__ = cause
    return error


class Hostile(Exception):
    @property
    def status_code(self):
        raise RuntimeError("no")

    response = headers = retry_after = code = status_code

    def __str__(self):
        raise RuntimeError("no words either")


PASSING = {
    "our own word": Transient("busy"),
    "time-out": TimeoutError(),
    "socket": socket.timeout(),
    "reset": ConnectionResetError(),
    "refused": ConnectionRefusedError(),
    "broken pipe": BrokenPipeError(),
    "no way to the network": OSError(101 if hasattr(socket, "AF_UNIX") else 10051, "Network is unreachable"),
    "no name server": socket.gaierror(socket.EAI_AGAIN, "Temporary failure in name resolution"),
    "server hung up": http.client.RemoteDisconnected("gone"),
    "half an answer": http.client.IncompleteRead(b""),
    "urllib, wrapped": urllib.error.URLError(ConnectionRefusedError()),
    "urllib, 503": http_error(503),
    "httpx": named("ReadTimeout", type("TimeoutException", (Exception,), {})),
    "an SDK's time-out": named("APITimeoutError"),
    "an SDK's connection": named("APIConnectionError"),
    "requests": named("ConnectTimeout", type("Timeout", (OSError,), {})),
    "adapter: time-out": ProviderTimeout("slow"),
    "adapter: unreachable": ProviderUnreachable("cut"),
    "adapter: 429": ProviderError("429: slow down", 429),
    "adapter: overloaded": ProviderError("529: overloaded", 529),
    "status of the response": named("HTTPStatusError"),
    "a 400 that the server wants again": Status(400, {"x-should-retry": "true"}),
    **{str(code): Status(code) for code in (408, 425, 429, 500, 502, 503, 504, 520, 529)},
}
PASSING["status of the response"].response = SimpleNamespace(status_code=502, headers={})

LASTING = {
    "a key": KeyError("Z999"),
    "a value": ValueError("no such date"),
    "a type": TypeError("missing argument"),
    "a file": FileNotFoundError(2, "no such file"),
    "permission": PermissionError(13, "no"),
    "no such host": socket.gaierror(-2, "Name or service not known"),
    "a certificate": ssl.SSLCertVerificationError("self-signed"),
    "urllib, a certificate": urllib.error.URLError(ssl.SSLCertVerificationError("self-signed")),
    "urllib, a bad address": urllib.error.URLError("unknown url type"),
    "urllib, 404": http_error(404),
    "requests, a certificate": named("SSLError", type("ConnectionError", (OSError,), {})),
    "httpx, a bad address": named("UnsupportedProtocol", type("TransportError", (Exception,), {})),
    "adapter: bad request": ProviderError("400: bad", 400),
    "adapter: not JSON": ProviderError("the answer is not JSON"),
    "an empty account": Status(429, code="insufficient_quota"),
    "an empty account, through the adapter": caused(ProviderError("429: quota", 429), Status(429, code="insufficient_quota")),
    "a 500 that the server does not want again": Status(500, {"X-Should-Retry": "false"}),
    "a script that ran out": IndexError("the script has 1 entries"),
    "given up already": GaveUp(TimeoutError(), 4),
    "Ctrl-C": KeyboardInterrupt(),
    "exit": SystemExit(1),
    "hostile": Hostile(),
    "a code that is no status": named("ExitCode"),
    **{str(code): Status(code) for code in (400, 401, 403, 404, 409, 413, 422, 501, 505)},
}
LASTING["a code that is no status"].code = 7


@pytest.mark.parametrize("what", PASSING)
def test_what_may_pass_is_worth_a_second_try(what):
    assert worth_retrying(PASSING[what]) is True


@pytest.mark.parametrize("what", LASTING)
def test_what_will_not_pass_is_not(what):
    assert worth_retrying(LASTING[what]) is False


def test_the_status_wherever_a_client_keeps_it():
    assert status_of(Status(503)) == 503 and status_of(http_error(404)) == 404 and status_of(ProviderError("x", 429)) == 429
    assert status_of(SimpleNamespace(response=SimpleNamespace(status=500))) == 500
    for odd in (Exception(), Hostile(), SimpleNamespace(status_code=True), SimpleNamespace(status="503"), SimpleNamespace(response={"a": 1})):
        assert status_of(odd) is None


@pytest.mark.parametrize("said, seconds", [
    ("5", 5.0), ("0", 0.0), ("1.5", 1.5), (7, 7.0), (" 3 ", 3.0),
    (formatdate(NOW + 90, usegmt=True), 90.0), (formatdate(NOW - 90, usegmt=True), 0.0), ("Tue, 14 Nov 2023 22:14:20 -0000", 60.0),
    ("-5", None), ("nan", None), ("inf", None), ("soon", None), ("", None), (None, None), ([5], None), ("9" * 400, None),
    ("Tue, 99 Nov 2023 99:99:99 GMT", None),
])
def test_retry_after_in_seconds_or_as_a_date(said, seconds):
    for error in (Status(429, {"Retry-After": said}), http_error(429, {"retry-after": str(said)}) if isinstance(said, str) and said else Status(429, {"retry-after": said})):
        assert retry_after(error, NOW) == seconds


def test_retry_after_has_three_places():
    assert retry_after(Transient(retry_after=2.5), NOW) == 2.5
    assert retry_after(ProviderError("x", 429, 3.0), NOW) == 3.0
    assert retry_after(Status(429, {"retry-after-ms": "250", "retry-after": "1"}), NOW) == 0.25
    assert retry_after(None, NOW) is retry_after(Hostile(), NOW) is retry_after(TimeoutError(), NOW) is None


# ---- how long ---------------------------------------------------------------------------------------------------------

def patient(**more):
    """A Retry that sleeps on paper: (it, the waits)."""
    waits = []
    return Retry(**{"sleep": waits.append, "random": random.Random(1).random, "clock": lambda: NOW, **more}), waits


def failing(*errors, then="done"):
    """A function that raises these in turn and then returns: (it, its calls)."""
    left, calls = list(errors), []

    def fn(**arguments):
        calls.append(arguments)
        if left:
            raise left.pop(0)
        return then
    return fn, calls


def test_the_waits_double_up_to_the_cap():
    still = Retry(jitter=0, attempts=9, cap=20)
    assert [still.delay(n) for n in range(1, 8)] == [1, 2, 4, 8, 16, 20, 20]
    assert Retry(jitter=0, factor=1, base=3).delay(50) == 3
    assert Retry(jitter=0).delay(10_000) == 30      # 2 ** 9999 is no float


@given(st.integers(1, 3000), st.floats(0, 100), st.floats(1, 10), st.floats(0, 100), st.floats(0, 3), st.none() | st.floats(0, 1000),
       st.floats(0, 1, exclude_max=True))
def test_jitter_only_adds_and_never_goes_under_the_floor(attempt, base, factor, cap, jitter, asked, chance):
    policy = Retry(base=base, factor=factor, cap=cap, jitter=jitter, random=lambda: chance)
    still = Retry(base=base, factor=factor, cap=cap, jitter=0).delay(attempt)
    wait = policy.delay(attempt, Transient(retry_after=asked))
    assert wait >= max(still, asked or 0) and wait <= max(still, asked or 0) * (1 + jitter) * 1.000001
    assert still <= cap


@pytest.mark.parametrize("asked, least", [("12", 12), (formatdate(NOW + 40, usegmt=True), 40), ("0.2", 1)])
def test_case_job_ops_555_retry_after_is_a_floor(asked, least):
    policy, waits = patient(cap=2, longest=60)
    fn, calls = failing(Status(429, {"Retry-After": asked}))
    assert policy.call(fn) == "done" and len(calls) == 2
    assert least <= waits[0] <= 2 * least


def test_case_hermes_agent_109234_a_crowd_that_is_told_the_same_comes_back_at_different_times():
    policy = Retry(random=random.Random(3).random, cap=2)
    for error in (Status(429, {"Retry-After": "10"}), TimeoutError()):
        for attempt in (1, 2, 9):       # at the cap as well: a cap after the jitter would bring them together again
            waits = [policy.delay(attempt, error) for _ in range(500)]
            floor = policy.delay(attempt, error) and max(10 if isinstance(error, Status) else 0, min(2, 2 ** (attempt - 1)))
            assert min(waits) >= floor and max(waits) - min(waits) > 0.9 * floor and len(set(waits)) == 500


def test_a_wait_that_is_too_long_is_not_waited():
    policy, waits = patient(longest=60)
    fn, calls = failing(*[Status(429, {"Retry-After": "3600"})] * 9)
    with pytest.raises(GaveUp, match=r"^Status: HTTP 429 \(tried once; it asks for 3,600 s, more than the 60 s waited here\)$"):
        policy.call(fn)
    assert len(calls) == 1 and waits == []


# ---- how often ----------------------------------------------------------------------------------------------------------

@pytest.mark.parametrize("attempts", [1, 2, 4])
def test_the_attempts_are_counted_in_all_and_named_in_the_last_error(attempts):
    policy, waits = patient(attempts=attempts)
    last = TimeoutError("no answer")
    fn, calls = failing(*[ConnectionResetError()] * (attempts - 1), last)
    with pytest.raises(GaveUp) as caught:
        policy.call(fn)
    assert len(calls) == attempts and len(waits) == attempts - 1
    assert str(caught.value) == f"TimeoutError: no answer (tried {['', 'once', 'twice', '', '4 times'][attempts]})"
    assert caught.value.last is caught.value.__cause__ is last and caught.value.attempts == attempts


def test_case_crewAI_5392_a_try_that_fails_is_counted_before_it_is_tried():
    seen = []
    policy, waits = patient(attempts=3, on_retry=lambda attempt, error, wait: seen.append((attempt, type(error), wait)))
    fn, calls = failing(*itertools.repeat(TimeoutError(), 99))
    for n in (1, 2):        # and the next call starts from nothing
        with pytest.raises(GaveUp):
            policy.call(fn)
        assert len(calls) == 3 * n
    assert [s[:2] for s in seen] == [(1, TimeoutError), (2, TimeoutError)] * 2 and [s[2] for s in seen] == waits


def test_a_permanent_error_passes_at_once_and_unchanged():
    policy, waits = patient()
    error = KeyError("Z999")
    fn, calls = failing(TimeoutError(), error)
    with pytest.raises(KeyError) as caught:
        policy.call(fn)
    assert caught.value is error and len(calls) == 2 and len(waits) == 1


@pytest.mark.parametrize("through", [KeyboardInterrupt, SystemExit])
def test_ctrl_c_passes_through_a_call_and_a_wait(through):
    fn, calls = failing(through())
    with pytest.raises(through):
        patient()[0].call(fn)
    assert len(calls) == 1

    def sleep(seconds):
        raise through
    with pytest.raises(through):
        patient(sleep=sleep)[0].call(failing(TimeoutError())[0])


def test_layers_of_retries_do_not_multiply():
    inner, outer = patient()[0], patient()[0]
    fn, calls = failing(*[TimeoutError()] * 99)
    with pytest.raises(GaveUp):
        outer.call(inner.call, fn)
    assert len(calls) == 4


def test_arguments_may_have_any_name():
    fn, calls = failing(TimeoutError())
    assert patient()[0].call(fn, fn=1, self=2, attempt=3) == "done" and calls == [{"fn": 1, "self": 2, "attempt": 3}] * 2


@pytest.mark.parametrize("wrong", [{"attempts": 0}, {"attempts": True}, {"attempts": 2.5}, {"attempts": None}, {"base": -1}, {"factor": 0.5},
                                   {"cap": float("inf")}, {"jitter": -0.5}, {"jitter": float("nan")}, {"longest": "60"}, {"base": False}])
def test_settings_that_are_none_are_refused(wrong):
    with pytest.raises(ValueError, match=f"Retry: {next(iter(wrong))}"):
        Retry(**wrong)


def test_negative_jitter_is_refused_with_the_reason():
    with pytest.raises(ValueError, match="jitter only adds"):
        Retry(jitter=-0.1)


# ---- models ---------------------------------------------------------------------------------------------------------------

def test_a_model_that_recovers_costs_one_step():
    policy, waits = patient()
    model = ScriptedModel([ProviderError("429: slow down", 429, 2.0), call("look", n=1), ConnectionResetError(), TimeoutError(), "found"], name="m")
    look = Tool("look", "Look.", {"properties": {"n": {"type": "integer"}}}, lambda n: n)
    result = run(policy.wrap(model), [look], "find it")
    assert (result.status, result.steps, result.answer, model.calls) == ("done", 2, "found", 5)
    assert [m["role"] for m in result.messages] == ["user", "assistant", "tool", "assistant"] and len(waits) == 3 and waits[0] >= 2


def test_a_model_that_does_not_recover_ends_the_run_in_words():
    result = run(patient()[0].wrap(ScriptedModel([TimeoutError("no answer")], repeat=True)), [], "go")
    assert result.status == "model_error" and "TimeoutError: no answer (tried 4 times)" in result.report and result.steps == 1


def test_a_refused_request_is_not_sent_again():
    model = ScriptedModel([ProviderError("400: bad", 400)], repeat=True)
    assert run(patient()[0].wrap(model), [], "go").status == "model_error" and model.calls == 1


def test_the_model_stays_itself():
    policy = patient()[0]
    text = policy.wrap(TextModel(lambda messages: '{"final": "yes"}', name="t"))
    assert text.text_only is True and text.name == "t" and text([{"role": "user", "content": "x"}]).final_text == "yes"
    plain = policy.wrap(lambda messages, tools: Reply("hi"))
    assert getattr(plain, "text_only", False) is False and getattr(plain, "_nothing", 0) == 0
    with pytest.raises(TypeError, match="a model is a function"):
        policy.wrap("gpt")


# ---- tools ------------------------------------------------------------------------------------------------------------------

def test_a_read_is_retried_and_the_run_sees_one_call():
    fn, calls = failing(TimeoutError(), Transient("busy"), then={"item": "monitor"})
    read = Tool("get_order", "Look up.", {"properties": {"order_id": {"type": "string"}}}, fn, idempotent=True, parallel=True, poll=True)
    policy, waits = patient()
    retried = policy.tool(read)
    result = run(ScriptedModel([call("get_order", order_id="A123"), "a monitor"]), [retried], "what is it?")
    assert result.status == "done" and result.messages[2]["content"] == '{"item": "monitor"}'
    assert calls == [{"order_id": "A123"}] * 3 and len(waits) == 2
    assert retried.parallel and retried.poll and retried.definition == read.definition and read.fn is fn


def test_the_error_of_the_last_attempt_is_one_error_for_the_model():
    fn, calls = failing(*[TimeoutError("no answer")] * 99)
    read = patient()[0].tool(Tool("get_order", "Look up.", {"properties": {}}, fn, idempotent=True))
    result = run(ScriptedModel([call("get_order")], repeat=True), [read], "go", limits=Limits(max_errors=2))
    assert result.status == "error_limit" and len(calls) == 8
    assert result.messages[2]["content"] == "ERROR: get_order failed: GaveUp: TimeoutError: no answer (tried 4 times)"


def test_a_write_is_refused_when_it_is_wrapped_not_when_it_runs():
    @tool
    def pay(amount: int) -> str:
        """Pay."""
        return "paid"

    with pytest.raises(ValueError, match="pay is not retried: after a time-out nobody knows .* Mark it idempotent=True"):
        patient()[0].tool(pay)
    with pytest.raises(TypeError, match="takes a Tool"):
        patient()[0].tool(lambda: None)


def test_a_keyed_write_pays_once_although_the_answer_was_lost():
    paid = {}

    def pay(amount, key):
        first = key not in paid
        paid.setdefault(key, amount)
        if first:
            raise TimeoutError("no answer")     # after it has paid
        return "paid"

    keyed = patient()[0].tool(Tool("pay", "Pay.", {"properties": {}}, lambda amount: pay(amount, key="run-1/call-1"), idempotent=True))
    assert keyed.fn(amount=5) == "paid" and paid == {"run-1/call-1": 5}


@pytest.mark.parametrize("timeout", [None, 5])
def test_every_attempt_of_a_call_has_the_same_idempotency_key_and_every_call_its_own(timeout):
    keys = []

    def pay(n):
        keys.append(idempotency_key())
        if len(keys) in (1, 2, 4):
            raise TimeoutError("no answer")
        return "paid"

    keyed = Tool("pay", "Pay.", {"properties": {"n": {"type": "integer"}}}, pay, idempotent=True, timeout=timeout)
    result = run(ScriptedModel([call("pay", n=1), call("pay", n=1), "done"]), [patient()[0].tool(keyed)], "go")
    assert result.status == "done" and None not in keys
    assert keys == [keys[0]] * 3 + [keys[3]] * 2 and keys[0] != keys[3]


def test_the_signature_is_still_checked():
    @tool(idempotent=True)
    def get(order_id: str) -> str:
        """Get."""
        return order_id

    result = run(ScriptedModel([call("get", id="A"), "done"]), [patient()[0].tool(get)], "go")
    assert "missing required argument 'order_id'" in result.messages[2]["content"]


def test_the_time_out_holds_for_each_attempt():
    gate, began = threading.Event(), []

    def slow():
        began.append(1)
        if len(began) < 3:
            gate.wait(10)
        return "at last"

    hanging = Tool("slow", "Slow.", {"properties": {}}, slow, idempotent=True, timeout=0.03)
    policy, waits = patient()
    retried = policy.tool(hanging)
    assert retried.timeout is None and hanging.timeout == 0.03
    try:
        assert run(ScriptedModel([call("slow"), "done"]), [retried], "go").messages[2]["content"] == "at last"
    finally:
        gate.set()
    assert len(began) == 3 and len(waits) == 2
