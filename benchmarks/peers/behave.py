"""What six frameworks and agentkit send and do: one scripted task, and what can go wrong in it, against agentkit's local server.

    python benchmarks/peers/behave.py                     every system; about 20 minutes on two busy cores
    python benchmarks/peers/behave.py agentkit            one row anew; the others stay as they are stored
    python benchmarks/peers/behave.py --show              print what is stored

Each framework runs in its own environment (see environments.py) with its defaults, telemetry off, no network beyond the
loopback address, one fresh process for each case. Stored in agentkit/course/data/frameworks.json, facts only: what was
sent, what ran, what the model was told, how the run ended.
"""

import argparse
import json
import os
import subprocess
import sys
import textwrap
from datetime import date

from adapters import SYSTEM, TASK, short
from environments import CACHE, CHECKOUT, DISTRIBUTIONS, HERE, QUIET, alone, install, python_of, scratch, settings, version_of

sys.path.insert(0, str(CHECKOUT))

from agentkit import Reply, ToolCall, __version__, call, count_tokens
from agentkit.providers.server import Server

DATA = CHECKOUT / "agentkit" / "course" / "data" / "frameworks.json"
MOST = 400          # characters of a text that are kept
SECONDS = 300       # for one case
ENDLESS = 150       # model calls after which an endless script answers
ANSWER = "Order A123 costs 5900.00 with tax."
GOOD = call("get_order", order_id="A123")


def final(tools):
    """The answer, as the system wants it: a call of final_answer where it offers such a tool, else plain text."""
    wants_call = any(t["function"]["name"] == "final_answer" for t in tools)
    return Reply(tool_calls=(call("final_answer", answer=ANSWER),)) if wants_call else Reply(ANSWER)


# case -> (what the model does, its replies: an entry, or a function of the number of the call; then it answers)
CASES = {
    "task": ("looks up the order, adds the tax, answers", [GOOD, call("add_tax", amount=5000, percent=18)]),
    "unknown_tool": ("calls get_ordr, which nobody offered", [call("get_ordr", order_id="A123")]),
    "wrong_argument": ("names the argument order in the place of order_id", [call("get_order", order="A123")]),
    "wrong_type": ("sends a number where the schema says string", [call("get_order", order_id=123)]),
    "tool_raises": ("calls get_order, which raises RuntimeError", [call("get_order", order_id="BROKEN")]),
    "broken_json": ("sends arguments that are cut off: no JSON", [ToolCall(None, "get_order", '{"order_id": "A123"')]),
    "two_calls": ("makes two calls in one reply; the second raises", [[GOOD, call("get_order", order_id="BROKEN")]]),
    "never_stops": (f"makes a new call each time; the script answers after {ENDLESS}", [lambda n: call("get_order", order_id=f"B{n}")] * ENDLESS),
    "same_call": (f"makes the same call each time; the script answers after {ENDLESS}", [GOOD] * ENDLESS),
    "empty_reply": ("replies with neither text nor call, once", [Reply()]),
    "always_empty": (f"replies with neither text nor call; the script answers after {ENDLESS}", [Reply()] * ENDLESS),
    "text_first": ("answers in text at once, whatever tools and tool_choice there are", [Reply(ANSWER)]),
}

# What was used of it, and the default limit as its code has it.
MADE_WITH = {
    "agentkit": "run() with providers.OpenAIChat; max_steps=10, max_repeats=3",
    "openai-agents": "Agent, function_tool and Runner.run_sync, with OpenAIChatCompletionsModel (its own default is the Responses API); max_turns=10",
    "pydantic-ai": "Agent.run_sync with OpenAIChatModel; UsageLimits(request_limit=50)",
    "langgraph": "langgraph.prebuilt.create_react_agent with langchain-openai's ChatOpenAI; recursion_limit=10007 supersteps, two a step",
    "smolagents": "ToolCallingAgent.run with OpenAIServerModel; max_steps=20",
    "llm": "Model.chain with its plugin for OpenAI; chain_limit=None in Python, 5 on its command line",
    "crewai": "Agent, Task and Crew.kickoff with LLM; max_iter=25",
}

