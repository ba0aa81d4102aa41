"""Says what is wrong with this machine and what to do, one line each. Standard library only; parses on Python 3.6."""

import errno
import importlib.util
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections import namedtuple
from pathlib import Path

OLDEST = (3, 10)
NEEDED_BYTES = 1000 ** 3
FIRST_PORT = 8888

Finding = namedtuple("Finding", "ok name text")     # text: what was seen and, if that is wrong, what to do


class Problem(Exception):
    """What stops the launcher: a line that says what is wrong and what to do, then lines of detail."""

    def __init__(self, text, *detail):
        super().__init__(text)
        self.text, self.detail = text, detail


def require(*findings):
    """Go on only if all is well."""
    for finding in findings:
        if not finding.ok:
            raise Problem(finding.text)


# ---- the checks: facts in, a finding out ----

def check_python(version, newer=None):
    """Is this Python new enough? `newer`: the name of one on this machine that is, looked for if not given."""
    seen = "Python %d.%d" % tuple(version[:2])
    if tuple(version[:2]) >= OLDEST:
        return Finding(True, "python", seen)
    newer = newer_python() if newer is None else newer
    cure = "start this with %s" % newer if newer else "install a newer one and start this with it"
    return Finding(False, "python", "%s is too old, %d.%d is the oldest that works: %s" % ((seen,) + OLDEST + (cure,)))


def check_venv_module(version, missing=None, debian=None):
    """Can this Python make a .venv with pip in it? Debian ships that part of Python as a package of its own."""
    if missing is None:
        missing = [name for name in ("venv", "ensurepip") if getattr(importlib.util.find_spec(name), "origin", None) is None]
    if debian is None:
        debian = os.path.exists("/etc/debian_version")
    if not missing:
        return Finding(True, "venv module", "there")
    cure = "sudo apt install python%d.%d-venv" % tuple(version[:2]) if debian else "install a complete Python, for example from python.org"
    return Finding(False, "venv module", "Python came without %s: %s" % (" and ".join(missing), cure))


def check_checkout(root):
    """Is this a checkout, or a copy of the package alone?"""
    missing = [name for name in ("requirements.txt", "pyproject.toml") if not (root / name).is_file()]
    if missing:
        return Finding(False, "checkout", "%s has no %s: start this from a complete checkout" % (root, missing[0]))
    return Finding(True, "checkout", str(root))


def check_same_checkout(root, here):
    """Does the folder one stands in belong to the agentkit that runs? `here`: the checkout around it, or None."""
    if here is None or here == root:
        return Finding(True, "agentkit", "imported from this checkout")
    return Finding(False, "agentkit", "you are in %s but agentkit comes from %s: unset PYTHONPATH and deactivate other "
                                      "environments, or change to %s" % (here, root, root))


def check_writable(root, error=None):
    """Can files be made in the checkout?"""
    if error is None:
        try:
            with tempfile.TemporaryFile(dir=str(root)):
                pass
        except OSError as e:
            if e.errno not in (errno.EACCES, errno.EPERM, errno.EROFS):     # a full disk is another finding's business
                return Finding(True, "writable", "not tried: %s" % e.strerror)
            error = e.strerror
    if not error:
        return Finding(True, "writable", "yes")
    return Finding(False, "writable", "%s cannot be written (%s): copy the checkout into a folder of your own" % (root, error))


def check_disk(free, needed):
    """Is there room for what will be installed?"""
    text = "%.1f GB free" % (free / 1e9)
    if free >= needed:
        return Finding(True, "disk", text)
    return Finding(False, "disk", "only %s, about %.1f GB are needed: make room on this disk" % (text, needed / 1e9))


def check_venv(what, why):
    """Can the .venv be used? Takes what `setup_env.examine` says."""
    if what == "ready":
        return Finding(True, ".venv", "ready")
    if what == "missing":
        return Finding(True, ".venv", "not made yet; `python3 -m agentkit lab` makes it")
    if what == "foreign":
        return Finding(False, ".venv", "%s: rename it, or let `python3 -m agentkit setup --rebuild` replace it" % why)
    return Finding(False, ".venv", "stale, %s: `python3 -m agentkit setup` puts it right" % why)


def check_port(port, error, free=None):
    """Can JupyterLab listen there? `free`: another port that it could use."""
    if not error:
        return Finding(True, "port", "port %s is free" % port)
    cure = "add --port %d" % free if free else "add --port with another number"
    return Finding(False, "port", "port %s cannot be used (%s): %s" % (port, error, cure))


def check_index(output, needed=True):
    """Does pip reach its package index? `output`: the lines of a pip that failed, or None."""
    if not needed:
        return Finding(True, "package index", "not needed, .venv is complete")
    if output is None:
        return Finding(True, "package index", "pip reaches it")
    return Finding(False, "package index", pip_cause(output))


