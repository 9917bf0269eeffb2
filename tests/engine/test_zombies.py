"""A driver that lost its run starts nothing more, and what became of its last effect reaches the new driver."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.workbench import Bench, plan, sqlite, statuses, step, until, within
from tests.journal.processes import Child, Hear, Say, child

from chargehand import Chargehand, Outcome, approve_all, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.catalog.tools import AnyTool
from chargehand.errors import JournalUnusable, NotPerformed, RunLost

TWO_STEPS = (step("a", "slow_write", 1, expect=["output == args.x"]), step("b", "write", "a + 1"))
TWO_WRITES = plan(*TWO_STEPS, answer={"$": "b"})


class Zombie:
    """A desk whose driver hangs inside an effect until it is let go, and another desk that takes its run."""

    def __init__(self, what: Any = TWO_WRITES) -> None:
        self.store, self.what = MemoryStore(), what
        self.old, self.new = Bench(), Bench()
        self.let_go = asyncio.Event()

    def desk(self, bench: Bench) -> Chargehand:
        async def wait() -> None:
            if bench is self.old:
                await self.let_go.wait()

        @tool(effect="read", egress=[])
        async def slow_look(x: int) -> int:
            """Reads, and keeps its driver at work."""
            bench.calls.append(("slow_look", x))
            await self.let_go.wait()
            return x

        return Chargehand(
            tools=[*bench.tools(), slow_write(bench, wait), slow_look],
            journal=MemoryJournal(self.store),
            clock=bench.clock,
            approver=approve_all,
        )

    async def taken_over(self) -> "tuple[Chargehand, Outcome, asyncio.Task[Outcome]]":
        hanging = asyncio.create_task(self.desk(self.old).run(self.what, run_id="r"))
        await until(lambda: self.old.made("slow_write"))
        desk = self.desk(self.new)
        return desk, await desk.resume("r", take_over=True), hanging

    async def wake(self, hanging: "asyncio.Task[Outcome]") -> None:
        self.let_go.set()
        with pytest.raises(RunLost):
            await hanging


def slow_write(bench: Bench, wait: Any) -> AnyTool:
    @tool(effect="write", retry=2, egress=[])
    async def slow_write(x: int) -> int:
        """Writes, and may hang."""
        bench.calls.append(("slow_write", x))
        await wait()
        return bench.act("slow_write ends", x)

    return slow_write


class TestLateOutcomes:
    def test_what_the_old_driver_did_is_in_doubt_until_it_speaks(self) -> None:
        zombie = Zombie()

        async def play() -> tuple[Outcome, Outcome]:
            desk, outcome, hanging = await zombie.taken_over()
            await zombie.wake(hanging)
            return outcome, await desk.resume("r")

        before, after = within(play())

        assert (before.status, statuses(before)) == ("in_doubt", {"a": "in_doubt", "b": "waiting"})
        assert (after.status, after.answer) == ("done", 2)
        assert [(one.check, one.held) for one in after["a"].evidence] == [("output == args.x", True)]
        assert zombie.old.calls == [("slow_write", 1), ("slow_write ends", 1)]
        assert zombie.new.calls == [("write", 2)]

    def test_it_settles_the_doubt_of_a_driver_that_is_at_work(self) -> None:
        zombie = Zombie(plan(*TWO_STEPS, step("c", "slow_look", 3)))

        async def play() -> Outcome:
            hanging = asyncio.create_task(zombie.desk(zombie.old).run(zombie.what, run_id="r"))
            await until(lambda: zombie.old.made("slow_write") and zombie.old.made("slow_look"))
            desk = zombie.desk(zombie.new)
            resuming = asyncio.create_task(desk.resume("r", take_over=True))
            await until(lambda: zombie.new.made("slow_look"))
            await zombie.wake(hanging)
            outcome = await resuming
            return outcome if outcome.status == "done" else await desk.resume("r")

        assert within(play()).status == "done"
        assert zombie.new.made("slow_write") == 0

    def test_a_late_word_that_nothing_happened_lets_it_be_done_again(self) -> None:
        zombie = Zombie()
        zombie.old.mischief["slow_write ends"] = [NotPerformed("the door was closed")]

        async def play() -> Outcome:
            desk, _, hanging = await zombie.taken_over()
            await zombie.wake(hanging)
            return await desk.resume("r")

        outcome = within(play())

        assert (outcome.status, zombie.new.made("slow_write")) == ("done", 1)

    def test_a_late_time_out_leaves_it_in_doubt(self) -> None:
        zombie = Zombie()
        zombie.old.mischief["slow_write ends"] = [TimeoutError("no answer")]

        async def play() -> Outcome:
            desk, _, hanging = await zombie.taken_over()
            await zombie.wake(hanging)
            return await desk.resume("r")

        assert (within(play()).status, zombie.new.made("slow_write")) == ("in_doubt", 0)

    def test_it_is_refused_once_a_person_has_settled_the_doubt(self) -> None:
        zombie = Zombie()

        async def play() -> tuple[Outcome, Outcome]:
            desk, _, hanging = await zombie.taken_over()
            desk.settle("r", "a", happened=1, because="I see it")
            settled = await desk.resume("r")
            await zombie.wake(hanging)
            return settled, await desk.resume("r")

        settled, after = within(play())

        assert (settled.status, settled.answer) == ("done", 2)
        assert after == settled

    def test_a_run_may_be_taken_from_a_desk_by_itself(self) -> None:
        zombie = Zombie()

        async def play() -> Outcome:
            desk = zombie.desk(zombie.old)
            hanging = asyncio.create_task(desk.run(zombie.what, run_id="r"))
            await until(lambda: zombie.old.made("slow_write"))
            assert (await desk.resume("r", take_over=True)).status == "in_doubt"
            await zombie.wake(hanging)
            return await desk.resume("r")

        assert within(play()).status == "done"
        assert zombie.old.made("slow_write") == 1

    def test_nothing_else_begins_in_the_old_driver(self) -> None:
        others = [step(f"w{number}", "write", f"a + {number}") for number in range(5)]
        zombie = Zombie(plan(*TWO_STEPS, *others))

        async def play() -> None:
            desk, _, hanging = await zombie.taken_over()
            await zombie.wake(hanging)
            await desk.resume("r")

        within(play())

        assert (zombie.old.made("write"), zombie.new.made("write")) == (0, 6)


# --- real processes ------------------------------------------------------------------------------------------------


def make_desk(folder: Path, name: str, linger: "Callable[[str], None] | None" = None) -> Chargehand:
    """A desk whose effects are lines in a file; the old one lingers inside each of its calls, and says so."""

    def note(what: str, x: int) -> int:
        with (folder / "effects").open("a") as file:
            file.write(f"{name} {what} {x}\n")
        return x

    async def rest(seconds: float, what: str) -> None:
        if linger is not None:
            linger(what)
            await asyncio.sleep(seconds)

    @tool(effect="read", egress=[])
    async def look(x: int) -> int:
        """Reads."""
        await rest(0.001, "looking")
        return x

    @tool(effect="write", egress=[])
    async def write(x: int) -> int:
        """Writes."""
        note("write", x)
        await rest(0.3, "writing")
        return x

    return Chargehand(tools=[look, write], journal=sqlite(folder), approver=approve_all)


def effects(folder: Path) -> list[str]:
    file = folder / "effects"
    return file.read_text().splitlines() if file.exists() else []


def drive(folder: Path, what: Any) -> Callable[[Say, Hear], None]:
    def work(say: Say, hear: Hear) -> None:
        told: set[str] = set()

        def once(line: str) -> None:
            if line not in told:
                told.add(line)
                say(line)

        asyncio.run(make_desk(folder, "old", once).run(what, run_id="r"))
        say("done")

    return work


def take_over(folder: Path, old: Child) -> Outcome:
    """Stops a process and takes its run. If it was stopped in the middle of a commit, it may finish that first."""
    for _ in range(20):
        old.stop()
        desk = make_desk(folder, "new")
        try:
            return within(desk.resume("r", take_over=True), 20)
        except JournalUnusable:
            old.go_on()
            time.sleep(0.01)
        finally:
            within(desk.close())
    raise AssertionError("the file was locked each time")


@pytest.mark.slow
def test_a_stopped_process_that_wakes_begins_nothing_and_says_what_it_had_done(tmp_path: Path) -> None:
    what = plan(step("a", "write", 1), step("b", "write", "a + 1"), step("c", "write", "b + 1"), answer={"$": "c"})
    with child(drive(tmp_path, what)) as old:
        assert old.hears() == "writing"

        before = take_over(tmp_path, old)
        old.go_on()
        last_words = old.hears()
        desk = make_desk(tmp_path, "new")
        after = within(desk.resume("r"))

    assert (before.status, statuses(before)["a"]) == ("in_doubt", "in_doubt")
    assert last_words.startswith("RunLost")
    assert (after.status, after.answer) == ("done", 3)
    assert effects(tmp_path) == ["old write 1", "new write 2", "new write 3"]


@pytest.mark.slow
def test_a_stopped_process_with_much_to_write_writes_none_of_it(tmp_path: Path) -> None:
    what = plan(step("a", x="item", each=str([*range(300)])), step("b", "write", "a[0] + 1"), answer={"$": "b"})
    with child(drive(tmp_path, what)) as old:
        assert old.hears() == "looking"

        after = take_over(tmp_path, old)
        events = len(make_desk(tmp_path, "new").show("r").reports[0].attempts)
        old.go_on()
        last_words = old.hears()
        desk = make_desk(tmp_path, "new")

        assert last_words.startswith("RunLost")
        assert (after.status, after.answer) == ("done", 1)
        assert effects(tmp_path) == ["new write 1"]
        assert len(desk.show("r").reports[0].attempts) == events
        assert desk.verify("r") == []


@pytest.mark.slow
def test_of_two_processes_that_resume_at_once_one_drives_and_the_other_follows(tmp_path: Path) -> None:
    what = plan(
        step("ask", "send", 1, expect=["output > 0"]),
        step("a", "write", "ask"),
        step("b", "write", "a + 1"),
        answer={"$": "b"},
    )

    def resume(folder: Path) -> Callable[[Say, Hear], None]:
        def work(say: Say, hear: Hear) -> None:
            hear()
            outcome = asyncio.run(sending_desk(folder).resume("r"))
            say(f"{outcome.status} {outcome.answer}")

        return work

    for round in range(20):
        folder = tmp_path / str(round)
        folder.mkdir()
        with child(resume(folder)) as one, child(resume(folder)) as two:
            desk = sending_desk(folder)
            within(desk.run(what, run_id="r"))
            desk.approve("r", "ask")
            within(desk.close())
            one.tell("go")
            two.tell("go")

            assert [one.hears(), two.hears()] == ["done 2", "done 2"], round
        desk = sending_desk(folder)
        assert sorted(effects(folder)) == ["send 1", "write 1", "write 2"], round
        assert "call.doubted" not in kinds_of(desk), round
        within(desk.close())


def sending_desk(folder: Path) -> Chargehand:
    def note(what: str, x: int) -> int:
        with (folder / "effects").open("a") as file:
            file.write(f"{what} {x}\n")
        return x

    @tool(effect="write", egress=[])
    def write(x: int) -> int:
        """Writes."""
        return note("write", x)

    @tool(effect="irreversible", egress=[])
    async def send(x: int) -> int:
        """Sends."""
        return note("send", x)

    return Chargehand(tools=[write, send], journal=sqlite(folder))


def kinds_of(desk: Chargehand) -> list[str]:
    async def follow() -> list[str]:
        return [recorded.kind async for recorded, _ in desk.follow("r")]

    return within(follow())
