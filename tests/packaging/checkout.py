"""The repository as someone else would get it: its files alone, without what happens to lie around."""

import os
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]


@cache
def repository_files() -> tuple[Path, ...]:
    """The files that are committed or would be, relative to the root."""
    listing = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    done = subprocess.run(listing, cwd=ROOT, capture_output=True, text=True, check=True)
    names = sorted({Path(name) for name in done.stdout.split("\0") if name})
    return tuple(name for name in names if (ROOT / name).is_file())  # one that is deleted is still listed


def copy_repository(folder: Path) -> Path:
    for name in repository_files():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, folder / name)
    return folder


def run(command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None) -> str:
    """What a command prints; it must succeed."""
    done = try_to_run(command, cwd, env)
    assert done.returncode == 0, f"{' '.join(map(str, command))} ends with {done.returncode}\n{done.stdout}"
    return done.stdout


def try_to_run(
    command: Sequence[str | Path], cwd: Path, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    surroundings = {name: value for name, value in os.environ.items() if name not in _OURS}
    return subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**surroundings, **(env or {})},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )


# What ties a process to this environment, or to the make and the pytest that may have started us.
_OURS = {"VIRTUAL_ENV", "PYTHONPATH", "PYTHONHOME", "CHARGEHAND_APP", "MAKEFLAGS", "MAKELEVEL", "MFLAGS", "GIT_DIR"}
