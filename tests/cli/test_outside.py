"""Colours, encodings, and text from outside: nothing in it can steer a terminal."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from tests.cli.shop import ESCAPE, GOOD, OVERRIDE, PLAYBOOK, check, shop_with, write
from tests.cli.terminal import DESK, chargehand, on_a_terminal

from chargehand import Plan
from chargehand.domain.writing import write_plan

pytestmark = pytest.mark.slow

BROKEN = GOOD.replace("use: search", "use: serch")
HOTEL = "Find me a hotel in Lisbon"


@pytest.mark.parametrize("command", [["check", "trip.yaml"], ["plan", HOTEL], ["tools"], ["plan", "Make tea"]], ids=str)
def test_a_file_or_a_pipe_gets_no_colours(command: list[str]) -> None:
    write("trip.yaml", BROKEN)

    said = chargehand(*command, "--app", DESK)

    assert ESCAPE not in said.out + said.err


def test_a_terminal_gets_colours(folder: Path) -> None:
    write("trip.yaml", BROKEN.replace("serch", "serch_flights"))

    seen = on_a_terminal("check", "trip.yaml", "--app", "chargehand.demo.travel:desk", env={"TERM": "xterm"})

    assert f"{ESCAPE}[31m{ESCAPE}[1merror CH201{ESCAPE}[0m" in seen


def test_a_terminal_gets_no_colours_where_they_are_not_wanted() -> None:
    write("trip.yaml", BROKEN)

    seen = on_a_terminal("check", "trip.yaml", "--app", "chargehand.demo.travel:desk", env={"NO_COLOR": "1"})

    assert "error CH201" in seen
    assert ESCAPE not in seen


HOSTILE = f"""\
goal: "pay {OVERRIDE}nothing"
steps:
  - id: find
    use: "serch{OVERRIDE}"
    with: {{origin: "\\e[2J", "\\e]0;owned\\a": 1, day: "{OVERRIDE}"}}
