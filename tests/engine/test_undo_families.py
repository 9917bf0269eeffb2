"""Taking back what children did, and taking back in a process that dies."""

from contextlib import suppress

import pytest
from tests.engine.family import HOLDS, LOOK, RESERVE, as_asked, keys, playbook, pursue, released, resume, said, undo
from tests.engine.family import FamilyBench as Bench
from tests.engine.sweeps import Scene, sweep
from tests.engine.workbench import plan, statuses, step

from chargehand import Chargehand, Outcome, Plan
from chargehand.adapters.memory import MemoryJournal
from chargehand.errors import RequestRefused


@pytest.fixture
def bench() -> Bench:
    return Bench()


class TestChildren:
    BOTH = plan(
        step("a", "hold", 1),
        pursue("b", "Reserve 2", {"after": ["a"]}),
        step("c", "hold", 3, after=["b"]),
    )

    def test_what_a_child_did_is_taken_back_in_its_turn(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=[RESERVE])
        assert desk.run_sync(self.BOTH, run_id="r").status == "done"

        outcome = undo(desk)

        assert (outcome.status, released(bench)) == ("cancelled", [3, 2, 1])
        assert desk.show("r/b/0/1").status == "cancelled"
        assert outcome["undo_b"].attempts[0].tool == "r/b/0/1"

    def test_items_of_a_sub_goal_are_taken_back_one_after_the_other(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=[RESERVE])
        desk.run_sync(plan(pursue("b", "Reserve", {"each": "[4, 5]"}, n="item")), run_id="r")

        outcome = undo(desk)

        assert (outcome.status, sorted(released(bench))) == ("cancelled", [4, 5])
        assert {"undo_b_0", "undo_b_1"} <= statuses(outcome).keys()

    def test_grandchildren_are_undone(self, bench: Bench) -> None:
        outer = playbook("Travel {n}", pursue("h", "Reserve", n="inputs.n"), step("w", "hold", 9, after=["h"]))
        desk = bench.desk(playbooks=[RESERVE, outer])
        desk.run_sync(plan(pursue("b", "Travel 4")), run_id="r")

        assert (undo(desk).status, released(bench)) == ("cancelled", [9, 4])

    def test_a_child_that_only_read_is_nothing_to_take_back(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=[LOOK])
        desk.run_sync(plan(step("a", "hold", 1), pursue("b", "Look 2", {"after": ["a"]})), run_id="r")

        outcome = undo(desk)

        assert (outcome.status, released(bench)) == ("cancelled", [1])

    def test_a_child_that_could_not_be_planned_is_nothing_to_take_back(self, bench: Bench) -> None:
        picky = {**RESERVE, "answers": ["Reserve"], "inputs": {"n": {"schema": {"type": "integer", "maximum": 2}}}}
        desk = bench.desk(playbooks=[picky])
        what = plan(step("a", "hold", 5), pursue("b", "Reserve", n="a.ref"), all_or_nothing=True)

        outcome = desk.run_sync(what, run_id="r")

        assert (outcome.status, released(bench)) == ("failed", [5])
        assert "Reserve" in said(outcome)

    def test_a_child_that_waits_is_stopped_and_undone(self, bench: Bench) -> None:
        book = playbook("Try {n}", step("h", "hold", "inputs.n"), step("s", "send", "h.ref", expect=["output > 0"]))
        desk = bench.desk(playbooks=[book])
        assert desk.run_sync(plan(pursue("b", "Try 4")), run_id="r").status == "waiting"

        outcome = undo(desk)

        assert (outcome.status, bench.effects) == ("cancelled", [("hold", 4), ("release", (104, 4))])

    def test_a_child_that_cannot_be_undone_stops_its_parent_which_names_it(self, bench: Bench) -> None:
        bench.mischief["release"] = [as_asked, ValueError("locked")]
        desk = bench.desk(playbooks=[RESERVE])
        desk.run_sync(self.BOTH, run_id="r")

        outcome = undo(desk)

        assert (outcome.status, released(bench)) == ("failed", [3, 2])
        assert said(outcome).startswith("not undone: b, a (the run r/b/0/1 failed: not undone: h (ValueError: locked)")
        desk.retry("r")
        assert (resume(desk).status, released(bench)) == ("cancelled", [3, 2, 2, 1])

    def test_a_person_takes_back_what_a_child_did_and_the_rest_goes_on(self, bench: Bench) -> None:
        bench.mischief["release"] = [as_asked, ValueError("locked")]
        desk = bench.desk(playbooks=[RESERVE])
        desk.run_sync(self.BOTH, run_id="r")
        undo(desk)

        desk.supply("r", "undo_b", None)

        assert (resume(desk).status, released(bench)) == ("cancelled", [3, 2, 1])

    def test_a_child_in_doubt_about_taking_back_puts_its_parent_in_doubt(self, bench: Bench) -> None:
        bench.mischief["release"] = [as_asked, TimeoutError("slow")]
        desk = bench.desk(playbooks=[RESERVE])
        desk.run_sync(self.BOTH, run_id="r")

        assert undo(desk).status == "in_doubt"
        desk.settle("r/b/0/1", "undo_h", happened=True)
        outcome = resume(desk)

        assert (outcome.status, released(bench)) == ("cancelled", [3, 2, 1])

    def test_a_first_attempt_is_taken_back_even_if_a_second_one_reused_it(self, bench: Bench) -> None:
        book = playbook("Try {n}", step("h", "hold", "inputs.n"), step("l", x="h.ref"))
        bench.mischief["look"] = [ValueError("dark")]
        desk = bench.desk(playbooks=[book])
        desk.run_sync(plan(pursue("b", "Try 4")), run_id="r")
        desk.retry("r")
        assert (resume(desk).status, bench.made("hold")) == ("done", 1)

        outcome = undo(desk)

        assert (outcome.status, released(bench)) == ("cancelled", [4])

    def test_a_first_attempt_that_is_not_in_this_journal_does_not_count_as_undone(self, bench: Bench) -> None:
        book = playbook("Try {n}", step("h", "hold", "inputs.n"), step("l", x="h.ref"))
        bench.mischief["look"] = [ValueError("dark")] * 2
        desk = bench.desk(playbooks=[book])
        desk.run_sync(plan(pursue("b", "Try 4")), run_id="r")
        elsewhere = bench.desk(playbooks=[book])
        elsewhere.import_(desk.export("r"))

        outcome = undo(elsewhere)
        assert (outcome.status, bench.made("release")) == ("failed", 0)
        assert "the run r/b/0/1 failed: it is not in this journal" in said(outcome)

        elsewhere.import_(desk.export("r/b/0/1"))
        assert (undo(elsewhere).status, released(bench)) == ("cancelled", [4])

    def test_each_attempt_at_all_or_nothing_takes_back_its_own(self, bench: Bench) -> None:
        """The first attempt took its hold back; the second one holds anew, and takes that back as well."""
        book = playbook("Try {n}", step("h", "hold", "inputs.n"), step("l", x="h.ref"), all_or_nothing=True)
        bench.mischief["look"] = [ValueError("dark"), ValueError("still dark")]
        journal = MemoryJournal()
        desk = bench.desk(journal, playbooks=[book])
        desk.run_sync(plan(pursue("b", "Try 4")), run_id="r")

        desk.retry("r")
        outcome = resume(desk)

        assert outcome.status == "failed"
        assert bench.effects == [("hold", 4), ("release", (104, 4))] * 2
        assert len({*keys(journal, "r/b/0/1"), *keys(journal, "r/b/0/2")}) == 4
        desk.retry("r")
        assert resume(desk).status == "done"
        assert bench.effects[4:] == [("hold", 4)]


