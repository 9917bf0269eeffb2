"""The form of a plan: unknown, missing and wrong fields, all told at once."""

from typing import Any

import pytest
from tests.trips import FIND, booking, codes, found, trip


@pytest.mark.parametrize(
    ("plan", "code", "path"),
    [
        ("steps: [", "CH001", ""),
        ("steps: []\nsteps: []", "CH002", "steps"),
        ("- 1", "CH007", ""),
        ("just text", "CH007", ""),
        (3, "CH007", ""),
        (None, "CH007", ""),
        ({"stepz": []}, "CH005", "stepz"),
        ({"steps": {}}, "CH007", "steps"),
        ({"steps": "find"}, "CH007", "steps"),
        ({"steps": [3]}, "CH007", "steps[0]"),
        ({"steps": [{"use": "search"}]}, "CH006", "steps[0].id"),
        ({"steps": [{"id": 3, "use": "search"}]}, "CH007", "steps[0].id"),
        ({"steps": [{"id": "a"}]}, "CH008", "steps[0]"),
        ({"steps": [{"id": "a", "use": "search", "ask": "writing"}]}, "CH008", "steps[0]"),
        ({"steps": [{"id": "a", "ask": "writing"}]}, "CH006", "steps[0].task"),
        (trip(booking(task="x")), "CH008", "steps[2].task"),
        (trip(booking(returns={"type": "string"})), "CH008", "steps[2].returns"),
        (trip(booking(colour="red")), "CH005", "steps[2].colour"),
        (trip(booking(expect="output.paid > 1.0")), "CH007", "steps[2].expect"),
        (trip(booking(if_fails="explode")), "CH007", "steps[2].if_fails"),
        (trip(booking(limits={"secs": 1})), "CH005", "steps[2].limits.secs"),
        (trip(booking(**{"with": {"flight_id": {"$": "pick.id", "or": 1}}})), "CH009", "steps[2].with.flight_id"),
        (trip(booking(**{"with": {"flight_id": {"$": 3}}})), "CH009", "steps[2].with.flight_id"),
        (trip(revision=-1), "CH007", "revision"),
        (trip(inputs={"x": "colour"}), "CH007", "inputs.x.type"),
        (trip(inputs={"x": 3}), "CH007", "inputs.x"),
        (trip(inputs=[]), "CH007", "inputs"),
        (trip(inputs={"x y": "text"}), "CH603", "inputs.x y"),
        ({"steps": [FIND] * 5001}, "CH003", "steps"),
        ({"steps": [FIND] * 100_000}, "CH003", "steps"),
    ],
    ids=lambda value: repr(value)[:40],
)
def test_a_plan_of_the_wrong_form_gets_one_diagnostic_at_its_place(plan: Any, code: str, path: str) -> None:
    errors = [(finding.code, finding.path) for finding in found(plan) if finding.severity == "error"]

    assert errors == [(code, path)]


def test_all_errors_are_told_at_once_in_the_order_of_the_plan() -> None:
    plan = {
        "steps": [
            {**FIND, "use": "serch"},
            {**FIND, "id": "second", "colour": "red"},
            {"id": "third", "use": "book", "with": {"flight_id": {"$": "secnd.id"}}, "expect": ["output.paid > 1.0"]},
        ],
        "answer": {"$": "third.refrence"},
    }

    assert codes(plan) == ["CH201", "CH005", "CH104", "CH303"]


def test_a_broken_step_does_not_break_those_that_refer_to_it() -> None:
    assert codes(
        {"steps": [{"id": "find"}, {"id": "pick", "use": "cheapest", "with": {"flights": {"$": "find.x"}}}]}
    ) == ["CH008"]


def test_text_mapping_and_plan_get_the_same_diagnostics() -> None:
    import json

    from chargehand import Plan

    plan = trip(booking(**{"with": {"flight_id": {"$": "pik.id"}}}))

    assert found(plan) == found(json.dumps(plan)) == found(Plan.parse(plan))
