"""Moves: how steps, jobs and deeds change when something happens to them. `fold` says when."""

from typing import Any, Literal

from chargehand.domain import events
from chargehand.domain.state import Deed, Job, JobStatus, State, StepState
from chargehand.domain.work import Failure

PENDING: tuple[JobStatus, ...] = ("todo", "retrying", "asking", "held")  # nothing is under way
SETTLE = "Settle it: did it happen or not?"


# --- steps ---------------------------------------------------------------------------------------------------------


def learn(state: State, tools: Any) -> None:
    """Takes in what is known of some tools."""
    state.tools.update(tools)
    state.limited = any(facts.parallel is not None for facts in state.tools.values())


def reorder(state: State) -> None:
    """Works out anew who waits for whom; settled steps are waited for no longer."""
    state.feeds = {id: [] for id in state.steps}
    state.ready = {}
    for id, step in state.steps.items():
        for need in step.facts.needs:
            state.feeds[need].append(id)
        if step.status in ("waiting", "open"):  # what an open step uses may be on its way once more
            step.waits = {need for need in step.facts.needs if state.steps[need].status not in ("done", "skipped")}
        if step.status == "waiting" and not step.waits:
            state.ready[id] = None


def settle(state: State, id: str, status: Literal["done", "skipped"]) -> None:
    """A step is over, and those that waited for it may go on."""
    step = state.steps[id]
    step.status, step.done_at = status, state.now
    state.ready.pop(id, None)
    for user in state.feeds[id]:
        waiting = state.steps[user]
        waiting.waits.discard(id)
        if not waiting.waits and waiting.status == "waiting" and (waiting.undoes or not state.closing):
            state.ready[user] = None


# --- jobs ----------------------------------------------------------------------------------------------------------


def open_job(state: State, id: str, item: int) -> Job:
    """The job of an event; a step without `each` gets its one job when it begins."""
    step = state.steps[id]
    if not step.jobs:
        step.status, step.left, step.jobs = "open", 1, [Job(id)]
        state.ready.pop(id, None)
    return step.jobs[item]


def move(state: State, job: Job, status: JobStatus) -> None:
    """Puts a job among those of another status."""
    key = job.key
    before = state.jobs.get(job.status)
    if before is not None:
        before.pop(key, None)
    job.status = status
    after = state.jobs.get(status)
    if after is not None:
        after[key] = job


def drop_jobs(state: State, step: StepState) -> None:
    """Forgets where the jobs of a step stood."""
    for job in step.jobs:
        state.left_behind = state.left_behind or job.deed is not None
        place = state.jobs.get(job.status)
        if place is not None:
            place.pop(job.key, None)


def succeed(state: State, job: Job) -> None:
    """A job is done; with the last one, so is its step."""
    move(state, job, "done")
    job.call = job.error = job.child_status = None
    step = state.steps[job.step]
    step.left -= 1
    if step.left == 0 and step.status == "open":
        if step.undoes is not None:
            undone(state, step.undoes)
        settle(state, job.step, "done")


def undone(state: State, undoes: events.Compensation) -> None:
    """Something was taken back."""
    if undoes.key is not None:
        state.deeds[undoes.key].status = "undone"
    if undoes.child is not None:
        state.children.pop(undoes.child, None)


def give(state: State, job: Job, event: "events.CallFinished | events.ChildEnded | events.DoubtSettled") -> None:
    """A result is there: the job is done if every check holds."""
    job.output, job.evidence = event.output, event.evidence
    for one in event.evidence:
        if not one.held:
            problem = f": {one.problem}" if one.problem else ""
            message = f"the result does not satisfy `{one.check}`{problem}"
            return fail(state, job, Failure(kind="check_failed", message=message))
    return succeed(state, job)


def fail(state: State, job: Job, error: Failure) -> None:
    """A job has failed, and with it its step."""
    move(state, job, "failed")
    job.call, job.error = None, error
    step = state.steps[job.step]
    if step.status != "open":
        return  # another item failed before
    step.error = error
    for other in step.jobs:
        other.asked = None  # no answer lets it begin any more
        if other.status in PENDING:
            drop(state, other)
    if step.facts.if_fails == "skip":
        step.because = f"it failed: {error.message}"
        settle(state, job.step, "skipped")
        return
    step.status = "failed"
    if step.facts.if_fails == "stop" or state.closing:
        give_up(state, error)
    else:
        state.failed[job.step] = step


# --- hope ----------------------------------------------------------------------------------------------------------


def is_useless(state: State, job: Job) -> bool:
    """Whether nobody needs what a job does any more: its step has failed, or the run is closing."""
    step = state.steps[job.step]
    return step.status != "open" or (state.closing and step.undoes is None)


def give_up(state: State, error: Failure) -> None:
    """The goal can no longer be reached: nothing that has not begun will."""
    state.hopeless = state.hopeless or error
    drop_pending(state)


def drop_pending(state: State) -> None:
    """Nothing that has not begun will."""
    for job in state.jobs["asking"].values():
        job.asked = None  # no answer lets it begin any more
    for status in PENDING:
        for job in [*state.jobs[status].values()]:
            drop(state, job)
    state.ready.clear()
    state.failed.clear()


def drop(state: State, job: Job) -> None:
    """A job that has not begun, or waits for its next try, is left; what an earlier try may have done is in doubt."""
    state.jobs[job.status].pop(job.key, None)
    deed = deed_of(state, job)
    if deed is None or not deed.unresolved:
        return
    job.error = Failure(kind="in_doubt", message="it was not tried again: it may have happened", hint=SETTLE)
    job.probe_at = state.now if job.call is not None and state.tools[deed.tool].probe else None
    job.no_counts_from, job.retry_at, deed.status = None, None, "doubt"
    move(state, job, "in_doubt")


def take_up_again(state: State) -> None:
    """There is hope again: what was dropped is to be done after all."""
    state.hopeless = state.cancelled = state.ended = None
    for id, step in state.steps.items():
        for job in step.jobs if step.status == "open" else ():
            if job.status in ("todo", "retrying", "asking", "held"):
                job.asked = job.retry_at = None
                move(state, job, "todo")
        if step.status == "failed":
            state.failed[id] = step
    reorder(state)


def reopen(state: State, job: Job) -> None:
    """A job that failed is to be done after all; one of which nobody knew what became is in doubt again."""
    job.errand, job.stopping = None, False
    deed = deed_of(state, job)
    if deed is not None and deed.status == "doubt":
        move(state, job, "in_doubt")
    else:
        job.error = None
        move(state, job, "todo")


# --- deeds ---------------------------------------------------------------------------------------------------------


def deed_of(state: State, job: Job) -> Deed | None:
    """The effect of a job, if it has one."""
    return state.deeds.get(job.deed) if job.deed is not None else None


def happened(state: State, job: Job, output: Any, source: str | None = None) -> None:
    """The effect of a job happened, if it is one."""
    deed = deed_of(state, job)
    if deed is not None and deed.status != "done":
        deed.status, deed.output, deed.seq, deed.source = "done", output, state.seq, source


def restore_approval(state: State, job: Job) -> None:
    """What was approved has not happened: the answer still covers it."""
    if job.call is not None and job.call.approval is not None:
        state.approved.add(job.call.approval)
