"""Freshness: what must not be too old is read again before an effect acts on it, and no effect is done again for it."""

import asyncio
from typing import Any

import pytest
from tests.engine.family import FamilyBench as Bench
from tests.engine.family import as_asked, gives, said
from tests.engine.sweeps import sweep
from tests.engine.workbench import plan, statuses, step

from chargehand import Chargehand, Outcome, Plan, PlanRejected, approve_all
from chargehand.errors import Transient

HOUR = 3600


@pytest.fixture
def bench() -> Bench:
    return Bench()


def fresh(expression: str, max_age: object = 300) -> dict[str, object]:
    return {"$": expression, "max_age": max_age}


def buy(id: str = "buy", use: str = "send", price: str = "price", max_age: object = 300, **more: object) -> Any:
    """A step that acts on a price."""
    return {"id": id, "use": use, "with": {"x": fresh(price, max_age)}, "expect": ["output > 0"], **more}


SHOP = plan(step("price", x=40), buy(), answer={"$": "buy"})


def resume(desk: Chargehand, run: str = "r") -> Outcome:
    return asyncio.run(asyncio.wait_for(desk.resume(run), 10))


def waiting(bench: Bench, what: Plan = SHOP) -> Chargehand:
    desk = bench.desk()
    assert desk.run_sync(what, run_id="r").status == "waiting"
    return desk


class TestApprovals:
    def test_an_approval_that_came_at_once_acts_on_what_was_read(self, bench: Bench) -> None:
        desk = waiting(bench)

        bench.clock.advance(299)
        desk.approve("r", "buy")

        assert (resume(desk).answer, bench.calls) == (40, [("look", 40), ("send", 40)])

    def test_an_approval_that_took_an_hour_reads_the_price_again(self, bench: Bench) -> None:
        desk = waiting(bench)

        bench.clock.advance(HOUR)
        desk.approve("r", "buy")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer) == ("done", 40)
        assert bench.calls == [("look", 40), ("look", 40), ("send", 40)]

    def test_a_price_that_changed_meanwhile_is_asked_for_again(self, bench: Bench) -> None:
        desk = waiting(bench)
        first = desk.show("r")["buy"].requests[0]

        bench.clock.advance(HOUR)
        bench.mischief["look"] = [gives(55)]
        desk.approve("r", "buy", hash=first["hash"])
        outcome = resume(desk)
        assert (outcome.status, bench.made("send")) == ("waiting", 0)
        second = outcome["buy"].requests[0]
        assert (first["arguments"], second["arguments"]) == ({"x": 40}, {"x": 55})

        desk.approve("r", "buy", hash=second["hash"])
        assert (resume(desk).answer, bench.made("send")) == (55, 1)

    def test_an_approval_covers_the_old_price_when_it_comes_back_to_it(self, bench: Bench) -> None:
        desk = waiting(bench)
        bench.clock.advance(HOUR)
        bench.mischief["look"] = [gives(55)]
        desk.approve("r", "buy")
        resume(desk)

        bench.clock.advance(HOUR)
        desk.approve("r", "buy")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.calls[-1]) == ("done", 40, ("send", 40))

    def test_a_price_may_change_as_often_as_somebody_looks(self, bench: Bench) -> None:
        desk = waiting(bench)
        for price in range(50, 56):
            bench.clock.advance(HOUR)
            bench.mischief["look"] = [gives(price)]
            desk.approve("r", "buy")
            outcome = resume(desk)
            assert (outcome.status, outcome["buy"].requests[0]["arguments"]) == ("waiting", {"x": price})

        desk.approve("r", "buy")

        assert (resume(desk).answer, bench.effects) == (55, [("send", 55)])

    def test_an_approver_that_takes_its_time_has_the_same_effect(self, bench: Bench) -> None:
        shown: list[int] = []

        async def approver(request: Any) -> bool:
            shown.append(request["arguments"]["x"])
            bench.clock.advance(HOUR if len(shown) == 1 else 1)
            return True

        bench.mischief["look"] = [gives(40), gives(55)]

        outcome = bench.desk(approver=approver).run_sync(SHOP)

        assert (outcome.answer, shown, bench.made("send")) == (55, [40, 55], 1)


