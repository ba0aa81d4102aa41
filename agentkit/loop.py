"""The agent loop: run() and the four moves of a step. What a limit is stands in limits.py, what a tool is in tools.py."""

from __future__ import annotations

import time
from collections.abc import Iterable
from copy import deepcopy
from dataclasses import dataclass, replace

from .journal import Journal
from .limits import Account, Exit, Limits, canonical
from .messages import Reply, ToolCall, Usage, clean, tool_message
from .tools import Refused, Registry, Tool, ToolResult, bounded, describe, run_tool, to_text

_EMPTY = "Your reply was empty. Call a tool, or answer in text."
_CUT = "ERROR: not run: the reply was truncated at the length limit, so this call may not be whole. Write a shorter reply."
_INTERRUPTED = "ERROR: interrupted; whether it took effect is not known"
_DECLINED = "ERROR: not run: the reply was marked as refused."


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


def run(model, tools: Registry | Iterable[Tool], task: str, *, system: str = "", limits: Limits = Limits(), approve=None,
        journal: Journal | None = None, count_tokens=None, prices=None, clock=time.monotonic) -> Result:
    """Let a model work on a task with tools until it answers or a limit stops it.

    Never raises for what the model or a tool does. Raises at once for a programmer's mistake: an empty task, a money
    budget without a price, a broken tool schema, a journal that is already written in.
    """
    if not isinstance(task, str) or not task.strip():
        raise ValueError(f"the task must be a text that says something, not {task!r:.80}")
    if not callable(model):
        raise TypeError(f"a model is a function, model(messages, tools) -> Reply, not {model!r:.80}")
    if not isinstance(system, str) or not isinstance(limits, Limits):
        raise TypeError(f"system takes a text and limits takes Limits(...), not {system if not isinstance(system, str) else limits!r:.80}")
    journal = Journal() if journal is None else journal
    if journal.events:
        raise ValueError("this journal already holds a run: give each run its own, Journal()")
    work = _Run(model, tools if isinstance(tools, Registry) else Registry(tools), limits, approve, journal, count_tokens, prices, clock)
    journal.add("start", task=clean(task), tools=work.registry.names, model=getattr(model, "name", None))
    if system.strip():
        work.append({"role": "system", "content": clean(system)})
    work.append({"role": "user", "content": clean(task)})
    try:
        return work.result(work.loop())
    except BaseException:       # Ctrl-C and the like pass through, but leave no call without a result
        work.interrupted()
        raise


