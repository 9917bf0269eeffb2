"""Effects and limits."""

from typing import Any

from tests.trips import FIND, booking, codes, found, trip

HELD: dict[str, object] = {"id": "held", "use": "hold", "with": {"flight_id": {"$": "pick.id"}}}


def test_an_irreversible_step_without_a_check_is_a_warning() -> None:
    [finding] = found(trip(booking(expect=None)))

    assert (finding.code, finding.severity, finding.step) == ("CH401", "warning", "booked")


class TestAllOrNothing:
    def test_what_cannot_be_undone_comes_last(self) -> None:
        assert codes(trip(booking(), HELD, all_or_nothing=True)) == ["CH402"]
        assert found(trip(booking(after=["held"]), HELD, all_or_nothing=True)) == []
        assert found(trip(booking(), HELD)) == []

    def test_two_irreversible_steps_cannot_both_be_last(self) -> None:
        second = booking(id="second", **{"with": {"flight_id": "other"}}, after=["booked"])

        assert codes(trip(booking(), second, all_or_nothing=True)) == ["CH402"]

    def test_a_write_can_be_undone(self) -> None:
        release: dict[str, Any] = {"id": "freed", "use": "release", "with": {"hold_id": {"$": "held.hold_id"}}}

        assert codes(trip(HELD, release, all_or_nothing=True)) == ["CH403"]
        assert found(trip(HELD, release)) == []


def test_the_same_effect_twice_is_a_warning() -> None:
    assert codes(trip(booking(), booking(id="again"))) == ["CH404"]
    assert found(trip(booking(), booking(id="again", **{"with": {"flight_id": "other"}}))) == []
    assert found({"steps": [FIND, {**FIND, "id": "again"}]}) == []


def test_only_what_a_reading_tool_gave_can_be_too_old() -> None:
    def fresh(reference: dict[str, object], **fields: object) -> list[str]:
        return codes(trip(booking(**{"with": {"flight_id": reference}, **fields}), inputs={"id": "text"}))

    assert fresh({"$": "pick.id", "max_age": 300}) == []
    assert fresh({"$": "inputs.id", "max_age": 300}) == ["CH406"]
    assert fresh({"$": "item.id", "max_age": 300}, each="find.flights") == ["CH406"]


def test_a_limit_that_one_call_exceeds_is_refused() -> None:
    assert codes(trip(booking(limits={"usd": 0.1}))) == ["CH405"]
    assert found(trip(booking(limits={"usd": 0.5, "seconds": 30}))) == []


def test_a_limit_must_be_a_number_that_makes_sense() -> None:
    assert codes(trip(booking(limits={"seconds": 0}))) == ["CH007"]
    assert codes(trip(booking(limits={"usd": -1}))) == ["CH007"]
