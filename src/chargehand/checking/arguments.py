"""What steps are given: known tools, skills and goals, and arguments that fit their parameters."""

from collections.abc import Iterator, Mapping
from typing import cast

from chargehand.checking.typing import Typed, Typing
from chargehand.checking.view import Place, View
from chargehand.domain import schemas
from chargehand.domain.diagnostics import Diagnostic, Path, did_you_mean, finding, listed, nearest
from chargehand.domain.expressions import UNREADABLE
from chargehand.domain.inputs import inputs_schema
from chargehand.domain.plan import Ask, Pursue, Step, Use
from chargehand.domain.shapes import Many, Schema, Shape, Truth, describe, fits, shape_of, without_null
from chargehand.domain.values import Fields, Items, Literal, Reference, Value, references, resolve
from chargehand.errors import BadSchema


def check_actions(view: View) -> Iterator[Diagnostic]:
    """Every tool, skill and sub-goal is known."""
    for step in view.plan.steps:
        match step.action:
            case Use(tool=tool) if tool not in view.catalog.tools:
                hint = did_you_mean(tool, view.catalog.tools) or "No tools are known here: was the right app given?"
                message = f"step {step.id!r} uses the tool {tool!r}: no such tool"
                yield finding("CH201", view.path(step, "use"), message, step=step.id, hint=hint)
            case Ask(skill=skill) if skill not in view.catalog.skills:
                hint = (
                    did_you_mean(skill, view.catalog.skills) or "No agents are known here: give Chargehand(agents=[…])."
                )
                message = f"step {step.id!r} asks for the skill {skill!r}: nobody has it"
                yield finding("CH202", view.path(step, "ask"), message, step=step.id, hint=hint)
            case Pursue(goal=goal) if view.sub_goal(step) is None:
                hint = "Give the goal in the words of a playbook: `chargehand playbooks` lists them."
                message = f"step {step.id!r} pursues {goal!r}, which no playbook answers"
                yield finding("CH203", view.path(step, "goal"), message, step=step.id, hint=hint)
            case _:
                pass


def check_schemas(view: View) -> Iterator[Diagnostic]:
    """The schemas that a plan brings along can be used, and the values of its inputs follow theirs."""
    for step in view.plan.steps:
        if step.returns is not None:
            try:
                schemas.vet_schema(step.returns)
            except BadSchema as error:
                message = f"step {step.id!r}: `returns` is {error.message}"
                yield finding("CH209", view.path(step, "returns"), message, step=step.id)
    for name, input in view.plan.inputs.items():
        path: Path = ("inputs", name)
        try:
            schemas.vet_schema(input.schema)
        except BadSchema as error:
            yield finding("CH209", (*path, "schema"), f"input {name!r}: the schema is {error.message}")
            continue
        if input.value is not None:
            for below, message in schemas.violations(input.schema, input.value):
                yield finding("CH206", (*path, "value", *below), f"input {name!r}: {message}")


def check_conditions(view: View, typing: Typing) -> Iterator[Diagnostic]:
    """Conditions are true or false, `each` goes over a list, and every expression is sound in itself."""
    for place in view.expressions:
        typed = typing.type(place)
        yield from _troubles(place, typed)
        if not typed.known or typed.troubles:
            continue
        shape = without_null(typed.shape)
        text = place.expression.text
        if place.field in ("when", "expect") and fits(shape, Truth()) == "no":
            message = f"`{text}` gives {describe(shape)}, not true or false"
            hint = "Compare it with something."
            yield finding("CH305", place.text_path, message, step=place.step_id, hint=hint)
        if place.field == "each" and fits(shape, Many(shape_of(None))) == "no":
            message = f"`each` goes over `{text}`, which is {describe(shape)}, not a list"
            hint = "Name a list, or put the value in brackets: [x]."
            yield finding("CH306", place.text_path, message, step=place.step_id, hint=hint)
        if place.field == "expect" and "output" not in place.expression.names:
            message = f"the check `{text}` does not look at the output, so it says nothing about it"
            yield finding("CH308", place.text_path, message, step=place.step_id, hint="Refer to `output`.")


def _troubles(place: Place, typed: Typed) -> Iterator[Diagnostic]:
    where = f"step {place.step_id!r}" if place.step_id else f"the {place.path[0]}"
    for trouble in typed.troubles:
        message = f"{where}: {trouble.message}, in `{place.expression.text}`"
        yield finding(
            trouble.code, place.text_path, message, step=place.step_id, hint=trouble.hint, offset=trouble.offset
        )


def check_arguments(view: View, typing: Typing) -> Iterator[Diagnostic]:
    """Arguments are complete, known, and of the types of their parameters."""
    for step in view.plan.steps:
        tool, goal = view.tool(step), view.sub_goal(step)
        if tool is not None:
            schema = tool.signature.arguments_schema
            yield from _Arguments(view, typing, step, schema, tool.name, tool.signature.required).check()
        elif goal is not None:
            required = {name for name, input in goal.inputs.items() if input.default is None} - goal.captured
            schema = inputs_schema(goal.inputs)
            yield from _Arguments(view, typing, step, schema, "the sub-goal", frozenset(required)).check()


