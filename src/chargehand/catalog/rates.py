"""Rates: how many calls of a tool may begin within a stretch of time."""

import re
from dataclasses import dataclass

MAX_CALLS = 100_000  # each call is remembered until its stretch has passed: 3 MB at the most

_RATE = re.compile(r"\s*(\d{1,9})\s*/\s*([a-z]+)\s*", re.ASCII)
_SECONDS = {"s": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600}


@dataclass(frozen=True, slots=True)
class Rate:
    """So many calls in so many seconds."""

    calls: int
    seconds: float


def read_rate(text: str) -> Rate | None:
    """`60/minute` as a rate; None if it is not one."""
    found = _RATE.fullmatch(text)
    if found is None or found[2] not in _SECONDS or not 1 <= int(found[1]) <= MAX_CALLS:
        return None
    return Rate(int(found[1]), float(_SECONDS[found[2]]))
