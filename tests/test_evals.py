"""Evals: a task set as data, sweeps that lose no result, reports and comparisons that say what they can know."""

import io
import json
import subprocess
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from functools import partial
from itertools import product
from math import comb
from multiprocessing import get_context
from types import SimpleNamespace

import psutil
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit import ScriptedModel, call, run, tool
from agentkit import evals, intervals
from agentkit.course import eval_agents as desk
from agentkit.course import eval_views as views
from agentkit.course.figures import png
from agentkit.eval_report import LOST, Report, Row, digest
from agentkit.evals import Task, checker, evaluate, load_tasks, save_tasks, task_from

PROCESSES = partial(ProcessPoolExecutor, 2, mp_context=get_context("spawn"))
TASKS = desk.desk_tasks(12)
RAN = []


def counts(task):
    RAN.append(task.id)
    return desk.C(task)


@checker
def counted(world, result, notes=1):
    return len(world) == notes or f"{len(world)} notes, not {notes}"


@checker
def says(world, result, what):
    return {"no": False, "nothing": None, "yes": True, "one": 1}[what]


def scribe(*calls, answer="done"):
    """An agent that makes these calls in a world of its own: a list of notes."""
    def agent(task):
        notes = task.setup.setdefault("notes", [])

        @tool
        def note(text: str) -> str:
            """Write a note."""
            notes.append(text)
            return "ok"

        @tool
        def look() -> str:
            """Look."""
            return "nothing"

        @tool
        def fail() -> str:
            """Fail."""
            raise LookupError("no")

        return run(ScriptedModel([*calls, answer]), [note, look, fail], task.text), notes
    return agent


ONCE = Task("one", "Write a note.", "counted")
NOTE = call("note", text="x")


def row(task, success, trial=0, **more):
    return Row(task, trial, success, "", "done" if success is not None else LOST, **more)


def report(name, outcomes, **more):
    """A report from 1, 0 and None, one a task."""
    return Report(name, tuple(row(f"t{n}", None if o is None else bool(o), **more) for n, o in enumerate(outcomes)))


# ---- a task is data --------------------------------------------------------------------------------------------------

def test_a_task_set_survives_its_file(tmp_path):
    tasks = [*TASKS, Task("é", "Größe?", "counted", args={"notes": 2}, never=("note",), status="step_limit", group="g")]
    path = save_tasks(tasks, tmp_path / "set.jsonl")
    assert load_tasks(path) == tasks
    assert json.loads(path.read_text(encoding="utf-8").splitlines()[-1]) == {
        "id": "é", "text": "Größe?", "check": "counted", "args": {"notes": 2}, "never": ["note"], "status": "step_limit", "group": "g"}


@pytest.mark.parametrize("line, why", [('{"id": "a"', "delimiter"), ('{"id": "a", "text": "x", "chek": "counted"}', "chek"), ('{"id": " ", "text": "x", "check": "c"}', "id must be")])
def test_a_broken_line_is_named(tmp_path, line, why):
    path = save_tasks([ONCE], tmp_path / "set.jsonl")
    path.write_text(path.read_text() + "\n" + line + "\n")
    with pytest.raises(ValueError, match=f"line 3: .*{why}"):
        load_tasks(path)


def test_a_programmers_mistake_is_told_at_once():
    def never(task):
        raise AssertionError("it must not come to a run")

    for tasks, why in (([ONCE, ONCE], "'one' is used twice"), ([Task("a", "x", "countd")], "did you mean 'counted'"),
                       ([Task("a", "x", "counted", args={"note": 1})], "cannot be called with"), ([Task("a", "x", "says")], "missing a required argument")):
        with pytest.raises(ValueError, match=why):
            evaluate(never, tasks)
    for wrong in ({"repeats": 0}, {"repeats": True}, {"timeout": 0}, {"timeout": "1"}):
        with pytest.raises(ValueError, match=next(iter(wrong))):
            evaluate(never, [ONCE], **wrong)
    with pytest.raises(TypeError, match="executor takes"):
        evaluate(never, [ONCE], executor=4)
    with pytest.raises(TypeError, match="takes several names"):
        Task("a", "x", "counted", tools="note")


