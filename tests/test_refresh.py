"""Refreshing a notebook, strict nbval on what it writes, and every health rule against a notebook that breaks it."""

import os
import re
import shutil
import subprocess
import sys

import pytest

nbformat = pytest.importorskip("nbformat")
pytest.importorskip("nbclient")
pytest.importorskip("ipywidgets")

from nbformat.v4 import new_code_cell, new_markdown_cell, new_output  # noqa: E402
from places import CHECKOUT  # noqa: E402
from sample_notebook import sample_notebook, write_sample  # noqa: E402
from test_notebooks import solve  # noqa: E402

from agentkit.course import health  # noqa: E402
from agentkit.course.refresh import clean, main, without_text  # noqa: E402


@pytest.fixture(scope="module")
def refreshed(tmp_path_factory):
    """The sample notebook after one refresh."""
    path = write_sample(tmp_path_factory.mktemp("refreshed"))
    assert main([str(path)]) == 0
    return path


@pytest.fixture
def sample(refreshed, tmp_path):
    """A copy of the refreshed sample that a test may break."""
    return shutil.copy(refreshed, tmp_path / refreshed.name)


def edit(path, change):
    notebook = nbformat.read(path, as_version=4)
    change(notebook, {cell.id: cell for cell in notebook.cells})
    nbformat.write(notebook, path)


# Refreshing

def test_a_second_refresh_changes_no_byte(sample, capsys):
    before, when = sample.read_bytes(), sample.stat().st_mtime_ns
    assert main([str(sample)]) == 0
    assert sample.read_bytes() == before and sample.stat().st_mtime_ns == when
    assert re.search(r"90_sample.ipynb +[\d.]+ s +\d+ KB +same", capsys.readouterr().out)


def test_refreshed_is_healthy(refreshed):
    assert health.problems(refreshed) == []


def test_strict_nbval_agrees_with_the_stills(sample):
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "--nbval", f"--nbval-sanitize-with={CHECKOUT / 'tests/nbval_sanitize.cfg'}",
         "-p", "no:cacheprovider", str(sample)], cwd=sample.parent, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout


def test_nbval_sees_another_still(sample):
    edit(sample, lambda notebook, cells: cells["lab"].outputs[1].data.update({"text/html": "<p>other words</p>"}))
    done = subprocess.run([sys.executable, "-m", "pytest", "-q", "--nbval", "-p", "no:cacheprovider", str(sample)],
                          cwd=sample.parent, capture_output=True, text=True)
    assert done.returncode == 1 and "text/html" in done.stdout


def test_a_lab_leaves_its_picture_and_its_words(refreshed):
    cells = {cell.id: cell for cell in nbformat.read(refreshed, as_version=4).cells}
    picture, words = cells["lab"].outputs
    assert picture.metadata["image/png"]["alt"] == picture.data["text/plain"] == "Bars that rise over 10 steps."
    assert "0.1492 USD" in words.data["text/html"] and "Run the notebook" in words.data["text/html"]
    assert [set(output.data) for output in cells["player"].outputs] == [{"text/html", "text/plain"}]
    assert [output.output_type for output in cells["prints"].outputs] == ["stream", "execute_result"]


def test_check_writes_nothing_and_says_so(sample, capsys):
    assert main(["--check", str(sample)]) == 0
    edit(sample, lambda notebook, cells: cells["prints"].update(source="print(3)"))
    before = sample.read_bytes()
    assert main(["--check", str(sample)]) == 1
    assert sample.read_bytes() == before and "would change" in capsys.readouterr().out


def test_a_failing_cell_is_named_and_the_file_stays(sample, capsys):
    edit(sample, lambda notebook, cells: cells["prints"].update(source="rate = 0\n1 / rate"))
    before = sample.read_bytes()
    assert main([str(sample)]) == 1
    assert capsys.readouterr().err == (
        "90_sample.ipynb: cell prints: ZeroDivisionError: division by zero; the file is as it was\n")
    assert sample.read_bytes() == before and os.listdir(sample.parent) == [sample.name]


