"""What goes wrong elsewhere, measured: here each is one effect, or in doubt and said so."""

import asyncio
from pathlib import Path

import pytest
from tests.engine.workbench import Bench, plan, sqlite, step

from chargehand import RequestRefused
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.testing.crashes import Crash, CrashingJournal


def test_a_crash_after_the_effect_does_not_repeat_it() -> None:
    what = plan(step("a", "write"), step("b", x="a"))
    at, died = 0, True
    while died:
        bench, store = Bench(), MemoryStore()
        first = MemoryJournal(store)
        try:
            asyncio.run(bench.desk(CrashingJournal(first, at)).run(what, run_id="r"))
            died = False
        except Crash:
            at += 1
        first.close()

        outcome = asyncio.run(bench.desk(MemoryJournal(store)).run(what, run_id="r"))

        assert bench.made("write") <= 1
        assert (outcome.status, bench.made("write")) in [("done", 1), ("in_doubt", 0), ("in_doubt", 1)]
    assert at > 3


def test_a_finished_run_that_is_resumed_again_does_nothing(tmp_path: Path) -> None:
    bench = Bench()
    desk = bench.desk(sqlite(tmp_path))
    run = desk.run_sync(plan(step("a", "write"), step("b", "put"))).run_id

    outcomes = [asyncio.run(bench.desk(sqlite(tmp_path)).resume(run)) for _ in range(3)]

    assert [outcome.status for outcome in outcomes] == ["done"] * 3
    assert (bench.made("write"), bench.made("put")) == (1, 1)


def test_a_run_replayed_from_an_earlier_point_does_not_repeat_the_effect() -> None:
    bench = Bench()
    desk = bench.desk()
    run = desk.run_sync(plan(step("a", "write", 3), step("b", x="a"), answer={"$": "b"})).run_id

    fork = asyncio.run(desk.fork(run, at="a"))
    outcome = asyncio.run(desk.resume(fork))

    assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 3, 1)


def test_a_time_out_of_an_effect_is_not_tried_again_blindly() -> None:
    bench = Bench()
    bench.mischief["write"] = [TimeoutError("no answer")]

    outcome = bench.desk().run_sync(plan(step("a", "write")))

    assert (outcome.status, bench.made("write")) == ("in_doubt", 1)


def test_one_approval_used_twice_is_one_effect() -> None:
    bench = Bench()
    desk = bench.desk()
    run = desk.run_sync(plan(step("a", "send", expect=["output == args.x"]))).run_id

    desk.approve(run, "a")
    desk.approve(run, "a")
    first = asyncio.run(desk.resume(run))
    second = asyncio.run(desk.resume(run))

    assert (first.status, second.status, bench.made("send")) == ("done", "done", 1)
    with pytest.raises(RequestRefused):
        desk.approve(run, "a")


def test_a_failed_dependency_does_not_count_as_satisfied() -> None:
    bench = Bench()
    bench.mischief["anything"] = [ValueError("broken")]

    outcome = bench.desk().run_sync(plan(step("a", "anything"), step("b", "write", after=["a"]), step("c")))

    assert {report.step: report.status for report in outcome.reports} == {"a": "failed", "b": "blocked", "c": "done"}
    assert bench.made("write") == 0
