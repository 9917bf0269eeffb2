"""Diagnostics as a compiler prints them: file, line, column, an excerpt with a caret, a hint."""

import re
from collections.abc import Iterable, Iterator, Sequence

from chargehand.cli.screen import blue, bold, cells, dim, flat, green, inert, red, yellow
from chargehand.cli.sources import Source, Spot
from chargehand.domain.diagnostics import Diagnostic

MOST = 50  # diagnostics shown at once; the rest is counted
WIDTH = 110  # cells of a line that are shown


def report(diagnostics: Sequence[Diagnostic], name: str, text: str) -> Iterator[str]:
    """The lines of a report about a file."""
    source = Source(text)
    located = sorted(((source.locate(one), one) for one in diagnostics), key=lambda pair: pair[0])
    for spot, diagnostic in located[:MOST]:
        yield from _one(diagnostic, name, spot, source.lines)
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
        return f"{red(told)} in {flat(name)}"
    return f"{yellow(told)} in {flat(name)}" if warnings else f"{green('ok')} {flat(name)}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}" if number else ""


def _one(diagnostic: Diagnostic, name: str, spot: Spot, lines: Sequence[str]) -> Iterator[str]:
    paint = red if diagnostic.severity == "error" else yellow
    head = f"{flat(name)}:{spot.line}:{spot.column}"
    message = diagnostic.message.removeprefix(f"line {spot.line}, column {spot.column}: ")
    yield f"{bold(head)}: {paint(f'{diagnostic.severity} {diagnostic.code}')}: {flat(_brief(message))}"
    margin = " " * len(str(spot.line))
    if spot.line <= len(lines) and lines[spot.line - 1].strip():
        excerpt, before = _window(lines[spot.line - 1], spot.column)
        yield f" {blue(f'{spot.line} |')} {excerpt}"
        yield f" {margin} {blue('|')} {' ' * before}{paint('^')}"
    if diagnostic.hint:
        yield f" {margin} {blue('=')} {flat(_brief(diagnostic.hint))}"


def _brief(message: str, quoted: int = 100, whole: int = 600) -> str:
    """A message in which no expression is repeated at length: the excerpt shows it."""
    message = re.sub(f"`([^`]{{{quoted}}})[^`]+`", r"`\1…`", message)
    return message if len(message) <= whole else f"{message[: whole // 2]} … {message[-whole // 2 :]}"


def _window(line: str, column: int) -> tuple[str, int]:
    """The part of a line around a column as it is shown, and how many cells stand before the column."""
    split = min(column - 1, len(line))
    left = [_shown(sign) for sign in reversed(line[max(split - WIDTH, 0) : split])]
    right = [_shown(sign) for sign in line[split : split + WIDTH]]
    behind = _fitting(right, WIDTH // 2)
    before = _fitting(left, WIDTH - cells("".join(behind)))
    behind = _fitting(right, WIDTH - cells("".join(before)))
    begin = "…" if len(before) < split else ""
    end = "…" if len(behind) < len(line) - split else ""
    head = begin + "".join(reversed(before))
    return f"{head}{''.join(behind)}{end}", cells(head)


def _shown(sign: str) -> str:
    return " " if sign == "\t" else inert(sign)


def _fitting(parts: Iterable[str], room: int) -> list[str]:
    fitting: list[str] = []
    for part in parts:
        room -= cells(part)
        if room < 0:
            break
        fitting.append(part)
    return fitting
