"""The checker: all rules over one plan, all findings at once."""

import re
from collections.abc import Callable, Iterable, Sequence

from chargehand.checking import actions, arguments, conditions, effects, names, order
from chargehand.checking.typing import Typing
from chargehand.checking.view import View
from chargehand.domain.diagnostics import Diagnostic
from chargehand.domain.shapes import Schema

Rule = Callable[[View], Iterable[Diagnostic]]

# Rules that need no types. Policies, labels and budgets join as further rules of the same form.
RULES: tuple[Rule, ...] = (
    names.check_ids,
    names.check_order_names,
    names.check_expression_names,
    order.check_circles,
    order.check_answer,
    order.check_unused,
    actions.check_actions,
    actions.check_schemas,
    actions.check_inputs,
    effects.check_irreversible,
    effects.check_undo,
    effects.check_repeats,
    effects.check_limits,
    effects.check_freshness,
)


def check(view: View, more: Sequence[Rule] = (), *, returns: Schema | None = None) -> list[Diagnostic]:
    """Everything that is wrong with a plan, or may be; `returns` is the form that its answer promises."""
    typing = Typing(view)
    found = [diagnostic for rule in (*RULES, *more) for diagnostic in rule(view)]
    found += conditions.check_conditions(view, typing)
    found += arguments.check_arguments(view, typing)
    if returns is not None:
        found += arguments.check_answer_form(view, typing, returns)
    return found


def settle(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Diagnostics in the order of the plan, without those that only follow from others."""
    once = {(one.code, one.path, one.message): one for one in reversed([*diagnostics])}
    found = sorted(once.values(), key=lambda one: (_position(one.path), one.offset or 0))
    if any(diagnostic.code in _MISREAD for diagnostic in found):
        found = [diagnostic for diagnostic in found if diagnostic.code != "CH109"]
    return found


# Where a reference was not understood, nobody can say that a step is not used.
_MISREAD = {"CH005", "CH101", "CH007", "CH008", "CH009", "CH102", "CH104", "CH107", "CH205", "CH301", "CH302", "CH307"}


def _position(path: str) -> tuple[int, int, str]:
    """Inputs first, then the steps in their order, then the answer."""
    step = re.match(r"steps\[(\d+)\]", path)
    if step:
        return 1, int(step.group(1)), path
    return (2, 0, path) if path.startswith("answer") else (0, 0, path)
