"""Both worlds' main goals, and random plans: killed with SIGKILL at every journal write, and resumed by another."""

import json
import shutil
import signal
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from random import Random  # noqa: TID251, seeded: the same plans every time
from typing import Any

import pytest
from tests.engine.nursery import BOOKING, REPLY, world_of

from chargehand.domain.events import CallFinished, CallStarted, decode_event
from chargehand.wiring import open_journal

ROOT = Path(__file__).parents[2]
NEVER = 1_000_000


@pytest.fixture(scope="module")
def nursery() -> "Iterator[subprocess.Popen[str]]":
    command = [sys.executable, "-m", "tests.engine.nursery"]
    with subprocess.Popen(command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        yield process
        process.communicate()


def child(nursery: Any, folder: Path, goal: str, at: int = NEVER) -> int:
    """Lets a forked process carry a goal out, and gives its exit code."""
    if not folder.exists():
        shutil.copytree(folder.parent / "new", folder)  # a new world takes longer to make than to copy
    nursery.stdin.write(json.dumps([str(folder), goal, at]) + "\n")
    nursery.stdin.flush()
    return json.loads(nursery.stdout.readline())


def outcome(folder: Path) -> Any:
    return json.loads((folder / "outcome.json").read_text())


def calls(folder: Path) -> "Counter[str]":
    file = folder / "calls"
    return Counter(file.read_text().splitlines()) if file.exists() else Counter()


def finished(folder: Path) -> "Counter[str]":
    """The calls whose outcome is on disk."""
    if not (folder / "journal.db").exists():
        return Counter()
    journal = open_journal(f"sqlite:///{folder / 'journal.db'}")
    found = Counter[str]()
    for head in journal.heads():
        started: dict[tuple[str, int], CallStarted] = {}
        for one in journal.read(head.run):
            event = decode_event(one.kind, one.body, journal.blob)
            if isinstance(event, CallStarted):
                started[event.step, event.item] = event
            elif isinstance(event, CallFinished):
                call = started[event.step, event.item]
                found[call.tool] += 1
    journal.close()
    return found


def by_tool(found: "Counter[str]") -> "Counter[str]":
    tools = Counter[str]()
    for line, times in found.items():
        tools[json.loads(line)[0]] += times
    return tools


@pytest.mark.slow
@pytest.mark.parametrize("goal", [BOOKING, REPLY])
def test_a_goal_killed_at_any_write_ends_as_without_a_crash_or_in_doubt(
    goal: str, nursery: Any, tmp_path: Path
) -> None:
    (tmp_path / "new").mkdir()
    world_of(goal, tmp_path / "new").dump()
    calm = tmp_path / "calm"
    assert child(nursery, calm, goal) == 0
    expected, dump = outcome(calm), world_of(goal, calm).dump()
    assert expected["status"] == "done"

    at, killed, doubts = 0, True, 0
    while killed:
        folder = tmp_path / str(at)
        killed = child(nursery, folder, goal, at) == -signal.SIGKILL
        done, made = finished(folder), calls(folder)
        assert child(nursery, folder, goal) == 0
        at += 1

        again, whole = by_tool(calls(folder) - made), by_tool(calls(calm))
        for tool, times in done.items():
            assert again[tool] <= whole[tool] - times, (at, tool, "a finished step ran again")
        said = outcome(folder)
        assert said["status"] in ("done", "in_doubt"), (at, said)
        if said["status"] == "done":
            assert said["answer"] == expected["answer"], at
            assert world_of(goal, folder).dump() == dump, (at, "each effect once, and nothing else")
        else:
            assert len(world_of(goal, folder).dump()) <= len(dump), at
            doubts += 1
    assert at >= 15
    if goal == REPLY:
        assert doubts >= 1  # whether a mail has left cannot be asked of anyone
    else:
        assert doubts == 0  # a probe finds the booking, or that there is none


def random_plan(seed: int) -> str:
    """A random graph of reads and effects, some conditional, some over lists."""
    dice = Random(seed)
    steps: list[dict[str, object]] = []
    for number in range(dice.randint(3, 7)):
        id = f"s{number}"
        step: dict[str, object] = {"id": id, "use": dice.choice(["look", "write", "send"]), "with": {"x": number}}
        step["after"] = dice.sample([one["id"] for one in steps], min(len(steps), dice.randint(0, 2)))
        step["expect"] = ["output == args.x"]
        if dice.random() < 0.2:
            step["when"] = dice.choice(["true", "false"])
        if dice.random() < 0.3:
            step |= {"each": "[1, 2, 3]", "with": {"x": {"$": f"item * 100 + {number}"}}}
        steps.append(step)
    return json.dumps({"steps": steps})


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(6))
def test_a_random_plan_killed_at_any_write_ends_as_without_a_crash_or_in_doubt(
    seed: int, nursery: Any, tmp_path: Path
) -> None:
    def effects(folder: Path) -> list[str]:
        file = folder / "effects"
        return sorted(file.read_text().splitlines()) if file.exists() else []

    plan = random_plan(seed)
    (tmp_path / "new").mkdir()
    assert child(nursery, tmp_path / "calm", plan) == 0
    expected = outcome(tmp_path / "calm")

    at, was_killed = 0, True
    while was_killed:
        folder = tmp_path / str(at)
        was_killed = child(nursery, folder, plan, at) == -signal.SIGKILL
        assert child(nursery, folder, plan) == 0
        at += 1

        said, done = outcome(folder), effects(folder)
        assert len(done) == len(set(done)), (at, done)
        assert said["status"] in (expected["status"], "in_doubt"), (at, said)
        if said["status"] == "done":
            assert (said, done) == (expected, effects(tmp_path / "calm")), at
    assert at > 3
