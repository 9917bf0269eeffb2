"""Plans that once broke the checker: each gets its diagnostics, quickly, and nothing is raised."""

import time
from collections.abc import Callable
from typing import Any, Literal

import pytest
from pydantic import BaseModel
from tests.trips import FIND, booking, codes, found, trip

from chargehand import Chargehand, tool


@pytest.mark.parametrize(
    "text",
    [
        "1/0",
        "int('x')",
        "[1][5]",
        "date('x')",
        "'a'.matches('(')",
        "{'a': 1}.b",
        "dyn(b'a')",
        "dyn([optional.of('a')])",
    ],
)
def test_a_constant_that_cannot_be_worked_out_is_told(text: str) -> None:
    assert codes(trip(booking(**{"with": {"flight_id": {"$": text}}}))) == ["CH304"]


def test_keys_that_look_like_paths_are_only_keys() -> None:
    assert codes({"steps[": 1, "steps": [FIND]}) == ["CH005"]
    assert codes({"steps[x]": 1, "steps": [FIND]}) == ["CH005"]


@pytest.mark.parametrize(
    "schema",
    [
        {"properties": 5},
        {"enum": 5},
        {"properties": {"a": {}}, "required": 5},
        {"required": [["x"]]},
        {"type": "object", "properties": {"x": {"type": "string", "pattern": "("}}},
    ],
)
def test_a_broken_schema_is_told_once_and_not_typed(schema: dict[str, Any]) -> None:
    step = {"id": "letter", "ask": "writing", "task": "Write.", "returns": schema}

    assert codes({"steps": [step], "answer": {"$": "letter.y + 1"}}) == ["CH209"]
    assert codes({"inputs": {"x": {"schema": schema}}, "answer": {"$": "inputs.x.y + 1"}}) == ["CH209"]


@pytest.mark.parametrize("text", ["? " * 60_000, "? - " * 60_000, "[#]\n" * 60_000, '["]",' * 60_000, "{" * 100_000])
def test_no_text_can_exhaust_the_stack(text: str) -> None:
    assert codes(text)[0] in ("CH001", "CH003", "CH004")


@pytest.mark.parametrize(
    ("plan", "expected"),
    [
        ({"steps": {}, "answer": {"$": "a.b"}}, ["CH007"]),
        ({"steps": [FIND] * 5001, "answer": {"$": "a.b"}}, ["CH003"]),
        ({"inputs": ["x"], "steps": [FIND], "answer": {"$": "inputs.x + find.best.id"}}, ["CH007", "CH208"]),
        ({"inputs": {"x": "dat"}, "answer": {"$": "inputs.x + 1"}}, ["CH007"]),
        (trip(answer={"$": "pick.prise + pick.prise"}), ["CH303"]),
        (trip(booking(**{"with": ["x"]})), ["CH007"]),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_what_could_not_be_read_is_not_held_against_the_rest(plan: dict[str, Any], expected: list[str]) -> None:
    assert codes(plan) == expected


def test_an_item_from_the_end_does_not_exist() -> None:
    [finding] = found(trip(answer=[{"$": "find.flights[-1].id"}, {"$": "pick"}]))

    assert (finding.code, "counted from 0" in finding.message) == ("CH304", True)


class Cat(BaseModel):
    kind: Literal["cat"]
    lives: int


class Dog(BaseModel):
    kind: Literal["dog"]
    name: str


@tool(effect="read", egress=[])
def pet(animal: Cat | Dog) -> int:
    """Pets an animal."""
    raise NotImplementedError


@tool(effect="read", egress=[])
def pair(both: tuple[int, str]) -> int:
    """Takes two things."""
    raise NotImplementedError


def test_a_value_with_references_is_held_against_each_choice_of_a_union() -> None:
    desk = Chargehand(tools=[pet, pair])

    def told(animal: object) -> list[str]:
        inputs = {"n": "integer", "t": "text"}
        return [
            one.code
            for one in desk.check({"inputs": inputs, "steps": [{"id": "a", "use": "pet", "with": {"animal": animal}}]})
        ]

    assert told({"kind": "cat", "lives": {"$": "inputs.n"}}) == []
    assert told({"kind": "dog", "name": {"$": "inputs.t"}}) == []
    assert told({"kind": "cow", "lives": {"$": "inputs.n"}}) == ["CH206"]
    assert told({"kind": "cat", "lives": {"$": "inputs.t"}}) == ["CH206"]


def test_sub_goals_with_choices_are_never_mixed_up() -> None:
    """Schemas that live only for a moment must not be taken for one another."""
    playbooks = [
        {
            "name": f"p{n}",
            "answers": [f"Do number {n} with {{j}}"],
            "inputs": {"j": {"choices": [f"w{n}"]}},
            "answer": {"$": "inputs.j"},
        }
        for n in range(30)
    ]
    desk = Chargehand(playbooks=playbooks)
    steps = [{"id": f"s{n}", "goal": f"Do number {n} with x", "with": {"j": {"$": f"inputs.k{n}"}}} for n in range(30)]
    inputs = {f"k{n}": {"choices": [f"w{n}"]} for n in range(30)}

    for _ in range(5):
        assert desk.check({"inputs": inputs, "steps": steps}) == []


def reversed_chain() -> dict[str, Any]:
    chain = [{**FIND, "id": f"s{n}", "after": [f"s{n + 1}"]} for n in range(1999)]
    return {"steps": [*chain, {**FIND, "id": "s1999", "when": "true"}]}


def all_irreversible() -> dict[str, Any]:
    checks = ["output.paid > 0.0"]
    steps = [booking(id=f"s{n}", **{"with": {"flight_id": str(n)}}, expect=checks) for n in range(300)]
    return {"all_or_nothing": True, "steps": steps}


def unknown_everywhere() -> dict[str, Any]:
    return {"steps": [{"id": f"s{n}", "use": "hold", "with": {"flight_id": {"$": f"s{n}x.id"}}} for n in range(800)]}


@pytest.mark.slow
@pytest.mark.parametrize("make", [reversed_chain, all_irreversible, unknown_everywhere])
def test_a_large_plan_with_trouble_is_checked_in_seconds(make: Callable[[], dict[str, Any]]) -> None:
    plan = make()
    began = time.perf_counter()

    found(plan)

    assert time.perf_counter() - began < 6
