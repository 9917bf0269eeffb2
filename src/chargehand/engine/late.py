"""Late outcomes: a driver that lost its run tells the one that has it what became of the effects it had begun."""

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from chargehand.domain.events import CallFailed, CallFinished
from chargehand.domain.state import State
from chargehand.engine.workshop import Workshop

LATE = "late"


def post_late(
    shop: Workshop, run: str, truth: State, lost: State, outcomes: Iterable[CallFinished | CallFailed]
) -> None:
    """Posts every outcome that the journal does not have; the new driver settles its doubts from them."""
    for outcome in outcomes:
        if _is_open(truth, outcome):
            body: dict[str, Any] = asdict(outcome)
            shop.post(run, LATE, by=f"late driver, at event {lost.seq}", outcome=outcome.kind, **body)


def _is_open(truth: State, outcome: CallFinished | CallFailed) -> bool:
    step = truth.steps.get(outcome.step)
    if step is None or outcome.item >= len(step.jobs):
        return False
    job = step.jobs[outcome.item]
    return job.call is not None and job.call.attempt == outcome.attempt
