"""Who works the tickets off: a chatbot, a workflow, an agent, and a workflow that asks an agent where its path ends.

The stand-ins know the right decision for every ticket and make a wrong one with a given probability, by a seeded draw for
each decision. That is assumed, not measured: it shows how errors, calls and tokens add up, not how good a model is. Time is
assumed too, and passes on a clock that is moved by hand.
"""

import json
import random
import re
from functools import cache
from types import SimpleNamespace

from agentkit import Price, Reply, Spent, ToolResult, call, run, tool
from agentkit.patterns.workflow import ask, workflow

from .exits import Clock, size
from .tickets import KINDS, QUEUE, SYSTEM, Shop, Ticket

PRICE = Price(3, 15)                                            # USD per million tokens, assumed
CALL_SECONDS, READ_SECONDS, WRITE_SECONDS = 0.6, 0.0002, 0.02   # of a model call, for each token sent, for each token written; assumed
QUESTION = f"Which kind of ticket is this? {', '.join(KINDS)}."
NO_PATH = "no path for this ticket"


# ---- the stand-ins ---------------------------------------------------------------------------------------------------

def _slips(error: float, *where) -> bool:
    return random.Random("/".join(map(str, where))).random() < error


def draft(ticket: Ticket) -> str:
    return f"Thank you for your message. We have looked into it and kept to our rule for this case ({ticket.kind}). Write again if anything is missing."


def chatbot_model(ticket: Ticket):
    """Has no tools: it writes what a helpful person would say."""
    return lambda messages, tools=(): Reply("I am sorry about that! I have looked into it and will take care of it for you right away.")


def form_model(ticket: Ticket, error: float = 0.0, seed: int = 0):
    """Fills in the steps of a workflow: names the kind of the ticket, writes the draft."""
    def model(messages, tools=()):
        if messages[-1]["content"].startswith("Which kind"):
            rng = random.Random(f"kind/{seed}/{ticket.id}")
            return Reply(rng.choice([k for k in KINDS if k != ticket.kind]) if _slips(error, seed, ticket.id, 0) else ticket.kind)
        return Reply(draft(ticket))
    return model


def agent_model(ticket: Ticket, error: float = 0.0, seed: int = 0):
    """Chooses each next call by what the list shows. A wrong decision does what was not asked for, or ends as if all were done."""
    def model(messages, tools=()):
        step = sum(m["role"] == "assistant" for m in messages)
        said = _next(ticket, messages)
        if said and _slips(error, seed, ticket.id, step):
            wrong = call("hand_over", reason="I am not sure") if not ticket.right.handed_over else call("refund_order", order_id=_named(ticket.text))
            return Reply(tool_calls=wrong) if random.Random(f"{seed}-{ticket.id}-{step}").random() < 0.5 else Reply("All is done.")
        return Reply(tool_calls=said) if said else Reply("All is done.")
    return model


def _named(text: str) -> str | None:
    found = re.search(r"\b[A-G]\d{3}\b", text)
    return found and found[0]


def _next(ticket: Ticket, messages: list[dict]) -> list:
    """The right next calls, from what has been looked up and done so far; none when the customer has been answered."""
    asked = {c["id"]: json.loads(c["function"]["arguments"]) for m in messages for c in m.get("tool_calls", ())}
    done = [(m["name"], asked[m["tool_call_id"]], m["content"]) for m in messages if m["role"] == "tool"]
    names, orders = {n for n, _, _ in done}, {a["order_id"]: json.loads(text) for n, a, text in done if n == "get_order"}
    order_id, right = _named(ticket.text), ticket.right
    if "find_rule" not in names:
        look = call("get_order", order_id=order_id) if order_id else call("find_orders", customer=ticket.text.split(". ")[-1]) if ticket.found else None
        return [c for c in (look, call("find_rule", kind=ticket.kind)) if c]
    listed = [i for n, _, text in done if n == "find_orders" for i in json.loads(text)]
    follow = [i for i in [*listed, *(o.get("replaced_by") for o in orders.values())] if i and i not in orders]
    if follow:
        return [call("get_order", order_id=i) for i in follow]
    parcel = orders.get(order_id, {}).get("parcel")
    if parcel and "track_parcel" not in names:
        return [call("track_parcel", parcel=parcel)]
    for name, wanted in (("refund_order", [{"order_id": i} for i in right.refunded]),
                         ("change_address", [{"order_id": i, "address": a} for i, a in right.addresses]),
                         ("hand_over", [{"reason": "sent already"}] if right.handed_over else [])):
        if wanted and name not in names:
            return [call(name, **a) for a in wanted]
    return [] if "answer_customer" in names else [call("answer_customer", rule=right.rule, text=draft(ticket))]


