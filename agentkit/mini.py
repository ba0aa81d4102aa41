"""The whole agent loop on its own, with nothing from the rest of agentkit: what you would write in a coding round.

A model is `model(messages, tools) -> reply` with .text, .tool_calls (each with .id, .name, .arguments), .stop_reason and .usage
(None, or .input_tokens and .output_tokens). A tool has .name, .description, .schema and .fn; flags are optional.
"""

import json
import time
from types import SimpleNamespace
TYPES = {"string": str, "number": (int, float), "integer": int, "boolean": bool, "array": list, "object": dict, "null": type(None)}


def check(args, tool):
    """The first thing wrong with the arguments, or None."""
    if not isinstance(args, dict):
        return "the arguments must be one JSON object"
    props = tool.schema.get("properties", {})
    for key in tool.schema.get("required", ()):
        if key not in args:
            return f"missing required argument '{key}'"
    for key, value in args.items():
        if key not in props:
            return f"unknown argument '{key}'"
        kind = props[key].get("type")
        if isinstance(kind, str) and (not isinstance(value, TYPES[kind]) or (isinstance(value, bool) and kind != "boolean")):
            return f"argument '{key}' must be {kind}"


def parse(call, tools):
    """(tool, arguments, None) of a call that may run, or (None, arguments or None, the error for the model)."""
    tool = tools.get(call.name)
    if tool is None:
        return None, None, f"ERROR: there is no tool {call.name!r}. Available tools: {', '.join(tools)}"
    try:
        args = json.loads(call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments), parse_constant=int)
        problem = check(args, tool)
    except Exception as e:                                      # int("NaN") raises too: NaN is no JSON
        args, problem = None, f"the arguments are not valid JSON ({e})"
    hint = f"{tool.name} expects {json.dumps(tool.schema.get('properties', {}))}"
    return (tool, args, None) if problem is None else (None, args, f"ERROR: {problem}. {hint}")


def execute(tool, args):
    """(text, is it an error): a tool that raises must not end the loop."""
    try:
        value = tool.fn(**args)
        text, bad = value if isinstance(value, str) else json.dumps(value, default=str), isinstance(value, dict) and bool(value.get("error"))
    except Exception as e:
        text, bad = f"ERROR: {tool.name} failed: {type(e).__name__}: {e}", True
    return text[:20_000].encode("utf-8", "replace").decode() if text.strip() else "(no output)", bad


def looping(history, times):
    """True when the last steps are one block of one, two or three steps, `times` times over."""
    return any(history[-p * times:] == history[-p:] * times for p in (1, 2, 3) if len(history) >= p)


