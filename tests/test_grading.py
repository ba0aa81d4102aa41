"""Grading a class: what was submitted is found, judged on fresh inputs in another process, and told in words."""

import csv
import dataclasses
import io
import json
import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from places import CHECKOUT

from agentkit.course import exercises, grading, grading_files, grading_judge, grading_remote, grading_report, grading_wire, trial
from agentkit.course.exercise import Case, Exercise
from agentkit.course.grading import ERROR, FAILED, NOT_ATTEMPTED, PASSED, Mark, Sweep
from agentkit.course.judge import grade as judge
from agentkit.limits import Limits

GOOD = exercises.find("04-1").solution
ALL = exercises.all_exercises()
by_id = pytest.mark.parametrize("exercise", ALL, ids=lambda e: e.id)


def notebook(*cells):
    return json.dumps({"cells": [{"cell_type": "code", "source": cell, "metadata": {}, "outputs": []} for cell in cells], "nbformat": 4})


def graded(folder, files, **options):
    """Grade files, given as {name: text}; the marks by (learner, exercise)."""
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    return grading.grade(grading_files.find_files([str(folder)]), **{"seed": 7, "jobs": 2, "seconds": 30, **options})


# ---- the wire: a verdict is the same across it ------------------------------------------------------------------------

@by_id
def test_a_solution_and_its_typical_mistakes_are_judged_alike_across_the_wire(exercise):
    seed = grading_judge.seed_of(1, exercise.id)
    if not grading_judge.crosses(exercise, seed):
        pytest.skip("judged in the learner's process")
    if exercise.value:
        return
    for trap in exercise.traps:
        if trap.hangs:
            continue
        answer = trial.run_source(exercise, trap.wrong)
        here, there = judge(exercise, answer, seed), judge(exercise, grading_remote.Loop(answer), seed)
        assert (there.status, there.cause) == (here.status, here.cause)


def there_and_back(value):
    functions = grading_wire.Functions()
    taken = grading_wire.taken(json.loads(json.dumps(functions.down(value))), {}, None)
    return grading_wire.received(json.loads(json.dumps(grading_wire.up(taken))), functions)


@pytest.mark.parametrize("value", [
    {"a": [1, 2.5, None, True], (1, 2): {3, 4}}, (1, (2,)), b"\x00\xff", 2**80, -1, float("inf"), "\ud800 \u202e", frozenset("ab"), Limits(max_steps=3), print,
    [print, {"f": print}]], ids=lambda value: type(value).__name__)
def test_a_value_comes_back_as_it_went(value):
    back = there_and_back(value)
    assert back == value and type(back) is type(value)


def test_errors_keep_their_type_and_their_text():
    for error in (KeyError("x"), ValueError(), json.JSONDecodeError("no", "doc", 0), FileNotFoundError(2, "not there"), UnicodeDecodeError("utf-8", b"x", 0, 1, "bad")):
        back = there_and_back(error)
        assert type(back).__mro__[-3:] == type(error).__mro__[-3:] and isinstance(back, type(error)) and str(back) == str(error)

    class Mine(LookupError):
        def __str__(self):
            return "my words"

    back = grading_wire.received(grading_wire.up(Mine(1)), grading_wire.Functions())
    assert isinstance(back, LookupError) and type(back).__name__ == "Mine" and str(back) == "my words"


def test_a_type_of_the_learners_can_neither_pass_for_another_nor_equal_everything():
    class Text(str):
        def __eq__(self, other):
            return True
        __hash__ = str.__hash__

    class Anything:
        def __eq__(self, other):
            return True

    back = grading_wire.received(grading_wire.up([Text("a"), Anything()]), grading_wire.Functions())
    assert back[0] != "b" and type(back[0]) is not str and isinstance(back[0], str) and back[1] != 1


@dataclasses.dataclass
class Planted:
    def __post_init__(self):
        pytest.fail("a class outside of agentkit was made")


@pytest.mark.parametrize("sent", [
    {"t": "data", "v": {}, "type": "os:system"}, {"t": "data", "v": {}, "type": f"{__name__}:Planted"}, {"t": "data", "v": {}, "type": "agentkit.course.grading_judge:Learner"}, {"t": "back", "v": 5}, {"t": "dict", "v": 3},
    {"t": "error", "v": {"t": "tuple", "v": []}, "mro": [["os", "system"]], "text": "", "attrs": {"t": "dict", "v": []}}, {"t": "function", "v": 1}, {}, {"t": "lazy", "v": "exec"}],
    ids=json.dumps)