def test_two_checkers_with_one_name_are_refused():
    stranger = SimpleNamespace(__name__="counted", __module__="elsewhere")
    with pytest.raises(ValueError, match="a checker 'counted' already"):
        checker(stranger)
    assert checker(counted) is counted      # a notebook cell may be run again


def test_a_run_that_went_wrong_becomes_a_task(tmp_path):
    result, _ = scribe(NOTE, NOTE)(ONCE)
    result.journal.save(tmp_path / "night.jsonl")
    from agentkit import Journal
    task = task_from(Journal.load(tmp_path / "night.jsonl"), "night-1", "counted", args={"notes": 1})
    assert (task.text, task.check) == (ONCE.text, "counted")
    assert evaluate(scribe(NOTE, NOTE), [task]).failures[0].why == "2 notes, not 1"
    with pytest.raises(ValueError, match="holds no run"):
        task_from(Journal(), "x", "counted")


# ---- one run ---------------------------------------------------------------------------------------------------------

def test_every_run_starts_clean():      # strands#1176, llama_index#21774
    tasks = [Task(f"t{n}", "Write a note.", "counted", setup={"notes": []}) for n in range(4)]
    same = tasks + [Task("shares a dict", "Write a note.", "counted", setup=tasks[0].setup)]
    forwards, backwards = evaluate(scribe(NOTE), same, repeats=2), evaluate(scribe(NOTE), same[::-1], repeats=2)
    assert all(r.success for r in forwards.rows) and forwards.scores() == backwards.scores()
    assert tasks[0].setup == {"notes": []}


@pytest.mark.parametrize("what, success, why", [("yes", True, ""), ("no", False, "says says no"), ("nothing", None, "must return True"), ("one", None, "must return True")])
def test_a_checker_says_true_or_what_is_wrong(what, success, why):
    found = evaluate(scribe(), [Task("a", "x", "says", args={"what": what})]).rows[0]
    assert found.success is success and why in found.why


def test_a_run_that_ends_in_another_way_has_not_passed():
    endless = [call("note", text=str(n)) for n in range(10)]
    stopped = Task("a", "x", "counted", args={"notes": 10}, status="step_limit")
    assert evaluate(scribe(*endless), [stopped]).rows[0].success is True
    found = evaluate(scribe(*endless), [Task("a", "x", "counted", args={"notes": 10})]).rows[0]
    assert (found.success, found.why) == (False, "the run ended as step_limit, not as done")


PATHS = [
    ((call("look"), NOTE), ("look", "note"), (), True, True),
    ((NOTE, call("look")), ("look", "note"), (), True, False),
    ((call("look"), call("look"), call("fail"), NOTE), ("look", "note"), (), True, True),      # others may stand between
    ((NOTE,), ("look", "note"), (), False, False),
    ((call("fail"), NOTE), ("fail", "note"), (), False, False),                                # a call that failed did not do its work
    ((call("fail"), NOTE), ("note",), ("fail",), False, None),                                 # ... but was made
    ((call("look"), NOTE), (), (), None, None),
    (([NOTE, call("look")],), ("note", "look"), (), True, True),                                # two in one reply
    ((NOTE,), ("note", "note"), (), True, False),
]


@pytest.mark.parametrize("calls, tools, never, right_tools, right_order", PATHS)
def test_the_path(calls, tools, never, right_tools, right_order):
    found = evaluate(scribe(*calls), [Task("a", "x", "counted", tools=tools, never=never)]).rows[0]
    assert (found.right_tools, found.right_order) == (right_tools, right_order)
    assert found.success is True        # the path explains, the outcome decides


def test_a_row_is_small_and_plain():
    found = evaluate(scribe(NOTE, answer="long " * 1000), [ONCE]).rows[0]
    assert json.loads(json.dumps(found.__dict__))["calls"] == ["note"]
    assert (found.steps, found.usd, len(found.answer)) == (2, None, 300) and found.tokens > 0 and found.seconds >= 0


# ---- sweeps ----------------------------------------------------------------------------------------------------------

@pytest.fixture(scope="module")
def one_by_one():
    return evaluate(desk.C, desk.desk_tasks(40), repeats=2)


