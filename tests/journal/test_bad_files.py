"""Disks and files that fail: a clear error, nothing lost, and on it goes when the trouble is over."""

import asyncio
import sqlite3
from functools import partial
from pathlib import Path

import pytest

from chargehand.adapters.sqlite import SqliteJournal
from chargehand.adapters.sqlite.migrations import FORMAT
from chargehand.domain.records import Claim
from chargehand.errors import ChargehandError, JournalUnusable, RunLost
from chargehand.testing.journals.scenes import batch, entry, letter, mail, run_to_end, start, value


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "journal.db"


def made(path: Path, events: int = 200) -> Path:
    """A journal with one run, closed."""

    async def scene() -> None:
        journal = SqliteJournal(path)
        claim = await start(journal)
        hash, body = value("x" * 20_000)
        many = [entry(f"kind {n}", text="y" * 200) for n in range(events)]
        journal.append(claim, batch(2, entry(output={"#": hash}), *many, blobs={hash: body}))
        journal.post("run", at=1.0, by="ann", kind="guide", body="{}")
        journal.release(claim)
        journal.close()

    run_to_end(scene())
    return path


def use(path: Path) -> None:
    """Everything that one may do with a journal."""

    async def scene() -> None:
        journal = SqliteJournal(path)
        try:
            for look in (journal.heads, journal.abandoned, lambda: journal.due(1.0)):
                look()
            for look_at in (journal.inbox, journal.read, journal.verify, journal.export):
                look_at("run")
            claim = await journal.claim("run")
            journal.append(claim, batch(claim.seq + 1))
            await journal.barrier(claim, claim.seq + 1)
            journal.prune(before=100.0)
        finally:
            journal.close()

    run_to_end(scene())


def sql(path: Path, statement: str) -> None:
    db = sqlite3.connect(path)
    db.execute(statement)
    db.commit()
    db.close()


# what is wrong with the chain shows


@pytest.mark.parametrize(
    ("damage", "found"),
    [
        ("update events set body = '{}' where seq = 100", ("changed", 100)),
        ("update events set at = at + 1 where seq = 100", ("changed", 100)),
        ("update events set by = 'eve' where seq = 1", ("changed", 1)),
        ("update events set chain = zeroblob(32) where seq = 100", ("changed", 100)),
        ("delete from events where seq = 100", ("missing", 100)),
        ("delete from events where seq between 50 and 60", ("missing", 50)),
        ("delete from events where seq = 1", ("missing", 1)),
        ("delete from events where seq > 100", ("truncated", 101)),
        ("delete from events", ("truncated", 1)),
        ("update heads set chain = zeroblob(32)", ("changed", 202)),
        ("update heads set seq = 10", ("changed", 11)),
        ("delete from blobs", ("blob missing", 2)),
        ("update blobs set body = zeroblob(5)", ("blob changed", 2)),
    ],
)
def test_whatever_was_changed_shows(path: Path, damage: str, found: tuple[str, int]) -> None:
    sql(made(path), damage)

    journal = SqliteJournal(path)
    problem = journal.verify("run")[0]
    journal.close()

    assert (problem.kind, problem.seq) == found


# files that cannot be used


def test_a_journal_of_a_newer_version_is_refused_by_both_versions(path: Path) -> None:
    sql(made(path), f"pragma user_version = {FORMAT + 7}")

    with pytest.raises(JournalUnusable, match=f"format {FORMAT + 7}.* up to {FORMAT}"):
        SqliteJournal(path)


def test_the_database_of_something_else_is_refused_and_left_alone(path: Path) -> None:
    sql(path, "create table customers(name text)")
    before = path.read_bytes()

    with pytest.raises(JournalUnusable, match="something else"):
        SqliteJournal(path)
    assert path.read_bytes() == before


@pytest.mark.parametrize("content", [b"Dear diary,\n" * 100, b"\x00" * 4096, b"SQLite format 3\x00"])
def test_a_file_that_is_no_database_is_refused(path: Path, content: bytes) -> None:
    path.write_bytes(content)

    with pytest.raises(JournalUnusable, match="cannot be used"):
        SqliteJournal(path)


def test_a_folder_that_does_not_exist_is_named(tmp_path: Path) -> None:
    with pytest.raises(JournalUnusable, match=r"nowhere.*\n.*folder exists"):
        SqliteJournal(tmp_path / "nowhere" / "journal.db")
    with pytest.raises(JournalUnusable, match="cannot be"):
        SqliteJournal(tmp_path)


def test_a_read_only_journal_can_be_read_and_not_written(path: Path) -> None:
    made(path)

    async def scene() -> None:
        journal = SqliteJournal(path, read_only=True)
        assert journal.head("run").seq == 202
        with pytest.raises(JournalUnusable, match="read-only"):
            await journal.claim("run")
        with pytest.raises(JournalUnusable, match="read-only"):
            journal.post("run", at=1.0, by="ann", kind="guide", body="{}")
        journal.close()

    run_to_end(scene())


def outcome_of(path: Path, content: bytes) -> str:
    """What comes of using a damaged journal: nothing, or an error of ours; any other is a bug."""
    path.write_bytes(content)
    try:
        use(path)
    except ChargehandError as error:
        return type(error).__name__
    return "used"


