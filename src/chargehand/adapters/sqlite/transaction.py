"""One group commit: what many runs' batches read and write, gathered so that each table is written once."""

import sqlite3
from collections.abc import Iterable
from itertools import chain

from chargehand.adapters.bells import Topic
from chargehand.adapters.fence import Sealed
from chargehand.adapters.sqlite import rows
from chargehand.domain.records import Head, Recorded

_PUT_HEAD = f"insert or replace into heads({rows.HEAD}) values(?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
_PUT_EVENT = f"insert into events({rows.EVENT}) values(?, ?, ?, ?, ?, ?, ?)"


class Transaction:
    """The pages that the fence works on. Reads see what was put before; `write` brings it all to the database."""

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self.topics: set[Topic] = set()
        self._stored: dict[str, Head | None] = {}
        self._heads: dict[str, Head] = {}
        self._events: list[tuple[object, ...]] = []
        self._chains: dict[tuple[str, int], bytes] = {}
        self._blobs: list[tuple[str, bytes, int]] = []
        self._uses: list[tuple[str, str]] = []

    def head(self, run: str) -> Head | None:
        if run in self._heads:
            return self._heads[run]
        if run not in self._stored:
            self._stored[run] = rows.find_head(self.db, run)
        return self._stored[run]

    def put_head(self, head: Head) -> None:
        self._heads[head.run] = head
        self.topics.add(("events", head.run))

    def chain(self, run: str, seq: int) -> bytes | None:
        return self._chains.get((run, seq)) or rows.find_chain(self.db, run, seq)

    def add(self, run: str, events: list[Recorded], sealed: Sealed) -> None:
        self._events += [(run, e.seq, e.at, e.by, e.kind, e.body, e.chain) for e in events]
        if events:
            self._chains[run, events[-1].seq] = events[-1].chain
        self._blobs += [(hash, body, len(body)) for hash, body in sealed.batch.blobs.items()]
        self._uses += [(hash, run) for hash in sealed.needs]

    def mail(self, run: str) -> Iterable[int]:
        return chain.from_iterable(self.db.execute("select id from inbox where run = ?", (run,)).fetchall())

    def take(self, run: str, ids: Iterable[int]) -> None:
        self.db.executemany("delete from inbox where run = ? and id = ?", [(run, id) for id in ids])

    def put_mail(self, run: str, at: float, by: str, kind: str, body: str) -> int:
        cursor = self.db.execute(
            "insert into inbox(run, at, by, kind, body) values(?, ?, ?, ?, ?)", (run, at, by, kind, body)
        )
        self.topics |= {("mail", run), ("mail", None)}
        return cursor.lastrowid or 0

    def write(self) -> None:
        """Brings everything that was put to the database, and starts afresh."""
        if self._blobs:
            self.db.executemany("insert or ignore into blobs(hash, body, size) values(?, ?, ?)", self._blobs)
        if self._uses:
            self.db.executemany("insert or ignore into uses(hash, run) values(?, ?)", self._uses)
        self.db.executemany(_PUT_EVENT, self._events)
        self._write_heads()
        self._stored, self._heads, self._events, self._chains, self._blobs, self._uses = {}, {}, [], {}, [], []

    def _write_heads(self) -> None:
        moved: list[tuple[object, ...]] = []
        for run, head in self._heads.items():
            if _only_moved(self._stored.get(run), head):
                moved.append((head.seq, head.chain, head.changed, run))
            else:
                self.db.execute(_PUT_HEAD, rows.write_head(head))
        # Most heads only move on: leaving the other columns alone leaves the indexes alone.
        self.db.executemany("update heads set seq = ?, chain = ?, changed = ? where run = ?", moved)


def _only_moved(before: Head | None, after: Head) -> bool:
    return before is not None and (before.epoch, before.driver, before.status, before.wake_at) == (
        after.epoch,
        after.driver,
        after.status,
        after.wake_at,
    )
