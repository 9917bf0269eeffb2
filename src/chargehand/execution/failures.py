"""What an exception from a tool means: the kind of failure, and whether the tool may have acted."""

from dataclasses import dataclass
from typing import Any, Literal

from chargehand.domain.failure import FailureKind
from chargehand.domain.work import Failure
from chargehand.errors import BadValue, ChargehandError, NotPerformed, Transient, Unsupported

Certainty = Literal["nothing happened", "unknown", "it raised"]


@dataclass(frozen=True, slots=True)
class Verdict:
    """A failure, how sure we are that nothing happened, and when a service asks to be tried again."""

    failure: Failure
    certainty: Certainty
    retry_after: float | None = None


# Answers of a service that pass by themselves. After sending, none of them proves that nothing happened, except 429.
_PASSING = frozenset({408, 409, 425, 429, 500, 502, 503, 504})


def classify(error: BaseException) -> Verdict:
    """What an exception says. Nobody's word is taken for 'nothing happened' but the tool's own and a refused door."""
    match error:
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


def _verdict(
    kind: FailureKind, error: BaseException, certainty: Certainty, retry_after: float | None = None
) -> Verdict:
    if isinstance(error, ChargehandError):
        return Verdict(Failure(kind=kind, message=error.message, hint=error.hint), certainty, retry_after)
    message = str(error).strip() or type(error).__name__
    name = "" if type(error).__name__ in message else f"{type(error).__name__}: "
    return Verdict(Failure(kind=kind, message=f"{name}{message}"[:2000]), certainty, retry_after)
