"""Redaction: no secret comes through, and nothing else is touched."""

import json
from base64 import b64encode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any, cast
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from chargehand.errors import BadSecret
from chargehand.execution.redaction import MARK, Redactor

SECRET = "s3cr3t/tökén+1"

letters = st.sampled_from("ab/+ ä\"\\%~'\n")
secrets = st.text(letters, min_size=6, max_size=9).filter(lambda text: len(text.strip()) >= 6)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(letters),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(letters, max_size=4), inner, max_size=4),
    max_leaves=12,
)


def texts(value: Any) -> Iterator[str]:
    """Every text in a plain value, keys too."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for key, item in cast(dict[str, Any], value).items():
            yield key
            yield from texts(item)
    elif isinstance(value, list):
        for item in cast(list[Any], value):
            yield from texts(item)


@st.composite
def told(draw: st.DrawFn) -> tuple[list[str], Any]:
    """Some secrets, and a value in which they are told in many ways."""
    known = draw(st.lists(secrets, min_size=1, max_size=3))
    spoken = st.sampled_from(known).flatmap(
        lambda secret: st.sampled_from([secret, secret.strip(), quote(secret), quote_plus(secret), json.dumps(secret)])
    )
    told_texts = st.lists(spoken | st.text(letters, max_size=5), max_size=5).map("".join)
    told_values = st.recursive(
        told_texts | st.integers(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(told_texts, inner, max_size=3),
        max_leaves=8,
    )
    return known, draw(told_values)


@pytest.mark.slow
@settings(deadline=None)
@given(told())
def test_no_text_that_comes_out_holds_a_secret(case: tuple[list[str], Any]) -> None:
    known, value = case

    redacted = Redactor(known).redact(value)

    for text in texts(redacted):
        for secret in (one.strip() for one in known):
            assert secret not in text
            assert quote(secret, safe="") not in text
            assert json.dumps(secret)[1:-1] not in text


@pytest.mark.slow
@settings(deadline=None)
@given(told())
def test_what_is_redacted_stays_as_it_is_when_it_is_redacted_again(case: tuple[list[str], Any]) -> None:
    redactor = Redactor(case[0])
    redacted = redactor.redact(case[1])

    assert redactor.redact(redacted) is redacted


@given(st.lists(secrets, max_size=3), plain)
def test_a_value_without_secrets_is_given_back_itself(known: list[str], value: Any) -> None:
    redactor = Redactor(known)
    assume(MARK not in "".join(texts(redactor.redact(value))))

    assert redactor.redact(value) is value


@given(st.binary(max_size=7), secrets.map(str.strip), st.binary(max_size=7), st.booleans())
def test_base64_of_something_around_a_secret_does_not_give_it_back(
    before: bytes, secret: str, after: bytes, url_safe: bool
) -> None:
    encoded = (urlsafe_b64encode if url_safe else b64encode)(before + secret.encode() + after).decode()

    redacted = Redactor([secret]).redact(f"Basic {encoded}")

    assert MARK in redacted
    assert encoded not in redacted
    known = redacted.removeprefix("Basic ").split(MARK)
    assert sum(map(len, known)) <= 4 * (len(before) + len(after)) / 3 + 8


class TestForms:
    @pytest.mark.parametrize(
        "form",
        [
            SECRET,
            quote(SECRET),
            quote(SECRET, safe="").lower(),
            quote_plus(SECRET),
            json.dumps(SECRET)[1:-1],
            json.dumps(SECRET, ensure_ascii=False)[1:-1],
        ],
    )
    def test_a_secret_is_found_as_it_is_and_as_json_and_urls_write_it(self, form: str) -> None:
        assert Redactor([SECRET]).redact(f"token={form}&x=1") == f"token={MARK}&x=1"

    def test_a_password_in_a_header_is_found(self) -> None:
        header = "Basic " + b64encode(b"anna:correct-horse").decode()

        assert header == "Basic YW5uYTpjb3JyZWN0LWhvcnNl"
        assert Redactor(["correct-horse"]).redact(header) == f"Basic YW5uYTp{MARK}"

    def test_keys_are_redacted_and_none_is_lost(self) -> None:
        value = {f"x {SECRET}": 1, f"x {quote(SECRET)}": 2, "y": (SECRET, 3)}

        assert Redactor([SECRET]).redact(value) == {f"x {MARK}": 1, f"x {MARK}{MARK}": 2, "y": (MARK, 3)}

    def test_the_longest_secret_is_taken_and_overlapping_ones_leave_no_rest(self) -> None:
        redactor = Redactor(["abcdef", "abcdefghi", "hijklmnop"])

        assert redactor.redact("-abcdefghijklmnop-abcdefg-") == f"-{MARK}-{MARK}g-"

    def test_blanks_around_a_secret_are_not_part_of_it(self) -> None:
        assert Redactor(["hunter22\n"]).redact("password hunter22.") == f"password {MARK}."

    def test_half_a_surrogate_in_a_secret_is_no_trouble(self) -> None:
        assert Redactor(["abc\ud800def"]).redact("abc\ud800def") == MARK


class TestRefusals:
    @pytest.mark.parametrize("bad", ["", "short", "       ", " short ", "with • in it"])
    def test_what_cannot_be_told_from_other_text_is_refused_and_not_repeated(self, bad: str) -> None:
        with pytest.raises(BadSecret, match="secret 2 cannot be told from other text") as error:
            Redactor(["long enough", bad])

        assert not bad.strip() or bad not in str(error.value)

    @pytest.mark.parametrize("bad", [None, 123456, b"bytes are no text"])
    def test_what_is_no_text_is_refused(self, bad: Any) -> None:
        with pytest.raises(BadSecret, match="secret 1 is of the type"):
            Redactor([bad])

    def test_one_text_is_not_a_list_of_secrets(self) -> None:
        with pytest.raises(BadSecret, match="the secrets are one text"):
            Redactor("correct-horse")


def test_without_secrets_everything_passes() -> None:
    value = {"a": [SECRET]}

    assert Redactor().redact(value) is value
