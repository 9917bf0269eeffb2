"""Whether and when a failed call is worth another try. Pure: the clock and the dice are given."""

from collections.abc import Sequence

from chargehand.domain.events import ToolFacts
from chargehand.domain.work import Attempt, Failure

FIRST_DELAY = 0.5  # seconds; doubled with each try
LONGEST_DELAY = 30.0  # seconds; a service that is down longer is a case for the planner
LONGEST_RETRY_AFTER = 600.0  # seconds; what a service may ask for before we give up instead


def delay(attempt: int, dice: float, retry_after: float | None = None) -> float:
    """Seconds until the next try: capped, doubled, and spread by `dice` (0 to 1) so that not all come at once."""
    backoff = min(FIRST_DELAY * 2 ** (attempt - 1), LONGEST_DELAY) * (0.5 + dice / 2)
    return max(backoff, min(retry_after or 0.0, LONGEST_RETRY_AFTER))


def next_try(
    facts: ToolFacts, attempts: Sequence[Attempt], error: Failure, at: float, dice: float, retry_after: float | None
) -> float | None:
    """The time of the next try; None if there is none. `attempts` ends with the one that failed."""
    last = attempts[-1].tool
    if error.kind == "unsupported":
        unable = {one.tool for one in attempts if one.error and one.error.kind == "unsupported"} | {last}
        return at if any(tool not in unable for tool in facts.providers) else None
    tried = sum(one.tool == last for one in attempts)
    if error.kind != "transient" or tried >= facts.tries or (retry_after or 0.0) > LONGEST_RETRY_AFTER:
        return None
    return at + delay(tried, dice, retry_after)
