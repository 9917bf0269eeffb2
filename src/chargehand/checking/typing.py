"""Types: the shape of every expression, found by walking paths and by the expression library's own checker."""

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from chargehand.checking.names import words_known
from chargehand.checking.paths import Typed, missing_part, type_path
from chargehand.checking.view import Place, View
from chargehand.domain.diagnostics import Path
from chargehand.domain.shapes import (
    ANYTHING,
    Many,
    Nothing,
    Schema,
    Shape,
    either,
    shape_of,
    without_null,
)

if TYPE_CHECKING:
    from chargehand.checking.library import LibraryChecker


class Typing:
    """Types the expressions of one plan. The checker of the library is made once, and only if a plan needs it."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._items: dict[str, Shape] = {}
        self._typed: dict[Path, Typed] = {}
        self._shapes: dict[int, tuple[Schema, Shape]] = {}
        self._checker: LibraryChecker | None = None

    def type(self, place: Place) -> Typed:
        """The shape of an expression. Each is looked at once, however many rules ask."""
        if place.path not in self._typed:
            self._typed[place.path] = self._look(place)
        return self._typed[place.path]

    def _look(self, place: Place) -> Typed:
        if not words_known(place, self._view):
            return Typed(known=False)
        path = place.expression.path
        return self._check(place) if path is None else type_path(place.expression, self._shape(str(path[0]), place))

    def _shape(self, name: str, place: Place) -> Shape:
        match name:
            case "inputs":
                return self._view.inputs
            case "output" if place.step is not None:
                return self._view.result(place.step)
            case "args" if place.step is not None:
                return self._view.arguments(place.step)
            case "item" if place.step is not None:
                return self.item(place.step.id)
            case name if name in self._view.bound:
                return self._view.bound[name]
            case _:
                shape = self._view.outputs.get(name, ANYTHING)
                null = place.step is not None and name in place.step.maybe
                return either([shape, Nothing()]) if null else shape

    def shape(self, schema: Schema, complete: Callable[[Schema], Schema]) -> Shape:
        """The shape of a schema that lives as long as the plan; a tool that is used often is read once."""
        if id(schema) not in self._shapes:
            self._shapes[id(schema)] = schema, shape_of(complete(schema))  # kept, so that no other gets its id
        return self._shapes[id(schema)][1]

    def item(self, step_id: str) -> Shape:
        """The shape of `item` in a step with `each`."""
        if step_id not in self._items:
            step = self._view.plan.by_id.get(step_id)
            self._items[step_id] = ANYTHING
            if step is not None and step.each is not None:
                place = Place(self._view.path(step, "each"), step, "each", step.each)
                shape = without_null(self.type(place).shape)
                self._items[step_id] = shape.item if isinstance(shape, Many) else ANYTHING
        return self._items[step_id]

    def _check(self, place: Place) -> Typed:
        variables = _variables(place)
        rename = {name: variables[name] for name in sorted(variables) if variables[name] != name}
        typed = self._ready().check(place.expression.text, rename)
        if typed.troubles:
            return typed
        return replace(typed, absent=missing_part(place.expression.tree, lambda name: self._shape(name, place)))

    def _ready(self) -> "LibraryChecker":
        """The library's checker, with all that the plan's expressions may refer to declared."""
        if self._checker is None:
            from chargehand.checking.library import LibraryChecker

            known, items = self._library_shapes()
            if items:  # what these hold is known only when their `each` has been typed: a first checker does that
                self._checker = LibraryChecker(known)
                known |= {f"_item_{step_id}": self.item(step_id) for step_id in items}
            self._checker = LibraryChecker(known)
        return self._checker

    def _library_shapes(self) -> tuple[dict[str, Shape], list[str]]:
        """The shape of each variable, and the steps whose `item` needs the library to be known."""
        shapes: dict[str, Shape] = {}
        items: list[str] = []
        for place in self._view.expressions:
            if place.expression.path is not None or not words_known(place, self._view):
                continue
            for name, variable in _variables(place).items():
                each = place.step.each if place.step is not None and name == "item" else None
                if place.step is not None and each is not None and each.path is None:
                    items.append(place.step.id)
                elif variable not in shapes:
                    shapes[variable] = self._shape(name, place)
        return shapes, items


def _variables(place: Place) -> dict[str, str]:
    """The declared variable that each name of an expression stands for: one checker serves all steps."""
    step, names = place.step, place.expression.names
    if step is None:
        return {name: name for name in names}
    local = {name: f"_{name}_{step.id}" for name in ("output", "args", "item")}
    local |= {name: f"_maybe_{name}" for name in step.maybe}
    return {name: local.get(name, name) for name in names}
