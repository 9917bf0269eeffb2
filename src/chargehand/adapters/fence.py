"""The rules of a run's head, once for every store: who may append, what a claim is, when a run may be parked."""

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Protocol

from chargehand.domain.records import (
    FINAL,
    GENESIS,
    Batch,
    Claim,
    Head,
    Message,
    Opening,
    Recorded,
    blobs_in,
    canonical,
    link,
)
from chargehand.errors import RunDriven, RunExists, RunLost, RunUnknown

MAX_BYTES = 256 * 1024 * 1024  # of one body or blob; SQLite ends at 1 GB, and one such commit holds up every run


class Pages(Protocol):
    """What the rules see of a store inside one transaction, with everything done in it so far."""

    def head(self, run: str) -> Head | None: ...

    def put_head(self, head: Head) -> None: ...

    def chain(self, run: str, seq: int) -> bytes | None:
        """The chain after an event that is recorded, if it is."""
        ...

    def add(self, run: str, events: list[Recorded], sealed: "Sealed") -> None: ...

    def mail(self, run: str) -> Iterable[int]:
        """The ids of the messages that wait."""
        ...

    def take(self, run: str, ids: Iterable[int]) -> None: ...

    def put_mail(self, run: str, at: float, by: str, kind: str, body: str) -> int: ...


@dataclass(frozen=True, slots=True)
class Sealed:
    """A batch that any store can hold, with the bytes that its chain will cover and the blobs that it keeps alive."""

    batch: Batch
    contents: list[bytes]
    needs: list[str]


def seal(run: str, batch: Batch) -> Sealed:
    """Raises ValueError here, in the caller, for what would otherwise spoil a commit shared with other runs."""
    if batch.first_seq < 1:
        raise ValueError(f"the events of run {run!r} begin at 1, not at {batch.first_seq}")
    contents = [canonical(run, batch.first_seq + place, entry) for place, entry in enumerate(batch.entries)]
    if any(len(content) > MAX_BYTES for content in (*contents, *batch.blobs.values())):
        raise ValueError(f"run {run!r} has a value of more than {MAX_BYTES:,} bytes, which no journal keeps")
    needs = list(batch.blobs)
    for entry in batch.entries:
        needs += blobs_in(entry.body)
    return Sealed(batch, contents, needs)


def seal_opening(opening: Opening) -> Opening:
    """Raises ValueError for a head that no store can hold."""
    for text in (opening.run, opening.goal, opening.parent or "", opening.origin, opening.tenant):
        text.encode()
    if not opening.run:
        raise ValueError("a run needs an id")
    if not math.isfinite(opening.at) or abs(opening.priority) >= 2**63:
        raise ValueError(f"the time or the priority of run {opening.run!r} is no number that can be kept")
    return opening


class Fence:
    """Who may append to which run. The first refusal of a claim is the last word on it."""

    def __init__(self, driver: str, alive: Callable[[str], bool]) -> None:
        self._driver = driver
        self._alive = alive
        self._lost: dict[tuple[str, int], str] = {}

    def check(self, claim: Claim) -> None:
        """Raises RunLost for a claim that was refused before."""
        reason = self._lost.get((claim.run, claim.epoch))
        if reason is not None:
            raise RunLost(claim.run, reason)

    def spoil(self, claim: Claim, reason: str) -> None:
        """Refuses everything that a claim will still append."""
        self._lost[claim.run, claim.epoch] = reason

    def create(self, pages: Pages, opening: Opening, sealed: Sealed) -> Claim:
        if pages.head(opening.run) is not None:
            raise RunExists(opening.run)
        head = _first_head(opening, self._driver)
        _write(pages, head, sealed)
        return _claim(pages, opening.run, self._driver)

    def claim(self, pages: Pages, run: str, take_over: bool) -> Claim:
        head = _known(pages, run)
        if head.driver is not None and not take_over and (head.driver == self._driver or self._alive(head.driver)):
            raise RunDriven(run, head.driver)
        pages.put_head(replace(head, epoch=head.epoch + 1, driver=self._driver))
        return _claim(pages, run, self._driver)

    def append(self, pages: Pages, claim: Claim, sealed: Sealed) -> None:
        self.check(claim)
        head = pages.head(claim.run)
        if head is not None and _written_before(pages, head, claim, sealed):
            return
        head = self._admit(pages, head, claim, sealed.batch)
        _write(pages, head, sealed)

    def park(self, pages: Pages, claim: Claim, sealed: Sealed) -> bool:
        self.check(claim)
        head = self._admit(pages, pages.head(claim.run), claim, sealed.batch)
        if set(pages.mail(claim.run)) - set(sealed.batch.consumed):
            return False
        _write(pages, replace(head, driver=None), sealed)
        return True

    def barrier(self, pages: Pages, claim: Claim, seq: int) -> None:
        self.check(claim)
        head = pages.head(claim.run)
        if head is None or head.epoch != claim.epoch:
            raise self._refuse(claim, _who_has_it(head))
        if head.seq < seq:
            raise ValueError(f"run {claim.run!r} ends at event {head.seq}: event {seq} was never appended")

    def release(self, pages: Pages, claim: Claim) -> None:
        head = pages.head(claim.run)
        if head is not None and head.epoch == claim.epoch and head.driver == claim.driver:
            pages.put_head(replace(head, driver=None))

    def _admit(self, pages: Pages, head: Head | None, claim: Claim, batch: Batch) -> Head:
        if head is None or head.epoch != claim.epoch:
            raise self._refuse(claim, _who_has_it(head))
        if head.driver != claim.driver:
            raise self._refuse(claim, "it was parked, finished or given back")
        if head.seq != batch.first_seq - 1:
            raise self._refuse(claim, f"it ends at event {head.seq}, so event {batch.first_seq} does not follow")
        if batch.consumed and not set(batch.consumed) <= set(pages.mail(claim.run)):
            raise self._refuse(claim, "a message was to be taken that is not in its inbox")
        return head

    def _refuse(self, claim: Claim, reason: str) -> RunLost:
        self.spoil(claim, reason)
        return RunLost(claim.run, reason)


