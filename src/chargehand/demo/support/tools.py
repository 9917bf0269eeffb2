"""The tools of the support desk."""

import asyncio
from datetime import timedelta
from typing import Annotated

from pydantic import Field

from chargehand.catalog.tools import AnyTool, tool
from chargehand.demo.database import PATIENCE
from chargehand.demo.draws import draw
from chargehand.demo.support import words
from chargehand.demo.support.records import (
    Article,
    Customer,
    Email,
    Euros,
    Kind,
    Language,
    Line,
    Message,
    Note,
    Order,
    OrderStatus,
    Parcel,
    Priority,
    Refund,
    Removal,
    Reply,
    Sent,
    Ticket,
)
from chargehand.demo.support.replies import write_reply
from chargehand.demo.support.shop import PLACES, SILENT_CARRIER, TODAY
from chargehand.demo.support.world import World

Few = Annotated[int, Field(ge=1, le=10)]
Paragraph = Annotated[str, Field(min_length=1, max_length=10_000)]


def make_tools(world: World) -> list[AnyTool]:
    """Every tool of one support desk."""
    return [
        *_shop(world),
        *_carriers(world),
        *_knowledge(world),
        *_tickets(world),
        *_notes(world),
        *_refunds(world),
        *_mail(world),
        detect_language,
        detect_kind,
        draft_reply,
    ]


def _shop(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, egress=[])
    def find_customer(email: Email) -> Customer:
        """Finds the customer who has a mail address."""
        return world.customer(email)

    @tool(effect="read", timeout=5, egress=[])
    async def orders_of(customer_id: str) -> list[Order]:
        """Lists the orders of a customer, the newest first."""
        return await asyncio.to_thread(world.orders_of, customer_id)

    @tool(effect="read", timeout=5, egress=[])
    def find_order(order_id: str) -> Order:
        """Finds one order, with what of it was refunded so far."""
        return world.order(order_id)

    return [find_customer, orders_of, find_order]


def _carriers(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, retry=2, egress=["colis-rapide.example", "nordfracht.example", "swiftpost.example"])
    async def carrier_status(order_id: str) -> Parcel:
        """Asks the carrier where the parcel of an order is. Carriers do not always answer."""
        order = await asyncio.to_thread(world.order, order_id)
        return _track(order)

    return [carrier_status]


def _track(order: Order) -> Parcel:
    if order.status is OrderStatus.PLACED:
        raise LookupError(f"order {order.id} has not shipped, so no carrier knows it")
    if order.carrier == SILENT_CARRIER:
        raise ConnectionError(f"{order.carrier} does not answer")
    if order.status is OrderStatus.DELIVERED:
        return {"order_id": order.id, "carrier": order.carrier, "state": "delivered", "place": "the door"}
    return {
        "order_id": order.id,
        "carrier": order.carrier,
        "state": "on the way",
        "place": PLACES[order.carrier],
        "expected": TODAY + timedelta(days=1 + draw(3, "expected", order.id)),
    }


def _knowledge(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, egress=[])
    async def search_articles(query: str, limit: Few = 3) -> list[Article]:
        """Finds the articles that fit a question in any of the languages, best first."""
        articles = await asyncio.to_thread(world.articles)
        return words.rank(articles, query)[:limit]

    @tool(effect="read", instead_of=search_articles, timeout=5, egress=[])
    def search_titles(query: str, limit: Few = 3) -> list[Article]:
        """Finds articles by the words of their titles only: coarser, and without an index."""
        asked = {word for word in words.words(query) if len(word) > 3}
        titles = {one.id: {*words.words(" ".join(one.titles.values()))} for one in world.articles()}
        common = [one.model_copy(update={"score": float(len(asked & titles[one.id]))}) for one in world.articles()]
        return sorted((one for one in common if one.score), key=lambda one: -one.score)[:limit]

    return [search_articles, search_titles]


