"""The exercises of notebook 04, the loop."""

import json

from ..exercise import Case, Exercise, Trap

TITLE = "The loop"

# ---- 04-1: read a decision -------------------------------------------------------------------------------------------

_DECIDE_STUB = '''
def read_decision(reply):
    """("final", text), ("act", name, args) or ("error", None) for one reply of the model."""
    ...
'''
_DECIDE = '''
import json

def read_decision(reply):
    """("final", text), ("act", name, args) or ("error", None) for one reply of the model."""
    try:
        decision = json.loads(reply)
    except ValueError:
        return ("error", None)
    if not isinstance(decision, dict):
        return ("error", None)
    if "final" in decision:
        return ("final", decision["final"])
    if "tool" in decision:
        return ("act", decision["tool"], decision.get("args"))
    return ("error", None)
'''


def _decide_cases(rng):
    order = f"A{rng.randrange(100, 999)}"
    return [
        Case((json.dumps({"final": f"Order {order} is late."}),), ("final", f"Order {order} is late."), because="a reply with \"final\" is the answer"),
        Case((json.dumps({"tool": "get_order", "args": {"order_id": order}}),), ("act", "get_order", {"order_id": order}),
             because="a reply with \"tool\" asks you to act"),
        Case(("First I would look up the order.",), ("error", None), because="prose is no JSON: json.loads raises ValueError, and the loop must not"),
        Case(("[1, 2]",), ("error", None), because="valid JSON need not be an object"),
        Case(('{"thought": "hm"}',), ("error", None), because="an object with neither \"tool\" nor \"final\" decides nothing"),
        Case((json.dumps({"tool": "list_orders"}),), ("act", "list_orders", None),
             because="args may be missing; pass on None and let the check of the arguments speak, do not invent {}"),
    ]


# ---- 04-2: the loop ----------------------------------------------------------------------------------------------------

_LOOP_STUB = '''
def my_loop(model, execute, messages, max_steps):
    """Run until the model gives a final answer or max_steps model calls are made.

    Returns (status, answer): ("done", text) or ("step_limit", None). `messages` grows in place.
    `execute(name, args)` returns the result of a tool as text and never raises.
    """
    ...
'''
_LOOP = '''
import json

def my_loop(model, execute, messages, max_steps):
    for step in range(max_steps):
        reply = model(messages)
        messages.append({"role": "assistant", "content": reply})
        decision = json.loads(reply)
        if "final" in decision:
            return ("done", decision["final"])
        result = execute(decision["tool"], decision["args"])
        messages.append({"role": "tool", "content": result})
    return ("step_limit", None)
'''


def _rig(script):
    """A model that reads its script from the list itself, so that it can be copied and asked afresh."""
    seen = []

    def model(messages):
        seen.append([dict(m) for m in messages])
        return script[min(len(seen) - 1, len(script) - 1)]

    def execute(name, args):
        ran.append((name, args))
        return f"{name} gives {sorted(args.values())}"

    ran = []
    model.seen, execute.ran = seen, ran
    return model, execute


def _loop_case(script, max_steps, status, calls, because):
    replies = [json.dumps(s) for s in script]

    def make():
        model, execute = _rig(replies)
        return model, execute, [{"role": "user", "content": "Go."}], max_steps

    def test(result, args):
        model, execute, messages, _ = args
        if len(model.seen) != calls:
            return f"{calls} model calls, not {len(model.seen)}"
        if result != status:
            return f"{status!r}"
        asked = [s for s in script[:calls] if "tool" in s]
        asked += [script[-1]] * (calls - len(script)) if "tool" in script[-1] else []
        if [name for name, _ in execute.ran] != [s["tool"] for s in asked]:
            return f"these tools to run, in this order: {[s['tool'] for s in asked]}"
        expected = [{"role": "user", "content": "Go."}]
        for k in range(calls):
            reply = replies[min(k, len(replies) - 1)]
            expected.append({"role": "assistant", "content": reply})
            decision = json.loads(reply)
            if "tool" in decision:
                expected.append({"role": "tool", "content": f"{decision['tool']} gives {sorted(decision['args'].values())}"})
        if messages != expected:
            return "the list to hold: " + ", ".join(m["role"] for m in expected) + "; it holds: " + ", ".join(str(m.get("role")) for m in messages)
        return None

    return Case(make, test=test, because=because)


def _loop_cases(rng):
    a, b = rng.randrange(10, 99), rng.randrange(10, 99)
    look, add = {"tool": "look", "args": {"x": a}}, {"tool": "add", "args": {"x": a, "y": b}}
    return [
        _loop_case([{"final": f"It is {a}."}], 3, ("done", f"It is {a}."), 1, "a final answer ends the run; the reply still joins the list"),
        _loop_case([look, {"final": "ok"}], 3, ("done", "ok"), 2, "each pass: call the model, append its reply, run the tool, append the result"),
        _loop_case([look, add, {"final": f"{b}"}], 5, ("done", f"{b}"), 3, "the model reads the list: what is not appended did not happen for it"),
        _loop_case([look], 4, ("step_limit", None), 4, "max_steps counts model calls: exactly that many, no more and no fewer"),
        _loop_case([look, {"final": "just in time"}], 2, ("done", "just in time"), 2, "the last step allowed may still bring the answer"),
        _loop_case([look], 0, ("step_limit", None), 0, "with no steps allowed the model is not called at all"),
    ]


