"""The workshop: all that a driver needs to carry runs out, shared by the runs of one process."""

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from chargehand.catalog.catalog import Catalog
from chargehand.domain.patch import Revised
from chargehand.domain.plan import Plan
from chargehand.domain.state import State
from chargehand.domain.work import Failure
from chargehand.execution.calling import Threads
from chargehand.execution.health import Health
from chargehand.ports import Clock, Journal

Approver = Callable[[Mapping[str, Any]], "bool | Awaitable[bool | None] | None"]


Reviser = Callable[[State, Plan, str, Failure], "Revised | None"]


def no_way_around(state: State, plan: Plan, step: str, failure: Failure) -> Revised | None:
    """The reviser of a plan that came without a playbook."""
    return None


@dataclass(slots=True, kw_only=True)
class Workshop:
    """Tools, journal, clock, the people to ask, and what is remembered across runs."""

    journal: Journal
    catalog: Catalog
    clock: Clock
    dice: Callable[[], float]
    approver: Approver | None = None
    reviser: Reviser = no_way_around
    threads: Threads = field(default_factory=Threads)
    health: Health = field(default_factory=Health)

    def now(self) -> float:
        return self.clock.now().timestamp()
