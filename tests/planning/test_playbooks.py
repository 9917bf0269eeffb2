"""Playbooks: matching, inputs, dates in words, revisions; and what is checked when they are loaded."""

import datetime as dt
import os
from enum import StrEnum
from pathlib import Path
from types import MappingProxyType
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from tests.trips import HOTEL, NOW, TOOLS, StandingClock

from chargehand import Chargehand, PlaybookRejected
from chargehand.errors import AmbiguousGoal, InputsRefused, NoPlaybook, PlaybooksUnreadable

TRIP: dict[str, Any] = {
    "name": "trip",
    "description": "Books the cheapest flight.",
    "answers": [
        "Book me the cheapest flight that arrives before {deadline}",
        "Book me the cheapest flight from {origin} to {destination} that arrives before {deadline}",
    ],
    "inputs": {
        "deadline": "moment",
        "origin": {"type": "text", "default": "BOS"},
        "destination": {"type": "text", "default": "JFK"},
        "most": {"type": "number", "default": 400},
    },
    "steps": [
        {
            "id": "find",
            "use": "search",
            "with": {
                "origin": {"$": "inputs.origin"},
                "destination": {"$": "inputs.destination"},
                "day": {"$": "inputs.deadline.substring(0, 10)"},
            },
        },
        {"id": "pick", "use": "cheapest", "with": {"flights": {"$": "find.flights.filter(f, f.price < inputs.most)"}}},
    ],
    "answer": {"$": "pick"},
    "revisions": [
        {
            "when": "failure.step == 'pick' && failure.kind == 'error'",
            "because": "Nothing fits; look at the next day.",
            "patch": {
                "add": [
                    {
                        "id": "later",
                        "use": "search",
                        "with": {"origin": "BOS", "destination": "JFK", "day": "2026-11-21"},
                    }
                ],
                "replace": [
                    {"id": "pick", "use": "cheapest", "with": {"flights": {"$": "find.flights + later.flights"}}}
                ],
            },
        }
    ],
}


def a_desk(*playbooks: dict[str, Any]) -> Chargehand:
    return Chargehand(tools=TOOLS, playbooks=list(playbooks), clock=StandingClock())


def refused(**changes: object) -> list[str]:
    """The codes with which a changed playbook is refused."""
    with pytest.raises(PlaybookRejected) as error:
        a_desk({**TRIP, **changes})
    return [diagnostic.code for diagnostic in error.value.diagnostics if diagnostic.severity == "error"]


