"""What the tables say, in the words of the domain."""

import sqlite3
from collections.abc import Iterable
from typing import Any, cast

from chargehand.domain.records import FINAL, Head, Message, Recorded, RunStatus
from chargehand.errors import JournalUnusable

HEAD = "run, epoch, seq, chain, driver, status, wake_at, created, changed, parent, origin, goal, tenant, priority"
EVENT = "run, seq, at, by, kind, body, chain"
MESSAGE = "id, run, at, by, kind, body"

_EVENT_TYPES = (str, int, float, str, str, str, bytes)
_HEAD_TYPES = (str, int, int, bytes, (str, type(None)), str, (float, type(None)), float, float)
_OVER = ", ".join(f"'{status}'" for status in sorted(FINAL))


def read_head(row: tuple[Any, ...]) -> Head:
    if not all(map(isinstance, row, _HEAD_TYPES)):
        raise _damaged("the head", row[0])
    run, epoch, seq, chain, driver, status, wake_at, created, changed, parent, origin, goal, tenant, priority = row
    return Head(
        run=run,
        epoch=epoch,
        seq=seq,
        chain=chain,
        driver=driver,
        status=status,
        wake_at=wake_at,
        created=created,
        changed=changed,
        parent=parent,
        origin=origin,
        goal=goal,
        tenant=tenant,
        priority=priority,
    )


def write_head(head: Head) -> tuple[object, ...]:
    """The row of a head, its columns in the order of `HEAD`."""
    return (
        head.run,
        head.epoch,
        head.seq,
        head.chain,
        head.driver,
        head.status,
        head.wake_at,
        head.created,
        head.changed,
        head.parent,
        head.origin,
        head.goal,
        head.tenant,
        head.priority,
    )


def find_head(db: sqlite3.Connection, run: str) -> Head | None:
    row = db.execute(f"select {HEAD} from heads where run = ?", (run,)).fetchone()
    return None if row is None else read_head(row)


def find_heads(
    db: sqlite3.Connection,
    status: Iterable[RunStatus] | None,
    parent: str | None,
    tenant: str | None,
    origin: str | None,
    before: str | None,
    limit: int | None,
) -> list[Head]:
    """Heads that fit, the newest first."""
    clauses, values = ["true"], list[object]()
    if status is not None:
        wanted = list(status)
        clauses.append(f"status in ({_marks(wanted)})")
        values += wanted
    for column, value in (("parent", parent), ("tenant", tenant), ("origin", origin)):
        if value is not None:
            clauses.append(f"{column} = ?")
            values.append(value)
    if before is not None:
        clauses.append("(created, run) < (select created, run from heads where run = ?)")
        values.append(before)
    values.append(-1 if limit is None else limit)
    where = " and ".join(clauses)
    rows = db.execute(f"select {HEAD} from heads where {where} order by created desc, run desc limit ?", values)
    return [read_head(row) for row in rows.fetchall()]


def find_events(db: sqlite3.Connection, run: str, after: int, limit: int | None) -> list[Recorded]:
    rows = db.execute(
        f"select {EVENT} from events where run = ? and seq > ? order by seq limit ?",
        (run, after, -1 if limit is None else limit),
    ).fetchall()
    if {tuple(map(type, row)) for row in rows} - {_EVENT_TYPES}:
        raise _damaged("an event", run)
    return [Recorded(*row) for row in rows]


def find_chain(db: sqlite3.Connection, run: str, seq: int) -> bytes | None:
    row = db.execute("select chain from events where run = ? and seq = ?", (run, seq)).fetchone()
    return None if row is None else cast(bytes, row[0])


def find_messages(db: sqlite3.Connection, run: str, after: int) -> list[Message]:
    rows = db.execute(f"select {MESSAGE} from inbox where run = ? and id > ? order by id", (run, after)).fetchall()
    return [Message(*row) for row in rows]


def find_blob(db: sqlite3.Connection, hash: str) -> bytes | None:
    row = db.execute("select body from blobs where hash = ?", (hash,)).fetchone()
    return None if row is None else cast(bytes, row[0])


def find_due(db: sqlite3.Connection, now: float) -> list[tuple[str, str | None]]:
    """Runs whose time has come or whose mail waits, each with the driver that its head names."""
    query = f"""
        select run, driver from heads
        where run in (
            select run from heads where wake_at <= ? and status not in ({_OVER}) union select run from inbox
        )
        order by priority desc, coalesce(wake_at, changed), run"""
    return db.execute(query, (now,)).fetchall()


def find_driven(db: sqlite3.Connection) -> list[tuple[str, str]]:
    """Unfinished runs whose heads name a driver."""
    query = f"select run, driver from heads where driver is not null and status not in ({_OVER}) order by created, run"
    return db.execute(query).fetchall()


def find_intents(db: sqlite3.Connection, origin: str, action: str, besides: str | None) -> list[tuple[str, int]]:
    query = """
        select intents.run, intents.seq from intents join heads using (run)
        where intents.origin = ? and action = ? order by created, intents.run, intents.seq"""
    if besides is None:
        return db.execute(query, (origin, action)).fetchall()
    # Before and after the run in the index: a run that repeats an action ten thousand times is leapt over.
    query = """
        select run, place from (
            select run, seq as place from intents where origin = ?1 and action = ?2 and run < ?3
            union all select run, seq from intents where origin = ?1 and action = ?2 and run > ?3
        ) join heads using (run) order by created, run, place"""
    return db.execute(query, (origin, action, besides)).fetchall()


def find_alarm(db: sqlite3.Connection, driver: str | None) -> float | None:
    """The earliest `wake_at` of the unfinished runs whose heads name this driver, or none."""
    query = f"""
        select min(wake_at) from heads
        where driver is ? and wake_at is not null and status not in ({_OVER})"""
    return db.execute(query, (driver,)).fetchone()[0]


def find_next_driver(db: sqlite3.Connection, after: str) -> str | None:
    """The next driver, in the order of names, that a head with a `wake_at` names."""
    query = f"""
        select min(driver) from heads
        where driver > ? and wake_at is not null and status not in ({_OVER})"""
    return db.execute(query, (after,)).fetchone()[0]


def _marks(values: Iterable[object]) -> str:
    return ", ".join("?" for _ in values)


def _damaged(what: str, run: object) -> JournalUnusable:
    """A damaged page can hold values of any type: it is said here, not by a failure somewhere far away."""
    message = f"{what} of run {run!r} is damaged in the journal"
    return JournalUnusable(message, hint="Restore a backup; `verify` shows which runs are whole.")
