"""Every seam to the outside, on one page."""

import datetime as dt
from typing import Protocol


class Clock(Protocol):
    """Where the time comes from."""

    def now(self) -> dt.datetime:
        """The present moment, with the zone in which words such as "Friday 5 p.m." are meant."""
        ...
