"""Chargehand: a runtime for AI agents that act in the real world.

    from chargehand import Chargehand, Plan, tool

Names are loaded when they are used, so that importing the package costs next to nothing.
"""

import logging
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chargehand.catalog.agents import Agent, Skill
    from chargehand.catalog.signatures import IdempotencyKey
    from chargehand.catalog.tools import Tool, tool
    from chargehand.domain.diagnostics import Diagnostic
    from chargehand.domain.goal import Goal
    from chargehand.domain.patch import Patch
    from chargehand.domain.plan import Plan, Step
    from chargehand.domain.work import Outcome, Report
    from chargehand.errors import (
        BadTool,
        ChargehandError,
        GoalNotPlanned,
        NotPerformed,
        PlanRejected,
        PlaybookRejected,
        RequestRefused,
        Transient,
        Unsupported,
    )
    from chargehand.runtime import Chargehand, approve_all
    from chargehand.version import __version__

_HOMES = {
    "Agent": "catalog.agents",
    "BadTool": "errors",
    "Chargehand": "runtime",
    "ChargehandError": "errors",
    "Diagnostic": "domain.diagnostics",
    "Goal": "domain.goal",
    "GoalNotPlanned": "errors",
    "IdempotencyKey": "catalog.signatures",
    "NotPerformed": "errors",
    "Outcome": "domain.work",
    "Patch": "domain.patch",
    "Plan": "domain.plan",
    "PlanRejected": "errors",
    "PlaybookRejected": "errors",
    "Report": "domain.work",
    "RequestRefused": "errors",
    "Skill": "catalog.agents",
    "Step": "domain.plan",
    "Tool": "catalog.tools",
    "Transient": "errors",
    "Unsupported": "errors",
    "__version__": "version",
    "approve_all": "runtime",
    "tool": "catalog.tools",
}

__all__ = [
    "Agent",
    "BadTool",
    "Chargehand",
    "ChargehandError",
    "Diagnostic",
    "Goal",
    "GoalNotPlanned",
    "IdempotencyKey",
    "NotPerformed",
    "Outcome",
    "Patch",
    "Plan",
    "PlanRejected",
    "PlaybookRejected",
    "Report",
    "RequestRefused",
    "Skill",
    "Step",
    "Tool",
    "Transient",
    "Unsupported",
    "__version__",
    "approve_all",
    "tool",
]


logging.getLogger(__name__).addHandler(logging.NullHandler())  # quiet, unless the application wants to hear


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
