"""The exercise engine: check, hint, solution, progress, and every exercise of the course."""

import ast
import concurrent.futures
import io
import json
import os
import re
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit.course import check, exercises, hint, progress, progress_file, sandbox, solution, solution_source
from agentkit.course.exercise import Case, Exercise, Trap
from agentkit.course.judge import grade
from agentkit.course.stubs import is_stub
from agentkit.course.trial import run_source
from agentkit.course.values import difference, same, show
from agentkit.course.verdict import clean


def source(text):
    return textwrap.dedent(text).strip() + "\n"


def canonical_cases(rng):
    letters = rng.sample("abcdefgh", 3)
    return [
        Case(({"b": 1, "a": 2},), '{"a": 2, "b": 1}'),
        Case(({},), "{}"),
        Case(({letter: rng.randrange(100) for letter in letters},), test=is_sorted),
        Case(({1, 2},), raises=TypeError),
    ]


def is_sorted(result, args):
    if result != json.dumps(args[0], sort_keys=True):
        return "the keys in the order of the alphabet"


CANONICAL = Exercise(
    id="98-1",
    title="canonical arguments",
    difficulty=2,
    minutes=8,
    task="Write `canonical(arguments)`: the same text for the same arguments.",
    name="canonical",
    stub=source("""
        def canonical(arguments):
            '''The same text for the same arguments, whatever their order.'''
            ...
    """),
    solution=source("""
        import json

        def canonical(arguments):
            return json.dumps(arguments, sort_keys=True)
    """),
    cases=canonical_cases,
    hints=["What does `json.dumps` do with the order of the keys?", "It has an option for it."],
    traps=[
        Trap("import json\ndef canonical(arguments):\n    return json.dumps(arguments)\n", "The keys are in the order they came in."),
        Trap("def canonical(arguments):\n    return str(arguments)\n", "`str` writes Python, not JSON, and keeps the order."),
        Trap("def canonical(arguments):\n    while True: pass\n", "Nothing here needs a loop.", hangs=True),
    ],
    pure=True,
    after="Key order no longer matters.",
    seconds=1,
)
CHOICE = Exercise(
    id="98-2",
    title="pick a limit",
    difficulty=1,
    minutes=2,
    task="Set `answer` to the number of steps.",
    stub="answer = ...\n",
    solution="answer = 12\n",
    cases=[Case(test=lambda value, args: None if isinstance(value, int) and 10 <= value <= 20 else "10 to 20 steps")],
    hints=["Count them."],
    traps=[Trap("answer = 3\n", "Too few to finish.", when=lambda value, args: value < 10)],
    value=True,
)
SAMPLES = [CANONICAL, CHOICE]
ALL = SAMPLES + exercises.all_exercises()
each = pytest.mark.parametrize("exercise", ALL, ids=lambda exercise: exercise.id)


@pytest.fixture(autouse=True)
def classroom(monkeypatch, tmp_path):
    """The two samples as notebook 98, and a progress file of its own."""
    known = exercises.of
    monkeypatch.setenv("AGENTKIT_PROGRESS", str(tmp_path / "progress.json"))
    monkeypatch.setattr(exercises, "notebooks", lambda: ["98"])
    monkeypatch.setattr(exercises, "of", lambda notebook: SAMPLES if notebook == "98" else known(notebook))
    monkeypatch.setattr(exercises, "title", lambda notebook: "samples")
    return tmp_path


# Every exercise of the course.


@each
def test_the_stub_is_not_attempted_yet(exercise):
    assert grade(exercise, run_source(exercise, exercise.stub)).status == "not attempted yet"


@each
@pytest.mark.parametrize("seed", [None, 1, 2])
def test_the_solution_passes(exercise, seed):
    assert grade(exercise, run_source(exercise, exercise.solution), seed).passed


