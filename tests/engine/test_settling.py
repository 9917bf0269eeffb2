"""What people say about a step: it happened, it did not, nobody will ever know, or here is its result."""

from collections.abc import Callable
from typing import Any

import pytest
from tests.engine.workbench import Bench, plan, statuses, step, within

from chargehand import Chargehand, Outcome, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.errors import BadValue, NotPerformed, RequestRefused, RunUnknown, StepUnknown, Unsupported
from chargehand.testing.crashes import Crash, CrashingJournal

DOUBTFUL = plan(step("a", "write"), step("b", x="a + 1"), step("c"), answer={"$": "b"})


@pytest.fixture
def bench() -> Bench:
    bench = Bench()
    bench.mischief["write"] = [TimeoutError("no answer")]
    return bench


def in_doubt(bench: Bench) -> Chargehand:
    """A desk with a run `r` whose step `a` is in doubt."""
    desk = bench.desk()
    assert within(desk.run(DOUBTFUL, run_id="r")).status == "in_doubt"
    return desk


class TestDoubts:
    def test_it_happened_and_the_run_goes_on_with_what_it_gave(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        desk.settle("r", "a", happened=41, because="I see it")
        outcome = within(desk.resume("r"))

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 42, 1)

    def test_it_did_not_happen_and_is_done_now_once(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        desk.settle("r", "a", did_not_happen=True)
        outcome = within(desk.resume("r"))

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 2, 2)

    def test_nobody_knows_and_the_run_ends_without_repeating_anything(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        desk.settle("r", "a", stop=True, because="the service is gone for good")
        outcome = within(desk.resume("r"))

        assert (outcome.status, statuses(outcome)) == ("failed", {"a": "failed", "b": "blocked", "c": "done"})
        assert outcome.error is not None
        assert outcome["a"].error == outcome.error
        assert outcome.error.kind == "in_doubt"
        assert "the service is gone for good" in outcome.error.message
        assert bench.made("write") == 1

    def test_what_nobody_knows_is_not_repeated_by_a_retry_either(self, bench: Bench) -> None:
        desk = in_doubt(bench)
        desk.settle("r", "a", stop=True)
        within(desk.resume("r"))

        desk.retry("r")
        outcome = within(desk.resume("r"))

        assert (outcome.status, statuses(outcome)["a"], bench.made("write")) == ("in_doubt", "in_doubt", 1)

        desk.settle("r", "a", happened=41)

        assert within(desk.resume("r")).answer == 42

    def test_what_nobody_knows_is_not_repeated_by_a_fork_either(self, bench: Bench) -> None:
        desk = in_doubt(bench)
        desk.settle("r", "a", stop=True)
        within(desk.resume("r"))

        async def fork() -> Outcome:
            return await desk.resume(await desk.fork("r", at="a"))

        assert (within(fork()).status, bench.made("write")) == ("in_doubt", 1)

    def test_the_second_word_is_too_late(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        desk.settle("r", "a", happened=41)
        desk.settle("r", "a", did_not_happen=True)  # before anybody read the first one
        outcome = within(desk.resume("r"))

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", 42, 1)

    def test_an_answer_that_says_two_things_is_refused(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        for said in (
            lambda: desk.settle("r", "a", did_not_happen=True, stop=True),
            lambda: desk.settle("r", "a", happened=41, did_not_happen=True),
            lambda: desk.settle("r", "a", happened=None, stop=True),
        ):
            with pytest.raises(RequestRefused, match="one of the three"):
                said()

    def test_saying_nothing_is_not_saying_that_it_happened(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        with pytest.raises(RequestRefused, match="one of the three"):
            desk.settle("r", "a")

    def test_of_several_items_each_is_settled_by_itself(self) -> None:
        bench = Bench()
        bench.mischief["write"] = [TimeoutError("1"), None, TimeoutError("3")]
        desk = bench.desk()
        within(desk.run(plan(step("a", "write", "item", each="[1, 2, 3]"), answer={"$": "a"}), run_id="r"))

        with pytest.raises(RequestRefused, match="not in doubt"):
            desk.settle("r", "a", item=1, happened=9)
        desk.settle("r", "a", item=2, happened=30)
        desk.settle("r", "a", item=0, did_not_happen=True)
        outcome = within(desk.resume("r"))

        assert (outcome.status, outcome.answer, bench.made("write")) == ("done", [1, 2, 30], 4)


class TestTheDoor:
    """What cannot be is refused where it is said, with a word on what to do."""

    @pytest.mark.parametrize("say", ["settle", "supply"])
    def test_a_result_must_be_what_the_tool_promises(self, bench: Bench, say: str) -> None:
        desk = in_doubt(bench)

        for wrong in ("forty", None, {"x": 1}, 1.5, float("nan"), object()):
            given = {"happened": wrong} if say == "settle" else {"output": wrong}
            with pytest.raises(BadValue):
                getattr(desk, say)("r", "a", **given)

        assert within(desk.resume("r")).status == "in_doubt"

    def test_an_unknown_run_is_named(self, bench: Bench) -> None:
        desk = bench.desk()
        said: list[Callable[[], Any]] = [
            lambda: desk.settle("nowhere", "a", happened=1),
            lambda: desk.settle("nowhere", "a", stop=True),
            lambda: desk.supply("nowhere", "a", 1),
            lambda: desk.approve("nowhere", "a"),
            lambda: desk.deny("nowhere", "a"),
            lambda: desk.cancel("nowhere"),
            lambda: desk.retry("nowhere"),
            lambda: desk.undo("nowhere"),
            lambda: desk.show("nowhere"),
            lambda: within(desk.resume("nowhere")),
            lambda: within(desk.fork("nowhere", at="a")),
        ]

        for say in said:
            with pytest.raises(RunUnknown, match="'nowhere'"):
                say()

    def test_an_unknown_step_is_named(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        for say in (
            lambda: desk.settle("r", "z", happened=1),
            lambda: desk.settle("r", "z", did_not_happen=True),
            lambda: desk.supply("r", "z", 1),
            lambda: desk.approve("r", "z"),
            lambda: desk.deny("r", "z"),
        ):
            with pytest.raises(RequestRefused, match="no step 'z'"):
                say()
        with pytest.raises(StepUnknown, match="'z'"):
            within(desk.fork("r", at="z"))

    def test_an_unknown_item_is_refused(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        for item in (1, -1):
            with pytest.raises(RequestRefused, match="not in doubt"):
                desk.settle("r", "a", item=item, happened=1)
            with pytest.raises(RequestRefused):
                desk.supply("r", "a", 1, item=item)

    def test_a_step_that_is_not_in_doubt_is_not_settled(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        for other in ("b", "c"):
            with pytest.raises(RequestRefused, match=r"cannot settle in run 'r': the step is not in doubt"):
                desk.settle("r", other, happened=1)

    def test_a_run_that_is_over_hears_nothing(self, bench: Bench) -> None:
        desk = in_doubt(bench)
        desk.settle("r", "a", happened=1)
        done = within(desk.resume("r"))

        for say in (
            lambda: desk.settle("r", "a", happened=2),
            lambda: desk.supply("r", "a", 2),
            lambda: desk.approve("r", "a"),
            lambda: desk.cancel("r"),
        ):
            with pytest.raises(RequestRefused, match="the run is over"):
                say()
        with pytest.raises(RequestRefused, match="has not failed"):
            desk.retry("r")
        assert within(desk.resume("r")) == done

    def test_an_approval_of_something_else_than_was_shown_is_refused(self) -> None:
        bench = Bench()
        desk = bench.desk()
        within(desk.run(plan(step("a", "send", expect=["output > 0"])), run_id="r"))
        [request] = desk.show("r")["a"].requests

        with pytest.raises(RequestRefused, match="look again"):
            desk.approve("r", "a", hash="0" * 64)
        desk.approve("r", "a", hash=request["hash"])

        assert within(desk.resume("r")).status == "done"


class TestSupplied:
    def test_a_result_for_a_failed_run_revives_it(self) -> None:
        bench = Bench()
        bench.mischief["write"] = [ValueError("no")]
        desk = bench.desk()
        assert within(desk.run(DOUBTFUL, run_id="r")).status == "failed"

        desk.supply("r", "a", 41, because="done by hand")
        outcome = within(desk.resume("r"))

        assert (outcome.status, outcome.answer) == ("done", 42)
        assert (bench.made("write"), bench.made("look")) == (1, 2)

    def test_a_run_whose_item_is_supplied_is_not_done_while_another_item_has_failed(self) -> None:
        bench = Bench()
        bench.mischief["look"] = [ValueError("1"), ValueError("2")]
        desk = bench.desk()
        what = plan(step("a", x="item", each="[1, 2]"), step("b", "look_sync", after=["a"]))
        assert within(desk.run(what, run_id="r")).status == "failed"

        desk.supply("r", "a", 10, item=0)
        outcome = within(desk.resume("r"))

        assert (outcome.status, statuses(outcome)) == ("failed", {"a": "failed", "b": "blocked"})

        desk.supply("r", "a", 20, item=1)
        outcome = within(desk.resume("r"))

        assert (outcome.status, outcome["a"].output) == ("done", [10, 20])

    @pytest.mark.parametrize("revive", ["retry", "supply"])
    def test_a_run_that_dies_while_it_is_revived_goes_on_all_the_same(self, revive: str) -> None:
        what = plan(step("a", "write"), step("b", "write", "a + 1"), answer={"$": "b"})
        at, died = 0, True
        while died:
            bench, store = Bench(), MemoryStore()
            bench.mischief["write"] = [ValueError("no")]
            first = MemoryJournal(store)
            desk = bench.desk(first)
            assert within(desk.run(what, run_id="r")).status == "failed"
            if revive == "retry":
                desk.retry("r")
            else:
                desk.supply("r", "a", 1)

            try:
                within(bench.desk(CrashingJournal(first, at)).resume("r"))
                died = False
            except Crash:
                died = True
            first.close()
            outcome = within(bench.desk(MemoryJournal(store)).resume("r"))

            assert outcome.status in ("done", "in_doubt"), at
            assert bench.calls.count(("write", 2)) <= 1
            if outcome.status == "done":
                assert (outcome.answer, bench.calls.count(("write", 2))) == (2, 1)
            at += 1
        assert at > 3

    def test_a_step_whose_list_is_not_known_has_no_item_to_supply(self) -> None:
        desk = Bench().desk()
        within(desk.run(plan(step("n", x=0), step("a", x="item", each="[1 / n]")), run_id="r"))

        with pytest.raises(RequestRefused, match="the list"):
            desk.supply("r", "a", 5)

    def test_a_step_that_waits_for_others_is_not_supplied(self, bench: Bench) -> None:
        desk = in_doubt(bench)

        with pytest.raises(RequestRefused, match="has not begun"):
            desk.supply("r", "b", 5)


class TestTries:
    """A tool that may be called twice is called again; what nobody knows in the end is in doubt all the same."""

    def test_an_idempotent_tool_whose_tries_are_spent_is_in_doubt(self) -> None:
        bench = Bench()
        bench.mischief["put"] = [TimeoutError("slow")] * 3
        desk = bench.desk()

        outcome = within(desk.run(plan(step("a", "put"), answer={"$": "a"}), run_id="r"))

        assert (outcome.status, bench.made("put")) == ("in_doubt", 3)

        desk.settle("r", "a", happened=5)

        assert within(desk.resume("r")).answer == 5

    @pytest.mark.parametrize("last", [NotPerformed("closed"), ConnectionRefusedError("closed"), ValueError("odd")])
    def test_what_is_certain_about_the_last_call_says_nothing_about_the_one_before(self, last: Exception) -> None:
        bench = Bench()
        bench.mischief["put"] = [TimeoutError("slow"), last, last]

        outcome = within(bench.desk().run(plan(step("a", "put"))))

        assert outcome.status == "in_doubt"
        assert outcome["a"].error is not None
        assert outcome["a"].error.kind == "in_doubt"

    def test_another_tool_does_not_take_over_what_may_have_happened(self) -> None:
        bench = Bench()
        bench.mischief["put"] = [TimeoutError("slow"), Unsupported("not any more")]
        put = next(one for one in bench.tools() if one.name == "put")

        @tool(effect="write", instead_of=put, idempotent=True, egress=[])
        async def put_elsewhere(x: int) -> int:
            """Stands in for put."""
            return bench.act("put_elsewhere", x)

        desk = Chargehand(tools=[put, put_elsewhere], clock=bench.clock)
        outcome = within(desk.run(plan(step("a", "put"))))

        assert (outcome.status, bench.made("put_elsewhere")) == ("in_doubt", 0)

    def test_a_tool_that_may_have_acted_is_not_benched_for_another_one(self) -> None:
        bench = Bench()
        put = next(one for one in bench.tools() if one.name == "put")

        @tool(effect="write", instead_of=put, idempotent=True, egress=[])
        async def put_elsewhere(x: int) -> int:
            """Stands in for put."""
            return bench.act("put_elsewhere", x)

        bench.mischief["put"] = [TimeoutError("slow")] * 5
        desk = Chargehand(tools=[put, put_elsewhere], clock=bench.clock)
        within(desk.run(plan(step("a", "put", 1), step("b", "put", 2))))

        assert not {x for name, x in bench.calls if name == "put"} & {
            x for name, x in bench.calls if name == "put_elsewhere"
        }

    def test_a_call_that_certainly_did_nothing_is_not_in_doubt(self) -> None:
        bench = Bench()
        bench.mischief["put"] = [NotPerformed("closed")] * 3

        outcome = within(bench.desk().run(plan(step("a", "put"))))

        assert (outcome.status, bench.made("put")) == ("failed", 3)
