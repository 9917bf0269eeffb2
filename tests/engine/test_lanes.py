"""Lanes: tools are called one after another in one task, and notice nothing of each other."""

import asyncio
import time
from contextvars import ContextVar

from tests.engine.workbench import plan, step

from chargehand import Chargehand, tool

WHO: ContextVar[str] = ContextVar("who", default="nobody")


def test_what_a_tool_sets_in_its_context_is_not_seen_by_the_next_one() -> None:
    @tool(effect="read", egress=[])
    async def look(x: int) -> str:
        """Tells who was here, and signs."""
        before = WHO.get()
        WHO.set(f"look {x}")
        return before

    chain = plan(step("a", x=1), step("b", x=2, after=["a"]), step("c", x=3, after=["b"]), answer={"$": "[a, b, c]"})

    assert Chargehand(tools=[look]).run_sync(chain).answer == ["nobody", "nobody", "nobody"]


def test_a_long_chain_of_quick_tools_leaves_the_event_loop_to_others() -> None:
    @tool(effect="read", egress=[])
    async def work(x: int) -> int:
        """Computes for a while, without a pause."""
        until = time.monotonic() + 0.002
        while time.monotonic() < until:
            pass
        return x

    async def play() -> int:
        ticks = 0

        async def tick() -> None:
            nonlocal ticks
            while True:
                await asyncio.sleep(0)
                ticks += 1

        ticking = asyncio.ensure_future(tick())
        chain = plan(step("s0", "work"), *(step(f"s{n}", "work", f"s{n - 1}") for n in range(1, 100)))
        outcome = await Chargehand(tools=[work]).run(chain)
        ticking.cancel()
        assert outcome.status == "done"
        return ticks

    assert asyncio.run(play()) > 20


def test_a_run_that_is_stopped_begins_nothing_more() -> None:
    begun: list[int] = []
    acting = asyncio.Event()

    @tool(effect="write", egress=[])
    async def write(x: int) -> int:
        """Writes, slowly."""
        begun.append(x)
        acting.set()
        await asyncio.sleep(0.02)
        return x

    async def play() -> Chargehand:
        desk = Chargehand(tools=[write])
        running = asyncio.ensure_future(desk.run(plan(step("a", "write"), step("b", "write", "a + 1")), run_id="r"))
        await acting.wait()
        running.cancel()
        await asyncio.wait([running])
        return desk

    desk = asyncio.run(play())

    assert begun == [1]
    assert desk.show("r")["a"].status == "done"  # an effect that was under way came to its end
