"""From a goal in words to a plan with its inputs: which playbook, what was captured, what is missing."""

import datetime as dt
import difflib
import math
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn, cast

from chargehand.domain import schemas
from chargehand.domain.diagnostics import did_you_mean
from chargehand.domain.inputs import Input
from chargehand.domain.plan import Plan
from chargehand.domain.text import vet
from chargehand.errors import AmbiguousGoal, InputsRefused, NoPlaybook
from chargehand.planning.moments import READERS
from chargehand.planning.patterns import Pattern
from chargehand.planning.playbooks import Playbook

MAX_GOAL = 2_000  # characters: a page of text; what is longer belongs into an input


@dataclass(frozen=True, slots=True)
class Match:
    """Why a playbook answers a goal: its pattern, and the words that were captured."""

    playbook: Playbook
    pattern: Pattern
    captured: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan, and how each of its inputs came to its value: given, captured or default."""

    plan: Plan
    match: Match
    sources: Mapping[str, str]


def find(goal: str, playbooks: Sequence[Playbook], given: Collection[str] = ()) -> Match:
    """The playbook that answers a goal; the pattern with the most words of its own wins.

    Readings that differ only in inputs which are `given` anyway are one reading.
    """
    _vet_goal(goal)
    matches = sorted(_matches(goal, playbooks, given), key=lambda match: -match.pattern.weight)
    if not matches:
        raise NoPlaybook(f"no playbook answers {_shown(goal)}", hint=_nearest(goal, playbooks))
    best = matches[0]
    rivals = [match for match in matches if match.pattern.weight == best.pattern.weight and match != best]
    if rivals:
        raise AmbiguousGoal(
            f"{_shown(goal)} can be read in more than one way:\n"
            + "\n".join(f"  {_reading(match)}" for match in (best, *rivals)),
            hint="Say it in other words, or give the inputs that differ by name: plan(goal, inputs={…}).",
        )
    return best


def _vet_goal(goal: object) -> None:
    hint = "A goal is a sentence or two; give long text as an input: plan(goal, inputs={…})."
    if not isinstance(goal, str):
        raise InputsRefused(f"the goal is {_kind(goal)}, not text", hint=hint)
    if len(goal) > MAX_GOAL:
        raise InputsRefused(f"the goal has {len(goal):,} characters; at the most {MAX_GOAL:,} are allowed", hint=hint)
    for odd in vet(goal):
        raise InputsRefused(f"the goal {_shown(goal)} cannot be read: {odd.message}", hint="Remove it.")


def _matches(goal: str, playbooks: Sequence[Playbook], given: Collection[str]) -> list[Match]:
    found: list[Match] = []
    for playbook in playbooks:
        for pattern in playbook.patterns:
            for reading in pattern.match(goal):
                match = Match(playbook, pattern, {name: text for name, text in reading.items() if name not in given})
                if match not in found:
                    found.append(match)
    return found


def fill(goal: str, match: Match, given: Mapping[str, object], now: dt.datetime) -> Planned:
    """The plan of a match with a value for each input; raises InputsRefused that lists all that is wrong."""
    playbook = match.playbook
    filled, sources, problems = _fill(playbook.plan.inputs, match.captured, given, now, playbook.languages)
    if problems:
        _refuse(f"playbook {playbook.name!r} answers {_shown(goal)}, but", problems)
    return Planned(replace(playbook.plan, goal=goal, inputs=filled), match, sources)


def fill_plan(plan: Plan, given: Mapping[str, object], now: dt.datetime) -> Plan:
    """A plan with a value for each of its inputs; raises InputsRefused that lists all that is wrong."""
    held = {name: input.value for name, input in plan.inputs.items() if input.value is not None}
    filled, _, problems = _fill(plan.inputs, {}, {**held, **given}, now, ("en",))
    if problems:
        _refuse("the plan cannot be run", problems)
    return replace(plan, inputs=filled)


Filled = tuple[dict[str, Input], dict[str, str], list[str]]


def _fill(
    inputs: Mapping[str, Input],
    captured: Mapping[str, str],
    given: Mapping[str, object],
    now: dt.datetime,
    languages: Sequence[str],
) -> Filled:
    """Inputs with their values, where each came from, and what is wrong."""
    _vet_now(now)
    problems = list(_strangers(given, inputs))
    filled: dict[str, Input] = {}
    sources: dict[str, str] = {}
    for name, input in inputs.items():
        source, value = _source(name, input, captured, given)
        if value is None:
            problems.append(f"the input {name!r} is missing{_about(input)}")
            continue
        value = value.isoformat() if isinstance(value, dt.datetime | dt.date | dt.time) else value
        odd = vet(value)
        if odd:
            problems.append(f"the input {name!r} cannot be used{_where(odd[0].path)}: {odd[0].message}")
            continue
        read = _read(_plain(value), input, now, languages)
        problem = _problem(name, input, value, read)
        if problem:
            problems.append(problem)
            continue
        filled[name], sources[name] = input.given(read), source
    return filled, sources, problems


def _vet_now(now: object) -> None:
    if not isinstance(now, dt.datetime) or now.utcoffset() is None:
        hint = 'Give it one: datetime(2026, 11, 16, 9, tzinfo=ZoneInfo("America/New_York")).'
        raise InputsRefused(f"`now` needs a zone, and is {now!r:.80}", hint=hint)


def _strangers(given: object, inputs: Mapping[str, Input]) -> Iterator[str]:
    """What is given and is not an input."""
    if not isinstance(given, Mapping):
        raise InputsRefused(f"the inputs are {_kind(given)}, not a mapping", hint="Write inputs={'name': value}.")
    for name in cast(Mapping[object, object], given):
        if not isinstance(name, str):
            yield f"{name!r:.80} is not the name of an input, which is text"
        elif name not in inputs:
            yield f"{name!r:.80} is not an input. {did_you_mean(name, inputs)}".rstrip()


def _plain(value: object) -> object:
    """A vetted value in the types that JSON has: enums as what they stand for, any mapping as a dict."""
    match value:
        case None | bool():
            return value
        case str():
            return str.__str__(value)
        case int() | float():
            return int(value) if isinstance(value, int) else float(value)
        case Mapping():
            return {str.__str__(key): _plain(inner) for key, inner in cast(Mapping[str, object], value).items()}
        case _:
            return [_plain(inner) for inner in cast(Sequence[object], value)]


def _kind(value: object) -> str:
    return "None" if value is None else f"of the type {type(value).__name__}"


def _where(path: str) -> str:
    return f", at {path}" if path else ""


def _refuse(what: str, problems: Sequence[str]) -> NoReturn:
    listing = "\n".join(f"  {problem}" for problem in problems)
    hint = "Give inputs by name: plan(goal, inputs={…}), or on the command line --input NAME=VALUE."
    raise InputsRefused(f"{what}:\n{listing}", hint=hint)


def _source(name: str, input: Input, captured: Mapping[str, str], given: Mapping[str, object]) -> tuple[str, object]:
    if given.get(name) is not None:
        return "given", given[name]
    if name in captured:
        return f"captured from {captured[name]!r}", captured[name]
    return "default", input.default


def _read(value: object, input: Input, now: dt.datetime, languages: Sequence[str]) -> object:
    """A value as its input wants it; None for text that cannot be read so."""
    if input.form is not None or not isinstance(value, str):
        return value
    match input.type:
        case "text":
            return value
        case "date" | "time" | "moment":
            return READERS[input.type](value, now, languages)
        case "boolean":
            return {"yes": True, "true": True, "no": False, "false": False}.get(value.lower())
        case "number" | "integer":
            return _number(value, whole=input.type == "integer")


_WHOLE = r"[-+]?(?:[0-9]{1,3}(?:,[0-9]{3})+|[0-9]+)"  # a comma only between thousands: `1,5` is not 15
_INTEGER = re.compile(_WHOLE)
_NUMBER = re.compile(rf"(?:{_WHOLE}(?:\.[0-9]*)?|[-+]?\.[0-9]+)(?:[eE][-+]?[0-9]+)?")
_MAX_DIGITS = 400  # a float has at the most 309 before its point, and longer text is slow to convert


def _number(text: str, *, whole: bool) -> int | float | None:
    text = text.strip()
    if len(text) > _MAX_DIGITS or not (_INTEGER if whole else _NUMBER).fullmatch(text):
        return None
    digits = text.replace(",", "")
    number = int(digits) if whole else float(digits)
    return number if math.isfinite(number) and not vet(number) else None


_EXAMPLES = {
    "date": "a date, such as Friday or 2026-11-20 (or is unclear, or does not exist)",
    "time": "a time, such as 5 p.m. or 17:00 (or is unclear, or does not exist)",
    "moment": "a date and time, such as Friday 5 p.m. or 2026-11-20T17:00 (or is unclear, or does not exist)",
    "boolean": "yes or no",
    "number": "a number, such as 1,200.50",
    "integer": "a whole number, such as 1,200",
}


def _problem(name: str, input: Input, value: object, read: object) -> str:
    if read is None:
        return f"the input {name!r} is {value!r:.80}, which is not {_EXAMPLES[input.type]}"
    broken = schemas.violations(input.schema, input.given(read).value)
    return f"the input {name!r} is {value!r:.80}: {broken[0].message}" if broken else ""


def _about(input: Input) -> str:
    return f" ({input.description})" if input.description else ""


def _shown(goal: str) -> str:
    text = " ".join(goal.split())
    return repr(text if len(text) <= 120 else f"{text[:119]}…")


def _reading(match: Match) -> str:
    captured = ", ".join(f"{name} = {text!r}" for name, text in match.captured.items())
    return f"playbook {match.playbook.name!r}, as {match.pattern.text!r}" + (f" with {captured}" if captured else "")


def _nearest(goal: str, playbooks: Sequence[Playbook]) -> str:
    patterns = {pattern.text: playbook.name for playbook in playbooks for pattern in playbook.patterns}
    near = sorted(
        patterns,
        key=lambda text: -difflib.SequenceMatcher(None, text.lower(), goal[:500].lower()).ratio(),
    )[:3]
    lines = [f"  {patterns[text]}: {text}" for text in near]
    nearest = "The nearest playbooks:\n" + "\n".join(lines) if lines else "There are no playbooks."
    return f"{nearest}\nOther goals need a model: Chargehand(planner=…), which this version does not have yet."
