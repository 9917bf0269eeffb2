"""Probes: a tool is asked whether a call in doubt had its effect. Yes counts at once, no when it can be trusted."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, cast

import pytest
from tests.engine.workbench import HandClock, kinds, plan, statuses, step, until, within

from chargehand import Chargehand, IdempotencyKey, Outcome, Plan, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.catalog.tools import AnyTool
from chargehand.errors import RequestRefused
from chargehand.ports import Clock
from chargehand.runtime import approve_all
from chargehand.testing.clock import FakeClock
from chargehand.testing.crashes import Crash, CrashingJournal

Wait = Callable[[], Awaitable[int | None]]

LETTER = plan(step("a", "post", 7, expect=["output == args.x"]), answer={"$": "a"})


class Office:
    """Where letters are posted: what has arrived, when it was tried and with which key, and what goes wrong."""

    def __init__(self, settles: float | None = 60, timeout: float | None = None, clock: Clock | None = None) -> None:
        self.clock = clock or FakeClock()
        self.settles, self.timeout = settles, timeout
        self.arrived: list[int] = []
        self.posted: list[tuple[float, str]] = []
        self.looked: list[float] = []
        self.troubles: list[Any] = []  # what the next posts do: raise, or wait for what a function gives
        self.answers: list[Any] = []  # what the next looks give: a value, an exception, or what a function waits for
        self.asked = 0

    @property
    def keys(self) -> set[str]:
        return {key for _, key in self.posted}

    def tools(self) -> list[AnyTool]:
        @tool(effect="read", egress=[])
        async def find_letter(x: int) -> int | None:
            """Looks whether a letter has arrived."""
            self.looked.append(self.clock.time())
            if not self.answers:
                return x if x in self.arrived else None
            answer = self.answers.pop(0)
            if isinstance(answer, Exception):
                raise answer
            return await cast("Wait", answer)() if callable(answer) else answer

        @tool(
            effect="irreversible",
            probe=find_letter,
            settles_within=self.settles,
            timeout=self.timeout,
            egress=[],
        )
        async def post(x: int, key: IdempotencyKey) -> int:
            """Posts a letter, for good."""
            self.posted.append((self.clock.time(), key))
            trouble = self.troubles.pop(0) if self.troubles else None
            if callable(trouble):
                await cast("Wait", trouble)()
            if isinstance(trouble, Lost):
                raise trouble
            self.arrived.append(x)
            if isinstance(trouble, Exception):
                raise trouble
            return x

        return [post, find_letter]

    def desk(self, journal: Any = ":memory:") -> Chargehand:
        return Chargehand(tools=self.tools(), journal=journal, approver=self._yes, clock=self.clock)

    def _yes(self, request: object) -> bool:
        self.asked += 1
        return True


async def for_ever() -> None:
    await asyncio.Event().wait()


class Lost(TimeoutError):
    """No answer, and the letter never left."""


def run_until_it_dies(desk: Chargehand, what: Plan) -> Outcome | None:
    try:
        return within(desk.run(what, run_id="r"))
    except Crash:
        return None


class TestYes:
    def test_what_the_probe_finds_is_the_result_and_is_checked(self) -> None:
        office = Office()
        office.troubles = [TimeoutError("no answer")]

        outcome = within(office.desk().run(LETTER))

        assert (outcome.status, outcome.answer) == ("done", 7)
        assert [(one.check, one.held) for one in outcome["a"].evidence] == [("output == args.x", True)]
        assert (office.arrived, len(office.posted)) == ([7], 1)

    def test_a_finding_that_does_not_satisfy_the_checks_fails_the_step(self) -> None:
        office = Office()
        office.troubles, office.answers = [TimeoutError("no answer")], [8]

        outcome = within(office.desk().run(LETTER))

        assert (outcome.status, statuses(outcome)) == ("failed", {"a": "failed"})
        assert outcome["a"].error is not None
        assert outcome["a"].error.kind == "check_failed"
        assert len(office.posted) == 1

    def test_it_counts_even_if_the_tool_does_not_say_when_it_settles(self) -> None:
        office = Office(settles=None)
        office.troubles = [TimeoutError("no answer")]

        assert within(office.desk().run(LETTER)).status == "done"


class TestNo:
    def test_it_is_believed_only_after_what_the_tool_says_it_takes_to_settle(self) -> None:
        office = Office(settles=60)
        office.troubles = [Lost("no answer")]
        began = office.clock.time()

        outcome = within(office.desk().run(LETTER))

        assert (outcome.status, office.arrived) == ("done", [7])
        assert [round(at - began) for at in office.looked] == [0, 60]
        assert [round(at - began) for at, _ in office.posted] == [0, 60]

    def test_the_call_is_made_again_with_the_same_key_and_nobody_is_asked_anew(self) -> None:
        office = Office()
        office.troubles = [Lost("no answer")]

        outcome = within(office.desk().run(LETTER))

        assert (outcome.status, len(office.posted), len(office.keys)) == ("done", 2, 1)
        assert office.asked == 1

    def test_a_letter_that_arrives_meanwhile_is_found_and_not_posted_again(self) -> None:
        office = Office(settles=60)
        office.troubles, office.answers = [TimeoutError("slow post")], [None]

        outcome = within(office.desk().run(LETTER))

        assert (outcome.status, len(office.looked), len(office.posted)) == ("done", 2, 1)

    def test_without_settles_within_it_is_never_believed_and_a_person_must_say(self) -> None:
        office = Office(settles=None)
        office.troubles = [Lost("no answer")]
        desk = office.desk()

        outcome = within(desk.run(LETTER, run_id="r"))

        assert (outcome.status, len(office.looked), len(office.posted)) == ("in_doubt", 1, 1)

        desk.settle("r", "a", did_not_happen=True)
        outcome = within(desk.resume("r"))

        assert (outcome.status, office.arrived, len(office.keys), office.asked) == ("done", [7], 1, 1)

    def test_a_run_whose_answer_takes_longer_parks_until_then(self) -> None:
        office = Office(settles=3600)
        office.troubles = [Lost("no answer")]
        journal = MemoryJournal()
        desk = office.desk(journal)

        outcome = within(desk.run(LETTER, run_id="r"))

        assert outcome.status == "in_doubt"
        assert journal.head("r").wake_at == office.clock.time() + 3600

        cast(FakeClock, office.clock).advance(3600)
        outcome = within(desk.resume("r"))

        assert (outcome.status, len(office.posted), len(office.keys)) == ("done", 2, 1)

    def test_resuming_it_before_its_time_changes_nothing(self) -> None:
        office = Office(settles=3600)
        office.troubles = [Lost("no answer")]
        desk = office.desk()
        within(desk.run(LETTER, run_id="r"))

        for _ in range(3):
            cast(FakeClock, office.clock).advance(60)
            outcome = within(desk.resume("r"))

            assert (outcome.status, len(office.posted)) == ("in_doubt", 1)

    def test_it_counts_from_when_the_probe_was_asked_not_from_when_it_answered(self) -> None:
        clock = HandClock()
        office = Office(settles=60, clock=clock)
        slow = asyncio.Event()

        async def nothing_yet() -> None:
            await slow.wait()

        async def play() -> Outcome:
            office.troubles, office.answers = [TimeoutError("slow post")], [nothing_yet]
            running = asyncio.create_task(office.desk().run(LETTER))
            await until(lambda: office.looked)
            clock.advance(61)
            slow.set()
            await until(lambda: running.done() or clock.sleepers or len(office.looked) > 1)
            clock.advance(60)
            return await running

        outcome = within(play())

        assert (outcome.status, len(office.posted)) == ("done", 1)


class TestTrouble:
    def test_a_probe_that_fails_is_asked_again_later(self) -> None:
        office = Office()
        office.troubles, office.answers = [TimeoutError("no answer")], [ConnectionError("down"), ValueError("odd")]
        began = office.clock.time()

        outcome = within(office.desk().run(LETTER))

        assert (outcome.status, len(office.looked), len(office.posted)) == ("done", 3, 1)
        assert office.looked[1] > began
        assert office.looked[2] > office.looked[1]

    def test_one_that_keeps_failing_is_asked_a_few_times_and_then_a_person_must_say(self) -> None:
        office = Office()
        office.troubles, office.answers = [TimeoutError("no answer")], [ConnectionError("down")] * 50
        desk = office.desk()

        outcome = within(desk.run(LETTER, run_id="r"))

        assert (outcome.status, len(office.posted)) == ("in_doubt", 1)
        assert 3 <= len(office.looked) <= 10

        desk.settle("r", "a", happened=7)

        assert within(desk.resume("r")).status == "done"

    def test_a_finding_of_another_form_than_the_tool_promises_is_no_success(self) -> None:
        office = Office()
        office.troubles, office.answers = [TimeoutError("no answer")], ["seven"]

        outcome = within(office.desk().run(LETTER))

        assert (outcome.status, len(office.posted)) == ("failed", 1)

    def test_other_steps_go_on_while_a_probe_is_asked(self) -> None:
        office = Office()

        async def play() -> Outcome:
            looking, met = asyncio.Event(), asyncio.Event()

            async def answer() -> int:
                looking.set()
                await met.wait()
                return 7

            @tool(effect="read", egress=[])
            async def meet(x: int) -> int:
                """Comes back only when a probe is under way, and lets it go on."""
                await looking.wait()
                met.set()
                return x

            office.troubles, office.answers = [TimeoutError("no answer")], [answer]
            desk = Chargehand(tools=[*office.tools(), meet], approver=approve_all, clock=office.clock)
            return await desk.run(plan(step("a", "post", 7, expect=["output > 0"]), step("b", "meet")))

        assert within(play()).status == "done"


class TestPeople:
    @pytest.mark.parametrize("happened", [True, False])
    def test_a_person_may_settle_while_the_probe_is_under_way(self, happened: bool) -> None:
        office = Office()

        async def play() -> Outcome:
            answer = asyncio.Event()

            async def late() -> int:
                await answer.wait()
                return 99

            office.troubles, office.answers = [Lost("no answer")], [late]
            desk = office.desk()
            running = asyncio.create_task(desk.run(LETTER, run_id="r"))
            await until(lambda: office.looked)
            if happened:
                desk.settle("r", "a", happened=7)
            else:
                desk.settle("r", "a", did_not_happen=True)
            outcome = await running
            answer.set()
            return outcome

        outcome = within(play())

        assert (outcome.status, outcome.answer) == ("done", 7)
        assert len(office.posted) == (1 if happened else 2)

    def test_what_a_person_says_is_too_late_once_the_probe_has_found_it(self) -> None:
        office = Office()
        office.troubles = [TimeoutError("no answer")]
        desk = office.desk()
        within(desk.run(LETTER, run_id="r"))

        with pytest.raises(RequestRefused, match="the run is over"):
            desk.settle("r", "a", did_not_happen=True)

        assert len(office.posted) == 1


class TestCrashes:
    @pytest.mark.parametrize("trouble", [None, TimeoutError("no answer"), Lost("no answer")])
    def test_with_a_probe_a_run_killed_at_any_write_still_does_its_effect_once(self, trouble: Exception | None) -> None:
        at, died = 0, True
        while died:
            office, store = Office(), MemoryStore()
            office.troubles = [trouble]
            first = MemoryJournal(store)
            outcome = run_until_it_dies(office.desk(CrashingJournal(first, at)), LETTER)
            first.close()
            died = outcome is None
            if outcome is None:
                outcome = within(office.desk(MemoryJournal(store)).run(LETTER, run_id="r"))

            assert (outcome.status, office.arrived) == ("done", [7]), at
            assert len(office.keys) == 1
            at += 1
        assert at > 6

    def test_a_probe_that_was_interrupted_is_asked_again(self) -> None:
        office, store = Office(), MemoryStore()
        first = MemoryJournal(store)

        async def die_while_looking() -> None:
            office.troubles, office.answers = [TimeoutError("no answer")], [for_ever]
            running = asyncio.create_task(office.desk(first).run(LETTER, run_id="r"))
            await until(lambda: office.looked)
            assert kinds(first, "r")[-1] == "probe.started"
            running.cancel()
            await asyncio.wait([running])

        within(die_while_looking())
        first.close()
        outcome = within(office.desk(MemoryJournal(store)).resume("r"))

        assert (outcome.status, len(office.looked), len(office.posted)) == ("done", 2, 1)


class TestTakeOver:
    """A driver that is taken over by force may still be inside its call."""

    def test_a_no_counts_only_when_the_call_can_no_longer_be_under_way(self) -> None:
        store = MemoryStore()
        zombie, office = Office(settles=60, timeout=100), Office(settles=60, timeout=100)
        zombie.clock = office.clock
        began = office.clock.time()

        async def play() -> Outcome:
            zombie.troubles = [for_ever]
            hanging = asyncio.create_task(zombie.desk(MemoryJournal(store)).run(LETTER, run_id="r"))
            await until(lambda: zombie.posted)
            outcome = await office.desk(MemoryJournal(store)).resume("r", take_over=True)
            hanging.cancel()
            await asyncio.wait([hanging])
            return outcome

        outcome = within(play())

        assert outcome.status == "done"
        [(posted, key)] = office.posted
        assert posted - began >= 30 + 100 + 60
        assert {key} == zombie.keys

    def test_so_it_is_when_the_one_that_took_over_died_at_once(self) -> None:
        store = MemoryStore()
        zombie, office = Office(settles=60, timeout=100), Office(settles=60, timeout=100)
        zombie.clock = office.clock
        began = office.clock.time()
        dying = MemoryJournal(store)

        async def play() -> Outcome:
            zombie.troubles = [for_ever]
            hanging = asyncio.create_task(zombie.desk(MemoryJournal(store)).run(LETTER, run_id="r"))
            await until(lambda: zombie.posted)
            try:
                await office.desk(CrashingJournal(dying, 1)).resume("r", take_over=True)
            except Crash:
                dying.close()
            outcome = await office.desk(MemoryJournal(store)).resume("r")
            hanging.cancel()
            await asyncio.wait([hanging])
            return outcome

        outcome = within(play())

        assert outcome.status == "done"
        [(posted, _)] = office.posted
        assert posted - began >= 30 + 100 + 60

    def test_after_a_death_nobody_waits_for_a_call_that_cannot_be_under_way(self) -> None:
        office, store = Office(settles=60, timeout=100), MemoryStore()
        first = MemoryJournal(store)

        async def die_inside() -> None:
            office.troubles = [for_ever]
            running = asyncio.create_task(office.desk(first).run(LETTER, run_id="r"))
            await until(lambda: office.posted)
            running.cancel()
            await asyncio.wait([running])

        within(die_inside())
        first.close()
        died = office.clock.time()
        outcome = within(office.desk(MemoryJournal(store)).resume("r"))

        assert outcome.status == "done"
        assert round(office.posted[1][0] - died) == 60
