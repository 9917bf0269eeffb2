"""Finding the application: `--app module:attribute`, the environment, or pyproject.toml."""

import contextlib
import importlib
import os
import sys
import tomllib
import traceback
from collections.abc import Generator
from pathlib import Path
from typing import Any, cast

from chargehand.errors import AppNotFound, ChargehandError
from chargehand.runtime import Chargehand

VARIABLE = "CHARGEHAND_APP"


def load_app(name: str | None) -> Chargehand:
    """The Chargehand at `module:attribute`: an instance, or a function that makes one."""
    here = Path.cwd()
    settings = _nearest_pyproject(here)
    name = name or os.environ.get(VARIABLE) or (_named_in(settings) if settings else None)
    if not name:
        raise AppNotFound(
            "which application? None was named",
            hint=f"Give --app module:attribute, set {VARIABLE}, or put [tool.chargehand] app = … into pyproject.toml.\n"
            "To look around: --app chargehand.demo.travel:desk",
        )
    module_name, _, attribute = name.partition(":")
    if not all(part and part.isprintable() for part in module_name.split(".")):
        raise AppNotFound(f"cannot load {name!r}", hint="Write it as module:attribute.")
    _add_to_path(here, *([settings.parent] if settings else []))
    with _own_errors_told(name):
        found = _attribute(_import(module_name, name), attribute or "desk", name)
        made = found() if callable(found) and not isinstance(found, Chargehand) else found
    if not isinstance(made, Chargehand):
        raise AppNotFound(f"{name} is a {type(made).__name__}, not a Chargehand", hint="Name a Chargehand(…).")
    return made


def _add_to_path(*folders: Path) -> None:
    """As with `python -m`, the project in the current folder is found; and that of pyproject.toml."""
    for folder in map(str, reversed(folders)):
        if folder not in sys.path:
            sys.path.insert(0, folder)


def _import(module_name: str, name: str) -> Any:
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise
        hint = f"There is no module {error.name!r} in {Path.cwd()} or among the installed packages."
        raise AppNotFound(f"cannot load {name}", hint=hint) from None


def _attribute(module: Any, attribute: str, name: str) -> Any:
    found = module
    for part in attribute.split("."):
        if not hasattr(found, part):
            members = cast(dict[str, object], vars(module))
            candidates = sorted(key for key, value in members.items() if isinstance(value, Chargehand))
            hint = f"It has: {', '.join(candidates)}." if candidates else "Name the variable that holds the Chargehand."
            raise AppNotFound(f"{name}: {module.__name__} has no {attribute!r}", hint=hint)
        found = getattr(found, part)
    return found


@contextlib.contextmanager
def _own_errors_told(name: str) -> Generator[None]:
    """What the application raises while it is loaded is shown as its own, with the line that did."""
    try:
        yield
    except ChargehandError:
        raise
    except (Exception, SystemExit) as error:
        raise AppNotFound(f"cannot load {name}: {type(error).__name__}: {error}", hint=_where(error)) from error


def _where(error: BaseException) -> str:
    """The line of the application where it began, and the one that raised."""
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, SyntaxError) and error.filename:
        frames.append((error.filename, error.lineno))
    loaders = (__file__, importlib.__file__)
    own = [f"  at {file}:{line}" for file, line in frames if file not in loaders and not file.startswith("<frozen ")]
    return "\n".join(dict.fromkeys([*own[:1], *own[-1:]]))


def _nearest_pyproject(folder: Path) -> Path | None:
    files = (place / "pyproject.toml" for place in (folder, *folder.parents))
    return next((file for file in files if file.is_file()), None)


def _named_in(file: Path) -> str | None:
    """The application that a pyproject.toml names."""
    try:
        settings: object = tomllib.loads(file.read_text(encoding="utf-8"))
    except UnicodeDecodeError:
        raise AppNotFound(f"{file} cannot be read: it is not UTF-8 text") from None
    except (tomllib.TOMLDecodeError, OSError) as error:
        raise AppNotFound(f"{file} cannot be read: {error}") from None
    for name in ("tool", "chargehand"):
        settings = cast(dict[str, object], settings).get(name, {})
        if not isinstance(settings, dict):
            hint = 'Write [tool.chargehand] and below it app = "module:attribute".'
            raise AppNotFound(f"{file} cannot be used: `{name}` is not a table", hint=hint)
    app = cast(dict[str, object], settings).get("app")
    return app if isinstance(app, str) else None
