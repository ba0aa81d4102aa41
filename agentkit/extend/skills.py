"""Skills: a folder of Markdown texts. The model sees one line of each, and loads a text when it needs it.

The shape is the one that agent tools share (agentskills.io): `<name>/SKILL.md`, or a plain `<name>.md`, which opens with
YAML front matter between two lines of `---`, with a `name` and a `description`; other keys are left alone.

A skill is an instruction, not data: whoever can write in the folder tells your agent what to do, as if they wrote in its
system text. A tool result is data and is not obeyed. So take folders only from people whom you would let write there.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from pathlib import Path

from ..messages import clean
from ..tools import MAX_RESULT_CHARS, Tool, ToolResult, describe, show

MAX_LINE = 1024         # characters of a description; every one of them is sent with every model call
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{0,63}")
_PROMPT = """You have skills: written instructions for certain kinds of task. Before you start on a task that one of them fits, load its text with load_skill and follow it.
{}"""


@dataclass(frozen=True)
class Skill:
    """One text, as it was read."""

    name: str
    description: str    # one line
    text: str           # what stands below the front matter
    path: Path


class Skills:
    """The skills of one folder. They are read once, here: what changes in the folder later does not reach a run.

    What is broken is left out and said in `.problems`, a text for each file; the others load. Raises ValueError where
    there is no such folder. `max_chars` is the longest text that is taken, at most what fits into one tool result.
    """

    def __init__(self, folder, *, max_chars: int = MAX_RESULT_CHARS):
        self.folder = Path(folder)
        if not self.folder.is_dir():
            raise ValueError(f"there is no folder of skills at {str(folder)!r}")
        if isinstance(max_chars, bool) or not isinstance(max_chars, int) or not 0 < max_chars <= MAX_RESULT_CHARS:
            raise ValueError(f"max_chars must be 1 to {MAX_RESULT_CHARS:,}, where a tool result is cut, not {max_chars!r:.40}")
        self.problems: list[str] = []
        self._skills: dict[str, Skill] = {}
        for skill in self._read_all(max_chars):
            self._skills[skill.name] = skill

    def __iter__(self):
        return iter(self._skills.values())

    def __len__(self):
        return len(self._skills)

    def __contains__(self, name):
        return name in self._skills

    def __getitem__(self, name) -> Skill:
        return self._skills[name]

    @property
    def names(self) -> list[str]:
        return list(self._skills)

    @property
    def lines(self) -> list[str]:
        """What is always in the context: a line for each skill."""
        return [f"- {s.name}: {s.description}" for s in self]

    def prompt(self) -> str:
        """The lines with a sentence that says what they are for: a part of the system text. Empty where there are none."""
        return _PROMPT.format("\n".join(self.lines)) if self._skills else ""

    @property
    def tool(self) -> Tool:
        """load_skill(name): the text of one skill. A name is looked up, never made into a path."""
        return Tool("load_skill", "Load the full text of one of your skills.",
                    {"properties": {"name": {"type": "string", "description": "as it stands in the list of skills"}}, "required": ["name"]},
                    self.load, parallel=True, idempotent=True)

    def load(self, name: str) -> ToolResult:
        """The text of a skill, or what the model should have asked for."""
        if (skill := self._skills.get(name)) is not None:
            return ToolResult(skill.text)
        near = next(iter(difflib.get_close_matches(name[:64], self._skills, 1)), None)
        return ToolResult(f"ERROR: there is no skill {show(name)}." + (f" Did you mean {near}?" if near else "")
                          + f" Skills: {', '.join(self._skills) or 'none'}.", error=True)

    # ---- reading -----------------------------------------------------------------------------------------------------

    def _read_all(self, max_chars: int) -> list[Skill]:
        """The skills of the folder, by name; neither of two with the same name, because nobody can know which was meant."""
        found: dict[str, list[Skill]] = {}
        for path in self._files():
            try:
                skill = read_skill(path, self.folder, max_chars)
            except Exception as error:      # files are other people's work: one that is broken costs one skill
                self.problems.append(f"{self._short(path)}: {error if isinstance(error, ValueError) else describe(error)}")
            else:
                found.setdefault(skill.name, []).append(skill)
        for name, same in found.items():
            if len(same) > 1:
                self.problems.append(f"{' and '.join(self._short(s.path) for s in same)}: both are called {name!r}, so neither is loaded; rename one")
        return [same[0] for _, same in sorted(found.items()) if len(same) == 1]

    def _files(self) -> list[Path]:
        entries = [p for p in sorted(self.folder.iterdir()) if not p.name.startswith(".")]
        plain = [p for p in entries if p.suffix.lower() == ".md" and p.stem.lower() != "readme" and not p.is_dir()]
        return plain + [p / "SKILL.md" for p in entries if p.is_dir() and (p / "SKILL.md").exists()]

    def _short(self, path: Path) -> str:
        return clean(path.relative_to(self.folder).as_posix())


def read_skill(path: Path, folder: Path, max_chars: int = MAX_RESULT_CHARS) -> Skill:
    """One skill from its file. Raises ValueError that says what is wrong with it."""
    import yaml     # here, because importing agentkit needs nothing installed

    if not path.resolve().is_relative_to(folder.resolve()):
        raise ValueError("it is a link that leads out of the folder, so it is not read")
    if not path.is_file():
        raise ValueError("it is no file")
    if (size := path.stat().st_size) > 4 * (max_chars + 8_000):     # a character takes four bytes at most
        raise ValueError(f"it has {size:,} bytes, and the longest text that is taken has {max_chars:,} characters")
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text; save it as UTF-8") from None
    parts = re.match(r"---[ \t]*\n(.*?\n)?---[ \t]*(?:\n|\Z)(.*)", text, re.DOTALL)
    if parts is None:
        raise ValueError("it does not open with front matter: a line ---, name: and description:, and a line --- again")
    try:
        facts = yaml.safe_load(parts[1] or "")
    except Exception as error:      # YAML's own errors, a depth that is too deep, a date that is none
        raise ValueError(f"the front matter is not valid YAML ({' '.join(describe(error).split())})") from None
    if not isinstance(facts, dict):
        raise ValueError("the front matter must be lines of key: value")
    body = parts[2].strip()
    if not body:
        raise ValueError("there is no text below the front matter")
    if len(body) > max_chars:
        raise ValueError(f"its text has {len(body):,} characters and would be cut at {max_chars:,}; move a part of it to a file of its own")
    return Skill(_fact(facts, "name"), _fact(facts, "description"), body, path)


def _fact(facts: dict, key: str) -> str:
    value = facts.get(key)
    if not isinstance(value, str) or not value.strip():
        raise ValueError(f"the front matter has no {key}" if value is None else f"{key} must be a text, not a {type(value).__name__}; put it in quotes")
    value = " ".join(clean(value).split())      # one line, whatever YAML made of it
    if key == "name" and not _NAME.fullmatch(value):
        raise ValueError(f"the name must be 1 to 64 letters, digits, _ or -, not {show(value)}")
    if len(value) > MAX_LINE:
        raise ValueError(f"the {key} has {len(value):,} characters, and {MAX_LINE:,} are the most: it is sent with every model call")
    return value
