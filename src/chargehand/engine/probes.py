"""Probes: a tool that only reads is asked whether a call in doubt had its effect."""

from chargehand.domain import events
from chargehand.domain.events import CallStarted
from chargehand.domain.state import Job
from chargehand.engine.calls import DEFAULT_TIMEOUT, Caller
from chargehand.engine.driven import Driven
from chargehand.errors import BadValue
from chargehand.execution.calling import call
from chargehand.execution.failures import classify
from chargehand.execution.results import typed_arguments
from chargehand.execution.retry import delay

MAX_PROBES = 6  # a probe that fails so often settles nothing: a person must
PROBE = "probe"  # who says what became of a call


class Probes:
    """Asks the probes of one run."""

    def __init__(self, driven: Driven, caller: Caller) -> None:
        self._driven, self._caller = driven, caller

    def begin(self, job: Job) -> None:
        """Asks what became of a job in doubt. A "yes" is believed at once, a "no" only when it can be trusted."""
        assert job.call is not None
        self._driven.log.record(events.ProbeStarted(step=job.step, item=job.item))
        self._driven.start(job, self._ask(job, job.call))

    def settle_interrupted(self) -> None:
        """Probes of a driver that is no more are asked again."""
        for job in [*self._driven.state.jobs["probing"].values()]:
            self._unsettled(job, "it was interrupted", self._driven.now())

    async def _ask(self, job: Job, started: CallStarted) -> None:
        shop = self._driven.shop
        tool = shop.catalog.known.get(started.tool)
        if tool is None or tool.probe is None:
            self._unsettled(job, f"{started.tool} has no probe any more", None)
            return
        probe = tool.probe
        try:
            given = {name: started.args[name] for name in probe.signature.parameters if name in started.args}
            arguments = typed_arguments(probe.signature, given)
            if probe.signature.key is not None:
                arguments[probe.signature.key] = started.key or ""
            asked = self._driven.now()  # what it says of the world is as old as the question
            result = await call(probe, arguments, shop.threads, probe.timeout or DEFAULT_TIMEOUT)
        except BadValue as error:
            self._unsettled(job, f"{probe.name} cannot be asked: {shop.redact(error.message)}", None)
        except Exception as error:
            verdict = classify(error)
            pause = delay(job.probes, shop.dice(), verdict.retry_after)
            again = self._driven.now() + pause if job.probes < MAX_PROBES else None
            self._unsettled(job, f"{probe.name} failed: {shop.redact(verdict.failure.message)}", again)
        else:
            if job.status != "probing":
                return  # somebody settled it meanwhile
            if result is not None:
                step, scope = self._driven.find(job)
                self._caller.finish(step, started, tool, result, scope, 0.0, by=PROBE)
            elif job.no_counts_from is not None and asked >= job.no_counts_from:
                because = f"{probe.name} found nothing"
                settled = events.DoubtSettled(step=job.step, item=job.item, happened=False, because=because)
                self._driven.log.record(settled, by=PROBE)
            else:
                because = f"{probe.name} found nothing, which may be too early to say"
                self._unsettled(job, because, job.no_counts_from)

    def _unsettled(self, job: Job, because: str, again: float | None) -> None:
        if job.status == "probing":
            self._driven.log.record(events.ProbeFinished(step=job.step, item=job.item, because=because, probe_at=again))
