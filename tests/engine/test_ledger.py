"""The ledger: nothing is done twice, whoever tries again: an attempt, a revision, a child run or a fork."""

import asyncio
import time
from typing import Any

import pytest
from tests.engine.family import FamilyBench as Bench
from tests.engine.family import as_asked, history, keys, playbook, pursue
from tests.engine.sweeps import sweep
from tests.engine.workbench import plan, statuses, step

from chargehand import Chargehand, Outcome, approve_all, tool
from chargehand.adapters.memory import MemoryJournal
from chargehand.domain.events import CallFinished
from chargehand.domain.records import Recorded
from chargehand.errors import NotPerformed


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def journal() -> MemoryJournal:
    return MemoryJournal()


def resume(desk: Chargehand, run: str = "r") -> Outcome:
    return asyncio.run(asyncio.wait_for(desk.resume(run), 10))


def revising(failed: str, **patch: object) -> dict[str, object]:
    return {"when": f"failure.step == '{failed}'", "because": "another way", "patch": patch}


def reused(journal: MemoryJournal, run: str) -> list[str | None]:
    """For each result in a run, the run that it was taken from."""
    return [event.reused for event in history(journal, run) if isinstance(event, CallFinished)]


class TestAttempts:
    def test_an_effect_whose_check_failed_is_not_repeated_by_a_retry(
        self, bench: Bench, journal: MemoryJournal
    ) -> None:
        desk = bench.desk(journal)
        desk.run_sync(plan(step("a", "write", expect=["output > 5"])), run_id="r")

        desk.retry("r")
        outcome = resume(desk)

        assert (outcome.status, outcome["a"].status, bench.made("write")) == ("failed", "failed", 1)
        assert (len(outcome["a"].attempts), reused(journal, "r")) == (2, [None, "r"])

    def test_what_cannot_be_undone_is_neither_repeated_nor_asked_for_again(self, bench: Bench) -> None:
        asked: list[Any] = []

        def approver(request: Any) -> bool:
            asked.append(request)
            return True

        desk = bench.desk(approver=approver)
        desk.run_sync(plan(step("a", "send", expect=["output > 5"])), run_id="r")

        desk.retry("r")
        outcome = resume(desk)

        assert (outcome.status, bench.made("send"), len(asked)) == ("failed", 1, 1)

    def test_what_certainly_did_not_happen_may_be_tried_again(self, bench: Bench, journal: MemoryJournal) -> None:
        bench.mischief["write"] = [NotPerformed("closed")]
        desk = bench.desk(journal)
        desk.run_sync(plan(step("a", "write"), answer={"$": "a"}), run_id="r")

        desk.retry("r")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 1, 2)
        assert len(set(keys(journal, "r"))) == 1

    def test_every_try_has_the_same_key(self, bench: Bench, journal: MemoryJournal) -> None:
        bench.mischief["put"] = [TimeoutError("slow"), NotPerformed("closed")]

        bench.desk(journal).run_sync(plan(step("a", "put")), run_id="r")

        first, *others = keys(journal, "r")
        assert others == [first, first]

    def test_another_step_another_item_and_other_arguments_have_other_keys(
        self, bench: Bench, journal: MemoryJournal
    ) -> None:
        what = plan(step("a", "write"), step("b", "write"), step("c", "write", 2), step("d", "write", each="[7, 7, 8]"))

        outcome = bench.desk(journal).run_sync(what, run_id="r")

        assert (outcome.status, bench.made("write")) == ("done", 6)
        assert len(set(keys(journal, "r"))) == 6

    def test_a_stand_in_does_not_repeat_what_the_tool_that_it_stands_in_for_did(self, bench: Bench) -> None:
        @tool(effect="write", instead_of="write", egress=[])
        async def write_elsewhere(x: int) -> int:
            """Stands in for write."""
            return bench.act("write_elsewhere", x)

        desk = Chargehand(tools=[*bench.tools(), write_elsewhere], clock=bench.clock)
        desk.run_sync(plan(step("a", "write", 7, expect=["output > 10"])), run_id="r")
        bench.mischief["write"] = [ConnectionRefusedError("down")] * 5
        desk.run_sync(plan(*(step(f"s{n}", "write", n, if_fails="skip") for n in range(5))))

        desk.retry("r")
        outcome = resume(desk)

        assert outcome["a"].attempts[-1].tool == "write_elsewhere"  # the other one is benched
        assert ("write_elsewhere", 7) not in bench.calls


