"""The pages that are made from the code are as the code would make them now."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
from typer.testing import CliRunner

from chargehand.checking.explanations import EXPLANATIONS
from chargehand.cli.main import app

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def pages() -> ModuleType:
    spec = importlib.util.spec_from_file_location("generate", DOCS / "generate.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_generated_pages_are_up_to_date(pages: ModuleType) -> None:
    assert pages.outdated() == [], "run python docs/generate.py and commit what it writes"


@pytest.mark.slow
def test_a_page_that_is_missing_or_changed_is_written_again(pages: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "cli.md").write_text("old", encoding="utf-8")

    assert pages.generate(tmp_path) == ["diagnostics.md", "cli.md"]
    assert pages.outdated(tmp_path) == []
    assert pages.generate(tmp_path) == []


@pytest.mark.parametrize("code", ["CH001", "CH303", "CH401"])
def test_the_reports_are_those_of_the_command_line(
    code: str, pages: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("plan.yaml").write_text(EXPLANATIONS[code].bad, encoding="utf-8")

    result = CliRunner().invoke(app, ["check", "plan.yaml", "--app", "chargehand.demo.travel:desk"])

    assert f"```text\n{result.output}```" in pages.diagnostics_page()
