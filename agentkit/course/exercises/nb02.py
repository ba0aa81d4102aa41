"""The exercises of notebook 02, tools."""

from ..choosers import REQUESTS, Reader, outcome
from ..exercise import Case, Exercise, Trap

TITLE = "Tools"

# ---- 02-1: what type is this value? ------------------------------------------------------------------------------------

_FITS_STUB = '''
def fits(value, wanted):
    """True when a parsed value is of the JSON type `wanted`: one name, or a list of names.

    The names: string, number, integer, boolean, array, object, null.
    """
    ...
'''
_FITS = '''
import math

PYTHON = {"string": str, "array": list, "object": dict, "null": type(None)}

def fits(value, wanted):
    if isinstance(wanted, list):
        return any(fits(value, name) for name in wanted)
    if isinstance(value, bool) or wanted == "boolean":
        return isinstance(value, bool) and wanted == "boolean"
    if wanted in ("number", "integer"):
        if isinstance(value, int):
            return True
        if not isinstance(value, float) or not math.isfinite(value):
            return False
        return wanted == "number" or value.is_integer()
    return isinstance(value, PYTHON[wanted])
'''


def _fits_cases(rng):
    n, text = rng.randrange(2, 99), f"A{rng.randrange(100, 999)}"
    return [
        Case((text, "string"), True, because="a str is a string"),
        Case((text, "number"), False, because="digits in quotes are a text; do not convert, a model that sends a text should be told"),
        Case((n, "integer"), True, because="an int is an integer"),
        Case((n, "number"), True, because="every integer is a number, so int and float both count"),
        Case((n + 0.5, "number"), True, because="a float is a number"),
        Case((n + 0.5, "integer"), False, because="a number with a fraction is no integer"),
        Case((float(n), "integer"), True, because="JSON has one kind of number: 5.0 and 5 are the same value"),
        Case((True, "boolean"), True, because="True is a boolean"),
        Case((n, "boolean"), False, because="a number is no boolean, even if Python treats it as true"),
        Case((True, "integer"), False, because="bool is a subclass of int in Python; ask for it first"),
        Case((False, "number"), False, because="False is no number; ask for bool first"),
        Case((float("nan"), "number"), False, because="NaN is a float in Python and no number in JSON; math.isfinite knows"),
        Case((float("inf"), "integer"), False, because="infinity is no integer, and int(float('inf')) raises; math.isfinite knows"),
        Case((10 ** (400 + n), "number"), True, because="JSON numbers have no largest value; math.isfinite turns an int into a float first, and overflows"),
        Case(([n], "array"), True, because="a list is an array"),
        Case(([], "object"), False, because="an empty list is no object"),
        Case(({}, "object"), True, because="a dict is an object, an empty one too"),
        Case((None, "null"), True, because="None is null"),
        Case((None, "string"), False, because="null is a type of its own"),
        Case((None, ["integer", "null"]), True, because="wanted may be a list: one of its names is enough"),
        Case((True, ["integer", "null"]), False, because="for each name of the list the same rules hold"),
    ]


def _fits_variant(old, new):
    assert old in _FITS
    return _FITS.replace(old, new)


# ---- 02-2: write a tool that gets picked ---------------------------------------------------------------------------------

_OTHERS = {
    "get_order": "Look up one order. Use it for every question about an order: where it is, if it was sent, when it arrives, what was bought.",
    "cancel_order": "Stop an order before it is sent. Use it when the customer no longer needs it or ordered by mistake.",
}
_REASONS = ("damaged", "late", "wrong item")
_MOST_WORDS = 40
_WANTED = {"order_id": "B456", "amount": 250, "reason": "damaged"}

_WRITE_STUB = '''
answer = {
    "description": ...,
    "schema": {
        "type": "object",
        "properties": {"order_id": ..., "amount": ..., "reason": ...},     # one schema for each argument
        "required": [...],
    },
}
'''
_WRITE = '''
answer = {
    "description": "Pay money back. Use it when something is broken, wrong or lost and the customer asks for money.",
    "schema": {
        "type": "object",
        "properties": {
            "order_id": {"type": "string", "description": "such as A123"},
            "amount": {"type": "number"},
            "reason": {"enum": ["damaged", "late", "wrong item"]},
        },
        "required": ["order_id", "amount", "reason"],
    },
}
'''


