"""Time: clocks that jump, forward or back, neither stop a run nor hurry it, and nobody waits longer than needed."""

import asyncio
from typing import Any

import pytest
from tests.engine.workbench import Bench, HandClock, plan, statuses, step, until, within

from chargehand import Chargehand, Outcome, tool
from chargehand.adapters.memory import MemoryJournal
from chargehand.errors import Transient

DAY = 24 * 3600.0
JUMPS = [-365 * DAY, -DAY, -1.0, 1.0, DAY, 365 * DAY]


class Jumping(HandClock):
    """A clock that passes by itself: whoever sleeps is woken as soon as nothing else is to be done."""

    def __init__(self) -> None:
        super().__init__()
        self.slept: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await asyncio.sleep(0)
        self.advance(seconds)


@pytest.mark.parametrize("jump", JUMPS)
class TestJumps:
    """A clock that is set while a run is under way."""

    def test_a_call_that_is_to_be_tried_again_is(self, jump: float) -> None:
        bench, clock = Bench(), Jumping()

        def set_and_fail(x: int) -> int:
            clock.set(jump)
            raise Transient("busy", retry_after=20)

        bench.mischief["look"] = [set_and_fail, set_and_fail]
        desk = Chargehand(tools=bench.tools(), clock=clock)

        outcome = within(desk.run(plan(step("a"), answer={"$": "a"})))

        assert (outcome.status, bench.made("look")) == ("done", 3)
        assert all((attempt.seconds or 0) >= 0 for attempt in outcome["a"].attempts)
        assert clock.passed >= (40 if jump < 0 else 0)
        assert clock.passed <= 100

    def test_setting_it_while_a_run_rests_makes_it_neither_earlier_nor_later(self, jump: float) -> None:
        bench, clock = Bench(), HandClock()
        bench.mischief["look"] = [Transient("busy", retry_after=100)]
        desk = Chargehand(tools=bench.tools(), clock=clock)

        async def play() -> Outcome:
            running = asyncio.create_task(desk.run(plan(step("a"), answer={"$": "a"})))
            await until(lambda: clock.sleepers)
            clock.set(jump)
            clock.advance(99)
            await asyncio.sleep(0.005)
            assert bench.made("look") == 1
            clock.advance(1)
            return await running

        assert within(play()).status == "done"

    def test_a_probe_is_neither_asked_without_end_nor_believed_too_early(self, jump: float) -> None:
        clock = Jumping()
        asked: list[float] = []
        posted: list[float] = []

        @tool(effect="read", egress=[])
        async def find(x: int) -> int | None:
            """Finds nothing."""
            asked.append(clock.passed)
            assert len(asked) < 50
            return None

        @tool(effect="write", probe=find, settles_within=60, egress=[])
        async def post(x: int) -> int:
            """Posts, the first time in vain."""
            posted.append(clock.passed)
            if len(posted) == 1:
                clock.set(jump)
                raise TimeoutError("no answer")
            return x

        outcome = within(Chargehand(tools=[post], clock=clock).run(plan(step("a", "post"))))

        assert outcome.status == "done"
        assert posted == [0.0, pytest.approx(60, abs=1)]

    def test_a_request_for_approval_does_not_expire_before_its_week_is_over(self, jump: float) -> None:
        bench, clock = Bench(), HandClock()
        what = plan(step("a"), step("b", "send", "a", expect=["output > 0"]))
        desk = Chargehand(tools=bench.tools(), clock=clock)

        def set_it(x: int) -> int:
            clock.set(jump)
            return x

        bench.mischief["look"] = [set_it]
        assert within(desk.run(what, run_id="r")).status == "waiting"
        clock.set(-jump)  # and back, as it was
        if jump > 0:
            assert within(desk.resume("r")).status == "waiting"

        clock.set(0 if jump > 0 else jump)
        desk.approve("r", "b")

        assert within(desk.resume("r")).status == "done"

    def test_an_effect_whose_intent_grew_old_before_it_began_is_made_all_the_same(self, jump: float) -> None:
        bench, clock = Bench(), Jumping()

        class Slow(MemoryJournal):
            """Takes its time once, when an intent is to be on disk."""

            async def barrier(self, claim: Any, seq: int) -> None:
                clock.set(jump if seq == 2 else 0)
                await super().barrier(claim, seq)

        desk = Chargehand(tools=bench.tools(), clock=clock, journal=Slow())
        outcome = within(desk.run(plan(step("a", "write"), answer={"$": "a"})))

        assert (outcome.status, bench.made("write")) == ("done", 1)


