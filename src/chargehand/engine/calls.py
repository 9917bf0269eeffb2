"""Calls: one job from its arguments to its outcome. An effect begins only when its intent is on disk."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from typing import Any, cast

from chargehand.catalog.tools import AnyTool
from chargehand.domain import events
from chargehand.domain.events import ToolFacts
from chargehand.domain.plan import Ask, Pursue, Step, Use
from chargehand.domain.state import Job
from chargehand.domain.values import resolve
from chargehand.domain.work import Evidence, Failure
from chargehand.engine.keys import action_key
from chargehand.engine.log import Log
from chargehand.engine.requests import LIFETIME, make_request, request_hash
from chargehand.engine.workshop import Workshop
from chargehand.errors import BadValue, ExpressionError
from chargehand.execution.calling import call
from chargehand.execution.choice import choose
from chargehand.execution.failures import Verdict, classify
from chargehand.execution.results import examine, plain_result, typed_arguments
from chargehand.execution.retry import next_try

DEFAULT_TIMEOUT = 600.0  # seconds for one call of a tool that declares none: no call may hang for ever
GRACE = 30.0  # seconds between an intent and its call: an intent that is older is not acted on

Scope = dict[str, Any]
Start = Callable[[Coroutine[Any, Any, None]], None]


class Caller:
    """Makes the calls of one run."""

    def __init__(self, run: str, shop: Workshop, log: Log, start: Start) -> None:
        self._run, self._shop, self._log, self._start = run, shop, log, start
        self._state = log.state

    def begin(self, step: Step, job: Job, scope: Scope) -> None:
        """Begins a call, or asks for approval first, or says why it cannot be."""
        try:
            tool, why = self._choose(step, job)
            arguments = cast(dict[str, Any], resolve(step.arguments, scope))
            typed = typed_arguments(tool.signature, arguments)
        except _CannotCall as error:
            self.fail(step.id, job.item, error.failure)
        except (ExpressionError, BadValue) as error:
            self.fail(step.id, job.item, Failure(kind="invalid", message=error.message, hint=error.hint))
        else:
            if tool.effect != "irreversible" or self._approved(step, job, tool, arguments):
                started = self._started(job, tool, arguments, why)
                self._log.record(started)
                self._start(self._execute(step, started, tool, typed, scope))

    def fail(self, step: str, item: int, failure: Failure) -> None:
        """Records that a step failed without a call."""
        self._log.record(events.StepFailed(step=step, item=item, error=failure))

    def _choose(self, step: Step, job: Job) -> tuple[AnyTool, str]:
        match step.action:
            case Ask():
                raise _CannotCall("unsupported", "the step asks a specialist, which this version cannot do yet")
            case Pursue():
                raise _CannotCall("unsupported", "the step pursues a sub-goal, which this version cannot do yet")
            case Use(tool=name):
                providers = self._state.tools[name].providers
        choice = choose(providers, job.attempts, self._shop.health.benched(self._shop.now()))
        if choice is None:
            raise _CannotCall("unsupported", "no tool that provides it can do it")
        tool = self._shop.catalog.tools.get(choice.tool)
        if tool is None:
            hint = "Start the process with the tools that the run began with."
            raise _CannotCall("unsupported", f"the tool {choice.tool!r} is gone", hint)
        if tool.signature.form != self._state.tools[choice.tool].form:
            hint = "Its parameters or its result are not those that the plan was checked against: revise the plan."
            raise _CannotCall("invalid", f"the tool {choice.tool!r} has changed", hint)
        return tool, choice.why

    def _started(self, job: Job, tool: AnyTool, arguments: dict[str, Any], why: str) -> events.CallStarted:
        reads = tool.effect == "read"
        return events.CallStarted(
            step=job.step,
            item=job.item,
            attempt=len(job.attempts) + 1,
            tool=tool.name,
            args=arguments,
            why=why,
            key=None if reads else action_key(self._state, job, tool.name, arguments),
            not_after=None if reads else self._shop.now() + GRACE,
        )

    async def _execute(
        self, step: Step, started: events.CallStarted, tool: AnyTool, arguments: dict[str, Any], scope: Scope
    ) -> None:
        facts = self._state.tools[tool.name]
        if facts.effect != "read":
            await self._log.barrier()
            if started.not_after is not None and self._shop.now() > started.not_after:
                failure = Failure(kind="transient", message="its time had passed before it could begin")
                self._failed(started, facts, Verdict(failure, "nothing happened"), 0.0)
                return
        began = self._shop.now()
        try:
            seconds = min(facts.timeout or DEFAULT_TIMEOUT, step.limits.seconds or DEFAULT_TIMEOUT)
            result = await call(tool, arguments, self._shop.threads, seconds)
        except asyncio.CancelledError:
            raise  # the driver stops: what became of the call is settled by whoever resumes the run
        except BaseException as error:
            self._shop.health.ill(tool.name, self._shop.now())
            self._failed(started, facts, classify(error), self._shop.now() - began)
        else:
            self._shop.health.well(tool.name)
            self._finished(step, started, tool, result, scope, self._shop.now() - began)

    def _finished(
        self, step: Step, started: events.CallStarted, tool: AnyTool, result: Any, scope: Scope, seconds: float
    ) -> None:
        try:
            output = plain_result(tool.signature, result)
            evidence = examine(step.expect, {**scope, "output": output, "args": started.args}) if step.expect else ()
        except BadValue as error:  # it acted, and what it gave cannot be used
            promise = Evidence(check="the result is what the tool promises", held=False, problem=error.message)
            output, evidence = None, (promise,)
        finished = events.CallFinished(
            step=step.id,
            item=started.item,
            attempt=started.attempt,
            output=output,
            evidence=evidence,
            seconds=round(seconds, 6),
        )
        self._log.record(finished)

    def _failed(self, started: events.CallStarted, facts: ToolFacts, verdict: Verdict, seconds: float) -> None:
        """A read, or a call that certainly did nothing, may be tried again; an effect that may have happened not."""
        step, item, attempt = started.step, started.item, started.attempt
        if facts.effect != "read" and not facts.idempotent and verdict.certainty == "unknown":
            because = f"{verdict.failure.message}: it may have happened"
            self._log.record(events.CallDoubted(step=step, item=item, attempt=attempt, because=because))
            return
        attempts = self._state.job(step, item).attempts
        at = self._shop.now()
        retry_at = next_try(facts, attempts, verdict.failure, at, self._shop.dice(), verdict.retry_after)
        failed = events.CallFailed(
            step=step, item=item, attempt=attempt, error=verdict.failure, retry_at=retry_at, seconds=round(seconds, 6)
        )
        self._log.record(failed)

    def settle_interrupted(self) -> None:
        """Calls of a driver that is no more: reads are made again, effects are in doubt until somebody knows, and
        whoever was being asked is asked again."""
        if self._shop.approver is not None:
            for job in self._state.asking.values():
                if job.asked is not None:
                    self._start(self._ask(job.asked))
        for job in [*self._state.running.values()]:
            if job.call is None:
                continue
            step, item, attempt = job.call.step, job.call.item, job.call.attempt
            facts = self._state.tools[job.call.tool]
            if facts.effect == "read" or facts.idempotent:
                failure = Failure(kind="transient", message="it was interrupted")
                again = events.CallFailed(
                    step=step, item=item, attempt=attempt, error=failure, retry_at=self._shop.now()
                )
                self._log.record(again)
            else:
                because = "the process ended between the intent and the outcome: it may have happened"
                self._log.record(events.CallDoubted(step=step, item=item, attempt=attempt, because=because))

    def _approved(self, step: Step, job: Job, tool: AnyTool, arguments: dict[str, Any]) -> bool:
        """Whether this very call has been approved; if not, it is asked for."""
        request = make_request(self._run, self._state, step, job.item, tool, arguments)
        hash = request_hash(request)
        if job.approved == hash:
            return True
        expires = self._shop.now() + LIFETIME
        asked = events.ApprovalAsked(step=step.id, item=job.item, hash=hash, request=request, expires=expires)
        self._log.record(asked)
        if self._shop.approver is not None:
            self._start(self._ask(asked))
        return False

    async def _ask(self, asked: events.ApprovalAsked) -> None:
        """Puts a request to the application's approver. No answer is not yes: the run waits."""
        await self._log.barrier()
        assert self._shop.approver is not None
        answer = self._shop.approver({**asked.request, "expires": asked.expires})
        yes = await cast(Awaitable[bool | None], answer) if hasattr(answer, "__await__") else answer
        if yes is None or self._state.job(asked.step, asked.item).asked is not asked:
            return
        answered = events.ApprovalAnswered(step=asked.step, item=asked.item, hash=asked.hash, yes=yes is True)
        self._log.record(answered, by="approver")


class _CannotCall(Exception):
    def __init__(self, kind: Any, message: str, hint: str = "") -> None:
        super().__init__(message)
        self.failure = Failure(kind=kind, message=message, hint=hint)
