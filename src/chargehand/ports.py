"""Every seam to the outside, on one page."""

import datetime as dt
from collections.abc import AsyncGenerator, Callable, Collection
from typing import Protocol

from chargehand.domain.records import Batch, Claim, Head, Message, Opening, Problem, Pruned, Recorded, RunStatus


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> dt.datetime:
        """The present moment, with the zone in which words such as "Friday 5 p.m." are meant."""
        ...

    def time(self) -> float:
        """The present moment in seconds since 1970: what events are stamped with."""
        ...

    async def sleep(self, seconds: float) -> None:
        """Returns after some seconds of this clock."""
        ...


class Driving(Protocol):
    """What the driver of a run writes. One claim at a time can append to a run; an older one is refused for good.

    Disk trouble loses nothing: what was appended is kept and tried again by the next call, which raises
    JournalUnusable for as long as the trouble lasts.
    """

    async def create(self, opening: Opening, first: Batch) -> Claim:
        """Puts a new run and its first events on disk, and claims it. Raises RunExists."""
        ...

    async def claim(self, run: str, *, take_over: bool = False) -> Claim:
        """Takes a run that nobody alive drives; `take_over` takes it in any case, and the claim says if that was
        `forced`. Raises RunUnknown, RunDriven."""
        ...

    def append(self, claim: Claim, batch: Batch) -> None:
        """Queues events, in order, and returns at once; a later `barrier` says what became of them. They reach the disk
        within milliseconds, and at once if somebody waits for anything.

        Raises RunLost if the run is already known to be lost. A batch with a final status gives the run back.
        """
        ...

    async def barrier(self, claim: Claim, seq: int) -> None:
        """Returns when everything up to `seq` is on disk and the run is still this claim's; else raises RunLost."""
        ...

    async def park(self, claim: Claim, batch: Batch) -> bool:
        """Writes the batch and gives the run back, on disk, unless mail waits that the batch does not take.

        False means that nothing of the batch was written and the claim goes on: read the inbox first.
        """
        ...

    def release(self, claim: Claim) -> None:
        """Gives the run back after what was appended; returns at once. A claim that is over is left alone."""
        ...


class History(Protocol):
    """What everyone may read: only what is on disk."""

    def read(self, run: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        """The run's events after a place, in order. Raises RunUnknown."""
        ...

    def blob(self, hash: str) -> bytes:
        """A value by its sha256 (hex). Raises KeyError."""
        ...

    def head(self, run: str) -> Head:
        """Where a run stands. Raises RunUnknown."""
        ...

    def heads(
        self,
        *,
        status: Collection[RunStatus] | None = None,
        parent: str | None = None,
        tenant: str | None = None,
        origin: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> list[Head]:
        """Runs, the newest first; `before` is the last run of the page before."""
        ...

    def due(self, now: float) -> list[str]:
        """Runs that nobody alive drives: unfinished ones whose `wake_at` has come, and all whose mail waits (which may
        take up again one that has failed); the highest priority first."""
        ...

    def next_wake(self) -> float | None:
        """The earliest `wake_at` of unfinished runs that nobody alive drives."""
        ...

    def intents(self, origin: str, action: str, besides: str | None = None) -> list[tuple[str, int]]:
        """Run and place of every event that names an action (see `actions_in`), in a run and all its forks, but for
        the run `besides`; the oldest run first. Quick enough to ask before every effect."""
        ...

    def abandoned(self) -> list[str]:
        """Unfinished runs whose driver died."""
        ...

    def follow(self, run: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        """The run's events as they reach the disk, whoever writes them, until the run is over. Raises RunUnknown."""
        ...


class Inbox(Protocol):
    """Mail for whoever drives a run, now or later. A driver takes a message with the batch that journals it."""

    def post(self, run: str, *, at: float, by: str, kind: str, body: str) -> int:
        """Puts a message on disk (it blocks for one commit) and gives its id. Raises RunUnknown."""
        ...

    def inbox(self, run: str, after: int = 0) -> list[Message]:
        """The messages that wait, in order. A driver passes the last id that it took: a batch may still be queued."""
        ...

    def listen(self, run: str | None, wake: Callable[[], None]) -> Callable[[], None]:
        """Calls `wake`, on the running event loop, after mail for the run (None: for any) came from any process.

        Begin to listen before reading the inbox. Call what is returned to stop.
        """
        ...


class Archive(Protocol):
    """What an operator does with whole runs. All of it blocks."""

    def verify(self, run: str) -> list[Problem]:
        """Everything that shows that a run's record was changed or is not whole. Raises RunUnknown."""
        ...

    def export(self, run: str) -> bytes:
        """The run as one file: head, events, values, waiting mail."""
        ...

    def import_(self, file: bytes) -> str:
        """Takes in an exported run and gives its id. Raises RunExists, and JournalUnusable for a changed file."""
        ...

    def prune(self, before: float, status: Collection[RunStatus] | None = None) -> Pruned:
        """Deletes runs that ended (in one of these ways) and last changed before a time, and values nobody needs. A run
        goes together with its children and forks: none of them if one must stay."""
        ...


class Journal(Driving, History, Inbox, Archive, Protocol):
    """The ordered events of every run: the only truth."""

    @property
    def driver(self) -> str:
        """The name under which this journal claims runs; it counts as alive until `close` or the process's end."""
        ...

    def flush(self) -> None:
        """Blocks until everything appended so far is on disk. Raises JournalUnusable."""
        ...

    def close(self) -> None:
        """Writes what is queued and lets go. Raises JournalUnusable if something could not be written."""
        ...
