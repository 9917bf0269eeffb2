"""Killed at every write, and resumed: each effect once or in doubt, no finished step again, the same answer."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.workbench import Bench, plan, step

from chargehand import Chargehand, Plan
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.demo.travel import PLAYBOOKS
from chargehand.demo.travel.tools import make_tools
from chargehand.demo.travel.world import NOW, World
from chargehand.domain.work import Outcome
from chargehand.runtime import approve_all
from chargehand.testing.clock import FakeClock
from chargehand.testing.crashes import Crash, CrashingJournal

GOAL = "Book me the cheapest flight that arrives before 5 p.m. Friday"


def bench_desk(bench: Bench, journal: Any) -> Chargehand:
    return Chargehand(tools=bench.tools(), journal=journal, approver=approve_all, clock=bench.clock)


def run_until_it_dies(desk: Chargehand, goal: str | Plan) -> Outcome | None:
    try:
        return asyncio.run(desk.run(goal, run_id="r"))
    except Crash:
        return None


def die_and_resume(bench: Bench, what: Plan, at: int) -> tuple[Outcome, bool]:
    """A run whose driver dies at a write, and another driver that takes it up; and whether the first one died."""
    store = MemoryStore()
    first = MemoryJournal(store)
    outcome = run_until_it_dies(bench_desk(bench, CrashingJournal(first, at)), what)
    first.close()
    if outcome is not None:
        return outcome, False
    second = bench_desk(bench, MemoryJournal(store))
    return asyncio.run(second.run(what, run_id="r")), True


CHAIN = plan(
    step("a", x=2),
    step("b", "write", "a + 1"),
    step("c", x="b"),
    step("d", "send", "c + 1", expect=["output == args.x"]),
    step("e", "put", "d"),
    step("f", x="item", each="[a, b, c]", after=["d"]),
    answer={"$": "[b, d, e]"},
)


def test_a_run_killed_at_any_write_does_each_effect_once_or_says_that_it_is_in_doubt() -> None:
    at, died, doubts = 0, True, 0
    while died:
        bench = Bench()
        outcome, died = die_and_resume(bench, CHAIN, at)
        at += 1

        assert outcome.status in ("done", "in_doubt"), (at, outcome)
        assert bench.made("write") <= 1, at
        assert bench.made("send") <= 1, at
        if outcome.status == "done":
            assert outcome.answer == [3, 4, 4]
            assert (bench.made("write"), bench.made("send")) == (1, 1)
        doubts += outcome.status == "in_doubt"
    assert at > 10
    assert doubts >= 2


def test_a_finished_step_never_runs_again() -> None:
    died, at = True, 0
    while died:
        bench = Bench()
        store = MemoryStore()
        first = MemoryJournal(store)
        died = run_until_it_dies(bench_desk(bench, CrashingJournal(first, at)), CHAIN) is None
        first.close()
        if not died:
            break
        second = bench_desk(bench, MemoryJournal(store))
        before = {report.step for report in second.show("r").reports if report.status == "done"} if at else set[str]()
        calls = len(bench.calls)
        outcome = asyncio.run(second.run(CHAIN, run_id="r"))
        again = [name for name, _ in bench.calls[calls:]]
        at += 1

        assert outcome.status in ("done", "in_doubt")
        for finished in before:
            tool = {"a": "look", "b": "write", "d": "send", "e": "put"}.get(finished)
            if tool in ("write", "send", "put"):
                assert tool not in again, (at, finished)


def travel_desk(folder: Path, journal: Any) -> Chargehand:
    folder.mkdir(exist_ok=True)
    world = World(folder / "world.db")
    return Chargehand(
        tools=make_tools(world), playbooks=PLAYBOOKS, clock=FakeClock(NOW), journal=journal, approver=approve_all
    )


@pytest.mark.slow
def test_the_flight_is_booked_once_wherever_the_process_dies(tmp_path: Path) -> None:
    whole: Any = asyncio.run(travel_desk(tmp_path / "whole", ":memory:").run(GOAL)).answer
    at, died = 0, True
    while died:
        folder = tmp_path / str(at)
        store = MemoryStore()
        first = MemoryJournal(store)
        outcome = run_until_it_dies(travel_desk(folder, CrashingJournal(first, at)), GOAL)
        first.close()
        died = outcome is None
        if outcome is None:
            outcome = asyncio.run(travel_desk(folder, MemoryJournal(store)).run(GOAL, run_id="r"))
        at += 1

        booked = World(folder / "world.db").bookings_of(whole["booking"]["flight_id"], "Robin Hale")
        assert len(booked) <= 1
        assert outcome.status in ("done", "in_doubt")
        if outcome.status == "done":
            answer: Any = outcome.answer
            assert answer["booking"]["flight_id"] == whole["booking"]["flight_id"]
            assert len(booked) == 1


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Random graphs of reads and effects, some conditional, some over lists."""
    steps: list[dict[str, object]] = []
    for number in range(draw(st.integers(1, 6))):
        earlier = [f"s{n}" for n in range(number)]
        after = draw(st.lists(st.sampled_from(earlier), max_size=2, unique=True)) if earlier else []
        use = draw(st.sampled_from(["look", "look_sync", "write", "put"]))
        fields: dict[str, object] = {"after": after}
        if draw(st.integers(0, 4)) == 0:
            fields["when"] = draw(st.sampled_from(["true", "false"]))
        if draw(st.integers(0, 3)) == 0:
            fields["each"] = "[1, 2]"
        steps.append(step(f"s{number}", use, number, **fields))
    return plan(*steps)


@given(plans(), st.integers(0, 30))
@settings(max_examples=15, deadline=None)
def test_any_plan_killed_anywhere_ends_as_it_would_have_or_in_doubt(what: Plan, at: int) -> None:
    calm = Bench()
    expected = asyncio.run(bench_desk(calm, ":memory:").run(what))
    bench = Bench()

    outcome, _ = die_and_resume(bench, what, at)

    assert outcome.status in (expected.status, "in_doubt")
    assert bench.made("write") <= calm.made("write")
    if outcome.status == "done":
        assert {r.step: (r.status, r.output) for r in outcome.reports} == {
            r.step: (r.status, r.output) for r in expected.reports
        }
        assert bench.made("write") == calm.made("write")


def test_an_item_that_fails_while_another_waits_for_its_next_try_ends_the_step() -> None:
    bench = Bench()
    bench.mischief = {"put": [TimeoutError("slow"), ValueError("no")], "write": [TimeoutError("slow")]}
    what = plan(step("a", "write"), step("b", "put", each="[1, 2]"), step("c", after=["b"]))

    outcome = asyncio.run(asyncio.wait_for(bench_desk(bench, ":memory:").run(what), 10))

    assert {report.step: report.status for report in outcome.reports} == {
        "a": "in_doubt",
        "b": "failed",
        "c": "blocked",
    }


@given(plans(), st.lists(st.sampled_from([ValueError("x"), TimeoutError("y"), None]), max_size=8))
@settings(max_examples=15, deadline=None)
def test_a_step_runs_only_when_all_that_it_needs_has_succeeded(
    what: Plan, troubles: list[BaseException | None]
) -> None:
    bench = Bench()
    for name in ("look", "look_sync", "write", "put"):
        bench.mischief[name] = list(troubles)

    outcome = asyncio.run(asyncio.wait_for(bench_desk(bench, ":memory:").run(what), 20))

    reports = {report.step: report for report in outcome.reports}
    for one in what.steps:
        if reports[one.id].attempts:
            assert all(reports[need].status in ("done", "skipped") for need in what.needs(one))
    assert outcome.status in ("done", "failed", "in_doubt")
