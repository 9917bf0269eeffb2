"""What any store can hold: batches, letters and openings are looked at before they are queued."""

import math
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from chargehand.domain.records import Batch, Letter, Opening, actions_in, blobs_in, canonical

MAX_BYTES = 256 * 1024 * 1024  # of one body or blob; SQLite ends at 1 GB, and one such commit holds up every run


class Sealed(NamedTuple):
    """A batch that any store can hold, with the bytes that its chain will cover, the blobs that it keeps alive and the
    actions that its events name, each with its place."""

    batch: Batch
    contents: list[bytes]
    needs: Sequence[str]
    actions: Sequence[tuple[int, str]]


def seal(run: str, batch: Batch) -> Sealed:
    """Raises ValueError here, in the caller, for what would otherwise spoil a commit shared with other runs."""
    seq = batch.first_seq
    if seq < 1:
        raise ValueError(f"the events of run {run!r} begin at 1, not at {seq}")
    contents: list[bytes] = []
    needs = [*batch.blobs]
    actions: list[tuple[int, str]] = []
    for entry in batch.entries:
        content = canonical(run, seq, entry)
        if len(content) > MAX_BYTES:
            raise _too_large(run)
        contents.append(content)
        needs += blobs_in(entry.body)
        for action in actions_in(entry.body):
            actions.append((seq, action))
        seq += 1
    if batch.blobs and max(map(len, batch.blobs.values())) > MAX_BYTES:
        raise _too_large(run)
    if batch.letters:
        _seal_letters(run, batch)
    if batch.change is not None:
        _seal_wake(run, batch.change.wake_at)
    return Sealed(batch, contents, needs or (), actions or ())  # empty lists would be work for the collector


def seal_opening(opening: Opening) -> Opening:
    """Raises ValueError for a head that no store can hold."""
    for text in (opening.run, opening.goal, opening.parent or "", opening.origin, opening.tenant):
        text.encode()
    if not opening.run:
        raise ValueError("a run needs an id")
    if not math.isfinite(opening.at) or abs(opening.priority) >= 2**63:
        raise ValueError(f"the time or the priority of run {opening.run!r} is no number that can be kept")
    _seal_wake(opening.run, opening.wake_at)
    return opening


def seal_letter(letter: Letter) -> Letter:
    """Raises ValueError for mail that no store can hold."""
    if not math.isfinite(letter.at):
        raise ValueError(f"mail for run {letter.run!r} has no finite time: {letter.at}")
    if sum(len(text.encode()) for text in (letter.run, letter.by, letter.kind, letter.body)) > MAX_BYTES:
        raise _too_large(letter.run)
    return letter


def actions_of(bodies: Iterable[tuple[int, str]]) -> list[tuple[int, str]]:
    """Place and action for every action that events, given by place and body, name."""
    return [(seq, action) for seq, body in bodies for action in actions_in(body)]


def _seal_letters(run: str, batch: Batch) -> None:
    if not batch.entries:  # what was written before is known by its events, and letters must not go twice
        raise ValueError(f"a batch of run {run!r} sends letters without an event")
    for letter in batch.letters:
        seal_letter(letter)


def _seal_wake(run: str, wake_at: float | None) -> None:
    if wake_at is not None and not math.isfinite(wake_at):
        raise ValueError(f"run {run!r} is to be woken at no finite time: {wake_at}")


def _too_large(run: str) -> ValueError:
    return ValueError(f"run {run!r} has a value of more than {MAX_BYTES:,} bytes, which no journal keeps")
