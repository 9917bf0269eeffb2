"""Failures: what is made of an exception, whatever it is."""

import asyncio
from pathlib import Path
from typing import Any

from pydantic import BaseModel, field_serializer, field_validator
from tests.engine.workbench import sqlite
from tests.execution.misbehaviour import PLAN, Act, acting, failure, look, raising, run

from chargehand import Chargehand, Plan, Transient, tool


def test_errors_of_a_group_are_understood() -> None:
    async def lose(error: Exception) -> None:
        raise error

    def losing(*errors: Exception) -> Act:
        async def work() -> None:
            async with asyncio.TaskGroup() as group:
                for error in errors:
                    group.create_task(lose(error))

        return work

    assert failure(run(losing(ConnectionResetError("gone"), TimeoutError()), retry=1)).kind == "transient"
    assert failure(run(losing(ConnectionResetError("gone"), ValueError("no")))).message == "ValueError: no"
    assert run(losing(ConnectionResetError("gone"), ValueError("no")), effect="write")["bad"].status == "in_doubt"
    assert failure(run(losing(ValueError("no")), effect="write")).message == "ValueError: no"


def test_an_exception_that_cannot_even_be_shown_is_a_failure() -> None:
    class Unspeakable(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    class Trapped(Exception):
        @property
        def response(self) -> Any:
            raise RuntimeError("no response")

    class Untold(Transient):
        def __init__(self) -> None:
            pass

    assert failure(run(raising(Unspeakable()))).message == "Unspeakable: its message cannot be read"
    assert failure(run(raising(Trapped()))).message == "Trapped"
    assert failure(run(raising(Untold()))).message == "Untold"


def test_a_message_that_no_journal_can_hold_is_cleaned(tmp_path: Path) -> None:
    desk = Chargehand(tools=[acting(raising(ValueError("a\0b \ud800 c"))), look], journal=sqlite(tmp_path))

    assert failure(desk.run_sync(PLAN)).message == "ValueError: ab ? c"


def test_a_pause_that_is_no_number_is_ignored() -> None:
    strange: Any = "soon"
    outcomes = [run(raising(Transient("busy", retry_after=after))) for after in (strange, -1.0, float("nan"))]

    assert [len(outcome["bad"].attempts) for outcome in outcomes] == [3, 3, 3]


def test_megabytes_raised_are_cut() -> None:
    for error in (ValueError("x" * 5_000_000), Transient("x" * 5_000_000, hint="y" * 5_000_000)):
        said = failure(run(raising(error), retry=1))

        assert len(said.message) <= 2000
        assert len(said.hint) <= 2000


class Picky(BaseModel):
    name: str

    @field_validator("name")
    @classmethod
    def _check(cls, name: str) -> str:
        return {"known": name}[name]

    @field_serializer("name")
    def _write(self, name: str) -> str:
        return {"other": name}[name]


def test_types_that_raise_whatever_they_like_fail_their_step() -> None:
    @tool(effect="read", egress=[])
    async def take(who: Picky) -> int:
        """Takes a picky record."""
        raise NotImplementedError

    @tool(effect="read", egress=[])
    async def give() -> Picky:
        """Gives a picky record."""
        return Picky(name="known")

    desk = Chargehand(tools=[take, give])
    unfit = Plan.parse({"steps": [{"id": "a", "use": "take", "with": {"who": {"name": "unknown"}}}]})
    taken = desk.run_sync(unfit)["a"].error
    given = desk.run_sync(Plan.parse({"steps": [{"id": "a", "use": "give"}]}))["a"].error

    assert taken is not None
    assert (taken.kind, taken.message) == ("invalid", "the arguments do not fit: KeyError: 'unknown'")
    assert given is not None
    assert given.kind == "check_failed"
