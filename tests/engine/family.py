"""What tests of families of runs share: writes that can be undone, playbooks, and looks into the journal."""

import asyncio
from collections.abc import Callable
from copy import copy
from functools import cached_property
from typing import Any

from tests.engine.workbench import Bench, plan, step
from typing_extensions import TypedDict

from chargehand import Chargehand, Outcome, tool
from chargehand.catalog.tools import AnyTool
from chargehand.domain.events import CallStarted, Event, decode_event
from chargehand.ports import Journal


class Held(TypedDict):
    """What `hold` gives: the reference by which it is released."""

    ref: int


class FamilyBench(Bench):
    """A workbench with `hold`, which `release` takes back, and a clerk who can stand in for `release`."""

    def tools(self) -> list[AnyTool]:
        return self._tools

    @cached_property
    def _tools(self) -> list[AnyTool]:
        """Declared once: reading their signatures takes longer than most runs."""
        bench = self

        @tool(effect="write", egress=[])
        async def release(ref: int, x: int) -> bool:
            """Takes back what hold did."""
            return bench.act("release", (ref, x)) is not None

        @tool(effect="write", instead_of=release, egress=[])
        async def release_by_clerk(ref: int, x: int) -> bool:
            """Takes back what hold did, in another way."""
            return bench.act("release_by_clerk", (ref, x)) is not None

        @tool(effect="write", undo=release, egress=[])
        async def hold(x: int) -> Held:
            """Writes, and can be undone."""
            return {"ref": 100 + bench.act("hold", x)}

        return [*super().tools(), release, release_by_clerk, hold]

    @property
    def effects(self) -> list[tuple[str, Any]]:
        """The calls that were no reads."""
        return [call for call in self.calls if not call[0].startswith("look")]


def on_journal(desk: Chargehand, journal: Any) -> Chargehand:
    """The same desk on another journal: checking its playbooks anew would take longer than most runs."""
    other = copy(desk)
    other._journal = journal  # pyright: ignore[reportPrivateUsage]
    return other


def as_asked(x: Any) -> Any:
    """Mischief that does none: the call goes well."""
    return x


def ten_more(x: int) -> int:
    """Mischief: another result than was asked for."""
    return x + 10


def gives(value: object) -> Callable[[object], object]:
    """Mischief: a result, whatever was asked."""
    return lambda asked: value


def pursue(id: str, goal: str, fields: dict[str, object] | None = None, **inputs: object) -> dict[str, object]:
    """A step that pursues a sub-goal; inputs are numbers, or the values of expressions."""
    given = {name: {"$": value} if isinstance(value, str) else value for name, value in inputs.items()}
    return {"id": id, "goal": goal, "with": given, **(fields or {})}


def playbook(answers: str, *steps: dict[str, object], **fields: object) -> dict[str, object]:
    """A playbook named by the first word of its goal; its input, the whole number `n`, need not be in the words."""
    patterns = list(dict.fromkeys((answers, answers.removesuffix(" {n}"))))
    start: dict[str, object] = {"name": answers.split()[0].lower(), "answers": patterns}
    return {**start, "inputs": {"n": {"type": "integer", "default": 1}}, "steps": list(steps), **fields}


def history(journal: Journal, run: str) -> list[Event]:
    """The events of a run, as they stand in its journal."""
    return [decode_event(one.kind, one.body, journal.blob) for one in journal.read(run)]


def keys(journal: Journal, *runs: str) -> list[str]:
    """The keys of the effects that some runs began, in order."""
    begun = [event for run in runs for event in history(journal, run) if isinstance(event, CallStarted)]
    return [event.key for event in begun if event.key is not None]


def said(outcome: Outcome, step: str | None = None) -> str:
    """What the error of a run, or of one of its steps, says."""
    error = outcome.error if step is None else outcome[step].error
    return "" if error is None else error.message


HOLDS = plan(
    step("a", "hold", 1),
    step("b", "hold", 2, after=["a"]),
    step("c", "hold", 3, after=["b"]),
    answer={"$": "c.ref"},
)
RESERVE = playbook("Reserve {n}", step("h", "hold", "inputs.n"), answer={"$": "h.ref"})
LOOK = playbook("Look {n}", step("l", x="inputs.n"), answer={"$": "l"})
TIDY = playbook("Tidy room {n}", step("t", "write", "inputs.n"), answer={"$": "t + 10"})
POST = playbook("Post letter {n}", step("s", "send", "inputs.n", expect=["output > 0"]), answer={"$": "s"})
BOOKS = [TIDY, POST]


def run(desk: Chargehand, *steps: dict[str, object], **fields: object) -> Outcome:
    return desk.run_sync(plan(*steps, **fields), run_id="r")


def resume(desk: Chargehand, run: str = "r") -> Outcome:
    return asyncio.run(asyncio.wait_for(desk.resume(run), 10))


def undo(desk: Chargehand, run: str = "r") -> Outcome:
    desk.undo(run)
    return resume(desk, run)


def released(bench: Bench) -> list[int]:
    """What was taken back, in order."""
    return [what[1] for name, what in bench.calls if name == "release"]
