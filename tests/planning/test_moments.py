"""Dates and times in words: what is meant, or refused; never a guess."""

import datetime as dt
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.trips import NOW

from chargehand import Chargehand
from chargehand.errors import InputsRefused


def read(words: str, type: str = "moment", language: str = "en", now: dt.datetime = NOW) -> object:
    """What some words become as an input."""
    playbook: dict[str, Any] = {
        "name": "take",
        "answers": ["Take"],
        "languages": [language],
        "inputs": {"x": type},
        "answer": {"$": "inputs.x"},
    }
    return Chargehand(playbooks=playbook).plan("Take", {"x": words}, now=now).inputs["x"].value


def is_refused(words: str, type: str = "moment", language: str = "en", now: dt.datetime = NOW) -> bool:
    try:
        read(words, type, language, now)
    except InputsRefused:
        return True
    return False


@pytest.mark.parametrize(
    ("words", "value"),
    [
        ("5 p.m. Thursday", "2026-11-19T17:00:00-05:00"),
        ("Tuesday", "2026-11-17T00:00:00-05:00"),
        ("Tomorrow", "2026-11-17T00:00:00-05:00"),
        ("TOMORROW", "2026-11-17T00:00:00-05:00"),
        ("Friday 17.30", "2026-11-20T17:30:00-05:00"),
        ("Friday 5.05 pm", "2026-11-20T17:05:00-05:00"),
        ("Friday 5 o'clock pm", "2026-11-20T17:00:00-05:00"),
        ("five p.m. Friday", "2026-11-20T17:00:00-05:00"),
        ("twelve noon", "2026-11-16T12:00:00-05:00"),
        ("midnight", "2026-11-17T00:00:00-05:00"),
        ("8:00 in the evening", "2026-11-16T20:00:00-05:00"),
        ("8pm tonight", "2026-11-16T20:00:00-05:00"),
        ("in 24 hours", "2026-11-17T09:00:00-05:00"),
        ("now", "2026-11-16T09:00:00-05:00"),
        ("next month", "2026-12-16T00:00:00-05:00"),
        ("2026-11-20", "2026-11-20T00:00:00-05:00"),
        ("2026-11-20 5 p.m.", "2026-11-20T17:00:00-05:00"),
        ("Friday 17:00 +02:00", "2026-11-20T17:00:00+02:00"),
        ("Friday, 20 Nov. 26, 17:00", "2026-11-20T17:00:00-05:00"),
    ],
)
def test_a_moment_in_english(words: str, value: str) -> None:
    assert read(words) == value


@pytest.mark.parametrize(
    ("language", "words", "value"),
    [
        ("de", "Freitag 17 Uhr", "2026-11-20T17:00:00-05:00"),
        ("de", "Freitag um 17 Uhr", "2026-11-20T17:00:00-05:00"),
        ("de", "Freitag 17 Uhr 30", "2026-11-20T17:30:00-05:00"),
        ("de", "Freitag 17.05 Uhr", "2026-11-20T17:05:00-05:00"),
        ("de", "Freitag Mittag", "2026-11-20T12:00:00-05:00"),
        ("de", "Mitternacht", "2026-11-17T00:00:00-05:00"),
        ("de", "in 3 Stunden", "2026-11-16T12:00:00-05:00"),
        ("de", "in zwei Wochen", "2026-11-30T00:00:00-05:00"),
        ("fr", "vendredi 17h", "2026-11-20T17:00:00-05:00"),
        ("fr", "vendredi à 17 heures", "2026-11-20T17:00:00-05:00"),
        ("fr", "vendredi 17h30", "2026-11-20T17:30:00-05:00"),
        ("fr", "mardi midi", "2026-11-17T12:00:00-05:00"),
        ("fr", "vendredi minuit", "2026-11-20T00:00:00-05:00"),
        ("fr", "dans 3h", "2026-11-16T12:00:00-05:00"),
        ("fr", "dans 3 heures", "2026-11-16T12:00:00-05:00"),
        ("es", "en 3 horas", "2026-11-16T12:00:00-05:00"),
        ("es", "mañana a las 17:00", "2026-11-17T17:00:00-05:00"),
    ],
)
def test_a_moment_in_another_language(language: str, words: str, value: str) -> None:
    assert read(words, language=language) == value


@pytest.mark.parametrize(
    "words", ["tonight", "this evening", "Friday morning", "tomorrow evening", "tonight at 8", "8 in the morning"]
)
def test_a_part_of_a_day_is_no_moment_without_its_hour(words: str) -> None:
    assert is_refused(words)


@pytest.mark.parametrize(
    ("language", "words"),
    [
        ("en", "Monday 20 November"),  # it is a Friday
        ("en", "Friday or Saturday"),
        ("en", "Friday at 5"),
        ("en", "tomorrow at 5"),
        ("en", "tomorrow 17"),
        ("en", "tomorrow at five"),
        ("en", "20 November 17"),
        ("en", "2 hours before noon"),
        ("en", "November"),
        ("en", "20.11"),  # a day or an hour
        ("en", "Friday 25.30"),
        ("en", "2026-13-01"),
        ("en", "0930 Friday"),
        ("en", "tomorrow " * 1000),
        ("de", "Freitag 17"),
        ("de", "1,5"),
        ("fr", "vendredi 17"),
        ("fr", "dans 1h30"),
    ],
)
def test_words_that_do_not_say_one_thing_are_refused(language: str, words: str) -> None:
    assert is_refused(words, language=language)


@pytest.mark.parametrize("words", ["9999-12-31T23:00", "31 December 9999 11 pm", "0001-01-01T00:00+05:00"])
def test_the_edges_of_the_calendar_are_refused(words: str) -> None:
    assert is_refused(words)


@pytest.mark.parametrize(
    ("words", "value"),
    [("today", "2026-11-16T00:00:00-05:00"), ("yesterday", "2026-11-15T00:00:00-05:00"),
     ("last Friday 5 pm", "2026-11-13T17:00:00-05:00")],
)  # fmt: skip
def test_words_may_lead_to_the_past_as_since_yesterday_needs_it(words: str, value: str) -> None:
    assert read(words) == value


@pytest.mark.parametrize(
    ("words", "value"),
    [("17.30", "17:30:00"), ("10.05", "10:05:00"), ("5.30pm", "17:30:00"), ("17h", "17:00:00"), ("noon", "12:00:00")],
)
def test_a_time_in_words(words: str, value: str) -> None:
    assert read(words, "time") == value


@pytest.mark.parametrize("words", ["17.3", "25.00", "17.60", "17", "24:00", "this evening", "17,30"])
def test_what_is_not_a_time_is_refused(words: str) -> None:
    assert is_refused(words, "time")


def test_a_part_of_a_day_still_names_its_day() -> None:
    assert read("tonight", "date") == "2026-11-16"
    assert read("Friday morning", "date") == "2026-11-20"


def test_of_an_hour_that_clocks_show_twice_the_first_is_meant() -> None:
    now = dt.datetime(2026, 10, 20, 9, tzinfo=ZoneInfo("Europe/Berlin"))

    assert read("2026-10-25T02:30", now=now) == "2026-10-25T02:30:00+02:00"
    assert read("25 October 2:30", now=now) == "2026-10-25T02:30:00+02:00"
