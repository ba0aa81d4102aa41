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
TESTS = ["messages", "limits", "loop", "tools", "models", "tokens", "articles", "cases", "import", "mini", "properties", "replay", "journal", "resume", "parallel", "hooks"]
FIRST = {"store": "journal", "state": "loop", "trace": "loop", "resuming": "resume", "replaying": "replay", "gates": "hooks", "schema": "properties"}  # the tests of a module that has another name

# name: (module, the text as it is, the text as it must not be)
MUTATIONS = {
    # hooks, and what others spend
    "a gate that raises lets pass": ("gates", 'new, why = None, f"it failed ({describe(error)})"', "new, why = None, None"),
    "a gate that raises lets the model be called": ("gates", 'stop = Exit("refused", f"a hook ({name}) failed before', 'stop = None and Exit("refused", f"a hook ({name}) failed before'),
    "a changed call is not checked": ("gates", 'return call, *self.registry.check(tool.name, event["arguments"]), None', 'return call, tool, event["arguments"], None'),
    "a changed call needs no new yes": ("loop", 'if decision is None or decision["arguments"] != shown:', "if decision is None:"),
    "the model is not told what ran": ("loop", "if call.id in self.gated:", "if False:"),
    "a gate reaches the record": ("gates", "ToolCall(call.id, name, deepcopy(asked))", "ToolCall(call.id, name, asked)"),
    "the last gate counts": ("gates", "                return self.gated[call.id]\n            if new", "                pass\n            if new"),
    "a view is the list from then on": ("gates", "        self.sent = sent\n        return None\n", "        self.sent = sent\n        self.messages[:] = sent\n        return None\n"),
    "a view need not be a list that a provider takes": ("gates", "        check_messages(sent)\n", ""),
    "a view is counted as the whole list": ("gates", "account.view = account.meter.measure(", "account.meter.measure("),
    "a view counts for ever": ("gates", "        account.view = None\n", ""),
    "after a view the record has lost the list's size": ("loop", 'more["list_tokens"] = listed', "pass"),
    "an observer that raises ends the run": ("gates", "            except Exception as error:\n                self.record(", "            except ZeroDivisionError as error:\n                self.record("),
    "an observer sees what is not on record yet": (
        "loop",
        "        self.answer_call(call, result, arguments, ran=True, began=began)\n        if self.hooks:\n            self.tell(\"after_tool\", ToolCall(call.id, call.name, arguments), result)\n",
        "        if self.hooks:\n            self.tell(\"after_tool\", ToolCall(call.id, call.name, arguments), result)\n        self.answer_call(call, result, arguments, ran=True, began=began)\n",
    ),
    "a redacted change runs": ("journal", '            kept["redacted"] = True\n', "            pass\n"),
    "what a tool spends is not charged": ("state", '            if "spent" in event:\n                account.charge_spent(event["spent"])\n        elif kind == "call"', '        elif kind == "call"'),
    "what a view spends is not charged": ("state", '        elif kind in ("view", "hook"):\n            if "spent" in event:\n', '        elif kind in ("view", "hook"):\n            if False:\n'),
    "model calls of others are no steps": ("limits", 'self.delegated += spent["steps"]', "pass"),
    "tool calls of others do not count": ("limits", 'self.tool_calls += spent["tool_calls"]', "pass"),
    "errors of others do not count": ("limits", 'self.errors += spent["errors"]', "pass"),
    "each of two has all that is left": ("loop", "self.execute(*call, len(batch)) for", "self.execute(*call) for"),
    "the stricter limit is the larger": ("limits", '(max if name == "reserve" else min)(a, b)', "max(a, b)"),
    "a hook's end is forgotten by a replay": ("replaying", 'or "hook" in event)', "or False)"),
    "true fits an integer": ("schema", "if type(value) not in kinds:", "if not isinstance(value, kinds):"),
    "what is required is not looked for": ("schema", "return arguments.keys() >= needed", "return True"),
    # the exits
    "no step limit": ("limits", "(step_limit(self, account) or time_limit", "(time_limit"),
    "one step too many": ("limits", "account.model_calls >= limits.max_steps", "account.model_calls > limits.max_steps"),
    "one tool call too many": ("limits", "calls >= limits.max_tool_calls", "calls > limits.max_tool_calls"),
    "calls under way are not counted": ("limits", "account.tool_calls + account.under_way", "account.tool_calls"),
    "other calls are no barriers": ("loop", "if together and not (tool and tool.parallel):", "if False:"),
    "parallel calls run one after the other": ("loop", "if len(batch) < 2:", "if True:"),
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
    "cached tokens are not charged": ("limits", 'self.cached += bill["cached_tokens"]', "pass"),
    "the history is forgotten too soon": ("limits", "del done[:-3 * times]", "del done[:-2 * times]"),
    # the loop
    "the budget is asked after the call": (
        "loop",
        "stop = self.prepare() or self.limits.before_reply(self.account)     # may we?",
        "stop = None if not self.account.steps else self.limits.before_reply(self.account)",
    ),
    "the prompt is counted after the reply": (
        "loop",
        "usage=account.bill(reply, prompt, written)",
        "usage=account.bill(reply, account.meter.prompt, written)",
    ),
    "the reply is not appended": (
        "state",
        '                self.messages.append(event["message"])\n            account.steps',
        "                pass\n            account.steps",
    ),
    "a result is not appended": ("state", "            self.messages.append(message)\n            polls", "            polls"),
    "a result is not recorded": (
        "state",
        "        self.journal.write(event, self)\n",
        '        if kind != "result":\n            self.journal.write(event, self)\n',
    ),
    "the start of a tool is not recorded": (
        "loop",
        'self.record("call", step=self.account.steps, id=call.id, name=tool.name, arguments=arguments)\n        began = self.account.seconds()\n        self.ran',
        "began = self.account.seconds()\n        self.ran",
    ),
    "a result has the tool's name for its id": ("state", 'tool_message(event["id"], name, content)', "tool_message(name, name, content)"),
    "a repeated id is kept": ("state", "or known in used or clean(known)", "or clean(known)"),
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
    "an interrupt leaves calls open": ("loop", "                self.interrupted()\n", "                pass\n"),
    "a truncated reply runs": ("loop", "        if reply.truncated:\n", "        if False:\n"),
    "a refused reply is an answer": ("loop", "        if reply.refused:\n", "        if False:\n"),
    "a cut reply leaves its calls open": ("loop", "if ending and reply.tool_calls:", "if False:"),
    "an empty reply is asked about for ever": (
        "state",
        'self.nudged, self.told = event["outcome"] in ("says", "empty_reply") and "invalid" not in event, False',
        "self.nudged, self.told = False, False",
    ),
    "an empty reply is done": ("loop", "        if reply.final_text:\n", "        if not reply.tool_calls:\n"),
    "a tool runs before all are decided": ("loop", "        if self.pending:\n", "        if self.pending and len(self.pending) == len(checked):\n"),
    "approval is not asked for": ("loop", "if problem or not tool.needs_approval:", "if True:"),
    "any word is a yes": ("loop", "approved=said is True,", "approved=bool(said),"),
    "the approver may change the call": (
        "loop",
        "asked = ToolCall(call.id, tool.name, deepcopy(arguments))",
        "asked = ToolCall(call.id, tool.name, arguments)",
    ),
    "who cannot ask is allowed": ("loop", 'said = f"the approval failed ({describe(error)})"', "said = True"),
    "after a limit the batch goes on": ("loop", "stop = stop or self.limits.after_tool(self.account) or self.limits", "stop = self.limits"),
    "refused calls are no errors": ("state", 'account.errors += event["error"]\n', 'account.errors += event["error"] and event["ran"]\n'),
    "refused calls are no tool calls": ("state", "account.tool_calls += 1", 'account.tool_calls += event["ran"]'),
    "a poll tool is stopped": ("state", "object() if polls else content", "content"),
    "results do not belong to the repeat check": (
        "state",
        'signature.append((name, event["key"], object() if polls else content))',
        'signature.append((name, event["key"]))',
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
    "the time-out waits for the tool": ("tools", "[tool.timeout])[0]", "[None])[0]"),
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
    "an invented observation is believed": ("models", 'if m[1].lower() == "observation"), len(text))', "if False), len(text))"),
    "the script says nothing when it runs out": (
        "models",
        "if not self.entries or (self.calls > len(self.entries) and not self.repeat):",
        "if not self.entries:",
    ),
    # counts and prices
    "a report of nothing is believed": ("tokens", "told.output_tokens is not None and (told.total_tokens or not prompt):", "told.output_tokens is not None:"),
    "cached tokens are counted twice": ("tokens", "unread = max(0, prompt - told.cached_tokens) if told else prompt", "unread = prompt"),
    "cached tokens are free": ("tokens", "cached = self.input if self.cached is None else self.cached", "cached = self.cached or 0"),
    "output costs what input costs": ("tokens", "output_tokens / 1e6 * self.output", "output_tokens / 1e6 * self.input"),
    "definitions are not counted": ("tokens", "self._definitions = self._of(json.dumps(definitions)) if definitions else 0", "self._definitions = 0"),
    "calls are not counted": ("tokens", 'for c in message.get("tool_calls", ()) if self.native else ():', "for c in ():"),
    "a marker stops the count": ("tokens", "disallowed_special=()", 'disallowed_special="all"'),
    # the report and the record
    "a failure is a success in the report": ("trace", '"failed" if e["error"] else', ""),
    "the record forgets the nudge": (
        "journal",
        'event["kind"] in ("message", "reply")',
        'event["kind"] == "reply" or event["kind"] == "message" and not event.get("nudge")',
    ),
    # crashes, decisions, replay
    "an interrupted tool is said not to have run": ("state", 'ran = c["id"] in self.started', "ran = False"),
    "what may have run runs again": ("loop", "if call.id in self.started and (stop or refused or not tool.idempotent):", "if False:"),
    "an idempotent tool does not run again": (
        "loop",
        "if call.id in self.started and (stop or refused or not tool.idempotent):",
        "if call.id in self.started:",
    ),
    "a finished tool runs again": (
        "loop",
        "            if call.id in self.results:                             # finished before the run broke off\n                continue\n",
        "",
    ),
    "redacted arguments run": ("loop", "if call.id in self.redacted:", "if False:"),
    "a word of help is given twice": ("loop", "        if not self.told:\n", "        if True:\n"),
    "the tool changes what is on record": ("loop", "{k: v if type(v) in _FIXED else deepcopy(v) for k, v in arguments.items()}", "arguments"),
    "a key for each process": ("gates", 'Running(f"{self.journal.run_id}:{what}"', 'Running(f"{id(self)}:{what}"'),
    "a time-out loses the key": ("workers", "Outcome(context.run(job))", "Outcome(job())"),
    "a decision is bound to nothing": (
        "resuming",
        'if problem is None and (tool.name, canonical(arguments)) != (bound["name"], bound["arguments"]):',
        "if False:",
    ),
    "a decision may be used twice": ("resuming", 'elif event["kind"] in ("reply", "call", "result"):', "elif False:"),
    "a decision may be for any call": ("resuming", "    if wrong:\n", "    if False:\n"),
    "two in one process go on with one run": ("resuming", "work, seq=seen + 1)", "work)"),
    "a run that has ended goes on": ("resuming", 'if end["status"] not in _GO_ON:', "if False:"),
    "a limit that was met is met again": ("resuming", 'if again := _LIMITS[end["status"]](work.limits, work.account):', "if again := None:"),
    "the time between two processes counts": ("resuming", "work.account.go_on_from(seconds)", "work.account.go_on_from(seconds + 100)"),
    "the time before a crash does not count": ("resuming", "work.account.go_on_from(seconds)", "pass"),
    "ids start again": ("resuming", "            work.ids.update(", "            set().update("),
    "a reply that was paid for is asked for again": ("resuming", "return work.finish(lambda: left_undone(work, reply))", "return work.finish()"),
    "the answer of a text protocol is its text": ("resuming", 'return self.extra["answer"]', "return self.text"),
    "who is later overwrites": ("store", "INSERT INTO events", "INSERT OR REPLACE INTO events"),
    "an event need not be on the disk": ("store", "synchronous=FULL", "synchronous=OFF"),
    "a gap in the record passes": ("store", "    if missing:\n", "    if False:\n"),
    "who was overtaken writes on": ("journal", "if writer is not self._writer and writer is not None and event", "if False and event"),
    "a journal that has failed is written on": ("journal", "            if self._failed:\n", "            if False:\n"),
    "a torn line is left out wherever it is": ("journal", 'if n < last or not line.lstrip().startswith(b"{"):', "if False:"),
    "a secret hides in JSON": ("journal", 'if text.lstrip()[:1] in ("{", "["):', "if False:"),
    "a secret stays in the arguments": ("journal", '_through(redact, v, inside or k == "arguments")', "v"),
    "results are read as they came": ("journal", 'place = {c["id"]: n for n, c', 'place = {c["id"]: 0 for n, c'),
    "an unknown outcome is a failure in the report": (
        "trace",
        '"has an unknown outcome" if e.get("unknown") else',
        '"failed" if e.get("unknown") else',
    ),
    "a replay finds nothing": ("replaying", "    if then != now:\n", "    if False:\n"),
    "a replay does not look at the end": ("replaying", '_compare("how the run ends", [event.get("status", "it goes on")], [stop.kind])', "pass"),
    "a replay executes what is recorded": ("replaying", "if self.execute_again and finished:", "if finished:"),
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
            *(f"tests/test_{t}.py" for t in sorted(TESTS, key=lambda t: t != FIRST.get(module, module))),
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
    if "Timeout (" in done.stderr:
        where = re.search(r'/tests/(test_\w+\.py)", line \d+ in (test_\w+)', done.stderr)
        return f"{where[1]}::{where[2]} (does not end)" if where else "a test that does not end"
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
