"""Opening the file: its settings, what a foreign or newer one gets, and errors in words."""

import sqlite3
import threading
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path

from chargehand.adapters.sqlite.migrations import APPLICATION, FORMAT, migrate
from chargehand.errors import JournalUnusable

# What SQLite raises; the second comes from a damaged file, whose damage SQLite quotes.
SQLITE_ERRORS = (sqlite3.Error, UnicodeDecodeError)

RETRY_EVERY = 0.01  # seconds; SQLite does not wait by itself where two processes turn on the WAL of a new file

# By the beginning of SQLite's name of the error: what happened, and what to do.
_CAUSES = {
    "SQLITE_FULL": ("the disk is full", "Make room: what was appended is kept and written then."),
    "SQLITE_BUSY": ("another process keeps it locked", "See who has the file open; what was appended is kept."),
    "SQLITE_LOCKED": ("another process keeps it locked", "See who has the file open; what was appended is kept."),
    "SQLITE_READONLY": ("it is read-only", "Check the permissions of the file and of its folder."),
    "SQLITE_CANTOPEN": ("it cannot be opened", "Check that the folder exists and may be written to."),
    "SQLITE_NOTADB": ("it is not a journal, or is damaged", "Check the path, or restore a backup."),
    "SQLITE_CORRUPT": ("it is damaged", "Restore a backup; `sqlite3 file .recover` may save what is left."),
    "SQLITE_IOERR": ("the disk reports an error", "Check the disk and the system's log."),
}


@contextmanager
def in_words(path: Path) -> Generator[None]:
    """Whatever SQLite raises inside comes out as JournalUnusable."""
    try:
        yield
    except SQLITE_ERRORS as error:
        raise unusable(path, error) from error


class Reader:
    """A connection that reads, for one caller at a time: inside `with`, where errors are put into words as well."""

    def __init__(self, db: sqlite3.Connection, path: Path) -> None:
        self._db, self._path = db, path
        self._lock = threading.Lock()

    def __enter__(self) -> sqlite3.Connection:
        self._lock.acquire()
        return self._db

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        self._lock.release()
        if isinstance(error, SQLITE_ERRORS):
            raise unusable(self._path, error) from error


def unusable(path: Path, error: Exception) -> JournalUnusable:
    """The same error, in words that say what to do."""
    name = str(getattr(error, "sqlite_errorname", ""))
    if isinstance(error, UnicodeDecodeError):
        name = "SQLITE_CORRUPT"
    what, hint = next((cause for code, cause in _CAUSES.items() if name.startswith(code)), (f"{error}", ""))
    return JournalUnusable(f"the journal {path} cannot be used: {what}", hint=hint, cause=error)


def connect(path: Path, *, read_only: bool, patience: float) -> sqlite3.Connection:
    """A connection with our settings; it may be used by one thread after another."""
    mode = "ro" if read_only else "rwc"
    address = f"{path.absolute().as_uri()}?mode={mode}"
    db = sqlite3.connect(address, uri=True, timeout=patience, isolation_level=None, check_same_thread=False)
    try:
        db.execute("begin")  # one snapshot: another process may be making the tables just now
        _identify(db, path)
        db.execute("commit")
        if read_only:
            _must_be_current(db, path)
        else:
            _set_up(db, path, patience)
    except BaseException:
        db.close()
        raise
    return db


def _set_up(db: sqlite3.Connection, path: Path, patience: float) -> None:
    mode = _patiently(lambda: _pragma(db, "journal_mode = wal"), patience)
    if mode != "wal":
        hint = "Keep the journal on a local disk."
        raise JournalUnusable(f"the journal {path} cannot be used: no write-ahead log there", hint=hint)
    db.execute("pragma synchronous = full")
    if _pragma(db, "user_version") != FORMAT:
        db.execute("begin immediate")
        with db:
            _identify(db, path)  # again, now that nobody else can change it
            migrate(db)


def _identify(db: sqlite3.Connection, path: Path) -> None:
    """Raises JournalUnusable for a file that is somebody else's or from a newer version."""
    application, version = _pragma(db, "application_id"), _pragma(db, "user_version")
    if application != APPLICATION:
        tables = db.execute("select count(*) from sqlite_schema").fetchone()[0]
        if application or version or tables:
            hint = "Give the journal a file of its own."
            raise JournalUnusable(f"{path} is a database of something else, not a journal", hint=hint)
    elif isinstance(version, int) and version > FORMAT:
        message = f"the journal {path} has format {version}, and this Chargehand knows formats up to {FORMAT}"
        raise JournalUnusable(message, hint="Update Chargehand; nothing was changed.")


def _must_be_current(db: sqlite3.Connection, path: Path) -> None:
    version = _pragma(db, "user_version")
    if version != FORMAT:
        message = f"the journal {path} has format {version} and must become {FORMAT} first, but is read-only"
        raise JournalUnusable(message, hint="Open it once without read_only.")


def _pragma(db: sqlite3.Connection, pragma: str) -> object:
    return db.execute(f"pragma {pragma}").fetchone()[0]


def _patiently(attempt: Callable[[], object], patience: float) -> object:
    until = time.monotonic() + patience
    while True:
        try:
            return attempt()
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > until:
                raise
        time.sleep(RETRY_EVERY)
