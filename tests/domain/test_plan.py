"""Plans: read once into frozen types, dependencies derived."""

import dataclasses
from pathlib import Path

import pytest

from chargehand import Plan, PlanRejected
from chargehand.domain.values import resolve

TEXT = """
goal: A trip
inputs:
  origin: text
  day: {type: date, default: "2026-11-20", description: When}
steps:
  - id: find
    use: search
    with: {origin: {$: inputs.origin}, when: "17:00", list: [1, {$: inputs.day}, {deep: {$: inputs.origin}}]}
  - id: pick
    use: cheapest
    with: {flights: {$: "find.flights.filter(f, f.price < 500.0)"}}
    expect: ["output.price < other.price"]
    after: [warm]
  - {id: other, use: cheapest, when: size(find.flights) > 1}
  - {id: warm, use: warm_up}
  - id: letter
    ask: writing
    task: |
      Confirm it.

      Kindly.
    with: {a: {$: pick}}
    maybe: [other]
    returns: {type: object, properties: {body: {type: string}}}
    if_fails: skip
    limits: {seconds: 30, usd: 0}
  - {id: sub, goal: Find me a hotel, each: "[1, 2]"}
answer: {text: {$: letter.body}, fixed: 3}
"""


def test_dependencies_are_derived_from_every_expression() -> None:
    plan = Plan.parse(TEXT)

    assert {step.id: set(plan.needs(step)) for step in plan.steps} == {
        "find": set(),
        "pick": {"find", "other", "warm"},
        "other": {"find"},
        "warm": set(),
        "letter": {"pick", "other"},
        "sub": set(),
    }
    assert plan.answers_from == {"letter"}


def test_a_step_that_uses_a_step_that_may_be_skipped_may_be_skipped_too() -> None:
    assert Plan.parse(TEXT).skippable == {"other", "pick", "letter"}


def test_a_plan_reads_back_as_written() -> None:
    plan = Plan.parse(TEXT)

    assert Plan.parse(plan.render()) == plan


def test_a_plan_cannot_be_changed() -> None:
    plan = Plan.parse(TEXT)

    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.goal = "other"  # pyright: ignore[reportAttributeAccessIssue]
    with pytest.raises(dataclasses.FrozenInstanceError):
        plan.steps[0].id = "other"  # pyright: ignore[reportAttributeAccessIssue]


def test_values_are_resolved_on_plain_data_and_never_read_again() -> None:
    plan = Plan.parse(TEXT)
    inputs = {"origin": "{$: inputs.day}", "day": "2026-11-20"}

    assert resolve(plan.steps[0].arguments, {"inputs": inputs}) == {
        "origin": "{$: inputs.day}",
        "when": "17:00",
        "list": [1, "2026-11-20", {"deep": "{$: inputs.day}"}],
    }


def test_a_plan_is_loaded_from_a_file(tmp_path: Path) -> None:
    file = tmp_path / "trip.yaml"
    file.write_text(TEXT, encoding="utf-8")

    assert Plan.load(file) == Plan.load(str(file)) == Plan.parse(TEXT)


def test_a_plan_that_cannot_be_read_is_rejected_with_all_that_is_wrong(tmp_path: Path) -> None:
    file = tmp_path / "trip.yaml"
    file.write_text("steps: [{id: a, uze: x}, {id: b, use: y, colour: red}]", encoding="utf-8")

    with pytest.raises(PlanRejected) as error:
        Plan.load(file)

    assert [diagnostic.code for diagnostic in error.value.diagnostics] == ["CH005", "CH005"]
    assert "trip.yaml has 2 errors" in str(error.value)
    assert "Did you mean 'use'?" in str(error.value)
