"""Reading text: strict, with the place of everything, and a clear word for whatever cannot be read."""

import contextlib
import json
import math
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from chargehand.domain.text import Unreadable, places, read, to_yaml, vet


def refused(text: str) -> tuple[str, str]:
    """The code and message with which a text is refused."""
    try:
        problems = vet(read(text))
    except Unreadable as error:
        problems = list(error.diagnostics)
    assert problems, "it was read"
    return problems[0].code, problems[0].message


def test_what_looks_like_something_else_to_other_readers_stays_text() -> None:
    text = "time: 17:00\ncountry: NO\nzip: 02134\nday: 2026-11-20\nyes: yes\nbig: 1_000\nhex: 0x1F"

    assert read(text) == {
        "time": "17:00",
        "country": "NO",
        "zip": "02134",
        "day": "2026-11-20",
        "yes": "yes",
        "big": "1_000",
        "hex": "0x1F",
    }


def test_numbers_truth_and_null_are_read_as_such() -> None:
    assert read("[1, -2, 3.5, 1e3, .5, true, False, null, ~, '']") == [
        1,
        -2,
        3.5,
        1000.0,
        0.5,
        True,
        False,
        None,
        None,
        "",
    ]


def test_json_and_yaml_give_the_same() -> None:
    value = {"a": [1, 2.5, "x", None, True, {"b": "17:00"}]}

    assert read(json.dumps(value)) == value
    assert read(json.dumps(value, indent=2)) == value
    assert read(to_yaml(value)) == value


@pytest.mark.parametrize(
    ("text", "code", "said"),
    [
        ("steps: [", "CH001", "did not find expected"),
        ('{"steps": [}', "CH001", "line 1"),
        ("a: 1\n  b: 2", "CH001", "mapping values are not allowed"),
        ("\tsteps: []", "CH001", "cannot start any token"),
        ("", "CH001", "empty"),
        ("a: 1\n---\nb: 2", "CH001", "document"),
        ("a: 1\na: 2", "CH002", "given twice (line 2)"),
        ('{"a": 1, "a": 2}', "CH002", "given twice"),
        ("a: .nan", "CH004", "nan"),
        ('{"a": NaN}', "CH004", "nan"),
        ('{"a": -Infinity}', "CH004", "inf"),
        ("a: 9223372036854775808", "CH004", "64 bits"),
        (f"a: {'9' * 5000}", "CH004", "not a number"),
        ('{"a": "\\ud800"}', "CH004", "surrogate"),
        ('{"a": "\\u001b[31m"}', "CH004", "control character (U+001B)"),
        ("a: \x07", "CH004", "control character"),
        ("a: &x [1]\nb: *x", "CH004", "aliases"),
        ("a: !!python/object:os.system x", "CH004", "tag"),
        ("? [a]\n: 1", "CH004", "key"),
        ("x" * 10_000_000, "CH003", "10,000,000 characters"),
        ("[" * 5000 + "]" * 5000, "CH003", "60 levels"),
        ('{"a":' * 5000 + "1" + "}" * 5000, "CH003", "60 levels"),
        ("- " * 5000 + "a", "CH003", "60 levels"),
        ("\n".join(" " * depth + "a:" for depth in range(1000)), "CH003", "60 levels"),
    ],
    ids=lambda value: repr(value)[:30],
)
def test_what_cannot_be_read_is_refused_quickly_and_said_clearly(text: str, code: str, said: str) -> None:
    began = time.perf_counter()

    got_code, message = refused(text)

    assert (got_code, said in message) == (code, True), message
    assert time.perf_counter() - began < 2


def test_an_unquoted_expression_gets_the_hint_to_quote_it() -> None:
    with pytest.raises(Unreadable) as error:
        read("a: {$: x[0]}")

    assert "quotes" in error.value.diagnostics[0].hint


def test_a_python_value_that_no_plan_can_hold_is_named_with_its_place() -> None:
    problems = vet({"steps": [{"with": {"x": math.inf, "y": {1, 2}, "z": b"", 3: 4}}]})

    assert [(problem.path, problem.code) for problem in problems] == [
        ("steps[0].with", "CH004"),
        ("steps[0].with.x", "CH004"),
        ("steps[0].with.y", "CH004"),
        ("steps[0].with.z", "CH004"),
    ]


def test_a_value_that_contains_itself_is_refused() -> None:
    value: dict[str, object] = {}
    value["self"] = value

    assert [problem.code for problem in vet(value)] == ["CH003"]


def test_every_value_has_its_place() -> None:
    where = places("a:\n  b: [1, {c: 2}]\n")

    assert (where["a.b[1].c"].line, where["a.b[1].c"].column) == (1, 13)
    assert (where["a.b"].key_line, where["a.b"].key_column) == (1, 2)
    assert "a" in places("a: [")


def test_json_has_places_too() -> None:
    assert places('{\n  "a": [1,\n  {"b": 2}]}')["a[1].b"].line == 2


_scalars = (
    st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False, allow_infinity=False)
)
_texts = st.text(st.characters(exclude_categories=["Cc", "Cs"]) | st.sampled_from("\n\t"), max_size=20)
_values = st.recursive(
    _scalars | _texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(_texts, inner, max_size=4),
    max_leaves=12,
)


@given(_values)
def test_whatever_is_written_reads_back_the_same(value: object) -> None:
    assert read(to_yaml(value)) == value


@given(st.text(max_size=80))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(Unreadable):
        read(text)
