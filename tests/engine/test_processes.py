"""Real processes: killed with SIGKILL, and two that want the same run."""

import asyncio
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from tests.engine.killed import PLAN, make_desk

from chargehand import Outcome

ROOT = Path(__file__).parents[2]


def start(folder: Path, at: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-m", "tests.engine.killed", str(folder), str(at)]
    return subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True)


def resume(folder: Path) -> Outcome:
    return asyncio.run(make_desk(folder, f"sqlite:///{folder / 'journal.db'}").run(PLAN, run_id="r"))


def effects(folder: Path) -> list[str]:
    file = folder / "effects"
    return file.read_text().splitlines() if file.exists() else []


@pytest.mark.slow
def test_a_process_killed_at_any_write_leaves_each_effect_done_once_or_in_doubt(tmp_path: Path) -> None:
    at, killed, doubts = 0, True, 0
    while killed:
        folder = tmp_path / str(at)
        folder.mkdir()
        process = start(folder, at)
        process.communicate(timeout=60)
        killed = process.returncode == -signal.SIGKILL

        outcome = resume(folder)

        done = effects(folder)
        assert outcome.status in ("done", "in_doubt"), (at, outcome)
        assert len(done) == len(set(done)), (at, done)
        if outcome.status == "done":
            assert (outcome.answer, done) == ([3, 3], ["write 3", "send 3"])
        doubts += outcome.status == "in_doubt"
        at += 1
    assert at > 8
    assert doubts >= 2


@pytest.mark.slow
def test_two_processes_that_want_one_run_do_its_work_once(tmp_path: Path) -> None:
    for round in range(5):
        folder = tmp_path / str(round)
        folder.mkdir()

        first, second = start(folder, 10_000), start(folder, 10_000)
        said = [process.communicate(timeout=60)[0].strip() for process in (first, second)]

        assert effects(folder) == ["write 3", "send 3"]
        assert said == ["done", "done"]
        assert resume(folder).status == "done"
