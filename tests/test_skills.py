"""Skills: what of a folder is read, what is sent of it, and what no name can reach."""

import os
from pathlib import Path

import pytest
from harness import results
from agentkit import Registry, ScriptedModel, call, run
from agentkit.extend.skills import Skills, read_skill


def write(path, name="refunds", description="How to pay money back.", text="Look first.\nThen pay."):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"---\nname: {name}\ndescription: {description}\n---\n{text}\n", encoding="utf-8")
    return path


def raw(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content if isinstance(content, bytes) else content.encode("utf-8"))
    return path


def test_both_shapes_are_read_and_the_lines_are_in_the_order_of_names(tmp_path):
    write(tmp_path / "b-file.md", "returns", "Goods that come back.")
    write(tmp_path / "some-folder" / "SKILL.md")
    write(tmp_path / "README.md")
    raw(tmp_path / ".hidden.md", "x")
    raw(tmp_path / "notes.txt", "x")
    (tmp_path / "empty-folder").mkdir()
    skills = Skills(tmp_path)
    assert skills.lines == ["- refunds: How to pay money back.", "- returns: Goods that come back."] and not skills.problems
    assert skills["refunds"].text == "Look first.\nThen pay." and skills.names == ["refunds", "returns"] and len(skills) == 2
    assert skills.prompt().endswith("\n".join(skills.lines)) and "load_skill" in skills.prompt()


def test_a_model_sees_the_line_and_loads_the_text_by_name(tmp_path):
    write(tmp_path / "refunds.md")
    skills = Skills(tmp_path)
    model = ScriptedModel([call("load_skill", name="refunds"), call("load_skill", name="refund"), "ok"])
    result = run(model, [skills.tool], "Pay it back.", system=skills.prompt())
    assert "Look first" not in str(model.sent[0]) and "How to pay money back." in model.sent[0][0]["content"]
    assert results(result) == ["Look first.\nThen pay.", "ERROR: there is no skill 'refund'. Did you mean refunds? Skills: refunds."]
    assert [e["error"] for e in result.journal.of("result")] == [False, True]


@pytest.mark.parametrize("name", ["../secret", "..", "refunds.md", "sub/../refunds", "/etc/passwd", "", "refunds\x00", ".", "~", "x" * 5_000])
def test_a_name_is_no_path(tmp_path, name):
    write(tmp_path / "secret.md", "secret", text="the treasure")
    write(tmp_path / "skills" / "refunds.md")
    told = Registry([Skills(tmp_path / "skills").tool]).execute("load_skill", {"name": name})
    assert told.error and "treasure" not in told.text and len(told.text) < 500


@pytest.mark.skipif(not hasattr(os, "symlink") or os.name == "nt", reason="links need rights on Windows")
def test_a_link_that_leaves_the_folder_is_not_followed(tmp_path):
    write(tmp_path / "outside" / "SKILL.md", "secret", text="the treasure")
    folder = tmp_path / "skills"
    write(folder / "fine.md")
    (folder / "link.md").symlink_to(tmp_path / "outside" / "SKILL.md")
    (folder / "linked").symlink_to(tmp_path / "outside")
    (folder / "round.md").symlink_to(folder / "round.md")
    (folder / "inside.md").symlink_to(folder / "fine.md")
    (folder / "inside.md").unlink()
    skills = Skills(folder)
    assert skills.names == ["refunds"] and len(skills.problems) == 3
    assert [p for p in skills.problems if "leads out of the folder" in p] == [
        "link.md: it is a link that leads out of the folder, so it is not read",
        "linked/SKILL.md: it is a link that leads out of the folder, so it is not read"]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_is_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe.md")
    assert Skills(tmp_path).problems == ["pipe.md: it is no file"]


