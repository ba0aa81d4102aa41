"""The model answer of the coding round (notebook 23), as it stands at the end of each stage, and what to say while typing it."""

from __future__ import annotations

ONE = """
import json

def run(model, tools, task, max_steps=10):
    messages = [{"role": "user", "content": task}]
    for step in range(max_steps):
        reply = model(messages)
        calls = reply.get("tool_calls") or []
        messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        if not calls:
            return {"status": "done", "answer": reply["text"], "messages": messages}
        for call in calls:
            text = str(tools[call["name"]](**json.loads(call["arguments"])))
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return {"status": "step_limit", "answer": None, "messages": messages}
"""

_EXECUTE = '''
def execute(call, tools):
    """The result of one call as text. It never raises: what went wrong is for the model to read."""
    if call["name"] not in tools:
        return f"ERROR: there is no tool {call['name']!r}. Available: {', '.join(tools)}"
    try:
        arguments = json.loads(call["arguments"])
        value = tools[call["name"]](**arguments)
        return value if isinstance(value, str) else json.dumps(value, default=str)
    except Exception as error:
        return f"ERROR: {call['name']} failed: {type(error).__name__}: {error}"
'''

TWO = (
    """
import json
"""
    + _EXECUTE
    + """
def run(model, tools, task, max_steps=10):
    messages = [{"role": "user", "content": task}]

    def end(status, answer=None):
        return {"status": status, "answer": answer, "messages": messages}

    for step in range(max_steps):
        try:
            reply = model(messages)
        except Exception:
            return end("model_error")
        text, calls = reply.get("text"), reply.get("tool_calls") or []
        if not calls and not (text or "").strip():
            return end("empty_reply")
        messages.append({"role": "assistant", "content": text, "tool_calls": calls})
        if not calls:
            return end("done", text)
        for call in calls:
            result = execute(call, tools)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
    return end("step_limit")
"""
)

_NAMED = '''
def named(calls, used):
    """The calls with ids that are texts and used once, whatever the model sent."""
    fresh = []
    for call in calls:
        id = call.get("id")
        if not isinstance(id, str) or not id or id in used:
            id = next(name for n in range(len(used) + 1) if (name := f"made_{n}") not in used)
        used.add(id)
        fresh.append({**call, "id": id})
    return fresh
'''


def _changed(source, *pairs):
    for old, new in pairs:
        if source.count(old) != 1:
            raise ValueError(f"{old!r} stands {source.count(old)} times in the answer")
        source = source.replace(old, new)
    return source


THREE = _changed(
    TWO,
    ("\ndef run(", _NAMED + "\ndef run("),
    ('    messages = [{"role": "user", "content": task}]\n', '    messages, used = [{"role": "user", "content": task}], set()\n'),
    (
        'text, calls = reply.get("text"), reply.get("tool_calls") or []',
        'text, calls = reply.get("text"), named(reply.get("tool_calls") or [], used)',
    ),
)

_CANONICAL = '''
def canonical(arguments):
    """One spelling for the same arguments."""
    try:
        return json.dumps(json.loads(arguments), sort_keys=True)
    except (TypeError, ValueError):
        return str(arguments)
'''

FOUR = _changed(
    THREE,
    ("\ndef run(model, tools, task, max_steps=10):", _CANONICAL + "\ndef run(model, tools, task, max_steps=10, budget=None):"),
    ("}], set()\n", "}], set()\n    spent, history = 0, []\n"),
    (
        "        try:\n            reply = model",
        (
            '        if budget is not None and spent >= budget:\n            return end("token_budget")\n        try:\n            reply ='
            " model"
        ),
    ),
    ("        text, calls = reply", '        spent += reply.get("tokens") or 0\n        text, calls = reply'),
    (
        """        for call in calls:
            result = execute(call, tools)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
""",
        """        seen = []
        for call in calls:
            result = execute(call, tools)
            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})
            seen.append((call["name"], canonical(call["arguments"]), result))
        history.append(seen)
        if history[-3:] == [seen] * 3:
            return end("repeated_call")
""",
    ),
)

_SAVED = '''
def load(path):
    """The saved messages; a call without a result was under way when the process died."""
    if not path or not os.path.exists(path):
        return None
    with open(path) as file:
        messages = json.load(file)
    answered = {m.get("tool_call_id") for m in messages}
    unknown = "ERROR: outcome unknown: the process died. Check before you try again."
    for call in [c for m in messages for c in m.get("tool_calls", []) if c["id"] not in answered]:
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": unknown})
    return messages

def save(path, messages):
    if path:
        with open(path + ".new", "w") as file:
            json.dump(messages, file)
        os.replace(path + ".new", path)
'''

