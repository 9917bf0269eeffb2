"""The ledger of a run's family: what was done before, by another attempt, an earlier plan, a child or a fork.

Keys alone prevent repeated calls; this prevents repeated effects.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from chargehand.domain.state import Deed, State
from chargehand.engine.relatives import Relatives
from chargehand.errors import RunUnknown
from chargehand.ports import Journal


@dataclass(frozen=True, slots=True)
class Found:
    """The same action, done or attempted before, and the run that did it."""

    run: str
    deed: Deed


class Ledger:
    """Looks for an action among all runs of one origin."""

    def __init__(self, run: str, state: State, journal: Journal, relatives: Relatives) -> None:
        self._run, self._state, self._journal, self._relatives = run, state, journal, relatives

    def search(self, action: str, key: str, compensates: bool = False) -> Found | None:
        """Who did the same before: at the same place (any attempt, any fork), or at a place that no plan has any
        more. The same action at another place of the plan is meant; taking back is always meant."""
        mine = self._state.deeds.get(key)
        if mine is not None and mine.status == "done":
            return Found(self._run, mine)
        others = self._others(action)
        if not others and not self._state.left_behind:
            return None
        family = self._restored({self._run, *others})
        found = [*self._at_the_same_place(family, key)]
        if not compensates:
            found += self._left_behind(family, action, key)
        if mine is not None and mine.denied:  # it was said here that it did not happen, so a doubt elsewhere is none
            found = [one for one in found if one.deed.status == "done"]
        return min(found, key=lambda one: one.deed.status != "done", default=None)

    def taken_back(self, action: str) -> frozenset[str]:
        """The keys of an action that some run of the family has undone."""
        others = self._others(action)
        if not others and self._state.undoing == "no":
            return frozenset()
        family = self._restored({self._run, *others})
        deeds = (deed for state in family.values() for deed in state.deeds.values())
        return frozenset(deed.key for deed in deeds if deed.action == action and deed.status == "undone")

    def _others(self, action: str) -> set[str]:
        """The other runs of the family that have done or attempted the action."""
        return {run for run, _ in self._journal.intents(self._state.origin, action, besides=self._run)}

    def _restored(self, runs: set[str]) -> dict[str, State]:
        return {run: self._restore(run) for run in sorted(runs)}

    def _restore(self, run: str) -> State:
        return self._state if run == self._run else self._relatives.state(run)

    def _at_the_same_place(self, family: dict[str, State], key: str) -> Iterator[Found]:
        for run, state in family.items():
            deed = state.deeds.get(key)
            if run != self._run and deed is not None and _counts(deed):
                yield Found(run, deed)

    def _left_behind(self, family: dict[str, State], action: str, key: str) -> Iterator[Found]:
        """What a step did that no plan has any more, or a child that no step waits for. One step may take it over."""
        left: list[Found] = []
        taken: set[str] = set()
        wanted = _Wanted(self._restore)
        for run, state in family.items():
            if _root(run) != _root(self._run):
                continue
            for deed in state.deeds.values():
                if deed.action != action or deed.key == key or not _counts(deed) or _compensates(state, deed):
                    continue
                if state.current(deed) and wanted.run(run, state):
                    taken.add(deed.source or deed.key)
                else:
                    left.append(Found(run, deed))
        for one in left:
            if one.deed.status != "done" or (one.deed.source or one.deed.key) not in taken:
                yield one


class _Wanted:
    """Which runs are still the child that a step waits for, and so on up to the first ancestor."""

    def __init__(self, restore: Callable[[str], State]) -> None:
        self._restore = restore
        self._children: dict[str, set[str | None]] = {}
        self._known: dict[str, bool] = {}

    def run(self, run: str, state: State) -> bool:
        if run not in self._known:
            self._known[run] = self._find(run, state)
        return self._known[run]

    def _find(self, run: str, state: State) -> bool:
        if state.parent is None:
            return True
        try:
            above = self._restore(state.parent)
        except RunUnknown:  # it was imported without the runs above it
            return True
        if state.parent not in self._children:
            self._children[state.parent] = {job.child for step in above.steps.values() for job in step.jobs}
        return run in self._children[state.parent] and self.run(state.parent, above)


def _counts(deed: Deed) -> bool:
    return deed.status not in ("void", "undone")


def _compensates(state: State, deed: Deed) -> bool:
    step = state.steps.get(deed.step)
    return step is not None and step.undoes is not None


def _root(run: str) -> str:
    """The run that all others of a tree stand below; a fork is a tree of its own."""
    return run.partition("/")[0]
