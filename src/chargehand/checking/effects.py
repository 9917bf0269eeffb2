"""Effects and limits: what can be said about them before anything runs."""

from collections.abc import Iterator

from chargehand.checking.view import View
from chargehand.domain.diagnostics import Diagnostic, finding
from chargehand.domain.plan import Step
from chargehand.domain.values import aged


def check_irreversible(view: View) -> Iterator[Diagnostic]:
    """What cannot be taken back is checked, and comes last where all or nothing should happen."""
    for step in view.plan.steps:
        tool = view.tool(step)
        if tool is None or tool.effect != "irreversible":
            continue
        if not step.expect and (step.id, "expect") not in view.unread:
            hint = 'Say what must hold for it to count as done: expect: ["output.…"].'
            message = f"step {step.id!r} does something irreversible and checks nothing"
            yield finding("CH401", view.path(step), message, step=step.id, hint=hint)
        if view.plan.all_or_nothing:
            others = sorted(view.plan.by_id.keys() - view.before[step.id] - {step.id})
            if others:
                waiting = [id for id in others if step.id in view.before[id]]
                free = [id for id in others if id not in waiting]
                hint = f"Let it come last: after: [{', '.join(free[:5])}]." if not waiting else _NOT_LAST
                message = f"step {step.id!r} is irreversible, and {others[0]!r} could still fail when it is done"
                yield finding("CH402", view.path(step), message, step=step.id, hint=hint)


_NOT_LAST = "Move what follows it into a plan of its own, or give up all_or_nothing."


def check_undo(view: View) -> Iterator[Diagnostic]:
    """Where all or nothing should happen, a write can be undone."""
    if not view.plan.all_or_nothing:
        return
    for step in view.plan.steps:
        tool = view.tool(step)
        if tool is not None and tool.effect == "write" and tool.undo is None:
            hint = f"Declare how to take it back: @tool(effect='write', undo=…) on {tool.name}."
            message = f"step {step.id!r} writes, and nothing is known that would undo it"
            yield finding("CH403", view.path(step), message, step=step.id, hint=hint)


def check_repeats(view: View) -> Iterator[Diagnostic]:
    """The same effect with the same arguments is seldom meant twice."""
    first: dict[str, Step] = {}
    for step in view.plan.steps:
        tool = view.tool(step)
        if tool is None or tool.effect == "read" or step.each is not None:
            continue
        key = f"{tool.name} {sorted(step.arguments.fields)!r}"
        earlier = first.setdefault(key, step)
        if earlier is not step and earlier.id != step.id:
            hint = "Remove one of them, unless both are meant."
            message = f"step {step.id!r} does the same as step {earlier.id!r}"
            yield finding("CH404", view.path(step), message, step=step.id, hint=hint)


def check_limits(view: View) -> Iterator[Diagnostic]:
    """A limit that one call already exceeds can only fail."""
    for step in view.plan.steps:
        tool = view.tool(step)
        if tool is not None and step.limits.usd is not None and tool.cost > step.limits.usd:
            hint = f"Raise limits.usd to {tool.cost:g} at least, or use a cheaper tool."
            message = (
                f"step {step.id!r} may spend {step.limits.usd:g} USD, but one call of {tool.name} costs {tool.cost:g}"
            )
            yield finding("CH405", view.path(step, "limits", "usd"), message, step=step.id, hint=hint)


def check_freshness(view: View) -> Iterator[Diagnostic]:
    """What must not be too old can be read again: it comes from steps that only read, for one call that uses it."""
    for step in view.plan.steps:
        for place, reference in aged(step.arguments):
            path = view.path(step, "with", *place, "max_age")
            problem = _cannot_refresh(view, step, reference.expression.names)
            if problem:
                hint = "`max_age` goes with what a reading tool gave: {$: price.amount, max_age: 300}."
                yield finding("CH406", path, f"step {step.id!r} has a max_age, but {problem}", step=step.id, hint=hint)
    if view.plan.answer is not None:
        for place, _ in aged(view.plan.answer):
            hint = "It says how old a value may be when a step begins; remove it from the answer."
            yield finding("CH406", ("answer", *place, "max_age"), "the answer has a max_age", hint=hint)


def _cannot_refresh(view: View, step: Step, names: frozenset[str]) -> str:
    if step.each is not None:
        return "goes over a list, of which some items may be done when others are too old"
    for name in sorted(names):
        other = view.plan.by_id.get(name)
        tool = None if other is None else view.tool(other)
        if other is None:
            return f"{name!r} is not a step, and cannot be read again"
        if tool is None or tool.effect != "read":
            return f"{name!r} does not only read, and is not done again"
    return ""
