"""Approvals: an irreversible effect asks first. An answer covers exactly what was shown, and no answer is not yes."""

from collections.abc import Awaitable
from typing import Any, cast

from chargehand.catalog.tools import AnyTool
from chargehand.domain import events
from chargehand.domain.plan import Step
from chargehand.domain.state import Job
from chargehand.engine.driven import Driven
from chargehand.engine.requests import LIFETIME, make_request, request_hash, shown


class Approvals:
    """Asks for the approvals of one run."""

    def __init__(self, driven: Driven) -> None:
        self._driven = driven
        self.pending = 0
        """How many requests the application's approver is looking at."""

    def given(self, step: Step, job: Job, tool: AnyTool, arguments: dict[str, Any]) -> str | None:
        """The hash under which this very call has been approved; None, and it is asked for, if it has not."""
        driven = self._driven
        request = make_request(driven.run, driven.state, step, job.item, tool, arguments)
        hash = request_hash(request)
        if hash in driven.state.approved:
            return hash
        expires = driven.now() + LIFETIME
        driven.log.record(
            events.ApprovalAsked(step=step.id, item=job.item, hash=hash, request=request, expires=expires)
        )
        self.ask(driven.state.job(step.id, job.item))
        return None

    def ask_again(self) -> None:
        """Whoever was being asked by a driver that is no more is asked again."""
        for job in self._driven.state.jobs["asking"].values():
            self.ask(job)

    def ask(self, job: Job) -> None:
        if self._driven.shop.approver is not None and job.asked is not None:
            self.pending += 1
            self._driven.start(job, self._ask(job, job.asked))

    async def _ask(self, job: Job, asked: events.ApprovalAsked) -> None:
        """Puts a request to the application's approver; if it gives no answer, the run waits."""
        try:
            await self._put(job, asked)
        finally:
            self.pending -= 1
            self._driven.wake()

    async def _put(self, job: Job, asked: events.ApprovalAsked) -> None:
        driven = self._driven
        await driven.log.barrier()
        assert driven.shop.approver is not None
        answer = driven.shop.approver(shown(asked))
        yes = await cast(Awaitable[bool | None], answer) if hasattr(answer, "__await__") else answer
        if yes is None or job.asked is not asked:
            return
        answered = events.ApprovalAnswered(step=asked.step, item=asked.item, hash=asked.hash, yes=yes is True)
        driven.log.record(answered, by="approver")
