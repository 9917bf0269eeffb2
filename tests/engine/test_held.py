"""Held: a step whose tool is gone or has changed waits for a process that fits, and nothing is lost."""

import asyncio
from typing import Any

import pytest
from tests.engine.workbench import Bench, kinds, plan, statuses, step, until, within

from chargehand import Chargehand, Outcome, Plan, PlanRejected, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.catalog.tools import AnyTool
from chargehand.runtime import approve_all
from chargehand.testing.clock import FakeClock

LETTER = plan(step("a", "send", 1, expect=["output > 0"]), step("b", "write", "a + 1"), step("c"), answer={"$": "b"})


def without(bench: Bench, *names: str) -> list[AnyTool]:
    return [one for one in bench.tools() if one.name not in names]


def changed_write(bench: Bench) -> AnyTool:
    @tool(effect="write", egress=[])
    async def write(x: int, loudly: bool = False) -> int:
        """Writes, in another way than before."""
        return bench.act("write", x)

    return write


class Office:
    """Desks with other tools on one journal."""

    def __init__(self) -> None:
        self.store, self.bench = MemoryStore(), Bench()

    def desk(self, tools: list[AnyTool] | None = None, **options: Any) -> Chargehand:
        journal = MemoryJournal(self.store)
        return Chargehand(tools=tools or self.bench.tools(), journal=journal, clock=self.bench.clock, **options)

    def waiting(self, what: Plan = LETTER) -> None:
        """A run `r` that waits for approval of its first step."""
        desk = self.desk()
        assert within(desk.run(what, run_id="r")).status == "waiting"
        desk.approve("r", "a")

    def resume(self, tools: list[AnyTool] | None = None) -> Outcome:
        return within(self.desk(tools).resume("r"))


@pytest.fixture
def office() -> Office:
    return Office()


def error(outcome: Outcome, step: str) -> str:
    found = outcome[step].error
    return "" if found is None else found.message


class TestGone:
    def test_the_run_waits_and_says_what_to_do(self, office: Office) -> None:
        office.waiting()

        outcome = office.resume(without(office.bench, "write"))

        assert (outcome.status, statuses(outcome)) == ("waiting", {"a": "done", "b": "waiting", "c": "done"})
        assert error(outcome, "b") == "the tool 'write' is gone; resume the run in a process that has it"

    def test_it_goes_on_where_it_stood_when_the_tool_is_back(self, office: Office) -> None:
        office.waiting()
        office.resume(without(office.bench, "write"))

        outcome = office.resume()

        assert (outcome.status, outcome.answer) == ("done", 2)
        assert sorted(office.bench.calls) == [("look", 1), ("send", 1), ("write", 2)]
        assert outcome["b"].error is None

    def test_it_waits_as_often_as_it_is_resumed_without_the_tool(self, office: Office) -> None:
        office.waiting()

        for _ in range(3):
            assert office.resume(without(office.bench, "write")).status == "waiting"

        assert office.resume().status == "done"
        assert office.bench.made("send") == 1

    def test_an_approval_is_kept(self, office: Office) -> None:
        office.waiting()

        held = office.resume(without(office.bench, "send"))

        assert (held.status, office.bench.made("send")) == ("waiting", 0)
        assert (office.resume().status, office.bench.made("send")) == ("done", 1)

    def test_the_items_that_were_done_stay_done(self, office: Office) -> None:
        what = plan(
            step("a", "send", 1, expect=["output > 0"]),
            step("b", "write", "item", each="[1, 2, 3]"),
            step("c", "put", "item + a", each="b"),
            answer={"$": "c"},
        )
        office.waiting(what)
        office.resume(without(office.bench, "put"))

        outcome = office.resume()

        assert (outcome.status, outcome.answer, office.bench.made("write")) == ("done", [2, 3, 4], 3)

    def test_a_process_without_any_tool_loses_nothing(self, office: Office) -> None:
        office.waiting()

        @tool(effect="read", egress=[])
        async def other(x: int) -> int:
            """Is of no use here."""
            return x

        assert office.resume([other]).status == "waiting"
        assert office.resume().status == "done"

    def test_a_person_may_do_it_instead(self, office: Office) -> None:
        office.waiting()
        office.resume(without(office.bench, "write"))
        desk = office.desk(without(office.bench, "write"))

        desk.supply("r", "b", 20)
        outcome = within(desk.resume("r"))

        assert (outcome.status, outcome.answer, office.bench.made("write")) == ("done", 20, 0)

    def test_a_run_that_is_held_can_be_cancelled(self, office: Office) -> None:
        office.waiting()
        office.resume(without(office.bench, "write"))
        desk = office.desk(without(office.bench, "write"))

        desk.cancel("r")

        assert within(desk.resume("r")).status == "cancelled"

    def test_the_journal_says_why_it_waits(self, office: Office) -> None:
        office.waiting()
        office.resume(without(office.bench, "write"))
        journal = MemoryJournal(office.store)

        assert kinds(journal, "r")[-2:] == ["step.held", "run.parked"] or "step.held" in kinds(journal, "r")
        assert "cannot go on here" in journal.read("r")[-1].body