# Which of the framework's files holds what ours holds: (file, a line that stands in it).
PARTS = {
    "openai-agents": {
        "loop.py": ("agents/run_internal/run_loop.py", "async def run_single_turn("), "tools.py": ("agents/run_internal/tool_execution.py", ""),
        "schema.py": ("agents/function_schema.py", "def function_schema("), "limits.py": ("agents/run_config.py", "DEFAULT_MAX_TURNS = 10"),
        "messages.py": ("agents/items.py", "class ModelResponse:"), "resuming.py": ("agents/run_state.py", "class RunState("),
        "gates.py": ("agents/lifecycle.py", "class RunHooksBase("), "retry.py": ("agents/retry.py", "class ModelRetrySettings:"),
        "trace.py": ("agents/tracing/traces.py", "class Trace("), "models.py": ("agents/testing/model.py", "class ScriptedModel("),
        "providers": ("agents/models/openai_chatcompletions.py", "class OpenAIChatCompletionsModel("), "extend/mcp.py": ("agents/mcp/server.py", "")},
    "pydantic-ai": {
        "loop.py": ("pydantic_ai/_agent_graph.py", "class CallToolsNode("), "tools.py": ("pydantic_ai/tool_manager.py", "class ToolManager("),
        "schema.py": ("pydantic_ai/_function_schema.py", "def function_schema("), "limits.py": ("pydantic_ai/usage.py", "class UsageLimits:"),
        "messages.py": ("pydantic_ai/messages.py", "ModelMessagesTypeAdapter ="), "resuming.py": ("pydantic_ai/_deferred.py", "class DeferredToolRequests:"),
        "gates.py": ("pydantic_ai/capabilities/hooks.py", "class Hooks("), "retry.py": ("pydantic_ai/retries.py", ""),
        "trace.py": ("pydantic_ai/models/instrumented.py", "class InstrumentedModel("), "models.py": ("pydantic_ai/models/function.py", "class FunctionModel("),
        "providers": ("pydantic_ai/models/openai/_chat_model.py", "class OpenAIChatModel("), "extend/mcp.py": ("pydantic_ai/mcp.py", "")},
    "langgraph": {
        "loop.py": ("langgraph/prebuilt/chat_agent_executor.py", "def create_react_agent("), "tools.py": ("langgraph/prebuilt/tool_node.py", "class ToolNode("),
        "schema.py": ("langchain_core/tools/base.py", "def create_schema_from_function("), "limits.py": ("langgraph/errors.py", "class GraphRecursionError("),
        "messages.py": ("langgraph/graph/message.py", "def add_messages("), "journal.py": ("langgraph/checkpoint/memory/__init__.py", "class InMemorySaver("),
        "resuming.py": ("langgraph/types.py", "def interrupt("), "retry.py": ("langgraph/pregel/_retry.py", "def run_with_retry("),
        "trace.py": ("langchain_core/tracers/base.py", "class BaseTracer("),
        "models.py": ("langchain_core/language_models/fake_chat_models.py", "class GenericFakeChatModel("),
        "providers": ("langchain_openai/chat_models/base.py", "class ChatOpenAI(")},
    "smolagents": {
        "loop.py": ("smolagents/agents.py", "class ToolCallingAgent("), "tools.py": ("smolagents/tools.py", "def validate_tool_arguments("),
        "schema.py": ("smolagents/_function_type_hints_utils.py", "def get_json_schema("), "limits.py": ("smolagents/agents.py", "max_steps: int = 20"),
        "journal.py": ("smolagents/memory.py", "class AgentMemory:"), "gates.py": ("smolagents/memory.py", "class CallbackRegistry:"),
        "retry.py": ("smolagents/utils.py", "class Retrying:"), "trace.py": ("smolagents/monitoring.py", "class Monitor:"),
        "providers": ("smolagents/models.py", "class OpenAIModel(")},
    "llm": {
        "loop.py": ("llm/models.py", "class ChainResponse("), "tools.py": ("llm/models.py", "def execute_tool_calls("),
        "limits.py": ("llm/models.py", "Chain limit of {self.chain_limit} exceeded"), "messages.py": ("llm/parts.py", "class Message"),
        "resuming.py": ("llm/models.py", "class PauseChain("), "journal.py": ("llm/logs.py", "class LogStore"),
        "providers": ("llm/default_plugins/openai_models.py", "class Chat(")},
    "crewai": {
        "loop.py": ("crewai/agents/agent_executor.py", "class AgentExecutor("), "tools.py": ("crewai/utilities/agent_utils.py", ""),
        "schema.py": ("crewai/tools/structured_tool.py", "class CrewStructuredTool("), "limits.py": ("crewai/utilities/agent_utils.py", "def handle_max_iterations_exceeded("),
        "gates.py": ("crewai/hooks/tool_hooks.py", ""), "trace.py": ("crewai/events/event_bus.py", "class CrewAIEventsBus:"),
        "providers": ("crewai/llms/providers/openai/completion.py", "class OpenAICompletion(")},
}


class AsLenientAsOpenAI(Server):
    """OpenAI takes a system message anywhere; agentkit's check wants it first, as some providers do."""

    def answer(self, messages, tools):
        return super().answer([{**m, "role": "user"} if i and m["role"] == "system" else m for i, m in enumerate(messages)], tools)