@pytest.mark.parametrize(
    ("exercise", "trap"),
    [pytest.param(e, trap, id=f"{e.id}-{i}") for e in ALL for i, trap in enumerate(e.traps, 1)],
)
def test_a_typical_wrong_answer_has_its_own_message(exercise, trap):
    verdict = grade(exercise, run_source(exercise, trap.wrong))
    assert (verdict.status, verdict.cause) == ("failed", trap.says)


@each
def test_the_exercise_is_complete(exercise):
    assert re.fullmatch(r"\d\d-[1-9]\d*", exercise.id)
    assert exercise.title and exercise.task and exercise.minutes > 0
    assert exercise.hints and all(text.strip() for text in exercise.hints)
    assert exercise.build(exercise.seed)
    messages = [trap.says for trap in exercise.traps]
    assert all(messages) and len(set(messages)) == len(messages)


def test_ids_are_unique_and_belong_to_their_notebook():
    ids = [exercise.id for exercise in ALL]
    assert len(set(ids)) == len(ids)


# What is no attempt, and what is one.

STUBS = [
    "def f(x): ...",
    "def f(x): pass",
    "def f(x):\n    '''Doc.'''",
    "def f(x):\n    '''Doc.'''\n    ...",
    "def f(x): raise NotImplementedError",
    "def f(x):\n    '''Doc.'''\n    raise NotImplementedError('write me')",
    "def f(x): return",
    "def f(x): return ...",
    "f = lambda x: ...",
    "async def f(x): ...",
    "class f:\n    def __init__(self): ...\n    def add(self, x): pass",
    "class f: pass",
    "f = ...",
    "f = None",
    "f = ' '",
    "f = '...'",
    "f = {'max_steps': ..., 'max_repeats': 3}",
    "f = [1, (2, [...])]",
]
ATTEMPTS = [
    "def f(x): return x",
    "def f(x): return 5",
    "def f(x): return True",
    "def f(x): return ''",
    "def f(x): raise ValueError",
    "def f(x): raise ValueError('x')",
    "def f(x): print(x)",
    "def f(x): yield",
    "def f(x):\n    y = 1",
    "f = lambda x: x",
    "class f:\n    def add(self, x): return x",
    "class f:\n    size = 3",
    "f = 0",
    "f = {}",
    "f = []",
    "f = False",
    "f = {'max_steps': 1}",
    "f = print",
]


def defined(text):
    names = {}
    exec(text, names)
    return names["f"]


@pytest.mark.parametrize("text", STUBS)
def test_a_stub_is_recognised(text):
    assert is_stub(defined(text))


@pytest.mark.parametrize("text", ATTEMPTS)
def test_an_attempt_is_no_stub(text):
    assert not is_stub(defined(text))


@pytest.mark.parametrize("whole", [True, False], ids=["in a file", "in a notebook"])
def test_a_stub_that_imports_something_is_recognised_however_it_was_compiled(whole):
    stub = "import json\n\ndef f(text):\n    found = json.loads(text)\n    return found\n"
    tree, space = ast.parse(stub), {}
    for part in [tree] if whole else [ast.Module([statement], []) for statement in tree.body]:      # a notebook compiles one at a time
        exec(compile(part, "<cell>", "exec"), space)
    assert is_stub(space["f"], stub)


def test_a_stub_with_a_given_part_is_recognised_by_its_own_code():
    stub = "import json\n\ndef f(x):\n    y = json.dumps(x)\n    # your code\n    return [i for i in y if i > ...]\n"
    assert is_stub(defined("# another line\n" + stub), stub)
    assert not is_stub(defined(stub.replace("> ...", "> 'a'")), stub)
    given = "class f:\n    def __init__(self): self.x = 1\n    def add(self): ...\n"
    assert is_stub(defined(given), given)
    assert not is_stub(defined(given.replace("add(self): ...", "add(self): return 1")), given)


# What a wrong answer is told.


