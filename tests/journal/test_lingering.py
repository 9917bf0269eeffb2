"""The SQLite writer gathers what nobody waits for, and hurries for whoever waits."""

import asyncio
import sqlite3
import time
from collections.abc import Generator
from functools import partial
from pathlib import Path

import pytest

from chargehand.adapters.sqlite import SqliteJournal, writer
from chargehand.testing.journals.scenes import WAIT, batch, collect, entry, run_to_end, start

FOR_EVER = 1_000.0  # seconds: whoever lingers for these is noticed


class Counted(sqlite3.Connection):
    """Counts the commits of all connections."""

    commits = 0

    def execute(self, sql: str, parameters: object = (), /) -> sqlite3.Cursor:
        Counted.commits += sql == "commit"
        return super().execute(sql, parameters)  # pyright: ignore[reportArgumentType]  # passed on as it came


@pytest.fixture
def journal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Generator[SqliteJournal]:
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Counted))
    opened = SqliteJournal(tmp_path / "journal.db")
    yield opened
    opened.close()


def test_what_nobody_waits_for_reaches_the_disk_all_the_same(journal: SqliteJournal) -> None:
    async def scene() -> None:
        claim = await start(journal)
        for seq in (2, 3, 4):
            await asyncio.sleep(0.01 * seq)  # the writer may be lingering or asleep
            journal.append(claim, batch(seq))
            assert arrives(journal, seq)

    run_to_end(scene())


def arrives(journal: SqliteJournal, seq: int) -> bool:
    """Whether an event is on disk within the time of a test."""
    until = time.monotonic() + WAIT
    while journal.head("run").seq < seq and time.monotonic() < until:
        time.sleep(0.001)
    return journal.head("run").seq == seq


def test_a_follower_sees_an_event_soon(journal: SqliteJournal) -> None:
    async def scene() -> list[float]:
        claim = await start(journal)
        delays: list[float] = []

        async def watch() -> None:
            async for event in journal.follow("run", after=1):
                delays.append(time.monotonic() - event.at)

        watching = asyncio.ensure_future(watch())
        for seq in range(2, 12):
            await asyncio.sleep(0.012)
            journal.append(claim, batch(seq, entry(at=time.monotonic())))
        journal.append(claim, batch(12, entry(at=time.monotonic()), status="done"))
        await watching
        return delays

    delays = asyncio.run(scene())
    assert len(delays) == 11
    assert min(delays) < 0.02


def test_appends_are_gathered_until_somebody_waits(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LINGER", FOR_EVER)

    async def scene() -> None:
        claim = await start(journal)
        Counted.commits = 0
        for seq in range(2, 102):
            journal.append(claim, batch(seq))
            await asyncio.sleep(0)
        await journal.barrier(claim, 101)
        assert Counted.commits == 1

    run_to_end(scene())


def test_nobody_who_waits_is_made_to_linger(journal: SqliteJournal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(writer, "LINGER", FOR_EVER)

    async def scene() -> None:
        claim = await start(journal)
        journal.append(claim, batch(2))
        await journal.barrier(claim, 2)
        journal.append(claim, batch(3))
        id = journal.post("run", at=1.0, by="ann", kind="guide", body="{}")
        journal.append(claim, batch(4, consumed=(id,)))
        assert await journal.park(claim, batch(5, status="waiting"))
        again = await journal.claim("run")
        journal.append(again, batch(6, status="done"))
        journal.flush()
        assert len(await collect(journal.follow("run"))) == 6
        other = await start(journal, "other")
        journal.append(other, batch(2))
        journal.close()

    run_to_end(scene())
