"""Stopping: reads end at once, effects come to their end and tell it, a doubt stays a doubt, and nothing new begins."""

import asyncio
from collections.abc import Coroutine
from dataclasses import dataclass, field
from typing import Any

import pytest
from tests.engine.workbench import Bench, HandClock, plan, statuses, step, until, within

from chargehand import Chargehand, Outcome, tool
from chargehand.catalog.tools import AnyTool
from chargehand.errors import Transient

STOPS = ["cancel", "hopeless"]


@dataclass
class Hall(Bench):
    """Tools that begin, and come back when they are let go."""

    going: set[int] = field(default_factory=set[int])
    ended: list[str] = field(default_factory=list[str])

    def tools(self) -> list[AnyTool]:
        async def wait(name: str, x: int) -> int:
            self.calls.append((name, x))
            self.going.add(x)
            try:
                await self.doors.setdefault(x, asyncio.Event()).wait()
            finally:
                self.ended.append(name)
            return self.act(f"{name} ends", x)

        @tool(effect="read", egress=[])
        async def slow_look(x: int) -> int:
            """Reads, and takes its time."""
            return await wait("slow_look", x)

        @tool(effect="write", egress=[])
        async def slow_write(x: int) -> int:
            """Writes, and takes its time."""
            return await wait("slow_write", x)

        @tool(effect="write", idempotent=True, retry=3, egress=[])
        async def slow_put(x: int) -> int:
            """Writes, takes its time, and twice is once."""
            return await wait("slow_put", x)

        @tool(effect="read", retry=1, egress=[])
        async def refuse(x: int) -> int:
            """Fails when it is let go."""
            await wait("refuse", x)
            raise ValueError("no")

        return [*super().tools(), slow_look, slow_write, slow_put, refuse]

    def __post_init__(self) -> None:
        self.doors: dict[int, asyncio.Event] = {}

    def let_go(self, x: int) -> None:
        self.doors.setdefault(x, asyncio.Event()).set()


@pytest.fixture
def hall() -> Hall:
    return Hall()


REFUSE = step("no", "refuse", 99, if_fails="stop")


def stopping(hall: Hall, desk: Chargehand, how: str) -> None:
    """Stops the run `r`: by a person's word, or since it can no longer reach its goal."""
    if how == "cancel":
        desk.cancel("r", because="not needed")
    else:
        hall.let_go(99)


def play(
    hall: Hall, how: str, steps: list[dict[str, object]], then: "Coroutine[Any, Any, None] | None" = None
) -> Outcome:
    """A run that is stopped when its first step is under way, and what comes of it."""

    async def run() -> Outcome:
        desk = hall.desk()
        running = asyncio.create_task(desk.run(plan(*steps, REFUSE), run_id="r"))
        await until(lambda: {1, 99} <= hall.going)
        stopping(hall, desk, how)
        if then is not None:
            await then
        return await running

    return within(run())


@pytest.mark.parametrize("how", STOPS)
class TestStopping:
    def test_a_read_ends_at_once(self, hall: Hall, how: str) -> None:
        outcome = play(hall, how, [step("a", "slow_look")])

        assert outcome.status == ("cancelled" if how == "cancel" else "failed")
        assert "slow_look" in hall.ended
        assert hall.made("slow_look ends") == 0

    def test_an_effect_comes_to_its_end_and_tells_it(self, hall: Hall, how: str) -> None:
        async def then() -> None:
            await asyncio.sleep(0.02)
            assert "slow_write" not in hall.ended
            hall.let_go(1)

        outcome = play(hall, how, [step("a", "slow_write"), step("b", x="a")], then())

        assert outcome.status == ("cancelled" if how == "cancel" else "failed")
        assert (outcome["a"].status, outcome["a"].output) == ("done", 1)
        assert (outcome["b"].status, hall.made("look")) == ("cancelled" if how == "cancel" else "blocked", 0)

    def test_an_effect_whose_checks_fail_tells_that_too(self, hall: Hall, how: str) -> None:
        async def then() -> None:
            hall.let_go(1)

        outcome = play(hall, how, [step("a", "slow_write", expect=["output > 5"])], then())

        assert outcome["a"].status == "failed"
        assert outcome["a"].error is not None
        assert outcome["a"].error.kind == "check_failed"

    @pytest.mark.parametrize("use", ["slow_write", "slow_put"])
    def test_a_doubt_stays_a_doubt_until_somebody_settles_it(self, hall: Hall, how: str, use: str) -> None:
        hall.mischief[f"{use} ends"] = [TimeoutError("no answer")]

        async def then() -> None:
            hall.let_go(1)

        outcome = play(hall, how, [step("a", use), step("b", x="a")], then())

        assert (outcome.status, outcome["a"].status) == ("in_doubt", "in_doubt")
        assert hall.made(use) == 1

    @pytest.mark.parametrize("happened", [True, False])
    def test_settling_it_ends_the_run_and_begins_nothing(self, hall: Hall, how: str, happened: bool) -> None:
        hall.mischief["slow_write ends"] = [TimeoutError("no answer")]

        async def run() -> Outcome:
            desk = hall.desk()
            running = asyncio.create_task(desk.run(plan(step("a", "slow_write"), step("b", x="a"), REFUSE), run_id="r"))
            await until(lambda: {1, 99} <= hall.going)
            stopping(hall, desk, how)
            hall.let_go(1)
            assert (await running).status == "in_doubt"
            if happened:
                desk.settle("r", "a", happened=1)
            else:
                desk.settle("r", "a", did_not_happen=True)
            return await desk.resume("r")

        outcome = within(run())

        assert outcome.status == ("cancelled" if how == "cancel" else "failed")
        assert outcome["a"].status == "done" if happened else outcome["a"].status in ("cancelled", "blocked")
        assert (hall.made("slow_write"), hall.made("look")) == (1, 0)

    def test_what_had_not_begun_never_does(self, hall: Hall, how: str) -> None:
        async def then() -> None:
            hall.let_go(1)

        steps = [
            step("a", "slow_write"),
            step("b", "write", "a"),
            step("c", x="a"),
            step("d", "send", 4, expect=["output > 0"]),
        ]
        outcome = play(hall, how, steps, then())

        assert (hall.made("write"), hall.made("look"), hall.made("send")) == (0, 0, 0)
        assert {statuses(outcome)[id] for id in "bcd"} == ({"cancelled"} if how == "cancel" else {"blocked"})


