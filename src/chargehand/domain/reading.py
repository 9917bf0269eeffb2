"""Reading a plan: from text or a mapping to frozen types, once, with every trouble named and none repeated."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar, cast

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from chargehand.domain.diagnostics import Diagnostic, Path, did_you_mean, finding, has_errors
from chargehand.domain.expressions import UNREADABLE, Expression
from chargehand.domain.inputs import Input
from chargehand.domain.language import MAX_STEPS, Form, InputForm, LimitsForm, PatchForm, PlanForm, StepForm
from chargehand.domain.patch import Patch
from chargehand.domain.plan import Action, Ask, Limits, Plan, Pursue, Step, Use
from chargehand.domain.text import Unreadable, read, vet
from chargehand.domain.values import Fields, Items, Literal, Reference, Scalar, Value
from chargehand.errors import ExpressionError, PlanRejected

AnyForm = TypeVar("AnyForm", bound=Form)


@dataclass(frozen=True, slots=True)
class Draft:
    """What could be read of a plan, and what could not.

    `broken` are the ids of steps that were left out, `indices` the places of those that were not, and `unread` the
    fields (as step id and name) that were left out of a step.
    """

    plan: Plan
    diagnostics: tuple[Diagnostic, ...] = ()
    broken: frozenset[str] = frozenset()
    indices: tuple[int, ...] = ()
    unread: frozenset[tuple[str, str]] = frozenset()

    def accepted(self, what: str = "the plan") -> Plan:
        """The plan, if it could be read whole; raises PlanRejected otherwise."""
        if has_errors(self.diagnostics):
            raise PlanRejected(self.diagnostics, what)
        return self.plan


def read_plan(source: object) -> Draft:
    """Reads text, a mapping or a plan. Never raises for what is wrong with it."""
    if isinstance(source, Plan):
        return Draft(source, indices=tuple(range(len(source.steps))))
    reader = Reader()
    mapping = reader.mapping(source, "A plan begins with `steps:`.")
    return Draft(Plan(), tuple(reader.found)) if reader.found else reader.draft(mapping)


def read_patch(source: object, path: Path = ()) -> tuple[Patch, tuple[Diagnostic, ...]]:
    """Reads a patch from text or a mapping. Never raises for what is wrong with it."""
    reader = Reader()
    patch = reader.patch(reader.mapping(source, "A patch has `add`, `replace` and `drop`."), path)
    return patch, tuple(reader.found)


@dataclass(slots=True)
class Reader:
    """Reads forms into frozen types and gathers what is wrong with them."""

    found: list[Diagnostic] = field(default_factory=list[Diagnostic])
    broken: set[str] = field(default_factory=set[str])
    unread: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])
    _places: list[tuple[int, Step]] = field(default_factory=list[tuple[int, Step]])

    def draft(self, raw: dict[str, Any]) -> Draft:
        """A plan from its mapping, with all that is known about what could not be read."""
        plan = self.plan(raw)
        places = {id(step): place for place, step in self._places}
        indices = tuple(places[id(step)] for step in plan.steps)
        return Draft(plan, tuple(self.found), frozenset(self.broken), indices, frozenset(self.unread))

    def mapping(self, source: object, hint: str) -> dict[str, Any]:
        """The plain mapping of a text or value; empty, with a diagnostic, if there is none."""
        try:
            value = read(source) if isinstance(source, str) else source
        except Unreadable as error:
            self.found += error.diagnostics
            return {}
        odd = vet(value)
        if odd:
            self.found += odd
            return {}
        if not isinstance(value, Mapping):
            self.found.append(finding("CH007", (), f"expected a mapping, found {_kind(value)}", hint=hint))
            return {}
        return dict(cast(Mapping[str, Any], value))

    def plan(self, raw: dict[str, Any]) -> Plan:
        """A plan from its mapping."""
        outer = self.form(PlanForm, {key: value for key, value in raw.items() if key not in ("steps", "inputs")}, ())
        steps = self.steps(raw.get("steps", []), ("steps",))
        answer = None if raw.get("answer") is None else self.value(raw["answer"], ("answer",))
        if not steps and answer is None and not self.found:
            self.found.append(finding("CH006", ("steps",), "the plan has neither steps nor an answer"))
        return Plan(
            steps=steps,
            answer=answer,
            inputs=self.inputs(raw.get("inputs", {}), ("inputs",)),
            goal=outer.goal,
            all_or_nothing=outer.all_or_nothing,
            revision=outer.revision,
        )

    def patch(self, raw: dict[str, Any], path: Path = ()) -> Patch:
        """A patch from its mapping."""
        outer = self.form(PatchForm, {key: value for key, value in raw.items() if key not in ("add", "replace")}, path)
        return Patch(
            add=self.steps(raw.get("add", []), (*path, "add")),
            replace=self.steps(raw.get("replace", []), (*path, "replace")),
            drop=tuple(outer.drop),
            answer=None if raw.get("answer") is None else self.value(raw["answer"], (*path, "answer")),
        )

    def inputs(self, raw: object, path: Path) -> dict[str, Input]:
        """Declared inputs; `origin: text` is short for `origin: {type: text}`."""
        if not isinstance(raw, Mapping):
            self.found.append(finding("CH007", path, f"expected a mapping from names to types, found {_kind(raw)}"))
            self.unread.add(("", "inputs"))
            return {}
        inputs: dict[str, Input] = {}
        for name, declared in cast(Mapping[str, object], raw).items():
            short = {"type": declared} if isinstance(declared, str) else declared
            if not isinstance(short, Mapping):
                self.found.append(
                    finding("CH007", (*path, name), f"expected a type or a mapping, found {_kind(short)}")
                )
                short = {}
            before = len(self.found)
            form = self.form(InputForm, dict(cast(Mapping[str, Any], short)), (*path, name))
            unread = len(self.found) > before  # its type is not known, so it may be anything
            inputs[name] = Input(
                type=form.type,
                form={} if unread else form.form,
                choices=tuple(form.choices),
                description=form.description,
                default=form.default,
            ).given(form.value)
        return inputs

    def steps(self, raw: object, path: Path) -> tuple[Step, ...]:
        """Steps; those that cannot be read are left out, and their ids remembered as broken."""
        if not isinstance(raw, Sequence) or isinstance(raw, str):
            self.found.append(finding("CH007", path, f"expected a list of steps, found {_kind(raw)}"))
            self.unread.add(("", "steps"))
            return ()
        steps = cast(Sequence[object], raw)
        if len(steps) > MAX_STEPS:
            hint = "Use `each` to repeat a step, or sub-goals to divide the work."
            message = f"the plan has {len(steps):,} steps; at the most {MAX_STEPS:,} are allowed"
            self.found.append(finding("CH003", path, message, hint=hint))
            self.unread.add(("", "steps"))
            return ()
        read = [(number, self._step(step, (*path, number))) for number, step in enumerate(steps)]
        self._places = [(number, step) for number, step in read if step is not None]
        return tuple(step for _, step in self._places)

    def _step(self, raw: object, path: Path) -> Step | None:
        if not isinstance(raw, Mapping):
            self.found.append(finding("CH007", path, f"expected a step, found {_kind(raw)}"))
            return None
        given = dict(cast(Mapping[str, Any], raw))
        id = given.get("id")
        name = id if isinstance(id, str) else None
        before = len(self.found)
        form = self.form(StepForm, given, path, step=name, required={"id": ""})
        if name == "":
            self.found.append(
                finding("CH101", (*path, "id"), "a step has an empty id", hint="Name it after what it does.")
            )
        self.unread |= {(form.id, str(key)) for key in given if key not in _written(form)}
        action = self._action(form, path, name, quiet=len(self.found) > before)
        if not form.id or action is None:
            if form.id:
                self.broken.add(form.id)
            return None
        return Step(
            id=form.id,
            action=action,
            arguments=Fields(
                tuple((key, self.value(value, (*path, "with", key), name)) for key, value in form.with_.items())
            ),
            returns=form.returns,
            after=tuple(form.after),
            when=self.expression(form.when, (*path, "when"), name),
            each=self.expression(form.each, (*path, "each"), name),
            maybe=tuple(form.maybe),
            expect=tuple(self._read(text, (*path, "expect", n), name) for n, text in enumerate(form.expect)),
            if_fails=form.if_fails,
            limits=_limits(form.limits),
        )

    def _action(self, form: StepForm, path: Path, step: str | None, *, quiet: bool) -> Action | None:
        kinds = [kind for kind in ("use", "ask", "goal") if getattr(form, kind) is not None]
        if len(kinds) != 1:
            if kinds or not quiet:
                message = f"has {' and '.join(kinds)}" if kinds else "has none of use, ask and goal"
                hint = "A step has exactly one of use (a tool), ask (a skill) and goal (a sub-goal)."
                self.found.append(finding("CH008", path, f"{_who(step, path)} {message}", step=step, hint=hint))
            return None
        given = form.model_fields_set
        misplaced = [name for name, belongs in _BELONGS.items() if name in given and kinds[0] not in belongs]
        for name in misplaced:
            hint = f"`{name}` goes with {' or '.join(_BELONGS[name])}."
            message = f"{_who(step)} has `{name}` beside `{kinds[0]}`"
            self.found.append(finding("CH008", (*path, name), message, step=step, hint=hint))
        if form.use is not None:
            return Use(form.use)
        if form.goal is not None:
            return Pursue(form.goal)
        if form.task is None and not quiet:
            hint = "Say in `task` what the specialist should do."
            self.found.append(
                finding("CH006", (*path, "task"), f"{_who(step)} asks without a task", step=step, hint=hint)
            )
        return Ask(form.ask or "", form.task or "")

    def value(self, raw: object, path: Path, step: str | None = None) -> Value:
        """A value with references inside."""
        match raw:
            case Mapping():
                mapping = cast(Mapping[str, object], raw)
                if "$" in mapping:
                    return self._reference(mapping, path, step)
                return Fields(tuple((key, self.value(inner, (*path, key), step)) for key, inner in mapping.items()))
            case list() | tuple():
                items = enumerate(cast(Sequence[object], raw))
                return Items(tuple(self.value(inner, (*path, number), step) for number, inner in items))
            case _:
                return Literal(cast(Scalar, raw))

    def _reference(self, raw: Mapping[str, object], path: Path, step: str | None) -> Value:
        text, max_age = raw["$"], raw.get("max_age")
        problem = ""
        if raw.keys() - {"$", "max_age"}:
            problem = "has other keys beside `$` and `max_age`"
        elif not isinstance(text, str):
            problem = f"holds {_kind(text)} instead of an expression"
        elif max_age is not None and not _is_age(max_age):
            problem = f"has a `max_age` of {max_age!r:.40}, which is not a number of seconds greater than 0"
        if problem:
            hint = "A reference is a mapping with the key `$` (an expression) and perhaps `max_age` (seconds)."
            self.found.append(finding("CH009", path, f"the reference {problem}", step=step, hint=hint))
            return Reference(UNREADABLE)
        expression = self._read(cast(str, text), (*path, "$"), step)
        return Reference(expression, None if max_age is None else float(cast(float, max_age)))

    def expression(self, text: str | None, path: Path, step: str | None) -> Expression | None:
        return None if text is None else self._read(text, path, step)

    def _read(self, text: str, path: Path, step: str | None) -> Expression:
        try:
            return Expression.parse(text)
        except ExpressionError as error:
            code = "CH307" if error.limit else "CH301"
            where = "" if error.limit or not text.strip() else f", in `{_shortened(text)}`"
            self.found.append(
                finding(code, path, f"{error.message}{where}", step=step, hint=error.hint, offset=error.offset)
            )
            return UNREADABLE

    def form(
        self,
        form: type[AnyForm],
        raw: dict[str, Any],
        path: Path,
        *,
        step: str | None = None,
        required: Mapping[str, Any] | None = None,
    ) -> AnyForm:
        """The form of a mapping. What does not belong is reported and left out (or, for a required field, replaced
        by what `required` holds), and the rest is read."""
        known = {info.alias or name: name for name, info in form.model_fields.items()}
        given = dict(raw)
        for _ in range(2):  # a second time without the wrong fields
            try:
                return form.model_validate(given)
            except ValidationError as error:
                for problem in error.errors(include_url=False, include_context=False, include_input=True):
                    self.found.append(_translate(problem, path, step, known))
                    field = str(problem["loc"][0])
                    given.pop(field, None)
                    if field in (required or {}):
                        given[field] = (required or {})[field]
        raise AssertionError(f"{form.__name__} does not read without its wrong fields")


_BELONGS = {"task": ("ask",), "returns": ("ask", "goal")}


def _translate(problem: ErrorDetails, path: Path, step: str | None, known: Mapping[str, str]) -> Diagnostic:
    location = problem["loc"]
    place, name = (*path, *location), location[-1]
    match problem["type"]:
        case "extra_forbidden":
            fields = known if len(location) == 1 else LimitsForm.model_fields
            message = f"{_who(step, path)} has an unknown field {name!r}"
            return finding("CH005", place, message, step=step, hint=did_you_mean(str(name), fields))
        case "missing":
            message = f"{_who(step, path)} has no `{name}`"
            return finding("CH006", place, message, step=step, hint=f"Add it: {name}: ….")
        case _:
            message = f"{_who(step, path)}: `{name}` is {_shown(problem['input'])}; {_wanted(problem)}"
            hint = f"Put it in brackets: [{problem['input']}]." if problem["type"] == "list_type" else ""
            return finding("CH007", place, message, step=step, hint=hint if isinstance(problem["input"], str) else "")


_PLAINER = [
    ("Input should be greater than or equal to", "it should be at least"),
    ("Input should be", "it should be"),
    ("valid ", ""),
    ("a dictionary", "a mapping"),
    ("a string", "text"),
    (" after validation", ""),
    ("List should", "it should"),
    (" or instance of LimitsForm", ""),
]


def _wanted(problem: ErrorDetails) -> str:
    message = problem["msg"]
    for technical, plain in _PLAINER:
        message = message.replace(technical, plain)
    return message


def _shown(value: object) -> str:
    return repr(value) if isinstance(value, str) and len(value) < 40 else _kind(value)


def _written(form: Form) -> set[str]:
    """The fields that were read, as they are written."""
    return {type(form).model_fields[name].alias or name for name in form.model_fields_set}


def _limits(form: LimitsForm | None) -> Limits:
    return Limits() if form is None else Limits(seconds=form.seconds, usd=form.usd)


def _who(step: str | None, path: Path = ()) -> str:
    """Whom a finding is about: a step by its id, else whatever the path leads to."""
    match path:
        case _ if step:
            return f"step {step!r}"
        case (*_, "steps" | "add" | "replace", int() as number):
            return f"step {number + 1}"
        case (*_, "inputs", str() as name):
            return f"input {name!r}"
        case ("revisions", int() as number, *_):
            return f"revision {number + 1}"
        case _:
            return "it"


def _kind(value: object) -> str:
    match value:
        case None:
            return "nothing"
        case bool():
            return "true or false"
        case int() | float():
            return "a number"
        case str():
            return "text"
        case Mapping():
            return "a mapping"
        case list() | tuple():
            return "a list"
        case _:
            return f"a {type(value).__name__}"


def _shortened(text: str, most: int = 60) -> str:
    text = " ".join(text.split())
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _is_age(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and 0 < value < float("inf")
