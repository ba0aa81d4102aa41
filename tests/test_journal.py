"""The journal: the same events in memory, in a file and in an export; what is torn, taken, full or secret."""

import json
import sqlite3
import threading

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentkit import Journal, JournalError, Limits, Price, Reply, RunTaken, ScriptedModel, Tool, Usage, call, resume, run
from harness import Clock, add, assert_rules, counting, fail, look_up, pay, results, total

steady = settings(derandomize=True, deadline=None, database=None, max_examples=60)


def a_run(journal, **more):
    script = [["I add.", call("add", a=1, b=2), call("fail")], "", call("rm"), call("pay", amount=5), "done"]
    return run(ScriptedModel(script, name="m"), [add, fail, pay], "go", system="be brief", journal=journal, clock=Clock(),
               approve=lambda asked: True, prices=Price(1, 2), **more)


# ---- one record -----------------------------------------------------------------------------------------------------------------


def test_memory_and_file_hold_the_same_events(tmp_path):
    path = tmp_path / "run.db"
    memory, file = (a_run(journal) for journal in (Journal(run_id="r"), Journal(path, run_id="r")))
    opened = Journal(path)
    assert memory.journal.events == file.journal.events == opened.events
    assert opened.run_id == "r" and opened.messages() == memory.messages and opened.report() == memory.report
    assert str(opened.table()) == str(memory.journal.table())
    assert_rules(file)


def test_the_record_holds_what_a_step_took():
    clock, journal = Clock(), Journal()

    def slow(seconds, value):
        clock.now += seconds
        return value

    model = lambda messages, tools: slow(2, Reply("I look.", [call("wait")], Usage(10, 5, 3)) if len(messages) == 1 else Reply("done", usage=Usage(20, 1)))
    run(model, [Tool("wait", "Wait.", {"properties": {}}, lambda: slow(3, "waited"))], "go", journal=journal, clock=clock, prices=Price(1, 1, 1))
    first, second = journal.of("reply")
    (waited,) = journal.of("result")
    assert (first["seconds"], first["elapsed"], waited["seconds"], waited["elapsed"], second["elapsed"]) == (2, 2, 3, 5, 7)
    assert first["usage"] == {"input_tokens": 10, "output_tokens": 5, "cached_tokens": 3, "cost_usd": pytest.approx(18e-6), "estimated": False}
    assert waited["id"] == "call_1" and journal.of("call")[0]["arguments"] == {} and total(second["usage"]) == 21
    end = journal.of("end")[0]
    assert (end["status"], end["steps"], end["elapsed"]) == ("done", 2, 7)
    start = journal.events[0]
    assert (start["task"], start["tools"], start["limits"]["max_steps"], start["run_id"]) == ("go", ["wait"], 10, journal.run_id)
    assert "seconds" not in str(journal.table()) and journal.run_id not in str(journal.table())


def test_the_events_are_in_a_table_that_anybody_can_read(tmp_path):
    journal = a_run(Journal(tmp_path / "run.db")).journal
    rows = sqlite3.connect(tmp_path / "run.db").execute("SELECT seq, kind, json FROM events ORDER BY seq").fetchall()
    assert [seq for seq, _, _ in rows] == list(range(1, len(journal.events) + 1))
    assert [json.loads(text) for _, _, text in rows] == journal.events and [kind for _, kind, _ in rows] == [e["kind"] for e in journal.events]
    db = journal._store._db
    assert (db.execute("PRAGMA journal_mode").fetchone()[0], db.execute("PRAGMA synchronous").fetchone()[0]) == ("wal", 2)


def test_an_event_is_on_the_disk_before_what_it_announces_is_done(tmp_path):
    seen = []
    look = Tool("look", "Look.", {"properties": {}}, lambda: seen.append([e["kind"] for e in Journal(tmp_path / "run.db").events]) or "seen")
    run(ScriptedModel([call("look"), "done"]), [look], "go", journal=Journal(tmp_path / "run.db"))
    assert seen == [["start", "message", "reply", "call"]]


def test_your_own_events_are_made_plain_and_change_nothing():
    journal = Journal()
    journal.add("note", when={3, 1}, text="before")
    assert journal.events == [{"kind": "note", "when": [1, 3], "text": "before"}]
    noting = Tool("ping", "Ping.", {"properties": {}}, lambda: used.add("note", text="hello") or "pong")
    used = Journal()
    result = run(ScriptedModel([call("ping"), "done"]), [noting], "go", journal=used)
    assert result.status == "done" and [e["kind"] for e in used.events][3:6] == ["call", "note", "result"]
    assert_rules(result)


