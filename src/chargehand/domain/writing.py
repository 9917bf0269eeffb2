"""Writing plans down: as plain values, as YAML that reads back the same, and patches as a person reads them."""

from typing import Any

from chargehand.domain.inputs import Input
from chargehand.domain.patch import Patch
from chargehand.domain.plan import Ask, Plan, Pursue, Step, Use
from chargehand.domain.text import to_yaml
from chargehand.domain.values import write


def write_plan(plan: Plan) -> dict[str, object]:
    """A plan as plain values, without what is left at its default."""
    return _filled(
        {
            "goal": plan.goal,
            "inputs": {name: _write_input(input) for name, input in plan.inputs.items()},
            "all_or_nothing": plan.all_or_nothing,
            "steps": [write_step(step) for step in plan.steps],
            "answer": None if plan.answer is None else write(plan.answer),
            "revision": plan.revision,
        }
    )


def write_step(step: Step) -> dict[str, object]:
    return _filled(
        {
            "id": step.id,
            **_write_action(step.action),
            "with": write(step.arguments),
            "returns": step.returns,
            "after": list(step.after),
            "when": step.when and step.when.text,
            "each": step.each and step.each.text,
            "maybe": list(step.maybe),
            "expect": [expression.text for expression in step.expect],
            "if_fails": "" if step.if_fails == "revise" else step.if_fails,
            "limits": _filled({"seconds": step.limits.seconds, "usd": step.limits.usd}, zero=True),
        }
    )


def write_yaml(plan: Plan) -> str:
    return to_yaml(write_plan(plan))


def write_patch(patch: Patch) -> str:
    blocks = [_marked("+", step) for step in patch.add] + [_marked("~", step) for step in patch.replace]
    blocks += [f"- {id}\n" for id in patch.drop]
    if patch.answer is not None:
        blocks.append("~ answer\n" + _indented(to_yaml(write(patch.answer))))
    return "".join(blocks) or "no change\n"


def _write_action(action: Use | Ask | Pursue) -> dict[str, object]:
    match action:
        case Use(tool=tool):
            return {"use": tool}
        case Ask(skill=skill, task=task):
            return {"ask": skill, "task": task}
        case Pursue(goal=goal):
            return {"goal": goal}


def _write_input(input: Input) -> dict[str, object]:
    schema: dict[str, object] = {"type": input.type} if input.form is None else {"schema": input.form}
    rest: dict[str, object] = {"choices": list(input.choices), "description": input.description}
    return schema | _filled(rest) | _filled({"default": input.default, "value": input.value}, zero=True)


def _filled(fields: dict[str, Any], *, zero: bool = False) -> dict[str, object]:
    """The fields that say something; with `zero`, 0, false and empty ones do."""
    return {name: value for name, value in fields.items() if value is not None and (zero or value)}


def _marked(mark: str, step: Step) -> str:
    fields = write_step(step)
    del fields["id"]
    return f"{mark} {step.id}\n{_indented(to_yaml(fields))}"


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.splitlines())
