"""The log of one run: what happens is folded into the state at once, and journalled in order."""

from collections.abc import Callable, Iterable

from chargehand.domain.events import Event, RunEnded, decode_event, encode_event
from chargehand.domain.records import Batch, Change, Claim, Entry, Recorded, RunStatus
from chargehand.domain.state import State, fold
from chargehand.ports import Journal

ENGINE = "engine"  # who did what nobody else did


def restore(recorded: Iterable[Recorded], blob: Callable[[str], bytes]) -> State:
    """The state that recorded events add up to."""
    state = State()
    for one in recorded:
        fold(state, decode_event(one.kind, one.body, blob), one.at)
    return state


def entry(event: Event, at: float, by: str, blobs: dict[str, bytes]) -> Entry:
    """An event as it is journalled; the large values in it go into `blobs`."""
    body, large = encode_event(event)
    blobs.update(large)
    return Entry(at, by, event.kind, body)


class Log:
    """Records events. Nothing waits for the disk here, except a barrier."""

    def __init__(self, journal: Journal, claim: Claim, state: State, now: Callable[[], float]) -> None:
        self._journal, self._claim, self._now = journal, claim, now
        self.state = state
        self._seq = claim.seq
        self._entries: list[Entry] = []
        self._blobs: dict[str, bytes] = {}
        self._consumed: list[int] = []

    def record(self, event: Event, by: str = ENGINE, consumed: int | None = None) -> None:
        """Takes an event into the state, and into the next batch with the message that it came from."""
        at = self._now()
        self._entries.append(entry(event, at, by, self._blobs))
        if consumed is not None:
            self._consumed.append(consumed)
        fold(self.state, event, at)

    def flush(self, change: Change | None = None) -> None:
        """Queues what was recorded; returns at once."""
        if self._entries:
            self._journal.append(self._claim, self._batch(change))

    async def barrier(self) -> None:
        """Returns when everything recorded so far is on disk. Raises RunLost if another driver has the run."""
        self.flush()
        await self._journal.barrier(self._claim, self._seq)

    async def end(self, event: RunEnded) -> None:
        """Records the end of the run, on disk; nobody drives it any more."""
        self.record(event)
        self.flush(Change(status=event.status))
        await self._journal.barrier(self._claim, self._seq)

    async def park(self, event: Event, status: RunStatus, wake_at: float | None) -> bool:
        """Records that the run waits and gives it back; False, and nothing recorded, if there is mail to read."""
        self.flush()
        blobs: dict[str, bytes] = {}
        at = self._now()
        batch = Batch(
            first_seq=self._seq + 1,
            entries=(entry(event, at, ENGINE, blobs),),
            blobs=blobs,
            change=Change(status=status, wake_at=wake_at),
        )
        parked = await self._journal.park(self._claim, batch)
        if parked:
            self._seq += 1
            fold(self.state, event, at)
        return parked

    def _batch(self, change: Change | None) -> Batch:
        batch = Batch(
            first_seq=self._seq + 1,
            entries=tuple(self._entries),
            blobs=self._blobs,
            consumed=tuple(self._consumed),
            change=change,
        )
        self._seq = batch.last_seq
        self._entries, self._blobs, self._consumed = [], {}, []
        return batch
