"""The journal that keeps nothing: the same rules, in the memory of one process."""

import threading
import uuid
from collections.abc import AsyncIterator, Callable, Collection, Generator, Iterable
from contextlib import contextmanager, suppress
from itertools import count

from chargehand.adapters.audit import audit
from chargehand.adapters.bells import Bells, Topic, follow
from chargehand.adapters.export import Exported, needed_blobs, read_export, write_export
from chargehand.adapters.fence import Fence, Sealed, post, seal, seal_opening
from chargehand.domain.records import (
    FINAL,
    Batch,
    Claim,
    Head,
    Message,
    Opening,
    Problem,
    Pruned,
    Recorded,
    RunStatus,
)
from chargehand.errors import JournalUnusable, RunExists, RunLost, RunUnknown


class MemoryStore:
    """What memory journals share: the pages that the fence works on. Whoever touches it holds `lock`."""

    def __init__(self) -> None:
        self.lock = threading.RLock()
        self.bells = Bells()
        self.living: set[str] = set()
        self.heads: dict[str, Head] = {}
        self.events: dict[str, list[Recorded]] = {}
        self.blobs: dict[str, bytes] = {}
        self.uses: dict[str, set[str]] = {}
        self.letters: dict[str, dict[int, Message]] = {}
        self._ids = count(1)

    def head(self, run: str) -> Head | None:
        return self.heads.get(run)

    def put_head(self, head: Head) -> None:
        self.heads[head.run] = head
        self.bells.ring([("events", head.run)])

    def chain(self, run: str, seq: int) -> bytes | None:
        events = self.events.get(run, [])
        return events[seq - 1].chain if 0 < seq <= len(events) else None

    def add(self, run: str, events: list[Recorded], sealed: Sealed) -> None:
        self.events.setdefault(run, []).extend(events)
        if sealed.needs:
            self.uses.setdefault(run, set()).update(sealed.needs)
            self.blobs |= {hash: body for hash, body in sealed.batch.blobs.items() if hash not in self.blobs}

    def mail(self, run: str) -> Iterable[int]:
        return list(self.letters.get(run, ()))

    def take(self, run: str, ids: Iterable[int]) -> None:
        for id in ids:
            del self.letters[run][id]

    def put_mail(self, run: str, at: float, by: str, kind: str, body: str) -> int:
        id = next(self._ids)
        self.letters.setdefault(run, {})[id] = Message(id, run, at, by, kind, body)
        topics: list[Topic] = [("mail", run), ("mail", None)]
        self.bells.ring(topics)
        return id

    def remove(self, run: str) -> int:
        """Takes a run away and gives the number of its events."""
        del self.heads[run]
        for kept in (self.letters, self.uses):
            kept.pop(run, None)
        return len(self.events.pop(run, []))

    def remove_unused_blobs(self) -> int:
        unused = set(self.blobs).difference(*self.uses.values())
        for hash in unused:
            del self.blobs[hash]
        return len(unused)


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
        with self._open() as store:
            return self._fence.create(store, opening, sealed)

    async def claim(self, run: str, *, take_over: bool = False) -> Claim:
        with self._open() as store:
            return self._fence.claim(store, run, take_over)

    def append(self, claim: Claim, batch: Batch) -> None:
        sealed = seal(claim.run, batch)
        self._fence.check(claim)
        with self._open() as store, suppress(RunLost):  # the barrier will say so
            self._fence.append(store, claim, sealed)

    async def barrier(self, claim: Claim, seq: int) -> None:
        with self._open() as store:
            self._fence.barrier(store, claim, seq)

    async def park(self, claim: Claim, batch: Batch) -> bool:
        sealed = seal(claim.run, batch)
        with self._open() as store:
            return self._fence.park(store, claim, sealed)

    def release(self, claim: Claim) -> None:
        with self._open() as store:
            self._fence.release(store, claim)

    # history

    def read(self, run: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        self.head(run)
        with self._store.lock:
            return self._store.events.get(run, [])[after : None if limit is None else after + limit]

    def blob(self, hash: str) -> bytes:
        return self._store.blobs[hash]

    def head(self, run: str) -> Head:
        head = self._store.head(run)
        if head is None:
            raise RunUnknown(run)
        return head

    def heads(
        self,
        *,
        status: Collection[RunStatus] | None = None,
        parent: str | None = None,
        tenant: str | None = None,
        before: str | None = None,
        limit: int | None = None,
    ) -> list[Head]:
        last = self._store.head(before) if before is not None else None
        if before is not None and last is None:
            return []
        found = [
            head
            for head in self._all_heads()
            if (status is None or head.status in status)
            and (parent is None or head.parent == parent)
            and (tenant is None or head.tenant == tenant)
            and (last is None or _age(head) < _age(last))
        ]
        return sorted(found, key=_age, reverse=True)[:limit]

    def due(self, now: float) -> list[str]:
        waiting = [head for head in self._all_heads() if not head.final and not self._driven(head)]
        due = [head for head in waiting if _has_come(head, now) or self._store.letters.get(head.run)]
        due.sort(key=lambda head: (-head.priority, head.changed if head.wake_at is None else head.wake_at, head.run))
        return [head.run for head in due]

    def abandoned(self) -> list[str]:
        left = [head for head in self._all_heads() if not head.final and head.driver and not self._driven(head)]
        return [head.run for head in sorted(left, key=_age)]

    def follow(self, run: str, after: int = 0) -> AsyncIterator[Recorded]:
        return follow(self, self._store.bells, run, after)

    # inbox

    def post(self, run: str, *, at: float, by: str, kind: str, body: str) -> int:
        with self._open() as store:
            return post(store, Message(0, run, at, by, kind, body))

    def inbox(self, run: str, after: int = 0) -> list[Message]:
        with self._store.lock:
            return [message for id, message in self._store.letters.get(run, {}).items() if id > after]

    def listen(self, run: str | None, wake: Callable[[], None]) -> Callable[[], None]:
        return self._store.bells.subscribe(("mail", run), wake)

    # archive

    def verify(self, run: str) -> list[Problem]:
        with self._store.lock:
            return audit(self.head(run), self.read(run), self._store.blobs.get)

    def export(self, run: str) -> bytes:
        with self._store.lock:
            events = self.read(run)
            blobs = {hash: self._store.blobs[hash] for hash in needed_blobs(events) if hash in self._store.blobs}
            return write_export(Exported(self.head(run), events, blobs, self.inbox(run)))

    def import_(self, file: bytes) -> str:
        exported = read_export(file)
        run = exported.head.run
        with self._open() as store:
            if store.head(run) is not None:
                raise RunExists(run)
            batch = Batch(first_seq=1, entries=(), blobs=exported.blobs)
            store.add(run, exported.events, Sealed(batch, [], list(exported.blobs)))
            store.put_head(exported.head)
            for message in exported.messages:
                post(store, message)
        return run

    def prune(self, before: float, status: Collection[RunStatus] | None = None) -> Pruned:
        ended = FINAL if status is None else FINAL.intersection(status)
        with self._open() as store:
            heads = [head for head in store.heads.values() if head.status in ended and head.driver is None]
            old = [head.run for head in heads if head.changed < before]
            events = sum([store.remove(run) for run in old])
            return Pruned(runs=len(old), events=events, blobs=store.remove_unused_blobs())

    # the end

    def flush(self) -> None:
        with self._open():
            pass

    def close(self) -> None:
        self._store.living.discard(self._driver)

    @contextmanager
    def _open(self) -> Generator[MemoryStore]:
        """The store, one caller at a time."""
        if self._driver not in self._store.living:
            raise JournalUnusable("the journal cannot be used: it was closed", hint="Make another one.")
        with self._store.lock:
            yield self._store

    def _all_heads(self) -> list[Head]:
        with self._store.lock:
            return list(self._store.heads.values())

    def _driven(self, head: Head) -> bool:
        return head.driver in self._store.living


def _age(head: Head) -> tuple[float, str]:
    return head.created, head.run


def _has_come(head: Head, now: float) -> bool:
    return head.wake_at is not None and head.wake_at <= now
