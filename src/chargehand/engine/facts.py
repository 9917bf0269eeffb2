"""Facts about a plan that its run pins when it begins: who waits for whom, and what its tools do."""

from chargehand.catalog.catalog import Catalog
from chargehand.domain.events import StepFacts, ToolFacts
from chargehand.domain.plan import Plan, Step, Use
from chargehand.domain.values import ages


def step_facts(plan: Plan) -> dict[str, StepFacts]:
    return {step.id: _step_facts(step, plan) for step in plan.steps}


def _step_facts(step: Step, plan: Plan) -> StepFacts:
    return StepFacts(
        needs=tuple(sorted(plan.needs(step))),
        refers_to=tuple(sorted((step.refers_to - {*step.maybe}) & plan.by_id.keys())),
        tool=step.action.tool if isinstance(step.action, Use) else None,
        if_fails=step.if_fails,
        fresh={name: age for name, age in ages(step.arguments).items() if name in plan.by_id},
    )


def tool_facts(plan: Plan, catalog: Catalog) -> dict[str, ToolFacts]:
    """What is known of every tool that the plan may use, stand-ins included."""
    named = [step.action.tool for step in plan.steps if isinstance(step.action, Use)]
    names = {provider.name for name in named for provider in catalog.providers.get(name, ())}
    return {name: facts_of(name, catalog) for name in sorted(names)}


def facts_of(name: str, catalog: Catalog) -> ToolFacts:
    """What is known of a tool, be it only the undo of another one."""
    tool = catalog.known[name]
    return ToolFacts(
        effect=tool.effect,
        form=tool.signature.form,
        idempotent=tool.idempotent,
        tries=tool.tries,
        timeout=tool.timeout,
        providers=tuple(provider.name for provider in catalog.providers.get(name, (tool,))),
        probe=tool.probe.name if tool.probe else None,
        settles_within=tool.settles_within,
        undo=tool.undo.name if tool.undo else None,
        parallel=tool.parallel,
    )