def test_results_that_come_out_of_order_are_read_in_call_order():
    journal = a_run(Journal()).journal
    events, n = journal.events, next(i for i, e in enumerate(journal.events) if e["kind"] == "result")
    before, table = journal.messages(), str(journal.table())
    events[n], events[n + 2] = events[n + 2], events[n]
    assert journal.messages() == before and str(journal.table()) == table


def test_a_waiting_and_a_resumed_run_are_in_the_table():
    model = ScriptedModel([call("pay", amount=5), "done"])
    journal = run(model, [pay], "go").journal
    rows = resume(journal, model, [pay], {"call_1": "too much"}).journal.table().rows
    assert [row[1:3] for row in rows] == [
        ("(resumed)", ""),
        ("a person says", "no to pay(amount=5): too much"),
        ('pay({"amount": 5})', "ERROR: a person rejected this action: too much"),
        ("done", "done"),
    ]


@pytest.mark.parametrize("bad", [dict(redact="x"), dict(run_id=""), dict(run_id=5)])
def test_a_programmers_mistake_raises_at_once(bad):
    with pytest.raises((TypeError, ValueError)):
        Journal(**bad)


def test_a_file_that_is_no_journal_says_so(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"kind": "start"}\n' * 100)
    with pytest.raises(JournalError, match=r"cannot be opened as a journal.*Journal\.load"):
        Journal(tmp_path / "x.jsonl")
    with pytest.raises(FileNotFoundError, match="make it first"):
        Journal(tmp_path / "nowhere" / "run.db")
    journal = a_run(Journal(tmp_path / "run.db", run_id="r")).journal
    with pytest.raises(ValueError, match="holds the run 'r'"):
        Journal(tmp_path / "run.db", run_id="other")
    journal._store._db.execute("DELETE FROM events WHERE seq = 3")
    with pytest.raises(ValueError, match="event 3 is missing"):
        Journal(tmp_path / "run.db")


def test_a_file_holds_one_run(tmp_path):
    a_run(Journal(tmp_path / "run.db"))
    with pytest.raises(ValueError, match="already holds a run"):
        a_run(Journal(tmp_path / "run.db"))


# ---- export and import ------------------------------------------------------------------------------------------------------------


def test_an_export_is_the_journal(tmp_path):
    journal = a_run(Journal(tmp_path / "run.db")).journal
    loaded = Journal.load(journal.save(tmp_path / "run.jsonl"))
    again = Journal.load(tmp_path / "run.jsonl", into=tmp_path / "copy.db")
    assert loaded.events == again.events == Journal(tmp_path / "copy.db").events == journal.events
    assert loaded.run_id == again.run_id == journal.run_id and loaded.notes == []
    with pytest.raises(ValueError, match="already holds a run"):
        Journal.load(tmp_path / "run.jsonl", into=tmp_path / "copy.db")
    with pytest.raises(ValueError, match="is a journal already"):
        Journal.load(tmp_path / "run.db")


def test_a_torn_last_line_is_left_out_with_a_note_wherever_it_is_cut(tmp_path):
    journal = run(ScriptedModel([call("look_up", item="größe"), "yes"]), [look_up], "go").journal
    whole = journal.save(tmp_path / "run.jsonl").read_bytes()
    last = whole[:-1].rindex(b"\n") + 1
    for cut in range(last + 1, len(whole) - 1):
        (tmp_path / "torn.jsonl").write_bytes(whole[:cut])
        torn = Journal.load(tmp_path / "torn.jsonl")
        assert torn.events == journal.events[:-1] and torn.notes == [f"line {len(journal.events)} is cut off and was left out"]
    (tmp_path / "torn.jsonl").write_bytes(whole[:-1])
    assert Journal.load(tmp_path / "torn.jsonl").events == journal.events, "only the line end is missing"
    assert resume(torn, ScriptedModel([]), [look_up]).status == "done", "the reply was there, so the run is over"


