"""Runs in the background: begun at once, driven on when somebody answers or a time comes, and never left behind."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.family import playbook, pursue
from tests.engine.workbench import Bench, HandClock, plan, sqlite, step, until, within
from tests.journal.processes import Child, Hear, Say, child

from chargehand import Chargehand, Outcome, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.catalog.catalog import make_catalog
from chargehand.domain.patch import Revised
from chargehand.domain.records import Batch, Claim
from chargehand.engine.delivery import Delivery
from chargehand.engine.runs import Beginning, Runs
from chargehand.errors import GoalNotPlanned, JournalUnusable
from chargehand.execution.redaction import Redactor
from chargehand.wiring import make_workshop

SEND = plan(step("a", "send", expect=["output > 0"]), answer={"$": "a"})


@contextlib.asynccontextmanager
async def working(desk: Chargehand, how: str = "work") -> AsyncGenerator[Chargehand]:
    """A desk that works in the background, since it was told to or since it began a run, and is closed at the end."""
    async with desk:
        worker = asyncio.create_task(desk.work()) if how == "work" else None
        if how == "start":
            await desk.start(plan(step("other")))
        try:
            yield desk
        finally:
            if worker is not None:
                worker.cancel()
                await asyncio.wait([worker])


def hand_desk(bench: Bench, journal: Any = ":memory:", clock: HandClock | None = None) -> Chargehand:
    return Chargehand(tools=bench.tools(), journal=journal, clock=clock or HandClock())


class TestStarting:
    def test_start_gives_an_id_before_anything_is_done(self, tmp_path: Path) -> None:
        bench = Bench()

        async def play() -> None:
            async with hand_desk(bench, sqlite(tmp_path)) as desk:
                run = await desk.start(plan(step("a")))

                assert bench.calls == []
                assert [head.run for head in hand_desk(bench, sqlite(tmp_path)).runs()] == [run]

        within(play())

    def test_the_run_ends_in_the_background(self) -> None:
        async def play() -> None:
            async with hand_desk(Bench()) as desk:
                run = await desk.start(plan(step("a", x=3), answer={"$": "a"}), run_id="r")
                await until(lambda: desk.show(run).status == "done")

                assert (run, desk.show(run).answer) == ("r", 3)

        within(play())

    def test_resume_waits_for_it(self) -> None:
        async def play() -> Outcome:
            async with hand_desk(Bench()) as desk:
                return await desk.resume(await desk.start(plan(step("a", x=3), answer={"$": "a"})))

        assert within(play()).answer == 3

    def test_starting_the_same_run_twice_starts_it_once(self) -> None:
        bench = Bench()

        async def play() -> None:
            async with hand_desk(bench) as desk:
                await asyncio.gather(*(desk.start(plan(step("a", "write")), run_id="r") for _ in range(5)))
                await desk.resume("r")

        within(play())

        assert bench.made("write") == 1

    def test_a_bad_plan_is_refused_where_it_is_started(self) -> None:
        async def play() -> None:
            async with hand_desk(Bench()) as desk:
                with pytest.raises(GoalNotPlanned):
                    await desk.start("do something nobody knows")

                assert desk.runs() == []

        within(play())


class TestWaking:
    def test_an_answer_wakes_a_run_that_waits(self) -> None:
        async def play() -> None:
            async with hand_desk(Bench()) as desk:
                run = await desk.start(SEND)
                await until(lambda: desk.show(run).status == "waiting")
                desk.approve(run, "a")
                await until(lambda: desk.show(run).status == "done")

        within(play())

    def test_so_it_does_when_it_comes_the_very_moment_the_run_parks(self) -> None:
        async def play() -> None:
            async with hand_desk(Bench()) as desk:
                run = await desk.start(SEND)
                async for recorded, _ in desk.follow(run):
                    if recorded.kind == "run.parked":
                        desk.approve(run, "a")

                assert desk.show(run).status == "done"

        within(play())

    def test_so_it_does_when_it_comes_from_another_thread(self) -> None:
        async def play() -> None:
            async with hand_desk(Bench()) as desk:
                run = await desk.start(SEND)
                await until(lambda: desk.show(run).status == "waiting")
                thread = threading.Thread(target=lambda: desk.approve(run, "a"))
                thread.start()
                await until(lambda: desk.show(run).status == "done")
                thread.join()

        within(play())

    def test_a_desk_that_once_worked_takes_answers_without_an_event_loop(self, tmp_path: Path) -> None:
        desk = hand_desk(Bench(), sqlite(tmp_path))

        async def wait_for_approval() -> str:
            run = await desk.start(SEND)
            await until(lambda: desk.show(run).status == "waiting")
            return run

        run = within(wait_for_approval())
        desk.approve(run, "a")

        assert within(desk.resume(run)).status == "done"

    def test_an_answer_from_another_desk_on_the_same_file_wakes_it(self, tmp_path: Path) -> None:
        async def play() -> None:
            async with hand_desk(Bench(), sqlite(tmp_path)) as desk:
                run = await desk.start(SEND)
                await until(lambda: desk.show(run).status == "waiting")
                async with hand_desk(Bench(), sqlite(tmp_path)) as other:
                    other.approve(run, "a")
                    await until(lambda: other.show(run).status == "done")

        within(play())

    def test_an_answer_from_another_process_wakes_it(self, tmp_path: Path) -> None:
        def answer(say: Say, hear: Hear) -> None:
            run = hear()
            hand_desk(Bench(), sqlite(tmp_path)).approve(run, "a")
            say("approved")

        async def play(tell: Any) -> None:
            async with hand_desk(Bench(), sqlite(tmp_path)) as desk:
                run = await desk.start(SEND)
                await until(lambda: desk.show(run).status == "waiting")
                tell(run)
                await until(lambda: desk.show(run).status == "done")

        with child(answer) as other:
            within(play(other.tell))

            assert other.hears() == "approved"

    def test_a_run_that_waits_for_a_time_is_woken_when_it_comes(self) -> None:
        clock = HandClock()

        async def play() -> None:
            async with hand_desk(Bench(), clock=clock) as desk:
                run = await desk.start(SEND)
                await until(lambda: desk.show(run).status == "waiting")
                clock.advance(6 * 24 * 3600)
                await asyncio.sleep(0.01)
                assert desk.show(run).status == "waiting"
                for _ in range(26):
                    clock.advance(3600)
                    await until(lambda: clock.sleepers or desk.show(run).status == "failed")
                await until(lambda: desk.show(run).status == "failed")

        within(play())

    def test_a_failed_run_is_taken_up_when_a_retry_is_asked_for(self) -> None:
        bench = Bench()
        bench.mischief["look"] = [ValueError("not yet")]

        async def play() -> None:
            async with hand_desk(bench) as desk:
                run = await desk.start(plan(step("a")))
                await until(lambda: desk.show(run).status == "failed")
                desk.retry(run)
                await until(lambda: desk.show(run).status == "done")

        within(play())


class Brisk(HandClock):
    """A clock whose short pauses take no time, while a week takes for ever."""

    async def sleep(self, seconds: float) -> None:
        await (super().sleep(seconds) if seconds > 10 else asyncio.sleep(0))


class TestTrouble:
    class Ailing(MemoryJournal):
        """Fails a few times, at one of its doors."""

        def __init__(self, door: str, times: int) -> None:
            super().__init__()
            self.door, self.times = door, times

        def fail(self, door: str) -> None:
            if door == self.door and self.times:
                self.times -= 1
                raise JournalUnusable("the disk is full")

        async def barrier(self, claim: Claim, seq: int) -> None:
            self.fail("barrier")
            await super().barrier(claim, seq)

        async def park(self, claim: Claim, batch: Batch) -> bool:
            self.fail("park")
            return await super().park(claim, batch)

        def append(self, claim: Claim, batch: Batch) -> None:
            self.fail("append")
            super().append(claim, batch)

        def due(self, now: float) -> list[str]:
            self.fail("due")
            return super().due(now)

        def next_wake(self) -> float | None:
            self.fail("next_wake")
            return super().next_wake()

        def abandoned(self) -> list[str]:
            self.fail("abandoned")
            return super().abandoned()

    @pytest.mark.parametrize("door", ["barrier", "park", "append"])
    def test_a_run_whose_driving_fails_is_tried_again_and_it_is_logged(
        self, door: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        bench, journal = Bench(), self.Ailing(door, 2)
        caplog.set_level(logging.ERROR, "chargehand")

        async def play() -> None:
            async with Chargehand(tools=bench.tools(), journal=journal, clock=Brisk()) as desk:
                await desk.start(plan(step("b", "write"), step("a", "send", 2, expect=["output > 0"])))
                await until(lambda: desk.runs()[0].status == "waiting")
                assert (bench.made("write"), journal.times) == (1, 0)

        within(play())

        troubles = [record for record in caplog.records if "the disk is full" in str(record.exc_info)]
        assert len(troubles) == 2
        assert all("could not go on" in record.getMessage() for record in troubles)

    @pytest.mark.parametrize("door", ["due", "next_wake", "abandoned"])
    def test_a_look_at_the_journal_that_fails_is_not_the_last_one(
        self, door: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        bench, journal = Bench(), self.Ailing(door, 2)
        caplog.set_level(logging.ERROR, "chargehand")

        async def play() -> None:
            async with Chargehand(tools=bench.tools(), journal=journal, clock=Brisk()) as desk:
                run = await desk.start(plan(step("a")))
                await until(lambda: desk.show(run).status == "done" and not journal.times)
                waiting = await desk.run(plan(step("a", "send", expect=["output > 0"])))
                journal.post(  # as another process would
                    waiting.run_id,
                    at=desk_time(desk),
                    by="person",
                    kind="approve",
                    body='{"step": "a", "item": 0, "hash": null, "because": ""}',
                )
                await until(lambda: desk.show(waiting.run_id).status == "done")

        def desk_time(desk: Chargehand) -> float:
            return desk.runs()[0].changed

        within(play())

        assert any("the disk is full" in str(record.exc_info) for record in caplog.records)


class TestManyRuns:
    @staticmethod
    def delivery(most: int, journal: MemoryJournal, bench: Bench) -> tuple[Runs, Delivery]:
        def no_plan(goal: str, inputs: Any) -> Any:
            raise GoalNotPlanned(goal)

        def no_way(*_: Any) -> Revised | None:
            return None

        shop = make_workshop(journal, make_catalog(bench.tools()), bench.clock, None, no_plan, no_way, Redactor())
        runs = Runs(shop)
        return runs, Delivery(shop, runs.resume, most)

    @pytest.mark.slow
    def test_two_thousand_runs_all_end_though_few_are_driven_at_once(self) -> None:
        bench, journal = Bench(), MemoryJournal()
        driven, most_driven = 0, 0

        async def play() -> None:
            nonlocal driven, most_driven
            runs, delivery = self.delivery(50, journal, bench)

            async def drive(number: int) -> None:
                begun = await runs.begin(
                    Beginning(run=f"r{number}", plan=plan(step("a", x=number), step("b", "put", "a")))
                )

                async def counted() -> Outcome:
                    nonlocal driven, most_driven
                    driven += 1
                    most_driven = max(most_driven, driven)
                    try:
                        return await runs.drive(begun)
                    finally:
                        driven -= 1

                delivery.submit(f"r{number}", counted)

            for number in range(2_000):
                await drive(number)
            delivery.open()
            await until(lambda: len(journal.heads(status=["done"])) == 2_000, 60)
            await delivery.close()

        within(play(), 90)

        assert most_driven == 50
        assert (bench.made("look"), bench.made("put")) == (2_000, 2_000)

    def test_a_run_that_waits_makes_room_for_another(self) -> None:
        bench, journal = Bench(), MemoryJournal()

        async def play() -> None:
            runs, delivery = self.delivery(1, journal, bench)
            for number in range(5):
                begun = await runs.begin(Beginning(run=f"r{number}", plan=SEND))
                delivery.submit(f"r{number}", lambda begun=begun: runs.drive(begun))
            await until(lambda: len(journal.heads(status=["waiting"])) == 5)
            await delivery.close()

        within(play())


LINGERING = plan(step("a"), step("b", "linger", "a"), answer={"$": "b"})


def lingering(bench: Bench, journal: Any, hold: "Callable[[], Awaitable[None]] | None" = None) -> Chargehand:
    """A desk with a tool that comes back when it may: at once, if nothing holds it."""

    @tool(effect="read", egress=[])
    async def linger(x: int) -> int:
        """Reads, and stays for a while."""
        bench.calls.append(("linger", x))
        if hold is not None:
            await hold()
        return x

    return Chargehand(tools=[*bench.tools(), linger], journal=journal, clock=HandClock())


def drive_for_ever(folder: Path) -> Callable[[Say, Hear], None]:
    """A process that drives the run `r` and never ends it."""

    def work(say: Say, hear: Hear) -> None:
        async def hold() -> None:
            say("inside")
            await asyncio.Event().wait()

        asyncio.run(lingering(Bench(), sqlite(folder), hold).run(LINGERING, run_id="r"))

    return work


class TestLeftBehind:
    @pytest.mark.parametrize("how", ["work", "start"])
    def test_a_run_whose_process_was_killed_is_adopted_by_the_next_desk_that_works(
        self, how: str, tmp_path: Path
    ) -> None:
        async def play() -> None:
            async with working(lingering(Bench(), sqlite(tmp_path)), how) as desk:
                await until(lambda: desk.show("r").status == "done")

        with child(drive_for_ever(tmp_path)) as driver:
            assert driver.hears() == "inside"
            driver.kill()
            within(play())

    def test_a_desk_that_works_already_adopts_it_too(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("chargehand.engine.delivery.LONGEST_SLEEP", 0.05)

        async def play(driver: Child) -> None:
            async with working(lingering(Bench(), sqlite(tmp_path))) as desk:
                await asyncio.sleep(0.1)
                assert desk.show("r").status == "running"
                driver.kill()
                await until(lambda: desk.show("r").status == "done")

        with child(drive_for_ever(tmp_path)) as driver:
            assert driver.hears() == "inside"
            within(play(driver))

    def test_whoever_waits_for_a_run_takes_it_over_when_its_driver_is_killed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("chargehand.engine.runs.PATIENCE", 0.2)

        async def play(driver: Child) -> Outcome:
            waiting = asyncio.create_task(lingering(Bench(), sqlite(tmp_path)).resume("r"))
            await asyncio.sleep(0.1)
            assert not waiting.done()
            driver.kill()
            return await waiting

        with child(drive_for_ever(tmp_path)) as driver:
            assert driver.hears() == "inside"

            assert within(play(driver)).answer == 1


class TestClosing:
    @pytest.mark.parametrize("how", ["resume", "work"])
    def test_a_desk_closes_while_runs_are_under_way_and_another_one_goes_on(self, how: str, tmp_path: Path) -> None:
        first, second = Bench(), Bench()

        async def hold() -> None:
            await asyncio.Event().wait()

        async def play() -> None:
            async with lingering(first, sqlite(tmp_path), hold) as desk:
                await desk.start(LINGERING, run_id="r")
                await until(lambda: first.made("linger"))
            async with working(lingering(second, sqlite(tmp_path)), how) as other:
                if how == "resume":
                    await other.resume("r")
                await until(lambda: other.show("r").status == "done")

        within(play())

        assert (first.made("look"), second.made("look"), second.made("linger")) == (1, 0, 1)

    def test_whoever_waits_for_a_run_goes_on_with_it_when_its_desk_closes(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("chargehand.engine.runs.PATIENCE", 0.1)
        store = MemoryStore()

        async def hold() -> None:
            await asyncio.Event().wait()

        async def play() -> Outcome:
            first = Bench()
            async with lingering(first, MemoryJournal(store), hold) as desk:
                await desk.start(LINGERING, run_id="r")
                await until(lambda: first.made("linger"))
                waiting = asyncio.create_task(lingering(Bench(), MemoryJournal(store)).resume("r"))
                await asyncio.sleep(0.01)
            return await waiting

        assert within(play()).status == "done"

    def test_runs_that_stood_in_line_are_adopted_too(self, tmp_path: Path) -> None:
        async def play() -> None:
            async with hand_desk(Bench(), sqlite(tmp_path)) as desk:
                for number in range(5):
                    await desk.start(plan(step("a")), run_id=f"r{number}")
            async with working(hand_desk(Bench(), sqlite(tmp_path))) as other:
                await until(lambda: len(other.runs(status=["done"])) == 5)

        within(play())

    def test_what_an_effect_gave_before_the_desk_closed_is_not_lost(
        self, tmp_path: Path, caplog: pytest.LogCaptureFixture
    ) -> None:
        """An effect that has come back is done, though its driver had no time to write it down."""
        bench = Bench()
        running: list[asyncio.Task[Outcome]] = []

        class Stop(logging.Handler):
            def emit(self, record: logging.LogRecord) -> None:
                if getattr(record, "event", "") == "call.finished":
                    running[0].cancel()

        async def play() -> None:
            desk = hand_desk(bench, sqlite(tmp_path))
            running.append(asyncio.create_task(desk.run(plan(step("a", "write")), run_id="r")))
            await asyncio.wait(running)
            await desk.close()

        caplog.set_level(logging.DEBUG, "chargehand.runs")
        logger, stop = logging.getLogger("chargehand.runs"), Stop()
        logger.addHandler(stop)
        within(play())
        logger.removeHandler(stop)
        outcome = within(hand_desk(bench, sqlite(tmp_path)).resume("r"))

        assert running[0].cancelled()
        assert (outcome.status, bench.made("write")) == ("done", 1)

    def test_closing_twice_is_closing_once(self) -> None:
        async def play() -> None:
            desk = hand_desk(Bench())
            await desk.start(plan(step("a")))
            await desk.close()
            await desk.close()

        within(play())

    def test_a_desk_that_did_nothing_closes(self) -> None:
        within(hand_desk(Bench()).close())


class TestFamilies:
    def test_a_child_that_another_desk_finishes_wakes_its_parent(self) -> None:
        store = MemoryStore()
        book = playbook("Ask {n}", step("s", "send", "inputs.n", expect=["output > 0"]), answer={"$": "s"})

        def desk() -> Chargehand:
            bench = Bench()
            return Chargehand(tools=bench.tools(), playbooks=[book], journal=MemoryJournal(store), clock=HandClock())

        async def play() -> None:
            async with desk() as first:
                await first.start(plan(pursue("p", "Ask 4", n=4), step("z", x="p"), answer={"$": "z"}), run_id="r")
                await until(lambda: first.show("r").status == "waiting")
            async with working(desk()) as second:
                second.approve("r/p/0/1", "s")
                await until(lambda: second.show("r").status == "done")

                assert second.show("r").answer == 4

        within(play())

    def test_two_desks_that_work_on_one_journal_do_each_thing_once(self, tmp_path: Path) -> None:
        first, second = Bench(), Bench()

        async def play() -> None:
            async with (
                working(hand_desk(first, sqlite(tmp_path))) as one,
                working(hand_desk(second, sqlite(tmp_path))) as two,
            ):
                for number in range(20):
                    desk = (one, two)[number % 2]
                    await desk.start(
                        plan(step("w", "write", number), step("a", "send", "w", expect=["true"])), run_id=f"r{number}"
                    )
                await until(lambda: len(one.runs(status=["waiting"])) == 20)
                for number in range(20):
                    (two, one)[number % 2].approve(f"r{number}", "a")
                await until(lambda: len(one.runs(status=["done"])) == 20)

        within(play(), 20)

        assert sorted(first.calls + second.calls) == sorted(
            (name, number) for name in ("write", "send") for number in range(20)
        )
