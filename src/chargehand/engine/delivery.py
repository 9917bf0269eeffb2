"""Delivery inside one process: runs are driven in the background, and those that wait are woken in time."""

import asyncio
import contextlib
import logging
from collections import deque
from collections.abc import Awaitable, Callable
from typing import Any

from chargehand.domain.work import Outcome
from chargehand.engine.workshop import Workshop
from chargehand.errors import RunLost

MAX_DRIVEN = 1_000  # runs at once; more wait in line, so that none of them starves
LONGEST_SLEEP = 60.0  # seconds without a look at the journal: what another machine wrote is found then at the latest
LONGEST_PAUSE = 60.0  # seconds before a run whose driving failed (a full disk, say) is tried again

LOOK_AGAIN = 1.0  # seconds before a look at the journal that failed is tried again

logger = logging.getLogger("chargehand.delivery")

Drive = Callable[[], Awaitable[Outcome]]


class Delivery:
    """Some task of this process will try to drive each run that is submitted or due."""

    def __init__(self, shop: Workshop, resume: Callable[[str], Awaitable[Outcome]], most: int = MAX_DRIVEN) -> None:
        self._shop, self._resume, self._most = shop, resume, most
        self._line: deque[tuple[str, Drive]] = deque()
        self._known: set[str] = set()
        self._again: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._watch: asyncio.Task[None] | None = None
        self._driving = 0

    def open(self) -> None:
        """Begins to look after the runs of the journal; those whose driver died come first."""
        if self._watch is None or self._watch.done():
            self._watch = asyncio.ensure_future(self._look_after())

    def notice(self, run: str) -> None:
        """A run was told something. From any thread, and without an event loop: then nobody is at work here."""
        watch = self._watch
        if watch is not None and not watch.done():
            with contextlib.suppress(RuntimeError):  # the loop is closed
                watch.get_loop().call_soon_threadsafe(self.submit, run)

    def submit(self, run: str, drive: Drive | None = None) -> None:
        """Sees to it that a run is driven, now or when there is room."""
        if run in self._known:
            self._again.add(run)  # it may be about to be given back
            return
        self._known.add(run)
        self._line.append((run, drive or self._resuming(run)))
        self._fill()

    async def close(self) -> None:
        """Stops driving. Nothing is lost: whoever resumes the runs goes on where they stand."""
        tasks = [*self._tasks, *([self._watch] if self._watch else [])]
        self._watch = None
        self._line.clear()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    def _fill(self) -> None:
        while self._line and self._driving < self._most:
            run, drive = self._line.popleft()
            self._driving += 1
            task = asyncio.ensure_future(self._drive(run, drive))
            self._tasks.add(task)
            task.add_done_callback(self._tasks.discard)

    async def _drive(self, run: str, drive: Drive) -> None:
        pause = 1.0
        try:
            while True:
                try:
                    await drive()
                    return
                except RunLost as lost:
                    logger.info("run %s is driven by another: %s", run, lost.reason, extra={"run": run})
                    return
                except Exception:
                    logger.exception("run %s could not go on; again in %g s", run, pause, extra={"run": run})
                await self._shop.clock.sleep(pause)
                pause = min(pause * 2, LONGEST_PAUSE)
                drive = self._resuming(run)
        finally:
            self._known.discard(run)
            self._driving -= 1
            self._fill()
            if run in self._again and self._watch is not None:
                self._again.discard(run)
                self.submit(run)

    def _resuming(self, run: str) -> Drive:
        return lambda: self._resume(run)

    async def _look_after(self) -> None:
        mail = asyncio.Event()
        stop_listening = self._shop.journal.listen(None, mail.set)
        try:
            next_search = 0.0
            while True:
                mail.clear()
                try:
                    if asyncio.get_running_loop().time() >= next_search:
                        self._adopt()
                        next_search = asyncio.get_running_loop().time() + LONGEST_SLEEP
                    for run in self._shop.journal.due(self._shop.now()):
                        self.submit(run)
                    wake_at = self._shop.journal.next_wake()
                except Exception:
                    logger.exception("the runs that wait could not be looked after; again in %g s", LOOK_AGAIN)
                    await self._shop.clock.sleep(LOOK_AGAIN)
                else:
                    await self._sleep(mail, wake_at)
        finally:
            stop_listening()

    def _adopt(self) -> None:
        """Runs that were left behind: their driver died, or gave them up in the middle."""
        left = [head.run for head in self._shop.journal.heads(status=["running"]) if head.driver is None]
        for run in (*self._shop.journal.abandoned(), *left):
            self.submit(run)

    async def _sleep(self, mail: asyncio.Event, wake_at: float | None) -> None:
        """Until there is mail for some run, or the next one is to be woken."""
        waits: list[asyncio.Future[Any]] = [asyncio.ensure_future(mail.wait())]
        if wake_at is not None:
            seconds = min(max(wake_at - self._shop.now(), 0.01), LONGEST_SLEEP)
            waits.append(asyncio.ensure_future(self._shop.clock.sleep(seconds)))
        try:
            await asyncio.wait(waits, timeout=LONGEST_SLEEP, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for one in waits:
                one.cancel()
            await asyncio.gather(*waits, return_exceptions=True)
