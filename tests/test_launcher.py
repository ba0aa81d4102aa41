"""The launcher: what it says about a machine, what it does to a .venv, and what it starts. Nothing is installed here."""

import ast
import io
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from agentkit import __main__ as launcher
from agentkit import console, doctor, setup_env
from agentkit.doctor import Finding, Problem

ROOT = Path(__file__).resolve().parent.parent
BEFORE_SETUP = ["__init__.py", "__main__.py", "console.py", "doctor.py", "setup_env.py"]


# ---- it runs before anything is installed ----

@pytest.mark.parametrize("name", BEFORE_SETUP)
def test_an_old_python_can_parse_it(name):
    ast.parse((ROOT / "agentkit" / name).read_text(encoding="utf-8"), feature_version=(3, 6))


@pytest.mark.parametrize("name", BEFORE_SETUP)
def test_it_imports_the_standard_library_only(name):
    tree = ast.parse((ROOT / "agentkit" / name).read_text(encoding="utf-8"))
    top = {alias.name.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    top |= {node.module.split(".")[0] for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    assert top <= set(sys.stdlib_module_names) | {"agentkit"}


def bare(*args, **options):
    """The launcher in a Python without site-packages."""
    return subprocess.run([sys.executable, "-I", "-S", str(ROOT / "agentkit" / "__main__.py"), *args],
                          capture_output=True, encoding="utf-8", errors="replace", timeout=60, **options)


def test_the_demo_needs_nothing_installed(tmp_path):
    done = bare("demo", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("\n") > 5 and not done.stderr


def test_the_demo_on_a_console_that_knows_little(tmp_path):
    code = "import sys, runpy; sys.argv[1:] = ['demo']; sys.stdout.reconfigure(encoding='cp1252', errors='strict'); runpy.run_path(%r, run_name='__main__')"
    done = subprocess.run([sys.executable, "-I", "-c", code % str(ROOT / "agentkit" / "__main__.py")], capture_output=True, cwd=tmp_path, timeout=60)
    assert done.returncode == 0, done.stderr


def test_without_a_command_it_shows_the_commands():
    done = bare()
    assert done.returncode == 0 and all(word in done.stdout for word in ("lab", "test", "demo", "doctor"))


# ---- the findings ----

WRONG = {
    "old python": (doctor.check_python((3, 8, 18), "python3.12"), "Python 3.8 is too old, 3.10 is the oldest that works: start this with python3.12"),
    "old python, no other": (doctor.check_python((3, 9), ""), "install a newer one"),
    "no ensurepip on Debian": (doctor.check_venv_module((3, 11, 2), ["ensurepip"], True), "sudo apt install python3.11-venv"),
    "no venv elsewhere": (doctor.check_venv_module((3, 12, 0), ["venv", "ensurepip"], False), "without venv and ensurepip: install a complete Python"),
    "another checkout": (doctor.check_same_checkout(Path("/a"), Path("/b")), "unset PYTHONPATH"),
    "read-only": (doctor.check_writable(Path("/a"), "Read-only file system"), "cannot be written (Read-only file system): copy"),
    "full disk": (doctor.check_disk(200_000_000, doctor.NEEDED_BYTES), "only 0.2 GB free, about 1.0 GB are needed"),
    "stale .venv": (doctor.check_venv("stale", "it was made for /old"), "stale, it was made for /old: `python3 -m agentkit setup`"),
    "foreign .venv": (doctor.check_venv("foreign", "it was not made by this command"), "rename it, or let"),
    "taken port": (doctor.check_port(8888, "taken", 8890), "port 8888 cannot be used (taken): add --port 8890"),
    "no network": (doctor.check_index(["... NewConnectionError(...)", "ERROR: No matching distribution found for x"]), "connect to a network"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_and_what_to_do(case):
    finding, says = WRONG[case]
    assert not finding.ok
    assert says in finding.text and "\n" not in finding.text


@pytest.mark.parametrize("finding", [
    doctor.check_python((3, 10, 0)), doctor.check_python((3, 14, 1)), doctor.check_venv_module((3, 11), [], True),
    doctor.check_same_checkout(Path("/a"), Path("/a")), doctor.check_same_checkout(Path("/a"), None), doctor.check_writable(Path("/a"), ""),
    doctor.check_disk(2 * 10 ** 9, 10 ** 9), doctor.check_venv("ready", ""), doctor.check_venv("missing", "it is not made yet"),
    doctor.check_port(8888, None), doctor.check_index(None), doctor.check_index(["anything"], needed=False),
], ids=lambda f: f.name)
def test_what_is_well(finding):
    assert finding.ok


def test_a_package_alone_is_no_checkout(tmp_path):
    assert "complete checkout" in doctor.check_checkout(tmp_path).text
    assert doctor.check_checkout(ROOT).ok


def test_a_folder_that_can_be_written(tmp_path):
    assert doctor.check_writable(tmp_path).ok and list(tmp_path.iterdir()) == []


def test_a_port_that_listens_is_taken():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = s.getsockname()[1]
        assert doctor.port_error(port) == "taken"
        assert doctor.free_port(port) != port


def test_the_checkout_around_a_folder(tmp_path):
    assert doctor.checkout_around(ROOT / "tests") == ROOT
    assert doctor.checkout_around(tmp_path) is None


@pytest.mark.parametrize("said, cause", [
    ("ERROR: Could not install packages due to an OSError: [Errno 28] No space left on device", "the disk is full"),
    ("SSLError(SSLCertVerificationError(1, '[SSL: CERTIFICATE_VERIFY_FAILED] ...", "the certificate is refused"),
    ("ProxyError('Cannot connect to proxy.', ...", "the proxy refuses"),
    ("Failed to establish a new connection: [Errno -2] Name or service not known", "connect to a network"),
    ("ERROR: Could not find a version that satisfies the requirement x==1 (from versions: none)", "connect to a network"),
    ("ERROR: Could not find a version that satisfies the requirement x==9 (from versions: 1, 2)", "an old mirror"),
    ("ERROR: Package 'x' requires a different Python: 3.10.13 not in '>=3.11'", "newer than the course"),
    ("[WinError 5] Access is denied: 'x.pyd'", "close the programs"),
    ("something nobody expected", "could not install"),
])
def test_pip_in_other_words(said, cause):
    assert cause in doctor.pip_cause(["Collecting x", said])


def test_the_last_words_are_the_errors():
    lines = ["Collecting x", "WARNING: Retrying after ProxyError", "ERROR: No matching distribution found for x", "", "[notice] A new release of pip"]
    assert doctor.last_words(lines) == ["ERROR: No matching distribution found for x"]
    assert doctor.last_words(["one", "two", "note: three"]) == ["one", "two"]


# ---- the .venv ----

GOOD = {"root": str(ROOT), "state": "ready", "python": "3.11", "made_from": "abc", "packages": ["pytest"]}
SEEN = {"python": "3.11", "agentkit": str(ROOT / "agentkit" / "__init__.py")}


@pytest.mark.parametrize("expected, exists, stamp, seen", [
    ("ready", True, GOOD, SEEN),
    ("missing", False, None, None),
    ("foreign", True, None, None),
    ("stale", True, dict(GOOD, root="/elsewhere"), SEEN),           # the checkout was moved
    ("stale", True, GOOD, None),                                    # its Python was removed
    ("stale", True, {"root": str(ROOT), "state": "making"}, None),  # a set-up was killed
    ("stale", True, dict(GOOD, state="updating"), SEEN),
    ("stale", True, GOOD, dict(SEEN, python="3.12")),               # its Python was upgraded
    ("update", True, dict(GOOD, made_from="old"), SEEN),
    ("update", True, GOOD, dict(SEEN, agentkit=None)),
    ("update", True, GOOD, dict(SEEN, agentkit="/elsewhere/agentkit/__init__.py")),
])
def test_a_venv_is_judged(expected, exists, stamp, seen):
    what, why = setup_env.judge(ROOT, exists, stamp, seen, "abc")
    assert what == expected and bool(why) == (what != "ready")


def test_what_set_up_does():
    assert setup_env.decide("ready", "", [], False)[0] == "nothing"
    assert setup_env.decide("missing", "why", [], True)[0] == "make"
    assert setup_env.decide("update", "why", ["openai"], False) == ("update", "Bringing .venv up to date: why.")
    assert setup_env.decide("stale", "why", [], False) == ("make", "Making .venv again: why.")


def test_what_is_the_readers_is_not_replaced_unasked():
    with pytest.raises(Problem, match="packages that you added .openai."):
        setup_env.decide("stale", "why", ["openai"], False)
    with pytest.raises(Problem, match="rename it"):
        setup_env.decide("foreign", "why", [], False)
    assert setup_env.decide("stale", "why", ["openai"], True)[0] == setup_env.decide("foreign", "why", [], True)[0] == "make"


def test_added_packages():
    assert setup_env.extras(GOOD, ["openai", "pytest"]) == ["openai"]
    assert setup_env.extras({"state": "making"}, ["half", "of", "it"]) == []
    assert setup_env.extras({"state": "updating", "extras": ["openai"]}, ["anything"]) == ["openai"]


@pytest.fixture
def checkout(tmp_path):
    """A checkout that has only what the stamp is about."""
    (tmp_path / "requirements.txt").write_text("x==1\n")
    (tmp_path / "pyproject.toml").write_text("[project]\n")
    return tmp_path


def test_the_stamp(checkout):
    (checkout / ".venv").mkdir()
    assert setup_env.read_stamp(checkout) is None
    setup_env.write_stamp(checkout, {"state": "making"})
    assert setup_env.read_stamp(checkout) == {"state": "making", "root": str(checkout)}
    assert [path.name for path in (checkout / ".venv").iterdir()] == [setup_env.STAMP]
    for broken in ("", "{", "[]", "\x00"):
        (checkout / ".venv" / setup_env.STAMP).write_text(broken)
        assert setup_env.read_stamp(checkout) is None


def test_the_fingerprint_sees_changes_but_not_line_ends(checkout):
    before = setup_env.fingerprint(checkout)
    (checkout / "requirements.txt").write_bytes(b"x==1\r\n")
    assert setup_env.fingerprint(checkout) == before
    (checkout / "requirements.txt").write_bytes(b"x==2\n")
    assert setup_env.fingerprint(checkout) != before


def test_a_venv_is_looked_at(checkout):
    assert setup_env.examine(checkout)[0] == "missing"
    (checkout / ".venv").mkdir()
    assert setup_env.examine(checkout)[0] == "missing"      # killed before the first note
    setup_env.write_stamp(checkout, {"state": "making"})
    assert setup_env.examine(checkout) == ("stale", "an earlier set-up did not finish")
    setup_env.write_stamp(checkout, dict(GOOD, made_from=setup_env.fingerprint(checkout)))
    assert setup_env.examine(checkout)[1].startswith("its Python does not start")
    (checkout / ".venv" / setup_env.STAMP).unlink()
    (checkout / ".venv" / "pyvenv.cfg").write_text("")
    assert setup_env.examine(checkout)[0] == "foreign"


def test_packages_are_read_from_the_folders(checkout):
    for name in ("lib/python3.11/site-packages/Foo_bar-1.0.dist-info", "Lib/site-packages/baz-2.dist-info"):
        (checkout / ".venv" / name).mkdir(parents=True)
    assert {"foo_bar", "baz"} <= set(setup_env.installed(checkout))


def test_children_see_the_venv_and_nobody_elses_packages(monkeypatch):
    monkeypatch.setenv("PYTHONPATH", "/elsewhere")
    monkeypatch.setenv("PYTHONHOME", "/elsewhere")
    env = setup_env.child_env(ROOT)
    assert "PYTHONPATH" not in env and "PYTHONHOME" not in env
    assert env["PATH"].split(os.pathsep)[0] == str(setup_env.venv_python(ROOT).parent)


# ---- the command line ----

def test_lab_starts_jupyterlab_quietly():
    command = launcher.lab_command(ROOT, "py", 9999, True, ["--ip=0.0.0.0"])
    assert command[:3] == ["py", "-m", "jupyterlab"] and command[-1] == "--ip=0.0.0.0"
    assert {"--ServerApp.port=9999", "--no-browser", "--LabApp.news_url=None", "--ServerApp.root_dir=%s" % ROOT} <= set(command)


def test_a_taken_port_is_told_before_anything_is_set_up(monkeypatch, capsys):
    monkeypatch.setattr(setup_env, "ensure", lambda: pytest.fail("set-up began"))
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        s.listen()
        port = s.getsockname()[1]
        assert launcher.main(["lab", "--port", str(port)]) == 1
    assert "port %d cannot be used (taken): add --port" % port in capsys.readouterr().err


@pytest.mark.parametrize("text", ["0", "65536", "x", "-1", "80.5", ""])
def test_a_port_is_a_number(text, capsys):
    with pytest.raises(SystemExit) as e:
        launcher.main(["lab", "--port=" + text])
    assert e.value.code == 2 and "from 1 to 65535" in capsys.readouterr().err


def test_pytest_gets_everything_by_default(tmp_path):
    command = launcher.test_command(ROOT, "py", ["-k", "loop", "--lf"], tmp_path)
    assert command[:5] == ["py", "-m", "pytest", "tests", "notebooks"] and command[-3:] == ["-k", "loop", "--lf"]
    assert "--nbval" in command and "--nbval-lax" not in command


def test_pytest_gets_the_paths_that_are_named():
    by_root = launcher.test_command(ROOT, "py", ["tests/test_launcher.py::test_x", "-x"], Path("/"))
    by_here = launcher.test_command(ROOT, "py", ["test_launcher.py::test_x", "-x"], ROOT / "tests")
    assert by_root == by_here and by_root[3] == str(ROOT / "tests" / "test_launcher.py") + "::test_x"
    assert by_root[-1] == "-x" and "notebooks" not in by_root


def test_options_of_pytest_pass_untouched(monkeypatch):
    seen = []
    monkeypatch.setattr(launcher, "test", lambda args, rest: seen.append(rest) or 5)
    assert launcher.main(["test", "-h", "--port", "x"]) == 5
    assert seen == [["-h", "--port", "x"]]


def test_tests_run_without_the_readers_progress(monkeypatch):
    seen = {}
    monkeypatch.setattr(setup_env, "ensure", lambda: Path("py"))
    monkeypatch.setattr(launcher, "wait_for", lambda command, env, folder: seen.update(env) or 3)
    assert launcher.main(["test"]) == 3
    assert not os.path.exists(seen["AGENTKIT_PROGRESS"]) and Path(seen["AGENTKIT_PROGRESS"]).parent != ROOT / "notebooks"


@pytest.mark.parametrize("raised, code, says", [
    (Problem("no pip here", "ERROR: detail"), 1, ["agentkit: no pip here", "    ERROR: detail"]),
    (PermissionError(13, "Permission denied", "x"), 1, ["Permission denied"]),
    (KeyboardInterrupt(), 130, ["Stopped."]),
])
def test_what_goes_wrong_is_told_without_a_traceback(raised, code, says, monkeypatch, capsys):
    def ensure(rebuild):
        raise raised
    monkeypatch.setattr(setup_env, "ensure", ensure)
    monkeypatch.setattr(doctor, "diagnose", lambda root, with_index: [Finding(False, "disk", "full"), Finding(True, "python", "fine")])
    assert launcher.main(["setup"]) == code
    err = capsys.readouterr().err
    assert all(text in err for text in says) and "Traceback" not in err and "fine" not in err
    assert ("agentkit: full" in err) == (code == 1)


@pytest.mark.parametrize("findings, code", [([Finding(True, "a", "b")], 0), ([Finding(True, "a", "b"), Finding(False, "c", "d")], 1)])
def test_the_doctor_has_a_line_for_each_finding(findings, code, monkeypatch, capsys):
    monkeypatch.setattr(doctor, "diagnose", lambda root, port: findings)
    assert launcher.main(["doctor"]) == code
    assert capsys.readouterr().out.splitlines() == ["%-5s  %s: %s" % ("ok" if f.ok else "WRONG", f.name, f.text) for f in findings]


# ---- the display ----

class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_a_log_gets_plain_lines():
    out = io.StringIO()
    progress = console.Progress(out, clock=lambda: 0)
    progress.stage("Begin.")
    tick = progress.pip_line(lambda: 0)
    for line in ["Collecting a", None, "Installing collected packages: a, b, c", None]:
        tick(line)
    assert out.getvalue() == "Begin.\n  to install: 3\n"


def test_a_terminal_gets_a_bar(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    out, there = Terminal(), [10]
    progress = console.Progress(out, clock=lambda: 0)
    tick = progress.pip_line(lambda: there[0])
    tick("Collecting a>=1 (from x)")
    tick("Installing collected packages: a, b")
    there[0] += 1
    tick()
    progress.stage("Next.")
    text = out.getvalue()
    assert "packages found: 1, now a" in text
    assert "[###############---------------] 1 of 2 installed" in text and text.endswith("\rNext.\n")


def test_a_command_is_followed():
    lines, seen = [], []
    code = console.follow([sys.executable, "-c", "import sys; print('a'); print('b', file=sys.stderr); sys.exit(3)"], lambda line=None: seen.append(line), lines)
    assert code == 3 and sorted(lines) == ["a", "b"] and set(lines) <= set(seen)


# ---- the files that say what is installed ----

def test_every_package_is_pinned_with_a_reason():
    reasons = set()
    for line in (ROOT / "requirements.txt").read_text(encoding="utf-8").splitlines() + \
            (ROOT / "requirements-browser.txt").read_text(encoding="utf-8").splitlines():
        if line.startswith("#") or line == "-e .":
            continue
        name, _, rest = line.partition("==")
        assert rest and name, line
        if "#" in rest:
            reasons.add(name)
        assert name in reasons, "%s has no reason" % name


def test_the_environment_file_uses_the_same_pins():
    assert "- -r requirements.txt" in (ROOT / "environment.yml").read_text(encoding="utf-8")