def timed(model, clock):
    """The model, with the time that its calls are assumed to take on this clock."""
    def slow(messages, tools=()):
        reply = model(messages, tools)
        written = size([{"content": reply.text, **({"tool_calls": reply.as_message()["tool_calls"]} if reply.tool_calls else {})}])
        clock.wait(CALL_SECONDS + READ_SECONDS * size(messages, tools) + WRITE_SECONDS * written)
        return reply
    return slow


# ---- the workflow ------------------------------------------------------------------------------------------------------

def steps(task: str):
    """The path that can be drawn before the first ticket is read."""
    kind = yield ask("classify", f"{QUESTION}\n\n{task}", choices=KINDS)
    named = _named(task)
    if kind == "other" or kind != "question" and named is None:
        return NO_PATH
    rule = yield call("find_rule", kind=kind)
    if kind != "question":
        order = json.loads((yield call("get_order", order_id=named)))
        if kind == "late order" and order["days_late"]:
            yield call("refund_order", order_id=named)
        elif kind == "broken item" and (order["delivered_days_ago"] or 99) <= 30:
            yield call("refund_order", order_id=named)
        elif kind == "address change" and (order["sent"] or " to " not in task):
            yield call("hand_over", reason="sent already")
        elif kind == "address change":
            street = task.split(" to ")[1].split(" instead")[0]
            yield call("change_address", order_id=named, address=street)
    text = yield ask("draft", f"Answer the customer. The rule: {rule}\n\n{task}")
    yield call("answer_customer", rule=rule.split()[0], text=text)
    return text


def steps_then_agent(task: str):
    """The same path, and an agent where it ends."""
    said = yield from steps(task)
    if said == NO_PATH:
        said = yield call("ask_agent", request=task)
    return said


# ---- working a ticket off ----------------------------------------------------------------------------------------------

WAYS = ("chatbot", "workflow", "agent", "workflow, then agent")


def work(ticket: Ticket, way: str, error: float = 0.0, seed: int = 0, path=None) -> SimpleNamespace:
    """Work one ticket off in a fresh shop: what it took, and the state it left. `path` is another workflow than steps."""
    clock = Clock()
    shop, options = Shop(clock), {"system": SYSTEM, "prices": PRICE, "clock": clock}
    agent = timed(agent_model(ticket, error, seed), clock)
    form = timed(form_model(ticket, error, seed), clock)

    @tool
    def ask_agent(request: str) -> str:
        """Have an agent work on the request."""
        inner = run(agent, shop.tools(), request, **options)
        return ToolResult(inner.answer or inner.report, inner.status != "done", Spent.of(inner))

    if way == "chatbot":
        result = run(timed(chatbot_model(ticket), clock), [], ticket.text, **options)
    elif way == "agent":
        result = run(agent, shop.tools(), ticket.text, **options)
    elif way == "workflow":
        result = workflow(path or steps, form, shop.tools(), ticket.text, **options)
    else:
        result = workflow(path or steps_then_agent, form, [*shop.tools(), ask_agent], ticket.text, **options)
    asked = [e["usage"] for e in result.journal.of("reply") if e["usage"]["input_tokens"]]
    calls = len(asked) + sum(e["spent"]["steps"] for e in result.journal.of("result") if e.get("spent"))
    return SimpleNamespace(ticket=ticket, way=way, result=result, calls=calls, sent=result.usage.input_tokens, written=result.usage.output_tokens,
                           tokens=result.usage.total_tokens, usd=result.usage.cost_usd, seconds=clock(), end=shop.state(), outcome=judge(ticket, shop.state()))


def judge(ticket: Ticket, end) -> str:
    """"solved", "left" (nothing was done that a person could not go on from) or "wrong", by the state of the shop alone."""
    right = ticket.right
    if end == right:
        return "solved"
    harmless = set(end.refunded) <= set(right.refunded) and set(end.addresses) <= set(right.addresses) and end.rule is None
    return "left" if harmless else "wrong"


@cache
def work_off(way: str, error: float = 0.0, seed: int = 0, path=None) -> tuple:
    """The whole queue."""
    return tuple(work(t, way, error, seed, path) for t in QUEUE)


def totals(done) -> SimpleNamespace:
    """What a queue took, and how many tickets are solved, left and wrong."""
    n = len(done)
    count = {o: sum(d.outcome == o for d in done) for o in ("solved", "left", "wrong")}
    return SimpleNamespace(calls=sum(d.calls for d in done) / n, tokens=sum(d.tokens for d in done) / n, usd=sum(d.usd for d in done) / n,
                           seconds=sum(d.seconds for d in done) / n, n=n, **count)
