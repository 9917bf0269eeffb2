"""Forks: a new run from an old one, at a step. What was finished before it is kept, and no effect is repeated. Pure."""

from collections.abc import Iterator

from chargehand.domain.events import StepKept
from chargehand.domain.plan import Plan
from chargehand.domain.state import State, StepState


def kept_steps(state: State, plan: Plan, at: str) -> Iterator[StepKept]:
    """What a fork takes over: every settled step that comes neither from `at` nor from what was taken back, in an order
    in which each comes after what it needs."""
    again = _downstream(plan, {at, *_taken_back(state)} & plan.by_id.keys())
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


def _taken_back(state: State) -> Iterator[str]:
    for step in state.steps.values():
        if step.undoes is not None and step.status == "done":
            yield step.undoes.step


def _downstream(plan: Plan, steps: set[str]) -> set[str]:
    found, waiting = set(steps), [*steps]
    while waiting:
        id = waiting.pop()
        users = [step.id for step in plan.steps if id in plan.needs(step) and step.id not in found]
        found.update(users)
        waiting += users
    return found


def _kept(id: str, step: StepState) -> StepKept | None:
    if step.status == "skipped":
        return StepKept(step=id, skipped=step.because, done_at=step.done_at)
    if step.status != "done":
        return None
    if step.expanded:
        return StepKept(step=id, items=step.output, done_at=step.done_at)
    return StepKept(step=id, output=step.output, done_at=step.done_at)
