"""The messages that customers have written, in their own languages."""

from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from itertools import product
from zoneinfo import ZoneInfo

from chargehand.demo.draws import choose, draw
from chargehand.demo.support.records import Customer, Kind, Language, Message, Order, OrderStatus
from chargehand.demo.support.shop import LANGUAGES

ROUNDS = 3  # messages of each kind in each language

_TEXTS: dict[tuple[Language, Kind], tuple[str, str]] = {
    ("en", Kind.DELIVERY): (
        "Hello, I am still waiting for my order {order}. Where is the parcel, and when will it arrive?",
        "My {product} has not been delivered yet. Could you tell me where the parcel of order {order} is?",
    ),
    ("en", Kind.REFUND): (
        "I would like to return the {product} of order {order}. How do I get my money back?",
        "The {product} arrived broken. Please refund it: the order is {order}.",
    ),
    ("en", Kind.PRODUCT): (
        "How should I clean the {product}? The manual does not say whether it can go into the dishwasher.",
        "Can you tell me how to use the {product} for the first time? There is no manual in the box.",
    ),
    ("en", Kind.ACCOUNT): (
        "I cannot log in any more: your page says that my password is wrong. How can I change it?",
        "I have moved to another house. Where can I change the address of my account?",
    ),
    ("fr", Kind.DELIVERY): (
        "Bonjour, j'attends toujours ma commande {order}. Où est le colis et quand sera-t-il livré ?",
        "Je n'ai pas encore reçu le colis de la commande {order}. Pouvez-vous me dire où il est ?",
    ),
    ("fr", Kind.REFUND): (
        "Je voudrais retourner un article de la commande {order}. Comment puis-je être remboursée ?",
        "Un article de la commande {order} est arrivé cassé. Je vous demande un remboursement.",
    ),
    ("fr", Kind.PRODUCT): (
        "Comment faut-il nettoyer cet appareil ? La notice ne dit pas s'il va au lave-vaisselle.",
        "Comment utiliser l'appareil pour la première fois ? Il n'y a pas de notice dans la boîte.",
    ),
    ("fr", Kind.ACCOUNT): (
        "Je ne peux plus ouvrir mon compte : le mot de passe est refusé. Comment le changer ?",
        "J'ai déménagé. Où est-ce que je peux changer l'adresse de mon compte ?",
    ),
    ("de", Kind.DELIVERY): (
        "Guten Tag, ich warte immer noch auf meine Bestellung {order}. Wo ist das Paket, und wann kommt es an?",
        "Das Paket der Bestellung {order} wurde noch nicht geliefert. Können Sie mir sagen, wo es ist?",
    ),
    ("de", Kind.REFUND): (
        "Ich möchte einen Artikel der Bestellung {order} zurückgeben. Wie bekomme ich mein Geld zurück?",
        "Ein Artikel der Bestellung {order} ist kaputt angekommen. Ich bitte um eine Erstattung.",
    ),
    ("de", Kind.PRODUCT): (
        "Wie soll ich das Gerät reinigen? In der Anleitung steht nicht, ob es in die Spülmaschine darf.",
        "Wie benutze ich das Gerät zum ersten Mal? Eine Anleitung ist nicht in der Schachtel.",
    ),
    ("de", Kind.ACCOUNT): (
        "Ich kann mich nicht mehr anmelden: Das Passwort ist angeblich falsch. Wie kann ich es ändern?",
        "Ich bin umgezogen. Wo kann ich die Adresse in meinem Konto ändern?",
    ),
}
_SUBJECTS: dict[Language, dict[Kind, str]] = {
    "en": {
        Kind.DELIVERY: "Where is my parcel?",
        Kind.REFUND: "Money back",
        Kind.PRODUCT: "A question",
        Kind.ACCOUNT: "My account",
    },
    "fr": {
        Kind.DELIVERY: "Où est mon colis ?",
        Kind.REFUND: "Remboursement",
        Kind.PRODUCT: "Une question",
        Kind.ACCOUNT: "Mon compte",
    },
    "de": {
        Kind.DELIVERY: "Wo ist mein Paket?",
        Kind.REFUND: "Erstattung",
        Kind.PRODUCT: "Eine Frage",
        Kind.ACCOUNT: "Mein Konto",
    },
}


def messages(customers: Sequence[Customer], orders: Sequence[Order]) -> Iterator[tuple[Message, Language, Kind]]:
    """Every message, with the language and kind that it truly has."""
    speaks = {customer.id: customer for customer in customers}
    midnight = datetime(2026, 11, 16, tzinfo=ZoneInfo("Europe/Luxembourg"))
    wanted = product(range(ROUNDS), Kind, LANGUAGES)
    for number, (turn, kind, language) in enumerate(wanted):
        status = OrderStatus.SHIPPED if kind is Kind.DELIVERY else OrderStatus.DELIVERED
        fitting = [o for o in orders if o.status is status and speaks[o.customer_id].language == language]
        order = choose(fitting, "about", number)
        text = _TEXTS[language, kind][turn % 2].format(order=order.id, product=order.items[0]["product"])
        message = Message(
            id=f"M{1 + number}",
            sender=speaks[order.customer_id].email,
            subject=_SUBJECTS[language][kind],
            text=text,
            received=midnight + timedelta(minutes=number * 14 + draw(14, "received", number)),
        )
        yield message, language, kind
