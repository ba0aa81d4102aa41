"""The door to the course: python3 -m agentkit lab | test | demo | serve | doctor | grade | teach. It runs before anything is installed, so it is
standard library only, and it parses on Python 3.6 so that an old Python is told what to do instead of a syntax error."""

import argparse
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

if not __package__:     # started as a file: this folder must not be a place to import from, its parent must
    _here = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [os.path.dirname(_here)] + [p for p in sys.path if os.path.abspath(p) != _here]

from agentkit import doctor, setup_env  # noqa: E402
from agentkit.console import safe_output  # noqa: E402
from agentkit.doctor import Problem  # noqa: E402

FIRST = "notebooks/00_start_here.ipynb"


def parser():
    """The commands and their options."""
    top = argparse.ArgumentParser(prog="python3 -m agentkit", description="The agent loop, by hand.")
    commands = top.add_subparsers(dest="command", metavar="COMMAND")
    lab = commands.add_parser("lab", help="set up if needed, then open the course in JupyterLab (further options go to it)")
    lab.add_argument("--no-browser", action="store_true", help="print the address instead of opening a browser")
    commands.add_parser("test", help="set up if needed, then run every test and every notebook (further options go to pytest)")
    commands.add_parser("demo", help="print one full run of an agent; needs nothing installed")
    serving = commands.add_parser("serve", help="put a scripted model behind an address of this machine, as providers do; needs nothing installed")
    serving.add_argument("--port", type=port, default=0, help="its port; without it any free one")
    serving.add_argument("--script", default="demo", metavar="FILE", help="a JSON list of replies, or demo (the order model of the notebooks)")
    check = commands.add_parser("doctor", help="say what is wrong with this machine and what to do")
    for command in (lab, check):
        command.add_argument("--port", type=port, help="JupyterLab's port; without it the first free one from %d on" % doctor.FIRST_PORT)
    setup = commands.add_parser("setup", help="set up and do no more")
    setup.add_argument("--rebuild", action="store_true", help="make .venv anew, whatever is in it")
    commands.add_parser("refresh", help="set up if needed, then execute notebooks anew and clean them")
    commands.add_parser("grade", help="grade a class: notebooks or .py files, one row per learner and exercise (grade --help)")
    commands.add_parser("teach", help="write the solved notebooks, and twins for a lecture (teach --help)")
    return top


def port(text):
    """A port number, or argparse's error."""
    if not text.isdigit() or not 1 <= int(text) <= 65535:
        raise argparse.ArgumentTypeError("a port is a number from 1 to 65535, not %r" % text)
    return int(text)


def lab(args, rest):
    """Open JupyterLab at the first notebook."""
    chosen = args.port or doctor.free_port() or doctor.FIRST_PORT
    error = doctor.port_error(chosen)
    doctor.require(doctor.check_port(chosen, error, error and doctor.free_port()))
    root, python = setup_env.ROOT, setup_env.ensure()
    return become(lab_command(root, python, chosen, args.no_browser, rest), setup_env.child_env(root))


def lab_command(root, python, port, no_browser, rest):
    """How JupyterLab is started: at the first notebook, asking nobody for news, updates or extensions."""
    start = "/lab/tree/" + FIRST if (root / FIRST).is_file() else "/lab"
    command = [str(python), "-m", "jupyterlab", "--ServerApp.root_dir=%s" % root, "--LabApp.default_url=" + start,
               "--ServerApp.port=%d" % port, "--ServerApp.port_retries=0", "--LabApp.news_url=None",
               "--LabApp.check_for_updates_class=jupyterlab.handlers.announcements.NeverCheckForUpdate",
               "--LabApp.extension_manager=readonly"]
    if no_browser:
        command.append("--no-browser")
    if hasattr(os, "geteuid") and os.geteuid() == 0:    # as in a container; JupyterLab refuses root without it
        command.append("--allow-root")
    return command + list(rest)


def test(args, rest):
    """Run every test and every notebook; what a reader has solved so far plays no part."""
    root, python = setup_env.ROOT, setup_env.ensure()
    with tempfile.TemporaryDirectory(prefix="agentkit-test-") as folder:
        env = dict(setup_env.child_env(root), AGENTKIT_PROGRESS=os.path.join(folder, "progress.json"),
                   IPYTHONDIR=os.path.join(folder, "ipython"), AGENTKIT_REAL="0")     # no real model in a test, whatever keys there are
        return wait_for(test_command(root, python, rest, Path.cwd()), env, root)


def test_command(root, python, rest, here):
    """How pytest is started. A path among the arguments replaces "everything"; it may be relative to where one stands."""
    paths, options = [], []
    for arg in rest:
        name, colons, inner = arg.partition("::")
        found = next((place / name for place in (here, root) if not arg.startswith("-") and (place / name).exists()), None)
        if found is None:
            options.append(arg)
        else:
            paths.append(str(found.resolve()) + colons + inner)
    # One process a core; each file stays in one, as a notebook's cells share a kernel.
    return ([str(python), "-m", "pytest"] + (paths or ["tests", "notebooks"]) +
            ["--nbval", "--nbval-current-env", "--nbval-sanitize-with", str(root / "tests" / "nbval_sanitize.cfg"),
             "-n", "2", "--dist", "loadfile", "--no-loadscope-reorder"] + options)


