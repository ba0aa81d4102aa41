"""The notebooks themselves: each is healthy, and each solution turns its exercise green."""

import copy
import re

import pytest
from places import NOTEBOOKS

from agentkit.course import health
from agentkit.course.refresh import kernel_environment

nbformat = pytest.importorskip("nbformat")
nbclient = pytest.importorskip("nbclient")

each_notebook = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


@each_notebook
@pytest.mark.parametrize("rule", health.RULES, ids=lambda rule: rule.__name__)
def test_health(path, rule):
    found = list(rule(health.Page(path)))
    assert not found, f"{path.name}: " + "; ".join(found)


@each_notebook
def test_every_solution_turns_its_exercise_green(path, tmp_path):
    from agentkit.course.exercise import solution_source

    page = health.Page(path)
    assert solve(page, solution_source, tmp_path) == {name: "passed" for name in page.checks()}


def solve(page, source_of, scratch):
    """Run the notebook with every stub replaced by its solution; return {exercise: status}."""
    solved = copy.deepcopy(page.notebook)
    stubs = {cell.id: name for name, cell in page.checks().items()}
    cells = {cell.id: cell for cell in solved.cells}
    for place, name in stubs.items():
        # The check line stays as the notebook has it; only what the reader would write is replaced.
        line = next(line for line in cells[place].source.splitlines() if line.startswith("check("))
        cells[place].source = f"{source_of(name)}\n\n{line}"
    client = nbclient.NotebookClient(solved, kernel_name="python3", timeout=120, record_timing=False,
                                     resources={"metadata": {"path": str(page.path.parent)}})
    client.execute(env=kernel_environment(str(scratch)))
    return {name: status(cells[place]) for place, name in stubs.items()}


def status(cell):
    """What a check said: the status in its first line of plain text, or all its text where there is none."""
    said = "\n".join(text for output in cell.outputs for text in health.texts(output))
    found = re.search(r": (passed|failed|not attempted yet)$", said, re.M)
    return found[1] if found else said
