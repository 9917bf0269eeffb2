"""Patches: a change of the pending steps of a plan, applied and compared by pure functions."""

from collections.abc import Collection
from dataclasses import dataclass, replace

from chargehand.domain.diagnostics import did_you_mean
from chargehand.domain.plan import Plan, Step
from chargehand.domain.values import Value
from chargehand.errors import PatchRefused


@dataclass(frozen=True, slots=True, kw_only=True)
class Patch:
    """Steps to add, to put in the place of pending ones, and to drop; and a new answer, where it changes."""

    add: tuple[Step, ...] = ()
    replace: tuple[Step, ...] = ()
    drop: tuple[str, ...] = ()
    answer: Value | None = None

    def __bool__(self) -> bool:
        return bool(self.add or self.replace or self.drop or self.answer is not None)

    def render(self) -> str:
        """The patch as a person reads it: + for new, ~ for changed, - for dropped."""
        from chargehand.domain.writing import write_patch

        return write_patch(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Revised:
    """The next revision of a plan: which rung of its playbook's ladder made it, and why."""

    plan: Plan
    rung: int
    because: str


def apply(plan: Plan, patch: Patch, settled: Collection[str] = ()) -> Plan:
    """The next revision of a plan. `settled` steps (finished or running) cannot change; raises PatchRefused."""
    replaced, dropped = {step.id: step for step in patch.replace}, set(patch.drop)
    _each_once(patch)
    for verb, ids in (("replaces", replaced.keys()), ("drops", dropped)):
        for id in sorted(ids):
            if id not in plan.by_id:
                hint = did_you_mean(id, plan.by_id)
                raise PatchRefused(f"the patch {verb} step {id!r}, which the plan does not have", hint=hint)
            if id in settled:
                hint = "Finished and running steps cannot change: add a new step instead."
                raise PatchRefused(f"the patch {verb} step {id!r}, which is finished or running", hint=hint)
    for step in patch.add:
        if step.id in plan.by_id and step.id not in dropped:
            hint = "Use `replace` to change a pending step, or give the new one another id."
            raise PatchRefused(f"the patch adds step {step.id!r}, which the plan already has", hint=hint)
    kept = tuple(replaced.get(step.id, step) for step in plan.steps if step.id not in dropped)
    answer = plan.answer if patch.answer is None else patch.answer
    return replace(plan, steps=(*kept, *patch.add), answer=answer, revision=plan.revision + 1)


def _each_once(patch: Patch) -> None:
    ids = [step.id for step in (*patch.add, *patch.replace)]
    twice = sorted({id for id in ids if ids.count(id) > 1} | {s.id for s in patch.replace if s.id in patch.drop})
    if twice:
        raise PatchRefused(f"the patch says two things about step {twice[0]!r}", hint="Say one: add, replace or drop.")


def difference(old: Plan, new: Plan) -> Patch:
    """The patch that leads from one plan to another; empty if they have the same steps and answer."""
    return Patch(
        add=tuple(step for step in new.steps if step.id not in old.by_id),
        replace=tuple(step for step in new.steps if step.id in old.by_id and step != old.by_id[step.id]),
        drop=tuple(step.id for step in old.steps if step.id not in new.by_id),
        answer=new.answer if new.answer != old.answer else None,
    )
