"""The exercises of notebook 09, several calls in one reply."""

import json

from ..exercise import Case, Exercise, Trap

TITLE = "Several calls in one reply"

# ---- 09-1: one result per call ---------------------------------------------------------------------------------------

_ANSWER_STUB = '''
def answer_calls(calls, execute):
    """One tool message per call, in call order: {"role", "tool_call_id", "content"}.

    A call is {"id": ..., "name": ..., "arguments": JSON text}. `execute(name, arguments)` takes the
    arguments as a dict, returns text, and may raise any Exception. A call that fails is answered
    with a text that starts with "ERROR".
    """
    ...
'''
_ANSWER = '''
import json

def answer_calls(calls, execute):
    messages = []
    for call in calls:
        try:
            text = execute(call["name"], json.loads(call["arguments"]))
        except Exception as error:
            text = f"ERROR: {error}"
        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})
    return messages
'''


def _execute(name, arguments):
    """A desk that knows two tools; every order id that starts with Z is unknown."""
    if not isinstance(arguments, dict):
        raise TypeError("the arguments must be a dict")
    order = arguments["order_id"]
    if order.startswith("Z"):
        raise LookupError(f"no order {order}")
    return f"{name} of {order}"


def _call(id, order, name="get_order", arguments=None):
    return {"id": id, "name": name, "arguments": json.dumps({"order_id": order}) if arguments is None else arguments}


def _answer_case(calls, because, failing=()):
    def test(result, args):
        if not isinstance(result, list) or not all(isinstance(m, dict) for m in result):
            return "a list of messages (dicts)"
        if len(result) != len(calls):
            return f"{len(calls)} messages, one per call, not {len(result)}"
        if [m.get("tool_call_id") for m in result] != [c["id"] for c in calls]:
            return f"the ids in call order: {[c['id'] for c in calls]}"
        for i, (message, call) in enumerate(zip(result, calls)):
            text = message.get("content")
            if message.get("role") != "tool" or not isinstance(text, str):
                return 'messages with the role "tool" and a text as content'
            if text.startswith("ERROR") != (i in failing):
                return f"{'an ERROR text' if i in failing else 'the result'} for call {call['id']!r}, not {text!r}"
            if i not in failing and text != _execute(call["name"], json.loads(call["arguments"])):
                return f"for call {call['id']!r} the result of that call, not {text!r}"
        return None

    return Case((calls, _execute), test=test, because=because)


def _answer_cases(rng):
    a, b, c, d = (f"{letter}{rng.randrange(100, 999)}" for letter in "ABCD")
    ids = [f"call_{n}" for n in rng.sample(range(10, 99), 4)]
    ids[:2] = sorted(ids[:2], reverse=True)     # so that an order by id is not the order of the calls
    return [
        _answer_case([_call(ids[0], a)], "one call, one message"),
        _answer_case([_call(ids[0], a), _call(ids[1], b, "get_parcel"), _call(ids[2], c)], "in call order, each with the id of its call"),
        _answer_case([_call(ids[0], a), _call(ids[1], "Z" + b[1:]), _call(ids[2], c)], "one failing call does not lose its siblings, and is answered itself", {1}),
        _answer_case([_call(ids[0], "Z999"), _call(ids[1], "Z998"), _call(ids[2], d)], "an error stands where its call stands, not at the end", {0, 1}),
        _answer_case([_call(ids[0], a), _call(ids[1], b, arguments='{"order_id": "' + b[:2]), _call(ids[2], c)],
                     "arguments that do not parse belong to one call: the others run", {1}),
        _answer_case([_call(None, a), _call(None, b)], "some servers send no ids: still one message per call (giving them ids is another function's work)"),
        _answer_case([_call(ids[0], a), _call(ids[0], b)], "a repeated id must not swallow a call"),
        _answer_case([], "no calls, no messages"),
    ]


def _variant(old, new, source=_ANSWER):
    assert old in source
    return source.replace(old, new)


# ---- 09-2: batches -----------------------------------------------------------------------------------------------------

_BATCH_STUB = '''
def batches(calls, parallel_names):
    """The calls as a list of lists: one list may run at the same time, list after list.

    A call is (id, name). Calls whose name is in `parallel_names` and that stand side by side
    share a list; every other call is a barrier, with a list of its own. The order is kept.
    """
    ...
'''
_BATCH = '''
def batches(calls, parallel_names):
    groups, open_group = [], False
    for call in calls:
        parallel = call[1] in parallel_names
        if parallel and open_group:
            groups[-1].append(call)
        else:
            groups.append([call])
        open_group = parallel
    return groups
'''


