"""Forks: a new run from an old one, at a step. What was finished is kept, and no effect is repeated."""

import asyncio
from typing import Any

import pytest
from tests.engine.family import FamilyBench as Bench
from tests.engine.family import as_asked, gives, history, keys, playbook, pursue, ten_more
from tests.engine.sweeps import sweep
from tests.engine.workbench import plan, statuses, step

from chargehand import Chargehand, Outcome, PlanRejected, approve_all, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.domain.events import CallFinished
from chargehand.errors import RequestRefused, RunUnknown, StepUnknown

CHAIN = plan(
    step("a", x=2),
    step("b", "write", "a + 1"),
    step("c", x="b + 1"),
    step("d", "write", "c + 1"),
    answer={"$": "[a, b, c, d]"},
)


@pytest.fixture
def bench() -> Bench:
    return Bench()


@pytest.fixture
def journal() -> MemoryJournal:
    return MemoryJournal()


def resume(desk: Chargehand, run: str = "r") -> Outcome:
    return asyncio.run(asyncio.wait_for(desk.resume(run), 10))


def fork(desk: Chargehand, at: str, run: str = "r") -> str:
    return asyncio.run(desk.fork(run, at=at))


def reused(journal: MemoryJournal, run: str) -> list[str | None]:
    """For each result in a run, the run that it was taken from."""
    return [event.reused for event in history(journal, run) if isinstance(event, CallFinished)]


