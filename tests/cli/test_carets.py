"""Where a caret stands: under the very character, however the text is written."""

import json
import time
from pathlib import Path

import pytest
from tests.cli.shop import GOOD, OVERRIDE, check
from tests.cli.terminal import DESK, chargehand
from tests.cli.test_reports import FIND, pointed_at, report

from chargehand.cli import reports
from chargehand.cli.sources import Source, Spot, lines_of
from chargehand.domain.diagnostics import finding

# --- lines ---------------------------------------------------------------------------------------------------------


def test_lines_end_where_the_yaml_reader_ends_them() -> None:
    assert lines_of("a\nb\r\nc\rd\x85e\u2028f\u2029g\x0bh\n") == ["a", "b", "c", "d", "e", "f", "g\x0bh", ""]


def test_the_line_ends_of_windows_are_not_shown() -> None:
    Path("trip.yaml").write_bytes(GOOD.replace("search", "serch").replace("\n", "\r\n").encode())

    assert " 3 |     use: serch\n" in chargehand("check", "trip.yaml", "--app", DESK).out


@pytest.mark.parametrize(
    "text",
    [
        f"{FIND}answer: {{$: nope.x}}\n".replace("\n", "\r"),
        f'goal: "a\u2028b\u2028c"\n{FIND}answer: {{$: nope.x}}\n',
        f"\ufeff{FIND}answer: {{$: nope.x}}\n",
    ],
    ids=ascii,
)
def test_other_line_ends_and_a_mark_at_the_beginning_keep_the_place(text: str) -> None:
    Path("trip.yaml").write_bytes(text.encode())

    assert pointed_at(chargehand("check", "trip.yaml", "--app", DESK).out) == ["nope.x}"]


# --- ways to write a text ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "line"),
    [
        ("|-\n    (nope)", 5),
        (">-\n    (nope)", 5),
        ("| # why\n\n    1 == 1 &&\n      (nope)", 7),
        (">\n    1 == 1 &&\n\n    (nope)", 7),
        ("|2\n      1 ==\n    (nope)", 6),
        (">2\n      1 ==\n    (nope)", 6),
        ("1 == 1\n    &&\n\n    (nope)", 7),
        ("'1 == 1\n\n    && (nope)'", 6),
        ('"1 == 1 \\\n    \\ && (nope)"', 5),
    ],
)
def test_folded_and_indented_text_is_pointed_at_in_its_line(written: str, line: int) -> None:
    shown = report(f"{FIND}answer:\n  $: {written}\n")

    assert shown.startswith(f"trip.yaml:{line}:")
    assert [seen[:5] for seen in pointed_at(shown)] == ["nope)"]


@pytest.mark.parametrize(
    "quoted",
    [
        '"\\"x\\" + nope.x"',
        "'''x'' + nope.x'",
        '"\\u0022x\\x22 + nope.x"',
        '"\\U00000022x\\u0022\\u0020+\\x20nope.x"',
        '"\\"\\\\t\\" +\\tnope.x"',
        '&anchor "\\"x\\" + nope.x"',
    ],
)
def test_escapes_in_quotes_do_not_move_the_caret(quoted: str) -> None:
    [seen] = pointed_at(report(f"{FIND}answer: {{$: {quoted}}}\n"))

    assert seen.startswith("nope.x")


def test_pairs_of_surrogates_in_json_do_not_move_the_caret() -> None:
    text = json.dumps({"goal": "😀", "steps": [], "answer": {"$": "'😀é😀' + nope.x"}})

    [seen] = pointed_at(report(text, "trip.json"))

    assert seen.startswith("nope.x")


def test_half_a_pair_in_json_is_pointed_at() -> None:
    [seen] = pointed_at(report('{"steps": [], "goal": "\\ud83d", "answer": 1}', "trip.json"))

    assert seen.startswith('"\\ud83d"')


def test_a_block_without_text_is_pointed_at_itself() -> None:
    assert pointed_at(report(f"{FIND}answer:\n  a:\n    $: |\n\n  b: {{$: find.best}}\n")) == ["|"]


def test_an_expression_that_ends_too_early_is_pointed_at_behind_its_end() -> None:
    assert pointed_at(report(f"{FIND}answer: {{$: 'find.flights +'}}\n")) == ["'}"]


@pytest.mark.parametrize("path", ["a]", "a].b", "x[y", "[0", "..", "steps[0].with.a]]"])
def test_any_path_has_a_place(path: str) -> None:
    assert Source("1: 2\n").locate(finding("CH007", (path,), "odd")) == Spot(1, 1)


# --- what a character takes on the screen --------------------------------------------------------------------------


def test_marks_that_are_shown_as_numbers_do_not_move_the_caret() -> None:
    [seen] = pointed_at(report(f"{FIND}answer: {{$: \"'{OVERRIDE}' + nope.x\"}}\n"))

    assert seen.startswith("nope.x")


@pytest.mark.parametrize(
    ("before", "wide"),
    [("日本", 4), ("😀", 2), ("e\u0301", 1), ("ｗ\u200d", 2), ("한글", 4), ("\u1112\u1161\u11ab", 2)],
    ids=ascii,
)
def test_the_caret_stands_below_whatever_the_width_of_what_is_before(before: str, wide: int) -> None:
    _, excerpt, caret, *_ = report(f"{FIND}answer: {{$: \"'{before}' + nope.x\"}}\n").splitlines()

    assert caret.index("^") == excerpt.index(before) + wide + len("' + ")


def test_a_long_line_of_wide_characters_is_windowed_by_what_it_takes() -> None:
    text = f"{FIND}answer: {{$: \"'{'日本' * 60}' + nope.x + '{'日本' * 60}'\"}}\n"

    _, excerpt, caret, *_ = report(text).splitlines()

    before = excerpt[: excerpt.index("nope")]
    assert caret.index("^") == sum(2 if sign in "日本" else 1 for sign in before)
    assert excerpt.startswith(" 3 | …")
    assert excerpt.endswith("…")
    assert len(excerpt) < 80


# --- kinds of text, and time ---------------------------------------------------------------------------------------


def test_what_the_reader_says_of_its_place_is_not_said_twice() -> None:
    assert check("a: b: c\n").out.startswith("trip.yaml:1:5: error CH001: mapping values are not allowed")


def test_answers_typed_for_answer_is_a_slip_in_a_plan() -> None:
    said = check(f"{FIND}answers: {{$: find.best}}\n")

    assert said.code == 1
    assert "trip.yaml:3:1: error CH005: " in said.out
    assert "Did you mean 'answer'?" in said.out


def test_a_name_makes_a_playbook() -> None:
    assert "has no `answers`" in check(f"name: look\n{FIND}").out


def test_thousands_of_findings_are_told_quickly() -> None:
    number = 5000
    text = f"steps:\n{''.join(f'  - {{id: s{n}, when: nope{n}.x}}{chr(10)}' for n in range(number))}"
    found = [finding("CH104", ("steps", n, "when"), "no", offset=2) for n in range(number)]

    begin = time.perf_counter()
    source = Source(text)
    spots = [source.locate(one) for one in found]
    lines = list(reports.report(found, "trip.yaml", text))
    took = time.perf_counter() - begin

    assert [spot.line for spot in spots] == list(range(2, number + 2))
    assert len(lines) < 10 * reports.MOST
    assert took < 4
