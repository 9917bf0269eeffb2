"""Reading and running expressions with the library."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache

from cel_expr_python import cel
from cel_expr_python.ext import ext_math, ext_optional, ext_strings
from google.protobuf.message import DecodeError

from chargehand.domain.expressions import functions
from chargehand.domain.expressions.cel import wire
from chargehand.domain.expressions.tree import Node


@dataclass(frozen=True, slots=True)
class Complaint:
    """One thing that the library's parser or checker did not like, at a character of the text."""

    offset: int
    message: str


class Refused(Exception):
    """The library refused an expression; `complaints` says why."""

    def __init__(self, complaints: Sequence[Complaint], *, too_deep: bool = False) -> None:
        super().__init__("; ".join(complaint.message for complaint in complaints))
        self.complaints = tuple(complaints)
        self.too_deep = too_deep


class EvaluationFailed(Exception):
    """The library could not evaluate an expression on the values that it was given."""


def parse(text: str) -> Node:
    """The tree of an expression. No name has to be declared."""
    try:
        return wire.read_tree(_compile_unchecked(text).serialize())
    except (DecodeError, RecursionError):  # protobuf carries 100 levels of messages, which is about 30 of a tree
        raise Refused([Complaint(0, "it nests too deep")], too_deep=True) from None


@lru_cache(maxsize=4096)  # a plan's expressions are few; the bound keeps a long-lived process small
def _compile_unchecked(text: str) -> cel.Expression:
    try:
        return _environment().compile(text, disable_check=True)
    except RuntimeError as error:
        found = complaints(str(error), text)
        raise Refused(found, too_deep="recursion" in found[0].message) from None


_KINDS = {
    "double": cel.Type.DOUBLE,
    "dyn": cel.Type.DYN,
    "duration": cel.Type.DURATION,
    "list": cel.Type.LIST,
    "string": cel.Type.STRING,
    "timestamp": cel.Type.TIMESTAMP,
}


@cache
def _environment() -> cel.Env:
    return cel.NewEnv(
        extensions=extensions(),
        functions=[
            cel.FunctionDecl(
                name,
                [
                    cel.Overload(
                        id=f"{name}_any",
                        parameters=[_KINDS[kind] for kind in kinds],
                        return_type=_KINDS[returns],
                        impl=function,
                    )
                ],
            )
            for name, (function, kinds, returns) in functions.TABLE.items()
            if name not in functions.WHOLE_LIST
        ],
    )


def extensions() -> list[cel.CelExtensionBase]:
    return [ext_strings.ExtStrings(), ext_math.ExtMath(), ext_optional.ExtOptional()]


_COMPLAINT = re.compile(r"ERROR: <input>:(\d+):(\d+): (.*?)(?=\n \||\nERROR:|\Z)", re.DOTALL)


def complaints(report: str, text: str) -> list[Complaint]:
    lines = text.split("\n")
    found: list[Complaint] = []
    for line, column, message in _COMPLAINT.findall(report):
        before = sum(len(earlier) + 1 for earlier in lines[: int(line) - 1])
        found.append(Complaint(min(before + int(column) - 1, len(text)), message.strip()))
    return found or [Complaint(0, report.removesuffix(" [INVALID_ARGUMENT]").removeprefix("INVALID_ARGUMENT: "))]


def run(text: str, scope: Mapping[str, object]) -> object:
    """The plain value of an expression on plain values (maps, lists, text, numbers, null)."""
    try:
        value = _compile_unchecked(text).eval(data=scope)
    except RuntimeError as error:  # the iteration budget, text that is no Unicode
        raise EvaluationFailed(_tidy(str(error))) from None
    except MemoryError:
        raise EvaluationFailed("it needs more memory than there is") from None
    if value.type() == cel.Type.ERROR:
        raise EvaluationFailed(_tidy(str(value)))
    return _plain(value)


def _plain(value: cel.Value) -> object:
    """The Python value. The library's own conversion loses a reference to None for each null (0.1.3), so it is not
    asked for nulls, nor for what contains them."""
    kind = value.type().name()
    if kind == "NULL":
        return None
    if kind.startswith("LIST"):
        return [_plain(item) for item in value.value()]
    if kind.startswith("MAP"):
        return {key: _plain(item) for key, item in value.value().items()}
    try:
        return value.value()
    except (TypeError, SystemError):  # an optional that was not opened: it has no Python form
        raise EvaluationFailed(f"it gives {kind.lower()}, which no plan can hold") from None


_STATUS = re.compile(r"^[A-Z_]+: (.*?)(?: \[[A-Z_]+\])?$", re.DOTALL)


_CLEARER = [
    (re.compile(r'No value with name "(\w+)" found in Activation'), "it is not known here"),
    (re.compile(r"No matching overloads found : (.*)", re.DOTALL), r"these types do not go together: \1"),
    (re.compile(r"Index error: index=(-?\d+) size=(\d+)"), r"there is no item \1; the list has \2 items"),
    (re.compile(r'Key not found in map : "(.*)"'), r"there is no field '\1'"),
    (re.compile(r"Applying SELECT to non-message type"), "it has no fields"),
    (re.compile(r"int64"), "int"),
]


def _tidy(message: str) -> str:
    match = _STATUS.match(message)
    message = match.group(1) if match else message
    for unclear, clear in _CLEARER:
        message = unclear.sub(clear, message)
    return message
