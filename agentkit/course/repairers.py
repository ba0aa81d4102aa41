"""The stand-ins of notebook 05: each makes one mistake in a call, and mends it by what stands in the error text.

A repairer knows what it wants done; it does not know what things are called here. Names, allowed values and formats it
takes from the text, and where the text has none, from a list of guesses of its own. It reads literally. So it shows
which information an error text holds; it cannot show how well a real model reads.
"""

import ast
import difflib
import functools
import json
import random
import re
import traceback
from dataclasses import dataclass

from agentkit.tokens import count_tokens
from agentkit.tools import Registry, Tool, explain, show

# ---- six tools ---------------------------------------------------------------------------------------------------------

_ID = {"type": "string", "pattern": "^[A-Z][0-9]{3}$", "description": "such as A123"}
_ORDERS = {f"{letter}{n}": {"total": 50 * n} for letter in "ABC" for n in range(100, 1000)}
_DAYS = {"standard": 4, "express": 1}
_NOTES = {"late": "Sorry that it came late.", "damaged": "Sorry that it came damaged."}


def get_order(order_id, lines=False, history=False):
    return _ORDERS[order_id]


def ship_order(order_id, boxes, speed, note="", gift=False, insured=False):
    total = _ORDERS[order_id]["total"]
    labels = [f"{order_id}-{n}" for n in range(boxes)]
    return {"labels": labels, "days": _DAYS[speed], "total": total}


def refund_order(order_id, percent, reason, note="", notify=True):
    back = _ORDERS[order_id]["total"] * (percent / 100)
    return {"paid_back": back, "note": _NOTES[reason]}


def _schema(required, optional=None):
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required), "additionalProperties": False}


_TEXT, _FLAG = {"type": "string"}, {"type": "boolean"}
TOOLS = Registry([
    Tool("get_order", "Look up one order.", _schema({"order_id": _ID}, {"lines": _FLAG, "history": _FLAG}), get_order),
    Tool("ship_order", "Send one order to the customer.", _schema(
        {"order_id": _ID, "boxes": {"type": "integer", "minimum": 1}, "speed": {"enum": list(_DAYS)}},
        {"note": _TEXT, "gift": _FLAG, "insured": _FLAG}), ship_order),
    Tool("refund_order", "Pay an order back, or a part of it.", _schema(
        {"order_id": _ID, "percent": {"type": "integer", "minimum": 1, "maximum": 100}, "reason": {"enum": list(_NOTES)}},
        {"note": _TEXT, "notify": _FLAG}), refund_order),
    Tool("hold_order", "Keep one order in the warehouse.", _schema({"order_id": _ID, "days": {"type": "integer"}}), lambda **a: a),
    Tool("get_customer", "Look up one customer.", _schema({"customer_id": _TEXT}), lambda **a: a),
    Tool("list_orders", "List the orders of one day.", _schema({"day": _TEXT}), lambda **a: a),
])
_SENT_EVERY_TIME = json.dumps(TOOLS.definitions())


# ---- what is wrong with a call, and the texts that can be made of it -----------------------------------------------------

@dataclass(frozen=True)
class Fault:
    """What is wrong with one call, in pieces; an error text is made of some of them."""

    what: str           # what was wrong
    shown: str          # the input, bounded
    expected: str       # what a correct call looks like
    near: str | None    # the known word that was probably meant
    traceback: str      # what Python says when nobody checks


PARTS = ("what", "shown", "near", "expected", "traceback")
STYLES = {
    "bare code": (),
    "traceback": ("traceback",),
    "what was wrong": ("what",),
    "+ what is expected": ("what", "expected"),
    "+ did you mean": ("what", "near", "expected"),
}


def fault_of(call: dict) -> Fault | None:
    """What is wrong with {"tool": name, "args": {...}}; None when it may run."""
    return _fault_of(json.dumps(call))


@functools.lru_cache(maxsize=20_000)
def _fault_of(text: str) -> Fault | None:
    call = json.loads(text)
    name, args = call["tool"], call["args"]
    if name not in TOOLS:
        return Fault(f"there is no tool '{name}'", show(args), f"Available tools: {', '.join(TOOLS.names)}",
                     _near(name, TOOLS.names), _traceback(call))
    known, errors = TOOLS[name].schema["properties"], list(TOOLS[name].validator.iter_errors(args))
    if not errors:
        return None
    error = next((e for e in errors if e.validator == "additionalProperties"), errors[0])
    where, near = ".".join(map(str, error.path)), None
    if error.validator == "additionalProperties":
        extra = next(k for k in args if k not in known)
        what, near = f"unknown argument '{extra}'", _near(extra, known)
    elif error.validator == "required":
        what = f"missing required argument '{next(k for k in error.validator_value if k not in args)}'"
    elif error.validator == "type":
        what = f"argument '{where}' has the wrong type"
    elif error.validator == "enum":
        what, near = f"argument '{where}' has a value that is not allowed", _near(str(error.instance), error.validator_value)
    else:
        what, near = f"argument '{where}' has the wrong format", _id_in(error.instance)
    return Fault(what, show(args), TOOLS[name].expects, near, _traceback(call))


