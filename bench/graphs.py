"""The shapes of work that every contestant is given: who waits for whom, and how long a step takes."""

import random
from collections.abc import Mapping
from dataclasses import dataclass

SHORTEST, LONGEST = 0.1, 0.5  # seconds of a timed step: what calls of services over a network take
DEEPEST, WIDEST = 6, 100  # layers of a timed graph, steps in its widest


@dataclass(frozen=True, slots=True)
class Graph:
    """Steps, in an order in which they could be done, each with the steps that it needs."""

    needs: Mapping[str, tuple[str, ...]]
    seconds: Mapping[str, float]

    @property
    def critical_path(self) -> float:
        """Seconds of the longest way through: nobody can be quicker."""
        ends: dict[str, float] = {}
        for step, needs in self.needs.items():
            ends[step] = self.seconds.get(step, 0.0) + max((ends[need] for need in needs), default=0.0)
        return max(ends.values())


def chain(steps: int) -> Graph:
    """Each step needs the one before."""
    return Graph({f"s{number}": (f"s{number - 1}",) if number else () for number in range(steps)}, {})


def fan(steps: int) -> Graph:
    """No step needs another."""
    return Graph({f"s{number}": () for number in range(steps)}, {})


def timed(seed: int) -> Graph:
    """A random graph: each step needs up to three of the layer before, and one layer is as wide as can be."""
    dice = random.Random(seed)
    widths = [dice.randint(1, WIDEST) for _ in range(DEEPEST)]
    widths[dice.randrange(DEEPEST)] = WIDEST
    needs: dict[str, tuple[str, ...]] = {}
    before: list[str] = []
    for width in widths:
        layer = [f"s{len(needs) + number}" for number in range(width)]
        for step in layer:
            needs[step] = tuple(dice.sample(before, min(len(before), dice.randint(1, 3))))
        before = layer
    return Graph(needs, {step: round(dice.uniform(SHORTEST, LONGEST), 3) for step in needs})
