"""Draws that look like chance and are the same on every machine: each depends on its key alone."""

import hashlib
from collections.abc import Sequence
from typing import TypeVar

T = TypeVar("T")


def draw(below: int, *key: object) -> int:
    """A whole number from 0 up to, not including, `below`."""
    digest = hashlib.blake2b("|".join(map(str, key)).encode(), digest_size=8).digest()
    return int.from_bytes(digest, "big") % below


def choose(options: Sequence[T], *key: object) -> T:
    """One of the options."""
    return options[draw(len(options), *key)]
