"""An expression: read once from text, evaluated as often as needed."""

import datetime as dt
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from chargehand.domain.diagnostics import show_path
from chargehand.domain.expressions import cost
from chargehand.domain.expressions.functions import TABLE, short
from chargehand.domain.expressions.hoisting import Hoisted, hoist
from chargehand.domain.expressions.tree import Call, Constant, Name, Node, Select, free_names, path_of, walk, write
from chargehand.domain.expressions.words import CEL_WORDS, KEYWORDS, LIBRARIES, TYPE_NAMES
from chargehand.errors import ExpressionError

MAX_LENGTH = 4_000  # characters; the longest of our examples has 120, and a model that needs more wants a tool
MAX_DEPTH = 30  # levels; what the wire form of the tree can carry, and more than a person can follow

_PATH = re.compile(r"\s*[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*|\[[0-9]{1,9}\])*\s*", re.ASCII)
_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_]*|[0-9]+", re.ASCII)


@dataclass(frozen=True, slots=True)
class Expression:
    """A CEL expression, its tree, and what it takes from outside: names, fields of `inputs`, functions."""

    text: str
    tree: Node = field(compare=False, repr=False)
    names: frozenset[str] = field(default=frozenset(), compare=False)
    inputs: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    calls: frozenset[str] = field(default=frozenset(), compare=False, repr=False)
    path: tuple[str | int, ...] | None = field(default=None, compare=False, repr=False)
    hoisted: tuple[Hoisted, ...] = field(default=(), compare=False, repr=False)
    rest: Node = field(default=Constant(None), compare=False, repr=False)
    """What is left for the library when the hoisted calls are made."""
    rest_text: str = field(default="", compare=False, repr=False)
    can_grow: bool = field(default=False, compare=False, repr=False)

    @classmethod
    def parse(cls, text: str) -> "Expression":
        """Reads an expression; raises ExpressionError with the place of the trouble."""
        if len(text) > MAX_LENGTH:
            raise ExpressionError(
                f"the expression has {len(text):,} characters; at the most {MAX_LENGTH:,} are allowed",
                hint="Let a tool do the work, or split it over several steps.",
                limit=True,
            )
        if any("\ud800" <= character <= "\udfff" for character in text):
            raise ExpressionError("the expression holds half a surrogate pair", hint="Remove the odd character.")
        if not text.strip():
            raise ExpressionError("the expression is empty", hint="Write a path such as find.flights.")
        tree = _read_path(text) or _read(text)
        rest, hoisted = hoist(tree)
        return cls(
            text,
            tree,
            names=frozenset(name.name for name in free_names(tree)) - TYPE_NAMES - LIBRARIES,
            inputs=frozenset(
                node.field for node in walk(tree) if isinstance(node, Select) and node.operand == Name("inputs")
            ),
            calls=frozenset(node.function for node in walk(tree) if isinstance(node, Call)),
            path=path_of(tree),
            hoisted=hoisted,
            rest=rest,
            rest_text=write(rest) if hoisted else text,
            can_grow=cost.can_grow(rest),
        )

    def evaluate(self, scope: Mapping[str, object]) -> object:
        """The value on canonical values, as plain values; raises ExpressionError that names the part that failed."""
        if self.path is not None:
            return _follow(self.path, scope)
        return _plain(self._run(self._with_hoisted(scope)), self.text)

    def _with_hoisted(self, scope: Mapping[str, object]) -> dict[str, object]:
        """What the expression refers to, and the results of the calls that are made before it."""
        given = {name: scope[name] for name in self.names if name in scope}
        for hoisted in self.hoisted:
            arguments = [self._part(argument, given) for argument in hoisted.call.args]
            try:
                given[hoisted.name] = TABLE[hoisted.call.function][0](*arguments)
            except ValueError as error:
                raise ExpressionError(f"`{hoisted.written}`: {error}") from None
        return given

    def _part(self, part: Node, scope: Mapping[str, object]) -> object:
        path = path_of(part)
        if path is not None:
            return _follow(path, scope)
        return part.value if isinstance(part, Constant) else self._run(scope, part, write(part))

    def _run(self, scope: Mapping[str, object], part: Node | None = None, text: str = "") -> object:
        from chargehand.domain.expressions import cel

        tree = self.rest if part is None else part
        if self.can_grow or part is not None:
            cost.estimate(tree, scope)
        try:
            return cel.run(text or self.rest_text, scope)
        except cel.EvaluationFailed as error:
            from chargehand.domain.expressions.blame import explain

            raise ExpressionError(self._as_written(explain(tree, scope, str(error)))) from None

    def _as_written(self, message: str) -> str:
        for hoisted in reversed(self.hoisted):
            message = message.replace(hoisted.name, hoisted.written)
        return message

    def cost(self, scope: Mapping[str, object]) -> float:
        """Seconds that `evaluate` may take at the most: past 0.01 it belongs off the event loop."""
        return cost.estimate(self.rest, self._with_hoisted(scope)) if self.can_grow else 0.0

    def holds(self, scope: Mapping[str, object]) -> bool:
        """Evaluates a condition; anything but true or false is an error."""
        value = self.evaluate(scope)
        if not isinstance(value, bool):
            raise ExpressionError(f"`{self.text}` gave {short(value)}, not true or false")
        return value


