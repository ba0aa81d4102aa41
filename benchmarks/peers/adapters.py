"""One adapter per system; runs inside that system's own environment, with every default as it comes.

    python adapters.py ask NAME URL             one task against a server that speaks Chat Completions; prints one JSON line
    python adapters.py steps NAME N SECONDS     N steps in one process with the system's own stand-in model, until SECONDS of CPU are over

agentkit, its mini and a bare loop are rows like the others. The frameworks' own step limits stay as they are in `ask`; in
`steps` they are lifted.
"""

import gc
import json
import os
import sys
import time
import warnings
from pathlib import Path

SYSTEM = "You answer questions about orders. Use the tools."
TASK = "What does order A123 cost with 18 % tax?"
EXECUTED = []           # what really ran: (tool, arguments)
REACHED = []            # addresses off this machine that somebody tried to reach


def get_order(order_id: str) -> dict:
    """Look up one order by its id.

    Args:
        order_id: The id of the order, such as A123.
    """
    EXECUTED.append(["get_order", {"order_id": order_id}])
    if order_id == "BROKEN":
        raise RuntimeError("the order database is down")
    return {"order_id": order_id, "item": "desk", "price": 2500, "quantity": 2}


def add_tax(amount: float, percent: float) -> dict:
    """Add a tax to an amount.

    Args:
        amount: The amount without tax.
        percent: The tax in percent, such as 18.
    """
    EXECUTED.append(["add_tax", {"amount": amount, "percent": percent}])
    return {"total": round(amount * (1 + percent / 100), 2)}


def look_up(item: str, shelf: int) -> dict:
    """Look up one thing on a shelf.

    Args:
        item: The thing.
        shelf: The number of the shelf.
    """
    EXECUTED.append(shelf)
    return {"item": item, "shelf": shelf, "left": 3}


class Script:
    """What the stand-in models of all systems say: one call a step, then an answer. Ends the process when its time is over."""

    def __init__(self, steps, deadline):
        self.left, self.step, self.deadline = steps, -1, deadline

    def next(self):
        """The arguments of the next call; None when it is time to answer."""
        self.step += 1
        if time.process_time() > self.deadline:
            say({"over": True, "reached": self.step})
            os._exit(0)
        return {"item": f"thing {self.step}", "shelf": self.step} if self.step < self.left else None


class OpenAIAgents:
    imports = "import agents"

    @staticmethod
    def agent(model, tools):
        from agents import Agent, function_tool
        return Agent(name="clerk", instructions=SYSTEM, model=model, tools=[function_tool(t) for t in tools])

    @classmethod
    def ask(cls, url):
        from agents import OpenAIChatCompletionsModel, Runner
        from openai import AsyncOpenAI
        model = OpenAIChatCompletionsModel(model="scripted", openai_client=AsyncOpenAI(base_url=url, api_key="none"))
        return Runner.run_sync(cls.agent(model, [get_order, add_tax]), TASK).final_output

    @classmethod
    def steps(cls, n, script):
        from agents import Model, ModelResponse, Runner, Usage
        from agents.testing import assistant_message, function_call

        class StandIn(Model):
            async def get_response(self, *_, **__):
                arguments = script.next()
                said = assistant_message("done") if arguments is None else function_call("look_up", arguments, call_id=f"id_{script.step}")
                return ModelResponse(output=[said], usage=Usage(requests=1, input_tokens=900, output_tokens=60, total_tokens=960), response_id=None)

            def stream_response(self, *_, **__):
                raise NotImplementedError

        return Runner.run_sync(cls.agent(StandIn(), [look_up]), "go", max_turns=n + 1).final_output


class PydanticAI:
    imports = "import pydantic_ai"

    @staticmethod
    def ask(url):
        from pydantic_ai import Agent
        from pydantic_ai.models.openai import OpenAIChatModel
        from pydantic_ai.providers.openai import OpenAIProvider
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(base_url=url, api_key="none"))
        return Agent(model, instructions=SYSTEM, tools=[get_order, add_tax]).run_sync(TASK).output

    @staticmethod
    def steps(n, script):
        from pydantic_ai import Agent
        from pydantic_ai.messages import ModelResponse, TextPart, ToolCallPart
        from pydantic_ai.models.function import FunctionModel
        from pydantic_ai.usage import RequestUsage, UsageLimits

        def stand_in(messages, info):       # without a usage, FunctionModel would estimate one from the whole history
            arguments = script.next()
            said = TextPart("done") if arguments is None else ToolCallPart("look_up", arguments, tool_call_id=f"id_{script.step}")
            return ModelResponse(parts=[said], usage=RequestUsage(input_tokens=900, output_tokens=60))

        return Agent(FunctionModel(stand_in), instructions=SYSTEM, tools=[look_up]).run_sync("go", usage_limits=UsageLimits(request_limit=None)).output


