"""Forks: a new run from an old one, at a step. What was finished before it is kept, and no effect is repeated. Pure."""

from collections.abc import Iterator

from chargehand.domain.events import StepKept
from chargehand.domain.plan import Plan
from chargehand.domain.state import State, StepState


def kept_steps(state: State, plan: Plan, at: str) -> Iterator[StepKept]:
    """What a fork takes over: every settled step that does not come from `at`, in an order in which each comes after
    what it needs."""
    again = _downstream(plan, at)
    done: set[str] = set()
    waiting = [step for step in plan.steps if step.id not in again]
    while waiting:
        ready = [step for step in waiting if plan.needs(step) <= done]
        for step in ready:
            done.add(step.id)
            kept = _kept(step.id, state.steps[step.id])
            if kept is not None:
                yield kept
        if not ready:
            return
        waiting = [step for step in waiting if step.id not in done]


def _downstream(plan: Plan, at: str) -> set[str]:
    found, waiting = {at}, [at]
    while waiting:
        id = waiting.pop()
        users = [step.id for step in plan.steps if id in plan.needs(step) and step.id not in found]
        found.update(users)
        waiting += users
    return found


def _kept(id: str, step: StepState) -> StepKept | None:
    if step.status == "skipped":
        return StepKept(step=id, skipped=step.because)
    if step.status != "done":
        return None
    if step.expanded:
        return StepKept(step=id, items=step.output)
    return StepKept(step=id, output=step.output)