# Stands for an expression that could not be read, so that nothing else is said about its place.
UNREADABLE = Expression("?", Constant(None))


def _read_path(text: str) -> Node | None:
    """The tree of a plain path, without the library: nearly every reference is one."""
    if not _PATH.fullmatch(text):
        return None
    parts = list(_PART.finditer(text))
    if any(part.group() in KEYWORDS or part.group() in CEL_WORDS for part in parts):
        return None
    tree: Node = Name(parts[0].group(), parts[0].start())
    for part in parts[1:]:
        word, dot = part.group(), part.start() - 1
        tree = (
            Call("_[_]", None, (tree, Constant(int(word))), dot) if word.isdigit() else Select(tree, word, offset=dot)
        )
    return tree


def _read(text: str) -> Node:
    from chargehand.domain.expressions import cel

    try:
        return cel.parse(text)
    except cel.Refused as error:
        first = error.complaints[0]
        if error.too_deep:
            raise _too_deep() from None
        raise ExpressionError(_readable(first.message), offset=first.offset, hint=_syntax_hint(text)) from None


def _too_deep() -> ExpressionError:
    return ExpressionError(
        f"the expression nests more than about {MAX_DEPTH} levels deep",
        hint="Split it over several steps, or let a tool do the work.",
        limit=True,
    )


def _readable(message: str) -> str:
    message = message.removeprefix("Syntax error: ")
    return re.sub(r" expecting \{.*\}", "", message).replace("'<EOF>'", "the end")


def _syntax_hint(text: str) -> str:
    if re.search(r"\b(and|or|not)\b", text):
        return "CEL writes && for and, || for or, ! for not."
    if re.search(r"(?<![=!<>])=(?!=)", text):
        return "CEL compares with ==."
    if "{{" in text or "${" in text:
        return "Write the bare expression; no brackets around it."
    return "See the page on the plan language for what an expression may hold."


def _follow(path: tuple[str | int, ...], scope: Mapping[str, object]) -> object:
    value: Any = scope
    for place, part in enumerate(path):
        match value, part:
            case Mapping(), str() if part in value:
                value = cast(Any, value)[part]
            case list(), int() if 0 <= part < len(cast(list[Any], value)):
                value = cast(Any, value)[part]
            case _:
                raise ExpressionError(_no_such(path, place, value))
    return value


def _no_such(path: tuple[str | int, ...], place: int, value: object) -> str:
    whole, before = show_path(path[: place + 1]), show_path(path[:place])
    part = path[place]
    match value:
        case Mapping() if place == 0:
            return f"`{whole}` is not known here"
        case Mapping():
            fields = ", ".join(sorted(map(str, cast(Mapping[str, object], value)))[:12]) or "no fields"
            return f"`{whole}`: `{before}` has no field {part!r}; it has {fields}"
        case list() if isinstance(part, int):
            return f"`{whole}`: `{before}` has {len(cast(list[object], value))} items, so there is no item {part}"
        case _:
            return f"`{whole}`: `{before}` is {short(value)}, which has no {part!r}"


def _plain(value: object, text: str) -> object:
    """The value as a plan may hold it: moments and durations become text, numbers are finite."""
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            if math.isfinite(value):
                return value
            raise ExpressionError(f"`{text}` gave {value}, which no plan can hold")
        case list():
            return [_plain(item, text) for item in cast(list[object], value)]
        case Mapping():
            return _plain_map(cast(Mapping[object, object], value), text)
        case dt.datetime():
            return value.isoformat().replace("+00:00", "Z")
        case dt.timedelta():
            return f"PT{value.total_seconds():.6f}".rstrip("0").rstrip(".") + "S"
        case _:
            raise ExpressionError(f"`{text}` gave {short(value)}, which no plan can hold")


def _plain_map(value: Mapping[object, object], text: str) -> dict[str, object]:
    odd = next((key for key in value if not isinstance(key, str)), None)
    if odd is not None:
        raise ExpressionError(f"`{text}` gave a map with the key {odd!r}; keys are text", hint="Write string(key).")
    return {str(key): _plain(item, text) for key, item in value.items()}
