"""Why an evaluation failed: the smallest part that fails by itself, and the values that it was given."""

from collections.abc import Mapping

from chargehand.domain.expressions import cel
from chargehand.domain.expressions.functions import short
from chargehand.domain.expressions.tree import Call, Constant, Loop, Name, Node, children, write
from chargehand.domain.expressions.words import LIBRARIES


def explain(tree: Node, scope: Mapping[str, object], reason: str) -> str:
    """The failing part, the reason, and what its operands hold."""
    culprit, reason = _culprit(tree, scope, reason)
    return f"`{write(culprit)}`: {reason}{_operands(culprit, scope)}"


def _culprit(tree: Node, scope: Mapping[str, object], reason: str) -> tuple[Node, str]:
    """The smallest part outside loops that fails by itself, and why."""
    for part in _parts(tree, scope):
        try:
            cel.run(write(part), scope)
        except cel.EvaluationFailed as error:
            return _culprit(part, scope, str(error))
        except cel.Refused:
            continue  # a part that cannot stand alone
    return tree, reason


def _parts(tree: Node, scope: Mapping[str, object]) -> list[Node]:
    """The parts that were evaluated: of a choice only the branch that was taken, of a loop what it goes over."""
    match tree:
        case Loop(over=over):
            parts: tuple[Node, ...] = (over,)
        case Call(function="_?_:_", args=(condition, yes, no)):
            try:
                parts = (condition, yes if cel.run(write(condition), scope) is True else no)
            except cel.EvaluationFailed:
                parts = (condition,)
        case _:
            parts = children(tree)
    return [part for part in parts if not isinstance(part, Constant) and not _is_library(part)]


def _is_library(node: Node) -> bool:
    return isinstance(node, Name) and node.name in LIBRARIES


def _operands(node: Node, scope: Mapping[str, object]) -> str:
    shown: list[str] = []
    for part in _parts(node, scope):
        try:
            shown.append(f"`{write(part)}` is {short(cel.run(write(part), scope))}")
        except (cel.EvaluationFailed, cel.Refused):
            continue  # it has no value of its own to show
    return f" ({'; '.join(shown)})" if shown else ""
