"""What keeps a notebook healthy, one small rule each: a rule takes a Page and yields what is wrong with it.

    python -m agentkit.course.health notebooks/*.ipynb
"""

import ast
import re
import sys
from pathlib import Path

EXCUSED_TAGS = ("nbval-ignore-output", "nbval-skip")
NOT_ATTEMPTED = "not attempted yet"
# What differs from run to run or from machine to machine, and so may not stand in an output that is compared.
UNSTABLE = {
    "an address": r"\b0x[0-9a-fA-F]{6,16}\b",
    "a path of this machine": r"/tmp/|/var/folders/|/home/\w|/root/|/Users/\w|[A-Z]:\\\\?Users|AppData",
    "a random id": r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b[0-9a-f]{32}\b",
    "a timing": r"Wall time:|CPU times:|\bper loop\b|\d it/s\b",
    "a port of this run": r"(?:localhost|127\.0\.0\.1):\d{4,5}\b",
}


class Page:
    """One notebook, read the way the rules want it."""

    def __init__(self, path):
        import nbformat

        self.path = Path(path)
        self.number = self.path.name[:2]
        self.size = self.path.stat().st_size
        self.notebook = nbformat.reads(self.path.read_text(encoding="utf-8"), as_version=4)
        self.cells = self.notebook.cells
        self.prose = [cell for cell in self.cells if cell.cell_type == "markdown"]
        self.code = [cell for cell in self.cells if cell.cell_type == "code" and cell.source.strip()]

    def section(self, name):
        """The cells from the heading `name` to the next heading of its level."""
        found = []
        for cell in self.cells:
            heading = re.search(r"^##?\s+(.+?)\s*$", cell.source, re.M) if cell.cell_type == "markdown" else None
            if heading and found:
                break
            if found or heading and heading[1].lower().startswith(name.lower()):
                found.append(cell)
        return found

    def excused(self):
        """The cells whose output nbval does not compare."""
        return [cell for cell in self.code if set(EXCUSED_TAGS) & set(cell.metadata.get("tags", []))
                or re.search(r"NBVAL_(SKIP|IGNORE_OUTPUT)", cell.source)]

    def checks(self):
        """The exercises: {id: the cell that checks it}."""
        return {found[1]: cell for cell in self.code
                for found in re.finditer(r"""^check\(\s*["']([\w-]+)["']""", cell.source, re.M)}


def outputs(page, compared=False):
    """Every (cell, output); with `compared`, only those that nbval compares."""
    excused = page.excused() if compared else []
    return [(cell, output) for cell in page.code if cell not in excused for output in cell.outputs]


def texts(output):
    """The readable parts of an output."""
    data = output.get("data", {})
    return [output.get("text", "")] + [v for kind, v in data.items() if kind.startswith("text/") and isinstance(v, str)]


def words(text):
    """How many words a reader reads, tags and link targets left out."""
    return len(re.findall(r"\w[\w'.,-]*", re.sub(r"<[^>]+>|\]\([^)]*\)", " ", text)))


# How it was run

def executed_in_order(page):
    counts = [cell.execution_count for cell in page.code]
    if counts != list(range(1, len(counts) + 1)):
        yield f"not executed top to bottom: {counts}"


def hand_set_ids(page):
    for cell in page.cells:
        name = cell.get("id", "")
        if not re.fullmatch(r"[a-z0-9-]+", name) or re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f-]*)?", name):
            yield f"cell id {name!r} was not set by hand: {cell.source[:40]!r}"


def plain_metadata(page):
    if page.notebook.metadata.get("kernelspec", {}).get("name") != "python3":
        yield "the kernelspec is not python3"
    if "widgets" in page.notebook.metadata:
        yield "widget state is kept"
    if set(page.notebook.metadata.get("language_info", {})) - {"name"}:
        yield "language_info says more than the name, and so changes with the machine"
    for cell in page.cells:
        if "execution" in cell.metadata:
            yield f"cell {cell.id}: execution times are kept"


def no_errors(page):
    for cell, output in outputs(page):
        if output.output_type == "error" and "raises-exception" not in cell.metadata.get("tags", []):
            yield f"cell {cell.id}: {output.ename}"
        if output.get("name") == "stderr":
            yield f"cell {cell.id}: it writes to stderr: {output.text[:60]!r}"


def stable_outputs(page):
    for cell, output in outputs(page, compared=True):
        for what, pattern in UNSTABLE.items():
            found = re.search(pattern, "\n".join(texts(output)))
            if found:
                yield f"cell {cell.id}: {what} in the output: {found[0]!r}"


def few_excused(page):
    if len(page.excused()) > 1:
        yield f"{len(page.excused())} cells are excused from nbval, at most one may be"


# What it shows

def no_flicker(page):
    for cell in page.code:
        found = re.search(r"\binteract(?:ive|_manual)?\(|\bOutput\(|\bclear_output\b", cell.source)
        if found:
            yield f"cell {cell.id}: {found[0]} flickers; use a Lab"


def pictures_have_alt(page):
    for cell, output in outputs(page):
        if "image/png" in output.get("data", {}) and not output.metadata.get("image/png", {}).get("alt", "").strip():
            yield f"cell {cell.id}: a picture without alt text; use show(fig, alt=...)"
    for cell in page.prose:
        for alt, tag in re.findall(r"!\[(.*?)\]\(|(<img\b[^>]*>)", cell.source):
            if not alt.strip() and not re.search(r"""\balt=["'][^"']""", tag):
                yield f"cell {cell.id}: an image without alt text"


