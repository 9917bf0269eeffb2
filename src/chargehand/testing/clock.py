"""A clock for tests and demos: time passes only when somebody waits for it."""

import asyncio
import datetime as dt


class FakeClock:
    """Stands still, but for what is waited for: a pause of a minute takes no time, and then it is a minute later."""

    def __init__(self, start: dt.datetime = dt.datetime(2026, 11, 16, 9, tzinfo=dt.UTC)) -> None:
        self._now = start

    def now(self) -> dt.datetime:
        return self._now

    def time(self) -> float:
        return self._now.timestamp()

    async def sleep(self, seconds: float) -> None:
        self._now += dt.timedelta(seconds=seconds)
        await asyncio.sleep(0)

    def advance(self, seconds: float) -> None:
        """Lets time pass."""
        self._now += dt.timedelta(seconds=seconds)