FIVE = _changed(
    FOUR,
    ("import json\n", "import json\nimport os\n"),
    (
        "\ndef run(model, tools, task, max_steps=10, budget=None):",
        _SAVED + "\ndef run(model, tools, task, max_steps=10, budget=None, path=None):",
    ),
    (
        '    messages, used = [{"role": "user", "content": task}], set()\n',
        (
            '    messages = load(path) or [{"role": "user", "content": task}]\n    used = {c["id"] for m in messages for c in'
            ' m.get("tool_calls", [])}\n'
        ),
    ),
    (
        '"messages": messages}\n\n',
        '"messages": messages}\n\n    def add(message):\n        messages.append(message)\n        save(path, messages)\n\n',
    ),
    ('messages.append({"role": "assistant"', 'add({"role": "assistant"'),
    (
        '            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})',
        '            add({"role": "tool", "tool_call_id": call["id"], "content": result})',
    ),
)

STAGES = {1: ONE, 2: TWO, 3: THREE, 4: FOUR, 5: FIVE}
"""The whole answer at the end of each stage, as source text."""


def function(source: str, name: str = "run"):
    """What a source text defines as `name`."""
    import linecache

    filename = f"<answer {len(source)}>"
    linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
    names: dict = {"__name__": "answer"}
    exec(compile(source, filename, "exec"), names)
    return names[name]


# ---- the finished loops behind the round's contract ------------------------------------------------------------------


def mini_run(model, tools, task, max_steps=10, budget=None):
    """agentkit/mini.py behind the brief's contract: plain dicts in, a dict out."""
    from types import SimpleNamespace as Plain

    from agentkit import mini

    def ask(messages, specs):
        reply = model(messages)
        calls = [Plain(id=c.get("id"), name=c["name"], arguments=c["arguments"]) for c in reply.get("tool_calls") or []]
        usage = Plain(input_tokens=reply.get("tokens") or 0, output_tokens=0)
        return Plain(text=reply.get("text"), tool_calls=calls, stop_reason=None, usage=usage)

    described = [Plain(name=name, description="", schema=schema_of(fn), fn=fn) for name, fn in tools.items()]
    result = mini.run(ask, described, task, max_steps=max_steps, budget_tokens=budget)
    return {"status": result.status, "answer": result.answer, "messages": result.messages}


def agentkit_run(model, tools, task, max_steps=10, budget=None, path=None):
    """agentkit.run and agentkit.resume behind the brief's contract."""
    import os

    from agentkit import Journal, Limits, Reply, Tool, ToolCall, Usage, resume, run

    def ask(messages, specs):
        reply = model(messages)
        calls = [ToolCall(c.get("id"), c["name"], c["arguments"]) for c in reply.get("tool_calls") or []]
        return Reply(reply.get("text"), calls, Usage(reply.get("tokens") or 0, 0))

    described = [Tool(name, "A tool of the shop.", schema_of(fn), fn) for name, fn in tools.items()]
    limits = Limits(max_steps=max_steps, budget_tokens=budget)
    there = path is not None and os.path.exists(path)
    journal = Journal(path) if path is not None else None
    try:
        result = resume(journal, ask, described, limits=limits) if there else run(ask, described, task, limits=limits, journal=journal)
    finally:
        if journal is not None:
            journal.close()
    return {"status": result.status, "answer": result.answer, "messages": result.messages}


def schema_of(fn) -> dict:
    """A schema that names a function's arguments and says which it needs, but no types."""
    import inspect

    parameters = inspect.signature(fn).parameters.values()
    return {
        "type": "object",
        "properties": {p.name: {} for p in parameters},
        "required": [p.name for p in parameters if p.default is p.empty],
        "additionalProperties": False,
    }


# ---- mini.py in pieces, and what to say while typing each ------------------------------------------------------------

_SAID = (
    ('"""The whole agent loop', "The model and the tools are handed in, so a script can stand in for the model and I can test all of it."),
    ("def check(", "Arguments come from a model, so they are checked before they touch anything. A bool is no number."),
    ("def parse(", "A call may run, or there is a text that says why not. There is no third way, and no guessing."),
    ("def execute(", "A tool may raise; the loop may not. What comes back is text, of a bounded size."),
    ("def looping(", "The same step with the same result, three times over, is a loop. Cycles of two and three count as well."),
    ("def run(", "The state is one list. The rest are counters, and they start clean with each run."),
    ("    def usd(", "There is one way out, so every exit reports the same things."),
    ("    while True:", "Every budget is asked before it is spent: steps, time, tokens, money."),
    (
        "        try:\n            reply = model",
        "The model decides. If it fails, that is an exit with a name. Each call gets an id of its own.",
    ),
    ('        message = {"role"', "Its reply joins the list before anything runs, and it is paid for."),
    ("        cut = {", "Nothing of half a reply runs. An empty reply gets one nudge. No call: that is the answer."),
    ("        parsed, nudged", "All calls of a reply are decided before the first one runs."),
    ("        stop, seen", "Each call gets exactly one result, in order, even while the run is stopping."),
)


def mini_pieces() -> list[tuple[str, str]]:
    """[(what to say, source)]: mini.py from its first line to its last, in the order in which it is typed."""
    import inspect

    from agentkit import mini

    source = inspect.getsource(mini)
    places = [source.index(begin) for begin, _ in _SAID] + [len(source)]
    return [(said, source[a:b].strip("\n")) for (_, said), a, b in zip(_SAID, places, places[1:])]
