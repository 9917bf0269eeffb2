"""What the tools of the travel world take and give."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

AirportCode = Annotated[str, Field(pattern="^[A-Z]{3}$")]
Passenger = Annotated[str, Field(min_length=1, max_length=80)]
Language = Literal["en", "fr", "de"]


class Airport(TypedDict):
    """An airport, and how far it is from where one asked."""

    code: AirportCode
    name: str
    city: str
    zone: str
    km: float


class AirportList(TypedDict):
    """Airports around one, nearest first."""

    around: AirportCode
    airports: list[Airport]


@dataclass(frozen=True, slots=True, kw_only=True)
class Flight:
    """One flight on one day, with what a seat costs in US dollars."""

    id: str
    carrier: str
    number: str
    origin: AirportCode
    destination: AirportCode
    departs: datetime
    arrives: datetime
    price: float
    seats_left: int


class Provider(StrEnum):
    FAREFINDER = "farefinder"
    AEROLINK = "aerolink"


@dataclass(frozen=True, slots=True, kw_only=True)
class FlightList:
    """The flights of one route that leave on one day."""

    provider: Provider
    origin: AirportCode
    destination: AirportCode
    day: date
    flights: list[Flight]


class Booking(BaseModel):
    """A seat that is paid for."""

    model_config = ConfigDict(frozen=True)

    reference: str = Field(description="What the airline calls the booking.", pattern="^[A-Z]{6}$")
    flight_id: str
    carrier: str
    number: str
    passenger: Passenger
    origin: AirportCode
    destination: AirportCode
    departs: datetime
    arrives: datetime
    price: float = Field(description="US dollars.", ge=0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Hold:
    """A seat that is kept for somebody, without payment."""

    hold_id: str
    flight_id: str
    passenger: Passenger


@dataclass(frozen=True, slots=True, kw_only=True)
class Release:
    """What became of a hold that was given back."""

    hold_id: str
    released: bool
    """False if it had been given back before."""


class Letter(TypedDict):
    """A text for the traveller."""

    language: Language
    subject: str
    body: str
