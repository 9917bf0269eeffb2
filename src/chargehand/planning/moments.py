"""Dates and times in words: resolved once, against a given now and its zone."""

import datetime as dt
import re
from collections.abc import Sequence

_BARE = re.compile(r"[\W\d]*|\w{1,2}")  # `5` or `a` could be anything: dateparser would guess a month
# Words that say a time of day. Without one, a moment is the beginning of its day.
_CLOCK = re.compile(
    r"\d[:.h]\d\d|\d\s*(?:[ap]\.?m\b|h\b|uhr|heures?|o.clock)|noon|midnight|\bnow\b|hour|minute|second", re.IGNORECASE
)


def read_date(text: str, now: dt.datetime, languages: Sequence[str]) -> str | None:
    """The day that is meant, as 2026-11-20; None if it is no date or does not exist."""
    try:
        return dt.date.fromisoformat(text).isoformat()
    except ValueError:
        moment = _read(text, now, languages)
        return None if moment is None else moment.date().isoformat()


def read_time(text: str, now: dt.datetime, languages: Sequence[str]) -> str | None:
    """The time of day that is meant, as 17:00:00; None if it is none."""
    try:
        return dt.time.fromisoformat(text).isoformat()
    except ValueError:
        moment = _read(text, now, languages) if _CLOCK.search(text) else None
        return None if moment is None else moment.time().isoformat()


def read_moment(text: str, now: dt.datetime, languages: Sequence[str]) -> str | None:
    """The moment that is meant, with its offset, as 2026-11-20T17:00:00-05:00; None if it is none."""
    try:
        moment = dt.datetime.fromisoformat(text) if "T" in text else None
    except ValueError:
        return None
    if moment is None:
        moment = _read(text, now, languages)
        if moment is not None and not _CLOCK.search(text):
            moment = moment.replace(hour=0, minute=0, second=0, microsecond=0)
    if moment is None:
        return None
    if moment.tzinfo is None:
        moment = moment.replace(tzinfo=now.tzinfo)
        if moment.astimezone(dt.UTC).astimezone(now.tzinfo) != moment:
            return None  # an hour that clocks skip when summer time begins
    return moment.isoformat()


def _read(text: str, now: dt.datetime, languages: Sequence[str]) -> dt.datetime | None:
    if _BARE.fullmatch(text.strip()) and not re.search(r"\d[-/.:]\d", text):
        return None
    import dateparser  # its first use takes 0.2 s, so it waits until a date in words comes

    return dateparser.parse(  # pyright: ignore[reportUnknownMemberType]
        text,
        languages=list(languages),
        settings={
            "RELATIVE_BASE": now.replace(tzinfo=None),
            "PREFER_DATES_FROM": "future",
            "RETURN_TIME_AS_PERIOD": False,
        },
    )