class TestKeeping:
    def test_a_fork_is_a_new_run_and_leaves_the_old_one_alone(self, bench: Bench) -> None:
        desk = bench.desk()
        before = desk.run_sync(CHAIN, run_id="r")

        new = fork(desk, "c")

        assert new != "r"
        assert statuses(desk.show(new)) == {"a": "done", "b": "done", "c": "waiting", "d": "waiting"}
        assert (desk.show("r"), len(bench.calls)) == (before, 4)

    def test_what_was_finished_before_the_step_does_not_run_again(self, bench: Bench, journal: MemoryJournal) -> None:
        desk = bench.desk(journal)
        before = desk.run_sync(CHAIN, run_id="r")
        bench.calls.clear()

        new = fork(desk, "c")
        outcome = resume(desk, new)

        assert (outcome.status, outcome.answer) == ("done", before.answer)
        assert bench.calls == [("look", 4)]
        assert reused(journal, new) == [None, "r"]

    def test_what_does_not_come_from_the_step_is_kept_too(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", x=1), step("b", x=2), step("c", x="a + b"), answer={"$": "c"}), run_id="r")
        bench.calls.clear()

        outcome = resume(desk, fork(desk, "a"))

        assert (outcome.answer, bench.calls) == (3, [("look", 1), ("look", 3)])

    def test_an_effect_happens_anew_if_its_arguments_change(self, bench: Bench, journal: MemoryJournal) -> None:
        desk = bench.desk(journal)
        desk.run_sync(CHAIN, run_id="r")
        bench.calls.clear()
        bench.mischief["look"] = [ten_more]

        new = fork(desk, "c")
        outcome = resume(desk, new)

        assert (outcome.answer, bench.calls) == ([2, 3, 14, 15], [("look", 4), ("write", 15)])
        assert set(keys(journal, "r")).isdisjoint(keys(journal, new))

    def test_an_effect_that_is_reused_has_the_key_of_its_ancestor(self, bench: Bench, journal: MemoryJournal) -> None:
        desk = bench.desk(journal)
        desk.run_sync(CHAIN, run_id="r")

        new = fork(desk, "a")
        resume(desk, new)

        assert keys(journal, new) == keys(journal, "r")
        assert reused(journal, new) == [None, "r", None, "r"]
        assert bench.made("write") == 2

    def test_lists_and_skipped_steps_are_kept(self, bench: Bench) -> None:
        desk = bench.desk()
        what = plan(
            step("a", x="item * 2", each="[1, 2]"),
            step("b", when="false"),
            step("c", x="b"),
            step("e", "anything", if_fails="skip"),
            step("z", x="a[1]", after=["b", "c", "e"]),
            answer={"$": "[a[0], z]"},
        )
        bench.mischief["anything"] = [ValueError("no")]
        desk.run_sync(what, run_id="r")
        bench.calls.clear()

        outcome = resume(desk, fork(desk, "z"))

        assert (outcome.status, outcome.answer, bench.calls) == ("done", [2, 4], [("look", 4)])
        assert statuses(outcome) == {"a": "done", "b": "skipped", "c": "skipped", "e": "skipped", "z": "done"}

    def test_an_empty_list_is_kept(self, bench: Bench) -> None:
        desk = bench.desk()
        what = plan(step("a", x="item", each="[1].filter(n, n > 5)"), step("z", after=["a"]), answer={"$": "a"})
        desk.run_sync(what, run_id="r")

        assert resume(desk, fork(desk, "z")).answer == []

    def test_large_results_are_kept(self, bench: Bench) -> None:
        large = ["x" * 100] * 1000
        bench.mischief["anything"] = [gives(large)]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "anything"), step("z", after=["a"]), answer={"$": "a"}), run_id="r")

        assert resume(desk, fork(desk, "z")).answer == large

    def test_a_sub_goal_is_kept_and_its_run_is_not_repeated(self, bench: Bench) -> None:
        tidy = playbook("Tidy room {n}", step("t", "write", "inputs.n"), answer={"$": "t"})
        desk = bench.desk(playbooks=[tidy])
        desk.run_sync(plan(pursue("b", "Tidy room 3"), step("z", x="b"), answer={"$": "z"}), run_id="r")

        new = fork(desk, "z")
        outcome = resume(desk, new)

        assert (outcome.answer, bench.made("write"), desk.runs(parent=new)) == (3, 1, [])

    def test_a_sub_goal_that_is_pursued_again_repeats_nothing(self, bench: Bench, journal: MemoryJournal) -> None:
        tidy = playbook("Tidy room {n}", step("t", "write", "inputs.n"), step("l", x="t"), answer={"$": "l"})
        desk = bench.desk(journal, playbooks=[tidy])
        desk.run_sync(plan(pursue("b", "Tidy room 3"), answer={"$": "b"}), run_id="r")

        new = fork(desk, "b")
        outcome = resume(desk, new)

        assert (outcome.answer, bench.made("write"), bench.made("look")) == (3, 1, 2)
        assert keys(journal, f"{new}/b/0/1") == keys(journal, "r/b/0/1")

    def test_a_child_run_can_be_forked_and_its_parent_does_not_notice(
        self, bench: Bench, journal: MemoryJournal
    ) -> None:
        tidy = playbook("Tidy room {n}", step("t", "write", "inputs.n"), step("l", x="t"), answer={"$": "l"})
        desk = bench.desk(journal, playbooks=[tidy])
        before = desk.run_sync(plan(pursue("b", "Tidy room 3"), answer={"$": "b"}), run_id="r")

        new = fork(desk, "t", "r/b/0/1")
        outcome = resume(desk, new)

        assert ("/" in new, outcome.answer, bench.made("write"), bench.made("look")) == (False, 3, 1, 2)
        assert keys(journal, new) == keys(journal, "r/b/0/1")
        assert resume(desk) == before

    def test_the_inputs_and_the_goal_are_kept(self, bench: Bench) -> None:
        tidy = playbook("Tidy room {n}", step("t", "write", "inputs.n"), answer={"$": "inputs.n + t"})
        desk = bench.desk(playbooks=[tidy])
        desk.run_sync("Tidy room 3", run_id="r")

        new = fork(desk, "t")

        assert resume(desk, new).answer == 6
        assert {head.run: (head.goal, head.origin) for head in desk.runs()}[new] == ("Tidy room 3", "r")

    def test_a_fork_of_a_fork_keeps_what_both_finished(self, bench: Bench, journal: MemoryJournal) -> None:
        desk = bench.desk(journal)
        desk.run_sync(CHAIN, run_id="r")
        second = fork(desk, "c")
        resume(desk, second)
        bench.calls.clear()

        third = fork(desk, "b", second)
        outcome = resume(desk, third)

        assert (outcome.answer, bench.calls) == ([2, 3, 4, 5], [("look", 4)])
        assert keys(journal, third) == keys(journal, "r")

    def test_two_forks_share_what_one_of_them_did(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(CHAIN, run_id="r")
        bench.mischief["look"] = [ten_more, ten_more]
        first, second = fork(desk, "c"), fork(desk, "c")

        answers = [resume(desk, first).answer, resume(desk, second).answer]

        assert answers == [[2, 3, 14, 15]] * 2
        assert bench.effects == [("write", 3), ("write", 5), ("write", 15)]


class TestStates:
    def test_a_failed_run_goes_on_from_the_step_that_failed(self, bench: Bench) -> None:
        bench.mischief["look"] = [as_asked, ValueError("dark")]
        desk = bench.desk()
        assert desk.run_sync(CHAIN, run_id="r").status == "failed"

        outcome = resume(desk, fork(desk, "c"))

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", [2, 3, 4, 5], 2)
        assert desk.show("r").status == "failed"

    def test_a_fork_before_the_failure_takes_it_up_as_well(self, bench: Bench) -> None:
        bench.mischief["look"] = [as_asked, ValueError("dark")]
        desk = bench.desk()
        desk.run_sync(CHAIN, run_id="r")

        outcome = resume(desk, fork(desk, "d"))

        assert (outcome.status, outcome.answer) == ("done", [2, 3, 4, 5])

    def test_an_effect_whose_check_failed_is_reused_by_the_fork(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "write", expect=["output > 5"])), run_id="r")

        outcome = resume(desk, fork(desk, "a"))

        assert (outcome.status, bench.made("write")) == ("failed", 1)

    def test_the_approval_of_the_ancestor_does_not_count_for_the_fork(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "send", expect=["output > 0"]), answer={"$": "a"}), run_id="r")
        hash = desk.show("r")["a"].requests[0]["hash"]
        desk.approve("r", "a")

        new = fork(desk, "a")
        assert (resume(desk, new).status, bench.made("send")) == ("waiting", 0)
        with pytest.raises(RequestRefused, match="not what would be done now"):
            desk.approve(new, "a", hash=hash)

    def test_of_a_run_and_its_fork_one_acts(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "send", expect=["output > 0"]), answer={"$": "a"}), run_id="r")
        new = fork(desk, "a")
        resume(desk, new)

        desk.approve(new, "a")
        desk.approve("r", "a")
        outcomes = resume(desk, new), resume(desk)

        assert [(one.status, one.answer) for one in outcomes] == [("done", 1)] * 2
        assert bench.made("send") == 1

    def test_a_cancelled_run_goes_on_in_its_fork(self, bench: Bench) -> None:
        desk = bench.desk()
        what = plan(step("a", "write", 4), step("b", "send", "a", expect=["output > 0"]), answer={"$": "b"})
        desk.run_sync(what, run_id="r")
        desk.cancel("r")
        assert resume(desk).status == "cancelled"

        new = fork(desk, "b")
        assert resume(desk, new).status == "waiting"
        desk.approve(new, "b")

        assert (resume(desk, new).answer, bench.effects) == (4, [("write", 4), ("send", 4)])

    def test_what_is_in_doubt_in_the_ancestor_is_in_doubt_in_the_fork(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("slow")]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "write"), answer={"$": "a"}), run_id="r")

        new = fork(desk, "a")
        outcome = resume(desk, new)

        assert (outcome.status, outcome["a"].status, bench.made("write")) == ("in_doubt", "in_doubt", 1)

    @pytest.mark.parametrize(("said", "answer", "calls"), [({"happened": 7}, 7, 1), ({"did_not_happen": True}, 1, 2)])
    def test_a_doubt_can_be_settled_in_the_fork(self, bench: Bench, said: Any, answer: int, calls: int) -> None:
        bench.mischief["write"] = [TimeoutError("slow")]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "write"), answer={"$": "a"}), run_id="r")
        new = fork(desk, "a")
        resume(desk, new)

        desk.settle(new, "a", **said)
        outcome = resume(desk, new)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", answer, calls)

    def test_what_the_fork_did_settles_the_doubt_of_its_ancestor(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("slow"), gives(8)]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "write"), answer={"$": "a"}), run_id="r")
        new = fork(desk, "a")
        resume(desk, new)
        desk.settle(new, "a", did_not_happen=True)
        assert resume(desk, new).answer == 8

        desk.settle("r", "a", did_not_happen=True)
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 8, 2)

    def test_a_fork_does_not_act_while_its_ancestor_does(self, bench: Bench) -> None:
        made = list[str]()

        @tool(effect="write", egress=[])
        async def slow(x: int) -> int:
            """Writes, and lets a fork try meanwhile."""
            new = await desk.fork("r", at="a")
            made.append((await desk.resume(new)).status)
            return x

        desk = Chargehand(tools=[slow], clock=bench.clock)

        outcome = asyncio.run(asyncio.wait_for(desk.run(plan(step("a", "slow")), run_id="r"), 10))

        assert (outcome.status, made) == ("done", ["in_doubt"])


