"""The floor: as little as a durable runtime can do, in one file. No types, schemas, hash chain, fence or reports.

One thread commits whatever has gathered (WAL, full synchronisation). A step begins when what it needs is done; only an
effect, and the end of a run, wait for the disk.
"""

import asyncio
import itertools
import json
import queue
import sqlite3
import sys
import threading
import time
from pathlib import Path
from typing import NamedTuple

from bench import graphs
from bench.graphs import Graph
from bench.serving import Reply, serve, timed


class Line(NamedTuple):
    """An event, as a row."""

    run: str
    number: int
    at: float
    kind: str
    body: str


class Mark(NamedTuple):
    """Somebody waits until everything before it is on disk."""

    loop: asyncio.AbstractEventLoop
    reached: "asyncio.Future[None]"


class Ledger:
    """Rows that are written in the order in which they came, many in one commit."""

    def __init__(self, path: Path) -> None:
        self._waiting: queue.SimpleQueue[Line | Mark] = queue.SimpleQueue()
        threading.Thread(target=self._keep_writing, args=(path,), daemon=True).start()

    def put(self, line: Line) -> None:
        self._waiting.put(line)

    def on_disk(self) -> "asyncio.Future[None]":
        loop = asyncio.get_running_loop()
        mark = Mark(loop, loop.create_future())
        self._waiting.put(mark)
        return mark.reached

    def _keep_writing(self, path: Path) -> None:
        db = sqlite3.connect(path, isolation_level=None)
        db.execute("pragma journal_mode = wal")
        db.execute("pragma synchronous = full")
        db.execute("create table lines(run, number, at, kind, body, primary key(run, number)) without rowid")
        while True:
            gathered = [self._waiting.get()]
            gathered += [self._waiting.get() for _ in range(self._waiting.qsize())]
            lines = [one for one in gathered if isinstance(one, Line)]
            if lines:
                db.execute("begin immediate")
                db.executemany("insert into lines values(?, ?, ?, ?, ?)", lines)
                db.execute("commit")
            for one in gathered:
                if isinstance(one, Mark):
                    one.loop.call_soon_threadsafe(one.reached.set_result, None)


class Run:
    """One run of a graph."""

    def __init__(self, ledger: Ledger, name: str, graph: Graph, *, effects: bool) -> None:
        self._ledger, self._name, self._graph, self._effects = ledger, name, graph, effects
        self._numbers = itertools.count(1)
        self._missing = {step: len(needs) for step, needs in graph.needs.items()}
        self._fed: dict[str, list[str]] = {step: [] for step in graph.needs}
        for step, needs in graph.needs.items():
            for need in needs:
                self._fed[need].append(step)

    async def drive(self) -> None:
        self._note("began", list(self._graph.needs))
        async with asyncio.TaskGroup() as tasks:
            for step in [step for step, missing in self._missing.items() if not missing]:
                tasks.create_task(self._do(step, tasks))
        self._note("ended", "done")
        await self._ledger.on_disk()

    async def _do(self, step: str, tasks: asyncio.TaskGroup) -> None:
        self._note("intent", step)
        if self._effects:
            await self._ledger.on_disk()
        self._note("done", [step, await work(self._graph.seconds.get(step, 0.0))])
        for fed in self._fed[step]:
            self._missing[fed] -= 1
            if not self._missing[fed]:
                tasks.create_task(self._do(fed, tasks))

    def _note(self, kind: str, body: object) -> None:
        self._ledger.put(Line(self._name, next(self._numbers), time.time(), kind, json.dumps(body)))


async def work(seconds: float) -> int:
    if seconds:
        await asyncio.sleep(seconds)
    return 1


class Bare:
    """The rounds of the bare loop."""

    def __init__(self, folder: Path) -> None:
        self._ledger = Ledger(folder / "bare.db")
        self._names = map(str, itertools.count())

    async def chain(self, steps: int, effects: bool = False) -> Reply:
        return await timed(self._run(graphs.chain(steps), effects))

    async def fan(self, steps: int) -> Reply:
        return await timed(self._run(graphs.fan(steps)))

    async def plan(self, seed: int) -> Reply:
        return await timed(self._run(graphs.timed(seed)))

    async def many(self, runs: int, steps: int) -> Reply:
        graph = graphs.chain(steps)
        return await timed(asyncio.gather(*[self._run(graph) for _ in range(runs)]))

    async def _run(self, graph: Graph, effects: bool = False) -> None:
        await Run(self._ledger, next(self._names), graph, effects=effects).drive()


async def main(folder: Path) -> None:
    bare = Bare(folder)
    await serve({"chain": bare.chain, "fan": bare.fan, "plan": bare.plan, "many": bare.many})


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
