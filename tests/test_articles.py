"""Two articles that the course grew from, as checks: their published totals, and programs like theirs against a loop written here by hand.

The texts are our own; what is counted of the articles' texts is their length, so that is what carries over.
"""

import json

import pytest

from agentkit import Limits, Price, Reply, TextModel, Tool, Usage, call, run
from harness import assert_rules


def quarter(text):
    """The articles' rule: four characters are a token, and nothing is free."""
    return max(1, len(text) // 4)


# ---- the first article: four runs of a text protocol, with the lengths of their texts ---------------------------------------------

SYSTEM, TASK = 458, 48
GOOD_RUN = [(45, 95), (51, 50), (65, 6), (57, None)]  # characters of each reply and of what came back
RUNS = {
    "recovers": (GOOD_RUN, dict(max_steps=6, budget_tokens=3000), "done", 4, 724),
    "repeats itself": ([(51, 66)] * 6, dict(max_steps=6, budget_tokens=3000), "repeated_call", 3, 498),
    "wanders": ([(49, 64)] * 6, dict(max_steps=4, budget_tokens=3000), "step_limit", 4, 720),
    "tight budget": (GOOD_RUN, dict(max_steps=6, budget_tokens=400), "token_budget", 2, 309),
}


@pytest.mark.parametrize("sizes, limits, status, steps, tokens", RUNS.values(), ids=RUNS)
def test_the_first_articles_totals(sizes, limits, status, steps, tokens):
    moves = iter(enumerate(sizes))

    def write(messages):
        i, (written, back) = next(moves)
        n = 0 if status == "repeated_call" else i
        decision = {"final": ""} if back is None else {"tool": "go", "args": {"n": n}, "why": ""}
        filler = "final" if back is None else "why"
        decision[filler] = "x" * (written - len(json.dumps(decision)))
        return json.dumps(decision)

    go = Tool("go", "Go on.", {}, lambda n: "r" * sizes[n][1])
    result = run(TextModel(write), [go], "t" * TASK, system="s" * SYSTEM, limits=Limits(**limits), count_tokens=quarter)
    assert (result.status, result.steps, result.usage.total_tokens) == (status, steps, tokens)
    assert [len(m["content"]) for m in result.messages[2:]] == [n for pair in sizes[:steps] for n in pair if n is not None]
    assert_rules(result)


# ---- a program like it, in a library of books: agentkit against a loop written by hand ----------------------------------------------

BOOKS = {"QA76": {"title": "Loops", "days_late": 3}}
RULES = (
    'Answer in JSON. To use a tool: {"tool": ..., "args": {...}}. To end: {"final": ...}. '
    "Tools: find_book(mark) finds a book by its shelf mark; fine(days) says what a late book costs."
)


def use(tool, args):
    """One call in, one text out: a mistake is a text that says what would be right."""
    wants, fn = {"find_book": ("mark", lambda mark: BOOKS[mark]), "fine": ("days", lambda days: days * 0.2)}.get(tool, (None, None))
    if set(args) != {wants}:
        return f"ERROR: {tool} takes {wants}, and nothing else"
    try:
        return json.dumps(fn(*args.values()))
    except KeyError as missing:
        return f"ERROR: no book stands at {missing}; a mark looks like QA76"


def acts(tool, **args):
    return json.dumps({"tool": tool, "args": args})


def reader(messages):
    """Makes one mistake, reads what was wrong, goes on."""
    last = messages[-1]["content"]
    if len(messages) == 2:
        return acts("find_book", shelf="QA76")
    if last.startswith("ERROR"):
        return acts("find_book", mark="QA76")
    return acts("fine", days=json.loads(last)["days_late"]) if "{" in last else json.dumps({"final": f"You owe {last}."})


def stubborn(messages):
    return acts("find_book", mark="ZZ1")


def guessing(messages):
    return acts("find_book", mark=f"ZZ{len(messages)}")


def by_hand(model, steps, budget):
    """The article's idea in fifteen lines: ask the budget, call, pay, act, feed back."""
    sent, spent, seen = [{"content": RULES}, {"content": "What do I owe for QA76?"}], 0, []
    for step in range(1, steps + 1):
        prompt = sum(quarter(m["content"]) for m in sent)
        if spent + prompt > budget:
            return "token_budget", step - 1, spent, None
        said = model(sent)
        spent += prompt + quarter(said)
        decision = json.loads(said)
        if "final" in decision:
            return "done", step, spent, decision["final"]
        came_back = use(**decision)
        seen.append((said, came_back))
        if seen.count(seen[-1]) == 3:
            return "repeated_call", step, spent, None
        sent += [{"content": said}, {"content": came_back}]
    return "step_limit", steps, spent, None


@pytest.mark.parametrize(
    "model, steps, budget, status",
    [
        (reader, 6, 3000, "done"),
        (stubborn, 6, 3000, "repeated_call"),
        (guessing, 4, 3000, "step_limit"),
        (guessing, 9, 3000, "step_limit"),
        (reader, 6, 200, "token_budget"),
        (guessing, 20, 700, "token_budget"),
        (reader, 4, 3000, "done"),
        (reader, 3, 3000, "step_limit"),
        (reader, 6, 0, "token_budget"),
    ],
)
def test_a_program_like_it_ends_as_the_hand_written_loop_does(model, steps, budget, status):
    tools = [Tool(name, name, {}, lambda name=name, **args: use(name, args)) for name in ("find_book", "fine")]
    result = run(
        TextModel(model), tools, "What do I owe for QA76?", system=RULES, limits=Limits(max_steps=steps, budget_tokens=budget), count_tokens=quarter
    )
    assert (result.status, result.steps, result.usage.total_tokens, result.answer) == by_hand(model, steps, budget)
    assert result.status == status
    assert_rules(result)


# ---- the second article: three runs of a native protocol that reports its usage ----------------------------------------------------


def paid(mark):
    return {"mark": mark, "paid": BOOKS[mark]["days_late"] == 0} if mark in BOOKS else {"error": f"no book {mark}"}


@pytest.mark.parametrize(
    "tokens, limits, status, steps, usd",
    [([52, 80, 103], {}, "done", 3, "0.0023"), ([450] * 9, {}, "cost_budget", 5, "0.0225"), ([450] * 9, {"max_steps": 3}, "step_limit", 3, "0.0135")],
)
def test_the_second_articles_totals(tokens, limits, status, steps, usd):
    """A money budget of 0.02 USD at 0.01 USD per 1,000 tokens, six steps at most, two errors at most."""
    sizes = iter(tokens)

    def model(messages, tools):
        usage = Usage(next(sizes), 0)
        if len(messages) > 5 and status == "done":
            return Reply("Yes, it is settled.", usage=usage)
        return Reply(None, [call("paid", mark="QA76")], usage)

    tool = Tool("paid", "Is it paid?", {"properties": {"mark": {"type": "string"}}}, paid)
    settings = Limits(**{"max_steps": 6, "budget_usd": 0.02, "max_errors": 2, "max_repeats": None, **limits})
    result = run(model, [tool], "Is QA76 settled?", system="You help a reader.", limits=settings, prices=Price(10, 10))
    assert (result.status, result.steps, f"{result.usage.cost_usd:.4f}") == (status, steps, usd)
    assert result.usage.total_tokens == sum(tokens[:steps]) and not result.usage.estimated
    assert_rules(result)


def test_the_second_articles_error_limit():
    """Its fourth exit: a tool that says "error" twice."""
    tool = Tool("paid", "Is it paid?", {"properties": {"mark": {"type": "string"}}}, paid)
    model = iter([call("paid", mark="A"), call("paid", mark="B"), call("paid", mark="QA76")])
    result = run(lambda messages, tools: Reply(tool_calls=[next(model)]), [tool], "Is it settled?", limits=Limits(max_errors=2))
    assert (result.status, result.steps) == ("error_limit", 2)