class TestRefusals:
    def test_an_unknown_step_is_named_with_its_nearest_neighbour(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("first"), step("second")), run_id="r")

        with pytest.raises(StepUnknown, match="has no step 'secnd'") as refused:
            fork(desk, "secnd")

        assert (refused.value.step, refused.value.run) == ("secnd", "r")
        assert "Did you mean 'second'?" in refused.value.hint
        assert len(desk.runs()) == 1

    def test_an_unknown_run_cannot_be_forked(self, bench: Bench) -> None:
        with pytest.raises(RunUnknown):
            fork(bench.desk(), "a", "nobody")

    def test_a_step_that_took_something_back_is_no_place_for_a_fork(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "hold")), run_id="r")
        desk.undo("r")
        resume(desk)

        with pytest.raises(StepUnknown):
            fork(desk, "undo_a")


class TestChangedTools:
    def desk(self, bench: Bench, store: MemoryStore, write: Any) -> Chargehand:
        made = tool(effect="irreversible", name="mail", egress=[])(write)
        return Chargehand(tools=[*bench.tools(), made], journal=MemoryJournal(store), clock=bench.clock)

    def waiting(self, bench: Bench, store: MemoryStore) -> Chargehand:
        async def mail(x: int) -> int:
            return bench.act("mail", x)

        desk = self.desk(bench, store, mail)
        desk.run_sync(plan(step("a"), step("b", "mail", "a", expect=["output > 0"]), answer={"$": "b"}), run_id="r")
        desk.approve("r", "b")
        return desk

    def test_a_tool_that_changed_holds_its_run_and_not_a_fork(self, bench: Bench) -> None:
        async def mail(x: int, note: str = "") -> int:
            return bench.act("mail", (x, note)) and x

        store = MemoryStore()
        self.waiting(bench, store)
        desk = self.desk(bench, store, mail)

        held = resume(desk)
        assert (held.status, held["b"].error is not None, bench.made("mail")) == ("waiting", True, 0)
        new = fork(desk, "b")
        assert resume(desk, new).status == "waiting"
        desk.approve(new, "b")

        assert (resume(desk, new).answer, bench.calls[-1]) == (1, ("mail", (1, "")))

    def test_a_plan_that_the_changed_tool_no_longer_fits_is_refused(self, bench: Bench) -> None:
        async def mail(x: int, to: str) -> int:
            return x

        store = MemoryStore()
        self.waiting(bench, store)
        desk = self.desk(bench, store, mail)

        with pytest.raises(PlanRejected, match="CH204"):
            fork(desk, "b")
        assert len(desk.runs()) == 1


