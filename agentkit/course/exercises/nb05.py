"""The exercises of notebook 05, errors as text."""

import datetime
import json
from dataclasses import replace

from .. import error_styles, repairers
from ..exercise import Case, Exercise, Trap

TITLE = "Errors as text"

# ---- 05-1: never raises --------------------------------------------------------------------------------------------------

_EXECUTE_STUB = '''
def safe_execute(registry, name, args):
    """Run one call. Always text: the result, or "ERROR: ..." and why. `registry` maps names to functions.

    A text result stays as it is, other results become JSON, an empty one becomes "(no output)".
    """
    ...
'''
_EXECUTE = '''
import json

def safe_execute(registry, name, args):
    if not isinstance(name, str) or name not in registry:
        return f"ERROR: there is no tool {str(name)[:80]!r}. Available tools: {', '.join(registry)}."
    if not isinstance(args, dict):
        return f"ERROR: the arguments must be a JSON object, not {str(args)[:80]!r}."
    try:
        value = registry[name](**args)
        text = value if isinstance(value, str) else json.dumps(value, default=str)
    except Exception as error:
        return f"ERROR: {name} failed: {type(error).__name__}: {error}"
    return text if text.strip() else "(no output)"
'''


def _shop(order, qty):
    def look_up(order_id):
        if order_id != order:
            raise LookupError(f"no order {order_id}; ids look like {order}")
        return {"order_id": order_id, "qty": qty}

    def count():
        return f"{qty} orders"

    def broken():
        raise AssertionError

    def opened():
        return {"opened": datetime.date(2025, 1, qty)}

    def silent():
        return ""

    def stop():
        raise KeyboardInterrupt

    return {f.__name__: f for f in (look_up, count, broken, opened, silent, stop)}


def _error(*words):
    """A test: the result is an error text that has these words in it and no traceback."""
    def test(result, args):
        if not isinstance(result, str) or not result.startswith("ERROR"):
            return 'a text that starts with "ERROR"'
        if "Traceback" in result:
            return "one line without a traceback"
        missing = [w for w in words if w not in result]
        return f"an error text that names {', '.join(missing)}" if missing else None
    return test


def _execute_cases(rng):
    order, qty = f"A{rng.randrange(100, 999)}", rng.randrange(2, 28)
    shop = _shop(order, qty)

    def json_of(value):
        return lambda result, args: None if isinstance(result, str) and _loads(result) == value else f"the JSON text of {value!r}"

    return [
        Case((shop, "count", {}), f"{qty} orders", because="a text result goes to the model as it is"),
        Case((shop, "look_up", {"order_id": order}), test=json_of({"order_id": order, "qty": qty}), because="what is no text becomes JSON: json.dumps"),
        Case((shop, "look_up", {"order_id": "Z1"}), test=_error("LookupError", "no order Z1"),
             because="the model needs the type of the exception and its message"),
        Case((shop, "broken", {}), test=_error("AssertionError"), because="str(error) may be empty: give the type of the exception, too"),
        Case((shop, "lookup", {"order_id": order}), test=_error("look_up", "count"), because="a model that names no tool of yours needs the names there are"),
        Case((shop, ["count"], {}), test=_error("count"), because="the name comes from a model: it may be anything, a list too, which no dict can look up"),
        Case((shop, "count", None), test=_error(), because="arguments that are None, a list or a text are an error; never run the tool with a guess"),
        Case((shop, "count", [1, 2]), test=_error(), because="arguments that are None, a list or a text are an error; never run the tool with a guess"),
        Case((shop, "look_up", {"id": order}), test=_error(), because="a wrong argument name makes the call itself raise a TypeError"),
        Case((shop, "opened", {}), test=json_of({"opened": f"2025-01-{qty:02}"}), because="a date is no JSON; json.dumps takes default=str"),
        Case((shop, "silent", {}), "(no output)", because="providers refuse an empty text"),
        Case((shop, "stop", {}), raises=KeyboardInterrupt, because="Ctrl-C is not a tool's failure: it has to pass through"),
    ]


