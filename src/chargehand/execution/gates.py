"""Gates: how many calls of a tool go on at once, and how many begin in a while, across all runs of a process."""

import asyncio
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass, field

from chargehand.catalog.rates import Rate
from chargehand.catalog.tools import AnyTool
from chargehand.ports import Clock

PATIENCE = 0.1  # seconds, by the machine: whoever was woken and does not come (its run was cancelled) holds no place
TICK = 0.001  # seconds; the least that is slept, so that rounding cannot make a wait of nothing
SET_BACK = 1.0  # seconds; a clock that shows more than this before the last call was set back

Wake = Callable[[], None]


class Gates:
    """Holds tools to `parallel` and `rate`. For one event loop; a tool without limits passes at once.

    The rate is a sliding window: of `60/minute`, sixty calls may be let in at once, and in no stretch of sixty seconds
    (its end excluded) are more than sixty. A call that was cut off has left, even if its thread still runs.
    """

    def __init__(self, clock: Clock, patience: float = PATIENCE) -> None:
        self._clock, self._patience = clock, patience
        self._gates: dict[str, _Gate] = {}
        self._loop: asyncio.AbstractEventLoop | None = None

    def enter(self, tool: AnyTool, now: float, wake: Wake) -> bool:
        """Takes a place for a call; False if there is none yet: `wake` is called once when it is worth trying again.

        Places go to those who wait in their order. Whoever waits for one tool with equal `wake`s is woken once.
        """
        if tool.parallel is None and tool.rate is None:
            return True
        gate = self._gates.get(tool.name)
        if gate is None:
            gate = self._gates[tool.name] = _Gate(tool.name, tool.parallel, tool.rate)
        loop = self._attend_to_running_loop()
        entered = gate.enter(now, wake)
        self._serve(gate)
        self._keep_time(gate, now, loop)
        return entered

    def leave(self, tool_name: str) -> None:
        """Gives a place back, once for each `enter` that was True; of a tool without limits, nothing happens."""
        gate = self._gates.get(tool_name)
        if gate is not None:
            gate.inside -= 1
            self._serve(gate)

    def forget(self, wake: Wake) -> None:
        """Whoever gave this `wake` waits no more: the place that it was offered goes to the next one at once."""
        for gate in self._gates.values():
            gate.waiting.pop(wake, None)
            gate.invited.pop(wake, None)
            self._serve(gate)

    def opens_at(self, tool_name: str) -> float:
        """The time from which a tool's rate lets the next call begin; 0.0 if nothing holds it up."""
        gate = self._gates.get(tool_name)
        return gate.opens_at() if gate is not None else 0.0

    def close(self) -> None:
        """Ends all timers; whoever still waits is not woken any more."""
        for gate in self._gates.values():
            gate.dismiss()

    def _attend_to_running_loop(self) -> asyncio.AbstractEventLoop:
        """The loop to be woken on. Whoever waited on one that is closed will not come."""
        if self._loop is not None and self._loop.is_closed():
            self.close()
        self._loop = asyncio.get_running_loop()
        return self._loop

    def _serve(self, gate: "_Gate") -> None:
        """Wakes as many as there are places. Those that are not taken are offered to the next after a while."""
        if not gate.waiting or self._loop is None:
            return
        gate.invite(self._clock.time(), until=self._loop.time() + self._patience)
        if gate.waiting and gate.invited and gate.impatience is None:
            first = next(iter(gate.invited.values()))
            gate.impatience = self._loop.call_at(first, self._pass_over, gate, self._loop)

    def _pass_over(self, gate: "_Gate", loop: asyncio.AbstractEventLoop) -> None:
        gate.impatience = None
        gate.invited = {wake: until for wake, until in gate.invited.items() if until > loop.time()}
        self._serve(gate)

    def _keep_time(self, gate: "_Gate", now: float, loop: asyncio.AbstractEventLoop) -> None:
        if gate.waiting and gate.opens_at() > now and (gate.timer is None or gate.timer.done()):
            gate.timer = loop.create_task(self._wait_for_openings(gate), name=f"chargehand: the rate of {gate.tool}")

    async def _wait_for_openings(self, gate: "_Gate") -> None:
        while gate.waiting and (wait := gate.opens_at() - self._clock.time()) > 0:
            await self._clock.sleep(max(wait, TICK))
            self._serve(gate)


@dataclass(slots=True)
class _Gate:
    """The limits of one tool, who is inside, who was invited to enter, and who waits, in order."""

    tool: str
    parallel: int | None
    rate: Rate | None
    inside: int = 0
    begun: deque[float] = field(default_factory=deque[float])
    waiting: dict[Wake, None] = field(default_factory=dict[Wake, None])
    invited: dict[Wake, float] = field(default_factory=dict[Wake, float])
    impatience: asyncio.TimerHandle | None = None
    timer: "asyncio.Task[None] | None" = None

    def enter(self, now: float, wake: Wake) -> bool:
        """Takes a place that is this one's turn; if there is none, it waits: at the end, if it did not wait yet."""
        was_invited = self.invited.pop(wake, None) is not None
        its_turn = was_invited or next(iter(self.waiting), wake) == wake
        if not its_turn or self._places(now) <= 0:
            self.waiting[wake] = None
            return False
        self.waiting.pop(wake, None)
        self.inside += 1
        if self.rate is not None:
            self.begun.append(now)
        return True

    def invite(self, now: float, until: float) -> None:
        while self.waiting and self._places(now) > 0:
            wake = next(iter(self.waiting))
            del self.waiting[wake]
            self.invited[wake] = until
            wake()

    def opens_at(self) -> float:
        if self.rate is None or len(self.begun) < self.rate.calls:
            return 0.0
        return self.begun[0] + self.rate.seconds

    def dismiss(self) -> None:
        self.waiting.clear()
        self.invited.clear()
        if self.impatience is not None:
            self.impatience.cancel()
        if self.timer is not None and not self.timer.get_loop().is_closed():
            self.timer.cancel()
        self.impatience = self.timer = None

    def _places(self, now: float) -> float:
        """Free places that nobody was invited to."""
        free = float("inf") if self.parallel is None else self.parallel - self.inside
        if self.rate is not None:
            self._forget_before(now, self.rate.seconds)
            free = min(free, self.rate.calls - len(self.begun))
        return free - len(self.invited)

    def _forget_before(self, now: float, seconds: float) -> None:
        """Drops the calls whose stretch has passed. If the clock was set back, they count as begun just now."""
        if self.begun and self.begun[-1] > now + SET_BACK:
            self.begun = deque(min(at, now) for at in self.begun)
        while self.begun and self.begun[0] + seconds <= now:
            self.begun.popleft()
