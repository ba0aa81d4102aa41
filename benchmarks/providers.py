"""What a request costs the client: CPU milliseconds a call through the official client as usual, and through the adapters.

    python benchmarks/providers.py          histories of 10, 100 and 1,000 steps
    python benchmarks/providers.py 100      of 10 and 100 steps

The official clients walk through the whole history on every call and build it anew; an adapter translates what is new
and sends ready bytes through the same client (client.post(content=...)). The answers come from a stand-in for the
network inside the process, so only the client's own work is in the figures. Nothing is asserted: read the ratios.
"""

import json
import sys
import time
from statistics import median

import anthropic
import httpx2
import openai

from agentkit.providers import AnthropicMessages, OpenAIChat, OpenAIResponses
from agentkit.providers.wire import Provider

TOOL = {"type": "function", "function": {"name": "look_up", "description": "Look up one thing on a shelf.", "parameters": {
    "type": "object", "properties": {"item": {"type": "string"}, "shelf": {"type": "integer"}}, "required": ["item", "shelf"]}}}
ANSWERS = {
    "/chat/completions": {"id": "c", "object": "chat.completion", "created": 0, "model": "m", "usage": {"prompt_tokens": 9, "completion_tokens": 2, "total_tokens": 11},
                          "choices": [{"index": 0, "message": {"role": "assistant", "content": "done"}, "finish_reason": "stop"}]},
    "/responses": {"id": "r", "object": "response", "created_at": 0, "model": "m", "status": "completed", "parallel_tool_calls": True, "tool_choice": "auto", "tools": [],
                   "output": [{"id": "i", "type": "message", "role": "assistant", "status": "completed", "content": [{"type": "output_text", "text": "done", "annotations": []}]}],
                   "usage": {"input_tokens": 9, "output_tokens": 2, "total_tokens": 11}},
    "/messages": {"id": "m", "type": "message", "role": "assistant", "model": "m", "content": [{"type": "text", "text": "done"}], "stop_reason": "end_turn",
                  "usage": {"input_tokens": 9, "output_tokens": 2}},
}


def network():
    """A stand-in for the network: answers at once."""
    def answer(request):
        return httpx2.Response(200, json=next(body for path, body in ANSWERS.items() if request.url.path.endswith(path)))
    return httpx2.Client(transport=httpx2.MockTransport(answer))


def history(steps):
    """A run's list after so many steps of one call each."""
    messages = [{"role": "system", "content": "You look things up."}, {"role": "user", "content": "Look up everything."}]
    for n in range(steps):
        arguments = json.dumps({"item": f"thing {n}", "shelf": n})
        messages.append({"role": "assistant", "content": "I look it up.", "tool_calls": [
            {"id": f"call_{n}", "type": "function", "function": {"name": "look_up", "arguments": arguments}}]})
        messages.append({"role": "tool", "tool_call_id": f"call_{n}", "name": "look_up", "content": '{"left": 3, "where": "on the second shelf from the left"}'})
    return messages


def usual_ways():
    """Each API through its client's own method, the history already in the API's shape."""
    chat = openai.OpenAI(api_key="none", http_client=network(), max_retries=0)
    messages = anthropic.Anthropic(api_key="none", http_client=network(), max_retries=0)

    def body(adapter, history):
        return json.loads(Provider.body(adapter, history, [TOOL]))

    return {
        "Chat Completions": (OpenAIChat("m", client=chat), lambda b: chat.chat.completions.create(**b), body),
        "Responses": (OpenAIResponses("m", client=chat), lambda b: chat.responses.create(**b), body),
        "Messages": (AnthropicMessages("m", client=messages), lambda b: messages.messages.create(**b), body),
    }


def cpu_ms(work):
    before = time.process_time()
    work()
    return 1000 * (time.process_time() - before)


def main(most=1_000):
    print("CPU ms of one call at the end of a run (median)")
    print(f"{'API':<18}{'steps':>7}{'as usual':>12}{'adapter':>12}{'times less':>13}")
    for name, (adapter, create, body) in usual_ways().items():
        for steps in (n for n in (10, 100, 1_000) if n <= most):
            longer = history(steps + 40)
            known = longer[:2 + 2 * steps]
            adapter(known, [TOOL])      # the run so far; from here on two messages a call are new
            usual, ours = [], []
            for round in range(min(40, max(7, 400 // steps))):
                known = longer[:len(known) + 2]
                ready = body(adapter.__class__(adapter.name, client=adapter.client), known)
                usual.append(cpu_ms(lambda: create(ready)))
                ours.append(cpu_ms(lambda: adapter(known, [TOOL])))
            print(f"{name:<18}{steps:>7,}{median(usual):>12.2f}{median(ours):>12.2f}{median(usual) / median(ours):>13.1f}", flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000)