def told(answer, exercise=CANONICAL):
    verdict = grade(exercise, answer)
    assert verdict.status == "failed" and not verdict.passed
    return repr(verdict)


def test_it_names_the_first_failing_input_the_result_the_expectation_and_the_cause():
    assert told(lambda arguments: {"hard": "coded"}) == (
        "98-1 canonical arguments, difficulty 2 of 5, 8 minutes: failed\n"
        "  input         canonical({'b': 1, 'a': 2})\n"
        "  came back     {'hard': 'coded'}\n"
        "  expected      '{\"a\": 2, \"b\": 1}'\n"
        "  so far        0 of 4 cases are right\n"
        "  likely cause  A text is expected. Turn the value into text, with `json.dumps` for instance."
    )


def test_an_answer_that_knows_the_fixed_outputs_is_caught_by_fresh_inputs():
    known = {"{'b': 1, 'a': 2}": '{"a": 2, "b": 1}', "{}": "{}"}
    assert "the keys in the order of the alphabet" in told(lambda arguments: known.get(str(arguments), "{}"))
    assert CANONICAL.build(1)[2].args != CANONICAL.build(2)[2].args


def test_an_exception_comes_with_the_learners_own_line():
    answer = run_source(CANONICAL, "def canonical(arguments):\n    x = 1\n    return arguments['z']\n")
    text = told(answer)
    assert "raised        KeyError: 'z'" in text and "line 3 of your cell: return arguments['z']" in text
    assert "`.get`" in text


CAUSES = {
    "def canonical(x): print(x)": "It prints the answer.",
    "def canonical(x): y = x": "It returns None.",
    "def canonical(): return 1": "cannot be called this way",
    "def canonical(x): yield x": "It has a `yield`",
    "def canonical(x): return map(str, x)": "Put `list(...)` around it.",
    "async def canonical(x): return 1": "a plain `def` is asked for",
    "def canonical(x): return unknown": "A name is not known here.",
    "def canonical(x): return canonical(x)": "It calls itself without end.",
    "import sys\ndef canonical(x): sys.exit()": "It ends the whole program.",
    "def canonical(x): raise KeyboardInterrupt": "It ends the whole program.",
    "def canonical(x):\n    if x: raise NotImplementedError\n    return 1": "still in your code",
    "def canonical(x): return [][0]": "shorter than the index",
    "def canonical(x): return None.x": "Something is None",
    "import json\ndef canonical(x):\n    t = json.dumps(x, sort_keys=True)\n    if x: x.popitem()\n    return t": "Work on a copy.",
}


@pytest.mark.parametrize("text", CAUSES)
def test_general_causes(text):
    assert CAUSES[text] in told(run_source(CANONICAL, text))


def test_a_changed_argument_is_named():
    text = "import json\ndef canonical(x):\n    t = json.dumps(x, sort_keys=True)\n    x['n'] = 1\n    return t"
    assert "argument 1: the key 'n' is one too many" in told(run_source(CANONICAL, text))


def test_inputs_are_fresh_for_every_call():
    answer = run_source(CANONICAL, "def canonical(x):\n    x['n'] = 1\n    return str(x)\n")
    assert told(answer) == told(answer)
    assert "{'b': 1, 'a': 2})" in told(answer)


def test_a_call_in_place_of_the_function_is_explained():
    assert 'without the parentheses: check("98-1", canonical)' in told("{}")


def test_a_refused_input_must_be_refused():
    answer = run_source(CANONICAL, "import json\ndef canonical(x):\n    return json.dumps(x, sort_keys=True, default=list)\n")
    assert "TypeError raised" in told(answer) and "3 of 4 cases are right" in told(answer)


def test_the_words_of_a_case_go_before_a_guess_and_after_what_is_certain():
    exercise = sample([Case((1,), 2, because="Add one.")])
    assert "Add one." in told(lambda x: "2", exercise)
    assert "It prints the answer." in told(lambda x: print(2), exercise)


