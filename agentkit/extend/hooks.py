"""Hooks: your own functions at four fixed points of a run, in the place of one more `if` in the loop."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True)
class Hook:
    """One or more functions that run() calls at fixed points; `name` stands in the record.

    Two are gates. They may refuse or change what comes next, and one that raises has refused:
      before_model(messages, tools)   None lets pass; a list of messages (or View) is sent in its place, for this call only;
                                      a reason refuses (status "refused"); an Exit ends the run with the status it names
      before_tool(call)               None lets pass; a dict is the new arguments, checked and approved anew; a reason denies
    Two are observers. What they return is ignored; one that raises is recorded and the run goes on:
      after_model(reply)              the reply is on record by then
      after_tool(call, result)        so is the result; for every call that ran
    """

    name: str | None = None
    before_model: Callable | None = None
    after_model: Callable | None = None
    before_tool: Callable | None = None
    after_tool: Callable | None = None
