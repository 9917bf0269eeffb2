"""Arguments and results at the boundary: validated, made canonical, and checked; the evidence is kept."""

import copy
import math
from collections.abc import Mapping, Sequence
from typing import Any, cast

from pydantic import ValidationError

from chargehand.catalog.signatures import Signature
from chargehand.domain.canonical import canonical
from chargehand.domain.expressions import Expression
from chargehand.domain.text import MAX_DEPTH
from chargehand.domain.work import Evidence
from chargehand.errors import BadValue, ExpressionError


def typed_arguments(signature: Signature, arguments: Mapping[str, Any]) -> dict[str, Any]:
    """Plain arguments as the function's own types; raises BadValue that names the parameter.

    They are the tool's to change: nothing in them is shared with the run, or with another call.
    """
    try:
        made = signature.arguments.validate_python(_fresh(arguments))
    except ValidationError as error:
        raise BadValue(f"the arguments do not fit: {_first(error)}") from None
    except Exception as error:  # a validator of the application's own
        raise BadValue(f"the arguments do not fit: {_shown(error)}") from None
    return {name: _own(getattr(made, name), name in arguments) for name in signature.parameters}


def _fresh(value: Any) -> Any:
    """A plain value, copied through and through."""
    if isinstance(value, Mapping):
        return {key: _fresh(inner) for key, inner in cast(Mapping[Any, Any], value).items()}
    if isinstance(value, list):
        return [_fresh(inner) for inner in cast(list[Any], value)]
    return value


def _own(value: Any, given: bool) -> Any:
    """A default that can be changed is the same object in each call."""
    return value if given or type(value).__hash__ is not None else copy.deepcopy(value)


def plain_result(signature: Signature, result: Any) -> Any:
    """A result as the journal keeps it; raises BadValue if it is not what the tool promised."""
    try:
        _refuse_infinity(result, 0)
        made = signature.result.validate_python(result)
        dumped = signature.result.dump_python(made, mode="json", warnings="error")
    except BadValue:
        raise
    except ValidationError as error:
        raise BadValue(f"the result is not what the tool promises: {_first(error)}") from None
    except Exception as error:  # a serializer of the application's own may raise anything
        raise BadValue(f"the result has no form in JSON: {_shown(error)}") from None
    return canonical(dumped)


def _refuse_infinity(value: Any, depth: int) -> None:
    """Pydantic would write NaN as null where a type says nothing about it."""
    if isinstance(value, float) and not math.isfinite(value):
        raise BadValue(f"the result holds {value}, which JSON does not know", hint="Give null or text instead.")
    if isinstance(value, dict | list | tuple) and depth < MAX_DEPTH:
        items = cast(dict[Any, Any], value).values() if isinstance(value, dict) else cast(list[Any], value)
        for item in items:
            _refuse_infinity(item, depth + 1)


def examine(checks: Sequence[Expression], scope: Mapping[str, Any]) -> tuple[Evidence, ...]:
    """Every check on a result, and what it gave. A check that cannot be evaluated does not hold."""
    return tuple(_examine(check, scope) for check in checks)


def _examine(check: Expression, scope: Mapping[str, Any]) -> Evidence:
    try:
        return Evidence(check=check.text, held=check.holds(scope))
    except ExpressionError as error:
        return Evidence(check=check.text, held=False, problem=error.message)


def _shown(error: Exception) -> str:
    name = "" if isinstance(error, ValueError) else f"{type(error).__name__}: "
    return f"{name}{error}".splitlines()[0][:200]


def _first(error: ValidationError) -> str:
    problem = error.errors(include_url=False, include_input=False)[0]
    place = ".".join(str(part) for part in cast(tuple[Any, ...], problem["loc"]))
    return f"{place}: {problem['msg']}" if place else problem["msg"]
