"""The exercises of notebook 22, read a framework."""

from ..exercise import Case, Exercise, Trap

TITLE = "Read a framework"


def _asks(*ids):
    calls = [{"id": id, "type": "function", "function": {"name": "get_order", "arguments": "{}"}} for id in ids]
    return {"role": "assistant", "content": None, "tool_calls": calls}


def _gives(id, text='{"item": "desk"}'):
    return {"role": "tool", "tool_call_id": id, "content": text}


def _user(text):
    return {"role": "user", "content": text}


def _variant(old, new, source):
    assert old in source
    return source.replace(old, new)


# ---- 22-1: calls without results -------------------------------------------------------------------------------------

_OPEN_STUB = '''
def open_calls(messages):
    """The ids of the calls in a recorded list that have no result, in order.

    A result is a tool message with the call's id, in the row of tool messages directly behind the
    assistant message that made the call. Anything further down answers nothing.
    """
    ...
'''
_OPEN = '''
def open_calls(messages):
    missing = []
    for i, message in enumerate(messages):
        answered = set()
        for later in messages[i + 1:]:
            if later["role"] != "tool":
                break
            answered.add(later["tool_call_id"])
        missing += [c["id"] for c in message.get("tool_calls") or () if c["id"] not in answered]
    return missing
'''


def _open_case(messages, because):
    scope = {}
    exec(_OPEN, scope)
    return Case((messages,), scope["open_calls"](messages), because=because)


def _open_cases(rng):
    a, b, c, d = (f"call_{n}" for n in rng.sample(range(10, 99), 4))
    text = {"role": "assistant", "content": f"Order A{rng.randrange(100, 999)} is late."}
    return [
        _open_case([_user("go"), _asks(a), _gives(a), text], "one call, one result: nothing is open"),
        _open_case([_user("go"), _asks(a, b), _gives(a)], "the second call has no result"),
        _open_case([_user("go"), _asks(a, b, c), _gives(c), _gives(a)], "results may come in another order; what counts is the id"),
        _open_case([_user("go"), _asks(a), _gives(a), _asks(a, b), _gives(b)], "an id may be used again: the first step's result does not answer the second step's call"),
        _open_case([_user("go"), _asks(a, b), _gives(a), _user("still there?"), _gives(b)], "a result behind another message is too late: a provider refuses such a list"),
        _open_case([_user("go"), _asks(d)], "the list may end with a call"),
        _open_case([_user("go"), {"role": "assistant", "content": f"Calling tools:\n[{{'id': '{a}'}}]"}, _user("Observation:\n{}")],
                   "a harness that writes its calls as text has no tool_calls at all, and none is open"),
        _open_case([_user("go"), {**text, "tool_calls": None}], "tool_calls may be there and be None"),
        _open_case([_gives(b), _asks(b)], "a result before its call answers nothing"),
    ]


# ---- 22-2: what the model was told -----------------------------------------------------------------------------------

_TOLD_STUB = '''
def was_told(before, after):
    """What the model got to read after its bad call. `before` and `after` are the message lists of
    the first and the second request; `after` is None where there was no second request.

    "nothing"   no second request, or the same list again
    "result"    a new message with the role "tool"
    "words"     anything else that the model did not write itself
    """
    ...
'''
_TOLD = '''
def was_told(before, after):
    if after is None:
        return "nothing"
    new = [m for i, m in enumerate(after) if i >= len(before) or m != before[i]]
    roles = {m["role"] for m in new} - {"assistant"}
    if "tool" in roles:
        return "result"
    return "words" if roles else "nothing"
'''


def _told_cases(rng):
    n, task = rng.randrange(100, 999), f"What does order A{rng.randrange(100, 999)} cost?"
    start = [{"role": "system", "content": "Use the tools."}, _user(task)]
    old = [_user("Hello"), _asks("call_0"), _gives("call_0"), {"role": "assistant", "content": "Hello."}, _user(task)]
    error = f"Error {n}"
    return [
        Case((start, None), "nothing", because="no second request: an exception, or an empty answer"),
        Case((start, start + [_asks("call_1"), _gives("call_1", error)]), "result", because="the error came as the call's result"),
        Case((start, [*start]), "nothing", because="the same list again tells the model nothing"),
        Case((start, start + [_user(error)]), "words", because="a harness may say it in a user message"),
        Case((start, start + [{"role": "system", "content": error}]), "words", because="or in a system message"),
        Case((start, start + [{"role": "assistant", "content": f"Calling tools: get_ordr({n})"}, _user(f"Observation:\n{error}")]), "words",
             because="calls and results written as text are no tool messages"),
        Case((start, [start[0], _user(task + f"\nError:\n{error}")]), "words", because="the list is as long as before, and its last message has grown"),
        Case((start, start + [_asks("call_1")]), "nothing", because="the model's own call alone tells it nothing new"),
        Case((old, old + [_user(error)]), "words", because="the tool message in it is an old one: only what is new counts"),
    ]


# ---- 22-3: before you adopt it -----------------------------------------------------------------------------------------

def _letters(value):
    return "".join(sorted({ch for ch in str(value).lower() if ch in "abcdef"}))


def _has(*letters):
    return lambda value, args: any(letter in _letters(value) for letter in letters)


