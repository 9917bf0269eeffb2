"""The timetable: every flight of two weeks, drawn from its route and day alone."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from itertools import permutations

from chargehand.demo.draws import choose, draw
from chargehand.demo.travel.airports import PLACES, Place, distance
from chargehand.demo.travel.records import Flight

FIRST_DAY = date(2026, 11, 16)
DAYS = 14

CARRIERS = {
    "BH": "Blue Harbor",
    "HS": "Hudson Shuttle",
    "MM": "Minuteman Air",
    "PJ": "Prairie Jet",
    "TU": "Transatlantic Union",
}
_DOMESTIC = ("BH", "HS", "MM", "PJ")
_OVERSEAS = ("MM", "TU")

# Overseas only the large airports fly, and these two smaller pairs.
_EXTRA_OVERSEAS = ({"BOS", "ORY"}, {"JFK", "LGW"})

# On the Friday before Thanksgiving week the New York shuttle from Boston is full for the whole day until the evening.
_FULL = {(date(2026, 11, 20), "BOSJFK")}
_FULL_UNTIL = time(17)

_BUSY_DAYS = {4: 1.25, 6: 1.3}  # Friday and Sunday
_HOLIDAY_DAYS = {date(2026, 11, 25): 1.6, date(2026, 11, 29): 1.5}  # around Thanksgiving


@dataclass(frozen=True, slots=True)
class Route:
    """Two airports, how far they are apart, and how many flights a day there are."""

    origin: Place
    destination: Place
    km: float
    daily: int

    @property
    def codes(self) -> str:
        return self.origin.code + self.destination.code

    @property
    def overseas(self) -> bool:
        return self.origin.overseas or self.destination.overseas


def flights() -> Iterator[Flight]:
    """Every flight, in the order of days and routes."""
    routes = list(_routes())
    for day in (FIRST_DAY + timedelta(days=number) for number in range(DAYS)):
        for route in routes:
            for slot in range(route.daily):
                yield _flight(route, day, slot)


def _routes() -> Iterator[Route]:
    for origin, destination in permutations(PLACES, 2):
        km = distance(origin, destination)
        yield Route(origin, destination, km, _daily(origin, destination, km))


def _daily(origin: Place, destination: Place, km: float) -> int:
    size = origin.size + destination.size
    if origin.overseas and destination.overseas:
        return 0
    if origin.overseas or destination.overseas:
        return 1 if size == 6 or {origin.code, destination.code} in _EXTRA_OVERSEAS else 0
    if km < 150 or size < 4:
        return 0
    if km < 400:
        return size - 1  # shuttles
    return {6: 2, 5: 1}.get(size, 1 if km < 1_100 else 0)


def _flight(route: Route, day: date, slot: int) -> Flight:
    carrier = choose(_OVERSEAS if route.overseas else _DOMESTIC, "carrier", route.codes, slot)
    number = f"{carrier} {100 + draw(800, 'number', route.codes) + slot}"
    departs = _departure(route, day, slot)
    minutes = 45 + route.km / 13.5  # taxi and climb, then 810 km/h
    landed = departs.astimezone(UTC) + timedelta(minutes=5 * round(minutes / 5))
    arrives = landed.astimezone(route.destination.clock)
    return Flight(
        id=f"{number.replace(' ', '')}-{route.codes}-{day:%m%d}",
        carrier=CARRIERS[carrier],
        number=number,
        origin=route.origin.code,
        destination=route.destination.code,
        departs=departs,
        arrives=arrives,
        price=_price(route, day, slot),
        seats_left=_seats(route, day, slot, arrives),
    )


def _departure(route: Route, day: date, slot: int) -> datetime:
    """Spread over the day; to Europe in the evening, so that one arrives the next morning."""
    first, last = (18 * 60, 22 * 60) if route.destination.overseas else (6 * 60 + 15, 20 * 60 + 30)
    share = (last - first) // route.daily
    minute = (first + slot * share + draw(share, "minute", route.codes, slot)) // 5 * 5
    return datetime.combine(day, time(minute // 60, minute % 60), route.origin.clock)


def _price(route: Route, day: date, slot: int) -> float:
    base = 49 + 0.085 * route.km
    mood = 0.8 + draw(60, "price", route.codes, day, slot) / 100
    rush = _HOLIDAY_DAYS.get(day, _BUSY_DAYS.get(day.weekday(), 1.0))
    return round(base * mood * rush, 2)


def _seats(route: Route, day: date, slot: int, arrives: datetime) -> int:
    if (day, route.codes) in _FULL and arrives.time() <= _FULL_UNTIL:
        return 0
    return max(0, draw(44, "seats", route.codes, day, slot) - 3)  # about one flight in eleven is full
