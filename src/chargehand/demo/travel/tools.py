"""The tools of the travel world."""

import asyncio
from dataclasses import replace
from datetime import date, datetime, timedelta
from itertools import chain

from chargehand.catalog.tools import AnyTool, tool
from chargehand.demo.database import PATIENCE
from chargehand.demo.travel.airports import find_place, near
from chargehand.demo.travel.letters import confirmation
from chargehand.demo.travel.records import (
    AirportList,
    Booking,
    Flight,
    FlightList,
    Hold,
    Language,
    Letter,
    Passenger,
    Provider,
    Release,
)
from chargehand.demo.travel.world import World

# Neither provider sells every carrier.
_NOT_SOLD = {Provider.FAREFINDER: "Blue Harbor", Provider.AEROLINK: "Prairie Jet"}
_AEROLINK_FEE = 6.0  # US dollars, within the price that it shows


def make_tools(world: World) -> list[AnyTool]:
    """Every tool of one travel world."""
    return [
        *_searching(world),
        *_booking(world),
        nearby_airports,
        merge_flights,
        cheapest,
        day_before,
        write_confirmation,
    ]


def _searching(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=10, cost=0.002, egress="api.farefinder.example")
    async def search_flights(origin: str, destination: str, day: date) -> FlightList:
        """Finds the flights of a route that leave on a day, cheapest first. Airports or cities; full flights too."""
        found = await asyncio.to_thread(_search, world, Provider.FAREFINDER, origin, destination, day)
        return replace(found, flights=sorted(found.flights, key=lambda flight: flight.price))

    @tool(effect="read", instead_of=search_flights, timeout=10, cost=0.01, egress="aerolink.example")
    def search_flights_aerolink(origin: str, destination: str, day: date) -> FlightList:
        """Finds flights at Aerolink, earliest first; its prices include a fee that the airline does not charge."""
        found = _search(world, Provider.AEROLINK, origin, destination, day)
        shown = [replace(flight, price=round(flight.price + _AEROLINK_FEE, 2)) for flight in found.flights]
        return replace(found, flights=shown)

    return [search_flights, search_flights_aerolink]


def _search(world: World, provider: Provider, origin: str, destination: str, day: date) -> FlightList:
    start, end = find_place(origin).code, find_place(destination).code
    flights = [flight for flight in world.flights_of(start, end, day) if flight.carrier != _NOT_SOLD[provider]]
    return FlightList(provider=provider, origin=start, destination=end, day=day, flights=flights)


def _booking(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, egress="airlines.example")
    def find_booking(flight_id: str, passenger: Passenger) -> Booking | None:
        """Finds the newest booking of a passenger on a flight, if there is one."""
        return next(iter(world.bookings_of(flight_id, passenger)), None)

    @tool(
        effect="irreversible",
        probe=find_booking,
        settles_within=PATIENCE,
        control=["flight_id", "passenger"],
        timeout=10,
        egress="airlines.example",
    )
    async def book_flight(flight_id: str, passenger: Passenger) -> Booking:
        """Books and pays one seat. There is no way back, and a second call books a second seat."""
        return await asyncio.to_thread(world.book, flight_id, passenger)

    return [find_booking, book_flight, *_holding(world)]


def _holding(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, egress="airlines.example")
    def find_hold(flight_id: str, passenger: Passenger) -> Hold | None:
        """Finds the seat that is held for a passenger on a flight, if there is one."""
        return next(iter(world.holds_of(flight_id, passenger)), None)

    @tool(effect="write", idempotent=True, control="hold_id", timeout=5, egress="airlines.example")
    def release_hold(hold_id: str) -> Release:
        """Gives a held seat back; doing it again changes nothing."""
        return world.release(hold_id)

    @tool(
        effect="write",
        undo=release_hold,
        probe=find_hold,
        settles_within=PATIENCE,
        control=["flight_id", "passenger"],
        timeout=5,
        egress="airlines.example",
    )
    def hold_seat(flight_id: str, passenger: Passenger) -> Hold:
        """Keeps one seat for a passenger without payment."""
        return world.hold(flight_id, passenger)

    return [find_hold, release_hold, hold_seat]


@tool(effect="read", timeout=5, egress=[])
def nearby_airports(airport: str) -> AirportList:
    """Lists the other airports within a drive of an airport or city, nearest first."""
    place = find_place(airport)
    return {
        "around": place.code,
        "airports": [
            {"code": other.code, "name": other.name, "city": other.city, "zone": other.zone, "km": km}
            for km, other in near(place)
        ],
    }


@tool(effect="read", timeout=5, egress=[])
def merge_flights(lists: list[FlightList]) -> list[Flight]:
    """Joins the flights of several searches; a flight that was found twice counts once, at its lower price."""
    found = sorted(chain.from_iterable(one.flights for one in lists), key=lambda flight: flight.price)
    return list({flight.id: flight for flight in reversed(found)}.values())[::-1]


@tool(effect="read", timeout=5, egress=[])
def cheapest(flights: list[Flight], arrive_before: datetime) -> Flight:
    """Picks the cheapest flight that has a seat and arrives before a moment (with its offset from UTC)."""
    if arrive_before.tzinfo is None:
        raise ValueError(f"{arrive_before.isoformat()} has no offset; write 2026-11-20T17:00:00-05:00")
    early = [flight for flight in flights if flight.arrives < arrive_before]
    free = [flight for flight in early if flight.seats_left > 0]
    if not free:
        raise LookupError(
            f"none of {len(flights)} flights fits: {len(flights) - len(early)} arrive too late for "
            f"{arrive_before.isoformat()}, {len(early)} are full"
        )
    return min(free, key=lambda flight: (flight.price, flight.departs, flight.id))


@tool(effect="read", timeout=5, egress=[])
def day_before(day: date) -> date:
    """Gives the day before a day."""
    return day - timedelta(days=1)


@tool(effect="read", timeout=5, egress=[])
def write_confirmation(booking: Booking, language: Language = "en") -> Letter:
    """Writes the letter that confirms a booking to its traveller."""
    return confirmation(booking, language)
