"""What an exception from a tool means: the kind of failure, and whether the tool may have acted."""

from dataclasses import dataclass
from typing import Any, Literal

from chargehand.domain.failure import FailureKind
from chargehand.domain.work import Failure
from chargehand.errors import BadValue, ChargehandError, NotPerformed, ToolFailed, Transient, Unsupported

MAX_MESSAGE = 2000  # characters: a report is read by people and models, and an error page can have megabytes

Certainty = Literal["nothing happened", "unknown", "it raised"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A failure, how sure we are that nothing happened, and when a service asks to be tried again."""

    failure: Failure
    certainty: Certainty
    retry_after: float | None = None
    still_acting: bool = False
    """Its thread could not be stopped, and may act at any time."""


class LeftBehind(TimeoutError):
    """The deadline of a call whose thread cannot be stopped."""


# Answers of a service that pass by themselves. After sending, none of them proves that nothing happened, except 429.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


class Interrupted(ToolFailed):
    """A tool ended by what is no word of its own: a cancellation, an exit. How far it came is not known."""


def as_failure(error: BaseException) -> Exception:
    """What a tool raised, as an exception that ends nothing but its call."""
    match error:
        case StopIteration():
            return ToolFailed(f"the tool raised {_said(error)}")
        case Exception():
            return error
        case _:
            hint = "A tool returns, or raises an ordinary exception: it cannot end the process or the run."
            return Interrupted(f"the tool raised {_said(error)}", hint=hint)


def classify(error: BaseException) -> Verdict:
    """What an exception says. Nobody's word is taken for 'nothing happened' but the tool's own and a refused door.

    Whatever the exception is made of, this does not raise.
    """
    try:
        return _classify(error)
    except Exception:
        return Verdict(Failure(kind="error", message=type(error).__name__), "unknown")


def _classify(error: BaseException) -> Verdict:
    match error:
        case Interrupted():
            return _verdict("error", error, "unknown")
        case BaseExceptionGroup():
            return _of_several(error)
        case NotPerformed():
            return _verdict("transient", error, "nothing happened", error.retry_after)
        case Transient():
            return _verdict("transient", error, "unknown", error.retry_after)
        case Unsupported():
            return _verdict("unsupported", error, "nothing happened")
        case BadValue():
            return _verdict("invalid", error, "it raised")
        case ConnectionRefusedError():
            return _verdict("transient", error, "nothing happened")
        case LeftBehind():
            failure = Failure(kind="transient", message=f"TimeoutError: {error}")
            return Verdict(failure, "unknown", still_acting=True)
        case TimeoutError() | ConnectionError():
            return _verdict("transient", error, "unknown")
        case _:
            return _by_status(error)


def _by_status(error: BaseException) -> Verdict:
    """HTTP clients carry the answer's status on their exceptions."""
    response: Any = getattr(error, "response", None)
    status = getattr(response, "status_code", None) or getattr(error, "status_code", None)
    if not isinstance(status, int) or status not in _PASSING:
        return _verdict("error", error, "it raised")
    certainty: Certainty = "nothing happened" if status == 429 else "unknown"
    return _verdict("transient", error, certainty, _retry_after(response))


def _retry_after(response: Any) -> float | None:
    headers = getattr(response, "headers", None)
    try:
        return float(headers["retry-after"]) if headers is not None else None
    except (KeyError, TypeError, ValueError):
        return None


def _of_several(group: "BaseExceptionGroup[BaseException]") -> Verdict:
    """Tasks of a tool failed together. It passes if all of them do; what their companions did is not known."""
    verdicts = [_classify(error) for error in group.exceptions]
    first = next((one for one in verdicts if one.failure.kind != "transient"), verdicts[0])
    certain = all(one.certainty == "it raised" for one in verdicts)
    retry_after = max(one.retry_after or 0.0 for one in verdicts)
    return Verdict(first.failure, "it raised" if certain else "unknown", retry_after or None)


def _verdict(kind: FailureKind, error: BaseException, certainty: Certainty, retry_after: object = None) -> Verdict:
    if isinstance(error, ChargehandError):
        failure = Failure(kind=kind, message=_clean(error.message), hint=_clean(error.hint))
    else:
        failure = Failure(kind=kind, message=_said(error))
    asked = float(retry_after) if isinstance(retry_after, int | float) and retry_after >= 0 else None
    return Verdict(failure, certainty, asked)


def _said(error: BaseException) -> str:
    """The name of an exception and its message, unless one says the other."""
    name = type(error).__name__
    try:
        message = str(error).strip()
    except Exception:
        message = "its message cannot be read"
    return _clean(message if name in message else f"{name}: {message}" if message else name)


def _clean(text: object) -> str:
    """Text that a journal can hold."""
    return str(text)[:MAX_MESSAGE].replace("\0", "").encode(errors="replace").decode()
