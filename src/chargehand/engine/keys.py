"""Keys: the identity of an action, minted by the runtime so that no model can vary it."""

from collections import Counter
from collections.abc import Collection, Sequence

from chargehand.domain.canonical import digest
from chargehand.domain.state import Job, State

Identity = tuple[str, int]  # of an item: its value's hash, and how often that value came before it
ALONE: Identity = ("", 0)


def identities(jobs: Sequence[Job]) -> list[Identity]:
    """The identities of the items of an `each`: by value and occurrence, not by their place in the list."""
    seen = Counter[str]()
    found: list[Identity] = []
    for job in jobs:
        hash = digest(job.value)
        found.append((hash, seen[hash]))
        seen[hash] += 1
    return found


def action_of(tool: str, arguments: object) -> str:
    """What is done, wherever it is done: a tool and its arguments."""
    return digest([tool, arguments])


def action_key(state: State, job: Job, action: str, identity: Identity, taken_back: Collection[str]) -> str:
    """The same for every attempt at the same action, in the run, in its forks and in other attempts at the same
    sub-goal; another one once the action was taken back, by whichever of them."""
    place = [state.origin, state.path, job.step, identity, action]
    key = digest(place)
    rounds = 0
    while key in taken_back:
        rounds += 1
        key = digest([*place, rounds])
    return key
