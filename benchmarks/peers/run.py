"""What a step costs in agentkit and in five frameworks, beside a bare hand-written loop. It prints, and asserts nothing of times.

    python benchmarks/peers/run.py                            everything; half an hour on two busy cores
    python benchmarks/peers/run.py --only peers --most 1000   the frameworks, up to 1,000 steps
    python benchmarks/peers/run.py --only loop,traps,labs,notebooks

Each framework has its own environment in ~/.cache/agentkit/peers (or $AGENTKIT_PEERS), made from requirements/NAME.txt.
After they are made nothing has a network. Every measurement is a fresh process; the systems take turns, round by round.
The task is the same for all: a stand-in model inside the process asks for one tool call a step, and then answers; that
every step's tool ran, in order, is checked, or it would measure nothing.
"""

import argparse
import json
import math
import os
import subprocess
import sys
import textwrap
from datetime import date
from statistics import median

from environments import CACHE, CHECKOUT, HERE, alone, install, python_of, scratch, settings, version_of

OWN = ("bare", "bare, glance", "mini", "agentkit")
PEERS = ("llm", "smolagents", "langgraph", "pydantic-ai", "openai-agents")
PATIENCE = 60      # seconds of processor for one run
LONG = 5            # what took longer is measured once

# What each does in the measured run, from the code that ran; what is walked at every step was counted with cProfile.
FIELDS = ("checks arguments", "tokens", "limits asked", "keeps", "tracing and hooks", "walks at every step")
FACTS = {
    "bare": ("JSON read strictly, then jsonschema, validator built once", "counts what is new; sums what is reported, and its price",
             "all seven of agentkit, repeats too", "the list; a list of events", "-", "nothing"),
    "bare, glance": ("JSON read strictly, then types at a glance", "as bare", "as bare", "as bare", "-", "nothing"),
    "mini": ("types, by hand", "as bare", "as bare", "the list", "-", "nothing"),
    "agentkit": ("JSON read strictly, then types at a glance; what is not flat or does not fit goes to jsonschema", "as bare", "as bare",
                 "a journal in memory: every event before it takes effect; list, trace and report come from it", "hooks: none set", "nothing"),
    "llm": ("by Python's call alone: names, not types", "keeps what is reported, sums nothing", "none (chain_limit lifted)",
            "a response object a step, each with its whole prompt", "none", "the list, copied into the next prompt"),
    "smolagents": ("names and types, by hand", "sums what is reported", "steps", "a memory of steps, each with its whole input",
                   "logger silenced; step callbacks: its monitor", "all earlier steps, made into messages anew"),
    "langgraph": ("pydantic", "keeps what is reported, sums nothing", "supersteps (recursion_limit)", "a graph state; no checkpointer",
                  "callback managers; LangSmith off", "the list: merged into the state, made ready for the model; each tool call in a thread"),
    "pydantic-ai": ("pydantic-core", "sums what is reported", "requests (lifted)", "the message history",
                    "OpenTelemetry spans into a no-op tracer", "the history, several times, to prepare the next request"),
    "openai-agents": ("JSON, then pydantic", "sums what is reported", "turns", "run items and raw responses, copied deep as they come",
                      "tracing off; guardrails and hooks: none set", "all earlier items, to register their calls anew"),
}

def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="peers,loop,traps,labs,notebooks")
    parser.add_argument("--most", type=int, default=10_000, help="the largest number of steps")
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    parts = options.only.split(",")
    missing = {name: why for name in PEERS if "peers" in parts and (why := install(name))}
    if "peers" in parts:
        said = alone()
        print(f"{date.today()}, Python {sys.version.split()[0]}, {os.cpu_count()} cores. Run {said}; telemetry switched off.\n", flush=True)
        peers([n for n in (*OWN, *PEERS) if n not in missing], [n for n in (10, 100, 1_000, 10_000) if n <= options.most], options.rounds)
        for name, why in missing.items():
            print(f"{name}: not measured: {why}")
    for part, command in {"loop": ["loop.py", str(options.most)], "traps": ["traps.py"], "labs": ["lab_latency.py"], "notebooks": ["notebooks.py"]}.items():
        if part in parts:
            print(f"\n== {part}: benchmarks/{' '.join(command)}", flush=True)
            subprocess.run([sys.executable, CHECKOUT / "benchmarks" / command[0], *command[1:]], check=False, stderr=subprocess.DEVNULL)


