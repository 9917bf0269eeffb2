"""Drafts of replies: a text for each kind of message in each language."""

from collections.abc import Sequence

from chargehand.demo.support.records import Article, Kind, Language, Parcel, Reply, Ticket

_GREETINGS: dict[Language, str] = {"en": "Dear {name},", "fr": "Bonjour {name},", "de": "Guten Tag {name},"}
_ENDINGS: dict[Language, str] = {
    "en": "Kind regards,\nKiln & Kettle",
    "fr": "Bien cordialement,\nKiln & Kettle",
    "de": "Freundliche Grüße\nKiln & Kettle",
}
_SUBJECTS: dict[Language, dict[Kind, str]] = {
    "en": {
        Kind.DELIVERY: "Your parcel",
        Kind.REFUND: "Your refund",
        Kind.PRODUCT: "Your question",
        Kind.ACCOUNT: "Your account",
    },
    "fr": {
        Kind.DELIVERY: "Votre colis",
        Kind.REFUND: "Votre remboursement",
        Kind.PRODUCT: "Votre question",
        Kind.ACCOUNT: "Votre compte",
    },
    "de": {
        Kind.DELIVERY: "Ihr Paket",
        Kind.REFUND: "Ihre Erstattung",
        Kind.PRODUCT: "Ihre Frage",
        Kind.ACCOUNT: "Ihr Konto",
    },
}
_OPENINGS: dict[Language, dict[Kind, str]] = {
    "en": {
        Kind.DELIVERY: "thank you for your patience. We have looked for your parcel.",
        Kind.REFUND: "we are sorry that you are not content. We shall look at your refund today.",
        Kind.PRODUCT: "thank you for your question.",
        Kind.ACCOUNT: "we are glad to help with your account.",
    },
    "fr": {
        Kind.DELIVERY: "merci de votre patience. Nous avons cherché votre colis.",
        Kind.REFUND: "nous sommes désolés. Nous traitons votre remboursement aujourd'hui.",
        Kind.PRODUCT: "merci de votre question.",
        Kind.ACCOUNT: "nous vous aidons volontiers avec votre compte.",
    },
    "de": {
        Kind.DELIVERY: "vielen Dank für Ihre Geduld. Wir haben nach Ihrem Paket gesucht.",
        Kind.REFUND: "das tut uns leid. Wir kümmern uns heute um Ihre Erstattung.",
        Kind.PRODUCT: "vielen Dank für Ihre Frage.",
        Kind.ACCOUNT: "wir helfen Ihnen gern mit Ihrem Konto.",
    },
}
_PARCELS: dict[Language, str] = {
    "en": "Order {order_id} is with {carrier}, in {place}.",
    "fr": "La commande {order_id} est chez {carrier}, à {place}.",
    "de": "Die Bestellung {order_id} ist bei {carrier}, in {place}.",
}
_ARTICLES: dict[Language, str] = {
    "en": "This may help: {title}.",
    "fr": "Cet article peut vous aider : {title}.",
    "de": "Dieser Artikel kann helfen: {title}.",
}
_TICKETS: dict[Language, str] = {
    "en": "Your case has the number {ticket}.",
    "fr": "Votre dossier porte le numéro {ticket}.",
    "de": "Ihr Vorgang hat die Nummer {ticket}.",
}


def write_reply(
    kind: Kind,
    language: Language,
    name: str,
    articles: Sequence[Article],
    parcels: Sequence[Parcel],
    ticket: Ticket | None,
) -> Reply:
    """The draft: a greeting, what is known, what may help, and the number of the case."""
    facts = [_PARCELS[language].format(**parcel) for parcel in parcels]
    helps = [_ARTICLES[language].format(title=article.titles[language].rstrip(" ?")) for article in articles[:1]]
    case = [_TICKETS[language].format(ticket=ticket.ticket_id)] if ticket else []
    middle = " ".join([_OPENINGS[language][kind], *facts, *helps, *case])
    return {
        "language": language,
        "subject": _SUBJECTS[language][kind],
        "body": f"{_GREETINGS[language].format(name=name)}\n\n{middle}\n\n{_ENDINGS[language]}",
    }
