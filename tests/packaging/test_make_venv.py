"""Setting up where Python came without its venv module, as on a bare Debian."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "tools" / "make-venv"


def bare_machine(folder: Path, user: int) -> dict[str, str]:
    """A Python without its venv module, a user, and an apt-get that only writes down what it is told."""
    programs = {
        "bare-python": f'case "$*" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"',
        "id": f"echo {user}",
        "apt-get": f'echo "$@" >> {folder}/asked',
    }
    for name, body in programs.items():
        (folder / name).write_text(f"#!/bin/sh\n{body}\n")
        (folder / name).chmod(0o755)
    return {"PATH": f"{folder}:/usr/bin:/bin"}


def make_venv(folder: Path, user: int, python: str = "bare-python") -> "subprocess.CompletedProcess[str]":
    tools = folder / "bin"
    tools.mkdir()
    environment = bare_machine(tools, user)
    command = ["sh", str(SCRIPT), python]
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=120)


def test_others_than_root_are_told_what_to_install(tmp_path: Path) -> None:
    result = make_venv(tmp_path, user=1000)

    assert result.returncode == 1
    assert "sudo apt-get install python3-venv" in result.stderr
    assert not (tmp_path / "bin" / "asked").exists()


@pytest.mark.slow
def test_root_gets_it_installed(tmp_path: Path) -> None:
    result = make_venv(tmp_path, user=0)

    assert result.returncode == 0, result.stderr
    assert "install -y -qq python3-venv" in (tmp_path / "bin" / "asked").read_text()
    assert (tmp_path / ".venv" / "bin" / "python").exists()


def test_a_missing_python_is_named(tmp_path: Path) -> None:
    result = make_venv(tmp_path, user=1000, python="python9")

    assert result.returncode == 1
    assert "'python9' was not found" in result.stderr
