"""The command line as a person or a script meets it: words in; an exit code and two streams of text out."""

import contextlib
import importlib
import io
import os
import pty
import subprocess
import sys
import traceback
from collections.abc import Generator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import pytest

from chargehand.cli.main import main

DESK = "tests.trips:desk"


@dataclass(frozen=True)
class Said:
    """How a command ended, and what it printed."""

    code: int
    out: str
    err: str


def chargehand(*arguments: str, stdin: bytes = b"") -> Said:
    """Runs a command in this process, in the current folder, as the shell would."""
    out, err = io.StringIO(), io.StringIO()
    with pytest.MonkeyPatch.context() as patch, _own_modules(Path.cwd()):
        patch.setattr(sys, "argv", ["chargehand", *arguments])
        patch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            code = _exit_code()
    return Said(code, out.getvalue(), err.getvalue())


def _exit_code() -> int:
    try:
        main()
    except SystemExit as leaving:
        return leaving.code if isinstance(leaving.code, int) else int(leaving.code is not None)
    except Exception:  # what the interpreter does with it
        traceback.print_exc()
        return 1
    return 0


@contextlib.contextmanager
def _own_modules(folder: Path) -> Generator[None]:
    """Python files of the folder, and of those above it, are found by the command alone, and are forgotten."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", list(sys.path))
        patch.setattr(sys, "dont_write_bytecode", True)  # a file that is written again must be read again
        importlib.invalidate_caches()
        yield
    for name in [name for name, module in sys.modules.items() if _is_in(folder, module)]:
        del sys.modules[name]


def _is_in(folder: Path, module: ModuleType) -> bool:
    places = [getattr(module, "__file__", None), *getattr(module, "__path__", ())]  # a bare folder has no file
    paths = [Path(str(place)) for place in places if place]
    return any(path.is_relative_to(folder) or path.parent in folder.parents for path in paths)


def on_a_terminal(*arguments: str, env: Mapping[str, str] | None = None) -> str:
    """What a command writes to a terminal, byte for byte but for the line ends."""
    reader, writer = pty.openpty()
    process = subprocess.Popen(
        [str(Path(sys.executable).with_name("chargehand")), *arguments],
        stdin=subprocess.DEVNULL,
        stdout=writer,
        stderr=writer,
        env={**os.environ, **(env or {})},
    )
    os.close(writer)
    seen = b""
    with contextlib.suppress(OSError):  # Linux says "input/output error" at the end of a terminal's output
        while piece := os.read(reader, 4096):
            seen += piece
    os.close(reader)
    process.wait()
    return seen.decode("utf-8").replace("\r\n", "\n")
