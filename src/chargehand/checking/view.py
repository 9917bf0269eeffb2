"""What the rules see: the plan, what is known, and the shape of every name in it."""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property

from chargehand.catalog.catalog import Catalog
from chargehand.catalog.tools import AnyTool
from chargehand.domain.diagnostics import Path
from chargehand.domain.expressions import RESERVED, UNREADABLE, Expression
from chargehand.domain.inputs import Input
from chargehand.domain.plan import Plan, Pursue, Step, Use
from chargehand.domain.schemas import safe_shape
from chargehand.domain.shapes import ANYTHING, Many, Record, Shape, shape_of
from chargehand.domain.values import references

LEGAL = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,63}", re.ASCII)


@dataclass(frozen=True, slots=True)
class SubGoal:
    """What answers a sub-goal: the inputs that it takes, those that the goal's own words give, and its result."""

    inputs: Mapping[str, Input]
    captured: frozenset[str] = frozenset()
    output: Shape = ANYTHING


@dataclass(frozen=True)
class View:
    """A plan in its surroundings. `broken` steps could not be read: nothing is said about what refers to them.

    `conditions` are checked like a step's `when`; they may use the names in `bound`. `indices` are the places of the
    steps where some were left out, `unread` fields (step id and name) that could not be read.
    """

    plan: Plan
    catalog: Catalog
    broken: frozenset[str] = frozenset()
    goals: Callable[[str], SubGoal | None] = field(default=lambda goal: None)
    bound: Mapping[str, Shape] = field(default_factory=dict[str, Shape])
    conditions: tuple[tuple[Path, Expression], ...] = ()
    indices: tuple[int, ...] = ()
    unread: frozenset[tuple[str, str]] = frozenset()

    @cached_property
    def positions(self) -> Mapping[int, int]:
        """Where each step stands in the plan, by the step's identity: ids may repeat."""
        places = self.indices or range(len(self.plan.steps))
        return {id(step): place for place, step in zip(places, self.plan.steps, strict=True)}

    @cached_property
    def misnamed(self) -> frozenset[str]:
        """Steps whose ids are no names or are words of the language: in an expression they mean something else."""
        return frozenset(step.id for step in self.plan.steps if step.id in RESERVED or not LEGAL.fullmatch(step.id))

    @cached_property
    def before(self) -> Mapping[str, frozenset[str]]:
        """Every step that is done when a step begins; of a circle, what is outside of it."""
        found: dict[str, frozenset[str]] = {}
        waiting = dict.fromkeys(self.plan.by_id)
        while waiting:
            ready = [id for id in waiting if self.plan.needs(self.plan.by_id[id]) <= found.keys()]
            for id in ready or [*waiting]:
                needs = self.plan.needs(self.plan.by_id[id])
                found[id] = needs.union(*(found.get(need, frozenset[str]()) for need in needs))
                del waiting[id]
        return found

    def path(self, step: Step, *below: str | int) -> Path:
        return ("steps", self.positions[id(step)], *below)

    def tool(self, step: Step) -> AnyTool | None:
        return self.catalog.tools.get(step.action.tool) if isinstance(step.action, Use) else None

    @cached_property
    def _goals_found(self) -> dict[str, SubGoal | None]:
        return {
            step.action.goal: self.goals(step.action.goal)
            for step in self.plan.steps
            if isinstance(step.action, Pursue)
        }

    def sub_goal(self, step: Step) -> SubGoal | None:
        return self._goals_found.get(step.action.goal) if isinstance(step.action, Pursue) else None

    @cached_property
    def inputs(self) -> Shape:
        if ("", "inputs") in self.unread:
            return ANYTHING
        shapes = {name: safe_shape(input.schema) for name, input in self.plan.inputs.items()}
        return Record("inputs", shapes, frozenset(shapes), closed=True)

    def result(self, step: Step) -> Shape:
        """The shape of what one run of a step gives."""
        tool, goal = self.tool(step), self.sub_goal(step)
        if tool is not None:
            return tool.signature.output
        if step.returns is not None:
            return safe_shape(step.returns)
        return goal.output if goal is not None else ANYTHING

    @cached_property
    def outputs(self) -> Mapping[str, Shape]:
        """The shape of what each step's name stands for: a list where the step has `each`."""
        shapes: dict[str, Shape] = dict.fromkeys(self.broken, ANYTHING)
        for step in reversed(self.plan.steps):
            result = self.result(step)
            shapes[step.id] = result if step.each is None else Many(result)
        return shapes

    def arguments(self, step: Step) -> Shape:
        """The shape of `args`."""
        tool = self.tool(step)
        return shape_of(tool.signature.arguments_schema) if tool is not None else ANYTHING

    @cached_property
    def expressions(self) -> "tuple[Place, ...]":
        """Every expression of the plan that could be read."""
        places = [
            Place(self.path(step, *below), step, str(below[0]), expression)
            for step in self.plan.steps
            for below, expression in step.expressions()
        ]
        if self.plan.answer is not None:
            answer = references(self.plan.answer, ("answer",))
            places += [Place(path, None, "answer", expression) for path, expression in answer]
        places += [Place(path, None, "when", expression, frozenset(self.bound)) for path, expression in self.conditions]
        return tuple(place for place in places if place.expression is not UNREADABLE)


@dataclass(frozen=True, slots=True)
class Place:
    """An expression and where it stands: in which step, under which of its fields."""

    path: Path
    step: Step | None
    field: str
    expression: Expression
    bound: frozenset[str] = frozenset()

    @property
    def step_id(self) -> str | None:
        return self.step.id if self.step else None

    @property
    def owner(self) -> str:
        """Whom the expression belongs to, for messages."""
        return f"step {self.step.id!r}" if self.step else f"the {str(self.path[0]).removesuffix('s')}"

    def guards(self, part: str) -> bool:
        """Whether the step's `when` looks at a part that may be missing."""
        return self.step is not None and self.step.when is not None and part in self.step.when.text

    @property
    def text_path(self) -> Path:
        """The path to the expression's own text: below `$` for a reference."""
        return (*self.path, "$") if self.field in ("with", "answer") else self.path

    @property
    def local_names(self) -> frozenset[str]:
        """The names that are bound only here, beside `inputs` and the steps."""
        names = self.bound | {"output", "args"} if self.field == "expect" else self.bound
        has_item = self.step is not None and self.step.each is not None and self.field in ("with", "expect")
        return names | {"item"} if has_item else names
