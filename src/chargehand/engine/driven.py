"""A run that is being driven: what the parts of its driver share."""

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any, Protocol

from chargehand.domain.plan import Step
from chargehand.domain.state import Job, State
from chargehand.engine.log import Log
from chargehand.engine.workshop import Workshop

Scope = dict[str, Any]


class Start(Protocol):
    def __call__(
        self, job: Job, work: Coroutine[Any, Any, None], alone: bool = True
    ) -> "asyncio.Task[None] | None": ...


@dataclass(frozen=True, slots=True)
class Driven:
    """The run's name, its log and state, the workshop, and how to start work that comes back later."""

    run: str
    shop: Workshop
    log: Log
    start: Start
    wake: Callable[[], None]
    find: "Callable[[Job], tuple[Step, Scope]]"
    """The step of a job, and what its expressions may refer to."""

    @property
    def state(self) -> State:
        return self.log.state

    def now(self) -> float:
        """The time of the run: it never goes back, whatever the clock does."""
        return max(self.shop.now(), self.log.state.now)
