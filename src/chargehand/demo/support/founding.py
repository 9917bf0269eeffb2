"""How a support desk's world begins: its tables, and what is in them."""

import json
import sqlite3

from chargehand.demo.draws import choose, draw
from chargehand.demo.support.articles import articles
from chargehand.demo.support.messages import messages
from chargehand.demo.support.records import Kind
from chargehand.demo.support.shop import CUSTOMERS, customers, orders

_TABLES = (
    """CREATE TABLE customers (
        id TEXT PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE, language TEXT NOT NULL,
        since TEXT NOT NULL)""",
    """CREATE TABLE orders (
        id TEXT PRIMARY KEY, customer_id TEXT NOT NULL REFERENCES customers (id), placed TEXT NOT NULL,
        status TEXT NOT NULL, carrier TEXT NOT NULL, total REAL NOT NULL)""",
    "CREATE INDEX orders_of_a_customer ON orders (customer_id)",
    """CREATE TABLE items (
        order_id TEXT NOT NULL REFERENCES orders (id), product TEXT NOT NULL, quantity INTEGER NOT NULL,
        price REAL NOT NULL, PRIMARY KEY (order_id, product))""",
    """CREATE TABLE messages (
        id TEXT PRIMARY KEY, sender TEXT NOT NULL, subject TEXT NOT NULL, text TEXT NOT NULL,
        received TEXT NOT NULL)""",
    "CREATE TABLE articles (id TEXT PRIMARY KEY, titles TEXT NOT NULL, text TEXT NOT NULL)",
    """CREATE TABLE tickets (
        id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id TEXT NOT NULL REFERENCES customers (id),
        kind TEXT NOT NULL, subject TEXT NOT NULL, priority TEXT NOT NULL, status TEXT NOT NULL)""",
    """CREATE TABLE notes (
        id INTEGER PRIMARY KEY AUTOINCREMENT, customer_id TEXT NOT NULL REFERENCES customers (id),
        text TEXT NOT NULL)""",
    """CREATE TABLE refunds (
        id INTEGER PRIMARY KEY AUTOINCREMENT, order_id TEXT NOT NULL REFERENCES orders (id), amount REAL NOT NULL)""",
    """CREATE TABLE outbox (
        id INTEGER PRIMARY KEY AUTOINCREMENT, address TEXT NOT NULL, subject TEXT NOT NULL, body TEXT NOT NULL)""",
)
_OLD_TICKETS = 40
_OLD_NOTES = 50
_REMARKS = ("Prefers mail to the phone.", "Asked for an invoice.", "Bought for a restaurant.", "Was called back.")


def found(connection: sqlite3.Connection) -> None:
    """Makes the tables and fills them."""
    for statement in _TABLES:
        connection.execute(statement)
    _fill_shop(connection)
    _fill_history(connection)


def _fill_shop(connection: sqlite3.Connection) -> None:
    people, bought = list(customers()), list(orders())
    connection.executemany(
        "INSERT INTO customers VALUES (?, ?, ?, ?, ?)",
        ((one.id, one.name, one.email, one.language, one.since.isoformat()) for one in people),
    )
    connection.executemany(
        "INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?)",
        ((o.id, o.customer_id, o.placed.isoformat(), o.status.value, o.carrier, o.total) for o in bought),
    )
    connection.executemany(
        "INSERT INTO items VALUES (?, ?, ?, ?)",
        ((o.id, item["product"], item["quantity"], item["price"]) for o in bought for item in o.items),
    )
    connection.executemany(
        "INSERT INTO messages VALUES (?, ?, ?, ?, ?)",
        (
            (one.id, one.sender, one.subject, one.text, one.received.isoformat())
            for one, _language, _kind in messages(people, bought)
        ),
    )
    connection.executemany(
        "INSERT INTO articles VALUES (?, ?, ?)",
        ((one.id, json.dumps(one.titles, ensure_ascii=False), one.text) for one in articles()),
    )


def _fill_history(connection: sqlite3.Connection) -> None:
    kinds = tuple(Kind)
    for number in range(_OLD_TICKETS):
        kind = choose(kinds, "old ticket", number)
        row = (_anybody("ticket", number), kind.value, f"A question about {kind.value}")
        insert = "INSERT INTO tickets (customer_id, kind, subject, priority, status) VALUES (?, ?, ?, 'normal', ?)"
        connection.execute(insert, (*row, "open" if draw(10, "is open", number) == 0 else "closed"))
    for number in range(_OLD_NOTES):
        row = (_anybody("note", number), choose(_REMARKS, "old note", number))
        connection.execute("INSERT INTO notes (customer_id, text) VALUES (?, ?)", row)


def _anybody(*key: object) -> str:
    return f"C{100 + draw(CUSTOMERS, 'anybody', *key)}"
