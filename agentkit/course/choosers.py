"""Readers: stand-ins that choose a tool by its words, fill its arguments from its schema and mend a call by its error text.

A reader is made from a number and is the same on every machine. It knows no English beyond the words below. Many readers
show which part of a tool carries what; how much a real model would gain, they cannot show.
"""

from __future__ import annotations

import functools
import hashlib
import json
import re
from collections import Counter

from ..tools import Registry

# What customers write, and the tool that is right for it.
REQUESTS = tuple((text, tool) for tool, texts in {
    "get_order": (
        "Where is my parcel B456? It should be here by now.", "When will order A123 arrive?", "What did I buy under C789?",
        "Has B456 been sent yet?", "Is my monitor late, or did I mix up the days?", "How many cables are in order C789?",
        "I am waiting at home. Will the keyboard come today?", "Can you tell me the status of A123?"),
    "refund_order": (
        "The monitor came with a cracked screen. I want my money back.", "B456 arrived broken and I would like a refund.",
        "You sent me the wrong item. Please pay me back.", "It never turned up. Give me back what I paid.",
        "The keyboard is faulty, return my payment.", "I was charged twice for A123.",
        "My parcel was a week late, I expect compensation.", "Half of the cables do not work. What about my money?"),
    "cancel_order": (
        "I changed my mind about A123, please stop it.", "I ordered two by mistake, drop one order.",
        "Do not send C789, I found it cheaper.", "Cancel B456 before it leaves the warehouse.",
        "I no longer need the monitor that I ordered this morning.", "Please call off my order, I typed the wrong address.",
        "I ordered the same thing twice, one is enough.", "Can I still withdraw from the purchase of A123?"),
}.items() for text in texts)

# Words that belong together, for a reader who knows the group.
GROUPS = tuple(group.split() for group in (
    "money pay paid payment refund charged compensation", "broken cracked faulty damaged work wrong",
    "arrive arrived come came here delivery late today waiting", "where status tell how know question", "what many buy bought items contents",
    "stop cancel cancelled drop withdraw call", "send sent leaves shipped", "mind mistake cheaper longer need enough regret twice",
    "get look lookup fetch find read show"))
SMALL_WORDS = frozenset("the and for that this when who was were are has had been did does not will would can you your its "
                        "use used with from about one".split())

# How readers write the arguments of one refund when nothing tells them how. What stands first is what the tools understand.
HABITS = {
    "order_id": ("B456", "B456", "#B456", "order B456"),
    "amount": (250, "250", "250 rupees", "Rs. 250"),
    "reason": ("damaged", "damaged", "broken", "it arrived broken"),
    "action": ("refund", "refund_order", "pay back", "return the money"),
}
# Names that models write, and the tool that is meant by each. None: there is no such tool, and the right end is to say so.
MISNAMED = (
    ("getOrder", "get_order"), ("get_orders", "get_order"), ("fetch_order", "get_order"), ("lookup_order", "get_order"),
    ("refundOrder", "refund_order"), ("refund", "refund_order"), ("issue_refund", "refund_order"), ("return_money", "refund_order"),
    ("cancelOrder", "cancel_order"), ("cancel_orders", "cancel_order"), ("stop_order", "cancel_order"), ("calculate", "calculator"),
    ("delete_order", None), ("remove_order", None), ("reorder", None), ("update_order", None), ("price_order", None), ("export_orders", None),
    ("find_customer", None), ("send_email", None), ("change_address", None), ("search_web", None), ("create_coupon", None), ("run_sql", None),
)

CARELESS = 0.06     # of the readers write an argument by habit although the schema says how
SKIPS = 0.25        # of the readers leave an argument out that is not required


@functools.lru_cache(maxsize=100_000)
def chance(*what) -> float:
    """A number in [0, 1) that is fixed for ever by what it is about, so that two tools meet the same readers."""
    digest = hashlib.blake2b(repr(what).encode(), digest_size=6).digest()
    return int.from_bytes(digest, "big") / 2 ** 48