def test_threads_processes_and_a_cluster_give_the_same_rows(one_by_one, recwarn):
    from distributed import Client

    tasks = desk.desk_tasks(40)
    with ThreadPoolExecutor(4) as threads:
        assert evaluate(desk.C, tasks, repeats=2, executor=threads).rows == one_by_one.rows
    assert evaluate(desk.C, tasks, repeats=2, executor=PROCESSES).rows == one_by_one.rows
    RAN.clear()
    with desk.small_cluster() as cluster, Client(cluster) as client:
        for _ in range(2):      # equal jobs are not taken for one, or a second sweep would be a copy of the first
            assert evaluate(counts, tasks, repeats=2, executor=client.get_executor()).rows == one_by_one.rows
        assert evaluate(lambda task: desk.C(task), tasks[:3], executor=client.get_executor()).rows == one_by_one.rows[:6:2]
        listening = [c.laddr.ip for c in psutil.Process().net_connections() if c.status == "LISTEN"]
    assert len(RAN) == 160 and set(listening) == {"127.0.0.1"}


def test_the_order_of_the_rows_is_that_of_the_tasks():
    first_is_done = threading.Event()

    def agent(task):
        if task.id == "a":
            assert first_is_done.wait(5)
        else:
            first_is_done.set()
        return scribe(NOTE)(task)

    found = evaluate(agent, [Task("a", "x", "counted"), Task("b", "x", "counted")], executor=partial(ThreadPoolExecutor, 2))
    assert [(r.task, r.success) for r in found.rows] == [("a", True), ("b", True)]


def test_what_raises_or_hangs_costs_one_row():
    def agent(task):
        if task.id == "hangs":
            threading.Event().wait(3)
        if task.id == "raises":
            raise ConnectionError("no route")
        if task.id == "exits":
            sys.exit(3)
        if task.id == "returns one thing":
            return scribe(NOTE)(task)[0]
        return scribe(NOTE)(task)

    tasks = [Task(name, "x", "counted") for name in ("fine", "hangs", "raises", "exits", "returns one thing", "fine too")]
    for executor in (None, partial(ThreadPoolExecutor, 2)):
        found = evaluate(agent, tasks, executor=executor, timeout=0.5)
        assert [r.success for r in found.rows] == [True, None, None, None, None, True]
        assert {r.status for r in found.lost} == {LOST}
        why = [r.why for r in found.lost]
        assert "no result within 0.5 s" in why[0] and why[1:3] == ["ConnectionError: no route", "SystemExit: 3"] and "unpack" in why[3]


def test_a_worker_that_dies_costs_its_own_row_alone():
    normal = evaluate(desk.A, TASKS).rows
    found = evaluate(partial(desk.breaks, raises=(), dies=("000", "001", "007")), TASKS, executor=PROCESSES, name="breaks")
    assert [(r.task[-3:], r.why) for r in found.lost] == [(n, "its worker process died") for n in ("000", "001", "007")]
    assert all(r == known for r, known in zip(found.rows, normal) if r.success is not None)


def test_a_pool_of_the_callers_that_broke_is_not_replaced():
    with PROCESSES() as pool:
        found = evaluate(partial(desk.breaks, raises=(), dies=("011",)), TASKS, executor=pool)
        again = evaluate(desk.A, TASKS, executor=pool)
    assert len(found.rows) == 12 and found.lost and all("give evaluate() a function that makes the pool" in r.why for r in found.lost)
    assert found.rows[-1].success is None and len(again.lost) == 12


def test_workers_that_cannot_even_start_are_an_error():
    with pytest.raises(RuntimeError, match="die before they are given a task"):
        evaluate(desk.A, TASKS, executor=partial(ThreadPoolExecutor, 1, initializer=lambda: 1 / 0))