def test_what_a_learners_process_sends_runs_nothing(sent):
    try:
        value = grading_wire.received(sent, grading_wire.Functions())
    except ValueError:
        return
    assert isinstance(value, grading_wire.Opaque)


def test_what_is_endless_or_far_too_large_arrives_as_a_sentence():
    endless = []
    endless.append([endless, endless])
    for value in (endless, list(range(200_000)), ["x" * 20_000_000]):
        assert "too large" in repr(grading_wire.received(grading_wire.up(value), grading_wire.Functions()))


def test_an_exercise_whose_values_cannot_travel_is_known(monkeypatch):
    lock = threading.Lock()
    exercise = Exercise(id="97-1", title="t", difficulty=1, minutes=1, task="", name="f", stub="def f(lock): ...", solution="def f(lock): return lock.locked()",
                        cases=[Case(lambda: (lock,), False)], hints=[])
    assert not grading_judge.crosses(exercise, 1) and grading_judge.crosses(exercises.find("04-2"), 1)


# ---- who handed it in -----------------------------------------------------------------------------------------------------

def test_learners_are_named_by_file_or_folder(tmp_path):
    names = ["alice.ipynb", "alice.py", "04_loop_bob.ipynb", "bob_05_errors.ipynb", "chen/04_loop.ipynb", "chen/04_loop (1).ipynb", "chen/helpers.py",
             "a/dana.ipynb", "b/dana.ipynb", "student_01.ipynb", "student_02.ipynb", "erik-Copy1.ipynb", "fay/notebooks/04_loop.ipynb"]
    paths = [tmp_path / name for name in names]
    named = grading_files.name_learners(paths, ["04_loop", "05_errors"])
    assert list(named.values()) == ["alice", "alice", "bob", "bob", "chen", "chen", "chen", "a/dana", "b/dana", "student_01", "student_02", "erik", "fay"]
    deep = [tmp_path / "x" / "same" / "dana.py", tmp_path / "y" / "same" / "dana.py"]
    assert list(grading_files.name_learners(deep, []).values()) == ["x/same/dana", "y/same/dana"]


