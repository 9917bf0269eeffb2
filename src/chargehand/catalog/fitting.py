"""Whether one tool's signature fits another's: for undo, probe and stand-ins. Each answer is a problem, or nothing."""

from collections.abc import Mapping

from chargehand.catalog.signatures import Signature
from chargehand.domain.shapes import Record, Shape, describe, either, fits, merged, without_null


def undo_problem(tool: Signature, undo: Signature) -> str:
    """An undo's parameters are filled by name from the output, else from the arguments."""
    output = merged(tool.output)
    fields = output.fields if isinstance(output, Record) else {}
    return _fill_problem({**tool.parameters, **fields}, undo, "the output or the arguments")


def probe_problem(tool: Signature, probe: Signature) -> str:
    """A probe takes arguments by name, and gives the tool's output or null."""
    problem = _fill_problem(tool.parameters, probe, "the arguments")
    if problem:
        return problem
    if fits(without_null(probe.output), tool.output) == "no":
        return f"it gives {describe(probe.output)}, and the tool {describe(tool.output)}"
    return ""


def stand_in_problem(tool: Signature, original: Signature) -> str:
    """A stand-in takes whatever the original may be given, and what it gives serves wherever the original's did."""
    for name, shape in original.parameters.items():
        if name not in tool.parameters:
            return f"it has no parameter {name!r}"
        if fits(shape, tool.parameters[name]) == "no":
            return f"its parameter {name!r} takes {describe(tool.parameters[name])}, not {describe(shape)}"
    extra = sorted(tool.required - original.required)
    if extra:
        return f"it needs the argument {extra[0]!r}, which a plan for the original need not give"
    if fits(tool.output, original.output) == "no":
        difference = _difference(tool.output, original.output)
        return f"it gives {describe(tool.output)}, and the original {describe(original.output)}{difference}"
    return ""


def _fill_problem(known: Mapping[str, Shape], filled: Signature, source: str) -> str:
    for name, shape in filled.parameters.items():
        if name not in known:
            if name in filled.required:
                return f"its parameter {name!r} is found neither in {source.replace(' or ', ' nor in ')}"
        elif fits(known[name], shape) == "no":
            return f"its parameter {name!r} takes {describe(shape)}, and gets {describe(known[name])}"
    return ""


def _difference(given: Shape, wanted: Shape) -> str:
    given, wanted = merged(either([given])), merged(either([wanted]))
    if isinstance(given, Record) and isinstance(wanted, Record):
        for name, shape in wanted.fields.items():
            if name not in given.fields:
                return f" (without the field {name!r})"
            if fits(given.fields[name], shape) == "no":
                return f" (its field {name!r} is {describe(given.fields[name])}, not {describe(shape)})"
    return ""
