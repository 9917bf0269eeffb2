"""The plan: a revision-numbered graph of steps and an answer. Immutable data."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import Literal

from chargehand.domain.diagnostics import Path
from chargehand.domain.expressions import Expression
from chargehand.domain.inputs import Input
from chargehand.domain.shapes import Schema
from chargehand.domain.values import Fields, Value, references


@dataclass(frozen=True, slots=True)
class Use:
    """Use a tool, or whatever provides what it does."""

    tool: str


@dataclass(frozen=True, slots=True)
class Ask:
    """Ask a specialist who has the skill."""

    skill: str
    task: str


@dataclass(frozen=True, slots=True)
class Pursue:
    """Pursue a sub-goal, which is planned by itself."""

    goal: str


Action = Use | Ask | Pursue
IfFails = Literal["revise", "skip", "stop"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What a step may take at the most."""

    seconds: float | None = None
    usd: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One unit of work."""

    id: str
    action: Action
    arguments: Fields = field(default_factory=Fields)
    returns: Schema | None = None
    after: tuple[str, ...] = ()
    when: Expression | None = None
    each: Expression | None = None
    maybe: tuple[str, ...] = ()
    expect: tuple[Expression, ...] = ()
    if_fails: IfFails = "revise"
    limits: Limits = field(default_factory=Limits)

    def expressions(self) -> Iterator[tuple[Path, Expression]]:
        """Every expression of the step, with its place below the step."""
        if self.when is not None:
            yield ("when",), self.when
        if self.each is not None:
            yield ("each",), self.each
        yield from references(self.arguments, ("with",))
        for number, expression in enumerate(self.expect):
            yield ("expect", number), expression

    @property
    def refers_to(self) -> frozenset[str]:
        """The names that its expressions take from outside: steps, `inputs`, and what is bound here."""
        return frozenset[str]().union(*(expression.names for _, expression in self.expressions()))


@dataclass(frozen=True, kw_only=True)
class Plan:
    """Steps and an answer. Read one with `Plan.load("trip.yaml")` or `Plan.parse(text_or_mapping)`."""

    steps: tuple[Step, ...] = ()
    answer: Value | None = None
    inputs: Mapping[str, Input] = field(default_factory=dict[str, Input])
    goal: str = ""
    all_or_nothing: bool = False
    revision: int = 0

    @staticmethod
    def parse(source: object) -> "Plan":
        """A plan from YAML or JSON text or from a mapping; raises PlanRejected if it cannot be read."""
        from chargehand.domain.reading import read_plan

        return read_plan(source).accepted()

    @staticmethod
    def load(path: str | FilePath) -> "Plan":
        """A plan from a file; raises PlanRejected if it cannot be read."""
        from chargehand.domain.reading import read_plan

        return read_plan(FilePath(path).read_text(encoding="utf-8")).accepted(str(path))

    def render(self) -> str:
        """The plan as YAML that reads back as the same plan."""
        from chargehand.domain.writing import write_yaml

        return write_yaml(self)

    @cached_property
    def by_id(self) -> Mapping[str, Step]:
        """The steps by id; the first one of two with the same id."""
        return {step.id: step for step in reversed(self.steps)}

    @cached_property
    def references(self) -> Mapping[str, frozenset[str]]:
        """The names that each step refers to, worked out once."""
        return {id: step.refers_to for id, step in self.by_id.items()}

    def needs(self, step: Step) -> frozenset[str]:
        """The steps that must come before: all that it refers to, and those it is `after`."""
        names = self.references[step.id] if self.by_id.get(step.id) is step else step.refers_to
        return (names | {*step.after, *step.maybe}) & self.by_id.keys()

    @cached_property
    def answers_from(self) -> frozenset[str]:
        """The steps that the answer refers to."""
        if self.answer is None:
            return frozenset()
        names = frozenset[str]().union(*(expression.names for _, expression in references(self.answer)))
        return names & self.by_id.keys()

    @cached_property
    def skippable(self) -> frozenset[str]:
        """The steps that may be skipped: by `when`, by `if_fails: skip`, or because they refer to such a step."""
        found = {step.id for step in self.steps if step.when is not None or step.if_fails == "skip"}
        users: dict[str, list[str]] = {}
        for step in self.by_id.values():
            for name in self.references[step.id] - {*step.maybe}:
                users.setdefault(name, []).append(step.id)
        waiting = list(found)
        while waiting:
            for user in users.get(waiting.pop(), ()):
                if user not in found:
                    found.add(user)
                    waiting.append(user)
        return frozenset(found)