def _loop_variant(old, new):
    assert old in _LOOP
    return _LOOP.replace(old, new)


# ---- 04-3: find the bug in this trace --------------------------------------------------------------------------------

_BUG_CASES = [Case(test=lambda value, args: None if str(value).strip().lower() == "c" else 'one letter, the cause: look at what the model is sent at step 2')]

EXERCISES = [
    Exercise(
        id="04-1", title="Read a decision", difficulty=1, minutes=5, name="read_decision", stub=_DECIDE_STUB, solution=_DECIDE, cases=_decide_cases,
        task='Write `read_decision(reply)` for replies that are JSON text: `{"tool": name, "args": {...}}` acts, `{"final": text}` ends, anything else is an error. '
             "It never raises.",
        hints=["Three questions, in this order: is it JSON? is it an object? which key does it have?",
               'json.loads raises ValueError for prose, and happily returns a list for "[1, 2]".'],
        traps=[
            Trap('import json\ndef read_decision(reply):\n    d = json.loads(reply)\n    if "final" in d: return ("final", d["final"])\n'
                 '    if "tool" in d: return ("act", d["tool"], d.get("args"))\n    return ("error", None)\n',
                 "Your function raises when the model writes prose. A model will, sooner or later, and then the run dies with a traceback."),
            Trap('import json\ndef read_decision(reply):\n    try: d = json.loads(reply)\n    except ValueError: return ("error", None)\n'
                 '    if not isinstance(d, dict): return ("error", None)\n    if "final" in d: return ("final", d["final"])\n'
                 '    if "tool" in d: return ("act", d["tool"], d.get("args", {}))\n    return ("error", None)\n',
                 "You turned missing args into {}. That is a guess about what the model meant; pass None on and let the check refuse it."),
        ],
        after="This is the whole of parsing. A provider's API does it for you and hands you structured fields; the decision stays yours."),
    Exercise(
        id="04-2", title="The loop from memory", difficulty=3, minutes=10, name="my_loop", stub=_LOOP_STUB, solution=_LOOP, cases=_loop_cases,
        task="Close your eyes, say the four moves, then write the loop. You may take every reply to be valid JSON.",
        hints=["for step in range(max_steps): model, append, decide, execute, append.",
               'The reply is appended before anything else happens, the final one too. The text for the limit comes after the for loop.'],
        traps=[
            Trap(_loop_variant('        messages.append({"role": "assistant", "content": reply})\n', ""),
                 "The model's own reply never joins the list. At the next call it sees a result of a call it does not remember making; "
                 "providers refuse such a list."),
            Trap(_loop_variant('        messages.append({"role": "tool", "content": result})\n', ""),
                 "The tool runs, but its result never joins the list. The model cannot see it and asks again, for ever."),
            Trap(_loop_variant("range(max_steps)", "range(max_steps + 1)"),
                 "One model call too many: a limit of N means exactly N calls."),
            Trap(_loop_variant("range(max_steps)", "range(1, max_steps)"),
                 "One model call too few: range(1, N) makes N - 1 passes."),
            Trap(_loop_variant("    for step in range(max_steps):", "    while True:"),
                 "Nothing stops this loop when the model never answers. The harness owns that exit, not the model.", hangs=True),
        ],
        after="You have written an agent. Everything in the rest of the course happens around these lines.", seconds=3),
    Exercise(
        id="04-3", title="Find the bug in this trace", difficulty=2, minutes=4, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "c"\n',
        value=True, cases=_BUG_CASES,
        task="Somebody else's loop. The tool works, the model is the one you know, and yet the run ends at the step limit. What is wrong?",
        hints=["Count the messages the model is sent at step 1, 2 and 3.",
               "The number does not change. So what can the model know at step 3 that it did not know at step 1?"],
        traps=[
            Trap('answer = "a"\n', "The model does decide the same thing three times, but it is given the same list three times. Look at the column of messages.",
                 when=lambda value, args: str(value).strip().lower() == "a"),
            Trap('answer = "b"\n', "get_order returned the order every time, so the arguments were right.", when=lambda value, args: str(value).strip().lower() == "b"),
            Trap('answer = "d"\n', "A higher limit would only buy more of the same call.", when=lambda value, args: str(value).strip().lower() == "d"),
        ],
        after="Nothing is ever appended: the list has two messages at every step, so the model answers the same question three times."),
]
