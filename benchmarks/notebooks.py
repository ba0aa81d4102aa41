"""How long each notebook takes to run from top to bottom in a fresh kernel.

    python benchmarks/notebooks.py                    every notebook
    python benchmarks/notebooks.py notebooks/04*      these

It runs what is committed, stores nothing and decides nothing. "kernel" is the time until a kernel answers, which every
notebook pays for; the processor's time is that of the kernel and all that it starts.
"""

import resource
import statistics
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(CHECKOUT))


def run(path):
    """(seconds until the kernel answers, seconds for the cells, seconds of processor, what went wrong or None)."""
    import nbclient
    import nbformat

    from agentkit.course.refresh import CELL_SECONDS, kernel_environment

    notebook = nbformat.read(path, as_version=4)
    busy, wrong = children(), None
    with tempfile.TemporaryDirectory() as scratch:
        client = nbclient.NotebookClient(notebook, kernel_name="python3", timeout=CELL_SECONDS, resources={"metadata": {"path": str(path.parent)}})
        began = time.perf_counter()
        with client.setup_kernel(env=kernel_environment(scratch)):
            started = time.perf_counter()
            try:
                for index, cell in enumerate(notebook.cells):
                    client.execute_cell(cell, index)
            except Exception as error:
                wrong = f"stopped at {cell.get('id')}: {getattr(error, 'ename', type(error).__name__)}"
            ended = time.perf_counter()
    return started - began, ended - started, children() - busy, wrong


def children():
    """Seconds of processor that ended child processes have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def main(paths):
    print(f"{'notebook':<34}{'kernel':>9}{'cells':>9}{'processor':>11}")
    rows = []
    for path in paths:
        *times, wrong = run(path)
        rows.append(times)
        print(f"{path.name:<34}{times[0]:>7.1f} s{times[1]:>7.1f} s{times[2]:>9.1f} s  {wrong or ''}", flush=True)
    if len(rows) > 1:
        print(f"{'median':<34}" + "".join(f"{statistics.median(column):>{width}.1f} s" for column, width in zip(zip(*rows), (7, 7, 9))))


if __name__ == "__main__":
    main([Path(name) for name in sys.argv[1:]] or sorted((CHECKOUT / "notebooks").glob("*.ipynb")))
