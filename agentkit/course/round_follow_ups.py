"""The scorecard's lines of stages 3 to 5: several calls in one reply, limits, and a restart."""

from __future__ import annotations

from .round_helpers import BASE, GOOD, MUST, SENIOR, desk, endless, get_page, line, four_digits, miscounted, results_text
from .round_scenes import MOST, Killed, Scene, Situation, ask, call, ids, left_open, refused, result_of, roles, say
from .values import show

# ---- stage 3: several calls in one reply --------------------------------------------------------------------------------


def _batch(rng, orders):
    """Three calls, two of them of one tool, with ids whose order is not theirs."""
    numbers = sorted(rng.sample(range(10, 99), 3), reverse=True)
    return [call(f"call_{n}", name, order_id=order) for n, name, order in zip(numbers, ("get_order", "get_parcel", "get_order"), orders)]


def _parcel(stock):
    def get_parcel(order_id):
        return f"parcel {order_id} weighs {stock[order_id]}"

    return get_parcel


@line(3, MUST, "Three calls in one reply: three results, by id, in their order", "09_parallel_calls", needs=BASE)
def batch(rng):
    get_order, stock = desk(rng)
    orders = list(stock)

    def judge(scene, end, calls, orders):
        if end.wrong:
            return f"Three calls in one reply. {end.wrong}"
        if len(scene.ran) != 3:
            return f"Three calls in one reply, and {len(scene.ran)} ran."
        if found := refused(scene.sent[1]):
            return f"Three calls in one reply. The next list would be refused: {found}."
        if roles(scene.sent[1][-4:]) != "assistant, tool, tool, tool":
            return f"Three calls in one reply. The next list ends with: {roles(scene.sent[1][-4:])}."
        for c, order in zip(calls, orders):
            text = result_of(scene.sent[1], c["id"]) or ""
            if str(stock[order]) not in text or c["name"][4:] not in text:
                return f"{c['id']} asked {c['name']} for {order} and was answered {show(text, 70)}."
        return None

    for asked in (orders[:3], [orders[3], orders[3], orders[0]]):
        calls = _batch(rng, asked)
        yield Situation(
            Scene([ask(*calls), say("Done.")], [get_order, _parcel(stock)]),
            lambda s, e, calls=calls, asked=asked: judge(s, e, calls, asked),
            "Three calls, two of them of one tool: each was answered under its own id, in call order.",
        )


@line(3, GOOD, "One call that fails does not take its neighbours along", "09_parallel_calls", needs=("batch",))
def siblings(rng):
    get_order, stock = desk(rng)
    for place in (1, 0):
        calls = _batch(rng, list(stock))
        calls[place] = (
            {**calls[place], "arguments": calls[place]["arguments"][:-2]} if place else call(calls[0]["id"], "get_order", order_id="Z000")
        )
        good = [(c, str(n)) for k, (c, n) in enumerate(zip(calls, list(stock.values())[:3])) if k != place]

        def judge(scene, end, place=place, calls=calls, good=good):
            what = f"Of three calls number {place + 1} failed"
            if end.wrong:
                return f"{what}. {end.wrong}"
            for c, number in good:
                if number not in (result_of(scene.sent[1], c["id"]) or ""):
                    return f"{what}, and {c['id']}, which was in order, was answered {show(result_of(scene.sent[1], c['id']), 70)}."
            return None if result_of(scene.sent[1], calls[place]["id"]) else f"{what}, and it has no result."

        yield Situation(
            Scene([ask(*calls), say("Done.")], [get_order, _parcel(stock)]),
            judge,
            "Of three calls number 2 could not be read: the other two ran, and all three were answered.",
        )