def stills_only(page):
    for cell, output in outputs(page):
        if any("widget-view" in kind for kind in output.get("data", {})):
            yield f"cell {cell.id}: a widget without its still; run agentkit.course.refresh"


def no_remote_images(page):
    remote = r"""!\[[^\]]*\]\(\s*<?https?:|<(?:img|source|video|iframe|script|link)\b[^>]*(?:src|href)=["']?(?:https?:)?//"""
    for cell in page.cells:
        shown = [cell.source] + [text for output in cell.get("outputs", []) for text in texts(output)]
        if any(re.search(remote, text) for text in shown):
            yield f"cell {cell.id}: something is loaded from elsewhere"


def modest_size(page):
    if page.size >= 300_000:
        yield f"{page.size / 1000:.0f} KB, at most 300"
    for cell in page.code:
        lines = len(cell.source.splitlines())
        if lines > 25:
            yield f"cell {cell.id}: {lines} lines of code, at most 25"


def modest_words(page):
    total = sum(words(cell.source) for cell in page.prose)
    if not 600 <= total <= 2200:
        yield f"{total} words, not between 600 and 2200"
    for cell in page.prose:
        folded = re.findall(r"<details>.*?</details>", cell.source, re.S)
        seen = re.sub(r"<details>.*?</details>", "", cell.source, flags=re.S)
        for count, limit in [(words(seen), 170), *((words(text), 250) for text in folded)]:
            if count > limit:
                yield f"cell {cell.id}: {count} words in one piece, at most {limit}"


# Its form

def opening(page):
    first = page.cells[0] if page.cells else None
    if first is None or first.cell_type != "markdown" or not re.match(r"# \S", first.source):
        yield "the first cell is not the title"
        return
    body = first.source.partition("\n")[2]
    for what, pattern in (("the minutes", r"\d+ min"), ("what it stands on", r"(?i)stands? on")):
        if not re.search(pattern, body):
            yield f"the first cell does not say {what}"
    if words(body) < 15:
        yield "the first cell does not say what the reader can say afterwards"


def exercises(page):
    section = page.section("Exercises")
    if not section:
        yield "no section 'Exercises'"
        return
    checks = page.checks()
    if not 2 <= len(checks) <= 4:
        yield f"{len(checks)} exercises, not 2 to 4"
    source = "\n".join(cell.source for cell in page.code)
    for name, cell in checks.items():
        if not name.startswith(f"{page.number}-"):
            yield f"exercise {name} is not numbered {page.number}-..."
        if cell not in section:
            yield f"exercise {name} stands outside the section 'Exercises'"
        for call in ("hint", "solution"):
            if not re.search(rf"""^{call}\(\s*["']{re.escape(name)}["']""", source, re.M):
                yield f"exercise {name} has no {call}({name!r})"
        if not any(NOT_ATTEMPTED in text for output in cell.outputs for text in texts(output)):
            yield f"exercise {name}: the stub does not say {NOT_ATTEMPTED!r}"


def stubs_break_nothing(page):
    """A stub that takes the name of a function breaks every lab above it that calls this function."""
    checks = page.checks().values()
    taken = {name for cell in page.code if cell not in checks for name in _defined(cell)}
    for cell in checks:
        for name in _defined(cell) & taken:
            yield f"cell {cell.id}: the stub takes the name {name!r} from a function of the notebook"


def _defined(cell):
    """The functions and classes that a cell defines."""
    try:
        return {node.name for node in ast.parse(cell.source).body if isinstance(node, (ast.FunctionDef, ast.ClassDef))}
    except SyntaxError:  # a magic, say
        return set()


def interview(page):
    section = "\n".join(cell.source for cell in page.section("In an interview"))
    if not section:
        yield "no section 'In an interview'"
    elif not re.search(r"<details>\s*<summary>.+?</summary>.+?</details>", section, re.S):
        yield "'In an interview' is not folded: <details><summary>the question</summary> ... </details>"


def ending(page):
    last = page.section("Where to go next")
    if not last or last[-1] is not page.cells[-1]:
        yield "it does not end with 'Where to go next'"


def links_resolve(page):
    for cell in page.prose:
        targets = re.findall(r"""\]\(\s*<?([^)>\s]+)|href=["']([^"']+)""", cell.source)
        for target in filter(None, (a or b for a, b in targets)):
            if re.match(r"[a-z]+:", target):
                continue
            name, _, anchor = target.partition("#")
            file = page.path.parent / name if name else page.path
            if not file.exists():
                yield f"cell {cell.id}: a link to {name}, which is not there"
            elif anchor and file.suffix == ".ipynb" and anchor not in headings(file):
                yield f"cell {cell.id}: a link to the heading #{anchor}, which is not in {file.name}"


def headings(path):
    """The anchors that JupyterLab gives to the headings of a notebook."""
    return {found.strip().replace(" ", "-") for cell in Page(path).prose
            for found in re.findall(r"^#{1,6}\s+(.+)$", cell.source, re.M)}


RULES = (executed_in_order, hand_set_ids, plain_metadata, no_errors, stable_outputs, few_excused, no_flicker,
         pictures_have_alt, stills_only, no_remote_images, modest_size, modest_words, opening, exercises,
         stubs_break_nothing, interview, ending, links_resolve)


def problems(path):
    """Everything that is wrong with the notebook at `path`, one line each, the rule's name first."""
    page = Page(path)
    return [f"{rule.__name__}: {problem}" for rule in RULES for problem in rule(page)]


def main(paths):
    """Print the problems of each notebook; return 1 if there is one."""
    found = [f"{Path(path).name}: {problem}" for path in paths for problem in problems(path)]
    print("\n".join(found) or f"{len(paths)} healthy notebooks")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
