"""Running a plan: what is done, in which order, and what is told of it."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.engine.workbench import Bench, plan, sqlite, step

from chargehand import PlanRejected
from chargehand.errors import NotPerformed, RequestRefused, Transient, Unsupported
from chargehand.runtime import approve_all


@pytest.fixture
def bench() -> Bench:
    return Bench()


def gives(value: object) -> Callable[[object], object]:
    """Mischief: a result, whatever was asked."""
    return lambda asked: value


def plus_a_hundred(asked: int) -> int:
    return asked + 100


def statuses(outcome: Any) -> dict[str, str]:
    return {report.step: report.status for report in outcome.reports}


@pytest.mark.parametrize("kind", ["memory", "sqlite"])
def test_a_plan_is_carried_out_and_its_answer_given(bench: Bench, kind: str, tmp_path: Path) -> None:
    desk = bench.desk(":memory:" if kind == "memory" else sqlite(tmp_path))

    outcome = desk.run_sync(plan(step("a", x=2), step("b", x="a + 1"), answer={"sum": {"$": "a + b"}}))

    assert (outcome.status, outcome.answer) == ("done", {"sum": 5})
    assert bench.calls == [("look", 2), ("look", 3)]
    assert [attempt.tool for attempt in outcome["b"].attempts] == ["look"]


def test_a_plan_with_errors_is_refused_before_anything_ran(bench: Bench) -> None:
    with pytest.raises(PlanRejected, match="CH104"):
        bench.desk().run_sync(plan(step("a"), step("b", x="c + 1")))

    assert bench.calls == []


def test_sync_and_async_functions_are_both_tools(bench: Bench) -> None:
    assert bench.desk().run_sync(plan(step("a", "look_sync", 3), answer={"$": "a"})).answer == 3


def test_independent_steps_run_at_the_same_time(bench: Bench) -> None:
    together: list[int] = []
    meeting = asyncio.Barrier(3)

    async def meet(x: int) -> int:
        await asyncio.wait_for(meeting.wait(), 5)
        together.append(x)
        return x

    from chargehand import Chargehand, tool

    desk = Chargehand(tools=[tool(effect="read", name="meet", egress=[])(meet)])

    outcome = desk.run_sync(plan(*(step(f"s{n}", "meet", n) for n in range(3))))

    assert outcome.status == "done"
    assert sorted(together) == [0, 1, 2]


def test_a_run_that_exists_is_resumed_not_started_again(bench: Bench, tmp_path: Path) -> None:
    desk = bench.desk(sqlite(tmp_path))

    first = desk.run_sync(plan(step("a"), answer={"$": "a"}), run_id="trip")
    second = desk.run_sync(plan(step("a"), answer={"$": "a"}), run_id="trip")

    assert first == second
    assert bench.made("look") == 1


class TestBranches:
    def test_a_condition_that_does_not_hold_skips_the_step_and_what_uses_it(self, bench: Bench) -> None:
        outcome = bench.desk().run_sync(
            plan(step("a"), step("b", when="a > 5"), step("c", x="b"), step("d", after=["b"]), answer={"$": "d"})
        )

        assert statuses(outcome) == {"a": "done", "b": "skipped", "c": "skipped", "d": "done"}

    def test_branches_join_where_maybe_says_so(self, bench: Bench) -> None:
        outcome = bench.desk().run_sync(
            plan(step("a", when="false"), step("b", x="a == null ? 7 : a", maybe=["a"]), answer={"$": "b"})
        )

        assert outcome.answer == 7

    def test_each_runs_once_for_each_item_and_keeps_their_order(self, bench: Bench) -> None:
        outcome = bench.desk().run_sync(plan(step("a", x="item * 2", each="[3, 1, 2]"), answer={"$": "a"}))

        assert outcome.answer == [6, 2, 4]
        assert bench.made("look") == 3

    def test_each_over_an_empty_list_is_done_at_once(self, bench: Bench) -> None:
        outcome = bench.desk().run_sync(plan(step("a", x="item", each="[1].filter(n, n > 5)"), answer={"$": "a"}))

        assert (outcome.status, outcome.answer) == ("done", [])

    def test_an_error_in_a_condition_is_a_failure_never_a_skip(self, bench: Bench) -> None:
        outcome = bench.desk().run_sync(plan(step("a", x=0), step("b", when="1 / a > 0")))

        assert statuses(outcome)["b"] == "failed"
        assert outcome["b"].error is not None
        assert outcome["b"].error.kind == "invalid"


class TestFailures:
    def test_a_failed_step_blocks_what_needs_it_and_ends_the_run(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("no such thing")]

        outcome = bench.desk().run_sync(plan(step("a"), step("b", x="a")))

        assert outcome.status == "failed"
        assert statuses(outcome) == {"a": "failed", "b": "blocked"}
        assert outcome["a"].error is not None
        assert (outcome["a"].error.kind, outcome["a"].error.message) == ("error", "ValueError: no such thing")
        assert outcome["b"].error is not None
        assert "which failed" in outcome["b"].error.message
        assert bench.made("look") == 1

    def test_a_step_that_may_be_skipped_disturbs_nobody(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("no")]

        outcome = bench.desk().run_sync(plan(step("a", if_fails="skip"), step("b", after=["a"]), answer={"$": "b"}))

        assert (outcome.status, statuses(outcome)) == ("done", {"a": "skipped", "b": "done"})

    def test_a_transient_error_is_tried_again_with_growing_pauses(self, bench: Bench) -> None:
        bench.mischief["look"] = [ConnectionResetError("gone"), Transient("busy", retry_after=40)]
        began = bench.clock.now()

        outcome = bench.desk().run_sync(plan(step("a"), answer={"$": "a"}))

        assert (outcome.status, bench.made("look")) == ("done", 3)
        assert [attempt.error and attempt.error.kind for attempt in outcome["a"].attempts] == [
            "transient",
            "transient",
            None,
        ]
        assert (bench.clock.now() - began).total_seconds() >= 40

    def test_tries_are_bounded(self, bench: Bench) -> None:
        bench.mischief["look"] = [Transient("busy")] * 10

        outcome = bench.desk().run_sync(plan(step("a")))

        assert (outcome.status, bench.made("look")) == ("failed", 3)

    def test_another_tool_is_tried_when_one_cannot_do_it(self, bench: Bench) -> None:
        bench.mischief["look"] = [Unsupported("not in this country")]

        outcome = bench.desk().run_sync(plan(step("a"), answer={"$": "a"}))

        assert outcome.status == "done"
        assert [attempt.tool for attempt in outcome["a"].attempts] == ["look", "look_elsewhere"]

    def test_a_tool_that_keeps_failing_is_benched_for_others(self, bench: Bench) -> None:
        bench.mischief["look"] = [ConnectionError("down")] * 5
        desk = bench.desk()

        desk.run_sync(plan(*(step(f"s{n}", if_fails="skip") for n in range(5))))
        outcome = desk.run_sync(plan(step("a"), answer={"$": "a"}))

        assert outcome["a"].attempts[0].tool == "look_elsewhere"

    @pytest.mark.parametrize(
        "error", [SystemExit(3), KeyboardInterrupt(), GeneratorExit(), StopIteration(), RecursionError()]
    )
    def test_whatever_a_tool_raises_stays_its_own_failure(self, bench: Bench, error: BaseException) -> None:
        bench.mischief["look_sync"] = [error]

        outcome = bench.desk().run_sync(plan(step("a", "look_sync", if_fails="skip"), step("b"), answer={"$": "b"}))

        assert (outcome.status, statuses(outcome)) == ("done", {"a": "skipped", "b": "done"})

    def test_a_tool_that_never_returns_is_cut_off_at_its_deadline(self, bench: Bench) -> None:
        outcome = bench.desk().run_sync(plan(step("a", "hang", if_fails="skip"), step("b"), answer={"$": "b"}))

        assert statuses(outcome) == {"a": "skipped", "b": "done"}


class TestResults:
    def test_success_is_checked_not_claimed_and_the_evidence_kept(self, bench: Bench) -> None:
        bench.mischief["look"] = [plus_a_hundred]

        outcome = bench.desk().run_sync(plan(step("a", expect=["output == args.x", "output > 0"])))

        assert outcome.status == "failed"
        assert [(one.check, one.held) for one in outcome["a"].evidence] == [
            ("output == args.x", False),
            ("output > 0", True),
        ]
        assert outcome["a"].error is not None
        assert outcome["a"].error.kind == "check_failed"

    @pytest.mark.parametrize(
        ("result", "said"),
        [
            (float("nan"), "nan"),
            (object(), "JSON"),
            ("a\0b", "NUL"),
            ([float("inf")], "inf"),
            (2**70, "64 bits"),
            ("x" * 17_000_000, "larger than"),
            ("\ud800", ""),
        ],
        ids=["nan", "object", "nul", "inf", "huge int", "huge text", "surrogate"],
    )
    def test_a_result_that_no_journal_can_hold_fails_its_step(self, bench: Bench, result: object, said: str) -> None:
        bench.mischief["anything"] = [gives(result)]

        outcome = bench.desk().run_sync(plan(step("a", "anything")))

        assert outcome.status == "failed"
        assert outcome["a"].error is not None
        assert said in outcome["a"].error.message

    def test_a_result_of_another_type_than_promised_fails_its_step(self, bench: Bench) -> None:
        bench.mischief["look"] = [gives("seven")]

        outcome = bench.desk().run_sync(plan(step("a")))

        assert outcome["a"].error is not None
        assert "not what the tool promises" in outcome["a"].error.message

    def test_what_a_tool_returns_is_data_never_plan(self, bench: Bench) -> None:
        trick = {"$": "inputs.secret", "#": "0" * 64, "text": "{$: a}"}
        bench.mischief["anything"] = [gives(trick), gives({"#": "0" * 64})]

        outcome = bench.desk().run_sync(
            plan(step("a", "anything"), step("b", "anything"), answer=[{"$": "a"}, {"$": "b"}])
        )

        assert outcome.answer == [trick, {"#": "0" * 64}]

    def test_large_results_are_kept_once_and_come_back_whole(self, bench: Bench, tmp_path: Path) -> None:
        large = ["x" * 100] * 1000
        bench.mischief["anything"] = [gives(large)]
        desk = bench.desk(sqlite(tmp_path))

        outcome = desk.run_sync(plan(step("a", "anything"), answer={"$": "a"}))

        assert desk.show(outcome.run_id).answer == large


class TestEffects:
    def test_an_ordinary_exception_from_an_effect_is_not_retried(self, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no")]

        outcome = bench.desk().run_sync(plan(step("a", "write")))

        assert (outcome.status, bench.made("write")) == ("failed", 1)

    def test_an_effect_that_timed_out_is_in_doubt_and_done_once(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("no answer")]
        desk = bench.desk()

        outcome = desk.run_sync(plan(step("a", "write"), step("b", x="a"), step("c"), answer={"$": "b"}))

        assert (outcome.status, statuses(outcome)) == ("in_doubt", {"a": "in_doubt", "b": "waiting", "c": "done"})
        assert bench.made("write") == 1

    def test_a_doubt_is_settled_by_a_person(self, bench: Bench) -> None:
        for happened in (True, False):
            bench.calls.clear()
            bench.mischief["write"] = [TimeoutError("no answer")]
            desk = bench.desk()
            outcome = desk.run_sync(plan(step("a", "write"), answer={"$": "a"}))

            if happened:
                desk.settle(outcome.run_id, "a", happened=41)
            else:
                desk.settle(outcome.run_id, "a", did_not_happen=True)
            outcome = asyncio.run(desk.resume(outcome.run_id))

            assert (outcome.status, outcome.answer) == ("done", 41 if happened else 1)
            assert bench.made("write") == (1 if happened else 2)

    def test_what_certainly_did_not_happen_is_tried_again_where_the_tool_allows(self, bench: Bench) -> None:
        bench.mischief["put"] = [NotPerformed("the door was closed"), TimeoutError("and slow")]

        outcome = bench.desk().run_sync(plan(step("a", "put"), answer={"$": "a"}))

        assert (outcome.status, bench.made("put")) == ("done", 3)


class TestApprovals:
    def test_an_irreversible_effect_waits_for_approval_while_others_go_on(self, bench: Bench) -> None:
        desk = bench.desk()

        outcome = desk.run_sync(plan(step("a", "send", expect=["output > 0"]), step("b"), answer={"$": "a"}))

        assert (outcome.status, statuses(outcome)) == ("waiting", {"a": "waiting", "b": "done"})
        assert bench.made("send") == 0

    def test_yes_lets_it_happen_once(self, bench: Bench, tmp_path: Path) -> None:
        desk = bench.desk(sqlite(tmp_path))
        run = desk.run_sync(plan(step("a", "send", expect=["output > 0"]), answer={"$": "a"})).run_id

        desk.approve(run, "a", because="fine")
        desk.approve(run, "a", because="fine, I said")
        outcome = asyncio.run(desk.resume(run))

        assert (outcome.status, outcome.answer, bench.made("send")) == ("done", 1, 1)
        assert asyncio.run(desk.resume(run)) == outcome
        assert bench.made("send") == 1

    def test_no_means_no(self, bench: Bench) -> None:
        desk = bench.desk()
        run = desk.run_sync(plan(step("a", "send", expect=["output > 0"]))).run_id

        desk.deny(run, "a", because="too dear")
        outcome = asyncio.run(desk.resume(run))

        assert (outcome.status, bench.made("send")) == ("failed", 0)
        assert outcome["a"].error is not None
        assert (outcome["a"].error.kind, outcome["a"].error.message) == ("denied", "it was not approved: too dear")

    def test_an_answer_for_something_else_counts_for_nothing(self, bench: Bench) -> None:
        desk = bench.desk()
        run = desk.run_sync(plan(step("a", "send", expect=["output > 0"]))).run_id

        with pytest.raises(RequestRefused, match="not what would be done now"):
            desk.approve(run, "a", hash="0" * 64)
        with pytest.raises(RequestRefused, match="no step 'b'"):
            desk.approve(run, "b")
        outcome = asyncio.run(desk.resume(run))

        assert (outcome.status, bench.made("send")) == ("waiting", 0)

    def test_a_request_expires(self, bench: Bench) -> None:
        desk = bench.desk()
        run = desk.run_sync(plan(step("a", "send", expect=["output > 0"]))).run_id

        bench.clock.advance(8 * 24 * 3600)
        with pytest.raises(RequestRefused, match="has expired"):
            desk.approve(run, "a")
        outcome = asyncio.run(desk.resume(run))

        assert (outcome.status, bench.made("send")) == ("failed", 0)

    @pytest.mark.parametrize(("answer", "status"), [(True, "done"), (False, "failed"), (None, "waiting")])
    def test_an_approver_is_shown_exactly_what_would_be_done(
        self, bench: Bench, answer: bool | None, status: str
    ) -> None:
        shown: list[Any] = []

        async def approver(request: Any) -> bool | None:
            shown.append(request)
            return answer

        desk = bench.desk(approver=approver)
        outcome = desk.run_sync(plan(step("n", x=7), step("a", "send", "n", expect=["output > 0"]), step("z", x="a")))

        assert outcome.status == status
        [request] = shown
        assert (request["tool"], request["arguments"], request["effect"]) == ("send", {"x": 7}, "irreversible")
        assert (request["sources"], request["blocks"]) == ({"x": ["n"]}, ["z"])

    def test_everything_can_be_approved_for_tests_and_demos(self, bench: Bench) -> None:
        assert (
            bench.desk(approver=approve_all).run_sync(plan(step("a", "send", expect=["output > 0"]))).status == "done"
        )


class TestPeople:
    def test_a_person_does_a_failed_step_instead(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError()]
        desk = bench.desk()
        run = desk.run_sync(plan(step("a", "write"), step("b", x="a"), answer={"$": "b"})).run_id

        desk.supply(run, "a", 12, because="done by hand")
        outcome = asyncio.run(desk.resume(run))

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 12, 1)

    def test_a_run_that_waits_can_be_cancelled(self, bench: Bench) -> None:
        desk = bench.desk()
        run = desk.run_sync(plan(step("a", "send", expect=["output > 0"]), step("b"))).run_id

        desk.cancel(run, because="not needed")
        outcome = asyncio.run(desk.resume(run))

        assert (outcome.status, statuses(outcome)) == ("cancelled", {"a": "cancelled", "b": "done"})

    def test_what_is_said_to_a_run_that_is_over_changes_nothing(self, bench: Bench) -> None:
        desk = bench.desk()
        done = desk.run_sync(plan(step("a"), answer={"$": "a"}))

        with pytest.raises(RequestRefused, match="the run is over"):
            desk.cancel(done.run_id)
        with pytest.raises(RequestRefused, match="the run is over"):
            desk.supply(done.run_id, "a", 9)
        outcome = asyncio.run(asyncio.wait_for(desk.resume(done.run_id), 10))

        assert outcome == done

    def test_failed_steps_are_tried_again_on_request_and_finished_ones_not(self, bench: Bench) -> None:
        bench.mischief["look_sync"] = [ValueError("not yet")]
        desk = bench.desk()
        run = desk.run_sync(plan(step("a"), step("b", "look_sync", "a"), answer={"$": "b"})).run_id

        desk.retry(run)
        outcome = asyncio.run(desk.resume(run))

        assert (outcome.status, outcome.answer) == ("done", 1)
        assert (bench.made("look"), bench.made("look_sync")) == (1, 2)


def test_a_run_can_be_looked_at_as_it_was(bench: Bench) -> None:
    desk = bench.desk()
    run = desk.run_sync(plan(step("a"), step("b", x="a"))).run_id

    assert statuses(desk.show(run, at=1)) == {"a": "waiting", "b": "waiting"}
    assert statuses(desk.show(run)) == {"a": "done", "b": "done"}
    assert [head.run for head in desk.runs()] == [run]


def test_a_run_can_be_followed_to_its_end(bench: Bench) -> None:
    desk = bench.desk()

    async def kinds() -> list[str]:
        outcome = await desk.run(plan(step("a")))
        return [recorded.kind async for recorded, _ in desk.follow(outcome.run_id)]

    assert asyncio.run(kinds()) == ["run.started", "call.started", "call.finished", "run.ended"]
