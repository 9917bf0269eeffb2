"""Isolation: whatever a tool does wrong, there is a clear error, and nothing of the run is lost."""

import asyncio
import contextlib
import gc
import subprocess
import sys
import threading
import weakref
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest
from tests.engine.workbench import sqlite
from tests.execution.misbehaviour import PLAN, acting, failure, look, raising, run

from chargehand import Chargehand, NotPerformed, Outcome, tool
from chargehand.execution.calling import STOP, Threads, call
from chargehand.testing.clock import FakeClock

HANG = "def hang() -> int: threading.Event().wait(); return 1"
HANG_ON = """async def hang() -> int:
    while True:
        try: await asyncio.sleep(60)
        except BaseException: pass
"""


class TestOneThatNeverReturns:
    def test_an_async_one_is_cut_off_at_its_deadline(self) -> None:
        tidied: list[str] = []

        async def hang() -> None:
            try:
                await asyncio.Event().wait()
            finally:
                await asyncio.sleep(0)
                tidied.append("closed")

        error = failure(run(hang, timeout=0.05, retry=1))

        assert (error.kind, error.message) == ("transient", "TimeoutError: no result within 0.05 s")
        assert tidied == ["closed"]

    def test_a_sync_one_is_left_behind_at_its_deadline(self) -> None:
        release = threading.Event()

        error = failure(run(release.wait, sync=True, timeout=0.05, retry=1))
        release.set()

        assert error.message == "TimeoutError: no result within 0.05 s"

    def test_an_effect_that_was_cut_off_is_in_doubt(self) -> None:
        for sync in (True, False):
            release = threading.Event()
            act = release.wait if sync else asyncio.Event().wait

            outcome = run(act, sync=sync, effect="write", timeout=0.05)
            release.set()

            assert (outcome.status, outcome["bad"].status) == ("in_doubt", "in_doubt")
            assert outcome["good"].status == "done"

    def test_a_result_that_comes_while_it_is_cut_off_counts(self) -> None:
        async def late() -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                return "done all the same"
            raise NotImplementedError

        outcome = run(late, effect="write", timeout=0.05)

        assert outcome["bad"].output == "done all the same"

    def test_what_it_raises_while_it_is_cut_off_leaves_an_effect_in_doubt(self) -> None:
        async def complain() -> str:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                raise ValueError("I was not done") from None
            raise NotImplementedError

        assert run(complain, effect="write", timeout=0.05)["bad"].status == "in_doubt"

    def test_one_that_does_not_let_itself_be_cancelled_is_left(self) -> None:
        async def stubborn() -> None:
            for _ in range(1000):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(60)

        async def work() -> None:
            with pytest.raises(TimeoutError, match=r"within 0\.02 s"):
                await call(acting(stubborn), {}, Threads(), 0.02, tidying=0.02)
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(work())

    def test_a_caller_that_is_cancelled_does_not_wait_for_a_stubborn_one(
        self, caplog: pytest.LogCaptureFixture
    ) -> None:
        async def stubborn() -> None:
            for _ in range(1000):
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.sleep(60)

        async def work() -> None:
            calling = asyncio.ensure_future(call(acting(stubborn), {}, Threads(), 60, tidying=0.02))
            await asyncio.sleep(0.01)
            calling.cancel(STOP)
            with pytest.raises(asyncio.CancelledError):
                await calling
            assert asyncio.all_tasks() == {asyncio.current_task()}

        asyncio.run(work())
        gc.collect()
        assert caplog.records == []

    @pytest.mark.filterwarnings("ignore:Exception ignored in. <coroutine:pytest.PytestUnraisableExceptionWarning")
    def test_one_that_ignores_even_its_closing_is_ended_by_python(self) -> None:
        immortals: list[weakref.ref[Any]] = []

        async def immortal() -> None:
            while True:
                with contextlib.suppress(BaseException):
                    await asyncio.sleep(60)

        def be_immortal() -> Any:
            work = immortal()
            immortals.append(weakref.ref(work))
            return work

        async def work() -> None:
            with pytest.raises(TimeoutError):
                await call(acting(be_immortal), {}, Threads(), 0.02, tidying=0.02)
            assert [one() for one in immortals] == [None]

        asyncio.run(work())

    @pytest.mark.parametrize("hang", [HANG, pytest.param(HANG_ON, marks=pytest.mark.slow)], ids=["sync", "stubborn"])
    def test_the_process_can_exit(self, hang: str) -> None:
        program = f"""
import asyncio, threading
from chargehand import Chargehand, Plan, tool
@tool(effect="read", timeout=0.2, retry=1, egress=[])
{hang}
outcome = Chargehand(tools=[hang]).run_sync(Plan.parse({{"steps": [{{"id": "a", "use": "hang"}}]}}))
print(outcome.status, outcome["a"].error.message)
"""
        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False)

        assert (done.returncode, done.stdout) == (0, "failed TimeoutError: no result within 0.2 s\n"), done.stderr


INTERRUPTIONS = [KeyboardInterrupt(), SystemExit(3), GeneratorExit(), asyncio.CancelledError()]


