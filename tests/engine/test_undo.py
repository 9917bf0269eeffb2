"""Taking back: finished writes are undone in reverse order, each by its tool's undo, each an effect of its own."""

import asyncio

import pytest
from tests.engine.family import HOLDS, as_asked, playbook, released, resume, said, undo
from tests.engine.family import FamilyBench as Bench
from tests.engine.workbench import plan, statuses, step

from chargehand import Chargehand, Goal, Outcome, approve_all, tool
from chargehand.adapters.memory import MemoryJournal
from chargehand.errors import NotPerformed, RequestRefused, Unsupported


@pytest.fixture
def bench() -> Bench:
    return Bench()


class TestAsked:
    def test_finished_writes_are_taken_back_in_reverse_order(self, bench: Bench) -> None:
        desk = bench.desk()
        assert desk.run_sync(HOLDS, run_id="r").status == "done"

        outcome = undo(desk)

        assert (outcome.status, said(outcome)) == ("cancelled", "it was undone")
        assert bench.calls[3:] == [("release", (103, 3)), ("release", (102, 2)), ("release", (101, 1))]

    def test_the_report_shows_each_step_that_takes_back(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold"), step("b", "hold", "item", each="[5, 6]", after=["a"])), run_id="r")

        outcome = undo(desk)

        assert statuses(outcome) == {
            "a": "done",
            "b": "done",
            "undo_b_1": "done",
            "undo_b_0": "done",
            "undo_a": "done",
        }
        assert outcome["undo_a"].attempts[0].tool == "release"
        assert outcome == desk.show("r")

    def test_parameters_come_from_the_output_first_and_then_from_the_arguments(self, bench: Bench) -> None:
        given = list[tuple[int, int, int]]()

        @tool(effect="write", egress=[])
        async def unbook(x: int, ref: int, seats: int = 9) -> bool:
            """Takes back."""
            given.append((x, ref, seats))
            return True

        @tool(effect="write", undo=unbook, egress=[])
        async def book(ref: int, x: int) -> dict[str, int]:
            """Books; what it gives has an `x` of its own."""
            return {"x": x + 100}

        desk = Chargehand(tools=[book], clock=bench.clock)
        desk.run_sync(plan({"id": "a", "use": "book", "with": {"ref": 7, "x": 1}}), run_id="r")

        assert (undo(desk).status, given) == ("cancelled", [(101, 7, 9)])

    def test_reads_are_left_alone(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a"), step("b", "hold", "a"), step("c", x="b.ref")), run_id="r")

        outcome = undo(desk)

        assert statuses(outcome) == {"a": "done", "b": "done", "c": "done", "undo_b": "done"}

    def test_a_run_that_did_nothing_cannot_be_undone(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a")), run_id="r")

        with pytest.raises(RequestRefused, match="nothing that could be undone"):
            desk.undo("r")

    def test_what_cannot_be_taken_back_is_listed(self, bench: Bench) -> None:
        desk = bench.desk(approver=approve_all)
        what = plan(step("a", "hold"), step("b", "write"), step("c", "send", expect=["output > 0"], after=["b"]))
        desk.run_sync(what, run_id="r")

        outcome = undo(desk)

        assert (outcome.status, said(outcome)) == ("failed", "not undone: c, b")
        assert (outcome["undo_a"].status, bench.made("release")) == ("done", 1)

    def test_undoing_twice_takes_back_once(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(HOLDS, run_id="r")

        desk.undo("r")
        first = undo(desk)
        second = undo(desk)

        assert (first.status, second.status, bench.made("release")) == ("cancelled", "cancelled", 3)
        assert statuses(first) == statuses(second)

    def test_a_run_that_waits_is_cancelled_and_undone(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold"), step("b", "send", "a.ref", expect=["output > 0"])), run_id="r")

        outcome = undo(desk)

        assert (outcome.status, statuses(outcome)) == ("cancelled", {"a": "done", "b": "cancelled", "undo_a": "done"})
        assert bench.effects == [("hold", 1), ("release", (101, 1))]

    def test_a_run_that_failed_is_undone(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold"), step("b", x="1 / (a.ref - 101)")), run_id="r")

        outcome = undo(desk)

        assert (outcome.status, bench.made("release")) == ("cancelled", 1)

    def test_an_effect_whose_check_failed_is_taken_back_too(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold", expect=["output.ref > 500"])), run_id="r")

        assert (undo(desk).status, released(bench)) == ("cancelled", [1])

    def test_a_doubt_is_settled_before_anything_is_taken_back(self, bench: Bench) -> None:
        bench.mischief["hold"] = [as_asked, TimeoutError("slow")]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold", 1), step("b", "hold", 2, after=["a"])), run_id="r")

        assert (undo(desk).status, bench.made("release")) == ("in_doubt", 0)
        desk.settle("r", "b", happened={"ref": 177})
        outcome = resume(desk)

        assert (outcome.status, bench.calls[2:]) == ("cancelled", [("release", (177, 2)), ("release", (101, 1))])

    def test_what_did_not_happen_after_all_is_not_taken_back_and_not_done(self, bench: Bench) -> None:
        bench.mischief["hold"] = [TimeoutError("slow")]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold", 1)), run_id="r")
        undo(desk)

        desk.settle("r", "a", did_not_happen=True)
        outcome = resume(desk)

        assert (outcome.status, bench.effects) == ("cancelled", [("hold", 1)])

    def test_what_nobody_will_ever_know_is_listed_as_not_undone(self, bench: Bench) -> None:
        bench.mischief["hold"] = [TimeoutError("slow")]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold", 1)), run_id="r")
        undo(desk)

        desk.settle("r", "a", stop=True)
        outcome = resume(desk)

        assert (outcome.status, bench.made("release")) == ("failed", 0)
        assert "not undone: a" in said(outcome)

    def test_a_step_that_already_has_the_name_keeps_it(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold"), step("undo_a", after=["a"])), run_id="r")

        outcome = undo(desk)

        assert statuses(outcome) == {"a": "done", "undo_a": "done", "undo_a_": "done"}

    def test_a_run_goes_back_while_it_is_driven(self, bench: Bench) -> None:
        @tool(effect="read", egress=[])
        async def wait(x: int) -> int:
            """Waits until it is stopped."""
            desk.undo("r")
            await asyncio.Event().wait()
            return x

        desk = Chargehand(tools=[*bench.tools(), wait], clock=bench.clock)
        what = plan(step("a", "hold"), step("b", "wait", "a.ref"), step("c", "hold", "b"))

        outcome = asyncio.run(asyncio.wait_for(desk.run(what, run_id="r"), 10))

        assert (outcome.status, bench.effects) == ("cancelled", [("hold", 1), ("release", (101, 1))])


class TestAllOrNothing:
    def test_a_run_that_fails_takes_back_what_it_did(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("dark")]
        what = plan(
            step("a", "hold", 1), step("b", "hold", 2, after=["a"]), step("c", after=["b"]), all_or_nothing=True
        )

        outcome = bench.desk().run_sync(what)

        assert (outcome.status, said(outcome)) == ("failed", "ValueError: dark")
        assert bench.effects[2:] == [("release", (102, 2)), ("release", (101, 1))]

    def test_a_run_that_is_cancelled_takes_back_what_it_did(self, bench: Bench) -> None:
        desk = bench.desk()
        what = plan(step("a", "hold", 1), step("b", "send", "a.ref", expect=["output > 0"]), all_or_nothing=True)
        desk.run_sync(what, run_id="r")

        desk.cancel("r", because="changed my mind")
        outcome = resume(desk)

        assert (outcome.status, said(outcome)) == ("cancelled", "changed my mind")
        assert bench.effects == [("hold", 1), ("release", (101, 1))]

    def test_a_run_that_succeeds_takes_nothing_back(self, bench: Bench) -> None:
        outcome = bench.desk().run_sync(plan(step("a", "hold"), answer={"$": "a.ref"}, all_or_nothing=True))

        assert (outcome.status, outcome.answer, bench.made("release")) == ("done", 101, 0)

    def test_a_run_that_fails_before_it_did_anything_just_fails(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("dark")]

        outcome = bench.desk().run_sync(plan(step("a"), step("b", "hold", "a"), all_or_nothing=True))

        assert (outcome.status, said(outcome)) == ("failed", "ValueError: dark")

    def test_a_goal_says_all_or_nothing_whatever_its_plan_says(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("dark")]
        book = playbook("Try {n}", step("a", "hold", "inputs.n"), step("b", x="a.ref"))

        outcome = bench.desk(playbooks=[book]).run_sync(Goal(text="Try 4", all_or_nothing=True))

        assert (outcome.status, bench.effects) == ("failed", [("hold", 4), ("release", (104, 4))])

    def test_a_way_around_is_tried_before_anything_is_taken_back(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("dark")]
        around = {"replace": [step("b", "look_sync", "a.ref")]}
        revision = {"when": "failure.step == 'b'", "because": "another lamp", "patch": around}
        book = playbook(
            "Try", step("a", "hold"), step("b", x="a.ref"), answer={"$": "b"}, all_or_nothing=True, revisions=[revision]
        )

        outcome = bench.desk(playbooks=[book]).run_sync("Try")

        assert (outcome.status, outcome.answer, bench.made("release")) == ("done", 101, 0)

    def test_a_doubt_is_settled_before_anything_is_taken_back(self, bench: Bench) -> None:
        bench.mischief = {"hold": [as_asked, TimeoutError("slow")], "look": [ValueError("dark")]}
        desk = bench.desk()
        what = plan(step("a", "hold", 1), step("b", "hold", 2), step("c", after=["a"]), all_or_nothing=True)

        outcome = desk.run_sync(what, run_id="r")
        assert (outcome.status, bench.made("release")) == ("in_doubt", 0)
        desk.settle("r", "b", happened={"ref": 150})
        outcome = resume(desk)

        assert (outcome.status, said(outcome)) == ("failed", "ValueError: dark")
        assert sorted(released(bench)) == [1, 2]

    def test_a_goal_whose_answer_is_not_good_enough_takes_back_what_it_did(self, bench: Bench) -> None:
        book = playbook("Try {n}", step("a", "hold", "inputs.n"), answer={"$": "a.ref"})
        goal = Goal(text="Try 4", expect=("answer > 500",), all_or_nothing=True)

        outcome = bench.desk(playbooks=[book]).run_sync(goal)

        assert (outcome.status, bench.effects) == ("failed", [("hold", 4), ("release", (104, 4))])
        assert "answer > 500" in said(outcome)


class TestTrouble:
    def failing(self, bench: Bench, error: BaseException) -> tuple[Chargehand, Outcome]:
        """The second of three that are taken back makes trouble."""
        bench.mischief["release"] = [as_asked, error]
        desk = bench.desk()
        desk.run_sync(HOLDS, run_id="r")
        return desk, undo(desk)

    def test_what_cannot_be_taken_back_stops_there_and_lists_what_stands(self, bench: Bench) -> None:
        _, outcome = self.failing(bench, ValueError("locked"))

        assert (outcome.status, said(outcome)) == ("failed", "not undone: b, a (ValueError: locked)")
        assert (outcome["undo_b"].status, outcome["undo_a"].status) == ("failed", "blocked")
        assert released(bench) == [3, 2]

    def test_a_retry_goes_on_with_taking_back(self, bench: Bench) -> None:
        desk, _ = self.failing(bench, ValueError("locked"))

        desk.retry("r")
        outcome = resume(desk)

        assert (outcome.status, released(bench)) == ("cancelled", [3, 2, 2, 1])

    def test_undoing_once_more_goes_on_with_taking_back(self, bench: Bench) -> None:
        desk, _ = self.failing(bench, ValueError("locked"))

        outcome = undo(desk)

        assert (outcome.status, released(bench)) == ("cancelled", [3, 2, 2, 1])

    def test_a_person_takes_one_back_and_the_rest_goes_on(self, bench: Bench) -> None:
        desk, _ = self.failing(bench, ValueError("locked"))

        desk.supply("r", "undo_b", True)
        outcome = resume(desk)

        assert (outcome.status, released(bench)) == ("cancelled", [3, 2, 1])

    def test_a_failed_run_that_a_person_helped_to_take_back_says_why_it_failed(self, bench: Bench) -> None:
        bench.mischief = {"release": [ValueError("locked")], "look": [ValueError("dark")]}
        desk = bench.desk()
        what = plan(step("a", "hold"), step("c", x="a.ref"), all_or_nothing=True)
        assert "not undone: a" in said(desk.run_sync(what, run_id="r"))

        desk.supply("r", "undo_a", True)
        outcome = resume(desk)

        assert (outcome.status, said(outcome)) == ("failed", "ValueError: dark")

    def test_taking_back_can_be_in_doubt(self, bench: Bench) -> None:
        desk, outcome = self.failing(bench, TimeoutError("slow"))
        assert (outcome.status, outcome["undo_b"].status, released(bench)) == ("in_doubt", "in_doubt", [3, 2])

        desk.settle("r", "undo_b", happened=True)

        assert (resume(desk).status, released(bench)) == ("cancelled", [3, 2, 1])

    def test_taking_back_that_did_not_happen_is_done(self, bench: Bench) -> None:
        desk, _ = self.failing(bench, TimeoutError("slow"))

        desk.settle("r", "undo_b", did_not_happen=True)

        assert (resume(desk).status, released(bench)) == ("cancelled", [3, 2, 2, 1])

    def test_what_certainly_did_not_happen_is_no_doubt(self, bench: Bench) -> None:
        desk, outcome = self.failing(bench, NotPerformed("closed"))
        assert outcome.status == "failed"

        desk.retry("r")

        assert (resume(desk).status, released(bench)) == ("cancelled", [3, 2, 2, 1])

    def test_another_tool_takes_back_where_one_cannot(self, bench: Bench) -> None:
        _, outcome = self.failing(bench, Unsupported("not here"))

        assert (outcome.status, released(bench)) == ("cancelled", [3, 2, 1])
        assert bench.made("release_by_clerk") == 1

    def test_what_a_process_without_the_tool_leaves_another_one_takes_back(self, bench: Bench) -> None:
        journal = MemoryJournal()
        desk = bench.desk(journal)
        desk.run_sync(HOLDS, run_id="r")

        outcome = undo(Chargehand(journal=journal, clock=bench.clock))
        assert (outcome.status, said(outcome)) == ("failed", "not undone: c, b, a")

        assert (undo(desk).status, released(bench)) == ("cancelled", [3, 2, 1])

    def test_taking_back_may_need_approval(self, bench: Bench) -> None:
        @tool(effect="irreversible", egress=[])
        async def refund(x: int) -> int:
            """Takes back, for good."""
            return bench.act("refund", x)

        @tool(effect="write", undo=refund, egress=[])
        async def charge(x: int) -> int:
            """Charges."""
            return bench.act("charge", x)

        desk = Chargehand(tools=[charge], clock=bench.clock)
        desk.run_sync(plan(step("a", "charge", 5)), run_id="r")

        assert (undo(desk).status, bench.made("refund")) == ("waiting", 0)
        with pytest.raises(RequestRefused, match="being taken back"):
            desk.cancel("r")
        desk.approve("r", "undo_a")
        outcome = resume(desk)

        assert (outcome.status, bench.calls) == ("cancelled", [("charge", 5), ("refund", 5)])
