"""Retrieval: a memory that is searched. SQLite's own full-text index (FTS5), ranked by BM25; nothing to install."""

from __future__ import annotations

import hashlib
import json
import re
import sqlite3
import threading
from typing import NamedTuple

from ..messages import clean
from ..tools import Tool, ToolResult, tool

MAX_TERMS = 64      # words of a query that are looked for
_NO_FTS5 = ("this Python's sqlite3 (SQLite {}) was built without full-text search (FTS5). Use a Python from python.org, conda or your system's "
            "packages, which have it; to check one: "
            "python -c \"import sqlite3; sqlite3.connect(':memory:').execute('create virtual table t using fts5(x)')\"")


class Passage(NamedTuple):
    """A text that was found. A higher score is a better match; scores compare within one search only."""

    text: str
    source: str
    score: float


class Recall:
    """Texts that are found again by their words. `Recall()` lives in memory, `Recall(path)` in a file that outlives the run.

    A query is plain text: each of its words is looked for, none of it is FTS5 syntax. A passage needs one of the words;
    rare words count more, words in short passages count more (BM25, k1 = 1.2, b = 0.75). Of equals the newest is first.
    It finds words, not meanings: "locker" does not find "compartment". Raises RuntimeError where SQLite lacks FTS5.
    """

    def __init__(self, path=":memory:", *, max_chars: int = 2_000):
        self.max_chars = max_chars
        self._lock = threading.Lock()
        self._db = sqlite3.connect(path, check_same_thread=False)
        try:
            self._db.execute("CREATE VIRTUAL TABLE IF NOT EXISTS passages "
                             "USING fts5(text, source UNINDEXED, tokenize = 'unicode61 remove_diacritics 2')")
        except sqlite3.OperationalError as error:
            self._db.close()
            if "fts5" in str(error) or "no such module" in str(error):
                raise RuntimeError(_NO_FTS5.format(sqlite3.sqlite_version)) from None
            raise
        self._db.execute("CREATE TABLE IF NOT EXISTS known (digest TEXT PRIMARY KEY)")
        self._db.commit()

    def __len__(self):
        with self._lock:
            return self._db.execute("SELECT count(*) FROM passages").fetchone()[0]

    def __bool__(self):
        return True     # an empty memory is one, too

    def add(self, text: str, source: str = "") -> int:
        """Keep a text, in passages of at most `max_chars`; returns how many are new. The same text of the same source is kept once."""
        if not isinstance(text, str) or not isinstance(source, str):
            raise TypeError(f"add takes a text and its source, not {text!r:.80} and {source!r:.80}")
        new, source = 0, clean(source)
        with self._lock, self._db:      # all of it or nothing
            for passage in split(clean(text), self.max_chars):
                digest = hashlib.sha256(json.dumps([passage, source]).encode()).hexdigest()
                if self._db.execute("INSERT OR IGNORE INTO known VALUES (?)", (digest,)).rowcount:
                    self._db.execute("INSERT INTO passages (text, source) VALUES (?, ?)", (passage, source))
                    new += 1
        return new

    def search(self, query: str, k: int = 5) -> list[Passage]:
        """The `k` best passages that have a word of the query in them, the best first."""
        wanted = match(query)
        if not wanted or k < 1:
            return []
        with self._lock:
            rows = self._db.execute("SELECT text, source, -bm25(passages) FROM passages WHERE passages MATCH ? "
                                    "ORDER BY bm25(passages), rowid DESC LIMIT ?", (wanted, k)).fetchall()
        return [Passage(*row) for row in rows]

    def close(self) -> None:
        self._db.close()

    def tools(self, k: int = 3) -> list[Tool]:
        """remember(text) and recall(query), which shows the `k` best."""

        @tool(idempotent=True)
        def remember(text: str) -> str | ToolResult:
            """Keep one fact for later, in a full sentence with the names that you will ask for."""
            if not text.strip():
                return ToolResult("ERROR: there is nothing to remember in an empty text; send a sentence", error=True)
            return "remembered" if self.add(text) else "this was remembered before"

        @tool(parallel=True, idempotent=True)
        def recall(query: str) -> str | ToolResult:
            """Search what was remembered, by words: names and nouns that stand in the text. Example: recall(query="locker Asha Rao")."""
            if not match(query):
                return ToolResult("ERROR: the query has no words; send names and nouns, such as recall(query=\"locker Asha Rao\")", error=True)
            found = self.search(query, k)
            if not found:
                return "nothing was found: no passage has any of these words; try other words for the same thing"
            return "\n".join(json.dumps({"text": p.text, **({"source": p.source} if p.source else {})}, ensure_ascii=False) for p in found)

        return [remember, recall]


def match(query: str) -> str:
    """A query as FTS5 takes it: each word in quotes, any of them will do. A quoted word is data, whatever it is: AND, NEAR(, *, -, col: ..."""
    words = dict.fromkeys(w.lower() for w in re.findall(r"\w+", clean(query)))
    return " OR ".join(f'"{w}"' for w in list(words)[:MAX_TERMS])


def split(text: str, limit: int) -> list[str]:
    """A text in pieces of at most `limit` characters, cut at the end of a paragraph, else of a line, else of a word."""
    pieces, rest = [], text.strip()
    while len(rest) > limit:
        window = rest[:limit + 1]
        at = next((i for mark in ("\n\n", "\n", " ") if (i := window.rfind(mark)) > limit // 2), limit)
        pieces.append(rest[:at].rstrip())
        rest = rest[at:].lstrip()
    return [p for p in (*pieces, rest) if p]
