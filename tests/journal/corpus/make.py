"""Makes a journal for the corpus, with whatever version of Chargehand is on the path: `python make.py FOLDER NAME`.

The journals here were written by earlier versions; `test_corpus.py` folds them for ever. Never change one. When the
format gains something, add a journal of the new version beside the old ones.
"""

import asyncio
import json
import sqlite3
import sys
from pathlib import Path
from typing import Any

from chargehand import Chargehand, Plan, approve_all, tool


def make_desk(journal: str, **options: Any) -> Chargehand:
    @tool(effect="read", egress=[])
    async def look(x: int) -> dict[str, Any]:
        """Reads."""
        return {"x": x, "text": "ä" * (5_000 if x == 9 else 3)}

    @tool(effect="write", egress=[])
    async def write(x: int) -> int:
        """Writes, and hangs up on 13."""
        if x == 13:
            raise TimeoutError("no answer")
        return x

    @tool(effect="irreversible", egress=[])
    async def send(x: int) -> int:
        """Sends."""
        return x

    @tool(effect="read", egress=[])
    async def fail(x: int) -> int:
        """Fails."""
        raise ValueError("broken")

    @tool(effect="write", egress=[])
    async def release(x: int) -> bool:
        """Takes back what hold did."""
        return True

    @tool(effect="write", undo=release, egress=[])
    async def hold(x: int) -> dict[str, int]:
        """Holds."""
        return {"x": x}

    book = {
        "name": "tidy",
        "answers": ["Tidy room {n}"],
        "inputs": {"n": "integer"},
        "steps": [{"id": "t", "use": "hold", "with": {"x": {"$": "inputs.n"}}}],
        "answer": {"$": "t.x"},
    }
    tools = [look, write, send, fail, release, hold]
    return Chargehand(tools=tools, playbooks=book, journal=journal, **options)


def plan(*steps: str, answer: str = "") -> Plan:
    lines = ["steps:", *(f"  - {step}" for step in steps)]
    return Plan.parse("\n".join([*lines, f"answer: {{$: {answer}}}"] if answer else lines))


DONE = plan(
    "{id: a, use: look, with: {x: 9}}",
    "{id: b, use: look, each: '[1, 2]', with: {x: {$: item}}}",
    "{id: c, use: write, with: {x: {$: a.x}}}",
    "{id: d, use: look, when: 'false', with: {x: 1}}",
    answer="c + b.size()",
)
SEND = plan("{id: a, use: look, with: {x: 4}}", "{id: s, use: send, with: {x: {$: a.x}}, expect: [output > 0]}")


async def make(path: str) -> None:
    desk = make_desk(path)
    await desk.run(DONE, run_id="done")
    await desk.run(plan("{id: f, use: fail, with: {x: 1}}", "{id: g, use: look, with: {x: {$: f}}}"), run_id="failed")
    await desk.run(SEND, run_id="waiting")
    await desk.run(plan("{id: w, use: write, with: {x: 13}}", "{id: l, use: look, with: {x: 1}}"), run_id="doubtful")
    await desk.run(SEND, run_id="cancelled")
    desk.cancel("cancelled", because="not needed")
    await desk.resume("cancelled")
    await desk.run(SEND, run_id="denied")
    desk.deny("denied", "s", because="too dear")
    await desk.resume("denied")
    await desk.run(plan("{id: w, use: write, with: {x: 13}}"), run_id="settled")
    desk.settle("settled", "w", happened=13, because="seen")
    await desk.resume("settled")
    await make_desk(path, approver=approve_all).run(SEND, run_id="approved")


async def make_families(path: str) -> None:
    """Child runs, forks and what was taken back, for versions that have them."""
    desk = make_desk(path)
    rooms = plan("{id: r, goal: 'Tidy room {n}', each: '[1, 2]', with: {n: {$: item}}}")
    await desk.run(rooms, run_id="rooms")
    await desk.run(plan("{id: h, use: hold, with: {x: 1}}", "{id: i, use: hold, with: {x: 2}}"), run_id="undone")
    desk.undo("undone", because="changed my mind")
    await desk.resume("undone")
    whole = Plan.parse(
        "all_or_nothing: true\nsteps:\n  - {id: h, use: hold, with: {x: 1}}\n"
        "  - {id: f, use: fail, with: {x: {$: h.x}}}"
    )
    await desk.run(whole, run_id="nothing")
    await desk.resume(await desk.fork("done", at="c"))
    await desk.fork("waiting", at="s")


def tell(path: str) -> dict[str, Any]:
    """What each run of a journal comes to."""
    desk = make_desk(path)
    runs = sorted(head.run for head in desk.runs())
    return {run: {"status": (one := desk.show(run)).status, "answer": one.answer, "steps": steps(one)} for run in runs}


def steps(outcome: Any) -> dict[str, Any]:
    return {report.step: [report.status, report.error and report.error.kind] for report in outcome.reports}


def main() -> None:
    folder, name = Path(sys.argv[1]), sys.argv[2]
    file = folder / f"{name}.db"
    asyncio.run(make(f"sqlite:///{file}"))
    if hasattr(Chargehand, "fork"):
        asyncio.run(make_families(f"sqlite:///{file}"))
    (folder / f"{name}.json").write_text(json.dumps(tell(f"sqlite:///{file}"), indent=1) + "\n")
    with sqlite3.connect(file) as db:
        db.execute("pragma wal_checkpoint(truncate)")


if __name__ == "__main__":
    main()
