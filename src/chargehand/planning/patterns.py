"""Goal patterns: text with `{captures}`, matched against a whole goal."""

import re
from dataclasses import dataclass
from functools import cached_property

_PART = re.compile(r"\{([^{}]*)\}")
_END = re.compile(r"[\s.!?]+$")


@dataclass(frozen=True)
class Pattern:
    """`Book a flight to {city}`: the words must be there, the captures are taken."""

    text: str

    @cached_property
    def captures(self) -> tuple[str, ...]:
        return tuple(_PART.findall(self.text))

    @cached_property
    def words(self) -> str:
        """The pattern without its captures' names: patterns with the same words match the same goals."""
        return _normal(_PART.sub("{}", self.text))

    @property
    def weight(self) -> int:
        """How much of a goal it pins down: the number of its own letters."""
        return len(self.words.replace("{}", "").replace(" ", ""))

    def problem(self) -> str:
        """Why the pattern cannot be used; empty if it can."""
        outside = _PART.sub("", self.text)
        if "{" in outside or "}" in outside:
            return "its brackets do not match"
        if any(not name.isidentifier() for name in self.captures):
            return f"{{{next(name for name in self.captures if not name.isidentifier())}}} is not the name of an input"
        if len(set(self.captures)) < len(self.captures):
            return "it captures the same input twice"
        if re.search(r"\}\s*\{", self.text):
            return "it has two captures with nothing between them, so nobody can tell where one ends"
        if not self.weight:
            return "it has no words of its own, so it would match every goal"
        return ""

    def match(self, goal: str) -> list[dict[str, str]]:
        """What the captures hold; more than one reading if the goal can be read in more than one way."""
        readings: list[dict[str, str]] = []
        for capture in ("(.+?)", "(.+)"):
            found = re.fullmatch(self._expression(capture), _trimmed(goal), re.IGNORECASE | re.DOTALL)
            if found:
                reading = dict(zip(self.captures, (text.strip() for text in found.groups()), strict=True))
                if reading not in readings:
                    readings.append(reading)
        return readings

    def _expression(self, capture: str) -> str:
        parts = _PART.split(_trimmed(self.text))
        literals = [r"\s+".join(re.escape(word) for word in re.split(r"\s+", part)) for part in parts[::2]]
        return capture.join(literals)


def _trimmed(text: str) -> str:
    return _END.sub("", text.strip())


def _normal(text: str) -> str:
    return " ".join(_trimmed(text).lower().split())
