"""The tables, as the small steps that made them. All steps that a file lacks are taken in one transaction."""

import sqlite3
from collections.abc import Callable

from chargehand.domain.records import actions_in

APPLICATION = 0x43484A4C  # "CHJL" in the file's header: this database is a journal of ours


def first_tables(db: sqlite3.Connection) -> None:
    db.execute("create table meta(key text primary key, value text not null) without rowid")
    db.execute(
        """create table events(
            run text not null, seq integer not null, at real not null, by text not null, kind text not null,
            body text not null, chain blob not null, primary key(run, seq)) without rowid"""
    )
    db.execute(
        """create table heads(
            run text primary key, epoch integer not null, seq integer not null, chain blob not null, driver text,
            status text not null, wake_at real, created real not null, changed real not null, parent text,
            origin text not null, goal text not null, tenant text not null, priority integer not null
            ) without rowid"""
    )
    db.execute("create table blobs(hash text primary key, body blob not null, size integer not null)")
    db.execute("create table uses(hash text not null, run text not null, primary key(hash, run)) without rowid")
    db.execute(
        """create table inbox(
            id integer primary key autoincrement, run text not null, at real not null, by text not null,
            kind text not null, body text not null)"""
    )


def first_indexes(db: sqlite3.Connection) -> None:
    # None of them holds a column that an ordinary append changes.
    db.execute("create index heads_by_age on heads(created, run)")
    db.execute("create index heads_by_parent on heads(parent) where parent is not null")
    db.execute("create index heads_by_wake on heads(wake_at) where wake_at is not null")
    db.execute("create index heads_by_driver on heads(driver) where driver is not null")
    db.execute("create index uses_by_run on uses(run)")
    db.execute("create index inbox_by_run on inbox(run, id)")


def intents(db: sqlite3.Connection) -> None:
    db.execute(
        """create table intents(
            origin text not null, action text not null, run text not null, seq integer not null,
            primary key(origin, action, run, seq)) without rowid"""
    )
    events = db.execute(
        """select origin, run, events.seq, body from events join heads using (run)
            where instr(body, '"action":"') and typeof(body) = 'text'"""
    )
    found = ((origin, action, run, seq) for origin, run, seq, body in events for action in actions_in(body))
    db.executemany("insert or ignore into intents values(?, ?, ?, ?)", found)


def alarms_and_origins(db: sqlite3.Connection) -> None:
    db.execute(
        """create index heads_by_alarm on heads(driver, wake_at)
            where wake_at is not null and status not in ('cancelled', 'done', 'failed')"""
    )
    db.execute("create index heads_by_origin on heads(origin, created)")


# A step is never changed once it has shipped: files in the field have taken it.
STEPS: tuple[Callable[[sqlite3.Connection], None], ...] = (first_tables, first_indexes, intents, alarms_and_origins)
FORMAT = len(STEPS)


def migrate(db: sqlite3.Connection) -> None:
    """Brings a file to the present format, inside the caller's transaction."""
    (version,) = db.execute("pragma user_version").fetchone()
    for step in STEPS[version:]:
        step(db)
    db.execute("insert or replace into meta values('format', ?)", (str(FORMAT),))
    db.execute(f"pragma application_id = {APPLICATION}")
    db.execute(f"pragma user_version = {FORMAT}")
