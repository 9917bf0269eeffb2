"""Contestants: each is a process of its own, on a database of its own, that runs a round when it is told to."""

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

from bench.timing import Absent, Took

ROOT = Path(__file__).parents[1]
PEERS = ROOT / ".venv-peers"
PATIENCE = 900.0  # seconds for one round; who takes longer is out

MODULES = {
    "ours": "bench.ours",
    "bare": "bench.bare",
    "langgraph": "bench.peers.on_langgraph",
    "dbos": "bench.peers.on_dbos",
}


class Contestant:
    """One process, started with the first round that it is asked for."""

    def __init__(self, name: str, folder: Path) -> None:
        self._name, self._folder = name, folder
        self._process: subprocess.Popen[str] | None = None
        self._dead = ""  # why it takes no further part

    def ask(self, round: str, **request: object) -> dict[str, Any]:
        """What a round gave. Raises Absent if it cannot be run; once its process is dead, always."""
        if self._dead:
            raise Absent(self._dead)
        if self._process is None:
            self._process = self._start()
            self._exchange("chain", {"steps": 100})  # warm
        return self._exchange(round, request)

    def stop(self) -> None:
        if self._process is not None:
            with self._process:
                self._process.kill()
            self._process = None

    def _start(self) -> "subprocess.Popen[str]":
        module = MODULES[self._name]
        python = Path(sys.executable)
        if module.startswith("bench.peers."):
            python = PEERS / "bin" / "python"
            if not (PEERS / "ready").exists():
                raise Absent("the peers are not installed: `make bench-peers`")
        with (self._folder / "stderr").open("w") as errors:
            return subprocess.Popen(
                [str(python), "-m", module, str(self._folder)],
                cwd=ROOT,
                env={**os.environ, "LANGSMITH_TRACING": "false"},
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    def _exchange(self, round: str, request: dict[str, object]) -> dict[str, Any]:
        process = self._process
        assert process is not None
        assert process.stdin is not None
        assert process.stdout is not None
        alarm = threading.Timer(PATIENCE, process.kill)
        alarm.start()
        try:
            print(json.dumps([round, request]), file=process.stdin, flush=True)
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            alarm.cancel()
        if not line:
            self._dead = f"{self._name} died in {round!r}: {self._last_words()}"
            raise Absent(self._dead)
        reply: dict[str, Any] = json.loads(line)
        if "error" in reply:
            raise Absent(f"{self._name} failed in {round!r}: {reply['error']}")
        return reply

    def _last_words(self) -> str:
        said = (self._folder / "stderr").read_text(encoding="utf-8", errors="replace").strip()
        return said.splitlines()[-1] if said else "it ended without a word"


class Contest:
    """The contestants of one benchmark. Leaving it ends their processes and deletes what they wrote."""

    def __init__(self) -> None:
        # Beside the code: /tmp may be memory, where nothing has to wait for a disk.
        self._folder = tempfile.TemporaryDirectory(prefix=".bench-", dir=ROOT, ignore_cleanup_errors=True)
        self._contestants: dict[str, Contestant] = {}

    def __enter__(self) -> "Contest":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for contestant in self._contestants.values():
            contestant.stop()
        self._folder.cleanup()

    def ask(self, name: str, round: str, **request: object) -> dict[str, Any]:
        """Has a contestant run a round. Raises Absent."""
        if name not in self._contestants:
            self._contestants[name] = self.fresh(name)
        return self._contestants[name].ask(round, **request)

    def takes(self, name: str, round: str, **request: object) -> Callable[[], Took]:
        """Something that runs a round and says what it took."""
        return lambda: Took(**self.ask(name, round, **request))

    def fresh(self, name: str) -> Contestant:
        """A contestant that shares no process with the others."""
        return Contestant(name, Path(tempfile.mkdtemp(prefix=f"{name}-", dir=self._folder.name)))

    def leave(self, name: str) -> None:
        """Ends a contestant that is not needed any more."""
        if name in self._contestants:
            self._contestants.pop(name).stop()
