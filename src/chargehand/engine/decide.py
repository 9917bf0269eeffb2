"""What to do next. A pure function of the state: the same events lead to the same decisions, on any machine."""

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Literal

from chargehand.domain.state import Job, State, StepState

MAX_REST = 900.0  # seconds that a driver waits by itself; what takes longer parks, and needs no process meanwhile
MAX_REFRESHES = 3  # times that what a step uses is read again; it may take longer than it is allowed to be old


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
class Refresh:
    """Read again what is too old for a step."""

    step: str
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class TooOld:
    """Fail a step: what it uses stays too old, however often it is read."""

    step: str
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Expire:
    """Nobody answered in time."""

    job: Job


@dataclass(frozen=True, slots=True)
class Call:
    """Do a job, for the first time or again: call a tool, or pursue a sub-goal."""

    job: Job


@dataclass(frozen=True, slots=True)
class Probe:
    """Ask whether a call in doubt had its effect."""

    job: Job


@dataclass(frozen=True, slots=True)
class Revise:
    """Find a way around the failure of a step."""

    step: str


@dataclass(frozen=True, slots=True)
class Stop:
    """End a read, or a child run, whose result nobody needs any more."""

    job: Job


@dataclass(frozen=True, slots=True)
class Undo:
    """Work out how everything that was done is taken back."""


@dataclass(frozen=True, slots=True)
class Rest:
    """Wait until something may be tried again."""

    until: float


@dataclass(frozen=True, slots=True)
class Park:
    """Nothing can be done until somebody answers or a time has come."""

    reasons: tuple[str, ...]
    wake_at: float | None


@dataclass(frozen=True, slots=True)
class Finish:
    """The run is over."""

    status: Literal["done", "failed", "cancelled"]


Command = Skip | Begin | Refresh | TooOld | Expire | Call | Probe | Revise | Stop | Undo | Rest | Park | Finish


def decide(state: State, busy: Collection[str] = ()) -> list[Command]:
    """The commands for a state; none if something is under way that must come back first, or the run is over.

    busy: tools that have just been found to have no place for another call; what uses them waits.
    """
    if state.ended is not None:
        return []
    commands: list[Command] = [*_stops(state)]
    if not state.closing:
        commands += [Revise(id) for id, step in state.failed.items() if not _is_busy(step)]
    commands += _due(state)
    commands += _work(state, busy)
    if commands or state.in_flight or busy:
        return commands
    return [_wait(state) or _close(state)]


def stands(command: Command, state: State) -> bool:
    """Whether a command still fits the state, now that those decided with it were carried out: one of them may have
    ended all hope."""
    match command:
        case Begin(step=id) | Skip(step=id):
            return id in state.ready
        case Call(job=job):
            known = job.status in ("todo", "retrying") and state.jobs[job.status].get(job.key) is job
            return known and not state.steps[job.step].waits
        case Refresh(step=id) | TooOld(step=id):
            return id in state.ready or any(one.key in state.jobs.get(one.status, ()) for one in state.steps[id].jobs)
        case Expire(job=job):
            return job.asked is not None
        case Probe(job=job):
            return job.status == "in_doubt"
        case _:
            return True


def _work(state: State, busy: Collection[str]) -> Iterator[Command]:
    """What can begin. In a run that is closing, that is only what takes things back."""
    jobs = state.jobs
    if not (state.ready or jobs["todo"] or jobs["retrying"]):
        return
    room = _Room(state, busy)
    for id in state.ready:
        step = state.steps[id]
        skipped = _skipped_need(step, state)
        if skipped is not None:
            yield Skip(id, f"it uses {skipped}, which was skipped")
        elif room.take(step.facts.tool):
            yield _fresh(id, step, state) or Begin(id)
    due = (job for job in jobs["retrying"].values() if job.retry_at is not None and job.retry_at <= state.now)
    full: set[str] = set()  # steps whose tool has no room: of ten thousand items, one look is enough
    for job in (*jobs["todo"].values(), *due):
        if job.step in full:
            continue
        if room.left <= 0:
            return
        step = state.steps[job.step]
        if not step.waits and room.take(step.facts.tool):  # what it uses may be on its way once more
            yield (None if _is_unresolved(job, state) else _fresh(job.step, step, state)) or Call(job)
        else:
            full.add(job.step)
            if all(id in full for id, one in state.steps.items() if one.status == "open"):
                return


class _Room:
    """How many calls may begin: in all, and of each tool that has a limit."""

    def __init__(self, state: State, busy: Collection[str]) -> None:
        self._tools, self._busy = state.tools, busy
        running = state.jobs["running"]
        self.left = state.parallel - len(running) - len(state.jobs["pursuing"])
        self._used = Counter(job.call.tool for job in running.values() if job.call) if state.limited else None

    def take(self, tool: str | None) -> bool:
        if self.left <= 0 or tool in self._busy:
            return False
        if self._used is not None and tool is not None:
            most = self._tools[tool].parallel
            if most is not None and self._used[tool] >= most:
                return False
            self._used[tool] += 1
        self.left -= 1
        return True