@pytest.mark.parametrize("text, says", [(None, "no such file"), ("{", "not a notebook"), ('{"cells": 3}', "not a notebook")])
def test_what_is_no_notebook_is_one_line(tmp_path, capsys, text, says):
    path = tmp_path / "x.ipynb"
    path.write_text(text) if text is not None else None
    assert main([str(path)]) == 1
    said = capsys.readouterr().err
    assert says in said and said.count("\n") == 1


def test_a_widget_without_a_still_is_refused(sample, capsys):
    edit(sample, lambda notebook, cells: cells["prints"].update(source="import ipywidgets\nipywidgets.IntSlider()"))
    assert main([str(sample)]) == 1
    assert "cell prints: it shows a widget that has no still" in capsys.readouterr().err


def test_leftovers_go_and_what_authors_set_stays():
    notebook = sample_notebook()
    cell = next(cell for cell in notebook.cells if cell.id == "prints")
    cell.metadata.update(tags=["nbval-skip"], execution={"iopub.status.busy": "now"}, collapsed=True)
    cell.outputs = [new_output("stream", name="stdout", text="a"), new_output("stream", name="stdout", text="b"),
                    new_output("stream", name="stderr", text="c")]
    notebook.metadata.widgets = {"state": {}}
    notebook.cells[0].attachments = {"a.png": {"image/png": "aGk="}}
    clean(notebook)
    assert [(o.name, o.text) for o in cell.outputs] == [("stdout", "ab"), ("stderr", "c")]
    assert cell.metadata == {"tags": ["nbval-skip"]} and "widgets" not in notebook.metadata
    assert cell.id == "prints" and notebook.cells[0].attachments


def test_pictures_lose_the_name_of_their_software():
    from matplotlib.figure import Figure
    import io

    out = io.BytesIO()
    Figure().savefig(out, format="png")
    assert b"Software" in out.getvalue() and b"Software" not in without_text(out.getvalue())


def test_solutions_are_put_in_place_of_stubs(sample, tmp_path):
    right = lambda name: "def double(n):\n    return 2 * n"  # noqa: E731
    wrong = lambda name: "def double(n):\n    return n"  # noqa: E731
    assert solve(health.Page(sample), right, tmp_path) == {"90-1": "passed", "90-2": "passed"}
    assert solve(health.Page(sample), wrong, tmp_path) == {"90-1": "failed", "90-2": "failed"}


# Each health rule catches a notebook that breaks it

def says(text):
    """A change: the cell `prints` says this."""
    return lambda notebook, cells: cells["prints"].outputs[0].update(text=text)


def code(text):
    return lambda notebook, cells: cells["prints"].update(source=text)


def prose(text, place="text-1"):
    return lambda notebook, cells: cells[place].update(source=text)


def append(*cells):
    return lambda notebook, _: notebook.cells.extend(cells)


def tags(*names):
    def change(notebook, cells):
        for name in names:
            cells[name].metadata["tags"] = ["nbval-ignore-output"]
    return change


def replace(place, old, new):
    return lambda notebook, cells: cells[place].update(source=cells[place].source.replace(old, new))


def remove(place):
    return lambda notebook, cells: notebook.cells.remove(cells[place])


