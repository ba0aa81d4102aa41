"""The exercises of notebook 08, the trace."""

import copy

from ..exercise import Case, Exercise, Trap

TITLE = "The trace"

# ---- 08-1: the first error -------------------------------------------------------------------------------------------

_FIRST_STUB = '''
def first_error(events):
    """The first result in the record that is an error, as the event it is; None where there is none."""
    ...
'''
_FIRST = '''
def first_error(events):
    return next((e for e in events if e["kind"] == "result" and e["error"]), None)
'''


def _event(rng, step, content, error):
    return {"kind": "result", "step": step, "id": f"call_{rng.randrange(1000, 9999)}", "name": rng.choice(("get_order", "find_orders")),
            "content": content, "error": error, "ran": True}


def _reply(step):
    return {"kind": "reply", "step": step, "message": {"role": "assistant", "content": None}}


def _first_cases(rng):
    order = f"{rng.choice('ABCD')}{rng.randrange(100, 999)}"
    fine = _event(rng, 1, f'{{"order": "{order}"}}', False)
    words = _event(rng, 1, f"ERROR 404 is written on the parcel of {order}", False)
    first, second = (_event(rng, n, f"ERROR: no order {order}, try {n}", True) for n in (2, 3))
    field = _event(rng, 2, f'{{"error": "{order} is locked"}}', True)
    nudge = {"kind": "message", "message": {"role": "user", "content": "Your reply was no JSON."}, "nudge": True, "error": True}
    start, end = {"kind": "start", "task": f"Where is {order}?"}, {"kind": "end", "status": "done"}
    return [
        Case(([start, _reply(1), fine, _reply(2), first, _reply(3), second, end],), first, because="the first one, in the order of the record"),
        Case(([start, _reply(1), fine, end],), None, because="a run without an error has no first error"),
        Case(([],), None, because="an empty record has none either"),
        Case(([start, _reply(1), words, _reply(2), first, end],), first,
             because="the word ERROR in a text proves nothing; the harness knows, and wrote it down as \"error\""),
        Case(([start, _reply(1), fine, _reply(2), field, end],), field, because="an error need not begin with the word ERROR"),
        Case(([start, nudge, _reply(1), first, end],), first, because="a message of the harness may be marked as an error too; you are asked for results"),
    ]


def _first(body):
    return f"def first_error(events):\n{body}\n"


# ---- 08-2 and 08-3: the four patients --------------------------------------------------------------------------------

RIGHT = {"patient 1": "c", "patient 2": "d", "patient 3": "a", "cure 3": "z", "patient 4": "b", "cure 4": "x"}
_ASK = {
    "patient 1": "the cause for patient 1: compare the list that was sent at step 4 with the harness's own list",
    "patient 2": "the cause for patient 2: look at the timeline before you look at the answer",
    "patient 3": "the cause for patient 3: read the results of steps 3 to 9 aloud",
    "cure 3": "the cure for patient 3",
    "patient 4": "the cause for patient 4: what is the first message that was sent at step 3, and at step 4?",
    "cure 4": "the cure for patient 4",
}


def _letter(value, what):
    return str(value.get(what, "")).strip().lower() if isinstance(value, dict) else ""


def _asked(*whats):
    return [Case(test=lambda value, args, what=what: None if _letter(value, what) == RIGHT[what] else _ASK[what]) for what in whats]


def _says(whats, wrong):
    """A trap for each wrong letter: {(what, letter): text}."""
    traps = []
    for (what, letter), says in wrong.items():
        answer = {w: letter if w == what else RIGHT[w] for w in whats}
        traps.append(Trap(f"diagnosis = {answer!r}\n", says, when=_when(whats, what, letter)))
    return traps


def _when(whats, what, letter):
    def holds(value, args):
        first = next((w for w in whats if _letter(value, w) != RIGHT[w]), None)
        return first == what and _letter(value, what) == letter
    return holds


_ONE, _TWO = ("patient 1", "patient 2"), ("patient 3", "cure 3", "patient 4", "cure 4")

# ---- 08-4: the first difference --------------------------------------------------------------------------------------

_DIFF_STUB = '''
def diff_at(recorded, now):
    """(n, then, now) for the first message in which two lists differ, n from 0; None where they are the same.

    A message that one of the lists does not have is None.
    """
    ...
'''
_DIFF = '''
from itertools import zip_longest

def diff_at(recorded, now):
    for n, (old, new) in enumerate(zip_longest(recorded, now)):
        if old != new:
            return (n, old, new)
    return None
'''


