"""The composition root: turns what an application gives into the parts that the runtime needs."""

import secrets
from pathlib import Path
from secrets import SystemRandom
from typing import TYPE_CHECKING

from chargehand.catalog.catalog import Catalog
from chargehand.errors import JournalUnusable
from chargehand.ports import Clock, Journal

if TYPE_CHECKING:
    from chargehand.engine.workshop import Approver, Planner, Reviser, Workshop
    from chargehand.execution.redaction import Redactor

SQLITE = "sqlite:///"


def choose_clock(clock: Clock | None) -> Clock:
    """The clock that was given, else the machine's."""
    if clock is not None:
        return clock
    from chargehand.adapters.clock import SystemClock

    return SystemClock()


def open_journal(journal: Journal | str) -> Journal:
    """The journal that was given or is named: `sqlite:///trips.db`, or `:memory:`, which keeps nothing."""
    if not isinstance(journal, str):
        return journal
    if journal == ":memory:":
        from chargehand.adapters.memory import MemoryJournal

        return MemoryJournal()
    if journal.startswith(SQLITE):
        from chargehand.adapters.sqlite import SqliteJournal

        return SqliteJournal(Path(journal.removeprefix(SQLITE)))
    raise JournalUnusable(
        f"{journal!r} is not a journal", hint="Write sqlite:///trips.db, or :memory: to keep nothing."
    )


def make_workshop(
    journal: Journal,
    catalog: Catalog,
    clock: Clock,
    approver: "Approver | None",
    planner: "Planner",
    reviser: "Reviser",
    redactor: "Redactor",
) -> "Workshop":
    """Everything that the runs of one process share."""
    from chargehand.engine.workshop import Workshop
    from chargehand.execution.gates import Gates

    return Workshop(
        journal=journal,
        catalog=catalog,
        clock=clock,
        dice=SystemRandom().random,
        approver=approver,
        planner=planner,
        reviser=reviser,
        redactor=redactor,
        gates=Gates(clock),
    )


def new_run_id() -> str:
    """Short enough to type, and never the same again: 40 bits."""
    return secrets.token_hex(5)