def _skipped_need(step: StepState, state: State) -> str | None:
    return next((need for need in step.facts.refers_to if state.steps[need].status == "skipped"), None)


def _fresh(id: str, step: StepState, state: State) -> Refresh | TooOld | None:
    """What must be read again before a step begins, if anything."""
    stale: dict[str, None] = {}
    for need, age in step.facts.fresh.items():
        _find_stale(need, state.now - age, state, stale)
    if not stale:
        return None
    return Refresh(id, tuple(stale)) if step.refreshed < MAX_REFRESHES else TooOld(id, tuple(stale))


def _is_unresolved(job: Job, state: State) -> bool:
    """Whether a call was sent of which nobody knows what became: it is repeated as it was, whatever has changed."""
    return job.deed is not None and job.deed in state.deeds and state.deeds[job.deed].unresolved


def _find_stale(id: str, since: float, state: State, found: dict[str, None]) -> None:
    """The reads that a value comes from and that are older than a moment, and all that was made of them; an effect is
    never done again."""
    reads: dict[str, StepState] = {}
    waiting = [id]
    while waiting:
        name = waiting.pop()
        step = state.steps[name]
        tool = step.facts.tool
        if name not in reads and step.status == "done" and tool is not None and state.tools[tool].effect == "read":
            reads[name] = step
            waiting += step.facts.refers_to
    old = [name for name, step in reads.items() if step.done_at < since]
    while old:
        name = old.pop()
        if name not in found:
            found[name] = None
            old += [user for user, step in reads.items() if name in step.facts.refers_to]


def _due(state: State) -> Iterator[Command]:
    """Probes whose time has come, and requests whose time is over."""
    for job in state.jobs["in_doubt"].values():
        if job.probe_at is not None and job.probe_at <= state.now:
            yield Probe(job)
    for job in state.jobs["asking"].values():
        if job.asked is not None and job.asked.expires <= state.now:
            yield Expire(job)


def _stops(state: State) -> Iterator[Stop]:
    """Reads and child runs that are under way for nothing; effects come back by themselves."""
    for job in state.jobs["running"].values() if state.closing or state.failed else ():
        useless = state.closing or state.steps[job.step].status == "failed"
        if useless and job.call is not None and state.tools[job.call.tool].effect == "read":
            yield Stop(job)
    for job in (*state.jobs["pursuing"].values(), *state.jobs["deferred"].values()):
        step = state.steps[job.step]
        if (state.closing or step.status != "open") and not job.stopping and step.undoes is None:
            yield Stop(job)


def _is_busy(step: StepState) -> bool:
    """Whether items of a failed step are still under way, or in doubt: until then, no revision may touch it."""
    return any(job.status in ("running", "probing", "pursuing", "deferred", "in_doubt") for job in step.jobs)


def soonest(state: State) -> float | None:
    """The next time that something waits for while other things are under way or have no room."""
    times = [job.retry_at for job in state.jobs["retrying"].values() if job.retry_at is not None]
    times += [job.probe_at for job in state.jobs["in_doubt"].values() if job.probe_at is not None]
    return min((time for time in times if time > state.now), default=None)


def _wait(state: State) -> Rest | Park | None:
    """What is waited for: a time that is near, or people."""
    jobs, until = state.jobs, soonest(state)
    if until is not None and until - state.now <= MAX_REST:
        return Rest(until)
    if not any(jobs[status] for status in ("retrying", "asking", "in_doubt", "deferred", "held")):
        return None
    times = [job.asked.expires for job in jobs["asking"].values() if job.asked is not None]
    times += [] if until is None else [until]
    return Park(tuple(_reasons(state)), min(times, default=None))


def _reasons(state: State) -> Iterator[str]:
    for job in state.jobs["asking"].values():
        yield f"step {job.step} waits for approval"
    for job in state.jobs["in_doubt"].values():
        yield f"step {job.step} is in doubt"
    for job in state.jobs["deferred"].values():
        yield f"step {job.step} waits for the run {job.child}"
    for job in state.jobs["held"].values():
        yield f"step {job.step} cannot go on here: {job.error.message if job.error else ''}"
    for job in state.jobs["retrying"].values():
        yield f"step {job.step} is tried again later"


def _close(state: State) -> Undo | Finish:
    """Nothing is left to do or to wait for."""
    if not state.closing:
        return Finish("done")
    undone = all(step.status == "done" for step in state.steps.values() if step.undoes is not None)
    if undone and (state.undoing == "asked" or (state.undoing == "no" and state.all_or_nothing)):
        return Undo()
    if not undone or state.remains:
        return Finish("failed")
    return Finish("cancelled" if state.cancelled is not None else "failed")
