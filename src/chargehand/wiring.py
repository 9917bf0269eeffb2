"""The composition root: turns what an application gives into the parts that the runtime needs."""

from chargehand.adapters.clock import SystemClock
from chargehand.ports import Clock


def choose_clock(clock: Clock | None) -> Clock:
    """The clock that was given, else the machine's."""
    return clock if clock is not None else SystemClock()
