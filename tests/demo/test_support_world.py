"""The support desk's world: what its data promises, and that its tools do what they declare."""

import asyncio
import inspect
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from chargehand.catalog.tools import AnyTool
from chargehand.demo.support.articles import articles
from chargehand.demo.support.messages import messages
from chargehand.demo.support.records import Article, Kind, Order, OrderStatus
from chargehand.demo.support.shop import SILENT_CARRIER, customers, orders
from chargehand.demo.support.tools import make_tools
from chargehand.demo.support.words import detect_kind, detect_language, rank
from chargehand.demo.support.world import NOW, World


class Desk:
    """The tools of a world of its own, by name."""

    def __init__(self, path: Path | None = None) -> None:
        self.world = World(path)
        self.tools: dict[str, AnyTool] = {tool.name: tool for tool in make_tools(self.world)}

    def use(self, name: str, **arguments: object) -> Any:
        result = self.tools[name](**arguments)
        return asyncio.run(result) if inspect.iscoroutine(result) else result


@pytest.fixture
def desk() -> Desk:
    return Desk()


def order_of(status: OrderStatus, *, silent: bool = False) -> Order:
    return next(one for one in orders() if one.status is status and (one.carrier == SILENT_CARRIER) is silent)


def test_the_shop_has_customers_orders_and_messages_in_three_languages(desk: Desk) -> None:
    people, bought = list(customers()), list(orders())

    assert Counter(one.language for one in people) == {"en": 20, "fr": 20, "de": 20}
    assert len({one.email for one in people}) == 60
    assert len(bought) == 200
    assert Counter(one.status for one in bought) == {"delivered": 154, "shipped": 40, "placed": 6}
    assert len(desk.world.messages()) == 36
    assert len(desk.world.articles()) == 25
    assert all(one.received < NOW for one in desk.world.messages())


def test_an_order_costs_what_its_items_cost(desk: Desk) -> None:
    for order in orders():
        assert order.total == pytest.approx(sum(item["price"] * item["quantity"] for item in order.items))
        assert desk.world.order(order.id) == order


def test_customers_are_found_by_mail_with_their_orders_newest_first(desk: Desk) -> None:
    someone = next(customers())

    assert desk.use("find_customer", email=someone.email.upper()) == someone
    expected = [order for order in reversed(list(orders())) if order.customer_id == someone.id]
    assert desk.use("orders_of", customer_id=someone.id) == expected
    with pytest.raises(LookupError, match=r"no customer with 'nobody@example\.com'"):
        desk.use("find_customer", email="nobody@example.com")
    with pytest.raises(LookupError, match="no customer 'C999'"):
        desk.use("orders_of", customer_id="C999")


def test_the_language_and_kind_of_every_message_are_recognised() -> None:
    for message, language, kind in messages(list(customers()), list(orders())):
        assert (detect_language(message.text), detect_kind(message.text)) == (language, kind), message


@pytest.mark.parametrize("text", ["", "12345", "!?"])
def test_a_text_without_words_is_taken_for_an_english_question(text: str) -> None:
    assert detect_language(text) == "en"
    assert detect_kind(text) is Kind.PRODUCT


@pytest.mark.parametrize(
    ("query", "title"),
    [
        ("I forgot my password", "Changing your password"),
        ("mot de passe oublié", "Changing your password"),
        ("Wie finde ich meine Rechnung?", "Finding your invoice"),
        ("how do I descale the espresso machine", "Descaling an espresso machine"),
        ("can the knife go into the dishwasher", "Cleaning appliances: what may go into the dishwasher"),
        ("Wo bleibt das Paket mit meiner Bestellung?", "Where is the parcel of my order?"),
        ("pièces de rechange", "Spare parts"),
    ],
)
def test_a_search_finds_the_right_article_first(desk: Desk, query: str, title: str) -> None:
    found = desk.use("search_articles", query=query, limit=3)

    assert found[0].titles["en"] == title
    scores: list[float] = [article.score for article in found]
    assert scores == sorted(scores, reverse=True)


