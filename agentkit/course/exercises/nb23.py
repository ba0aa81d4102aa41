"""The exercises of notebook 23, the coding round. Their cases are the situations of the scorecard, with fresh names and numbers."""

import random

from ..broken_loops import LOOPS, loop
from ..exercise import Case, Exercise, Trap
from ..round_answer import FIVE, ONE, TWO
from ..round_lines import LINES, MUST
from ..round_scenes import End
from ..scorecard import judged

TITLE = "The coding round"


def _situation(line, seed, index):
    """A situation that no run has touched."""
    for at, situation in enumerate(line.situations(random.Random(seed))):
        if at == index:
            return situation
    raise IndexError(index)


def _cases(rng, *keys):
    """Every situation of these lines as a case."""
    cases = []
    for line in (next(line for line in LINES if line.key == key) for key in keys):
        seed = rng.randrange(10**6)
        for index, first in enumerate(list(line.situations(random.Random(seed)))):
            cases.append(_case(line, seed, index, first.scene.settings))
    return cases


def _case(line, seed, index, settings):
    made = {}

    def args():
        made["now"] = situation = _situation(line, seed, index)
        return situation.scene.model, dict(situation.scene.tools), situation.scene.task

    def test(result, args):
        end = End.of(result)
        found = judged(made["now"], end)
        return f"{line.says}. What happened: {found}" if found else None

    return Case(args, kwargs=settings, test=test, because=f"{line.says}: notebook {line.notebook[:2]}.")


_MUSTS = tuple(line.key for line in LINES if line.level == MUST)


def _renamed(source, name):
    """The loop as a cell of its own: an import in the same cell changes its bytecode, and so hides that a stub is untouched."""
    return source.replace("def run(", f"def {name}(").replace("import json\n", "").lstrip("\n")


def _swap(source, *pairs):
    for old, new in pairs:
        assert source.count(old) >= 1, old
        source = source.replace(old, new)
    return source


# ---- 23-1: the round ----------------------------------------------------------------------------------------------------

_MINE = "my_run = run\n"
_ENDLESS = _swap(
    ONE,
    ("    for step in range(max_steps):\n", "    while True:\n"),
    ('    return {"status": "step_limit", "answer": None, "messages": messages}\n', ""),
)
_PATIENT = _swap(FIVE, ("for step in range(max_steps):", "for step in range(max_steps + 1):"))
_LATE = _swap(FIVE, ("        if budget is not None and spent >= budget:", "        if budget and spent > budget:"))
_TEXT_FIRST = _swap(
    FIVE, ('        if not calls:\n            return end("done", text)', '        if text:\n            return end("done", text)')
)

# ---- 23-2: name the line ------------------------------------------------------------------------------------------------

_LINES = {"loop 2": {9}, "loop 5": {12}, "loop 7": {11, 12, 13, 14}}
_ASK = {
    "loop 2": "the line of loop 2 at which the run ends too early: which call never ran?",
    "loop 5": "the line of loop 5 that raised: what is done with the name before anything is caught?",
    "loop 7": "the line of loop 7 where one bad text voids three calls: two of them were in order",
}


def _said(value, what):
    given = value.get(what) if isinstance(value, dict) else None
    return given if isinstance(given, int) and not isinstance(given, bool) else None


def _line_cases():
    return [
        Case(test=lambda value, args, what=what, right=right: None if _said(value, what) in right else _ASK[what])
        for what, right in _LINES.items()
    ]


def _line_trap(what, wrong, says):
    answer = {w: wrong[0] if w == what else min(right) for w, right in _LINES.items()}
    first = lambda value: next((w for w, right in _LINES.items() if _said(value, w) not in right), None)  # noqa: E731
    return Trap(f"lines = {answer!r}\n", says, when=lambda value, args: first(value) == what and _said(value, what) in wrong)


# ---- 23-3 and 23-4: repair ---------------------------------------------------------------------------------------------

