"""The ledger of a run's family: what was done before, by another attempt, an earlier plan, a child or a fork.

Keys alone prevent repeated calls; this prevents repeated effects.
"""

from collections.abc import Callable
from dataclasses import dataclass

from chargehand.domain.state import Deed, State
from chargehand.ports import Journal


@dataclass(frozen=True, slots=True)
class Found:
    """The same action, done or attempted before, and the run that did it."""

    run: str
    deed: Deed


class Ledger:
    """Looks for an action among all runs of one origin."""

    def __init__(self, run: str, state: State, journal: Journal, restore: Callable[[str], State]) -> None:
        self._run, self._state, self._journal, self._restore = run, state, journal, restore

    def search(self, action: str, key: str) -> Found | None:
        """Who did the same before: at the same place (any attempt, any fork), or at a place that no plan has any
        more. The same action at another place of the plan is meant."""
        mine = self._state.deeds.get(key)
        if mine is not None and mine.status == "done":
            return Found(self._run, mine)
        intents = self._journal.intents(self._state.origin, action)
        runs = [run for run, _ in intents]
        for run in dict.fromkeys(runs):
            if run == self._run and runs.count(run) == 1 and key in self._state.deeds:
                continue  # only the intent that is asked about
            state = self._state if run == self._run else self._restore(run)
            for deed in state.deeds.values():
                if deed.action == action and self._is_the_same(run, state, deed, key):
                    return Found(run, deed)
        return None

    def _is_the_same(self, run: str, state: State, deed: Deed, key: str) -> bool:
        if deed.status in ("void", "undone"):
            return False
        if deed.key == key:
            return run != self._run
        return self._root(run) == self._root(self._run) and not (state.current(deed) and self._is_wanted(run, state))

    def _root(self, run: str) -> str:
        parent = self._journal.head(run).parent
        return run if parent is None else self._root(parent)

    def _is_wanted(self, run: str, state: State) -> bool:
        """Whether a run is still the child that a step waits for, and so on up to the first ancestor."""
        if state.parent is None:
            return True
        above = self._state if state.parent == self._run else self._restore(state.parent)
        wanted = any(job.child == run for step in above.steps.values() for job in step.jobs)
        return wanted and self._is_wanted(state.parent, above)
