"""Walks a plan with the world's real tools, one step after another: enough to see that a playbook does what it says.

No journal, no policy, no retries: those belong to the engine.
"""

import asyncio
import inspect
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, cast

from chargehand.domain.patch import apply
from chargehand.domain.plan import Plan, Pursue, Step, Use
from chargehand.domain.values import resolve
from chargehand.planning.playbooks import Playbook
from chargehand.runtime import Chargehand

SKIPPED = object()


class StepFailed(Exception):
    def __init__(self, step: str, reason: str) -> None:
        super().__init__(f"{step}: {reason}")
        self.step = step


@dataclass
class Walk:
    """What came of a walk: the last plan, what each step gave, and why the plan was revised."""

    plan: Plan
    outputs: dict[str, Any] = field(default_factory=dict[str, Any])
    reasons: list[str] = field(default_factory=list[str])
    answer: Any = None


def pursue(desk: Chargehand, goal: str, inputs: Mapping[str, object] | None = None) -> Walk:
    """Plans a goal and walks it, revising as its playbook says."""
    planned = desk.explain(goal, inputs)
    walk = Walk(planned.plan)
    while True:
        try:
            _walk(desk, walk)
        except StepFailed as failure:
            _revise(planned.match.playbook, walk, failure)
        else:
            return walk


def _revise(playbook: Playbook, walk: Walk, failure: StepFailed) -> None:
    about = {"step": failure.step, "kind": "error", "message": str(failure), "revision": walk.plan.revision}
    for revision in playbook.revisions:
        if revision.when.holds({"failure": about, "inputs": _inputs(walk.plan)}):
            walk.plan = apply(walk.plan, revision.patch, settled=walk.outputs)
            walk.reasons.append(revision.because)
            return
    raise failure


def _walk(desk: Chargehand, walk: Walk) -> None:
    waiting = [step for step in walk.plan.steps if step.id not in walk.outputs]
    while waiting:
        ready = next(step for step in waiting if walk.plan.needs(step) <= walk.outputs.keys())
        walk.outputs[ready.id] = _run(desk, walk, ready)
        waiting.remove(ready)
    scope = {"inputs": _inputs(walk.plan), **walk.outputs}
    walk.answer = resolve(walk.plan.answer, scope) if walk.plan.answer is not None else None


def _run(desk: Chargehand, walk: Walk, step: Step) -> object:
    scope: dict[str, object] = {"inputs": _inputs(walk.plan), **walk.outputs}
    scope |= {name: None for name in step.maybe if scope[name] is SKIPPED}
    if any(scope[name] is SKIPPED for name in step.refers_to & scope.keys()):
        return SKIPPED
    if step.when is not None and not step.when.holds(scope):
        return SKIPPED
    try:
        if step.each is None:
            return _call(desk, step, scope)
        items = cast(list[object], step.each.evaluate(scope))
        return [_call(desk, step, {**scope, "item": item}) for item in items]
    except (LookupError, ValueError, ConnectionError) as error:
        if step.if_fails == "skip":
            return SKIPPED
        raise StepFailed(step.id, str(error)) from error


def _call(desk: Chargehand, step: Step, scope: Mapping[str, object]) -> object:
    given = cast(dict[str, object], resolve(step.arguments, scope))
    match step.action:
        case Use(tool=name):
            output = use(desk, name, **given)
        case Pursue(goal=goal):
            output = pursue(desk, goal, given).answer
        case _:
            raise AssertionError(f"nobody here can {step.action}")
    for expected in step.expect:
        if not expected.holds({**scope, "output": output, "args": given}):
            raise ValueError(f"{expected.text} does not hold of {output}")
    return output


def use(desk: Chargehand, name: str, /, **given: object) -> Any:
    """Calls a tool as an executor does: arguments validated, and the result as plain values."""
    tool = desk.catalog.tools[name]
    arguments = tool.signature.arguments.validate_python(given)
    result = tool.function(**{key: getattr(arguments, key) for key in tool.signature.parameters})
    if inspect.iscoroutine(result):
        result = asyncio.run(result)
    return tool.signature.result.dump_python(result, mode="json")


def _inputs(plan: Plan) -> dict[str, object]:
    return {name: input.value for name, input in plan.inputs.items()}
