"""The goal: what the user wants."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chargehand.domain.expressions import Expression
from chargehand.errors import ExpressionError


@dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """A goal in words, what it is told, and what its answer must satisfy.

    expect: expressions over `answer` and `inputs`; a run whose answer does not satisfy them has failed.
    all_or_nothing: if the goal cannot be reached, what was done is undone, whatever its plan says.
    """

    text: str
    inputs: Mapping[str, object] = field(default_factory=dict[str, object])
    expect: tuple[str, ...] = ()
    all_or_nothing: bool = False

    @property
    def checks(self) -> tuple[Expression, ...]:
        """What is expected of the answer; raises ExpressionError for what cannot be read or is about something else."""
        checks = tuple(Expression.parse(text) for text in self.expect)
        for check in checks:
            for name in sorted(check.names - {"answer", "inputs"}):
                hint = "What a goal expects is said about its `answer` and its `inputs`."
                raise ExpressionError(f"`{check.text}` refers to {name!r}, which no goal has", hint=hint)
        return checks
