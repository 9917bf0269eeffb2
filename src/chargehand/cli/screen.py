"""Writing to the terminal: colours where they are wanted, and text from outside made inert."""

import io
import os
import re
import sys
import unicodedata

import typer

# Control characters, marks that reorder text and further line ends could make a line show something else than it says;
# half a surrogate pair cannot be written at all.
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def inert(text: str) -> str:
    """Text from files, models and tools as it is safe to show. Of JSON it makes JSON that says the same."""
    return _ACTIVE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


def flat(text: str) -> str:
    """Inert text on one line."""
    return inert(_BLANKS.sub(lambda match: match.group() if set(match.group()) == {" "} else " ", text))


_BLANKS = re.compile(r"[ \t\r\n]+")


def cells(text: str) -> int:
    """How many columns of a terminal a text takes."""
    return sum(map(_cells, text)) if not text.isascii() else len(text)


def _cells(sign: str) -> int:
    if unicodedata.east_asian_width(sign) in ("W", "F"):
        return 2
    joins = unicodedata.category(sign) in ("Mn", "Me", "Cf") or "\u1160" <= sign <= "\u11ff"  # vowels of Korean
    return 0 if joins and sign != "\u00ad" else 1


def red(text: str) -> str:
    return typer.style(text, fg=typer.colors.RED, bold=True)


def yellow(text: str) -> str:
    return typer.style(text, fg=typer.colors.YELLOW, bold=True)


def green(text: str) -> str:
    return typer.style(text, fg=typer.colors.GREEN, bold=True)


def blue(text: str) -> str:
    return typer.style(text, fg=typer.colors.BLUE, bold=True)


def bold(text: str) -> str:
    return typer.style(text, bold=True)


def dim(text: str) -> str:
    return typer.style(text, dim=True) if text else ""


def say(text: str = "", *, error: bool = False) -> None:
    """Prints a line; colours vanish where the output is no terminal or NO_COLOR is set."""
    typer.echo(text, err=error, color=False if os.environ.get("NO_COLOR") else None)


def write_anything() -> None:
    """Lets the streams write, as numbers, what their encoding does not have."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


def columns(rows: list[tuple[str, ...]], gap: int = 2) -> list[str]:
    """Rows as lines with aligned columns."""
    if not rows:
        return []
    widths = [max(cells(_plain(row[number])) for row in rows) for number in range(len(rows[0]))]
    padded = (
        [cell + " " * (width - cells(_plain(cell)) + gap) for cell, width in zip(row, widths, strict=True)]
        for row in rows
    )
    return ["".join(row).rstrip() for row in padded]


def _plain(text: str) -> str:
    return _STYLE.sub("", text)


_STYLE = re.compile("\x1b\\[[0-9;]*m")
