"""What is wrong with a call, and the error texts that can be made of it: the material of notebook 05's experiment."""

import difflib
import functools
import json
import re
import traceback
from dataclasses import dataclass

from agentkit.tools import Registry, Tool, show

# ---- six tools ---------------------------------------------------------------------------------------------------------

_ID = {"type": "string", "pattern": "^[A-Z][0-9]{3}$", "description": "such as A123"}
ORDERS = {f"{letter}{n}": {"total": 50 * n} for letter in "ABC" for n in range(100, 1000)}
DAYS = {"standard": 4, "express": 1}
NOTES = {"late": "Sorry that it came late.", "damaged": "Sorry that it came damaged."}


def get_order(order_id, lines=False, history=False):
    return ORDERS[order_id]


def ship_order(order_id, boxes, speed, note="", gift=False, insured=False):
    total = ORDERS[order_id]["total"]
    labels = [f"{order_id}-{n}" for n in range(boxes)]
    return {"labels": labels, "days": DAYS[speed], "total": total}


def refund_order(order_id, percent, reason, note="", notify=True):
    back = ORDERS[order_id]["total"] * (percent / 100)
    return {"paid_back": back, "note": NOTES[reason]}


def _schema(required, optional=None):
    return {"type": "object", "properties": {**required, **(optional or {})}, "required": list(required), "additionalProperties": False}


_TEXT, _FLAG = {"type": "string"}, {"type": "boolean"}
TOOLS = Registry([
    Tool("get_order", "Look up one order.", _schema({"order_id": _ID}, {"lines": _FLAG, "history": _FLAG}), get_order),
    Tool("ship_order", "Send one order to the customer.", _schema(
        {"order_id": _ID, "boxes": {"type": "integer", "minimum": 1}, "speed": {"enum": list(DAYS)}},
        {"note": _TEXT, "gift": _FLAG, "insured": _FLAG}), ship_order),
    Tool("refund_order", "Pay an order back, or a part of it.", _schema(
        {"order_id": _ID, "percent": {"type": "integer", "minimum": 1, "maximum": 100}, "reason": {"enum": list(NOTES)}},
        {"note": _TEXT, "notify": _FLAG}), refund_order),
    Tool("hold_order", "Keep one order in the warehouse.", _schema({"order_id": _ID, "days": {"type": "integer"}}), lambda **a: a),
    Tool("get_customer", "Look up one customer.", _schema({"customer_id": _TEXT}), lambda **a: a),
    Tool("list_orders", "List the orders of one day.", _schema({"day": _TEXT}), lambda **a: a),
])


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