def _shape(value, args):
    import jsonschema

    if not isinstance(value, dict) or not isinstance(value.get("description"), str) or not isinstance(value.get("schema"), dict):
        return 'a dict with "description" (a text) and "schema" (a dict)'
    try:
        jsonschema.Draft202012Validator.check_schema(value["schema"])
    except jsonschema.SchemaError as error:
        return f"a valid JSON schema; {error.message}"
    names = sorted(value["schema"].get("properties", {}))
    if names != sorted(_WANTED):
        return f"the three arguments {', '.join(sorted(_WANTED))} in properties, not {', '.join(names) or 'none'}"
    if len(value["description"].split()) > _MOST_WORDS:
        return f"a description of at most {_MOST_WORDS} words: it is sent with every call; yours has {len(value['description'].split())}"
    return None


def _picked(value, first):
    """Of 240 readers: how many with a refund to make pick the refund, and how many with another wish take it by mistake."""
    texts = {**_OTHERS, "refund_order": value["description"]}
    found = []
    for k in range(240):
        request, right = REQUESTS[k % len(REQUESTS)]
        found.append((right, Reader(first + k).choose(request, texts)))
    refunds = sum(right == got == "refund_order" for right, got in found)
    return refunds, sum(right != "refund_order" == got for right, got in found)


def _choice_test(first):
    def test(value, args):
        refunds, stolen = _picked(value, first)
        if refunds < 54:
            return f"at least 54 of the 80 readers with a refund to make to pick refund_order; {refunds} did"
        if stolen > 36:
            return f"at most 36 of the 160 readers with another wish to pick refund_order; {stolen} did"
        return None
    return test


def _pay(order_id, amount, reason="?"):
    if order_id != "B456":
        raise LookupError("no such order")
    return {"order_id": order_id, "amount": float(amount), "reason": reason}


def _filled(value, first):
    from agentkit import Tool

    refund = Tool("refund_order", value["description"], value["schema"], _pay)
    found = [outcome(refund, Reader(first + k).fill(value["schema"]), _WANTED) for k in range(240)]
    return {word: found.count(word) for word in ("right", "refused", "wrong")}


def _fill_test(first):
    def test(value, args):
        found = _filled(value, first)
        if found["wrong"]:
            return (f"no call to run and do something else; {found['wrong']} of 240 did: they passed your schema "
                    f"with another reason than {', '.join(_REASONS)}, or without one")
        if found["right"] < 190:
            return f"at least 190 of 240 calls to be right at once; {found['right']} were, {found['refused']} were refused"
        return None
    return test


def _good_calls(value, args):
    from agentkit import Registry, Tool
    from agentkit.tools import Refused

    registry = Registry([Tool("refund_order", value["description"], value["schema"], _pay)])
    for reason in _REASONS:
        for amount in (250, 99.5):
            try:
                registry.check("refund_order", {"order_id": "B456", "amount": amount, "reason": reason})
            except Refused as refused:
                return f"the call with amount {amount} and reason {reason!r} to pass; your schema says: {str(refused)[:160]}"
    return None


def _write_cases(rng):
    first = rng.randrange(1_000, 9_000)
    return [
        Case(test=_shape, because="Start from the tool written by hand in this notebook."),
        Case(test=_good_calls, because="A schema that refuses good calls is as bad as one that lets bad calls pass."),
        Case(test=_choice_test(first), because="Read the requests of the customers: in which situations do they want money back, and in which words do they say so?"),
        Case(test=_fill_test(first), because="Where the schema says nothing about an argument, each reader writes it in its own way."),
    ]


def _write_variant(*pairs):
    text = _WRITE
    for old, new in pairs:
        assert old in text
        text = text.replace(old, new)
    return text


_WHEN = '"Pay money back. Use it when something is broken, wrong or lost and the customer asks for money."'

# ---- 02-3: which keyword is missing? ---------------------------------------------------------------------------------------

_KEYWORDS = {2: {"minimum", "exclusiveminimum"}, 3: {"maximum", "exclusivemaximum"}, 4: {"enum"}, 5: {"required"},
             6: {"additionalproperties", "unevaluatedproperties"}, 7: {"none"}}