class TestOneThatRaises:
    @pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
    @pytest.mark.parametrize("error", INTERRUPTIONS, ids=lambda error: type(error).__name__)
    def test_what_would_end_a_process_or_a_task_is_the_failure_of_a_step(
        self, error: BaseException, sync: bool
    ) -> None:
        said = failure(run(raising(error), sync=sync))

        assert said.kind == "error"
        assert said.message.startswith(f"the tool raised {type(error).__name__}")
        assert "cannot end the process or the run" in said.hint

    @pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
    @pytest.mark.parametrize("error", INTERRUPTIONS, ids=lambda error: type(error).__name__)
    def test_of_an_effect_nobody_knows_then_how_far_it_came(self, error: BaseException, sync: bool) -> None:
        outcome = run(raising(error), sync=sync, effect="write")

        assert (outcome.status, outcome["bad"].status, outcome["good"].status) == ("in_doubt", "in_doubt", "done")

    def test_one_that_cancels_its_own_task_does_not_stop_the_run(self) -> None:
        async def cancel_itself() -> None:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            await asyncio.sleep(60)

        async def be_cancelled_later() -> None:
            task = asyncio.current_task()
            assert task is not None
            asyncio.get_running_loop().call_later(0.01, task.cancel)
            await asyncio.sleep(60)

        for act in (cancel_itself, be_cancelled_later):
            assert failure(run(act)).message == "the tool raised CancelledError"

    def test_timeouts_and_groups_inside_of_a_tool_work_as_everywhere(self) -> None:
        async def work() -> str:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(60)
            with pytest.raises(TimeoutError):
                await asyncio.wait_for(asyncio.sleep(60), 0.01)
            try:
                async with asyncio.TaskGroup() as group:
                    group.create_task(asyncio.sleep(60))
                    group.create_task(asyncio.wait_for(asyncio.sleep(60), 0.01))
            except* TimeoutError:
                pass
            return "went on"

        assert run(work)["bad"].output == "went on"

    def test_one_whose_own_timeout_has_passed_may_go_on_for_as_long_as_it_likes(self) -> None:
        async def go_on() -> str:
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(0.01):
                    await asyncio.sleep(60)
            await asyncio.sleep(0.1)
            return "went on"

        async def work() -> str:
            return await call(acting(go_on), {}, Threads(), 60, tidying=0.01)

        assert asyncio.run(work()) == "went on"

    @pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
    def test_stop_iteration_is_an_error_like_others(self, sync: bool) -> None:
        assert "raised StopIteration" in failure(run(raising(StopIteration()), sync=sync)).message


class TestOneThatFloods:
    @pytest.mark.parametrize("sync", [True, False], ids=["sync", "async"])
    def test_megabytes_printed_are_no_part_of_the_run(
        self, sync: bool, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def flood() -> str:
            for _ in range(5000):
                print("x" * 1000)
            return "said it"

        desk = Chargehand(tools=[acting(flood, sync=sync), look], journal=sqlite(tmp_path))
        outcome = desk.run_sync(PLAN)

        assert outcome["bad"].output == "said it"
        assert len(capsys.readouterr().out) >= 5_000_000
        assert sum(file.stat().st_size for file in tmp_path.iterdir()) < 1_000_000


class TestOneThatLeaksTasks:
    def test_nobody_waits_for_them_and_the_run_is_done(self) -> None:
        left: list[asyncio.Task[Any]] = []

        async def leak() -> str:
            left.append(asyncio.create_task(asyncio.sleep(3600)))
            return "left one behind"

        outcome = run(leak)

        assert outcome["bad"].output == "left one behind"
        assert left[0].cancelled()

    def test_what_they_raise_later_disturbs_no_run(self) -> None:
        async def explode() -> None:
            raise ValueError("later")

        async def leak() -> str:
            asyncio.get_running_loop().call_soon(explode_in_a_callback)
            leaked.append(asyncio.create_task(explode()))
            return "left one behind"

        def explode_in_a_callback() -> None:
            raise ValueError("in a callback")

        leaked: list[asyncio.Task[None]] = []
        desk = Chargehand(tools=[acting(leak), look], clock=FakeClock())

        async def work() -> list[Outcome]:
            return [await desk.run(PLAN), await desk.run(PLAN)]

        outcomes = asyncio.run(work())

        assert [(outcome.status, outcome.answer) for outcome in outcomes] == [("done", 7), ("done", 7)]
        assert [str(task.exception()) for task in leaked] == ["later", "later"]


def test_a_driver_that_is_stopped_lets_its_tools_tidy_up_and_the_run_goes_on_later(tmp_path: Path) -> None:
    events: list[str] = []
    ready = asyncio.Event()

    async def wait() -> str:
        if "tidied" in events:
            return "at last"
        ready.set()
        try:
            await asyncio.sleep(60)
        finally:
            await asyncio.sleep(0)
            events.append("tidied")
        raise NotImplementedError

    desk = Chargehand(tools=[acting(wait), look], journal=sqlite(tmp_path))

    async def stop() -> None:
        running = asyncio.create_task(desk.run(PLAN, run_id="r"))
        await ready.wait()
        running.cancel()
        with pytest.raises(asyncio.CancelledError):
            await running
        events.append("stopped")

    asyncio.run(stop())
    outcome = asyncio.run(desk.resume("r"))

    assert events == ["tidied", "stopped"]
    assert (outcome.status, outcome["bad"].output) == ("done", "at last")


def test_a_decorator_may_hide_that_a_function_is_async() -> None:
    def timed(function: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(function)
        def inner(*args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

        return inner

    @tool(effect="read", egress=[], name="misbehave")
    @timed
    async def disguised() -> str:
        """Is async, though it does not look like it."""
        await asyncio.sleep(0)
        return "awaited"

    assert Chargehand(tools=[disguised, look]).run_sync(PLAN)["bad"].output == "awaited"


def test_a_tool_for_which_there_is_no_thread_did_nothing() -> None:
    release = threading.Event()
    threads = Threads(most=1)

    async def work() -> None:
        waiting = asyncio.ensure_future(call(acting(release.wait, sync=True), {}, threads, 10))
        await asyncio.sleep(0)
        with pytest.raises(NotPerformed, match="all 1 threads"):
            await call(acting(lambda: 1, sync=True), {}, threads, 10)
        release.set()
        await waiting

    asyncio.run(work())
