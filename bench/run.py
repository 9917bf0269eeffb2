"""The speed budget: what is measured, against what, and what is missed. Never a test: machines are noisy."""

import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from chargehand import Chargehand, Plan
from chargehand.demo import travel
from chargehand.domain.expressions import Expression


@dataclass(frozen=True, slots=True)
class Row:
    """One line of the budget: a figure, what it may be, and how it is shown."""

    what: str
    value: float
    budget: float
    unit: str

    @property
    def met(self) -> bool:
        return self.value <= self.budget

    def __str__(self) -> str:
        verdict = "ok    " if self.met else "MISSED"
        return f"{verdict}  {self.what:<62} {self.value:8.3f} {self.unit:<3} (budget {self.budget:g} {self.unit})"


def median_seconds(action: Callable[[], object], rounds: int) -> float:
    times: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        action()
        times.append(time.perf_counter() - began)
    return statistics.median(times)


def command_seconds(*command: str, rounds: int = 7) -> float:
    return median_seconds(lambda: subprocess.run(command, check=True, capture_output=True), rounds)


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


def checking(desk: Chargehand) -> list[Row]:
    rows: list[Row] = []
    for name, expression in [
        ("paths", "find.flights"),
        ("typed macros", "find.flights.filter(f, f.price < {}.0)"),
    ]:
        plan = Plan.parse(large_plan(1000, expression))
        assert desk.check(plan) == []
        seconds = median_seconds(lambda plan=plan: desk.check(plan), 5)
        rows.append(Row(f"check 1,000 steps, 1,000 expressions ({name})", seconds, 0.5, "s"))
    mapping = large_plan(1000, "find.flights.filter(f, f.price < {}.0)")
    text, yaml = json.dumps(mapping), Plan.parse(mapping).render()
    rows.append(Row("… from JSON text, read and checked", median_seconds(lambda: desk.check(text), 3), 1.0, "s"))
    rows.append(Row("… from YAML text, read and checked", median_seconds(lambda: desk.check(yaml), 3), 2.0, "s"))
    return rows


def importing() -> list[Row]:
    python, script = sys.executable, sys.executable.replace("python3", "chargehand").replace("python", "chargehand")
    empty = command_seconds(python, "-c", "pass")
    pydantic = command_seconds(python, "-c", "import pydantic")
    door = command_seconds(python, "-c", "import chargehand")
    models = command_seconds(python, "-c", "import pydantic.json_schema; from pydantic import BaseModel, TypeAdapter")
    names = command_seconds(python, "-c", "from chargehand import Chargehand, Plan, tool")
    help = command_seconds(script, "--help")
    print(f"        (an empty Python takes {empty:.3f} s, `import pydantic` {pydantic:.3f} s)")
    return [
        Row("`import chargehand` / `import pydantic`", door / pydantic, 2.0, "×"),
        Row("`from chargehand import Chargehand, Plan, tool` / pydantic's models", names / models, 2.0, "×"),
        Row("`chargehand --help` / `import pydantic`", help / pydantic, 3.0, "×"),
    ]


def evaluating() -> list[Row]:
    scope = {"find": {"flights": [{"id": str(number), "price": float(number)} for number in range(20)]}}
    path, formula = Expression.parse("find.flights[3].id"), Expression.parse("find.flights.exists(f, f.price > 10.0)")

    def many(expression: Expression) -> Callable[[], object]:
        return lambda: [expression.evaluate(scope) for _ in range(1000)]

    return [
        Row("evaluate a path", median_seconds(many(path), 5) * 1000, 10, "µs"),
        Row(
            "evaluate a formula over 20 records, its cost bounded first",
            median_seconds(many(formula), 5) * 1000,
            500,
            "µs",
        ),
    ]


def main() -> None:
    rows = [*checking(travel.desk()), *evaluating(), *importing()]
    for row in rows:
        print(row)
    missed = sum(not row.met for row in rows)
    print(f"\n{missed} of {len(rows)} missed" if missed else f"\nall {len(rows)} within the budget")


if __name__ == "__main__":
    main()
