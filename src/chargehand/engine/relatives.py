"""Relatives: the states of other runs, restored when an effect asks for them, and kept for a while."""

import threading

from chargehand.domain.events import decode_event
from chargehand.domain.fold import fold
from chargehand.domain.state import State
from chargehand.ports import Journal

MOST = 1_000  # states that are kept; of what is asked for again and again, only the new events are read


class Relatives(threading.local):
    """What other runs have on disk. Each thread keeps its own states: they change as their runs go on."""

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._known: dict[str, tuple[State, bytes]] = {}

    def state(self, run: str) -> State:
        """The state of a run as it stands on disk. Raises RunUnknown."""
        head = self._journal.head(run)
        state, chain = self._known.pop(run, (State(), b""))
        if chain != head.chain:
            events = self._journal.read(run, max(state.seq - 1, 0))
            if state.seq and events and events[0].chain == chain:
                events = events[1:]
            elif state.seq:  # it was deleted, and another one has its name
                state, events = State(), self._journal.read(run)
            for one in events:
                fold(state, decode_event(one.kind, one.body, self._journal.blob), one.at)
                chain = one.chain
        self._known[run] = state, chain
        if len(self._known) > MOST:
            del self._known[next(iter(self._known))]
        return state
