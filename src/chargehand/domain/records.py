"""What a journal keeps: events in their order, the head of each run, messages, and the hash that chains them."""

import hashlib
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

RunStatus = Literal["running", "waiting", "in_doubt", "done", "failed", "cancelled"]
FINAL: frozenset[str] = frozenset({"done", "failed", "cancelled"})

GENESIS = bytes(32)  # what the first event of a run is chained to

_BLOB = re.compile(r'"#"\s*:\s*"([0-9a-f]{64})"')
_ACTION = re.compile(r'"action":"([0-9a-f]{64})"')


@dataclass(frozen=True, slots=True)
class Entry:
    """An event before it has its place: when, by whom, what. `body` is canonical JSON text; a large value in it
    stands as `{"#": "<sha256>"}`."""

    at: float
    by: str
    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class Recorded:
    """An event in its place. `chain` hashes it and everything before it."""

    run: str
    seq: int
    at: float
    by: str
    kind: str
    body: str
    chain: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """What a batch makes of its run's head. A final status gives the run back."""

    status: RunStatus
    wake_at: float | None = None


@dataclass(frozen=True, slots=True)
class Letter:
    """Mail that a batch sends to another run. One to a run that the journal does not have is dropped: a child that was
    imported has no parent here."""

    run: str
    at: float
    by: str
    kind: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """Events that are written together or not at all, with the values they refer to, the messages they took and the
    letters they send.

    first_seq: the place of the first entry; the run must end just before it.
    blobs: bodies by sha256 (hex); every blob that an entry refers to and that this run has not brought before.
    consumed: ids of messages that leave the inbox as these events enter the journal.
    letters: what enters the inboxes of other runs with these events, once; there must be an event that sends it.
    """

    first_seq: int
    entries: tuple[Entry, ...]
    blobs: Mapping[str, bytes] = field(default_factory=dict[str, bytes])
    consumed: tuple[int, ...] = ()
    change: Change | None = None
    letters: tuple[Letter, ...] = ()

    @property
    def last_seq(self) -> int:
        return self.first_seq + len(self.entries) - 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Opening:
    """What the head of a new run says. `origin` is the first ancestor of a fork (empty: the run itself)."""

    run: str
    at: float
    goal: str
    status: RunStatus = "running"
    wake_at: float | None = None
    parent: str | None = None
    origin: str = ""
    tenant: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """The right to append to a run after `seq`, until somebody claims it with a higher epoch.

    forced: the run was taken from a driver that was still alive, and that may still act.
    """

    run: str
    epoch: int
    seq: int
    chain: bytes
    driver: str
    forced: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Head:
    """Where a run stands. `driver` is None while nobody drives it: parked, given back, or over."""

    run: str
    epoch: int
    seq: int
    chain: bytes
    driver: str | None
    status: RunStatus
    wake_at: float | None
    created: float
    changed: float
    parent: str | None
    origin: str
    goal: str
    tenant: str
    priority: int

    @property
    def final(self) -> bool:
        return self.status in FINAL

    def moved(self, seq: int, chain: bytes, changed: float) -> "Head":
        """The head after more events. `dataclasses.replace` takes five times as long."""
        return Head(
            run=self.run,
            epoch=self.epoch,
            seq=seq,
            chain=chain,
            driver=self.driver,
            status=self.status,
            wake_at=self.wake_at,
            created=self.created,
            changed=changed,
            parent=self.parent,
            origin=self.origin,
            goal=self.goal,
            tenant=self.tenant,
            priority=self.priority,
        )


@dataclass(frozen=True, slots=True)
class Message:
    """Mail for a run's driver: an approval, guidance, a settlement. Ids grow in the order of arrival."""

    id: int
    run: str
    at: float
    by: str
    kind: str
    body: str


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong with a recorded run. `seq` is the first event that is concerned, where one is."""

    kind: Literal["changed", "missing", "truncated", "blob missing", "blob changed"]
    message: str
    seq: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Pruned:
    """How much a prune took away."""

    runs: int = 0
    events: int = 0
    blobs: int = 0


def canonical(run: str, seq: int, entry: Entry | Recorded) -> bytes:
    """The bytes of an event that its chain covers; no two events share them.

    Raises ValueError for what no journal can keep: a time that is no number, text with lone surrogates.
    """
    at, by, kind = float(entry.at), entry.by, entry.kind
    if not math.isfinite(at):
        raise ValueError(f"event {seq} of run {run!r} has no finite time: {at}")
    return f"{len(run)}:{run}{seq}:{at!r}:{len(by)}:{by}{len(kind)}:{kind}{entry.body}".encode()


def link(previous: bytes, content: bytes) -> bytes:
    """The chain after an event, from the chain before it and the event's canonical bytes."""
    return hashlib.sha256(previous + content).digest()


def blobs_in(body: str) -> list[str]:
    """The hashes of the blobs that a body refers to."""
    return _BLOB.findall(body) if '"#"' in body else []


def actions_in(body: str) -> list[str]:
    """The keys of the actions that a body names, each as `"action":"<64 hex>"` in canonical JSON."""
    return _ACTION.findall(body) if '"action":"' in body else []
