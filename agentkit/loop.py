"""The agent loop: run() and the four moves of a step. What a limit is stands in limits.py, what a tool is in tools.py."""

from __future__ import annotations

import time
from collections.abc import Iterable
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass

from .gates import Gates
from .journal import Journal, JournalError
from .limits import Exit, Limits, canonical
from .messages import REFUSED, TRUNCATED, Reply, ToolCall, Usage, clean
from .state import name_calls, plain_message
from .tools import RUNNING, Refused, Registry, Tool, ToolResult, bounded, describe, run_together, run_tool, to_text

_ENDS = TRUNCATED | REFUSED
_FIXED = frozenset({str, int, float, bool, type(None)})     # nobody can change these, so they need no copy
_EMPTY = "Your reply was empty. Call a tool, or answer in text."
_CUT = "ERROR: not run: the reply was truncated at the length limit, so this call may not be whole. Write a shorter reply."
_DECLINED = "ERROR: not run: the reply was marked as refused."
_UNKNOWN = "ERROR: outcome unknown: the run broke off while {} ran, and whether it took effect is not known; check before you repeat it"
_REDACTED = "the arguments of this call are kept only in redacted form, so it cannot run after the run was resumed; ask for it again"


@dataclass(frozen=True)
class Result:
    """How a run ended. `answer` is a text exactly when `status` is "done"."""

    status: str
    answer: str | None
    messages: list[dict]
    usage: Usage
    steps: int
    report: str
    pending: tuple[ToolCall, ...]
    journal: Journal


def run(model, tools: Registry | Iterable[Tool], task: str, *, system: str = "", limits: Limits = Limits(), approve=None, hooks=(),
        journal: Journal | None = None, count_tokens=None, prices=None, clock=time.monotonic) -> Result:
    """Let a model work on a task with tools until it answers or a limit stops it.

    Never raises for what the model or a tool does. Raises at once for a programmer's mistake: an empty task, a money
    budget without a price, a broken tool schema, a journal that is already written in. Raises JournalError when the
    record cannot be written: nothing is done that is not on record, and resume() goes on from there.
    """
    if not isinstance(task, str) or not task.strip():
        raise ValueError(f"the task must be a text that says something, not {task!r:.80}")
    if not isinstance(system, str):
        raise TypeError(f"system takes a text, not {system!r:.80}")
    journal = Journal() if journal is None else journal
    if journal.events:
        raise ValueError("this journal already holds a run: give each run its own, Journal(), or go on with this one, resume(journal, ...)")
    work = _Run(model, tools, limits, approve, journal, count_tokens, prices, clock, hooks)
    work.start(clean(task), clean(system))
    return work.finish()


