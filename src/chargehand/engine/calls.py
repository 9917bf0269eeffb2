"""Calls: one job from its arguments to its outcome. An effect begins only when its intent is on disk."""

import math
from dataclasses import replace
from typing import Any, cast

from chargehand.catalog.tools import AnyTool
from chargehand.domain import events
from chargehand.domain.events import ToolFacts
from chargehand.domain.plan import Step, Use
from chargehand.domain.state import Job
from chargehand.domain.values import resolve
from chargehand.domain.work import Evidence, Failure
from chargehand.engine.approvals import Approvals
from chargehand.engine.driven import Driven, Scope
from chargehand.engine.keys import ALONE, Identity, action_key, action_of, identities
from chargehand.engine.ledger import Found, Ledger
from chargehand.errors import BadValue, ExpressionError, JournalUnusable
from chargehand.execution.calling import call
from chargehand.execution.choice import choose
from chargehand.execution.containment import TIDYING
from chargehand.execution.failures import Verdict, classify
from chargehand.execution.results import examine, plain_result, typed_arguments
from chargehand.execution.retry import next_try

DEFAULT_TIMEOUT = 600.0  # seconds for one call of a tool that declares none: no call may hang for ever
GRACE = 30.0  # seconds between an intent and its call: an intent that is older is not acted on


