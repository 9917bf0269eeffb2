"""Letters to travellers, in three languages."""

from chargehand.demo.travel.airports import find_place
from chargehand.demo.travel.records import Booking, Language, Letter

_SUBJECTS: dict[Language, str] = {
    "en": "Your flight to {city} is booked: {reference}",
    "fr": "Votre vol pour {city} est réservé : {reference}",
    "de": "Ihr Flug nach {city} ist gebucht: {reference}",
}
_BODIES: dict[Language, str] = {
    "en": (
        "Dear {passenger},\n\n{carrier} {number} leaves {origin} on {departs} and arrives at {destination} on "
        "{arrives}, local time. The fare is {price:.2f} US dollars.\n\nHave a good journey."
    ),
    "fr": (
        "Bonjour {passenger},\n\nLe vol {number} de {carrier} part de {origin} le {departs} et arrive à {destination} "
        "le {arrives}, heure locale. Le prix est de {price:.2f} dollars.\n\nBon voyage."
    ),
    "de": (
        "Guten Tag {passenger},\n\nder Flug {number} mit {carrier} startet in {origin} am {departs} und landet in "
        "{destination} am {arrives} (Ortszeit). Der Preis beträgt {price:.2f} US-Dollar.\n\nGute Reise."
    ),
}
_MOMENTS: dict[Language, str] = {"en": "%Y-%m-%d at %H:%M", "fr": "%d/%m/%Y à %H:%M", "de": "%d.%m.%Y um %H:%M"}


def confirmation(booking: Booking, language: Language) -> Letter:
    """The letter that confirms a booking."""
    facts = {
        **booking.model_dump(),
        "city": find_place(booking.destination).city,
        "departs": booking.departs.strftime(_MOMENTS[language]),
        "arrives": booking.arrives.strftime(_MOMENTS[language]),
    }
    return {
        "language": language,
        "subject": _SUBJECTS[language].format(**facts),
        "body": _BODIES[language].format(**facts),
    }
