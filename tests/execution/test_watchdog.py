"""The watchdog: it says which tool keeps the event loop waiting, where, and what to do, once for each call."""

import asyncio
import logging
import threading
import time
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from chargehand import Chargehand, Plan, tool
from chargehand.catalog.tools import AnyTool
from chargehand.execution.calling import STOP, Threads, call
from chargehand.execution.watchdog import Watchdog

pytestmark = pytest.mark.slow

LOOK = 0.04  # seconds between two looks: what takes a second by default takes 0.16 s here


def watched(interval: float = LOOK) -> Threads:
    threads = Threads()
    threads.watchdog = Watchdog(interval)
    return threads


def reading(function: Callable[[], Coroutine[Any, Any, int]]) -> AnyTool:
    return tool(effect="read")(function)


async def blocking() -> int:
    time.sleep(0.5)  # noqa: ASYNC251
    return 1


async def patient() -> int:
    await asyncio.sleep(0.2)
    return 2


async def with_a_blocking_task() -> int:
    return await asyncio.create_task(blocking())


def call_all(*functions: Callable[[], Coroutine[Any, Any, int]], threads: Threads | None = None) -> list[int]:
    shared = threads or watched()

    async def calls() -> list[int]:
        return await asyncio.gather(*(call(reading(one), {}, shared, 10) for one in functions))

    return asyncio.run(calls())


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "chargehand.execution"]


def test_a_tool_that_blocks_is_named_with_its_line_and_what_to_do(caplog: pytest.LogCaptureFixture) -> None:
    assert call_all(blocking) == [1]

    [said] = warnings(caplog)
    line = blocking.__code__.co_firstlineno + 1
    assert "the tool 'blocking' has kept the event loop waiting" in said
    assert f"{__file__}:{line} (blocking)" in said
    assert "plain `def`" in said
    assert caplog.records[0].levelno == logging.WARNING


def test_others_that_are_under_way_are_not_blamed(caplog: pytest.LogCaptureFixture) -> None:
    assert call_all(patient, blocking, patient) == [2, 1, 2]

    [said] = warnings(caplog)
    assert "'blocking'" in said


def test_each_call_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    assert call_all(blocking, blocking) == [1, 1]

    assert len(warnings(caplog)) == 2


def test_a_task_that_a_tool_began_is_found_too(caplog: pytest.LogCaptureFixture) -> None:
    assert call_all(with_a_blocking_task) == [1]

    [said] = warnings(caplog)
    assert "while these tools were under way: with_a_blocking_task" in said
    assert "(blocking)" in said


def test_whoever_awaits_may_take_as_long_as_it_likes(caplog: pytest.LogCaptureFixture) -> None:
    async def long() -> int:
        await asyncio.sleep(0.3)
        return 3

    assert call_all(long, patient) == [3, 2]

    assert warnings(caplog) == []


def test_a_call_that_is_over_is_not_blamed(caplog: pytest.LogCaptureFixture) -> None:
    async def block_later() -> None:
        await call(reading(patient), {}, watched(), 10)
        time.sleep(0.5)  # noqa: ASYNC251

    asyncio.run(block_later())

    assert warnings(caplog) == []


def test_the_thread_ends_when_there_is_nothing_to_watch() -> None:
    def watching() -> int:
        return sum(thread.name == "chargehand-watchdog" for thread in threading.enumerate())

    before = watching()
    call_all(patient)
    began = time.monotonic()
    while watching() > before and time.monotonic() - began < 5:
        time.sleep(0.01)

    assert watching() <= before


def test_a_loop_that_was_closed_under_a_call_is_forgotten() -> None:
    threads = watched()
    loop = asyncio.new_event_loop()
    task = loop.create_task(call(reading(patient), {}, threads, 10))
    loop.run_until_complete(asyncio.sleep(0))
    task.cancel(STOP)
    with pytest.raises(asyncio.CancelledError):
        loop.run_until_complete(task)
    loop.close()

    assert call_all(patient, threads=threads) == [2]


def test_a_run_whose_tool_blocks_is_done_and_says_so(caplog: pytest.LogCaptureFixture) -> None:
    @tool(effect="read", egress=[])
    async def block() -> int:
        """Blocks."""
        time.sleep(1.7)  # noqa: ASYNC251
        return 1

    outcome = Chargehand(tools=[block]).run_sync(Plan.parse({"steps": [{"id": "a", "use": "block"}]}))

    assert outcome.status == "done"
    [said] = warnings(caplog)
    assert "the tool 'block' has kept the event loop waiting for more than 1.0 s" in said