def test_a_test_may_assert_and_may_meet_a_shape_it_does_not_expect():
    def asserts(result, args):
        assert result["n"] > 1, "more than one"

    exercise = sample([Case((1,), test=asserts)])
    assert "expected      more than one" in told(lambda x: {"n": 0}, exercise)
    assert "looking at the result gave KeyError: 'n'" in told(lambda x: {}, exercise)


def test_a_trap_is_the_closest_behaviour_and_not_just_any_failure():
    cases = [Case((n,), n * 2) for n in (1, 2, 3)]
    traps = [Trap("def f(x): return 2 if x == 1 else 0", "zero later"), Trap("def f(x): return 0", "always zero")]
    exercise = sample(cases, traps=traps)
    assert "always zero" in told(lambda x: 0, exercise)
    assert "zero later" in told(lambda x: 2 if x == 1 else 0, exercise)
    assert "zero" not in told(lambda x: x + 9, exercise)


def test_traps_that_return_the_same_are_told_apart_by_what_they_leave_behind():
    def test(result, args):
        return None if args[0] == [1, 2] else "both to be appended"

    traps = [Trap("def f(x): x.append(1)\n", "the second is missing"), Trap("def f(x): x.append(2)\n", "the first is missing")]
    exercise = sample([Case(([],), test=test)], traps=traps)
    assert "the second is missing" in told(lambda x: x.append(1), exercise)
    assert "the first is missing" in told(lambda x: x.append(2), exercise)


def test_a_detector_that_meets_an_endless_object_does_not_hang():
    exercise = sample([Case((1,), 1)], traps=[Trap("def f(x): return 0\n", "small", when=lambda value, args: bool(value < 1))])
    assert "small" in told(lambda x: 0, exercise)
    assert "small" not in told(lambda x: type("E", (Endless,), {})("__lt__"), exercise)


def sample(cases, **more):
    stub, solved = "def f(x): ...\n", "def f(x): return x\n"
    more = {"id": "97-1", "title": "t", "difficulty": 1, "minutes": 1, "task": "T.", "hints": ["h"], "name": "f", "seconds": 1, **more}
    return Exercise(cases=cases, stub=stub, solution=solved, **more)


# Answers that misbehave.


class Hostile:
    def __repr__(self):
        raise RuntimeError("no")

    def __eq__(self, other):
        raise RuntimeError("no")

    __hash__ = None


class Endless:
    def __init__(self, name):
        setattr(type(self), name, lambda *_: self.wait())

    def wait(self):
        while True:
            pass


class Broken(Exception):
    def __str__(self):
        raise ValueError("no text")


def raises(error):
    raise error


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def swallow(x):
    while True:
        try:
            while True:
                x = 1
        except:  # noqa: E722
            pass


def swallow_politely(x):
    while True:
        try:
            time.sleep(0.001)
        except Exception:
            pass


def finally_again(x):
    try:
        while True:
            pass
    finally:
        return "{}"  # noqa: B012


def forever(x):
    while True:
        pass


@pytest.mark.parametrize("answer", [forever, swallow, swallow_politely, finally_again], ids=lambda f: f.__name__)
def test_an_endless_function_is_stopped(answer):
    assert "stopped after 1 second" in told(answer)
    for thread in threading.enumerate():
        if thread.name == "check":
            thread.join(10)
            assert not thread.is_alive()


def test_a_function_stuck_in_a_call_is_left_behind_with_an_honest_message():
    release = threading.Event()
    text = told(lambda x: release.wait(60), sample([Case((1,), 1)], seconds=0.1))
    release.set()
    assert "cannot be stopped from here" in text


