"""The refund desk of notebook 07: its ledger, its tools, its stand-in; and the script of the processes that are killed there.

    python -m agentkit.course.approvals start FOLDER
    python -m agentkit.course.approvals resume FOLDER '{"call_3": true}'
    python -m agentkit.course.approvals break FOLDER before|after [keyed]
"""

from __future__ import annotations

import json
import os
import re
import sqlite3
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from agentkit import Journal, Reply, call, resume, run, tool
from agentkit.tools import idempotency_key

from . import shop

TASK = "Look at the orders B456 and D012. Refund what is late."


class Ledger:
    """What was really paid: a SQLite table. In a file it outlives every process; without one it is in memory."""

    def __init__(self, path=":memory:"):
        self._db = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        self._db.execute("CREATE TABLE IF NOT EXISTS paid (kind TEXT, order_id TEXT, amount INTEGER, key TEXT UNIQUE)")
        self.at = lambda moment: None      # called "before" and "after" a payment: here a process can be made to die

    def pay(self, order_id: str, amount: int, kind: str = "refund", key: str | None = None) -> None:
        """Pay; where a key is given, once for each key, however often it is asked for."""
        self.at("before")
        self._db.execute("INSERT OR IGNORE INTO paid VALUES (?, ?, ?, ?)", (kind, order_id, amount, key))
        self.at("after")

    def paid(self, kind: str = "refund") -> list[tuple[str, int]]:
        """[(order id, amount), ...] in the order in which it was paid."""
        return self._db.execute("SELECT order_id, amount FROM paid WHERE kind = ? ORDER BY rowid", (kind,)).fetchall()

    def times(self, order_id: str) -> int:
        """How often an order was refunded. The right answer is 0 or 1."""
        return sum(paid == order_id for paid, _ in self.paid())

    def __str__(self):
        return ", ".join(f"{amount} for {order_id}" for order_id, amount in self.paid()) or "none"

    def close(self) -> None:
        self._db.close()


def desk(ledger: Ledger, keyed: bool = False) -> list:
    """The tools of the desk. A refund waits for a person; with `keyed` it is idempotent, because the ledger knows each call's key."""

    @tool(needs_approval=True, idempotent=keyed)
    def refund_order(order_id: str, amount: int) -> dict:
        """Pay money back to a customer. A person has to approve each call.

        Args:
            order_id: such as A123
            amount: in rupees
        """
        ledger.pay(order_id, amount, key=idempotency_key() if keyed else None)
        return {"refunded": amount}

    @tool(idempotent=True)
    def find_refunds(order_id: str) -> list:
        """List the refunds that were paid for an order. Use it when the outcome of a refund is unknown.

        Args:
            order_id: such as A123
        """
        return [amount for paid, amount in ledger.paid() if paid == order_id]

    @tool
    def give_voucher(order_id: str, amount: int) -> dict:
        """Give the customer of an order a voucher in place of money.

        Args:
            order_id: such as A123
            amount: in rupees
        """
        ledger.pay(order_id, amount, kind="voucher")
        return {"voucher": amount}

    return [replace(shop.get_order, idempotent=True), refund_order, find_refunds, give_voucher]


# ---- the stand-in ----------------------------------------------------------------------------------------------------

def clerk(messages, tools):
    """A stand-in that looks orders up and refunds the late ones. It takes a no, and checks before it repeats a payment."""
    asked = {c["id"]: json.loads(c["function"]["arguments"])["order_id"] for m in messages for c in m.get("tool_calls", ())}
    known: dict[str, list] = {order_id: [] for order_id in re.findall(r"[A-Z]\d{3}", messages[0]["content"])}
    for m in messages:
        if m["role"] == "tool":
            known[asked[m["tool_call_id"]]].append((m["name"], m["content"]))
    moves = [_next_move(order_id, seen) for order_id, seen in known.items()]
    calls = [move for move in moves if not isinstance(move, str)]
    return Reply(tool_calls=calls) if calls else Reply(" ".join(moves))


def _next_move(order_id: str, seen: list):
    """The next call for one order, or the sentence that says how it ended."""
    if not seen:
        return call("get_order", order_id=order_id)
    order, (name, text) = json.loads(seen[0][1]), seen[-1]
    amount = order["unit_price"] * order["qty"]
    if name == "get_order":
        return call("refund_order", order_id=order_id, amount=amount) if order["days_late"] else f"{order_id} is not late."
    if name == "give_voucher":
        return f"{order_id}: a voucher of {amount}."
    if name == "refund_order" and "outcome unknown" in text:
        return call("find_refunds", order_id=order_id)
    if name == "find_refunds" and text == "[]":
        return call("refund_order", order_id=order_id, amount=amount)
    if text.startswith("ERROR"):
        return call("give_voucher", order_id=order_id, amount=amount) if "voucher" in text else f"{order_id}: not refunded."
    return f"{order_id}: {amount} refunded."


# ---- processes ---------------------------------------------------------------------------------------------------------

def main(do: str, folder: str, *more: str) -> None:
    """What a child process does: start a run, or go on with one. All that outlives it stands in two files."""
    journal, ledger = Journal(Path(folder, "run.db")), Ledger(Path(folder, "ledger.db"))
    if do == "start":
        result = run(clerk, desk(ledger), TASK, journal=journal)
    elif do == "resume":
        result = resume(journal, clerk, desk(ledger), json.loads(more[0]))
    elif do == "break":
        ledger.at = lambda moment: hang(f"{moment} the payment") if moment == more[0] else None
        result = run(clerk, desk(ledger, "keyed" in more), TASK, journal=journal, approve=lambda asked: True)
    hang(result.answer or result.status)


def hang(said: str) -> None:
    """Say a line, then do nothing until somebody ends this process."""
    print(said, flush=True)
    sys.stdin.read()


def child(*words: str, cwd=None) -> subprocess.Popen:
    """Start another Python with these arguments; it can import agentkit wherever it runs."""
    root = str(Path(__file__).resolve().parents[2])
    path = os.pathsep.join(filter(None, [root, os.environ.get("PYTHONPATH")]))
    return subprocess.Popen([sys.executable, *map(str, words)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            cwd=cwd, text=True, encoding="utf-8", env={**os.environ, "PYTHONPATH": path, "PYTHONIOENCODING": "utf-8"})


def says(process: subprocess.Popen) -> str:
    """The next line that a child prints. Raises RuntimeError with its last words where it ended without one."""
    line = process.stdout.readline()
    if not line:
        raise RuntimeError("the child ended without a word:\n" + process.communicate()[1][-2000:])
    return line.strip()


def kill(process: subprocess.Popen) -> None:
    """End a child at once: it gets no chance to tidy up. SIGKILL; on Windows TerminateProcess."""
    process.kill()
    process.communicate()


# ---- buttons -----------------------------------------------------------------------------------------------------------

def approval(run, model, tools, **settings):
    """Buttons for the calls of a run (a Result or a Journal) that wait for a person; see approval_views.Approval."""
    from .approval_views import Approval     # a child process needs no widgets
    return Approval(run, model, tools, **settings)


if __name__ == "__main__":
    sys.modules.setdefault("rfc3987_syntax", None)      # a format check of jsonschema, not asked for here, takes a second to load
    main(*sys.argv[1:])
