"""Sweeps: a scenario whose driver dies at each of its journal writes in turn, and another driver that takes it up."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from tests.engine.family import FamilyBench, on_journal

from chargehand import Chargehand, Outcome
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.testing.clock import FakeClock
from chargehand.testing.crashes import Crash, CrashingJournal

Scene = Callable[[Chargehand], Coroutine[Any, Any, Outcome]]


@dataclass(frozen=True, slots=True)
class Survivor:
    """What came of a scenario whose driver died at its nth write; `desk` is the one that took it up."""

    at: int
    bench: FamilyBench
    desk: Chargehand
    outcome: Outcome


def sweep(
    act: Scene,
    *,
    before: Scene | None = None,
    again: Scene | None = None,
    meanwhile: Callable[[FamilyBench], None] | None = None,
    **options: Any,
) -> Iterator[Survivor]:
    """Every way in which the driver of `act` can die, one after the other; all share one bench, which is cleared.

    before: what is done first, and spared. again: what the next driver does, if not the same. meanwhile: what happens
    before each of the drivers comes. options: for the desk.
    """
    bench = FamilyBench()
    desk = bench.desk(**options)
    at, died = 0, True
    while died:
        bench.calls, bench.mischief, store = [], {}, MemoryStore()
        _reset(bench.clock)
        if before is not None:
            spared = MemoryJournal(store)
            asyncio.run(before(on_journal(desk, spared)))
            spared.close()
        if meanwhile is not None:
            meanwhile(bench)
        mortal = MemoryJournal(store)
        died, outcome = _until_it_dies(on_journal(desk, CrashingJournal(mortal, at)), act)
        mortal.close()
        if outcome is None and meanwhile is not None:
            meanwhile(bench)
        survivor = on_journal(desk, MemoryJournal(store))
        yield Survivor(at, bench, survivor, outcome or asyncio.run(asyncio.wait_for((again or act)(survivor), 10)))
        at += 1


def _until_it_dies(desk: Chargehand, act: Scene) -> tuple[bool, Outcome | None]:
    try:
        return False, asyncio.run(asyncio.wait_for(act(desk), 10))
    except Crash:
        return True, None


def _reset(clock: FakeClock) -> None:
    clock.advance(FakeClock().time() - clock.time())
