"""Child runs that are stopped, taken over by somebody else, or driven by a process that dies."""

import asyncio
from pathlib import Path

import pytest
from tests.engine.family import BOOKS, playbook, pursue, resume, run, said
from tests.engine.family import FamilyBench as Bench
from tests.engine.sweeps import sweep
from tests.engine.workbench import plan, sqlite, step

from chargehand import Chargehand, Outcome, approve_all, tool


@pytest.fixture
def bench() -> Bench:
    return Bench()


class TestStopping:
    def test_cancelling_the_parent_cancels_the_child_that_waits(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)
        run(desk, pursue("b", "Post letter 6"))

        desk.cancel("r", because="not needed")
        outcome = resume(desk)

        assert (outcome.status, desk.show("r/b/0/1").status, bench.made("send")) == ("cancelled", "cancelled", 0)

    def test_cancelling_the_parent_cancels_the_child_that_runs(self, bench: Bench) -> None:
        @tool(effect="read", egress=[])
        async def dig(x: int) -> int:
            """Digs until it is stopped."""
            desk.cancel("r")
            await asyncio.Event().wait()
            return x

        book = playbook("Dig hole {n}", step("d", "dig", "inputs.n"), step("e", "write", "d"))
        desk = Chargehand(tools=[*bench.tools(), dig], playbooks=[book], clock=bench.clock)

        outcome = asyncio.run(asyncio.wait_for(desk.run(plan(pursue("b", "Dig hole 1")), run_id="r"), 10))

        assert (outcome.status, desk.show("r/b/0/1").status, bench.made("write")) == ("cancelled", "cancelled", 0)

    def test_a_parent_that_can_no_longer_succeed_stops_its_children(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)
        bench.mischief["look"] = [ValueError("dark")]

        outcome = run(desk, pursue("b", "Post letter 6"), step("a"))

        assert (outcome.status, desk.show("r/b/0/1").status) == ("failed", "cancelled")
        assert said(outcome) == "ValueError: dark"

    def test_a_child_that_has_not_begun_when_all_is_lost_never_does(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, step("z", x=0), pursue("b", "Tidy room", n="z"), step("a", x="1 / z"))

        assert outcome.status == "failed"
        assert "divide by zero" in said(outcome)
        assert (desk.show("r/b/0/1").status, bench.made("write")) == ("cancelled", 0)

    def test_a_child_in_doubt_keeps_a_cancelled_parent_until_it_is_settled(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("no answer")]
        desk = bench.desk(playbooks=BOOKS)
        run(desk, pursue("b", "Tidy room 1"))

        desk.cancel("r")
        assert resume(desk).status == "in_doubt"
        desk.settle("r/b/0/1", "t", did_not_happen=True)
        outcome = resume(desk)

        assert (outcome.status, desk.show("r/b/0/1").status, bench.made("write")) == ("cancelled", "cancelled", 1)


class Hole:
    """A world of one read, `dig`, that ends when it is told to; the first two digs are told apart."""

    def __init__(self, folder: Path) -> None:
        self.begun, self.ends = [asyncio.Event(), asyncio.Event()], [asyncio.Event(), asyncio.Event()]
        self.folder, self.calls = folder, 0

    def desk(self) -> Chargehand:
        @tool(effect="read", egress=[])
        async def dig(x: int) -> int:
            """Digs."""
            number, self.calls = self.calls, self.calls + 1
            self.begun[number].set()
            await self.ends[number].wait()
            return x

        book = playbook("Dig hole {n}", step("d", "dig", "inputs.n"), answer={"$": "d"})
        return Chargehand(tools=[dig], playbooks=[book], journal=sqlite(self.folder))


class TestTakingOver:
    """The parent is driven here; its child is taken by force, and driven there."""

    async def scene(self, hole: Hole, first_to_end: int) -> Outcome:
        goal = plan(pursue("b", "Dig hole 3"), answer={"$": "b"})
        parent = asyncio.ensure_future(hole.desk().run(goal, run_id="r"))
        await hole.begun[0].wait()
        child = asyncio.ensure_future(hole.desk().resume("r/b/0/1", take_over=True))
        await hole.begun[1].wait()
        hole.ends[first_to_end].set()
        await asyncio.sleep(0.05)
        hole.ends[1 - first_to_end].set()
        assert (await child).status == "done"
        return await parent

    @pytest.mark.parametrize("first_to_end", [0, 1], ids=["the old driver first", "the new driver first"])
    def test_a_parent_goes_on_when_somebody_else_takes_its_child(self, tmp_path: Path, first_to_end: int) -> None:
        hole = Hole(tmp_path)

        outcome = asyncio.run(asyncio.wait_for(self.scene(hole, first_to_end), 10))

        assert (outcome.status, outcome.answer, hole.calls) == ("done", 3, 2)


class TestCrashes:
    HOUSE = playbook(
        "Clean house {n}",
        step("w", "write", "inputs.n"),
        pursue("p", "Post letter", n="w + 1"),
        answer={"$": "p"},
    )
    GOAL = plan(
        pursue("b", "Clean house 5"),
        pursue("e", "Tidy room", {"each": "[b, 20]"}, n="item"),
        step("z", x="b + e[1]"),
        answer={"$": "[b, z]"},
    )

    RUNS = frozenset({"r", "r/b/0/1", "r/b/0/1/p/0/1", "r/e/0/1", "r/e/1/1"})

    async def act(self, desk: Chargehand) -> Outcome:
        return await desk.run(self.GOAL, run_id="r")

    @pytest.mark.slow
    def test_killed_at_any_write_each_effect_of_each_child_is_done_once_or_in_doubt(self) -> None:
        statuses: list[str] = []
        for one in sweep(self.act, playbooks=[*BOOKS, self.HOUSE], approver=approve_all):
            statuses.append(one.outcome.status)
            done = one.bench.effects
            assert len(done) == len(set(done)), (one.at, done)
            assert one.outcome.status in ("done", "in_doubt"), (one.at, one.outcome)
            assert one.outcome == one.desk.show("r"), one.at
            assert {head.run for head in one.desk.runs()} <= self.RUNS, one.at  # one for each sub-goal
            if one.outcome.status == "done":
                assert one.outcome.answer == [6, 36], one.at
                assert sorted(done) == [("send", 6), ("write", 5), ("write", 6), ("write", 20)]
        assert len(statuses) > 30
        assert statuses.count("in_doubt") >= 4

    def test_a_cancellation_killed_at_any_write_still_stops_the_child(self) -> None:
        async def begin(desk: Chargehand) -> Outcome:
            outcome = await desk.run(plan(pursue("b", "Post letter 6")), run_id="r")
            desk.cancel("r")
            return outcome

        async def go_on(desk: Chargehand) -> Outcome:
            return await desk.resume("r")

        for one in sweep(go_on, before=begin, playbooks=BOOKS):
            assert (one.outcome.status, one.desk.show("r/b/0/1").status) == ("cancelled", "cancelled"), one.at

    def test_a_cancellation_may_come_before_the_child_has_begun(self) -> None:
        """The parent dies when the name of its child is on disk, and the child is not."""

        async def go_on(desk: Chargehand) -> Outcome:
            if desk.runs():
                desk.cancel("r")
            return await desk.run(plan(pursue("b", "Post letter 6")), run_id="r")

        async def begin(desk: Chargehand) -> Outcome:
            return await desk.run(plan(pursue("b", "Post letter 6")), run_id="r")

        for one in sweep(begin, again=go_on, playbooks=BOOKS):
            assert one.outcome.status in ("cancelled", "waiting"), one.at
            assert one.bench.made("send") == 0