class TestMatching:
    def test_a_goal_becomes_a_plan_with_its_inputs(self) -> None:
        plan = a_desk(TRIP).plan("Book me the cheapest flight that arrives before 5 p.m. Friday")

        assert plan.goal == "Book me the cheapest flight that arrives before 5 p.m. Friday"
        assert {name: input.value for name, input in plan.inputs.items()} == {
            "deadline": "2026-11-20T17:00:00-05:00",
            "origin": "BOS",
            "destination": "JFK",
            "most": 400.0,
        }
        assert isinstance(plan.inputs["most"].value, float)
        assert [step.id for step in plan.steps] == ["find", "pick"]

    def test_case_space_and_the_full_stop_do_not_matter(self) -> None:
        plan = a_desk(TRIP).plan("  book me  the CHEAPEST flight\nthat arrives before 5 p.m. Friday!  ")

        assert plan.inputs["deadline"].value == "2026-11-20T17:00:00-05:00"

    def test_the_pattern_with_more_words_of_its_own_wins(self) -> None:
        goal = "Book me the cheapest flight from Boston to New York that arrives before noon tomorrow"

        planned = a_desk(TRIP, HOTEL).explain(goal)

        assert planned.match.captured == {"origin": "Boston", "destination": "New York", "deadline": "noon tomorrow"}
        assert planned.sources["origin"] == "captured from 'Boston'"
        assert planned.sources["most"] == "default"

    def test_what_is_given_goes_before_what_is_captured(self) -> None:
        given = {"deadline": dt.datetime(2026, 11, 18, 12, tzinfo=dt.UTC), "most": 99}

        planned = a_desk(TRIP).explain("Book me the cheapest flight that arrives before Friday 5 pm", given)

        assert planned.plan.inputs["deadline"].value == "2026-11-18T12:00:00+00:00"
        assert planned.plan.inputs["most"].value == 99.0
        assert planned.sources["deadline"] == "given"

    def test_no_match_names_the_nearest_and_says_what_a_model_would_need(self) -> None:
        with pytest.raises(NoPlaybook) as error:
            a_desk(TRIP, HOTEL).plan("Book me a hotel in Rome")

        assert error.value.hint.splitlines()[1] == "  hotel: Find me a hotel in {city}"
        assert "planner=" in error.value.hint

    def test_no_playbooks_at_all_is_said(self) -> None:
        with pytest.raises(NoPlaybook, match="There are no playbooks"):
            Chargehand().plan("Anything")

    def test_a_goal_that_can_be_read_in_two_ways_says_so(self) -> None:
        goal = "Book me the cheapest flight from Road to Nowhere to Hell that arrives before Friday"

        with pytest.raises(AmbiguousGoal) as error:
            a_desk(TRIP).plan(goal)

        assert "origin = 'Road', destination = 'Nowhere to Hell'" in error.value.message
        assert "origin = 'Road to Nowhere', destination = 'Hell'" in error.value.message
        named = {"origin": "Road to Nowhere", "destination": "Hell"}
        assert a_desk(TRIP).plan(goal, named).inputs["destination"].value == "Hell"

    def test_two_playbooks_that_match_equally_well_are_named(self) -> None:
        desk = a_desk(
            {**HOTEL, "answers": ["See {city} now"]}, {**HOTEL, "name": "rival", "answers": ["{city} her now!"]}
        )

        with pytest.raises(AmbiguousGoal) as error:
            desk.plan("See her now")

        assert "playbook 'hotel', as 'See {city} now' with city = 'her'" in error.value.message
        assert "playbook 'rival', as '{city} her now!' with city = 'See'" in error.value.message

    def test_a_goal_that_is_too_long_is_refused_not_cut(self) -> None:
        with pytest.raises(InputsRefused, match="the goal has 100,033 characters; at the most 2,000 are allowed"):
            a_desk(TRIP).plan("Book me the cheapest flight from " + "a to " * 20_000)

    @pytest.mark.parametrize(
        ("goal", "said"),
        [
            (b"Book me", "the goal is of the type bytes, not text"),
            (None, "the goal is None, not text"),
            ("Book me\x00", r"a control character \(U\+0000\)"),
            ("Book me \ud83d", r"half a surrogate pair \(U\+D83D\)"),
        ],
    )
    def test_a_goal_that_is_not_plain_text_is_refused(self, goal: Any, said: str) -> None:
        with pytest.raises(InputsRefused, match=said):
            a_desk(TRIP).plan(goal)