def error_text(fault: Fault, parts) -> str:
    """The error text made of these parts of a fault; of none of them: the bare code."""
    said = [fault.what if "what" in parts else "", f"You sent {fault.shown}" if "shown" in parts else "",
            f"Did you mean '{fault.near}'?" if "near" in parts and fault.near else "", fault.expected if "expected" in parts else ""]
    text = ". ".join(s for s in said if s).replace("?. ", "? ")
    return "\n".join(t for t in (f"ERROR: {text}" if text else "", fault.traceback if "traceback" in parts else "") if t) or "400 Bad Request"


def style(parts):
    """A teller, call -> error text or None, that makes its texts of these parts."""
    return lambda call: (fault := fault_of(call)) and error_text(fault, parts)


def agentkit_style(call: dict) -> str | None:
    """The teller of agentkit: what its registry says."""
    if fault_of(call):
        return TOOLS.execute(call["tool"], call["args"]).text


def _near(word, known):
    return next(iter(difflib.get_close_matches(word, list(known), 1)), None)


def _id_in(value):
    found = re.search(r"([A-Z])\W?(\d{3})$", str(value).upper())
    return found and found[1] + found[2]


def _traceback(call):
    """What Python says when nobody checks the call; file names and lines are fixed, so that it is the same everywhere."""
    functions = {t.name: t.fn for t in TOOLS}
    try:
        functions[call["tool"]](**call["args"])
    except Exception as error:
        said = str(error).partition(". Did you mean")[0]    # Python 3.13 adds a guess, older ones do not
        line = traceback.extract_tb(error.__traceback__)[-1]
        inside = [f'  File "/srv/shop/tools/orders.py", line 41, in {line.name}', f"    {line.line}"] if line.name in functions else []
        return "\n".join(["Traceback (most recent call last):",
                          '  File "/srv/shop/agent/harness.py", line 88, in run_step', "    result = run_call(reply, functions)",
                          '  File "/srv/shop/agent/harness.py", line 131, in run_call', "    return functions[name](**arguments)",
                          *inside, f"{type(error).__name__}: {said}"])
    return "no exception: the function took what it was given"


# ---- the stand-ins -------------------------------------------------------------------------------------------------------

KINDS = ("wrong argument name", "wrong type", "wrong value", "missing argument", "unknown tool", "wrong id format")
_CALLED = {     # what else a thing may be called: the mistakes are drawn from here, and the guesses too
    "get_order": "find_order lookup_order read_order fetch_order getorder get_orders order order_info show_order load_order",
    "ship_order": "send_order dispatch_order deliver_order ship_orders shiporder post_order mail_order ship start_shipping order_ship",
    "refund_order": "give_refund refund refund_orders pay_back return_money money_back issue_refund reimburse order_refund refundorder",
    "order_id": "id order orderid orderId order_no order_number number ref order_ref key",
    "boxes": "box count boxs quantity qty parcels num_boxes packages n pieces",
    "speed": "speeds shipping delivery service shipping_speed mode method how shipping_mode urgency",
    "percent": "percentage pct share amount rate per_cent part fraction value refund_percent",
    "reason": "reasons cause why because motive refund_reason explanation code grounds reason_code",
    "express": "fast expres quick rapid asap urgent priority EXPRESS overnight hurry",
    "standard": "normal standart regular slow default cheap STANDARD usual basic economy",
    "late": "delay delayed lateness Late overdue slow tardy timing time too_late",
    "damaged": "broken damage defect Damaged smashed cracked faulty harmed spoiled bad",
    "missing": "weight customer address date carrier price size email phone country",
}


def _called(value) -> list:
    """Ten wrong ways to write a name or a value."""
    if isinstance(value, int):
        return [form.format(value) for form in ("{}", "{}.0", "{} pcs", "about {}", "x{}", "{}x", "#{}", "n={}", "{}!", "({})")]
    if value in _ORDERS:
        letter, digits = value[0], value[1:]
        return [form.format(letter, digits) for form in
                ("#{0}{1}", "{0}-{1}", "order {0}{1}", "{1}", "{0} {1}", "id:{0}{1}", "{0}{1}.", "{0}/{1}", "({0}{1})")] + [value.lower()]
    return _CALLED[value].split()


