"""What every test stands on: the checkout is importable, nobody's progress is touched, excused cells are counted."""

import os
import sys
import tempfile

from places import CHECKOUT, NOTEBOOKS


def pytest_configure(config):
    sys.path.insert(0, str(CHECKOUT))
    # Kernels that a test starts inherit these: the checkout's agentkit, and a progress file that nobody keeps.
    os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(CHECKOUT), os.environ.get("PYTHONPATH")]))
    os.environ["AGENTKIT_REAL"] = "0"       # no real model, whatever keys there are
    config.agentkit_scratch = tempfile.TemporaryDirectory(prefix="agentkit-")
    os.environ["AGENTKIT_PROGRESS"] = os.path.join(config.agentkit_scratch.name, "progress.json")


def pytest_unconfigure(config):
    scratch = getattr(config, "agentkit_scratch", None)
    if scratch is not None:
        scratch.cleanup()


def pytest_terminal_summary(terminalreporter):
    """Say how many cells nbval does not compare: a number that should stay near zero."""
    if not NOTEBOOKS:
        return
    from agentkit.course.health import Page

    excused = {path.name: len(Page(path).excused()) for path in NOTEBOOKS}
    named = ", ".join(f"{name}: {count}" for name, count in excused.items() if count)
    terminalreporter.write_line(
        f"notebooks: {len(excused)}; cells excused from nbval: {sum(excused.values())}" + (f" ({named})" if named else ""))