ODD = {
    "hostile": lambda x: Hostile(),
    "list of hostile": lambda x: [Hostile()],
    "broken exception": lambda x: raises(Broken()),
    "endless repr": lambda x: type("E", (Endless,), {})("__repr__"),
    "endless eq": lambda x: type("E", (Endless,), {})("__eq__"),
    "endless str": lambda x: raises(type("E", (Endless, Exception), {})("__str__")),
    "deep": lambda x: nested(100_000),
    "itself": lambda x: (lambda a: a.append(a) or a)([]),
    "huge": lambda x: "x" * 10_000_000,
    "long": lambda x: list(range(1_000_000)),
    "huge int": lambda x: 10**10_000,
    "nan": lambda x: float("nan"),
    "surrogate": lambda x: "\ud800",
    "prints a surrogate": lambda x: print("\ud800\x1b[31m<b>"),
    "raises stopped": lambda x: raises(sandbox.Stopped()),
    "generator exit": lambda x: raises(GeneratorExit()),
    "a class": int,
    "a module function": time.time,
}


@pytest.mark.parametrize("name", ODD)
def test_an_odd_answer_gets_a_bounded_verdict_that_can_be_stored(name):
    exercise = sample([Case((1,), 7), Case((2,), test=lambda r, a: "more" if r != 7 else None)])
    for case in exercise.cases:
        verdict = grade(sample([case]), ODD[name])
        assert verdict.status == "failed"
        for text in (repr(verdict), verdict._repr_html_()):
            assert len(text) < 5000
            assert " at 0x" not in text
            text.encode("utf-8")
            assert "\x1b" not in text and "<b>&" not in text


def test_a_megabyte_of_printing_is_kept_short_and_does_not_reach_the_notebook(capsys):
    verdict = grade(CANONICAL, lambda x: [print("spam" * 1000) for _ in range(250)] and 1)
    assert len(repr(verdict)) < 3000 and "more characters" in repr(verdict)
    assert capsys.readouterr() == ("", "")
    assert repr(grade(CANONICAL, lambda x: [print(i) for i in range(99)] and 1)).endswith("11\n" + " " * 16 + "... and more")


def test_printing_for_ever_is_stopped():
    def chatter(x):
        while True:
            print("spam")

    assert "stopped after 1 second" in told(chatter)


def test_the_printing_of_a_right_answer_is_shown():
    def answer(x):
        print("looking at", x)
        print("warning", file=sys.stderr)
        return json.dumps(x, sort_keys=True)

    verdict = grade(CANONICAL, answer)
    assert verdict.passed and "looking at {'b': 1, 'a': 2}" in repr(verdict) and "warning" in repr(verdict)


def test_the_streams_are_restored_whatever_happens():
    streams = sys.stdout, sys.stderr
    grade(CANONICAL, lambda x: setattr(sys, "stdout", None))
    grade(CANONICAL, forever)
    assert (sys.stdout, sys.stderr) == streams


def test_a_thread_left_behind_that_puts_the_capture_back_does_not_mute_the_notebook():
    real = io.StringIO()
    capture = sandbox.Printed(10, real)
    capture.write("kept")
    capture.end()
    capture.write("later")
    assert real.getvalue() == "later"


def test_an_earlier_failure_is_told_before_a_later_time_out():
    text = told(lambda x: forever(x) if x > 1 else 0, sample([Case((1,), 1), Case((2,), 2)]))
    assert "f(1)" in text and "stopped" not in text


