"""Every example in the documentation is executed, page by page, in a folder of its own; every link leads somewhere.

python    runs; a page's blocks share one namespace; lines `#> …` are what it prints
yaml      is checked as a plan, or loaded as a playbook if it has `answers:`, in the travel world, without findings
console   `$ chargehand …` is run, and what it prints compared; `…` on a line of its own stands for any lines
text, sh  are for people

A block with `title="name"` is written to that file instead. Comments above a block change what is asked of it:
`<!-- file: name -->`, `<!-- expect: CH303 CH104 -->` (findings), `<!-- desk: support -->`, `<!-- fragment -->` (it only
has to be YAML), `<!-- scope -->` (YAML: the values for `evaluate`), `<!-- evaluate -->` (lines `expression → value`),
`<!-- raises: BadTool -->` (its message follows as `#> …`), `<!-- exit: 1 -->` (the exit code of a command).
"""

import contextlib
import importlib
import io
import json
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Generator, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, cast
from urllib.parse import unquote, urlsplit

import pytest

from chargehand import Chargehand
from chargehand.cli.main import main
from chargehand.demo import support, travel
from chargehand.domain.expressions import Expression
from chargehand.domain.text import read
from chargehand.planning.playbooks import read_playbook
from chargehand.planning.shelf import check_playbooks

ROOT = Path(__file__).parents[2]
GENERATED = {"cli.md", "diagnostics.md"}  # made from the code, and held to it by tests of their own
PAGES = [path for path in [ROOT / "README.md", *sorted(ROOT.glob("docs/*.md"))] if path.name not in GENERATED]

_BLOCK = re.compile(
    r"((?:^<!-- [^\n]* -->\n+)*)^```(\w*)(?: title=\"([^\"\n]*)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
_DIRECTIVE = re.compile(r"<!-- (\w+)(?:: (.*?))? -->")


@dataclass(frozen=True)
class Block:
    language: str
    text: str
    line: int
    directives: Mapping[str, str]


def blocks(page: Path) -> Iterator[Block]:
    text = page.read_text(encoding="utf-8")
    all_found = list(_BLOCK.finditer(text))
    assert len(re.findall(r"^ *```", text, re.MULTILINE)) == 2 * len(all_found), "a fence that is not understood"
    for found in all_found:
        comments, language, title, body = found.groups()
        directives = {name: value or "" for name, value in _DIRECTIVE.findall(comments)}
        if title:
            directives["file"] = title
        yield Block(language, body, text.count("\n", 0, found.start(2)) + 1, directives)


@cache
def desks() -> Mapping[str, Chargehand]:
    return {"travel": travel.desk(), "support": support.desk()}


@dataclass
class Page:
    """What the blocks of one page share."""

    names: dict[str, Any] = field(default_factory=lambda: {"__name__": "example"})
    scope: dict[str, object] = field(default_factory=dict[str, object])

    def run(self, block: Block) -> None:
        match block:
            case Block(directives={"file": name}):
                Path(name).parent.mkdir(parents=True, exist_ok=True)
                Path(name).write_text(block.text, encoding="utf-8")
            case Block(directives={"scope": _}):
                self.scope = cast(dict[str, object], read(block.text))
            case Block(directives={"evaluate": _}):
                self.evaluate(block)
            case Block(directives={"fragment": _}):
                read(block.text)
            case Block(language="python"):
                self.python(block)
            case Block(language="yaml"):
                codes = block.directives.get("expect", "").split()
                assert findings(block) == sorted(codes)
            case Block(language="console"):
                console(block)
            case _:
                assert block.language in ("text", "sh"), f"what is a {block.language!r} block?"

    def python(self, block: Block) -> None:
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(block.text, "example", "exec"), self.names)  # the page's own code
            except Exception as error:
                if type(error).__name__ != block.directives.get("raises"):
                    raise
                print(error)
        said = re.findall(r"^ *#> ?(.*)$", block.text, re.MULTILINE)
        assert out.getvalue().splitlines() == said

    def evaluate(self, block: Block) -> None:
        for line in filter(str.strip, block.text.splitlines()):
            text, _, value = line.rpartition("→")
            given = Expression.parse(text.strip()).evaluate(self.scope)
            assert json.dumps(given, sort_keys=True) == json.dumps(json.loads(value), sort_keys=True), text


