"""One full trace in the terminal, with nothing installed: `python3 -m agentkit demo`."""


from agentkit import mini
from agentkit.journal import Table
from agentkit.course import shop


def main():
    """Run the order stand-in through the hand-written loop and print what happened, step by step."""
    tools = [shop.get_order, shop.calculator]
    result = mini.run(shop.order_model, tools, shop.GST_TASK, system=shop.SYSTEM)
    print(f"Task: {shop.GST_TASK}\n")
    print(Table(("step", "the model asks", "what came back"), rows(result.messages)))
    print(f"\n{result.status} after {result.steps} steps, about {result.input_tokens + result.output_tokens:,} tokens: {result.answer}")
    return 0


def rows(messages):
    """One row for each tool call and for the answer."""
    results = {m["tool_call_id"]: m["content"] for m in messages if m["role"] == "tool"}
    found, step = [], 0
    for message in messages:
        if message["role"] == "assistant":
            step += 1
            for c in message.get("tool_calls", ()):
                found.append((str(step), f"{c['function']['name']}({c['function']['arguments']})", results[c["id"]]))
            if not message.get("tool_calls"):
                found.append((str(step), "(answers)", message["content"]))
    return found