def test_a_clock_that_runs_backwards_all_the_time_stops_nobody() -> None:
    class Backwards(Jumping):
        def time(self) -> float:
            self.set(-5)
            return super().time()

    bench, clock = Bench(), Backwards()
    bench.mischief = {"look": [Transient("busy")] * 2, "put": [TimeoutError("slow")]}
    desk = Chargehand(tools=bench.tools(), clock=clock)

    outcome = within(desk.run(plan(step("a"), step("b", "put", "a"), step("c", "write", "b"))))

    assert (outcome.status, statuses(outcome)) == ("done", {"a": "done", "b": "done", "c": "done"})


class TestRests:
    @pytest.mark.parametrize("say", ["cancel", "supply"])
    def test_a_run_that_rests_is_woken_by_mail(self, say: str) -> None:
        bench, clock = Bench(), HandClock()
        bench.mischief["look"] = [Transient("busy", retry_after=500)]
        desk = Chargehand(tools=bench.tools(), clock=clock)

        async def play() -> Outcome:
            running = asyncio.create_task(desk.run(plan(step("a"), answer={"$": "a"}), run_id="r"))
            await until(lambda: clock.sleepers)
            if say == "cancel":
                desk.cancel("r")
            else:
                desk.supply("r", "a", 5)
            return await running

        outcome = within(play())

        assert outcome.status == ("cancelled" if say == "cancel" else "done")
        assert (clock.passed, clock.sleepers) == (0, 0)

    def test_a_try_is_made_in_time_though_another_call_is_under_way(self) -> None:
        bench, clock = Bench(), Jumping()
        bench.mischief["look"] = [Transient("busy")]
        again = asyncio.Event()

        @tool(effect="read", timeout=5, retry=1, egress=[])
        async def wait_for_it(x: int) -> int:
            """Comes back when the other step was tried again."""
            await again.wait()
            return x

        def look_again(x: int) -> int:
            again.set()
            return x

        bench.mischief["look"].append(look_again)
        desk = Chargehand(tools=[*bench.tools(), wait_for_it], clock=clock)

        outcome = within(desk.run(plan(step("a"), step("b", "wait_for_it"))))

        assert statuses(outcome) == {"a": "done", "b": "done"}

    def test_a_probe_is_asked_in_time_though_another_call_is_under_way(self) -> None:
        clock, found, posted = Jumping(), asyncio.Event(), list[int]()

        @tool(effect="read", egress=[])
        async def find(x: int) -> int | None:
            """Finds nothing."""
            return None

        @tool(effect="write", probe=find, settles_within=60, egress=[])
        async def post(x: int) -> int:
            """Posts, the first time in vain."""
            posted.append(x)
            if len(posted) == 1:
                raise TimeoutError("no answer")
            found.set()
            return x

        @tool(effect="read", timeout=5, retry=1, egress=[])
        async def wait_for_it(x: int) -> int:
            """Comes back when the other step was done."""
            await found.wait()
            return x

        desk = Chargehand(tools=[post, wait_for_it], clock=clock)

        outcome = within(desk.run(plan(step("a", "post"), step("b", "wait_for_it"))))

        assert statuses(outcome) == {"a": "done", "b": "done"}

    def test_waiting_costs_no_turns(self) -> None:
        bench, clock = Bench(), Jumping()
        bench.mischief["look"] = [Transient("busy", retry_after=500)] * 2

        within(Chargehand(tools=bench.tools(), clock=clock).run(plan(step("a"))))

        assert len(clock.slept) == 2
