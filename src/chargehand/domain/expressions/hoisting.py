"""Hoisting: calls that look at whole lists are taken out of an expression and made by us, before the rest of it.

The library hands a list to a Python function by copying it, and loses track of the copy: memory leaks, and each null in
it costs a reference to None (0.1.3). So `sum` and the `_by` functions never cross that border: `min_by(xs, 'p').id + 1`
becomes `a := min_by(xs, 'p')`, then `a.id + 1`. What is left for the library is pure CEL.
"""

from dataclasses import dataclass, replace

from chargehand.domain.expressions.functions import TABLE, WHOLE_LIST
from chargehand.domain.expressions.tree import Call, ListOf, Loop, MapOf, Name, Node, Select, free_names, write
from chargehand.errors import ExpressionError


@dataclass(frozen=True, slots=True)
class Hoisted:
    """A call that is made first, and the name that stands for its result."""

    name: str
    call: Call
    written: str


def hoist(tree: Node) -> tuple[Node, tuple[Hoisted, ...]]:
    """The tree without calls on whole lists, and those calls in the order in which they are made."""
    hoisted: list[Hoisted] = []
    return _without(tree, frozenset(), hoisted), tuple(hoisted)


def _without(node: Node, bound: frozenset[str], hoisted: list[Hoisted]) -> Node:
    match node:
        case Call():
            target = None if node.target is None else _without(node.target, bound, hoisted)
            args = tuple(_without(arg, bound, hoisted) for arg in node.args)
            call = replace(node, target=target, args=args)
            return _take_out(node, call, bound, hoisted) if node.function in WHOLE_LIST and target is None else call
        case Select():
            return replace(node, operand=_without(node.operand, bound, hoisted))
        case ListOf():
            return replace(node, items=tuple(_without(item, bound, hoisted) for item in node.items))
        case MapOf():
            pairs = ((_without(key, bound, hoisted), _without(value, bound, hoisted)) for key, value in node.entries)
            return replace(node, entries=tuple(pairs))
        case Loop():
            inner = bound | {node.total, *node.variables}
            return replace(
                node,
                over=_without(node.over, bound, hoisted),
                start=_without(node.start, bound, hoisted),
                goes_on=_without(node.goes_on, inner, hoisted),
                each=_without(node.each, inner, hoisted),
                result=_without(node.result, inner, hoisted),
            )
        case _:
            return node


def _take_out(written: Call, call: Call, bound: frozenset[str], hoisted: list[Hoisted]) -> Node:
    wanted = len(TABLE[call.function][1])
    if len(call.args) != wanted:
        raise ExpressionError(f"{call.function}() takes {wanted} arguments, not {len(call.args)}", offset=call.offset)
    caught = sorted(name.name for name in free_names(call) if name.name in bound)
    if caught:
        raise ExpressionError(
            f"{call.function}() looks at a whole list: it cannot depend on {caught[0]!r}, the variable of a loop",
            hint="Use a step with `each`, or let a tool do it.",
            offset=max(written.offset - len(call.function), 0),
        )
    name = f"hoisted_{len(hoisted)}_"
    hoisted.append(Hoisted(name, call, write(written)))
    return Name(name, call.offset)
