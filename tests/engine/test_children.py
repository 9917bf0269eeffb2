"""Sub-goals: a step that pursues a goal is a run of its own, planned by a playbook, and its answer is the output."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.engine.family import BOOKS, TIDY, gives, playbook, pursue, resume, run, said
from tests.engine.family import FamilyBench as Bench
from tests.engine.workbench import sqlite, statuses, step

from chargehand import Chargehand, PlanRejected, approve_all, tool


@pytest.fixture
def bench() -> Bench:
    return Bench()


class TestAnswers:
    def test_the_answer_of_a_child_run_is_the_output_of_its_step(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, step("a", x=3), pursue("b", "Tidy room", n="a + 1"), answer={"$": "b"})

        assert (outcome.status, outcome.answer) == ("done", 14)
        assert bench.calls == [("look", 3), ("write", 4)]

    def test_a_child_run_is_named_after_its_parent_step_item_and_attempt(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, pursue("b", "Tidy room 7"))

        [child] = desk.runs(parent="r")
        assert (child.run, child.parent, child.status, child.goal) == ("r/b/0/1", "r", "done", "Tidy room 7")
        assert [attempt.tool for attempt in outcome["b"].attempts] == ["r/b/0/1"]
        assert desk.show("r/b/0/1").answer == 17

    def test_what_is_expected_of_a_sub_goal_is_checked_like_any_result(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, pursue("b", "Tidy room", {"expect": ["output > args.n", "output > 50"]}, n=2))

        assert (outcome.status, outcome["b"].status) == ("failed", "failed")
        assert [(one.check, one.held) for one in outcome["b"].evidence] == [
            ("output > args.n", True),
            ("output > 50", False),
        ]
        assert desk.show("r/b/0/1").status == "done"

    def test_a_sub_goal_that_takes_longer_than_its_step_may_is_stopped(self, bench: Bench) -> None:
        @tool(effect="read", egress=[])
        async def ponder(x: int) -> int:
            """Thinks for ever."""
            await asyncio.Event().wait()
            return x

        book = playbook("Think about {n}", step("t", "ponder", "inputs.n"), answer={"$": "t"})
        desk = Chargehand(tools=[*bench.tools(), ponder], playbooks=[book])

        outcome = run(desk, pursue("b", "Think about 7", {"limits": {"seconds": 0.05}}), step("c", "write"))

        assert (outcome.status, outcome["c"].status) == ("failed", "done")
        assert outcome["b"].error is not None
        assert outcome["b"].error.message == "the run r/b/0/1 cancelled: it took more than 0.05 s"

    def test_an_answer_of_another_form_than_promised_fails_its_step(self, bench: Bench) -> None:
        bench.mischief["anything"] = [gives("seven"), gives(7)]
        find = playbook("Find key {n}", step("f", "anything", "inputs.n"), answer={"$": "f"})
        desk = bench.desk(playbooks=[find])
        whole: dict[str, object] = {"returns": {"type": "integer"}}

        outcome = run(desk, pursue("b", "Find key 1", whole), step("c", x="b"), answer={"$": "c"})
        assert (outcome.status, statuses(outcome)) == ("failed", {"b": "failed", "c": "blocked"})
        assert "'seven'" in said(outcome, "b") or '"seven"' in said(outcome, "b")

        desk.retry("r")
        assert resume(desk).answer == 7

    def test_a_sub_goal_is_pursued_once_for_each_item(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, pursue("b", "Tidy room", {"each": "[3, 1, 3]"}, n="item"), answer={"$": "b"})

        assert outcome.answer == [13, 11, 13]
        assert {head.run for head in desk.runs(parent="r")} == {"r/b/0/1", "r/b/1/1", "r/b/2/1"}
        assert sorted(x for _, x in bench.calls) == [1, 3, 3]

    def test_sub_goals_nest(self, bench: Bench) -> None:
        house = playbook("Clean house {n}", pursue("room", "Tidy room", n="inputs.n"), answer={"$": "room * 2"})
        desk = bench.desk(playbooks=[*BOOKS, house])

        outcome = run(desk, pursue("b", "Clean house 5"), answer={"$": "b"})

        assert outcome.answer == 30
        assert desk.show("r/b/0/1/room/0/1").answer == 15
        assert bench.calls == [("write", 5)]

    def test_a_sub_goal_that_is_not_wanted_has_no_run(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, pursue("b", "Tidy room 1", {"when": "false"}))

        assert (statuses(outcome), desk.runs(parent="r")) == ({"b": "skipped"}, [])

    def test_a_finished_run_with_children_is_not_driven_again(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=BOOKS)
        outcome = run(desk, pursue("b", "Tidy room 1"), answer={"$": "b"})

        assert resume(desk) == outcome == desk.show("r")
        assert bench.made("write") == 1


class TestFailures:
    def test_a_child_that_fails_fails_its_step_which_names_it(self, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no broom")]
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, pursue("b", "Tidy room 1"), step("c", x="b"))

        assert (outcome.status, statuses(outcome)) == ("failed", {"b": "failed", "c": "blocked"})
        assert said(outcome, "b") == "the run r/b/0/1 failed: ValueError: no broom"
        assert outcome["b"].attempts[0].error == outcome["b"].error

    def test_a_retry_pursues_the_goal_in_a_second_run(self, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no broom")]
        desk = bench.desk(playbooks=BOOKS)
        run(desk, pursue("b", "Tidy room 1"), answer={"$": "b"})

        desk.retry("r")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer) == ("done", 11)
        assert [attempt.tool for attempt in outcome["b"].attempts] == ["r/b/0/1", "r/b/0/2"]
        assert [desk.show(f"r/b/0/{n}").status for n in (1, 2)] == ["failed", "done"]

    def test_a_revision_finds_a_way_around_a_child_that_failed(self, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no broom")]
        around = {"replace": [pursue("b", "Post letter 8")]}
        revision = {"when": "failure.message.contains('no broom')", "because": "somebody else does it", "patch": around}
        house = playbook("Clean house", pursue("b", "Tidy room 1"), answer={"$": "b"}, revisions=[revision])
        desk = bench.desk(playbooks=[*BOOKS, house], approver=approve_all)

        outcome = desk.run_sync("Clean house", run_id="r")

        assert (outcome.status, outcome.answer) == ("done", 8)
        assert {head.run for head in desk.runs(parent="r")} == {"r/b/0/1", "r/b/0/2"}

    def test_a_revision_that_tries_the_same_goal_again_gets_a_new_run(self, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no broom")]
        again = {"replace": [pursue("b", "Tidy room 1", {"expect": ["output > 0"]})]}
        revision = {"when": "failure.step == 'b'", "because": "once more", "patch": again}
        house = playbook("Clean house", pursue("b", "Tidy room 1"), answer={"$": "b"}, revisions=[revision])
        desk = bench.desk(playbooks=[*BOOKS, house])

        outcome = desk.run_sync("Clean house", run_id="r")

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 11, 2)

    def test_a_child_revises_its_own_plan_and_its_parent_never_notices(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("dark")]
        around = {"replace": [step("t", "look_sync", "inputs.n")]}
        revision = {"when": "failure.step == 't'", "because": "another lamp", "patch": around}
        find = playbook("Find key {n}", step("t", "look", "inputs.n"), answer={"$": "t"}, revisions=[revision])
        desk = bench.desk(playbooks=[find])

        outcome = run(desk, pursue("b", "Find key 4"), answer={"$": "b"})

        assert (outcome.status, outcome.answer, len(outcome["b"].attempts)) == ("done", 4, 1)

    def test_a_sub_goal_that_may_be_skipped_disturbs_nobody(self, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no broom")]
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, pursue("b", "Tidy room 1", {"if_fails": "skip"}), step("c", after=["b"]))

        assert (outcome.status, statuses(outcome)) == ("done", {"b": "skipped", "c": "done"})

    def test_a_goal_that_nobody_can_plan_is_refused_with_the_plan(self, bench: Bench) -> None:
        with pytest.raises(PlanRejected, match="CH203"):
            run(bench.desk(playbooks=BOOKS), pursue("b", "Paint the ceiling"))

    def test_a_goal_that_nobody_can_plan_any_more_fails_its_step_and_can_be_retried(
        self, bench: Bench, tmp_path: Path
    ) -> None:
        desk = bench.desk(sqlite(tmp_path), playbooks=BOOKS)
        run(desk, step("a", "send", expect=["output > 0"]), pursue("b", "Tidy room", n="a"), answer={"$": "b"})
        desk.approve("r", "a")

        outcome = resume(bench.desk(sqlite(tmp_path)))

        assert (outcome.status, outcome["b"].status) == ("failed", "failed")
        assert "no playbook answers 'Tidy room'" in said(outcome, "b")

        desk.retry("r")
        assert resume(desk).answer == 11

    def test_inputs_that_a_playbook_refuses_fail_the_step(self, bench: Bench) -> None:
        picky = {**TIDY, "inputs": {"n": {"schema": {"type": "integer", "maximum": 2}}}, "answers": ["Tidy room"]}
        desk = bench.desk(playbooks=[picky])

        outcome = run(desk, step("a", x=3), pursue("b", "Tidy room", n="a"))

        assert (outcome.status, outcome["b"].status) == ("failed", "failed")
        assert outcome["b"].error is not None
        assert outcome["b"].error.kind == "invalid"
        assert bench.made("write") == 0

    def test_a_goal_that_leads_back_to_itself_ends_at_a_bounded_depth(self, bench: Bench) -> None:
        circle = playbook("Dig hole {n}", pursue("dig", "Dig hole", {"when": "inputs.n > 0"}, n="inputs.n + 1"))
        desk = bench.desk(playbooks=[circle])

        outcome = run(desk, pursue("b", "Dig hole 1"))

        assert outcome.status == "failed"
        assert "sub-goals nest more than 10 deep" in said(outcome, "b")
        assert len(desk.runs()) == 11

    def test_one_item_that_fails_does_not_leave_the_others_behind(self, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no broom")]
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, pursue("b", "Tidy room", {"each": "[1, 2, 3]"}, n="item"))

        assert outcome.status == "failed"
        assert all(head.status in ("done", "failed", "cancelled") for head in desk.runs())


class TestWaiting:
    def waiting(self, bench: Bench, journal: Any = ":memory:") -> Chargehand:
        desk = bench.desk(journal, playbooks=BOOKS)
        outcome = run(desk, pursue("b", "Post letter 6"), step("c"), step("d", x="b + c"), answer={"$": "d"})
        assert (outcome.status, statuses(outcome)) == ("waiting", {"b": "waiting", "c": "done", "d": "waiting"})
        return desk

    def test_a_child_that_waits_for_approval_parks_its_parent(self, bench: Bench) -> None:
        desk = self.waiting(bench)

        assert {head.run: head.status for head in desk.runs()} == {"r": "waiting", "r/b/0/1": "waiting"}
        assert (desk.show("r").status, resume(desk).status, bench.made("send")) == ("waiting", "waiting", 0)

    def test_an_answer_in_the_child_lets_its_parent_go_on(self, bench: Bench) -> None:
        desk = self.waiting(bench)

        desk.approve("r/b/0/1", "s")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("send")) == ("done", 7, 1)
        assert desk.show("r/b/0/1").status == "done"

    def test_a_child_that_another_process_finished_tells_its_parent_by_mail(self, bench: Bench, tmp_path: Path) -> None:
        desk = self.waiting(bench, sqlite(tmp_path))
        elsewhere = bench.desk(sqlite(tmp_path), playbooks=BOOKS)

        elsewhere.approve("r/b/0/1", "s")
        child = resume(elsewhere, "r/b/0/1")
        assert (child.status, desk.show("r").status) == ("done", "waiting")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("send")) == ("done", 7, 1)

    def test_a_child_that_is_denied_fails_its_step(self, bench: Bench) -> None:
        desk = self.waiting(bench)

        desk.deny("r/b/0/1", "s", because="too dear")
        outcome = resume(desk)

        assert (outcome.status, bench.made("send")) == ("failed", 0)
        assert said(outcome, "b") == "the run r/b/0/1 failed: it was not approved: too dear"

    def test_a_child_in_doubt_puts_its_parent_in_doubt_until_it_is_settled(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("no answer")]
        desk = bench.desk(playbooks=BOOKS)

        outcome = run(desk, pursue("b", "Tidy room 1"), answer={"$": "b"})
        assert (outcome.status, outcome["b"].status, desk.show("r").status) == ("in_doubt", "in_doubt", "in_doubt")
        assert {head.run: head.status for head in desk.runs()} == {"r": "in_doubt", "r/b/0/1": "in_doubt"}

        desk.settle("r/b/0/1", "t", happened=41)
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 51, 1)

    def test_a_grandchild_parks_all_above_it(self, bench: Bench) -> None:
        office = playbook("Run office {n}", pursue("p", "Post letter", n="inputs.n"), answer={"$": "p"})
        desk = bench.desk(playbooks=[*BOOKS, office])

        assert run(desk, pursue("b", "Run office 2"), answer={"$": "b"}).status == "waiting"
        desk.approve("r/b/0/1/p/0/1", "s")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("send")) == ("done", 2, 1)

    def test_a_step_that_a_person_did_instead_ends_its_child(self, bench: Bench) -> None:
        desk = self.waiting(bench)

        desk.supply("r", "b", 40)
        outcome = resume(desk)

        assert (outcome.status, outcome.answer) == ("done", 41)
        desk.approve("r/b/0/1", "s")
        assert (resume(desk, "r/b/0/1").status, bench.made("send")) == ("cancelled", 0)

    def test_nobody_waits_for_the_children_of_a_step_that_was_skipped(self, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no broom")]
        both = playbook(
            "Do {n}",
            pursue("t", "Tidy room 1", {"when": "inputs.n == 1"}),
            pursue("p", "Post letter 1", {"when": "inputs.n == 2"}),
        )
        desk = bench.desk(playbooks=[*BOOKS, both])

        outcome = run(desk, pursue("b", "Do", {"each": "[2, 1]", "if_fails": "skip"}, n="item"), step("c", after=["b"]))

        assert (outcome.status, statuses(outcome)) == ("done", {"b": "skipped", "c": "done"})
        assert desk.show("r/b/0/1").status == "cancelled"
