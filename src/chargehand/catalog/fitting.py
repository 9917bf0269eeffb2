"""Whether one tool's signature fits another's: for undo, probe and stand-ins. Each answer is a problem, or nothing.

Nothing is left to chance here: what fits only sometimes does not fit.
"""

from collections.abc import Mapping

from chargehand.catalog.signatures import Signature
from chargehand.domain.shapes import Record, Shape, describe, either, fits, may_be_null, merged, without_null


def undo_problem(tool: Signature, undo: Signature) -> str:
    """An undo's parameters are filled by name from the output, else from the arguments."""
    output = merged(tool.output)
    fields = output.fields if isinstance(output, Record) else {}
    certain = output.required if isinstance(output, Record) and not may_be_null(tool.output) else frozenset[str]()
    known = dict(tool.parameters)
    for name, shape in fields.items():
        if name in certain or name not in known:
            known[name] = shape
        else:
            known[name] = either([shape, known[name]])  # from the one or the other
    problem = _fill_problem(known, undo, "the output or the arguments")
    absent = [name for name in fields if name not in certain and name in undo.required - tool.parameters.keys()]
    if absent and not problem:
        return f"its parameter {absent[0]!r} is taken from the output, where it may be missing"
    return problem


def probe_problem(tool: Signature, probe: Signature) -> str:
    """A probe takes arguments by name, and gives the tool's output or null."""
    problem = _fill_problem(tool.parameters, probe, "the arguments")
    if problem:
        return problem
    if fits(without_null(probe.output), tool.output) != "yes":
        return f"it gives {describe(probe.output)}, and the tool {describe(tool.output)}"
    return ""


def stand_in_problem(tool: Signature, original: Signature) -> str:
    """A stand-in takes whatever the original may be given, and what it gives serves wherever the original's did."""
    for name, shape in original.parameters.items():
        if name not in tool.parameters:
            return f"it has no parameter {name!r}"
        if fits(shape, tool.parameters[name]) != "yes":
            return f"its parameter {name!r} takes {describe(tool.parameters[name])}, not {describe(shape)}"
    extra = sorted(tool.required - original.required)
    if extra:
        return f"it needs the argument {extra[0]!r}, which a plan for the original need not give"
    if fits(tool.output, original.output) != "yes":
        difference = _difference(tool.output, original.output)
        return f"it gives {describe(tool.output)}, and the original {describe(original.output)}{difference}"
    return ""


def _fill_problem(known: Mapping[str, Shape], filled: Signature, source: str) -> str:
    for name, shape in filled.parameters.items():
        if name not in known:
            if name in filled.required:
                return f"its parameter {name!r} is found neither in {source.replace(' or ', ' nor in ')}"
        elif fits(known[name], shape) != "yes":
            return f"its parameter {name!r} takes {describe(shape)}, and gets {describe(known[name])}"
    return ""


def _difference(given: Shape, wanted: Shape) -> str:
    given, wanted = merged(either([given])), merged(either([wanted]))
    if isinstance(given, Record) and isinstance(wanted, Record):
        for name, shape in wanted.fields.items():
            if name not in given.fields:
                return f" (without the field {name!r})"
            if fits(given.fields[name], shape) != "yes":
                return f" (its field {name!r} is {describe(given.fields[name])}, not {describe(shape)})"
    return ""
