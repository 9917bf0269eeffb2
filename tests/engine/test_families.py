"""Random families: runs with children, forks, crashes, retries and undoing, in a world that knows what is held."""

import asyncio
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.engine.family import Held, history, on_journal, playbook, pursue
from tests.engine.workbench import plan, step

from chargehand import Chargehand, Outcome, Plan, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.domain.events import CallStarted
from chargehand.errors import NotPerformed, RequestRefused
from chargehand.testing.clock import FakeClock
from chargehand.testing.crashes import Crash, CrashingJournal

Trouble = str | None  # what the next call of any tool does instead of its work, or besides


@dataclass
class World:
    """What is held. Holding what is held, or releasing what is not, is a thing done twice."""

    troubles: list[Trouble] = field(default_factory=list[Trouble])
    held: set[int] = field(default_factory=set[int])
    twice: list[str] = field(default_factory=list[str])

    def act(self, name: str, x: int) -> int:
        trouble = self.troubles.pop(0) if self.troubles else None
        if trouble == "refused":
            raise NotPerformed("closed")
        if trouble == "broken":
            raise ValueError("broken")
        if trouble == "lost before":
            raise TimeoutError("lost")
        self.change(name, x)
        if trouble == "lost after":
            raise TimeoutError("lost")
        return x

    def change(self, name: str, x: int) -> None:
        if (name == "hold") == (x in self.held):
            self.twice.append(f"{name} {x}")
        (self.held.add if name == "hold" else self.held.discard)(x)

    def look(self, x: int) -> int:
        if self.troubles and self.troubles.pop(0) is not None:
            raise ValueError("dark")
        return x


WORLDS = [World()]  # the present one is the last


@tool(effect="write", egress=[])
async def release(x: int) -> bool:
    """Takes back."""
    return bool(WORLDS[-1].act("release", x))


@tool(effect="write", undo=release, egress=[])
async def hold(x: int) -> Held:
    """Holds."""
    return {"ref": WORLDS[-1].act("hold", x)}


@tool(effect="read", retry=1, egress=[])
async def look(x: int) -> int:
    """Looks, and may fail."""
    return WORLDS[-1].look(x)


def book(name: str, **fields: object) -> dict[str, object]:
    """A sub-goal that holds something, looks, and holds something else."""
    steps = [step("h", "hold", "inputs.n"), step("l", x="h.ref"), step("i", "hold", "l + 1")]
    return playbook(f"{name} {{n}}", *steps, answer={"$": "i.ref"}, **fields)


DESK = Chargehand(tools=[hold, look], playbooks=[book("Try"), book("Dare", all_or_nothing=True)], clock=FakeClock())


@st.composite
def plans(draw: st.DrawFn) -> Plan:
    """Holds and sub-goals, one after the other or side by side; nothing is held twice on purpose."""
    steps: list[dict[str, object]] = []
    for number in range(draw(st.integers(1, 3))):
        after = [f"s{number - 1}"] if number and draw(st.booleans()) else []
        n = 10 * number + 10
        kind = draw(st.sampled_from(["hold", "look", "Try", "Dare", "each"]))
        fields: dict[str, object] = {"after": after}
        if kind in ("hold", "look"):
            steps.append(step(f"s{number}", kind, n, **fields))
        elif kind == "each":
            steps.append(pursue(f"s{number}", "Try", {**fields, "each": f"[{n}, {n + 5}]"}, n="item"))
        else:
            steps.append(pursue(f"s{number}", kind, fields, n=n))
    return plan(*steps, all_or_nothing=draw(st.booleans()))