@functools.lru_cache(maxsize=10_000)
def words(text: str) -> frozenset:
    """The words of a text that carry meaning, roughly without their endings."""
    text = re.sub(r"([a-z])([A-Z])", r"\1 \2", text)     # getOrder is two words
    found = (word for word in re.findall(r"[a-z]{3,}", text.lower()) if word not in SMALL_WORDS)
    return frozenset(re.sub(r"(?<=\w{4})(?:ing|al|ed|es|s|e)$", "", word) for word in found)


_GROUPS = [words(" ".join(group)) for group in GROUPS]


class Reader:
    """One stand-in. It overlooks a share `noise` of what it reads, and knows about four in five of the groups of words."""

    def __init__(self, number: int, noise: float = 0.2):
        self.number, self.noise = number, noise
        self.known = [group for k, group in enumerate(_GROUPS) if chance(number, "knows", k) < 0.8]

    def sees(self, text: str) -> dict:
        """What this reader takes in of a text: its words weigh 1, the words that it knows for them a half."""
        seen = {word for word in words(text) if chance(self.number, "reads", word) >= self.noise}
        related = {word for group in self.known if group & seen for word in group}
        return dict.fromkeys(related, 0.5) | dict.fromkeys(seen, 1.0)

    def choose(self, request: str, texts: dict, at_least: float = 0) -> str | None:
        """The tool (a name in `texts`) that shares most with the request; a word of many tools counts little."""
        wanted = self.sees(request)
        shared = {name: wanted.keys() & words(f"{name} {text}") for name, text in texts.items()}
        tools = Counter(word for found in shared.values() for word in found)
        score = {name: sum(sorted(wanted[w] / tools[w] for w in found)) for name, found in shared.items()}
        best = [name for name in texts if score[name] == max(score.values()) >= at_least]
        return best[int(chance(self.number, "between", *best) * len(best))] if best else None

    def fill(self, schema: dict) -> dict:
        """The arguments of a call: as the schema says, where it says something about them, else by habit."""
        arguments = {}
        for name, prop in schema["properties"].items():
            if name not in schema.get("required", ()) and chance(self.number, "skips", name) < SKIPS:
                continue
            told = {"enum", "pattern", "description"} & prop.keys() or prop.get("type", "string") != "string"
            careless = chance(self.number, "careless", name) < CARELESS
            ways = HABITS[name]
            arguments[name] = ways[0 if told and not careless else int(chance(self.number, "writes", name) * len(ways))]
        return arguments

    def find(self, question: str, result: dict) -> str:
        """The field of a tool's result that this reader takes for the answer to the question."""
        return self.choose(question, dict.fromkeys(result, ""))

    def mend(self, error: str, tried: list) -> str:
        """The name of the one argument, after an error: the name that the error says is missing, or the next guess."""
        asked = re.search(r"required argument '(\w+)'", error)
        if asked and chance(self.number, "overlooks", len(tried)) >= self.noise:
            return asked[1]
        guesses = ("id", "order", "order_id", "number", "order_number", "orderId")
        return min((name for name in guesses if name not in tried), key=lambda name: chance(self.number, "guesses", name))

    def rename(self, wrote: str, error: str, tried: int) -> str | None:
        """The next name after `wrote` was refused: an offer, else what fits in a list, else a guess. None: it tells the user that it cannot."""
        offer, listed = re.search(r"Did you mean (\w+)\?", error), re.search(r"Available tools: ([\w, ]+)", error)
        if offer and chance(self.number, "overlooks", tried) >= self.noise:
            return offer[1]
        if listed:
            return self.choose(wrote, dict.fromkeys(listed[1].split(", "), ""), at_least=0.5)
        rest = re.sub(r"^[a-z]+_?", "", wrote).lower() or wrote
        return f"{('get', 'find', 'do', 'make')[int(chance(self.number, 'verb', tried) * 4)]}_{rest}"


def outcome(tool, arguments: dict, wanted) -> str:
    """What a call came to: "right", "refused" (a text came back, so it can be mended) or "wrong" (something else was done)."""
    result = Registry([tool]).execute(tool.name, arguments)
    return "refused" if result.error else "right" if json.loads(result.text) == wanted else "wrong"
