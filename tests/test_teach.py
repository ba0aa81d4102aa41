"""The teacher's notebooks: every exercise solved, twins of headings and code, and a page that follows the notebooks."""

import json
import re

import pytest
from places import NOTEBOOKS

from agentkit.course import exercises, teach
from agentkit.course.judge import grade
from agentkit.course.refresh import CannotRefresh
from agentkit.course.verdict import PASSED

nbformat = pytest.importorskip("nbformat")
each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def code(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


@each_notebook
def test_a_solved_notebook_has_every_exercise_solved_and_everything_else_as_it_was(path):
    before = teach.read(path)
    after = teach.solved(before)
    nbformat.validate(after)
    assert [cell.id for cell in after.cells] == [cell.id for cell in before.cells]
    solved = {}
    for old, new in zip(before.cells, after.cells):
        line = teach.check_line(old)
        if line is None:
            assert new == old
            continue
        assert new.source.endswith("\n" + line[0]) and not new.outputs
        solved[line[1]] = new.source[:-len(line[0])]
    assert list(solved) == [exercise.id for exercise in exercises.of(path.name[:2])] if path.name[:2] in exercises.notebooks() else not solved
    for id, source in solved.items():
        exercise, names, checked = exercises.find(id), {"__name__": "solved"}, {}
        exec(exercise.setup, names)
        # The check line itself says what is handed over, so it is run, too.
        exec(source + teach.check_line(next(c for c in after.cells if (m := teach.check_line(c)) and m[1] == id))[0],
             {**names, "check": checked.__setitem__})
        assert grade(exercise, checked[id]).status == PASSED, id


@each_notebook
def test_a_twin_has_all_code_cells_and_all_headings_and_nothing_else(path):
    before = teach.read(path)
    after = teach.twin(before)
    nbformat.validate(after)
    assert [(c.id, c.source) for c in code(after)] == [(c.id, c.source) for c in code(before)]
    assert not any(c.outputs or c.execution_count for c in code(after))
    kept = [line for cell in after.cells if cell.cell_type != "code" for line in cell.source.split("\n\n")]
    every = [line.rstrip() for cell in before.cells if cell.cell_type == "markdown" for line in cell.source.splitlines() if re.match(r"#{1,6} \S", line)]
    assert kept == every and kept[0].startswith("# ") and len(kept) > 3
    assert len({cell.id for cell in after.cells}) == len(after.cells)


def test_headings_are_no_comments():
    assert teach.headings("# A\ntext\n```python\n# no heading\n```\n## B  \n#no\n") == ["# A", "## B"]


def test_the_same_bytes_each_time_and_the_notebooks_stay_as_they_are(tmp_path):
    path = NOTEBOOKS[4]
    before = path.read_bytes()
    written = []
    for _ in range(2):
        teach.write([path], tmp_path, tell=lambda text: None)
        written.append({p.relative_to(tmp_path).as_posix(): p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()})
    assert written[0] == written[1] and list(written[0]) and set(written[0]) == {f"solved/{path.name}", f"twin/{path.name}"}
    assert path.read_bytes() == before
    json.loads(written[0][f"twin/{path.name}"])


def test_what_is_solved_can_be_run(tmp_path):
    notebook = nbformat.v4.new_notebook(cells=[
        nbformat.v4.new_code_cell("from agentkit.course import check", id="import"),
        nbformat.v4.new_code_cell(exercises.find("04-1").cell(), id="exercise")])
    path = tmp_path / "04_loop.ipynb"
    nbformat.write(notebook, path)
    teach.write([path], tmp_path / "out", run=True, tell=lambda text: None)
    cell = teach.read(tmp_path / "out" / "solved" / "04_loop.ipynb").cells[1]
    assert ": passed" in cell.outputs[0].data["text/plain"] and cell.execution_count == 2


def test_misuse(tmp_path, capsys, monkeypatch):
    for arguments, says in (([str(tmp_path / "no.ipynb")], "there is no"), (["--to", str(teach.CHECKOUT / "notebooks")], "would be replaced")):
        with pytest.raises(SystemExit) as ended:
            teach.main(arguments)
        assert ended.value.code == 2 and says in capsys.readouterr().err
    monkeypatch.setattr(teach, "write", lambda *a: (_ for _ in ()).throw(CannotRefresh("cell x: it fails")))
    assert teach.main([]) == 1 and "cell x" in capsys.readouterr().err


# ---- the page -------------------------------------------------------------------------------------------------------------------

def test_the_page_is_current():
    page = teach.PAGE.read_text(encoding="utf-8")
    assert page == teach.with_computed(page), "run: python3 -m agentkit teach --page"


def test_the_plans_name_only_what_there_is_and_add_up():
    paths = {path.name[:2]: path for path in NOTEBOOKS}
    rows = [row.split(" | ") for row in teach.plans().splitlines()[2:]]
    assert len(rows) == sum(len(days) for _, _, days in teach.PLANS)
    for _, numbers, minutes, own in rows:
        assert int(minutes) == sum(teach.minutes(paths[n]) for n in numbers.split(", ")) and 0 < int(own.strip(" |")) < int(minutes)
    hour, half = int(rows[0][2]), int(rows[1][2])
    assert hour <= 60 and half <= 240 and all(int(row[2]) <= 420 for row in rows[2:])


def test_the_pitfalls_are_those_of_the_exercises():
    text = teach.pitfalls()
    for exercise in exercises.all_exercises():
        assert f"**{exercise.id} {exercise.title}**" in text
    assert "    - The model's own reply never joins the list.\n" in text


@pytest.mark.parametrize("text, first", [
    ("One call too many: N means N. The rest.", "One call too many: N means N."), ("`a.b` is e.g. fine. Then", "`a.b` is e.g. fine."), ("No end", "No end"),
    ("Is it 2.5? Yes.", "Is it 2.5?"), ("Two\n lines. More.", "Two lines.")])
def test_the_first_sentence(text, first):
    assert teach.first_sentence(text) == first
