"""Redaction: the secrets of an application are replaced before anything is kept, shown or logged."""

import json
import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from typing import Any, TypeVar, cast
from urllib.parse import quote, quote_plus

from chargehand.errors import BadSecret

MARK = "•••"
SHORTEST = 6  # characters: what is shorter is found in texts that have nothing to do with it

T = TypeVar("T")


class Redactor:
    """Puts `•••` in the place of secrets: in text, and in plain values, keys too.

    A secret is found as it is, as JSON text and URLs write it, and inside of base64, there but for the characters that
    it shares with its neighbours. Pieces of it, numbers and other encodings are not found.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        """Raises BadSecret for one that is empty, shorter than six characters, or no text."""
        forms = {form for secret in _vetted(secrets) for form in _forms(secret)}
        longest_first = sorted(forms, key=lambda form: (-len(form), form))
        self._pattern = re.compile("|".join(map(re.escape, longest_first))) if forms else None

    def redact(self, value: T) -> T:
        """The value without secrets; the very same object if there are none in it."""
        return value if self._pattern is None else cast(T, _redact(self._pattern, value))


def _redact(pattern: re.Pattern[str], value: Any) -> Any:
    if isinstance(value, str):
        return _redact_text(pattern, value)
    if isinstance(value, dict):
        return _redact_dict(pattern, cast(dict[Any, Any], value))
    if isinstance(value, list | tuple):
        items = cast("list[Any] | tuple[Any, ...]", value)
        made = [_redact(pattern, item) for item in items]
        unchanged = all(new is old for new, old in zip(made, items, strict=True))
        return items if unchanged else made if isinstance(items, list) else tuple(made)
    return value


def _redact_dict(pattern: re.Pattern[str], value: dict[Any, Any]) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    unchanged = True
    for key, item in value.items():
        new_key, new_item = _redact(pattern, key), _redact(pattern, item)
        unchanged = unchanged and new_key is key and new_item is item
        while new_key in made:
            new_key += MARK
        made[new_key] = new_item
    return value if unchanged else made


def _redact_text(pattern: re.Pattern[str], text: str) -> str:
    pieces: list[str] = []
    done = 0
    for begin, end in _spans(pattern, text):
        pieces += text[done:begin], MARK
        done = end
    return "".join(pieces) + text[done:] if done else text


def _spans(pattern: re.Pattern[str], text: str) -> Iterator[tuple[int, int]]:
    """Where the secrets are; those that overlap are one."""
    found = pattern.search(text)
    while found is not None:
        begin, end = found.span()
        found = pattern.search(text, begin + 1)
        while found is not None and found.start() < end:
            end = max(end, found.end())
            found = pattern.search(text, found.start() + 1)
        yield begin, end


# --- how a secret may be written -----------------------------------------------------------------------------------


def _vetted(secrets: Iterable[object]) -> Iterator[str]:
    if isinstance(secrets, str):
        raise BadSecret("the secrets are one text", hint="Give a list, even of one: secrets=[token].")
    for number, secret in enumerate(secrets, 1):
        if not isinstance(secret, str):
            hint = "Give text; leave out what is not set: secrets=[token] if token else []."
            raise BadSecret(f"secret {number} is of the type {type(secret).__name__}", hint=hint)
        stripped = secret.strip()  # a file that holds a secret often ends with a line break
        if len(stripped) < SHORTEST or MARK[0] in stripped:
            hint = f"Give at least {SHORTEST} characters besides blanks, and none of them {MARK[0]!r}."
            raise BadSecret(f"secret {number} cannot be told from other text", hint=hint)
        yield stripped


def _forms(secret: str) -> Iterator[str]:
    yield secret
    yield json.dumps(secret)[1:-1]
    yield json.dumps(secret, ensure_ascii=False)[1:-1]
    raw = secret.encode(errors="surrogatepass")
    for quoted in (quote(raw, safe=""), quote(raw), quote(raw, safe="!'()*"), quote_plus(raw)):
        yield quoted
        yield re.sub("%..", lambda found: found[0].lower(), quoted)
    for before in range(3):
        yield _inside_base64(raw, before, b"+/")
        yield _inside_base64(raw, before, b"-_")


def _inside_base64(raw: bytes, before: int, alphabet: bytes) -> str:
    """The characters that stand for the secret alone, if so many bytes come before it in a group of three."""
    encoded = b64encode(bytes(before) + raw, alphabet).decode()
    shared_first = (0, 2, 3)[before]
    shared_last = (0, 3, 2)[(before + len(raw)) % 3]
    return encoded[shared_first : len(encoded) - shared_last]
