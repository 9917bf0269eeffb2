"""Calling a tool in isolation: whatever it raises, blocks or leaks stays its own failure."""

import asyncio
import inspect
from collections.abc import Awaitable, Mapping
from typing import Any

from chargehand.catalog.tools import AnyTool
from chargehand.execution.containment import STOP, TIDYING, Contained
from chargehand.execution.failures import LeftBehind
from chargehand.execution.threads import Threads

__all__ = ["STOP", "Threads", "call"]


async def call(
    tool: AnyTool, arguments: Mapping[str, Any], threads: Threads, seconds: float | None, tidying: float = TIDYING
) -> Any:
    """The raw result of a tool. Raises an ordinary exception for whatever the tool does wrong.

    At the deadline, TimeoutError; an async tool is cancelled and may tidy up, and if it gives a result all the same,
    that counts. CancelledError means that the caller is being cancelled, and nothing else.
    """
    if tool.signature.is_async:
        return await Contained(tool.name, tool.function(**arguments), seconds, threads.watchdog, tidying).outcome()
    result = await _within(seconds, threads.run(lambda: tool.function(**arguments)))
    if inspect.isawaitable(result):  # a decorator hides that the function is async
        return await Contained(tool.name, _wait_for(result), seconds, threads.watchdog, tidying).outcome()
    return result


async def _within(seconds: float | None, future: "asyncio.Future[Any]") -> Any:
    if seconds is None:
        return await future
    timer = asyncio.get_running_loop().call_later(seconds, _expire, future, seconds)
    try:
        return await future
    finally:
        timer.cancel()


def _expire(future: "asyncio.Future[Any]", seconds: float) -> None:
    if not future.done():
        future.set_exception(LeftBehind(f"no result within {seconds:g} s"))


async def _wait_for(result: Awaitable[Any]) -> Any:
    return await result
