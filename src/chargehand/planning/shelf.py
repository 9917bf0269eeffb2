"""The shelf: all playbooks of an application, checked when they are put there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chargehand.catalog.catalog import Catalog
from chargehand.checking.check import check, settle
from chargehand.checking.view import SubGoal, View
from chargehand.domain.diagnostics import Diagnostic, Path, did_you_mean, finding, has_errors, show_path
from chargehand.domain.expressions import UNREADABLE
from chargehand.domain.expressions.tree import Call, Constant, ListOf, Name, Node, Select, walk
from chargehand.domain.failure import FAILURE, FAILURE_KINDS
from chargehand.domain.patch import apply
from chargehand.domain.plan import Plan, Pursue
from chargehand.domain.schemas import vet_schema
from chargehand.domain.shapes import Schema
from chargehand.errors import BadSchema, GoalNotPlanned, PatchRefused, PlaybookRejected
from chargehand.planning.matching import find
from chargehand.planning.playbooks import Playbook, PlaybookDraft, Revision


@dataclass(frozen=True, slots=True)
class Shelf:
    """Playbooks that have been checked."""

    playbooks: tuple[Playbook, ...] = ()

    def sub_goal(self, goal: str) -> SubGoal | None:
        """What answers a goal inside a plan."""
        try:
            match = find(goal, self.playbooks)
        except GoalNotPlanned:
            return None
        return SubGoal(match.playbook.plan.inputs, frozenset(match.captured), match.playbook.output)


def make_shelf(drafts: Iterable[PlaybookDraft], catalog: Catalog) -> Shelf:
    """Checks playbooks, alone and together; raises PlaybookRejected with all that is wrong with the first bad one."""
    drafts = list(drafts)
    found = check_playbooks(drafts, catalog)
    for draft, diagnostics in zip(drafts, found, strict=True):
        if has_errors(diagnostics):
            raise PlaybookRejected(draft.playbook.source or draft.playbook.name, diagnostics)
    return Shelf(tuple(draft.playbook for draft in drafts))


def check_playbooks(drafts: Sequence[PlaybookDraft], catalog: Catalog) -> list[list[Diagnostic]]:
    """What is wrong with each of some playbooks that stand on one shelf."""
    shelf = Shelf(tuple(draft.playbook for draft in drafts))
    found = [list(_check(draft, catalog, shelf)) for draft in drafts]
    for number, diagnostic in (*_check_together(shelf.playbooks), *_check_circles(shelf.playbooks)):
        found[number].append(diagnostic)
    return [settle(diagnostics) for diagnostics in found]


def _check(draft: PlaybookDraft, catalog: Catalog, shelf: Shelf) -> Iterator[Diagnostic]:
    yield from draft.diagnostics
    if any(diagnostic.code in ("CH001", "CH002", "CH003", "CH004") for diagnostic in draft.diagnostics):
        return  # it could not be read at all
    playbook = draft.playbook
    returns = playbook.returns
    if returns is not None:
        try:
            vet_schema(returns)
        except BadSchema as error:
            yield finding("CH209", ("returns",), f"`returns` is {error.message}", hint=error.hint)
            returns = None
    view = View(playbook.plan, catalog, draft.broken, shelf.sub_goal, indices=draft.indices, unread=draft.unread)
    plan = check(view, returns=returns)
    yield from plan
    if not has_errors([*draft.diagnostics, *plan]):
        yield from _check_revisions(playbook, catalog, shelf, returns, set(map(_essence, plan)))


def _check_revisions(
    playbook: Playbook, catalog: Catalog, shelf: Shelf, returns: Schema | None, known: "set[Essence]"
) -> Iterator[Diagnostic]:
    """Each revision is checked as the plan that it makes of the one before it; what is `known` is not said again."""
    conditions = tuple(
        (("revisions", number, "when"), revision.when) for number, revision in enumerate(playbook.revisions)
    )
    alone = replace(playbook.plan, steps=(), answer=None)
    yield from check(View(alone, catalog, bound={"failure": FAILURE}, conditions=conditions))
    plan = playbook.plan
    for number, revision in enumerate(playbook.revisions):
        path: Path = ("revisions", number)
        yield from _check_condition(revision, plan, path)
        if not revision.patch:
            yield finding("CH604", (*path, "patch"), "the patch changes nothing", hint="Add, replace or drop a step.")
        try:
            plan = apply(plan, revision.patch)
        except PatchRefused as error:
            yield finding("CH604", (*path, "patch"), error.message, hint=error.hint)
            return
        new = {step.id for step in (*revision.patch.add, *revision.patch.replace)}
        for diagnostic in check(View(plan, catalog, goals=shelf.sub_goal), returns=returns):
            left_over = diagnostic.code == "CH109" and diagnostic.step not in new  # what it found was needed before
            if _essence(diagnostic) not in known and not left_over:
                yield _relocated(diagnostic, revision, (*path, "patch"))


def _check_condition(revision: Revision, plan: Plan, path: Path) -> Iterator[Diagnostic]:
    """What `failure.step` and `failure.kind` are compared with can be."""
    if revision.when is UNREADABLE:
        return
    for node in walk(revision.when.tree):
        for field, word in _compared(node):
            known: Iterable[str] = plan.by_id if field == "step" else FAILURE_KINDS
            if word not in known:
                what = "a failure of step" if field == "step" else "a failure of the kind"
                message = f"the condition waits for {what} {word!r}, which cannot be"
                yield finding("CH604", (*path, "when"), message, hint=did_you_mean(word, known))


def _compared(node: Node) -> Iterator[tuple[str, str]]:
    """`failure.step == 'pick'` as ("step", "pick"), whichever way it is written."""
    match node:
        case Call(function="_==_" | "_!=_", args=(left, right)):
            pairs = [(left, right), (right, left)]
        case Call(function="@in", args=(left, ListOf(items=items))):
            pairs = [(left, item) for item in items]
        case _:
            return
    for one, other in pairs:
        match one, other:
            case (
                Select(operand=Name(name="failure"), field="step" | "kind" as field),
                Constant(value=str() as word),
            ):
                yield field, word
            case _:
                pass


Essence = tuple[str, str | None, str]


def _essence(diagnostic: Diagnostic) -> Essence:
    return diagnostic.code, diagnostic.step, diagnostic.message


def _relocated(diagnostic: Diagnostic, revision: Revision, path: Path) -> Diagnostic:
    """A finding about a revised plan, at the place in the patch that brought it."""
    for field, steps in (("add", revision.patch.add), ("replace", revision.patch.replace)):
        for number, step in enumerate(steps):
            if step.id == diagnostic.step:
                _, _, below = diagnostic.path.partition("]")
                return replace(diagnostic, path=show_path((*path, field, number)) + below)
    return replace(diagnostic, path=show_path(path))


def _check_together(playbooks: Sequence[Playbook]) -> Iterator[tuple[int, Diagnostic]]:
    names: dict[str, int] = {}
    answers: dict[str, tuple[int, str]] = {}
    for number, playbook in enumerate(playbooks):
        if names.setdefault(playbook.name, number) != number:
            yield number, finding("CH605", ("name",), f"there are two playbooks {playbook.name!r}", hint="Rename one.")
        for place, pattern in enumerate(playbook.patterns):
            other, _ = answers.setdefault(pattern.words, (number, playbook.name))
            if other != number:
                message = f"the pattern {pattern.text!r} is also in playbook {playbooks[other].name!r}"
                hint = "Let one playbook answer it, or tell the two apart by a word."
                yield number, finding("CH602", ("answers", place), message, hint=hint)


def _check_circles(playbooks: Sequence[Playbook]) -> Iterator[tuple[int, Diagnostic]]:
    """No playbook pursues its own goal in any case. Under a `when` or for each of a list it may end."""
    pursues = {playbook.name: list(_pursued(playbook, playbooks)) for playbook in playbooks}
    for number, playbook in enumerate(playbooks):
        for place, other in pursues[playbook.name]:
            if playbook.name in _reached(other, pursues):
                way = playbook.name if other == playbook.name else f"{playbook.name} → {other}"
                message = f"the goal of step {playbook.plan.steps[place].id!r} leads back here: {way} → {playbook.name}"
                hint = "Let the step have a `when` that ends it, or pursue another goal."
                step = playbook.plan.steps[place].id
                yield number, finding("CH606", ("steps", place, "goal"), message, step=step, hint=hint)


def _pursued(playbook: Playbook, playbooks: Sequence[Playbook]) -> Iterator[tuple[int, str]]:
    for place, step in enumerate(playbook.plan.steps):
        if isinstance(step.action, Pursue) and step.when is None and step.each is None:
            try:
                yield place, find(step.action.goal, playbooks, dict(step.arguments.fields)).playbook.name
            except GoalNotPlanned:
                continue  # that is told as CH203


def _reached(name: str, pursues: Mapping[str, Sequence[tuple[int, str]]]) -> set[str]:
    seen: set[str] = set()
    waiting = [name]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting += [other for _, other in pursues.get(name, ())]
    return seen