def test_the_users_interrupt_passes_through_and_the_function_is_stopped():
    code = """
        import _thread, signal, sys, threading
        from agentkit.course.sandbox import run_bounded
        signal.signal(signal.SIGINT, signal.default_int_handler)    # whoever starts the tests in the background has it ignored
        def forever():
            threading.Timer(0.2, _thread.interrupt_main).start()
            while True: pass
        real = sys.stdout
        try:
            run_bounded(forever, 60)
        except KeyboardInterrupt:
            alive = [t for t in threading.enumerate() if t.name == "check"]
            print("interrupted", sys.stdout is real, alive)
    """
    done = subprocess.run([sys.executable, "-c", source(code)], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("interrupted True []\n", "")


ROOT = Path(__file__).resolve().parents[1]


def test_a_stop_that_comes_late_or_early_hits_nobody(monkeypatch):
    """Functions stopped as they start, run and end: each gives a result or a time-out, and no exception escapes."""
    escaped = []
    monkeypatch.setattr(threading, "excepthook", escaped.append)
    functions = [lambda: time.sleep(0.001), lambda: sum(range(3000)), lambda: forever(1)]
    for i in range(300):
        ran = sandbox.run_bounded(functions[i % 3], seconds=i * 5e-6)
        assert ran.finished != ran.timed_out and not ran.stuck and ran.error is None and ran.printed == ""
    assert escaped == []


def test_a_check_inside_a_checked_function_and_checks_side_by_side():
    assert "1 of 5" in told(lambda x: repr(check("98-2", 3)), CANONICAL)
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        verdicts = list(pool.map(lambda i: grade(CHOICE, 8 + i), range(4)))
    assert [verdict.passed for verdict in verdicts] == [False, False, True, True]


@settings(max_examples=60, deadline=None)
@given(st.recursive(st.none() | st.booleans() | st.floats() | st.integers() | st.text(), lambda v: st.lists(v) | st.dictionaries(st.text(), v)))
def test_check_never_raises_and_its_text_is_storable(value):
    for verdict in (check("98-1", value), check("98-1", lambda x: value), check("98-2", value), check(value, value)):
        json.dumps([repr(verdict), verdict._repr_html_()]).encode("utf-8")
        assert verdict.status in ("not attempted yet", "passed", "failed")


values = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.integers() | st.text(),
    lambda v: st.lists(v) | st.dictionaries(st.text(), v) | st.tuples(v, v),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(values, values)
def test_same_agrees_with_equality_but_for_bools_and_rounding(a, b):
    assert same(a, a)
    if same(a, b) != (a == b):
        assert re.search("True|False|[.e]", repr((a, b)))


def test_difference_says_where():
    assert difference([{"a": 1}], [{"a": 2}]) == "at [0]['a']: 2 instead of 1"
    assert difference({"a": 1}, {}) == "the key 'a' is missing"
    assert difference([1], (1,)) == "a tuple instead of a list"
    assert difference([1, 2], [1]) == "1 items instead of 2"
    assert difference(1, True) == "True instead of 1"
    assert difference(0.3, 0.1 + 0.2) is None
    assert difference(10**12, 10**12 + 1)
    assert difference(float("nan"), float("nan")) is None
    assert difference(1.0, 10**400)


def test_show_is_the_same_on_every_start():
    assert show({"b", "a"}) == "{'a', 'b'}" and show(set()) == "set()" and show((1,)) == "(1,)"
    assert show(test_show_is_the_same_on_every_start).startswith("<function test_show")
    assert show(object()) == "<object object>"
    assert clean("a\x00\ud800\tb\n") == "a\N{REPLACEMENT CHARACTER}?\tb\n"


# The names a notebook calls.


def test_check_gives_its_header_and_what_to_do_for_a_stub():
    assert repr(check("98-1")) == (
        "98-1 canonical arguments, difficulty 2 of 5, 8 minutes: not attempted yet\n"
        '  Fill in the cell and run it again. hint("98-1") helps.'
    )


@pytest.mark.parametrize("id", ["98-9", "98-", "9-1", "98_1"])
def test_an_unknown_id_is_offered_the_likely_one(id):
    assert f"no exercise '{id}'; did you mean '98-" in repr(check(id, 1))


def test_ids_that_are_none():
    assert "no exercise 'zzz'" in repr(check("zzz", 1))
    assert 'check("06-2", your_function)' in repr(check(len, "98-1"))


def test_a_broken_exercise_is_no_fault_of_the_learner(monkeypatch):
    broken = sample(lambda rng: 1 / 0)
    monkeypatch.setattr(exercises, "find", lambda id: broken)
    assert "This check is broken, not your answer (ZeroDivisionError" in repr(check("97-1", len))
    monkeypatch.setattr(exercises, "find", lambda id: raises(SyntaxError("x")))
    assert "cannot be loaded (SyntaxError: x)" in repr(check("97-1", len))


def test_a_verdict_in_html_escapes_and_never_speaks_by_colour_alone():
    html = grade(CANONICAL, lambda x: "<script>&")._repr_html_()
    assert "<script>" not in html and "&lt;script&gt;&amp;" in html
    assert "\N{BALLOT X}" in html and "<b>failed</b>" in html
    colours = re.findall(r"[\w-]*(?:color|border-left)[^;]*#\w+", re.sub(r"&#\d+;", "", html))
    assert [c.partition(":")[0] for c in colours] == ["border-left"]  # the text has the theme's colour, whichever theme it is


def test_hint_and_solution_print_outside_a_notebook(capsys):
    assert hint("98-1") is None and solution("98-1") is None
    printed = capsys.readouterr().out
    assert "Hint 1 of 2: What does" in printed and "sort_keys=True" in printed
    hint("98-9")
    assert "did you mean" in capsys.readouterr().out
    assert solution_source("98-2") == "answer = 12"


def test_the_cell_of_a_notebook():
    assert CHOICE.cell() == 'answer = ...\n\ncheck("98-2", answer)'
    assert CHOICE.cell(CHOICE.solution) == 'answer = 12\n\ncheck("98-2", answer)'


def test_faulty_exercises_are_refused_when_they_are_written():
    with pytest.raises(ValueError, match="06-2"):
        sample([], id="6.2")
    with pytest.raises(ValueError, match="1 to 5"):
        sample([], difficulty=6)
    with pytest.raises(ValueError, match="expect="):
        Case((1,))


# Progress.


def saved(folder):
    return json.loads((folder / "progress.json").read_text())


def solve(id):
    exercise = exercises.find(id)
    return check(id, run_source(exercise, exercise.solution))


def test_a_pass_is_remembered_and_nothing_else(classroom):
    check("98-1", len), check("98-1"), solution("98-2"), hint("98-2")
    assert not (classroom / "progress.json").exists()
    assert solve("98-1").passed
    assert list(saved(classroom)["passed"]) == ["98-1"]
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", saved(classroom)["passed"]["98-1"])


def test_progress_shows_each_notebook():
    assert repr(progress()) == "0 of 2 exercises done\n  98 samples  [----------]  0 of 2"
    solve("98-2")
    assert repr(progress()) == "1 of 2 exercises done\n  98 samples  [#####-----]  1 of 2"
    assert "1 of 2" in progress()._repr_html_()


def test_unknown_keys_and_the_first_day_are_kept(classroom):
    (classroom / "progress.json").write_text('{"version": 7, "cards": [1], "passed": {"98-1": "2020-01-01"}}')
    solve("98-1"), solve("98-2")
    data = saved(classroom)
    assert data["version"] == 7 and data["cards"] == [1] and data["passed"]["98-1"] == "2020-01-01"
    assert len(data["passed"]) == 2


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"passed": 3}', b"\xff\xfe", b"[" * 100_000])
def test_a_corrupt_file_is_set_aside(classroom, content):
    for name in ("progress.json.bak", "progress.json.bak2"):
        (classroom / "progress.json").write_bytes(content)
        assert "could not be read" in repr(progress())
        assert f"kept as {name}" in repr(solve("98-1"))
        assert (classroom / name).read_bytes() == content
        assert "98-1" in saved(classroom)["passed"]


