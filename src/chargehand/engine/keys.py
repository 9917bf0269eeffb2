"""Keys: the identity of an action, minted by the runtime so that no model can vary it."""

from chargehand.domain.canonical import digest
from chargehand.domain.state import Job, State


def action_key(state: State, job: Job, tool: str, arguments: object) -> str:
    """The same for every attempt at the same action, in the run and in its forks; different for another one.

    An item of an `each` counts by its value and by how often that value came before it, not by its place in the list.
    """
    items = [other.value for other in state.steps[job.step].jobs[: job.item]]
    occurrence = sum(digest(value) == digest(job.value) for value in items)
    return digest([state.origin, job.step, digest(job.value), occurrence, tool, arguments])
