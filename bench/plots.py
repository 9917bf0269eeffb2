"""Horizontal bars on a logarithmic scale, as SVG.

A picture brings its own background: it reads on light and on dark pages.
"""

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from html import escape

from bench.rows import Bars, figure

WIDTH, LINE, TOP, EDGE = 800, 22, 54, 14
ROOM = 70  # for the figure behind the longest bar
BACKGROUND = "#f7f8fb"
COLOURS = {"ours": "#2f62c4", "other": "#a5adbd", "ok": "#3f9161", "missed": "#c6574d"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Picture:
    """What is drawn, and where its parts are."""

    title: str
    axis: str  # what the scale counts
    groups: Sequence[Bars]
    labels: int  # pixels for the names of the bars
    limit: float | None = None  # a line at this value
    show: Callable[[float], str] = figure

    @property
    def decades(self) -> tuple[int, int]:
        values = [bar.value for group in self.groups for bar in group.bars if bar.value > 0]
        values += [self.limit] if self.limit else []
        return math.floor(math.log10(min(values)) - 0.05), math.ceil(math.log10(max(values)))

    def x(self, value: float) -> float:
        first, last = self.decades
        left, right = EDGE + self.labels, WIDTH - EDGE - ROOM
        place = (math.log10(value) - first) / (last - first) if value > 0 else 0.0
        return round(left + max(place, 0.0) * (right - left), 1)

    @property
    def bottom(self) -> int:
        return TOP + sum(LINE * (len(group.bars) + 1) + 6 for group in self.groups)


def draw(picture: Picture) -> str:
    """The picture as the text of an SVG file."""
    height = picture.bottom + 34
    return "\n".join(
        [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" role="img" '
            'aria-labelledby="title desc"',
            """     font-family="system-ui, -apple-system, 'Segoe UI', Helvetica, Arial, sans-serif" font-size="13">""",
            f'<title id="title">{escape(picture.title)}</title>',
            f'<desc id="desc">{escape(_told(picture))}</desc>',
            f'<rect width="{WIDTH}" height="{height}" rx="10" fill="{BACKGROUND}"/>',
            f'<text x="{EDGE}" y="28" font-size="15" font-weight="600" fill="#1b2233">{escape(picture.title)}</text>',
            *_scale(picture),
            *_limit(picture),
            *_bars(picture),
            "</svg>",
            "",
        ]
    )


def _scale(picture: Picture) -> Iterator[str]:
    first, last = picture.decades
    for decade in range(first, last + 1):
        x = picture.x(10.0**decade)
        yield f'<path d="M{x} {TOP - 8} V{picture.bottom}" stroke="#d9dde6"/>'
        yield _text(x, picture.bottom + 16, f"{10.0**decade:,.10g}", anchor="middle", fill="#5a6378")
    yield _text(EDGE, picture.bottom + 16, f"{picture.axis}, logarithmic", fill="#5a6378")


def _bars(picture: Picture) -> Iterator[str]:
    y = TOP
    for group in picture.groups:
        yield _text(EDGE, y + 14, group.title, fill="#1b2233", weight=600)
        for bar in group.bars:
            y += LINE
            left, right = picture.x(0), max(picture.x(bar.value), picture.x(0) + 2)
            yield _text(EDGE + 10, y + 14, bar.label, fill="#333c50")
            yield (
                f'<rect x="{left}" y="{y + 3}" width="{right - left:.1f}" height="{LINE - 7}" rx="2" '
                f'fill="{COLOURS[bar.tone]}"/>'
            )
            yield _text(right + 6, y + 14, picture.show(bar.value), fill="#1b2233")
        y += LINE + 6


def _limit(picture: Picture) -> Iterator[str]:
    if picture.limit is not None:
        x = picture.x(picture.limit)
        yield f'<path d="M{x} {TOP - 12} V{picture.bottom}" stroke="#1b2233" stroke-dasharray="4 3"/>'
        yield _text(x, TOP - 16, "the budget", anchor="middle", fill="#1b2233")


def _text(x: float, y: float, text: str, *, fill: str, anchor: str = "start", weight: int = 400) -> str:
    """Text with a rim of the background's colour, so that lines do not run through it."""
    return (
        f'<text x="{x}" y="{y}" fill="{fill}" text-anchor="{anchor}" font-weight="{weight}" paint-order="stroke" '
        f'stroke="{BACKGROUND}" stroke-width="4">{escape(text)}</text>'
    )


def _told(picture: Picture) -> str:
    """The picture in words, for those who do not see it."""
    return " ".join(
        f"{group.title}: {', '.join(f'{bar.label} {picture.show(bar.value)}' for bar in group.bars)}."
        for group in picture.groups
    )
