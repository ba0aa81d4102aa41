"""A run that is killed: started by test_resume.py as a process of its own, which forks one child for every crash point.

    python crash_child.py FOLDER        kill (SIGKILL) at every event boundary, resume in a new process; prints JSON
    python crash_child.py FOLDER race   two processes resume one run at the same moment
"""

import json
import os
import signal
import sqlite3
import sys
from pathlib import Path

from agentkit import Journal, Registry, Reply, RunTaken, call, resume, run, tool
from agentkit.tools import idempotency_key

WORLD = None  # the path of the SQLite table that the tools write to


def world(sql, *values):
    db = sqlite3.connect(WORLD, timeout=10)
    with db:
        rows = db.execute(sql, values).fetchall()
    db.close()
    return rows


@tool(needs_approval=True)
def pay(what: str) -> str:
    """Pay. Not idempotent: a second run pays twice."""
    world("INSERT INTO writes VALUES (?, ?)", what, None)
    return f"paid {what}"


@tool(needs_approval=True, idempotent=True)
def ship(what: str) -> str:
    """Ship, once for each call, however often it runs."""
    if not world("SELECT 1 FROM writes WHERE key = ?", idempotency_key()):
        world("INSERT INTO writes VALUES (?, ?)", what, idempotency_key())
    return f"shipped {what}"


@tool
def note(what: str) -> str:
    """Write a note. Not idempotent, needs no approval."""
    world("INSERT INTO writes VALUES (?, ?)", what, None)
    return f"noted {what}"


@tool
def look(what: str) -> str:
    """Whether something has been written."""
    return f"{what} is {'there' if world('SELECT 1 FROM writes WHERE what = ?', what) else 'missing'}"


def model(messages, tools):
    """Notes, pays and ships, two of them in one reply; what has an unknown outcome is looked up and repeated if it is missing."""
    told = [m for m in messages if m["role"] == "tool"]
    last = told[-1]["content"] if told else ""
    for m in told:
        if m["content"].startswith("ERROR: outcome unknown"):
            what = {"note": "a note", "pay": "a payment"}[m["name"]]
            seen = [t["content"] for t in told if t["name"] == "look" and t["content"].startswith(what)]
            if not seen:
                return Reply(tool_calls=[call("look", what=what)])
            if seen[-1].endswith("missing") and not any(t["content"].endswith(f"ed {what}") or t["content"].endswith(f"id {what}") for t in told):
                return Reply(tool_calls=[call(m["name"], what=what)])
    done = {m["name"] for m in told}
    if "note" not in done:
        return Reply(tool_calls=[call("note", what="a note"), call("pay", what="a payment")])
    if "ship" not in done:
        return Reply(tool_calls=[call("ship", what="a parcel")])
    return Reply(f"all done: {last}")


TOOLS = Registry([pay, ship, note, look])  # compiled once, before any child is forked


def go_on(path, kill_at=None, after=True):
    """Start or resume the run and approve what waits, until it is done; dies at event number `kill_at`, just before or just after it is written."""
    while True:
        journal = Journal(path)
        if kill_at is not None:
            write = journal._store.append

            def append(seq, event):
                if seq == kill_at and not after:
                    os.kill(os.getpid(), signal.SIGKILL)
                write(seq, event)
                if seq == kill_at:
                    os.kill(os.getpid(), signal.SIGKILL)
                return True

            journal._store.append = append
        if not journal.events:
            result = run(model, TOOLS, "note, pay, ship", journal=journal)
        else:
            last = [e for e in journal.of("pending", "decision", "call", "result")][-1:]
            waiting = last[0]["calls"] if last and last[0]["kind"] == "pending" else ()
            result = resume(journal, model, TOOLS, {c["id"]: True for c in waiting})
        journal.close()
        if result.status != "waiting_for_approval":
            return result


def child(work):
    """Run `work` in a process of its own: (its id, where to read what it says)."""
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            os.close(read)
            os.write(write, work().encode())
            os._exit(0)
        except BaseException as error:
            os.write(write, f"{type(error).__name__}: {error}".encode())
            os._exit(1)
    os.close(write)
    return pid, read


def wait(pid, read):
    """How a child ended, and what it said."""
    said = b"".join(iter(lambda: os.read(read, 65536), b"")).decode()
    os.close(read)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), said


def fresh(folder, name):
    global WORLD
    folder = Path(folder) / name
    folder.mkdir()
    WORLD = folder / "world.db"
    world("CREATE TABLE writes (what TEXT, key TEXT)")
    return folder / "run.db"


def summary(result):
    return json.dumps({"status": result.status, "answer": result.answer, "report": result.report, "same": result.journal.messages() == result.messages})


def kill_everywhere(folder):
    found = []
    whole = fresh(folder, "whole")
    code, said = wait(*child(lambda: summary(go_on(whole))))
    events = len(Journal(whole).events)
    found.append({"kill_at": None, "events": events, "code": code, "writes": sorted(w for w, _ in world("SELECT * FROM writes")), **json.loads(said)})
    for kill_at in range(1, events + 1):
        for after in (False, True):
            path = fresh(folder, f"{kill_at}-{after}")
            killed, _ = wait(*child(lambda: summary(go_on(path, kill_at, after))))
            code, said = wait(*child(lambda: summary(go_on(path))))
            kinds = [e["kind"] for e in Journal(path).events]
            found.append({"kill_at": kill_at, "after": after, "killed": killed, "code": code, "said": said, "kinds": kinds,
                          "writes": sorted(w for w, _ in world("SELECT * FROM writes")), **(json.loads(said) if code == 0 else {})})
    return found


def race(folder, rounds=12):
    found = []
    for n in range(rounds):
        path = fresh(folder, f"race-{n}")
        journal = Journal(path)
        run(model, TOOLS, "note, pay, ship", journal=journal)
        journal.close()
        ready, go = os.pipe(), os.pipe()

        def resumer():
            journal = Journal(path)
            os.write(ready[1], b".")
            os.read(go[0], 1)
            try:
                return resume(journal, model, TOOLS, {"call_2": True}).status
            except RunTaken as error:
                return f"RunTaken: {error}"

        children = [child(resumer) for _ in range(2)]
        opened = b""
        while len(opened) < 2:
            opened += os.read(ready[0], 2)
        os.write(go[1], b"..")
        found.append({"said": sorted(wait(*c)[1] for c in children), "writes": sorted(w for w, _ in world("SELECT * FROM writes"))})
    return found


if __name__ == "__main__":
    print(json.dumps((race if "race" in sys.argv else kill_everywhere)(sys.argv[1])))
