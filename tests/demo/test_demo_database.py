"""A world's file: made whole or not at all, by one of many, and written in short transactions."""

import sqlite3
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from chargehand.demo import support, travel
from chargehand.demo.database import Database
from chargehand.demo.draws import choose, draw
from chargehand.demo.support.world import World as SupportWorld
from chargehand.demo.travel.world import World as TravelWorld

pytestmark = pytest.mark.slow


def _make(connection: sqlite3.Connection) -> None:
    connection.execute("CREATE TABLE things (name TEXT)")
    connection.executemany("INSERT INTO things VALUES (?)", [("kettle",), ("pan",)])


def _names(database: Database) -> list[str]:
    with database.reading() as connection:
        return [row["name"] for row in connection.execute("SELECT name FROM things")]


def test_a_making_that_fails_leaves_nothing_and_can_be_done_again(tmp_path: Path) -> None:
    def fails(connection: sqlite3.Connection) -> None:
        _make(connection)
        raise RuntimeError("no more")

    with pytest.raises(RuntimeError), Database(tmp_path / "world", fails).reading():
        pass

    assert _names(Database(tmp_path / "world", _make)) == ["kettle", "pan"]


def test_a_process_killed_while_making_its_world_leaves_a_file_that_is_then_made_whole(tmp_path: Path) -> None:
    program = """
import os, signal, sys
from chargehand.demo.travel import world
made = world.flights
def dies():
    for number, flight in enumerate(made()):
        if number == 2000:
            os.kill(os.getpid(), signal.SIGKILL)
        yield flight
world.flights = dies
world.World(sys.argv[1]).flight("x")
"""
    path = tmp_path / "world"

    killed = subprocess.run([sys.executable, "-c", program, path], check=False)

    assert killed.returncode == -9
    assert path.exists()
    assert TravelWorld(path).dump() == TravelWorld().dump()


def test_a_world_that_many_open_at_once_is_made_once_and_loses_no_write(tmp_path: Path) -> None:
    def add(number: int) -> None:
        with Database(tmp_path / "world", _make).writing() as connection:
            connection.execute("INSERT INTO things VALUES (?)", (f"cup {number}",))

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(add, range(24)))

    names = _names(Database(tmp_path / "world", _make))
    assert sorted(names) == sorted(["kettle", "pan", *(f"cup {number}" for number in range(24))])


def test_threads_share_a_world_in_memory() -> None:
    database = Database(None, _make)

    def add(number: int) -> None:
        with database.writing() as connection:
            connection.execute("INSERT INTO things VALUES (?)", (f"cup {number}",))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(add, range(20)))

    assert len(_names(database)) == 22


def test_a_write_that_fails_changes_nothing() -> None:
    database = Database(None, _make)

    def fail() -> None:
        with database.writing() as connection:
            connection.execute("DELETE FROM things")
            raise RuntimeError("no more")

    with pytest.raises(RuntimeError):
        fail()

    assert _names(database) == ["kettle", "pan"]


def test_a_world_in_a_file_uses_a_write_ahead_log(tmp_path: Path) -> None:
    with Database(tmp_path / "world", _make).reading() as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone()[0] == "wal"


@pytest.mark.parametrize("world", [TravelWorld, SupportWorld])
def test_a_world_is_the_same_whenever_it_is_made(world: type[TravelWorld] | type[SupportWorld], tmp_path: Path) -> None:
    assert world(tmp_path / "one").dump() == world(tmp_path / "two").dump() == world().dump()


def test_making_a_desk_does_not_make_its_world(tmp_path: Path) -> None:
    travel.desk(tmp_path / "travel")
    support.desk(tmp_path / "support")

    assert list(tmp_path.iterdir()) == []


def test_draws_depend_on_their_key_alone() -> None:
    drawn = [draw(6, "die", number) for number in range(600)]

    assert drawn == [draw(6, "die", number) for number in range(600)]
    assert set(drawn) == {0, 1, 2, 3, 4, 5}
    assert draw(1_000_000, "a key") == 418_388  # the same on every machine
    assert choose("abc", "letter") in "abc"