"""


def test_a_file_cannot_steer_the_terminal() -> None:
    write("trip.yaml", HOSTILE)
    write("raw.yaml", HOSTILE.replace("\\e", ESCAPE).replace("\\a", "\a"))
    desk = ("--app", "chargehand.demo.travel:desk")

    seen = on_a_terminal("check", "trip.yaml", *desk) + on_a_terminal("check", "raw.yaml", *desk)

    colours = re.compile(f"{ESCAPE}\\[[0-9;]*m")
    assert not set(colours.sub("", seen)) & {ESCAPE, "\a", OVERRIDE}
    assert "owned" in seen


@pytest.mark.parametrize("mark", "\u061c\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
def test_marks_that_reorder_text_are_shown_as_numbers(mark: str) -> None:
    said = check(BROKEN.replace("serch", f'"ser{mark}ch"'))

    assert mark not in said.out
    assert f'    use: "ser\\u{ord(mark):04x}ch"\n' in said.out


def test_a_goal_cannot_steer_the_terminal() -> None:
    city = f"Lis{OVERRIDE}bon{ESCAPE}]0;owned"

    planned = chargehand("plan", f"Find me a hotel in {city}", "--app", DESK)
    refused = chargehand("plan", f"Make {city}", "--app", DESK)

    assert not set(planned.out + planned.err + refused.err) & {ESCAPE, OVERRIDE}
    assert "Lis\\u202ebon" in planned.out + planned.err
    assert "Lis\\u202ebon" in refused.err


def hostile_shop() -> None:
    answer = f'answer: {{"k{OVERRIDE}": "v{OVERRIDE}"}}'
    named = PLAYBOOK.replace("look-around", f'"lo{OVERRIDE}ok"')
    shop_with(named.replace("answer: {$: seen}", answer).replace("{what: {$: inputs.what}}", "{what: it}"))


@pytest.mark.parametrize("way", [[], ["--json"], ["--yaml"]], ids=str)
def test_a_playbook_cannot_steer_the_terminal(way: list[str]) -> None:
    hostile_shop()

    planned = chargehand("plan", "Look at it", "--app", "shop", *way)

    assert (planned.code, planned.err) == (0, "")
    assert "k\\u202e" in planned.out
    assert OVERRIDE not in planned.out


def test_a_list_of_playbooks_cannot_steer_the_terminal() -> None:
    hostile_shop()

    listed = chargehand("playbooks", "--app", "shop")

    assert listed.out.startswith("lo\\u202eok")
    assert OVERRIDE not in listed.out


def test_a_plan_in_yaml_still_says_the_same() -> None:
    hostile_shop()

    plan = Plan.parse(chargehand("plan", "Look at it", "--app", "shop", "--yaml").out)

    assert write_plan(plan)["answer"] == {f"k{OVERRIDE}": f"v{OVERRIDE}"}


def test_json_is_inert_and_says_the_same() -> None:
    said = check(GOOD.replace("{origin:", f'{{"é{OVERRIDE}": 1, origin:'), "--json")

    assert OVERRIDE not in said.out
    assert f"steps[0].with.é{OVERRIDE}" in [finding["path"] for finding in json.loads(said.out)]


@pytest.mark.parametrize("mark", "\u2028\u2029")
def test_further_line_ends_do_not_end_a_line_of_a_report(mark: str) -> None:
    said = check(BROKEN.replace("serch", f'"ser{mark}ch"'))

    assert mark not in said.out
    assert f"'ser\\u{ord(mark):04x}ch'" in said.out


@pytest.mark.parametrize(
    "words", [["check", f"a{OVERRIDE}b"], ["tools", f"--a{OVERRIDE}"], ["tools", OVERRIDE]], ids=ascii
)
def test_what_is_typed_cannot_steer_the_terminal(words: list[str]) -> None:
    said = chargehand(*words, "--app", DESK)

    assert said.code == 2
    assert "\\u202e" in said.err
    assert OVERRIDE not in said.err


@pytest.mark.parametrize("words", [["Find me a hotel in \udcff"], [HOTEL, "--input", "city=\udcff"]], ids=ascii)
def test_what_is_typed_must_be_unicode(words: list[str]) -> None:
    said = chargehand("plan", *words, "--app", DESK)

    assert (said.code, said.out) == (2, "")
    assert "it is not UTF-8 text (character " in said.err


def test_the_name_of_a_file_need_not_be_unicode() -> None:
    Path("caf\udce9.yaml").write_text(GOOD, encoding="utf-8")

    assert chargehand("check", "caf\udce9.yaml", "--app", DESK).out == "ok caf\\udce9.yaml\n"


@pytest.mark.parametrize("encoding", ["latin-1", "ascii"])
@pytest.mark.parametrize("way", [[], ["--json"]], ids=str)
def test_any_encoding_of_the_output_will_do(encoding: str, way: list[str]) -> None:
    write("trip.yaml", GOOD.replace("use: search", "use: 日本😀"))
    command = [str(Path(sys.executable).with_name("chargehand")), "check", "trip.yaml", *way]
    env = {**os.environ, "PYTHONIOENCODING": encoding, "CHARGEHAND_APP": "chargehand.demo.travel:desk"}

    ended = subprocess.run(command, env=env, capture_output=True, check=False)

    assert (ended.returncode, ended.stderr) == (1, b"")
    if way:
        assert "日本😀" in json.loads(ended.stdout.decode(encoding))[0]["message"]


def test_a_message_of_several_lines_is_shown_on_one() -> None:
    shown = check(GOOD.replace("{$: find.best}", '{$: "find.best.\\n\\n  prce"}')).out

    assert re.match(r"trip\.yaml:5:\d+: error CH303: .*\n 5 \| ", shown)


def test_a_long_expression_is_not_repeated_in_full() -> None:
    many = " || ".join(["f.id == 'x'"] * 20)

    shown = check(GOOD.replace("{$: find.best}", f'{{$: "find.flights.filter(f, {many} || f.prce < 1.0)"}}')).out

    assert "…`\n" in shown
    assert all(len(line) < 250 for line in shown.splitlines())
