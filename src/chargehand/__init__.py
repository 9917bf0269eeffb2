"""Chargehand: a runtime for AI agents that act in the real world.

    from chargehand import Chargehand, Plan, tool

Names are loaded when they are used, so that importing the package costs next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from chargehand.catalog.agents import Agent, Skill
    from chargehand.catalog.tools import Tool, tool
    from chargehand.domain.diagnostics import Diagnostic
    from chargehand.domain.patch import Patch
    from chargehand.domain.plan import Plan, Step
    from chargehand.errors import (
        BadTool,
        ChargehandError,
        GoalNotPlanned,
        PlanRejected,
        PlaybookRejected,
    )
    from chargehand.runtime import Chargehand
    from chargehand.version import __version__

_HOMES = {
    "Agent": "catalog.agents",
    "BadTool": "errors",
    "Chargehand": "runtime",
    "ChargehandError": "errors",
    "Diagnostic": "domain.diagnostics",
    "GoalNotPlanned": "errors",
    "Patch": "domain.patch",
    "Plan": "domain.plan",
    "PlanRejected": "errors",
    "PlaybookRejected": "errors",
    "Skill": "catalog.agents",
    "Step": "domain.plan",
    "Tool": "catalog.tools",
    "__version__": "version",
    "tool": "catalog.tools",
}

__all__ = [
    "Agent",
    "BadTool",
    "Chargehand",
    "ChargehandError",
    "Diagnostic",
    "GoalNotPlanned",
    "Patch",
    "Plan",
    "PlanRejected",
    "PlaybookRejected",
    "Skill",
    "Step",
    "Tool",
    "__version__",
    "tool",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
