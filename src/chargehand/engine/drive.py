"""The driver of one run: it does what `decide` says, and records what comes of it."""

import asyncio
import contextlib
from dataclasses import replace
from typing import Any, cast

from chargehand.domain import events
from chargehand.domain.patch import difference
from chargehand.domain.plan import Plan, Pursue, Step, Use
from chargehand.domain.records import Change, Claim
from chargehand.domain.state import Job, State
from chargehand.domain.work import Failure
from chargehand.domain.writing import write_plan
from chargehand.engine import decide as next
from chargehand.engine.approvals import Approvals
from chargehand.engine.calls import Caller
from chargehand.engine.children import Children, Pursuit
from chargehand.engine.decide import decide
from chargehand.engine.driven import Driven, Scope
from chargehand.engine.ending import ending
from chargehand.engine.facts import step_facts, tool_facts
from chargehand.engine.lanes import Lanes
from chargehand.engine.late import post_late
from chargehand.engine.ledger import Ledger
from chargehand.engine.log import Log, restore
from chargehand.engine.mail import letter_home, read_message
from chargehand.engine.probes import Probes
from chargehand.engine.undoing import plan_undo
from chargehand.engine.workshop import Workshop
from chargehand.errors import ExpressionError, JournalUnusable, RunLost
from chargehand.execution.results import examine

MAX_ITEMS = 10_000  # items of one `each`; more belong in a tool
PARTING = 5.0  # seconds that a driver which is stopped waits for effects under way
TICK = 0.001  # seconds; the least that is slept, so that rounding cannot make a wait of nothing