def test_what_cannot_be_sent_to_a_process_is_refused():
    with pytest.raises(TypeError, match="must stand in a module"):
        evaluate(lambda task: None, TASKS, executor=PROCESSES)
    code = """
from functools import partial
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from agentkit.course import eval_agents as desk
from agentkit.evals import evaluate
def agent(task): return desk.A(task)
try:
    evaluate(agent, desk.desk_tasks(2), executor=partial(ProcessPoolExecutor, 1, mp_context=get_context("spawn")))
except TypeError as error:
    print(error)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert "has not run this notebook" in done.stdout, done.stderr


def test_ctrl_c_passes_through_and_cancels_the_rest():
    began = []

    def agent(task):
        began.append(task.id)
        raise KeyboardInterrupt

    many = [Task(str(n), "x", "counted") for n in range(50)]
    for executor in (None, partial(ThreadPoolExecutor, 1)):
        began.clear()
        with pytest.raises(KeyboardInterrupt):
            evaluate(agent, many, executor=executor, timeout=None)
        assert len(began) < 50


def test_progress_moves_once_for_every_run(capfd):
    class Bar:
        n = 0

        def update(self, n):
            self.n += n

    for executor in (None, PROCESSES):
        bar = Bar()
        evaluate(desk.breaks if executor else desk.A, TASKS[:5], executor=executor, progress=bar, repeats=2)
        assert bar.n == 10
    assert capfd.readouterr() == ("", "")
    evaluate(desk.A, TASKS[:2], progress=True)
    said = capfd.readouterr()
    assert said.out == "" and "2/2" in said.err and "A:" in said.err


# ---- reports ---------------------------------------------------------------------------------------------------------

def test_a_report_names_what_has_no_result():
    found = report("A", [1, 1, 1, 0, None])
    assert found.rate()[:3] == (3, 4, 0.75) and found.rate(lost_fail=True)[:3] == (3, 5, 0.6)
    assert "1 of 5 runs have no result (harness errors). If they all failed, success would be 60.0%" in str(found.table())
    assert [r.task for r in found.failures] == ["t3"] and [r.task for r in found.lost] == ["t4"]
    assert len(found.failure_table().rows) == 2
    half = Report("A", (row("a", True), row("a", None, trial=1), row("b", True), row("b", True, trial=1)))
    assert half.rate().share == 1 and half.rate(lost_fail=True).share == 0.75       # a run that is lost, not a task


def test_nothing_but_harness_errors_is_no_rate():
    found = report("A", [None, None])
    assert found.rate() == (0, 0, 0.0, 0.0, 1.0) and found.median("steps") is None and "2 of 2 runs" in str(found.table())


def test_an_unknown_cost_is_not_nothing():
    found = Report("A", (row("a", True, usd=None, steps=3), row("b", True, usd=0.5, steps=5)))
    assert found.scores("usd") == {"b": 0.5} and found.median("steps")[0] == 4


def test_more_trials_are_not_more_tasks():
    def trials(*shares):
        return Report("A", tuple(row(f"t{n}", k < passes, trial=k) for n, passes in enumerate(shares) for k in range(10)))

    def width(rate):
        return rate.high - rate.low

    once = report("A", [1, 0] * 10)
    stubborn = trials(*[10, 0] * 10)            # each task passes always or never: ten trials tell no more than one
    assert stubborn.rate().share == once.rate().share == 0.5
    assert width(stubborn.rate()) == pytest.approx(width(once.rate()), rel=0.01)
    mixed = trials(*[6, 4] * 10)                # each trial is a coin flip of its own: nearly 200 runs' worth
    assert width(mixed.rate()) == pytest.approx(intervals.wilson(100, 200)[1] - intervals.wilson(100, 200)[0], rel=0.01)
    assert width(trials(*[10] * 20).rate()) == pytest.approx(1 - intervals.wilson(20, 20)[0])


def test_a_report_survives_its_file(tmp_path, one_by_one):
    again = Report.load(one_by_one.save(tmp_path / "C.jsonl"))
    assert again == one_by_one and [r.seconds for r in again.rows] == [r.seconds for r in one_by_one.rows]


COMPARISONS = [
    ([0] * 9 + [1] * 31, [1] * 9 + [0] * 2 + [1] * 29, "B is better on 9 of 40 tasks and worse on 2: +17.5 points", "p = 0.065: not shown to be real with 40 tasks. If"),
    ([0] * 9 + [1] * 31, [1] * 9 + [1] * 31, "B is better on 9 of 40", "p = 0.0039: B is really better."),
    ([1] * 20, [0] * 8 + [1] * 12, "worse on 8: -40.0 points", "B is really worse."),
    ([1] * 5 + [0], [1] * 5 + [0], "+0.0 points", "p = 1: no difference is shown with 6 tasks."),
    ([1, 1, None, 0], [None, 1, 1, 1], "better on 1 of 2 tasks", "2 tasks have no result in one of them and are left out."),
]


@pytest.mark.parametrize("old, new, begins, ends", COMPARISONS)
def test_the_sentence(old, new, begins, ends):
    said = report("A", old).compare(report("B", new)).sentence
    assert begins in said and ends in said


def test_tasks_without_a_result_in_both_are_left_out():
    compared = report("A", [1, 0, None, 1]).compare(Report("B", report("B", [None, 1, 1, 0]).rows + (row("new", True),)))
    assert (compared.better, compared.worse, compared.left_out) == (["t1"], ["t3"], ["t0", "t2", "new"])
    assert dict(zip(("old", "new"), compared.table().rows[0][1:3])) == {"old": "50.0%", "new": "50.0%"}


def test_reports_over_other_tasks_are_not_compared():
    old, new = report("A", [1], of=digest({"text": "x"})), report("B", [1], of=digest({"text": "y"}))
    with pytest.raises(ValueError, match="'t0' is not the same in both"):
        old.compare(new)
    assert digest({"text": "x", "trial": 0}) == digest({"trial": 3, "text": "x"})


def test_the_groups_add_up(one_by_one):
    groups = one_by_one.groups()
    assert list(groups) == list(dict.fromkeys(desk.GROUPS))
    assert sum(g.passed for g in groups.values()) == pytest.approx(one_by_one.rate().passed) and sum(g.n for g in groups.values()) == 40


# ---- intervals -------------------------------------------------------------------------------------------------------

def test_wilson_is_the_textbooks():
    assert intervals.wilson(9, 10) == pytest.approx((0.596, 0.982), abs=5e-4)
    assert intervals.wilson(0, 20) == pytest.approx((0.0, 0.161), abs=5e-4) and intervals.wilson(20, 20)[1] == 1.0
    assert intervals.wilson(0, 0) == (0.0, 1.0)


def test_the_sign_test_is_what_counting_gives():
    for m in range(8):
        for better in range(m + 1):
            far = abs(2 * better - m)
            share = sum(abs(2 * sum(flips) - m) >= far for flips in product((0, 1), repeat=m)) / 2 ** m
            assert intervals.sign_test(better, m - better) == pytest.approx(share)
    assert intervals.sign_test(9, 2) == pytest.approx(0.0654, abs=5e-5) and intervals.sign_test(3000, 3000) == 1.0


@given(st.integers(0, 40), st.integers(0, 40), st.integers(0, 200))
@settings(max_examples=200, deadline=None)
def test_the_interval_and_the_test_never_disagree(better, worse, same):
    mean, low, high = intervals.mean_difference([1.0] * better + [-1.0] * worse + [0.0] * same)
    assert -1 <= low <= high <= 1
    if intervals.sign_test(better, worse) >= intervals.ALPHA:
        assert low <= 0 <= high


@pytest.mark.parametrize("n, gain, loss", [(10, 0.1, 0.02), (30, 0.02, 0.02), (30, 0.2, 0.05), (30, 0.3, 0.0)])
def test_the_interval_covers_what_it_says(n, gain, loss):
    covered = 0.0
    for better in range(n + 1):
        for worse in range(n + 1 - better):
            weight = comb(n, better) * comb(n - better, worse) * gain ** better * loss ** worse * (1 - gain - loss) ** (n - better - worse)
            _, low, high = intervals.mean_difference([1.0] * better + [-1.0] * worse + [0.0] * (n - better - worse))
            covered += weight * (low <= gain - loss <= high)
    assert covered > 0.945


@pytest.mark.parametrize("n", [6, 7, 10, 11, 40])
def test_the_interval_of_a_median_covers_what_it_says(n):
    middle, low, high = intervals.median(range(n))
    outside = [2 * sum(comb(n, i) for i in range(k + 1)) / 2 ** n for k in (low, low + 1)]
    assert middle == (n - 1) / 2 and high == n - 1 - low and outside[0] <= 0.05 < outside[1]


def test_few_values_give_their_whole_range():
    assert intervals.median([3]) == (3, 3, 3) and intervals.median([1, 9, 5]) == (5, 1, 9)
    assert intervals.mean([2.0]) == (2, 2, 2) and intervals.mean([1, 3])[0] == 2


@pytest.mark.parametrize("n, gain, loss", [(8, 0.5, 0.1), (25, 0.3, 0.05), (30, 0.1, 0.1), (12, 0.6, 0.0), (9, 1.0, 0.0)])
def test_power_is_what_counting_gives(n, gain, loss):
    found = sum(comb(n, b) * comb(n - b, w) * gain ** b * loss ** w * (1 - gain - loss) ** (n - b - w)
                for b in range(n + 1) for w in range(n + 1 - b) if b > w and intervals.sign_test(b, w) < 0.05)
    assert intervals.power(n, gain, loss) == pytest.approx(found, abs=1e-9)
    assert views.outcomes(n, gain, loss)[views.KINDS[0]] == pytest.approx(found, abs=1e-9)


def test_how_many_tasks_are_needed():
    n = intervals.needed(0.13, 0.03)
    assert n == 132 and intervals.power(n, 0.13, 0.03) >= 0.8 > intervals.power(n - 4, 0.13, 0.03)
    assert intervals.needed(0.05, 0.05) is None and intervals.needed(0.011, 0.01) is None and intervals.needed(1.0, 0.0) == 6
    with pytest.raises(ValueError, match="together at most 1"):
        intervals.power(10, 0.8, 0.3)


# ---- the desk and its pictures ---------------------------------------------------------------------------------------

def test_the_stand_ins_are_what_the_notebook_says():
    tasks = desk.desk_tasks(40)
    a, b, c = (evaluate(agent, tasks) for agent in (desk.A, desk.B, desk.C))
    assert [r.rate().passed for r in (a, b, c)] == [32, 17, 37]
    assert a.compare(b).real and len(a.compare(c).better) == 5 and not a.compare(c).real
    assert tasks[:7] == desk.desk_tasks(7)


def test_the_desks_checker_looks_at_every_kind_of_wrong():
    def books(refunds=(), handed=()):
        return SimpleNamespace(refunds=list(refunds), handed=list(handed))

    assert desk.settled(books(["A1"], ["B2"]), None, ["A1"], ["B2"]) is True
    assert desk.settled(books(["A1", "A1"]), None, ["A1"]) == "A1 was refunded 2 times"
    assert desk.settled(books(["C3"]), None, ["A1"]) == "A1 was not refunded, C3 was refunded"
    assert desk.settled(books([], ["C3"]), None, [], ["B2"]) == "B2 was not handed over, C3 was handed over"


def test_the_pictures_can_be_drawn():
    tasks = desk.desk_tasks(10)
    old, new = evaluate(desk.A, tasks), evaluate(desk.B, tasks, name="a longer name")
    broken = Report("broken", tuple(row(r.task, None, of=r.of, group=r.group) for r in old.rows))
    for pair in ((old, new), (old, broken), (broken, broken)):
        assert png(views.report_figure(pair[0].compare(pair[1])), effort=1).startswith(b"\x89PNG")


@pytest.mark.parametrize("tasks", [10, 400])
def test_the_lab_adds_up_at_its_corners(tasks):
    for difference, loses in product((0, 30), (0, 20)):
        ends = views.outcomes(tasks, *views.shares(difference, loses))
        assert sum(ends.values()) == pytest.approx(1) and (difference or ends[views.KINDS[0]] + ends[views.KINDS[4]] < 0.05)
        figure, html = views.lab_view(tasks, difference, loses)
        assert png(figure, effort=1) and "<p>" in html and f"{tasks} tasks" in views.lab_alt(tasks, difference, loses)


def test_evals_load_no_third_party_package():
    code = "import sys, agentkit.evals; print({m.split('.')[0] for m in sys.modules} - sys.stdlib_module_names - {'agentkit', '__main__'})"
    assert subprocess.run([sys.executable, "-S", "-c", code], capture_output=True, text=True, timeout=60).stdout.strip() == "set()"


def test_the_bar_of_the_notebook_needs_no_screen():
    from tqdm import tqdm

    screen = io.StringIO()
    with tqdm(total=3, file=screen, ascii=True, mininterval=0, bar_format="{n_fmt}/{total_fmt}") as bar:
        evaluate(desk.A, TASKS[:3], progress=bar)
    assert [s.strip() for s in screen.getvalue().split("\r")][-1].strip() == "3/3" and evals.CHECKERS["settled"] is desk.settled
