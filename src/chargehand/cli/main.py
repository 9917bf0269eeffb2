"""The commands."""

import contextlib
import json
import sys
import textwrap
from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer
from typer.core import TyperGroup

from chargehand.cli.screen import flat, inert, red, say, write_anything
from chargehand.errors import ChargehandError, PlaybookRejected
from chargehand.version import __version__

if TYPE_CHECKING:
    from chargehand.domain.diagnostics import Diagnostic


class Commands(TyperGroup):
    """Commands whose usage errors repeat what was typed as inert text."""

    def make_context(self, *args: Any, **kwargs: Any) -> Any:
        with _inert_messages():
            return super().make_context(*args, **kwargs)

    def invoke(self, ctx: Any) -> Any:
        with _inert_messages():
            return super().invoke(ctx)


@contextlib.contextmanager
def _inert_messages() -> Generator[None]:
    try:
        yield
    except Exception as error:
        usage = cast(Any, error)
        if hasattr(usage, "format_message"):  # as all have that the commands' library raises
            usage.message = inert(usage.message)
        raise


# Help is plain text: loading rich for it would double the time that `chargehand --help` takes.
app = typer.Typer(
    name="chargehand",
    cls=Commands,
    help="Plans that are checked like programs, for AI agents that act in the real world.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)

OK, ERRORS, USAGE = 0, 1, 2  # exit codes

App = Annotated[
    str | None,
    typer.Option(
        "--app", "-a", metavar="MODULE:ATTRIBUTE", help="The application, as with uvicorn. [env: CHARGEHAND_APP]"
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of text.")]
Inputs = Annotated[
    list[str] | None, typer.Option("--input", "-i", metavar="NAME=VALUE", help="An input of the goal; may be repeated.")
]


@app.callback(invoke_without_command=True)
def options(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(f"chargehand {__version__}")
        raise typer.Exit(OK)


@app.command()
def check(
    file: Annotated[Path, typer.Argument(help="A plan or playbook in YAML or JSON; - for standard input.")],
    app: App = None,
    as_json: Json = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="Only the exit code and the errors.")] = False,
) -> None:
    """Check a plan or a playbook. Exits with 1 if it has errors."""
    from chargehand.cli.apps import load_app
    from chargehand.cli.reports import report
    from chargehand.domain.diagnostics import has_errors

    text, name = _read(file)
    desk = load_app(app)
    found = desk.check_playbook(text, file) if _is_playbook(text) else desk.check(text)
    if quiet:
        found = [diagnostic for diagnostic in found if diagnostic.severity == "error"]
    if as_json:
        _print_json(_located(found, text))
    elif found or not quiet:
        for line in report(found, name, text):
            say(line)
    raise typer.Exit(ERRORS if has_errors(found) else OK)


@app.command()
def plan(
    goal: Annotated[str, typer.Argument(help="What you want, in words.")],
    app: App = None,
    inputs: Inputs = None,
    as_json: Json = False,
    as_yaml: Annotated[bool, typer.Option("--yaml", help="Print the plan as YAML, ready for `check`.")] = False,
) -> None:
    """Make the plan for a goal, and say why it is this one."""
    from chargehand.cli.apps import load_app
    from chargehand.cli.pictures import show_planned
    from chargehand.domain.writing import write_plan

    given = _inputs(inputs)
    _refuse_halves(goal, "GOAL")
    desk = load_app(app)
    planned = desk.explain(goal, given)
    if as_json:
        match = planned.match
        why = {"playbook": match.playbook.name, "pattern": match.pattern.text, "inputs": dict(planned.sources)}
        _print_json({"plan": write_plan(planned.plan), "because": why})
    elif as_yaml:
        text = planned.plan.render()
        if inert(text) == text:
            typer.echo(text, nl=False)
        else:  # JSON, which is YAML too, can write every character as a number
            _print_json(write_plan(planned.plan))
    else:
        for line in show_planned(planned, desk):
            say(line)


@app.command()
def tools(app: App = None, as_json: Json = False) -> None:
    """List the tools that plans may use."""
    from chargehand.cli.apps import load_app
    from chargehand.cli.pictures import show_tools

    desk = load_app(app)
    if as_json:
        _print_json(
            [
                {
                    "name": tool.name,
                    "effect": tool.effect,
                    "description": tool.description,
                    "arguments": tool.signature.arguments_schema,
                    "result": tool.signature.result_schema,
                }
                for tool in desk.catalog.tools.values()
            ]
        )
        return
    for line in show_tools(desk):
        say(line)


@app.command()
def playbooks(app: App = None, as_json: Json = False) -> None:
    """List the playbooks and the goals that they answer."""
    from chargehand.cli.apps import load_app
    from chargehand.cli.pictures import show_playbooks
    from chargehand.domain.inputs import inputs_schema

    desk = load_app(app)
    if as_json:
        _print_json(
            [
                {
                    "name": playbook.name,
                    "description": playbook.description,
                    "answers": [pattern.text for pattern in playbook.patterns],
                    "inputs": inputs_schema(playbook.plan.inputs),
                }
                for playbook in desk.playbooks
            ]
        )
        return
    for line in show_playbooks(desk):
        say(line)


@app.command()
def schema() -> None:
    """Print the JSON Schema of the plan language."""
    from chargehand.domain.language import plan_schema

    _print_json(plan_schema())


@app.command()
def explain(code: Annotated[str, typer.Argument(help="A code such as CH104.")]) -> None:
    """Explain a diagnostic, with an example that has it and one that is mended."""
    from chargehand.checking.explanations import EXPLANATIONS
    from chargehand.domain.diagnostics import CODES, did_you_mean

    code = code.upper()
    if code not in EXPLANATIONS:
        raise typer.BadParameter(f"there is no code {code!r}. {did_you_mean(code, CODES)}")
    severity, title = CODES[code]
    explanation = EXPLANATIONS[code]
    typer.echo(f"{code} ({severity}): {title}\n\n{textwrap.fill(explanation.text, 88)}\n")
    typer.echo(f"Like this:\n\n{_indented(explanation.bad)}\nMended:\n\n{_indented(explanation.good)}", nl=False)


@app.command()
def demo() -> None:
    """See a plan being made, a broken one refused, and the mended one accepted."""
    from chargehand.cli.tour import tour

    tour()


def _inputs(given: list[str] | None) -> Mapping[str, object]:
    values: dict[str, object] = {}
    for text in given or []:
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise typer.BadParameter(f"{text!r} is not NAME=VALUE", param_hint="--input")
        _refuse_halves(text, "--input")
        values[name] = value
    return values


def _refuse_halves(text: str, what: str) -> None:
    try:
        text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise typer.BadParameter(f"it is not UTF-8 text (character {error.start + 1})", param_hint=what) from None


def _is_playbook(text: str) -> bool:
    """Whether a text is meant as a playbook; `answers` alone may be a slip for the `answer` of a plan."""
    from chargehand.domain.text import Unreadable, read

    try:
        value = read(text)
    except Unreadable:
        return False
    if not isinstance(value, dict):
        return False
    fields = cast(dict[str, object], value)
    return "name" in fields or isinstance(fields.get("answers"), list)


def _read(file: Path) -> tuple[str, str]:
    try:
        raw = sys.stdin.buffer.read() if str(file) == "-" else file.read_bytes()
    except OSError as error:
        raise typer.BadParameter(f"cannot read {flat(str(file))}: {error.strerror or error}") from None
    try:
        return raw.decode("utf-8").removeprefix("\ufeff"), "<stdin>" if str(file) == "-" else str(file)
    except UnicodeDecodeError as error:
        raise typer.BadParameter(f"{flat(str(file))} is not UTF-8 text (byte {error.start})") from None


def _located(diagnostics: Sequence["Diagnostic"], text: str) -> list[dict[str, Any]]:
    from dataclasses import asdict

    from chargehand.cli.sources import Source

    source = Source(text)
    spots = ((diagnostic, source.locate(diagnostic)) for diagnostic in diagnostics)
    return [{**asdict(diagnostic), "line": spot.line, "column": spot.column} for diagnostic, spot in spots]


def _print_json(value: object) -> None:
    text = inert(json.dumps(value, indent=2, ensure_ascii=False, default=str))
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(value, indent=2, default=str)
    typer.echo(text)


def _indented(text: str) -> str:
    return "".join(f"    {line}\n" for line in text.strip("\n").splitlines())


def main() -> None:
    """The entry point: what goes wrong is said in words, with what to do next."""
    write_anything()
    try:
        app()
    except ChargehandError as error:
        _tell(error)
    except OSError as error:
        _tell(ChargehandError(f"{error.filename}: {error.strerror}" if error.filename else str(error)))
    except UnicodeError as error:
        _tell(ChargehandError(str(error)))
    except Exception:  # a mistake of ours; 1 would say that the plan has errors
        import traceback

        say(inert(traceback.format_exc()), error=True)
    else:
        return
    raise SystemExit(USAGE)


def _tell(error: ChargehandError) -> None:
    from chargehand.cli.reports import report

    text = _text_of(error.name) if isinstance(error, PlaybookRejected) else None
    if isinstance(error, PlaybookRejected) and text is not None:
        for line in report(error.diagnostics, error.name, text):
            say(line, error=True)
        return
    say(f"{red('error')}: {inert(error.message)}", error=True)
    if error.hint:
        say(inert(error.hint), error=True)


def _text_of(name: str) -> str | None:
    """The text of a playbook, if its name is that of a file."""
    try:
        return Path(name).read_text(encoding="utf-8").removeprefix("\ufeff")
    except (OSError, ValueError):
        return None
