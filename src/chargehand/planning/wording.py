"""What the words of a date claim for certain, so that the date that is read from them can be held against them.

The library that reads dates guesses: of `Freitag 17 Uhr` it made the 17th, of `tomorrow at 5` it dropped the 5. Here
clocks get one form before it reads, and what it reads is refused if a clock, a weekday or a number says otherwise.
English, French and German are known here; other languages are read as the library reads them.
"""

import datetime as dt
import re
from collections.abc import Iterator, Sequence

KNOWN = frozenset({"en", "fr", "de"})
MAX_LENGTH = 200  # characters: longer than any date, and short enough for a library that tries many readings

_I = re.IGNORECASE
_UNIT = (
    r"(?:h|min|hours?|minutes?|seconds?|days?|weeks?|months?|years?|stunden?|minuten|sekunden?|tag(?:en?)?|wochen?"
    r"|monat(?:en?)?|jahr(?:en?)?|heures?|secondes?|jours?|semaines?|mois|ans?|années?)\b"
)
_LASTING = r"(?P<lasting>\b(?:in|dans|vor|d['’]ici|il y a)\s+)?"
_HOURS = re.compile(
    _LASTING + r"(?<![\d.:])(?P<hour>\d{1,2})(?:[.:](?P<minute>[0-5]\d))?\s*"
    r"(?:h(?P<after>[0-5]\d)?|(?:uhr|heures?|o['’]?\s?clock)(?:\s+(?P<last>[0-5]\d)(?=\s*$))?)(?!\w)",
    _I,
)
_NOON = re.compile(r"(?:\b12(?::00)?\s*)?(?<!après-)(?<!apres-)(?<!après )\b(?:noon|midday|midi|mittags?)\b", _I)
_MIDNIGHT = re.compile(r"(?:\b12(?::00)?\s*)?\b(?:midnight|minuit|mitternachts?)\b", _I)
_PAIR = re.compile(rf"(?<![\d.,:/-])(\d{{1,2}})([.,])(\d{{1,2}})(?![\d:]|[.,]\d|\s*{_UNIT})(\s*[ap]\.?m\b)?", _I)
_CLOCK = re.compile(r"(?<![\d:+.-])(\d{1,2})(?::(\d\d)(?::\d\d)?)?\s*([ap])\.?\s?m\b|(?<![\d:+-])(\d{1,2}):(\d\d)", _I)
_WHOLE_CLOCK = re.compile(rf"(?:{_CLOCK.pattern})(?::\d\d)?", _I)
_SPAN = re.compile(rf"\d+(?:[.,]\d+)?\s*{_UNIT}", _I)
_TIME_SPAN = re.compile(
    r"\d\s*(?:h|min|s)\b|\b(?:hours?|minutes?|seconds?|stunden?|minuten|sekunden?|heures?|secondes?)\b", _I
)
_NOW = re.compile(r"\b(?:now|jetzt|maintenant)\b", _I)
_OFFSET = re.compile(r"(?<!\d)[+-]\d{1,2}(?::?\d\d)?\b")
_AFTER_NOON = re.compile(r"\b(?:afternoon|evening|tonight|soir|après-midi|nachmittags?|abends?)\b", _I)
_PART = re.compile(rf"{_AFTER_NOON.pattern}|\b(?:morning|night|matin|nuit|früh|vormittags?|nachts?)\b", _I)

_NUMBER_WORDS = {
    word: str(number)
    for words in (
        "one two three four five six seven eight nine ten eleven twelve",
        "- deux trois quatre cinq six - huit neuf dix onze douze",  # `un` is an article, `sept` September
        "- zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
    )
    for number, word in enumerate(words.split(), 1)
    if word != "-"
}
_NUMBER_WORD = re.compile(rf"(?<![\w-])(?:{'|'.join(_NUMBER_WORDS)})(?![\w-])", _I)
_LARGE_WORD = re.compile(r"\b(?:twenty|thirty|forty|fifty|vingt|trente|quarante|cinquante)\b", _I)

_WEEKDAYS = {
    "en": "monday|mon tuesday|tue|tues wednesday|wed thursday|thu|thur|thurs friday|fri saturday|sat sunday|sun",
    "fr": "lundi|lun mardi|mar mercredi|mer jeudi|jeu vendredi|ven samedi|sam dimanche|dim",
    "de": "montag|mo dienstag|di mittwoch|mi donnerstag|do freitag|fr samstag|sonnabend|sa sonntag|so",
}


