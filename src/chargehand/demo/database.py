"""A world's SQLite file: made whole on first use, read and written in short transactions by any thread or process."""

import sqlite3
import threading
import weakref
from collections.abc import Callable, Generator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

PATIENCE = 2.0  # seconds that a transaction waits for the file; a write that has not begun by then never happens

Fill = Callable[[sqlite3.Connection], None]


class Database:
    """A file, or with no path a private world in memory. `fill` makes its tables and rows, in one transaction."""

    def __init__(self, path: str | Path | None, fill: Fill) -> None:
        self._path = path
        self._fill = fill
        self._ready = False
        # Threads share the one connection of a world in memory, so they take turns.
        self._turn = threading.RLock()
        self._private = None if path is not None else _open(":memory:")
        if self._private is not None:
            weakref.finalize(self, self._private.close)

    @contextmanager
    def reading(self) -> Generator[sqlite3.Connection]:
        """A connection for reading: all that is read inside is of one moment."""
        with self._connection() as connection, _transaction(connection, "DEFERRED"):
            yield connection

    @contextmanager
    def writing(self) -> Generator[sqlite3.Connection]:
        """A connection for one write: all of it happens, or nothing."""
        with self._connection() as connection, _transaction(connection, "IMMEDIATE"):
            yield connection

    @contextmanager
    def _connection(self) -> Generator[sqlite3.Connection]:
        if self._private is not None:
            with self._turn:
                self._make(self._private)
                yield self._private
        else:
            # A connection for each use: none is left open in a thread that was written off or across a fork.
            with closing(_open(str(self._path))) as connection:
                self._make(connection)
                yield connection

    def _make(self, connection: sqlite3.Connection) -> None:
        if self._ready:
            return
        if not _is_made(connection):
            with _transaction(connection, "EXCLUSIVE"):
                if not _is_made(connection):  # another process may have been faster
                    self._fill(connection)
                    connection.execute("PRAGMA user_version = 1")
        # The switch to WAL does not wait for others but fails. That does no harm: the next one to open the file tries.
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
        self._ready = True


def _open(path: str) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None, check_same_thread=False)
    connection.row_factory = sqlite3.Row
    connection.execute("PRAGMA foreign_keys = ON")
    return connection


@contextmanager
def _transaction(connection: sqlite3.Connection, kind: str) -> Generator[None]:
    connection.execute(f"BEGIN {kind}")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _is_made(connection: sqlite3.Connection) -> bool:
    return connection.execute("PRAGMA user_version").fetchone()[0] == 1