class LangGraph:
    imports = "from langgraph.prebuilt import create_react_agent"

    @staticmethod
    def go(model, tools, task, config=None):
        from langgraph.prebuilt import create_react_agent
        return create_react_agent(model, tools, prompt=SYSTEM).invoke({"messages": [{"role": "user", "content": task}]}, config)["messages"][-1].content

    @classmethod
    def ask(cls, url):
        from langchain_openai import ChatOpenAI
        return cls.go(ChatOpenAI(model="scripted", base_url=url, api_key="none"), [get_order, add_tax], TASK)

    @classmethod
    def steps(cls, n, script):
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage

        class StandIn(GenericFakeChatModel):
            def bind_tools(self, tools, **_):
                return self

        def replies():
            while (arguments := script.next()) is not None:
                yield AIMessage(content="", tool_calls=[{"name": "look_up", "args": arguments, "id": f"id_{script.step}", "type": "tool_call"}])
            yield AIMessage(content="done")

        return cls.go(StandIn(messages=replies()), [look_up], "go", {"recursion_limit": 2 * n + 10})


class Smolagents:
    imports = "import smolagents"

    @staticmethod
    def ask(url):
        from smolagents import OpenAIServerModel, ToolCallingAgent, tool
        agent = ToolCallingAgent(tools=[tool(get_order), tool(add_tax)], model=OpenAIServerModel("scripted", api_base=url, api_key="none"),
                                 instructions=SYSTEM, verbosity_level=0)
        found = agent.run(TASK, return_full_result=True)
        return found.output, f"state {found.state}"

    @staticmethod
    def steps(n, script):
        from smolagents import ToolCallingAgent, tool
        from smolagents.models import ChatMessage, ChatMessageToolCall, ChatMessageToolCallFunction, MessageRole, Model, TokenUsage

        class StandIn(Model):
            def generate(self, messages, **_):
                arguments = script.next()
                name, arguments = ("final_answer", {"answer": "done"}) if arguments is None else ("look_up", arguments)
                asked = ChatMessageToolCall(ChatMessageToolCallFunction(arguments=arguments, name=name), id=f"id_{script.step}", type="function")
                return ChatMessage(role=MessageRole.ASSISTANT, content=None, token_usage=TokenUsage(900, 60), tool_calls=[asked])

        return ToolCallingAgent(tools=[tool(look_up)], model=StandIn(), max_steps=n + 1, verbosity_level=0).run("go")


class Llm:
    imports = "import llm"

    @staticmethod
    def ask(url):
        from llm.default_plugins.openai_models import Chat
        model = Chat("scripted", key="none", model_name="scripted", api_base=url, supports_tools=True, can_stream=True)
        return model.chain(TASK, system=SYSTEM, tools=[get_order, add_tax], key="none").text()

    @staticmethod
    def steps(n, script):
        import llm

        class StandIn(llm.Model):
            model_id, can_stream, supports_tools = "scripted", False, True

            def execute(self, prompt, stream, response, conversation):
                arguments = script.next()
                if arguments is not None:
                    response.add_tool_call(llm.ToolCall(name="look_up", arguments=arguments, tool_call_id=f"id_{script.step}"))
                yield "done" if arguments is None else ""

        return StandIn().conversation().chain("go", system=SYSTEM, tools=[look_up], chain_limit=0).text()


class CrewAI:
    imports = "import crewai"

    @staticmethod
    def ask(url):
        from crewai import LLM, Agent, Crew, Task
        from crewai.tools import tool
        clerk = Agent(role="clerk", goal=SYSTEM, backstory="You work at the order desk.", tools=[tool(get_order), tool(add_tax)],
                      llm=LLM(model="openai/scripted", base_url=url, api_key="none"), verbose=False)
        return Crew(agents=[clerk], tasks=[Task(description=TASK, expected_output="one sentence", agent=clerk)], verbose=False).kickoff().raw


