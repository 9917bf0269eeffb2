"""A workbench for tests of running: tools that count their calls, and a desk that keeps time with a fake clock."""

import asyncio
import datetime as dt
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from chargehand import Chargehand, Plan, tool
from chargehand.catalog.tools import AnyTool
from chargehand.domain.work import Outcome
from chargehand.ports import Journal
from chargehand.testing.clock import FakeClock

T = TypeVar("T")


@dataclass
class Bench:
    """Calls that were made, in order, and what the next calls of a tool are to do instead of their work."""

    calls: list[tuple[str, Any]] = field(default_factory=list[tuple[str, Any]])
    mischief: dict[str, list[Any]] = field(default_factory=dict[str, list[Any]])
    clock: FakeClock = field(default_factory=FakeClock)

    def made(self, name: str) -> int:
        return sum(called == name for called, _ in self.calls)

    def act(self, name: str, value: Any) -> Any:
        self.calls.append((name, value))
        plans = self.mischief.get(name)
        if plans:
            next_one = plans.pop(0)
            if isinstance(next_one, BaseException):
                raise next_one
            if callable(next_one):
                return next_one(value)
        return value

    def tools(self) -> list[AnyTool]:
        bench = self

        @tool(effect="read", egress=[])
        async def look(x: int) -> int:
            """Reads."""
            return bench.act("look", x)

        @tool(effect="read", egress=[])
        def look_sync(x: int) -> int:
            """Reads, in a thread."""
            return bench.act("look_sync", x)

        @tool(effect="read", instead_of=look, egress=[])
        async def look_elsewhere(x: int) -> int:
            """Stands in for look."""
            return bench.act("look_elsewhere", x)

        @tool(effect="write", egress=[])
        async def write(x: int) -> int:
            """Writes."""
            return bench.act("write", x)

        @tool(effect="write", idempotent=True, retry=3, egress=[])
        async def put(x: int) -> int:
            """Writes, and twice is once."""
            return bench.act("put", x)

        @tool(effect="irreversible", egress=[])
        async def send(x: int) -> int:
            """Sends."""
            return bench.act("send", x)

        @tool(effect="read", egress=[])
        async def anything(x: int) -> Any:
            """Gives whatever the mischief says."""
            return bench.act("anything", x)

        @tool(effect="read", timeout=0.05, retry=1, egress=[])
        async def hang(x: int) -> int:
            """Never comes back."""
            bench.calls.append(("hang", x))
            await asyncio.Event().wait()
            return x

        return [look, look_sync, look_elsewhere, write, put, send, anything, hang]

    def desk(self, journal: Any = ":memory:", **options: Any) -> Chargehand:
        return Chargehand(tools=self.tools(), journal=journal, clock=self.clock, **options)


def step(id: str, use: str = "look", x: object = 1, **fields: object) -> dict[str, object]:
    """A step that gives its tool one number, or the value of an expression."""
    return {"id": id, "use": use, "with": {"x": {"$": x} if isinstance(x, str) else x}, **fields}


def plan(*steps: dict[str, object], **fields: object) -> Plan:
    return Plan.parse({"steps": list(steps), **fields})


def sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'journal.db'}"


class HandClock:
    """A clock that is moved by hand. Time that passes wakes those who sleep; a clock that is only set does not."""

    def __init__(self) -> None:
        self._passed, self._shown = 0.0, dt.datetime(2026, 11, 16, 9, tzinfo=dt.UTC).timestamp()
        self._sleepers: list[tuple[float, asyncio.Future[None]]] = []

    @property
    def passed(self) -> float:
        """Seconds since the beginning, whatever the clock shows."""
        return self._passed

    @property
    def sleepers(self) -> int:
        return sum(not future.done() for _, future in self._sleepers)

    def now(self) -> dt.datetime:
        return dt.datetime.fromtimestamp(self._shown, dt.UTC)

    def time(self) -> float:
        return self._shown

    async def sleep(self, seconds: float) -> None:
        future = asyncio.get_running_loop().create_future()
        self._sleepers.append((self._passed + seconds, future))
        await future

    def set(self, seconds: float) -> None:
        """Somebody sets the clock, forward or back."""
        self._shown += seconds

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        self._passed += seconds
        self._shown += seconds
        due = [future for until, future in self._sleepers if until <= self._passed]
        self._sleepers = [(until, future) for until, future in self._sleepers if until > self._passed]
        for future in due:
            if not future.done():
                future.set_result(None)


def within(work: Coroutine[Any, Any, T], seconds: float = 10) -> T:
    """Carries work out on an event loop of its own; what takes longer hangs."""
    return asyncio.run(asyncio.wait_for(work, seconds))


async def until(holds: Callable[[], object], seconds: float = 10) -> None:
    """Waits until something holds that others bring about."""
    async with asyncio.timeout(seconds):
        while not holds():  # noqa: ASYNC110  # whoever brings it about knows nothing of us
            await asyncio.sleep(0.001)


def statuses(outcome: Outcome) -> dict[str, str]:
    return {report.step: report.status for report in outcome.reports}


def kinds(journal: Journal, run: str) -> list[str]:
    return [recorded.kind for recorded in journal.read(run)]