# ---- what pip says, in other words ----

_CAUSES = [
    (r"No space left|Errno 28|not enough space", "the disk is full: make room, about 1 GB is needed"),
    (r"CERTIFICATE_VERIFY|SSLError|SSL:", "pip cannot reach its package index, the certificate is refused: set pip's `cert`, or check this machine's clock"),
    (r"ProxyError|Tunnel connection|\b407\b", "pip cannot reach its package index, the proxy refuses: set HTTPS_PROXY or pip's `proxy`"),
    (r"NewConnection|ConnectTimeout|ReadTimeout|timed out|Failed to establish|[Nn]ame resolution|getaddrinfo|ConnectionReset|"
     r"Connection refused|Connection aborted|from versions: none|Max retries|Network is unreachable|connection broken|\b50[234] ",
     "pip cannot reach its package index: connect to a network, or set HTTPS_PROXY or pip's `index-url`"),
    (r"No matching distribution|requires a different Python|Could not find a version", "the package index that pip asks lacks a version that is needed: is it "
     "an old mirror, or this Python newer than the course?"),
    (r"Permission denied|Access is denied|WinError 5\b", "pip may not write: close the programs that use .venv, or check who owns it"),
]


def pip_cause(lines):
    """Why pip failed and what to do, in one line."""
    text = "\n".join(lines)
    return next((cause for pattern, cause in _CAUSES if re.search(pattern, text)), "pip could not install what requirements.txt asks for")


def last_words(lines, most=5):
    """The lines of a failed command that say the most."""
    said = [line for line in lines if line.strip() and not re.match(r"\s*(\[notice\]|note:)", line)]
    errors = [line for line in said if re.match(r"\s*\w*(error|exception)\b", line, re.I)]
    return [line.strip()[:300] for line in (errors or said)[-most:]]


# ---- the facts ----

def newer_python():
    """The name of a Python on this machine that is new enough and starts, the newest first; "" if there is none."""
    for name in ("python3.%d" % minor for minor in range(19, OLDEST[1] - 1, -1)):
        if shutil.which(name) and not subprocess.call([name, "-c", ""], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL):
            return name
    return ""


def port_error(port):
    """Why nothing can listen on this port; None if something can."""
    with socket.socket() as s:
        s.settimeout(1)
        if s.connect_ex(("127.0.0.1", port)) == 0:
            return "taken"
    with socket.socket() as s:
        if os.name != "nt":     # as JupyterLab does: a port that was closed a moment ago is free
            s.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            s.bind(("127.0.0.1", port))
        except OSError as e:
            return "taken" if e.errno == errno.EADDRINUSE else e.strerror
    return None


def free_port(first=FIRST_PORT):
    """The first free port from here on; None if fifty are taken."""
    return next((port for port in range(first, min(first + 50, 65536)) if port_error(port) is None), None)


def checkout_around(folder):
    """The checkout that a folder lies in, or None."""
    return next((place for place in [folder] + list(folder.parents)
                 if (place / "agentkit" / "__main__.py").is_file() and (place / "pyproject.toml").is_file()), None)


def try_index(root, python):
    """Let pip fetch one small package; returns what it printed if that failed, else None."""
    pin = re.search(r"^nbval==[\w.]+", (root / "requirements.txt").read_text(encoding="utf-8"), re.M).group()
    with tempfile.TemporaryDirectory() as folder:
        done = subprocess.run([str(python), "-m", "pip", "download", "--no-input", "--no-deps", "--no-cache-dir", "--retries", "0",
                               "--timeout", "15", "--disable-pip-version-check", "-d", folder, pin],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    return None if done.returncode == 0 else done.stdout.decode("utf-8", "replace").splitlines()


def diagnose(root, port=None, with_index=True):
    """All findings about this machine and this checkout."""
    from agentkit import setup_env
    yield check_python(sys.version_info)
    yield check_venv_module(sys.version_info)
    complete = check_checkout(root)
    yield complete
    yield check_same_checkout(root, checkout_around(Path.cwd().resolve()))
    yield check_writable(root)
    if not complete.ok:
        return
    what, why = setup_env.examine(root)
    yield check_venv(what, why)
    yield check_disk(shutil.disk_usage(str(root)).free, NEEDED_BYTES // 20 if what == "ready" else NEEDED_BYTES)
    free = free_port()
    if port:
        yield check_port(port, port_error(port), free)
    else:
        yield check_port(free or FIRST_PORT, None if free else "all up to %d are taken" % (FIRST_PORT + 49))
    if with_index:
        if importlib.util.find_spec("pip") is None or sys.version_info[:2] < OLDEST:
            yield Finding(True, "package index", "not tried: this Python has no pip, or is too old")
        else:
            yield check_index(try_index(root, sys.executable) if what != "ready" else None, what != "ready")
