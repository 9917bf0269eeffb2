"""A journal that dies: for sweeps that end a run at every one of its writes and resume it."""

from typing import Any

from chargehand.domain.records import Batch, Claim
from chargehand.ports import Journal


class Crash(BaseException):
    """The process is no more. Nothing may catch this but the sweep."""


class CrashingJournal:
    """Passes everything on to another journal, until its nth write: from then on nothing reaches it any more."""

    def __init__(self, journal: Journal, at: int) -> None:
        self._journal, self._left = journal, at
        self.dead = False

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def _count(self) -> None:
        self._left -= 1
        self.dead = self.dead or self._left < 0
        if self.dead:
            raise Crash

    async def create(self, opening: Any, first: Batch) -> Claim:
        self._count()
        return await self._journal.create(opening, first)

    def append(self, claim: Claim, batch: Batch) -> None:
        self._count()
        self._journal.append(claim, batch)

    async def barrier(self, claim: Claim, seq: int) -> None:
        self._count()
        await self._journal.barrier(claim, seq)

    async def park(self, claim: Claim, batch: Batch) -> bool:
        self._count()
        return await self._journal.park(claim, batch)

    def release(self, claim: Claim) -> None:
        """The dead give nothing back."""
        if not self.dead:
            self._journal.release(claim)
