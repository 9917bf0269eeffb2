"""Child runs: a sub-goal is pursued by a run of its own, which any process may drive, and which tells when it ends."""

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any, Literal, cast

from chargehand.domain import events
from chargehand.domain.plan import Pursue, Step
from chargehand.domain.schemas import violations
from chargehand.domain.state import Job
from chargehand.domain.values import resolve
from chargehand.domain.work import Evidence, Failure, Outcome
from chargehand.engine.driven import Driven, Scope
from chargehand.errors import ChargehandError, ExpressionError, GoalNotPlanned, PlanRejected, RunUnknown
from chargehand.execution.results import examine

STOPPED = "the run above it was stopped"
MAX_DEPTH = 10  # runs below runs: a goal that leads back to itself ends here


@dataclass(frozen=True, slots=True, kw_only=True)
class Errand:
    """What a child run is to pursue, and whose it is."""

    run: str
    goal: str
    inputs: dict[str, Any]
    parent: str
    origin: str
    path: tuple[str, ...]
    unwanted: Callable[[], bool]
    """Whether it was stopped meanwhile, perhaps before its run was there to be told."""


Pursuit = Callable[[Errand], Awaitable[Outcome]]


FinalStatus = Literal["done", "failed", "cancelled"]


class Children:
    """Begins, takes up and stops the child runs of one run."""

    def __init__(self, driven: Driven, pursue: Pursuit, read_mail: Callable[[], None]) -> None:
        self._driven, self._pursue, self._read_mail = driven, pursue, read_mail

    def begin(self, step: Step, job: Job, scope: Scope) -> None:
        """Begins a child run, once its name is on disk; or has what one did taken back."""
        state, log = self._driven.state, self._driven.log
        undoes = state.steps[step.id].undoes
        attempt = self._next_attempt(step, job)
        if undoes is not None and undoes.child is not None:
            child, goal, inputs = undoes.child, "", dict[str, Any]()
        else:
            assert isinstance(step.action, Pursue)
            child, goal = self._name(step, job, attempt), step.action.goal
            try:
                inputs = self._inputs(step, scope)
            except ExpressionError as error:
                failure = Failure(kind="invalid", message=error.message, hint=error.hint)
                log.record(events.StepFailed(step=step.id, item=job.item, error=failure))
                return
        log.record(
            events.ChildStarted(step=step.id, item=job.item, attempt=attempt, child=child, goal=goal, args=inputs)
        )
        self.drive(state.job(step.id, job.item))

    def _next_attempt(self, step: Step, job: Job) -> int:
        """A revised step begins to count anew, but a run is never taken for another."""
        attempt = len(job.attempts) + 1
        while self._name(step, job, attempt) in self._driven.state.children:
            attempt += 1
        return attempt

    def _name(self, step: Step, job: Job, attempt: int) -> str:
        return f"{self._driven.run}/{step.id}/{job.item}/{attempt}"

    def _inputs(self, step: Step, scope: Scope) -> dict[str, Any]:
        if len(self._driven.state.path) >= MAX_DEPTH:
            raise ExpressionError(f"sub-goals nest more than {MAX_DEPTH} deep", hint="Does one lead back to itself?")
        return cast(dict[str, Any], resolve(step.arguments, scope))

    def take_up(self) -> None:
        """Drives on the child runs that an earlier driver left; what the mail says about them comes first."""
        jobs = self._driven.state.jobs
        for job in (*jobs["pursuing"].values(), *jobs["deferred"].values()):
            self.drive(job)

    def forsake(self, step: str, item: int) -> None:
        """A person did what a child run was to do: whoever drives it next ends it."""
        job = self._driven.state.jobs["deferred"].get((step, item))
        if job is not None and job.child is not None:
            self._driven.shop.post(job.child, "cancel", by=self._driven.run, because="a person did it instead")

    def drive(self, job: Job) -> None:
        """Drives the child run of a job, from its beginning or on from where it stands."""
        if job.status == "deferred":
            self._driven.log.record(events.ChildTaken(step=job.step, item=job.item))
        self._driven.start(job, self._follow(job))

    def stop(self, job: Job) -> None:
        """Asks the child run of a job to end, and sees to it."""
        assert job.child is not None
        deferred = job.status == "deferred"
        with suppress(RunUnknown):  # it is not there yet: `unwanted` tells it when it is
            self._driven.shop.post(job.child, "cancel", by=self._driven.run, because=STOPPED)
        self._driven.log.record(events.ChildTaken(step=job.step, item=job.item, stop=True))
        if deferred:
            self._driven.start(job, self._follow(job))

    def ended(self, job: Job, status: FinalStatus, answer: Any, error: Failure | None) -> events.ChildEnded:
        """What the end of a child run makes of its job: its answer is checked like any result."""
        assert job.child is not None
        step, scope = self._driven.find(job)
        evidence: tuple[Evidence, ...] = ()
        if status == "done":
            scope |= {"output": answer, "args": job.errand.args if job.errand else None}
            evidence = (*_form(step, answer), *examine(step.expect, scope))
        return events.ChildEnded(
            step=job.step,
            item=job.item,
            child=job.child,
            status=status,
            output=answer,
            error=error,
            evidence=evidence,
        )

    async def _follow(self, job: Job) -> None:
        errand = self._errand(job)
        await self._driven.log.barrier()
        if self._driven.state.steps[job.step].undoes is not None and not self._tell_to_undo(errand.run):
            message = "it is not in this journal, so nothing of it was taken back"
            failure = Failure(kind="error", message=message, hint="Import it, and retry.")
            self._driven.log.record(self.ended(job, "failed", None, failure))
            return
        try:
            outcome = await self._in_time(job, errand)
        except (GoalNotPlanned, PlanRejected) as error:
            failure = Failure(kind="invalid", message=_first_line(error), hint=error.hint)
            self._driven.log.record(replace(self.ended(job, "failed", None, failure), begun=False))
            return
        self._read_mail()  # the child's last word is in the inbox, if it has ended
        if job.child != errand.run or job.status != "pursuing":
            return
        if outcome.status == "waiting" or outcome.status == "in_doubt":
            self._driven.log.record(events.ChildParked(step=job.step, item=job.item, status=outcome.status))
        elif outcome.status != "running":
            self._driven.log.record(self.ended(job, outcome.status, outcome.answer, outcome.error))

    async def _in_time(self, job: Job, errand: Errand) -> Outcome:
        """Drives a child run. When the time of its step is over, it is asked to stop, and driven to its end."""
        step, _ = self._driven.find(job)
        if step.limits.seconds is None:
            return await self._pursue(errand)
        timer = asyncio.ensure_future(self._stop_after(step.limits.seconds, errand.run))
        try:
            return await self._pursue(errand)
        finally:
            timer.cancel()

    async def _stop_after(self, seconds: float, run: str) -> None:
        await asyncio.sleep(seconds)
        with suppress(RunUnknown):
            self._driven.shop.post(run, "cancel", by=self._driven.run, because=f"it took more than {seconds:g} s")

    def _tell_to_undo(self, run: str) -> bool:
        """False if there is no such run: it was not imported with the one above it."""
        try:
            self._driven.shop.post(run, "undo", by=self._driven.run, because="the run above it is undone")
        except RunUnknown:
            return False
        return True

    def _errand(self, job: Job) -> Errand:
        state, begun = self._driven.state, job.errand
        assert begun is not None
        return Errand(
            run=begun.child,
            goal=begun.goal,
            inputs=dict(begun.args),
            parent=self._driven.run,
            origin=state.origin,
            path=(*state.path, f"{job.step}/{job.item}"),
            unwanted=lambda: job.stopping,
        )


def _form(step: Step, answer: Any) -> list[Evidence]:
    """What shows that an answer is not of the form that its step counts on."""
    broken = violations(step.returns, answer) if step.returns is not None else []
    return [
        Evidence(check="the answer has the form of `returns`", held=False, problem=one.message) for one in broken[:1]
    ]


def _first_line(error: ChargehandError) -> str:
    return error.message.splitlines()[0]