def _diff_cases(rng):
    order, price = f"A{rng.randrange(100, 999)}", rng.randrange(100, 9999)
    asked = {"role": "assistant", "content": None, "tool_calls": [
        {"id": "call_1", "type": "function", "function": {"name": "get_order", "arguments": f'{{"order_id": "{order}"}}'}}]}
    base = [{"role": "user", "content": f"What does {order} cost?"}, asked,
            {"role": "tool", "tool_call_id": "call_1", "name": "get_order", "content": str(price)},
            {"role": "assistant", "content": f"{price} rupees."}]
    text, ids, args = copy.deepcopy(base), copy.deepcopy(base), copy.deepcopy(base)
    text[2]["content"], text[3]["content"] = str(price + 1), f"{price + 1} rupees."
    ids[2]["tool_call_id"] = "call_7"
    args[1]["tool_calls"][0]["function"]["arguments"] = "{}"
    return [
        Case((base, copy.deepcopy(base)), None, because="equal lists have no difference"),
        Case((base, text), (2, base[2], text[2]), because="the first difference; what follows from it is no news"),
        Case((base, base[:3]), (3, base[3], None), because="a list that ends early differs where the other goes on"),
        Case((base[:2], base), (2, None, base[2]), because="and a list that goes on differs where the other has ended"),
        Case((base, ids), (2, base[2], ids[2]), because="the same text under another id answers another call"),
        Case((base, args), (1, base[1], args[1]), because="an assistant message may have no content and still differ: look at the whole message"),
        Case(([], []), None, because="two empty lists are equal"),
    ]


def _diff(body):
    return f"def diff_at(recorded, now):\n{body}\n"


