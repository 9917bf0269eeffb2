"""Events: all that can happen in a run. The journal holds them in order, and nothing else is true.

Every event is small, frozen and plain. A field that is added later has a default, so that old journals stay readable.
"""

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Literal, cast

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


@dataclass(frozen=True, slots=True, kw_only=True)
class StepFacts:
    """What a run knows about a step: enough to order it, without reading its expressions again."""

    needs: tuple[str, ...] = ()
    refers_to: tuple[str, ...] = ()
    """Those of its needs whose skipping skips it too."""
    tool: str | None = None
    if_fails: Literal["revise", "skip", "stop"] = "revise"


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
class CallStarted:
    """A call begins. For an effect this is the intent: it is on disk before the tool is called."""

    kind: ClassVar = "call.started"
    step: str
    item: int
    attempt: int
    tool: str
    args: Mapping[str, Any]
    why: str = ""
    key: str | None = None
    not_after: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFinished:
    """A call gave a result, and this is what its checks found."""

    kind: ClassVar = "call.finished"
    step: str
    item: int
    attempt: int
    output: Any
    evidence: tuple[Evidence, ...] = ()
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallFailed:
    """A call failed, and it is certain that it had no effect; `retry_at` if it is worth another try."""

    kind: ClassVar = "call.failed"
    step: str
    item: int
    attempt: int
    error: Failure
    retry_at: float | None = None
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CallDoubted:
    """Nobody can say whether the call had its effect."""

    kind: ClassVar = "call.doubted"
    step: str
    item: int
    attempt: int
    because: str


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
    """A person or a probe said what became of a call in doubt."""

    kind: ClassVar = "doubt.settled"
    step: str
    item: int
    happened: bool
    output: Any = None
    because: str = ""


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


@dataclass(frozen=True, slots=True, kw_only=True)
class TimePassed:
    """A time that something waited for has come."""

    kind: ClassVar = "time.passed"


@dataclass(frozen=True, slots=True, kw_only=True)
class RunEnded:
    kind: ClassVar = "run.ended"
    status: Literal["done", "failed", "cancelled"]
    answer: Any = None
    error: Failure | None = None


Event = (
    RunStarted
    | PlanRevised
    | RevisionDeclined
    | StepSkipped
    | StepExpanded
    | CallStarted
    | CallFinished
    | CallFailed
    | CallDoubted
    | StepFailed
    | ApprovalAsked
    | ApprovalAnswered
    | DoubtSettled
    | OutputSupplied
    | CancelAsked
    | RetryAsked
    | MessageRefused
    | RunParked
    | RunResumed
    | TimePassed
    | RunEnded
)
KINDS: dict[str, type[Event]] = {kind.kind: kind for kind in Event.__args__}  # pyright: ignore
_FIELDS = {kind: tuple(one.name for one in fields(kind)) for kind in KINDS.values()}


MAX_INLINE = 4_000  # characters: a larger field is kept once, as a blob, however many events refer to it
_LARGE = ("output", "args", "items", "plan", "answer")
GetBlob = Callable[[str], bytes]


def encode_event(event: Event) -> tuple[str, dict[str, bytes]]:
    """The body of an event as it is journalled, and the blobs that it refers to by their hash."""
    blobs: dict[str, bytes] = {}
    body = {name: getattr(event, name) for name in _FIELDS[type(event)]}
    text = _encode(body)
    for name in _LARGE if len(text) > MAX_INLINE or '"#"' in text else ():
        if name in body and (_looks_like_blob(body[name]) or len(_encode(body[name])) > MAX_INLINE):
            data = _encode(body[name]).encode()
            hash = hashlib.sha256(data).hexdigest()
            blobs[hash], body[name] = data, {"#": hash}
    return (_encode(body) if blobs else text), blobs


def _looks_like_blob(value: object) -> bool:
    """A result that looks like our own reference is kept as a blob, so that it is never taken for one."""
    return isinstance(value, Mapping) and list(cast(Mapping[str, object], value)) == ["#"]


def _encode_inner(value: object) -> object:
    if is_dataclass(value) and not isinstance(value, type):
        return {one.name: getattr(value, one.name) for one in fields(value)}
    raise TypeError(f"{type(value).__name__} cannot be journalled")


# One encoder for all events: making one takes as long as encoding a small event.
_encode = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False, default=_encode_inner).encode


def decode_event(kind: str, body: str, blob: GetBlob) -> Event:
    """The event of a journalled body. Fields that this version does not know are left out."""
    made = KINDS[kind]
    raw = json.loads(body)
    for name in _LARGE:
        if _looks_like_blob(raw.get(name)):
            raw[name] = json.loads(blob(raw[name]["#"]))
    return made(**{name: _INNER.get(name, _same)(raw[name]) for name in _FIELDS[made] if name in raw})


def _same(value: Any) -> Any:
    return value


def _failure(raw: Any) -> Failure | None:
    return None if raw is None else Failure(**raw)


def _evidence(raw: Any) -> tuple[Evidence, ...]:
    return tuple(Evidence(**one) for one in raw)


def _tools(raw: Any) -> dict[str, ToolFacts]:
    return {name: ToolFacts(**_tuples(one)) for name, one in raw.items()}


def _steps(raw: Any) -> dict[str, StepFacts]:
    return {id: StepFacts(**_tuples(one)) for id, one in raw.items()}


def _tuples(raw: Any) -> Any:
    """JSON knows only lists; frozen data holds tuples."""
    return {name: tuple(cast(list[Any], value)) if isinstance(value, list) else value for name, value in raw.items()}


_INNER: dict[str, Callable[[Any], Any]] = {
    "error": _failure,
    "evidence": _evidence,
    "steps": _steps,
    "tools": _tools,
    "changed": tuple,
    "reasons": tuple,
}
