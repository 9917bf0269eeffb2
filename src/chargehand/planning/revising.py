"""Ways around a failure: a playbook's revisions, tried in order, each once, each checked as the plan it makes."""

from collections.abc import Callable, Collection

from chargehand.domain.patch import Revised, apply
from chargehand.domain.plan import Plan
from chargehand.domain.work import Failure
from chargehand.errors import ExpressionError, PatchRefused
from chargehand.planning.playbooks import Playbook

Sound = Callable[[Plan], bool]


def revise(
    playbook: Playbook,
    plan: Plan,
    step: str,
    failure: Failure,
    used: Collection[int],
    settled: Collection[str],
    sound: Sound,
) -> Revised | None:
    """The first rung that has not been used, whose condition holds, and whose plan is sound; None if there is none."""
    inputs = {name: input.value for name, input in plan.inputs.items()}
    facts = {"step": step, "kind": failure.kind, "message": failure.message, "revision": plan.revision}
    for rung, revision in enumerate(playbook.revisions):
        if rung in used:
            continue
        try:
            if not revision.when.holds({"failure": facts, "inputs": inputs}):
                continue
            revised = apply(plan, revision.patch, settled)
        except (ExpressionError, PatchRefused):
            continue  # it does not fit as things are now; the next one may
        if sound(revised):
            return Revised(plan=revised, rung=rung, because=revision.because)
    return None