class TestTakenBack:
    HOLDS = plan(
        step("a", "hold", 1), step("b", "hold", 2, after=["a"]), step("c", x="a.ref + b.ref"), answer={"$": "c"}
    )

    def test_undoing_a_fork_leaves_what_its_ancestor_did(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(self.HOLDS, run_id="r")
        new = fork(desk, "b")
        resume(desk, new)

        with pytest.raises(RequestRefused, match="nothing that could be undone"):
            desk.undo(fork(desk, "c"))
        desk.undo(new)
        outcome = resume(desk, new)

        assert (outcome.status, bench.made("hold"), bench.made("release")) == ("cancelled", 2, 0)

    def test_undoing_a_fork_takes_back_what_it_did_itself(self, bench: Bench) -> None:
        desk = bench.desk()
        what = plan(step("n", x=5), step("a", "hold", "n"), answer={"$": "a.ref"})
        desk.run_sync(what, run_id="r")
        bench.mischief["look"] = [gives(6)]
        new = fork(desk, "n")
        assert resume(desk, new).answer == 106

        desk.undo(new)
        resume(desk, new)

        assert bench.effects == [("hold", 5), ("hold", 6), ("release", (106, 6))]

    def test_what_was_undone_is_done_again_by_a_fork_with_another_key(
        self, bench: Bench, journal: MemoryJournal
    ) -> None:
        desk = bench.desk(journal)
        desk.run_sync(plan(step("a", "hold"), answer={"$": "a.ref"}), run_id="r")
        desk.undo("r")
        resume(desk)

        new = fork(desk, "a")
        outcome = resume(desk, new)

        assert (outcome.status, outcome.answer, bench.made("hold")) == ("done", 101, 2)
        assert keys(journal, new)[0] not in keys(journal, "r")

    def test_what_a_fork_did_again_can_be_undone_again(self, bench: Bench, journal: MemoryJournal) -> None:
        desk = bench.desk(journal)
        desk.run_sync(plan(step("a", "hold"), answer={"$": "a.ref"}), run_id="r")
        desk.undo("r")
        resume(desk)
        new = fork(desk, "a")
        resume(desk, new)

        desk.undo(new)
        outcome = resume(desk, new)

        assert (outcome.status, bench.made("hold"), bench.made("release")) == ("cancelled", 2, 2)
        third = fork(desk, "a", new)
        assert resume(desk, third).status == "done"
        assert bench.made("hold") == 3
        assert len({*keys(journal, "r"), *keys(journal, new), *keys(journal, third)}) == 5

    def test_a_fork_does_not_keep_what_was_undone(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(self.HOLDS, run_id="r")
        desk.undo("r")
        resume(desk)
        bench.calls.clear()

        outcome = resume(desk, fork(desk, "c"))

        assert (outcome.status, outcome.answer) == ("done", 203)
        assert bench.calls == [("hold", 1), ("hold", 2), ("look", 203)]

    def test_a_fork_does_not_keep_a_sub_goal_that_was_undone(self, bench: Bench) -> None:
        book = playbook("Reserve {n}", step("h", "hold", "inputs.n"), answer={"$": "h.ref"})
        desk = bench.desk(playbooks=[book])
        desk.run_sync(plan(pursue("b", "Reserve 3"), step("z", x="b"), answer={"$": "z"}), run_id="r")
        desk.undo("r")
        assert resume(desk).status == "cancelled"

        outcome = resume(desk, fork(desk, "z"))

        assert (outcome.answer, bench.effects) == (103, [("hold", 3), ("release", (103, 3)), ("hold", 3)])


def test_a_fork_killed_at_any_write_does_each_effect_once_or_is_in_doubt() -> None:
    names: list[str] = []

    async def begin(desk: Chargehand) -> Outcome:
        outcome = await desk.run(CHAIN, run_id="r")
        names.append(await desk.fork("r", at="a"))
        return outcome

    async def go_on(desk: Chargehand) -> Outcome:
        return await desk.resume(names[-1])

    for one in sweep(go_on, before=begin):
        assert one.outcome.status in ("done", "in_doubt"), (one.at, one.outcome)
        assert one.bench.effects == [("write", 3), ("write", 5)], one.at


def test_a_fork_is_approved_and_done_like_any_run(bench: Bench) -> None:
    desk = bench.desk(approver=approve_all)
    desk.run_sync(plan(step("a", "send", expect=["output > 0"]), answer={"$": "a"}), run_id="r")

    outcome = resume(desk, fork(desk, "a"))

    assert (outcome.status, outcome.answer, bench.made("send")) == ("done", 1, 1)
