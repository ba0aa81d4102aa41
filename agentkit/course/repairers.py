"""The stand-ins of notebook 05: each makes one mistake in a call, and mends it by what stands in the error text.

A repairer knows what it wants done; it does not know what things are called here. Names, allowed values and formats it
takes from the text, and where the text has none, from a list of guesses of its own. It reads literally. So it shows
which information an error text holds; it cannot show how well a real model reads.
"""

import ast
import functools
import json
import random
import re
from dataclasses import dataclass

from agentkit.tokens import count_tokens

from .error_styles import DAYS, NOTES, ORDERS, TOOLS

_DEFINITIONS = json.dumps(TOOLS.definitions())     # a model is sent them with every call

KINDS = ("wrong argument name", "wrong type", "wrong value", "missing argument", "unknown tool", "wrong id format")
GUESSES = 8         # what a stand-in tries where the text tells it nothing; one of them is right
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
    if value in ORDERS:
        letter, digits = value[0], value[1:]
        return [form.format(letter, digits) for form in
                ("#{0}{1}", "{0}-{1}", "order {0}{1}", "{1}", "{0} {1}", "id:{0}{1}", "{0}{1}.", "{0}/{1}", "({0}{1})")] + [value.lower()]
    return _CALLED[value].split()


@dataclass(frozen=True)
class Told:
    """What a repairer finds in an error text."""

    quoted: tuple       # words in quotes
    listed: tuple       # words in a list
    near: str | None    # the word after "did you mean"
    schema: dict        # the arguments of a correct call
    hints: frozenset    # of "unknown", "missing", "number", "format"
    rest: str           # the text without lists, inputs and schemas

    @property
    def words(self) -> list:
        return list(dict.fromkeys(([self.near] if self.near else []) + list(self.quoted + self.listed)))


_HINTS = {"unknown": r"(?i)unknown|unexpected|no (such )?argument", "missing": r"(?i)missing|required|needs",
          "number": r"(?i)integer|number|'int'", "format": r"such as [A-Z]\d|like [A-Z]\d|\[A-Z\]"}


def read(text: str) -> Told:
    """The facts of an error text: quoted words, lists of names, a schema, and a few telling words."""
    rest, schema, listed, i = text, {}, [], 0
    while i < len(text):        # JSON, or what Python prints for it, wherever it starts; a piece that was cut is no JSON
        end, value = _value(text, i) if text[i] in "{[" else (0, None)
        if end:
            found, names = _facts(value)
            schema, listed = found or schema, listed + names
            rest = rest[:i] + " " * (end - i) + rest[end:]
        i = end or i + 1
    near = re.search(r"(?i)mean\W{1,3}(\w+)", rest)
    runs = re.findall(r"(?:: |one of |are )(\w+(?:, (?:or )?\w+)+)", rest)
    listed += [w for run in runs for w in re.split(r", (?:or )?", run)]
    quoted = re.findall(r"(?<!\w)['\"`]([^'\"`\n]{1,40})['\"`]", rest)
    return Told(tuple(quoted), tuple(listed), near and near[1], schema,
                frozenset(h for h, cue in _HINTS.items() if re.search(cue, rest)), rest)


def _value(text: str, start: int):
    """(end, value) of the literal that starts here, or (0, None)."""
    depth = 0
    for end in range(start, len(text)):
        depth += (text[end] in "{[") - (text[end] in "}]")
        if not depth:
            break
    for parse in () if depth else (json.loads, ast.literal_eval):
        try:
            return end + 1, parse(text[start:end + 1])
        except (ValueError, SyntaxError, TypeError):
            pass
    return 0, None