class TestReading:
    def test_what_a_value_was_made_from_is_read_again_too(self, bench: Bench) -> None:
        what = plan(step("offer", x=20), step("price", "look_sync", "offer * 2"), buy(), answer={"$": "buy"})
        desk = waiting(bench, what)

        bench.clock.advance(HOUR)
        bench.mischief["look"] = [gives(21)]
        desk.approve("r", "buy")
        outcome = resume(desk)

        assert (outcome.status, bench.calls[2:]) == ("waiting", [("look", 20), ("look_sync", 42)])

    def test_what_is_made_from_something_too_old_is_made_again_however_young_it_is(self, bench: Bench) -> None:
        """The price is young, and the offer that it was taken from is old."""
        what = plan(
            step("offer", x=20),
            step("wait", "send", 1, expect=["output > 0"]),
            step("price", "look_sync", "offer * 2", after=["wait"]),
            buy(use="write"),
            answer={"$": "buy"},
        )
        desk = waiting(bench, what)

        bench.clock.advance(HOUR)
        bench.mischief["look"] = [gives(30)]
        desk.approve("r", "wait")
        outcome = resume(desk)

        assert (outcome.answer, bench.made("look"), bench.made("look_sync")) == (60, 2, 2)

    def test_what_nobody_asked_to_be_fresh_is_left_alone(self, bench: Bench) -> None:
        what = plan(step("price", x=40), step("name", "look_sync"), buy(after=["name"]), answer={"$": "buy"})
        desk = waiting(bench, what)

        bench.clock.advance(HOUR)
        desk.approve("r", "buy")
        resume(desk)

        assert (bench.made("look"), bench.made("look_sync")) == (2, 1)

    def test_an_effect_is_never_done_again(self, bench: Bench) -> None:
        what = plan(step("order", "write", 4), step("price", x="order * 10"), buy(), answer={"$": "buy"})
        desk = waiting(bench, what)

        bench.clock.advance(HOUR)
        desk.approve("r", "buy")
        outcome = resume(desk)

        assert (outcome.answer, bench.made("write"), bench.made("look"), bench.made("send")) == (40, 1, 2, 1)

    def test_what_others_did_with_the_old_value_stands(self, bench: Bench) -> None:
        what = plan(
            step("price", x=40), step("note", "write", "price"), buy(after=["note"]), answer={"$": "[note, buy]"}
        )
        desk = waiting(bench, what)

        bench.clock.advance(HOUR)
        bench.mischief["look"] = [gives(55)]
        desk.approve("r", "buy")
        resume(desk)
        desk.approve("r", "buy")

        assert (resume(desk).answer, bench.effects) == ([40, 55], [("write", 40), ("send", 55)])

    def test_each_step_has_its_own_idea_of_what_is_too_old(self, bench: Bench) -> None:
        late = buy("late", "write", max_age=500, after=["wait"])
        soon = buy("soon", "write", max_age=300, after=["late"])
        wait = step("wait", "send", expect=["output > 0"])
        desk = waiting(bench, plan(step("price", x=40), wait, late, soon, answer={"$": "soon"}))

        bench.clock.advance(400)
        desk.approve("r", "wait")
        resume(desk)

        assert bench.calls[2:] == [("write", 40), ("look", 40), ("write", 40)]

    def test_two_steps_that_wait_share_what_is_read_again(self, bench: Bench) -> None:
        what = plan(step("price", x=40), buy(), buy("sell", after=["buy"]), buy("keep"), answer={"$": "[buy, keep]"})
        desk = waiting(bench, what)

        bench.clock.advance(HOUR)
        desk.approve("r", "buy")
        desk.approve("r", "keep")
        outcome = resume(desk)

        assert (outcome.status, statuses(outcome)["sell"]) == ("waiting", "waiting")
        assert (bench.made("look"), bench.made("send")) == (2, 2)

    def test_a_step_that_is_approved_while_the_price_is_read_again_waits_for_it(self, bench: Bench) -> None:
        """`keep` is approved when the reading for `buy` has failed once and waits for its next try."""

        def busy(x: int) -> int:
            desk.approve("r", "keep")
            raise Transient("busy", retry_after=60)

        what = plan(step("price", x=40), buy(), buy("keep", use="send"), answer={"$": "[buy, keep]"})
        desk = waiting(bench, what)

        bench.clock.advance(HOUR)
        bench.mischief["look"] = [busy]
        desk.approve("r", "buy")
        outcome = resume(desk)

        assert (outcome.status, outcome.answer, bench.made("send")) == ("done", [40, 40], 2)

    def test_a_try_that_is_due_waits_for_what_is_being_read_again(self, bench: Bench) -> None:
        """`note` is to be tried again while the price, which it uses, is read again for `buy`."""
        bench.mischief = {
            "anything": [Transient("busy", retry_after=500)],
            "look": [as_asked, Transient("busy", retry_after=200)],
        }

        async def approver(request: Any) -> bool:
            await bench.clock.sleep(400)
            return True

        what = plan(step("price", x=40), step("note", "anything", "price"), buy(), answer={"$": "[note, buy]"})

        outcome = bench.desk(approver=approver).run_sync(what)

        assert (outcome.status, outcome.answer) == ("done", [40, 40])

    def test_a_value_that_is_always_too_old_fails_after_three_readings(self, bench: Bench) -> None:
        def slow(x: int) -> int:
            bench.clock.advance(10)
            return x

        bench.mischief["anything"] = [slow] * 9
        what = plan(step("offer", x=40), step("price", "anything", "offer"), buy(use="write", max_age=5))

        outcome = bench.desk().run_sync(what)

        assert (outcome.status, bench.made("write"), bench.made("look")) == ("failed", 0, 4)
        assert "older than its max_age, however often it is read" in said(outcome)

    def test_a_reading_that_fails_the_second_time_blocks_the_step(self, bench: Bench) -> None:
        desk = waiting(bench)

        bench.clock.advance(HOUR)
        bench.mischief["look"] = [ValueError("closed")]
        desk.approve("r", "buy")
        outcome = resume(desk)

        assert (outcome.status, statuses(outcome)) == ("failed", {"price": "failed", "buy": "blocked"})
        assert bench.made("send") == 0

    def test_a_fork_does_not_make_a_price_young_again(self, bench: Bench) -> None:
        desk = waiting(bench)
        bench.clock.advance(HOUR)

        new = asyncio.run(desk.fork("r", at="buy"))
        assert resume(desk, new).status == "waiting"

        assert bench.made("look") == 2

    def test_a_write_that_may_be_repeated_is_repeated_as_it_was(self, bench: Bench) -> None:
        bench.mischief["put"] = [TimeoutError("slow")]
        bench.mischief["look"] = [gives(40), gives(55)]

        outcome = bench.desk().run_sync(plan(step("price", x=1), buy(use="put", max_age=0.01), answer={"$": "buy"}))

        assert (outcome.status, outcome.answer, bench.effects) == ("done", 40, [("put", 40), ("put", 40)])


