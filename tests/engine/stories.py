"""Stories: runs of every kind, told once, whose events others look at."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

from tests.engine.family import FamilyBench, as_asked, gives, playbook, pursue
from tests.engine.workbench import plan, step

from chargehand import Chargehand, Goal, Outcome, Plan, approve_all, tool
from chargehand.adapters.memory import MemoryJournal, MemoryStore
from chargehand.errors import NotPerformed, Transient
from chargehand.testing.crashes import Crash, CrashingJournal

LARGE = {"rows": ["x" * 100] * 100}
RESERVE = playbook("Reserve {n}", step("h", "hold", "inputs.n"), answer={"$": "h.ref"})
POST = playbook("Post {n}", step("s", "send", "inputs.n", expect=["output > 0"]), answer={"$": "s"})
SHOP = plan(step("price", x=40), {"id": "buy", "use": "send", "with": {"x": {"$": "price", "max_age": 60}}})
PAIR = plan(step("a", "hold", 1), step("b", "hold", 2, after=["a"]), answer={"$": "b.ref"})


class Story:
    """A desk on a journal of its own, and a run that is called r."""

    def __init__(self) -> None:
        self.bench, self.journal = FamilyBench(), MemoryJournal()
        self.desk = self.furnish()

    def furnish(self, *extra: Any, **options: Any) -> Chargehand:
        given: dict[str, Any] = {"playbooks": [RESERVE, POST], **options}
        tools = [*self.bench.tools(), *extra]
        self.desk = Chargehand(tools=tools, journal=self.journal, clock=self.bench.clock, **given)
        return self.desk

    def run(self, what: Plan | Goal | str, run: str = "r") -> str:
        return self._seen(self.desk.run(what, run_id=run))

    def go_on(self, run: str = "r") -> str:
        return self._seen(self.desk.resume(run))

    def _seen(self, work: Coroutine[Any, Any, Outcome]) -> str:
        """What a driver says of its run is what its journal says."""
        outcome = asyncio.run(asyncio.wait_for(work, 10))
        assert outcome == self.desk.show(outcome.run_id)
        return outcome.status

    def fork(self, at: str, run: str = "r") -> str:
        return asyncio.run(self.desk.fork(run, at=at))


def steps_of_every_kind(story: Story) -> None:
    story.bench.mischief = {"look": [Transient("busy")], "anything": [ValueError("no")]}
    one = step("a", x=2)
    each = step("b", x="item + a", each="[1, 2, 2]")
    skipped = [step("c", when="a > 5"), step("d", x="c"), step("e", "anything", if_fails="skip")]
    last = [step("f", "put", "b[1]"), step("g", x="item", each="[1].filter(n, n > 5)"), step("h", "write", after=["f"])]
    assert story.run(plan(one, each, *skipped, *last, answer={"$": "[b[0], f]"})) == "done"


def large_values(story: Story) -> None:
    story.bench.mischief["anything"] = [gives(LARGE), gives({"#": "0" * 64}), gives([LARGE, LARGE])]
    large, odd = step("a", "anything"), step("b", "anything", after=["a"])
    each = step("c", "anything", "size(item.rows)", each="[a, a]", after=["b"])
    assert story.run(plan(large, odd, each, answer={"all": [{"$": "a"}, {"$": "b"}, {"$": "c"}]})) == "done"
    story.go_on(story.fork("c"))


def a_failure_and_a_retry(story: Story) -> None:
    story.bench.mischief = {"write": [NotPerformed("closed")], "look": [ValueError("dark")]}
    assert story.run(plan(step("a", "write"), step("b"), step("c", x="1 / (a - b)"))) == "failed"
    story.desk.retry("r", because="the lamp was mended")
    assert story.go_on() == "failed"
    story.desk.supply("r", "c", 3)
    assert story.go_on() == "done"


def a_revision(story: Story) -> None:
    around = {"drop": ["a"], "add": [step("c", "write", 4)], "answer": {"$": "c"}}
    revision = {"when": "failure.step == 'a'", "because": "another way", "patch": around}
    book = playbook("Try", step("a", "write", 4, expect=["output > 9"]), answer={"$": "a"}, revisions=[revision])
    story.furnish(playbooks=[book])
    assert story.run("Try") == "done"


def approvals(story: Story) -> None:
    assert story.run(plan(step("a", "send", "item", each="[1, 2, 3]", expect=["output > 0"]))) == "waiting"
    story.desk.approve("r", "a", item=0)
    assert story.go_on() == "waiting"
    story.desk.deny("r", "a", item=1, because="too dear")
    assert story.go_on() == "failed"


def an_approval_that_expired(story: Story) -> None:
    story.run(plan(step("a", "send", expect=["output > 0"])))
    story.bench.clock.advance(30 * 24 * 3600)
    assert story.go_on() == "failed"


def doubts(story: Story) -> None:
    story.bench.mischief["write"] = [TimeoutError("slow")] * 4
    assert story.run(plan(step("a", "write", "item", each="[1, 2, 3, 4]"), step("b", after=["a"]))) == "in_doubt"
    story.desk.settle("r", "a", item=0, happened=7)
    story.desk.settle("r", "a", item=1, did_not_happen=True)
    story.desk.supply("r", "a", 8, item=2)
    assert story.go_on() == "in_doubt"
    story.desk.settle("r", "a", item=3, stop=True, because="nobody knows")
    assert story.go_on() == "failed"


def a_probe(story: Story) -> None:
    @tool(effect="read", egress=[])
    async def find(x: int) -> int | None:
        """Says whether it was written."""
        return story.bench.act("find", x)

    @tool(effect="write", probe=find, settles_within=60, egress=[])
    async def note(x: int) -> int:
        """Writes, and can be asked whether it did."""
        return story.bench.act("note", x)

    story.bench.mischief = {
        "note": [TimeoutError("slow")],
        "find": [ValueError("dark"), gives(None), gives(None)],
    }
    story.furnish(note)
    assert story.run(plan(step("a", "note"))) == "done"


def a_crash(story: Story) -> None:
    store = MemoryStore()
    for at in range(2, 9):
        mortal = MemoryJournal(store)
        story.journal = CrashingJournal(mortal, at)  # pyright: ignore[reportAttributeAccessIssue]
        story.furnish(approver=approve_all)
        try:
            story.run(plan(step("a"), step("b", "put", "a"), step("c", "write", "b"), pursue("d", "Post 3")))
        except Crash:
            mortal.close()
    story.journal = MemoryJournal(store)
    story.furnish(approver=approve_all)
    story.go_on()


def a_tool_that_changed(story: Story) -> None:
    story.run(plan(step("a", "send", expect=["output > 0"])))
    story.desk.approve("r", "a")
    story.desk = Chargehand(journal=story.journal, clock=story.bench.clock)
    assert story.go_on() == "waiting"
    story.furnish()
    assert story.go_on() == "done"


def a_cancellation(story: Story) -> None:
    story.run(plan(step("a", "send", expect=["output > 0"]), pursue("b", "Post 3"), step("c")))
    story.desk.cancel("r", because="not needed")
    story.desk.approve("r", "a")  # too late, and refused
    assert story.go_on() == "cancelled"


def children(story: Story) -> None:
    story.bench.mischief["hold"] = [ValueError("full"), as_asked, TimeoutError("slow")]
    both = pursue("b", "Reserve", {"each": "[a.ref, 2]"}, n="item")
    assert story.run(plan(pursue("z", "Reserve 9", {"if_fails": "skip"}), step("a", "hold", after=["z"]), both)) == (
        "in_doubt"
    )
    [child] = story.desk.runs(status=["in_doubt"], parent="r")
    story.desk.settle(child.run, "h", happened={"ref": 5})
    assert story.go_on() == "done"


def a_child_that_waits(story: Story) -> None:
    assert story.run(plan(pursue("b", "Post 3"), step("c", x="b"), answer={"$": "c"})) == "waiting"
    assert story.go_on() == "waiting"
    story.desk.approve("r/b/0/1", "s")
    assert story.go_on("r/b/0/1") == "done"
    assert story.go_on() == "done"


def undoing(story: Story) -> None:
    story.bench.mischief["release"] = [as_asked, ValueError("locked"), TimeoutError("slow")]
    story.run(plan(step("a", "hold", 1), pursue("b", "Reserve 2", {"after": ["a"]}), step("c", "hold", 3, after=["b"])))
    story.desk.undo("r")
    assert story.go_on() == "failed"
    story.desk.retry("r")
    assert story.go_on() == "in_doubt"
    story.desk.settle("r/b/0/1", "undo_h", happened=True)
    assert story.go_on() == "cancelled"


def all_or_nothing(story: Story) -> None:
    goal = Goal(text="Reserve 4", expect=("answer > 500",), all_or_nothing=True)
    assert story.run(goal) == "failed"


def forks(story: Story) -> None:
    story.run(plan(step("a", "hold", 1), step("b", x="a.ref"), step("c", when="false"), step("d", "write", "b")))
    new = story.fork("b")
    assert story.go_on(new) == "done"
    story.desk.undo("r")
    story.go_on()
    assert story.go_on(story.fork("d", new)) == "done"
    assert story.go_on(story.fork("b")) == "done"


def freshness(story: Story) -> None:
    story.run(SHOP)
    for price in (40, 55):
        story.bench.clock.advance(3600)
        story.bench.mischief["look"] = [gives(price)]
        if story.desk.show("r").status == "waiting":
            story.desk.approve("r", "buy")
            story.go_on()


STORIES: list[Callable[[Story], None]] = [
    steps_of_every_kind,
    large_values,
    a_failure_and_a_retry,
    a_revision,
    approvals,
    an_approval_that_expired,
    doubts,
    a_probe,
    a_crash,
    a_tool_that_changed,
    a_cancellation,
    children,
    a_child_that_waits,
    undoing,
    all_or_nothing,
    forks,
    freshness,
]


def tell(story: Callable[[Story], None]) -> Story:
    told = Story()
    story(told)
    return told
