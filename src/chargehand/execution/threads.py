"""Threads for tools that are not async."""

import asyncio
import contextlib
import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Any

from chargehand.errors import NotPerformed
from chargehand.execution.failures import as_failure
from chargehand.execution.watchdog import Watchdog

MAX_THREADS = 256  # calls of sync tools at once, those that never returned included

Work = tuple[Callable[[], Any], asyncio.AbstractEventLoop, "asyncio.Future[Any]"]


class Threads:
    """Daemon threads for sync tools. One that never returns is written off; the process can always exit.

    `watchdog` is the thread that watches over the async ones.
    """

    def __init__(self, most: int = MAX_THREADS) -> None:
        self._idle: list[SimpleQueue[Work]] = []
        self._count, self._most = 0, most
        self._lock = threading.Lock()
        self.watchdog = Watchdog()

    def run(self, function: Callable[[], Any]) -> "asyncio.Future[Any]":
        """Calls a function in a thread. Whoever stops waiting for the future leaves the thread behind.

        Raises NotPerformed if there is no thread.
        """
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Any] = loop.create_future()
        with self._lock:
            queue = self._idle.pop() if self._idle else self._start()
        queue.put((function, loop, future))
        return future

    def _start(self) -> SimpleQueue[Work]:
        if self._count >= self._most:
            hint = "Tools that never return hold them: give those a timeout of their own."
            raise NotPerformed(f"all {self._most} threads for tools are taken", hint=hint)
        queue = SimpleQueue[Work]()
        try:
            threading.Thread(target=self._serve, args=(queue,), daemon=True, name="chargehand-tool").start()
        except RuntimeError as error:  # the machine gives no more
            raise NotPerformed(f"there is no thread for the tool: {error}") from error
        self._count += 1
        return queue

    def _serve(self, queue: SimpleQueue[Work]) -> None:
        while True:
            self._work(queue)

    def _work(self, queue: SimpleQueue[Work]) -> None:
        function, loop, future = queue.get()
        try:
            result, error = function(), None
        except BaseException as raised:
            result, error = None, as_failure(raised)
        with self._lock:
            self._idle.append(queue)
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(_resolve, future, result, error)


def _resolve(future: "asyncio.Future[Any]", result: Any, error: Exception | None) -> None:
    if future.done():
        return  # its deadline has passed
    if error is None:
        future.set_result(result)
    else:
        future.set_exception(error)
