"""Writing to the terminal: colours where they are wanted, and text from outside made inert."""

import os
import re

import typer

# Control characters and marks that reorder text could make a line show something else than it says.
_ACTIVE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200e\u200f\u202a-\u202e\u2066-\u2069]")


def inert(text: str) -> str:
    """Text from files, models and tools as it is safe to show."""
    return _ACTIVE.sub(lambda match: f"\\u{ord(match.group()):04x}", text)


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


def columns(rows: list[tuple[str, ...]], gap: int = 2) -> list[str]:
    """Rows as lines with aligned columns."""
    if not rows:
        return []
    widths = [max(len(_plain(row[number])) for row in rows) for number in range(len(rows[0]))]
    padded = (
        [cell + " " * (width - len(_plain(cell)) + gap) for cell, width in zip(row, widths, strict=True)]
        for row in rows
    )
    return ["".join(row).rstrip() for row in padded]


def _plain(text: str) -> str:
    return _STYLE.sub("", text)


_STYLE = re.compile("\x1b\\[[0-9;]*m")
