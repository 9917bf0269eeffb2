"""Chargehand: what an application makes, and everything it can do."""

import datetime as dt
from collections.abc import AsyncIterator, Iterable, Iterator, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, cast

from chargehand.catalog.agents import Agent
from chargehand.catalog.catalog import Catalog, make_catalog
from chargehand.catalog.tools import AnyTool
from chargehand.checking.check import check, settle
from chargehand.checking.view import View
from chargehand.domain.canonical import canonical
from chargehand.domain.diagnostics import Diagnostic, has_errors
from chargehand.domain.events import Event
from chargehand.domain.patch import Revised
from chargehand.domain.plan import Plan
from chargehand.domain.reading import read_plan
from chargehand.domain.records import Head, Recorded
from chargehand.domain.state import State
from chargehand.domain.work import Failure, Outcome
from chargehand.errors import PlanRejected, RunExists, RunUnknown
from chargehand.planning.matching import Planned, fill, fill_plan, find
from chargehand.planning.playbooks import Playbook, PlaybookDraft, find_files, read_playbook
from chargehand.planning.revising import revise
from chargehand.planning.shelf import Shelf, check_playbooks, make_shelf
from chargehand.ports import Clock, Journal
from chargehand.wiring import choose_clock, make_workshop, new_run_id, open_journal

if TYPE_CHECKING:
    from chargehand.engine.runs import Runs
    from chargehand.engine.workshop import Approver


