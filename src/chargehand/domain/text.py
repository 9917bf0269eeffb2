"""Text to plain values and back: YAML and JSON, strictly, with the place of everything in the text.

YAML is parsed to events, and the events are read here: `17:00`, `NO`, dates and zip codes stay text, duplicate keys,
aliases and tags are refused. JSON takes a quick way and falls back to this one when anything is odd.
"""

import contextlib
import io
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, cast

from chargehand.domain.diagnostics import Diagnostic, Path, finding, show_path

# ruamel.yaml has few types; what it gives is read node by node below.
# pyright: reportUnknownMemberType=false

MAX_CHARACTERS = 4_000_000  # the largest sensible plan (5,000 steps) has about 1,000,000
MAX_DEPTH = 60  # levels of nested values: far more than a person can follow, few enough for any stack
MAX_VALUES = 1_000_000  # numbers, texts, lists and maps in all; a value that is used twice counts twice
MAX_INTEGER = 2**63 - 1  # what expressions and most databases can hold


class Unreadable(Exception):
    """The text or value cannot be read; `diagnostics` says where and why."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("; ".join(map(str, diagnostics)))
        self.diagnostics = diagnostics


@dataclass(frozen=True, slots=True)
class Place:
    """Where a value begins in the text, and where its key does; lines and columns count from 0. Of a scalar also how
    it is written (a quote, `|`, `>`, or nothing) and what it says."""

    line: int
    column: int
    key_line: int
    key_column: int
    style: str = ""
    text: str = ""


def read(text: str) -> object:
    """The plain value of a YAML or JSON text; raises Unreadable."""
    _check_length(text)
    if text.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(text, object_pairs_hook=_unique, parse_constant=_not_json)
        except (ValueError, RecursionError):
            pass  # the YAML reader says what is wrong, and where
    return _Builder().build(_events(text))


def places(text: str) -> Mapping[str, Place]:
    """The place of each value of a text by its path, as far as the text can be read."""
    builder = _Builder()
    with contextlib.suppress(Unreadable):
        _check_length(text)
        builder.build(_events(_HALF.sub(_stand_in, text) if text.lstrip()[:1] in ("{", "[") else text))
    return builder.places


# JSON may write a character as the two halves of a surrogate pair, which YAML refuses: others of the same length stand
# in for them. The rest of the pattern passes over other escapes, such as that of a backslash.
_HALF = re.compile(r"\\u[dD][89a-fA-F][0-9a-fA-F]{2}|\\.", re.DOTALL)
_NO_CHARACTER = "\ufdd0"


def _stand_in(escape: re.Match[str]) -> str:
    return r"\ufdd0" if len(escape.group()) > 2 else escape.group()


def vet(value: object) -> list[Diagnostic]:
    """What in a value no plan can hold: too deep, not finite, not text, not JSON."""
    found: list[Diagnostic] = []
    waiting: list[tuple[Path, object]] = [((), value)]
    count = 0
    while waiting:
        path, item = waiting.pop()
        count += 1
        if count > MAX_VALUES:
            return [finding("CH003", (), f"there are more than {MAX_VALUES:,} values", hint="Let a tool read them.")]
        if len(path) > MAX_DEPTH:
            return [
                finding(
                    "CH003",
                    path[:3],
                    f"values nest more than {MAX_DEPTH} levels deep",
                    hint="Let a tool read such values from a file or a database.",
                )
            ]
        match item:
            case Mapping():
                for key, inner in cast(Mapping[object, object], item).items():
                    if isinstance(key, str) and not _odd_text(key):
                        waiting.append(((*path, key), inner))
                    else:
                        found.append(finding("CH004", path, f"the key {key!r:.40} is not plain text"))
            case list() | tuple():
                waiting += [((*path, number), inner) for number, inner in enumerate(cast(Sequence[object], item))]
            case _:
                problem = _odd_value(item)
                if problem:
                    found.append(finding("CH004", path, problem, hint="Use text, finite numbers, lists and maps."))
    return sorted(found, key=lambda diagnostic: diagnostic.path)


def _odd_value(value: object) -> str:
    match value:
        case None | bool():
            return ""
        case int():
            return "" if -MAX_INTEGER - 1 <= value <= MAX_INTEGER else "the number does not fit into 64 bits"
        case float():
            return "" if math.isfinite(value) else f"{value} is not a number that a plan can hold"
        case str():
            return _odd_text(value)
        case _:
            return f"a {type(value).__name__} cannot be part of a plan"


_ODD = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\ud800-\udfff]")


def _odd_text(text: str) -> str:
    match = _ODD.search(text)
    if not match:
        return ""
    kind = "half a surrogate pair" if match.group() >= "\ud800" else "a control character"
    return f"the text holds {kind} (U+{ord(match.group()):04X})"


def _check_length(text: str) -> None:
    if len(text) > MAX_CHARACTERS:
        raise Unreadable(
            finding(
                "CH003",
                (),
                f"the text has {len(text):,} characters; at the most {MAX_CHARACTERS:,} are allowed",
                hint="Keep large values in files or a database, and let a tool read them.",
            )
        )


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    values = dict(pairs)
    if len(values) < len(pairs):
        raise ValueError("duplicate key")
    return values


def _not_json(constant: str) -> NoReturn:
    raise ValueError(constant)


def to_yaml(value: object) -> str:
    """Plain values as YAML that reads back the same: references on one line, long text as a block."""
    from ruamel.yaml import YAML
    from ruamel.yaml.representer import SafeRepresenter

    class Representer(SafeRepresenter):
        def represent_dict(self, data: Any) -> Any:
            pairs = list(data.items())  # pairs keep their order; a mapping would be sorted
            return self.represent_mapping("tag:yaml.org,2002:map", pairs, flow_style=list(data) == ["$"])

        def represent_str(self, data: Any) -> Any:
            style = "|" if "\n" in data.strip() and not _needs_quotes(data) else None
            if _scalar(data) != data:
                style = "'"  # `NaN` and the like, which only this reader takes for numbers
            return self.represent_scalar("tag:yaml.org,2002:str", data, style=style)

    Representer.add_representer(dict, Representer.represent_dict)
    Representer.add_representer(str, Representer.represent_str)
    yaml = YAML(typ="safe", pure=True)
    yaml.Representer = Representer
    yaml.default_flow_style = False
    yaml.width = 110
    yaml.indent(mapping=2, sequence=4, offset=2)
    out = io.StringIO()
    yaml.dump(value, out)
    return out.getvalue().removesuffix("...\n")


def _needs_quotes(text: str) -> bool:
    """Whether a block would change the text: odd line ends, trailing or leading blanks."""
    return any(mark in text for mark in "\r\t\x85\u2028\u2029\ufeff") or any(
        line != line.strip() for line in text.split("\n")
    )


# --- YAML ------------------------------------------------------------------------------------------------------


_LINE_END = re.compile("\r\n|[\r\n\x85\u2028\u2029]")  # what the YAML reader counts as one


def _events(text: str) -> Iterator[Any]:
    """The events of a YAML text. The parser keeps its own stack, so no depth can break it."""
    from ruamel.yaml import YAML
    from ruamel.yaml.error import MarkedYAMLError, YAMLError

    odd = _ODD.search(text)
    if odd:
        line = len(_LINE_END.findall(text, 0, odd.start())) + 1
        raise Unreadable(finding("CH004", (), f"{_odd_text(odd.group())}, in line {line}", offset=odd.start()))
    try:
        yield from YAML(typ="safe", pure=False).parse(text)
    except MarkedYAMLError as error:
        details = cast(Any, error)
        mark = details.problem_mark or details.context_mark
        where = f"line {mark.line + 1}, column {mark.column + 1}: " if mark else ""
        problem = f"{where}{details.problem or details.context}"
        hint = _syntax_hint(text, mark, problem)
        raise Unreadable(finding("CH001", (), problem, hint=hint, offset=_offset(text, mark))) from None
    except YAMLError as error:
        raise Unreadable(finding("CH001", (), str(error).strip().splitlines()[0])) from None


def _offset(text: str, mark: Any) -> int | None:
    """The character of a mark; None if there is no mark."""
    if not mark:
        return None
    ends: list[int] = [end.end() for end in _LINE_END.finditer(text)]
    line: int = mark.line
    start = ends[line - 1] if 0 < line <= len(ends) else 0
    return min(start + mark.column, len(text))


def _too_deep(path: Path) -> Diagnostic:
    return finding(
        "CH003",
        path,
        f"values nest more than {MAX_DEPTH} levels deep",
        hint="Let a tool read such values from a file or a database.",
    )


def _syntax_hint(text: str, mark: Any, problem: str) -> str:
    lines: list[str] = _LINE_END.split(text)
    number: int = mark.line if mark else 0
    line = lines[number] if number < len(lines) else ""
    if re.search(r"[{,].*[^'\"0-9]\d\d?:\d\d\b", line):
        return 'Put times in quotes inside of braces: {at: "17:00"}.'
    if "{$:" in line:
        return 'Put the expression in quotes where it holds brackets, commas, colons or quotes: {$: "a[0]"}.'
    if "\t" in line:
        return "YAML is indented with spaces, not tabs."
    if "mapping values" in problem:
        return "Put text that holds a colon in quotes."
    if number >= len(lines) - 1:
        return "A quote or a bracket may not be closed."
    return ""


_INTEGER = re.compile(r"[-+]?(?:0|[1-9][0-9]*)", re.ASCII)
_DECIMAL = re.compile(r"[-+]?(?:[0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))(?:[eE][-+]?[0-9]+)?", re.ASCII)
_NULL_OR_TRUTH = {"null": None, "true": True, "false": False}
_WORDS: dict[str, object] = {
    "": None,
    "~": None,
    **_NULL_OR_TRUTH,
    **{word.title(): value for word, value in _NULL_OR_TRUTH.items()},
    **dict.fromkeys((".nan", ".NaN", "NaN"), math.nan),
    **{sign + word: float(f"{sign}inf") for word in (".inf", "Infinity") for sign in ("", "-")},
}


@dataclass(slots=True)
class _Level:
    """A list or map that is being read: what it holds so far, and the key that waits for its value."""

    path: Path
    value: list[object] | dict[str, object]
    key: Any = None


class _Builder:
    """Events to plain values, remembering where each stood. It keeps a stack of its own: no text can exhaust it."""

    def __init__(self) -> None:
        self.places: dict[str, Place] = {}
        self._levels: list[_Level] = []
        self._documents = 0
        self._result: object = None

    def build(self, events: Iterator[Any]) -> object:
        for event in events:
            match type(event).__name__:
                case "DocumentStartEvent":
                    self._documents += 1
                    if self._documents > 1:
                        raise Unreadable(finding("CH001", (), "there is more than one document in the text"))
                case "MappingStartEvent":
                    self._open(event, {})
                case "SequenceStartEvent":
                    self._open(event, [])
                case "MappingEndEvent" | "SequenceEndEvent":
                    self._levels.pop()
                case "ScalarEvent":
                    self._scalar(event)
                case "AliasEvent":
                    path = self._path()
                    message = "YAML aliases are not part of the plan language"
                    raise Unreadable(finding("CH004", path, message, hint="Write it out."))
                case _:
                    pass  # the beginning and the end of the stream
        if not self._documents:
            raise Unreadable(finding("CH001", (), "the text is empty", hint="A plan begins with `steps:`."))
        return self._result

    def _path(self) -> Path:
        """The path of the value that comes next."""
        if not self._levels:
            return ()
        level = self._levels[-1]
        if isinstance(level.value, list):
            return (*level.path, len(level.value))
        return level.path if level.key is None else (*level.path, level.key.value)

    def _open(self, event: Any, value: "list[object] | dict[str, object]") -> None:
        level = self._levels[-1] if self._levels else None
        if level is not None and isinstance(level.value, dict) and level.key is None:
            raise Unreadable(finding("CH004", level.path, "a key is not plain text"))
        path = self._path()
        self._add(event, path, value)
        if len(path) > MAX_DEPTH:
            raise Unreadable(_too_deep(path[:3]))
        self._levels.append(_Level(path, value))

    def _scalar(self, event: Any) -> None:
        level = self._levels[-1] if self._levels else None
        if level is not None and isinstance(level.value, dict) and level.key is None:
            self._take_key(level, event)
        else:
            self._add(event, self._path(), event.value if event.style else _scalar(event.value))

    def _take_key(self, level: _Level, event: Any) -> None:
        level.key = event
        if event.value in level.value:
            path, mark = self._path(), event.start_mark
            self.places[show_path(path)] = Place(mark.line, mark.column, mark.line, mark.column)
            message = f"the key {event.value!r} is given twice (line {mark.line + 1})"
            raise Unreadable(finding("CH002", path, message, hint="Remove one of the two."))

    def _add(self, event: Any, path: Path, value: object) -> None:
        level = self._levels[-1] if self._levels else None
        key = level.key if level is not None and isinstance(level.value, dict) else None
        begin, mark = (key or event).start_mark, event.start_mark
        style, text = getattr(event, "style", None) or "", getattr(event, "value", "")
        text = text.replace(_NO_CHARACTER * 2, _NO_CHARACTER)
        self.places[show_path(path)] = Place(mark.line, mark.column, begin.line, begin.column, style, text)
        if event.tag is not None and event.tag != "!":
            raise Unreadable(finding("CH004", path, f"the YAML tag {event.tag!r} is not part of the plan language"))
        if level is None:
            self._result = value
        elif isinstance(level.value, list):
            level.value.append(value)
        else:
            level.value[level.key.value] = value
            level.key = None


def _scalar(text: str) -> object:
    if text in _WORDS:
        return _WORDS[text]
    if _INTEGER.fullmatch(text):
        return int(text) if len(text) < 4000 else math.inf
    if _DECIMAL.fullmatch(text):
        return float(text)
    return text
