"""The exercises of notebook 12, memory."""

import atexit
import functools
import os
import shutil
import tempfile
from pathlib import Path

from agentkit.messages import check_messages

from ..exercise import Case, Exercise, Trap

TITLE = "Memory"

# ---- 12-1: whole steps -----------------------------------------------------------------------------------------------------

_STEPS_STUB = '''
def last_steps(messages, keep):
    """The list with all but the last `keep` steps left out.

    messages[0] is the system's, messages[1] the task. Both stay, and so does every other user
    message, in its place. A step is an assistant message and the tool messages after it: it stays
    whole, or not at all.
    """
    ...
'''
_STEPS = '''
def last_steps(messages, keep):
    starts = [i for i, m in enumerate(messages) if m["role"] == "assistant"]
    first = starts[-keep] if keep <= len(starts) else 2
    return [m for i, m in enumerate(messages) if i >= first or m["role"] in ("system", "user")]
'''


def _step(n, results):
    ids = [f"call_{n}_{i}" for i in range(len(results))]
    calls = [{"id": id, "type": "function", "function": {"name": "read", "arguments": "{}"}} for id in ids]
    return [{"role": "assistant", "content": None, "tool_calls": calls}, *({"role": "tool", "tool_call_id": id, "content": r} for id, r in zip(ids, results))]


def _user(text):
    return {"role": "user", "content": text}


def _list(*parts):
    return [{"role": "system", "content": "Never refund more than 5,000."}, _user("Read the tickets."), *(m for p in parts for m in (p if isinstance(p, list) else [p]))]


def _steps_case(messages, keep, because):
    scope = {}
    exec(_STEPS, scope)
    right = scope["last_steps"](messages, keep)

    def test(result, args):
        if result == right:
            return None
        try:
            check_messages(result)
        except Exception as error:
            return f"a list that a strict provider takes; it says: {error}"
        return f"{len(right)} messages, with the roles {', '.join(m['role'] for m in right)}"

    return Case((messages, keep), test=test, because=because)


def _steps_cases(rng):
    def one(n):
        return _step(n, [f"ticket {n}: {rng.randrange(1000, 9999)}"])

    def two(n):
        return _step(n, [f"ticket {n}: {rng.randrange(1000, 9999)}", f"ticket {n}b: {rng.randrange(1000, 9999)}"])

    later = _user(f"From now on skip ticket {rng.randrange(10, 99)}.")
    return [
        _steps_case(_list(*(one(n) for n in range(5))), 2, "the head and the last two steps"),
        _steps_case(_list(*(two(n) for n in range(4))), 1, "a step with two results is three messages, and goes or stays as one"),
        _steps_case(_list(one(0), two(1), one(2), two(3)), 2, "steps differ in size: count steps, not messages"),
        _steps_case(_list(one(0), later, one(1), two(2)), 1, "what the user wrote later is a rule, too: it stays, though the steps around it go"),
        _steps_case(_list(one(0), one(1), later), 1, "the list may end with the user; the last step is before that"),
        _steps_case(_list(one(0), two(1)), 5, "fewer steps than `keep`: nothing goes"),
        _steps_case(_list(), 3, "no steps yet: system and task"),
    ]


# ---- 12-2: inside the folder -------------------------------------------------------------------------------------------------

_INSIDE_STUB = '''
from pathlib import Path

def inside(folder, path):
    """True when the text `path`, taken from `folder`, ends inside of `folder` on the real disk.

    `folder` is a Path that exists. The file need not exist yet. The folder itself is no file in it.
    """
    ...
'''
_INSIDE = '''
from pathlib import Path

def inside(folder, path):
    folder = Path(folder).resolve()
    return folder in (folder / path).resolve().parents
'''


@functools.lru_cache(maxsize=None)
def _disk() -> Path:
    """A folder `memory` with a note in it, neighbours outside, and links where the machine has them."""
    root = Path(tempfile.mkdtemp(prefix="agentkit-"))
    atexit.register(shutil.rmtree, root, ignore_errors=True)
    for name in ("memory/people", "memory-of-others", "secrets"):
        (root / name).mkdir(parents=True)
    for name in ("memory/notes.md", "memory-of-others/notes.md", "secrets/key.txt"):
        (root / name).write_text("x", encoding="utf-8")
    try:
        os.symlink(root / "secrets", root / "memory" / "out", target_is_directory=True)
        os.symlink(root / "memory" / "people", root / "memory" / "friends", target_is_directory=True)
    except (OSError, NotImplementedError):      # Windows without the right to make links
        pass
    return root