_WHY = {2: "a number below zero is a number; which keyword sets the lowest one?", 3: "which keyword sets the largest number?",
        4: "a free text is a string; which keyword lists the only values allowed?",
        5: "the call has no amount, so the function took its default; which keyword says that an argument must be there?",
        6: "nobody defined currency; which keyword refuses arguments that are not in properties?",
        7: "the call is well formed; can a schema know which orders were late?"}


def _keyword(value, call):
    return str(value.get(call)).strip().strip("'\"").replace("_", "").lower() if isinstance(value, dict) else ""


def _keyword_case(call):
    def test(value, args):
        return None if _keyword(value, call) in _KEYWORDS[call] else f"another keyword for call {call}: {_WHY[call]}"
    return Case(test=test, because="A schema refuses what one of its keywords forbids; a keyword that is not there forbids nothing.")


def _wrong_at(call, *words):
    """True when the first failing case is this call, answered with one of these words."""
    def when(value, args):
        first = next((c for c in _KEYWORDS if _keyword(value, c) not in _KEYWORDS[c]), None)
        return first == call and (not words or _keyword(value, call) in words)
    return when


def _answer(**changes):
    found = {2: "minimum", 3: "maximum", 4: "enum", 5: "required", 6: "additionalProperties", 7: "none"}
    found.update({int(k[1:]): v for k, v in changes.items()})
    return f"answer = {found!r}\n"


