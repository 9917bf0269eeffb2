"""Arguments: complete, known, and of the types of their parameters."""

from collections.abc import Iterator, Mapping
from typing import cast

from chargehand.checking.typing import Typing
from chargehand.checking.view import Place, View
from chargehand.domain import schemas
from chargehand.domain.diagnostics import Diagnostic, Path, did_you_mean, finding, listed, nearest
from chargehand.domain.expressions import UNREADABLE
from chargehand.domain.inputs import inputs_schema
from chargehand.domain.plan import Step
from chargehand.domain.shapes import (
    ANYTHING,
    Many,
    Number,
    Record,
    Schema,
    Shape,
    Text,
    Whole,
    describe,
    either,
    fits,
    shape_of,
    without_null,
)
from chargehand.domain.values import Fields, Items, Literal, Reference, Value, references, resolve
from chargehand.errors import ExpressionError


def check_arguments(view: View, typing: Typing) -> Iterator[Diagnostic]:
    """What every tool and sub-goal is given is complete, known and of the right types."""
    for step in view.plan.steps:
        tool, goal = view.tool(step), view.sub_goal(step)
        path = view.path(step, "with")
        if (step.id, "with") in view.unread:
            continue
        if tool is not None:
            signature = tool.signature
            fitting = _Fitting(typing, step, signature.arguments_schema)
            yield from fitting.arguments(step, path, tool.name, signature.required)
        elif goal is not None:
            required = {name for name, input in goal.inputs.items() if input.default is None} - goal.captured
            fitting = _Fitting(typing, step, inputs_schema(goal.inputs))
            yield from fitting.arguments(step, path, "the sub-goal", frozenset(required))


def check_answer_form(view: View, typing: Typing, returns: Schema) -> Iterator[Diagnostic]:
    """The answer is of the form that is promised to others."""
    if view.plan.answer is not None:
        yield from _Fitting(typing, None, returns).value(view.plan.answer, returns, ("answer",), "the answer")


