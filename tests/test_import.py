"""What an import costs, and which way imports point."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import agentkit

PACKAGE = Path(agentkit.__file__).parent
ROOT = PACKAGE.parent
FILES = [p.relative_to(PACKAGE) for p in PACKAGE.rglob("*.py")]
HARNESS = sorted(p.as_posix() for p in FILES if p.name != "__main__.py" and p.parts[0] != "course")
NAMES = {"run", "tool", "Tool", "Registry", "Limits", "Price", "Reply", "ToolCall", "Usage", "ScriptedModel", "TextModel", "call", "Journal",
         "JournalError", "RunTaken", "resume", "replay"}


def python(code, *flags, cwd=ROOT):
    return subprocess.run([sys.executable, *flags, "-c", code], cwd=cwd, capture_output=True, text=True, timeout=60)


def imports_of(path):
    """The parts of agentkit that a module names in an import, anywhere in its source."""
    found = set()
    for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.level or node.module.split(".")[0] == "agentkit"):
            found |= {word for word in (node.module or "").split(".") if word != "agentkit"} or {a.name for a in node.names}
        elif isinstance(node, ast.Import):
            found |= {word for a in node.names if a.name.split(".")[0] == "agentkit" for word in a.name.split(".")[1:] or ["agentkit"]}
    return found - {""}


def test_an_import_loads_nothing_but_itself():
    done = python("import sys; before = set(sys.modules); import agentkit; print(sorted(set(sys.modules) - before))")
    assert done.stdout.strip() == "['agentkit']", done.stderr


@pytest.mark.parametrize("name", agentkit.__all__)
def test_a_name_loads_no_third_party_package(name):
    third_party = "{m.split('.')[0] for m in sys.modules} - sys.stdlib_module_names - {'agentkit', '__main__'}"
    done = python(f"import sys, agentkit; agentkit.{name}; print({third_party})", "-S")
    assert done.stdout.strip() == "set()", done.stdout + done.stderr


def test_the_public_names_are_there():
    assert NAMES <= set(agentkit.__all__) <= set(dir(agentkit))
    for name in agentkit.__all__:
        assert getattr(agentkit, name).__name__ == name


def test_a_name_that_is_not_there_says_which_are():
    with pytest.raises(AttributeError, match="agentkit has no 'rum'; it has .*run"):
        agentkit.rum
    assert not hasattr(agentkit, "__wrapped__")


def test_the_loop_stands_on_a_few_modules():
    assert imports_of("loop.py") <= {"messages", "tools", "models", "limits", "journal", "state", "gates"}


@pytest.mark.parametrize("path", [p for p in HARNESS if p.startswith("patterns/")])
def test_a_pattern_uses_nothing_but_public_names(path):
    for node in ast.walk(ast.parse((PACKAGE / path).read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.level:
            assert node.level == 1 and f"patterns/{node.module}.py" in HARNESS, ast.unparse(node)
        elif isinstance(node, ast.ImportFrom) and node.module.split(".")[0] == "agentkit":
            assert node.module == "agentkit" and {a.name for a in node.names} <= set(agentkit.__all__), ast.unparse(node)
        elif isinstance(node, ast.Import):
            assert not any(a.name.split(".")[0] == "agentkit" for a in node.names), ast.unparse(node)


def test_the_harness_is_found_wherever_the_checkout_stands():
    assert {"loop.py", "gates.py", "extend/mcp.py", "patterns/react.py", "context/compaction.py", "providers/openai.py"} <= set(HARNESS)


@pytest.mark.parametrize("path", HARNESS)
def test_the_harness_never_imports_the_classroom(path):
    assert "course" not in imports_of(path)


@pytest.mark.parametrize(
    "path, lower",
    [
        ("mini.py", set()),
        ("messages.py", set()),
        ("schema.py", set()),
        ("tokens.py", {"messages"}),
        ("journal.py", {"messages", "store", "trace"}),
        ("store.py", set()),
        ("trace.py", {"messages"}),
        ("models.py", {"messages", "streaming"}),
        ("tools.py", {"messages", "schema", "workers"}),
        ("workers.py", set()),
        ("limits.py", {"messages", "tokens"}),
        ("state.py", {"messages", "tools", "limits"}),
    ],
)
def test_imports_point_downwards(path, lower):
    assert imports_of(path) <= lower


def test_mini_runs_with_nothing_installed():
    code = f"""
import runpy
from types import SimpleNamespace as S
mini = runpy.run_path({str(PACKAGE / "mini.py")!r})
tool = S(name="add", description="Add.", schema={{"properties": {{"a": {{"type": "integer"}}}}}}, fn=lambda a: a + 1)
replies = iter([S(text=None, tool_calls=[S(id="1", name="add", arguments='{{"a": 1}}')], usage=None, stop_reason=None),
                S(text="two", tool_calls=[], usage=None, stop_reason="stop")])
result = mini["run"](lambda messages, tools: next(replies), [tool], "add")
print(result.status, result.answer, [m["content"] for m in result.messages])
"""
    assert python(code, "-I", "-S").stdout.strip() == "done two ['add', None, '2', 'two']"


def test_without_jsonschema_the_error_says_what_to_do():
    done = python("import agentkit; agentkit.Registry([agentkit.Tool('x', '', {}, print)])", "-S")
    assert "ImportError: agentkit checks arguments with jsonschema: run `python3 -m agentkit setup`, or pip install jsonschema" in done.stderr
