"""Expressions that are more than paths: typed by the expression library, and its complaints in our words."""

import re
from collections.abc import Iterator, Mapping

from chargehand.checking.messages import Messages
from chargehand.checking.paths import Trouble, Typed, walk_path
from chargehand.domain.diagnostics import did_you_mean
from chargehand.domain.expressions.cel import DYN, CelType, Checker, Complaint, Pick, Refused, list_of, map_of
from chargehand.domain.shapes import ANYTHING, Many, Record, Shape, Table, Truth, describe


class LibraryChecker:
    """Types expressions over variables of known shapes. Making one takes about as long as twenty checks."""

    def __init__(self, shapes: Mapping[str, Shape]) -> None:
        self._messages = Messages()
        variables = {name: self._messages.type_of(shape) for name, shape in shapes.items()}
        self._checker = Checker(self._messages.fields, variables, self._overloads())

    def _overloads(self) -> dict[str, list[tuple[tuple[CelType, ...], CelType]]]:
        """Our own functions, once for each record that there is: the library has no type parameters for them."""
        text, moments = CelType("string"), {"date": "timestamp", "time": "duration"}
        records = [CelType(f"plan.{name}") for name in self._messages.fields] + [map_of(DYN)]
        one = [((list_of(record), text), record) for record in records]
        return {
            "min_by": one,
            "max_by": one,
            "sort_by": [((list_of(record), text), list_of(record)) for record in records],
            "sum": [((list_of(CelType(name)),), CelType("double")) for name in ("int", "double")],
            **{name: [((text,), CelType(gives))] for name, gives in moments.items()},
        }

    def check(self, text: str, rename: Mapping[str, str]) -> Typed:
        """The shape of an expression, in which some names stand for other variables."""
        try:
            checked = self._checker.check(text, rename)
        except Refused as error:
            causes = [complaint for complaint in error.complaints if "*error*" not in complaint.message]
            return Typed(troubles=tuple(self._trouble(complaint) for complaint in causes))
        troubles = tuple(self._pick_troubles(checked.picks))
        shape = self._messages.shape_of(checked.type)
        if shape is None:
            hint = "End it with .orValue(…)." if checked.type.name == "optional_type" else "Use text: string(…)."
            kind = _UNUSABLE.get(checked.type.name, checked.type.name)
            message = f"it gives {kind}, which no step can be given"
            troubles = (*troubles, Trouble("CH207", message, hint, 0))
        return Typed(shape or ANYTHING, troubles)

    def _trouble(self, complaint: Complaint) -> Trouble:
        message, offset = complaint.message, complaint.offset
        if match := re.match(r"undefined field '(.*)' not found in struct '(.*)'", message):
            name, record = match.group(1), self._messages.records.get(match.group(2))
            fields = record.fields if record else {}
            what = f"{describe(record)} has no field {name!r}" if record else message
            return Trouble("CH303", what, did_you_mean(name, fields), offset + 1)
        if match := re.match(r"found no matching overload for '(.*)' applied to '\((.*)\)'", message, re.DOTALL):
            function, types = match.group(1), self._messages.described(match.group(2))
            said = f"{_operation(function)} cannot be applied to ({types})"
            return Trouble("CH304", said, _hint(function, types), offset)
        if match := re.match(r"type '(.*)' does not support field selection", message):
            hint = "Lists are looked into with [0], .map(x, …) or `each`." if "list" in match.group(1) else ""
            return Trouble("CH303", f"{self._messages.described(match.group(1))} has no fields", hint, offset)
        if match := re.match(r"undeclared reference to '([^']*)'", message):
            said = f"{match.group(1)}() is not used like this"
            return Trouble("CH304", said, "Look at the number of its arguments.", offset)
        return Trouble("CH304", self._messages.described(message), "", offset)

    def _pick_troubles(self, picks: tuple[Pick, ...]) -> Iterator[Trouble]:
        for pick in picks:
            shape = self._messages.shape_of(pick.over)
            if not isinstance(shape, Many):
                continue
            typed = walk_path(("item", *pick.field.split(".")), shape.item)
            for trouble in typed.troubles:
                message = trouble.message.replace("`item`", f"what {pick.function}() looks at")
                yield Trouble(trouble.code, message, trouble.hint, pick.offset)
            if not typed.troubles and isinstance(typed.shape, Record | Table | Many | Truth):
                message = f"{pick.function}() cannot order by {pick.field!r}, which is {describe(typed.shape)}"
                yield Trouble("CH304", message, "Name a field that holds a number or text.", pick.offset)


_UNUSABLE = {"optional_type": "an optional value", "type": "a type"}
_OPERATIONS = {"_?_:_": "? :", "_[_]": "[ ]", "@in": "in", "!_": "!", "-_": "-"}


def _operation(function: str) -> str:
    if function in _OPERATIONS:
        return _OPERATIONS[function]
    return function.strip("_") if function.startswith("_") else f"{function}()"


def _hint(function: str, types: str) -> str:
    if "double" in types and re.search(r"\bint\b", types):
        return "Write whole numbers with a decimal point beside numbers: 500.0; or convert with double(x)."
    if function == "_[_]" and "string" in types:
        return "Fields of a record are written with a dot: x.name."
    if function == "@in" and types.endswith("string"):
        return "Write text.contains(x)."
    if "string" in types and re.search(r"\b(moment|duration)\b", types):
        return "Read the text as well: date('2026-11-20'), time('17:00')."
    if "string" in types and re.search(r"\b(int|double)\b", types):
        return "Convert one of them: int(x), double(x) or string(x)."
    if function == "_?_:_" and "null" in types:
        return "Null beside another type needs dyn: x == null ? dyn(null) : x.name."
    if function == "_?_:_":
        return "The condition must be true or false, and both branches of one type."
    return ""
