"""A text that was checked: its lines, and where in it a finding belongs."""

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from chargehand.domain.diagnostics import Diagnostic
from chargehand.domain.text import Place, places

_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # what the YAML reader counts, so that line numbers agree


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A place in a text; line and column count from 1, as editors do."""

    line: int
    column: int


def lines_of(text: str) -> list[str]:
    """The lines of a text without their ends."""
    return _LINE_END.split(text)


class Source:
    """A text with the places of what it holds: read once, however many findings there are."""

    def __init__(self, text: str) -> None:
        self.lines = lines_of(text)
        self._text = text
        self._starts = [0, *(end.end() for end in _LINE_END.finditer(text))]
        self._places = places(text)

    def locate(self, diagnostic: Diagnostic) -> Spot:
        """Where a diagnostic belongs: its path, or the nearest place above it."""
        if not diagnostic.path and diagnostic.offset is not None:
            return self._spot(diagnostic.offset)
        path = diagnostic.path
        while path and path not in self._places:
            path = path[: max(path.rfind("."), path.rfind("["), 0)]
        place = self._places.get(path)
        if place is None:
            return Spot(1, 1)
        if path == diagnostic.path and _is_about_the_key(diagnostic):
            return Spot(place.key_line + 1, place.key_column + 1)
        if path == diagnostic.path and diagnostic.offset is not None:
            return self._inside(place, diagnostic.offset)
        return self._inside(place, 0) if place.style in _BLOCKS else Spot(place.line + 1, place.column + 1)

    def _spot(self, index: int) -> Spot:
        line = bisect_right(self._starts, index)
        return Spot(line, index - self._starts[line - 1] + 1)

    def _inside(self, place: Place, offset: int) -> Spot:
        """A character of a scalar. Folding and indents change blanks alone, so the others are counted."""
        blank = not place.text[offset : offset + 1].strip(_BLANKS)
        before = place.text[:offset]
        number = sum(sign not in _BLANKS for sign in before)
        if blank and number:  # behind what stands before it, as far as the line goes
            spot = self._spot(self._solid(place, number - 1)[1])
            column = spot.column + len(before) - len(before.rstrip(_BLANKS))
            return Spot(spot.line, min(column, len(self.lines[spot.line - 1]) + 1))
        return self._spot(self._solid(place, number)[0])

    def _solid(self, place: Place, number: int) -> tuple[int, int]:
        """Begin and end, in the text, of a character of a scalar that is not blank."""
        begin = self._begin(place)
        if not place.text.strip(_BLANKS):
            begin = self._starts[place.line] + place.column
            return begin, begin
        solid = (match.span() for match in _signs(self._text, begin, place.style))
        return next((span for count, span in enumerate(solid) if count == number), (begin, begin))

    def _begin(self, place: Place) -> int:
        """Where the content of a scalar begins: behind its anchor and quote, or in the lines of its block."""
        if place.style in _BLOCKS:
            return self._starts[min(place.line + 1, len(self._starts) - 1)]
        begin = self._starts[place.line] + place.column
        properties = _PROPERTIES.match(self._text, begin)
        return (properties.end() if properties else begin) + len(place.style)


_BLOCKS = ("|", ">")
_BLANKS = " \t\r\n\x85\u2028\u2029"
_PROPERTIES = re.compile(r"(?:[!&]\S*\s+)*")
_KEYED = ("CH002", "CH005", "CH204", "CH205")  # what is wrong is the key, not its value


def _is_about_the_key(diagnostic: Diagnostic) -> bool:
    name_of_input = diagnostic.code == "CH603" and re.fullmatch(r"inputs\.[^.]*", diagnostic.path)
    return diagnostic.code in _KEYED or bool(name_of_input)


_PAIR = r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}"
_SIGNS = {
    '"': re.compile(
        rf"{_PAIR}|\\(?:x[0-9a-fA-F]{{2}}|u[0-9a-fA-F]{{4}}|U[0-9a-fA-F]{{8}}|\r\n|.)|[^{_BLANKS}]", re.DOTALL
    ),
    "'": re.compile(rf"''|[^{_BLANKS}]"),
}
_PLAIN = re.compile(f"[^{_BLANKS}]")
_BLANK_ESCAPES = {f"\\{sign}" for sign in ("n", "r", "t", "N", "L", "P", "\r\n", *_BLANKS)}


def _signs(text: str, begin: int, style: str) -> Iterator[re.Match[str]]:
    """The characters of a scalar that are not blank, as they are written."""
    for match in _SIGNS.get(style, _PLAIN).finditer(text, begin):
        if not _is_blank(match.group()):
            yield match


def _is_blank(written: str) -> bool:
    if len(written) == 1:
        return False
    number = re.fullmatch(r"\\[xuU]([0-9a-fA-F]+)", written)
    return chr(int(number[1], 16)) in _BLANKS if number else written in _BLANK_ESCAPES
