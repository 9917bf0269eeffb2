"""The commands: what they print, how they end, and how they find the application."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.cli.shop import GOOD, PLAYBOOK, check, shop_with, write
from tests.cli.terminal import DESK, Said, chargehand

from chargehand import Plan, __version__
from chargehand.domain.diagnostics import CODES
from chargehand.domain.language import plan_schema

BROKEN = GOOD.replace("use: search", "use: serch")
DOUBTFUL = """\
steps:
  - id: booked
    use: book
    with: {flight_id: UA1}
answer: {$: booked.reference}
"""
HOTEL = "Find me a hotel in Lisbon"


def printed_json(said: Said) -> Any:
    return json.loads(said.out)


# --- without a command ---------------------------------------------------------------------------------------------


def test_the_version_is_that_of_the_package() -> None:
    assert chargehand("--version") == Said(0, f"chargehand {__version__}\n", "")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help_names_every_command(flag: str) -> None:
    said = chargehand(flag)

    assert said.code == 0
    assert re.findall(r"^  ([a-z]+)  ", said.out.partition("Commands:")[2], re.MULTILINE) == [
        "check",
        "plan",
        "tools",
        "playbooks",
        "schema",
        "explain",
        "demo",
    ]


def test_no_arguments_show_the_help_and_are_a_mistake() -> None:
    said = chargehand()

    assert said.code == 2
    assert "Commands:" in said.out + said.err


@pytest.mark.parametrize("command", ["check", "plan", "tools", "playbooks", "schema", "explain", "demo"])
def test_every_command_explains_itself(command: str) -> None:
    said = chargehand(command, "--help")

    assert said.code == 0
    assert said.out.startswith(f"Usage: chargehand {command} ")


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (["chek"], "No such command 'chek'"),
        (["check"], "Missing argument"),
        (["plan"], "Missing argument"),
        (["explain"], "Missing argument"),
        (["tools", "--jsn"], "No such option: --jsn"),
        (["check", "missing.yaml", "--app", DESK], "cannot read missing.yaml: No such file or directory"),
        (["check", ".", "--app", DESK], "cannot read .: Is a directory"),
        (["explain", "CH999"], "there is no code 'CH999'"),
    ],
)
def test_a_slip_in_the_usage_is_told_in_words(arguments: list[str], problem: str) -> None:
    said = chargehand(*arguments)

    assert (said.code, said.out) == (2, "")
    assert problem in said.err
    assert "Traceback" not in said.err


def test_the_shell_completes_commands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("_CHARGEHAND_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", "chargehand pl")
    monkeypatch.setenv("COMP_CWORD", "1")

    assert chargehand().out.split() == ["plan", "playbooks"]


# --- check ---------------------------------------------------------------------------------------------------------


def test_a_sound_plan_passes() -> None:
    assert check(GOOD) == Said(0, "ok trip.yaml\n", "")


def test_a_plan_with_errors_fails() -> None:
    said = check(BROKEN)

    assert (said.code, said.err) == (1, "")
    assert said.out.startswith("trip.yaml:3:10: error CH201: ")
    assert said.out.endswith("\n1 error in trip.yaml\n")


def test_a_plan_with_warnings_alone_passes() -> None:
    said = check(DOUBTFUL)

    assert said.code == 0
    assert said.out.startswith("trip.yaml:2:5: warning CH401: ")
    assert said.out.endswith("\n1 warning in trip.yaml\n")


def test_errors_and_warnings_are_counted_apart() -> None:
    said = check(DOUBTFUL.replace("flight_id:", "flight:"))

    assert said.code == 1
    assert said.out.endswith("\n1 error and 1 warning in trip.yaml\n")


def test_findings_come_in_the_order_of_the_text() -> None:
    steps = "".join(f"  - {{id: s{number}, use: nothing}}\n" for number in range(12))

    said = check(f"answer: {{$: nowhere}}\nsteps:\n{steps}")

    lines = [int(line) for line in re.findall(r"^trip\.yaml:(\d+):", said.out, re.MULTILINE)]
    assert lines == sorted(lines) == [1, *range(3, 15)]


def test_a_flood_of_findings_is_cut_and_counted() -> None:
    steps = "".join(f"  - {{id: s{number}, use: nothing}}\n" for number in range(60))

    said = check(f"steps:\n{steps}")

    assert len(re.findall(r"^trip\.yaml:", said.out, re.MULTILINE)) == 50
    assert said.out.endswith("\n… and 10 more\n60 errors in trip.yaml\n")


def test_json_findings_carry_line_and_column() -> None:
    said = check(BROKEN, "--json")

    assert said.code == 1
    assert printed_json(said) == [
        {
            "code": "CH201",
            "severity": "error",
            "step": "find",
            "path": "steps[0].use",
            "message": "step 'find' uses the tool 'serch': no such tool",
            "hint": "Did you mean 'search'?",
            "offset": None,
            "line": 3,
            "column": 10,
        }
    ]


def test_json_of_a_sound_plan_is_an_empty_list() -> None:
    said = check(GOOD, "--json")

    assert said.code == 0
    assert printed_json(said) == []


def test_json_does_not_cut_a_flood() -> None:
    steps = "".join(f"  - {{id: s{number}, use: nothing}}\n" for number in range(60))

    findings = printed_json(check(f"steps:\n{steps}", "--json"))

    assert [finding["line"] for finding in findings] == list(range(2, 62))


def test_text_that_is_not_yaml_is_a_finding_too() -> None:
    said = check("steps: [", "--json")

    assert said.code == 1
    assert [(finding["code"], finding["line"]) for finding in printed_json(said)] == [("CH001", 1)]


@pytest.mark.parametrize(
    ("text", "code", "printed"), [(GOOD, 0, ""), (DOUBTFUL, 0, ""), (BROKEN, 1, "error CH201")], ids=str
)
def test_quiet_shows_errors_and_nothing_else(text: str, code: int, printed: str) -> None:
    said = check(text, "--quiet")

    assert said.code == code
    assert (printed in said.out) if printed else (said.out == "")


def test_quiet_leaves_warnings_out_of_json() -> None:
    assert printed_json(check(DOUBTFUL, "-q", "--json")) == []


def test_a_dash_reads_standard_input() -> None:
    good = chargehand("check", "-", "--app", DESK, stdin=GOOD.encode())
    broken = chargehand("check", "-", "--app", DESK, stdin=BROKEN.encode())

    assert good == Said(0, "ok <stdin>\n", "")
    assert broken.code == 1
    assert broken.out.startswith("<stdin>:3:10: error CH201: ")


def test_a_plan_in_json_is_read_as_well() -> None:
    said = chargehand("check", write("trip.json", json.dumps({"steps": [{"id": "a", "use": "serch"}]})), "--app", DESK)

    assert said.code == 1
    assert "trip.json:1:31: error CH201" in said.out


@pytest.mark.parametrize("stdin", [False, True], ids=["file", "stdin"])
def test_text_that_is_not_utf_8_is_refused(stdin: bool) -> None:
    raw = "steps: [] # déjà".encode("latin-1")
    Path("old.yaml").write_bytes(raw)

    said = chargehand("check", "-" if stdin else "old.yaml", "--app", DESK, stdin=raw)

    assert (said.code, said.out) == (2, "")
    assert "is not UTF-8 text (byte 13)" in said.err


def test_an_empty_file_is_an_error() -> None:
    said = check("")

    assert said.code == 1
    assert said.out.startswith("trip.yaml:1:1: error CH001: the text is empty\n")


# --- check, for playbooks ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("way", ["books/look-around.yaml", "books/../books/look-around.yaml", "link.yaml"])
def test_a_playbook_of_the_application_does_not_collide_with_itself(way: str) -> None:
    shop_with(PLAYBOOK)
    Path("link.yaml").symlink_to("books/look-around.yaml")

    assert chargehand("check", way, "--app", "shop") == Said(0, f"ok {way}\n", "")


def test_a_playbook_of_the_application_is_found_from_its_absolute_path_too(folder: Path) -> None:
    shop_with(PLAYBOOK)

    assert chargehand("check", str(folder / "books/look-around.yaml"), "--app", "shop").code == 0


def test_a_copy_of_a_playbook_collides_with_it() -> None:
    shop_with(PLAYBOOK)

    said = chargehand("check", write("copy.yaml", PLAYBOOK), "--app", "shop", "--json")

    assert said.code == 1
    assert {finding["code"] for finding in printed_json(said)} == {"CH602", "CH605"}


def test_a_broken_playbook_is_checked_as_a_playbook() -> None:
    shop_with(PLAYBOOK)

    said = chargehand("check", write("new.yaml", PLAYBOOK.replace("{what}", "{wat}")), "--app", "shop")

    assert said.code == 1
    assert "new.yaml:2:11: error CH601: " in said.out


# --- plan ----------------------------------------------------------------------------------------------------------


def test_a_plan_is_shown_with_its_reasons() -> None:
    said = chargehand("plan", HOTEL, "--app", DESK)

    assert said == Said(
        0,
        """\