class TestPlans:
    def test_two_steps_of_one_plan_may_do_the_same(self, bench: Bench) -> None:
        what = plan(step("a", "write"), step("b", "write"), step("c", "write", after=["a", "b"]))

        outcome = bench.desk().run_sync(what)

        assert (outcome.status, bench.made("write")) == ("done", 3)

    def test_a_revision_under_another_id_does_not_repeat_a_finished_effect(
        self, bench: Bench, journal: MemoryJournal
    ) -> None:
        around = revising("a", drop=["a"], add=[step("b", "write", expect=["output > 0"])], answer={"$": "b"})
        book = playbook("Try", step("a", "write", expect=["output > 5"]), answer={"$": "a"}, revisions=[around])

        outcome = bench.desk(journal, playbooks=[book]).run_sync("Try", run_id="r")

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 1, 1)
        assert reused(journal, "r") == [None, "r"]

    def test_a_revision_with_other_checks_does_not_repeat_a_finished_effect(self, bench: Bench) -> None:
        around = revising("a", replace=[step("a", "write", expect=["output > 0"])])
        book = playbook("Try", step("a", "write", expect=["output > 5"]), answer={"$": "a"}, revisions=[around])

        outcome = bench.desk(playbooks=[book]).run_sync("Try")

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 1, 1)

    def test_a_revision_with_other_arguments_is_another_effect(self, bench: Bench) -> None:
        around = revising("a", replace=[step("a", "write", 9)])
        book = playbook("Try", step("a", "write", expect=["output > 5"]), answer={"$": "a"}, revisions=[around])

        outcome = bench.desk(playbooks=[book]).run_sync("Try")

        assert (outcome.answer, bench.calls) == (9, [("write", 1), ("write", 9)])

    def test_one_effect_is_taken_over_by_one_step_only(self, bench: Bench) -> None:
        """The dropped step did it once, and the revised plan does it twice: once more is missing."""
        new = [step("b", "write"), step("c", "write", after=["b"])]
        around = revising("a", drop=["a"], add=new, answer={"$": "b + c"})
        book = playbook("Try", step("a", "write", expect=["output > 5"]), answer={"$": "a"}, revisions=[around])

        outcome = bench.desk(playbooks=[book]).run_sync("Try")

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 2, 2)

    def test_items_are_known_by_their_value_not_by_their_place(self, bench: Bench, journal: MemoryJournal) -> None:
        first = step("a", "write", "item", each="[1, 2, 2]", expect=["output != 1"])
        around = revising("a", replace=[step("a", "write", "item", each="[2, 3, 2, 1, 2]")])
        book = playbook("Try", first, answer={"$": "a"}, revisions=[around])

        outcome = bench.desk(journal, playbooks=[book]).run_sync("Try", run_id="r")

        assert outcome.answer == [2, 3, 2, 1, 2]
        assert bench.calls == [("write", x) for x in (1, 2, 2, 3, 2)]
        assert reused(journal, "r").count("r") == 3

    def test_a_retry_of_some_items_leaves_the_others_alone(self, bench: Bench) -> None:
        bench.mischief["write"] = [as_asked, NotPerformed("closed")]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "write", "item", each="[5, 6, 7]"), answer={"$": "a"}), run_id="r")

        desk.retry("r")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer) == ("done", [5, 6, 7])
        assert sorted(bench.calls) == [("write", 5), ("write", 6), ("write", 6), ("write", 7)]


