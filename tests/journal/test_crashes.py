"""Processes that are killed, stopped and set against each other, on one SQLite journal."""

import asyncio
import itertools
import os
import signal
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest
from tests.journal.processes import Child, Hear, Say, child

from chargehand.adapters.sqlite import SqliteJournal, migrations
from chargehand.domain.records import Claim
from chargehand.errors import JournalUnusable, RunDriven, RunLost
from chargehand.testing.journals.scenes import action, batch, collect, entry, letter, mail, run_to_end, start


def append_for_ever(path: Path, say: Say) -> None:
    """Appends batches of three, and says how far it is certain to have come."""

    async def work() -> None:
        journal = SqliteJournal(path)
        claim = await journal.claim("run")
        seq = claim.seq
        say(f"claimed {seq}")
        while True:
            for _ in range(1 + seq % 7):
                journal.append(claim, batch(seq + 1, entry(), entry(), entry()))
                seq += 3
            await journal.barrier(claim, seq)
            say(f"{seq}")

    asyncio.run(work())


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A journal with one run that nobody drives."""
    with opened(tmp_path / "journal.db") as journal:
        run_to_end(create(journal))
    return tmp_path / "journal.db"


@contextmanager
def opened(path: Path) -> Generator[SqliteJournal]:
    journal = SqliteJournal(path, poll=0.02)
    try:
        yield journal
    finally:
        journal.close()


async def create(journal: SqliteJournal) -> None:
    journal.release(await start(journal))


async def take(journal: SqliteJournal) -> None:
    await journal.claim("run")


@pytest.mark.parametrize("lines", [1, 2, 3, 5, 8, 13, 21, 34])
def test_after_a_kill_every_event_before_a_barrier_is_there_and_no_gap(path: Path, lines: int) -> None:
    for _ in range(3):
        with child(lambda say, _: append_for_ever(path, say)) as driver:
            said = [driver.hears() for _ in range(lines)]
            driver.kill()
            while line := driver.hears():
                said.append(line)
        assert said[0].startswith("claimed"), said
        certain = max(int(line.removeprefix("claimed ")) for line in said)

        with opened(path) as journal:
            events = journal.read("run")
            assert len(events) >= certain
            assert [event.seq for event in events] == list(range(1, len(events) + 1))
            assert (len(events) - 1) % 3 == 0  # batches are whole
            assert journal.verify("run") == []


def send_for_ever(path: Path, say: Say) -> None:
    """Appends batches that each send a letter and name an action."""

    async def work() -> None:
        journal = SqliteJournal(path)
        claim = await journal.claim("run")
        for seq in itertools.count(claim.seq + 1):
            journal.append(claim, batch(seq, entry(action=action("pay")), letters=(letter("parent", f"{seq}"),)))
            if seq % 5 == 0:
                await journal.barrier(claim, seq)
                say("on disk")

    asyncio.run(work())


def test_after_a_kill_there_is_a_letter_and_an_intent_for_every_event_and_none_else(path: Path) -> None:
    with opened(path) as journal:
        run_to_end(start_only(journal, "parent"))
    for _ in range(5):
        with child(lambda say, _: send_for_ever(path, say)) as driver:
            assert [driver.hears() for _ in range(3)] == ["on disk"] * 3
            driver.kill()

        with opened(path) as journal:
            places = [event.seq for event in journal.read("run")][1:]
            assert mail(journal, "parent") == [f"{seq}" for seq in places]
            assert journal.intents("run", action("pay")) == [("run", seq) for seq in places]


@contextmanager
def stalled(path: Path, done: int) -> Generator[Child]:
    """A process that stands still after some steps of a migration."""

    def open_and_stall(say: Say, hear: Hear) -> None:
        def stall(db: sqlite3.Connection) -> None:
            say("stalled")
            hear()

        migrations.STEPS = (*migrations.STEPS[:done], stall, *migrations.STEPS[done:])
        SqliteJournal(path)

    with child(open_and_stall) as opener:
        assert opener.hears() == "stalled"
        yield opener


def old(path: Path) -> None:
    """Takes a journal back to format 2, which knew no actions."""
    db = sqlite3.connect(path)
    db.executescript("drop table intents; drop index heads_by_alarm; drop index heads_by_origin")
    db.execute("pragma user_version = 2")
    db.close()


def test_a_journal_of_format_2_learns_the_actions_of_its_events(path: Path) -> None:
    async def pay(journal: SqliteJournal) -> None:
        claim = await journal.claim("run")
        journal.append(claim, batch(2, entry(), entry("intent", action=action("pay")), entry("intent", action="none")))
        fork = await start(journal, "fork", origin="run", at=1.0)
        journal.append(fork, batch(2, entry("intent", action=action("pay")), status="waiting", wake_at=7.0))
        journal.release(fork)

    with opened(path) as journal:
        run_to_end(pay(journal))
    old(path)
    for done in range(2, len(migrations.STEPS) + 1):
        with stalled(path, done) as opener:
            opener.kill()

    with opened(path) as journal:
        assert journal.intents("run", action("pay")) == [("run", 3), ("fork", 2)]
        assert (journal.next_wake(), [head.run for head in journal.heads(origin="run")]) == (7.0, ["fork", "run"])
        assert journal.verify("run") == journal.verify("fork") == []


@pytest.mark.parametrize("done", range(len(migrations.STEPS) + 1))
def test_a_kill_during_the_first_migration_leaves_a_file_that_opens(tmp_path: Path, done: int) -> None:
    path = tmp_path / "journal.db"
    with stalled(path, done) as opener:
        opener.kill()

    with opened(path) as journal:
        run_to_end(create(journal))
        assert journal.verify("run") == []


def test_several_processes_may_make_the_same_journal_at_once(tmp_path: Path) -> None:
    path = tmp_path / "journal.db"

    def open_it(say: Say, hear: Hear) -> None:
        hear()
        journal = SqliteJournal(path)
        run_to_end(start_only(journal, f"run {os.getpid()}"))
        journal.close()
        say("made")

    with child(open_it) as one, child(open_it) as two, child(open_it) as three:
        for process in (one, two, three):
            process.tell("go")
        assert [process.hears() for process in (one, two, three)] == ["made"] * 3

    with opened(path) as journal:
        assert len(journal.heads()) == 3


async def start_only(journal: SqliteJournal, run: str) -> None:
    await start(journal, run)


def test_of_two_processes_that_claim_a_run_one_wins_until_it_is_killed(path: Path) -> None:
    def claim(say: Say, hear: Hear) -> None:
        async def work() -> None:
            mine = SqliteJournal(path)
            say("opened")
            hear()
            try:
                await mine.claim("run")
                say("won")
            except RunDriven as error:
                say(error.driver)
            hear()

        asyncio.run(work())

    for epoch in range(2, 8):
        with child(claim) as one, child(claim) as two, opened(path) as journal:
            assert [one.hears(), two.hears()] == ["opened"] * 2
            one.tell("go")
            two.tell("go")
            said = {one: one.hears(), two: two.hears()}
            winner, loser = (one, two) if said[one] == "won" else (two, one)
            assert said[winner] == "won"
            assert f"-{winner.pid}-" in said[loser]
            assert journal.head("run").epoch == epoch
            with pytest.raises(RunDriven):
                run_to_end(take(journal))

    with opened(path) as journal:
        assert journal.abandoned() == ["run"]
        run_to_end(take(journal))
        assert [file.name for file in path.parent.glob("*.drivers/*")] == [journal.driver]


def test_a_stopped_driver_whose_run_was_taken_over_loses_all_that_it_had_queued(path: Path) -> None:
    def drive(say: Say, hear: Hear) -> None:
        async def work() -> None:
            mine = SqliteJournal(path)
            claim = await mine.claim("run")
            say("ready")
            hear()
            for seq in range(2, 52):
                mine.append(claim, batch(seq, entry("zombie")))
            say("queued")
            for attempt in (mine.barrier(claim, 51), mine.park(claim, batch(52)), mine.barrier(claim, 1)):
                try:
                    await attempt
                    say("goes on")
                except RunLost:
                    say("lost")

        asyncio.run(work())

    with child(drive) as zombie, opened(path) as journal:
        assert zombie.hears() == "ready"
        lock = sqlite3.connect(path, isolation_level=None)
        lock.execute("begin immediate")  # so that its writer has to wait
        zombie.tell("go")
        assert zombie.hears() == "queued"
        zombie.stop()
        lock.execute("rollback")
        lock.close()
        run_to_end(take_over(journal))
        zombie.go_on()

        assert [zombie.hears() for _ in range(3)] == ["lost"] * 3
        assert [event.kind for event in journal.read("run")] == ["started", "new driver"]
        assert journal.verify("run") == []


async def take_over(journal: SqliteJournal) -> None:
    claim = await journal.claim("run", take_over=True)
    journal.append(claim, batch(2, entry("new driver")))
    await journal.barrier(claim, 2)


def test_mail_and_events_of_another_process_are_noticed(path: Path) -> None:
    def answer(say: Say, hear: Hear) -> None:
        async def work() -> None:
            mine = SqliteJournal(path)
            claim = await mine.claim("run")
            hear()
            mine.post("run", at=1.0, by="ann", kind="approve", body="{}")
            hear()
            mine.append(claim, batch(2, entry("over"), status="done"))
            mine.flush()
            hear()

        asyncio.run(work())

    async def scene(other: Child, journal: SqliteJournal) -> None:
        mail = asyncio.Event()
        following = asyncio.ensure_future(collect(journal.follow("run")))
        stop = journal.listen("run", mail.set)
        other.tell("post")
        await mail.wait()
        stop()
        assert [message.by for message in journal.inbox("run")] == ["ann"]
        other.tell("end")
        assert [event.kind for event in await following] == ["started", "over"]

    with child(answer) as other, opened(path) as journal:
        run_to_end(scene(other, journal))


def test_a_forked_child_neither_keeps_the_driver_alive_nor_writes(path: Path) -> None:
    def fork_and_die(say: Say, hear: Hear) -> None:
        async def work() -> None:
            mine = SqliteJournal(path)
            claim = await mine.claim("run")
            if os.fork() == 0:
                say(refusal(mine, claim))
                hear()
                os._exit(0)
            signal.pause()

        asyncio.run(work())

    with child(fork_and_die) as parent:
        assert "forked" in parent.hears()
        parent.kill()

        with opened(path) as journal:
            run_to_end(take(journal))
        parent.tell("end")


def refusal(journal: SqliteJournal, claim: Claim) -> str:
    try:
        journal.append(claim, batch(2))
    except JournalUnusable as error:
        return error.message
    return "it was taken"
