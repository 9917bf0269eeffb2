"""The driver of one run: it does what `decide` says, and records what comes of it."""

import asyncio
from collections.abc import Coroutine
from dataclasses import replace
from typing import Any, cast

from chargehand.domain import events
from chargehand.domain.patch import difference
from chargehand.domain.plan import Plan, Step
from chargehand.domain.records import Claim
from chargehand.domain.state import Job, State
from chargehand.domain.values import resolve
from chargehand.domain.work import Failure
from chargehand.domain.writing import write_plan
from chargehand.engine.calls import Caller
from chargehand.engine.decide import Begin, Call, Finish, Park, Rest, Revise, Skip, decide
from chargehand.engine.facts import step_facts, tool_facts
from chargehand.engine.log import Log
from chargehand.engine.mail import read_message
from chargehand.engine.workshop import Workshop
from chargehand.errors import ExpressionError

MAX_ITEMS = 10_000  # items of one `each`; more belong in a tool
TICK = 0.001  # seconds; the least that is slept, so that rounding cannot make a wait of nothing


class Driver:
    """Carries out one run that this process has claimed."""

    def __init__(self, shop: Workshop, claim: Claim, state: State, plan: Plan) -> None:
        self._shop, self._run, self._state = shop, claim.run, state
        self._log = Log(shop.journal, claim, state, shop.now)
        self._caller = Caller(claim.run, shop, self._log, self._start)
        self._plan = plan
        self._inputs = {name: input.value for name, input in self._plan.inputs.items()}
        self._tasks: set[asyncio.Task[None]] = set()
        self._wake = asyncio.Event()
        self._broken: BaseException | None = None
        self._mail_read = 0

    def note(self, event: events.Event) -> None:
        """Records something that happened to the run from outside."""
        self._log.record(event)

    async def drive(self) -> None:
        """Goes on until the run is over or nothing can be done but wait. Raises RunLost if another has the run."""
        stop_listening = self._shop.journal.listen(self._run, self._wake.set)
        try:
            self._caller.settle_interrupted()
            self._read_mail()
            while self._state.ended is None and await self._turn():
                pass
            self._log.flush()
        finally:
            stop_listening()
            await self._stop_tasks()

    async def _turn(self) -> bool:
        """One round: read the mail, do what is to be done, wait if there is nothing. False when it is over."""
        self._wake.clear()
        self._read_mail()
        commands = decide(self._state)
        for command in commands:
            match command:
                case Skip(step=step, because=because):
                    self._log.record(events.StepSkipped(step=step, because=because))
                case Begin(step=step):
                    self._begin(self._plan.by_id[step])
                case Call(job=job):
                    step = self._plan.by_id[job.step]
                    self._caller.begin(step, job, self._scope(step, job))
                case Revise(step=step):
                    self._revise(step)
                case Rest(until=until):
                    await self._sleep(until - self._shop.now())
                    self._log.record(events.TimePassed())
                case Park():
                    return await self._park(command)
                case Finish(status=status):
                    await self._finish(status)
                    return False
        self._log.flush()
        if not commands:
            await self._wake.wait()
        if self._broken is not None:
            raise self._broken
        return True

    def _scope(self, step: Step, job: Job | None = None) -> dict[str, Any]:
        """What the expressions of a step may refer to."""
        scope: dict[str, Any] = {"inputs": self._inputs}
        for name in self._plan.references[step.id]:
            other = self._state.steps.get(name)
            if other is not None:
                scope[name] = other.output if other.status == "done" else None
        if job is not None and step.each is not None:
            scope["item"] = job.value
        return scope

    def _begin(self, step: Step) -> None:
        scope = self._scope(step)
        try:
            if step.when is not None and not step.when.holds(scope):
                self._log.record(events.StepSkipped(step=step.id, because=f"`{step.when.text}` does not hold"))
                return
            items = None if step.each is None else _items(step.each.evaluate(scope))
        except ExpressionError as error:
            self._caller.fail(step.id, 0, Failure(kind="invalid", message=error.message, hint=error.hint))
            return
        if items is not None:
            self._log.record(events.StepExpanded(step=step.id, items=items))
        else:
            self._caller.begin(step, Job(step.id), scope)

    def _read_mail(self) -> None:
        for message in self._shop.journal.inbox(self._run, self._mail_read):
            self._mail_read = message.id
            self._log.record(read_message(self._state, message), by=message.by, consumed=message.id)
        now = self._shop.now()
        for job in [*self._state.asking.values()]:
            if job.asked is not None and job.asked.expires <= now:
                hash, because = job.asked.hash, "the request expired"
                self._log.record(
                    events.ApprovalAnswered(step=job.step, item=job.item, hash=hash, yes=False, because=because)
                )

    def _revise(self, failed: str) -> None:
        failure = self._state.steps[failed].error
        assert failure is not None
        revised = self._shop.reviser(self._state, self._plan, failed, failure)
        if revised is None:
            self._log.record(events.RevisionDeclined(failed=failed, because="no way around it is known"))
            return
        patch = difference(self._plan, revised.plan)
        self._log.record(
            events.PlanRevised(
                plan=write_plan(revised.plan),
                steps=step_facts(revised.plan),
                changed=tuple(step.id for step in (*patch.add, *patch.replace)),
                tools=tool_facts(revised.plan, self._shop.catalog),
                failed=failed,
                rung=revised.rung,
                because=revised.because,
                base=self._state.seq,
            )
        )
        self._plan = revised.plan

    async def _park(self, command: Park) -> bool:
        """Gives the run back, for it waits for people. True if there is something to do after all."""
        if self._tasks:  # an approver is being asked
            self._log.flush()
            await self._wake.wait()
            return True
        status = "in_doubt" if self._state.doubts else "waiting"
        parked = events.RunParked(reasons=command.reasons, wake_at=command.wake_at)
        return not await self._log.park(parked, status, command.wake_at)

    async def _sleep(self, seconds: float) -> None:
        """Until a time has come, or mail."""
        self._log.flush()
        waits: list[Coroutine[Any, Any, object]] = [self._shop.clock.sleep(max(seconds, TICK)), self._wake.wait()]  # pyright: ignore
        _, pending = await asyncio.wait(
            [asyncio.ensure_future(one) for one in waits], return_when=asyncio.FIRST_COMPLETED
        )
        for one in pending:
            one.cancel()
        await asyncio.gather(*pending, return_exceptions=True)

    async def _finish(self, status: Any) -> None:
        ended = events.RunEnded(status=status, error=self._state.hopeless)
        if status == "done" and self._plan.answer is not None:
            scope = {id: step.output for id, step in self._state.steps.items() if step.status == "done"}
            try:
                ended = replace(ended, answer=resolve(self._plan.answer, {**scope, "inputs": self._inputs}))
            except ExpressionError as error:
                failure = Failure(kind="invalid", message=f"the answer: {error.message}", hint=error.hint)
                ended = replace(ended, status="failed", error=failure)
        await self._log.end(ended)

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)

    def _done(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        if not task.cancelled():
            self._broken = self._broken or task.exception()  # RunLost, or a fault of our own: never swallowed
        self._wake.set()

    async def _stop_tasks(self) -> None:
        tasks = [*self._tasks]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def _items(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ExpressionError(f"`each` goes over {type(value).__name__}, not a list")
    items = cast(list[Any], value)
    if len(items) > MAX_ITEMS:
        raise ExpressionError(f"`each` goes over {len(items):,} items; at the most {MAX_ITEMS:,} are allowed")
    return items
