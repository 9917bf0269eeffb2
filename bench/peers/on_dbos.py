"""DBOS: a workflow for each run, a step for each step, on a SQLite system database in WAL mode."""
# pyright: basic, reportMissingImports=false
# (it runs in the peers' environment, which the type checker does not see)

import asyncio
import sqlite3
import sys
from contextlib import closing
from importlib.metadata import version
from pathlib import Path

from dbos import DBOS, DBOSConfig

from bench.serving import Reply, serve, timed

# Threads that run workflows, and connections. Of 1, 2, 4, 8 and 20, in turns, 2 had the best median (331 steps/s;
# 4: 257, 20: 198) and the least processor time, on a busy machine: the ranges overlap.
THREADS = 2


@DBOS.step()
def add(value: int) -> int:
    return value + 1


@DBOS.workflow()
def chain_of(steps: int) -> int:
    value = 0
    for _ in range(steps):
        value = add(value)
    return value


@DBOS.step()
async def give() -> int:
    return 1


@DBOS.workflow()
async def fan_of(steps: int) -> int:
    return sum(await asyncio.gather(*[give() for _ in range(steps)]))


def many_of(runs: int, steps: int) -> None:
    handles = [DBOS.start_workflow(chain_of, steps) for _ in range(runs)]
    assert [handle.get_result() for handle in handles] == [steps] * runs


class Dbos:
    """The rounds of DBOS. Plain functions: coroutines took it longer, where it does not need them."""

    def __init__(self, path: Path) -> None:
        self._path = path

    async def facts(self) -> Reply:
        with closing(sqlite3.connect(self._path)) as db:
            found = {name: db.execute(f"pragma {name}").fetchone()[0] for name in ("journal_mode", "synchronous")}
        return {"versions": [f"dbos {version('dbos')}"], "pragmas": [f"{name} = {is_}" for name, is_ in found.items()]}

    async def chain(self, steps: int) -> Reply:
        return await timed(asyncio.to_thread(chain_of, steps))

    async def fan(self, steps: int) -> Reply:
        return await timed(fan_of(steps))

    async def many(self, runs: int, steps: int) -> Reply:
        return await timed(asyncio.to_thread(many_of, runs, steps))


async def main(folder: Path) -> None:
    path = folder / "dbos.db"
    with closing(sqlite3.connect(path)) as db:
        db.execute("pragma journal_mode = wal")  # stays with the file; DBOS itself would not turn it on
    config: DBOSConfig = {
        "name": "bench",
        "system_database_url": f"sqlite:///{path}",
        "sys_db_pool_size": THREADS,
        "max_executor_threads": THREADS,
        "log_level": "WARNING",
        "enable_otlp": False,
    }
    DBOS(config=config)
    DBOS.launch()
    peer = Dbos(path)
    await serve({"facts": peer.facts, "chain": peer.chain, "fan": peer.fan, "many": peer.many})
    DBOS.destroy()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
