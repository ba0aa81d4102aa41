"""Three shapes on one task, "if the order is late, refund it": a single call, a workflow and an agent, each run for real."""

import inspect
from dataclasses import replace
from html import escape

from agentkit import run
from agentkit.course import shop
from agentkit.course.figures import COLOURS, figure

RULE = "If the order is late, refund it."
CASES = {       # what the customer's message says -> the orders that are right to refund
    "order A123, on time": ("It is about order A123.", []),
    "order B456, six days late": ("It is about order B456.", ["B456"]),
    "Mira, who gave no order id": ("It is about Mira's order.", ["D012"]),
}


def single_call(request, tools):
    """One question, one answer. The stand-in does what a model without tools can do: it describes the work."""
    return "First I would look up the order. If it is late, I would refund it."


def fixed_chain(request, tools):
    """A workflow: look up, refund, report. The path is in the code and never changes."""
    order_id = request.split("order ")[-1].strip(".")
    order = tools["get_order"](order_id)
    refund = tools["refund_order"](order_id)
    return f"{order['item']}: refunded {refund['refunded']} rupees."


def chain_with_if(request, tools):
    """The better workflow: one branch, for what its author thought of."""
    order_id = request.split("order ")[-1].strip(".")
    if tools["get_order"](order_id)["days_late"]:
        return f"Refunded {tools['refund_order'](order_id)['refunded']} rupees."
    return "Not late, nothing refunded."


def agent(request, tools):
    """The loop: the model chooses the next tool by what the last one returned."""
    return run(shop.refund_model, tools.values(), f"{RULE} {request}", system=shop.SYSTEM).answer


SHAPES = {"single call": single_call, "workflow": fixed_chain, "workflow with an if": chain_with_if, "agent": agent}


def with_ids(model):
    """The same model with an id on each call, as a provider gives them; `run` does this for the loops of agentkit."""
    def named(messages, tools):
        reply = model(messages, tools)
        return replace(reply, tool_calls=tuple(replace(c, id=f"{len(messages)}-{n}") for n, c in enumerate(reply.tool_calls)))
    return named


def attempt(shape, case):
    """Run one shape on one case in a fresh shop: (what it said, the refunds it really made, were they the right ones)."""
    tools, refunds = shop.new_shop()
    request, right = CASES[case]
    try:
        said = SHAPES[shape](request, {t.name: t for t in tools})
    except Exception as error:
        said = f"crashed: {error}"
    return said, refunds, refunds == right


def grid():
    """The table of all shapes on all cases: what was refunded, and whether it was right, in words."""
    fig, ax = figure(7.6, 2.9, title="Only the agent is right for all three customers")
    ax.set(xlim=(0, len(CASES)), ylim=(len(SHAPES), 0), xticks=[c + 0.5 for c in range(len(CASES))], yticks=[s + 0.5 for s in range(len(SHAPES))])
    ax.set_xticklabels([c.replace(", ", ",\n") for c in CASES])
    ax.set_yticklabels(SHAPES)
    ax.grid(False)
    ax.spines[:].set_visible(False)
    ax.tick_params(length=0)
    for r, shape in enumerate(SHAPES):
        for c, case in enumerate(CASES):
            said, refunds, right = attempt(shape, case)
            ax.add_patch(_box(c, r, right))
            did = f"refunds {', '.join(refunds)}" if refunds else "crashes" if said.startswith("crashed") else "refunds nothing"
            ax.text(c + 0.5, r + 0.5, f"{'right' if right else 'WRONG'}: {did}", ha="center", va="center", fontsize=8.5,
                    weight="normal" if right else "bold")
    return fig


def _box(column, row, right):
    from matplotlib.patches import Rectangle
    return Rectangle((column + 0.03, row + 0.08), 0.94, 0.84, facecolor=COLOURS[5] if right else "#F4D9C6", edgecolor=COLOURS[0 if right else 1],
                     hatch=None if right else "///", linewidth=1, alpha=0.55)


def story(shape, case):
    """One cell of the grid as HTML: the request, the code of the shape, what it said and what it did."""
    said, refunds, right = attempt(shape, case)
    request, wanted = CASES[case]
    code = inspect.getsource(SHAPES[shape])
    rows = (("the customer", f"{RULE} {request}"), ("it says", said), ("it refunds", ", ".join(refunds) or "nothing"),
            ("right would be", ", ".join(wanted) or "nothing"), ("so it is", "right" if right else "WRONG"))
    cells = "".join(f'<tr><td style="text-align:left;padding-right:1em"><b>{name}</b></td>'
                    f'<td style="text-align:left">{escape(str(text))}</td></tr>' for name, text in rows)
    return (f'<table>{cells}</table>'
            f'<pre style="line-height:1.35;margin:0.6em 0">{escape(code)}</pre>')


def cycle():
    """The loop as a picture: who acts, in which order, and where a run can end."""
    from matplotlib.patches import FancyArrowPatch, FancyBboxPatch
    fig, ax = figure(7.4, 3.5, title="One step of an agent, and its exits")
    ax.set(xlim=(0, 10), ylim=(0, 4.3))
    ax.axis("off")
    places = {"list": (1.55, 2.1, "the message list\n(all there is to know)"), "model": (4.6, 3.35, "MODEL decides\n(reason)"),
              "harness": (7.0, 2.1, "HARNESS checks\nthe call"), "tool": (4.6, 0.85, "TOOL runs (act)")}
    for key, (x, y, text) in places.items():
        ax.add_patch(FancyBboxPatch((x - 1.15, y - 0.42), 2.3, 0.84, boxstyle="round,pad=0.06", facecolor="white", edgecolor="#222222", linewidth=1.3))
        ax.text(x, y, text, ha="center", va="center", fontsize=9)

    def arrow(a, b, text, where, **look):
        ax.add_patch(FancyArrowPatch(a, b, arrowstyle="-|>", mutation_scale=14, linewidth=1.4, **({"color": COLOURS[0]} | look)))
        ax.text(*where, text, ha="center", va="center", fontsize=8.5)

    arrow((1.9, 2.6), (3.35, 3.3), "whole list,\nevery call", (1.85, 3.2))
    arrow((5.85, 3.3), (6.9, 2.6), "a call", (6.75, 3.12))
    arrow((6.9, 1.6), (5.85, 0.9), "allowed", (6.85, 1.05))
    arrow((3.35, 0.9), (1.9, 1.6), "result\n(observe)", (1.9, 1.0))
    arrow((5.85, 3.5), (8.3, 3.75), "an answer: done", (9.15, 3.75), color=COLOURS[1], linestyle="--")
    arrow((8.25, 2.1), (8.75, 2.1), "a limit:\nstopped", (9.35, 2.1), color=COLOURS[1], linestyle="--")
    arrow((7.6, 1.6), (8.5, 0.75), "a risky call:\nwaits for a person", (8.9, 0.45), color=COLOURS[1], linestyle="--")
    return fig
