"""What a plan names and brings along: tools, skills, sub-goals, schemas, inputs."""

from collections.abc import Iterator

from chargehand.checking.view import View
from chargehand.domain import schemas
from chargehand.domain.diagnostics import Diagnostic, Path, did_you_mean, finding
from chargehand.domain.inputs import Input
from chargehand.domain.plan import Ask, Pursue, Use
from chargehand.errors import BadSchema


def check_actions(view: View) -> Iterator[Diagnostic]:
    """Every tool, skill and sub-goal is known."""
    for step in view.plan.steps:
        match step.action:
            case Use(tool=tool) if tool not in view.catalog.tools:
                hint = did_you_mean(tool, view.catalog.tools) or "No tools are known here: was the right app given?"
                message = f"step {step.id!r} uses the tool {tool!r}: no such tool"
                yield finding("CH201", view.path(step, "use"), message, step=step.id, hint=hint)
            case Ask(skill=skill) if skill not in view.catalog.skills:
                near = did_you_mean(skill, view.catalog.skills)
                hint = near or "No agents are known here: give Chargehand(agents=[…])."
                message = f"step {step.id!r} asks for the skill {skill!r}: nobody has it"
                yield finding("CH202", view.path(step, "ask"), message, step=step.id, hint=hint)
            case Pursue(goal=goal) if view.sub_goal(step) is None:
                hint = "Give the goal in the words of a playbook: `chargehand playbooks` lists them."
                message = f"step {step.id!r} pursues {goal!r}, which no playbook answers"
                yield finding("CH203", view.path(step, "goal"), message, step=step.id, hint=hint)
            case _:
                pass


def check_schemas(view: View) -> Iterator[Diagnostic]:
    """The schemas that a plan brings along can be used."""
    for step in view.plan.steps:
        if step.returns is not None:
            try:
                schemas.vet_schema(step.returns)
            except BadSchema as error:
                message = f"step {step.id!r}: `returns` is {error.message}"
                yield finding("CH209", view.path(step, "returns"), message, step=step.id, hint=error.hint)


def check_inputs(view: View) -> Iterator[Diagnostic]:
    """The values and defaults of inputs are of their types."""
    for name, input in view.plan.inputs.items():
        path: Path = ("inputs", name)
        try:
            schemas.vet_schema(input.schema)
        except BadSchema as error:
            message = f"input {name!r}: the schema is {error.message}"
            yield finding("CH209", (*path, "schema"), message, hint=error.hint)
            continue
        yield from _check_value("CH206", input, input.value, (*path, "value"), f"the value of input {name!r}")
        if input.form is not None or input.type not in ("date", "time", "moment"):
            # dates in words are read when a goal comes
            yield from _check_value("CH603", input, input.default, (*path, "default"), f"the default of input {name!r}")


def _check_value(code: str, input: Input, value: object, path: Path, what: str) -> Iterator[Diagnostic]:
    if value is None:
        return
    for violation in schemas.violations(input.schema, input.given(value).value):
        message = f"{what} does not fit: {violation.message}"
        yield finding(code, (*path, *violation.path), message, hint=violation.hint)
