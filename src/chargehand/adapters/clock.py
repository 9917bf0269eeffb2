"""The clock of the machine."""

import asyncio
import datetime as dt
import time


class SystemClock:
    """The machine's clock and zone."""

    def now(self) -> dt.datetime:
        import tzlocal  # a named zone, so that "Friday" on the other side of a summer-time change is right

        return dt.datetime.now(tzlocal.get_localzone())

    def time(self) -> float:
        return time.time()

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)