def findings(block: Block) -> list[str]:
    """The codes that a plan or playbook gets."""
    desk = desks()[block.directives.get("desk", "travel")]
    if not re.search(r"^answers:", block.text, re.MULTILINE):
        return sorted(found.code for found in desk.check(block.text))
    [found] = check_playbooks([read_playbook(block.text)], desk.catalog)
    return sorted(diagnostic.code for diagnostic in found)


def console(block: Block) -> None:
    commands = re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]
    for number, said in enumerate(commands):
        command, _, expected = said.partition("\n")
        code, printed = chargehand(*shlex.split(command)[1:])
        last = number == len(commands) - 1
        assert code == int(block.directives.get("exit", "0") if last else "0"), printed
        pattern = re.escape(_tidy(expected)).replace("…\\\n", "(?:.*\n)*?")
        assert re.fullmatch(pattern, _tidy(printed)), f"`{command}` prints\n{printed}"


def _tidy(text: str) -> str:
    return "".join(f"{line.rstrip()}\n" for line in text.strip("\n").splitlines())


def chargehand(*arguments: str) -> tuple[int, str]:
    """Runs a command as the shell would, and gives its exit code and all that it printed."""
    out = io.StringIO()
    with pytest.MonkeyPatch.context() as patch, own_modules(Path.cwd()):
        patch.setattr(sys, "argv", ["chargehand", *arguments])
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(out):
            try:
                main()
            except SystemExit as leaving:
                return int(leaving.code or 0), out.getvalue()
    return 0, out.getvalue()


@contextlib.contextmanager
def own_modules(folder: Path) -> Generator[None]:
    """Python files in the folder can be imported, and are forgotten afterwards."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(folder), *sys.path])
        patch.setattr(sys, "dont_write_bytecode", True)  # a file that is written again must be read again
        yield
    importlib.invalidate_caches()
    for name, module in list(sys.modules.items()):
        if str(getattr(module, "__file__", "")).startswith(str(folder)):
            del sys.modules[name]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_every_example_of_a_page_does_what_it_shows(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    shared = Page()

    with own_modules(tmp_path):
        for block in blocks(page):
            try:
                shared.run(block)
            except Exception as error:
                error.add_note(f"in the block at {page.name}:{block.line}")
                raise


# --- the site ------------------------------------------------------------------------------------------------------


class Links(HTMLParser):
    """The addresses that a page leads to and loads, and the anchors that it has."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.leads: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = dict(attrs)
        address = given.get("href") or given.get("src")
        self.anchors.add(given.get("id") or "")
        if address and tag == "a":
            self.leads.append(address)
        elif address and tag in ("img", "link", "script"):
            self.loads.append(address)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Mapping[Path, Links]:
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "zensical.toml", folder)
    build = [str(Path(sys.executable).with_name("zensical")), "build", "--clean", "--strict"]
    done = subprocess.run(build, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {page: Links(page) for page in (folder / "site").rglob("*.html") if page.name != "404.html"}


@pytest.mark.slow
def test_every_link_inside_the_site_leads_somewhere(site: Mapping[Path, Links]) -> None:
    broken = [
        f"{page.parent.name}: {target}"
        for page, links in site.items()
        for target in [*links.leads, *links.loads]
        if not urlsplit(target).scheme and not _leads_somewhere(target, page, site)
    ]

    assert len(site) > 5
    assert broken == []


def _leads_somewhere(target: str, page: Path, site: Mapping[Path, Links]) -> bool:
    address = urlsplit(target)
    place = (page.parent / unquote(address.path)).resolve() if address.path else page
    place = place / "index.html" if place.is_dir() else place
    return place.is_file() and (place not in site or unquote(address.fragment) in site[place].anchors | {""})


@pytest.mark.slow
def test_the_site_loads_nothing_from_elsewhere(site: Mapping[Path, Links]) -> None:
    loaded = [address for links in site.values() for address in links.loads]

    assert [address for address in loaded if urlsplit(address).netloc] == []
