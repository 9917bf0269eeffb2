"""Types inside expressions: wrong fields, wrong comparisons, wrong conditions; macros included."""

from typing import Any

import pytest
from tests.trips import booking, codes, found, trip


def answered(text: str) -> list[Any]:
    return found(trip(booking(), answer={"$": text}))


@pytest.mark.parametrize(
    ("text", "field", "hint"),
    [
        ("pick.prise", "prise", "price"),
        ("find.flights[0].prise", "prise", "price"),
        ("find.flights.map(f, f.prise)", "prise", "price"),
        ("find.flights.filter(f, f.prise < 5.0)", "prise", "price"),
        ("find.flights.filter(f, f.price < 5.0).map(g, g.idd)", "idd", "id"),
        ("find.flights.exists(f, f.tags.exists(t, f.tgas == f.tags))", "tgas", "tags"),
        ("min_by(find.flights, 'prise').id", "prise", "price"),
        ("min_by(find.flights, 'price').idd", "idd", "id"),
        ("sort_by(find.flights, 'price').map(f, f.idd)", "idd", "id"),
        ("find.best.prise", "prise", "price"),
        ("find.by_carrier['BA'].prise", "prise", "price"),
        ("booked.flight.prise", "prise", "price"),
        ("has(find.bst)", "bst", "best"),
        ("[pick][0].prise", "prise", "price"),
        ("(pick.seats > 1 ? pick : find.flights[0]).prise", "prise", "price"),
    ],
)
def test_a_wrong_field_is_found_wherever_it_hides(text: str, field: str, hint: str) -> None:
    [finding] = [one for one in answered(text) if one.severity == "error"]

    assert (finding.code, finding.hint) == ("CH303", f"Did you mean {hint!r}?")
    assert repr(field) in finding.message
    assert finding.path == "answer.$"
    if not text.startswith("has"):  # the library gives the place of the whole has()
        assert text[finding.offset :].startswith((field, f"'{field}"))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("pick.id == 3", "Convert one of them"),
        ("pick.id < 3", "Convert one of them"),
        ("pick.price < 500", "500.0"),
        ("find.flights.all(f, f.price < 500)", "500.0"),
        ("pick.price + 1", "500.0"),
        ("find.flights.exists(f, f.id == 3)", "Convert one of them"),
        ("pick.id + pick.price", "Convert one of them"),
        ("pick.seats ? 1 : 2", "condition must be true or false"),
        ("pick.seats > 1 ? null : pick.id", "dyn(null)"),
        ("-pick.id", ""),
        ("find.best['id'] + 'x'", "with a dot"),
        ("sum(find.flights.map(f, f.id))", ""),
        ("sum(pick.id)", ""),
        ("time(pick.seats) < time('17:00')", ""),
        ("min_by(find.flights, 'tags').id", "a number or text"),
        ("find.flights.size() > 'a'", "Convert one of them"),
    ],
)
def test_types_that_do_not_go_together_are_refused(text: str, hint: str) -> None:
    findings = answered(text)

    assert [finding.code for finding in findings] == ["CH304"], findings
    assert hint in findings[0].hint


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("pick.id.lower()", "Did you mean 'lowerAscii'?"),
        ("find.flights.sortBy(f, f.price)", "Did you mean 'sort_by'?"),
        ("summ([1])", "Did you mean 'sum'?"),
        ("frobnicate(pick)", "a tool's work"),
        ("find.flights.map(f)", "It takes a variable and an expression"),
        ("cel.bind(x, pick, x.id)", ""),
    ],
)
def test_an_unknown_function_is_refused_and_nothing_else_said(text: str, hint: str) -> None:
    [finding] = [one for one in answered(text) if one.severity == "error"]

    assert finding.code == "CH302"
    assert hint in finding.hint


@pytest.mark.parametrize("field", ["when", "expect"])
@pytest.mark.parametrize("text", ["pick.price", "pick.id", "find.flights", "pick.seats + 1", "'yes'"])
def test_a_condition_is_true_or_false(field: str, text: str) -> None:
    fields: dict[str, Any] = {field: text if field == "when" else [text]}

    assert "CH305" in codes(trip(booking(**fields)))


