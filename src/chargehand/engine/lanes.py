"""Lanes: the work of a run that is under way, in tasks. A task that is done with a call goes on with the next one."""

import asyncio
from collections.abc import Callable, Coroutine
from functools import partial
from typing import Any

from chargehand.domain.state import Job
from chargehand.execution.calling import STOP
from chargehand.ports import Clock

PARTING = 5.0  # seconds that a driver which is stopped waits for effects under way
STRETCH = 0.005  # seconds that one lane goes on without a pause; then it is the turn of others

Work = Coroutine[Any, Any, None]


class Lanes:
    """Starts and stops work. `go_on` is asked, when a call has come back, to start what can begin now."""

    def __init__(self, go_on: Callable[[], None], wake: Callable[[], None], clock: Clock) -> None:
        self._go_on, self._wake, self._clock = go_on, wake, clock
        self._tasks: dict[asyncio.Task[None], Job] = {}
        self._free = False
        self._next: tuple[Job, Work] | None = None
        self.broken: BaseException | None = None
        """RunLost, or a fault of our own: the driver raises it before its next turn."""

    def start(self, job: Job, work: Work, alone: bool = True) -> "asyncio.Task[None] | None":
        """Starts work for a job: in the lane that is just free, unless it wants one `alone`, which is given."""
        if self._free and not alone:
            self._free, self._next = False, (job, work)
            return None
        task = asyncio.ensure_future(self._run(work, alone))
        self._tasks[task] = job
        task.add_done_callback(partial(self._forget, work))
        return task

    async def stop(self, job: Job) -> None:
        """Ends the work for a job."""
        await self._cancel([task for task, other in self._tasks.items() if other.key == job.key])

    async def part(self) -> None:
        """Ends everything. Effects have a moment to come to their end: stopping them would leave them in doubt."""
        acting = await self._stop_others()
        if acting:
            patience = asyncio.ensure_future(self._clock.sleep(PARTING))
            ends = asyncio.gather(*acting, return_exceptions=True)
            await asyncio.wait([ends, patience], return_when=asyncio.FIRST_COMPLETED)
            patience.cancel()
        await self._cancel([*self._tasks])

    async def finish_effects(self) -> None:
        """Ends everything but effects, and waits for these."""
        await asyncio.gather(*await self._stop_others(), return_exceptions=True)

    async def _stop_others(self) -> "list[asyncio.Task[None]]":
        acting = [task for task, job in self._tasks.items() if job.status == "running" and job.deed is not None]
        await self._cancel([task for task in self._tasks if task not in acting])
        return acting

    async def _cancel(self, tasks: "list[asyncio.Task[None]]") -> None:
        for task in tasks:
            task.cancel(STOP)
        await asyncio.gather(*tasks, return_exceptions=True)

    def _forget(self, work: Work, task: "asyncio.Task[None]") -> None:
        self._tasks.pop(task, None)
        work.close()  # it never began, if its task was cancelled at once

    async def _run(self, work: Work, alone: bool) -> None:
        loop = asyncio.get_running_loop()
        until = loop.time() + STRETCH
        try:
            await work
            while not alone and loop.time() < until:
                follower = self._follower()
                if follower is None:
                    return
                await follower
        except asyncio.CancelledError:
            raise
        except BaseException as error:
            self.broken = self.broken or error
            self._wake()

    def _follower(self) -> Work | None:
        """What the task that runs now does next."""
        task = asyncio.current_task()
        assert task is not None
        self._free = True
        try:
            self._go_on()
        finally:
            self._free = False
        given, self._next = self._next, None
        if given is None:
            return None
        self._tasks[task], work = given
        return work
