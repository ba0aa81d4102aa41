"""Three habits that make a loop grow with the square of its steps, or pay again for what it has: as multiples of the bare loop.

    python benchmarks/traps.py          runs of 100 and 1,000 steps

The bare loop is that of loop.py, which counts by a rule of thumb what is new. Each habit is added to it alone; they take
turns. Nothing is asserted of times.
"""

import copy
import gc
import sys
import time
from statistics import median

import jsonschema
from loop import ALL, PRICE, bare, look_up, model_of, whole

from agentkit import count_tokens


def before_each_call(habit):
    """The bare loop with something done to the list before every model call."""
    def loop(steps):
        model = model_of(steps)

        def wrapped(messages, tools):
            habit(messages)
            return model(messages, tools)

        return bare(wrapped, [look_up], "go", ALL, PRICE)

    return loop


def text(message):
    return (message["content"] or "") + "".join(c["function"]["name"] + c["function"]["arguments"] for c in message.get("tool_calls", ()))


def anew(tool):
    """A validator built, and its schema checked, at every call: what jsonschema.validate() does."""
    return lambda arguments: jsonschema.validate(arguments, tool.schema)


bare_loop = before_each_call(lambda messages: None)
HABITS = {
    "tokens by tiktoken, of what is new": lambda steps: bare(model_of(steps), [look_up], "go", ALL, PRICE, count=count_tokens),
    "the validator built at every call": lambda steps: bare(model_of(steps), [look_up], "go", ALL, PRICE, anew),
    "the list deep-copied at every step": before_each_call(lambda messages: copy.deepcopy(messages)),
    "the whole list counted by tiktoken at every step": before_each_call(lambda messages: sum(count_tokens(text(m)) for m in messages)),
}


def seconds(loop, steps):
    gc.collect()        # or one habit would pay for what another has left behind
    began = time.process_time()
    whole(loop(steps), steps)
    return time.process_time() - began


def main(sizes=(100, 1_000)):
    print(f"{'multiples of the bare loop':<50}" + "".join(f"{f'{n:,} steps':>14}" for n in sizes))
    found = {}
    for steps in sizes:
        found[steps] = {name: [] for name in HABITS}
        for _ in range(max(3, 1_000 // steps)):
            for name, loop in HABITS.items():
                one = median(seconds(bare_loop, steps) for _ in range(3))       # right before it: the machine is as busy as then
                found[steps][name].append(seconds(loop, steps) / one)
    for name in HABITS:
        print(f"{name:<50}" + "".join(f"{median(found[n][name]):>14.1f}" for n in sizes))


if __name__ == "__main__":
    main(tuple(int(n) for n in sys.argv[1:]) or (100, 1_000))
