"""Whether a recorded run is what was written: the chain, the head and the values."""

import hashlib
from collections.abc import Callable, Iterable, Iterator

from chargehand.domain.records import GENESIS, Head, Problem, Recorded, blobs_in, canonical, link

FindBlob = Callable[[str], bytes | None]


def audit(head: Head, events: Iterable[Recorded], blob: FindBlob) -> list[Problem]:
    """Everything that is wrong with a run. A whole chain written anew, head included, looks right."""
    chain: bytes | None = GENESIS
    seq, problems, seen = 0, list[Problem](), set[str]()
    for event in events:
        if event.seq != seq + 1:
            problems.append(_gap(seq + 1, event.seq))
            chain = None
        if chain is not None and not _follows(chain, event):
            message = f"event {event.seq} is not what was written, or what stands before it is not"
            problems.append(Problem("changed", message, event.seq))
        problems += _values(event, blob, seen)
        seq, chain = event.seq, event.chain
    return [*problems, *_end(head, seq, chain)]


def _follows(chain: bytes, event: Recorded) -> bool:
    try:
        return link(chain, canonical(event.run, event.seq, event)) == event.chain
    except ValueError:
        return False


def _gap(first: int, found: int) -> Problem:
    if found < first:
        return Problem("changed", f"event {found} is out of order", found)
    last = found - 1
    which = f"event {first} is" if first == last else f"events {first} to {last} are"
    return Problem("missing", f"{which} missing", first)


def _values(event: Recorded, blob: FindBlob, seen: set[str]) -> Iterator[Problem]:
    for hash in blobs_in(event.body):
        if hash in seen:
            continue
        seen.add(hash)
        body = blob(hash)
        if body is None:
            yield Problem("blob missing", f"event {event.seq} refers to value {hash[:12]}…, which is gone", event.seq)
        elif hashlib.sha256(body).hexdigest() != hash:
            yield Problem("blob changed", f"value {hash[:12]}… is not what event {event.seq} refers to", event.seq)


def _end(head: Head, seq: int, chain: bytes | None) -> Iterator[Problem]:
    if seq < head.seq:
        yield Problem("truncated", f"the run has {head.seq} events, but ends after event {seq}", seq + 1)
    elif seq > head.seq:
        yield Problem("changed", f"the run has {head.seq} events, but event {seq} exists", head.seq + 1)
    elif chain is not None and chain != head.chain:
        yield Problem("changed", "the head does not fit the last event", head.seq or None)