BROKEN = {
    "executed_in_order": [lambda n, c: c["prints"].update(execution_count=40), lambda n, c: c["prints"].update(execution_count=None)],
    "hand_set_ids": [lambda n, c: c["prints"].update(id="1a2b3c4d"), lambda n, c: c["prints"].update(id="Prints_1"),
                     lambda n, c: c["prints"].update(id="0c3d9f1e-8f4b-4b64-9c3f-1c2d3e4f5a6b")],
    "plain_metadata": [lambda n, c: n.metadata.kernelspec.update(name="conda-env"), lambda n, c: n.metadata.update(widgets={}),
                       lambda n, c: n.metadata.language_info.update(version="3.11"),
                       lambda n, c: c["prints"].metadata.update(execution={})],
    "no_errors": [lambda n, c: c["prints"].outputs.append(new_output("error", ename="E", evalue="", traceback=[])),
                  lambda n, c: c["prints"].outputs.append(new_output("stream", name="stderr", text="a warning"))],
    "stable_outputs": [says("<function f at 0x7f63ab10c0e0>"), says("in /tmp/tmpab12/x.py"), says("/home/ada/x"),
                       says("C:\\Users\\ada"), says("id 5f1e6a52c7b04c0f9a8d3a7b6c5d4e3f"), says("Wall time: 3 ms"),
                       says("http://127.0.0.1:43211/")],
    "few_excused": [tags("prints", "figure")],
    "no_flicker": [code("interact(f, n=3)"), code("out = widgets.Output()"), code("clear_output(wait=True)")],
    "pictures_have_alt": [lambda n, c: c["figure"].outputs[0].metadata["image/png"].update(alt=" "),
                          lambda n, c: c["figure"].outputs[0].metadata.clear(), prose("![](a.png)"), prose('<img src="a.png">')],
    "stills_only": [lambda n, c: c["player"].outputs[0].data.update({"application/vnd.jupyter.widget-view+json": {}})],
    "no_remote_images": [prose("![a plot](https://example.org/a.png)"), prose('<img alt="a" src="//example.org/a.png">'),
                         lambda n, c: c["player"].outputs[0].data.update({"text/html": '<img alt="a" src="http://example.org/a.png">'})],
    "modest_size": [code("x = 1\n" * 26), lambda n, c: n.metadata.update(title="x" * 300_000)],
    "modest_words": [prose("word " * 171), prose("<details>" + "word " * 251 + "</details>"),
                     lambda n, c: [c[f"text-{i}"].update(source="few words") for i in range(5)],
                     append(*(new_markdown_cell("word " * 160, id=f"more-{i}") for i in range(12)))],
    "opening": [prose("A demo without a title", "title"), replace("title", "20 minutes. ", ""), replace("title", "Stands on nothing", ""),
                replace("title", "When you have read it you can say in one sentence what a lab is made of, and what its still is for.", "")],
    "exercises": [prose("## Homework", "exercises"), remove("stub-90-2"), remove("hint-90-1"), remove("solution-90-2"),
                  replace("stub-90-1", "check('90-1'", "check('91-1'"), lambda n, c: c["stub-90-1"].outputs.clear()],
    "stubs_break_nothing": [replace("stub-90-1", "double", "tokens")],
    "interview": [prose("## Questions", "interview"), replace("interview", "<details>", "")],
    "ending": [prose("## The end", "next"), append(new_markdown_cell("## One more thing", id="more"))],
    "links_resolve": [prose("[next](91_nothing.ipynb)"), prose("[there](90_sample.ipynb#Nowhere)"), prose('<a href="91_no.ipynb">n</a>')],
}


def test_every_rule_is_tried():
    assert set(BROKEN) == {rule.__name__ for rule in health.RULES}


@pytest.mark.parametrize("rule, change", [(rule, change) for rule, changes in BROKEN.items() for change in changes])
def test_a_rule_catches(sample, rule, change):
    edit(sample, change)
    assert rule in {problem.partition(":")[0] for problem in health.problems(sample)}


def test_a_hash_and_a_price_are_no_random_ids(sample):
    edit(sample, says("sha256 " + "ab" * 32 + " costs 0.0225 USD after 30 seconds"))
    assert health.problems(sample) == []


def test_health_from_the_command_line(sample, capsys):
    assert health.main([str(sample)]) == 0
    edit(sample, says("0x7f63ab10c0e0"))
    assert health.main([str(sample)]) == 1
    assert "90_sample.ipynb: stable_outputs: cell prints: an address" in capsys.readouterr().out
