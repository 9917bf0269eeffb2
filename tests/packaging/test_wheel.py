"""The package as users get it: built from the repository's files, installed elsewhere, and tried there."""

import json
import re
import sys
import tarfile
import zipfile
from dataclasses import dataclass
from pathlib import Path

import pytest
from tests.packaging.checkout import ROOT, copy_repository, repository_files, run, try_to_run

from chargehand import __version__

pytestmark = pytest.mark.slow

BIN = Path(sys.executable).parent

PLAN = """\
steps:
  - id: find
    use: search_rooms
    with: {city: Boston, night: 2026-11-20}
answer: {$: find.first}
"""
PROGRAM = '''\
from dataclasses import dataclass
from datetime import date

from chargehand import Chargehand, Diagnostic, Plan, tool


@dataclass(frozen=True)
class Rooms:
    first: str


@tool(effect="read")
def search_rooms(city: str, night: date) -> Rooms:
    """Finds the hotels that have a room."""
    return Rooms("Harbour Inn")


@tool(effect="read", instead_of=search_rooms)
async def search_slowly(city: str, night: date) -> Rooms:
    return search_rooms(city, night)


desk = Chargehand(tools=[search_rooms, search_slowly])
plan: Plan = Plan.load("trip.yaml")
found: list[Diagnostic] = desk.check(plan)
'''
REVEALS = """
reveal_type(search_rooms)
reveal_type(search_rooms("Boston", date(2026, 11, 20)))
reveal_type(search_slowly)
reveal_type(desk.plan("Find a room"))
reveal_type(found[0].severity)
"""


