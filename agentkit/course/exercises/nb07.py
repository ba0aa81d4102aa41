"""The exercises of notebook 07, approval."""

import json

from ..exercise import Case, Exercise, Trap

TITLE = "Approval"

# ---- 07-1: a decision fits one call ------------------------------------------------------------------------------------

_MAY_STUB = '''
def may_run(decision, call):
    """True when this decision allows this call, and no other.

    decision  {"id", "name", "arguments", "word", "used"}: what was shown; the person's word: True,
              False or a text, the reason for a no; whether it has let a call run already.
    call      {"id", "name", "arguments"}
    Arguments are a dict, or the JSON text that a provider sent.
    """
    ...
'''
_MAY = '''
def may_run(decision, call):
    def fingerprint(of):
        return of["id"], of["name"], canonical(of["arguments"])

    return decision["word"] is True and not decision["used"] and fingerprint(decision) == fingerprint(call)
'''


def _may_cases(rng):
    order, amount = f"B{rng.randrange(100, 999)}", rng.randrange(2_000, 9_000)
    arguments = {"order_id": order, "amount": amount}
    text = json.dumps(arguments)
    shown = {"id": "call_3", "name": "refund_order", "arguments": text, "word": True, "used": False}
    asked = {"id": "call_3", "name": "refund_order", "arguments": text}
    return [
        Case((shown, asked), True, because="the very call that was shown, a yes, and not used yet"),
        Case((shown, {**asked, "arguments": json.dumps({**arguments, "amount": amount * 10})}), False,
             because="other arguments than the person saw: a yes to one amount is no yes to another"),
        Case((shown, {**asked, "arguments": f'{{"amount":{amount},   "order_id":"{order}"}}'}), True,
             because="key order and white space make no other call: compare canonical(arguments)"),
        Case((shown, {**asked, "arguments": arguments}), True, because="a dict and its JSON text are the same arguments"),
        Case(({**shown, "word": False}, asked), False, because="False is a no"),
        Case(({**shown, "word": "too much"}, asked), False, because="a text is the reason for a no, and every text that is not empty is truthy: ask for `is True`"),
        Case(({**shown, "word": "yes"}, asked), False, because="whatever is not True is a no; a guess at what a text means is a guess with money"),
        Case(({**shown, "used": True}, asked), False, because="a decision is used once"),
        Case((shown, {**asked, "name": "close_account"}), False, because="the same arguments under another tool's name are another action"),
        Case((shown, {**asked, "id": "call_7"}), False, because="the model may ask for the same thing again, under a new id: that is a new question"),
        Case((shown, {**asked, "arguments": json.dumps({**arguments, "amount": str(amount)})}), False,
             because='the text "5" and the number 5 are different arguments'),
    ]


def _may_body(line):
    return f"def may_run(decision, call):\n    {line}\n"


# ---- 07-2: what a crash leaves -----------------------------------------------------------------------------------------

_AFTER_STUB = '''
def after_crash(events):
    """{call id: "done", "not started" or "unknown"} for every call that the record knows.

    An event is {"kind": "reply", "ids": [...]}, the calls that the model asked for,
    {"kind": "call", "id": ...}, written before the tool runs, or
    {"kind": "result", "id": ...}, written after it; a rejected call has a result only.
    """
    ...
'''
_AFTER = '''
def after_crash(events):
    found = {}
    for event in events:
        if event["kind"] == "reply":
            found.update({id: "not started" for id in event["ids"]})
        elif event["kind"] == "call":
            found[event["id"]] = "unknown"
        elif event["kind"] == "result":
            found[event["id"]] = "done"
    return found
'''


def _events(*words):
    """Events from short words: "a b c" is a reply with three calls, "+a" a call, "-a" its result."""
    made = []
    for word in words:
        kind = {"+": "call", "-": "result"}.get(word[:1])
        made.append({"kind": kind, "id": word[1:]} if kind else {"kind": "reply", "ids": word.split()})
    return made