def with_plain_clocks(text: str, *, only_time: bool = False) -> str | None:
    """The text with `17 Uhr`, `17h30`, `midi` and `17.30` as `17:00` and so on.

    None if it holds a pair such as `10.05` that may be a day as well (unless only a time can be meant), or is too long.
    """
    if len(text) > MAX_LENGTH:
        return None
    if not _LARGE_WORD.search(text):
        text = _NUMBER_WORD.sub(lambda found: _NUMBER_WORDS[found.group().lower()], text)
    text = _MIDNIGHT.sub("00:00", _NOON.sub("12:00", text))
    text = _HOURS.sub(_plain_hours, text)
    pairs = list(_PAIR.finditer(text))
    if any(not _is_clock(pair, only_time=only_time) for pair in pairs):
        return None
    return _PAIR.sub(lambda pair: f"{pair[1]}:{pair[3]}{pair[4] or ''}", text)


def _plain_hours(found: re.Match[str]) -> str:
    if found["lasting"]:
        return found.group()
    return f"{found['hour']}:{found['minute'] or found['after'] or found['last'] or '00'}"


def _is_clock(pair: re.Match[str], *, only_time: bool) -> bool:
    hour, minute = int(pair[1]), int(pair[3])
    if pair[2] != "." or len(pair[3]) != 2 or hour > 23 or minute > 59:
        return False
    may_be_a_day = 1 <= hour <= 31 and 1 <= minute <= 12
    return only_time or pair[4] is not None or not may_be_a_day


def has_clock(text: str) -> bool:
    """Whether a text says a time of day: a clock, `now`, or a number of hours from now."""
    return bool(_CLOCK.search(text) or _TIME_SPAN.search(text) or _NOW.search(text))


def is_vague(text: str) -> bool:
    """Whether a text names a part of a day, such as `tonight`, and no hour."""
    return bool(_PART.search(text)) and not _CLOCK.search(text)


def agrees(text: str, moment: dt.datetime, now: dt.datetime, languages: Sequence[str], *, counted: bool) -> bool:
    """Whether a moment that was read from a text, perhaps counted from now, is what the text says."""
    clocks = set(_clocks(text))
    if len(clocks) > 1 or (clocks and (_TIME_SPAN.search(text) or (moment.hour, moment.minute) not in clocks)):
        return False
    weekdays = set(_weekdays(text, languages))
    if weekdays and weekdays != {moment.weekday()}:
        return False
    if not KNOWN.issuperset(languages):
        return True
    near = abs(moment.year - now.year) < 20  # `26` is a year only close by
    return _accounts_for_numbers(text, [] if counted else [moment.day, moment.month, moment.year], short_year=near)


def _clocks(text: str) -> Iterator[tuple[int, int]]:
    for found in _CLOCK.finditer(text):
        hour, minute = int(found[1] or found[4]), int(found[2] or found[5] or 0)
        half = (found[3] or "").lower()
        if half and hour <= 12:
            hour = hour % 12 + (12 if half == "p" else 0)
        elif not half and hour < 12 and _AFTER_NOON.search(text):
            hour += 12
        yield hour, minute


def _weekdays(text: str, languages: Sequence[str]) -> Iterator[int]:
    words = set(re.findall(r"\w+", text.lower()))
    for language in KNOWN.intersection(languages):
        for number, names in enumerate(_WEEKDAYS[language].split()):
            if words.intersection(name for name in names.split("|") if name != "mar" or "en" not in languages):
                yield number


def _accounts_for_numbers(text: str, fields: Sequence[int], *, short_year: bool) -> bool:
    """Each number that is no clock and no span is one of the fields (day, month, year), and none of them twice."""
    for known in (_OFFSET, _SPAN, _WHOLE_CLOCK):
        text = known.sub(" ", text)
    left = list(fields)
    for number in map(int, re.findall(r"\d+", text)):
        if number not in left and short_year and left and number == left[-1] % 100:
            number = left[-1]
        if number not in left:
            return False
        left.remove(number)
    return True
