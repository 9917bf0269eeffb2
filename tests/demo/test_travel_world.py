"""The travel world: what its data promises, and that its tools do what they declare."""

import asyncio
from collections.abc import Sequence
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pytest

from chargehand.catalog.tools import AnyTool
from chargehand.demo.travel.airports import PLACES, find_place
from chargehand.demo.travel.records import Booking, Flight, FlightList
from chargehand.demo.travel.timetable import DAYS, FIRST_DAY, flights
from chargehand.demo.travel.tools import make_tools
from chargehand.demo.travel.world import NOW, World

pytestmark = pytest.mark.slow

FRIDAY = date(2026, 11, 20)
FLIGHT = "PJ241-BOSLGA-1120"  # the one that the worked example ends with
FIVE_PM = datetime.fromisoformat("2026-11-20T17:00:00-05:00")


class Counter:
    """The tools of a world of its own, by name."""

    def __init__(self, path: Path | None = None) -> None:
        self.world = World(path)
        self._tools: dict[str, AnyTool] = {tool.name: tool for tool in make_tools(self.world)}

    def __getitem__(self, name: str) -> AnyTool:
        return self._tools[name]

    def search(self, origin: str, destination: str, day: date = FRIDAY) -> FlightList:
        return asyncio.run(self["search_flights"](origin, destination, day))

    def search_nearby(self, origin: str, destination: str, day: date = FRIDAY) -> list[Flight]:
        """What is found when either end is moved to a nearby airport."""
        pairs = [(code, destination) for code in self.nearby(origin)] + [(origin, c) for c in self.nearby(destination)]
        return self["merge_flights"]([self.search(one, other, day) for one, other in pairs])

    def nearby(self, airport: str) -> list[str]:
        return [one["code"] for one in self["nearby_airports"](airport)["airports"]]

    def cheapest(self, flights: Sequence[Flight], before: datetime = FIVE_PM) -> Flight:
        return self["cheapest"](flights, before)

    def book(self, flight_id: str, passenger: str) -> Booking:
        return asyncio.run(self["book_flight"](flight_id, passenger))


@pytest.fixture
def counter() -> Counter:
    return Counter()


def test_there_are_a_few_thousand_flights_over_two_weeks() -> None:
    found = list(flights())

    assert len(PLACES) == 27
    assert len(found) == 3_920
    assert len({flight.id for flight in found}) == 3_920
    assert {flight.departs.date() for flight in found} == {date(2026, 11, 16 + day) for day in range(DAYS)}
    assert NOW.date() == FIRST_DAY
    assert all(flight.departs < flight.arrives and flight.price > 0 for flight in found)


def test_moments_are_local_and_carry_their_offset(counter: Counter) -> None:
    flight = counter.search("BOS", "CDG").flights[0]

    assert flight.departs.isoformat() == "2026-11-20T19:35:00-05:00"
    assert flight.arrives.isoformat() == "2026-11-21T09:10:00+01:00"


# --- the goal of the worked example: the cheapest flight that arrives before 5 p.m. on Friday -------------------------


def test_from_boston_to_new_york_every_flight_in_time_is_full(counter: Counter) -> None:
    found = counter.search("BOS", "JFK").flights

    assert any(flight.arrives < FIVE_PM for flight in found)
    assert any(flight.seats_left for flight in found)
    with pytest.raises(LookupError, match=r"none of 4 flights fits: 1 arrive too late .*, 3 are full"):
        counter.cheapest(found)


def test_nearby_airports_have_flights_in_time(counter: Counter) -> None:
    assert counter.nearby("BOS") == ["MHT", "PVD"]
    assert counter.nearby("JFK") == ["LGA", "EWR"]

    best = counter.cheapest(counter.search_nearby("BOS", "JFK"))

    assert (best.id, best.destination, best.price) == ("PJ241-BOSLGA-1120", "LGA", 76.07)
    assert best.arrives < FIVE_PM


def test_to_paris_only_the_departures_of_the_day_before_arrive_in_time(counter: Counter) -> None:
    on_the_day = [*counter.search("BOS", "CDG").flights, *counter.search_nearby("BOS", "CDG")]
    assert {flight.destination for flight in on_the_day} == {"CDG", "ORY"}
    with pytest.raises(LookupError, match="2 arrive too late"):
        counter.cheapest(on_the_day)

    thursday = counter["day_before"](FRIDAY)
    day_before = [
        *counter.search("BOS", "CDG", thursday).flights,
        *counter.search_nearby("BOS", "CDG", thursday),
    ]

    assert thursday == date(2026, 11, 19)
    assert counter.cheapest(day_before).id == "MM857-BOSCDG-1119"


@pytest.mark.parametrize(("origin", "destination"), [("BOS", "JFK"), ("BOS", "CDG")])
def test_the_second_provider_does_not_help_where_the_first_one_fails(
    counter: Counter, origin: str, destination: str
) -> None:
    found: FlightList = counter["search_flights_aerolink"](origin, destination, FRIDAY)

    assert found.flights
    with pytest.raises(LookupError):
        counter.cheapest(found.flights)


# --- searching --------------------------------------------------------------------------------------------------------


