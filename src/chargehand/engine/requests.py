"""Approval requests: what a person is shown, and the hash that binds the answer to exactly that."""

from typing import Any

from chargehand.catalog.tools import AnyTool
from chargehand.domain.canonical import digest
from chargehand.domain.events import ApprovalAsked
from chargehand.domain.plan import Step
from chargehand.domain.state import State
from chargehand.domain.values import references

LIFETIME = 7 * 24 * 3600.0  # seconds; what was true a week ago may not be now


def make_request(run: str, state: State, step: Step, item: int, tool: AnyTool, arguments: Any) -> dict[str, Any]:
    """Exact arguments, the effect, where each argument came from, and what waits for it."""
    return {
        "run": run,
        "step": step.id,
        "item": item,
        "tool": tool.name,
        "form": state.tools[tool.name].form,
        "effect": tool.effect,
        "arguments": arguments,
        "sources": {name: _sources(step, name) for name in arguments},
        "blocks": state.feeds[step.id],
    }


def _sources(step: Step, name: str) -> list[str]:
    """The expressions that an argument is made of; none for what stands in the plan."""
    given = dict(step.arguments.fields)
    return [expression.text for _, expression in references(given[name])] if name in given else []


def request_hash(request: dict[str, Any]) -> str:
    """Covers what is done, not what waits for it: another plan around the same action is the same action."""
    return digest({name: value for name, value in request.items() if name != "blocks"})


def shown(asked: ApprovalAsked) -> dict[str, Any]:
    """A request as whoever answers sees it."""
    return {**asked.request, "hash": asked.hash, "expires": asked.expires}