@line(3, SENIOR, "Ids that are missing or twice the same lose no call", "09_parallel_calls", needs=("batch",))
def ids_(rng):
    get_order, stock = desk(rng)
    orders = list(stock)[:2]
    same = f"call_{rng.randrange(9)}"
    for what, pair in (
        ("Both calls had the id " + same, (same, same)),
        ("Both calls had the id None", (None, None)),
        ("Both calls had no id", (..., ...)),
    ):
        calls = [{k: v for k, v in call(id, "get_order", order_id=order).items() if v is not ...} for id, order in zip(pair, orders)]

        def judge(scene, end, what=what):
            if end.wrong:
                return f"{what}. {end.wrong}"
            named = [id for m in scene.sent[1] for id in ids(m)]
            answered = [m.get("tool_call_id") for m in scene.sent[1] if m.get("role") == "tool"]
            if len(scene.ran) != 2 or len(answered) != 2:
                return f"{what}: {len(scene.ran)} ran and {len(answered)} were answered."
            if named != answered or len(set(named)) != 2 or not all(isinstance(id, str) and id for id in named):
                return f"{what}: the list names the calls {show(named)} and answers {show(answered)}."
            return None

        yield Situation(
            Scene([ask(*calls), say("Done.")], [get_order]), judge, "Two calls with one id: both ran, and each got an id that is its own."
        )


# ---- stage 4: limits ----------------------------------------------------------------------------------------------------


