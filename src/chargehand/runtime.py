"""Chargehand: what an application makes, and everything it can do."""

import datetime as dt
import re
from collections.abc import AsyncIterator, Collection, Iterable, Iterator, Mapping
from dataclasses import replace
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
from chargehand.domain.goal import Goal
from chargehand.domain.patch import Revised
from chargehand.domain.plan import Plan
from chargehand.domain.reading import read_plan
from chargehand.domain.records import Head, Problem, Pruned, Recorded, RunStatus
from chargehand.domain.state import State
from chargehand.domain.work import Failure, Outcome
from chargehand.domain.writing import write_plan
from chargehand.errors import BadValue, PlanRejected, RequestRefused, RunExists
from chargehand.execution.redaction import Redactor
from chargehand.planning.matching import Planned, fill, fill_plan, find
from chargehand.planning.playbooks import Playbook, PlaybookDraft, find_files, read_playbook
from chargehand.planning.revising import revise
from chargehand.planning.shelf import Shelf, check_playbooks, make_shelf
from chargehand.ports import Clock, Journal
from chargehand.wiring import choose_clock, make_workshop, new_run_id, open_journal

if TYPE_CHECKING:
    from chargehand.engine.delivery import Delivery
    from chargehand.engine.runs import Beginning, Runs
    from chargehand.engine.workshop import Approver, Workshop


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
        secrets: Iterable[str] = (),
        clock: Clock | None = None,
    ) -> None:
        """Raises BadTool or PlaybookRejected if what is given does not hold together.

        playbooks: a file, a folder of YAML files, or several of them (mappings too). journal: `sqlite:///trips.db`;
        `:memory:` keeps nothing. approver: a function, sync or async, that is shown what an irreversible step would do
        and says True or False, or None to let the run wait; without one, such runs wait. secrets: values that are
        never journalled, shown or logged; where a tool gives or a goal names one, `•••` stands instead.
        """
        self._catalog = make_catalog(tools, agents)
        self._clock = choose_clock(clock)
        self._shelf = make_shelf(_read_playbooks(playbooks), self._catalog)
        self._journal, self._approver = journal, approver
        secrets = tuple(secrets)
        self._redactor, self._has_secrets = Redactor(secrets), bool(secrets)

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

        return Runs(self._shop)

    @cached_property
    def _shop(self) -> "Workshop":
        journal = open_journal(self._journal)
        return make_workshop(
            journal, self._catalog, self._clock, self._approver, self._plan_goal, self._revise, self._redactor
        )

    @cached_property
    def _delivery(self) -> "Delivery":
        from chargehand.engine.delivery import Delivery

        return Delivery(self._shop, self._runs.resume)

    async def run(
        self, goal: str | Goal | Plan, inputs: Mapping[str, object] | None = None, *, run_id: str | None = None
    ) -> Outcome:
        """Carries a goal or a plan out, until it is over or waits for somebody. A run that exists is resumed.

        Raises PlanRejected or GoalNotPlanned before anything is done.
        """
        if run_id is not None and self._runs.exists(_vetted(run_id)):
            return await self.resume(run_id)
        beginning = self._prepare(goal, inputs or {}, run_id)
        try:
            return await self._runs.start(beginning)
        except RunExists:  # another process was quicker
            return await self.resume(beginning.run)

    async def start(
        self, goal: str | Goal | Plan, inputs: Mapping[str, object] | None = None, *, run_id: str | None = None
    ) -> str:
        """Begins a run, on disk, and gives its id; it is driven in the background until this desk is closed.

        `resume` waits for it, `follow` watches it. From the first `start` on, runs that wait are driven on as soon as
        somebody answers or their time comes, whoever began them.
        """
        if run_id is None or not self._runs.exists(_vetted(run_id)):
            beginning = self._prepare(goal, inputs or {}, run_id)
            run_id = beginning.run
            try:
                begun = await self._runs.begin(beginning)
            except RunExists:
                self._delivery.submit(run_id)
            else:
                self._delivery.submit(run_id, lambda: self._runs.drive(begun))
        else:
            self._delivery.submit(run_id)
        self._delivery.open()
        return run_id

    async def work(self) -> None:
        """Drives every run of the journal that was left behind, is due or has mail, until it is cancelled."""
        import asyncio

        self._delivery.open()
        try:
            await asyncio.Event().wait()
        finally:
            await self._delivery.close()

    async def close(self) -> None:
        """Stops driving and lets go of the journal. Runs that were under way go on with the next `resume`."""
        if "_delivery" in self.__dict__:
            await self._delivery.close()
        if "_shop" in self.__dict__:
            self._shop.gates.close()
            self._shop.journal.close()

    async def __aenter__(self) -> "Chargehand":
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    def run_sync(
        self, goal: str | Goal | Plan, inputs: Mapping[str, object] | None = None, *, run_id: str | None = None
    ) -> Outcome:
        """`run`, for scripts that have no event loop."""
        import asyncio

        return asyncio.run(self.run(goal, inputs, run_id=run_id))

    async def resume(self, run_id: str, *, take_over: bool = False) -> Outcome:
        """Takes a run up where it stands. If it is being driven, waits for its end (or until it waits for somebody)
        instead of driving it too; `take_over` drives it in any case."""
        return await self._runs.resume(run_id, take_over=take_over)

    def show(self, run_id: str, at: int | None = None) -> Outcome:
        """How a run stands, or stood after its first `at` events."""
        return self._runs.show(run_id, at)

    def runs(
        self, *, status: "Collection[RunStatus] | None" = None, parent: str | None = None, limit: int | None = None
    ) -> list[Head]:
        """The runs of the journal, the newest first: all, those of some statuses, or the children of one."""
        return self._runs.heads(status, parent, limit)

    def follow(self, run_id: str, after: int = 0) -> AsyncIterator[tuple[Recorded, Event]]:
        """Every event of a run as it reaches the disk, whoever writes it, until the run is over."""
        return self._runs.follow(run_id, after)

    def approve(self, run_id: str, step: str, *, item: int = 0, hash: str | None = None, because: str = "") -> None:
        """Says yes to what a step would do; `hash` binds it to what was shown. The run goes on with `resume`.

        This and the other answers raise RequestRefused for what can change nothing: too late, or for something else.
        """
        self._tell(run_id, "approve", step=step, item=item, hash=hash, because=because)

    def deny(self, run_id: str, step: str, *, item: int = 0, because: str = "") -> None:
        """Says no to what a step would do."""
        self._tell(run_id, "deny", step=step, item=item, hash=None, because=because)

    def settle(
        self,
        run_id: str,
        step: str,
        *,
        happened: object = ...,
        did_not_happen: bool = False,
        stop: bool = False,
        item: int = 0,
        because: str = "",
    ) -> None:
        """Says what became of a step in doubt: it happened, with this result; or it did not, and is done now; or
        nobody will ever know, and the run is to stop."""
        happens = happened is not ...
        if happens + did_not_happen + stop != 1:
            reason = "say one of the three: it happened (with its result), it did not happen, or nobody knows (stop)"
            raise RequestRefused(run_id, "settle", reason)
        output = self._result(run_id, step, happened) if happens else None
        self._tell(run_id, "settle", step=step, item=item, happened=happens, output=output, because=because, stop=stop)

    def supply(self, run_id: str, step: str, output: object, *, item: int = 0, because: str = "") -> None:
        """Gives the result of a step that a person did instead."""
        given = self._result(run_id, step, output)
        self._tell(run_id, "supply", step=step, item=item, output=given, because=because)

    def cancel(self, run_id: str, *, because: str = "") -> None:
        """Asks a run to stop: nothing new begins, reads end at once, and effects that are under way settle."""
        self._tell(run_id, "cancel", because=because)

    def retry(self, run_id: str, *, because: str = "") -> None:
        """Asks for another try at the failed steps of a run that failed; `resume` makes it."""
        self._tell(run_id, "retry", because=because)

    def undo(self, run_id: str, *, because: str = "") -> None:
        """Asks to take back what a run and its children did, in reverse order, each by its tool's `undo`; `resume`
        does it. A run that is not over is cancelled first."""
        self._tell(run_id, "undo", because=because)

    async def fork(self, run_id: str, *, at: str) -> str:
        """Makes a new run from another one and gives its id: what was finished before the step `at` is kept, no effect
        is repeated, and the plan is checked anew. `resume` drives it."""
        found = self.check(self._runs.state(run_id).plan)
        if has_errors(found):
            raise PlanRejected(found, f"the plan of run {run_id!r}")
        return await self._runs.fork(run_id, at, new_run_id())

    # --- keeping ---------------------------------------------------------------------------------------------------

    def verify(self, run_id: str) -> list[Problem]:
        """Everything that shows that a run's record was changed or is not whole; empty if it is sound."""
        return self._shop.journal.verify(run_id)

    def export(self, run_id: str) -> bytes:
        """A run as one file: its events, values and waiting mail."""
        return self._shop.journal.export(run_id)

    def import_(self, file: bytes) -> str:
        """Takes in an exported run and gives its id."""
        return self._shop.journal.import_(file)

    def prune(self, older_than: dt.timedelta, *, status: "Collection[RunStatus] | None" = None) -> Pruned:
        """Deletes runs that ended (in one of these ways) and last changed longer ago than this, and the values that
        nobody needs any more. A run, its children and its forks go together, or not at all."""
        return self._shop.journal.prune(self._clock.time() - older_than.total_seconds(), status)

    # --- inside ----------------------------------------------------------------------------------------------------

    def _tell(self, run_id: str, kind: str, **body: object) -> None:
        self._runs.post(run_id, kind, PERSON, **self._redactor.redact(body))
        if "_delivery" in self.__dict__:
            self._delivery.notice(run_id)

    def _result(self, run_id: str, step: str, output: object) -> object:
        """What a person says that a step gave, in the form that its tool promises."""
        from chargehand.execution.results import plain_result

        given = canonical(output)
        found = self._runs.state(run_id).steps.get(step)
        tool = self._catalog.known.get(found.facts.tool) if found and found.facts.tool else None
        return self._redactor.redact(given if tool is None else plain_result(tool.signature, given))

    def _prepare(self, goal: str | Goal | Plan, inputs: Mapping[str, object], run_id: str | None) -> "Beginning":
        from chargehand.engine.runs import Beginning

        run, expect, playbook = run_id or new_run_id(), (), None
        if isinstance(goal, Plan):
            filled = fill_plan(goal, self._redactor.redact(dict(inputs)), self._clock.now())
            plan = self._sound_plan(self._without_secrets(filled))
        elif isinstance(goal, Goal):
            plan, playbook = self._plan_goal(goal.text, {**goal.inputs, **inputs})
            expect = tuple(self._redactor.redact(check.text) for check in goal.checks)
            if goal.all_or_nothing and not plan.all_or_nothing:
                plan = self._sound_plan(replace(plan, all_or_nothing=True))
        else:
            plan, playbook = self._plan_goal(goal, inputs)
        return Beginning(run=run, plan=plan, playbook=playbook, expect=expect)

    def _plan_goal(self, goal: str, inputs: Mapping[str, object]) -> tuple[Plan, str | None]:
        planned = self.explain(self._redactor.redact(goal), self._redactor.redact(dict(inputs)))
        return self._without_secrets(planned.plan), planned.match.playbook.name

    def _without_secrets(self, plan: Plan) -> Plan:
        """A plan in which secrets that stand in its text are replaced."""
        if not self._has_secrets:
            return plan
        written = write_plan(plan)
        clean = self._redactor.redact(written)
        return plan if clean is written else Plan.parse(clean)

    def _sound_plan(self, plan: Plan) -> Plan:
        found = self.check(plan)
        if has_errors(found):
            raise PlanRejected(found)
        return plan

    def _revise(self, state: State, plan: Plan, step: str, failure: Failure) -> Revised | None:
        playbook = next((one for one in self.playbooks if one.name == state.playbook), None)
        if playbook is None:
            return None
        settled = [id for id, one in state.steps.items() if one.status in ("done", "open", "skipped")]
        revised = revise(playbook, plan, step, failure, used=state.rungs, settled=settled, sound=self._sound)
        if revised is None:
            return None
        because = self._redactor.redact(revised.because)
        return replace(revised, plan=self._without_secrets(revised.plan), because=because)

    def _sound(self, plan: Plan) -> bool:
        return not has_errors(self.check(plan))


PERSON = "person"  # who answers through the Python door

_RUN_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._:-]{0,99}", re.ASCII)  # `/` leads to child runs


def _vetted(run_id: str) -> str:
    if not _RUN_ID.fullmatch(run_id):
        hint = "Use letters, digits and . _ : - (at the most 100), beginning with a letter or digit."
        raise BadValue(f"{run_id!r:.120} is not an id for a run", hint=hint)
    return run_id


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