def test_a_place_that_cannot_be_written_is_said_and_survived(monkeypatch, classroom):
    (classroom / "file").write_text("")
    monkeypatch.setenv("AGENTKIT_PROGRESS", str(classroom / "file" / "progress.json"))
    verdict = solve("98-1")
    assert verdict.passed and "not saved" in repr(verdict)
    assert repr(progress()).startswith("0 of 2")


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="the superuser may write anywhere")
def test_a_read_only_folder_is_said_and_survived(classroom):
    classroom.chmod(0o500)
    assert "not saved" in repr(solve("98-1"))
    classroom.chmod(0o700)


def test_writers_at_the_same_time_lose_nothing(classroom):
    code = "import sys; from agentkit.course.progress_file import record_pass\nfor i in range(20): record_pass(f'{sys.argv[1]}-{i}')"
    writers = [subprocess.Popen([sys.executable, "-c", code, str(n)], cwd=ROOT) for n in range(10, 14)]
    assert [writer.wait(60) for writer in writers] == [0] * 4
    assert len(saved(classroom)["passed"]) == 80
    assert [file.name for file in classroom.iterdir()] == ["progress.json"]


def test_a_lock_left_by_a_dead_notebook_stops_nobody(classroom):
    lock = classroom / "progress.json.lock"
    lock.write_text("")
    os.utime(lock, (0, 0))
    solve("98-1")
    assert "98-1" in saved(classroom)["passed"] and not lock.exists()


