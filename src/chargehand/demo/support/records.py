"""What the tools of the support desk take and give."""

from dataclasses import dataclass
from datetime import date, datetime
from enum import StrEnum
from typing import Annotated, Literal, NotRequired

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import TypedDict

Language = Literal["en", "fr", "de"]
Email = Annotated[str, Field(pattern=r"^[^@\s]+@[^@\s]+$", max_length=200)]
Euros = Annotated[float, Field(gt=0, le=10_000)]
Priority = Literal["normal", "high"]
Line = Annotated[str, Field(min_length=1, max_length=200)]


class Kind(StrEnum):
    """What a message is about."""

    DELIVERY = "delivery"
    REFUND = "refund"
    PRODUCT = "product"
    ACCOUNT = "account"


class OrderStatus(StrEnum):
    PLACED = "placed"
    SHIPPED = "shipped"
    DELIVERED = "delivered"


@dataclass(frozen=True, slots=True, kw_only=True)
class Customer:
    id: str
    name: str
    email: Email
    language: Language
    since: date


class Item(TypedDict):
    product: str
    quantity: int
    price: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Order:
    """An order; money is in euros."""

    id: str
    customer_id: str
    placed: date
    status: OrderStatus
    carrier: str
    items: list[Item]
    total: float
    refunded: float = 0.0


class Parcel(TypedDict):
    """Where a carrier says that a parcel is."""

    order_id: str
    carrier: str
    state: Literal["on the way", "delivered"]
    place: str
    expected: NotRequired[date]


@dataclass(frozen=True, slots=True, kw_only=True)
class Message:
    id: str
    sender: Email
    subject: str
    text: str
    received: datetime


class Article(BaseModel):
    """An article of the knowledge base. Its text is English; its titles are in all languages."""

    model_config = ConfigDict(frozen=True)

    id: str
    titles: dict[Language, str]
    text: str
    score: float = Field(default=0.0, description="How well it fits what was searched for; more is better.")


class Ticket(BaseModel):
    """A case that somebody works on."""

    model_config = ConfigDict(frozen=True)

    ticket_id: str
    customer_id: str
    kind: Kind
    subject: Line
    priority: Priority
    status: Literal["open", "closed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note about a customer in the CRM."""

    note_id: str
    customer_id: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Removal:
    """What became of a note that was taken out."""

    note_id: str
    removed: bool
    """False if it had been taken out before."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refund:
    """Money that was sent back, in euros."""

    refund_id: str
    order_id: str
    amount: Euros
    left: float
    """What of the order could still be refunded."""


class Reply(TypedDict):
    """A text for a customer."""

    language: Language
    subject: str
    body: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """A mail that has left."""

    mail_id: str
    to: Email
    subject: str
