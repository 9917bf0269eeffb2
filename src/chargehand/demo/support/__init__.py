"""The support desk of a kitchenware shop: customers, orders, tickets, CRM notes, articles; three languages.

It is Monday 16 November 2026, 09:00 in Luxembourg. `chargehand plan "…" --app chargehand.demo.support:desk`
"""

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from chargehand.runtime import Chargehand

PLAYBOOKS = Path(__file__).parent / "playbooks"


def desk(path: str | Path | None = None) -> "Chargehand":
    """A Chargehand for this world: in the file at `path`, or in memory."""
    from chargehand.demo.support.tools import make_tools
    from chargehand.demo.support.world import NOW, World
    from chargehand.runtime import Chargehand
    from chargehand.testing.clock import FakeClock

    return Chargehand(tools=make_tools(World(path)), playbooks=PLAYBOOKS, clock=FakeClock(NOW))
