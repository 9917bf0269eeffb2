"""Mail: what people and other runs say to a run, turned into events. Pure: too late, twice or for something else is
refused."""

import json
from typing import Any

from chargehand.domain import events
from chargehand.domain.events import Event
from chargehand.domain.records import Letter, Message
from chargehand.domain.state import Job, State
from chargehand.domain.work import Evidence, Failure

CHILD = "child"


def letter_home(run: str, state: State, ended: events.RunEnded, at: float) -> tuple[Letter, ...]:
    """What a child run tells the run above it when it ends."""
    if state.parent is None:
        return ()
    error = ended.error
    said = None if error is None else {"kind": error.kind, "message": error.message, "hint": error.hint}
    body = {"run": run, "status": ended.status, "answer": ended.answer, "error": said}
    return (Letter(state.parent, at, run, CHILD, json.dumps(body)),)


def read_message(state: State, message: Message) -> Event:
    """The event that a message makes of a state; MessageRefused, with the reason, if it makes none."""
    body: dict[str, Any] = json.loads(message.body)
    because = refusal(state, message.kind, body, message.at)
    if because:
        return events.MessageRefused(what=message.kind, because=because)
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
        case "undo":
            return events.UndoAsked(because=body["because"])
        case "child":
            return _child_ended(state, body)
        case "late":
            return _late_outcome(body)
        case _:
            return events.CancelAsked(because=body["because"])


def _child_ended(state: State, body: dict[str, Any]) -> Event:
    job = _parent_job(state, body["run"])
    assert job is not None
    error = None if body["error"] is None else Failure(**body["error"])
    return events.ChildEnded(
        step=job.step, item=job.item, child=body["run"], status=body["status"], output=body["answer"], error=error
    )


def _late_outcome(body: dict[str, Any]) -> Event:
    given: dict[str, Any] = {name: value for name, value in body.items() if name != "outcome"}
    if body["outcome"] == events.CallFinished.kind:
        given["evidence"] = tuple(Evidence(**one) for one in body["evidence"])
        return events.CallFinished(**given)
    given["error"] = Failure(**body["error"])
    return events.CallFailed(**given)


def refusal(state: State, kind: str, body: dict[str, Any], at: float) -> str:
    """Why a message that was sent at a time can change nothing as things are; empty if it can."""
    ended = state.ended.status if state.ended else None
    match kind:
        case "cancel":
            return "the run is over" if ended else "" if state.undoing == "no" else "what it did is being taken back"
        case "retry":
            return "" if ended == "failed" else "the run has not failed"
        case "undo":
            below = state.parent is not None  # the run above asks whatever there is, and counts on an answer
            return "" if state.deeds or state.children or below else "the run has done nothing that could be undone"
        case "child":
            return "" if _parent_job(state, body["run"]) else "no step waits for that run"
        case _ if ended and not (kind == "supply" and ended == "failed"):
            return "the run is over"
        case _ if body["step"] not in state.steps:
            return f"there is no step {body['step']!r}"
        case _:
            return _step_refusal(state, kind, body, at)


def _step_refusal(state: State, kind: str, body: dict[str, Any], at: float) -> str:
    job = _job(state, body)
    match kind:
        case "approve" | "deny":
            return _approval_refusal(job, body, at)
        case "settle":
            in_doubt = job is not None and job.status in ("in_doubt", "probing")
            return "" if in_doubt else "the step is not in doubt"
        case "late":
            waits = job is not None and job.status in ("in_doubt", "probing") and job.call is not None
            same = waits and job is not None and job.call is not None and job.call.attempt == body["attempt"]
            return "" if same else "what became of that call is known already"
        case "supply":
            return _supply_refusal(state, job, body)
        case _:
            return f"{kind!r} is not known"


def _approval_refusal(job: Job | None, body: dict[str, Any], at: float) -> str:
    if job is None or job.asked is None:
        return "the step does not wait for approval"
    if at >= job.asked.expires:
        return "the request has expired"
    if body["hash"] is not None and body["hash"] != job.asked.hash:
        return "what was shown is not what would be done now: look again"
    return ""


def _supply_refusal(state: State, job: Job | None, body: dict[str, Any]) -> str:
    step = state.steps[body["step"]]
    if step.status in ("done", "skipped"):
        return f"the step is {step.status}"
    if job is not None and job.status in ("running", "probing", "pursuing"):
        return "the step is running"
    if job is not None and job.status == "done":
        return "the item is done"
    if job is None and (step.waits or body["item"]):
        return "the step has not begun"
    if not step.expanded and _has_items(state, body["step"]):
        return "the list that the step goes over is not known, so there is no item to give a result for"
    return ""


def _has_items(state: State, step: str) -> bool:
    return any(one["id"] == step and "each" in one for one in state.plan["steps"])


def _job(state: State, body: dict[str, Any]) -> Job | None:
    step = state.steps.get(body.get("step", ""))
    jobs: list[Job] = step.jobs if step is not None else []
    item: int = body.get("item", -1)
    return jobs[item] if 0 <= item < len(jobs) else None


def _parent_job(state: State, child: str) -> Job | None:
    waiting = (*state.jobs["pursuing"].values(), *state.jobs["deferred"].values())
    return next((job for job in waiting if job.child == child), None)
