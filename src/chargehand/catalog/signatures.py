"""Signatures: JSON Schemas and shapes from a function's annotations."""

import dataclasses
import inspect
import re
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from pydantic import ConfigDict, PydanticSchemaGenerationError, PydanticUserError, TypeAdapter
from pydantic.errors import PydanticInvalidForJsonSchema
from pydantic.json_schema import GenerateJsonSchema

from chargehand.domain.canonical import digest
from chargehand.domain.shapes import Record, Schema, Shape, shape_of
from chargehand.errors import BadTool

IdempotencyKey = typing.NewType("IdempotencyKey", str)
"""A parameter of this type is filled by the runtime, not by plans: with the action's key, the same for every try."""

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,63}", re.ASCII)


class _OutputSchema(GenerateJsonSchema):
    """Fields with a default are always there in what a tool gives, so plans may rely on them."""

    def field_is_required(self, field: Any, total: bool) -> bool:
        if field["type"] == "typed-dict-field":
            return super().field_is_required(field, total)
        return not field.get("serialization_exclude", False)


@dataclass(frozen=True, kw_only=True)
class Signature:
    """What a function takes and gives. The adapters validate; the schemas and shapes are for checking."""

    description: str
    arguments: TypeAdapter[Any]
    result: TypeAdapter[Any]
    is_async: bool
    key: str | None = None
    """The parameter that takes the key of the action."""

    @cached_property
    def arguments_schema(self) -> Schema:
        return self.arguments.json_schema(mode="validation")

    @cached_property
    def result_schema(self) -> Schema:
        return self.result.json_schema(mode="serialization", schema_generator=_OutputSchema)

    @cached_property
    def form(self) -> str:
        """A hash of what it takes and gives: another one means another tool, whatever its name."""
        return digest([self.arguments_schema, self.result_schema])

    @cached_property
    def parameters(self) -> Mapping[str, Shape]:
        """The shape of each parameter."""
        shape = shape_of(self.arguments_schema)
        return shape.fields if isinstance(shape, Record) else {}

    @cached_property
    def required(self) -> frozenset[str]:
        return frozenset(typing.cast(list[str], self.arguments_schema.get("required", [])))

    @cached_property
    def output(self) -> Shape:
        return shape_of(self.result_schema)


def read_signature(name: str, function: Callable[..., object]) -> Signature:
    """Reads a function's annotations; raises BadTool that says what to write."""
    _vet_kind(name, function)
    if not _NAME.fullmatch(name):
        raise BadTool(f"{name!r} is not a name for a tool", hint="Give one: @tool(name='search_flights', …).")
    hints = _hints(name, function)
    parameters = inspect.signature(function).parameters.values()
    keys = [parameter.name for parameter in parameters if hints.get(parameter.name) is IdempotencyKey]
    if len(keys) > 1:
        raise BadTool(f"tool {name!r} takes the key of the action twice", hint="Keep one parameter of that type.")
    fields = [_field(name, parameter, hints) for parameter in parameters if parameter.name not in keys]
    if "return" not in hints:
        hint = "Annotate what it returns: def f(…) -> Result. Plans refer to the fields of that type."
        raise BadTool(f"tool {name!r} does not say what it returns", hint=hint)
    # A dataclass, not a model: any parameter name is allowed, `json` and `copy` too.
    form = dataclasses.make_dataclass("Arguments", fields, kw_only=True)
    form.__pydantic_config__ = ConfigDict(extra="forbid", arbitrary_types_allowed=False)  # pyright: ignore
    signature = Signature(
        description=inspect.getdoc(function) or "",
        arguments=_adapter(name, form, "its parameters"),
        result=_adapter(name, hints["return"], "what it returns"),
        is_async=inspect.iscoroutinefunction(function),
        key=keys[0] if keys else None,
    )
    _ = _json(name, lambda: (signature.arguments_schema, signature.result_schema))
    return signature


def _vet_kind(name: str, function: object) -> None:
    """Refuses whatever is not a function or a bound method. A decorator may wrap it, with functools.wraps."""
    if isinstance(function, staticmethod | classmethod):
        raise BadTool(f"tool {name!r} is a static or class method", hint="Put @staticmethod above @tool.")
    if not (inspect.isfunction(function) or inspect.ismethod(function) or hasattr(function, "__wrapped__")):
        what = "a class" if inspect.isclass(function) else f"of the type {type(function).__name__}"
        hint = "Put @tool(effect=…) above a def or an async def, which may call whatever you like."
        raise BadTool(f"tool {name!r} is not a function but {what}", hint=hint)
    if inspect.isgeneratorfunction(function) or inspect.isasyncgenfunction(function):
        hint = "Gather the values in a list and return that."
        raise BadTool(f"tool {name!r}: a tool returns, it does not yield", hint=hint)


def _hints(name: str, function: Callable[..., object]) -> dict[str, Any]:
    try:
        return typing.get_type_hints(function, include_extras=True)
    except NameError as error:
        hint = "Define the type at the top of a module, above the tool."
        raise BadTool(f"tool {name!r}: the annotation {error.name!r} is not known", hint=hint) from None
    except Exception as error:  # an annotation in quotes is evaluated, and may raise anything
        hint = "Write the type without quotes, or mend what is inside of them."
        message = f"tool {name!r}: an annotation cannot be evaluated: {type(error).__name__}: {_first_line(error)}"
        raise BadTool(message, hint=hint) from None


def _field(tool: str, parameter: inspect.Parameter, hints: Mapping[str, Any]) -> tuple[str, Any, Any]:
    name = parameter.name
    if parameter.kind not in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY):
        hint = "Give every parameter a name and a type of its own; plans pass arguments by name."
        raise BadTool(f"tool {tool!r}: the parameter {name!r} is positional-only, *args or **kwargs", hint=hint)
    if name not in hints:
        hint = _METHOD if name in ("self", "cls") else f"Annotate it: {name}: str"
        raise BadTool(f"tool {tool!r}: the parameter {name!r} has no type", hint=hint)
    if name.startswith("_"):
        raise BadTool(f"tool {tool!r}: the parameter {name!r} begins with an underscore", hint="Rename it.")
    if parameter.default is parameter.empty:
        return name, hints[name], dataclasses.field()
    if type(parameter.default).__hash__ is None:  # a list or a dict: dataclasses want a maker of it
        return name, hints[name], dataclasses.field(default_factory=lambda: parameter.default)
    return name, hints[name], dataclasses.field(default=parameter.default)


def _adapter(tool: str, annotation: Any, what: str) -> TypeAdapter[Any]:
    try:
        return TypeAdapter(annotation)
    except (PydanticSchemaGenerationError, PydanticUserError, TypeError, NameError) as error:
        hint = _TYPED_DICT if "TypedDict" in str(error) else _TYPES
        raise BadTool(f"tool {tool!r}: {what} cannot be described: {_first_line(error)}", hint=hint) from None


def _json(tool: str, build: Callable[[], object]) -> object:
    try:
        return build()
    except (PydanticInvalidForJsonSchema, PydanticUserError) as error:
        raise BadTool(f"tool {tool!r}: a type has no form in JSON: {_first_line(error)}", hint=_TYPES) from None


_METHOD = "Make the tool inside a function, or of a bound method: tool(effect=…)(thing.method)."
_TYPED_DICT = "On Python 3.11, import TypedDict from typing_extensions."
_TYPES = "Use text, numbers, dates, enums, Literal, lists, dataclasses, TypedDicts or pydantic models."


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