def test_a_truncated_journal_gives_a_clear_error(tmp_path: Path) -> None:
    content = made(tmp_path / "whole.db").read_bytes()

    lengths = range(50, len(content), len(content) // 25)
    outcomes = {outcome_of(tmp_path / f"cut-{length}.db", content[:length]) for length in lengths}

    assert outcomes == {"JournalUnusable"}


@pytest.mark.slow
def test_a_bit_flipped_journal_gives_a_clear_error_or_fails_its_chain(tmp_path: Path) -> None:
    content = made(tmp_path / "whole.db").read_bytes()

    outcomes: set[str] = set()
    for place in [*range(0, 100, 3), *range(100, len(content), len(content) // 60)]:
        flipped = content[:place] + bytes([content[place] ^ 0xFF]) + content[place + 1 :]
        outcomes.add(outcome_of(tmp_path / f"flipped-{place}.db", flipped))

    assert outcomes <= {"JournalUnusable", "RunUnknown", "used"}
    assert "JournalUnusable" in outcomes


# trouble that passes


def test_a_full_disk_loses_nothing_and_goes_on_when_there_is_room(path: Path) -> None:
    async def scene() -> None:
        journal = SqliteJournal(path)
        claim = await start(journal)
        set_pages(journal, 60)

        seq = await fill(journal, claim)
        for _ in range(3):
            journal.append(claim, batch(seq + 1, entry("more")))
            seq += 1
            with pytest.raises(JournalUnusable, match="disk is full"):
                await journal.barrier(claim, seq)
        with pytest.raises(JournalUnusable, match="disk is full"):
            await start(journal, "other")
        with pytest.raises(JournalUnusable, match="disk is full"):
            journal.flush()
        certain = journal.head("run").seq
        assert certain < seq

        set_pages(journal, 100_000, patient=False)
        await journal.barrier(claim, seq)
        await start(journal, "other")

        assert [event.seq for event in journal.read("run")] == list(range(1, seq + 1))
        assert journal.verify("run") == []
        journal.close()

    run_to_end(scene())


def set_pages(journal: SqliteJournal, pages: int, patient: bool = True) -> None:
    try:
        journal.writer.wait(
            lambda transaction: transaction.db.execute(f"pragma max_page_count = {pages}").fetchone(), writes=False
        )
    except JournalUnusable:
        assert not patient  # the batches before it failed once more


async def fill(journal: SqliteJournal, claim: Claim) -> int:
    """Appends until the disk is full; gives the last event that was appended."""
    for seq in range(2, 1_000):
        journal.append(claim, batch(seq, entry(text="z" * 3_000)))
        try:
            await journal.barrier(claim, seq)
        except JournalUnusable:
            return seq
    raise AssertionError("the disk was never full")


def test_a_locked_journal_keeps_what_was_appended(path: Path) -> None:
    async def scene() -> None:
        journal = SqliteJournal(path, patience=0.05)
        claim = await start(journal)
        lock = sqlite3.connect(path, isolation_level=None)
        lock.execute("begin immediate")

        journal.append(claim, batch(2))
        with pytest.raises(JournalUnusable, match="locked"):
            await journal.barrier(claim, 2)
        with pytest.raises(JournalUnusable, match="locked"):
            journal.post("run", at=1.0, by="ann", kind="guide", body="{}")
        journal.append(claim, batch(3))
        assert journal.head("run").seq == 1

        lock.execute("rollback")
        lock.close()
        journal.append(claim, batch(4))
        await journal.barrier(claim, 4)
        assert len(journal.read("run")) == 4
        assert journal.inbox("run") == []
        journal.close()

    run_to_end(scene())


def test_closing_says_if_something_could_not_be_written(path: Path) -> None:
    async def scene() -> None:
        journal = SqliteJournal(path, patience=0.05)
        claim = await start(journal)
        lock = sqlite3.connect(path, isolation_level=None)
        lock.execute("begin immediate")
        journal.append(claim, batch(2))

        with pytest.raises(JournalUnusable, match="locked"):
            journal.close()
        lock.close()

    run_to_end(scene())


def test_a_batch_that_can_never_be_written_loses_its_own_run_only(path: Path) -> None:
    async def scene() -> None:
        journal = SqliteJournal(path)
        good, bad = await start(journal, "good"), await start(journal, "bad")
        sql(path, "insert into events select run, 3, at, by, kind, body, chain from events where run = 'bad'")

        for seq in range(2, 6):
            for claim in (good, bad):
                try:
                    journal.append(claim, batch(seq))
                except RunLost:
                    assert claim is bad
        await asyncio.gather(journal.barrier(good, 5))
        with pytest.raises(RunLost, match="cannot be written"):
            await journal.barrier(bad, 5)

        assert journal.verify("good") == []
        journal.close()

    run_to_end(scene())


class Liar(sqlite3.Connection):
    """Reports an error after a commit that reached the disk."""

    lies = 0

    def execute(self, sql: str, parameters: object = (), /) -> sqlite3.Cursor:
        cursor = super().execute(sql, parameters)  # pyright: ignore[reportArgumentType]  # passed on as it came
        if sql == "commit" and Liar.lies:
            Liar.lies -= 1
            raise sqlite3.OperationalError("disk I/O error")
        return cursor


def test_what_was_written_by_a_commit_that_failed_is_not_written_twice(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=Liar))

    async def scene() -> None:
        journal = SqliteJournal(path)
        await start(journal, "parent")
        claim = await start(journal)
        Liar.lies = 2
        journal.append(claim, batch(2, entry("once"), letters=(letter("parent"),)))
        for _ in range(2):
            with pytest.raises(JournalUnusable, match="disk I/O error"):
                await journal.barrier(claim, 2)
        journal.append(claim, batch(3, letters=(letter("parent", "later"),)))
        await journal.barrier(claim, 3)

        assert [event.seq for event in journal.read("run")] == [1, 2, 3]
        assert mail(journal, "parent") == ["ended", "later"]
        journal.close()

    run_to_end(scene())
