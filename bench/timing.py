"""Taking times: in turns, so that whatever else the machine does falls on everybody, and the median of several."""

import statistics
import subprocess
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from bench.rows import Row, figure


class Absent(Exception):
    """A contestant cannot take part; the text says why."""


class Took(NamedTuple):
    """Seconds of one round, and how many of them a processor worked for it."""

    seconds: float
    processor: float = 0.0


@dataclass(frozen=True, slots=True)
class Sample:
    """What several rounds of one thing took."""

    rounds: list[Took] = field(default_factory=list[Took])
    absent: str = ""

    @property
    def median(self) -> float:
        return statistics.median(took.seconds for took in self.rounds)

    @property
    def processor(self) -> float:
        return statistics.median(took.processor for took in self.rounds)

    def each(self, amount: float) -> "Sample":
        """The same for each of many things."""
        return Sample([Took(took.seconds / amount, took.processor / amount) for took in self.rounds], self.absent)


def interleave(rounds: int, takes: Mapping[str, Callable[[], Took]]) -> dict[str, Sample]:
    """Rounds in turns, each beginning with another one. Who fails takes no further part."""
    samples = {name: Sample() for name in takes}
    names = list(takes)
    for number in range(rounds):
        first = number % len(names)
        for name in names[first:] + names[:first]:
            if not samples[name].absent:
                try:
                    samples[name].rounds.append(takes[name]())
                except Absent as reason:
                    samples[name] = Sample(absent=str(reason))
    return samples


def compare(
    what: str,
    one: Sample,
    other: Sample,
    *,
    figures: str = "",
    budget: float | None = None,
    at_least: bool = False,
    digits: int = 2,
) -> Row:
    """How many times the other one is: the ratio of the medians, and its range over the rounds."""
    absent = one.absent or other.absent
    if absent:
        return Row(what=what, budget=budget, at_least=at_least, absent=absent)
    ratios = [a.seconds / b.seconds for a, b in zip(one.rounds, other.rounds, strict=True)]
    return Row(
        what=what,
        value=one.median / other.median,
        processor=one.processor / other.processor if other.processor else None,
        budget=budget,
        at_least=at_least,
        digits=digits,
        figures=figures,
        spread=(min(ratios), max(ratios)) if len(ratios) > 1 else None,
    )


def milliseconds(sample: Sample) -> str:
    return "—" if sample.absent else f"{figure(sample.median * 1000)} ms"


def sample(action: Callable[[], object], rounds: int) -> Sample:
    """What something in this process takes."""
    return Sample([_take(action) for _ in range(rounds)])


def command(*words: str) -> Took:
    """What a command takes, until it has ended; what its processor does is not seen from here."""
    return Took(_take(lambda: subprocess.run(words, check=True, capture_output=True)).seconds)


def _take(action: Callable[[], object]) -> Took:
    began, used = time.perf_counter(), time.process_time()
    action()
    return Took(time.perf_counter() - began, time.process_time() - used)
