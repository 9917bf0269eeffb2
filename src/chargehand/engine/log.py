"""The log of one run: what happens is folded into the state at once, and journalled in order."""

import logging
from collections.abc import Callable, Iterable

from chargehand.domain.events import Event, RunEnded, decode_event, encode_event
from chargehand.domain.fold import fold
from chargehand.domain.records import Batch, Change, Claim, Entry, Letter, Recorded, RunStatus
from chargehand.domain.state import State
from chargehand.ports import Journal

ENGINE = "engine"  # who did what nobody else did

logger = logging.getLogger("chargehand.runs")

_LEVELS = {
    "run.started": logging.INFO,
    "run.ended": logging.INFO,
    "run.parked": logging.INFO,
    "run.resumed": logging.INFO,
    "plan.revised": logging.INFO,
    "approval.asked": logging.INFO,
    "call.doubted": logging.WARNING,
    "step.failed": logging.WARNING,
    "call.failed": logging.INFO,
    "step.held": logging.WARNING,
    "message.refused": logging.WARNING,
}


def restore(recorded: Iterable[Recorded], blob: Callable[[str], bytes]) -> State:
    """The state that recorded events add up to."""
    state = State()
    for one in recorded:
        fold(state, decode_event(one.kind, one.body, blob), one.at)
    return state


def entry(event: Event, at: float, by: str, blobs: dict[str, bytes]) -> Entry:
    """An event as it is journalled; the large values in it go into `blobs`."""
    body, large = encode_event(event)
    if large:
        blobs.update(large)
    return Entry(at, by, event.kind, body)


def tell(run: str, event: Event, by: str) -> None:
    """Logs an event, with the run and the step as fields of the record; values of tools are never logged."""
    level = _LEVELS.get(event.kind, logging.DEBUG)
    if not logger.isEnabledFor(level):
        return
    step, error = getattr(event, "step", None), getattr(event, "error", None)
    because = getattr(error, "message", None) or getattr(event, "because", None)
    where, why = f" step {step}" if step else "", f": {_inert(because)}" if because else ""
    extra = {"run": run, "event": event.kind, "step": step, "item": getattr(event, "item", None), "by": by}
    logger.log(level, "run %s%s %s%s", run, where, event.kind, why, extra=extra)


def _inert(text: str) -> str:
    """Text from outside on one line, so that nobody can forge a line of the log."""
    return "".join(letter if letter.isprintable() else " " for letter in text[:500])


class Log:
    """Records events. Nothing waits for the disk here, except a barrier."""

    def __init__(
        self, journal: Journal, claim: Claim, state: State, now: Callable[[], float], recorded: Callable[[], None]
    ) -> None:
        self._journal, self._claim, self._now, self._recorded = journal, claim, now, recorded
        self.state = state
        self._seq = claim.seq
        self._entries: list[Entry] = []
        self._blobs: dict[str, bytes] = {}
        self._consumed: list[int] = []

    def record(self, event: Event, by: str = ENGINE, consumed: int | None = None) -> None:
        """Takes an event into the state, and into the next batch with the message that it came from."""
        at = self._now()
        made = entry(event, at, by, self._blobs)
        fold(self.state, event, at)  # first: what cannot be folded must not be written
        self._entries.append(made)
        if consumed is not None:
            self._consumed.append(consumed)
        tell(self._claim.run, event, by)
        self._recorded()

    def flush(self, change: Change | None = None, letters: tuple[Letter, ...] = ()) -> None:
        """Queues what was recorded; returns at once."""
        if self._entries:
            self._journal.append(self._claim, self._batch(change, letters))

    async def barrier(self) -> None:
        """Returns when everything recorded so far is on disk. Raises RunLost if another driver has the run."""
        self.flush()
        await self._journal.barrier(self._claim, self._seq)

    async def end(self, event: RunEnded, letters: tuple[Letter, ...]) -> None:
        """Records the end of the run, on disk, and tells whoever waits for it; nobody drives it any more."""
        self.record(event)
        self.flush(Change(status=event.status), letters)
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
            tell(self._claim.run, event, ENGINE)
        return parked

    def _batch(self, change: Change | None, letters: tuple[Letter, ...]) -> Batch:
        batch = Batch(
            first_seq=self._seq + 1,
            entries=tuple(self._entries),
            blobs=self._blobs,
            consumed=tuple(self._consumed),
            change=change,
            letters=letters,
        )
        self._seq = batch.last_seq
        self._entries, self._blobs, self._consumed = [], {}, []
        return batch
