"""A warm process that forks one child for each line it reads: `python -m tests.engine.nursery`.

A line names a folder, a goal (or a plan in JSON) and the event at which the child kills itself with SIGKILL.
The parent has all imported and no thread, so that a child begins at once and forking is safe; the journal is opened in
the child.
"""

import asyncio
import json
import os
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from tests.engine import killed
from tests.engine.killed import SelfKilling

from chargehand import Chargehand, Plan, approve_all
from chargehand.catalog.tools import AnyTool
from chargehand.demo import support, travel
from chargehand.demo.support import tools as support_tools
from chargehand.demo.support import world as support_world
from chargehand.demo.travel import tools as travel_tools
from chargehand.demo.travel import world as travel_world
from chargehand.testing.clock import FakeClock
from chargehand.wiring import open_journal

BOOKING = "Book me the cheapest flight that arrives before 5 p.m. Friday"
REPLY = "Reply to message M2"


def world_of(goal: str, folder: Path) -> Any:
    make = support_world.World if goal == REPLY else travel_world.World
    return make(folder / "world.db")


def make_desk(folder: Path, goal: str, journal: Any) -> Chargehand:
    """A desk of the world that answers a goal; every call of a tool leaves a line in the folder."""
    world = world_of(goal, folder)
    is_support = goal == REPLY
    tools: list[AnyTool] = (support_tools if is_support else travel_tools).make_tools(world)
    return Chargehand(
        tools=_noted(tools, folder / "calls"),
        playbooks=(support if is_support else travel).PLAYBOOKS,
        clock=FakeClock((support_world if is_support else travel_world).NOW),
        journal=journal,
        approver=approve_all,
    )


def _noted(tools: list[AnyTool], calls: Path) -> list[AnyTool]:
    """The same tools, with a line for each call of one that plans may use."""

    def noting(tool: AnyTool) -> Callable[..., Any]:
        def note(**arguments: Any) -> Any:
            with calls.open("a") as file:
                file.write(json.dumps([tool.name, {name: str(value) for name, value in arguments.items()}]) + "\n")
            return tool.function(**arguments)

        async def note_async(**arguments: Any) -> Any:
            return await note(**arguments)

        return note_async if tool.signature.is_async else note

    noted = {tool.name: replace(tool, function=noting(tool)) for tool in tools}

    def whole(tool: AnyTool) -> AnyTool:
        undo, probe = tool.undo, tool.probe
        return replace(tool, undo=undo and noted[undo.name], probe=probe and noted[probe.name])

    for tool in tools:  # an undo and a probe are declared before the tool that names them
        noted[tool.name] = whole(noted[tool.name])
    return [*noted.values()]


def carry_out(folder: Path, goal: str, at: int) -> None:
    """Runs, or resumes, the goal until the nth event; leaves the outcome in the folder."""
    journal = open_journal(f"sqlite:///{folder / 'journal.db'}")
    killing = SelfKilling(journal, at)
    if goal.startswith("{"):
        desk, what = killed.make_desk(folder, killing), Plan.parse(goal)
    else:
        desk, what = make_desk(folder, goal, killing), goal
    outcome = asyncio.run(desk.run(what, run_id="r"))
    reports = {report.step: report.status for report in outcome.reports}
    said = {"status": outcome.status, "answer": outcome.answer, "reports": reports}
    (folder / "outcome.json").write_text(json.dumps(said))


def warm() -> None:
    """Plans both goals once, so that no child has to read playbooks and languages first."""
    for goal in (BOOKING, REPLY):
        with tempfile.TemporaryDirectory() as folder:
            make_desk(Path(folder), goal, ":memory:").plan(goal)


def main() -> None:
    warm()
    for line in sys.stdin:
        folder, goal, at = json.loads(line)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                carry_out(Path(folder), goal, at)
                code = 0
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        print(json.dumps(os.waitstatus_to_exitcode(status)), flush=True)


if __name__ == "__main__":
    main()
