"""What is known and planned, as a person reads it."""

from collections.abc import Iterator

from chargehand.catalog.tools import AnyTool
from chargehand.cli.screen import bold, columns, dim, flat, green, inert, red, yellow
from chargehand.domain.plan import Ask, Plan, Pursue, Step, Use
from chargehand.domain.shapes import describe
from chargehand.domain.text import to_yaml
from chargehand.domain.values import write
from chargehand.planning.matching import Planned
from chargehand.planning.playbooks import Playbook
from chargehand.runtime import Chargehand

_PAINT = {"read": green, "write": yellow, "irreversible": red}


def show_planned(planned: Planned, desk: Chargehand) -> Iterator[str]:
    """A plan, and why it is this one."""
    plan, match = planned.plan, planned.match
    yield from _section("Goal", [flat(plan.goal)])
    yield from _section("Playbook", [f"{flat(match.playbook.name)}  {dim(inert(f'matched {match.pattern.text!r}'))}"])
    rows = [
        (flat(name), flat(str(input.value)), dim(flat(planned.sources[name]))) for name, input in plan.inputs.items()
    ]
    yield from _section("Inputs", columns(rows))
    yield from show_steps(plan, desk)
    ways = [f"{number}. {flat(way.because)}" for number, way in enumerate(match.playbook.revisions, 1)]
    yield from _section("Revisions", ways)


def show_steps(plan: Plan, desk: Chargehand) -> Iterator[str]:
    """The steps of a plan: what each does, what it waits for, what it does to the world."""
    rows = [(flat(step.id), flat(_action(step)), _effect(step, desk), _notes(step, plan)) for step in plan.steps]
    yield from _section("Steps", columns(rows))
    if plan.answer is not None:
        yield from _section("Answer", inert(to_yaml(write(plan.answer))).rstrip("\n").split("\n"))


def _action(step: Step) -> str:
    match step.action:
        case Use(tool=tool):
            return f"use {tool}"
        case Ask(skill=skill):
            return f"ask {skill}"
        case Pursue(goal=goal):
            return f"goal {goal}"


def _effect(step: Step, desk: Chargehand) -> str:
    tool = desk.catalog.tools.get(step.action.tool) if isinstance(step.action, Use) else None
    return _PAINT[tool.effect](tool.effect) if tool else ""


def _notes(step: Step, plan: Plan) -> str:
    needs = [other.id for other in plan.steps if other.id in plan.needs(step)]
    notes = [f"← {', '.join(needs)}"] if needs else []
    notes += [f"each {step.each.text}"] if step.each else []
    notes += [f"when {step.when.text}"] if step.when else []
    notes += [f"{len(step.expect)} check{'s' if len(step.expect) > 1 else ''}"] if step.expect else []
    return dim(flat("; ".join(notes)))


def show_tools(desk: Chargehand) -> Iterator[str]:
    """The tools of an application."""
    for name, tool in desk.catalog.tools.items():
        yield f"{bold(flat(_signature(tool)))}  {_PAINT[tool.effect](tool.effect)}"
        if tool.description:
            yield f"    {inert(tool.description.splitlines()[0])}"
        stand_ins = [other.name for other in desk.catalog.providers[name] if other is not tool]
        facts = [f"stand-ins: {', '.join(stand_ins)}"] if stand_ins else []
        facts += [f"undo: {tool.undo.name}"] if tool.undo else []
        facts += [f"probe: {tool.probe.name}"] if tool.probe else []
        facts += [f"control: {', '.join(tool.control)}"] if tool.control else []
        facts += [f"costs {tool.cost:g} USD"] if tool.cost else []
        if facts:
            yield f"    {dim(flat('; '.join(facts)))}"


def _signature(tool: AnyTool) -> str:
    required = tool.signature.required
    parameters = (
        f"{name}{'' if name in required else '?'}: {describe(shape)}"
        for name, shape in tool.signature.parameters.items()
    )
    return f"{tool.name}({', '.join(parameters)}) → {describe(tool.signature.output)}"


def show_playbooks(desk: Chargehand) -> Iterator[str]:
    """The playbooks of an application, with the goals that each answers."""
    for playbook in desk.playbooks:
        yield f"{bold(flat(playbook.name))}  {flat(playbook.description)}"
        yield from (f"    {flat(pattern.text)}" for pattern in playbook.patterns)
        inputs = [_input(name, playbook) for name in playbook.plan.inputs]
        if inputs:
            yield f"    {dim('inputs: ' + flat(', '.join(inputs)))}"


def _input(name: str, playbook: Playbook) -> str:
    input = playbook.plan.inputs[name]
    kind = input.type if input.form is None else "schema"
    return f"{name}: {kind}" + (f" = {input.default}" if input.default is not None else "")


def _section(title: str, lines: list[str]) -> Iterator[str]:
    for number, line in enumerate(lines):
        yield f"{bold(title) + ' ' * (11 - len(title)) if number == 0 else ' ' * 11}{line}"
