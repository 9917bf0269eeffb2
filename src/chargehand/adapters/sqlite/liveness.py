"""Which drivers are alive: each holds a lock on a file of its own, and the lock dies with its process."""

import contextlib
import fcntl
import os
import re
import socket
import threading
import uuid
import weakref
from collections.abc import Generator
from pathlib import Path

from chargehand.errors import JournalUnusable

_NAME = re.compile(r"[A-Za-z0-9_-]+")


class Drivers:
    """The drivers of one journal, as files in a folder beside it."""

    def __init__(self, journal: Path) -> None:
        self._folder = journal.with_name(journal.name + ".drivers")
        host = re.sub(r"[^A-Za-z0-9-]", "-", socket.gethostname())[:40]
        self.name = f"{host}-{os.getpid()}-{uuid.uuid4().hex[:12]}"
        self._file: int | None = None
        self._lock = threading.Lock()

    def enlist(self) -> None:
        """From now on this process counts as alive, until `resign` or its end."""
        with self._lock:
            if self._file is None:
                try:
                    self._folder.mkdir(exist_ok=True)
                    self._file = self._take()
                except OSError as error:
                    message = f"no driver can sign in at {self._folder}: {error.strerror}"
                    hint = "Check that the folder of the journal may be written to."
                    raise JournalUnusable(message, hint=hint, cause=error) from error
                _forget_in_children(self)
                self._clear_the_dead()

    def alive(self, driver: str) -> bool:
        """Whether the process that made a name still holds its lock."""
        if not _NAME.fullmatch(driver):
            return False
        with _looking_at(self._folder / driver) as dead:
            return not dead

    def resign(self) -> None:
        with self._lock:
            if self._file is not None:
                (self._folder / self.name).unlink(missing_ok=True)
                os.close(self._file)
                self._file = None

    def forget(self) -> None:
        """In a forked child: the lock is its parent's, and must not outlive it here."""
        self._lock = threading.Lock()
        if self._file is not None:
            os.close(self._file)
            self._file = None

    def _take(self) -> int:
        path = self._folder / self.name
        while True:
            file = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
            fcntl.flock(file, fcntl.LOCK_EX)
            with contextlib.suppress(FileNotFoundError):
                if os.stat(path).st_ino == os.fstat(file).st_ino:
                    return file
            os.close(file)  # somebody cleared the file away before it was locked

    def _clear_the_dead(self) -> None:
        for path in self._folder.iterdir():
            with _looking_at(path) as dead:
                if dead:  # unlinked while we hold it, so that its maker, if it is just signing in, will notice
                    path.unlink(missing_ok=True)


@contextlib.contextmanager
def _looking_at(path: Path) -> Generator[bool]:
    """Whether nobody holds a file, for as long as we look."""
    try:
        file = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        yield True
        return
    try:
        # Shared, so that two processes that look at once do not take each other for the driver.
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        free = True
    except BlockingIOError:
        free = False
    try:
        yield free
    finally:
        os.close(file)


def _forget_in_children(drivers: Drivers) -> None:
    known = weakref.ref(drivers)

    def forget() -> None:
        if (mine := known()) is not None:
            mine.forget()

    os.register_at_fork(after_in_child=forget)
