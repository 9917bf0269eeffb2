"""The graph: no circles, an answer that will come to be, and no step for nothing."""

from collections.abc import Iterator, Mapping

from chargehand.checking.view import View
from chargehand.domain.diagnostics import Diagnostic, finding
from chargehand.domain.values import references


def check_circles(view: View) -> Iterator[Diagnostic]:
    """No step waits for itself, directly or through others. Each circle is told once."""
    needs = {step.id: view.plan.needs(view.plan.by_id[step.id]) for step in view.plan.steps}
    for circle in _circles(needs):
        first = view.plan.by_id[circle[0]]
        if len(circle) == 1:
            by_order = circle[0] in (*first.after, *first.maybe)
            hint = "Remove it there." if by_order else "In `expect`, what the step gave is called `output`."
            message = f"step {circle[0]!r} refers to itself"
        else:
            hint = "Remove one of the references, or split a step in two."
            message = f"steps wait for each other: {' → '.join((*circle, circle[0]))}"
        yield finding("CH105", view.path(first), message, step=first.id, hint=hint)


def _circles(needs: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, ...]]:
    """One circle from each knot of steps that wait for each other, beginning with the first step of it."""
    waiting = dict(needs)
    ready = [id for id, ids in waiting.items() if not ids]
    used_by: dict[str, list[str]] = {id: [] for id in needs}
    for id, ids in needs.items():
        for need in ids:
            used_by[need].append(id)
    left = {id: len(ids) for id, ids in needs.items()}
    while ready:
        done = ready.pop()
        del waiting[done]
        for user in used_by[done]:
            left[user] -= 1
            if left[user] == 0:
                ready.append(user)
    told: set[str] = set()
    for start in needs:
        if start in waiting and start not in told:
            trail = _trail(start, waiting)
            if told.isdisjoint(trail):
                first = min(trail, key=list(needs).index) if len(trail) < 50 else trail[0]
                turn = trail.index(first)
                yield (*trail[turn:], *trail[:turn])
            told.update(trail, {start})


def _trail(start: str, waiting: Mapping[str, frozenset[str]]) -> tuple[str, ...]:
    """Follows what a step waits for until a step comes again."""
    seen: dict[str, int] = {}
    id = start
    while id not in seen:
        seen[id] = len(seen)
        id = min(need for need in waiting[id] if need in waiting)
    return tuple(seen)[seen[id] :]


def check_answer(view: View) -> Iterator[Diagnostic]:
    """The answer refers only to steps that run in any case."""
    if view.plan.answer is None:
        return
    told: set[str] = set()
    for path, expression in references(view.plan.answer, ("answer",)):
        for name in sorted((expression.names & view.plan.skippable) - told):
            told.add(name)
            step = view.plan.by_id[name]
            why = (
                "by its `when`"
                if step.when
                else "if it fails"
                if step.if_fails == "skip"
                else "with a step that it uses"
            )
            hint = f"Answer from a step that always runs, or join the branches in one with maybe: [{name}]."
            message = f"the answer refers to step {name!r}, which may be skipped {why}"
            yield finding("CH108", (*path, "$"), message, hint=hint)


def check_unused(view: View) -> Iterator[Diagnostic]:
    """A step that only reads is there for its output: somebody uses it."""
    if view.plan.answer is None:
        return  # the answer is then written from all that was done
    used = view.plan.answers_from.union(*(view.plan.needs(step) for step in view.plan.steps))
    for step in view.plan.steps:
        tool = view.tool(step)
        if tool is not None and tool.effect == "read" and step.id not in used:
            hint = "Use its output in another step or in the answer, or remove it."
            yield finding("CH109", view.path(step), f"nobody uses what step {step.id!r} finds", step=step.id, hint=hint)
