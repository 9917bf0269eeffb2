"""The public door: what an application imports, and what that costs."""

import subprocess
import sys

import chargehand


def test_the_door_shows_these_names_and_no_others() -> None:
    assert chargehand.__all__ == [
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


def test_every_name_on_the_door_can_be_had() -> None:
    for name in chargehand.__all__:
        assert getattr(chargehand, name) is not None


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(chargehand, "Chargehnad")


def test_a_desk_without_expressions_loads_neither_the_expression_library_nor_the_command_line() -> None:
    program = """
import sys
from chargehand import Chargehand, Plan, tool
@tool(effect="read")
def look(what: str) -> str: ...
plan = Plan.parse({"steps": [{"id": "a", "use": "look", "with": {"what": "x"}},
                             {"id": "b", "use": "look", "with": {"what": {"$": "a"}}}], "answer": {"$": "b"}})
assert Chargehand(tools=[look]).check(plan) == []
loaded = {"cel_expr_python", "google.protobuf", "typer", "rich", "dateparser", "ruamel.yaml"} & set(sys.modules)
assert not loaded, loaded
"""
    subprocess.run([sys.executable, "-c", program], check=True)