def post(pages: Pages, message: Message) -> int:
    """Puts a message (its id is not looked at) into the inbox of a run that exists."""
    _known(pages, message.run)
    return pages.put_mail(message.run, message.at, message.by, message.kind, message.body)


def _write(pages: Pages, head: Head, sealed: Sealed) -> None:
    batch, run, chain = sealed.batch, head.run, head.chain
    events: list[Recorded] = []
    for seq, (entry, content) in enumerate(zip(batch.entries, sealed.contents, strict=True), batch.first_seq):
        chain = link(chain, content)
        events.append(Recorded(run, seq, float(entry.at), entry.by, entry.kind, entry.body, chain))
    pages.add(run, events, sealed)
    if batch.consumed:
        pages.take(run, batch.consumed)
    pages.put_head(_moved(head, batch, chain))


def _moved(head: Head, batch: Batch, chain: bytes) -> Head:
    changed = batch.entries[-1].at if batch.entries else head.changed
    head = head.moved(batch.last_seq, chain, changed)
    if batch.change is None:
        return head
    status, wake_at = batch.change.status, batch.change.wake_at
    return replace(head, status=status, wake_at=wake_at, driver=None if status in FINAL else head.driver)


def _written_before(pages: Pages, head: Head, claim: Claim, sealed: Sealed) -> bool:
    """A commit that reported an error may have reached the disk: the very same events again are no conflict."""
    batch = sealed.batch
    if head.epoch != claim.epoch or head.seq < batch.last_seq or not batch.entries:
        return False
    chain = GENESIS if batch.first_seq == 1 else pages.chain(claim.run, batch.first_seq - 1)
    for content in sealed.contents:
        chain = chain and link(chain, content)
    return chain is not None and chain == pages.chain(claim.run, batch.last_seq)


def _first_head(opening: Opening, driver: str) -> Head:
    return Head(
        run=opening.run,
        epoch=1,
        seq=0,
        chain=GENESIS,
        driver=driver,
        status=opening.status,
        wake_at=opening.wake_at,
        created=opening.at,
        changed=opening.at,
        parent=opening.parent,
        origin=opening.origin or opening.run,
        goal=opening.goal,
        tenant=opening.tenant,
        priority=opening.priority,
    )


def _claim(pages: Pages, run: str, driver: str) -> Claim:
    head = _known(pages, run)
    return Claim(run=run, epoch=head.epoch, seq=head.seq, chain=head.chain, driver=driver)


def _known(pages: Pages, run: str) -> Head:
    head = pages.head(run)
    if head is None:
        raise RunUnknown(run)
    return head


def _who_has_it(head: Head | None) -> str:
    if head is None:
        return "it is no longer in the journal"
    return f"{head.driver or 'another driver'} took it over (epoch {head.epoch})"
