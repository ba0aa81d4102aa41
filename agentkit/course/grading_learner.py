"""The process with a learner's code, as its judge holds it: started, listened to, and ended with all that it has started."""

from __future__ import annotations

import json
import os
import queue
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

from .grading_wire import Functions

LONGEST_LINE = 40_000_000
RESTARTS = 4
"""How often a file is run anew without the cell that ended or blocked its process."""


class ProcessEnded(SystemExit):
    """The learner's process is gone: it ended itself, or the system ended it."""


class Learner:
    """The process with the learner's code, started anew whenever an answer has ended or blocked it."""

    def __init__(self, job, folder):
        self.job, self.folder = job, folder
        self.leave_out: set[int] = set()
        self.problems: list[dict] = []
        self.process = None
        self.waiting = False
        """A call is on its way whose answer has not come: its time was up."""
        self.starts = 0

    def ready(self) -> dict:
        """Have the cells run; return what was found in them. OSError where the file cannot be run at all."""
        if self.process is None:
            self._start_until_it_runs()
        return self.ran

    def _start_until_it_runs(self):
        out_of_time = False
        while self.starts < RESTARTS + len(self.job["exercises"]) and not out_of_time:
            cell, why = self._run_cells()
            if why is None:
                return
            self.end()
            self.problems.append({"cell": cell, "said": why})
            out_of_time = cell is None or len(self.leave_out) >= RESTARTS
            self.leave_out.add(cell)
        raise OSError("it ends or blocks its process each time it is run")

    def _run_cells(self):
        """Start the process and run the cells: (None, None), or the cell that did not come to its end, and why."""
        self.starts += 1
        self._start()
        began = time.monotonic()
        cell, end, most = None, began + self.job["seconds"], max(self.job["seconds"] / 3, 1)
        cell_end = began + most
        while True:
            try:
                message = self.next(min(end, cell_end))
            except ProcessEnded as error:
                return cell, str(error)
            except TimeoutError:
                return cell, f"it does not end; stopped after {most:.0f} s"
            if "cell" in message:
                cell, cell_end = message["cell"], time.monotonic() + most
            elif "ran" in message:
                self.ran = message
                self.problems = [p for p in self.problems if p["cell"] in self.leave_out] + message["problems"]
                return None, None

    def _start(self):
        self.waiting, self.functions = False, Functions()
        self.process = subprocess.Popen([sys.executable, "-m", "agentkit.course.grading_worker"], cwd=self.folder, env=environment(self.folder),
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, start_new_session=os.name != "nt")
        self.arrived = queue.Queue(maxsize=50)
        threading.Thread(target=_read, args=(self.process.stdout, self.arrived), daemon=True).start()
        job = {key: self.job[key] for key in ("cells", "is_script", "megabytes", "exercises", "parents")}
        self.send(leave_out=sorted(self.leave_out), cpu_seconds=int(self.job["seconds"]) + 10 * len(self.job["exercises"]) + 30, **job)

    def send(self, **message):
        try:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()
        except OSError:
            pass    # it has ended; the next read says so

    def next(self, end: float) -> dict:
        """The next message. In short waits, so that the sandbox can stop the thread that waits here."""
        while (left := end - time.monotonic()) > 0:
            try:
                line = self.arrived.get(timeout=min(left, 0.05))
            except queue.Empty:
                if self.process.poll() is None:
                    continue
                line = self._last_line()
            try:
                message = json.loads(line)
                if isinstance(message, dict):
                    return message
            except (ValueError, RecursionError):
                pass
            raise ProcessEnded(self._how_it_ended(line))
        raise TimeoutError

    def _last_line(self):
        """What came before the end. A process that it has forked may hold the line open, so nobody waits for that end."""
        try:
            return self.arrived.get(timeout=0.3)
        except queue.Empty:
            return b""

    def _how_it_ended(self, line):
        if line:
            return "its process writes into the line to the judge"
        try:
            code = self.process.wait(5)
        except subprocess.TimeoutExpired:
            return "its process has closed the line to the judge"
        name = signal.Signals(-code).name if code < 0 and -code in list(signal.Signals) else ""
        return f"it ended the process ({name or f'exit code {code}'})"

    def end(self):
        """End the process and, where the system can say which, all that it has started."""
        if self.process is not None:
            stop(self.process)
            bury_orphans()
            self.process = None


def stop(process):
    """Kill a process with its group."""
    try:
        if os.name == "nt":
            subprocess.run(["taskkill", "/F", "/T", "/PID", str(process.pid)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        else:
            os.killpg(process.pid, signal.SIGKILL)
    except OSError:
        pass
    process.wait()
    process.stdin.close()


def adopt_orphans():
    """On Linux: what a learner's process leaves behind becomes this process's child, whatever group it has moved to."""
    if sys.platform == "linux":
        import ctypes

        ctypes.CDLL(None).prctl(36, 1, 0, 0, 0)      # PR_SET_CHILD_SUBREAPER


def bury_orphans():
    """Kill the children that were adopted; each may leave some of its own."""
    for _ in range(200 if sys.platform == "linux" else 0):
        children = []
        for task in Path("/proc/self/task").glob("*/children"):
            children += task.read_text().split()
        if not children:
            return
        for child in children:
            try:
                os.kill(int(child), signal.SIGKILL)
                os.waitpid(int(child), 0)
            except OSError:
                pass


def _read(pipe, arrived):
    while line := pipe.readline(LONGEST_LINE):
        arrived.put(line)
    arrived.put(b"")


def environment(folder):
    """What a learner's process may know: where Python is, and a folder to write in. No key, no home, no progress file."""
    kept = ("PATH", "LANG", "LC_ALL", "LD_LIBRARY_PATH", "SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "COMSPEC", "PATHEXT", "VIRTUAL_ENV", "MPLCONFIGDIR")
    env = {name: os.environ[name] for name in kept if name in os.environ}
    root = str(Path(__file__).resolve().parents[2])
    for name in ("HOME", "USERPROFILE", "TMPDIR", "TEMP", "TMP", "IPYTHONDIR"):
        env[name] = folder
    return {**env, "PYTHONPATH": root, "PYTHONUTF8": "1", "PYTHONDONTWRITEBYTECODE": "1", "PYTHONWARNINGS": "ignore", "MPLBACKEND": "agg",
            "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "AGENTKIT_REAL": "0", "AGENTKIT_PROGRESS": os.path.join(folder, ".progress.json")}


def settle(learner):
    """After a call that ran out of time: wait until the learner's process is free again, or end it. True where it was stuck."""
    if learner.process is None or learner.process.poll() is not None:
        learner.end()
        return False
    stuck = learner.waiting == "stuck"
    if learner.waiting is True:
        try:
            message = learner.next(time.monotonic() + 2.5)
            stuck = "timed_out" not in message
        except (TimeoutError, ProcessEnded):
            stuck = True
    if stuck:
        learner.end()
    learner.waiting = False
    return stuck