@dataclass(frozen=True)
class Told:
    """What a repairer finds in an error text."""

    words: tuple        # in quotes, in a list, or after "did you mean"; that one comes first
    near: str | None
    schema: dict        # the arguments of a correct call
    hints: frozenset    # of "unknown", "missing", "number", "format"


_HINTS = {"unknown": r"unknown|unexpected|no argument|no such argument", "missing": r"missing|required|needs",
          "number": r"integer|number|'int'", "format": r"such as [A-Z]\d|looks? like [A-Z]\d|\[A-Z\]"}


def read(text: str) -> Told:
    """The facts of an error text: quoted words, lists of names, a schema, and a few telling words."""
    schema = {}
    for found in _braces(text):
        value = _literal(found)
        if isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
            schema = value
        text = text.replace(found, " ")
    near = re.search(r"(?i)mean\W{1,3}(\w+)", text)
    listed = [w for run in re.findall(r"(?:: |one of |are )(\w+(?:, (?:or )?\w+)+)", text) for w in re.split(r", (?:or )?", run)]
    quoted = re.findall(r"(?<!\w)['\"`]([^'\"`\n]{1,40})['\"`]", text)
    words = dict.fromkeys([near[1]] if near else []) | dict.fromkeys(quoted + listed)
    return Told(tuple(words), near and near[1], schema, frozenset(h for h, cue in _HINTS.items() if re.search(cue, text)))


def _braces(text):
    """What stands in outermost braces; an input that was cut ends where the text ends, or at its dots."""
    depth = start = 0
    for i, char in enumerate(text):
        if char == "{":
            start, depth = (i, 1) if not depth else (start, depth + 1)
        elif char == "}" and depth:
            depth -= 1
        if depth and text.startswith("...", i):
            depth, i = 0, i + 2
            yield text[start:i + 1]
        elif char == "}" and not depth:
            yield text[start:i + 1]


def _literal(text):
    for read_it in (json.loads, ast.literal_eval):
        try:
            return read_it(text)
        except (ValueError, SyntaxError):
            pass


@dataclass(frozen=True)
class Repairer:
    """One stand-in: what it wants done, what it asks for first, and what it would try if nobody told it anything."""

    kind: str
    right: dict
    wrong: dict
    guesses: dict       # place -> things to try there, in order; a place is "tool", "missing", ("name", x) or ("value", x)

    def repairs(self, text: str) -> list[dict]:
        """The calls it tries after reading this error text, in order."""
        told = read(text)
        place = self.place(told)
        if place is None:       # no idea where: everything it can think of, everywhere
            edits = [(p, guess) for p, guesses in self.guesses.items() for guess in guesses]
            random.Random(json.dumps(self.wrong)).shuffle(edits)
        else:
            edits = [(place, fix) for fix in self.fixes(place, told) or self.guesses.get(place, ())]
        calls = [self.edited(*edit) for edit in edits]
        return [c for i, c in enumerate(calls) if c != self.wrong and c not in calls[:i]]

    def place(self, told: Told):
        """Where the text says that the mistake is; None when it does not."""
        args = self.wrong["args"]
        for a in args:
            if a in told.words:
                return ("name", a) if "unknown" in told.hints or (told.schema and a not in told.schema) or "missing" in told.hints else ("value", a)
        for a, value in args.items():
            if value in told.words:
                return ("value", a)
        if self.wrong["tool"] in told.words:
            return "tool"
        if "missing" in told.hints and self.fixes("missing", told):
            return "missing"
        for a in args:          # it can lay its call beside a schema
            if told.schema and a not in told.schema:
                return ("name", a)
            if told.schema and self.right["args"][a] != args[a] and self.fixes(("value", a), told):
                return ("value", a)
        if told.schema:
            return "missing"
        numbers = [a for a in args if isinstance(self.right["args"].get(a), int) and not isinstance(args[a], int)]
        return ("value", numbers[0]) if numbers and "number" in told.hints else None

    def fixes(self, place, told: Told) -> list:
        """What the text offers for this place, likeliest first."""
        args, wants = self.wrong["args"], self.right["args"]
        new = [w for w in told.words if w not in args and w not in args.values() and w != self.wrong["tool"]]
        if place == "tool":
            return self.ordered(new, self.wrong["tool"], told)
        if place == "missing":
            return [w for w in dict.fromkeys(new + list(told.schema)) if w in wants and w not in args]
        what, a = place
        if what == "name":
            return self.ordered(dict.fromkeys(new + [w for w in told.schema if w not in args]), a, told)
        shown = told.schema.get(a, {})
        told_of = (wants[a] in told.words or wants[a] in shown.get("enum", ()) or isinstance(wants[a], int) and
                   ("number" in told.hints or shown.get("type") == "integer") or wants[a] in _ORDERS and
                   ("format" in told.hints or "such as" in shown.get("description", "")))
        return [wants[a]] if told_of else []

    def ordered(self, words, old, told):
        """The word that was offered first, then those that share a part with the old one, then the rest, by chance."""
        words = sorted(w for w in words if re.fullmatch(r"\w+", w))
        random.Random(json.dumps(self.wrong)).shuffle(words)
        return sorted(words, key=lambda w: (w != told.near, not set(w.split("_")) & set(old.split("_"))))

    def edited(self, place, new) -> dict:
        """The first call with one thing changed."""
        tool, args = self.wrong["tool"], dict(self.wrong["args"])
        if place == "tool":
            tool = new
        elif place == "missing":
            args[new] = self.right["args"].get(new, "?")
        elif place[0] == "name":
            args = {new if k == place[1] else k: v for k, v in args.items()}
        else:
            args[place[1]] = new
        return {"tool": tool, "args": args}


