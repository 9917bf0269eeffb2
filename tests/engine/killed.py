"""A process that carries out a run and kills itself at its nth event: `python -m tests.engine.killed FOLDER N`"""

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import Any

from chargehand import Chargehand, Plan, approve_all, tool
from chargehand.domain.records import Batch
from chargehand.wiring import open_journal

PLAN = Plan.parse(
    """
steps:
  - {id: a, use: look, with: {x: 2}}
  - {id: b, use: write, with: {x: {$: a + 1}}}
  - {id: c, use: look, with: {x: {$: b}}}
  - {id: d, use: send, with: {x: {$: c}}, expect: [output == args.x]}
  - {id: e, use: look, with: {x: {$: item}}, each: "[a, b]", after: [d]}
answer: {$: "[b, d]"}
"""
)


def make_desk(folder: Path, journal: Any) -> Chargehand:
    """A desk whose effects are lines in a file."""

    def note(name: str, x: int) -> int:
        with (folder / "effects").open("a") as file:
            file.write(f"{name} {x}\n")
        return x

    @tool(effect="read", egress=[])
    def look(x: int) -> int:
        """Reads."""
        return x

    @tool(effect="write", egress=[])
    async def write(x: int) -> int:
        """Writes."""
        return note("write", x)

    @tool(effect="irreversible", egress=[])
    def send(x: int) -> int:
        """Sends."""
        return note("send", x)

    return Chargehand(tools=[look, write, send], journal=journal, approver=approve_all)


class SelfKilling:
    """A journal that kills its process, for real, when its nth event is about to be written.

    Counting events, not calls, makes every event a point to die at, however the events fall into batches.
    """

    def __init__(self, journal: Any, at: int) -> None:
        self._journal, self._left = journal, at

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def _count(self, batch: Batch) -> None:
        self._left -= len(batch.entries)
        if self._left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

    async def create(self, opening: Any, first: Batch) -> Any:
        self._count(first)
        return await self._journal.create(opening, first)

    def append(self, claim: Any, batch: Batch) -> None:
        self._count(batch)
        self._journal.append(claim, batch)

    async def park(self, claim: Any, batch: Batch) -> Any:
        self._count(batch)
        return await self._journal.park(claim, batch)


def main() -> None:
    folder, at = Path(sys.argv[1]), int(sys.argv[2])
    journal = open_journal(f"sqlite:///{folder / 'journal.db'}")
    outcome = asyncio.run(make_desk(folder, SelfKilling(journal, at)).run(PLAN, run_id="r"))
    print(outcome.status)


if __name__ == "__main__":
    main()
