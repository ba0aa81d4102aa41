"""Likely causes of a wrong answer that hold for any exercise."""

from __future__ import annotations

import inspect


def certain(outcome, printed: str) -> str:
    """What is wrong for sure, whatever the exercise says about this case."""
    result, error = outcome.result, outcome.error
    if isinstance(error, NotImplementedError):
        return "A `raise NotImplementedError` is still in your code."
    if isinstance(error, TypeError) and not outcome.line:
        return "It cannot be called this way. Compare the parameters after `def` with the input above."
    if isinstance(error, NameError) and not isinstance(error, UnboundLocalError):
        return "A name is not known here. Check its spelling, and run the cells above first."
    if isinstance(error, (SystemExit, KeyboardInterrupt)):
        return "It ends the whole program. Use `return` instead."
    if isinstance(error, RecursionError):
        return "It calls itself without end. Which call should be the last one?"
    if error is not None:
        return ""
    if inspect.iscoroutine(result):
        return "It is an `async def`; a plain `def` is asked for."
    if inspect.isgenerator(result):
        return "It has a `yield` and so gives a generator. Collect the items in a list and return that."
    if isinstance(result, (map, filter, zip)):
        return f"`{type(result).__name__}` gives its items only when asked. Put `list(...)` around it."
    if result is None and outcome.case.expect is not None and outcome.case.raises is None:
        if printed.strip():
            return "It prints the answer. Return it with `return`."
        return "It returns None. Does every way through the function end in a `return`?"
    return ""


def likely(outcome) -> str:
    """A guess from the kind of the exception or of the result; the exercise's own words go first."""
    error, result, want = outcome.error, outcome.result, outcome.case.expect
    if isinstance(error, KeyError):
        return "The dict has no such key for this input. Look before you take, or use `.get`."
    if isinstance(error, IndexError):
        return "The list is shorter than the index. What if it is empty?"
    if isinstance(error, AttributeError) and "'NoneType'" in outcome.came_back:
        return "Something is None here that you expect to be a value."
    if error is not None:
        return "An exception leaves your function for this input. Catch it where it can be answered, or avoid it."
    if outcome.case.raises is not None:
        return "This input is to be refused with an exception."
    if outcome.changed:
        return "It changes what it was given. Work on a copy."
    if isinstance(want, (int, float)) and isinstance(result, str):
        return "A text comes back where a number is expected."
    if isinstance(want, str) and isinstance(result, (dict, list)):
        return "A text is expected. Turn the value into text, with `json.dumps` for instance."
    if isinstance(want, (dict, list)) and isinstance(result, str):
        return "A value is expected, not its text."
    if isinstance(want, bool) != isinstance(result, bool) and isinstance(want, (int, float)) and isinstance(result, (int, float)):
        return "True and False are not the numbers 1 and 0 here."
    if isinstance(want, list) and isinstance(result, tuple):
        return "A tuple comes back where a list is expected."
    if isinstance(want, list) and isinstance(result, list) and len(want) == len(result):
        if all(item in result for item in want):
            return "The items are right, their order is not."
    return ""


def of_time_out(stuck: bool, returned: bool) -> str:
    if stuck:
        return (
            "It waits in a call that cannot be stopped from here, such as `time.sleep`, and was left behind."
            " Take the waiting out; restart the kernel if the notebook has become slow."
        )
    if returned:
        return "What it returns is endless or far too large."
    return "A loop that does not end. Does its condition change on every pass?"
