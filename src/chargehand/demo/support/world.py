"""The support desk's world: customers, orders, messages, tickets, notes, refunds and mail in one SQLite file."""

import json
import sqlite3
from datetime import date, datetime
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from chargehand.demo.database import Database
from chargehand.demo.support.founding import found
from chargehand.demo.support.records import (
    Article,
    Customer,
    Kind,
    Message,
    Note,
    Order,
    OrderStatus,
    Priority,
    Refund,
    Removal,
    Sent,
    Ticket,
)

NOW = datetime(2026, 11, 16, 9, 0, tzinfo=ZoneInfo("Europe/Luxembourg"))


class World:
    """One support desk, in a file or, without a path, in memory. Every write is one short transaction."""

    def __init__(self, path: str | Path | None = None) -> None:
        self._database = Database(path, found)

    # --- what is known -------------------------------------------------------------------------------------------

    def customer(self, email: str) -> Customer:
        """A customer by mail address; raises LookupError."""
        return _customer(
            self._one("SELECT * FROM customers WHERE email = ?", email.lower(), f"customer with {email!r}")
        )

    def order(self, order_id: str) -> Order:
        """One order; raises LookupError."""
        with self._database.reading() as connection:
            return _find_order(connection, order_id)

    def orders_of(self, customer_id: str) -> list[Order]:
        """The orders of a customer, the newest first; raises LookupError."""
        self._one("SELECT id FROM customers WHERE id = ?", customer_id, f"customer {customer_id!r}")
        with self._database.reading() as connection:
            query = "SELECT id FROM orders WHERE customer_id = ? ORDER BY id DESC"
            rows = connection.execute(query, (customer_id,)).fetchall()
            return [_find_order(connection, row["id"]) for row in rows]

    def message(self, message_id: str) -> Message:
        """One message; raises LookupError."""
        return _message(self._one("SELECT * FROM messages WHERE id = ?", message_id, f"message {message_id!r}"))

    def messages(self) -> list[Message]:
        """Every message, the oldest first."""
        return [_message(row) for row in self._all("SELECT * FROM messages ORDER BY received")]

    def articles(self) -> list[Article]:
        """The knowledge base."""
        rows = self._all("SELECT * FROM articles ORDER BY rowid")
        return [Article(id=row["id"], titles=json.loads(row["titles"]), text=row["text"]) for row in rows]

    # --- tickets and notes ---------------------------------------------------------------------------------------

    def open_ticket(self, customer_id: str, kind: Kind, subject: str, priority: Priority) -> Ticket:
        """Opens a case."""
        insert = "INSERT INTO tickets (customer_id, kind, subject, priority, status) VALUES (?, ?, ?, ?, 'open')"
        number = self._insert(insert, customer_id, kind.value, subject, priority)
        return Ticket(
            ticket_id=f"T{number}",
            customer_id=customer_id,
            kind=kind,
            subject=subject,
            priority=priority,
            status="open",
        )

    def ticket(self, ticket_id: str) -> Ticket:
        """One case; raises LookupError."""
        return _ticket(self._one("SELECT * FROM tickets WHERE 'T' || id = ?", ticket_id, f"ticket {ticket_id!r}"))

    def find_ticket(self, customer_id: str, kind: Kind, subject: str) -> Ticket | None:
        """The newest open case of this customer and subject."""
        query = "SELECT * FROM tickets WHERE customer_id = ? AND kind = ? AND subject = ? AND status = 'open'"
        rows = self._all(f"{query} ORDER BY id DESC LIMIT 1", customer_id, kind.value, subject)
        return _ticket(rows[0]) if rows else None

    def close_ticket(self, ticket_id: str) -> Ticket:
        """Closes a case; one that is closed stays so."""
        with self._database.writing() as connection:
            update = "UPDATE tickets SET status = 'closed' WHERE 'T' || id = ? RETURNING *"
            row = connection.execute(update, (ticket_id,)).fetchone()
            if row is None:
                raise LookupError(f"there is no ticket {ticket_id!r}")
            return _ticket(row)

    def add_note(self, customer_id: str, text: str) -> Note:
        """Writes a note about a customer."""
        number = self._insert("INSERT INTO notes (customer_id, text) VALUES (?, ?)", customer_id, text)
        return Note(note_id=f"N{number}", customer_id=customer_id, text=text)

    def notes_of(self, customer_id: str) -> list[Note]:
        """The notes about a customer, the newest first."""
        rows = self._all("SELECT * FROM notes WHERE customer_id = ? ORDER BY id DESC", customer_id)
        return [Note(note_id=f"N{row['id']}", customer_id=customer_id, text=row["text"]) for row in rows]

    def remove_note(self, note_id: str) -> Removal:
        """Takes a note out."""
        with self._database.writing() as connection:
            gone = connection.execute("DELETE FROM notes WHERE 'N' || id = ?", (note_id,)).rowcount
        return Removal(note_id=note_id, removed=gone > 0)

    # --- what cannot be taken back -------------------------------------------------------------------------------

    def refund(self, order_id: str, amount: float) -> Refund:
        """Sends money back, at the most what is left of the order; raises ValueError."""
        with self._database.writing() as connection:
            order = _find_order(connection, order_id)
            left = round(order.total - order.refunded, 2)
            if amount > left:
                raise ValueError(f"{amount:.2f} euros are more than the {left:.2f} left of order {order_id}")
            insert = "INSERT INTO refunds (order_id, amount) VALUES (?, ?)"
            number = connection.execute(insert, (order_id, amount)).lastrowid
            return Refund(refund_id=f"R{number}", order_id=order_id, amount=amount, left=round(left - amount, 2))

    def refunds_of(self, order_id: str, amount: float) -> list[Refund]:
        """The refunds of an amount for an order, the newest first."""
        with self._database.reading() as connection:
            query = "SELECT id FROM refunds WHERE order_id = ? AND amount = ? ORDER BY id DESC"
            rows = connection.execute(query, (order_id, amount)).fetchall()
            order = _find_order(connection, order_id) if rows else None
        left = round(order.total - order.refunded, 2) if order else 0.0
        return [Refund(refund_id=f"R{row['id']}", order_id=order_id, amount=amount, left=left) for row in rows]

    def send(self, to: str, subject: str, body: str) -> Sent:
        """Sends a mail."""
        number = self._insert("INSERT INTO outbox (address, subject, body) VALUES (?, ?, ?)", to, subject, body)
        return Sent(mail_id=f"E{number}", to=to, subject=subject)

    def sent(self) -> list[Sent]:
        """Every mail that was sent, the oldest first."""
        rows = self._all("SELECT * FROM outbox ORDER BY id")
        return [Sent(mail_id=f"E{row['id']}", to=row["address"], subject=row["subject"]) for row in rows]

    def dump(self) -> list[str]:
        """The whole world as SQL, for comparing worlds."""
        with self._database.reading() as connection:
            return list(connection.iterdump())

    def _all(self, query: str, *values: object) -> list[Any]:
        with self._database.reading() as connection:
            return connection.execute(query, values).fetchall()

    def _one(self, query: str, value: str, what: str) -> Any:
        rows = self._all(query, value)
        if not rows:
            raise LookupError(f"there is no {what}")
        return rows[0]

    def _insert(self, statement: str, *values: object) -> int:
        with self._database.writing() as connection:
            try:
                return connection.execute(statement, values).lastrowid or 0
            except sqlite3.IntegrityError:
                raise LookupError(f"there is no customer {values[0]!r}") from None


