"""Chargehand as a contestant."""

import asyncio
import gc
import json
import sqlite3
import sys
import tracemalloc
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from bench import graphs
from bench.graphs import Graph
from bench.serving import Reply, serve, timed
from chargehand import Chargehand, Diagnostic, Outcome, Plan, tool

CALLS, ITEMS = 99, 50  # steps of the long run, and items of each: about 10,000 events
LONG = "long"  # its name
AT_ONCE = 200  # runs that are parked together


@tool(effect="read", egress=[])
async def add(value: int) -> int:
    """Adds one."""
    return value + 1


@tool(effect="write", egress=[])
async def put(value: int) -> int:
    """Adds one, and claims to change something."""
    return value + 1


@tool(effect="read", egress=[])
async def work(seconds: float, after: list[int]) -> int:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return 1


@tool(effect="read", egress=[])
async def count(to: int) -> list[int]:
    """Counts."""
    return list(range(to))


@tool(effect="irreversible", egress=[])
async def sign(value: int) -> int:
    """Waits for somebody's approval, for ever."""
    raise AssertionError("nobody approved")


def chain_plan(steps: int, use: str = "add") -> Plan:
    made = [
        {"id": f"s{number}", "use": use, "with": {"value": {"$": f"s{number - 1}"} if number else 0}}
        for number in range(steps)
    ]
    return Plan.parse({"steps": made, "answer": {"$": f"s{steps - 1}"}})


def fan_plan(steps: int) -> Plan:
    made = [{"id": f"s{number}", "use": "add", "with": {"value": number}} for number in range(steps)]
    return Plan.parse({"steps": made})


def graph_plan(graph: Graph) -> Plan:
    made = [
        {
            "id": step,
            "use": "work",
            "with": {"seconds": graph.seconds[step], "after": [{"$": need} for need in needs]},
        }
        for step, needs in graph.needs.items()
    ]
    return Plan.parse({"steps": made})


def signed(value: object) -> dict[str, object]:
    """A step at which a run stops until somebody says yes."""
    return {"id": "sign", "use": "sign", "with": {"value": value}, "expect": ["output == 1"]}


def long_plan() -> Plan:
    calls = [
        {"id": f"s{number}", "use": "add", "each": "numbers", "with": {"value": {"$": "item"}}}
        for number in range(CALLS)
    ]
    numbers = {"id": "numbers", "use": "count", "with": {"to": ITEMS}}
    return Plan.parse({"steps": [numbers, *calls, signed({"$": f"s{CALLS - 1}[0]"})]})


class Trusting(Chargehand):
    """A desk that takes every plan for sound: the engine alone. `trusted` counts what it was asked."""

    trusted = 0

    def check(self, plan: Plan | Mapping[str, object] | str) -> list[Diagnostic]:
        self.trusted += 1
        return []


async def begin(desk: Trusting, plan: Plan) -> Outcome:
    """Runs a plan that is already checked. The one place that knows how the check is left out."""
    asked = desk.trusted
    outcome = await desk.run(plan)
    assert desk.trusted > asked, "`desk.run` checks plans in another way now: this would measure that too"
    return outcome


class Ours:
    """The rounds of Chargehand. Plans are read outside of the time that is taken; they are checked inside only where
    a round says so."""

    def __init__(self, folder: Path) -> None:
        self._path, tools = folder / "desk.db", [add, put, work, count, sign]
        self._desk = Chargehand(tools=tools, journal=f"sqlite:///{self._path}")
        self._engine = Trusting(tools=tools, journal=f"sqlite:///{folder / 'engine.db'}")

    async def chain(self, steps: int, effects: bool = False, check: bool = False) -> Reply:
        plan = chain_plan(steps, "put" if effects else "add")
        assert self._desk.check(plan) == []
        return await timed(self._checked(plan) if check else self._run(plan, steps))

    async def fan(self, steps: int) -> Reply:
        return await timed(self._run(fan_plan(steps)))

    async def plan(self, seed: int) -> Reply:
        return await timed(self._run(graph_plan(graphs.timed(seed))))

    async def many(self, runs: int, steps: int, check: bool = False) -> Reply:
        plan = chain_plan(steps)
        return await timed(
            asyncio.gather(*[self._checked(plan) if check else self._run(plan, steps) for _ in range(runs)])
        )

    async def prepare(self) -> Reply:
        """A long run that waits; says how many events it has."""
        outcome = await self._desk.run(long_plan(), run_id=LONG)
        assert outcome.status == "waiting"
        return {"events": len(self._rows())}

    async def rows(self) -> Reply:
        """The floor of resuming: its rows and large values are read and decoded, and nothing is made of them."""
        return await timed(_now(self._rows))

    async def show(self) -> Reply:
        return await timed(_now(lambda: self._desk.show(LONG)))

    async def resume(self) -> Reply:
        """Until it waits again."""
        return await timed(self._desk.resume(LONG))

    async def park(self, runs: int) -> Reply:
        """The bytes that a parked run leaves in this process: as the system sees it, and then, for fewer runs since it
        is slow, as Python does. What is made once is made before the counts begin."""
        plan, fewer = Plan.parse({"steps": [signed(1)]}), runs // 2
        await self._park(plan, 2_000)
        resident = _resident()
        await self._park(plan, runs)
        resident = _resident() - resident
        tracemalloc.start()
        await self._park(plan, AT_ONCE)
        held = _held()
        await self._park(plan, fewer)
        held = _held() - held
        tracemalloc.stop()
        return {"python": held / fewer, "resident": resident / runs}

    async def _park(self, plan: Plan, runs: int) -> None:
        for _ in range(0, runs, AT_ONCE):
            outcomes = await asyncio.gather(*[begin(self._engine, plan) for _ in range(AT_ONCE)])
            assert {outcome.status for outcome in outcomes} == {"waiting"}
        await asyncio.sleep(0.5)  # what is being written is no memory of a parked run

    async def _run(self, plan: Plan, answer: object = None) -> None:
        outcome = await begin(self._engine, plan)
        assert (outcome.status, outcome.answer) == ("done", answer), outcome

    async def _checked(self, plan: Plan) -> None:
        outcome = await self._desk.run(plan)
        assert outcome.status == "done", outcome

    def _rows(self) -> list[object]:
        db = sqlite3.connect(self._path)
        try:
            events = db.execute("select * from events where run = ? order by seq", (LONG,)).fetchall()
            body = [column[1] for column in db.execute("pragma table_info(events)")].index("body")
            query = "select body from blobs where hash in (select hash from uses where run = ?)"
            large: Iterable[tuple[bytes]] = db.execute(query, (LONG,))
            return [*(json.loads(row[body]) for row in events), *(json.loads(value) for (value,) in large)]
        finally:
            db.close()


async def _now(work: Callable[[], object]) -> None:
    work()


def _held() -> int:
    """Bytes of Python's memory that something still refers to."""
    gc.collect()
    return tracemalloc.get_traced_memory()[0]


def _resident() -> int:
    """Bytes of memory that this process holds; 0 where the system does not say."""
    gc.collect()
    status = Path("/proc/self/status")
    if not status.exists():
        return 0
    line = next(line for line in status.read_text(encoding="ascii").splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) * 1024


async def main(folder: Path) -> None:
    ours = Ours(folder)
    names = ("chain", "fan", "plan", "many", "prepare", "rows", "show", "resume", "park")
    await serve({name: getattr(ours, name) for name in names})


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
