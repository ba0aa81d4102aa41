"""A small healthy notebook with a figure, a lab, a player and two exercises: what the notebook tests are tested on."""

import nbformat
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

FILLER = "You read the list, you call the model, you run the tool it asks for, and you write down what came back. " * 6

OPENING = """# 90 A sample

When you have read it you can say in one sentence what a lab is made of, and what its still is for.

20 minutes. Stands on nothing."""

FIGURE = """from agentkit.course.figures import figure, fill, show

def tokens(steps):
    fig, ax = figure(title="Tokens sent, step by step", xlabel="step", ylabel="tokens")
    ax.plot(range(1, steps + 1), [1600 + 750 * n for n in range(steps)], label="as it is")
    ax.plot(range(1, steps + 1), [1600 + 300 * n for n in range(steps)], label="with trimmed results")
    ax.legend()
    return fig

show(tokens(10), alt="Two rising lines over ten steps; the trimmed one ends at half the other.")"""

LAB = """from agentkit.course.lab import Lab, Slider, Step, Choice, Switch

def bill(steps, price, check, reserve):
    fig, ax = figure(title="Cost of a run", xlabel="step", ylabel="USD", margins=(0.8, 0.25, 0.45, 0.6))
    cost = [price * (1600 + 750 * n) / 1e6 for n in range(steps)]
    ax.bar(range(1, steps + 1), cost, **fill(1 if reserve else 0))
    return fig, f"<p>{steps} steps cost <b>{sum(cost):.4f} USD</b>, checked {check}.</p>"

Lab({"steps": Slider("Steps", 1, 20, 10, help="How many model calls"),
     "price": Slider("Price, USD per million", 0.5, 5.0, 3.0, step=0.5, help="What a million tokens cost"),
     "check": Choice("The budget is checked", ["before the call", "after the call"], help="When", buttons=True),
     "reserve": Switch("Reserve room for the reply", help="Keep tokens back")},
    bill, title="What a run costs", alt=lambda steps, **_: f"Bars that rise over {steps} steps.")"""

PLAYER = """FRAMES = ["the task arrives", "the model asks for a tool", "the tool answers", "the model answers"]

def frame(step):
    return (f'<div style="border-left:4px solid #0072B2;padding:6px 12px;color:var(--jp-ui-font-color1, #222)">'
            f'<b>Step {step}</b>: {FRAMES[step - 1]}</div>')

Lab({"step": Step("Step", 1, 4)}, frame, title="The run, step by step", alt="The run, frame by frame")"""

CLASSROOM = """def check(name, fn):
    try:
        print(name + (": passed" if fn(2) == 4 else ": failed"))
    except NotImplementedError:
        print(name + ": not attempted yet")

def hint(name): print("Think of two.")
def solution(name): print("def double(n): return 2 * n")"""

INTERVIEW = """## In an interview

<details><summary>What is a lab made of?</summary>

Controls over one pure function, and the picture it makes.

</details>"""


def sample_notebook():
    """The notebook, not yet executed."""
    exercises = []
    for name in ("90-1", "90-2"):
        exercises += [new_code_cell(f"def double(n):\n    raise NotImplementedError\n\ncheck({name!r}, double)", id=f"stub-{name}"),
                      new_code_cell(f"hint({name!r})", id=f"hint-{name}"),
                      new_code_cell(f"solution({name!r})", id=f"solution-{name}")]
    cells = [new_markdown_cell(OPENING, id="title")]
    cells += [new_markdown_cell(FILLER, id=f"text-{i}") for i in range(5)]
    cells += [new_code_cell(CLASSROOM, id="classroom"), new_code_cell(FIGURE, id="figure"), new_code_cell(LAB, id="lab"),
              new_code_cell(PLAYER, id="player"), new_code_cell('print("a")\nprint("b")\n1 + 1', id="prints"),
              new_markdown_cell("## Exercises", id="exercises"), *exercises, new_markdown_cell(INTERVIEW, id="interview"),
              new_markdown_cell("## Where to go next\n\nNowhere: [back to the start](90_sample.ipynb#In-an-interview).", id="next")]
    return new_notebook(cells=cells, metadata={"kernelspec": {"name": "python3", "display_name": "Python 3 (ipykernel)"}})


def write_sample(folder):
    """Write the sample into `folder`, not executed; return its path."""
    path = folder / "90_sample.ipynb"
    nbformat.write(sample_notebook(), path)
    return path