def _find_order(connection: sqlite3.Connection, order_id: str) -> Order:
    row = connection.execute("SELECT * FROM orders WHERE id = ?", (order_id,)).fetchone()
    if row is None:
        raise LookupError(f"there is no order {order_id!r}")
    query = "SELECT product, quantity, price FROM items WHERE order_id = ? ORDER BY product"
    refunds = connection.execute("SELECT sum(amount) FROM refunds WHERE order_id = ?", (order_id,)).fetchone()
    return Order(
        id=row["id"],
        customer_id=row["customer_id"],
        placed=date.fromisoformat(row["placed"]),
        status=OrderStatus(row["status"]),
        carrier=row["carrier"],
        items=[
            {"product": item["product"], "quantity": item["quantity"], "price": item["price"]}
            for item in connection.execute(query, (order_id,))
        ],
        total=row["total"],
        refunded=round(refunds[0] or 0.0, 2),
    )


def _customer(row: Any) -> Customer:
    since = date.fromisoformat(row["since"])
    return Customer(id=row["id"], name=row["name"], email=row["email"], language=row["language"], since=since)


def _message(row: Any) -> Message:
    return Message(
        id=row["id"],
        sender=row["sender"],
        subject=row["subject"],
        text=row["text"],
        received=datetime.fromisoformat(row["received"]),
    )


def _ticket(row: Any) -> Ticket:
    return Ticket(
        ticket_id=f"T{row['id']}",
        customer_id=row["customer_id"],
        kind=Kind(row["kind"]),
        subject=row["subject"],
        priority=row["priority"],
        status=row["status"],
    )
