"""What check() answers, as plain text and as HTML that is readable in any theme."""

from __future__ import annotations

import html
import re
from dataclasses import dataclass
from typing import NamedTuple

NOT_ATTEMPTED, PASSED, FAILED = "not attempted yet", "passed", "failed"
_ICONS = {NOT_ATTEMPTED: "\N{WHITE CIRCLE}", PASSED: "\N{CHECK MARK}", FAILED: "\N{BALLOT X}"}
_COLOURS = {NOT_ATTEMPTED: "#8A8A8A", PASSED: "#009E73", FAILED: "#D55E00"}     # plain: a page that was not run drops var(...)


class Row(NamedTuple):
    """One line of a verdict: a label (may be empty), a text, and whether the text is code."""

    label: str
    text: str
    code: bool = False


@dataclass(frozen=True)
class Verdict:
    """The outcome of a check. A notebook shows it as the value of the cell."""

    status: str
    """One of "not attempted yet", "passed", "failed"."""
    title: str
    rows: tuple[Row, ...] = ()
    cause: str = ""
    """The likely cause of a failure, in words."""

    @property
    def passed(self) -> bool:
        return self.status == PASSED

    @property
    def message(self) -> str:
        """All rows as plain text."""
        width = max((len(row.label) for row in self._all_rows() if row.label), default=0)
        lines = []
        for label, text, _ in self._all_rows():
            first = f"  {label:<{width}}  " if label else "  "
            lines.append(first + clean(text).replace("\n", "\n" + " " * len(first)))
        return "\n".join(lines)

    def _all_rows(self):
        cause = (Row("likely cause", self.cause),) if self.cause else ()
        last = tuple(row for row in self.rows if row.label in ("printed", "note"))
        return (*(row for row in self.rows if row not in last), *cause, *last)

    def __repr__(self):
        return f"{self.title}: {self.status}" + (f"\n{self.message}" if self.rows or self.cause else "")

    def _repr_html_(self):
        rows = "".join(_row_html(*row) for row in self._all_rows())
        return (
            f'<div style="border-left:4px solid {_COLOURS[self.status]};padding:2px 0 2px 12px">'
            f'<div><span aria-hidden="true">{_ICONS[self.status]}</span> <b>{self.status}</b>: {rich(self.title)}</div>'
            f"{rows}</div>"
        )


def _row_html(label, text, code):
    body = f'<code style="{_CODE}">{escape(text)}</code>' if code else rich(text)
    name = f'<span style="flex:0 0 7em;opacity:0.8">{escape(label)}</span>' if label else ""
    return f'<div style="display:flex;gap:0.8em;margin-top:3px">{name}<span style="{_WRAP}">{body}</span></div>'


_WRAP = "white-space:pre-wrap;overflow-wrap:anywhere;min-width:0"
_CODE = f"{_WRAP};background:none;color:inherit;padding:0"


def folded(summary: str, body: str) -> str:
    """HTML that shows `summary` and opens `body` (HTML) on a click or with the keyboard."""
    return (
        f'<details style="margin:4px 0"><summary style="cursor:pointer">{escape(summary)}</summary>'
        f'<div style="margin:4px 0 4px 1.2em">{body}</div></details>'
    )


def code_block(source: str) -> str:
    style = "margin:0;padding:0;background:none;color:inherit;white-space:pre;overflow-x:auto"
    return f'<pre style="{style}"><code style="background:none;color:inherit;padding:0">{escape(source)}</code></pre>'


def rich(text: str) -> str:
    """Escaped HTML in which `code` between backticks is set as code."""
    style = "background:none;color:inherit"
    return re.sub(r"`([^`\n]+)`", rf'<code style="{style}">\1</code>', escape(text))


def escape(text: str) -> str:
    return html.escape(clean(text), quote=False)


def clean(text: str) -> str:
    """`text` without lone surrogates and control characters, which a notebook file or its page cannot hold."""
    text = text.encode("utf-8", "replace").decode("utf-8")
    return re.sub(r"[\x00-\x08\x0b-\x1f\x7f]", "\N{REPLACEMENT CHARACTER}", text)
