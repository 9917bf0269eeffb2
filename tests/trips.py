"""A small world for the tests: a few typed tools and a desk that knows them."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field
from typing_extensions import TypedDict

from chargehand import Agent, Chargehand, Diagnostic, Skill, tool


class Cabin(StrEnum):
    ECONOMY = "economy"
    BUSINESS = "business"


@dataclass(frozen=True)
class Flight:
    id: str
    price: float
    seats: int
    arrives: str
    note: str | None
    tags: list[str]
    legs: list[list[int]]
    cabin: Cabin


@dataclass(frozen=True)
class FlightList:
    flights: list[Flight]
    best: Flight | None
    by_carrier: dict[str, Flight]


class Booking(BaseModel):
    reference: str
    paid: float
    flight: Flight


class Notice(TypedDict, total=False):
    subject: str
    body: str


class Tree(BaseModel):
    name: str
    children: "list[Tree]" = []


@tool(effect="read", cost=0.01)
async def search(origin: str, destination: str, day: dt.date, cabin: Cabin = Cabin.ECONOMY) -> FlightList:
    """Finds flights."""
    raise NotImplementedError


@tool(effect="read")
def cheapest(flights: list[Flight], arrive_before: dt.time | None = None) -> Flight:
    """Picks the cheapest flight."""
    raise NotImplementedError


@tool(effect="irreversible", control=["flight_id"], cost=0.5)
def book(
    flight_id: str,
    seats: Annotated[int, Field(ge=1, le=9)] = 1,
    options: dict[str, str] | None = None,
    kind: Literal["single", "return"] = "single",
) -> Booking:
    """Books a flight."""
    raise NotImplementedError


@tool(effect="write")
def release(hold_id: str) -> bool:
    """Gives a held seat back."""
    raise NotImplementedError


class Hold(TypedDict):
    hold_id: str


@tool(effect="write", undo=release)
def hold(flight_id: str) -> Hold:
    """Holds a seat."""
    raise NotImplementedError


@tool(effect="read")
def write_notice(booking: Booking, tone: str = "kind") -> Notice:
    """Writes a notice."""
    raise NotImplementedError


@tool(effect="read")
def family(name: str) -> Tree:
    """Gives a tree: a schema that refers to itself."""
    raise NotImplementedError


@tool(effect="read")
def anything() -> Any:
    """Gives something of no declared form."""
    raise NotImplementedError


TOOLS = [search, cheapest, book, release, hold, write_notice, family, anything]
NOW = dt.datetime(2026, 11, 16, 9, tzinfo=dt.timezone(dt.timedelta(hours=-5)))


class StandingClock:
    def now(self) -> dt.datetime:
        return NOW

    def time(self) -> float:
        return NOW.timestamp()

    async def sleep(self, seconds: float) -> None:
        raise NotImplementedError


HOTEL: dict[str, object] = {
    "name": "hotel",
    "answers": ["Find me a hotel in {city}"],
    "inputs": {"city": "text", "stars": {"type": "integer", "default": 3}},
    "returns": {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]},
    "answer": {"name": {"$": "inputs.city"}},
}


@cache
def desk() -> Chargehand:
    """The desk of the tests; nothing on it can change, so all share it."""
    writer = Agent("writer", skills=[Skill("writing", "Writes letters")])
    return Chargehand(tools=TOOLS, agents=[writer], playbooks=[HOTEL], clock=StandingClock())


FIND: dict[str, object] = {
    "id": "find",
    "use": "search",
    "with": {"origin": "BOS", "destination": "JFK", "day": "2026-11-20"},
}
PICK: dict[str, object] = {"id": "pick", "use": "cheapest", "with": {"flights": {"$": "find.flights"}}}


def trip(*steps: Mapping[str, object], **more: object) -> dict[str, object]:
    """A plan of `find`, `pick` and further steps."""
    return {"steps": [FIND, PICK, *steps], **more}


def booking(**fields: object) -> dict[str, object]:
    """A step that books what `pick` found, with some fields changed."""
    step: dict[str, object] = {
        "id": "booked",
        "use": "book",
        "with": {"flight_id": {"$": "pick.id"}},
        "expect": ["output.paid <= pick.price"],
    }
    return {key: value for key, value in {**step, **fields}.items() if value is not None}


def found(plan: Any) -> list[Diagnostic]:
    return desk().check(plan)


def codes(plan: Any) -> list[str]:
    return [diagnostic.code for diagnostic in found(plan)]
