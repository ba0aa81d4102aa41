"""A journal's file: one SQLite table of numbered events, one transaction for each. Whoever writes a number first has it."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path


class SqliteStore:
    """The table events(seq, kind, json) of one run. What `append` has returned True for survives a crash, a power cut too."""

    def __init__(self, path):
        self.path = Path(path)
        if not self.path.parent.is_dir():
            raise FileNotFoundError(f"there is no folder {self.path.parent} for the journal {self.path.name}; make it first")
        # Autocommit: every insert is a transaction. Threads take turns in the Journal, so one connection serves them all.
        self._db = sqlite3.connect(self.path, timeout=10, isolation_level=None, check_same_thread=False)
        try:
            if self._db.execute("PRAGMA journal_mode").fetchone()[0] != "wal":
                self._db.execute("PRAGMA journal_mode=WAL")     # readers do not hold up the writer
            self._db.execute("PRAGMA synchronous=FULL")         # committed means on the disk
            self._db.execute("CREATE TABLE IF NOT EXISTS events (seq INTEGER PRIMARY KEY, kind TEXT NOT NULL, json TEXT NOT NULL)")
        except sqlite3.Error:
            self._db.close()
            raise

    def read(self) -> list[dict]:
        """All events, in order. Raises ValueError where the numbers have a gap: an event has been taken out."""
        rows = self._db.execute("SELECT seq, json FROM events ORDER BY seq").fetchall()
        missing = next((n for n, (seq, _) in enumerate(rows, 1) if n != seq), None)
        if missing:
            raise ValueError(f"{self.path}: event {missing} is missing, so this is not the whole record of a run")
        return [json.loads(text) for _, text in rows]

    def append(self, seq: int, event: dict) -> bool:
        """Write event number `seq`; False when somebody else has written that number before."""
        try:
            self._db.execute("INSERT INTO events VALUES (?, ?, ?)", (seq, event["kind"], json.dumps(event)))
        except sqlite3.IntegrityError:
            return False
        return True

    def close(self) -> None:
        self._db.close()
