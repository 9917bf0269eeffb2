"""A step that failed, and a run that is closing: nothing of them begins any more, whatever was asked before."""

import asyncio
from typing import Any

import pytest
from tests.engine.family import FamilyBench as Bench
from tests.engine.family import playbook, said
from tests.engine.workbench import plan, statuses, step

from chargehand import Chargehand, Outcome, tool
from chargehand.errors import NotPerformed, RequestRefused


@pytest.fixture
def bench() -> Bench:
    return Bench()


def resume(desk: Chargehand, run: str = "r") -> Outcome:
    return asyncio.run(asyncio.wait_for(desk.resume(run), 10))


class TestRequests:
    def test_an_approval_that_comes_when_all_is_lost_is_refused(self, bench: Bench) -> None:
        bench.mischief = {"write": [TimeoutError("slow")], "look": [ValueError("dark")]}
        desk = bench.desk()
        what = plan(step("a", "send", expect=["output > 0"]), step("b", "write"), step("c"))
        assert desk.run_sync(what, run_id="r").status == "in_doubt"

        with pytest.raises(RequestRefused, match="does not wait for approval"):
            desk.approve("r", "a")
        desk.settle("r", "b", happened=1)

        assert (resume(desk).status, bench.made("send")) == ("failed", 0)

    def test_an_approval_that_was_on_its_way_when_the_run_was_cancelled_lets_nothing_begin(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("slow")]
        desk = bench.desk()
        desk.run_sync(plan(step("a", "send", expect=["output > 0"]), step("b", "write")), run_id="r")

        desk.cancel("r")
        desk.approve("r", "a")
        assert resume(desk).status == "in_doubt"
        desk.settle("r", "b", happened=1)

        assert (resume(desk).status, bench.made("send")) == ("cancelled", 0)

    def test_an_approver_who_says_yes_after_the_run_was_cancelled_lets_nothing_begin(self, bench: Bench) -> None:
        async def approver(request: Any) -> bool:
            desk.cancel("r")
            await asyncio.sleep(0.02)
            return True

        desk = bench.desk(approver=approver)

        outcome = desk.run_sync(plan(step("a", "send", expect=["output > 0"])), run_id="r")

        assert (outcome.status, bench.made("send")) == ("cancelled", 0)

    def test_an_approver_may_answer_when_the_step_is_no_longer_there(self, bench: Bench) -> None:
        """One item fails while another is shown to the approver, and a revision drops the step."""
        answered = asyncio.Event()

        async def approver(request: Any) -> bool:
            await asyncio.sleep(0.02)
            answered.set()
            return True

        @tool(effect="read", egress=[])
        async def wait(x: int) -> int:
            """Waits for the approver."""
            await answered.wait()
            return x

        around: dict[str, object] = {"add": [step("b", "wait")], "drop": ["a"], "answer": {"$": "b"}}
        revision = {"when": "failure.step == 'a'", "because": "never mind", "patch": around}
        a = step("a", "send", "10 / item", each="[5, 0]", expect=["output > 0"])
        book = playbook("Post", a, answer={"$": "a"}, revisions=[revision])
        desk = Chargehand(tools=[*bench.tools(), wait], playbooks=[book], clock=bench.clock, approver=approver)

        outcome = desk.run_sync("Post", run_id="r")

        assert (outcome.status, outcome.answer, bench.made("send")) == ("done", 1, 0)


class TestEnds:
    def test_an_effect_that_became_possible_as_all_hope_was_lost_does_not_begin(self, bench: Bench) -> None:
        bench.mischief["look"] = [ValueError("dark")]

        outcome = bench.desk().run_sync(plan(step("a"), step("c"), step("b", "write", after=["c"])))

        assert (outcome.status, bench.made("write")) == ("failed", 0)

    def test_an_effect_beside_a_step_that_ends_it_all_does_not_begin(self, bench: Bench) -> None:
        what = plan(step("z", x=0), step("a", x="1 / z", if_fails="stop"), step("b", "write", after=["z"]))

        outcome = bench.desk().run_sync(what)

        assert (outcome.status, bench.made("write")) == ("failed", 0)

    def test_requests_that_expire_together_end_their_step_once(self, bench: Bench) -> None:
        desk = bench.desk()
        desk.run_sync(plan(step("a", "send", each="[1, 2]", expect=["output > 0"])), run_id="r")

        bench.clock.advance(8 * 24 * 3600)
        outcome = resume(desk)

        assert (outcome.status, bench.made("send")) == ("failed", 0)
        assert said(outcome) == "it was not approved: the request expired"


class TestRevisionsAndItems:
    """A step over a list fails with its first item. What its other items do meanwhile is not lost from sight."""

    def desk(self, bench: Bench, *extra: Any, use: str = "slow") -> Chargehand:
        around: dict[str, object] = {"replace": [step("a", "look", "item", each="[5]")]}
        revision = {"when": "failure.step == 'a'", "because": "another way", "patch": around}
        a = step("a", use, "10 / item", each="[5, 0]")
        book = playbook("Try", a, step("b", x="a[0]"), answer={"$": "b"}, revisions=[revision])
        return Chargehand(tools=[*bench.tools(), *extra], playbooks=[book], clock=bench.clock)

    @pytest.mark.parametrize("effect", ["read", "write"])
    def test_an_item_that_is_under_way_does_not_break_the_revision(self, bench: Bench, effect: Any) -> None:
        ended: list[int] = []

        @tool(effect=effect, egress=[])
        async def slow(x: int) -> int:
            """Takes its time."""
            await asyncio.sleep(0.02)
            ended.append(x)
            return x

        outcome = self.desk(bench, slow).run_sync("Try")

        assert (outcome.status, outcome.answer) == ("done", 5)
        assert ended == ([2] if effect == "write" else [])  # an effect comes to its end, a read is stopped

    def test_an_item_in_doubt_is_settled_before_the_revision(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("slow")]
        desk = self.desk(bench, use="write")

        outcome = desk.run_sync("Try", run_id="r")
        assert (outcome.status, bench.made("look")) == ("in_doubt", 0)
        desk.settle("r", "a", did_not_happen=True)
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 5, 1)

    def test_an_item_that_would_be_tried_again_is_not(self, bench: Bench) -> None:
        @tool(effect="read", retry=3, egress=[])
        async def slow(x: int) -> int:
            """Fails for now."""
            bench.calls.append(("slow", x))
            await asyncio.sleep(0.02)
            raise NotPerformed("busy")

        book = playbook("Try", step("a", "slow", "10 / item", each="[5, 0]", if_fails="skip"), step("b"))
        desk = Chargehand(tools=[*bench.tools(), slow], playbooks=[book], clock=bench.clock)

        outcome = desk.run_sync("Try")

        assert (outcome.status, statuses(outcome), bench.made("slow")) == ("done", {"a": "skipped", "b": "done"}, 1)


class TestCancellation:
    def test_what_a_person_supplies_does_not_revive_a_cancelled_run(self, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("slow")]

        @tool(effect="read", egress=[])
        async def wait(x: int) -> int:
            """Waits until it is stopped."""
            desk.cancel("r")
            await asyncio.Event().wait()
            return x

        desk = Chargehand(tools=[*bench.tools(), wait], clock=bench.clock)
        what = plan(step("a", "write"), step("b", "wait", after=["c"]), step("c"), step("d", "write", "a + 1"))
        assert desk.run_sync(what, run_id="r").status == "in_doubt"

        desk.supply("r", "a", 4)
        outcome = resume(desk)

        assert (outcome.status, bench.made("write")) == ("cancelled", 1)
        assert said(outcome) == "it was cancelled"