def _inside_case(path, expect, because):
    return Case(lambda: (_disk() / "memory", path(_disk()) if callable(path) else path), expect, because=because)


def _inside_cases(rng):
    name = f"note{rng.randrange(10, 99)}.md"
    cases = [
        _inside_case("notes.md", True, "a plain name"),
        _inside_case(f"people/{name}", True, "a file that does not exist yet is inside, too"),
        _inside_case("../secrets/key.txt", False, "`..` leaves the folder"),
        _inside_case(lambda root: str(root / "secrets" / "key.txt"), False, "an absolute path: folder / path is then the path alone"),
        _inside_case("../memory-of-others/notes.md", False, "the neighbour's name only begins with the same letters: compare folders, not text"),
        _inside_case("people/../notes.md", True, "`..` that stays inside is harmless on the disk"),
        _inside_case("notes..old.md", True, "two dots in a name are no `..`"),
        _inside_case(".", False, "the folder itself is no file in it"),
    ]
    if (_disk() / "memory" / "out").is_symlink():
        cases += [_inside_case("out/key.txt", False, "a link in the path leads out: the text of the path looks harmless, the disk decides"),
                  _inside_case(f"friends/{name}", True, "this link stays inside")]
    return cases


# ---- 12-3, 12-4 --------------------------------------------------------------------------------------------------------------

def _is(letter):
    return lambda value, args: str(value).strip().lower() == letter


def _numbers(value):
    try:
        return {int(n) for n in value}
    except (TypeError, ValueError):
        return None


_RIGHT = {0, 1, 6, 9, 10, 11}

