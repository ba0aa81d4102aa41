"""The coding round's scorecard: right loops in several styles meet every line, and for each line a wrong one loses just that."""

import asyncio
import json
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from types import SimpleNamespace

import pytest

from agentkit.course import scorecard as module
from agentkit.course.round_answer import FIVE, STAGES, _changed, agentkit_run, function, mini_pieces, mini_run
from agentkit.course.round_lines import LINES
from agentkit.course.round_scenes import End, left_open, refused
from agentkit.course.scorecard import scorecard
from agentkit.course.scorecard_views import html, plain
from agentkit.course.timer import STAGES as MINUTES
from agentkit.course.timer import Timer, digits, face, says, stage_at

KEYS = [line.key for line in LINES]


# ---- right solutions, each in a style of its own -------------------------------------------------------------------


class Agent:
    """One object, one method per move, a result with attributes."""

    def __init__(self, model, tools, messages, max_steps, budget, path):
        self.model, self.tools, self.messages, self.path = model, tools, messages, path
        self.max_steps, self.budget, self.spent, self.steps, self.counts = max_steps, budget, 0, 0, {}

    def go(self):
        status, answer = None, None
        while status is None:
            status, answer = self.step()
        return SimpleNamespace(status=status, answer=answer, messages=self.messages)

    def step(self):
        if self.steps >= self.max_steps:
            return "out of steps", None
        if self.budget is not None and self.spent >= self.budget:
            return "out of tokens", None
        self.steps += 1
        try:
            reply = self.model(self.messages)
        except Exception as error:
            return f"the model failed: {type(error).__name__}", None
        self.spent += reply.get("tokens", 0)
        calls = [dict(c) for c in reply.get("tool_calls") or ()]
        if not calls:
            text = (reply.get("text") or "").strip()
            return ("done", reply["text"]) if text else ("said nothing", None)
        taken = {c["id"] for m in self.messages for c in m.get("tool_calls", ())}
        for n, c in enumerate(calls):
            if not c.get("id") or c["id"] in taken:
                c["id"] = f"own-{self.steps}-{n}"
            taken.add(c["id"])
        self.keep({"role": "assistant", "content": reply.get("text"), "tool_calls": calls})
        worst = 0
        for c in calls:
            text = self.execute(c)
            self.keep({"role": "tool", "tool_call_id": c["id"], "content": text})
            try:
                spelled = sorted(json.loads(c["arguments"]).items())
            except Exception:
                spelled = c["arguments"]
            key = repr((c["name"], spelled, text))
            self.counts[key] = self.counts.get(key, 0) + 1
            worst = max(worst, self.counts[key])
        return ("going in circles", None) if worst >= 3 else (None, None)

    def execute(self, c):
        fn = self.tools.get(c["name"])
        if not fn:
            return "No such tool. There are: " + ", ".join(self.tools)
        try:
            named = json.loads(c["arguments"])
            if type(named) is not dict:
                return "The arguments must be one object."
            return str(fn(**named))
        except Exception as error:
            return f"{c['name']} did not work: {error}"

    def keep(self, message):
        self.messages.append(message)
        if self.path:
            with open(self.path, "w") as file:
                json.dump(self.messages, file)


def as_object(model, tools, task, max_steps=10, budget=None, path=None):
    messages = [{"role": "system", "content": "You are the desk."}, {"role": "user", "content": task}]
    if path and os.path.exists(path):
        with open(path) as file:
            messages = json.load(file)
        for id in left_open(messages):
            messages.append({"role": "tool", "tool_call_id": id, "content": "unknown: interrupted"})
    return Agent(model, tools, messages, max_steps, budget, path).go()


