"""Shapes as types of the expression library, and back."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from chargehand.domain.expressions.cel import DYN, CelType, list_of, map_of
from chargehand.domain.expressions.words import CEL_WORDS, KEYWORDS
from chargehand.domain.shapes import (
    ANYTHING,
    Anything,
    Either,
    Many,
    Nothing,
    Number,
    Record,
    Shape,
    Table,
    Text,
    Truth,
    Whole,
    either,
    merged,
)

_WORDS = KEYWORDS | CEL_WORDS
_IDENTIFIER = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)


@dataclass(slots=True)
class Messages:
    """Shapes as types of the expression library, and back. Records become messages."""

    records: dict[str, Record] = field(default_factory=dict[str, Record])
    fields: dict[str, Mapping[str, CelType]] = field(default_factory=dict[str, Mapping[str, CelType]])
    _names: dict[str, str] = field(default_factory=dict[str, str])
    _forms: dict[int, str] = field(default_factory=dict[int, str])
    _merged: dict[Shape, Shape] = field(default_factory=dict[Shape, Shape])

    def type_of(self, shape: Shape) -> CelType:
        match shape:
            case Text():
                return CelType("string")
            case Whole():
                return CelType("int")
            case Number():
                return CelType("double")
            case Truth():
                return CelType("bool")
            case Nothing():
                return CelType("null")
            case Many(item=item):
                return list_of(self.type_of(item))
            case Table(value=value):
                return map_of(self.type_of(value))
            case Record():
                return self._message(shape)
            case Either():
                return self._choice(shape)
            case Anything():
                return DYN

    def _choice(self, shape: Either) -> CelType:
        if shape not in self._merged:
            self._merged[shape] = merged(shape)
        one = self._merged[shape]
        match one:
            case Record():
                return self._message(one)
            case Text() | Whole() | Number() | Truth():
                return CelType(self.type_of(one).name, nullable=True)
            case _:
                return DYN

    def _message(self, record: Record) -> CelType:
        if not all(_IDENTIFIER.fullmatch(name) and name not in _WORDS for name in record.fields):
            return map_of(DYN)  # fields that no message can have, or that cannot be written behind a dot
        form = self._form(record)
        name = self._names.get(form)
        if name is None:
            name = self._names[form] = f"R{len(self._names)}"
            self.records[f"plan.{name}"] = record
            self.fields[name] = {}
            self.fields[name] = {key: self.type_of(inner) for key, inner in record.fields.items()}
        return CelType(f"plan.{name}")

    def _form(self, record: Record) -> str:
        """The same for records of the same form: the flights of two tools are flights."""
        if id(record) not in self._forms:
            self._forms[id(record)] = _form(record)
        return self._forms[id(record)]

    def shape_of(self, kind: CelType) -> Shape | None:
        """The shape of a type; None for what cannot be a value of a plan."""
        match kind.name:
            case "list":
                item = self.shape_of(kind.inner[0])
                return None if item is None else Many(item)
            case "map":
                value = self.shape_of(kind.inner[1])
                return None if value is None else Table(value)
            case "bytes" | "type" | "optional_type":
                return None
            case name if name in _SIMPLE:
                return either([_SIMPLE[name], Nothing()]) if kind.nullable else _SIMPLE[name]
            case name:
                return self.records.get(name, ANYTHING)

    def described(self, text: str) -> str:
        """A type's name in a message of the library, in our words."""
        for name, record in sorted(self.records.items(), key=lambda entry: -len(entry[0])):
            text = text.replace(name, record.name)
        return (
            text.replace("wrapper(", "optional(")
            .replace("google.protobuf.Timestamp", "moment")
            .replace("google.protobuf.Duration", "duration")
        )


_SIMPLE: dict[str, Shape] = {
    "string": Text(),
    "int": Whole(),
    "uint": Whole(),
    "double": Number(),
    "bool": Truth(),
    "null": Nothing(),
    "timestamp": Text("date-time"),
    "duration": Text("duration"),
    "dyn": ANYTHING,
}


def _form(shape: Shape, depth: int = 0) -> str:
    """A shape written out; what is more than two records deep by its name only, so that no schema costs much."""
    match shape:
        case Record():
            if depth > 2:
                return shape.name
            fields = (f"{name}:{_form(shape.fields[name], depth + 1)}" for name in sorted(shape.fields))
            return f"{{{','.join(fields)};{sorted(shape.required)}}}"
        case Many(item=item):
            return f"[{_form(item, depth)}]"
        case Table(value=value):
            return f"<{_form(value, depth)}>"
        case Either(options=options):
            return "|".join(sorted(_form(option, depth) for option in options))
        case Text(format=format, options=options):
            return f"Text({format},{sorted(options or ())})"
        case _:
            return type(shape).__name__