async def go_on(desk: Chargehand) -> Outcome:
    return await desk.resume("r")


def begin(what: Plan) -> Scene:
    """Carries a plan out, and asks to take it back."""

    async def scene(desk: Chargehand) -> Outcome:
        outcome = await desk.run(what, run_id="r")
        desk.undo("r")
        return outcome

    return scene


class TestCrashes:
    BOTH = TestChildren.BOTH

    @pytest.mark.parametrize("what", [HOLDS, BOTH], ids=["its own", "those of a child"])
    def test_killed_at_any_write_each_is_taken_back_once_or_in_doubt(self, what: Plan) -> None:
        statuses: list[str] = []
        for one in sweep(go_on, before=begin(what), playbooks=[RESERVE]):
            statuses.append(one.outcome.status)
            done = released(one.bench)
            assert done == [3, 2, 1][: len(done)], (one.at, done)
            assert one.outcome == one.desk.show("r"), one.at
            assert (one.outcome.status, len(done)) == ("cancelled", 3) or one.outcome.status == "in_doubt", one.at
        assert len(statuses) > 6
        assert statuses.count("in_doubt") >= 3

    def test_killed_at_any_write_all_or_nothing_is_all_or_nothing_or_in_doubt(self) -> None:
        steps = step("a", "hold", 1), pursue("b", "Reserve 2", {"after": ["a"]}), step("c", x="1 / (b - 102)")
        what = plan(*steps, all_or_nothing=True)

        async def act(desk: Chargehand) -> Outcome:
            return await desk.run(what, run_id="r")

        ways = 0
        for one in sweep(act, playbooks=[RESERVE]):
            ways += 1
            held, taken = [x for name, x in one.bench.calls if name == "hold"], released(one.bench)
            assert (len(held), len(taken)) == (len(set(held)), len(set(taken))), one.at
            assert one.outcome.status in ("failed", "in_doubt"), (one.at, one.outcome)
            if one.outcome.status == "failed":
                assert (held, taken) == ([1, 2], [2, 1]), one.at
                assert "divide by zero" in said(one.outcome), one.at
        assert ways > 20

    def test_what_is_in_doubt_after_a_crash_can_be_settled_and_the_rest_taken_back(self) -> None:
        for one in sweep(go_on, before=begin(self.BOTH), playbooks=[RESERVE]):
            for head in one.desk.runs(status=["in_doubt"]):
                for report in one.desk.show(head.run).reports:
                    with suppress(RequestRefused):  # the child's doubt is settled there
                        one.desk.settle(head.run, report.step, did_not_happen=True)
            outcome = resume(one.desk)
            assert (outcome.status, {*released(one.bench)}) == ("cancelled", {1, 2, 3}), (one.at, outcome)
