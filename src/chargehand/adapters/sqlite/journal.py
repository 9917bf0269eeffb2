"""The journal in one SQLite file."""

import asyncio
import sqlite3
from collections.abc import AsyncGenerator, Callable, Collection, Generator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from chargehand.adapters.audit import audit
from chargehand.adapters.bells import follow
from chargehand.adapters.export import Exported, needed_blobs, read_export, take_in, write_export
from chargehand.adapters.fence import Fence, post
from chargehand.adapters.sealing import seal, seal_letter, seal_opening
from chargehand.adapters.sqlite import archive, rows
from chargehand.adapters.sqlite.connection import Reader, connect, in_words
from chargehand.adapters.sqlite.liveness import Drivers
from chargehand.adapters.sqlite.tasks import Append, Errand, Work
from chargehand.adapters.sqlite.transaction import Transaction
from chargehand.adapters.sqlite.writer import Writer
from chargehand.domain.records import Batch, Claim, Head, Letter, Message, Opening, Problem, Pruned, Recorded, RunStatus
from chargehand.errors import RunUnknown


class SqliteJournal:
    """A journal that survives its process. Several processes may use the file at once."""

    def __init__(self, path: str | Path, *, read_only: bool = False, patience: float = 5.0, poll: float = 0.2) -> None:
        """Opens or makes the file. Raises JournalUnusable.

        patience: seconds to wait for another process that writes.
        poll: seconds between looks at what other processes wrote, while somebody follows or listens.
        """
        self._path = Path(path)
        with in_words(self._path):
            writing = connect(self._path, read_only=read_only, patience=patience)
            reading = connect(self._path, read_only=read_only, patience=patience)
        self._reader = Reader(reading, self._path)
        self._drivers = Drivers(self._path.resolve())
        self._fence = Fence(self._drivers.name, self._drivers.alive)
        self.writer = Writer(writing, self._path, poll)

    @property
    def driver(self) -> str:
        return self._drivers.name

    # driving

    async def create(self, opening: Opening, first: Batch) -> Claim:
        seal_opening(opening)
        sealed = seal(opening.run, first)
        return await self._claimed(lambda pages: self._fence.create(pages, opening, sealed))

    async def claim(self, run: str, *, take_over: bool = False) -> Claim:
        return await self._claimed(lambda pages: self._fence.claim(pages, run, take_over))

    async def _claimed(self, work: Work[Claim]) -> Claim:
        self._drivers.enlist()
        claims: list[Claim] = []

        def claim(pages: Transaction) -> Claim:
            claims.append(work(pages))
            return claims[0]

        try:
            return await self.writer.ask(claim)
        except asyncio.CancelledError:  # nobody will ever hear of this claim, so it is given back behind it
            self.writer.put(Errand(lambda pages: [self._fence.release(pages, claim) for claim in claims]))
            raise

    def append(self, claim: Claim, batch: Batch) -> None:
        self._fence.check(claim)
        self.writer.put(Append(self._fence, claim, seal(claim.run, batch)))

    async def barrier(self, claim: Claim, seq: int) -> None:
        await self.writer.ask(lambda pages: self._fence.barrier(pages, claim, seq), writes=False)

    async def park(self, claim: Claim, batch: Batch) -> bool:
        sealed = seal(claim.run, batch)
        return await self.writer.ask(lambda pages: self._fence.park(pages, claim, sealed))

    def release(self, claim: Claim) -> None:
        self.writer.put(Errand(lambda pages: self._fence.release(pages, claim)))

    # history

    def read(self, run: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        with self._reader as db:
            events = rows.find_events(db, run, after, limit)
            if not events:
                _known(db, run)
            return events

    def blob(self, hash: str) -> bytes:
        with self._reader as db:
            body = rows.find_blob(db, hash)
        if body is None:
            raise KeyError(hash)
        return body

    def head(self, run: str) -> Head:
        with self._reader as db:
            return _known(db, run)

    def heads(
        self,
        *,
        status: Collection[RunStatus] | None = None,
        parent: str | None = None,
        tenant: str | None = None,
        origin: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> list[Head]:
        with self._reader as db:
            return rows.find_heads(db, status, parent, tenant, origin, before, limit)

    def due(self, now: float) -> list[str]:
        with self._reader as db:
            found = rows.find_due(db, now)
        alive = {driver for driver in {driver for _, driver in found} if driver is not None and self._alive(driver)}
        return [run for run, driver in found if driver not in alive]

    def next_wake(self) -> float | None:
        with self._reader as db:
            alarms = [rows.find_alarm(db, None)]
            driver = ""
            while (driver := rows.find_next_driver(db, driver)) is not None:
                if not self._alive(driver):
                    alarms.append(rows.find_alarm(db, driver))
        return min((alarm for alarm in alarms if alarm is not None), default=None)

    def intents(self, origin: str, action: str, besides: str | None = None) -> list[tuple[str, int]]:
        with self._reader as db:
            return rows.find_intents(db, origin, action, besides)

    def abandoned(self) -> list[str]:
        with self._reader as db:
            found = rows.find_driven(db)
        dead = {driver for driver in {driver for _, driver in found} if not self._alive(driver)}
        return [run for run, driver in found if driver in dead]

    def follow(self, run: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        return follow(self, self.writer.bells, run, after)

    # inbox

    def post(self, run: str, *, at: float, by: str, kind: str, body: str) -> int:
        letter = seal_letter(Letter(run, at, by, kind, body))
        return self.writer.wait(lambda pages: post(pages, letter))

    def inbox(self, run: str, after: int = 0) -> list[Message]:
        with self._reader as db:
            return rows.find_messages(db, run, after)

    def listen(self, run: str | None, wake: Callable[[], None]) -> Callable[[], None]:
        return self.writer.bells.subscribe(("mail", run), wake)

    # archive

    def verify(self, run: str) -> list[Problem]:
        with self._snapshot() as db:
            events = rows.find_events(db, run, 0, None)
            return audit(_known(db, run), events, partial(rows.find_blob, db))

    def export(self, run: str) -> bytes:
        with self._snapshot() as db:
            head, events = _known(db, run), rows.find_events(db, run, 0, None)
            found = {hash: rows.find_blob(db, hash) for hash in needed_blobs(events)}
            blobs = {hash: body for hash, body in found.items() if body is not None}
            messages = rows.find_messages(db, run, 0)
        return write_export(Exported(head, events, blobs, messages))

    def import_(self, file: bytes) -> str:
        exported = read_export(file)
        return self.writer.wait(lambda transaction: take_in(transaction, exported))

    def prune(self, before: float, status: Collection[RunStatus] | None = None) -> Pruned:
        return self.writer.wait(lambda transaction: archive.prune(transaction, before, status))

    # the end

    def flush(self) -> None:
        self.writer.wait(lambda _: None, writes=False)

    def close(self) -> None:
        try:
            self.writer.close()
        finally:
            self._drivers.resign()
            with self._reader as db:
                db.close()

    def _alive(self, driver: str) -> bool:
        return driver == self.driver or self._drivers.alive(driver)

    @contextmanager
    def _snapshot(self) -> Generator[sqlite3.Connection]:
        """Several reads that see the same moment."""
        with self._reader as db:
            db.execute("begin")
            try:
                yield db
            finally:
                db.execute("rollback")


def _known(db: sqlite3.Connection, run: str) -> Head:
    head = rows.find_head(db, run)
    if head is None:
        raise RunUnknown(run)
    return head