@dataclass(frozen=True)
class Installed:
    """The archives, and an environment into which the wheel was installed."""

    wheel: Path
    sdist: Path
    environment: Path
    elsewhere: Path

    def run(self, command: str, *arguments: str) -> str:
        return run([self.environment / "bin" / command, *arguments], self.elsewhere)


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("package")
    source = copy_repository(folder / "source")
    run([sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist"], source)
    [wheel], [sdist] = (folder / "dist").glob("*.whl"), (folder / "dist").glob("*.tar.gz")
    environment, elsewhere = folder / "venv", folder / "elsewhere"
    run([BIN / "uv", "venv", "--quiet", "--no-project", "--python", sys.executable, environment], folder)
    _install(environment, "--requirement", str(ROOT / "requirements.txt"))
    _install(environment, "--no-deps", str(wheel))
    elsewhere.mkdir()
    (elsewhere / "trip.yaml").write_text(PLAN, encoding="utf-8")
    (elsewhere / "hotel.py").write_text(PROGRAM, encoding="utf-8")
    return Installed(wheel, sdist, environment, elsewhere)


def _install(environment: Path, *what: str) -> None:
    """uv is quick, but does not read the settings of pip, without which some machines reach no packages."""
    python = environment / "bin/python"
    quickly = try_to_run([BIN / "uv", "pip", "install", "--quiet", "--python", python, *what], ROOT)
    if quickly.returncode != 0:
        run([BIN / "python", "-m", "pip", "--python", python, "install", "--quiet", *what], ROOT)


def test_the_wheel_holds_the_package_and_nothing_else(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        names = {name for name in archive.namelist() if not name.endswith("/")}

    package = {"/".join(name.parts[1:]) for name in repository_files() if name.parts[:2] == ("src", "chargehand")}
    info = f"chargehand-{__version__}.dist-info"
    assert {name for name in names if not name.startswith(f"{info}/")} == package
    assert {f"{info}/licenses/LICENSE", f"{info}/METADATA", f"{info}/entry_points.txt"} <= names
    assert "chargehand/py.typed" in names
    assert "chargehand/demo/travel/playbooks/cheapest-flight.yaml" in names


def test_the_metadata_says_what_is_needed(installed: Installed) -> None:
    with zipfile.ZipFile(installed.wheel) as archive:
        metadata = archive.read(f"chargehand-{__version__}.dist-info/METADATA").decode()

    assert re.search(r"^License-Expression: Apache-2\.0$", metadata, re.MULTILINE)
    assert re.search(r"^Requires-Python: >=3\.11$", metadata, re.MULTILINE)
    assert "Requires-Dist: typer" in metadata
    assert "# Chargehand" in metadata


def test_the_source_archive_can_be_built_again(installed: Installed, tmp_path: Path) -> None:
    with tarfile.open(installed.sdist) as archive:
        archive.extractall(tmp_path, filter="data")

    again = ["-m", "build", "--no-isolation", "--wheel", "--outdir", str(tmp_path / "dist")]
    run([sys.executable, *again], tmp_path / f"chargehand-{__version__}")

    [wheel] = (tmp_path / "dist").glob("*.whl")
    with zipfile.ZipFile(wheel) as ours, zipfile.ZipFile(installed.wheel) as theirs:
        assert sorted(ours.namelist()) == sorted(theirs.namelist())


def test_the_pins_are_all_that_the_package_needs(installed: Installed) -> None:
    told = run([BIN / "uv", "pip", "check", "--python", installed.environment / "bin/python"], ROOT)

    assert "All installed packages are compatible" in told


def test_the_installed_package_is_the_one_that_is_imported(installed: Installed) -> None:
    where = installed.run("python", "-c", "import chargehand; print(chargehand.__file__)")

    assert Path(where.strip()).is_relative_to(installed.environment)


def test_every_module_of_the_package_can_be_imported(installed: Installed) -> None:
    program = """
import importlib, pkgutil, chargehand
for module in pkgutil.walk_packages(chargehand.__path__, "chargehand."):
    importlib.import_module(module.name)
for name in chargehand.__all__:
    getattr(chargehand, name)
"""

    installed.run("python", "-W", "error", "-c", program)


def test_the_command_works(installed: Installed) -> None:
    assert installed.run("chargehand", "--version") == f"chargehand {__version__}\n"
    assert "3. Mended, it is accepted" in installed.run("chargehand", "demo")
    assert installed.run("chargehand", "check", "trip.yaml", "--app", "hotel:desk") == "ok trip.yaml\n"
    assert "refund-order" in installed.run("chargehand", "playbooks", "--app", "chargehand.demo.support:desk")


def test_a_strictly_typed_program_sees_the_types_of_the_package(installed: Installed, tmp_path: Path) -> None:
    (tmp_path / "program.py").write_text(PROGRAM + REVEALS, encoding="utf-8")

    errors, revealed = type_check(installed, tmp_path)

    assert errors == []
    assert revealed == [
        'Type of "search_rooms" is "Tool[(city: str, night: date), Rooms]"',
        'Type of "search_rooms("Boston", date(2026, 11, 20))" is "Rooms"',
        'Type of "search_slowly" is "Tool[(city: str, night: date), CoroutineType[Any, Any, Rooms]]"',
        'Type of "desk.plan("Find a room")" is "Plan"',
        "Type of \"found[0].severity\" is \"Literal['error', 'warning']\"",
    ]


def test_wrong_uses_are_type_errors(installed: Installed, tmp_path: Path) -> None:
    wrong = {
        "search_rooms(3, date(2026, 11, 20))": "reportArgumentType",
        'search_rooms("Boston")': "reportCallIssue",
        'search_rooms("Boston", date(2026, 11, 20)).last': "reportAttributeAccessIssue",
        'tool(effect="wrte")': "reportArgumentType",
        "Chargehand([search_rooms])": "reportCallIssue",
    }
    lines = "".join(f"_ = {use}\n" for use in wrong)
    (tmp_path / "program.py").write_text(PROGRAM + lines, encoding="utf-8")

    errors, _ = type_check(installed, tmp_path)

    assert [rule for rule in errors if not rule.startswith("reportUnknown")] == list(wrong.values())


def type_check(installed: Installed, folder: Path) -> tuple[list[str], list[str]]:
    """The rules that a program breaks, and the types that it reveals, as pyright sees the installed package."""
    settings = {
        "typeCheckingMode": "strict",
        "venvPath": str(installed.environment.parent),
        "venv": installed.environment.name,
    }
    (folder / "pyrightconfig.json").write_text(json.dumps(settings), encoding="utf-8")
    done = try_to_run([BIN / "pyright", "--project", ".", "--outputjson"], folder)
    found = json.loads(done.stdout[done.stdout.index("{") :])["generalDiagnostics"]
    errors = [finding.get("rule", finding["message"]) for finding in found if finding["severity"] == "error"]
    return errors, [finding["message"] for finding in found if finding["severity"] == "information"]
