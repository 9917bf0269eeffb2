"""Health: a tool that keeps failing is benched for a while, across all runs of a process."""

from dataclasses import dataclass, field

FAILURES = 5  # in a row, before a tool is benched
BENCH = 30.0  # seconds on the bench; then one call shows whether it is well again


@dataclass(slots=True)
class Health:
    """Failures in a row, and until when each tool is benched."""

    _failures: dict[str, int] = field(default_factory=dict[str, int])
    _until: dict[str, float] = field(default_factory=dict[str, float])

    def benched(self, now: float) -> frozenset[str]:
        return frozenset(tool for tool, until in self._until.items() if until > now) if self._until else frozenset()

    def well(self, tool: str) -> None:
        if self._failures.pop(tool, None):
            self._until.pop(tool, None)

    def ill(self, tool: str, now: float) -> None:
        self._failures[tool] = self._failures.get(tool, 0) + 1
        if self._failures[tool] >= FAILURES:
            self._until[tool] = now + BENCH
