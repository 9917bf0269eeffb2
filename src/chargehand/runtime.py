"""Chargehand: what an application makes, and everything it can do."""

import datetime as dt
from collections.abc import Iterable, Mapping
from pathlib import Path

from chargehand.catalog.agents import Agent
from chargehand.catalog.catalog import Catalog, make_catalog
from chargehand.catalog.tools import AnyTool
from chargehand.checking.check import check, settle
from chargehand.checking.view import View
from chargehand.domain.diagnostics import Diagnostic, has_errors
from chargehand.domain.plan import Plan
from chargehand.domain.reading import read_plan
from chargehand.errors import PlanRejected
from chargehand.planning.matching import Planned, fill, find
from chargehand.planning.playbooks import Playbook, PlaybookDraft, find_files, read_playbook
from chargehand.planning.shelf import Shelf, check_playbooks, make_shelf
from chargehand.ports import Clock
from chargehand.wiring import choose_clock


class Chargehand:
    """Tools, agents and playbooks, and the plans that can be made of them.

    desk = Chargehand(tools=[search_flights, book_flight], playbooks="playbooks/")
    """

    def __init__(
        self,
        *,
        tools: Iterable[AnyTool] = (),
        agents: Iterable[Agent] = (),
        playbooks: "str | Path | Iterable[str | Path | Mapping[str, object]] | None" = None,
        clock: Clock | None = None,
    ) -> None:
        """Raises BadTool or PlaybookRejected if what is given does not hold together.

        playbooks: a file, a folder of YAML files, or several of them (mappings too).
        """
        self._catalog = make_catalog(tools, agents)
        self._clock = choose_clock(clock)
        self._shelf = make_shelf(_read_playbooks(playbooks), self._catalog)

    @property
    def catalog(self) -> Catalog:
        """The tools and skills that plans may name."""
        return self._catalog

    @property
    def shelf(self) -> Shelf:
        """The playbooks, checked."""
        return self._shelf

    @property
    def playbooks(self) -> tuple[Playbook, ...]:
        return self._shelf.playbooks

    def check(self, plan: "Plan | Mapping[str, object] | str") -> list[Diagnostic]:
        """Everything that is wrong with a plan, or may be. Takes a Plan, a mapping or YAML/JSON text; never raises
        for a bad plan."""
        draft = read_plan(plan)
        if not draft.plan.steps and draft.plan.answer is None:
            return list(draft.diagnostics)
        view = View(
            draft.plan,
            self._catalog,
            draft.broken,
            self._shelf.sub_goal,
            indices=draft.indices,
            unread=draft.unread,
        )
        return settle([*draft.diagnostics, *check(view)])

    def check_playbook(
        self, playbook: "Mapping[str, object] | str", origin: str | Path | None = None
    ) -> list[Diagnostic]:
        """Everything that is wrong with a playbook beside the others of this desk; never raises for a bad one.

        The playbook that was loaded from the file at `origin` is not counted among the others.
        """
        here = Path(origin).resolve() if origin is not None else None
        others = [
            PlaybookDraft(other, ())
            for other in self.playbooks
            if here is None or not other.source or Path(other.source).resolve() != here
        ]
        return check_playbooks([*others, read_playbook(playbook)], self._catalog)[-1]

    def plan(self, goal: str, inputs: Mapping[str, object] | None = None, *, now: dt.datetime | None = None) -> Plan:
        """The checked plan for a goal, with its inputs; dates in words are resolved against `now`.

        Raises GoalNotPlanned (NoPlaybook, AmbiguousGoal, InputsRefused) if no plan can be made.
        """
        return self.explain(goal, inputs, now=now).plan

    def explain(
        self, goal: str, inputs: Mapping[str, object] | None = None, *, now: dt.datetime | None = None
    ) -> Planned:
        """The plan for a goal, and why it is this one: the playbook, the pattern, the source of each input."""
        match = find(goal, self._shelf.playbooks, inputs or ())
        planned = fill(goal, match, inputs or {}, now or self._clock.now())
        found = self.check(planned.plan)
        if has_errors(found):
            raise PlanRejected(found, f"the plan for {goal!r}")
        return planned


def _read_playbooks(source: "str | Path | Iterable[str | Path | Mapping[str, object]] | None"):
    if source is None:
        return
    sources = [source] if isinstance(source, str | Path) else source
    for one in sources:
        if isinstance(one, Mapping):
            yield read_playbook(one)
        else:
            for path, text in find_files(one).items():
                yield read_playbook(text, path)
