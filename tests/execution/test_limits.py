"""Limits in runs: a tool's `parallel` and `rate` hold for all runs of a process."""

import asyncio
from dataclasses import dataclass, field
from typing import Any

import pytest

from chargehand import Chargehand, Outcome, Plan, tool
from chargehand.testing.clock import FakeClock


@dataclass
class Service:
    """A service that notes how often it was asked, and how many asked at once."""

    clock: FakeClock = field(default_factory=FakeClock)
    asked: int = 0
    inside: int = 0
    most: int = 0

    def desk(self, **limits: Any) -> Chargehand:
        @tool(effect="read", egress=[], **limits)
        async def ask(n: int) -> int:
            """Asks the service."""
            self.asked += 1
            self.inside += 1
            self.most = max(self.most, self.inside)
            try:
                await asyncio.sleep(0)
            finally:
                self.inside -= 1
            return n

        return Chargehand(tools=[ask], clock=self.clock)


def plan(steps: int) -> Plan:
    return Plan.parse({"steps": [{"id": f"s{n}", "use": "ask", "with": {"n": n}} for n in range(steps)]})


def run(desk: Chargehand, *steps: int) -> list[Outcome]:
    async def work() -> list[Outcome]:
        return await asyncio.wait_for(asyncio.gather(*(desk.run(plan(count)) for count in steps)), 20)

    return asyncio.run(work())


def begun(desk: Chargehand, outcomes: list[Outcome]) -> list[int]:
    """The seconds at which calls began, from the first one on, as the journal has it."""

    async def times() -> list[float]:
        runs = [desk.follow(outcome.run_id) for outcome in outcomes]
        return sorted([event.at for run in runs async for event, _ in run if event.kind == "call.started"])

    found = asyncio.run(times())
    return [round(at - found[0]) for at in found]


@pytest.fixture
def service() -> Service:
    return Service()


def test_a_tool_is_called_no_more_than_so_often_at_once(service: Service) -> None:
    outcomes = run(service.desk(parallel=3), 10, 1, 10)

    assert [outcome.status for outcome in outcomes] == ["done"] * 3
    assert (service.asked, service.most) == (21, 3)


def test_a_tool_is_called_no_more_than_so_often_in_a_while(service: Service) -> None:
    desk = service.desk(rate="3/minute")

    outcomes = run(desk, 7)

    assert outcomes[0].status == "done"
    assert begun(desk, outcomes) == [0, 0, 0, 60, 60, 60, 120]


def test_the_rate_is_shared_by_runs_and_lasts_from_one_event_loop_to_the_next(service: Service) -> None:
    desk = service.desk(rate="4/minute")

    outcomes = [*run(desk, 2, 1), *run(desk, 3)]

    assert [outcome.status for outcome in outcomes] == ["done"] * 3
    assert begun(desk, outcomes) == [0, 0, 0, 0, 60, 60]


def test_a_run_that_is_stopped_while_it_waits_keeps_no_place(service: Service) -> None:
    desk = service.desk(parallel=1)

    async def work() -> list[Outcome]:
        running = [asyncio.create_task(desk.run(plan(5))) for _ in range(4)]
        await asyncio.sleep(0.01)
        for one in running[:3]:
            one.cancel()
        await asyncio.gather(*running[:3], return_exceptions=True)
        return [await asyncio.wait_for(running[3], 10), await asyncio.wait_for(desk.run(plan(2)), 10)]

    outcomes = asyncio.run(work())

    assert [outcome.status for outcome in outcomes] == ["done", "done"]
    assert service.most == 1
