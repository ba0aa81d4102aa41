"""The exercises of notebook 16, ReAct."""

import json

from ..exercise import Case, Exercise, Trap

TITLE = "ReAct"

# ---- 16-1: one step of a text ------------------------------------------------------------------------------------------

_STEP_STUB = '''
def one_step(text):
    """("act", name, arguments), ("final", answer) or ("error", None) for one reply in ReAct's form.

    Whatever follows a line that begins with "Observation:" is the model's invention. Exactly one
    action, or one answer.
    """
    ...
'''
_STEP = '''
import json
import re

def one_step(text):
    own = re.split(r"(?m)^Observation:", text)[0]
    actions = re.findall(r"(?m)^Action: (.+)$", own)
    inputs = re.findall(r"(?ms)^Action Input: (.+)", own)
    answers = re.findall(r"(?ms)^Final Answer: (.+)", own)
    if len(actions) == 1 and len(inputs) == 1 and not answers:
        try:
            return ("act", actions[0].strip(), json.loads(inputs[0]))
        except ValueError:
            return ("error", None)
    if len(answers) == 1 and not actions:
        return ("final", answers[0].strip())
    return ("error", None)
'''


def _act(name, args, thought="I look."):
    return f"Thought: {thought}\nAction: {name}\nAction Input: {json.dumps(args)}"


def _step_cases(rng):
    n, m = rng.sample(range(10, 99), 2)
    look = _act("lookup", {"order_id": str(n)})
    tail = f'\nObservation: {{"status": "paid"}}\nThought: Good.\n{_act("refund", {"order_id": str(n)})}\nObservation: ok\nFinal Answer: All is paid.'
    right = ("act", "lookup", {"order_id": str(n)})
    return [
        Case((look,), right, because="a thought, an action, its input"),
        Case((f"Thought: I know it.\nFinal Answer: Order {n} costs {m}.",), ("final", f"Order {n} costs {m}."), because="an answer and no action"),
        Case((look + tail,), right, because="everything from the first Observation on is invented: the second action and the answer too"),
        Case((look + "\n" + _act("lookup", {"order_id": str(m)}, "And the other."),), ("error", None),
             because="two actions before any observation: the second was decided blindly. Take neither, say so"),
        Case((look + "\nFinal Answer: It is paid.",), ("error", None), because="an action and an answer: nobody has seen the result yet"),
        Case((f"I would look up order {n}.",), ("error", None), because="prose is no action"),
        Case(("Thought: hm\nAction: lookup\nAction Input: the order",), ("error", None), because="an input that is no JSON: an error, no guess, no exception"),
        Case((_act("note", {"text": f"Final Answer: {m}"}),), ("act", "note", {"text": f"Final Answer: {m}"}),
             because="labels stand at the beginning of a line; inside the JSON they are text"),
        Case((f'Observation: {{"status": "paid"}}\nFinal Answer: Order {n} is paid.',), ("error", None), because="it begins with an invention, so nothing is left of it"),
    ]


def _variant(old, new):
    assert old in _STEP
    return _STEP.replace(old, new)


# ---- 16-2: find the bug --------------------------------------------------------------------------------------------------

_BUG = [Case(test=lambda value, args: None if str(value).strip().lower() == "d" else
             "one letter, the cause: compare what each pass of the harness reads with what is new in it")]

# ---- 16-3: what thoughts cost --------------------------------------------------------------------------------------------

_COST_STUB = '''
def thought_tokens(steps, each):
    """(tokens written, tokens sent again) for `steps` model calls with `each` tokens of thought."""
    ...
'''
_COST = '''
def thought_tokens(steps, each):
    return (steps * each, each * steps * (steps - 1) // 2)
'''


def _cost_cases(rng):
    steps, each = rng.randrange(5, 15), rng.randrange(10, 80)
    return [
        Case((1, 40), (40, 0), because="after the last call nothing is sent any more"),
        Case((2, 40), (80, 40), because="the second call sends the first thought again"),
        Case((3, 40), (120, 120), because="call 2 sends one thought, call 3 sends two"),
        Case((steps, each), (steps * each, sum(k * each for k in range(steps))), because="call number k sends the k - 1 thoughts before it"),
        Case((0, 40), (0, 0), because="no call, no thought"),
    ]


