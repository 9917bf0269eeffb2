"""LangGraph: a node for each step, on its own SQLite checkpointer."""
# pyright: basic, reportMissingImports=false
# (it runs in the peers' environment, which the type checker does not see)

import asyncio
import itertools
import operator
import sys
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, TypedDict

from langgraph.checkpoint.sqlite.aio import AsyncSqliteSaver
from langgraph.graph import START, StateGraph

from bench.serving import Reply, serve, timed

# Runs of the 1,000 that are under way together. 1, 20, 100 and all of them, in turns, could not be told apart on a busy
# machine (medians of 288 to 349 steps/s with "async"); 100 took the least processor time.
AT_ONCE = 100


class Number(TypedDict):
    value: int


class Numbers(TypedDict):
    values: Annotated[list[int], operator.add]


async def add(state: Number) -> Number:
    return {"value": state["value"] + 1}


async def give(state: Numbers) -> Numbers:
    return {"values": [1]}


def chain(steps: int, saver: AsyncSqliteSaver | None):
    graph = StateGraph(Number)
    for number in range(steps):
        graph.add_node(f"s{number}", add)
        graph.add_edge(f"s{number - 1}" if number else START, f"s{number}")
    return graph.compile(checkpointer=saver)


def fan(steps: int, saver: AsyncSqliteSaver):
    graph = StateGraph(Numbers)
    for number in range(steps):
        graph.add_node(f"s{number}", give)
        graph.add_edge(START, f"s{number}")
    return graph.compile(checkpointer=saver)


class LangGraph:
    """The rounds of LangGraph. Graphs are compiled outside of the time that is taken."""

    def __init__(self, saver: AsyncSqliteSaver) -> None:
        self._saver = saver
        self._threads = itertools.count()

    async def facts(self) -> Reply:
        pragmas = [await self._pragma(name) for name in ("journal_mode", "synchronous")]
        names = ("langgraph", "langgraph-checkpoint-sqlite")
        return {"versions": [f"{name} {version(name)}" for name in names], "pragmas": pragmas}

    async def chain(self, steps: int, durability: str | None = "sync") -> Reply:
        graph = chain(steps, self._saver if durability else None)
        return await timed(self._invoke(graph, {"value": 0}, {"value": steps}, durability))

    async def fan(self, steps: int, durability: str) -> Reply:
        graph = fan(steps, self._saver)
        return await timed(self._invoke(graph, {"values": []}, {"values": [1] * steps}, durability))

    async def many(self, runs: int, steps: int, durability: str) -> Reply:
        graph, places = chain(steps, self._saver), asyncio.Semaphore(AT_ONCE)

        async def one() -> None:
            async with places:
                await self._invoke(graph, {"value": 0}, {"value": steps}, durability)

        return await timed(asyncio.gather(*[one() for _ in range(runs)]))

    async def _invoke(self, graph, given, expected, durability: str | None) -> None:
        config = {"configurable": {"thread_id": str(next(self._threads))}, "recursion_limit": 1000}
        found = await graph.ainvoke(given, config, **({"durability": durability} if durability else {}))
        assert found == expected

    async def _pragma(self, name: str) -> str:
        cursor = await self._saver.conn.execute(f"pragma {name}")
        return f"{name} = {(await cursor.fetchone())[0]}"


async def main(folder: Path) -> None:
    async with AsyncSqliteSaver.from_conn_string(str(folder / "langgraph.db")) as saver:
        await saver.setup()  # it turns WAL on, and leaves SQLite's full synchronisation
        peer = LangGraph(saver)
        await serve({"facts": peer.facts, "chain": peer.chain, "fan": peer.fan, "many": peer.many})


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
