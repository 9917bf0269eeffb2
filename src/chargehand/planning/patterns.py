"""Goal patterns: text with `{captures}`, matched against a whole goal."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

_PART = re.compile(r"\{([^{}]*)\}")


@dataclass(frozen=True)
class Pattern:
    """`Book a flight to {city}`: the words must be there, the captures are taken."""

    text: str

    @cached_property
    def captures(self) -> tuple[str, ...]:
        return tuple(_PART.findall(self.text))

    @cached_property
    def words(self) -> str:
        """The pattern without its captures' names: patterns with the same words match the same goals."""
        return _normal(_PART.sub("{}", self.text))

    @property
    def weight(self) -> int:
        """How much of a goal it pins down: the number of its own letters."""
        return len(self.words.replace("{}", "").replace(" ", ""))

    def problem(self) -> str:
        """Why the pattern cannot be used; empty if it can."""
        outside = _PART.sub("", self.text)
        if "{" in outside or "}" in outside:
            return "its brackets do not match"
        if any(not name.isidentifier() for name in self.captures):
            return f"{{{next(name for name in self.captures if not name.isidentifier())}}} is not the name of an input"
        if len(set(self.captures)) < len(self.captures):
            return "it captures the same input twice"
        if re.search(r"\}\s*\{", self.text):
            return "it has two captures with nothing between them, so nobody can tell where one ends"
        if not self.weight:
            return "it has no words of its own, so it would match every goal"
        return ""

    def match(self, goal: str) -> list[dict[str, str]]:
        """What the captures hold; two readings if the goal can be read in more than one way.

        The first places each of the pattern's own words as early as can be, the second as late: if these agree, there
        is no third.
        """
        original = _trimmed(goal)
        folded = _Folded.of(original)
        readings: list[dict[str, str]] = []
        for place in (_place_early, _place_late):
            spans = place(folded.text, self._literals)
            if spans is None:
                return []
            texts = (folded.cut(original, begin, end) for begin, end in spans)
            reading = dict(zip(self.captures, texts, strict=True))
            if reading not in readings:
                readings.append(reading)
        return readings

    @cached_property
    def _literals(self) -> tuple[str, ...]:
        """The pattern's own words: before, between and after the captures."""
        return tuple(_Folded.of(part).text for part in _PART.split(_trimmed(self.text))[::2])


Span = tuple[int, int]


@dataclass(frozen=True, slots=True)
class _Folded:
    """A text in small letters and with single blanks, and where each of its characters stood."""

    text: str
    places: tuple[int, ...]

    @classmethod
    def of(cls, text: str) -> "_Folded":
        kept = [place for place, char in enumerate(text) if not (char.isspace() and text[place - 1 : place].isspace())]
        return cls("".join(_fold(text[place]) for place in kept), tuple(kept))

    def cut(self, original: str, begin: int, end: int) -> str:
        """What stood between two places of the folded text."""
        return original[self.places[begin] : self.places[end - 1] + 1].strip()


def _fold(char: str) -> str:
    """One character for one, so that places stay true: `ß` stays itself."""
    if char.isspace():
        return " "
    return next((small for small in (char.casefold(), char.lower()) if len(small) == 1), char)


def _place_early(text: str, literals: Sequence[str]) -> list[Span] | None:
    """The spans of the captures, each as short as can be; None if the words are not all there."""
    if len(literals) == 1:
        return [] if text == literals[0] else None
    first, *middle, last = literals
    if not text.startswith(first) or not text.endswith(last):
        return None
    spans: list[Span] = []
    begin, end = len(first), len(text) - len(last)
    for literal in middle:
        found = text.find(literal, _after_a_letter(text, begin), end)
        if found < 0:
            return None
        spans.append((begin, found))
        begin = found + len(literal)
    return [*spans, (begin, end)] if _after_a_letter(text, begin) <= end else None


def _place_late(text: str, literals: Sequence[str]) -> list[Span] | None:
    """The spans of the captures, the first as long as can be, then the second, and so on."""
    mirrored = _place_early(text[::-1], [literal[::-1] for literal in reversed(literals)])
    if mirrored is None:
        return None
    return [(len(text) - end, len(text) - begin) for begin, end in reversed(mirrored)]


def _after_a_letter(text: str, begin: int) -> int:
    """The first place at which a capture that begins here may end: it holds more than a blank."""
    return begin + (2 if text[begin : begin + 1] == " " else 1)


def _trimmed(text: str) -> str:
    end = len(text)
    while end and (text[end - 1].isspace() or text[end - 1] in ".!?"):
        end -= 1
    return text[:end].lstrip()


def _normal(text: str) -> str:
    return " ".join(_trimmed(text).lower().split())