class Chargehand:
    """Tools, agents and playbooks, and the plans that can be made of them.

    desk = Chargehand(tools=[search_flights, book_flight], playbooks="playbooks/")
    """

    def __init__(
        self,
        *,
        tools: Iterable[AnyTool] = (),
        agents: Iterable[Agent] = (),
        playbooks: "str | Path | Mapping[str, object] | Iterable[str | Path | Mapping[str, object]] | None" = None,
        journal: Journal | str = ":memory:",
        approver: "Approver | None" = None,
        clock: Clock | None = None,
    ) -> None:
        """Raises BadTool or PlaybookRejected if what is given does not hold together.

        playbooks: a file, a folder of YAML files, or several of them (mappings too). journal: `sqlite:///trips.db`;
        `:memory:` keeps nothing. approver: a function, sync or async, that is shown what an irreversible step would do
        and says True or False, or None to let the run wait; without one, such runs wait.
        """
        self._catalog = make_catalog(tools, agents)
        self._clock = choose_clock(clock)
        self._shelf = make_shelf(_read_playbooks(playbooks), self._catalog)
        self._journal, self._approver = journal, approver

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
        if ("", "steps") in draft.unread or (not draft.plan.steps and draft.plan.answer is None):
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

    # --- running -------------------------------------------------------------------------------------------------

    @cached_property
    def _runs(self) -> "Runs":
        """Opened when the first run needs it: planning and checking leave no file behind."""
        from chargehand.engine.runs import Runs  # with asyncio: checking a plan does without

        journal = open_journal(self._journal)
        return Runs(make_workshop(journal, self._catalog, self._clock, self._approver, self._revise))

    async def run(
        self, goal: str | Plan, inputs: Mapping[str, object] | None = None, *, run_id: str | None = None
    ) -> Outcome:
        """Carries a goal or a plan out, until it is over or waits for somebody. A run that exists is resumed.

        Raises PlanRejected or GoalNotPlanned before anything is done.
        """
        if run_id is not None and self._exists(run_id):
            return await self.resume(run_id)
        plan, playbook = self._prepare(goal, inputs or {})
        run = run_id or new_run_id()
        try:
            return await self._runs.start(run, plan, playbook)
        except RunExists:  # another process was quicker
            return await self.resume(run)

    def run_sync(
        self, goal: str | Plan, inputs: Mapping[str, object] | None = None, *, run_id: str | None = None
    ) -> Outcome:
        """`run`, for scripts that have no event loop."""
        import asyncio

        return asyncio.run(self.run(goal, inputs, run_id=run_id))

    async def resume(self, run_id: str, *, take_over: bool = False) -> Outcome:
        """Takes a run up where it stands. If another process drives it, waits for its end instead of driving it too;
        `take_over` drives it in any case."""
        return await self._runs.resume(run_id, take_over=take_over)

    def show(self, run_id: str, at: int | None = None) -> Outcome:
        """How a run stands, or stood after its first `at` events."""
        return self._runs.show(run_id, at)

    def runs(self, limit: int | None = None) -> list[Head]:
        """The runs of the journal, the newest first."""
        return self._runs.heads(limit)

    def follow(self, run_id: str, after: int = 0) -> AsyncIterator[tuple[Recorded, Event]]:
        """Every event of a run as it reaches the disk, whoever writes it, until the run is over."""
        return self._runs.follow(run_id, after)

    def approve(self, run_id: str, step: str, *, item: int = 0, hash: str | None = None, because: str = "") -> None:
        """Says yes to what a step would do; `hash` binds it to what was shown. The run goes on with `resume`."""
        self._runs.post(run_id, "approve", PERSON, step=step, item=item, hash=hash, because=because)

    def deny(self, run_id: str, step: str, *, item: int = 0, because: str = "") -> None:
        """Says no to what a step would do."""
        self._runs.post(run_id, "deny", PERSON, step=step, item=item, hash=None, because=because)

    def settle(
        self, run_id: str, step: str, *, happened: object = None, did_not_happen: bool = False, item: int = 0,
        because: str = "",
    ) -> None:  # fmt: skip
        """Says what became of a step in doubt: it happened, with this result; or it did not, and is done now."""
        output = canonical(happened)
        self._runs.post(
            run_id, "settle", PERSON, step=step, item=item, happened=not did_not_happen, output=output, because=because
        )

    def supply(self, run_id: str, step: str, output: object, *, item: int = 0, because: str = "") -> None:
        """Gives the result of a step that a person did instead."""
        self._runs.post(run_id, "supply", PERSON, step=step, item=item, output=canonical(output), because=because)

    def cancel(self, run_id: str, *, because: str = "") -> None:
        """Asks a run to stop: nothing new begins, and what is under way settles."""
        self._runs.post(run_id, "cancel", PERSON, because=because)

    def retry(self, run_id: str, *, because: str = "") -> None:
        """Asks for another try at the failed steps of a run that failed; `resume` makes it."""
        self._runs.post(run_id, "retry", PERSON, because=because)

    def _prepare(self, goal: str | Plan, inputs: Mapping[str, object]) -> tuple[Plan, str | None]:
        if isinstance(goal, str):
            planned = self.explain(goal, inputs)
            return planned.plan, planned.match.playbook.name
        plan = fill_plan(goal, inputs, self._clock.now())
        found = self.check(plan)
        if has_errors(found):
            raise PlanRejected(found)
        return plan, None

    def _exists(self, run_id: str) -> bool:
        try:
            self._runs.state(run_id, at=1)
        except RunUnknown:
            return False
        return True

    def _revise(self, state: State, plan: Plan, step: str, failure: Failure) -> Revised | None:
        playbook = next((one for one in self.playbooks if one.name == state.playbook), None)
        if playbook is None:
            return None
        settled = [id for id, one in state.steps.items() if one.status in ("done", "open", "skipped")]
        return revise(playbook, plan, step, failure, used=state.rungs, settled=settled, sound=self._sound)

    def _sound(self, plan: Plan) -> bool:
        return not has_errors(self.check(plan))


PERSON = "person"  # who answers through the Python door


def approve_all(request: Mapping[str, object]) -> bool:
    """An approver that says yes to everything: for tests and demos."""
    return True


def _read_playbooks(
    source: "str | Path | Mapping[str, object] | Iterable[str | Path | Mapping[str, object]] | None",
) -> Iterator[PlaybookDraft]:
    if source is None:
        return
    if isinstance(source, str | Path | Mapping):
        source = [cast("str | Path | Mapping[str, object]", source)]
    for one in source:
        if isinstance(one, Mapping):
            yield read_playbook(one)
        else:
            for path, text in find_files(one).items():
                yield read_playbook(text, path)
