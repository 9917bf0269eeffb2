"""Events: all that can happen in a run. The journal holds them in order, and nothing else is true.

Every event is small, frozen and plain. A field that is added later has a default, so that old journals stay readable.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from typing import Any, ClassVar, Literal, cast

from pydantic_core import to_json

from chargehand.domain.work import Evidence, Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFacts:
    """What a run knows about a tool, pinned when its plan is accepted: no decision depends on today's code."""

    effect: Literal["read", "write", "irreversible"]
    form: str
    idempotent: bool = False
    tries: int = 1
    timeout: float | None = None
    providers: tuple[str, ...] = ()
    probe: str | None = None
    settles_within: float | None = None
    undo: str | None = None
    parallel: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """What a run knows about a step: enough to order it, without reading its expressions again."""

    needs: tuple[str, ...] = ()
    refers_to: tuple[str, ...] = ()
    """Those of its needs whose skipping skips it too."""
    tool: str | None = None
    if_fails: Literal["revise", "skip", "stop"] = "revise"
    fresh: Mapping[str, float] = field(default_factory=dict[str, float])
    """Steps that it uses, and how old in seconds what they gave may be when it begins."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Compensation:
    """One thing to take back: a finished write, by its tool's undo; or all that a child run did."""

    step: str
    item: int = 0
    key: str | None = None
    tool: str | None = None
    args: Mapping[str, Any] = field(default_factory=dict[str, Any])
    child: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted:
    kind: ClassVar = "run.started"
    goal: str
    plan: Mapping[str, Any]
    steps: Mapping[str, StepFacts]
    tools: Mapping[str, ToolFacts]
    origin: str
    parallel: int = 100
    parent: str | None = None
    path: tuple[str, ...] = ()
    """The steps of the ancestors that lead here: the same for every attempt at the same sub-goal."""
    fork_of: str | None = None
    all_or_nothing: bool = False
    expect: tuple[str, ...] = ()
    playbook: str | None = None
    labels: Mapping[str, Any] = field(default_factory=dict[str, Any])
    tenant: str = ""
    priority: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanRevised:
    """The plan changed: `changed` are the steps that are new or other than before."""

    kind: ClassVar = "plan.revised"
    plan: Mapping[str, Any]
    steps: Mapping[str, StepFacts]
    changed: tuple[str, ...]
    tools: Mapping[str, ToolFacts]
    failed: str
    rung: int
    because: str
    base: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RevisionDeclined:
    """No way around the failure of a step is known: the goal can no longer be reached."""

    kind: ClassVar = "revision.declined"
    failed: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepSkipped:
    kind: ClassVar = "step.skipped"
    step: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class StepExpanded:
    """The list of an `each` is known: one job for each of its items."""

    kind: ClassVar = "step.expanded"
    step: str
    items: list[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class StepKept:
    """A fork takes over what its ancestor finished; nothing of it is done again."""

    kind: ClassVar = "step.kept"
    step: str
    output: Any = None
    items: list[Any] | None = None
    skipped: str | None = None
    done_at: float | None = None
    """When the ancestor finished it: what is kept does not get younger."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StepsRefreshed:
    """What some steps read is too old for a step that is about to act on it: it is read again."""

    kind: ClassVar = "steps.refreshed"
    step: str
    stale: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class CallStarted:
    """A call begins. For an effect this is the intent: it is on disk before the tool is called.

    `action` names the tool and the arguments wherever they occur; `key` this very action of this very step.
    """

    kind: ClassVar = "call.started"
    step: str
    item: int
    attempt: int
    tool: str
    args: Mapping[str, Any]
    why: str = ""
    key: str | None = None
    action: str | None = None
    not_after: float | None = None
    approval: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished:
    """A call gave a result, and this is what its checks found. `reused` if it was done before: by that run, under that
    key."""

    kind: ClassVar = "call.finished"
    step: str
    item: int
    attempt: int
    output: Any
    evidence: tuple[Evidence, ...] = ()
    seconds: float = 0.0
    reused: str | None = None
    reused_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed:
    """A call failed; `retry_at` if it is worth another try. It had no effect, unless it is not `certain`: then the
    tool can be called twice without harm."""

    kind: ClassVar = "call.failed"
    step: str
    item: int
    attempt: int
    error: Failure
    retry_at: float | None = None
    seconds: float = 0.0
    certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDoubted:
    """Nobody can say whether the call had its effect. A probe is asked from `probe_at`, and its "no" counts from
    `no_counts_from`."""

    kind: ClassVar = "call.doubted"
    step: str
    item: int
    attempt: int
    because: str
    probe_at: float | None = None
    no_counts_from: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeStarted:
    """A tool is asked whether a call in doubt had its effect."""

    kind: ClassVar = "probe.started"
    step: str
    item: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ProbeFinished:
    """A probe did not settle the doubt: it found nothing too early to be believed, or it failed."""

    kind: ClassVar = "probe.finished"
    step: str
    item: int
    because: str
    probe_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StepHeld:
    """A step cannot go on with this process: a tool is gone or has changed. The next driver tries again."""

    kind: ClassVar = "step.held"
    step: str
    item: int
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildStarted:
    """A run of its own pursues a step's sub-goal. On disk before that run begins."""

    kind: ClassVar = "child.started"
    step: str
    item: int
    attempt: int
    child: str
    goal: str
    args: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildParked:
    """The child run waits for somebody, and so does the step."""

    kind: ClassVar = "child.parked"
    step: str
    item: int
    status: Literal["waiting", "in_doubt"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildTaken:
    """The child run is driven again: with this driver, and perhaps to be stopped."""

    kind: ClassVar = "child.taken"
    step: str
    item: int
    stop: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ChildEnded:
    """A child run is over, and this is what it gave; or it never began, since its goal could not be planned."""

    kind: ClassVar = "child.ended"
    step: str
    item: int
    child: str
    status: Literal["done", "failed", "cancelled"]
    output: Any = None
    error: Failure | None = None
    evidence: tuple[Evidence, ...] = ()
    begun: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFailed:
    """A step failed without a call: a value could not be worked out, or it was not allowed."""

    kind: ClassVar = "step.failed"
    step: str
    item: int
    error: Failure


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAsked:
    kind: ClassVar = "approval.asked"
    step: str
    item: int
    hash: str
    request: Mapping[str, Any]
    expires: float


@dataclass(frozen=True, slots=True, kw_only=True)
class ApprovalAnswered:
    kind: ClassVar = "approval.answered"
    step: str
    item: int
    hash: str
    yes: bool
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class DoubtSettled:
    """A person or a probe said what became of a call in doubt: it happened, it did not, or nobody will ever know and
    the run is to stop."""

    kind: ClassVar = "doubt.settled"
    step: str
    item: int
    happened: bool
    output: Any = None
    because: str = ""
    stop: bool = False
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputSupplied:
    """A person did the step instead."""

    kind: ClassVar = "output.supplied"
    step: str
    item: int
    output: Any
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CancelAsked:
    kind: ClassVar = "cancel.asked"
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoAsked:
    """Everything that the run did is to be taken back."""

    kind: ClassVar = "undo.asked"
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class UndoPlanned:
    """What is taken back, in this order, and what cannot be."""

    kind: ClassVar = "undo.planned"
    undo: Mapping[str, Compensation]
    tools: Mapping[str, ToolFacts]
    remains: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RetryAsked:
    """Failed steps are to be tried once more."""

    kind: ClassVar = "retry.asked"
    because: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MessageRefused:
    """A message from outside came too late, twice, or for something else; it changed nothing."""

    kind: ClassVar = "message.refused"
    what: str
    because: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RunParked:
    kind: ClassVar = "run.parked"
    reasons: tuple[str, ...]
    wake_at: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RunResumed:
    """A driver took the run up: after a wait, or after another driver died."""

    kind: ClassVar = "run.resumed"
    driver: str
    epoch: int
    forced: bool = False
    """Taken from a driver that was still alive, and may still finish what it had begun."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePassed:
    """A time that something waited for has come, whatever the clock says: it may have been set back meanwhile."""

    kind: ClassVar = "time.passed"
    until: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class GoalMissed:
    """Every step was done, and the answer is not what the goal expects: what was done is to be taken back."""

    kind: ClassVar = "goal.missed"
    error: Failure
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    kind: ClassVar = "run.ended"
    status: Literal["done", "failed", "cancelled"]
    answer: Any = None
    error: Failure | None = None
    evidence: tuple[Evidence, ...] = ()


Event = (
    RunStarted
    | PlanRevised
    | RevisionDeclined
    | StepSkipped
    | StepExpanded
    | StepKept
    | StepsRefreshed
    | CallStarted
    | CallFinished
    | CallFailed
    | CallDoubted
    | ProbeStarted
    | ProbeFinished
    | StepHeld
    | ChildStarted
    | ChildParked
    | ChildTaken
    | ChildEnded
    | StepFailed
    | ApprovalAsked
    | ApprovalAnswered
    | DoubtSettled
    | OutputSupplied
    | CancelAsked
    | UndoAsked
    | UndoPlanned
    | RetryAsked
    | MessageRefused
    | RunParked
    | RunResumed
    | TimePassed
    | GoalMissed
    | RunEnded
)
KINDS: dict[str, type[Event]] = {kind.kind: kind for kind in Event.__args__}  # pyright: ignore
_FIELDS = {kind: tuple(one.name for one in fields(kind)) for kind in KINDS.values()}


MAX_INLINE = 4_000  # characters: a larger field is kept once, as a blob, however many events refer to it
_LARGE = ("output", "args", "items", "plan", "answer", "undo")
GetBlob = Callable[[str], bytes]


def encode_event(event: Event) -> tuple[str, dict[str, bytes]]:
    """The body of an event as it is journalled, and the blobs that it refers to by their hash."""
    text = to_json(event).decode()
    if len(text) <= MAX_INLINE and '"#"' not in text:
        return text, {}
    blobs: dict[str, bytes] = {}
    body = {name: getattr(event, name) for name in _FIELDS[type(event)]}
    for name in _LARGE:
        if name in body and (_looks_like_blob(body[name]) or len(to_json(body[name])) > MAX_INLINE):
            data = to_json(body[name])
            hash = hashlib.sha256(data).hexdigest()
            blobs[hash], body[name] = data, {"#": hash}
    return (to_json(body).decode() if blobs else text), blobs


def _looks_like_blob(value: object) -> bool:
    """A result that looks like our own reference is kept as a blob, so that it is never taken for one."""
    return isinstance(value, Mapping) and list(cast(Mapping[str, object], value)) == ["#"]


def decode_event(kind: str, body: str, blob: GetBlob) -> Event:
    """The event of a journalled body. Fields that this version does not know are left out."""
    made = KINDS[kind]
    raw: dict[str, Any] = json.loads(body)
    if '"#"' in body:
        for name in _LARGE:
            if _looks_like_blob(raw.get(name)):
                raw[name] = json.loads(blob(raw[name]["#"]))
    for name, convert in _CONVERSIONS[made]:
        if name in raw:
            raw[name] = convert(raw[name])
    if not raw.keys() <= _NAMES[made]:
        raw = {name: value for name, value in raw.items() if name in _NAMES[made]}
    return made(**raw)


def _failure(raw: Any) -> Failure | None:
    return None if raw is None else Failure(**raw)


def _evidence(raw: Any) -> tuple[Evidence, ...]:
    return tuple(Evidence(**one) for one in raw) if raw else ()


def _tools(raw: Any) -> dict[str, ToolFacts]:
    return {name: ToolFacts(**_tuples(one)) for name, one in raw.items()}


def _steps(raw: Any) -> dict[str, StepFacts]:
    return {id: StepFacts(**_tuples(one)) for id, one in raw.items()}


def _tuples(raw: Any) -> Any:
    """JSON knows only lists; frozen data holds tuples."""
    return {name: tuple(cast(list[Any], value)) if isinstance(value, list) else value for name, value in raw.items()}


def _undo(raw: Any) -> dict[str, Compensation]:
    return {id: Compensation(**one) for id, one in raw.items()}


_INNER: dict[str, Callable[[Any], Any]] = {
    "error": _failure,
    "evidence": _evidence,
    "steps": _steps,
    "tools": _tools,
    "undo": _undo,
    "changed": tuple,
    "expect": tuple,
    "path": tuple,
    "reasons": tuple,
    "remains": tuple,
    "stale": tuple,
}
_NAMES = {kind: frozenset(names) for kind, names in _FIELDS.items()}
_CONVERSIONS = {
    kind: tuple((name, _INNER[name]) for name in names if name in _INNER) for kind, names in _FIELDS.items()
}