def test_files_are_found_and_what_is_no_submission_is_left_alone(tmp_path):
    for name in ("a.ipynb", "b.py", "c.txt", ".ipynb_checkpoints/a-checkpoint.ipynb", "__pycache__/b.py", "d/e.ipynb"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("")
    assert [p.relative_to(tmp_path).as_posix() for p in grading_files.find_files([str(tmp_path), str(tmp_path / "a.ipynb")])] == ["a.ipynb", "b.py", "d/e.ipynb"]
    assert [p.name for p in grading_files.find_files([str(tmp_path / "*.ipynb")])] == ["a.ipynb"]
    for wrong in ("c.txt", "nobody.ipynb", "__pycache__/x"):
        with pytest.raises(grading_files.Misuse):
            grading_files.find_files([str(tmp_path / wrong)])


@pytest.mark.parametrize("raw", [b"", b"{", b"\xff\xfe", b"[]", b'{"cells": [1]}', b"[" * 100_000], ids=lambda raw: repr(raw[:12]))
def test_a_broken_notebook_is_trouble_and_no_exception(raw, tmp_path):
    (tmp_path / "x.ipynb").write_bytes(raw)
    assert "no notebook" in grading_files.read(tmp_path / "x.ipynb", "x").trouble


def test_old_notebooks_and_odd_encodings_are_read(tmp_path):
    (tmp_path / "x.ipynb").write_text(json.dumps({"worksheets": [{"cells": [{"cell_type": "code", "input": ["a = 1\n", "b = 2"]}]}]}))
    assert grading_files.read(tmp_path / "x.ipynb", "x").cells == ["a = 1\nb = 2"]
    (tmp_path / "x.py").write_bytes("# coding: latin-1\nname = 'é'\n".encode("latin-1"))
    assert "é" in grading_files.read(tmp_path / "x.py", "x").cells[0]


# ---- a class ------------------------------------------------------------------------------------------------------------------

STUB = exercises.find("04-1").stub
WRONG = exercises.find("04-1").traps[0].wrong
CHECK = '\ncheck("04-1", read_decision)'
IMPORT = "from agentkit.course import check, hint, solution, progress"
HARD_CODED = 'def read_decision(reply):\n    return {0}.get(reply, ("error", None))\n'.format(
    {case.args[0]: case.expect for case in exercises.find("04-1").build(exercises.find("04-1").seed)})


@pytest.fixture(scope="module")
def school(tmp_path_factory):
    folder, progress = tmp_path_factory.mktemp("school"), tmp_path_factory.mktemp("p") / "progress.json"
    before = os.environ["AGENTKIT_PROGRESS"]
    os.environ["AGENTKIT_PROGRESS"] = str(progress)
    outside = folder.parent / "outside.txt"
    try:
        sweep = graded(folder, {
            "right.ipynb": notebook("%matplotlib inline\n!echo no", IMPORT, "%%time\n" + GOOD, "raise RuntimeError('mine')", "await __import__('asyncio').sleep(0)",
                                    CHECK, 'check("04-3", "c")\nhint("04-2")\nsolution("04-2")\nprogress()', "%%bash\nrm -rf nothing"),
            "copied.ipynb": notebook(IMPORT, STUB + CHECK, GOOD.replace("read_decision", "mine") + '\ncheck("04-1", mine)', STUB + CHECK),
            "later.ipynb": notebook(IMPORT, GOOD + CHECK, WRONG + CHECK, exercises.find("04-2").cell(exercises.find("04-2").solution)),
            "fixed.ipynb": notebook(IMPORT, HARD_CODED + CHECK),
            "stub.ipynb": notebook(IMPORT, STUB + CHECK),
            "typo.ipynb": notebook(IMPORT, "def read_decision(reply:\n    pass" + CHECK, 'check("04-3", "c")'),
            "unchecked.py": "1 / 0\n" + GOOD + "\ndef my_lop(model, execute, messages, max_steps):\n    return 1\n",
            "two.ipynb": notebook(IMPORT, WRONG + CHECK),
            "two.py": "from helper_of_two import read_decision\n" + IMPORT + CHECK,
            "other/two.ipynb": notebook(IMPORT, GOOD + CHECK),
            "broken.ipynb": "{",
            "=cmd|' '!A1.py": GOOD,
            "\x1b[31mred\u202e.py": GOOD,
            "hostile.py": IMPORT + f"""
import os
def read_decision(reply):
    if "final" in reply:
        open({str(outside)!r}, "w")
    import agentkit.course.judge as judge, agentkit.course.values as values
    judge.grade = values.difference = lambda *a, **k: None
    return reply
def my_loop(model, execute, messages, max_steps):
    os._exit(0)
{CHECK}
check("04-2", my_loop)
check("04-3", "c")
""",
            "blocks.ipynb": notebook(IMPORT, "print('x' * 10**6, flush=True)", "import os, time\nif os.fork() == 0:\n    os.setsid()\n    time.sleep(999)" if hasattr(os, "fork") else "",
                                     "import time\ntime.sleep(999)", GOOD + CHECK, "exit()", 'check("04-3", "c")', "import os\nos._exit(7)"),
        }, seconds=9)
    finally:
        os.environ["AGENTKIT_PROGRESS"] = before
    sweep.folder, sweep.progress, sweep.outside = folder, progress, outside
    return sweep


def mark(school, learner, id="04-1"):
    return school.marks.get((learner, id), Mark(learner, id))


@pytest.mark.parametrize("learner, id, verdict, words", [
    ("right", "04-1", PASSED, "All 6 cases are right."), ("right", "04-3", PASSED, "Right."), ("right", "04-2", NOT_ATTEMPTED, ""),
    ("copied", "04-1", PASSED, "6 cases"),
    ("later", "04-1", FAILED, "Your function raises when the model writes prose"), ("later", "04-1", FAILED, "at: line 3 of your cell: d = json.loads(reply)"),
    ("later", "04-2", PASSED, "All 6 cases are right."),
    ("fixed", "04-1", FAILED, "came back: ('error', None)"),
    ("stub", "04-1", NOT_ATTEMPTED, ""),
    ("typo", "04-1", ERROR, "Cell 2 does not run: SyntaxError"), ("typo", "04-3", PASSED, ""),
    ("unchecked", "04-1", PASSED, "nothing was checked; the function `read_decision` was taken"), ("unchecked", "04-1", PASSED, "word for word the published solution"),
    ("unchecked", "04-2", NOT_ATTEMPTED, "Was `my_lop` meant?"),
    ("hostile", "04-1", FAILED, "writes only in its own folder"), ("hostile", "04-2", FAILED, "it ended the process (exit code 0)"), ("hostile", "04-3", PASSED, ""),
    ("blocks", "04-1", PASSED, ""), ("blocks", "04-3", PASSED, ""),
], ids=lambda value: str(value)[:30])
def test_each_learner_gets_what_the_function_deserves(school, learner, id, verdict, words):
    found = mark(school, learner, id)
    assert found.verdict == verdict and words in found.reason, found


def test_two_files_of_one_learner_are_joined_and_one_name_in_two_folders_is_two_learners(school):
    joined, other = f"{school.folder.name}/two", "other/two"
    assert [name for name in school.learners if name.endswith("two")] == [other, joined]
    assert (mark(school, joined).verdict, mark(school, other).verdict) == (FAILED, PASSED)
    assert {name for name in school.learners if "helper" in name} == set()


def test_what_went_wrong_beside_the_marks_is_told(school):
    said = dict.fromkeys(f"{who}: {what}" for who, what in school.remarks)
    for words in ("right: right.ipynb, code cell 4: RuntimeError: mine, line 1", "right: right.ipynb, code cell 1: left out !, %matplotlib",
                  "right: right.ipynb, code cell 8: left out %%bash", "unchecked: unchecked.py: ZeroDivisionError: division by zero, line 1",
                  "blocks: blocks.ipynb, code cell 4: it does not end; stopped after 3 s", "blocks: blocks.ipynb, code cell 6: it ends the program",
                  "blocks: blocks.ipynb, code cell 8: it ended the process (exit code 7)"):
        assert any(line.startswith(words) for line in said), (words, list(said))
    assert [(m.learner, m.reason) for m in school.troubles] == [("broken", "broken.ipynb cannot be graded: it is no notebook (JSONDecodeError).")]


def test_attempts_are_counted_and_nobodys_files_are_touched(school):
    assert (mark(school, "later").versions, mark(school, "copied").versions) == (2, 1)
    assert not school.progress.exists() and not school.outside.exists()


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux says which processes are left")
def test_no_process_is_left_behind(school):
    for stat in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = stat.read_bytes()
        except OSError:
            continue
        assert b"grading_worker" not in words or str(school.folder).encode() not in (Path(stat.parent, "cwd").resolve().as_posix().encode())


def test_the_table_holds_every_learner_on_one_line_and_the_sums(school):
    text = grading_report.table(school)
    lines = text.splitlines()
    assert "--seed 7 gives them again" in lines[0] and lines[2].split() == ["learner", "04-1", "04-2", "04-3", "passed"]
    rows = lines[3:3 + len(school.learners)]
    assert next(row for row in rows if row.startswith("right ")).split() == ["right", "ok", "-", "ok", "2", "of", "3"]
    passed = [sum(mark(school, who, id).verdict == PASSED for who in school.learners) for id in ("04-1", "04-2", "04-3")]
    assert lines[3 + len(rows)].split() == ["passed", "by", *map(str, passed)]
    assert "\x1b" not in text and "\u202e" not in text and max(map(len, lines)) <= 130
    assert "blocks.ipynb, code cell 4" in text and "broken.ipynb cannot be graded" in text


def test_the_csv_has_one_row_per_learner_and_exercise_and_no_formula(school, tmp_path):
    grading_report.write_csv(school, tmp_path / "out.csv")
    raw = (tmp_path / "out.csv").read_bytes()
    rows = list(csv.DictReader(io.StringIO(raw.decode("utf-8-sig"))))
    assert raw.startswith(b"\xef\xbb\xbf") and [*rows[0]] == list(grading_report.COLUMNS)
    assert len(rows) == len(school.learners) * 3 + 1 and {row["verdict"] for row in rows} == {PASSED, FAILED, NOT_ATTEMPTED, ERROR}
    assert not [cell for row in rows for cell in row.values() if re.match(r"[=+\-@\t\r]", cell) or "\n" in cell]
    assert "'=cmd|' '!A1" in {row["learner"] for row in rows}
    assert os.listdir(tmp_path) == ["out.csv"]


def test_a_seed_gives_the_same_inputs_again_and_another_one_others():
    one, two = (exercises.find("04-1").build(grading_judge.seed_of(seed, "04-1"))[0].args for seed in (1, 2))
    assert one != two and one == exercises.find("04-1").build(grading_judge.seed_of(1, "04-1"))[0].args


def test_a_judge_that_is_killed_costs_its_learner_and_nobody_else(tmp_path):
    if os.name == "nt":
        pytest.skip("signals")
    kill = IMPORT + '\nimport os, subprocess\ndef read_decision(reply):\n    subprocess.run(["kill", "-9", str(os.getppid())])\n' + CHECK
    sweep = graded(tmp_path, {"a.py": kill, "b.py": GOOD, "c.py": WRONG})
    assert [mark(sweep, who).verdict for who in "abc"] == [ERROR, PASSED, FAILED] and "judge was ended" in mark(sweep, "a").reason


def test_an_exercise_that_cannot_travel_is_judged_in_the_learners_process(monkeypatch, tmp_path):
    exercise = exercises.find("04-1")
    job = {"cells": [GOOD], "files": {}, "is_script": True, "exercises": {"04-1": {"name": exercise.name, "stub": exercise.stub, "value": False}}, "seed": 1,
           "seconds": 30, "megabytes": 2048, "parents": [], "folder": str(tmp_path)}
    monkeypatch.setattr(grading_wire.Functions, "down", lambda self, value: (_ for _ in ()).throw(grading_wire.CannotCross()))
    monkeypatch.setattr(grading_judge, "crosses", lambda exercise, seed: False)
    row = grading_judge.judge_file(job)["rows"][0]
    assert row["verdict"] == PASSED and "judged in the learner's own process" in row["reason"]


def test_a_notebook_as_it_was_handed_out_is_not_run(tmp_path, monkeypatch):
    monkeypatch.setattr(grading.Judges, "judge", lambda self, job: pytest.fail("it was run"))
    sweep = graded(tmp_path, {"gil/04_loop.ipynb": (CHECKOUT / "notebooks" / "04_loop.ipynb").read_text(encoding="utf-8")})
    assert [m.verdict for m in grading_report.rows(sweep)] == [NOT_ATTEMPTED] * 3 and sweep.learners == ["gil"]


# ---- the command ---------------------------------------------------------------------------------------------------------------

def command(*arguments, cwd):
    return subprocess.run([sys.executable, "-m", "agentkit.course.grading", *map(str, arguments)], capture_output=True, text=True, encoding="utf-8", cwd=cwd, timeout=100)


def test_the_command_prints_the_table_tells_its_progress_and_ends_with_0(tmp_path):
    (tmp_path / "a.py").write_text(IMPORT + "\n" + WRONG + CHECK)
    done = command("a.py", "--csv", "out.csv", "--seed", "3", "--jobs", "1", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "Seed 3" in done.stdout and "out.csv: 3 rows" in done.stdout and "[1/1] a: a.py, 0 of 1 attempted exercises passed" in done.stderr


@pytest.mark.parametrize("arguments, says", [
    (["nobody.ipynb"], "there is no nobody.ipynb"), (["a.py", "--csv", "no/such/out.csv"], "no folder"), (["a.py", "--csv", "a.py"], "one of the files to grade"),
    (["a.py", "--notebooks", "77"], "no exercises for notebook 77"), (["a.py", "--jobs", "0"], "at least 1"), ([], "required")], ids=str)
def test_misuse_ends_with_2_and_says_what_to_change(arguments, says, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.py").write_text("")
    with pytest.raises(SystemExit) as ended:
        grading.main(arguments)
    assert ended.value.code == 2 and says in capsys.readouterr().err


def test_a_class_without_marks_is_a_table_too():
    sweep = Sweep(1, ["x"], [], {}, [], [Mark("x", "", ERROR, "x.ipynb cannot be graded", "x.ipynb")])
    assert "x.ipynb cannot be graded" in grading_report.table(sweep) and len(grading_report.to_csv(sweep).splitlines()) == 2


def test_names_of_any_width_and_length_leave_the_columns_where_they_are():
    columns = [exercises.find("04-1")]
    names = ["ab", "\u4e2d\u6587\u540d", "e\u0301va", "x" * 300, " \n\t "]
    sweep = Sweep(1, names, columns, {(name, "04-1"): Mark(name, "04-1", PASSED) for name in names}, [], [])
    lines = grading_report.table(sweep).splitlines()[2:8]
    assert len({grading_report._width(line) for line in lines[:6]} - {grading_report._width(lines[0])}) == 0
