"""Logging: the standard library's, quiet unless it is wanted, with fields for machines and without values."""

import logging
import subprocess
import sys

import pytest
from tests.engine.workbench import Bench, plan, step, within

from chargehand import Chargehand, Outcome, tool
from chargehand.catalog.tools import AnyTool
from chargehand.testing.clock import FakeClock

QUIET = """
import asyncio, logging, sys
from chargehand import Chargehand, Plan, tool

@tool(effect="write", egress=[])
async def write(x: int) -> int:
    '''Ends in doubt, which is worth a warning.'''
    raise TimeoutError("no answer")

@tool(effect="read", egress=[])
async def look(x: int) -> int:
    '''Fails.'''
    raise ValueError("no")

plan = Plan.parse("steps: [{id: a, use: write, with: {x: 1}}, {id: b, use: look, with: {x: 1}}]")
print(Chargehand(tools=[write, look]).run_sync(plan).status)
"""


def records(caplog: pytest.LogCaptureFixture) -> list[logging.LogRecord]:
    return [record for record in caplog.records if record.name.startswith("chargehand")]


def field(record: logging.LogRecord, name: str) -> object:
    return record.__dict__.get(name)


class TestQuiet:
    def test_a_program_that_configures_nothing_hears_nothing(self) -> None:
        done = subprocess.run([sys.executable, "-c", QUIET], capture_output=True, text=True, check=True)

        assert (done.stdout, done.stderr) == ("in_doubt\n", "")

    def test_the_package_has_a_handler_that_does_nothing(self) -> None:
        logger = logging.getLogger("chargehand")

        assert any(isinstance(handler, logging.NullHandler) for handler in logger.handlers)
        assert (logger.level, logger.propagate) == (logging.NOTSET, True)

    @pytest.mark.slow
    def test_a_program_that_wants_to_hear_is_told(self) -> None:
        program = f"import logging; logging.basicConfig(level='INFO')\n{QUIET}"

        done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)

        assert "INFO:chargehand.runs:run " in done.stderr
        assert "step a call.doubted: TimeoutError: no answer: it may have happened" in done.stderr


class TestFields:
    def test_each_record_says_which_run_step_and_event_it_is_about(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG, "chargehand")

        within(Bench().desk().run(plan(step("a"), step("b", "write", "a")), run_id="r"))
        told = [(field(record, "run"), field(record, "step"), field(record, "event")) for record in records(caplog)]

        assert told == [
            ("r", None, "run.started"),
            ("r", "a", "call.started"),
            ("r", "a", "call.finished"),
            ("r", "b", "call.started"),
            ("r", "b", "call.finished"),
            ("r", None, "run.ended"),
        ]

    def test_it_says_who_did_it_and_for_which_item(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG, "chargehand")
        desk = Bench().desk()
        within(desk.run(plan(step("a", "send", "item", each="[1, 2]", expect=["true"])), run_id="r"))
        desk.approve("r", "a", item=1)
        caplog.clear()

        within(desk.resume("r"))
        [answered] = [record for record in records(caplog) if field(record, "event") == "approval.answered"]

        assert (field(answered, "by"), field(answered, "item")) == ("person", 1)

    @pytest.mark.parametrize(
        ("trouble", "event", "level"),
        [
            (TimeoutError("no answer"), "call.doubted", logging.WARNING),
            (ValueError("no"), "call.failed", logging.INFO),
            (None, "call.finished", logging.DEBUG),
        ],
    )
    def test_the_level_says_who_should_care(
        self, trouble: Exception | None, event: str, level: int, caplog: pytest.LogCaptureFixture
    ) -> None:
        caplog.set_level(logging.DEBUG, "chargehand")
        bench = Bench()
        bench.mischief["write"] = [trouble]

        within(bench.desk().run(plan(step("a", "write"))))

        assert [record.levelno for record in records(caplog) if field(record, "event") == event] == [level]

    def test_a_record_can_be_made_into_text(self, caplog: pytest.LogCaptureFixture) -> None:
        """Percent signs and line breaks of others do no harm."""
        caplog.set_level(logging.DEBUG, "chargehand")
        bench = Bench()
        bench.mischief["look"] = [ValueError("100 %s sure\nof {it}")]

        within(bench.desk().run(plan(step("a"))))

        assert any("100 %s sure" in record.getMessage() for record in records(caplog))


class TestValues:
    """What tools are given and give is nobody's business but the journal's."""

    @staticmethod
    def discreet() -> list[AnyTool]:
        @tool(effect="read", egress=[])
        async def tell(text: str) -> str:
            """Gives back what it is given, and more."""
            return f"{text}-given"

        @tool(effect="irreversible", egress=[])
        async def whisper(text: str) -> str:
            """Sends what it is given."""
            return f"{text}-sent"

        @tool(effect="write", egress=[])
        async def lose(text: str) -> str:
            """Ends in doubt."""
            raise TimeoutError("no answer")

        return [tell, whisper, lose]

    def test_arguments_and_results_never_appear(self, caplog: pytest.LogCaptureFixture) -> None:
        caplog.set_level(logging.DEBUG)
        what = plan(
            {"id": "a", "use": "tell", "with": {"text": "jam"}},
            {"id": "b", "use": "whisper", "with": {"text": {"$": "a"}}, "expect": ["output == 'honey'"]},
            {"id": "c", "use": "lose", "with": {"text": {"$": "a + '!'"}}},
            {"id": "d", "use": "tell", "with": {"text": {"$": "item"}}, "each": "['jam', 'jam two']"},
            answer={"$": "[a, b]"},
        )
        desk = Chargehand(tools=self.discreet(), clock=FakeClock())

        async def play() -> Outcome:
            await desk.run(what, run_id="r")
            desk.approve("r", "b")
            await desk.resume("r")
            desk.settle("r", "c", happened="jam in doubt")
            return await desk.resume("r")

        within(play())
        everything = "\n".join(f"{record.getMessage()} {record.__dict__}" for record in caplog.records)

        assert "jam" not in everything
        assert "call.doubted" in everything
