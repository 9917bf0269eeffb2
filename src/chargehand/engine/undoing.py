"""Taking back: what a run did, in reverse order, each by its tool's undo. Pure."""

from collections.abc import Collection, Iterator, Mapping
from typing import Any, cast

from chargehand.catalog.catalog import Catalog
from chargehand.domain.events import Compensation, UndoPlanned
from chargehand.domain.state import Deed, State
from chargehand.engine.facts import facts_of


def plan_undo(state: State, catalog: Catalog) -> UndoPlanned:
    """How everything that stands is taken back, and what cannot be. What other runs did is theirs to undo."""
    undo: dict[str, Compensation] = {}
    remains: list[str] = []
    for _, what in sorted(_standing(state), key=lambda one: -one[0]):
        found = what if isinstance(what, Compensation) else _by_tool(what, catalog)
        if found is None:
            remains.append(what.step)  # no undo is known; or nobody knows whether there is anything to undo
        else:
            undo[_name(found, state, undo)] = found
    named = {one.tool for one in undo.values() if one.tool is not None}
    tools = {
        name: facts_of(name, catalog) for one in sorted(named) for name in (one, *facts_of(one, catalog).providers)
    }
    return UndoPlanned(undo=undo, tools=tools, remains=tuple(remains))


def _standing(state: State) -> Iterator[tuple[int, Deed | Compensation]]:
    """What the run and its children did and nothing takes back yet, with the place in time."""
    planned = [step.undoes for step in state.steps.values() if step.undoes is not None]
    keys, children = {one.key for one in planned}, {one.child for one in planned}
    for deed in state.deeds.values():
        compensates = deed.step in state.steps and state.steps[deed.step].undoes is not None
        if deed.status in ("done", "doubt") and deed.source is None and deed.key not in keys and not compensates:
            yield deed.seq, deed
    for run, child in state.children.items():
        if run not in children:
            yield child.seq, Compensation(step=child.step, item=child.item, child=run)


def _by_tool(deed: Deed, catalog: Catalog) -> Compensation | None:
    """How a tool's undo takes a deed back: each parameter by name, from the output, else from the arguments."""
    tool = catalog.known.get(deed.tool)
    if deed.status == "doubt" or tool is None or tool.undo is None:
        return None
    given = dict(deed.args)
    output: Any = deed.output
    if isinstance(output, Mapping):
        given |= cast(Mapping[str, Any], output)
    args = {name: given[name] for name in tool.undo.signature.parameters if name in given}
    return Compensation(step=deed.step, item=deed.item, key=deed.key, tool=tool.undo.name, args=args)


def _name(undo: Compensation, state: State, taken: Collection[str]) -> str:
    step = state.steps.get(undo.step)
    name = f"undo_{undo.step}_{undo.item}" if step is not None and step.expanded else f"undo_{undo.step}"
    while name in state.steps or name in taken:
        name += "_"
    return name