EXERCISES = [
    Exercise(
        id="12-1", title="Cut by whole steps", difficulty=2, minutes=8, name="last_steps", stub=_STEPS_STUB, solution=_STEPS, cases=_steps_cases, pure=True,
        task="Write `last_steps(messages, keep)`: the head and the user stay, old steps go whole.",
        hints=["Where does a step begin? Find all those places first.", "The first message that stays is the beginning of the step number -`keep`. What if there are fewer steps?",
               "One pass over the list is enough: a message stays if it is late enough, or if its role is never dropped."],
        traps=[
            Trap("def last_steps(messages, keep):\n    return messages[:2] + messages[2:][-keep:]\n",
                 "You keep the last messages, not the last steps. A result is left without its call, and the provider refuses the list."),
            Trap("def last_steps(messages, keep):\n    return messages[:2] + messages[2:][-2 * keep:]\n",
                 "Two messages a step is right only while each reply has one call. With two calls the cut goes through a step."),
            Trap('def last_steps(messages, keep):\n    starts = [i for i, m in enumerate(messages) if m["role"] == "assistant"]\n'
                 '    first = starts[-keep] if keep <= len(starts) else 2\n    return messages[:2] + messages[first:]\n',
                 "What the user wrote later is gone with the steps around it. A follow-up is a rule like the task."),
            Trap('def last_steps(messages, keep):\n    starts = [i for i, m in enumerate(messages) if m["role"] == "assistant"]\n    first = starts[-keep]\n'
                 '    return [m for i, m in enumerate(messages) if i >= first or m["role"] in ("system", "user")]\n',
                 "With fewer steps than `keep` there is no step number -`keep`. Then nothing has to go."),
            Trap('def last_steps(messages, keep):\n    starts = [i for i, m in enumerate(messages) if m["role"] == "assistant"]\n    first = starts[-keep] if keep <= len(starts) else 2\n'
                 '    return messages[first:]\n', "System and task are gone: the rule of turn 1, and what the work is about."),
            Trap('def last_steps(messages, keep):\n    starts = [i for i, m in enumerate(messages) if m["role"] == "assistant"]\n    first = starts[-keep] if keep <= len(starts) else 2\n'
                 '    return [m for m in messages[:first] if m["role"] in ("system", "user")] + [m for m in messages[first:] if m["role"] != "user"]\n',
                 "A user message among the steps that stay is missing. It keeps its place."),
        ],
        after="Count tokens in place of steps and put a note where the old steps were, and you have agentkit's Compaction."),
    Exercise(
        id="12-2", title="Inside the folder", difficulty=3, minutes=6, name="inside", stub=_INSIDE_STUB, solution=_INSIDE, cases=_inside_cases,
        task="Write `inside(folder, path)`. The text of a path says little; ask the disk.",
        hints=["`Path.resolve()` follows every link and takes out every `..`. Which of the two paths needs it?", "Both. Then ask whether one is among the `.parents` of the other."],
        traps=[
            Trap('def inside(folder, path):\n    return ".." not in path\n', "Looking for two dots refuses `notes..old.md` and lets absolute paths and links through."),
            Trap("def inside(folder, path):\n    return str((folder / path).resolve()).startswith(str(folder.resolve()))\n",
                 "As text, `memory-of-others` begins with `memory`. Compare folders: `.parents`, or `is_relative_to`."),
            Trap("import os\nfrom pathlib import Path\ndef inside(folder, path):\n    return folder in Path(os.path.normpath(folder / path)).parents\n",
                 "normpath works on the text. A link in the path leads out, and only the disk knows: resolve()."),
            Trap("def inside(folder, path):\n    found = (folder / path).resolve()\n    return found.is_file() and folder.resolve() in found.parents\n",
                 "A file that is about to be written does not exist yet, and is inside all the same."),
            Trap("def inside(folder, path):\n    return folder.resolve() in (folder / str(path).lstrip('/')).resolve().parents\n",
                 "You bend an absolute path until it fits. It was refused for a reason: the model meant another place, so tell it."),
            Trap("def inside(folder, path):\n    found, base = (folder / path).resolve(), folder.resolve()\n    return found == base or base in found.parents\n",
                 "The folder itself passes. Reading or replacing a folder as if it were a file goes wrong one line later."),
        ],
        after="MemoryFiles is stricter still: it takes plain names only, so `people/../notes.md` is refused, and names that Windows keeps for itself as well."),
    Exercise(
        id="12-3", title="Find the bug in this trace", difficulty=2, minutes=4, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "b"\n', value=True,
        cases=[Case(test=lambda value, args: None if _is("b")(value, args) else "one letter, the cause: compare the first two lines of what is sent at step 9 and at step 10")],
        task="A support agent answers in the wrong language after step 10, and offers help with something that nobody asked for. What is wrong?",
        hints=["Which message of step 9 has no counterpart in step 10?", "The code that cut this list keeps the system message, the newest user message and the last steps. Which message is the task?"],
        traps=[
            Trap('answer = "a"\n', "The calls and results that are left belong together: a strict provider takes this list.", when=_is("a")),
            Trap('answer = "c"\n', "The note is honest about what it is, and stands in a tool's message. It is not what the agent obeys.", when=_is("c")),
            Trap('answer = "d"\n', "Less is sent at step 10 than at step 9. The window is not the problem.", when=_is("d")),
        ],
        after="The first user message is the task. A cut that keeps the newest user message only drops it, and the list stays valid: no provider complains, and no test "
              "that only looks at the shape sees it."),
    Exercise(
        id="12-4", title="What would you keep?", difficulty=2, minutes=4, name="answer", stub="answer = ...      # the numbers of the messages, such as {0, 3, 4}\n",
        solution="answer = {0, 1, 6, 9, 10, 11}\n", value=True,
        cases=[Case(test=lambda value, args: None if _numbers(value) == _RIGHT else
                    "a set of six numbers: all that must be sent word for word. The rest may go, or be a line in a note")],
        task="The list below no longer fits. One step may stay. Which messages must go into the next call word for word?",
        hints=["Three kinds of text are never shortened: whose?", "The last step has two results. Can one of them go?"],
        traps=[
            Trap("answer = {0, 1, 9, 10, 11}\n", "Message 6 is the user's. It changes the task, so it is a rule from then on.", when=lambda v, a: _numbers(v) == _RIGHT - {6}),
            Trap("answer = {0, 1, 6, 9, 11}\n", "A call without its result: the provider refuses the list. A step stays whole.",
                 when=lambda v, a: _numbers(v) in (_RIGHT - {10}, _RIGHT - {11}, _RIGHT - {10, 11})),
            Trap("answer = {0, 1, 2, 3, 6, 9, 10, 11}\n", "More than has to stay. What was read long ago can be read again; a line in the note says that it was.",
                 when=lambda v, a: (_numbers(v) or set()) > _RIGHT),
            Trap("answer = {6, 9, 10, 11}\n", "System and task are the oldest messages, and the last that may go.", when=lambda v, a: _numbers(v) is not None and not {0, 1} <= _numbers(v)),
        ],
        after="The payment in 7 and 8 need not stay word for word, but the note must say that it was made, or it is made twice."),
]