def observe(case, run):
    """One case; `run(url)` lets a system work and returns what adapters.ask() does."""
    entries, sent = CASES[case][1], []

    def model(messages, tools):
        n = len(sent)
        sent.append(1)
        if n >= len(entries):
            return final(tools)
        return entries[n](n) if callable(entries[n]) else entries[n]

    with AsLenientAsOpenAI(model) as server:
        found = run(server.url + "/v1")
        requests = [r for r in server.requests if r["api"]]
    bodies = [r["body"] for r in requests if isinstance(r["body"], dict)]
    sizes = [tokens_of(body) for body in bodies]
    found["executed"], ran = [f"{tool}({', '.join(f'{k}={v!r}' for k, v in a.items())})" for tool, a in found["executed"][:6]], len(found["executed"])
    kept = {"model_calls": len(bodies), "tokens": {"first": sum(sizes[0]), "last": sum(sizes[-1]), "all": sum(map(sum, sizes))} if sizes else None,
            "ran": ran, **{k: v for k, v in found.items() if k != "reached" or v}}
    refused = [{"call": i, "status": r["status"], "sent": short(r["body"], MOST)} for i, r in enumerate(requests, 1) if r["status"] != 200]
    if refused:
        kept["refused_by_server"] = refused[:3]
    if case == "task":
        kept["sent"] = [view(body, size, bodies[i - 1] if i else None) for i, (body, size) in enumerate(zip(bodies, sizes))]
    elif len(bodies) > 1:
        kept["second_call_adds"] = added(bodies[0]["messages"], bodies[1]["messages"])
    kept["observed"] = sentence(kept)
    return kept


def text_of(message):
    """A message's words, whether they stand in one text or in parts."""
    content = message.get("content")
    return content if isinstance(content, str) else "".join(p.get("text", "") if isinstance(p, dict) else str(p) for p in content or ())


def tokens_of(body):
    """(tokens of the messages, tokens of the tool definitions), counted as agentkit counts."""
    def of(message):
        return count_tokens(text_of(message)) + sum(count_tokens(c["function"]["name"] + c["function"]["arguments"]) for c in message.get("tool_calls") or ())

    return sum(map(of, body["messages"])), count_tokens(json.dumps(body["tools"])) if body.get("tools") else 0


def trimmed(message):
    """A message as it was sent, with its texts cut."""
    said = {"role": message["role"], "content": short(text_of(message), MOST) if message.get("content") is not None else None}
    if message.get("tool_calls"):
        said["tool_calls"] = [{"id": c["id"], "name": c["function"]["name"], "arguments": short(c["function"]["arguments"], MOST)} for c in message["tool_calls"]]
    return {**said, **{k: v for k, v in message.items() if k not in (*said, "tool_calls") and v is not None}}


def added(before, after):
    """What the later call's list has that the earlier one's had not; a message that was made longer is told by what it gained."""
    same = next((i for i, (a, b) in enumerate(zip(before, after)) if a != b), min(len(before), len(after)))
    new = [trimmed(m) for m in after[same:]]
    if same < len(before) and new and text_of(after[same]).startswith(text_of(before[same])):
        new[0] = {"role": after[same]["role"], "added_to_its_content": short(text_of(after[same])[len(text_of(before[same])):], MOST)}
    return new[:6]


def view(body, size, before):
    """One request of the plain task: all of the first one, then only what is new."""
    fields = {k: v for k, v in body.items() if k not in ("messages", "tools", "model")}
    kept = {"tokens": {"messages": size[0], "tools": size[1]}, "messages": len(body["messages"]), "other_fields": fields}
    if before is None:
        return {**kept, "list": [trimmed(m) for m in body["messages"]], "tools": [tool_view(t) for t in body.get("tools") or ()]}
    return {**kept, "adds": added(before["messages"], body["messages"]), "tools": "the same" if body.get("tools") == before.get("tools") else "others"}


def tool_view(tool):
    function = tool["function"]
    return {**function, "description": short(function.get("description", ""), MOST)}


def sentence(kept):
    """What was seen, in one line."""
    calls = kept["model_calls"]
    after = f"after {calls} model call{'' if calls == 1 else 's'}"
    ran = "ran " + (", ".join(kept["executed"][:2]) or "no tool") + (f" and {kept['ran'] - 2} more" if kept["ran"] > 2 else "")
    replies = [m for m in kept.get("second_call_adds", ()) if m["role"] != "assistant"]
    said = "; ".join(repr(one_line(m.get("added_to_its_content") or m["content"], 160)) for m in replies[:2])
    told = f"; sent back: {said}" if said else ""
    if kept["ended"] == "returned":
        answer = repr(None if kept["answer"] is None else one_line(kept["answer"], 80))
        return f"{ran}{told}; returned {answer}{' with ' + kept['state'] if kept.get('state') else ''} {after}"
    return f"{ran}{told}; {kept['ended']} {kept['error']}: {one_line(kept['message'], 120)!r} {after}"


