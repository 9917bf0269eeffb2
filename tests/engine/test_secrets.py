"""Secrets: whatever way one comes in, it reaches no file, no log and no report."""

import asyncio
import logging
from base64 import b64encode
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel, field_validator
from tests.engine.family import playbook
from tests.engine.workbench import plan, sqlite, step, within

from chargehand import Chargehand, ChargehandError, Goal, Plan, tool
from chargehand.catalog.tools import AnyTool
from chargehand.errors import Transient
from chargehand.testing.clock import FakeClock

SECRET = "hunter2-hunter2"
MARK = "•••"


class Login(BaseModel):
    """A result that its own validator may refuse, in words that say too much."""

    token: str

    @field_validator("token")
    @classmethod
    def vet(cls, token: str) -> str:
        if token == f"bad {SECRET}":
            raise ValueError(f"{token} is no token")
        return token


@dataclass
class Vault:
    """A desk that knows a secret, and everything that it wrote, logged or said."""

    folder: Path
    caplog: pytest.LogCaptureFixture
    given: Any = None

    def __post_init__(self) -> None:
        self.caplog.set_level(logging.DEBUG)
        self.said: list[str] = []
        self.seen: list[str] = []

    def tools(self) -> list[AnyTool]:
        @tool(effect="read", retry=2, egress=[])
        async def fetch(x: int) -> Any:
            """Gives what it is told to, or raises it."""
            if isinstance(self.given, Exception):
                raise self.given
            return self.given

        @tool(effect="read", egress=[])
        async def log_in(x: int) -> Login:
            """Gives a token."""
            return self.given

        @tool(effect="write", egress=[])
        async def write(x: int) -> str:
            """Raises what it is told to."""
            raise self.given

        @tool(effect="read", egress=[])
        async def probe(x: int) -> str | None:
            """Raises what it is told to."""
            raise ValueError(f"no connection with {SECRET}")

        @tool(effect="write", probe=probe, settles_within=60, egress=[])
        async def probed(x: int) -> str:
            """Ends in doubt."""
            raise TimeoutError(f"no answer to {SECRET}")

        @tool(effect="irreversible", egress=[])
        async def send(text: str) -> str:
            """Sends."""
            self.seen.append(text)
            return text

        @tool(effect="read", egress=[])
        async def note(text: str) -> str:
            """Gives back what it is given."""
            self.seen.append(text)
            return text

        return [fetch, log_in, write, probed, send, note]

    def desk(self, **options: Any) -> Chargehand:
        return Chargehand(
            tools=self.tools(), journal=sqlite(self.folder), secrets=[SECRET], clock=FakeClock(), **options
        )

    def run(self, what: Any, inputs: Mapping[str, object] | None = None, **options: Any) -> Any:
        """Carries something out, and remembers all that is said about it, errors included."""

        async def play() -> Any:
            async with self.desk(**options) as desk:
                try:
                    outcome = await desk.run(what, inputs, run_id="r")
                except ChargehandError as error:
                    self.said.append(f"{error!r} {error}")
                    return None
                self.said += [repr(outcome), repr(desk.show("r")), repr(desk.runs()), desk.export("r").decode()]
                self.look()
                return outcome

        outcome = within(play())
        self.look()
        return outcome

    def look(self) -> None:
        """Nothing may hold the secret: no file (the write-ahead log included), no record, nothing said."""
        for name, content in self.everything():
            for form in (SECRET, b64encode(SECRET.encode()).decode()[:-4]):
                assert form.encode() not in content, name

    def everything(self) -> Iterator[tuple[str, bytes]]:
        for path in self.folder.rglob("*"):
            if path.is_file():
                yield path.name, path.read_bytes()
        for record in self.caplog.records:
            yield "a log record", f"{record.getMessage()} {record.__dict__}".encode()
        for text in self.said:
            yield "what was said", text.encode()


