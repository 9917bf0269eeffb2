"""Before anything runs: checking plans, evaluating expressions, starting up."""

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bench.contest import Contest
from bench.effort import Effort
from bench.rows import Part, Row, figure
from bench.timing import Sample, command, compare, interleave, milliseconds, sample
from chargehand import Plan
from chargehand.demo import travel
from chargehand.domain.expressions import Expression


def large_plan(steps: int, expression: str) -> dict[str, Any]:
    """A plan of many steps, each with one expression that is its own."""
    first = {
        "id": "find",
        "use": "search_flights",
        "with": {"origin": "BOS", "destination": "JFK", "day": "2026-11-20"},
    }
    rest = [
        {
            "id": f"pick{number}",
            "use": "cheapest",
            "with": {"flights": {"$": expression.format(number)}, "arrive_before": "2026-11-20T17:00:00-05:00"},
        }
        for number in range(1, steps)
    ]
    return {"steps": [first, *rest]}


def absolute(what: str, taken: Sample, times: float, unit: str, budget: float) -> Row:
    """A time that is held against a time: without a floor to compare with, a busy machine counts against us."""
    figures = f"{figure(taken.processor * times)} {unit} of processor time"
    return Row(what=what, value=taken.median * times, unit=unit, budget=budget, figures=figures)


def checking(contest: Contest, effort: Effort) -> Part:
    desk = travel.desk()
    rows: list[Row] = []
    for name, expression in [
        ("paths", "find.flights"),
        ("typed macros", "find.flights.filter(f, f.price < {}.0)"),
    ]:
        plan = Plan.parse(large_plan(1000, expression))
        assert desk.check(plan) == []
        taken = sample(lambda plan=plan: desk.check(plan), effort.few + 2)
        rows.append(absolute(f"check 1,000 steps, 1,000 expressions ({name})", taken, 1, "s", budget=0.5))
    mapping = large_plan(1000, "find.flights.filter(f, f.price < {}.0)")
    for name, text, budget in [("JSON", json.dumps(mapping), 1.0), ("YAML", Plan.parse(mapping).render(), 2.0)]:
        taken = sample(lambda text=text: desk.check(text), effort.few + 2)
        rows.append(absolute(f"… from {name} text, read and checked", taken, 1, "s", budget=budget))
    return Part("Checking a plan", rows)


def evaluating(contest: Contest, effort: Effort) -> Part:
    scope = {"find": {"flights": [{"id": str(number), "price": float(number)} for number in range(20)]}}
    path, formula = Expression.parse("find.flights[3].id"), Expression.parse("find.flights.exists(f, f.price > 10.0)")

    def many(expression: Expression) -> Callable[[], object]:
        return lambda: [expression.evaluate(scope) for _ in range(1000)]

    rows = [
        absolute(what, sample(many(expression), 5), 1000, "µs", budget=budget)
        for what, expression, budget in [
            ("evaluate a path", path, 10),
            ("evaluate a formula over 20 records, its cost bounded first", formula, 500),
        ]
    ]
    return Part("Evaluating an expression", rows)


def importing(contest: Contest, effort: Effort) -> Part:
    python, script = sys.executable, str(Path(sys.executable).with_name("chargehand"))
    commands = {
        "nothing": [python, "-c", "pass"],
        "pydantic": [python, "-c", "import pydantic"],
        "door": [python, "-c", "import chargehand"],
        "models": [python, "-c", "import pydantic.json_schema; from pydantic import BaseModel, TypeAdapter"],
        "names": [python, "-c", "from chargehand import Chargehand, Plan, tool"],
        "help": [script, "--help"],
    }
    found = interleave(
        effort.few * 2 + 1, {name: lambda words=words: command(*words) for name, words in commands.items()}
    )
    shown = {name: milliseconds(sample) for name, sample in found.items()}
    empty = f"an empty Python {shown['nothing']}"
    return Part(
        "Starting up",
        [
            compare(
                "`import chargehand` / `import pydantic`",
                found["door"],
                found["pydantic"],
                budget=2,
                figures=f"{shown['door']}, {shown['pydantic']}; {empty}",
            ),
            compare(
                "`from chargehand import Chargehand, Plan, tool` / pydantic's models",
                found["names"],
                found["models"],
                budget=2,
                figures=f"{shown['names']}, {shown['models']}",
            ),
            compare(
                "`chargehand --help` / `import pydantic`",
                found["help"],
                found["pydantic"],
                budget=3,
                figures=f"{shown['help']}, {shown['pydantic']}",
            ),
        ],
    )