_SIX, _NINE = (_renamed(loop(n).source, f"loop_{n}") for n in (6, 9))
_SIX_DONE, _NINE_DONE = (_renamed(loop(n).mended, f"loop_{n}") for n in (6, 9))
_KEEPS = ("answer", "steps", "list", "tool", "unknown", "guess")
_BY_ID = 'results[call["id"]]'
_KEY = 'history.append((call["name"], json.dumps(named, sort_keys=True)))'

EXERCISES = [
    Exercise(
        id="23-1",
        title="Pass the round",
        difficulty=4,
        minutes=45,
        name="my_run",
        stub="my_run = ...      # the function you wrote in the round: my_run = run\n",
        solution=FIVE.lstrip("\n") + "\n" + _MINE,
        cases=lambda rng: _cases(rng, *_MUSTS),
        task=(
            'Hand in your function. It passes when every line of the level "must" is met, with other names and numbers than on the card'
            " above. The solution is a model answer that meets all sixteen."
        ),
        hints=[
            "Read the card from the top. The first line that is not met is the one to mend; those below may only follow from it.",
            "Stage 1 is fourteen lines, and you have seen it. Then give the calls a function of their own that takes a call and always returns text.",
            "Ask at the top of the loop, before model(messages): have I steps left, have I budget left?",
        ],
        traps=[
            Trap(
                _ENDLESS + _MINE,
                "Your loop runs until the model answers, and this one never does. The harness owns that exit: max_steps model calls, then"
                " stop.",
            ),
            Trap(_PATIENT + _MINE, "One model call too many. A limit of N is N calls, and with max_steps=0 there is none."),
            Trap(
                ONE + _MINE, "A tool raised and took your loop with it. That is stage 2: what went wrong is a text for the model to read."
            ),
            Trap(TWO + _MINE, "Stages 1 to 3 are there. Your function takes no budget yet: that is stage 4."),
            Trap(
                _LATE + _MINE,
                "`if budget and spent > budget` is wrong twice: a budget of 0 counts as none at all, and at spent == budget one more call"
                " is made.",
            ),
            Trap(_TEXT_FIRST + _MINE, "Text beside a call is not the answer. Calls decide: an answer is a reply without a call."),
        ],
        after="That is a pass. What is not met under good and senior is what you name aloud when the time is up.",
    ),
    Exercise(
        id="23-2",
        title="Name the line",
        difficulty=2,
        minutes=8,
        name="lines",
        value=True,
        stub='lines = {"loop 2": ..., "loop 5": ..., "loop 7": ...}      # the number of the line\n',
        solution=f'lines = {{"loop 2": {loop(2).bug_line}, "loop 5": {loop(5).bug_line}, "loop 7": {loop(7).bug_line}}}\n',
        cases=_line_cases(),
        task="Three of the ten loops above. Read the run first, find the first thing in it that should not be, then the line that did it.",
        hints=[
            (
                "Loop 2: how many model calls were there, and did the tool run? Loop 5: what was raised, and from where? Loop 7: which"
                " tools ran?"
            ),
            "In each of the three, look at what stands just before a try or a return.",
        ],
        traps=[
            _line_trap("loop 2", (8, 10), "Close: that line does as it should. Look at what decides whether it is reached."),
            _line_trap("loop 2", (5, 17), 'The step limit was not what ended this run: it came back with "done".'),
            _line_trap("loop 5", (13, 14, 15, 16), "The try is fine. The exception came before it was entered."),
            _line_trap(
                "loop 7",
                (15, 16, 17, 18, 19),
                "Here each call has a try of its own, as it should. By then the arguments of all three were lost.",
            ),
        ],
        after=(
            "A run that ends too early, a lookup outside the try, a try around too much. Each of the three was in a harness that people"
            " used."
        ),
    ),
    Exercise(
        id="23-3",
        title="Repair loop 6",
        difficulty=2,
        minutes=6,
        name="loop_6",
        stub=_SIX,
        solution=_SIX_DONE,
        seconds=8,
        setup="import json\n",
        cases=lambda rng: _cases(rng, "batch", *_KEEPS, "siblings"),
        task=(
            "Two questions to one tool get the same answer. Mend it without breaking what works: the scorecard runs again, with fresh"
            " names."
        ),
        hints=[
            "What is the key of `results`, and how many calls of a reply can have it?",
            "Which part of a call is its own? Or do you need the dict at all?",
        ],
        traps=[
            Trap(
                _swap(
                    _SIX,
                    ('results[call["name"]] =', 'results[call["arguments"]] ='),
                    ('content = results[call["name"]]', 'content = results[call["arguments"]]'),
                ),
                "By arguments is no better: get_order and get_parcel of one order share a key now.",
            ),
            Trap(
                _swap(
                    _SIX,
                    ('results[call["name"]]', _BY_ID),
                    (
                        "        for call in calls:\n            content =",
                        '        for call in sorted(calls, key=lambda c: c["id"]):\n            content =',
                    ),
                ),
                "You sorted by id. Ids are names; the results stand in the order of the calls.",
            ),
            Trap(
                _swap(
                    _SIX,
                    (
                        '                results[call["name"]] = str(',
                        '                results[call["name"]] = results.get(call["name"]) or str(',
                    ),
                ),
                "Now the first result of a tool is kept in place of the last, and the second call does not even run. One key still holds"
                " one result.",
            ),
            Trap(
                _swap(
                    _SIX,
                    (
                        (
                            '        for call in calls:\n            content = results[call["name"]]\n            messages.append({"role":'
                            ' "tool", "tool_call_id": call["id"], "content": content})\n'
                        ),
                        (
                            '        for call in {c["name"]: c for c in calls}.values():\n            content = results[call["name"]]\n'
                            '            messages.append({"role": "tool", "tool_call_id": call["id"], "content": content})\n'
                        ),
                    ),
                ),
                "Each tool is answered once now. The other call of it stays open, and the provider refuses the list.",
            ),
        ],
        after="A result belongs to a call. Where it is appended at once, beside its call, no dict is needed and no id can be wrong.",
    ),
    Exercise(
        id="23-4",
        title="Repair loop 9",
        difficulty=3,
        minutes=6,
        name="loop_9",
        stub=_NINE,
        solution=_NINE_DONE,
        seconds=8,
        setup="import json\n",
        cases=lambda rng: _cases(rng, "progress", "repeat", *_KEEPS, "batch"),
        task="A parcel is being packed, and the run is stopped for asking. Mend it, and let it still stop a model that goes in circles.",
        hints=[
            "What is the same in the three steps, and what is not?",
            "A loop is: the same question and the same answer. Which of the two is in `history`?",
        ],
        traps=[
            Trap(
                _swap(_NINE, ("history[-3:] == history[-1:] * 3", "history[-5:] == history[-1:] * 5")),
                "Five times is only more patience. A parcel with six parts is still stopped, and a real loop costs two calls more.",
            ),
            Trap(
                _swap(
                    _NINE,
                    (
                        (
                            '        if history[-3:] == history[-1:] * 3:\n            return {"status": "repeated_call", "answer": None,'
                            ' "messages": messages}\n'
                        ),
                        "",
                    ),
                ),
                "Without the check nothing is stopped by mistake, and nothing is stopped at all: a model in a circle runs to its last"
                " step.",
            ),
            Trap(
                _swap(_NINE, (_KEY, "history.append(result)")),
                "Now only the answer counts. Four different searches that find nothing are no loop.",
            ),
            Trap(
                _swap(_NINE, (_KEY, 'history.append((call["name"], call["arguments"], result))')),
                "The result is in it now. But you lost the one spelling: the same arguments in another order are another call again.",
            ),
        ],
        after=(
            "Name, arguments in one spelling, result. Notebook 06 adds cycles of two and three, and tools whose purpose is to be asked"
            " again."
        ),
    ),
]

assert {b.exercise for b in LOOPS} <= {"", *(exercise.id for exercise in EXERCISES)}
