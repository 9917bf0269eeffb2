"""Expressions in plans: CEL, typed when checked and dynamic when run.

`Expression.parse` reads one, `.names` says what it refers to, `.evaluate` gives its value. Only `cel`
knows the library underneath.
"""

from chargehand.domain.expressions.expression import UNREADABLE, Expression
from chargehand.domain.expressions.words import RESERVED

__all__ = ["RESERVED", "UNREADABLE", "Expression"]