@pytest.mark.parametrize("text", ["pick", "pick.id", "pick.seats", "find.by_carrier", "pick.id + 'x'", "find.best"])
def test_each_goes_over_a_list(text: str) -> None:
    assert codes(trip(booking(each=text, **{"with": {"flight_id": "x"}}))) == ["CH306"]


@pytest.mark.parametrize(
    "text", ["find.flights", "find.flights.filter(f, f.seats > 0)", "sort_by(find.flights, 'price')"]
)
def test_item_has_the_type_of_what_each_goes_over(text: str) -> None:
    step = {"use": "book", "id": "booked", "each": text, "expect": ["output.paid <= item.price"]}

    assert found(trip({**step, "with": {"flight_id": {"$": "item.id"}}})) == []
    assert codes(trip({**step, "with": {"flight_id": {"$": "item.idd"}}})) == ["CH303"]
    assert codes(trip({**step, "with": {"flight_id": {"$": "item.idd + 'x'"}}})) == ["CH303"]
    assert codes(trip({**step, "with": {"flight_id": {"$": "item.price"}}})) == ["CH207"]


def test_output_and_args_have_the_tools_types() -> None:
    assert found(trip(booking(expect=["output.paid > 0.0 && args.flight_id == pick.id"]))) == []
    assert codes(trip(booking(expect=["output.payd > 0.0"]))) == ["CH303"]
    assert codes(trip(booking(expect=["output.paid > 0.0 && args.flight == pick.id"]))) == ["CH303"]


def test_a_check_that_does_not_look_at_the_output_is_a_warning() -> None:
    assert codes(trip(booking(expect=["pick.price > 1.0"]))) == ["CH308"]


def test_a_skipped_step_may_be_null_where_maybe_says_so() -> None:
    optional = booking(id="first", when="pick.seats > 0")
    join: dict[str, Any] = {"id": "join", "use": "hold", "maybe": ["first"]}

    assert (
        found(trip(optional, {**join, "with": {"flight_id": {"$": "first == null ? 'none' : first.reference"}}})) == []
    )
    assert codes(trip(optional, {**join, "with": {"flight_id": {"$": "first.reference"}}})) == ["CH208"]
    assert codes(trip(optional, {**join, "with": {"flight_id": {"$": "first == null ? '' : first.refrence"}}})) == [
        "CH303"
    ]


@pytest.mark.parametrize(
    ("text", "code"),
    [("1 +", "CH301"), ("find.flights[", "CH301"), ("a" * 5000, "CH307"), ("(" * 200 + "1" + ")" * 200, "CH307")],
)
def test_what_cannot_be_read_is_told_once(text: str, code: str) -> None:
    assert codes(trip(booking(), answer={"$": text})) == [code]


def test_a_value_that_no_step_can_be_given_is_refused() -> None:
    assert codes(trip(booking(), answer={"$": "b'x'"})) == ["CH207"]
    assert codes(trip(booking(), answer={"$": "pick.?note"})) == ["CH207"]


def test_nested_lists_are_typed_as_variables_and_dynamic_as_fields() -> None:
    assert found(trip(booking(), answer={"$": "[[pick]][0][0].id"})) == []
    assert codes(trip(booking(), answer={"$": "[[pick]][0][0].idd"})) == ["CH303"]
    assert found(trip(booking(), answer={"$": "pick.legs.map(l, l.size())"})) == []


def test_a_remark_at_the_end_of_an_expression_is_allowed() -> None:
    assert found(trip(booking(expect=["output.paid > 0.0 // it was not free"]))) == []


def test_every_error_of_an_expression_is_told_once() -> None:
    findings = answered("pick.prise > 1.0 && find.flights.all(f, f.seets > 1) && pick.id == 3")

    assert [finding.code for finding in findings] == ["CH303", "CH303", "CH304"]


def test_a_wrong_field_is_not_followed_by_errors_about_it() -> None:
    assert [finding.code for finding in answered("find.flights.map(f, f.bst.price + 1)")] == ["CH303"]
