"""What may be appended, and when it is certain."""

import asyncio

from chargehand.domain.records import Entry
from chargehand.errors import JournalUnusable, RunLost
from chargehand.testing.journals.scenes import Place, attempt, batch, entry, kinds, refused, run_to_end, start


class FencingConformance:
    def test_a_driver_whose_run_was_taken_over_is_refused_for_good(self, place: Place) -> None:
        async def scene() -> None:
            one, other = place(), place()
            old = await start(one)
            new = await other.claim("run", take_over=True)

            one.append(old, batch(2, entry("late")))
            with refused(RunLost, other.driver):
                await one.barrier(old, 2)
            with refused(RunLost):
                one.append(old, batch(2, entry("again")))
            with refused(RunLost):
                await one.park(old, batch(2, entry("parked"), status="waiting"))
            other.append(new, batch(2, entry("mine")))
            await other.barrier(new, 2)

            assert kinds(other.read("run")) == ["started", "mine"]

        run_to_end(scene())

    def test_a_barrier_with_nothing_to_write_notices_a_lost_run(self, place: Place) -> None:
        async def scene() -> None:
            one, other = place(), place()
            claim = await start(one)
            await other.claim("run", take_over=True)

            with refused(RunLost):
                await one.barrier(claim, 1)

        run_to_end(scene())

    def test_after_one_refusal_every_queued_batch_is_refused(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)

            attempt(lambda: journal.append(claim, batch(3, entry("gap"))))
            attempt(lambda: journal.append(claim, batch(2, entry("fits, but too late"))))
            with refused(RunLost, "event 3"):
                await journal.barrier(claim, 2)

            assert kinds(journal.read("run")) == ["started"]
            again = await journal.claim("run", take_over=True)
            journal.append(again, batch(2, entry("new epoch")))
            await journal.barrier(again, 2)

        run_to_end(scene())

    def test_a_conflict_of_one_run_does_not_disturb_others(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claims = [await start(journal, f"run {number}") for number in range(10)]

            for seq in range(2, 12):
                for number, claim in enumerate(claims):
                    wrong = number == 5 and seq == 7
                    attempt(lambda claim=claim, seq=seq + wrong: journal.append(claim, batch(seq)))
            journal.flush()

            lengths = [journal.head(claim.run).seq for claim in claims]
            assert lengths == [11] * 5 + [6] + [11] * 4
            assert all(not journal.verify(claim.run) for claim in claims)

        run_to_end(scene())

    def test_many_runs_are_written_at_once(self, place: Place) -> None:
        async def scene() -> None:
            journal, other = place(), place()
            claims = await asyncio.gather(*(start(journal, f"run {number}") for number in range(150)))

            for seq in (2, 4, 6):
                for claim in claims:
                    journal.append(claim, batch(seq, entry("one"), entry("two", at=float(seq))))
            await asyncio.gather(*(journal.barrier(claim, 7) for claim in claims))
            for claim in claims[:100]:
                journal.append(claim, batch(8, status="done"))
            journal.flush()

            heads = other.heads()
            assert {(head.seq, head.changed) for head in heads if head.status == "running"} == {(7, 6.0)}
            assert [head.driver for head in heads if head.final] == [None] * 100
            assert [problem for claim in claims for problem in other.verify(claim.run)] == []

        run_to_end(scene())

    def test_the_same_events_again_are_no_conflict(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            same = batch(2, entry("once"), entry("only"))

            journal.append(claim, same)
            journal.append(claim, same)
            journal.append(claim, batch(4))
            await journal.barrier(claim, 4)

            assert kinds(journal.read("run")) == ["started", "once", "only", "noted"]

        run_to_end(scene())

    def test_a_finished_run_takes_nothing_more_from_its_driver(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            journal.append(claim, batch(2, entry("done"), status="done"))
            await journal.barrier(claim, 2)

            journal.append(claim, batch(3))
            with refused(RunLost, "finished"):
                await journal.barrier(claim, 3)
            assert (journal.head("run").status, journal.head("run").driver) == ("done", None)

        run_to_end(scene())

    def test_what_no_journal_can_keep_is_refused_in_the_caller(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            for bad in (
                Entry(float("nan"), "a", "b", "{}"),
                Entry(1.0, "\ud800", "b", "{}"),
                Entry(1.0, "a", "b", "\ud800"),
            ):
                try:
                    journal.append(claim, batch(2, bad))
                except ValueError:
                    continue
                raise AssertionError(f"{bad} was taken")

            journal.append(claim, batch(2))
            await journal.barrier(claim, 2)

        run_to_end(scene())

    def test_a_barrier_means_that_it_can_be_read(self, place: Place) -> None:
        async def scene() -> None:
            journal, reader = place(), place()
            claim = await start(journal)
            for seq in range(2, 30):
                journal.append(claim, batch(seq, entry(f"{seq}")))
                await journal.barrier(claim, seq)
                assert reader.read("run")[-1].kind == f"{seq}"

        run_to_end(scene())

    def test_barriers_work_from_many_event_loops(self, place: Place) -> None:
        journal = place()

        async def one(run: str) -> None:
            claim = await start(journal, run)
            for seq in range(2, 12):
                journal.append(claim, batch(seq))
                await journal.barrier(claim, seq)

        async def all_threads() -> None:
            await asyncio.gather(*(asyncio.to_thread(asyncio.run, one(f"run {n}")) for n in range(4)))

        run_to_end(all_threads())
        assert [head.seq for head in journal.heads()] == [11] * 4

    def test_a_barrier_for_what_was_never_appended_is_a_mistake(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            with refused(ValueError, "never appended"):
                await journal.barrier(claim, 7)

        run_to_end(scene())

    def test_a_closed_journal_says_so(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            claim = await start(journal)
            journal.close()
            journal.close()
            with refused(JournalUnusable, "closed"):
                journal.append(claim, batch(2))
            with refused(JournalUnusable, "closed"):
                await journal.barrier(claim, 1)

        run_to_end(scene())