class _Run:
    """One run under way: the list, the account, the record."""

    def __init__(self, model, registry, limits, approve, journal, count, prices, clock):
        self.model, self.registry, self.limits, self.approve, self.journal = model, registry, limits, approve, journal
        self.definitions = registry.definitions()
        self.account = Account(limits, model, self.definitions, count, prices, clock)
        self.messages: list[dict] = []
        self.pending: tuple[ToolCall, ...] = ()
        self.answer: str | None = None
        self.nudged = False
        self.ids: set[str] = set()

    def loop(self) -> Exit:
        """Four moves a pass, until something says that the run ends."""
        while True:
            stop = self.limits.before_reply(self.account)           # may we?
            if stop is None:
                reply, stop = self.decide()                         # 1. the model decides, 2. its reply joins the list
            if stop is None:
                stop = self.act(reply)                              # 3. your code runs the tools, 4. their results join the list
            if stop is not None:
                return stop

    # ---- the model decides ------------------------------------------------------------------------------------------

    def decide(self) -> tuple[Reply | None, Exit | None]:
        """One model call, paid for and recorded; the exit, if the reply itself is one."""
        prompt, self.account.steps = self.account.meter.prompt, self.account.steps + 1
        try:
            reply = self.model(self.messages, self.definitions)
            if not isinstance(reply, Reply):
                raise TypeError(f"a model returns a Reply, not {type(reply).__name__}")
            reply = name_calls(reply, self.ids)
            message, ending = reply.as_message(), self.exit_of(reply)
        except Exception as error:
            return None, Exit("model_error", f"the model failed at step {self.account.steps} ({describe(error)})")
        blank = message["content"] is None and not reply.tool_calls
        written = 0 if blank else self.account.meter.add(message)
        usage = self.account.charge(reply, prompt, written)
        self.messages += [] if blank else [message]
        self.journal.add("reply", step=self.account.steps, message=None if blank else message, usage=usage, prompt_tokens=prompt,
                         stop_reason=reply.stop_reason, outcome=ending.kind if ending else "acts" if reply.tool_calls else "says")
        if ending and reply.tool_calls:                             # cut off or refused: nothing of it runs, every call is answered
            for call in reply.tool_calls:
                self.answer_call(call, ToolResult(_CUT if reply.truncated else _DECLINED, error=True), canonical(call.arguments), stopped=True)
        if ending and ending.kind == "done":
            self.answer = clean(reply.final_text)
        return reply, ending

    def exit_of(self, reply: Reply) -> Exit | None:
        """The contents of a reply decide, not its label."""
        n = self.account.steps
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

    # ---- your code acts ---------------------------------------------------------------------------------------------

    def act(self, reply: Reply) -> Exit | None:
        """Run the calls of one reply in order, one result each; a reply without calls is answered with a word of help."""
        if not reply.tool_calls:
            return self.help(reply)
        self.nudged = False
        checked = [self.check(call) for call in reply.tool_calls]   # everything is read and decided before anything runs
        verdicts, self.pending = self.decisions(checked)
        if self.pending:
            return Exit("waiting_for_approval", f"for a person after {self.account.steps} step{'' if self.account.steps == 1 else 's'}")
        stop, signature = None, []
        for call, tool, arguments, problem in checked:
            stop, ran = stop or self.limits.before_tool(self.account), False
            if skipped := stop is not None:
                result = ToolResult(f"ERROR: not run: the run stopped at {stop.message}", error=True)
            else:
                self.account.tool_calls += 1
                result = problem or verdicts.get(call.id)
                if result is None:
                    self.journal.add("call", step=self.account.steps, id=call.id, name=tool.name, arguments=arguments)
                    result, ran = run_tool(tool, {k: deepcopy(v) for k, v in arguments.items()}), True  # the record keeps what was asked
                if result.error:
                    self.account.errors += 1
                    stop = self.limits.after_tool(self.account)
            key = canonical(call.arguments if problem else arguments)
            self.answer_call(call, result, key, ran, skipped)
            signature.append((call.name, key, object() if ran and tool.poll else result.text))
        self.account.history.append(signature)
        return stop or self.limits.after_step(self.account)

    def check(self, call: ToolCall) -> tuple:
        """(call, tool, parsed arguments, None), or (call, None, None, the error for the model)."""
        try:
            return call, *self.registry.check(call.name, call.arguments), None
        except Refused as refused:
            return call, None, None, refused.result

    def decisions(self, checked: list[tuple]) -> tuple[dict, tuple[ToolCall, ...]]:
        """What people say of the calls that need approval: results for the rejected, and the calls still undecided."""
        verdicts, pending = {}, []
        for call, tool, arguments, problem in checked:
            if problem or not tool.needs_approval:
                continue
            asked = ToolCall(call.id, tool.name, deepcopy(arguments))   # what is approved is what runs, whatever is done to this one
            try:
                said = None if self.approve is None else self.approve(asked)
            except Exception as error:                              # whoever cannot ask has not been allowed
                said = f"the approval failed ({describe(error)})"
            if said is None:
                pending.append(asked)
            elif said is not True:
                why = "" if said is False else to_text(said).strip()
                verdicts[call.id] = ToolResult(bounded("ERROR: a person rejected this action" + (f": {why}" if why else "")))
        return verdicts, tuple(pending)

    def help(self, reply: Reply) -> Exit | None:
        """Tell the model what was wrong with a reply that neither acts nor answers."""
        if reply.invalid:
            self.nudged = False
            self.account.errors += 1
            self.append({"role": "user", "content": clean(reply.invalid)}, nudge=True)
            self.account.history.append([reply.text])
            return self.limits.after_tool(self.account) or self.limits.after_step(self.account)
        self.nudged = True
        self.append({"role": "user", "content": _EMPTY}, nudge=True)
        return None

    # ---- the list and the record --------------------------------------------------------------------------------------

    def append(self, message: dict, **facts) -> None:
        """Put a message on the list and in the record; counting comes last, because a counter is other people's code."""
        self.messages.append(message)
        self.journal.add("message", message=message, **facts)
        self.account.meter.add(message)

    def answer_call(self, call: ToolCall, result: ToolResult, key: str, ran: bool = False, stopped: bool = False) -> None:
        """The one result of a call: on the list directly after its assistant message, and in the record."""
        message = tool_message(call.id, call.name, result.text)
        self.messages.append(message)
        self.journal.add("result", step=self.account.steps, id=call.id, name=call.name, key=key, content=result.text,
                         error=result.error, ran=ran, stopped=stopped)
        self.account.meter.add(message)

    def interrupted(self) -> None:
        """Answer the calls that are open, so that the list stays one that a provider accepts."""
        last = next((i for i in range(len(self.messages) - 1, -1, -1) if self.messages[i]["role"] == "assistant"), 0)
        answered = {m.get("tool_call_id") for m in self.messages[last:]}
        for asked in self.messages[last].get("tool_calls", ()):
            if asked["id"] not in answered:
                call = ToolCall(asked["id"], asked["function"]["name"], asked["function"]["arguments"])
                self.answer_call(call, ToolResult(_INTERRUPTED, error=True), canonical(call.arguments), stopped=True)

    def result(self, stop: Exit) -> Result:
        limit = stop.kind in ("step_limit", "tool_call_limit", "time_limit", "token_budget", "cost_budget", "error_limit")
        self.journal.add("end", status=stop.kind, why=stop.message, at=limit, value=stop.value, limit=stop.limit)
        return Result(stop.kind, self.answer, self.messages, self.account.usage, self.account.steps, self.journal.report(), self.pending, self.journal)


def name_calls(reply: Reply, used: set[str]) -> Reply:
    """The reply with an id of its own for every call of the run (missing, repeated and reused ones are replaced), and names as text."""
    calls = []
    for call in reply.tool_calls:
        known = call.id
        if not isinstance(known, str) or not known.strip() or known in used or clean(known) != known:
            known = next(i for n in range(len(used) + 1, len(used) * 2 + 3) if (i := f"call_{n}") not in used)
        used.add(known)
        name = to_text(call.name)
        calls.append(call if known is call.id and name is call.name else ToolCall(known, name, call.arguments))
    return reply if calls == list(reply.tool_calls) else replace(reply, tool_calls=tuple(calls))
