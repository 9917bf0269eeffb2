"""Containment: a coroutine in a task of its own, which ends when its time has passed, whether it wants to or not."""

import asyncio
import contextlib
from collections.abc import Coroutine, Generator
from types import coroutine
from typing import Any

from chargehand.execution.failures import as_failure
from chargehand.execution.watchdog import Watchdog

TIDYING = 5.0  # seconds in which a tool that was cancelled may close what it opened; then it is left where it stands


class Contained:
    """A tool's coroutine, under way. Whatever it raises, cancels or ignores stays inside."""

    def __init__(
        self, tool: str, work: Coroutine[Any, Any, Any], seconds: float | None, watchdog: Watchdog, tidying: float
    ) -> None:
        self._loop = asyncio.get_running_loop()
        self._seconds, self._tidying = seconds, tidying
        self._watchdog, self._watched = watchdog, watchdog.watch(tool, work)
        self._expired = self._left = False
        self._outcome: asyncio.Future[Any] = self._loop.create_future()
        self._task = self._loop.create_task(self._run(work), name=f"chargehand: {tool}")
        self._timer = self._loop.call_later(seconds, self._expire) if seconds is not None else None

    async def outcome(self) -> Any:
        """What it gave, or an exception; CancelledError only if the caller is cancelled, after it has tidied up."""
        try:
            return await self._outcome
        except asyncio.CancelledError:
            self._stop()
            await asyncio.wait((self._task,))
            raise

    def _expire(self) -> None:
        self._expired = True
        self._stop()

    def _stop(self) -> None:
        self._task.cancel()
        self._set_timer(self._loop.call_later(self._tidying, self._leave))

    def _leave(self) -> None:
        self._left = True
        self._task.cancel()

    def _set_timer(self, timer: asyncio.TimerHandle | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer

    async def _run(self, work: Coroutine[Any, Any, Any]) -> None:
        try:
            result, error = await self._steps(work)
        finally:
            self._set_timer(None)
            self._watchdog.done(self._watched)
        if self._outcome.done():
            return
        if error is None:
            self._outcome.set_result(result)
        elif self._expired:
            self._outcome.set_exception(TimeoutError(f"no result within {self._seconds:g} s"))
        else:
            self._outcome.set_exception(as_failure(error))

    @coroutine
    def _steps(self, work: Coroutine[Any, Any, Any]) -> Generator[Any, None, tuple[Any, BaseException | None]]:
        """What `await work` gives or raises; but it can be left, and the watchdog sees when it is its turn."""
        pulse = self._watched.pulse
        thrown: BaseException | None = None
        while True:
            before, pulse.now = pulse.now, self._watched
            try:
                awaited = work.send(None) if thrown is None else work.throw(thrown)
            except StopIteration as stop:
                return stop.value, None
            except BaseException as error:
                return None, error
            finally:
                pulse.now = before
            try:
                yield awaited
                thrown = None
            except GeneratorExit:  # the event loop is no more
                _close(work)
                raise
            except BaseException as error:
                if self._left:
                    _close(work)
                    del work, thrown  # what ignores even this ends with its last reference: now, while there is a loop
                    return None, asyncio.CancelledError()
                thrown = error


def _close(work: Coroutine[Any, Any, Any]) -> None:
    with contextlib.suppress(BaseException):
        work.close()
