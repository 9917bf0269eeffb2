"""The airports of the travel world, and how far they are from each other."""

from dataclasses import dataclass
from math import asin, cos, radians, sin, sqrt
from zoneinfo import ZoneInfo

NEAR = 120.0  # kilometres: about as far as one would drive to take another flight


@dataclass(frozen=True, slots=True)
class Place:
    """An airport on the map. `size` is 1 to 3, and says how much flies there."""

    code: str
    name: str
    city: str
    zone: str
    latitude: float
    longitude: float
    size: int

    @property
    def overseas(self) -> bool:
        return self.zone.startswith("Europe/")

    @property
    def clock(self) -> ZoneInfo:
        return ZoneInfo(self.zone)


_EAST, _MIDDLE, _WEST = "America/New_York", "America/Chicago", "America/Los_Angeles"

PLACES = (
    Place("ATL", "Hartsfield-Jackson", "Atlanta", _EAST, 33.637, -84.428, 3),
    Place("BOS", "Logan", "Boston", _EAST, 42.363, -71.006, 3),
    Place("BUR", "Hollywood Burbank", "Los Angeles", _WEST, 34.201, -118.359, 1),
    Place("BWI", "Thurgood Marshall", "Washington", _EAST, 39.175, -76.668, 1),
    Place("CDG", "Charles de Gaulle", "Paris", "Europe/Paris", 49.010, 2.548, 3),
    Place("DCA", "Ronald Reagan", "Washington", _EAST, 38.852, -77.038, 2),
    Place("DEN", "Denver International", "Denver", "America/Denver", 39.862, -104.673, 2),
    Place("DFW", "Dallas/Fort Worth", "Dallas", _MIDDLE, 32.897, -97.038, 3),
    Place("EWR", "Newark Liberty", "Newark", _EAST, 40.692, -74.169, 2),
    Place("FLL", "Hollywood International", "Fort Lauderdale", _EAST, 26.073, -80.153, 1),
    Place("FRA", "Frankfurt am Main", "Frankfurt", "Europe/Berlin", 50.033, 8.571, 3),
    Place("IAD", "Dulles", "Washington", _EAST, 38.945, -77.456, 2),
    Place("JFK", "John F. Kennedy", "New York", _EAST, 40.640, -73.779, 3),
    Place("LAX", "Los Angeles International", "Los Angeles", _WEST, 33.943, -118.408, 3),
    Place("LGA", "LaGuardia", "New York", _EAST, 40.777, -73.873, 2),
    Place("LGW", "Gatwick", "London", "Europe/London", 51.148, -0.190, 1),
    Place("LHR", "Heathrow", "London", "Europe/London", 51.471, -0.462, 3),
    Place("MDW", "Midway", "Chicago", _MIDDLE, 41.786, -87.752, 1),
    Place("MHT", "Manchester-Boston", "Manchester", _EAST, 42.933, -71.436, 1),
    Place("MIA", "Miami International", "Miami", _EAST, 25.793, -80.291, 2),
    Place("OAK", "Oakland", "Oakland", _WEST, 37.721, -122.221, 1),
    Place("ORD", "O'Hare", "Chicago", _MIDDLE, 41.979, -87.905, 3),
    Place("ORY", "Orly", "Paris", "Europe/Paris", 48.723, 2.379, 1),
    Place("PVD", "Rhode Island T. F. Green", "Providence", _EAST, 41.724, -71.428, 1),
    Place("SEA", "Seattle-Tacoma", "Seattle", _WEST, 47.449, -122.309, 2),
    Place("SFO", "San Francisco International", "San Francisco", _WEST, 37.619, -122.375, 2),
    Place("SJC", "San José Mineta", "San José", _WEST, 37.363, -121.929, 1),
)
_BY_CODE = {place.code: place for place in PLACES}


def find_place(text: str) -> Place:
    """An airport by its code, or the largest one of a city; raises LookupError."""
    wanted = text.strip()
    if wanted.upper() in _BY_CODE:
        return _BY_CODE[wanted.upper()]
    of_city = [place for place in PLACES if place.city.casefold() == wanted.casefold()]
    if not of_city:
        raise LookupError(f"no airport {text!r} here; the airports are {', '.join(_BY_CODE)}")
    return max(of_city, key=lambda place: place.size)


def near(place: Place, within: float = NEAR) -> list[tuple[float, Place]]:
    """The other airports within some kilometres, nearest first."""
    others = ((round(distance(place, other), 1), other) for other in PLACES if other is not place)
    return sorted(((km, other) for km, other in others if km <= within), key=lambda found: found[0])


def distance(one: Place, other: Place) -> float:
    """Kilometres along the great circle."""
    south, north = radians(one.latitude), radians(other.latitude)
    across = radians(other.longitude - one.longitude)
    haversine = sin((north - south) / 2) ** 2 + cos(south) * cos(north) * sin(across / 2) ** 2
    return 2 * 6371.0 * asin(sqrt(haversine))
