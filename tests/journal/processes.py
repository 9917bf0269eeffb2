"""Real processes that a test can talk to, stop and kill. They are forked, so that they start warm.

SQLite forbids to fork while a file is open and then to open it in the child: fork first, open afterwards.
"""

import os
import select
import signal
from collections.abc import Callable, Generator
from contextlib import contextmanager

WAIT = 20.0  # seconds after which a child that should have spoken counts as stuck

Say = Callable[[str], None]
Hear = Callable[[], str]


class Child:
    def __init__(self, pid: int, ear: int, mouth: int) -> None:
        self.pid = pid
        self._ear = ear
        self._mouth = mouth
        self._heard = b""
        self._over = False

    def hears(self) -> str:
        """The next line that the child says; empty when it has ended."""
        while b"\n" not in self._heard:
            ready, _, _ = select.select([self._ear], [], [], WAIT)
            assert ready, "the child says nothing"
            more = os.read(self._ear, 65536)
            if not more:
                return ""
            self._heard += more
        line, _, self._heard = self._heard.partition(b"\n")
        return line.decode()

    def tell(self, line: str) -> None:
        os.write(self._mouth, line.encode() + b"\n")

    def stop(self) -> None:
        os.kill(self.pid, signal.SIGSTOP)
        os.waitpid(self.pid, os.WUNTRACED)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def kill(self) -> None:
        if not self._over:
            self._over = True
            os.kill(self.pid, signal.SIGKILL)
            os.waitpid(self.pid, 0)

    def close(self) -> None:
        self.kill()
        os.close(self._ear)
        os.close(self._mouth)


@contextmanager
def child(work: Callable[[Say, Hear], None]) -> Generator[Child]:
    """Runs work in a process of its own, which is killed at the end."""
    ear, child_mouth = os.pipe()
    child_ear, mouth = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(ear)
        os.close(mouth)  # so that it hears the end of its parent
        _live(work, child_ear, child_mouth)
    os.close(child_mouth)
    os.close(child_ear)
    process = Child(pid, ear, mouth)
    try:
        yield process
    finally:
        process.close()


def _live(work: Callable[[Say, Hear], None], ear: int, mouth: int) -> None:
    try:
        with os.fdopen(ear) as heard:
            work(lambda line: void(os.write(mouth, line.encode() + b"\n")), lambda: heard.readline().strip())
    except BaseException as error:
        os.write(mouth, f"{type(error).__name__}: {error}".splitlines()[0].encode() + b"\n")
    finally:
        os._exit(0)


def void(_: object) -> None:
    return None
