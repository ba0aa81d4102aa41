"""Runs a learner's function so that it can neither hang nor flood the notebook.

The function runs in a daemon thread with its printing captured. When its time is up, an exception is raised inside
it, again and again until it ends. A thread and not a process, because a function from a notebook cannot be pickled
and Windows cannot fork.

What this cannot do: stop one long call that never returns to Python (a sleep: the thread is left behind; a huge
power or a runaway regular expression: they keep the interpreter's lock, and only a kernel restart helps), bound
memory, or catch what bypasses `sys.stdout` (`display`, a child process). It is a seat belt, not a jail.
"""

from __future__ import annotations

import contextvars
import ctypes
import io
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass

SECONDS = 5.0
"""Default time for one check, all its cases together, in seconds."""

PATIENCE = 1.0
"""How long a function that was told to stop is waited for, in seconds."""


class Stopped(BaseException):
    """Raised inside a function whose time is up; no `Exception`, so that `except Exception` lets it through.

    A bare `except:` does catch it. So it is made to come again on the very next line, the first one of the handler
    that caught it: by a trace function on the frames of the learner's code, set while the exception is created, which
    happens in the thread that is to end.
    """

    def __init__(self):
        if isinstance(threading.current_thread(), _Runner):
            frame = sys._getframe(1)
            while frame is not None and frame.f_code.co_filename != __file__:
                frame.f_trace = _stop_again
                frame = frame.f_back
            sys.settrace(lambda *_: None)  # new calls are not traced


def _stop_again(frame, event, arg):
    if event == "line":  # not "exception": that is still inside the `try`
        raise Stopped
    return _stop_again


@dataclass
class Ran:
    """What came of a bounded run. Exactly one of finished, error and timed_out tells how it ended."""

    finished: bool = False
    value: object = None
    error: BaseException | None = None
    timed_out: bool = False
    stuck: bool = False
    """It did not stop when told to and was left behind in its thread."""
    printed: str = ""


class Printed(io.TextIOBase):
    """A stand-in for stdout that keeps the first characters and counts the rest."""

    encoding = "utf-8"

    def __init__(self, keep: int, real):
        self._keep, self._real = keep, real
        self._parts: list[str] = []
        self._size = 0
        self._over = False

    def writable(self):
        return True

    def write(self, text):
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        if self._over and self._real is not None:
            return self._real.write(text)  # a thread left behind may put this object back in sys.stdout
        room = self._keep - self._size
        if room > 0 and text:
            self._parts.append(text[:room])
        self._size += len(text)
        return len(text)

    def end(self) -> str:
        """Stop capturing; return what was kept and how much was not."""
        self._over = True
        more = self._size - self._keep
        return "".join(self._parts) + (f"... and {more:,} more characters" if more > 0 else "")


def run_bounded(fn: Callable[[], object], seconds: float = SECONDS, patience: float = PATIENCE, keep: int = 1000) -> Ran:
    """Call `fn()` for at most `seconds`, keep at most `keep` printed characters, and never raise what it raises.

    Only a KeyboardInterrupt of the user (Kernel > Interrupt) passes through, after `fn` was told to stop.
    """
    ran, runner = Ran(), _Runner(fn)
    streams = sys.stdout, sys.stderr
    printed = Printed(keep, streams[0])
    sys.stdout = sys.stderr = printed
    try:
        runner.start()
        end = time.monotonic() + seconds
        # Short waits, because on Windows a long one cannot be interrupted by the user.
        while (left := end - time.monotonic()) > 0 and not runner.ended.wait(min(left, 0.1)):
            pass
        alive = not runner.ended.is_set()
        ran.stuck = alive and not runner.stop(patience)
        ran.timed_out = alive or isinstance(runner.error, Stopped)
    except BaseException:
        runner.stop(patience)
        raise
    finally:
        sys.stdout, sys.stderr = streams
        ran.printed = printed.end()
    if not ran.timed_out:  # what a function returns or raises after it was told to stop is no answer
        ran.finished, ran.value, ran.error = runner.finished, runner.value, runner.error
    return ran


class _Runner(threading.Thread):
    """The thread that calls the function, with a way to stop it."""

    def __init__(self, fn):
        super().__init__(name="check", daemon=True)
        self._fn = fn
        self._context = contextvars.copy_context()  # decimal precision and the like stay as the notebook set them
        self._gate = threading.Lock()
        self._stoppable = False
        """Only while the function runs: an exception in the thread's own start or end would be nobody's to catch."""
        # Not join() and is_alive(): up to 3.12, a KeyboardInterrupt during join() makes a running thread look finished.
        self.ended = threading.Event()
        self.finished = False
        self.value: object = None
        self.error: BaseException | None = None

    def run(self):
        called = False
        while True:  # a stop that comes late lands in here and only sends us round once more
            try:
                if not called:
                    called = self._stoppable = True
                    self._call()
                self._retire()
                return
            except Stopped:
                self._stoppable = False

    def _call(self):
        try:
            self.value = self._context.run(self._fn)
            self.finished = True
        except BaseException as error:  # also SystemExit and KeyboardInterrupt raised by the learner's code
            self._stoppable = False
            self.error = error

    def _retire(self):
        """From here on nobody may stop this thread, and a stop on its way is taken back."""
        with self._gate:
            self._stoppable = False
            sys.settrace(None)
            _raise_in(threading.get_ident(), None)
            self.ended.set()

    def stop(self, patience: float) -> bool:
        """Raise Stopped in the thread until it ends; False when it still runs after `patience` seconds.

        Again and again, because code may swallow several.
        """
        end = time.monotonic() + patience
        while not self.ended.is_set() and time.monotonic() < end:
            with self._gate:
                if self._stoppable:
                    _raise_in(self.ident, Stopped)
            self.ended.wait(0.02)
        return self.ended.is_set()


def _raise_in(ident: int, exception: type[BaseException] | None) -> None:
    """Raise `exception` in the thread at its next Python instruction; None takes back one that has not arrived yet."""
    target = ctypes.py_object(exception) if exception else None
    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), target)
