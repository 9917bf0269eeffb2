"""A workbench for tests of running: tools that count their calls, and a desk that keeps time with a fake clock."""

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from chargehand import Chargehand, Plan, tool
from chargehand.catalog.tools import AnyTool
from chargehand.testing.clock import FakeClock


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

    def desk(self, journal: str = ":memory:", **options: Any) -> Chargehand:
        return Chargehand(tools=self.tools(), journal=journal, clock=self.clock, **options)


def step(id: str, use: str = "look", x: object = 1, **fields: object) -> dict[str, object]:
    """A step that gives its tool one number, or the value of an expression."""
    return {"id": id, "use": use, "with": {"x": {"$": x} if isinstance(x, str) else x}, **fields}


def plan(*steps: dict[str, object], **fields: object) -> Plan:
    return Plan.parse({"steps": list(steps), **fields})


def sqlite(folder: Path) -> str:
    return f"sqlite:///{folder / 'journal.db'}"
