"""A clock that stands still, so that "Friday" means the same day whenever a world is visited."""

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True)
class FixedClock:
    """Always says the same moment."""

    moment: datetime

    def now(self) -> datetime:
        return self.moment

    async def sleep(self, seconds: float) -> None:
        """Time stands still here, so nothing waits."""