def as_recursion(model, tools, task, max_steps=10, *, budget=None, path=None):
    """No loop at all: each pass calls the next with a new list; the record is one line per message."""

    def record(messages):
        if path is not None:
            with open(path, "w") as file:
                file.writelines(json.dumps(m) + "\n" for m in messages)
        return messages

    def result(call):
        try:
            return json.dumps(tools[call["name"]](**json.loads(call["arguments"])), default=str)
        except KeyError as error:
            return f"KeyError {error}; tools: {list(tools)}"
        except Exception as error:
            return f"{type(error).__name__}: {error}"

    def spelled(call):
        try:
            return json.dumps(json.loads(call["arguments"]), sort_keys=True)
        except ValueError:
            return call["arguments"]

    def ended(status, messages, answer=None):
        return {"status": status, "answer": answer, "messages": messages}

    def go(messages, left, spent, past):
        if left == 0 or budget is not None and spent >= budget:
            return ended("no steps" if left == 0 else "no tokens", messages)
        try:
            reply = model(messages)
        except Exception:
            return ended("no model", messages)
        asked = reply.get("tool_calls") or []
        text = reply.get("text")
        if not asked:
            messages = messages + [{"role": "assistant", "content": text}]
            return ended("done", messages, text) if text and text.strip() else ended("nothing said", messages[:-1])
        asked = (
            [{**c, "id": f"n{len(messages)}-{k}"} for k, c in enumerate(asked)]
            if len({c.get("id") or "" for c in asked} - {""}) < len(asked)
            else asked
        )
        messages = record(messages + [{"role": "assistant", "content": text, "tool_calls": asked}])
        now = []
        for call in asked:
            now.append((call["name"], spelled(call), result(call)))
            messages = record(messages + [{"role": "tool", "tool_call_id": call["id"], "content": now[-1][2]}])
        past = past + (tuple(now),)
        if past[-3:] == (past[-1],) * 3:
            return ended("circle", messages)
        return go(messages, left - 1, spent + reply.get("tokens", 0), past)

    try:
        with open(path or "") as file:
            messages = [json.loads(row) for row in file]
        messages += [{"role": "tool", "tool_call_id": id, "content": "ERROR: nobody knows whether this ran"} for id in left_open(messages)]
    except FileNotFoundError:
        messages = [{"role": "user", "content": task}]
    return go(messages, max_steps, 0, ())


def for_while(model, tools, task, max_steps=10, budget=float("inf"), path=None, **_):
    """Everything in one function, a sidecar file for calls that have begun, answered after the whole batch."""
    here = path and os.path.exists(path)
    messages = json.load(open(path)) if here else [{"role": "user", "content": task}]
    begun = json.load(open(path + ".begun")) if path and os.path.exists(path + ".begun") else []
    open_calls = [c for m in messages for c in m.get("tool_calls", []) if c["id"] in left_open(messages)]
    steps, spent, last, same, known = 0, 0, None, 0, {}
    status = answer = None
    budget = float("inf") if budget is None else budget
    while status is None:
        line = []
        for c in open_calls:
            if c["id"] in begun:
                text = "ERROR: it had begun; ask before you repeat it"
            else:
                begun.append(c["id"])
                if path:
                    with open(path + ".begun", "w") as file:
                        json.dump(begun, file)
                try:
                    named = json.loads(c["arguments"])
                    assert isinstance(named, dict), "the arguments are no object"
                    assert c["name"] in tools, f"unknown tool, use one of {' '.join(tools)}"
                    text = f"{tools[c['name']](**named)}"
                except Exception as error:
                    text, named = f"ERROR: {error}", c["arguments"]
                line.append((c["name"], repr(sorted(named.items()) if isinstance(named, dict) else named), text))
            messages.append({"role": "tool", "tool_call_id": c["id"], "content": text})
            if path:
                with open(path, "w") as file:
                    json.dump(messages, file)
        same = same + 1 if line and line == last else 1
        last, open_calls = line, []
        if same >= 3:
            status = "loop"
        elif steps >= max_steps:
            status = "steps"
        elif spent >= budget:
            status = "budget"
        else:
            steps += 1
            try:
                reply = model(messages)
            except Exception:
                status = "model"
                continue
            spent += reply.get("tokens") or 0
            for k, c in enumerate(reply.get("tool_calls") or []):
                known[len(known)] = None
                repeated = any(o["id"] == c.get("id") for o in open_calls) or not c.get("id")
                open_calls.append({**c, "id": f"id{steps}.{k}" if repeated else c["id"]})
            if open_calls:
                messages.append({"role": "assistant", "content": reply.get("text"), "tool_calls": open_calls})
                if path:
                    with open(path, "w") as file:
                        json.dump(messages, file)
            elif not str(reply.get("text") or "").strip():
                status = "empty"
            else:
                status, answer = "done", reply["text"]
    return dict(status=status, answer=answer, messages=messages, steps=steps)


RIGHT = {
    "the model answer": function(FIVE),
    "an object": as_object,
    "recursion": as_recursion,
    "one function": for_while,
    "agentkit": agentkit_run,
}