class TestChildren:
    ERRAND = playbook("Run errand {n}", step("w", "write", "inputs.n"), step("l", x="w"), answer={"$": "l"})

    def test_a_second_attempt_at_a_sub_goal_does_not_repeat_what_the_first_did(
        self, bench: Bench, journal: MemoryJournal
    ) -> None:
        bench.mischief["look"] = [ValueError("dark")]
        desk = bench.desk(journal, playbooks=[self.ERRAND])
        desk.run_sync(plan(pursue("b", "Run errand 4"), answer={"$": "b"}), run_id="r")

        desk.retry("r")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 4, 1)
        assert reused(journal, "r/b/0/2") == ["r/b/0/1", None]
        assert keys(journal, "r/b/0/1") == keys(journal, "r/b/0/2")

    def test_a_grandchild_of_a_second_attempt_does_not_either(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("dark")]
        outer = playbook("Send boy {n}", pursue("e", "Run errand", n="inputs.n"), answer={"$": "e"})
        desk = bench.desk(playbooks=[self.ERRAND, outer])
        desk.run_sync(plan(pursue("b", "Send boy 4"), answer={"$": "b"}), run_id="r")

        desk.retry("r")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 4, 1)

    def test_a_step_in_place_of_a_sub_goal_does_not_repeat_what_that_did(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("dark")]
        around = revising("b", drop=["b"], add=[step("c", "write", 4)], answer={"$": "c"})
        book = playbook("Try", pursue("b", "Run errand 4"), answer={"$": "b"}, revisions=[around])

        outcome = bench.desk(playbooks=[self.ERRAND, book]).run_sync("Try")

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 4, 1)

    def test_two_steps_may_pursue_the_same_goal_and_both_act(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=[self.ERRAND])

        outcome = desk.run_sync(plan(pursue("b", "Run errand 4"), pursue("c", "Run errand 4", {"after": ["b"]})))

        assert (outcome.status, bench.made("write")) == ("done", 2)

    def test_items_may_pursue_the_same_goal_and_all_act(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=[self.ERRAND])

        outcome = desk.run_sync(plan(pursue("b", "Run errand", {"each": "[4, 4]"}, n="item")))

        assert (outcome.status, bench.made("write")) == ("done", 2)

    def test_a_parent_does_not_take_over_what_its_child_is_meant_to_do(self, bench: Bench) -> None:
        desk = bench.desk(playbooks=[self.ERRAND])

        outcome = desk.run_sync(plan(pursue("b", "Run errand 4"), step("c", "write", 4, after=["b"])))

        assert (outcome.status, bench.made("write")) == ("done", 2)

    def test_items_of_a_sub_goal_are_known_by_their_value_not_by_their_place(self, bench: Bench) -> None:
        first = pursue("b", "Run errand", {"each": "[1, 2]", "expect": ["output != 1"]}, n="item")
        around = revising("b", replace=[pursue("b", "Run errand", {"each": "[2, 1]"}, n="item")])
        book = playbook("Try", first, answer={"$": "b"}, revisions=[around])

        outcome = bench.desk(playbooks=[self.ERRAND, book]).run_sync("Try")

        assert (outcome.status, outcome.answer) == ("done", [2, 1])
        assert sorted(call for call in bench.effects) == [("write", 1), ("write", 2)]

    def test_a_child_that_was_taken_to_another_journal_goes_on_without_its_parent(self, bench: Bench) -> None:
        twice = playbook(
            "Send twice {n}",
            step("s", "send", "inputs.n", expect=["output > 0"]),
            step("t", "send", "inputs.n", after=["s"], expect=["output > 0"]),
        )
        desk = bench.desk(playbooks=[twice])
        desk.run_sync(plan(pursue("b", "Send twice 4")), run_id="r")

        elsewhere = bench.desk(playbooks=[twice], approver=approve_all)
        elsewhere.import_(desk.export("r/b/0/1"))
        outcome = resume(elsewhere, "r/b/0/1")

        assert (outcome.status, bench.made("send")) == ("done", 2)


class CountingJournal:
    """Passes everything on to another journal, and counts the events that are read."""

    def __init__(self, journal: MemoryJournal) -> None:
        self._journal, self.events_read = journal, 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._journal, name)

    def read(self, run: str, after: int = 0, limit: int | None = None) -> list[Recorded]:
        events = self._journal.read(run, after, limit)
        self.events_read += len(events)
        return events


