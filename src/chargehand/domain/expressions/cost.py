"""An upper bound for what an expression will cost on given values, known before it is evaluated.

The library cannot be interrupted, and its `map` and `filter` copy their result at each item (1,000 items take up
to 0.1 s, 5,000 take 2.6 s). So the tree is walked once with *extents* (how long, how large a value can be) in the
place of values; whatever could grow or run past a limit is refused before it begins.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from chargehand.domain.expressions.tree import (
    Call,
    Constant,
    ListOf,
    Loop,
    MapOf,
    Name,
    Node,
    Select,
    children,
    walk,
    write,
)
from chargehand.errors import ExpressionError

MAX_SECONDS = 0.5  # one expression may not hold its caller for longer than a person notices
MAX_SIZE = 8_000_000  # characters and items of any value on the way: some tens of megabytes of memory
MAX_ROUNDS = 10_000  # the library's own budget for the iterations of one evaluation

MAX_BUILT = 50_000_000  # characters and items of all values on the way together: the library frees none until the end

_PER_UNIT = 1e-7  # seconds for each character or item that a comparison, a search or a copy looks at
_PER_ROUND = 1e-6  # seconds for one round of a loop; measured 0.5 to 1 µs
_PER_COPY = 1e-7  # seconds for each item that `map` and `filter` copy, n²/2 of them doubled for a slow machine


@dataclass(frozen=True, slots=True)
class Extent:
    """How long and how large a value can be, and likewise whatever is inside it."""

    length: int = 1
    size: int = 1
    inner_length: int = 0
    inner_size: int = 0

    def element(self) -> "Extent":
        return Extent(self.inner_length, self.inner_size or 1, self.inner_length, self.inner_size)


_SMALL = Extent(64, 64)


@dataclass(slots=True)
class _Work:
    seconds: float = 0.0
    rounds: int = 0
    built: int = 0

    def look(self, size: int, times: int) -> None:
        self.seconds += size * times * _PER_UNIT

    def build(self, node: Node, extent: Extent, times: int) -> Extent:
        self.built += extent.size * times
        if self.built > MAX_BUILT:
            message = f"`{write(node)}` would build more than {MAX_BUILT:,} characters and items"
            raise ExpressionError(message, hint="Let a tool build large values.")
        return extent


def can_grow(tree: Node) -> bool:
    """Whether the cost depends on the values at all: without loops and copies of text it does not."""
    return any(isinstance(node, Loop) or (isinstance(node, Call) and node.function in _GROWING) for node in walk(tree))


def estimate(tree: Node, scope: Mapping[str, object]) -> float:
    """Seconds that the evaluation may take at the most; raises ExpressionError if a limit would be passed."""
    work = _Work()
    _extent(tree, _Scope(scope, {}), work, 1)
    return work.seconds


@dataclass(frozen=True, slots=True)
class _Scope:
    values: Mapping[str, object]
    bound: Mapping[str, Extent]

    def bind(self, names: Mapping[str, Extent]) -> "_Scope":
        return _Scope(self.values, {**self.bound, **names})


def _extent(node: Node, scope: _Scope, work: _Work, times: int) -> Extent:
    known, value = _known(node, scope)
    extent = measure(value) if known else _derive(node, scope, work, times)
    if extent.size > MAX_SIZE:
        raise ExpressionError(
            f"`{write(node)}` could grow to {extent.size:,} characters or items; at the most {MAX_SIZE:,} are allowed",
            hint="Let a tool build large values.",
        )
    return extent


def _derive(node: Node, scope: _Scope, work: _Work, times: int) -> Extent:
    match node:
        case Constant(value=value):
            return measure(value)
        case Name(name=name):
            return scope.bound.get(name, _SMALL)
        case Select(operand=operand):
            return _extent(operand, scope, work, times).element()
        case Loop():
            return _loop(node, scope, work, times)
        case Call():
            parts = [_extent(child, scope, work, times) for child in children(node)]
            if node.function not in _AT_ONCE:
                work.look(sum(part.size for part in parts), times)
                _in_time(node, work)
            return work.build(node, _call(node, parts), times)
        case ListOf() | MapOf():
            parts = [_extent(child, scope, work, times) for child in children(node)]
            return work.build(node, _around(parts), times)


def _around(parts: list[Extent]) -> Extent:
    return Extent(
        len(parts),
        1 + sum(part.size for part in parts),
        max((max(part.length, part.inner_length) for part in parts), default=0),
        max((max(part.size, part.inner_size) for part in parts), default=0),
    )


# These take the same time whatever they are given.
_AT_ONCE = ("_[_]", "size", "_&&_", "_||_", "_?_:_", "!_", "-_", "_-_", "_*_", "_/_", "_%_", "@not_strictly_false")
_MULTIPLYING = ("replace", "format", "join")
_GROWING = ("_+_", *_MULTIPLYING)
_ONE_VALUE = frozenset("_==_ _!=_ _<_ _<=_ _>_ _>=_ _&&_ _||_ !_ -_ @in _-_ _*_ _/_ _%_ matches size".split())


def _call(call: Call, parts: list[Extent]) -> Extent:
    if call.function in _ONE_VALUE or not parts:
        return Extent()
    if call.function == "_[_]":
        return parts[0].element()
    inner_length = max(part.inner_length for part in parts)
    inner_size = max(max(part.inner_size, part.size if call.function == "split" else 0) for part in parts)
    if call.function == "_?_:_":
        parts = parts[1:]
        return Extent(max(p.length for p in parts), max(p.size for p in parts), inner_length, inner_size)
    if call.function in _MULTIPLYING:
        size = (parts[0].size + 1) * (sum(part.size for part in parts[1:]) + 1)
        return Extent(size, size)
    return Extent(sum(part.length for part in parts), sum(part.size for part in parts) + 64, inner_length, inner_size)


def _loop(loop: Loop, scope: _Scope, work: _Work, times: int) -> Extent:
    over = _extent(loop.over, scope, work, times)
    rounds = over.length
    work.rounds += rounds * times
    work.seconds += rounds * times * _PER_ROUND
    builds = isinstance(loop.start, ListOf)
    if builds:
        work.seconds += rounds * rounds * times * _PER_COPY
    _within_limits(loop, rounds, work)
    inner = scope.bind({loop.total: Extent(0, 0)} | {name: over.element() for name in loop.variables})
    grown = _extent(loop.each, inner, work, times * max(rounds, 1))
    if not builds:
        return Extent()
    item = max(grown.size, grown.inner_size)
    inner_length = max(grown.inner_length, over.inner_length)
    return Extent(rounds * max(grown.length, 1), 1 + rounds * grown.size, inner_length, item)


def _within_limits(loop: Loop, rounds: int, work: _Work) -> None:
    if work.rounds > MAX_ROUNDS:
        raise ExpressionError(
            f"`{write(loop)}` would take {work.rounds:,} rounds; an expression has {MAX_ROUNDS:,}",
            hint="Use a tool for long lists, or `each` for one step an item.",
        )
    _in_time(loop, work, f" over {rounds:,} items")


def _in_time(node: Node, work: _Work, over: str = "") -> None:
    if work.seconds > MAX_SECONDS:
        raise ExpressionError(
            f"`{write(node)}`{over} would take too long; the cost of a loop grows with the square of its list",
            hint="Use a tool for long lists, or `each` for one step an item.",
        )


def _known(node: Node, scope: _Scope) -> tuple[bool, object]:
    """Whether a part is a plain path into the given values, and what is there."""
    match node:
        case Name(name=name):
            found = name not in scope.bound and name in scope.values
            return found, scope.values[name] if found else None
        case Select(operand=operand, field=name, tests=False):
            known, value = _known(operand, scope)
            if known and isinstance(value, Mapping) and name in value:
                return True, cast(Mapping[str, object], value)[name]
            return False, None
        case _:
            return False, None


def measure(value: object) -> Extent:
    """The extent of a value that is there."""
    return Extent(*_measure(value))


def _measure(value: object) -> tuple[int, int, int, int]:
    """Length, size, and the greatest of each inside. Written for speed: it walks every value once."""
    if isinstance(value, str | bytes):
        return len(value), len(value) + 1, 0, 0
    if isinstance(value, Mapping):
        entries = cast(Mapping[str, object], value)
        items, size = entries.values(), 1 + sum(map(len, entries))
    elif isinstance(value, list):
        items, size = cast(list[object], value), 1
    else:
        return 1, 1, 0, 0
    inner_length = inner_size = 0
    for item in items:
        kind = type(item)
        if kind is float or kind is int or kind is bool or item is None:
            length, large, deeper_length, deeper_size = 1, 1, 0, 0
        else:
            length, large, deeper_length, deeper_size = _measure(item)
        size += large
        inner_length = max(inner_length, length, deeper_length)
        inner_size = max(inner_size, large, deeper_size)
    return len(items), size, inner_length, inner_size
