"""Jobs beside each other and on time. Order is shown by events and barriers, never by a clock."""

import contextvars
import multiprocessing
import os
import subprocess
import sys
import textwrap
import threading
import time
from functools import partial
from pathlib import Path

import pytest

from agentkit import workers
from agentkit.workers import MAX_ABANDONED, Outcome, TooManyAbandoned, abandoned, in_process, run_together

ROOT = Path(__file__).resolve().parents[1]
SOON = 0.03     # a time-out in these tests


@pytest.fixture
def gate():
    """Jobs that wait for it hang until the test is over; then every thread ends."""
    event = threading.Event()
    yield event
    event.set()
    for thread in threading.enumerate():
        if thread.daemon and thread.name.startswith(("hang", "job", "<lambda>", "stuck")):
            thread.join(10)
    assert abandoned() == []


def hanging(gate, name="hang"):
    def hang():
        gate.wait(30)
        return "too late"
    hang.__name__ = name
    return hang


def test_jobs_run_beside_each_other_and_answer_in_their_order():
    barrier, order = threading.Barrier(3), []
    turns = [threading.Event() for _ in range(4)]
    turns[3].set()

    def job(i):
        barrier.wait(10)                # nobody passes before all three run
        turns[i + 1].wait(10)           # the last one ends first
        turns[i].set()
        return f"job {i}"

    found = run_together([partial(job, i) for i in range(3)], [None] * 3, lambda i, outcome: order.append(i))
    assert [o.result() for o in found] == ["job 0", "job 1", "job 2"] and sorted(order) == [0, 1, 2]


def test_no_jobs_and_unequal_lists():
    assert run_together([], []) == []
    with pytest.raises(ValueError, match="1 jobs and 2 timeouts"):
        run_together([int], [None, None])


def test_a_failing_job_does_not_lose_its_siblings():
    def fail():
        raise KeyError("Z999")

    found = run_together([lambda: 1, fail, lambda: 3], [None, 5, None])
    assert (found[0], found[2]) == (Outcome(1), Outcome(3)) and isinstance(found[1].error, KeyError)
    with pytest.raises(KeyError):
        found[1].result()


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_what_is_no_exception_is_handed_to_the_caller(kind):
    def leave():
        raise kind

    found = run_together([leave, lambda: "kept"], [None, None])
    assert isinstance(found[0].error, kind) and found[1].value == "kept"


def test_case_hermes_agent_115982_smolagents_2464_the_caller_goes_on_at_the_time_out(gate):
    found = run_together([hanging(gate), lambda: "here"], [SOON, None])
    assert not gate.is_set()            # the worker still hangs, and we are here
    assert str(found[0].error) == "no result within 0.03 s; whether it took effect is not known" and isinstance(found[0].error, TimeoutError)
    assert found[1].value == "here" and abandoned() == ["hang"]


def test_what_comes_after_the_time_out_is_not_heard_any_more(gate):
    heard, late = [], threading.Event()

    def first():
        gate.wait(30)
        late.set()
        return "too late"
    first.__name__ = "hang"

    def second():
        heard_first.wait(10)            # job 0 is given up by now
        gate.set()
        late.wait(10)
        return "in time"

    heard_first = threading.Event()

    def on_done(i, outcome):
        heard.append((i, outcome.value))
        if i == 0:
            heard_first.set()

    found = run_together([first, second], [SOON, None], on_done)
    assert heard == [(0, None), (1, "in time")] and isinstance(found[0].error, TimeoutError)


def test_case_finished_jobs_are_reported_while_a_sibling_hangs():
    told = threading.Event()

    def waits_for_the_report():
        assert told.wait(10)            # hangs until the other one's report has been made
        return "second"

    def on_done(i, outcome):
        assert threading.current_thread() is caller
        if i == 1:
            told.set()

    caller = threading.current_thread()
    found = run_together([waits_for_the_report, lambda: "first"], [None, None], on_done)
    assert [o.value for o in found] == ["second", "first"]


def test_a_job_that_ends_in_time_counts_however_long_the_report_of_another_takes():
    ended = threading.Event()

    def quick():
        ended.set()
        return "in time"

    def on_done(i, outcome):
        if i == 0:
            assert ended.wait(10)
            time.sleep(0.2)             # a slow disk: the time of job 1 is over when it is looked at

    found = run_together([lambda: "a", quick], [None, 0.15], on_done)
    assert found[1] == Outcome("in time")


def test_an_error_in_the_report_passes_through_and_nothing_is_forgotten(gate):
    def on_done(i, outcome):
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="the disk is full"):
        run_together([hanging(gate), lambda: 1], [None, None], on_done)
    assert abandoned() == ["hang"]


def test_context_is_copied_into_each_job_and_not_back():
    var = contextvars.ContextVar("var", default="nothing")
    var.set("the run")

    def job():
        seen = var.get()
        var.set("changed")
        return seen

    assert [o.value for o in run_together([job, job], [None, 5])] == ["the run", "the run"] and var.get() == "the run"


