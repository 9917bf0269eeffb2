"""What the writer is given to do."""

import asyncio
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from chargehand.adapters.fence import Fence
from chargehand.adapters.sealing import Sealed
from chargehand.adapters.sqlite.transaction import Transaction
from chargehand.domain.records import Claim

T = TypeVar("T")
Work = Callable[[Transaction], T]
Reply = asyncio.Future[object] | Future[object]


class Task:
    """Something to do in a transaction, which is kept until it is written."""

    __slots__ = ()

    def do(self, transaction: Transaction) -> object:
        """Raises ChargehandError or ValueError, before it changed anything, to refuse."""
        raise NotImplementedError

    def never(self, error: Exception) -> None:
        """It cannot be written, now or later."""


class Errand(Task):
    """Work that nobody waits for."""

    __slots__ = ("_work",)

    def __init__(self, work: Work[object]) -> None:
        self._work = work

    def do(self, transaction: Transaction) -> object:
        return self._work(transaction)


class Append(Task):
    """Events. Thousands of these may lie ready, and one object in place of some closures spares the collector."""

    __slots__ = ("_claim", "_fence", "_sealed")

    def __init__(self, fence: Fence, claim: Claim, sealed: Sealed) -> None:
        self._fence, self._claim, self._sealed = fence, claim, sealed

    def do(self, transaction: Transaction) -> None:
        self._fence.append(transaction, self._claim, self._sealed)

    def never(self, error: Exception) -> None:
        self._fence.spoil(self._claim, f"its events cannot be written: {error}")


class Question(Task):
    """Work that somebody waits for: its caller is told of a failure and decides, so it is not kept."""

    __slots__ = ("_work", "loop", "reply", "writes")

    def __init__(
        self, work: Work[object], reply: Reply, *, writes: bool, loop: asyncio.AbstractEventLoop | None = None
    ) -> None:
        """`loop` is where the reply belongs; a reply without one may be given in any thread."""
        self._work, self.reply, self.writes, self.loop = work, reply, writes, loop

    def do(self, transaction: Transaction) -> object:
        return self._work(transaction)
