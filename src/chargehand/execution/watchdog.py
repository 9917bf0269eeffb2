"""The watchdog: it says which tool keeps the event loop, and with it every run of the process, from going on."""

import asyncio
import logging
import sys
import threading
import time
from collections.abc import Coroutine
from dataclasses import dataclass, field
from types import FrameType
from typing import Any

INTERVAL = 0.25  # seconds between two looks
MISSES = (
    4  # looks that the loop must miss in a row, so 1 s: what is shorter disturbs few, and a busy machine does it too
)
IDLE = 8  # looks without a call, after which the thread ends

_log = logging.getLogger("chargehand.execution")


@dataclass(slots=True, eq=False)
class Pulse:
    """One event loop: its calls, the one that it carries out at the moment, and whether it answers."""

    loop: asyncio.AbstractEventLoop
    thread: int
    calls: "dict[Watched, None]" = field(default_factory=lambda: {})
    now: "Watched | None" = None
    asked: bool = False
    missed: int = 0

    def answer(self) -> None:
        self.asked, self.missed = False, 0


@dataclass(slots=True, eq=False)
class Watched:
    """A call that is under way."""

    tool: str
    work: Coroutine[Any, Any, Any] | None
    pulse: Pulse
    warned: bool = False


class Watchdog:
    """One thread, while there are calls: it asks their event loop for an answer, and warns once for each call that
    keeps it from answering for more than a second. Nobody can interrupt such a call."""

    def __init__(self, interval: float = INTERVAL) -> None:
        self._interval = interval
        self._pulses: dict[asyncio.AbstractEventLoop, Pulse] = {}
        self._watching = False
        self._lock = threading.Lock()

    def watch(self, tool: str, work: Coroutine[Any, Any, Any]) -> Watched:
        """Begins to watch a call on the running event loop; whoever carries it out says so in `pulse.now`."""
        loop = asyncio.get_running_loop()
        with self._lock:
            pulse = self._pulses.get(loop)
            if pulse is None:
                pulse = self._pulses[loop] = Pulse(loop, threading.get_ident())
            call = Watched(tool, work, pulse)
            pulse.calls[call] = None
            if not self._watching:
                self._watching = True
                threading.Thread(target=self._look, daemon=True, name="chargehand-watchdog").start()
        return call

    def done(self, call: Watched) -> None:
        """The call is over."""
        call.work = None
        with self._lock:
            call.pulse.calls.pop(call, None)
            if not call.pulse.calls:
                self._pulses.pop(call.pulse.loop, None)

    def _look(self) -> None:
        idle = 0
        while True:
            time.sleep(self._interval)
            with self._lock:
                idle = 0 if self._pulses else idle + 1
                if idle > IDLE:
                    self._watching = False
                    return
                pulses = [(pulse, [*pulse.calls]) for pulse in self._pulses.values()]
            for pulse, calls in pulses:
                self._ask(pulse, calls)

    def _ask(self, pulse: Pulse, calls: list[Watched]) -> None:
        if pulse.asked:
            pulse.missed += 1
            if pulse.missed >= MISSES:
                _warn(pulse, calls, pulse.missed * self._interval)
            return
        pulse.asked = True
        try:
            pulse.loop.call_soon_threadsafe(pulse.answer)
        except RuntimeError:  # the loop is closed: nothing is under way there any more
            with self._lock:
                self._pulses.pop(pulse.loop, None)


def _warn(pulse: Pulse, calls: list[Watched], seconds: float) -> None:
    guilty, frame = pulse.now, sys._current_frames().get(pulse.thread)  # pyright: ignore[reportPrivateUsage]
    suspects = [guilty] if guilty is not None else calls
    if all(call.warned for call in suspects):
        return
    for call in suspects:
        call.warned = True
    if guilty is not None:
        _log.warning(
            "the tool %r has kept the event loop waiting for more than %.1f s, and with it every run of this process. "
            "It stands at %s. Make it a plain `def`, which runs in a thread, or await what it waits for.",
            guilty.tool,
            seconds,
            _places(getattr(guilty.work, "cr_frame", None), frame),
        )
    else:
        _log.warning(
            "the event loop has been kept waiting for more than %.1f s, at %s, while these tools were under way: %s. "
            "If it is a task that one of them began, let it await, or put its work in a thread (asyncio.to_thread).",
            seconds,
            _places(frame),
            ", ".join(sorted({call.tool for call in suspects})),
        )


def _places(*frames: FrameType | None) -> str:
    places = [f"{frame.f_code.co_filename}:{frame.f_lineno} ({frame.f_code.co_name})" for frame in frames if frame]
    return ", inside of ".join(dict.fromkeys(places)) or "a place that is not known"
