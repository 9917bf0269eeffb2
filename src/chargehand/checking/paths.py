"""Paths: the shape at the end of `find.flights[0].id`, and what is wrong on the way."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from chargehand.domain.diagnostics import did_you_mean, show_path
from chargehand.domain.expressions import Expression
from chargehand.domain.expressions.tree import Call, Constant, Loop, Name, Node, Select, children, path_of, walk
from chargehand.domain.expressions.words import LIBRARIES, TYPE_NAMES
from chargehand.domain.shapes import (
    ANYTHING,
    Anything,
    Either,
    Many,
    Record,
    Shape,
    Table,
    describe,
    may_be_null,
    merged,
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """What is wrong inside an expression: the code, and what to say."""

    code: str
    message: str
    hint: str = ""
    offset: int | None = None


@dataclass(frozen=True, slots=True)
class Typed:
    """The shape of an expression, or what is wrong with it; `absent` names a part on the way that may be missing.

    Not `known` is an expression with unknown words: nothing can be said about its type.
    """

    shape: Shape = ANYTHING
    troubles: tuple[Trouble, ...] = ()
    absent: str = ""
    known: bool = True


def walk_path(path: tuple[str | int, ...], root: Shape) -> Typed:
    """The shape at the end of a path that begins with a name of this shape. A trouble's offset counts parts."""
    shape, absent = root, ""
    for place, part in enumerate(path[1:], 1):
        before = show_path(path[:place])
        if may_be_null(shape):
            absent = absent or before
        shape = merged(shape)
        match shape, part:
            case Anything(), _:
                return Typed(absent=absent)
            case Record(fields=fields, required=required), str():
                if part not in fields:
                    hint = did_you_mean(part, fields)
                    message = f"`{before}` has no field {part!r}"
                    return Typed(troubles=(Trouble("CH303", message, hint, place),))
                if part not in required:
                    absent = absent or f"{before}.{part}"
                shape = fields[part]
            case Table(value=value), str():
                shape = value
            case Many(), int() if part < 0:
                message = f"`{before}` has no item {part}: items are counted from 0"
                hint = f"The last one is {before}[size({before}) - 1]."
                return Typed(troubles=(Trouble("CH304", message, hint, place),))
            case Many(item=item), int():
                shape = item
            case Many(), str():
                hint = f"Take one with [0], all with {before}.map(x, x.{part}), or use `each`."
                message = f"`{before}` is {describe(shape)}, which has no field {part!r}"
                return Typed(troubles=(Trouble("CH303", message, hint, place),))
            case Either(), _:
                return Typed(absent=absent)
            case _:
                message = f"`{before}` is {describe(shape)}, which has no {_part_text(part)}"
                return Typed(troubles=(Trouble("CH303", message, "", place),))
    return Typed(shape, absent=absent)


def type_path(expression: Expression, root: Shape) -> Typed:
    """The shape of an expression that is only a path; a trouble's offset is a character of its text."""
    assert expression.path is not None
    typed = walk_path(expression.path, root)
    offsets = _offsets(expression.tree)
    moved = (replace(trouble, offset=offsets[trouble.offset or 0]) for trouble in typed.troubles)
    return replace(typed, troubles=tuple(moved))


def _offsets(tree: Node) -> list[int]:
    """Where each part of a path stands in the text."""
    offsets: list[int] = []
    while not isinstance(tree, Name):
        offsets.append(tree.offset + 1)  # behind the dot or the bracket
        tree = children(tree)[0]
    return [tree.offset, *reversed(offsets)]


def _part_text(part: str | int) -> str:
    return f"item {part}" if isinstance(part, int) else f"field {part!r}"


# What takes null as well as anything else; every other function fails on it.
_TAKES_NULL = frozenset("_==_ _!=_ _?_:_ _&&_ _||_ @in dyn type".split())


def missing_part(tree: Node, shape_of: Callable[[str], Shape]) -> str:
    """A part of an expression that may be null or missing where a value is needed, unless the expression asks."""
    waiting: list[tuple[Node, frozenset[str], bool]] = [(tree, frozenset(TYPE_NAMES | LIBRARIES), False)]
    while waiting:
        node, bound, needed = waiting.pop()
        path = path_of(node)
        if path is not None:
            part = "" if str(path[0]) in bound else _missing(path, shape_of(str(path[0])), needed)
            if part and not asks_for(tree, part):
                return part
        elif isinstance(node, Loop):
            inner = bound | {node.total, *node.variables}
            waiting += [(node.over, bound, True), (node.each, inner, False), (node.result, inner, False)]
        elif not (isinstance(node, Select) and node.tests):  # has(x.y) is there to ask
            needs = isinstance(node, Select) or (isinstance(node, Call) and node.function not in _TAKES_NULL)
            waiting += [(child, bound, needs) for child in children(node)]
    return ""


def _missing(path: tuple[str | int, ...], root: Shape, needed: bool) -> str:
    typed = walk_path(path, root)
    return typed.absent or (show_path(path) if needed and may_be_null(typed.shape) else "")


def asks_for(tree: Node, part: str) -> bool:
    """Whether an expression itself looks whether a part is there: compares it with null, or has()."""
    for node in walk(tree):
        match node:
            case Call(function="_==_" | "_!=_", args=(one, other)):
                sides = [one, other]
                if Constant(None) in sides and any(show_path(path_of(side) or ()) == part for side in sides):
                    return True
            case Select(tests=True):
                if show_path((*(path_of(node.operand) or ()), node.field)).startswith(part):
                    return True
            case _:
                pass
    return False
