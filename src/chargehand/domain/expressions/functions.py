"""Our own functions in expressions: dates, times, sums, and choosing by a field; none is worse than sorting."""

import datetime as dt
from collections.abc import Callable, Mapping
from typing import Any, cast

Records = list[Mapping[str, object]]


def date(value: object) -> dt.datetime:
    """The day of an ISO date or moment, as a timestamp at midnight UTC."""
    text = _text("date", value)
    try:
        day = dt.date.fromisoformat(text[:10])
    except ValueError:
        raise ValueError(f"date({text!r}): not a date; write it as 2026-11-20") from None
    return dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC)


def time(value: object) -> dt.timedelta:
    """The time of day of an ISO time or moment, as a duration since midnight."""
    text = _text("time", value)
    clock = text.partition("T")[2] if "T" in text else text
    hours = clock.partition(":")[0]
    try:
        moment = dt.time.fromisoformat(clock if len(hours) == 2 else f"0{clock}")
    except ValueError:
        raise ValueError(f"time({text!r}): not a time of day; write it as 17:00") from None
    return dt.timedelta(
        hours=moment.hour, minutes=moment.minute, seconds=moment.second, microseconds=moment.microsecond
    )


def total(values: object) -> float:
    """The sum of a list of numbers, with a decimal point also where all are whole or there are none."""
    numbers = _list("sum", values)
    for number in numbers:
        if isinstance(number, bool) or not isinstance(number, int | float):
            raise ValueError(f"sum(): {short(number)} is not a number")
    return float(sum(cast(list[int | float], numbers)))


def min_by(records: object, path: object) -> object:
    """The record whose field is least; the first one of equals."""
    return _first("min_by", _in_order(_keyed("min_by", records, path)))


def max_by(records: object, path: object) -> object:
    """The record whose field is greatest; the first one of equals."""
    return _first("max_by", _in_order(_keyed("max_by", records, path), descending=True))


def sort_by(records: object, path: object) -> list[object]:
    """The records in ascending order of a field; equals keep their order."""
    return _in_order(_keyed("sort_by", records, path))


Implementation = Callable[..., object]
# name -> (implementation, kinds of its arguments, kind of its result)
TABLE: Mapping[str, tuple[Implementation, tuple[str, ...], str]] = {
    "date": (date, ("string",), "timestamp"),
    "time": (time, ("string",), "duration"),
    "sum": (total, ("list",), "double"),
    "min_by": (min_by, ("list", "string"), "dyn"),
    "max_by": (max_by, ("list", "string"), "dyn"),
    "sort_by": (sort_by, ("list", "string"), "list"),
}
BY_FIELD = ("min_by", "max_by", "sort_by")
WHOLE_LIST = ("sum", *BY_FIELD)  # these are called by us, not by the library: see hoisting


def _in_order(keyed: list[tuple[Any, object]], *, descending: bool = False) -> list[object]:
    return [record for _, record in sorted(keyed, key=lambda pair: pair[0], reverse=descending)]


def _keyed(name: str, records: object, path: object) -> list[tuple[Any, object]]:
    field = _text(name, path)
    keyed = [(_field(name, record, field), record) for record in _list(name, records)]
    kinds = {_kind(key) for key, _ in keyed}
    if not kinds <= {"number"} and not kinds <= {"text"}:
        raise ValueError(f"{name}(…, {field!r}): the values cannot be ordered ({', '.join(sorted(kinds))})")
    return keyed


def _field(name: str, record: object, path: str) -> object:
    value = record
    for part in path.split("."):
        if not isinstance(value, Mapping) or part not in value:
            raise ValueError(f"{name}(…, {path!r}): {short(record)} has no field {path!r}")
        value = cast(Mapping[str, object], value)[part]
    return value


def _kind(value: object) -> str:
    match value:
        case bool():
            return "true or false"
        case int() | float():
            return "number"
        case str():
            return "text"
        case None:
            return "null"
        case _:
            return "something that has no order"


def _first(name: str, records: list[object]) -> object:
    if not records:
        raise ValueError(f"{name}(): the list is empty")
    return records[0]


def _list(name: str, value: object) -> list[object]:
    if not isinstance(value, list):
        raise ValueError(f"{name}(): {short(value)} is not a list")
    return cast(list[object], value)


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise ValueError(f"{name}(): {short(value)} is not text")
    return value


def short(value: object, most: int = 80) -> str:
    """A value for a message, cut where it gets long."""
    text = repr(value)
    return text if len(text) <= most else f"{text[: most - 1]}…"
