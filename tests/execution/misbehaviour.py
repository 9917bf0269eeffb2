"""Tools that misbehave, and a run beside them that must not be disturbed."""

import asyncio
from collections.abc import Callable
from typing import Any

from chargehand import Chargehand, Outcome, Plan, tool
from chargehand.catalog.tools import AnyTool
from chargehand.domain.work import Failure
from chargehand.testing.clock import FakeClock

Act = Callable[[], Any]


def acting(act: Act, effect: Any = "read", sync: bool = False, **options: Any) -> AnyTool:
    """A tool that does one thing."""

    async def act_async() -> Any:
        result = act()
        return await result if asyncio.iscoroutine(result) else result

    def act_sync() -> Any:
        return act()

    return tool(effect=effect, name="misbehave", egress=[], **options)(act_sync if sync else act_async)


@tool(effect="read", egress=[])
async def look() -> int:
    """Behaves."""
    return 7


PLAN = Plan.parse(
    {
        "steps": [{"id": "bad", "use": "misbehave", "if_fails": "skip"}, {"id": "good", "use": "look"}],
        "answer": {"$": "good"},
    }
)


def run(act: Act, **options: Any) -> Outcome:
    """A run in which one step does something, and another behaves."""
    desk = Chargehand(tools=[acting(act, **options), look], clock=FakeClock())
    return desk.run_sync(PLAN)


def failure(outcome: Outcome) -> Failure:
    """Why the bad step failed; the rest of the run was not disturbed."""
    assert (outcome.status, outcome.answer) == ("done", 7)
    assert outcome["bad"].status == "skipped"
    error = outcome["bad"].attempts[-1].error
    assert error is not None
    return error


def raising(error: BaseException) -> Act:
    def act() -> Any:
        raise error

    return act
