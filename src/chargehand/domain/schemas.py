"""JSON Schemas at work: which values satisfy one, and whether it can be used at all."""

import datetime as dt
import json
import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import TYPE_CHECKING, NoReturn

from pydantic import TypeAdapter, ValidationError

from chargehand.domain.shapes import ANYTHING, Schema, Shape, shape_of
from chargehand.errors import BadSchema

if TYPE_CHECKING:
    import jsonschema_rs


@dataclass(frozen=True, slots=True)
class Violation:
    """Where and how a value breaks a schema."""

    path: tuple[str | int, ...]
    message: str
    hint: str = ""


def violations(schema: Schema, value: object) -> list[Violation]:
    """Everything in which a value breaks a schema; raises BadSchema if the schema itself is broken."""
    validator = _validator(json.dumps(schema, sort_keys=True))
    return [_violation(tuple(error.instance_path), error.message) for error in validator.iter_errors(value)]


def _violation(path: tuple[str | int, ...], message: str) -> Violation:
    kind = re.search(r' is not of type "(\w+)"$', message)
    if kind:
        wanted = _TYPES.get(kind.group(1), kind.group(1))
        given = message[: kind.start()]
        return Violation(path, f"{'nothing' if given == 'null' else _shortened(given)} is not {wanted}")
    form = re.search(r' is not a "([\w-]+)"$', message)
    if form:
        words, hint = _FORMAT_WORDS.get(form.group(1), (form.group(1), ""))
        return Violation(path, f"{_shortened(message[: form.start()])} is not {words}", hint)
    return Violation(path, _shortened(message))


_TYPES = {
    "string": "text",
    "integer": "a whole number",
    "number": "a number",
    "boolean": "true or false",
    "array": "a list",
    "object": "a record",
    "null": "nothing",
}
_FORMAT_WORDS = {
    "date": ("a date that exists", "Write it as 2026-11-20."),
    "time": ("a time of day", "Write it as 17:00."),
    "date-time": ("a moment", "Write it as 2026-11-20T17:00:00-05:00."),
}


def vet_schema(schema: Schema) -> None:
    """Raises BadSchema if a schema cannot be used: not valid, or with references that lead outside of it."""
    _validator(json.dumps(schema, sort_keys=True))


def safe_shape(schema: Schema) -> Shape:
    """The shape of a schema that came from outside: anything, where the schema itself is broken."""
    try:
        vet_schema(schema)
    except BadSchema:
        return ANYTHING
    return shape_of(schema)


@lru_cache(maxsize=1024)  # schemas of tools and steps: few, and each is used for every call
def _validator(schema: str) -> "jsonschema_rs.Draft202012Validator":
    import jsonschema_rs

    try:
        return jsonschema_rs.Draft202012Validator(
            json.loads(schema), validate_formats=True, formats=_FORMATS, retriever=_no_fetching
        )
    except (ValueError, jsonschema_rs.ReferencingError) as error:  # its ValidationError is a ValueError
        hint = "Types are string, number, integer, boolean, array, object and null."
        raise BadSchema(f"not a usable JSON Schema: {_shortened(str(error).splitlines()[0])}", hint=hint) from None


def _no_fetching(address: str) -> NoReturn:
    raise ValueError(f"a schema may not refer to {address!r}: references stay inside of it")


def _is_time(text: str) -> bool:
    return ":" in text and _reads(dt.time, text)


def _is_date(text: str) -> bool:
    return bool(re.fullmatch(r"\d{4}-\d\d-\d\d", text, re.ASCII)) and _reads(dt.date, text)


def _is_moment(text: str) -> bool:
    return "-" in text and ":" in text and _reads(dt.datetime, text)


def _reads(kind: type, text: str) -> bool:
    """Whether the type that our tools take reads the text."""
    try:
        _adapter(kind).validate_python(text)
    except ValidationError:
        return False
    return True


@cache
def _adapter(kind: type) -> TypeAdapter[object]:
    return TypeAdapter(kind)


# The standard asks for a zone in times and moments; Python's own types, which our tools use, do not.
_FORMATS = {"date": _is_date, "time": _is_time, "date-time": _is_moment}


def _shortened(message: str, most: int = 200) -> str:
    return message if len(message) <= most else f"{message[: most - 1]}…"
