"""The form of an explanation."""

from dataclasses import dataclass
from textwrap import dedent
from typing import Literal

Kind = Literal["plan", "playbook"]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What a code means: in words, by the smallest example that has it (and no other), and by the same one mended."""

    text: str
    bad: str
    good: str
    kind: Kind = "plan"


def explain(text: str, *, bad: str, good: str, kind: Kind = "plan") -> Explanation:
    """An explanation from indented text: words on one line, examples as they would stand in a file."""
    return Explanation(" ".join(text.split()), _example(bad), _example(good), kind)


def _example(text: str) -> str:
    return dedent(text).strip("\n") + "\n"