Goal       Find me a hotel in Lisbon
Playbook   hotel  matched 'Find me a hotel in {city}'
Inputs     city   Lisbon  captured from 'Lisbon'
           stars  3       default
Answer     name: {$: inputs.city}
""",
        "",
    )


def test_a_plan_in_json_holds_the_plan_and_its_reasons() -> None:
    shown = printed_json(chargehand("plan", HOTEL, "--app", DESK, "--json"))

    assert shown["plan"]["goal"] == HOTEL
    assert shown["plan"]["answer"] == {"name": {"$": "inputs.city"}}
    assert shown["because"] == {
        "playbook": "hotel",
        "pattern": "Find me a hotel in {city}",
        "inputs": {"city": "captured from 'Lisbon'", "stars": "default"},
    }


def test_a_plan_in_yaml_can_be_checked_again() -> None:
    text = chargehand("plan", HOTEL, "--app", DESK, "--yaml").out

    assert Plan.parse(text).goal == HOTEL
    assert chargehand("check", "-", "--app", DESK, stdin=text.encode()) == Said(0, "ok <stdin>\n", "")


def test_inputs_may_be_given_by_name() -> None:
    shown = printed_json(chargehand("plan", HOTEL, "-a", DESK, "--input", "city=a=b", "-i", "stars=5", "--json"))

    inputs = {name: input["value"] for name, input in shown["plan"]["inputs"].items()}
    assert inputs == {"city": "a=b", "stars": 5}
    assert shown["because"]["inputs"] == {"city": "given", "stars": "given"}


@pytest.mark.parametrize("given", ["stars", "=5", ""])
def test_a_malformed_input_is_refused(given: str) -> None:
    said = chargehand("plan", HOTEL, "--app", DESK, "--input", given)

    assert (said.code, said.out) == (2, "")
    assert f"{given!r} is not NAME=VALUE" in said.err


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ("star=5", "Did you mean 'stars'?"),
        ("stars=many", "the input 'stars' is 'many', which is not a whole number"),
    ],
)
def test_an_input_that_does_not_fit_is_refused(given: str, problem: str) -> None:
    said = chargehand("plan", HOTEL, "--app", DESK, "--input", given)

    assert (said.code, said.out) == (2, "")
    assert problem in said.err
    assert "--input NAME=VALUE" in said.err


def test_a_goal_that_no_playbook_answers_shows_the_nearest() -> None:
    said = chargehand("plan", "Make coffee", "--app", DESK)

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: no playbook answers 'Make coffee'\n")
    assert "hotel: Find me a hotel in {city}" in said.err


# --- tools, playbooks, schema, explain, demo -----------------------------------------------------------------------


def test_tools_are_listed_with_their_types_and_effects() -> None:
    said = chargehand("tools", "--app", DESK)

    assert said.code == 0
    assert "\nrelease(hold_id: text) → true or false  write\n    Gives a held seat back.\n" in said.out
    assert "\n    undo: release\n" in said.out
    assert "\n    control: flight_id; costs 0.5 USD\n" in said.out


def test_tools_in_json_carry_their_schemas() -> None:
    tools = {tool["name"]: tool for tool in printed_json(chargehand("tools", "--app", DESK, "--json"))}

    assert list(tools) == ["search", "cheapest", "book", "release", "hold", "write_notice", "family", "anything"]
    assert tools["book"]["effect"] == "irreversible"
    assert tools["release"]["description"] == "Gives a held seat back."
    assert tools["release"]["arguments"]["properties"] == {"hold_id": {"title": "Hold Id", "type": "string"}}
    assert tools["release"]["result"] == {"type": "boolean"}


def test_playbooks_are_listed_with_their_goals_and_inputs() -> None:
    said = chargehand("playbooks", "--app", DESK)

    assert (said.code, said.err) == (0, "")
    assert "    Find me a hotel in {city}\n    inputs: city: text, stars: integer = 3\n" in said.out


def test_playbooks_in_json_carry_the_schema_of_their_inputs() -> None:
    [hotel] = printed_json(chargehand("playbooks", "--app", DESK, "--json"))

    assert (hotel["name"], hotel["answers"]) == ("hotel", ["Find me a hotel in {city}"])
    assert set(hotel["inputs"]["properties"]) == {"city", "stars"}


def test_the_schema_needs_no_application() -> None:
    said = chargehand("schema")

    assert (said.code, said.err) == (0, "")
    assert printed_json(said) == plan_schema()


@pytest.mark.parametrize("code", ["CH104", "ch104"])
def test_a_code_is_explained_with_a_bad_and_a_good_example(code: str) -> None:
    said = chargehand("explain", code)

    assert said.code == 0
    assert said.out.startswith(f"CH104 (error): {CODES['CH104'][1]}\n\n")
    assert "\nLike this:\n\n    steps:\n" in said.out
    assert "\nMended:\n\n    steps:\n" in said.out


@pytest.mark.parametrize("code", CODES)
def test_every_code_can_be_explained(code: str) -> None:
    assert chargehand("explain", code).code == 0


def test_the_demo_makes_refuses_and_accepts_a_plan() -> None:
    said = chargehand("demo")

    assert (said.code, said.err) == (0, "")
    assert re.findall(r"^\d\. .*", said.out, re.MULTILINE) == [
        "1. A goal becomes a plan, from a playbook and without a model",
        "2. A broken plan is refused before anything can happen",
        "3. Mended, it is accepted",
    ]
    assert "3 errors in trip.yaml" in said.out
    assert "ok trip.yaml" in said.out


def test_the_commands_that_the_demo_ends_with_work() -> None:
    offered = re.findall(r"^  chargehand (.*?)   ", chargehand("demo").out, re.MULTILINE)

    assert len(offered) == 3
    assert [chargehand(*words.split()).code for words in offered] == [0, 0, 0]
