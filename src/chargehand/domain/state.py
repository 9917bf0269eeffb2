"""State: what a run's events add up to. `fold` is the only way in, and the same events give the same state.

The state is a private, mutable builder: copying it for each event would make a run's cost quadratic. Whoever is not
`fold` only reads it.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from chargehand.domain import events
from chargehand.domain.events import Event, StepFacts, ToolFacts
from chargehand.domain.work import Attempt, Evidence, Failure

Key = tuple[str, int]  # a job: a step and the number of its item


@dataclass(slots=True)
class Job:
    """One piece of a step: the step itself, or one item of its `each`."""

    step: str
    item: int = 0
    value: Any = None
    status: Literal["todo", "running", "retrying", "asking", "in_doubt", "done", "failed"] = "todo"
    call: events.CallStarted | None = None
    asked: events.ApprovalAsked | None = None
    approved: str | None = None
    retry_at: float | None = None
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    output: Any = None
    evidence: tuple[Evidence, ...] = ()
    error: Failure | None = None

    @property
    def key(self) -> Key:
        return self.step, self.item


@dataclass(slots=True)
class StepState:
    """A step on its way: what it still waits for, and its jobs once it has begun."""

    facts: StepFacts
    waits: set[str]
    status: Literal["waiting", "open", "done", "failed", "skipped"] = "waiting"
    jobs: list[Job] = field(default_factory=list[Job])
    left: int = 0
    expanded: bool = False
    because: str = ""
    error: Failure | None = None

    @property
    def output(self) -> Any:
        return [job.output for job in self.jobs] if self.expanded else self.jobs[0].output


@dataclass(slots=True)
class State:
    """A run. The collections hold what is in each condition, in the order in which it came there."""

    goal: str = ""
    plan: Any = None
    origin: str = ""
    playbook: str | None = None
    parallel: int = 100
    tools: dict[str, ToolFacts] = field(default_factory=dict[str, ToolFacts])
    steps: dict[str, StepState] = field(default_factory=dict[str, StepState])
    feeds: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    ready: dict[str, None] = field(default_factory=dict[str, None])
    todo: dict[Key, Job] = field(default_factory=dict[Key, Job])
    running: dict[Key, Job] = field(default_factory=dict[Key, Job])
    retrying: dict[Key, Job] = field(default_factory=dict[Key, Job])
    asking: dict[Key, Job] = field(default_factory=dict[Key, Job])
    doubts: dict[Key, Job] = field(default_factory=dict[Key, Job])
    failed: dict[str, StepState] = field(default_factory=dict[str, StepState])
    unsettled: int = 0
    rungs: set[int] = field(default_factory=set[int])
    revision: int = 0
    hopeless: Failure | None = None
    cancelled: str | None = None
    parked: events.RunParked | None = None
    ended: events.RunEnded | None = None
    now: float = 0.0
    seq: int = 0

    def job(self, step: str, item: int) -> Job:
        return self.steps[step].jobs[item]


def fold(state: State, event: Event, at: float) -> None:
    """Takes one event into the state."""
    state.seq += 1
    state.now = max(state.now, at)  # a clock that jumps back does not turn time back
    state.parked = None
    _FOLDS[type(event)](state, event)


# --- the plan ------------------------------------------------------------------------------------------------------


def _run_started(state: State, event: events.RunStarted) -> None:
    state.goal, state.plan, state.origin, state.playbook = event.goal, event.plan, event.origin, event.playbook
    state.parallel = event.parallel
    state.tools = dict(event.tools)
    for id, facts in event.steps.items():
        state.steps[id] = StepState(facts, set(facts.needs))
    _reorder(state)


def _plan_revised(state: State, event: events.PlanRevised) -> None:
    state.plan, state.tools = event.plan, {**state.tools, **event.tools}
    state.revision += 1
    state.rungs.add(event.rung)
    for id in [id for id in state.steps if id not in event.steps or id in event.changed]:
        _forget(state, id)
    state.steps = {id: state.steps.get(id) or StepState(facts, set()) for id, facts in event.steps.items()}
    for id, facts in event.steps.items():
        state.steps[id].facts = facts
    _reorder(state)


def _forget(state: State, id: str) -> None:
    for job in state.steps[id].jobs:
        for place in (state.todo, state.retrying, state.asking):
            place.pop(job.key, None)
    state.failed.pop(id, None)
    del state.steps[id]


def _reorder(state: State) -> None:
    """Works out anew who waits for whom; settled steps are waited for no longer."""
    state.feeds = {id: [] for id in state.steps}
    state.ready = {}
    state.unsettled = 0
    for id, step in state.steps.items():
        for need in step.facts.needs:
            state.feeds[need].append(id)
        if step.status in ("waiting", "open"):
            state.unsettled += 1
        if step.status == "waiting":
            step.waits = {need for need in step.facts.needs if state.steps[need].status not in ("done", "skipped")}
            if not step.waits:
                state.ready[id] = None


def _settle(state: State, id: str, status: Literal["done", "skipped"]) -> None:
    """A step is over, and those that waited for it may go on."""
    state.steps[id].status = status
    state.ready.pop(id, None)
    state.unsettled -= 1
    for user in state.feeds[id]:
        waiting = state.steps[user]
        waiting.waits.discard(id)
        if not waiting.waits and waiting.status == "waiting":
            state.ready[user] = None


# --- steps and calls -----------------------------------------------------------------------------------------------


def _step_skipped(state: State, event: events.StepSkipped) -> None:
    state.steps[event.step].because = event.because
    _settle(state, event.step, "skipped")


def _step_expanded(state: State, event: events.StepExpanded) -> None:
    step = state.steps[event.step]
    step.status, step.expanded, step.left = "open", True, len(event.items)
    step.jobs = [Job(event.step, number, value) for number, value in enumerate(event.items)]
    state.ready.pop(event.step, None)
    state.todo.update((job.key, job) for job in step.jobs)
    if not step.jobs:
        _settle(state, event.step, "done")


def _open(state: State, id: str, item: int) -> Job:
    """The job of an event; a step without `each` gets its one job when it begins."""
    step = state.steps[id]
    if not step.jobs:
        step.status, step.left, step.jobs = "open", 1, [Job(id)]
        state.ready.pop(id, None)
    return step.jobs[item]


def _leave(state: State, job: Job) -> None:
    for place in (state.todo, state.running, state.retrying, state.asking, state.doubts):
        place.pop(job.key, None)


def _call_started(state: State, event: events.CallStarted) -> None:
    job = _open(state, event.step, event.item)
    _leave(state, job)
    job.status, job.call, job.retry_at, job.approved = "running", event, None, None
    job.attempts.append(Attempt(tool=event.tool, number=event.attempt))
    state.running[job.key] = job


def _call_finished(state: State, event: events.CallFinished) -> None:
    job = state.job(event.step, event.item)
    job.attempts[-1] = replace(job.attempts[-1], seconds=event.seconds)
    job.output, job.evidence = event.output, event.evidence
    broken = [one for one in event.evidence if not one.held]
    if broken:
        problem = f": {broken[0].problem}" if broken[0].problem else ""
        message = f"the result does not satisfy `{broken[0].check}`{problem}"
        _fail(state, job, Failure(kind="check_failed", message=message))
    else:
        _succeed(state, job)


def _succeed(state: State, job: Job) -> None:
    _leave(state, job)
    job.status, job.call, job.error = "done", None, None
    step = state.steps[job.step]
    step.left -= 1
    if step.left == 0 and step.status == "open":
        _settle(state, job.step, "done")


def _call_failed(state: State, event: events.CallFailed) -> None:
    job = state.job(event.step, event.item)
    job.attempts[-1] = replace(job.attempts[-1], error=event.error, seconds=event.seconds)
    if event.retry_at is None or state.cancelled is not None or state.hopeless is not None:
        _fail(state, job, event.error)
        return
    _leave(state, job)
    job.status, job.call, job.retry_at = "retrying", None, event.retry_at
    state.retrying[job.key] = job


def _fail(state: State, job: Job, error: Failure) -> None:
    _leave(state, job)
    job.status, job.call, job.error = "failed", None, error
    step = state.steps[job.step]
    if step.status != "open":
        return  # another item failed before
    step.error = error
    for other in step.jobs:
        for place in (state.todo, state.retrying, state.asking):
            place.pop(other.key, None)
    if step.facts.if_fails == "skip":
        step.because = f"it failed: {error.message}"
        _settle(state, job.step, "skipped")
        return
    step.status = "failed"
    state.unsettled -= 1
    if step.facts.if_fails == "stop":
        _give_up(state, error)
    else:
        state.failed[job.step] = step


def _give_up(state: State, error: Failure | None) -> None:
    """The goal can no longer be reached: nothing that has not begun will."""
    state.hopeless = state.hopeless or error
    _drop_pending(state)


def _drop_pending(state: State) -> None:
    for place in (state.todo, state.retrying, state.asking, state.ready):
        place.clear()


def _take_up_again(state: State) -> None:
    """There is hope again: what was dropped is to be done after all."""
    state.hopeless = state.cancelled = state.ended = None
    for step in state.steps.values():
        for job in step.jobs if step.status == "open" else ():
            if job.status in ("todo", "retrying", "asking"):
                job.status, job.asked, job.retry_at = "todo", None, None
                state.todo[job.key] = job
    _reorder(state)


def _step_failed(state: State, event: events.StepFailed) -> None:
    _fail(state, _open(state, event.step, event.item), event.error)


def _call_doubted(state: State, event: events.CallDoubted) -> None:
    job = state.job(event.step, event.item)
    _leave(state, job)
    job.status = "in_doubt"
    job.error = Failure(kind="in_doubt", message=event.because, hint="Settle it: did it happen or not?")
    state.doubts[job.key] = job


# --- people --------------------------------------------------------------------------------------------------------


def _approval_asked(state: State, event: events.ApprovalAsked) -> None:
    job = _open(state, event.step, event.item)
    _leave(state, job)
    job.status, job.asked = "asking", event
    state.asking[job.key] = job


def _approval_answered(state: State, event: events.ApprovalAnswered) -> None:
    job = state.job(event.step, event.item)
    _leave(state, job)
    job.asked = None
    if event.yes:
        job.status, job.approved = "todo", event.hash
        state.todo[job.key] = job
    else:
        why = f": {event.because}" if event.because else ""
        _fail(state, job, Failure(kind="denied", message=f"it was not approved{why}"))


def _doubt_settled(state: State, event: events.DoubtSettled) -> None:
    job = state.job(event.step, event.item)
    if event.happened:
        job.output = event.output
        _succeed(state, job)
        return
    _leave(state, job)
    job.status, job.call, job.error = "todo", None, None
    state.todo[job.key] = job


def _output_supplied(state: State, event: events.OutputSupplied) -> None:
    job = _open(state, event.step, event.item)
    step = state.steps[event.step]
    if step.status == "failed":
        step.status, step.error = "open", None
        state.failed.pop(event.step, None)
        state.unsettled += 1
    job.output = event.output
    _succeed(state, job)
    if state.hopeless is not None:
        _take_up_again(state)


def _cancel_asked(state: State, event: events.CancelAsked) -> None:
    state.cancelled = event.because or "it was cancelled"
    _drop_pending(state)


def _retry_asked(state: State, event: events.RetryAsked) -> None:
    for id, step in state.steps.items():
        if step.status == "failed":
            step.status, step.error = "open", None
            state.failed.pop(id, None)
            for job in step.jobs:
                if job.status == "failed":
                    job.status, job.error = "todo", None
    _take_up_again(state)


# --- the run -------------------------------------------------------------------------------------------------------


def _revision_declined(state: State, event: events.RevisionDeclined) -> None:
    step = state.failed.pop(event.failed)
    _give_up(state, step.error)


def _run_parked(state: State, event: events.RunParked) -> None:
    state.parked = event


def _only_time(state: State, event: Event) -> None:
    """Nothing changes but the time."""


def _run_ended(state: State, event: events.RunEnded) -> None:
    state.ended = event


_FOLDS: dict[type[Event], Callable[[State, Any], None]] = {
    events.RunStarted: _run_started,
    events.PlanRevised: _plan_revised,
    events.RevisionDeclined: _revision_declined,
    events.StepSkipped: _step_skipped,
    events.StepExpanded: _step_expanded,
    events.CallStarted: _call_started,
    events.CallFinished: _call_finished,
    events.CallFailed: _call_failed,
    events.CallDoubted: _call_doubted,
    events.StepFailed: _step_failed,
    events.ApprovalAsked: _approval_asked,
    events.ApprovalAnswered: _approval_answered,
    events.DoubtSettled: _doubt_settled,
    events.OutputSupplied: _output_supplied,
    events.CancelAsked: _cancel_asked,
    events.RetryAsked: _retry_asked,
    events.MessageRefused: _only_time,
    events.RunParked: _run_parked,
    events.RunResumed: _only_time,
    events.TimePassed: _only_time,
    events.RunEnded: _run_ended,
}
