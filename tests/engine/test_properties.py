"""Random plans, failures, crashes, answers and times: what is promised holds in whatever order they come."""

import asyncio
from collections import Counter
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import HealthCheck, settings
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from chargehand import Chargehand, IdempotencyKey, NotPerformed, Plan, RequestRefused, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.domain.work import Outcome
from chargehand.engine.decide import decide
from chargehand.errors import RunUnknown
from chargehand.testing.clock import FakeClock
from chargehand.testing.crashes import Crash, CrashingJournal

MISCHIEF = st.sampled_from(["", "", "", "raises", "times out", "refuses"])
STEPS = [f"s{number}" for number in range(5)]


class World:
    """What the tools really did, whatever the runs believe."""

    def __init__(self) -> None:
        self.reads = Counter[str]()
        self.effects = Counter[tuple[str, str]]()
        self.done_with: dict[tuple[str, str], set[int]] = {}
        self.mischief: list[str] = []

    def trouble(self, before: bool) -> None:
        """The next trouble in line: one that strikes before the effect, or after it."""
        if self.mischief and (self.mischief[0] in ("raises", "refuses")) == before:
            match self.mischief.pop(0):
                case "raises":
                    raise ValueError("broken")
                case "refuses":
                    raise NotPerformed("not now")
                case "times out":
                    raise TimeoutError("no answer")
                case _:
                    pass

    def act(self, name: str, key: str, x: int) -> int:
        self.trouble(before=True)
        self.effects[name, key] += 1
        self.done_with.setdefault((name, key), set()).add(x)
        self.trouble(before=False)
        return x

    def tools(self) -> list[Any]:
        @tool(effect="read", retry=2, egress=[])
        async def look(x: int) -> int:
            """Reads."""
            self.trouble(before=True)
            return x

        @tool(effect="write", egress=[])
        async def write(x: int, key: IdempotencyKey) -> int:
            """Writes."""
            return self.act("write", key, x)

        @tool(effect="write", retry=2, egress=[])
        async def sure(x: int, key: IdempotencyKey) -> int:
            """Writes, and tries again what certainly did not happen."""
            return self.act("sure", key, x)

        @tool(effect="irreversible", egress=[])
        async def send(x: int, key: IdempotencyKey) -> int:
            """Sends."""
            return self.act("send", key, x)

        return [look, write, sure, send]


@st.composite
def plans(draw: st.DrawFn) -> dict[str, Any]:
    steps: list[dict[str, object]] = []
    for number, id in enumerate(STEPS[: draw(st.integers(1, 5))]):
        use = draw(st.sampled_from(["look", "write", "sure", "send"]))
        step: dict[str, object] = {"id": id, "use": use, "with": {"x": number}, "expect": ["output == args.x"]}
        if number:
            step["after"] = draw(st.lists(st.sampled_from(STEPS[:number]), max_size=2, unique=True))
        if draw(st.integers(0, 3)) == 0:
            step |= {"each": "[1, 2]", "with": {"x": {"$": f"item * 10 + {number}"}}}
        if draw(st.integers(0, 5)) == 0:
            step["if_fails"] = draw(st.sampled_from(["skip", "stop"]))
        steps.append(step)
    return {"steps": steps}


