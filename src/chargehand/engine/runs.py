"""Runs: begun, resumed, followed, and told what people say."""

import json
from collections.abc import AsyncIterator
from typing import Any

from chargehand.domain.events import Event, RunResumed, RunStarted, decode_event
from chargehand.domain.plan import Plan
from chargehand.domain.records import Batch, Claim, Head, Opening, Recorded
from chargehand.domain.state import State, fold
from chargehand.domain.work import Outcome
from chargehand.domain.writing import write_plan
from chargehand.engine.drive import Driver
from chargehand.engine.facts import step_facts, tool_facts
from chargehand.engine.log import ENGINE, entry, restore
from chargehand.engine.reports import outcome
from chargehand.engine.workshop import Workshop
from chargehand.errors import RunDriven


class Runs:
    """The runs of one journal."""

    def __init__(self, shop: Workshop) -> None:
        self._shop = shop

    async def start(self, run: str, plan: Plan, playbook: str | None) -> Outcome:
        """Begins a run and drives it until it is over or waits."""
        started = RunStarted(
            goal=plan.goal,
            plan=write_plan(plan),
            steps=step_facts(plan),
            tools=tool_facts(plan, self._shop.catalog),
            origin=run,
            playbook=playbook,
        )
        at, blobs = self._shop.now(), dict[str, bytes]()
        first = Batch(first_seq=1, entries=(entry(started, at, ENGINE, blobs),), blobs=blobs)
        claim = await self._shop.journal.create(Opening(run=run, at=at, goal=plan.goal), first)
        state = State()
        fold(state, started, at)
        return await self._drive(Driver(self._shop, claim, state, plan), claim, state)

    async def resume(self, run: str, *, take_over: bool = False) -> Outcome:
        """Takes a run up where it stands; if a living driver has it, its end is waited for instead."""
        if self._shop.journal.head(run).final and not self._shop.journal.inbox(run):
            return self.show(run)
        try:
            claim = await self._shop.journal.claim(run, take_over=take_over)
        except RunDriven:
            async for _ in self._shop.journal.follow(run):
                pass
            return self.show(run)
        state = self.state(run)
        driver = Driver(self._shop, claim, state, Plan.parse(state.plan))
        if state.ended is None:  # it may have ended between the look and the claim
            driver.note(RunResumed(driver=claim.driver, epoch=claim.epoch))
        return await self._drive(driver, claim, state)

    async def _drive(self, driver: Driver, claim: Claim, state: State) -> Outcome:
        try:
            await driver.drive()
        finally:
            self._shop.journal.release(claim)
        return outcome(claim.run, state)

    def state(self, run: str, at: int | None = None) -> State:
        """The state that a run's events add up to, all of them or the first `at`."""
        return restore(self._shop.journal.read(run, limit=at), self._shop.journal.blob)

    def show(self, run: str, at: int | None = None) -> Outcome:
        """How a run stands, or stood after its first `at` events."""
        return outcome(run, self.state(run, at))

    def heads(self, limit: int | None = None) -> list[Head]:
        return self._shop.journal.heads(limit=limit)

    async def follow(self, run: str, after: int = 0) -> AsyncIterator[tuple[Recorded, Event]]:
        """Every event as it reaches the disk, whoever writes it, until the run is over."""
        async for recorded in self._shop.journal.follow(run, after):
            yield recorded, decode_event(recorded.kind, recorded.body, self._shop.journal.blob)

    def post(self, run: str, kind: str, by: str, **body: Any) -> None:
        """Puts a message into the inbox of a run; whoever drives it next takes it."""
        self._shop.journal.post(run, at=self._shop.now(), by=by, kind=kind, body=json.dumps(body))
