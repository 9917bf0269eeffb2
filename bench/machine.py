"""What the figures were taken with: no names of machines, no paths."""

import os
import platform
import sqlite3

from bench.contest import Contest
from bench.timing import Absent
from chargehand.version import __version__


def machine() -> str:
    """One line; the load is that of the last minute, before anything was measured."""
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    busy = ", which is busy: mind the ranges" if load > cores / 2 else ""
    return (
        f"Chargehand {__version__}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}, "
        f"{platform.system()} on {platform.machine()}, {cores} cores, load {load:.1f} before it began{busy}"
    )


def peers(contest: Contest) -> str:
    """The versions of the peers and the settings of their databases, as they say themselves."""
    said: list[str] = []
    for name in ("langgraph", "dbos"):
        try:
            facts = contest.ask(name, "facts")
            said.append(f"{', '.join(facts['versions'])} ({', '.join(facts['pragmas'])})")
        except Absent as reason:
            said.append(f"{name}: {reason}")
    return "; ".join(said)
