"""What the checker says about a plan: one finding each, with a stable code, its place, and the cure."""

import difflib
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

MAX_COMPARED = 200  # words that a misspelt one is compared with: 5 ms

Severity = Literal["error", "warning"]

# Every code, its title and its severity. Codes are stable: none is ever given another meaning.
CODES: dict[str, tuple[Severity, str]] = {
    # reading
    "CH001": ("error", "The text is not YAML or JSON"),
    "CH002": ("error", "A key is given twice"),
    "CH003": ("error", "The plan is too large"),
    "CH004": ("error", "A value that no plan can hold"),
    "CH005": ("error", "An unknown field"),
    "CH006": ("error", "A field is missing"),
    "CH007": ("error", "A field has the wrong form"),
    "CH008": ("error", "A step does not say what it does"),
    "CH009": ("error", "A malformed reference"),
    # names and order
    "CH101": ("error", "An illegal id"),
    "CH102": ("error", "A reserved id"),
    "CH103": ("error", "Two steps have the same id"),
    "CH104": ("error", "A step that does not exist"),
    "CH105": ("error", "Steps wait for each other in a circle"),
    "CH106": ("error", "An input that is not declared"),
    "CH107": ("error", "A name that means nothing here"),
    "CH108": ("error", "The answer may never come to be"),
    "CH109": ("warning", "A step that nobody uses"),
    # tools, skills, goals and what they are given
    "CH201": ("error", "An unknown tool"),
    "CH202": ("error", "An unknown skill"),
    "CH203": ("error", "A sub-goal that nothing can plan"),
    "CH204": ("error", "An argument is missing"),
    "CH205": ("error", "An unknown argument"),
    "CH206": ("error", "A value does not fit"),
    "CH207": ("error", "An expression of the wrong type"),
    "CH208": ("warning", "A value that may be missing"),
    "CH209": ("error", "An unusable schema"),
    # expressions
    "CH301": ("error", "An expression that cannot be read"),
    "CH302": ("error", "An unknown function"),
    "CH303": ("error", "A field that does not exist"),
    "CH304": ("error", "Types that do not go together"),
    "CH305": ("error", "A condition that is not true or false"),
    "CH306": ("error", "Each over something that is not a list"),
    "CH307": ("error", "An expression that is too large"),
    "CH308": ("warning", "A check that does not look at the output"),
    # effects and limits
    "CH401": ("warning", "An irreversible step without a check"),
    "CH402": ("error", "An irreversible step in the middle of all-or-nothing"),
    "CH403": ("warning", "A write that could not be undone"),
    "CH404": ("warning", "The same effect twice"),
    "CH405": ("error", "A limit that is certainly exceeded"),
    "CH406": ("error", "A max_age that cannot be kept"),
    # playbooks and patches
    "CH601": ("error", "A goal pattern that cannot be used"),
    "CH602": ("error", "Two playbooks answer the same goal"),
    "CH603": ("error", "An input that cannot be used"),
    "CH604": ("error", "A revision that does not fit its plan"),
    "CH605": ("error", "Two playbooks of the same name"),
    "CH606": ("error", "A playbook that pursues its own goal"),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Diagnostic:
    """One finding. `path` leads to its place in the plan, `offset` to a character of the expression there (or, where
    the path is empty, of the whole text)."""

    code: str
    severity: Severity
    step: str | None
    path: str
    message: str
    hint: str = ""
    offset: int | None = None

    def __str__(self) -> str:
        hint = f" {self.hint}" if self.hint else ""
        return f"{self.code} {self.message}.{hint}"


def finding(
    code: str, path: "Path", message: str, *, step: str | None = None, hint: str = "", offset: int | None = None
) -> Diagnostic:
    """A diagnostic with the severity of its code."""
    severity, _ = CODES[code]
    return Diagnostic(
        code=code, severity=severity, step=step, path=show_path(path), message=message, hint=hint, offset=offset
    )


Path = tuple[str | int, ...]


def show_path(path: Path) -> str:
    """`("steps", 2, "with", "id")` as `steps[2].with.id`."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in path)
    return "".join(parts).removeprefix(".")


def has_errors(diagnostics: Iterable[Diagnostic]) -> bool:
    return any(diagnostic.severity == "error" for diagnostic in diagnostics)


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """A hint that names the nearest known word, or the known words when they are few."""
    words = sorted(set(known))
    near = nearest(word, words)
    if near:
        return f"Did you mean {near[0]!r}?"
    return f"Known: {listed(words)}." if words else ""


def nearest(word: str, known: Iterable[str]) -> list[str]:
    """The known word that is most like another, if one is."""
    words = sorted(set(known))
    if len(words) > MAX_COMPARED:  # comparing takes long: only those that begin alike and are about as long
        alike = (one for one in words if one[:2] == word[:2] and abs(len(one) - len(word)) < 3)
        words = [*itertools.islice(alike, MAX_COMPARED)]
    return difflib.get_close_matches(word, words, n=1, cutoff=0.6)


def listed(words: Sequence[str], most: int = 8) -> str:
    shown = ", ".join(words[:most])
    return f"{shown} and {len(words) - most} more" if len(words) > most else shown