class Caller:
    """Makes the calls of one run."""

    def __init__(self, driven: Driven, ledger: Ledger, approvals: Approvals) -> None:
        self._driven, self._ledger, self._approvals = driven, ledger, approvals
        self._shop, self._log, self._state = driven.shop, driven.log, driven.state
        self._identities: dict[str, tuple[list[Job], list[Identity]]] = {}
        self.outcomes: list[events.CallFinished | events.CallFailed] = []
        """What came of the effects that this driver made, for whoever takes the run from it."""
        self.busy: set[str] = set()
        """Tools, as plans name them, that had no place for a call in this turn."""

    def begin(self, step: Step, job: Job, scope: Scope) -> None:
        """Begins a call, or asks for approval first, or says why it cannot be. Nothing if the tool is busy."""
        try:
            tool, why = self._choose(step, job)
            arguments = self._arguments(step, scope)
            typed = typed_arguments(tool.signature, arguments)
        except _Unfit as unfit:
            self._log.record(events.StepHeld(step=step.id, item=job.item, because=unfit.because))
        except (ExpressionError, BadValue) as error:
            self.fail(step.id, job.item, Failure(kind="invalid", message=error.message, hint=error.hint))
        except _CannotCall as error:
            self.fail(step.id, job.item, error.failure)
        else:
            started = self._started(job, tool, arguments, why)
            if tool.signature.key is not None:
                typed[tool.signature.key] = started.key or ""
            if tool.effect == "irreversible" and self._search(started) is None:
                approval = self._approvals.given(step, job, tool, arguments)
                if approval is None:
                    return
                started = replace(started, approval=approval)
            if self._shop.gates.enter(tool, self._shop.now(), self._driven.wake):
                self._log.record(started)
                job = self._state.job(job.step, job.item)
                limited = tool.parallel is not None or tool.rate is not None
                task = self._driven.start(job, self._execute(step, started, tool, typed, scope), alone=limited)
                if limited and task is not None:
                    task.add_done_callback(lambda _: self._shop.gates.leave(tool.name))
            elif isinstance(step.action, Use):
                self.busy.add(step.action.tool)

    def fail(self, step: str, item: int, failure: Failure) -> None:
        """Records that a step failed without a call."""
        self._log.record(events.StepFailed(step=step, item=item, error=failure))

    def _choose(self, step: Step, job: Job) -> tuple[AnyTool, str]:
        assert isinstance(step.action, Use)
        providers = self._state.tools[step.action.tool].providers
        deed = self._state.deeds.get(job.deed or "")
        if deed is not None and deed.unresolved:
            providers = (deed.tool,)  # it may have happened: another tool would do it twice
        choice = choose(providers, job.attempts, self._shop.health.benched(self._shop.now()))
        if choice is None:
            raise _CannotCall(Failure(kind="unsupported", message="no tool that provides it can do it"))
        tool = self._shop.catalog.known.get(choice.tool)
        if tool is None:
            raise _Unfit(f"the tool {choice.tool!r} is gone; resume the run in a process that has it")
        if tool.signature.form != self._state.tools[choice.tool].form:
            raise _Unfit(
                f"the tool {choice.tool!r} has changed since the plan was checked; resume the run with the tool as it "
                f"was, or fork it at this step: the plan is then checked anew"
            )
        return tool, choice.why

    def _arguments(self, step: Step, scope: Scope) -> dict[str, Any]:
        undoes = self._state.steps[step.id].undoes
        return dict(undoes.args) if undoes is not None else cast(dict[str, Any], resolve(step.arguments, scope))

    def _started(self, job: Job, tool: AnyTool, arguments: dict[str, Any], why: str) -> events.CallStarted:
        attempt = len(job.attempts) + 1
        if tool.effect == "read":
            return events.CallStarted(
                step=job.step, item=job.item, attempt=attempt, tool=tool.name, args=arguments, why=why
            )
        action = action_of(self._state.steps[job.step].facts.tool or tool.name, arguments)
        return events.CallStarted(
            step=job.step,
            item=job.item,
            attempt=attempt,
            tool=tool.name,
            args=arguments,
            why=why,
            key=action_key(self._state, job, action, self._identity(job), self._ledger.taken_back(action)),
            action=action,
            not_after=self._driven.now() + GRACE,
        )

    def _identity(self, job: Job) -> Identity:
        step = self._state.steps[job.step]
        if step.undoes is not None:
            return step.undoes.key or "", 0
        if not step.expanded:
            return ALONE
        jobs, known = self._identities.get(job.step, ([], []))
        if jobs is not step.jobs:
            jobs, known = self._identities[job.step] = step.jobs, identities(step.jobs)
        return known[job.item]

    async def _execute(
        self, step: Step, started: events.CallStarted, tool: AnyTool, arguments: dict[str, Any], scope: Scope
    ) -> None:
        if started.key is None or await self._may_act(step, started, tool, scope):
            await self._call(step, started, tool, arguments, scope)

    async def _may_act(self, step: Step, started: events.CallStarted, tool: AnyTool, scope: Scope) -> bool:
        """Whether an effect may begin, now that its intent is on disk."""
        try:
            await self._log.barrier()
        except JournalUnusable:
            self._not_now(started, "its intent could not be written")
            raise
        if started.not_after is not None and self._driven.now() > started.not_after:
            self._not_now(started, "its time had passed before it could begin")
            return False
        found = self._search(started)
        if found is not None:
            self._repeat(step, started, tool, scope, found)
        elif tool.effect == "irreversible" and started.approval is None:
            self._not_now(started, "what it would have taken over is no longer there, so it must be asked for")
            return False
        return found is None

    def _search(self, started: events.CallStarted) -> Found | None:
        compensates = self._state.steps[started.step].undoes is not None
        return self._ledger.search(started.action or "", started.key or "", compensates)

    def _not_now(self, started: events.CallStarted, because: str) -> None:
        """Records that an effect was not begun, and is to be tried again at once."""
        self._log.record(
            events.CallFailed(
                step=started.step,
                item=started.item,
                attempt=started.attempt,
                error=Failure(kind="transient", message=because),
                retry_at=self._driven.now(),
            )
        )

    def _repeat(self, step: Step, started: events.CallStarted, tool: AnyTool, scope: Scope, found: Found) -> None:
        """The same was done before: its outcome is taken, or its doubt."""
        if found.deed.status == "done":
            self.finish(step, started, tool, found.deed.output, scope, 0.0, reused=found)
            return
        because = f"step {found.deed.step} of run {found.run} began the same, and nobody knows what became of it"
        self._log.record(
            events.CallDoubted(step=started.step, item=started.item, attempt=started.attempt, because=because)
        )

    async def _call(
        self, step: Step, started: events.CallStarted, tool: AnyTool, arguments: dict[str, Any], scope: Scope
    ) -> None:
        facts = self._state.tools[tool.name]
        began = self._driven.now()
        try:
            result = await call(tool, arguments, self._shop.threads, self._seconds(facts, step, started))
        except Exception as error:
            verdict = classify(error)
            if verdict.failure.kind == "transient":
                self._shop.health.ill(tool.name, self._shop.now())
            self._failed(started, facts, verdict, self._driven.now() - began)
        else:
            self._shop.health.well(tool.name)
            self.finish(step, started, tool, result, scope, self._driven.now() - began)

    def finish(
        self,
        step: Step,
        started: events.CallStarted,
        tool: AnyTool,
        result: Any,
        scope: Scope,
        seconds: float,
        *,
        reused: Found | None = None,
        by: str = "engine",
    ) -> None:
        """Records a result with what its checks found."""
        try:
            output = self._shop.redact(plain_result(tool.signature, result))
            evidence = examine(step.expect, {**scope, "output": output, "args": started.args}) if step.expect else ()
        except BadValue as error:  # it acted, and what it gave cannot be used
            problem = self._shop.redact(error.message)
            promise = Evidence(check="the result is what the tool promises", held=False, problem=problem)
            output, evidence = None, (promise,)
        finished = events.CallFinished(
            step=step.id,
            item=started.item,
            attempt=started.attempt,
            output=output,
            evidence=evidence,
            seconds=round(seconds, 6),
            reused=None if reused is None else reused.run,
            reused_key=None if reused is None else reused.deed.source or reused.deed.key,
        )
        if started.key is not None:
            self.outcomes.append(finished)
        self._log.record(finished, by)

    def _failed(self, started: events.CallStarted, facts: ToolFacts, verdict: Verdict, seconds: float) -> None:
        """A read, or a call that certainly did nothing, may be tried again; an effect that may have happened not."""
        failure = self._redacted(verdict.failure)
        unknown = facts.effect != "read" and verdict.certainty == "unknown"
        deed = self._state.deeds.get(started.key or "")
        retry_at = None
        if facts.idempotent or not unknown:
            job = self._state.job(started.step, started.item)
            now = self._driven.now()
            retry_at = next_try(facts, job.attempts, failure, now, self._shop.dice(), verdict.retry_after)
            if retry_at is not None and retry_at >= self._deadline(started):
                retry_at = None
            if failure.kind == "unsupported" and deed is not None and deed.unresolved:
                retry_at = None
        if retry_at is None and (unknown or (deed is not None and deed.unresolved)):
            over = math.inf if verdict.still_acting else self._driven.now()
            self.doubt(started, facts, f"{failure.message}: it may have happened", over)
            return
        failed = events.CallFailed(
            step=started.step,
            item=started.item,
            attempt=started.attempt,
            error=failure,
            retry_at=retry_at,
            seconds=round(seconds, 6),
            certain=not unknown,
        )
        if started.key is not None:
            self.outcomes.append(failed)
        self._log.record(failed)

    def doubt(self, started: events.CallStarted, facts: ToolFacts, because: str, over: float) -> None:
        """Records that nobody knows. `over` is when the call can no longer be acting: from then on, and after what the
        tool says it takes to settle, a probe's "no" counts. If it does not say, it never does."""
        settles = facts.settles_within
        self._log.record(
            events.CallDoubted(
                step=started.step,
                item=started.item,
                attempt=started.attempt,
                because=because,
                probe_at=self._driven.now() if facts.probe else None,
                no_counts_from=None if settles is None or over == math.inf else over + settles,
            )
        )

    def settle_interrupted(self) -> None:
        """Calls of a driver that is no more: reads are made again, effects are in doubt until somebody knows."""
        for job in [*self._state.jobs["running"].values()]:
            if job.call is None:
                continue
            facts = self._state.tools[job.call.tool]
            if facts.effect == "read" or facts.idempotent:
                failure = Failure(kind="transient", message="it was interrupted")
                self._log.record(
                    events.CallFailed(
                        step=job.step,
                        item=job.item,
                        attempt=job.call.attempt,
                        error=failure,
                        retry_at=self._driven.now(),
                        certain=facts.effect == "read",
                    )
                )
            else:
                because = "the process ended between the intent and the outcome: it may have happened"
                self.doubt(job.call, facts, because, self._over(job.call, facts))

    def _over(self, started: events.CallStarted, facts: ToolFacts) -> float:
        """When an interrupted call can no longer be acting: at once, if its process is dead; else after its time."""
        if not self._state.forced:
            return self._driven.now()
        return (started.not_after or self._driven.now()) + (facts.timeout or DEFAULT_TIMEOUT) + TIDYING

    def _deadline(self, started: events.CallStarted) -> float:
        """When the time of a step is over, tries included."""
        job = self._state.job(started.step, started.item)
        step, _ = self._driven.find(job)
        return math.inf if step.limits.seconds is None else (job.began or self._state.now) + step.limits.seconds

    def _seconds(self, facts: ToolFacts, step: Step, started: events.CallStarted) -> float:
        """How long one call may take."""
        seconds = facts.timeout or DEFAULT_TIMEOUT
        if step.limits.seconds is None:
            return seconds
        return max(min(seconds, self._deadline(started) - self._driven.now()), 0.0)

    def _redacted(self, failure: Failure) -> Failure:
        return replace(failure, message=self._shop.redact(failure.message), hint=self._shop.redact(failure.hint))


class _CannotCall(Exception):
    def __init__(self, failure: Failure) -> None:
        super().__init__(failure.message)
        self.failure = failure


class _Unfit(Exception):
    """This process cannot go on with a step; another one may."""

    def __init__(self, because: str) -> None:
        super().__init__(because)
        self.because = because