class _Run(Gates):
    """One run under way."""

    def __init__(self, model, tools, limits, approve, journal, count, prices, clock, hooks=()):
        super().__init__(model, tools, limits, journal, count, prices, clock, hooks)
        self.approve = self.options["approve"] = approve
        self.stopped_by: str | None = None      # the hook that ended the run
        self.pending: tuple[ToolCall, ...] = ()
        self.answer: str | None = None

    def finish(self, first=lambda: None) -> Result:
        """Go on to the end; `first` does what was left undone."""
        try:
            return self.result(first() or self.loop())
        except JournalError:        # what cannot be recorded is not done
            raise
        except BaseException:       # Ctrl-C and the like pass through, but leave no call without a result
            with suppress(JournalError):
                self.interrupted()
            raise

    def loop(self) -> Exit:
        """Four moves a pass, until something says that the run ends."""
        while True:
            stop = self.prepare() or self.limits.before_reply(self.account)     # may we?
            if stop is None:
                reply, stop = self.decide()                         # 1. the model decides, 2. its reply joins the list
            if stop is None:
                stop = self.act(reply)                              # 3. your code runs the tools, 4. their results join the list
            if stop is not None:
                return stop

    # ---- the model decides ------------------------------------------------------------------------------------------

    def decide(self) -> tuple[Reply | None, Exit | None]:
        """One model call, paid for and recorded; the exit, if the reply itself is one."""
        account, prompt, listed, began = self.account, self.account.prompt, self.account.meter.prompt, self.account.seconds()
        account.steps += 1
        try:
            reply = self.model(self.sent, self.definitions)
            if not isinstance(reply, Reply):
                raise TypeError(f"a model returns a Reply, not {type(reply).__name__}")
            reply = name_calls(reply, self.ids)
            message, ending = plain_message(reply), self.exit_of(reply)
        except Exception as error:
            return None, Exit("model_error", f"the model failed at step {account.model_calls} ({describe(error)})")
        blank = message["content"] is None and not reply.tool_calls
        written = 0 if blank else account.meter.add(message)
        now = account.seconds()
        more = {"invalid": clean(reply.invalid)} if reply.invalid else {"answer": clean(reply.final_text)} if ending and ending.kind == "done" else {}
        if account.view is not None:
            more["list_tokens"] = listed
        self.record("reply", step=account.steps, message=None if blank else message, usage=account.bill(reply, prompt, written),
                    prompt_tokens=prompt, reply_tokens=written, stop_reason=reply.stop_reason and clean(reply.stop_reason),
                    outcome=ending.kind if ending else "acts" if reply.tool_calls else "says", seconds=now - began, elapsed=now, **more)
        self.tell("after_model", reply)
        return reply, self.end_of(reply, ending)

    def exit_of(self, reply: Reply) -> Exit | None:
        """The contents of a reply decide, not its label."""
        if (reply.tool_calls or reply.invalid) and reply.stop_reason not in _ENDS:
            return None
        n = self.account.model_calls
        after = f"after {n} step{'' if n == 1 else 's'}"
        if reply.refused:
            return Exit("refused", f"the model refused to answer {after}")
        if reply.truncated:
            return Exit("truncated", f"the reply was truncated at the length limit {after}")
        if reply.tool_calls or reply.invalid:
            return None
        if reply.final_text:
            return Exit("done", after)
        return Exit("empty_reply", f"two empty replies in a row {after}") if self.nudged else None

    def end_of(self, reply: Reply, ending: Exit | None) -> Exit | None:
        """What an ending leaves behind: the answer; or, where a reply was cut off or refused, a result for each call, none of which runs."""
        if ending and reply.tool_calls:
            for call in reply.tool_calls:
                if call.id not in self.results:
                    self.answer_call(call, ToolResult(_CUT if reply.truncated else _DECLINED, error=True), stopped=True)
            self.close_step()
        if ending and ending.kind == "done":
            self.answer = clean(reply.final_text)
        return ending

    # ---- your code acts ---------------------------------------------------------------------------------------------

    def act(self, reply: Reply) -> Exit | None:
        """See to it that each call of one reply has its result; a reply without calls is answered with a word of help."""
        if not reply.tool_calls:
            return self.help(reply)
        checked = [self.gate(self.check(call)) for call in reply.tool_calls]    # everything is read and decided before anything runs
        verdicts, self.pending = self.decisions(checked)
        if self.pending:
            self.record("pending", step=self.account.steps,
                        calls=[{"id": c.id, "name": c.name, "arguments": canonical(c.arguments)} for c in self.pending])
            return Exit("waiting_for_approval", f"for a person after {(n := self.account.model_calls)} step{'' if n == 1 else 's'}")
        stop = self.run_calls(checked, verdicts)
        self.close_step()
        return stop or self.limits.after_step(self.account)

    def check(self, call: ToolCall) -> tuple:
        """(call, tool, parsed arguments, None), or (call, None, None, the error for the model)."""
        try:
            if call.id in self.redacted:
                raise Refused(_REDACTED)
            return call, *self.registry.check(call.name, call.arguments), None
        except Refused as refused:
            return call, None, None, refused.result

    def decisions(self, checked: list[tuple]) -> tuple[dict, tuple[ToolCall, ...]]:
        """What people say of the calls that need approval: results for the rejected, and the calls still undecided."""
        verdicts, pending = {}, []
        for call, tool, arguments, problem in checked:
            if problem or not tool.needs_approval:
                continue
            if call.id in self.results or call.id in self.started and not tool.idempotent:
                continue                                            # it ran, or nobody knows whether it did: too late to ask
            asked = ToolCall(call.id, tool.name, deepcopy(arguments))   # what was shown is what runs
            shown, decision = canonical(arguments), self.decided.get(call.id)
            if decision is None or decision["arguments"] != shown:  # a hook has changed the call since: that is another one
                decision = self.ask(asked, shown)
            if decision is None:
                pending.append(asked)
            elif not decision["approved"]:
                why = decision["why"]
                verdicts[call.id] = ToolResult(bounded("ERROR: a person rejected this action" + (f": {why}" if why else "")))
        return verdicts, tuple(pending)

    def ask(self, asked: ToolCall, arguments: str) -> dict | None:
        """Ask for one decision and record it; None while there is none."""
        try:
            said = None if self.approve is None else self.approve(asked)
        except Exception as error:                                  # whoever cannot ask has not been allowed
            said = f"the approval failed ({describe(error)})"
        return None if said is None else self.decision(asked.id, asked.name, arguments, said)

    def decision(self, id: str, name: str, arguments: str, said) -> dict:
        """Record what a person said of one call, bound to its name and arguments. Whatever is not True is a no."""
        self.record("decision", step=self.account.steps, id=id, name=name, arguments=arguments, approved=said is True,
                    why="" if said is True or said is False else to_text(said).strip())
        return self.decided[id]

    def run_calls(self, checked: list[tuple], verdicts: dict) -> Exit | None:
        """One result for every call that has none yet; the exit, if a limit was met on the way.

        Calls of tools marked `parallel` that stand side by side run together; every other call waits for those before it.
        """
        stop, together = None, []
        for call, tool, arguments, problem in checked:
            if call.id in self.results:                             # finished before the run broke off
                continue
            if together and not (tool and tool.parallel):
                self.run_together(together)
            stop = stop or self.limits.after_tool(self.account) or self.limits.before_tool(self.account)
            refused = problem or verdicts.get(call.id)
            if call.id in self.started and (stop or refused or not tool.idempotent):
                self.answer_call(call, ToolResult(_UNKNOWN.format(call.name[:64]), error=True), arguments, ran=True, unknown=True)
            elif stop:
                self.answer_call(call, ToolResult(f"ERROR: not run: the run stopped at {stop.message}", error=True), arguments, stopped=True)
            elif refused:
                self.answer_call(call, refused, arguments)
            elif tool.parallel:
                together.append((call, tool, arguments))
                self.account.under_way = len(together)
            else:
                self.run_call(call, tool, arguments)
        self.run_together(together)
        return stop or self.limits.after_tool(self.account)

    def run_call(self, call: ToolCall, tool: Tool, arguments: dict) -> None:
        """Run one call, with an event before and an event after."""
        self.record("call", step=self.account.steps, id=call.id, name=tool.name, arguments=arguments)
        began = self.account.seconds()
        self.ran(call, self.execute(call, tool, arguments), arguments, began)

    def ran(self, call: ToolCall, result: ToolResult, arguments: dict, began: float) -> None:
        """A tool has run: that is recorded first, and only then shown to others, which may fail."""
        self.answer_call(call, result, arguments, ran=True, began=began)
        if self.hooks:
            self.tell("after_tool", ToolCall(call.id, call.name, arguments), result)

    def run_together(self, calls: list[tuple]) -> None:
        """Run these calls beside each other and empty the list; a finished one is on record while its siblings still run."""
        batch = calls[:]
        calls.clear()
        self.account.under_way = 0
        if len(batch) < 2:
            for call in batch:
                self.run_call(*call)
            return
        for call, tool, arguments in batch:
            self.record("call", step=self.account.steps, id=call.id, name=tool.name, arguments=arguments)
        began = self.account.seconds()

        def finished(i, outcome):
            self.ran(batch[i][0], outcome.result(), batch[i][2], began)     # Ctrl-C in a tool is raised here

        run_together([lambda call=call: self.execute(*call, len(batch)) for call in batch], [None] * len(batch), finished)

    def execute(self, call: ToolCall, tool: Tool, arguments: dict, beside: int = 1) -> ToolResult:
        """The tool itself, on a copy of the arguments: the record keeps what was asked. Writes nothing, so it may run in any thread."""
        token = RUNNING.set(self.running(call.id, beside))
        try:
            result = run_tool(tool, {k: v if type(v) in _FIXED else deepcopy(v) for k, v in arguments.items()})
        finally:
            RUNNING.reset(token)
        if call.id in self.gated:       # the model is told what really ran
            note = f"[a hook changed the arguments of this call to {canonical(arguments)}]\n"
            return result._replace(text=bounded(note + result.text))
        return result

    def help(self, reply: Reply) -> Exit | None:
        """Tell the model what was wrong with a reply that neither acts nor answers."""
        if not self.told:
            self.append({"role": "user", "content": clean(reply.invalid or _EMPTY)}, nudge=True, error=reply.invalid is not None)
        if reply.invalid is None:
            return None
        return self.limits.after_tool(self.account) or self.limits.after_step(self.account)

    # ---- the end -----------------------------------------------------------------------------------------------------

    def result(self, stop: Exit) -> Result:
        limit = stop.kind in ("step_limit", "tool_call_limit", "time_limit", "token_budget", "cost_budget", "error_limit")
        self.record("end", status=stop.kind, why=stop.message, at=limit, value=stop.value, limit=stop.limit, steps=self.account.steps,
                    elapsed=self.account.seconds(), **({"hook": self.stopped_by} if self.stopped_by else {}))
        return Result(stop.kind, self.answer, self.messages, self.account.usage, self.account.model_calls, self.journal.report(), self.pending, self.journal)
