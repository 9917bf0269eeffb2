"""The goal: what the user wants."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from chargehand.domain.expressions import Expression


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
        """What is expected of the answer; raises ExpressionError for what cannot be read."""
        return tuple(Expression.parse(text) for text in self.expect)