def demo(args, rest):
    """One full run as a table."""
    doctor.require(doctor.check_python(sys.version_info))
    try:
        from agentkit.course.demo import main as show
    except ImportError as e:
        raise Problem("the demo does not load: %s" % e)
    return show() or 0


def serve(args, rest):
    """The scripted model behind HTTP until Ctrl-C."""
    doctor.require(doctor.check_python(sys.version_info))
    from agentkit.providers import server
    if args.script == "demo":
        from agentkit.course import shop
        running = server.serve([shop.order_model], args.port, repeat=True)
    else:
        try:
            entries = server.entries_of(json.loads(Path(args.script).read_text(encoding="utf-8")))
        except ValueError as e:
            raise Problem("%s: %s" % (args.script, e))
        running = server.serve(entries, args.port)
    with running:
        print("A scripted model answers at %s until you press Ctrl-C. It speaks, streamed too:" % running.url)
        for path in ("/v1/chat/completions", "/v1/responses", "/v1/messages"):
            print("    POST %s%s" % (running.url, path))
        print('In Python: OpenAIChat("scripted", base_url="%s"), from agentkit.providers' % running.url, flush=True)
        while True:
            time.sleep(3600)


def diagnose(args, rest):
    """One line for each finding; the exit code says whether all is well."""
    findings = []
    for finding in doctor.diagnose(setup_env.ROOT, args.port):
        print("%-5s  %s: %s" % ("ok" if finding.ok else "WRONG", finding.name, finding.text), flush=True)
        findings.append(finding)
    return 0 if all(finding.ok for finding in findings) else 1


def setup(args, rest):
    """Only set up."""
    print("The Python of this course: %s" % setup_env.ensure(rebuild=args.rebuild))
    return 0


def refresh(args, rest):
    """Hand over to the module that executes and cleans notebooks."""
    python = setup_env.ensure()
    return become([str(python), "-m", "agentkit.course.refresh"] + rest, setup_env.child_env(setup_env.ROOT))


def grade(args, rest):
    """Hand over to the module that grades a class."""
    python = setup_env.ensure(out=sys.stderr)       # what is printed here is a table, and may be piped
    return become([str(python), "-m", "agentkit.course.grading"] + rest, setup_env.child_env(setup_env.ROOT))


def teach(args, rest):
    """Hand over to the module that makes the teacher's notebooks."""
    python = setup_env.ensure()
    return become([str(python), "-m", "agentkit.course.teach"] + rest, setup_env.child_env(setup_env.ROOT))


def become(command, env):
    """Turn into a command, so that Ctrl-C and kill reach it directly; Windows has no such thing and waits."""
    if os.name == "nt":
        return wait_for(command, env, None)
    sys.stdout.flush()
    os.execve(command[0], command, env)


def wait_for(command, env, folder):
    """Run a command to its end. Ctrl-C is the command's business: it gets the key too."""
    process = subprocess.Popen(command, env=env, cwd=folder and str(folder))
    try:
        while True:
            try:
                return process.wait()
            except KeyboardInterrupt:
                pass
    finally:
        if process.poll() is None:
            process.terminate()


def main(argv=None):
    """Do what the command line says and return the exit code. What is wrong with the machine is told in lines, not tracebacks."""
    safe_output()
    argv = list(sys.argv[1:] if argv is None else argv)
    passing = argv[:1] in (["test"], ["refresh"], ["grade"], ["teach"])     # these take any option, so argparse must not look at them
    args, rest = parser().parse_known_args(argv[:1] if passing else argv)
    rest = argv[1:] if passing else rest
    if args.command is None:
        parser().print_help()
        return 0
    if rest and args.command not in ("lab", "test", "refresh", "grade", "teach"):
        parser().error("%s does not take %s" % (args.command, " ".join(rest)))
    try:
        return {"lab": lab, "test": test, "demo": demo, "serve": serve, "doctor": diagnose, "setup": setup, "refresh": refresh,
                "grade": grade, "teach": teach}[args.command](args, rest)
    except KeyboardInterrupt:
        return complain("Stopped. Start the same command again to go on.", code=130)
    except Problem as e:
        return complain(e.text, *e.detail)
    except BrokenPipeError:     # the reader of our output has gone, as `| head` does; Python must not complain at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 1
    except OSError as e:
        return complain("%s" % e)


def complain(text, *detail, code=1):
    """Say what stopped us, then what else is wrong here; returns the exit code. What .venv needs, set-up has said."""
    print("\nagentkit: %s" % text, file=sys.stderr)
    for line in detail:
        print("    %s" % line, file=sys.stderr)
    if code == 1:
        for finding in doctor.diagnose(setup_env.ROOT, with_index=False):
            if not finding.ok and finding.name != ".venv" and finding.text not in text:
                print("agentkit: %s" % finding.text, file=sys.stderr)
    return code


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))     # an exit like any other: what was started is stopped too
    sys.exit(main())
