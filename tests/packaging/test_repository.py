"""The files of the repository: what each promises the others, and what none may hold."""

import configparser
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from tests.packaging.checkout import ROOT, repository_files

REQUIREMENTS = ("requirements.txt", "requirements-dev.txt")

# Written in pieces, so that this file does not hold them either.
HOSTS = [".".join(pieces) for pieces in (
    ("pypi", "org"),
    ("pythonhosted", "org"),
    ("npmjs", "org"),
    ("npmjs", "com"),
    ("yarnpkg", "com"),
    ("anaconda", "org"),
    ("docker", "io"),
    ("ghcr", "io"),
    ("quay", "io"),
)]  # fmt: skip
HOME = re.compile(r"(?<![\w.~])/(?:work|root|home|Users|opt)/\w")


def text_of(name: str | Path) -> str:
    return (ROOT / name).read_text(encoding="utf-8", errors="replace")


def project() -> dict[str, Any]:
    return tomllib.loads(text_of("pyproject.toml"))


def pins(name: str) -> dict[str, set[str]]:
    """The versions that a requirements file pins, by package."""
    found: dict[str, set[str]] = {}
    for line in text_of(name).splitlines():
        requirement = Requirement(line)
        [pin] = requirement.specifier
        found.setdefault(canonicalize_name(requirement.name), set()).add(pin.version)
    return found


def test_no_file_names_a_package_index() -> None:
    named = [f"{name}: {host}" for name in repository_files() for host in HOSTS if host in text_of(name).lower()]

    assert named == []


def test_no_file_holds_a_path_of_somebodys_machine() -> None:
    found = [
        f"{name}:{number}: {line.strip():.100}"
        for name in repository_files()
        for number, line in enumerate(text_of(name).splitlines(), 1)
        if HOME.search(line)
    ]

    assert found == []


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_requirements_are_plain_pins(name: str) -> None:
    odd = [
        line
        for line in text_of(name).splitlines()
        if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*==\d[0-9a-z.]*( ; [^;#@]+)?", line)
    ]

    assert odd == []


@pytest.mark.parametrize("name", REQUIREMENTS)
def test_every_dependency_is_pinned_to_a_version_that_it_allows(name: str) -> None:
    settings, pinned = project(), pins(name)
    wanted = [*settings["project"]["dependencies"], *settings["build-system"]["requires"]]
    wanted += settings["dependency-groups"]["dev"]
    if name == "requirements.txt":
        wanted = settings["project"]["dependencies"]

    for requirement in map(Requirement, wanted):
        versions = pinned.get(canonicalize_name(requirement.name), set())
        assert versions, f"{requirement.name} is not in {name}"
        assert all(requirement.specifier.contains(version) for version in versions), requirement


def test_development_uses_the_versions_that_users_get() -> None:
    users, ours = (pins(name) for name in REQUIREMENTS)

    assert {name: ours.get(name) for name in users} == users


def test_ci_runs_what_make_test_runs() -> None:
    lines = text_of(".ci/run").splitlines()

    assert lines[0].startswith("#!")
    assert lines[-1] == "make test"
    assert os.access(ROOT / ".ci/run", os.X_OK)


def makefile_targets() -> set[str]:
    return set(re.findall(r"^([a-z][a-z-]*):(?!=)", text_of("Makefile"), re.MULTILINE))


def test_the_makefile_has_the_commands_that_people_are_told_of() -> None:
    assert makefile_targets() >= {"setup", "check", "test", "demo", "docs", "bench"}


@pytest.mark.parametrize("page", [name for name in repository_files() if name.suffix == ".md"], ids=str)
def test_every_make_command_in_the_documents_exists(page: Path) -> None:
    told = set(re.findall(r"(?:^|`|\$ |&& )make ([a-z-]+)", text_of(page), re.MULTILINE))

    assert told <= makefile_targets()


def test_readme_begins_with_commands_of_the_makefile() -> None:
    assert set(re.findall(r"^make ([a-z]+)", text_of("README.md"), re.MULTILINE)) >= {"demo", "test"}


def test_every_module_belongs_to_a_layer() -> None:
    settings = configparser.ConfigParser()
    settings.read_string(text_of(".importlinter"))
    layers = settings["importlinter:contract:layers"]
    placed = set(re.findall(r"\w+", layers["layers"])) | set(layers["exhaustive_ignores"].split())

    package = Path("src", layers["containers"].strip())
    tops = {
        name.relative_to(package).parts[0].removesuffix(".py")
        for name in repository_files()
        if name.suffix == ".py" and name.parts[0] == "src"
    }

    assert tops - {"__init__"} <= placed
    assert layers["exhaustive"] == "True"


def test_every_layer_that_must_exist_does() -> None:
    settings = configparser.ConfigParser()
    settings.read_string(text_of(".importlinter"))
    required = set(re.findall(r"(?<![\w(])\w+(?![\w)])", settings["importlinter:contract:layers"]["layers"]))

    package = ROOT / "src/chargehand"
    assert {
        name for name in required if not (package / name).is_dir() and not (package / f"{name}.py").is_file()
    } == set()
