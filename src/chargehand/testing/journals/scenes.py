"""What the suite's tests are written with: short words for runs, batches and refusals."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Callable, Coroutine, Generator
from contextlib import contextmanager
from typing import Any

from chargehand.domain.records import Batch, Change, Claim, Entry, Letter, Opening, Recorded, RunStatus
from chargehand.errors import RunLost
from chargehand.ports import Journal

Place = Callable[[], Journal]
WAIT = 10.0  # seconds after which something that should have happened counts as lost


def entry(kind: str = "noted", at: float = 1.0, **body: object) -> Entry:
    return Entry(at, "test", kind, json.dumps(body, sort_keys=True, separators=(",", ":")))


def batch(
    first_seq: int,
    *entries: Entry,
    blobs: dict[str, bytes] | None = None,
    consumed: tuple[int, ...] = (),
    status: RunStatus | None = None,
    wake_at: float | None = None,
    letters: tuple[Letter, ...] = (),
) -> Batch:
    """A batch of these entries, else of one."""
    change = None if status is None else Change(status=status, wake_at=wake_at)
    return Batch(
        first_seq=first_seq,
        entries=entries or (entry(),),
        blobs=blobs or {},
        consumed=consumed,
        change=change,
        letters=letters,
    )


def letter(run: str, kind: str = "ended") -> Letter:
    return Letter(run, 1.0, "test", kind, "{}")


def mail(journal: Journal, run: str) -> list[str]:
    """The kinds of the messages that wait."""
    return [message.kind for message in journal.inbox(run)]


def action(name: str) -> str:
    """The key of an action."""
    return hashlib.sha256(name.encode()).hexdigest()


def opening(run: str = "run", at: float = 0.0, **fields: Any) -> Opening:
    return Opening(run=run, at=at, goal=f"the goal of {run}", **fields)


def run_to_end(work: Coroutine[object, object, None]) -> None:
    """Runs a test's coroutine with a bound on its time."""

    async def bounded() -> None:
        await asyncio.wait_for(work, WAIT)

    asyncio.run(bounded())


@contextmanager
def refused(kind: type[Exception], *words: str) -> Generator[None]:
    """Passes if this error is raised, and says these words."""
    said = None
    try:
        yield
    except kind as error:
        said = str(error)
    assert said is not None, f"{kind.__name__} was not raised"
    assert all(word in said for word in words), f"{words} not in: {said}"


def value(text: str) -> tuple[str, bytes]:
    body = text.encode()
    return hashlib.sha256(body).hexdigest(), body


async def start(journal: Journal, run: str = "run", **fields: Any) -> Claim:
    return await journal.create(opening(run, **fields), batch(1, entry("started")))


def kinds(events: list[Recorded]) -> list[str]:
    return [event.kind for event in events]


async def collect(events: AsyncIterator[Recorded]) -> list[Recorded]:
    return [event async for event in events]


def attempt(append: Callable[[], None]) -> None:
    """A journal may already know that a run is lost, or not yet: both are right."""
    try:
        append()
    except RunLost:
        return


def resealed(file: bytes) -> bytes:
    """A changed file whose last line was made to fit."""
    body = file.rstrip(b"\n").rpartition(b"\n")[0] + b"\n"
    return body + json.dumps({"line": "end", "sha256": hashlib.sha256(body).hexdigest()}).encode() + b"\n"
