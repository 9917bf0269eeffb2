"""Shell completion: the script for a shell, and what it is answered."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = str(Path(sys.executable).parent / "chargehand")


def test_the_words_of_the_command_line_are_completed() -> None:
    asked = {"_CHARGEHAND_COMPLETE": "complete_bash", "COMP_WORDS": "chargehand pl", "COMP_CWORD": "1"}

    result = subprocess.run([PROGRAM], env={**os.environ, **asked}, capture_output=True, text=True, timeout=60)

    assert result.stdout.split() == ["plan", "playbooks"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_can_be_had(shell: str) -> None:
    """`--show-completion` gives that of the shell that it is called from, which differs from machine to machine."""
    asked = {"_CHARGEHAND_COMPLETE": f"source_{shell}"}

    result = subprocess.run([PROGRAM], env={**os.environ, **asked}, capture_output=True, text=True, timeout=60)

    assert (result.returncode, "CHARGEHAND_COMPLETE" in result.stdout) == (0, True), result.stderr
