"""Why an evaluation failed: the smallest part that fails by itself, and the values that it was given."""

from collections.abc import Mapping

from chargehand.domain.expressions import cel
from chargehand.domain.expressions.functions import short
from chargehand.domain.expressions.tree import Constant, Loop, Node, children, write


def explain(tree: Node, scope: Mapping[str, object], reason: str) -> str:
    """The failing part, the reason, and what its operands hold."""
    culprit, reason = _culprit(tree, scope, reason)
    return f"`{write(culprit)}`: {reason}{_operands(culprit, scope)}"


def _culprit(tree: Node, scope: Mapping[str, object], reason: str) -> tuple[Node, str]:
    """The smallest part outside loops that fails by itself, and why."""
    parts = (tree.over,) if isinstance(tree, Loop) else children(tree)
    for part in parts:
        if isinstance(part, Constant):
            continue
        try:
            cel.run(write(part), scope)
        except cel.EvaluationFailed as error:
            return _culprit(part, scope, str(error))
        except cel.Refused:
            continue  # a part that cannot stand alone, such as the name of a function library
    return tree, reason


def _operands(node: Node, scope: Mapping[str, object]) -> str:
    shown: list[str] = []
    parts = (node.over,) if isinstance(node, Loop) else children(node)
    for part in parts:
        if isinstance(part, Constant):
            continue
        try:
            shown.append(f"`{write(part)}` is {short(cel.run(write(part), scope))}")
        except (cel.EvaluationFailed, cel.Refused):
            continue  # it has no value of its own to show
    return f" ({'; '.join(shown)})" if shown else ""