EXERCISES = [
    Exercise(
        id="16-1", title="One step of a text", difficulty=3, minutes=12, name="one_step", stub=_STEP_STUB, solution=_STEP, cases=_step_cases,
        task="The parser that decides whether somebody's card is charged. Labels stand at the beginning of a line and are spelled as in the prompt; it never raises.",
        hints=["Cut first. What comes before the first line that begins with \"Observation:\" is all that you may read.",
               "Count actions and answers in what is left: one and none, none and one, anything else. `(?m)` lets ^ match at every line."],
        traps=[
            Trap(_variant('own = re.split(r"(?m)^Observation:", text)[0]', "own = text"),
                 "You read what the model invented. It wrote an observation nobody made, and you act on it or believe its answer."),
            Trap(_variant("    if len(actions) == 1 and len(inputs) == 1 and not answers:", "    if actions and not answers:")
                 .replace('r"(?ms)^Action Input: (.+)"', 'r"(?m)^Action Input: (.+)$"').replace("json.loads(inputs[0])", "json.loads(inputs[0]) if inputs else None"),
                 "Two actions in one step, and you run one of them. The model decided the second one without having seen the first one's result; say so to it."),
            Trap(_variant("    if len(answers) == 1 and not actions:", "    if answers:"),
                 "An action and an answer, and you take the answer: the action never ran, so what does the answer stand on?"),
            Trap(_variant("        except ValueError:\n            return (\"error\", None)", "        except ValueError:\n            return (\"act\", actions[0].strip(), {})"),
                 "An input that you could not read became {}. That is a call nobody asked for."),
            Trap(_variant('r"(?ms)^Final Answer: (.+)"', 'r"(?ms)Final Answer: (.+)"'),
                 "You find the label in the middle of a line, where it is part of somebody's text."),
        ],
        after="Cut, count, then read. A reply that does not fit is answered with a sentence, never with a guess."),
    Exercise(
        id="16-2", title="Find the bug in this harness", difficulty=2, minutes=5, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "d"\n',
        value=True, cases=_BUG,
        task="A home-made ReAct loop. The model wrote one action in each of its two replies, and each is fine. The customer was charged twice. Why?",
        hints=["What is the text in which the second pass looks for an action, and what is the first action in it?",
               "A list of messages grows at its end. Which part of it is the model's newest decision?"],
        traps=[
            Trap('answer = "a"\n', "Both replies end before their observation, so nothing was invented. Look at what the harness reads.",
                 when=lambda value, args: str(value).strip().lower() == "a"),
            Trap('answer = "b"\n', "One action a reply, as asked. It is the harness that ran one of them twice.", when=lambda value, args: str(value).strip().lower() == "b"),
            Trap('answer = "c"\n', "A repeat check would have stopped a third time. It is no reason for the second.", when=lambda value, args: str(value).strip().lower() == "c"),
        ],
        after="Parse the newest reply, never the whole transcript. In a message list that mistake is hard to make, because every reply is a message of its own."),
    Exercise(
        id="16-3", title="What thoughts cost", difficulty=2, minutes=6, name="thought_tokens", stub=_COST_STUB, solution=_COST, cases=_cost_cases,
        task="A thought is written once, at the price of output, and then sent again with every later call. Count both. Then say what you would set for a model that thinks "
             "aloud at each of 20 steps, and why.",
        hints=["Call 1 sends no thought. Call 2 sends one. Call 3 sends two. What is the sum up to call number `steps`?", "0 + 1 + ... + (n - 1) is n (n - 1) / 2."],
        traps=[
            Trap("def thought_tokens(steps, each):\n    return (steps * each, each * steps * (steps + 1) // 2)\n", "A call does not send the thought that it is about to write. The sum starts at 0."),
            Trap("def thought_tokens(steps, each):\n    return (steps * each, each * (steps - 1))\n", "You send each thought again once. It is sent with every later call, not with the next one only."),
        ],
        after="The first grows with the steps, the second with their square: a cap on a thought's length, or leaving old thoughts out of what is sent, buys the second."),
]
