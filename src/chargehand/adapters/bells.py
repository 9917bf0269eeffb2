"""Who wants to know when something reaches the disk, and the following of a run."""

import asyncio
import threading
from collections import defaultdict
from collections.abc import AsyncGenerator, Callable, Iterable
from itertools import count
from typing import Literal, Protocol, TypeVar

from chargehand.domain.records import Head, Recorded

# What happened, to which run; mail for None is mail for any run.
Topic = tuple[Literal["events", "mail"], str | None]
Wake = Callable[[], None]
T = TypeVar("T")

PAGE = 1_000  # events read at once while following: a few milliseconds of the event loop


class Bells:
    """Wakes listeners on their own event loops. Safe from any thread."""

    def __init__(self, on_first: Wake | None = None) -> None:
        """`on_first` is called when somebody begins to listen and nobody did."""
        self._lock = threading.Lock()
        self._numbers = count()
        self._listeners: dict[Topic, dict[int, tuple[asyncio.AbstractEventLoop, Wake]]] = {}
        self._on_first = on_first

    def __bool__(self) -> bool:
        return bool(self._listeners)

    def subscribe(self, topic: Topic, wake: Wake) -> Wake:
        """Calls `wake` on the running loop whenever the topic rings, until what is returned is called."""
        number, loop = next(self._numbers), asyncio.get_running_loop()
        with self._lock:
            first = not self._listeners
            self._listeners.setdefault(topic, {})[number] = (loop, wake)
        if first and self._on_first is not None:
            self._on_first()
        return lambda: self._unsubscribe(topic, number)

    def _unsubscribe(self, topic: Topic, number: int) -> None:
        with self._lock:
            listeners = self._listeners.get(topic, {})
            listeners.pop(number, None)
            if not listeners:
                self._listeners.pop(topic, None)

    def topics(self, kind: Literal["events", "mail"]) -> list[Topic]:
        """What is being listened for."""
        with self._lock:
            return [topic for topic in self._listeners if topic[0] == kind]

    def ring(self, topics: Iterable[Topic]) -> None:
        heard = [topic for topic in topics if topic in self._listeners] if self._listeners else []
        if not heard:
            return
        loops: dict[asyncio.AbstractEventLoop, list[Wake]] = defaultdict(list)
        with self._lock:
            for topic in heard:
                for loop, wake in self._listeners.get(topic, {}).values():
                    loops[loop].append(wake)
        for loop, wakes in loops.items():
            call_on(loop, _call_all, wakes)


def call_on(loop: asyncio.AbstractEventLoop, work: Callable[[T], None], subject: T) -> None:
    """Does work on a loop, from any thread; a loop that is closed needs none."""
    try:
        loop.call_soon_threadsafe(work, subject)
    except RuntimeError:
        if not loop.is_closed():
            raise


def _call_all(wakes: list[Wake]) -> None:
    for wake in wakes:
        wake()


class Readable(Protocol):
    def head(self, run: str) -> Head: ...

    def read(self, run: str, after: int = 0, limit: int | None = None) -> list[Recorded]: ...


async def follow(journal: Readable, bells: Bells, run: str, after: int) -> AsyncGenerator[Recorded, None]:
    """Every event after a place as it is committed, until the run is over."""
    changed = asyncio.Event()
    stop = bells.subscribe(("events", run), changed.set)
    try:
        while True:
            changed.clear()
            head = journal.head(run)  # before the events, so that a final head vouches for all of them
            for event in journal.read(run, after, PAGE):
                after = event.seq
                yield event
            if after >= head.seq:
                if head.final:
                    return
                await changed.wait()
    finally:
        stop()