class Family:
    """The desk of a family. Whoever dies is followed by another; whoever is asked about a doubt tells the truth."""

    def __init__(self, troubles: list[Trouble]) -> None:
        self.world, self.store = World(troubles), MemoryStore()
        WORLDS[:] = [self.world]

    def desk(self, journal: Any) -> Chargehand:
        return on_journal(DESK, journal)

    def drive(self, run: str, what: Plan | None = None, dies_at: int = 10_000) -> Outcome | None:
        mortal = MemoryJournal(self.store)
        desk = self.desk(CrashingJournal(mortal, dies_at))
        work = desk.resume(run) if what is None else desk.run(what, run_id=run)
        try:
            return asyncio.run(asyncio.wait_for(work, 10))
        except Crash:
            return None
        finally:
            mortal.close()

    def settle(self) -> None:
        """Says of every call in doubt whether it happened."""
        journal = MemoryJournal(self.store)
        for head in journal.heads(status=["in_doubt"]):
            calls = [event for event in history(journal, head.run) if isinstance(event, CallStarted)]
            for call in {(call.step, call.item): call for call in calls}.values():
                with suppress(RequestRefused):  # it is in no doubt
                    self._settle(self.desk(journal), head.run, call)

    def _settle(self, desk: Chargehand, run: str, call: CallStarted) -> None:
        x = call.args["x"]
        if (x in self.world.held) == (call.tool == "hold"):
            desk.settle(run, call.step, item=call.item, happened={"ref": x} if call.tool == "hold" else True)
        else:
            desk.settle(run, call.step, item=call.item, did_not_happen=True)

    def finish(self, run: str) -> Outcome:
        """Drives a run, and settles its doubts, until it is over."""
        for _ in range(30):
            outcome = self.drive(run)
            assert outcome is not None
            if outcome.status != "in_doubt":
                return outcome
            self.settle()
        raise AssertionError("it is in doubt for ever")

    def ask(self, wish: str, run: str) -> None:
        with suppress(RequestRefused):
            getattr(self.desk(MemoryJournal(self.store)), wish)(run)


troubles = st.lists(st.sampled_from([None, None, None, "refused", "broken", "lost before", "lost after"]), max_size=12)
wishes = st.lists(st.tuples(st.sampled_from(["retry", "undo", "cancel", "resume"]), st.integers(0, 25)), max_size=4)


def a_life(what: Plan, trouble: list[Trouble], dies_at: int, wished: list[tuple[str, int]]) -> Family:
    family = Family(list(trouble))
    family.drive("r", what, dies_at)
    family.drive("r", what)
    for wish, at in wished:
        if wish != "resume":
            family.ask(wish, "r")
        family.drive("r", dies_at=at)
        family.settle()
        assert family.world.twice == [], wish
    return family


def take_back(family: Family, run: str) -> Outcome:
    """Takes everything back that a run did, now that nothing goes wrong any more."""
    family.world.troubles.clear()
    family.finish(run)
    family.ask("undo", run)
    return family.finish(run)


Wishes = list[tuple[str, int]]


def nothing_is_done_twice(what: Plan, trouble: list[Trouble], dies_at: int, wished: Wishes) -> None:
    family = a_life(what, trouble, dies_at, wished)

    family.finish("r")

    assert family.world.twice == []


def everything_can_be_taken_back(what: Plan, trouble: list[Trouble], dies_at: int, wished: Wishes) -> None:
    family = a_life(what, trouble, dies_at, wished)

    take_back(family, "r")

    assert (family.world.twice, family.world.held) == ([], set())


def a_fork_repeats_nothing_that_stands(
    what: Plan, trouble: list[Trouble], dies_at: int, at: int, wished: Wishes
) -> None:
    family = a_life(what, trouble, dies_at, wished)
    family.world.troubles.clear()
    family.finish("r")

    name = what.steps[at % len(what.steps)].id
    new = asyncio.run(family.desk(MemoryJournal(family.store)).fork("r", at=name))
    assert (family.finish(new).status, family.world.twice) == ("done", [])

    take_back(family, new)
    take_back(family, "r")
    assert (family.world.twice, family.world.held) == ([], set())


few = settings(max_examples=10, deadline=None)
many = settings(max_examples=300, deadline=None)
lives = given(plans(), troubles, st.integers(0, 40), wishes)
forks = given(plans(), troubles, st.integers(0, 40), st.integers(0, 2), wishes)

test_whatever_happens_nothing_is_done_twice = few(lives(nothing_is_done_twice))
test_whatever_happened_everything_can_be_taken_back = few(lives(everything_can_be_taken_back))
test_whatever_happened_a_fork_repeats_nothing_that_stands = few(forks(a_fork_repeats_nothing_that_stands))


@pytest.mark.slow
@lives
@many
def test_in_many_lives_nothing_is_done_twice(what: Plan, trouble: list[Trouble], dies_at: int, wished: Wishes) -> None:
    nothing_is_done_twice(what, trouble, dies_at, wished)


@pytest.mark.slow
@lives
@many
def test_in_many_lives_everything_can_be_taken_back(
    what: Plan, trouble: list[Trouble], dies_at: int, wished: Wishes
) -> None:
    everything_can_be_taken_back(what, trouble, dies_at, wished)


@pytest.mark.slow
@forks
@many
def test_in_many_lives_a_fork_repeats_nothing_that_stands(
    what: Plan, trouble: list[Trouble], dies_at: int, at: int, wished: Wishes
) -> None:
    a_fork_repeats_nothing_that_stands(what, trouble, dies_at, at, wished)
