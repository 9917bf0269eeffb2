"""Ids, references and the graph."""

import pytest
from tests.trips import FIND, PICK, booking, codes, found, trip


def test_a_sound_plan_has_nothing_to_say() -> None:
    assert found(trip(booking(), answer={"$": "booked.reference"})) == []


@pytest.mark.parametrize("id", ["in-valid", "1st", "a b", "ä", "x.y", "_hidden", "a" * 65])
def test_an_illegal_id_is_refused(id: str) -> None:
    assert codes({"steps": [{**FIND, "id": id}]}) == ["CH101"]


@pytest.mark.parametrize("id", ["list", "map", "int", "type", "in", "true", "inputs", "output", "item", "args", "math"])
def test_an_id_that_is_a_word_of_the_language_is_refused_once(id: str) -> None:
    later = {"id": "pick", "use": "cheapest", "with": {"flights": {"$": f"{id}.flights"}}}
    steps = [{**FIND, "id": id}, later] if id not in ("in", "true") else [{**FIND, "id": id}]

    assert codes({"steps": steps})[0] == "CH102"
    assert "CH304" not in codes({"steps": steps})


def test_two_steps_of_one_id_are_refused() -> None:
    assert codes({"steps": [FIND, FIND]}) == ["CH103"]


def test_a_reference_to_nothing_names_the_nearest_step() -> None:
    [finding] = found(trip(booking(**{"with": {"flight_id": {"$": "pik.id"}}})))

    assert (finding.code, finding.step, finding.path) == ("CH104", "booked", "steps[2].with.flight_id.$")
    assert str(finding) == "CH104 step 'booked' refers to 'pik': no such step. Did you mean 'pick'?"


@pytest.mark.parametrize("field", ["after", "maybe"])
def test_order_names_steps_that_exist(field: str) -> None:
    assert codes(trip(booking(**{field: ["pik"]}))) == ["CH104"]


def test_an_input_forgotten_after_its_prefix_is_recognised() -> None:
    [finding] = found(trip(booking(**{"with": {"flight_id": {"$": "number"}}}), inputs={"number": "text"}))

    assert (finding.code, finding.hint) == ("CH104", "Write inputs.number.")


def test_an_undeclared_input_is_refused() -> None:
    [finding] = found(trip(booking(**{"with": {"flight_id": {"$": "inputs.numbr"}}}), inputs={"number": "text"}))

    assert (finding.code, finding.hint) == ("CH106", "Did you mean 'number'?")


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("with", {"flight_id": {"$": "output.reference"}}),
        ("with", {"flight_id": {"$": "item"}}),
        ("when", "output.paid > 1.0"),
        ("when", "item == 1"),
        ("each", "args.flights"),
        ("expect", ["item == 1 && output.paid > 1.0"]),
        ("when", "failure.step == 'x'"),
    ],
)
def test_a_name_means_something_only_in_its_place(field: str, value: object) -> None:
    assert codes(trip(booking(**{field: value}))) == ["CH107"]


def test_item_is_known_in_a_step_with_each() -> None:
    step = booking(
        each="find.flights", **{"with": {"flight_id": {"$": "item.id"}}}, expect=["output.paid <= item.price"]
    )

    assert found(trip(step)) == []


def test_the_step_is_a_list_for_others_and_one_output_for_its_own_checks() -> None:
    many = booking(each="find.flights", **{"with": {"flight_id": {"$": "item.id"}}}, expect=["output.paid > 0.0"])

    assert found(trip(many, answer=[{"$": "booked.map(b, b.reference)"}, {"$": "pick"}])) == []
    assert codes(trip(many, answer=[{"$": "booked.reference"}, {"$": "pick"}])) == ["CH303"]


class TestCircles:
    @pytest.mark.parametrize(
        ("steps", "circle"),
        [
            ([{**FIND, "after": ["find"]}], "refers to itself"),
            ([booking(id="a", **{"with": {"flight_id": {"$": "a.reference"}}})], "step 'a' refers to itself"),
            ([{**FIND, "after": ["pick"]}, PICK], "find → pick → find"),
            (
                [
                    {**FIND, "id": "a", "when": "b.id != ''"},
                    {"id": "b", "use": "cheapest", "with": {"flights": {"$": "c.flights"}}},
                    {**FIND, "id": "c", "after": ["a"]},
                ],
                "a → b → c → a",
            ),
        ],
    )
    def test_are_told_once_with_their_way(self, steps: list[dict[str, object]], circle: str) -> None:
        circles = [finding for finding in found({"steps": steps}) if finding.code == "CH105"]

        assert [circle in finding.message for finding in circles] == [True]

    def test_two_circles_are_two_findings(self) -> None:
        steps = [{**FIND, "id": id, "after": [other]} for id, other in ["ab", "ba", "cd", "dc"]]

        assert codes({"steps": steps}) == ["CH105", "CH105"]

    def test_what_only_waits_for_a_circle_is_not_part_of_it(self) -> None:
        steps = [{**FIND, "id": id, "after": [other]} for id, other in ["ab", "ba", "cb"]]

        assert codes({"steps": steps}) == ["CH105"]

    def test_a_circle_of_five_thousand_steps_is_found_quickly(self) -> None:
        steps = [{**FIND, "id": f"s{number}", "after": [f"s{(number + 1) % 5000}"]} for number in range(5000)]

        assert codes({"steps": steps}) == ["CH105"]


class TestTheAnswer:
    @pytest.mark.parametrize(
        "fields", [{"when": "size(find.flights) > 0"}, {"if_fails": "skip"}, {"when": "false", "if_fails": "stop"}]
    )
    def test_does_not_refer_to_a_step_that_may_be_skipped(self, fields: dict[str, object]) -> None:
        assert codes(trip(booking(**fields), answer={"$": "booked.reference"})) == ["CH108"]

    def test_nor_to_one_that_uses_such_a_step(self) -> None:
        notice = {"id": "notice", "use": "write_notice", "with": {"booking": {"$": "booked"}}}

        [finding] = found(trip(booking(if_fails="skip"), notice, answer={"$": "notice"}))

        assert finding.code == "CH108"
        assert "with a step that it uses" in finding.message

    def test_may_refer_to_a_step_that_joins_the_branches(self) -> None:
        join = {"id": "join", "use": "hold", "with": {"flight_id": {"$": "booked == null ? 'none' : booked.reference"}}}

        assert found(trip(booking(when="pick.seats > 0"), {**join, "maybe": ["booked"]}, answer={"$": "join"})) == []

    def test_may_be_without_steps(self) -> None:
        assert found({"answer": "Hello"}) == []

    def test_or_there_must_be_steps(self) -> None:
        assert codes({}) == ["CH006"]


class TestUnusedSteps:
    def test_a_read_that_nobody_uses_is_a_warning(self) -> None:
        [finding] = found(trip(answer={"$": "find.flights"}))

        assert (finding.code, finding.severity, finding.step) == ("CH109", "warning", "pick")

    def test_an_effect_is_its_own_use(self) -> None:
        assert found(trip(booking(), answer={"$": "find.flights"})) == []

    def test_without_an_answer_all_that_was_found_is_told(self) -> None:
        assert found(trip()) == []

    def test_nothing_is_said_while_references_are_broken(self) -> None:
        assert codes(trip(answer={"$": "pik.id"})) == ["CH104"]
