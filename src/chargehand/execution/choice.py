"""Which tool does a job: a pure ranking of those that provide it, with the reason."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from chargehand.domain.work import Attempt


@dataclass(frozen=True, slots=True)
class Choice:
    tool: str
    why: str


def choose(providers: Sequence[str], attempts: Sequence[Attempt], benched: Collection[str]) -> Choice | None:
    """The tool for the next attempt; None if every one that provides the action has been found unable.

    The one that the plan names comes first, then its stand-ins in their order. A benched tool, which keeps failing, is
    taken only if there is no other.
    """
    if not attempts and providers[0] not in benched:
        return Choice(providers[0], "it was named")
    unable = {attempt.tool for attempt in attempts if attempt.error and attempt.error.kind == "unsupported"}
    able = [tool for tool in providers if tool not in unable]
    if not able:
        return None
    fit = [tool for tool in able if tool not in benched]
    chosen = (fit or able)[0]
    return Choice(chosen, _why(chosen, providers, unable, benched))


def _why(chosen: str, providers: Sequence[str], unable: Collection[str], benched: Collection[str]) -> str:
    if chosen == providers[0]:
        return "every provider keeps failing; it is the one that was named" if chosen in benched else "it was named"
    passed = [f"{tool} {'cannot do it' if tool in unable else 'keeps failing'}" for tool in providers if tool != chosen]
    return f"it stands in: {'; '.join(passed[: providers.index(chosen)])}"