def run(model, tools, task, *, system="", max_steps=10, max_tool_calls=None, budget_tokens=None, budget_usd=None, max_seconds=None,
        max_repeats=3, max_errors=None, reserve=None, approve=None, count_tokens=None, price=None, clock=time.monotonic):
    """Call the model, run what it asks for, feed the results back, until it answers or a limit stops it."""
    if budget_usd is not None and price is None:
        raise ValueError("budget_usd needs price=(input, output) in USD per million tokens")
    tools = {t.name: t for t in tools}
    specs = [{"type": "function", "function": {"name": t.name, "description": t.description, "parameters": t.schema}} for t in tools.values()]
    count = count_tokens or (lambda text: max(1, len(text) // 4))
    ahead = count_tokens is not None or reserve is not None
    messages = [{"role": "system", "content": system}] if system.strip() else []
    messages.append({"role": "user", "content": task})
    start, steps, n_calls, errors, tokens_in, tokens_out = clock(), 0, 0, 0, 0, 0
    prompt = sum(count(m["content"]) for m in messages) + (count(json.dumps(specs)) if specs else 0)
    used, history, nudged = set(), [], False

    def usd(tokens_in, tokens_out):
        return (tokens_in * price[0] + tokens_out * price[1]) / 1e6 if price else None

    def result(status, answer=None, pending=()):
        return SimpleNamespace(status=status, answer=answer, messages=messages, steps=steps, pending=tuple(pending), errors=errors,
                               tool_calls=n_calls, input_tokens=tokens_in, output_tokens=tokens_out, cost_usd=usd(tokens_in, tokens_out))

    def append(message):
        nonlocal prompt
        texts = [message["content"], *(c["function"]["name"] + c["function"]["arguments"] for c in message.get("tool_calls", ()))]
        size = sum(count(text) for text in texts if text)
        messages.append(message)
        prompt += size
        return size

    def over(limit, spent, need=0):
        return limit is not None and (spent >= limit or spent + need > limit)

    while True:
        need = (prompt, reserve or 0) if ahead else (0, 0)      # every budget is asked before it is spent
        for status, hit in (("step_limit", over(max_steps, steps)), ("time_limit", over(max_seconds, clock() - start)),
                            ("token_budget", over(budget_tokens, tokens_in + tokens_out, sum(need))),
                            ("cost_budget", over(budget_usd, usd(tokens_in, tokens_out), usd(*need)))):
            if hit:
                return result(status)
        steps += 1
        try:
            reply = model(messages, specs)                      # 1. the model decides
            text, calls = reply.text, list(reply.tool_calls)
        except Exception:
            return result("model_error")
        text = text if (text or "").strip() else None
        sent, blank = prompt, not calls and text is None
        for i, c in enumerate(calls):                           # one id for each call, whatever the model sent
            fresh = c.id if c.id and isinstance(c.id, str) and c.id not in used else next(
                name for n in range(len(used) + 1, 2 * len(used) + 2) if (name := f"call_{n}") not in used)
            calls[i] = used.add(fresh) or SimpleNamespace(id=fresh, name=c.name, arguments=c.arguments)
        message = {"role": "assistant", "content": text}
        if calls:
            message["tool_calls"] = [{"id": c.id, "type": "function", "function": {"name": c.name, "arguments":
                                      c.arguments if isinstance(c.arguments, str) else json.dumps(c.arguments, default=str)}} for c in calls]
        written = 0 if blank else append(message)               # 2. its reply joins the list
        usage = reply.usage or SimpleNamespace(input_tokens=sent, output_tokens=written)
        tokens_in, tokens_out = tokens_in + usage.input_tokens, tokens_out + usage.output_tokens
        cut = {"length": "truncated", "max_tokens": "truncated", "refusal": "refused", "content_filter": "refused"}.get(reply.stop_reason)
        if cut:                                                 # nothing of half a reply runs
            for c in calls:
                append({"role": "tool", "tool_call_id": c.id, "name": c.name, "content": f"ERROR: not run: the reply was {cut}"})
            return result(cut)
        if blank:
            if nudged:
                return result("empty_reply")
            nudged = append({"role": "user", "content": "Your reply was empty. Call a tool, or answer in text."}) is not None
            continue
        if not calls:
            return result("done", text)
        parsed, nudged = [parse(c, tools) for c in calls], False
        risky = [c for c, (tool, _, _) in zip(calls, parsed) if getattr(tool, "needs_approval", False)]
        said = {c.id: approve(c) for c in risky} if approve else {}
        if pending := [c for c in risky if said.get(c.id) is None]:
            return result("waiting_for_approval", pending=pending)
        stop, seen = None, []
        for c, (tool, args, problem) in zip(calls, parsed):     # 3. your code runs the tools
            stop = stop or ("tool_call_limit" if over(max_tool_calls, n_calls) else
                            "time_limit" if over(max_seconds, clock() - start) else None)
            rejected = "ERROR: a person rejected this action" if said.get(c.id, True) is not True else None
            content, bad = (f"ERROR: not run: the run stopped ({stop})", False) if stop else (problem or rejected, bool(problem))
            if content is None:
                content, bad = execute(tool, args)
            n_calls, errors = n_calls + (stop is None), errors + bad
            if bad and max_errors is not None and errors >= max(1, max_errors):
                stop = "error_limit"
            append({"role": "tool", "tool_call_id": c.id, "name": c.name, "content": content})    # 4. feed it back
            key = str(c.arguments) if args is None else json.dumps(args, sort_keys=True)
            seen.append((c.name, key, object() if getattr(tool, "poll", False) else content))
        history.append(seen)
        if stop or max_repeats is not None and looping(history, max(1, max_repeats)):
            return result(stop or "repeated_call")
