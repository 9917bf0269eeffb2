"""Finding the application, and what is said when it cannot be loaded."""

from pathlib import Path

import pytest
from tests.cli.shop import GOOD, PLAYBOOK, SHOP, shop_with, write
from tests.cli.terminal import DESK, Said, chargehand

HOTEL = "Find me a hotel in Lisbon"


@pytest.mark.parametrize(
    "app", ["shop:desk", "shop:counter", "shop:open_shop", "shop:Street.shop", "shop", "shop:"], ids=str
)
def test_an_application_is_an_attribute_or_a_factory_in_the_current_folder(app: str) -> None:
    write("shop.py", SHOP)

    said = chargehand("tools", "--app", app)

    assert said == Said(0, "look(what: text) → text  read\n    Looks.\n", "")


def test_an_application_may_be_in_a_package() -> None:
    write("high/street/shop.py", SHOP)

    assert chargehand("tools", "--app", "high.street.shop:desk").code == 0


def test_the_environment_names_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    write("shop.py", SHOP)
    monkeypatch.setenv("CHARGEHAND_APP", "shop:desk")

    assert chargehand("tools").out.startswith("look(")


def test_pyproject_names_the_application() -> None:
    write("shop.py", SHOP)
    write("pyproject.toml", '[tool.chargehand]\napp = "shop:desk"\n')

    assert chargehand("tools").out.startswith("look(")


def test_the_pyproject_of_a_parent_folder_names_the_application(monkeypatch: pytest.MonkeyPatch) -> None:
    write("pyproject.toml", f'[tool.chargehand]\napp = "{DESK}"\n')
    Path("deep/down").mkdir(parents=True)
    monkeypatch.chdir("deep/down")

    assert chargehand("playbooks").out.startswith("hotel")


def test_the_nearer_name_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    write("shop.py", SHOP)
    write("pyproject.toml", '[tool.chargehand]\napp = "nowhere:at_all"\n')
    monkeypatch.setenv("CHARGEHAND_APP", DESK)

    assert chargehand("tools").out.startswith("search(")
    assert chargehand("tools", "--app", "shop").out.startswith("look(")


@pytest.mark.parametrize("settings", [None, "", "[tool.chargehand]\n", "[tool.chargehand]\napp = 3\n"], ids=str)
def test_without_a_name_the_ways_to_give_one_are_shown(settings: str | None) -> None:
    if settings is not None:
        write("pyproject.toml", settings)

    said = chargehand("tools")

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: which application? None was named\n")
    assert all(way in said.err for way in ("--app module:attribute", "CHARGEHAND_APP", "[tool.chargehand]"))


@pytest.mark.parametrize(
    ("app", "problem"),
    [
        ("shp:desk", "There is no module 'shp' in "),
        ("shop.till:desk", "There is no module 'shop.till' in "),
        ("high.street:desk", "There is no module 'high' in "),
        (":desk", "Write it as module:attribute."),
        ("shop:dsk", "shop has no 'dsk'\nIt has: counter, desk."),
        ("shop:Street.desk", "shop has no 'Street.desk'\nIt has: counter, desk."),
        ("shop:price", "shop:price is a int, not a Chargehand"),
        ("shop:close_shop", "shop:close_shop is a NoneType, not a Chargehand"),
    ],
    ids=str,
)
def test_a_wrong_name_is_told_in_words(app: str, problem: str) -> None:
    write("shop.py", SHOP)

    said = chargehand("tools", "--app", app)

    assert (said.code, said.out) == (2, "")
    assert problem in said.err
    assert "Traceback" not in said.err


def test_a_pyproject_that_cannot_be_read_is_told_in_words(folder: Path) -> None:
    write("pyproject.toml", "[tool")

    said = chargehand("tools")

    assert said.code == 2
    assert f"{folder / 'pyproject.toml'} cannot be read: " in said.err


@pytest.mark.parametrize("command", [["tools"], ["playbooks"], ["plan", HOTEL], ["check", "trip.yaml"]], ids=str)
def test_every_command_that_needs_an_application_asks_for_one(command: list[str]) -> None:
    write("trip.yaml", GOOD)

    said = chargehand(*command)

    assert (said.code, said.out) == (2, "")
    assert "which application?" in said.err


def test_an_application_that_fails_to_import_something_shows_that_error() -> None:
    write("shop.py", f"import a_library_that_is_missing\n{SHOP}")

    said = chargehand("tools", "--app", "shop:desk")

    assert said.code != 0
    assert "No module named 'a_library_that_is_missing'" in said.err
    assert "shop.py" in said.err
    assert "There is no module 'shop'" not in said.err


def test_a_tool_that_is_declared_wrongly_is_told_in_words() -> None:
    write("shop.py", SHOP.replace('effect="read"', ""))

    said = chargehand("tools", "--app", "shop:desk")

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert "effect" in said.err


def test_a_playbook_that_is_rejected_with_its_application_is_reported_like_a_file() -> None:
    shop_with(PLAYBOOK.replace("use: look", "use: lok"))

    said = chargehand("tools", "--app", "shop:desk")

    assert said == Said(
        2,
        "",
        """\
books/look-around.yaml:5:21: error CH201: step 'seen' uses the tool 'lok': no such tool
 5 |   - {id: seen, use: lok, with: {what: {$: inputs.what}}}
   |                     ^
   = Did you mean 'look'?

1 error in books/look-around.yaml
""",
    )


