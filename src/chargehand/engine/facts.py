"""Facts about a plan that its run pins when it begins: who waits for whom, and what its tools do."""

from chargehand.catalog.catalog import Catalog
from chargehand.domain.events import StepFacts, ToolFacts
from chargehand.domain.plan import Plan, Step, Use


def step_facts(plan: Plan) -> dict[str, StepFacts]:
    return {step.id: _step_facts(step, plan) for step in plan.steps}


def _step_facts(step: Step, plan: Plan) -> StepFacts:
    return StepFacts(
        needs=tuple(sorted(plan.needs(step))),
        refers_to=tuple(sorted((step.refers_to - {*step.maybe}) & plan.by_id.keys())),
        tool=step.action.tool if isinstance(step.action, Use) else None,
        if_fails=step.if_fails,
    )


def tool_facts(plan: Plan, catalog: Catalog) -> dict[str, ToolFacts]:
    """What is known of every tool that the plan may use, stand-ins included."""
    named = [step.action.tool for step in plan.steps if isinstance(step.action, Use)]
    names = {provider.name for name in named for provider in catalog.providers.get(name, ())}
    return {name: _tool_facts(name, catalog) for name in sorted(names)}


def _tool_facts(name: str, catalog: Catalog) -> ToolFacts:
    tool = catalog.tools[name]
    return ToolFacts(
        effect=tool.effect,
        form=tool.signature.form,
        idempotent=tool.idempotent,
        tries=tool.tries,
        timeout=tool.timeout,
        providers=tuple(provider.name for provider in catalog.providers[name]),
        probe=tool.probe.name if tool.probe else None,
        settles_within=tool.settles_within,
    )