class Driver:
    """Carries out one run that this process has claimed."""

    def __init__(self, shop: Workshop, claim: Claim, state: State, plan: Plan, pursue: Pursuit) -> None:
        self._shop, self._run, self._state, self._plan = shop, claim.run, state, plan
        self._inputs = {name: input.value for name, input in plan.inputs.items()}
        self._wake = asyncio.Event()
        self._lanes, self._idle = Lanes(self._go_on, self._wake.set, shop.clock), False
        self._mail_waits, self._mail_read = True, 0
        self._log = Log(shop.journal, claim, state, shop.now, self._wake.set)
        self._driven = Driven(claim.run, shop, self._log, self._lanes.start, self._wake.set, self._find)
        ledger = Ledger(claim.run, state, shop.journal, shop.relatives)
        self._approvals = Approvals(self._driven)
        self._caller = Caller(self._driven, ledger, self._approvals)
        self._probes = Probes(self._driven, self._caller)
        self._children = Children(self._driven, pursue, self._read_mail)

    def take_up(self, claim: Claim) -> None:
        """Goes on with a run that another driver left: what it had under way is settled first."""
        if self._state.ended is None:
            self._log.record(events.RunResumed(driver=claim.driver, epoch=claim.epoch, forced=claim.forced))
            self._log.flush(Change(status="running"))

    async def drive(self) -> None:
        """Goes on until the run is over or nothing can be done but wait. Raises RunLost if another has the run."""
        stop_listening = self._shop.journal.listen(self._run, self._mail_came)
        try:
            self._pick_up_threads()
            over = self._state.ended is not None
            self._read_mail()
            if over and self._state.ended is None:  # somebody revived it
                self._log.flush(Change(status="running"))
            self._children.take_up()
            while self._state.ended is None and await self._turn():
                pass
            self._log.flush()
        except RunLost:
            await self._hand_over()
            raise
        finally:
            stop_listening()
            self._shop.gates.forget(self._wake.set)
            await self._lanes.part()
            with contextlib.suppress(RunLost, JournalUnusable):
                self._log.flush()  # whoever stops us, what came back is not lost

    def _pick_up_threads(self) -> None:
        if self._state.ended is not None:
            return
        self._caller.settle_interrupted()
        self._probes.settle_interrupted()
        self._approvals.ask_again()

    async def _turn(self) -> bool:
        """One round: read the mail, do what is to be done, wait if there is nothing. False when it is over."""
        self._wake.clear()
        if self._lanes.broken is not None:
            raise self._lanes.broken
        if self._mail_waits:
            self._read_mail()
        before = self._state.seq
        self._caller.busy.clear()
        for command in decide(self._state):
            if next.stands(command, self._state) and not await self._do(command):
                return False
        if self._caller.busy:  # what they have no place for took the room of others
            for command in decide(self._state, frozenset(self._caller.busy)):
                if next.stands(command, self._state):
                    await self._do(command)
        self._log.flush()
        if self._state.seq == before:
            self._idle, soonest = True, next.soonest(self._state)
            try:
                await (self._wake.wait() if soonest is None else self._rest(soonest))
            finally:
                self._idle = False
        return True

    def _go_on(self) -> None:
        """Begins what can begin after a call has come back, while the driver waits: it need not be woken for that."""
        state = self._state
        if not self._idle or self._mail_waits or not (state.ready or state.jobs["todo"]) or state.closing:
            return
        for command in decide(state):
            match command:
                case next.Begin(step=step) if next.stands(command, state):
                    self._begin(step)
                case next.Call(job=job) if next.stands(command, state):
                    self._work(job)
                case _:
                    return  # the driver's turn

    async def _do(self, command: next.Command) -> bool:
        """Carries out one command. False if the run was given back."""
        match command:
            case next.Begin(step=step):
                self._begin(step)
            case next.Call(job=job):
                self._work(job)
            case next.Skip(step=step, because=because):
                self._log.record(events.StepSkipped(step=step, because=because))
            case next.Refresh(step=step, stale=stale):
                self._log.record(events.StepsRefreshed(step=step, stale=stale))
            case next.TooOld(step=step, stale=stale):
                hint = "Allow a greater max_age, or let a quicker tool read it."
                message = f"what {', '.join(stale)} gave is older than its max_age, however often it is read"
                self._caller.fail(step, 0, Failure(kind="invalid", message=message, hint=hint))
            case next.Expire(job=job):
                self._expire(job)
            case next.Probe(job=job):
                self._probes.begin(job)
            case next.Stop(job=job):
                await self._stop(job)
            case next.Revise(step=step):
                self._revise(step)
            case next.Undo():
                self._log.record(plan_undo(self._state, self._shop.catalog))
            case next.Rest(until=until):
                await self._rest(until)
            case next.Park():
                return await self._park(command)
            case next.Finish(status=status):
                return not await self._finish(status)
        return True

    # --- steps -----------------------------------------------------------------------------------------------------

    def _begin(self, id: str) -> None:
        step = self._step(id)
        scope = self._scope(step)
        try:
            if step.when is not None and not step.when.holds(scope):
                self._log.record(events.StepSkipped(step=id, because=f"`{step.when.text}` does not hold"))
                return
            items = None if step.each is None else _items(step.each.evaluate(scope))
        except ExpressionError as error:
            self._caller.fail(id, 0, Failure(kind="invalid", message=error.message, hint=error.hint))
            return
        if items is not None:
            self._log.record(events.StepExpanded(step=id, items=items))
        else:
            self._execute(step, Job(id), scope)

    def _work(self, job: Job) -> None:
        step, scope = self._find(job)
        self._execute(step, job, scope)

    def _execute(self, step: Step, job: Job, scope: Scope) -> None:
        match step.action:
            case Use():
                self._caller.begin(step, job, scope)
            case Pursue():
                self._children.begin(step, job, scope)
            case _:
                message = "the step asks a specialist, which this version cannot do yet"
                self._caller.fail(step.id, job.item, Failure(kind="unsupported", message=message))

    def _step(self, id: str) -> Step:
        """A step of the plan, or one that takes something back."""
        undoes = self._state.steps[id].undoes
        if undoes is None:
            return self._plan.by_id[id]
        return Step(id=id, action=Pursue("") if undoes.tool is None else Use(undoes.tool))

    def _find(self, job: Job) -> tuple[Step, Scope]:
        step = self._step(job.step)
        scope = self._scope(step)
        if step.each is not None:
            scope["item"] = job.value
        return step, scope

    def _scope(self, step: Step) -> Scope:
        """What the expressions of a step may refer to."""
        scope: Scope = {"inputs": self._inputs}
        for name in self._plan.references.get(step.id, ()):
            other = self._state.steps.get(name)
            if other is not None:
                scope[name] = other.output if other.status == "done" else None
        return scope

    def _expire(self, job: Job) -> None:
        assert job.asked is not None
        hash, because = job.asked.hash, "the request expired"
        self._log.record(events.ApprovalAnswered(step=job.step, item=job.item, hash=hash, yes=False, because=because))

    def _revise(self, failed: str) -> None:
        if failed not in self._state.failed:
            return  # an earlier revision, or the end of all hope, has dealt with it
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

    async def _stop(self, job: Job) -> None:
        if job.child is not None:
            self._children.stop(job)
            return
        await self._lanes.stop(job)
        if job.status == "running" and job.call is not None:
            failure = Failure(kind="cancelled", message="it was stopped: nobody needs it any more")
            self._log.record(events.CallFailed(step=job.step, item=job.item, attempt=job.call.attempt, error=failure))

    # --- mail ------------------------------------------------------------------------------------------------------

    def _mail_came(self) -> None:
        self._mail_waits = True
        self._wake.set()

    def _read_mail(self) -> None:
        self._mail_waits = False
        for message in self._shop.journal.inbox(self._run, self._mail_read):
            self._mail_read = message.id
            event = read_message(self._state, message)
            if isinstance(event, events.ChildEnded):
                job = self._state.job(event.step, event.item)
                event = self._children.ended(job, event.status, event.output, event.error)
            elif isinstance(event, events.DoubtSettled) and event.happened:
                event = self._checked(event)
            elif isinstance(event, events.OutputSupplied):
                self._children.forsake(event.step, event.item)
            self._log.record(event, by=message.by, consumed=message.id)

    def _checked(self, settled: events.DoubtSettled) -> events.DoubtSettled:
        """What somebody says that a call gave is checked like any result."""
        job = self._state.job(settled.step, settled.item)
        step, scope = self._find(job)
        scope |= {"output": settled.output, "args": job.call.args if job.call is not None else None}
        return replace(settled, evidence=examine(step.expect, scope))

    # --- waiting and ending ----------------------------------------------------------------------------------------

    async def _rest(self, until: float) -> None:
        """Waits for a time, or for mail. What is measured is the wait, not the clock: it may be set back meanwhile."""
        self._log.flush()
        seconds = max(until - max(self._shop.now(), self._state.now), TICK)
        sleep = asyncio.ensure_future(self._shop.clock.sleep(seconds))
        mail = asyncio.ensure_future(self._wake.wait())
        await asyncio.wait([sleep, mail], return_when=asyncio.FIRST_COMPLETED)
        if sleep.done():
            self._log.record(events.TimePassed(until=until))
        for one in (sleep, mail):
            one.cancel()
        await asyncio.gather(sleep, mail, return_exceptions=True)

    async def _park(self, command: next.Park) -> bool:
        """Gives the run back, for it waits for people. True if there is something to do after all."""
        if self._approvals.pending:
            self._log.flush()
            await self._wake.wait()
            return True
        jobs = self._state.jobs
        doubtful = jobs["in_doubt"] or any(job.child_status == "in_doubt" for job in jobs["deferred"].values())
        parked = events.RunParked(reasons=command.reasons, wake_at=command.wake_at)
        given_back = await self._log.park(parked, "in_doubt" if doubtful else "waiting", command.wake_at)
        if not given_back:
            self._mail_waits = True
        return not given_back

    async def _finish(self, status: Any) -> bool:
        """Ends the run. False if its answer misses the goal and what it did is to be taken back first."""
        ended = ending(self._state, self._plan, status, self._inputs)
        if status == "done" and ended.error is not None and self._state.all_or_nothing:
            self._log.record(events.GoalMissed(error=ended.error, evidence=ended.evidence))
            return False
        await self._log.end(ended, letter_home(self._run, self._state, ended, self._shop.now()))
        return True

    async def _hand_over(self) -> None:
        """Another driver has the run. Effects that had begun come to their end, and it is told what became of them."""
        await self._lanes.finish_effects()
        post_late(self._shop, self._run, self._restore(self._run), self._state, self._caller.outcomes)

    def _restore(self, run: str) -> State:
        return restore(self._shop.journal.read(run), self._shop.journal.blob)


def _items(value: object) -> list[Any]:
    if not isinstance(value, list):
        raise ExpressionError(f"`each` goes over {type(value).__name__}, not a list")
    items = cast(list[Any], value)
    if len(items) > MAX_ITEMS:
        raise ExpressionError(f"`each` goes over {len(items):,} items; at the most {MAX_ITEMS:,} are allowed")
    return items
