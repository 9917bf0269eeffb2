"""Writes what was measured into docs/benchmarks.md, between its marks, and draws the pictures beside it.

The words around the marks are written by hand: changing them needs no new benchmark.
"""

import re
from collections.abc import Iterator, Sequence

from bench.contest import ROOT
from bench.plots import Picture, draw
from bench.rows import Bar, Bars, Part, Row, figure

PAGE = ROOT / "docs" / "benchmarks.md"
PICTURES = ROOT / "docs" / "img"


def write_page(parts: Sequence[Part], machine: str, peers: str, date: str) -> None:
    """Puts the figures of a full benchmark into the page."""
    text = PAGE.read_text(encoding="utf-8")
    for name, lines in {
        "machine": [f"{date}: {machine}.", "", f"Peers: {peers}."],
        "table": table(parts),
        "missed": missed(parts),
    }.items():
        text = fill(text, name, "\n".join(lines))
    PAGE.write_text(text, encoding="utf-8")
    for name, picture in pictures(parts).items():
        (PICTURES / f"benchmarks-{name}.svg").write_text(draw(picture), encoding="utf-8")


def fill(page: str, name: str, text: str) -> str:
    """The page with other text between the marks of that name."""
    marks = re.compile(rf"(<!-- {name}: measured -->\n).*?(<!-- {name}: end -->)", re.DOTALL)
    filled, count = marks.subn(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", page)
    assert count == 1, f"the page has no marks for {name!r}"
    return filled


def table(parts: Sequence[Part]) -> Iterator[str]:
    yield "| what | measured | budget | made of |"
    yield "|---|---|---|---|"
    for part in parts:
        yield f"| **{part.title}** | | | |"
        for row in part.rows:
            yield f"| {row.what} | {row.shown} | {_verdict(row)} | {row.details} |"


def missed(parts: Sequence[Part]) -> list[str]:
    """What is not as it should be, in words."""
    lines = [
        f"- {part.title}, {row.what}: {_shortfall(row)}"
        for part in parts
        for row in part.rows
        if row.verdict in ("MISSED", "not measured")
    ]
    return lines or ["Nowhere, in this benchmark."]


def pictures(parts: Sequence[Part]) -> dict[str, Picture]:
    drawn = [part.bars for part in parts if part.bars is not None and part.bars.bars]
    many = [bars for bars in drawn if "at once" in bars.title]
    held = [Bars(part.title, [_share(row) for row in part.rows if row.verdict in ("ok", "MISSED")]) for part in parts]
    return {
        "budget": Picture(
            title="How much of the budget is used up: left of the line is good",
            axis="shares of the budget",
            groups=[bars for bars in held if bars.bars],
            labels=470,
            limit=1.0,
            show=lambda share: f"{share:.2f}{'' if share <= 1 else ' MISSED'}",
        ),
        "steps": Picture(
            title="Time a step: shorter is better",
            axis="ms a step",
            groups=[bars for bars in drawn if bars not in many],
            labels=220,
        ),
        "runs": Picture(title="Many runs at once: longer is better", axis="steps a second", groups=many, labels=220),
    }


def _share(row: Row) -> Bar:
    return Bar(row.what.replace("`", ""), row.share, "ok" if row.verdict == "ok" else "missed")


def _verdict(row: Row) -> str:
    verdict = {"ok": "ok", "MISSED": "**missed**", "info": "for information", "not measured": "**not measured**"}
    return ": ".join(filter(None, [row.asked, verdict[row.verdict]]))


def _shortfall(row: Row) -> str:
    if row.absent:
        return f"not measured; {row.absent}."
    return f"{row.shown} where {row.asked} is asked: missed by a factor of {figure(row.share, 3)}."