@pytest.fixture
def vault(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> Vault:
    return Vault(tmp_path, caplog)


class TestResults:
    @pytest.mark.parametrize(
        "given",
        [
            f"the password is {SECRET}",
            {"deep": [{"er": SECRET}]},
            {SECRET: "as a key"},
            [SECRET] * 1000,
            b64encode(f"user:{SECRET}".encode()).decode(),
        ],
        ids=["text", "nested", "key", "large", "base64"],
    )
    def test_a_secret_in_a_result(self, vault: Vault, given: object) -> None:
        vault.given = given

        outcome = vault.run(plan(step("a", "fetch"), answer={"$": "a"}))

        assert outcome.status == "done"
        assert MARK in str(outcome.answer)

    def test_what_comes_next_sees_the_mark_too(self, vault: Vault) -> None:
        vault.given = f"it is {SECRET}"

        vault.run(plan(step("a", "fetch"), {"id": "b", "use": "note", "with": {"text": {"$": "a"}}}))

        assert vault.seen == [f"it is {MARK}"]

    def test_a_result_that_is_refused_in_words_that_hold_it(self, vault: Vault) -> None:
        vault.given = {"token": f"bad {SECRET}"}

        outcome = vault.run(plan(step("a", "log_in")))

        assert outcome.status == "failed"


class TestErrors:
    @pytest.mark.parametrize(
        "error",
        [
            ValueError(f"wrong password {SECRET}"),
            Transient(f"busy, {SECRET}", hint=f"try {SECRET} later"),
            ExceptionGroup(f"all of {SECRET}", [ValueError(SECRET)]),
        ],
        ids=["ordinary", "transient", "group"],
    )
    @pytest.mark.parametrize("use", ["fetch", "write"])
    def test_a_secret_in_what_a_tool_raises(self, vault: Vault, error: Exception, use: str) -> None:
        vault.given = error

        outcome = vault.run(plan(step("a", use)))

        assert outcome.status in ("failed", "in_doubt")
        assert MARK in outcome["a"].error.message

    def test_a_secret_in_what_a_probe_raises(self, vault: Vault) -> None:
        assert vault.run(plan(step("a", "probed"))).status == "in_doubt"


class TestGoals:
    BOOK = playbook(
        "Note {text}",
        {"id": "a", "use": "note", "with": {"text": {"$": "inputs.text"}}},
        answer={"$": "a"},
        inputs={"text": {"type": "text"}},
    )

    def test_a_secret_in_the_words_of_a_goal(self, vault: Vault) -> None:
        outcome = vault.run(f"Note {SECRET}", playbooks=[self.BOOK])

        assert (outcome.status, outcome.answer) == ("done", MARK)

    def test_a_secret_in_a_goal_that_nobody_can_plan(self, vault: Vault) -> None:
        vault.run(f"Shout {SECRET}", playbooks=[self.BOOK])

    @pytest.mark.parametrize("as_goal", [True, False])
    def test_a_secret_in_the_inputs_of_a_goal(self, vault: Vault, as_goal: bool) -> None:
        given = {"text": f"it is {SECRET}"}
        goal = Goal(text="Note this", inputs=given) if as_goal else "Note this"

        outcome = vault.run(goal, {} if as_goal else given, playbooks=[self.BOOK])

        assert (outcome.status, outcome.answer) == ("done", f"it is {MARK}")

    def test_a_secret_in_the_inputs_of_a_plan(self, vault: Vault) -> None:
        what = Plan.parse(
            {
                "inputs": {"text": {"type": "text"}},
                "steps": [{"id": "a", "use": "note", "with": {"text": {"$": "inputs.text"}}}],
            }
        )

        vault.run(what, {"text": SECRET})

        assert vault.seen == [MARK]

    def test_a_secret_in_what_is_expected_of_an_answer(self, vault: Vault) -> None:
        vault.run(Goal(text="Note this", expect=(f"answer != '{SECRET}'",)), playbooks=[self.BOOK])

    @pytest.mark.parametrize("where", ["argument", "goal", "input", "expression", "when"])
    def test_a_secret_that_stands_in_a_plan(self, vault: Vault, where: str) -> None:
        note: dict[str, Any] = {"id": "a", "use": "note", "with": {"text": "x"}}
        whole: dict[str, Any] = {"steps": [note]}
        match where:
            case "argument":
                note["with"] = {"text": f"it is {SECRET}"}
            case "goal":
                whole["goal"] = f"Use {SECRET}"
            case "input":
                whole["inputs"] = {"text": {"type": "text", "default": SECRET}}
                note["with"] = {"text": {"$": "inputs.text"}}
            case "expression":
                note["with"] = {"text": {"$": f"'{SECRET}' + '!'"}}
            case _:
                note["when"] = f"'{SECRET}' != ''"

        vault.run(Plan.parse(whole))

    def test_a_secret_that_stands_in_a_playbook_and_its_revisions(self, vault: Vault) -> None:
        say: dict[str, object] = {
            "id": "a",
            "use": "note",
            "with": {"text": f"it is {SECRET}"},
            "expect": ["output == ''"],
        }
        again = {"id": "b", "use": "note", "with": {"text": f"still {SECRET}"}}
        revision = {
            "when": "failure.step == 'a'",
            "because": f"{SECRET} is wrong",
            "patch": {"drop": ["a"], "add": [again]},
        }

        outcome = vault.run("Say it", playbooks=[playbook("Say it", say, revisions=[revision])])

        assert (outcome.status, vault.seen) == ("done", [f"it is {MARK}", f"still {MARK}"])


class TestPeople:
    def test_a_secret_in_what_people_say(self, vault: Vault) -> None:
        vault.given = TimeoutError("no answer")

        async def play() -> None:
            async with vault.desk() as desk:
                for run in ("r", "s", "t"):
                    await desk.run(plan(step("a", "write")), run_id=run)
                desk.settle("r", "a", happened=f"it is {SECRET}", because=f"I saw {SECRET}")
                desk.supply("s", "a", SECRET, because=f"{SECRET} was known")
                desk.cancel("t", because=f"{SECRET} leaked")
                vault.look()
                for run in ("r", "s", "t"):
                    vault.said.append(repr(await desk.resume(run)))
                vault.look()

        within(play())
        vault.look()

    def test_a_secret_in_a_request_for_approval(self, vault: Vault) -> None:
        vault.given = f"Dear {SECRET}"
        shown: list[Any] = []

        def approver(request: Any) -> bool:
            shown.append(request)
            return True

        outcome = vault.run(
            plan(
                step("a", "fetch"),
                {"id": "b", "use": "send", "with": {"text": {"$": "string(a)"}}, "expect": ["output != ''"]},
            ),
            approver=approver,
        )

        assert outcome.status == "done"
        assert SECRET not in str(shown)
        assert vault.seen == [f"Dear {MARK}"]


def test_without_secrets_nothing_is_replaced(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    vault = Vault(tmp_path, caplog, given=f"it is {SECRET}")
    desk = Chargehand(tools=vault.tools(), clock=FakeClock())

    assert asyncio.run(desk.run(plan(step("a", "fetch"), answer={"$": "a"}))).answer == f"it is {SECRET}"