class Agentkit:
    """The checkout's agentkit, and benchmarks/loop.py."""

    imports = "import agentkit; agentkit.run"

    @staticmethod
    def ask(url):
        from agentkit import run, tool
        from agentkit.providers import OpenAIChat
        result = run(OpenAIChat("scripted", base_url=url), [tool(get_order), tool(add_tax)], TASK, system=SYSTEM)
        return result.answer, f"status {result.status}"

    name = "run"

    @classmethod
    def steps(cls, n, script):
        import loop
        result = loop.LOOPS[cls.name](n, loop.look_up)
        loop.whole(result, n)
        EXECUTED.extend(range(n))       # the length of the list has shown it
        return "done"


class Mini(Agentkit):
    imports, name = "import agentkit.mini", "mini.run"


class Bare(Agentkit):
    imports, name = "import json, jsonschema", "bare"


class Glance(Agentkit):
    imports, name = "import json", "bare, glance"


SYSTEMS = {"bare": Bare, "bare, glance": Glance, "mini": Mini, "agentkit": Agentkit, "llm": Llm, "smolagents": Smolagents, "langgraph": LangGraph,
           "pydantic-ai": PydanticAI, "openai-agents": OpenAIAgents, "crewai": CrewAI}


def guard():
    """Refuse and write down every address that is not on this machine."""
    def hook(event, args):
        if event in ("socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr"):
            host = args[0]
        elif event in ("socket.connect", "socket.sendto", "socket.bind") and isinstance(args[1], tuple):
            host = args[1][0]
        else:
            return
        host = host.decode() if isinstance(host, bytes) else host
        if host and host not in ("localhost", "::1", "0.0.0.0", "::") and not host.startswith("127."):
            REACHED.append(f"{event.split('.')[1]} {host}")
            raise PermissionError(f"no network here: {host}")

    sys.addaudithook(hook)


def short(value, most=1_000):
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return text if len(text) <= most else text[:most] + f" [cut: {len(text):,} characters in all]"


def ask(name, url):
    """What one system did with the task: how it ended, what really ran."""
    EXECUTED.clear()
    try:
        said = SYSTEMS[name].ask(url)
        answer, state = said if isinstance(said, tuple) else (said, None)
        ended = {"ended": "returned", "answer": None if answer is None else short(answer), **({"state": state} if state else {})}
    except Exception as error:
        ended = {"ended": "raised", "error": type(error).__name__, "message": short(str(error), 400)}
    return {**ended, "executed": list(EXECUTED), "reached": sorted(set(REACHED))}


def steps(name, n, seconds):
    """CPU milliseconds a step, and what the run added to the process's memory."""
    import resource

    began = time.process_time()
    exec(SYSTEMS[name].imports, {})
    took = time.process_time() - began
    SYSTEMS[name].steps(3, Script(3, float("inf")))      # the rest of the imports, schemas, the first event loop
    spent = []
    for _ in range(max(1, 200 // n)):
        EXECUTED.clear()
        gc.collect()
        before, began = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.process_time()
        answer = SYSTEMS[name].steps(n, Script(n, began + seconds))
        spent.append(time.process_time() - began)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        assert answer == "done" and EXECUTED == list(range(n)), f"{name} ended with {answer!r} after {len(EXECUTED)} of {n} steps: this measures nothing"
    return {"seconds": sorted(spent)[len(spent) // 2], "mb": memory / 1024 / (1024 if sys.platform == "darwin" else 1), "import": took, "reached": sorted(set(REACHED))}


def say(found):
    os.write(STDOUT, (json.dumps(found, default=str) + "\n").encode())


if __name__ == "__main__":
    STDOUT = os.dup(1)
    os.dup2(2, 1)       # frameworks print; only the one line goes to standard output
    warnings.filterwarnings("ignore")
    guard()
    if issubclass(SYSTEMS[sys.argv[2]], Agentkit):
        sys.path[:0] = [str(Path(__file__).resolve().parents[2]), str(Path(__file__).resolve().parents[1])]
    say(ask(*sys.argv[2:4]) if sys.argv[1] == "ask" else steps(sys.argv[2], int(sys.argv[3]), float(sys.argv[4])))
    sys.stderr.flush()
    os._exit(0)         # threads that wait for a network would keep the process