class _Fitting:
    """Values against a schema: of one step, or of the answer."""

    def __init__(self, typing: Typing, step: Step | None, schema: Schema) -> None:
        self._typing, self._step, self._schema = typing, step, schema
        self._definitions = cast(Mapping[str, Schema], schema.get("$defs") or {})

    def arguments(self, step: Step, path: Path, taker: str, required: frozenset[str]) -> Iterator[Diagnostic]:
        properties = cast(Mapping[str, Schema], self._schema.get("properties") or {})
        given = dict(step.arguments.fields)
        unknown, missing = [name for name in given if name not in properties], required - given.keys()
        meant = {name: near for name in unknown for near in nearest(name, properties)}
        if len(unknown) == len(missing) == 1:
            meant = {unknown[0]: next(iter(missing))}  # one name for another
        for name in sorted(missing - set(meant.values())):
            hint = f"Add it under `with`: {name} takes {describe(self._shape(properties[name]))}."
            yield self._finding("CH204", path, f"does not give {taker} the argument {name!r}", hint)
        for name in unknown:
            known = did_you_mean(name, properties) or f"{taker} takes no arguments."
            hint = f"Did you mean {meant[name]!r}?" if name in meant else known
            message = f"gives {taker} an argument {name!r}, which it does not take"
            yield self._finding("CH205", (*path, name), message, hint)
        for name in given.keys() & properties.keys():
            yield from self.value(given[name], properties[name], (*path, name), name)

    def value(self, value: Value, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        match value:
            case Reference():
                yield from self._reference(value, schema, path, name)
            case Items(items=items) if _refers(value):
                yield from self._items(items, schema, path, name)
            case Fields() if _refers(value):
                yield from self._fields(value, schema, path, name)
            case _:
                yield from self._literal(resolve(value, {}), schema, path, name)

    def _literal(self, value: object, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        for violation in schemas.violations(self._complete(schema), value):
            message = f"gives {name!r} a value that does not fit: {violation.message}"
            yield self._finding("CH206", (*path, *violation.path), message, violation.hint)

    def _constant(self, value: Reference, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        try:
            result = value.expression.evaluate({})
        except ExpressionError as error:
            yield self._finding("CH304", (*path, "$"), f"gives {name!r} what cannot be worked out: {error.message}")
            return
        yield from self._literal(result, schema, path, name)

    def _items(self, items: tuple[Value, ...], schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        outer = self._option(schema, "array")
        if outer is None or "prefixItems" in outer:
            yield from self._as_a_whole(Items(items), schema, path, name)
            return
        inner = outer.get("items")
        for number, item in enumerate(items):
            if isinstance(inner, Mapping):
                yield from self.value(item, cast(Schema, inner), (*path, number), name)

    def _fields(self, value: Fields, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        outer = self._option(schema, "object")
        if outer is None:
            yield from self._as_a_whole(value, schema, path, name)
            return
        properties = cast(Mapping[str, Schema], outer.get("properties") or {})
        given, more = dict(value.fields), outer.get("additionalProperties")
        missing = sorted(set(cast(list[str], outer.get("required") or [])) - given.keys())
        if missing:
            yield self._finding(
                "CH206", path, f"gives {name!r} a record without {listed(missing)}", "Add what is missing."
            )
        for field, inner in given.items():
            if field in properties:
                yield from self.value(inner, properties[field], (*path, field), field)
            elif isinstance(more, Mapping):
                yield from self.value(inner, cast(Schema, more), (*path, field), field)
            elif more is False:
                hint = did_you_mean(field, properties)
                yield self._finding(
                    "CH206", (*path, field), f"gives {name!r} a record with an unknown field {field!r}", hint
                )

    def _reference(self, value: Reference, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        if value.expression is UNREADABLE:
            return
        place = Place(path, self._step, "with" if self._step else "answer", value.expression)
        typed = self._typing.type(place)
        if not typed.known or typed.troubles:
            return
        if not value.expression.names:  # it stands for one value, which is known
            yield from self._constant(value, schema, path, name)
            return
        wanted, text = self._shape(schema), value.expression.text
        fit = fits(typed.shape, wanted)
        if fit == "maybe" and fits(without_null(typed.shape), wanted) == "no":
            fit = "no"
        if fit == "no":
            message = f"gives {name!r} `{text}`, which is {describe(typed.shape)}; it takes {describe(wanted)}"
            yield self._finding("CH207", place.text_path, message, _conversion(text, typed.shape, wanted))
        elif fit == "maybe" and not typed.absent and not place.guards(text):
            message = f"gives {name!r} `{text}`, which is {describe(typed.shape)}; it takes {describe(wanted)}"
            yield self._finding("CH208", place.text_path, message, f"Guard the step: when: {text} != null.")

    def _as_a_whole(self, value: Value, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        """Where a schema leaves a choice, the value is held against it by its shape."""
        wanted, given = self._shape(schema), self._shape_of_value(value, path)
        if fits(given, wanted) == "no":
            yield self._finding("CH206", path, f"gives {name!r} {describe(given)}; it takes {describe(wanted)}")

    def _shape_of_value(self, value: Value, path: Path) -> Shape:
        match value:
            case Literal(value=literal):
                return shape_of({"const": literal})
            case Reference(expression=expression):
                place = Place(path, self._step, "with" if self._step else "answer", expression)
                return ANYTHING if expression is UNREADABLE else self._typing.type(place).shape
            case Items(items=items):
                return Many(either(self._shape_of_value(item, (*path, n)) for n, item in enumerate(items)))
            case Fields(fields=fields):
                shapes = {field: self._shape_of_value(inner, (*path, field)) for field, inner in fields}
                return Record("record", shapes, frozenset(shapes))

    def _option(self, schema: Schema, kind: str) -> Schema | None:
        """The schema for values of a kind, seen through references and choices; None if there is not exactly one."""
        reference = schema.get("$ref")
        if isinstance(reference, str):
            found = self._definitions.get(reference.rpartition("/")[2])
            return self._option(found, kind) if found is not None else None
        for key in ("anyOf", "oneOf", "allOf"):
            options = schema.get(key)
            if isinstance(options, list):
                inner = [self._option(option, kind) for option in cast(list[Schema], options)]
                found = [option for option in inner if option is not None]
                return found[0] if len(found) == 1 else None
        return schema if schema.get("type") == kind else None

    def _complete(self, schema: Schema) -> Schema:
        return {**schema, "$defs": self._definitions} if self._definitions else schema

    def _shape(self, schema: Schema) -> Shape:
        return self._typing.shape(schema, self._complete)

    def _finding(self, code: str, path: Path, message: str, hint: str = "") -> Diagnostic:
        if self._step is None:
            return finding(code, path, f"the plan {message}", hint=hint)
        return finding(code, path, f"step {self._step.id!r} {message}", step=self._step.id, hint=hint)


def _refers(value: Value) -> bool:
    return next(references(value), None) is not None


def _conversion(text: str, given: Shape, wanted: Shape) -> str:
    """How to make one shape of another, where there is a way."""
    match without_null(given), without_null(wanted):
        case Number(), Whole():
            return "Convert it: int(…)."
        case ((Number() | Whole()), Text()):
            return "Convert it: string(…)."
        case Text(format="date-time"), Text(format="date"):
            return f"Take its date: string({text}).substring(0, 10)."
        case Text(), (Number() | Whole()):
            return "Convert it: double(…) or int(…)."
        case one, Many(item=item) if fits(one, item) == "yes":
            return "Put it in brackets to make a list of one."
        case Many(item=item), one if fits(item, one) == "yes":
            return "Take one item with [0], or run the step for each item with `each`."
        case Record(fields=fields), _:
            fitting = [name for name, inner in fields.items() if fits(inner, wanted) == "yes" and inner != ANYTHING]
            return f"Did you mean {text}.{fitting[0]}?" if fitting else ""
        case _:
            return ""