def test_a_torn_line_elsewhere_is_an_error_that_names_it(tmp_path):
    lines = a_run(Journal()).journal.save(tmp_path / "run.jsonl").read_text().splitlines()
    for n, broken in [(3, lines[2][:20]), (1, "x"), (4, "[]"), (2, '{"a": 1}'), (len(lines), "12")]:
        (tmp_path / "torn.jsonl").write_text("\n".join([*lines[: n - 1], broken, *lines[n:]]) + "\n")
        with pytest.raises(ValueError, match=rf"torn\.jsonl, line {n}: "):
            Journal.load(tmp_path / "torn.jsonl")
    (tmp_path / "torn.jsonl").write_text("")
    assert Journal.load(tmp_path / "torn.jsonl").events == []


# ---- what can go wrong while it is written ----------------------------------------------------------------------------------------


def test_on_a_full_disk_the_run_stops_with_nothing_half_done(tmp_path):
    """SQLite itself says that the disk is full, at every event of the run in turn."""
    outcomes = set()
    for n in range(1, 40):
        path = tmp_path / f"{n}.db"
        journal, ran = Journal(path), []
        write = Tool("write", "Write.", {"properties": {"n": {"type": "integer"}}}, lambda n: ran.append(n) or "x" * 3000)
        db, append = journal._store._db, journal._store.append

        def full(seq, event):
            if seq == n:
                db.execute(f"PRAGMA max_page_count = {db.execute('PRAGMA page_count').fetchone()[0]}")
                event = {**event, "filler": "x" * 20_000}
            return append(seq, event)

        journal._store.append = full
        model = ScriptedModel([call("write", n=1), call("write", n=2), "done"])
        try:
            outcomes.add(run(model, [write], "go", journal=journal).status)
            break
        except JournalError as error:
            assert f"event {n} (" in str(error) and "database or disk is full" in str(error) and "resume the run" in str(error)
            assert isinstance(error.__cause__, sqlite3.OperationalError)
        on_disk = Journal(path).events
        assert journal.events == on_disk and len(on_disk) == n - 1
        assert len(ran) == len([e for e in on_disk if e["kind"] == "call"]), "nothing ran that is not on record"
        with pytest.raises(JournalError, match="has failed before.*open it again"):
            journal.add("note")
        if not on_disk:
            continue
        known = {e["id"] for e in on_disk if e["kind"] == "result"}
        script = ScriptedModel([call("write", n=1), call("write", n=2), "done"])
        script.calls = len([e for e in on_disk if e["kind"] == "reply"])
        script.entries = script.entries[:]
        result = resume(Journal(path), script, [write])
        assert_rules(result)
        assert result.status == "done" and all(ran.count(i) == 1 for i in (1, 2)), "what ran and was not recorded is unknown, not run again"
        assert len(known) <= 2
    assert outcomes == {"done"}


@pytest.mark.parametrize("store_error", [sqlite3.OperationalError("disk I/O error"), OSError("gone"), sqlite3.OperationalError("database is locked")])
def test_a_store_that_fails_is_a_clear_error(store_error):
    journal = Journal()

    class Broken:
        def append(self, seq, event):
            if seq == 4:
                raise store_error
            return True

    journal._store = Broken()
    ping, runs = counting()
    with pytest.raises(JournalError, match="event 4 .call. could not be written"):
        run(ScriptedModel([call("ping"), "done"]), [ping], "go", journal=journal)
    assert runs == [] and [e["kind"] for e in journal.events] == ["start", "message", "reply"]


def test_an_interrupt_while_an_event_is_written_leaves_the_file_to_decide(tmp_path):
    for written in (False, True):
        path = tmp_path / f"{written}.db"
        journal = Journal(path)
        append = journal._store.append

        def interrupted(seq, event):
            if seq == 4 and not written:
                raise KeyboardInterrupt
            done = append(seq, event)
            if seq == 4:
                raise KeyboardInterrupt
            return done

        journal._store.append = interrupted
        ping, runs = counting()
        with pytest.raises(KeyboardInterrupt):
            run(ScriptedModel([call("ping"), "done"]), [ping], "go", journal=journal)
        assert runs == []
        result = resume(Journal(path), ScriptedModel(["done"]), [ping])
        assert result.status == "done" and (runs, "unknown" in results(result)[0]) == (([], True) if written else (["ping"], False))


def test_two_journals_of_one_file_cannot_both_write(tmp_path):
    first, second = Journal(tmp_path / "run.db"), Journal(tmp_path / "run.db")
    first.add("note")
    with pytest.raises(RunTaken, match="event 1 is not written here"):
        second.add("note")
    assert second.events == [] and len(Journal(tmp_path / "run.db").events) == 1


