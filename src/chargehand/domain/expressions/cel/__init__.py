"""The one package that knows Google's CEL library: text to tree, types to checks, expressions to values.

The library serialises a parsed expression as CEL's public `ParsedExpr` message. Reading that gives the exact syntax
tree, so names, paths and costs are never guessed from the wording of diagnostics. Importing this package loads a
large native library: import it where it is used.
"""

from chargehand.domain.expressions.cel.checking import DYN, CelType, Checked, Checker, Pick, list_of, map_of
from chargehand.domain.expressions.cel.running import Complaint, EvaluationFailed, Refused, parse, run

__all__ = [
    "DYN",
    "CelType",
    "Checked",
    "Checker",
    "Complaint",
    "EvaluationFailed",
    "Pick",
    "Refused",
    "list_of",
    "map_of",
    "parse",
    "run",
]
