"""The end of a run: its answer, what the goal's checks found, and why it did not come to more."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from chargehand.domain.events import RunEnded
from chargehand.domain.expressions import Expression
from chargehand.domain.plan import Plan
from chargehand.domain.state import State
from chargehand.domain.values import resolve
from chargehand.domain.work import Failure
from chargehand.errors import ExpressionError
from chargehand.execution.results import examine


def ending(state: State, plan: Plan, status: Any, inputs: Mapping[str, object]) -> RunEnded:
    """How a run ends that has nothing left to do."""
    ended = RunEnded(status=status, error=_error(state, status))
    return _with_answer(ended, state, plan, inputs) if status == "done" else ended


def _error(state: State, status: str) -> Failure | None:
    standing = [*state.remains]
    standing += [one.undoes.step for one in state.steps.values() if one.undoes and one.status != "done"]
    if status == "failed" and standing:
        trouble = (one.error for one in state.steps.values() if one.undoes and one.error)
        failure = [*trouble, *([state.hopeless] if state.hopeless else [])]
        why = f" ({failure[0].message})" if failure else ""
        hint = "Retry the run to go on with taking back, or supply the step that a person took back."
        return Failure(kind="error", message=f"not undone: {', '.join(standing)}{why}", hint=hint)
    if status == "cancelled":
        return Failure(kind="cancelled", message=state.cancelled or "it was cancelled")
    return state.hopeless


def _with_answer(ended: RunEnded, state: State, plan: Plan, inputs: Mapping[str, object]) -> RunEnded:
    scope: dict[str, object] = {id: step.output for id, step in state.steps.items() if step.status == "done"}
    scope["inputs"] = inputs
    try:
        answer = None if plan.answer is None else resolve(plan.answer, scope)
    except ExpressionError as error:
        failure = Failure(kind="invalid", message=f"the answer: {error.message}", hint=error.hint)
        return replace(ended, status="failed", error=failure)
    checks = [Expression.parse(text) for text in state.expect]
    evidence = examine(checks, {"answer": answer, "inputs": inputs})
    for one in evidence:
        if not one.held:
            message = f"the answer does not satisfy `{one.check}`{f': {one.problem}' if one.problem else ''}"
            failure = Failure(kind="check_failed", message=message)
            return replace(ended, status="failed", answer=answer, error=failure, evidence=evidence)
    return replace(ended, answer=answer, evidence=evidence)
