"""The knowledge base: short articles in English, with titles in three languages."""

from chargehand.demo.support.records import Article

_TEXTS = (
    (
        "Where is the parcel of my order?",
        "Où est le colis de ma commande ?",
        "Wo ist das Paket meiner Bestellung?",
        "Every order that has shipped can be tracked with its order number. A parcel travels up to five working days; "
        "when it has not arrived after ten, we search for it.",
    ),
    (
        "How long delivery takes",
        "Délais de livraison",
        "Lieferzeiten",
        "Orders leave our store within two working days. Delivery takes two to five working days inside the Union.",
    ),
    (
        "What delivery costs",
        "Frais de livraison",
        "Versandkosten",
        "Delivery costs 4.90 euros, and nothing for orders above 60 euros.",
    ),
    (
        "A parcel that arrived damaged",
        "Colis endommagé",
        "Beschädigtes Paket",
        "Keep the box and take a photo within seven days. We replace what is broken or send the money back.",
    ),
    (
        "Returning an article",
        "Retourner un article",
        "Einen Artikel zurückgeben",
        "You may return an unused article within thirty days. Print the return label in your account and bring the "
        "parcel to any post office.",
    ),
    (
        "When you get your money back",
        "Quand vous serez remboursé",
        "Wann Sie Ihr Geld zurückbekommen",
        "A refund goes to the card or account that you paid with, within five working days after the return arrived.",
    ),
    (
        "Refund for a broken article",
        "Remboursement d'un article cassé",
        "Erstattung für einen kaputten Artikel",
        "An article that arrived broken is refunded in full. You need not send it back if it costs less than 50 euros.",
    ),
    (
        "Cancelling an order",
        "Annuler une commande",
        "Eine Bestellung stornieren",
        "An order can be cancelled until it has shipped, in your account under orders.",
    ),
    (
        "Changing your password",
        "Changer de mot de passe",
        "Das Passwort ändern",
        "Choose 'forgotten password' where you log in. The link in our mail is good for one hour.",
    ),
    (
        "Changing your address",
        "Changer d'adresse",
        "Die Adresse ändern",
        "When you have moved, change the address in your account. Orders that have shipped go to the old one.",
    ),
    (
        "Closing your account",
        "Fermer votre compte",
        "Das Konto schließen",
        "You can close your account at any time. We keep invoices for ten years, as the law asks.",
    ),
    (
        "Finding your invoice",
        "Trouver votre facture",
        "Die Rechnung finden",
        "Invoices are in your account beside each order, as PDF files.",
    ),
    (
        "Ways to pay",
        "Moyens de paiement",
        "Zahlungsarten",
        "We take cards, bank transfers and invoices for companies. Cards are charged when the order ships.",
    ),
    (
        "Vouchers and gift cards",
        "Bons et cartes cadeaux",
        "Gutscheine",
        "Enter the code of a voucher or gift card at the till. It is good for two years.",
    ),
    (
        "Cleaning appliances: what may go into the dishwasher",
        "Nettoyer les appareils : ce qui va au lave-vaisselle",
        "Geräte reinigen: was in die Spülmaschine darf",
        "Never put knives, copper, cast iron or carbon steel into the dishwasher. Glass and plastic parts may go in. "
        "Clean motors with a damp cloth.",
    ),
    (
        "Using an appliance for the first time",
        "Utiliser un appareil pour la première fois",
        "Ein Gerät zum ersten Mal benutzen",
        "Wash all parts, then let it run once with water only. Manuals are on our site, under the name of the product.",
    ),
    (
        "Descaling an espresso machine",
        "Détartrer une machine à espresso",
        "Eine Espressomaschine entkalken",
        "Descale the espresso machine every two months with citric acid, then rinse it twice.",
    ),
    (
        "Setting a coffee grinder",
        "Régler un moulin à café",
        "Eine Kaffeemühle einstellen",
        "Turn the coffee grinder while it runs, one click at a time. Finer for espresso, coarser for filter.",
    ),
    (
        "Sharpening a knife",
        "Aiguiser un couteau",
        "Ein Messer schärfen",
        "Sharpen a chef's knife on a stone of grain 1000, at fifteen degrees, and never in the dishwasher's reach.",
    ),
    (
        "Seasoning a steel pan",
        "Culotter une poêle en acier",
        "Eine Stahlpfanne einbrennen",
        "Season a carbon steel pan with a thin film of oil until it smokes, three times over.",
    ),
    (
        "Spare parts",
        "Pièces de rechange",
        "Ersatzteile",
        "Seals, jugs and blades can be ordered for ten years after a product was sold.",
    ),
    (
        "The guarantee",
        "La garantie",
        "Die Garantie",
        "Everything has a guarantee of two years, motors of five. Keep the invoice.",
    ),
    (
        "Our shop in Luxembourg",
        "Notre magasin à Luxembourg",
        "Unser Laden in Luxemburg",
        "The shop is open from Tuesday to Saturday, from ten to six.",
    ),
    (
        "The newsletter",
        "La lettre d'information",
        "Der Newsletter",
        "Every newsletter has a link at its end that takes you off the list.",
    ),
    (
        "How we use your data",
        "Vos données personnelles",
        "Ihre Daten",
        "We use your data for orders only, and sell none of it. Ask, and we send you all that we hold.",
    ),
)


def articles() -> list[Article]:
    """Every article."""
    return [
        Article(id=f"K{1 + number}", titles={"en": english, "fr": french, "de": german}, text=text)
        for number, (english, french, german, text) in enumerate(_TEXTS)
    ]
