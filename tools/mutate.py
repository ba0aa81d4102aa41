"""Break the harness on purpose, one small change at a time, and see whether the tests notice.

    python tools/mutate.py              all mutations, on a copy of the checkout
    python tools/mutate.py approval     those whose name contains the word

Prints which test caught each mutation. Exit code 1: one survived, or its text is no longer in the file.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

try:
    import resource
except ImportError:  # Windows
    resource = None

ROOT = Path(__file__).resolve().parent.parent
TESTS = ["messages", "limits", "loop", "tools", "models", "tokens", "articles", "cases", "import", "mini", "properties"]

# name: (module, the text as it is, the text as it must not be)
MUTATIONS = {
    # the exits
    "no step limit": ("limits", "(step_limit(self, account) or time_limit", "(time_limit"),
    "one step too many": ("limits", "account.steps >= limits.max_steps", "account.steps > limits.max_steps"),
    "one tool call too many": ("limits", "account.tool_calls >= limits.max_tool_calls", "account.tool_calls > limits.max_tool_calls"),
    "no time limit between tools": (
        "limits",
        "return tool_call_limit(self, account) or time_limit(self, account)",
        "return tool_call_limit(self, account)",
    ),
    "the time limit comes late": (
        "limits",
        "(seconds := account.seconds()) >= limits.max_seconds",
        "(seconds := account.seconds()) > limits.max_seconds",
    ),
    "tokens are not asked for ahead": ("limits", "spent + need > limits.budget_tokens", "False"),
    "the token budget refuses what fits": ("limits", "spent + need > limits.budget_tokens", "spent + need >= limits.budget_tokens"),
    "money is not asked for ahead": ("limits", "spent + need > limits.budget_usd", "False"),
    "the money budget never ends a run": ("limits", "if limits.budget_usd is not None:\n        spent", "if False:\n        spent"),
    "a money budget needs no price": ("limits", "if limits.budget_usd is not None and self.price is None:", "if False:"),
    "one error too many": ("limits", "account.errors >= max(1, limits.max_errors)", "account.errors > max(1, limits.max_errors)"),
    "a cycle of three is no loop": ("limits", "for period in (1, 2, 3):", "for period in (1, 2):"),
    "a loop is seen one round late": (
        "limits",
        "times, done = max(1, limits.max_repeats), account.history",
        "times, done = max(1, limits.max_repeats) + 1, account.history",
    ),
    "key order makes another call": ("limits", "JSONEncoder(sort_keys=True, ", "JSONEncoder("),
    "white space makes another call": ("limits", "parsed = json.loads(arguments) if isinstance(arguments, str) else arguments", "parsed = arguments"),
    "the reserve is forgotten": ("limits", "self._reserve = limits.reserve or 0", "self._reserve = 0"),
    "a limit may be negative": (
        "limits",
        'or not 0 <= value < float("inf")):\n                raise ValueError(f"Limits:',
        'or not value < float("inf")):\n                raise ValueError(f"Limits:',
    ),
    "a limit may be True": ("limits", "if value is not None and (isinstance(value, bool) or not", "if value is not None and (not"),
    "cached tokens are not charged": ("limits", "self.cached += usage.cached_tokens", "pass"),
    "the history is forgotten too soon": ("limits", "del done[:-3 * times]", "del done[:-2 * times]"),
    # the loop
    "the budget is asked after the call": (
        "loop",
        "stop = self.limits.before_reply(self.account)           # may we?",
        "stop = None if not self.account.steps else self.limits.before_reply(self.account)",
    ),
    "the prompt is counted after the reply": (
        "loop",
        "usage = self.account.charge(reply, prompt, written)",
        "usage = self.account.charge(reply, self.account.meter.prompt, written)",
    ),
    "the reply is not appended": ("loop", "self.messages += [] if blank else [message]", "pass"),
    "a result is not appended": (
        "loop",
        '        self.messages.append(message)\n        self.journal.add("result"',
        '        self.journal.add("result"',
    ),
    "a result is not recorded": (
        "loop",
        'self.journal.add("result", step=self.account.steps, id=call.id, name=call.name, key=key, content=result.text,\n'
        "                         error=result.error, ran=ran, stopped=stopped)",
        "pass",
    ),
    "the start of a tool is not recorded": ("loop", 'self.journal.add("call", step=', "dict(step="),
    "a result has the tool's name for its id": (
        "loop",
        "tool_message(call.id, call.name, result.text)",
        "tool_message(call.name, call.name, result.text)",
    ),
    "a repeated id is kept": ("loop", "or known in used or clean(known)", "or clean(known)"),
    "a model that raises ends in a traceback": (
        "loop",
        '        except Exception as error:\n            return None, Exit("model_error"',
        '        except ZeroDivisionError as error:\n            return None, Exit("model_error"',
    ),
    "an interrupt is swallowed as an error": (
        "loop",
        '        except Exception as error:\n            return None, Exit("model_error"',
        '        except BaseException as error:\n            return None, Exit("model_error"',
    ),
    "an interrupt leaves calls open": ("loop", "        work.interrupted()\n", ""),
    "a truncated reply runs": ("loop", "        if reply.truncated:\n", "        if False:\n"),
    "a refused reply is an answer": ("loop", "        if reply.refused:\n", "        if False:\n"),
    "a cut reply leaves its calls open": ("loop", "if ending and reply.tool_calls:", "if False:"),
    "an empty reply is asked about for ever": ("loop", "        self.nudged = True\n", ""),
    "an empty reply is done": ("loop", "        if reply.final_text:\n", "        if not reply.tool_calls:\n"),
    "a tool runs before all are decided": ("loop", "        if self.pending:\n", "        if self.pending and len(self.pending) == len(checked):\n"),
    "approval is not asked for": ("loop", "if problem or not tool.needs_approval:", "if True:"),
    "any word is a yes": ("loop", "elif said is not True:", "elif not said:"),
    "the approver may change the call": (
        "loop",
        "asked = ToolCall(call.id, tool.name, deepcopy(arguments))",
        "asked = ToolCall(call.id, tool.name, arguments)",
    ),
    "who cannot ask is allowed": ("loop", 'said = f"the approval failed ({describe(error)})"', "said = True"),
    "after a limit the batch goes on": (
        "loop",
        "stop, ran = stop or self.limits.before_tool(self.account), False",
        "stop, ran = self.limits.before_tool(self.account), False",
    ),
    "refused calls are no errors": ("loop", "                if result.error:\n", "                if result.error and ran:\n"),
    "refused calls are no tool calls": (
        "loop",
        "                self.account.tool_calls += 1\n                result = problem or verdicts.get(call.id)\n",
        "                result = problem or verdicts.get(call.id)\n                self.account.tool_calls += result is None\n",
    ),
    "a poll tool is stopped": ("loop", "object() if ran and tool.poll else result.text", "result.text"),
    "results do not belong to the repeat check": (
        "loop",
        "signature.append((call.name, key, object() if ran and tool.poll else result.text))",
        "signature.append((call.name, key))",
    ),
    "a used journal is used again": ("loop", "    if journal.events:\n", "    if False:\n"),
    # tools
    "a tool that raises ends the run": (
        "tools",
        '    except Exception as error:\n        return ToolResult(bounded(f"ERROR: {tool.name} failed',
        '    except ZeroDivisionError as error:\n        return ToolResult(bounded(f"ERROR: {tool.name} failed',
    ),
    "no cap on a result": (
        "tools",
        "return ToolResult(bounded(to_text(value)), error=_is_error(value))",
        'return ToolResult(to_text(value) if to_text(value).strip() else "(no output)", error=_is_error(value))',
    ),
    "an empty result stays empty": ("tools", '        return "(no output)"\n', "        return text\n"),
    "broken JSON runs as no arguments": (
        "tools",
        '        raise Refused(f"the arguments are not valid JSON ({describe(error)}): {show(arguments)}. {tool.expects}") from None\n',
        "        return {}\n",
    ),
    "arguments that are no object run": (
        "tools",
        '    if not isinstance(parsed, dict):\n        raise Refused(f"the arguments must',
        '    if False:\n        raise Refused(f"the arguments must',
    ),
    "nesting has no end": ("tools", "_depth(parsed) > MAX_DEPTH", "False"),
    "the schema is not asked": ("tools", "wrong = error and explain(error)", "wrong = None"),
    "a broken check lets the call through": ("tools", 'wrong = f"the arguments could not be checked ({describe(e)})"', "wrong = None"),
    "a remote $ref is fetched": (
        "tools",
        "return jsonschema.Draft202012Validator(checked, registry=referencing.Registry())",
        "return jsonschema.Draft202012Validator(checked)",
    ),
    "unknown arguments reach the function": ("tools", 'checked["additionalProperties"] = False', "pass"),
    "an error in a mapping is none": ("tools", 'return isinstance(value, Mapping) and bool(value.get("error"))', "return False"),
    "the time-out waits for the tool": ("tools", "    worker.join(seconds)\n", "    worker.join()\n"),
    "the error shows the whole input": (
        "tools",
        'return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}... ({len(text):,} characters)"',
        "return text",
    ),
    "two tools may have one name": ("tools", "            if t.name in self._tools:\n", "            if False:\n"),
    "half a surrogate pair hides behind an escape": ("tools", '        if "\\\\ud" in text or "\\\\uD" in text:', "        if False:"),
    # messages
    "NaN is a number": ("messages", "parse_constant=_no_number, ", ""),
    "1e999 is a number": ("messages", "parse_float=_finite, ", ""),
    "the last of two equal keys wins": ("messages", ", object_pairs_hook=_no_twice", ""),
    "surrogates are not cleaned": ("messages", 'return text if text.isascii() else text.encode("utf-8", "replace").decode("utf-8")', "return text"),
    "a value that is no JSON ends the run": (
        "messages",
        '    except Exception:\n        return f"(a {type(value).__name__} that cannot be shown)"',
        '    except ZeroDivisionError:\n        return f"(a {type(value).__name__} that cannot be shown)"',
    ),
    "an empty text is sent": ("messages", '"content": self.text if (self.text or "").strip() else None', '"content": self.text'),
    "unknown usage is 0": ("messages", "return None if a is None or b is None else a + b", "return (a or 0) + (b or 0)"),
    "text beside calls is the answer": (
        "messages",
        "return self.text if not self.tool_calls and self.invalid is None and",
        "return self.text if self.invalid is None and",
    ),
    # the scripted model and text protocols
    "orphan results pass": ("messages", 'if message.get("tool_call_id") not in waiting:', "if False:"),
    "open calls pass": ("messages", "    if waiting:\n        raise", "    if False:\n        raise"),
    "one id twice passes": ("messages", '                if c["id"] in seen:\n', "                if False:\n"),
    "only the first list is checked": ("models", "seen = check_messages(messages, n, seen) if grown", "seen = seen if grown"),
    "every list is read whole": ("models", "grown = n and known is messages", "grown = False and known is messages"),
    "both to act and to finish is to act": (
        "models",
        '("tool" in decision) == ("final" in decision)',
        'not ("tool" in decision or "final" in decision)',
    ),
    "an invented observation is believed": ("models", 'own = re.split(r"(?m)^\\s*Observation\\s*:", text)[0].rstrip()', "own = text"),
    "the script says nothing when it runs out": (
        "models",
        "if not self.entries or (self.calls > len(self.entries) and not self.repeat):",
        "if not self.entries:",
    ),
    # counts and prices
    "a report of nothing is believed": ("tokens", "told.output_tokens is not None and told.total_tokens:", "told.output_tokens is not None:"),
    "cached tokens are counted twice": ("tokens", "unread = max(0, prompt - told.cached_tokens) if told else prompt", "unread = prompt"),
    "cached tokens are free": ("tokens", "cached = self.input if self.cached is None else self.cached", "cached = self.cached or 0"),
    "output costs what input costs": ("tokens", "output_tokens / 1e6 * self.output", "output_tokens / 1e6 * self.input"),
    "definitions are not counted": ("tokens", "self.prompt = self._of(json.dumps(definitions)) if definitions else 0", "self.prompt = 0"),
    "calls are not counted": ("tokens", 'for c in message.get("tool_calls", ()) if self.native else ():', "for c in ():"),
    "a marker stops the count": ("tokens", "disallowed_special=()", 'disallowed_special="all"'),
    # the report and the record
    "a failure is a success in the report": ("journal", '"failed" if e["error"] else', ""),
    "the record forgets the nudge": (
        "journal",
        'event["kind"] in ("message", "reply")',
        'event["kind"] == "reply" or event["kind"] == "message" and not event.get("nudge")',
    ),
    # mini
    "mini: one step too many": ("mini", '("step_limit", over(max_steps, steps))', '("step_limit", over(max_steps, steps - 1))'),
    "mini: no time limit between tools": ("mini", '"time_limit" if over(max_seconds, clock() - start) else None)', "None)"),
    "mini: a cut reply runs": ("mini", "        if cut:   ", "        if False:   "),
    "mini: a repeated id is kept": ("mini", "and c.id not in used else", "else"),
    "mini: True is a number": ("mini", 'or (isinstance(value, bool) and kind != "boolean")', ""),
    "mini: a tool runs before all are decided": (
        "mini",
        "if pending := [c for c in risky if said.get(c.id) is None]:",
        "if (pending := [c for c in risky if said.get(c.id) is None]) and len(calls) == len(pending):",
    ),
    "mini: a cycle of three is no loop": ("mini", "for p in (1, 2, 3) if", "for p in (1, 2) if"),
    "mini: a tool that raises ends the run": (
        "mini",
        "    except Exception as e:\n        text, bad",
        "    except ZeroDivisionError as e:\n        text, bad",
    ),
    "mini: what was written is not paid": ("mini", "tokens_out + usage.output_tokens", "tokens_out"),
    "mini: the batch goes on after a limit": ("mini", 'stop = stop or ("tool_call_limit"', 'stop = ("tool_call_limit"'),
    "mini: two nudges": ("mini", "            if nudged:\n", "            if nudged and steps > 2:\n"),
}


def broken_copy(folder: Path, module: str, old: str, new: str) -> None:
    """A copy of what the tests need, with one text replaced."""
    shutil.copytree(ROOT / "agentkit", folder / "agentkit", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "tests", folder / "tests", ignore=shutil.ignore_patterns("__pycache__", "browser"))
    shutil.copy(ROOT / "pyproject.toml", folder)
    path = folder / "agentkit" / f"{module}.py"
    path.write_text(path.read_text(encoding="utf-8").replace(old, new), encoding="utf-8")


def caught_by(name: str | None) -> str | None:
    """The first test that fails with this mutation (None: with no mutation at all); None when all pass."""
    module, old, new = MUTATIONS[name] if name else ("loop", '"""The agent loop: ', '"""The agent loop: ')
    found = (ROOT / "agentkit" / f"{module}.py").read_text(encoding="utf-8").count(old)
    if found != 1:
        return f"NOT APPLIED: the text stands {found} times in {module}.py"
    with tempfile.TemporaryDirectory(prefix="agentkit-mutant-") as folder:
        broken_copy(Path(folder), module, old, new)
        # A loop that has lost an exit does not end, and its list grows: a test has a minute and 4 GB.
        command = [
            sys.executable,
            "-m",
            "pytest",
            "-x",
            "-q",
            "-p",
            "no:cacheprovider",
            "--tb=no",
            "-o",
            "faulthandler_timeout=60",
            "-o",
            "faulthandler_exit_on_timeout=true",
            *(f"tests/test_{t}.py" for t in sorted(TESTS, key=lambda t: t != module)),
        ]
        done = subprocess.run(
            command,
            cwd=folder,
            capture_output=True,
            text=True,
            preexec_fn=at_most_4_gb if resource else None,
            env={**os.environ, "PYTHONPATH": folder, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    if done.returncode == 0:
        return None
    failed = re.search(r"^(?:FAILED|ERROR) tests/(.+?)(?: - .*)?$", done.stdout, re.MULTILINE)
    endless = re.search(r"^Timeout.*?/tests/(test_\w+\.py)\", line \d+ in (test_\w+)", done.stderr, re.MULTILINE | re.DOTALL)
    if endless:
        return f"{endless[1]}::{endless[2]} (does not end)"
    return failed[1] if failed else "NOT APPLIED: pytest failed without a test: " + (done.stdout + done.stderr).strip()[-300:]


def at_most_4_gb():
    resource.setrlimit(resource.RLIMIT_AS, (4 * 2**30, 4 * 2**30))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("word", nargs="?", default="", help="only the mutations whose name contains this")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="test runs at the same time")
    options = parser.parse_args()
    names = [name for name in MUTATIONS if options.word in name]
    if red := caught_by(None):
        print(f"the tests fail without any mutation, so they prove nothing: {red}")
        return 1
    width, bad = max(map(len, names), default=0), 0
    with ThreadPoolExecutor(options.jobs) as pool:
        for name, test in zip(names, pool.map(caught_by, names)):
            bad += test is None or test.startswith("NOT APPLIED")
            print(f"{MUTATIONS[name][0]:9} {name:{width}}  {test or 'SURVIVED'}", flush=True)
    print(f"{len(names)} mutations, {len(names) - bad} caught" + (f", {bad} NOT" if bad else ""))
    return 1 if bad or not names else 0


if __name__ == "__main__":
    sys.exit(main())
