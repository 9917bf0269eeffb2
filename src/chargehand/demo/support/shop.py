"""The shop's customers and orders, drawn from their numbers alone."""

from collections.abc import Iterator
from datetime import date, timedelta
from typing import get_args

from chargehand.demo.draws import choose, draw
from chargehand.demo.support.records import Customer, Item, Language, Order, OrderStatus

TODAY = date(2026, 11, 16)
CUSTOMERS = 60
ORDERS = 200
LANGUAGES: tuple[Language, ...] = get_args(Language)

PLACES = {"Colis Rapide": "Metz", "Nordfracht": "Hamburg", "Swiftpost": "Luxembourg"}
SILENT_CARRIER = "Nordfracht"  # its tracking does not answer in this world

PRODUCTS = {
    "carbon steel pan": 49.9,
    "cast iron casserole": 129.0,
    "chef's knife": 89.0,
    "coffee grinder": 119.0,
    "copper kettle": 74.5,
    "digital scale": 24.9,
    "espresso machine": 389.0,
    "glass teapot": 34.9,
    "milk frother": 39.9,
    "pasta roller": 69.0,
    "pepper mill": 27.5,
    "stand mixer": 299.0,
    "stone mortar": 44.0,
    "toaster": 59.0,
}
_NAMES: dict[Language, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "en": (("Alice", "Ben", "Chloe", "Daniel", "Emma", "Frank", "Grace"), ("Archer", "Brook", "Carter")),
    "fr": (("Anaïs", "Bruno", "Camille", "Denis", "Élodie", "Fabien", "Gaëlle"), ("Aubert", "Besson", "Colin")),
    "de": (("Anna", "Bernd", "Clara", "Dieter", "Eva", "Felix", "Greta"), ("Albers", "Brandt", "Cordes")),
}
_PLAIN = str.maketrans({"ï": "i", "É": "E", "ë": "e"})


def customers() -> Iterator[Customer]:
    """Every customer; a third of them speaks each language."""
    for number in range(CUSTOMERS):
        language = LANGUAGES[number % 3]
        firsts, lasts = _NAMES[language]
        place = number // 3
        first, last = firsts[place % len(firsts)], lasts[place // len(firsts)]
        yield Customer(
            id=f"C{100 + number}",
            name=f"{first} {last}",
            email=f"{first}.{last}@example.{'com' if language == 'en' else language}".translate(_PLAIN).lower(),
            language=language,
            since=TODAY - timedelta(days=70 + draw(1_500, "since", number)),
        )


def orders() -> Iterator[Order]:
    """Every order, the oldest first."""
    for number in range(ORDERS):
        items = list(_items(number))
        age = 60 - number * 60 // ORDERS  # days
        yield Order(
            id=f"A{1000 + number}",
            customer_id=f"C{100 + draw(CUSTOMERS, 'customer', number)}",
            placed=TODAY - timedelta(days=age),
            status=_status(age),
            carrier=choose(sorted(PLACES), "carrier", number),
            items=items,
            total=round(sum(item["price"] * item["quantity"] for item in items), 2),
        )


def _items(number: int) -> Iterator[Item]:
    chosen = {choose(sorted(PRODUCTS), "product", number, place) for place in range(1 + draw(3, "items", number))}
    for product in sorted(chosen):
        yield {"product": product, "quantity": 1 + draw(8, "many", number, product) // 6, "price": PRODUCTS[product]}


def _status(age: int) -> OrderStatus:
    if age <= 2:
        return OrderStatus.PLACED
    return OrderStatus.SHIPPED if age <= 14 else OrderStatus.DELIVERED
