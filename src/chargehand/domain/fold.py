"""Fold: takes one event into the state. The same events give the same state, on any machine, for ever."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from chargehand.domain import events
from chargehand.domain.events import Event, StepFacts
from chargehand.domain.moves import (
    SETTLE,
    deed_of,
    drop,
    drop_jobs,
    drop_pending,
    fail,
    give,
    give_up,
    happened,
    is_useless,
    learn,
    move,
    open_job,
    reopen,
    reorder,
    restore_approval,
    settle,
    succeed,
    take_up_again,
)
from chargehand.domain.state import Child, Deed, Job, State, StepState
from chargehand.domain.work import Attempt, Failure


def fold(state: State, event: Event, at: float) -> None:
    """Takes one event into the state."""
    state.seq += 1
    if at > state.now:  # a clock that jumps back does not turn time back
        state.now = at
    state.parked = None
    _FOLDS[type(event)](state, event)


# --- the plan ------------------------------------------------------------------------------------------------------


def _run_started(state: State, event: events.RunStarted) -> None:
    state.goal, state.plan, state.playbook = event.goal, event.plan, event.playbook
    state.origin, state.path, state.parent, state.fork_of = event.origin, event.path, event.parent, event.fork_of
    state.all_or_nothing, state.expect, state.parallel = event.all_or_nothing, event.expect, event.parallel
    learn(state, event.tools)
    for id, facts in event.steps.items():
        state.steps[id] = StepState(facts, set(facts.needs))
    reorder(state)


def _plan_revised(state: State, event: events.PlanRevised) -> None:
    state.plan = event.plan
    learn(state, event.tools)
    state.revision += 1
    state.rungs.add(event.rung)
    for id in [id for id in state.steps if id not in event.steps or id in event.changed]:
        _forget(state, id)
    state.steps = {id: state.steps.get(id) or StepState(facts, set()) for id, facts in event.steps.items()}
    for id, facts in event.steps.items():
        state.steps[id].facts = facts
    reorder(state)


def _forget(state: State, id: str) -> None:
    drop_jobs(state, state.steps[id])
    state.failed.pop(id, None)
    del state.steps[id]


# --- steps ---------------------------------------------------------------------------------------------------------


def _step_skipped(state: State, event: events.StepSkipped) -> None:
    state.steps[event.step].because = event.because
    settle(state, event.step, "skipped")


def _step_expanded(state: State, event: events.StepExpanded) -> None:
    step = state.steps[event.step]
    step.status, step.expanded, step.left = "open", True, len(event.items)
    step.jobs = [Job(event.step, number, value) for number, value in enumerate(event.items)]
    state.ready.pop(event.step, None)
    state.jobs["todo"].update((job.key, job) for job in step.jobs)
    if not step.jobs:
        settle(state, event.step, "done")


def _step_kept(state: State, event: events.StepKept) -> None:
    step = state.steps[event.step]
    step.kept = True
    if event.skipped is not None:
        step.because = event.skipped
        settle(state, event.step, "skipped")
    else:
        step.expanded = event.items is not None
        outputs = [event.output] if event.items is None else event.items
        step.jobs = [Job(event.step, number, status="done", output=output) for number, output in enumerate(outputs)]
        settle(state, event.step, "done")
    if event.done_at is not None:
        step.done_at = event.done_at


def _steps_refreshed(state: State, event: events.StepsRefreshed) -> None:
    for id in (event.step, *event.stale):
        step = state.steps[id]
        drop_jobs(state, step)
        step.status, step.jobs, step.left, step.expanded = "waiting", [], 0, False
    state.steps[event.step].refreshed += 1
    reorder(state)


def _step_failed(state: State, event: events.StepFailed) -> None:
    fail(state, open_job(state, event.step, event.item), event.error)


def _step_held(state: State, event: events.StepHeld) -> None:
    job = open_job(state, event.step, event.item)
    job.error = Failure(kind="unsupported", message=event.because)
    move(state, job, "held")


# --- calls ---------------------------------------------------------------------------------------------------------


def _call_started(state: State, event: events.CallStarted) -> None:
    job = open_job(state, event.step, event.item)
    move(state, job, "running")
    job.call, job.retry_at, job.asked = event, None, None
    if job.began is None:
        job.began = state.now
    job.attempts.append(Attempt(tool=event.tool, number=event.attempt))
    if event.approval is not None:
        state.approved.discard(event.approval)
    if event.key is not None:
        state.left_behind = state.left_behind or job.deed not in (None, event.key)
        job.deed = event.key
        _intend(state, event)


def _intend(state: State, call: events.CallStarted) -> None:
    key = call.key or ""
    deed = state.deeds.get(key)
    if deed is None or deed.status in ("void", "undone"):
        denied = deed is not None and deed.denied
        made = Deed(key, call.action or "", call.tool, call.args, call.step, call.item, denied=denied)
        state.deeds[key] = made
    else:  # items are known by their value: a revised list may have it at another place
        deed.step, deed.item = call.step, call.item


def _call_finished(state: State, event: events.CallFinished) -> None:
    job = state.job(event.step, event.item)
    before = job.attempts[-1]
    job.attempts[-1] = Attempt(tool=before.tool, number=before.number, seconds=event.seconds)
    if job.deed is not None:
        happened(state, job, event.output, event.reused_key)
    give(state, job, event)


def _call_failed(state: State, event: events.CallFailed) -> None:
    job = state.job(event.step, event.item)
    job.attempts[-1] = replace(job.attempts[-1], error=event.error, seconds=event.seconds)
    deed = deed_of(state, job)
    if deed is not None and deed.status != "done":
        deed.unresolved = deed.unresolved or not event.certain
        deed.status = "open" if deed.unresolved else "void"
    if event.retry_at is not None:
        restore_approval(state, job)
    useless = is_useless(state, job)
    if event.retry_at is None or (useless and (deed is None or not deed.unresolved)):
        fail(state, job, event.error)
        return
    move(state, job, "retrying")
    job.call, job.retry_at = None if event.certain else job.call, event.retry_at
    if useless:
        drop(state, job)


def _call_doubted(state: State, event: events.CallDoubted) -> None:
    job = state.job(event.step, event.item)
    move(state, job, "in_doubt")
    job.probe_at, job.no_counts_from = event.probe_at, event.no_counts_from
    job.error = Failure(kind="in_doubt", message=event.because, hint=SETTLE)
    deed = deed_of(state, job)
    if deed is not None:
        deed.status, deed.denied = "doubt", False


def _probe_started(state: State, event: events.ProbeStarted) -> None:
    job = state.job(event.step, event.item)
    move(state, job, "probing")
    job.probe_at = None
    job.probes += 1


def _probe_finished(state: State, event: events.ProbeFinished) -> None:
    job = state.job(event.step, event.item)
    move(state, job, "in_doubt")
    job.probe_at = event.probe_at


# --- child runs ----------------------------------------------------------------------------------------------------


def _child_started(state: State, event: events.ChildStarted) -> None:
    job = open_job(state, event.step, event.item)
    move(state, job, "pursuing")
    job.errand = event
    state.children.setdefault(event.child, Child(event.step, event.item, state.seq))
    job.attempts.append(Attempt(tool=event.child, number=event.attempt))


def _child_parked(state: State, event: events.ChildParked) -> None:
    job = state.job(event.step, event.item)
    job.child_status = event.status
    move(state, job, "deferred")


def _child_taken(state: State, event: events.ChildTaken) -> None:
    job = state.job(event.step, event.item)
    job.stopping = job.stopping or event.stop
    move(state, job, "pursuing")


def _child_ended(state: State, event: events.ChildEnded) -> None:
    job = state.job(event.step, event.item)
    if event.begun:
        state.children[event.child].seq = state.seq
    else:
        del state.children[event.child]
    undone = state.steps[event.step].undoes is not None
    if event.status == ("cancelled" if undone else "done"):
        give(state, job, event)
        return
    error = event.error or Failure(kind="cancelled", message="it was cancelled")
    failure = replace(error, message=f"the run {event.child} {event.status}: {error.message}")
    job.attempts[-1] = replace(job.attempts[-1], error=failure)
    fail(state, job, failure)


# --- people --------------------------------------------------------------------------------------------------------


def _approval_asked(state: State, event: events.ApprovalAsked) -> None:
    job = open_job(state, event.step, event.item)
    job.asked = event
    state.steps[event.step].refreshed = 0  # all that it uses was young enough to be shown
    move(state, job, "asking")


def _approval_answered(state: State, event: events.ApprovalAnswered) -> None:
    job = state.job(event.step, event.item)
    job.asked = None
    if event.yes:
        state.approved.add(event.hash)
        move(state, job, "todo")
    else:
        why = f": {event.because}" if event.because else ""
        fail(state, job, Failure(kind="denied", message=f"it was not approved{why}"))


def _doubt_settled(state: State, event: events.DoubtSettled) -> None:
    job = state.job(event.step, event.item)
    job.probe_at = None
    if event.happened:
        happened(state, job, event.output)
        give(state, job, event)
        return
    if event.stop:
        why = f": {event.because}" if event.because else ""
        error = Failure(kind="in_doubt", message=f"nobody knows whether it happened{why}")
        fail(state, job, error)
        give_up(state, error)
        return
    deed = deed_of(state, job)
    if deed is not None:
        deed.status, deed.unresolved, deed.denied = "void", False, True
    restore_approval(state, job)
    job.call = job.error = None
    move(state, job, "todo")
    if is_useless(state, job):
        state.jobs["todo"].pop(job.key)


def _output_supplied(state: State, event: events.OutputSupplied) -> None:
    job = open_job(state, event.step, event.item)
    step = state.steps[event.step]
    other = next((one for one in step.jobs if one is not job and one.status == "failed"), None)
    if step.status == "failed" and other is not None:
        step.error = other.error  # another item has failed as well, so the step still has
    elif step.status == "failed":
        step.status, step.error = "open", None
        state.failed.pop(event.step, None)
    if job.status == "in_doubt":
        happened(state, job, event.output)
    job.output = event.output
    state.ended = None
    succeed(state, job)
    if state.hopeless is not None and state.cancelled is None and state.undoing == "no":
        take_up_again(state)


def _cancel_asked(state: State, event: events.CancelAsked) -> None:
    state.cancelled = state.cancelled or event.because or "it was cancelled"
    drop_pending(state)


def _undo_asked(state: State, event: events.UndoAsked) -> None:
    state.ended = None
    state.cancelled = event.because or "it was undone"
    if state.undoing == "planned" or state.remains:
        _reopen_failed(state)
        return
    state.undoing = "asked"
    drop_pending(state)


def _undo_planned(state: State, event: events.UndoPlanned) -> None:
    state.undoing, state.remains = "planned", event.remains
    learn(state, event.tools)
    before: tuple[str, ...] = ()
    for id, undoes in event.undo.items():
        facts = StepFacts(needs=before, tool=undoes.tool, if_fails="stop")
        state.steps[id] = StepState(facts, set(before), undoes=undoes)
        state.feeds[id] = []
        for need in before:
            state.feeds[need].append(id)
        if not before:
            state.ready[id] = None
        before = (id,)


def _retry_asked(state: State, event: events.RetryAsked) -> None:
    if state.undoing == "planned" or state.remains:
        state.ended = None
        _reopen_failed(state)
        return
    for step in state.steps.values():
        if step.status == "failed":
            step.status, step.error = "open", None
            for job in step.jobs:
                if job.status == "failed":
                    reopen(state, job)
    take_up_again(state)


def _reopen_failed(state: State) -> None:
    """A compensation that failed is tried once more; what could not be taken back is looked at again after it."""
    if state.remains:
        state.undoing = "asked"
    for step in state.steps.values():
        if step.undoes is not None and step.status == "failed":
            step.status, step.error = "open", None
            for job in step.jobs:
                reopen(state, job)


# --- the run -------------------------------------------------------------------------------------------------------


def _revision_declined(state: State, event: events.RevisionDeclined) -> None:
    error = state.failed[event.failed].error
    assert error is not None
    give_up(state, error)


def _run_parked(state: State, event: events.RunParked) -> None:
    state.parked = event


def _run_resumed(state: State, event: events.RunResumed) -> None:
    state.forced = event.forced or (state.forced and bool(state.jobs["running"]))  # as long as it may still act
    for job in [*state.jobs["held"].values()]:
        job.error = None
        move(state, job, "todo")
    for job in state.jobs["in_doubt"].values():  # this driver may have a probe that works
        if job.probe_at is None and job.call is not None and state.tools[job.call.tool].probe:
            job.probe_at = state.now


def _time_passed(state: State, event: events.TimePassed) -> None:
    state.now = max(state.now, event.until)


def _nothing(state: State, event: Event) -> None:
    """Nothing changes but the time."""


def _goal_missed(state: State, event: events.GoalMissed) -> None:
    give_up(state, event.error)


def _run_ended(state: State, event: events.RunEnded) -> None:
    state.ended = event


_FOLDS: dict[type[Event], Callable[[State, Any], None]] = {
    events.RunStarted: _run_started,
    events.PlanRevised: _plan_revised,
    events.RevisionDeclined: _revision_declined,
    events.StepSkipped: _step_skipped,
    events.StepExpanded: _step_expanded,
    events.StepKept: _step_kept,
    events.StepsRefreshed: _steps_refreshed,
    events.CallStarted: _call_started,
    events.CallFinished: _call_finished,
    events.CallFailed: _call_failed,
    events.CallDoubted: _call_doubted,
    events.ProbeStarted: _probe_started,
    events.ProbeFinished: _probe_finished,
    events.StepHeld: _step_held,
    events.ChildStarted: _child_started,
    events.ChildParked: _child_parked,
    events.ChildTaken: _child_taken,
    events.ChildEnded: _child_ended,
    events.StepFailed: _step_failed,
    events.ApprovalAsked: _approval_asked,
    events.ApprovalAnswered: _approval_answered,
    events.DoubtSettled: _doubt_settled,
    events.OutputSupplied: _output_supplied,
    events.CancelAsked: _cancel_asked,
    events.UndoAsked: _undo_asked,
    events.UndoPlanned: _undo_planned,
    events.RetryAsked: _retry_asked,
    events.MessageRefused: _nothing,
    events.RunParked: _run_parked,
    events.RunResumed: _run_resumed,
    events.TimePassed: _time_passed,
    events.GoalMissed: _goal_missed,
    events.RunEnded: _run_ended,
}
