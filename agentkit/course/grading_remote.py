"""A learner's function as its judge calls it: the arguments go over the wire, the result comes back as data."""

from __future__ import annotations

import json
import time

from . import sandbox
from .grading_learner import ProcessEnded
from .grading_wire import CannotCross, Functions, received, taken, up
from .values import shorten


class Remote:
    """A learner's function, seen from here: each call is asked for over the line."""

    def __init__(self, learner, number, seconds):
        self.learner, self.functions, self.number, self.seconds = learner, learner.functions, number, seconds
        self.gone = self.end = None

    def __call__(self, *args, **kwargs):
        if self.gone is not None:
            raise self.gone
        sent = self.functions.down((args, kwargs))
        self.end = self.end or time.monotonic() + self.seconds
        self.learner.send(function=self.number, args=sent, seconds=max(self.end - time.monotonic(), 0.1))
        self.learner.waiting = True
        try:
            reply = self._reply()
        except ProcessEnded as error:
            self.gone = error
            raise
        self.learner.waiting = False
        return self._taken(reply, args, kwargs)

    def _reply(self):
        """Wait for the result; meanwhile answer the learner's calls of functions that came with the arguments."""
        while True:
            message = self.learner.next(time.monotonic() + 3600)     # the sandbox around this call knows the time
            if "back" not in message:
                return message
            raised = False
            try:
                args, kwargs = received(message["args"], self.functions, self._another)
                value = self.functions.known[message["back"]](*args, **kwargs)
            except sandbox.Stopped:
                raise
            except BaseException as error:
                raised, value = True, error
            try:
                value = self.functions.down(value)
            except CannotCross:
                value = self.functions.down(RuntimeError(shorten(str(value))) if raised else repr(value))
            self.learner.send(value=value, raised=raised)

    def _taken(self, reply, args, kwargs):
        if reply.get("timed_out") or reply.get("stuck"):
            self.learner.waiting = "stuck" if reply.get("stuck") else False
            while True:     # until the sandbox ends this call, as it ends any that takes too long
                time.sleep(0.02)
        if printed := str(reply.get("printed", "")):
            print(printed, end="")
        try:
            _update_all((args, kwargs), received(reply["args"], self.functions, self._another))
            if reply["error"] is not None:
                error = received(reply["error"], self.functions)
                error.learners_line = str(reply["error"].get("line", ""))
                raise error
            return received(reply["result"], self.functions, self._another)
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            if hasattr(error, "learners_line"):
                raise
            self.gone = ProcessEnded("its process answers what no function can")
            raise self.gone from None

    def _another(self, number):
        return Remote(self.learner, number, self.seconds)


def _update_all(old, new):
    (args, kwargs), (new_args, new_kwargs) = old, new
    for before, after in [*zip(args, new_args), *((value, new_kwargs[key]) for key, value in kwargs.items())]:
        _update(before, after)


def _update(old, new):
    """Make an argument what the learner's function has made of its copy."""
    if type(old) is not type(new) or type(old) not in (list, dict, set) or old == new:
        return
    if type(old) is list:
        old[:] = new
    else:
        old.clear()
        old.update(new)


class Loop:
    """A function of this process, called through the same wire: shows whether an exercise's values can travel at all."""

    def __init__(self, function):
        self.function, self.functions, self.backs, self.kept = function, Functions(), {}, []

    def __call__(self, *args, **kwargs):
        theirs = taken(_as_json(self.functions.down((args, kwargs))), self.backs, self._back)
        try:
            result = self.function(*theirs[0], **theirs[1])
        finally:
            _update_all((args, kwargs), self._up(list(theirs)))
        return self._up(result)

    def _back(self, number, args, kwargs):
        args, kwargs = self._up([list(args), kwargs])
        return self.functions.known[number](*args, **kwargs)

    def _up(self, value):
        return received(_as_json(up(value, self._keep)), self.functions, self.kept.__getitem__)

    def _keep(self, function):
        self.kept.append(function)
        return len(self.kept) - 1


def _as_json(value):
    return json.loads(json.dumps(value))