EXERCISES = [
    Exercise(
        id="08-1", title="The first error", difficulty=1, minutes=4, name="first_error", stub=_FIRST_STUB, solution=_FIRST, cases=_first_cases, pure=True,
        task="Write `first_error(events)`, the second question of the method: the first result event of a record that is an error, or None.",
        hints=["Which kinds of events are there, and which of them has an `error` that you are asked for?",
               "next(..., None) over the events, with two conditions: the kind, then the flag."],
        traps=[
            Trap(_first('    return next((e for e in events if e["kind"] == "result" and e["content"].startswith("ERROR")), None)'),
                 "You searched the text. A tool may return the word ERROR and be fine, and it may fail without it. The record has a flag: use that."),
            Trap(_first('    return next((e for e in events if e.get("error")), None)'),
                 "A message of the harness can be marked as an error as well: a reply that could not be read. Look at the kind first."),
            Trap(_first('    found = [e for e in events if e["kind"] == "result" and e["error"]]\n    return found[-1] if found else None'),
                 "That is the last error. Later errors often follow from the first one, so begin there."),
            Trap(_first('    return [e for e in events if e["kind"] == "result" and e["error"]][0]'),
                 "A record without an error has no item 0: your function raises on every healthy run."),
            Trap(_first('    return next((e for e in events if e["error"]), None)'),
                 "Not every event has the key error: a reply has none, so your function raises KeyError. Ask for the kind first."),
        ],
        after="One line, and it is the query you run most. Because every event says its kind and carries the flag, no text has to be searched."),
    Exercise(
        id="08-2", title="Diagnose patients 1 and 2", difficulty=3, minutes=6, name="diagnosis", value=True,
        stub='diagnosis = {"patient 1": ..., "patient 2": ...}      # one letter each\n',
        solution='diagnosis = {"patient 1": "c", "patient 2": "d"}\n', cases=_asked(*_ONE),
        task="Find the cause with the viewer and the method. One letter for each patient.",
        hints=["Patient 1: go to step 4, then step 5, in the view *sent at this step*. What would you ask for if that were all you knew?",
               "Patient 2: in the healthy run find_orders takes 0.6 seconds. How long does it take here, and what number is that?"],
        traps=_says(_ONE, {
            ("patient 1", "a"): "The same model finishes the healthy run. It asks again because of what it is sent, so look at that: step 4, sent at this step.",
            ("patient 1", "b"): "Look at the table: both results came back at steps 3, 4 and 5, without an error, and the late order is among them.",
            ("patient 1", "d"): "That error was read and repaired at the next step, in the healthy run too. The first error is a place to begin, not always the cause.",
            ("patient 2", "a"): "They are in the shop: in the healthy run the same call finds C789 and D012. So why is this list empty?",
            ("patient 2", "b"): "With an empty list there is nothing more to look at. The answer follows from what the model was told; who told it that?",
            ("patient 2", "c"): "The argument is the same as in the healthy run, where it works. Compare the time that the call took.",
        }),
        after="Both are invisible in the answer and in the message list that the harness holds. One shows in what was sent, the other on the clock. "
              "That is why a record keeps both."),
    Exercise(
        id="08-3", title="Diagnose patients 3 and 4", difficulty=3, minutes=7, name="diagnosis", value=True,
        stub='diagnosis = {"patient 3": ..., "cure 3": ..., "patient 4": ..., "cure 4": ...}\n',
        solution='diagnosis = {"patient 3": "a", "cure 3": "z", "patient 4": "b", "cure 4": "x"}\n', cases=_asked(*_TWO),
        task="The cause for each, and what you would change.",
        hints=["Patient 3: no call fails. Read what each result tells the model to do next.",
               "Patient 4: in the table, where do the tokens jump? Then walk the view *sent at this step* over that place and watch the first message."],
        traps=_says(_TWO, {
            ("patient 3", "b"): "Compare the two lists in the viewer: all that the harness holds was sent. The model does what the newest result says.",
            ("patient 3", "c"): "The run was stopped after the same two steps three times. With a higher limit it would make them a fourth time.",
            ("patient 3", "d"): "get_order says that D012 has left the shop, so it knows the order. Where does it send the model for the rest?",
            ("cure 3", "x"): "The next round has the same two results, so it has the same two calls. More room buys more of them.",
            ("cure 3", "y"): "A stronger model may guess its way out. The two tools still send everybody in circles, and the next model too.",
            ("patient 4", "a"): "It could not follow what it was not sent. Look at the first message of step 3, and then of step 4.",
            ("patient 4", "c"): "6,200 is the right price. The rule speaks of 5,000, so the price alone should have led to hand_over.",
            ("patient 4", "d"): "The rule is the first message of the record and was sent at steps 1 to 3. What happened before step 4?",
            ("cure 4", "y"): "Then the next giant result needs a window that is larger still, and every call pays for it. The rule must not be what makes room.",
            ("cure 4", "z"): "It was worded well enough for three steps. No wording helps a rule that is not sent.",
        }),
        after="A cycle without an error, and a rule that was trimmed away: neither is the model's fault, and a better model would only have hidden them. "
              "Notebook 06 stops such runs; the trace says why they happened. For money, approval stands behind it all."),
    Exercise(
        id="08-4", title="The first difference (optional)", difficulty=2, minutes=6, name="diff_at", stub=_DIFF_STUB, solution=_DIFF, cases=_diff_cases, pure=True,
        task="The heart of a replay: write `diff_at(recorded, now)` for two message lists.",
        hints=["Walk both lists side by side. What does zip do when one is longer?", "itertools.zip_longest fills up with None, which is what you are asked for."],
        traps=[
            Trap(_diff("    for n, (old, new) in enumerate(zip(recorded, now)):\n        if old != new:\n            return (n, old, new)\n    return None"),
                 "zip stops at the shorter list, so a run that ended early passes as the same. That is the difference you most want to see."),
            Trap("from itertools import zip_longest\n" + _diff(
                "    for n, (old, new) in enumerate(zip_longest(recorded, now)):\n        if (old or {}).get(\"content\") != (new or {}).get(\"content\"):\n"
                "            return (n, old, new)\n    return None"),
                 "You compared the content alone. Ids and calls are part of a message: a call has no content, and a result under another id answers another call."),
            Trap("from itertools import zip_longest\n" + _diff(
                "    found = None\n    for n, (old, new) in enumerate(zip_longest(recorded, now)):\n        if old != new:\n            found = (n, old, new)\n    return found"),
                 "That is the last difference. Everything after the first one may follow from it."),
            Trap("from itertools import zip_longest\n" + _diff(
                "    for n, (old, new) in enumerate(zip_longest(recorded, now), 1):\n        if old != new:\n            return (n, old, new)\n    return None"),
                 "Your n begins at 1; here it is the index in the list, from 0."),
        ],
        after="agentkit's replay does this at every model call, with the tool definitions, the results and the ending as well."),
]
