"""What steps are given: tools, skills, goals and arguments."""

from typing import Any

import pytest
from tests.trips import FIND, booking, codes, found, trip


def given(**arguments: object) -> dict[str, object]:
    return trip(booking(**{"with": {"flight_id": "x", **arguments}}))


def test_an_unknown_tool_names_the_nearest() -> None:
    [finding] = found({"steps": [{**FIND, "use": "serch"}]})

    assert (finding.code, finding.path, finding.hint) == ("CH201", "steps[0].use", "Did you mean 'search'?")


def test_what_an_unknown_tool_gives_is_not_complained_about() -> None:
    assert codes(trip(booking(use="bok"), answer={"$": "booked.whatever.it.is"})) == ["CH201"]


def test_an_unknown_skill_is_refused() -> None:
    step = {"id": "letter", "ask": "riting", "task": "Write it."}

    assert codes({"steps": [step]}) == ["CH202"]
    assert codes({"steps": [{**step, "ask": "writing"}]}) == []


class TestSubGoals:
    def test_must_be_answered_by_a_playbook(self) -> None:
        assert codes({"steps": [{"id": "sub", "goal": "Make me a sandwich"}]}) == ["CH203"]

    def test_take_their_inputs_from_words_and_arguments(self) -> None:
        step = {"id": "sub", "goal": "Find me a hotel in Paris", "with": {"stars": 4}}

        assert found({"steps": [step], "answer": {"$": "sub.name"}}) == []

    def test_are_checked_against_the_playbooks_inputs_and_answer(self) -> None:
        step: dict[str, Any] = {"id": "sub", "goal": "Find me a hotel in Paris"}

        assert codes({"steps": [{**step, "with": {"stars": "four"}}]}) == ["CH206"]
        assert codes({"steps": [{**step, "with": {"strs": 4}}]}) == ["CH205"]
        assert codes({"steps": [step], "answer": {"$": "sub.nme"}}) == ["CH303"]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"flight_id": 3}, "3 is not text"),
        ({"seats": 0}, "0 is less than the minimum of 1"),
        ({"seats": 10}, "10 is greater than the maximum of 9"),
        ({"seats": "2"}, '"2" is not a whole number'),
        ({"kind": "double"}, '"double" is not one of "single" or "return"'),
        ({"options": {"meal": 3}}, "valid under any"),
        ({"flight_id": None}, "nothing is not text"),
    ],
)
def test_a_literal_that_does_not_fit_its_schema_is_refused(arguments: dict[str, object], said: str) -> None:
    [finding] = found(given(**arguments))

    assert (finding.code, said in finding.message) == ("CH206", True), finding.message


@pytest.mark.parametrize(
    ("day", "expected"),
    [("2026-11-20", []), ("2026-02-30", ["CH206"]), ("Friday", ["CH206"]), ("2026-11-20T10:00:00", ["CH206"])],
)
def test_dates_must_exist(day: str, expected: list[str]) -> None:
    step = {**FIND, "with": {"origin": "BOS", "destination": "JFK", "day": day}}

    assert codes({"steps": [step]}) == expected


@pytest.mark.parametrize(("time", "expected"), [("17:00", []), ("17:00:00", []), ("25:00", ["CH206"]), (None, [])])
def test_times_need_no_zone(time: str | None, expected: list[str]) -> None:
    pick = {"id": "again", "use": "cheapest", "with": {"flights": {"$": "find.flights"}, "arrive_before": time}}

    assert codes(trip(pick)) == expected


def test_a_missing_argument_is_named_with_its_type() -> None:
    [finding] = found({"steps": [{**FIND, "with": {"origin": "BOS", "destination": "JFK"}}]})

    assert (finding.code, finding.path) == ("CH204", "steps[0].with")
    assert "'day'" in finding.message
    assert "day takes a date" in finding.hint


def test_an_unknown_argument_names_the_nearest_and_is_told_once() -> None:
    step = {**FIND, "with": {"origin": "BOS", "destinaton": "JFK", "day": "2026-11-20"}}

    [finding] = found({"steps": [step]})

    assert (finding.code, finding.hint) == ("CH205", "Did you mean 'destination'?")


