"""Calling a tool in isolation: whatever it raises, blocks or leaks stays its own failure."""

import asyncio
import contextlib
import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any

from chargehand.catalog.tools import AnyTool
from chargehand.errors import NotPerformed

MAX_THREADS = 256  # calls of sync tools at once, those that never returned included

Work = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Threads:
    """Daemon threads for sync tools. One that never returns is written off; the process can always exit."""

    def __init__(self, most: int = MAX_THREADS) -> None:
        self._idle: list[SimpleQueue[Work]] = []
        self._count, self._most = 0, most
        self._lock = threading.Lock()

    def run(self, function: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Calls a function in a thread. Whoever stops waiting for the future leaves the thread behind."""
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            if self._idle:
                queue = self._idle.pop()
            elif self._count < self._most:
                queue = SimpleQueue[Work]()
                self._count += 1
                threading.Thread(target=self._serve, args=(queue,), daemon=True, name="chargehand-tool").start()
            else:
                hint = "Tools that never return hold them: give those a timeout of their own."
                raise NotPerformed(f"all {self._most} threads for tools are taken", hint=hint)
        queue.put((function, loop, future))
        return future

    def _serve(self, queue: SimpleQueue[Work]) -> None:
        while True:
            function, loop, future = queue.get()
            try:
                result, error = function(), None
            except BaseException as raised:
                result, error = None, raised
            with self._lock:
                self._idle.append(queue)
            with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
                loop.call_soon_threadsafe(_resolve, future, result, error)


def _resolve(future: "asyncio.Future[Any]", result: Any, error: BaseException | None) -> None:
    if future.done():
        return  # its deadline has passed
    if error is None:
        future.set_result(result)
    elif isinstance(error, StopIteration | asyncio.CancelledError):
        future.set_exception(RuntimeError(f"the tool raised {type(error).__name__}"))
    else:
        future.set_exception(error)


async def call(tool: AnyTool, arguments: Mapping[str, Any], threads: Threads, seconds: float | None) -> Any:
    """The raw result of a tool. Raises what the tool raises, or TimeoutError at the deadline."""
    async with asyncio.timeout(seconds):
        if tool.signature.is_async:
            return await tool.function(**arguments)
        return await threads.run(lambda: tool.function(**arguments))