class TestInputs:
    GOAL = "Book me the cheapest flight that arrives before {}"

    @pytest.mark.parametrize(
        ("words", "value"),
        [
            ("5 p.m. Friday", "2026-11-20T17:00:00-05:00"),
            ("Friday 17:00", "2026-11-20T17:00:00-05:00"),
            ("noon tomorrow", "2026-11-17T12:00:00-05:00"),
            ("2026-11-20T17:00", "2026-11-20T17:00:00-05:00"),
            ("2026-11-20T17:00:00+01:00", "2026-11-20T17:00:00+01:00"),
            ("20 November 5pm", "2026-11-20T17:00:00-05:00"),
            ("tomorrow", "2026-11-17T00:00:00-05:00"),
            ("in 3 hours", "2026-11-16T12:00:00-05:00"),
        ],
    )
    def test_moments_in_words_are_resolved_against_now_and_its_zone(self, words: str, value: str) -> None:
        assert a_desk(TRIP).plan(self.GOAL.format(words)).inputs["deadline"].value == value

    def test_a_now_without_a_zone_is_refused(self) -> None:
        with pytest.raises(InputsRefused, match="`now` needs a zone") as error:
            a_desk(TRIP).plan(self.GOAL.format("tomorrow"), now=dt.datetime(2026, 11, 16, 9))  # noqa: DTZ001

        assert "tzinfo=" in error.value.hint

    @pytest.mark.parametrize("words", ["February 30", "2026-02-30T10:00", "25:00", "whenever", "5", "a", "31 June"])
    def test_a_date_that_does_not_exist_is_refused(self, words: str) -> None:
        with pytest.raises(InputsRefused, match="which is not a date and time"):
            a_desk(TRIP).plan(self.GOAL.format(words))

    def test_an_hour_that_clocks_skip_does_not_exist(self) -> None:
        now = dt.datetime(2026, 3, 27, 9, tzinfo=ZoneInfo("Europe/Berlin"))

        with pytest.raises(InputsRefused):
            a_desk(TRIP).plan(self.GOAL.format("2026-03-29T02:30"), now=now)
        summer = a_desk(TRIP).plan(self.GOAL.format("29 March 5 pm"), now=now)
        assert summer.inputs["deadline"].value == "2026-03-29T17:00:00+02:00"

    def test_all_that_is_wrong_with_the_inputs_is_told_at_once(self) -> None:
        with pytest.raises(InputsRefused) as error:
            a_desk(TRIP).plan(self.GOAL.format("whenever"), {"colour": "red", "most": "much", "orign": "BOS"})

        assert [line.strip().split(" ")[0:3] for line in error.value.message.splitlines()[1:]] == [
            ["'colour'", "is", "not"],
            ["'orign'", "is", "not"],
            ["the", "input", "'deadline'"],
            ["the", "input", "'most'"],
        ]
        assert "Did you mean 'origin'?" in error.value.message

    def test_a_missing_input_is_named_with_its_description(self) -> None:
        hotel = {**HOTEL, "inputs": {"city": {"type": "text", "description": "Where to sleep"}}, "answers": ["A bed"]}

        with pytest.raises(InputsRefused, match=r"'city' is missing \(Where to sleep\)"):
            a_desk(hotel).plan("A bed")

    @pytest.mark.parametrize(
        ("type", "text", "value"),
        [
            ("text", "x", "x"),
            ("number", "1,200.50", 1200.5),
            ("number", "-1,234,567", -1234567.0),
            ("number", "1e3", 1000.0),
            ("integer", "12", 12),
            ("integer", "1,200", 1200),
            ("boolean", "Yes", True),
            ("date", "Friday", "2026-11-20"),
            ("date", "2026-11-20", "2026-11-20"),
            ("time", "5 p.m.", "17:00:00"),
            ("time", "17:00", "17:00:00"),
        ],
    )
    def test_text_is_read_as_its_input_wants(self, type: str, text: str, value: object) -> None:
        hotel = {"name": "h", "answers": ["Take {x}"], "inputs": {"x": type}, "answer": {"$": "inputs.x"}}

        assert a_desk(hotel).plan(f"Take {text}").inputs["x"].value == value

    @pytest.mark.parametrize(
        ("type", "text"),
        [
            ("number", "much"),
            ("number", "1,5"),
            ("number", "1,50"),
            ("number", "12,34,567"),
            ("number", "1_000"),
            ("number", "٣"),
            ("number", "inf"),
            ("number", "NaN"),
            ("number", "1e999"),
            ("integer", "1,5"),
            ("integer", "٣"),
            ("integer", "9223372036854775808"),
            ("integer", "9" * 1500),
            ("integer", "1.5"),
            ("boolean", "perhaps"),
            ("time", "20 November"),
            ("time", "2026-11-20"),
            ("date", "x"),
        ],
    )
    def test_text_that_cannot_be_read_so_is_refused(self, type: str, text: str) -> None:
        hotel = {"name": "h", "answers": ["Take {x}"], "inputs": {"x": type}, "answer": {"$": "inputs.x"}}

        with pytest.raises(InputsRefused):
            a_desk(hotel).plan(f"Take {text}")

    @pytest.mark.parametrize(
        ("value", "said"),
        [
            (b"x", "a bytes cannot be part of a plan"),
            ({"a"}, "a set cannot be part of a plan"),
            (float("nan"), "nan is not a number that a plan can hold"),
            (10**400, "the number does not fit into 64 bits"),
            ("a\x07b", "a control character (U+0007)"),
            ([1, {"deep": {2}}], "cannot be used, at [1].deep: a set cannot be part of a plan"),
        ],
    )
    @pytest.mark.parametrize("declared", ["text", "number", "moment", {"schema": {}}])
    def test_a_value_that_no_plan_can_hold_is_refused(self, declared: object, value: object, said: str) -> None:
        hotel = {"name": "h", "answers": ["Go"], "inputs": {"x": declared}, "answer": "x"}

        with pytest.raises(InputsRefused) as error:
            a_desk(hotel).plan("Go", {"x": value})

        assert said in error.value.message

    def test_inputs_that_are_no_mapping_from_names_are_refused(self) -> None:
        inputs: Any = ["deadline"]
        names: Any = {5: "x"}

        with pytest.raises(InputsRefused, match="the inputs are of the type list, not a mapping"):
            a_desk(TRIP).plan(self.GOAL.format("Friday"), inputs)
        with pytest.raises(InputsRefused, match="5 is not the name of an input"):
            a_desk(TRIP).plan(self.GOAL.format("Friday"), names)

    def test_values_are_given_in_any_types_that_json_knows(self) -> None:
        class Colour(StrEnum):
            RED = "red"

        hotel: dict[str, Any] = {
            "name": "h",
            "answers": ["Go"],
            "inputs": {"x": "text", "many": {"schema": {"type": "array", "items": {"type": "object"}}}},
            "answer": {"$": "inputs.x"},
        }

        plan = a_desk(hotel).plan("Go", {"x": Colour.RED, "many": (MappingProxyType({"a": 1}),)})

        assert [plan.inputs["x"].value, plan.inputs["many"].value] == ["red", [{"a": 1}]]
        assert type(plan.inputs["x"].value) is str

    def test_choices_and_schemas_are_enforced(self) -> None:
        hotel: dict[str, Any] = {
            "name": "h",
            "answers": ["Take {x}"],
            "inputs": {
                "x": {"choices": ["red", "blue"]},
                "many": {"schema": {"type": "array", "items": {"type": "integer"}, "maxItems": 2}, "default": []},
            },
            "answer": {"$": "inputs.many"},
        }

        assert a_desk(hotel).plan("Take red", {"many": [1, 2]}).inputs["many"].value == [1, 2]
        with pytest.raises(InputsRefused, match='"green" is not one of "red" or "blue"'):
            a_desk(hotel).plan("Take green")
        with pytest.raises(InputsRefused, match="more than 2 items"):
            a_desk(hotel).plan("Take red", {"many": [1, 2, 3]})

    def test_the_clock_is_asked_when_no_now_is_given(self) -> None:
        plan = a_desk(TRIP).plan(self.GOAL.format("tomorrow 9:00"))

        assert plan.inputs["deadline"].value == (NOW + dt.timedelta(days=1)).isoformat()


