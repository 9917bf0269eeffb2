"""What can be told from the words of a text: its language, what it is about, which articles fit it."""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence

from chargehand.demo.support.records import Article, Kind, Language

_STOP_WORDS: dict[Language, frozenset[str]] = {
    "en": frozenset(
        "a an and are be been can could did do does for from had has have how i in is it my not of on or our please "
        "should that the there this to was we what when where which will with would you your".split()
    ),
    "fr": frozenset(
        "a ai au aux avec ce cet cette comment dans de des du elle en est et être fait faut il j je l la le les ma me "
        "mes mon n ne nous ou où par pas peux plus pour pouvez puis quand que qui sa se ses son sur toujours un une "
        "votre vous".split()
    ),
    "de": frozenset(
        "aber am an auf bei bin bitte das dem den der des die ein eine einen einer es für habe hat ich ihr im immer in "
        "ist kann können man mein meine meinem mich mir mit nicht noch ob oder sehr sich sie sind soll und von wann "
        "war was wie wir wo wurde zu zum zur".split()
    ),
}
# The beginnings of words that give a subject away, without accents.
_SIGNS: dict[Kind, tuple[str, ...]] = {
    Kind.DELIVERY: tuple("arriv attend colis deliver gelief livr paket parcel wait wart".split()),
    Kind.REFUND: tuple("broken cass erstatt geld kaputt money refund rembours retourn return zuruck".split()),
    Kind.PRODUCT: tuple(
        "anleitung clean dishwasher first gerat lave manual nettoy notice premi reinig spul utilis".split()
    ),
    Kind.ACCOUNT: tuple("account address adress anmeld compte konto log mot pass umgezogen".split()),
}


def detect_language(text: str) -> Language:
    """The language whose small words are the most; English if none is."""
    found = words(text)
    return max(_STOP_WORDS, key=lambda language: sum(word in _STOP_WORDS[language] for word in found))


def detect_kind(text: str) -> Kind:
    """The kind that most words point to; a question about a product if none does."""
    found = [plain(word) for word in words(text)]
    scores = {kind: sum(word.startswith(signs) for word in found) for kind, signs in _SIGNS.items()}
    # Refunds first: "the parcel arrived broken" is about money, however often the parcel is named.
    order = (Kind.REFUND, Kind.ACCOUNT, Kind.DELIVERY, Kind.PRODUCT)
    best = max(order, key=lambda kind: scores[kind])
    return best if scores[best] else Kind.PRODUCT


def rank(articles: Sequence[Article], query: str) -> list[Article]:
    """The articles that share words with a query, best first, by BM25 over titles (thrice) and text."""
    bags = [Counter(_terms(" ".join([*article.titles.values()] * 3 + [article.text]))) for article in articles]
    usual = sum(bag.total() for bag in bags) / len(bags)
    scored = [
        (_score(bag, bags, set(_terms(query)), usual), article) for bag, article in zip(bags, articles, strict=True)
    ]
    fitting = sorted((pair for pair in scored if pair[0] > 0), key=lambda pair: -pair[0])
    return [article.model_copy(update={"score": round(score, 4)}) for score, article in fitting]


def _score(bag: Counter[str], bags: Sequence[Counter[str]], terms: set[str], usual: float) -> float:
    total = 0.0
    for term in sorted(terms & bag.keys()):
        holders = sum(term in other for other in bags)
        rarity = math.log(1 + (len(bags) - holders + 0.5) / (holders + 0.5))
        total += rarity * bag[term] * 2.2 / (bag[term] + 1.2 * (0.25 + 0.75 * bag.total() / usual))
    return total


def words(text: str) -> list[str]:
    """The words of a text, in lower case."""
    return re.findall(r"[^\W\d_]+", text.lower())


def plain(word: str) -> str:
    """A word without accents."""
    return "".join(letter for letter in unicodedata.normalize("NFKD", word) if not unicodedata.combining(letter))


def _terms(text: str) -> list[str]:
    """The words that say something, cut to their beginnings so that forms of one word meet."""
    small = frozenset[str]().union(*_STOP_WORDS.values())
    return [plain(word)[:6] for word in words(text) if word not in small and len(word) > 2]
