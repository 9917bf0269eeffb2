"""JSON Schemas at work: which values satisfy one, and whether it can be used at all."""

import datetime as dt
import json
from collections.abc import Callable
from functools import lru_cache
from typing import NoReturn

import jsonschema_rs

from chargehand.domain.shapes import Schema
from chargehand.errors import BadSchema


def violations(schema: Schema, value: object) -> list[tuple[tuple[str | int, ...], str]]:
    """Where and how a value breaks a schema; raises BadSchema if the schema itself is broken."""
    validator = _validator(json.dumps(schema, sort_keys=True))
    return [(tuple(error.instance_path), _shortened(error.message)) for error in validator.iter_errors(value)]


def vet_schema(schema: Schema) -> None:
    """Raises BadSchema if a schema cannot be used: not valid, or with references that lead outside of it."""
    _validator(json.dumps(schema, sort_keys=True))


@lru_cache(maxsize=1024)  # schemas of tools and steps: few, and each is used for every call
def _validator(schema: str) -> jsonschema_rs.Draft202012Validator:
    try:
        return jsonschema_rs.Draft202012Validator(
            json.loads(schema), validate_formats=True, formats=_FORMATS, retriever=_no_fetching
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:  # its ValidationError is a ValueError
        raise BadSchema(f"not a usable JSON Schema: {_shortened(str(error).splitlines()[0])}") from None


def _no_fetching(address: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to {address!r}: references stay inside of it")


def _is_time(text: str) -> bool:
    return _reads(dt.time.fromisoformat, text)


def _is_moment(text: str) -> bool:
    return "T" in text and _reads(dt.datetime.fromisoformat, text)


def _reads(read: Callable[[str], object], text: str) -> bool:
    try:
        read(text)
    except ValueError:
        return False
    return True


# The standard asks for a zone in times and moments; Python's own types, which our tools use, do not.
_FORMATS = {"time": _is_time, "date-time": _is_moment}


def _shortened(message: str, most: int = 200) -> str:
    return message if len(message) <= most else f"{message[: most - 1]}…"