def repairer(kind: str, seed: int, guesses: int = 8) -> Repairer:
    """A stand-in with one mistake of this kind; the right thing stands somewhere in its list of so many guesses."""
    rng = random.Random(f"{kind} {seed}")
    order_id = rng.choice(list(_ORDERS))
    wants = [{"tool": "ship_order", "args": {"order_id": order_id, "boxes": rng.randint(2, 9), "speed": rng.choice(list(_DAYS))}},
             {"tool": "refund_order", "args": {"order_id": order_id, "percent": rng.randrange(10, 100, 10), "reason": rng.choice(list(_NOTES))}}]
    if kind in ("wrong argument name", "unknown tool", "wrong id format"):
        wants.append({"tool": "get_order", "args": {"order_id": order_id}})
    right = rng.choice(wants)
    args, picked = right["args"], rng.choice(list(right["args"]))
    number, choice = list(args)[1:] or (None, None)
    place, true = {"wrong argument name": (("name", picked), picked), "wrong type": (("value", number), args.get(number)),
                   "wrong value": (("value", choice), args.get(choice)), "missing argument": ("missing", picked),
                   "unknown tool": ("tool", right["tool"]), "wrong id format": (("value", "order_id"), order_id)}[kind]
    bad = rng.choice(_called(true))
    if place == "missing":
        wrong = {"tool": right["tool"], "args": {k: v for k, v in args.items() if k != picked}}
    else:
        wrong = Repairer(kind, right, right, {}).edited(place, bad)
        place = ("name", bad) if place[0] == "name" else place
    pools = {"tool": _called(right["tool"]), "missing": _called("missing")}
    pools |= {("name", k): _called(true if k == bad else k) for k in wrong["args"]}
    pools |= {("value", k): _called(args[true if k == bad else k]) for k in wrong["args"]}
    lists = {p: rng.sample([w for w in pool if w != bad], min(guesses, len(pool) - 1) if p != place else guesses - 1) for p, pool in pools.items()}
    lists[place] = rng.sample(lists[place] + [true], guesses)
    return Repairer(kind, right, wrong, lists)


def repairers(each: int = 20, guesses: int = 8) -> tuple[Repairer, ...]:
    """The same stand-ins every time: `each` of every kind."""
    return tuple(repairer(kind, seed, guesses) for kind in KINDS for seed in range(each))


# ---- the experiment ------------------------------------------------------------------------------------------------------

@dataclass(frozen=True)
class Attempt:
    """What came of one stand-in: its further calls, the tokens they cost, and whether the last one was right."""

    kind: str
    repaired: bool
    calls: int
    tokens: int
    trace: tuple        # (call, error text or "ok") for every call


def attempt(one: Repairer, tell, retries: int = 4) -> Attempt:
    """Let one stand-in call, read and call again. `tell(call)` is the error text, or None for a call that runs."""
    text = tell(one.wrong)
    trace, spent, listed = [(one.wrong, text)], 0, _tokens(_SENT_EVERY_TIME) + _tokens(json.dumps(one.wrong)) + _tokens(text)
    for call in one.repairs(text)[:retries]:
        written, text = _tokens(json.dumps(call)), tell(call)
        spent += listed + written       # the whole list is sent again
        trace.append((call, text or "ok"))
        if text is None:
            break
        listed += written + _tokens(text)
    return Attempt(one.kind, trace[-1][0] == one.right, len(trace) - 1, spent, tuple(trace))


@functools.lru_cache(maxsize=20_000)
def _tokens(text: str) -> int:
    return count_tokens(text)
