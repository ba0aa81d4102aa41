"""Makes the .venv of this checkout, and knows when it has to be made again. Standard library only; parses on Python 3.6."""

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import time
from pathlib import Path

from agentkit import doctor
from agentkit.doctor import Problem
from agentkit.console import Progress, follow

ROOT = Path(__file__).resolve().parent.parent
STAMP = "agentkit-setup.json"       # inside .venv: who made it, from what, and whether it was finished

# Runs inside the .venv. What it prints is the truth; everything else is a note about it.
_PROBE = """
import importlib.util, json, sys
spec = importlib.util.find_spec("agentkit")
print(json.dumps({"python": "%d.%d" % sys.version_info[:2], "agentkit": spec and spec.origin}))
"""

# Runs inside the .venv once everything is installed, so that nothing needs a network or a wait later.
_FINISH = """
from agentkit import tokens
if hasattr(tokens, "install_ranks"):
    tokens.install_ranks()
import matplotlib.font_manager      # builds the font list, which otherwise prints a notice into the first notebook
"""


def venv_python(root):
    """The Python inside the .venv of a checkout, on every system."""
    if os.name == "nt":
        return root / ".venv" / "Scripts" / "python.exe"
    return root / ".venv" / "bin" / "python"


def child_env(root):
    """The environment of everything that is started in the .venv: the same on every system, and nobody else's packages."""
    share = root / ".venv" / "share"
    env = dict(os.environ, PYTHONUTF8="1", PIP_USER="0", JUPYTER_PREFER_ENV_PATH="1", VIRTUAL_ENV=str(root / ".venv"),
               MPLCONFIGDIR=str(share / "matplotlib"), JUPYTERLAB_WORKSPACES_DIR=str(share / "jupyter" / "lab" / "workspaces"))
    for name in ("PYTHONPATH", "PYTHONHOME"):
        env.pop(name, None)
    env["PATH"] = str(venv_python(root).parent) + os.pathsep + env.get("PATH", "")
    return env


def fingerprint(root):
    """A hash of what the .venv is made from. Line ends do not count: git may change them."""
    digest = hashlib.sha256()
    for name in ("requirements.txt", "pyproject.toml"):
        digest.update((root / name).read_bytes().replace(b"\r\n", b"\n") + b"\0")
    return digest.hexdigest()


