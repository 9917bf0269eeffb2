"""What the journals of one process share when nothing is kept: the pages that the fence works on."""

import threading
from bisect import bisect_left, insort
from collections.abc import Iterable
from itertools import count

from chargehand.adapters.bells import Bells, Topic
from chargehand.adapters.fence import Row
from chargehand.adapters.sealing import Sealed, actions_of
from chargehand.adapters.standing import Standing
from chargehand.domain.records import Message


class MemoryStore:
    """Runs, values and mail in dictionaries. Whoever touches it does so inside `with`."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        self._ids = count(1)
        self._alarm_of: dict[str, float] = {}
        self.bells = Bells()
        self.living: set[str] = set()
        self.standings: dict[str, Standing] = {}
        self.events: dict[str, list[Row]] = {}
        self.blobs: dict[str, bytes] = {}
        self.uses: dict[str, set[str]] = {}
        self.inboxes: dict[str, dict[int, Message]] = {}
        self.intents: dict[tuple[str, str], dict[str, dict[int, None]]] = {}
        self.alarms: list[tuple[float, str]] = []  # sorted

    def __enter__(self) -> "MemoryStore":
        self._lock.acquire()
        return self

    def __exit__(self, *error: object) -> None:
        self._lock.release()

    def standing(self, run: str) -> Standing | None:
        return self.standings.get(run)

    def put(self, standing: Standing) -> None:
        run = standing.head.run
        self.standings[run] = standing
        if standing.turned:
            standing.turned = False
            self._set_alarm(run, standing.head.wake_at)
        self.bells.ring([("events", run)])

    def chain(self, run: str, seq: int) -> bytes | None:
        events = self.events.get(run, [])
        return events[seq - 1][-1] if 0 < seq <= len(events) else None

    def add(self, standing: Standing, events: list[Row], sealed: Sealed) -> None:
        run = standing.head.run
        self.events.setdefault(run, []).extend(events)
        for seq, action in sealed.actions:
            self.intents.setdefault((standing.head.origin, action), {}).setdefault(run, {})[seq] = None
        if sealed.needs:
            self.uses.setdefault(run, set()).update(sealed.needs)
            self.blobs |= {hash: body for hash, body in sealed.batch.blobs.items() if hash not in self.blobs}
        self.put(standing)

    def mail(self, run: str) -> Iterable[int]:
        return list(self.inboxes.get(run, ()))

    def take(self, run: str, ids: Iterable[int]) -> None:
        for id in ids:
            del self.inboxes[run][id]

    def put_mail(self, run: str, at: float, by: str, kind: str, body: str) -> int:
        id = next(self._ids)
        self.inboxes.setdefault(run, {})[id] = Message(id, run, at, by, kind, body)
        topics: list[Topic] = [("mail", run), ("mail", None)]
        self.bells.ring(topics)
        return id

    def remove(self, run: str) -> int:
        """Takes a run away and gives the number of its events."""
        origin, events = self.standings.pop(run).head.origin, self.events.pop(run, [])
        for kept in (self.inboxes, self.uses):
            kept.pop(run, None)
        for _, action in actions_of((seq, body) for _, seq, _, _, _, body, _ in events):
            self.intents.get((origin, action), {}).pop(run, None)
        self._set_alarm(run, None)
        return len(events)

    def remove_unused_blobs(self) -> int:
        unused = set(self.blobs).difference(*self.uses.values())
        for hash in unused:
            del self.blobs[hash]
        return len(unused)

    def _set_alarm(self, run: str, wake_at: float | None) -> None:
        before = self._alarm_of.pop(run, None)
        if before is not None:
            del self.alarms[bisect_left(self.alarms, (before, run))]
        if wake_at is not None:
            self._alarm_of[run] = wake_at
            insort(self.alarms, (wake_at, run))
