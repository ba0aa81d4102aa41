"""The scorecard's lines of stages 1 and 2: the loop itself, and what happens when something fails."""

from __future__ import annotations

import datetime

from .round_helpers import BASE, GOOD, MUST, desk, endless, get_page, line, four_digits, miscounted, results_text
from .round_scenes import Scene, Situation, ask, call, refused, result_of, roles, say
from .values import show

# ---- stage 1: a loop --------------------------------------------------------------------------------------------------


@line(1, MUST, "A reply without a call is the answer, and nothing else is", "04_loop")
def answer(rng):
    get_order, stock = desk(rng)
    order, text = next(iter(stock)), f"It costs {four_digits(rng)}."

    def judge(scene, end, what):
        wanted = len(scene.model.replies)
        if end.wrong or not end.done or end.answer != text or scene.calls != wanted:
            return f"{what} After {scene.calls} of {wanted} model calls {end}."
        return None

    for what, replies in (
        ("A plain answer.", [say(text)]),
        ("A sentence beside a call, then the answer.", [say("Let me look.", [call("call_1", "get_order", order_id=order)]), say(text)]),
        ("An answer with an empty list of calls beside it.", [say(text, [])]),
    ):
        yield Situation(
            Scene(replies, [get_order]),
            lambda s, e, what=what: judge(s, e, what),
            'A reply in text ended the run: "done". A sentence beside a call did not.',
        )


@line(1, MUST, "It stops by itself, after exactly max_steps model calls", "06_exits")
def steps(rng):
    n = rng.randrange(3, 7)

    def stops(scene, end):
        if found := miscounted(
            scene, scene.settings["max_steps"], f"max_steps={scene.settings['max_steps']} and a model that never answers"
        ):
            return found
        return f"No answer was given, and yet {end}." if end.done or end.answer is not None else None

    yield Situation(Scene([endless()], [get_page], max_steps=n), stops, f"max_steps={n} and a model that never answers: {n} model calls.")
    yield Situation(Scene([endless()], [get_page], max_steps=0), stops)
    yield Situation(
        Scene([ask(call("call_1", "get_page", number=1)), say("Just in time.")], [get_page], max_steps=2),
        lambda scene, end: None if end.done else f"The answer came at step 2 of 2, and {end}.",
    )


@line(1, MUST, "Each reply joins the list, then its result; every run starts with its own", "01_message_list", needs=("answer",))
def list_(rng):
    get_order, stock = desk(rng)
    (a, x), (b, y), *_ = stock.items()

    def judge(scene, end):
        if end.wrong:
            return end.wrong
        first = [m for m in scene.sent[0] if isinstance(m, dict) and m.get("role") != "system"]
        if len(first) != 1 or first[0].get("content") != scene.task:
            return f"The first list of a new run should be the task alone; it was: {roles(scene.sent[0])}."
        for n, sent in enumerate(scene.sent[1:], 1):
            if roles([m for m in sent if m.get("role") != "system"]) != ", ".join(["user"] + ["assistant", "tool"] * n):
                return f"The list that was sent at model call {n + 1} holds: {roles(sent)}."
            if found := refused(sent):
                return f"The list that was sent at model call {n + 1} would be refused: {found}."
        said = results_text(scene.sent[-1])
        return None if str(x) in said and str(y) in said else "What the tool returned is not in the list that the model was sent next."

    for task in ("What do the two orders cost?", "And now once more, in a new run?"):
        yield Situation(
            Scene(
                [ask(call("call_7", "get_order", order_id=a)), ask(call("call_3", "get_order", order_id=b)), say("Done.")],
                [get_order],
                task=task,
            ),
            judge,
            "Model call 3 was sent user, assistant, tool, assistant, tool; a second run began with its own task alone.",
        )


# ---- stage 2: things fail ---------------------------------------------------------------------------------------------


