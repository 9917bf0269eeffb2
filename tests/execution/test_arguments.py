"""A tool may change what it is given and what it gave: nobody else sees it."""

import asyncio
from typing import Any

from chargehand import Chargehand, Plan, Transient, tool
from chargehand.domain.events import CallStarted
from chargehand.testing.clock import FakeClock

WHOLE = {"rows": [{"n": 1}, {"n": 2}]}
SEEN_WHOLE = (repr(WHOLE), "[1]")


def spoiling_desk(failing: int = 0) -> tuple[Chargehand, list[tuple[str, str]]]:
    """A desk whose `spoil` destroys all that it is given, fails some times first, and tells what it saw."""
    seen: list[tuple[str, str]] = []

    @tool(effect="read", egress=[])
    async def make() -> Any:
        """Makes something to be spoilt."""
        return {"rows": [{"n": 1}, {"n": 2}]}

    @tool(effect="read", egress=[])
    async def spoil(data: Any, extra: list[Any] = [1]) -> int:  # noqa: B006
        """Destroys what it is given."""
        seen.append((repr(data), repr(extra)))
        data["rows"][0].clear()
        data["rows"].append("spoilt")
        extra.append("spoilt")
        if len(seen) <= failing:
            raise Transient("busy")
        return 1

    @tool(effect="read", egress=[])
    async def show(data: Any) -> Any:
        """Gives what it is given."""
        return data

    return Chargehand(tools=[make, spoil, show], clock=FakeClock()), seen


def journalled(desk: Chargehand, run: str) -> list[Any]:
    async def arguments() -> list[Any]:
        return [event.args async for _, event in desk.follow(run) if isinstance(event, CallStarted)]

    return asyncio.run(arguments())


def test_neither_other_steps_nor_checks_nor_the_journal_see_a_change() -> None:
    desk, seen = spoiling_desk()
    data = {"data": {"$": "made"}}
    steps = [
        {"id": "made", "use": "make"},
        {"id": "bad", "use": "spoil", "with": data, "expect": ["args.data.rows.size() == 2"]},
        {"id": "again", "use": "spoil", "with": data, "after": ["bad"]},
        {"id": "after", "use": "show", "with": data, "after": ["again"]},
    ]

    outcome = desk.run_sync(Plan.parse({"steps": steps, "answer": [{"$": "made"}, {"$": "after"}]}))

    assert (outcome.status, outcome.answer) == ("done", [WHOLE, WHOLE])
    assert seen == [SEEN_WHOLE] * 2
    assert journalled(desk, outcome.run_id) == [{}, *[{"data": WHOLE}] * 3]


def test_another_try_is_given_what_the_first_one_was() -> None:
    desk, seen = spoiling_desk(failing=2)

    outcome = desk.run_sync(Plan.parse({"steps": [{"id": "bad", "use": "spoil", "with": {"data": WHOLE}}]}))

    assert outcome.status == "done"
    assert seen == [SEEN_WHOLE] * 3


def test_each_item_is_given_whole() -> None:
    desk, seen = spoiling_desk()
    steps = [
        {"id": "made", "use": "make"},
        {"id": "bad", "use": "spoil", "each": "[made, made]", "with": {"data": {"$": "item"}}},
    ]

    outcome = desk.run_sync(Plan.parse({"steps": steps, "answer": {"$": "made"}}))

    assert (outcome.status, outcome.answer) == ("done", WHOLE)
    assert seen == [SEEN_WHOLE] * 2


def test_a_result_that_is_changed_later_stays_as_it_was_given() -> None:
    kept = [1]

    @tool(effect="read", egress=[])
    async def give() -> list[int]:
        """Gives a list, and changes it at each call."""
        kept.append(len(kept) + 1)
        return kept

    steps = [{"id": "a", "use": "give"}, {"id": "b", "use": "give", "after": ["a"]}]
    outcome = Chargehand(tools=[give]).run_sync(Plan.parse({"steps": steps, "answer": [{"$": "a"}, {"$": "b"}]}))

    assert outcome.answer == [[1, 2], [1, 2, 3]]