def _facts(value):
    """(the schema, the listed names) that stand in a value."""
    if isinstance(value, dict) and value and all(isinstance(v, dict) for v in value.values()):
        return value, []
    if isinstance(value, list):
        return {}, [v for v in value if isinstance(v, str)]
    inner = [_facts(v) for v in value.values()] if isinstance(value, dict) else []
    return next((s for s, _ in inner if s), {}), [n for _, names in inner for n in names]


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
        places = self.places(told)
        edits = [(place, fix) for place in places for fix in self.fixes(place, told)]
        if not edits:           # nothing is offered: its own guesses, and where it has no idea where, all of them
            edits = [(place, g) for place, guesses in self.guesses.items() if place in places[:1] or not places for g in guesses]
            if not places:
                random.Random(json.dumps(self.wrong)).shuffle(edits)
        calls = [self.edited(*edit) for edit in edits]
        return [c for i, c in enumerate(calls) if c != self.wrong and c not in calls[:i]]

    def places(self, told: Told) -> list:
        """Where the mistake may be, likeliest first: what the text quotes, what differs from its schema, what it mentions."""
        args, wants, schema = self.wrong["args"], self.right["args"], told.schema
        renamed = told.hints & {"unknown", "missing"}
        name_or_value = {a: ("name" if (a not in schema if schema else renamed) else "value", a) for a in args}
        found = [name_or_value[a] for a in args if a in told.quoted]
        found += [("value", a) for a, value in args.items() if value in told.quoted]
        found += ["missing"] if "missing" in told.hints and self.fixes("missing", told) else []
        found += ["tool"] if self.wrong["tool"] in told.quoted else []
        if schema:
            found += [("name", a) for a in args if a not in schema] + [("value", a) for a in args if a in schema] + ["missing"]
        if "number" in told.hints:
            found += [("value", a) for a in args if isinstance(wants.get(a), int) and wants[a] != args[a]]
        if not found:
            found = [name_or_value.get(w, "tool") for w in (*args, self.wrong["tool"]) if re.search(rf"\b{w}\b", told.rest)]
        return list(dict.fromkeys(found))

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
            return self.ordered({*new, *(w for w in told.schema if w not in args)}, a, told)
        shown = told.schema.get(a, {})
        known = (wants.get(a) in told.words or wants.get(a) in shown.get("enum", ()) or isinstance(wants.get(a), int) and
                 ("number" in told.hints or shown.get("type") == "integer") or wants.get(a) in ORDERS and
                 ("format" in told.hints or "such as" in shown.get("description", "")))
        return [wants[a]] if known else []

    def ordered(self, words, old, told):
        """The word that was offered first, then those of the schema, those that share a part with the old one, the rest by chance."""
        words = sorted(w for w in words if re.fullmatch(r"\w+", w))
        random.Random(json.dumps(self.wrong)).shuffle(words)
        return sorted(words, key=lambda w: (w != told.near, bool(told.schema) and w not in told.schema, not {*w.split("_")} & {*old.split("_")}))

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


def repairer(kind: str, seed: int) -> Repairer:
    """A stand-in with one mistake of this kind; the right thing stands somewhere in its list of guesses."""
    rng = random.Random(f"{kind} {seed}")
    order_id = rng.choice(list(ORDERS))
    wants = [{"tool": "ship_order", "args": {"order_id": order_id, "boxes": rng.randint(2, 9), "speed": rng.choice(list(DAYS))}},
             {"tool": "refund_order", "args": {"order_id": order_id, "percent": rng.randrange(10, 100, 10), "reason": rng.choice(list(NOTES))}}]
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
    lists = {p: rng.sample([w for w in pool if w != bad], min(GUESSES, len(pool) - 1) if p != place else GUESSES - 1) for p, pool in pools.items()}
    lists[place] = rng.sample(lists[place] + [true], GUESSES)
    return Repairer(kind, right, wrong, lists)


def repairers(each: int = 20) -> tuple[Repairer, ...]:
    """The same stand-ins every time: `each` of every kind."""
    return tuple(repairer(kind, seed) for kind in KINDS for seed in range(each))


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
    trace, spent, listed = [(one.wrong, text)], 0, _tokens(_DEFINITIONS) + _tokens(json.dumps(one.wrong)) + _tokens(text)
    for call in one.repairs(text)[:retries]:
        written, text = _tokens(json.dumps(call)), tell(call)
        spent += listed + written       # the whole list is sent again
        trace.append((call, text or "ok"))
        if text is None:
            break
        listed += written + _tokens(text)
    return Attempt(one.kind, trace[-1][0] == one.right, len(trace) - 1, spent, tuple(trace))


def summary(found) -> tuple[int, int, float, float]:
    """(repaired, of how many, then the means of a stand-in: further calls, tokens of these calls)."""
    n = len(found)
    return sum(a.repaired for a in found), n, sum(a.calls for a in found) / n, sum(a.tokens for a in found) / n


@functools.lru_cache(maxsize=20_000)
def _tokens(text: str) -> int:
    return count_tokens(text)
