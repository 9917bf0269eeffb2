"""Finding the application: `--app module:attribute`, the environment, or pyproject.toml."""

import importlib
import os
import sys
import tomllib
from pathlib import Path
from typing import Any, cast

from chargehand.errors import AppNotFound, ChargehandError
from chargehand.runtime import Chargehand

VARIABLE = "CHARGEHAND_APP"


def load_app(name: str | None) -> Chargehand:
    """The Chargehand at `module:attribute`: an instance, or a function that makes one."""
    name = name or os.environ.get(VARIABLE) or _from_pyproject(Path.cwd())
    if not name:
        raise AppNotFound(
            "which application? None was named",
            hint=f"Give --app module:attribute, set {VARIABLE}, or put [tool.chargehand] app = … into pyproject.toml.\n"
            "To look around: --app chargehand.demo.travel:desk",
        )
    module_name, _, attribute = name.partition(":")
    found = _attribute(_import(module_name, name), attribute or "desk", name)
    made = found() if callable(found) and not isinstance(found, Chargehand) else found
    if not isinstance(made, Chargehand):
        raise AppNotFound(f"{name} is a {type(made).__name__}, not a Chargehand", hint="Name a Chargehand(…).")
    return made


def _import(module_name: str, name: str) -> Any:
    here = str(Path.cwd())
    if here not in sys.path:  # as with `python -m`: the project in the current folder is found
        sys.path.insert(0, here)
    try:
        return importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        if error.name is None or not (module_name == error.name or module_name.startswith(f"{error.name}.")):
            raise
        hint = f"There is no module {error.name!r} in {here} or among the installed packages."
        raise AppNotFound(f"cannot load {name}", hint=hint) from None
    except ChargehandError:
        raise
    except ValueError:
        raise AppNotFound(f"cannot load {name!r}", hint="Write it as module:attribute.") from None


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


def _from_pyproject(folder: Path) -> str | None:
    for place in (folder, *folder.parents):
        file = place / "pyproject.toml"
        if file.is_file():
            try:
                settings = tomllib.loads(file.read_text(encoding="utf-8"))
            except tomllib.TOMLDecodeError as error:
                raise AppNotFound(f"{file} cannot be read: {error}") from None
            app = settings.get("tool", {}).get("chargehand", {}).get("app")
            return app if isinstance(app, str) else None
    return None
