"""A newcomer's first minute: clone, `make setup`, `make demo`."""

import re
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.packaging.checkout import copy_repository, run

MISSING = [name for name in ("git", "make") if shutil.which(name) is None]


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """pytest keeps the folders of its last runs, and half a gigabyte of environment is too much to keep."""
    yield tmp_path
    shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.mark.slow
@pytest.mark.skipif(bool(MISSING), reason=f"{' and '.join(MISSING)} cannot be found")
def test_a_fresh_clone_sets_itself_up_and_shows_the_demo(folder: Path) -> None:
    origin = copy_repository(folder / "origin")
    run(["git", "init", "--quiet", "."], origin)
    run(["git", "add", "--all"], origin)
    newcomer = ["-c", "user.name=Newcomer", "-c", "user.email=newcomer@example.com"]
    run(["git", *newcomer, "commit", "--quiet", "--no-verify", "--message", "All"], origin)
    run(["git", "clone", "--quiet", origin, folder / "clone"], folder)
    clone = folder / "clone"

    run(["make", "setup"], clone)
    shown = run(["make", "--silent", "demo"], clone)

    assert re.findall(r"^\d\. .*", shown, re.MULTILINE) == [
        "1. A goal becomes a plan, from a playbook and without a model",
        "2. A broken plan is refused before anything can happen",
        "3. Mended, it is accepted",
    ]
    where = run([clone / ".venv/bin/python", "-c", "import chargehand; print(chargehand.__file__)"], folder)
    assert Path(where.strip()) == clone / "src/chargehand/__init__.py"
    assert run(["git", "status", "--porcelain"], clone) == ""
    run(["make", "--question", "setup"], clone)  # a second setup has nothing to do
