"""Goal patterns: the linear scan reads every goal as the plain, and slow, regular expression does."""

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from tests.trips import StandingClock

from chargehand import Chargehand
from chargehand.errors import NoPlaybook
from chargehand.planning.patterns import Pattern


def readings_by_regex(pattern: Pattern, goal: str) -> list[dict[str, str]]:
    """Every capture as short as can be, then as long as can be; more than blanks in each."""
    parts = re.split(r"\{[^{}]*\}", re.sub(r"[\s.!?]+$", "", pattern.text.strip()))
    literals = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part)) for part in parts]
    found: list[dict[str, str]] = []
    for capture in (r"(.*?\S.*?)", r"(.*\S.*)"):
        expression = capture.join(literals)
        match = re.fullmatch(expression, re.sub(r"[\s.!?]+$", "", goal.strip()), re.IGNORECASE | re.DOTALL)
        if match:
            reading = dict(zip(pattern.captures, (text.strip() for text in match.groups()), strict=True))
            found += [reading] if reading not in found else []
    return found


PIECES = ["a", "B", "to", "from", " ", " ", ".", "!", "é", "ß", "K", "x y"]
TEXT = st.lists(st.sampled_from(PIECES), max_size=9).map("".join).map(lambda text: re.sub(r"\s+", " ", text))


@st.composite
def patterns(draw: st.DrawFn) -> Pattern:
    literals = draw(st.lists(TEXT, min_size=1, max_size=4))
    text = literals[0] + "".join(f"{{c{number}}}{literal}" for number, literal in enumerate(literals[1:]))
    return Pattern(text)


@st.composite
def pairs(draw: st.DrawFn) -> tuple[Pattern, str]:
    """A pattern, and a goal that often is one of its."""
    pattern = draw(patterns())
    filled = re.sub(r"\{[^{}]*\}", lambda _: draw(TEXT), pattern.text)
    return pattern, draw(st.sampled_from([filled, filled.swapcase(), draw(TEXT)]))


@given(pairs())
@example((Pattern("from {a} to {b}"), "FROM Road to Nowhere to Hell!"))
@example((Pattern("{a}to"), "to to"))
@example((Pattern("a{x}b{y}a"), "abba"))
def test_a_goal_is_read_as_the_regular_expression_reads_it(pair: tuple[Pattern, str]) -> None:
    pattern, goal = pair
    if pattern.problem():
        return
    goal = re.sub(r"\s+", " ", goal)

    assert pattern.match(goal) == readings_by_regex(pattern, goal)


@given(patterns(), st.lists(st.sampled_from(["a", "to", "from", "x"]), max_size=8), st.sampled_from([" ", "\n ", "\t"]))
def test_blanks_never_change_what_matches(pattern: Pattern, words: list[str], blank: str) -> None:
    plain, odd = pattern.match(" ".join(words)), pattern.match(blank.join(words))

    assert [{name: text.split() for name, text in one.items()} for one in plain] == [
        {name: text.split() for name, text in one.items()} for one in odd
    ]


def test_what_is_captured_keeps_its_letters_and_lines() -> None:
    [reading] = Pattern("Note {text} for {who}").match("NOTE  Milk,\n  Bread\tand Tea  for  Kim  Ito. ")

    assert reading == {"text": "Milk,\n  Bread\tand Tea", "who": "Kim  Ito"}


def test_a_capture_holds_more_than_blanks() -> None:
    assert Pattern("from{a}to").match("from to") == []
    assert Pattern("from {a} to {b}").match("from  to X") == []


def test_many_captures_and_a_long_goal_are_matched_at_once() -> None:
    names = [f"c{number}" for number in range(20)]
    playbook = {
        "name": "long",
        "answers": [" to ".join(f"{{{name}}}" for name in names) + " end"],
        "inputs": dict.fromkeys(names, "text"),
        "answer": "x",
    }
    desk = Chargehand(playbooks=[playbook], clock=StandingClock())

    with pytest.raises(NoPlaybook):  # by backtracking this would take for ever
        desk.plan("a to " * 390)
