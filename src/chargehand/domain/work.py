"""Work: what a step is told, what came of it, and how the whole ended."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

from chargehand.domain.failure import FailureKind

StepStatus = Literal["done", "failed", "skipped", "blocked", "waiting", "in_doubt", "cancelled"]
RunStatus = Literal["running", "done", "failed", "waiting", "in_doubt", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Failure:
    """Why something did not succeed: its kind, what happened, and what to try."""

    kind: FailureKind
    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """One check of a result: what was evaluated, and what it gave."""

    check: str
    held: bool
    problem: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """One call of one tool."""

    tool: str
    number: int
    error: Failure | None = None
    seconds: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What came of a step, for a planner, a person and a program."""

    step: str
    status: StepStatus
    output: object = None
    evidence: tuple[Evidence, ...] = ()
    attempts: tuple[Attempt, ...] = ()
    error: Failure | None = None
    usage: Mapping[str, float] | None = None
    requests: tuple[Mapping[str, Any], ...] = ()
    """What waits for approval, exactly as it would be done: one, or one for each item."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """How a run stands or ended."""

    run_id: str
    status: RunStatus
    answer: object = None
    reports: tuple[Report, ...] = ()
    error: Failure | None = None

    def __getitem__(self, step: str) -> Report:
        return next(report for report in self.reports if report.step == step)