class TestCrashes:
    def later(self, bench: Bench) -> None:
        """With each driver an hour has passed, and the price is another."""
        bench.clock.advance(HOUR)
        bench.mischief["look"] = [gives(40 + bench.made("look"))] * 5

    @pytest.mark.parametrize("use", ["send", "put"])
    def test_killed_at_any_write_one_price_is_paid_or_it_is_in_doubt(self, use: str) -> None:
        what = plan(step("price"), buy(use=use), answer={"$": "buy"})

        async def act(desk: Chargehand) -> Outcome:
            return await desk.run(what, run_id="r")

        for one in sweep(act, meanwhile=self.later, approver=approve_all):
            assert one.outcome.status in ("done", "in_doubt"), (one.at, one.outcome)
            assert len(set(one.bench.effects)) <= 1, (one.at, one.bench.calls)
            if one.outcome.status == "done":
                assert one.bench.effects[-1] == (use, one.outcome.answer), one.at


class TestPlans:
    def test_a_plan_with_ages_reads_back_as_the_same_plan(self) -> None:
        assert Plan.parse(SHOP.render()) == SHOP
        assert "max_age: 300" in SHOP.render()

    @pytest.mark.parametrize("age", [0.5, 1, 300, 86400.25])
    def test_any_number_of_seconds_reads_back(self, age: float) -> None:
        what = plan(step("price"), buy(max_age=age))

        assert Plan.parse(what.render()) == what

    def test_ages_survive_the_journal(self, bench: Bench, tmp_path: Any) -> None:
        journal = f"sqlite:///{tmp_path / 'journal.db'}"
        desk = bench.desk(journal)
        desk.run_sync(SHOP, run_id="r")

        bench.clock.advance(HOUR)
        elsewhere = bench.desk(journal)
        elsewhere.approve("r", "buy")

        assert (resume(elsewhere).answer, bench.made("look")) == (40, 2)

    @pytest.mark.parametrize("age", [0, -5, "300", True, [1], {"$": "inputs.age"}])
    def test_an_age_that_is_no_number_of_seconds_is_refused(self, bench: Bench, age: object) -> None:
        found = bench.desk().check({"steps": [step("price"), buy(max_age=age)]})

        assert [one.code for one in found if one.severity == "error"] == ["CH009"]
        assert "max_age" in found[0].message

    def test_a_reference_has_no_other_keys(self, bench: Bench) -> None:
        odd: dict[str, object] = {"id": "buy", "use": "write", "with": {"x": {"$": "price", "max_aeg": 300}}}

        with pytest.raises(PlanRejected, match="CH009"):
            bench.desk().run_sync(plan(step("price"), odd))

    @pytest.mark.parametrize(
        ("steps", "said"),
        [
            ([buy(price="inputs.n")], "cannot be read again"),
            ([step("price", "write"), buy()], "is not done again"),
            ([step("price"), buy(each="[1, 2]")], "goes over a list"),
        ],
        ids=["an input", "an effect", "each"],
    )
    def test_an_age_that_cannot_be_kept_is_refused(self, bench: Bench, steps: Any, said: str) -> None:
        found = bench.desk().check({"inputs": {"n": {"type": "integer", "value": 1}}, "steps": steps})

        assert [one.code for one in found if said in one.message] == ["CH406"]