@line(4, MUST, "The budget is asked before the money is spent", "06_exits", needs=("answer",), takes="budget")
def budget(rng):
    t = rng.randrange(200, 400)

    def judge(scene, end, why=""):
        limit = scene.settings["budget"]
        if end.wrong:
            return end.wrong
        if found := miscounted(scene, -(-limit // t), f"budget={limit}, each reply costs {t}"):
            return found
        return f"budget={limit} was used up, and {end}." if end.done else None

    for limit in (3 * t - rng.randrange(1, t), 2 * t, 0):
        yield Situation(
            Scene([endless(tokens=t)], [get_page], max_steps=30, budget=limit),
            judge,
            f"Each reply costs {t}: with a budget of {2 * t} there were 2 model calls, with 0 none.",
        )
    yield Situation(
        Scene([say("It is late.", tokens=t)], [get_page], budget=t // 2),
        lambda scene, end: (
            None
            if end.done and end.answer == "It is late."
            else f"The answer was paid for (it went past the budget by {t - t // 2}), and {end}."
        ),
    )


@line(4, GOOD, "The same call with the same result, three times: it is stopped", "06_exits", needs=BASE)
def repeat(rng):
    get_order, stock = desk(rng)
    order = next(iter(stock))

    def judge(scene, end):
        if end.wrong or end.done or not 3 <= scene.calls <= 5:
            return (
                "The same call again and again, each time with the same result:"
                f" {end.wrong if end.wrong and scene.calls < MOST else f'the model was called {scene.calls} times with max_steps=12.'}"
            )
        return None

    yield Situation(
        Scene([_again(order)], [get_order], max_steps=12), judge, "The same call and the same result again and again: stopped at the third."
    )


def _again(order):
    def reply(messages):
        n = sum(m.get("role") == "tool" for m in messages if isinstance(m, dict)) + 1
        return ask(call(f"call_{n}", "get_order", order_id=order))

    return reply


@line(4, SENIOR, "It tells a loop from waiting, and one call from two spellings of it", "06_exits", needs=("repeat",))
def progress(rng):
    total = rng.randrange(6, 9)
    packed = iter(range(1, 100))

    def status(order_id, desk):
        return f"{next(packed)} of {total} packed"

    def same(order_id, desk):
        return "packed"

    def find(word):
        return "nothing found"

    same.__name__ = "status"
    one, two = '{"order_id": "A1", "desk": 2}', '{"desk":2,"order_id":"A1"}'
    asked = [ask(call(f"call_{n}", "status", one)) for n in range(total)]
    yield Situation(
        Scene([*asked, say("All packed.")], [status], max_steps=20),
        lambda scene, end: (
            None if end.done else f"The same call, and each time a result that had changed: after {scene.calls} model calls {end}."
        ),
        f"A result that changed was waited for, {total} times; the same arguments in another order were the same call.",
    )
    yield Situation(
        Scene(
            [lambda messages: ask(call(f"call_{len(messages)}", "status", two if len(messages) % 4 == 1 else one))], [same], max_steps=12
        ),
        lambda scene, end: (
            None
            if scene.calls <= 6 and not end.done and not end.wrong
            else f"One call in two spellings, {one} and {two}: {end.wrong or f'the model was called {scene.calls} times.'}"
        ),
    )
    searches = [ask(call(f"call_{n}", "find", word=word)) for n, word in enumerate(("chair", "stool", "bench", "seat"))]
    yield Situation(
        Scene([*searches, say("There is none.")], [find], max_steps=20),
        lambda scene, end: None if end.done else f"Four different searches that all found nothing: after {scene.calls} model calls {end}.",
    )


@line(4, GOOD, "It reports how it ended, one word per exit, and leaves no call open", "06_exits", needs=("answer", "steps"))
def report(rng):
    get_order, stock = desk(rng)
    t, words = rng.randrange(200, 400), {}

    def judge(scene, end, what):
        if end.wrong or end.done:
            return None  # another line's business
        if not isinstance(end.status, str) or not end.status:
            return f"{what}: the status is {show(end.status, 40)}; a word would say why."
        if not isinstance(end.messages, (list, tuple)):
            return f"{what}: the messages were not handed back."
        if still := left_open(end.messages):
            return f"{what}: the run stopped and left {still[0]} without a result, so nobody can go on with this list."
        if other := next((k for k, w in words.items() if w == end.status and k != what), None):
            return f"{what} and {other.lower()} end with the same word, {end.status!r}."
        words[what] = end.status
        return None

    fine = "Each exit had its own word, and in the list that came back every call was answered."
    yield Situation(Scene([endless(tokens=t)], [get_page], max_steps=3), lambda s, e: judge(s, e, "Out of steps"), fine)
    yield Situation(Scene([endless(tokens=t)], [get_page], max_steps=30, budget=2 * t), lambda s, e: judge(s, e, "Out of budget"))
    yield Situation(
        Scene([_again(next(iter(stock)))], [get_order], max_steps=12),
        lambda s, e: judge(s, e, "Stopped as a loop") if s.calls < 12 else None,
    )


# ---- stage 5: a restart -------------------------------------------------------------------------------------------------


@line(5, SENIOR, "After a restart it goes on, and no finished tool runs again", "07_approval", needs=BASE, takes="path")
def restart(rng):
    get_order, stock = desk(rng)
    order, number = next(iter(stock.items()))

    def play(run, scene):
        run()
        scene.restart(
            [lambda messages: say("Done.") if str(number) in results_text(messages) else ask(call("call_2", "get_order", order_id=order))]
        )
        return run()

    def judge(scene, end):
        if end.wrong:
            return f"After the restart: {end.wrong}"
        if not scene.sent or not any(m.get("role") == "tool" for m in scene.sent[0] if isinstance(m, dict)):
            return (
                f"Killed at model call 2. After the restart the model was sent: {roles(scene.sent[0]) if scene.sent else 'nothing'}. The"
                " first step is lost."
            )
        if found := refused(scene.sent[0]):
            return f"After the restart the first list would be refused: {found}."
        if len(scene.ran) != 1 or not end.done:
            return f"Killed at model call 2. After the restart get_order had run {len(scene.ran)} times, and {end}."
        return None

    yield Situation(
        Scene([ask(call("call_1", "get_order", order_id=order)), Killed()], [get_order]),
        judge,
        "Killed at model call 2: after the restart the model was sent the first step, and its tool did not run again.",
        play,
    )


@line(5, SENIOR, "A write that was under way is not run again; the model is told", "07_approval", needs=("restart",), takes="path")
def once(rng):
    order, amount, paid = f"B{rng.randrange(100, 999)}", four_digits(rng), []

    def refund(order_id, amount):
        paid.append(amount)
        if len(paid) == 1:
            raise Killed
        return "refunded"

    asks = ask(call("call_1", "refund", order_id=order, amount=amount))

    def play(run, scene):
        run()
        scene.restart([lambda messages: say("I ask the bank.") if any(m.get("role") == "tool" for m in messages) else asks])
        return run()

    def judge(scene, end):
        if len(paid) != 1:
            return f"Killed inside refund, after the money had moved. After the restart it was paid {len(paid)} times."
        if end.wrong:
            return f"After the restart: {end.wrong}"
        text = result_of(scene.sent[0], "call_1") if scene.sent else None
        return None if text else "Killed inside refund. After the restart the model was told nothing about that call."

    yield Situation(
        Scene([asks], [refund]), judge, "Killed inside a refund: after the restart it was paid once, and the model was told.", play
    )
