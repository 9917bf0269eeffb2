"""Values in a plan: literals with references inside, as an immutable tree that is resolved when a step runs."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from chargehand.domain.diagnostics import Path
from chargehand.domain.expressions import Expression

Scalar = None | bool | int | float | str


@dataclass(frozen=True, slots=True)
class Literal:
    value: Scalar


@dataclass(frozen=True, slots=True)
class Reference:
    """`{$: expression}`; with `max_age`, what it refers to may be that many seconds old when the step begins."""

    expression: Expression
    max_age: float | None = None


@dataclass(frozen=True, slots=True)
class Items:
    items: "tuple[Value, ...]"


@dataclass(frozen=True, slots=True)
class Fields:
    fields: "tuple[tuple[str, Value], ...]" = ()

    def __getitem__(self, name: str) -> "Value":
        return dict(self.fields)[name]


Value = Literal | Reference | Items | Fields


def resolve(value: Value, scope: Mapping[str, object]) -> object:
    """The plain value: every reference replaced by what it gives. Text that it gives is never read again."""
    match value:
        case Literal(value=literal):
            return literal
        case Reference(expression=expression):
            return expression.evaluate(scope)
        case Items(items=items):
            return [resolve(item, scope) for item in items]
        case Fields(fields=fields):
            return {name: resolve(inner, scope) for name, inner in fields}


def references(value: Value, path: Path = ()) -> Iterator[tuple[Path, Expression]]:
    """Every reference in a value, with its place."""
    match value:
        case Literal():
            return
        case Reference(expression=expression):
            yield path, expression
        case Items(items=items):
            for number, item in enumerate(items):
                yield from references(item, (*path, number))
        case Fields(fields=fields):
            for name, inner in fields:
                yield from references(inner, (*path, name))


def ages(value: Value) -> dict[str, float]:
    """The names that references with a `max_age` take their values from, and the least age that is allowed."""
    found: dict[str, float] = {}
    for _, reference in aged(value):
        for name in reference.expression.names:
            age = reference.max_age or 0.0
            found[name] = min(age, found.get(name, age))
    return found


def aged(value: Value, path: Path = ()) -> Iterator[tuple[Path, Reference]]:
    """Every reference with a `max_age` in a value, with its place."""
    match value:
        case Reference(max_age=None) | Literal():
            return
        case Reference():
            yield path, value
        case Items(items=items):
            for number, item in enumerate(items):
                yield from aged(item, (*path, number))
        case Fields(fields=fields):
            for name, inner in fields:
                yield from aged(inner, (*path, name))


def write(value: Value) -> object:
    """The value as it stands in a plan's text."""
    match value:
        case Literal(value=literal):
            return literal
        case Reference(expression=expression, max_age=max_age):
            return {"$": expression.text} if max_age is None else {"$": expression.text, "max_age": max_age}
        case Items(items=items):
            return [write(item) for item in items]
        case Fields(fields=fields):
            return {name: write(inner) for name, inner in fields}
