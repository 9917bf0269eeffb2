"""Everything that Chargehand raises.

ChargehandError
├── BadTool            a tool was declared wrongly
├── BadSchema          a JSON Schema that cannot be used
├── BadValue           a value that no journal can hold
├── BadSecret          a secret that could not be told from other text
├── ExpressionError    an expression cannot be read or evaluated
├── PlanRejected       a plan has errors; `diagnostics` lists them
├── PlaybookRejected   a playbook has errors; `diagnostics` lists them
├── PlaybooksUnreadable  a file or folder of playbooks is missing or cannot be read
├── PatchRefused       a patch does not fit the plan it is for
├── GoalNotPlanned     no plan could be made for a goal
│   ├── NoPlaybook     nothing matches it
│   ├── AmbiguousGoal  more than one playbook matches it equally well
│   └── InputsRefused  a playbook matches, but its inputs are missing or wrong
├── ToolFailed         for tools to raise: what kind of failure it is
│   ├── Transient      it may go well another time
│   ├── Unsupported    this tool cannot do it, another one may
│   └── NotPerformed   it is certain that nothing happened
├── RunUnknown         the journal has no such run
├── StepUnknown        the run has no such step
├── RequestRefused     an answer or a wish that can change nothing: too late, twice, or for something else
├── RunExists          a run of that id is there already
├── RunDriven          another driver, alive, has the run
├── RunLost            somebody else took the run: nothing more may be done for it
├── JournalUnusable    the journal cannot be read or written; `cause` says why
└── AppNotFound        `module:attribute` does not lead to a Chargehand
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chargehand.domain.diagnostics import Diagnostic


class ChargehandError(Exception):
    """The root of the tree: what happened, and in `hint` what to do next."""

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(f"{message}\n{hint}" if hint else message)
        self.message = message
        self.hint = hint


class BadTool(ChargehandError):
    """A tool was declared wrongly."""


class BadSchema(ChargehandError):
    """A JSON Schema that cannot be used."""


class BadValue(ChargehandError):
    """A value that no journal can hold."""


class BadSecret(ChargehandError):
    """A secret that could not be told from other text. The message does not say which."""


class ExpressionError(ChargehandError):
    """An expression cannot be read (`offset` says where) or evaluated; `limit` if it is too large or costly."""

    def __init__(self, message: str, *, hint: str = "", offset: int | None = None, limit: bool = False) -> None:
        super().__init__(message, hint=hint)
        self.offset = offset
        self.limit = limit


class _Rejected(ChargehandError):
    def __init__(self, what: str, diagnostics: "Sequence[Diagnostic]") -> None:
        errors = [diagnostic for diagnostic in diagnostics if diagnostic.severity == "error"]
        count = f"{len(errors)} error" + ("s" if len(errors) != 1 else "")
        shown = "\n".join(f"  {diagnostic}" for diagnostic in errors[:20])
        more = f"\n  … and {len(errors) - 20} more" if len(errors) > 20 else ""
        super().__init__(f"{what} has {count}:\n{shown}{more}")
        self.diagnostics = tuple(diagnostics)


class PlanRejected(_Rejected):
    """A plan has errors, so nothing of it was run."""

    def __init__(self, diagnostics: "Sequence[Diagnostic]", what: str = "the plan") -> None:
        super().__init__(what, diagnostics)


class PlaybookRejected(_Rejected):
    """A playbook has errors, so it was not loaded."""

    def __init__(self, name: str, diagnostics: "Sequence[Diagnostic]") -> None:
        super().__init__(f"playbook {name!r}", diagnostics)
        self.name = name


class PlaybooksUnreadable(ChargehandError):
    """A file or folder of playbooks is missing or cannot be read; `path` says which."""

    def __init__(self, path: str, reason: str, *, hint: str = "") -> None:
        super().__init__(f"the playbooks at {path!r} cannot be read: {reason}", hint=hint)
        self.path = path


class PatchRefused(ChargehandError):
    """A patch does not fit the plan that it is for."""


class GoalNotPlanned(ChargehandError):
    """No plan could be made for a goal."""


class NoPlaybook(GoalNotPlanned):
    """No playbook matches the goal."""


class AmbiguousGoal(GoalNotPlanned):
    """More than one playbook matches the goal equally well."""


class InputsRefused(GoalNotPlanned):
    """A playbook matches the goal, but its inputs are missing or wrong."""


class AppNotFound(ChargehandError):
    """`module:attribute` does not lead to a Chargehand."""


class ToolFailed(ChargehandError):
    """For tools to raise: what kind of failure it is."""


class Transient(ToolFailed):
    """It may go well another time; `retry_after` says when, in seconds."""

    def __init__(self, message: str, *, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint=hint)
        self.retry_after = retry_after


class Unsupported(ToolFailed):
    """This tool cannot do it; another one that provides the same may."""


class NotPerformed(Transient):
    """It is certain that nothing happened, so an effect may be tried again."""


class _RunError(ChargehandError):
    def __init__(self, run: str, message: str, *, hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.run = run


class RunUnknown(_RunError):
    """The journal has no such run."""

    def __init__(self, run: str) -> None:
        super().__init__(run, f"there is no run {run!r} in this journal", hint="`desk.runs()` lists them.")


class StepUnknown(_RunError):
    """The run has no such step."""

    def __init__(self, run: str, step: str, *, hint: str = "") -> None:
        super().__init__(run, f"run {run!r} has no step {step!r}", hint=hint)
        self.step = step


class RequestRefused(_RunError):
    """What was asked of a run can change nothing as the run stands; `reason` says why."""

    def __init__(self, run: str, what: str, reason: str) -> None:
        super().__init__(run, f"cannot {what} in run {run!r}: {reason}", hint="`show` says how the run stands.")
        self.reason = reason


class RunExists(_RunError):
    """A run of that id is in the journal already."""

    def __init__(self, run: str) -> None:
        super().__init__(run, f"run {run!r} exists already", hint="Resume it, or give the new run another id.")


class RunDriven(_RunError):
    """Another driver has the run, and is alive."""

    def __init__(self, run: str, driver: str) -> None:
        hint = "Follow it; or take it over, if that driver hangs."
        super().__init__(run, f"run {run!r} is being driven by {driver}", hint=hint)
        self.driver = driver


class RunLost(_RunError):
    """The run is no longer this driver's: whatever it still had queued was not written."""

    def __init__(self, run: str, reason: str) -> None:
        hint = "Start nothing more for this run; follow it, or claim it again."
        super().__init__(run, f"run {run!r} was lost: {reason}", hint=hint)
        self.reason = reason


class JournalUnusable(ChargehandError):
    """The journal cannot be read or written. `cause` is the error underneath, where there is one."""

    def __init__(self, message: str, *, hint: str = "", cause: BaseException | None = None) -> None:
        super().__init__(message, hint=hint)
        self.cause = cause
