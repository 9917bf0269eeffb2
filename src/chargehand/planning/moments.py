"""Dates and times in words: resolved once, against a given now and its zone."""

import datetime as dt
import re
from collections.abc import Callable, Iterable, Mapping, Sequence

from chargehand.planning.wording import KNOWN, agrees, has_clock, is_vague, with_plain_clocks

_BARE = re.compile(r"[\W\d]*|\w{1,2}")  # `5` or `a` could be anything: dateparser would guess a month
_ISO_DATE = re.compile(r"\d{4}-\d\d-\d\d(?!\d)", re.ASCII)
_ISO_TIME = re.compile(r"\d\d:\d\d(?!\d)", re.ASCII)
_MARK = 1  # the microsecond of now as the library sees it: what keeps it was counted from now, as `tomorrow` is


def read_date(text: str, now: dt.datetime, languages: Sequence[str]) -> str | None:
    """The day that is meant, as 2026-11-20; None if it is no date, is unclear, or does not exist."""
    moment = _read_iso(text) or _read(text, now, languages)
    return None if moment is None else moment.date().isoformat()


def read_time(text: str, now: dt.datetime, languages: Sequence[str]) -> str | None:
    """The time of day that is meant, as 17:00:00; None if it is none, or names only a part of the day."""
    if _ISO_TIME.match(text):
        try:
            return dt.time.fromisoformat(text).isoformat()
        except ValueError:
            pass  # `17:00 o'clock`, or an hour that does not exist
    plain = with_plain_clocks(text, only_time=True)
    if plain is None or not has_clock(plain):
        return None
    moment = _read(plain, now, languages)
    return None if moment is None else moment.time().replace(microsecond=0).isoformat()


def read_moment(text: str, now: dt.datetime, languages: Sequence[str]) -> str | None:
    """The moment that is meant, with its offset, as 2026-11-20T17:00:00-05:00; None if it is none, or is unclear.

    A day without a time of day is its first minute. Of an hour that clocks show twice when summer time ends, the
    first is meant; one that they skip when it begins does not exist.
    """
    moment = _read_iso(text)
    if moment is None:
        moment = None if is_vague(with_plain_clocks(text) or text) else _read(text, now, languages)
    if moment is None:
        return None
    try:
        if moment.tzinfo is None:
            moment = moment.replace(tzinfo=now.tzinfo)
        if moment.astimezone(dt.UTC).astimezone(moment.tzinfo) != moment:
            return None
    except OverflowError:
        return None  # at the edge of the calendar it has no place in other zones
    return moment.isoformat()


Reader = Callable[[str, dt.datetime, Sequence[str]], str | None]
READERS: Mapping[str, Reader] = {"date": read_date, "time": read_time, "moment": read_moment}  # by type of input


def unknown_languages(languages: Iterable[str]) -> list[str]:
    """Those in which no date can be read."""
    others = [language for language in languages if language not in KNOWN]
    if not others:
        return []
    from dateparser.data.languages_info import language_order  # pyright: ignore

    return [language for language in others if language not in language_order]


def _read_iso(text: str) -> dt.datetime | None:
    if not _ISO_DATE.match(text):
        return None
    try:
        return dt.datetime.fromisoformat(text)
    except ValueError:
        return None  # `2026-11-20 5 p.m.` is for the reader of words


def _read(text: str, now: dt.datetime, languages: Sequence[str]) -> dt.datetime | None:
    """A moment from words, without a time of day where they say none; None if it is not certain what they mean."""
    plain = with_plain_clocks(text)
    if plain is None or (_BARE.fullmatch(plain.strip()) and not re.search(r"\d[-/.:]\d", plain)):
        return None
    if _ISO_DATE.match(plain) and not _exists(plain[:10]):
        return None
    moment = _parse(plain, now, languages)
    if moment is None:
        return None
    counted = moment.microsecond == _MARK
    if not agrees(plain, moment, now, languages, counted=counted):
        return None
    says_no_time = counted and not has_clock(plain) and moment.time() == now.time().replace(microsecond=_MARK)
    return moment.replace(hour=0, minute=0, second=0, microsecond=0) if says_no_time else moment.replace(microsecond=0)


def _exists(day: str) -> bool:
    try:
        dt.date.fromisoformat(day)
    except ValueError:
        return False
    return True


def _parse(text: str, now: dt.datetime, languages: Sequence[str]) -> dt.datetime | None:
    from dateparser.date import DateDataParser  # its first use takes 0.2 s, so it waits until a date in words comes

    settings = {"RELATIVE_BASE": now.replace(tzinfo=None, microsecond=_MARK), "PREFER_DATES_FROM": "future"}
    try:
        read = DateDataParser(languages=list(languages), settings=settings).get_date_data(text)  # pyright: ignore
    except (ValueError, OverflowError):
        return None
    moment: dt.datetime | None = read.date_obj  # pyright: ignore
    if moment is None or moment.year < 1900:
        return None
    counted = moment.microsecond == _MARK  # `next month`; the day that `November` does not say would be a guess
    return moment if counted or read.period not in ("month", "year") else None  # pyright: ignore