def peers(names, sizes, rounds):
    """Measure in turns, then print the tables."""
    found = {name: {n: [] for n in sizes} for name in names}
    skipped, imports, reached = {}, {name: [] for name in names}, set()
    for _ in range(rounds):
        for n in sizes:
            for name in names:
                if (name, n) in skipped or any(f["seconds"] > LONG for f in found[name][n]):
                    continue
                smaller = found[name].get(n // 10)
                if (name, n // 10) in skipped or smaller and smaller[0]["seconds"] * 10 > PATIENCE:
                    skipped[name, n] = "not begun"      # at best ten times as long
                    continue
                one = measure(name, n)
                if "over" in one:
                    skipped[name, n] = f"{one['reached']:,} in {PATIENCE} s"
                elif "failed" in one:
                    skipped[name, n] = "failed"
                    print(f"{name}, {n:,} steps: {one['failed']}")
                else:
                    found[name][n].append(one)
                    imports[name].append(one["import"])
                    reached.update(f"{name}: {address}" for address in one["reached"])
    versions = {name: version_of(name)["version"] for name in names if name in PEERS}
    print_times(found, skipped, sizes, versions)
    print_sizes(found, imports, sizes)
    print(f"\nTried to reach a network: {', '.join(sorted(reached)) or 'nobody'}.")
    print("\nWhat each does in the run that was measured")
    for name in names:
        print("\n".join(textwrap.wrap("; ".join(f"{f}: {v}" for f, v in zip(FIELDS, FACTS[name])), 130, initial_indent=f"  {name:<14}", subsequent_indent=" " * 16)))


def measure(name, n):
    """One run in a fresh process."""
    with scratch() as home:
        done = subprocess.run([python_of("agentkit" if name in OWN else name), HERE / "adapters.py", "steps", name, str(n), str(PATIENCE)],
                              capture_output=True, text=True, env=settings(home), cwd=home, stdin=subprocess.DEVNULL)
    return json.loads(done.stdout) if done.stdout else {"failed": (done.stderr.strip().splitlines() or [f"exit {done.returncode}"])[-1][:200]}


def print_times(found, skipped, sizes, versions):
    """CPU milliseconds a step, and as a multiple of the bare loop; how the whole run grows."""
    middle = {name: {n: median(f["seconds"] for f in runs) for n, runs in by_size.items() if runs} for name, by_size in found.items()}
    print("CPU milliseconds a step, and (as a multiple of the bare loop); grows: the b of total = a n^b between the two largest sizes")
    print(f"{'':<26}" + "".join(f"{f'{n:,} steps':>20}" for n in sizes) + f"{'grows':>8}")
    for name, by_size in middle.items():
        cells = [f"{1000 * by_size[n] / n:.3f} ({by_size[n] / middle['bare'][n]:,.1f})" if n in by_size else skipped.get((name, n), "-") for n in sizes]
        whole = sorted(by_size)
        grows = f"{math.log(by_size[whole[-1]] / by_size[whole[-2]]) / math.log(whole[-1] / whole[-2]):.2f}" if len(whole) > 1 else "-"
        print(f"{name + ' ' + versions.get(name, ''):<26}" + "".join(f"{cell:>20}" for cell in cells) + f"{grows:>8}")
    print(f"A run is stopped after {PATIENCE} s of CPU: what stands there is how far it came. Not begun: ten times the smaller size would be over that.\n"
          f"What took over {LONG} s was measured once, everything else {max(len(r) for b in found.values() for r in b.values())} times, in turns.")


def print_sizes(found, imports, sizes):
    """What the largest run added to the process's memory, and what importing costs."""
    print(f"\n{'':<26}{'largest run':>14}{'memory added':>14}{'KB a step':>11}{'import, CPU s':>15}")
    for name, by_size in found.items():
        most = max((n for n in sizes if by_size[n]), default=None)
        if most:
            mb = median(f["mb"] for f in by_size[most])
            print(f"{name:<26}{f'{most:,} steps':>14}{mb:>11.1f} MB{1024 * mb / most:>11.1f}{median(imports[name]):>15.2f}")


if __name__ == "__main__":
    main()
