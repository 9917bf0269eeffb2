"""Every code is explained by an example that has it, alone, and by one that is mended. Both are checked here."""

import unicodedata
from functools import cache

import pytest

from chargehand.catalog.tools import AnyTool
from chargehand.checking.explanations import EXPLANATIONS, Explanation
from chargehand.demo.travel import desk
from chargehand.demo.travel.tools import make_tools
from chargehand.demo.travel.world import World
from chargehand.domain.diagnostics import CODES, Diagnostic
from chargehand.runtime import Chargehand

every_code = pytest.mark.parametrize("code", CODES)


def test_every_code_is_explained_in_the_order_of_codes() -> None:
    assert list(EXPLANATIONS) == list(CODES)


@every_code
def test_the_bad_example_has_its_code_and_nothing_else(code: str) -> None:
    severity, _ = CODES[code]

    found = findings(EXPLANATIONS[code], EXPLANATIONS[code].bad)

    assert [(one.code, one.severity) for one in found] == [(code, severity)], "\n".join(map(str, found))


@every_code
def test_the_good_example_has_nothing_wrong(code: str) -> None:
    assert findings(EXPLANATIONS[code], EXPLANATIONS[code].good) == []


@every_code
def test_the_two_examples_differ_in_few_lines(code: str) -> None:
    bad, good = EXPLANATIONS[code].bad.splitlines(), EXPLANATIONS[code].good.splitlines()

    assert len(set(bad) ^ set(good)) <= 5
    assert max(len(bad), len(good)) <= 12


@every_code
def test_the_words_are_a_few_whole_sentences(code: str) -> None:
    text = EXPLANATIONS[code].text

    assert 60 <= len(text) <= 420
    assert text.endswith((".", ".)"))


@every_code
def test_all_that_is_said_can_be_printed(code: str) -> None:
    explanation = EXPLANATIONS[code]

    said = [explanation.text]
    for diagnostic in findings(explanation, explanation.bad):
        said += [diagnostic.message, diagnostic.hint]

    assert unprintable("".join(said)) == []
    assert unprintable(explanation.bad.replace("\n", "") + explanation.good.replace("\n", "")) == []


@every_code
def test_a_message_can_be_followed_by_a_full_stop(code: str) -> None:
    for diagnostic in findings(EXPLANATIONS[code], EXPLANATIONS[code].bad):
        assert not diagnostic.message.endswith((".", "?", " "))
        assert not diagnostic.hint or diagnostic.hint.endswith((".", "?"))


def findings(explanation: Explanation, example: str) -> list[Diagnostic]:
    """What the travel desk says of an example."""
    return travel_desk().check(example) if explanation.kind == "plan" else load_playbook(example)


def load_playbook(example: str) -> list[Diagnostic]:
    """What is said when a playbook is put beside those of the travel world."""
    return travel_desk().check_playbook(example)


@cache
def travel_desk() -> Chargehand:
    return desk()


@cache
def travel_tools() -> list[AnyTool]:
    return make_tools(World(None))


def unprintable(text: str) -> list[str]:
    """Control characters, surrogates, and marks that change the direction of text."""
    return [character for character in text if unicodedata.category(character) in ("Cc", "Cf", "Cs", "Co", "Cn")]
