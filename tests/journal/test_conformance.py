"""Both journals keep the same promises."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.adapters.sqlite import SqliteJournal
from chargehand.ports import Journal
from chargehand.testing.journals import JournalConformance, Place


def places(make: Place) -> Iterator[Place]:
    """A function that opens journals, all of which are closed at the end."""
    opened: list[Journal] = []

    def open_one() -> Journal:
        opened.append(make())
        return opened[-1]

    yield open_one
    for journal in opened:
        journal.close()


class TestMemory(JournalConformance):
    @pytest.fixture
    def place(self) -> Iterator[Place]:
        store = MemoryStore()
        yield from places(lambda: MemoryJournal(store))


class TestSqlite(JournalConformance):
    @pytest.fixture
    def place(self, tmp_path: Path) -> Iterator[Place]:
        yield from places(lambda: SqliteJournal(tmp_path / "journal.db", poll=0.02))
