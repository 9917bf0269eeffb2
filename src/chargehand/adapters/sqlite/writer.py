"""The one thread that writes: it takes everything that is queued and commits it at once."""

import asyncio
import os
import queue
import sqlite3
import threading
from collections import defaultdict
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from chargehand.adapters.bells import Bells, Topic, Wake, call_on
from chargehand.adapters.sqlite.connection import SQLITE_ERRORS, unusable
from chargehand.adapters.sqlite.transaction import Transaction
from chargehand.errors import ChargehandError, JournalUnusable

GROUP = 2_000  # tasks in one commit: about 30 ms, so that nobody waits long for others' work

# What is wrong with a task itself. Any other error is the disk's or the file's, and may pass.
_CULPRITS = (sqlite3.IntegrityError, sqlite3.DataError, sqlite3.InterfaceError, OverflowError, TypeError)

T = TypeVar("T")
Work = Callable[[Transaction], T]


@dataclass(frozen=True, slots=True)
class Task:
    """Something to do in a transaction. Without a reply it is kept until it is written; with one, its caller is told
    of a failure and decides. Raises ChargehandError or ValueError, before it changed anything, to refuse."""

    work: Work[object]
    writes: bool = True
    loop: asyncio.AbstractEventLoop | None = None
    reply: "asyncio.Future[object] | Future[object] | None" = None
    refused: Callable[[Exception], None] | None = None


class Writer:
    """Owns the connection that writes. Tasks are done in the order in which they were put."""

    def __init__(self, db: sqlite3.Connection, path: Path, poll: float) -> None:
        self._db = db
        self._path = path
        self._poll = poll
        self._queue: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self._kept: list[Task] = []
        self._closing = False
        self._version: object = None
        self._last_mail = 0
        self.bells = Bells(on_first=lambda: self._queue.put(None))
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name=f"journal {path.name}", daemon=True)
        self._thread.start()

    def put(self, work: Work[object], refused: Callable[[Exception], None] | None = None) -> None:
        """Queues work that nobody waits for; `refused` is told if it can never be written."""
        self._must_be_open()
        self._queue.put(Task(work, refused=refused))

    def ask(self, work: Work[T], *, writes: bool = True) -> "asyncio.Future[T]":
        """Queues work and gives its result on the running event loop, once it is on disk."""
        self._must_be_open()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._queue.put(Task(work, writes, loop, future))  # pyright: ignore[reportArgumentType]  # T is an object
        return future

    def wait(self, work: Work[T], *, writes: bool = True) -> T:
        """Queues work and blocks until its result is on disk."""
        self._must_be_open()
        future: Future[T] = Future()
        self._queue.put(Task(work, writes, None, future))  # pyright: ignore[reportArgumentType]  # T is an object
        return future.result()

    def close(self) -> None:
        """Writes what is queued; raises JournalUnusable if that fails, and lets go all the same."""
        if self._closing or self._process != os.getpid():
            return
        try:
            self.wait(lambda _: None, writes=False)
        finally:
            self._closing = True
            self._queue.put(None)
            self._thread.join()
            self._db.close()

    def _must_be_open(self) -> None:
        if self._closing or self._process != os.getpid():
            why = "it was closed" if self._closing else "it was opened before this process was forked"
            raise JournalUnusable(f"the journal {self._path} cannot be used: {why}", hint="Open it again.")

    def _run(self) -> None:
        while not self._closing:
            tasks = self._gather()
            if tasks:
                self._commit([*self._kept, *tasks])
            self._look_abroad()

    def _gather(self) -> list[Task]:
        """Waits for a task and takes what else is there; comes back with nothing when it is time to look abroad."""
        try:
            first = self._queue.get(timeout=self._poll if self.bells else None)
        except queue.Empty:
            return []
        tasks = [first]
        while len(tasks) < GROUP:
            try:
                tasks.append(self._queue.get_nowait())
            except queue.Empty:
                break
        return [task for task in tasks if task is not None]

    def _commit(self, tasks: list[Task]) -> None:
        transaction = Transaction(self._db)
        try:
            outcomes = self._attempt(transaction, tasks)
        except _CULPRITS as error:
            self._kept = []
            self._single_out(tasks, error)
        except Exception as error:
            self._keep(tasks, error)
        else:
            self._kept = []
            _answer(list(zip(tasks, outcomes, strict=True)))
            self.bells.ring(transaction.topics)

    def _keep(self, tasks: list[Task], error: Exception) -> None:
        """Nothing was written: what nobody waits for is tried again, whoever waits is told."""
        self._kept = [task for task in tasks if task.reply is None]
        trouble = unusable(self._path, error)
        _answer([(task, trouble) for task in tasks])

    def _single_out(self, tasks: list[Task], error: Exception) -> None:
        """One task cannot be written, ever: the others are, each by itself."""
        if len(tasks) > 1:
            for place, task in enumerate(tasks):
                self._commit([task])
                if self._kept:  # the disk fails as well: the rest stays behind it, in order
                    return self._keep(tasks[place:], error)
        elif tasks[0].refused is not None:
            tasks[0].refused(error)
        else:
            _answer([(tasks[0], unusable(self._path, error))])
        return None

    def _attempt(self, transaction: Transaction, tasks: list[Task]) -> list[object]:
        """Does the tasks and commits them together; whatever SQLite raises undoes them all."""
        if not any(task.writes for task in tasks):
            return [_do(task, transaction) for task in tasks]
        self._db.execute("begin immediate")
        try:
            outcomes = [_do(task, transaction) for task in tasks]
            transaction.write()
            self._db.execute("commit")
        except BaseException:
            if self._db.in_transaction:
                self._db.execute("rollback")
            raise
        return outcomes

    def _look_abroad(self) -> None:
        """Rings for what other processes committed; one number tells whether they did."""
        if not self.bells:
            return
        try:
            (version,) = self._db.execute("pragma data_version").fetchone()
            if version == self._version:
                return
            mail = self._db.execute("select id, run from inbox where id > ?", (self._last_mail,)).fetchall()
        except SQLITE_ERRORS:
            return  # whoever reads next will be told
        self._version, self._last_mail = version, max([self._last_mail, *(id for id, _ in mail)])
        topics: list[Topic] = [("mail", run) for run in {run for _, run in mail}]
        self.bells.ring([*topics, *([("mail", None)] if mail else []), *self.bells.topics("events")])


def _do(task: Task, transaction: Transaction) -> object:
    try:
        return task.work(transaction)
    except UnicodeDecodeError:
        raise  # a ValueError, but the file's
    except JournalUnusable as damage:  # of one run's head
        if task.refused is not None:
            task.refused(damage)
        return damage
    except (ChargehandError, ValueError) as refusal:
        return refusal


def _answer(outcomes: list[tuple[Task, object]]) -> None:
    loops: dict[asyncio.AbstractEventLoop, list[Wake]] = defaultdict(list)
    for task, outcome in outcomes:
        match task.reply:
            case None:
                pass
            case asyncio.Future() as future if task.loop is not None:
                loops[task.loop].append(_settling(future, outcome))
            case future:
                _settle(future, outcome)
    for loop, calls in loops.items():
        call_on(loop, calls)


def _settling(future: "asyncio.Future[object]", outcome: object) -> Wake:
    return lambda: _settle(future, outcome)


def _settle(future: "asyncio.Future[object] | Future[object]", outcome: object) -> None:
    if future.done():
        return  # its caller was cancelled
    if isinstance(outcome, BaseException):
        future.set_exception(outcome)
    else:
        future.set_result(outcome)