class TestLoading:
    def test_a_folder_of_files_is_loaded(self, tmp_path: Path) -> None:
        (tmp_path / "hotel.yaml").write_text(
            "name: hotel\nanswers: ['Find me a hotel in {city}']\ninputs: {city: text}\nanswer: {$: inputs.city}\n"
        )

        desk = Chargehand(playbooks=tmp_path)

        assert [playbook.name for playbook in desk.playbooks] == ["hotel"]
        assert [playbook.name for playbook in Chargehand(playbooks=str(tmp_path / "hotel.yaml")).playbooks] == ["hotel"]

    def test_one_mapping_is_one_playbook(self) -> None:
        assert [playbook.name for playbook in Chargehand(playbooks=HOTEL).playbooks] == ["hotel"]

    def test_what_cannot_be_read_is_named_with_what_to_do(self, tmp_path: Path) -> None:
        (tmp_path / "empty").mkdir()
        (tmp_path / "outer" / "inner.yaml").mkdir(parents=True)
        (tmp_path / "binary.yaml").write_bytes(b"name: \xff\xfe")
        (tmp_path / "loop.yaml").symlink_to("loop.yaml")

        for path, named, said in [
            ("missing.yaml", "missing.yaml", "there is no such file or folder"),
            ("empty", "empty", "there are no playbooks in this folder"),
            ("outer", "inner.yaml", "it is a folder, not a file"),
            ("binary.yaml", "binary.yaml", "it is not UTF-8 text (byte 6)"),
            ("loop.yaml", "loop.yaml", "too many levels of symbolic links"),
            ("x" * 300, "xxx", "file name too long"),
            ("nul\0", "nul", "null byte"),
        ]:
            with pytest.raises(PlaybooksUnreadable) as error:
                Chargehand(playbooks=tmp_path / path)
            assert named in error.value.path
            assert said in error.value.message
            assert error.value.hint

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_a_file_that_may_not_be_read_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "secret.yaml").touch(mode=0)

        with pytest.raises(PlaybooksUnreadable, match="you may not read it"):
            Chargehand(playbooks=tmp_path)

    def test_a_bad_file_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "bad.yaml").write_text("name: [")

        with pytest.raises(PlaybookRejected, match=r"bad\.yaml' has 1 error"):
            Chargehand(playbooks=tmp_path)

    @pytest.mark.parametrize(
        ("pattern", "why"),
        [
            ("Book {deadline", "brackets"),
            ("Book {}", "not the name of an input"),
            ("Book {colour} before {deadline}", "captures {colour}, which is not an input"),
            ("From {deadline} to {deadline}", "twice"),
            ("Book {origin} {destination}", "nothing between them"),
            ("{deadline}", "no words of its own"),
        ],
    )
    def test_a_pattern_that_cannot_be_used_is_refused(self, pattern: str, why: str) -> None:
        with pytest.raises(PlaybookRejected) as error:
            a_desk({**TRIP, "answers": [pattern]})

        [finding] = error.value.diagnostics
        assert (finding.code, finding.path) == ("CH601", "answers[0]")
        assert why in finding.message

    def test_two_playbooks_may_not_answer_the_same_goal_or_share_a_name(self) -> None:
        for other, code in [
            ({**HOTEL, "name": "other", "answers": ["find me a hotel in {city}."]}, "CH602"),
            ({**HOTEL, "answers": ["Sleep in {city}"]}, "CH605"),
        ]:
            with pytest.raises(PlaybookRejected) as error:
                a_desk(HOTEL, other)
            assert [diagnostic.code for diagnostic in error.value.diagnostics] == [code]

    def test_the_plan_of_a_playbook_is_checked(self) -> None:
        assert refused(answer={"$": "pick.prise"}) == ["CH303"]
        assert refused(steps=[{"id": "find", "use": "serch"}], revisions=[], answer=None) == ["CH201"]

    def test_its_fields_are_checked(self) -> None:
        assert refused(nam="x") == ["CH005"]
        assert refused(answers=[]) == ["CH007"]
        assert refused(answers="Book me") == ["CH007"]
        with pytest.raises(PlaybookRejected):
            a_desk({"answers": ["x"]})

    def test_a_playbook_can_be_checked_beside_those_that_are_there(self) -> None:
        desk = a_desk(TRIP, HOTEL)

        assert desk.check_playbook({**HOTEL, "name": "other", "answers": ["Sleep in {city}"]}) == []
        assert {found.code for found in desk.check_playbook(HOTEL)} == {"CH602", "CH605"}
        assert [found.code for found in desk.check_playbook("name: [")] == ["CH001"]

    def test_the_answer_is_of_the_form_that_is_promised(self) -> None:
        returns = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}

        assert a_desk({**TRIP, "returns": returns})
        assert refused(returns={**returns, "required": ["id", "x"]}) == ["CH207"]
        assert refused(returns={"type": "number"}) == ["CH207"]
        assert refused(returns={"type": "strin"}) == ["CH209"]
        with pytest.raises(PlaybookRejected, match="CH206"):
            a_desk({**HOTEL, "answer": {"nme": "x"}})

    def test_the_answer_of_every_revised_plan_is_of_that_form_too(self) -> None:
        returns = {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}
        [revision] = TRIP["revisions"]
        patch = {**revision["patch"], "answer": {"$": "later.flights"}}

        assert a_desk({**TRIP, "revisions": [{**revision, "patch": patch}]})
        assert refused(returns=returns, revisions=[{**revision, "patch": patch}]) == ["CH207"]

    def test_a_playbook_does_not_pursue_its_own_goal_for_ever(self) -> None:
        step = {"id": "again", "goal": "Find me a hotel in Rome"}
        detour = {**HOTEL, "name": "detour", "answers": ["Sleep in {city}"], "steps": [step]}

        with pytest.raises(PlaybookRejected, match="CH606"):
            a_desk({**HOTEL, "steps": [step]})
        with pytest.raises(PlaybookRejected, match="hotel → detour → hotel"):
            a_desk({**HOTEL, "steps": [{"id": "a", "goal": "Sleep in Rome"}]}, detour)
        assert a_desk({**HOTEL, "steps": [{**step, "when": "inputs.city != 'Rome'"}]})
        assert a_desk(HOTEL, detour)

    def test_a_default_must_fit_its_type(self) -> None:
        inputs = {**TRIP["inputs"], "most": {"type": "number", "default": "much"}}

        assert refused(inputs=inputs) == ["CH603"]

    @pytest.mark.parametrize(
        ("type", "default"),
        [
            ("date", "whenever pigs fly"),
            ("date", "2026-02-30"),
            ("date", 5),
            ("time", "tonight"),
            ("time", "25:00"),
            ("moment", "Friday evening"),
            ("moment", "Monday 20 November 2026"),
        ],
    )
    def test_a_default_in_words_must_be_readable(self, type: str, default: object) -> None:
        with pytest.raises(PlaybookRejected) as error:
            a_desk({**HOTEL, "inputs": {"city": "text", "at": {"type": type, "default": default}}})

        [finding] = error.value.diagnostics
        assert (finding.code, finding.path) == ("CH603", "inputs.at.default")

    @pytest.mark.parametrize(
        ("type", "default"), [("date", "29 February"), ("date", "tomorrow"), ("time", "5 p.m."), ("moment", "Friday")]
    )
    def test_a_default_in_words_is_read_when_a_goal_comes(self, type: str, default: str) -> None:
        desk = a_desk({**HOTEL, "inputs": {"city": "text", "at": {"type": type, "default": default}}})

        assert desk.plan("Find me a hotel in Rome").inputs["at"].value

    def test_a_language_in_which_no_date_can_be_read_is_refused(self) -> None:
        with pytest.raises(PlaybookRejected) as error:
            a_desk({**HOTEL, "languages": ["de", "klingon", "es", "en-GB"]})

        assert [(found.code, found.path) for found in error.value.diagnostics] == [
            ("CH007", "languages[1]"),
            ("CH007", "languages[3]"),
        ]
        assert [found.code for found in a_desk().check_playbook({**HOTEL, "languages": []})] == ["CH007"]

    @pytest.mark.parametrize(
        ("change", "code"),
        [
            ({"when": "failure.step == 'pik'"}, "CH604"),
            ({"when": "failure.kind == 'bad luck'"}, "CH604"),
            ({"when": "failure.stp == 'pick'"}, "CH303"),
            ({"when": "failure.step"}, "CH305"),
            ({"when": "find.flights == []"}, "CH104"),
            ({"when": "failure.step =="}, "CH301"),
            ({"becaus": "x"}, "CH005"),
            ({"patch": {"replace": [{"id": "pik", "use": "cheapest"}]}}, "CH604"),
            ({"patch": {"add": [{"id": "find", "use": "search"}]}}, "CH604"),
            (
                {"patch": {"replace": [{"id": "pick", "use": "cheapest", "with": {"flights": {"$": "find.flihgts"}}}]}},
                "CH303",
            ),
            ({"patch": {"drop": ["pick"]}}, "CH104"),
            ({"patch": {}}, "CH604"),
            ({"when": "'pik' == failure.step"}, "CH604"),
            ({"when": "failure.step in ['pick', 'pik']"}, "CH604"),
        ],
    )
    def test_a_revision_is_checked_as_the_plan_it_would_make(self, change: dict[str, object], code: str) -> None:
        [revision] = TRIP["revisions"]

        assert refused(revisions=[{**revision, **change}]) == [code]

    def test_a_finding_in_a_patch_leads_to_the_patch(self) -> None:
        [revision] = TRIP["revisions"]
        step = {"id": "pick", "use": "cheapest", "with": {"flights": {"$": "find.flihgts"}}}

        with pytest.raises(PlaybookRejected) as error:
            a_desk({**TRIP, "revisions": [{**revision, "patch": {"replace": [step]}}]})

        assert error.value.diagnostics[0].path == "revisions[0].patch.replace[0].with.flights.$"

    def test_a_revision_may_build_on_the_one_before(self) -> None:
        [first] = TRIP["revisions"]
        step = {"id": "pick", "use": "cheapest", "with": {"flights": {"$": "later.flights"}}}
        second = {"when": "failure.revision == 1", "because": "Still nothing.", "patch": {"replace": [step]}}

        assert a_desk({**TRIP, "revisions": [first, second]}).playbooks[0].revisions[1].because == "Still nothing."
        assert refused(revisions=[second]) == ["CH104"]