class TestExpressionsAgainstParameters:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("pick.price", "which is a number; it takes text"),
            ("pick.seats", "which is a whole number; it takes text"),
            ("find.flights", "which is a list of Flight records; it takes text"),
            ("find", "which is a FlightList record; it takes text"),
            ("pick.seats > 1", "which is true or false; it takes text"),
            ("find.flights.map(f, f.id)", "which is a list of text; it takes text"),
            ("sum(find.flights.map(f, f.price))", "which is a number; it takes text"),
            ("{'a': pick.id}", "which is a map; it takes text"),
            ("find.by_carrier", "which is a map; it takes text"),
        ],
    )
    def test_a_wrong_type_is_refused(self, text: str, said: str) -> None:
        [finding] = found(given(flight_id={"$": text}))

        assert (finding.code, said in finding.message) == ("CH207", True), finding.message

    @pytest.mark.parametrize(
        "text",
        [
            "pick.id",
            "string(pick.seats)",
            "find.flights[0].tags[0]",
            "find.by_carrier['BA'].id",
            "find.by_carrier.BA.id",
            "min_by(find.flights, 'price').id",
            "sort_by(find.flights, 'price')[0].id",
            "find.flights.filter(f, f.price < 500.0)[0].id",
            "pick.seats > 1 ? pick.id : 'none'",
            "find.flights.map(f, f.id).join(',')",
            "find.flights[0].cabin",
        ],
    )
    def test_a_fitting_type_is_accepted(self, text: str) -> None:
        assert found(given(flight_id={"$": text})) == []

    @pytest.mark.parametrize(
        ("name", "text", "hint"),
        [
            ("seats", "pick.price", "int(…)"),
            ("seats", "pick.id", "double(…) or int(…)"),
            ("flight_id", "pick.price", "string(…)"),
            ("flight_id", "pick.tags", "[0]"),
        ],
    )
    def test_a_conversion_is_proposed(self, name: str, text: str, hint: str) -> None:
        [finding] = found(given(**{name: {"$": text}}))

        assert hint in finding.hint

    def test_a_whole_number_is_a_number_but_not_the_other_way_round(self) -> None:
        assert found(given(seats={"$": "pick.seats"})) == []
        assert codes(given(seats={"$": "pick.price"})) == ["CH207"]

    @pytest.mark.parametrize("text", ["null", "3", "'sofa' == 'bed'"])
    def test_an_expression_that_is_one_value_is_held_against_the_schema(self, text: str) -> None:
        assert codes(given(flight_id={"$": text})) == ["CH206"]
        assert codes(given(kind={"$": "'double'"})) == ["CH206"]
        assert found(given(kind={"$": "'return'"})) == []

    def test_the_field_that_would_fit_is_proposed(self) -> None:
        pick = {"id": "again", "use": "cheapest", "with": {"flights": {"$": "find"}}}

        [finding] = found(trip(pick))

        assert finding.hint == "Did you mean find.flights?"

    def test_types_go_through_lists_maps_and_records(self) -> None:
        pick = {"id": "again", "use": "cheapest"}

        assert found(trip({**pick, "with": {"flights": {"$": "[pick, pick]"}}})) == []
        assert codes(trip({**pick, "with": {"flights": {"$": "[pick.id]"}}})) == ["CH207"]
        assert codes(trip({**pick, "with": {"flights": [{"$": "pick.id"}]}})) == ["CH207"]
        assert found(trip({**pick, "with": {"flights": [{"$": "pick"}, {"$": "find.flights[0]"}]}})) == []
        assert codes(given(options={"meal": {"$": "pick.seats"}})) == ["CH207"]
        assert found(given(options={"meal": {"$": "pick.id"}})) == []

    def test_a_record_built_in_place_is_checked_field_by_field(self) -> None:
        notice: dict[str, Any] = {"id": "notice", "use": "write_notice"}

        def told(**booking: object) -> list[str]:
            return codes(trip({**notice, "with": {"booking": booking}}))

        assert told(reference="A", paid={"$": "pick.price"}, flight={"$": "pick"}) == []
        assert told(reference="A", paid={"$": "pick.id"}, flight={"$": "pick"}) == ["CH207"]
        assert told(reference="A", paid={"$": "pick.price"}) == ["CH206"]
        assert told(reference=1, paid={"$": "pick.price"}, flight={"$": "pick"}) == ["CH206"]

    @pytest.mark.parametrize(
        ("source", "expected"),
        [("date", []), ("text", []), ("moment", ["CH207"]), ("time", ["CH207"]), ("number", ["CH207"])],
    )
    def test_formats_of_text_are_told_apart(self, source: str, expected: list[str]) -> None:
        step = {**FIND, "with": {"origin": "BOS", "destination": "JFK", "day": {"$": "inputs.day"}}}

        assert codes({"inputs": {"day": source}, "steps": [step]}) == expected

    @pytest.mark.parametrize(
        ("choices", "expected"), [(["economy"], []), (["economy", "sofa"], ["CH208"]), (["sofa"], ["CH207"])]
    )
    def test_choices_must_overlap(self, choices: list[str], expected: list[str]) -> None:
        arguments = {"origin": "A", "destination": "B", "day": "2026-11-20", "cabin": {"$": "inputs.cabin"}}
        inputs = {"cabin": {"type": "text", "choices": choices}}

        assert codes({"inputs": inputs, "steps": [{**FIND, "with": arguments}]}) == expected

    def test_what_is_not_declared_is_left_to_the_running_step(self) -> None:
        anything = {"id": "some", "use": "anything"}

        assert found(trip(anything, booking(**{"with": {"flight_id": {"$": "some.where.deep[3]"}}}))) == []