def test_a_search_for_what_no_article_says_finds_nothing() -> None:
    assert rank(articles(), "xylophone") == []
    assert rank(articles(), "") == []


def test_the_search_by_titles_stands_in_with_the_same_shape(desk: Desk) -> None:
    stand_in = desk.tools["search_titles"]

    found = desk.use("search_titles", query="Changing my password", limit=2)

    assert stand_in.instead_of == ("search_articles",)
    assert stand_in.signature.result_schema == desk.tools["search_articles"].signature.result_schema
    assert isinstance(found[0], Article)
    assert found[0].titles["en"] == "Changing your password"


def test_a_carrier_tells_where_a_parcel_is_unless_it_is_silent_or_there_is_none(desk: Desk) -> None:
    shipped = order_of(OrderStatus.SHIPPED)

    parcel = desk.use("carrier_status", order_id=shipped.id)

    assert (parcel["carrier"], parcel["state"]) == (shipped.carrier, "on the way")
    with pytest.raises(ConnectionError, match="Nordfracht does not answer"):
        desk.use("carrier_status", order_id=order_of(OrderStatus.SHIPPED, silent=True).id)
    with pytest.raises(LookupError, match="has not shipped"):
        desk.use("carrier_status", order_id=order_of(OrderStatus.PLACED).id)


def test_closing_a_ticket_undoes_its_opening(desk: Desk) -> None:
    about = {"customer_id": "C100", "kind": Kind.REFUND, "subject": "Money back"}
    assert desk.use("find_ticket", **about) is None
    ticket = desk.use("open_ticket", **about)
    assert desk.use("find_ticket", **about) == ticket

    for _ in range(2):
        assert desk.use("close_ticket", ticket_id=ticket.ticket_id).status == "closed"

    assert desk.use("find_ticket", **about) is None
    with pytest.raises(LookupError, match="no ticket 'T999'"):
        desk.use("close_ticket", ticket_id="T999")


def test_removing_a_note_undoes_its_writing(desk: Desk) -> None:
    before = desk.use("crm_notes", customer_id="C100")
    note = desk.use("add_crm_note", customer_id="C100", text="Called.")
    assert desk.use("find_crm_note", customer_id="C100", text="Called.") == note

    removals = [desk.use("remove_crm_note", note_id=note.note_id) for _ in range(2)]

    assert [removal.removed for removal in removals] == [True, False]
    assert desk.use("crm_notes", customer_id="C100") == before


def test_writing_about_an_unknown_customer_is_refused(desk: Desk) -> None:
    before = desk.world.dump()

    with pytest.raises(LookupError, match="no customer 'C999'"):
        desk.use("add_crm_note", customer_id="C999", text="Called.")
    with pytest.raises(LookupError, match="no customer 'C999'"):
        desk.use("open_ticket", customer_id="C999", kind=Kind.REFUND, subject="Money back")

    assert desk.world.dump() == before


def test_a_refund_is_found_by_its_probe_and_never_exceeds_the_order(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "world")
    order = order_of(OrderStatus.DELIVERED)
    assert desk.use("find_refund", order_id=order.id, amount=10.0) is None

    refund = desk.use("refund_order", order_id=order.id, amount=10.0)

    assert desk.use("find_refund", order_id=order.id, amount=10.0) == refund
    assert World(tmp_path / "world").order(order.id).refunded == 10.0
    with pytest.raises(ValueError, match="more than the"):
        desk.use("refund_order", order_id=order.id, amount=order.total)
    desk.use("refund_order", order_id=order.id, amount=round(order.total - 10.0, 2))
    assert desk.world.order(order.id).refunded == order.total


def test_what_is_sent_is_in_the_outbox(desk: Desk) -> None:
    sent = desk.use("send_reply", to="anna@example.de", subject="Ihr Paket", body="Es kommt.")

    assert desk.world.sent() == [sent]
    assert desk.tools["send_reply"].probe is None
