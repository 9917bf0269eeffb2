"""Playbooks: reviewed plan templates that plan a known kind of goal without a model."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path as FilePath
from typing import Any

from pydantic import Field

from chargehand.domain.diagnostics import Diagnostic, Path, finding
from chargehand.domain.expressions import UNREADABLE, Expression
from chargehand.domain.language import Form, JsonSchema
from chargehand.domain.patch import Patch
from chargehand.domain.plan import Plan
from chargehand.domain.reading import Reader
from chargehand.domain.schemas import safe_shape
from chargehand.domain.shapes import ANYTHING, Schema, Shape
from chargehand.domain.text import Unreadable, read
from chargehand.planning.patterns import Pattern

MAX_REVISIONS = 20  # a goal that needs more ways around is another goal


@dataclass(frozen=True, slots=True, kw_only=True)
class Revision:
    """A way around a failure: when it applies, why, and how it changes the plan."""

    when: Expression
    because: str
    patch: Patch


@dataclass(frozen=True, slots=True, kw_only=True)
class Playbook:
    """A plan for every goal that one of its patterns matches."""

    name: str
    description: str
    patterns: tuple[Pattern, ...]
    languages: tuple[str, ...]
    plan: Plan
    returns: Schema | None
    revisions: tuple[Revision, ...]
    source: str = ""

    @property
    def output(self) -> Shape:
        return ANYTHING if self.returns is None else safe_shape(self.returns)


class PlaybookForm(Form):
    """A Chargehand playbook: a plan, the goals that it answers, and its ways around failures."""

    name: str
    description: str = ""
    answers: list[str] = Field(min_length=1, description="Goals, with {captures} for inputs.")
    languages: list[str] = Field(default_factory=lambda: ["en"], description="Languages of dates in words.")
    returns: JsonSchema | None = Field(None, description="The JSON Schema of the answer, for plans that use it.")
    inputs: Any = None
    all_or_nothing: bool = False
    steps: Any = None
    answer: Any = None
    revisions: list[dict[str, Any]] = Field(default_factory=list[dict[str, Any]], max_length=MAX_REVISIONS)


class RevisionForm(Form):
    when: str
    because: str
    patch: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PlaybookDraft:
    """What could be read of a playbook, and what could not."""

    playbook: Playbook
    diagnostics: tuple[Diagnostic, ...]
    broken: frozenset[str] = frozenset()
    indices: tuple[int, ...] = ()
    unread: frozenset[tuple[str, str]] = frozenset()


def is_playbook(text: str) -> bool:
    """Whether a text is meant as a playbook rather than a plan."""
    try:
        value = read(text)
    except Unreadable:
        return bool(re.search(r"^answers:", text, re.MULTILINE))
    return isinstance(value, Mapping) and "answers" in value


def read_playbook(source: object, origin: str = "") -> PlaybookDraft:
    """Reads a playbook from text or a mapping. Never raises for what is wrong with it."""
    reader = Reader()
    raw = reader.mapping(source, "A playbook begins with `name:` and `answers:`.")
    if reader.found:
        empty = Playbook(
            name=origin,
            description="",
            patterns=(),
            languages=(),
            plan=Plan(),
            returns=None,
            revisions=(),
            source=origin,
        )
        return PlaybookDraft(empty, tuple(reader.found))
    form = reader.form(PlaybookForm, raw, (), required={"name": origin or "unnamed", "answers": ["unreadable"]})
    draft = reader.draft({key: raw[key] for key in _PLAN_FIELDS if raw.get(key) is not None})
    playbook = Playbook(
        name=form.name,
        description=form.description,
        patterns=tuple(Pattern(text) for text in form.answers),
        languages=tuple(form.languages),
        plan=draft.plan,
        returns=form.returns,
        revisions=tuple(_revisions(reader, form.revisions)),
        source=origin,
    )
    reader.found += _pattern_problems(playbook)
    return PlaybookDraft(playbook, tuple(reader.found), draft.broken, draft.indices, draft.unread)


_PLAN_FIELDS = ("inputs", "all_or_nothing", "steps", "answer")


def _revisions(reader: Reader, raw: list[dict[str, Any]]) -> Iterator[Revision]:
    for number, entry in enumerate(raw):
        path: Path = ("revisions", number)
        form = reader.form(RevisionForm, entry, path, required={"when": "false", "because": "", "patch": {}})
        when = reader.expression(form.when, (*path, "when"), None)
        yield Revision(when=when or UNREADABLE, because=form.because, patch=reader.patch(form.patch, (*path, "patch")))


def _pattern_problems(playbook: Playbook) -> Iterator[Diagnostic]:
    for number, pattern in enumerate(playbook.patterns):
        problem = pattern.problem()
        unknown = [name for name in pattern.captures if name not in playbook.plan.inputs]
        if not problem and unknown:
            problem = f"it captures {{{unknown[0]}}}, which is not an input"
        if problem:
            hint = "Captures are written {like_this}, each the name of a declared input, with words between them."
            yield finding(
                "CH601", ("answers", number), f"the pattern {pattern.text!r} cannot be used: {problem}", hint=hint
            )


def find_files(source: str | FilePath) -> Mapping[str, str]:
    """The texts of a playbook file, or of all in a folder, by path."""
    path = FilePath(source)
    files = sorted([*path.glob("*.yaml"), *path.glob("*.yml"), *path.glob("*.json")]) if path.is_dir() else [path]
    return {str(file): file.read_text(encoding="utf-8") for file in files}
