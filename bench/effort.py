"""How much is measured: enough to believe, or enough to look."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Effort:
    rounds: int  # of what takes milliseconds
    few: int  # of what takes seconds
    runs: int  # at once
    parked: int
    graphs: int


FULL = Effort(rounds=15, few=3, runs=1_000, parked=10_000, graphs=3)
QUICK = Effort(rounds=3, few=1, runs=100, parked=1_000, graphs=1)
