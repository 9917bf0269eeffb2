"""Runs: begun, resumed, forked, followed, and told what people say."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection, Sequence
from dataclasses import dataclass
from typing import Any

from chargehand.domain.diagnostics import did_you_mean
from chargehand.domain.events import Event, RunParked, RunStarted, decode_event
from chargehand.domain.fold import fold
from chargehand.domain.plan import Plan
from chargehand.domain.records import Batch, Claim, Head, Opening, Recorded, RunStatus
from chargehand.domain.state import State
from chargehand.domain.work import Outcome
from chargehand.domain.writing import write_plan
from chargehand.engine.children import STOPPED, Errand
from chargehand.engine.drive import Driver
from chargehand.engine.facts import step_facts, tool_facts
from chargehand.engine.forks import kept_steps
from chargehand.engine.log import ENGINE, entry, restore, tell
from chargehand.engine.mail import refusal
from chargehand.engine.reports import outcome
from chargehand.engine.workshop import Workshop
from chargehand.errors import RequestRefused, RunDriven, RunExists, RunLost, RunUnknown, StepUnknown


@dataclass(frozen=True, slots=True, kw_only=True)
class Beginning:
    """A run that is to begin: its plan, and whose it is."""

    run: str
    plan: Plan
    playbook: str | None = None
    expect: tuple[str, ...] = ()
    tenant: str = ""
    priority: int = 0
    parent: str | None = None
    origin: str = ""
    path: tuple[str, ...] = ()
    fork_of: str | None = None


@dataclass(frozen=True, slots=True)
class Begun:
    """A run whose first events are on disk and that this process may drive."""

    claim: Claim
    driver: Driver
    state: State


PATIENCE = 2.0  # seconds between two looks whether the driver of a run still lives


class Runs:
    """The runs of one journal."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    async def start(self, beginning: Beginning) -> Outcome:
        """Begins a run and drives it until it is over or waits."""
        return await self.drive(await self.begin(beginning))

    async def begin(self, beginning: Beginning, more: Sequence[Event] = ()) -> Begun:
        """Puts the first events of a run on disk. Raises RunExists."""
        plan = beginning.plan
        started = RunStarted(
            goal=plan.goal,
            plan=write_plan(plan),
            steps=step_facts(plan),
            tools=tool_facts(plan, self._shop.catalog),
            origin=beginning.origin or beginning.run,
            parent=beginning.parent,
            path=beginning.path,
            fork_of=beginning.fork_of,
            all_or_nothing=plan.all_or_nothing,
            expect=beginning.expect,
            playbook=beginning.playbook,
            tenant=beginning.tenant,
            priority=beginning.priority,
        )
        at, blobs, state = self._shop.now(), dict[str, bytes](), State()
        entries = tuple(entry(event, at, ENGINE, blobs) for event in (started, *more))
        opening = Opening(
            run=beginning.run,
            at=at,
            goal=plan.goal,
            status="running" if beginning.fork_of is None else "waiting",  # for `resume`
            parent=beginning.parent,
            origin=beginning.origin,
            tenant=beginning.tenant,
            priority=beginning.priority,
        )
        claim = await self._shop.journal.create(opening, Batch(first_seq=1, entries=entries, blobs=blobs))
        for event in (started, *more):
            fold(state, event, at)
            tell(beginning.run, event, ENGINE)
        return Begun(claim, Driver(self._shop, claim, state, plan, self.pursue), state)

    async def resume(self, run: str, *, take_over: bool = False) -> Outcome:
        """Takes a run up where it stands; if a living driver has it, waits until that one ends it or gives it back."""
        while True:
            if self._shop.journal.head(run).final and not self._shop.journal.inbox(run):
                return self.show(run)
            try:
                claim = await self._shop.journal.claim(run, take_over=take_over)
                break
            except RunDriven:
                if await self._given_back(run):
                    return self.show(run)
        try:
            state = self.state(run)
            driver = Driver(self._shop, claim, state, Plan.parse(state.plan), self.pursue)
            driver.take_up(claim)
        except BaseException:
            self._shop.journal.release(claim)
            raise
        return await self.drive(Begun(claim, driver, state))

    async def _given_back(self, run: str) -> bool:
        """Waits for a while until a run that somebody else drives is over or waits; False if it is not: its driver may
        have died meanwhile, so that it is worth a try to take it."""
        head = self._shop.journal.head(run)
        if head.driver is None:
            return head.status != "running"  # else it was given up in the middle
        follow = contextlib.aclosing(self._shop.journal.follow(run, head.seq))
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE), follow as events:
                async for recorded in events:
                    if recorded.kind == RunParked.kind:
                        return True
            return True
        return False

    async def drive(self, begun: Begun) -> Outcome:
        """Drives a run that was begun until it is over or waits."""
        try:
            await begun.driver.drive()
        finally:
            self._shop.journal.release(begun.claim)
        return outcome(begun.claim.run, begun.state)

    async def pursue(self, errand: Errand) -> Outcome:
        """Begins the child run of an errand, or drives it on if it has begun; waits for it if somebody takes it."""
        try:
            return await self._pursue(errand)
        except RunLost as lost:
            if lost.run != errand.run:
                raise
            return await self.resume(errand.run)

    async def _pursue(self, errand: Errand) -> Outcome:
        if self.exists(errand.run):
            self._stop_unwanted(errand)
            return await self.resume(errand.run)
        plan, playbook = self._shop.planner(errand.goal, errand.inputs)
        head = self._shop.journal.head(errand.parent)
        try:
            begun = await self.begin(
                Beginning(
                    run=errand.run,
                    plan=plan,
                    playbook=playbook,
                    parent=errand.parent,
                    origin=errand.origin,
                    path=errand.path,
                    tenant=head.tenant,
                    priority=head.priority,
                )
            )
        except RunExists:
            return await self.resume(errand.run)
        self._stop_unwanted(errand)
        return await self.drive(begun)

    def _stop_unwanted(self, errand: Errand) -> None:
        if errand.unwanted() and self.state(errand.run).cancelled is None:
            self._shop.post(errand.run, "cancel", by=errand.parent, because=STOPPED)

    async def fork(self, run: str, at: str, new: str) -> str:
        """Makes a run that takes over what another one finished, and goes on from a step; `resume` drives it."""
        state = self.state(run)
        plan = Plan.parse(state.plan)
        if at not in plan.by_id:
            raise StepUnknown(run, at, hint=did_you_mean(at, plan.by_id))
        head = self._shop.journal.head(run)
        beginning = Beginning(
            run=new,
            plan=plan,
            playbook=state.playbook,
            expect=state.expect,
            tenant=head.tenant,
            priority=head.priority,
            origin=state.origin,
            path=state.path,
            fork_of=run,
        )
        begun = await self.begin(beginning, [*kept_steps(state, plan, at)])
        self._shop.journal.release(begun.claim)
        return new

    def exists(self, run: str) -> bool:
        try:
            self._shop.journal.head(run)
        except RunUnknown:
            return False
        return True

    def state(self, run: str, at: int | None = None) -> State:
        """The state that a run's events add up to, all of them or the first `at`."""
        return restore(self._shop.journal.read(run, limit=at), self._shop.journal.blob)

    def show(self, run: str, at: int | None = None) -> Outcome:
        """How a run stands, or stood after its first `at` events."""
        return outcome(run, self.state(run, at))

    def heads(
        self, status: Collection[RunStatus] | None = None, parent: str | None = None, limit: int | None = None
    ) -> list[Head]:
        return self._shop.journal.heads(status=status, parent=parent, limit=limit)

    async def follow(self, run: str, after: int = 0) -> AsyncIterator[tuple[Recorded, Event]]:
        """Every event as it reaches the disk, whoever writes it, until the run is over."""
        async for recorded in self._shop.journal.follow(run, after):
            yield recorded, decode_event(recorded.kind, recorded.body, self._shop.journal.blob)

    def post(self, run: str, kind: str, by: str, **body: Any) -> None:
        """Puts a message into the inbox of a run; whoever drives it next takes it. Raises RequestRefused if it can
        change nothing as the run stands."""
        because = refusal(self.state(run), kind, body, self._shop.now())
        if because:
            raise RequestRefused(run, kind, because)
        self._shop.post(run, kind, by=by, **body)
