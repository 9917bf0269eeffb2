"""Reports as a compiler prints them: the place, the line, a caret under the very character, and the cure."""

import json
import re
from pathlib import Path

import pytest
from tests.cli.terminal import DESK, chargehand

FIND = "steps:\n  - {id: find, use: search, with: {origin: BOS, destination: JFK, day: 2026-11-20}}\n"
OTHERS = " || ".join(f"f.id == 'UA{number}'" for number in range(100, 120))


def report(text: str, name: str = "trip.yaml") -> str:
    Path(name).write_text(text, encoding="utf-8")
    return chargehand("check", name, "--app", DESK).out


def pointed_at(report: str) -> list[str]:
    """What stands in the excerpts from each caret on."""
    excerpts = re.findall(r"^ \d+ (\| .*)\n +(\| *)\^$", report, re.MULTILINE)
    return [line[len(margin) :] for line, margin in excerpts]


def test_a_plain_expression() -> None:
    assert report(f"{FIND}answer:\n  $: find.flights.filter(f, f.prce < 5.0)\n") == (
        """\
trip.yaml:4:31: error CH303: the answer: a Flight record has no field 'prce', in `find.flights.filter(f, f.prce < 5.0)`
 4 |   $: find.flights.filter(f, f.prce < 5.0)
   |                               ^
   = Did you mean 'price'?

1 error in trip.yaml
"""
    )


@pytest.mark.parametrize("quote", ["'", '"'])
def test_a_quoted_expression(quote: str) -> None:
    assert report(f"{FIND}answer: {{$: {quote}1.0 + find.flights[1].prce{quote}}}\n") == (
        f"""\
trip.yaml:3:36: error CH303: the answer: a Flight record has no field 'prce', in `1.0 + find.flights[1].prce`
 3 | answer: {{$: {quote}1.0 + find.flights[1].prce{quote}}}
   |                                    ^
   = Did you mean 'price'?

1 error in trip.yaml
"""
    )


def test_several_findings_on_one_line_of_flow_style() -> None:
    assert report(f"{FIND}answer: [1, {{price: {{$: find.bst.price}}, id: {{$: fnd.best.id}}}}]\n") == (
        """\
trip.yaml:3:30: error CH303: the answer: `find` has no field 'bst', in `find.bst.price`
 3 | answer: [1, {price: {$: find.bst.price}, id: {$: fnd.best.id}}]
   |                              ^
   = Did you mean 'best'?

trip.yaml:3:50: error CH104: the answer refers to 'fnd': no such step
 3 | answer: [1, {price: {$: find.bst.price}, id: {$: fnd.best.id}}]
   |                                                  ^
   = Did you mean 'find'?

2 errors in trip.yaml
"""
    )


def test_json() -> None:
    text = """\
{
  "steps": [
    {"id": "find", "use": "search", "with": {"origin": 3, "destination": "JFK", "day": "2026-02-30"}}
  ],
  "answer": {"$": "find.flights[0].prce"}
}
"""

    assert report(text, "trip.json") == (
        """\
trip.json:3:56: error CH206: step 'find' gives 'origin' a value that does not fit: 3 is not text
 3 |     {"id": "find", "use": "search", "with": {"origin": 3, "destination": "JFK", "day": "2026-02-30"}}
   |                                                        ^

trip.json:3:88: error CH206: step 'find' gives 'day' a value that does not fit: "2026-02-30" is not a date that exists
 3 |     {"id": "find", "use": "search", "with": {"origin": 3, "destination": "JFK", "day": "2026-02-30"}}
   |                                                                                        ^
   = Write it as 2026-11-20.

trip.json:5:36: error CH303: the answer: `find.flights[0]` has no field 'prce', in `find.flights[0].prce`
 5 |   "answer": {"$": "find.flights[0].prce"}
   |                                    ^
   = Did you mean 'price'?

3 errors in trip.json
"""
    )


@pytest.mark.parametrize("style", ["|", "|-", ">", ">-"])
def test_an_expression_in_a_block_is_pointed_at_in_its_line(style: str) -> None:
    shown = report(f"{FIND}answer:\n  $: {style}\n\n    find.flights\n    .filter(f, f.prce < 500.0)\n")

    assert shown.startswith("trip.yaml:7:18: error CH303: ")
    assert pointed_at(shown) == ["prce < 500.0)"]


def test_an_expression_over_several_plain_lines_is_pointed_at_in_its_line() -> None:
    shown = report(f"{FIND}answer:\n  $: find.flights\n    .filter(f,\n    f.prce < 500.0)\n")

    assert pointed_at(shown) == ["prce < 500.0)"]


@pytest.mark.parametrize(
    ("others_before", "others_after"), [(False, True), (True, True), (True, False)], ids=["begin", "middle", "end"]
)
def test_of_a_long_line_the_part_around_the_caret_is_shown(others_before: bool, others_after: bool) -> None:
    before = f"{OTHERS} || " if others_before else ""
    after = f" || {OTHERS}" if others_after else ""

    shown = report(f'{FIND}answer: {{$: "find.flights.filter(f, {before}f.prce < 500.0{after})"}}\n')

    [seen] = pointed_at(shown)
    _, excerpt, carets, *_ = shown.splitlines()
    assert seen.startswith("prce < 500.0")
    assert len(excerpt) <= 120
    assert len(carets) <= 120
    assert excerpt.startswith(" 3 | …") == others_before
    assert excerpt.endswith("…") == others_after
    assert shown.startswith(f"trip.yaml:3:{39 + len(before)}: ")


