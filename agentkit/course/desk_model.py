"""The stand-in model of notebook 24. One set of mistakes, whichever design it works in.

It decides by fixed rules from what is in its list, and makes a planted mistake with the chance that stands in CHANCES, by a
seeded draw for each ticket. The chances are assumed: the stand-in shows what a design makes of mistakes, not how often a
real model makes them.
"""

import json
import random
import re

from agentkit import Reply, Transient, call

ORDER = re.compile(r"\b[A-F]\d{3}\b")
KINDS = ("question", "late", "address", "broken", "other")
CHANCES = {"word": 0.25, "asks nobody": 0.5, "photo": 0.10, "kind": 0.02, "one order": 0.20, "one by one": 0.5}
MEANING = {"word": "takes the customer's word for it", "asks nobody": "pays a dear order without asking a person", "photo": "misjudges the photo",
           "kind": "names the wrong kind of ticket", "one order": "looks at the first order only",
           "one by one": "looks orders up one a step (harmless, and it costs)"}
DRAFT = ("Thank you for your message. We have looked into it and done what our rules say for your case; "
         "you find the details in your account. Please write again if anything is missing.")


def slips_of(task) -> set[str]:
    """The mistakes that this stand-in makes on this trial of a ticket."""
    if fault := task.setup.get("fault"):
        return {fault}
    return {slip for slip, chance in CHANCES.items() if random.Random(f"{slip}/{task.id}/{task.trial}").random() < chance}


def stand_in(task, dear: int):
    """The model for one ticket. It acts where it is given tools to act with, and writes a proposal where it can only read."""
    group, slips, state = task.setup["group"], slips_of(task), {"calls": 0}

    def model(messages, tools=()):
        state["calls"] += 1
        if "busy" in slips and state["calls"] <= 2:
            raise Transient("429: too many requests", retry_after=2)
        if not tools:
            prompt = next(m["content"] for m in messages if m["role"] == "user")
            return Reply(_form(prompt, group, slips, task))
        names = {t["function"]["name"] for t in tools}
        look, act = moves(group, messages, slips, dear if "refund_order" in names else None)
        if look:
            return Reply("I have to look that up first.", look)
        if "refund_order" not in names:
            return Reply("I think it is best to refund this one." if "prose" in slips else json.dumps(act))
        todo = [a for a in act if not _done(messages, a)]
        return Reply("That is what the rules say.", [call(a["tool"], **a["arguments"]) for a in todo]) if todo else Reply(DRAFT)

    return model


def _form(prompt, group, slips, task):
    """A step of the workflow, filled in."""
    if prompt.startswith("Which kind"):
        right = "other" if group == "tail" and "deliver" in prompt else group if group in KINDS else "late" if ORDER.search(prompt) else "other"
        if "kind" in slips:
            return "delayed parcel" if task.setup.get("fault") else random.Random(task.id).choice([k for k in KINDS if k != right])
        return right
    if prompt.startswith("Does the photo"):
        return "damaged" if _damaged(prompt) != ("photo" in slips) else "not damaged"
    return DRAFT


def _damaged(text):
    return bool(re.search(r"\[photo: .*(crack|bent|torn)", text))


def moves(group, messages, slips, dear):
    """What comes next: (calls that look something up, actions to take). `dear`: above it a person decides; None if others see to that."""
    text = next(m["content"] for m in messages if m["role"] == "user")
    seen = _results(messages)
    named = list(dict.fromkeys(ORDER.findall(text)))
    if group == "question":
        return [], []
    if "obeys" in slips:
        return [], [_act("refund_order", order_id=named[0], usd=500, reason="late")]
    if "loops" in slips:
        return [call("track_parcel", parcel="PK0")], []
    if not named and "find_orders" not in {n for n, _, _ in seen}:
        return [call("find_orders")], []
    ids = named or next(json.loads(t) for n, _, t in seen if n == "find_orders")
    ids = ids[:1] if "one order" in slips else ids
    orders = {a["order_id"]: t for n, a, t in seen if n == "get_order"}
    if todo := [i for i in ids if i not in orders]:
        return [call("get_order", order_id=i) for i in (todo[:1] if "one by one" in slips else todo)], []
    if any(t.startswith("ERROR") for t in orders.values()):
        return [], [_act("hand_over", reason="an order that I cannot read")]
    orders = {i: json.loads(t) for i, t in orders.items()}
    if todo := [o["replaced_by"] for o in orders.values() if o["replaced_by"] and o["replaced_by"] not in orders]:
        return [call("get_order", order_id=i) for i in todo], []
    parcels = {a["parcel"]: t for n, a, t in seen if n == "track_parcel"}
    todo = [o["parcel"] for o in orders.values() if o["parcel"] and o["parcel"] not in parcels]
    if "nothing came" in text and "word" not in slips and todo:
        return [call("track_parcel", parcel=p) for p in todo], []
    return [], [a for i, o in orders.items() for a in _decide(i, o, text, parcels, slips, dear)]


def _decide(id, order, text, parcels, slips, dear):
    where = parcels.get(order["parcel"], "")
    if order["refunded"] or order["replaced_by"]:
        return []
    if street := re.search(r" to (.+) instead", text):
        return [_act("hand_over", reason="sent already")] if order["sent"] else [_act("change_address", order_id=id, address=street[1])]
    if where.startswith(("ERROR", "sent back")):
        return [_act("hand_over", reason=f"parcel {order['parcel']}: {where[:40]}")]
    photo = "[photo" in text and _damaged(text) != ("photo" in slips)
    reason = "broken" if photo else "lost" if where.startswith("lost") else "late" if order["days_late"] > 7 else None
    if reason is None and "word" in slips and re.search("refund|money back", text):
        reason = "lost" if "nothing came" in text else "late"
    if reason is None:
        return []
    if dear is not None and order["usd"] > dear and "asks nobody" not in slips:
        return [_act("hand_over", reason=f"{id} costs {order['usd']} USD")]
    return [_act("refund_order", order_id=id, usd=order["usd"], reason=reason)]


def _act(tool, **arguments):
    return {"tool": tool, "arguments": arguments}


def _done(messages, action) -> bool:
    """Whether an action has worked. One that failed is tried again, but a refusal is taken."""
    texts = [t for n, a, t in _results(messages) if (n, a) == (action["tool"], action["arguments"])]
    return bool(texts) and not (texts[-1].startswith("ERROR") and "Timeout" in texts[-1])


def _results(messages):
    """(tool, arguments, text) of every result in the list."""
    asked = {c["id"]: json.loads(c["function"]["arguments"]) for m in messages for c in m.get("tool_calls", ())}
    return [(m["name"], asked[m["tool_call_id"]], m["content"]) for m in messages if m["role"] == "tool"]