@line(2, MUST, "Whatever a tool does, a text comes back", "05_errors", needs=BASE)
def tool(rng):
    n = four_digits(rng)

    def raises():
        raise ValueError(f"the warehouse is closed, code {n}")

    def gives(value):
        def look():
            return value

        return look

    raises.__name__ = "look"
    for what, tool, must in (
        ("A tool raised ValueError", raises, str(n)),
        ("A tool returned a dict", gives({"price": n}), str(n)),
        ("A tool returned a dict with a date in it", gives({"due": datetime.date(n, 5, 17)}), str(n)),
        ("A tool returned None", gives(None), ""),
    ):

        def judge(scene, end, what=what, must=must):
            if end.wrong:
                return f"{what}. {end.wrong}"
            text = result_of(scene.sent[1], "call_1") if scene.calls > 1 else None
            if text is None or must not in text or not end.done:
                return f"{what}, and the model was told {show(text, 90)}."
            return None

        yield Situation(
            Scene([ask(call("call_1", "look")), say("Done.")], [tool]),
            judge,
            "A tool raised ValueError: the model read why, and the run went on.",
        )


@line(2, MUST, "A tool that does not exist is answered with those that do", "03_registry", needs=BASE)
def unknown(rng):
    get_order, stock = desk(rng)
    order = next(iter(stock))

    def get_parcel(order_id):
        return f"the parcel of {order_id}"

    def judge(scene, end, wrong):
        asked = f"The model asked for {wrong}"
        if end.wrong or scene.ran:
            return f"{asked}. {end.wrong or f'You ran {scene.ran[0][0]}, which it did not ask for.'}"
        text = result_of(scene.sent[1], "call_1") if scene.calls > 1 else None
        if text is None or "get_parcel" not in text or "get_order" not in text.replace("get_orders", ""):
            return f"{asked}, and was told {show(text, 90)}: that does not name the tools there are."
        return None

    for wrong in ("get_orders", rng.choice(("delete_order", "send_mail"))):
        yield Situation(
            Scene([ask(call("call_1", wrong, order_id=order)), say("Done.")], [get_order, get_parcel]),
            lambda s, e, wrong=wrong: judge(s, e, wrong),
            "The model asked for get_orders: nothing ran, and it was told get_order and get_parcel.",
        )


@line(2, MUST, "Nothing runs by guess: arguments that cannot be read are an error", "02_tools", needs=BASE)
def guess(rng):
    def cancel_orders(scope="all"):
        return f"cancelled: {scope}"

    cut = '{"scope": "A' + str(rng.randrange(100, 999))
    for arguments in (cut, "null", f"[{rng.randrange(9)}]", '{"order": "A1"}', ""):

        def judge(scene, end, arguments=arguments):
            if scene.ran:
                return f"The arguments were {show(arguments)}, and cancel_orders ran on {show(scene.ran[0][1].get('scope', 'all'))}."
            if end.wrong:
                return f"The arguments were {show(arguments)}. {end.wrong}"
            return (
                None
                if scene.calls > 1 and result_of(scene.sent[1], "call_1")
                else f"The arguments were {show(arguments)}, and the model was told nothing."
            )

        yield Situation(
            Scene([ask(call("call_1", "cancel_orders", arguments)), say("Done.")], [cancel_orders]),
            judge,
            f"The arguments were {show(cut)}: nothing ran, and the model was told.",
        )


@line(2, GOOD, "A model that fails or says nothing is no success, and no crash", "06_exits", needs=("answer",))
def model(rng):
    get_order, stock = desk(rng)
    for what, replies in (
        ("The model raised ConnectionError", [ConnectionError("no route to the model")]),
        ("The model raised at its second call", [ask(call("call_1", "get_order", order_id=next(iter(stock)))), TimeoutError("no answer")]),
        ("The model's reply was empty", [say("")]),
        ("The model's reply was empty", [say(None)]),
        ("The model's reply was white space", [say(" \n")]),
    ):

        def judge(scene, end, what=what):
            if end.wrong or end.done or scene.calls > 10:
                return f"{what}. {end.wrong or str(end).capitalize() + '.'}"
            return None

        yield Situation(
            Scene(replies, [get_order]), judge, "The model raised, and later it said nothing: each run ended with a word of its own."
        )
