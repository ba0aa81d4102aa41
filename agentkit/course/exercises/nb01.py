"""The exercises of notebook 01, the message list."""

import json
from types import SimpleNamespace

from ..exercise import Case, Exercise, Trap

TITLE = "The message list"

# ---- 01-1: one step joins the list -----------------------------------------------------------------------------------

_REMEMBER_STUB = '''
def remember(messages, calls, results):
    """The list after a step that called tools: the model's message, then one result for each call.

    calls:   [(id, name, arguments), ...] as the model asked for them; arguments is a dict
    results: {id: text, ...} in the order in which the tools were ready
    """
    ...
'''
_REMEMBER = '''
import json

def remember(messages, calls, results):
    tool_calls = [{"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}
                  for call_id, name, arguments in calls]
    messages.append({"role": "assistant", "content": None, "tool_calls": tool_calls})
    for call_id, name, arguments in calls:
        messages.append({"role": "tool", "tool_call_id": call_id, "name": name, "content": results[call_id]})
    return messages
'''


def _roles(messages):
    return ", ".join(str(m.get("role")) if isinstance(m, dict) else repr(m)[:30] for m in messages)


def _remember_case(before, calls, order, because):
    """One step; `order` says in which order the results were ready."""
    texts = {id: f"{name} gives {sorted(map(str, arguments.values()))}" for id, name, arguments in calls}
    results = {calls[k][0]: texts[calls[k][0]] for k in order}

    def test(result, args):
        if not isinstance(result, list):
            return "the longer list; return it"
        wanted = [m["role"] for m in before] + ["assistant"] + ["tool"] * len(calls)
        if [m.get("role") if isinstance(m, dict) else None for m in result] != wanted:
            return "a list with these roles: " + ", ".join(wanted) + "; yours has: " + _roles(result)
        if result[: len(before)] != before:
            return "the messages that were there before, unchanged"
        said, answers = result[len(before)], result[len(before) + 1:]
        return _said_wrong(said, calls) or _answers_wrong(answers, calls, texts)

    return Case((before, calls, results), test=test, because=because)


def _said_wrong(message, calls):
    """What is wrong with the assistant message, or None."""
    if message.get("content", "") is not None:
        return 'the assistant message to have "content": None, because the model wrote no text'
    asked = message.get("tool_calls")
    if not isinstance(asked, list) or not all(isinstance(c, dict) and isinstance(c.get("function"), dict) for c in asked):
        return 'the assistant message to have "tool_calls": a list of {"id": ..., "type": "function", "function": {...}}'
    if [c.get("id") for c in asked] != [id for id, _, _ in calls]:
        return f"the calls with the ids {[id for id, _, _ in calls]}, in this order"
    for c, (id, name, arguments) in zip(asked, calls):
        if c.get("type") != "function":
            return f'the call {id} to have "type": "function"'
        if c["function"].get("name") != name:
            return f"the call {id} to name {name}"
        text = c["function"].get("arguments")
        try:
            read = json.loads(text)
        except (TypeError, ValueError):
            return f"the arguments of {id} as JSON text: {json.dumps(arguments)!r}"
        if read != arguments:
            return f"the arguments of {id} as JSON text: {json.dumps(arguments)!r}"
    return None


def _answers_wrong(messages, calls, texts):
    """What is wrong with the results, or None."""
    ids = [id for id, _, _ in calls]
    if [m.get("tool_call_id") for m in messages] != ids:
        return f'the results to have the "tool_call_id" {", ".join(map(repr, ids))}, in the order of the calls'
    for m, (id, name, _) in zip(messages, calls):
        if m.get("content") != texts[id]:
            return f"the result of {id} to say {texts[id]!r}"
        if m.get("name", name) != name:
            return f"the result of {id} to name {name}"
    return None


