"""The picture of notebook 04's lab: what each step of a run sends, and which steps were wrong calls."""

from .figures import INK, figure, fill


def steps_figure(result, max_steps: int):
    """A bar for each model call, as high as the tokens that it was sent; the step limit is a dashed line."""
    replies, failed = result.journal.of("reply"), {e["step"] for e in result.journal.of("result") if e["error"]}
    fig, ax = figure(7.4, 3.2, xlabel="step", ylabel="tokens sent in this call", margins=(0.9, 0.25, 0.8, 0.6))
    end = "answered" if result.status == "done" else "no answer"
    ax.set_title(f"{end}: {result.status} after {len(replies)} steps, {result.usage.total_tokens:,} tokens in all",
                 pad=28, loc="left", weight="bold", size=11)
    for look, name, wrong in ((0, "a good step", False), (1, "a wrong call", True)):
        bars = [r for r in replies if (r["step"] in failed) == wrong]
        ax.bar([r["step"] for r in bars], [r["usage"]["input_tokens"] for r in bars], label=name, **fill(look))
    ax.axvline(max_steps + 0.5, color=INK, linestyle="--", label="the step limit")
    ax.grid(False, axis="x")
    ax.set(xlim=(0.3, 12.7), ylim=(0, 620), xticks=(1, 3, 6, 9, 12), yticks=(0, 200, 400, 600))
    ax.legend(loc="lower left", bbox_to_anchor=(-0.01, 0.99), ncols=3, frameon=False)
    return fig