def one_line(text, most):
    text = " ".join((text or "").split())
    return text if len(text) <= most else text[:most] + "..."


def in_its_own_process(name):
    """run(url) for a system in its own environment."""
    def run(url):
        with scratch() as home:
            try:
                done = subprocess.run([python_of(name), HERE / "adapters.py", "ask", name, url], capture_output=True, text=True, env=settings(home), cwd=home,
                                      stdin=subprocess.DEVNULL, timeout=SECONDS)
            except subprocess.TimeoutExpired:
                return {"ended": "stopped from outside", "error": "time-out", "message": f"it still ran after {SECONDS} s", "executed": [], "reached": []}
        if done.stdout:
            return json.loads(done.stdout)
        return {"ended": "died", "error": f"exit {done.returncode}", "message": short(done.stderr[-MOST:], MOST), "executed": [], "reached": []}

    return run


def record(name):
    """A system's row: its versions, where its parts are, what it did in every case."""
    if name != "agentkit" and (why := install(name)):
        return {"missing": why, "recorded": str(date.today())}
    row = {"version": __version__} if name == "agentkit" else {**version_of(name), "parts": parts(name)}
    row |= {"recorded": str(date.today()), "cases": {}}
    for case in CASES:
        row["cases"][case] = observe(case, in_its_own_process(name))
        print(f"{name:<14}{case:<16}{row['cases'][case]['observed']}", flush=True)
    return row


def parts(name):
    """The files that hold what ours hold, looked up in what is installed, with their length in lines."""
    [site] = (CACHE / name).glob("lib/python*/site-packages")
    found = {}
    for ours, (theirs, line) in PARTS[name].items():
        source = (site / theirs).read_text("utf-8")
        if line not in source:
            raise ValueError(f"{name} {theirs} has no {line!r}: look again which file holds what {ours} holds, and put it into PARTS")
        found[ours] = {"file": theirs, "lines": source.count("\n"), **({"at": line} if line else {})}
    return found


def stored():
    return json.loads(DATA.read_text("utf-8")) if DATA.exists() else {"systems": {}}


def save(systems, how):
    data = {
        "what": "What each system sends and does when a scripted model answers it. Observed by benchmarks/peers/behave.py, which anyone can run again.",
        "python": sys.version.split()[0], "how": how, "api": "OpenAI Chat Completions, served by agentkit.providers.server; every system with its defaults",
        "telemetry_off": QUIET, "trimmed": f"Texts over {MOST} characters are cut, and the cut says how long they were; after a first request only what is "
        "new in the list is kept; of the tools that ran, the first six", "tokens": "agentkit.count_tokens (o200k_base) of contents, calls and tool definitions",
        "task": TASK, "system": SYSTEM, "answer": ANSWER, "cases": {case: f"the model {does}" for case, (does, _) in CASES.items()}, "systems": systems}
    for name, row in systems.items():
        row["made_with"] = MADE_WITH[name]
    DATA.parent.mkdir(parents=True, exist_ok=True)
    DATA.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", "utf-8")


def show(systems):
    for case, (does, _) in CASES.items():
        print(f"\n{case}: the model {does}")
        for name, row in systems.items():
            words = row["cases"][case]["observed"] if "cases" in row else f"not here: {row['missing']}"
            print("\n".join(textwrap.wrap(words, 130, initial_indent=f"  {name:<14}", subsequent_indent=" " * 16)))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("systems", nargs="*", help="agentkit, " + ", ".join(DISTRIBUTIONS))
    parser.add_argument("--show", action="store_true", help="print what is stored, and run nothing")
    options = parser.parse_args()
    if options.show:
        return show(stored()["systems"])
    names = options.systems or ["agentkit", *DISTRIBUTIONS]
    for name in names:
        if name != "agentkit":
            install(name)
    how = alone()
    for name in names:
        row = record(name)
        rows = stored()["systems"] | {name: row}
        save({n: rows[n] for n in ("agentkit", *DISTRIBUTIONS) if n in rows}, "each case in a fresh process " + how)
    print(f"{DATA.relative_to(CHECKOUT)}: {os.path.getsize(DATA) / 1024:.0f} KB")


if __name__ == "__main__":
    main()
