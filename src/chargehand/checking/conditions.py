"""Every expression is sound in itself, and gives what its place wants: a condition, a list."""

from collections.abc import Iterator
from typing import TypeGuard

from chargehand.checking.paths import Typed
from chargehand.checking.typing import Typing
from chargehand.checking.view import Place, View
from chargehand.domain.diagnostics import Diagnostic, finding
from chargehand.domain.shapes import ANYTHING, Many, Record, Truth, describe, fits, without_null


def check_conditions(view: View, typing: Typing) -> Iterator[Diagnostic]:
    """Expressions have no wrong fields or types; `when` and `expect` are true or false, `each` goes over a list."""
    for place in view.expressions:
        typed = typing.type(place)
        yield from _troubles(place, typed)
        if typed.known and not typed.troubles:
            yield from _check_use(place, typed)
            yield from _check_presence(place, typed)


def _troubles(place: Place, typed: Typed) -> Iterator[Diagnostic]:
    for trouble in typed.troubles:
        message = f"{place.owner}: {trouble.message}, in `{place.expression.text}`"
        yield finding(
            trouble.code, place.text_path, message, step=place.step_id, hint=trouble.hint, offset=trouble.offset
        )


def _check_use(place: Place, typed: Typed) -> Iterator[Diagnostic]:
    shape, text = without_null(typed.shape), place.expression.text
    if place.field in ("when", "expect") and fits(shape, Truth()) == "no":
        message = f"`{text}` gives {describe(shape)}, not true or false"
        yield finding("CH305", place.text_path, message, step=place.step_id, hint="Compare it with something.")
    if place.field == "each" and fits(shape, Many(ANYTHING)) == "no":
        lists = [name for name, inner in shape.fields.items() if isinstance(inner, Many)] if _is_record(shape) else []
        hint = f"Did you mean {text}.{lists[0]}?" if lists else "Name a list, or put the value in brackets: [x]."
        message = f"`each` goes over `{text}`, which is {describe(shape)}, not a list"
        yield finding("CH306", place.text_path, message, step=place.step_id, hint=hint)
    if place.field == "expect" and not place.expression.names & {"output", place.step_id}:
        message = f"the check `{text}` does not look at the output, so it says nothing about it"
        yield finding("CH308", place.text_path, message, step=place.step_id, hint="Refer to `output`.")


def _check_presence(place: Place, typed: Typed) -> Iterator[Diagnostic]:
    """A path on whose way something may be missing fails when it is."""
    if not typed.absent or place.guards(typed.absent):
        return
    message = f"{place.owner} uses `{place.expression.text}`, but `{typed.absent}` may be missing"
    hint = (
        f"Guard the step: when: {typed.absent} != null."
        if place.step
        else "Answer from something that is always there."
    )
    yield finding("CH208", place.text_path, message, step=place.step_id, hint=hint)


def _is_record(shape: object) -> TypeGuard[Record]:
    return isinstance(shape, Record)
