"""The pictures of notebook 05: what each style of error text repairs, and at what price."""

import json
from html import escape

from agentkit.intervals import wilson
from agentkit.tokens import count_tokens

from .error_styles import style
from .figures import COLOURS, INK, figure, fill, line
from .repairers import summary

COMPARE = {"bare code": (), "what, offer,\nexpected": ("what", "near", "expected")}


def styles_figure(results: dict[str, tuple], sizes: dict[str, float]):
    """Stand-ins repaired and tokens spent by each style; `results` maps it to a summary, `sizes` to the length of its texts."""
    fig, (left, right) = figure(7.6, 3.3, columns=2, sharey=True)
    names = [f"{name}\n{sizes[name]:.0f} tokens long" for name in results]
    for i, (name, (repaired, n, _, tokens)) in enumerate(zip(names, results.values())):
        low, high = (100 * p for p in wilson(repaired, n))
        rate = 100 * repaired / n
        left.barh(name, rate, xerr=[[rate - low], [high - rate]], capsize=3, ecolor=INK, **fill(i))
        left.text(106, i, f"{repaired} of {n}", va="center", color=INK)
        right.barh(name, tokens, **fill(i))
        right.text(tokens + 70, i, f"{tokens:,.0f}", va="center", color=INK)
    left.set(xlabel="repaired, %, with the 95 % interval", xlim=(0, 150), xticks=(0, 50, 100))
    right.set(xlabel="tokens of the repair, mean", xlim=(0, 3700), xticks=(0, 1000, 2000, 3000))
    left.set_title("Say what is expected:", loc="left", weight="bold", size=11)
    right.set_title("more is repaired, for less", loc="left", weight="bold", size=11)
    left.invert_yaxis()
    return fig


def styles_words(results: dict[str, tuple]) -> str:
    """The same for who cannot see it."""
    return ("Two bar charts over five error styles. Repaired: " + ", ".join(f"{name} {r[0]} of {r[1]}" for name, r in results.items())
            + ". Tokens: " + ", ".join(f"{name} {r[3]:,.0f}" for name, r in results.items()) + ".")


def curves_figure(trial, parts: tuple, kind: str, retries: int):
    """How many are repaired within 0, 1 ... further calls, by the reader's text and by two others."""
    repaired, n, _, tokens = summary(trial(parts, kind, retries))
    fig, ax = figure(7.4, 3.0, xlabel="further calls", ylabel="repaired, %", title=f"{repaired} of {n} repaired, {tokens:,.0f} tokens each",
                     margins=(0.8, 2.1, 0.45, 0.6))
    for i, (name, told) in enumerate({"your text": parts, **COMPARE}.items()):
        found = trial(told, kind, retries)
        within = [sum(a.repaired and a.calls <= k for a in found) for k in range(retries + 1)]
        ax.plot([100 * k / n for k in within], label=name, zorder=4 - i, **line(i))
    low, high = (100 * p for p in wilson(repaired, n))
    ax.vlines(retries, low, high, color=COLOURS[0], linewidth=5, alpha=0.35, label="95 % interval")
    ax.set(xlim=(-0.2, 6.3), ylim=(-4, 104), xticks=range(7), yticks=(0, 50, 100))
    ax.legend(loc="center left", bbox_to_anchor=(1.02, 0.5))
    return fig


def told_html(one, parts: tuple) -> str:
    """One stand-in's first call, and the error text that it reads."""
    text = style(parts)(one.wrong)
    call = f'<span style="font-family:monospace">{escape(json.dumps(one.wrong))}</span>'
    return (f"<p>One of them calls {call} and reads ({count_tokens(text)} tokens):</p>"
            f'<pre style="white-space:pre-wrap">{escape(text)}</pre>')