def _loads(text):
    try:
        return json.loads(text)
    except ValueError:
        return None


def _execute_variant(old, new):
    assert old in _EXECUTE
    return _EXECUTE.replace(old, new)


_CHECK = '''    if not isinstance(args, dict):
        return f"ERROR: the arguments must be a JSON object, not {str(args)[:80]!r}."
'''

# ---- 05-2: an error text that can be repaired from -------------------------------------------------------------------------

_TEXT_STUB = '''
def error_text(problem):
    """The text for the model about one failing call."""
    ...
'''
_TEXT = '''
import json

def error_text(problem):
    sent = json.dumps(problem["args"])
    sent = sent if len(sent) <= 200 else sent[:200] + "..."
    if problem["what"] == "unknown tool":
        correct = "Available tools: " + ", ".join(problem["tools"])
    else:
        correct = f"{problem['tool']} expects {json.dumps(problem['expected'])}"
    return f"ERROR: {problem['what']} '{problem['where']}'. You sent {sent}. {correct}"
'''
_WHAT = {"wrong argument name": "unknown argument", "missing argument": "missing argument", "wrong type": "wrong type",
         "wrong value": "value not allowed", "wrong id format": "wrong format", "unknown tool": "unknown tool"}
_LONGEST = 1_000


def problem_of(one):
    """A stand-in's first call as the dict that the exercise hands over."""
    tool = one.wrong["tool"]
    where = tool if one.kind == "unknown tool" else error_styles.fault_of(one.wrong).what.split("'")[1]
    expected = error_styles.TOOLS[tool].schema["properties"] if tool in error_styles.TOOLS else {}
    return {"what": _WHAT[one.kind], "where": where, "tool": tool, "args": one.wrong["args"], "expected": expected, "tools": error_styles.TOOLS.names}


def _text_case(one, args=None):
    """One stand-in without guesses of its own: it lives on what the text tells it."""
    one, problem = replace(one, guesses={}), problem_of(one)
    problem["args"] = {**problem["args"], **(args or {})}

    def test(result, _):
        if not isinstance(result, str) or not result.strip():
            return "a text"
        if len(result) > _LONGEST:
            return f"at most {_LONGEST:,} characters, not {len(result):,}"
        plan = one.repairs(result)
        if one.right in plan:
            return None
        tried = f"its next call was {json.dumps(plan[0])}" if plan else "it found nothing in your text to act on and gave up"
        return f"a text from which the stand-in can repair its call to {json.dumps(one.right)}; after yours, {tried}"

    return Case((problem,), test=test, because="It reads literally: names in quotes or in a list after a colon, a schema as JSON. Say what was wrong and what is right.")


def _text_cases(rng):
    found = [_text_case(repairers.repairer(kind, rng.randrange(10_000))) for kind in _WHAT]
    return found + [_text_case(repairers.repairer("wrong type", rng.randrange(10_000)), {"note": "please " * 5_000})]


# ---- 05-3: find the bug ----------------------------------------------------------------------------------------------------

def _is(letter):
    return lambda value, args: str(value).strip().lower() == letter