@pytest.mark.parametrize("name", RIGHT)
@pytest.mark.parametrize("seed", [23, 1])
def test_right_solutions_of_every_style_meet_every_line(name, seed):
    pytest.importorskip("jsonschema")  # agentkit imports it at its first call: not within the time of a situation
    card = scorecard(RIGHT[name], seed)
    assert card.met == len(KEYS), [m for m in card.marks if m.state != "met"]
    assert card.passed and card.next is None
    assert all(mark.evidence.endswith(".") for mark in card.marks)


def test_mini_meets_all_but_the_record_on_disk():
    card = scorecard(mini_run)
    assert card.of("not reached") == ["restart", "once"] and not card.of("not met")


# ---- one wrong solution for each line ---------------------------------------------------------------------------------

_ADD = '            add({"role": "tool", "tool_call_id": call["id"], "content": result})\n'
WRONG = {
    "answer": [('        if not calls:\n            return end("done", text)', '        if text:\n            return end("done", text)')],
    "steps": [("for step in range(max_steps):", "for step in range(max_steps + 2):")],
    "list": [
        ('load(path) or [{"role": "user", "content": task}]', 'load(path) or TASKS.append({"role": "user", "content": task}) or TASKS'),
        ("\ndef run(", "\nTASKS = []\n\ndef run("),
    ],
    "tool": [("json.dumps(value, default=str)", "json.dumps(value)")],
    "unknown": [
        (
            f"""        return f"ERROR: there is no tool {{call['name']!r}}. Available: {{', '.join(tools)}}"\n""",
            '        return "ERROR: denied"\n',
        )
    ],
    "guess": [
        (
            '        arguments = json.loads(call["arguments"])\n',
            (
                '        try:\n            arguments = json.loads(call["arguments"]) or {}\n        except ValueError:\n           '
                " arguments = {}\n"
            ),
        )
    ],
    "model": [('        if not calls and not (text or "").strip():\n            return end("empty_reply")\n', "")],
    "batch": [("        for call in calls:\n            result", "        for call in reversed(calls):\n            result")],
    "siblings": [
        ("        seen = []\n", '        seen, bad = [], any(not call["arguments"].endswith("}") for call in calls)\n'),
        ("result = execute(call, tools)", 'result = "ERROR: not valid JSON" if bad else execute(call, tools)'),
    ],
    "ids": [("if not isinstance(id, str) or not id or id in used:", "if not isinstance(id, str) or not id:")],
    "budget": [("if budget is not None and spent >= budget:", "if budget and spent >= budget:")],
    "repeat": [("history[-3:] == [seen] * 3", "history[-9:] == [seen] * 9")],
    "progress": [
        ('seen.append((call["name"], canonical(call["arguments"]), result))', 'seen.append((call["name"], canonical(call["arguments"])))')
    ],
    "report": [('return end("token_budget")', 'return end("step_limit")')],
    "restart": [
        (_ADD, '            messages.append({"role": "tool", "tool_call_id": call["id"], "content": result})\n'),
        ("        history.append(seen)", "        history.append(seen)\n        save(path, messages[:1])"),
    ],
    "once": [('        messages.append({"role": "tool", "tool_call_id": call["id"], "content": unknown})', "        messages.pop()")],
}
MORE = {  # other ways to lose a line, and words that the evidence must hold
    "the budget asked after the call": (
        "budget",
        [
            ('        if budget is not None and spent >= budget:\n            return end("token_budget")\n', ""),
            (
                "        if not calls and",
                (
                    '        if budget is not None and spent > budget and calls:\n            return end("token_budget")\n        if not'
                    " calls and"
                ),
            ),
        ],
        "budget=",
    ),
    "a paid answer thrown away": (
        "budget",
        [
            (
                "        if not calls and",
                '        if budget is not None and spent >= budget:\n            return end("token_budget")\n        if not calls and',
            )
        ],
        "paid for",
    ),
    "a zero limit is no limit": ("steps", [("for step in range(max_steps):", "for step in range(max_steps or 10):")], "max_steps=0"),
    "null taken for no arguments": (
        "guess",
        [('arguments = json.loads(call["arguments"])', 'arguments = json.loads(call["arguments"]) or {}')],
        "'null'",
    ),
    "the nearest name runs": (
        "unknown",
        [
            (
                '    if call["name"] not in tools:',
                '    if call["name"] == "get_orders":\n        call = {**call, "name": "get_order"}\n    if call["name"] not in tools:',
            )
        ],
        "get_orders",
    ),
    "the model's failure passes through": (
        "model",
        [
            (
                '        except Exception:\n            return end("model_error")',
                '        except KeyError:\n            return end("model_error")',
            )
        ],
        "ConnectionError",
    ),
    "one id for every call": (
        "batch",
        [('add({"role": "tool", "tool_call_id": call["id"]', 'add({"role": "tool", "tool_call_id": calls[0]["id"]')],
        "refused",
    ),
    "the same call stopped at the second": ("repeat", [("history[-3:] == [seen] * 3", "history[-2:] == [seen] * 2")], "2 times"),
    "two spellings are two calls": ("progress", [('canonical(call["arguments"]), result', 'call["arguments"], result')], "spellings"),
    "the stopped batch left open": (
        "report",
        [
            (
                _ADD,
                '            if history[-2:] == [[(call["name"], canonical(call["arguments"]), result)]] * 2:\n                return'
                ' end("repeated_call")\n'
                + _ADD,
            )
        ],
        "without a result",
    ),
}


