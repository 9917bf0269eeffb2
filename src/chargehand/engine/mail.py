"""Mail: what people say to a run, turned into events. Pure: too late, twice or for something else is refused."""

import json
from typing import Any

from chargehand.domain import events
from chargehand.domain.events import Event
from chargehand.domain.records import Message
from chargehand.domain.state import Job, State


def read_message(state: State, message: Message) -> Event:
    """The event that a message makes of a state; MessageRefused, with the reason, if it makes none."""
    body: dict[str, Any] = json.loads(message.body)
    refusal = _refusal(state, message.kind, body)
    if refusal:
        return events.MessageRefused(what=message.kind, because=refusal)
    match message.kind:
        case "approve" | "deny":
            job = _job(state, body)
            hash = job.asked.hash if job is not None and job.asked is not None else ""
            return events.ApprovalAnswered(
                step=body["step"], item=body["item"], hash=hash, yes=message.kind == "approve", because=body["because"]
            )
        case "settle":
            return events.DoubtSettled(**body)
        case "supply":
            return events.OutputSupplied(**body)
        case "retry":
            return events.RetryAsked(because=body["because"])
        case _:
            return events.CancelAsked(because=body["because"])


def _refusal(state: State, kind: str, body: dict[str, Any]) -> str:
    job = _job(state, body)
    match kind:
        case "cancel":
            return "the run is over" if state.ended else ""
        case "retry":
            return "" if state.ended and state.ended.status == "failed" else "the run has not failed"
        case _ if state.ended:
            return "the run is over"
        case _ if body["step"] not in state.steps:
            return f"there is no step {body['step']!r}"
        case "approve" | "deny":
            return _approval_refusal(job, body)
        case "settle":
            return "" if job is not None and job.status == "in_doubt" else "the step is not in doubt"
        case "supply":
            return _supply_refusal(state, job, body)
        case _:
            return f"{kind!r} is not known"


def _approval_refusal(job: Job | None, body: dict[str, Any]) -> str:
    if job is None or job.asked is None:
        return "the step does not wait for approval"
    if body["hash"] is not None and body["hash"] != job.asked.hash:
        return "what was shown is not what would be done now: look again"
    return ""


def _supply_refusal(state: State, job: Job | None, body: dict[str, Any]) -> str:
    step = state.steps[body["step"]]
    if step.status in ("done", "skipped"):
        return f"the step is {step.status}"
    if job is not None and job.status == "running":
        return "the step is running"
    if job is None and (step.waits or body["item"]):
        return "the step has not begun"
    return ""


def _job(state: State, body: dict[str, Any]) -> Job | None:
    step = state.steps.get(body.get("step", ""))
    jobs: list[Job] = step.jobs if step is not None else []
    item: int = body.get("item", -1)
    return jobs[item] if 0 <= item < len(jobs) else None