def test_many_threads_may_write(tmp_path):
    journal = Journal(tmp_path / "run.db")
    threads = [threading.Thread(target=lambda n=n: [journal.add("note", n=n) for _ in range(10)]) for n in range(6)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(journal.events) == 60 and Journal(tmp_path / "run.db").events == journal.events


# ---- secrets ----------------------------------------------------------------------------------------------------------------------


def without(*secrets):
    def redact(text):
        for secret in secrets:
            text = text.replace(secret, "[secret]")
        return text

    return redact


def test_a_secret_is_nowhere_in_the_record(tmp_path):
    secret, other = 'k"9-ä', "tool-secret"
    show = Tool("show", "Show.", {"properties": {"x": {}}}, lambda **a: f"{other} {secret}")
    script = [Reply(f"I use {secret}", [call("show", x={"deep": [secret]}, **{secret: 1})]), call("show", x=secret), OSError(secret)]
    journal = Journal(tmp_path / "run.db", redact=without(secret, other))
    result = run(ScriptedModel(script), [show], f"use {secret}", system=secret, journal=journal)
    for place in (json.dumps(journal.events, ensure_ascii=False), str(journal.table()), result.report, str(Journal(tmp_path / "run.db").events)):
        assert secret not in place and other not in place and json.dumps(secret)[1:-1] not in place
    raw = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert secret.encode() not in raw and json.dumps(secret)[1:-1].encode() not in raw and other.encode() not in raw
    assert secret in json.dumps(result.messages, ensure_ascii=False).replace("\\\\u00e4", "ä").replace('\\"', '"') or other in str(result.messages)
    assert [m["role"] for m in journal.messages()] == [m["role"] for m in result.messages]
    assert [c["id"] for m in journal.messages() for c in m.get("tool_calls", ())] == ["call_1", "call_2"]


def test_what_was_redacted_does_not_run_after_a_resume():
    ran = []
    send = Tool("send", "Send.", {"properties": {"key": {"type": "string"}}}, lambda key: ran.append(key) or "sent", needs_approval=True)
    journal = Journal(redact=without("hunter2"))
    result = run(ScriptedModel([[call("send", key="hunter2"), call("send", key="open")]]), [send], "go", journal=journal)
    assert result.pending[0].arguments == {"key": "hunter2"}, "the person sees what it is about"
    result = resume(journal, ScriptedModel(["done"]), [send], {c.id: True for c in result.pending})
    assert ran == ["open"] and results(result)[0].startswith("ERROR: the arguments of this call are kept only in redacted form")
    live = run(ScriptedModel([call("send", key="hunter2"), "done"]), [send], "go", journal=Journal(redact=without("hunter2")), approve=lambda c: True)
    assert ran == ["open", "hunter2"] and live.status == "done"


@pytest.mark.parametrize("redact", [lambda text: 1 / 0, lambda text: None, lambda text: b"x"])
def test_a_redaction_that_fails_stops_the_run_before_anything_is_written(redact):
    journal = Journal(redact=redact)
    with pytest.raises(JournalError, match="redact failed on a start event"):
        run(ScriptedModel(["x"]), [], "go", journal=journal)
    assert journal.events == []


@steady
@given(st.text(min_size=1, max_size=8), st.lists(st.text(max_size=12), min_size=1, max_size=3))
def test_redaction_never_breaks_a_run(secret, texts):
    take = Tool("take", "Take.", {"properties": {}}, lambda **a: list(a.values()))
    script = [call("take", **{f"k{n}": t + secret for n, t in enumerate(texts)}), secret + "."]
    result = run(ScriptedModel(script), [take], "go" + secret, journal=Journal(redact=without(secret)))
    assert result.status == "done" and len(result.journal.messages()) == len(result.messages)


@steady
@given(st.lists(st.sampled_from(["add", "bad", "rm", "", "fail", "two", "pay"]), max_size=5), st.sampled_from([None, True, "no"]))
def test_the_record_tells_the_list(kinds, said):
    moves = {"add": call("add", a=1, b=2), "bad": call("add", a="x"), "rm": call("rm"), "": "", "fail": call("fail"),
             "two": [call("add", a=2, b=2), call("fail")], "pay": [call("pay", amount=1), call("add", a=3, b=3)]}  # fmt: skip
    result = run(ScriptedModel([*[moves[k] for k in kinds], "done"]), [add, fail, pay], "go", limits=Limits(max_errors=4),
                 approve=None if said is None else lambda asked: said)  # fmt: skip
    assert_rules(result)