class TestChanged:
    def test_a_tool_of_another_form_is_not_used_and_the_ways_out_are_named(self, office: Office) -> None:
        office.waiting()

        outcome = office.resume([*without(office.bench, "write"), changed_write(office.bench)])

        assert (outcome.status, outcome["b"].status, office.bench.made("write")) == ("waiting", "waiting", 0)
        assert "has changed since the plan was checked" in error(outcome, "b")
        assert "fork" in error(outcome, "b")

    def test_a_fork_is_checked_anew_and_goes_on_with_the_tool_as_it_is(self, office: Office) -> None:
        office.waiting()
        desk = office.desk([*without(office.bench, "write"), changed_write(office.bench)])
        within(desk.resume("r"))

        async def fork() -> Outcome:
            return await desk.resume(await desk.fork("r", at="b"))

        outcome = within(fork())

        assert (outcome.status, outcome.answer) == ("done", 2)
        assert (office.bench.made("send"), office.bench.made("write")) == (1, 1)

    def test_a_fork_that_no_longer_fits_its_tools_is_refused(self, office: Office) -> None:
        office.waiting()

        @tool(effect="write", egress=[])
        async def write(text: str) -> str:
            """Takes something else altogether."""
            return text

        desk = office.desk([*without(office.bench, "write"), write])
        within(desk.resume("r"))

        with pytest.raises(PlanRejected, match="'r'"):
            within(desk.fork("r", at="b"))

    def test_a_change_of_what_a_tool_does_inside_is_none_of_its_form(self, office: Office) -> None:
        office.waiting()

        @tool(effect="write", timeout=5, egress=[])
        async def write(x: int) -> int:
            """Writes, quicker than before."""
            return x * 100

        assert office.resume([*without(office.bench, "write"), write]).answer == 200


class TestDoubts:
    """A process without the tool knows nothing about a call in doubt, and must not spoil what others know."""

    @staticmethod
    def post_office(sent: list[int], hang: bool = False) -> list[AnyTool]:
        @tool(effect="read", egress=[])
        async def find(x: int) -> int | None:
            """Looks whether it arrived."""
            return x if x in sent else None

        @tool(effect="irreversible", probe=find, settles_within=60, egress=[])
        async def post(x: int) -> int:
            """Posts, for good."""
            sent.append(x)
            if hang:
                await asyncio.Event().wait()
            return x

        return [post]

    def test_a_probe_is_asked_by_the_next_process_that_has_it(self) -> None:
        store, sent = MemoryStore(), list[int]()

        def desk(tools: list[AnyTool]) -> Chargehand:
            return Chargehand(tools=tools, journal=MemoryJournal(store), approver=approve_all, clock=FakeClock())

        async def die_inside() -> None:
            first = desk(self.post_office(sent, hang=True))
            running = asyncio.create_task(first.run(plan(step("a", "post", 7, expect=["output > 0"])), run_id="r"))
            await until(lambda: sent)
            running.cancel()
            await asyncio.wait([running])
            await first.close()

        within(die_inside())
        without_tool = within(desk([]).resume("r"))
        with_tool = within(desk(self.post_office(sent)).resume("r"))

        assert without_tool.status == "in_doubt"
        assert (with_tool.status, sent) == ("done", [7])
