"""Properties of the checker: valid plans pass, one mistake gives one code, and nothing makes it raise."""

import copy
import json
from collections.abc import Callable
from typing import Any, cast

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.trips import codes, desk, found

from chargehand import Plan
from chargehand.domain.diagnostics import CODES

Json = dict[str, Any]


@st.composite
def plans(draw: st.DrawFn) -> Json:
    """Plans that are right by construction: each step takes only what earlier steps give."""
    steps: list[Json] = [{"id": "s0", "use": "search", "with": _search(draw)}]
    lists, flights, bookings = ["s0.flights"], list[str](), list[str]()
    for number in range(1, draw(st.integers(1, 8))):
        id = f"s{number}"
        kind = draw(st.sampled_from(["search", "cheapest", "book", "hold", "letter", "notice", "each"]))
        if kind == "search":
            steps.append({"id": id, "use": "search", "with": _search(draw)})
            lists.append(f"{id}.flights")
        elif kind == "cheapest":
            source = draw(st.sampled_from(lists))
            text = draw(st.sampled_from(["{}", "{}.filter(f, f.price < 500.0)", "sort_by({}, 'price')"])).format(source)
            steps.append({"id": id, "use": "cheapest", "with": {"flights": {"$": text}}, **_order(draw, steps)})
            flights.append(id)
        elif kind == "book" and flights:
            flight = draw(st.sampled_from(flights))
            arguments: Json = {"flight_id": {"$": f"{flight}.id"}, "seats": draw(st.integers(1, 9))}
            expect = [f"output.paid <= {flight}.price"]
            steps.append({"id": id, "use": "book", "with": arguments, "expect": expect})
            bookings.append(id)
        elif kind == "hold" and flights:
            flight = {"$": f"{draw(st.sampled_from(flights))}.id + '{number}'"}
            steps.append({"id": id, "use": "hold", "with": {"flight_id": flight}, **_order(draw, steps)})
        elif kind == "notice" and bookings:
            booking = {"$": draw(st.sampled_from(bookings))}
            steps.append({"id": id, "use": "write_notice", "with": {"booking": booking, "tone": "dry"}})
        elif kind == "each":
            source = draw(st.sampled_from(lists))
            held: Json = {"id": id, "use": "hold", "each": source, "with": {"flight_id": {"$": "item.id"}}}
            steps.append({**held, "if_fails": draw(st.sampled_from(["revise", "stop"]))})
        else:
            context = {"seen": {"$": draw(st.sampled_from(lists))}, "note": draw(st.text("abc é", max_size=5))}
            steps.append({"id": id, "ask": "writing", "task": "Write it down.", "with": context})
    return {"steps": steps}


def _search(draw: st.DrawFn) -> Json:
    day = draw(st.dates().map(str).filter(lambda text: len(text) == 10))
    return {"origin": draw(st.sampled_from(["BOS", "17:00", "NO"])), "destination": "JFK", "day": day}


def _order(draw: st.DrawFn, steps: list[Json]) -> Json:
    return {"after": [draw(st.sampled_from(steps))["id"]]} if draw(st.booleans()) else {}


@pytest.mark.slow
@given(plans())
def test_a_plan_that_is_right_by_construction_has_no_errors(plan: Json) -> None:
    errors = [finding for finding in found(plan) if finding.severity == "error"]

    assert errors == []


@pytest.mark.slow
@given(plans())
def test_a_plan_reads_back_as_it_was_written(plan: Json) -> None:
    read = Plan.parse(plan)

    assert Plan.parse(read.render()) == read
    assert Plan.parse(json.dumps(plan)) == read


_anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=10,
)
_words = st.sampled_from(
    """steps id use ask task goal with returns after when each maybe expect if_fails limits answer inputs type default
    seconds usd $ search book find a b output item all_or_nothing revision schema choices value""".split()
)
_planlike = st.recursive(
    _anything | _words | st.sampled_from(["a.b", "find.flights[0].id", "1 +", "a.map(x, x.y)", "inputs.a"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=5),
    max_leaves=25,
)


@pytest.mark.slow
@given(_anything | _planlike)
@settings(max_examples=300)
def test_the_checker_never_raises_on_any_value(value: object) -> None:
    for finding in desk().check(cast(Any, value)):
        assert finding.code in CODES
        assert finding.message


@pytest.mark.slow
@given(st.text(max_size=100) | _planlike.map(lambda value: json.dumps(value)))
def test_the_checker_never_raises_on_any_text(text: str) -> None:
    assert all(finding.code in CODES for finding in desk().check(text))


# --- one mistake, one code ---------------------------------------------------------------------------------------

WHOLE: Json = {
    "inputs": {"origin": "text", "most": {"type": "number", "value": 400.0}},
    "steps": [
        {"id": "find", "use": "search",
         "with": {"origin": {"$": "inputs.origin"}, "destination": "JFK", "day": "2026-11-20"}},
        {"id": "pick", "use": "cheapest", "with": {"flights": {"$": "find.flights.filter(f, f.price < inputs.most)"}}},
        {"id": "held", "use": "hold", "with": {"flight_id": {"$": "pick.id"}}, "when": "pick.seats > 1"},
        {"id": "tags", "use": "family", "each": "pick.tags", "with": {"name": {"$": "item"}}},
        {
            "id": "booked",
            "use": "book",
            "with": {"flight_id": {"$": "pick.id"}, "seats": 2},
            "expect": ["output.paid <= pick.price"],
            "after": ["held", "tags"],
            "limits": {"usd": 1.0},
        },
        {"id": "letter", "ask": "writing", "task": "Confirm it.", "with": {"booking": {"$": "booked"}},
         "returns": {"type": "object", "properties": {"body": {"type": "string"}}, "required": ["body"]}},
        {"id": "hotel", "goal": "Find me a hotel in New York", "with": {"stars": 3}},
    ],
    "answer": {"text": {"$": "letter.body"}, "hotel": {"$": "hotel.name"}},
}  # fmt: skip

Break = Callable[[Json], object]


def _set(path: str, value: object) -> Break:
    def change(plan: Json) -> None:
        *way, last = path.split(".")
        place: Any = plan
        for part in way:
            place = place[int(part)] if part.isdigit() else place[part]
        if value is _GONE:
            del place[last]
        else:
            place[int(last) if last.isdigit() else last] = copy.deepcopy(value)

    return change


_GONE = object()


def _deep(levels: int) -> object:
    value: object = 1
    for _ in range(levels):
        value = [value]
    return value


MUTATIONS: list[tuple[str, Break]] = [
    ("CH001", lambda plan: "steps: ["),
    ("CH002", lambda plan: json.dumps(plan)[:-1] + ', "steps": []}'),
    ("CH003", _set("steps.5.with.deep", _deep(70))),
    ("CH004", _set("steps.5.with.odd", float("nan"))),
    ("CH005", _set("steps.0.colour", "red")),
    ("CH006", _set("steps.5.task", _GONE)),
    ("CH007", _set("steps.4.expect", "output.paid > 1.0")),
    ("CH008", _set("steps.6.use", "hold")),
    ("CH009", _set("steps.4.with.flight_id", {"$": "pick.id", "else": 1})),
    ("CH101", lambda plan: plan["steps"].append({**plan["steps"][6], "id": "ho-tel"})),
    ("CH102", lambda plan: plan["steps"].append({**plan["steps"][6], "id": "int"})),
    ("CH103", lambda plan: plan["steps"].append({**plan["steps"][6]})),
    ("CH104", _set("steps.4.with.flight_id", {"$": "pik.id"})),
    ("CH105", _set("steps.0.after", ["booked"])),
    ("CH106", _set("steps.0.with.origin", {"$": "inputs.orign"})),
    ("CH107", _set("steps.2.when", "output.hold_id != ''")),
    ("CH108", _set("answer.held", {"$": "held.hold_id"})),
    ("CH109", _set("steps.4.after", ["held"])),
    ("CH201", _set("steps.4.use", "bok")),
    ("CH202", _set("steps.5.ask", "riting")),
    ("CH203", _set("steps.6.goal", "Make me a sandwich")),
    ("CH204", _set("steps.4.with.flight_id", _GONE)),
    ("CH205", _set("steps.4.with.colour", "red")),
    ("CH206", _set("steps.4.with.seats", 10)),
    ("CH207", _set("steps.4.with.flight_id", {"$": "pick.price"})),
    ("CH208", _set("steps.4.with.flight_id", {"$": "pick.note"})),
    ("CH209", _set("steps.5.returns", {"type": "strin"})),
    ("CH301", _set("steps.2.when", "pick.seats >")),
    ("CH302", _set("steps.2.when", "pick.id.startWith('B')")),
    ("CH303", _set("steps.2.when", "pick.seets > 1")),
    ("CH304", _set("steps.2.when", "pick.seats > 'a'")),
    ("CH305", _set("steps.2.when", "pick.seats")),
    ("CH306", _set("steps.3.each", "pick")),
    ("CH307", _set("steps.2.when", "+".join(["1"] * 200) + " > 1")),
    ("CH308", _set("steps.4.expect", ["pick.price > 1.0"])),
    ("CH401", _set("steps.4.expect", [])),
    ("CH402", _set("all_or_nothing", True)),
    ("CH404", lambda plan: plan["steps"].append({**plan["steps"][2], "id": "twice"})),
    ("CH405", _set("steps.4.limits.usd", 0.1)),
    ("CH406", _set("steps.0.with.origin", {"$": "inputs.origin", "max_age": 60})),
    ("CH603", _set("inputs.two words", "text")),
]
ELSEWHERE = {
    "CH403": "tests/checking/test_effects.py",
    "CH601": "tests/planning/test_playbooks.py",
    "CH602": "tests/planning/test_playbooks.py",
    "CH604": "tests/planning/test_playbooks.py",
    "CH605": "tests/planning/test_playbooks.py",
    "CH606": "tests/planning/test_playbooks.py",
}


def test_the_whole_plan_has_nothing_to_say() -> None:
    assert found(WHOLE) == []


@pytest.mark.parametrize(("code", "change"), MUTATIONS, ids=[code for code, _ in MUTATIONS])
def test_one_mistake_gives_exactly_its_code(code: str, change: Break) -> None:
    plan = copy.deepcopy(WHOLE)

    changed = change(plan)

    assert codes(changed if isinstance(changed, str) else plan) == [code]


def test_every_code_has_a_mistake_that_gives_it() -> None:
    assert {code for code, _ in MUTATIONS} | ELSEWHERE.keys() == CODES.keys()


_SAFE = [(code, change) for code, change in MUTATIONS if code not in ("CH001", "CH002", "CH003", "CH004")]


@pytest.mark.slow
@given(st.lists(st.sampled_from(_SAFE), min_size=2, max_size=3, unique_by=lambda pair: pair[0]))
def test_several_mistakes_give_no_codes_but_theirs(mistakes: list[tuple[str, Break]]) -> None:
    """No cascades: what is said of one mistake does not depend on another."""
    plan = copy.deepcopy(WHOLE)
    try:
        for _, change in mistakes:
            change(plan)
    except (KeyError, IndexError):
        return  # they touch the same place

    assert set(codes(plan)) <= {code for code, _ in mistakes}