EXERCISES = [
    Exercise(
        id="22-1", title="Calls without results", difficulty=3, minutes=8, name="open_calls", stub=_OPEN_STUB, solution=_OPEN, cases=_open_cases, pure=True,
        task="You have recorded a request of a harness that you do not know. Write `open_calls(messages)`: the first thing to look for.",
        hints=["Where does a call's row of results begin, and where does it end?", "Collect the answered ids anew for every assistant message, and stop at the first message that is not a tool's."],
        traps=[
            Trap('def open_calls(messages):\n    done = {m["tool_call_id"] for m in messages if m["role"] == "tool"}\n'
                 '    return [c["id"] for m in messages for c in m.get("tool_calls") or () if c["id"] not in done]\n',
                 "One set of answered ids for the whole list. An id that is used again, or a result in the wrong place, counts as an answer here."),
            Trap('def open_calls(messages):\n    missing = []\n    for i, m in enumerate(messages):\n        done = {x["tool_call_id"] for x in messages[i + 1:] if x["role"] == "tool"}\n'
                 '        missing += [c["id"] for c in m.get("tool_calls") or () if c["id"] not in done]\n    return missing\n',
                 "You look through the whole rest of the list. A result behind another message comes too late, and one of a later step answers another call."),
            Trap('def open_calls(messages):\n    missing = []\n    for i, m in enumerate(messages):\n        calls = m.get("tool_calls") or []\n        n = 0\n'
                 '        while i + 1 + n < len(messages) and messages[i + 1 + n]["role"] == "tool": n += 1\n        missing += [c["id"] for c in calls[n:]]\n    return missing\n',
                 "You count results. Three calls and two results: which two? Only the ids say it."),
            Trap('def open_calls(messages):\n    calls = messages[-1].get("tool_calls") or []\n    return [c["id"] for c in calls]\n',
                 "You look at the last message alone. A call can be left open anywhere in the list."),
            Trap(_variant(' or ()', '', _OPEN).replace('message.get("tool_calls")', 'message.get("tool_calls", [])'),
                 "tool_calls can be there and be None: `get` with a default does not help then."),
        ],
        after="Run it over every request that you record. An open call means a result was lost, and a strict provider refuses the list."),
    Exercise(
        id="22-2", title="What was the model told?", difficulty=2, minutes=7, name="was_told", stub=_TOLD_STUB, solution=_TOLD, cases=_told_cases, pure=True,
        task="Write `was_told(before, after)`, which reads the fate of an error off two requests.",
        hints=["Which messages of the second list are not in the first, at the same place?", "Leave out what the model wrote itself. What roles are left?"],
        traps=[
            Trap(_variant('[m for i, m in enumerate(after) if i >= len(before) or m != before[i]]', 'after[len(before):]', _TOLD),
                 "You look at the messages that were added. One harness adds none: it makes the task's message longer."),
            Trap(_variant('[m for i, m in enumerate(after) if i >= len(before) or m != before[i]]', 'after', _TOLD),
                 "You look at the whole second list. What stood in the first is not an answer to the bad call."),
            Trap(_variant(' - {"assistant"}', '', _TOLD), "The model's own call is not news to the model. Leave the assistant's messages out."),
            Trap('def was_told(before, after):\n    if after is None or len(after) == len(before): return "nothing"\n    return "result" if after[-1]["role"] == "tool" else "words"\n',
                 "Equal length is not equal: compare the messages. One harness adds its words to the last message."),
            Trap('def was_told(before, after):\n    if after is None: return "nothing"\n    text = str(after[len(before):])\n    return "result" if "rror" in text else "nothing"\n',
                 "You search for the word error. Every framework has its own wording; the roles and the places are what you can rely on."),
        ],
        after="Whether the words are any good is the next question: do they name the right argument, as in notebook 05?"),
    Exercise(
        id="22-3", title="Before you adopt it", difficulty=3, minutes=5, stub='answer = ...      # three letters, such as "xyz"\n', solution='answer = "bdf"\n', value=True,
        cases=[Case(test=lambda value, args: None if _letters(value) == "bdf" else 'three letters: what these four runs show, and nothing that they do not')],
        task="Four recorded runs of a harness that you do not know. Choose the three statements that the log supports: they are your first three questions to its owner.",
        hints=["Hold each statement against a row. Which row shows it?", "Two statements are about things that no row has tried. One is contradicted by a row."],
        traps=[
            Trap('answer = "a"\n', "(a) Run 1 contradicts it: the unknown name came back to the model as text.", when=_has("a")),
            Trap('answer = "c"\n', "(c) Nobody made the same call twice here. Run 3 makes a new call each time: what is not in the log is not known.", when=_has("c")),
            Trap('answer = "e"\n', "(e) No run sent a wrong type. It may check or it may not: ask, or record one more run.", when=_has("e")),
            Trap('answer = "b"\n', "What you chose is right, and there is more in the log. Read runs 2, 3 and 4 once more.", when=lambda value, args: bool(_letters(value)) and set(_letters(value)) < set("bdf")),
        ],
        after="What should a tool's exception do? How does a caller see that a limit fired? What became of the call that had worked? Each is a setting or a few lines around the tools, if you ask before the incident."),
]
