"""Sweeps: a scenario whose driver dies at each of its journal writes in turn, and another driver that takes it up."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from dataclasses import dataclass
from typing import Any

from tests.engine.family import FamilyBench as Bench

from chargehand import Chargehand, Outcome
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.testing.crashes import Crash, CrashingJournal

Scene = Callable[[Chargehand], Coroutine[Any, Any, Outcome]]
Furnish = Callable[[Bench, Any], Chargehand]


@dataclass(frozen=True, slots=True)
class Survivor:
    """What came of a scenario whose driver died at its nth write; `desk` is the one that took it up."""

    at: int
    bench: Bench
    desk: Chargehand
    outcome: Outcome


def sweep(furnish: Furnish, act: Scene, *, before: Scene | None = None, again: Scene | None = None) -> list[Survivor]:
    """Every way in which the driver of `act` can die. `before` is spared; `again` is what the next driver does."""
    return [*_sweep(furnish, act, before, again or act)]


def _sweep(furnish: Furnish, act: Scene, before: Scene | None, again: Scene) -> Iterator[Survivor]:
    at, died = 0, True
    while died:
        bench, store = Bench(), MemoryStore()
        if before is not None:
            spared = MemoryJournal(store)
            asyncio.run(before(furnish(bench, spared)))
            spared.close()
        mortal = MemoryJournal(store)
        died, outcome = _until_it_dies(furnish(bench, CrashingJournal(mortal, at)), act)
        mortal.close()
        desk = furnish(bench, MemoryJournal(store))
        yield Survivor(at, bench, desk, outcome or asyncio.run(asyncio.wait_for(again(desk), 10)))
        at += 1


def _until_it_dies(desk: Chargehand, act: Scene) -> tuple[bool, Outcome | None]:
    try:
        return False, asyncio.run(asyncio.wait_for(act(desk), 10))
    except Crash:
        return True, None