def _remember_cases(rng):
    a, b, c = (f"{letter}{rng.randrange(100, 999)}" for letter in "ABC")
    start = [{"role": "system", "content": "You help a shop."}, {"role": "user", "content": f"Is order {a} late?"}]
    first = [{"role": "assistant", "content": None, "tool_calls": [
                 {"id": "call_1", "type": "function", "function": {"name": "get_order", "arguments": json.dumps({"order_id": a})}}]},
             {"role": "tool", "tool_call_id": "call_1", "name": "get_order", "content": "not late"}]
    return [
        _remember_case(start, [("call_1", "get_order", {"order_id": a})], [0],
                       "two messages join the list: what the model said, and what the tool returned"),
        _remember_case(start + first, [("call_2", "list_orders", {})], [0],
                       "the list grows at its end; a call without arguments has the JSON text {}"),
        _remember_case(start, [("call_1", "get_order", {"order_id": a}), ("call_2", "get_order", {"order_id": b})], [1, 0],
                       "one reply is one message, however many calls are in it; the results follow in the order of the calls"),
        _remember_case(start + first, [("call_7", "get_order", {"order_id": c}), ("call_3", "calculator", {"expression": f"{rng.randrange(2, 99)} * 2"}),
                                       ("call_5", "get_order", {"order_id": b})], [2, 0, 1],
                       "three results, three ids: each id says which call is answered"),
    ]


def _remember_variant(old, new):
    assert old in _REMEMBER
    return _REMEMBER.replace(old, new)


_SAY = '    messages.append({"role": "assistant", "content": None, "tool_calls": tool_calls})\n'
_ONE_BY_ONE = '''
import json

def remember(messages, calls, results):
    for call_id, name, arguments in calls:
        asked = [{"id": call_id, "type": "function", "function": {"name": name, "arguments": json.dumps(arguments)}}]
        messages.append({"role": "assistant", "content": None, "tool_calls": asked})
        messages.append({"role": "tool", "tool_call_id": call_id, "name": name, "content": results[call_id]})
    return messages
'''



def _when(test):
    """A trap's `when`, on what a learner's list says about the step: s.asking, s.answering, s.arguments, s.whole."""
    def when(result, args):
        _, calls, results = args
        asking = [m for m in result if any(c["id"] in results for c in m.get("tool_calls", ()))]
        return test(SimpleNamespace(
            whole=result, asking=asking, arguments=[c["function"]["arguments"] for m in asking for c in m["tool_calls"]],
            answering=[m for m in result if m.get("tool_call_id") in results], calls=[c[0] for c in calls], results=results))
    return when


def _is_json(text):
    try:
        json.loads(text)
        return True
    except ValueError:
        return False

# ---- 01-2: the bill of a run -----------------------------------------------------------------------------------------

_BILLED_STUB = '''
def billed(base, steps):
    """(input_tokens, output_tokens) of a whole run.

    base:  tokens of the system message, the task and the tool definitions
    steps: [(written, returned), ...]: tokens the model wrote and its tools returned, step by step
    """
    ...
'''
_BILLED = '''
def billed(base, steps):
    sent, input_tokens, output_tokens = base, 0, 0
    for written, returned in steps:
        input_tokens += sent                # this call is sent all that stands in the list
        output_tokens += written            # and its reply is paid for once, as output
        sent += written + returned          # both join the list, and are sent from now on
    return input_tokens, output_tokens
'''


def _bill(base, steps):
    sizes = [base + sum(w + r for w, r in steps[:k]) for k in range(len(steps))]
    return sum(sizes), sum(w for w, _ in steps)


def _billed_cases(rng):
    base = rng.randrange(300, 900)
    uneven = [(rng.randrange(20, 90), rng.randrange(100, 400)) for _ in range(3)] + [(rng.randrange(20, 60), 0)]
    cases = [
        (base, [(40, 0)], "one call that answers at once: the base is sent, the reply is written"),
        (base, [(30, 200), (40, 0)], "the second call is sent the base again, and with it what the first step has left in the list"),
        (base, uneven, "call k is sent the base and all that the steps before it wrote and returned; the last reply is sent to nobody"),
        (1600, [(150, 600)] * 10, "base 1,600 and 750 more a step: ten calls send 49,750 tokens"),
        (base, [], "a run without a call costs nothing"),
    ]
    return [Case((b, s), _bill(b, s), because=because) for b, s, because in cases]


