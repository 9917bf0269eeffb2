"""Ids and names: legal, unique, and known where they are used."""

import re
from collections.abc import Iterator

from chargehand.checking.view import LEGAL, Place, View
from chargehand.domain.diagnostics import Diagnostic, did_you_mean, finding
from chargehand.domain.expressions.tree import Call, Name, Select, free_names, walk
from chargehand.domain.expressions.words import CEL_WORDS, FUNCTIONS, KEYWORDS, MACROS, OWN_NAMES, RESERVED

_WORD = re.compile(r"[A-Za-z]\w*", re.ASCII)  # operators are calls too: `_+_`


def check_ids(view: View) -> Iterator[Diagnostic]:
    """Ids are legal, not reserved, and each stands for one step; likewise the names of inputs."""
    seen: set[str] = set()
    for step in view.plan.steps:
        path = view.path(step, "id")
        if not LEGAL.fullmatch(step.id):
            hint = "Use letters, digits and underscores, a letter first, at the most 64."
            yield finding("CH101", path, f"{step.id!r} cannot be the id of a step", step=step.id, hint=hint)
        elif step.id in RESERVED:
            hint = f"Call it {step.id}_step, or better, after what it does."
            yield finding("CH102", path, f"{step.id!r} is a word of the expression language", step=step.id, hint=hint)
        elif step.id in seen:
            yield finding("CH103", path, f"there are two steps {step.id!r}", step=step.id, hint="Rename one of them.")
        seen.add(step.id)
    for name in view.plan.inputs:
        if not LEGAL.fullmatch(name) or name in KEYWORDS | CEL_WORDS:
            hint = "Use letters, digits and underscores, a letter first, at the most 64; and no word of the language."
            yield finding("CH603", ("inputs", name), f"{name!r} cannot be the name of an input", hint=hint)


def check_order_names(view: View) -> Iterator[Diagnostic]:
    """`after` and `maybe` name steps that exist."""
    known = view.plan.by_id.keys() | view.broken
    for step in view.plan.steps:
        for field, ids in (("after", step.after), ("maybe", step.maybe)):
            for number, id in enumerate(ids):
                if id not in known:
                    message = f"step {step.id!r} has {id!r} in `{field}`: no such step"
                    yield finding(
                        "CH104", view.path(step, field, number), message, step=step.id, hint=did_you_mean(id, known)
                    )


def check_expression_names(view: View) -> Iterator[Diagnostic]:
    """Whatever an expression takes from outside is an input, a step, or bound at its place."""
    for place in view.expressions:
        yield from unknown_words(place, view)


def words_known(place: Place, view: View) -> bool:
    """Whether every name, input and function of an expression is known, so that its types can be looked at."""
    expression = place.expression
    if _misnames(place, view):
        return False
    names = expression.names - view.plan.by_id.keys() - view.broken - place.local_names
    functions = {call for call in expression.calls - FUNCTIONS if _WORD.fullmatch(call)}
    inputs_known = expression.inputs <= view.plan.inputs.keys() or ("", "inputs") in view.unread
    return names <= {"inputs"} and inputs_known and not functions


def _misnames(place: Place, view: View) -> bool:
    """Whether an expression holds the id of a step that cannot be one: that has been said, and is all to be said."""
    return any(id and id in place.expression.text for id in view.misnamed)


def unknown_words(place: Place, view: View) -> Iterator[Diagnostic]:
    """The functions that an expression calls and nobody knows; if there are none, such names and inputs."""
    if words_known(place, view) or _misnames(place, view):
        return
    unknown = _unknown_function(place)
    if unknown is not None:
        yield unknown
    else:
        yield from _unknown_names(place, view)
        yield from _unknown_inputs(place, view)


def _unknown_function(place: Place) -> Diagnostic | None:
    for node in walk(place.expression.tree):
        if not isinstance(node, Call) or not _WORD.fullmatch(node.function):
            continue
        if node.function not in FUNCTIONS:
            message = f"{place.owner} calls {node.function}(): no such function"
            hint, offset = _function_hint(node.function), max(node.offset - len(node.function), 0)
            return finding("CH302", place.text_path, message, step=place.step_id, hint=hint, offset=offset)
    return None


def _function_hint(name: str) -> str:
    if name in MACROS:
        return "It takes a variable and an expression: list.map(x, x.id)."
    if name in _SYNONYMS:
        return f"Did you mean {_SYNONYMS[name]!r}?"
    near = did_you_mean(name, FUNCTIONS | MACROS)
    return near if near.startswith("Did") else "The plan language has few functions: anything else is a tool's work."


# What people write out of habit.
_SYNONYMS = {
    "len": "size",
    "length": "size",
    "count": "size",
    "lower": "lowerAscii",
    "upper": "upperAscii",
    "toLowerCase": "lowerAscii",
    "str": "string",
    "float": "double",
    "min": "min_by",
    "max": "max_by",
    "sorted": "sort_by",
    "strip": "trim",
    "any": "exists",
    "startswith": "startsWith",
    "endswith": "endsWith",
}


def _unknown_names(place: Place, view: View) -> Iterator[Diagnostic]:
    known = view.plan.by_id.keys() | view.broken
    for name in sorted(free_names(place.expression.tree), key=lambda name: name.offset):
        word = name.name
        if word not in place.expression.names or word == "inputs" or word in place.local_names:
            continue
        if word in OWN_NAMES:
            message = f"{place.owner} uses {word!r}, which means nothing here"
            yield finding(
                "CH107", place.text_path, message, step=place.step_id, hint=_MEANING[word], offset=name.offset
            )
        elif word not in known:
            others = known - {place.step_id or ""}
            hint = f"Write inputs.{word}." if word in view.plan.inputs else did_you_mean(word, others)
            message = f"{place.owner} refers to {word!r}: no such step"
            yield finding("CH104", place.text_path, message, step=place.step_id, hint=hint, offset=name.offset)


_MEANING = {
    "output": "`output` is what the step gave: it is known in `expect`.",
    "args": "`args` is what the step was given: it is known in `expect`.",
    "item": "`item` is known in `with` and `expect` of a step that has `each`.",
    "failure": "`failure` is known in the `when` of a playbook's revisions.",
}


def _unknown_inputs(place: Place, view: View) -> Iterator[Diagnostic]:
    if ("", "inputs") in view.unread:
        return
    for node in walk(place.expression.tree):
        match node:
            case Select(operand=Name(name="inputs"), field=field) if field not in view.plan.inputs:
                hint = did_you_mean(field, view.plan.inputs) or f"Declare it: inputs: {{{field}: text}}."
                message = f"{place.owner} refers to the input {field!r}, which is not declared"
                yield finding("CH106", place.text_path, message, step=place.step_id, hint=hint, offset=node.offset + 1)
            case _:
                pass