EXERCISES = [
    Exercise(
        id="02-1", title="The type of a value", difficulty=2, minutes=6, name="fits", stub=_FITS_STUB, solution=_FITS, cases=_fits_cases,
        task="Write `fits(value, wanted)` for values that Python's own `json.loads` may return, NaN and infinity among them. "
             "`wanted` is a JSON type, or a list of types. It never raises.",
        hints=["Which Python type is also another one? Ask for that one first.",
               "Numbers have three questions: is it an int, is it a finite float, has it a fraction? The order matters for very large ints.",
               "For a list of types, call your own function once for each name."],
        traps=[
            Trap(_fits_variant('    if isinstance(value, bool) or wanted == "boolean":\n        return isinstance(value, bool) and wanted == "boolean"\n',
                               '    if wanted == "boolean":\n        return isinstance(value, bool)\n'),
                 "True passes as a number, because bool is a subclass of int. A model that writes true for a quantity would order one piece."),
            Trap(_fits_variant(" or not math.isfinite(value)", " or value in (math.inf, -math.inf)"),
                 "NaN passes as a number. Every comparison with it is false, so it walks past each limit that comes later."),
            Trap(_fits_variant('wanted == "number" or value.is_integer()', 'wanted == "number"'),
                 "5.0 is refused as an integer. JSON has one kind of number, and some models and libraries write whole numbers with a point."),
            Trap(_fits_variant("        if isinstance(value, int):\n            return True\n        if not isinstance(value, float) or not math.isfinite(value):",
                               "        if not isinstance(value, (int, float)) or not math.isfinite(value):")
                 .replace("value.is_integer()", "value == int(value)"),
                 "math.isfinite raises OverflowError for a very large int, since it makes a float of it first. Ask it only about floats."),
            Trap(_fits_variant("    if isinstance(wanted, list):\n        return any(fits(value, name) for name in wanted)\n", ""),
                 "`wanted` may be a list of types, as in [\"integer\", \"null\"]. A list cannot be looked up in a dict."),
        ],
        after="This is the line on which validators really differ: true as an integer, 5.0 as an integer, NaN as a number."),
    Exercise(
        id="02-2", title="Write a tool that gets picked", difficulty=3, minutes=8, stub=_WRITE_STUB, solution=_WRITE, value=True, cases=_write_cases,
        task="Write the description and the schema of `refund_order`, beside the get_order and cancel_order of this notebook. Nobody looks for words: 240 "
             "fresh readers choose and fill. At least 54 of the 80 with a refund to make must pick it, at most 36 of the 160 others; no call may go wrong "
             f"unseen. Reasons are damaged, late and wrong item. At most {_MOST_WORDS} words.",
        hints=["Print REQUESTS[8:16]. What happened to these customers, and what do they ask for? And which words belong to the other two tools?",
               "Readers write an argument their own way unless its schema has a type other than string, an enum, a pattern or a description.",
               "An argument that is not required is left out by a quarter of the readers."],
        traps=[
            Trap(_write_variant((_WHEN, '"Processes order data."')),
                 "Your readers found little in the description that a customer would say. Say in which situations to use the tool.",
                 when=lambda value, args: _shape(value, args) is None and _good_calls(value, args) is None
                 and len(value["description"].split()) < 8 and _picked(value, 1_000)[0] < 54),
            Trap(_write_variant((_WHEN, '"Use it for every question about an order: where it is, when it arrives, what was bought, if it was sent, is broken, '
                                        'wrong or lost, is no longer needed, to stop, cancel or pay money back."')),
                 "Your description promises everything, so it takes the requests of the other tools too. Leave their words to them.",
                 when=lambda value, args: _shape(value, args) is None and _picked(value, 1_000)[1] > 36),
            Trap(_write_variant(('{"enum": ["damaged", "late", "wrong item"]}', '{"type": "string"}')),
                 "reason is free text: readers wrote what came to mind, your schema let it pass, and nobody will ever count the reasons. List the values.",
                 when=lambda value, args: _shape(value, args) is None and "enum" not in str(value["schema"]["properties"]["reason"])
                 and _filled(value, 1_000)["wrong"] > 0),
            Trap(_write_variant(('["order_id", "amount", "reason"],', '["order_id", "amount"],')),
                 "reason is not required, so a quarter of the readers leave it out and the refund runs without one.",
                 when=lambda value, args: _shape(value, args) is None and "reason" not in value["schema"].get("required", ())
                 and _filled(value, 1_000)["wrong"] > 0),
            Trap(_write_variant(('"amount": {"type": "number"}', '"amount": {"type": "string"}')),
                 "amount is a text in your schema, so good calls with a number are refused. Money is a number.",
                 when=lambda value, args: _shape(value, args) is None and value["schema"]["properties"]["amount"].get("type") == "string"),
        ],
        after="You have just done an evaluation: requests, a description, counts, and another try. With a real model it is the same work."),
    Exercise(
        id="02-3", title="Find the hole in the schema", difficulty=2, minutes=5,
        stub='answer = {2: ..., 3: ..., 4: ..., 5: ..., 6: ..., 7: ...}      # call: the missing keyword, or "none"\n',
        solution='answer = {2: "minimum", 3: "maximum", 4: "enum", 5: "required", 6: "additionalProperties", 7: "none"}\n',
        value=True, cases=[_keyword_case(call) for call in _KEYWORDS],
        task="Somebody's refund tool has the schema `{\"properties\": {\"order_id\": {\"type\": \"string\"}, \"amount\": {\"type\": \"number\"}, "
             "\"reason\": {\"type\": \"string\"}}}`. All seven calls passed it. For each bad call, name the one keyword of JSON schema that would have "
             'refused it; one of them no keyword can refuse: say "none".',
        hints=["What is wrong with each call: a value too small, too large, too free, missing, or too many?",
               "The keywords of this notebook: minimum, maximum, pattern, enum, required, additionalProperties, anyOf.",
               "A schema sees the arguments and nothing else: no database, no customer, no other order."],
        traps=[
            Trap(_answer(_4="pattern"), "A pattern could spell out the choices, but then a typo in it is a hole. There is a keyword that just lists them.",
                 when=_wrong_at(4, "pattern", "maxlength", "type")),
            Trap(_answer(_5="minimum"), "A minimum holds for a value that is there. In call 5 there is none, and so nothing is checked.",
                 when=_wrong_at(5, "minimum", "type", "default")),
            Trap(_answer(_6="required"), "required says what must be there. It does not say that nothing else may be.",
                 when=_wrong_at(6, "required", "enum", "properties", "maxproperties")),
            Trap(_answer(_7="enum"), "Call 7 is well formed in every respect. That the order was on time stands in the database, which no schema can see: "
                                     "the function has to look, or a person has to agree.",
                 when=_wrong_at(7)),
        ],
        after="A schema checks form, not truth. What call 7 needs is a check inside the tool, and for money an approval (notebook 07)."),
]
