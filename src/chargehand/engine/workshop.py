"""The workshop: all that a driver needs to carry runs out, shared by the runs of one process."""

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from chargehand.catalog.catalog import Catalog
from chargehand.domain.patch import Revised
from chargehand.domain.plan import Plan
from chargehand.domain.state import State
from chargehand.domain.work import Failure
from chargehand.engine.relatives import Relatives
from chargehand.execution.calling import Threads
from chargehand.execution.gates import Gates
from chargehand.execution.health import Health
from chargehand.execution.redaction import Redactor
from chargehand.ports import Clock, Journal

Approver = Callable[[Mapping[str, Any]], "bool | Awaitable[bool | None] | None"]
Reviser = Callable[[State, Plan, str, Failure], "Revised | None"]
Planner = Callable[[str, Mapping[str, object]], "tuple[Plan, str | None]"]
"""The checked plan for a goal with its inputs, and the playbook that it comes from."""

T = TypeVar("T")


@dataclass(slots=True, kw_only=True)
class Workshop:
    """Tools, journal, clock, the people to ask, and what is remembered across runs."""

    journal: Journal
    catalog: Catalog
    clock: Clock
    dice: Callable[[], float]
    approver: Approver | None
    planner: Planner
    reviser: Reviser
    redactor: Redactor
    gates: Gates
    threads: Threads = field(default_factory=Threads)
    health: Health = field(default_factory=Health)
    relatives: Relatives = field(init=False)

    def __post_init__(self) -> None:
        self.relatives = Relatives(self.journal)

    def now(self) -> float:
        return self.clock.time()

    def redact(self, value: T) -> T:
        """A value without the application's secrets."""
        return self.redactor.redact(value)

    def post(self, run: str, kind: str, *, by: str, **body: Any) -> None:
        """Puts a message into the inbox of a run; whoever drives it next takes it."""
        self.journal.post(run, at=self.now(), by=by, kind=kind, body=json.dumps(body))
