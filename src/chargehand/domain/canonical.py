"""Canonical values: the one form in which values are journalled, hashed and handed on."""

import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import cast

from pydantic_core import to_json

from chargehand.domain.text import MAX_DEPTH, MAX_INTEGER
from chargehand.errors import BadValue

MAX_VALUE = 16_000_000  # bytes of JSON: larger results belong in a file or a store, with a reference to it


def encode(value: object) -> str:
    """Canonical JSON: sorted keys, no blanks, no escapes that are not needed."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest(value: object) -> str:
    """The SHA-256 of a value's canonical JSON."""
    return hashlib.sha256(encode(value).encode()).hexdigest()


def canonical(value: object) -> object:
    """A value as the journal gives it back; raises BadValue for what no journal can hold.

    Whoever sees a result, now or after a restart, sees this: no tuple, set, date or shared mutable thing.
    """
    made = _canonical(value, "", 0)
    large = isinstance(value, str | Mapping | list | tuple)
    if large and len(to_json(made)) > MAX_VALUE:
        raise BadValue(f"the value is larger than {MAX_VALUE:,} bytes", hint="Store it, and give a reference to it.")
    return made


def _canonical(value: object, path: str, depth: int) -> object:
    if depth > MAX_DEPTH:
        raise BadValue(f"the value nests more than {MAX_DEPTH} levels deep, or contains itself", hint="Flatten it.")
    match value:
        case None | bool():
            return value
        case str():
            return _text(value, path)
        case int():
            if -MAX_INTEGER - 1 <= value <= MAX_INTEGER:
                return int(value)
            raise BadValue(f"{_at(path)} a whole number does not fit into 64 bits", hint="Give it as text.")
        case float():
            if math.isfinite(value):
                return float(value)
            raise BadValue(f"{_at(path)} {value} is not a number that JSON knows", hint="Give null or text instead.")
        case Mapping():
            return _mapping(cast(Mapping[object, object], value), path, depth)
        case list() | tuple():
            items = enumerate(cast(Sequence[object], value))
            return [_canonical(item, f"{path}[{number}]", depth + 1) for number, item in items]
        case _:
            hint = "Give text, numbers, true or false, null, lists and maps; or a dataclass or pydantic model."
            raise BadValue(f"{_at(path)} a {type(value).__name__} has no form in JSON", hint=hint)


def _mapping(value: Mapping[object, object], path: str, depth: int) -> dict[str, object]:
    made: dict[str, object] = {}
    for key, item in value.items():
        if not isinstance(key, str):
            raise BadValue(f"{_at(path)} the key {key!r:.40} is not text", hint="Use text as keys.")
        made[_text(key, path)] = _canonical(item, f"{path}.{key}", depth + 1)
    return made


def _text(value: str, path: str) -> str:
    if "\0" in value:
        raise BadValue(f"{_at(path)} the text holds a NUL character, at which others would cut it", hint="Remove it.")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise BadValue(f"{_at(path)} the text holds half a surrogate pair", hint="Clean the text.") from None
    return str(value)


def _at(path: str) -> str:
    return f"at {path.removeprefix('.')}:" if path else "here:"
