"""Group commits: what many runs' batches read and write, gathered so that each table is written once."""

import sqlite3
from collections.abc import Iterable, Iterator
from itertools import chain

from chargehand.adapters.bells import Topic
from chargehand.adapters.fence import Row
from chargehand.adapters.sealing import Sealed
from chargehand.adapters.sqlite import rows
from chargehand.adapters.sqlite.statements import put_rows
from chargehand.adapters.standing import Standing

STANDINGS = 10_000  # heads remembered from one commit to the next: some 10 MB

_PUT_EVENTS = f"insert into events({rows.EVENT}) values /*rows*/"
_PUT_BLOBS = "insert or ignore into blobs(hash, body, size) values /*rows*/"
_PUT_USES = "insert or ignore into uses(hash, run) values /*rows*/"
_PUT_INTENTS = "insert or ignore into intents(origin, action, run, seq) values /*rows*/"
_PUT_HEADS = f"""insert into heads({rows.HEAD}) values /*rows*/ on conflict(run) do update set
    epoch = excluded.epoch, seq = excluded.seq, chain = excluded.chain, driver = excluded.driver,
    status = excluded.status, wake_at = excluded.wake_at, changed = excluded.changed"""
# Most heads only move on: leaving the other columns alone leaves the indexes alone. For one head alone the second
# statement would take three times as long.
_MOVE_HEAD = "update heads set seq = ?, chain = ?, changed = ? where run = ?"
_MOVE_HEADS = """with moved(seq, chain, changed, run) as (values /*rows*/)
    update heads set seq = moved.seq, chain = moved.chain, changed = moved.changed from moved
    where heads.run = moved.run"""


class Transaction:
    """The pages that the fence works on. Reads see what was put before; `write` brings it all to the database.

    The heads of driven runs are remembered from one commit to the next, for as long as nobody else writes to the file.
    """

    def __init__(self, db: sqlite3.Connection) -> None:
        self.db = db
        self._version: object = None
        self._standings: dict[str, Standing] = {}
        self._touched: set[str] = set()
        self._mailed: set[str] = set()
        self._forget_what_was_put()

    def begin(self) -> None:
        """Starts afresh, with what is true in the database now."""
        self._touched, self._mailed = set(), set()
        (version,) = self.db.execute("pragma data_version").fetchone()
        if version != self._version or len(self._standings) > STANDINGS:
            self._standings = {}
        self._version = version

    def forget(self) -> None:
        """Drops whatever was put or remembered."""
        self._standings = {}
        self._forget_what_was_put()

    def _forget_what_was_put(self) -> None:
        self._changed: dict[str, Standing] = {}
        self._events: list[Row] = []
        self._chains: dict[tuple[str, int], bytes] = {}
        self._blobs: list[tuple[str, bytes, int]] = []
        self._uses: list[tuple[str, str]] = []
        self._intents: list[tuple[str, str, str, int]] = []

    def standing(self, run: str) -> Standing | None:
        standing = self._standings.get(run)
        if standing is None and (head := rows.find_head(self.db, run)) is not None:
            standing = Standing(head, turned=False)
            if head.driver is not None:  # a run that waits takes no memory
                self._standings[run] = standing
        return standing

    def put(self, standing: Standing) -> None:
        run = standing.head.run
        self._standings[run] = self._changed[run] = standing

    def chain(self, run: str, seq: int) -> bytes | None:
        return self._chains.get((run, seq)) or rows.find_chain(self.db, run, seq)

    def add(self, standing: Standing, events: list[Row], sealed: Sealed) -> None:
        run = standing.head.run
        self._standings[run] = self._changed[run] = standing
        if events:
            self._events += events
            self._chains[run, events[-1][1]] = events[-1][-1]
        if sealed.needs:
            self._blobs += [(hash, body, len(body)) for hash, body in sealed.batch.blobs.items()]
            self._uses += [(hash, run) for hash in sealed.needs]
        if sealed.actions:
            self._intents += [(standing.head.origin, action, run, seq) for seq, action in sealed.actions]

    def mail(self, run: str) -> Iterable[int]:
        return chain.from_iterable(self.db.execute("select id from inbox where run = ?", (run,)).fetchall())

    def take(self, run: str, ids: Iterable[int]) -> None:
        self.db.executemany("delete from inbox where run = ? and id = ?", [(run, id) for id in ids])

    def put_mail(self, run: str, at: float, by: str, kind: str, body: str) -> int:
        cursor = self.db.execute(
            "insert into inbox(run, at, by, kind, body) values(?, ?, ?, ?, ?)", (run, at, by, kind, body)
        )
        self._mailed.add(run)
        return cursor.lastrowid or 0

    def write(self) -> None:
        """Brings everything that was put to the database."""
        put_rows(self.db, _PUT_BLOBS, self._blobs)
        put_rows(self.db, _PUT_USES, self._uses)
        put_rows(self.db, _PUT_INTENTS, self._intents)
        put_rows(self.db, _PUT_EVENTS, self._events)
        self._write_heads()
        self._touched.update(self._changed)
        self._forget_what_was_put()

    def _write_heads(self) -> None:
        turned: list[tuple[object, ...]] = []
        moved: list[tuple[object, ...]] = []
        for run, standing in self._changed.items():
            if standing.turned:
                turned.append(rows.write_head(standing.now()))
                standing.turned = False
            else:
                moved.append((standing.seq, standing.chain, standing.changed, run))
            if standing.head.driver is None:
                self._standings.pop(run, None)
        put_rows(self.db, _PUT_HEADS, turned)
        if len(moved) == 1:
            self.db.execute(_MOVE_HEAD, moved[0])
        else:
            put_rows(self.db, _MOVE_HEADS, moved)

    def topics(self) -> Iterator[Topic]:
        """What was committed."""
        for run in self._touched:
            yield "events", run
        for run in self._mailed:
            yield "mail", run
        if self._mailed:
            yield "mail", None
