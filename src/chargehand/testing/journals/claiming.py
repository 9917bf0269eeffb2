"""Who drives a run."""

import asyncio

from chargehand.errors import RunDriven, RunExists, RunUnknown
from chargehand.testing.journals.scenes import Place, batch, collect, entry, opening, refused, run_to_end, start


class ClaimingConformance:
    def test_a_new_run_has_its_first_events_and_a_head(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()

            claim = await journal.create(
                opening(at=5.0, tenant="acme", priority=3, parent="p"), batch(1, entry("a"), entry("b"))
            )

            head = journal.head("run")
            assert (claim.epoch, claim.seq, claim.chain, claim.driver) == (1, 2, head.chain, journal.driver)
            assert (head.seq, head.status, head.driver, head.origin) == (2, "running", journal.driver, "run")
            assert (head.created, head.changed, head.tenant, head.priority, head.parent) == (5.0, 1.0, "acme", 3, "p")
            assert [(event.seq, event.kind) for event in journal.read("run")] == [(1, "a"), (2, "b")]

        run_to_end(scene())

    def test_an_id_that_exists_is_refused(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            await start(journal)

            with refused(RunExists, "run"):
                await start(journal)
            assert len(journal.read("run")) == 1

        run_to_end(scene())

    def test_unknown_runs_are_named(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            for ask in (journal.head, journal.read, journal.verify, journal.export):
                with refused(RunUnknown, "nowhere"):
                    ask("nowhere")
            with refused(RunUnknown, "nowhere"):
                await journal.claim("nowhere")
            with refused(RunUnknown, "nowhere"):
                journal.post("nowhere", at=1.0, by="me", kind="cancel", body="{}")
            with refused(RunUnknown, "nowhere"):
                await collect(journal.follow("nowhere"))

        run_to_end(scene())

    def test_a_run_with_a_living_driver_is_left_to_it(self, place: Place) -> None:
        async def scene() -> None:
            one, other = place(), place()
            await start(one)

            with refused(RunDriven, one.driver):
                await other.claim("run")
            with refused(RunDriven, one.driver):
                await one.claim("run")
            assert other.head("run").epoch == 1

        run_to_end(scene())

    def test_a_run_whose_driver_is_gone_is_claimed_with_a_new_epoch(self, place: Place) -> None:
        async def scene() -> None:
            one, other = place(), place()
            await start(one)
            one.close()

            assert other.abandoned() == ["run"]
            claim = await other.claim("run")

            assert (claim.epoch, claim.seq, other.head("run").driver) == (2, 1, other.driver)
            assert other.abandoned() == []

        run_to_end(scene())

    def test_a_claim_says_whether_it_was_forced_from_a_living_driver(self, place: Place) -> None:
        async def scene() -> None:
            one, other = place(), place()
            first = await start(one)
            from_another = await other.claim("run", take_over=True)
            from_itself = await other.claim("run", take_over=True)
            other.release(from_itself)
            other.flush()
            from_nobody = await one.claim("run", take_over=True)
            one.close()
            from_the_dead = await other.claim("run", take_over=True)

            claims = (first, from_another, from_itself, from_nobody, from_the_dead)
            assert [claim.forced for claim in claims] == [False, True, True, False, False]

        run_to_end(scene())

    def test_a_run_that_was_given_back_can_be_claimed(self, place: Place) -> None:
        async def scene() -> None:
            one, other = place(), place()
            claim = await start(one)
            one.append(claim, batch(2))
            one.release(claim)
            one.flush()

            assert (await other.claim("run")).seq == 2
            one.release(claim)  # a claim that is over is left alone
            one.flush()
            assert other.head("run").driver == other.driver

        run_to_end(scene())

    def test_a_cancelled_claim_is_given_back(self, place: Place) -> None:
        async def scene() -> None:
            journal = place()
            journal.release(await start(journal))
            claiming = asyncio.ensure_future(journal.claim("run"))
            await asyncio.sleep(0)
            claiming.cancel()
            await asyncio.wait([claiming])
            if not claiming.cancelled():
                journal.release(claiming.result())  # it was quicker

            assert (await journal.claim("run")).epoch == 3

        run_to_end(scene())