class _Arguments:
    """The arguments of one step against one schema."""

    def __init__(
        self, view: View, typing: Typing, step: Step, schema: Schema, taker: str, required: frozenset[str]
    ) -> None:
        self._view, self._typing, self._step = view, typing, step
        self._schema, self._taker, self._required = schema, taker, required
        self._definitions = cast(Mapping[str, Schema], schema.get("$defs") or {})

    def check(self) -> Iterator[Diagnostic]:
        properties = cast(Mapping[str, Schema], self._schema.get("properties") or {})
        given = dict(self._step.arguments.fields)
        path = self._view.path(self._step, "with")
        misspelt = {near for name in given if name not in properties for near in nearest(name, properties)}
        for name in sorted(self._required - given.keys() - misspelt):
            takes = describe(self._shape(properties[name]))
            hint = f"Add it under `with`: {name} takes {takes}."
            yield self._finding("CH204", path, f"does not give {self._taker} the argument {name!r}", hint)
        for name, value in given.items():
            if name not in properties:
                hint = did_you_mean(name, properties) or f"{self._taker} takes no arguments."
                yield self._finding(
                    "CH205", (*path, name), f"gives {self._taker} an argument {name!r}, which it does not take", hint
                )
            else:
                yield from self._value(value, properties[name], (*path, name), name)

    def _value(self, value: Value, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        match value:
            case Reference():
                yield from self._reference(value, schema, path, name)
            case Literal() | Items() | Fields() if next(references(value), None) is None:
                for below, message in schemas.violations(self._complete(schema), resolve(value, {})):
                    yield self._finding(
                        "CH206", (*path, *below), f"gives {name!r} a value that does not fit: {message}"
                    )
            case Items(items=items):
                yield from self._items(items, schema, path, name)
            case Fields():
                yield from self._fields(value, schema, path, name)
            case Literal():
                return

    def _items(self, items: tuple[Value, ...], schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        outer = self._option(schema, "array")
        if outer is None:
            yield from self._wrong_kind("a list", schema, path, name)
            return
        inner = outer.get("items")
        for number, item in enumerate(items):
            if isinstance(inner, Mapping):
                yield from self._value(item, cast(Schema, inner), (*path, number), name)

    def _fields(self, value: Fields, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        outer = self._option(schema, "object")
        if outer is None:
            yield from self._wrong_kind("a record", schema, path, name)
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
                yield from self._value(inner, properties[field], (*path, field), field)
            elif isinstance(more, Mapping):
                yield from self._value(inner, cast(Schema, more), (*path, field), field)
            elif more is False:
                hint = did_you_mean(field, properties)
                yield self._finding(
                    "CH206", (*path, field), f"gives {name!r} a record with an unknown field {field!r}", hint
                )

    def _reference(self, value: Reference, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        if value.expression is UNREADABLE:
            return
        place = Place(path, self._step, "with", value.expression)
        typed = self._typing.type(place)
        if not typed.known or typed.troubles:
            return
        wanted, text = self._shape(schema), value.expression.text
        fit = fits(typed.shape, wanted)
        if fit == "maybe" and fits(without_null(typed.shape), wanted) == "no":
            fit = "no"
        if fit == "no":
            message = f"gives {name!r} `{text}`, which is {describe(typed.shape)}; it takes {describe(wanted)}"
            yield self._finding("CH207", place.text_path, message, _conversion(typed.shape, wanted))
        elif (fit == "maybe" or typed.absent) and not self._guarded(typed.absent or text):
            what = f"`{typed.absent}` may be missing" if typed.absent else f"that is {describe(typed.shape)}"
            message = f"gives {name!r} `{text}`, but {what}, and it takes {describe(wanted)}"
            hint = f"Guard the step: when: {typed.absent or text} != null."
            yield self._finding("CH208", place.text_path, message, hint)

    def _guarded(self, part: str) -> bool:
        """Whether the step's `when` looks at the part that may be missing."""
        when = self._step.when
        return when is not None and part in when.text

    def _wrong_kind(self, given: str, schema: Schema, path: Path, name: str) -> Iterator[Diagnostic]:
        wanted = self._shape(schema)
        if fits(Many(shape_of(None)) if given == "a list" else shape_of({"type": "object"}), wanted) == "no":
            yield self._finding("CH206", path, f"gives {name!r} {given}; it takes {describe(wanted)}")

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
        return finding(code, path, f"step {self._step.id!r} {message}", step=self._step.id, hint=hint)


def _conversion(given: Shape, wanted: Shape) -> str:
    match describe(without_null(given)), describe(without_null(wanted)):
        case "a number", "a whole number":
            return "Convert it: int(…)."
        case (("a number" | "a whole number"), "text"):
            return "Convert it: string(…)."
        case "text", ("a number" | "a whole number"):
            return "Convert it: double(…) or int(…)."
        case _:
            pass
    if isinstance(wanted, Many) and fits(given, wanted.item) == "yes":
        return "Put it in brackets to make a list of one."
    if isinstance(given, Many) and fits(given.item, wanted) == "yes":
        return "Take one item with [0], or run the step for each item with `each`."
    return ""
