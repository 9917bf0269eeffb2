"""From a goal in words to a plan with its inputs: which playbook, what was captured, what is missing."""

import datetime as dt
import difflib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NoReturn

from chargehand.domain import schemas
from chargehand.domain.diagnostics import did_you_mean
from chargehand.domain.inputs import Input
from chargehand.domain.plan import Plan
from chargehand.errors import AmbiguousGoal, InputsRefused, NoPlaybook
from chargehand.planning.moments import read_date, read_moment, read_time
from chargehand.planning.patterns import Pattern
from chargehand.planning.playbooks import Playbook

MAX_GOAL = 20_000  # characters: ten pages of text, and patterns are matched against all of it


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
    matches = sorted(_matches(goal[:MAX_GOAL], playbooks, given), key=lambda match: -match.pattern.weight)
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
    problems = [f"{name!r} is not an input. {did_you_mean(name, inputs)}" for name in given if name not in inputs]
    filled: dict[str, Input] = {}
    sources: dict[str, str] = {}
    for name, input in inputs.items():
        source, value = _source(name, input, captured, given)
        if value is None:
            problems.append(f"the input {name!r} is missing{_about(input)}")
            continue
        read = _read(value, input, now, languages)
        problem = _problem(name, input, value, read)
        if problem:
            problems.append(problem)
        filled[name], sources[name] = input.given(read), source
    return filled, sources, problems


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
    if input.form is not None:
        return value
    if isinstance(value, dt.datetime | dt.date | dt.time):
        value = value.isoformat()
    if not isinstance(value, str):
        return value
    match input.type:
        case "text":
            return value
        case "date":
            return read_date(value, now, languages)
        case "time":
            return read_time(value, now, languages)
        case "moment":
            return read_moment(value, now, languages)
        case "boolean":
            return {"yes": True, "true": True, "no": False, "false": False}.get(value.lower())
        case "number" | "integer":
            return _number(value, whole=input.type == "integer")


def _number(text: str, *, whole: bool) -> int | float | None:
    try:
        return int(text.replace(",", "")) if whole else float(text.replace(",", ""))
    except ValueError:
        return None


_EXAMPLES = {
    "date": "a date, such as Friday or 2026-11-20",
    "time": "a time, such as 5 p.m. or 17:00",
    "moment": "a date and time, such as Friday 5 p.m. or 2026-11-20T17:00",
    "boolean": "yes or no",
    "number": "a number",
    "integer": "a whole number",
}


def _problem(name: str, input: Input, value: object, read: object) -> str:
    if read is None:
        return f"the input {name!r} is {value!r:.80}, which is not {_EXAMPLES[input.type]} (or does not exist)"
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
