"""The rules of a run's head, once for every store: who may append, what a claim is, when a run may be parked."""

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Protocol

from chargehand.adapters.sealing import Sealed
from chargehand.adapters.standing import Standing
from chargehand.domain.records import FINAL, GENESIS, Batch, Claim, Head, Letter, Message, Opening, link
from chargehand.errors import RunDriven, RunExists, RunLost, RunUnknown

# An event as stores keep it: run, seq, at, by, kind, body, chain. The fields of Recorded, without the cost of one.
Row = tuple[str, int, float, str, str, str, bytes]


class Pages(Protocol):
    """What the rules see of a store inside one transaction, with everything done in it so far."""

    def standing(self, run: str) -> Standing | None: ...

    def put(self, standing: Standing) -> None:
        """Keeps what has changed of a run."""
        ...

    def chain(self, run: str, seq: int) -> bytes | None:
        """The chain after an event that is recorded, if it is."""
        ...

    def add(self, standing: Standing, events: list[Row], sealed: Sealed) -> None:
        """Keeps the standing after more events, the events, their values and their actions."""
        ...

    def mail(self, run: str) -> Iterable[int]:
        """The ids of the messages that wait."""
        ...

    def take(self, run: str, ids: Iterable[int]) -> None: ...

    def put_mail(self, run: str, at: float, by: str, kind: str, body: str) -> int: ...


class Fence:
    """Who may append to which run. The first refusal of a claim is the last word on it."""

    def __init__(self, driver: str, alive: Callable[[str], bool]) -> None:
        self._driver = driver
        self._alive = alive
        self._lost: dict[tuple[str, int], str] = {}

    def check(self, claim: Claim) -> None:
        """Raises RunLost for a claim that was refused before."""
        if self._lost and (reason := self._lost.get((claim.run, claim.epoch))) is not None:
            raise RunLost(claim.run, reason)

    def spoil(self, claim: Claim, reason: str) -> None:
        """Refuses everything that a claim will still append."""
        self._lost[claim.run, claim.epoch] = reason

    def create(self, pages: Pages, opening: Opening, sealed: Sealed) -> Claim:
        if pages.standing(opening.run) is not None:
            raise RunExists(opening.run)
        standing = Standing(_first_head(opening, self._driver), turned=True)
        _write(pages, standing, sealed)
        return _claim(standing.now(), self._driver)

    def claim(self, pages: Pages, run: str, take_over: bool) -> Claim:
        standing = _known(pages, run)
        head = standing.now()
        driven = head.driver is not None and (head.driver == self._driver or self._alive(head.driver))
        if driven and not take_over:
            raise RunDriven(run, head.driver or "")
        standing.turn(replace(head, epoch=head.epoch + 1, driver=self._driver))
        pages.put(standing)
        return _claim(standing.head, self._driver, forced=driven)

    def append(self, pages: Pages, claim: Claim, sealed: Sealed) -> None:
        self.check(claim)
        standing, batch = pages.standing(claim.run), sealed.batch
        if standing is not None and standing.seq >= batch.first_seq and _written_before(pages, standing, claim, sealed):
            return
        _write(pages, self._admit(pages, standing, claim, batch), sealed)

    def park(self, pages: Pages, claim: Claim, sealed: Sealed) -> bool:
        self.check(claim)
        standing = self._admit(pages, pages.standing(claim.run), claim, sealed.batch)
        if set(pages.mail(claim.run)) - set(sealed.batch.consumed):
            return False
        standing.turn(replace(standing.now(), driver=None))
        _write(pages, standing, sealed)
        return True

    def barrier(self, pages: Pages, claim: Claim, seq: int) -> None:
        self.check(claim)
        standing = pages.standing(claim.run)
        if standing is None or standing.head.epoch != claim.epoch:
            raise self._refuse(claim, _who_has_it(standing))
        if standing.seq < seq:
            raise ValueError(f"run {claim.run!r} ends at event {standing.seq}: event {seq} was never appended")

    def release(self, pages: Pages, claim: Claim) -> None:
        standing = pages.standing(claim.run)
        if standing is not None and standing.head.epoch == claim.epoch and standing.head.driver == claim.driver:
            standing.turn(replace(standing.now(), driver=None))
            pages.put(standing)

    def _admit(self, pages: Pages, standing: Standing | None, claim: Claim, batch: Batch) -> Standing:
        if standing is None or standing.head.epoch != claim.epoch:
            raise self._refuse(claim, _who_has_it(standing))
        if standing.head.driver != claim.driver:
            raise self._refuse(claim, "it was parked, finished or given back")
        if standing.seq != batch.first_seq - 1:
            raise self._refuse(claim, f"it ends at event {standing.seq}, so event {batch.first_seq} does not follow")
        if batch.consumed and not set(batch.consumed) <= set(pages.mail(claim.run)):
            raise self._refuse(claim, "a message was to be taken that is not in its inbox")
        return standing

    def _refuse(self, claim: Claim, reason: str) -> RunLost:
        self.spoil(claim, reason)
        return RunLost(claim.run, reason)


def post(pages: Pages, letter: Letter | Message) -> int:
    """Puts mail into the inbox of a run that exists; it gets an id of its own."""
    _known(pages, letter.run)
    return pages.put_mail(letter.run, letter.at, letter.by, letter.kind, letter.body)


def _write(pages: Pages, standing: Standing, sealed: Sealed) -> None:
    batch, head, chain, seq = sealed.batch, standing.head, standing.chain, standing.seq
    run = head.run
    events: list[Row] = []
    for entry, content in zip(batch.entries, sealed.contents, strict=True):
        seq += 1
        chain = link(chain, content)
        standing.changed = float(entry.at)
        events.append((run, seq, standing.changed, entry.by, entry.kind, entry.body, chain))
    standing.seq, standing.chain = seq, chain
    if batch.change is not None:
        status, wake_at = batch.change.status, batch.change.wake_at
        driver = None if status in FINAL else head.driver
        standing.turn(replace(standing.now(), status=status, wake_at=wake_at, driver=driver))
    pages.add(standing, events, sealed)
    if batch.consumed:
        pages.take(run, batch.consumed)
    for letter in batch.letters:
        if pages.standing(letter.run) is not None:
            post(pages, letter)


def _written_before(pages: Pages, standing: Standing, claim: Claim, sealed: Sealed) -> bool:
    """A commit that reported an error may have reached the disk: the very same events again are no conflict."""
    batch = sealed.batch
    if standing.seq < batch.last_seq or standing.head.epoch != claim.epoch or not batch.entries:
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


def _claim(head: Head, driver: str, forced: bool = False) -> Claim:
    return Claim(run=head.run, epoch=head.epoch, seq=head.seq, chain=head.chain, driver=driver, forced=forced)


def _known(pages: Pages, run: str) -> Standing:
    standing = pages.standing(run)
    if standing is None:
        raise RunUnknown(run)
    return standing


def _who_has_it(standing: Standing | None) -> str:
    if standing is None:
        return "it is no longer in the journal"
    return f"{standing.head.driver or 'another driver'} took it over (epoch {standing.head.epoch})"
