"""The journal that keeps nothing: the same rules, in the memory of one process."""

import uuid
from collections.abc import AsyncGenerator, Callable, Collection

from chargehand.adapters.audit import audit
from chargehand.adapters.bells import follow
from chargehand.adapters.export import Exported, needed_blobs, read_export, take_in, write_export
from chargehand.adapters.fence import Fence, post
from chargehand.adapters.memory_store import MemoryStore
from chargehand.adapters.sealing import seal, seal_letter, seal_opening
from chargehand.domain.records import (
    FINAL,
    Batch,
    Claim,
    Head,
    Letter,
    Message,
    Opening,
    Problem,
    Pruned,
    Recorded,
    RunStatus,
)
from chargehand.errors import JournalUnusable, RunLost, RunUnknown

__all__ = ["MemoryJournal", "MemoryStore"]


class MemoryJournal:
    """A journal that is gone with its process. Journals on one store see the same runs, each as a driver of its own."""

    def __init__(self, store: MemoryStore | None = None) -> None:
        self._store = store or MemoryStore()
        self._driver = f"memory-{uuid.uuid4().hex[:12]}"
        self._store.living.add(self._driver)
        self._fence = Fence(self._driver, self._store.living.__contains__)

    @property
    def driver(self) -> str:
        return self._driver

    # driving

    async def create(self, opening: Opening, first: Batch) -> Claim:
        seal_opening(opening)
        sealed = seal(opening.run, first)
        with self._opened() as store:
            return self._fence.create(store, opening, sealed)

    async def claim(self, run: str, *, take_over: bool = False) -> Claim:
        with self._opened() as store:
            return self._fence.claim(store, run, take_over)

    def append(self, claim: Claim, batch: Batch) -> None:
        self._fence.check(claim)
        sealed = seal(claim.run, batch)
        with self._opened() as store:
            try:
                self._fence.append(store, claim, sealed)
            except RunLost:
                return  # the barrier will say so

    async def barrier(self, claim: Claim, seq: int) -> None:
        with self._opened() as store:
            self._fence.barrier(store, claim, seq)

    async def park(self, claim: Claim, batch: Batch) -> bool:
        sealed = seal(claim.run, batch)
        with self._opened() as store:
            return self._fence.park(store, claim, sealed)

    def release(self, claim: Claim) -> None:
        with self._opened() as store:
            self._fence.release(store, claim)

    # history

    def read(self, run: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        self.head(run)
        with self._store as store:
            rows = store.events.get(run, [])[after : None if limit is None else after + limit]
        return [Recorded(*row) for row in rows]

    def blob(self, hash: str) -> bytes:
        return self._store.blobs[hash]

    def head(self, run: str) -> Head:
        with self._store as store:
            standing = store.standing(run)
            if standing is None:
                raise RunUnknown(run)
            return standing.now()

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
        heads = self._all_heads()
        last = next((head for head in heads if head.run == before), None)
        if before is not None and last is None:
            return []
        found = [
            head
            for head in heads
            if (status is None or head.status in status)
            and (parent is None or head.parent == parent)
            and (tenant is None or head.tenant == tenant)
            and (origin is None or head.origin == origin)
            and (last is None or _age(head) < _age(last))
        ]
        return sorted(found, key=_age, reverse=True)[:limit]

    def due(self, now: float) -> list[str]:
        waiting = [head for head in self._all_heads() if not self._driven(head)]
        due = [head for head in waiting if _has_come(head, now) or self._store.inboxes.get(head.run)]
        due.sort(key=lambda head: (-head.priority, head.changed if head.wake_at is None else head.wake_at, head.run))
        return [head.run for head in due]

    def next_wake(self) -> float | None:
        with self._store as store:
            heads = ((wake_at, store.standings[run].head) for wake_at, run in store.alarms)
            return next((wake_at for wake_at, head in heads if not head.final and not self._driven(head)), None)

    def intents(self, origin: str, action: str, besides: str | None = None) -> list[tuple[str, int]]:
        with self._store as store:
            found = store.intents.get((origin, action), {})
            runs = sorted((run for run in found if run != besides), key=lambda run: _age(store.standings[run].head))
            return [(run, seq) for run in runs for seq in found[run]]

    def abandoned(self) -> list[str]:
        left = [head for head in self._all_heads() if not head.final and head.driver and not self._driven(head)]
        return [head.run for head in sorted(left, key=_age)]

    def follow(self, run: str, after: int = 0) -> AsyncGenerator[Recorded, None]:
        return follow(self, self._store.bells, run, after)

    # inbox

    def post(self, run: str, *, at: float, by: str, kind: str, body: str) -> int:
        letter = seal_letter(Letter(run, at, by, kind, body))
        with self._opened() as store:
            return post(store, letter)

    def inbox(self, run: str, after: int = 0) -> list[Message]:
        with self._store as store:
            return [message for id, message in store.inboxes.get(run, {}).items() if id > after]

    def listen(self, run: str | None, wake: Callable[[], None]) -> Callable[[], None]:
        return self._store.bells.subscribe(("mail", run), wake)

    # archive

    def verify(self, run: str) -> list[Problem]:
        with self._store as store:
            return audit(self.head(run), self.read(run), store.blobs.get)

    def export(self, run: str) -> bytes:
        with self._store as store:
            events = self.read(run)
            blobs = {hash: store.blobs[hash] for hash in needed_blobs(events) if hash in store.blobs}
            return write_export(Exported(self.head(run), events, blobs, self.inbox(run)))

    def import_(self, file: bytes) -> str:
        exported = read_export(file)
        with self._opened() as store:
            return take_in(store, exported)

    def prune(self, before: float, status: Collection[RunStatus] | None = None) -> Pruned:
        ended = FINAL if status is None else FINAL.intersection(status)
        with self._opened() as store:
            heads = self._all_heads()
            stay = [head for head in heads if head.status not in ended or head.driver or head.changed >= before]
            kept = {head.origin for head in stay}
            old = [head.run for head in heads if head.origin not in kept]
            events = sum([store.remove(run) for run in old])
            return Pruned(runs=len(old), events=events, blobs=store.remove_unused_blobs())

    # the end

    def flush(self) -> None:
        with self._opened():
            pass

    def close(self) -> None:
        self._store.living.discard(self._driver)

    def _opened(self) -> MemoryStore:
        if self._driver not in self._store.living:
            raise JournalUnusable("the journal cannot be used: it was closed", hint="Make another one.")
        return self._store

    def _all_heads(self) -> list[Head]:
        with self._store as store:
            return [standing.now() for standing in store.standings.values()]

    def _driven(self, head: Head) -> bool:
        return head.driver in self._store.living


def _age(head: Head) -> tuple[float, str]:
    return head.created, head.run


def _has_come(head: Head, now: float) -> bool:
    return not head.final and head.wake_at is not None and head.wake_at <= now