@pytest.mark.parametrize("content, words", [
    ("Just text.", "does not open with front matter"),
    ("---\nname: x\n", "does not open with front matter"),
    ("---\nname: [x\n---\ntext", "not valid YAML ("),
    ("---\nname: x: y: z\n---\ntext", "not valid YAML ("),
    ("---\n" + "[" * 5_000 + "\n---\ntext", "not valid YAML ("),
    ("---\ndescription: !!python/object/apply:os.getcwd []\nname: x\n---\ntext", "not valid YAML ("),
    ("---\n- name\n---\ntext", "must be lines of key: value"),
    ("---\n---\ntext", "must be lines of key: value"),
    ("---\ndescription: d\n---\ntext", "has no name"),
    ("---\nname: x\n---\ntext", "has no description"),
    ("---\nname: x\ndescription: '  '\n---\ntext", "description must be a text"),
    ("---\nname: 2024-01-01\ndescription: d\n---\ntext", "name must be a text, not a date; put it in quotes"),
    ("---\nname: yes\ndescription: d\n---\ntext", "name must be a text, not a bool"),
    ("---\na: &a [x]\nb: &b [*a,*a]\nname: [*b,*b]\ndescription: d\n---\nt", "name must be a text, not a list"),
    ("---\nname: ../x\ndescription: d\n---\ntext", "the name must be 1 to 64 letters"),
    ("---\nname: two words\ndescription: d\n---\ntext", "the name must be 1 to 64 letters"),
    ("---\nname: x\ndescription: " + "d" * 1_025 + "\n---\ntext", "description has 1,025 characters"),
    ("---\nname: x\ndescription: d\n---\n \n", "no text below the front matter"),
    ("---\nname: x\ndescription: d\n---\n" + "t" * 20_001, "its text has 20,001 characters and would be cut"),
    ("---\nname: x\ndescription: d\n---\n" + "t" * 200_000, "bytes, and the longest text that is taken"),
    (b"---\nname: x\ndescription: d\n---\n\xff\xfe", "it is not UTF-8 text"),
    (b"", "does not open with front matter"),
])
def test_a_broken_file_is_named_and_the_others_load(tmp_path, content, words):
    raw(tmp_path / "broken.md", content)
    write(tmp_path / "fine.md")
    skills = Skills(tmp_path)
    assert skills.names == ["refunds"] and len(skills.problems) == 1
    assert skills.problems[0].startswith("broken.md: ") and words in skills.problems[0] and "\n" not in skills.problems[0]


@pytest.mark.parametrize("content, name, description, text", [
    ("---\r\nname: x\r\ndescription: d\r\n---\r\nfirst\r\nsecond\r\n", "x", "d", "first\nsecond"),
    ("\ufeff---\nname: x\ndescription: d\n---\ntext", "x", "d", "text"),
    ("---\nname: x\ndescription: >\n  over two\n  lines\nlicense: MIT\nmetadata: {a: 1}\n---\ntext", "x", "over two lines", "text"),
    ("---\nname: x\ndescription: 'colon: and\n\n  a forged line'\n---\ntext", "x", "colon: and a forged line", "text"),
    ("---\nname: x\ndescription: d\n---\nabove\n---\nbelow", "x", "d", "above\n---\nbelow"),
    ('---\nname: x\ndescription: "half \\ud800 a pair"\n---\ntext', "x", "half ? a pair", "text"),
])
def test_what_editors_and_yaml_make_of_it(tmp_path, content, name, description, text):
    skill = read_skill(raw(tmp_path / "s.md", content), tmp_path)
    assert (skill.name, skill.description, skill.text) == (name, description, text)


def test_neither_of_two_with_one_name_is_loaded(tmp_path):
    write(tmp_path / "a.md", "same")
    write(tmp_path / "b" / "SKILL.md", "same")
    write(tmp_path / "c.md", "other")
    skills = Skills(tmp_path)
    assert skills.names == ["other"]
    assert skills.problems == ["a.md and b/SKILL.md: both are called 'same', so neither is loaded; rename one"]


def test_the_longest_text_that_is_taken_reaches_the_model_whole(tmp_path):
    write(tmp_path / "long.md", "long", text="t" * 20_000)
    assert Registry([Skills(tmp_path).tool]).execute("load_skill", {"name": "long"}).text == "t" * 20_000
    assert Skills(tmp_path, max_chars=19_999).names == []


def test_what_changes_in_the_folder_later_does_not_reach_a_run(tmp_path):
    path = write(tmp_path / "refunds.md")
    skills = Skills(tmp_path)
    write(path, text="Pay everybody.")
    assert skills.load("refunds").text == "Look first.\nThen pay."


def test_no_skills_no_prompt_and_no_folder_is_said_at_once(tmp_path):
    assert Skills(tmp_path).prompt() == "" and "Skills: none" in Skills(tmp_path).load("x").text
    for wrong in (tmp_path / "missing", write(tmp_path / "file.md")):
        with pytest.raises(ValueError, match="there is no folder of skills"):
            Skills(wrong)
    for wrong in (0, True, 20_001, "many"):
        with pytest.raises(ValueError, match="max_chars must be"):
            Skills(tmp_path, max_chars=wrong)


def test_a_relative_folder_works(tmp_path, monkeypatch):
    write(tmp_path / "skills" / "refunds.md")
    monkeypatch.chdir(tmp_path)
    assert Skills("skills").names == Skills(Path("skills/../skills")).names == ["refunds"]
