"""Gates: what `parallel` and `rate` promise, and who comes next."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from chargehand import tool
from chargehand.catalog.tools import AnyTool
from chargehand.execution.gates import Gates
from chargehand.testing.clock import FakeClock


def limited(parallel: int | None = None, rate: str | None = None, name: str = "look") -> AnyTool:
    async def look() -> None:
        raise NotImplementedError

    return tool(effect="read", name=name, parallel=parallel, rate=rate)(look)


@dataclass
class Hall:
    """Gates on a fake clock, and what happened at them."""

    clock: FakeClock = field(default_factory=FakeClock)
    patience: float = 0.1
    begun: list[tuple[float, object]] = field(default_factory=list[tuple[float, object]])
    inside: int = 0
    most_inside: int = 0

    def __post_init__(self) -> None:
        self.gates = Gates(self.clock, self.patience)
        self.start = self.now()

    def now(self) -> float:
        return self.clock.now().timestamp()

    def enter(self, tool: AnyTool, wake: Callable[[], None], who: object = None) -> bool:
        entered = self.gates.enter(tool, self.now(), wake)
        if entered:
            self.begun.append((self.now() - self.start, who))
        return entered

    async def work(self, tool: AnyTool, calls: int, seconds: float = 0.0, who: object = None) -> None:
        """One after the other, as a driver would: try, wait to be woken, try again."""
        bell = asyncio.Event()
        for _ in range(calls):
            while not self.enter(tool, bell.set, who):
                await bell.wait()
                bell.clear()
            await self._stay(tool, seconds)

    async def work_at_once(self, tool: AnyTool, calls: int, seconds: float = 0.0, who: object = None) -> None:
        """All that can begin begins, turn by turn, as a driver does it whose steps are independent."""
        bell = asyncio.Event()
        async with asyncio.TaskGroup() as group:
            while calls:
                while calls and self.enter(tool, bell.set, who):
                    calls -= 1
                    group.create_task(self._stay(tool, seconds))
                if calls:
                    await bell.wait()
                    bell.clear()

    async def _stay(self, tool: AnyTool, seconds: float) -> None:
        self.inside += 1
        self.most_inside = max(self.inside, self.most_inside)
        if seconds:
            await self.clock.sleep(seconds)
        self.inside -= 1
        self.gates.leave(tool.name)


def run(work: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(work, 10))


@pytest.fixture
def hall() -> Hall:
    return Hall()


def never() -> None:
    raise AssertionError("nobody may be woken")


def test_a_tool_without_limits_passes_at_once(hall: Hall) -> None:
    free = limited()

    assert all(hall.enter(free, never) for _ in range(1000))
    hall.gates.leave("look")
    assert hall.gates.opens_at("look") == 0.0


class TestParallel:
    def test_no_more_than_that_many_calls_go_on_at_once(self, hall: Hall) -> None:
        look = limited(parallel=3)

        async def work() -> None:
            await asyncio.gather(*(hall.work(look, calls=4, seconds=1) for _ in range(10)))

        run(work())

        assert (len(hall.begun), hall.most_inside) == (40, 3)

    def test_tools_do_not_hold_each_other_up(self, hall: Hall) -> None:
        async def work() -> None:
            assert hall.enter(limited(parallel=1, name="look"), never)
            assert hall.enter(limited(parallel=1, name="find"), never)

        run(work())

    def test_places_go_to_those_who_wait_in_their_order(self, hall: Hall) -> None:
        look = limited(parallel=2)

        async def work() -> None:
            await asyncio.gather(*(hall.work(look, calls=1, seconds=1, who=number) for number in range(12)))

        run(work())

        assert [who for _, who in hall.begun] == list(range(12))

    def test_one_with_many_calls_does_not_keep_the_others_out(self, hall: Hall) -> None:
        look = limited(parallel=1)

        async def work() -> None:
            await asyncio.gather(*(hall.work(look, calls=3, seconds=1, who=who) for who in "abc"))

        run(work())

        assert "".join(str(who) for _, who in hall.begun) == "abcabcabc"

    def test_whoever_comes_between_does_not_take_a_place_that_was_offered(self, hall: Hall) -> None:
        look = limited(parallel=1)

        async def work() -> None:
            woken: list[str] = []
            first, late = (lambda: woken.append("first")), (lambda: woken.append("late"))
            assert hall.enter(look, never)
            assert not hall.enter(look, first)
            hall.gates.leave("look")

            assert not hall.enter(look, late)
            assert hall.enter(look, first)
            hall.gates.leave("look")

            assert woken == ["first", "late"]
            assert hall.enter(look, late)

        run(work())

    def test_one_that_waits_twice_is_woken_once(self, hall: Hall) -> None:
        look = limited(parallel=2)

        async def work() -> None:
            bell = Bell()
            assert hall.enter(look, never)
            assert hall.enter(look, never)
            assert not hall.enter(look, bell.ring)
            assert not hall.enter(look, bell.ring)

            hall.gates.leave("look")
            hall.gates.leave("look")

            assert bell.rung == 1
            assert hall.enter(look, bell.ring)
            assert hall.enter(look, bell.ring)

        run(work())

    def test_a_place_that_is_not_taken_is_offered_to_the_next(self) -> None:
        hall = Hall(patience=0.01)
        look = limited(parallel=1)

        async def work() -> None:
            bell, gone = asyncio.Event(), Bell()
            assert hall.enter(look, never)
            assert not hall.enter(look, gone.ring)
            assert not hall.enter(look, bell.set)

            hall.gates.leave("look")
            await bell.wait()

            assert gone.rung == 1
            assert hall.enter(look, bell.set)

        run(work())

    def test_a_place_offered_to_one_who_left_is_there_for_whoever_comes_later(self) -> None:
        hall = Hall(patience=0.01)
        look = limited(parallel=1)

        async def work() -> None:
            assert hall.enter(look, never)
            assert not hall.enter(look, Bell().ring)
            hall.gates.leave("look")

            await hall.work(look, calls=2)

        run(work())

    def test_who_is_forgotten_holds_no_place(self) -> None:
        hall = Hall(patience=1000)
        look = limited(parallel=1)

        async def work() -> None:
            gone, bell = Bell(), Bell()
            assert hall.enter(look, never)
            assert not hall.enter(look, gone.ring)
            assert not hall.enter(look, bell.ring)
            hall.gates.leave("look")

            hall.gates.forget(gone.ring)

            assert (gone.rung, bell.rung) == (1, 1)
            assert hall.enter(look, bell.ring)
            hall.gates.close()

        run(work())


class Bell:
    def __init__(self) -> None:
        self.rung = 0

    def ring(self) -> None:
        self.rung += 1


class TestRate:
    def test_that_many_begin_at_once_and_the_next_when_the_first_is_that_long_ago(self, hall: Hall) -> None:
        look = limited(rate="3/minute")

        run(hall.work(look, calls=7))

        assert [round(at, 3) for at, _ in hall.begun] == [0, 0, 0, 60, 60, 60, 120]

    def test_calls_that_were_spread_stay_so(self, hall: Hall) -> None:
        look = limited(rate="2/s")

        run(hall.work(look, calls=6, seconds=0.4))

        assert [round(at, 3) for at, _ in hall.begun] == [0, 0.4, 1.0, 1.4, 2.0, 2.4]

    def test_it_is_told_when_the_next_call_may_begin(self, hall: Hall) -> None:
        async def work() -> None:
            look = limited(rate="2/h")
            assert hall.enter(look, never)
            assert hall.gates.opens_at("look") == 0.0
            hall.clock.advance(10)
            assert hall.enter(look, never)
            assert hall.gates.opens_at("look") == hall.start + 3600

        run(work())

    def test_both_limits_hold_at_once(self, hall: Hall) -> None:
        look = limited(parallel=1, rate="4/minute")

        async def work() -> None:
            await asyncio.gather(*(hall.work(look, calls=2, seconds=5, who=number) for number in range(5)))

        run(work())

        assert [round(at) for at, _ in hall.begun] == [0, 5, 10, 15, 60, 65, 70, 75, 120, 125]
        assert hall.most_inside == 1

    def test_a_clock_that_is_set_back_holds_calls_up_for_one_stretch_at_the_most(self, hall: Hall) -> None:
        async def work() -> None:
            look = limited(rate="2/s")
            await hall.work(look, calls=2)
            hall.clock.advance(-86400)
            before = hall.now()

            await hall.work(look, calls=1)

            assert 1 <= hall.now() - before < 1.01

        run(work())

    def test_whoever_comes_just_as_it_opens_is_not_before_one_who_waited(self, hall: Hall) -> None:
        look = limited(rate="1/minute")

        async def work() -> None:
            first, late = Bell(), Bell()
            assert hall.enter(look, never)
            assert not hall.enter(look, first.ring)
            hall.clock.advance(60)

            assert not hall.enter(look, late.ring)
            assert (first.rung, late.rung) == (1, 0)
            assert hall.enter(look, first.ring)
            hall.gates.close()

        run(work())

    def test_another_event_loop_goes_on_where_the_first_was_left(self, hall: Hall) -> None:
        look = limited(parallel=1, rate="2/minute")

        async def leave_in_the_middle() -> None:
            assert hall.enter(look, never)
            assert not hall.enter(look, Bell().ring)
            assert not hall.enter(look, Bell().ring)
            hall.gates.leave("look")

        asyncio.run(leave_in_the_middle())
        run(hall.work(look, calls=2))

        assert [round(at) for at, _ in hall.begun] == [0, 0, 60]

    def test_closing_ends_the_timers(self, hall: Hall) -> None:
        async def work() -> None:
            look = limited(rate="1/h")
            assert hall.enter(look, never)
            assert not hall.enter(look, never)
            hall.gates.close()
            await asyncio.sleep(0)
            await asyncio.sleep(0)

            assert asyncio.all_tasks() == {asyncio.current_task()}
            assert hall.now() == hall.start

        asyncio.run(work())


@settings(deadline=None, max_examples=80)
@given(
    parallel=st.none() | st.integers(1, 4),
    calls=st.integers(1, 6),
    unit=st.sampled_from(["second", "minute"]),
    drivers=st.lists(
        st.tuples(st.booleans(), st.integers(1, 6), st.sampled_from([0.0, 0.013, 0.3, 7.0])), min_size=1, max_size=8
    ),
    vanishing=st.integers(0, 3),
)
def test_in_no_stretch_begin_more_calls_than_declared_and_all_have_their_turn(
    parallel: int | None, calls: int, unit: str, drivers: list[tuple[bool, int, float]], vanishing: int
) -> None:
    hall, look = Hall(patience=0.002), limited(parallel=parallel, rate=f"{calls}/{unit}")

    async def vanish() -> None:
        if hall.enter(look, Bell().ring, "vanishing"):
            hall.gates.leave("look")

    async def work() -> None:
        for at_once, count, seconds in drivers:
            tasks.append(asyncio.ensure_future((hall.work_at_once if at_once else hall.work)(look, count, seconds)))
            await asyncio.sleep(0)
            if len(tasks) <= vanishing:
                await vanish()
        await asyncio.gather(*tasks)

    tasks: list[asyncio.Future[None]] = []
    run(work())

    begun = [hall.start + at for at, _ in hall.begun]
    seconds = {"second": 1, "minute": 60}[unit]
    assert sum(who != "vanishing" for _, who in hall.begun) == sum(count for _, count, _ in drivers)
    assert all(later - earlier >= seconds - 1e-6 for earlier, later in zip(begun, begun[calls:], strict=False))
    assert hall.most_inside <= (parallel or 100)
