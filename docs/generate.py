"""Writes the pages that are made from the code: docs/diagnostics.md and docs/cli.md.

`python docs/generate.py` writes them; with `--check` it only says which are out of date, and exits with 1.
"""

import argparse
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import cast

from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from chargehand.catalog.tools import AnyTool
from chargehand.checking.explanations import GROUPS, Explanation
from chargehand.cli.main import app
from chargehand.cli.reports import report
from chargehand.demo.travel import PLAYBOOKS, desk
from chargehand.demo.travel.tools import make_tools
from chargehand.demo.travel.world import World
from chargehand.domain.diagnostics import CODES, Diagnostic
from chargehand.domain.text import read
from chargehand.errors import PlaybookRejected
from chargehand.runtime import Chargehand

HERE = Path(__file__).parent


# --- pages -------------------------------------------------------------------------------------------------------


def outdated(folder: Path = HERE) -> list[str]:
    """The names of the pages that are not what the code would make of them."""
    return [name for name, make in PAGES.items() if _written(folder / name) != make()]


def generate(folder: Path = HERE) -> list[str]:
    """Writes the pages that are out of date, and names them."""
    names = outdated(folder)
    for name in names:
        (folder / name).write_text(PAGES[name](), encoding="utf-8")
    return names


def _written(page: Path) -> str:
    return page.read_text(encoding="utf-8") if page.exists() else ""


def _page(blocks: Iterable[str]) -> str:
    return "\n\n".join(blocks) + "\n"


def _fence(language: str, text: str) -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def _without_colour(text: str) -> str:
    return re.sub("\x1b\\[[0-9;]*m", "", text)


# --- diagnostics -------------------------------------------------------------------------------------------------


def diagnostics_page() -> str:
    """Every code: what it means, an example that has it, what is said of it, and the example mended."""
    return _page(_diagnostics())


def _diagnostics() -> Iterator[str]:
    yield "<!-- Made by docs/generate.py from src/chargehand/checking/explanations: change it there. -->"
    yield "# Diagnostics"
    yield (
        "A plan is checked like a program before anything in it can have an effect. All that is wrong is said at once, "
        "each finding with a code that never changes its meaning. An **error** refuses the plan; a **warning** does "
        "not, but deserves a look. The same is on the command line: `chargehand explain CH104`."
    )
    yield (
        "The examples are plans for the travel world, and each report is what "
        "`chargehand check plan.yaml --app chargehand.demo.travel:desk` prints. Playbooks are checked when they are "
        "loaded: the examples at the end stand beside those of the travel world. The tests check every one."
    )
    yield _overview()
    for heading, group in GROUPS.items():
        yield f"## {heading}"
        for code, explanation in group.items():
            yield from _code(code, explanation)


def _overview() -> str:
    rows = [f"| [{code}](#{code.lower()}) | {severity} | {title} |" for code, (severity, title) in CODES.items()]
    return "\n".join(["| Code | Severity | Title |", "|---|---|---|", *rows])


def _code(code: str, explanation: Explanation) -> Iterator[str]:
    severity, title = CODES[code]
    yield f'<a id="{code.lower()}"></a>'
    yield f"### {code}: {title}"
    yield f"*{severity.capitalize()}.* {explanation.text}"
    yield _fence("yaml", explanation.bad)
    yield _fence("text", _report(explanation))
    yield "Mended:"
    yield _fence("yaml", explanation.good)


def _report(explanation: Explanation) -> str:
    lines = report(_findings(explanation), f"{explanation.kind}.yaml", explanation.bad)
    return "\n".join(_without_colour(line).rstrip() for line in lines)


def _findings(explanation: Explanation) -> list[Diagnostic]:
    match explanation.kind:
        case "plan":
            return _travel_desk().check(explanation.bad)
        case "playbook":
            return _load_playbook(explanation.bad)


def _load_playbook(text: str) -> list[Diagnostic]:
    playbook = cast(Mapping[str, object], read(text))
    try:
        Chargehand(tools=_travel_tools(), playbooks=[PLAYBOOKS, playbook])
    except PlaybookRejected as rejected:
        return list(rejected.diagnostics)
    return []


@cache
def _travel_desk() -> Chargehand:
    return desk()


@cache
def _travel_tools() -> list[AnyTool]:
    return make_tools(World(None))


# --- command line ------------------------------------------------------------------------------------------------

# One sentence before the help of each command; a command that has none here is an error.
_INTRODUCTIONS = {
    "check": "Reads a plan and says all that is wrong with it, as a compiler would, with line, column and a hint.",
    "plan": "Finds the playbook that answers a goal, fills in its inputs, and shows the plan before anything runs.",
    "tools": "Shows what plans can use: each tool with its arguments, its result and the effect that it declares.",
    "playbooks": "Shows which goals can be planned without a model, in which words, and with which inputs.",
    "schema": "Gives editors and models the form of a plan, for completion and for structured output.",
    "explain": "Tells what a code means when the report alone is not enough.",
    "demo": "The quickest way to see what Chargehand does; it needs nothing but the package.",
}


def cli_page() -> str:
    """The help of every command, as it is printed."""
    return _page(_commands())


def _commands() -> Iterator[str]:
    yield "<!-- Made by docs/generate.py from the help of the commands: change it there. -->"
    yield "# Command line"
    yield (
        "Installing Chargehand gives you one command, `chargehand`. The application is named once: with `--app`, in "
        "the environment variable `CHARGEHAND_APP`, or in `pyproject.toml` as `[tool.chargehand] app`."
    )
    yield _fence("text", _help())
    for name in _command_names():
        yield f"## chargehand {name}"
        yield _INTRODUCTIONS[name]
        yield _fence("text", _help(name))


def _command_names() -> list[str]:
    group = get_command(app)
    if not isinstance(group, TyperGroup):
        raise TypeError("the commands are a group")
    return list(group.commands)


def _help(*command: str) -> str:
    result = CliRunner().invoke(
        app, [*command, "--help"], prog_name="chargehand", env={"COLUMNS": "100", "NO_COLOR": "1"}, color=False
    )
    if result.exit_code:
        raise RuntimeError(f"chargehand {' '.join(command)} --help failed: {result.output}")
    return _without_colour(result.output)


PAGES: Mapping[str, Callable[[], str]] = {"diagnostics.md": diagnostics_page, "cli.md": cli_page}


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes the pages that are made from the code.")
    parser.add_argument("--check", action="store_true", help="write nothing; exit with 1 if a page is out of date")
    if not parser.parse_args().check:
        for name in generate():
            print(f"wrote {HERE / name}")
        return 0
    old = outdated()
    if old:
        print(f"out of date: {', '.join(old)}. Run python docs/generate.py and commit what it writes.", file=sys.stderr)
    return 1 if old else 0


if __name__ == "__main__":
    raise SystemExit(main())
