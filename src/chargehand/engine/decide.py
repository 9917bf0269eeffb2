"""What to do next. A pure function of the state: the same events lead to the same decisions, on any machine."""

from collections.abc import Iterator
from dataclasses import dataclass

from chargehand.domain.state import Job, State


@dataclass(frozen=True, slots=True)
class Skip:
    """Skip a step, because a step that it uses was skipped."""

    step: str
    because: str


@dataclass(frozen=True, slots=True)
class Begin:
    """Begin a step: work out its `when` and `each`, or make its one call."""

    step: str


@dataclass(frozen=True, slots=True)
class Call:
    """Make a call for one item, for the first time or again."""

    job: Job


@dataclass(frozen=True, slots=True)
class Revise:
    """Find a way around the failure of a step."""

    step: str


@dataclass(frozen=True, slots=True)
class Rest:
    """Wait for the next try of something that failed."""

    until: float


@dataclass(frozen=True, slots=True)
class Park:
    """Nothing can be done until somebody answers or a time has come."""

    reasons: tuple[str, ...]
    wake_at: float | None


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over."""

    status: str


Command = Skip | Begin | Call | Revise | Rest | Park | Finish


def decide(state: State) -> list[Command]:
    """The commands for a state; none if calls are under way that must come back first, or the run is over."""
    if state.ended is not None:
        return []
    if state.cancelled is not None or state.hopeless is not None:
        return _wind_up(state)
    commands = [*_work(state)]
    if commands or state.running:
        return commands
    if state.retrying:
        return [Rest(min(job.retry_at or 0.0 for job in state.retrying.values()))]
    return [_park(state)] if state.asking or state.doubts else [Finish("done")]


def _work(state: State) -> Iterator[Command]:
    for id in state.failed:
        yield Revise(id)
    room = state.parallel - len(state.running)
    for id in state.ready:
        skipped = next(
            (need for need in state.steps[id].facts.refers_to if state.steps[need].status == "skipped"), None
        )
        if skipped is not None:
            yield Skip(id, f"it uses {skipped}, which was skipped")
        elif room > 0:
            room -= 1
            yield Begin(id)
    due = (job for job in state.retrying.values() if job.retry_at is not None and job.retry_at <= state.now)
    for job in (*state.todo.values(), *due):
        if room > 0:
            room -= 1
            yield Call(job)


def _wind_up(state: State) -> list[Command]:
    """The goal cannot be reached any more: nothing new begins, and what is under way settles."""
    if state.running:
        return []
    if state.doubts:
        return [_park(state)]
    return [Finish("cancelled" if state.cancelled is not None else "failed")]


def _park(state: State) -> Park:
    reasons = [f"step {job.step} waits for approval" for job in state.asking.values()]
    reasons += [f"step {job.step} is in doubt" for job in state.doubts.values()]
    expiries = [job.asked.expires for job in state.asking.values() if job.asked is not None]
    return Park(tuple(reasons), min(expiries, default=None))
