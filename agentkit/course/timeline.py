"""A run on the clock: a row for each step, with the model's time, each tool's time, and the tokens sent beside it."""

from agentkit.journal import Journal

from .figures import INK, QUIET, figure, fill

_MODEL, _TOOL, _ERROR = 0, 2, 1     # how their bars look
_MOST = 24                          # rows; of a longer run the last ones are drawn
_ROW = 0.34                         # inches


def timeline(journal: Journal, *, step: int | None = None, seconds: float | None = None, tokens: int | None = None, steps: int | None = None):
    """The picture of a run, read from its record alone: what took how long, and what each model call was sent.

    `step` is pointed at. `seconds`, `tokens` and `steps` fix the axes, so that the pictures of several runs compare.
    """
    rows = _rows(journal)[-_MOST:]
    end = max([at + long for row in rows for *_, at, long in row["bars"]], default=0)
    top = max([row["tokens"] + row["written"] for row in rows], default=0)
    shown = min(_MOST, steps or len(rows) or 1)
    fig, (left, right) = figure(7.9, shown * _ROW + 1.28, columns=2, margins=(0.8, 0.3, 0.76, 0.52),
                                gridspec_kw={"width_ratios": (5, 2), "wspace": 0.06})
    fig.text(0.02, 1 - 0.15 / fig.get_figheight(), _title(rows, end), weight="bold", size=11, va="top", color=INK)
    for y, row in enumerate(rows):
        _draw_bars(left, y, row["bars"], (seconds or end or 1) * 1.0)
        right.barh(y, row["tokens"], 0.62, **fill(5))
        right.barh(y, row["written"], 0.62, left=row["tokens"], **fill(4))
        right.text(row["tokens"] + row["written"], y, f" {row['tokens']:,}", va="center", size=8.5, color=INK)
        if row["step"] == step:
            for ax in (left, right):
                ax.axhspan(y - 0.48, y + 0.48, facecolor="none", edgecolor=INK, linewidth=1.4, linestyle="--")
    names = [("▶ " if row["step"] == step else "") + f"step {row['step']}" for row in rows]
    left.set(xlim=(0, (seconds or end or 1) * 1.02), ylim=(shown - 0.4, -0.6), yticks=range(len(names)), xlabel="seconds since the start")
    left.set_yticklabels(names)
    right.set(xlim=(0, (tokens or top or 1) * 1.3), ylim=(shown - 0.4, -0.6), yticks=[], xlabel="tokens sent, as reported")
    right.xaxis.set_major_formatter("{x:,.0f}")
    right.locator_params(axis="x", nbins=4)
    right.spines["left"].set_visible(False)
    for ax in (left, right):
        ax.grid(False, axis="y")
    looks = [("the model", _MODEL), ("a tool", _TOOL), ("a tool, error", _ERROR), ("tokens in", 5), ("tokens out", 4)]
    fig.legend([left.barh(-9, 0, **fill(i)) for _, i in looks], [name for name, _ in looks], ncols=5, fontsize=8.5, frameon=False,
               loc="upper left", bbox_to_anchor=(0.01, 1 - 0.38 / fig.get_figheight()), columnspacing=1.2, handlelength=1.6)
    return fig


def _rows(journal) -> list[dict]:
    """For each step its bars (name, look, lane, lanes, start, length) and the tokens of its model call."""
    rows: dict[int, dict] = {}
    for e in journal.of("reply", "result"):
        row = rows.setdefault(e["step"], {"step": e["step"], "bars": [], "tokens": 0, "written": 0})
        if e["kind"] == "reply":
            row["tokens"] = e["usage"]["input_tokens"] + e["usage"].get("cached_tokens", 0)
            row["written"] = e["usage"]["output_tokens"]
            row["bars"].append(("", _MODEL, e["elapsed"] - e["seconds"], e["seconds"]))
        elif e["ran"]:
            row["bars"].append((e["name"], _ERROR if e["error"] else _TOOL, e["elapsed"] - e["seconds"], e["seconds"]))
    return list(rows.values())


def _draw_bars(ax, y, bars, width):
    """One row: calls that ran at once stand below each other, and a name stands where there is room for it."""
    tools = [bar for bar in bars if bar[0]]
    lanes = _lanes(tools)
    many = max(lanes, default=0) + 1
    for name, look, start, long in bars:
        if not name:
            ax.barh(y, long, 0.62, left=start, **fill(look))
    for (name, look, start, long), lane in zip(tools, lanes):
        high = 0.62 / many
        ax.barh(y - 0.31 + high * (lane + 0.5), long, high, left=start, **fill(look))
    if tools:
        said = " + ".join(dict.fromkeys(f"{n} ×{k}" if (k := sum(b[0] == n for b in tools)) > 1 else n for n, *_ in tools))
        last, first = max(at + long for *_, at, long in tools), min(at for *_, at, long in bars)
        room = 0.015 * width * len(said)    # about what the letters take
        if last + room < width or first < room:
            ax.text(last, y, f" {said}", va="center", size=8.5, color=INK)
        else:
            ax.text(first, y, f"{said} ", va="center", ha="right", size=8.5, color=INK)


def _lanes(bars) -> list[int]:
    """The lane of each bar: the first one that is free when the bar begins."""
    free: list[float] = []
    found = []
    for *_, start, long in bars:
        lane = next((i for i, until in enumerate(free) if until <= start + 1e-9), len(free))
        free[lane:lane + 1] = [start + long]
        found.append(lane)
    return found


def _title(rows, end) -> str:
    model = sum(long for row in rows for name, _, _, long in row["bars"] if not name)
    tools = sum(long for row in rows for name, _, _, long in row["bars"] if name)
    return f"{len(rows)} steps, {end:.1f} s: the model {model:.1f} s, the tools {tools:.1f} s"
