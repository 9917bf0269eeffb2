"""The one thread that writes: it takes everything that is queued and commits it at once."""

import asyncio
import os
import queue
import sqlite3
import threading
from collections import deque
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from pathlib import Path
from typing import TypeVar, cast

from chargehand.adapters.bells import Bells, Topic, call_on
from chargehand.adapters.sqlite.connection import SQLITE_ERRORS, unusable
from chargehand.adapters.sqlite.tasks import Question, Reply, Task, Work
from chargehand.adapters.sqlite.transaction import Transaction
from chargehand.errors import ChargehandError, JournalUnusable

GROUP = 2_000  # tasks in one commit: about 20 ms, so that nobody waits long for others' work
LINGER = 0.005  # seconds that appends are gathered while nobody waits: more would show to followers, less costs commits

# What is wrong with a task itself. Any other error is the disk's or the file's, and may pass.
_CULPRITS = (
    sqlite3.IntegrityError,
    sqlite3.DataError,
    sqlite3.InterfaceError,
    OverflowError,
    TypeError,
    UnicodeEncodeError,
)

T = TypeVar("T")


class Writer:
    """Owns the connection that writes. Tasks are done in the order in which they were put.

    The thread is woken when somebody waits, or when it has nothing else to do; what is put while it works or lingers
    lies ready. Waking it more often would cost the event loop more than the appends themselves.
    """

    def __init__(self, db: sqlite3.Connection, path: Path, poll: float) -> None:
        self._db = db
        self._path = path
        self._poll = poll
        self._transaction = Transaction(db)
        self._tasks: deque[Task] = deque()
        self._calls: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._idle = self._busy = self._urgent = self._closing = False
        self._kept: list[Task] = []
        self._version: object = None
        self._last_mail = 0
        self.bells = Bells(on_first=self._wake)
        self._process = os.getpid()
        self._thread = threading.Thread(target=self._run, name=f"journal {path.name}", daemon=True)
        self._thread.start()

    def put(self, task: Task) -> None:
        """Queues what nobody waits for."""
        self._must_be_open()
        self._tasks.append(task)
        if self._idle:
            self._wake()

    def ask(self, work: Work[T], *, writes: bool = True) -> "asyncio.Future[T]":
        """Queues work and gives its result on the running event loop, once it is on disk."""
        self._must_be_open()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[T] = loop.create_future()
        self._hurry(Question(work, cast(Reply, future), writes=writes, loop=loop))
        return future

    def wait(self, work: Work[T], *, writes: bool = True) -> T:
        """Queues work and blocks until its result is on disk."""
        self._must_be_open()
        future: Future[T] = Future()
        self._hurry(Question(work, cast(Reply, future), writes=writes))
        return future.result()

    def close(self) -> None:
        """Writes what is queued; raises JournalUnusable if that fails, and lets go all the same."""
        if self._closing or self._process != os.getpid():
            return
        try:
            self.wait(lambda _: None, writes=False)
        finally:
            self._closing = True
            self._wake()
            self._thread.join()
            self._db.close()

    def _hurry(self, task: Task) -> None:
        self._tasks.append(task)
        self._urgent = True
        self._wake()

    def _wake(self) -> None:
        if self._calls.empty():
            self._calls.put(None)

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
        """Lingers, unless somebody waits, and takes what is there; if that is nothing, sleeps until something comes or
        it is time to look abroad."""
        if not self._urgent and (self._tasks or self._busy):
            self._sleep(LINGER)
        self._busy = bool(self._tasks)
        if not self._busy:
            self._idle = True
            if not self._tasks and not self._closing:  # both may have come just now, without waking us
                self._sleep(self._poll if self.bells else None)
            self._idle = False
            return []
        self._urgent = len(self._tasks) > GROUP  # before the tasks are taken: who hurries later is not overlooked
        if not self._calls.empty():
            self._calls.get()
        return [self._tasks.popleft() for _ in range(min(len(self._tasks), GROUP))]

    def _sleep(self, seconds: float | None) -> None:
        with suppress(queue.Empty):
            self._calls.get(timeout=seconds)

    def _commit(self, tasks: list[Task]) -> None:
        try:
            outcomes = self._attempt(tasks)
        except _CULPRITS as error:
            self._kept = []
            self._single_out(tasks, error)
        except Exception as error:
            self._keep(tasks, error)
        else:
            self._kept = []
            _answer(zip(tasks, outcomes, strict=True))
            self.bells.ring(self._transaction.topics())

    def _keep(self, tasks: list[Task], error: Exception) -> None:
        """Nothing was written: what nobody waits for is tried again, whoever waits is told."""
        self._kept = [task for task in tasks if not isinstance(task, Question)]
        trouble = unusable(self._path, error)
        _answer((task, trouble) for task in tasks)

    def _single_out(self, tasks: list[Task], error: Exception) -> None:
        """One task cannot be written, ever: the others are, each by itself."""
        if len(tasks) > 1:
            for place, task in enumerate(tasks):
                self._commit([task])
                if self._kept:  # the disk fails as well: the rest stays behind it, in order
                    return self._keep(tasks[place:], error)
        else:
            tasks[0].never(error)
            _answer([(tasks[0], unusable(self._path, error))])
        return None

    def _attempt(self, tasks: list[Task]) -> list[object]:
        """Does the tasks and commits them together; whatever SQLite raises undoes them all."""
        transaction, writes = self._transaction, any(not isinstance(task, Question) or task.writes for task in tasks)
        try:
            if writes:
                self._db.execute("begin immediate")
            transaction.begin()
            outcomes = [_do(task, transaction) for task in tasks]
            if writes:
                transaction.write()
                self._db.execute("commit")
        except BaseException:
            transaction.forget()
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
        return task.do(transaction)
    except UnicodeDecodeError:
        raise  # a ValueError, but the file's
    except JournalUnusable as damage:  # of one run's head
        task.never(damage)
        return damage
    except (ChargehandError, ValueError) as refusal:
        return refusal


def _answer(outcomes: Iterable[tuple[Task, object]]) -> None:
    """Tells whoever waits; each event loop is woken once."""
    loops: dict[asyncio.AbstractEventLoop, list[tuple[Reply, object]]] = {}
    for task, outcome in outcomes:
        if not isinstance(task, Question):
            continue
        if task.loop is None:
            _settle(task.reply, outcome)
        else:
            loops.setdefault(task.loop, []).append((task.reply, outcome))
    for loop, replies in loops.items():
        call_on(loop, _settle_all, replies)


def _settle_all(replies: list[tuple[Reply, object]]) -> None:
    for reply, outcome in replies:
        _settle(reply, outcome)


def _settle(reply: Reply, outcome: object) -> None:
    if reply.done():
        return  # its caller was cancelled
    if isinstance(outcome, BaseException):
        reply.set_exception(outcome)
    else:
        reply.set_result(outcome)
