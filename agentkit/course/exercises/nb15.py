"""The exercises of notebook 15, workflow or agent."""

from ..exercise import Case, Exercise, Trap

TITLE = "Workflow or agent"

# ---- 15-1: the whiteboard test ---------------------------------------------------------------------------------------

_RIGHT = {"a": "prompt", "b": "workflow", "c": "agent", "d": "workflow", "e": "none"}
_WHY = {
    "a": "a: one text in, one text out, and nothing to look up or to do. What would a second step be?",
    "b": "b: draw it. Read the invoice, look up the order, compare, file it or flag it. Which step depends on what an earlier one brought up?",
    "c": "c: after the first failing test, which file do you open next? Can you draw that before you have seen it?",
    "d": "d: an if is a branch on the whiteboard, not a path that somebody has to find. Both arms can be drawn.",
    "e": "e: it cannot be undone, nobody looks at it, and there is no set of cases to measure it on. Which of the four reasons is that?",
}


def _kinds_test(value, args):
    if not isinstance(value, dict):
        return 'a dict such as {"a": "workflow", ...}'
    said = {str(k).strip().lower(): str(v).strip().lower() for k, v in value.items()}
    wrong = [k for k in _RIGHT if said.get(k) != _RIGHT[k]]
    return _WHY[wrong[0]] if wrong else None


# ---- 15-2: ask until it fits -------------------------------------------------------------------------------------------

_PICK_STUB = '''
def pick(model, prompt, choices, tries=3):
    """Ask `model(prompt)` for one of the choices. Returns the choice as it is spelled in the list.

    Case, spaces around it and a full stop at its end do not matter. When a text fits none, the
    model is asked again, with the prompt, the text and the choices in the new prompt. After
    `tries` texts: raise ValueError.
    """
    ...
'''
_PICK = '''
def pick(model, prompt, choices, tries=3):
    """Ask `model(prompt)` for one of the choices. Returns the choice as it is spelled in the list."""
    def plain(text):
        return text.strip().rstrip(".").strip().lower()

    asked = prompt
    for _ in range(tries):
        text = model(asked)
        for choice in choices:
            if plain(text) == plain(choice):
                return choice
        asked = f"{prompt}\\n\\nYou wrote {text!r}. Answer with one of: {', '.join(choices)}."
    raise ValueError(f"none of {choices} after {tries} tries")
'''


def _model(texts):
    def model(prompt):
        model.asked.append(prompt)
        return texts[min(len(model.asked), len(texts)) - 1]
    model.asked = []
    return model


def _pick_case(texts, choices, expect, because, asked=1, tries=3):
    def make():
        return _model(texts), "Which kind?", list(choices), tries

    def test(result, args):
        model = args[0]
        if result != expect:
            return f"{expect!r}"
        if len(model.asked) != asked:
            return f"{asked} model call{'s' if asked > 1 else ''}, not {len(model.asked)}"
        for n, prompt in enumerate(model.asked[1:]):
            if "Which kind?" not in prompt:
                return "the question in every prompt: the model remembers nothing"
            if texts[n] not in prompt or not all(c in prompt for c in choices):
                return "the text that did not fit, and the choices, in the next prompt"
        return None

    return Case(make, test=test, because=because)


def _pick_cases(rng):
    a, b, c = rng.sample(["refund", "late order", "question", "broken item", "address change", "praise"], 3)
    return [
        _pick_case([b], (a, b, c), b, "a text that is one of the choices is the answer"),
        _pick_case([f" {c.title()}.\n"], (a, b, c), c, "models add a capital letter, a full stop, a line break: compare without them, return the list's spelling"),
        _pick_case([f"I think it is {a}", a], (a, b, c), a, "a sentence is none of the choices, even if it holds one: ask again", asked=2),
        _pick_case([f"not {a}, {b}", "hm", b], (a, b, c), b, "the third text is the last one allowed, and it may still fit", asked=3),
        Case(lambda: (_model(["hm"]), "Which kind?", [a, b], 2), raises=ValueError, because="after `tries` texts that do not fit: raise, do not guess"),
        Case(lambda: (_model(["hm", "hm", a]), "Which kind?", [a, b], 2), raises=ValueError, because="two texts were allowed, and the third is not asked for"),
        _pick_case(["hm", a], (a, b), a, "tries counts texts, so tries=2 allows a second one", asked=2, tries=2),
    ]


def _variant(old, new):
    assert old in _PICK
    return _PICK.replace(old, new)


# ---- 15-3: find the bug ------------------------------------------------------------------------------------------------

_BUG = [Case(test=lambda value, args: None if str(value).strip().lower() == "b" else
             "one letter, the cause: which line runs more often than it stands there? Count the passes.")]