EXERCISES = [
    Exercise(
        id="05-1", title="It never raises", difficulty=3, minutes=8, name="safe_execute", stub=_EXECUTE_STUB, solution=_EXECUTE, cases=_execute_cases,
        task="Write `safe_execute(registry, name, args)`: always text, whatever the model asked for and whatever the tool does. `registry` maps names to functions. "
             "Ctrl-C still passes through.",
        hints=["Two checks before the call: is the name a text that the registry knows? Are the arguments a dict?",
               "Put the call and the json.dumps inside one try: both can raise.",
               "except Exception, not a bare except. The text: type(error).__name__ and the message."],
        traps=[
            Trap(_execute_variant("except Exception as error:", "except BaseException as error:"),
                 "You catch too much: a bare `except:` or `except BaseException` swallows KeyboardInterrupt, and nobody can stop the run with Ctrl-C any more.",
                 when=lambda result, args: args[1] == "stop"),
            Trap(_execute_variant("import json", "import json, traceback").replace('{type(error).__name__}: {error}"', '{traceback.format_exc()}"'),
                 "The traceback reaches the model. It holds paths and source lines, secrets among them, and is paid for again on every later call. "
                 "Keep it in your log; give the model one line.",
                 when=lambda result, args: isinstance(result, str) and "Traceback" in result),
            Trap(_execute_variant(_CHECK, "    args = args or {}\n"),
                 "You turned missing arguments into {} and ran the tool. That is a call nobody asked for.",
                 when=lambda result, args: args[2] is None and not str(result).startswith("ERROR")),
            Trap(_execute_variant(_CHECK, "    args = {key: value for key, value in args.items()}\n"),
                 "Your function raises when the arguments are no dict. A model's arguments may be None, a list or a text: look before you use them."),
            Trap(_EXECUTE.replace("        text = value if isinstance(value, str) else json.dumps(value, default=str)\n", "").replace(
                "    return text if", "    text = value if isinstance(value, str) else json.dumps(value)\n    return text if"),
                 "A result that JSON cannot hold, such as a date, makes json.dumps raise. It needs default=str, and a place inside the try."),
        ],
        after="Whatever a model or a tool does, the loop goes on, and the model reads why. That is Registry.execute, nearly line for line."),
    Exercise(
        id="05-2", title="A text that repairs", difficulty=2, minutes=8, name="error_text", stub=_TEXT_STUB, solution=_TEXT, cases=_text_cases,
        task=f"Write `error_text(problem)`. Nobody grades your words: stand-ins read them. They look for names in quotes, a list after a colon, a schema as JSON, "
             f"and have no guesses of their own. At most {_LONGEST:,} characters.",
        hints=["What does the stand-in need to know that it does not know yet? For an unknown tool that is something else than for a wrong argument.",
               'For an argument: the tool\'s name, "expects", and json.dumps(problem["expected"]). For a tool: the names, after a colon.',
               "The last input is huge. Show it back, but not all of it."],
        traps=[
            Trap('import json\n' + _TEXT.replace("    sent = sent if len(sent) <= 200 else sent[:200] + \"...\"\n", ""),
                 "Your text repeats the whole input, however long. It is sent again with every later call: cut it.",
                 when=lambda result, args: isinstance(result, str) and len(result) > _LONGEST),
            Trap("def error_text(problem):\n    return '400 Bad Request'\n",
                 "Your text does not even name what was wrong, so the stand-in does not know where to look.",
                 when=lambda result, args: isinstance(result, str) and args[0]["where"] not in result),
            Trap("def error_text(problem):\n    return f\"ERROR: {problem['what']} '{problem['where']}'\"\n",
                 "Your text says what was wrong, but not, for this mistake, what a correct call looks like. Without that one can only guess.",
                 when=lambda result, args: isinstance(result, str) and args[0]["where"] in result),
        ],
        after="What was wrong, the input within bounds, what a correct call looks like: seven stand-ins out of seven."),
    Exercise(
        id="05-3", title="Find the bug in this trace", difficulty=2, minutes=4, stub="answer = ...      # one letter: a, b, c or d\n", solution='answer = "b"\n',
        value=True, cases=[Case(test=lambda value, args: None if _is("b")(value, args) else "one letter, the cause: compare what the tool message says with the log")],
        task="The customer was told that the money is on its way. It is not. The model is the one you know. What is wrong?",
        hints=["Which of the four columns did the model see?", "It read the order, and then it read one word. What would you have answered?"],
        traps=[
            Trap('answer = "a"\n', "The model repeated what it was told: the tool message said ok. No prompt can make it see an error that it was never shown.", when=_is("a")),
            Trap('answer = "c"\n', "The run ended by itself, with an answer. More steps would not have changed what it read.", when=_is("c")),
            Trap('answer = "d"\n', "B456 is a good id and the call was a good call. It failed later, inside the payment.", when=_is("d")),
        ],
        after="Somebody wrote `except Exception: return \"ok\"`, or logged the error and returned nothing. To the model a swallowed error is a success."),
]
