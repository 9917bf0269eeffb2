"""The journal in one SQLite file: no server, one writer thread, group commits."""

from chargehand.adapters.sqlite.journal import SqliteJournal

__all__ = ["SqliteJournal"]