class Life(RuleBasedStateMachine):
    """A run, its world, the processes that drive it and the people who answer."""

    def __init__(self) -> None:
        super().__init__()
        self.world, self.store, self.clock = World(), MemoryStore(), FakeClock()
        self.approvals = Counter[str]()
        self.denied_effects = Counter[str]()
        self.outcome: Outcome | None = None

    def desk(self, journal: Any) -> Chargehand:
        return Chargehand(tools=self.world.tools(), journal=journal, clock=self.clock)

    @initialize(plan=plans(), mischief=st.lists(MISCHIEF, max_size=6))
    def begin(self, plan: dict[str, Any], mischief: list[str]) -> None:
        self.plan, self.world.mischief = Plan.parse(plan), mischief

    @rule(at=st.integers(0, 25), take_over=st.booleans())
    def drive_until_it_dies(self, at: int, take_over: bool) -> None:
        journal = MemoryJournal(self.store)
        desk = self.desk(CrashingJournal(journal, at))
        try:
            self.outcome = asyncio.run(asyncio.wait_for(desk.run(self.plan, run_id="r"), 20))
        except Crash:
            self.outcome = None
        journal.close()

    @rule(take_over=st.booleans())
    def drive(self, take_over: bool) -> None:
        journal = MemoryJournal(self.store)
        self.outcome = asyncio.run(asyncio.wait_for(self.desk(journal).run(self.plan, run_id="r"), 20))
        journal.close()

    def say(self, what: str, *args: Any, **more: Any) -> bool:
        """Says something to the run; whether it was taken."""
        journal = MemoryJournal(self.store)
        try:
            getattr(self.desk(journal), what)("r", *args, **more)
        except RequestRefused:
            return False
        finally:
            journal.close()
        return True

    @property
    def exists(self) -> bool:
        return self.seq > 0

    @property
    def seq(self) -> int:
        """How many events the run has; none if it has not begun."""
        try:
            return MemoryJournal(self.store).head("r").seq
        except RunUnknown:
            return 0

    @precondition(lambda self: self.exists)
    @rule(step=st.sampled_from(STEPS), item=st.integers(0, 1))
    def approve(self, step: str, item: int) -> None:
        if self.say("approve", step, item=item):
            self.approvals[f"{step} {item}"] += 1

    @precondition(lambda self: self.exists)
    @rule(step=st.sampled_from(STEPS), item=st.integers(0, 1))
    def deny(self, step: str, item: int) -> None:
        self.say("deny", step, item=item)

    @precondition(lambda self: self.exists)
    @rule(step=st.sampled_from(STEPS), item=st.integers(0, 1), value=st.integers(0, 50), how=st.integers(0, 2))
    def settle(self, step: str, item: int, value: int, how: int) -> None:
        answer: dict[str, Any] = [{"happened": value}, {"did_not_happen": True}, {"stop": True}][how]
        if self.say("settle", step, item=item, **answer) and how == 1:
            self.denied_effects[step] += 1

    @precondition(lambda self: self.exists)
    @rule(step=st.sampled_from(STEPS), item=st.integers(0, 1), value=st.integers(0, 50))
    def supply(self, step: str, item: int, value: int) -> None:
        self.say("supply", step, value, item=item)

    @precondition(lambda self: self.exists)
    @rule(what=st.sampled_from(["retry", "cancel", "retry", "undo"]))
    def ask(self, what: str) -> None:
        self.say(what)

    @rule(seconds=st.sampled_from([1.0, 3600.0, 8 * 24 * 3600.0]))
    def time_passes(self, seconds: float) -> None:
        self.clock.advance(seconds)

    @invariant()
    def each_effect_happened_once_unless_somebody_said_that_it_did_not(self) -> None:
        repeated = sum(times - 1 for times in self.world.effects.values() if times > 1)
        assert repeated <= self.denied_effects.total()

    @invariant()
    def one_approval_is_one_effect(self) -> None:
        sent = sum(times for (name, _), times in self.world.effects.items() if name == "send")
        assert sent <= self.approvals.total() + self.denied_effects.total()

    @invariant()
    def a_key_stands_for_one_thing(self) -> None:
        assert all(len(values) == 1 for values in self.world.done_with.values())

    @invariant()
    def no_run_is_stuck(self) -> None:
        """What a driver left without dying is over, or waits for somebody or some time, and says so."""
        if self.outcome is not None:
            assert self.outcome.status in ("done", "failed", "cancelled", "waiting", "in_doubt"), self.outcome
            if self.outcome.status in ("done", "failed", "cancelled"):
                assert self.outcome.run_id == "r"

    @invariant()
    def a_step_began_only_when_all_that_it_needs_had_succeeded(self) -> None:
        if self.outcome is None:
            return
        reports = {report.step: report for report in self.outcome.reports}
        for step in self.plan.steps:
            if reports[step.id].attempts:
                assert all(reports[need].status in ("done", "skipped") for need in self.plan.needs(step))

    def teardown(self) -> None:
        """Every state on the way has something to do, waits for what is under way, or is over; and the same events
        give the same state."""
        runs = self.desk(MemoryJournal(self.store))._runs  # pyright: ignore[reportPrivateUsage]
        for at in range(1, self.seq + 1):
            state = runs.state("r", at)
            assert decide(state) or state.in_flight or state.ended is not None, (at, state)
            assert decide(state) == decide(runs.state("r", at))
            assert state == runs.state("r", at)


Life.TestCase.settings = settings(
    max_examples=12, stateful_step_count=15, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
TestLife = Life.TestCase


@pytest.mark.slow
class TestLongLife(Life.TestCase):
    settings = settings(
        max_examples=100, stateful_step_count=30, deadline=None, suppress_health_check=[HealthCheck.too_slow]
    )
