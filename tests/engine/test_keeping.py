"""Keeping: a run's record is verified, exported, taken in elsewhere, and pruned when nobody needs it any more."""

import datetime as dt
import sqlite3
from pathlib import Path

import pytest
from tests.engine.family import FamilyBench as Bench
from tests.engine.family import playbook, pursue
from tests.engine.workbench import plan, sqlite, step, within

from chargehand import Chargehand
from chargehand.errors import JournalUnusable, RunExists, RunUnknown

DAY = dt.timedelta(days=1)
WRITE = plan(step("a", "write"), answer={"$": "a"})
ASK = plan(step("w", "write", 5), step("a", "send", "w", expect=["output > 0"]), answer={"$": "a"})


@pytest.fixture
def bench() -> Bench:
    return Bench()


HOLD = playbook("Hold {n}", step("h", "hold", "inputs.n"), answer={"$": "h.ref"})


@pytest.fixture(params=["memory", "sqlite"])
def desk(bench: Bench, request: pytest.FixtureRequest, tmp_path: Path) -> Chargehand:
    return bench.desk(":memory:" if request.param == "memory" else sqlite(tmp_path), playbooks=[HOLD])


class TestVerifying:
    def test_a_record_that_nobody_touched_is_sound(self, desk: Chargehand) -> None:
        within(desk.run(ASK, run_id="r"))
        desk.approve("r", "a")
        within(desk.resume("r"))

        assert desk.verify("r") == []

    @pytest.mark.parametrize(
        "tampering",
        [
            """update events set body = replace(body, '"output":1', '"output":9')""",
            "update events set by = 'somebody' where seq = 2",
            "delete from events where seq = 2",
            "delete from events where seq = (select max(seq) from events)",
        ],
    )
    def test_one_that_somebody_changed_says_where(self, bench: Bench, tmp_path: Path, tampering: str) -> None:
        desk = bench.desk(sqlite(tmp_path))
        within(desk.run(WRITE, run_id="r"))
        with sqlite3.connect(tmp_path / "journal.db") as file:
            assert file.execute(tampering).rowcount >= 1
        file.close()

        problems = desk.verify("r")

        assert problems
        assert all(problem.message for problem in problems)

    def test_a_run_that_is_not_there_is_unknown(self, desk: Chargehand) -> None:
        for say in (desk.verify, desk.export):
            with pytest.raises(RunUnknown, match="'nowhere'"):
                say("nowhere")


class TestMoving:
    def test_a_run_that_is_over_looks_the_same_elsewhere(self, desk: Chargehand, bench: Bench) -> None:
        done = within(desk.run(WRITE, run_id="r"))
        other = bench.desk()

        assert other.import_(desk.export("r")) == "r"
        assert other.show("r") == done
        assert other.verify("r") == []
        assert within(other.resume("r")) == done
        assert bench.made("write") == 1

    def test_a_run_that_waits_goes_on_elsewhere_and_finished_steps_stay_finished(
        self, desk: Chargehand, bench: Bench
    ) -> None:
        within(desk.run(ASK, run_id="r"))
        other = bench.desk()
        other.import_(desk.export("r"))

        other.approve("r", "a")
        outcome = within(other.resume("r"))

        assert (outcome.status, outcome.answer, bench.made("write"), bench.made("send")) == ("done", 5, 1, 1)

    def test_an_answer_that_nobody_read_yet_goes_with_it(self, desk: Chargehand, bench: Bench) -> None:
        within(desk.run(ASK, run_id="r"))
        desk.approve("r", "a")
        other = bench.desk()
        other.import_(desk.export("r"))

        assert within(other.resume("r")).status == "done"

    def test_a_run_that_is_there_already_is_not_taken_in_again(self, desk: Chargehand) -> None:
        within(desk.run(WRITE, run_id="r"))

        with pytest.raises(RunExists):
            desk.import_(desk.export("r"))

    def test_a_file_that_was_changed_is_refused(self, desk: Chargehand, bench: Bench) -> None:
        within(desk.run(WRITE, run_id="r"))
        file, other = desk.export("r"), bench.desk()

        for spoilt in (file[:-20], file.replace(b"write", b"wrote"), b""):
            with pytest.raises(JournalUnusable):
                other.import_(spoilt)

        assert other.runs() == []

    def test_large_values_go_with_it(self, desk: Chargehand, bench: Bench) -> None:
        bench.mischief["anything"] = [lambda x: ["jam"] * 5_000]  # pyright: ignore[reportUnknownLambdaType]
        done = within(desk.run(plan(step("a", "anything"), answer={"$": "a"}), run_id="r"))
        other = bench.desk()
        other.import_(desk.export("r"))

        assert other.show("r").answer == done.answer

    def test_what_a_child_did_that_did_not_come_along_does_not_count_as_undone(self, bench: Bench) -> None:
        desk, other = bench.desk(playbooks=[HOLD]), bench.desk(playbooks=[HOLD])
        within(desk.run(plan(pursue("p", "Hold 4", n=4), step("a", "send", "p", expect=["true"])), run_id="r"))
        other.import_(desk.export("r"))

        other.undo("r")
        outcome = within(other.resume("r"))

        assert (outcome.status, bench.effects) == ("failed", [("hold", 4)])
        assert outcome.error is not None
        assert "not undone: p" in outcome.error.message

        other.import_(desk.export("r/p/0/1"))
        other.retry("r")
        outcome = within(other.resume("r"))

        assert (outcome.status, bench.effects) == ("cancelled", [("hold", 4), ("release", (104, 4))])


