"""Reports: a run's state as a planner, a person and a program read it."""

from chargehand.domain.state import State, StepState
from chargehand.domain.work import Failure, Outcome, Report, RunStatus, StepStatus
from chargehand.engine.requests import shown


def outcome(run: str, state: State) -> Outcome:
    """How a run stands."""
    ended = state.ended
    return Outcome(
        run_id=run,
        status=run_status(state),
        answer=ended.answer if ended else None,
        reports=tuple(report(id, step, state) for id, step in state.steps.items()),
        error=(ended.error if ended else None) or state.hopeless,
    )


def run_status(state: State) -> RunStatus:
    if state.ended is not None:
        return state.ended.status
    jobs = state.jobs
    if state.in_flight and state.parked is None:
        return "running"
    if jobs["in_doubt"] or any(job.child_status == "in_doubt" for job in jobs["deferred"].values()):
        return "in_doubt"
    return "waiting" if any(jobs[status] for status in ("asking", "retrying", "deferred", "held")) else "running"


def report(id: str, step: StepState, state: State) -> Report:
    """What came of a step so far. For an `each`, the attempts and the evidence of all its items."""
    status = _status(step, state)
    return Report(
        step=id,
        status=status,
        output=step.output if status == "done" else None,
        evidence=tuple(one for job in step.jobs for one in job.evidence),
        attempts=tuple(one for job in step.jobs for one in job.attempts),
        requests=tuple(shown(job.asked) for job in step.jobs if job.asked is not None),
        error=step.error or next((job.error for job in step.jobs if job.error), None) or _why_not(step, status, state),
    )


def _status(step: StepState, state: State) -> StepStatus:
    if step.status in ("done", "failed", "skipped"):
        return step.status  # pyright: ignore[reportReturnType]
    if any(job.status in ("in_doubt", "probing") or job.child_status == "in_doubt" for job in step.jobs):
        return "in_doubt"
    if state.ended is not None and state.ended.status == "cancelled":
        return "cancelled"
    return "blocked" if _blocker(step, state) or state.ended is not None else "waiting"


def _blocker(step: StepState, state: State) -> str | None:
    """A step that this one waits for, directly or not, and that has failed."""
    seen: set[str] = set()
    waiting = list(step.waits)
    while waiting:
        id = waiting.pop()
        if id in seen:
            continue
        seen.add(id)
        if state.steps[id].status == "failed":
            return id
        waiting += state.steps[id].waits
    return None


def _why_not(step: StepState, status: StepStatus, state: State) -> Failure | None:
    if status == "blocked" and (blocker := _blocker(step, state)):
        return Failure(kind="error", message=f"it waits for step {blocker!r}, which failed")
    return None
