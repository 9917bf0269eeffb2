"""Containment: a coroutine that ends when its time has passed, whether it wants to or not."""

import asyncio
import contextlib
from collections.abc import Coroutine, Generator
from contextvars import copy_context
from types import coroutine
from typing import Any

from chargehand.execution.failures import as_failure
from chargehand.execution.watchdog import Watchdog

STOP = "chargehand: stop"  # the message with which the engine cancels the task of a call
SHUTTING_DOWN = 0.05  # seconds in which an event loop that ends has told everyone so
TIDYING = 5.0  # seconds in which a tool that was cancelled may close what it opened; then it is left where it stands


class Contained:
    """A tool's coroutine, under way in the task of its call. Whatever it raises, cancels or ignores stays inside."""

    def __init__(
        self, tool: str, work: Coroutine[Any, Any, Any], seconds: float | None, watchdog: Watchdog, tidying: float
    ) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._task, self._loop = task, task.get_loop()
        self._work, self._seconds, self._tidying = work, seconds, tidying
        self._watchdog, self._watched = watchdog, watchdog.watch(tool, work)
        self._expired = self._stopped = self._left = False
        self._timer = self._loop.call_later(seconds, self._expire) if seconds is not None else None

    async def outcome(self) -> Any:
        """What it gave, or an exception; CancelledError only if the task is stopped with `cancel(STOP)`, once it has
        tidied up. A task that is cancelled in another way was cancelled by the tool itself, or with its event loop."""
        work = self._work
        del self._work
        try:
            result, error = await self._steps(work)
        finally:
            self._set_timer(None)
            self._watchdog.done(self._watched)
        if error is None:
            return result
        if self._stopped:
            raise asyncio.CancelledError(STOP)
        while self._task.cancelling():
            self._task.uncancel()
        if self._expired:
            raise TimeoutError(f"no result within {self._seconds:g} s")
        if isinstance(error, asyncio.CancelledError):
            await asyncio.sleep(SHUTTING_DOWN)  # if it is the event loop that ends, we are stopped meanwhile
        raise as_failure(error)

    def _expire(self) -> None:
        self._expired = True
        self._task.cancel()
        self._set_timer(self._loop.call_later(self._tidying, self._leave))

    def _leave(self) -> None:
        self._left = True
        self._task.cancel()

    def _set_timer(self, timer: asyncio.TimerHandle | None) -> None:
        if self._timer is not None:
            self._timer.cancel()
        self._timer = timer

    @coroutine
    def _steps(self, work: Coroutine[Any, Any, Any]) -> Generator[Any, None, tuple[Any, BaseException | None]]:
        """What `await work` gives or raises; but it can be left, and the watchdog sees when it is its turn."""
        pulse, run = self._watched.pulse, copy_context().run  # what it sets there stays its own
        thrown: BaseException | None = None
        while True:
            before, pulse.now = pulse.now, self._watched
            try:
                awaited = run(work.send, None) if thrown is None else run(work.throw, thrown)
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
                if error.args == (STOP,) and not self._stopped:
                    self._stopped = True
                    self._set_timer(self._loop.call_later(self._tidying, self._leave))
                if self._left:
                    _close(work)
                    del work, thrown  # what ignores even this ends with its last reference: now, while there is a loop
                    return None, asyncio.CancelledError()
                thrown = error


def _close(work: Coroutine[Any, Any, Any]) -> None:
    with contextlib.suppress(BaseException):
        work.close()
