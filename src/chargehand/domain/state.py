"""State: what a run's events add up to. Only `fold` changes it; whoever else has it, reads.

The state is a private, mutable builder: copying it for each event would make a run's cost quadratic.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from chargehand.domain import events
from chargehand.domain.events import StepFacts, ToolFacts
from chargehand.domain.work import Attempt, Evidence, Failure

Key = tuple[str, int]  # a job: a step and the number of its item

JobStatus = Literal[
    "todo",
    "running",  # a call is under way
    "retrying",  # another try has its time
    "asking",  # somebody is asked for approval
    "in_doubt",  # nobody knows whether the effect happened
    "probing",  # a tool is asked whether it did
    "pursuing",  # a child run is driven
    "deferred",  # the child run waits for somebody
    "held",  # not with this process
    "done",
    "failed",
]


@dataclass(slots=True)
class Job:
    """One piece of a step: the step itself, or one item of its `each`."""

    step: str
    item: int = 0
    value: Any = None
    status: JobStatus = "todo"
    call: events.CallStarted | None = None
    asked: events.ApprovalAsked | None = None
    errand: events.ChildStarted | None = None
    child_status: Literal["waiting", "in_doubt"] | None = None
    stopping: bool = False
    deed: str | None = None
    began: float | None = None
    retry_at: float | None = None
    probe_at: float | None = None
    no_counts_from: float | None = None
    probes: int = 0
    attempts: list[Attempt] = field(default_factory=list[Attempt])
    output: Any = None
    evidence: tuple[Evidence, ...] = ()
    error: Failure | None = None

    @property
    def key(self) -> Key:
        return self.step, self.item

    @property
    def child(self) -> str | None:
        return self.errand.child if self.errand is not None else None


@dataclass(slots=True)
class StepState:
    """A step on its way: what it still waits for, and its jobs once it has begun."""

    facts: StepFacts
    waits: set[str]
    status: Literal["waiting", "open", "done", "failed", "skipped"] = "waiting"
    jobs: list[Job] = field(default_factory=list[Job])
    left: int = 0
    expanded: bool = False
    kept: bool = False
    because: str = ""
    error: Failure | None = None
    done_at: float = 0.0
    refreshed: int = 0
    undoes: events.Compensation | None = None

    @property
    def output(self) -> Any:
        return [job.output for job in self.jobs] if self.expanded else self.jobs[0].output


@dataclass(slots=True)
class Deed:
    """An effect of this run, done or attempted."""

    key: str
    action: str
    tool: str
    args: Mapping[str, Any]
    step: str
    item: int
    status: Literal["open", "done", "doubt", "void", "undone"] = "open"
    output: Any = None
    seq: int = 0
    unresolved: bool = False
    """A call was sent of which nobody knows what became."""
    source: str | None = None
    """The key of the deed, of any run of the family, whose outcome was taken over instead of doing it again."""
    denied: bool = False
    """Somebody said that it did not happen, wherever it was begun."""


@dataclass(slots=True)
class Child:
    """A run below this one: for which step, and the last event about it."""

    step: str
    item: int
    seq: int


def _places() -> dict[str, dict[Key, Job]]:
    waiting = ("todo", "running", "retrying", "asking", "in_doubt", "probing", "pursuing", "deferred", "held")
    return {status: {} for status in waiting}


@dataclass(slots=True)
class State:
    """A run. `jobs` holds the unfinished ones by their status, in the order in which they came there."""

    goal: str = ""
    plan: Any = None
    origin: str = ""
    path: tuple[str, ...] = ()
    parent: str | None = None
    fork_of: str | None = None
    all_or_nothing: bool = False
    expect: tuple[str, ...] = ()
    playbook: str | None = None
    parallel: int = 100
    tools: dict[str, ToolFacts] = field(default_factory=dict[str, ToolFacts])
    limited: bool = False
    steps: dict[str, StepState] = field(default_factory=dict[str, StepState])
    feeds: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    ready: dict[str, None] = field(default_factory=dict[str, None])
    jobs: dict[str, dict[Key, Job]] = field(default_factory=_places)
    failed: dict[str, StepState] = field(default_factory=dict[str, StepState])
    deeds: dict[str, Deed] = field(default_factory=dict[str, Deed])
    left_behind: bool = False
    """Whether some deed may belong to no step of the plan any more."""
    children: dict[str, Child] = field(default_factory=dict[str, Child])
    approved: set[str] = field(default_factory=set[str])
    rungs: set[int] = field(default_factory=set[int])
    revision: int = 0
    hopeless: Failure | None = None
    cancelled: str | None = None
    undoing: Literal["no", "asked", "planned"] = "no"
    remains: tuple[str, ...] = ()
    forced: bool = False
    parked: events.RunParked | None = None
    ended: events.RunEnded | None = None
    now: float = 0.0
    seq: int = 0

    def job(self, step: str, item: int) -> Job:
        return self.steps[step].jobs[item]

    @property
    def closing(self) -> bool:
        """Whether nothing new may begin, except what takes things back."""
        return self.cancelled is not None or self.hopeless is not None

    @property
    def in_flight(self) -> bool:
        """Whether something is under way that will come back by itself."""
        jobs = self.jobs
        return bool(jobs["running"] or jobs["pursuing"] or jobs["probing"])

    def current(self, deed: Deed) -> bool:
        """Whether a deed belongs to a step as the plan is now; if not, a revision left it behind."""
        step = self.steps.get(deed.step)
        return step is not None and deed.item < len(step.jobs) and step.jobs[deed.item].deed == deed.key