def _after_cases(rng):
    n = rng.randrange(2, 90)
    a, b, c = (f"call_{n + k}" for k in range(3))
    return [
        Case((_events(f"{a}", f"+{a}", f"-{a}"),), {a: "done"}, because="started and finished, both on record"),
        Case((_events(f"{a} {b}", f"+{a}", f"-{a}"),), {a: "done", b: "not started"},
             because="asked for, but no call event: it did not begin, so it may run"),
        Case((_events(f"{a} {b}", f"+{a}"),), {a: "unknown", b: "not started"},
             because="started, no result: the tool may have done its work a moment before the crash, or not"),
        Case((_events(f"{a} {b} {c}", f"+{a}", f"+{b}", f"-{b}"),), {a: "unknown", b: "done", c: "not started"},
             because="results may come in another order than calls: pair them by id, not by place"),
        Case((_events(f"{a} {b}", f"-{a}", f"+{b}"),), {a: "done", b: "unknown"},
             because="a call that a person rejected has a result and never started: it has its answer, so it is done"),
        Case((_events(f"{a}", f"+{a}", f"-{a}", f"{b} {c}", f"+{b}"),), {a: "done", b: "unknown", c: "not started"},
             because="a run has many replies; each brings calls of its own"),
        Case((_events(f"{a}", f"+{a}", f"+{a}", f"-{a}"),), {a: "done"},
             because="an idempotent tool was run again after a crash: two call events, one result, and it is done"),
        Case((_events(f"{a}"),), {a: "not started"}, because="the process died right after the reply was written"),
        Case(([],), {}, because="nothing was asked for yet"),
    ]


def _after_variant(old, new):
    assert old in _AFTER
    return _AFTER.replace(old, new)


# ---- 07-3: find the bug in a trace ---------------------------------------------------------------------------------------

def _which(value):
    try:
        return int(str(value).strip())
    except ValueError:
        return None


_FIRST = 4
_BUG_CASES = [Case(test=lambda value, args: None if _which(value) == _FIRST else "the number of an event, 1 to 11: the first one that should not be there")]


def _bug_trap(n, says):
    return Trap(f"answer = {n}\n", says, when=lambda value, args: _which(value) == n)