class TestWhatMayBeMissing:
    @pytest.mark.parametrize(
        ("text", "said"),
        [
            ("pick.note", "which is text or nothing"),
            ("find.best.id", "`find.best` may be missing"),
            ("find.best.note", "`find.best` may be missing"),
            ("find.best.id + 'x'", "`find.best` may be missing"),
            ("pick.note.trim()", "`pick.note` may be missing"),
            ("'x' + pick.note", "`pick.note` may be missing"),
        ],
    )
    def test_is_a_warning_where_it_is_needed(self, text: str, said: str) -> None:
        [finding] = found(given(flight_id={"$": text}))

        assert (finding.code, finding.severity) == ("CH208", "warning")
        assert said in finding.message

    def test_is_fine_where_null_is_accepted(self) -> None:
        pick: dict[str, Any] = {
            "id": "again",
            "use": "cheapest",
            "with": {"flights": [], "arrive_before": {"$": "inputs.at"}},
        }

        assert found({"inputs": {"at": "time"}, "steps": [pick]}) == []
        assert found(given(options={"$": "find.best == null ? dyn(null) : {'a': 'b'}"})) == []

    @pytest.mark.parametrize(
        "text",
        [
            "find.best == null ? 'none' : find.best.id",
            "pick.note != null ? pick.note.trim() : ''",
            "has(find.best.id) ? find.best.id + 'x' : ''",
            "pick.note == null ? 'a' : 'b'",
        ],
    )
    def test_is_fine_where_the_expression_asks(self, text: str) -> None:
        assert found(given(flight_id={"$": text})) == []

    def test_is_fine_behind_a_guard(self) -> None:
        step = booking(
            when="find.best != null", **{"with": {"flight_id": {"$": "find.best.id"}}}, expect=["output.paid > 0.0"]
        )

        assert found(trip(step)) == []

    def test_counts_fields_that_are_not_required(self) -> None:
        notice = {"id": "notice", "use": "write_notice", "with": {"booking": {"$": "booked"}}}
        held = {"id": "held", "use": "hold", "with": {"flight_id": {"$": "notice.subject"}}}

        assert codes(trip(booking(), notice, held)) == ["CH208"]


class TestSchemas:
    def test_a_broken_schema_is_refused(self) -> None:
        step: dict[str, Any] = {"id": "letter", "ask": "writing", "task": "Write."}

        assert codes({"steps": [{**step, "returns": {"type": "strin"}}]}) == ["CH209"]
        assert codes({"steps": [{**step, "returns": {"$ref": "https://example.org/x.json"}}]}) == ["CH209"]
        assert codes({"inputs": {"x": {"schema": {"type": 3}}}, "steps": [step]}) == ["CH209"]

    def test_what_a_specialist_returns_is_typed_by_its_schema(self) -> None:
        letter = {
            "id": "letter",
            "ask": "writing",
            "task": "Write.",
            "returns": {"type": "object", "properties": {"body": {"type": "string"}}, "required": ["body"]},
        }

        assert found({"steps": [letter], "answer": {"$": "letter.body"}}) == []
        assert codes({"steps": [letter], "answer": {"$": "letter.bdy"}}) == ["CH303"]

    def test_the_value_of_an_input_follows_its_type(self) -> None:
        assert codes({"inputs": {"x": {"type": "number", "value": "a"}}, "answer": {"$": "inputs.x"}}) == ["CH206"]