def _tickets(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, egress=[])
    def find_ticket(customer_id: str, kind: Kind, subject: Line) -> Ticket | None:
        """Finds the newest open ticket of a customer about a subject, if there is one."""
        return world.find_ticket(customer_id, kind, subject)

    @tool(effect="write", idempotent=True, control="ticket_id", timeout=5, egress=[])
    def close_ticket(ticket_id: str) -> Ticket:
        """Closes a ticket; doing it again changes nothing."""
        return world.close_ticket(ticket_id)

    @tool(effect="write", undo=close_ticket, probe=find_ticket, settles_within=PATIENCE, timeout=5, egress=[])
    def open_ticket(customer_id: str, kind: Kind, subject: Line, priority: Priority = "normal") -> Ticket:
        """Opens a ticket for a customer."""
        return world.open_ticket(customer_id, kind, subject, priority)

    return [find_ticket, close_ticket, open_ticket]


def _notes(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, egress=[])
    def crm_notes(customer_id: str) -> list[Note]:
        """Lists the notes about a customer, the newest first."""
        return world.notes_of(customer_id)

    @tool(effect="read", timeout=5, egress=[])
    def find_crm_note(customer_id: str, text: Paragraph) -> Note | None:
        """Finds the newest note about a customer with exactly this text, if there is one."""
        return next((note for note in world.notes_of(customer_id) if note.text == text), None)

    @tool(effect="write", idempotent=True, control="note_id", timeout=5, egress=[])
    def remove_crm_note(note_id: str) -> Removal:
        """Takes a note out of the CRM; doing it again changes nothing."""
        return world.remove_note(note_id)

    @tool(effect="write", undo=remove_crm_note, probe=find_crm_note, settles_within=PATIENCE, timeout=5, egress=[])
    async def add_crm_note(customer_id: str, text: Paragraph) -> Note:
        """Writes a note about a customer into the CRM."""
        return await asyncio.to_thread(world.add_note, customer_id, text)

    return [crm_notes, find_crm_note, remove_crm_note, add_crm_note]


def _refunds(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, egress="bank.example")
    def find_refund(order_id: str, amount: Euros) -> Refund | None:
        """Finds the newest refund of an amount for an order, if there is one."""
        return next(iter(world.refunds_of(order_id, amount)), None)

    @tool(
        effect="irreversible",
        probe=find_refund,
        settles_within=PATIENCE,
        control=["order_id", "amount"],
        timeout=10,
        egress="bank.example",
    )
    def refund_order(order_id: str, amount: Euros) -> Refund:
        """Sends money back for an order, in euros. A second call sends it a second time."""
        return world.refund(order_id, amount)

    return [find_refund, refund_order]


def _mail(world: World) -> list[AnyTool]:
    @tool(effect="read", timeout=5, egress=[])
    def read_message(message_id: str) -> Message:
        """Reads one message of a customer."""
        return world.message(message_id)

    # No probe: whether a mail has left cannot be asked of anyone.
    @tool(effect="irreversible", control="to", timeout=10, egress="*")
    async def send_reply(to: Email, subject: Line, body: Paragraph) -> Sent:
        """Sends a mail to a customer."""
        return await asyncio.to_thread(world.send, to, subject, body)

    return [read_message, send_reply]


@tool(effect="read", timeout=5, egress=[])
def detect_language(text: str) -> Language:
    """Tells the language of a text from its small words."""
    return words.detect_language(text)


@tool(effect="read", timeout=5, egress=[])
def detect_kind(text: str) -> Kind:
    """Tells what a customer's message is about."""
    return words.detect_kind(text)


@tool(effect="read", timeout=5, egress=[])
def draft_reply(
    kind: Kind,
    language: Language,
    name: str,
    articles: list[Article],
    parcels: list[Parcel] | None = None,
    ticket: Ticket | None = None,
) -> Reply:
    """Drafts a reply to a customer, in their language, with what is known about the case."""
    return write_reply(kind, language, name, articles, parcels or [], ticket)
