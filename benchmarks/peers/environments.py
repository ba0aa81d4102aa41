"""A virtual environment for each framework, outside the checkout, and the settings that a framework runs with here."""

import os
import shutil
import socket
import struct
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

HERE = Path(__file__).resolve().parent
CHECKOUT = HERE.parents[1]
CACHE = Path(os.environ.get("AGENTKIT_PEERS") or Path.home() / ".cache" / "agentkit" / "peers")
DISTRIBUTIONS = {"llm": "llm", "smolagents": "smolagents", "openai-agents": "openai-agents", "pydantic-ai": "pydantic-ai-slim",
                 "langgraph": "langgraph", "crewai": "crewai"}

# Every switch that a framework, or a package it brings along, has for what it sends home.
QUIET = {"OPENAI_AGENTS_DISABLE_TRACING": "1", "LANGSMITH_TRACING": "false", "LANGCHAIN_TRACING_V2": "false", "CREWAI_DISABLE_TELEMETRY": "true",
         "CREWAI_DISABLE_TRACKING": "true", "CREWAI_TRACING_ENABLED": "false", "OTEL_SDK_DISABLED": "true", "ANONYMIZED_TELEMETRY": "false",
         "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_OFFLINE": "1", "LOGFIRE_SEND_TO_LOGFIRE": "false", "LITELLM_LOCAL_MODEL_COST_MAP": "True",
         "DO_NOT_TRACK": "1"}


def python_of(name):
    """The interpreter that a system runs in; agentkit itself runs in this one."""
    return Path(sys.executable if name == "agentkit" else CACHE / name / "bin" / "python")


def install(name):
    """Make a framework's environment as its requirements say; returns None, or why it cannot be had here."""
    wanted, mark, why = (HERE / "requirements" / f"{name}.txt").read_text("utf-8"), CACHE / name / "installed.txt", CACHE / name / "failed.txt"
    if mark.exists() and mark.read_text("utf-8") == wanted:
        return None
    if os.environ.get("AGENTKIT_ALONE"):        # there is no network any more; it was tried before
        return why.read_text("utf-8") if why.exists() else "it was not installed"
    print(f"installing {name} in {CACHE / name}", file=sys.stderr, flush=True)
    shutil.rmtree(CACHE / name, ignore_errors=True)
    venv.create(CACHE / name, with_pip=True)
    done = subprocess.run([python_of(name), "-m", "pip", "install", "--quiet", "--no-input", "-r", HERE / "requirements" / f"{name}.txt"],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        why.write_text("pip could not install it: " + (done.stderr.strip().splitlines() or ["no reason given"])[-1][:300], "utf-8")
        return why.read_text("utf-8")
    mark.write_text(wanted, "utf-8")
    return None


def version_of(name):
    """The installed version of a framework, and of the OpenAI client that it calls a server through."""
    ask = "import sys, importlib.metadata as m; print(*(m.version(d) for d in sys.argv[1:]))"
    own, client = subprocess.run([python_of(name), "-c", ask, DISTRIBUTIONS.get(name, name), "openai"],
                                 capture_output=True, text=True, check=True, cwd=CHECKOUT).stdout.split()
    return {"version": own, "openai": client}


def settings(scratch):
    """The environment of a framework's process: telemetry off, no key, no proxy, a home folder that nobody keeps."""
    kept = {k: v for k, v in os.environ.items() if not k.upper().endswith(("_API_KEY", "_PROXY"))}
    return {**kept, **QUIET, "HOME": scratch, "XDG_CONFIG_HOME": scratch, "XDG_DATA_HOME": scratch, "LLM_USER_PATH": scratch, "CREWAI_STORAGE_DIR": scratch,
            "AGENTKIT_PEERS": str(CACHE), "PYTHONWARNINGS": "ignore", "PYTHONHASHSEED": "0", "NO_COLOR": "1", "PYTHONPATH": ""}


def alone():
    """Go on without a network: run this script again in a network namespace that has the loopback address and nothing else.

    Returns the sentence that says how it was done. Where the system has no such thing, what is left is the guard in
    adapters.py, which refuses every other address to Python code.
    """
    if os.environ.get("AGENTKIT_ALONE"):
        import fcntl

        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:     # 0x8914 is SIOCSIFFLAGS, 0x41 is up and running
            fcntl.ioctl(s, 0x8914, struct.pack("16sH14x", b"lo", 0x41))
        return "in a network namespace with the loopback address alone (unshare -n), and with an audit hook that refuses every other address"
    apart = ["unshare", "--net"] if os.getuid() == 0 else ["unshare", "--net", "--map-root-user"]
    if shutil.which("unshare") and subprocess.run([*apart, "true"], capture_output=True).returncode == 0:
        os.environ["AGENTKIT_ALONE"] = "1"
        os.execvp("unshare", [*apart, sys.executable, *sys.argv])
    return "with an audit hook that refuses every address but the loopback"


def scratch():
    """A folder for one process's home."""
    return tempfile.TemporaryDirectory(prefix="agentkit-peer-", ignore_cleanup_errors=True)