def test_a_whole_plan_in_one_line_of_json_is_windowed() -> None:
    steps: list[object] = [{"id": f"s{number}", "use": "anything"} for number in range(40)]
    steps[20] = {"id": "odd", "use": "anythin"}

    shown = report(json.dumps({"steps": steps, "answer": {f"a{n}": {"$": f"s{n}"} for n in range(40) if n != 20}}))

    [seen] = pointed_at(shown)
    assert seen.startswith('"anythin"}')
    assert all(len(line) <= 120 for line in shown.splitlines())


def test_a_step_without_arguments_is_pointed_at_itself() -> None:
    assert report("steps:\n  - id: gone\n    use: release\n") == (
        """\
trip.yaml:2:5: error CH204: step 'gone' does not give release the argument 'hold_id'
 2 |   - id: gone
   |     ^
   = Add it under `with`: hold_id takes text.

1 error in trip.yaml
"""
    )


def test_a_missing_argument_is_pointed_at_the_others() -> None:
    assert report(
        "steps:\n  - id: gone\n    use: book\n    with:\n      seats: 2\n    expect: [output.paid > 0.0]\n"
    ) == (
        """\
trip.yaml:4:5: error CH204: step 'gone' does not give book the argument 'flight_id'
 4 |     with:
   |     ^
   = Add it under `with`: flight_id takes text.

1 error in trip.yaml
"""
    )


def test_an_unknown_field_and_an_unknown_argument_are_pointed_at_by_their_names() -> None:
    shown = report("steps:\n  - id: gone\n    use: release\n    with: {hold_id: a, hold: b}\n    retries: 3\n")

    assert pointed_at(shown) == ["hold: b}", "retries: 3"]


def test_a_step_that_does_nothing() -> None:
    assert report("steps:\n  - id: find\n    with: {origin: BOS}\n") == (
        """\
trip.yaml:2:5: error CH008: step 'find' has none of use, ask and goal
 2 |   - id: find
   |     ^
   = A step has exactly one of use (a tool), ask (a skill) and goal (a sub-goal).

1 error in trip.yaml
"""
    )


def test_a_key_that_is_given_twice_is_pointed_at_the_second_time() -> None:
    shown = report("steps:\n  - id: find\n    use: anything\n    id: found\n")

    assert shown.startswith("trip.yaml:4:5: error CH002: ")
    assert pointed_at(shown) == ["id: found"]


@pytest.mark.parametrize(
    ("text", "place", "seen"),
    [
        ("steps:\n  - id: find\n   use: search\n", "3:4", "use: search"),
        ("steps:\n  - id: find\n    limits: {at: 17:00\n", "3:20", ":00"),
        ("steps:\n\t- id: find\n", "2:1", " - id: find"),
    ],
    ids=["indent", "colon", "tab"],
)
def test_text_that_is_not_yaml_is_pointed_at_where_it_breaks(text: str, place: str, seen: str) -> None:
    shown = report(text)

    assert shown.startswith(f"trip.yaml:{place}: error CH001: ")
    assert pointed_at(shown) == [seen]


def test_what_ends_too_early_has_no_line_to_show() -> None:
    shown = report("steps: [\n")

    assert shown.startswith("trip.yaml:2:1: error CH001: ")
    assert pointed_at(shown) == []
    assert " = A quote or a bracket may not be closed.\n" in shown


def test_the_margin_is_as_wide_as_the_number_of_the_line() -> None:
    lines = "# a comment\n" * 98

    assert report(f"{lines}steps:\n  - {{id: find, use: anythin}}\n") == (
        """\
trip.yaml:100:21: error CH201: step 'find' uses the tool 'anythin': no such tool
 100 |   - {id: find, use: anythin}
     |                     ^
     = Did you mean 'anything'?

1 error in trip.yaml
"""
    )


def test_text_of_other_scripts_keeps_lines_and_columns_in_characters() -> None:
    shown = report(f"# Zürich – Genève\n{FIND}answer: {{ü: Köln, $x: {{$: \"find.bst == 'é'\"}}}}\n")

    assert shown.startswith("trip.yaml:4:33: error CH303: ")
    assert pointed_at(shown) == ["bst == 'é'\"}}"]


def test_a_circle_is_pointed_at_its_first_step() -> None:
    assert report("steps:\n  - {id: a, use: anything, after: [b]}\n  - {id: b, use: anything, after: [a]}\n") == (
        """\
trip.yaml:2:5: error CH105: steps wait for each other: a → b → a
 2 |   - {id: a, use: anything, after: [b]}
   |     ^
   = Remove one of the references, or split a step in two.

1 error in trip.yaml
"""
    )
