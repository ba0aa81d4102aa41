"""What the harness costs: CPU milliseconds per step of run(), of mini.run, and of a bare loop that does the same checks.

    python benchmarks/loop.py           up to 10,000 steps
    python benchmarks/loop.py 1000      up to 1,000

The three take turns, so that a busy machine disturbs all of them alike. Nothing is asserted: read the ratios.
"""

import json
import sys
import time
from statistics import median
from types import SimpleNamespace

from jsonschema import Draft202012Validator

from agentkit import Limits, Price, Reply, ToolCall, Usage, mini, run, tool

USAGE = Usage(900, 60, 100)
ALL = dict(max_steps=None, max_tool_calls=10**9, budget_tokens=10**12, budget_usd=10.0**9, max_seconds=10.0**9, max_repeats=3, max_errors=10**9)


@tool
def look_up(item: str, shelf: int) -> dict:
    """Look up one thing on a shelf."""
    return {"item": item, "shelf": shelf, "left": 3}


def count(text):
    return max(1, len(text) // 4)


def model_of(steps):
    """A model that asks for one tool call a step, and then answers."""
    made = iter(range(steps))

    def model(messages, tools):
        n = next(made, None)
        if n is None:
            return Reply("done", usage=USAGE)
        return Reply("I look it up.", (ToolCall(f"id_{n}", "look_up", f'{{"item": "thing {n}", "shelf": {n}}}'),), USAGE)

    return model


def no_twice(pairs):
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("a key stands twice")
    return found


def no_number(word):
    raise ValueError(f"{word} is no JSON number")


strict = json.JSONDecoder(parse_constant=no_number, object_pairs_hook=no_twice).decode


def bare(model, tools, task, limits, price):
    """The same checks with no structure at all: JSON, schema, ids, texts, every limit, tokens counted by what is new, an event for each move."""
    by_name = {t.name: (t.fn, Draft202012Validator(t.schema)) for t in tools}
    definitions = [t.definition for t in tools]
    messages, events, ids, history = [{"role": "user", "content": task}], [], set(), []
    prompt, tokens, usd, calls, errors, start = count(json.dumps(definitions)) + count(task), 0, 0.0, 0, 0, time.monotonic()
    while True:
        if (
            tokens + prompt > limits["budget_tokens"]
            or usd + price.of(prompt) > limits["budget_usd"]
            or time.monotonic() - start > limits["max_seconds"]
        ):
            return SimpleNamespace(status="stopped", messages=messages)
        reply = model(messages, definitions)
        if reply.stop_reason in ("length", "max_tokens", "refusal", "content_filter"):
            return SimpleNamespace(status="stopped", messages=messages)
        message = {"role": "assistant", "content": reply.text}
        if reply.tool_calls:
            message["tool_calls"] = [
                {"id": c.id, "type": "function", "function": {"name": c.name, "arguments": c.arguments}} for c in reply.tool_calls
            ]
        messages.append(message)
        prompt += count(reply.text) + sum(count(c.name + c.arguments) for c in reply.tool_calls)
        tokens += reply.usage.input_tokens + reply.usage.output_tokens + reply.usage.cached_tokens
        usd += price.of(reply.usage.input_tokens, reply.usage.output_tokens, reply.usage.cached_tokens)
        events.append({"kind": "reply", "message": message, "usage": reply.usage, "stop_reason": reply.stop_reason})
        if not reply.tool_calls:
            return SimpleNamespace(status="done", messages=messages)
        seen = []
        for c in reply.tool_calls:
            if c.id in ids or calls >= limits["max_tool_calls"] or time.monotonic() - start > limits["max_seconds"]:
                return SimpleNamespace(status="stopped", messages=messages)
            ids.add(c.id)
            calls += 1
            fn, validator = by_name[c.name]
            try:
                arguments = strict(c.arguments)
                if error := next(validator.iter_errors(arguments), None):
                    raise error
                events.append({"kind": "call", "id": c.id, "name": c.name, "arguments": arguments})
                value = fn(**arguments)
                text, wrong = json.dumps(value), isinstance(value, dict) and value.get("error")
            except Exception as error:
                text, wrong = f"ERROR: {error}", True
            text = (text if text.isascii() else text.encode("utf-8", "replace").decode()) if text.strip() else "(no output)"
            errors += bool(wrong)
            if errors > limits["max_errors"]:
                return SimpleNamespace(status="stopped", messages=messages)
            messages.append({"role": "tool", "tool_call_id": c.id, "name": c.name, "content": text[:20_000]})
            prompt += count(text)
            events.append({"kind": "result", "id": c.id, "name": c.name, "content": text, "error": bool(wrong)})
            seen.append((c.name, json.dumps(arguments, sort_keys=True), text))
        history.append(seen)
        if any(len(history) >= 3 * p and history[-p:] == history[-2 * p : -p] == history[-3 * p : -2 * p] for p in (1, 2, 3)):
            return SimpleNamespace(status="stopped", messages=messages)


PRICE = Price(3, 15, 0.3)
LOOPS = {
    "bare": lambda steps: bare(model_of(steps), [look_up], "go", ALL, PRICE),
    "mini.run": lambda steps: mini.run(model_of(steps), [look_up], "go", price=(3, 15), count_tokens=count, **ALL),
    "run": lambda steps: run(model_of(steps), [look_up], "go", limits=Limits(**ALL), prices=PRICE, count_tokens=count),
}


def ms_per_step(loop, steps):
    before = time.process_time()
    result = loop(steps)
    spent = time.process_time() - before
    assert result.status == "done" and len(result.messages) == 2 * steps + 2, "a loop that stopped early measures nothing"
    return 1000 * spent / steps


def main(most=10_000):
    print(
        f"{'steps':>7}" + "".join(f"{name:>12}" for name in LOOPS) + "   CPU ms a step" + "".join(f"{name:>12}" for name in LOOPS) + "   times bare"
    )
    for steps in (n for n in (10, 100, 1_000, 10_000) if n <= most):
        rounds = max(5, 3_000 // steps)
        taken = {name: [] for name in LOOPS}
        for _ in range(rounds):
            for name, loop in LOOPS.items():
                taken[name].append(ms_per_step(loop, steps))
        middle = {name: median(found) for name, found in taken.items()}
        print(
            f"{steps:>7,}"
            + "".join(f"{middle[name]:>12.4f}" for name in LOOPS)
            + " " * 16
            + "".join(f"{median(a / b for a, b in zip(taken[name], taken['bare'])):>12.2f}" for name in LOOPS),
            flush=True,
        )


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