class TestRests:
    """Stopping a run between two tries."""

    @staticmethod
    def cancel_between_tries(bench: Bench, use: str) -> tuple[Chargehand, Outcome]:
        clock = HandClock()
        desk = Chargehand(tools=bench.tools(), clock=clock)

        async def run() -> Outcome:
            running = asyncio.create_task(desk.run(plan(step("a", use)), run_id="r"))
            await until(lambda: clock.sleepers)
            desk.cancel("r")
            return await running

        return desk, within(run())

    def test_a_read_is_not_tried_again(self) -> None:
        bench = Bench()
        bench.mischief["look"] = [Transient("busy")]

        _, outcome = self.cancel_between_tries(bench, "look")

        assert (outcome.status, outcome["a"].status, bench.made("look")) == ("cancelled", "cancelled", 1)

    def test_an_effect_of_which_nobody_knows_is_in_doubt(self) -> None:
        bench = Bench()
        bench.mischief["put"] = [TimeoutError("no answer")]

        desk, outcome = self.cancel_between_tries(bench, "put")

        assert (outcome.status, outcome["a"].status, bench.made("put")) == ("in_doubt", "in_doubt", 1)

        desk.settle("r", "a", happened=1)

        assert within(desk.resume("r")).status == "cancelled"

    def test_so_it_is_when_another_item_of_the_step_fails(self) -> None:
        bench = Bench()
        bench.mischief["put"] = [TimeoutError("no answer"), ValueError("no")]

        outcome = within(bench.desk().run(plan(step("a", "put", "item", each="[1, 2]"))))

        assert (outcome.status, outcome["a"].error and outcome["a"].error.kind) in [
            ("in_doubt", "error"),
            ("in_doubt", "in_doubt"),
        ]


def test_an_item_in_doubt_of_a_step_that_was_skipped_is_not_done_after_all() -> None:
    bench = Bench()
    bench.mischief["write"] = [TimeoutError("no answer"), ValueError("no")]
    desk = bench.desk()
    what = plan(step("a", "write", "item", each="[1, 2]", if_fails="skip"), step("b", after=["a"]), answer={"$": "b"})
    assert within(desk.run(what, run_id="r")).status == "in_doubt"

    desk.settle("r", "a", did_not_happen=True)
    outcome = within(desk.resume("r"))

    assert (outcome.status, statuses(outcome), bench.made("write")) == ("done", {"a": "skipped", "b": "done"}, 2)


def test_a_run_that_was_cancelled_while_nobody_drove_it_begins_nothing() -> None:
    bench = Bench()
    desk = bench.desk()
    within(desk.run(plan(step("a", "send", expect=["output > 0"]), step("b", "write", "a")), run_id="r"))

    desk.approve("r", "a")
    desk.cancel("r")
    outcome = within(desk.resume("r"))

    assert (outcome.status, bench.made("send"), bench.made("write")) == ("cancelled", 0, 0)


def test_cancelling_twice_is_cancelling_once() -> None:
    bench = Bench()
    desk = bench.desk()
    within(desk.run(plan(step("a", "send", expect=["output > 0"])), run_id="r"))

    desk.cancel("r", because="first")
    desk.cancel("r", because="second")
    outcome = within(desk.resume("r"))

    assert outcome.status == "cancelled"
    assert outcome.error is not None
    assert outcome.error.message == "first"
