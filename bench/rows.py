"""What a benchmark finds: rows that are held against the budget, and bars to draw."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Verdict = Literal["ok", "MISSED", "info", "not measured"]
Tone = Literal["ours", "other", "ok", "missed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the budget: a figure, what it may be, and what it was made of."""

    what: str
    value: float = 0.0
    unit: str = "×"
    budget: float | None = None  # none: it is for information
    at_least: bool = False  # more is better
    digits: int = 2
    figures: str = ""
    spread: tuple[float, float] | None = None
    processor: float | None = None  # the same ratio in processor time, which other work on the machine hardly moves
    absent: str = ""  # why it was not measured

    @property
    def verdict(self) -> Verdict:
        if self.absent:
            return "not measured"
        if self.budget is None:
            return "info"
        return "ok" if self.share <= 1 else "MISSED"

    @property
    def share(self) -> float:
        """How much of the budget is used up: 1 is all of it."""
        budget = self.budget or 1.0
        return budget / self.value if self.at_least else self.value / budget

    @property
    def shown(self) -> str:
        if self.absent:
            return "—"
        value = figure(self.value, self.digits)
        if self.spread is None:
            return f"{value}{_spaced(self.unit)}"
        low, high = (figure(bound, self.digits) for bound in self.spread)
        return f"{value}{_spaced(self.unit)} ({low}–{high})"

    @property
    def asked(self) -> str:
        if self.budget is None:
            return ""
        return f"{'≥' if self.at_least else '≤'} {self.budget:g}{_spaced(self.unit)}"

    @property
    def details(self) -> str:
        worked = "" if self.processor is None else f"{figure(self.processor)}× in processor time"
        return "; ".join(filter(None, [self.figures, worked, self.absent]))

    def __str__(self) -> str:
        asked = f"budget {self.asked}" if self.asked else ""
        return f"{self.verdict:<12}  {self.what:<66}  {self.shown:<20}  {asked:<16}  {self.details}".rstrip()


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    value: float
    tone: Tone


@dataclass(frozen=True, slots=True)
class Bars:
    """Figures of one unit that are drawn beneath each other."""

    title: str
    bars: Sequence[Bar]


@dataclass(frozen=True, slots=True)
class Part:
    """Rows that belong together."""

    title: str
    rows: Sequence[Row]
    bars: Bars | None = None


def figure(value: float, digits: int = 2) -> str:
    """A number, rounded to what can be believed of it."""
    if value == 0:
        return "0"
    rounded = float(f"{value:.{digits}g}")
    if abs(rounded) >= 10 ** (digits - 1):
        return f"{rounded:,.0f}"
    return f"{rounded:.{digits}g}"


def _spaced(unit: str) -> str:
    return unit if unit == "×" else f" {unit}"