def test_both_providers_give_the_same_shape_with_other_flights_and_prices(counter: Counter) -> None:
    finder, aerolink = counter["search_flights"], counter["search_flights_aerolink"]
    assert finder.signature.result_schema == aerolink.signature.result_schema
    assert aerolink.instead_of == ("search_flights",)

    first, second = counter.search("BOS", "LGA"), aerolink("BOS", "LGA", FRIDAY)

    assert {flight.carrier for flight in first.flights} == {"Hudson Shuttle", "Minuteman Air", "Prairie Jet"}
    assert {flight.carrier for flight in second.flights} == {"Hudson Shuttle", "Minuteman Air", "Blue Harbor"}
    prices = {flight.id: flight.price for flight in first.flights}
    fees = {round(flight.price - prices[flight.id], 2) for flight in second.flights if flight.id in prices}
    assert fees == {6.0}


def test_a_city_stands_for_its_largest_airport(counter: Counter) -> None:
    found = counter.search("boston", "Paris")

    assert (found.origin, found.destination) == ("BOS", "CDG")
    assert find_place("new york").code == "JFK"
    with pytest.raises(LookupError, match="no airport 'XYZ' here"):
        counter.search("XYZ", "JFK")


def test_a_flight_that_was_found_twice_counts_once_at_its_lower_price(counter: Counter) -> None:
    both = [counter.search("PVD", "JFK"), counter["search_flights_aerolink"]("PVD", "JFK", FRIDAY)]

    merged: list[Flight] = counter["merge_flights"](both)

    assert len({flight.id for flight in merged}) == len(merged)
    assert set(both[0].flights) <= set(merged)
    assert [flight.price for flight in merged] == sorted(flight.price for flight in merged)


def test_a_deadline_without_an_offset_is_refused(counter: Counter) -> None:
    with pytest.raises(ValueError, match="has no offset"):
        counter.cheapest([], FIVE_PM.replace(tzinfo=None))


# --- booking ----------------------------------------------------------------------------------------------------------


def test_booking_takes_a_seat_and_the_probe_finds_it(tmp_path: Path) -> None:
    counter = Counter(tmp_path / "world")
    find_booking = counter["find_booking"]
    before = counter.world.flight(FLIGHT).seats_left
    assert find_booking(FLIGHT, "Robin Hale") is None

    booking = counter.book(FLIGHT, "Robin Hale")

    assert World(tmp_path / "world").flight(FLIGHT).seats_left == before - 1
    assert find_booking(FLIGHT, "Robin Hale") == booking
    assert find_booking(FLIGHT, "Kim Ito") is None
    assert booking.price == 76.07


def test_booking_twice_is_two_bookings(counter: Counter) -> None:
    first, second = (counter.book(FLIGHT, "Robin Hale") for _ in range(2))

    assert first.reference != second.reference
    assert counter.world.bookings_of(FLIGHT, "Robin Hale") == [second, first]
    assert not counter["book_flight"].idempotent


def test_worlds_do_not_know_of_each_other(tmp_path: Path) -> None:
    one, other = Counter(tmp_path / "one"), Counter(tmp_path / "other")

    one.book(FLIGHT, "Robin Hale")

    assert other.world.bookings_of(FLIGHT, "Robin Hale") == []
    assert other.world.flight(FLIGHT).seats_left == 29


def test_a_full_or_unknown_flight_is_refused_and_nothing_is_written(counter: Counter) -> None:
    before = counter.world.dump()

    with pytest.raises(ValueError, match="is full"):
        counter.book("HS826-BOSJFK-1120", "Robin Hale")
    with pytest.raises(LookupError, match="no flight 'nowhere'"):
        counter.book("nowhere", "Robin Hale")

    assert counter.world.dump() == before


def test_the_last_seat_goes_to_one_of_two(counter: Counter) -> None:
    counter.book("MM450-BOSEWR-1120", "Robin Hale")

    with pytest.raises(ValueError, match="is full"):
        counter.book("MM450-BOSEWR-1120", "Kim Ito")


def test_releasing_a_hold_undoes_it_and_again_changes_nothing(counter: Counter) -> None:
    seats = counter.world.flight(FLIGHT).seats_left
    hold = counter["hold_seat"](FLIGHT, "Robin Hale")
    assert counter.world.flight(FLIGHT).seats_left == seats - 1
    assert counter["find_hold"](FLIGHT, "Robin Hale") == hold

    results = [counter["release_hold"](hold.hold_id).released for _ in range(2)]

    assert results == [True, False]
    assert counter.world.flight(FLIGHT).seats_left == seats
    assert counter["find_hold"](FLIGHT, "Robin Hale") is None


@pytest.mark.parametrize(
    ("language", "subject"),
    [
        ("en", "Your flight to New York is booked"),
        ("fr", "Votre vol pour New York est réservé"),
        ("de", "Ihr Flug nach New York ist gebucht"),
    ],
)
def test_a_confirmation_is_written_in_the_language_asked_for(counter: Counter, language: Any, subject: str) -> None:
    booking = counter.book(FLIGHT, "Robin Hale")

    letter = counter["write_confirmation"](booking, language)

    assert letter["subject"].startswith(subject)
    assert booking.reference in letter["subject"]
    assert "Robin Hale" in letter["body"]
    assert "76.07" in letter["body"]
