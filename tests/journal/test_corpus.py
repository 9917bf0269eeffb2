"""Journals that earlier versions wrote: every later version folds them to what they were, and goes on with them."""

import asyncio
import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.journal.corpus.make import make_desk, tell

CORPUS = sorted((Path(__file__).parent / "corpus").glob("*.db"))


@pytest.fixture(params=CORPUS, ids=[file.stem for file in CORPUS])
def old(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[str, Any]:
    """A copy of an old journal, and what its runs came to when it was written."""
    shutil.copy(request.param, tmp_path / "old.db")
    return f"sqlite:///{tmp_path / 'old.db'}", json.loads(request.param.with_suffix(".json").read_text())


def test_an_old_journal_folds_to_what_it_was(old: tuple[str, Any]) -> None:
    path, expected = old

    assert tell(path) == expected


def test_an_old_journal_is_whole(old: tuple[str, Any]) -> None:
    path, expected = old
    desk = make_desk(path)

    assert expected
    assert all(desk.verify(run) == [] for run in expected)


def test_runs_that_an_old_version_left_waiting_go_on(old: tuple[str, Any]) -> None:
    path, _ = old
    desk = make_desk(path)

    desk.approve("waiting", "s")
    desk.settle("doubtful", "w", did_not_happen=True)
    desk.retry("failed")
    ends = {run: asyncio.run(desk.resume(run)).status for run in ("waiting", "doubtful", "failed", "done")}

    assert ends == {"waiting": "done", "doubtful": "in_doubt", "failed": "failed", "done": "done"}


def test_a_run_that_an_old_version_finished_can_be_forked_without_repeating_its_effects(old: tuple[str, Any]) -> None:
    path, _ = old
    desk = make_desk(path)

    fork = asyncio.run(desk.fork("done", at="b"))

    assert asyncio.run(desk.resume(fork)).answer == 11