def _batch_case(names, because, n):
    calls = [(f"c{n + i}", name) for i, name in enumerate(names.split())]
    scope = {}
    exec(_BATCH, scope)
    return Case((calls, {"read", "track"}), scope["batches"](calls, {"read", "track"}), because=because)


def _batch_cases(rng):
    n = rng.randrange(10, 90)
    return [
        _batch_case("read read read", "reads that stand side by side share a list", n),
        _batch_case("read write", "a write waits for the read before it", n),
        _batch_case("read track write read read", "what stands after a barrier may not run before it", n),
        _batch_case("write write", "two writes are two barriers: one after the other", n),
        _batch_case("write read write write track", "a barrier has a list of its own, and the last list must not be lost", n),
        _batch_case("read track", "two different tools may share a list, when both are parallel", n),
        Case(([], {"read"}), [], because="no calls, no lists: and no empty list either"),
        _batch_case(" ".join(rng.choice(("read", "track", "write")) for _ in range(12)), "a long reply, mixed at random", n),
    ]


# ---- 09-3: find the bug ----------------------------------------------------------------------------------------------

def _is(letter):
    return lambda value, args: str(value).strip().lower() == letter


EXERCISES = [
    Exercise(
        id="09-1", title="One result per call", difficulty=2, minutes=7, name="answer_calls", stub=_ANSWER_STUB, solution=_ANSWER, cases=_answer_cases, pure=True,
        task="Write `answer_calls(calls, execute)` from memory. Whatever fails, each call has exactly one message, at its own place.",
        hints=["Loop over the calls, never over what came out of them.", "What can fail for one call alone? Put all of that, the parsing too, inside the `try` in the loop."],
        traps=[
            Trap('import json\ndef answer_calls(calls, execute):\n    found = {}\n    for c in calls:\n        try: found[c["id"]] = execute(c["name"], json.loads(c["arguments"]))\n'
                 '        except Exception as e: found[c["id"]] = f"ERROR: {e}"\n'
                 '    return [{"role": "tool", "tool_call_id": i, "content": t} for i, t in found.items()]\n',
                 "A dict by id has room for one call per id. Where ids are missing or repeated a call is lost, and nothing says so."),
            Trap('import json\ndef answer_calls(calls, execute):\n    found = {}\n    for c in calls:\n        try: found[c["id"]] = execute(c["name"], json.loads(c["arguments"]))\n'
                 '        except Exception as e: found[c["id"]] = f"ERROR: {e}"\n'
                 '    return [{"role": "tool", "tool_call_id": c["id"], "content": found[c["id"]]} for c in calls]\n',
                 "Two calls with the same id get the same text: the second has overwritten the first. Keep each result with its place, not under its id."),
            Trap(_variant('        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})\n',
                          '        messages.append({"role": "tool", "tool_call_id": call["id"], "content": text})\n        if text.startswith("ERROR"): break\n'),
                 "You stop at the first failure. The calls after it stay without a result, and the provider refuses the next list."),
            Trap(_variant('            text = f"ERROR: {error}"\n', "            continue\n"),
                 "A call that fails gets no message. The model never learns of it, and the provider refuses a list with an open call."),
            Trap('import json\ndef answer_calls(calls, execute):\n    good, bad = [], []\n    for c in calls:\n'
                 '        try: good.append({"role": "tool", "tool_call_id": c["id"], "content": execute(c["name"], json.loads(c["arguments"]))})\n'
                 '        except Exception as e: bad.append({"role": "tool", "tool_call_id": c["id"], "content": f"ERROR: {e}"})\n    return good + bad\n',
                 "Your errors stand at the end: that is the order of finishing, not of the calls. Two runs of the same reply must give the same list."),
            Trap('import json\ndef answer_calls(calls, execute):\n    read = [json.loads(c["arguments"]) for c in calls]\n    out = []\n    for c, a in zip(calls, read):\n'
                 '        try: t = execute(c["name"], a)\n        except Exception as e: t = f"ERROR: {e}"\n'
                 '        out.append({"role": "tool", "tool_call_id": c["id"], "content": t})\n    return out\n',
                 "You parse all arguments before the `try`. One text that is cut off voids the whole reply, and the calls that were fine do not run."),
            Trap('import json\ndef answer_calls(calls, execute):\n    return [{"role": "tool", "tool_call_id": c["id"], "content": execute(c["name"], json.loads(c["arguments"]))} for c in calls]\n',
                 "The first tool that raises ends it all, and the results of its siblings are lost with it."),
            Trap(_variant('json.loads(call["arguments"])', 'call["arguments"]'),
                 "The arguments are JSON text. `execute` wants the dict that the text says."),
            Trap(_variant("for call in calls:", 'for call in sorted(calls, key=lambda c: str(c["id"])):'),
                 "You sort by id. Ids are names; their order means nothing."),
        ],
        after="Threads change nothing here: they fill the same list, place by place."),
    Exercise(
        id="09-2", title="What may run together", difficulty=3, minutes=8, name="batches", stub=_BATCH_STUB, solution=_BATCH, cases=_batch_cases, pure=True,
        task="Write `batches(calls, parallel_names)`: neighbours that only read share a list, everything else is a barrier.",
        hints=["A call joins the last list under two conditions. Which?", "The last list must be one of parallel calls, and the call itself must be parallel."],
        traps=[
            Trap("def batches(calls, parallel_names):\n    reads = [c for c in calls if c[1] in parallel_names]\n"
                 "    return ([reads] if reads else []) + [[c] for c in calls if c[1] not in parallel_names]\n",
                 "You run all reads first. A read that the model wrote after a write now sees the world before it."),
            Trap("from itertools import groupby\ndef batches(calls, parallel_names):\n    return [list(g) for _, g in groupby(calls, key=lambda c: c[1] in parallel_names)]\n",
                 "groupby also puts neighbouring writes into one list. They would run at the same time: that is the lost update."),
            Trap("from itertools import groupby\ndef batches(calls, parallel_names):\n    return [list(g) for _, g in groupby(calls, key=lambda c: c[1])]\n",
                 "You group by name: two writes of one name run together, and two different reads do not. What counts is whether a name is in `parallel_names`."),
            Trap("def batches(calls, parallel_names):\n    groups, group = [], []\n    for c in calls:\n        if c[1] in parallel_names: group.append(c)\n"
                 "        else:\n            if group: groups.append(group)\n            groups.append([c])\n            group = []\n    return groups\n",
                 "The last list is lost when the reply ends with parallel calls. Nothing comes after them to close it."),
            Trap("def batches(calls, parallel_names):\n    groups, group = [], []\n    for c in calls:\n        if c[1] in parallel_names: group.append(c)\n"
                 "        else:\n            groups += [group, [c]]\n            group = []\n    return groups + [group]\n",
                 "There are empty lists in it: two barriers side by side have nothing between them."),
            Trap("def batches(calls, parallel_names):\n    return [[c] for c in calls]\n", "That is correct and slow: nothing shares a list, so nothing runs together."),
            Trap("def batches(calls, parallel_names):\n    return [list(calls)] if calls else []\n", "Everything runs together here, the writes too."),
            Trap("def batches(calls, parallel_names):\n    groups = []\n    for c in calls:\n        if groups and c[1] in parallel_names: groups[-1].append(c)\n"
                 "        else: groups.append([c])\n    return groups\n",
                 "A parallel call joins the list of the write before it. A barrier has a list of its own."),
        ],
        after="A tool is a barrier until somebody marks it. Forget the mark and you lose time; set it wrongly and you lose money."),
    Exercise(
        id="09-3", title="Find the bug in this trace", difficulty=2, minutes=4, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "d"\n',
        value=True, cases=[Case(test=lambda value, args: None if _is("d")(value, args) else "one letter, the cause: compare the results of step 2 with those of step 1")],
        task="A local server behind somebody else's loop. The model says that B456 is refunded. The bank has no payment on its statement. What is wrong?",
        hints=["Read the two results of step 2 aloud. Which question do they answer?", "How would a harness find a result that is already there?"],
        traps=[
            Trap('answer = "a"\n', "The model asked for the right thing: a refund of the late order.", when=_is("a")),
            Trap('answer = "b"\n', "The tool was never called: the text in step 2 is not a refund's, it is an old one.", when=_is("b")),
            Trap('answer = "c"\n', "A refund and a lookup of another order do not meet, whichever is first. Look at the texts.", when=_is("c")),
        ],
        after="This server starts its ids again at call_0 in every reply, and the loop keeps results in one dict by id for the whole run. It found the old ones and ran nothing. "
              "Ids have to be unique in the run, so the harness makes them so."),
]