def test_over_the_cap_a_job_is_refused_in_words_and_one_without_a_time_out_runs(gate):
    hang = hanging(gate, "stuck")
    found = run_together([hang] * (MAX_ABANDONED + 3), [SOON] * (MAX_ABANDONED + 3))
    kinds = [type(o.error) for o in found]
    assert kinds == [TimeoutError] * MAX_ABANDONED + [TooManyAbandoned] * 3 and len(abandoned()) == MAX_ABANDONED
    assert str(found[-1].error) == ("not started: 32 earlier calls were abandoned at their time-out and still run (such as stuck); the most is 32. "
                                    "Wait for them, or run such a tool in a process")
    started = []
    found = run_together([lambda: started.append(1), lambda: 7, lambda: 8], [1, None, None])
    assert isinstance(found[0].error, TooManyAbandoned) and started == [] and [o.value for o in found[1:]] == [7, 8]
    gate.set()
    for thread in list(workers._left_behind):
        thread.join(10)
    assert abandoned() == [] and run_together([lambda: 9], [1])[0].value == 9


def test_many_jobs_are_not_all_started_at_once():
    lock, now, most = threading.Lock(), [0], [0]

    def job():
        with lock:
            now[0] += 1
            most[0] = max(most[0], now[0])
        time.sleep(0.001)
        with lock:
            now[0] -= 1

    assert len(run_together([job] * 200, [None] * 200)) == 200 and most[0] <= MAX_ABANDONED


def test_a_system_without_threads_is_an_outcome(monkeypatch):
    def start(self):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", start)
    assert str(run_together([int], [None])[0].error) == "can't start new thread"


@pytest.mark.skipif(sys.platform == "win32", reason="a signal is sent to this process alone")
def test_ctrl_c_in_the_main_thread_passes_through_and_the_thread_is_counted():
    code = """
        import os, signal, threading
        from agentkit.workers import abandoned, run_together
        gate = threading.Event()
        def hang(): os.kill(os.getpid(), signal.SIGINT); gate.wait(30)
        try:
            run_together([hang], [None])
        except KeyboardInterrupt:
            print("interrupted", abandoned())
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert (done.stdout, done.stderr) == ("interrupted ['hang']\n", "")


# ---- a process ----------------------------------------------------------------------------------------------------------

def double(n):
    return 2 * n


def burn():
    while True:
        pass


def fail(text):
    raise LookupError(text)


class Odd(Exception):
    def __init__(self, one, two):
        super().__init__(f"{one} and {two}")


def fail_oddly():
    raise Odd(1, 2)


def leave(code):
    os._exit(code)


def lock():
    return threading.Lock()


def start_a_program(and_die):
    """A tool that leaves a program behind; its answer is the program's id."""
    program = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(60)"])
    if and_die:
        Path(and_die).write_text(str(program.pid))
        os._exit(1)
    return program.pid


def test_a_process_answers_and_raises():
    assert in_process(double, {"n": 21}, 30) == 42
    with pytest.raises(LookupError, match="no order Z999"):
        in_process(fail, {"text": "no order Z999"}, None)
    assert multiprocessing.active_children() == []


def test_a_process_is_killed_at_the_time_out():
    with pytest.raises(TimeoutError, match="no result within 0.2 s; the process of burn was stopped"):
        in_process(burn, {}, 0.2)
    assert multiprocessing.active_children() == []


@pytest.mark.skipif(not hasattr(os, "killpg"), reason="POSIX process groups")
def test_nothing_that_the_process_has_started_outlives_it(tmp_path):
    pids = [in_process(start_a_program, {"and_die": ""}, 30)]
    written = tmp_path / "pid"
    with pytest.raises(RuntimeError, match="ended without a result"):
        in_process(start_a_program, {"and_die": str(written)}, 30)
    pids.append(int(written.read_text()))
    for _ in range(200):        # init may take a moment to bury them
        if not any(map(_runs, pids)):
            return
        time.sleep(0.02)
    raise AssertionError(f"of {pids} some still run")


def _runs(pid):
    try:
        os.kill(pid, 0)
        stat = Path(f"/proc/{pid}/stat")
        return not (stat.exists() and stat.read_text().rsplit(")", 1)[1].split()[0] == "Z")
    except ProcessLookupError:
        return False


def test_what_cannot_be_sent_is_said_clearly():
    with pytest.raises(TypeError, match="<lambda> cannot be sent to a process .* a module that can be imported"):
        in_process(lambda: 1, {}, 5)
    with pytest.raises(TypeError, match="double cannot be sent to a process .* plain values"):
        in_process(double, {"n": threading.Lock()}, 5)
    with pytest.raises(TypeError, match="the result, a lock, cannot be sent back"):
        in_process(lock, {}, 30)
    with pytest.raises(RuntimeError, match="^Odd: 1 and 2$"):      # an error that does not survive the way
        in_process(fail_oddly, {}, 30)


def test_a_process_that_dies_is_said_clearly():
    with pytest.raises(RuntimeError, match=r"the process of leave ended without a result \(exit code 7\)"):
        in_process(leave, {"code": 7}, 30)


def test_a_function_of_the_prompt_is_said_clearly():
    code = "from agentkit.workers import in_process\ndef f(): return 1\ntry:\n    in_process(f, {}, 30)\nexcept TypeError as error:\n    print(error)\n"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, cwd=ROOT)
    assert "it must stand in a module that can be imported, not in a notebook or at the prompt" in done.stdout, done
    assert done.stderr == ""