def _billed_variant(old, new):
    assert old in _BILLED
    return _BILLED.replace(old, new)


# ---- 01-3: find the message that is refused --------------------------------------------------------------------------

def _pair(value):
    """(index, letter) of an answer, as far as it has them."""
    try:
        index, letter = value
        return int(index), str(letter).strip().lower()
    except (TypeError, ValueError):
        return None, None


_REFUSED_CASES = [Case(test=lambda value, args: None if _pair(value) == (2, "b") else
                       "(index, letter) of the first message that may not stand where it stands",
                       because="Read from the top and keep a list of the calls that are open. Each message up to the bad one must be all right.")]

EXERCISES = [
    Exercise(
        id="01-1", title="One step joins the list", difficulty=2, minutes=5, name="remember", stub=_REMEMBER_STUB, solution=_REMEMBER,
        cases=_remember_cases,
        task="The model has called one or more tools, and they have run. Write `remember(messages, calls, results)`: put what was said and what came back "
             "on the list, in the shape and order that a strict provider takes, and return the list.",
        hints=["How many replies did the model write? So how many assistant messages are there?",
               "A call in the list is {\"id\": ..., \"type\": \"function\", \"function\": {\"name\": ..., \"arguments\": ...}}. What type do the arguments have there?",
               "Walk over `calls` for the results too, not over `results`: the order of the calls is the one that counts."],
        traps=[
            Trap(_remember_variant(_SAY, ""),
                 "The model's own message is missing. Its calls are nowhere in the list, so every result answers a question that nobody asked; "
                 "a provider refuses the first one.",
                 when=_when(lambda s: not s.asking and s.answering)),
            Trap(_ONE_BY_ONE,
                 "You wrote one assistant message per call. The model wrote one reply; all its calls belong in that one message, and the results follow it.",
                 when=_when(lambda s: len(s.asking) > 1)),
            Trap(_remember_variant("json.dumps(arguments)", "arguments"),
                 "The arguments are a dict here. In the list they are text, as the model wrote them: json.dumps(arguments).",
                 when=_when(lambda s: any(isinstance(a, dict) for a in s.arguments))),
            Trap(_remember_variant("json.dumps(arguments)", "str(arguments)"),
                 "str() writes Python, with single quotes; JSON has double ones. Whoever parses these arguments gets an error. json.dumps writes JSON.",
                 when=_when(lambda s: not all(map(_is_json, s.arguments)))),
            Trap(_remember_variant("    for call_id, name, arguments in calls:\n", "    for (call_id, name, arguments), text in zip(calls, results.values()):\n")
                 .replace("results[call_id]", "text"),
                 "The results are matched by position, so one call gets the answer of another. Look each one up under its id: results[call_id].",
                 when=_when(lambda s: any(m["content"] != s.results[m["tool_call_id"]] for m in s.answering))),
            Trap(_remember_variant('"content": None', '"content": ""'),
                 'The content is an empty text. Some providers refuse that; a message that only calls tools has "content": None.',
                 when=_when(lambda s: s.asking[0]["content"] == "")),
            Trap(_remember_variant("    for call_id, name, arguments in calls:\n",
                                   "    names = {call_id: name for call_id, name, _ in calls}\n    for call_id in results:\n        name = names[call_id]\n"),
                 "The results stand in the order in which the tools were ready. Put them in the order of the calls: then the list of a run is the same every time.",
                 when=_when(lambda s: s.asking == s.whole[-1 - len(s.calls):-len(s.calls)]
                            and [m["tool_call_id"] for m in s.answering] == list(s.results) != s.calls)),
            Trap(_remember_variant(_SAY, "").replace("    return messages", _SAY + "    return messages"),
                 "The results stand before the message that asks for them. First the question, then the answers.",
                 when=_when(lambda s: s.whole.index(s.answering[0]) < s.whole.index(s.asking[0]))),
            Trap(_remember_variant('"tool_call_id": call_id', '"id": call_id'),
                 'A result says which call it answers under the key "tool_call_id"; "id" is the key inside the call.',
                 when=_when(lambda s: any(m["role"] == "tool" and m.get("id") in s.results for m in s.whole))),
        ],
        after="This is what a harness does between two model calls. agentkit's Reply.as_message and tool_message build the same dicts."),
    Exercise(
        id="01-2", title="The bill of a run", difficulty=2, minutes=5, name="billed", stub=_BILLED_STUB, solution=_BILLED, cases=_billed_cases,
        task="Write `billed(base, steps)`: the input and the output tokens that a whole run is charged for, nothing cached.",
        hints=["Keep one number: how many tokens stand in the list now. What is sent in call 1? What joins before call 2?",
               "In each step, in this order: charge for what is sent, charge for what is written, then let both texts join the list."],
        traps=[
            Trap("def billed(base, steps):\n    return base + sum(w + r for w, r in steps[:-1]) if steps else 0, sum(w for w, r in steps)\n",
                 "That is the list of the last call, once. Every call before it was sent a list too, and was charged for it."),
            Trap("def billed(base, steps):\n    return base + sum(w + r for w, r in steps), sum(w for w, r in steps)\n",
                 "That is the size of the finished list. It was never sent like that; smaller lists were, one for each call. Add those up."),
            Trap("def billed(base, steps):\n    return base * len(steps), sum(w for w, r in steps)\n",
                 "Every call pays for the base, that is right; but the list has grown since, and the growth is sent too."),
            Trap(_billed_variant("        sent += written + returned ", "        sent += returned "),
                 "What the model writes joins the list as well. It is paid for once as output, and then as input in every later call."),
            Trap(_billed_variant("        input_tokens += sent                # this call is sent all that stands in the list\n", "").replace(
                     "    return", "        input_tokens += sent\n    return"),
                 "You let a step's texts join before you charge for its call. A reply cannot be sent before it is written: charge first."),
            Trap("def billed(base, steps):\n    last = base + sum(w + r for w, r in steps[:-1])\n"
                 "    return (len(steps) + 1) / 2 * last if steps else 0, sum(w for w, r in steps)\n",
                 "That is the rule of thumb, (T + 1) / 2 times the last call. It is exact only for equal steps on a base of one such step; add up the calls."),
        ],
        after="A sum over growing lists: the square of the number of steps is in it. Notebook 19 puts a price on each term."),
    Exercise(
        id="01-3", title="Find the message that is refused", difficulty=2, minutes=3, stub="answer = (..., ...)      # (index, letter), such as (4, \"a\")\n",
        solution='answer = (2, "b")\n', value=True, cases=_REFUSED_CASES,
        task="To save tokens, a harness sends the first two messages and the last five. The provider answers 400. At which index does it stop reading, and why?",
        hints=["Read from the top. Write down each id when a call asks under it, and cross it out when a result answers it.",
               "Three ids stand in this list. Which of them is answered, but never asked?"],
        traps=[
            Trap('answer = (2, "a")\n', "The index is right, the reason is not: call_1 stands here once. Who asked under that id?",
                 when=lambda value, args: _pair(value)[0] == 2),
            Trap('answer = (3, "c")\n', "content None is right beside tool_calls: the model called a tool and wrote no text. An empty text would be wrong.",
                 when=lambda value, args: _pair(value) in ((3, "c"), (5, "c"))),
            Trap('answer = (6, "d")\n', "An error text is a result like any other: it answers call_3, and the model can read it. No provider minds.",
                 when=lambda value, args: _pair(value)[1] == "d"),
            Trap('answer = (0, "b")\n', "The reason is right, the index is not: which result has no call above it? Index 0 is the system message.",
                 when=lambda value, args: _pair(value)[1] == "b"),
        ],
        after="The call was cut off and its result was kept. A list is trimmed by whole steps: an assistant message goes together with its results."),
]
