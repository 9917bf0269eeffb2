"""Diagnostics as a compiler prints them: file, line, column, an excerpt with a caret, a hint."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from chargehand.cli.screen import blue, bold, dim, green, inert, red, yellow
from chargehand.domain.diagnostics import Diagnostic
from chargehand.domain.text import Place, places

MOST = 50  # diagnostics shown at once; the rest is counted


@dataclass(frozen=True, slots=True, order=True)
class Spot:
    """A place in a text; line and column count from 1, as editors do."""

    line: int
    column: int


def report(diagnostics: Sequence[Diagnostic], name: str, text: str) -> Iterator[str]:
    """The lines of a report about a file."""
    where, lines = places(text), text.split("\n")
    located = sorted(((locate(one, text, where), one) for one in diagnostics), key=lambda pair: pair[0])
    for spot, diagnostic in located[:MOST]:
        yield from _one(diagnostic, name, spot, lines)
        yield ""
    if len(diagnostics) > MOST:
        yield dim(f"… and {len(diagnostics) - MOST} more")
    yield summary(diagnostics, name)


def summary(diagnostics: Sequence[Diagnostic], name: str) -> str:
    errors = sum(diagnostic.severity == "error" for diagnostic in diagnostics)
    warnings = len(diagnostics) - errors
    found = [_count(errors, "error"), _count(warnings, "warning")]
    told = " and ".join(part for part in found if part)
    if errors:
        return f"{red(told)} in {inert(name)}"
    return f"{yellow(told)} in {inert(name)}" if warnings else f"{green('ok')} {inert(name)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}" if number else ""


def _one(diagnostic: Diagnostic, name: str, spot: Spot, lines: Sequence[str]) -> Iterator[str]:
    paint = red if diagnostic.severity == "error" else yellow
    head = f"{inert(name)}:{spot.line}:{spot.column}"
    yield f"{bold(head)}: {paint(f'{diagnostic.severity} {diagnostic.code}')}: {inert(diagnostic.message)}"
    margin = " " * len(str(spot.line))
    if spot.line <= len(lines) and lines[spot.line - 1].strip():
        excerpt, column = _window(lines[spot.line - 1], spot.column)
        yield f" {blue(f'{spot.line} |')} {inert(excerpt)}"
        yield f" {margin} {blue('|')} {' ' * (column - 1)}{paint('^')}"
    if diagnostic.hint:
        yield f" {margin} {blue('=')} {inert(diagnostic.hint)}"


def _window(line: str, column: int, width: int = 110) -> tuple[str, int]:
    """The part of a long line around a column."""
    line = line.replace("\t", " ")
    if len(line) <= width:
        return line, column
    start = max(min(column - width // 2, len(line) - width), 0)
    return ("…" if start else "") + line[start : start + width], column - start + (1 if start else 0)


_KEYED = ("CH002", "CH005", "CH204", "CH205")  # what is wrong is the key, not its value


def locate(diagnostic: Diagnostic, text: str, where: Mapping[str, Place]) -> Spot:
    """Where in the text a diagnostic belongs: its path, or the nearest place above it."""
    if not diagnostic.path and diagnostic.offset is not None:
        before = text[: diagnostic.offset]
        return Spot(before.count("\n") + 1, diagnostic.offset - (before.rfind("\n") + 1) + 1)
    path = diagnostic.path
    while path and path not in where:
        path = re.sub(r"(\.[^.\[\]]*|\[\d+\]|^[^.\[]*)$", "", path)
    place = where.get(path)
    if place is None:
        return Spot(1, 1)
    name_of_input = diagnostic.code == "CH603" and re.fullmatch(r"inputs\.[^.]*", path)
    if path == diagnostic.path and (diagnostic.code in _KEYED or name_of_input):
        return Spot(place.key_line + 1, place.key_column + 1)
    if path == diagnostic.path and diagnostic.offset is not None:
        return _inside(place, diagnostic.offset, text)
    return Spot(place.line + 1, place.column + 1)


def _inside(place: Place, offset: int, text: str) -> Spot:
    """A character of an expression: exact on one line, else where the expression begins."""
    line = text.split("\n")[place.line]
    quoted = line[place.column : place.column + 1] in ("'", '"')
    column = place.column + offset + (1 if quoted else 0)
    return Spot(place.line + 1, (column if column <= len(line) else place.column) + 1)
