"""Goals: what is wanted, what it is told, what its answer must satisfy, and whether half of it is nothing."""

import pytest
from tests.engine.family import FamilyBench as Bench
from tests.engine.family import playbook
from tests.engine.workbench import plan, statuses, step, within

from chargehand import Goal, GoalNotPlanned, Outcome
from chargehand.errors import ExpressionError

COUNT = playbook("Count to {n}", step("a", x="inputs.n"), answer={"n": {"$": "a"}})
HOLD = playbook(
    "Hold {n}",
    step("a", "hold", "inputs.n"),
    step("b", "look_sync", after=["a"]),
    answer={"$": "a.ref"},
)


@pytest.fixture
def bench() -> Bench:
    return Bench()


def run(bench: Bench, goal: Goal, **inputs: object) -> Outcome:
    return within(bench.desk(playbooks=[COUNT, HOLD]).run(goal, inputs or None))


class TestInputs:
    def test_a_goal_is_planned_by_the_playbook_that_answers_it(self, bench: Bench) -> None:
        assert run(bench, Goal(text="Count to 4")).answer == {"n": 4}

    def test_what_it_is_told_fills_the_inputs(self, bench: Bench) -> None:
        assert run(bench, Goal(text="Count to", inputs={"n": 7})).answer == {"n": 7}

    def test_what_run_is_told_goes_before_what_the_goal_says(self, bench: Bench) -> None:
        assert run(bench, Goal(text="Count to", inputs={"n": 7}), n=8).answer == {"n": 8}

    def test_a_goal_that_nobody_can_plan_does_nothing(self, bench: Bench) -> None:
        with pytest.raises(GoalNotPlanned):
            run(bench, Goal(text="Fly to the moon"))

        assert bench.calls == []

    def test_it_may_be_started_in_the_background(self, bench: Bench) -> None:
        async def play() -> Outcome:
            async with bench.desk(playbooks=[COUNT]) as desk:
                return await desk.resume(await desk.start(Goal(text="Count to 4", expect=("answer.n == 4",))))

        assert within(play()).status == "done"


class TestAnswers:
    def test_an_answer_that_satisfies_its_checks_is_the_end(self, bench: Bench) -> None:
        outcome = run(bench, Goal(text="Count to 4", expect=("answer.n > 3", "answer.n == inputs.n")))

        assert (outcome.status, outcome.error) == ("done", None)

    def test_one_that_does_not_fails_the_run_and_says_which_check(self, bench: Bench) -> None:
        outcome = run(bench, Goal(text="Count to 4", expect=("answer.n > 3", "answer.n > 5")))

        assert (outcome.status, statuses(outcome), outcome.answer) == ("failed", {"a": "done"}, {"n": 4})
        assert outcome.error is not None
        assert (outcome.error.kind, outcome.error.message) == (
            "check_failed",
            "the answer does not satisfy `answer.n > 5`",
        )

    def test_a_check_that_cannot_be_evaluated_does_not_hold(self, bench: Bench) -> None:
        outcome = run(bench, Goal(text="Count to 4", expect=("answer.n / 0 > 1",)))

        assert outcome.status == "failed"
        assert outcome.error is not None
        assert "`answer.n / 0 > 1`: " in outcome.error.message

    @pytest.mark.parametrize("check", ["answer.n >", "answer.n > 3 3", ""])
    def test_a_check_that_cannot_be_read_is_refused_before_anything_is_done(self, bench: Bench, check: str) -> None:
        with pytest.raises(ExpressionError):
            run(bench, Goal(text="Count to 4", expect=(check,)))

        assert bench.calls == []

    @pytest.mark.parametrize("check", ["a > 3", "output.n == 4", "answr.n == 4"])
    def test_a_check_of_something_else_than_the_answer_is_refused_before_anything_is_done(
        self, bench: Bench, check: str
    ) -> None:
        with pytest.raises(ExpressionError, match="answer"):
            run(bench, Goal(text="Hold 4", expect=(check,)))

        assert bench.calls == []

    def test_the_checks_are_kept_with_the_run(self, bench: Bench) -> None:
        ask = playbook("Ask {n}", step("a", "send", "inputs.n", expect=["true"]), answer={"$": "a"})
        desk = bench.desk(playbooks=[ask])
        within(desk.run(Goal(text="Ask 4", expect=("answer > 5",)), run_id="r"))

        desk.approve("r", "a")

        assert within(desk.resume("r")).status == "failed"


class TestAllOrNothing:
    def test_what_was_done_is_undone_if_the_goal_asks_for_it(self, bench: Bench) -> None:
        bench.mischief["look_sync"] = [ValueError("no")]

        outcome = run(bench, Goal(text="Hold 4", all_or_nothing=True))

        assert (outcome.status, bench.effects) == ("failed", [("hold", 4), ("release", (104, 4))])

    def test_it_stays_done_if_the_goal_does_not(self, bench: Bench) -> None:
        bench.mischief["look_sync"] = [ValueError("no")]

        outcome = run(bench, Goal(text="Hold 4"))

        assert (outcome.status, bench.effects) == ("failed", [("hold", 4)])

    def test_an_answer_that_does_not_satisfy_its_checks_undoes_it_too(self, bench: Bench) -> None:
        outcome = run(bench, Goal(text="Hold 4", all_or_nothing=True, expect=("answer > 1000",)))

        assert (outcome.status, bench.effects) == ("failed", [("hold", 4), ("release", (104, 4))])

    def test_a_goal_that_is_reached_undoes_nothing(self, bench: Bench) -> None:
        outcome = run(bench, Goal(text="Hold 4", all_or_nothing=True, expect=("answer == 104",)))

        assert (outcome.status, bench.effects) == ("done", [("hold", 4)])


def test_a_plan_answers_without_checks_of_a_goal(bench: Bench) -> None:
    assert within(bench.desk().run(plan(step("a", x=3), answer={"$": "a"}))).answer == 3