def lost(pairs):
    good, bad = scorecard(function(FIVE)), scorecard(function(_changed(FIVE, *pairs)))
    return bad, [key for key in KEYS if good[key].state == "met" and bad[key].state == "not met"]


def test_there_is_a_wrong_solution_for_every_line():
    assert sorted(WRONG) == sorted(KEYS)


@pytest.mark.parametrize("key", WRONG)
def test_a_wrong_solution_loses_its_line_and_no_other(key):
    bad, keys = lost(WRONG[key])
    assert keys == [key], {k: bad[k].evidence for k in keys}
    stands_on = {line.key for line in LINES if key in line.needs}
    assert stands_on <= set(bad.of("not reached"))


@pytest.mark.parametrize("name", MORE)
def test_other_ways_to_lose_a_line_are_told_apart_by_the_evidence(name):
    key, pairs, said = MORE[name]
    bad, keys = lost(pairs)
    assert keys == [key], {k: bad[k].evidence for k in keys}
    assert said in bad[key].evidence


def test_the_model_answer_grows_by_its_own_stage():
    cards = {n: scorecard(function(source)) for n, source in STAGES.items()}
    for n in (2, 3, 4, 5):
        assert set(cards[n - 1].of("met")) < set(cards[n].of("met"))
        assert n == 2 or {line.key for line in LINES if line.stage <= n} <= set(cards[n].of("met"))
    assert cards[4].passed and not cards[3].passed
    assert [sum(1 for _ in source.strip().splitlines()) for source in STAGES.values()] == [14, 34, 45, 61, 85]
    assert max(len(row) for source in STAGES.values() for row in source.splitlines()) <= 100


def test_what_is_said_covers_mini_from_first_line_to_last():
    import inspect

    from agentkit import mini

    squeezed = lambda text: re.sub(r"\s+", "", text)  # noqa: E731
    assert squeezed("".join(source for _, source in mini_pieces())) == squeezed(inspect.getsource(mini))
    assert max(len(source.splitlines()) for _, source in mini_pieces()) <= 17


# ---- anything may be handed in ------------------------------------------------------------------------------------------


def blank(model, tools, task, max_steps=10): ...


async def coroutine(model, tools, task, max_steps=10):
    return {}


def raises(*args, **kwargs):
    raise RuntimeError("nothing here works")


def leaves(*args, **kwargs):
    raise SystemExit(3)


def floods(model, tools, task, max_steps=10):
    print("x" * 10**6)


def junk(model, tools, task, max_steps=10):
    model(messages=[{"role": 3}, object()])
    return {"status": object(), "answer": object(), "messages": [None, 3, {"role": "tool"}]}


