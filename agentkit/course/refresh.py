"""Re-execute notebooks and write them so that a second refresh changes no byte.

    python -m agentkit.course.refresh                  every notebook of the course
    python -m agentkit.course.refresh notebooks/04*    these
    python -m agentkit.course.refresh --check          change nothing; exit 1 where a refresh would
"""

import argparse
import base64
import os
import sys
import tempfile
import time
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
WIDGET_VIEW = "application/vnd.jupyter.widget-view+json"
CELL_SECONDS = 120
METADATA = {
    "kernelspec": {"display_name": "Python 3 (ipykernel)", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}
# What a front end or a run leaves behind; everything else in a cell's metadata was put there by an author.
LEFTOVERS = ("execution", "ExecuteTime", "collapsed", "scrolled", "trusted", "papermill", "editable")


class CannotRefresh(Exception):
    """A notebook that cannot be refreshed; the text says which cell and why."""


def refresh(path, check=False):
    """Execute and clean one notebook; return (changed, size in bytes). The file is written only if it would change."""
    import nbformat

    path = Path(path)
    try:
        before = path.read_bytes()
        notebook = nbformat.reads(before.decode("utf-8"), as_version=4)
    except FileNotFoundError:
        raise CannotRefresh("there is no such file") from None
    except Exception as error:  # broken JSON or a shape that no version of the format knows
        raise CannotRefresh(f"this is not a notebook ({last_line(error)})") from None
    execute(notebook, path.parent)
    clean(notebook)
    after = nbformat.writes(notebook).rstrip("\n").encode("utf-8") + b"\n"
    if after != before and not check:
        write_atomically(path, after)
    return after != before, len(after)


def execute(notebook, folder):
    """Run every cell top to bottom in a fresh kernel that starts in `folder`."""
    import nbclient
    from nbclient.exceptions import CellExecutionError, CellTimeoutError, DeadKernelError
    from jupyter_client.kernelspec import NoSuchKernel

    running = {"id": "?"}
    client = nbclient.NotebookClient(
        notebook, kernel_name="python3", timeout=CELL_SECONDS, record_timing=False, store_widget_state=False,
        resources={"metadata": {"path": str(folder)}},
        on_cell_start=lambda cell, cell_index: running.update(id=cell.get("id", cell_index)))
    with tempfile.TemporaryDirectory() as scratch:
        try:
            client.execute(env=kernel_environment(scratch))
        except CellExecutionError as error:
            raise CannotRefresh(f"cell {running['id']}: {error.ename}: {last_line(error.evalue)}") from None
        except CellTimeoutError:
            raise CannotRefresh(f"cell {running['id']}: it ran for more than {CELL_SECONDS} seconds") from None
        except DeadKernelError:
            raise CannotRefresh(f"cell {running['id']}: the kernel died") from None
        except NoSuchKernel:
            raise CannotRefresh("there is no kernel named python3 here; `pip install ipykernel` brings it") from None


def kernel_environment(scratch):
    """The environment of a kernel whose results depend on the checkout alone: no progress file, no personal settings."""
    paths = [str(CHECKOUT), os.environ.get("PYTHONPATH", "")]
    return {**os.environ, "AGENTKIT_PROGRESS": os.path.join(scratch, "progress.json"), "IPYTHONDIR": scratch,
            "AGENTKIT_REAL": "0",       # a real model's words must never be stored in a notebook
            "PYTHONPATH": os.pathsep.join(filter(None, paths))}


def clean(notebook):
    """Leave only what an author wrote and what a second run gives again: no state, no timings, no random ids."""
    notebook.metadata = _node(METADATA)
    notebook.nbformat_minor = max(notebook.nbformat_minor, 5)
    count = 0
    for cell in notebook.cells:
        for key in LEFTOVERS:
            cell.metadata.pop(key, None)
        if cell.cell_type != "code":
            continue
        count += bool(cell.source.strip())
        cell.execution_count = count if cell.source.strip() else None
        cell.outputs = _node(still_outputs(cell))


def still_outputs(cell):
    """Return the cell's outputs with neighbouring prints joined and every widget replaced by its still."""
    outputs = []
    for output in map(dict, cell.outputs):
        last = outputs[-1] if outputs else {}
        if output["output_type"] == "stream" and last.get("name") == output["name"]:
            last["text"] += output["text"]
        elif "data" in output:
            outputs += _still(output, cell)
        else:
            outputs.append(output)
    return outputs


def _still(output, cell):
    """The outputs that stand for this one on a page without a kernel."""
    data = {kind: value for kind, value in output["data"].items() if kind != WIDGET_VIEW}
    if "image/png" in data:
        data["image/png"] = base64.b64encode(without_text(base64.b64decode(data["image/png"]))).decode()
    still = {**output, "data": data}
    if output["output_type"] == "execute_result":
        still["execution_count"] = cell.execution_count
    if WIDGET_VIEW not in output["data"]:
        return [still]
    if not {"image/png", "text/html"} & set(data):
        raise CannotRefresh(f"cell {cell.get('id', '?')}: it shows a widget that has no still; show a Lab instead")
    if not {"image/png", "text/html"} <= set(data):
        return [still]
    # Pages prefer HTML and would drop the picture, so each gets its own output. nbval compares kind by kind over the
    # whole cell, so a run that sends both in one message still agrees.
    words = {"output_type": "display_data", "metadata": {}, "data": {"text/html": data.pop("text/html")}}
    return [still, words]


def without_text(png):
    """Return a PNG without its text and time chunks, which name the software's version and the hour."""
    kept, at = [png[:8]], 8
    while at < len(png):
        end = at + 12 + int.from_bytes(png[at:at + 4], "big")
        if png[at + 4:at + 8] not in (b"tEXt", b"iTXt", b"zTXt", b"tIME"):
            kept.append(png[at:end])
        at = end
    return b"".join(kept)


def write_atomically(path, content):
    """Replace the file in one move, so that an interrupted refresh never leaves half a notebook."""
    handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(content)
        os.chmod(name, path.stat().st_mode & 0o777)
        os.replace(name, path)
    except BaseException:
        os.unlink(name)
        raise


def last_line(error):
    """The last line of an error's text that says something, without terminal colours."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[-1][:300] if lines else type(error).__name__


def _node(value):
    from nbformat import from_dict

    return from_dict(value)


def main(argv=None):
    """Refresh the notebooks named in `argv`, or all; return 1 if one failed or (with --check) would change."""
    parser = argparse.ArgumentParser(prog="python -m agentkit.course.refresh", description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="*", type=Path, help="notebooks; without any, all of notebooks/")
    parser.add_argument("--check", action="store_true", help="write nothing; exit 1 if a refresh would change a file")
    options = parser.parse_args(argv)
    try:
        import nbclient  # noqa: F401
    except ImportError as error:
        print(f"{error}. `python -m agentkit lab` sets everything up, or: pip install -r requirements.txt", file=sys.stderr)
        return 1
    bad = 0
    for path in options.files or sorted((CHECKOUT / "notebooks").glob("*.ipynb")):
        began = time.perf_counter()
        try:
            changed, size = refresh(path, options.check)
        except CannotRefresh as reason:
            print(f"{path.name}: {reason}; the file is as it was", file=sys.stderr)
            bad = 1
            continue
        word = ("would change" if options.check else "changed") if changed else "same"
        bad |= changed and options.check
        print(f"{path.name:<32}{time.perf_counter() - began:6.1f} s{size / 1024:7.0f} KB   {word}", flush=True)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main())
