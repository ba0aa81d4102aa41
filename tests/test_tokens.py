"""Counting and prices: what is sent is what is counted, once, with no network."""

import json
import os
import socket

import pytest

from agentkit import Limits, Price, Reply, ScriptedModel, TextModel, Usage, call, count_tokens, run
from agentkit.tokens import Meter, encoder, install_ranks, price_for, rough_tokens
from harness import add, counting


# ---- tiktoken ---------------------------------------------------------------------------------------------------------------


@pytest.fixture
def no_network(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("the network was asked")

    monkeypatch.setattr(socket, "create_connection", refuse)
    monkeypatch.setattr(socket.socket, "connect", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.mark.parametrize("encoding, text, tokens", [("o200k_base", "hello there, world", 4), ("cl100k_base", "tiktoken is great!", 6)])
def test_it_counts_with_no_network_and_an_empty_cache(no_network, monkeypatch, tmp_path, encoding, text, tokens):
    import tiktoken.registry

    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(tiktoken.registry, "ENCODINGS", {})
    encoder.cache_clear()
    assert count_tokens(text, encoding) == tokens
    assert len(list(tmp_path.iterdir())) == 1
    encoder.cache_clear()


def test_the_ranks_are_written_whole_and_once(tmp_path, monkeypatch):
    monkeypatch.setenv("TIKTOKEN_CACHE_DIR", str(tmp_path))
    assert install_ranks("cl100k_base") == tmp_path
    (path,) = tmp_path.iterdir()
    before = path.stat().st_mtime_ns
    install_ranks("cl100k_base")
    assert path.stat().st_mtime_ns == before and os.path.getsize(path) > 1_000_000


def test_markers_are_plain_text():
    assert count_tokens("<|endoftext|>") > 1
    assert encoder().decode(encoder().encode("<|endoftext|>", disallowed_special=())) == "<|endoftext|>"


@pytest.mark.parametrize("text, tokens", [("", 1), ("abc", 1), ("x" * 8, 2), ("x" * 11, 2)])
def test_the_rule_of_thumb(text, tokens):
    assert rough_tokens(text) == tokens


# ---- what is counted ----------------------------------------------------------------------------------------------------------


def test_a_native_model_is_sent_content_calls_and_definitions():
    arguments = {"a": 1, "b": 2}
    result = run(ScriptedModel([["hm", call("add", **arguments)], "three"]), [add], "go", system="sys", count_tokens=len)
    definitions = len(json.dumps([add.definition]))
    first_in = definitions + len("sys") + len("go")
    first_out = len("hm") + len("add" + json.dumps(arguments))
    second_in = first_in + first_out + len("3")
    assert result.usage == Usage(first_in + second_in, first_out + len("three"), estimated=True)


def test_a_text_model_is_sent_content_alone():
    said = iter(['{"tool": "add", "args": {"a": 1, "b": 2}}', '{"final": "three"}'])
    result = run(TextModel(lambda messages: next(said)), [add], "go", count_tokens=len)
    assert result.usage == Usage(2 + (2 + 41 + 1), 41 + 18, estimated=True)


def test_without_tools_no_definitions_are_counted():
    assert run(ScriptedModel(["yes"]), [], "go", count_tokens=len).usage == Usage(2, 3, estimated=True)


def test_each_text_is_counted_once_however_long_the_run():
    counted = []

    def count(text):
        counted.append(text)
        return len(text)

    ping, _ = counting(returns=lambda n: f"pong {n}")
    steps = 50
    run(ScriptedModel([call("ping")], repeat=True), [ping], "go", limits=Limits(max_steps=steps), count_tokens=count)
    assert len(counted) == 2 + 2 * steps, "the definitions, the task, and two texts a step"


def test_a_text_that_the_counter_cannot_take_is_estimated():
    def count(text):
        raise ValueError("what is this?")

    assert run(ScriptedModel(["yes it is"]), [], "go there", count_tokens=count).usage == Usage(2, 2, estimated=True)


# ---- what is reported ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "told, expected",
    [
        (None, Usage(10, 3, estimated=True)),
        (Usage(100, 20), Usage(100, 20)),
        (Usage(100, 20, 30), Usage(100, 20, 30)),
        (Usage(0, 0), Usage(10, 3, estimated=True)),  # a streamed "0" is no report
        (Usage(None, None), Usage(10, 3, estimated=True)),
        (Usage(100, None), Usage(100, 3, estimated=True)),
        (Usage(None, 20), Usage(10, 20, estimated=True)),
        (Usage(None, 20, 4), Usage(6, 20, 4, estimated=True)),  # what was cached is part of the prompt that we count
        (Usage(None, 20, 40), Usage(0, 20, 40, estimated=True)),
        (Usage(0, 5), Usage(0, 5)),
        (Usage(100, 20, cost_usd=0.5), Usage(100, 20, cost_usd=0.5)),
        (Usage(100, None, cost_usd=0.5), Usage(100, 3, cost_usd=0.5, estimated=True)),
        (Usage(100, 20, estimated=True), Usage(100, 20, estimated=True)),
    ],
)
def test_a_report_beats_an_estimate_and_no_report_is_no_zero(told, expected):
    assert Meter(len).usage(Reply("yes", usage=told), 10, 3) == expected


def test_one_estimate_marks_the_whole_run():
    ping, _ = counting()
    exact = [Reply(tool_calls=[call("ping")], usage=Usage(5, 1)), Reply("yes", usage=Usage(9, 1))]
    assert run(ScriptedModel(exact), [ping], "go").usage == Usage(14, 2)
    assert run(ScriptedModel([exact[0], "yes"]), [ping], "go").usage.estimated


# ---- prices -------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("price, bill", [(Price(3, 15), 11.1), (Price(3, 15, 0.3), 8.4), (Price(3, 15, 0), 8.1), (Price(0, 0), 0)])
def test_three_buckets_are_billed_once_each(price, bill):
    assert price.of(700_000, 400_000, 1_000_000) == pytest.approx(bill)


@pytest.mark.parametrize("wrong", [(-1, 1), (1, -1), (True, 1), ("3", 1), (1, None), (float("nan"), 1), (1, 1, float("inf")), (1, 1, True)])
def test_a_price_is_a_number_of_at_least_0(wrong):
    with pytest.raises(ValueError, match="USD per million tokens"):
        Price(*wrong)


def test_a_price_is_found_by_the_models_name():
    cheap, dear = Price(1, 1), Price(9, 9)
    model = ScriptedModel(["yes"], name="small")
    assert price_for(model, {"small": cheap, "large": dear}) is cheap
    assert price_for(model, dear) is dear
    assert price_for(model, {"large": dear}) is None and price_for(model, None) is None
    assert run(ScriptedModel([Reply("yes", usage=Usage(1_000_000, 0))], name="small"), [], "go", prices={"small": cheap}).usage.cost_usd == 1


@pytest.mark.parametrize("prices", [3, (3, 15), {"small": (3, 15)}])
def test_what_is_no_price_is_refused_before_the_run(prices):
    with pytest.raises(TypeError, match="Price"):
        run(ScriptedModel(["yes"], name="small"), [], "go", prices=prices)


def test_cached_tokens_are_counted_and_billed_once():
    reply = Reply("yes", usage=Usage(200, 100, 800))
    result = run(ScriptedModel([reply]), [], "go", prices=Price(10, 20, 1))
    assert result.usage.total_tokens == 1_100
    assert result.usage.cost_usd == pytest.approx((200 * 10 + 100 * 20 + 800 * 1) / 1e6)


def test_the_cost_is_unknown_without_a_price_unless_the_provider_says_it():
    assert run(ScriptedModel(["yes"]), [], "go").usage.cost_usd is None
    assert run(ScriptedModel([Reply("yes", usage=Usage(1, 1, cost_usd=0.25))]), [], "go").usage.cost_usd == 0.25
    assert run(ScriptedModel([Reply("yes", usage=Usage(1, 1, cost_usd=0.25))]), [], "go", prices=Price(1, 1)).usage.cost_usd == 0.25
