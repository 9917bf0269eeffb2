"""Failures: the kinds of them, and what a playbook's revisions can ask about one."""

from typing import Literal, get_args

from chargehand.domain.shapes import Record, Text, Whole

FailureKind = Literal[
    "transient", "unsupported", "invalid", "denied", "check_failed", "budget", "cancelled", "in_doubt", "error"
]
FAILURE_KINDS: tuple[str, ...] = get_args(FailureKind)

# What `failure` is in the `when` of a revision.
FAILURE = Record(
    "failure",
    {"step": Text(), "kind": Text(options=frozenset(FAILURE_KINDS)), "message": Text(), "revision": Whole()},
    frozenset({"step", "kind", "message", "revision"}),
)
