"""A payment that failed, and a stand-in that decides by what it finds. Notebook 16 stands on it.

The stand-in follows fixed rules. It decides once, a thought with an action or an answer; `as_text` and `as_native` write
the same decision in two ways. It shows what the loop does with a decision, not how well a real model decides.
"""

import json
from itertools import cycle, islice

from agentkit import Reply, call, tool

TASK = "The payment of order 42 failed. Get it paid, or see to it that somebody does."
SYSTEM = "You look after the payments of a small shop."
CODES = {"insufficient_funds": "the bank says no", "timeout": "the bank did not answer", "card_expired": "the card is too old"}


def world(code: str = "insufficient_funds"):
    """(tools, what was really done) for a payment that failed with this code."""
    done: list[str] = []

    @tool
    def lookup_payment(order_id: str) -> dict:
        """Look up a payment: its status and the bank's code."""
        done.append("looked up")
        return {"status": "failed", "code": code}

    @tool
    def charge_card(order_id: str) -> dict:
        """Charge the customer's card once more."""
        done.append("charged" if code == "timeout" else "charged in vain")
        return {"status": "paid"} if code == "timeout" else {"status": "failed", "code": code}

    @tool
    def page_team(team: str, note: str) -> dict:
        """Call a team of people: billing or support."""
        done.append(f"paged {team}")
        return {"paged": True}

    return [lookup_payment, charge_card, page_team], done


def decide(seen: list) -> tuple:
    """(thought, call) or (None, answer), from [(tool, result as a dict)] so far."""
    if not seen:
        return "I do not know why it failed. I look before I act.", call("lookup_payment", order_id="42")
    name, result = seen[-1]
    if name == "page_team":
        code = next(r["code"] for _, r in reversed(seen) if "code" in r)
        return None, f"The payment of order 42 failed ({code}); a team has been paged."
    if result.get("status") == "paid":
        return None, "Order 42 is paid."
    if name == "charge_card" or result["code"] == "insufficient_funds":
        return ("The card was declined, so a retry would fail again. People have to talk to the customer.",
                call("page_team", team="billing", note="order 42: declined"))
    if result["code"] == "timeout":
        return "The bank did not answer, which says nothing about the card. One retry is worth it.", call("charge_card", order_id="42")
    return "The card has expired. The customer needs a link for a new one.", call("page_team", team="support", note="order 42: ask for a new card")


def seen_in(messages) -> list:
    return [(m["name"], json.loads(m["content"])) for m in messages if m["role"] == "tool" and m["content"].startswith("{")]


def as_native(decide=decide, thoughts: bool = True):
    """A model with tool calls: the thought is the text beside the call."""
    def model(messages, tools):
        thought, what = decide(seen_in(messages))
        return Reply(what) if isinstance(what, str) else Reply(thought if thoughts else None, what)
    return model


def as_text(decide=decide, thoughts: bool = True):
    """A function for TextModel: the same decision, written out."""
    return lambda messages: written(*decide(seen_in(messages)), thoughts)


def written(thought, what, thoughts: bool = True) -> str:
    before = f"Thought: {thought}\n" if thought and thoughts else ""
    return f"{before}Final Answer: {what}" if isinstance(what, str) else f"{before}Action: {what.name}\nAction Input: {json.dumps(what.arguments)}"


def inventive(decide=decide, guess=None):
    """A function for TextModel that does not wait: after each action it writes the observation that it expects, and goes on to its answer."""
    guess = guess or {"lookup_payment": {"status": "failed", "code": "timeout"}, "charge_card": {"status": "paid"}, "page_team": {"paged": True}}

    def fn(messages):
        seen, parts = seen_in(messages), []
        while True:
            thought, what = decide(seen)
            parts.append(written(thought, what))
            if isinstance(what, str):
                return "\n".join(parts)
            parts.append(f"Observation: {json.dumps(guess[what.name])}")
            seen = [*seen, (what.name, guess[what.name])]
    return fn


# ---- a longer run, for what thoughts cost --------------------------------------------------------------------------------

_WORDS = "That one is fine too, so now I look at the next parcel on my list of them.".split()


def parcels(n: int, words: int):
    """(tools, task, model) of a run that looks up `n` parcels one by one, with a thought of so many words before each."""
    @tool
    def track(parcel: int) -> str:
        """Where is a parcel?"""
        return f"parcel {parcel}: in the depot, next stop tomorrow morning"

    def model(messages, tools):
        k = sum(m["role"] == "tool" for m in messages)
        if k == n:
            return Reply("All are in the depot.")
        return Reply(" ".join(islice(cycle(_WORDS), words)) or None, call("track", parcel=k + 1))

    return [track], f"Where are parcels 1 to {n}?", model