EXERCISES = [
    Exercise(
        id="15-1", title="The whiteboard test", difficulty=2, minutes=5, stub="answer = ...      # {\"a\": \"workflow\", \"b\": ...}\n", value=True,
        solution=f"answer = {_RIGHT!r}\n", cases=[Case(test=_kinds_test)],
        task='Five wishes from colleagues. For each, what would you build: `"prompt"` (one model call), `"workflow"`, `"agent"`, or `"none"` of them?',
        hints=["Ask three things, in this order. Should a model do this at all? Is it one call? Can you draw every arrow now?",
               "A branch is still a drawing. What you cannot draw is a step that you learn about on the way."],
        traps=[
            Trap('answer = {"a": "workflow", "b": "workflow", "c": "agent", "d": "workflow", "e": "none"}\n', "A workflow of one step is a prompt. Build the smaller one.",
                 when=lambda value, args: isinstance(value, dict) and value.get("a") == "workflow"),
            Trap('answer = {"a": "prompt", "b": "workflow", "c": "agent", "d": "agent", "e": "none"}\n',
                 "Two arms of an if are both on the whiteboard. An agent would pay for choosing what you already know.",
                 when=lambda value, args: isinstance(value, dict) and value.get("d") == "agent"),
            Trap('answer = {"a": "prompt", "b": "workflow", "c": "agent", "d": "workflow", "e": "agent"}\n',
                 "The path of e is open, so it looks like an agent's work. But a mistake cannot be undone, and nobody would see it.",
                 when=lambda value, args: isinstance(value, dict) and value.get("e") == "agent"),
        ],
        after="Two workflows, one prompt, one agent, and one no. That is about the mix you will meet."),
    Exercise(
        id="15-2", title="Ask until it fits", difficulty=3, minutes=10, name="pick", stub=_PICK_STUB, solution=_PICK, cases=_pick_cases,
        task="What `ask(..., choices=...)` does, without a harness. It is the whole contract between your code and a step that a model fills in.",
        hints=["A helper that makes two texts comparable; a loop over the tries; a return inside it; a raise after it.",
               "The model remembers nothing. What must the second prompt hold, so that it can do better than the first?"],
        traps=[
            Trap(_variant("if plain(text) == plain(choice):", "if plain(choice) in plain(text):"),
                 "You search for a choice inside the text. \"Not a refund\" holds the word refund: that is guessing, with somebody's money."),
            Trap(_variant("    raise ValueError(f\"none of {choices} after {tries} tries\")\n", "    return choices[0]\n"),
                 "When nothing fits you pick a choice anyway. The code after it cannot tell that from an answer."),
            Trap(_variant("        asked = f\"{prompt}\\n\\nYou wrote {text!r}. Answer with one of: {', '.join(choices)}.\"\n", ""),
                 "The same prompt again. A model that is asked the same question has no reason to answer otherwise: say what was wrong."),
            Trap(_variant("asked = f\"{prompt}\\n\\nYou wrote", "asked = f\"You wrote"),
                 "The second prompt no longer has the question in it. The model remembers nothing of the first."),
            Trap(_variant("                return choice\n", "                return text\n"),
                 "You return the model's spelling. Then `kind == \"refund\"` fails on \"Refund.\", in a branch far away."),
            Trap(_variant("range(tries)", "range(tries + 1)"), "One try too many: `tries` texts, then ValueError."),
            Trap(_variant("    for _ in range(tries):", "    while True:"), "Nothing ends this when the model never fits. Count the tries.", hangs=True),
        ],
        after="Exactly one of a known set, or an error: only that is safe to put behind an `if`.", seconds=3),
    Exercise(
        id="15-3", title="Find the bug in this workflow", difficulty=3, minutes=5, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "b"\n',
        value=True, cases=_BUG,
        task="The tests were green, the report says Done, and the bank says that one customer was paid three times. Why?",
        hints=["How many times did the harness drive this generator, and from where does it start each time?",
               "What stands before a yield runs again at every later pass. Results of yields come from the record; and plain Python?"],
        traps=[
            Trap('answer = "a"\n', "classify was asked once: its text is on record, and later passes read it there.", when=lambda value, args: str(value).strip().lower() == "a"),
            Trap('answer = "c"\n', "draft comes after the payment. Whatever it writes, the money is gone by then.", when=lambda value, args: str(value).strip().lower() == "c"),
            Trap('answer = "d"\n', "A lower limit would stop the run in the middle, after some of the payments.", when=lambda value, args: str(value).strip().lower() == "d"),
        ],
        after="`yield call(\"pay\", ...)` is made once and read from the record ever after. That is also where approval and limits are. Effects belong in tools."),
]
