"""The inbox, and parking."""

import asyncio

from chargehand.domain.records import Batch, Letter
from chargehand.errors import RunExists, RunLost
from chargehand.testing.journals.scenes import (
    Place,
    batch,
    entry,
    letter,
    mail,
    opening,
    refused,
    run_to_end,
    start,
)


class MailConformance:
    def test_mail_is_taken_with_the_events_that_journal_it(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            claim = await start(journal)
            first = other.post("run", at=2.0, by="ann", kind="approve", body='{"step":"book"}')
            second = other.post("run", at=3.0, by="bob", kind="cancel", body="{}")

            waiting = journal.inbox("run")
            journal.append(claim, batch(2, entry("approved"), consumed=(first,)))
            await journal.barrier(claim, 2)

            assert [(m.id, m.by, m.kind) for m in waiting] == [(first, "ann", "approve"), (second, "bob", "cancel")]
            assert [m.id for m in other.inbox("run")] == [second]
            assert journal.inbox("run", after=second) == []

        run_to_end(scene())

    def test_mail_stays_if_its_batch_is_refused(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            id = journal.post("run", at=2.0, by="ann", kind="approve", body="{}")

            journal.append(claim, batch(3, consumed=(id,)))
            with refused(RunLost):
                await journal.barrier(claim, 3)

            assert [message.id for message in journal.inbox("run")] == [id]

        run_to_end(scene())

    def test_mail_is_taken_once(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            id = journal.post("run", at=2.0, by="ann", kind="approve", body="{}")

            journal.append(claim, batch(2, consumed=(id,)))
            journal.append(claim, batch(3, consumed=(id,)))
            with refused(RunLost, "message"):
                await journal.barrier(claim, 3)

            assert journal.head("run").seq == 2

        run_to_end(scene())

    def test_a_run_parks_only_when_no_mail_waits(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            claim = await start(journal)
            id = other.post("run", at=2.0, by="ann", kind="guide", body="{}")
            parking = batch(2, entry("parked"), status="waiting", wake_at=60.0)

            assert not await journal.park(claim, parking)
            assert (journal.head("run").seq, journal.head("run").driver) == (1, journal.driver)

            journal.append(claim, batch(2, entry("guided"), consumed=(id,)))
            assert await journal.park(claim, batch(3, entry("parked"), status="waiting", wake_at=60.0))
            head = other.head("run")
            assert (head.seq, head.status, head.wake_at, head.driver) == (3, "waiting", 60.0, None)

            assert (await other.claim("run")).epoch == 2

        run_to_end(scene())

    def test_a_batch_may_take_the_last_mail_and_park(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            id = journal.post("run", at=2.0, by="ann", kind="guide", body="{}")

            assert await journal.park(claim, batch(2, entry("parked"), consumed=(id,), status="waiting"))
            assert journal.inbox("run") == []

        run_to_end(scene())

    def test_listeners_are_woken_by_mail(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            await start(journal)
            await start(journal, "quiet")
            mine, anyone, quiet = asyncio.Event(), asyncio.Event(), asyncio.Event()
            stops = [journal.listen(run, event.set) for run, event in (("run", mine), (None, anyone), ("quiet", quiet))]

            journal.post("run", at=1.0, by="ann", kind="guide", body="{}")
            await mine.wait()
            await anyone.wait()
            mine.clear()
            other.post("run", at=1.0, by="ann", kind="guide", body="{}")
            await mine.wait()

            assert not quiet.is_set()
            for stop in stops:
                stop()

        run_to_end(scene())

    def test_a_batch_sends_letters_with_its_events(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            for parent in ("appended", "created", "parked"):
                journal.release(await start(journal, parent))
            claim = await journal.create(opening(), batch(1, letters=(letter("created"),)))
            journal.append(claim, batch(2, letters=(letter("appended", "one"), letter("appended", "two"))))
            assert await journal.park(claim, batch(3, letters=(letter("parked"),), status="waiting"))

            assert [mail(other, run) for run in ("appended", "created", "parked", "run")] == [
                ["one", "two"],
                ["ended"],
                ["ended"],
                [],
            ]
            assert sorted(other.due(0.0)) == ["appended", "created", "parked"]

        run_to_end(scene())

    def test_a_letter_wakes_listeners_and_keeps_its_run_from_parking(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            parent, child = await start(other, "parent"), await start(journal, "child")
            mine, anyone = asyncio.Event(), asyncio.Event()
            stops = [other.listen("parent", mine.set), other.listen(None, anyone.set)]

            journal.append(child, batch(2, letters=(letter("parent"),), status="done"))
            await mine.wait()
            await anyone.wait()

            assert not await other.park(parent, batch(2, status="waiting"))
            for stop in stops:
                stop()

        run_to_end(scene())

    def test_a_letter_to_a_run_that_is_not_here_is_dropped(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            journal.append(claim, batch(2, letters=(letter("nowhere"), letter("run"))))
            await journal.barrier(claim, 2)

            assert (mail(journal, "run"), mail(journal, "nowhere")) == (["ended"], [])
            await start(journal, "nowhere")
            assert mail(journal, "nowhere") == []

        run_to_end(scene())

    def test_a_refused_batch_sends_nothing(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            sends = (letter("parent"),)
            await start(journal, "parent")
            claim = await start(journal)
            id = journal.post("run", at=2.0, by="ann", kind="guide", body="{}")

            assert not await journal.park(claim, batch(2, letters=sends, status="waiting"))
            with refused(RunExists):
                await journal.create(opening(), batch(1, letters=sends))
            journal.append(claim, batch(3, consumed=(id,), letters=sends))
            with refused(RunLost):
                await journal.barrier(claim, 3)

            assert mail(journal, "parent") == []

        run_to_end(scene())

    def test_the_same_events_again_send_their_letters_once(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            await start(journal, "parent")
            claim = await start(journal)
            same = batch(2, entry("once"), letters=(letter("parent"),))
            journal.append(claim, same)
            journal.append(claim, same)
            await journal.barrier(claim, 2)
            journal.append(claim, same)
            await journal.barrier(claim, 2)

            assert mail(journal, "parent") == ["ended"]

        run_to_end(scene())

    def test_mail_that_no_journal_can_keep_is_refused_in_the_caller(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            for at, body in ((float("inf"), "{}"), (1.0, "\ud800")):
                with refused(ValueError):
                    journal.append(claim, batch(2, letters=(Letter("run", at, "test", "ended", body),)))
                with refused(ValueError):
                    journal.post("run", at=at, by="test", kind="ended", body=body)
            with refused(ValueError, "without an event"):
                journal.append(claim, Batch(first_seq=2, entries=(), letters=(letter("run"),)))

            journal.append(claim, batch(2))
            await journal.barrier(claim, 2)
            assert mail(journal, "run") == []

        run_to_end(scene())