def test_a_large_family_is_not_read_over_and_over(bench: Bench, journal: MemoryJournal) -> None:
    """Each of forty children does the same, and looks whether another one did."""
    counting = CountingJournal(journal)
    tell = playbook("Tell {n}", step("t", "write", 7))
    desk = bench.desk(counting, playbooks=[tell])

    desk.run_sync(plan(pursue("b", "Tell", {"each": f"[{', '.join(map(str, range(40)))}]"}, n="item")))

    recorded = sum(head.seq for head in desk.runs())
    assert (bench.made("write"), counting.events_read < 10 * recorded) == (40, True)


class TestDoubts:
    ERRAND = playbook("Run errand {n}", step("w", "write", "inputs.n"), answer={"$": "w"})

    def stopped(self, bench: Bench) -> Chargehand:
        """A first attempt is in doubt and was given up; the second one finds it."""
        bench.mischief["write"] = [TimeoutError("slow")]
        desk = bench.desk(playbooks=[self.ERRAND])
        desk.run_sync(plan(pursue("b", "Run errand 4"), answer={"$": "b"}), run_id="r")
        desk.settle("r/b/0/1", "w", stop=True)
        assert resume(desk).status == "failed"
        desk.retry("r")
        return desk

    def test_what_is_in_doubt_elsewhere_in_the_family_is_in_doubt_here_and_not_called(self, bench: Bench) -> None:
        desk = self.stopped(bench)

        outcome = resume(desk)

        assert (outcome.status, desk.show("r/b/0/2").status, bench.made("write")) == ("in_doubt", "in_doubt", 1)
        error = desk.show("r/b/0/2")["w"].error
        assert error is not None
        assert "step w of run r/b/0/1 began the same" in error.message

    def test_a_person_says_once_that_it_happened(self, bench: Bench) -> None:
        desk = self.stopped(bench)
        resume(desk)

        desk.settle("r/b/0/2", "w", happened=44)
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 44, 1)

    def test_a_person_says_once_that_it_did_not_happen(self, bench: Bench) -> None:
        desk = self.stopped(bench)
        resume(desk)

        desk.settle("r/b/0/2", "w", did_not_happen=True)
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 4, 2)

    def test_a_revision_around_a_doubt_that_was_given_up_is_in_doubt_too(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("slow")]
        errand = {
            **self.ERRAND,
            "revisions": [revising("w", drop=["w"], add=[step("v", "write", 4)], answer={"$": "v"})],
        }
        desk = bench.desk(playbooks=[errand])
        desk.run_sync("Run errand 4", run_id="r")

        desk.settle("r", "w", stop=True)
        outcome = resume(desk)

        assert outcome.status in ("failed", "in_doubt")
        assert bench.made("write") == 1


class TestCrashes:
    def books(self) -> list[dict[str, object]]:
        """A sub-goal that fails after its effect, and a revision that does the same under another name."""
        errand = playbook("Run errand {n}", step("w", "write", "inputs.n"), step("l", x="1 / (w - w)"))
        around = revising("b", drop=["b"], add=[step("c", "write", 4), step("d", "write", 4)], answer={"$": "c + d"})
        book = playbook("Try", pursue("b", "Run errand 4"), answer={"$": "b"}, revisions=[around])
        return [errand, book]

    async def act(self, desk: Chargehand) -> Outcome:
        return await desk.run("Try", run_id="r")

    def test_killed_at_any_write_what_was_done_before_is_reused_once(self) -> None:
        ways = 0
        for one in sweep(self.act, playbooks=self.books()):
            ways += 1
            assert one.outcome.status in ("done", "in_doubt"), (one.at, one.outcome)
            assert one.bench.made("write") <= 2, one.at
            if one.outcome.status == "done":
                assert (one.outcome.answer, one.bench.made("write")) == (8, 2), one.at
                assert statuses(one.outcome) == {"c": "done", "d": "done"}
        assert ways > 10


@pytest.mark.slow
def test_the_same_action_thousands_of_times_does_not_take_longer_each_time() -> None:
    bench = Bench()

    def ones(asked: object) -> list[int]:
        return [1] * 3000

    bench.mischief["anything"] = [ones]
    what = plan(step("n", "anything"), step("a", "write", 1, each="n"))

    began = time.perf_counter()
    outcome = bench.desk().run_sync(what)

    assert (outcome.status, bench.made("write")) == ("done", 3000)
    assert time.perf_counter() - began < 20  # some 2 s; quadratic, it was a minute