class TestPruning:
    def test_runs_that_ended_long_ago_are_deleted_and_others_kept(self, desk: Chargehand, bench: Bench) -> None:
        within(desk.run(WRITE, run_id="old"))
        within(desk.run(ASK, run_id="waiting"))
        bench.clock.advance(10 * 24 * 3600)
        within(desk.run(WRITE, run_id="new"))

        pruned = desk.prune(9 * DAY)

        assert pruned.runs == 1
        assert {head.run for head in desk.runs()} == {"waiting", "new"}
        with pytest.raises(RunUnknown):
            desk.show("old")

    def test_only_those_that_ended_in_one_of_these_ways(self, desk: Chargehand, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no")]
        within(desk.run(WRITE, run_id="failed"))
        within(desk.run(WRITE, run_id="done"))
        bench.clock.advance(10 * 24 * 3600)

        assert desk.prune(DAY, status=["done"]).runs == 1
        assert [head.run for head in desk.runs()] == ["failed"]

    def test_a_run_in_doubt_is_never_deleted(self, desk: Chargehand, bench: Bench) -> None:
        bench.mischief["write"] = [TimeoutError("no answer")]
        within(desk.run(WRITE, run_id="r"))
        bench.clock.advance(1000 * 24 * 3600)

        assert desk.prune(DAY, status=["done", "failed", "cancelled", "in_doubt"]).runs == 0

    def test_a_run_that_was_revived_is_not_deleted_under_its_driver(self, desk: Chargehand, bench: Bench) -> None:
        bench.mischief["write"] = [ValueError("no")]
        within(desk.run(WRITE, run_id="r"))
        bench.clock.advance(10 * 24 * 3600)
        desk.retry("r")

        def prune_meanwhile(x: int) -> int:
            assert desk.prune(DAY).runs == 0
            return x

        bench.mischief["write"] = [prune_meanwhile]

        assert within(desk.resume("r")).status == "done"

    def test_what_a_fork_may_still_need_is_kept(self, desk: Chargehand, bench: Bench) -> None:
        """What the ancestor did must not be forgotten while a fork may come to do the same."""
        what = plan(step("w", "write", 5), step("b", x="w"), answer={"$": "b"})
        within(desk.run(what, run_id="r"))

        new = within(desk.fork("r", at="w"))
        bench.clock.advance(10 * 24 * 3600)
        desk.prune(DAY)
        outcome = within(desk.resume(new))

        assert (outcome.status, bench.made("write")) == ("done", 1)

    def test_a_child_that_its_parent_may_still_need_is_kept(self, desk: Chargehand, bench: Bench) -> None:
        """A run that waits may have to take back what its child did."""
        what = plan(pursue("p", "Hold 4", n=4), step("a", "send", "p", expect=["output > 0"]))
        assert within(desk.run(what, run_id="r")).status == "waiting"
        bench.clock.advance(3 * 24 * 3600)
        desk.prune(DAY)

        desk.undo("r")
        outcome = within(desk.resume("r"))

        assert (outcome.status, bench.effects) == ("cancelled", [("hold", 4), ("release", (104, 4))])
