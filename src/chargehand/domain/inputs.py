"""Inputs: what a plan is told from outside, each with a type, perhaps a default, and in the end a value."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, get_args

from chargehand.domain.shapes import Schema

InputType = Literal["text", "number", "integer", "boolean", "date", "time", "moment"]
INPUT_TYPES: tuple[str, ...] = get_args(InputType)

_SCHEMAS: dict[str, Schema] = {
    "text": {"type": "string"},
    "number": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "time": {"type": "string", "format": "time"},
    "moment": {"type": "string", "format": "date-time"},
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Input:
    """One input. `type` or `form` (a JSON Schema) says what it may be; None as default or value means there is none."""

    type: InputType = "text"
    form: Schema | None = None
    choices: tuple[str, ...] = ()
    description: str = ""
    default: object = None
    value: object = None

    @property
    def schema(self) -> Schema:
        """The JSON Schema that its values follow."""
        if self.form is not None:
            return self.form
        schema = _SCHEMAS[self.type]
        return {**schema, "enum": list(self.choices)} if self.choices else schema

    def given(self, value: object) -> "Input":
        """The same input with its value. A whole number given as a number is one: 500 means 500.0."""
        if self.type == "number" and isinstance(value, int) and not isinstance(value, bool):
            value = float(value)
        return replace(self, value=value)


def inputs_schema(inputs: Mapping[str, Input]) -> Schema:
    """One JSON Schema for all the inputs of a plan."""
    return {
        "type": "object",
        "title": "inputs",
        "properties": {name: input.schema for name, input in inputs.items()},
        "required": list(inputs),
        "additionalProperties": False,
    }