EXERCISES = [
    Exercise(
        id="07-1", title="One decision, one call", difficulty=2, minutes=6, name="may_run", stub=_MAY_STUB, solution=_MAY, cases=_may_cases, pure=True,
        setup="from agentkit.limits import canonical\n",
        task="Write `may_run(decision, call)`: does this yes belong to exactly this call? `canonical(arguments)` is there, from notebook 06.",
        hints=["Four questions: is it a yes? is it still unused? is it this call? does it say the same as what was shown?",
               "Make one fingerprint of a call, a tuple of id, name and canonical arguments, and compare two of them. And look twice at what a reason is in an `if`."],
        traps=[
            Trap(_may_body('return decision["word"] is True and not decision["used"] and decision["id"] == call["id"]'),
                 "You bind the yes to the id alone. Whoever can change the arguments after the approval then spends what nobody saw. Real harnesses have shipped this."),
            Trap(_may_body('return bool(decision["word"]) and not decision["used"] and (decision["id"], decision["name"], canonical(decision["arguments"])) == '
                           '(call["id"], call["name"], canonical(call["arguments"]))'),
                 'A reason for a no is a text, and a text is truthy: your function pays when somebody writes "too much". Ask for `is True`.'),
            Trap(_may_body('return decision["word"] is True and (decision["id"], decision["name"], canonical(decision["arguments"])) == '
                           '(call["id"], call["name"], canonical(call["arguments"]))'),
                 "You never look whether the decision was used. One click, then two refunds."),
            Trap(_may_body('return decision["word"] is True and not decision["used"] and all(decision[k] == call[k] for k in ("id", "name", "arguments"))'),
                 "You compare the arguments as they were written. The same call with its keys in another order is refused, and somebody will then loosen the check: use canonical()."),
            Trap(_may_body('return decision["word"] is True and not decision["used"] and (decision["name"], canonical(decision["arguments"])) == '
                           '(call["name"], canonical(call["arguments"]))'),
                 "You leave the id out. The model may ask for the same refund once more, and the old yes would pay it again."),
            Trap(_may_body('return decision["word"] is True and not decision["used"] and (decision["id"], canonical(decision["arguments"])) == '
                           '(call["id"], canonical(call["arguments"]))'),
                 "You leave the name out: a yes to refund_order would run any tool that takes the same arguments."),
        ],
        after="Id, name, canonical arguments, once, and only for True. That is the whole of it."),
    Exercise(
        id="07-2", title="What did the crash leave?", difficulty=2, minutes=7, name="after_crash", stub=_AFTER_STUB, solution=_AFTER, cases=_after_cases, pure=True,
        task="Write `after_crash(events)`: read a record that breaks off anywhere and say of every call what is known about it.",
        hints=["Three kinds of events, three words. Which word does each event give to its call?",
               "Walk through the events once and let each one overwrite what the earlier ones said. The order of the record does the rest."],
        traps=[
            Trap(_after_variant('found[event["id"]] = "unknown"', 'found[event["id"]] = "not started"'),
                 "You call a started call not started, so it would be run again. If the tool had just paid, it pays twice."),
            Trap(_after_variant('found[event["id"]] = "unknown"', 'found[event["id"]] = "done"'),
                 "You call a started call done, so it is never run and nobody is told. If the tool had not paid yet, the customer waits for ever."),
            Trap('def after_crash(events):\n    asked = [i for e in events if e["kind"] == "reply" for i in e["ids"]]\n'
                 '    started = sum(e["kind"] == "call" for e in events)\n    ended = sum(e["kind"] == "result" for e in events)\n'
                 '    return {id: "done" if n < ended else "unknown" if n < started else "not started" for n, id in enumerate(asked)}\n',
                 "You count events and pair them by place. Results may come in another order, and a rejected call has a result without a start: pair them by id."),
            Trap('def after_crash(events):\n    asked = [i for e in events if e["kind"] == "reply" for i in e["ids"]]\n'
                 '    started = {e["id"] for e in events if e["kind"] == "call"}\n    ended = {e["id"] for e in events if e["kind"] == "result"}\n'
                 '    return {id: "not started" if id not in started else "done" if id in ended else "unknown" for id in asked}\n',
                 "You look for the start first. A rejected call never starts and has its result all the same; your function would ask for it, or run it, again."),
            Trap(_after_variant('found.update({id: "not started" for id in event["ids"]})', 'found = {id: "not started" for id in event["ids"]}'),
                 "Each new reply makes you forget the calls before it. Keep them: every call of the run belongs into the answer."),
        ],
        after="Only `unknown` needs thought. Everything else follows from the record, because each event is written before the thing that comes after it."),
    Exercise(
        id="07-3", title="Find the bug in this trace", difficulty=3, minutes=5, value=True, solution=f"answer = {_FIRST}\n", cases=_BUG_CASES,
        stub="answer = ...      # the number of an event\n",
        task="Order B456 was paid twice; both people did their job. Which event is the first that a sound harness would not have written?",
        hints=["The money is lost at event 8. But look for the moment from which on it had to go wrong.",
               "At event 6 the harness waits once more, in the middle of a batch. Why could it come to that?"],
        traps=[
            _bug_trap(8, "Here it pays twice. But process C only does what B did before it: run the batch from its start. The fault is older: B should not have begun."),
            _bug_trap(9, "That is the second payment, on record. Look for the first event that should not be there."),
            _bug_trap(5, "A result after a call is as it should be. Should this call have run at that moment?"),
            _bug_trap(6, "It waits once more because one call of the batch was still undecided. That was so before event 4 as well."),
            _bug_trap(3, "One person has decided one of two calls. That is fine, and it belongs on the record. What may happen next?"),
            _bug_trap(7, "The second decision is a good one. By then the harm is prepared."),
        ],
        after="Event 4. With call_4 undecided nothing of the batch may run. Where the batch is decided first, it runs once, from its first call to its last."),
]
