"""Statements that write many rows at once."""

import sqlite3
from collections.abc import Sequence
from functools import lru_cache

ROWS = 64  # in one statement, which stays prepared for every number up to this

_MARK = "/*rows*/"


def put_rows(db: sqlite3.Connection, statement: str, rows: Sequence[tuple[object, ...]]) -> None:
    """Executes a statement with all rows in the place of `/*rows*/`.

    Each execution lets other threads run and then has to wait for them: with a row in each, that is nearly all of the
    time that writing takes beside a busy event loop.
    """
    for start in range(0, len(rows), ROWS):
        some = rows[start : start + ROWS]
        db.execute(_sql(statement, len(some), len(some[0])), [value for row in some for value in row])


@lru_cache
def _sql(statement: str, rows: int, columns: int) -> str:
    row = f"({', '.join('?' * columns)})"
    return statement.replace(_MARK, ", ".join([row] * rows))