def test_the_file_is_beside_the_notebooks(monkeypatch, classroom):
    monkeypatch.delenv("AGENTKIT_PROGRESS")
    for folder in ("notebooks/sub", "agentkit"):
        (classroom / folder).mkdir(parents=True)
    for folder in (".", "notebooks", "notebooks/sub", "agentkit"):
        monkeypatch.chdir(classroom / folder)
        assert progress_file.path() == classroom / "notebooks" / ".progress.json"


def test_one_broken_notebook_does_not_hide_the_others(monkeypatch):
    known = exercises.of
    monkeypatch.setattr(exercises, "notebooks", lambda: ["97", "98"])
    monkeypatch.setattr(exercises, "of", lambda n: raises(SyntaxError("x")) if n == "97" else known(n))
    assert "0 of 2" in repr(progress()) and "notebook 97 cannot be loaded" in repr(progress())


# In a real kernel.


def test_in_a_kernel(classroom):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    cells = [
        "from tests.test_exercises import SAMPLES\n"
        "from agentkit.course import check, exercises, hint, solution, progress\n"
        "exercises.notebooks = lambda: ['98']\nexercises.of = lambda n: SAMPLES\nexercises.title = lambda n: 'samples'",
        'def canonical(arguments):\n    ...\n\ncheck("98-1", canonical)',
        'def canonical(arguments):\n    while True:\n        print("spam")\n\ncheck("98-1", canonical)',
        'def canonical(arguments):\n    x = 1\n    return arguments["z"]\n\ncheck("98-1", canonical)',
        'import json\ndef canonical(x):\n    print("hello")\n    return json.dumps(x, sort_keys=True)\n\ncheck("98-1", canonical)',
        'hint("98-1"); solution("98-1")',
        "progress()",
        'print("still here")',
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=60, kernel_name="python3", resources={"metadata": {"path": str(ROOT)}}).execute()
    shown = [[output.get("data", {}).get("text/plain", output.get("text")) for output in cell.outputs] for cell in notebook.cells]
    assert "not attempted yet" in shown[1][0]
    assert "Nothing here needs a loop." in shown[2][0]
    assert 'line 3 of your cell: return arguments["z"]' in shown[3][0]
    assert "passed" in shown[4][0] and "hello" in shown[4][0]
    assert [len(outputs) for outputs in shown] == [0, 1, 1, 1, 1, 2, 1, 1]
    assert "folded" in shown[5][0] and "sort_keys" not in shown[5][1]
    assert "sort_keys" in notebook.cells[5].outputs[1]["data"]["text/html"]
    assert "1 of 2" in shown[6][0]
    assert shown[7] == ["still here\n"]