@pytest.mark.parametrize(
    "fn, said",
    [
        (None, "blank cell"),
        (..., "blank cell"),
        (blank, "blank cell"),
        (3, "without parentheses"),
        ({"status": "done"}, "without parentheses"),
        (coroutine, "def, not async def"),
        (raises, "RuntimeError: nothing here works"),
        (leaves, "SystemExit"),
        (floods, "came back with None"),
        (junk, "<object object>"),
        (lambda: 1, "TypeError"),
        (print, "TypeError"),
        (len, "TypeError"),
        (type, ""),
    ],
    ids=lambda value: value if isinstance(value, str) else getattr(value, "__name__", type(value).__name__),
)
def test_whatever_is_handed_in_gives_a_card_and_no_exception(fn, said, capsys):
    card = scorecard(fn)
    assert not card.met and said in plain(card) and said in re.sub("&lt;", "<", re.sub("&gt;", ">", html(card)))
    assert not re.search(r"0x[0-9a-f]{6}|/tmp/", plain(card))
    assert capsys.readouterr().out == ""


def test_a_function_that_hangs_costs_two_waits_and_leaves_no_thread(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    before = threading.active_count()
    began = time.monotonic()

    def hangs(model, tools, task, max_steps=10):
        while True:
            try:
                time.monotonic()  # a call: in 3.10 a loop around `try: pass` never lets another thread run
            except BaseException:
                pass

    card = scorecard(hangs)
    assert time.monotonic() - began < 5 and threading.active_count() == before
    assert card.of("not met") == ["answer", "steps"] and "0.2 seconds" in card["answer"].evidence


def test_after_two_hangs_the_rest_is_not_reached(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.2)
    stuck = _changed(
        STAGES[2], ("    except Exception as error:\n", "    except Exception as error:\n        while True:\n            pass\n")
    )
    card = scorecard(function(stuck))
    assert card.of("not met") == ["tool", "guess"] and card["batch"].evidence == "Your function hung before it came to this."


def test_a_function_that_swallows_everything_is_still_stopped(monkeypatch):
    monkeypatch.setattr(module, "SECONDS", 0.3)

    def deaf(model, tools, task, max_steps=10):
        while True:
            try:
                model([])
            except BaseException:
                continue

    assert scorecard(deaf).met == 0


def test_a_killed_process_does_nothing_more_even_when_it_swallows_the_kill():
    """What counts is what was on disk when it died: later writes are another process's business."""
    source = _changed(
        FIVE,
        (
            "        try:\n            reply = model(messages)\n        except Exception:",
            (
                '        try:\n            reply = model(messages)\n        except BaseException:\n            save(path, [{"role": "user",'
                ' "content": "gone"}])'
            ),
        ),
        ("    except Exception as error:", "    except BaseException as error:"),
    )
    assert scorecard(function(source)).met == len(KEYS)


def test_the_card_is_the_same_each_time_and_differs_with_the_seed():
    demo = function(STAGES[1])
    assert plain(scorecard(demo)) == plain(scorecard(demo)) != plain(scorecard(demo, seed=4))
    assert scorecard(demo).of("met") == scorecard(demo, seed=4).of("met")


def test_the_card_reads_well():
    card = scorecard(function(STAGES[1]))
    assert card.summary == "5 of 16 met: must 4 of 8, good 1 of 4, senior 0 of 4"
    assert card.next.line.key == "tool" and card["budget"].evidence == "Your function takes no argument budget yet."
    page = html(card)
    assert page.count('.ipynb">') == len(KEYS) + 1 and "var(" not in page and not re.search(r"[^-]color:#", page)
    assert all(f'href="{line.notebook}.ipynb"' in page for line in LINES)
    assert "<b>Next:</b> Whatever a tool does" in page


def test_every_line_has_a_level_a_stage_and_a_notebook_that_is_there():
    from places import CHECKOUT

    assert len(KEYS) == len(set(KEYS)) == 16
    for line in LINES:
        assert line.level in module.LEVELS and (CHECKOUT / "notebooks" / f"{line.notebook}.ipynb").exists()
        assert all(KEYS.index(need) < KEYS.index(line.key) for need in line.needs)
    assert [line.stage for line in LINES] == sorted(line.stage for line in LINES)


def test_what_a_provider_would_refuse():
    asked = {"role": "assistant", "content": None, "tool_calls": [{"id": "a"}, {"id": "b"}]}
    a, b = ({"role": "tool", "tool_call_id": id, "content": "x"} for id in "ab")
    user = {"role": "user", "content": "x"}
    assert refused([user, asked, a, b]) is None
    for bad in (
        [user, asked, b, a],
        [user, asked, b, b],
        [user, asked, a],
        [user, a],
        [user, asked, a, user, b],
        [asked, {**a, "content": {}}, b],
        [3],
        None,
    ):
        assert refused(bad)
    assert left_open([user, asked, b]) == ["a"] and End.of((1, 2)).wrong and End.of("done").wrong


# ---- the clock ------------------------------------------------------------------------------------------------------------


class Hands:
    now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock():
    pytest.importorskip("ipywidgets")
    hands = Hands()
    timer = Timer(clock=hands)
    yield timer, hands
    timer.close()


def test_the_stages_fill_45_minutes():
    assert sum(minutes for _, minutes in MINUTES) == 45 and len(MINUTES) == 5
    assert (digits(2700), digits(9 * 60 + 4.2), digits(0), digits(-1)) == ("45:00", "9:05", "0:00", "0:00")
    assert stage_at(0) == (0, 900) and stage_at(899) == (0, 1) and stage_at(900) == (1, 480) and stage_at(2700) == (4, 0) == stage_at(9999)


def test_nothing_runs_before_start_and_a_pause_holds_the_time(clock):
    timer, hands = clock
    hands.now += 500
    assert (timer.state, timer.spent) == ("ready", 0) and timer._task is None
    timer.start()
    hands.now += 61
    timer.refresh()
    assert (
        timer.state == "running" and "43:59" in timer._face.value and "▶ 1 a loop" in timer._face.value and timer._go.description == "Pause"
    )
    timer.pause()
    hands.now += 1000
    assert (timer.state, timer.spent, timer._go.description) == ("paused", 61, "Go on")
    timer.start()
    hands.now += 900
    timer.refresh()
    assert "Now stage 2 of 5: things fail. 7:" not in timer._spoken.value and "Now stage 2 of 5: things fail." in timer._spoken.value
    timer.reset()
    assert (timer.state, timer.spent) == ("ready", 0) and "45:00" in timer._face.value


def test_it_ends_at_zero_and_says_so_once(clock):
    timer, hands = clock
    timer.start()
    hands.now += 9_999
    timer.refresh()
    assert timer.state == "over" and "0:00" in timer._face.value and timer._go.disabled and "Time." in timer._spoken.value
    timer.start()
    assert timer.state == "over"
    timer.reset()
    assert timer.state == "ready" and not timer._go.disabled


def test_hidden_it_shows_no_digits_and_goes_on(clock):
    timer, hands = clock
    timer.start()
    timer.hide()
    hands.now += 30
    timer.refresh()
    assert not re.search(r"\d:\d\d", timer._face.value) and timer.spent == 30 and timer._hide.description == "Show"
    timer.hide()
    assert "44:30" in timer._face.value


def test_the_screen_reader_is_told_stages_and_not_seconds(clock):
    timer, hands = clock
    timer.start()
    said = set()
    for _ in range(120):
        hands.now += 20
        timer.refresh()
        said.add(timer._spoken.value)
    assert len(said) == 5 and 'role="timer" aria-live="off"' in timer._face.value
    assert says("ready", 0) and "color:#" not in re.sub("background-color:#0072B2|border:1px solid #8A8A8A", "", face("running", 10))


def test_the_kernel_task_ticks_ends_and_leaves_nothing_behind():
    pytest.importorskip("ipywidgets")

    async def scene():
        timer = Timer(stages=(("quick", 0.02), ("last", 0.01)))  # 1.8 seconds
        seen = set()
        timer._face.observe(lambda change: seen.add(change["new"]), "value")
        timer.start()
        task = timer._task
        await asyncio.wait_for(task, 5)
        other = Timer()
        other.start()
        running = other._task
        Timer()  # the cell run again
        await asyncio.sleep(0)
        return timer, seen, other, running

    before = threading.active_count()
    with ThreadPoolExecutor(1) as pool:     # in a thread of its own: a browser test may keep a loop in this one
        timer, seen, other, running = pool.submit(lambda: asyncio.run(scene())).result()
    assert timer.state == "over" and timer._task is None and len(seen) >= 2
    assert other._task is None and running.cancelled() and threading.active_count() == before


def test_the_still_is_the_clock_at_its_start_whatever_it_shows_now(clock):
    timer, hands = clock
    first, _ = timer._repr_mimebundle_()
    timer.start()
    hands.now += 77
    timer.refresh()
    again, _ = timer._repr_mimebundle_()
    assert first == again and "45:00" in first["text/html"] and "not started" in first["text/plain"]
