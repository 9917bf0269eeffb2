"""Playbooks: reviewed plan templates that plan a known kind of goal without a model."""

import datetime as dt
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
from chargehand.errors import PlaybooksUnreadable
from chargehand.planning.moments import READERS, unknown_languages
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
    languages: list[str] = Field(
        default_factory=lambda: ["en"], min_length=1, description="Languages of dates in words."
    )
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
    reader.found += _language_problems(playbook) or _default_problems(playbook)
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


def _language_problems(playbook: Playbook) -> list[Diagnostic]:
    unknown = unknown_languages(playbook.languages)
    hint = "Languages are codes of two or three letters: en, fr, de, es, …"
    return [
        finding("CH007", ("languages", number), f"dates cannot be read in the language {language!r}", hint=hint)
        for number, language in enumerate(playbook.languages)
        if language in unknown
    ]


# Defaults in words are tried against this moment; a leap year, so that 29 February exists.
_TRIAL = dt.datetime(2028, 1, 5, 12, tzinfo=dt.UTC)


def _default_problems(playbook: Playbook) -> Iterator[Diagnostic]:
    """The defaults of dates, times and moments can be read."""
    for name, input in playbook.plan.inputs.items():
        reader = READERS.get(input.type) if input.form is None else None
        if reader is None or input.default is None:
            continue
        if not isinstance(input.default, str) or reader(input.default, _TRIAL, playbook.languages) is None:
            message = f"the default of input {name!r} cannot be read as a {input.type}: {input.default!r:.80}"
            hint = "Write it as 2026-11-20, 17:00 or 2026-11-20T17:00, or in words: tomorrow, 5 p.m., Friday noon."
            yield finding("CH603", ("inputs", name, "default"), message, hint=hint)


def find_files(source: str | FilePath) -> Mapping[str, str]:
    """The texts of a playbook file, or of all in a folder, by path; raises PlaybooksUnreadable."""
    path = FilePath(source)
    try:
        if not path.is_dir():
            return {str(path): _text(path)}
        files = sorted(file for file in path.iterdir() if file.suffix in (".yaml", ".yml", ".json"))
    except (OSError, ValueError) as error:
        raise PlaybooksUnreadable(str(path), _reason(error), hint=_SOURCES) from None
    if not files:
        raise PlaybooksUnreadable(str(path), "there are no playbooks in this folder", hint=_SOURCES)
    return {str(file): _text(file) for file in files}


_SOURCES = "Give a YAML or JSON file, or a folder that holds *.yaml, *.yml or *.json."


def _text(file: FilePath) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        hint = "Save it as UTF-8; if it is no playbook, keep it elsewhere."
        raise PlaybooksUnreadable(str(file), f"it is not UTF-8 text (byte {error.start})", hint=hint) from None
    except (OSError, ValueError) as error:
        raise PlaybooksUnreadable(str(file), _reason(error), hint=_hint(error)) from None


def _reason(error: OSError | ValueError) -> str:
    match error:
        case FileNotFoundError():
            return "there is no such file or folder"
        case IsADirectoryError():
            return "it is a folder, not a file"
        case PermissionError():
            return "you may not read it"
        case OSError() if error.strerror:
            return error.strerror.lower()
        case _:
            return str(error)


def _hint(error: OSError | ValueError) -> str:
    match error:
        case IsADirectoryError():
            return "Playbooks in folders below are not read: name the folder without .yaml, or move it away."
        case PermissionError():
            return "Change its permissions, or run as somebody who may."
        case _:
            return _SOURCES
