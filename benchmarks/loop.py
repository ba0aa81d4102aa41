"""What the harness costs: CPU time and memory per step of run(), of mini.run, and of a bare loop that does the same checks.

    python benchmarks/loop.py           up to 10,000 steps
    python benchmarks/loop.py 1000      up to 1,000

They take turns, so that a busy machine disturbs all of them alike. Nothing is asserted of times: read the ratios.

Three schemas, since agentkit checks plain arguments with simple bounds at a glance and leaves any other schema to
jsonschema. A bare loop that validates with jsonschema does more than run() on the first two; "bare, glance" does the
same, and on the schema with a pattern both use jsonschema. mini.run knows types only.
"""

import gc
import json
import sys
import time
import tracemalloc
from pathlib import Path
from statistics import median
from types import SimpleNamespace

from jsonschema import Draft202012Validator

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from agentkit import Limits, Price, Reply, Tool, ToolCall, Usage, mini, run, tool

USAGE = Usage(900, 60, 100)
ALL = dict(max_steps=None, max_tool_calls=10**9, budget_tokens=10**12, budget_usd=10.0**9, max_seconds=10.0**9, max_repeats=3, max_errors=10**9)
PRICE = Price(3, 15, 0.3)


@tool
def look_up(item: str, shelf: int) -> dict:
    """Look up one thing on a shelf."""
    return {"item": item, "shelf": shelf, "left": 3}


BOUNDED = Tool("look_up", look_up.description, {
    "type": "object", "properties": {"item": {"type": "string", "minLength": 1}, "shelf": {"type": "integer", "minimum": 0}},
    "required": ["item", "shelf"], "additionalProperties": False}, look_up.fn)
PATTERN = Tool("look_up", look_up.description, {
    "type": "object", "properties": {"item": {"type": "string", "pattern": "^thing"}, "shelf": {"type": "integer"}},
    "required": ["item", "shelf"], "additionalProperties": False}, look_up.fn)


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


def by_schema(tool):
    """What is wrong with arguments, by a validator that was built once."""
    validator = Draft202012Validator(tool.schema)
    return lambda arguments: next(validator.iter_errors(arguments), None)


def by_glance(tool):
    """What is wrong with arguments where the schema names nothing but types."""
    kinds = {name: {"string": (str,), "integer": (int,)}[wanted["type"]] for name, wanted in tool.schema["properties"].items()}
    needed = tool.schema["required"]

    def check(arguments):
        for name, value in arguments.items():
            if type(value) not in kinds.get(name, ()):
                return TypeError(name)
        return None if all(name in arguments for name in needed) else KeyError(needed)

    return check


strict = json.JSONDecoder(parse_constant=no_number, object_pairs_hook=no_twice).decode


def bare(model, tools, task, limits, price, check_of=by_schema, count=count):
    """The same checks with no structure at all: JSON, schema, ids, texts, every limit, tokens counted by what is new, an event for each move."""
    by_name = {t.name: (t.fn, check_of(t)) for t in tools}
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
            fn, check = by_name[c.name]
            try:
                arguments = strict(c.arguments)
                if error := check(arguments):
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


LOOPS = {
    "bare": lambda steps, tool: bare(model_of(steps), [tool], "go", ALL, PRICE),
    "bare, glance": lambda steps, tool: bare(model_of(steps), [tool], "go", ALL, PRICE, by_glance),
    "mini.run": lambda steps, tool: mini.run(model_of(steps), [tool], "go", price=(3, 15), count_tokens=count, **ALL),
    "run": lambda steps, tool: run(model_of(steps), [tool], "go", limits=Limits(**ALL), prices=PRICE, count_tokens=count),
}
SCHEMAS = {
    "a flat schema: types and nothing else": (look_up, list(LOOPS)),
    "a schema with bounds: minimum, minLength": (BOUNDED, [name for name in LOOPS if name != "bare, glance"]),
    "a schema with a pattern: jsonschema in both": (PATTERN, [name for name in LOOPS if name != "bare, glance"]),
}


def whole(result, steps):
    assert result.status == "done" and len(result.messages) == 2 * steps + 2, "a loop that stopped early measures nothing"


def ms_per_step(loop, steps, tool):
    before = time.process_time()
    result = loop(steps, tool)
    spent = time.process_time() - before
    whole(result, steps)
    return 1000 * spent / steps


def kb_per_step(loop, steps, tool):
    """The peak of what the run had allocated and kept, its result included."""
    gc.collect()
    tracemalloc.start()
    result = loop(steps, tool)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    whole(result, steps)
    return peak / 1024 / steps


def table(title, tool, names, most):
    compared = [name for name in names if name.startswith("bare")]
    ratios = [(one, other) for other in compared for one in names if not one.startswith("bare")]
    print(f"\n{title}\n{'':>7}  {'CPU ms a step':<{13 * len(names)}}{'times as much':<{26 * len(ratios)}}KB a step")
    print(f"{'steps':>7}" + "".join(f"{name:>13}" for name in names) + "".join(f"{f'{a} / {b}':>26}" for a, b in ratios) + "".join(f"{n:>13}" for n in names))
    for steps in (n for n in (10, 100, 1_000, 10_000) if n <= most):
        taken = {name: [] for name in names}
        for _ in range(max(5, 3_000 // steps)):
            for name in names:
                taken[name].append(ms_per_step(LOOPS[name], steps, tool))
        print(f"{steps:>7,}" + "".join(f"{median(taken[name]):>13.4f}" for name in names)
              + "".join(f"{median(x / y for x, y in zip(taken[a], taken[b])):>26.2f}" for a, b in ratios)
              + "".join(f"{kb_per_step(LOOPS[name], steps, tool):>13.2f}" for name in names), flush=True)


def main(most=10_000):
    for title, (tool, names) in SCHEMAS.items():
        table(title, tool, names, most)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000)