def read_stamp(root):
    """The note that set-up left in .venv; None where there is none that can be read."""
    try:
        stamp = json.loads((root / ".venv" / STAMP).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return stamp if isinstance(stamp, dict) else None


def write_stamp(root, fields):
    """Leave the note, whole or not at all."""
    path = root / ".venv" / STAMP
    part = path.with_suffix(".part")
    part.write_text(json.dumps(dict(fields, root=str(root)), indent=1), encoding="utf-8")
    os.replace(str(part), str(path))


def probe(root):
    """What the Python in .venv says about itself; None if it does not start."""
    try:
        out = subprocess.run([str(venv_python(root)), "-c", _PROBE], cwd=str(root / ".venv"), env=child_env(root),
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60).stdout
        return json.loads(out.decode("utf-8", "replace"))
    except (OSError, ValueError, subprocess.SubprocessError):
        return None


def judge(root, exists, stamp, seen, wanted):
    """What is to be done about a .venv, and why: (ready | missing | update | stale | foreign, reason)."""
    if not exists:
        return "missing", "it is not made yet"
    if stamp is None:
        return "foreign", "it was not made by this command"
    if stamp.get("root") != str(root):
        return "stale", "it was made for %s" % stamp.get("root")
    if stamp.get("state") != "ready":
        return "stale", "an earlier set-up did not finish"
    if seen is None:
        return "stale", "its Python does not start, it may have been upgraded or removed"
    if seen["python"] != stamp.get("python"):
        return "stale", "it was made with Python %s and now starts %s" % (stamp.get("python"), seen["python"])
    if not seen["agentkit"] or Path(seen["agentkit"]).resolve() != root / "agentkit" / "__init__.py":
        return "update", "it does not import agentkit from this checkout"
    if stamp.get("made_from") != wanted:
        return "update", "requirements.txt or pyproject.toml has changed"
    return "ready", ""


def examine(root):
    """Look at the .venv of a checkout and judge it."""
    venv = root / ".venv"
    exists = os.path.lexists(str(venv)) and not (venv.is_dir() and not venv.is_symlink() and not any(venv.iterdir()))
    stamp = read_stamp(root) if exists else None
    return judge(root, exists, stamp, probe(root) if stamp else None, fingerprint(root))


def installed(root):
    """The names of the packages in .venv, read from its folders because its Python may not start any more."""
    folders = list((root / ".venv").glob("lib/python*/site-packages")) + [root / ".venv" / "Lib" / "site-packages"]
    return sorted({path.name.split("-")[0].lower() for folder in folders for path in folder.glob("*.dist-info")})


def extras(stamp, names):
    """The packages that the reader added after set-up. A set-up that did not finish knows only what was there before it."""
    if stamp.get("state") != "ready":
        return list(stamp.get("extras", []))
    return sorted(set(names) - set(stamp.get("packages", [])))


@contextlib.contextmanager
def only_one(root, progress):
    """One set-up at a time: a second one waits. The system drops this lock when its holders die, however they die."""
    with open(str(root / ".venv.lock"), "a+b") as f:
        if os.name == "nt":
            import msvcrt
            f.seek(0)

            def lock():
                msvcrt.locking(f.fileno(), msvcrt.LK_NBLCK, 1)
        else:
            import fcntl
            os.set_inheritable(f.fileno(), True)

            def lock():
                fcntl.flock(f, fcntl.LOCK_EX | fcntl.LOCK_NB)
        told = False
        while True:
            try:
                lock()
                break
            except OSError:
                if not told:
                    progress.stage("Another set-up of this checkout is running; waiting for it.")
                told = True
                time.sleep(0.5)
        yield


def decide(what, why, added, rebuild):
    """What set-up does, and the line that says so: (nothing | update | make, line). Loses nothing of the reader's unasked."""
    if rebuild and what != "missing":
        return "make", "Making .venv again, as asked."
    if what == "foreign":
        raise Problem("cannot use .venv, %s: rename it, or let `python3 -m agentkit setup --rebuild` replace it" % why)
    if what == "stale" and added:
        raise Problem("cannot use .venv, %s. It also holds packages that you added (%s): `python3 -m agentkit setup --rebuild` "
                      "makes it anew, then add them again" % (why, ", ".join(added)))
    return {"ready": ("nothing", ""),
            "update": ("update", "Bringing .venv up to date: %s." % why),
            "stale": ("make", "Making .venv again: %s." % why),
            "missing": ("make", "First start: setting up .venv. It takes a few minutes, once.")}[what]


def ensure(root=ROOT, rebuild=False, out=None):
    """Make .venv ready to use and return its Python. Quick if it is; raises Problem with what to do if it cannot be."""
    doctor.require(doctor.check_python(sys.version_info), doctor.check_checkout(root))
    if not rebuild and examine(root)[0] == "ready":     # the way of every start but the first
        return venv_python(root)
    progress = Progress(out or sys.stdout)
    doctor.require(doctor.check_writable(root))
    with only_one(root, progress):
        what, why = examine(root)       # anew: the set-up that was waited for may have done it all
        old = read_stamp(root)
        added = extras(old, installed(root)) if old else []
        action, line = decide(what, why, added, rebuild)
        if action != "nothing":
            doctor.require(doctor.check_disk(shutil.disk_usage(str(root)).free, doctor.NEEDED_BYTES),
                           doctor.check_venv_module(sys.version_info))
            progress.stage(line)
            if action == "make":
                _make(root, progress)
            else:
                write_stamp(root, {"state": "updating", "extras": added})
            try:
                _install(root, progress)
                _finish(root, progress, added if action == "update" else [])
            except Problem:
                if action == "update":      # pip gave up by itself and left things whole: what was there still works
                    write_stamp(root, old)
                raise
    return venv_python(root)


def _make(root, progress):
    """An empty .venv. The note comes first, so that one that is never finished is known as such."""
    venv, trash = root / ".venv", root / ".venv.trash"
    try:
        shutil.rmtree(str(trash), ignore_errors=True)
        if venv.is_symlink() or venv.is_file():
            venv.unlink()
        elif venv.exists():
            os.replace(str(venv), str(trash))       # gone in one step: a delete that is interrupted leaves no half
            shutil.rmtree(str(trash), ignore_errors=True)
        venv.mkdir()
    except OSError as e:
        raise Problem("%s cannot be replaced (%s): close the programs that use it, JupyterLab above all" % (venv, e.strerror))
    write_stamp(root, {"state": "making"})
    # Not this .venv's own Python, which has just been moved away if it runs this.
    python = getattr(sys, "_base_executable", None) or sys.executable
    lines = []
    progress.tick("making .venv")
    if follow([python, "-m", "venv", "--prompt", "agentkit", str(venv)], progress.tick, lines, cwd=str(root)):
        raise Problem("Python could not make %s" % venv, *doctor.last_words(lines))


def _install(root, progress):
    """What requirements.txt pins, which includes agentkit itself, editable."""
    run = [str(venv_python(root)), "-m", "pip", "install", "--no-input", "--disable-pip-version-check", "-r", "requirements.txt"]
    lines = []
    if follow(run, progress.pip_line(lambda: len(installed(root))), lines, cwd=str(root), env=child_env(root)):
        raise Problem(doctor.pip_cause(lines), *doctor.last_words(lines))


def _finish(root, progress, added):
    """The last touches, so that nothing needs a network or asks a question later; then the note that says it is done."""
    progress.stage("Placing the token ranks and the font list, so that nothing needs a network from here on.")
    settings = root / ".venv" / "share" / "jupyter" / "lab" / "settings" / "overrides.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    settings.write_text(json.dumps({"@jupyterlab/apputils-extension:notification":
                                    {"fetchNews": "false", "checkForUpdates": False}}, indent=1), encoding="utf-8")
    lines = []
    if follow([str(venv_python(root)), "-c", _FINISH], progress.tick, lines, cwd=str(root), env=child_env(root)):
        raise Problem("the last step of set-up failed", *doctor.last_words(lines))
    names = [name for name in installed(root) if name not in added]
    seen = probe(root) or {}
    write_stamp(root, {"state": "ready", "made_from": fingerprint(root), "python": seen.get("python"), "packages": names})
    progress.stage("Ready: %d packages in %s." % (len(names), root / ".venv"))