def test_a_playbook_that_is_rejected_without_a_file_is_listed() -> None:
    mapping = {"name": "bad", "answers": ["Look"], "steps": [{"id": "a", "use": "lok"}]}
    write("shop.py", SHOP.replace("tools=[look])", f"tools=[look], playbooks=[{mapping!r}])"))

    said = chargehand("tools", "--app", "shop:desk")

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: playbook 'bad' has 1 error:\n  CH201 ")


# --- the application's own errors ----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "problem", "line"),
    [
        ('raise ValueError("the port is not a number")', "ValueError: the port is not a number", 1),
        ("\nb'\\xff'.decode()", "UnicodeDecodeError: 'utf-8' codec can't decode byte 0xff", 2),
        ("\n\nopen('rates.csv')", "FileNotFoundError: [Errno 2] No such file or directory: 'rates.csv'", 3),
        ("\n1 +", "SyntaxError: invalid syntax", 2),
        ("import sys\nsys.exit(0)", "SystemExit: 0", 2),
        ("def desk():\n    return 1 / 0", "ZeroDivisionError: division by zero", 2),
    ],
    ids=str,
)
def test_an_error_of_the_application_is_shown_as_its_own(code: str, problem: str, line: int) -> None:
    write("shop.py", code)

    said = chargehand("tools", "--app", "shop:desk")

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith(f"error: cannot load shop:desk: {problem}")
    assert said.err.endswith(f"shop.py:{line}\n")
    assert "module:attribute" not in said.err


def test_an_error_in_a_library_names_the_line_of_the_application_and_that_of_the_library() -> None:
    write("library.py", "def number(text):\n    return int(text)\n")
    write("shop.py", "import library\n\nport = library.number('many')\n")

    said = chargehand("tools", "--app", "shop:desk")

    assert [place.rpartition("/")[2] for place in said.err.splitlines()[1:]] == ["shop.py:3", "library.py:2"]


@pytest.mark.parametrize(
    "app", ["..shop:desk", ".shop", "shop..till:desk", "shop.:desk", "sh\udcffop:desk", "a\nb:desk"]
)
def test_a_malformed_name_is_told_in_words(app: str) -> None:
    said = chargehand("tools", "--app", app)

    assert (said.code, said.out) == (2, "")
    assert said.err.endswith("\nWrite it as module:attribute.\n")


def test_a_module_beside_the_pyproject_of_a_parent_folder_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    write("shop.py", SHOP)
    write("pyproject.toml", '[tool.chargehand]\napp = "shop:desk"\n')
    Path("deep/down").mkdir(parents=True)
    monkeypatch.chdir("deep/down")

    assert chargehand("tools").out.startswith("look(")
    assert chargehand("tools", "--app", "shop:counter").out.startswith("look(")


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        (b"[tool]\nchargehand = 3\n", "`chargehand` is not a table"),
        (b"tool = 3\n", "`tool` is not a table"),
        (b'[tool.x]\na = "\xff"\n', "it is not UTF-8 text"),
    ],
)
def test_an_odd_pyproject_is_told_in_words(settings: bytes, problem: str) -> None:
    Path("pyproject.toml").write_bytes(settings)

    said = chargehand("tools")

    assert (said.code, said.out) == (2, "")
    assert said.err.startswith("error: ")
    assert f"pyproject.toml cannot be {'read' if 'UTF' in problem else 'used'}: {problem}\n" in said.err


@pytest.mark.parametrize(
    ("failure", "said_of_it"),
    [
        (
            "FileNotFoundError(2, 'No such file or directory', 'rates.csv')",
            "error: rates.csv: No such file or directory\n",
        ),
        ("ChargehandError('the shop is shut', hint='Come back.')", "error: the shop is shut\nCome back.\n"),
        ("RuntimeError('a mistake')", "RuntimeError: a mistake\n"),
    ],
    ids=["system", "ours", "mistake"],
)
def test_a_command_that_breaks_does_not_look_like_a_plan_with_errors(failure: str, said_of_it: str) -> None:
    shop = f"\nclass Odd(Chargehand):\n    def check(self, plan):\n        raise {failure}\n\nodd = Odd(tools=[look])\n"
    write("shop.py", f"from chargehand.errors import ChargehandError\n{SHOP}{shop}")

    said = chargehand("check", write("trip.yaml", GOOD), "--app", "shop:odd")

    assert (said.code, said.out) == (2, "")
    assert said_of_it in said.err


def test_a_playbook_that_is_not_utf_8_is_named() -> None:
    shop_with(PLAYBOOK)
    Path("books/look-around.yaml").write_bytes(b"name: \xff\n")

    said = chargehand("tools", "--app", "shop:desk")

    assert (said.code, said.out) == (2, "")
    assert "look-around.yaml" in said.err
    assert "UTF-8" in said.err


def test_a_folder_of_playbooks_that_is_missing_is_named() -> None:
    write("shop.py", SHOP.replace("tools=[look])", "tools=[look], playbooks='boks')"))

    said = chargehand("tools", "--app", "shop:desk")

    assert (said.code, said.out) == (2, "")
    assert "boks" in said.err
