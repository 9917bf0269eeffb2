"""The travel world: flights, holds and bookings in one SQLite file."""

import sqlite3
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from chargehand.demo.database import Database
from chargehand.demo.draws import draw
from chargehand.demo.travel.records import Booking, Flight, Hold, Release
from chargehand.demo.travel.timetable import flights

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=ZoneInfo("America/New_York"))

_TABLES = (
    """CREATE TABLE flights (
        id TEXT PRIMARY KEY, carrier TEXT NOT NULL, number TEXT NOT NULL, origin TEXT NOT NULL,
        destination TEXT NOT NULL, day TEXT NOT NULL, departs TEXT NOT NULL, arrives TEXT NOT NULL,
        price REAL NOT NULL, seats_left INTEGER NOT NULL CHECK (seats_left >= 0))""",
    "CREATE INDEX flights_of_a_day ON flights (origin, destination, day)",
    """CREATE TABLE holds (
        id INTEGER PRIMARY KEY AUTOINCREMENT, flight_id TEXT NOT NULL REFERENCES flights (id),
        passenger TEXT NOT NULL, released INTEGER NOT NULL DEFAULT 0)""",
    """CREATE TABLE bookings (
        id INTEGER PRIMARY KEY AUTOINCREMENT, flight_id TEXT NOT NULL REFERENCES flights (id),
        passenger TEXT NOT NULL, price REAL NOT NULL)""",
)


class World:
    """One travel world, in a file or, without a path, in memory. Every write is one short transaction."""

    def __init__(self, path: str | Path | None = None) -> None:
        self._database = Database(path, _fill)

    def flights_of(self, origin: str, destination: str, day: date) -> list[Flight]:
        """The flights of a route that leave on a day, in the order in which they leave."""
        query = "SELECT * FROM flights WHERE origin = ? AND destination = ? AND day = ? ORDER BY departs, id"
        with self._database.reading() as connection:
            return [_flight(row) for row in connection.execute(query, (origin, destination, day.isoformat()))]

    def flight(self, flight_id: str) -> Flight:
        """One flight; raises LookupError."""
        with self._database.reading() as connection:
            return _find_flight(connection, flight_id)

    def book(self, flight_id: str, passenger: str) -> Booking:
        """Takes a seat for good. Two calls are two bookings, as with any airline."""
        with self._database.writing() as connection:
            flight = _take_seat(connection, flight_id)
            insert = "INSERT INTO bookings (flight_id, passenger, price) VALUES (?, ?, ?)"
            number = connection.execute(insert, (flight_id, passenger, flight.price)).lastrowid
            return _booking(number or 0, passenger, flight.price, flight)

    def bookings_of(self, flight_id: str, passenger: str) -> list[Booking]:
        """What a passenger has booked on a flight, newest first."""
        query = "SELECT id, price FROM bookings WHERE flight_id = ? AND passenger = ? ORDER BY id DESC"
        with self._database.reading() as connection:
            rows = connection.execute(query, (flight_id, passenger)).fetchall()
            return [_booking(row["id"], passenger, row["price"], _find_flight(connection, flight_id)) for row in rows]

    def hold(self, flight_id: str, passenger: str) -> Hold:
        """Keeps a seat without payment."""
        with self._database.writing() as connection:
            _take_seat(connection, flight_id)
            insert = "INSERT INTO holds (flight_id, passenger) VALUES (?, ?)"
            number = connection.execute(insert, (flight_id, passenger)).lastrowid
            return Hold(hold_id=f"H{number}", flight_id=flight_id, passenger=passenger)

    def holds_of(self, flight_id: str, passenger: str) -> list[Hold]:
        """What is held for a passenger on a flight now, newest first."""
        query = "SELECT id FROM holds WHERE flight_id = ? AND passenger = ? AND NOT released ORDER BY id DESC"
        with self._database.reading() as connection:
            rows = connection.execute(query, (flight_id, passenger)).fetchall()
            return [Hold(hold_id=f"H{row['id']}", flight_id=flight_id, passenger=passenger) for row in rows]

    def release(self, hold_id: str) -> Release:
        """Gives a held seat back, once."""
        with self._database.writing() as connection:
            row = connection.execute("SELECT * FROM holds WHERE 'H' || id = ?", (hold_id,)).fetchone()
            if row is None:
                raise LookupError(f"there is no hold {hold_id!r}")
            if not row["released"]:
                connection.execute("UPDATE holds SET released = 1 WHERE id = ?", (row["id"],))
                give_back = "UPDATE flights SET seats_left = seats_left + 1 WHERE id = ?"
                connection.execute(give_back, (row["flight_id"],))
            return Release(hold_id=hold_id, released=not row["released"])

    def dump(self) -> list[str]:
        """The whole world as SQL, for comparing worlds."""
        with self._database.reading() as connection:
            return list(connection.iterdump())


def _fill(connection: sqlite3.Connection) -> None:
    for statement in _TABLES:
        connection.execute(statement)
    rows = (
        (
            flight.id,
            flight.carrier,
            flight.number,
            flight.origin,
            flight.destination,
            flight.departs.date().isoformat(),
            flight.departs.isoformat(),
            flight.arrives.isoformat(),
            flight.price,
            flight.seats_left,
        )
        for flight in flights()
    )
    connection.executemany("INSERT INTO flights VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)


def _take_seat(connection: sqlite3.Connection, flight_id: str) -> Flight:
    flight = _find_flight(connection, flight_id)
    if flight.seats_left == 0:
        raise ValueError(f"flight {flight_id} is full")
    connection.execute("UPDATE flights SET seats_left = seats_left - 1 WHERE id = ?", (flight_id,))
    return flight


def _find_flight(connection: sqlite3.Connection, flight_id: str) -> Flight:
    row = connection.execute("SELECT * FROM flights WHERE id = ?", (flight_id,)).fetchone()
    if row is None:
        raise LookupError(f"there is no flight {flight_id!r}; search again for its id")
    return _flight(row)


def _flight(row: Any) -> Flight:
    return Flight(
        id=row["id"],
        carrier=row["carrier"],
        number=row["number"],
        origin=row["origin"],
        destination=row["destination"],
        departs=datetime.fromisoformat(row["departs"]),
        arrives=datetime.fromisoformat(row["arrives"]),
        price=row["price"],
        seats_left=row["seats_left"],
    )


def _booking(number: int, passenger: str, price: float, flight: Flight) -> Booking:
    letters = (chr(ord("A") + draw(26, "booking", number, place)) for place in range(6))
    return Booking(
        reference="".join(letters),
        flight_id=flight.id,
        carrier=flight.carrier,
        number=flight.number,
        passenger=passenger,
        origin=flight.origin,
        destination=flight.destination,
        departs=flight.departs,
        arrives=flight.arrives,
        price=price,
    )
