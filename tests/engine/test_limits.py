"""Limits: `parallel` and `rate` of a tool hold across all runs of a desk, and cost the others nothing."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.engine.workbench import Bench, HandClock, plan, statuses, step, until, within

from chargehand import Chargehand, Outcome, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.catalog.tools import AnyTool
from chargehand.errors import RunLost, Transient
from chargehand.testing.clock import FakeClock


@dataclass
class Counter(Bench):
    """Tools with limits, and how many calls of each were under way at once."""

    parallel: int | None = None
    rate: str | None = None
    inside: dict[str, int] = field(default_factory=dict[str, int])
    most: dict[str, int] = field(default_factory=dict[str, int])

    async def stay(self, name: str, x: int, turns: int = 3) -> int:
        self.inside[name] = self.inside.get(name, 0) + 1
        self.most[name] = max(self.most.get(name, 0), self.inside[name])
        try:
            for _ in range(turns):
                await asyncio.sleep(0)
            return self.act(name, x)
        finally:
            self.inside[name] -= 1

    def tools(self) -> list[AnyTool]:
        @tool(effect="read", parallel=self.parallel, rate=self.rate, egress=[])
        async def limited(x: int) -> int:
            """Reads, not often."""
            return await self.stay("limited", x)

        @tool(effect="write", parallel=self.parallel, rate=self.rate, egress=[])
        async def limited_write(x: int) -> int:
            """Writes, not often."""
            return await self.stay("limited_write", x)

        @tool(effect="read", egress=[])
        async def free(x: int) -> int:
            """Reads, as often as you like."""
            return await self.stay("free", x, 10)

        return [*super().tools(), limited, limited_write, free]


def many(count: int, use: str = "limited") -> list[dict[str, object]]:
    return [step(f"{use}{number}", use, number) for number in range(count)]


class TestParallel:
    @pytest.mark.parametrize("use", ["limited", "limited_write"])
    def test_it_holds_within_a_run(self, use: str) -> None:
        bench = Counter(parallel=3)

        outcome = within(bench.desk().run(plan(*many(20, use))))

        assert (outcome.status, bench.made(use), bench.most[use]) == ("done", 20, 3)

    def test_it_holds_for_the_items_of_a_list(self) -> None:
        bench = Counter(parallel=3)

        outcome = within(bench.desk().run(plan(step("a", "limited", "item", each=str([*range(20)])))))

        assert (outcome.status, bench.made("limited"), bench.most["limited"]) == ("done", 20, 3)

    def test_it_holds_across_the_runs_of_a_desk(self) -> None:
        bench = Counter(parallel=3)

        async def play() -> list[Outcome]:
            desk = bench.desk()
            return await asyncio.gather(*(desk.run(plan(*many(5))) for _ in range(10)))

        outcomes = within(play())

        assert {outcome.status for outcome in outcomes} == {"done"}
        assert (bench.made("limited"), bench.most["limited"]) == (50, 3)

    def test_a_run_does_at_the_most_a_hundred_things_at_once(self) -> None:
        bench = Counter()

        outcome = within(bench.desk().run(plan(step("a", "free", "item", each=str([*range(500)])))))

        assert (outcome.status, bench.most["free"]) == ("done", 100)

    def test_tries_after_a_failure_keep_to_it_too(self) -> None:
        bench = Counter(parallel=2)
        bench.mischief["limited"] = [Transient("busy")] * 10

        outcome = within(bench.desk().run(plan(*many(10))))

        assert (outcome.status, bench.made("limited"), bench.most["limited"]) == ("done", 20, 2)


class TestRate:
    @staticmethod
    def begun(journal: MemoryJournal) -> list[float]:
        """When the calls of all runs began."""
        events = [event for head in journal.heads() for event in journal.read(head.run)]
        return sorted(event.at for event in events if event.kind == "call.started")

    def test_no_more_begin_in_a_while_than_it_says(self) -> None:
        bench, journal = Counter(rate="10/minute"), MemoryJournal()

        outcome = within(bench.desk(journal).run(plan(*many(35))))
        begun = self.begun(journal)

        assert (outcome.status, len(begun)) == ("done", 35)
        for first, eleventh in zip(begun, begun[10:], strict=False):
            assert eleventh - first >= 60

    def test_it_holds_across_the_runs_of_a_desk(self) -> None:
        bench, journal = Counter(rate="10/minute"), MemoryJournal()

        async def play() -> None:
            desk = bench.desk(journal)
            await asyncio.gather(*(desk.run(plan(*many(3))) for _ in range(10)))

        within(play())
        begun = self.begun(journal)

        assert len(begun) == 30
        for first, eleventh in zip(begun, begun[10:], strict=False):
            assert eleventh - first >= 60


class TestOthers:
    """While a tool has no place, everybody else goes on."""

    def test_other_tools_go_on_while_one_is_saturated(self) -> None:
        bench = Counter(parallel=1)
        hold = asyncio.Event()

        @tool(effect="read", parallel=1, egress=[])
        async def hog(x: int) -> int:
            """Reads, one at a time, and only when the others are done."""
            await asyncio.wait_for(hold.wait(), 5)
            return x

        @tool(effect="read", egress=[])
        async def last(x: int) -> int:
            """Lets the others go."""
            hold.set()
            return x

        desk = Chargehand(tools=[*bench.tools(), hog, last], clock=bench.clock)
        outcome = within(desk.run(plan(*many(150, "hog"), step("z", "last"))))

        assert outcome.status == "done"

    def test_so_they_do_while_its_rate_is_used_up(self) -> None:
        clock, seen = HandClock(), list[str]()

        @tool(effect="read", rate="1/minute", egress=[])
        async def rare(x: int) -> int:
            """Reads, once a minute."""
            seen.append("rare")
            return x

        @tool(effect="read", egress=[])
        async def often(x: int) -> int:
            """Reads."""
            seen.append("often")
            return x

        async def play() -> None:
            desk = Chargehand(tools=[rare, often], clock=clock)
            running = asyncio.create_task(desk.run(plan(*many(150, "rare"), *many(20, "often"))))
            await until(lambda: clock.sleepers)
            await asyncio.sleep(0.01)
            running.cancel()
            await asyncio.wait([running])
            await desk.close()

        within(play())

        assert (seen.count("rare"), seen.count("often")) == (1, 20)

    def test_a_try_that_is_due_is_made_while_a_tool_has_no_place(self) -> None:
        bench, clock, again = Bench(), HandClock(), list[float]()

        @tool(effect="read", rate="1/hour", egress=[])
        async def rare(x: int) -> int:
            """Reads, once an hour."""
            return x

        def look_again(x: int) -> int:
            again.append(clock.passed)
            return x

        bench.mischief["look"] = [Transient("busy", retry_after=20), look_again]

        async def play() -> None:
            desk = Chargehand(tools=[*bench.tools(), rare], clock=clock)
            running = asyncio.create_task(desk.run(plan(step("r1", "rare", 1), step("r2", "rare", 2), step("a"))))
            await until(lambda: clock.sleepers >= 2)
            clock.advance(21)
            await until(lambda: again, 2)
            clock.advance(3600)
            assert (await running).status == "done"

        within(play())

        assert again == [21]


class TestPlaces:
    """A place that was taken is given back, whatever happens."""

    @staticmethod
    async def is_free(desk: Chargehand) -> bool:
        outcome = await asyncio.wait_for(desk.run(plan(step("a", "one_place", 0))), 5)
        return outcome.status == "done"

    @staticmethod
    def desk(bench: Bench, journal: Any = ":memory:") -> Chargehand:
        @tool(effect="read", parallel=1, timeout=0.05, retry=1, egress=[])
        async def one_place(x: int) -> int:
            """Reads, one at a time; hangs for 1, fails for 2."""
            bench.calls.append(("one_place", x))
            if x == 1:
                await asyncio.Event().wait()
            if x == 2:
                raise ValueError("no")
            return x

        @tool(effect="read", parallel=1, egress=[])
        async def patient(x: int) -> int:
            """Reads, one at a time, for ever."""
            bench.calls.append(("patient", x))
            await asyncio.Event().wait()
            return x

        return Chargehand(tools=[*bench.tools(), one_place, patient], journal=journal, clock=FakeClock())

    @pytest.mark.parametrize("x", [1, 2])
    def test_after_a_call_that_hung_or_failed(self, x: int) -> None:
        bench = Bench()

        async def play() -> bool:
            desk = self.desk(bench)
            assert (await desk.run(plan(step("a", "one_place", x)))).status == "failed"
            return await self.is_free(desk)

        assert within(play())

    def test_after_a_run_that_was_cancelled_while_it_had_one(self) -> None:
        bench = Bench()

        async def play() -> None:
            desk = self.desk(bench)
            running = asyncio.create_task(desk.run(plan(step("a", "patient", 1)), run_id="r"))
            await until(lambda: bench.made("patient"))
            waiting = asyncio.create_task(desk.run(plan(step("a", "patient", 2)), run_id="s"))
            await asyncio.sleep(0.01)
            assert bench.made("patient") == 1
            desk.cancel("r")
            assert (await running).status == "cancelled"
            await until(lambda: bench.made("patient") == 2)
            desk.cancel("s")
            assert (await waiting).status == "cancelled"

        within(play())

    def test_after_a_run_that_was_cancelled_while_it_waited_for_one(self) -> None:
        bench = Bench()

        async def play() -> None:
            desk = self.desk(bench)
            first = asyncio.create_task(desk.run(plan(step("a", "patient", 1)), run_id="r"))
            await until(lambda: bench.made("patient"))
            second = asyncio.create_task(desk.run(plan(step("a", "patient", 2)), run_id="s"))
            third = asyncio.create_task(desk.run(plan(step("a", "patient", 3)), run_id="t"))
            await asyncio.sleep(0.01)
            desk.cancel("s")
            assert (await second).status == "cancelled"
            desk.cancel("r")
            await first
            await until(lambda: ("patient", 3) in bench.calls, 2)
            desk.cancel("t")
            await third

        within(play())

        assert ("patient", 2) not in bench.calls

    def test_after_a_desk_task_was_cancelled(self) -> None:
        bench = Bench()

        async def play() -> None:
            desk = self.desk(bench)
            running = asyncio.create_task(desk.run(plan(step("a", "patient", 1)), run_id="r"))
            await until(lambda: bench.made("patient"))
            running.cancel()
            await asyncio.wait([running])
            again = asyncio.create_task(desk.resume("r"))
            await until(lambda: bench.made("patient") == 2)
            again.cancel()
            await asyncio.wait([again])

        within(play())

    def test_after_a_run_was_lost_just_when_its_call_was_to_begin(self) -> None:
        bench, store = Bench(), MemoryStore()

        async def play() -> bool:
            desk = self.desk(bench, MemoryJournal(store))
            hold = asyncio.Event()

            async def wait(x: int) -> int:
                await hold.wait()
                return x

            slow = tool(effect="read", name="slow", egress=[])(wait)
            tools = [*desk.catalog.tools.values(), slow]
            desk = Chargehand(tools=tools, journal=MemoryJournal(store), clock=FakeClock())
            what = plan(step("a", "slow"), step("b", x="a"), step("c", "one_place", "b - 1"))
            running = asyncio.create_task(desk.run(what, run_id="r"))
            await asyncio.sleep(0.01)
            await MemoryJournal(store).claim("r", take_over=True)
            hold.set()
            with pytest.raises(RunLost):
                await running
            return await self.is_free(desk)

        assert within(play())


def test_what_a_saturated_tool_leaves_undone_is_told_when_the_run_is_stopped() -> None:
    bench = Bench()

    @tool(effect="read", rate="1/hour", egress=[])
    async def rare(x: int) -> int:
        """Reads, once an hour."""
        return x

    async def play() -> Outcome:
        clock = HandClock()
        desk = Chargehand(tools=[*bench.tools(), rare], clock=clock)
        running = asyncio.create_task(desk.run(plan(step("a", "rare", 1), step("b", "rare", 2)), run_id="r"))
        await until(lambda: clock.sleepers)
        desk.cancel("r")
        outcome = await running
        await desk.close()
        return outcome

    assert statuses(within(play())) == {"a": "done", "b": "cancelled"}


@pytest.mark.slow
@pytest.mark.parametrize("limits", [{"parallel": 5}, {"rate": "1000/second"}, {}], ids=["parallel", "rate", "none"])
def test_a_list_of_ten_thousand_items_is_done_in_reasonable_time(limits: dict[str, Any]) -> None:
    @tool(effect="read", egress=[], **limits)
    async def limited(x: int) -> int:
        """Reads."""
        return x

    @tool(effect="read", egress=[])
    async def numbers(x: int) -> list[int]:
        """Counts."""
        return [*range(x)]

    desk = Chargehand(tools=[limited, numbers], clock=FakeClock())
    what = plan(step("n", "numbers", 10_000), step("a", "limited", "item", each="n"), answer={"$": "size(a)"})
    work: Coroutine[Any, Any, Outcome] = desk.run(what)

    outcome = within(work, 10)

    assert (outcome.status, outcome.answer) == ("done", 10_000)
