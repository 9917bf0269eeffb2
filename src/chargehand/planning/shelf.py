"""The shelf: all playbooks of an application, checked when they are put there."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from chargehand.catalog.catalog import Catalog
from chargehand.checking.check import check
from chargehand.checking.view import SubGoal, View
from chargehand.domain.diagnostics import CODES, Diagnostic, Path, did_you_mean, finding, has_errors, show_path
from chargehand.domain.expressions import UNREADABLE
from chargehand.domain.expressions.tree import Call, Constant, Name, Select, walk
from chargehand.domain.failure import FAILURE, FAILURE_KINDS
from chargehand.domain.patch import apply
from chargehand.domain.plan import Plan
from chargehand.errors import GoalNotPlanned, PatchRefused, PlaybookRejected
from chargehand.planning.matching import find
from chargehand.planning.playbooks import Playbook, PlaybookDraft, Revision


@dataclass(frozen=True, slots=True)
class Shelf:
    """Playbooks that have been checked."""

    playbooks: tuple[Playbook, ...] = ()
    warnings: Mapping[str, Sequence[Diagnostic]] | None = None

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
    shelf = Shelf(tuple(draft.playbook for draft in drafts))
    found = {number: list(_check(draft, catalog, shelf)) for number, draft in enumerate(drafts)}
    for number, diagnostics in _check_together(shelf.playbooks):
        found[number].append(diagnostics)
    for number, draft in enumerate(drafts):
        if has_errors(found[number]):
            raise PlaybookRejected(draft.playbook.source or draft.playbook.name, found[number])
    warnings = {draft.playbook.name: found[number] for number, draft in enumerate(drafts) if found[number]}
    return Shelf(shelf.playbooks, warnings)


def _check(draft: PlaybookDraft, catalog: Catalog, shelf: Shelf) -> Iterator[Diagnostic]:
    yield from draft.diagnostics
    if any(diagnostic.code in ("CH001", "CH002", "CH003", "CH004") for diagnostic in draft.diagnostics):
        return  # it could not be read at all
    playbook = draft.playbook
    plan = check(View(playbook.plan, catalog, draft.broken, shelf.sub_goal))
    yield from plan
    yield from _check_defaults(playbook)
    if not has_errors([*draft.diagnostics, *plan]):
        yield from _check_revisions(playbook, catalog, shelf)


def _check_defaults(playbook: Playbook) -> Iterator[Diagnostic]:
    from chargehand.domain.schemas import violations

    for name, input in playbook.plan.inputs.items():
        in_words = input.form is None and input.type in ("date", "time", "moment")
        if input.default is None or in_words:  # dates in words are read when a goal comes
            continue
        for _, message in violations(input.schema, input.given(input.default).value):
            yield finding(
                "CH603", ("inputs", name, "default"), f"the default of input {name!r} does not fit: {message}"
            )


def _check_revisions(playbook: Playbook, catalog: Catalog, shelf: Shelf) -> Iterator[Diagnostic]:
    """Each revision is checked as the plan that it makes of the one before it, and of the first one if it can."""
    conditions = tuple(
        (("revisions", number, "when"), revision.when) for number, revision in enumerate(playbook.revisions)
    )
    alone = replace(playbook.plan, steps=(), answer=None)
    yield from check(View(alone, catalog, bound={"failure": FAILURE}, conditions=conditions))
    plan = playbook.plan
    for number, revision in enumerate(playbook.revisions):
        path: Path = ("revisions", number)
        yield from _check_condition(revision, plan, path)
        try:
            plan = apply(plan, revision.patch)
        except PatchRefused as error:
            yield finding("CH604", (*path, "patch"), error.message, hint=error.hint)
            return
        known = set(map(_essence, check(View(playbook.plan, catalog, goals=shelf.sub_goal))))
        new = {step.id for step in (*revision.patch.add, *revision.patch.replace)}
        for diagnostic in check(View(plan, catalog, goals=shelf.sub_goal)):
            left_over = diagnostic.code == "CH109" and diagnostic.step not in new  # what it found was needed before
            if _essence(diagnostic) not in known and not left_over:
                yield _relocated(diagnostic, revision, plan, (*path, "patch"))


def _check_condition(revision: Revision, plan: Plan, path: Path) -> Iterator[Diagnostic]:
    """What `failure.step` and `failure.kind` are compared with can be."""
    if revision.when is UNREADABLE:
        return
    for node in walk(revision.when.tree):
        match node:
            case Call(
                function="_==_" | "_!=_",
                args=(Select(operand=Name(name="failure"), field=field), Constant(value=str() as word)),
            ) if field in ("step", "kind"):
                known: Iterable[str] = plan.by_id if field == "step" else FAILURE_KINDS
                if word not in known:
                    hint = did_you_mean(word, known)
                    message = f"the condition waits for failure.{field} == {word!r}, which cannot be"
                    yield finding("CH604", (*path, "when"), message, hint=hint)
            case _:
                pass


def _essence(diagnostic: Diagnostic) -> tuple[str, str | None, str]:
    return diagnostic.code, diagnostic.step, diagnostic.message


def _relocated(diagnostic: Diagnostic, revision: Revision, plan: Plan, path: Path) -> Diagnostic:
    """A finding about a revised plan, at the place in the patch that brought it."""
    for field, steps in (("add", revision.patch.add), ("replace", revision.patch.replace)):
        for number, step in enumerate(steps):
            if step.id == diagnostic.step:
                _, _, below = diagnostic.path.partition("]")
                return replace(diagnostic, path=show_path((*path, field, number)) + below)
    severity, _ = CODES[diagnostic.code]
    return replace(diagnostic, severity=severity, path=show_path(path))


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
