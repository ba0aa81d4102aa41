"""What the launcher shows while it waits. Standard library only; parses on Python 3.6."""

import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time


def safe_output():
    """Print what a console cannot show as "?" instead of failing: a Windows console may know 256 characters."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")


class Progress:
    """Stages as lines, and within a stage one line that is drawn over; plain lines now and then where nobody watches."""

    def __init__(self, out, clock=time.monotonic, width=79):
        self.out, self.clock, self.width = out, clock, width
        self.live = hasattr(out, "isatty") and out.isatty() and os.environ.get("TERM") != "dumb"
        self.began, self.told, self.text = clock(), "", ""

    def stage(self, text):
        """Say what begins now."""
        self._draw("")
        self.out.write(text + "\n")
        self.out.flush()
        self.began, self.text = self.clock(), ""

    def tick(self, line=None):
        """Called for each line a command prints, and a few times a second with None."""
        if line is not None:
            self.text = line.strip() or self.text
        self._draw("  %3d s  %s" % (self.clock() - self.began, self.text))

    def pip_line(self, count):
        """A `tick` that understands pip: packages found so far, then a bar while they are installed. count() is how many are there."""
        state = {"found": 0, "total": 0, "before": count()}

        def tick(line=None):
            found = re.match(r"\s*Collecting ([\w.-]+)", line or "")
            if found:
                state["found"] += 1
                self.text = "packages found: %d, now %s" % (state["found"], found.group(1))
                if state["found"] % 40 == 0:
                    self._plain("  found so far: %d" % state["found"])
            elif line and line.startswith("Installing collected packages:"):
                state["total"] = line.count(",") + 1
                self._plain("  to install: %d" % state["total"])
            if state["total"]:
                done = max(0, min(count() - state["before"], state["total"]))
                filled = 30 * done // state["total"]
                self.text = "[%s%s] %d of %d installed" % ("#" * filled, "-" * (30 - filled), done, state["total"])
            self.tick()
        return tick

    def _plain(self, text):
        """A line for a log, where no line can be drawn over."""
        if not self.live:
            self.out.write(text + "\n")
            self.out.flush()

    def _draw(self, text):
        if self.live and text != self.told:
            text = text[:self.width]
            self.out.write("\r" + text.ljust(len(self.told)) + ("" if text else "\r"))
            self.out.flush()
            self.told = text


def follow(command, tick, lines, **options):
    """Run a command, call tick(line) for what it prints and tick() while it is silent; returns its exit code.

    What it printed is added to `lines`. The command, and all that it started, is stopped when the caller is.
    """
    # close_fds is off so that the command holds the set-up's lock too: nobody starts anew beside one that outlived its parent.
    process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                               close_fds=os.name == "nt", start_new_session=os.name != "nt", **options)
    arrived = queue.Queue()

    def read():
        for raw in process.stdout:
            arrived.put(raw.decode("utf-8", "replace").rstrip())
        arrived.put(None)

    threading.Thread(target=read, daemon=True).start()
    try:
        while True:
            try:
                line = arrived.get(timeout=0.2)
            except queue.Empty:
                tick()
                continue
            if line is None:
                return process.wait()
            lines.append(line)
            tick(line)
    finally:
        if process.poll() is None:
            if os.name == "nt":
                process.kill()
            else:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
